//! Counts, fixes and swizzles between layouts against a second, plain implementation, over all small layouts of powers of
//! two, and over random ones.
//!
//! `TILEWRIGHT_BANKS=all` in the environment takes all matrices of powers of two up to 256 elements, and 10,000 random
//! ones up to 4,096; without it, some of them are taken.

use tilewright_banks::{
    Access, Banks, Between, Change, Sample, Spread, conflicts, fix, matrix_between, swizzle_between,
};
use tilewright_core::{Layout, Mode, Profile, Swizzle, TensorLayout, layout};

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Returns whether all cases are requested.
fn is_whole() -> bool {
    std::env::var_os("TILEWRIGHT_BANKS").is_some_and(|value| value == "all")
}

/// Returns a matrix with the bits of its coordinates in any order in memory: `order[k]` is the offset bit of bit `k` of
/// the coordinates, with those of the rows first.
fn bits(rows: usize, order: &[u32]) -> TensorLayout {
    let mode = |&bit: &u32| Mode::new(2, 1i64 << bit);
    let one = Mode::new(1, 0);
    let (of_rows, of_columns) = order.split_at(rows);
    let axis = |bits: &[u32]| std::iter::once(one).chain(bits.iter().map(mode)).collect::<Vec<_>>();
    let modes = [axis(of_rows), axis(of_columns)].concat();
    let counts = [rows + 1, order.len() - rows + 1];
    let layout = Layout::nested(&modes, &counts).unwrap();
    TensorLayout::of(&layout)
}

/// Returns all orders of the numbers below `n`.
fn orders(n: u32) -> Vec<Vec<u32>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let put = |order: &Vec<u32>, at: usize| {
        let mut order = order.clone();
        order.insert(at, last);
        order
    };
    orders(last).iter().flat_map(|order| (0..=order.len()).map(move |at| put(order, at))).collect()
}

/// Returns the cycles of each turn of a read of rows or of columns, one element per thread, from the definition.
fn cycles(
    extents: [u64; 2],
    columns: bool,
    bytes: u64,
    offset: impl Fn([u64; 2]) -> u64,
) -> impl Iterator<Item = u64> {
    let size = extents[0] * extents[1];
    let coord = move |at: u64| match columns {
        true => [at % extents[0], at / extents[0]],
        false => [at / extents[1], at % extents[1]],
    };
    let together = (128 / bytes).min(32);
    // Turns divide a warp, so they follow one another.
    (0..size.div_ceil(together)).map(move |turn| {
        let (mut words, mut counts) = (Vec::new(), [0; 32]);
        for at in turn * together..((turn + 1) * together).min(size) {
            let byte = offset(coord(at)) * bytes;
            for word in byte / 4..=(byte + bytes - 1) / 4 {
                if !words.contains(&word) {
                    words.push(word);
                    counts[(word % 32) as usize] += 1;
                }
            }
        }
        counts.into_iter().max().unwrap()
    })
}

fn accesses(extents: [u64; 2]) -> [Access; 2] {
    let rows = Spread::rows(&extents, 1, 1, 32).unwrap();
    let columns = Spread::columns(&extents, 1, 1, 32).unwrap();
    [Access::write("row", rows, 1).unwrap(), Access::read("column", columns, 1).unwrap()]
}

