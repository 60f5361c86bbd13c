//! Registers of x86-64: of 16 bytes, of 32 (AVX2) and of 64 (AVX-512), and the properties of a processor that kernels know.

use core::{
    arch::x86_64::{
        __cpuid, _MM_HINT_ET0, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm_sfence, CpuidResult, *,
    },
    sync::atomic::{AtomicBool, Ordering},
};

use super::Vector;

/// True if prefetches go into the first-level cache, not only into the second.
static INTO_THE_FIRST: AtomicBool = AtomicBool::new(false);

/// True if the third-level cache is fast enough for scratch buffers: on all processors of AMD, of which Zen 4 and Zen 5 were
/// measured. Of the others only one Emerald Rapids was measured, where it is not.
static FAST_THIRD: AtomicBool = AtomicBool::new(false);

/// The first family of AMD's processors whose first-level cache allows many prefetches in flight: Zen 5. Relayout is a tenth
/// faster there with prefetches into the first-level cache; on Zen 4 it is a fifth slower. On Emerald Rapids both
/// are equally fast.
const ZEN_5: u32 = 26;

/// Detects the properties of this processor.
pub(crate) fn learn() {
    let family = amd_family();
    INTO_THE_FIRST.store(family >= Some(ZEN_5), Ordering::Relaxed);
    FAST_THIRD.store(family.is_some(), Ordering::Relaxed);
}

/// Returns whether the third-level cache is [fast enough](FAST_THIRD) for scratch buffers.
pub(crate) fn has_fast_third_level() -> bool {
    FAST_THIRD.load(Ordering::Relaxed)
}

/// Returns the family of a processor of AMD.
fn amd_family() -> Option<u32> {
    const AMD: [u8; 12] = *b"AuthenticAMD";
    if cfg!(miri) {
        return None;
    }
    let named = cpuid(0);
    let name = [named.ebx, named.edx, named.ecx].map(u32::to_le_bytes);
    let signature = cpuid(1).eax;
    let (family, extended) = (signature >> 8 & 0xF, signature >> 20 & 0xFF);
    let whole = if family == 0xF { family + extended } else { family };
    (name.as_flattened() == AMD).then_some(whole)
}

/// Asks the processor about itself. Newer compilers consider the call safe.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { __cpuid(leaf) }
}

/// Prefetches a line, into the second-level cache or, where [that is faster](ZEN_5), the first.
#[inline(always)]
fn prefetch(at: *const u8) {
    // SAFETY: a hint that reads nothing; part of SSE, which every x86-64 processor has.
    unsafe {
        if INTO_THE_FIRST.load(Ordering::Relaxed) {
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(at.cast());
        }
    }
}

/// Prefetches a line that will be written in part.
#[inline(always)]
fn prefetch_to_write(at: *const u8) {
    // SAFETY: a hint that reads nothing; it does nothing on processors that lack it.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(at.cast()) }
}

/// Orders streamed stores before all later ones.
#[inline(always)]
pub(crate) fn fence() {
    // Miri supports neither streamed stores nor this instruction.
    if cfg!(miri) {
        return;
    }
    // SAFETY: part of SSE, which every x86-64 processor has.
    unsafe { _mm_sfence() }
}

// Registers of 16 bytes, with the instructions of AVX2.

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Xmm(__m128i);

/// The bytes that [`Vector::splice`] keeps: a register loaded `count` bytes before the first 0 of this table has them
/// set.
static SPLICE_16: [[u8; 16]; 2] = [[0xFF; 16], [0; 16]];

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within_16<const SHIFT: i32>(low: u8, a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    // SAFETY: `exchange` alone calls this, and its `# Safety` says that the machine has AVX2.
    unsafe {
        let low = _mm_set1_epi8(low.cast_signed());
        let up = _mm_andnot_si128(low, _mm_slli_epi16::<SHIFT>(b));
        let down = _mm_and_si128(low, _mm_srli_epi16::<SHIFT>(a));
        (_mm_or_si128(_mm_and_si128(low, a), up), _mm_or_si128(down, _mm_andnot_si128(low, b)))
    }
}

// SAFETY: loads and stores move 16 bytes.
unsafe impl Vector for Xmm {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Xmm {
        // SAFETY: `# Safety` of `Vector::load`: 16 bytes at `from` are readable, and the machine has AVX2.
        Xmm(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::store`: 16 bytes at `to` are writable, and the machine has AVX2.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::stream`: 16 bytes at `to` are writable, `to` is a multiple of 16,
        // and the machine has AVX2.
        unsafe {
            // The interpreter knows no streamed stores; this one has the same bounds and alignment.
            match cfg!(miri) {
                true => _mm_store_si128(to.cast(), self.0),
                false => _mm_stream_si128(to.cast(), self.0),
            }
        }
    }

