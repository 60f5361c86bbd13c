//! The structs in which other libraries describe an array, read without an interpreter: the tensors of DLPack's capsules, and
//! the struct behind NumPy's `__array_struct__`.
//!
//! They become the facts of an array, its shape, strides and element type, and the range of bytes that contains its elements.
//!
//! Law: whatever the numbers in a struct are, only the struct and its lists are read, and the bytes are the smallest
//! range that contains every element. This file does not need Python, so `tests/all/foreign.rs` compiles it into a
//! separate program, which Miri interprets.
//!
//! Sources: DLPack 1.1, `include/dlpack/dlpack.h`; NumPy, "The array interface protocol", `PyArrayInterface`.

use std::ffi::{c_char, c_int, c_void};

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

#[repr(C)]
#[derive(Debug)]
pub(crate) struct DlpackDevice {
    pub(crate) kind: i32,
    pub(crate) id: i32,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct DataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct DlpackTensor {
    pub(crate) data: *const c_void,
    pub(crate) device: DlpackDevice,
    pub(crate) ndim: i32,
    pub(crate) dtype: DataType,
    pub(crate) shape: *const i64,
    pub(crate) strides: *const i64,
    pub(crate) byte_offset: u64,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Unversioned {
    pub(crate) tensor: DlpackTensor,
    pub(crate) context: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Versioned {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) context: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub(crate) flags: u64,
    pub(crate) tensor: DlpackTensor,
}

/// The kinds of devices, `DLDeviceType`.
pub(crate) const KINDS: [(i32, &str); 15] = [
    (1, "CPU"),
    (2, "CUDA"),
    (3, "CUDA's memory of the host"),
    (4, "OpenCL"),
    (7, "Vulkan"),
    (8, "Metal"),
    (9, "VPI"),
    (10, "AMD's ROCm"),
    (11, "ROCm's memory of the host"),
    (12, "an extension"),
    (13, "CUDA's managed memory"),
    (14, "oneAPI"),
    (15, "WebGPU"),
    (16, "Hexagon"),
    (17, "MAIA"),
];

pub(crate) const READ_ONLY: u64 = 1;
pub(crate) const IS_COPIED: u64 = 2;
const MOST_DIMS: i32 = 64;

/// A tensor that was taken out of its capsule.
#[derive(Debug)]
pub(crate) enum Managed {
    Unversioned(*mut Unversioned),
    Versioned(*mut Versioned),
}

impl Managed {
    /// Returns the tensor at the pointer of a capsule, versioned or of the older kind.
    ///
    /// # Safety
    /// `raw` points to a [`Versioned`] if `is_versioned`, else to an [`Unversioned`]. It and everything it points to live until
    /// [`Managed::delete`] is called; the fields after the flags have this form only if `major` is 1.
    pub(crate) unsafe fn new(raw: *mut c_void, is_versioned: bool) -> Managed {
        match is_versioned {
            true => Managed::Versioned(raw.cast()),
            false => Managed::Unversioned(raw.cast()),
        }
    }

    /// Returns the tensor's description of its array.
    pub(crate) fn array(&self) -> Result<RawArray, Refusal> {
        let (tensor, writable) = match *self {
            // SAFETY: `# Safety` of `new`: `raw` points at an `Unversioned`, which lives while `self` is borrowed. It cannot
            // say whether it may be written, so it may not.
            Managed::Unversioned(raw) => (unsafe { &(*raw).tensor }, false),
            Managed::Versioned(raw) => {
                // SAFETY: `# Safety` of `new`: `raw` points at a `Versioned`; `major` and `flags` are among the fields that
                // are the same in all versions.
                let (major, flags) = unsafe { ((*raw).major, (*raw).flags) };
                let writable = is_writable(major, flags)?;
                // SAFETY: the same; `is_writable` checked that `major` is 1, so the tensor is as described here.
                (unsafe { &(*raw).tensor }, writable)
            }
        };
        // SAFETY: `# Safety` of `new`: the lists of the tensor live while `self` is borrowed.
        let facts = unsafe { tensor.facts() }?;
        Ok(RawArray { data: tensor.first()?, facts, writable })
    }

    /// Returns the kind of the tensor's device, and its number. It is called after [`Managed::array`], which refuses other
    /// versions.
    pub(crate) fn device(&self) -> (i32, i32) {
        let device = match *self {
            // SAFETY: `# Safety` of `new`: `raw` points at an `Unversioned`, which lives while `self` is borrowed.
            Managed::Unversioned(raw) => unsafe { &(*raw).tensor.device },
            // SAFETY: the same of a `Versioned`, whose fields are as here: `array` checked its version.
            Managed::Versioned(raw) => unsafe { &(*raw).tensor.device },
        };
        (device.kind, device.id)
    }

    /// Returns the tensor to its library.
    ///
    /// # Safety
    /// It is called once, and [`Managed::array`] is not called afterwards.
    pub(crate) unsafe fn delete(&mut self) {
        match *self {
            Managed::Unversioned(raw) => {
                // SAFETY: `# Safety` of `new`: `raw` points at an `Unversioned`, which nobody has freed yet.
                if let Some(delete) = unsafe { (*raw).deleter } {
                    // SAFETY: `delete` is the deleter of `raw` itself; by `# Safety` of `delete` it is called once.
                    unsafe { delete(raw) }
                }
            }
            Managed::Versioned(raw) => {
                // SAFETY: the same of a `Versioned`. `deleter` is one of the fields that every version has.
                if let Some(delete) = unsafe { (*raw).deleter } {
                    // SAFETY: `delete` is the deleter of `raw` itself; by `# Safety` of `delete` it is called once.
                    unsafe { delete(raw) }
                }
            }
        }
    }
}

/// Returns whether a versioned tensor may be written.
fn is_writable(major: u32, flags: u64) -> Result<bool, Refusal> {
    if major != 1 {
        return Err(Refusal::new(
            "array",
            format!("DLPack version {major}; only version 1 is supported"),
        ));
    }
    if flags & IS_COPIED != 0 {
        let says = "its library copies the array to share it; make an array of it first";
        return Err(Refusal::new("copy", says));
    }
    Ok(flags & READ_ONLY == 0)
}

impl DlpackTensor {
    /// Returns the address of element 0; null if the tensor has no memory, whatever its offset is.
    fn first(&self) -> Result<*const u8, Refusal> {
        let data = self.data.cast::<u8>();
        if data.is_null() {
            return Ok(data);
        }
        let ahead = usize::try_from(self.byte_offset).ok();
        let ahead = ahead.filter(|ahead| data.addr().checked_add(*ahead).is_some());
        let ahead = ahead.ok_or_else(|| {
            let says =
                format!("a byte_offset of {} exceeds this machine's addresses", self.byte_offset);
            Refusal::new("array", says)
        })?;
        Ok(data.wrapping_add(ahead))
    }

    /// Returns shape, strides and element type.
    ///
    /// # Safety
    /// `shape` and `strides` are null or have `ndim` integers each.
    unsafe fn facts(&self) -> Result<Facts, Refusal> {
        let DataType { code, bits, lanes } = self.dtype;
        if lanes != 1 || bits == 0 || bits % 8 != 0 {
            let says = format!(
                "elements of {lanes} times {bits} bits; only single numbers of whole bytes can be shared"
            );
            return Err(Refusal::new("dtype", says));
        }
        if !(0..=MOST_DIMS).contains(&self.ndim) || (self.ndim > 0 && self.shape.is_null()) {
            let says = format!("a DLPack tensor of {} dims", self.ndim);
            return Err(Refusal::new("array", says));
        }
        let list = |first: *const i64| match self.ndim {
            0 => &[][..],
            // SAFETY: `# Safety` of `facts`: `first` has `ndim` integers, for it is not null: `shape` was checked above,
            // `strides` is checked before this closure is called with it; `ndim` is in `0..=MOST_DIMS`.
            count => unsafe { std::slice::from_raw_parts(first, count as usize) },
        };
        let shape: Vec<u64> =
            list(self.shape).iter().map(|extent| (*extent).max(0) as u64).collect();
        let itemsize = usize::from(bits / 8);
        let strides =
            if self.strides.is_null() { dense(&shape) } else { list(self.strides).to_vec() };
        let strides = strides.into_iter().map(|one| one.saturating_mul(itemsize as i64)).collect();
        let dtype = Dtype::of_dlpack_code(code.into(), bits.into());
        Ok(Facts { shape, strides, itemsize, dtype, swapped: false })
    }
}

/// Returns the default strides in elements.
fn dense(shape: &[u64]) -> Vec<i64> {
    let mut within = 1i64;
    let stride = |extent: &u64| {
        let stride = within;
        within = within.saturating_mul(i64::try_from((*extent).max(1)).unwrap_or(i64::MAX));
        stride
    };
    let mut strides: Vec<i64> = shape.iter().rev().map(stride).collect();
    strides.reverse();
    strides
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrayInterface {
    pub(crate) two: c_int,
    pub(crate) nd: c_int,
    pub(crate) typekind: c_char,
    pub(crate) itemsize: c_int,
    pub(crate) flags: c_int,
    pub(crate) shape: *const isize,
    pub(crate) strides: *const isize,
    pub(crate) data: *const c_void,
    pub(crate) descr: *mut c_void,
}

pub(crate) const NOT_SWAPPED: c_int = 0x200;
pub(crate) const WRITEABLE: c_int = 0x400;
/// The largest number of dims of an array, in any version of NumPy.
const MOST_NUMPY_DIMS: c_int = 64;

impl ArrayInterface {
    /// Returns whether elements have fields. NumPy drops the flags of such elements.
    pub(crate) fn has_fields(&self) -> bool {
        !self.descr.is_null()
    }

    /// Returns the struct's description of its array, with the element type of its code; `None` if the struct is not as
    /// documented.
    ///
    /// # Safety
    /// `shape` and `strides` are null or have `nd` integers each.
    pub(crate) unsafe fn array(&self) -> Option<RawArray> {
        if self.two != 2 || !(0..=MOST_NUMPY_DIMS).contains(&self.nd) {
            return None;
        }
        // SAFETY: `# Safety` of `array`; `nd` is in `0..=MOST_NUMPY_DIMS`, as checked above.
        let (shape, strides) =
            unsafe { (list(self.shape, self.nd)?, list(self.strides, self.nd)?) };
        let itemsize = usize::try_from(self.itemsize).unwrap_or(0);
        let facts = Facts {
            shape: shape.iter().map(|extent| extent.unsigned_abs() as u64).collect(),
            strides: strides.iter().map(|stride| *stride as i64).collect(),
            itemsize,
            dtype: Dtype::of_array_code(char::from(self.typekind as u8), itemsize as u64),
            swapped: !self.has_fields() && self.flags & NOT_SWAPPED == 0,
        };
        let writable = self.flags & WRITEABLE != 0;
        Some(RawArray { data: self.data.cast(), facts, writable })
    }
}

/// Returns the integers of a list in the struct; `None` if the list is missing and must not be.
///
/// # Safety
/// `first` is null or has `count` integers, and `count` is not negative.
unsafe fn list<'a>(first: *const isize, count: c_int) -> Option<&'a [isize]> {
    match (count, first.is_null()) {
        (0, _) => Some(&[]),
        (_, true) => None,
        // SAFETY: `# Safety` of `list`, and `first` is not null; the caller copies the integers at once.
        (_, false) => Some(unsafe { std::slice::from_raw_parts(first, count as usize) }),
    }
}
