//! The fixed layout: a shape and a stride, each integer static or dynamic on its own.
//!
//! Law: every answer is that of the run-time [`Layout`](crate::Layout) which [`Layout::lower`] gives.
//!
//! Source: CATLASS `include/tla/layout.hpp`.

use core::fmt;

use super::{
    At, Congruent, Coordinate, Derived, Get, IntTuple, Static, algebra, checked_crd2offset,
};
use crate::Error;

/// A shape with its strides, of which only the dynamic integers take memory: none if all are static.
///
/// Made by [`make_layout`], or from its type by `Default` if all of it is static. It lowers to a run-time
/// layout by [`From`] if all of it is static (an illegal one is a compile error), else by
/// [`Layout::lower`].
///
/// ```
/// use tilewright_core::fixed::{C, Layout, Shape, Stride, _1, _2, _12, make_layout};
/// type Tiled = Layout<
///     Shape<((C<4>, C<2>), (C<4>, C<3>))>,
///     Stride<((C<4>, C<16>), (C<1>, C<32>))>,
/// >;
/// let tiled = Tiled::default();
/// assert_eq!((size_of::<Tiled>(), tiled.offset((1, 5))), (0, 37));
/// assert_eq!(tilewright_core::Layout::from(tiled).to_string(), "((4,2),(4,3)):((4,16),(1,32))");
///
/// let mixed = make_layout((_2, 4), (_12, _1));
/// assert_eq!((mixed.to_string().as_str(), size_of_val(&mixed)), ("(_2,4):(_12,_1)", 4));
/// assert_eq!(mixed.lower().unwrap().to_string(), "(2,4):(12,1)");
/// ```
#[derive(Clone, Copy)]
pub struct Layout<S, D> {
    shape: S,
    stride: D,
}

/// The layout with this shape and these strides.
///
/// Strides bracketed unlike the shape are a compile error, and so are static integers that are no legal
/// layout. Dynamic integers are taken as they are; what is wrong with them is an error of
/// [`Layout::lower`] and of every checked function.
///
/// ```
/// use tilewright_core::fixed::{_1, _2, _12, make_layout};
/// assert_eq!(make_layout((_2, 4), (_12, _1)).to_string(), "(_2,4):(_12,_1)");
/// assert!(make_layout((_2, -4), (_12, _1)).lower().unwrap_err().is_illegal());
/// ```
/// ```compile_fail
/// use tilewright_core::fixed::{_1, _2, _4, make_layout};
/// // error[E0277]: the strides `(Int<1>,)` are bracketed unlike the extents `(Int<4>, Int<2>)`
/// make_layout((_4, _2), (_1,));
/// ```
/// ```compile_fail
/// use tilewright_core::fixed::{Int, _2, _4, make_layout};
/// // error[E0080]: … the strides up to mode 1 reach offset …
/// make_layout((_4, _2), (_2, Int::<{ i64::MAX }>)).to_string();
/// ```
#[doc(alias = "MakeLayout")]
#[inline]
pub fn make_layout<S: Congruent<D>, D: IntTuple>(shape: S, stride: D) -> Layout<S, D> {
    const { legal::<S, D>() };
    Layout { shape, stride }
}

/// The run-time layout, if all of it is static.
const fn lowered<S: IntTuple, D: IntTuple>() -> Option<crate::Layout> {
    if !S::STATIC || !D::STATIC {
        return None;
    }
    match crate::Layout::from_shape_stride(&S::TUPLE, &D::TUPLE) {
        Ok(layout) => Some(layout),
        Err(error) => error.panic_const(),
    }
}

/// A compile error for static integers that are no layout.
const fn legal<S: IntTuple, D: IntTuple>() {
    lowered::<S, D>();
}

impl<S: Congruent<D>, D: IntTuple> Layout<S, D> {
    /// The extents.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, _4, IntTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.shape().display().to_string(), "(_2,(_3,4))");
    /// ```
    #[inline]
    pub fn shape(self) -> S {
        self.shape
    }

    /// The strides, in elements.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, _4, IntTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.stride().display().to_string(), "(_1,(_2,6))");
    /// ```
    #[inline]
    pub fn stride(self) -> D {
        self.stride
    }

