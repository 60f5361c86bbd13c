//! Padded shape + storage order of digits: the definition of every dense tiled format; and the pattern of a layout,
//! whose strides are converted back to digits in storage order.
//!
//! Laws: the offsets of `pattern.layout(extents)` fill `0..capacity`, padding included;
//! `Pattern::of(L).layout(extents)` is the same map with the same capacity as `L`, also if `L` is
//! `pattern.layout(extents)`.
//!
//! The four [`Fractal`] formats of TLA are patterns. The small letter is the order inside a block, the capital letter
//! the order of the blocks: z is row-major, n is column-major. Source: CATLASS, `tla/layout.hpp`.

use crate::{Error, Layout, MAX_MODES, Mode, TensorLayout, const_fn::tri};

/// One digit of a [`Pattern`]: its axis, its significance within the axis, and its size.
///
/// Source: the axis decompositions of einops. Sizes count coordinates.
///
/// ```
/// use tilewright_core::{Digit, Pattern};
/// // The digits of (c1 c0:16), as in NC1HWC0: blocks of 16 channels.
/// let (c1, c0) = (Digit::rest(1, 1), Digit::fixed(1, 0, 16));
/// let [n, h, w] = [Digit::rest(0, 0), Digit::rest(2, 0), Digit::rest(3, 0)];
/// let nc1hwc0 = Pattern::new(4, &[n, c1, h, w, c0]).unwrap();
/// assert_eq!(nc1hwc0.storage(&[2, 40, 7, 7]).unwrap().as_slice(), [2, 3, 7, 7, 16]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    axis: u8,
    level: u8,
    /// 0: the rest of the axis.
    size: u64,
}

impl Digit {
    /// Creates a digit of `size` coordinates; `level` 0 is the least significant digit of its axis.
    ///
    /// ```
    /// use tilewright_core::Digit;
    /// let m0 = Digit::fixed(0, 0, 16);
    /// assert_eq!((m0.axis(), m0.level(), m0.size()), (0, 0, Some(16)));
    /// // A size of 0 takes the rest of the axis.
    /// assert_eq!(Digit::fixed(0, 1, 0), Digit::rest(0, 1));
    /// ```
    pub const fn fixed(axis: u8, level: u8, size: u64) -> Digit {
        Digit { axis, level, size }
    }

    /// Creates the digit that takes the rest of its axis, rounded up.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern};
    /// // 40 channels in blocks of 16: the block number takes what is left, 3.
    /// let blocks = Pattern::new(1, &[Digit::rest(0, 1), Digit::fixed(0, 0, 16)]).unwrap();
    /// assert_eq!(blocks.storage(&[40]).unwrap().as_slice(), [3, 16]);
    /// ```
    pub const fn rest(axis: u8, level: u8) -> Digit {
        Digit { axis, level, size: 0 }
    }

    /// Creates a digit of `size` coordinates; a size of 0 takes the rest.
    pub(crate) const fn of(axis: usize, level: usize, size: u64) -> Digit {
        Digit { axis: axis as u8, level: level as u8, size }
    }

    /// Returns the logical axis.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// // zN stores the block columns first: the outermost digit is one of axis 1.
    /// assert_eq!(Fractal::ZN.pattern(16, 16).digits()[0].axis(), 1);
    /// ```
    pub const fn axis(self) -> u8 {
        self.axis
    }

    /// Returns the significance within the axis; 0 is the least.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let levels: Vec<u8> = Fractal::ZN.pattern(16, 16).digits().iter().map(|d| d.level()).collect();
    /// // Two block numbers, then two positions inside the block.
    /// assert_eq!(levels, [1, 1, 0, 0]);
    /// ```
    pub const fn level(self) -> u8 {
        self.level
    }

    /// Returns the number of coordinates; `None` for the rest of the axis.
    ///
    /// ```
    /// use tilewright_core::Digit;
    /// assert_eq!((Digit::fixed(0, 0, 16).size(), Digit::rest(0, 1).size()), (Some(16), None));
    /// ```
    pub const fn size(self) -> Option<u64> {
        if self.size == 0 { None } else { Some(self.size) }
    }
}