    #[inline(always)]
    unsafe fn exchange(level: u8, Xmm(a): Xmm, Xmm(b): Xmm) -> (Xmm, Xmm) {
        // SAFETY: `# Safety` of `Vector::exchange`: the machine has AVX2.
        let (a, b) = unsafe {
            match level {
                0 => within_16::<1>(0x55, a, b),
                1 => within_16::<2>(0x33, a, b),
                2 => within_16::<4>(0x0F, a, b),
                3 => {
                    let odd = _mm_set1_epi16(0xFF00_u16.cast_signed());
                    (
                        _mm_blendv_epi8(a, _mm_slli_epi16::<8>(b), odd),
                        _mm_blendv_epi8(_mm_srli_epi16::<8>(a), b, odd),
                    )
                }
                4 => (
                    _mm_blend_epi16::<0xAA>(a, _mm_slli_epi32::<16>(b)),
                    _mm_blend_epi16::<0xAA>(_mm_srli_epi32::<16>(a), b),
                ),
                5 => (
                    _mm_blend_epi32::<0xA>(a, _mm_slli_epi64::<32>(b)),
                    _mm_blend_epi32::<0xA>(_mm_srli_epi64::<32>(a), b),
                ),
                _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
            }
        };
        (Xmm(a), Xmm(b))
    }

    #[inline(always)]
    unsafe fn arrange(self, table: *const u8) -> Xmm {
        // SAFETY: `# Safety` of `Vector::arrange`: 16 bytes at `table` are readable, and the machine has
        // AVX2.
        Xmm(unsafe { _mm_shuffle_epi8(self.0, _mm_loadu_si128(table.cast())) })
    }

    #[inline(always)]
    unsafe fn pick(self, from: Xmm, table: *const u8) -> Xmm {
        // SAFETY: `# Safety` of `Vector::pick`: 16 bytes at `table` are readable, and the machine has AVX2.
        // The shuffle and the blend both look at the top bit of the table.
        unsafe {
            let table = _mm_loadu_si128(table.cast());
            Xmm(_mm_blendv_epi8(_mm_shuffle_epi8(from.0, table), self.0, table))
        }
    }

    #[inline(always)]
    unsafe fn splice(self, rest: Xmm, count: usize) -> Xmm {
        // SAFETY: `# Safety` of `Vector::splice`: `count` is at most 16, so the 16 bytes from `16 - count` on
        // are within `SPLICE_16`. The machine has AVX2.
        unsafe {
            let own = _mm_loadu_si128(SPLICE_16.as_flattened().as_ptr().add(16 - count).cast());
            Xmm(_mm_blendv_epi8(rest.0, self.0, own))
        }
    }

    #[inline(always)]
    unsafe fn extend(self, sign: u8) -> Xmm {
        // SAFETY: `# Safety` of `Vector::extend`: the machine has AVX2.
        unsafe {
            let sign = _mm_set1_epi8(sign.cast_signed());
            Xmm(_mm_sub_epi8(_mm_xor_si128(self.0, sign), sign))
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        prefetch(at);
    }

    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        prefetch_to_write(at);
    }

