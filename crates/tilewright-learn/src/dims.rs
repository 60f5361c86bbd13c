//! The digits of a term by the dims of its source: what patterns and layouts are written from.

use crate::{
    Axis, Digit, Origin, Term,
    family::{Families, Family},
};

/// The indices of one dim of the source, for each index of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    /// The first index.
    pub(crate) from: u64,
    /// The number of indices.
    pub(crate) count: u64,
    /// What is added to an index, less the first one, before it is written in digits: the part begins inside a block.
    pub(crate) phase: u64,
    /// The digits, the least significant first; `source` counts indices of the dim. The last one may be cut.
    pub(crate) digits: Vec<Digit>,
}

/// Returns the dims of a term: that of the members of its family, then those of a member. `None` if the term has a table, an
/// XOR or a phase, or if an index is not made of whole digits.
pub(crate) fn dims(term: &Term, families: &Families) -> Option<Vec<Dim>> {
    let Origin::Source(place) = term.origin else {
        return None;
    };
    let family = &families.list[families.of[place].0];
    let (extents, strides) = shape(family);
    if !term.xor.is_empty() {
        return None;
    }
    let mut from = term.offset;
    for axis in &term.axes {
        let Axis::Digits { first, digits, .. } = axis else {
            return None;
        };
        from += added(*first, digits);
    }
    let mut dims = Vec::new();
    for stride in &strides {
        let first = u64::try_from(from.div_euclid(*stride)).ok()?;
        dims.push(Dim { from: first, count: 1, phase: 0, digits: Vec::new() });
        from = from.rem_euclid(*stride);
    }
    for axis in &term.axes {
        if let Axis::Digits { first, count, digits } = axis {
            match first {
                0 => add(&mut dims, *count, digits, &extents, &strides)?,
                _ => add_phased(&mut dims, (*first, *count), digits, &strides)?,
            }
        }
    }
    dims.iter().zip(&extents).all(|(dim, e)| dim.from + dim.count <= *e).then_some(dims)
}

/// Returns what an index adds in the source.
fn added(index: u64, digits: &[Digit]) -> i64 {
    let (mut rest, mut place) = (index, 0);
    for (k, digit) in digits.iter().enumerate() {
        let value = if k + 1 == digits.len() { rest } else { rest % digit.extent };
        rest /= digit.extent.max(1);
        place += value as i64 * digit.source;
    }
    place
}

/// Adds an axis that begins inside a block: all its digits are of one dim that has no others.
fn add_phased(
    dims: &mut [Dim],
    (first, count): (u64, u64),
    digits: &[Digit],
    strides: &[i64],
) -> Option<()> {
    let least = digits.first()?.source;
    let dim = (0..strides.len()).find(|k| strides[*k] == least && dims[*k].digits.is_empty())?;
    let mut step = 1;
    for digit in digits {
        if digit.source != least * step as i64 {
            return None;
        }
        dims[dim].digits.push(Digit { source: step as i64, ..*digit });
        step *= digit.extent;
    }
    (dims[dim].phase, dims[dim].count) = (first, count);
    Some(())
}

/// Returns the extents and strides of a family.
fn shape(family: &Family) -> (Vec<u64>, Vec<i64>) {
    let extents: Vec<u64> =
        [family.members.len() as u64].into_iter().chain(family.extents.iter().copied()).collect();
    let mut strides = vec![family.stride; extents.len()];
    let mut stride = 1;
    for k in (1..extents.len()).rev() {
        strides[k] = stride;
        stride *= extents[k] as i64;
    }
    (extents, strides)
}

/// Adds the digits of an axis to the dims that they count.
fn add(
    dims: &mut [Dim],
    count: u64,
    digits: &[Digit],
    extents: &[u64],
    strides: &[i64],
) -> Option<()> {
    let product: u64 = digits.iter().map(|digit| digit.extent).product();
    let mut digits: Vec<Digit> = digits.iter().rev().copied().collect();
    let mut taken: Vec<(usize, u64)> = Vec::new();
    while let Some(digit) = digits.pop() {
        // The dim with the largest stride that the step is a whole number of.
        let whole = |k: &usize| digit.source % strides[*k] == 0 && extents[*k] > 1;
        let place = (0..strides.len()).find(|k| digit.source > 0 && whole(k))?;
        let (step, dim) = (digit.source / strides[place], &mut dims[place]);
        let room = (extents[place] - dim.from).div_ceil(step as u64);
        if digit.extent > room {
            // The digit goes on in the dim before.
            let is_whole = dim.from == 0 && room * step as u64 == extents[place];
            if digit.extent % room != 0 || !is_whole {
                return None;
            }
            let (source, result) = (digit.source * room as i64, digit.result * room as i64);
            digits.push(Digit { extent: digit.extent / room, source, result });
            digits.push(Digit { extent: room, ..digit });
            continue;
        }
        if step as u64 != dim.count {
            return None;
        }
        dim.digits.push(Digit { extent: digit.extent, source: step, result: digit.result });
        taken.push((place, digit.extent));
        dim.count *= digit.extent;
    }
    if product == count {
        return Some(());
    }
    // The last digit is cut: the last dim has fewer indices than its digits.
    let last = taken.last()?.0;
    let of_last = taken.iter().rev().take_while(|(place, _)| *place == last).count();
    let product = |taken: &[(usize, u64)]| taken.iter().map(|digit| digit.1).product::<u64>();
    let (lower, upper) = taken.split_at(taken.len() - of_last);
    dims[last].count /= product(upper);
    dims[last].count *= count / product(lower);
    (count % product(lower) == 0).then_some(())
}
