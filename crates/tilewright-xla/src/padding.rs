//! The padding of the original proto: `padded_dimensions` and `padding_value`, as `pad(3,5)fill(0)`, alone ([`Padded`])
//! and together with the shape of its array as one value ([`PaddedShape`]).
//!
//! [`PaddingValue`] is the value of the padding as an enum of the proto.
//!
//! Law: the offset of a coordinate is its offset in an array whose dims are the widths; `padded[i] ≥ dims[i]`.

use std::fmt;

use tilewright_core::{Error, Fill, ParseError, TensorLayout};

use crate::{
    ArrayShape, Dim, Layout, PrimitiveType, layout,
    text::{self, Cursor},
};

/// The width in memory of each logical dim, and the value of the cells after a dim's data.
///
/// XLA removed both in 2018; layouts written before still mean this. Padding is not part of the shape: it changes only
/// offsets and sizes.
///
/// Source: XLA's `xla_data.proto` until 2018, `padded_dimensions` and `padding_value`.
///
/// ```
/// use tilewright_core::Fill;
/// use tilewright_xla::{Layout, Padded};
/// let padded = Padded::parse("pad(3,5)fill(0)").unwrap();
/// assert_eq!((padded.widths(), padded.fill()), (&[3, 5][..], Fill::Zero));
/// let tensor = padded.lower(&[2, 3], &Layout::ascending(2)).unwrap();
/// assert_eq!((tensor.offset(&[1, 2]), tensor.capacity()), (Ok(7), 15));
/// assert!(padded.lower(&[4, 3], &Layout::ascending(2)).unwrap_err().is_illegal());
/// ```
#[must_use]
#[doc(alias = "PaddedDimensions")]
#[doc(alias = "PaddedDimension")]
#[doc(alias = "GetPaddingValue")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Padded {
    pub(crate) widths: Vec<u64>,
    pub(crate) fill: Fill,
}

impl Padded {
    /// Creates a padding of each dim to a width.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::Padded;
    /// assert_eq!(Padded::new(&[3, 5], Fill::Zero).to_string(), "pad(3,5)fill(0)");
    /// ```
    pub fn new(widths: &[u64], fill: Fill) -> Padded {
        Padded { widths: widths.to_vec(), fill }
    }

    /// Returns the width *to* which each logical dim is padded.
    ///
    /// ```
    /// assert_eq!(tilewright_xla::Padded::parse("pad(3,5)").unwrap().widths(), [3, 5]);
    /// ```
    pub fn widths(&self) -> &[u64] {
        &self.widths
    }

    /// Returns the fill of the padding.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// assert_eq!(tilewright_xla::Padded::parse("pad(3,5)fill(0)").unwrap().fill(), Fill::Zero);
    /// ```
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// Reads `pad(3,5)` or `pad(3,5)fill(0)`; fills are `0`, `one`, `lowest`, `highest`, `unknown` and `0x` with hex
    /// digits.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault; a fill without `pad` is an error.
    ///
    /// ```
    /// use tilewright_xla::Padded;
    /// assert_eq!(Padded::parse("pad(3, 5) fill(lowest)").unwrap().to_string(), "pad(3,5)fill(lowest)");
    /// assert!(Padded::parse("fill(0)").unwrap_err().to_string().contains("without `pad`"));
    /// ```
    pub fn parse(text: &str) -> Result<Padded, ParseError> {
        text::whole(text, read)
    }

    /// Returns whether a width exceeds its dim.
    ///
    /// ```
    /// use tilewright_xla::Padded;
    /// let padded = Padded::parse("pad(3,5)").unwrap();
    /// assert!(padded.is_padded(&[2, 5]) && !padded.is_padded(&[3, 5]));
    /// ```
    pub fn is_padded(&self, dims: &[u64]) -> bool {
        self.widths.iter().zip(dims).any(|(width, dim)| width > dim)
    }

