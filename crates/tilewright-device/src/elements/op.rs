//! An operation of a program of digits, as lines of a text.
//!
//! Law: after the lines, the registers and `s` have the values that the operation defines.

use crate::text::{KernelText, Parameters};
use tilewright_relayout::{Digits, Op};

/// The width of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// All values are below 2³¹, so divisions are multiplications.
    Short,
    /// 64 bits.
    Long,
}

impl Width {
    /// Returns the type of a register.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Width::Short => "u32",
            Width::Long => "u64",
        }
    }

    /// Returns the width that the registers of a program need, from the largest values after each operation.
    pub(crate) fn of(digits: &Digits) -> Width {
        let fits = |(g, group): (usize, &tilewright_relayout::Group)| {
            let mut most = vec![0u64; group.registers()];
            for digit in digits.digits().iter().filter(|digit| digit.group() == g) {
                most[digit.register()] = digit.values().end;
            }
            most.iter().all(|most| *most < LIMIT)
                && group.ops().iter().all(|op| after(op, digits, &mut most))
        };
        if digits.groups().iter().enumerate().all(fits) { Width::Short } else { Width::Long }
    }

    /// Returns a number of the program as an operand for comparison with a register.
    pub(super) fn number(self, number: u64, numbers: &mut Parameters) -> String {
        match self {
            Width::Short => format!("({}){}", self.word(), numbers.add(number.min(LIMIT))),
            Width::Long => numbers.add(number),
        }
    }

    /// Writes the lines that replace `from` by its quotient by `by`, and computes the remainder.
    pub(super) fn divide(
        self,
        from: &str,
        by: u64,
        remainder: &str,
        text: &mut KernelText,
        numbers: &mut Parameters,
    ) {
        match u32::try_from(by).ok().filter(|by| self == Width::Short && u64::from(*by) < LIMIT) {
            Some(by) => {
                let (magic, by) = numbers.divisor(by);
                text.line("{");
                text.line(&format!("const u32 q = DIV({from}, {magic});"));
                text.line(&remainder.replace("%", &format!("({from} - q * {by})")));
                text.line(&format!("{from} = q;"));
                text.line("}");
            }
            None => {
                let by = numbers.add(by);
                text.line(&remainder.replace("%", &format!("({from} % {by})")));
                text.line(&format!("{from} /= {by};"));
            }
        }
    }
}

/// The upper bound of registers of 32 bits, exclusive.
const LIMIT: u64 = 1 << 31;

/// Updates the largest values of registers after an operation; returns whether all are below the limit.
fn after(op: &Op, digits: &Digits, most: &mut [u64]) -> bool {
    let changed = match *op {
        Op::Split { from, by, to } => {
            most[to] = most[from].min(by - 1);
            most[from] /= by;
            by.max(most[to])
        }
        Op::Merge { major, minor, extent } => {
            most[minor] = most[major].saturating_mul(extent).saturating_add(most[minor]);
            extent.max(most[minor])
        }
        // A bound above the largest value may be any number.
        Op::Within { register, extent } => {
            most[register] = most[register].min(extent);
            most[register]
        }
        Op::Move { register, from, extent, to } => {
            most[register] = extent.saturating_add(to).max(from);
            most[register]
        }
        Op::Digit { from, by, .. } => {
            most[from] /= by;
            by
        }
        Op::Rest { .. } => 0,
        Op::Look { register, list } => {
            let entries = digits.list(list).unwrap_or_default();
            let held = entries.iter().filter(|entry| **entry != u32::MAX).max();
            most[register] = held.map_or(0, |entry| u64::from(*entry));
            most[register].max(entries.len() as u64)
        }
    };
    changed < LIMIT
}

/// Writes an operation on the registers `r<group>_0` …, which computes the offset of the source in `s`. If no element
/// exists, it continues with the next iteration of the innermost loop.
pub(crate) fn write(
    group: usize,
    op: &Op,
    (digits, width): (&Digits, Width),
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let r = |register: usize| format!("r{group}_{register}");
    match *op {
        Op::Split { from, by, to } => {
            width.divide(&r(from), by, &format!("{} = %;", r(to)), text, numbers);
        }
        Op::Merge { major, minor, extent } => {
            let extent = width.number(extent, numbers);
            text.line(&format!("{} += {} * {extent};", r(minor), r(major)));
        }
        Op::Within { register, extent } => {
            let extent = width.number(extent, numbers);
            text.line(&format!("if ({} >= {extent}) continue;", r(register)));
        }
        Op::Move { register, from, extent, to } => {
            let (it, from) = (r(register), width.number(from, numbers));
            let extent = width.number(extent, numbers);
            text.line(&format!("if ({it} < {from} || {it} - {from} >= {extent}) continue;"));
            text.line(&format!("{it} = {it} - {from} + {};", width.number(to, numbers)));
        }
        Op::Digit { from, by, stride } => {
            let stride = numbers.signed(stride);
            width.divide(&r(from), by, &format!("s += (i64)% * {stride};"), text, numbers);
        }
        Op::Rest { from, stride } => {
            text.line(&format!("s += (i64){} * {};", r(from), numbers.signed(stride)));
        }
        Op::Look { register, list } => {
            let entries = digits.list(list).map_or(0, <[u32]>::len);
            let it = r(register);
            text.line(&format!("if ({it} >= {entries}u) continue;"));
            text.line(&format!("{it} = list{list}[{it}];"));
            text.line(&format!("if ({it} == 0xffffffffu) continue;"));
        }
    }
}
