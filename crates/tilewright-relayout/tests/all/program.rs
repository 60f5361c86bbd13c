//! Tests of the laws of programs, by their public data alone: regions and gaps cover the destination exactly once,
//! digits agree with regions, and parts of a partition, in any order, are the whole.

use crate::common::{broadcasts, cubes, layout, naive, noise, pattern};
use core::ops::Range;
use proptest::prelude::*;
use tilewright_core::{Step, Swizzle, TensorLayout};
use tilewright_relayout::{Digits, Elements, Extend, Gap, Op, Plan, Program, Region};

const FILL: u128 = 0x0123_4567_89AB_CDEF_1122_3344_5566_77ED;

/// Calls `f` with all sums of one iteration of each loop.
fn sums(loops: &[(u64, i64, i64)], (src, dst): (i64, i64), f: &mut dyn FnMut(i64, i64)) {
    let Some((&(extent, from, to), rest)) = loops.split_first() else { return f(src, dst) };
    for i in 0..extent as i64 {
        sums(rest, (src + i * from, dst + i * to), f);
    }
}

/// The elements of a region, as offsets on both sides, in elements.
fn elements_of(region: &Region, elements: Elements, f: &mut dyn FnMut(i64, i64)) {
    let loops: Vec<_> =
        region.loops.iter().map(|level| (level.extent, level.src, level.dst)).collect();
    assert!(loops.iter().all(|level| level.0 > 1 && level.2 > 0));
    assert!(region.packed || elements.src_bits == elements.dst_bits);
    let bits = if region.packed { 8 } else { i64::from(elements.src_bits) };
    // Bytes of packed elements hold several, wide elements have several bytes.
    let element = |units: i64| if region.packed { units } else { units * 8 / bits };
    let count = element(region.run as i64);
    sums(&loops, (region.src, region.dst), &mut |src, dst| {
        (0..count).for_each(|i| f(element(src) + i, element(dst) + i));
    });
}

/// The elements that the digits of a program visit.
fn elements_by_digits(program: &Program, f: &mut dyn FnMut(i64, i64)) {
    let digits = program.digits();
    if digits.is_empty() {
        return;
    }
    let mut iterations: Vec<u64> =
        digits.digits().iter().map(|digit| digit.values().start).collect();
    loop {
        if let Some((src, dst)) = element_at(program, &iterations) {
            f(src, dst);
        }
        let each = iterations.iter_mut().zip(digits.digits());
        let next = each.rev().find_map(|(level, digit)| {
            *level += 1;
            let more = *level < digit.values().end;
            if !more {
                *level = digit.values().start;
            }
            more.then_some(())
        });
        if next.is_none() {
            return;
        }
    }
}

fn element_at(program: &Program, iterations: &[u64]) -> Option<(i64, i64)> {
    let digits = program.digits();
    let (mut src, mut dst) = digits.base();
    for (i, group) in digits.groups().iter().enumerate() {
        let mut registers = vec![0; group.registers()];
        for (digit, level) in digits.digits().iter().zip(iterations) {
            if digit.group() == i {
                registers[digit.register()] = *level;
                dst += *level as i64 * digit.stride();
            }
        }
        src += counted(group.ops(), digits, &mut registers)?;
    }
    let (from, to) = digits.swizzles();
    let apply = |swizzle: Swizzle, at: i64| {
        if swizzle.is_identity() { at } else { swizzle.apply(at as u64) as i64 }
    };
    Some((apply(from, src), apply(to, dst)))
}

fn counted(ops: &[Op], digits: &Digits, registers: &mut [u64]) -> Option<i64> {
    let mut sum = 0;
    for op in ops {
        match *op {
            Op::Split { from, by, to } => {
                (registers[from], registers[to]) = (registers[from] / by, registers[from] % by);
            }
            Op::Merge { major, minor, extent } => registers[minor] += registers[major] * extent,
            Op::Within { register, extent } if registers[register] >= extent => return None,
            Op::Within { .. } => {}
            Op::Move { register, from, extent, to } => {
                let place = registers[register].checked_sub(from).filter(|&i| i < extent)?;
                registers[register] = place + to;
            }
            Op::Digit { from, by, stride } => {
                sum += (registers[from] % by) as i64 * stride;
                registers[from] /= by;
            }
            Op::Rest { from, stride } => sum += registers[from] as i64 * stride,
            Op::Look { register, list } => {
                let entry = *digits.list(list)?.get(usize::try_from(registers[register]).ok()?)?;
                registers[register] = (entry != u32::MAX).then_some(entry)?.into();
            }
        }
    }
    Some(sum)
}

