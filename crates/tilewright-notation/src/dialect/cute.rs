//! CuTe and TLA: `((4,2),(4,3)):((4,16),(1,32))`, with additions that make it the layout of an array.
//!
//! ```text
//! cute     := layout [ 'valid' tuple ] [ 'capacity' int ] [ 'steps' { step } ]
//! layout   := as tilewright_core::Layout::parse reads it
//! step     := ('merge' | 'split') '(' int ',' int ')'
//! ```
//!
//! The additions are Tilewright's. `valid` states the logical dims if they differ from the sizes of the axes.
//! `capacity` is the length of the storage if it differs from the cosize. `steps` turns a logical coordinate into
//! the layout's axes, by `merge(major,minor)` and `split(axis,by)`; it needs `valid`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `((4,2),(4,3)):((4,16),(1,32))` | | `((4,2),(4,3)):((4,16),(1,32))` |
//! | `(_2,4):(_12,_1)` | | `(2,4):(12,1)` |
//! | `(4,8)` | | `(4,8):(1,4)` |
//! | `Sw<3,3,3> o (8,64):(64,1)` | | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `F2<2,1> o (2,4):(4,1)` | | `F2<2,1> o (2,4):(4,1)` |
//! | `F2<1,2,3> o (2,4):(4,1)` | | error: offsets 4 and 3 have one image |
//! | `(3,5):(1,3) valid (2,3) capacity 15` | | `(3,5):(1,3) valid (2,3)` |
//! | `(?,8):(?{div=8},1)` | | error: known only at run time |
//! | `(8,32):(32)` | | error: bracketed unlike the extents |
//! | `4:1 steps split(0,2)` | | error: steps need the logical dims |

use std::{fmt, sync::Arc};

use tilewright_core::{Layout, MAX_MODES, MAX_STEPS, Step, TensorLayout};

use crate::{
    Error, ResolvedLayout,
    literal::{Scanner, parsed, tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(super) const DIALECT: Notation =
    Notation::new("cute", "CuTe and TLA: shape and strides of nested modes", read, print)
        .with_aliases(&["tla"])
        .with_form(claims);

/// Begins with a swizzle, or with an integer behind at most brackets.
fn claims(text: &str) -> bool {
    let first = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let integer = first.starts_with(|c: char| c.is_ascii_digit() || "_-,)?".contains(c));
    let open = text.starts_with('(') && first.is_empty();
    let swizzle = ["S<", "Sw<", "F2<"].iter().any(|start| text.starts_with(start));
    (integer || open || swizzle) && !text.contains("->") && !text.contains("smem_ptr")
}

/// A layout with the extents of an array.
#[derive(Debug)]
struct Cute {
    tensor: TensorLayout,
}

/// Returns the byte offset of the words behind the layout.
fn layout_end(text: &str) -> usize {
    ["valid", "capacity", "steps"]
        .iter()
        .filter_map(|word| text.find(word))
        .min()
        .unwrap_or(text.len())
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let end = layout_end(text);
    let (first, suffix) = text.split_at(end);
    if let Some(at) = first.find('?') {
        let message =
            "`?` is an integer that is known only at run time; a layout needs all its integers";
        return Err(Error::parse((at, at + 1), message));
    }
    let layout = Layout::parse(first.trim_end()).map_err(parsed)?;
    let tensor = suffixed(&layout, suffix).map_err(|error| error.shifted(end))?;
    Ok(Arc::new(Cute { tensor }))
}

/// The layout with the extents, capacity and steps that the suffix gives it.
fn suffixed(layout: &Layout, suffix: &str) -> Result<TensorLayout, Error> {
    let bare = TensorLayout::of(layout);
    let mut scan = Scanner::new(suffix);
    let (mut extents, mut capacity, mut steps) = (bare.extents().to_vec(), bare.capacity(), vec![]);
    let valid = scan.eat("valid");
    if valid {
        extents = scan.list(("(", ")"), MAX_MODES, Scanner::integer)?;
    }
    if scan.eat("capacity") {
        capacity = scan.integer()?;
    }
    if scan.eat("steps") {
        steps = read_steps(&mut scan)?;
    }
    scan.end("the layout")?;
    if !steps.is_empty() && !valid {
        return Err(Error::parse((0, suffix.len()), "steps need the logical dims: `valid (…)`"));
    }
    TensorLayout::with_steps(&extents, &steps, layout, capacity)
        .map_err(|error| Error::parse((0, suffix.len()), error.to_string()))
}

fn read_steps(scan: &mut Scanner<'_>) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    while scan.peek().is_some() {
        let merge = scan.eat("merge");
        if !merge {
            scan.expect("split")?;
        }
        scan.expect("(")?;
        let first = axis(scan)?;
        scan.expect(",")?;
        steps.push(if merge {
            Step::Merge { major: first, minor: axis(scan)? }
        } else {
            Step::Split { axis: first, by: scan.integer()? }
        });
        scan.expect(")")?;
        if steps.len() > MAX_STEPS {
            return Err(scan.expected("the end of the steps"));
        }
    }
    Ok(steps)
}

fn axis(scan: &mut Scanner<'_>) -> Result<u8, Error> {
    scan.skip();
    let from = scan.at();
    let axis = scan.integer()?;
    u8::try_from(axis).map_err(|_| Error::parse((from, scan.at()), "an array has at most 32 axes"))
}

/// The text of any layout of an array in this dialect.
pub(crate) fn spell(tensor: &TensorLayout) -> String {
    let bare = TensorLayout::of(tensor.layout());
    let mut text = tensor.layout().to_string();
    if !tensor.is_strided() || tensor.extents() != bare.extents() {
        text += &format!(" valid {}", tuple(tensor.extents()));
    }
    if tensor.capacity() != bare.capacity() {
        text += &format!(" capacity {}", tensor.capacity());
    }
    if !tensor.is_strided() {
        text += " steps";
    }
    for step in tensor.steps() {
        text += &match step {
            Step::Merge { major, minor } => format!(" merge({major},{minor})"),
            Step::Split { axis, by } => format!(" split({axis},{by})"),
        };
    }
    text
}

/// The layout as CuTe text with its suffixes.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    if named.layout().is_strided() {
        return Ok(spell(named.layout()));
    }
    Err(Error::unsupported(
        "tiles that merge dims or do not divide one another are not modes with strides",
    ))
}

impl fmt::Display for Cute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spell(&self.tensor))
    }
}

impl ParsedSpec for Cute {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.tensor.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        given.agree_dims(self, self.tensor.extents())?;
        let alone = self.tensor == TensorLayout::of(self.tensor.layout());
        let bare = alone && given.dims.is_none() && given.dtype.is_none();
        Ok(ResolvedLayout { bare, ..ResolvedLayout::plain(self.tensor.clone(), given) })
    }
}
