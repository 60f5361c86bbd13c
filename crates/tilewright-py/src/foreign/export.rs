//! DLPack capsules over memory that this package owns. Arrays that this package owns are exported through them.

use std::ffi::{CStr, c_void};

use pyo3::{ffi, prelude::*};

use super::raw::dlpack::{DataType, DlpackDevice, DlpackTensor, Unversioned, Versioned};

const VERSIONED: &CStr = c"dltensor_versioned";
const UNVERSIONED: &CStr = c"dltensor";
/// The version of DLPack whose structs these are.
const VERSION: (u32, u32) = (1, 0);

/// The facts that a capsule states about its array.
pub(super) struct Export {
    pub(super) address: u64,
    pub(super) ordinal: i32,
    /// DLPack's code of the element type, and its width in bits.
    pub(super) element: (u8, u8),
    pub(super) shape: Vec<i64>,
    /// In elements.
    pub(super) strides: Vec<i64>,
}

/// A tensor in both forms, with the objects that keep its lists and its memory alive.
struct Exported {
    versioned: Versioned,
    unversioned: Unversioned,
    _export: Export,
    _owner: Py<PyAny>,
}

impl Export {
    fn tensor(&self) -> DlpackTensor {
        let (code, bits) = self.element;
        DlpackTensor {
            data: std::ptr::with_exposed_provenance(self.address as usize),
            device: DlpackDevice { kind: 2, id: self.ordinal },
            ndim: self.shape.len() as i32,
            dtype: DataType { code, bits, lanes: 1 },
            shape: self.shape.as_ptr(),
            strides: self.strides.as_ptr(),
            byte_offset: 0,
        }
    }

    /// Returns the capsule, versioned or of the older kind; `owner` owns the memory.
    pub(super) fn capsule(
        self,
        owner: Bound<'_, PyAny>,
        is_versioned: bool,
    ) -> PyResult<Bound<'_, PyAny>> {
        let py = owner.py();
        let context = std::ptr::null_mut();
        let (major, minor) = VERSION;
        let (deleter, other) = (Some(end_versioned as _), Some(end_unversioned as _));
        let versioned =
            Versioned { major, minor, context, deleter, flags: 0, tensor: self.tensor() };
        let unversioned = Unversioned { tensor: self.tensor(), context, deleter: other };
        let exported = Exported { versioned, unversioned, _export: self, _owner: owner.unbind() };
        let raw: *mut Exported = Box::into_raw(Box::new(exported));
        // SAFETY: `raw` was just made by `Box::into_raw` and nobody else has it; its fields are written and their addresses
        // taken through it.
        let (pointer, name): (*mut c_void, _) = unsafe {
            (*raw).versioned.context = raw.cast();
            (*raw).unversioned.context = raw.cast();
            match is_versioned {
                true => ((&raw mut (*raw).versioned).cast(), VERSIONED),
                false => ((&raw mut (*raw).unversioned).cast(), UNVERSIONED),
            }
        };
        // SAFETY: `pointer` is not null, `name` is static, and `end` takes a capsule of either name.
        let made = unsafe { ffi::PyCapsule_New(pointer, name.as_ptr(), Some(end)) };
        if made.is_null() {
            // SAFETY: `raw` comes from `Box::into_raw`, and no capsule has it.
            drop(unsafe { Box::from_raw(raw) });
            return Err(PyErr::fetch(py));
        }
        // SAFETY: `PyCapsule_New` gave a new reference, which is not null.
        Ok(unsafe { Bound::from_owned_ptr(py, made) })
    }
}

/// The deleter of a versioned tensor.
///
/// # Safety
/// `raw` is the tensor of an [`Exported`], whose deleter was not called before.
unsafe extern "C" fn end_versioned(raw: *mut Versioned) {
    // SAFETY: `# Safety`: `raw` lives, and its context is the box that it is in.
    unsafe { free((*raw).context) }
}

/// The deleter of a tensor of the older kind.
///
/// # Safety
/// As for [`end_versioned`].
unsafe extern "C" fn end_unversioned(raw: *mut Unversioned) {
    // SAFETY: `# Safety`: `raw` lives, and its context is the box that it is in.
    unsafe { free((*raw).context) }
}

/// # Safety
/// `context` comes from `Box::into_raw` of an [`Exported`], and is not used again.
unsafe fn free(context: *mut c_void) {
    // The owner is an object of Python's, and a deleter may be called by any thread: without an interpreter the box is left
    // to the end of the process.
    // SAFETY: `# Safety` of `free`.
    let _ = Python::try_attach(|_| drop(unsafe { Box::from_raw(context.cast::<Exported>()) }));
}

/// The destructor of a capsule: frees a tensor that no library has taken.
///
/// # Safety
/// `capsule` is one that [`Export::capsule`] made.
unsafe extern "C" fn end(capsule: *mut ffi::PyObject) {
    for name in [VERSIONED, UNVERSIONED] {
        // SAFETY: `capsule` is a capsule that is being destroyed; `name` is static.
        if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: the capsule has this name still, so nobody took the tensor, and its pointer is that of `Export::capsule`.
        unsafe {
            let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
            match name == VERSIONED {
                true => end_versioned(pointer.cast()),
                false => end_unversioned(pointer.cast()),
            }
        }
        return;
    }
}
