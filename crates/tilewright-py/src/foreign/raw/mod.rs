//! The structs in which other libraries describe an array, read without an interpreter.
//!
//! | file | content |
//! |---|---|
//! | `dlpack.rs` | the tensors of DLPack's capsules |
//! | `numpy.rs` | the struct behind NumPy's `__array_struct__` |
//!
//! This file has the facts of an array, its shape, strides and element type, and the range of bytes that contains its
//! elements.
//!
//! Law: whatever the numbers in a struct are, only the struct and its lists are read, and the bytes are the smallest
//! range that contains every element. This folder does not need Python, so `tests/all/foreign.rs` compiles it into a
//! separate program, which Miri interprets.

pub(crate) mod dlpack;
pub(crate) mod numpy;

use tilewright::Dtype;

/// The reason why an array's memory is refused: the word of its exception, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: &'static str,
    pub(crate) says: String,
}

impl Refusal {
    pub(crate) fn new(kind: &'static str, says: impl Into<String>) -> Refusal {
        Refusal { kind, says: says.into() }
    }
}

pub(crate) const BEYOND: &str = "the array reaches beyond this machine's addresses";

/// An array as a struct describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawArray {
    /// The address of the element at coordinates 0.
    pub(crate) data: *const u8,
    pub(crate) facts: Facts,
    pub(crate) writable: bool,
}

/// The smallest range of bytes that holds every element.
#[derive(Debug)]
pub(crate) struct ByteRange {
    /// The lowest byte of any element.
    low: *const u8,
    len: usize,
}

impl ByteRange {
    /// Returns the bytes of an array whose element at coordinates 0 is at `data`. Nothing is read.
    pub(crate) fn of(data: *const u8, facts: &Facts) -> Result<ByteRange, Refusal> {
        if facts.itemsize == 0 {
            return Err(Refusal::new("dtype", "elements of no bytes"));
        }
        let (origin, len) = facts.reach().ok_or_else(|| Refusal::new("array", BEYOND))?;
        if data.is_null() && len > 0 {
            let says = "the array is only a description, without memory";
            return Err(Refusal::new("array", says));
        }
        let nowhere = std::ptr::NonNull::<u8>::dangling().as_ptr().cast_const();
        let low = if len == 0 { nowhere } else { lowest(data, origin, len)? };
        Ok(ByteRange { low, len })
    }

    /// Returns the address of the lowest byte.
    pub(crate) fn address(&self) -> usize {
        self.low.addr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// Every element that the facts describe is readable, and so are the bytes between them; no code writes them for as long as
    /// the slice is used.
    pub(crate) unsafe fn read(&self) -> &[u8] {
        // SAFETY: `# Safety` of `read`: `Facts::reach` computed `low` and `len` as the smallest range that holds every
        // element, of at most `isize::MAX` bytes; where `len` is 0, `low` is not null.
        unsafe { std::slice::from_raw_parts(self.low, self.len) }
    }

    /// Returns the bytes for writing.
    ///
    /// # Safety
    /// As for [`ByteRange::read`]; in addition, they are writable, and no other code reads them meanwhile.
    pub(crate) unsafe fn write(&mut self) -> &mut [u8] {
        // SAFETY: `# Safety` of `write`, and `low` and `len` as in `read`.
        unsafe { std::slice::from_raw_parts_mut(self.low.cast_mut(), self.len) }
    }

    /// Returns whether two arrays have a byte in common.
    pub(crate) fn overlaps(&self, other: &ByteRange) -> bool {
        let (a, b) = (self.address(), other.address());
        self.len > 0 && other.len > 0 && a < b + other.len && b < a + self.len
    }
}

/// Returns the address of the lowest element, if all of `len` bytes from there on have addresses.
fn lowest(data: *const u8, origin: usize, len: usize) -> Result<*const u8, Refusal> {
    let low = data.addr().checked_sub(origin).filter(|low| *low > 0);
    let fits = low.is_some_and(|low| low.checked_add(len).is_some());
    fits.then(|| data.wrapping_sub(origin)).ok_or_else(|| Refusal::new("array", BEYOND))
}

/// The shape, strides and elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Facts {
    /// The extents.
    pub(crate) shape: Vec<u64>,
    /// The strides in bytes; 0 for a dim of at most one coordinate.
    pub(crate) strides: Vec<i64>,
    /// The number of bytes of an element.
    pub(crate) itemsize: usize,
    /// The element type; `None` for one that layouts cannot name.
    pub(crate) dtype: Option<Dtype>,
    /// True if the bytes of each element are in the other order.
    pub(crate) swapped: bool,
}

