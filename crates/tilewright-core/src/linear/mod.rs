//! Linear layouts: maps between coordinates that are linear over bits, and the named dims of both sides.
//!
//! Law: `L(x ⊕ y) = L(x) ⊕ L(y)`.
//!
//! # Numbers as vectors
//!
//! A number below 2ⁿ has n bits. As vectors of n entries 0 or 1, two numbers are added by xor (⊕), entry by entry,
//! without carries. With this addition a map `L` is *linear* if the law above holds. Then `L(0) = 0`, and `L` is determined
//! by n numbers, its values at 1, 2, 4 … 2ⁿ⁻¹. These are its *bases*. The value at any other number is the xor of the bases
//! of its bits:
//!
//! ```
//! use tilewright_core::LinearLayout;
//! let map = LinearLayout::parse("{in=[3,4,1]} -> (out:8)").unwrap();
//! // 6 is 2 + 4: its bits 1 and 2 are set, whose bases are 4 and 1.
//! assert_eq!(map.apply_index(6), Ok(4 ^ 1));
//! assert_eq!(map.apply_index(7), Ok(3 ^ 4 ^ 1));
//! ```
//!
//! The bases are the columns of a matrix of zeros and ones, and the theorems of linear algebra apply, over the field
//! of two elements, with ⊕ for + and "and" for ·.
//!
//! # Coordinates
//!
//! Both sides are lists of named dims, each with a power of two of coordinates. A coordinate is one number whose lowest
//! bits are those of the first dim. A basis is a coordinate of the output. For example, these are the bases of a row-major
//! matrix of 4×4, from row and column to the offset:
//!
//! ```
//! use tilewright_core::LinearLayout;
//! let rows = LinearLayout::parse("{row=[4,8],column=[1,2]} -> (offset:16)").unwrap();
//! assert_eq!(rows.apply(&[2, 3]).unwrap().as_slice(), [2 * 4 + 3]);
//! ```
//!
//! Bit 1 of the row, the row 2, has the basis 8. That is stride times row, and it is a stride as long as no sum
//! carries. A *swizzle* is the same map with more bits in some bases, which no stride describes:
//!
//! ```
//! use tilewright_core::{LinearLayout, layout};
//! let swizzled = LinearLayout::parse("{row=[5,10],column=[1,2]} -> (offset:16)").unwrap();
//! // Row 2 begins at 8 ⊕ 2: its columns are permuted by xor with 2.
//! let row: Vec<u64> = (0..4).map(|column| swizzled.apply(&[2, column]).unwrap().as_slice()[0]).collect();
//! assert_eq!(row, [10, 11, 8, 9]);
//! // A layout with a swizzle is the same map.
//! let layout = LinearLayout::of_layout(&layout!("Sw<2,0,2> o (4,4):(4,1)")).unwrap();
//! assert_eq!(layout.rename_ins(&["row", "column"]).unwrap(), swizzled);
//! ```
//!
//! # Questions and their answers
//!
//! | question | answer in linear algebra | method |
//! |---|---|---|
//! | do two coordinates share an output? | the bases are dependent: the rank is below n | [`is_injective`](LinearLayout::is_injective), [`rank`](LinearLayout::rank) |
//! | is every output reached? | the rank is the number of output bits | [`is_surjective`](LinearLayout::is_surjective) |
//! | which coordinate has an output? | the inverse matrix | [`inverse`](LinearLayout::inverse), [`pseudo_inverse`](LinearLayout::pseudo_inverse) |
//! | first one map, then another | the product of the matrices | [`compose`](LinearLayout::compose) |
//! | one map inside each part of another | a matrix of two blocks | [`product`](LinearLayout::product), [`divide_left`](LinearLayout::divide_left) |
//! | for which `x` is `A(x) = B(y)`? | Gaussian elimination | [`invert_and_compose`](LinearLayout::invert_and_compose) |
//! | which outputs does a dim change? | some of the columns | [`sublayout`](LinearLayout::sublayout), [`free_bits`](LinearLayout::free_bits) |
//!
//! All answers are exact. Each works on a matrix of at most 62 × 62 bits; none enumerates the coordinates.
//!
//! # Threads
//!
//! Linear layouts describe arrays that are distributed over a processor. The input dims are the registers of a thread,
//! the lanes of a warp and the warps; the output is the coordinate in the array. One equation determines who holds an
//! element, and what has to move between two such layouts:
//!
//! ```
//! use tilewright_core::LinearLayout;
//! // 8 elements: two registers of four lanes hold neighbours …
//! let pairs = LinearLayout::parse("{register=[1],lane=[2,4]} -> (x:8)").unwrap();
//! // … or elements that are 4 apart.
//! let halves = LinearLayout::parse("{register=[4],lane=[1,2]} -> (x:8)").unwrap();
//! // The register and lane of `halves` that hold the element of a register and a lane of `pairs`.
//! let moves = pairs.invert_and_compose(&halves).unwrap();
//! assert_eq!(moves.to_string(), "{register=[[0,1]],lane=[[0,2],[1,0]]} -> (register:2,lane:4)");
//! // Register 1 moves to another lane, so lanes have to exchange.
//! assert_eq!(moves.apply(&[1, 0]).unwrap().as_slice(), [0, 1]);
//!
//! // A basis of 0: both values of the bit hold the same element.
//! let copies = LinearLayout::parse("{register=[1],lane=[2,0]} -> (x:4)").unwrap();
//! assert_eq!(copies.free_bits("lane"), Some(2));
//! ```
//!
//! # Limits
//!
//! Every extent is a power of two, without padding and without an offset. Strides are linear if no two of the numbers
//! stride · 2ⁱ share a bit, since then sums do not carry. [`of_layout`](LinearLayout::of_layout) and
//! [`to_layout`](LinearLayout::to_layout) convert exactly these; for other layouts their errors name the bits at fault.
//!
//! Sources: `include/triton/Tools/LinearLayout.h`; Zhou et al., "Linear Layouts: Robust Code Generation of
//! Efficient Tensor Computation Using F₂", 2025.

