//! The algebra on static layouts: the result is a type, computed by the run-time `const fn`.
//!
//! Law: `a.composition(b)` and its neighbours have as [`StaticLayout::LAYOUT`] what the run-time operation
//! of that name makes of the operands' `LAYOUT`s; where that is an error, compiling is.
//!
//! No type of Rust can be spelled from a computed shape, so a [`Derived`] layout is no
//! [`Layout`](super::Layout) of static integers, but equal to one in value. It takes no memory, and its
//! offsets are computed as by hand.

use core::{fmt, marker::PhantomData};

use super::{Expr, Int, IntTuple, Integer, Operation, StaticLayout, fit::dot};
use crate::Error;

/// The layout that the operation `O` makes of the static layouts `A` and `B`. Takes no memory.
///
/// ```
/// use tilewright_core::fixed::{_1, _2, _3, _4, _6, _8, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_8, _2)), make_layout((_4, _3), (_3, _1)));
/// let ab = a.composition(b);
/// assert_eq!((size_of_val(&ab), ab.to_string().as_str()), (0, "((_2,_2),_3):((_24,_2),_8)"));
/// assert_eq!((ab.offset((3, 2)), ab.offset(((1, 1), 2))), (42, 42));
/// ```
/// ```compile_fail
/// use tilewright_core::fixed::{_1, _2, _3, _6, _7, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_1, _7)), make_layout((_3, _2), (_2, _3)));
/// // error[E0080]: … at (2,1): A(B) is 8, the only candidate gives 7 …
/// a.composition(b).offset(0);
/// ```
pub struct Derived<O, A, B = ()>(PhantomData<(O, A, B)>);

impl<O, A, B> Derived<O, A, B>
where
    Derived<O, A, B>: StaticLayout,
{
    /// The offset of a coordinate in any spelling, in elements; some number outside the layout. A
    /// coordinate whose brackets do not fit is a compile error.
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _2, _4, _8, StaticLayout, make_layout};
    /// let tiled = make_layout(_8, _1).logical_divide(_4);
    /// assert_eq!((tiled.to_string().as_str(), tiled.offset((3, 1))), ("(_4,_2):(_1,_4)", 7));
    /// ```
    #[inline]
    pub fn offset<C: IntTuple>(self, coord: C) -> i64 {
        dot::<C, Self>(coord)
    }

    /// The offset of a coordinate in any spelling, in elements.
    ///
    /// # Errors
    /// As the run-time [`Layout::crd2idx`](crate::Layout::crd2idx).
    ///
    /// ```
    /// use tilewright_core::fixed::{_1, _4, _8, StaticLayout, make_layout};
    /// let tiled = make_layout(_8, _1).logical_divide(_4);
    /// assert_eq!(tiled.checked_offset((3, 1)), Ok(7));
    /// assert!(tiled.checked_offset((4, 0)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C: IntTuple>(self, coord: C) -> Result<i64, Error> {
        Self::LAYOUT.crd2idx(&coord.lower()?)
    }
}

impl<O, A, B> Clone for Derived<O, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, A, B> Copy for Derived<O, A, B> {}

impl<O, A, B> Default for Derived<O, A, B> {
    fn default() -> Self {
        Derived(PhantomData)
    }
}

impl<O: LayoutOperation, A: StaticLayout, B: StaticLayout> StaticLayout for Derived<O, A, B> {
    const LAYOUT: crate::Layout = match O::CODE.apply(&A::LAYOUT, &B::LAYOUT) {
        Ok(layout) => layout,
        Err(error) => error.panic_const(),
    };
}

/// The operand that an operation of one operand does not have.
impl StaticLayout for () {
    const LAYOUT: crate::Layout = crate::Layout::parse_const("():()");
}

/// An integer in place of a layout is `N:1`, as a tile or as a size.
impl<const N: i64> StaticLayout for Int<N> {
    const LAYOUT: crate::Layout =
        match crate::Layout::compact_col_major(&crate::IntTuple::integer(N)) {
            Ok(layout) => layout,
            Err(error) => error.panic_const(),
        };
}

/// As for [`Int`].
impl<O: Operation, A: Integer, B: Integer> StaticLayout for Expr<O, A, B> {
    const LAYOUT: crate::Layout =
        match crate::Layout::compact_col_major(&crate::IntTuple::integer(Self::VALUE)) {
            Ok(layout) => layout,
            Err(error) => error.panic_const(),
        };
}

