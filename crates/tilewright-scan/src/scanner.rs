//! [`Scanner`]: a cursor over a text, whose errors point at bytes. [`Fault`] is such an error, with its message and its
//! bytes.

use std::{fmt, marker::PhantomData};

/// A cursor over a text or over a part of one. Spans are byte positions in the whole text. `E` is the error type of the
/// reader. Methods that read a token skip blanks before it.
///
/// ```
/// use tilewright_scan::{Fault, Scanner};
/// let mut scanner = Scanner::<Fault>::new("mesh(2, 4) row");
/// assert!(scanner.eat("mesh"));
/// assert_eq!(scanner.list(("(", ")"), 8, Scanner::integer)?, [2, 4]);
/// assert_eq!(scanner.name("a rule")?, ("row", (11, 14)));
/// scanner.end("the rule")?;
/// # Ok::<(), Fault>(())
/// ```
#[derive(Debug)]
pub struct Scanner<'a, E> {
    text: &'a str,
    at: usize,
    /// The byte after the last one to read.
    end: usize,
    error: PhantomData<fn() -> E>,
}

impl<'a, E: From<Fault>> Scanner<'a, E> {
    /// Starts at the beginning of a text.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("8,4").rest(), "8,4");
    /// ```
    pub fn new(text: &'a str) -> Scanner<'a, E> {
        Scanner::within(text, (0, text.len()))
    }

    /// Starts at byte `from` of a text and ends before byte `to`.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::within("8,4 row", (2, 3));
    /// assert_eq!((scanner.integer()?, scanner.at(), scanner.peek()), (4, 3, None));
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn within(text: &'a str, (from, to): (usize, usize)) -> Scanner<'a, E> {
        Scanner { text, at: from, end: to, error: PhantomData }
    }

    /// Returns the position of the next byte to read.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("8").at(), 0);
    /// ```
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text that is not read yet.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::new("8 x 4");
    /// scanner.integer()?;
    /// assert_eq!(scanner.rest(), " x 4");
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or("")
    }

    /// Moves forward by `bytes`, which have to end between two characters.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::new("zN[M0=4]");
    /// scanner.advance(2);
    /// assert_eq!(scanner.rest(), "[M0=4]");
    /// ```
    pub fn advance(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }

    /// Skips blanks.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::new("  8");
    /// scanner.skip();
    /// assert_eq!(scanner.at(), 2);
    /// ```
    pub fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Skips blanks and returns the next character without reading it.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new(" (2)").peek(), Some('('));
    /// ```
    pub fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    /// Reads `token` if it comes next; returns whether it did.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::new(" -> n");
    /// assert!(scanner.eat("->") && !scanner.eat("m"));
    /// ```
    pub fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Reads the word `word` if it comes next and is not followed by a letter, a digit or `_`; returns whether it did.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let mut scanner = Scanner::<Fault>::new("rows row");
    /// assert!(!scanner.eat_word("row") && scanner.eat_word("rows") && scanner.eat_word("row"));
    /// ```
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.skip();
        let follows = self.rest().strip_prefix(word).map(|rest| rest.chars().next());
        let ends = follows.is_some_and(|next| !next.is_some_and(is_word));
        if ends {
            self.at += word.len();
        }
        ends
    }

    /// Reads `token`.
    ///
    /// # Errors
    /// Returns a fault if anything else comes next.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let fault = Scanner::<Fault>::new("(2").expect("[").unwrap_err();
    /// assert_eq!(fault.to_string(), "expected `[`, found `(`");
    /// ```
    pub fn expect(&mut self, token: &str) -> Result<(), E> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Returns the error that `what` was expected here and something else was found.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let fault = Scanner::<Fault>::new("").expected("a layout");
    /// assert_eq!(fault.to_string(), "expected a layout, found the end of the text");
    /// ```
    pub fn expected(&mut self, what: &str) -> E {
        let (span, found) = match self.peek() {
            Some(c) => ((self.at, self.at + c.len_utf8()), format!("`{c}`")),
            None => ((self.end, self.end), "the end of the text".into()),
        };
        Fault::new(span, format!("expected {what}, found {found}")).into()
    }

    /// Reads characters while `is` holds; the result may be empty. Blanks are not skipped.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("aBcd4b").take(char::is_alphabetic), "aBcd");
    /// ```
    pub fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or("")
    }

    /// Reads a name (a letter, then letters, digits and `_`) and returns it with its span.
    ///
    /// # Errors
    /// Returns a fault that `what` was expected if anything else comes next.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new(" m0:4").name("an axis")?, ("m0", (1, 3)));
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn name(&mut self, what: &str) -> Result<(&'a str, (usize, usize)), E> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                let from = self.at;
                Ok((self.take(is_word), (from, self.at)))
            }
            Some(_) | None => Err(self.expected(what)),
        }
    }

    /// Reads a word: a name that may also begin with `_`.
    ///
    /// # Errors
    /// Those of [`Scanner::name`].
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("_S(0)").word("a placement")?.0, "_S");
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn word(&mut self, what: &str) -> Result<(&'a str, (usize, usize)), E> {
        match self.peek() {
            Some('_') => {
                let from = self.at;
                Ok((self.take(is_word), (from, self.at)))
            }
            Some(_) | None => self.name(what),
        }
    }

    /// Reads an integer below 2⁶⁴.
    ///
    /// # Errors
    /// Returns a fault if no integer comes next, or a larger one.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("128)").integer()?, 128);
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn integer(&mut self) -> Result<u64, E> {
        self.digits(64)
    }

    /// Reads an integer below 2⁶³.
    ///
    /// # Errors
    /// Those of [`Scanner::integer`].
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let fault = Scanner::<Fault>::new("9223372036854775808").natural().unwrap_err();
    /// assert_eq!(fault.to_string(), "the integer 9223372036854775808 does not fit 63 bits");
    /// ```
    pub fn natural(&mut self) -> Result<u64, E> {
        self.digits(63)
    }

    fn digits(&mut self, bits: u32) -> Result<u64, E> {
        self.skip();
        let from = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected("an integer"));
        }
        let value = digits.parse().ok().filter(|value| *value <= u64::MAX >> (64 - bits));
        value.ok_or_else(|| {
            let said = format!("the integer {digits} does not fit {bits} bits");
            Fault::new((from, self.at), said).into()
        })
    }

    /// Reads an integer from −2⁶³ to 2⁶³ − 1.
    ///
    /// # Errors
    /// Those of [`Scanner::integer`].
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("-7").signed()?, -7);
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn signed(&mut self) -> Result<i64, E> {
        let minus = self.eat("-");
        let from = self.at;
        let value = i128::from(self.integer()?);
        i64::try_from(if minus { -value } else { value }).map_err(|_| {
            Fault::new((from, self.at), "the integer does not fit 64 bits, signed").into()
        })
    }

    /// Reads a name between single or double quotes and returns it with the span that includes the quotes.
    ///
    /// # Errors
    /// Returns a fault if no quote comes next, or if it is not closed.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// assert_eq!(Scanner::<Fault>::new("'dp', 2").quoted()?, ("dp", (0, 4)));
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn quoted(&mut self) -> Result<(&'a str, (usize, usize)), E> {
        let Some(quote) = self.peek().filter(|c| matches!(c, '"' | '\'')) else {
            return Err(self.expected("a name in quotes"));
        };
        let from = self.at;
        self.advance(1);
        let name = self.take(|c| c != quote);
        if self.rest().is_empty() {
            return Err(Fault::new((from, self.at), "the quote is not closed").into());
        }
        self.advance(1);
        Ok((name, (from, self.at)))
    }

    /// Reads `OPEN [value {, value} [,]] CLOSE` with at most `most` values.
    ///
    /// # Errors
    /// Returns the error of `value`, or a fault if a bracket or a comma is missing or there are too many values.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let list = |text| Scanner::<Fault>::new(text).list(("[", "]"), 2, Scanner::integer);
    /// assert_eq!(list("[8, 4,]")?, [8, 4]);
    /// assert_eq!(list("[8,4,2]").unwrap_err().to_string(), "expected `]` after 2 values, found `2`");
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        most: usize,
        mut value: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        self.expect(open)?;
        let mut values = Vec::new();
        while !self.eat(close) {
            if !values.is_empty() {
                self.expect(",")?;
                if self.eat(close) {
                    break;
                }
            }
            if values.len() == most {
                return Err(self.expected(&format!("`{close}` after {most} values")));
            }
            values.push(value(self)?);
        }
        Ok(values)
    }

    /// Checks that the text ends here. `behind` names what was read, for the message.
    ///
    /// # Errors
    /// Returns a fault if text is left.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner};
    /// let fault = Scanner::<Fault>::new("?").end("the layout").unwrap_err();
    /// assert_eq!(fault.to_string(), "text after the layout");
    /// ```
    pub fn end(&mut self, behind: &str) -> Result<(), E> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Fault::new((self.at, self.end), format!("text after {behind}")).into()),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Joins values as `a,b,c`.
