//! Extents as in practice: the sizes of models and pictures, round and odd numbers, powers of two.

use super::dice::Dice;

/// Extents of models, pictures and batches.
const TYPICAL: [u64; 66] = [
    2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 30, 32, 40, 48, 50, 56, 64, 72, 80, 96, 100,
    112, 128, 144, 160, 192, 197, 200, 224, 240, 256, 257, 299, 300, 320, 384, 480, 512, 577, 640,
    720, 768, 1000, 1024, 1080, 1280, 1500, 1536, 1600, 2048, 2560, 3072, 4096, 5120, 5461, 8192,
    11008, 12288, 14336, 28672, 32000, 50257,
];

/// The least extent.
const LEAST: u64 = 2;

/// Returns `rank` extents, whose product is about `size`.
///
/// Each takes a random share of the size's logarithm and is rounded to a number that is likely there; then the largest
/// is adjusted so that the product fits.
pub(super) fn draw(dice: &mut Dice, rank: usize, size: u64) -> Vec<u64> {
    let shares: Vec<f64> = (0..rank).map(|_| 0.15 + dice.unit()).collect();
    let all: f64 = shares.iter().sum();
    let drawn = |share: &f64| (size as f64).powf(share / all);
    let drawn: Vec<f64> = shares.iter().map(drawn).collect();
    let mut extents: Vec<u64> = drawn.iter().map(|one| usual(dice, *one)).collect();
    let largest = (0..rank).max_by_key(|at| extents[*at]).unwrap_or(0);
    let others: u64 = extents.iter().product::<u64>() / extents[largest];
    extents[largest] = filling(dice, (size / others.max(1)).max(LEAST));
    extents
}

/// Returns a number near this one: typical, unchanged, odd, round, or a power of two.
fn usual(dice: &mut Dice, near: f64) -> u64 {
    let exact = (near.round() as u64).max(LEAST);
    let distance = |one: &u64| ((*one as f64).ln() - near.ln()).abs();
    match dice.below(100) {
        0..45 => {
            let typical = TYPICAL.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            typical.unwrap_or(exact)
        }
        45..65 => exact,
        65..80 => exact | 1,
        80..88 => exact.next_multiple_of(8),
        _ => exact.next_power_of_two(),
    }
}

/// Returns the largest extent, which is at most this number.
fn filling(dice: &mut Dice, most: u64) -> u64 {
    let rounded = |to: u64| (most / to * to).max(LEAST);
    match dice.below(100) {
        0..35 => most,
        35..55 => (most - 1) | 1,
        55..70 => rounded(if most < 64 { 4 } else { 16 }),
        70..85 => rounded(if most < 512 { 8 } else { 128 }),
        _ => 1 << most.ilog2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_about_the_size() {
        let mut dice = Dice::new(1, 0);
        for rank in 2..=7 {
            for _ in 0..200 {
                let extents = draw(&mut dice, rank, 1 << 22);
                assert!(extents.len() == rank && extents.iter().all(|one| *one >= LEAST));
                let size: u64 = extents.iter().product();
                assert!((1 << 20..=1 << 25).contains(&size), "{extents:?}");
            }
        }
    }

    #[test]
    fn extents_are_of_every_kind() {
        let mut dice = Dice::new(2, 0);
        let all: Vec<u64> = (0..300).flat_map(|_| draw(&mut dice, 3, 1 << 22)).collect();
        let count = |is: fn(&u64) -> bool| all.iter().filter(|one| is(one)).count();
        assert!(count(|one| one.is_power_of_two()) < all.len() / 2);
        assert!(count(|one| one % 2 == 1) > all.len() / 5);
        assert!(count(|one| one % 16 == 0) > all.len() / 5);
    }
}
