//! Plans between two strided arrays of equal shape with strides in bytes, as NumPy, torch and DLPack describe them.
//!
//! Law: element `c` of the source, `Σ c[d] · src[d]` bytes after the source's first element, is written `Σ c[d] ·
//! dst[d]` bytes after the destination's first element, and no other byte is written.
//!
//! Strides need not be multiples of the element: a field of a packed structure can have a stride of any number of
//! bytes. So moves are counted in *units*. A unit is the largest number of bytes up to 16 that divides the element and
//! all strides. An element of several units adds one more dim.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{Elements, Error, Plan, Program};

/// The widest unit in bytes: the widest element that the kernels move as one.
const WIDEST: u64 = 16;

/// A dim of both arrays: its extent, and its strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StridedDim {
    extent: u64,
    src: i64,
    dst: i64,
}

impl Plan {
    /// Returns the plan that copies one strided array to another with the same extents and elements of `bytes` bytes.
    ///
    /// Strides are in bytes and may have any sign. A stride of 0 repeats an element and is allowed in the source only.
    /// Each buffer begins with the lowest byte of its elements and ends after the highest. Bytes between the elements
    /// of the destination are not written.
    ///
    /// # Errors
    /// - [mismatch](Error::is_mismatch) where the numbers of extents and strides differ;
    /// - [unsupported](Error::is_unsupported) for elements of 0 bytes, and for a destination in which two elements
    ///   share storage;
    /// - [undecided](Error::is_undecided) for a destination that is not proved injective;
    /// - [overflow](Error::is_overflow) for arrays beyond 2⁶³ − 1 bytes.
    ///
    /// ```
    /// use tilewright_relayout::Plan;
    /// // A matrix of 2 × 3 bytes, its rows read from the last to the first, into every second byte.
    /// let plan = Plan::of_strides(&[2, 3], 1, &[-3, 1], &[6, 2]).unwrap();
    /// let mut out = [9; 11];
    /// plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [4, 9, 5, 9, 6, 9, 1, 9, 2, 9, 3]);
    ///
    /// let error = Plan::of_strides(&[2, 3], 1, &[3, 1], &[0, 1]).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    pub fn of_strides(
        extents: &[u64],
        bytes: u64,
        src: &[i64],
        dst: &[i64],
    ) -> Result<Plan, Error> {
        if src.len() != extents.len() || dst.len() != extents.len() {
            let (dims, from, to) = (extents.len(), src.len(), dst.len());
            return Err(Error::mismatch(format!(
                "{from} strides of the source and {to} of the destination; {dims} extents have {dims}"
            )));
        }
        if bytes == 0 {
            return Err(Error::unsupported("the element size is 0 bytes; give at least 1"));
        }
        let mut dims = merged(extents, src, dst);
        let unit = unit(bytes, &dims);
        if unit < bytes {
            let within = i64::try_from(unit).unwrap_or(i64::MAX);
            dims.push(StridedDim { extent: bytes / unit, src: within, dst: within });
        }
        let extents: Vec<u64> = dims.iter().map(|dim| dim.extent).collect();
        let side = |what, stride: fn(&StridedDim) -> i64| side(what, &dims, &extents, unit, stride);
        let (src, dst) = (side("source", |dim| dim.src)?, side("destination", |dim| dim.dst)?);
        let origin = vec![0; dims.len()];
        let bits = u32::try_from(unit * 8).unwrap_or(u32::MAX);
        Program::of_part((&src, &origin), (&dst, &origin), &extents, Elements::same(bits))
            .map(Plan::of)
    }
}