/// Returns the first swizzle in the stated order without a conflict in any access, by trying each on the definition.
fn least(tensor: &TensorLayout, bytes: u64, which: &[bool]) -> Option<Swizzle> {
    let extents: [u64; 2] = tensor.extents().try_into().unwrap();
    let top = (u64::BITS - (tensor.layout().cosize() as u64 - 1).leading_zeros()) as i64;
    let mut all = Vec::new();
    for (bits, base, shift) in (0..=top).flat_map(|bits| {
        (0..=top).flat_map(move |base| (-top..=top).map(move |shift| (bits, base, shift)))
    }) {
        let fits = bits + base + shift.abs() <= top && shift.abs() >= bits;
        if fits && (bits > 0 || (base, shift) == (0, 0)) {
            all.push((bits, shift.abs(), base, shift < 0, shift));
        }
    }
    all.sort_unstable();
    let index = |[row, column]: [u64; 2]| (row * extents[1] + column) as usize;
    let offsets: Vec<u64> =
        (0..tensor.size()).map(|at| tensor.offset_of(at).unwrap() as u64).collect();
    all.iter()
        .map(|&(bits, _, base, _, shift)| {
            Swizzle::new(bits as u8, base as u8, shift as i8).unwrap()
        })
        .find(|swizzle| {
            which.iter().all(|&columns| {
                let offset = |coord| {
                    let (at, mask) = (offsets[index(coord)], (1u64 << swizzle.bits()) - 1);
                    let (base, by) = (swizzle.base(), swizzle.shift());
                    match by >= 0 {
                        true => at ^ ((at >> (base + by as u8)) & mask) << base,
                        false => at ^ ((at >> base) & mask) << (base + by.unsigned_abs()),
                    }
                };
                cycles(extents, columns, bytes, offset).all(|n| n <= 1)
            })
        })
}

/// Checks the counts and the least swizzle of one matrix, both ways.
fn check(tensor: &TensorLayout, bytes: u64) -> bool {
    let extents: [u64; 2] = tensor.extents().try_into().unwrap();
    let (bits, banks) = (bytes as u32 * 8, Banks::NVIDIA);
    let accesses = accesses(extents);
    for (access, columns) in accesses.iter().zip([false, true]) {
        let expected: Vec<u64> =
            cycles(extents, columns, bytes, |c| tensor.offset(&c).unwrap() as u64).collect();
        let found = conflicts(tensor, bits, &banks, access).unwrap();
        let (sum, most) = (expected.iter().sum::<u64>(), expected.iter().max().copied());
        assert_eq!((found.cycles, Some(found.degree)), (sum, most), "{}", tensor.layout());
        assert_eq!(found.turns, expected.len() as u64);
        let of_phases: u64 = found.phases.iter().map(|phase| phase.conflicts).sum();
        assert_eq!(of_phases, found.conflicts());
        assert_eq!(found.worst.is_some(), found.degree > 1);
        if let Some(worst) = found.worst {
            assert_eq!(worst.words.len() as u64, found.degree);
            assert!(worst.words.iter().all(|word| word.word % 32 == worst.bank));
        }
    }
    let search = fix(tensor, bits, &banks, &accesses).unwrap().swizzles;
    let found = search.found.as_ref().map(|found| found.change);
    let expected = least(tensor, bytes, &[false, true]);
    assert_eq!(found, expected.map(Change::Swizzle), "{} of {bytes} bytes", tensor.layout());
    for failed in &search.failed {
        proved(tensor, bytes, &accesses, failed);
    }
    if let Some(found) = &search.found {
        for access in &accesses {
            assert_eq!(conflicts(&found.layout, bits, &banks, access).unwrap().conflicts(), 0);
        }
    }
    !search.failed.is_empty() && search.found.is_some()
}

/// Checks that the two threads of a failed candidate access different words of one bank in one turn.
fn proved(
    tensor: &TensorLayout,
    bytes: u64,
    accesses: &[Access],
    failed: &tilewright_banks::Failed,
) {
    let pair = &failed.pair;
    let access = &accesses[pair.access];
    let word = [0, 1].map(|side| {
        let coord = access.spread().coord(pair.threads[side], pair.moment.step).unwrap();
        assert_eq!(coord, pair.coords[side]);
        failed.change.apply(tensor.offset(&coord).unwrap() as u64) * bytes / 4
    });
    assert!(word[0] != word[1] && word[0] % 32 == word[1] % 32, "{failed:?}");
    // A vector of 8 bytes has a second word after the first.
    assert!((0..2).all(|side| pair.words[side] - word[side] < bytes.div_ceil(4)));
    assert_eq!(pair.words[0] % 32, pair.bank);
    let together = (128 / bytes).min(32);
    assert_eq!(pair.threads[0] / together, pair.threads[1] / together);
}

