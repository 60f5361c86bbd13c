//! Slices indexed through a tensor layout.
//!
//! Law: an algorithm written over views returns the same result for every layout of the data (`tests/all/views.rs`:
//! sum, row maxima and matrix product over row-major, column-major, padded and blocked storage). `v[[i, j]]` is
//! `v.get(&[i, j])`, and [`ViewMut::fill_padding`] writes exactly the storage elements that hold no logical element.

use core::ops::{Index, IndexMut};

use crate::{
    Coord, Error, MAX_MODES, Place, TensorLayout,
    const_fn::tri,
    tensor::index::{Coords, Exact},
};

/// The region of a view: a box of logical coordinates, with its dims in any order and some dims fixed.
///
/// Nested layouts are not translation-invariant, so a tile is not a moved pointer: the window stores its origin and
/// indexes the layout of the whole array.
#[derive(Clone)]
struct Window {
    /// The logical coordinate of the view's first element.
    origin: Coord,
    /// The dim of the layout for each dim of the view.
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

    /// Returns the logical coordinate of a coordinate of the view.
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
            "the slice must cover the capacity, padding included",
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
        #[must_use]
        #[derive(Debug)]
        pub struct $name<'a, T> {
            data: $slice,
            layout: &'a TensorLayout,
            window: Window,
        }

        impl<'a, T> $name<'a, T> {
            /// Creates a view of the whole array in `data`, stored by `layout`.
            ///
            /// # Errors
            /// [out of range](Error::is_out_of_range) if the slice is shorter than the capacity, or if an offset is negative.
            /// After this check, every element is inside the slice.
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View, ViewMut};
            /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
            /// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            /// assert_eq!(View::new(&data, &layout).unwrap().get(&[1, 0]), Some(&4.0));
            /// let mut short = [0.0; 5];
            /// assert!(ViewMut::new(&mut short, &layout).unwrap_err().is_out_of_range());
            /// ```
            pub fn new(data: $slice, layout: &'a TensorLayout) -> Result<Self, Error> {
                tri!(check_storage(data.len(), layout));
                Ok($name { data, layout, window: Window::whole(layout)? })
            }

            /// Returns the extents of the view.
            ///
            /// ```
            /// use tilewright_core::{Fractal, View};
            /// let layout = Fractal::ZN.pattern(16, 16).layout(&[20, 30]).unwrap();
            /// let data = vec![0u16; layout.capacity() as usize];
            /// let view = View::new(&data, &layout).unwrap();
            /// // The extents of the array, without its padding; of a part, the extents of the part.
            /// assert_eq!(view.extents(), [20, 30]);
            /// assert_eq!(view.tile(&[16, 0], &[16, 16]).unwrap().extents(), [4, 16]);
            /// ```
            pub fn extents(&self) -> &[u64] {
                self.window.extents.as_slice()
            }

            /// Returns the number of elements.
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View};
            /// let layout = TensorLayout::row_major(&[2, 3, 4]).unwrap();
            /// let view = View::new(&[0u8; 24], &layout).unwrap();
            /// assert_eq!((view.size(), view.slice(0, 1).unwrap().size()), (24, 12));
            /// ```
            pub fn size(&self) -> u64 {
                self.extents().iter().product()
            }

            /// Returns the storage, padding included.
            ///
            /// ```
            /// use tilewright_core::{Layout, TensorLayout, View};
            /// let layout = TensorLayout::new(&[2], &Layout::parse("2:2").unwrap(), 4).unwrap();
            /// let view = View::new(&['a', '-', 'b', '-'], &layout).unwrap();
            /// assert_eq!(view.data(), ['a', '-', 'b', '-']);
            /// ```
            pub fn data(&self) -> &[T] {
                self.data
            }

            /// Returns the layout of the whole array that the view is a part of.
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View};
            /// let layout = TensorLayout::row_major(&[4, 6]).unwrap();
            /// let view = View::new(&[0u8; 24], &layout).unwrap();
            /// // A part covers less of the array, but it is the same array.
            /// assert_eq!(view.slice(0, 2).unwrap().layout(), &layout);
            /// ```
            pub fn layout(&self) -> &'a TensorLayout {
                self.layout
            }

            /// Returns whether the view is the whole array with its dims in the layout's order.
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View};
            /// let layout = TensorLayout::row_major(&[4, 6]).unwrap();
            /// let view = View::new(&[0u8; 24], &layout).unwrap();
            /// assert!(view.is_whole() && view.tile(&[0, 0], &[4, 6]).unwrap().is_whole());
            /// assert!(!view.permute(&[1, 0]).unwrap().is_whole());
            /// ```
            pub fn is_whole(&self) -> bool {
                self.window.origin.as_slice().iter().all(|&x| x == 0)
                    && self.extents() == self.layout.extents()
                    && self.window.dims.iter().zip(0..self.layout.rank() as u8).all(|(&a, b)| a == b)
            }

            /// Returns the index of an element in the storage; `None` outside the extents.
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View};
            /// let layout = TensorLayout::col_major(&[4, 6]).unwrap();
            /// let view = View::new(&[0u8; 24], &layout).unwrap();
            /// // Row 2 of the array is row 0 of the part; the index counts in the array's storage.
            /// let part = view.tile(&[2, 1], &[2, 2]).unwrap();
            /// assert_eq!((part.offset(&[0, 0]), part.offset(&[0, 2])), (Some(6), None));
            /// ```
            pub fn offset(&self, coord: &[u64]) -> Option<usize> {
                let whole = self.window.coord(coord)?;
                self.layout.offset(whole.as_slice()).ok()?.try_into().ok()
            }

            /// Returns the element at this coordinate; `None` outside the extents.
            ///
            /// ```
            /// use tilewright_core::{Layout, TensorLayout, View};
            /// let layout = Layout::parse("((2,2),2):((1,4),2)").unwrap();
            /// let layout = TensorLayout::new(&[3, 2], &layout, 8).unwrap();
            /// let view = View::new(b"adbecxfx", &layout).unwrap();
            /// assert_eq!((view.get(&[0, 1]), view.get(&[2, 0])), (Some(&b'b'), Some(&b'c')));
            /// // Padding is not an element.
            /// assert_eq!(view.get(&[3, 0]), None);
            /// ```
            pub fn get(&self, coord: &[u64]) -> Option<&T> {
                self.data.get(self.offset(coord)?)
            }

            /// Iterates over coordinates and elements, row-major (the last dim of the view varies fastest).
            ///
            /// ```
            /// use tilewright_core::{TensorLayout, View};
            /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
            /// let view = View::new(b"adbecf", &layout).unwrap();
            /// let logical: Vec<u8> = view.iter().map(|(_, &c)| c).collect();
            /// assert_eq!(logical, b"abcdef");
            /// assert_eq!(view.iter().size_hint(), (6, Some(6)));
            /// ```
            pub fn iter(&self) -> impl Iterator<Item = (Coord, &T)> {
                let items = Coords::new(self.extents()).filter_map(|coord| {
                    let offset = self.offset(coord.as_slice())?;
                    Some((coord, self.data.get(offset)?))
                });
                Exact { items, left: self.size() }
            }

            /// Returns the index of an element in the storage, for an index in brackets.
            #[track_caller]
            fn place<const N: usize>(&self, coord: [usize; N]) -> usize {
                match self.offset(&coord.map(|x| x as u64)) {
                    Some(place) => place,
                    None => panic!(
                        "index {coord:?} of a view of extents {:?}; write one integer for each dim, below its extent",
                        self.extents()
                    ),
                }
            }
        }

        /// # Panics
        /// Panics outside the extents, as indexing of slices does; `get` returns `None` there.
        impl<T, const N: usize> Index<[usize; N]> for $name<'_, T> {
            type Output = T;

            #[track_caller]
            fn index(&self, coord: [usize; N]) -> &T {
                &self.data[self.place(coord)]
            }
        }
    };
}

