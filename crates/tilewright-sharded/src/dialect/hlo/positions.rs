//! A tile assignment whose numbers are positions of a mesh, as axes that cut dims.
//!
//! Where an iota numbers the tiles, the index of a position along a dim is a number whose digits are those of axes:
//!
//! ```text
//! index(c) = Σ (c_a / w_a mod n_a) · weight_a      one digit of an axis, or none, for each dim
//! ```
//!
//! The digits are read off the indices, and every position is compared with them. Other assignments, such as a list in
//! an order of its own, are lists for each position.

use crate::{mesh::Mesh, split::AxisPart};

/// A digit of an axis with its weight in the index.
struct Digit {
    weight: u64,
    size: u64,
    part: AxisPart,
}

/// The parts of axes that give each position its index among `count`, the most significant first; `None` where no digits do.
pub(super) fn parts(mesh: &Mesh, count: u64, index: &[u64]) -> Option<Vec<AxisPart>> {
    let at = |position: u64| index.get(usize::try_from(position).ok()?).copied();
    if at(0)? != 0 {
        return None;
    }
    let (mut digits, mut stride) = (Vec::new(), mesh.count());
    for (axis, size) in mesh.sizes().iter().enumerate() {
        stride /= size;
        let along: Option<Vec<u64>> = (0..*size).map(|x| at(x * stride)).collect();
        digits.extend(digit(axis, &along?)?);
    }
    tilewright_core::sort_short(&mut digits, |digit| std::cmp::Reverse(digit.weight));
    let whole = digits.iter().rev().try_fold(1u64, |product, digit| {
        (digit.weight == product).then(|| product.checked_mul(digit.size))?
    });
    let parts: Vec<AxisPart> = digits.into_iter().map(|digit| digit.part).collect();
    let split = crate::split::Split { dim: 0, parts, cut: crate::split::Cut::Chunk };
    let said = (0..mesh.count())
        .all(|position| at(position) == Some(split.index(mesh, &mesh.coord(position))));
    (whole == Some(count) && said).then_some(split.parts)
}

/// The digit of an axis in the index along it: none where the index does not move. `None` for what is no digit.
fn digit(axis: usize, along: &[u64]) -> Option<Option<Digit>> {
    let Some(within) = along.iter().position(|index| *index != 0) else { return Some(None) };
    let weight = *along.get(within)?;
    let size =
        (2..).take_while(|n| n * within < along.len()).find(|n| along.get(n * within) == Some(&0));
    let size = size.unwrap_or(along.len() / within);
    let (whole, taken) = (along.len() as u64, (within * size) as u64);
    let exact = taken > 0 && whole.is_multiple_of(taken);
    let part = (size as u64 != whole).then(|| (whole / taken.max(1), size as u64));
    exact.then_some(Some(Digit { weight, size: size as u64, part: AxisPart { axis, part } }))
}
