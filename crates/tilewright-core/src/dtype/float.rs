//! Float formats: the bit patterns of one and of the extreme values.

/// A format: the sign, if there is one, is the top bit; then the exponent; then the mantissa.
#[derive(Clone, Copy, Debug)]
pub(super) struct Float {
    exponent: u32,
    mantissa: u32,
    bias: u32,
    ends: Ends,
}

/// The meaning of the patterns with the largest exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// IEEE 754: infinities, and NaNs above them.
    Infinite,
    /// The largest pattern of either sign is the NaN; infinities are missing (`fn`).
    OneNan,
    /// All patterns are finite numbers.
    Finite,
    /// All patterns are finite except one NaN, which replaces minus zero (`fnuz`).
    NoMinusZero,
    /// No sign; the largest pattern is the NaN (`fnu`).
    Unsigned,
}

impl Float {
    /// Creates the format with the usual bias: half of the exponents are below 0.
    pub(super) const fn new(exponent: u32, mantissa: u32, ends: Ends) -> Float {
        let half = 1 << (exponent - 1);
        // The formats in which a NaN replaces minus zero have a bias that is larger by one.
        let bias = if matches!(ends, Ends::NoMinusZero) { half } else { half - 1 };
        Float { exponent, mantissa, bias, ends }
    }

    /// Returns the format with another bias.
    pub(super) const fn biased(self, bias: u32) -> Float {
        Float { bias, ..self }
    }

    /// Returns the width in bits.
    pub(super) const fn bits(self) -> u32 {
        let sign = !matches!(self.ends, Ends::Unsigned) as u32;
        sign + self.exponent + self.mantissa
    }

    /// Returns the pattern of 1.
    pub(super) const fn one(self) -> u128 {
        (self.bias as u128) << self.mantissa
    }

    /// Returns the pattern of the highest value: +∞ if there is one.
    pub(super) const fn highest(self) -> u128 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.ends {
            Ends::Infinite => all - ((1 << self.mantissa) - 1),
            Ends::OneNan | Ends::Unsigned => all - 1,
            Ends::Finite | Ends::NoMinusZero => all,
        }
    }

    /// Returns the pattern of the lowest value: −∞ if there is one.
    pub(super) const fn lowest(self) -> u128 {
        match self.ends {
            Ends::Unsigned => 0,
            Ends::Infinite | Ends::OneNan | Ends::Finite | Ends::NoMinusZero => {
                self.highest() | 1 << (self.bits() - 1)
            }
        }
    }
}
