//! Every `n`th element of a row, side by side, in registers: each register out takes, by a table, its
//! part of each of `n` registers in.

use super::{
    Tools,
    few::{self, pick_all},
    strip::{self, Make, Stage, Strip},
    vector::Vector,
};
use crate::{cpu::cost, cpu::weave::Reach, program::region::RegionRef};

/// The most elements of which one is taken: of more, hardly two lie on a line.
const MOST: i64 = 8;

/// Of how many elements side by side a part takes one, along a loop that is contiguous in the destination;
/// `None` if it is no such part, or if it takes others of them elsewhere.
pub(crate) fn one_of(part: &RegionRef<'_>) -> Option<usize> {
    let (last, rest) = part.loops.split_last()?;
    let run = i64::try_from(part.run).ok().filter(|run| !part.packed && *run <= 16)?;
    let n = last.src / run;
    let whole = last.dst == run && last.src % run == 0 && (2..=MOST).contains(&n);
    let alone = rest.iter().all(|turn| turn.src.unsigned_abs() >= last.src.unsigned_abs());
    (whole && alone && part.run.is_power_of_two()).then_some(n as usize)
}

/// Runs a part that takes one of a few elements. Returns whether it did.
pub(super) fn thin(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    let Some(n) = one_of(part) else { return false };
    if !part.is_within(src.len(), out.len()) {
        return false;
    }
    match n {
        2 => rows::<2>(tools, part, src, out),
        3 => rows::<3>(tools, part, src, out),
        4 => rows::<4>(tools, part, src, out),
        5 => rows::<5>(tools, part, src, out),
        6 => rows::<6>(tools, part, src, out),
        7 => rows::<7>(tools, part, src, out),
        _ => rows::<8>(tools, part, src, out),
    }
}

/// Reads `N` registers one behind the other.
struct Thin<const N: usize> {
    tables: [[u8; 64]; N],
}

impl<const N: usize> Make<1> for Thin<N> {
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; 1] {
        // SAFETY: the caller's promise; the tables were made for registers of `V`.
        unsafe {
            let mut held = [V::load(from); N];
            for (i, register) in held.iter_mut().enumerate().skip(1) {
                *register = V::load(from.add(i * V::BYTES));
            }
            [pick_all(held, &self.tables)]
        }
    }

    #[inline(always)]
    fn ask<V: Vector>(&self, from: *const u8) {
        for i in 0..N {
            V::prefetch(from.wrapping_add(i * V::BYTES));
        }
    }
}

/// The rows of a part that takes one of `N` elements, whose every byte lies in `src` and `out`. Returns
/// whether they are long enough.
fn rows<const N: usize>(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
) -> bool {
    let Some((last, around)) = part.loops.split_last() else { return false };
    let width = part.run as usize;
    let Ok(len) = usize::try_from(last.extent.saturating_mul(part.run)) else { return false };
    // The last element of a row may have none behind it.
    let long = |size: &&usize| **size + width <= len;
    let Some(&register) = strip::registers(tools.isa).iter().find(long) else { return false };
    let make = Thin { tables: few::tables::<N>(width, register, false)[0] };
    let far = tools.reach == Reach::Far && len >= 4 * cost::LINE as usize;
    let mut stage = far.then(|| Stage::new(tools.scratch));
    let (source, target) = (src.as_ptr(), out.as_mut_ptr());
    strip::each(around, (part.src, part.dst), &mut |from, to, next| {
        let whole = src.len() - from as usize >= N * len;
        let part = if whole { len } else { len - width };
        let strip = Strip {
            from: source.wrapping_offset(from as isize),
            next: source.wrapping_offset(next as isize),
            step: N * register,
            last: N * (part - register),
            to: target.wrapping_offset(to as isize),
            apart: 0,
            len: part,
            ahead: strip::ahead(tools.reach, N * part, 1),
        };
        // SAFETY: every byte of the part lies within the slices, one of which is exclusive, as was found
        // before. A step reads `N` registers one behind the other and writes one; the last one ends
        // `N * part` bytes behind the row's first, which lies in the source: either that was found, or
        // the row's last element, which does, begins there. Rows are no shorter than a register. The
        // machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe {
            strip::run((tools.isa, register), &make, &strip, stage.as_mut());
            let (from, to) = (strip.from.wrapping_add(N * part), strip.to.wrapping_add(part));
            core::ptr::copy_nonoverlapping(from, to, len - part);
        }
    });
    if let Some(stage) = stage {
        // SAFETY: what is left in the stage is the part's.
        unsafe { strip::finish(tools.isa, stage) };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{super::few::tests::check, *};
    use crate::cpu::kernel::suite::some;
    use crate::program::region::Loop;

    #[test]
    fn every_nth_element_is_taken_at_every_width_and_number() {
        let mut found = 0;
        let all: Vec<(i64, i64)> =
            (2..10).flat_map(|n| [1, 2, 3, 4, 8, 16, 32].map(|width| (n, width))).collect();
        let counts: &[i64] = if cfg!(miri) { &[67] } else { &[1, 3, 17, 64, 67, 191, 1000, 2100] };
        for (n, width) in some(&all, 29) {
            for &count in counts {
                for (outer, gap) in some(&[(1, 0), (3, 0), (2, 5)], 4) {
                    let turn = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
                    let (row, packed) = (n * count * width + gap, count * width + gap);
                    let loops = [turn(outer, row, packed), turn(count, n * width, width)];
                    let loops = &loops[usize::from(outer == 1)..];
                    let part =
                        RegionRef { packed: false, src: 3, dst: 11, run: width as u64, loops };
                    found += usize::from(one_of(&part).is_some());
                    // The source ends with the last element.
                    let src = 3 + (outer - 1) * row + (count - 1) * n * width + width;
                    check(&part, src as usize, (outer * packed + 16) as usize);
                }
            }
        }
        assert!(found > if cfg!(miri) { 0 } else { 500 }, "{found}");
    }

    #[test]
    fn elements_taken_elsewhere_are_none_of_it() {
        let turn = |extent, src, dst| Loop { extent, src, dst };
        let of =
            |loops: &[Loop]| one_of(&RegionRef { packed: false, src: 0, dst: 0, run: 4, loops });
        assert_eq!(of(&[turn(100, 8, 4)]), Some(2));
        assert_eq!(of(&[turn(2, 4, 400), turn(100, 8, 4)]), None);
        assert_eq!(of(&[turn(100, 36, 4)]), None);
        assert_eq!(of(&[turn(100, -8, 4)]), None);
        assert_eq!(of(&[turn(100, 8, 8)]), None);
    }
}