#[test]
fn every_small_matrix_of_powers_of_two() {
    let mut mended = 0;
    // All orders of five bits, and one in nine of six, take a second.
    let whole = is_whole();
    for n in 1..=if whole { 8 } else { 6 } {
        for (at, order) in orders(n).iter().enumerate() {
            for rows in (0..=n as usize).filter(|rows| whole || n < 6 || (at + rows) % 9 == 0) {
                mended += u32::from(check(&bits(rows, order), 4));
            }
        }
    }
    assert!(mended > 20, "{mended}");
}

#[test]
fn random_matrices() {
    let mut random = Random(7);
    let mut mended = 0;
    for _ in 0..if is_whole() { 10_000 } else { 60 } {
        let n = 6 + random.below(if is_whole() { 7 } else { 4 }) as u32;
        let mut order: Vec<u32> = (0..n).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        let rows = random.below(u64::from(n) + 1) as usize;
        let bytes = [1, 2, 4, 8][random.below(4) as usize];
        mended += u32::from(check(&bits(rows, &order), bytes));
    }
    assert!(mended > 5, "{mended}");
}

#[test]
fn other_extents_by_padding() {
    let mut padded = 0;
    for (rows, columns) in
        (1..40u64).step_by(3).flat_map(|r| (1..50u64).step_by(7).map(move |c| (r, c)))
    {
        let tensor = TensorLayout::row_major(&[rows, columns]).unwrap();
        let access = &accesses([rows, columns])[1..];
        let found = fix(&tensor, 32, &Banks::NVIDIA, access).unwrap();
        let free = |by: u64| {
            let offset = |[row, column]: [u64; 2]| row * (columns + by) + column;
            cycles([rows, columns], true, 4, offset).all(|n| n <= 1)
        };
        let Some(search) = found.paddings else {
            assert!(rows == 1 || columns == 1);
            continue;
        };
        let expected = (1..32).find(|&by| free(by));
        let by = search.found.as_ref().map(|found| match found.change {
            Change::Padding { by, row } => {
                assert_eq!(row, columns);
                by
            }
            Change::Swizzle(swizzle) => panic!("{swizzle}"),
        });
        assert_eq!(by, expected, "{rows} × {columns}");
        padded += u32::from(by.is_some());
    }
    assert!(padded > 30, "{padded}");
}

#[test]
fn well_known_truths() {
    // Rows of 33 floats.
    let padded = TensorLayout::of(&layout!("(32,32):(33,1)"));
    assert!(
        accesses([32, 32])
            .iter()
            .all(|a| conflicts(&padded, 32, &Banks::NVIDIA, a).unwrap().degree == 1)
    );
    // CUTLASS's atoms of 32, 64 and 128 bytes: Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3> of bytes, base 3 of halves.
    for (bits, width) in [(1, 16), (2, 32), (3, 64)] {
        let tile = TensorLayout::row_major(&[64, width]).unwrap();
        let read =
            Access::read("ldmatrix", Spread::matrices(&[64, width], 4, false, 8).unwrap(), 8)
                .unwrap();
        let write = Access::write("row", Spread::rows(&[64, width], 1, 8, 32).unwrap(), 8).unwrap();
        let found = fix(&tile, 16, &Banks::NVIDIA, &[read, write]).unwrap().swizzles.found.unwrap();
        assert_eq!(found.change, Change::Swizzle(Swizzle::new(bits, 3, 3).unwrap()), "{width}");
    }
}

