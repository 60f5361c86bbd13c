//! Answer about the layout between two buffers.
//!
//! The search is [`infer`](crate::infer::infer). If it finds nothing, it is run again with the bytes of each number in
//! the other order.

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::{Counted, Dtype, Fill, TensorLayout};
use tilewright_notation::{ResolvedLayout, notation};

use crate::{
    ask::{Answer, Recognition},
    infer::{Inference, coordinate, infer},
};

/// Array before it is packed: its elements in row-major order.
///
/// ```
/// use tilewright::ask::{Inferred, Known};
/// let known = Known { bytes: &[0, 1, 2, 3, 4, 5], dims: &[2, 3], width: 1, dtype: None, bits: None };
/// assert!(Inferred::of(&known, &[0, 3, 1, 4, 2, 5]).to_string().starts_with("m n -> n m\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The bytes of the elements, row-major.
    pub bytes: &'a [u8],
    /// The logical extents.
    pub dims: &'a [u64],
    /// The length of an element, in bytes.
    pub width: usize,
    /// The element type, if known.
    pub dtype: Option<Dtype>,
    /// The width of an element in bits, if it differs from that of the type.
    pub bits: Option<u32>,
}

impl Known<'_> {
    /// Returns a layout of this array with its element type.
    fn named(&self, layout: TensorLayout) -> ResolvedLayout {
        ResolvedLayout::new("", layout, self.dtype, self.bits, Fill::Unspecified)
    }

    /// Returns the elements with the bytes of each number in the other order. A complex number is two numbers.
    fn reversed(&self) -> Vec<u8> {
        let complex = self.dtype.is_some_and(|dtype| dtype.name().starts_with('c'));
        let number = if complex { self.width / 2 } else { self.width };
        let mut bytes = self.bytes.to_vec();
        bytes.chunks_exact_mut(number.max(1)).for_each(<[u8]>::reverse);
        bytes
    }
}

/// Layouts between two buffers, or the reason why there is not exactly one.
///
/// ```
/// use tilewright::ask::{Answer, Inferred, Known};
/// let known = Known { bytes: &[1, 2, 3, 4, 5, 6], dims: &[2, 3], width: 1, dtype: None, bits: None };
/// let padded = Inferred::of(&known, &[1, 2, 3, 0, 4, 5, 6, 0]);
/// assert_eq!((padded.answer, padded.layouts[0].layout().capacity()), ("found", 8));
/// assert_eq!((padded.padding, padded.only), (Some(vec![0]), true));
/// let other = Inferred::of(&known, &[9; 6]);
/// assert!(other.is_no() && other.to_json()["answer"] == "none");
/// ```
#[derive(Clone, Debug)]
pub struct Inferred {
    /// `found`, `ambiguous`, `none` or `undecided`.
    pub answer: &'static str,
    /// The layouts that fit: one for `found`, some for `ambiguous`.
    pub layouts: Vec<ResolvedLayout>,
    /// The reason why there is not one answer.
    pub why: Option<String>,
    /// The bytes of an element of padding, if all padding is equal.
    pub padding: Option<Vec<u8>>,
    /// True if all other layouts were excluded.
    pub only: bool,
    /// True if the bytes of each number are in the other order.
    pub reversed: bool,
}

impl Inferred {
    /// Finds the layout of an array in `packed`.
    ///
    /// ```
    /// use tilewright::ask::{Inferred, Known};
    /// let little = [1, 0, 2, 0, 3, 0, 4, 0];
    /// let known = Known { bytes: &little, dims: &[2, 2], width: 2, dtype: None, bits: None };
    /// let big = Inferred::of(&known, &[0, 1, 0, 3, 0, 2, 0, 4]);
    /// assert!(big.answer == "found" && big.reversed);
    /// ```
    pub fn of(known: &Known<'_>, packed: &[u8]) -> Inferred {
        let answer = infer(known.bytes, known.dims, packed, known.width);
        if let Inference::None { .. } = answer
            && let found @ Inference::Found(_) =
                infer(&known.reversed(), known.dims, packed, known.width)
        {
            return Inferred { reversed: true, ..said(known, packed, found) };
        }
        said(known, packed, answer)
    }

