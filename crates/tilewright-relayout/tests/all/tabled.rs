//! Tests of programs and plans of arrays with index tables: they write what the offsets say, in one run, in chunks, and
//! with threads, for elements of all kinds of widths.

use std::sync::Arc;

use proptest::prelude::*;
use tilewright_core::{Fractal, Layout, Step, TensorLayout};
use tilewright_relayout::{Elements, Plan, Program, Read, Tiles, Write};
use tilewright_table::{Along, Block, Table, TabledLayout};

/// Numbers that depend only on a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below.max(1)
    }
}

/// A shuffled list of `all` indices and `holes` holes.
fn shuffled(all: u64, holes: u64, numbers: &mut Numbers) -> Arc<Table> {
    let mut list: Vec<Option<u64>> = (0..all).map(Some).chain((0..holes).map(|_| None)).collect();
    for i in (1..list.len()).rev() {
        list.swap(i, numbers.below(i as u64 + 1) as usize);
    }
    Arc::new(Table::new(all, list).unwrap())
}

/// A layout below the tables: plain, tiled, padded, swizzled, or with merged dims.
fn stored(extents: &[u64], kind: u64) -> TensorLayout {
    let rows = || TensorLayout::row_major(extents).unwrap();
    match (kind % 6, extents) {
        (0, _) => rows(),
        (1, _) => TensorLayout::col_major(extents).unwrap(),
        (2, [_, _]) => Fractal::ZN.pattern(4, 2).layout(extents).unwrap(),
        (3, [m, n]) => {
            let n = n.next_multiple_of(4);
            let text = format!("Sw<2,0,2> o ({m},{n}):({n},1)");
            let wide = Layout::parse(&text).unwrap();
            TensorLayout::new(extents, &wide, (m * n).next_multiple_of(16)).unwrap()
        }
        (4, [m, n]) => {
            // All elements in one dim, cut into fours that are stored by columns.
            let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
            let rows = (m * n).div_ceil(4);
            let layout = Layout::parse(&format!("({rows},4):(1,{rows})")).unwrap();
            TensorLayout::with_steps(extents, &steps, &layout, 4 * rows).unwrap()
        }
        _ => {
            let wide: Vec<u64> = extents.iter().map(|extent| extent + 1).collect();
            let wide = TensorLayout::row_major(&wide).unwrap();
            TensorLayout::new(extents, wide.layout(), wide.capacity() + 1).unwrap()
        }
    }
}

fn divisor(of: u64, numbers: &mut Numbers) -> u64 {
    let all: Vec<u64> = (1..=of).filter(|by| of.is_multiple_of(*by)).collect();
    all[numbers.below(all.len() as u64) as usize]
}

/// A side of an array: up to two tables, of one dim, or of the blocks of several, some of them in groups.
fn side(extents: &[u64], numbers: &mut Numbers) -> TabledLayout {
    let (mut now, mut tables) = (extents.to_vec(), Vec::new());
    for _ in 0..numbers.below(3) {
        let mut dims: Vec<Block> = Vec::new();
        for (dim, extent) in now.iter().enumerate() {
            if numbers.below(2) == 0 || (dims.is_empty() && dim + 1 == now.len()) {
                let by = divisor(*extent, numbers);
                let group = (numbers.below(3) == 0).then(|| divisor(extent / by, numbers));
                dims.push(group.map_or((dim, by).into(), |of| (dim, by, of).into()));
            }
        }
        let all = Along::count(&dims, &now).unwrap();
        let holes = numbers.below(3);
        let along = Along::new(&dims, &now, shuffled(all, holes, numbers)).unwrap();
        now = along.stored_extents().to_vec();
        tables.push(along);
    }
    let kind = numbers.below(6);
    TabledLayout::new(extents, tables, &stored(&now, kind)).unwrap()
}

fn get(bytes: &[u8], at: u64, bits: u32) -> u128 {
    let bit = |i: u64| {
        u128::from(
            bytes[((at * u64::from(bits) + i) / 8) as usize] >> ((at * u64::from(bits) + i) % 8)
                & 1,
        )
    };
    (0..u64::from(bits)).map(|i| bit(i) << i).sum()
}

fn put(bytes: &mut [u8], at: u64, bits: u32, value: u128) {
    for i in 0..u64::from(bits) {
        let bit = at * u64::from(bits) + i;
        let byte = &mut bytes[(bit / 8) as usize];
        *byte = *byte & !(1 << (bit % 8)) | ((value >> i & 1) as u8) << (bit % 8);
    }
}

fn next(coord: &mut [u64], extents: &[u64]) -> bool {
    for (index, extent) in coord.iter_mut().zip(extents).rev() {
        *index += 1;
        if *index < *extent {
            return true;
        }
        *index = 0;
    }
    false
}