impl<O, A, B> From<Derived<O, A, B>> for crate::Layout
where
    Derived<O, A, B>: StaticLayout,
{
    fn from(_: Derived<O, A, B>) -> crate::Layout {
        Derived::<O, A, B>::LAYOUT
    }
}

impl<O, A, B> fmt::Display for Derived<O, A, B>
where
    Derived<O, A, B>: StaticLayout,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &Self::LAYOUT;
        let modes = layout.modes();
        layout.profile().write(f, |f, leaf| write!(f, "_{}", modes[leaf].extent()))?;
        f.write_str(":")?;
        layout.profile().write(f, |f, leaf| write!(f, "_{}", modes[leaf].stride()))?;
        if layout.offset() == 0 { Ok(()) } else { write!(f, "{:+}", layout.offset()) }
    }
}

impl<O, A, B> fmt::Debug for Derived<O, A, B>
where
    Derived<O, A, B>: StaticLayout,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<O, A, B, T: StaticLayout> PartialEq<T> for Derived<O, A, B>
where
    Derived<O, A, B>: StaticLayout,
{
    fn eq(&self, _: &T) -> bool {
        Self::LAYOUT == T::LAYOUT
    }
}

/// An operation between layouts, by name: the types of [`algebra`].
///
/// ```
/// use tilewright_core::fixed::{Derived, StaticLayout, _4, _8, algebra};
/// use tilewright_core::Layout;
/// type Tiled = Derived<algebra::LogicalDivide, tilewright_core::fixed::C<8>, tilewright_core::fixed::C<4>>;
/// const TILED: Layout = Tiled::LAYOUT;
/// assert_eq!(TILED.to_string(), "(4,2):(1,4)");
/// ```
pub trait LayoutOperation: Copy {
    /// Which one.
    #[doc(hidden)]
    const CODE: LayoutCode;
}

macro_rules! operations {
    ($a:ident, $b:ident; $($(#[$doc:meta])* $name:ident $result:expr;)*) => {
        /// The operations between layouts, as the types that stand in a [`Derived`] layout's.
        pub mod algebra {
            $(
                $(#[$doc])*
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}
            )*
        }

        $(impl LayoutOperation for algebra::$name {
            const CODE: LayoutCode = LayoutCode::$name;
        })*

        /// The operations as values.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum LayoutCode { $($name),* }

        impl LayoutCode {
            const fn apply(
                self,
                $a: &crate::Layout,
                $b: &crate::Layout,
            ) -> Result<crate::Layout, Error> {
                match self { $(LayoutCode::$name => $result),* }
            }
        }
    };
}

operations! { a, b;
    /// [`Layout::flatten`](crate::Layout::flatten).
    Flatten Ok(a.flatten());
    /// [`Layout::coalesce`](crate::Layout::coalesce).
    Coalesce Ok(a.coalesce());
    /// [`Layout::filter`](crate::Layout::filter).
    Filter a.filter();
    /// [`Layout::right_inverse`](crate::Layout::right_inverse).
    RightInverse a.right_inverse();
    /// [`Layout::left_inverse`](crate::Layout::left_inverse).
    LeftInverse a.left_inverse();
    /// [`Layout::nullspace`](crate::Layout::nullspace).
    Nullspace a.nullspace();
    /// [`Layout::composition`](crate::Layout::composition).
    Composition a.composition(b);
    /// [`Layout::complement`](crate::Layout::complement).
    Complement a.complement(b.size());
    /// [`Layout::logical_divide`](crate::Layout::logical_divide).
    LogicalDivide a.logical_divide(b);
    /// [`Layout::zipped_divide`](crate::Layout::zipped_divide).
    ZippedDivide a.zipped_divide(b);
    /// [`Layout::tiled_divide`](crate::Layout::tiled_divide).
    TiledDivide a.tiled_divide(b);
    /// [`Layout::flat_divide`](crate::Layout::flat_divide).
    FlatDivide a.flat_divide(b);
    /// [`Layout::logical_product`](crate::Layout::logical_product).
    LogicalProduct a.logical_product(b);
    /// [`Layout::zipped_product`](crate::Layout::zipped_product).
    ZippedProduct a.zipped_product(b);
    /// [`Layout::tiled_product`](crate::Layout::tiled_product).
    TiledProduct a.tiled_product(b);
    /// [`Layout::flat_product`](crate::Layout::flat_product).
    FlatProduct a.flat_product(b);
    /// [`Layout::blocked_product`](crate::Layout::blocked_product).
    BlockedProduct a.blocked_product(b);
    /// [`Layout::raked_product`](crate::Layout::raked_product).
    RakedProduct a.raked_product(b);
}