views! {
    /// A shared slice, or a part of it, indexed through a tensor layout; it never moves data.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, View};
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let data = ['a', 'd', 'b', 'e', 'c', 'f'];
    /// let view = View::new(&data, &layout).unwrap();
    /// assert_eq!(view.get(&[1, 0]), Some(&'d'));
    /// assert_eq!(view.get(&[2, 0]), None);
    /// assert_eq!(view[[0, 2]], 'c');
    /// let row: String = view.slice(0, 1).unwrap().iter().map(|(_, c)| *c).collect();
    /// assert_eq!(row, "def");
    ///
    /// assert!(View::new(&data[1..], &layout).unwrap_err().is_out_of_range());
    /// ```
    View, &'a [T]
}

views! {
    /// A mutable slice, or a part of it, indexed through a tensor layout.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let mut data = [0; 6];
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.get_mut(&[0, 2]).unwrap() = 7;
    /// view[[1, 0]] = 8;
    /// assert!(view.get_mut(&[0, 3]).is_none());
    /// assert_eq!(data, [0, 8, 0, 0, 7, 0]);
    /// ```
    ViewMut, &'a mut [T]
}

/// # Panics
/// Panics outside the extents, as indexing of slices does; `get_mut` returns `None` there.
impl<T, const N: usize> IndexMut<[usize; N]> for ViewMut<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, coord: [usize; N]) -> &mut T {
        let place = self.place(coord);
        &mut self.data[place]
    }
}