/// The result according to the offsets.
fn expected(
    src: &TabledLayout,
    dst: &TabledLayout,
    bits: u32,
    fill: u128,
    source: &[u8],
) -> Vec<u8> {
    let capacity = dst.stored().capacity();
    let mut out = vec![0; (capacity * u64::from(bits)).div_ceil(8) as usize];
    (0..capacity).for_each(|at| put(&mut out, at, bits, fill));
    let mut coord = vec![0; src.extents().len()];
    loop {
        let (from, to) = (src.offset(&coord).unwrap(), dst.offset(&coord).unwrap());
        put(&mut out, to as u64, bits, get(source, from as u64, bits));
        if !next(&mut coord, src.extents()) {
            return out;
        }
    }
}

fn noise(len: u64, numbers: &mut Numbers) -> Vec<u8> {
    (0..len).map(|_| numbers.below(256) as u8).collect()
}

/// Checks a run, a run with threads, and chunks that read only the bytes that they list.
fn check(src: &TabledLayout, dst: &TabledLayout, bits: u32, numbers: &mut Numbers) {
    let fill = u128::from(numbers.below(1 << 31));
    let program = Program::of_arrays(src, dst, Elements::same(bits), fill).unwrap();
    let source = noise(program.src_bytes(), numbers);
    let wanted = expected(src, dst, bits, fill, &source);
    let holds = dst.stored().capacity() - src.size();
    assert_eq!(program.padding(), holds, "{src:?} to {dst:?}");
    let plan = Plan::of(program.clone()).with_min_range(1);
    for threads in [1, 3] {
        let mut out = vec![0xA5; wanted.len()];
        plan.run(&source, &mut out, threads).unwrap();
        assert!(out == wanted, "{src:?} to {dst:?} of {bits} bits\n{out:x?}\n{wanted:x?}\n{plan}");
    }
    let step = 1 + numbers.below(wanted.len() as u64) as usize;
    for (number, part) in wanted.chunks(step).enumerate() {
        let from = (number * step) as u64;
        let mut out = vec![0xA5; part.len()];
        plan.run_range(from..from + part.len() as u64, &source, &mut out).unwrap();
        assert!(out == part, "{src:?} to {dst:?} from {from}");
        let chunk = plan.chunk(from..from + part.len() as u64).unwrap();
        let mut read = vec![0; chunk.buffer_len()];
        for it in chunk.reads() {
            let bytes = &mut read[it.at..it.at + it.len];
            bytes.copy_from_slice(&source[it.src as usize..it.src as usize + it.len]);
        }
        let mut out = vec![0xA5; part.len()];
        chunk.run(&read, &mut out, 1).unwrap();
        assert!(out == part, "{src:?} to {dst:?} from {from} by what is read");
    }
    if let Some(tiles) = plan.tiles(1 + numbers.below(2 * wanted.len() as u64)) {
        check_tiles(&plan, tiles, &source, &wanted);
    }
    // The bytes that hold elements, on either side.
    for (ranges, side) in [
        (program.source_ranges().collect::<Vec<_>>(), src),
        (program.destination_ranges().collect(), dst),
    ] {
        let mut holds =
            vec![false; (side.stored().capacity() * u64::from(bits)).div_ceil(8) as usize];
        let exact = program.has_tables() && side.has_holes();
        let mut coord = vec![0; side.extents().len()];
        loop {
            let at = side.offset(&coord).unwrap() as u64 * u64::from(bits);
            holds[(at / 8) as usize..(at + u64::from(bits)).div_ceil(8) as usize].fill(true);
            if !next(&mut coord, side.extents()) {
                break;
            }
        }
        let said = |at: usize| ranges.iter().any(|range| range.contains(&(at as u64)));
        for (at, holds) in holds.into_iter().enumerate() {
            assert_eq!(said(at), holds, "byte {at} of {side:?}, {exact}");
        }
    }
}

/// Checks tiles, which read only the bytes that they list, write each byte at most once, and leave no element out.
fn check_tiles(plan: &Plan, tiles: Tiles, source: &[u8], wanted: &[u8]) {
    let (mut out, mut times) = (vec![0xA5; wanted.len()], vec![0; wanted.len()]);
    plan.pad(&mut out, 1).unwrap();
    for tile in tiles {
        let (mut from, mut to) = (vec![0; tile.src_len()], vec![0xA5; tile.dst_len()]);
        for Read { src, len, at } in tile.reads() {
            from[at..at + len].copy_from_slice(&source[src as usize..][..len]);
        }
        tile.run(&from, &mut to).unwrap();
        for Write { dst, len, at } in tile.writes() {
            out[dst as usize..][..len].copy_from_slice(&to[at..][..len]);
            times[dst as usize..][..len].iter_mut().for_each(|times| *times += 1);
        }
    }
    assert!(times.iter().all(|times| *times < 2), "{plan}");
    assert!(out == wanted, "{plan}\n{out:x?}\n{wanted:x?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_the_offsets_say(
        extents in proptest::collection::vec(1u64..9, 1..4),
        bits in proptest::sample::select(vec![1u32, 4, 8, 16, 24, 32, 64, 128]),
        seed in any::<u64>(),
    ) {
        let mut numbers = Numbers(seed);
        let (src, dst) = (side(&extents, &mut numbers), side(&extents, &mut numbers));
        check(&src, &dst, bits, &mut numbers);
    }
}

