//! The algebra on static layouts: operands, the operations as types, and results. A result is a type, whose value the run-time
//! `const fn` computes.
//!
//! Law: the [`StaticLayout::LAYOUT`] of `a.composition(b)` is the result of the run-time operation of that name on the
//! `LAYOUT`s of the operands, and likewise for the other operations. An error of the operation is a compile error.
//!
//! Rust cannot name a type with a computed shape. A [`Derived`] layout is therefore a type of its own, which equals the
//! [`FixedLayout`](super::FixedLayout) of the same value. It takes no memory, and its offsets compile to the code one
//! would write by hand: the integers of a coordinate are assigned to modes.
//!
//! Law: inside the layout, `dot` equals the run-time [`Layout::crd2idx`](tilewright_core::Layout::crd2idx). If an
//! integer addresses several modes, the last of them takes the remaining quotient unreduced.

use core::{fmt, marker::PhantomData};

use tilewright_core::{Error, IntTuple, Layout, MAX_MODES};

use crate::{Expr, FixedTuple, Int, Integer, Operation};

/// Defines the run-time operations of the same names as provided methods.
macro_rules! methods {
    ($($method:ident $name:ident $(($b:ident))?;)*) => { $(
        #[doc = concat!("[`Layout::", stringify!($method), "`](tilewright_core::Layout::", stringify!($method), ").")]
        #[inline]
        fn $method$(<$b: StaticLayout>)?(self $(, _: $b)?) -> Derived<algebra::$name, Self $(, $b)?> {
            Derived::default()
        }
    )* };
}

/// A layout that its type determines: it takes no memory, and its run-time layout is a constant.
///
/// ```
/// use tilewright_fixed::{StaticLayout, _1, _2, _4, make_layout};
/// fn cosize<L: StaticLayout>(_: L) -> i64 {
///     const { L::LAYOUT.cosize() }
/// }
/// let layout = make_layout((_2, _4), (_4, _1));
/// assert_eq!((cosize(layout), cosize(layout.coalesce())), (8, 8));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a static layout",
    label = "expected a layout of static integers, or an operation on one"
)]
pub trait StaticLayout: Copy + Default {
    /// The run-time layout. If the operation fails, evaluating it is a compile error.
    const LAYOUT: Layout;

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

/// The result of the operation `O` on the static layouts `A` and `B`. Takes no memory.
///
/// ```
/// use tilewright_fixed::{_1, _2, _3, _4, _6, _8, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_8, _2)), make_layout((_4, _3), (_3, _1)));
/// let ab = a.composition(b);
/// assert_eq!((size_of_val(&ab), ab.to_string().as_str()), (0, "((_2,_2),_3):((_24,_2),_8)"));
/// assert_eq!((ab.offset((3, 2)), ab.offset(((1, 1), 2))), (42, 42));
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _2, _3, _6, _7, StaticLayout, make_layout};
/// let (a, b) = (make_layout((_6, _2), (_1, _7)), make_layout((_3, _2), (_2, _3)));
/// // error[E0080]: … at (2,1): A(B) is 8, the only candidate gives 7 …
/// a.composition(b).offset(0);
/// ```
#[must_use]
pub struct Derived<O, A, B = ()>(PhantomData<(O, A, B)>);

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

/// An operation on layouts: one of the types of [`algebra`].
///
/// ```
/// use tilewright_fixed::{Derived, StaticLayout, _4, _8, algebra};
/// use tilewright_core::Layout;
/// type Tiled = Derived<algebra::LogicalDivide, tilewright_fixed::C<8>, tilewright_fixed::C<4>>;
/// const TILED: Layout = Tiled::LAYOUT;
/// assert_eq!(TILED.to_string(), "(4,2):(1,4)");
/// ```
pub trait LayoutOperation: Copy {
    /// The operation as a value.
    #[doc(hidden)]
    const CODE: LayoutCode;
}

