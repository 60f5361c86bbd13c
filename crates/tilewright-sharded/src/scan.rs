//! A cursor over a text, whose errors point at its bytes; and the nearest legal spelling of a word.

use crate::{error::Error, limits::MAX_TEXT};

/// The most values of one list in a text.
const MOST: usize = MAX_TEXT;

pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Where the text to read ends.
    end: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0, end: text.len() }
    }

    /// The bytes from `from` to `to` of a text: spans count in the whole.
    pub(crate) fn within(text: &'a str, (from, to): (usize, usize)) -> Scanner<'a> {
        Scanner { text, at: from, end: to }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or("")
    }

    /// Goes on by `bytes`, which end between two characters.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
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

    /// Takes the word `word` if it comes next and no letter follows.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        self.skip();
        let follows = self.rest().strip_prefix(word).map(|rest| rest.chars().next());
        let ends = follows.is_some_and(|next| !next.is_some_and(is_word));
        if ends {
            self.at += word.len();
        }
        ends
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
                (self.end, self.end),
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

    /// A word: a letter or `_`, then letters, digits and `_`.
    pub(crate) fn word(&mut self, what: &str) -> Result<(&'a str, (usize, usize)), Error> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let from = self.at;
                Ok((self.take(is_word), (from, self.at)))
            }
            Some(_) | None => Err(self.expected(what)),
        }
    }

    /// An integer below 2⁶³.
    pub(crate) fn integer(&mut self) -> Result<u64, Error> {
        self.skip();
        let from = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected("an integer"));
        }
        let value = digits.parse().ok().filter(|value| *value <= i64::MAX as u64);
        value.ok_or_else(|| {
            Error::parse((from, self.at), format!("the integer {digits} does not fit 63 bits"))
        })
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Error> {
        let minus = self.eat("-");
        let value = i64::try_from(self.integer()?).unwrap_or(i64::MAX);
        Ok(if minus { -value } else { value })
    }

    /// A name between quotes of either kind.
    pub(crate) fn quoted(&mut self) -> Result<(&'a str, (usize, usize)), Error> {
        let Some(quote) = self.peek().filter(|c| matches!(c, '"' | '\'')) else {
            return Err(self.expected("a name in quotes"));
        };
        let from = self.at;
        self.advance(1);
        let name = self.take(|c| c != quote);
        self.advance(1);
        if !self.text.get(..self.at).is_some_and(|text| text.ends_with(quote)) || self.at < from + 2
        {
            return Err(Error::parse((from, self.at), "the quote is not closed"));
        }
        Ok((name, (from, self.at)))
    }

    /// `OPEN [value {, value} [,]] CLOSE`.
    pub(crate) fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        mut value: impl FnMut(&mut Self) -> Result<T, Error>,
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
            if values.len() == MOST {
                return Err(self.expected(&format!("`{close}` after {MOST} values")));
            }
            values.push(value(self)?);
        }
        Ok(values)
    }

    /// Refuses what is left.
    pub(crate) fn finish(&mut self, behind: &str) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Error::parse((self.at, self.end), format!("text behind {behind}"))),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The end of a message about a word that is none of these: the nearest of them, where one is near.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let distance = |name: &&&str| strsim::osa_distance(&word.to_lowercase(), &name.to_lowercase());
    // No word is that long, and the distance costs a product of lengths.
    let near = known.iter().filter(|_| word.len() <= 64).min_by_key(distance);
    match near.filter(|name| distance(name) <= (word.chars().count() / 2).max(1)) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; expected one of {}", known.join(", ")),
    }
}

/// Values with commas between.
pub(crate) fn comma<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_quotes_end_where_they_should() {
        let list = |text| Scanner::new(text).list(("(", ")"), Scanner::integer);
        assert_eq!(list("( 1, 2 ,)").unwrap(), [1, 2]);
        assert_eq!(list("(1 2)").unwrap_err().span(), Some((3, 4)));
        assert_eq!(list("(1,").unwrap_err().span(), Some((3, 3)));
        assert!(list("(9223372036854775808)").unwrap_err().to_string().contains("63 bits"));
        assert_eq!(Scanner::new("\"a b\"x").quoted().unwrap(), ("a b", (0, 5)));
        for open in ["\"", "'ab", "\"a'"] {
            assert_eq!(Scanner::new(open).quoted().unwrap_err().span(), Some((0, open.len())));
        }
        assert_eq!(Scanner::new("-7").signed(), Ok(-7));
    }
}
