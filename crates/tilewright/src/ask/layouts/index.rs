//! Answers about the offset of an element, and about the contents of an offset.

use std::{borrow::Cow, fmt};

use serde_json::{Value, json};
use tilewright_core::{Coord, Place, TensorLayout};
use tilewright_notation::ArrayLayout;

use crate::{Error, ask::Answer};

/// Offset of an element.
///
/// ```
/// use tilewright::{Spec, ask::Offset};
/// let nibbles = Spec::parse("s4[3,5]{1,0:E(4)}")?.resolve(None, None)?;
/// let offset = Offset::of(&nibbles, &[2, 3])?;
/// assert_eq!((offset.offset, offset.byte_and_bit()), (13, Some((6, 4))));
/// assert_eq!(offset.to_string(), "13 (byte 6, bit 4)");
/// assert!(Offset::of(&nibbles, &[3, 0]).unwrap_err().is_out_of_range());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The offset, in elements.
    pub offset: i64,
    /// The width of a stored element in bits, if known.
    pub bits: Option<u32>,
}

impl Offset {
    /// Returns the offset of a coordinate. For a layout without dims of its own, a single integer is the colexicographic index.
    ///
    /// # Errors
    /// As [`TensorLayout::offset`](crate::TensorLayout::offset), in the field `coord`.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Offset};
    /// let tiled = Spec::parse("((4,2),(4,3)):((4,16),(1,32))")?.resolve(None, None)?;
    /// assert_eq!(Offset::of(&tiled, &[1, 5])?.offset, 37);
    /// assert_eq!(Offset::of(&tiled, &[37])?.offset, 52);
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// let sorted = Spec::parse("f16[4,8] table(0; 0,2,3,1) row-major")?.array_layout(None, None, &())?;
    /// assert_eq!(Offset::of(&sorted, &[1, 5])?.to_string(), "29 (byte 58)");
    /// assert_eq!(Offset::of(&sorted, &[4, 0]).unwrap_err().field(), Some("coord"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of<'a>(array: impl Into<Cow<'a, ArrayLayout>>, coord: &[u64]) -> Result<Offset, Error> {
        let array = array.into();
        let (named, layout) = (array.stored(), array.stored().layout());
        let offset = match coord {
            _ if array.has_tables() => array.layout().offset(coord),
            [index] if named.is_bare() && layout.rank() != 1 => layout.layout().offset_of(*index),
            coord => layout.offset(coord),
        };
        let offset = offset.map_err(|error| Error::from(error).in_field("coord"))?;
        Ok(Offset { offset, bits: named.element_bits() })
    }

    /// Returns the byte in which the element begins, and its first bit there; `None` if the width of an element is not known.
    ///
    /// ```
    /// use tilewright::ask::Offset;
    /// assert_eq!(Offset { offset: 17, bits: Some(32) }.byte_and_bit(), Some((68, 0)));
    /// assert_eq!(Offset { offset: 17, bits: None }.byte_and_bit(), None);
    /// ```
    pub fn byte_and_bit(&self) -> Option<(i128, u8)> {
        let bit = i128::from(self.offset) * i128::from(self.bits?);
        Some((bit.div_euclid(8), bit.rem_euclid(8) as u8))
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.byte_and_bit(), self.bits.is_some_and(|bits| bits % 8 == 0)) {
            (None, _) => write!(f, "{}", self.offset),
            (Some((byte, _)), true) => write!(f, "{} (byte {byte})", self.offset),
            (Some((byte, bit)), false) => write!(f, "{} (byte {byte}, bit {bit})", self.offset),
        }
    }
}

impl Answer for Offset {
    fn to_json(&self) -> Value {
        let mut value = json!({ "offset": self.offset });
        if let Some((byte, bit)) = self.byte_and_bit() {
            value["byte"] = json!(i64::try_from(byte).ok());
            value["bit"] = json!(bit);
        }
        value
    }
}

/// Contents of an offset.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Contents}, layouts::Place};
/// let tiled = Spec::parse("f32[3,5]{1,0:T(2,2)}")?.resolve(None, None)?;
/// assert_eq!(Contents::of(&tiled, 9)?.place, Place::Padding);
/// assert_eq!(Contents::of(&tiled, 17)?.to_string(), "(2,3)");
/// assert!(Contents::of(&tiled, 24)?.is_no());
/// let shared = Spec::parse("(4,4):(1,1)")?.resolve(None, None)?;
/// assert_eq!(Contents::of(&shared, 3)?.to_string(), "(0,3), (1,2), (2,1), (3,0)");
/// let one = Spec::parse("(4,8):(0,0)")?.resolve(None, None)?;
/// assert!(Contents::of(&one, 0)?.to_string().ends_with("(1,7) and 16 more"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// An element, padding, or a place outside the array.
    pub place: Place,
    /// The other elements at the offset.
    pub sharing: Sharing,
}