/// The digits of each logical axis, and the order in which the digits are stored, outermost first.
///
/// Every axis is padded to a multiple of the product of its fixed digits. The storage is the box of all digits,
/// row-major in the stored order. With [`Pattern::batched`], further leading axes are stored outermost, row-major.
///
/// ```
/// use tilewright_core::{Digit, Pattern};
/// // Ascend's zN of 16-bit elements: (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0
/// let zn = Pattern::new(2, &[
///     Digit::rest(1, 1),
///     Digit::rest(0, 1),
///     Digit::fixed(0, 0, 16),
///     Digit::fixed(1, 0, 16),
/// ]).unwrap();
/// let layout = zn.layout(&[100, 100]).unwrap();
/// assert_eq!(layout.layout().to_string(), "((16,7),(16,7)):((16,256),(1,1792))");
/// assert_eq!(zn.storage(&[100, 100]).unwrap().as_slice(), [7, 7, 16, 16]);
///
/// // A pattern places the rest of an axis once.
/// assert!(Pattern::new(1, &[Digit::rest(0, 0), Digit::rest(0, 1)]).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    rank: u8,
    batched: bool,
    digits: [Digit; MAX_MODES],
    len: u8,
}

/// The digits of a pattern for given extents.
struct PatternDigits {
    sizes: [u64; MAX_MODES],
    strides: [i64; MAX_MODES],
    capacity: u64,
}

impl Pattern {
    /// Creates a pattern over `rank` axes with these digits, outermost in storage first.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if an axis lacks a digit, has two digits of one level, a gap in its levels, or two digits
    /// that take the rest; [limit](Error::is_limit) beyond [`MAX_MODES`] digits; [out of range](Error::is_out_of_range) for a
    /// digit of an axis beyond the rank.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern};
    /// // Column-major: the last axis outermost.
    /// let columns = Pattern::new(2, &[Digit::rest(1, 0), Digit::rest(0, 0)]).unwrap();
    /// assert_eq!(columns.layout(&[3, 5]).unwrap().layout().to_string(), "(3,5):(1,3)");
    ///
    /// let no_digit = Pattern::new(2, &[Digit::rest(0, 0)]);
    /// assert!(no_digit.unwrap_err().is_illegal());
    /// let no_axis = Pattern::new(1, &[Digit::rest(0, 0), Digit::rest(1, 0)]);
    /// assert!(no_axis.unwrap_err().is_out_of_range());
    /// ```
    pub const fn new(rank: usize, digits: &[Digit]) -> Result<Pattern, Error> {
        if digits.len() > MAX_MODES || rank > MAX_MODES {
            return Err(Error::limit(
                "{} digits over {} axes",
                [digits.len() as i128, rank as i128],
                "a pattern has at most 32",
            ));
        }
        let mut all = [Digit::fixed(0, 0, 1); MAX_MODES];
        let mut i = 0;
        while i < digits.len() {
            if digits[i].axis as usize >= rank {
                return Err(Error::out_of_range(
                    "digit {} belongs to axis {} of {}",
                    [i as i128, digits[i].axis as i128, rank as i128],
                    "",
                ));
            }
            all[i] = digits[i];
            i += 1;
        }
        let pattern =
            Pattern { rank: rank as u8, batched: false, digits: all, len: digits.len() as u8 };
        let mut axis = 0;
        while axis < rank {
            tri!(pattern.check_axis(axis));
            axis += 1;
        }
        Ok(pattern)
    }

