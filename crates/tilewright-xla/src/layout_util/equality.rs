//! Equality of layouts with some properties ignored.

use crate::Layout;

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