macro_rules! operations {
    ($a:ident, $b:ident; $($(#[$doc:meta])* $name:ident $result:expr;)*) => {
        /// The operations on layouts as types, for the first parameter of [`Derived`].
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

        /// The operations on layouts as values.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum LayoutCode { $($name),* }

        impl LayoutCode {
            pub(crate) const fn apply(
                self,
                $a: &Layout,
                $b: &Layout,
            ) -> Result<Layout, Error> {
                match self { $(LayoutCode::$name => $result),* }
            }
        }
    };
}

operations! { a, b;
    /// [`Layout::flatten`](tilewright_core::Layout::flatten).
    Flatten Ok(a.flatten());
    /// [`Layout::coalesce`](tilewright_core::Layout::coalesce).
    Coalesce Ok(a.coalesce());
    /// [`Layout::filter`](tilewright_core::Layout::filter).
    Filter a.filter();
    /// [`Layout::right_inverse`](tilewright_core::Layout::right_inverse).
    RightInverse a.right_inverse();
    /// [`Layout::left_inverse`](tilewright_core::Layout::left_inverse).
    LeftInverse a.left_inverse();
    /// [`Layout::nullspace`](tilewright_core::Layout::nullspace).
    Nullspace a.nullspace();
    /// [`Layout::composition`](tilewright_core::Layout::composition).
    Composition a.composition(b);
    /// [`Layout::complement`](tilewright_core::Layout::complement).
    Complement a.complement(b.size());
    /// [`Layout::logical_divide`](tilewright_core::Layout::logical_divide).
    LogicalDivide a.logical_divide(b);
    /// [`Layout::zipped_divide`](tilewright_core::Layout::zipped_divide).
    ZippedDivide a.zipped_divide(b);
    /// [`Layout::tiled_divide`](tilewright_core::Layout::tiled_divide).
    TiledDivide a.tiled_divide(b);
    /// [`Layout::flat_divide`](tilewright_core::Layout::flat_divide).
    FlatDivide a.flat_divide(b);
    /// [`Layout::logical_product`](tilewright_core::Layout::logical_product).
    LogicalProduct a.logical_product(b);
    /// [`Layout::zipped_product`](tilewright_core::Layout::zipped_product).
    ZippedProduct a.zipped_product(b);
    /// [`Layout::tiled_product`](tilewright_core::Layout::tiled_product).
    TiledProduct a.tiled_product(b);
    /// [`Layout::flat_product`](tilewright_core::Layout::flat_product).
    FlatProduct a.flat_product(b);
    /// [`Layout::blocked_product`](tilewright_core::Layout::blocked_product).
    BlockedProduct a.blocked_product(b);
    /// [`Layout::raked_product`](tilewright_core::Layout::raked_product).
    RakedProduct a.raked_product(b);
}

impl<O, A, B> Derived<O, A, B>
where
    Derived<O, A, B>: StaticLayout,
{
    /// Returns the offset of a coordinate in any spelling, in elements, unchecked. Outside the layout the result is
    /// unspecified. A coordinate whose brackets do not fit is a compile error.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _4, _8, StaticLayout, make_layout};
    /// let tiled = make_layout(_8, _1).logical_divide(_4);
    /// assert_eq!((tiled.to_string().as_str(), tiled.offset((3, 1))), ("(_4,_2):(_1,_4)", 7));
    /// ```
    #[inline]
    pub fn offset<C: FixedTuple>(self, coord: C) -> i64 {
        dot::<C, Self>(coord)
    }

    /// Returns the offset of a coordinate in any spelling, in elements, and checks the coordinate.
    ///
    /// # Errors
    /// Those of the run-time [`Layout::crd2idx`](tilewright_core::Layout::crd2idx).
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, StaticLayout, make_layout};
    /// let tiled = make_layout(_8, _1).logical_divide(_4);
    /// assert_eq!(tiled.checked_offset((3, 1)), Ok(7));
    /// assert!(tiled.checked_offset((4, 0)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C: FixedTuple>(self, coord: C) -> Result<i64, Error> {
        Self::LAYOUT.crd2idx(&coord.lower()?)
    }
}