    const fn check_axis(&self, axis: usize) -> Result<(), Error> {
        let (mut levels, mut rests, mut count, mut i) = (0u64, 0, 0u32, 0);
        while i < self.len as usize {
            let digit = self.digits[i];
            if digit.axis as usize == axis {
                count += 1;
                rests += (digit.size == 0) as usize;
                levels |= if digit.level < 63 { 1 << digit.level } else { 1 << 63 };
            }
            i += 1;
        }
        if count == 0 {
            return Err(Error::illegal(
                "axis {} has no digit",
                [axis as i128],
                "name every axis in the storage order",
            ));
        }
        if levels != (1 << count) - 1 {
            return Err(Error::illegal(
                "the {} digits of axis {} do not have the levels from 0 on once each",
                [count as i128, axis as i128],
                "store every digit once",
            ));
        }
        if rests > 1 {
            return Err(Error::illegal(
                "{} digits of axis {} take the rest",
                [rests as i128, axis as i128],
                "at most one digit of an axis has no size",
            ));
        }
        Ok(())
    }

    /// Returns the pattern that also takes further leading axes, stored outermost, row-major.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 16);
    /// assert!(zn.layout(&[8, 100, 30]).unwrap_err().is_mismatch());
    /// // 8 matrices of 100×30, one after the other.
    /// let batch = zn.batched().layout(&[8, 100, 30]).unwrap();
    /// assert_eq!(batch.offset(&[1, 0, 0]), Ok(2 * 7 * 16 * 16));
    /// ```
    pub const fn batched(mut self) -> Pattern {
        self.batched = true;
        self
    }

