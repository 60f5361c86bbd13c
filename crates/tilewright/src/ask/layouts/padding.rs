//! Advice about padding: why the storage of an array is longer than its elements, and which order of its dims would
//! take less under the same tiles.
//!
//! Everything is computed from the layout. The tile of an axis is the product of its inner digits, which its outermost
//! digit repeats. An axis of one digit that is longer than the dim is one tile.
//!
//! Law: no other assignment of the dims to the axes of the layout has a smaller capacity than [`Advice::better`].

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::{Counted, Digit, Error, Fill, Mode, Orders, Pattern, TensorLayout};
use tilewright_notation::{ResolvedLayout, notation};

use crate::ask::words::{factor, ratio};

/// The number of orders of the dims after which the search stops.
const BUDGET: usize = 1 << 16;

/// Causes of padding, and a remedy.
///
/// ```
/// use tilewright::{Spec, ask::Advice};
/// let tiled = Spec::parse("f32[8,100,3]{2,1,0:T(8,128)}")?.resolve(None, None)?;
/// let advice = Advice::of(tiled.layout()).unwrap();
/// assert_eq!(advice.causes[0].to_string(), "dim 2, 3, is padded to 128, ×42.7");
/// assert_eq!(advice.causes[1].to_string(), "dim 1, 100, is padded to 104 by tiles of 8, ×1.040");
/// // The dim of 100 under the tiles of 128, the dim of 8 under those of 8.
/// let better = advice.better.unwrap().unwrap();
/// assert_eq!((better.capacity(), advice.capacity), (3 * 8 * 128, 8 * 104 * 128));
/// // Nothing is padded.
/// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// assert!(Advice::of(rows.layout()).is_none());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The number of logical elements.
    pub size: u64,
    /// The length of the storage, in elements.
    pub capacity: u64,
    /// The padded dims, the largest factor first.
    pub causes: Vec<Cause>,
    /// The layout of least capacity among those with the dims in another order under the same tiles; `None` if no order takes
    /// less. [Unsupported](Error::is_unsupported) if the layout is not a box of digits, [undecided](Error::is_undecided) if there
    /// are too many orders.
    pub better: Result<Option<TensorLayout>, Error>,
}

/// Dim that is padded, or the storage as a whole.
///
/// ```
/// use tilewright::{Spec, ask::Advice};
/// // Eight rows of tiles, of which a vector fills one.
/// let vector = Spec::parse("bf16[300]{0:T(8,128)}")?.resolve(None, None)?;
/// let causes = Advice::of(vector.layout()).unwrap().causes;
/// assert_eq!(causes[0].to_string(), "the storage of 384 elements is 3072 elements long, ×8");
/// assert_eq!((causes[1].dim, causes[1].tile), (Some(0), Some(128)));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The dim; `None` for the storage as a whole.
    pub dim: Option<usize>,
    /// The extent of the dim. For the storage, the elements of the padded array.
    pub extent: u64,
    /// The extent with padding. For the storage, its length.
    pub padded: u64,
    /// The extent of the tiles that the dim is cut into, if it is cut.
    pub tile: Option<u64>,
}

impl Advice {
    /// Returns the advice for a layout; `None` if it lacks padding.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Advice};
    /// // The same layout in any words has the same advice.
    /// let advice = |text| Advice::of(Spec::parse(text).unwrap().resolve(None, None).unwrap().layout());
    /// assert_eq!(advice("f32[3,5]{1,0:T(2,2)}"), advice("((2,2),(2,3)):((2,12),(1,4)) valid (3,5)"));
    /// ```
    pub fn of(layout: &TensorLayout) -> Option<Advice> {
        if layout.padding() == 0 || layout.size() == 0 {
            return None;
        }
        Some(Advice {
            size: layout.size(),
            capacity: layout.capacity(),
            causes: causes(layout),
            better: better(layout),
        })
    }

    /// Returns the remedy as a sentence, if one is known.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Advice};
    /// let suggestion = |text| {
    ///     let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
    ///     Advice::of(named.layout()).unwrap().suggestion()
    /// };
    /// let says = "(m1 m0:128) (n1 n0:8) -> m1 n1 n0 m0 would be ×1 instead of ×16";
    /// assert_eq!(suggestion("f32[128,8]{1,0:T(8,128)}").as_deref(), Some(says));
    /// assert_eq!(suggestion("f32[8,100]{1,0:T(8,128)}").as_deref(), Some("no order of the dims pads less"));
    /// // Rows with gaps between them have no tiles.
    /// assert_eq!(suggestion("(4,4):(8,1)"), None);
    /// ```
    pub fn suggestion(&self) -> Option<String> {
        match &self.better {
            Ok(Some(layout)) => {
                let (now, then) = (self.capacity, layout.capacity());
                let (now, then) = (factor(now, self.size), factor(then, self.size));
                Some(format!("{} would be {then} instead of {now}", pattern(layout)))
            }
            Ok(None) => Some("no order of the dims pads less".into()),
            Err(error) if error.is_undecided() => {
                Some(format!("a better order is not decided: {error}"))
            }
            Err(_) => None,
        }
    }