    /// Returns the bytes of an element of padding as one number in hexadecimal, with the last byte first.
    ///
    /// ```
    /// use tilewright::ask::{Inferred, Known};
    /// let known = Known { bytes: &[1, 2, 3], dims: &[1, 3], width: 1, dtype: None, bits: None };
    /// assert_eq!(Inferred::of(&known, &[1, 2, 3, 255]).fill().as_deref(), Some("0xff"));
    /// ```
    pub fn fill(&self) -> Option<String> {
        self.padding.as_deref().map(number)
    }

    fn found(&self) -> Option<&ResolvedLayout> {
        self.layouts.first().filter(|_| self.answer == "found")
    }
}

fn said(known: &Known<'_>, packed: &[u8], answer: Inference) -> Inferred {
    let none = |answer, why| Inferred {
        answer,
        why,
        layouts: Vec::new(),
        padding: None,
        only: false,
        reversed: false,
    };
    match answer {
        Inference::Found(found) => Inferred {
            layouts: vec![known.named(found.layout)],
            padding: found.padding,
            only: found.only,
            ..none("found", None)
        },
        Inference::Ambiguous { layouts, why } => Inferred {
            layouts: layouts.into_iter().map(|layout| known.named(layout)).collect(),
            ..none("ambiguous", Some(why))
        },
        Inference::AllButOne { layout, element, cell } => {
            let value = |bytes: &[u8], at: u64| {
                let from = at as usize * known.width;
                bytes.get(from..from + known.width).map(number).unwrap_or_default()
            };
            let (was, is) = (value(known.bytes, element), value(packed, cell));
            let at = coordinate(element, known.dims);
            let pattern = pattern(&known.named(layout));
            let why = format!(
                "{pattern} fits all elements but {at}: it is {was} in the array, and {is} in the packed buffer, at offset {cell}"
            );
            none("none", Some(why))
        }
        Inference::None { why } => none("none", Some(why)),
        Inference::Undecided { why } => none("undecided", Some(why)),
    }
}

/// Returns the bytes of an element as one number in hexadecimal, with the last byte first.
fn number(bytes: &[u8]) -> String {
    bytes.iter().rev().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns the layout as a pattern. A layout that was found this way has one.
fn pattern(named: &ResolvedLayout) -> String {
    let printed = notation("pattern").and_then(|pattern| pattern.print(named));
    printed.unwrap_or_else(|_| named.to_spec())
}

impl fmt::Display for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(named) = self.found() else {
            writeln!(f, "{}: {}", self.answer, self.why.as_deref().unwrap_or_default())?;
            return self.layouts.iter().try_for_each(|one| writeln!(f, "{}", pattern(one)));
        };
        writeln!(f, "{}", pattern(named))?;
        Recognition::of(named).lines().try_for_each(|name| writeln!(f, "  {name}"))?;
        let cells = named.layout().padding();
        if cells > 0 {
            let holds = self.fill().unwrap_or_else(|| "various values".into());
            let cells = Counted(cells, "element");
            writeln!(f, "  {cells} of padding: it holds {holds}")?;
        }
        if self.reversed {
            writeln!(f, "  the bytes of each number are in the other order")?;
        }
        Ok(())
    }
}

impl Answer for Inferred {
    fn to_json(&self) -> Value {
        let Some(named) = self.found() else {
            let mut value = json!({ "answer": self.answer, "why": self.why });
            if self.answer == "ambiguous" {
                value["patterns"] = self.layouts.iter().map(pattern).collect();
            }
            return value;
        };
        json!({
            "answer": self.answer,
            "pattern": pattern(named),
            "layout": named.to_spec(),
            "formats": Recognition::of(named).values(),
            "padding": named.layout().padding(),
            "fill": self.fill(),
            "only": self.only,
            "reversed": self.reversed,
        })
    }

    fn is_no(&self) -> bool {
        self.found().is_none()
    }

    fn notes(&self) -> Vec<String> {
        let doubt = self.found().is_some() && !self.only;
        let says = "other layouts remain possible: the values repeat often";
        doubt.then(|| says.to_owned()).into_iter().collect()
    }
}
