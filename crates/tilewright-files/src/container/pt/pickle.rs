//! Reads a pickle as data: nothing is imported or called. A call that the pickle asks for becomes a value with its function and
//! its arguments.
//!
//! Source: CPython, `Lib/pickletools.py`; protocols 2 to 5. Values are numbered, because a pickle refers to a list before its
//! items are known. A pickle of n bytes has at most n values, and at most [`MOST`].

use std::collections::HashMap;

/// The largest number of values, and of values that wait on the stack.
const MOST: usize = 1 << 22;

/// The longest name of a class that is read from a text, in bytes.
const LONGEST_CLASS: usize = 1024;

/// The number of a value.
pub(super) type Id = usize;

/// A value of a pickle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PickleValue {
    Int(i64),
    Text(String),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or a function: its module and its name.
    Global(String, String),
    /// A call, or a new object: the function or class, and the arguments.
    Call(Id, Id),
    /// A value that lies outside the pickle.
    Persistent(Id),
    /// Any other value: None, a truth value, a float, bytes, an integer of more than 64 bits.
    Other,
}

/// The values of a pickle, and the number of the outermost one.
#[derive(Debug)]
pub(super) struct Pickle {
    values: Vec<PickleValue>,
    root: Id,
}

impl Pickle {
    /// Reads a pickle; bytes after its end are ignored, as Python does.
    pub(super) fn read(bytes: &[u8]) -> Result<Pickle, String> {
        let mut machine = Machine { bytes, ..Machine::default() };
        loop {
            let at = machine.at;
            let code = machine.byte().ok_or("the pickle has no end")?;
            if code == b'.' {
                let root = machine.pop()?;
                return Ok(Pickle { values: machine.values, root });
            }
            machine.step(code).map_err(|why| format!("byte {at} of the pickle: {why}"))?;
            if machine.most() > MOST {
                return Err(format!("the pickle has more than {MOST} values"));
            }
        }
    }

    /// Returns the number of the outermost value.
    pub(super) fn root(&self) -> Id {
        self.root
    }

    /// Returns a value.
    pub(super) fn get(&self, id: Id) -> &PickleValue {
        self.values.get(id).unwrap_or(&PickleValue::Other)
    }

    /// Returns the number of parts of a value, with itself.
    pub(super) fn count(&self, id: Id) -> usize {
        1 + match self.get(id) {
            PickleValue::Dict(pairs) => pairs.len(),
            PickleValue::List(items) | PickleValue::Tuple(items) => items.len(),
            _ => 0,
        }
    }

    /// Returns the items of a tuple; none for another value.
    pub(super) fn tuple(&self, id: Id) -> &[Id] {
        match self.get(id) {
            PickleValue::Tuple(items) => items,
            _ => &[],
        }
    }

    /// Returns the module and the name of a class or function.
    pub(super) fn global(&self, id: Id) -> Option<(&str, &str)> {
        match self.get(id) {
            PickleValue::Global(module, name) => Some((module, name)),
            _ => None,
        }
    }
}

/// The state of reading.
#[derive(Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<PickleValue>,
    stack: Vec<Id>,
    /// The lengths of the stack at its marks.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// The number of items that lists, dicts and tuples have been given.
    items: usize,
}

/// The error of a pickle that takes more values than it has put on the stack.
const EMPTY: &str = "a value is missing";

impl<'a> Machine<'a> {
    /// Obeys one code, which has been read.
    fn step(&mut self, code: u8) -> Result<(), String> {
        match code {
            // PROTO and FRAME say how to read; BUILD gives an object a state, which is not looked at.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'b' => drop(self.pop()?),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.marked()?),
            b'2' => self.stack.push(self.top()?),
            b'(' => self.mark(),
            b'N' | 0x88 | 0x89 => self.push(PickleValue::Other),
            b'G' => self.skipped(8)?,
            b'J' | b'K' | b'M' | 0x8a | 0x8b => self.integer(code)?,
            b'X' | 0x8c | 0x8d | b'U' | b'T' => self.text(code)?,
            b'B' | b'C' | 0x8e | 0x96 => self.bytes(code)?,
            b')' | b't' | 0x85 | 0x86 | 0x87 => self.tuple(code)?,
            b']' => self.push(PickleValue::List(Vec::new())),
            b'}' => self.push(PickleValue::Dict(Vec::new())),
            // A set: its items are not looked at.
            0x8f => self.push(PickleValue::Other),
            b'a' | b'e' | b'l' | b's' | b'u' | b'd' | 0x90 | 0x91 => self.fill(code)?,
            b'q' | b'r' | b'h' | b'j' | 0x94 => self.remember(code)?,
            b'c' | 0x93 => self.global(code)?,
            b'R' | 0x81 | 0x92 => self.call(code)?,
            b'Q' => {
                let id = self.pop()?;
                self.push(PickleValue::Persistent(id));
            }
            _ => return Err(format!("the code {code:#04x} is not read; torch writes protocol 2")),
        }
        Ok(())
    }

