//! Laws of every picture: cells show the positions of elements, links connect corresponding cells, texts are well
//! formed, and sizes are bounded.

mod devices;

use std::collections::HashMap;

use proptest::prelude::*;
use tilewright_core::{
    BasisLayout, Error, Fractal, IntTuple, Layout, LinearLayout, Mode, TensorLayout,
};
use tilewright_draw::{
    Access, Cell, Label, Limits, Paint, Panel, Relation, Scene, Subject, Waiting, bank_conflicts,
    banks, conversion, coordinates, distribution, fragment, grid, memory, owners, step,
};

/// Checks that every printed form of a scene is legal in its language.
fn well_formed(scene: &Scene) {
    let svg = scene.to_svg();
    let document =
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(scene.to_svg(), svg);
    within(&root);
    let part = scene.to_html_part();
    assert!(!part.contains("http") && !part.contains("url("), "{part}");
    let body = part.split("<script>").next().unwrap().replace("<br>", "<br/>");
    roxmltree::Document::parse(&(body + "</section>"))
        .unwrap_or_else(|error| panic!("{error}: {part}"));
    let tikz = scene.to_tikz();
    assert_eq!(tikz.matches("\\begin{").count(), tikz.matches("\\end{").count());
    let text = scene.to_terminal(false);
    assert!(!text.contains('\u{1b}') && text.lines().all(|line| line == line.trim_end()));
}

/// Checks that all texts and boxes are within the page.
fn within(root: &roxmltree::Node<'_, '_>) {
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).map_or(0.0, |text| text.parse().unwrap())
    };
    let (width, height) = (number(root, "width"), number(root, "height"));
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{node:?}");
        if node.tag_name().name() == "rect" {
            assert!(x + number(&node, "width") <= width && y + number(&node, "height") <= height);
        }
    }
}

/// Iterates over cells with their coordinates, read from the margins.
fn elements(panel: &Panel) -> impl Iterator<Item = (u64, u64, &Cell)> {
    let number = |head: &str| head.parse().unwrap_or(0);
    (0..panel.rows.len()).flat_map(move |row| {
        (0..panel.columns.len()).filter_map(move |column| {
            let cell = panel.cell(row, column)?;
            Some((number(&panel.rows[row].head), number(&panel.columns[column].head), cell))
        })
    })
}

/// Checks that every cell of a matrix's grid shows the offset of its element, or is hatched.
fn says_offsets(layout: &TensorLayout) {
    let scene = grid(&Subject::new(layout), &Limits::default()).unwrap();
    well_formed(&scene);
    let mut seen = 0;
    for (row, column, cell) in scene.panels().flat_map(elements) {
        match layout.offset(&[row, column]) {
            Ok(offset) => {
                assert_eq!(cell.text, offset.to_string(), "{layout:?}");
                assert!(cell.tip.starts_with(&format!("({row},{column}): offset {offset}")));
                seen += 1;
            }
            Err(_) => assert_eq!((cell.paint, cell.link), (Paint::Padding, None)),
        }
    }
    assert_eq!(seen, layout.size(), "{layout:?}");
}

/// Iterates over all compact layouts of two axes with two modes each, of extents from 1 to 3.
fn small() -> impl Iterator<Item = Layout> {
    let orders = (0..256).map(|n| [n / 64, n / 16 % 4, n / 4 % 4, n % 4]);
    let orders: Vec<[usize; 4]> =
        orders.filter(|order| (0..4).all(|mode| order.contains(&mode))).collect();
    (0..81u64).flat_map(move |n| {
        let shape = [1 + n / 27, 1 + n / 9 % 3, 1 + n / 3 % 3, 1 + n % 3];
        orders.clone().into_iter().map(move |order| {
            let (mut strides, mut stride) = ([0; 4], 1);
            for mode in order {
                strides[mode] = stride;
                stride *= shape[mode] as i64;
            }
            let modes: Vec<Mode> =
                shape.iter().zip(strides).map(|(e, s)| Mode::new(*e, s)).collect();
            Layout::nested(&modes, &[2, 2]).unwrap()
        })
    })
}

#[test]
fn cells_say_offsets() {
    for layout in small() {
        let [rows, columns] = [0, 1].map(|axis| layout.axis_size(axis).unwrap());
        for valid in [[rows, columns], [rows.min(2), columns], [rows, columns.saturating_sub(1)]] {
            let capacity = layout.cosize() as u64;
            says_offsets(&TensorLayout::new(&valid, &layout, capacity).unwrap());
        }
    }
}