/// The destination elements of a gap.
fn gap_elements(gap: &Gap, elements: Elements) -> Vec<Range<u64>> {
    let bits = u64::from(elements.dst_bits);
    let loops: Vec<_> =
        gap.loops.iter().map(|level| (level.extent, 0, level.stride as i64)).collect();
    let element = |units: i64| {
        let units = units as u64;
        if gap.packed { units } else { units * 8 / bits }
    };
    let mut all = Vec::new();
    sums(&loops, (0, gap.dst as i64), &mut |_, dst| {
        all.push(element(dst)..element(dst + gap.run as i64));
    });
    all
}

/// Pairs of offsets of all elements of a part, by the layouts themselves.
fn expected(program: &Program) -> Vec<(i64, i64)> {
    let part = TensorLayout::row_major(program.extents()).unwrap();
    let (a, b) = program.origins();
    let add = |origin: &[u64], coord: &[u64]| -> Vec<u64> {
        origin.iter().zip(coord).map(|(a, b)| a + b).collect()
    };
    let mut all: Vec<_> = (0..part.size())
        .map(|i| {
            let coord = part.coord_of(i).unwrap();
            let (from, to) = (add(a, coord.as_slice()), add(b, coord.as_slice()));
            (program.src().offset(&from).unwrap(), program.dst().offset(&to).unwrap())
        })
        .collect();
    all.sort_unstable();
    all
}

/// The bytes that hold some of these elements, as ranges.
fn bytes_of(places: impl Iterator<Item = i64>, bits: u32, len: u64) -> Vec<Range<u64>> {
    let (bits, mut marks) = (u64::from(bits), vec![false; len as usize]);
    for at in places {
        let (from, to) = (at as u64 * bits / 8, ((at as u64 + 1) * bits).div_ceil(8));
        marks[from as usize..to as usize].fill(true);
    }
    let (mut ranges, mut at) = (Vec::new(), 0);
    for run in marks.chunk_by(|a, b| a == b) {
        let end = at + run.len() as u64;
        ranges.extend(run[0].then_some(at..end));
        at = end;
    }
    ranges
}

/// Checks all data of a program against its layouts; returns the sorted pairs of offsets.
fn check_data(program: &Program) -> Vec<(i64, i64)> {
    let (elements, expected) = (program.elements(), expected(program));
    let mut said = Vec::new();
    for region in program.regions().unwrap_or_default() {
        elements_of(region, elements, &mut |src, dst| said.push((src, dst)));
    }
    said.sort_unstable();
    assert!(program.regions().is_none() || said == expected, "{program:?}");
    let mut said = Vec::new();
    elements_by_digits(program, &mut |src, dst| said.push((src, dst)));
    said.sort_unstable();
    assert!(said == expected, "digits of {program:?}");

    let inside = |(src, dst): &(i64, i64)| {
        (0..program.src().capacity() as i64).contains(src)
            && (0..program.dst().capacity() as i64).contains(dst)
    };
    assert!(expected.iter().all(inside));
    let mut times = vec![0; program.dst().capacity() as usize];
    expected.iter().for_each(|(_, dst)| times[*dst as usize] += 1);
    for gap in program.gaps().unwrap_or_default() {
        gap_elements(gap, elements).into_iter().flatten().for_each(|at| times[at as usize] += 1);
    }
    assert!(times.iter().all(|&times| times <= 1));
    let covered = times.iter().all(|&times| times == 1);
    assert!(covered || program.is_part() || program.gaps().is_none(), "{program:?}");

    let sources = bytes_of(expected.iter().map(|e| e.0), elements.src_bits, program.src_bytes());
    assert_eq!(program.source_ranges().collect::<Vec<_>>(), sources, "{program:?}");
    let written = bytes_of(expected.iter().map(|e| e.1), elements.dst_bits, program.dst_bytes());
    assert_eq!(program.destination_ranges().collect::<Vec<_>>(), written, "{program:?}");
    expected
}

