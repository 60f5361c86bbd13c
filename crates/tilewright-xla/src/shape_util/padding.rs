//! The causes of padding: the dims and the tiles that do not divide them.
//!
//! Law: for an array that is not empty, padded elements = elements · ∏ padded/extent over the causes. Each step of
//! XLA's walk (see `lower`) replaces a dim by the quotient, rounded up, and the tile's extent, and the last step rounds
//! the product up to the alignment.
//!
//! # Least padding
//!
//! The order of the dims with the least padding under the tiles of a layout.
//!
//! Law: [`Layout::least_padding`] is the least [`Layout::padded_elements`] over all orders of the dims, exactly. The
//! length of the storage depends only on the extents at the positions at which a tile cuts: all other extents are
//! factors of it wherever they are. The search by [`Orders`] therefore distinguishes orders only by these positions.

use std::fmt;

use tilewright_core::{Error, MAX_MODES, Orders};

use crate::{Layout, Tile, TileDim, lower::DimWalk, permutation::index};

/// A ratio of sizes: `padded` elements or cells where `of` would suffice.
///
/// Prints with one decimal, or with three if the ratio is below 1.05.
///
/// ```
/// use tilewright_xla::shape_util::Factor;
/// let text = |padded, of| Factor { padded, of }.to_string();
/// assert_eq!((text(128, 3), text(104, 100), text(16, 2)), ("×42.7".into(), "×1.040".into(), "×8".into()));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Factor {
    /// The size with padding.
    pub padded: u64,
    /// The size without padding.
    pub of: u64,
}

impl Factor {
    /// Returns the ratio; 1 if `of` is 0.
    ///
    /// ```
    /// use tilewright_xla::shape_util::Factor;
    /// assert_eq!(Factor { padded: 96, of: 60 }.ratio(), 1.6);
    /// assert_eq!(Factor { padded: 0, of: 0 }.ratio(), 1.0);
    /// ```
    pub fn ratio(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.padded as f64 / self.of as f64 }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ratio() {
            whole if whole.fract() == 0.0 => write!(f, "×{whole}"),
            little if little < 1.05 => write!(f, "×{little:.3}"),
            ratio => write!(f, "×{ratio:.1}"),
        }
    }
}

/// One cause of padding: an extent that a tile, or the alignment, does not divide.
///
/// ```
/// use tilewright_xla::Layout;
/// let causes = Layout::parse("{2,1,0:T(8,128)}").unwrap().padding_causes(&[8, 100, 3]).unwrap();
/// let texts: Vec<String> = causes.iter().map(ToString::to_string).collect();
/// assert_eq!(texts, [
///     "the minor dim (dim 2), 3, is padded to 128 by T(8,128), ×42.7",
///     "the second minor dim (dim 1), 100, is padded to 104 by T(8,128), ×1.040",
/// ]);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaddingCause {
    /// The logical dims that are padded, the most major first: several if `*` merged them, none for a dim that only the
    /// tile has and for the storage as a whole.
    pub dims: Vec<u64>,
    /// The number of dims that are more minor than the one in `dims`; `None` unless it is a single, whole dim.
    pub minor: Option<usize>,
    /// The extent without padding: that of the dims, or of the part of them that earlier tiles left; for the alignment,
    /// the number of elements.
    pub extent: u64,
    /// The extent with padding.
    pub padded: u64,
    /// The number of the tile, the number of its entry, and the tile; `None` for the alignment.
    pub tile: Option<(usize, usize, Tile)>,
}

impl PaddingCause {
    /// Returns the factor by which this cause enlarges the storage.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let causes = Layout::parse("{1,0:T(8,128)}").unwrap().padding_causes(&[4, 64]).unwrap();
    /// // 4 rows of 8 and 64 columns of 128: four times the elements in all.
    /// assert!(causes.iter().all(|cause| cause.factor().ratio() == 2.0));
    /// assert_eq!(causes.len(), 2);
    /// ```
    pub fn factor(&self) -> Factor {
        Factor { padded: self.padded, of: self.extent }
    }

    /// Returns a description of what is padded.
    fn subject(&self) -> String {
        let dims: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        match (self.minor, dims.as_slice()) {
            (Some(0), [dim]) => format!("the minor dim (dim {dim})"),
            (Some(1), [dim]) => format!("the second minor dim (dim {dim})"),
            (Some(_), [dim]) => format!("dim {dim}"),
            (_, []) if self.tile.is_none() => "the storage".into(),
            (_, []) => "a dim that the tile adds".into(),
            (_, [dim]) => format!("a part of dim {dim}"),
            (_, dims) => format!("the merged part of dims {}", dims.join(", ")),
        }
    }
}

impl fmt::Display for PaddingCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, is padded to {}", self.subject(), self.extent, self.padded)?;
        match &self.tile {
            Some((0, _, tile)) => write!(f, " by T{tile}")?,
            Some((_, _, tile)) => write!(f, " by the inner tile {tile}")?,
            None => f.write_str(" by the alignment")?,
        }
        write!(f, ", {}", self.factor())
    }
}

/// A working dim of the walk: its extent, and the set of physical dims that it consists of.
#[derive(Clone, Copy)]
struct Traced {
    extent: u64,
    dims: u32,
    /// Set if it is all of these dims, not a part.
    whole: bool,
}

