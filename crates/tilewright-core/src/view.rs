//! A slice seen through a tensor layout.
//!
//! Law: an algorithm written over views gives the same answer whatever the layout of the data
//! (`tests/views.rs`: sum, row maxima and matrix product over row-major, column-major, padded and
//! blocked storage).

use crate::{Coord, Error, MAX_MODES, TensorLayout, iterate::Coords, macros::tri};

/// Where a view looks: a box of logical coordinates, its dims in any order, some held fixed.
///
/// Nested layouts are not translation-invariant, so a tile is not a pointer bump: the window keeps
/// where it begins and asks the layout of the whole array.
#[derive(Clone)]
struct Window {
    /// The logical coordinate of the view's first element.
    origin: Coord,
    /// The layout's dim behind each dim of the view.
    dims: [u8; MAX_MODES],
    extents: Coord,
}

impl Window {
    fn whole(layout: &TensorLayout) -> Result<Window, Error> {
        let mut dims = [0; MAX_MODES];
        (0..layout.rank()).for_each(|dim| dims[dim] = dim as u8);
        Ok(Window {
            origin: Coord::origin(layout.rank()),
            dims,
            extents: Coord::new(layout.extents())?,
        })
    }

    /// The logical coordinate behind a coordinate of the view.
    fn coord(&self, coord: &[u64]) -> Option<Coord> {
        let extents = self.extents.as_slice();
        if coord.len() != extents.len() || coord.iter().zip(extents).any(|(x, extent)| x >= extent)
        {
            return None;
        }
        let mut whole = self.origin.copied();
        for (x, &dim) in coord.iter().zip(&self.dims) {
            whole.as_mut_slice()[usize::from(dim)] += x;
        }
        Some(whole)
    }

    fn tile(&self, origin: &[u64], shape: &[u64]) -> Result<Window, Error> {
        self.check_rank(origin.len())?;
        self.check_rank(shape.len())?;
        let mut tile = self.clone();
        for (dim, (&from, &size)) in origin.iter().zip(shape).enumerate() {
            let extent = self.extents.as_slice()[dim];
            if from > extent {
                return Err(Error::out_of_range(
                    "a tile from {} on along dim {}, which has {}",
                    [i128::from(from), dim as i128, i128::from(extent)],
                    "a tile begins inside the view",
                ));
            }
            tile.origin.as_mut_slice()[usize::from(self.dims[dim])] += from;
            tile.extents.as_mut_slice()[dim] = size.min(extent - from);
        }
        Ok(tile)
    }

    fn slice(&self, dim: usize, x: u64) -> Result<Window, Error> {
        let extents = self.extents.as_slice();
        let extent = *extents.get(dim).ok_or(Error::out_of_range(
            "dim {} of a view of {}",
            [dim as i128, extents.len() as i128],
            "",
        ))?;
        if x >= extent {
            return Err(Error::out_of_range(
                "coordinate {} of dim {}, which has {}",
                [i128::from(x), dim as i128, i128::from(extent)],
                "coordinates run from 0 to the extent less one",
            ));
        }
        let mut slice =
            Window { origin: self.origin.copied(), dims: [0; MAX_MODES], extents: Coord::EMPTY };
        slice.origin.as_mut_slice()[usize::from(self.dims[dim])] += x;
        for other in (0..extents.len()).filter(|&other| other != dim) {
            slice.dims[slice.extents.as_slice().len()] = self.dims[other];
            slice.extents.push(extents[other]);
        }
        Ok(slice)
    }

    fn permute(&self, order: &[usize]) -> Result<Window, Error> {
        self.check_rank(order.len())?;
        let mut permuted = self.clone();
        let mut seen = [false; MAX_MODES];
        for (to, &from) in order.iter().enumerate() {
            if from >= order.len() || seen[from] {
                return Err(Error::illegal(
                    "dim {} at position {} of an order of {}",
                    [from as i128, to as i128, order.len() as i128],
                    "the order names each dim once",
                ));
            }
            seen[from] = true;
            permuted.dims[to] = self.dims[from];
            permuted.extents.as_mut_slice()[to] = self.extents.as_slice()[from];
        }
        Ok(permuted)
    }

    fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let own = self.extents.as_slice().len();
        if rank == own {
            return Ok(());
        }
        Err(Error::mismatch(
            "{} integers for a view of {} dims",
            [rank as i128, own as i128],
            "give one per dim",
        ))
    }
}

/// Refuses a slice that does not cover every offset of the layout.
const fn check_storage(len: usize, layout: &TensorLayout) -> Result<(), Error> {
    if (len as u64) < layout.capacity() {
        return Err(Error::out_of_range(
            "a slice of {} elements for a layout of capacity {}",
            [len as i128, layout.capacity() as i128],
            "the slice covers the capacity, padding included",
        ));
    }
    match layout.layout().bounds() {
        Some((low, _)) if low < 0 => Err(Error::out_of_range(
            "the smallest offset is {}",
            [low as i128],
            "storage begins at offset 0; add an offset to the layout",
        )),
        _ => Ok(()),
    }
}