    /// Checks that arrays of these dims can have this padding.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of widths than dims;
    /// [illegal](Error::is_illegal) for a width smaller than its dim.
    ///
    /// ```
    /// use tilewright_xla::Padded;
    /// let padded = Padded::parse("pad(3,5)").unwrap();
    /// assert_eq!(padded.validate(&[2, 3]), Ok(()));
    /// assert!(padded.validate(&[2]).unwrap_err().is_mismatch());
    /// assert!(padded.validate(&[4, 3]).unwrap_err().is_illegal());
    /// ```
    pub fn validate(&self, dims: &[u64]) -> Result<(), Error> {
        if self.widths.len() != dims.len() {
            return Err(Error::mismatch(
                "layout has {} padded dimensions, but shape is rank {}",
                [self.widths.len() as i128, dims.len() as i128],
                "pad must give the padded width of every dim",
            ));
        }
        for (at, (&width, &dim)) in self.widths.iter().zip(dims).enumerate() {
            if width < dim {
                return Err(Error::illegal(
                    "dim {} is padded to {}, smaller than the dimension size {}",
                    [at as i128, width.into(), dim.into()],
                    "pad gives the width a dim is padded to, not by",
                ));
            }
        }
        Ok(())
    }

    /// Lowers to a map from coordinates to offsets: that of an array of the padded widths, in `layout`'s order. An empty
    /// array keeps its padded cells.
    ///
    /// # Errors
    /// Those of [`Padded::validate`] and [`Layout::validate`]; [unsupported](Error::is_unsupported) for a layout with
    /// tiles or alignment, which are newer than this padding; [overflow](Error::is_overflow) beyond 2⁶³ − 1 cells.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Padded};
    /// let padded = Padded::parse("pad(3,5)fill(0)").unwrap();
    /// // Columns of two, stored three apart.
    /// let tensor = padded.lower(&[2, 3], &Layout::parse("{0,1}").unwrap()).unwrap();
    /// assert_eq!((tensor.layout().to_string().as_str(), tensor.padding()), ("(3,5):(1,3)", 9));
    /// let tiled = Layout::parse("{0,1:T(2,2)}").unwrap();
    /// assert!(padded.lower(&[2, 3], &tiled).unwrap_err().is_unsupported());
    /// ```
    pub fn lower(&self, dims: &[u64], layout: &Layout) -> Result<TensorLayout, Error> {
        layout.validate(dims)?;
        self.validate(dims)?;
        if !layout.tiles().is_empty() || layout.tail_padding_alignment() != 1 {
            return Err(Error::unsupported(
                "padded widths together with {} tiles and a tail alignment of {}",
                [layout.tiles().len() as i128, layout.tail_padding_alignment().into()],
                "pad by widths or by tiles, not both",
            ));
        }
        let cells = TensorLayout::ordered(&self.widths, layout.minor_to_major())?;
        TensorLayout::new(dims, cells.layout(), cells.capacity())
    }
}

/// Reads a fill: `0`, `one`, `lowest`, `highest`, `unknown`, or `0x` and hex digits.
///
/// # Errors
/// A [`ParseError`] with the byte span at fault.
///
/// ```
/// use tilewright_core::Fill;
/// use tilewright_xla::parse_fill;
/// assert_eq!(parse_fill("0x7fc0"), Ok(Fill::Bits(0x7fc0)));
/// assert!(parse_fill("zero").unwrap_err().nearest() == Some("0"));
/// ```
pub fn parse_fill(text: &str) -> Result<Fill, ParseError> {
    text::whole(text, fill)
}

/// Returns the text of a fill that [`parse_fill`] reads; `None` if nothing is promised.
///
/// ```
/// use tilewright_core::Fill;
/// use tilewright_xla::{fill_text, parse_fill};
/// assert_eq!(fill_text(Fill::Lowest).as_deref(), Some("lowest"));
/// assert_eq!(fill_text(Fill::Unspecified), None);
/// assert_eq!(parse_fill(&fill_text(Fill::Bits(0x7fc0)).unwrap()).unwrap(), Fill::Bits(0x7fc0));
/// ```
pub fn fill_text(fill: Fill) -> Option<String> {
    (fill != Fill::Unspecified).then(|| fill.to_string())
}

