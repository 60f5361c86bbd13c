//! Comparison of two layouts as maps, for questions and for expressions.

use std::{borrow::Cow, fmt};

use tilewright_core::{self as core, Coord, Difference, TensorLayout};
use tilewright_notation::{ArrayLayout, ResolvedLayout};

use crate::Error;

/// The answer of [`compare`].
///
/// ```
/// use tilewright::{Comparison, Spec, compare};
/// let resolve = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
/// let rows = resolve("f32[2,3] row-major");
/// // The same map; a rounded allocation is worth a note.
/// let Comparison::Same { notes } = compare(&rows, &resolve("(2,3):(3,1) capacity 8"))? else {
///     panic!("same")
/// };
/// assert_eq!(notes, ["the capacities differ: 6 and 8 elements"]);
/// let columns = resolve("(2,3):(1,2)");
/// let Comparison::Differ(first) = compare(&rows, &columns)? else { panic!("differ") };
/// assert_eq!(first.coord.as_slice(), [0, 1]);
/// let extents = compare(&rows, &resolve("f32[3,2] row-major"))?;
/// assert_eq!(extents.to_string(), "differ: extents (2,3) vs (3,2)");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Every coordinate goes to the same offset. Other differences (capacity, padding, element type) are notes.
    Same {
        /// One sentence for each difference outside the map.
        notes: Vec<String>,
    },
    /// The first coordinate, in row-major order, that goes to different offsets. If the search for the first one gives up, any
    /// such coordinate.
    Differ(Difference),
    /// The arrays have different logical extents.
    Extents {
        /// The extents of the first array.
        left: Coord,
        /// The extents of the second array.
        right: Coord,
    },
}

/// Compares two layouts as maps over equal logical extents. Two bare layouts of equal size and different shape are compared as
/// maps of their colexicographic index. The elements are not enumerated. Either may have index tables.
///
/// # Errors
/// [undecided](Error::is_undecided), in the field `b`, as [`TensorLayout::any_difference`] and
/// [`TabledLayout::first_difference`](crate::notation::TabledLayout::first_difference).
///
/// ```
/// use tilewright::{Comparison, Spec, compare};
/// let a = Spec::parse("f32[2,3]{0,1}")?.resolve(None, None)?;
/// let b = Spec::parse("(2,3):(1,2)")?.resolve(None, None)?;
/// assert!(matches!(compare(&a, &b)?, Comparison::Same { .. }));
/// let c = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// assert_eq!(compare(&a, &c)?.to_string(), "differ at (0,1): 2 vs 1");
/// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
/// let sorted = Spec::parse("f16[4,8] table(0; 0,2,3,1) row-major")?.array_layout(None, None, &())?;
/// let rows = Spec::parse("f16[4,8] row-major")?.resolve(None, None)?;
/// assert_eq!(compare(&sorted, &rows)?.to_string(), "differ at (1,0): 24 vs 8");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn compare<'a>(
    a: impl Into<Cow<'a, ArrayLayout>>,
    b: impl Into<Cow<'a, ArrayLayout>>,
) -> Result<Comparison, Error> {
    let (a, b) = (a.into(), b.into());
    let answer = match a.has_tables() || b.has_tables() {
        true => compared_through_tables(&a, &b),
        false => compared(a.stored(), b.stored()),
    };
    answer.map_err(|error| Error::from(error).in_field("b"))
}

fn compared_through_tables(a: &ArrayLayout, b: &ArrayLayout) -> Result<Comparison, core::Error> {
    let (left, right) = (a.layout(), b.layout());
    if left.extents() != right.extents() {
        let (left, right) = (Coord::new(left.extents())?, Coord::new(right.extents())?);
        return Ok(Comparison::Extents { left, right });
    }
    Ok(match left.first_difference(right)? {
        Some(difference) => Comparison::Differ(difference),
        None => Comparison::Same { notes: notes(a.stored(), b.stored()) },
    })
}

fn compared(a: &ResolvedLayout, b: &ResolvedLayout) -> Result<Comparison, core::Error> {
    let (left, right) = (a.layout(), b.layout());
    let linear = a.is_bare() && b.is_bare() && left.size() == right.size();
    if left.extents() != right.extents() && !linear {
        let (left, right) = (Coord::new(left.extents())?, Coord::new(right.extents())?);
        return Ok(Comparison::Extents { left, right });
    }
    let difference = if left.extents() == right.extents() {
        difference(left, right)?
    } else {
        let line = |layout: &TensorLayout| TensorLayout::linear(layout.layout());
        difference(&line(left)?, &line(right)?)?
    };
    Ok(match difference {
        Some(difference) => Comparison::Differ(difference),
        None => Comparison::Same { notes: notes(a, b) },
    })
}

/// Returns the first difference, or any one if the first is undecided.
fn difference(
    left: &TensorLayout,
    right: &TensorLayout,
) -> Result<Option<Difference>, core::Error> {
    match left.first_difference(right) {
        Err(error) if error.is_undecided() => left.any_difference(right),
        decided => decided,
    }
}

fn notes(a: &ResolvedLayout, b: &ResolvedLayout) -> Vec<String> {
    let mut notes = Vec::new();
    let (left, right) = (a.layout().capacity(), b.layout().capacity());
    if left != right {
        notes.push(format!("the capacities differ: {left} and {right} elements"));
    }
    if a.fill() != b.fill() && left > a.layout().size() {
        notes.push(format!("the padding differs: {} and {}", a.fill(), b.fill()));
    }
    if let (Some(left), Some(right)) = (a.dtype(), b.dtype())
        && left != right
    {
        notes.push(format!("the element types differ: {left} and {right}"));
    }
    if let (Some(left), Some(right)) = (a.element_bits(), b.element_bits())
        && left != right
    {
        notes.push(format!("the stored elements differ: {left} and {right} bits"));
    }
    notes
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Comparison::Same { .. } => f.write_str("same"),
            Comparison::Differ(Difference { coord, left, right }) => {
                write!(f, "differ at {coord}: {left} vs {right}")
            }
            Comparison::Extents { left, right } => write!(f, "differ: extents {left} vs {right}"),
        }
    }
}
