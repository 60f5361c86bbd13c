//! Exhaustive laws over small maps.

use tilewright_learn::{COMPUTED, CONSTANT, Sources, ZERO, describe};

/// Every map of up to five elements, of one source of three elements in each of its forms.
#[test]
fn every_small_map_expands_to_itself() {
    for extents in [vec![3], vec![1, 3], vec![3, 1]] {
        let sources = Sources::numbered([("w".into(), extents)]).unwrap();
        let values = [1, 2, 3, ZERO, CONSTANT, COMPUTED];
        for length in 0..6u32 {
            for number in 0..6usize.pow(length) {
                let ids: Vec<i64> =
                    (0..length).map(|k| values[number / 6usize.pow(k) % 6]).collect();
                let learned = describe(&ids, &sources).unwrap();
                assert_eq!(learned.expand().unwrap(), ids);
            }
        }
    }
}

/// Every permutation of eight elements, as 8, 2×4, 4×2, 2×2×2 and as a family of four pairs.
#[test]
fn every_permutation_expands_to_itself() {
    let named = |names: &[&str], extents: &[u64]| {
        Sources::numbered(names.iter().map(|name| ((*name).into(), extents.to_vec()))).unwrap()
    };
    let forms = [
        named(&["w"], &[8]),
        named(&["w"], &[2, 4]),
        named(&["w"], &[2, 2, 2]),
        named(&["e.0", "e.1", "e.2", "e.3"], &[2]),
    ];
    for sources in forms {
        let elements: Vec<i64> =
            sources.list().iter().flat_map(|source| source.first..source.end()).collect();
        permutations(&mut elements.clone(), 0, &mut |ids| {
            assert_eq!(describe(ids, &sources).unwrap().expand().unwrap(), ids);
        });
    }
}

fn permutations(list: &mut Vec<i64>, at: usize, each: &mut dyn FnMut(&[i64])) {
    if at == list.len() {
        return each(list);
    }
    for k in at..list.len() {
        list.swap(at, k);
        permutations(list, at + 1, each);
        list.swap(at, k);
    }
}

#[test]
fn numbers_in_names_are_axes() {
    let names = (0..12).map(|e| (format!("experts.{e}.w"), vec![4, 6]));
    let sources = Sources::numbered(names).unwrap();
    let ids: Vec<i64> =
        sources.list().iter().flat_map(|source| source.first..source.end()).collect();
    let learned = describe(&ids, &sources).unwrap();
    assert_eq!((learned.terms().len(), learned.integers()), (1, 9));
    assert_eq!(learned.name(&learned.terms()[0]), "experts.{}.w");
}

#[test]
fn numbers_outside_all_sources_are_refused() {
    let sources = Sources::numbered([("w".into(), vec![4])]).unwrap();
    assert!(describe(&[1, -4], &sources).unwrap_err().is_out_of_range());
    assert!(describe(&[0], &sources).unwrap_err().is_out_of_range());
}

#[test]
fn a_permutation_of_rows_is_a_table() {
    let sources = Sources::numbered([("w".into(), vec![16, 64])]).unwrap();
    let rows = [3, 0, 7, 1, 12, 15, 2, 9, 4, 14, 5, 8, 6, 13, 10, 11];
    let ids: Vec<i64> =
        rows.iter().flat_map(|row| (0..64).map(move |c| 1 + row * 64 + c)).collect();
    let learned = describe(&ids, &sources).unwrap();
    assert_eq!(learned.terms().len(), 1);
    assert!(learned.integers() <= 3 + 18 + 3);
}

/// A random permutation of elements is a table, and is described in time that grows little faster than its size.
#[test]
fn permutations_of_elements_are_tables() {
    let size = 1 << 17;
    let sources = Sources::numbered([("w".into(), vec![size / 64, 64])]).unwrap();
    let mut ids: Vec<i64> = (1..=size as i64).collect();
    let mut state = 1u64;
    for k in (1..ids.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ids.swap(k, (state >> 33) as usize % (k + 1));
    }
    let described = describe(&ids, &sources).unwrap();
    assert_eq!(described.expand().unwrap(), ids);
    assert_eq!(described.terms().len(), 1);
}
