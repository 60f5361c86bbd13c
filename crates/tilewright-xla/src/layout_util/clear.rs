//! Queries for the presence of layouts; removal of layouts and tiles.

use crate::{ArrayShape, Layout, Shape};

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
