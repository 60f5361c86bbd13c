//! Changes of a kernel's text, which are compiled into it and switched on one at a time.
//!
//! | place | replacement |
//! |---|---|
//! | `BARRIER`, `CPWAIT` | none |
//! | the condition of an `if`, and of `GET16IF` and `SET16IF` | true: the mask is lost |
//! | an integer, and a number of the array, `P(i)` | one more: an offset, an extent, a shift or a selector is wrong |
//! | a sum in 64 bits, `(u64)` or `(i64)` | one in 32 bits |
//! | `^` | its right side becomes 0; and all of them together: the swizzle is lost |
//!
//! Sizes of arrays, tables and the text before the kernel are not changed, except the swizzles of arrays.

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Barrier,
    Wait,
    Mask,
    Number,
    Param,
    Narrow,
    Xor,
    Swizzle,
}

/// A change, with the line of the text that it is on.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) change: Change,
    pub(crate) line: u32,
    pub(crate) code: String,
}

/// A text with all its changes, which are numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Mutants {
    pub(crate) text: String,
    pub(crate) all: Vec<Mutant>,
}

/// Words that begin a declaration.
const TYPES: [&str; 9] = ["const", "u8", "u16", "u32", "u64", "i32", "i64", "u128", "TABLE"];

/// Splits a line into words, numbers, spaces, and other single characters.
fn tokens(line: &str) -> Vec<&str> {
    let (mut tokens, mut from) = (Vec::new(), 0);
    let is_word = |at: char| at.is_ascii_alphanumeric() || at == '_';
    let mut last: Option<char> = None;
    for (at, here) in line.char_indices() {
        if at > from && !(last.is_some_and(is_word) && is_word(here)) {
            tokens.push(&line[from..at]);
            from = at;
        }
        last = Some(here);
    }
    tokens.push(&line[from..]);
    tokens
}

/// Returns the value and the suffix of an integer.
fn integer(token: &str) -> Option<(u64, &str)> {
    let (digits, radix) = match token.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (token, 10),
    };
    let end = digits.find(|at: char| !at.is_digit(radix)).unwrap_or(digits.len());
    let suffix = &digits[end..];
    let is_suffix = suffix.chars().all(|at| matches!(at, 'u' | 'l' | 'U' | 'L'));
    let value = u64::from_str_radix(&digits[..end], radix).ok()?;
    is_suffix.then_some((value, suffix))
}

/// Returns the position at which the bracket that opens at `from` closes.
fn closing(tokens: &[&str], from: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        depth += i32::from(*token == "(") - i32::from(*token == ")");
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns whether these tokens end with a cast.
fn is_cast(before: &[&str]) -> bool {
    matches!(before, [.., "(", to, ")"] if TYPES.contains(to))
}

struct Writer {
    line: u32,
    code: String,
    /// The number of tokens of the line that declare something: sizes of arrays are not changed.
    fixed: usize,
    all: Vec<Mutant>,
}

impl Writer {
    fn number(&mut self, change: Change) -> usize {
        let (line, code) = (self.line, self.code.clone());
        self.all.push(Mutant { change, line, code });
        self.all.len() - 1
    }

    /// Returns a line of a kernel with its changes.
    fn line(&mut self, line: &str) -> String {
        let code = line.split("//").next().unwrap_or("");
        self.code = code.trim().to_owned();
        let tokens = tokens(code);
        let declares = tokens.iter().find(|token| !token.trim().is_empty());
        let declares = declares.is_some_and(|first| TYPES.contains(first));
        let equals = tokens.iter().position(|token| *token == "=").unwrap_or(tokens.len());
        self.fixed = if declares { equals } else { 0 };
        self.all_of(&tokens)
    }

    fn all_of(&mut self, tokens: &[&str]) -> String {
        let (mut out, mut at) = (String::new(), 0);
        while at < tokens.len() {
            let (text, next) = self.one(tokens, at);
            out.push_str(&text);
            at = next;
        }
        out
    }

    /// Returns the token at a position, or several of them, and the next position.
    fn one(&mut self, tokens: &[&str], at: usize) -> (String, usize) {
        let rest = &tokens[at..];
        match rest {
            ["BARRIER", ..] => {
                (format!("if (!tw_without({})) BARRIER", self.number(Change::Barrier)), at + 1)
            }
            ["CPWAIT", ..] => {
                (format!("if (!tw_without({})) CPWAIT", self.number(Change::Wait)), at + 1)
            }
            ["SHARED" | "TABLE", ..] => (rest.concat(), tokens.len()),
            ["P", "(", _, ")", ..] => {
                let (number, param) = (self.number(Change::Param), rest[..4].concat());
                (format!("tw_number({number}, {param}, {param} + 1)"), at + 4)
            }
            ["if", " ", "(", ..] => {
                let end = closing(tokens, at + 2).expect("a condition on one line");
                let number = self.number(Change::Mask);
                let inner = self.all_of(&tokens[at + 3..end]);
                (format!("if (tw_true({number}, {inner}))"), end + 1)
            }
            [word @ ("GET16IF" | "SET16IF"), "(", ..] => {
                let comma = tokens[at..].iter().position(|token| *token == ",");
                let end = at + comma.expect("a condition on one line");
                let number = self.number(Change::Mask);
                let inner = self.all_of(&tokens[at + 2..end]);
                (format!("{word}(tw_true({number}, {inner})"), end)
            }
            // A number that is narrowed at once has no sum in 64 bits.
            ["(", wide @ ("u64" | "i64"), ")", ..] if !is_cast(&tokens[..at]) => {
                let number = self.number(Change::Narrow);
                (format!("tw_narrow({number}) * ({wide})"), at + 3)
            }
            ["^", ..] => (format!("^ tw_kept({}) *", self.number(Change::Xor)), at + 1),
            [token, ..] => match integer(token) {
                Some((value, suffix)) if at >= self.fixed => {
                    let number = self.number(Change::Number);
                    let other = value.wrapping_add(1);
                    (format!("tw_number({number}, {token}, {other}{suffix})"), at + 1)
                }
                _ => (token.to_string(), at + 1),
            },
            [] => (String::new(), at + 1),
        }
    }
}

/// Returns a text with its changes.
pub(crate) fn mutants(text: &str) -> Mutants {
    let mut writer = Writer { line: 0, code: String::new(), fixed: 0, all: Vec::new() };
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        writer.line += 1;
        inside &= line.trim() != "KERNEL_END";
        let swizzle = line.starts_with("DEVICE u64 tw_");
        out.push_str(&if inside || swizzle { writer.line(line) } else { line.to_owned() });
        out.push('\n');
        inside |= line.starts_with("KERNEL(");
    }
    let mut all = writer.all;
    if let Some(first) = all.iter().find(|mutant| mutant.change == Change::Xor) {
        let together = Mutant { change: Change::Swizzle, ..first.clone() };
        out = format!("#define TW_SWIZZLE {}\n#line 1\n{out}", all.len());
        all.push(together);
        out = out.replace("tw_kept(", "tw_kept(TW_SWIZZLE, ");
    }
    Mutants { text: out, all }
}
