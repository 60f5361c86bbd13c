//! Comparison of layouts and shapes: equal apart from what [`Ignore`] lists, compatible, of the same structure, and equal in
//! their stored bytes however they are written. A layout is compared with itself without tiles, too.
//!
//! Law: shapes of equal dims are semantically equal iff every element has the same bits at the same position, in
//! storages of equal length. `E` at the natural width therefore equals none, a tile without effect equals no tile, and
//! two spellings of one order of the elements are equal.

use tilewright_core::Error;

use crate::{ArrayShape, Dim, Layout, Shape, ShapeKind, Split, permutation::index};

/// The properties that a comparison of layouts or shapes ignores; none by default.
///
/// Source: XLA's `Shape::Equal` and `Layout::Equal`, in `xla/shape.h` and `xla/layout.h`.
///
/// ```
/// use tilewright_xla::{Ignore, Layout};
/// let (a, b) = (Layout::parse("{0,1:T(42,44)}").unwrap(), Layout::parse("{0,1}").unwrap());
/// assert!(!a.equal(&b, Ignore::NOTHING));
/// assert!(a.equal(&b, Ignore { tiles: true, ..Ignore::NOTHING }));
/// assert!(a.equal(&b, Ignore::ALL_BUT_ORDER));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ignore {
    /// Whole layouts. The fields up to `index_types` concern parts of a layout.
    #[doc(alias = "IgnoreLayout")]
    pub layout: bool,
    /// Tiles.
    #[doc(alias = "IgnoreTilesInLayout")]
    pub tiles: bool,
    /// Element sizes in bits, as they are written.
    #[doc(alias = "IgnoreElementSizeInLayout")]
    pub element_size: bool,
    /// Memory spaces.
    #[doc(alias = "IgnoreMemorySpaceInLayout")]
    pub memory_space: bool,
    /// Tail padding alignments.
    #[doc(alias = "IgnoreTailPaddingAlignmentInElements")]
    pub tail_padding: bool,
    /// Splits over memories.
    #[doc(alias = "IgnoreSplitConfigInLayout")]
    pub splits: bool,
    /// Metadata prefixes. XLA never compares them.
    pub metadata_prefix: bool,
    /// Types of indices and pointers, and physical shapes. XLA's `Equal` compares all of them.
    #[doc(alias = "IgnoreIndexPrimitiveType")]
    #[doc(alias = "IgnorePointerPrimitiveType")]
    pub index_types: bool,
    /// Element types.
    #[doc(alias = "IgnoreElementType")]
    pub element_type: bool,
    /// The precision of floating-point types.
    #[doc(alias = "IgnoreFpPrecision")]
    pub fp_precision: bool,
    /// The dynamic flag of a dim; an unbounded dim then equals any dim.
    #[doc(alias = "IgnoreDynamicDimension")]
    pub dynamic: bool,
    /// Extents; the ranks are still compared.
    #[doc(alias = "IgnoreDimensions")]
    pub dimensions: bool,
    /// The difference between an array and a buffer of it.
    #[doc(alias = "IgnoreBuffer")]
    pub buffer: bool,
}

impl Ignore {
    /// Compares everything, as `==` does.
    pub const NOTHING: Ignore = Ignore {
        layout: false,
        tiles: false,
        element_size: false,
        memory_space: false,
        tail_padding: false,
        splits: false,
        metadata_prefix: false,
        index_types: false,
        element_type: false,
        fp_precision: false,
        dynamic: false,
        dimensions: false,
        buffer: false,
    };
    /// Compares what XLA's `Equal` compares: everything except metadata prefixes.
    pub const METADATA_PREFIX: Ignore = Ignore { metadata_prefix: true, ..Ignore::NOTHING };
    /// Compares only the order of the dims of a layout.
    #[doc(alias = "MinorToMajorOnlyInLayout")]
    pub const ALL_BUT_ORDER: Ignore = Ignore {
        tiles: true,
        element_size: true,
        memory_space: true,
        tail_padding: true,
        splits: true,
        metadata_prefix: true,
        index_types: true,
        ..Ignore::NOTHING
    };
    /// XLA's compatibility: layouts and dynamic flags are ignored.
    #[doc(alias = "Compatible")]
    pub const LAYOUT_AND_DYNAMIC: Ignore =
        Ignore { layout: true, dynamic: true, ..Ignore::NOTHING };
}

