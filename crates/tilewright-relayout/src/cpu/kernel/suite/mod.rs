//! Tests of the kernels against a naive loop: every instruction set that this machine has, every register
//! size, data in caches and out of them, blocks of every shape, and buffers between unmapped pages.
//!
//! # Guarded buffers
//!
//! Buffers next to unmapped pages, so that an access beyond them faults. The bytes around a buffer on its own pages are
//! checked too.
#![cfg(test)]

mod cases;
mod every;
mod regions;
mod registers;
mod rows;

use tilewright_testing::noise;

use crate::cpu::kernel::Isa;

/// The instruction sets of this machine.
fn here() -> impl Iterator<Item = Isa> {
    Isa::ALL.iter().copied().filter(|isa| isa.is_here())
}

/// All of them, or, under Miri, every `of`th one.
pub(super) fn some<T: Copy>(all: &[T], of: usize) -> impl Iterator<Item = T> + Clone + '_ {
    let step = if cfg!(miri) { of } else { 1 };
    all.iter().copied().skip(step / 2).step_by(step)
}

/// The position of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferPosition {
    /// After an unmapped page, so on a line.
    Begins,
    /// Before an unmapped page.
    Ends,
    /// This number of bytes after the start of a page.
    Behind(usize),
}

/// The value of the bytes around a buffer.
const AROUND: u8 = 0xC7;

/// A buffer of exactly `len` bytes.
pub(super) struct Guarded {
    pages: Pages,
    at: usize,
    len: usize,
}

impl Guarded {
    pub(super) fn new(len: usize, place: BufferPosition) -> Guarded {
        let mut pages = Pages::new(len + 64);
        let all = pages.bytes().len();
        let at = match place {
            BufferPosition::Begins => 0,
            BufferPosition::Ends => all - len,
            BufferPosition::Behind(at) => at % 64,
        };
        pages.bytes().fill(AROUND);
        Guarded { pages, at, len }
    }

    pub(super) fn holding(bytes: &[u8], place: BufferPosition) -> Guarded {
        let mut guarded = Guarded::new(bytes.len(), place);
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.pages.bytes()[self.at..][..self.len]
    }

    /// Returns whether nothing outside the buffer was written.
    pub(super) fn is_intact(&mut self) -> bool {
        let (at, end) = (self.at, self.at + self.len);
        let all = self.pages.bytes();
        all[..at].iter().chain(&all[end..]).all(|byte| *byte == AROUND)
    }
}

/// Whole pages between two that are not mapped.
#[cfg(all(target_os = "linux", not(miri)))]
struct Pages {
    first: *mut core::ffi::c_void,
    /// The bytes of the pages in between.
    len: usize,
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Pages {
    fn new(len: usize) -> Pages {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let page = rustix::param::page_size();
        let len = len.next_multiple_of(page);
        // SAFETY: new pages at an address that the system chooses; the bytes that become accessible are among them.
        unsafe {
            let none = ProtFlags::empty();
            let all = len + 2 * page;
            let first = mmap_anonymous(core::ptr::null_mut(), all, none, MapFlags::PRIVATE);
            let first = first.expect("some pages");
            let middle = first.byte_add(page);
            mprotect(middle, len, MprotectFlags::READ | MprotectFlags::WRITE).expect("pages");
            Pages { first, len }
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        let middle = self.first.wrapping_byte_add(rustix::param::page_size());
        // SAFETY: `len` bytes from `middle` on are mapped, readable, writable and zeroed, as `new` left them;
        // only `self` has their address.
        unsafe { core::slice::from_raw_parts_mut(middle.cast(), self.len) }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Drop for Pages {
    fn drop(&mut self) {
        let all = self.len + 2 * rustix::param::page_size();
        // SAFETY: these pages were mapped by `new`, and no borrow of them exists any more.
        unsafe { rustix::mm::munmap(self.first, all) }.expect("pages of our own");
    }
}

/// 64 bytes on a line.
#[cfg(not(all(target_os = "linux", not(miri))))]
#[derive(Clone)]
#[repr(align(64))]
#[allow(dead_code, reason = "its bytes are borrowed as a part of all lines")]
struct CacheLine([u8; 64]);

/// Heap memory on a line, for other systems and Miri, which knows its bounds.
#[cfg(not(all(target_os = "linux", not(miri))))]
struct Pages(Vec<CacheLine>);

#[cfg(not(all(target_os = "linux", not(miri))))]
impl Pages {
    fn new(len: usize) -> Pages {
        Pages(vec![CacheLine([0; 64]); len.div_ceil(64)])
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = size_of_val(&*self.0);
        // SAFETY: the lines are `len` bytes, for a line is 64 of them and as long as it is aligned; they are
        // borrowed from `self`.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}
