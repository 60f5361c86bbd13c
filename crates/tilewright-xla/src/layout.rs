//! XLA's layout: the order of the dims, tiles, alignment, packing and memory space; the tiles; and the shape of an
//! array, which has a layout and which a layout may contain.

use std::fmt;

use tilewright_core::Error;

use crate::PrimitiveType;

/// One entry of a [`Tile`].
///
/// ```
/// use tilewright_xla::{Layout, Tile, TileDim};
/// let tile = Tile::new(&[TileDim::Size(2), TileDim::Combine, TileDim::Size(4)]).unwrap();
/// assert_eq!(tile.to_string(), "(2,*,4)");
/// // The two dims of 3 and 5 are merged to one of 15, which is cut into pieces of 4.
/// let layout = Layout::descending(3).with_tiles(&[tile]);
/// assert_eq!(layout.padded_elements(&[2, 3, 5]), Ok(2 * 16));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileDim {
    /// Cuts into pieces of this extent, 1 or more.
    Size(u64),
    /// `*`: merges into the next more minor dim before that one is cut.
    Combine,
}

/// The extents of a tile, major to minor. They apply to the most minor of the dims that the earlier tiles left; a
/// missing dim counts as 1.
///
/// Source: XLA's `xla/layout.h`; for the meaning of tiles, `docs/tiled_layout.md`.
///
/// ```
/// use tilewright_xla::{Tile, TileDim};
/// let tile = Tile::new(&[TileDim::Size(2), TileDim::Combine, TileDim::Size(128)]).unwrap();
/// assert_eq!(tile.to_string(), "(2,*,128)");
/// assert_eq!(Tile::sizes(&[8, 128]).unwrap().to_string(), "(8,128)");
/// assert!(Tile::sizes(&[8, 0]).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    dims: Vec<TileDim>,
}

impl Tile {
    /// Creates the tile with these entries, major to minor.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a tile without entries, for an extent that is not between 1 and 2⁶³ − 1, and for
    /// `*` as the last entry.
    ///
    /// ```
    /// use tilewright_xla::{Tile, TileDim};
    /// let tile = Tile::new(&[TileDim::Size(8), TileDim::Size(128)]).unwrap();
    /// assert_eq!(tile, Tile::sizes(&[8, 128]).unwrap());
    /// assert!(Tile::new(&[]).unwrap_err().is_illegal());
    /// // Nothing is more minor than the last dim: it cannot be merged.
    /// assert!(Tile::new(&[TileDim::Size(8), TileDim::Combine]).unwrap_err().is_illegal());
    /// ```
    pub fn new(dims: &[TileDim]) -> Result<Tile, Error> {
        Tile::of(dims.to_vec())
    }

    pub(crate) fn of(dims: Vec<TileDim>) -> Result<Tile, Error> {
        for (at, &dim) in dims.iter().enumerate() {
            check_dim(at, dim)?;
        }
        match dims.last() {
            None => Err(Error::illegal("a tile has no dims", [], "give at least one extent")),
            Some(TileDim::Combine) => Err(Error::illegal(
                "`*` is the last of the {} dims of a tile",
                [dims.len() as i128],
                "`*` merges a dim into the next more minor one; end the tile with an extent",
            )),
            Some(TileDim::Size(_)) => Ok(Tile { dims }),
        }
    }

    /// Creates the tile with these extents, major to minor, without `*`.
    ///
    /// # Errors
    /// Those of [`Tile::new`].
    ///
    /// ```
    /// use tilewright_xla::Tile;
    /// assert_eq!(Tile::sizes(&[8, 128]).unwrap().to_string(), "(8,128)");
    /// assert!(Tile::sizes(&[8, 0]).unwrap_err().is_illegal());
    /// ```
    pub fn sizes(sizes: &[u64]) -> Result<Tile, Error> {
        Tile::new(&sizes.iter().map(|&size| TileDim::Size(size)).collect::<Vec<_>>())
    }

