//! The algebra on static layouts: the result is a type, whose value the run-time `const fn` computes.
//!
//! Law: the [`StaticLayout::LAYOUT`] of `a.composition(b)` is the result of the run-time operation of that name on the
//! `LAYOUT`s of the operands, and likewise for the other operations. An error of the operation is a compile error.
//!
//! Rust cannot name a type with a computed shape. A [`Derived`] layout is therefore a type of its own, which equals the
//! [`FixedLayout`](super::FixedLayout) of the same value. It takes no memory, and its offsets compile to the code one would
//! write by hand.

use core::fmt;

use tilewright_core::{Error, IntTuple, Layout};

use super::{
    Derived, Expr, FixedTuple, Int, Integer, LayoutOperation, Operation, StaticLayout, fit::dot,
};

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