fn read(cursor: &mut Cursor<'_>) -> Result<Padded, ParseError> {
    let (name, span) = cursor.letters();
    match name {
        "pad" => {}
        "fill" => {
            return Err(ParseError::new(
                span,
                "a fill without `pad`: there is nothing to fill",
                [],
            ));
        }
        _ => {
            let span = if name.is_empty() { cursor.next_span() } else { span };
            return Err(ParseError::new(span, "expected `pad(…)`, the width of every dim", []));
        }
    }
    let widths = widths(cursor)?;
    let mut padded = Padded { widths, fill: Fill::Unspecified };
    if cursor.eat("fill") {
        cursor.expect("(", "expected `(`")?;
        padded.fill = fill(cursor)?;
        cursor.expect(")", "expected `)`")?;
    }
    Ok(padded)
}

fn widths(cursor: &mut Cursor<'_>) -> Result<Vec<u64>, ParseError> {
    cursor.expect("(", "expected `(`")?;
    let mut widths = Vec::new();
    if cursor.eat(")") {
        return Ok(widths);
    }
    loop {
        widths.push(cursor.integer("expected the width that a dim is padded to")?.0);
        if !cursor.eat(",") {
            cursor.expect(")", "expected `,` or `)`")?;
            return Ok(widths);
        }
    }
}

fn fill(cursor: &mut Cursor<'_>) -> Result<Fill, ParseError> {
    let (word, span) = cursor.word();
    let span = if word.is_empty() { cursor.next_span() } else { span };
    cursor.spanned(span).parse().map_err(|error: ParseError| error.shifted(span.0))
}

impl fmt::Display for Padded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pad(")?;
        layout::write_list(f, &self.widths)?;
        f.write_str(")")?;
        match fill_text(self.fill) {
            Some(fill) => write!(f, "fill({fill})"),
            None => Ok(()),
        }
    }
}

impl std::str::FromStr for Padded {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Padded, ParseError> {
        Padded::parse(text)
    }
}

/// The value of the elements that pad an array.
///
/// Source: XLA's `xla_data.proto` until 2018, `PaddingValue`.
///
/// ```
/// use tilewright_core::Fill;
/// use tilewright_xla::PaddingValue;
/// assert_eq!((PaddingValue::Zero.number(), PaddingValue::Zero.name()), (1, "ZERO_PAD"));
/// assert_eq!(Fill::from(PaddingValue::Lowest), Fill::Lowest);
/// assert_eq!(PaddingValue::try_from(Fill::One), Ok(PaddingValue::One));
/// // The enum has no value for a pattern of bits.
/// assert!(PaddingValue::try_from(Fill::Bits(0x7fc0)).unwrap_err().is_unsupported());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaddingValue {
    /// No promise.
    #[default]
    Invalid = 0,
    /// Zero.
    Zero = 1,
    /// One.
    One = 2,
    /// The lowest value of the element type.
    Lowest = 3,
    /// The highest value of the element type.
    Highest = 4,
    /// Arbitrary values.
    Unknown = 5,
}

/// Each value with its name and its fill, by number.
const ALL: [(PaddingValue, &str, Fill); 6] = [
    (PaddingValue::Invalid, "INVALID_PAD", Fill::Unspecified),
    (PaddingValue::Zero, "ZERO_PAD", Fill::Zero),
    (PaddingValue::One, "ONE_PAD", Fill::One),
    (PaddingValue::Lowest, "LOWEST_PAD", Fill::Lowest),
    (PaddingValue::Highest, "HIGHEST_PAD", Fill::Highest),
    (PaddingValue::Unknown, "UNKNOWN_PAD", Fill::Unknown),
];

