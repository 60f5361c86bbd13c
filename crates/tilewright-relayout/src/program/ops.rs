//! From digits of the destination to an offset of the source: a short program of multiplications and
//! divisions on a few registers.
//!
//! Law: a [`Run`] is what the program says at each of its inputs.

/// One operation on registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Register `from` keeps its quotient by `by`; register `to` gets the remainder.
    Split { from: usize, by: u64, to: usize },
    /// Register `minor` becomes `major · extent + minor`.
    Merge { major: usize, minor: usize, extent: u64 },
    /// What is not below `extent` is padding.
    Within { register: usize, extent: u64 },
    /// The remainder of register `from` by `by` counts `stride`; its quotient stays.
    Digit { from: usize, by: u64, stride: i64 },
    /// What is left of register `from` counts `stride`.
    Rest { from: usize, stride: i64 },
}

/// A number and by how much it grows with the input that is walked.
pub(crate) type Line = (u64, u64);

/// A part of an offset that is arithmetic for `len` inputs, or padding for as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) offset: i64,
    pub(crate) stride: i64,
    pub(crate) len: u64,
    pub(crate) padding: bool,
}

/// Runs a program on registers that hold its inputs; the input that grows does so `limit` times.
pub(crate) fn run(ops: &[Op], limit: u64, registers: &mut [Line]) -> Run {
    let mut run = Run { offset: 0, stride: 0, len: limit, padding: false };
    for op in ops {
        match *op {
            Op::Split { from, by, to } => {
                (registers[from], registers[to]) = divide(registers[from], by, &mut run.len);
            }
            Op::Merge { major, minor, extent } => {
                let (at, growth) = registers[major];
                registers[minor].0 += at * extent;
                registers[minor].1 = registers[minor].1.wrapping_add(growth.wrapping_mul(extent));
            }
            Op::Within { register, extent } => {
                let (at, growth) = registers[register];
                if at >= extent {
                    return Run { padding: true, ..run };
                }
                if growth > 0 {
                    run.len = run.len.min((extent - at).div_ceil(growth));
                }
            }
            Op::Digit { from, by, stride } => {
                let (rest, digit) = divide(registers[from], by, &mut run.len);
                registers[from] = rest;
                run.add(digit, stride);
            }
            Op::Rest { from, stride } => run.add(registers[from], stride),
        }
    }
    run
}

impl Run {
    fn add(&mut self, (at, growth): Line, stride: i64) {
        // Within the extents the layout bounds the offset; beyond, the run has ended.
        self.offset += at as i64 * stride;
        self.stride = self.stride.wrapping_add((growth as i64).wrapping_mul(stride));
    }
}

/// The quotient and the remainder of a growing number; `len` is cut where they stop growing evenly.
fn divide((at, growth): Line, by: u64, len: &mut u64) -> (Line, Line) {
    let (quotient, rest) = (at / by, at % by);
    if growth == 0 {
        return ((quotient, 0), (rest, 0));
    }
    if growth < by {
        *len = (*len).min((by - rest).div_ceil(growth));
        return ((quotient, 0), (rest, growth));
    }
    if growth.is_multiple_of(by) {
        return ((quotient, growth / by), (rest, 0));
    }
    *len = 1;
    ((quotient, 0), (rest, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x` in digits of 3 and 4, their quotient merged under the lower digit; 90 and more is padding.
    const PROGRAM: [Op; 7] = [
        Op::Within { register: 0, extent: 90 },
        Op::Split { from: 0, by: 3, to: 1 },
        Op::Split { from: 0, by: 4, to: 2 },
        Op::Merge { major: 1, minor: 0, extent: 9 },
        Op::Digit { from: 0, by: 5, stride: -7 },
        Op::Rest { from: 0, stride: 100 },
        Op::Rest { from: 2, stride: 1000 },
    ];

    fn plain(x: u64) -> Option<i64> {
        let merged = (x % 3) * 9 + x / 3 / 4;
        let offset = (merged % 5) as i64 * -7 + (merged / 5) as i64 * 100;
        (x < 90).then_some(offset + (x / 3 % 4) as i64 * 1000)
    }

    #[test]
    fn runs_are_what_they_say() {
        for (growth, x) in (1u64..=13).flat_map(|growth| (0..108u64).map(move |x| (growth, x))) {
            for limit in 1..=(108 - x).div_ceil(growth) {
                let run = run(&PROGRAM, limit, &mut [(x, growth), (7, 7), (7, 7)]);
                assert!(run.len >= 1 && run.len <= limit);
                for i in 0..run.len {
                    let offset = run.offset + i as i64 * run.stride;
                    let said = (!run.padding).then_some(offset);
                    assert_eq!(said, plain(x + i * growth), "{x} + {i}·{growth}");
                }
            }
        }
    }
}
