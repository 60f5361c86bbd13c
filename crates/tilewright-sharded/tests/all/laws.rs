//! The laws of sharded arrays: exhaustively over small cases, then at random.

use proptest::prelude::*;
use tilewright_core::{Layout, Mode, TensorLayout};
use tilewright_sharded::{
    AxisPart, Cut, Mesh, Pieces, Shard, Sharded, Split, Witness, boxes_of_range,
    dialect::{DIALECTS, dialect},
};

/// Returns the global index of every local element of a shard, row-major.
fn elements(shard: &Shard, extents: &[u64]) -> Vec<u64> {
    shard.dims().iter().zip(extents).fold(vec![0], |all, (list, extent)| {
        let index = |outer: u64| list.indices().map(move |index| outer * extent + index);
        all.into_iter().flat_map(index).collect()
    })
}

/// Checks that a layout of all shards puts each element where its device has it: device by device, each in the layout
/// of a shard.
fn check_layout(sharded: &Sharded) -> bool {
    let Ok(layout) = sharded.as_layout() else { return false };
    let local = sharded.shard(0).unwrap().extents();
    check_layout_of(sharded, &layout, &TensorLayout::row_major(&local).unwrap());
    let columns = TensorLayout::col_major(&local).unwrap();
    check_layout_of(sharded, &sharded.as_layout_of(&columns).unwrap(), &columns);
    for tile in [1, 2, 3] {
        // Tiles with this side; those at the ends have padding.
        let rank = local.len();
        let counts: Vec<u64> = local.iter().map(|extent| extent.div_ceil(tile)).collect();
        let cells = |from: usize| tile.pow((rank - from) as u32);
        let modes = (0..rank).map(|dim| {
            let others: u64 = counts[dim + 1..].iter().product();
            let outer = Mode::new(counts[dim], (cells(0) * others) as i64);
            [Mode::new(tile, cells(dim + 1) as i64), outer]
        });
        let modes: Vec<[Mode; 2]> = modes.collect();
        let layout = Layout::nested(modes.as_flattened(), &vec![2; rank]).unwrap();
        let capacity = cells(0) * counts.iter().product::<u64>();
        let Ok(tiled) = TensorLayout::new(&local, &layout, capacity) else { continue };
        match sharded.as_layout_of(&tiled) {
            Ok(layout) => check_layout_of(sharded, &layout, &tiled),
            // A tile crosses the end of a shard, or of one of its boxes.
            Err(error) => assert!(error.kind() == "no-layout" && tile > 1, "{sharded}: {error}"),
        }
    }
    true
}

fn check_layout_of(sharded: &Sharded, layout: &TensorLayout, of: &TensorLayout) {
    let (text, extents) = (sharded.to_string(), sharded.extents());
    assert_eq!(layout.extents(), extents);
    let mut seen: Vec<Vec<u64>> = Vec::new();
    for shard in sharded.shards() {
        let held = elements(&shard, extents);
        if seen.contains(&held) || held.is_empty() {
            continue;
        }
        for (local, element) in held.iter().enumerate() {
            let offset = layout.offset(&coord(*element, extents)).unwrap();
            let own = of.offset(&coord(local as u64, of.extents())).unwrap();
            let first = seen.len() as u64 * of.capacity();
            assert_eq!(offset, first as i64 + own, "{text}: {element} in {}", of.layout());
        }
        seen.push(held);
    }
    assert_eq!(layout.capacity(), seen.len().max(1) as u64 * of.capacity(), "{text}");
}

/// Returns the coordinate of an index, the last dim fastest.
fn coord(index: u64, extents: &[u64]) -> Vec<u64> {
    let mut rest = index;
    let mut coord: Vec<u64> = Vec::new();
    for extent in extents.iter().rev() {
        coord.push(rest % extent);
        rest /= extent;
    }
    coord.reverse();
    coord
}