#[test]
fn memory_says_what_is_stored() {
    for layout in small() {
        let array = TensorLayout::of(&layout).with_capacity(layout.cosize() as u64 + 2).unwrap();
        let scene =
            memory(&Subject::new(&array).labelled(Label::Numbers), &Limits::default()).unwrap();
        well_formed(&scene);
        let cells = scene.panels().flat_map(|panel| &panel.cells);
        let cells: Vec<&Cell> = cells.filter(|cell| cell.paint != Paint::Absent).collect();
        assert_eq!(cells.len() as u64, array.capacity());
        for (index, (_, offset)) in array.in_order().enumerate() {
            assert_eq!(cells[offset as usize].text, index.to_string());
        }
        assert_eq!(
            cells.iter().filter(|cell| cell.paint == Paint::Padding).count() as u64,
            array.padding()
        );
    }
}

#[test]
fn what_belongs_together_looks_the_same() {
    let small: Vec<Layout> = small().collect();
    for (a, b) in small.iter().zip(small.iter().skip(5)).step_by(7) {
        let (a, b) = (TensorLayout::of(a), TensorLayout::of(b));
        let Ok(scene) = conversion(&Subject::new(&a), &Subject::new(&b), &Limits::default()) else {
            assert_ne!(a.extents(), b.extents());
            continue;
        };
        well_formed(&scene);
        let mut paints: HashMap<u64, Vec<Paint>> = HashMap::new();
        for cell in scene.panels().flat_map(|panel| &panel.cells) {
            if let Some(link) = cell.link {
                paints.entry(link).or_default().push(cell.paint);
            }
        }
        assert_eq!(paints.len() as u64, a.size());
        // Twice in the grids, twice in the memories, with equal paint.
        assert!(
            paints
                .values()
                .all(|paints| paints.len() == 4 && paints.iter().all(|p| *p == paints[0]))
        );
    }
}

#[test]
fn both_sides_of_a_large_conversion_show_the_same_elements() {
    let tiled = Fractal::ZN.pattern(16, 16).layout(&[520, 200]).unwrap();
    for (from, to) in [
        (&tiled, &TensorLayout::row_major(&[520, 200]).unwrap()),
        (&TensorLayout::col_major(&[520, 200]).unwrap(), &tiled),
    ] {
        let (from, to) = (Subject::new(from), Subject::new(to));
        let scene = conversion(&from, &to, &Limits::default()).unwrap();
        well_formed(&scene);
        let links = |at: usize| {
            scene.bands[0].panels[at].cells.iter().filter_map(|cell| cell.link).collect::<Vec<_>>()
        };
        assert_eq!(links(0), links(1));
        // The last element is drawn, and so is the last padding.
        assert!(links(0).contains(&(520 * 200 - 1)));
        let last = scene.bands[0].panels.iter().map(|panel| &*panel.columns.last().unwrap().head);
        let mut last: Vec<&str> = last.collect();
        last.sort_unstable();
        assert_eq!(last, ["199", "207"]);
    }
}

