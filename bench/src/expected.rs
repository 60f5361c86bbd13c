//! The expected bytes of a case, computed one element at a time from the offsets of its layouts, without a plan. Checks
//! of cases without a checksum and tests use them.

use tilewright::relayout::Extend;

use crate::{Case, data};

impl Case {
    /// Returns the destination's bytes, computed bit by bit: slow, but simple enough to be trusted.
    ///
    /// ```
    /// use tilewright_bench::{Size, data, definitions};
    /// let all = definitions()?;
    /// let odd = all.iter().find(|case| case.name() == "transpose-u8-odd").unwrap();
    /// let out = odd.case(Size::Small)?.expected();
    /// // Element (1, 0) of 37 by 71 is byte 71 of the source, and byte 1 of the destination.
    /// assert_eq!((out.len(), out[1]), (37 * 71, data::byte(71)));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn expected(&self) -> Vec<u8> {
        let elements = self.elements();
        let (from, to) = (u64::from(elements.src_bits), u64::from(elements.dst_bits));
        let mut out = vec![0; usize::try_from(self.dst_bytes()).unwrap_or(0)];
        if self.fill() != 0 {
            (0..self.dst().capacity()).for_each(|place| put(&mut out, place * to, to, self.fill()));
        }
        let mut coord = vec![0; self.dims().len()];
        for _ in 0..self.src().size() {
            let place = |layout: &tilewright::TensorLayout| {
                layout.offset(&coord).ok().and_then(|offset| u64::try_from(offset).ok())
            };
            if let (Some(src), Some(dst)) = (place(self.src()), place(self.dst())) {
                let value = extended(take(src * from, from), from, elements.extend);
                put(&mut out, dst * to, to, value);
            }
            advance(&mut coord, self.dims());
        }
        out
    }
}

/// Advances to the next coordinate, the last dim fastest.
fn advance(coord: &mut [u64], dims: &[u64]) {
    for (at, extent) in coord.iter_mut().zip(dims).rev() {
        *at += 1;
        if *at < *extent {
            return;
        }
        *at = 0;
    }
}

/// Returns `bits` bits of the source, from bit `at` on; elements narrower than a byte do not cross one.
fn take(at: u64, bits: u64) -> u128 {
    let bytes = (at / 8)..(at + bits).div_ceil(8);
    let value = bytes.rev().fold(0, |value, index| value << 8 | u128::from(data::byte(index)));
    value >> (at % 8) & low(bits)
}

fn put(out: &mut [u8], at: u64, bits: u64, value: u128) {
    let first = (at / 8) as usize;
    let value = (value & low(bits)) << (at % 8);
    let mask = low(bits) << (at % 8);
    for (i, byte) in out.iter_mut().skip(first).take(bits.div_ceil(8) as usize).enumerate() {
        let (mask, value) = ((mask >> (8 * i)) as u8, (value >> (8 * i)) as u8);
        *byte = *byte & !mask | value;
    }
}

fn extended(value: u128, bits: u64, extend: Extend) -> u128 {
    match extend {
        Extend::Sign if value >> (bits - 1) & 1 == 1 => value | !low(bits),
        Extend::Sign | Extend::Zero => value,
    }
}

fn low(bits: u64) -> u128 {
    if bits < 128 { (1 << bits) - 1 } else { u128::MAX }
}
