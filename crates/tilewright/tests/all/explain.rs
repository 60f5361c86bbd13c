//! The explanation of a layout does not depend on how the layout was written.

use std::{fs, path::PathBuf};

use serde_json::Value;
use tilewright::{
    Explanation, ResolvedLayout, Spec,
    ask::{Advice, Answer as _},
    notation::notations,
    xla::Layout,
};

/// Returns the layouts of the recorded questions, each once; of arrays with index tables, none.
fn layouts() -> Vec<ResolvedLayout> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/answers.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let parse = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let spec = line["answer"]["spec"].as_str().filter(|_| line["ask"] == "parse")?;
        let array = Spec::parse(spec).unwrap().array_layout(None, None, &()).unwrap();
        (!array.has_tables()).then(|| array.stored().clone())
    };
    text.lines().filter_map(parse).collect()
}

/// Returns the explanation of a layout without its name.
fn meaning(named: &ResolvedLayout) -> Value {
    let mut meaning = Explanation::of(named).to_json();
    meaning["layout"] = Value::Null;
    meaning
}

/// Law: layouts that are equal, with equal elements, have equal explanations except for the name.
#[test]
fn equal_layouts_have_equal_explanations() {
    let (mut compared, mut advised) = (0, 0);
    let layouts = layouts();
    let count = tilewright_testing::cases(layouts.len() / 3, layouts.len() / 120);
    for named in layouts.iter().step_by(layouts.len() / count) {
        let facts = |named: &ResolvedLayout| (named.dtype(), named.element_bits(), named.fill());
        let texts = notations().iter().filter_map(|notation| {
            Some(format!("{}:{}", notation.name(), notation.print(named).ok()?))
        });
        let mut own = None;
        for text in texts {
            let dims = Some(named.layout().extents());
            let Ok(other) = Spec::parse(&text).and_then(|spec| spec.resolve(dims, named.dtype()))
            else {
                continue;
            };
            if other.layout() != named.layout() || facts(&other) != facts(named) {
                continue;
            }
            let own = own.get_or_insert_with(|| meaning(named));
            assert_eq!(meaning(&other), *own, "{text} and {}", named.to_spec());
            compared += 1;
            advised += usize::from(!own["why_padded"].is_null());
        }
    }
    assert!(
        compared > count && advised > count / 10,
        "{compared} compared, {advised} with padding"
    );
}

/// Dims and tiles of XLA whose tiles are all visible in the layout, since none is as large as its dim.
fn tiled() -> impl Iterator<Item = (Vec<u64>, [u64; 2])> {
    let dims = (0..7u64.pow(3)).map(|i| vec![1 + i % 7, 1 + i / 7 % 7, 1 + i / 49]);
    let tiles = (0..9).map(|i| [2 + i % 3, 2 + i / 3]);
    dims.flat_map(move |dims| tiles.clone().map(move |tiles| (dims.clone(), tiles)))
        .filter(|(dims, tiles)| dims[1] != tiles[0] && dims[2] != tiles[1])
}

/// Law: the better layout has the capacity of the best order of the dims under XLA's tiles, which XLA's own model finds.
#[test]
fn the_better_layout_is_the_best_order_of_the_dims() {
    let mut better = 0;
    for (dims, [a, b]) in tiled() {
        let text = format!("{{2,1,0:T({a},{b})}}");
        let named = Spec::parse(&text).unwrap().resolve(Some(&dims), None).unwrap();
        let least = Layout::parse(&text).unwrap().least_padding(&dims).unwrap().padded_elements;
        let said = match Advice::of(named.layout()) {
            None => named.layout().capacity(),
            Some(advice) => match advice.better.unwrap() {
                None => named.layout().capacity(),
                Some(layout) => {
                    assert_eq!(layout.extents(), dims, "{text}");
                    assert_eq!(layout.injective(), Ok(true));
                    better += 1;
                    layout.capacity()
                }
            },
        };
        assert_eq!(said, least, "{text} {dims:?}");
    }
    assert!(better > 500, "{better}");
}

/// Law: if the axes are separate, the factors of the causes multiply to the factor of the storage.
#[test]
fn causes_account_for_the_whole_storage() {
    let mut padded = 0;
    for named in layouts() {
        let Some(advice) = Advice::of(named.layout()) else { continue };
        if !named.layout().is_strided() || named.layout().injective() != Ok(true) {
            continue;
        }
        let factor = |(of, by): (u128, u128), cause: &tilewright::ask::Cause| {
            (of * u128::from(cause.extent), by * u128::from(cause.padded))
        };
        let (of, by) = advice.causes.iter().fold((1, 1), factor);
        let (size, capacity) = (u128::from(advice.size), u128::from(advice.capacity));
        assert_eq!(capacity * of, size * by, "{}", named.to_spec());
        assert!(!advice.causes.is_empty());
        padded += 1;
    }
    assert!(padded > 100, "{padded}");
}

#[test]
fn storage_before_offset_0_and_shared_places_are_told() {
    let of = |text: &str| Explanation::of(&Spec::parse(text).unwrap().resolve(None, None).unwrap());
    let line = |of: &Explanation, title: &str| {
        let found = of.lines().into_iter().find(|(own, _)| own == title);
        found.map(|(_, text)| text).unwrap_or_default()
    };
    let below = of("(8,4):(-4,1)");
    assert_eq!((below.capacity, below.below, below.padding), (4, 28, 0));
    assert_eq!(line(&below, "capacity"), "4 elements from offset 0 on, and 28 before it");
    assert_eq!(line(&of("(8,4):(-5,1)"), "padding"), "7 elements (17.9 % of the storage)");
    let shared = of("S[(8,4):(4,4)]");
    assert_eq!(line(&shared, "padding"), "at least 9 elements (22.0 % of the storage)");
    assert!(shared.advice.is_none());
    assert_eq!(line(&of("(2,2):(0,1)+3"), "padding"), "3 elements (60.0 % of the storage)");
}