    #[inline(always)]
    fn fence() {
        fence();
    }
}

// Registers of 32 bytes: AVX2.

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ymm(__m256i);

/// The bytes that [`Vector::splice`] keeps: a register loaded `count` bytes before the first 0 of this table has them
/// set.
static SPLICE_32: [[u8; 32]; 2] = [[0xFF; 32], [0; 32]];

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within_32<const SHIFT: i32>(low: u8, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: `exchange` alone calls this, and its `# Safety` says that the machine has AVX2.
    unsafe {
        let low = _mm256_set1_epi8(low.cast_signed());
        let up = _mm256_andnot_si256(low, _mm256_slli_epi16::<SHIFT>(b));
        let down = _mm256_and_si256(low, _mm256_srli_epi16::<SHIFT>(a));
        (
            _mm256_or_si256(_mm256_and_si256(low, a), up),
            _mm256_or_si256(down, _mm256_andnot_si256(low, b)),
        )
    }
}

// SAFETY: loads and stores move 32 bytes.
unsafe impl Vector for Ymm {
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Ymm {
        // SAFETY: `# Safety` of `Vector::load`: 32 bytes at `from` are readable, and the machine has AVX2.
        Ymm(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> Ymm {
        // SAFETY: `# Safety` of `Vector::load_lanes`: 16 bytes are readable for both lanes, and the machine has AVX2.
        unsafe {
            let first = _mm256_castsi128_si256(_mm_loadu_si128(from[0].cast()));
            Ymm(_mm256_inserti128_si256::<1>(first, _mm_loadu_si128(from[1].cast())))
        }
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: [*mut u8; 4]) {
        // SAFETY: `# Safety` of `Vector::store_lanes`: 16 bytes are writable for both lanes, and the machine has AVX2.
        unsafe {
            _mm_storeu_si128(to[0].cast(), _mm256_castsi256_si128(self.0));
            _mm_storeu_si128(to[1].cast(), _mm256_extracti128_si256::<1>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::store`: 32 bytes at `to` are writable, and the machine has AVX2.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::stream`: 32 bytes at `to` are writable, `to` is a multiple of 32,
        // and the machine has AVX2.
        unsafe {
            // Miri does not support streamed stores; this one has the same bounds and alignment.
            match cfg!(miri) {
                true => _mm256_store_si256(to.cast(), self.0),
                false => _mm256_stream_si256(to.cast(), self.0),
            }
        }
    }

    #[inline(always)]
    unsafe fn exchange(level: u8, Ymm(a): Ymm, Ymm(b): Ymm) -> (Ymm, Ymm) {
        // SAFETY: `# Safety` of `Vector::exchange`: the machine has AVX2.
        let (a, b) = unsafe {
            match level {
                0 => within_32::<1>(0x55, a, b),
                1 => within_32::<2>(0x33, a, b),
                2 => within_32::<4>(0x0F, a, b),
                3 => {
                    let odd = _mm256_set1_epi16(0xFF00_u16.cast_signed());
                    (
                        _mm256_blendv_epi8(a, _mm256_slli_epi16::<8>(b), odd),
                        _mm256_blendv_epi8(_mm256_srli_epi16::<8>(a), b, odd),
                    )
                }
                4 => (
                    _mm256_blend_epi16::<0xAA>(a, _mm256_slli_epi32::<16>(b)),
                    _mm256_blend_epi16::<0xAA>(_mm256_srli_epi32::<16>(a), b),
                ),
                5 => (
                    _mm256_blend_epi32::<0xAA>(a, _mm256_slli_epi64::<32>(b)),
                    _mm256_blend_epi32::<0xAA>(_mm256_srli_epi64::<32>(a), b),
                ),
                6 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => (
                    _mm256_permute2x128_si256::<0x20>(a, b),
                    _mm256_permute2x128_si256::<0x31>(a, b),
                ),
            }
        };
        (Ymm(a), Ymm(b))
    }

    #[inline(always)]
    unsafe fn arrange(self, table: *const u8) -> Ymm {
        // SAFETY: `# Safety` of `Vector::arrange`: 32 bytes at `table` are readable, and the machine has AVX2. Shuffles
        // work within lanes of 16 bytes and clear each byte whose index has the top bit set. One shuffle takes the
        // bytes that stay in their lane; the other, of the register with its lanes swapped, takes the rest.
        unsafe {
            let table = _mm256_loadu_si256(table.cast());
            let lane = _mm256_set_epi64x(0x1010_1010_1010_1010, 0x1010_1010_1010_1010, 0, 0);
            // Bit 4 set: from the other lane.
            let other = _mm256_slli_epi16::<3>(_mm256_xor_si256(table, lane));
            let top = _mm256_set1_epi8(i8::MIN);
            let index = _mm256_and_si256(table, _mm256_set1_epi8(0x0F));
            let far = _mm256_and_si256(other, top);
            let own = _mm256_or_si256(index, far);
            let swapped = _mm256_or_si256(index, _mm256_xor_si256(far, top));
            let turned = _mm256_permute2x128_si256::<0x01>(self.0, self.0);
            let near = _mm256_shuffle_epi8(self.0, own);
            Ymm(_mm256_or_si256(near, _mm256_shuffle_epi8(turned, swapped)))
        }
    }

    #[inline(always)]
    unsafe fn pick(self, from: Ymm, table: *const u8) -> Ymm {
        // SAFETY: `# Safety` of `Vector::pick`: 32 bytes at `table` are readable, and the machine has AVX2. Bytes that
        // stay have the top bit set, and any byte arranged there is dropped.
        unsafe {
            let taken = from.arrange(table);
            Ymm(_mm256_blendv_epi8(taken.0, self.0, _mm256_loadu_si256(table.cast())))
        }
    }

    #[inline(always)]
    unsafe fn splice(self, rest: Ymm, count: usize) -> Ymm {
        // SAFETY: `# Safety` of `Vector::splice`: `count` is at most 32, so the 32 bytes from `32 - count` on
        // are within `SPLICE_32`. The machine has AVX2.
        unsafe {
            let own = _mm256_loadu_si256(SPLICE_32.as_flattened().as_ptr().add(32 - count).cast());
            Ymm(_mm256_blendv_epi8(rest.0, self.0, own))
        }
    }

    #[inline(always)]
    unsafe fn extend(self, sign: u8) -> Ymm {
        // SAFETY: `# Safety` of `Vector::extend`: the machine has AVX2.
        unsafe {
            let sign = _mm256_set1_epi8(sign.cast_signed());
            Ymm(_mm256_sub_epi8(_mm256_xor_si256(self.0, sign), sign))
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        prefetch(at);
    }

    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        prefetch_to_write(at);
    }

    #[inline(always)]
    fn fence() {
        fence();
    }
}

// Registers of 64 bytes: AVX-512 with byte and word instructions (BW), and the byte permutes of VBMI.

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zmm(__m512i);

/// Bytes moved up by one within each pair, and down; then pairs of bytes.
const UP_8: [u8; 16] = [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14];
const DOWN_8: [u8; 16] = [1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15];
const UP_16: [u8; 16] = [0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13];
const DOWN_16: [u8; 16] = [2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15];

/// Returns 16 bytes, repeated in every lane.
#[inline(always)]
unsafe fn lanes(bytes: &[u8; 16]) -> __m512i {
    // SAFETY: an array of 16 bytes is readable. `exchange` alone calls this, and its `# Safety` says that the
    // machine has AVX-512.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within_64<const SHIFT: u32>(low: u8, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: `exchange` alone calls this, and its `# Safety` says that the machine has AVX-512.
    unsafe {
        let low = _mm512_set1_epi8(low.cast_signed());
        // 0xCA selects the second operand where the first is set, and the third elsewhere.
        let first = _mm512_ternarylogic_epi32::<0xCA>(low, a, _mm512_slli_epi16::<SHIFT>(b));
        let second = _mm512_ternarylogic_epi32::<0xCA>(low, _mm512_srli_epi16::<SHIFT>(a), b);
        (first, second)
    }
}

/// Returns the bytes of a register at the positions in a table, each modulo 64.
#[inline(always)]
unsafe fn permuted(table: __m512i, from: __m512i) -> __m512i {
    // SAFETY: `arrange` and `pick` alone call this, and their `# Safety` says that the machine has AVX-512 with
    // VBMI.
    unsafe {
        // Miri supports only the permute of two registers. With one register twice it gives the same result.
        match cfg!(miri) {
            true => _mm512_permutex2var_epi8(from, table, from),
            false => _mm512_permutexvar_epi8(table, from),
        }
    }
}

// SAFETY: loads and stores move 64 bytes.
unsafe impl Vector for Zmm {
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Zmm {
        // SAFETY: `# Safety` of `Vector::load`: 64 bytes at `from` are readable, and the machine has AVX-512.
        Zmm(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> Zmm {
        // SAFETY: `# Safety` of `Vector::load_lanes`: 16 bytes are readable for each of four lanes, and the machine has AVX-512.
        // Broadcasts with a mask use no shuffle unit.
        unsafe {
            let all = _mm512_castsi128_si512(_mm_loadu_si128(from[0].cast()));
            let all = _mm512_mask_broadcast_i32x4(all, 0x00F0, _mm_loadu_si128(from[1].cast()));
            let all = _mm512_mask_broadcast_i32x4(all, 0x0F00, _mm_loadu_si128(from[2].cast()));
            Zmm(_mm512_mask_broadcast_i32x4(all, 0xF000, _mm_loadu_si128(from[3].cast())))
        }
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: [*mut u8; 4]) {
        // SAFETY: `# Safety` of `Vector::store_lanes`: 16 bytes are writable for each of four lanes, and the machine has AVX-512.
        unsafe {
            _mm_storeu_si128(to[0].cast(), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(to[1].cast(), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(to[2].cast(), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(to[3].cast(), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::store`: 64 bytes at `to` are writable, and the machine has AVX-512.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, len: usize) {
        // SAFETY: `# Safety` of `Vector::store_first`: `len` is below 64 and `len` bytes at `to` are writable. The mask
        // leaves all other bytes untouched. The machine has AVX-512 with BW.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), (1u64 << len) - 1, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::stream`: 64 bytes at `to` are writable, `to` is a multiple of 64,
        // and the machine has AVX-512.
        unsafe {
            // Miri does not support streamed stores; this one has the same bounds and alignment.
            match cfg!(miri) {
                true => _mm512_store_si512(to.cast(), self.0),
                false => _mm512_stream_si512(to.cast(), self.0),
            }
        }
    }

    #[inline(always)]
    unsafe fn exchange(level: u8, Zmm(a): Zmm, Zmm(b): Zmm) -> (Zmm, Zmm) {
        // SAFETY: `# Safety` of `Vector::exchange`: the machine has AVX-512 with BW.
        let (a, b) = unsafe {
            match level {
                0 => within_64::<1>(0x55, a, b),
                1 => within_64::<2>(0x33, a, b),
                2 => within_64::<4>(0x0F, a, b),
                3 => (
                    _mm512_mask_shuffle_epi8(a, 0xAAAA_AAAA_AAAA_AAAA, b, lanes(&UP_8)),
                    _mm512_mask_shuffle_epi8(b, 0x5555_5555_5555_5555, a, lanes(&DOWN_8)),
                ),
                4 => (
                    _mm512_mask_shuffle_epi8(a, 0xCCCC_CCCC_CCCC_CCCC, b, lanes(&UP_16)),
                    _mm512_mask_shuffle_epi8(b, 0x3333_3333_3333_3333, a, lanes(&DOWN_16)),
                ),
                5 => (
                    _mm512_mask_shuffle_epi32::<0xA0>(a, 0xAAAA, b),
                    _mm512_mask_shuffle_epi32::<0xF5>(b, 0x5555, a),
                ),
                6 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
                7 => (
                    _mm512_mask_permutex_epi64::<0x44>(a, 0xCC, b),
                    _mm512_mask_permutex_epi64::<0xEE>(b, 0x33, a),
                ),
                _ => (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b)),
            }
        };
        (Zmm(a), Zmm(b))
    }

    #[inline(always)]
    unsafe fn arrange(self, table: *const u8) -> Zmm {
        // SAFETY: `# Safety` of `Vector::arrange`: 64 bytes at `table` are readable, and the machine has
        // AVX-512 with VBMI.
        Zmm(unsafe { permuted(_mm512_loadu_si512(table.cast()), self.0) })
    }

    #[inline(always)]
    unsafe fn copy_short(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: `# Safety` of `Vector::copy_short`: `len` is below 64, and `len` bytes at `from` are readable and at
        // `to` writable. The mask leaves all other bytes untouched. The machine has AVX-512 with BW.
        unsafe {
            let mask = (1u64 << len) - 1;
            _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_maskz_loadu_epi8(mask, from.cast()));
        }
    }

    #[inline(always)]
    unsafe fn pick(self, from: Zmm, table: *const u8) -> Zmm {
        // SAFETY: `# Safety` of `Vector::pick`: 64 bytes at `table` are readable, and the machine has AVX-512
        // with BW and VBMI.
        unsafe {
            let table = _mm512_loadu_si512(table.cast());
            let taken = _knot_mask64(_mm512_movepi8_mask(table));
            Zmm(_mm512_mask_mov_epi8(self.0, taken, permuted(table, from.0)))
        }
    }

    #[inline(always)]
    unsafe fn splice(self, rest: Zmm, count: usize) -> Zmm {
        // SAFETY: `# Safety` of `Vector::splice`: the machine has AVX-512 with BW.
        unsafe {
            let own = if count == 64 { u64::MAX } else { (1 << count) - 1 };
            Zmm(_mm512_mask_mov_epi8(rest.0, own, self.0))
        }
    }

    #[inline(always)]
    unsafe fn extend(self, sign: u8) -> Zmm {
        // SAFETY: `# Safety` of `Vector::extend`: the machine has AVX-512 with BW.
        unsafe {
            let sign = _mm512_set1_epi8(sign.cast_signed());
            Zmm(_mm512_sub_epi8(_mm512_xor_si512(self.0, sign), sign))
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        prefetch(at);
    }

    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        prefetch_to_write(at);
    }

    #[inline(always)]
    fn fence() {
        fence();
    }
}
