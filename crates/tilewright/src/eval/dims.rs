//! Names of dims, with or without their sizes, in brackets: `[row,column]`, `[row:8]`.

use crate::Error;
use std::fmt;

/// Names of the dims of a linear layout, with the sizes that are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dims(Vec<(String, Option<u64>)>);

impl Dims {
    /// Reads the text between the brackets, which begins at byte `at` of the expression.
    pub(super) fn parse(text: &str, at: usize) -> Result<Dims, Error> {
        let (mut dims, mut from) = (Vec::new(), at);
        for part in text.split(',') {
            let span = (from, from + part.len());
            from += part.len() + 1;
            if part.trim().is_empty() && from > at + text.len() {
                break;
            }
            dims.push(dim(part, span)?);
        }
        Ok(Dims(dims))
    }

    /// Returns the names.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Iterates over the names, with the sizes that are given.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }

    /// Returns the names and sizes, if all sizes are given.
    pub(super) fn sizes(&self) -> Option<Vec<(&str, u64)>> {
        self.0.iter().map(|(name, size)| Some((name.as_str(), (*size)?))).collect()
    }
}

fn dim(text: &str, span: (usize, usize)) -> Result<(String, Option<u64>), Error> {
    let (name, size) = match text.split_once(':') {
        Some((name, size)) => (name.trim(), Some(size.trim())),
        None => (text.trim(), None),
    };
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    let letters = !digit && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let size = size.map(|size| size.parse().map_err(|_| size)).transpose();
    match size {
        Ok(size) if letters && !name.is_empty() => Ok((name.to_owned(), size)),
        Ok(_) | Err(_) => {
            Err(Error::parse(span, "expected the name of a dim, or name and size, such as `row:8`"))
        }
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, size): &(String, Option<u64>)| match size {
            Some(size) => format!("{name}:{size}"),
            None => name.clone(),
        };
        write!(f, "[{}]", self.0.iter().map(one).collect::<Vec<_>>().join(","))
    }
}