/// Checks that every element is held, and by one shard only unless a whole shard is a copy.
fn check_cover(sharded: &Sharded) {
    let cover = Pieces::of(sharded).unwrap().cover("w");
    assert!(cover.is_ok(), "{sharded}: {cover:?}");
    let size: u64 = sharded.extents().iter().product();
    let mut held = vec![false; size as usize];
    let mut seen: Vec<Vec<u64>> = Vec::new();
    for shard in sharded.shards() {
        let all = elements(&shard, sharded.extents());
        assert_eq!(all.len() as u64, shard.extents().iter().product::<u64>());
        assert!(shard.extents().iter().zip(shard.stored()).all(|(n, stored)| n <= stored));
        if seen.contains(&all) {
            continue;
        }
        for element in &all {
            assert!(!std::mem::replace(&mut held[*element as usize], true), "{sharded}: {element}");
        }
        seen.push(all);
    }
    assert!(held.iter().all(|held| *held), "{sharded}");
}

/// Checks that the printed text of each notation reads back as the same for every device.
fn check_texts(sharded: &Sharded) -> usize {
    let read = |text: &str| Sharded::parse(&format!("{} @ {text}", sharded.array()));
    let mut said = 0;
    for dialect in DIALECTS {
        if let Ok(text) = dialect.print(sharded) {
            let again = read(&text).unwrap();
            assert_eq!(sharded.difference(&again), None, "{text}");
            assert_eq!(dialect.print(&again).as_deref(), Ok(text.as_str()), "{sharded}");
            said += 1;
        }
    }
    said
}

/// Returns all placements of one dim over a mesh of two axes.
fn placements() -> Vec<Option<Cut>> {
    let strided = (1..5).map(|factor| Some(Cut::Strided { factor }));
    [None, Some(Cut::Chunk)].into_iter().chain(strided).collect()
}

