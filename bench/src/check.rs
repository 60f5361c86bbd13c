//! Checks the bytes that a run wrote, without a plan and without a refinement: every element is looked up by the
//! layouts' own offsets, and padding is checked by a sum. Every measurement begins with it.
//!
//! ```text
//! offset(c) = offset(0) + Σ (offset(0, …, c_d, …, 0) - offset(0))      if the dims are independent
//! ```
//!
//! In this case a table for each dim gives all offsets; [`sums`] checks whether a layout has this property. If it does
//! not (dims that are merged), some elements are looked up one by one. Padding is zero if all bytes of the destination
//! add up to the sum of the bytes of the elements.

use rayon::prelude::*;
use tilewright::{TensorLayout, layouts::unravel_index, relayout::Extend};

use crate::{Case, data};

/// The number of coordinates at which a layout is compared with its tables.
const PROBES: u64 = 1000;

/// The most elements that are looked up one by one.
const MOST: u64 = 1 << 21;

/// Returns the fault of a destination with this checksum, if any: by the checksum if a definition states it, else by
/// looking up the elements, or by the checksum of the expected bytes.
pub(crate) fn fault(case: &Case, src: &[u8], dst: &[u8], found: u64) -> Option<String> {
    let elements = case.elements();
    let whole = elements.src_bits == elements.dst_bits && elements.src_bits.is_multiple_of(8);
    let differs =
        |expected: u64| (found != expected).then(|| format!("{found:#018x}, not {expected:#018x}"));
    match case.checksum() {
        Some(expected) => differs(expected),
        None if whole && case.fill() == 0 => looked_up(case, src, dst),
        None => differs(data::checksum(&case.expected())),
    }
}

fn looked_up(case: &Case, src: &[u8], dst: &[u8]) -> Option<String> {
    let width = (case.elements().src_bits / 8) as usize;
    let Some((from, to)) = sums(case.src()).zip(sums(case.dst())) else {
        return sampled(case, src, dst, width);
    };
    let (inner, outer) = case.dims().split_last()?;
    let (Some((from_inner, from)), Some((to_inner, to))) = (from.split_last(), to.split_last())
    else {
        return None;
    };
    let rows: u64 = outer.iter().product();
    let row = |row: u64| {
        let coord: Vec<u64> = unravel_index(row, outer).collect();
        let start = |tables: &[Vec<i64>]| -> i64 {
            tables.iter().zip(&coord).map(|(table, at)| table[*at as usize]).sum()
        };
        let (from, to) = (start(from), start(to));
        let mut sum = 0;
        for at in 0..*inner as usize {
            let place = |start: i64, table: &[i64]| (start + table[at]) as usize * width;
            let from = src.get(place(from, from_inner)..).and_then(|bytes| bytes.get(..width));
            let to = dst.get(place(to, to_inner)..).and_then(|bytes| bytes.get(..width));
            match from == to {
                true => sum += added(to.unwrap_or_default()),
                false => return Err(wrong(&[&coord[..], &[at as u64]].concat(), from, to)),
            }
        }
        Ok(sum)
    };
    let elements = (0..rows).into_par_iter().map(row).try_reduce(|| 0, |a, b| Ok(a + b));
    let bytes: u64 = dst.par_chunks(1 << 20).map(added).sum();
    match elements {
        Err(fault) => Some(fault),
        Ok(elements) if elements == bytes => None,
        Ok(elements) => Some(format!("padding adds up to {}, not 0", bytes.wrapping_sub(elements))),
    }
}

fn added(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}

fn wrong(coord: &[u64], from: Option<&[u8]>, to: Option<&[u8]>) -> String {
    format!("element {coord:?} is {:02x?}, not {:02x?}", to.unwrap_or(&[]), from.unwrap_or(&[]))
}

