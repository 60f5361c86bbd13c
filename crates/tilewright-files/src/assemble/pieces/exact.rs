//! Changes of the element type that lose no bit: bf16 and f16 to f32, and back. If the caller allows it, f32 is rounded to bf16.
//! Pieces carry the change, and each thread applies it to the elements that it moves.
//!
//! Both are maps of bits, including NaNs: the payload of a NaN keeps its place after the sign and the exponent. In the direction
//! back, an element whose bits cannot be restored from the result is refused.

use tilewright_core::Dtype;

/// The change of the bits of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exact {
    /// No change.
    Same,
    /// To f32.
    Widen(Half),
    /// Back to this type.
    Narrow(Half),
    /// To the nearest bf16, halfway to the even one; a NaN stays one.
    Round,
}

/// A type of 16 bits that f32 holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Bf16,
    F16,
}

impl Half {
    fn of(dtype: Dtype) -> Option<Half> {
        match dtype {
            Dtype::Bf16 => Some(Half::Bf16),
            Dtype::F16 => Some(Half::F16),
            // open set
            _ => None,
        }
    }

    fn widened(self, bits: u16) -> u32 {
        match self {
            Half::Bf16 => u32::from(bits) << 16,
            Half::F16 => widened(bits),
        }
    }

    fn narrowed(self, bits: u32) -> Option<u16> {
        let narrow = match self {
            Half::Bf16 => (bits >> 16) as u16,
            Half::F16 => narrowed(bits),
        };
        (self.widened(narrow) == bits).then_some(narrow)
    }
}