    /// Returns the number of axes, without further leading ones.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 16);
    /// assert_eq!((zn.rank(), zn.batched().rank()), (2, 2));
    /// ```
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Returns whether the pattern takes further leading axes.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 16);
    /// assert!(!zn.is_batched() && zn.batched().is_batched());
    /// ```
    pub const fn is_batched(&self) -> bool {
        self.batched
    }

    /// Returns the digits, outermost in storage first.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 32);
    /// // n1 m1 m0:16 n0:32
    /// let sizes: Vec<Option<u64>> = zn.digits().iter().map(|digit| digit.size()).collect();
    /// assert_eq!(sizes, [None, None, Some(16), Some(32)]);
    /// ```
    pub const fn digits(&self) -> &[Digit] {
        self.digits.split_at(self.len as usize).0
    }

    /// Returns the layout of an array with these extents.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, or for an extent beyond the product of an axis's digits if all of
    /// them have sizes; [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements; [limit](Error::is_limit) beyond [`MAX_MODES`]
    /// digits in total.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern};
    /// // XLA's T(8,128): (m1 m0:8) (n1 n0:128) -> m1 n1 m0 n0
    /// let tiled = Pattern::new(2, &[
    ///     Digit::rest(0, 1),
    ///     Digit::rest(1, 1),
    ///     Digit::fixed(0, 0, 8),
    ///     Digit::fixed(1, 0, 128),
    /// ]).unwrap();
    /// let layout = tiled.layout(&[10, 200]).unwrap();
    /// assert_eq!(layout.layout().to_string(), "((8,2),(128,2)):((128,2048),(1,1024))");
    /// assert_eq!(layout.capacity(), 4096);
    ///
    /// assert!(tiled.layout(&[10]).unwrap_err().is_mismatch());
    /// assert!(tiled.layout(&[1 << 40, 1 << 40]).unwrap_err().is_overflow());
    /// ```
    pub const fn layout(&self, extents: &[u64]) -> Result<TensorLayout, Error> {
        let full = tri!(self.unbatched(extents.len()));
        let digits = tri!(full.sized(extents));
        let (mut modes, mut counts, mut len) = ([Mode::new(1, 0); MAX_MODES], [0; MAX_MODES], 0);
        let mut axis = 0;
        while axis < extents.len() {
            while let Some(i) = full.find(axis, counts[axis]) {
                modes[len] = Mode::new(digits.sizes[i], digits.strides[i]);
                len += 1;
                counts[axis] += 1;
            }
            axis += 1;
        }
        let layout = tri!(Layout::nested(modes.split_at(len).0, counts.split_at(extents.len()).0));
        TensorLayout::new(extents, &layout, digits.capacity)
    }

    /// Returns the extents of the storage as a box of digits, outermost first.
    ///
    /// # Errors
    /// Those of [`Pattern::layout`].
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 16);
    /// // 100×30 as [n1, m1, m0, n0].
    /// assert_eq!(zn.storage(&[100, 30]).unwrap().as_slice(), [2, 7, 16, 16]);
    /// assert!(zn.storage(&[100]).unwrap_err().is_mismatch());
    /// ```
    pub const fn storage(&self, extents: &[u64]) -> Result<crate::Coord, Error> {
        let full = tri!(self.unbatched(extents.len()));
        let digits = tri!(full.sized(extents));
        crate::Coord::new(digits.sizes.split_at(full.len as usize).0)
    }

    /// Returns the pattern for arrays of this rank, with its leading axes written out.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a rank that the pattern does not take.
    ///
    /// ```
    /// use tilewright_core::{Digit, Fractal};
    /// let zn = Fractal::ZN.pattern(16, 16).batched();
    /// let of_rank_3 = zn.unbatched(3).unwrap();
    /// assert_eq!((of_rank_3.rank(), of_rank_3.digits().len()), (3, 5));
    /// assert_eq!(of_rank_3.digits()[0], Digit::rest(0, 0));
    /// assert!(zn.unbatched(1).unwrap_err().is_mismatch());
    /// ```
    pub const fn unbatched(&self, rank: usize) -> Result<Pattern, Error> {
        let own = self.rank as usize;
        if rank == own {
            let mut same =
                Pattern { rank: self.rank, batched: false, digits: self.digits, len: self.len };
            same.batched = false;
            return Ok(same);
        }
        if rank < own || !self.batched {
            return Err(Error::mismatch(
                "{} dims for a pattern of {} axes",
                [rank as i128, own as i128],
                if self.batched { "give that many dims or more" } else { "give one dim per axis" },
            ));
        }
        let leading = rank - own;
        if leading + self.len as usize > MAX_MODES {
            return Err(Error::limit(
                "{} digits",
                [(leading + self.len as usize) as i128],
                "a pattern has at most 32",
            ));
        }
        let (mut digits, mut i) = ([Digit::fixed(0, 0, 1); MAX_MODES], 0);
        while i < leading {
            digits[i] = Digit::rest(i as u8, 0);
            i += 1;
        }
        while i < leading + self.len as usize {
            let digit = self.digits[i - leading];
            digits[i] =
                Digit { axis: digit.axis + leading as u8, level: digit.level, size: digit.size };
            i += 1;
        }
        Pattern::new(rank, digits.split_at(i).0)
    }

    /// Returns the position in storage order of the digit of this axis and level.
    const fn find(&self, axis: usize, level: usize) -> Option<usize> {
        let mut i = 0;
        while i < self.len as usize {
            if self.digits[i].axis as usize == axis && self.digits[i].level as usize == level {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// Returns the product of the sized digits of an axis, and whether one digit takes the rest.
    const fn fixed(&self, axis: usize) -> Result<(u64, bool), Error> {
        let (mut product, mut rest, mut i) = (1i128, false, 0);
        while i < self.len as usize {
            if self.digits[i].axis as usize == axis {
                if self.digits[i].size == 0 {
                    rest = true;
                } else {
                    product *= self.digits[i].size as i128;
                }
                if product > i64::MAX as i128 {
                    return Err(Error::overflow(
                        "the digits of axis {} multiply to {}",
                        [axis as i128, product],
                        "",
                    ));
                }
            }
            i += 1;
        }
        Ok((product as u64, rest))
    }

    /// Returns sizes and strides of the digits for these extents, one per axis.
    const fn sized(&self, extents: &[u64]) -> Result<PatternDigits, Error> {
        let mut all = PatternDigits { sizes: [0; MAX_MODES], strides: [0; MAX_MODES], capacity: 0 };
        let (mut stride, mut capacity, mut i) = (1i128, 1i128, self.len as usize);
        while i > 0 {
            i -= 1;
            let digit = self.digits[i];
            let (fixed, rest) = tri!(self.fixed(digit.axis as usize));
            let extent = extents[digit.axis as usize];
            if !rest && extent > fixed {
                return Err(Error::mismatch(
                    "dim {} has extent {}, the digits of its axis {}",
                    [digit.axis as i128, extent as i128, fixed as i128],
                    "leave one digit of the axis without a size",
                ));
            }
            let size = if digit.size == 0 { extent.div_ceil(fixed) } else { digit.size };
            all.sizes[i] = size;
            all.strides[i] = stride as i64;
            // The strides of an empty array are those with its empty dims at 1.
            stride *= if size == 0 { 1 } else { size as i128 };
            capacity *= size as i128;
            if stride > i64::MAX as i128 {
                return Err(Error::overflow(
                    "the padded array has {} elements or more",
                    [stride],
                    "a storage has at most 2^63 - 1",
                ));
            }
        }
        all.capacity = capacity as u64;
        Ok(all)
    }
}

impl Pattern {
    /// Returns the pattern of a dense layout: its digits in storage order. The most significant digit of an axis has a
    /// size only if the padding goes beyond rounding up.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the layout is not a box of digits: if it is not strided, has a swizzle or
    /// an offset, or has gaps, overlaps or further capacity.
    ///
    /// ```
    /// use tilewright_core::{Layout, Pattern, TensorLayout};
    /// let layout = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// let zn = TensorLayout::new(&[100, 100], &layout, 112 * 112).unwrap();
    /// let pattern = Pattern::of(&zn).unwrap();
    /// assert_eq!(pattern.storage(&[100, 100]).unwrap().as_slice(), [7, 7, 16, 16]);
    ///
    /// let gaps = TensorLayout::of(&Layout::parse("(4,4):(8,1)").unwrap());
    /// assert!(Pattern::of(&gaps).unwrap_err().is_unsupported());
    /// ```
    pub const fn of(tensor: &TensorLayout) -> Result<Pattern, Error> {
        let layout = tensor.layout();
        if !tensor.is_strided() {
            return Err(unsupported(
                "merged or unevenly tiled dims are not digits of one axis",
                [0, 0],
            ));
        }
        if !layout.swizzle().is_identity() {
            return Err(unsupported("a swizzle is not an order of digits", [0, 0]));
        }
        if layout.offset() != 0 {
            return Err(unsupported(
                "the layout starts at offset {}, a pattern at 0",
                [layout.offset() as i128, 0],
            ));
        }
        let (digits, strides, sizes, len) = sorted_digits(tensor);
        let (mut chain, mut capacity, mut i) = (1i128, 1i128, len);
        while i > 0 {
            i -= 1;
            if strides[i] as i128 != chain && sizes[i] > 1 {
                return Err(unsupported(
                    "a stride of {} where the digits within fill {} elements",
                    [strides[i] as i128, chain],
                ));
            }
            chain *= if sizes[i] == 0 { 1 } else { sizes[i] as i128 };
            capacity *= sizes[i] as i128;
        }
        if capacity != tensor.capacity() as i128 {
            return Err(unsupported(
                "a capacity of {} for digits that fill {} elements",
                [tensor.capacity() as i128, capacity],
            ));
        }
        match Pattern::new(tensor.rank(), digits.split_at(len).0) {
            Err(error) if error.is_illegal() => Err(unsupported(
                "an empty array of {} digits, of which more than one is empty",
                [len as i128, 0],
            )),
            pattern => pattern,
        }
    }
}

const fn unsupported(message: &'static str, numbers: [i128; 2]) -> Error {
    Error::unsupported(message, numbers, "a pattern is a dense box of digits")
}

/// Returns the digits of a layout, outermost (largest stride) first, with their strides and sizes.
const fn sorted_digits(
    tensor: &TensorLayout,
) -> ([Digit; MAX_MODES], [i64; MAX_MODES], [u64; MAX_MODES], usize) {
    let (mut digits, mut strides, mut sizes) =
        ([Digit::fixed(0, 0, 1); MAX_MODES], [0i64; MAX_MODES], [0u64; MAX_MODES]);
    let (mut len, mut axis) = (0, 0);
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut below, mut level) = (1u64, 0);
        while level < modes.len() {
            let (extent, stride) = (modes[level].extent(), modes[level].stride());
            let whole = tensor.extents()[axis];
            let rounded = whole.div_ceil(if below == 0 { 1 } else { below });
            let top = level + 1 == modes.len() && rounded == extent;
            let size = if top { 0 } else { extent };
            let mut at = len;
            // Among equal strides, digits of at most one coordinate go inside: they do not move the others.
            while at > 0
                && (strides[at - 1] < stride
                    || (strides[at - 1] == stride && sizes[at - 1] <= 1 && extent > 1))
            {
                digits[at] = digits[at - 1];
                strides[at] = strides[at - 1];
                sizes[at] = sizes[at - 1];
                at -= 1;
            }
            digits[at] = Digit::of(axis, level, size);
            strides[at] = stride;
            sizes[at] = extent;
            len += 1;
            below *= extent;
            level += 1;
        }
        axis += 1;
    }
    (digits, strides, sizes, len)
}