impl PaddingValue {
    /// Returns the number in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::Unknown.number(), 5);
    /// ```
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the name in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::Highest.name(), "HIGHEST_PAD");
    /// ```
    pub const fn name(self) -> &'static str {
        ALL[self as usize].1
    }

    /// Returns the value with this number in the proto.
    ///
    /// ```
    /// use tilewright_xla::PaddingValue;
    /// assert_eq!(PaddingValue::from_number(2), Some(PaddingValue::One));
    /// assert_eq!(PaddingValue::from_number(6), None);
    /// ```
    pub fn from_number(number: i32) -> Option<PaddingValue> {
        let at = usize::try_from(number).ok()?;
        ALL.get(at).map(|&(value, ..)| value)
    }
}

impl From<PaddingValue> for Fill {
    fn from(value: PaddingValue) -> Fill {
        ALL[value as usize].2
    }
}

/// # Errors
/// [unsupported](Error::is_unsupported) for a pattern of bits.
impl TryFrom<Fill> for PaddingValue {
    type Error = Error;

    fn try_from(fill: Fill) -> Result<PaddingValue, Error> {
        let found = ALL.iter().find(|(.., other)| *other == fill).map(|&(value, ..)| value);
        found.ok_or_else(|| {
            Error::unsupported(
                "`PaddingValue` cannot express a pattern of bits",
                [],
                "use zero, one, lowest, highest or unknown",
            )
        })
    }
}

/// The shape of an array whose dims are padded to widths, and the value of the padding:
/// `f32[2,3]{0,1}pad(3,5)fill(0)`.
///
/// The constructors check it: its dims are static, its storage takes fewer than 2⁶³ bytes, and its rank is at most that
/// of a [`TensorLayout`].
///
/// Source: XLA's `xla_data.proto` until 2018, `Layout` with `padded_dimensions` and `padding_value`.
///
/// ```
/// use tilewright_xla::{ArrayShape, PaddedShape, PaddingValue};
/// let shape = ArrayShape::parse("f32[2,3]{0,1}").unwrap();
/// let padded = PaddedShape::new(&shape, &[3, 5], PaddingValue::Zero).unwrap();
/// assert_eq!(padded.to_string(), "f32[2,3]{0,1}pad(3,5)fill(0)");
/// assert_eq!((padded.capacity(), padded.tensor().offset(&[1, 2])), (15, Ok(7)));
/// // A width is the padded size of a dim.
/// assert!(PaddedShape::new(&shape, &[1, 5], PaddingValue::Zero).unwrap_err().is_illegal());
/// ```
#[doc(alias = "padded_dimensions")]
#[doc(alias = "padding_value")]
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaddedShape {
    element_type: PrimitiveType,
    extents: Vec<u64>,
    layout: Layout,
    padded: Padded,
    tensor: TensorLayout,
    bytes: u64,
}

impl PaddedShape {
    /// Creates the array `shape` with each dim padded to a width.
    ///
    /// # Errors
    /// Those of [`PaddedShape::with_padding`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PaddedShape, PaddingValue};
    /// let shape = ArrayShape::parse("f32[2,3]").unwrap();
    /// let padded = PaddedShape::new(&shape, &[3, 5], PaddingValue::Lowest).unwrap();
    /// assert_eq!(padded.padding_value(), Some(PaddingValue::Lowest));
    /// assert!(PaddedShape::new(&shape, &[3], PaddingValue::Zero).unwrap_err().is_mismatch());
    /// ```
    pub fn new(
        shape: &ArrayShape,
        widths: &[u64],
        value: PaddingValue,
    ) -> Result<PaddedShape, Error> {
        PaddedShape::with_padding(shape, Padded::new(widths, value.into()))
    }

