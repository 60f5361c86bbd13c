//! Reads a module from its text.
//!
//! ```text
//! module      := [ 'HloModule' name { ',' attribute } ] { table | computation } | single
//! table       := ('FileNames' | 'FunctionNames' | 'FileLocations' | 'StackFrames') { INT … }
//! computation := [ 'ENTRY' ] name [ '(' … ')' '->' shape ] '{' { instruction } '}' { ',' attribute }
//! instruction := [ 'ROOT' ] name '=' [ shape ] opcode '(' … ')' { ',' attribute }
//! single      := [ [ 'ROOT' ] name '=' ] shape opcode '(' { shape name ',' } ')' { ',' attribute }
//! ```
//!
//! If no computation is marked, the last one is the entry, as in XLA. An omitted shape is not inferred. Without the
//! line of `HloModule` the text begins with `ENTRY` or with `name {`, and the module has the name of its entry.
//!
//! A single instruction is an entry that has it as the root and its operands as parameters, as in XLA. Without a name
//! it is called `_`.
//!
//! Parameters and the root of the entry have the layouts that the attribute `entry_computation_layout` states, where
//! its shapes fit them.
//!
//! A name may have a `%` before it. The parts `…` and attributes are skipped, with balanced brackets, strings and
//! comments. The attributes of an instruction end with the line on which all brackets are closed, unless a comma
//! continues them. Only shapes are read recursively.
//!
//! The cursor skips what is not read, with brackets balanced. Law: it is between two characters, because it stops only
//! before or after an ASCII byte, or at the end.

use std::collections::HashMap;

use tilewright_core::ParseError;

use super::{HloComputation, HloInstruction, HloModule, Shapes, in_module};
use crate::{
    Error, Shape,
    text::{Cursor, TextKind, is_name, shape_prefix},
};

/// Tables of source positions, which newer texts have before the computations.
const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

impl HloModule {
    /// Reads the text of a module.
    ///
    /// A scalar has the layout `{}`, as in the proto; any other array has the layout that is written, or none.
    ///
    /// Time and memory are linear in the text: 50 MiB of instructions take 0.30 s (164 MiB/s), a literal of that size
    /// 0.075 s (670 MiB/s); bench `shapes`, medians on an x86-64 machine.
    ///
    /// # Errors
    /// An [`Error`] with the line at fault if the text is not a module.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let error = HloModule::parse("module m").unwrap_err();
    /// assert_eq!(error.to_string(), "line 1, column 1: expected `HloModule`\n  module m\n  ^^^^^^");
    /// ```
    pub fn parse(text: &str) -> Result<HloModule, Error> {
        module(&mut Cursor::new(text).of(TextKind::Module)).map_err(|error| in_module(text, error))
    }
}

fn module(scan: &mut Cursor<'_>) -> Result<HloModule, ParseError> {
    if scan.is_instruction() {
        return single(scan);
    }
    let (mut name, mut stated) = (None, None);
    if !scan.is_computation() {
        let expected = scan.error("expected `HloModule`");
        if scan.label("expected `HloModule`")? != "HloModule" {
            return Err(expected);
        }
        name = Some(scan.label("expected the module's name")?.to_owned());
        stated = scan.attribute("entry_computation_layout").map(EntryLayout::read).transpose()?;
    }
    let (mut computations, mut shapes) = (Vec::<HloComputation>::new(), Shapes::default());
    while scan.peek().is_some() {
        let again = scan.error("a second ENTRY; a module begins with one computation");
        let word = scan.label("expected a computation, such as `ENTRY main {`")?;
        if TABLES.contains(&word) {
            table(scan);
            continue;
        }
        let entry = word == "ENTRY";
        if entry && computations.iter().any(|computation| computation.entry) {
            return Err(again);
        }
        let name = if entry { scan.label("expected the computation's name")? } else { word };
        computations.push(computation(scan, &mut shapes, name, entry)?);
    }
    if computations.iter().all(|computation| !computation.entry)
        && let Some(last) = computations.last_mut()
    {
        last.entry = true;
    }
    let entry = computations.iter_mut().find(|computation| computation.entry);
    if let (Some(stated), Some(entry)) = (stated, entry) {
        stated.give(entry, &mut shapes);
    }
    let entry = || computations.iter().find(|one| one.entry).map(|one| one.name.clone());
    let name = name.or_else(entry).unwrap_or_default();
    Ok(HloModule { name, computations })
}

/// The shapes that a module states for its entry.
struct EntryLayout {
    parameters: Vec<Shape>,
    result: Shape,
}