fn widths() -> Vec<Elements> {
    let unpack = Elements { src_bits: 4, dst_bits: 16, extend: Extend::Sign };
    let pack = Elements { src_bits: 8, dst_bits: 2, extend: Extend::Zero };
    let same = [1, 2, 4, 8, 24].map(Elements::same);
    same.into_iter().chain([unpack, pack]).collect()
}

#[test]
fn every_pair_covers_its_destination_once_in_every_form() {
    for dst in cubes() {
        for src in cubes().iter().chain(&broadcasts()) {
            for elements in widths() {
                check_data(&Program::new(src, &dst, elements, FILL).unwrap());
            }
        }
    }
    let empty = TensorLayout::row_major(&[3, 0, 2]).unwrap();
    let padded = empty.clone().with_capacity(9).unwrap();
    for (src, dst) in [(&empty, &empty), (&empty, &padded), (&padded, &empty)] {
        for elements in widths() {
            check_data(&Program::new(src, dst, elements, FILL).unwrap());
        }
    }
}

/// The boxes between cuts of each dim: origin and extents.
fn partition(extents: &[u64], cuts: &[Vec<u64>]) -> Vec<(Vec<u64>, Vec<u64>)> {
    let mut boxes = vec![(vec![], vec![])];
    for (&extent, cuts) in extents.iter().zip(cuts) {
        let mut at: Vec<u64> = cuts.iter().map(|&cut| cut.min(extent)).collect();
        at.extend([0, extent]);
        at.sort_unstable();
        let add = |(origin, size): (Vec<u64>, Vec<u64>), pair: &[u64]| {
            ([origin, vec![pair[0]]].concat(), [size, vec![pair[1] - pair[0]]].concat())
        };
        let each = boxes.into_iter();
        boxes = each.flat_map(|b| at.windows(2).map(move |pair| add(b.clone(), pair))).collect();
    }
    boxes
}

/// Runs the parts of a partition in a random order, and compares the result with the whole.
fn check_parts(src: &TensorLayout, dst: &TensorLayout, elements: Elements, cuts: &[Vec<u64>]) {
    let whole = Program::new(src, dst, elements, FILL).unwrap();
    let source = noise(whole.src_bytes() as usize, 3);
    let (mut all, mut parts) = (Vec::new(), partition(src.extents(), cuts));
    let middle = 2 % parts.len();
    parts.rotate_left(middle);
    parts.reverse();
    let before = noise(whole.dst_bytes() as usize, 5);
    let mut out = before.clone();
    for (i, (origin, extents)) in parts.iter().enumerate() {
        let program = Program::of_part((src, origin), (dst, origin), extents, elements).unwrap();
        assert!(program.gaps().is_some_and(<[Gap]>::is_empty));
        all.extend(check_data(&program));
        let plan = Plan::of(program).with_min_range(5);
        plan.run(&source, &mut out, 1 + i % 2).unwrap();
    }
    all.sort_unstable();
    assert!(all == expected(&whole));
    assert!(out == over(&whole, &source, &before), "{src:?} {dst:?} {elements:?} {cuts:?}");
}

/// The bytes that a whole program leaves if padding keeps its bytes.
fn over(program: &Program, source: &[u8], before: &[u8]) -> Vec<u8> {
    let elements = program.elements();
    let of = |fill| naive(program.src(), program.dst(), elements, fill, source);
    let (ones, zeros) = (of(u128::MAX), of(0));
    // Bits that the fill does not change belong to elements.
    let bits = u64::from(elements.dst_bits);
    let mut mask = vec![0u8; before.len()];
    for (_, dst) in expected(program) {
        for bit in dst as u64 * bits..(dst as u64 + 1) * bits {
            mask[bit as usize / 8] |= 1 << (bit % 8);
        }
    }
    assert!(mask.iter().zip(&ones).zip(&zeros).all(|((m, a), b)| (a ^ b) & m == 0));
    let each = before.iter().zip(&zeros).zip(&mask);
    each.map(|((before, new), mask)| before & !mask | new & mask).collect()
}