impl Layout {
    /// Returns whether both have the same properties, as written, apart from the ignored ones. To compare the offsets of
    /// elements, see [`ArrayShape::semantically_equal`](crate::ArrayShape::semantically_equal).
    ///
    /// ```
    /// use tilewright_xla::{Ignore, Layout};
    /// let (near, far) = (Layout::parse("{0:S(1)}").unwrap(), Layout::parse("{0:S(3)}").unwrap());
    /// assert!(near.equal(&far, Ignore { memory_space: true, ..Ignore::NOTHING }));
    /// assert!(!near.equal(&far, Ignore { tiles: true, ..Ignore::NOTHING }));
    /// ```
    #[doc(alias = "Equal")]
    pub fn equal(&self, other: &Layout, ignore: Ignore) -> bool {
        ignore.layout
            || self.minor_to_major() == other.minor_to_major()
                && (ignore.tiles || self.tiles() == other.tiles())
                && (ignore.element_size
                    || self.element_size_in_bits() == other.element_size_in_bits())
                && (ignore.memory_space || self.memory_space() == other.memory_space())
                && (ignore.tail_padding
                    || self.tail_padding_alignment() == other.tail_padding_alignment())
                && (ignore.splits || self.splits() == other.splits())
                && (ignore.index_types
                    || (self.index_type(), self.pointer_type(), self.physical_shape())
                        == (other.index_type(), other.pointer_type(), other.physical_shape()))
                && (ignore.metadata_prefix
                    || self.dynamic_metadata_prefix_bytes()
                        == other.dynamic_metadata_prefix_bytes())
    }
}

impl ArrayShape {
    /// Returns whether both are written alike, apart from the ignored properties.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Ignore};
    /// let (a, b) = (ArrayShape::parse("f32[4,3]{1,0}").unwrap(), ArrayShape::parse("bf16[4,3]{1,0}").unwrap());
    /// assert!(!a.equal(&b, Ignore::NOTHING));
    /// assert!(a.equal(&b, Ignore { fp_precision: true, ..Ignore::NOTHING }));
    /// ```
    #[doc(alias = "Equal")]
    pub fn equal(&self, other: &ArrayShape, ignore: Ignore) -> bool {
        let types = ignore.element_type
            || self.same_element_type(other)
            || ignore.fp_precision && self.same_element_type_ignoring_fp_precision(other);
        let layouts = ignore.layout
            || match (&self.layout, &other.layout) {
                (Some(a), Some(b)) => a.equal(b, ignore),
                (a, b) => a.is_none() == b.is_none(),
            };
        types && layouts && self.same_rank(other) && dims_equal(&self.dims, &other.dims, ignore)
    }

    /// Returns whether both have the same type and dims; layouts and dynamic flags are ignored.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[23,44]{1,0}").compatible(&shape("f32[<=23,44]{0,1}")));
    /// assert!(!shape("f32[23,44]").compatible(&shape("f32[23,45]")));
    /// ```
    #[doc(alias = "Compatible")]
    pub fn compatible(&self, other: &ArrayShape) -> bool {
        self.equal(other, Ignore::LAYOUT_AND_DYNAMIC)
    }

    /// Returns whether values of this shape fit where `bounded` is expected: the ranks are equal, and no dim exceeds its
    /// bound. The element types are not compared.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert!(shape("f32[2,3]").dynamic_compatible(&shape("f32[<=4,3]")));
    /// assert!(!shape("f32[5,3]").dynamic_compatible(&shape("f32[<=4,3]")));
    /// ```
    #[doc(alias = "DynamicArrayShapeIsCompatible")]
    pub fn dynamic_compatible(&self, bounded: &ArrayShape) -> bool {
        let below = |(&dim, &bound): (&Dim, &Dim)| match (dim, bound) {
            (_, Dim::Unbounded) => true,
            (Dim::Unbounded, _) => false,
            (
                Dim::Static(extent) | Dim::Bounded(extent),
                Dim::Static(bound) | Dim::Bounded(bound),
            ) => extent <= bound,
        };
        self.same_rank(bounded) && self.dims.iter().zip(&bounded.dims).all(below)
    }
}

/// Returns whether dims of one rank are equal.
fn dims_equal(a: &[Dim], b: &[Dim], ignore: Ignore) -> bool {
    let extent = crate::shape_util::extent;
    let equal = |(&a, &b): (&Dim, &Dim)| {
        let dynamic = ignore.dynamic || std::mem::discriminant(&a) == std::mem::discriminant(&b);
        let free = ignore.dynamic && (extent(a).is_none() || extent(b).is_none());
        dynamic && (ignore.dimensions || free || extent(a) == extent(b))
    };
    a.iter().zip(b).all(equal)
}