impl EntryLayout {
    /// Reads `{(shape, …)->shape}`.
    fn read(mut scan: Cursor<'_>) -> Result<EntryLayout, ParseError> {
        scan.expect("{", "expected `{` and the shapes of the entry")?;
        scan.expect("(", "expected `(` and the shapes of the parameters")?;
        let mut parameters = Vec::new();
        while !scan.eat(")") {
            parameters.push(scan.shape()?);
            scan.eat(",");
        }
        scan.expect("-", "expected `->` and the shape of the result")?;
        scan.expect(">", "expected `->` and the shape of the result")?;
        let result = scan.shape()?;
        scan.expect("}", "expected `}`")?;
        Ok(EntryLayout { parameters, result })
    }

    /// Gives the parameters and the root of the entry the layouts of the shapes that are stated for them. XLA's parser compares
    /// neither their number nor their extents, so what does not fit is passed over.
    fn give(&self, entry: &mut HloComputation, shapes: &mut Shapes) {
        let root = entry.root;
        for (at, one) in entry.instructions.iter_mut().enumerate() {
            let stated = match one.parameter {
                Some(number) => usize::try_from(number).ok().and_then(|i| self.parameters.get(i)),
                None => Some(&self.result).filter(|_| root == Some(at)),
            };
            let fits =
                |stated: &&Shape| one.shape.as_ref().is_none_or(|own| own.compatible(stated));
            if let Some(mut stated) = stated.filter(fits).cloned() {
                stated.fill_scalar_layouts();
                one.shape = Some(shapes.share(stated));
            }
        }
    }
}

/// Skips the lines of a table, which begin with numbers.
fn table(scan: &mut Cursor<'_>) {
    while scan.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        scan.skip();
        scan.pass_line();
    }
}

fn computation(
    scan: &mut Cursor<'_>,
    shapes: &mut Shapes,
    name: &str,
    entry: bool,
) -> Result<HloComputation, ParseError> {
    if scan.eat("(") {
        scan.pass_group("the computation's parameters do not end; expected `)`")?;
        scan.expect("-", "expected `->` and the shape of the result")?;
        scan.expect(">", "expected `->` and the shape of the result")?;
        let _ = scan.shape()?;
    }
    scan.expect("{", "expected `{` and the computation's instructions")?;
    let (mut instructions, mut root) = (Vec::new(), None);
    while !scan.eat("}") {
        let (instruction, is_root) = instruction(scan, shapes)?;
        if is_root {
            root = Some(instructions.len());
        }
        instructions.push(instruction);
    }
    if scan.eat(",") {
        scan.pass_line();
    }
    Ok(HloComputation { name: name.to_owned(), entry, instructions, root })
}

/// Reads an instruction; returns it and whether it is the root.
fn instruction(
    scan: &mut Cursor<'_>,
    shapes: &mut Shapes,
) -> Result<(HloInstruction, bool), ParseError> {
    let (name, root) = left_side(scan)?;
    Ok((right_side(scan, shapes, name, None)?, root))
}

/// Reads the name of an instruction and `=`; returns it and whether the instruction is the root.
fn left_side<'a>(scan: &mut Cursor<'a>) -> Result<(&'a str, bool), ParseError> {
    let mut name = scan.label("expected an instruction, or `}` at the end of the computation")?;
    let root = name == "ROOT";
    if root {
        name = scan.label("expected the name of the root")?;
    }
    scan.expect("=", "expected `=` and the instruction's shape")?;
    Ok((name, root))
}

/// Reads the rest of an instruction. Its operands are passed over, or become parameters.
fn right_side(
    scan: &mut Cursor<'_>,
    shapes: &mut Shapes,
    name: &str,
    parameters: Option<&mut Vec<HloInstruction>>,
) -> Result<HloInstruction, ParseError> {
    let mut shape = if scan.is_call() { None } else { Some(scan.shape()?) };
    shape.iter_mut().for_each(Shape::fill_scalar_layouts);
    let opcode = scan.label("expected an opcode, such as `add`")?;
    scan.expect("(", "expected `(` and the operands")?;
    let parameter = if opcode == "parameter" { Some(scan.number()?) } else { None };
    let is_single = parameters.is_some();
    match parameters {
        // The operand of a constant is a literal, and that of a parameter is its number.
        Some(list) if !["constant", "parameter"].contains(&opcode) => operands(scan, shapes, list)?,
        _ => scan.pass_group("the instruction's operands do not end; expected `)`")?,
    }
    match scan.eat(",") {
        true if is_single => attributes(scan)?,
        true => scan.pass_line(),
        false => {}
    }
    let shape = shape.map(|shape| shapes.share(shape));
    Ok(HloInstruction { name: name.to_owned(), opcode: opcode.to_owned(), shape, parameter })
}