    /// Returns the entries, major to minor; the list is never empty, and its last entry is an extent.
    ///
    /// ```
    /// use tilewright_xla::{Layout, TileDim};
    /// let layout = Layout::parse("{2,1,0:T(8,*,128)}").unwrap();
    /// assert_eq!(layout.tiles()[0].dims(), [TileDim::Size(8), TileDim::Combine, TileDim::Size(128)]);
    /// ```
    pub fn dims(&self) -> &[TileDim] {
        &self.dims
    }
}

pub(crate) fn check_dim(at: usize, dim: TileDim) -> Result<(), Error> {
    match dim {
        TileDim::Size(size) if size == 0 || size > i64::MAX as u64 => Err(Error::illegal(
            "extent {} of dim {} of a tile",
            [size.into(), at as i128],
            "an extent is 1 to 2^63 - 1",
        )),
        TileDim::Size(_) | TileDim::Combine => Ok(()),
    }
}

impl fmt::Display for TileDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileDim::Size(size) => write!(f, "{size}"),
            TileDim::Combine => f.write_str("*"),
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.dims)?;
        f.write_str(")")
    }
}

/// Writes items with commas between them.
pub(crate) fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

/// The split of one *physical* dim (major first) over several memories.
///
/// Source: `xla_data.proto`, `SplitConfigProto`.
///
/// ```
/// use tilewright_xla::{Layout, Split};
/// // Physical dim 0 in pieces 0..2, 2..4 and the rest.
/// let split = Split { dimension: 0, indices: vec![2, 4] };
/// let layout = Layout::descending(1).with_splits(&[split]);
/// assert_eq!(layout.to_string(), "{0:SC(0:2,4)}");
/// assert_eq!(layout.validate(&[9]), Ok(()));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// The physical dim, counted from the most major.
    pub dimension: u64,
    /// The indices at which a new piece begins, ascending.
    pub indices: Vec<u64>,
}

/// A layout as XLA writes it, `{1,0:T(8,128)(2,1)E(4)}`.
///
/// A layout does not contain the dims: [`Layout::lower`] and similar methods take them. `==` compares every property
/// as written, as XLA's does. To compare two layouts as *maps*, compare what they lower to.
///
/// Source: XLA's `xla/layout.h` and `xla_data.proto`, `LayoutProto`.
///
/// ```
/// use tilewright_xla::{Layout, Tile};
/// let layout = Layout::new(&[1, 0])
///     .unwrap()
///     .with_tiles(&[Tile::sizes(&[8, 128]).unwrap(), Tile::sizes(&[2, 1]).unwrap()])
///     .with_memory_space(1)
///     .unwrap();
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)S(1)}");
/// assert_eq!(Layout::parse("{1,0:T(8,128)(2,1)S(1)}").unwrap(), layout);
/// assert!(Layout::new(&[0, 0]).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    minor_to_major: Vec<u64>,
    tiles: Vec<Tile>,
    tail_padding_alignment: u64,
    element_size_in_bits: u64,
    memory_space: u64,
    splits: Vec<Split>,
    dynamic_metadata_prefix_bytes: u64,
    index_type: Option<PrimitiveType>,
    pointer_type: Option<PrimitiveType>,
    physical_shape: Option<Box<ArrayShape>>,
}

/// One dim of an [`ArrayShape`].
///
/// Source: XLA's `xla/shape.h`: dynamic and unbounded dimensions.
///
/// ```
/// use tilewright_xla::{ArrayShape, Dim};
/// let shape = ArrayShape::parse("s32[<=8,128,?]").unwrap();
/// assert_eq!(shape.dims()[0], Dim::Bounded(8));
/// // Storage uses the bound; without one there is no storage.
/// assert!(shape.extents().unwrap_err().is_unsupported());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A fixed extent.
    Static(u64),
    /// `<=n`: any extent up to this bound; storage uses the bound.
    Bounded(u64),
    /// `?`: any extent, without storage.
    Unbounded,
}

