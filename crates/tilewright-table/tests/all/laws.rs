//! The laws of index tables, over all small tables, and over random ones of several dims.

use std::sync::Arc;

use proptest::prelude::*;
use tilewright_core::{Fractal, Layout, Place, TensorLayout};
use tilewright_table::{Along, Block, Table, TabledLayout};

/// The dims of a table with the lengths of their blocks and the blocks of a group, and its list.
type Step = (Vec<Dim>, Vec<Option<u64>>);
type Dim = (usize, u64, Option<u64>);

/// The blocks of a dim, as the crate has them.
fn block((dim, by, of): Dim) -> Block {
    of.map_or(Block::from((dim, by)), |of| Block::from((dim, by, of)))
}

/// Iterates over all lists of `len` entries, each below `extent` or a hole.
fn lists(extent: u64, len: u32) -> impl Iterator<Item = Vec<Option<u64>>> {
    let base = extent + 1;
    (0..base.pow(len)).map(move |mut number| {
        let entry = |_| {
            let digit = number % base;
            number /= base;
            digit.checked_sub(1)
        };
        (0..len).map(entry).collect()
    })
}

/// A list is a table iff it contains each index once; the two directions are inverse to each other.
#[test]
fn a_table_is_a_bijection() {
    let (mut legal, mut refused) = (0, 0);
    for (extent, len) in (0..5u64).flat_map(|extent| (0..6u32).map(move |len| (extent, len))) {
        for list in lists(extent, len) {
            let times = |index| list.iter().filter(|entry| **entry == Some(index)).count();
            let is_table = (0..extent).all(|index| times(index) == 1);
            let table = Table::new(extent, list.iter().copied());
            assert_eq!(table.is_ok(), is_table, "{extent}: {list:?}");
            let Ok(table) = table else {
                refused += 1;
                continue;
            };
            legal += 1;
            assert_eq!((table.extent(), table.stored()), (extent, u64::from(len)));
            for (place, index) in list.iter().enumerate() {
                assert_eq!(table.index(place as u64), *index);
                if let Some(index) = index {
                    assert_eq!(table.place(*index), Some(place as u64));
                }
            }
            assert_eq!(table.holes(), list.iter().filter(|entry| entry.is_none()).count() as u64);
        }
    }
    assert_eq!((legal, refused), (295, 5409));
}

#[test]
fn what_is_refused_says_why() {
    let why = |extent, list: &[Option<u64>]| {
        Table::new(extent, list.iter().copied()).unwrap_err().to_string()
    };
    assert_eq!(
        why(8, &[Some(0), Some(9)]),
        "entry 1 of an index table is 9, but the dim has 8 indices; entries count from 0; a hole is written -"
    );
    assert_eq!(
        why(2, &[Some(1), None, Some(1)]),
        "index 1 of the array is stored at 0 and at 2; a layout gives each element one place"
    );
    assert_eq!(
        why(3, &[Some(1), Some(0)]),
        "index 2 of the array is stored nowhere: the list has 2 entries, and the dim 3 indices; list every index once"
    );
    let error = Table::new(0, std::iter::repeat(None)).unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(Table::new(u64::MAX, []).unwrap_err().is_limit());

    let table = Arc::new(Table::new(2, [Some(1), Some(0)]).unwrap());
    let groups = |of| Along::new(&[(0, 2, of)], &[12], Arc::clone(&table)).unwrap_err().to_string();
    assert_eq!(
        groups(4),
        "groups of 4 blocks of 2 do not divide the 12 indices of dim 0; an index table needs whole groups of blocks; pad the array"
    );
    assert_eq!(groups(0), "groups of 0 blocks of dim 0; a group has at least 1 block");
    assert!(groups(3).starts_with("an index table of 2 indices for 3"));
}

/// Sorted groups ascend, and so do the indices of one group.
#[test]
fn sorting_keeps_the_order_of_a_group() {
    for groups in lists(3, 6).filter_map(|list| list.into_iter().collect::<Option<Vec<u64>>>()) {
        let table = Table::sorting(&groups).unwrap();
        let order: Vec<u64> = (0..6).map(|place| table.index(place).unwrap()).collect();
        let key = |index: u64| (groups[index as usize], index);
        assert!(order.windows(2).all(|pair| key(pair[0]) < key(pair[1])), "{groups:?}: {order:?}");
    }
}