    /// Creates the array `shape` with this padding, whose fill may be a pattern of bits.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for dims that are not static; [overflow](Error::is_overflow) beyond 2⁶³ − 1
    /// bytes; those of [`ArrayShape::validate`] and [`Padded::lower`].
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::{ArrayShape, Padded, PaddedShape};
    /// let (shape, pad) = (ArrayShape::parse("bf16[2,3]").unwrap(), Padded::parse("pad(2,4)fill(0x7fc0)").unwrap());
    /// let padded = PaddedShape::with_padding(&shape, pad).unwrap();
    /// assert_eq!((padded.fill(), padded.padding_value()), (Fill::Bits(0x7fc0), None));
    /// ```
    pub fn with_padding(shape: &ArrayShape, padded: Padded) -> Result<PaddedShape, Error> {
        shape.validate()?;
        let (extents, layout) = (shape.extents()?, shape.layout_or_default());
        if let Some(dim) = shape.dims.iter().position(|dim| !matches!(dim, Dim::Static(_))) {
            let why = "only static dims are padded to widths";
            return Err(Error::unsupported("dim {} is dynamic", [dim as i128], why));
        }
        let tensor = padded.lower(&extents, &layout)?;
        let bytes = layout.bytes(&padded.widths, shape.element_type)?;
        Ok(PaddedShape { element_type: shape.element_type, extents, layout, padded, tensor, bytes })
    }

    /// Reads `f32[2,3]{0,1}pad(3,5)fill(0)`, with optional white space between the parts.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("f32[2,3] pad(3,5)").unwrap().to_string(), "f32[2,3]{1,0}pad(3,5)");
    /// assert_eq!(PaddedShape::parse("f32[2,3]").unwrap_err().span(), (8, 8));
    /// ```
    pub fn parse(text: &str) -> Result<PaddedShape, ParseError> {
        let (shape, end) = ArrayShape::parse_prefix(text)?;
        let padded = Padded::parse(text.get(end..).unwrap_or(""));
        let padded = padded.map_err(|error| error.shifted(end))?;
        PaddedShape::with_padding(&shape, padded)
            .map_err(|error| ParseError::refused((0, text.len()), error))
    }

    /// Returns the type of an element.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, PrimitiveType};
    /// let padded = PaddedShape::parse("s8[2,3]pad(3,5)").unwrap();
    /// assert_eq!(padded.element_type(), PrimitiveType::S8);
    /// ```
    pub fn element_type(&self) -> PrimitiveType {
        self.element_type
    }

    /// Returns the extents of the array, without padding.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().extents(), [2, 3]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the width to which each dim is padded.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().widths(), [3, 5]);
    /// ```
    #[doc(alias = "PaddedDimensions")]
    pub fn widths(&self) -> &[u64] {
        &self.padded.widths
    }

    /// Returns the layout, which gives the order of the dims.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("s8[2,3]{0,1}pad(3,5)").unwrap();
    /// assert!(padded.layout().is_dim0_minor());
    /// ```
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the widths and the fill.
    #[cfg(feature = "proto")]
    pub(crate) fn padding(&self) -> &Padded {
        &self.padded
    }

    /// Returns the fill of the padding.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)fill(one)").unwrap().fill(), Fill::One);
    /// ```
    pub fn fill(&self) -> Fill {
        self.padded.fill
    }

    /// Returns the fill of the padding as the proto's enum; `None` for a pattern of bits, which the proto lacks.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, PaddingValue};
    /// let value = |text| PaddedShape::parse(text).unwrap().padding_value();
    /// assert_eq!(value("s8[2,3]pad(3,5)fill(one)"), Some(PaddingValue::One));
    /// assert_eq!(value("s8[2,3]pad(3,5)"), Some(PaddingValue::Invalid));
    /// assert_eq!(value("s8[2,3]pad(3,5)fill(0x7)"), None);
    /// ```
    #[doc(alias = "GetPaddingValue")]
    pub fn padding_value(&self) -> Option<PaddingValue> {
        PaddingValue::try_from(self.padded.fill).ok()
    }

    /// Returns the length of the storage in elements, padding included.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// assert_eq!(PaddedShape::parse("s8[2,3]pad(3,5)").unwrap().capacity(), 15);
    /// ```
    pub fn capacity(&self) -> u64 {
        self.tensor.capacity()
    }