/// The storage order of the digits `m1`, `m0`, `n1`, `n0` of a matrix in blocks of `m0 × n0`.
///
/// ```
/// use tilewright_core::Fractal;
/// // 16-bit elements: blocks of 16×16.
/// let layout = Fractal::ZN.pattern(16, 16).layout(&[32, 48]).unwrap();
/// assert_eq!(layout.layout().to_string(), "((16,2),(16,3)):((16,256),(1,512))");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fractal {
    /// Set if rows vary fastest inside a block (n), instead of columns (z).
    columns_inside: bool,
    /// Set if rows vary fastest between blocks (N), instead of columns (Z).
    columns_between: bool,
}

impl Fractal {
    /// Row-major blocks, stored column by column of blocks (Ascend's FRACTAL_NZ).
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZN.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by rows, then the block below it.
    /// assert_eq!(layout.offset(&[0, 1]), Ok(1));
    /// assert_eq!(layout.offset(&[2, 0]), Ok(4));
    /// ```
    pub const ZN: Fractal = Fractal { columns_inside: false, columns_between: true };
    /// Column-major blocks, stored row by row of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::NZ.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by columns, then the block to its right.
    /// assert_eq!(layout.offset(&[1, 0]), Ok(1));
    /// assert_eq!(layout.offset(&[0, 2]), Ok(4));
    /// ```
    pub const NZ: Fractal = Fractal { columns_inside: true, columns_between: false };
    /// Row-major blocks, stored row by row of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZZ.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by rows, then the block to its right.
    /// assert_eq!(layout.offset(&[0, 1]), Ok(1));
    /// assert_eq!(layout.offset(&[0, 2]), Ok(4));
    /// ```
    pub const ZZ: Fractal = Fractal { columns_inside: false, columns_between: false };
    /// Column-major blocks, stored column by column of blocks.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::NN.pattern(2, 2).layout(&[4, 4]).unwrap();
    /// // The first block by columns, then the block below it.
    /// assert_eq!(layout.offset(&[1, 0]), Ok(1));
    /// assert_eq!(layout.offset(&[2, 0]), Ok(4));
    /// ```
    pub const NN: Fractal = Fractal { columns_inside: true, columns_between: true };

