//! The structs in which other libraries describe arrays, read without an interpreter: `src/foreign/raw` is compiled into this
//! program, which Miri interprets as well (`cargo xtask oracles miri`).
//!
//! The structs here are made over memory of this program, with every pointer bounded. Miri reports a read outside of a struct, of
//! its lists or of its array as an error, and also a struct that is freed twice or never.
#![allow(dead_code, reason = "the package uses all of the folder")]

#[path = "../../src/foreign/raw/mod.rs"]
mod raw;

use raw::{
    ArrayInterface, BEYOND, ByteRange, DataType, DlpackDevice, DlpackTensor, Facts, IS_COPIED,
    Managed, NOT_SWAPPED, READ_ONLY, RawArray, Refusal, Unversioned, Versioned, WRITEABLE,
};
use std::{cell::Cell, ffi::c_void, ptr::null};

/// A small array in memory: strides are counted in elements.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<i64>,
    strides: Vec<i64>,
    itemsize: usize,
}

impl Case {
    /// Returns the number of bytes before element 0, and from the lowest byte to the end of the highest element.
    fn reach(&self) -> (usize, usize) {
        if self.shape.contains(&0) {
            return (0, 0);
        }
        let far = |(extent, stride): (&i64, &i64)| (extent - 1) * stride;
        let all: Vec<i64> = self.shape.iter().zip(&self.strides).map(far).collect();
        let below: i64 = -all.iter().filter(|far| **far < 0).sum::<i64>();
        let above: i64 = all.iter().filter(|far| **far > 0).sum();
        (below as usize * self.itemsize, (below + above + 1) as usize * self.itemsize)
    }

    /// Returns the position of each element in bytes, relative to element 0, in logical order.
    fn elements(&self) -> Vec<i64> {
        let mut all = vec![0];
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let steps = |at: &i64| {
                let at = *at;
                (0..*extent).map(move |i| at + i * stride)
            };
            all = all.iter().flat_map(steps).collect();
        }
        all.into_iter().map(|at| at * self.itemsize as i64).collect()
    }
}

/// Returns every array of up to two dims of 0 to 3, with these strides, and one of three dims.
fn cases() -> Vec<Case> {
    let strides = if cfg!(miri) { &[-2, 0, 3][..] } else { &[-4, -2, -1, 0, 1, 3][..] };
    let dims: Vec<(i64, i64)> =
        (0..4).flat_map(|extent| strides.iter().map(move |stride| (extent, *stride))).collect();
    let one = dims.iter().map(|dim| vec![*dim]);
    let two = dims.iter().flat_map(|a| dims.iter().map(|b| vec![*a, *b]));
    let three = [vec![(2, -6), (3, 2), (2, 1)]];
    let all = [vec![]].into_iter().chain(one).chain(two).chain(three);
    let sized = |dims: Vec<(i64, i64)>| {
        let (shape, strides): (Vec<i64>, Vec<i64>) = dims.into_iter().unzip();
        [1, 4].map(|itemsize| Case { shape: shape.clone(), strides: strides.clone(), itemsize })
    };
    all.flat_map(sized).collect()
}

/// Returns the array's memory of exactly this length, with bytes that differ from their neighbours.
fn memory(len: usize) -> Box<[u8]> {
    (0..len).map(|at| (at * 37 + 11) as u8).collect()
}

/// Checks that an array has these elements, and that no other byte is used.
fn check(case: &Case, array: RawArray, held: &[u8]) {
    let (origin, len) = case.reach();
    let data = array.data;
    let mut facts = array.facts;
    facts.settle();
    let bytes = ByteRange::of(data, &facts).unwrap();
    assert_eq!(bytes.len(), len, "{case:?}");
    // SAFETY: `held` is the memory of the array, and nobody writes it.
    let read = unsafe { bytes.read() };
    assert_eq!(read, held, "{case:?}");
    let places = || case.elements().into_iter().map(|at| (at + origin as i64) as usize);
    assert_eq!(places().count() as u64, facts.size());
    let (low, high) = (places().min(), places().max());
    if let (Some(low), Some(high)) = (low, high) {
        assert_eq!((low, high + case.itemsize), (0, len), "{case:?}");
        assert_eq!(bytes.address() + origin, data.addr());
    }
}