    /// Returns the size of the storage in bytes, padding included.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("f32[10,20]{0,1}pad(15,21)").unwrap();
    /// assert_eq!(padded.bytes(), 15 * 21 * 4);
    /// ```
    #[doc(alias = "ByteSizeOf")]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether a width exceeds its extent.
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let is_padded = |text| PaddedShape::parse(text).unwrap().is_padded();
    /// assert!(is_padded("f32[2,3,4]pad(2,14,42)") && !is_padded("f32[2,3,4]pad(2,3,4)"));
    /// ```
    #[doc(alias = "IsPadded")]
    pub fn is_padded(&self) -> bool {
        self.padded.is_padded(&self.extents)
    }

    /// Returns the map from coordinates to offsets.
    ///
    /// ```
    /// use tilewright_core::Place;
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("s8[2,3]{0,1}pad(3,5)").unwrap();
    /// assert_eq!(padded.tensor().offset(&[1, 2]), Ok(7));
    /// assert_eq!(padded.tensor().locate(8), Ok(Place::Padding));
    /// ```
    pub fn tensor(&self) -> &TensorLayout {
        &self.tensor
    }
}

impl fmt::Display for PaddedShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, dims) = (Some(self.layout.clone()), &self.extents);
        let shape = ArrayShape { layout, ..ArrayShape::new(self.element_type, dims) };
        write!(f, "{shape}{}", self.padded)
    }
}

impl std::str::FromStr for PaddedShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<PaddedShape, ParseError> {
        PaddedShape::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::Place;

    use super::*;
    use crate::index_util::Indexer;

    fn pad(text: &str) -> Padded {
        Padded::parse(text).unwrap()
    }

    #[test]
    fn text_prints_back() {
        let texts = ["pad()", "pad(3,5)", "pad(0)fill(0)", "pad(9)fill(0x0)", "pad(1)fill(one)"];
        for text in texts.into_iter().chain(["pad(1)fill(unknown)", "pad(1)fill(highest)"]) {
            assert_eq!(pad(text).to_string(), text);
        }
        let widest = format!("pad(1)fill({:#x})", u128::MAX);
        assert_eq!(pad(&widest).to_string(), widest);
        assert_eq!(pad(" pad ( 3 , 5 ) fill ( 0x0F ) ").to_string(), "pad(3,5)fill(0xf)");
    }

    #[test]
    fn errors_have_their_span() {
        for (text, span) in [
            ("fill(0)", (0, 4)),
            ("pad(3,)", (6, 7)),
            ("pad(-3)", (4, 6)),
            ("pad(3)fill(zero)", (11, 15)),
            ("pad(3)fill()", (11, 12)),
            ("pad(3)fill(0x)", (11, 13)),
            ("pad(3)fill(0x+1)", (11, 13)),
            ("pad(3)fill(0x1ffffffffffffffffffffffffffffffff)", (11, 46)),
            ("pad(3)pad(4)", (6, 9)),
            ("", (0, 0)),
        ] {
            assert_eq!(Padded::parse(text).unwrap_err().span(), span, "{text}");
        }
    }

    #[test]
    fn widths_that_do_not_fit_are_said_with_both_numbers() {
        let order = Layout::ascending(2);
        let count = pad("pad(3)").lower(&[2, 3], &order).unwrap_err();
        assert!(count.to_string().contains("1 padded dimensions, but shape is rank 2"), "{count}");
        let small = pad("pad(3,2)").lower(&[2, 3], &order).unwrap_err();
        assert!(
            small.to_string().contains("padded to 2, smaller than the dimension size 3"),
            "{small}"
        );
        let tiled = Layout::parse("{0,1:T(2,2)}").unwrap();
        assert!(pad("pad(3,5)").lower(&[2, 3], &tiled).unwrap_err().is_unsupported());
        let huge = Padded { widths: vec![1 << 62, 4], fill: Fill::Zero };
        assert!(huge.lower(&[2, 3], &order).unwrap_err().is_overflow());
    }

