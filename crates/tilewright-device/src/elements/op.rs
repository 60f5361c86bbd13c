//! An operation of a program of digits, as lines of a text.

use crate::text::{Numbers, Text};
use tilewright_relayout::{Digits, Op};

/// Writes an operation on the registers `r<group>_0` …, of which the offset of the source is made in `s`. Where there is
/// no element, the turn of the innermost loop ends.
pub(crate) fn write(
    group: usize,
    op: &Op,
    digits: &Digits,
    text: &mut Text,
    numbers: &mut Numbers,
) {
    let r = |register: usize| format!("r{group}_{register}");
    match *op {
        Op::Split { from, by, to } => {
            let by = numbers.add(by);
            text.line(&format!("{} = {} % {by};", r(to), r(from)));
            text.line(&format!("{} /= {by};", r(from)));
        }
        Op::Merge { major, minor, extent } => {
            text.line(&format!("{} += {} * {};", r(minor), r(major), numbers.add(extent)));
        }
        Op::Within { register, extent } => {
            text.line(&format!("if ({} >= {}) continue;", r(register), numbers.add(extent)));
        }
        Op::Move { register, from, extent, to } => {
            let (it, from) = (r(register), numbers.add(from));
            let outside = format!("{it} < {from} || {it} - {from} >= {}", numbers.add(extent));
            text.line(&format!("if ({outside}) continue;"));
            text.line(&format!("{it} = {it} - {from} + {};", numbers.add(to)));
        }
        Op::Digit { from, by, stride } => {
            let (by, stride) = (numbers.add(by), numbers.signed(stride));
            text.line(&format!("s += (i64)({} % {by}) * {stride};", r(from)));
            text.line(&format!("{} /= {by};", r(from)));
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