impl Shape {
    /// Returns whether both are written alike, apart from the ignored properties.
    ///
    /// ```
    /// use tilewright_xla::{Ignore, Shape};
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// let (a, b) = (shape("(f32[2]{0}, b(s8[3]))"), shape("(f32[2]{0}, s8[3])"));
    /// assert!(!a.equal(&b, Ignore::NOTHING));
    /// assert!(a.equal(&b, Ignore { buffer: true, ..Ignore::NOTHING }));
    /// ```
    #[doc(alias = "Equal")]
    #[doc(alias = "EqualIgnoringElementType")]
    #[doc(alias = "EqualIgnoringFpPrecision")]
    pub fn equal(&self, other: &Shape, ignore: Ignore) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), other.kind()) {
            (Array(a), Array(b)) | (Buffer(a), Buffer(b)) => a.equal(b, ignore),
            (Array(a), Buffer(b)) | (Buffer(a), Array(b)) => ignore.buffer && a.equal(b, ignore),
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equal(b, ignore))
            }
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }

    /// Returns whether both have the same structure, types and dims; layouts and dynamic flags are ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2]{0})").compatible(&shape("(f32[<=2])")));
    /// assert!(!shape("token[]").compatible(&shape("f32[]")));
    /// ```
    #[doc(alias = "Compatible")]
    pub fn compatible(&self, other: &Shape) -> bool {
        self.equal(other, Ignore::LAYOUT_AND_DYNAMIC)
    }

    /// Compares like [`Shape::compatible`], and ignores the element types.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2]{0})").compatible_ignoring_element_type(&shape("(s8[2])")));
    /// assert!(!shape("(f32[2])").compatible_ignoring_element_type(&shape("(f32[3])")));
    /// ```
    #[doc(alias = "CompatibleIgnoringElementType")]
    pub fn compatible_ignoring_element_type(&self, other: &Shape) -> bool {
        self.equal(other, Ignore { element_type: true, ..Ignore::LAYOUT_AND_DYNAMIC })
    }

    /// Compares like [`Shape::compatible`], and ignores differences between floating-point types.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2])").compatible_ignoring_fp_precision(&shape("(bf16[2])")));
    /// assert!(!shape("(f32[2])").compatible_ignoring_fp_precision(&shape("(s32[2])")));
    /// ```
    #[doc(alias = "CompatibleIgnoringFpPrecision")]
    pub fn compatible_ignoring_fp_precision(&self, other: &Shape) -> bool {
        self.equal(other, Ignore { fp_precision: true, ..Ignore::LAYOUT_AND_DYNAMIC })
    }

    /// Returns whether both are of one kind (array, tuple, token, opaque or buffer), and so are the members of tuples;
    /// types and dims are ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2], token[])").compatible_kind(&shape("(f32[3,4], token[])")));
    /// assert!(!shape("(f32[2])").compatible_kind(&shape("(token[])")));
    /// ```
    #[doc(alias = "CompatibleKind")]
    pub fn compatible_kind(&self, other: &Shape) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), other.kind()) {
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible_kind(b))
            }
            (Array(_), Array(_)) | (Buffer(_), Buffer(_)) => true,
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }

    /// Returns whether the tuples of both have the same structure; anything that is not a tuple is ignored.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert!(shape("(f32[2], token[])").equal_structure(&shape("(s8[], f32[9])")));
    /// assert!(!shape("(f32[2])").equal_structure(&shape("f32[2]")));
    /// ```
    #[doc(alias = "EqualStructure")]
    pub fn equal_structure(&self, other: &Shape) -> bool {
        match (self.tuple_shapes(), other.tuple_shapes()) {
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equal_structure(b))
            }
            (a, b) => a.is_none() == b.is_none(),
        }
    }

    /// Compares each pair of arrays of shapes of one structure, by [`ArrayShape::dynamic_compatible`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// // The result of an execution, against the shape that the program promised.
    /// assert!(shape("(f32[5], token[])").dynamic_compatible(&shape("(f32[<=8], token[])")));
    /// assert!(!shape("(f32[9], token[])").dynamic_compatible(&shape("(f32[<=8], token[])")));
    /// ```
    #[doc(alias = "DynamicShapeIsCompatible")]
    pub fn dynamic_compatible(&self, bounded: &Shape) -> bool {
        use ShapeKind::{Array, Buffer, Opaque, Token, Tuple};
        match (self.kind(), bounded.kind()) {
            (Array(a), Array(b)) | (Buffer(a), Buffer(b)) => a.dynamic_compatible(b),
            (Tuple(a), Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.dynamic_compatible(b))
            }
            (Token, Token) | (Opaque, Opaque) => true,
            (Array(_) | Buffer(_) | Tuple(_) | Token | Opaque, _) => false,
        }
    }
}

