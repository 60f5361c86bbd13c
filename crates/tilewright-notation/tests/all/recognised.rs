//! Names that a layout has: each of them, read again, is the layout, and no other layout of its dims has it.

use std::collections::HashMap;

use tilewright_core::Dtype;
use tilewright_notation::{Recognised, ResolvedLayout, Spec, catalogue, recognise};

fn resolve(text: &str, dims: &[u64], dtype: Option<Dtype>) -> Option<ResolvedLayout> {
    Spec::parse(text).ok()?.resolve(Some(dims), dtype).ok()
}

/// The dims that the example of a format is for, and some that its blocks do not divide; or the first two of these.
fn arrays(example: &ResolvedLayout) -> Vec<Vec<u64>> {
    let dims = example.layout().extents();
    let changed = |by: fn(u64) -> u64| dims.iter().map(|&dim| by(dim)).collect();
    let mut arrays = vec![dims.to_vec(), changed(|dim| dim + 1), changed(|dim| (dim / 2).max(1))];
    arrays.truncate(tilewright_testing::cases(arrays.len(), 2));
    arrays
}

#[test]
fn every_name_reads_as_the_layout_that_has_it() {
    let mut seen = 0;
    for format in catalogue() {
        let example = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        for dims in arrays(&example) {
            let dtype = example.dtype();
            let text = format!("format:{}", format.name);
            let Some(named) = resolve(&text, &dims, dtype) else { continue };
            let names = recognise(&named);
            let own = names.iter().any(|known| std::ptr::eq(known.format, format));
            assert!(own, "{} of {dims:?} is not recognised: {names:?}", format.name);
            for known in &names {
                let again = resolve(&format!("format:{}", known.name), &dims, dtype);
                let again = again.unwrap_or_else(|| panic!("{} of {dims:?}", known.name));
                let same = again.layout().same_function(named.layout());
                assert_eq!(same, Ok(true), "{} is no {} of {dims:?}", known.name, format.name);
                assert_eq!(again.layout().capacity(), named.layout().capacity(), "{}", known.name);
            }
            seen += names.len();
        }
    }
    assert!(seen > tilewright_testing::cases(200, 60), "{seen}");
}

/// The names of two layouts of one array are apart, if the layouts are.
#[test]
fn a_name_is_of_one_layout() {
    let dims = [32, 48];
    let mut layouts: HashMap<String, ResolvedLayout> = HashMap::new();
    for format in catalogue() {
        let Some(named) = resolve(&format!("format:{}", format.name), &dims, Some(Dtype::F16))
        else {
            continue;
        };
        for known in recognise(&named) {
            let other = layouts.entry(known.name.clone()).or_insert_with(|| named.clone());
            let same = other.layout().same_function(named.layout());
            assert_eq!(same, Ok(true), "{} names two layouts", known.name);
        }
    }
    assert!(layouts.len() > 10, "{}", layouts.len());
}

/// One map under several names: all are found, in the order of the catalogue, and one whose dims are in another order is
/// found for the transposed array alone.
#[test]
fn kernels_that_share_a_map_are_all_named() {
    let names = |text: &str, dims: &[u64]| -> Vec<String> {
        let named = resolve(text, dims, Some(Dtype::U8)).unwrap();
        recognise(&named).into_iter().map(|known| known.name).collect()
    };
    let has =
        |names: &[String], some: &[&str]| some.iter().all(|one| names.iter().any(|n| n == one));
    let scales = names("SCALE_128x4", &[256, 8]);
    assert!(has(&scales, &["SCALE_128x4", "BLACKWELL_ACT_MX_SCALE"]), "{scales:?}");
    assert!(!has(&scales, &["GFX1250_MX_SCALE"]) && !has(&scales, &["BLACKWELL_MX_SCALE"]));
    assert_eq!(scales, names("(m2 m1:4 m0:32) (k1 k0:4) -> m2 k1 m0 m1 k0", &[256, 8]));
    let turned = names("SCALE_128x4^T", &[8, 256]);
    assert!(has(&turned, &["GFX1250_MX_SCALE", "BLACKWELL_MX_SCALE"]), "{turned:?}");
    // Padding tells them apart: 4 columns are a block of one and half a block of the other.
    let four = names("SCALE_128x4", &[256, 4]);
    assert!(has(&four, &["SCALE_128x4"]) && !has(&four, &["BLACKWELL_ACT_MX_SCALE"]), "{four:?}");
    let weights = names("shuffle_weight", &[32, 64]);
    assert!(has(&weights, &["AITER_SHUFFLE_16x16", "AITER_GFX1250_WEIGHT"]), "{weights:?}");
    let tiles = names("e8m0_shuffle", &[256, 8]);
    assert!(has(&tiles, &["AITER_E8M0_SHUFFLE"]), "{tiles:?}");
    assert!(has(&names("CDNA4_MX_SCALE^T", &[256, 8]), &["AITER_E8M0_SHUFFLE"]));
    // A parameter that must be given is found.
    let warps = names("HOPPER_MX_SCALE[num_warps=2]", &[64, 8]);
    assert!(has(&warps, &["HOPPER_MX_SCALE[NUM_WARPS=2]"]), "{warps:?}");
}