    /// Returns the length of the longest of what grows.
    fn most(&self) -> usize {
        let others = self.marks.len().max(self.memo.len()).max(self.items);
        self.values.len().max(self.stack.len()).max(others)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// Takes the next bytes.
    fn take(&mut self, len: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        let bytes = end.and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or("the pickle is cut off")?;
        self.at += bytes.len();
        Ok(bytes)
    }

    /// Takes a little-endian number of `len` bytes, at most 8.
    fn number(&mut self, len: u64) -> Result<u64, String> {
        let bytes = self.take(len)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Takes a line without its end.
    fn line(&mut self) -> Result<String, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().position(|byte| *byte == b'\n').ok_or("the pickle is cut off")?;
        let line = String::from_utf8_lossy(self.take(len as u64)?).into_owned();
        self.at += 1;
        Ok(line)
    }

    fn push(&mut self, value: PickleValue) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn top(&self) -> Result<Id, String> {
        let least = self.marks.last().copied().unwrap_or(0);
        let top = self.stack.last().copied().filter(|_| self.stack.len() > least);
        top.ok_or_else(|| EMPTY.into())
    }

    fn pop(&mut self) -> Result<Id, String> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn mark(&mut self) {
        self.marks.push(self.stack.len());
    }

    /// Takes the values after the last mark.
    fn marked(&mut self) -> Result<Vec<Id>, String> {
        let at = self.marks.pop().ok_or("a mark is missing")?;
        Ok(self.stack.split_off(at.min(self.stack.len())))
    }

    fn skipped(&mut self, len: u64) -> Result<(), String> {
        self.take(len)?;
        self.push(PickleValue::Other);
        Ok(())
    }

    fn integer(&mut self, code: u8) -> Result<(), String> {
        let len = match code {
            b'J' => 4,
            b'K' => 1,
            b'M' => 2,
            0x8a => self.number(1)?,
            _ => self.number(4)?,
        };
        if len > 8 {
            return self.skipped(len);
        }
        let number = self.number(len)?;
        let is_signed = !matches!(code, b'K' | b'M') && len > 0;
        let shift = if is_signed { 64 - 8 * len as u32 } else { 0 };
        self.push(PickleValue::Int((number << shift) as i64 >> shift));
        Ok(())
    }

    fn text(&mut self, code: u8) -> Result<(), String> {
        let len = self.number(match code {
            0x8c | b'U' => 1,
            0x8d => 8,
            _ => 4,
        })?;
        let text = String::from_utf8_lossy(self.take(len)?).into_owned();
        self.push(PickleValue::Text(text));
        Ok(())
    }

    fn bytes(&mut self, code: u8) -> Result<(), String> {
        let len = self.number(match code {
            b'C' => 1,
            b'B' => 4,
            _ => 8,
        })?;
        self.skipped(len)
    }

    fn tuple(&mut self, code: u8) -> Result<(), String> {
        let items = match code {
            b')' => Vec::new(),
            b't' => self.marked()?,
            _ => {
                let mut items = (0x85..=code).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
                items.reverse();
                items
            }
        };
        self.items += items.len();
        self.push(PickleValue::Tuple(items));
        Ok(())
    }

    /// Puts items into a list or pairs into a dict; other objects take theirs unseen.
    fn fill(&mut self, code: u8) -> Result<(), String> {
        let items = match code {
            b'a' => vec![self.pop()?],
            b's' => {
                let value = self.pop()?;
                vec![self.pop()?, value]
            }
            _ => self.marked()?,
        };
        match code {
            b'l' => self.push(PickleValue::List(Vec::new())),
            b'd' => self.push(PickleValue::Dict(Vec::new())),
            0x91 => self.push(PickleValue::Other),
            _ => {}
        }
        self.items += items.len();
        let owner = self.top()?;
        match self.values.get_mut(owner) {
            Some(PickleValue::List(list)) => list.extend(items),
            Some(PickleValue::Dict(dict)) => {
                let pairs =
                    items.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
                dict.extend(pairs);
            }
            _ => {}
        }
        Ok(())
    }

    fn remember(&mut self, code: u8) -> Result<(), String> {
        let number = match code {
            b'q' | b'h' => self.number(1)?,
            b'r' | b'j' => self.number(4)?,
            _ => self.memo.len() as u64,
        };
        if matches!(code, b'h' | b'j') {
            let known = self.memo.get(&number).copied();
            self.stack.push(known.ok_or_else(|| format!("no value is remembered as {number}"))?);
        } else {
            self.memo.insert(number, self.top()?);
        }
        Ok(())
    }

    fn global(&mut self, code: u8) -> Result<(), String> {
        let global = if code == b'c' {
            PickleValue::Global(self.line()?, self.line()?)
        } else {
            let (name, module) = (self.pop()?, self.pop()?);
            match (self.values.get(module), self.values.get(name)) {
                (Some(PickleValue::Text(module)), Some(PickleValue::Text(name)))
                    if module.len().max(name.len()) <= LONGEST_CLASS =>
                {
                    PickleValue::Global(module.clone(), name.clone())
                }
                _ => return Err("the name of a class is not a short text".into()),
            }
        };
        self.push(global);
        Ok(())
    }

    /// Makes a call, or the empty dict that a call of `OrderedDict` or `defaultdict` returns.
    fn call(&mut self, code: u8) -> Result<(), String> {
        if code == 0x92 {
            self.pop()?;
        }
        let (arguments, function) = (self.pop()?, self.pop()?);
        let is_dict = matches!(self.values.get(function), Some(PickleValue::Global(module, name))
            if module == "collections" && matches!(name.as_str(), "OrderedDict" | "defaultdict"));
        self.push(if is_dict {
            PickleValue::Dict(Vec::new())
        } else {
            PickleValue::Call(function, arguments)
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python: `pickle.dumps({"a": (1, -2, 70000, 2**40), "b": [True, None, 1.5, b"x"]}, protocol)`, and itself inside.
    #[test]
    fn values_of_python_are_read() {
        let two = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01(K\x01J\xfe\xff\xff\xffJp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01tq\x02X\x01\x00\x00\x00bq\x03]q\x04(\x88Nh\x00eu.";
        let four = b"\x80\x04\x95\x2b\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94(K\x01J\xfe\xff\xff\xffJp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01t\x94\x8c\x01b\x94]\x94(\x88Nh\x00eu.";
        for bytes in [&two[..], &four[..]] {
            let pickle = Pickle::read(bytes).unwrap();
            let PickleValue::Dict(pairs) = pickle.get(pickle.root()) else { panic!("{pickle:?}") };
            let [(a, numbers), (_, list)] = pairs[..] else { panic!("{pickle:?}") };
            assert_eq!(pickle.get(a), &PickleValue::Text("a".into()));
            let numbers = pickle.tuple(numbers).iter().map(|id| pickle.get(*id).clone());
            assert!(numbers.eq([1, -2, 70_000, 1 << 40].map(PickleValue::Int)));
            let PickleValue::List(items) = pickle.get(list) else { panic!("{pickle:?}") };
            assert_eq!(items.last(), Some(&pickle.root()), "a list holds the dict that holds it");
        }
    }

    #[test]
    fn nothing_is_called() {
        let pickle = Pickle::read(b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.").unwrap();
        let PickleValue::Call(function, arguments) = *pickle.get(pickle.root()) else { panic!() };
        assert_eq!(pickle.global(function), Some(("os", "system")));
        assert_eq!(pickle.tuple(arguments).len(), 1);
    }

    /// Tests every prefix of a pickle, and all pairs of codes, also where numbers follow them.
    #[test]
    fn any_bytes_are_a_value_or_an_error() {
        let whole = b"\x80\x02}q\x00(X\x01\x00\x00\x00acos\nx\n)RQ\x86\x8a\x09123456789tu.";
        for end in 0..whole.len() {
            assert!(Pickle::read(&whole[..end]).is_err(), "{end}");
        }
        for codes in 0..1u32 << 16 {
            let [first, second, ..] = codes.to_le_bytes();
            let _ = Pickle::read(&[first, second, b'.']);
            let _ = Pickle::read(&[b'N', first, second, 0, 0, 0, 1, b'.']);
        }
        let error = Pickle::read(b"\x80\x02I1\n.").unwrap_err();
        assert_eq!(
            error,
            "byte 2 of the pickle: the code 0x49 is not read; torch writes protocol 2"
        );
        assert_eq!(
            Pickle::read(b"\x80\x02h\x07.").unwrap_err(),
            "byte 2 of the pickle: no value is remembered as 7"
        );
        let many = [&b"\x80\x02"[..], &vec![b'N'; MOST + 1], b"."].concat();
        assert!(Pickle::read(&many).unwrap_err().contains("more than 4194304 values"));
    }
}