#[test]
fn swizzles_between_all_small_layouts() {
    let all: Vec<Swizzle> = (0..3u8)
        .flat_map(|bits| (0..4u8).flat_map(move |base| (-3..=3i8).map(move |by| (bits, base, by))))
        .filter_map(|(bits, base, by)| Swizzle::new(bits, base, by).ok())
        .collect();
    let plain = [
        "(4,8):(8,1)",
        "(4,8):(1,4)",
        "(4,4):(1,4)",
        "(3,5):(1,3)",
        "(2,2,4):(4,8,1)",
        "(8,4):(1,8)",
        "(3,5):(5,1)",
        "(4,4):(5,1)",
        "(2,2,4):(8,4,1)",
        "6:3",
        "0:1",
    ];
    let plain: Vec<Layout> = plain.iter().map(|text| Layout::parse(text).unwrap()).collect();
    let mut found = [0, 0];
    for (a, b) in plain.iter().flat_map(|a| plain.iter().map(move |b| (a, b))) {
        for swizzle in &all {
            let Ok(b) = b.with_swizzle(*swizzle) else { continue };
            let (a, b) = (TensorLayout::of(a), TensorLayout::of(&b));
            if a.extents() != b.extents() {
                assert!(swizzle_between(&a, &b).unwrap_err().is_mismatch());
                continue;
            }
            let same = |swizzle: &Swizzle| {
                let one = |i| {
                    swizzle.apply(a.offset_of(i).unwrap() as u64) == b.offset_of(i).unwrap() as u64
                };
                (0..a.size()).all(one)
            };
            match swizzle_between(&a, &b).unwrap() {
                Between::Swizzle(swizzle) => {
                    assert!(same(&swizzle), "{swizzle}");
                    found[0] += 1;
                }
                Between::None(samples) => {
                    assert!(!all.iter().any(same), "{} {}", a.layout(), b.layout());
                    assert!(!samples.is_empty());
                    // Each sample is needed, and together they rule out all small swizzles.
                    assert!(!all.iter().any(|s| samples.iter().all(|x| s.apply(x.from) == x.to)));
                    found[1] += 1;
                }
            }
        }
    }
    assert!(found.iter().all(|&n| n > 20), "{found:?}");
}

#[test]
fn a_swizzle_between_layouts_of_a_terabyte_and_between_swizzled_ones() {
    let of = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
    let large = of("(1000000,1000000):(1000000,1)");
    let moved = of("Sw<3,4,3> o (1000000,1000000):(1000000,1)");
    assert_eq!(
        swizzle_between(&large, &moved).unwrap(),
        Between::Swizzle(Swizzle::new(3, 4, 3).unwrap())
    );
    let (a, b) = (of("Sw<1,0,3> o (3,10):(10,1)"), of("Sw<1,0,3> o (3,10):(10,1)"));
    assert_eq!(swizzle_between(&a, &b).unwrap(), Between::Swizzle(Swizzle::IDENTITY));
    let (a, b) = (of("Sw<1,0,3> o (100000,10):(10,1)"), of("(100000,10):(10,1)"));
    assert!(swizzle_between(&a, &b).unwrap_err().is_undecided());
    assert_eq!(Profile::flat(2).unwrap(), *large.layout().profile());
}

/// Returns whether some offsets of one side have the xor 0 and those of the other side have not.
fn contradict(samples: &[Sample]) -> bool {
    let (from, to) =
        samples.iter().fold((0, 0), |all, sample| (all.0 ^ sample.from, all.1 ^ sample.to));
    (from == 0) != (to == 0)
}

/// Returns, by elimination over all elements, whether offsets of A are independent exactly where those of B are.
fn has_matrix(a: &TensorLayout, b: &TensorLayout) -> bool {
    let mut rows: Vec<(u64, u64)> = Vec::new();
    for index in 0..a.size() {
        let mut row = (a.offset_of(index).unwrap() as u64, b.offset_of(index).unwrap() as u64);
        for side in 0..2 {
            let key = |row: &(u64, u64)| if side == 0 { row.0 } else { row.1 };
            let mut rest = row;
            let mut basis: Vec<(u64, u64)> = Vec::new();
            for &other in &rows {
                let reduced = basis.iter().fold(other, |x, y| {
                    if key(&x) & (1 << key(y).ilog2()) != 0 { (x.0 ^ y.0, x.1 ^ y.1) } else { x }
                });
                basis.push(reduced);
            }
            for y in &basis {
                if key(&rest) & (1 << key(y).ilog2()) != 0 {
                    rest = (rest.0 ^ y.0, rest.1 ^ y.1);
                }
            }
            if key(&rest) == 0 && rest != (0, 0) {
                return false;
            }
            if rest == (0, 0) {
                row = rest;
            }
        }
        if row != (0, 0) {
            rows.push(row);
        }
    }
    true
}

