//! Shapes on a host, without the properties that only devices use.

use tilewright_core::Error;

use crate::{ArrayShape, Layout, Shape, TileDim};

impl ArrayShape {
    /// Returns whether a host can hold such arrays: without tiles, alignment, element size, memory space, metadata prefix,
    /// and without splits, which XLA does not check.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let host = |text: &str| ArrayShape::parse(text).unwrap().is_host_shape();
    /// assert!(host("s4[8,4]{0,1}") && host("s4[8]"));
    /// assert!(!host("s4[8]{0:E(4)}") && !host("f32[8]{0:SC(0:3)}"));
    /// ```
    #[doc(alias = "DeviceShapeIsHostShape")]
    pub fn is_host_shape(&self) -> bool {
        self.layout.as_ref().is_none_or(|layout| Some(layout) == plain(layout).as_ref())
    }

    /// Returns the array as a host holds it: only the order of the dims is kept of the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[8,4]{0,1:T(2,2)L(64)E(4)S(1)SC(0:2)M(8)}").unwrap();
    /// assert_eq!(shape.to_host_shape().to_string(), "s4[8,4]{0,1}");
    /// ```
    #[doc(alias = "DeviceShapeToHostShape")]
    pub fn to_host_shape(&self) -> ArrayShape {
        ArrayShape { layout: self.layout.as_ref().and_then(plain), ..self.clone() }
    }

    /// Returns how many rows share a word in a 1-D array of three tile levels, as TPUs have for narrow types: the outer
    /// extent of the third tile.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for any other layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("bf16[1024]{0:T(1024)(128)(2,1)}").unwrap();
    /// assert_eq!(shape.packed_factor_for_1d_interleaved_array(), Ok(2));
    /// let shape = ArrayShape::parse("bf16[1024]{0:T(1024)}").unwrap();
    /// assert!(shape.packed_factor_for_1d_interleaved_array().unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "PackedFactorFor1DInterleavedArray")]
    pub fn packed_factor_for_1d_interleaved_array(&self) -> Result<u64, Error> {
        let tiles = self.layout.as_ref().map_or(&[][..], Layout::tiles);
        if let ([_], [_, _, third]) = (self.dims.as_slice(), tiles)
            && let Some(TileDim::Size(factor)) = third.dims().first()
        {
            return Ok(*factor);
        }
        Err(Error::unsupported(
            "an array of {} dims and {} tiles does not interleave rows",
            [self.dims.len() as i128, tiles.len() as i128],
            "it has one dim and three tiles, as in T(1024)(128)(2,1)",
        ))
    }
}

/// Returns the layout with the order alone.
fn plain(layout: &Layout) -> Option<Layout> {
    Layout::new(layout.minor_to_major()).ok()
}

impl Shape {
    /// Returns whether a host can hold every array; see [`ArrayShape::is_host_shape`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let host = |text| Shape::parse(text).unwrap().is_host_shape();
    /// assert!(host("(f32[8,128]{0,1}, token[])"));
    /// // Tiles exist only on the device.
    /// assert!(!host("(f32[8,128]{0,1:T(8,128)}, token[])"));
    /// ```
    #[doc(alias = "DeviceShapeIsHostShape")]
    pub fn is_host_shape(&self) -> bool {
        let mut all = true;
        self.for_each_array(&mut |array| all &= array.is_host_shape());
        all
    }

    /// Returns the shape with every array as a host holds it; see [`ArrayShape::to_host_shape`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[8,4]{0,1:T(2,2)}, token[])").unwrap().to_host_shape();
    /// assert_eq!(shape.to_string(), "(f32[8,4]{0,1}, token[])");
    /// assert!(shape.is_host_shape());
    /// ```
    #[doc(alias = "DeviceShapeToHostShape")]
    pub fn to_host_shape(&self) -> Shape {
        let mut shape = self.clone();
        shape.for_each_array_mut(&mut |array| *array = array.to_host_shape());
        shape
    }
}
