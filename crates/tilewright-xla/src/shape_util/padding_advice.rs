//! The order of the dims with the least padding under the tiles of a layout.
//!
//! Law: [`Layout::least_padding`] is the least [`Layout::padded_elements`] over all orders of the dims, exactly. The length
//! of the storage depends only on the extents at the positions at which a tile cuts: all other extents are factors of it
//! wherever they are. The search by [`Orders`] therefore distinguishes orders only by these positions.

use std::fmt;

use tilewright_core::{Error, MAX_MODES, Orders};

use super::padding_cause::{Factor, PaddingCause, cuts};
use crate::{Layout, permutation::index};

/// The number of dims and tile entries after which the search ends undecided. It suffices for all orders of 8 dims,
/// and for all choices of 3 among 32.
const BUDGET: usize = 1 << 21;

/// An order of the dims with the least padding.
///
/// ```
/// use tilewright_xla::{Layout, shape_util::LeastPadding};
/// let layout = Layout::parse("{2,1,0:T(8,128)}").unwrap();
/// // The dim of 100 in the lanes, the dim of 8 in the sublanes.
/// let LeastPadding { minor_to_major, padded_elements } = layout.least_padding(&[8, 100, 3]).unwrap();
/// assert_eq!((minor_to_major, padded_elements), (vec![1, 0, 2], 3 * 8 * 128));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeastPadding {
    /// The dims, fastest first; the layout's own order if no other pads less.
    pub minor_to_major: Vec<u64>,
    /// The length of the storage in that order, in elements.
    pub padded_elements: u64,
}

/// The reasons for an array's padding, and its size in the best order of its dims.
///
/// ```
/// use tilewright_xla::Layout;
/// let advice = Layout::parse("{2,1,0:T(8,128)}").unwrap().padding_advice(&[8, 100, 3]).unwrap();
/// assert_eq!(advice.to_string(), "\
/// the minor dim (dim 2), 3, is padded to 128 by T(8,128), ×42.7; \
/// the second minor dim (dim 1), 100, is padded to 104 by T(8,128), ×1.040; \
/// {1,0,2:T(8,128)} would be ×1.3 instead of ×44.4");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaddingAdvice {
    /// The size of the storage relative to the elements.
    pub factor: Factor,
    /// The causes of the padding, the largest factor first.
    pub causes: Vec<PaddingCause>,
    /// The best layout with the same tiles, and its size relative to the elements; `None` if no order pads less.
    /// [Undecided](Error::is_undecided) if there are too many orders.
    pub better: Result<Option<(Layout, Factor)>, Error>,
}

impl PaddingAdvice {
    /// Returns the last line: what to change.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let suggestion = |dims: &[u64]| {
    ///     let layout = Layout::parse("{1,0:T(8,128)}").unwrap();
    ///     layout.padding_advice(dims).unwrap().suggestion()
    /// };
    /// assert_eq!(suggestion(&[128, 8]), "{0,1:T(8,128)} would be ×1 instead of ×16");
    /// assert_eq!(suggestion(&[8, 128]), "no order of the dims pads less");
    /// ```
    pub fn suggestion(&self) -> String {
        match &self.better {
            Ok(Some((layout, factor))) => {
                format!("{layout} would be {factor} instead of {}", self.factor)
            }
            Ok(None) => "no order of the dims pads less".into(),
            Err(error) => format!("a better order is not decided: {error}"),
        }
    }
}

impl fmt::Display for PaddingAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.causes.iter().try_for_each(|cause| write!(f, "{cause}; "))?;
        f.write_str(&self.suggestion())
    }
}

impl Layout {
    /// Returns the order of the dims with the least padding under the tiles of this layout. Of several, it is the first
    /// when orders are compared by the positions of their dims in this layout.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [limit](Error::is_limit) beyond 32 dims; [undecided](Error::is_undecided) if
    /// there are too many orders to try: 9 or more dims of different extents, each under a tile.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{2,1,0:T(8,128)(2,1)}").unwrap();
    /// let least = layout.least_padding(&[8, 100, 3]).unwrap();
    /// assert_eq!((least.minor_to_major, least.padded_elements), (vec![1, 0, 2], 3 * 8 * 128));
    /// assert!(layout.least_padding(&[8, 100]).unwrap_err().is_mismatch());
    /// ```
    pub fn least_padding(&self, dims: &[u64]) -> Result<LeastPadding, Error> {
        let now = self.padded_elements(dims)?;
        let own = self.minor_to_major();
        let extent = |dim: &u64| dims.get(index(*dim)).copied().unwrap_or(1);
        let extents: Vec<u64> = own.iter().map(extent).collect();
        let entries: usize = self.tiles().iter().map(|tile| tile.dims().len()).sum();
        let orders = Orders {
            extents: &extents,
            places: &places(self, dims)?,
            enough: elements(dims).next_multiple_of(self.tail_padding_alignment()),
            most: BUDGET / (1 + dims.len() + entries),
        };
        // An order whose storage exceeds the limit is not the best.
        let cost = |order: &[u64]| {
            let physical = order.iter().rev().map(|&at| extents[index(at)]);
            self.padded_in_order(physical.collect()).ok()
        };
        let (order, padded_elements) = match orders.least(now, cost)? {
            Some(best) => best,
            None => return Ok(LeastPadding { minor_to_major: own.to_vec(), padded_elements: now }),
        };
        let minor_to_major = order.as_slice().iter().map(|&at| own[index(at)]).collect();
        Ok(LeastPadding { minor_to_major, padded_elements })
    }

    /// Explains the padding of an array of these dims, and finds the best order of its dims.
    ///
    /// # Errors
    /// Those of [`Layout::padding_causes`].
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(8,128)}").unwrap();
    /// // A matrix of 3 columns takes 128; with its dims exchanged, its rows fill the lanes.
    /// let advice = layout.padding_advice(&[256, 3]).unwrap();
    /// assert_eq!(advice.causes[0].factor().to_string(), "×42.7");
    /// assert_eq!(advice.better.unwrap().unwrap().0.to_string(), "{0,1:T(8,128)}");
    /// assert!(layout.padding_advice(&[256]).unwrap_err().is_mismatch());
    /// ```
    pub fn padding_advice(&self, dims: &[u64]) -> Result<PaddingAdvice, Error> {
        let causes = self.padding_causes(dims)?;
        let padded = self.padded_elements(dims)?;
        let of = elements(dims);
        let better = self.least_padding(dims).and_then(|least| {
            let factor = Factor { padded: least.padded_elements, of };
            let layout = self.with_order(&least.minor_to_major)?;
            Ok((least.padded_elements < padded).then_some((layout, factor)))
        });
        Ok(PaddingAdvice { factor: Factor { padded, of }, causes, better })
    }
}

/// Returns the number of elements of an array whose storage, which is at least as long, is within the limit.
fn elements(dims: &[u64]) -> u64 {
    if dims.contains(&0) { 0 } else { dims.iter().product() }
}

/// Returns the positions, counted from the most minor dim, at which a tile cuts.
fn places(layout: &Layout, dims: &[u64]) -> Result<Vec<usize>, Error> {
    let cuts = cuts(layout, dims)?;
    let cut = cuts.iter().filter(|cut| cut.by > 1).fold(0, |dims, cut| dims | cut.dims);
    let rank = dims.len().min(MAX_MODES);
    Ok((0..rank).filter(|minor| cut >> (rank - 1 - minor) & 1 == 1).collect())
}