impl Facts {
    /// Sets the strides of dims of at most one coordinate to 0: they have no meaning, and libraries store any number there.
    pub(crate) fn settle(&mut self) {
        let empty = self.shape.contains(&0);
        for (stride, extent) in self.strides.iter_mut().zip(&self.shape) {
            if *extent <= 1 || empty {
                *stride = 0;
            }
        }
    }

    /// Returns the facts of a dense array of this shape and element type, the last dim fastest.
    pub(crate) fn dense(shape: &[u64], dtype: Dtype) -> Facts {
        let itemsize = dtype.storage_bits().map_or(1, |bits| bits.div_ceil(8)) as usize;
        let mut within = itemsize as i64;
        let mut strides: Vec<i64> = Vec::with_capacity(shape.len());
        for extent in shape.iter().rev() {
            strides.push(within);
            within = within.saturating_mul(i64::try_from((*extent).max(1)).unwrap_or(i64::MAX));
        }
        strides.reverse();
        let shape = shape.to_vec();
        let mut facts = Facts { shape, strides, itemsize, dtype: Some(dtype), swapped: false };
        facts.settle();
        facts
    }

    /// Returns the number of bytes from the lowest element to element 0, and to the end of the highest; `None` beyond this
    /// machine's addresses.
    pub(crate) fn reach(&self) -> Option<(usize, usize)> {
        if self.shape.contains(&0) {
            return Some((0, 0));
        }
        let (mut below, mut above) = (0i128, i128::try_from(self.itemsize).ok()?);
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let far = i128::from(extent.saturating_sub(1)).checked_mul(i128::from(*stride))?;
            let side = if far < 0 { &mut below } else { &mut above };
            *side = side.checked_add(far.abs())?;
        }
        let span = isize::try_from(below.checked_add(above)?).ok()?;
        Some((usize::try_from(below).ok()?, span.unsigned_abs()))
    }

    /// Returns whether the elements are dense, the last dim fastest.
    pub(crate) fn is_row_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides).rev())
    }

    /// Returns whether the elements are dense, the first dim fastest: in Fortran order.
    pub(crate) fn is_col_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides))
    }

    /// Returns whether these are the dims of contiguous elements, fastest first.
    fn is_dense<'a>(&self, mut dims: impl Iterator<Item = (&'a u64, &'a i64)>) -> bool {
        let mut within = self.itemsize as i64;
        let fits = dims.all(|(&extent, &stride)| {
            let fits = extent <= 1 || stride == within;
            within = within.saturating_mul(i64::try_from(extent.max(1)).unwrap_or(i64::MAX));
            fits
        });
        fits || self.shape.contains(&0)
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.shape.iter().fold(1, |size, extent| size.saturating_mul(*extent))
    }

    /// Returns the stored width of an element, in bits.
    pub(crate) fn bits(&self) -> u32 {
        u32::try_from(self.itemsize).unwrap_or(u32::MAX).saturating_mul(8)
    }

    /// Returns the width, if it is not that of the element type.
    pub(crate) fn odd_bits(&self) -> Option<u32> {
        let usual = self.dtype.and_then(|dtype| dtype.storage_bits());
        (usual != Some(self.bits())).then(|| self.bits())
    }
}
