//! Sizes in elements and in bytes, and distances between neighbours along a dim, if they are constant.
//!
//! Law: `bytes = ⌈capacity · element bits / 8⌉`, where the capacity is that of the exact layout: every tile pads, and
//! so does the alignment, with or without tiles.

use tilewright_core::{Error, MAX_MODES, Mode, Place, TensorLayout};

use super::dimension_number;
use crate::{
    ArrayShape, Dim, Layout, PrimitiveType, Shape, ShapeKind,
    index_util::{self, Indexer},
    permutation::index,
};

/// The number of offsets that are searched from the end of a storage whose last element cannot be computed.
const SEARCH: u64 = 1 << 20;

/// The error of an element type without values, such as a tuple.
pub(crate) fn no_values() -> Error {
    Error::unsupported(
        "a type without values of its own has an unknown width",
        [],
        "arrays hold numbers or booleans",
    )
}

/// Returns the bytes of a tuple's table of `members` pointers of `pointer_bytes` bytes each.
///
/// # Errors
/// [illegal](Error::is_illegal) for pointers of 0 bytes; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
///
/// ```
/// use tilewright_xla::shape_util::tuple_index_table_bytes;
/// assert_eq!(tuple_index_table_bytes(3, 8), Ok(24));
/// assert!(tuple_index_table_bytes(3, 0).unwrap_err().is_illegal());
/// ```
#[doc(alias = "ByteSizeOfTupleIndexTable")]
pub fn tuple_index_table_bytes(members: u64, pointer_bytes: u64) -> Result<u64, Error> {
    if pointer_bytes == 0 {
        return Err(Error::illegal(
            "a table of {} pointers of 0 bytes",
            [members.into()],
            "give the number of bytes of a pointer",
        ));
    }
    fits(u128::from(members) * u128::from(pointer_bytes))
}

fn fits(bytes: u128) -> Result<u64, Error> {
    u64::try_from(bytes).ok().filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(|| {
        Error::overflow(
            "{} bytes or more",
            [i128::try_from(bytes).unwrap_or(i128::MAX)],
            "a size is at most 2^63 - 1 bytes",
        )
    })
}

impl ArrayShape {
    /// Returns the number of elements; a bounded dim counts its bound.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let elements = |text: &str| ArrayShape::parse(text).unwrap().elements();
    /// assert_eq!((elements("f32[13,17]"), elements("f32[3,0]"), elements("f32[]")), (Ok(221), Ok(0), Ok(1)));
    /// assert!(elements("f32[?]").unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "ElementsIn")]
    pub fn elements(&self) -> Result<u64, Error> {
        index_util::count(&self.extents()?)
    }

    /// Returns the product of the static and bounded dims.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// assert_eq!(ArrayShape::parse("f32[?,<=3,5]").unwrap().static_extent_product(), Ok(15));
    /// let huge = ArrayShape::parse("f32[4294967296,4294967296]").unwrap();
    /// assert!(huge.static_extent_product().unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "StaticExtentProduct")]
    pub fn static_extent_product(&self) -> Result<u64, Error> {
        let bound = |dim: &Dim| match *dim {
            Dim::Static(extent) | Dim::Bounded(extent) => Some(extent),
            Dim::Unbounded => None,
        };
        index_util::count(&self.dims.iter().filter_map(bound).collect::<Vec<_>>())
    }

    /// Returns the bits of one stored element: the layout's element size, or the type's default of whole bytes.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type without values.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let bits = |text: &str| ArrayShape::parse(text).unwrap().element_bits();
    /// assert_eq!((bits("s4[8]"), bits("s4[8]{0:E(4)}"), bits("pred[8]{0:E(32)}")), (Ok(8), Ok(4), Ok(32)));
    /// ```
    #[doc(alias = "ElementSizeInBits")]
    pub fn element_bits(&self) -> Result<u64, Error> {
        let natural = self.element_type.storage_bits().ok_or_else(no_values)?;
        let said = self.layout.as_ref().map_or(0, Layout::element_size_in_bits);
        Ok(if said == 0 { natural.into() } else { said })
    }

