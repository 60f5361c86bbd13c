//! The printed forms have the contents of their scene, and nothing else: scenes of any texts, paints and joints are
//! read back from HTML, SVG, TikZ and terminal text by independent readers.

use std::collections::BTreeMap;

use proptest::prelude::*;
use roxmltree::{Document, Node};
use tilewright_core::{Fractal, Layout, TensorLayout};
use tilewright_draw::{
    Band, Cell, Joint, Key, Limits, Margin, Paint, Panel, Scene, Subject, grid, memory,
    palette::shade,
};

/// Texts of a line, with characters that are special in other languages.
fn text(most: usize) -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec!['a', '7', '<', '&', '"', '\'', 'é', '→', '(', ',', ' ']);
    prop::collection::vec(signs, 0..=most).prop_map(|signs| signs.into_iter().collect())
}

fn paint() -> impl Strategy<Value = Paint> {
    prop_oneof![
        Just(Paint::Plain),
        Just(Paint::Padding),
        Just(Paint::Gap),
        Just(Paint::Absent),
        (0u8..8, any::<bool>()).prop_map(|(hue, light)| Paint::Colour { hue, light }),
        any::<u8>().prop_map(Paint::Shade),
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    let link = prop::option::of(0u64..9);
    (text(5), text(3), any::<bool>(), paint(), text(9), link, any::<bool>()).prop_map(
        |(first, second, two, paint, tip, link, marked)| {
            let text = if two { format!("{first}x\ny{second}") } else { first };
            Cell { text, paint, tip, link, marked }
        },
    )
}

fn margin() -> impl Strategy<Value = Margin> {
    (text(3), text(2), 0u8..6).prop_map(|(head, tail, rule)| Margin { head, tail, rule })
}

fn panel() -> impl Strategy<Value = Panel> {
    let margins = |most| prop::collection::vec(margin(), 1..=most);
    (margins(4), margins(5), text(9), text(9), 0u8..4).prop_flat_map(
        |(rows, columns, caption, detail, frame)| {
            prop::collection::vec(cell(), rows.len() * columns.len()).prop_map(move |cells| {
                let (rows, columns) = (rows.clone(), columns.clone());
                let (caption, detail) = (caption.clone(), detail.clone());
                Panel { caption, detail, rows, columns, frame, cells }
            })
        },
    )
}

fn band() -> impl Strategy<Value = Band> {
    let joint = prop_oneof![Just(Joint::Gap), Just(Joint::Arrow), text(2).prop_map(Joint::Sign)];
    let joints = prop::collection::vec(joint, 2);
    (prop::collection::vec(panel(), 1..=3), joints).prop_map(|(panels, joints)| {
        let joints = joints.into_iter().take(panels.len() - 1).collect();
        Band { panels, joints }
    })
}

fn scene() -> impl Strategy<Value = Scene> {
    let paints = prop::collection::vec(paint(), 0..4);
    let keys = (paints, text(9)).prop_map(|(paints, text)| Key { paints, text });
    let bands = prop::collection::vec(band(), 1..=2);
    (
        text(12),
        text(12),
        bands,
        prop::collection::vec(keys, 0..3),
        prop::collection::vec(text(9), 0..2),
    )
        .prop_map(|(title, subtitle, bands, legend, notes)| Scene {
            title,
            subtitle,
            bands,
            legend,
            notes,
        })
}

/// Returns the texts below a node, line by line.
fn said(node: &Node<'_, '_>) -> String {
    let of = |part: Node<'_, '_>| match part.tag_name().name() {
        "br" => "\n".to_owned(),
        _ => part.text().unwrap_or_default().to_owned(),
    };
    node.children().map(of).collect()
}

fn named<'a, 'd>(node: &Node<'a, 'd>, name: &'static str) -> Vec<Node<'a, 'd>> {
    node.descendants().filter(|part| part.has_tag_name(name)).collect()
}

/// Checks that a table equals the panel: its margins, and the text, tip, link and paint of each cell.
fn same_table(table: &Node<'_, '_>, panel: &Panel) {
    let heads = |row: &Node<'_, '_>| named(row, "th").iter().map(said).collect::<Vec<_>>();
    let above: Vec<&str> = panel.columns.iter().map(|column| column.head.as_str()).collect();
    assert_eq!(heads(&named(table, "thead")[0]), above);
    let rows = named(&named(table, "tbody")[0], "tr");
    assert_eq!(rows.len(), panel.rows.len());
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(heads(row)[0], panel.rows[at].head);
        if panel.rows.iter().any(|row| !row.tail.is_empty()) {
            assert_eq!(heads(row)[1], panel.rows[at].tail);
        }
        let cells = named(row, "td");
        assert_eq!(cells.len(), panel.columns.len());
        for (column, cell) in cells.iter().enumerate() {
            let drawn = panel.cell(at, column).unwrap();
            assert_eq!(said(cell), drawn.text);
            assert_eq!(cell.attribute("aria-label").unwrap_or_default(), drawn.tip);
            assert_eq!(
                cell.attribute("data-k"),
                drawn.link.map(|link| link.to_string()).as_deref()
            );
            let classes: Vec<&str> = cell.attribute("class").unwrap().split(' ').collect();
            assert_eq!(classes.contains(&"tw-mark"), drawn.marked);
            assert_eq!(classes.contains(&"tw-pad"), drawn.paint == Paint::Padding);
            let coloured = matches!(drawn.paint, Paint::Colour { .. });
            assert_eq!(classes.iter().any(|class| class.starts_with("tw-c")), coloured);
        }
    }
}

