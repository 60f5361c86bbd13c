//! The struct behind NumPy's `__array_struct__`.
//!
//! Source: NumPy, "The array interface protocol", `PyArrayInterface`.

use std::ffi::{c_char, c_int, c_void};

use tilewright::Dtype;

use super::{Facts, RawArray};

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
const MOST_DIMS: c_int = 64;

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
        if self.two != 2 || !(0..=MOST_DIMS).contains(&self.nd) {
            return None;
        }
        // SAFETY: `# Safety` of `array`; `nd` is in `0..=MOST_DIMS`, as checked above.
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
