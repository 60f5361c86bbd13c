//! Insertion of dims: appended, prepended, inserted.
//!
//! Laws: every property of the layout is kept; an element with index 0 in a new dim of extent 1 does not move; a new
//! most major dim repeats the storage of the array, a new most minor one its elements.
//!
//! Removal of dims.
//!
//! Law: removing a dim leaves every element with index 0 in it at the offset that it has in an array of extent 1 there,
//! so removing a dim of extent 1 moves no element. XLA keeps the tiles unchanged, which moves data if a tile covers the
//! dim: `f32[5,1]{1,0:T(8,128)}` has element 4 at 512, `f32[5]{0:T(8,128)}` at 4.
//!
//! Changes of tiles that keep their meaning when a dim is inserted or removed.
//!
//! Laws: when a dim of extent 1 is inserted or removed, every element keeps its offset. A dim inserted minor to all
//! others is the fastest: each element becomes that many neighbours. A dim inserted elsewhere is outside the tiles that
//! would cover it: these get an entry of 1 for it.
//!
//! Both changes follow, through every tile, the axes that one of the two walks has and the other has not. A tile leaves
//! such an axis unchanged by an entry of its own, and turns it into a quotient and a remainder.

use tilewright_core::{Error, Layout as Strided, Mode, TensorLayout};

use super::dimension_numbers;
use crate::shape_util::extent;
use crate::{ArrayShape, Dim, Layout, Tile, TileDim, layout_util, permutation::index};

/// The position of a new dim in storage.
#[derive(Clone, Copy)]
enum NewDim {
    /// Inside all tiles, the fastest.
    Minor,
    /// Outside the tiles, slower than this many dims.
    Major(usize),
}

