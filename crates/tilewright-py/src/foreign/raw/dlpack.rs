//! The tensors of DLPack's capsules.
//!
//! Source: DLPack 1.1, `include/dlpack/dlpack.h`.

use std::ffi::c_void;

use tilewright::Dtype;

use super::{Facts, RawArray, Refusal};

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
