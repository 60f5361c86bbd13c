//! Registers of 16 bytes for any machine: two words, with shifts and masks.

use super::vector::Vector;

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
