//! Random cases that resemble those in practice. Seed and index determine a case, on every machine.
//!
//! | property | drawn from |
//! |---|---|
//! | width | 1, 2, 4, 8 and 16 bytes; axes of 2 to 6 elements that stay innermost make groups of 2 to 24 bytes |
//! | rank | 2 to 7 |
//! | extents | those of models and pictures, powers of two, round, odd and any |
//! | sides | axes in any order, dense, padded, strided, reversed; tiles of the catalogue; from, to and between |
//! | bytes | evenly by their logarithm, from a sixteenth of the most to the most, read and written |
//! | offsets | a multiple of the width for each buffer; a third of the cases both 16, as of `malloc` and NumPy |

mod dice;
mod extents;
mod sides;

use self::{
    dice::Dice,
    sides::{Loose, counted, dense, loose, other, tile},
};
use crate::{Case, Error, Offsets, Size};

/// The most bytes read and written by a random case, by default.
pub const RANDOM_BYTES: u64 = 512 << 20;

/// The most draws until one has an acceptable number of bytes.
const ATTEMPTS: u64 = 1000;

/// The bytes of a cache line.
const LINE: u64 = 64;

/// Returns random case `index` of a seed; it reads and writes at most `most` bytes, and at least a sixteenth of that.
///
/// # Errors
/// A [definition](Error::is_definition) if `most` is so small that none was found.
///
/// ```
/// use tilewright_bench::random;
/// let case = random(7, 3, 1 << 16)?;
/// assert_eq!(case.name(), "random-7:3");
/// assert!((1 << 12..=1 << 16).contains(&(case.src_bytes() + case.dst_bytes())));
/// // The same case again.
/// assert_eq!(case.to(), random(7, 3, 1 << 16)?.to());
/// assert!(random(7, 3, 1).unwrap_err().is_definition());
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
pub fn random(seed: u64, index: u64, most: u64) -> Result<Case, Error> {
    let mut dice = Dice::new(seed, index);
    for _ in 0..ATTEMPTS {
        let drawn = draw(&mut dice, most);
        let Ok(case) = Case::given(drawn.dtype, &drawn.from, &drawn.to, &drawn.dims) else {
            continue;
        };
        let moved = case.src_bytes().saturating_add(case.dst_bytes());
        let same = case.src() == case.dst();
        if !same && (most / 16..=most).contains(&moved) && case.dst_bytes() <= 3 * case.src_bytes()
        {
            let offsets = offsets(&mut dice, u64::from(case.elements().src_bits / 8));
            return Ok(case.named(format!("random-{seed}:{index}"), Size::Random).at(offsets));
        }
    }
    Err(Error::definition(format!(
        "none of {ATTEMPTS} random cases reads and writes from {} to {most} bytes",
        most / 16
    )))
}

/// A case as texts.
struct Drawn {
    dtype: &'static str,
    dims: Vec<u64>,
    from: String,
    to: String,
}

fn draw(dice: &mut Dice, most: u64) -> Drawn {
    let width = dice.share(&[(24, 1), (32, 2), (28, 4), (10, 8), (6, 16)]);
    let rank = dice.share(&[(22, 2), (24, 3), (26, 4), (14, 5), (8, 6), (6, 7)]);
    // The logarithm of the bytes is uniform.
    let moved = most as f64 / 16_f64.powf(dice.unit());
    let size = ((moved / 2.0) as u64 / width).max(4);
    let (dims, from, to) = sides(dice, rank, width, size);
    Drawn { dtype: dtype(width), dims, from, to }
}

