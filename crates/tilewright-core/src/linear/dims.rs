//! The named dims of a linear layout, each with a power of two of coordinates.
//!
//! Law: a list of dims splits an integer into one coordinate per dim, the first dim from the lowest bits. The integer
//! has the bits of all dims together.

use core::fmt;

use super::{MAX_BITS, MAX_DIMS};
use crate::{Coord, Error, macros::tri};

/// The largest number of bytes in a dim's name.
pub(super) const MAX_NAME: usize = 15;

/// The name of a dim: a letter or `_`, then letters, digits and `_`; at most 15 bytes, without heap storage.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    bytes: [u8; MAX_NAME],
    len: u8,
}

impl Name {
    const fn new(text: &str) -> Result<Name, Error> {
        let (from, mut bytes, mut i) = (text.as_bytes(), [0; MAX_NAME], 0);
        if from.is_empty() || from.len() > MAX_NAME {
            return Err(Error::limit(
                "a dim's name of {} bytes",
                [from.len() as i128],
                "names have 1 to 15",
            ));
        }
        while i < from.len() {
            let first = from[i].is_ascii_alphabetic() || from[i] == b'_';
            if !(first || i > 0 && from[i].is_ascii_digit()) {
                return Err(Error::illegal(
                    "byte {} of a dim's name is not allowed",
                    [i as i128],
                    "a name is a letter or `_`, then letters, digits and `_`",
                ));
            }
            bytes[i] = from[i];
            i += 1;
        }
        Ok(Name { bytes, len: from.len() as u8 })
    }

    const fn is(&self, text: &str) -> bool {
        let (other, mut i) = (text.as_bytes(), 0);
        if other.len() != self.len as usize {
            return false;
        }
        while i < other.len() {
            if other[i] != self.bytes[i] {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// A named dim of a [`LinearLayout`](super::LinearLayout), with `2^bits` coordinates.
///
/// ```
/// use tilewright_core::LinearLayout;
/// let layout = LinearLayout::parse("{lane=[1,2,4],warp=[8]} -> (row:16)").unwrap();
/// let lane = &layout.ins()[0];
/// assert_eq!((lane.name(), lane.bits(), lane.size()), ("lane", 3, 8));
/// assert_eq!(layout.outs()[0].name(), "row");
/// ```
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinearDim {
    name: Name,
    bits: u8,
}

impl LinearDim {
    const NONE: LinearDim = LinearDim { name: Name { bytes: [0; MAX_NAME], len: 0 }, bits: 0 };

    /// Returns the name.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let identity = LinearLayout::identity(8, "lane", "row").unwrap();
    /// assert_eq!(identity.ins()[0].name(), "lane");
    /// ```
    pub const fn name(&self) -> &str {
        match core::str::from_utf8(self.name.bytes.split_at(self.name.len as usize).0) {
            Ok(name) => name,
            // Names are ASCII.
            Err(_) => "",
        }
    }

    /// Returns the number of bits of a coordinate.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert_eq!(LinearLayout::identity(8, "lane", "row").unwrap().ins()[0].bits(), 3);
    /// ```
    pub const fn bits(&self) -> usize {
        self.bits as usize
    }

    /// Returns the number of coordinates, `2^bits`.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert_eq!(LinearLayout::identity(8, "lane", "row").unwrap().outs()[0].size(), 8);
    /// ```
    pub const fn size(&self) -> u64 {
        1 << self.bits
    }

    /// Returns whether this is the dim's name.
    pub(super) const fn is(&self, name: &str) -> bool {
        self.name.is(name)
    }
}

impl fmt::Debug for LinearDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name(), self.size())
    }
}

/// The dims of one side of a layout, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dims {
    list: [LinearDim; MAX_DIMS],
    len: u8,
}

impl Dims {
    pub(super) const NONE: Dims = Dims { list: [LinearDim::NONE; MAX_DIMS], len: 0 };

    pub(super) const fn as_slice(&self) -> &[LinearDim] {
        self.list.split_at(self.len as usize).0
    }

    pub(super) const fn len(&self) -> usize {
        self.len as usize
    }

    /// Appends a dim of `bits` bits.
    pub(super) const fn push(&mut self, name: &str, bits: usize) -> Result<(), Error> {
        let name = tri!(Name::new(name));
        if self.len() == MAX_DIMS {
            return Err(Error::limit(
                "a dim behind {}",
                [MAX_DIMS as i128],
                "there are at most 16",
            ));
        }
        let dim = LinearDim { name, bits: if bits < MAX_BITS { bits } else { MAX_BITS } as u8 };
        if let Some(at) = self.find(dim.name()) {
            return Err(Error::illegal(
                "dims {} and {} have one name",
                [at as i128, self.len as i128],
                "give each dim of a side a different name",
            ));
        }
        if self.bits() + bits > MAX_BITS {
            return Err(Error::overflow(
                "{} bits of coordinates up to dim {}",
                [(self.bits() + bits) as i128, self.len as i128],
                "the dims of a side have at most 62 together",
            ));
        }
        self.list[self.len()] = dim;
        self.len += 1;
        Ok(())
    }