    /// Returns the bytes of the elements alone, without any padding, like XLA's `ByteSizeOf`. [`ArrayShape::bytes`] is
    /// the size of the storage.
    ///
    /// # Errors
    /// Those of [`ArrayShape::elements`] and [`ArrayShape::element_bits`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[3,5]{1,0:T(2,2)}").unwrap();
    /// assert_eq!((shape.unpadded_bytes(), shape.bytes()), (Ok(60), Ok(96)));
    /// ```
    #[doc(alias = "ByteSizeOfElements")]
    pub fn unpadded_bytes(&self) -> Result<u64, Error> {
        bytes_of(self.elements()?, self.element_bits()?)
    }

    /// Returns the bytes of the largest piece of the storage, or of all of it if it is not split. Every tile pads, and
    /// so does the alignment.
    ///
    /// # Errors
    /// Those of [`ArrayShape::bytes`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let size = |text: &str| ArrayShape::parse(text).unwrap().array_size();
    /// assert_eq!(size("f32[6,4]{1,0:T(3,4)(2,1)}"), Ok(128));
    /// assert_eq!(size("f32[8,4]{1,0:SC(0:5)}"), Ok(80));
    /// ```
    #[doc(alias = "ArraySize")]
    pub fn array_size(&self) -> Result<u64, Error> {
        let piece = self.max_split_sizes()?;
        self.layout_or_default().with_splits(&[]).bytes(&piece, self.element_type)
    }

    /// Returns the bytes up to and including the last element of the storage.
    ///
    /// # Errors
    /// Those of [`ArrayShape::last_offset`] and [`ArrayShape::element_bits`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let size = |text: &str| ArrayShape::parse(text).unwrap().array_data_size();
    /// assert_eq!(size("f32[6,4]{1,0:T(3,4)(2,1)}"), Ok(4 * 31));
    /// assert_eq!(size("f32[16,0]{1,0:T(8,128)}"), Ok(0));
    /// ```
    #[doc(alias = "ArrayDataSize")]
    pub fn array_data_size(&self) -> Result<u64, Error> {
        bytes_of(self.last_offset()?.map_or(0, |last| last + 1), self.element_bits()?)
    }

    /// Returns the largest offset of an element; `None` if the array is empty. The last index may have a smaller
    /// offset.
    ///
    /// # Errors
    /// Those of [`Indexer::of`]; [undecided](Error::is_undecided) if tiles do not divide one another and more than 2²⁰
    /// elements of padding end the storage.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[7,8]{1,0:T(2,4)(2,1,1,1)}").unwrap();
    /// assert_eq!((shape.last_offset(), shape.linear_index(&[6, 7])), (Ok(Some(62)), Ok(55)));
    /// ```
    pub fn last_offset(&self) -> Result<Option<u64>, Error> {
        let indexer = Indexer::of(self)?;
        match self.layout_or_default().lower(indexer.dims()) {
            _ if indexer.capacity() == 0 => Ok(None),
            Ok(tensor) if tensor.is_strided() => Ok(Some(strided_last(&tensor))),
            _ => search_last(&indexer),
        }
    }
}

/// Returns the largest offset of a strided array that is not empty.
fn strided_last(tensor: &TensorLayout) -> u64 {
    let axes = tensor.extents().iter().enumerate();
    let last = |(axis, &extent): (usize, &u64)| {
        largest(tensor.layout().axis(axis).unwrap_or(&[]), extent.saturating_sub(1))
    };
    axes.map(last).sum()
}

/// Returns the largest offset of the coordinates up to `last` along one axis. If a digit is less than that of the last
/// coordinate, all digits below it are free; the maximum then has that digit one less and full digits below.
fn largest(modes: &[Mode], last: u64) -> u64 {
    let stride = |mode: &Mode| u64::try_from(mode.stride()).unwrap_or(0);
    let (mut digits, mut rest) = ([0u64; MAX_MODES], last);
    for (at, (digit, mode)) in digits.iter_mut().zip(modes).enumerate() {
        let top = at + 1 == modes.len();
        *digit = if top { rest } else { rest % mode.extent().max(1) };
        rest /= mode.extent().max(1);
    }
    let (mut best, mut full) = (0, 0);
    for (mode, digit) in modes.iter().zip(digits) {
        // `best` over the digits below: either as in `last`, or all full under a smaller digit here.
        let kept = best + digit * stride(mode);
        best = if digit > 0 { kept.max(full + (digit - 1) * stride(mode)) } else { kept };
        full += mode.extent().saturating_sub(1) * stride(mode);
    }
    best
}

