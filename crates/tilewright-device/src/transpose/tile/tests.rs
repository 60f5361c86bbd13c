//! The laws of tiles, over all small choices of bits and many areas.

use super::*;
use crate::Alignment;

fn bits(count: usize) -> Vec<Bit> {
    (0..count).map(|of| Bit { of, at: 0 }).collect()
}

/// Returns the cell of the position whose bits are the low bits of `place`, in the order of `reading`.
fn cell_of(cells: &[(Bit, u32)], order: &[Bit], place: u32) -> u32 {
    let at = |bit: Bit| cells.iter().find(|(other, _)| *other == bit).unwrap().1;
    order.iter().enumerate().fold(0, |all, (i, bit)| match place >> i & 1 {
        0 => all,
        _ => all ^ at(*bit),
    })
}

fn check_cells(writing: &[Bit], reading: &[Bit]) {
    let cells = cells(writing, reading);
    let mut seen = vec![false; 1 << reading.len()];
    for place in 0..1 << reading.len() {
        let cell = cell_of(&cells, reading, place) as usize;
        assert!(!std::mem::replace(&mut seen[cell], true), "{writing:?} {reading:?}: {cells:?}");
    }
    for order in [writing, reading] {
        // Adjacent lanes, for all values of the other bits.
        for rest in 0..1u32 << (order.len() - 3) {
            let banks = (0..8).map(|lane| cell_of(&cells, order, rest << 3 | lane) & 7);
            assert_eq!(banks.fold(0, |all, bank| all | 1 << bank), 0xFF, "{writing:?} {reading:?}");
        }
    }
}

/// Calls `f` with every order of `left`, after `begun`.
fn orders(begun: &mut Vec<Bit>, left: &[Bit], count: usize, f: &mut dyn FnMut(&[Bit])) {
    if begun.len() == count {
        return f(begun);
    }
    for (i, bit) in left.iter().enumerate() {
        let rest: Vec<Bit> = left[..i].iter().chain(&left[i + 1..]).copied().collect();
        begun.push(*bit);
        orders(begun, &rest, count, f);
        begun.pop();
    }
}

#[test]
fn the_swizzle_is_a_bijection_without_conflicts_for_any_two_orders() {
    let mut count = 0;
    for all in 3..=7 {
        let reading = bits(all);
        // Any order of any of the bits: by symmetry, one reading order is enough.
        for some in 3..=all.min(5) {
            orders(&mut Vec::new(), &reading, some, &mut |writing| {
                check_cells(writing, &reading);
                count += 1;
            });
        }
    }
    assert!(count > 3000, "{count}");
}

/// Returns a region of runs of some bits; strides are in bits too.
fn region(run: u64, loops: &[(u64, i64, i64)]) -> BitRegion {
    let loops = loops.iter().map(|&(extent, src, dst)| Loop { extent, src, dst }).collect();
    BitRegion { src: 0, dst: 0, run, loops }
}

fn tile_of(region: &BitRegion) -> Option<TransposeTile> {
    TransposeTile::of(region, Alignment::default())
}

fn matrix(element: u64, m: u64, n: u64) -> BitRegion {
    let (e, rows, columns) = (element as i64, m as i64, n as i64);
    region(element, &[(n, e, rows * e), (m, columns * e, e)])
}

#[test]
fn tiles_of_transposes_are_as_wide_as_said() {
    let of = |element, m, n| tile_of(&matrix(element, m, n)).unwrap().bits;
    assert_eq!(of(8, 4096, 4096), [7, 7]);
    assert_eq!(of(16, 4096, 4096), [7, 7]);
    assert_eq!(of(32, 4096, 4096), [6, 6]);
    assert_eq!(of(64, 4096, 4096), [6, 5]);
    assert_eq!(of(128, 4096, 4096), [6, 4]);
    // Nibbles: lines of 128 bytes.
    assert_eq!(of(4, 4096, 4096), [8, 8]);
    // Extents need not be multiples of the tile's, only of a vector's.
    assert_eq!(of(32, 1004, 772), [6, 6]);
    assert!(tile_of(&matrix(32, 1003, 772)).is_none());
    assert!(tile_of(&matrix(16, 1004, 1000)).is_none());
}

#[test]
fn extents_just_above_powers_of_two_have_shorter_lines() {
    // Four dims of 24 in reverse: lines of 256 bytes would need 2^16 elements, including those beyond the ends.
    let e = 16;
    let loops = [
        (24, e, 24 * 24 * 24 * e),
        (24, 24 * e, 24 * 24 * e),
        (24, 24 * 24 * e, 24 * e),
        (24, 24 * 24 * 24 * e, e),
    ];
    let tile = tile_of(&region(16, &loops)).unwrap();
    assert!(tile.bytes() <= MOST && tile.bytes() >= WANTED / 2, "{tile:?}");
}