/// The shape of an array as HLO text writes it: `f32[<=8,128]{1,0:T(8,128)}`.
///
/// An absent layout stays absent. XLA's parser fills in the default one; [`ArrayShape::layout_or_default`] does so on
/// demand. The plain layout `{}` of a scalar is not printed, so it reads back as absent.
///
/// Source: XLA's `xla/shape.h`; for the text, `xla/hlo/parser/hlo_parser.cc`.
///
/// ```
/// use tilewright_xla::{ArrayShape, Dim, PrimitiveType};
/// let shape = ArrayShape::parse("f32[<=23,44,?]").unwrap();
/// assert_eq!(shape.element_type(), PrimitiveType::F32);
/// assert_eq!(shape.dims(), [Dim::Bounded(23), Dim::Static(44), Dim::Unbounded]);
/// assert_eq!(shape.layout(), None);
/// assert_eq!(shape.to_string(), "f32[<=23,44,?]");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    pub(crate) element_type: PrimitiveType,
    pub(crate) dims: Vec<Dim>,
    pub(crate) layout: Option<Layout>,
}

impl Layout {
    /// Creates the untiled layout whose dims, fastest first, are `minor_to_major`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless `minor_to_major` is a permutation of 0 … rank − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// // Dim 1 varies fastest: row-major.
    /// assert_eq!(Layout::new(&[1, 0]).unwrap(), Layout::descending(2));
    /// assert!(Layout::new(&[1, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "MakeLayout")]
    pub fn new(minor_to_major: &[u64]) -> Result<Layout, Error> {
        match misplaced(minor_to_major) {
            Some((_, error)) => Err(error),
            None => Ok(Layout::untiled(minor_to_major.to_vec())),
        }
    }

    /// Creates the row-major layout of rank `rank`, XLA's default: `{n-1,…,1,0}`.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert_eq!(Layout::descending(3).to_string(), "{2,1,0}");
    /// assert_eq!(Layout::descending(0).to_string(), "{}");
    /// ```
    #[doc(alias = "row_major")]
    #[doc(alias = "MakeDescendingLayout")]
    #[doc(alias = "GetDefaultLayoutForShape")]
    #[doc(alias = "GetDefaultLayoutForRank")]
    #[doc(alias = "GetDefaultLayoutForR2")]
    #[doc(alias = "GetDefaultLayoutForR3")]
    #[doc(alias = "GetDefaultLayoutForR4")]
    pub fn descending(rank: usize) -> Layout {
        Layout::untiled((0..rank as u64).rev().collect())
    }

    /// Creates the column-major layout of rank `rank`: `{0,1,…,n-1}`.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert_eq!(Layout::ascending(3).to_string(), "{0,1,2}");
    /// ```
    #[doc(alias = "col_major")]
    #[doc(alias = "MakeAscendingLayout")]
    pub fn ascending(rank: usize) -> Layout {
        Layout::untiled((0..rank as u64).collect())
    }

    /// Creates the untiled layout of an order that is known to be legal.
    pub(crate) fn untiled(minor_to_major: Vec<u64>) -> Layout {
        Layout {
            minor_to_major,
            tiles: Vec::new(),
            tail_padding_alignment: 1,
            element_size_in_bits: 0,
            memory_space: 0,
            splits: Vec::new(),
            dynamic_metadata_prefix_bytes: 0,
            index_type: None,
            pointer_type: None,
            physical_shape: None,
        }
    }

    /// Returns this layout with these tiles, the outermost first.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Tile};
    /// // The layout of 16-bit matrices on TPUs.
    /// let tiles = [Tile::sizes(&[8, 128]).unwrap(), Tile::sizes(&[2, 1]).unwrap()];
    /// assert_eq!(Layout::descending(2).with_tiles(&tiles).to_string(), "{1,0:T(8,128)(2,1)}");
    /// ```
    pub fn with_tiles(self, tiles: &[Tile]) -> Layout {
        self.tiled(tiles.to_vec())
    }