#[test]
fn parts_of_any_partition_are_the_whole() {
    let partitions = [
        [vec![1], vec![1], vec![4]],
        [vec![], vec![2], vec![1, 2, 5]],
        [vec![0], vec![1, 2], vec![]],
        [vec![1], vec![], vec![3]],
    ];
    for dst in cubes() {
        for src in cubes().iter().chain(&broadcasts()) {
            for (i, elements) in widths().into_iter().enumerate() {
                check_parts(src, &dst, elements, &partitions[i % partitions.len()]);
            }
        }
    }
}

/// Layouts of an m×n matrix of every kind.
fn matrices(m: u64, n: u64) -> Vec<TensorLayout> {
    let row = TensorLayout::row_major(&[m, n]).unwrap();
    let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
    let stepped = |steps: &[Step], text: String| {
        let layout = tilewright_core::Layout::parse(&text).unwrap();
        let cosize = layout.cosize() as u64;
        TensorLayout::with_steps(&[m, n], steps, &layout, cosize).unwrap()
    };
    let merge = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    let split = [
        Step::Split { axis: 0, by: 3 },
        Step::Split { axis: 1, by: 4 },
        Step::Split { axis: 2, by: 2 },
    ];
    let (outer, a, b) = ((m * n).div_ceil(4), m.div_ceil(3), n.div_ceil(4));
    vec![
        TensorLayout::col_major(&[m, n]).unwrap(),
        pattern(2, &[(1, 1, 0), (0, 1, 0), (0, 0, 3), (1, 0, 4)]).layout(&[m, n]).unwrap(),
        pattern(2, &[(0, 2, 0), (1, 1, 0), (0, 1, 2), (1, 0, 4), (0, 0, 2)])
            .layout(&[m, n])
            .unwrap(),
        layout(&[m, n], &format!("({m},{n}):(-{n},-1)+{}", m * n - 1), m * n + 3),
        layout(&[m, n], &format!("({m},{n}):({},2)", 2 * n + 3), m * (2 * n + 3)),
        TensorLayout::new(&[m, n], &swizzled, swizzled.cosize() as u64).unwrap(),
        // T(*,4) of rows and columns merged, and T(3,4)(2,1).
        stepped(&merge, format!("({outer},4):(5,1)")),
        stepped(&split, format!("({a},{b},2,4,2):({},12,6,1,{})", b * 12, a * b * 12)),
        row,
    ]
}

#[test]
fn parts_move_between_arrays_of_different_extents_and_origins() {
    let (sources, targets) = (matrices(9, 11), matrices(13, 10));
    let parts = [
        ([0, 0], [0, 0], [9, 10]),
        ([3, 4], [6, 8], [6, 2]),
        ([1, 2], [4, 1], [8, 9]),
        ([5, 0], [0, 7], [4, 3]),
        ([8, 10], [12, 9], [1, 1]),
        ([2, 5], [13, 3], [0, 6]),
    ];
    for (i, src) in sources.iter().enumerate() {
        for (j, dst) in targets.iter().enumerate() {
            for (k, (a, b, extents)) in parts.iter().enumerate() {
                let elements = widths()[(i + j + k) % widths().len()];
                let program = Program::of_part((src, a), (dst, b), extents, elements).unwrap();
                check_one(program);
            }
        }
    }
}