/// Returns the f32 of an f16, bit by bit.
fn widened(bits: u16) -> u32 {
    let (sign, exponent) = (u32::from(bits >> 15) << 31, u32::from(bits >> 10) & 31);
    let fraction = u32::from(bits) & 0x3ff;
    match (exponent, fraction) {
        (0, 0) => sign,
        // 2⁻²⁴ times the fraction, which has its highest bit at `top`.
        (0, _) => {
            let top = fraction.ilog2();
            sign | (top + 103) << 23 | (fraction << (23 - top)) & 0x7f_ffff
        }
        (31, _) => sign | 0xff << 23 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

/// Returns the f16 with this f32 if there is one, else any f16.
fn narrowed(bits: u32) -> u16 {
    let (sign, exponent) = ((bits >> 16) as u16 & 0x8000, bits >> 23 & 0xff);
    let fraction = bits & 0x7f_ffff;
    let small = (fraction >> 13) as u16;
    match exponent {
        0xff => sign | 0x7c00 | small,
        113..=142 => sign | ((exponent - 112) as u16) << 10 | small,
        103..=112 => sign | ((fraction | 0x80_0000) >> (126 - exponent)) as u16,
        _ => sign,
    }
}

impl Exact {
    /// Returns the change from one type to the other; `None` if that would be a computation.
    pub(crate) fn of(from: Dtype, to: Dtype) -> Option<Exact> {
        match (from == to, from == Dtype::F32, to == Dtype::F32) {
            (true, ..) => Some(Exact::Same),
            (_, _, true) => Half::of(from).map(Exact::Widen),
            (_, true, _) => Half::of(to).map(Exact::Narrow),
            _ => None,
        }
    }

    /// Returns the change that rounds to bf16, where this one would refuse an element.
    pub(crate) fn rounded(self) -> Exact {
        if self == Exact::Narrow(Half::Bf16) { Exact::Round } else { self }
    }

    /// Widens the elements of 16 bits in the second half of `bytes` to f32, which fill all of it.
    pub(crate) fn widen_in_place(self, bytes: &mut [u8]) {
        let (Exact::Widen(half) | Exact::Narrow(half)) = self else { return };
        let middle = bytes.len() / 2;
        for number in 0..bytes.len() / 4 {
            let from = bytes.get(middle + 2 * number..).and_then(<[u8]>::first_chunk).copied();
            let wide = half.widened(u16::from_le_bytes(from.unwrap_or_default()));
            if let Some(to) = bytes.get_mut(4 * number..4 * number + 4) {
                to.copy_from_slice(&wide.to_le_bytes());
            }
        }
    }

    /// Returns the change to f32 of which this is the opposite.
    pub(crate) fn back(self) -> Exact {
        match self {
            Exact::Narrow(half) => Exact::Widen(half),
            Exact::Round => Exact::Widen(Half::Bf16),
            Exact::Same | Exact::Widen(_) => Exact::Same,
        }
    }

    /// Returns the change of a tensor with such elements: rounded elements narrow without loss.
    pub(crate) fn narrow(self) -> Option<Exact> {
        match self {
            Exact::Narrow(_) => Some(self),
            Exact::Round => Some(Exact::Narrow(Half::Bf16)),
            Exact::Same | Exact::Widen(_) => None,
        }
    }

    /// Returns the bits of the element that these become; `None` if it would lose a bit.
    pub(crate) fn of_bits(self, bits: u128) -> Option<u128> {
        match self {
            Exact::Same => Some(bits),
            Exact::Widen(half) => Some(half.widened(bits as u16).into()),
            Exact::Narrow(half) => half.narrowed(bits as u32).map(u128::from),
            Exact::Round => Some(rounded(bits as u32).into()),
        }
    }

    /// Writes the elements of `src` to `dst`; the error is the number of the first that would lose a bit.
    pub(crate) fn apply(self, src: &[u8], dst: &mut [u8]) -> Result<(), usize> {
        match self {
            Exact::Same => dst.copy_from_slice(src),
            Exact::Widen(half) => {
                for (from, to) in src.as_chunks::<2>().0.iter().zip(dst.as_chunks_mut::<4>().0) {
                    *to = half.widened(u16::from_le_bytes(*from)).to_le_bytes();
                }
            }
            Exact::Narrow(half) => {
                let pairs = src.as_chunks::<4>().0.iter().zip(dst.as_chunks_mut::<2>().0);
                for (number, (from, to)) in pairs.enumerate() {
                    let narrow = half.narrowed(u32::from_le_bytes(*from)).ok_or(number)?;
                    *to = narrow.to_le_bytes();
                }
            }
            Exact::Round => {
                for (from, to) in src.as_chunks::<4>().0.iter().zip(dst.as_chunks_mut::<2>().0) {
                    *to = rounded(u32::from_le_bytes(*from)).to_le_bytes();
                }
            }
        }
        Ok(())
    }
}

/// Replaces each f32 in `bytes` by the nearest one that is a bf16.
pub(crate) fn round_in_place(bytes: &mut [u8]) {
    for bytes in bytes.as_chunks_mut::<4>().0 {
        *bytes = (u32::from(rounded(u32::from_le_bytes(*bytes))) << 16).to_le_bytes();
    }
}

/// The bf16 nearest to an f32, of two the even one; a NaN keeps its upper bits and is quiet.
fn rounded(bits: u32) -> u16 {
    let high = (bits >> 16) as u16;
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return high | 0x40;
    }
    // The low half is above a half of the last bit, or is a half and the last bit is 1.
    let up = bits & 0xffff > 0x8000 || (bits & 0xffff == 0x8000 && high & 1 == 1);
    high + u16::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value of an f16, from its definition.
    fn value(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
        let size = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    #[test]
    fn all_halves_widen_to_their_values_and_come_back() {
        for bits in 0..=u16::MAX {
            for half in [Half::Bf16, Half::F16] {
                assert_eq!(half.narrowed(half.widened(bits)), Some(bits), "{half:?} {bits:#x}");
            }
            let wide = f32::from_bits(Half::F16.widened(bits));
            match bits >> 10 & 31 {
                31 => assert_eq!(
                    (wide.is_nan(), wide.is_infinite()),
                    (bits & 0x3ff > 0, bits & 0x3ff == 0)
                ),
                _ => assert_eq!(f64::from(wide), value(bits)),
            }
            assert_eq!(wide.is_sign_negative(), bits >> 15 == 1);
        }
    }

    #[test]
    fn what_would_lose_a_bit_is_found() {
        // Exhaustive over the upper 20 bits, with all lower ones 0, or one of them 1.
        for high in 0..1u32 << 20 {
            for low in [0, 1, 1 << 11] {
                let bits = high << 12 | low;
                for half in [Half::Bf16, Half::F16] {
                    let narrow = half.narrowed(bits);
                    assert!(narrow.is_none_or(|it| half.widened(it) == bits));
                }
                assert_eq!(Half::Bf16.narrowed(bits).is_some(), bits & 0xffff == 0);
                let wide = f32::from_bits(bits);
                let small = wide.abs() < 65520.0 && f64::from(wide) * 2f64.powi(24) % 1.0 == 0.0;
                if wide.is_finite() && Half::F16.narrowed(bits).is_some() {
                    assert!(small);
                }
            }
        }
        let numbers = [1.0f32, 65504.0, 65536.0].map(f32::to_le_bytes).concat();
        let mut out = [0; 6];
        assert_eq!(Exact::Narrow(Half::F16).apply(&numbers, &mut out), Err(2));
        assert_eq!(Exact::Narrow(Half::Bf16).apply(&numbers, &mut out), Err(1));
        // A NaN whose payload does not fit into f16.
        let nan = 0x7fc0_0001u32.to_le_bytes();
        assert_eq!(Exact::Narrow(Half::F16).apply(&nan, &mut out[..2]), Err(0));
    }

    #[test]
    fn f32_is_rounded_to_the_nearest_bf16() {
        assert_eq!(Exact::Narrow(Half::Bf16).rounded(), Exact::Round);
        assert_eq!(Exact::Narrow(Half::F16).rounded(), Exact::Narrow(Half::F16));
        // All upper halves, with lower ones around zero, a half and one.
        for (high, low) in (0..=u16::MAX)
            .flat_map(|high| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|low| (high, low)))
        {
            let wide = f32::from_bits(u32::from(high) << 16 | low);
            let near = rounded(wide.to_bits());
            let value = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
            if wide.is_nan() {
                assert!(value(near).is_nan());
                continue;
            }
            // Above the largest number there is infinity, which rounding takes for the next number.
            let number = |bits: u16| match value(bits) {
                it if it.is_infinite() => 2f64.powi(128).copysign(it),
                it => it,
            };
            let wide = if wide.is_infinite() { number(high) } else { f64::from(wide) };
            let apart = |bits: u16| (number(bits) - wide).abs();
            for other in [near.wrapping_sub(1), near.wrapping_add(1)] {
                let same = other >> 15 == near >> 15 && !value(other).is_nan();
                let nearer = apart(near) < apart(other);
                assert!(
                    !same || nearer || (apart(near) == apart(other) && near.is_multiple_of(2)),
                    "{wide:e}"
                );
            }
        }
    }

    #[test]
    fn types_that_are_no_part_of_one_another_are_not_changed() {
        assert_eq!(Exact::of(Dtype::Bf16, Dtype::F32), Some(Exact::Widen(Half::Bf16)));
        assert_eq!(Exact::of(Dtype::F32, Dtype::F16), Some(Exact::Narrow(Half::F16)));
        assert_eq!(Exact::of(Dtype::S32, Dtype::S32), Some(Exact::Same));
        for (from, to) in
            [(Dtype::Bf16, Dtype::F16), (Dtype::F64, Dtype::F32), (Dtype::S8, Dtype::F32)]
        {
            assert_eq!(Exact::of(from, to), None);
        }
    }
}
