//! `make_layout`, with every list of arguments that CuTe accepts.
//!
//! Laws: `make_layout(S)` is the compact layout of the shape S with the first mode fastest; `make_layout(S, D)` is `S:D`;
//! `make_layout(L0, L1, …)(c0, c1, …) = Σ Li(ci)`.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::{Error, IntTuple, Layout, MAX_MODES};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;

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
}
