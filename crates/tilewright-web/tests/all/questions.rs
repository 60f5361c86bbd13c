//! Every question gets an answer: that of the library, or a refusal that names the field.

use proptest::prelude::*;
use serde_json::{Value, json};
use tilewright::{
    Explanation, Spec,
    notation::catalogue,
    relayout::{Elements, Plan},
};
use tilewright_web::{View, ask};

fn answer(question: Value) -> Value {
    serde_json::from_str(&ask(&question.to_string())).unwrap()
}

#[test]
fn every_format_of_the_catalogue_opens() {
    for format in catalogue().step_by(tilewright_testing::cases(1, 3)) {
        let facts = answer(json!({ "ask": "view", "spec": format.example }));
        assert!(facts["error"].is_null(), "{}: {facts}", format.name);
        assert!(View::open(format.example, "", "").is_some());
        let names = answer(json!({ "ask": "recognise", "spec": format.example }));
        assert!(names["formats"].is_array());
    }
}

#[test]
fn a_view_says_what_the_library_explains() {
    for text in ["f32[3,5]{1,0:T(2,2)}", "bf16[300]{0:T(8,128)}", "((4,2),(4,3)):((4,16),(1,32))"] {
        let facts = answer(json!({ "ask": "view", "spec": text }));
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        let explained = Explanation::of(&named).to_string();
        for line in facts["lines"].as_array().unwrap() {
            let [title, words] = [&line[0], &line[1]].map(|text| text.as_str().unwrap());
            assert!(explained.contains(&format!("  {title:<16} {words}\n")), "{title}");
        }
        for (name, said) in facts["notations"].as_object().unwrap() {
            let words = said["text"].as_str().or(said["refused"].as_str()).unwrap();
            assert!(explained.contains(words), "{name}");
        }
    }
}

#[test]
fn windows_agree_with_the_layout_cell_by_cell() {
    for text in
        ["f32[3,5]{1,0:T(2,2)}", "[7,12] (m1 m0:4) (n1 n0:5) -> n1 m1 m0 n0", "(5,6):(-1,5)"]
    {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        let (layout, view) = (named.layout(), View::open(text, "", "").unwrap());
        let [rows, columns] = [0, 1].map(|dim| layout.extents()[dim]);
        let whole = view.grid(&[], 0.0, 0.0, rows as u32, columns as u32);
        for ((coord, offset), shown) in layout.in_order().zip(&whole) {
            assert_eq!(offset as f64, *shown, "{text} {coord}");
        }
        for cell in layout.in_memory() {
            let (offset, coord) = cell.unwrap();
            let shown = view.memory(offset as f64, 1);
            assert_eq!(shown[0] == 1.0, coord.is_some());
            if let Some(coord) = coord {
                assert!(coord.as_slice().iter().zip(&shown[1..]).all(|(&x, &y)| x as f64 == y));
            }
        }
    }
}

#[test]
fn an_array_in_shards_is_drawn_and_explained() {
    let text = "bf16[96,64] @ mesh(dp=2,tp=4) [Replicate(), Shard(0)]";
    let held = answer(json!({ "ask": "spread", "spec": text }));
    assert_eq!((&held["title"], &held["map"]), (&json!("Who holds each element"), &json!(text)));
    assert!(held["svg"].as_str().unwrap().contains("hold the same: 0,4; 1,5; 2,6; 3,7"));
    let copies = json!(["copies", "each element on 2 devices: replicated along dp"]);
    assert!(held["lines"].as_array().unwrap().contains(&copies), "{held}");
    // It is not a layout, but an error in its text is reported first.
    let span = |spec: &str| answer(json!({ "ask": "view", "spec": spec }))["error"]["span"].clone();
    assert_eq!(span(text), json!([0, text.len()]));
    assert_eq!(span("f32[8] @ mesh(2) [Shord(0)]"), json!([18, 23]));
    let wrong = answer(json!({ "ask": "spread", "spec": "f32[8] @ mesh(2) [Shord(0)]" }));
    assert_eq!(
        (&wrong["error"]["field"], &wrong["error"]["kind"]),
        (&json!("spec"), &json!("parse"))
    );
}

#[test]
fn pictures_are_files_to_keep() {
    let svg = |question| answer(question).as_str().unwrap().to_owned();
    let tiled = "f32[3,5]{1,0:T(2,2)}";
    for kind in ["grid", "memory"] {
        let picture = svg(json!({ "ask": "picture", "kind": kind, "spec": tiled }));
        assert!(picture.starts_with("<svg") && picture.contains(">20</text>"), "{kind}");
    }
    let two = json!({ "ask": "picture", "kind": "conversion", "a": "f32[3,5]{1,0}", "b": tiled });
    assert!(svg(two).contains("</svg>"));
    let of = |text| answer(json!({ "ask": "picture", "kind": "expression", "text": text }));
    assert!(of("make_layout_tv((4,8):(8,1), (1,2):(2,1))").as_str().unwrap().contains("</svg>"));
    assert!(of("coalesce((2,2):(1,2))").is_null());
    assert_eq!(of("(2,2):(1")["error"]["field"], "text");
}