#[test]
fn one_dim_over_two_axes_exhaustively() {
    let (mut layouts, mut cases, mut texts) = (0, 0, 0);
    let end = tilewright_testing::cases(17, 9);
    for n in 0..end {
        for sizes in [[1, 3], [2, 2], [2, 3], [3, 2], [4, 2]] {
            for first in placements() {
                for second in placements() {
                    for turned in [false, true] {
                        let cuts = [(0, &first), (1, &second)];
                        let split = |(axis, cut): &(usize, &Option<Cut>)| {
                            let (parts, cut) = (vec![AxisPart::whole(*axis)], (*cut).clone()?);
                            Some(Split { dim: 0, parts, cut })
                        };
                        let mut splits: Vec<Split> = cuts.iter().filter_map(split).collect();
                        if turned {
                            splits.reverse();
                        }
                        let mesh = Mesh::new(&sizes).unwrap();
                        let sharded = Sharded::new(&[n], None, mesh, splits).unwrap();
                        check_cover(&sharded);
                        layouts += usize::from(check_layout(&sharded));
                        texts += check_texts(&sharded);
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, end * 5 * 36 * 2);
    let least = tilewright_testing::cases((1400, 11000), (600, 5000));
    assert!(layouts > least.0 && texts > least.1, "{layouts} {texts}");
}

/// A refusal has a position, and one layout exists only if every device holds the same list, shifted.
#[test]
fn no_layout_is_shown_by_a_position() {
    for n in 1..40 {
        for sizes in [[2, 2], [3, 2], [2, 4]] {
            let mesh = Mesh::new(&sizes).unwrap();
            let splits = vec![Split::chunk(0, 0), Split::chunk(0, 1)];
            let sharded = Sharded::new(&[n], None, mesh, splits).unwrap();
            let even = n % sizes.iter().product::<u64>() == 0;
            assert_eq!(check_layout(&sharded), even, "{sharded}");
            if let Err(error) = sharded.as_layout() {
                let witness = error.cause::<Witness>().unwrap();
                let held = sharded.shard(witness.position).unwrap();
                assert_eq!(held.dims()[0].as_slice(), witness.holds);
                assert_ne!(witness.holds, witness.instead);
                assert_eq!(error.kind(), "no-layout");
            }
        }
    }
}

#[test]
fn pieces_with_a_hole_or_an_overlap_are_refused() {
    let whole = Pieces::of(&Sharded::parse("f32[7,6] @ mesh(2,3) [Shard(0), Shard(1)]").unwrap());
    let whole = whole.unwrap();
    assert_eq!(whole.cover("w").unwrap().boxes, 6);
    for at in 0..whole.pieces.len() {
        let mut hole = whole.clone();
        let gone = hole.pieces.remove(at);
        let said = hole.cover("w").unwrap_err().to_string();
        let rows = format!("[{},{})", gone.start[0], gone.start[0] + gone.extents[0]);
        assert!(said.contains("no piece holds") && said.contains(&rows), "{said}");
        for dim in 0..2 {
            let mut large = whole.clone();
            let piece = &mut large.pieces[at];
            if piece.start[dim] + piece.extents[dim] < whole.extents[dim] {
                piece.extents[dim] += 1;
                assert!(large.cover("w").unwrap_err().to_string().contains("both hold"));
            } else {
                piece.extents[dim] += 1;
                assert!(large.cover("w").unwrap_err().to_string().contains("outside"));
            }
        }
    }
}

#[test]
fn boxes_of_a_range_are_the_range() {
    let size = |extents: &[u64]| extents.iter().product::<u64>();
    for extents in [&[][..], &[5], &[3, 4], &[2, 3, 2], &[2, 1, 3, 2], &[0, 3], &[3, 0]] {
        for from in 0..=size(extents) {
            for to in from..=size(extents) {
                let boxes = boxes_of_range(extents, from, to);
                assert!(boxes.len() < (2 * extents.len()).max(2));
                let mut elements: Vec<u64> = Vec::new();
                for (start, sizes) in &boxes {
                    let dims = start.iter().zip(sizes).zip(extents);
                    elements.extend(dims.fold(vec![0], |all, ((start, size), extent)| {
                        let along = |at: u64| (*start..start + size).map(move |i| at * extent + i);
                        all.into_iter().flat_map(along).collect()
                    }));
                }
                assert_eq!(elements, (from..to).collect::<Vec<_>>(), "{extents:?} {from} {to}");
            }
        }
    }
}

/// FSDP2 cuts the parts that tensor parallelism left; its own text cuts from left to right. They differ in 71 of these
/// cases.
#[test]
fn two_orders_of_cutting_differ_where_they_are_known_to() {
    let mut different = 0;
    for n in 1..=64 {
        for dp in [2, 3, 4, 8] {
            for tp in [2, 3, 4, 8] {
                let read = |rule: &str| {
                    Sharded::parse(&format!("f32[{n}] @ mesh(dp={dp},tp={tp}) {rule}")).unwrap()
                };
                let held = read("[Shard(0), Shard(0)] order(tp,dp)");
                let says = read(&format!("[_StridedShard(0, sf={tp}), Shard(0)]"));
                let differ = held.difference(&says).is_some();
                assert!(!differ || (n % tp != 0 && dp != 2), "{n} {dp} {tp}");
                different += usize::from(differ);
                let torch = dialect("torch").unwrap().print(&held).unwrap();
                assert_eq!(torch.ends_with("order(1,0)"), differ, "{torch}");
            }
        }
    }
    assert_eq!(different, 71);
}

/// A strategy for sharded arrays of up to three dims over up to three axes.
fn any_sharded() -> impl Strategy<Value = Sharded> {
    let dims = prop::collection::vec(0u64..9, 1..4);
    let axes = prop::collection::vec((1u64..5, 0usize..8, 0u64..5), 1..4);
    (dims, axes, any::<bool>(), any::<u64>()).prop_map(|(dims, axes, turned, seed)| {
        let sizes: Vec<u64> = axes.iter().map(|(size, ..)| *size).collect();
        let mut mesh = Mesh::new(&sizes).unwrap();
        if seed % 3 == 0 {
            let turn = seed % mesh.count();
            let order: Vec<u64> = (0..mesh.count()).map(|at| (at + turn) % mesh.count()).collect();
            mesh = mesh.with_order(&order).unwrap();
        }
        let split = |(axis, (size, dim, factor)): (usize, &(u64, usize, u64))| {
            let cut = match factor {
                0 => Cut::Chunk,
                1 => Cut::Padded { multiple: size * (1 + seed % 3) },
                factor => Cut::Strided { factor: *factor },
            };
            let parts = vec![AxisPart::whole(axis)];
            (*dim < dims.len()).then_some(Split { dim: *dim, parts, cut })
        };
        let mut splits: Vec<Split> = axes.iter().enumerate().filter_map(split).collect();
        if turned {
            splits.reverse();
        }
        Sharded::new(&dims, None, mesh, splits).unwrap()
    })
}

/// Pseudorandom numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end.max(1)
    }

    /// Returns the numbers below `end` in random order.
    fn order(&mut self, end: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..end).collect();
        for at in (1..end).rev() {
            order.swap(at, self.below(at as u64 + 1) as usize);
        }
        order
    }

    /// Returns a mesh of 2 or 3 axes, as the text before a rule, with its sizes.
    fn mesh(&mut self) -> (String, Vec<u64>) {
        let sizes: Vec<u64> =
            (0..2 + self.below(2)).map(|_| [2, 4, 3][self.below(3) as usize]).collect();
        let named = self.below(2) == 0;
        let axis = |(at, size): (usize, &u64)| match named {
            true => format!("x{at}={size}"),
            false => size.to_string(),
        };
        let axes: Vec<String> = sizes.iter().enumerate().map(axis).collect();
        let count = sizes.iter().product::<u64>() as usize;
        let order = match self.below(3) {
            0 => format!(
                "; {}",
                self.order(count).iter().map(usize::to_string).collect::<Vec<_>>().join(",")
            ),
            _ => String::new(),
        };
        (format!("mesh({}{order})", axes.join(",")), sizes)
    }

    /// Distributes axes of a mesh over dims, some over none.
    fn dealt(&mut self, axes: usize, dims: usize) -> Vec<Vec<usize>> {
        let mut dealt = vec![Vec::new(); dims];
        for axis in self.order(axes) {
            let dim = self.below(dims as u64 + 1) as usize;
            if let Some(dim) = dealt.get_mut(dim) {
                dim.push(axis);
            }
        }
        dealt
    }

    /// Returns a text of a sharded array in one of the notations, and its name.
    fn text(&mut self) -> (&'static str, String) {
        let (mesh, sizes) = self.mesh();
        let name =
            |axis: usize| if mesh.contains('=') { format!("x{axis}") } else { axis.to_string() };
        let rank = 1 + self.below(3) as usize;
        let even = self.below(2) == 0;
        let extents: Vec<String> = (0..rank)
            .map(|_| if even { 144 * (1 + self.below(3)) } else { self.below(50) }.to_string())
            .collect();
        let array = format!("f32[{}] @ ", extents.join(","));
        match self.below(5) {
            0 => {
                let placement = |dice: &mut Dice| match dice.below(4) {
                    0 => "Replicate()".to_owned(),
                    1 => format!(
                        "_StridedShard({}, sf={})",
                        dice.below(rank as u64),
                        1 + dice.below(4)
                    ),
                    _ => format!("S({})", dice.below(rank as u64)),
                };
                let all: Vec<String> = sizes.iter().map(|_| placement(self)).collect();
                let order = self.order(sizes.len());
                let order: Vec<String> = order.iter().map(usize::to_string).collect();
                let order = if self.below(2) == 0 {
                    String::new()
                } else {
                    format!(" order({})", order.join(","))
                };
                ("torch", format!("{array}{mesh} [{}]{order}", all.join(", ")))
            }
            1 => {
                let entry = |axes: &Vec<usize>| match &axes[..] {
                    [] => "None".to_owned(),
                    axes => format!(
                        "({},)",
                        axes.iter()
                            .map(|axis| format!("'{}'", name(*axis)))
                            .collect::<Vec<_>>()
                            .join(",")
                    ),
                };
                let dims: Vec<String> = self.dealt(sizes.len(), rank).iter().map(entry).collect();
                ("jax", format!("{array}{mesh} P({})", dims.join(", ")))
            }
            2 => {
                let mut tile: Vec<u64> = vec![1; rank];
                let dealt = self.dealt(sizes.len(), rank);
                let mut order = Vec::new();
                for (dim, axes) in dealt.iter().enumerate() {
                    tile[dim] = axes.iter().map(|axis| sizes[*axis]).product();
                    order.extend(axes);
                }
                let rest: Vec<usize> =
                    (0..sizes.len()).filter(|axis| !order.contains(axis)).collect();
                let left: u64 = rest.iter().map(|axis| sizes[*axis]).product();
                order.extend(rest);
                let join =
                    |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
                let order = order.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                let before = if self.below(2) == 0 { format!("{mesh} ") } else { String::new() };
                let (tile, sizes) = (join(&[tile, vec![left]].concat()), join(&sizes));
                (
                    "hlo",
                    format!(
                        "{array}{before}{{devices=[{tile}]<=[{sizes}]T({order}) last_tile_dim_replicate}}"
                    ),
                )
            }
            3 => {
                let dims: Vec<String> = self
                    .dealt(3, rank)
                    .iter()
                    .map(|axes| {
                        let part = |axis: &usize| match axis {
                            0 => "\"x\":(1)2".to_owned(),
                            1 => "\"x\":(2)2".into(),
                            _ => "\"y\"".into(),
                        };
                        let mut axes: Vec<String> = axes.iter().map(part).collect();
                        axes.extend((self.below(3) == 0).then(|| "?".to_owned()));
                        let priority = if self.below(3) == 0 { "p1" } else { "" };
                        format!("{{{}}}{priority}", axes.join(", "))
                    })
                    .collect();
                let ids = ["", ", device_ids=[11,10,9,8,7,6,5,4,3,2,1,0]"][self.below(2) as usize];
                (
                    "shardy",
                    format!("{array}sdy <mesh<[\"x\"=4, \"y\"=3]{ids}>, [{}]>", dims.join(", ")),
                )
            }
            _ => {
                let tp = [1, 2, 4][self.below(3) as usize];
                let (groups, each, rows) =
                    ([1, 2, 4, 8][self.below(4) as usize], 1 + self.below(3), 1 + self.below(4));
                let queries = groups * each * if groups < tp { tp } else { 1 };
                let (maker, order) = [
                    ("vllm", ""),
                    ("vllm", ",array=grouped"),
                    ("megatron", ""),
                    ("megatron", ",array=concat"),
                ][self.below(4) as usize];
                // Megatron cuts the rows evenly if there are fewer groups than devices.
                let rows = if maker == "megatron" && groups < tp { rows * tp } else { rows };
                let all = (queries + 2 * groups) * rows;
                let rule = match self.below(5) {
                    0 => format!("f32[{}] @ mesh(dp=2,tp={tp}) column", tp * self.below(9)),
                    1 => format!("f32[3,{}] @ mesh(tp={tp}) row", tp * self.below(9)),
                    2 => format!(
                        "f32[{},2] @ mesh(tp={tp}) gate_up(parts=3)",
                        3 * tp * self.below(9)
                    ),
                    3 => format!(
                        "f32[{},2] @ mesh(tp={tp}) megatron:vocab(pad={})",
                        self.below(99),
                        1 + self.below(8)
                    ),
                    _ => format!(
                        "f32[{all}] @ mesh(tp={tp}) {maker}:qkv(h={queries},g={groups},d={rows}{order})"
                    ),
                };
                ("megatron", rule)
            }
        }
    }
}

/// A text that can be read can be printed in its own notation, and every printed text reads back as the same.
#[test]
fn texts_of_every_notation_are_printed_and_read_back() {
    let (mut dice, mut read, mut said) = (Dice(7), std::collections::BTreeMap::new(), 0);
    let count = tilewright_testing::cases(1000, 40);
    for _ in 0..count {
        let (name, text) = dice.text();
        let sharded = match Sharded::parse(&text) {
            Ok(sharded) => sharded,
            // JAX does not support uneven arrays.
            Err(error) if name == "jax" => {
                assert_eq!(error.kind(), "mismatch", "{text}: {error}");
                continue;
            }
            Err(error) => panic!("{text}: {error}"),
        };
        // Keys and values of few groups are on several devices, each with its own queries.
        if !text.contains("qkv") {
            check_cover(&sharded);
        }
        said += check_texts(&sharded);
        *read.entry(name).or_insert(0) += 1;
        let own = dialect(name).unwrap().print(&sharded);
        assert!(own.is_ok(), "{text}: {}", own.unwrap_err());
        let whole = Sharded::parse(&sharded.to_string()).unwrap();
        assert_eq!(sharded.difference(&whole), None, "{text}");
    }
    assert!(read.len() == 5 && read.values().all(|read| *read > count / 25), "{read:?}");
    assert!(said > count * 3 / 2, "{said}");
}

/// The error of a text, and the bytes at fault.
#[test]
fn mistakes_are_where_they_are() {
    for (text, at, says) in [
        ("f32[8] @ mesh(2) [Shard(1)]", "Shard(1)", "dim 1 of an array of 1 dims"),
        (
            "f32[8] @ mesh(2) [Shard(0), R]",
            "[Shard(0), R]",
            "2 placements do not fit a mesh of 1 axes",
        ),
        ("f32[8] @ mesh(2) [_S(0, sf=0)]", "0)", "a split factor of 0"),
        ("f32[8] @ mesh(2) [Partial(sum)]", "Partial", "holds a summand"),
        ("f32[8,8] @ mesh(a=2,b=2) [S(0), S(0)] order(b,b)", "b)", "appears twice in the order"),
        ("f32[8,8] @ mesh(a=2,b=2) [S(0), S(0)] order(b)", "b)", "leaves out the axis `a`"),
        ("f32[8] @ mesh(a=2,a=2) [R, R]", "a=2,a=2", "appears twice in a mesh"),
        ("f32[8] @ mesh(a=2,2) [R, R]", "a=2,2", "some axes of the mesh have names"),
        ("f32[8] @ mesh(2; 0,0) [R]", "2; 0,0", "device 0 appears twice"),
        ("f32[8] @ mesh(a=2) P('b')", "'b'", "lacks the axis `b`; it has a"),
        ("f32[8,8] @ mesh(a=2) P('a', 'a')", "'a')", "is used twice"),
        ("f32[8,9] @ mesh(a=2) P(None, 'a')", "'a'", "dim 1 of 9 is not divisible by 2"),
        (
            "f32[8] @ mesh(a=2) P('a', None)",
            "P('a', None)",
            "2 entries do not fit an array of 1 dims",
        ),
        ("f32[8] @ mesh(a=2) P('a', unreduced={'a'})", "unreduced", "hold no values"),
        ("f32[8] @ P('a')", "P('a')", "needs a mesh"),
        ("f32[8] @ {devices=[2]0,0}", "0,0", "device 0 appears twice"),
        ("f32[8] @ {devices=[4]0,1}", "0,1", "2 devices for 4 tiles"),
        ("f32[8] @ {devices=[4]<=[3]}", "[3]", "3 devices for 4 tiles"),
        ("f32[8] @ {devices=[4]<=[2,2]T(0,0)}", "0,0", "names each of them once"),
        ("f32[8] @ {devices=[0]0}", "[0]", "a size of 0"),
        ("f32[8] @ {devices=[2,2]<=[4] last_tile_dims={odd}}", "odd", "no kind of tile"),
        ("f32[8] @ {manual}", "{manual}", "the program decides"),
        (
            "f32[8] @ {devices=[2,2]<=[4] last_tile_dims={manual}}",
            "{devices=[2,2]<=[4] last_tile_dims={manual}}",
            "the program decides",
        ),
        (
            "f32[8] @ mesh(4) {devices=[2,1,2]<=[4] last_tile_dims={unreduced, replicated}}",
            "{devices=[2,1,2]<=[4] last_tile_dims={unreduced, replicated}}",
            "each device holds a summand",
        ),
        ("f32[8] @ {{replicated}, {replicated}}", "{{replicated}, {replicated}}", "a tuple of 2"),
        ("f32[8] @ {mesh['a'=2], [{'b'}]}", "'b'", "lacks the axis `b`"),
        (
            "f32[8] @ sdy <mesh<[\"x\"=4]>, [{\"x\":(2)4}]>",
            "\"x\":(2)4",
            "their product must divide 4",
        ),
        (
            "f32[8] @ sdy <mesh<[\"x\"=4]>, [{\"x\", \"x\":(2)2}]>",
            "[{\"x\", \"x\":(2)2}]",
            "is used twice",
        ),
        ("f32[8] @ sdy <mesh<[\"x\"=4]>, [{}], unreduced={\"x\"}>", "unreduced", "hold no values"),
        ("f32[8] @ sdy <mesh<[\"x\"=4]>, [{}, {}]>", "[{}, {}]", "axes of 2 dims"),
        ("f32[9] @ mesh(tp=2) column", "column", "leave 1"),
        ("f32[9] @ mesh(tp=2) colum", "colum", "did you mean `column`?"),
        ("f32[9] @ mesh(tp=2) vllm:qkv(h=8,g=2,d=4)", "(h=8,g=2,d=4)", "the array has 9"),
        (
            "f32[48] @ mesh(tp=2) vllm:qkv(h=8,g=2)",
            "(h=8,g=2)",
            "qkv lacks d (the rows of a head); by the 48 rows of the array it is d=4",
        ),
        ("f32[50] @ mesh(tp=2) qkv(h=8,g=2)", "(h=8,g=2)", "a head); such as h=8,g=2,d=4"),
        (
            "f32[48] @ mesh(tp=2) qkv(d=4)",
            "(d=4)",
            "qkv lacks h (the query heads) and g (the groups); such as h=8,g=2,d=4",
        ),
        ("f32[48] @ mesh(tp=2) vllm:qkv(h=8,h=4,g=2,d=4)", "h", "`h` is given twice"),
        (
            "f32[7] @ mesh(tp=2) vllm:qkv(h=5,g=1,d=1)",
            "(h=5,g=1,d=1)",
            "5 query heads cannot be shared evenly by 2 devices",
        ),
        (
            "f32[12] @ mesh(tp=2) vllm:qkv(h=6,g=3,d=1)",
            "(h=6,g=3,d=1)",
            "3 groups cannot be shared evenly by 2 devices",
        ),
        (
            "f32[48] @ mesh(tp=2) qkv(h=8,g=2,d=4)",
            "qkv(h=8,g=2,d=4)",
            "write `megatron:qkv(h=8,g=2,d=4)` or `vllm:qkv(h=8,g=2,d=4)`",
        ),
        (
            "f32[48] @ mesh(tp=1) qkv(h=8,g=2,d=4,array=concat)",
            "qkv(h=8,g=2,d=4,array=concat)",
            "write `megatron:qkv(h=8,g=2,d=4,array=concat)` or `vllm:qkv(h=8,g=2,d=4,array=concat)`",
        ),
        (
            "f32[48] @ mesh(tp=2) megatron:qkv(h=8,g=2,d=4,shard=concat)",
            "megatron:qkv(h=8,g=2,d=4,shard=concat)",
            "shards of megatron are not concat; write `vllm:qkv(h=8,g=2,d=4)`",
        ),
        (
            "f32[50] @ mesh(tp=2) vocab(pad=8)",
            "vocab(pad=8)",
            "write `megatron:vocab(pad=8)` or `vllm:vocab(pad=8)`",
        ),
        ("f32[50] @ mesh(tp=3) vllm:vocab(pad=8)", "vllm:vocab(pad=8)", "are 56; over 3 devices"),
        ("f32[50] @ mesh(tp=2) megatrn:column", "megatrn", "did you mean `megatron`?"),
        ("f32[50] @ mesh(tp=2) vllm:colum", "colum", "did you mean `column`?"),
        ("f32[18] @ mesh(tp=8) megatron:qkv(h=16,g=1,d=1)", "(h=16,g=1,d=1)", "18 rows"),
        ("f32[48] @ mesh(a=2,b=2) column", "column", "none is called `tp`"),
        ("f33[48] @ mesh(2) [R]", "f33", "no element type is called `f33`"),
    ] {
        let error = Sharded::parse(text).unwrap_err();
        let (from, to) = error.span().unwrap();
        let found = &text[from..to];
        assert!(at.starts_with(found) && !found.is_empty(), "{text}: at `{found}`: {error}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn laws_at_random(sharded in any_sharded()) {
        check_cover(&sharded);
        check_layout(&sharded);
        check_texts(&sharded);
    }

    #[test]
    fn no_text_panics(text in r#"(f32\[[0-9,]{0,4}\] @ )?(mesh\([a-z0-9=,;]{0,7}\) )?[\[\](){}<>=,;:'"?PSRT@/_ 0-9]{0,12}(Shard\(0\)|devices=\[2,2\]|mesh\['a'=2\]|sdy <mesh<\["x"=2\]>|qkv\(h=2,g=1,d=1|last_tile_dims)?[\[\](){}<>=,;:'"?PSRT@/_ 0-9-]{0,16}"#) {
        match Sharded::parse(&text) {
            Ok(sharded) => { check_texts(&sharded); }
            Err(error) => if let Some((from, to)) = error.span() {
                prop_assert!(from <= to && text.get(from..to).is_some(), "{text:?} {error}");
            }
        }
    }
}