    /// The number of axes.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, _4, IntTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.rank(), layout.at((_1, _1)).rank()), (2, 1));
    /// ```
    #[inline]
    pub fn rank(self) -> usize {
        S::RANK
    }

    /// The depth of nesting; 0 for `9:1`.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, _4, IntTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.depth(), layout.get::<0>().depth()), (2, 0));
    /// ```
    #[inline]
    pub fn depth(self) -> usize {
        S::DEPTH
    }

    /// The number of coordinates.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, _4, IntTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.size(), layout.at((_1, _1)).size()), (24_i64, 4));
    /// ```
    #[inline]
    pub fn size(self) -> S::Size {
        self.shape.size()
    }

    /// Axis `I`, from 0 on. A position that is none is a compile error.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _4, _16, _32, make_layout};
    /// let layout = make_layout(((_4, _2), (_4, 3)), ((_4, _16), (_1, _32)));
    /// assert_eq!(layout.get::<1>().to_string(), "(_4,3):(_1,_32)");
    /// assert_eq!(layout.at((_1, _1)).to_string(), "3:_32");
    /// ```
    /// ```compile_fail
    /// use tilewright_core::fixed::{_1, _2, make_layout};
    /// // error[E0277]: `(Int<2>, Int<2>)` has no part at position 2
    /// make_layout((_2, _2), (_1, _2)).get::<2>();
    /// ```
    #[inline]
    pub fn get<const I: i64>(self) -> Layout<<S as Get<I>>::Part, <D as Get<I>>::Part>
    where
        S: Get<I>,
        D: Get<I>,
    {
        Layout { shape: self.shape.part(), stride: self.stride.part() }
    }

    /// The part at a path of positions, a static integer or a tuple of such.
    ///
    /// ```
    /// use tilewright_core::fixed::{_0, _1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.at((_1, _0)).to_string(), "_3:_2");
    /// assert_eq!(layout.at(_1).to_string(), "(_3,4):(_2,6)");
    /// ```
    #[inline]
    pub fn at<P>(self, path: P) -> Layout<<S as At<P>>::Part, <D as At<P>>::Part>
    where
        S: At<P>,
        D: At<P>,
    {
        let _ = path;
        Layout { shape: self.shape.part_at(), stride: self.stride.part_at() }
    }

    /// The offset of a coordinate in any spelling, in elements; some number outside the layout. See
    /// [`crd2offset`](super::crd2offset).
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.offset((1, 7)), layout.offset((1, (1, 2))), layout.offset(15)), (15, 15, 15));
    /// ```
    #[inline]
    pub fn offset<C: Coordinate<S, D>>(self, coord: C) -> i64 {
        coord.dot(self.shape, self.stride)
    }

    /// The offset of a coordinate in any spelling, in elements.
    ///
    /// # Errors
    /// Those of [`Layout::lower`]; [mismatch](Error::is_mismatch) if the brackets do not fit;
    /// [out of range](Error::is_out_of_range) outside the layout.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.checked_offset((1, 7)), Ok(15));
    /// assert!(layout.checked_offset((2, 0)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C: IntTuple>(self, coord: C) -> Result<i64, Error> {
        self.lower()?;
        checked_crd2offset(coord, self.shape, self.stride)
    }

    /// The same layout as a run-time value.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a negative extent; [overflow](Error::is_overflow) where sizes or
    /// offsets leave 64 bits, or a dynamic integer is [`NO_INTEGER`](super::NO_INTEGER).
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _3, make_layout};
    /// assert_eq!(make_layout((_2, 3), (_1, 2)).lower().unwrap().to_string(), "(2,3):(1,2)");
    /// assert!(make_layout((_2, i64::MAX), (_1, 2)).lower().unwrap_err().is_overflow());
    /// ```
    pub fn lower(self) -> Result<crate::Layout, Error> {
        let (shape, stride) = (self.shape.lower()?, self.stride.lower()?);
        for (leaf, (&extent, &step)) in shape.values().iter().zip(stride.values()).enumerate() {
            if extent == super::NO_INTEGER || step == super::NO_INTEGER {
                return Err(Error::overflow(
                    "extent {} and stride {} of leaf {}: one was computed beyond 64 bits, or by a division that does not come out",
                    [i128::from(extent), i128::from(step), leaf as i128],
                    "extents and strides fit 64 bits",
                ));
            }
        }
        crate::Layout::from_shape_stride(&shape, &stride)
    }
}

