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

use crate::{Case, Error, Offsets, Size, data::mix};

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
    let dims = extents(dice, rank, size);
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
    let mut dims = extents(dice, outer, size / group);
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

/// 2⁶⁴ divided by the golden ratio, made odd.
const G: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of numbers.
struct Dice {
    state: u64,
}

impl Dice {
    /// Makes the stream of case `index` of a seed, which is independent of the draws of other cases.
    fn new(seed: u64, index: u64) -> Dice {
        Dice { state: mix(mix(seed ^ G).wrapping_add(index)) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(G);
        mix(self.state)
    }

    /// Returns a number less than `end`, which is not 0.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number in 0..1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with a probability of `chance` percent.
    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns one of these.
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns the item on whose share the draw falls; the first numbers are the shares.
    fn share<T: Copy>(&mut self, of: &[(u64, T)]) -> T {
        let mut at = self.below(of.iter().map(|(share, _)| share).sum());
        for (share, one) in of {
            match at.checked_sub(*share) {
                None => return *one,
                Some(rest) => at = rest,
            }
        }
        of[of.len() - 1].1
    }

    /// Returns 0..count in random order.
    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            all.swap(at, self.below(at as u64 + 1) as usize);
        }
        all
    }
}

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
fn extents(dice: &mut Dice, rank: usize, size: u64) -> Vec<u64> {
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

/// A tiled layout: its share among those that fit, the ranks and widths in bytes that it fits, and its SPEC, in which
/// `ORDER` is any order of the axes.
struct Tiled {
    share: u64,
    ranks: &'static [usize],
    widths: &'static [u64],
    spec: &'static str,
}

const ANY: &[usize] = &[2, 3, 4, 5, 6, 7];
const ALL: &[u64] = &[1, 2, 4, 8, 16];

const fn tiled(
    share: u64,
    ranks: &'static [usize],
    widths: &'static [u64],
    spec: &'static str,
) -> Tiled {
    Tiled { share, ranks, widths, spec }
}

const TILED: [Tiled; 35] = [
    tiled(8, ANY, ALL, "zN"),
    tiled(5, ANY, ALL, "nZ"),
    tiled(5, ANY, ALL, "zZ"),
    tiled(2, ANY, ALL, "nN"),
    tiled(8, ANY, ALL, "{ORDER:T(8,128)}"),
    tiled(8, ANY, &[2], "{ORDER:T(8,128)(2,1)}"),
    tiled(5, ANY, &[1], "{ORDER:T(32,128)(4,1)}"),
    tiled(3, ANY, &[1, 2], "{ORDER:T(8,128)(4,1)}"),
    tiled(2, ANY, ALL, "{ORDER:T(16,16)}"),
    tiled(2, ANY, ALL, "{ORDER:T(32,32)}"),
    tiled(1, ANY, ALL, "{ORDER:T(3,4)}"),
    tiled(1, ANY, ALL, "{ORDER:T(1024)}"),
    tiled(1, &[3, 4, 5], ALL, "{ORDER:T(8,*,128)}"),
    tiled(3, ANY, &[1, 2, 4], "TT_TILE"),
    tiled(3, ANY, &[1, 2], "VNNI"),
    tiled(4, &[2], &[1], "COL32"),
    tiled(3, &[2], &[1], "COL4_4R2_8C"),
    tiled(2, &[2], &[1], "NVFP4_SCALE"),
    tiled(3, &[2], &[1, 2, 4], "AMX_A"),
    tiled(3, &[2], &[1, 2, 4], "AMX_B"),
    tiled(4, &[2], &[1], "BA16a64b4a"),
    tiled(3, &[2], &[2, 4], "BA16a16b"),
    tiled(3, &[3], &[1, 2, 4], "aBc16b"),
    tiled(3, &[3], &[2, 4], "aCB16c2b"),
    tiled(7, &[4], &[1, 2, 4, 8], "NC1HWC0"),
    tiled(6, &[4], &[1, 2, 4], "aBcd16b"),
    tiled(4, &[4], &[1, 2, 4], "aBcd8b"),
    tiled(6, &[4], &[1, 2, 4], "OIhw4i16o4i"),
    tiled(4, &[4], &[2, 4], "OIhw16i16o"),
    tiled(3, &[4], &[1], "NC4HW4"),
    tiled(3, &[4], &[1], "NC32HW32"),
    tiled(3, &[4], &[1, 2, 4], "FRACTAL_Z"),
    tiled(4, &[5], &[1, 2, 4], "NDC1HWC0"),
    tiled(4, &[5], &[1, 2, 4], "aBcde16b"),
    tiled(3, &[5], &[1, 2, 4], "gOIhw16i16o"),
];

/// An order of the axes, the slowest first.
type Order = Vec<usize>;

/// Returns the axes in ascending order.
fn counted(rank: usize) -> Order {
    (0..rank).collect()
}

/// Returns another order of these axes: most often two groups of adjacent axes are swapped, as in a transpose, a change
/// of channels or an exchange of heads and tokens; else all are reversed, or shuffled.
fn other(dice: &mut Dice, order: &[usize]) -> Order {
    match dice.below(100) {
        0..65 => exchanged(dice, order),
        65..75 => order.iter().rev().copied().collect(),
        _ => dice.shuffled(order.len()).into_iter().map(|at| order[at]).collect(),
    }
}

/// Changes `a b c d` to `a c b d`; `a` and `d` may be empty.
fn exchanged(dice: &mut Dice, order: &[usize]) -> Order {
    let rank = order.len();
    let mut cuts: Vec<usize> = dice.shuffled(rank + 1).into_iter().take(3).collect();
    cuts.sort();
    let [first, middle, last] = cuts[..] else { return order.to_vec() };
    [&order[..first], &order[middle..last], &order[first..middle], &order[last..]].concat()
}

/// Returns a dense layout in this order.
fn dense(order: &[usize]) -> String {
    match order.is_sorted() {
        true => "row-major".to_owned(),
        false => format!("{{{}}}", minor_to_major(order)),
    }
}

fn minor_to_major(order: &[usize]) -> String {
    let axes: Vec<String> = order.iter().rev().map(usize::to_string).collect();
    axes.join(",")
}

/// The kind of a side that is not dense.
#[derive(Clone, Copy, Debug)]
enum Loose {
    /// Padding after each run of the fastest axis.
    Padded,
    /// Only every nth element of the fastest axis.
    Strided,
    /// Some axes from the last element to the first.
    Reversed,
}

/// Returns a layout that is not dense, in this order, with strides as a CuTe layout.
fn loose(dice: &mut Dice, order: &[usize], dims: &[u64], how: Loose) -> String {
    let mut strides = vec![0_i64; dims.len()];
    let mut offset = 0;
    let mut span = match how {
        Loose::Strided => dice.share(&[(6, 2), (2, 3), (2, 4)]),
        Loose::Padded | Loose::Reversed => 1,
    };
    let reversed = dice.below(1 << dims.len()).max(1);
    for (place, axis) in order.iter().rev().enumerate() {
        let stride = span;
        span *= dims[*axis];
        if place == 0 && matches!(how, Loose::Padded) {
            span = pitch(dice, span);
        }
        strides[*axis] = stride as i64;
        if matches!(how, Loose::Reversed) && reversed >> place & 1 == 1 {
            strides[*axis] = -(stride as i64);
            offset += stride * (dims[*axis] - 1);
        }
    }
    let list = |all: Vec<String>| all.join(",");
    let extents = list(dims.iter().map(u64::to_string).collect());
    let strides = list(strides.iter().map(i64::to_string).collect());
    let offset = if offset == 0 { String::new() } else { format!("+{offset}") };
    format!("({extents}):({strides}){offset} capacity {span}")
}

/// Returns the distance in elements between the starts of two rows, for rows of `row` elements.
fn pitch(dice: &mut Dice, row: u64) -> u64 {
    match dice.below(3) {
        0 => row + dice.one(&[1, 2, 3, 4, 8, 16]),
        1 => (row + 1).next_multiple_of(dice.one(&[8, 16, 32, 64])),
        _ => (row + 1).next_multiple_of(128),
    }
}

/// Returns a tiled layout that fits the rank and the width; its axes are in this order if its SPEC leaves that open.
fn tile(dice: &mut Dice, order: &[usize], width: u64) -> String {
    let fits = |tiled: &&Tiled| tiled.ranks.contains(&order.len()) && tiled.widths.contains(&width);
    let found: Vec<(u64, &str)> =
        TILED.iter().filter(fits).map(|tiled| (tiled.share, tiled.spec)).collect();
    dice.share(&found).replace("ORDER", &minor_to_major(order))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Case;

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

    #[test]
    fn a_stream_is_its_own_and_even() {
        let stream = |seed, index| {
            let mut dice = Dice::new(seed, index);
            (0..1000).map(|_| dice.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(stream(1, 2), stream(1, 2));
        assert!(stream(1, 2) != stream(1, 3) && stream(1, 2) != stream(2, 2));
        for digit in 0..10 {
            let count = stream(1, 2).iter().filter(|one| **one == digit).count();
            assert!((60..150).contains(&count), "{digit}: {count}");
        }
    }

    #[test]
    fn shares_and_orders_are_whole() {
        let mut dice = Dice::new(3, 0);
        let shares: Vec<char> =
            (0..300).map(|_| dice.share(&[(1, 'a'), (0, 'b'), (2, 'c')])).collect();
        assert!(shares.contains(&'a') && !shares.contains(&'b') && shares.contains(&'c'));
        for count in 0..8 {
            let mut order = dice.shuffled(count);
            order.sort();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
        assert!((0..100).all(|_| (0.0..1.0).contains(&dice.unit())));
    }

    #[test]
    fn the_product_is_about_the_size() {
        let mut dice = Dice::new(1, 0);
        for rank in 2..=7 {
            for _ in 0..200 {
                let extents = extents(&mut dice, rank, 1 << 22);
                assert!(extents.len() == rank && extents.iter().all(|one| *one >= LEAST));
                let size: u64 = extents.iter().product();
                assert!((1 << 20..=1 << 25).contains(&size), "{extents:?}");
            }
        }
    }

    #[test]
    fn extents_are_of_every_kind() {
        let mut dice = Dice::new(2, 0);
        let all: Vec<u64> = (0..300).flat_map(|_| extents(&mut dice, 3, 1 << 22)).collect();
        let count = |is: fn(&u64) -> bool| all.iter().filter(|one| is(one)).count();
        assert!(count(|one| one.is_power_of_two()) < all.len() / 2);
        assert!(count(|one| one % 2 == 1) > all.len() / 5);
        assert!(count(|one| one % 16 == 0) > all.len() / 5);
    }

    #[test]
    fn other_orders_are_orders() {
        let mut dice = Dice::new(4, 0);
        for rank in 2..=7 {
            for _ in 0..50 {
                let mut order = other(&mut dice, &counted(rank));
                order.sort();
                assert_eq!(order, counted(rank));
            }
        }
        assert_eq!((dense(&[0, 1, 2]), dense(&[1, 2, 0])), ("row-major".into(), "{0,2,1}".into()));
    }

    #[test]
    fn every_tile_is_read() {
        for tiled in TILED {
            for rank in tiled.ranks {
                for width in tiled.widths {
                    let dims: Vec<u64> = (0..*rank as u64).map(|at| 3 + at).collect();
                    let order = minor_to_major(&counted(*rank));
                    let spec = tiled.spec.replace("ORDER", &order);
                    let dtype = dtype(*width);
                    let case = Case::given(dtype, "row-major", &spec, &dims);
                    assert!(case.is_ok(), "{spec}, {width} bytes, {dims:?}: {case:?}");
                }
            }
        }
    }

    #[test]
    fn loose_sides_hold_every_element_once() {
        let mut dice = Dice::new(5, 0);
        for how in [Loose::Padded, Loose::Strided, Loose::Reversed] {
            for _ in 0..20 {
                let order = dice.shuffled(3);
                let spec = loose(&mut dice, &order, &[3, 4, 5], how);
                let case = Case::given("f32", "row-major", &spec, &[3, 4, 5]).unwrap();
                assert_eq!(case.src().size(), 60);
                assert_ne!(case.to(), "row-major");
            }
        }
    }
}