pub(crate) mod bases;
mod parts;
mod solve;
#[cfg(test)]
mod tests;
mod text;

use core::fmt;

use crate::{Coord, Error, const_fn::tri};
pub(crate) use solve::Solver;

/// The largest number of dims of a side.
pub(crate) const MAX_DIMS: usize = 16;

/// The largest number of bits of the coordinates of a side.
pub(crate) const MAX_BITS: usize = 62;

/// A map from coordinates to coordinates that is linear over bits, between named dims that are powers of two.
///
/// Bit i of an input dim has a *basis*, the coordinate to which it is sent; a coordinate is sent to the xor of the
/// bases of its bits. Permutations of bits and swizzles are therefore as simple as strides, every such map can be composed,
/// and every equation between two of them can be solved. Padding, offsets and sizes that are not powers of two cannot be
/// expressed. [`LinearLayout::of_layout`] and [`LinearLayout::to_layout`] convert wherever both describe the same map.
///
/// The order of dims is significant: it is the order of their bits in a reshape, the first dim lowest. A side has at
/// most 16 dims and 62 bits.
///
/// ```
/// use tilewright_core::LinearLayout;
/// // A 4×4 tile in which row r is permuted by xor with r.
/// let tile = LinearLayout::parse("{in1=[[1,1],[2,2]],in2=[[0,1],[0,2]]} -> (out1:4,out2:4)").unwrap();
/// assert_eq!(tile.apply(&[3, 1]).unwrap().as_slice(), [3, 2]);
/// assert!(tile.is_invertible());
/// let inverse = tile.inverse().unwrap();
/// assert_eq!(inverse.apply(&[3, 2]).unwrap().as_slice(), [3, 1]);
/// ```
#[must_use]
#[doc(alias = "F2")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    ins: Dims,
    outs: Dims,
    /// The image of each bit of the input, the first dim's lowest bit first; 0 after the last.
    bases: [u64; MAX_BITS],
}

