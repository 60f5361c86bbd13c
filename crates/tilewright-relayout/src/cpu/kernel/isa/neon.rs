//! Registers of 16 bytes: NEON, which every 64-bit ARM has. Its transposes of pairs are exchanges.

use core::arch::aarch64::*;

use super::Vector;

/// A register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quad(uint8x16_t);

/// The bytes that [`Vector::splice`] keeps: a register loaded `count` bytes before the first 0 of this table has them
/// set.
static SPLICE: [[u8; 16]; 2] = [[0xFF; 16], [0; 16]];

/// Exchanges bits within bytes: `low` masks those whose address has the level's bit clear.
#[inline(always)]
unsafe fn within<const SHIFT: i32>(
    low: u8,
    a: uint8x16_t,
    b: uint8x16_t,
) -> (uint8x16_t, uint8x16_t) {
    // SAFETY: NEON is part of 64-bit ARM.
    unsafe {
        let low = vdupq_n_u8(low);
        (vbslq_u8(low, a, vshlq_n_u8::<SHIFT>(b)), vbslq_u8(low, vshrq_n_u8::<SHIFT>(a), b))
    }
}

// SAFETY: loads and stores move 16 bytes.
unsafe impl Vector for Quad {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Quad {
        // SAFETY: `# Safety` of `Vector::load`: 16 bytes at `from` are readable. NEON is part of 64-bit ARM.
        Quad(unsafe { vld1q_u8(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::store`: 16 bytes at `to` are writable. NEON is part of 64-bit ARM.
        unsafe { vst1q_u8(to, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `# Safety` of `Vector::stream`: 16 bytes at `to` are writable, which is what `store` asks
        // for.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn exchange(level: u8, Quad(a): Quad, Quad(b): Quad) -> (Quad, Quad) {
        // SAFETY: NEON is part of 64-bit ARM.
        let (a, b) = unsafe {
            match level {
                0 => within::<1>(0x55, a, b),
                1 => within::<2>(0x33, a, b),
                2 => within::<4>(0x0F, a, b),
                3 => (vtrn1q_u8(a, b), vtrn2q_u8(a, b)),
                4 => {
                    let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                    (vreinterpretq_u8_u16(vtrn1q_u16(a, b)), vreinterpretq_u8_u16(vtrn2q_u16(a, b)))
                }
                5 => {
                    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                    (vreinterpretq_u8_u32(vtrn1q_u32(a, b)), vreinterpretq_u8_u32(vtrn2q_u32(a, b)))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    (vreinterpretq_u8_u64(vtrn1q_u64(a, b)), vreinterpretq_u8_u64(vtrn2q_u64(a, b)))
                }
            }
        };
        (Quad(a), Quad(b))
    }

    #[inline(always)]
    unsafe fn arrange(self, table: *const u8) -> Quad {
        // SAFETY: `# Safety` of `Vector::arrange`: 16 bytes at `table` are readable. NEON is part of 64-bit
        // ARM.
        Quad(unsafe { vqtbl1q_u8(self.0, vld1q_u8(table)) })
    }

    #[inline(always)]
    unsafe fn pick(self, from: Quad, table: *const u8) -> Quad {
        // SAFETY: `# Safety` of `Vector::pick`: 16 bytes at `table` are readable. NEON is part of 64-bit ARM.
        // A byte whose index in the table is beyond the register stays.
        Quad(unsafe { vqtbx1q_u8(self.0, from.0, vld1q_u8(table)) })
    }

    #[inline(always)]
    unsafe fn splice(self, rest: Quad, count: usize) -> Quad {
        // SAFETY: `# Safety` of `Vector::splice`: `count` is at most 16, so the 16 bytes from `16 - count` on
        // are within `SPLICE`. NEON is part of 64-bit ARM.
        unsafe {
            let own = vld1q_u8(SPLICE.as_flattened().as_ptr().add(16 - count));
            Quad(vbslq_u8(own, self.0, rest.0))
        }
    }

    #[inline(always)]
    unsafe fn extend(self, sign: u8) -> Quad {
        // SAFETY: NEON is part of 64-bit ARM.
        unsafe {
            let sign = vdupq_n_u8(sign);
            Quad(vsubq_u8(veorq_u8(self.0, sign), sign))
        }
    }

    #[inline(always)]
    fn prefetch(_at: *const u8) {}

    #[inline(always)]
    fn prefetch_to_write(_at: *const u8) {}

    #[inline(always)]
    fn fence() {}
}