/// One split of the walk: the dim that is cut, and the tile's extent.
#[derive(Clone, Copy)]
pub(super) struct WalkSplit {
    extent: u64,
    pub(super) dims: u32,
    whole: bool,
    pub(super) by: u64,
}

/// The walk that records its splits.
struct Trace(Vec<WalkSplit>);

impl DimWalk for Trace {
    type Axis = Traced;
    type Stop = Error;

    fn unit(&self) -> Traced {
        Traced { extent: 1, dims: 0, whole: true }
    }

    fn merge(&mut self, major: Traced, minor: Traced) -> Result<Traced, Error> {
        Ok(Traced {
            // Bounded before the walk begins.
            extent: major.extent.saturating_mul(minor.extent),
            dims: major.dims | minor.dims,
            whole: major.whole && minor.whole,
        })
    }

    fn split(&mut self, axis: Traced, by: u64) -> Result<(Traced, Traced), Error> {
        let Traced { extent, dims, whole } = axis;
        self.0.push(WalkSplit { extent, dims, whole, by });
        let quotient = Traced { extent: extent.div_ceil(by), dims, whole: whole && by == 1 };
        let inner = if by == 1 { 0 } else { dims };
        Ok((quotient, Traced { extent: by, dims: inner, whole: inner == 0 }))
    }
}

/// Returns the splits of XLA's walk, in order, for at most 32 dims.
pub(super) fn cuts(layout: &Layout, dims: &[u64]) -> Result<Vec<WalkSplit>, Error> {
    if dims.len() > MAX_MODES {
        let legal = "padding is explained for at most 32";
        return Err(Error::limit("{} dims", [dims.len() as i128], legal));
    }
    layout.final_bounds(dims)?;
    let physical = layout.physical(dims);
    let axes = (0..).zip(&physical);
    let axes = axes.map(|(at, &extent)| Traced { extent, dims: 1 << at, whole: true }).collect();
    let mut trace = Trace(Vec::new());
    trace.walk(axes, layout.tiles())?;
    Ok(trace.0)
}

impl Layout {
    /// Returns the causes of an array's padding, the largest factor first; none for an array without padding, or without
    /// elements.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [limit](Error::is_limit) beyond 32 dims.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(3,4)(2,1)L(100)}").unwrap();
    /// let causes = layout.padding_causes(&[6, 4]).unwrap();
    /// assert_eq!(causes[0].to_string(), "the storage, 32, is padded to 100 by the alignment, ×3.1");
    /// assert_eq!(causes[1].to_string(), "a part of dim 0, 3, is padded to 4 by the inner tile (2,1), ×1.3");
    /// assert!(layout.padding_causes(&[6]).unwrap_err().is_mismatch());
    /// ```
    pub fn padding_causes(&self, dims: &[u64]) -> Result<Vec<PaddingCause>, Error> {
        let padded = self.padded_elements(dims)?;
        if padded == 0 {
            return Ok(Vec::new());
        }
        let mut causes = Vec::new();
        for ((number, entry), cut) in entries(self.tiles()).zip(cuts(self, dims)?) {
            causes.extend(self.cause_of(number, entry, cut));
        }
        causes.extend(self.cause_of_alignment(dims, padded)?);
        // Of a/b and c/d the larger first: compares a·d with c·b.
        let cross =
            |a: &PaddingCause, b: &PaddingCause| u128::from(a.padded) * u128::from(b.extent);
        tilewright_core::sort_short_by(&mut causes, |a, b| cross(a, b) >= cross(b, a));
        Ok(causes)
    }

    fn cause_of(&self, number: usize, entry: usize, cut: WalkSplit) -> Option<PaddingCause> {
        let padded = cut.extent.div_ceil(cut.by).checked_mul(cut.by)?;
        let tile = self.tiles().get(number)?.clone();
        let dims: Vec<u64> = (0..)
            .zip(self.minor_to_major().iter().rev())
            .filter(|(at, _)| cut.dims >> at & 1 == 1)
            .map(|(_, &dim)| dim)
            .collect();
        let one = cut.whole && dims.len() == 1;
        let minor = one.then(|| self.rank().saturating_sub(1 + cut.dims.trailing_zeros() as usize));
        (padded > cut.extent).then_some(PaddingCause {
            dims,
            minor,
            extent: cut.extent,
            padded,
            tile: Some((number, entry, tile)),
        })
    }

    fn cause_of_alignment(&self, dims: &[u64], padded: u64) -> Result<Option<PaddingCause>, Error> {
        let extent = self.final_bounds(dims)?.iter().product();
        Ok((padded > extent).then_some(PaddingCause {
            dims: Vec::new(),
            minor: None,
            extent,
            padded,
            tile: None,
        }))
    }
}

/// Iterates over the numbers of each tile and entry that cuts, in the order of the walk.
fn entries(tiles: &[Tile]) -> impl Iterator<Item = (usize, usize)> + '_ {
    tiles.iter().enumerate().flat_map(|(number, tile)| {
        let entries = tile.dims().iter().enumerate();
        entries.filter(|(_, dim)| **dim != TileDim::Combine).map(move |(entry, _)| (number, entry))
    })
}

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