/// Returns the dims with more than one coordinate, merged into as few as possible. An array without elements has one
/// dim of extent 0.
fn merged(extents: &[u64], src: &[i64], dst: &[i64]) -> Vec<StridedDim> {
    if extents.contains(&0) {
        return vec![StridedDim { extent: 0, src: 0, dst: 0 }];
    }
    let all = extents.iter().zip(src).zip(dst);
    let all = all.map(|((&extent, &src), &dst)| StridedDim { extent, src, dst });
    let mut dims: Vec<StridedDim> = all.filter(|dim| dim.extent > 1).collect();
    tilewright_core::sort_short(&mut dims, |dim| {
        std::cmp::Reverse((dim.dst.unsigned_abs(), dim.src.unsigned_abs()))
    });
    let mut kept: Vec<StridedDim> = Vec::with_capacity(dims.len());
    for dim in dims {
        match kept.last_mut().and_then(|outer| continued(*outer, dim).map(|one| (outer, one))) {
            Some((outer, one)) => *outer = one,
            None => kept.push(dim),
        }
    }
    kept
}

/// Merges two dims into one, if in both arrays the outer stride continues the inner dim.
fn continued(outer: StridedDim, inner: StridedDim) -> Option<StridedDim> {
    let steps = i64::try_from(inner.extent).ok()?;
    let goes_on = |outer, inner: i64| inner.checked_mul(steps) == Some(outer);
    let extent = outer.extent.checked_mul(inner.extent)?;
    let both = goes_on(outer.src, inner.src) && goes_on(outer.dst, inner.dst);
    both.then_some(StridedDim { extent, ..inner })
}

/// Returns the bytes of a unit.
fn unit(bytes: u64, dims: &[StridedDim]) -> u64 {
    let strides = dims.iter().flat_map(|dim| [dim.src, dim.dst]);
    let common =
        strides.fold(bytes, |common, stride| tilewright_core::gcd(common, stride.unsigned_abs()));
    (1..=WIDEST).rev().find(|unit| common.is_multiple_of(*unit)).unwrap_or(1)
}