/// Passes over the attributes of a single instruction. Nothing follows it, so a text that is cut off ends within them.
fn attributes(scan: &mut Cursor<'_>) -> Result<(), ParseError> {
    loop {
        scan.label("expected an attribute, such as `dimensions={1}`")?;
        scan.expect("=", "expected `=` and the value of the attribute")?;
        scan.pass_value()?;
        if !scan.eat(",") {
            return Ok(());
        }
    }
}

/// Reads operands with their shapes as parameters, each name once.
fn operands(
    scan: &mut Cursor<'_>,
    shapes: &mut Shapes,
    parameters: &mut Vec<HloInstruction>,
) -> Result<(), ParseError> {
    let mut names = HashMap::new();
    while !scan.eat(")") {
        if scan.peek() == Some(b'%') {
            return Err(scan.error(
                "an operand without a shape; a single instruction states the shape of each",
            ));
        }
        let mut shape = scan.shape()?;
        shape.fill_scalar_layouts();
        let name = scan.label("expected the name of the operand")?;
        match names.get(name) {
            Some(known) if *known != shape => {
                return Err(
                    scan.error("the operand has another shape than above; one name has one shape")
                );
            }
            Some(_) => {}
            None => {
                names.insert(name, shape.clone());
                let (shape, parameter) = (Some(shapes.share(shape)), Some(parameters.len() as u64));
                let (name, opcode) = (name.to_owned(), "parameter".to_owned());
                parameters.push(HloInstruction { name, opcode, shape, parameter });
            }
        }
        if !scan.eat(",") && scan.peek() != Some(b')') {
            return Err(scan.error("expected `,` or `)` after the operand"));
        }
    }
    Ok(())
}

/// Reads a text of a single instruction.
fn single(scan: &mut Cursor<'_>) -> Result<HloModule, ParseError> {
    let (mut shapes, mut instructions) = (Shapes::default(), Vec::new());
    let name = if scan.is_named() { left_side(scan)?.0 } else { "_" };
    let root = right_side(scan, &mut shapes, name, Some(&mut instructions))?;
    if scan.peek().is_some() {
        return Err(scan.error(
            "text after a single instruction; put several into a computation: `ENTRY main {`",
        ));
    }
    instructions.push(root);
    let root = Some(instructions.len() - 1);
    let entry = HloComputation { name: name.to_owned(), entry: true, instructions, root };
    Ok(HloModule { name: name.to_owned(), computations: vec![entry] })
}

/// The effect of a byte inside a skipped part.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Plain,
    Open,
    Close,
    Quote,
    Slash,
    Newline,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Plain; 256];
    classes[b'(' as usize] = Class::Open;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b')' as usize] = Class::Close;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes[b'"' as usize] = Class::Quote;
    classes[b'/' as usize] = Class::Slash;
    classes[b'\n' as usize] = Class::Newline;
    classes[b'\r' as usize] = Class::Newline;
    classes
}

impl<'a> Cursor<'a> {
    /// Reads a name or keyword, without the `%` before it; the error with `message` if there is none.
    pub(super) fn label(&mut self, message: &'static str) -> Result<&'a str, ParseError> {
        self.eat("%");
        match self.name() {
            ("", _) => Err(self.error(message)),
            (name, _) => Ok(name),
        }
    }

    /// Returns whether a name and `(` come next and do not begin a shape: `b(…)` is a buffer.
    fn is_call(&mut self) -> bool {
        self.skip();
        let rest = self.bytes();
        let len = rest.iter().take_while(|&&b| is_name(b)).count();
        let behind = rest.get(len..).unwrap_or(&[]).trim_ascii_start();
        len > 0 && rest.get(..len) != Some(b"b") && behind.first() == Some(&b'(')
    }

    /// Returns whether a computation comes next: `ENTRY`, or a name and `{`.
    fn is_computation(&mut self) -> bool {
        self.skip();
        let mut ahead = *self;
        let Ok(name) = ahead.label("") else { return false };
        name == "ENTRY" || (name != "HloModule" && ahead.peek() == Some(b'{'))
    }

    /// Returns whether an instruction comes next: a name and `=`, or a shape and a name and `(`.
    fn is_instruction(&mut self) -> bool {
        let named = self.is_named();
        let mut ahead = *self;
        named || ahead.shape().is_ok() && ahead.is_call()
    }

    /// Returns whether the name of an instruction and `=` come next.
    fn is_named(&mut self) -> bool {
        self.skip();
        let mut ahead = *self;
        let is_root = ahead.label("") == Ok("ROOT");
        (!is_root || ahead.label("").is_ok()) && ahead.at > self.at && ahead.eat("=")
    }

    /// Passes over the rest of the line, and returns a reader of what follows the name of an attribute and `=` there.
    fn attribute(&mut self, name: &str) -> Option<Cursor<'a>> {
        let from = self.at;
        self.pass_line();
        let line = self.spanned((from, self.at));
        let mut places = line.match_indices(name).map(|(at, _)| at);
        let at = places.find(|&at| line[..at].trim_end().ends_with(','))?;
        let mut found = self.moved_to(from + at + name.len());
        found.eat("=").then_some(found)
    }

