//! Converts a tile assignment whose numbers are positions of a mesh to axes that cut dims.
//!
//! If an iota numbers the tiles, the index of a position along a dim is a number whose digits are those of axes:
//!
//! ```text
//! index(c) = Σ (c_a / place mod size) · weight      over digits of axes, each with its place, size and weight
//! ```
//!
//! The digits are found from the indices, and every position is compared with them. Other assignments, such as a list
//! in an irregular order, become lists for each position.

use crate::{mesh::Mesh, split::AxisPart};

/// A digit of an axis with its weight in the index.
struct WeightedDigit {
    weight: u64,
    size: u64,
    part: AxisPart,
}

/// Returns the parts of axes that give each position its index among `count`, the most significant first; `None` if no
/// digits do.
pub(super) fn parts(mesh: &Mesh, count: u64, index: &[u64]) -> Option<Vec<AxisPart>> {
    let at = |position: u64| index.get(usize::try_from(position).ok()?).copied();
    if at(0)? != 0 {
        return None;
    }
    let (mut digits, mut stride) = (Vec::new(), mesh.count());
    for (axis, size) in mesh.sizes().iter().enumerate() {
        stride /= size;
        let along: Option<Vec<u64>> = (0..*size).map(|x| at(x * stride)).collect();
        digits.extend(digits_of(axis, &along?)?);
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

/// Returns the digits of an axis in the index along it, from the least significant of the axis up; `None` if the index
/// does not consist of digits.
fn digits_of(axis: usize, along: &[u64]) -> Option<Vec<WeightedDigit>> {
    let (mut place, mut digits) = (1, Vec::new());
    while place < along.len() {
        let weight = *along.get(place)?;
        let steps = |n: &usize| {
            let even = along.len().is_multiple_of(place * n);
            even && (1..*n).all(|k| along.get(k * place) == Some(&(weight * k as u64)))
        };
        let size = (2..=along.len() / place).rev().find(steps)?;
        let whole = size == along.len();
        let part = (!whole).then(|| ((along.len() / (place * size)) as u64, size as u64));
        let digit = WeightedDigit { weight, size: size as u64, part: AxisPart { axis, part } };
        digits.extend((weight > 0).then_some(digit));
        place *= size;
    }
    Some(digits)
}