/// Arrays of many leaves, whose tables are longer than those of a leaf.
#[test]
fn long_tables_move_all_elements() {
    let mut numbers = Numbers(7);
    for (extents, dim, holes) in
        [([700, 30], 0, 0), ([30, 700], 1, 5), ([2100, 3], 0, 1), ([3, 2100], 1, 0)]
    {
        let along = |numbers: &mut Numbers| {
            Along::new(&[(dim, 1)], &extents, shuffled(extents[dim], holes, numbers)).unwrap()
        };
        for kinds in 0..36 {
            let sides = [kinds % 6, kinds / 6].map(|kind| {
                let tables = if kinds % 5 == 4 { Vec::new() } else { vec![along(&mut numbers)] };
                let now = tables.last().map_or(extents.to_vec(), |it| it.stored_extents().to_vec());
                TabledLayout::new(&extents, tables, &stored(&now, kind)).unwrap()
            });
            let [src, dst] = sides;
            let program = Program::of_arrays(&src, &dst, Elements::same(16), 3).unwrap();
            let source = noise(program.src_bytes(), &mut numbers);
            let mut out = vec![0; program.dst_bytes() as usize];
            Plan::of(program).run(&source, &mut out, 2).unwrap();
            assert!(out == expected(&src, &dst, 16, 3, &source), "{kinds} {src:?} to {dst:?}");
        }
    }
}

/// Tiles read and write few long runs, whichever side has a table along whichever dim; each byte is read about once.
#[test]
fn tiles_of_tables_read_and_write_long_runs() {
    let (mut numbers, extents) = (Numbers(5), [1024, 2048]);
    let mut tabled = |dim: usize, stored: &TensorLayout| {
        let table = shuffled(extents[dim], 0, &mut numbers);
        let along = Along::new(&[(dim, 1)], &extents, table).unwrap();
        TabledLayout::new(&extents, vec![along], stored).unwrap()
    };
    let rows = TensorLayout::row_major(&extents).unwrap();
    let columns = TensorLayout::col_major(&extents).unwrap();
    let plain = |layout| TabledLayout::of(layout);
    for dim in [0, 1] {
        for (src, dst) in [
            (tabled(dim, &rows), plain(&columns)),
            (tabled(dim, &columns), plain(&rows)),
            (plain(&rows), tabled(dim, &columns)),
            (plain(&columns), tabled(dim, &rows)),
            (tabled(dim, &rows), tabled(1 - dim, &columns)),
        ] {
            let program = Program::of_arrays(&src, &dst, Elements::same(32), 0).unwrap();
            let (bytes, plan) = (program.src_bytes(), Plan::of(program));
            let tiles = plan.tiles(bytes / 8).unwrap();
            let (calls, read) = tiles.cost();
            let (mut count, mut all) = (0, 0);
            for tile in tiles {
                assert!(tile.src_len() as u64 + tile.overhead_bytes() <= bytes / 8, "{tile:?}");
                count += (tile.reads().count() + tile.writes().count()) as u64;
                all += tile.src_len() as u64;
            }
            assert!(count <= 40_000 && all <= bytes * 5 / 4, "{count} {all} {src:?} to {dst:?}");
            assert!(calls <= 2 * count && read <= 2 * all, "{calls} {read}");
        }
    }
}

/// Bytes in a table's memory do not grow with the array: a leaf's tables are bounded.
#[test]
fn tables_of_a_leaf_are_bounded() {
    let mut numbers = Numbers(3);
    let along = Along::new(&[(1, 1)], &[1 << 20, 4096], shuffled(4096, 0, &mut numbers)).unwrap();
    let rows = TensorLayout::row_major(&[1 << 20, 4096]).unwrap();
    let src = TabledLayout::new(rows.extents(), vec![along], &rows).unwrap();
    let program =
        Program::of_arrays(&src, &TabledLayout::of(&rows), Elements::same(16), 0).unwrap();
    assert!(program.has_tables() && program.digits().table_bytes() <= 16 * (64 + 1024));
    assert!(program.to_string().contains("index tables, so moved by digits"), "{program}");
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let mut numbers = Numbers(3);
    let along = Along::new(&[(0, 1)], &[5], shuffled(5, 0, &mut numbers)).unwrap();
    let broadcast = TensorLayout::of(&Layout::parse("(5):(0)").unwrap());
    let dst = TabledLayout::new(&[5], vec![along], &broadcast).unwrap();
    let src = TabledLayout::of(&TensorLayout::row_major(&[5]).unwrap());
    let error = Program::of_arrays(&src, &dst, Elements::same(8), 0).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("share storage"), "{error}");
    let plan = Plan::of(Program::of_arrays(&dst, &src, Elements::same(8), 0).unwrap());
    assert!(plan.in_place_within(1 << 20).is_err());
    let other = TabledLayout::of(&TensorLayout::row_major(&[6]).unwrap());
    let error = Program::of_arrays(&dst, &other, Elements::same(8), 0).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
}