    #[test]
    fn the_documented_example() {
        let padded = pad("pad(3,5)fill(0)");
        let minor0 = padded.lower(&[2, 3], &Layout::ascending(2)).unwrap();
        assert_eq!(minor0.layout().to_string(), "(3,5):(1,3)");
        let place = |offset| match minor0.locate(offset) {
            Ok(Place::Element(coord)) => coord.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(place(7), "(1,2)");
        assert_eq!(
            [place(2), place(14), place(15)],
            ["Ok(Padding)", "Ok(Padding)", "Ok(OutOfRange)"]
        );
        let tile = Layout::parse("{0,1:T(5,3)}").unwrap().lower(&[2, 3]).unwrap();
        assert_eq!(tile, minor0);
        assert!(padded.is_padded(&[2, 3]) && !pad("pad(2,3,4)").is_padded(&[2, 3, 4]));
        assert!(pad("pad(2,14,42)").is_padded(&[2, 3, 4]));
    }

    #[test]
    fn an_empty_array_keeps_its_padded_cells() {
        let cells = pad("pad(2,3)").lower(&[0, 3], &Layout::descending(2)).unwrap();
        assert_eq!((cells.capacity(), cells.size()), (6, 0));
        assert_eq!(cells.locate(3), Ok(Place::Padding));
        let none = pad("pad(0,3)").lower(&[0, 3], &Layout::descending(2)).unwrap();
        assert_eq!(none.capacity(), 0);
    }

    #[test]
    fn numbers_names_and_fills_come_back() {
        for (at, (value, name, fill)) in ALL.into_iter().enumerate() {
            assert_eq!((value.number(), value.name()), (at as i32, name));
            assert_eq!(PaddingValue::from_number(at as i32), Some(value));
            assert_eq!((Fill::from(value), PaddingValue::try_from(fill)), (fill, Ok(value)));
        }
        assert_eq!([-1, 6].map(PaddingValue::from_number), [None; 2]);
    }

    #[test]
    fn every_place_is_that_of_the_lowered_layout() {
        for order in ["{2,1,0}", "{0,1,2}", "{1,2,0}", "{0,2,1}"] {
            for dims in [[2, 3, 4], [1, 1, 1], [3, 1, 2], [0, 2, 2]] {
                for extra in [[0, 0, 0], [1, 2, 0], [3, 0, 5]] {
                    let widths: Vec<u64> = (0..3).map(|i| dims[i] + extra[i]).collect();
                    let layout = Some(Layout::parse(order).unwrap());
                    let shape = ArrayShape { layout, ..ArrayShape::new(PrimitiveType::F32, &dims) };
                    let padded = PaddedShape::new(&shape, &widths, PaddingValue::One).unwrap();
                    assert_eq!(PaddedShape::parse(&padded.to_string()).unwrap(), padded);
                    let (indexer, tensor) = (Indexer::of_padded(&padded), padded.tensor());
                    assert_eq!(indexer.capacity(), widths.iter().product::<u64>());
                    for offset in 0..=tensor.capacity() as i64 {
                        let same = match tensor.locate(offset).unwrap() {
                            Place::Element(coord) => Place::Element(coord.as_slice().to_vec()),
                            Place::Padding => Place::Padding,
                            Place::OutOfRange => Place::OutOfRange,
                        };
                        assert_eq!(indexer.locate(offset as u64), same, "{padded} at {offset}");
                    }
                    for (coord, offset) in tensor.in_order() {
                        assert_eq!(indexer.offset(coord.as_slice()), Ok(offset as u64));
                    }
                }
            }
        }
    }

    #[test]
    fn shapes_that_no_array_has_are_refused() {
        let refused = |text| PaddedShape::parse(text).unwrap_err();
        let token = ArrayShape::new(PrimitiveType::Token, &[2]);
        assert!(PaddedShape::new(&token, &[3], PaddingValue::Zero).unwrap_err().is_illegal());
        assert!(refused("f32[<=2,3]pad(3,5)").cause().unwrap().is_unsupported());
        assert!(refused("f32[?]pad(3)").cause().unwrap().is_unsupported());
        assert!(refused("f32[2,3]{1,0:T(2,2)}pad(3,5)").cause().unwrap().is_unsupported());
        assert!(refused("f32[2]pad(1)").cause().unwrap().is_illegal());
        assert_eq!(refused("f32[2]pad(x)").span(), (10, 11));
    }
}
