//! Coordinates: iterators over the elements in logical order and in memory order, and the checked constructor of [`Coord`]. The
//! type is in another file because errors contain a `Coord`, and this constructor returns errors.
//!
//! Laws: [`TensorLayout::in_order`] visits every coordinate once, row-major; [`TensorLayout::in_memory`] visits every
//! offset below the capacity once, ascending.

use crate::{Coord, Error, MAX_MODES, Place, TensorLayout};

/// Iterator over all coordinates below some extents, row-major: the last varies fastest.
#[derive(Clone, Debug)]
pub(crate) struct Coords {
    extents: Coord,
    next: Option<Coord>,
}

impl Coords {
    pub(crate) fn new(extents: &[u64]) -> Coords {
        let extents = Coord::new(extents).unwrap_or(Coord::EMPTY);
        let empty = extents.as_slice().contains(&0);
        let next = (!empty).then(|| Coord::origin(extents.as_slice().len()));
        Coords { extents, next }
    }
}

impl Iterator for Coords {
    type Item = Coord;

    fn next(&mut self) -> Option<Coord> {
        let current = self.next.take()?;
        let mut following = current.copied();
        for dim in (0..self.extents.as_slice().len()).rev() {
            following.as_mut_slice()[dim] += 1;
            if following.as_slice()[dim] < self.extents.as_slice()[dim] {
                self.next = Some(following);
                break;
            }
            following.as_mut_slice()[dim] = 0;
        }
        Some(current)
    }
}

/// An iterator with a known number of items, which [`Iterator::size_hint`] returns.
#[derive(Clone, Debug)]
pub(crate) struct Exact<I> {
    pub(crate) items: I,
    pub(crate) left: u64,
}

impl<I: Iterator> Iterator for Exact<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.left = self.left.saturating_sub(1);
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.left) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}

impl TensorLayout {
    /// Iterates over every logical coordinate with its offset, row-major (the last dim varies fastest).
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let offsets: Vec<i64> = layout.in_order().map(|(_, offset)| offset).collect();
    /// assert_eq!(offsets, [0, 2, 4, 1, 3, 5]);
    /// assert_eq!(layout.in_order().skip(2).size_hint(), (4, Some(4)));
    /// ```
    pub fn in_order(&self) -> impl Iterator<Item = (Coord, i64)> {
        let items = Coords::new(self.extents()).filter_map(|coord| {
            let offset = self.offset(coord.as_slice()).ok()?;
            Some((coord, offset))
        });
        Exact { items, left: self.size() }
    }

    /// Iterates over every offset from 0 to the capacity with the coordinate stored there, `None` for padding. An item is
    /// an error if [`TensorLayout::locate`] is undecided.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let padded = Layout::parse("(2,3):(1,5)").unwrap();
    /// let layout = TensorLayout::new(&[2, 3], &padded, 15).unwrap();
    /// let elements = layout.in_memory().filter(|cell| matches!(cell, Ok((_, Some(_)))));
    /// assert_eq!(elements.count(), 6);
    /// assert_eq!(layout.in_memory().size_hint(), (15, Some(15)));
    /// ```
    pub fn in_memory(&self) -> impl Iterator<Item = Result<(i64, Option<Coord>), Error>> {
        (0..self.capacity() as i64).map(|offset| match self.locate(offset)? {
            Place::Element(coord) => Ok((offset, Some(coord))),
            Place::Padding | Place::OutOfRange => Ok((offset, None)),
        })
    }
}

impl Coord {
    /// Creates the coordinate with these integers, one per axis.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] integers.
    ///
    /// ```
    /// use tilewright_core::{Coord, expect_const};
    /// const ORIGIN: Coord = expect_const!(Coord::new(&[0, 0, 0]));
    /// assert_eq!(ORIGIN.to_string(), "(0,0,0)");
    /// assert!(Coord::new(&[0; 33]).unwrap_err().is_limit());
    /// ```
    pub const fn new(axes: &[u64]) -> Result<Coord, Error> {
        if axes.len() > MAX_MODES {
            return Err(Error::limit(
                "a coordinate of {} integers",
                [axes.len() as i128],
                "a coordinate has at most 32",
            ));
        }
        let (mut coord, mut i) = (Coord::EMPTY, 0);
        while i < axes.len() {
            coord.push(axes[i]);
            i += 1;
        }
        Ok(coord)
    }
}
