//! A cursor over the text of a SPEC; every error points at its bytes.

use crate::error::Error;

pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Goes on by `bytes`, which end within the text between two characters.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at = self.text.len().min(self.at.saturating_add(bytes));
    }

    pub(crate) fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character that is no space.
    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    /// Takes `token` if it comes next, spaces before it skipped.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// The error that something else stands here.
    pub(crate) fn expected(&mut self, what: &str) -> Error {
        match self.peek() {
            Some(c) => Error::parse(
                (self.at, self.at + c.len_utf8()),
                format!("expected {what}, found `{c}`"),
            ),
            None => Error::parse(
                (self.text.len(), self.text.len()),
                format!("expected {what}, found the end of the text"),
            ),
        }
    }

    /// Takes characters as long as `is` holds; possibly none.
    pub(crate) fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or("")
    }

    /// A name: a letter, then letters, digits and `_`.
    pub(crate) fn name(&mut self, what: &str) -> Result<(&'a str, (usize, usize)), Error> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                let from = self.at;
                let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
                Ok((name, (from, self.at)))
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(crate) fn integer(&mut self) -> Result<u64, Error> {
        self.skip();
        let from = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected("an integer"));
        }
        digits.parse().map_err(|_| {
            Error::parse((from, self.at), format!("the integer {digits} does not fit 64 bits"))
        })
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Error> {
        let minus = self.eat("-");
        let from = self.at;
        let value = i128::from(self.integer()?);
        i64::try_from(if minus { -value } else { value })
            .map_err(|_| Error::parse((from, self.at), "the integer does not fit 64 bits, signed"))
    }

    /// `OPEN [value {, value} [,]] CLOSE`, at most `most` values.
    pub(crate) fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        most: usize,
        value: impl Fn(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
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

    /// Refuses what is left.
    pub(crate) fn end(&mut self, behind: &str) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(_) => {
                Err(Error::parse((self.at, self.text.len()), format!("text behind {behind}")))
            }
        }
    }
}

/// `(a,b,c)`, as every dialect here prints it.
pub(crate) fn tuple<T: std::fmt::Display>(values: &[T]) -> String {
    format!("({})", comma(values))
}

/// `a,b,c`.
pub(crate) fn comma<T: std::fmt::Display>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_where_they_should() {
        let list = |text| Scanner::new(text).list(("(", ")"), 3, Scanner::integer);
        assert_eq!(list("( 1, 2 ,)").unwrap(), [1, 2]);
        assert_eq!(list("()").unwrap(), [0u64; 0]);
        assert_eq!(list("(1 2)").unwrap_err().span(), Some((3, 4)));
        assert_eq!(list("(1,").unwrap_err().span(), Some((3, 3)));
        assert!(list("(1,2,3,4)").unwrap_err().to_string().contains("after 3 values"));
        assert!(list("(99999999999999999999)").unwrap_err().to_string().contains("64 bits"));
    }

    #[test]
    fn signed_integers() {
        assert_eq!(Scanner::new("-9223372036854775808").signed().unwrap(), i64::MIN);
        assert!(Scanner::new("9223372036854775808").signed().is_err());
    }
}