    pub(crate) fn tiled(mut self, tiles: Vec<Tile>) -> Layout {
        self.tiles = tiles;
        self
    }

    /// Returns this layout with the storage rounded up to a multiple of `elements`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless `elements` is 1 to 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::descending(1).with_tail_padding_alignment(1024).unwrap();
    /// assert_eq!((layout.to_string(), layout.padded_elements(&[300])), ("{0:L(1024)}".into(), Ok(1024)));
    /// assert!(layout.with_tail_padding_alignment(0).unwrap_err().is_illegal());
    /// ```
    pub fn with_tail_padding_alignment(mut self, elements: u64) -> Result<Layout, Error> {
        if elements == 0 {
            return Err(Error::illegal(
                "a tail padding alignment of 0 elements",
                [],
                "1 means none",
            ));
        }
        self.tail_padding_alignment = checked("a tail padding alignment of {} elements", elements)?;
        Ok(self)
    }

    /// Returns this layout with elements of `bits` bits; 0 means the type's default, whole bytes.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Layout, PrimitiveType};
    /// let packed = Layout::descending(1).with_element_size_in_bits(4).unwrap();
    /// let mut shape = ArrayShape::new(PrimitiveType::S4, &[100]);
    /// assert_eq!(shape.bytes(), Ok(100));
    /// shape.set_layout(Some(packed.clone()));
    /// assert_eq!((shape.to_string(), shape.bytes()), ("s4[100]{0:E(4)}".into(), Ok(50)));
    /// assert!(packed.with_element_size_in_bits(u64::MAX).unwrap_err().is_illegal());
    /// ```
    pub fn with_element_size_in_bits(mut self, bits: u64) -> Result<Layout, Error> {
        self.element_size_in_bits = checked("an element size of {} bits", bits)?;
        Ok(self)
    }

    /// Returns this layout in another memory space; 0 is the default one.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::descending(2).with_memory_space(1).unwrap();
    /// assert_eq!(layout.to_string(), "{1,0:S(1)}");
    /// assert!(layout.with_memory_space(u64::MAX).unwrap_err().is_illegal());
    /// ```
    pub fn with_memory_space(mut self, space: u64) -> Result<Layout, Error> {
        self.memory_space = checked("memory space {}", space)?;
        Ok(self)
    }

    /// Returns this layout split over several memories; [`Layout::validate`] checks the splits against dims.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Split};
    /// let halves = Split { dimension: 0, indices: vec![4] };
    /// let layout = Layout::descending(2).with_splits(&[halves]);
    /// assert_eq!(layout.validate(&[8, 16]), Ok(()));
    /// // The second piece would begin after the end.
    /// assert!(layout.validate(&[4, 16]).is_err());
    /// ```
    pub fn with_splits(mut self, splits: &[Split]) -> Layout {
        self.splits = splits.to_vec();
        self
    }

    /// Returns this layout with `bytes` bytes before the data, which hold the actual sizes of dynamic dims.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::descending(1).with_dynamic_metadata_prefix_bytes(4).unwrap();
    /// assert_eq!(layout.to_string(), "{0:M(4)}");
    /// assert!(layout.with_dynamic_metadata_prefix_bytes(u64::MAX).unwrap_err().is_illegal());
    /// ```
    pub fn with_dynamic_metadata_prefix_bytes(mut self, bytes: u64) -> Result<Layout, Error> {
        self.dynamic_metadata_prefix_bytes = checked("a metadata prefix of {} bytes", bytes)?;
        Ok(self)
    }