    /// Returns the pattern with blocks of `m0` rows and `n0` columns; a size of 0 counts as 1.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// // The blocks of an 8-bit matrix on Ascend: 16 rows of 32 bytes.
    /// let zn = Fractal::ZN.pattern(16, 32);
    /// assert_eq!(zn.storage(&[20, 100]).unwrap().as_slice(), [4, 2, 16, 32]);
    /// assert_eq!(zn.layout(&[20, 100]).unwrap().capacity(), 4096);
    /// ```
    pub const fn pattern(self, m0: u64, n0: u64) -> Pattern {
        let m0 = Digit::fixed(0, 0, if m0 == 0 { 1 } else { m0 });
        let n0 = Digit::fixed(1, 0, if n0 == 0 { 1 } else { n0 });
        let (m1, n1) = (Digit::rest(0, 1), Digit::rest(1, 1));
        let (outer, next) = if self.columns_between { (n1, m1) } else { (m1, n1) };
        let (inner, last) = if self.columns_inside { (n0, m0) } else { (m0, n0) };
        match Pattern::new(2, &[outer, next, inner, last]) {
            Ok(pattern) => pattern,
            // Four digits of two axes, each level once, are always a pattern.
            Err(_) => panic!("a fractal is a pattern"),
        }
    }

    /// Returns the layout of a matrix of elements of this width, in elements: blocks of 32 bytes along the axis that
    /// varies fastest inside them, and 16 rows or columns along the other.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if 32 bytes are not a whole number of elements; [overflow](Error::is_overflow) beyond
    /// 2⁶³ − 1 elements.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let layout = Fractal::ZN.format(100, 100, 32).unwrap();
    /// assert_eq!(layout.layout().to_string(), "((16,7),(8,13)):((8,128),(1,896))");
    /// assert!(Fractal::ZN.format(100, 100, 24).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "MakeLayout")]
    pub const fn format(
        self,
        rows: u64,
        cols: u64,
        element_bits: u64,
    ) -> Result<TensorLayout, Error> {
        if element_bits == 0 || 256 % element_bits != 0 {
            return Err(Error::illegal(
                "blocks of 32 bytes of elements of {} bits",
                [element_bits as i128],
                "an element has 1, 2, 4, 8, 16, 32, 64, 128 or 256 bits",
            ));
        }
        let c0 = 256 / element_bits;
        let (m0, n0) = if self.columns_inside { (c0, 16) } else { (16, c0) };
        self.pattern(m0, n0).layout(&[rows, cols])
    }
}

