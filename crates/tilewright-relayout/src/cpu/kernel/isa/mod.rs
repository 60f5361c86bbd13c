//! Instruction sets: detection of those that this machine has, the choice of one, entry into functions that are compiled for
//! one, the register interface that kernels use, and the registers for any machine.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

use crate::cpu::cost;
use std::sync::OnceLock;

/// An instruction set that has its own kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// Registers of 64 bytes: AVX-512 with BW, VL, VBMI and IFMA.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Registers of 32 bytes: AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Registers of 16 bytes: NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Words of 8 bytes, in pairs, on any machine.
    Generic,
}

/// The environment variable that names the instruction set to use.
const VARIABLE: &str = "TILEWRIGHT_ISA";

impl Isa {
    /// All instruction sets of this architecture, the best first.
    pub(crate) const ALL: &[Isa] = &[
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon,
        Isa::Generic,
    ];

    /// Returns the name, as in the environment variable and in plans.
    pub(crate) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => "neon",
            Isa::Generic => "generic",
        }
    }

    /// Returns the bytes of a register.
    pub(crate) fn register(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => 64,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => 32,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => 16,
            Isa::Generic => 16,
        }
    }

    /// Returns whether this machine has the instruction set.
    pub(crate) fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                // Data that is narrower than its registers uses those of AVX2.
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => true,
            Isa::Generic => true,
        }
    }

    /// Returns the instruction set that the environment names, if this machine has it, or else the best that it has. It
    /// is chosen once.
    pub(crate) fn chosen() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            x86_64::learn();
            let here = || Isa::ALL.iter().copied().filter(|isa| isa.is_here());
            let named = std::env::var(VARIABLE).unwrap_or_default();
            here().find(|isa| isa.name() == named).or_else(|| here().next()).unwrap_or(Isa::Generic)
        })
    }
}

/// Returns the approximate maximum of bytes of a block that goes through a scratch buffer on this machine.
pub(crate) fn scratch_block() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if x86_64::has_fast_third_level() {
        return cost::LARGE_SCRATCH_BLOCK;
    }
    cost::SCRATCH_BLOCK
}

// Entry of generic work into a function that is compiled for an instruction set (`#[target_feature]`). Each kind of
// work has its own function for each instruction set, so the compiler optimises each kind separately.

/// Optional kinds of registers. [`enter`] compiles work only for the kinds that the work requests.
#[derive(Clone, Copy)]
pub(crate) struct Kinds {
    /// The words of [`Isa::Generic`].
    pub(crate) words: bool,
    /// Registers of 32 bytes.
    pub(crate) of_32: bool,
}

/// Work that any register can do.
pub(crate) trait Work {
    /// The optional kinds for which this work is compiled.
    const KINDS: Kinds = Kinds { words: true, of_32: true };

    /// Does the work. Implementations are inlined, and so are all functions that they call with `V`.
    ///
    /// # Safety
    /// The machine has the instruction set of `V`, and the requirements of the implementor hold.
    unsafe fn with<V: Vector>(self);
}