    /// Returns this layout with indices of this type, `#(u32)`; `None` for none. No element moves.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a type that is not an unsigned integer.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let layout = Layout::descending(1).with_index_type(Some(PrimitiveType::U32)).unwrap();
    /// assert_eq!((layout.to_string(), layout.index_type()), ("{0:#(u32)}".into(), Some(PrimitiveType::U32)));
    /// assert!(Layout::descending(1).with_index_type(Some(PrimitiveType::F32)).unwrap_err().is_illegal());
    /// ```
    pub fn with_index_type(mut self, index: Option<PrimitiveType>) -> Result<Layout, Error> {
        self.index_type = unsigned(index, "an index type of the number {}")?;
        Ok(self)
    }

    /// Returns this layout with pointers of this type, `*(u16)`; `None` for none. No element moves.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a type that is not an unsigned integer.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let layout = Layout::descending(1).with_pointer_type(Some(PrimitiveType::U16)).unwrap();
    /// assert_eq!((layout.to_string(), layout.pointer_type()), ("{0:*(u16)}".into(), Some(PrimitiveType::U16)));
    /// assert!(Layout::descending(1).with_pointer_type(Some(PrimitiveType::S8)).unwrap_err().is_illegal());
    /// ```
    pub fn with_pointer_type(mut self, pointer: Option<PrimitiveType>) -> Result<Layout, Error> {
        self.pointer_type = unsigned(pointer, "a pointer type of the number {}")?;
        Ok(self)
    }

    /// Returns the type of the indices; `None` if the layout has none.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let index = |text| Layout::parse(text).unwrap().index_type();
    /// assert_eq!((index("{0:#(u8)}"), index("{0}")), (Some(PrimitiveType::U8), None));
    /// ```
    #[doc(alias = "index_primitive_type")]
    pub fn index_type(&self) -> Option<PrimitiveType> {
        self.index_type
    }

    /// Returns the type of the pointers; `None` if the layout has none.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let pointer = |text| Layout::parse(text).unwrap().pointer_type();
    /// assert_eq!((pointer("{0:*(u16)}"), pointer("{0}")), (Some(PrimitiveType::U16), None));
    /// ```
    #[doc(alias = "pointer_primitive_type")]
    pub fn pointer_type(&self) -> Option<PrimitiveType> {
        self.pointer_type
    }

    /// Returns this layout with the shape of a sparse array in memory, `P(s32[10]{0})`; `None` for none. Sparse arrays
    /// are not supported, so no [`ArrayShape`] is read with such a layout.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Layout};
    /// let physical = ArrayShape::parse("s32[10,20]{1,0}").unwrap();
    /// let layout = Layout::ascending(2).with_physical_shape(Some(physical));
    /// assert_eq!(layout.to_string(), "{0,1:P(s32[10,20]{1,0})}");
    /// assert!(ArrayShape::parse(&format!("f32[2,2]{layout}")).is_err());
    /// ```
    pub fn with_physical_shape(mut self, shape: Option<ArrayShape>) -> Layout {
        self.physical_shape = shape.map(Box::new);
        self
    }

    /// Returns the shape of a sparse array in memory; `None` if the layout has none.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let physical = |text| Layout::parse(text).unwrap().physical_shape().map(|it| it.to_string());
    /// assert_eq!((physical("{0:P(s32[9])}"), physical("{0}")), (Some("s32[9]".into()), None));
    /// ```
    pub fn physical_shape(&self) -> Option<&ArrayShape> {
        self.physical_shape.as_deref()
    }

    /// Returns the dims, fastest-varying first.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// // NHWC in memory for dims declared as NCHW.
    /// let nhwc = Layout::parse("{1,3,2,0}").unwrap();
    /// assert_eq!(nhwc.minor_to_major(), [1, 3, 2, 0]);
    /// ```
    #[doc(alias = "MinorToMajor")]
    pub fn minor_to_major(&self) -> &[u64] {
        &self.minor_to_major
    }

    /// Returns the number of dims.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// // The extents of a tile are not dims of the array.
    /// assert_eq!(Layout::parse("{0:T(8,128)}").unwrap().rank(), 1);
    /// ```
    pub fn rank(&self) -> usize {
        self.minor_to_major.len()
    }