#[test]
fn memory_leaves_out_what_holds_nothing_first() {
    let array = TensorLayout::of(&Layout::parse("(3,3):(1000000000,1)").unwrap());
    let scene = memory(&Subject::new(&array), &Limits::default()).unwrap();
    well_formed(&scene);
    let panel = &scene.bands[0].panels[0];
    let heads: Vec<&str> = panel.rows.iter().map(|row| row.head.as_str()).collect();
    assert_eq!(heads, ["0", "…", "1000000000", "…", "2000000000"]);
    let held: Vec<&str> =
        panel.cells.iter().filter(|cell| cell.link.is_some()).map(|cell| &*cell.text).collect();
    assert_eq!(held, ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2", "2,0", "2,1", "2,2"]);
    let shown = panel.cells.iter().filter(|cell| cell.paint == Paint::Padding).count() + 9;
    assert_eq!(
        scene.notes,
        [format!("left out: {} of 2000000003 cells of memory", 2_000_000_003 - shown)]
    );
    // With negative offsets, heads count from the beginning of a line.
    let turned = TensorLayout::of(&Layout::parse("(2,2):(-1,2)").unwrap());
    let scene = memory(&Subject::new(&turned), &Limits::default()).unwrap();
    let panel = &scene.bands[0].panels[0];
    assert_eq!((&*panel.rows[0].head, &*panel.columns[1].head), ("-1", "+1"));
}

#[test]
fn steps_show_where_offsets_go() {
    let parse = |text| Layout::parse(text).unwrap();
    let (a, b) = (parse("(4,8):(8,1)"), parse("(2,4):(1,4)"));
    let composed = a.composition(&b).unwrap();
    let divided = a.logical_divide(&b).unwrap();
    for result in [composed, divided] {
        let scene = step("of", &a, &b, &result, Relation::Through, &Limits::default()).unwrap();
        well_formed(&scene);
        let [a, b, result] = [0, 1, 2].map(|at| &scene.bands[0].panels[at]);
        let mut places: HashMap<&str, &Cell> = HashMap::new();
        places.extend(result.cells.iter().map(|cell| (&*cell.text, cell)));
        for cell in &a.cells {
            let there = places.get(&*cell.text);
            let looks = |cell: &Cell| (cell.paint, cell.link);
            assert_eq!(looks(cell), there.map_or((Paint::Plain, None), |cell| looks(cell)));
        }
        // B names indices of A, its first mode fastest.
        for cell in &b.cells {
            let index: usize = cell.text.parse().unwrap();
            assert_eq!(cell.link, a.cell(index % 4, index / 4).unwrap().link);
        }
    }
}

#[test]
fn outer_dims_are_panels() {
    let array = TensorLayout::row_major(&[2, 3, 2, 4]).unwrap();
    let scene = grid(&Subject::new(&array), &Limits::default()).unwrap();
    well_formed(&scene);
    let offsets: Vec<String> =
        scene.panels().flat_map(|panel| &panel.cells).map(|cell| cell.text.clone()).collect();
    assert_eq!(offsets, (0..48).map(|offset| offset.to_string()).collect::<Vec<_>>());
    for extents in [&[][..], &[5], &[0], &[0, 3], &[3, 0], &[2, 0, 3], &[1, 1, 1, 1, 2]] {
        let array = TensorLayout::row_major(extents).unwrap();
        let scene = grid(&Subject::new(&array), &Limits::default()).unwrap();
        let drawn = scene.panels().flat_map(|panel| &panel.cells).count() as u64;
        assert_eq!(drawn, array.size(), "{extents:?}");
        well_formed(&scene);
        well_formed(&memory(&Subject::new(&array), &Limits::default()).unwrap());
        well_formed(
            &conversion(&Subject::new(&array), &Subject::new(&array), &Limits::default()).unwrap(),
        );
    }
}

#[test]
fn pictures_of_huge_arrays_are_small() {
    let side = 1 << 20;
    let tiled = Fractal::ZN.pattern(16, 16).layout(&[side, side]).unwrap();
    let rows = TensorLayout::row_major(&[side, side]).unwrap();
    let many = TensorLayout::row_major(&[1000, 1000, 1000, 1000]).unwrap();
    let (tiled, rows, many) = (Subject::new(&tiled), Subject::new(&rows), Subject::new(&many));
    let matrix = Layout::parse("(1048576,1048576):(1,1048576)").unwrap();
    let swizzled = TensorLayout::of(&Layout::parse("Sw<3,3,3> o (1048576,64):(64,1)").unwrap());
    let swizzled = Subject::new(&swizzled);
    let limits = Limits::default();
    let all = Limits { rows: u64::MAX, columns: u64::MAX, panels: u64::MAX, cells: u64::MAX };
    for limits in [limits, all, Limits { rows: 1, columns: 1, panels: 1, cells: 1 }] {
        let scenes = [
            grid(&tiled, &limits),
            grid(&many, &limits),
            memory(&tiled, &limits),
            conversion(&rows, &tiled, &limits),
            banks(&swizzled, &Access { element_bytes: 4, vector: 1 }, &limits),
            step("∘", &matrix, &matrix, &matrix, Relation::Through, &limits),
            owners(&matrix, &[side, side], &limits),
            fragment(&tiled, 32, 8, &limits),
        ];
        for scene in scenes {
            let scene = scene.unwrap();
            let cells = scene.panels().map(|panel| panel.cells.len()).sum::<usize>();
            let most = limits.cells.clamp(1, tilewright_draw::MOST) as usize;
            assert!(cells <= 2 * most.max(2), "{cells} of {most}");
            assert!(scene.notes.iter().any(|note| note.contains("left out")), "{:?}", scene.notes);
            assert!(scene.to_svg().len() < 400 * (cells + 100), "{}", scene.to_svg().len());
            assert!(scene.to_html().len() < 400 * (cells + 100));
        }
    }
}

#[test]
fn threads_hold_what_they_own() {
    let tv = Layout::parse("((3,2),(2,2)):((8,2),(4,1))").unwrap();
    let scene = owners(&tv, &[4, 6], &Limits::default()).unwrap();
    well_formed(&scene);
    for (row, column, cell) in scene.panels().flat_map(elements) {
        let held = |thread: u64, value: u64| cell.text == format!("T{thread}\nV{value}");
        let of = |thread: u64| {
            (0..4).filter(move |&value| held(thread, value)).map(move |v| [thread, v])
        };
        let found: Vec<[u64; 2]> = (0..6).flat_map(of).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(tv.offset_at(&found[0]), Ok((row + 4 * column) as i64));
    }
    let one = TensorLayout::row_major(&[4, 4]).unwrap();
    assert!(fragment(&Subject::new(&one), 0, 4, &Limits::default()).unwrap_err().is_illegal());
    assert!(owners(&tv, &[1 << 40, 1 << 40], &Limits::default()).is_err());
    // A note reports values outside of the tile, and values that are held twice.
    let notes = |tv: &str, tile: &[u64]| {
        owners(&Layout::parse(tv).unwrap(), tile, &Limits::default()).unwrap().notes
    };
    assert!(notes("((4,8),(2,2)):((32,1),(16,8))", &[16, 8]).is_empty());
    assert!(notes("((4,8),(2,2)):((32,1),(16,8))", &[16, 9]).is_empty());
    let small = notes("((4,8),(2,2)):((32,1),(16,8))", &[8, 8]);
    assert!(
        small.len() == 1 && small[0].contains("from cell 0 to cell 127, the tile's last is 63")
    );
    assert_eq!(
        notes("(4,2):(1,0)", &[4, 4]),
        ["some cells are held more than once; one holder is shown"]
    );
    assert_eq!(notes("(4,2):(1,4)", &[0, 4]), ["the array is empty"]);
}

/// Returns the degrees by columns of the first matrix and of the last.
fn degrees(text: &str, access: Access) -> Result<Vec<Vec<String>>, Error> {
    let layout = TensorLayout::of(&Layout::parse(text).unwrap());
    let scene = banks(&Subject::new(&layout), &access, &Limits::default())?;
    well_formed(&scene);
    let tails = |panel: &Panel| panel.columns.iter().map(|column| column.tail.clone()).collect();
    Ok(scene.panels().map(tails).collect())
}

#[test]
fn cells_name_the_banks_of_their_elements() {
    let mut threads = 0;
    for (text, bits) in [
        ("(8,8):(8,1)", 32),
        ("Sw<2,0,3> o (8,8):(8,1)", 16),
        ("(3,5):(7,1)", 4),
        ("(2,4,4):(16,4,1)", 8),
    ] {
        let layout = TensorLayout::of(&Layout::parse(text).unwrap());
        let marked = vec![0; layout.rank()];
        let waiting =
            Waiting { banks: 8, width: 4, element_bits: bits, threads: vec![(marked, 5)] };
        let subject = Subject::new(&layout);
        let scene = bank_conflicts(&subject, Some(&subject), &waiting, &Limits::default());
        well_formed(&scene);
        for (at, panel) in scene.panels().enumerate() {
            let rank = layout.rank();
            for (row, column) in (0..layout.extents()[rank - 2])
                .flat_map(|r| (0..layout.extents()[rank - 1]).map(move |c| (r, c)))
            {
                let mut coord = vec![0; rank];
                (coord[rank - 2], coord[rank - 1]) = (row, column);
                let bank = layout.offset(&coord).unwrap() as u64 * u64::from(bits) / 32 % 8;
                let cell = panel.cell(row as usize, column as usize).unwrap();
                let expected = match (at, row, column) {
                    (0, 0, 0) => format!("{bank} T5"),
                    _ => bank.to_string(),
                };
                assert_eq!(
                    (&cell.text, cell.marked, cell.link),
                    (&expected, expected.contains('T'), Some(bank))
                );
                threads += u32::from(cell.marked);
            }
        }
    }
    assert_eq!(threads, 4);
}

#[test]
fn conflicts_are_those_of_the_hardware_s_rules() {
    let words = Access { element_bytes: 4, vector: 1 };
    let column = |text, access| degrees(text, access).unwrap().last().unwrap()[0].clone();
    // A matrix of 32×32 words: each column is in one bank. With rows of one more word, each column is in 32 banks.
    assert_eq!(column("(32,32):(32,1)", words), "32");
    assert_eq!(column("(32,32):(33,1)", words), "1");
    assert_eq!(column("(32,32):(34,1)", words), "2");
    assert_eq!(column("(32,32):(1,32)", words), "1");
    // All threads read one word, which is delivered to all at once.
    assert_eq!(column("(32,32):(0,1)", words), "1");
    // Two elements of two bytes share a word.
    assert_eq!(column("(32,64):(1,32)", Access { element_bytes: 2, vector: 1 }), "1");
    let vectors = Access { element_bytes: 2, vector: 8 };
    let both = degrees("Sw<3,3,3> o (8,64):(64,1)", vectors).unwrap();
    assert_eq!(both, [vec!["8"; 8], vec!["1"; 8]]);
    assert_eq!(column("Sw<2,3,3> o (8,64):(64,1)", vectors), "2");
    assert_eq!(column("(8,64):(72,1)", vectors), "1");
    // Accesses that the model cannot describe are refused.
    for (text, access) in [
        ("(8,64):(1,8)", vectors),
        ("(8,64):(65,1)", vectors),
        ("(8,60):(64,1)", vectors),
        ("(8,64):(64,1)", Access { element_bytes: 0, vector: 8 }),
        ("(8,64):(64,1)", Access { element_bytes: u64::MAX, vector: u64::MAX }),
        ("(8,64):(-64,1)", words),
        ("(8,8,8):(64,8,1)", words),
    ] {
        assert!(degrees(text, access).is_err(), "{text}");
    }
}

#[test]
fn texts_mean_themselves() {
    let layout = TensorLayout::row_major(&[2, 2]).unwrap();
    let name = "<script>\"&'\\end{x}$%#_^~\u{1b}[31m\u{0}é漢\u{202e}]]>--><!--";
    let scene = grid(&Subject::new(&layout).named(name), &Limits::default()).unwrap();
    well_formed(&scene);
    assert!(!scene.to_html().contains("<script>\""));
    assert!(!scene.to_terminal(true).contains("\u{1b}[31m"));
    assert!(!scene.to_tikz().contains("\\end{x}"));
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let mode = (0u64..7, -9i64..40).prop_map(|(extent, stride)| Mode::new(extent, stride));
    prop::collection::vec(mode, 0..6).prop_filter_map("overflow", |modes| {
        let cut = modes.len() / 2;
        Layout::nested(&modes, &[cut, modes.len() - cut]).or_else(|_| Layout::flat(&modes)).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_layout_makes_a_picture_panic(a in any_layout(), b in any_layout(), rows in 1u64..9, bytes in 0u64..20) {
        let limits = Limits { rows, columns: 12, panels: 3, cells: 300 };
        let array = TensorLayout::of(&a);
        let subject = Subject::new(&array);
        let mut scenes = vec![
            grid(&subject, &limits),
            memory(&subject, &limits),
            conversion(&subject, &subject, &limits),
            fragment(&subject, rows, bytes, &limits),
            owners(&a, &[rows, bytes], &limits),
            banks(&subject, &Access { element_bytes: bytes, vector: 1 }, &limits),
            Ok(bank_conflicts(
                &subject,
                Some(&subject),
                &Waiting { banks: bytes, width: rows, element_bits: 4, threads: Vec::new() },
                &limits,
            )),
        ];
        for relation in [Relation::Through, Relation::Copies] {
            if let Ok(result) = a.composition(&b) {
                scenes.push(step("∘", &a, &b, &result, relation, &limits));
            }
        }
        scenes.into_iter().flatten().for_each(|scene| well_formed(&scene));
    }
}

/// Maps to coordinates of one, two and three dims, with copies, with holes, shuffled.
const MAPS: [&str; 6] = [
    "{register=[[0,1],[0,2]],lane=[[1,0],[2,0],[4,0]],warp=[[0,4]],block=[]} -> (dim0:8,dim1:8)",
    "{register=[1],lane=[2,4],warp=[0],block=[]} -> (dim0:8)",
    "{lane=[[1,1],[2,2],[0,0]],register=[[0,1],[0,2]]} -> (row:4,column:4)",
    "{a=[[1,0,0],[0,0,2]],b=[[0,1,0]]} -> (x:2,y:2,z:4)",
    "{dim0=[4,8],dim1=[1,2]} -> (offset:16)",
    "{} -> ()",
];

#[test]
fn who_is_named_is_sent_there() {
    for text in MAPS {
        let map = LinearLayout::parse(text).unwrap();
        let scene = distribution(&map, &Limits::default()).unwrap();
        well_formed(&scene);
        let cells: Vec<&Cell> = scene.panels().flat_map(|panel| &panel.cells).collect();
        assert_eq!(cells.len() as u64, map.out_size(), "{text}");
        let mut reached = vec![None; cells.len()];
        for index in 0..map.in_size() {
            reached[map.apply_index(index).unwrap() as usize].get_or_insert(index);
        }
        // Cells are row by row, indices have the first dim fastest.
        let outs: Vec<u64> = map.outs().iter().map(|dim| dim.size()).collect();
        for (at, cell) in cells.iter().enumerate() {
            let digits = outs.iter().rev().scan(at as u64, |rest, size| {
                let digit = *rest % size;
                *rest /= size;
                Some(digit)
            });
            let coord: Vec<u64> = digits.collect::<Vec<_>>().into_iter().rev().collect();
            let pairs = coord.iter().zip(&outs).rev();
            let index = pairs.fold(0, |index, (x, size)| index * size + x);
            let words = |place: u64| {
                let mut rest = place;
                let word = map.ins().iter().map(|dim| {
                    let digit = rest % dim.size();
                    rest /= dim.size();
                    format!("{} {digit}", dim.name())
                });
                word.collect::<Vec<_>>().join(", ")
            };
            let wanted = reached[index as usize].map_or("from nowhere".into(), words);
            assert!(cell.tip.ends_with(&format!("): {wanted}")), "{text}: {} {wanted}", cell.tip);
            assert_eq!(cell.link.is_some(), reached[index as usize].is_some());
        }
    }
}

#[test]
fn large_maps_are_drawn_as_small_ones_and_what_cannot_be_is_refused() {
    let map = LinearLayout::identity(1 << 40, "lane", "x").unwrap();
    let scene = distribution(&map, &Limits::default()).unwrap();
    well_formed(&scene);
    let last = scene.panels().flat_map(|panel| &panel.cells).last().unwrap();
    assert_eq!(last.text, format!("T{}", (1u64 << 40) - 1));
    let holes = LinearLayout::zeros(1 << 20, "lane", "x").unwrap();
    let holes = holes.product(&LinearLayout::parse("{lane=[2]} -> (x:4)").unwrap()).unwrap();
    assert!(distribution(&holes, &Limits::default()).unwrap_err().is_no_layout());
}

#[test]
fn cells_name_the_coordinates_they_are_sent_to() {
    for text in [
        "(4,8):(1@0,1@1)",
        "((2,2),3):((2@0,1@0),1@1)",
        "(4,8):(1@1@2,2@0)",
        "6:1@0",
        "(2,0):(1@0,1@1)",
        "(2,3,4):(1@2,1@0,1@1)",
    ] {
        let map = BasisLayout::parse(text).unwrap();
        let scene = coordinates(&map, &Limits::default()).unwrap();
        well_formed(&scene);
        let sent =
            |coord: &str| map.coord_at(&IntTuple::parse(coord).unwrap()).unwrap().to_string();
        for cell in scene.panels().flat_map(|panel| &panel.cells) {
            let (at, to) = cell.tip.split_once(" is sent to ").unwrap();
            let at =
                if map.shape().as_integer().is_some() { at.trim_matches(['(', ')']) } else { at };
            assert_eq!(to, sent(at), "{text}");
            assert!(to == cell.text || to == format!("({})", cell.text));
        }
    }
    let huge = BasisLayout::parse("(1048576,1048576):(1@0,1@1)").unwrap();
    let scene = coordinates(&huge, &Limits::default()).unwrap();
    assert!(scene.notes[0].contains("left out") && scene.to_svg().len() < 1_000_000);
}

/// Law: in a step through B, cells of the result have one colour iff they have one offset, as far as the scale has
/// enough positions.
#[test]
fn as_many_offsets_have_as_many_colours() {
    let parse = |text| Layout::parse(text).unwrap();
    for (a, b, count) in [
        ("(6,2):(8,2)", "(4,3):(3,1)", 12),
        ("(4,2):(1,4)", "(2,2):(2,4)", 4),
        ("(4,2):(0,4)", "(2,2):(1,4)", 2),
        ("(16,16):(16,1)", "(16,8):(1,16)", 128),
    ] {
        let (a, b) = (parse(a), parse(b));
        let result = a.composition(&b).unwrap();
        let limits = Limits { rows: 16, columns: 16, ..Limits::default() };
        let scene = step("∘", &a, &b, &result, Relation::Through, &limits).unwrap();
        let cells = &scene.bands[0].panels[2].cells;
        let mut colours: HashMap<&str, Paint> = HashMap::new();
        for cell in cells {
            assert_eq!(*colours.entry(&cell.text).or_insert(cell.paint), cell.paint);
        }
        let mut all: Vec<String> = colours.values().map(|paint| format!("{paint:?}")).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!((colours.len(), all.len()), (count, count), "{a} {b}");
        let scale = matches!(scene.legend[0].paints[0], Paint::Shade(_));
        assert_eq!(scene.legend[0].text.contains("darker to lighter"), scale);
        // A key shows every paint, or eight of a scale.
        assert_eq!(scene.legend[0].paints.len() as u64, result.size().min(8));
    }
}

/// The panels of all bands are aligned in the columns of one table, with equal space for the heads of their rows.
#[test]
fn panels_below_one_another_are_aligned_on_a_page() {
    let drawn = |dims: &[u64]| {
        let rows = TensorLayout::row_major(dims).unwrap();
        let columns = TensorLayout::col_major(dims).unwrap();
        conversion(&Subject::new(&rows), &Subject::new(&columns), &Limits::default()).unwrap()
    };
    // Memories that do not fit side by side are in bands of one panel, which are not aligned.
    let uneven = drawn(&[12, 2]);
    assert!(uneven.bands.iter().any(|band| band.panels.len() == 1));
    assert!(!uneven.to_html_part().contains("tw-bands tw-aligned"));
    let scene = drawn(&[4, 4]);
    assert!(scene.bands.len() > 1 && scene.bands.iter().all(|band| band.panels.len() == 2));
    let html = scene.to_html_part();
    assert!(html.contains("<div class=\"tw-bands tw-aligned\" style=\"--tw-n:3\">"));
    assert_eq!(html.matches("<div class=\"tw-joint\">").count(), scene.bands.len());
    let heads = |at: usize| {
        let tables = html.split("<table ").skip(1).skip(at).step_by(2);
        tables
            .map(|table| {
                table
                    .split("--tw-h:")
                    .nth(1)
                    .unwrap()
                    .split(';')
                    .next()
                    .unwrap()
                    .split('"')
                    .next()
                    .unwrap()
            })
            .collect::<Vec<_>>()
    };
    for at in [0, 1] {
        assert!(heads(at).windows(2).all(|pair| pair[0] == pair[1]), "{:?}", heads(at));
    }
}

/// Law: no line of text is longer than the width, unless the cells of a single panel are.
#[test]
fn text_fits_the_width_it_is_printed_in() {
    let limits = Limits { rows: 8, columns: 8, ..Limits::default() };
    let parse = |text| Layout::parse(text).unwrap();
    let (a, b) = (parse("(6,2):(8,2)"), parse("(4,3):(3,1)"));
    let result = a.composition(&b).unwrap();
    let swizzled = TensorLayout::of(&parse("Sw<3,3,3> o (8,64):(64,1)"));
    let tiles = TensorLayout::of(&parse("((4,2),(4,3)):((4,16),(1,32))"));
    let subject = Subject::new(&tiles);
    let long = Subject::new(&tiles).named("((2,2),(4,3)):".repeat(12));
    let access = Access { element_bytes: 2, vector: 8 };
    let scenes = [
        step("∘", &a, &b, &result, Relation::Through, &limits),
        banks(&Subject::new(&swizzled), &access, &limits),
        conversion(&subject, &subject, &limits),
        grid(&subject, &limits),
        conversion(&long, &subject, &limits),
        conversion(&long, &long, &limits),
        grid(&long, &limits),
    ];
    for scene in scenes.map(Result::unwrap) {
        for width in [80, 100, 120, 200] {
            let text = scene.to_terminal_within(false, width);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}: {text}");
        }
    }
}