/// Does work with registers of `register` bytes. Returns whether the instruction set has such registers.
///
/// # Safety
/// The machine has the instruction set, and the requirements of the work hold.
pub(crate) unsafe fn enter<W: Work>(isa: Isa, register: usize, work: W) -> bool {
    // SAFETY: `# Safety` of `enter`: the machine has the instruction set `isa`, which each arm has matched, and the
    // requirements of the work hold. AVX-512 is used only where AVX2 is present too (`Isa::is_here`).
    unsafe {
        match (isa, register) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 64) => avx512(work),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512 | Isa::Avx2, 32) if const { W::KINDS.of_32 } => avx2(work),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512 | Isa::Avx2, 16) => xmm(work),
            #[cfg(target_arch = "aarch64")]
            (Isa::Neon, 16) => work.with::<neon::Quad>(),
            (Isa::Generic, 16) if const { W::KINDS.words } => work.with::<Words>(),
            _ => return false, // open set
        }
    }
    true
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX-512 with BW, VL, VBMI and IFMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma")]
unsafe fn avx512<W: Work>(work: W) {
    // SAFETY: `# Safety` of `avx512`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Zmm`.
    unsafe { work.with::<x86_64::Zmm>() }
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<W: Work>(work: W) {
    // SAFETY: `# Safety` of `avx2`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Ymm`.
    unsafe { work.with::<x86_64::Ymm>() }
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn xmm<W: Work>(work: W) {
    // SAFETY: `# Safety` of `xmm`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Xmm`.
    unsafe { work.with::<x86_64::Xmm>() }
}

// The register interface that the kernels use.
//
// One operation moves data between registers: the *exchange* of an address bit within the register with the bit that
// selects one of two registers. Level `j` is the address bit of weight 2ʲ *bits*: levels 0 to 2 are within a byte,
// level 3 selects one of two adjacent bytes, and so on. Every permutation of the bits of an address is a sequence of
// exchanges and one rearrangement of bytes within each register, so an instruction set needs to offer nothing else.

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

// Registers of 16 bytes for any machine: two words, with shifts and masks.

/// Two words; the first holds the lower bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words([u64; 2]);

/// The bits of a word whose address has bit `level` clear.
const LOW: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0F0F_0F0F_0F0F_0F0F,
    0x00FF_00FF_00FF_00FF,
    0x0000_FFFF_0000_FFFF,
    0x0000_0000_FFFF_FFFF,
];

// SAFETY: loads and stores move arrays of 16 bytes; no instruction set is needed.
unsafe impl Vector for Words {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Words {
        // SAFETY: `# Safety` of `Vector::load`: 16 bytes at `from` are readable. An array of bytes needs no
        // alignment.
        let bytes = unsafe { from.cast::<[[u8; 8]; 2]>().read() };
        Words(bytes.map(u64::from_le_bytes))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::store`: 16 bytes at `to` are writable. An array of bytes needs no
        // alignment.
        unsafe { to.cast::<[[u8; 8]; 2]>().write(self.0.map(u64::to_le_bytes)) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::stream`: 16 bytes at `to` are writable, which is what `store` requires.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn exchange(level: u8, Words(a): Words, Words(b): Words) -> (Words, Words) {
        if level == 6 {
            return (Words([a[0], b[0]]), Words([a[1], b[1]]));
        }
        let (shift, low) = (1u32 << level, LOW[usize::from(level)]);
        let first = |i: usize| a[i] & low | (b[i] & low) << shift;
        let second = |i: usize| (a[i] >> shift) & low | b[i] & !low;
        (Words([first(0), first(1)]), Words([second(0), second(1)]))
    }

    #[inline(always)]
    unsafe fn arrange(self, table: *const u8) -> Words {
        // SAFETY: `# Safety` of `Vector::arrange`: 16 bytes at `table` are readable. An array of bytes needs no
        // alignment.
        let table = unsafe { table.cast::<[u8; 16]>().read() };
        let bytes: [u8; 16] = bytemuck::cast(self.0.map(u64::to_le_bytes));
        let bytes = table.map(|from| bytes[usize::from(from) % 16]);
        let words: [[u8; 8]; 2] = bytemuck::cast(bytes);
        Words(words.map(u64::from_le_bytes))
    }

    #[inline(always)]
    unsafe fn pick(self, Words(from): Words, table: *const u8) -> Words {
        // SAFETY: `# Safety` of `Vector::pick`: 16 bytes at `table` are readable. An array of bytes needs no
        // alignment.
        let table = unsafe { table.cast::<[u8; 16]>().read() };
        let mut bytes: [u8; 16] = bytemuck::cast(self.0.map(u64::to_le_bytes));
        let from: [u8; 16] = bytemuck::cast(from.map(u64::to_le_bytes));
        for (byte, taken) in bytes.iter_mut().zip(table).filter(|(_, taken)| *taken < 0x80) {
            *byte = from[usize::from(taken) % 16];
        }
        let words: [[u8; 8]; 2] = bytemuck::cast(bytes);
        Words(words.map(u64::from_le_bytes))
    }

    #[inline(always)]
    unsafe fn splice(self, Words(rest): Words, count: usize) -> Words {
        let own = u128::MAX.checked_shr(8 * (16 - count as u32)).unwrap_or(0);
        let own = [own as u64, (own >> 64) as u64];
        Words([0, 1].map(|i| self.0[i] & own[i] | rest[i] & !own[i]))
    }

    #[inline(always)]
    unsafe fn extend(self, sign: u8) -> Words {
        let (sign, top) = (u64::from_ne_bytes([sign; 8]), u64::from_ne_bytes([0x80; 8]));
        // The top bit is clear except for an extended sign of 8 bits, and borrows from its own byte only.
        Words(self.0.map(|word| ((word ^ sign | top) - sign) ^ top))
    }

    #[inline(always)]
    fn prefetch(_at: *const u8) {}

    #[inline(always)]
    fn prefetch_to_write(_at: *const u8) {}

    #[inline(always)]
    fn fence() {}
}
