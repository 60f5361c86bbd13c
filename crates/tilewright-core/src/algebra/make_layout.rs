//! `make_layout`, with every list of arguments that CuTe accepts; and layouts made from a shape: with given strides, compact in an
//! order, or compact like another layout.
//!
//! Laws: `make_layout(S)` is the compact layout of the shape S with the first mode fastest; `make_layout(S, D)` is `S:D`;
//! `make_layout(L0, L1, …)(c0, c1, …) = Σ Li(ci)`.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.
//!
//! Laws: the layouts of `compact_col_major`, `compact_row_major` and `ordered` map their coordinates one to one onto
//! 0…size − 1. In `ordered(shape, order)` a part of smaller order varies faster; equal orders vary from the left.
//! `compact_like(L)` orders coordinates as L's strides do, keeps strides of 0, and is compact over the rest. Modes of extent
//! 1 have the stride of their position.
//!
//! Source: CUTLASS `include/cute/stride.hpp`, `layout.hpp`.

use crate::{
    Error, IntTuple, Layout, MAX_MODES, Mode, Swizzle,
    algebra::nested::{coordinates::unlike, walk::ProfileWalk},
    const_fn::tri,
};

/// An argument of [`Layout::make`].
///
/// ```
/// use tilewright_core::{IntTuple, Layout, LayoutPart};
/// let shape = IntTuple::parse("(4,2)").unwrap();
/// assert_eq!(Layout::make(&[LayoutPart::Tuple(&shape)]).unwrap().to_string(), "(4,2):(1,4)");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum LayoutPart<'a> {
    /// A shape or strides.
    Tuple(&'a IntTuple),
    /// A layout.
    Layout(&'a Layout),
}

impl Layout {
    /// Returns the layout of a shape, of a shape and strides, or the concatenation of layouts, each one axis of the result.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for any other list; otherwise those of [`Layout::compact_col_major`],
    /// [`Layout::from_shape_stride`] and [`Layout::from_layouts`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout, LayoutPart};
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let (shape, stride) = (tuple("(4,2)"), tuple("(1,4)"));
    /// let made = Layout::make(&[LayoutPart::Tuple(&shape), LayoutPart::Tuple(&stride)]).unwrap();
    /// assert_eq!(made.to_string(), "(4,2):(1,4)");
    /// let both = Layout::make(&[LayoutPart::Layout(&made), LayoutPart::Layout(&made)]).unwrap();
    /// assert_eq!(both.to_string(), "((4,2),(4,2)):((1,4),(1,4))");
    /// let mixed = Layout::make(&[LayoutPart::Layout(&made), LayoutPart::Tuple(&shape)]);
    /// assert!(mixed.unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "make_layout")]
    pub const fn make(parts: &[LayoutPart<'_>]) -> Result<Layout, Error> {
        match parts {
            [LayoutPart::Tuple(shape)] => Layout::compact_col_major(shape),
            [LayoutPart::Tuple(shape), LayoutPart::Tuple(stride)] => {
                Layout::from_shape_stride(shape, stride)
            }
            [LayoutPart::Layout(first), rest @ ..] => concatenated(first, rest),
            _ => Err(misfit(parts)), // open set
        }
    }
}

/// Concatenates layouts, each as one axis.
const fn concatenated(first: &Layout, rest: &[LayoutPart<'_>]) -> Result<Layout, Error> {
    if rest.len() >= MAX_MODES {
        return Err(Error::limit(
            "{} layouts side by side",
            [rest.len() as i128 + 1, 0, 0],
            "a layout has at most 32 modes",
        ));
    }
    let (mut all, mut i) = ([first; MAX_MODES], 0);
    while i < rest.len() {
        match &rest[i] {
            LayoutPart::Layout(layout) => all[i + 1] = *layout,
            LayoutPart::Tuple(_) => return Err(misfit(rest)),
        }
        i += 1;
    }
    Layout::from_layouts(all.split_at(rest.len() + 1).0)
}

/// The error of arguments that CuTe does not accept.
const fn misfit(parts: &[LayoutPart<'_>]) -> Error {
    let (mut tuples, mut i) = (0, 0);
    while i < parts.len() {
        tuples += matches!(parts[i], LayoutPart::Tuple(_)) as i128;
        i += 1;
    }
    Error::mismatch(
        "{} tuples among the arguments",
        [tuples, 0, 0],
        "give a shape, a shape and its strides, or layouts alone",
    )
}

impl IntTuple {
    /// Returns the strides of the compact layout of this shape in which the first leaf varies fastest.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) beyond 64 bits; [illegal](Error::is_illegal) for a negative extent.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let strides = IntTuple::parse("((5,4),9,1)").unwrap().compact_col_major().unwrap();
    /// assert_eq!(strides.to_string(), "((1,5),20,180)");
    /// assert!(IntTuple::parse("(-1,2)").unwrap().compact_col_major().unwrap_err().is_illegal());
    /// ```
    pub const fn compact_col_major(&self) -> Result<IntTuple, Error> {
        let (mut run, mut i) = (CompactRun::new(self), 0);
        while i < self.values().len() {
            tri!(run.leaf(i));
            i += 1;
        }
        run.strides()
    }

    /// Returns the strides of the compact layout of this shape in which the last leaf varies fastest.
    ///
    /// # Errors
    /// Those of [`IntTuple::compact_col_major`].
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let strides = IntTuple::parse("((5,4),9)").unwrap().compact_row_major().unwrap();
    /// assert_eq!(strides.to_string(), "((36,9),1)");
    /// ```
    pub const fn compact_row_major(&self) -> Result<IntTuple, Error> {
        let (mut run, mut i) = (CompactRun::new(self), self.values().len());
        while i > 0 {
            i -= 1;
            tri!(run.leaf(i));
        }
        run.strides()
    }

    /// Returns the strides of the compact layout of this shape in which the parts vary in the given order, the smallest
    /// number fastest.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if `order` is not weakly congruent to the shape; otherwise those of
    /// [`IntTuple::compact_col_major`].
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let strides = tuple("((2,3),4)").compact_order(&tuple("(1,0)")).unwrap();
    /// assert_eq!(strides.to_string(), "((4,8),1)");
    /// assert!(tuple("(2,3)").compact_order(&tuple("((0,1),2)")).unwrap_err().is_mismatch());
    /// ```
    pub const fn compact_order(&self, order: &IntTuple) -> Result<IntTuple, Error> {
        let (mut parts, mut count) = ([(0usize, 0usize); MAX_MODES], 0);
        let (mut o, mut s) = (ProfileWalk::new(order.profile()), ProfileWalk::new(self.profile()));
        while !o.end() {
            if let Some(leaf) = o.leaf() {
                match s.node() {
                    Some(part) => parts[leaf] = part,
                    None => return Err(unlike(order, self)),
                }
                count += 1;
            } else if !((o.open() && s.open()) || (o.close() && s.close())) {
                return Err(unlike(order, self));
            }
        }
        if !s.end() {
            return Err(unlike(order, self));
        }
        let (by_order, mut run, mut at) = (sorted(order.values()), CompactRun::new(self), 0);
        while at < count {
            let (mut leaf, to) = parts[by_order[at]];
            while leaf < to {
                tri!(run.leaf(leaf));
                leaf += 1;
            }
            at += 1;
        }
        run.strides()
    }
}

/// Returns the positions of `values`, smallest first, equal ones from the left.
const fn sorted(values: &[i64]) -> [usize; MAX_MODES] {
    let (mut order, mut i) = ([0; MAX_MODES], 0);
    while i < values.len() {
        let mut at = i;
        while at > 0 && values[order[at - 1]] > values[i] {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = i;
        i += 1;
    }
    order
}

/// Compact strides under construction: the stride of each leaf is the product of the extents before it.
struct CompactRun<'a> {
    shape: &'a IntTuple,
    strides: [i64; MAX_MODES],
    next: i128,
}

impl CompactRun<'_> {
    const fn new(shape: &IntTuple) -> CompactRun<'_> {
        CompactRun { shape, strides: [0; MAX_MODES], next: 1 }
    }

    const fn leaf(&mut self, leaf: usize) -> Result<(), Error> {
        let extent = self.shape.values()[leaf];
        if extent < 0 {
            return Err(Error::illegal(
                "extent {} of leaf {}",
                [extent as i128, leaf as i128],
                "extents are 0 or more",
            ));
        }
        if self.next > i64::MAX as i128 {
            return Err(Error::overflow(
                "stride {} of leaf {}",
                [self.next, leaf as i128],
                "a layout has at most 2^63 - 1 coordinates",
            ));
        }
        self.strides[leaf] = self.next as i64;
        self.next *= extent as i128;
        Ok(())
    }

    const fn strides(&self) -> Result<IntTuple, Error> {
        let len = self.shape.values().len();
        IntTuple::new(self.strides.split_at(len).0, self.shape.profile())
    }
}

impl Layout {
    /// Returns the layout with this shape and these strides, in elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets differ; [illegal](Error::is_illegal) for a negative extent;
    /// otherwise those of [`Layout::new`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let layout = Layout::from_shape_stride(&tuple("(2,(2,2))"), &tuple("(4,(2,1))")).unwrap();
    /// assert_eq!(layout.to_string(), "(2,(2,2)):(4,(2,1))");
    /// let error = Layout::from_shape_stride(&tuple("(8,32)"), &tuple("32")).unwrap_err();
    /// assert!(error.is_mismatch());
    /// ```
    #[doc(alias = "make_layout")]
    pub const fn from_shape_stride(shape: &IntTuple, stride: &IntTuple) -> Result<Layout, Error> {
        if !shape.congruent(stride) {
            return Err(Error::mismatch(
                "a shape of rank {} and {} leaves with strides of rank {} and {}, or bracketed unlike them",
                [
                    shape.rank() as i128,
                    shape.values().len() as i128,
                    stride.rank() as i128,
                    stride.values().len() as i128,
                ],
                "shape and stride have the same brackets",
            ));
        }
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < shape.values().len() {
            let extent = shape.values()[i];
            if extent < 0 {
                return Err(Error::illegal(
                    "extent {} of leaf {}",
                    [extent as i128, i as i128],
                    "extents are 0 or more",
                ));
            }
            modes[i] = Mode::new(extent as u64, stride.values()[i]);
            i += 1;
        }
        Layout::new(modes.split_at(i).0, shape.profile(), 0, Swizzle::IDENTITY)
    }

    /// Returns the compact layout of a shape in which the first leaf varies fastest (column-major).
    ///
    /// # Errors
    /// Those of [`IntTuple::compact_col_major`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let shape = IntTuple::parse("(2,(3,4))").unwrap();
    /// assert_eq!(Layout::compact_col_major(&shape).unwrap().to_string(), "(2,(3,4)):(1,(2,6))");
    /// let huge = IntTuple::flat(&[i64::MAX, 2]).unwrap();
    /// assert!(Layout::compact_col_major(&huge).unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "LayoutLeft")]
    pub const fn compact_col_major(shape: &IntTuple) -> Result<Layout, Error> {
        Layout::from_shape_stride(shape, &tri!(shape.compact_col_major()))
    }

    /// Returns the compact layout of a shape in which the last leaf varies fastest (row-major).
    ///
    /// # Errors
    /// Those of [`IntTuple::compact_row_major`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let shape = IntTuple::parse("(2,(3,4))").unwrap();
    /// assert_eq!(Layout::compact_row_major(&shape).unwrap().to_string(), "(2,(3,4)):(12,(4,1))");
    /// let negative = IntTuple::flat(&[-2]).unwrap();
    /// assert!(Layout::compact_row_major(&negative).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "LayoutRight")]
    pub const fn compact_row_major(shape: &IntTuple) -> Result<Layout, Error> {
        Layout::from_shape_stride(shape, &tri!(shape.compact_row_major()))
    }

    /// Returns the compact layout of a shape in which the parts vary in the given order, the smallest number fastest.
    ///
    /// # Errors
    /// Those of [`IntTuple::compact_order`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let layout = Layout::ordered(&tuple("(4,3,8,2)"), &tuple("(2,1,3,0)")).unwrap();
    /// assert_eq!(layout.to_string(), "(4,3,8,2):(6,2,24,1)");
    /// assert!(Layout::ordered(&tuple("(4,3)"), &tuple("(0,1,2)")).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "make_ordered_layout")]
    pub const fn ordered(shape: &IntTuple, order: &IntTuple) -> Result<Layout, Error> {
        Layout::from_shape_stride(shape, &tri!(shape.compact_order(order)))
    }

    /// Returns a compact layout of the same shape with the order of this layout: by |stride|, smallest first, equal ones
    /// from the left. Strides of 0 are kept; offset, signs and swizzle are dropped.
    ///
    /// # Errors
    /// A legal layout causes none.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,4,5):(0,42,1,0)").unwrap();
    /// assert_eq!(layout.compact_like().unwrap().to_string(), "(2,3,4,5):(0,4,1,0)");
    /// ```
    #[doc(alias = "make_layout_like")]
    pub const fn compact_like(&self) -> Result<Layout, Error> {
        let (mut extents, mut steps, mut i) = ([0; MAX_MODES], [0; MAX_MODES], 0);
        while i < self.modes().len() {
            let mode = self.modes()[i];
            extents[i] = if mode.stride() == 0 { 1 } else { mode.extent() as i64 };
            // A layout's stride may be i64::MIN only if the extent of its mode is below 2.
            steps[i] = mode.stride().saturating_abs();
            i += 1;
        }
        let shape = tri!(IntTuple::new(extents.split_at(i).0, self.profile()));
        let order = tri!(IntTuple::new(steps.split_at(i).0, self.profile()));
        let strides = tri!(shape.compact_order(&order));
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < self.modes().len() {
            let mode = self.modes()[i];
            let stride = if mode.stride() == 0 { 0 } else { strides.values()[i] };
            modes[i] = Mode::new(mode.extent(), stride);
            i += 1;
        }
        Layout::new(modes.split_at(i).0, self.profile(), 0, Swizzle::IDENTITY)
    }
}

#[cfg(test)]
mod tests {
    use std::{string::ToString, vec::Vec};

    use super::*;
    use crate::small::{for_each_layout, image};

    fn tuple(text: &str) -> IntTuple {
        IntTuple::parse(text).unwrap()
    }

    #[test]
    fn tuples_are_shape_and_strides_and_layouts_stand_side_by_side() {
        for_each_layout(2, 1..=3, -2..=3, |layout| {
            let (shape, stride) = (layout.shape(), layout.stride());
            let parts = [LayoutPart::Tuple(&shape), LayoutPart::Tuple(&stride)];
            assert_eq!(Layout::make(&parts).unwrap(), *layout);
            let compact = Layout::make(&parts[..1]).unwrap();
            assert_eq!(compact, Layout::compact_col_major(&shape).unwrap());
            let twice = [LayoutPart::Layout(layout); 2];
            assert_eq!(Layout::make(&twice), Layout::from_layouts(&[layout; 2]));
        });
    }

    #[test]
    fn other_lists_are_refused() {
        let (two, layout) = (tuple("2"), Layout::parse("2:1").unwrap());
        let (t, l) = (LayoutPart::Tuple(&two), LayoutPart::Layout(&layout));
        for parts in [&[][..], &[t, t, t], &[t, l], &[l, t], &[l, t, l]] {
            assert!(Layout::make(parts).unwrap_err().is_mismatch());
        }
        assert!(Layout::make(&[l; 33]).unwrap_err().is_limit());
        assert_eq!(Layout::make(&[l; 32]).unwrap().rank(), 32);
    }

    #[test]
    fn compact_layouts_are_bijections_in_the_order_given() {
        for_each_layout(3, 1..=4, 0..=2, |flat| {
            let (shape, order) = (flat.shape(), flat.stride());
            for layout in [
                Layout::compact_col_major(&shape).unwrap(),
                Layout::compact_row_major(&shape).unwrap(),
                Layout::ordered(&shape, &order).unwrap(),
            ] {
                let mut all = image(&layout);
                all.sort_unstable();
                assert_eq!(all, (0..layout.size() as i64).collect::<Vec<_>>(), "{layout}");
            }
            let layout = Layout::ordered(&shape, &order).unwrap();
            for (a, &x) in layout.modes().iter().zip(order.values()) {
                for (b, &y) in layout.modes().iter().zip(order.values()) {
                    assert!(x >= y || a.stride() <= b.stride(), "{layout} {order}");
                }
            }
            let like = flat.compact_like().unwrap();
            assert_eq!(like.shape(), shape);
            let mut all = image(&like);
            all.sort_unstable();
            all.dedup();
            let kept: u64 = flat
                .modes()
                .iter()
                .filter(|mode| mode.stride() != 0)
                .map(|mode| mode.extent())
                .product();
            assert_eq!(all, (0..kept as i64).collect::<Vec<_>>(), "{like}");
        });
    }

    #[test]
    fn orders_of_parts() {
        let tuple = |text| IntTuple::parse(text).unwrap();
        let print =
            |shape, order| Layout::ordered(&tuple(shape), &tuple(order)).unwrap().to_string();
        assert_eq!(print("(2,3,4,5)", "(2,67,42,50)"), "(2,3,4,5):(1,40,2,8)");
        assert_eq!(print("((2,3),4)", "(1,0)"), "((2,3),4):((4,8),1)");
        assert_eq!(print("((2,3),4)", "7"), "((2,3),4):((1,2),6)");
        let big = tuple("(4294967296,4294967296,2)");
        assert!(Layout::compact_col_major(&big).unwrap_err().is_overflow());
    }
}