/// Returns the offset by definition: the stored position of block number t is that of t in the list.
fn naive(layout: &TabledLayout, lists: &[Step], coord: &[u64]) -> i64 {
    let (mut coord, mut extents) = (coord.to_vec(), layout.extents().to_vec());
    for (dims, list) in lists {
        let count = |&(dim, by, of): &Dim| of.unwrap_or(extents[dim] / by);
        let number =
            dims.iter().fold(0, |all, dim| all * count(dim) + coord[dim.0] / dim.1 % count(dim));
        let place = list.iter().position(|entry| *entry == Some(number)).unwrap() as u64;
        let (mut next, mut next_extents) = (Vec::new(), Vec::new());
        for dim in 0..coord.len() {
            let own = dims.iter().position(|(own, ..)| *own == dim);
            match own {
                None => {
                    next.push(coord[dim]);
                    next_extents.push(extents[dim]);
                }
                Some(0) if dims.len() == 1 && dims[0].2.is_none() => {
                    next.push(place * dims[0].1 + coord[dim] % dims[0].1);
                    next_extents.push(list.len() as u64 * dims[0].1);
                }
                Some(0) => {
                    next.push(place);
                    next_extents.push(list.len() as u64);
                    for (dim, by, of) in dims.iter().filter(|(_, by, of)| *by > 1 || of.is_some()) {
                        let group = of.map_or(0, |of| coord[*dim] / (by * of));
                        next.push(group * by + coord[*dim] % by);
                        next_extents.push(of.map_or(*by, |of| extents[*dim] / of));
                    }
                }
                Some(_) => {}
            }
        }
        (coord, extents) = (next, next_extents);
    }
    layout.stored().offset(&coord).unwrap()
}

/// Returns all coordinates of an array, the last fastest.
fn coords(extents: &[u64]) -> Vec<Vec<u64>> {
    let all: u64 = extents.iter().product();
    let coord = |mut number: u64| {
        let mut coord = vec![0; extents.len()];
        for (index, extent) in coord.iter_mut().zip(extents).rev() {
            *index = number % extent;
            number /= extent;
        }
        coord
    };
    (0..all).map(coord).collect()
}

/// Checks that offsets equal those of the definition, that `locate` is their inverse and returns padding everywhere
/// else, and that a fold is the same map.
fn check(layout: &TabledLayout, lists: &[Step]) -> bool {
    let all = coords(layout.extents());
    let mut holds = vec![None; layout.stored().capacity() as usize];
    for coord in &all {
        let offset = layout.offset(coord).unwrap();
        assert_eq!(offset, naive(layout, lists, coord), "{layout:?} at {coord:?}");
        assert_eq!(holds[offset as usize].replace(coord), None, "{layout:?}: two at {offset}");
    }
    let mut padding = 0;
    for (offset, held) in holds.iter().enumerate() {
        match (layout.locate(offset as i64).unwrap(), held) {
            (Place::Element(coord), Some(held)) => assert_eq!(coord.as_slice(), &held[..]),
            (Place::Padding, None) => padding += 1,
            (place, held) => panic!("{layout:?} at {offset}: {place:?}, and {held:?} is there"),
        }
    }
    assert_eq!(layout.padding(), padding, "{layout:?}");
    let folded = layout.fold();
    if let Some(folded) = &folded {
        assert_eq!(folded.capacity(), layout.stored().capacity());
        for coord in &all {
            assert_eq!(folded.offset(coord), layout.offset(coord), "{layout:?} is not {folded:?}");
        }
    }
    folded.is_some()
}

#[test]
fn all_small_tables_of_one_dim() {
    let (mut folded, mut kept) = (0, 0);
    for len in 1..6u32 {
        for extent in 1..=u64::from(len).min(4) {
            for list in
                lists(extent, len).filter(|list| Table::new(extent, list.iter().copied()).is_ok())
            {
                for dim in 0..2 {
                    let table = Arc::new(Table::new(extent, list.iter().copied()).unwrap());
                    let mut extents = [3, 3];
                    extents[dim] = extent;
                    let along = Along::new(&[(dim, 1)], &extents, table).unwrap();
                    let stored = along.stored_extents().to_vec();
                    let zn = Fractal::ZN.pattern(2, 2).layout(&stored).unwrap();
                    let text =
                        format!("Sw<1,0,2> o ({},{}):({},1)", stored[0], stored[1], stored[1]);
                    let swizzled = TensorLayout::of(&Layout::parse(&text).unwrap());
                    for stored in [TensorLayout::row_major(&stored).unwrap(), zn, swizzled] {
                        let layout =
                            TabledLayout::new(&extents, vec![along.clone()], &stored).unwrap();
                        let lists = [(vec![(dim, 1, None)], list.clone())];
                        *if check(&layout, &lists) { &mut folded } else { &mut kept } += 1;
                    }
                }
            }
        }
    }
    assert!(folded > 300 && kept > 500, "{folded} {kept}");
}