/// Returns the HTML of a scene without its script, as XML.
fn html(scene: &Scene) -> String {
    let part = scene.to_html_part();
    part.split("<script>").next().unwrap().replace("<br>", "<br/>") + "</section>"
}

/// Returns a rectangle of an SVG, in tenths of a pixel.
fn rectangle(node: &Node<'_, '_>) -> [i64; 4] {
    ["x", "y", "width", "height"].map(|name| {
        let pixels = node.attribute(name).map_or(0.0, |text| text.parse::<f64>().unwrap());
        (pixels * 10.0).round() as i64
    })
}

/// Returns the filled rectangles of a picture with their colours, except the paper.
fn fills(svg: &str) -> Vec<(String, [i64; 4])> {
    let document = Document::parse(svg).unwrap();
    let filled = |node: &Node<'_, '_>| node.attribute("fill").is_some_and(|fill| fill != "none");
    let rectangles = named(&document.root_element(), "rect").into_iter().filter(filled).skip(1);
    rectangles.map(|node| (node.attribute("fill").unwrap().to_owned(), rectangle(&node))).collect()
}

fn overlap(a: &[i64; 4], b: &[i64; 4]) -> bool {
    let along = |axis: usize| a[axis] < b[axis] + b[axis + 2] && b[axis] < a[axis] + a[axis + 2];
    along(0) && along(1)
}

/// Returns the positions of texts in an SVG.
fn svg_places(svg: &str) -> Vec<[String; 2]> {
    let document = Document::parse(svg).unwrap();
    let texts = named(&document.root_element(), "text").into_iter();
    let mut places: Vec<[String; 2]> = texts
        .flat_map(|node| {
            let spans = named(&node, "tspan");
            let spans = if spans.is_empty() { vec![node] } else { spans };
            spans
                .into_iter()
                .map(|span| ["x", "y"].map(|name| span.attribute(name).unwrap().to_owned()))
        })
        .collect();
    places.sort();
    places
}

/// Returns the positions of texts in a `tikzpicture`.
fn tikz_places(tikz: &str) -> Vec<[String; 2]> {
    let nodes = tikz.lines().filter(|line| line.starts_with("\\node"));
    let mut places: Vec<[String; 2]> = nodes
        .map(|line| {
            let (x, rest) = line.split_once(" at (").unwrap().1.split_once(',').unwrap();
            [x.to_owned(), rest.split_once(')').unwrap().0.to_owned()]
        })
        .collect();
    places.sort();
    places
}