impl LinearLayout {
    /// The map without dims; the neutral element of [`LinearLayout::product`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let lanes = LinearLayout::identity(8, "lane", "row").unwrap();
    /// assert_eq!(LinearLayout::EMPTY.product(&lanes).unwrap(), lanes);
    /// assert_eq!(LinearLayout::EMPTY.to_string(), "{} -> ()");
    /// ```
    pub const EMPTY: LinearLayout =
        LinearLayout { ins: Dims::NONE, outs: Dims::NONE, bases: [0; MAX_BITS] };

    /// Creates the map with these bases: for each input dim the images of its bits, lowest first, with one integer per
    /// output dim; for each output dim its size.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for sizes that are not powers of two, and for names that are malformed or repeated;
    /// [mismatch](Error::is_mismatch) for a basis of another rank; [out of range](Error::is_out_of_range) for a basis outside
    /// the output dims; [limit](Error::is_limit) and [overflow](Error::is_overflow) beyond 16 dims or 62 bits a side.
    ///
    /// ```
    /// use tilewright_core::{LinearLayout, expect_const};
    /// const TILE: LinearLayout = expect_const!(LinearLayout::new(
    ///     &[("lane", &[&[0, 1], &[0, 2]]), ("warp", &[&[1, 0]])],
    ///     &[("row", 2), ("column", 4)],
    /// ));
    /// assert_eq!(TILE.to_string(), "{lane=[[0,1],[0,2]],warp=[[1,0]]} -> (row:2,column:4)");
    /// let error = LinearLayout::new(&[("lane", &[&[4]])], &[("row", 4)]).unwrap_err();
    /// assert!(error.is_out_of_range());
    /// ```
    pub const fn new(
        ins: &[(&str, &[&[u64]])],
        outs: &[(&str, u64)],
    ) -> Result<LinearLayout, Error> {
        let (mut layout, mut i) = (LinearLayout::EMPTY, 0);
        while i < outs.len() {
            tri!(layout.outs.push(outs[i].0, tri!(bits_of_size(outs[i].1))));
            i += 1;
        }
        i = 0;
        while i < ins.len() {
            let (name, images) = ins[i];
            let (first, mut bit) = (layout.ins.bits(), 0);
            tri!(layout.ins.push(name, images.len()));
            while bit < images.len() {
                layout.bases[first + bit] = tri!(layout.outs.join(images[bit]));
                bit += 1;
            }
            i += 1;
        }
        Ok(layout)
    }

    /// Returns the map that sends each of `size` coordinates to itself.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless the size is a power of two and the names are well formed.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let lanes = LinearLayout::identity(8, "lane", "row").unwrap();
    /// assert_eq!(lanes.to_string(), "{lane=[1,2,4]} -> (row:8)");
    /// assert!(LinearLayout::identity(6, "lane", "row").unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "identity1D")]
    pub const fn identity(size: u64, input: &str, output: &str) -> Result<LinearLayout, Error> {
        LinearLayout::strided(size, 1, input, output)
    }

    /// Returns the map `x ↦ stride · x` of `size` coordinates into `size · stride`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless both are powers of two and the names are well formed;
    /// [overflow](Error::is_overflow) beyond 62 bits.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let even = LinearLayout::strided(4, 2, "lane", "row").unwrap();
    /// assert_eq!(even.to_string(), "{lane=[2,4]} -> (row:8)");
    /// assert!(LinearLayout::strided(4, 3, "lane", "row").unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "strided1D")]
    pub const fn strided(
        size: u64,
        stride: u64,
        input: &str,
        output: &str,
    ) -> Result<LinearLayout, Error> {
        let (bits, shift) = (tri!(bits_of_size(size)), tri!(bits_of_size(stride)));
        let (mut layout, mut bit) = (LinearLayout::EMPTY, 0);
        tri!(layout.outs.push(output, bits + shift));
        tri!(layout.ins.push(input, bits));
        while bit < bits {
            layout.bases[bit] = 1 << (bit + shift);
            bit += 1;
        }
        Ok(layout)
    }