/// Returns one array in units, beginning at its lowest byte.
fn side(
    what: &str,
    dims: &[StridedDim],
    extents: &[u64],
    unit: u64,
    stride: fn(&StridedDim) -> i64,
) -> Result<TensorLayout, Error> {
    let within = i64::try_from(unit).unwrap_or(i64::MAX);
    let modes: Vec<Mode> =
        dims.iter().map(|dim| Mode::new(dim.extent, stride(dim) / within)).collect();
    let (mut below, mut above) = (0i128, 1i128);
    for mode in modes.iter().filter(|_| !extents.contains(&0)) {
        let far = i128::from(mode.extent().saturating_sub(1)) * i128::from(mode.stride());
        let end = if far < 0 { &mut below } else { &mut above };
        *end = end.saturating_add(far.abs());
    }
    let beyond = || Error::overflow(format!("the {what} reaches beyond 2^63 - 1 bytes"));
    let origin = i64::try_from(below).map_err(|_| beyond())?;
    let capacity = match extents.contains(&0) {
        true => 0,
        false => u64::try_from(below.saturating_add(above)).map_err(|_| beyond())?,
    };
    let flat = Layout::flat(&modes).and_then(|flat| flat.with_offset(origin));
    flat.and_then(|flat| TensorLayout::new(extents, &flat, capacity))
        .map_err(|error| crate::refused_by_core(what, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The byte offsets of all elements, by the definition.
    fn places(extents: &[u64], strides: &[i64]) -> Vec<i64> {
        let mut places = vec![0];
        for (extent, stride) in extents.iter().zip(strides) {
            let next = |place: &i64| {
                let (place, stride) = (*place, *stride);
                (0..*extent as i64).map(move |c| place + c * stride).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(next).collect();
        }
        places
    }

    /// Runs the plan and a loop over the elements, and compares every byte. Returns whether there was a plan.
    fn same_as_a_loop(extents: &[u64], bytes: u64, src: &[i64], dst: &[i64]) -> bool {
        let (from, to) = (places(extents, src), places(extents, dst));
        let least = |places: &[i64]| places.iter().copied().min().unwrap_or(0);
        let span = |places: &[i64]| {
            let most = places.iter().copied().max();
            most.map_or(0, |most| (most - least(places)) as usize + bytes as usize)
        };
        let mut taken = to.iter().flat_map(|at| *at..*at + bytes as i64).collect::<Vec<_>>();
        taken.sort_unstable();
        let shared = taken.windows(2).any(|two| two[0] == two[1]);
        let plan = match Plan::of_strides(extents, bytes, src, dst) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(shared || error.is_undecided(), "{error}: {extents:?} {src:?} {dst:?}");
                return false;
            }
        };
        assert!(!shared, "two elements share storage: {extents:?} {bytes} {dst:?}");
        let source: Vec<u8> = (0..span(&from)).map(|at| (at % 251) as u8).collect();
        let mut out = vec![0xEE; span(&to)];
        let mut expected = out.clone();
        for (from_at, to_at) in from.iter().zip(&to) {
            let (a, b) = ((from_at - least(&from)) as usize, (to_at - least(&to)) as usize);
            expected[b..b + bytes as usize].copy_from_slice(&source[a..a + bytes as usize]);
        }
        plan.run(&source, &mut out, 2).unwrap();
        assert_eq!(out, expected, "{extents:?} of {bytes} bytes, {src:?} to {dst:?}");
        true
    }

    #[test]
    fn all_small_arrays_move_as_a_loop_moves_them() {
        let strides = [-7i64, -4, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12];
        let mut counts = [0, 0];
        for bytes in [1u64, 2, 3, 4] {
            for extents in [[2u64, 3], [3, 2], [1, 4], [0, 2]] {
                for a in strides.iter().flat_map(|a| strides.map(|b| [*a, b])) {
                    for b in [[12, 4], [-12, 4], [4, 12], [3, 1], [1, 2], [16, -5], [5, 0], [8, 8]]
                    {
                        let moved = same_as_a_loop(&extents, bytes, &a, &b);
                        counts[usize::from(moved)] += 1;
                    }
                }
            }
        }
        assert!(counts[0] > 1000 && counts[1] > 5000, "{counts:?}");
    }

    #[test]
    fn wide_elements_and_long_rows_move_as_a_loop_moves_them() {
        for bytes in [5u64, 8, 12, 16, 20, 32, 48, 300] {
            let item = bytes as i64;
            for (extents, src, dst) in [
                (vec![9, 17], vec![17 * item, item], vec![item, 9 * item]),
                (vec![9, 17], vec![-17 * item, -item], vec![17 * item, item]),
                (vec![5, 4, 33], vec![0, item, 4 * item], vec![33 * 4 * item, 33 * item, item]),
                (vec![33, 3], vec![3 * item + 1, item], vec![item + 3, 40 * (item + 3)]),
                (vec![], vec![], vec![]),
            ] {
                assert!(same_as_a_loop(&extents, bytes, &src, &dst));
            }
        }
    }

    #[test]
    fn what_has_no_plan_is_said() {
        let error = Plan::of_strides(&[2], 4, &[4, 4], &[4]).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains("1 extents have 1"));
        assert!(Plan::of_strides(&[2], 0, &[4], &[4]).unwrap_err().is_unsupported());
        let far = [i64::MAX, i64::MAX];
        assert!(Plan::of_strides(&[3, 3], 1, &far, &[3, 1]).unwrap_err().is_overflow());
    }

    #[test]
    fn dims_that_go_on_are_one_loop() {
        let plan =
            Plan::of_strides(&[4, 1, 5, 6], 4, &[120, 999, 24, 4], &[120, 7, 24, 4]).unwrap();
        assert_eq!(plan.program().extents(), &[120]);
        let plan = Plan::of_strides(&[6, 5], 4, &[-20, -4], &[20, 4]).unwrap();
        assert_eq!(plan.program().extents(), &[30]);
    }
}