#[cfg(test)]
mod tests {
    use std::{format, string::ToString, vec, vec::Vec};

    use super::*;

    fn digit_lists() -> Vec<(usize, Vec<Digit>)> {
        let mut all = vec![];
        for (a, b) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)] {
            let digits: Vec<(u8, u8)> =
                (0..a).map(|l| (0, l)).chain((0..b).map(|l| (1, l))).collect();
            let mut orders = vec![vec![]];
            for i in 0..digits.len() {
                orders = orders
                    .into_iter()
                    .flat_map(|order: Vec<usize>| {
                        (0..=order.len()).map(move |at| {
                            let mut order = order.clone();
                            order.insert(at, i);
                            order
                        })
                    })
                    .collect();
            }
            for order in orders {
                let list = order.iter().map(|&i| {
                    let (axis, level) = digits[i];
                    let top = level + 1 == if axis == 0 { a } else { b };
                    if top {
                        Digit::rest(axis, level)
                    } else {
                        Digit::fixed(axis, level, 2 + level as u64)
                    }
                });
                all.push((2, list.collect()));
            }
        }
        all
    }

    #[test]
    fn every_small_pattern_is_dense_and_comes_back() {
        for (rank, digits) in digit_lists() {
            let pattern = Pattern::new(rank, &digits).unwrap();
            for m in 0..9 {
                for n in [1, 2, 5, 6] {
                    let tensor = pattern.layout(&[m, n]).unwrap();
                    let storage = pattern.storage(&[m, n]).unwrap();
                    let cells: u64 = storage.as_slice().iter().product();
                    assert_eq!(tensor.capacity(), cells);
                    if cells > 0 {
                        assert_eq!(tensor.layout().cosize() as u64, cells);
                        assert!(tensor.layout().exhaustive());
                        assert_eq!(tensor.layout().injective(), Ok(true));
                    }
                    let back = Pattern::of(&tensor).unwrap().layout(&[m, n]).unwrap();
                    for i in 0..tensor.size() {
                        assert_eq!(back.offset_of(i), tensor.offset_of(i));
                    }
                    assert_eq!(back.capacity(), tensor.capacity());
                }
            }
        }
    }

    #[test]
    fn the_rest_may_be_the_inner_digit() {
        // (m1:4 m0) -> m0 m1: interleaved halves.
        let pattern = Pattern::new(1, &[Digit::rest(0, 0), Digit::fixed(0, 1, 4)]).unwrap();
        let tensor = pattern.layout(&[10]).unwrap();
        assert_eq!(format!("{}", tensor.layout()), "((3,4)):((4,1))");
        assert_eq!((tensor.capacity(), tensor.offset(&[3])), (12, Ok(1)));
    }

    #[test]
    fn leading_axes_are_outermost() {
        let pattern = Pattern::new(1, &[Digit::rest(0, 0)]).unwrap().batched();
        let tensor = pattern.layout(&[2, 3, 5]).unwrap();
        assert_eq!(format!("{}", tensor.layout()), "(2,3,5):(15,5,1)");
        assert!(pattern.layout(&[]).unwrap_err().is_mismatch());
    }

    #[test]
    fn bad_patterns_are_errors() {
        assert!(Pattern::new(2, &[Digit::rest(0, 0)]).unwrap_err().is_illegal());
        assert!(Pattern::new(1, &[Digit::rest(0, 1)]).unwrap_err().is_illegal());
        assert!(Pattern::new(1, &[Digit::rest(1, 0)]).unwrap_err().is_out_of_range());
        assert!(Pattern::new(1, &[Digit::rest(0, 0); 33]).unwrap_err().is_limit());
        let small = Pattern::new(1, &[Digit::fixed(0, 0, 4)]).unwrap();
        assert!(small.layout(&[5]).unwrap_err().is_mismatch());
        assert_eq!(small.layout(&[3]).unwrap().capacity(), 4);
        let huge = Pattern::new(1, &[Digit::fixed(0, 0, u64::MAX), Digit::rest(0, 1)]).unwrap();
        assert!(huge.layout(&[5]).unwrap_err().is_overflow());
    }

    #[test]
    fn the_formulas_of_tla() {
        let layout = |fractal: Fractal, m0, n0, r, c| {
            fractal.pattern(m0, n0).layout(&[r, c]).unwrap().layout().to_string()
        };
        assert_eq!(layout(Fractal::ZN, 16, 16, 100, 100), "((16,7),(16,7)):((16,256),(1,1792))");
        assert_eq!(layout(Fractal::NZ, 16, 16, 100, 100), "((16,7),(16,7)):((1,1792),(16,256))");
        assert_eq!(layout(Fractal::ZZ, 16, 16, 100, 100), "((16,7),(16,7)):((16,1792),(1,256))");
        assert_eq!(layout(Fractal::ZN, 16, 32, 100, 100), "((16,7),(32,4)):((32,512),(1,3584))");
        assert_eq!(layout(Fractal::ZN, 16, 8, 100, 100), "((16,7),(8,13)):((8,128),(1,896))");
        assert_eq!(layout(Fractal::NZ, 8, 16, 20, 33), "((8,3),(16,3)):((1,384),(8,128))");
        assert_eq!(layout(Fractal::ZN, 4, 4, 8, 12), "((4,2),(4,3)):((4,16),(1,32))");
        assert_eq!(layout(Fractal::NZ, 4, 4, 8, 12), "((4,2),(4,3)):((1,48),(4,16))");
        assert_eq!(layout(Fractal::ZZ, 4, 4, 8, 12), "((4,2),(4,3)):((4,48),(1,16))");
        assert_eq!(layout(Fractal::NN, 4, 4, 8, 12), "((4,2),(4,3)):((1,16),(4,32))");
    }
}