/// Returns whether a line contains these words, in this order.
fn in_order(line: &str, words: &[&str]) -> bool {
    let behind = |rest: &mut &str, word: &&str| {
        let (_, tail) = rest.split_once(word)?;
        *rest = tail;
        Some(())
    };
    let mut rest = line;
    words.iter().all(|word| behind(&mut rest, word).is_some())
}

/// Returns a line of a terminal without its colours.
fn colourless(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn tables_say_their_panels(scene in scene()) {
        let html = html(&scene);
        let document = Document::parse(&html).unwrap_or_else(|error| panic!("{error}: {html}"));
        let tables = named(&document.root_element(), "table");
        prop_assert_eq!(tables.len(), scene.panels().count());
        for (table, panel) in tables.iter().zip(scene.panels()) {
            same_table(table, panel);
        }
    }

    #[test]
    fn svg_and_tikz_put_the_same_texts_at_the_same_places(scene in scene()) {
        prop_assert_eq!(svg_places(&scene.to_svg()), tikz_places(&scene.to_tikz()));
    }

    #[test]
    fn rows_of_a_terminal_say_their_cells_in_order(panel in panel()) {
        let lines: Vec<String> = {
            let bands = vec![Band { panels: vec![panel.clone()], joints: Vec::new() }];
            let text = Scene { bands, ..Scene::default() }.to_terminal(false);
            text.lines().map(String::from).collect()
        };
        let mut from = 0;
        for row in 0..panel.rows.len() {
            let drawn = |cell: &&Cell| !matches!(cell.paint, Paint::Absent | Paint::Gap);
            let cells = (0..panel.columns.len()).filter_map(|column| panel.cell(row, column));
            let words: Vec<String> =
                cells.filter(drawn).map(|cell| cell.text.replace('\n', " ")).collect();
            let words: Vec<&str> = words.iter().flat_map(|text| text.split_whitespace()).collect();
            // Some line from here on contains all of them, in order.
            let found = lines[from..].iter().position(|line| in_order(line, &words));
            prop_assert!(found.is_some(), "{words:?} of row {row} in {lines:#?}");
            from += found.unwrap_or(0);
        }
    }

    #[test]
    fn svg_says_every_caption_and_margin(panel in panel()) {
        let bands = vec![Band { panels: vec![panel.clone()], joints: Vec::new() }];
        let svg = Scene { bands, ..Scene::default() }.to_svg();
        let document = Document::parse(&svg).unwrap();
        let said: String = named(&document.root_element(), "text")
            .iter()
            .flat_map(|node| node.descendants().filter_map(|part| part.text()))
            .flat_map(|text| text.chars().filter(|c| !c.is_whitespace()).chain(['\n']))
            .collect();
        let margins = panel.rows.iter().chain(&panel.columns);
        let texts = margins.flat_map(|margin| [&margin.head, &margin.tail]).chain([&panel.caption]);
        for text in texts {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert!(said.contains(&text), "{text:?} in {said:?}");
        }
    }

    #[test]
    fn groups_of_tex_are_closed(scene in scene()) {
        let mut depth = 0i32;
        let mut escaped = false;
        for c in scene.to_tikz().chars() {
            match c {
                '{' if !escaped => depth += 1,
                '}' if !escaped => depth -= 1,
                _ => {}
            }
            prop_assert!(depth >= 0);
            escaped = c == '\\' && !escaped;
        }
        prop_assert_eq!(depth, 0);
    }

    #[test]
    fn colours_change_no_text_of_a_terminal(scene in scene()) {
        // The legend of colours is printed only with colours.
        let scene = Scene { legend: Vec::new(), ..scene };
        let coloured = colourless(&scene.to_terminal(true));
        let trimmed: Vec<&str> = coloured.lines().map(str::trim_end).collect();
        let plain = scene.to_terminal(false);
        let plain: Vec<&str> = plain.lines().map(str::trim_end).collect();
        prop_assert_eq!(trimmed, plain);
    }

    #[test]
    fn colours_cover_their_cells_and_nothing_twice(panel in panel()) {
        let painted = |cell: &&Cell| {
            matches!(cell.paint, Paint::Colour { .. } | Paint::Shade(_) | Paint::Padding)
        };
        let count = panel.cells.iter().filter(painted).count();
        let kinds: BTreeMap<String, usize> = panel.cells.iter().filter(painted).fold(
            BTreeMap::new(),
            |mut kinds, cell| {
                // Adjacent positions of the scale may have one colour.
                let colour = match cell.paint {
                    Paint::Shade(place) => shade(place).hex(),
                    paint => format!("{paint:?}"),
                };
                *kinds.entry(colour).or_default() += 1;
                kinds
            },
        );
        let bands = vec![Band { panels: vec![panel], joints: Vec::new() }];
        let fills = fills(&Scene { bands, ..Scene::default() }.to_svg());
        for (at, (_, one)) in fills.iter().enumerate() {
            prop_assert!(fills[..at].iter().all(|(_, other)| !overlap(one, other)), "{fills:?}");
        }
        let mut areas: BTreeMap<&str, i64> = BTreeMap::new();
        for (colour, [_, _, width, height]) in &fills {
            *areas.entry(colour).or_default() += width * height;
        }
        // Cells have one size: the area of each colour is proportional to the number of its cells.
        let whole: i64 = areas.values().sum();
        let share = |area: &i64| area * count as i64 / whole;
        let mut shares: Vec<i64> = areas.values().map(share).collect();
        let mut counts: Vec<i64> = kinds.values().map(|&count| count as i64).collect();
        shares.sort_unstable();
        counts.sort_unstable();
        prop_assert_eq!(shares, counts);
    }
}

