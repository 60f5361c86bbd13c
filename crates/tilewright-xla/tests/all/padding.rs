//! The causes of padding, and the order of the dims that pads least.

use proptest::prelude::*;
use tilewright_xla::{Layout, shape_util::PaddingCause};

const TILES: [&str; 14] = [
    "",
    ":T(4)",
    ":T(2,3)",
    ":T(4,8)(2,1)",
    ":T(3,4)(2,1)",
    ":T(2,4)(2,1,1,1)",
    ":T(*,4)",
    ":T(2,*,3)",
    ":T(1,4)(2,1)",
    ":T(3,1,2)",
    ":T(2,2,2,2,2)",
    ":T(5)(2)(3)",
    ":T(3)L(7)",
    ":L(16)",
];

fn orders(rank: usize) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for dim in 0..rank as u64 {
        all = (all.iter())
            .flat_map(|short: &Vec<u64>| {
                (0..=short.len()).map(|at| [&short[..at], &[dim], &short[at..]].concat())
            })
            .collect();
    }
    all
}

fn dims(rank: usize, extents: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for _ in 0..rank {
        let longer = |dims: &Vec<u64>| -> Vec<Vec<u64>> {
            extents.iter().map(|&extent| [&dims[..], &[extent]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn layout(order: &[u64], tiles: &str) -> Option<Layout> {
    let order: Vec<String> = order.iter().map(u64::to_string).collect();
    Layout::parse(&format!("{{{}{tiles}}}", order.join(","))).ok()
}

/// Checks the least storage over all orders, and the product of the causes.
fn check(layout: &Layout, dims: &[u64]) {
    let padded = layout.padded_elements(dims).unwrap();
    let causes = layout.padding_causes(dims).unwrap();
    if !dims.contains(&0) {
        let (mut above, mut below) = (u128::from(dims.iter().product::<u64>()), 1u128);
        for PaddingCause { extent, padded, .. } in &causes {
            assert!(padded > extent, "{layout} of {dims:?}");
            above *= u128::from(*padded);
            below *= u128::from(*extent);
        }
        assert_eq!(above, below * u128::from(padded), "{layout} of {dims:?}: {causes:?}");
    } else {
        assert!(causes.is_empty() && padded == 0);
    }
    let tiles = layout.to_string();
    let tiles = tiles
        .split_once(':')
        .map_or(String::new(), |(_, rest)| format!(":{}", rest.trim_end_matches('}')));
    let all = orders(dims.len());
    let all = all.iter().filter_map(|order| self::layout(order, &tiles));
    let least = all.map(|one| one.padded_elements(dims).unwrap()).min().unwrap();
    let found = layout.least_padding(dims).unwrap();
    assert_eq!(found.padded_elements, least, "{layout} of {dims:?}");
    let again = self::layout(&found.minor_to_major, &tiles).unwrap();
    assert_eq!(again.padded_elements(dims), Ok(least), "{layout} of {dims:?}");
    if padded == least {
        assert_eq!(found.minor_to_major, layout.minor_to_major(), "{layout} of {dims:?}");
    }
}

#[test]
fn the_least_padding_is_the_least_over_all_orders() {
    let mut count = 0;
    for tiles in TILES {
        for rank in 0..=4 {
            let extents: &[u64] = if rank == 4 { &[1, 3, 5] } else { &[0, 1, 2, 5, 9] };
            for dims in dims(rank, extents) {
                let all = orders(rank);
                // In rank 4, two of the 24 first orders.
                let step = if rank == 4 { 17 } else { 1 };
                for layout in all.iter().step_by(step).filter_map(|order| layout(order, tiles)) {
                    check(&layout, &dims);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 12_000, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_least_padding_of_higher_ranks(dims in prop::collection::vec(1..12u64, 5..=6), tiles in prop::sample::select(&TILES[..])) {
        let order: Vec<u64> = (0..dims.len() as u64).collect();
        if let Some(layout) = layout(&order, tiles) {
            check(&layout, &dims);
        }
    }
}

fn advice(text: &str, dims: &[u64]) -> String {
    Layout::parse(text).unwrap().padding_advice(dims).unwrap().to_string()
}

#[test]
fn the_advice_in_words() {
    for (text, dims, words) in [
        ("{1,0:T(8,128)}", &[8, 128][..], "no order of the dims pads less"),
        (
            "{1,0:T(8,128)}",
            &[1000, 2],
            "the minor dim (dim 1), 2, is padded to 128 by T(8,128), ×64; \
             {0,1:T(8,128)} would be ×4.1 instead of ×64",
        ),
        (
            "{0:T(8,128)}",
            &[256],
            "a dim that the tile adds, 1, is padded to 8 by T(8,128), ×8; \
             no order of the dims pads less",
        ),
        (
            "{2,1,0:T(2,*,128)}",
            &[3, 5, 100],
            "dim 0, 3, is padded to 4 by T(2,*,128), ×1.3; \
             the merged part of dims 1, 2, 500, is padded to 512 by T(2,*,128), ×1.024; \
             no order of the dims pads less",
        ),
    ] {
        assert_eq!(advice(text, dims), words, "{text}");
    }
    // A split moves with its dim.
    let split = advice("{1,0:T(8,128)SC(1:1)}", &[1000, 2]);
    assert!(split.contains("{0,1:T(8,128)SC(0:1)} would be"), "{split}");
}

#[test]
fn the_search_is_bounded_and_says_so() {
    let order: Vec<u64> = (0..32).rev().collect();
    // All choices of three positions among 32 extents are tried.
    let three = layout(&order, ":T(2,4,8)").unwrap();
    let extents: Vec<u64> = (0..32).map(|at| if at < 18 { 1 + at % 9 } else { 1 }).collect();
    let least = three.least_padding(&extents).unwrap();
    assert!(least.padded_elements >= extents.iter().product());
    // Twelve different extents are too many; twelve equal ones are not.
    let many = format!(":T({}2)", "2,".repeat(11));
    let twelve = layout(&order[20..], &many).unwrap();
    let different: Vec<u64> = (0..12).map(|at| 3 + 2 * at).collect();
    assert!(twelve.least_padding(&different).unwrap_err().is_undecided());
    let said = twelve.padding_advice(&different).unwrap().to_string();
    assert!(
        said.contains("not decided: the orders of the dims under tiles: 12 of 12 dims"),
        "{said}"
    );
    assert_eq!(twelve.least_padding(&[3; 12]).unwrap().padded_elements, 1 << 24);
    let long = Layout::descending(33);
    assert!(long.padding_causes(&[1; 33]).unwrap_err().is_limit());
    assert!(long.least_padding(&[1; 33]).unwrap_err().is_limit());
    let huge = Layout::parse("{1,0:T(8,128)}").unwrap();
    assert!(huge.padding_advice(&[1 << 60, 2]).unwrap_err().is_overflow());
    // One order is within the limit, the other is not.
    assert!(huge.padding_advice(&[2, 1 << 57]).unwrap().better.is_ok());
}