#[test]
fn matrices_between_small_layouts_and_random_ones() {
    let small = ["(4,4):(4,1)", "(4,4):(1,4)", "(4,4):(5,1)", "(4,4):(1,8)", "(4,4):(3,16)"];
    let shapes = ["(3,5):(5,1)", "(3,5):(1,3)", "(3,5):(8,1)", "(3,5):(1,4)"];
    let mut random = Random(22);
    let mut all: Vec<(TensorLayout, TensorLayout)> = Vec::new();
    for texts in [&small[..], &shapes[..]] {
        let layouts: Vec<Layout> = texts.iter().map(|text| Layout::parse(text).unwrap()).collect();
        for (a, b) in layouts.iter().flat_map(|a| layouts.iter().map(move |b| (a, b))) {
            for images in [[1, 2, 4, 8, 16, 32], [2, 3, 4, 1, 16, 32], [1, 6, 5, 9, 48, 32]] {
                let Ok(swizzle) = Swizzle::of_images(&images) else { continue };
                let moved =
                    |x: &Layout| TensorLayout::of(&x.with_swizzle(swizzle).unwrap_or(x.clone()));
                all.push((TensorLayout::of(a), moved(b)));
                all.push((moved(a), TensorLayout::of(b)));
            }
        }
    }
    for _ in 0..300 {
        let mut order: Vec<u32> = (0..7).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        let images: Vec<u64> = (0..7).map(|_| random.below(128)).collect();
        let rows = bits(3, &order);
        let moved = Swizzle::of_images(&images)
            .ok()
            .and_then(|swizzle| Change::Swizzle(swizzle).layout(&rows).ok());
        order.rotate_left(2);
        all.push((bits(3, &order), moved.unwrap_or(rows)));
    }
    let mut found = [0, 0];
    for (a, b) in &all {
        match matrix_between(a, b).unwrap() {
            Between::Swizzle(matrix) => {
                for index in 0..a.size() {
                    let (from, to) = (a.offset_of(index).unwrap(), b.offset_of(index).unwrap());
                    assert_eq!(
                        matrix.apply(from as u64),
                        to as u64,
                        "{} {}",
                        a.layout(),
                        b.layout()
                    );
                }
                assert!(has_matrix(a, b));
                found[0] += 1;
            }
            Between::None(samples) => {
                assert!(contradict(&samples), "{} {}: {samples:?}", a.layout(), b.layout());
                assert!(!has_matrix(a, b), "{} {}", a.layout(), b.layout());
                for sample in &samples {
                    let at = |layout: &TensorLayout| layout.offset(&sample.coord).unwrap() as u64;
                    assert_eq!((at(a), at(b)), (sample.from, sample.to));
                }
                found[1] += 1;
            }
        }
        if matches!(swizzle_between(a, b).unwrap(), Between::Swizzle(_)) {
            assert!(matches!(matrix_between(a, b).unwrap(), Between::Swizzle(_)));
        }
    }
    assert!(found.iter().all(|&n| n > 20), "{found:?}");
}

#[test]
fn a_matrix_between_large_layouts() {
    let of = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
    let (rows, columns) =
        (of("(1048576,1048576):(1048576,1)"), of("(1048576,1048576):(1,1048576)"));
    let Between::Swizzle(matrix) = matrix_between(&rows, &columns).unwrap() else { panic!() };
    assert_eq!((matrix.apply(1), matrix.apply(1 << 20), matrix.apply(3 << 20)), (1 << 20, 1, 3));
    // Rows of a million elements carry.
    let (rows, columns) =
        (of("(1000000,1000000):(1000000,1)"), of("(1000000,1000000):(1,1000000)"));
    let Between::None(samples) = matrix_between(&rows, &columns).unwrap() else { panic!() };
    assert!(contradict(&samples));
}