    /// Returns the map that sends each of `size` coordinates to 0, the only coordinate of its output.
    ///
    /// # Errors
    /// Those of [`LinearLayout::identity`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let copies = LinearLayout::zeros(4, "lane", "row").unwrap();
    /// assert_eq!(copies.to_string(), "{lane=[0,0]} -> (row:1)");
    /// // After an identity: x mod 8.
    /// let rows = LinearLayout::identity(8, "lane", "row").unwrap();
    /// assert_eq!(rows.product(&copies).unwrap().apply(&[13]).unwrap().as_slice(), [5]);
    /// assert!(LinearLayout::zeros(0, "lane", "row").unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "zeros1D")]
    pub const fn zeros(size: u64, input: &str, output: &str) -> Result<LinearLayout, Error> {
        let mut layout = LinearLayout::EMPTY;
        tri!(layout.outs.push(output, 0));
        tri!(layout.ins.push(input, tri!(bits_of_size(size))));
        Ok(layout)
    }

    /// Returns the input dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{lane=[1,2],warp=[4]} -> (row:8)").unwrap();
    /// let names: Vec<&str> = layout.ins().iter().map(|dim| dim.name()).collect();
    /// assert_eq!(names, ["lane", "warp"]);
    /// ```
    pub const fn ins(&self) -> &[LinearDim] {
        self.ins.as_slice()
    }

    /// Returns the output dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{lane=[1,2],warp=[4]} -> (row:8)").unwrap();
    /// assert_eq!(layout.outs()[0].size(), 8);
    /// ```
    pub const fn outs(&self) -> &[LinearDim] {
        self.outs.as_slice()
    }

    /// Returns the image of bit `bit` of an input dim: a coordinate per output dim. `None` if there is no such dim or
    /// bit.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{lane=[1,2],warp=[4]} -> (row:8)").unwrap();
    /// assert_eq!(layout.basis("lane", 1).unwrap().as_slice(), [2]);
    /// assert!(layout.basis("lane", 2).is_none() && layout.basis("row", 0).is_none());
    /// ```
    pub const fn basis(&self, input: &str, bit: usize) -> Option<Coord> {
        match self.ins.find(input) {
            Some(dim) if bit < self.ins()[dim].bits() => {
                Some(self.outs.split(self.bases[self.ins.before(dim) + bit]))
            }
            Some(_) | None => None,
        }
    }

    /// Returns the image of a coordinate, with one integer per dim on both sides.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless there is one integer per input dim; [out of range](Error::is_out_of_range)
    /// if one is not below its dim's size.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,1],[2,2]],b=[[0,1],[0,2]]} -> (x:4,y:4)").unwrap();
    /// assert_eq!(layout.apply(&[3, 1]).unwrap().as_slice(), [3, 2]);
    /// assert!(layout.apply(&[3]).unwrap_err().is_mismatch());
    /// assert!(layout.apply(&[3, 4]).unwrap_err().is_out_of_range());
    /// ```
    pub const fn apply(&self, coord: &[u64]) -> Result<Coord, Error> {
        Ok(self.outs.split(self.image(tri!(self.ins.join(coord)))))
    }

    /// Returns the image of the `index`-th coordinate as an index; the first dim varies fastest on both sides.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) if `index` is not below the number of coordinates.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,1],[2,2]],b=[[0,1],[0,2]]} -> (x:4,y:4)").unwrap();
    /// // (3,1) is the 7th coordinate, (3,2) the 11th.
    /// assert_eq!(layout.apply_index(7), Ok(11));
    /// assert!(layout.apply_index(16).unwrap_err().is_out_of_range());
    /// ```
    pub const fn apply_index(&self, index: u64) -> Result<u64, Error> {
        if index >= self.in_size() {
            return Err(Error::out_of_range(
                "index {} of {} coordinates",
                [index as i128, self.in_size() as i128],
                "",
            ));
        }
        Ok(self.image(index))
    }

