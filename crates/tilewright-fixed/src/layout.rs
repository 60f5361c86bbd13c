//! The fixed layout: a shape and strides, in which each integer is static or dynamic.
//!
//! Law: every method returns the result of the run-time [`Layout`](tilewright_core::Layout) that [`FixedLayout::lower`]
//! returns.
//!
//! Source: CATLASS `include/tla/layout.hpp`.

use core::fmt;

use tilewright_core::{Error, Layout};

use super::{
    At, Congruent, Coordinate, FixedTuple, Get, Static, StaticLayout, checked_crd2offset,
    crd2offset,
};

/// A shape with its strides. Only its dynamic integers take memory.
///
/// [`make_layout`] creates it, or `Default` if all its integers are static. A layout of static integers converts to a
/// run-time layout by [`From`], and an illegal one is a compile error; any other converts by [`FixedLayout::lower`].
///
/// ```
/// use tilewright_fixed::{C, FixedLayout, _1, _2, _12, make_layout};
/// type Tiled = FixedLayout<
///     ((C<4>, C<2>), (C<4>, C<3>)),
///     ((C<4>, C<16>), (C<1>, C<32>)),
/// >;
/// let tiled = Tiled::default();
/// assert_eq!((size_of::<Tiled>(), tiled.offset((1, 5))), (0, 37));
/// assert_eq!(tilewright_core::Layout::from(tiled).to_string(), "((4,2),(4,3)):((4,16),(1,32))");
///
/// let mixed = make_layout((_2, 4), (_12, _1));
/// assert_eq!((mixed.to_string().as_str(), size_of_val(&mixed)), ("(_2,4):(_12,_1)", 4));
/// assert_eq!(mixed.lower().unwrap().to_string(), "(2,4):(12,1)");
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct FixedLayout<S, D> {
    shape: S,
    stride: D,
}

/// Creates the layout with this shape and these strides, in elements.
///
/// Strides with other brackets than the shape are a compile error, and so are static integers that form an illegal
/// layout. Dynamic integers are not checked here; [`FixedLayout::lower`] and every checked function report them.
///
/// ```
/// use tilewright_fixed::{_1, _2, _12, make_layout};
/// assert_eq!(make_layout((_2, 4), (_12, _1)).to_string(), "(_2,4):(_12,_1)");
/// assert!(make_layout((_2, -4), (_12, _1)).lower().unwrap_err().is_illegal());
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _2, _4, make_layout};
/// // error[E0277]: the extents `(Int<4>, Int<2>)` and the strides `(Int<1>,)` are not integers in the same brackets
/// make_layout((_4, _2), (_1,));
/// ```
/// ```compile_fail
/// use tilewright_fixed::{Int, _2, _4, make_layout};
/// // error[E0080]: … the offset and the strides up to mode 1 reach …
/// make_layout((_4, _2), (_2, Int::<{ i64::MAX }>)).to_string();
/// ```
#[doc(alias = "MakeLayout")]
#[inline]
pub fn make_layout<S: Congruent<D>, D: FixedTuple>(shape: S, stride: D) -> FixedLayout<S, D> {
    const { legal::<S, D>() };
    FixedLayout { shape, stride }
}

/// Returns the run-time layout if all its integers are static.
const fn lowered<S: FixedTuple, D: FixedTuple>() -> Option<Layout> {
    if !S::STATIC || !D::STATIC {
        return None;
    }
    match Layout::from_shape_stride(&S::TUPLE, &D::TUPLE) {
        Ok(layout) => Some(layout),
        Err(error) => error.panic_const(),
    }
}

/// Reports static integers that form an illegal layout as a compile error.
const fn legal<S: FixedTuple, D: FixedTuple>() {
    lowered::<S, D>();
}

impl<S: Congruent<D>, D: FixedTuple> FixedLayout<S, D> {
    /// Returns the extents.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.shape().display().to_string(), "(_2,(_3,4))");
    /// ```
    #[inline]
    pub fn shape(self) -> S {
        self.shape
    }

    /// Returns the strides, in elements.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.stride().display().to_string(), "(_1,(_2,6))");
    /// ```
    #[inline]
    pub fn stride(self) -> D {
        self.stride
    }

    /// Returns the number of axes.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.rank(), layout.at((_1, _1)).rank()), (2, 1));
    /// ```
    #[inline]
    pub fn rank(self) -> usize {
        S::RANK
    }

    /// Returns the depth of nesting; 0 for `9:1`.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.depth(), layout.get::<0>().depth()), (2, 0));
    /// ```
    #[inline]
    pub fn depth(self) -> usize {
        S::DEPTH
    }

    /// Returns the number of coordinates.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.size(), layout.at((_1, _1)).size()), (24_i64, 4));
    /// ```
    #[inline]
    pub fn size(self) -> S::Size {
        self.shape.size()
    }

    /// Returns axis `I`, counted from 0. An axis that does not exist is a compile error.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _4, _16, _32, make_layout};
    /// let layout = make_layout(((_4, _2), (_4, 3)), ((_4, _16), (_1, _32)));
    /// assert_eq!(layout.get::<1>().to_string(), "(_4,3):(_1,_32)");
    /// assert_eq!(layout.at((_1, _1)).to_string(), "3:_32");
    /// ```
    /// ```compile_fail
    /// use tilewright_fixed::{_1, _2, make_layout};
    /// // error[E0277]: `(Int<2>, Int<2>)` lacks a part at position 2
    /// make_layout((_2, _2), (_1, _2)).get::<2>();
    /// ```
    #[inline]
    pub fn get<const I: i64>(self) -> FixedLayout<<S as Get<I>>::Part, <D as Get<I>>::Part>
    where
        S: Get<I>,
        D: Get<I>,
    {
        FixedLayout { shape: self.shape.part(), stride: self.stride.part() }
    }

