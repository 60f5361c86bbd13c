//! Presence of layouts in shapes: queries, removal of layouts and tiles, and copies between shapes of the same
//! structure.

use tilewright_core::Error;

use crate::{ArrayShape, Dim, Ignore, Layout, Shape, ShapeKind};

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

impl ArrayShape {
    /// Returns the array in the plain row-major layout. The whole old layout is replaced; XLA's `SetToDefaultLayout` keeps
    /// the tiles, element size, alignment and memory space of the old order.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2,3]{0,1:T(2,2)L(64)S(1)}").unwrap();
    /// assert_eq!(shape.with_default_layout().to_string(), "f32[2,3]{1,0}");
    /// ```
    #[doc(alias = "SetToDefaultLayout")]
    #[doc(alias = "GetWithDefaultLayout")]
    pub fn with_default_layout(mut self) -> ArrayShape {
        self.layout = Some(Layout::descending(self.dims.len()));
        self
    }

    /// Removes the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("f32[2,3]{0,1}").unwrap();
    /// shape.clear_layout();
    /// assert_eq!(shape.to_string(), "f32[2,3]");
    /// ```
    #[doc(alias = "ClearLayout")]
    pub fn clear_layout(&mut self) {
        self.layout = None;
    }

    /// Removes the tiles, and keeps the rest of the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("s4[8,128]{0,1:T(8,128)E(4)S(1)}").unwrap();
    /// shape.clear_tiles();
    /// assert_eq!(shape.to_string(), "s4[8,128]{0,1:E(4)S(1)}");
    /// ```
    #[doc(alias = "ClearTiles")]
    pub fn clear_tiles(&mut self) {
        self.layout = self.layout.take().map(|layout| layout.with_tiles(&[]));
    }

    /// Returns the memory space; 0, the default one, if there is no layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let space = |text| ArrayShape::parse(text).unwrap().memory_space();
    /// assert_eq!((space("f32[8]{0:S(5)}"), space("f32[8]")), (5, 0));
    /// ```
    #[doc(alias = "MemorySpace")]
    pub fn memory_space(&self) -> u64 {
        self.layout.as_ref().map_or(0, Layout::memory_space)
    }

    /// Returns whether the layout sets an element size in bits.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let custom = |text| ArrayShape::parse(text).unwrap().has_custom_element_size();
    /// assert!(custom("pred[8]{0:E(32)}") && !custom("pred[8]{0}"));
    /// ```
    #[doc(alias = "HasCustomElementSizeInBits")]
    pub fn has_custom_element_size(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.element_size_in_bits() != 0)
    }
}

impl Shape {
    /// Gives every array the plain row-major layout; see [`ArrayShape::with_default_layout`].
    /// [`Shape::with_default_layouts`] keeps existing layouts.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2,3]{0,1:T(2,2)}, token[])").unwrap();
    /// shape.set_to_default_layouts();
    /// assert_eq!(shape.to_string(), "(f32[2,3]{1,0}, token[])");
    /// ```
    #[doc(alias = "SetToDefaultLayout")]
    pub fn set_to_default_layouts(&mut self) {
        self.for_each_array_mut(&mut |array| {
            array.layout = Some(Layout::descending(array.dims.len()));
        });
    }

    /// Removes the layout of every array.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2,3]{0,1}, b(f32[4]{0}))").unwrap();
    /// shape.clear_layouts();
    /// assert_eq!(shape.to_string(), "(f32[2,3], b(f32[4]))");
    /// assert!(!shape.has_any_layout());
    /// ```
    #[doc(alias = "ClearLayout")]
    pub fn clear_layouts(&mut self) {
        self.for_each_array_mut(&mut ArrayShape::clear_layout);
    }

    /// Removes the tiles of every array, and keeps the rest of the layouts.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[8,128]{0,1:T(8,128)}, token[])").unwrap();
    /// shape.clear_tiles();
    /// assert_eq!(shape.to_string(), "(f32[8,128]{0,1}, token[])");
    /// ```
    #[doc(alias = "ClearTiles")]
    pub fn clear_tiles(&mut self) {
        self.for_each_array_mut(&mut ArrayShape::clear_tiles);
    }

    /// Returns whether every array has a layout. Tokens and opaque values need none.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert!(Shape::parse("(f32[2]{0}, token[])").unwrap().has_layouts());
    /// assert!(!Shape::parse("(f32[2]{0}, f32[2])").unwrap().has_layouts());
    /// ```
    #[doc(alias = "HasLayout")]
    pub fn has_layouts(&self) -> bool {
        let mut all = true;
        self.for_each_array(&mut |array| all &= array.layout.is_some());
        all
    }

    /// Returns whether some array has a layout. XLA also returns true for a token or an opaque value, which has none.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let any = |text| Shape::parse(text).unwrap().has_any_layout();
    /// assert!(any("(f32[2], f32[3]{0})"));
    /// assert!(!any("(f32[2], f32[3])") && !any("token[]"));
    /// ```
    #[doc(alias = "HasAnyLayout")]
    pub fn has_any_layout(&self) -> bool {
        let mut any = false;
        self.for_each_array(&mut |array| any |= array.layout.is_some());
        any
    }

    /// Returns whether the layout of some array sets an element size in bits.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let custom = |text| Shape::parse(text).unwrap().has_custom_element_size();
    /// assert!(custom("(f32[2]{0}, s4[8]{0:E(4)})") && !custom("(f32[2]{0}, s4[8]{0})"));
    /// ```
    #[doc(alias = "HasCustomElementSizeInBits")]
    pub fn has_custom_element_size(&self) -> bool {
        let mut any = false;
        self.for_each_array(&mut |array| any |= array.has_custom_element_size());
        any
    }
}