macro_rules! views {
    ($(#[$doc:meta])* $name:ident, $slice:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'a, T> {
            data: $slice,
            layout: &'a TensorLayout,
            window: Window,
        }

        impl<'a, T> $name<'a, T> {
            /// The whole array in `data`, laid out by `layout`.
            ///
            /// # Errors
            /// [out of range](Error::is_out_of_range) if the slice is shorter than the capacity or
            /// an offset is negative: afterwards every element is inside the slice.
            pub fn new(data: $slice, layout: &'a TensorLayout) -> Result<Self, Error> {
                tri!(check_storage(data.len(), layout));
                Ok($name { data, layout, window: Window::whole(layout)? })
            }

            /// The extents of the view.
            pub fn extents(&self) -> &[u64] {
                self.window.extents.as_slice()
            }

            /// The number of elements.
            pub fn size(&self) -> u64 {
                self.extents().iter().product()
            }

            /// The storage, padding included.
            pub fn data(&self) -> &[T] {
                self.data
            }

            /// The layout of the whole array behind the view.
            pub fn layout(&self) -> &'a TensorLayout {
                self.layout
            }

            /// Whether the view is the whole array, dims in the layout's order.
            pub fn is_whole(&self) -> bool {
                self.window.origin.as_slice().iter().all(|&x| x == 0)
                    && self.extents() == self.layout.extents()
                    && self.window.dims.iter().zip(0..self.layout.rank() as u8).all(|(&a, b)| a == b)
            }

            /// The storage index of an element, in elements; `None` outside the extents.
            pub fn offset(&self, coord: &[u64]) -> Option<usize> {
                let whole = self.window.coord(coord)?;
                self.layout.offset(whole.as_slice()).ok()?.try_into().ok()
            }

            /// The element at this coordinate; `None` outside the extents.
            pub fn get(&self, coord: &[u64]) -> Option<&T> {
                self.data.get(self.offset(coord)?)
            }

            /// The coordinates and elements, row-major (the last dim of the view varies fastest).
            pub fn iter(&self) -> impl Iterator<Item = (Coord, &T)> {
                Coords::new(self.extents()).filter_map(|coord| {
                    let offset = self.offset(coord.as_slice())?;
                    Some((coord, self.data.get(offset)?))
                })
            }
        }
    };
}

views! {
    /// A shared slice seen through a tensor layout, or a part of it: never moves data.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, View};
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let data = ['a', 'd', 'b', 'e', 'c', 'f'];
    /// let view = View::new(&data, &layout).unwrap();
    /// assert_eq!(view.get(&[1, 0]), Some(&'d'));
    /// assert_eq!(view.get(&[2, 0]), None);
    /// let row: String = view.slice(0, 1).unwrap().iter().map(|(_, c)| *c).collect();
    /// assert_eq!(row, "def");
    ///
    /// assert!(View::new(&data[1..], &layout).unwrap_err().is_out_of_range());
    /// ```
    View, &'a [T]
}

views! {
    /// A mutable slice seen through a tensor layout.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let mut data = [0; 6];
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.get_mut(&[0, 2]).unwrap() = 7;
    /// assert!(view.get_mut(&[0, 3]).is_none());
    /// assert_eq!(data, [0, 0, 0, 0, 7, 0]);
    /// ```
    ViewMut, &'a mut [T]
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        View { data: self.data, layout: self.layout, window: self.window.clone() }
    }
}

impl<'a, T> View<'a, T> {
    /// The part of `shape` coordinates from `origin` on, clipped at the edge of the view.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, [out of range](Error::is_out_of_range) for an
    /// origin beyond the view.
    pub fn tile(&self, origin: &[u64], shape: &[u64]) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.tile(origin, shape)? })
    }

    /// The part with coordinate `x` of dim `dim`, of one dim less.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim or coordinate the view does not have.
    pub fn slice(&self, dim: usize, x: u64) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.slice(dim, x)? })
    }

    /// The same elements with dims in another order: dim `i` of the result is dim `order[i]`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) or [illegal](Error::is_illegal) for no permutation.
    pub fn permute(&self, order: &[usize]) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.permute(order)? })
    }

    /// The coordinates and elements of the whole array in the order of their offsets.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a part of an array; [undecided](Error::is_undecided)
    /// as [`TensorLayout::locate`].
    pub fn iter_memory(
        &self,
    ) -> Result<impl Iterator<Item = Result<(Coord, &'a T), Error>>, Error> {
        if !self.is_whole() {
            return Err(Error::unsupported(
                "a part of an array has no memory order of its own",
                [],
                "iterate over the whole view",
            ));
        }
        let data = self.data;
        Ok(self.layout.in_memory().filter_map(move |cell| match cell {
            Ok((offset, Some(coord))) => {
                Some(Ok((coord, data.get(usize::try_from(offset).ok()?)?)))
            }
            Ok((_, None)) => None,
            Err(error) => Some(Err(error)),
        }))
    }
}

impl<T> ViewMut<'_, T> {
    /// The element at this coordinate; `None` outside the extents.
    pub fn get_mut(&mut self, coord: &[u64]) -> Option<&mut T> {
        let offset = self.offset(coord)?;
        self.data.get_mut(offset)
    }

    /// The storage, padding included.
    pub fn data_mut(&mut self) -> &mut [T] {
        self.data
    }

    /// The part of `shape` coordinates from `origin` on, clipped at the edge of the view.
    ///
    /// # Errors
    /// As [`View::tile`].
    pub fn tile(&mut self, origin: &[u64], shape: &[u64]) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut {
            window: self.window.tile(origin, shape)?,
            data: self.data,
            layout: self.layout,
        })
    }

    /// The part with coordinate `x` of dim `dim`, of one dim less.
    ///
    /// # Errors
    /// As [`View::slice`].
    pub fn slice(&mut self, dim: usize, x: u64) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut { window: self.window.slice(dim, x)?, data: self.data, layout: self.layout })
    }

    /// The same elements with dims in another order: dim `i` of the result is dim `order[i]`.
    ///
    /// # Errors
    /// As [`View::permute`].
    pub fn permute(&mut self, order: &[usize]) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut { window: self.window.permute(order)?, data: self.data, layout: self.layout })
    }
}

impl core::fmt::Debug for Window {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} from {}", self.extents, self.origin)
    }
}
