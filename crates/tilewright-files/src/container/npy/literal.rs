//! The few Python literals that a header consists of.
//!
//! ```text
//! header := '{' [ entry { ',' entry } [ ',' ] ] '}'
//! entry  := string ':' value
//! value  := string | 'True' | 'False' | '(' [ int ',' [ int { ',' int } [ ',' ] ] ] ')' | '[' … (kept unread)
//! string := "'" … "'" | '"' … '"'          (a backslash hides the next byte)
//! int    := digits [ 'L' ]                  (Python 2 wrote the L)
//! ```

/// The largest number of bytes of a list that a message shows.
const LISTED: usize = 400;

/// The largest number of extents of a shape that is read; NumPy's own limit is 64.
const MOST_DIMS: usize = 64;

/// A value of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Bool(bool),
    Shape(Vec<u64>),
    /// A list, which is a structured dtype: the text from its start on, cut short.
    List(String),
}

/// Returns the entries of a dictionary, in order, or a message with the position of the fault.
pub(crate) fn dictionary(text: &[u8]) -> Result<Vec<(String, Value)>, String> {
    let mut reader = Reader { text, at: 0 };
    let mut entries: Vec<(String, Value)> = Vec::new();
    reader.expect(b'{')?;
    while !reader.take(b'}') {
        let key = reader.string()?;
        if entries.iter().any(|(other, _)| *other == key) {
            return Err(format!("the key {key:?} occurs twice"));
        }
        reader.expect(b':')?;
        let value = reader.value()?;
        // A list is not parsed, so nothing after it is parsed either.
        let stop = matches!(value, Value::List(_));
        entries.push((key, value));
        if stop {
            return Ok(entries);
        }
        if !reader.take(b',') {
            reader.expect(b'}')?;
            break;
        }
    }
    match reader.peek() {
        None => Ok(entries),
        Some(_) => Err(reader.wrong("the end of the header")),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Skips whitespace and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) { Ok(()) } else { Err(self.wrong(&format!("`{}`", char::from(byte)))) }
    }

    fn wrong(&mut self, expected: &str) -> String {
        let found = match self.peek() {
            Some(byte) => format!("`{}`", char::from(byte).escape_default()),
            None => "the end".into(),
        };
        format!("byte {} is {found}, expected {expected}", self.at)
    }

    fn value(&mut self) -> Result<Value, String> {
        match self.peek() {
            Some(b'\'' | b'"') => Ok(Value::Text(self.string()?)),
            Some(b'(') => Ok(Value::Shape(self.shape()?)),
            Some(b'[') => Ok(Value::List(self.rest())),
            Some(_) if self.word("True") => Ok(Value::Bool(true)),
            Some(_) if self.word("False") => Ok(Value::Bool(false)),
            _ => Err(self.wrong("a string, True, False or a tuple of integers")),
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Returns the text from here on, cut for a message.
    fn rest(&self) -> String {
        let rest = &self.text[self.at..];
        let shown = String::from_utf8_lossy(&rest[..rest.len().min(LISTED)]).into_owned();
        if rest.len() > LISTED { shown + "…" } else { shown.trim_end().to_owned() }
    }

    fn string(&mut self) -> Result<String, String> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else {
            return Err(self.wrong("a string"));
        };
        let from = self.at + 1;
        let mut to = from;
        while let Some(&byte) = self.text.get(to) {
            if byte == quote {
                self.at = to + 1;
                return Ok(String::from_utf8_lossy(&self.text[from..to]).into_owned());
            }
            to += if byte == b'\\' { 2 } else { 1 };
        }
        Err(format!("the string at byte {} does not end", self.at))
    }

    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let mut extents = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            if extents.len() == MOST_DIMS {
                return Err(format!("a shape of more than {MOST_DIMS} extents"));
            }
            extents.push(self.extent()?);
            if !self.take(b',') {
                // Without a comma it is a number in parentheses, as in Python.
                let expected = if extents.len() == 1 { b',' } else { b')' };
                self.expect(expected)?;
                break;
            }
        }
        Ok(extents)
    }

    fn extent(&mut self) -> Result<u64, String> {
        if self.peek() == Some(b'-') {
            return Err(format!("byte {}: an extent must not be negative", self.at));
        }
        let (from, mut extent) = (self.at, 0u64);
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            let next = extent.checked_mul(10).and_then(|x| x.checked_add(u64::from(digit - b'0')));
            extent = next.ok_or_else(|| format!("byte {from}: an extent beyond 2^64 - 1"))?;
            self.at += 1;
        }
        if self.at == from {
            return Err(self.wrong("an extent"));
        }
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(extent)
    }
}