///
/// ```
/// assert_eq!(tilewright_scan::comma([8, 4, 2]), "8,4,2");
/// ```
pub fn comma<T: fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// Joins values as `(a,b,c)`.
///
/// ```
/// assert_eq!(tilewright_scan::tuple([8, 4, 2]), "(8,4,2)");
/// ```
pub fn tuple<T: fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    format!("({})", comma(values))
}

/// An error in a text: the message and the byte span that it is about.
///
/// ```
/// use tilewright_scan::{Fault, Scanner};
/// let fault = Scanner::<Fault>::new("(1 2)").list(("(", ")"), 8, Scanner::integer).unwrap_err();
/// assert_eq!(fault, Fault { span: (3, 4), message: "expected `,`, found `2`".into() });
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range at fault: the first byte, and the byte after the last.
    pub span: (usize, usize),
    /// The error, and what was expected instead.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(span: (usize, usize), message: impl Into<String>) -> Fault {
        Fault { span, message: message.into() }
    }
}

/// Writes the message alone, such as `expected …, found …`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for tilewright_error::Error {
    fn from(fault: Fault) -> tilewright_error::Error {
        tilewright_error::Error::parse(fault.span, fault.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner(text: &str) -> Scanner<'_, Fault> {
        Scanner::new(text)
    }

    #[test]
    fn lists_end_where_they_should() {
        let list = |text| scanner(text).list(("(", ")"), 3, Scanner::integer);
        assert_eq!(list("( 1, 2 ,)").unwrap(), [1, 2]);
        assert_eq!(list("()").unwrap(), [0u64; 0]);
        assert_eq!(list("(1 2)").unwrap_err().span, (3, 4));
        assert_eq!(list("(1,").unwrap_err().span, (3, 3));
        assert!(list("(1,2,3,4)").unwrap_err().to_string().contains("after 3 values"));
        assert!(list("(99999999999999999999)").unwrap_err().to_string().contains("64 bits"));
    }

    #[test]
    fn integers_fit_their_bits() {
        assert_eq!(scanner("-9223372036854775808").signed(), Ok(i64::MIN));
        assert!(scanner("9223372036854775808").signed().is_err());
        assert_eq!(scanner("9223372036854775807").natural(), Ok(i64::MAX as u64));
        assert_eq!(scanner("18446744073709551615").integer(), Ok(u64::MAX));
    }

    #[test]
    fn quotes_are_closed() {
        assert_eq!(scanner("\"a b\"x").quoted().unwrap(), ("a b", (0, 5)));
        for open in ["\"", "'ab", "\"a'", "'é"] {
            assert_eq!(scanner(open).quoted().unwrap_err().span, (0, open.len()));
        }
    }

    #[test]
    fn a_part_is_read_to_its_end() {
        let mut part = Scanner::<Fault>::within("a 'b' c", (2, 4));
        assert_eq!(part.quoted().unwrap_err().span, (2, 4));
        assert_eq!(part.expected("more").span, (4, 4));
        let mut part = Scanner::<Fault>::within("ab cd", (0, 4));
        assert_eq!(part.word("a word").unwrap().0, "ab");
        assert_eq!(part.end("the word").unwrap_err().span, (3, 4));
    }
}