thread_local! {
    static DELETED: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn delete_unversioned(raw: *mut Unversioned) {
    DELETED.set(DELETED.get() + 1);
    // SAFETY: `given` made it by `Box::into_raw`, and the deleter is called once.
    drop(unsafe { Box::from_raw(raw) });
}

unsafe extern "C" fn delete_versioned(raw: *mut Versioned) {
    DELETED.set(DELETED.get() + 1);
    // SAFETY: as for `delete_unversioned`.
    drop(unsafe { Box::from_raw(raw) });
}

/// Returns a tensor over memory, with the lists of its shape and strides.
fn tensor(
    data: *const u8,
    byte_offset: u64,
    shape: &[i64],
    strides: Option<&[i64]>,
) -> DlpackTensor {
    DlpackTensor {
        data: data.cast(),
        device: DlpackDevice { kind: 1, id: 0 },
        ndim: shape.len() as i32,
        dtype: DataType { code: 1, bits: 8, lanes: 1 },
        shape: shape.as_ptr(),
        strides: strides.map_or(null(), <[i64]>::as_ptr),
        byte_offset,
    }
}

/// Returns the struct of a library in its own memory, which its deleter frees.
fn given(tensor: DlpackTensor, flags: Option<u64>) -> Managed {
    let context = std::ptr::null_mut();
    let (raw, versioned): (*mut c_void, bool) = match flags {
        Some(flags) => {
            let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut Versioned));
            let managed = Versioned { major: 1, minor: 1, context, deleter, flags, tensor };
            (Box::into_raw(Box::new(managed)).cast(), true)
        }
        None => {
            let deleter = Some(delete_unversioned as unsafe extern "C" fn(*mut Unversioned));
            (Box::into_raw(Box::new(Unversioned { tensor, context, deleter })).cast(), false)
        }
    };
    // SAFETY: `raw` is of the kind that is said, and lives until its deleter is called.
    unsafe { Managed::new(raw, versioned) }
}

/// Returns the description of a tensor, which is then returned to its library.
fn read(tensor: DlpackTensor, flags: Option<u64>) -> Result<RawArray, Refusal> {
    let before = DELETED.get();
    let mut managed = given(tensor, flags);
    let array = managed.array();
    // SAFETY: the tensor is deleted once, and not asked afterwards.
    unsafe { managed.delete() };
    assert_eq!(DELETED.get(), before + 1);
    array
}

#[test]
fn every_small_tensor_of_dlpack_is_read_where_it_is() {
    for case in cases() {
        let (origin, len) = case.reach();
        let held = memory(len);
        for (flags, writable) in [(None, false), (Some(0), true), (Some(READ_ONLY), false)] {
            // Uses an offset from the lowest byte, or none.
            for ahead in [0, origin] {
                let data = held.as_ptr().wrapping_add(origin - ahead);
                let mut tensor = tensor(data, ahead as u64, &case.shape, Some(&case.strides));
                tensor.dtype.bits = 8 * case.itemsize as u8;
                let array = read(tensor, flags).unwrap();
                assert_eq!(array.writable, writable);
                assert_eq!(array.facts.itemsize, case.itemsize);
                check(&case, array, &held);
            }
        }
    }
}

#[test]
fn a_tensor_without_strides_is_dense() {
    for shape in [&[][..], &[5], &[2, 3], &[2, 0, 4], &[1, 3, 2]] {
        let size: i64 = shape.iter().product();
        let held = memory(size as usize);
        let array = read(tensor(held.as_ptr(), 0, shape, None), Some(0)).unwrap();
        let mut strides: Vec<i64> =
            (1..=shape.len()).map(|i| shape[i..].iter().map(|n| n.max(&1)).product()).collect();
        assert_eq!(array.facts.strides, strides);
        strides.truncate(shape.len());
        check(&Case { shape: shape.to_vec(), strides, itemsize: 1 }, array, &held);
    }
}

#[test]
fn tensors_that_cannot_be_read_are_refused_and_given_back() {
    let (held, shape) = (memory(6), [2, 3]);
    let good = || tensor(held.as_ptr(), 0, &shape, None);
    let refused = |tensor: DlpackTensor, flags: u64| read(tensor, Some(flags)).unwrap_err();
    let dtype = |bits, lanes| DataType { code: 1, bits, lanes };
    assert_eq!(refused(good(), IS_COPIED).kind, "copy");
    for (bits, lanes) in [(8, 2), (8, 0), (0, 1), (4, 1), (9, 1)] {
        assert_eq!(refused(DlpackTensor { dtype: dtype(bits, lanes), ..good() }, 0).kind, "dtype");
    }
    for ndim in [-1, 65, i32::MIN, i32::MAX] {
        let why = refused(DlpackTensor { ndim, ..good() }, 0);
        assert_eq!(why.says, format!("a DLPack tensor of {ndim} dims"));
    }
    assert_eq!(refused(DlpackTensor { shape: null(), ..good() }, 0).kind, "array");
    let why = refused(DlpackTensor { byte_offset: u64::MAX, ..good() }, 0);
    assert!(why.says.contains("exceeds this machine's addresses"), "{}", why.says);
    // Without memory, an offset has no effect.
    let nothing = read(DlpackTensor { data: null(), byte_offset: 64, ..good() }, Some(0)).unwrap();
    assert!(nothing.data.is_null());
    let why = ByteRange::of(nothing.data, &nothing.facts).unwrap_err();
    assert!(why.says.contains("only a description"), "{}", why.says);
}

