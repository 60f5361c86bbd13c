//! A text that grows line by line, and the numbers that it reads. All ways write their kernels with it.
//!
//! Division by a number that is unknown to the compiler, as a multiplication. Texts use it for extents that are numbers
//! of a launch.
//!
//! Law: for all `n` below 2³¹ and all `d` from 1 to 2³¹ − 1, `n · m >> s` is `n / d`, where `m` is the low 32 bits of
//! `magic(d)` and `s` the high ones.

/// The lines of a kernel's body, indented by the braces they open.
#[derive(Clone, Debug)]
pub(crate) struct KernelText {
    text: String,
    depth: usize,
}

impl KernelText {
    pub(crate) fn new() -> KernelText {
        KernelText { text: String::new(), depth: 1 }
    }

    /// Adds a line. A line that ends in `{` or begins with `}` opens or closes a block, as the macros for threads do.
    pub(crate) fn line(&mut self, line: &str) {
        let closes = line.starts_with('}') || line == "THREADS_END";
        let opens = line.ends_with('{') || line == "THREADS_BEGIN";
        self.depth -= usize::from(closes && self.depth > 0);
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
        self.depth += usize::from(opens);
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

/// The numbers of 64 bits that a text reads as `P(0)`, `P(1)` …
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<u64>);

impl Parameters {
    /// Adds a number, and returns the expression that reads it: 64 bits, unsigned.
    pub(crate) fn add(&mut self, number: u64) -> String {
        self.0.push(number);
        format!("P({})", self.0.len() - 1)
    }

    /// Adds a signed number, and returns the expression that reads it.
    pub(crate) fn signed(&mut self, number: i64) -> String {
        format!("(i64){}", self.add(number as u64))
    }

    /// Adds a number below 2³², and returns the expression that reads it.
    pub(crate) fn short(&mut self, number: u32) -> String {
        format!("(u32){}", self.add(number.into()))
    }

    /// Adds the two numbers of a division by `by`, from 1 to 2³¹ − 1: `DIV(n, …)`, and `by` itself.
    pub(crate) fn divisor(&mut self, by: u32) -> (String, String) {
        (self.add(magic(by)), self.short(by))
    }

    /// Returns the numbers, at least one, because C does not allow empty arrays.
    pub(crate) fn into_params(mut self) -> Vec<u64> {
        if self.0.is_empty() {
            self.0.push(0);
        }
        self.0
    }
}

/// Returns the multiplier for a division by `d` in the low 32 bits, and the shift above it.
///
/// With `2^(l−1) < d ≤ 2^l`, the multiplier is `2^(31+l) / d` rounded up. It is below 2³², and exceeds the exact
/// quotient by less than one. So for `n` below 2³¹ the product exceeds the exact one by less than `2^31`, which is at
/// most `2^(31+l) / d`.
pub(crate) fn magic(d: u32) -> u64 {
    let d = u64::from(d.max(1));
    let l = d.next_power_of_two().trailing_zeros();
    let shift = 31 + l;
    (1u64 << shift).div_ceil(d) | u64::from(shift) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn divided(n: u32, by: u32) -> u32 {
        let magic = magic(by);
        ((u64::from(n) * u64::from(magic as u32)) >> (magic >> 32)) as u32
    }

    #[test]
    fn small_numbers_and_all_around_multiples_are_divided() {
        for d in 1..=2000 {
            (0..=4000).for_each(|n| assert_eq!(divided(n, d), n / d, "{n} / {d}"));
        }
        let ends = |shift: u32| (1u64 << shift).saturating_sub(3)..=(1 << shift) + 3;
        for d in (0..31).flat_map(ends).filter(|d| (1..1 << 31).contains(d)) {
            let multiples =
                (0..1u64 << 31).step_by(((1 << 31) / 97).max(d as usize) / d as usize * d as usize);
            for n in multiples.flat_map(|n| n.saturating_sub(2)..n + 3).filter(|n| *n < 1 << 31) {
                assert_eq!(u64::from(divided(n as u32, d as u32)), n / d, "{n} / {d}");
            }
            let last = (1u64 << 31) - 1;
            assert_eq!(u64::from(divided(last as u32, d as u32)), last / d, "{last} / {d}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_are_divided(n in 0u32..1 << 31, d in 1u32..1 << 31) {
            prop_assert_eq!(divided(n, d), n / d);
            let near = (n / d * d).saturating_sub(1);
            prop_assert_eq!(divided(near, d), near / d);
        }
    }
}