    /// Returns `factor`, `causes` and `better`, as `docs/reference/json.md` lists them.
    pub(in crate::ask) fn to_json(&self) -> Value {
        let better = self.better.as_ref().ok().and_then(Option::as_ref);
        let better = better.map(|layout| {
            json!({ "layout": pattern(layout), "factor": ratio(layout.capacity(), self.size) })
        });
        json!({
            "factor": ratio(self.capacity, self.size),
            "causes": self.causes.iter().map(Cause::to_json).collect::<Vec<_>>(),
            "better": better,
        })
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        json!({
            "dims": self.dim.into_iter().collect::<Vec<_>>(),
            "extent": self.extent,
            "padded": self.padded,
            "tile": self.tile,
            "text": self.to_string(),
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cause { extent, padded, .. } = self;
        match self.dim {
            Some(dim) => write!(f, "dim {dim}, {extent}, is padded to {padded}")?,
            None => {
                let [extent, padded] = [extent, padded].map(|count| Counted(*count, "element"));
                write!(f, "the storage of {extent} is {padded} long")?;
            }
        }
        if let Some(tile) = self.tile {
            write!(f, " by tiles of {tile}")?;
        }
        write!(f, ", {}", factor(*padded, *extent))
    }
}

/// Returns the layout as a pattern. A layout that was made this way has one.
fn pattern(layout: &TensorLayout) -> String {
    let named = ResolvedLayout::new("", layout.clone(), None, None, Fill::Unspecified);
    let printed = notation("pattern").and_then(|pattern| pattern.print(&named));
    printed.unwrap_or_else(|_| named.to_spec())
}

fn causes(layout: &TensorLayout) -> Vec<Cause> {
    let mut array = layout.size();
    let mut causes = Vec::new();
    if layout.is_strided() {
        for (dim, &extent) in layout.extents().iter().enumerate() {
            let modes = layout.layout().axis(dim).unwrap_or(&[]);
            let padded = layout.layout().axis_size(dim).unwrap_or(extent);
            array = array / extent.max(1) * padded;
            if padded > extent {
                let tile = Some(tile(extent, modes)).filter(|_| modes.len() > 1);
                causes.push(Cause { dim: Some(dim), extent, padded, tile });
            }
        }
    }
    if layout.capacity() > array {
        let padded = layout.capacity();
        causes.push(Cause { dim: None, extent: array, padded, tile: None });
    }
    // The larger of two fractions has the larger cross product.
    let cross = |a: &Cause, b: &Cause| u128::from(a.padded) * u128::from(b.extent);
    tilewright_core::sort_short_by(&mut causes, |a, b| cross(a, b) >= cross(b, a));
    causes
}

/// Returns the extent to whose multiples an axis is padded; 1 if the axis is not cut.
fn tile(extent: u64, modes: &[Mode]) -> u64 {
    let Some((top, inner)) = modes.split_last() else { return 1 };
    let inner = inner.iter().map(|mode| mode.extent()).fold(1, u64::saturating_mul).max(1);
    let repeats = extent.div_ceil(inner) == top.extent();
    if repeats { inner } else { inner.saturating_mul(top.extent()) }
}

/// Returns the layout of least capacity with the dims in another order.
fn better(layout: &TensorLayout) -> Result<Option<TensorLayout>, Error> {
    let pattern = Pattern::of(layout)?;
    let axes = 0..layout.rank();
    let modes = |axis| layout.layout().axis(axis).unwrap_or(&[]);
    let tiles: Vec<u64> =
        axes.clone().map(|axis| tile(layout.extents()[axis], modes(axis))).collect();
    let tiled: Vec<usize> = axes.filter(|&axis| tiles[axis] > 1).collect();
    let extents = layout.extents();
    let orders = Orders { extents, places: &tiled, enough: layout.size(), most: BUDGET };
    let cost = |order: &[u64]| {
        let mut padded = order.iter().zip(&tiles).map(|(&dim, &tile)| {
            extents.get(usize::try_from(dim).ok()?)?.checked_next_multiple_of(tile)
        });
        padded.try_fold(1u64, |whole, padded| whole.checked_mul(padded?))
    };
    let best = orders.least(layout.capacity(), cost)?;
    best.map(|(order, _)| reordered(&pattern, order.as_slice(), extents)).transpose()
}

/// Returns the layout of a pattern with dim `order[axis]` along each axis.
fn reordered(pattern: &Pattern, order: &[u64], extents: &[u64]) -> Result<TensorLayout, Error> {
    let digits = pattern.digits();
    let of_axis = |axis: usize| digits.iter().filter(move |one| usize::from(one.axis()) == axis);
    let dim = |axis: usize| order.get(axis).map_or(0, |&dim| dim as u8);
    let renamed = digits.iter().map(|one| match one.size() {
        Some(size) => Digit::fixed(dim(usize::from(one.axis())), one.level(), size),
        None => Digit::rest(dim(usize::from(one.axis())), one.level()),
    });
    // An axis of one tile gets a digit that counts its tiles, outside all tiles.
    let whole = |axis: &usize| of_axis(*axis).all(|one| one.size().is_some());
    let counting = |axis: usize| {
        let level = of_axis(axis).map(|one| one.level() + 1).max().unwrap_or(0);
        Digit::rest(dim(axis), level)
    };
    let mut stored: Vec<Digit> = (0..order.len()).filter(whole).map(counting).collect();
    stored.extend(renamed);
    Pattern::new(order.len(), &stored)?.layout(extents)
}