#[test]
fn of_another_version_only_what_all_versions_have_is_read() {
    /// The fields that every version has, and nothing after them.
    #[repr(C)]
    struct Head {
        major: u32,
        minor: u32,
        context: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
        flags: u64,
    }
    let context = std::ptr::null_mut();
    for major in [0, 2, u32::MAX] {
        let mut head = Head { major, minor: 0, context, deleter: None, flags: 0 };
        // SAFETY: `array` reads no more of a struct of another version, and there is no deleter.
        let mut managed = unsafe { Managed::new((&raw mut head).cast(), true) };
        let why = managed.array().unwrap_err();
        assert_eq!(why.says, format!("DLPack version {major}; only version 1 is supported"));
        // SAFETY: called once; there is nothing to free.
        unsafe { managed.delete() };
    }
}

/// Returns the struct of an array of bytes, as NumPy makes it.
fn interface(data: *const u8, shape: &[isize], strides: &[isize]) -> ArrayInterface {
    ArrayInterface {
        two: 2,
        nd: shape.len() as i32,
        typekind: b'u' as _,
        itemsize: 1,
        flags: NOT_SWAPPED | WRITEABLE,
        shape: shape.as_ptr(),
        strides: strides.as_ptr(),
        data: data.cast(),
        descr: std::ptr::null_mut(),
    }
}

#[test]
fn every_small_array_of_numpy_is_read_where_it_is() {
    for case in cases() {
        let (origin, len) = case.reach();
        let held = memory(len);
        let list = |all: &[i64], by: usize| -> Vec<isize> {
            all.iter().map(|one| *one as isize * by as isize).collect()
        };
        let (shape, strides) = (list(&case.shape, 1), list(&case.strides, case.itemsize));
        let data = held.as_ptr().wrapping_add(origin);
        let plain = interface(data, &shape, &strides);
        let plain = ArrayInterface { itemsize: case.itemsize as i32, ..plain };
        // SAFETY: the lists have an integer for each dim.
        let array = unsafe { plain.array() }.unwrap();
        assert!(array.writable && !array.facts.swapped);
        check(&case, array, &held);
    }
}

#[test]
fn flags_and_codes_of_numpy_are_told() {
    let held = memory(4);
    let (shape, strides) = ([1], [4]);
    let plain = || ArrayInterface { itemsize: 4, ..interface(held.as_ptr(), &shape, &strides) };
    // SAFETY: the lists have an integer for each dim.
    let read = |interface: ArrayInterface| unsafe { interface.array() }.unwrap();
    assert_eq!(read(plain()).facts.dtype.map(|dtype| dtype.name()), Some("u32"));
    assert!(!read(ArrayInterface { flags: NOT_SWAPPED, ..plain() }).writable);
    assert!(read(ArrayInterface { flags: WRITEABLE, ..plain() }).facts.swapped);
    // Elements with fields have no flags.
    let mut fields = 0u8;
    let fields = ArrayInterface { flags: 0, descr: (&raw mut fields).cast(), ..plain() };
    assert!(fields.has_fields() && !read(fields).facts.swapped);
    assert_eq!(read(ArrayInterface { typekind: b'O' as _, ..plain() }).facts.dtype, None);
    for itemsize in [0, -8] {
        let array = read(ArrayInterface { itemsize, ..plain() });
        assert_eq!(ByteRange::of(array.data, &array.facts).unwrap_err().kind, "dtype");
    }
}

#[test]
fn structs_that_are_not_as_documented_are_refused() {
    let held = memory(4);
    let (shape, strides) = ([4], [1]);
    let plain = || interface(held.as_ptr(), &shape, &strides);
    for broken in [
        ArrayInterface { two: 3, ..plain() },
        ArrayInterface { nd: -1, ..plain() },
        ArrayInterface { nd: 65, ..plain() },
        ArrayInterface { shape: null(), ..plain() },
        ArrayInterface { strides: null(), ..plain() },
    ] {
        // SAFETY: the lists have an integer, or are null; where `nd` says more, they are not read.
        assert_eq!(unsafe { broken.array() }, None);
    }
}

#[test]
fn no_numbers_lead_beyond_the_addresses() {
    let held = memory(8);
    let ends = [i64::MIN, i64::MIN + 1, -(1 << 62), -1, 0, 1, 1 << 62, i64::MAX];
    for extent in [0, 1, 2, 1 << 32, 1 << 63, u64::MAX] {
        for (a, b) in ends.into_iter().flat_map(|a| ends.map(|b| (a, b))) {
            let (shape, strides) = (vec![extent, 2], vec![a, b]);
            let mut facts = Facts { shape, strides, itemsize: 8, dtype: None, swapped: false };
            facts.settle();
            let Err(why) = ByteRange::of(held.as_ptr(), &facts) else {
                let (origin, len) = facts.reach().unwrap();
                let low = held.as_ptr().addr() - origin;
                assert!(low.checked_add(len).is_some() && len <= isize::MAX as usize);
                continue;
            };
            assert_eq!((why.kind, why.says.as_str()), ("array", BEYOND));
        }
    }
}