/// A layout that is moved by an element has no name.
#[test]
fn layouts_that_begin_elsewhere_have_none() {
    let texts = [
        "[32,48] (32,48):(48,1)+1 capacity 2000",
        "[32,48] (32,48):(96,2)",
        "[32,48] (32,48):(-48,1)+1488",
        "[32,48] (32,48):(0,1)",
    ];
    for text in texts {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        assert!(recognise(&named).is_empty(), "{text}: {:?}", recognise(&named));
    }
}

/// A name without parameters is that of a layout, whatever notation said it; of every format, or of every fifth.
#[test]
fn names_do_not_depend_on_the_notation() {
    let (mut seen, step) = (0, tilewright_testing::cases(1, 5));
    for format in catalogue().step_by(step) {
        let named = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        let names = |named: &ResolvedLayout| -> Vec<String> {
            let names = recognise(named).into_iter().map(|known| known.name);
            names.filter(|name| !name.contains('[')).collect()
        };
        let own = names(&named);
        for notation in ["cute", "hlo", "pattern", "onednn"] {
            let notation = tilewright_notation::notation(notation).unwrap();
            let Ok(text) = notation.print(&named) else { continue };
            let dims = named.layout().extents();
            let again = Spec::parse(&text).unwrap().resolve(Some(dims), named.dtype()).unwrap();
            assert_eq!(names(&again), own, "{} as {text}", format.name);
            seen += 1;
        }
    }
    assert!(seen * step > 100, "{seen}");
}

/// Formats whose blocks the user sizes, small enough that a block is a row, a column, or the whole array: whatever the
/// sizes, the layout has a name, and those without parameters come first.
#[test]
fn small_blocks_have_names() {
    let (mut seen, mut parameters) = (0, 0);
    let (most, blocks) = tilewright_testing::cases((5, [4, 3]), (3, [2, 2]));
    let (rows, columns) = (&[1, 2, 3, 5, 8][..most], &[1, 2, 3, 4, 7][..most]);
    for (name, units) in [
        ("PaddingRowMajor", &["BR", "BC"][..]),
        ("PaddingColumnMajor", &["BR", "BC"]),
        ("zN", &["M0", "C0"]),
        ("nZ", &["N0", "C0"]),
        ("zNUnAlign", &["C0"]),
    ] {
        for (a, b) in (1..=blocks[0]).flat_map(|a| (1..=blocks[1]).map(move |b| (a, b))) {
            let sizes: Vec<String> =
                units.iter().zip([a, b]).map(|(unit, size)| format!("{unit}={size}")).collect();
            let text = format!("format:{name}[{}]", sizes.join(","));
            for (m, n) in rows.iter().flat_map(|m| columns.iter().map(move |n| (*m, *n))) {
                let Some(named) = resolve(&text, &[m, n], Some(Dtype::U8)) else {
                    panic!("{text} of {m}×{n}")
                };
                let known = recognise(&named);
                assert!(!known.is_empty(), "{text} of {m}×{n}");
                let set = |one: &Recognised| one.name.contains('[') || one.bits.is_some();
                let order: Vec<bool> = known.iter().map(set).collect();
                assert!(order.is_sorted(), "{known:?}");
                parameters += usize::from(order.first() == Some(&true));
                seen += 1;
            }
        }
    }
    assert!(
        seen == 5 * blocks[0] * blocks[1] * most * most
            && parameters * tilewright_testing::cases(5, 15) > seen,
        "{seen} {parameters}"
    );
    let tiles = resolve("{1,0:T(4,1)}", &[64, 8], Some(Dtype::U8)).unwrap();
    let names: Vec<String> = recognise(&tiles).into_iter().map(|known| known.name).collect();
    assert!(names.contains(&"PaddingColumnMajor[BR=4,BC=8]".to_owned()), "{names:?}");
    // A dense matrix has no block, and is none of these formats.
    let dense = resolve("row-major", &[64, 8], Some(Dtype::U8)).unwrap();
    assert!(recognise(&dense).iter().all(|known| !known.name.contains('[')));
}
