//! A cell names exactly the devices whose ranges contain its elements; panels cover the array.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use tilewright_draw::{Cell, Device, Limits, Paint, devices};
use tilewright_sharded::{AxisPart, Cut, Mesh, Sharded, Split};

use super::well_formed;

/// Returns the devices of a sharded array, as the pictures take them.
fn of(sharded: &Sharded) -> Vec<Device> {
    let device = |shard: tilewright_sharded::Shard| Device {
        name: shard.device().unwrap().to_string(),
        place: shard.place(),
        holds: shard.dims().iter().map(|list| list.as_slice().to_vec()).collect(),
        padding: shard.padding().to_vec(),
    };
    sharded.shards().map(device).collect()
}

/// Returns the indices of a cell, dim by dim, which its tip begins with.
fn place(cell: &Cell) -> Vec<[u64; 2]> {
    let place = cell.tip.strip_prefix('(').unwrap().split_once("): ").unwrap().0;
    let range = |text: &str| match text.split_once(':') {
        Some((from, to)) => [from.parse().unwrap(), to.parse().unwrap()],
        None => [text.parse().unwrap(), text.parse::<u64>().unwrap() + 1],
    };
    place.split(',').filter(|text| !text.is_empty()).map(range).collect()
}

/// Returns the numbers that a cell names: `0,2-4`.
fn named(text: &str) -> BTreeSet<u64> {
    let part = |part: &str| match part.split_once('-') {
        Some((from, to)) => from.parse::<u64>().unwrap()..to.parse::<u64>().unwrap() + 1,
        None => part.parse::<u64>().unwrap()..part.parse::<u64>().unwrap() + 1,
    };
    text.split(',').filter(|text| !text.is_empty()).flat_map(part).collect()
}

/// Returns the devices that hold an element.
fn holders(sharded: &Sharded, coord: &[u64]) -> BTreeSet<u64> {
    let holds = |shard: &tilewright_sharded::Shard| {
        shard.dims().iter().zip(coord).all(|(list, x)| list.indices().any(|index| index == *x))
    };
    sharded.shards().filter(holds).map(|shard| shard.device().unwrap()).collect()
}

/// Returns all coordinates of a box.
fn coords(place: &[[u64; 2]]) -> Vec<Vec<u64>> {
    place.iter().fold(vec![Vec::new()], |all, [from, to]| {
        let along =
            |coord: Vec<u64>| (*from..*to).map(move |x| coord.iter().copied().chain([x]).collect());
        all.into_iter().flat_map(along).collect()
    })
}

fn check(sharded: &Sharded, limits: &Limits) {
    let text = sharded.to_string();
    let scene = devices(text.clone(), sharded.extents(), &of(sharded), limits);
    well_formed(&scene);
    let whole = !scene.notes.iter().any(|note| note.starts_with("left out"));
    let (mut seen, mut paints) = (0, HashMap::new());
    for cell in scene.panels().flat_map(|panel| &panel.cells) {
        if matches!(cell.paint, Paint::Gap | Paint::Padding) {
            continue;
        }
        let place = place(cell);
        let inside = place.iter().zip(sharded.extents()).all(|([_, to], extent)| to <= extent);
        assert!(inside, "{text}: {}", cell.tip);
        for coord in coords(&place) {
            assert_eq!(named(&cell.text), holders(sharded, &coord), "{text}: {coord:?}");
            seen += 1;
        }
        let known = paints.entry(cell.text.clone()).or_insert((cell.link, cell.paint));
        assert_eq!(*known, (cell.link, cell.paint), "{text}: {}", cell.text);
    }
    let colours: BTreeSet<String> = paints.values().map(|paint| format!("{paint:?}")).collect();
    assert_eq!(colours.len(), paints.len(), "{text}");
    if whole {
        assert_eq!(seen, sharded.extents().iter().product::<u64>(), "{text}");
    }
}

/// Checks grids index by index, and in blocks.
fn check_both(sharded: &Sharded) {
    check(sharded, &Limits::default());
    check(sharded, &Limits { rows: 4, columns: 3, panels: 64, cells: 2048 });
}