    /// Returns the number of input coordinates.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert_eq!(LinearLayout::parse("{a=[1,2],b=[4]} -> (x:8)").unwrap().in_size(), 8);
    /// ```
    pub const fn in_size(&self) -> u64 {
        1 << self.ins.bits()
    }

    /// Returns the number of output coordinates, reached or not.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// assert_eq!(LinearLayout::parse("{a=[[1,0],[2,0]]} -> (x:8,y:2)").unwrap().out_size(), 16);
    /// ```
    pub const fn out_size(&self) -> u64 {
        1 << self.outs.bits()
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{LinearLayout, expect_const};
    /// const ROWS: LinearLayout = expect_const!(LinearLayout::identity(8, "lane", "row"));
    /// const SAME: LinearLayout = ROWS.copied();
    /// assert_eq!(ROWS, SAME);
    /// ```
    pub const fn copied(&self) -> LinearLayout {
        LinearLayout { ins: self.ins, outs: self.outs, bases: self.bases }
    }

    /// Returns the image of an index below [`LinearLayout::in_size`].
    const fn image(&self, index: u64) -> u64 {
        let (mut rest, mut image) = (index, 0);
        while rest != 0 {
            image ^= self.bases[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        image
    }

    /// Returns the bases in the order of the input's bits.
    const fn columns(&self) -> &[u64] {
        self.bases.split_at(self.ins.bits()).0
    }
}

// Named dims: a list of them splits an integer into one coordinate per dim, the first dim from the lowest bits.

/// The largest number of bytes in a dim's name.
const MAX_NAME: usize = 15;

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

/// A named dim of a [`LinearLayout`], with `2^bits` coordinates.
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
    const fn is(&self, name: &str) -> bool {
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
struct Dims {
    list: [LinearDim; MAX_DIMS],
    len: u8,
}

impl Dims {
    const NONE: Dims = Dims { list: [LinearDim::NONE; MAX_DIMS], len: 0 };

    const fn as_slice(&self) -> &[LinearDim] {
        self.list.split_at(self.len as usize).0
    }

    const fn len(&self) -> usize {
        self.len as usize
    }

    /// Appends a dim of `bits` bits.
    const fn push(&mut self, name: &str, bits: usize) -> Result<(), Error> {
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
    const fn bits(&self) -> usize {
        self.before(self.len())
    }

    /// Returns the number of bits of the dims before dim `at`.
    const fn before(&self, at: usize) -> usize {
        let (mut bits, mut i) = (0, 0);
        while i < at && i < self.len() {
            bits += self.list[i].bits();
            i += 1;
        }
        bits
    }

    /// Returns the position of the dim with this name.
    const fn find(&self, name: &str) -> Option<usize> {
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
    const fn bits_of(&self, name: &str) -> usize {
        match self.find(name) {
            Some(at) => self.list[at].bits(),
            None => 0,
        }
    }

    /// Returns the position of the dim with this name, or an error if there is none.
    const fn need(&self, name: &str) -> Result<usize, Error> {
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
    const fn place(&self, at: usize) -> (usize, usize) {
        let (mut dim, mut rest) = (0, at);
        while dim < self.len() && rest >= self.list[dim].bits() {
            rest -= self.list[dim].bits();
            dim += 1;
        }
        (dim, rest)
    }

    /// Joins one coordinate per dim into one integer.
    const fn join(&self, coord: &[u64]) -> Result<u64, Error> {
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
    const fn cut(&self, all: u64, at: usize) -> u64 {
        (all >> self.before(at)) & (self.list[at].size() - 1)
    }

    /// Splits an integer into one coordinate per dim.
    const fn split(&self, all: u64) -> Coord {
        let (mut coord, mut i) = (Coord::EMPTY, 0);
        while i < self.len() {
            coord.push(self.cut(all, i));
            i += 1;
        }
        coord
    }

    /// Returns whether the names are the same in some order.
    const fn same_names(&self, other: &Dims) -> bool {
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
    const fn merged(&self, other: &Dims) -> Result<Dims, Error> {
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
const fn bits_of_size(size: u64) -> Result<usize, Error> {
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