/// Pictures of every size keep to their limits, and report what they leave out.
#[test]
fn pictures_keep_to_their_limits() {
    let tiles = Layout::parse("((4,25),(8,16)):((8,3200),(1,32))").unwrap();
    let zn = Fractal::ZN.pattern(16, 16).layout(&[90, 130]).unwrap();
    for array in [TensorLayout::of(&tiles), zn, TensorLayout::row_major(&[3, 200, 50]).unwrap()] {
        for rows in [1, 2, 3, 7, 40, 1000] {
            for cells in [1, 5, 64, 2000] {
                let limits = Limits { rows, columns: 12, panels: 2, cells };
                let subject = Subject::new(&array);
                let scenes = [grid(&subject, &limits), memory(&subject, &limits)];
                for scene in scenes.into_iter().map(|scene| scene.unwrap()) {
                    let drawn = |cell: &&Cell| !matches!(cell.paint, Paint::Absent | Paint::Gap);
                    let shown = scene.panels().flat_map(|panel| &panel.cells).filter(drawn).count();
                    assert!(shown as u64 <= cells.max(1), "{limits:?}: {shown}");
                    assert!(!scene.notes.is_empty(), "{limits:?}");
                }
            }
        }
    }
}

/// An empty scene is printed as an empty but complete document, in every language.
#[test]
fn empty_scenes_are_documents() {
    let empty = Panel::default();
    let band = |panels: Vec<Panel>| Band { panels, joints: Vec::new() };
    for bands in [vec![], vec![band(vec![])], vec![band(vec![empty.clone()]), band(vec![empty])]] {
        let scene = Scene { bands, ..Scene::default() };
        assert!(Document::parse(&scene.to_svg()).is_ok() && Document::parse(&html(&scene)).is_ok());
        assert!(fills(&scene.to_svg()).is_empty() && svg_places(&scene.to_svg()).is_empty());
        assert!(tikz_places(&scene.to_tikz()).is_empty());
        assert!(scene.to_terminal(false).trim().is_empty(), "{}", scene.to_terminal(false));
    }
}