#[test]
fn cells_name_who_holds_them() {
    for rule in [
        "[Shard(0), Shard(1)]",
        "[Shard(1), Shard(0)]",
        "[Shard(0), Shard(0)]",
        "[_StridedShard(0, sf=2), Replicate()]",
        "[_StridedShard(1, sf=3), Shard(0)]",
        "[Replicate(), Replicate()]",
    ] {
        for rows in 0..8 {
            for columns in [1, 4, 5] {
                let text = format!("[{rows},{columns}] @ mesh(2,2; 3,1,0,2) {rule}");
                check_both(&Sharded::parse(&text).unwrap());
            }
        }
    }
    for text in [
        "[] @ mesh(3) [R]",
        "[7] @ mesh(8) [S(0)]",
        "[24] @ mesh(tp=4) vllm:qkv(h=8,g=2,d=2)",
        "[24] @ mesh(tp=2) megatron:qkv(h=8,g=2,d=2,array=concat)",
        "[10,3] @ {devices=[4,1,2]<=[8] last_tile_dim_replicate}",
        "[30,2] @ mesh(tp=4) megatron:vocab(pad=4)",
        "[12,4] @ mesh(tp=2) gate_up",
        "[4,3,5] @ mesh(2,2) [S(0), S(2)]",
        "[4,3,5,2] @ mesh(2,2) [S(0), S(1)]",
    ] {
        check_both(&Sharded::parse(text).unwrap());
    }
}

/// Arrays without elements, and elements without devices, are drawn too; no input panics.
#[test]
fn what_is_no_sharding_is_drawn() {
    let device =
        |holds: Vec<Vec<[u64; 2]>>| Device { name: "x".into(), holds, ..Device::default() };
    let (none, far) = (device(vec![]), device(vec![vec![[5, u64::MAX], [1, 3], [2, 4]]]));
    for devices in [vec![], vec![none.clone()], vec![far.clone(), none], vec![far.clone(), far]] {
        for extents in [&[][..], &[0], &[4], &[u64::MAX], &[3, 0, 2], &[2, u64::MAX, 5]] {
            well_formed(&tilewright_draw::devices("odd", extents, &devices, &Limits::default()));
        }
    }
    let hole = device(vec![vec![[0, 2]]]);
    let scene = devices("a hole", &[4], &[hole], &Limits::default());
    assert_eq!(scene.notes, ["cells without a name are held by no device"]);
}

/// A mesh of thousands takes time in proportion to its picture only.
#[test]
fn large_meshes_are_elided() {
    let text = "f32[65536,4096,128] @ mesh(64,64,8) [Shard(0), Shard(1), Replicate()]";
    let sharded = Sharded::parse(text).unwrap();
    let scene = devices(text, sharded.extents(), &of(&sharded), &Limits::default());
    assert_eq!(scene.notes[0], "left out: 33 of 64 blocks of rows, 33 of 64 blocks of columns");
    assert!(
        scene.notes[1].starts_with("hold the same: 0-7; 8-15; ")
            && scene.notes[1].ends_with("more")
    );
    assert_eq!(scene.panels().next().unwrap().cell(1, 1).unwrap().text, "520-527");
    well_formed(&scene);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn cells_name_who_holds_them_at_random(
        dims in prop::collection::vec(0u64..7, 1..4),
        axes in prop::collection::vec((1u64..4, 0usize..4, 0u64..5), 1..3),
    ) {
        let mesh = Mesh::new(&axes.iter().map(|(size, ..)| *size).collect::<Vec<_>>()).unwrap();
        let split = |(axis, (size, dim, factor)): (usize, &(u64, usize, u64))| {
            let cut = match factor {
                0 => Cut::Chunk,
                1 => Cut::Padded { multiple: 2 * size },
                factor => Cut::Strided { factor: *factor },
            };
            (*dim < dims.len()).then(|| Split { dim: *dim, parts: vec![AxisPart::whole(axis)], cut })
        };
        let splits = axes.iter().enumerate().filter_map(split).collect();
        check_both(&Sharded::new(&dims, None, mesh, splits).unwrap());
    }
}