/// Checks the data of a part, and that running it writes its elements and nothing else.
fn check_one(program: Program) {
    let Elements { src_bits, dst_bits, extend } = program.elements();
    let (from_bits, to_bits) = (u64::from(src_bits), u64::from(dst_bits));
    let source = noise(program.src_bytes() as usize, 7);
    let mut out = noise(program.dst_bytes() as usize, 9);
    let mut wanted = out.clone();
    for (src, dst) in check_data(&program) {
        let bit = |at: u64| source[at as usize / 8] >> (at % 8) & 1;
        let first = src as u64 * from_bits;
        for i in 0..to_bits {
            let value = match extend {
                _ if i < from_bits => bit(first + i),
                Extend::Zero => 0,
                Extend::Sign => bit(first + from_bits - 1),
            };
            let at = dst as u64 * to_bits + i;
            let byte = &mut wanted[at as usize / 8];
            *byte = *byte & !(1 << (at % 8)) | value << (at % 8);
        }
    }
    let (plan, mut chunks) = (Plan::of(program), out.clone());
    plan.run(&source, &mut out, 1).unwrap();
    assert!(out == wanted, "{:?}", plan.program());
    in_chunks(&plan, &source, &mut chunks);
    assert!(chunks == wanted, "{:?} in chunks", plan.program());
}

/// Runs a plan chunk by chunk, with only the source bytes that each asks for.
fn in_chunks(plan: &Plan, source: &[u8], out: &mut [u8]) {
    let touched: Vec<_> = plan.program().destination_ranges().collect();
    if let (Some(first), Some(last)) = (touched.first(), touched.last()) {
        let ranges: Vec<_> = plan.ranges(100).collect();
        let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
        assert!(start <= first.start && last.end <= end && ranges.is_sorted_by_key(|r| r.start));
    }
    for range in plan.ranges(100) {
        let chunk = plan.chunk(range.clone()).unwrap();
        let mut buffer = vec![0; chunk.buffer_len()];
        for read in chunk.reads() {
            let from = &source[read.src as usize..][..read.len];
            buffer[read.at..][..read.len].copy_from_slice(from);
        }
        let out = &mut out[range.start as usize..range.end as usize];
        chunk.run(&buffer, out, 2).unwrap();
    }
}

#[test]
fn parts_of_digits_write_their_elements_and_nothing_else() {
    let tiles = |m, n, a, b| {
        pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, a), (1, 0, b)]).layout(&[m, n]).unwrap()
    };
    let (src, dst) = (tiles(150, 160, 3, 5), tiles(170, 140, 4, 7));
    for elements in widths() {
        let part = |a: [u64; 2], b: [u64; 2], extents: [u64; 2]| {
            Program::of_part((&src, &a), (&dst, &b), &extents, elements).unwrap()
        };
        let program = part([13, 20], [31, 3], [120, 130]);
        assert!(program.regions().is_none());
        // Ranges that cut elements too.
        let plan = Plan::of(program.clone());
        let source = noise(plan.src_bytes() as usize, 7);
        let (mut out, mut parts) = (noise(plan.dst_bytes() as usize, 9), vec![]);
        for (i, part) in out.chunks(77).enumerate() {
            let (start, mut part) = (i as u64 * 77, part.to_vec());
            plan.run_range(start..start + part.len() as u64, &source, &mut part).unwrap();
            parts.extend(part);
        }
        let mut chunks = out.clone();
        plan.run(&source, &mut out, 2).unwrap();
        assert!(out == parts, "{elements:?}");
        in_chunks(&plan, &source, &mut chunks);
        assert!(out == chunks, "{elements:?} in chunks");
        check_one(program);
    }
}

