//! The register interface that the kernels use.
//!
//! One operation moves data between registers: the *exchange* of an address bit within the register with the bit that
//! selects one of two registers. Level `j` is the address bit of weight 2ʲ *bits*: levels 0 to 2 are within a byte,
//! level 3 selects one of two adjacent bytes, and so on. Every permutation of the bits of an address is a sequence of
//! exchanges and one rearrangement of bytes within each register, so an instruction set needs to offer nothing else.

/// A register of `BYTES` bytes.
///
/// # Safety
/// An implementation's loads read, and its stores write, exactly `BYTES` bytes. Its methods may be
/// called only on a machine that has its instruction set.
pub(crate) unsafe trait Vector: Copy {
    /// The bytes of a register, a power of two of at least 16.
    const BYTES: usize;

    /// Loads a register from any alignment.
    ///
    /// # Safety
    /// `BYTES` bytes at `from` are readable; the machine has the instruction set.
    unsafe fn load(from: *const u8) -> Self;

    /// Stores a register at any alignment.
    ///
    /// # Safety
    /// `BYTES` bytes at `to` are writable; the machine has the instruction set.
    unsafe fn store(self, to: *mut u8);

    /// Stores the first `len` bytes of the register.
    ///
    /// # Safety
    /// `len` is below `BYTES`, and `len` bytes at `to` are writable; the machine has the instruction set.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, len: usize) {
        let mut bytes = [0; 64];
        const { assert!(Self::BYTES <= 64) };
        // SAFETY: `# Safety` of `store_first`: `len` is below `BYTES` and `len` bytes at `to` are writable.
        // The array holds a register, so `len` bytes of it are readable.
        unsafe {
            self.store(bytes.as_mut_ptr());
            Self::copy_short(bytes.as_ptr(), to, len);
        }
    }

    /// Stores the lanes of 16 bytes of a register, lane `k` at `to[k]`. Places for lanes that a register does not have are ignored.
    ///
    /// # Safety
    /// 16 bytes are writable for each lane; the machine has the instruction set.
    #[inline(always)]
    unsafe fn store_lanes(self, to: [*mut u8; 4]) {
        let mut bytes = [[0; 16]; 4];
        // SAFETY: the array has room for a register, at most 64 bytes. `# Safety` of `store_lanes`: 16 bytes are writable for each
        // lane.
        unsafe {
            self.store(bytes.as_mut_ptr().cast());
            for k in 0..Self::BYTES / 16 {
                to[k].cast::<[u8; 16]>().write(bytes[k]);
            }
        }
    }

    /// Loads the lanes of 16 bytes of a register, lane `k` from `from[k]`. Addresses of lanes that a register does not have are ignored.
    ///
    /// # Safety
    /// 16 bytes are readable for each lane; the machine has the instruction set.
    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> Self {
        let mut bytes = [[0; 16]; 4];
        // SAFETY: `# Safety` of `load_lanes`: 16 bytes are readable for each lane. The array holds a register, at most 64 bytes.
        unsafe {
            for k in 0..Self::BYTES / 16 {
                bytes[k] = from[k].cast::<[u8; 16]>().read();
            }
            Self::load(bytes.as_ptr().cast())
        }
    }

    /// Stores a register past the caches, if the instruction set can.
    ///
    /// # Safety
    /// `BYTES` bytes at `to` are writable and `to` is a multiple of `BYTES`; the machine has the
    /// instruction set.
    unsafe fn stream(self, to: *mut u8);

    /// Exchanges the address bit of weight 2^`level` bits in both registers with the bit that selects `a` or `b`: the
    /// first result holds the bits of `a`, and then of `b`, whose address has that bit clear.
    ///
    /// # Safety
    /// The machine has the instruction set. `level` is below log₂(8 · `BYTES`).
    unsafe fn exchange(level: u8, a: Self, b: Self) -> (Self, Self);

    /// Rearranges the bytes of the register: byte `i` becomes byte `table[i]`, each below `BYTES`.
    ///
    /// # Safety
    /// `BYTES` bytes at `table` are readable; the machine has the instruction set.
    unsafe fn arrange(self, table: *const u8) -> Self;

    /// Replaces some bytes of the register: if `table[i]` is below `BYTES`, byte `i` becomes that byte of `from`; if it
    /// is 0x80 or more, byte `i` stays.
    ///
    /// # Safety
    /// `BYTES` bytes at `table` are readable; the machine has the instruction set.
    unsafe fn pick(self, from: Self, table: *const u8) -> Self;

    /// Returns the first `count` bytes of the register followed by those of `rest` from position `count` on.
    ///
    /// # Safety
    /// `count` is at most `BYTES`; the machine has the instruction set.
    unsafe fn splice(self, rest: Self, count: usize) -> Self;

    /// Extends the sign in every byte from the bit `sign`, a power of two, above which all bits are clear.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn extend(self, sign: u8) -> Self;

    /// Copies `len` bytes, fewer than 64.
    ///
    /// # Safety
    /// `len` is below 64, `len` bytes at `from` are readable and at `to` writable, and the two do not
    /// overlap; the machine has the instruction set.
    #[inline(always)]
    unsafe fn copy_short(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: `# Safety` of `copy_short`: `len` bytes at `from` are readable and at `to` writable, and
        // the two do not overlap. Each arm's `N` is at most `len`, and `len` at most `2 * N`.
        unsafe {
            match len {
                0 => {}
                1 => ends::<1>(from, to, len),
                2..4 => ends::<2>(from, to, len),
                4..8 => ends::<4>(from, to, len),
                8..16 => ends::<8>(from, to, len),
                16..32 => ends::<16>(from, to, len),
                _ => ends::<32>(from, to, len),
            }
        }
    }

    /// Prefetches the line of an address, which need not be mapped.
    fn prefetch(at: *const u8);

    /// Prefetches a line that will be written in part.
    fn prefetch_to_write(at: *const u8);

    /// Orders streamed stores before all later ones.
    fn fence();
}

/// Copies `len` bytes as their first and their last `N`, which may overlap.
///
/// # Safety
/// `len` bytes at `from` are readable and at `to` writable, the two do not overlap, and `len` is at least `N`
/// and at most `2 * N`.
#[inline(always)]
unsafe fn ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: `# Safety` of `ends`: `len` bytes at `from` are readable and at `to` writable, and `len` is at
    // least `N`. An array of bytes needs no alignment.
    unsafe {
        let first = from.cast::<[u8; N]>().read();
        let last = from.add(len - N).cast::<[u8; N]>().read();
        to.cast::<[u8; N]>().write(first);
        to.add(len - N).cast::<[u8; N]>().write(last);
    }
}