    /// Reads an integer, the number of a parameter.
    fn number(&mut self) -> Result<u64, ParseError> {
        Ok(self.as_shapes(|cursor| cursor.integer("expected the number of the parameter"))?.0)
    }

    /// Reads a shape.
    fn shape(&mut self) -> Result<Shape, ParseError> {
        self.as_shapes(shape_prefix)
    }

    /// Reads a part of the text of a shape.
    fn as_shapes<T>(
        &mut self,
        read: impl FnOnce(&mut Cursor<'a>) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let mut cursor = self.of(TextKind::Shapes);
        let value = read(&mut cursor)?;
        self.at = cursor.at();
        Ok(value)
    }

    /// Skips everything up to the `)` that closes the group opened before.
    fn pass_group(&mut self, message: &'static str) -> Result<(), ParseError> {
        let from = self.at;
        self.pass(false);
        if self.whole().get(self.at) != Some(&b')') {
            return Err(ParseError::new((from.saturating_sub(1), from), message, []));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips the rest of the line, and the next lines while brackets are open or a comma continues; stops before a
    /// bracket that closes one opened before.
    fn pass_line(&mut self) {
        self.pass(true);
    }

    /// Skips the value of an attribute, up to a comma, an unmatched closing bracket, the end of a line or the end.
    fn pass_value(&mut self) -> Result<(), ParseError> {
        self.skip();
        let (from, mut depth) = (self.at, 0usize);
        while let Some(&byte) = self.whole().get(self.at) {
            match CLASSES[usize::from(byte)] {
                Class::Plain if byte == b',' && depth == 0 => break,
                Class::Close | Class::Newline if depth == 0 => break,
                Class::Plain | Class::Newline => {}
                Class::Open => depth += 1,
                Class::Close => depth -= 1,
                Class::Quote => self.pass_string(),
                Class::Slash => {
                    if self.comment() {
                        continue;
                    }
                }
            }
            self.at += 1;
        }
        // A string that does not end is passed beyond the end.
        let is_open = depth > 0 || self.at > self.whole().len();
        self.at = self.at.min(self.whole().len());
        match is_open {
            true => {
                let said = "the value of the attribute does not end";
                Err(ParseError::new((from, from + 1), said, []))
            }
            false if self.at == from => Err(self.error("expected the value of the attribute")),
            false => Ok(()),
        }
    }

    /// Skips balanced brackets, strings and comments up to an unmatched closing bracket or the end. With `lines`, stops
    /// also at the end of a line outside brackets.
    fn pass(&mut self, lines: bool) {
        let mut depth = 0usize;
        while let Some(&byte) = self.whole().get(self.at) {
            match CLASSES[usize::from(byte)] {
                Class::Plain => {}
                Class::Open => depth += 1,
                Class::Close if depth == 0 => return,
                Class::Close => depth -= 1,
                Class::Quote => self.pass_string(),
                Class::Slash => {
                    if self.comment() {
                        continue;
                    }
                }
                Class::Newline if lines && depth == 0 => {
                    if !self.comma_around() {
                        return;
                    }
                    continue;
                }
                Class::Newline => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.whole().len());
    }

    /// Moves to the quote that ends the string, or to the end.
    fn pass_string(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.whole().get(self.at) {
            match byte {
                b'"' => return,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether the line that ends here ends with a comma, or the next one begins with one; if so, skips the
    /// white space between them.
    fn comma_around(&mut self) -> bool {
        let before = self.whole().get(..self.at).unwrap_or(&[]).trim_ascii_end();
        let after = self.whole().get(self.at..).unwrap_or(&[]).trim_ascii_start();
        let comma = before.last() == Some(&b',') || after.first() == Some(&b',');
        if comma {
            self.at = self.whole().len() - after.len();
        }
        comma
    }
}