    /// Returns the number of bits of all dims together.
    pub(super) const fn bits(&self) -> usize {
        self.before(self.len())
    }

    /// Returns the number of bits of the dims before dim `at`.
    pub(super) const fn before(&self, at: usize) -> usize {
        let (mut bits, mut i) = (0, 0);
        while i < at && i < self.len() {
            bits += self.list[i].bits();
            i += 1;
        }
        bits
    }

    /// Returns the position of the dim with this name.
    pub(super) const fn find(&self, name: &str) -> Option<usize> {
        let mut i = 0;
        while i < self.len() {
            if self.list[i].is(name) {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// Returns the bits of the dim with this name; 0 if there is none.
    pub(super) const fn bits_of(&self, name: &str) -> usize {
        match self.find(name) {
            Some(at) => self.list[at].bits(),
            None => 0,
        }
    }

    /// Returns the position of the dim with this name, or an error if there is none.
    pub(super) const fn need(&self, name: &str) -> Result<usize, Error> {
        match self.find(name) {
            Some(at) => Ok(at),
            None => Err(Error::mismatch(
                "no dim on this side has the given name, of {} bytes, among {} dims",
                [name.len() as i128, self.len as i128],
                "name a dim of the layout",
            )),
        }
    }

    /// Returns the dim to which bit `at` of the integer belongs, and the bit within it.
    pub(super) const fn place(&self, at: usize) -> (usize, usize) {
        let (mut dim, mut rest) = (0, at);
        while dim < self.len() && rest >= self.list[dim].bits() {
            rest -= self.list[dim].bits();
            dim += 1;
        }
        (dim, rest)
    }

    /// Joins one coordinate per dim into one integer.
    pub(super) const fn join(&self, coord: &[u64]) -> Result<u64, Error> {
        if coord.len() != self.len() {
            return Err(Error::mismatch(
                "{} coordinates for {} dims",
                [coord.len() as i128, self.len as i128],
                "give one per dim",
            ));
        }
        let (mut all, mut i) = (0, 0);
        while i < coord.len() {
            if coord[i] >= self.list[i].size() {
                return Err(Error::out_of_range(
                    "coordinate {} of dim {} is not below {}",
                    [coord[i] as i128, i as i128, self.list[i].size() as i128],
                    "",
                ));
            }
            all |= coord[i] << self.before(i);
            i += 1;
        }
        Ok(all)
    }

    /// Returns the bits of dim `at` of an integer.
    pub(super) const fn cut(&self, all: u64, at: usize) -> u64 {
        (all >> self.before(at)) & (self.list[at].size() - 1)
    }

    /// Splits an integer into one coordinate per dim.
    pub(super) const fn split(&self, all: u64) -> Coord {
        let (mut coord, mut i) = (Coord::EMPTY, 0);
        while i < self.len() {
            coord.push(self.cut(all, i));
            i += 1;
        }
        coord
    }

    /// Returns whether the names are the same in some order.
    pub(super) const fn same_names(&self, other: &Dims) -> bool {
        let mut i = 0;
        while i < self.len() {
            if other.find(self.list[i].name()).is_none() {
                return false;
            }
            i += 1;
        }
        self.len == other.len
    }

    /// Merges the dims of both lists in an order that agrees with both; if there is a choice, those of `self` come first.
    /// Each dim has the bits of both lists together.
    pub(super) const fn merged(&self, other: &Dims) -> Result<Dims, Error> {
        let (mut all, mut i, mut j) = (Dims::NONE, 0, 0);
        while i < self.len() || j < other.len() {
            let ours =
                i < self.len() && !matches!(other.find(self.list[i].name()), Some(at) if at > j);
            let theirs =
                j < other.len() && !matches!(self.find(other.list[j].name()), Some(at) if at > i);
            if !ours && !theirs {
                return Err(Error::mismatch(
                    "dims {} of the left and {} of the right have opposite orders",
                    [i as i128, j as i128],
                    "transpose one of the layouts",
                ));
            }
            let name = if ours { self.list[i].name() } else { other.list[j].name() };
            let both = i < self.len() && j < other.len() && self.list[i].is(other.list[j].name());
            tri!(all.push(name, self.bits_of(name) + other.bits_of(name)));
            i += (ours || both) as usize;
            j += (!ours || both) as usize;
        }
        Ok(all)
    }
}

/// Returns the bits of a size, which must be a power of two of at most [`MAX_BITS`] bits.
pub(super) const fn bits_of_size(size: u64) -> Result<usize, Error> {
    if !size.is_power_of_two() || size.trailing_zeros() as usize > MAX_BITS {
        return Err(Error::illegal(
            "a dim of size {}",
            [size as i128],
            "sizes are powers of two, at most 2^62",
        ));
    }
    Ok(size.trailing_zeros() as usize)
}

/// Returns the number of bits of a value.
pub(crate) const fn width(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}