impl ArrayShape {
    /// Returns the array with a new last dim that is the slowest: its storage is repeated.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) for an extent beyond 2⁶³ − 1, where XLA cuts to 32 bits;
    /// [unsupported](Error::is_unsupported) if a tile's `*` merges dims across the new one.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,200]{1,0:T(8,128)}").unwrap();
    /// let longer = shape.append_major_dimension(4).unwrap();
    /// assert_eq!(longer.to_string(), "f32[10,200,4]{1,0,2:T(8,128)}");
    /// assert!(shape.append_major_dimension(u64::MAX).unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "AppendMajorDimension")]
    pub fn append_major_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(self.dims.len(), NewDim::Major(self.dims.len()), extent)
    }

    /// Returns the array with a new first dim that is the slowest: its storage is repeated. XLA drops tiles and dynamic
    /// flags.
    ///
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,20,30]{0,2,1}").unwrap();
    /// assert_eq!(shape.prepend_major_dimension(40).unwrap().to_string(), "f32[40,10,20,30]{1,3,2,0}");
    /// ```
    #[doc(alias = "PrependMajorDimension")]
    pub fn prepend_major_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(0, NewDim::Major(self.dims.len()), extent)
    }

    /// Returns the array with a new last dim that is the fastest: each element is repeated. Tiles get an entry for it, so
    /// that they still cover the same dims; XLA's tiles cover the new one instead.
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,200]{1,0:T(8,128)}").unwrap();
    /// let pairs = shape.append_minor_dimension(2).unwrap();
    /// assert_eq!(pairs.to_string(), "f32[10,200,2]{2,1,0:T(8,128,2)}");
    /// assert_eq!(pairs.linear_index(&[9, 199, 1]).unwrap(), 2 * shape.linear_index(&[9, 199]).unwrap() + 1);
    /// ```
    #[doc(alias = "AppendMinorDimension")]
    pub fn append_minor_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(self.dims.len(), NewDim::Minor, extent)
    }

    /// Returns the array with a new dim of this number. In storage it is adjacent to, and slower than, the dim that had the
    /// number; if the number is the rank, it is the fastest dim of all. Tiles that cover it get an entry of 1.
    ///
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`]; [out of range](Error::is_out_of_range) for a number above the
    /// rank.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[10,<=200]{1,0:T(8,128)E(4)}").unwrap();
    /// let longer = shape.insert_dimension(1, 3).unwrap();
    /// assert_eq!(longer.to_string(), "s4[10,3,<=200]{2,1,0:T(8,1,128)E(4)}");
    /// assert!(shape.insert_dimension(3, 3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "InsertDimensionAtIndex")]
    pub fn insert_dimension(&self, at: usize, extent: u64) -> Result<ArrayShape, Error> {
        if at > self.dims.len() {
            return Err(Error::out_of_range(
                "a dim inserted at {} of {}",
                [at as i128, self.dims.len() as i128],
                "the new dim's number is at most the rank",
            ));
        }
        let layout = self.checked_layout()?;
        let place = layout.minor_to_major().iter().position(|&dim| index(dim) == at);
        self.inserted(at, place.map_or(NewDim::Minor, |place| NewDim::Major(place + 1)), extent)
    }

    /// Returns the array with several new dims from this number on, each inserted by
    /// [`ArrayShape::insert_dimension`].
    ///
    /// # Errors
    /// Those of [`ArrayShape::insert_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,20]{1,0}").unwrap();
    /// assert_eq!(shape.insert_dimensions(1, &[3, 4]).unwrap().to_string(), "f32[10,3,4,20]{3,2,1,0}");
    /// ```
    #[doc(alias = "InsertDimensionsAtIndex")]
    pub fn insert_dimensions(&self, at: usize, extents: &[u64]) -> Result<ArrayShape, Error> {
        let mut shape = self.clone();
        for &extent in extents.iter().rev() {
            shape = shape.insert_dimension(at, extent)?;
        }
        Ok(shape)
    }

    /// Returns the array with a new dim of number `at`.
    fn inserted(&self, at: usize, place: NewDim, extent: u64) -> Result<ArrayShape, Error> {
        if extent > i64::MAX as u64 {
            return Err(Error::overflow(
                "a new dim of extent {}",
                [extent.into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        let layout = self.checked_layout()?;
        let mut shape = self.clone();
        shape.dims.insert(at.min(shape.dims.len()), Dim::Static(extent));
        if self.layout.is_some() {
            shape.layout = Some(insert_into_layout(&layout, at as u64, place, extent)?);
        }
        Ok(shape)
    }
}

fn insert_into_layout(
    layout: &Layout,
    at: u64,
    place: NewDim,
    extent: u64,
) -> Result<Layout, Error> {
    let (place, inside) = match place {
        NewDim::Minor => (0, true),
        NewDim::Major(place) => (place, false),
    };
    let renamed = |dim: u64| if dim >= at { dim + 1 } else { dim };
    let mut order: Vec<u64> = layout.minor_to_major().iter().map(|&dim| renamed(dim)).collect();
    order.insert(place.min(order.len()), at);
    let tiles = inserted(layout.tiles(), place, extent, inside)?;
    let longer = layout.replaced(&order)?.with_tiles(&tiles);
    Ok(layout_util::carry(layout, &longer, &|dim| Some(renamed(dim))))
}

impl ArrayShape {
    /// Returns the array without a dim. Negative numbers count from the end.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2]{2,0,1}").unwrap();
    /// assert_eq!(shape.delete_dimension(1).unwrap().to_string(), "f32[5,2]{1,0}");
    /// // Element 4 stays at 512.
    /// let shape = ArrayShape::parse("f32[5,1]{1,0:T(8,128)}").unwrap();
    /// assert_eq!(shape.delete_dimension(1).unwrap().linear_index(&[4]), Ok(512));
    /// assert!(shape.delete_dimension(2).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "DeleteDimension")]
    pub fn delete_dimension(&self, dim: i64) -> Result<ArrayShape, Error> {
        self.delete_dimensions(&[dim])
    }

    /// Returns the array without some dims, in any order. Negative numbers count from the end. Tiles are changed so that
    /// no element moves.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [illegal](Error::is_illegal) for one named
    /// twice; [unsupported](Error::is_unsupported) if a tile covers a dim such that no tiles describe the elements without it.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2,7,9]{2,0,1,4,3}").unwrap();
    /// assert_eq!(shape.delete_dimensions(&[3, 1, 2]).unwrap().to_string(), "f32[5,9]{0,1}");
    /// assert!(shape.delete_dimensions(&[1, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "DeleteDimensions")]
    pub fn delete_dimensions(&self, dims: &[i64]) -> Result<ArrayShape, Error> {
        let gone = dimension_numbers(dims, self.dims.len())?;
        self.filter_dimensions(|dim| !gone.contains(&dim))
    }

    /// Returns the array with only the dims for which `keep` returns true.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2]{2,0,1}").unwrap();
    /// assert_eq!(shape.filter_dimensions(|dim| dim != 1).unwrap().to_string(), "f32[5,2]{1,0}");
    /// ```
    #[doc(alias = "FilterDimensions")]
    pub fn filter_dimensions(&self, keep: impl Fn(usize) -> bool) -> Result<ArrayShape, Error> {
        let _ = self.checked_layout()?;
        let gone: Vec<usize> = (0..self.dims.len()).filter(|&dim| !keep(dim)).collect();
        if let Some(shape) = edited(self, &gone)? {
            return Ok(shape);
        }
        let mut shape = self.clone();
        for &dim in gone.iter().rev() {
            shape = match edited(&shape, &[dim])? {
                Some(less) => less,
                None => raised(&shape, dim)?,
            };
        }
        Ok(shape)
    }

    /// Returns the array without its dims of extent 1. No element moves.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[1,5,1,3]{3,2,1,0}").unwrap();
    /// assert_eq!(shape.drop_degenerate_dimensions().unwrap().to_string(), "f32[5,3]{1,0}");
    /// ```
    #[doc(alias = "DropDegenerateDimensions")]
    pub fn drop_degenerate_dimensions(&self) -> Result<ArrayShape, Error> {
        let unit = |dim: usize| self.dims.get(dim).copied().and_then(extent) == Some(1);
        self.filter_dimensions(|dim| !unit(dim))
    }
}

/// Returns the remaining dims, and the new number of each, after these dims, in ascending order, are removed.
fn renamed(shape: &ArrayShape, gone: &[usize]) -> (Vec<Dim>, Vec<Option<u64>>) {
    let (mut left, mut numbers) = (Vec::new(), Vec::with_capacity(shape.dims.len()));
    for (dim, &kept) in shape.dims.iter().enumerate() {
        let stays = gone.binary_search(&dim).is_err();
        numbers.push(stays.then_some(left.len() as u64));
        left.extend(stays.then_some(kept));
    }
    (left, numbers)
}

/// Returns the array without these dims, in ascending order, if a change of the tiles suffices.
fn edited(shape: &ArrayShape, gone: &[usize]) -> Result<Option<ArrayShape>, Error> {
    let (dims, numbers) = renamed(shape, gone);
    let mut less = ArrayShape { element_type: shape.element_type, dims, layout: None };
    let Some(layout) = &shape.layout else { return Ok(Some(less)) };
    let number = |dim: u64| numbers.get(index(dim)).copied().flatten();
    let order = layout.minor_to_major();
    let places =
        (0..order.len()).filter(|&at| order.get(at).is_some_and(|&dim| number(dim).is_none()));
    let places: Vec<usize> = places.collect();
    let Some(tiles) = removed(layout.tiles(), &places, layout.rank()) else {
        return Ok(None);
    };
    let order: Vec<u64> = order.iter().filter_map(|&dim| number(dim)).collect();
    let plain = layout.replaced(&order)?.with_tiles(&tiles);
    less.layout = Some(layout_util::carry(layout, &plain, &number));
    Ok(Some(less))
}

/// Returns the array without a dim, in a layout found for the remaining offsets by raising the core's value.
fn raised(shape: &ArrayShape, dim: usize) -> Result<ArrayShape, Error> {
    let layout = shape.layout_or_default();
    let covered = |_| {
        let extent = shape.dims.get(dim).copied().and_then(extent).unwrap_or(0);
        Error::unsupported(
            "dim {} of extent {} is covered by a tile, and no tiles say where the other dims are \
             without it",
            [dim as i128, extent.into()],
            "drop the tiles first, or keep the dim at extent 1",
        )
    };
    let mut one = shape.clone();
    if let Some(slot) = one.dims.get_mut(dim) {
        *slot = Dim::Static(1);
    }
    let mut extents = one.extents()?;
    let tensor = layout.clone().with_splits(&[]).lower(&extents)?;
    extents.remove(dim);
    let axes = (0..tensor.rank()).filter(|&axis| axis != dim);
    let modes: Vec<&[Mode]> = axes.filter_map(|axis| tensor.layout().axis(axis)).collect();
    let counts: Vec<usize> = modes.iter().map(|modes| modes.len()).collect();
    if !tensor.is_strided() {
        return Err(covered(()));
    }
    let strided = Strided::nested(&modes.concat(), &counts)?;
    let left = TensorLayout::new(&extents, &strided, tensor.capacity())?;
    let found = Layout::of(&left).map_err(|_| covered(()))?;
    let plain = layout
        .replaced(found.minor_to_major())?
        .with_tiles(found.tiles())
        .with_tail_padding_alignment(found.tail_padding_alignment())?;
    let (dims, numbers) = renamed(shape, &[dim]);
    let number = |dim: u64| numbers.get(index(dim)).copied().flatten();
    let layout = Some(layout_util::carry(&layout, &plain, &number));
    Ok(ArrayShape { element_type: shape.element_type, dims, layout })
}

/// An axis of one walk only.
#[derive(Clone, Copy)]
struct Extra {
    /// The position, counted from the most minor axis.
    at: usize,
    extent: u64,
    /// Set if it stays within tiles, minor to all other axes.
    inside: bool,
}

/// Returns the tiles after an axis of `extent` is inserted at a position counted from the most minor axis. The most
/// minor axis is `inside` the tiles or outside; any other is outside.
///
/// # Errors
/// Unsupported if `*` merges physical dims across the new one.
pub(crate) fn inserted(
    tiles: &[Tile],
    at: usize,
    extent: u64,
    inside: bool,
) -> Result<Vec<Tile>, Error> {
    let mut extras = vec![Extra { at, extent, inside }];
    tiles.iter().map(|tile| insert_into(tile, &mut extras)).collect()
}

fn insert_into(tile: &Tile, extras: &mut Vec<Extra>) -> Result<Tile, Error> {
    let (mut entries, mut groups) = (Vec::new(), 0);
    let (mut quotients, mut remainders) = (Vec::new(), Vec::new());
    let mut old = tile.dims().iter().rev().copied().peekable();
    while let Some(&next) = old.peek() {
        let extra = extras.iter().find(|extra| extra.at == entries.len()).copied();
        let entry = match (extra, next) {
            (None, _) => old.next().unwrap_or(next),
            (Some(extra), TileDim::Combine) if extra.extent == 1 => TileDim::Combine,
            (Some(extra), TileDim::Combine) => return Err(merged_across(extra.extent)),
            (Some(extra), TileDim::Size(_)) => {
                let by = if extra.inside { extra.extent.max(1) } else { 1 };
                quotients.push(Extra {
                    at: groups,
                    extent: extra.extent.div_ceil(by),
                    inside: false,
                });
                remainders.push(Extra { at: groups, extent: by, inside: extra.inside });
                TileDim::Size(by)
            }
        };
        groups += usize::from(matches!(entry, TileDim::Size(_)));
        entries.push(entry);
    }
    let covered = entries.len();
    let mut after = remainders;
    after.extend(quotients.into_iter().map(|extra| Extra { at: extra.at + groups, ..extra }));
    let beyond = extras.iter().filter(|extra| extra.at >= covered);
    after.extend(beyond.map(|extra| Extra { at: extra.at - covered + 2 * groups, ..*extra }));
    *extras = after;
    entries.reverse();
    Tile::new(&entries)
}

fn merged_across(extent: u64) -> Error {
    Error::unsupported(
        "a tile's `*` merges dims across the new dim of extent {}",
        [extent.into()],
        "insert it elsewhere, or drop the tiles first",
    )
}

/// Returns the tiles after axes of extent 1, of `count` in total, are removed at positions counted from the most minor
/// one; `None` if no change of the tiles keeps every element at its offset.
pub(crate) fn removed(tiles: &[Tile], at: &[usize], mut count: usize) -> Option<Vec<Tile>> {
    let (mut extras, mut kept) = (at.to_vec(), Vec::new());
    for tile in tiles {
        let entries = remove_from(tile, &mut extras, count)?;
        let groups = tile.dims().iter().filter(|dim| matches!(dim, TileDim::Size(_))).count();
        count = count.saturating_sub(tile.dims().len()) + 2 * groups;
        if !entries.is_empty() {
            kept.push(Tile::new(&entries).ok()?);
        }
    }
    Some(kept)
}

/// Returns the remaining entries of one tile, major to minor.
fn remove_from(tile: &Tile, extras: &mut Vec<usize>, count: usize) -> Option<Vec<TileDim>> {
    let covered = tile.dims().len();
    let all = tile.dims().iter().filter(|dim| matches!(dim, TileDim::Size(_))).count();
    tilewright_core::sort_short(extras, |extra| *extra);
    let (mut entries, mut members, mut after) = (Vec::new(), 0, Vec::new());
    // Set while no axis more major than this one remains.
    let (mut leading, mut group) = (extras_beyond(extras, covered, count), all);
    for (position, dim) in (0..covered).rev().zip(tile.dims()) {
        let extra = extras.binary_search(&position).is_ok();
        members += usize::from(!extra);
        if let TileDim::Size(by) = *dim {
            group -= 1;
            match (members, by) {
                (0, 1) => after.extend([group, group + all]),
                (0, _) if leading => entries.push(TileDim::Size(by)),
                (0, _) => return None,
                (members, _) => {
                    entries.extend(std::iter::repeat_n(TileDim::Combine, members - 1));
                    entries.push(TileDim::Size(by));
                }
            }
            members = 0;
        }
        leading &= extra || position >= count;
    }
    let beyond = extras.iter().filter(|&&extra| extra >= covered);
    after.extend(beyond.map(|extra| extra - covered + 2 * all));
    *extras = after;
    Some(entries)
}

/// Returns whether all axes beyond the covered ones are among the removed ones.
fn extras_beyond(extras: &[usize], covered: usize, count: usize) -> bool {
    extras.iter().filter(|&&extra| extra >= covered).count() >= count.saturating_sub(covered)
}