fn search_last(indexer: &Indexer) -> Result<Option<u64>, Error> {
    let last = indexer.capacity();
    let mut tail = (last.saturating_sub(SEARCH)..last).rev();
    match tail.find(|&offset| matches!(indexer.locate(offset), Place::Element(_))) {
        Some(offset) => Ok(Some(offset)),
        None => Err(Error::undecided(
            "no element in the last {} of {} elements of storage",
            [SEARCH.into(), last.into()],
            "let nested tiles divide one another",
        )),
    }
}

fn bytes_of(elements: u64, bits: u64) -> Result<u64, Error> {
    fits((u128::from(elements) * u128::from(bits)).div_ceil(8))
}

impl PrimitiveType {
    /// Returns the default size of an element in bytes; `None` for a type without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!((PrimitiveType::S4.byte_width(), PrimitiveType::C128.byte_width()), (Some(1), Some(16)));
    /// ```
    #[doc(alias = "ByteWidth")]
    #[doc(alias = "ByteSizeOfPrimitiveType")]
    pub fn byte_width(self) -> Option<u32> {
        self.storage_bits().map(|bits| bits / 8)
    }
}

impl Shape {
    /// Returns the bytes of a value of this shape: the storage of an array with all padding, the table of pointers of a
    /// tuple, one pointer for an opaque value or a buffer, and 0 for a token.
    ///
    /// # Errors
    /// Those of [`ArrayShape::bytes`] and [`tuple_index_table_bytes`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let bytes = |text: &str| Shape::parse(text).unwrap().byte_size(8);
    /// assert_eq!((bytes("f32[3,5]{1,0:T(2,2)}"), bytes("(f32[9], s8[9])"), bytes("token[]")), (Ok(96), Ok(16), Ok(0)));
    /// assert!(Shape::parse("opaque[]").unwrap().byte_size(0).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "ByteSizeOf")]
    pub fn byte_size(&self, pointer_bytes: u64) -> Result<u64, Error> {
        match self.kind() {
            ShapeKind::Array(array) => array.bytes(),
            ShapeKind::Tuple(shapes) => tuple_index_table_bytes(shapes.len() as u64, pointer_bytes),
            ShapeKind::Opaque | ShapeKind::Buffer(_) => tuple_index_table_bytes(1, pointer_bytes),
            ShapeKind::Token => Ok(0),
        }
    }

    /// Returns the number of elements of all arrays, those in tuples and buffers included.
    ///
    /// # Errors
    /// Those of [`ArrayShape::elements`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert_eq!(Shape::parse("(f32[2,3], (s8[4], token[]))").unwrap().elements_recursive(), Ok(10));
    /// let huge = Shape::parse("(f32[4611686018427387904], f32[4611686018427387904])").unwrap();
    /// assert!(huge.elements_recursive().unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "ElementsInRecursive")]
    pub fn elements_recursive(&self) -> Result<u64, Error> {
        let mut counts = Vec::new();
        self.for_each_array(&mut |array| counts.push(array.elements()));
        counts.into_iter().try_fold(0, |sum: u64, count| fits(u128::from(sum) + u128::from(count?)))
    }
}

impl ArrayShape {
    /// Returns the distance in elements between neighbours along a logical dim; negative numbers count from the end. XLA
    /// ignores tiles here.
    ///
    /// A dim with fewer than two coordinates has the stride that more coordinates would have in the untiled array; an empty
    /// dim counts as one of extent 1.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [unsupported](Error::is_unsupported) if tiles
    /// make the distance vary; those of [`Layout::lower`](crate::Layout::lower).
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let stride = |text: &str, dim| ArrayShape::parse(text).unwrap().dimension_stride(dim);
    /// assert_eq!(stride("f32[3,5,7]", 0), Ok(35));
    /// // Whole tiles of one row: exact. Tiles of two: not constant.
    /// assert_eq!(stride("f32[3,5]{1,0:T(8)}", 0), Ok(8));
    /// assert!(stride("f32[3,5]{1,0:T(2,2)}", 0).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "GetDimensionStride")]
    pub fn dimension_stride(&self, dim: i64) -> Result<u64, Error> {
        let at = dimension_number(dim, self.dims.len())?;
        StrideSource::of(self)?.stride(at)
    }

