//! Arrays of any library by a DLPack capsule.
//!
//! Source: DLPack 1.1, `include/dlpack/dlpack.h`, and its Python specification.

use std::ffi::c_void;

use pyo3::{
    exceptions::{PyAttributeError, PyBufferError, PyRuntimeError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyCapsule, PyDict},
};
use tilewright::Dtype;

use super::{Facts, Family, Owner, Said};
use crate::errors::refused;

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *const c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct Unversioned {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
/// CPU, and the two kinds of host memory that a GPU reaches as well.
const HOST: [i32; 3] = [1, 3, 11];
const MOST_DIMS: i32 = 64;

/// A tensor taken out of its capsule, given back when dropped.
#[derive(Debug)]
pub(super) enum Managed {
    Unversioned(*mut c_void),
    Versioned(*mut c_void),
}

impl Drop for Managed {
    fn drop(&mut self) {
        // Deleters may touch Python's objects.
        Python::attach(|_| match *self {
            Managed::Unversioned(raw) => {
                let raw = raw.cast::<Unversioned>();
                // SAFETY: `take` is the only maker of `Managed`; it checked that the capsule was named `dltensor`, so
                // `raw` points at an `Unversioned`, and renamed it, so nobody else frees it before this drop.
                if let Some(delete) = unsafe { (*raw).deleter } {
                    // SAFETY: `delete` is the deleter of `raw` itself; a value is dropped once, so it is called once.
                    unsafe { delete(raw) }
                }
            }
            Managed::Versioned(raw) => {
                let raw = raw.cast::<Versioned>();
                // SAFETY: `take` checked the name `dltensor_versioned`, so `raw` points at a `Versioned`, and renamed
                // the capsule. `deleter` is one of the fields that every version has.
                if let Some(delete) = unsafe { (*raw).deleter } {
                    // SAFETY: `delete` is the deleter of `raw` itself; a value is dropped once, so it is called once.
                    unsafe { delete(raw) }
                }
            }
        });
    }
}

pub(super) fn said(array: &Bound<'_, PyAny>) -> PyResult<Said> {
    let device = array.call_method0("__dlpack_device__");
    let device = device.map_err(|error| unshared(array.py(), error))?;
    let (kind, id) = device.extract::<(i32, i32)>().map_err(|_| {
        refused("array", "the array shares no memory: its __dlpack_device__ is no two integers")
    })?;
    if !HOST.contains(&kind) {
        let says = format!(
            "the array is on device {id} of DLPack's kind {kind}; bring it to the CPU first"
        );
        return Err(refused("device", says));
    }
    let (managed, writable) = take(&capsule(array)?)?;
    let tensor = match managed {
        // SAFETY: `take` made this variant from a capsule named `dltensor`, so `raw` points at an `Unversioned`, which
        // lives until `managed` is dropped; `managed` moves into `Said` below, beside the facts read here.
        Managed::Unversioned(raw) => unsafe { &(*raw.cast::<Unversioned>()).tensor },
        // SAFETY: the same for the name `dltensor_versioned`; `take` checked that `major` is 1, so the fields are these.
        Managed::Versioned(raw) => unsafe { &(*raw.cast::<Versioned>()).tensor },
    };
    let facts = facts(tensor)?;
    Ok(Said {
        data: first(tensor)?,
        facts,
        writable,
        family: Family::Other,
        own_dtype: None,
        owner: Owner::Capsule(managed),
    })
}

/// The address of element 0; null where the tensor has no memory, whatever its offset.
fn first(tensor: &Tensor) -> PyResult<*const u8> {
    let data = tensor.data.cast::<u8>();
    if data.is_null() {
        return Ok(data);
    }
    let ahead = usize::try_from(tensor.byte_offset).ok();
    let ahead = ahead.filter(|ahead| data.addr().checked_add(*ahead).is_some());
    let ahead = ahead.ok_or_else(|| {
        let says =
            format!("a byte_offset of {} leaves this machine's addresses", tensor.byte_offset);
        refused("array", says)
    })?;
    Ok(data.wrapping_add(ahead))
}

/// The capsule, without a copy where the library can promise that.
fn capsule<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let export = array.getattr("__dlpack__")?;
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", (1, 1))?;
    keywords.set_item("copy", false)?;
    let given = match export.call((), Some(&keywords)) {
        // A library of before these were asked for.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0(),
        given => given,
    };
    given.map_err(|error| unshared(py, error))
}