/// Every permutation that shape and strides can express is folded: all products of up to three digits, each forwards or
/// backwards.
#[test]
fn permutations_of_digits_are_folded() {
    let mut seen = 0;
    for shape in [vec![4u64], vec![2, 3], vec![3, 2], vec![2, 2, 3], vec![3, 2, 2], vec![2, 3, 2]] {
        let count = shape.len();
        let orders: Vec<Vec<usize>> = (0..count.pow(count as u32))
            .map(|n| (0..count).map(|i| n / count.pow(i as u32) % count).collect::<Vec<_>>())
            .filter(|order| (0..count).all(|digit| order.contains(&digit)))
            .collect();
        let all: u64 = shape.iter().product();
        for (order, backwards) in
            orders.iter().flat_map(|order| (0..1 << count).map(move |b| (order, b)))
        {
            let place = |index: u64| {
                let (mut rest, mut digits) = (index, vec![0; count]);
                for (i, extent) in shape.iter().enumerate() {
                    digits[i] = rest % extent;
                    if backwards >> i & 1 == 1 {
                        digits[i] = extent - 1 - digits[i];
                    }
                    rest /= extent;
                }
                order.iter().fold(0, |all, i| all * shape[*i] + digits[*i])
            };
            let mut list = vec![None; all as usize];
            (0..all).for_each(|index| list[place(index) as usize] = Some(index));
            let table = Arc::new(Table::new(all, list.iter().copied()).unwrap());
            let along = Along::new(&[(0, 1)], &[all, 2], table).unwrap();
            let stored = TensorLayout::row_major(&[all, 2]).unwrap();
            let layout = TabledLayout::new(&[all, 2], vec![along], &stored).unwrap();
            assert!(
                check(&layout, &[(vec![(0, 1, None)], list.clone())]),
                "{shape:?} {order:?} {backwards:b}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 2 + 2 * 2 * 4 + 3 * 6 * 8);
}

/// Coordinates outside of the array are refused with a message.
#[test]
fn coordinates_outside_are_refused() {
    let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap());
    assert_eq!(
        rows.offset(&[1, 4]).unwrap_err().to_string(),
        "index 4 in dim 1 of 4; coordinates count from 0"
    );
    assert!(rows.offset(&[1]).unwrap_err().is_mismatch());
    assert_eq!(rows.locate(-1).unwrap(), Place::OutOfRange);
    assert_eq!(rows.locate(i64::MAX).unwrap(), Place::OutOfRange);
}

/// A strategy for arrays of up to three dims, up to two tables of one or several dims with holes, and a layout of the
/// stored array.
fn arrays() -> impl Strategy<Value = (TabledLayout, Vec<Step>)> {
    let seed =
        (proptest::collection::vec((1u64..4, 1u64..4), 1..4), any::<u64>(), 0usize..3, 0u8..3);
    seed.prop_map(|(blocks, mut seed, count, kind)| {
        let mut next = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let extents: Vec<u64> = blocks.iter().map(|(blocks, by)| blocks * by).collect();
        let (mut now, mut tables, mut steps) = (extents.clone(), Vec::new(), Vec::new());
        for _ in 0..count {
            let mut dims = Vec::new();
            for (dim, extent) in now.iter().enumerate() {
                let mut divisor = |of: u64| {
                    let all: Vec<u64> = (1..=of).filter(|by| of.is_multiple_of(*by)).collect();
                    all[next(all.len() as u64) as usize]
                };
                let by = divisor(*extent);
                let of = divisor(extent / by);
                if next(2) == 0 || (dims.is_empty() && dim + 1 == now.len()) {
                    dims.push((dim, by, (next(2) == 0).then_some(of)));
                }
            }
            let blocks: Vec<Block> = dims.iter().copied().map(block).collect();
            let all = Along::count(&blocks, &now).unwrap();
            let mut list: Vec<Option<u64>> =
                (0..all).map(Some).chain((0..next(3)).map(|_| None)).collect();
            for i in (1..list.len()).rev() {
                list.swap(i, next(i as u64 + 1) as usize);
            }
            let table = Arc::new(Table::new(all, list.iter().copied()).unwrap());
            let along = Along::new(&blocks, &now, table).unwrap();
            now = along.stored_extents().to_vec();
            tables.push(along);
            steps.push((dims, list));
        }
        let stored = match kind {
            0 => TensorLayout::row_major(&now).unwrap(),
            1 => TensorLayout::col_major(&now).unwrap(),
            _ => {
                let wide: Vec<u64> = now.iter().map(|extent| extent + 1).collect();
                let padded = TensorLayout::col_major(&wide).unwrap();
                TensorLayout::new(&now, padded.layout(), padded.capacity() + 3).unwrap()
            }
        };
        (TabledLayout::new(&extents, tables, &stored).unwrap(), steps)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn offsets_are_those_of_the_definition((layout, steps) in arrays()) {
        check(&layout, &steps);
    }

    /// The first difference is the first of all coordinates, for two arrays with the same extents.
    #[test]
    fn the_first_difference_is_the_first((a, _) in arrays(), (b, _) in arrays(), cut in 0usize..3) {
        // The second array's tables if they fit; else the first's without the last, with another stored layout.
        let others = [
            (a.extents() == b.extents()).then_some(b.clone()),
            Some(TabledLayout::of(&TensorLayout::row_major(a.extents()).unwrap())),
            a.fold().map(|folded| TabledLayout::of(&folded)),
            Some(a.clone()),
        ];
        for other in others.into_iter().flatten() {
            let expected = coords(a.extents()).into_iter().find(|coord| a.offset(coord) != other.offset(coord));
            let found = a.first_difference(&other).unwrap();
            prop_assert_eq!(found.as_ref().map(|it| it.coord.as_slice().to_vec()), expected, "{:?} {:?} {}", a, other, cut);
            if let Some(found) = found {
                prop_assert_eq!(Ok(found.left), a.offset(found.coord.as_slice()));
                prop_assert_eq!(Ok(found.right), other.offset(found.coord.as_slice()));
            }
        }
    }
}