impl<S: Static + Congruent<D>, D: Static> Default for Layout<S, D> {
    fn default() -> Layout<S, D> {
        make_layout(S::default(), D::default())
    }
}

/// The run-time operations of the same names, as provided methods.
macro_rules! methods {
    ($($method:ident $name:ident $(($b:ident))?;)*) => { $(
        #[doc = concat!("[`Layout::", stringify!($method), "`](crate::Layout::", stringify!($method), ").")]
        #[inline]
        fn $method$(<$b: StaticLayout>)?(self $(, _: $b)?) -> Derived<algebra::$name, Self $(, $b)?> {
            Derived::default()
        }
    )* };
}

/// A layout that its type tells: no memory, and the run-time layout as a constant.
///
/// ```
/// use tilewright_core::fixed::{StaticLayout, _1, _2, _4, make_layout};
/// fn cosize<L: StaticLayout>(_: L) -> i64 {
///     const { L::LAYOUT.cosize() }
/// }
/// let layout = make_layout((_2, _4), (_4, _1));
/// assert_eq!((cosize(layout), cosize(layout.coalesce())), (8, 8));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no static layout",
    label = "a layout of static integers, or an operation on such, stands here"
)]
pub trait StaticLayout: Copy + Default {
    /// The run-time layout. An operation that has no result is a compile error.
    const LAYOUT: crate::Layout;

    methods! {
        flatten Flatten;
        coalesce Coalesce;
        filter Filter;
        right_inverse RightInverse;
        left_inverse LeftInverse;
        nullspace Nullspace;
        composition Composition (B);
        complement Complement (B);
        logical_divide LogicalDivide (B);
        zipped_divide ZippedDivide (B);
        tiled_divide TiledDivide (B);
        flat_divide FlatDivide (B);
        logical_product LogicalProduct (B);
        zipped_product ZippedProduct (B);
        tiled_product TiledProduct (B);
        flat_product FlatProduct (B);
        blocked_product BlockedProduct (B);
        raked_product RakedProduct (B);
    }
}

impl<S: Static + Congruent<D>, D: Static> StaticLayout for Layout<S, D> {
    const LAYOUT: crate::Layout = match lowered::<S, D>() {
        Some(layout) => layout,
        None => panic!("a static layout of dynamic integers"),
    };
}

impl<S: Static + Congruent<D>, D: Static> From<Layout<S, D>> for crate::Layout {
    fn from(_: Layout<S, D>) -> crate::Layout {
        <Layout<S, D> as StaticLayout>::LAYOUT
    }
}

/// As [`Layout::lower`].
impl<S: Congruent<D>, D: IntTuple> TryFrom<&Layout<S, D>> for crate::Layout {
    type Error = Error;

    fn try_from(layout: &Layout<S, D>) -> Result<crate::Layout, Error> {
        layout.lower()
    }
}

impl<S: IntTuple, D: IntTuple> fmt::Display for Layout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape.display(), self.stride.display())
    }
}

impl<S: IntTuple, D: IntTuple> fmt::Debug for Layout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Same form and same integers, whichever of them are static.
impl<S, D, T, E> PartialEq<Layout<T, E>> for Layout<S, D>
where
    S: Congruent<D>,
    T: Congruent<E>,
    D: IntTuple,
    E: IntTuple,
{
    fn eq(&self, other: &Layout<T, E>) -> bool {
        same(self.shape, other.shape) && same(self.stride, other.stride)
    }
}

impl<S: Congruent<D>, D: IntTuple> Eq for Layout<S, D> {}

/// Same brackets and same integers.
pub(crate) fn same<A: IntTuple, B: IntTuple>(a: A, b: B) -> bool {
    use super::tuple::List;
    let (x, y) = (List::of(a), List::of(b));
    A::TUPLE.profile().same(B::TUPLE.profile()) && x.values[..x.len] == y.values[..y.len]
}