#[test]
fn a_part_of_a_large_array_touches_what_it_needs() {
    let rows = TensorLayout::row_major(&[1 << 20, 1 << 20]).unwrap();
    let tiles = pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, 3), (1, 0, 5)]);
    let tiles = tiles.layout(&[1 << 20, 1 << 20]).unwrap();
    // Digits that do not divide: found without walking what precedes them.
    let origin = [700_001, 900_001];
    let part =
        Program::of_part((&tiles, &origin), (&rows, &origin), &[100, 100], Elements::same(8));
    let part = part.unwrap();
    assert_eq!(part.destination_ranges().count(), 100);
    let bytes = |ranges: &mut dyn Iterator<Item = Range<u64>>| -> u64 {
        ranges.map(|range| range.end - range.start).sum()
    };
    assert_eq!(bytes(&mut part.source_ranges()), 10_000);
    let first = part.destination_ranges().next().unwrap().start;
    assert_eq!(Plan::of(part.clone()).ranges(1 << 30).next().unwrap().start, first);
    assert_eq!(bytes(&mut part.destination_ranges()), 10_000);
    let fours = pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, 4), (1, 0, 4)]);
    let fours = fours.layout(&[1 << 20, 1 << 20]).unwrap();
    let part =
        Program::of_part((&tiles, &origin), (&fours, &[5, 6]), &[400, 400], Elements::same(8));
    let part = part.unwrap();
    assert!(part.regions().is_none());
    assert_eq!(bytes(&mut part.source_ranges()), 160_000);
    assert_eq!(bytes(&mut part.destination_ranges()), 160_000);
    // The combinations of values are less than four times the elements.
    let iterations =
        part.digits().digits().iter().map(|digit| digit.values().end - digit.values().start);
    assert!(iterations.product::<u64>() < 4 * 160_000);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let rows = TensorLayout::row_major(&[4, 6]).unwrap();
    let elements = Elements::same(8);
    let part = |a: &[u64], b: &[u64], extents: &[u64]| {
        Program::of_part((&rows, a), (&rows, b), extents, elements).unwrap_err()
    };
    let error = part(&[0, 1], &[0, 0], &[4, 6]);
    let text =
        "a part: dim 1 of a part from 1 to 7 of a source of 6; a part must end within the array";
    assert_eq!((error.kind(), error.to_string().as_str()), ("out-of-range", text));
    assert_eq!(part(&[0, 0], &[3, 0], &[2, 6]).kind(), "out-of-range");
    assert_eq!(part(&[0, 0], &[0, 1 << 63], &[1, 1]).kind(), "overflow");
    assert_eq!(part(&[u64::MAX, 0], &[0, 0], &[u64::MAX, 1]).kind(), "overflow");
    assert_eq!(part(&[0], &[0, 0], &[1, 1]).kind(), "mismatch");
    assert_eq!(part(&[0, 0], &[0, 0], &[1, 1, 1]).kind(), "mismatch");
    let same = layout(&[4, 6], "(4,6):(0,1)", 6);
    let of = |src: &TensorLayout, dst: &TensorLayout, elements| {
        Program::of_part((src, &[0, 0]), (dst, &[0, 0]), &[1, 1], elements)
    };
    assert_eq!(of(&rows, &same, elements).unwrap_err().kind(), "unsupported");
    assert_eq!(of(&rows, &rows, Elements::same(12)).unwrap_err().kind(), "unsupported");
    assert!(of(&same, &rows, elements).is_ok());
    let plan = Plan::of(of(&rows, &rows, elements).unwrap());
    assert!(plan.in_place().unwrap_err().is_second_buffer());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_partitions_are_the_whole(
        (m, n) in (1u64..20, 1u64..20),
        (src, dst) in (0usize..9, 0usize..9),
        width in 0usize..7,
        rows in proptest::collection::vec(0u64..20, 0..3),
        columns in proptest::collection::vec(0u64..20, 0..3),
    ) {
        let all = matrices(m, n);
        check_parts(&all[src], &all[dst], widths()[width], &[rows, columns]);
        check_data(&Program::new(&all[src], &all[dst], widths()[width], FILL).unwrap());
    }

    #[test]
    fn random_parts_write_their_elements_and_nothing_else(
        ((m, n), (p, q)) in ((1u64..30, 1u64..30), (1u64..30, 1u64..30)),
        (src, dst) in (0usize..9, 0usize..9),
        width in 0usize..7,
        (a, b, c, d) in (0u64..30, 0u64..30, 0u64..30, 0u64..30),
        (e, f) in (0u64..30, 0u64..30),
    ) {
        let (a, b, c, d) = (a % m, b % n, c % p, d % q);
        let extents = [e % ((m - a).min(p - c) + 1), f % ((n - b).min(q - d) + 1)];
        let (src, dst) = (matrices(m, n).swap_remove(src), matrices(p, q).swap_remove(dst));
        let part = Program::of_part((&src, &[a, b]), (&dst, &[c, d]), &extents, widths()[width]);
        check_one(part.unwrap());
    }
}