impl<O: LayoutOperation, A: StaticLayout, B: StaticLayout> StaticLayout for Derived<O, A, B> {
    const LAYOUT: Layout = match O::CODE.apply(&A::LAYOUT, &B::LAYOUT) {
        Ok(layout) => layout,
        Err(error) => error.panic_const(),
    };
}

/// The second operand of an operation that has only one.
impl StaticLayout for () {
    const LAYOUT: Layout = Layout::parse_const("():()");
}

/// An integer `N` in place of a layout is the layout `N:1`, as a tile or as a size.
impl<const N: i64> StaticLayout for Int<N> {
    const LAYOUT: Layout = match Layout::compact_col_major(&IntTuple::integer(N)) {
        Ok(layout) => layout,
        Err(error) => error.panic_const(),
    };
}

/// An integer expression in place of a layout is a layout of one mode, as for [`Int`].
impl<O: Operation, A: Integer, B: Integer> StaticLayout for Expr<O, A, B> {
    const LAYOUT: Layout = match Layout::compact_col_major(&IntTuple::integer(Self::VALUE)) {
        Ok(layout) => layout,
        Err(error) => error.panic_const(),
    };
}

impl<O, A, B> From<Derived<O, A, B>> for Layout
where
    Derived<O, A, B>: StaticLayout,
{
    fn from(_: Derived<O, A, B>) -> Layout {
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

/// The share of a mode in the integer `leaf` of a coordinate: the digit `leaf / divisor mod extent`.
#[derive(Clone, Copy)]
struct Share {
    leaf: usize,
    divisor: u64,
    /// The extent of the mode; 0 for the last mode of the integer, which takes the whole quotient.
    extent: u64,
    stride: i64,
}

/// The shares of the modes of `L` in a coordinate of type `C`.
struct Fit<C, L>(PhantomData<(C, L)>);

impl<C: FixedTuple, L: StaticLayout> Fit<C, L> {
    const SHARES: [Share; MAX_MODES] = match shares(&C::TUPLE, &L::LAYOUT) {
        Ok(shares) => shares,
        Err(error) => error.panic_const(),
    };
}

const fn shares(coord: &IntTuple, layout: &Layout) -> Result<[Share; MAX_MODES], Error> {
    let mut shares = [Share { leaf: 0, divisor: 1, extent: 0, stride: 0 }; MAX_MODES];
    let (mut leaf, mut i) = (0, 0);
    loop {
        let to = match layout.modes_under(coord, leaf) {
            Ok(Some((_, to))) => to,
            Ok(None) => return Ok(shares),
            Err(error) => return Err(error),
        };
        let mut divisor = 1;
        while i < to {
            let (extent, stride) = (layout.modes()[i].extent(), layout.modes()[i].stride());
            let extent_within = if i + 1 == to { 0 } else { extent };
            shares[i] = Share { leaf, divisor, extent: extent_within, stride };
            divisor *= extent;
            i += 1;
        }
        leaf += 1;
    }
}

/// Returns the offset of a coordinate, in elements; outside the layout the result is unspecified.
#[inline]
pub(crate) fn dot<C: FixedTuple, L: StaticLayout>(coord: C) -> i64 {
    let (mut offset, mut i) = (const { L::LAYOUT.offset() }, 0);
    while i < const { L::LAYOUT.modes().len() } {
        let share = Fit::<C, L>::SHARES[i];
        let rest = coord.leaf(share.leaf).checked_div(share.divisor).unwrap_or(0);
        let digit = rest.checked_rem(share.extent).unwrap_or(rest);
        offset = offset.wrapping_add((digit as i64).wrapping_mul(share.stride));
        i += 1;
    }
    if const { L::LAYOUT.swizzle().is_identity() } {
        offset
    } else {
        L::LAYOUT.swizzle().apply(offset as u64) as i64
    }
}