#[test]
fn banks_and_plans_are_told() {
    let swizzled =
        json!({ "ask": "banks", "spec": "Sw<3,3,3> o (8,64):(64,1)", "dtype": "f16", "vector": 8 });
    let banks = answer(swizzled);
    assert!(banks["notes"][0].as_str().unwrap().ends_with("conflicts 8 → 1"), "{banks}");
    assert!(banks["svg"].as_str().unwrap().starts_with("<svg") && banks["assumed"] == false);
    let error = |question| answer(question)["error"]["field"].clone();
    assert_eq!(error(json!({ "ask": "banks", "spec": "(8,8,8):(64,8,1)", "vector": 1 })), "vector");
    assert_eq!(
        error(json!({ "ask": "banks", "spec": "s4[8,64]{1,0:E(4)}", "vector": 1 })),
        "dtype"
    );

    let both = json!({ "ask": "plan", "a": "f16[32,48] row-major", "b": "zN" });
    let plan = answer(both);
    let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    let (a, b) = (named("f16[32,48] row-major"), named("f16[32,48] zN"));
    let own = Plan::new(a.layout(), b.layout(), Elements::same(16), 0).unwrap();
    assert_eq!((&plan["text"], &plan["bits"]), (&json!(own.to_string()), &json!(16)));
    let twice = json!({ "ask": "plan", "a": "row-major", "b": "(2,2):(0,1)", "dims": "2,2" });
    assert_eq!(error(twice), "b");
}

#[test]
fn who_holds_what_is_drawn() {
    let text =
        "#ttg.blocked<{sizePerThread=[1,2], threadsPerWarp=[8,4], warpsPerCTA=[1,1], order=[1,0]}>";
    let spread = answer(json!({ "ask": "spread", "spec": text, "dims": "8,8" }));
    assert!(spread["svg"].as_str().unwrap().contains(">T31</text>"), "{spread}");
    // The title of the picture is the typed text.
    assert!(spread["svg"].as_str().unwrap().contains("<title>#ttg.blocked"), "{spread}");
    let lines = [("register", "2"), ("lane", "32"), ("warp", "1"), ("block", "1")];
    let said = spread["lines"].as_array().unwrap();
    assert!(lines.iter().zip(said).all(|((name, size), line)| *line == json!([name, size])));
    assert!(said.contains(&json!(["held", "each element once"])), "{spread}");
    assert!(answer(json!({ "ask": "spread", "spec": "(2,3):(1,2)" })).is_null());
    for text in ["make_identity_layout((2,3))", "(2,3):(1@0,1@1)", "eval: {lane=[1,2]} -> (row:4)"]
    {
        let sent = answer(json!({ "ask": "spread", "spec": text }));
        assert_eq!(sent["title"], "Where each cell is sent", "{sent}");
        assert!(sent["svg"].as_str().unwrap().starts_with("<svg"));
    }
    let basis =
        json!({ "ask": "picture", "kind": "expression", "text": "make_identity_layout((2,3))" });
    assert!(answer(basis).as_str().unwrap().contains(">1,2</text>"));
}

#[test]
fn refusals_name_the_field_and_the_bytes() {
    let error = |question| answer(question)["error"].clone();
    let found = error(json!({ "ask": "view", "spec": "row-mayor" }));
    assert_eq!((&found["field"], &found["span"]), (&json!("spec"), &json!([0, 9])));
    let found = error(json!({ "ask": "view", "spec": "zN", "dims": "8,x" }));
    assert_eq!((&found["field"], &found["kind"]), (&json!("dims"), &json!("usage")));
    let found = error(json!({ "ask": "view", "spec": "zN", "dims": "8,8", "dtype": "f17" }));
    assert_eq!(found["field"], "dtype");
    let found = error(json!({ "ask": "convert", "a": "(2,3):(3,1)", "b": "(2,x):(1,2)" }));
    assert_eq!((&found["field"], &found["span"]), (&json!("b"), &json!([3, 4])));
    let found = error(json!({ "ask": "convert", "a": "(2,3):(3,1)", "b": "(3,2):(1,3)" }));
    assert_eq!(found["field"], "b");
    assert_eq!(error(json!({ "ask": "sing" }))["field"], "ask");
}

/// Answers that every language gives, recorded in one file; the page gives the same.
#[test]
fn the_recorded_questions_have_their_recorded_answers() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/answers.jsonl");
    let lines = std::fs::read_to_string(file).unwrap();
    // The page's own tests ask every line. This test asks a part of them, which shortens the way to a fault.
    for line in lines.lines().step_by(23) {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let mut said = answer(recorded.clone());
        if let Some(error) = said.get_mut("error") {
            error.as_object_mut().unwrap().retain(|name, _| name == "kind" || name == "span");
        }
        assert_eq!(said, recorded["answer"], "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tilewright_testing::cases(256, 64) as u32))]
    #[test]
    fn no_text_is_too_strange(question in ".{0,60}", spec in "[(){}0-9,:a-zA-Z <>_*-]{0,40}") {
        let _: Value = serde_json::from_str(&ask(&question)).unwrap();
        for kind in ["view", "eval", "offset", "coord", "translate", "recognise", "distribution", "banks", "spread", "plan"] {
            answer(json!({ "ask": kind, "spec": spec, "text": spec, "to": spec, "coord": spec, "a": spec, "b": spec, "vector": 4 }));
        }
        let step = json!({ "ask": "step", "op": "logical_divide", "a": spec, "b": spec });
        prop_assert!(answer(step).is_object());
        if let Some(view) = View::open(&spec, "", "") {
            view.grid(&[f64::NAN, -1.0], f64::INFINITY, 1e300, 2, 2);
            view.memory(-1e300, 3);
        }
    }
}