/// Calls `each` with the index of every storage element that holds no logical element, in ascending order.
fn each_padding(layout: &TensorLayout, mut each: impl FnMut(usize)) -> Result<(), Error> {
    // The dim along which neighbours are contiguous in storage: its runs are skipped at once.
    let origin = Coord::origin(layout.rank());
    let neighbours = |coord: &Coord, dim| match layout.run(coord.as_slice(), dim) {
        Ok(run) if run.stride == 1 => run.len,
        _ => 1,
    };
    let fastest = (0..layout.rank()).max_by_key(|&dim| neighbours(&origin, dim));
    let mut offset = 0;
    while offset < layout.capacity() as i64 {
        match layout.locate(offset)? {
            Place::Element(coord) => {
                offset += fastest.map_or(1, |dim| neighbours(&coord, dim)) as i64;
            }
            Place::Padding | Place::OutOfRange => {
                if let Ok(place) = usize::try_from(offset) {
                    each(place);
                }
                offset += 1;
            }
        }
    }
    Ok(())
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        View { data: self.data, layout: self.layout, window: self.window.clone() }
    }
}

impl<'a, T> View<'a, T> {
    /// Returns the part of `shape` coordinates from `origin` on, clipped at the edge of the view.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank; [out of range](Error::is_out_of_range) for an origin beyond the
    /// view.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, View};
    /// let layout = TensorLayout::row_major(&[3, 4]).unwrap();
    /// let view = View::new(b"abcdefghijkl", &layout).unwrap();
    /// // 2×2 from (2,3) on: one element is left.
    /// let corner = view.tile(&[2, 3], &[2, 2]).unwrap();
    /// assert_eq!((corner.extents(), corner.get(&[0, 0])), (&[1, 1][..], Some(&b'l')));
    /// assert!(view.tile(&[4, 0], &[1, 1]).unwrap_err().is_out_of_range());
    /// assert!(view.tile(&[0], &[1]).unwrap_err().is_mismatch());
    /// ```
    pub fn tile(&self, origin: &[u64], shape: &[u64]) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.tile(origin, shape)? })
    }

    /// Returns the part with coordinate `x` of dim `dim`; it has one dim less.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim or coordinate that the view does not have.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, View};
    /// let layout = TensorLayout::row_major(&[3, 4]).unwrap();
    /// let view = View::new(b"abcdefghijkl", &layout).unwrap();
    /// let column: Vec<u8> = view.slice(1, 2).unwrap().iter().map(|(_, &c)| c).collect();
    /// assert_eq!(column, b"cgk");
    /// assert!(view.slice(1, 4).unwrap_err().is_out_of_range());
    /// ```
    pub fn slice(&self, dim: usize, x: u64) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.slice(dim, x)? })
    }

    /// Returns the same elements with dims in another order: dim `i` of the result is dim `order[i]`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) or [illegal](Error::is_illegal) if `order` is not a permutation of the dims.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, View};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let view = View::new(b"abcdef", &layout).unwrap();
    /// let transposed = view.permute(&[1, 0]).unwrap();
    /// assert_eq!((transposed.extents(), transposed.get(&[2, 0])), (&[3, 2][..], Some(&b'c')));
    /// assert!(view.permute(&[0, 0]).unwrap_err().is_illegal());
    /// ```
    pub fn permute(&self, order: &[usize]) -> Result<View<'a, T>, Error> {
        Ok(View { data: self.data, layout: self.layout, window: self.window.permute(order)? })
    }

    /// Iterates over coordinates and elements of the whole array in the order of their offsets.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a part of an array. Items are [undecided](Error::is_undecided) errors
    /// as in [`TensorLayout::locate`].
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout, View};
    /// let layout = Layout::parse("(2,2):(1,3)").unwrap();
    /// let layout = TensorLayout::new(&[2, 2], &layout, 6).unwrap();
    /// let view = View::new(b"ac-bd-", &layout).unwrap();
    /// // In memory order, without padding.
    /// let stored: Vec<u8> = view.iter_memory().unwrap().map(|cell| *cell.unwrap().1).collect();
    /// assert_eq!(stored, b"acbd");
    /// let part = view.slice(0, 0).unwrap();
    /// assert!(part.iter_memory().err().unwrap().is_unsupported());
    /// ```
    pub fn iter_memory(
        &self,
    ) -> Result<impl Iterator<Item = Result<(Coord, &'a T), Error>>, Error> {
        if !self.is_whole() {
            return Err(Error::unsupported(
                "a part of an array has no memory order",
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
    /// Returns the element at this coordinate; `None` outside the extents.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::col_major(&[2, 2]).unwrap();
    /// let mut data = [1, 2, 3, 4];
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.get_mut(&[1, 0]).unwrap() *= 10;
    /// assert!(view.get_mut(&[2, 0]).is_none());
    /// assert_eq!(data, [1, 20, 3, 4]);
    /// ```
    pub fn get_mut(&mut self, coord: &[u64]) -> Option<&mut T> {
        let offset = self.offset(coord)?;
        self.data.get_mut(offset)
    }

    /// Fills the padding with `value`: every storage element that holds no logical element. Elements are unchanged.
    ///
    /// Each storage element is located separately. For large arrays, a plan of `tilewright-relayout` is faster.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a part of an array, since padding belongs to the whole;
    /// [undecided](Error::is_undecided) as in [`TensorLayout::locate`]; then nothing is written.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout, ViewMut};
    /// // XLA's f32[3,5]{1,0:T(2,2)}, padded with -inf for a maximum.
    /// let layout = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
    /// let layout = TensorLayout::new(&[3, 5], &layout, 24).unwrap();
    /// let mut data = [1.0f32; 24];
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// view.fill_padding(f32::NEG_INFINITY).unwrap();
    /// assert_eq!(view.data().iter().filter(|x| x.is_infinite()).count() as u64, layout.padding());
    /// assert_eq!((view[[2, 4]], view.data()[9]), (1.0, f32::NEG_INFINITY));
    /// assert!(view.slice(0, 2).unwrap().fill_padding(0.0).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "padding_value")]
    pub fn fill_padding(&mut self, value: T) -> Result<(), Error>
    where
        T: Clone,
    {
        if !self.is_whole() {
            return Err(Error::unsupported(
                "padding belongs to a whole array in the order of its dims",
                [],
                "fill the padding of the whole view",
            ));
        }
        // The first pass checks that every position is decided, the second writes.
        each_padding(self.layout, |_| ())?;
        each_padding(self.layout, |place| {
            if let Some(place) = self.data.get_mut(place) {
                *place = value.clone();
            }
        })
    }

    /// Returns the storage, padding included.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout, ViewMut};
    /// // Clear an array with its padding.
    /// let layout = TensorLayout::new(&[2], &Layout::parse("2:2").unwrap(), 4).unwrap();
    /// let mut data = [1, 2, 3, 4];
    /// ViewMut::new(&mut data, &layout).unwrap().data_mut().fill(0);
    /// assert_eq!(data, [0; 4]);
    /// ```
    pub fn data_mut(&mut self) -> &mut [T] {
        self.data
    }

    /// Returns the part of `shape` coordinates from `origin` on, clipped at the edge of the view.
    ///
    /// # Errors
    /// Those of [`View::tile`].
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::row_major(&[2, 4]).unwrap();
    /// let mut data = *b"........";
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.tile(&[0, 2], &[2, 2]).unwrap().get_mut(&[1, 0]).unwrap() = b'x';
    /// assert!(view.tile(&[3, 0], &[1, 1]).unwrap_err().is_out_of_range());
    /// assert_eq!(&data, b"......x.");
    /// ```
    pub fn tile(&mut self, origin: &[u64], shape: &[u64]) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut {
            window: self.window.tile(origin, shape)?,
            data: self.data,
            layout: self.layout,
        })
    }

    /// Returns the part with coordinate `x` of dim `dim`; it has one dim less.
    ///
    /// # Errors
    /// Those of [`View::slice`].
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let mut data = *b"......";
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.slice(1, 2).unwrap().get_mut(&[0]).unwrap() = b'x';
    /// assert!(view.slice(2, 0).unwrap_err().is_out_of_range());
    /// assert_eq!(&data, b"..x...");
    /// ```
    pub fn slice(&mut self, dim: usize, x: u64) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut { window: self.window.slice(dim, x)?, data: self.data, layout: self.layout })
    }

    /// Returns the same elements with dims in another order: dim `i` of the result is dim `order[i]`.
    ///
    /// # Errors
    /// Those of [`View::permute`].
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, ViewMut};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let mut data = *b"......";
    /// let mut view = ViewMut::new(&mut data, &layout).unwrap();
    /// *view.permute(&[1, 0]).unwrap().get_mut(&[2, 0]).unwrap() = b'x';
    /// assert!(view.permute(&[1]).unwrap_err().is_mismatch());
    /// assert_eq!(&data, b"..x...");
    /// ```
    pub fn permute(&mut self, order: &[usize]) -> Result<ViewMut<'_, T>, Error> {
        Ok(ViewMut { window: self.window.permute(order)?, data: self.data, layout: self.layout })
    }
}

impl core::fmt::Debug for Window {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} from {}", self.extents, self.origin)
    }
}
