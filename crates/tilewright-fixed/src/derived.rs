//! The algebra on static layouts: the result is a type, whose value the run-time `const fn` computes.
//!
//! Law: the [`StaticLayout::LAYOUT`] of `a.composition(b)` is the result of the run-time operation of that name on the
//! `LAYOUT`s of the operands, and likewise for the other operations. An error of the operation is a compile error.
//!
//! Rust cannot name a type with a computed shape. A [`Derived`] layout is therefore a type of its own, which equals the
//! [`FixedLayout`](super::FixedLayout) of the same value. It takes no memory, and its offsets compile to the code one
//! would write by hand.
//!
//! Offsets in a layout that the compiler computed: assigns the integers of a coordinate to modes.
//!
//! Law: inside the layout, `dot` equals the run-time [`Layout::crd2idx`](tilewright_core::Layout::crd2idx). If an
//! integer addresses several modes, the last of them takes the remaining quotient unreduced.

use core::{fmt, marker::PhantomData};

use tilewright_core::{Error, IntTuple, Layout, MAX_MODES};

use super::{Derived, Expr, FixedTuple, Int, Integer, LayoutOperation, Operation, StaticLayout};

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
