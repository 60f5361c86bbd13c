//! A tensor in a rule: `NAME : AXES`, or a name alone for the whole tensor, whatever its rank.

use crate::{
    error::{Error, InFile, TextPlace},
    kind,
    rule::expression::{Axis, Expression, MOST_TERMS, Node, Path, Sizes, combinations},
    rule::name::{Name, Number},
};

/// The longest text of a reference, in bytes.
const LONGEST: usize = 4096;

/// `NAME : AXES`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) text: String,
    pub(crate) place: TextPlace,
    pub(crate) name: Name,
    pub(crate) dims: Vec<Node>,
    /// The sizes that the text gives.
    pub(crate) sizes: Sizes,
}

/// A term of a reference: a choice through the sums of its name and of its dims, and the axes met.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// A path a number of the name.
    pub(crate) name: Vec<Path>,
    /// A path a dim.
    pub(crate) dims: Vec<Path>,
    pub(crate) axes: Vec<Axis>,
}

impl Reference {
    /// Reads a reference; errors point into the file by `place`.
    pub(crate) fn parse(text: &str, place: &TextPlace) -> Result<Reference, Error> {
        Reference::read(text, place).map_err(|error| error.within(text, place))
    }

    fn read(text: &str, place: &TextPlace) -> Result<Reference, Error> {
        if text.len() > LONGEST {
            return Err(Error::new(
                kind::LIMIT,
                format!("a reference has more than {LONGEST} bytes"),
            ));
        }
        let cut = colon(text);
        let name = Name::within(text, (0, cut.unwrap_or(text.len())))?;
        let (dims, axes) = match cut {
            Some(cut) => {
                let expression = Expression::within(text, (cut + 2, text.len()))?;
                (expression.dims, expression.sizes)
            }
            None => (vec![Node::Rest], Sizes::new()),
        };
        let mut sizes = name.sizes.clone();
        for (axis, size) in axes {
            let known = *sizes.entry(axis.clone()).or_insert(size);
            if known != size {
                return Err(Error::new(
                    kind::SIZE,
                    format!("`{axis}` has the size {known} in the name, and {size} behind it"),
                ));
            }
        }
        let reference =
            Reference { text: text.to_owned(), place: place.clone(), name, dims, sizes };
        let count = reference.nodes().map(Node::count).fold(1, usize::saturating_mul);
        match count > MOST_TERMS {
            true => Err(Error::new(
                kind::LIMIT,
                format!("more than {MOST_TERMS} terms when multiplied out"),
            )),
            false => Ok(reference),
        }
    }

    /// The text after the name: ` : ` and the axes, or nothing.
    pub(crate) fn axes_text(&self) -> &str {
        colon(&self.text).map_or("", |cut| &self.text[cut..])
    }

    /// Its numbers and its dims.
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.numbers().map(|number| &number.node).chain(&self.dims)
    }

    /// The numbers of its name.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.name.numbers()
    }

    /// Its axes: those in the name, then those of the dims.
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.nodes().flat_map(Node::axes)
    }

    /// Returns the place of the remaining dimensions among its dims.
    pub(crate) fn rest(&self) -> Option<usize> {
        self.dims.iter().position(|dim| matches!(dim, Node::Rest))
    }

    /// Its terms, one a choice through all sums.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let numbers = self.numbers().count();
        let term = |(mut paths, axes): (Vec<Path>, Vec<Axis>)| {
            let dims = paths.split_off(numbers);
            Term { name: paths, dims, axes }
        };
        combinations(self.nodes()).into_iter().map(term).collect()
    }

    /// An error about the whole of it.
    pub(crate) fn error(&self, kind: &'static str, message: impl Into<String>) -> Error {
        Error::new(kind, message).on(&self.place)
    }
}

/// The byte of the ` : ` behind the name, outside of its fields.
fn colon(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let behind = text[at..].strip_prefix(" :");
        let found =
            depth == 0 && behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        found.then_some(at)
    })
}