    /// Returns the part at a path of positions. The path is a static integer or a tuple of them.
    ///
    /// ```
    /// use tilewright_fixed::{_0, _1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.at((_1, _0)).to_string(), "_3:_2");
    /// assert_eq!(layout.at(_1).to_string(), "(_3,4):(_2,6)");
    /// ```
    #[inline]
    pub fn at<P>(self, path: P) -> FixedLayout<<S as At<P>>::Part, <D as At<P>>::Part>
    where
        S: At<P>,
        D: At<P>,
    {
        let _ = path;
        FixedLayout { shape: self.shape.part_at(), stride: self.stride.part_at() }
    }

    /// Returns the offset of a coordinate in any spelling, in elements, unchecked. Outside the layout the result is
    /// unspecified, or a compile error if the integers are static. See [`crd2offset`].
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.offset((1, 7)), layout.offset((1, (1, 2))), layout.offset(15)), (15, 15, 15));
    /// ```
    #[inline]
    pub fn offset<C: Coordinate<S, D>>(self, coord: C) -> i64 {
        crd2offset(coord, self.shape, self.stride)
    }

    /// Returns the offset of a coordinate in any spelling, in elements, and checks the coordinate.
    ///
    /// # Errors
    /// Those of [`FixedLayout::lower`]; [mismatch](Error::is_mismatch) if the brackets do not fit;
    /// [out of range](Error::is_out_of_range) outside the layout.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.checked_offset((1, 7)), Ok(15));
    /// assert!(layout.checked_offset((2, 0)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C: FixedTuple>(self, coord: C) -> Result<i64, Error> {
        let _ = self.lower()?;
        checked_crd2offset(coord, self.shape, self.stride)
    }

    /// Returns the layout as a run-time value.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a negative extent; [overflow](Error::is_overflow) if sizes or offsets leave
    /// 64 bits, or if an integer is [`NO_INTEGER`](super::NO_INTEGER).
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// assert_eq!(make_layout((_2, 3), (_1, 2)).lower().unwrap().to_string(), "(2,3):(1,2)");
    /// assert!(make_layout((_2, i64::MAX), (_1, 2)).lower().unwrap_err().is_overflow());
    /// ```
    pub fn lower(self) -> Result<Layout, Error> {
        let (shape, stride) = (self.shape.lower()?, self.stride.lower()?);
        for (leaf, (&extent, &step)) in shape.values().iter().zip(stride.values()).enumerate() {
            if extent == super::NO_INTEGER || step == super::NO_INTEGER {
                return Err(Error::overflow(
                    "extent {} and stride {} of leaf {}: one overflowed 64 bits, or a division left a remainder",
                    [i128::from(extent), i128::from(step), leaf as i128],
                    "extents and strides must fit 64 bits",
                ));
            }
        }
        Layout::from_shape_stride(&shape, &stride)
    }
}

impl<S: Static + Congruent<D>, D: Static> Default for FixedLayout<S, D> {
    fn default() -> FixedLayout<S, D> {
        make_layout(S::default(), D::default())
    }
}

impl<S: Static + Congruent<D>, D: Static> StaticLayout for FixedLayout<S, D> {
    const LAYOUT: Layout = match lowered::<S, D>() {
        Some(layout) => layout,
        None => panic!("a static layout of dynamic integers"),
    };
}

impl<S: Static + Congruent<D>, D: Static> From<FixedLayout<S, D>> for Layout {
    fn from(_: FixedLayout<S, D>) -> Layout {
        <FixedLayout<S, D> as StaticLayout>::LAYOUT
    }
}

/// Converts like [`FixedLayout::lower`].
impl<S: Congruent<D>, D: FixedTuple> TryFrom<&FixedLayout<S, D>> for Layout {
    type Error = Error;

    fn try_from(layout: &FixedLayout<S, D>) -> Result<Layout, Error> {
        layout.lower()
    }
}

impl<S: FixedTuple, D: FixedTuple> fmt::Display for FixedLayout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape.display(), self.stride.display())
    }
}

impl<S: FixedTuple, D: FixedTuple> fmt::Debug for FixedLayout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Layouts are equal if they have the same brackets and integers, static or dynamic.
impl<S, D, T, E> PartialEq<FixedLayout<T, E>> for FixedLayout<S, D>
where
    S: Congruent<D>,
    T: Congruent<E>,
    D: FixedTuple,
    E: FixedTuple,
{
    fn eq(&self, other: &FixedLayout<T, E>) -> bool {
        same(self.shape, other.shape) && same(self.stride, other.stride)
    }
}

impl<S: Congruent<D>, D: FixedTuple> Eq for FixedLayout<S, D> {}

/// Returns whether two tuples have the same brackets and integers.
pub(crate) fn same<A: FixedTuple, B: FixedTuple>(a: A, b: B) -> bool {
    use super::tuple::List;
    let (x, y) = (List::of(a), List::of(b));
    A::TUPLE.profile().same(B::TUPLE.profile()) && x.values[..x.len] == y.values[..y.len]
}
