//! Elements as numbers of at most 16 bits with a factor each, whose sum is the value of an element's bit pattern.
//!
//! A pattern is cut into limbs of 32 bits, below the modulus. Limb l has the weight of index l of a separate dim, and
//! number u of a limb has the factor 2^(its lowest bit).

use tilewright_core::{ByteOrder, Dtype, DtypeKind};
use tilewright_relayout::Numbers;

use crate::{
    Error, Key,
    field::Field,
    weights::{EVERY, LIMBS, Weights},
};

/// The bits of a limb.
const LIMB: u32 = 32;

/// The widest element in bits, wider than all existing blocks of elements.
const WIDEST: u32 = 1 << 16;

/// The format in which elements of an array are read.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    pub(crate) numbers: Numbers,
    /// The bits of a number that count.
    pub(crate) mask: u16,
    /// The factor of each number of an element, in the order of memory.
    pub(crate) factors: Vec<Field>,
}

/// Returns the bits of an element that count: those of its value, if it is stored in more; all of a truth value's.
fn kept(dtype: Dtype, bits: u32) -> u32 {
    match dtype.kind() {
        DtypeKind::Bool | DtypeKind::Block => bits,
        DtypeKind::Signed
        | DtypeKind::Unsigned
        | DtypeKind::Float
        | DtypeKind::Complex
        | DtypeKind::Codebook => dtype.bits().map_or(bits, |own| own.min(bits)),
    }
}

/// Returns an error for a width that is not supported.
pub(crate) fn check(dtype: Dtype, bits: u32) -> Result<(), Error> {
    let legal = matches!(bits, 1 | 2 | 4) || bits > 0 && bits.is_multiple_of(8) && bits <= WIDEST;
    if !legal {
        return Err(Error::unsupported(format!(
            "elements of {bits} bits; fingerprints take elements of 1, 2, 4 bits and of whole bytes up to {}",
            WIDEST / 8
        )));
    }
    match dtype.bits() {
        Some(own) if own > bits => Err(Error::unsupported(format!(
            "elements of {dtype} in {bits} bits; their values have {own}"
        ))),
        _ => Ok(()),
    }
}

impl Units {
    /// Returns the units of elements of a checked width.
    pub(crate) fn new(dtype: Dtype, bits: u32, order: ByteOrder, key: &Key) -> Units {
        let kept = kept(dtype, bits);
        let pairs = bits.is_multiple_of(16) && (kept < 16 || kept.is_multiple_of(16));
        let (numbers, width) = match bits {
            1 => (Numbers::Bits1, 1),
            2 => (Numbers::Bits2, 2),
            4 => (Numbers::Bits4, 4),
            _ if pairs && order.is_big() => (Numbers::Big, 16),
            _ if pairs => (Numbers::Little, 16),
            _ => (Numbers::Bytes, 8),
        };
        let mask = if kept < width { (1 << kept) - 1 } else { u16::MAX };
        let limbs = Weights::new(key, LIMBS, u64::from(bits.div_ceil(LIMB)));
        // The byte order applies to each half of a complex element.
        let halves = if dtype.kind() == DtypeKind::Complex { 2 } else { 1 };
        let (count, together) = (bits / width, (bits / width / halves).max(1));
        let factor = |unit: u32| {
            let reversed = unit / together * together + (together - 1 - unit % together);
            let bit = width * if order.is_big() { reversed } else { unit };
            if bit >= kept {
                return Field::ZERO;
            }
            limbs.of(u64::from(bit / LIMB), EVERY) * Field::of(1 << (bit % LIMB))
        };
        Units { numbers, mask, factors: (0..count).map(factor).collect() }
    }

    /// Returns the count of numbers of an element.
    pub(crate) fn per(&self) -> u64 {
        self.factors.len() as u64
    }
}