    /// Returns the tiles, the outermost first.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Tile};
    /// let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
    /// assert_eq!(layout.tiles(), [Tile::sizes(&[8, 128]).unwrap(), Tile::sizes(&[2, 1]).unwrap()]);
    /// ```
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Returns the number of elements of which the storage is a multiple; 1 by default.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let alignment = |text| Layout::parse(text).unwrap().tail_padding_alignment();
    /// assert_eq!((alignment("{0:L(1024)}"), alignment("{0}")), (1024, 1));
    /// ```
    pub fn tail_padding_alignment(&self) -> u64 {
        self.tail_padding_alignment
    }

    /// Returns the bits of one stored element; 0 for the type's default, whole bytes.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let bits = |text| Layout::parse(text).unwrap().element_size_in_bits();
    /// assert_eq!((bits("{0:E(4)}"), bits("{0}")), (4, 0));
    /// ```
    pub fn element_size_in_bits(&self) -> u64 {
        self.element_size_in_bits
    }

    /// Returns the memory space; 0 is the default one.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let space = |text| Layout::parse(text).unwrap().memory_space();
    /// assert_eq!((space("{0:S(1)}"), space("{0}")), (1, 0));
    /// ```
    pub fn memory_space(&self) -> u64 {
        self.memory_space
    }

    /// Returns the splits of physical dims over several memories.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Split};
    /// let layout = Layout::parse("{1,0:SC(0:2)(1:4,8)}").unwrap();
    /// assert_eq!(layout.splits()[1], Split { dimension: 1, indices: vec![4, 8] });
    /// ```
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// Returns the number of bytes before the data that hold the actual sizes of dynamic dims.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let prefix = |text| Layout::parse(text).unwrap().dynamic_metadata_prefix_bytes();
    /// assert_eq!((prefix("{0:M(4)}"), prefix("{0}")), (4, 0));
    /// ```
    pub fn dynamic_metadata_prefix_bytes(&self) -> u64 {
        self.dynamic_metadata_prefix_bytes
    }

    fn properties(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tiles.is_empty() {
            f.write_str("T")?;
            self.tiles.iter().try_for_each(|tile| write!(f, "{tile}"))?;
        }
        property(f, "L", self.tail_padding_alignment, 1)?;
        for (sign, element) in [("#", self.index_type), ("*", self.pointer_type)] {
            if let Some(element) = element {
                write!(f, "{sign}({})", element.name())?;
            }
        }
        property(f, "E", self.element_size_in_bits, 0)?;
        property(f, "S", self.memory_space, 0)?;
        if !self.splits.is_empty() {
            f.write_str("SC")?;
            self.splits.iter().try_for_each(|split| write!(f, "{split}"))?;
        }
        if let Some(shape) = &self.physical_shape {
            write!(f, "P({shape})")?;
        }
        property(f, "M", self.dynamic_metadata_prefix_bytes, 0)
    }

    fn is_plain(&self) -> bool {
        let numbers = (
            self.tail_padding_alignment,
            self.element_size_in_bits,
            self.memory_space,
            self.dynamic_metadata_prefix_bytes,
        );
        let types = (self.index_type, self.pointer_type);
        let lists =
            self.tiles.is_empty() && self.splits.is_empty() && self.physical_shape.is_none();
        lists && numbers == (1, 0, 0, 0) && types == (None, None)
    }
}