/// Elements that share an offset.
///
/// ```
/// use tilewright::{Spec, ask::{Contents, Sharing}};
/// let shared = Spec::parse("(4,8):(0,0)")?.resolve(None, None)?;
/// let Sharing::Several { named, count } = Contents::of(&shared, 0)?.sharing else { panic!() };
/// assert_eq!((named.len(), count), (16, 32));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The offset holds at most one element.
    Alone,
    /// The offset holds several elements, of which the first [`MOST_NAMED`] in row-major order are listed.
    Several {
        /// The coordinates of these elements.
        named: Vec<Coord>,
        /// The number of elements at the offset.
        count: u64,
    },
    /// Elements share offsets, and the array has too many elements to look at each.
    Unknown,
}

/// The largest number of coordinates that are listed for one offset.
pub const MOST_NAMED: usize = 16;

/// The largest number of elements that are searched for those at an offset.
const MOST_SEEN: u64 = 1 << 20;

impl Contents {
    /// Returns the contents of an offset, which counts elements. A hole of an index table is padding.
    ///
    /// # Errors
    /// As [`TensorLayout::locate`](crate::TensorLayout::locate), in the field `offset`.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Contents, layouts::Place};
    /// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
    /// let Place::Element(coord) = Contents::of(&rows, 4)?.place else { panic!("an element") };
    /// assert_eq!(coord.as_slice(), [1, 1]);
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// let sorted = Spec::parse("f16[2,8] table(0; 1,-,0) row-major")?.array_layout(None, None, &())?;
    /// let at = |offset| Contents::of(&sorted, offset).unwrap().to_string();
    /// assert_eq!([at(5), at(9), at(16)], ["(1,5)", "padding", "(0,0)"]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of<'a>(array: impl Into<Cow<'a, ArrayLayout>>, offset: i64) -> Result<Contents, Error> {
        let array = array.into();
        let stored = array.stored().layout();
        let place = match array.has_tables() {
            true => array.layout().locate(offset),
            false => stored.locate(offset),
        };
        let place = place.map_err(|error| Error::from(error).in_field("offset"))?;
        let sharing = match (&place, stored.injective()) {
            (Place::Padding | Place::OutOfRange, _) | (_, Ok(true)) => Sharing::Alone,
            // The elements that share an offset are not counted for arrays with tables.
            _ if array.has_tables() => Sharing::Unknown,
            _ => sharing(stored, offset),
        };
        Ok(Contents { place, sharing })
    }

    fn word(&self) -> &'static str {
        match self.place {
            Place::Element(_) => "element",
            Place::Padding => "padding",
            Place::OutOfRange => "out of range",
        }
    }
}

/// Returns the elements at an offset, for an array in which some may share one.
fn sharing(layout: &TensorLayout, offset: i64) -> Sharing {
    if layout.size() > MOST_SEEN {
        return Sharing::Unknown;
    }
    let (mut named, mut count) = (Vec::new(), 0);
    for index in 0..layout.size() {
        if layout.offset_of(index) == Ok(offset) {
            count += 1;
            if named.len() < MOST_NAMED {
                named.extend(layout.coord_of(index).ok());
            }
        }
    }
    if count < 2 { Sharing::Alone } else { Sharing::Several { named, count } }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Padding | Place::OutOfRange => write!(f, "{}", self.word()),
            Place::Element(coord) => match &self.sharing {
                Sharing::Alone => write!(f, "{coord}"),
                Sharing::Unknown => {
                    write!(f, "{coord}, perhaps among others: elements share offsets")
                }
                Sharing::Several { named, count } => {
                    let texts: Vec<String> = named.iter().map(Coord::to_string).collect();
                    write!(f, "{}", texts.join(", "))?;
                    match count.saturating_sub(named.len() as u64) {
                        0 => Ok(()),
                        more => write!(f, " and {more} more"),
                    }
                }
            },
        }
    }
}

impl Answer for Contents {
    fn to_json(&self) -> Value {
        let coord = match &self.place {
            Place::Element(coord) => Some(coord.as_slice()),
            Place::Padding | Place::OutOfRange => None,
        };
        let mut value = json!({ "place": self.word(), "coord": coord });
        match &self.sharing {
            Sharing::Alone => {}
            Sharing::Several { named, count } => {
                value["coords"] = named.iter().map(|coord| json!(coord.as_slice())).collect();
                value["count"] = json!(count);
            }
            Sharing::Unknown => value["count"] = Value::Null,
        }
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.place, Place::OutOfRange)
    }
}