impl ArrayShape {
    /// Returns whether two shapes of equal element types and dims are stored as the same bytes; `==` compares how they
    /// are written. Memory spaces, metadata prefixes and splits are compared; an absent layout is the row-major one. Shapes
    /// that are written alike are equal whatever they contain, unbounded dims included.
    ///
    /// [`ArrayShape::reshape_is_bitcast`] compares shapes of different dims.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::lower`]; [undecided](Error::is_undecided) as in
    /// [`same_function`](tilewright_core::TensorLayout::same_function), never a guess.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let same = |a: &str, b: &str| {
    ///     ArrayShape::parse(a).unwrap().semantically_equal(&ArrayShape::parse(b).unwrap())
    /// };
    /// assert_eq!(same("f32[2]{0:E(32)}", "f32[2]{0}"), Ok(true));
    /// assert_eq!(same("f32[16,128]{1,0:T(8,128)}", "f32[16,128]"), Ok(true));
    /// assert_eq!(same("f32[16,129]{1,0:T(8,128)}", "f32[16,129]"), Ok(false));
    /// assert!(same("f32[?]", "f32[?]{0:T(8)}").unwrap_err().is_unsupported());
    /// ```
    pub fn semantically_equal(&self, other: &ArrayShape) -> Result<bool, Error> {
        if self == other {
            return Ok(true);
        }
        if self.element_type != other.element_type || self.dims != other.dims {
            return Ok(false);
        }
        if !self.same_storage(other)? || splits(self) != splits(other) {
            return Ok(false);
        }
        same_map(&self.layout_or_default(), &other.layout_or_default(), &self.extents()?)
    }

    /// Returns whether elements have the same width, and the storages the same length, memory and metadata prefix.
    pub(crate) fn same_storage(&self, other: &ArrayShape) -> Result<bool, Error> {
        let (a, b) = (self.layout_or_default(), other.layout_or_default());
        Ok(self.element_bits()? == other.element_bits()?
            && a.padded_elements(&self.extents()?)? == b.padded_elements(&other.extents()?)?
            && a.memory_space() == b.memory_space()
            && a.dynamic_metadata_prefix_bytes() == b.dynamic_metadata_prefix_bytes())
    }
}

/// Returns the splits by logical dim.
fn splits(shape: &ArrayShape) -> Vec<(u64, Vec<u64>)> {
    let layout = shape.layout_or_default();
    let order = layout.major_to_minor();
    let logical = |split: &Split| {
        let dim = order.get(index(split.dimension)).copied().unwrap_or(u64::MAX);
        (dim, split.indices.clone())
    };
    let mut splits: Vec<(u64, Vec<u64>)> = layout.splits().iter().map(logical).collect();
    tilewright_core::sort_short(&mut splits, Clone::clone);
    splits
}

/// Returns whether two layouts send every index of an array to the same offset.
fn same_map(a: &Layout, b: &Layout, dims: &[u64]) -> Result<bool, Error> {
    if dims.contains(&0) || a.minor_to_major() == b.minor_to_major() && a.tiles() == b.tiles() {
        return Ok(true);
    }
    if a.tiles().is_empty() && b.tiles().is_empty() {
        let long = |layout: &Layout| -> Vec<u64> {
            let order = layout.minor_to_major().iter().copied();
            order.filter(|&dim| dims.get(index(dim)) != Some(&1)).collect()
        };
        return Ok(long(a) == long(b));
    }
    a.lower(dims)?.same_function(&b.lower(dims)?)
}

impl Layout {
    /// Returns whether arrays of these dims are stored as without the tiles: the same order, no padding. The alignment of
    /// the tail is ignored.
    ///
    /// # Errors
    /// Those of [`Layout::lower`]; [undecided](Error::is_undecided) as in
    /// [`same_function`](tilewright_core::TensorLayout::same_function).
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let tiled = |text: &str| Layout::parse(text).unwrap();
    /// assert_eq!(tiled("{1,0:T(8,128)}").is_untiled(&[24, 128]), Ok(true));
    /// assert_eq!(tiled("{1,0:T(1,128)}").is_untiled(&[4, 256]), Ok(true));
    /// assert_eq!(tiled("{2,1,0:T(8,128)}").is_untiled(&[2, 3, 4]), Ok(false));
    /// ```
    #[doc(alias = "IsUntiledLayout")]
    pub fn is_untiled(&self, dims: &[u64]) -> Result<bool, Error> {
        self.validate(dims)?;
        if self.tiles().is_empty() {
            return Ok(true);
        }
        let plain = Layout::new(self.minor_to_major())?;
        let tiled = plain.clone().with_tiles(self.tiles());
        if tiled.padded_elements(dims)? != plain.padded_elements(dims)? {
            return Ok(false);
        }
        same_map(&tiled, &plain, dims)
    }
}