/// What a library says that shares no memory: jax's arrays that are traced have no attribute for it.
fn unshared(py: Python<'_>, error: PyErr) -> PyErr {
    let refuses = error.is_instance_of::<PyAttributeError>(py)
        || error.is_instance_of::<PyBufferError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyRuntimeError>(py);
    match refuses {
        true => refused("array", format!("the array does not share its memory: {error}")),
        false => error,
    }
}

/// The tensor of a capsule, and whether it may be written. The capsule is used up.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<(Managed, bool)> {
    let py = capsule.py();
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        refused("array", "the array shares no memory: its __dlpack__ gives no capsule")
    })?;
    for (name, used, versioned) in [
        (c"dltensor_versioned", c"used_dltensor_versioned", true),
        (c"dltensor", c"used_dltensor", false),
    ] {
        // SAFETY: `capsule` is a live `PyCapsule`, as `cast` checked above, and `name` a static string that ends in 0.
        if unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: `PyCapsule_IsValid` just said that `capsule` has this name and a pointer that is not null.
        let raw = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
        // SAFETY: `capsule` as above; `used` is a static string, so it outlives the capsule. The capsule's own destructor
        // does nothing under this name, so `Managed` now owns the tensor.
        if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
        if !versioned {
            // It cannot say whether it may be written, so it may not.
            return Ok((Managed::Unversioned(raw), false));
        }
        let managed = Managed::Versioned(raw);
        // SAFETY: `PyCapsule_IsValid` checked the name `dltensor_versioned`, so `raw` points at a versioned tensor, and
        // `managed` keeps it alive; `major` and `flags` are among the fields that are the same in all versions.
        let (major, flags) =
            unsafe { ((*raw.cast::<Versioned>()).major, (*raw.cast::<Versioned>()).flags) };
        if major != 1 {
            return Err(refused("array", format!("DLPack version {major}; version 1 is read")));
        }
        if flags & IS_COPIED != 0 {
            let says = "its library copies the array to share it; make an array of it first";
            return Err(refused("copy", says));
        }
        return Ok((managed, flags & READ_ONLY == 0));
    }
    Err(refused("array", "the capsule of __dlpack__ has been used, or is none of DLPack's"))
}

fn facts(tensor: &Tensor) -> PyResult<Facts> {
    let DataType { code, bits, lanes } = tensor.dtype;
    if lanes != 1 || bits == 0 || bits % 8 != 0 {
        let says = format!(
            "elements of {lanes} times {bits} bits; shared are whole bytes, one number each"
        );
        return Err(refused("dtype", says));
    }
    if !(0..=MOST_DIMS).contains(&tensor.ndim) || (tensor.ndim > 0 && tensor.shape.is_null()) {
        return Err(refused("array", format!("a DLPack tensor of {} dims", tensor.ndim)));
    }
    let list = |first: *const i64| match tensor.ndim {
        0 => &[][..],
        // SAFETY: `first` is `shape` or `strides`, which have `ndim` integers; `shape` was checked not to be null above,
        // `strides` is checked before this closure is called with it, and `ndim` is in `0..=MOST_DIMS`.
        count => unsafe { std::slice::from_raw_parts(first, count as usize) },
    };
    let shape: Vec<u64> = list(tensor.shape).iter().map(|extent| (*extent).max(0) as u64).collect();
    let itemsize = usize::from(bits / 8);
    let strides =
        if tensor.strides.is_null() { dense(&shape) } else { list(tensor.strides).to_vec() };
    let strides = strides.into_iter().map(|one| one.saturating_mul(itemsize as i64)).collect();
    let dtype = Dtype::of_dlpack_code(code.into(), bits.into());
    Ok(Facts { shape, strides, itemsize, dtype, swapped: false })
}

/// The strides in elements where none are given.
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