/// Checks some elements, evenly spread, and returns a fault, if any.
fn sampled(case: &Case, src: &[u8], dst: &[u8], width: usize) -> Option<String> {
    let size = case.src().size();
    let step = size.div_ceil(MOST).max(1);
    (0..size.div_ceil(step)).into_par_iter().find_map_any(|index| {
        let coord: Vec<u64> = unravel_index(index * step, case.dims()).collect();
        let bytes = |layout: &TensorLayout, all: &[u8]| {
            let at = usize::try_from(layout.offset(&coord).ok()?).ok()?.checked_mul(width)?;
            all.get(at..)?.get(..width).map(<[u8]>::to_vec)
        };
        let (from, to) = (bytes(case.src(), src), bytes(case.dst(), dst));
        (from.is_none() || from != to).then(|| wrong(&coord, from.as_deref(), to.as_deref()))
    })
}

/// Returns the offsets that each dim adds, with the offset of the origin in those of the first dim; `None` if offsets
/// are not such sums.
fn sums(layout: &TensorLayout) -> Option<Vec<Vec<i64>>> {
    let extents = layout.extents();
    let zero = layout.offset(&vec![0; extents.len()]).ok()?;
    let table = |dim: usize| -> Option<Vec<i64>> {
        let mut coord = vec![0; extents.len()];
        let base = if dim == 0 { 0 } else { zero };
        let one = |at| {
            coord[dim] = at;
            layout.offset(&coord).ok().map(|offset| offset - base)
        };
        (0..extents[dim]).map(one).collect()
    };
    let tables: Vec<Vec<i64>> = (0..extents.len()).map(table).collect::<Option<_>>()?;
    let is_sum = |probe: u64| {
        let index = (u128::from(layout.size()) * u128::from(probe) / u128::from(PROBES)) as u64;
        let coord: Vec<u64> = unravel_index(index, extents).collect();
        let sum = tables.iter().zip(&coord).map(|(table, at)| table[*at as usize]).sum();
        layout.offset(&coord) == Ok(sum)
    };
    (0..PROBES).all(is_sum).then_some(tables)
}

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
        for (coord, src) in self.src().in_order() {
            let dst =
                self.dst().offset(coord.as_slice()).ok().and_then(|at| u64::try_from(at).ok());
            if let (Ok(src), Some(dst)) = (u64::try_from(src), dst) {
                let value = extended(take(src * from, from), from, elements.extend);
                put(&mut out, dst * to, to, value);
            }
        }
        out
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(case: &Case, src: &[u8], dst: &[u8]) -> Option<String> {
        super::fault(case, src, dst, data::checksum(dst))
    }

    fn case(from: &str, to: &str, dims: &[u64]) -> Case {
        Case::given("bf16", from, to, dims).unwrap()
    }

    #[test]
    fn any_wrong_byte_is_found() {
        for (from, to) in [
            ("row-major", "zN"),
            ("{0,1,2}", "{2,1,0:T(8,128)(2,1)}"),
            ("(3,5,7):(-35,7,-1)+76 capacity 200", "row-major"),
        ] {
            let case = case(from, to, &[3, 5, 7]);
            let mut src = vec![0; case.src_bytes() as usize];
            data::fill(&mut src);
            let mut out = case.expected();
            assert_eq!(fault(&case, &src, &out), None, "{from} to {to}");
            for at in (0..out.len()).step_by(tilewright_testing::cases(1, 19)) {
                out[at] ^= 4;
                assert!(fault(&case, &src, &out).is_some(), "{from} to {to}, byte {at}");
                out[at] ^= 4;
            }
        }
    }

    #[test]
    fn merged_dims_are_looked_up_one_by_one() {
        let case = case("row-major", "{2,1,0:T(2,*,4)}", &[3, 5, 7]);
        assert!(sums(case.dst()).is_none());
        let mut src = vec![0; case.src_bytes() as usize];
        data::fill(&mut src);
        let mut out = case.expected();
        assert_eq!(fault(&case, &src, &out), None);
        out[0] ^= 1;
        assert!(fault(&case, &src, &out).unwrap().starts_with("element [0, 0, 0] is ["));
    }
}
