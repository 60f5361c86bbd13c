//! Registers of 32 bytes: AVX2.

use super::super::vector::Vector;
use core::arch::x86_64::*;

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ymm(__m256i);

/// The bytes that [`Vector::splice`] keeps: a register loaded `count` bytes before the first 0 of this table has them
/// set.
static SPLICE: [[u8; 32]; 2] = [[0xFF; 32], [0; 32]];

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within<const SHIFT: i32>(low: u8, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
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
                0 => within::<1>(0x55, a, b),
                1 => within::<2>(0x33, a, b),
                2 => within::<4>(0x0F, a, b),
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
        // are within `SPLICE`. The machine has AVX2.
        unsafe {
            let own = _mm256_loadu_si256(SPLICE.as_flattened().as_ptr().add(32 - count).cast());
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