#[test]
fn every_bit_of_a_tile_is_of_one_kind_on_either_side() {
    let mut count = 0;
    for element in [4, 8, 16, 32, 64, 128] {
        for (m, n) in
            [(16u64, 64u64), (64, 16), (64, 64), (48, 1000 * 16), (256, 272), (1 << 20, 1 << 22)]
        {
            for (batch, between) in [(1, 0), (2, 1), (7, 0), (32, 2)] {
                let e = element as i64;
                let (rows, columns) = (m as i64 * e, n as i64 * e);
                let matrix = m as i64 * columns;
                let loops = match between {
                    0 => [(batch, matrix, matrix), (n, e, rows), (m, columns, e)],
                    1 => [(n, e, rows * batch as i64), (batch, matrix, rows), (m, columns, e)],
                    _ => [
                        (n, e * batch as i64, rows),
                        (m, columns * batch as i64, e),
                        (batch, e, matrix),
                    ],
                };
                let loops: Vec<_> = loops.into_iter().filter(|level| level.0 > 1).collect();
                let Some(tile) = tile_of(&region(element, &loops)) else { continue };
                count += 1;
                let all = tile.bits.iter().sum::<u32>() as usize;
                let pairs = tile.exchanged.len();
                assert_eq!(tile.writing.len() + tile.src.len() + pairs, all);
                assert_eq!(tile.reading.len() + tile.dst.len(), all);
                assert!(tile.bytes() <= MOST);
                let vectors: Vec<Bit> =
                    tile.writing.iter().copied().filter(|bit| !tile.dst.contains(bit)).collect();
                check_cells(&vectors, &tile.reading);
                for (a, b) in &tile.exchanged {
                    assert!(tile.src.contains(a) && !tile.dst.contains(a));
                    assert!(tile.dst.contains(b) && !tile.src.contains(b));
                }
            }
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn vectors_that_are_not_whole_or_begin_anywhere_are_left_to_others() {
    let one = matrix(32, 64, 64);
    assert!(tile_of(&one).is_some());
    let moved = |src: i64, dst: i64| BitRegion { src: 8 * src, dst: 8 * dst, ..one.clone() };
    assert!(tile_of(&moved(16, 32)).is_some());
    assert!(tile_of(&moved(4, 0)).is_none() && tile_of(&moved(0, 8)).is_none());
    let at = |src, dst| TransposeTile::of(&moved(4, 8), Alignment::new(src, dst).unwrap());
    assert!(at(12, 8).is_some() && at(12, 0).is_none());
    // Backwards in the source: a vector begins with its last element.
    let reversed = |src| BitRegion { src, ..region(32, &[(64, -32, 2048), (64, 2048, 32)]) };
    assert!(tile_of(&reversed(63 * 32)).is_some_and(|tile| tile.behind() == -96));
    assert!(tile_of(&reversed(64 * 32)).is_none());
    // Nibbles that run backwards within a byte.
    let reversed = BitRegion { src: 255 * 4, ..region(4, &[(256, -4, 1024), (256, 1024, 4)]) };
    assert!(tile_of(&reversed).is_none());
}

/// Checks the laws of a tile of contiguous arrays: the lanes of a sector are adjacent on either side, and banks are
/// used once.
fn check_sectors(tile: &TransposeTile) {
    let lanes = tile.threads() as usize;
    for (side, order) in [(TileSide::Src, &tile.writing), (TileSide::Dst, &tile.reading)] {
        let sector: Vec<Bit> =
            order.iter().copied().filter(|bit| is_sector(&tile.loops, *bit, side)).collect();
        assert_eq!(sector.len(), 1, "{side:?} {tile:?}");
        assert!(order[..lanes.min(5)].contains(&sector[0]), "{side:?} {tile:?}");
    }
    let vectors: Vec<Bit> =
        tile.writing.iter().copied().filter(|bit| !tile.dst.contains(bit)).collect();
    check_cells(&vectors, &tile.reading);
    if let Some((a, half)) = tile.halved {
        // Sixteen neighbours write halves: of pairs to one cell, and of eight cells in eight banks.
        assert!(tile.writing[0] == half && tile.dst.contains(&half) && tile.src.contains(&a));
        assert_eq!(tile.cell(half), 0);
        let sorted = |mut bits: Vec<Bit>| {
            bits.sort_unstable();
            bits
        };
        assert_eq!(sorted(tile.held()), sorted(tile.dst.clone()));
    }
}

#[test]
fn sectors_are_of_neighbouring_lanes_for_all_permutations_of_bits() {
    let (mut count, mut halved) = (0, 0);
    // Nibbles have most of the permutations.
    let elements = tilewright_testing::cases(&[4, 8, 16, 32, 64, 128][..], &[8, 16, 32, 64, 128]);
    let mut permutations = 0;
    for &element in elements {
        let levels = (VECTOR_BITS / element).trailing_zeros() as usize;
        // The lowest bits of the destination are any of the lowest of the source, or of those far away.
        let near = levels + 1;
        let all = bits(near + 3);
        permutations += (4..=near + 3).product::<usize>();
        orders(&mut Vec::new(), &all, near, &mut |lowest| {
            let others = all.iter().filter(|bit| !lowest.contains(bit));
            let order: Vec<Bit> = lowest.iter().chain(others).copied().collect();
            let step = |at: usize| (element << at) as i64;
            let mut loops: Vec<(u64, i64, i64)> =
                order.iter().enumerate().map(|(to, bit)| (2, step(bit.of), step(to))).collect();
            // Batches around them, in the same order on both sides.
            loops.push((64, step(near + 3), step(near + 3)));
            let Some(tile) = tile_of(&region(element, &loops)) else { return };
            check_sectors(&tile);
            count += 1;
            halved += usize::from(tile.halved.is_some());
        });
    }
    // 9 · 8 · 7 · 6 · 5 · 4 for nibbles, and so on: no choice is left out.
    assert_eq!(count, permutations);
    assert!(halved * 5 > count, "{halved} of {count}");
}
