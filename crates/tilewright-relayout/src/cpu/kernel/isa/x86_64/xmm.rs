//! Registers of 16 bytes, with the instructions of AVX2.

use super::super::vector::Vector;
use core::arch::x86_64::*;

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Xmm(__m128i);

/// The bytes that [`Vector::splice`] keeps: a register loaded `count` bytes before the first 0 of this table has them
/// set.
static SPLICE: [[u8; 16]; 2] = [[0xFF; 16], [0; 16]];

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within<const SHIFT: i32>(low: u8, a: __m128i, b: __m128i) -> (__m128i, __m128i) {
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
                0 => within::<1>(0x55, a, b),
                1 => within::<2>(0x33, a, b),
                2 => within::<4>(0x0F, a, b),
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
        // are within `SPLICE`. The machine has AVX2.
        unsafe {
            let own = _mm_loadu_si128(SPLICE.as_flattened().as_ptr().add(16 - count).cast());
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
