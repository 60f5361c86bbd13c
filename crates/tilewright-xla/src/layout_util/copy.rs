//! Copies layouts between shapes of the same structure.

use tilewright_core::Error;

use crate::{ArrayShape, Dim, Ignore, Shape, ShapeKind};

impl ArrayShape {
    /// Copies another array's layout, or its absence; the extents may differ.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank; those of [`Layout::validate`](crate::Layout::validate) for a layout
    /// whose splits do not fit these extents. Nothing is changed in both cases.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let source = ArrayShape::parse("f32[123,42,7]{2,0,1}").unwrap();
    /// let mut target = ArrayShape::parse("s8[2,3,5]").unwrap();
    /// target.copy_layout_from(&source).unwrap();
    /// assert_eq!(target.to_string(), "s8[2,3,5]{2,0,1}");
    /// let mut flat = ArrayShape::parse("f32[2,3]{1,0}").unwrap();
    /// assert!(flat.copy_layout_from(&source).unwrap_err().to_string().contains("ranks differ: 3 and 2"));
    /// ```
    #[doc(alias = "CopyLayoutBetweenShapes")]
    pub fn copy_layout_from(&mut self, source: &ArrayShape) -> Result<(), Error> {
        check(source, self)?;
        self.layout = source.layout.clone();
        Ok(())
    }
}

impl Shape {
    /// Copies the layout of each array from a shape of the same structure; see [`ArrayShape::copy_layout_from`].
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if ranks, tuple sizes or structures differ. Nothing is changed then.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let source = Shape::parse("(f32[2,3]{0,1}, token[])").unwrap();
    /// let mut target = Shape::parse("(f32[4,5]{1,0}, token[])").unwrap();
    /// target.copy_layouts_from(&source).unwrap();
    /// assert_eq!(target.to_string(), "(f32[4,5]{0,1}, token[])");
    /// let mut other = Shape::parse("(f32[4,5])").unwrap();
    /// assert!(other.copy_layouts_from(&source).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "CopyLayoutBetweenShapes")]
    pub fn copy_layouts_from(&mut self, source: &Shape) -> Result<(), Error> {
        let mut arrays = Vec::new();
        pairs(source, self, &mut |source, target| {
            check(source, target)?;
            arrays.push(source.layout.clone());
            Ok(())
        })?;
        let mut layouts = arrays.into_iter();
        self.for_each_array_mut(&mut |array| array.layout = layouts.next().flatten());
        Ok(())
    }

    /// Returns whether the arrays of two shapes have equal layouts, one by one; extents are not compared. XLA does not
    /// apply `ignore` inside tuples.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if ranks, tuple sizes or structures differ.
    ///
    /// ```
    /// use tilewright_xla::{Ignore, Shape};
    /// let a = Shape::parse("((f32[2,3]{0,1:T(2,2)}))").unwrap();
    /// let b = Shape::parse("((f32[4,5]{0,1}))").unwrap();
    /// assert_eq!(a.layouts_equal(&b, Ignore { tiles: true, ..Ignore::NOTHING }), Ok(true));
    /// assert_eq!(a.layouts_equal(&b, Ignore::NOTHING), Ok(false));
    /// let other = Shape::parse("(f32[4,5]{0,1})").unwrap();
    /// assert!(a.layouts_equal(&other, Ignore::NOTHING).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "LayoutsInShapesEqual")]
    pub fn layouts_equal(&self, other: &Shape, ignore: Ignore) -> Result<bool, Error> {
        let mut equal = true;
        pairs(self, other, &mut |a, b| {
            check_rank(a, b)?;
            equal &= match (&a.layout, &b.layout) {
                (Some(a), Some(b)) => a.equal(b, ignore),
                (a, b) => a.is_none() == b.is_none(),
            };
            Ok(())
        })?;
        Ok(equal)
    }
}

/// Checks that `target` can have the layout of `source`.
fn check(source: &ArrayShape, target: &ArrayShape) -> Result<(), Error> {
    check_rank(source, target)?;
    match &source.layout {
        // Splits are within bounds; an unbounded dim has none to check.
        Some(layout) if !layout.splits().is_empty() => layout.validate(&bounds(target)),
        _ => Ok(()),
    }
}

fn bounds(shape: &ArrayShape) -> Vec<u64> {
    let bound = |dim: &Dim| match *dim {
        Dim::Static(extent) | Dim::Bounded(extent) => extent,
        Dim::Unbounded => i64::MAX as u64,
    };
    shape.dims.iter().map(bound).collect()
}

fn check_rank(source: &ArrayShape, target: &ArrayShape) -> Result<(), Error> {
    if source.dims.len() == target.dims.len() {
        return Ok(());
    }
    Err(Error::mismatch(
        "ranks differ: {} and {}",
        [source.dims.len() as i128, target.dims.len() as i128],
        "a layout only fits arrays of its rank",
    ))
}

/// Calls `visit` for each pair of arrays at the same position.
fn pairs(
    a: &Shape,
    b: &Shape,
    visit: &mut dyn FnMut(&ArrayShape, &ArrayShape) -> Result<(), Error>,
) -> Result<(), Error> {
    match (a.kind(), b.kind()) {
        (ShapeKind::Array(a), ShapeKind::Array(b))
        | (ShapeKind::Buffer(a), ShapeKind::Buffer(b)) => visit(a, b),
        (ShapeKind::Tuple(a), ShapeKind::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_for_each(|(a, b)| pairs(a, b, visit))
        }
        (ShapeKind::Tuple(a), ShapeKind::Tuple(b)) => Err(Error::mismatch(
            "tuple element counts differ: {} and {}",
            [a.len() as i128, b.len() as i128],
            "the shapes must have the same structure",
        )),
        (ShapeKind::Token, ShapeKind::Token) | (ShapeKind::Opaque, ShapeKind::Opaque) => Ok(()),
        _ => Err(Error::mismatch(
            "shape structures differ: one has an array, tuple, token, opaque value or buffer where \
             the other has something else",
            [],
            "the shapes must have the same structure",
        )),
    }
}
