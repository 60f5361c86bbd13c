//! Registers of 64 bytes: AVX-512 with byte and word instructions (BW), and the byte permutes of VBMI.

use super::super::vector::Vector;
use core::arch::x86_64::*;

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
unsafe fn within<const SHIFT: u32>(low: u8, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
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
                0 => within::<1>(0x55, a, b),
                1 => within::<2>(0x33, a, b),
                2 => within::<4>(0x0F, a, b),
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
        super::prefetch(at);
    }

    #[inline(always)]
    fn prefetch_to_write(at: *const u8) {
        super::prefetch_to_write(at);
    }

    #[inline(always)]
    fn fence() {
        super::fence();
    }
}