/// Returns the first entry because of which an order is not a permutation, and the error.
pub(crate) fn misplaced(minor_to_major: &[u64]) -> Option<(usize, Error)> {
    // For up to 63 entries, one bit each: all bits set means that each occurs once.
    let rank = minor_to_major.len();
    let bits = minor_to_major.iter().fold(0u64, |bits, &dim| bits | 1 << dim.min(63));
    if rank < 64 && bits == (1 << rank) - 1 {
        return None;
    }
    let mut seen = vec![false; minor_to_major.len()];
    for (at, &dim) in minor_to_major.iter().enumerate() {
        let slot = usize::try_from(dim).ok().and_then(|dim| seen.get_mut(dim));
        let message = match slot {
            None => "dim {} at position {} of a minor_to_major of {}: out of range",
            Some(true) => "dim {} at position {} of a minor_to_major of {}: named twice",
            Some(slot) => {
                *slot = true;
                continue;
            }
        };
        let numbers = [dim.into(), at as i128, minor_to_major.len() as i128];
        return Some((at, Error::illegal(message, numbers, "it names each dim once, from 0 on")));
    }
    None
}

/// Checks that a type is an unsigned integer.
fn unsigned(
    element: Option<PrimitiveType>,
    message: &'static str,
) -> Result<Option<PrimitiveType>, Error> {
    match element {
        Some(element) if !element.name().starts_with('u') => Err(Error::illegal(
            message,
            [element.number().into()],
            "it must be an unsigned integer, such as u32",
        )),
        element => Ok(element),
    }
}

/// Returns `value` if it fits XLA's signed 64 bits.
fn checked(message: &'static str, value: u64) -> Result<u64, Error> {
    match i64::try_from(value) {
        Ok(_) => Ok(value),
        Err(_) => Err(Error::illegal(message, [value.into()], "at most 2^63 - 1")),
    }
}

fn property(f: &mut fmt::Formatter<'_>, name: &str, value: u64, default: u64) -> fmt::Result {
    if value == default { Ok(()) } else { write!(f, "{name}({value})") }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        write_list(f, &self.indices)?;
        f.write_str(")")
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        write_list(f, &self.minor_to_major)?;
        if !self.is_plain() {
            f.write_str(":")?;
            self.properties(f)?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setters_refuse_what_no_layout_has() {
        let plain = Layout::descending(2);
        assert!(plain.clone().with_tail_padding_alignment(0).unwrap_err().is_illegal());
        assert!(plain.clone().with_tail_padding_alignment(u64::MAX).unwrap_err().is_illegal());
        assert!(plain.clone().with_element_size_in_bits(1 << 63).unwrap_err().is_illegal());
        assert!(plain.clone().with_memory_space(1 << 63).unwrap_err().is_illegal());
        assert!(
            plain.clone().with_dynamic_metadata_prefix_bytes(1 << 63).unwrap_err().is_illegal()
        );
        assert!(Layout::new(&[0, 2]).unwrap_err().to_string().contains("dim 2 at position 1"));
        assert!(Layout::new(&[u64::MAX]).unwrap_err().is_illegal());
    }

    #[test]
    fn properties_print_in_xlas_order() {
        let tiles = [Tile::sizes(&[42, 123]).unwrap(), Tile::sizes(&[4, 5]).unwrap()];
        let layout = Layout::descending(4)
            .with_splits(&[Split { dimension: 0, indices: vec![3] }])
            .with_dynamic_metadata_prefix_bytes(7)
            .and_then(|layout| layout.with_memory_space(3))
            .and_then(|layout| layout.with_element_size_in_bits(42))
            .and_then(|layout| layout.with_tail_padding_alignment(100))
            .unwrap()
            .with_tiles(&tiles);
        assert_eq!(layout.to_string(), "{3,2,1,0:T(42,123)(4,5)L(100)E(42)S(3)SC(0:3)M(7)}");
    }

    #[test]
    fn a_tile_without_meaning_is_refused() {
        assert!(Tile::new(&[]).unwrap_err().is_illegal());
        assert!(Tile::sizes(&[u64::MAX]).unwrap_err().is_illegal());
        let error = Tile::new(&[TileDim::Size(2), TileDim::Combine]).unwrap_err();
        assert!(error.is_illegal() && error.to_string().contains("last of the 2 dims"));
        assert!(Tile::sizes(&[i64::MAX as u64]).is_ok());
    }
}