    /// Returns the distance in bytes between neighbours along each logical dim, exact under tiles and element sizes.
    ///
    /// # Errors
    /// Those of [`ArrayShape::dimension_stride`]; [unsupported](Error::is_unsupported) for elements that are not whole
    /// bytes; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let strides = |text: &str| ArrayShape::parse(text).unwrap().byte_strides();
    /// assert_eq!(strides("f32[3,5,7]").unwrap(), [140, 28, 4]);
    /// assert_eq!(strides("pred[3,5]{1,0:E(32)}").unwrap(), [20, 4]);
    /// assert!(strides("s4[3,5]{1,0:E(4)}").unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "ByteStrides")]
    pub fn byte_strides(&self) -> Result<Vec<u64>, Error> {
        let bits = self.element_bits()?;
        if !bits.is_multiple_of(8) {
            return Err(Error::unsupported(
                "byte strides of elements of {} bits",
                [bits.into()],
                "byte strides need whole bytes; use strides in elements",
            ));
        }
        let strides = StrideSource::of(self)?;
        let bytes = |dim: usize| {
            let stride = strides.stride(dim)?;
            stride.checked_mul(bits / 8).filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(
                || {
                    Error::overflow(
                        "a stride of {} elements of {} bits in dim {}",
                        [stride.into(), bits.into(), dim as i128],
                        "a stride is at most 2^63 - 1 bytes",
                    )
                },
            )
        };
        (0..self.dims.len()).map(bytes).collect()
    }
}

/// The data from which the strides of an array are read.
struct StrideSource {
    extents: Vec<u64>,
    /// The strides of the untiled array, with an empty dim as one of extent 1.
    dense: Vec<u64>,
    /// The tiled array, if there are tiles and elements.
    tiled: Option<TensorLayout>,
}

impl StrideSource {
    fn of(shape: &ArrayShape) -> Result<StrideSource, Error> {
        let (extents, layout) = (shape.extents()?, shape.layout_or_default());
        layout.validate(&extents)?;
        index_util::count(&extents)?;
        let (mut dense, mut inner) = (vec![0; extents.len()], 1);
        for &dim in layout.minor_to_major() {
            if let (Some(slot), Some(&extent)) =
                (dense.get_mut(index(dim)), extents.get(index(dim)))
            {
                *slot = inner;
                inner *= extent.max(1);
            }
        }
        let plain = layout.tiles().is_empty() || extents.contains(&0);
        let tiled = if plain { None } else { Some(layout.lower(&extents)?) };
        Ok(StrideSource { extents, dense, tiled })
    }

    fn stride(&self, dim: usize) -> Result<u64, Error> {
        let extent = self.extents.get(dim).copied().unwrap_or(0);
        match &self.tiled {
            Some(tensor) if extent > 1 && !tensor.is_strided() => Err(Error::unsupported(
                "dim {} is not strided: the tiles that cut it do not divide one another",
                [dim as i128],
                "use an indexer for offsets",
            )),
            Some(tensor) if extent > 1 => {
                one_stride(dim, extent, tensor.layout().axis(dim).unwrap_or(&[]))
            }
            _ => Ok(self.dense.get(dim).copied().unwrap_or(0)),
        }
    }
}

/// Returns the single stride of the digits of a dim of this extent, 2 or more.
fn one_stride(dim: usize, extent: u64, modes: &[Mode]) -> Result<u64, Error> {
    let (mut below, mut stride) = (1u128, None);
    for mode in modes.iter().filter(|mode| mode.extent() > 1) {
        if below >= u128::from(extent) {
            break;
        }
        let first = *stride.get_or_insert(mode.stride());
        if i128::from(mode.stride()) != i128::from(first) * below as i128 {
            return Err(varies(dim, first, mode.stride(), below));
        }
        below *= u128::from(mode.extent());
    }
    Ok(stride.and_then(|stride| u64::try_from(stride).ok()).unwrap_or(0))
}

fn varies(dim: usize, first: i64, then: i64, at: u128) -> Error {
    Error::unsupported(
        "dim {} has no single stride: {} elements between neighbours, but coordinate {} is at {}",
        [dim as i128, first.into(), at as i128, then.into()],
        "tiles cut it; use an indexer for offsets",
    )
}