/// Draws the dims, and both sides.
fn sides(dice: &mut Dice, rank: usize, width: u64, size: u64) -> (Vec<u64>, String, String) {
    let from = if dice.percent(70) { counted(rank) } else { dice.shuffled(rank) };
    let dims = extents::draw(dice, rank, size);
    match dice.below(100) {
        0..45 => {
            let to = other(dice, &from);
            (dims, dense(&from), dense(&to))
        }
        45..52 => grouped(dice, rank, size),
        52..68 => {
            let to = if dice.percent(60) { other(dice, &from) } else { from.clone() };
            let how = dice.share(&[(5, Loose::Padded), (3, Loose::Strided), (4, Loose::Reversed)]);
            let loose = loose(dice, &from, &dims, how);
            // Padding is written, too; a destination of which only every nth element is written is rare.
            match matches!(how, Loose::Padded) && dice.percent(40) {
                true => (dims, dense(&to), loose),
                false => (dims, loose, dense(&to)),
            }
        }
        68..80 => (dims, dense(&from), tile(dice, &counted(rank), width)),
        80..92 => (dims, tile(dice, &counted(rank), width), dense(&from)),
        92..95 => {
            let padded = loose(dice, &from, &dims, Loose::Padded);
            (dims, padded, tile(dice, &counted(rank), width))
        }
        _ => (dims, tile(dice, &counted(rank), width), tile(dice, &from, width)),
    }
}

/// Draws groups of a few elements that stay together: pixels, points, pairs.
fn grouped(dice: &mut Dice, rank: usize, size: u64) -> (Vec<u64>, String, String) {
    let group = dice.share(&[(1, 2), (5, 3), (2, 4), (1, 6)]);
    let outer = (rank - 1).max(2);
    let mut dims = extents::draw(dice, outer, size / group);
    dims.push(group);
    let last = [outer];
    let order = |order: Vec<usize>| dense(&[&order[..], &last].concat());
    let to = other(dice, &counted(outer));
    (dims, order(counted(outer)), order(to))
}

/// Returns an element type of `width` bytes.
fn dtype(width: u64) -> &'static str {
    match width {
        1 => "u8",
        2 => "bf16",
        4 => "f32",
        8 => "f64",
        _ => "c128",
    }
}

/// Draws the offsets of both buffers.
fn offsets(dice: &mut Dice, width: u64) -> Offsets {
    if dice.percent(33) {
        return Offsets { src: 16, dst: 16 };
    }
    let mut one = || (dice.below(LINE / width) * width) as usize;
    Offsets { src: one(), dst: one() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cases_are_of_every_kind() {
        let cases: Vec<Case> = (0..300).map(|index| random(1, index, 1 << 16).unwrap()).collect();
        let set = |of: fn(&Case) -> usize| cases.iter().map(of).collect::<BTreeSet<_>>();
        assert_eq!(set(|case| case.dims().len()), (2..=7).collect());
        assert_eq!(set(|case| case.elements().src_bits as usize / 8), [1, 2, 4, 8, 16].into());
        let share = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
        assert!((40..120).contains(&share(|case| case.offsets() == Offsets { src: 16, dst: 16 })));
        assert!(share(|case| case.from().contains(":T(") || case.to().contains(":T(")) > 20);
        assert!(share(|case| case.from().contains('-')) > 5);
        assert!(share(|case| case.dst_bytes() > case.src_bytes()) > 10);
        assert!(share(|case| case.dims().iter().all(|one| one.is_power_of_two())) < 60);
        for case in &cases {
            let width = case.elements().src_bits as usize / 8;
            let Offsets { src, dst } = case.offsets();
            assert!(src % width == 0 && dst % width == 0 && src.max(dst) < 64, "{}", case.name());
        }
    }

    #[test]
    fn small_cases_come_out_right() {
        for index in 0..100 {
            let case = random(2, index, 1 << 14).unwrap();
            let mut source = vec![0; case.src_bytes() as usize];
            crate::data::fill(&mut source);
            let mut out = vec![0x5A; case.dst_bytes() as usize];
            case.plan().unwrap().run(&source, &mut out, 1).unwrap();
            let about = format!("{} {:?} {} {}", case.name(), case.dims(), case.from(), case.to());
            assert!(out == case.expected(), "{about}");
            let sum = crate::data::checksum(&out);
            assert_eq!(crate::check::fault(&case, &source, &out, sum), None, "{about}");
        }
    }
}
