//! Strided pack: every `n`th element of a row, in registers. Each written register takes its bytes from `n` read
//! registers, by a table for each of them.

use super::{
    Isa, Tools,
    interleave::{self, pick_all},
    strip::{self, Make, RowStage, Strip},
    vector::Vector,
};
use crate::{
    cpu::cost,
    cpu::transpose::Locality,
    program::region::{Loop, RegionRef},
};

/// The maximal `n`; with more, two taken elements are rarely in one line.
const MOST: i64 = 8;

/// The parameters of a region that takes one of every `n` elements.
#[derive(Clone, Debug)]
pub(crate) struct StridedPack {
    /// The number of elements of which one is taken.
    n: usize,
    /// The bytes of an element.
    run: u64,
    register: usize,
    tables: Box<[[u8; 64]]>,
}

/// Returns the number of adjacent elements of which a region takes one, along a loop that is contiguous in the
/// destination; `None` if there is no such loop, or if the region takes others of them elsewhere.
fn one_of(region: &RegionRef<'_>) -> Option<usize> {
    let (last, rest) = region.loops.split_last()?;
    let run = i64::try_from(region.run).ok().filter(|run| !region.packed && *run <= 16)?;
    let n = last.src / run;
    let whole = last.dst == run && last.src % run == 0 && (2..=MOST).contains(&n);
    let alone = rest.iter().all(|level| level.src.unsigned_abs() >= last.src.unsigned_abs());
    (whole && alone && region.run.is_power_of_two()).then_some(n as usize)
}

impl StridedPack {
    /// Returns the parameters for a region; `None` if it does not take one of every few elements, or its rows are
    /// shorter than registers.
    pub(crate) fn of(isa: Isa, region: &RegionRef<'_>) -> Option<StridedPack> {
        let n = one_of(region)?;
        let (last, width) = (region.loops.last()?, region.run as usize);
        let len = usize::try_from(last.extent.checked_mul(region.run)?).ok()?;
        // The last element of a row may be the last of the source.
        let long = |size: &&usize| **size + width <= len;
        let register = *strip::registers(isa).iter().find(long)?;
        Some(StridedPack {
            n,
            run: region.run,
            register,
            tables: interleave::tables(n, width, register, false),
        })
    }

    /// Returns the number of elements of which one is taken.
    pub(crate) fn one_of(&self) -> usize {
        self.n
    }

    /// Returns the minimal extent of the last loop, for runs of `run` bytes.
    pub(crate) fn least(&self, run: u64) -> u64 {
        (self.register as u64).div_ceil(run) + 1
    }

    /// Moves the region for which this was made, or a part of it whose last loop is long enough. Returns whether it
    /// did; it does nothing if a byte is outside the slices.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        let run = region.run as i64;
        let long = |last: &Loop| {
            let picks =
                last.src == self.n as i64 * run && last.dst == run && region.run == self.run;
            picks && last.extent >= self.least(region.run)
        };
        let last = region.loops.last();
        if !region.is_within(src.len(), out.len()) || region.packed || !last.is_some_and(long) {
            return false;
        }
        match self.n {
            2 => self.rows::<2>(tools, region, src, out),
            3 => self.rows::<3>(tools, region, src, out),
            4 => self.rows::<4>(tools, region, src, out),
            5 => self.rows::<5>(tools, region, src, out),
            6 => self.rows::<6>(tools, region, src, out),
            7 => self.rows::<7>(tools, region, src, out),
            _ => self.rows::<8>(tools, region, src, out),
        }
        true
    }

    fn rows<const N: usize>(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let Some((last, around)) = region.loops.split_last() else { return };
        let (width, register) = (region.run as usize, self.register);
        let len = last.extent as usize * width;
        let make = Nth { tables: &interleave::sized::<N>(&self.tables)[0] };
        let far = tools.locality == Locality::Memory && len >= 4 * cost::LINE as usize;
        let mut stage = far.then(|| RowStage::new(tools.scratch));
        let (source, target) = (src.as_ptr(), out.as_mut_ptr());
        strip::each(around, (region.src, region.dst), &mut |from, to, next| {
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
                ahead: strip::ahead(tools.locality, N * part, 1),
            };
            // SAFETY: every byte of the region is within the slices, one of which is exclusive, as `is_within` found. A
            // step reads `N` consecutive registers and writes one; the last one ends `N * part` bytes after the row's
            // first byte. This is in the source: either that was found, or the row's last element, which is in it,
            // begins there. Rows are no shorter than a register and an element, as `least` says. The machine has the
            // instruction set, as `Isa::chosen` and its callers make sure.
            unsafe {
                strip::run((tools.isa, register), &make, &strip, stage.as_mut());
                let (from, to) = (strip.from.wrapping_add(N * part), strip.to.wrapping_add(part));
                core::ptr::copy_nonoverlapping(from, to, len - part);
            }
        });
        if let Some(stage) = stage {
            // SAFETY: all bytes left in the stage are the region's.
            unsafe { strip::finish(tools.isa, stage) };
        }
    }
}

/// Reads `N` consecutive registers.
struct Nth<'a, const N: usize> {
    tables: &'a [[u8; 64]; N],
}

impl<const N: usize> Make<1> for Nth<'_, N> {
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; 1] {
        // SAFETY: `# Safety` of `Make::make`: every byte that this step reads is readable, `N` registers from `from`
        // on. The tables were made for registers of `V`: `StridedPack::of` makes both of `register` bytes.
        unsafe {
            let mut held = [V::load(from); N];
            for (i, register) in held.iter_mut().enumerate().skip(1) {
                *register = V::load(from.add(i * V::BYTES));
            }
            [pick_all(held, self.tables)]
        }
    }

    #[inline(always)]
    fn prefetch<V: Vector>(&self, from: *const u8) {
        for i in 0..N {
            V::prefetch(from.wrapping_add(i * V::BYTES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::interleave::tests::check, *};
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
                // Rows of any length, or of a few kilobytes.
                if n * width * count > tilewright_testing::cases(i64::MAX, 8192) {
                    continue;
                }
                for (outer, gap) in some(&[(1, 0), (3, 0), (2, 5)], 4) {
                    let level = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
                    let (row, packed) = (n * count * width + gap, count * width + gap);
                    let loops = [level(outer, row, packed), level(count, n * width, width)];
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
        let least = if cfg!(miri) { 0 } else { tilewright_testing::cases(500, 300) };
        assert!(found > least, "{found}");
    }

    #[test]
    fn elements_taken_elsewhere_are_none_of_it() {
        let level = |extent, src, dst| Loop { extent, src, dst };
        let of =
            |loops: &[Loop]| one_of(&RegionRef { packed: false, src: 0, dst: 0, run: 4, loops });
        assert_eq!(of(&[level(100, 8, 4)]), Some(2));
        assert_eq!(of(&[level(2, 4, 400), level(100, 8, 4)]), None);
        assert_eq!(of(&[level(100, 36, 4)]), None);
        assert_eq!(of(&[level(100, -8, 4)]), None);
        assert_eq!(of(&[level(100, 8, 8)]), None);
    }
}
