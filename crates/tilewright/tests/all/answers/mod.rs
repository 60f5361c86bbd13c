//! `corpus/answers.jsonl`: one question on each line, with its answer. Rust, Python and the page's WebAssembly get the same
//! questions and give the same answers.
//!
//! `questions.rs` makes the questions from the recorded vectors and the headers of the notations.
//! `TILEWRIGHT_RECORD=1 cargo test -p tilewright --test all answers::` records the file again.

mod questions;

use std::{collections::BTreeMap, fs, path::PathBuf, sync::LazyLock};

use serde_json::{Value, json};
use tilewright::{
    Error,
    ask::Question,
    relayout::{Elements, Plan, Program},
};

/// The kinds of questions, in the order of the file.
const KINDS: &[&str] = &[
    "eval",
    "parse",
    "translate",
    "explain",
    "recognise",
    "offset",
    "coord",
    "same",
    "distribution",
    "shards",
    "bank_conflicts",
    "infer",
    "relayout",
];

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/answers.jsonl")
}

/// Returns the lines of the file, as text and parsed; records the file first if requested.
fn lines() -> &'static [(String, Value)] {
    static LINES: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
        if std::env::var_os("TILEWRIGHT_RECORD").is_some() {
            let lines = questions::all().into_iter().map(|one| format!("{}\n", answered(one)));
            fs::write(file(), lines.collect::<String>()).unwrap();
        }
        let text = fs::read_to_string(file()).unwrap();
        text.lines().map(|line| (line.to_owned(), serde_json::from_str(line).unwrap())).collect()
    });
    &LINES
}

/// Iterates over the parsed lines.
fn read() -> impl Iterator<Item = &'static Value> {
    lines().iter().map(|(_, line)| line)
}

/// Returns the question with its answer as its last member.
fn answered(mut question: Value) -> Value {
    question["answer"] = answer(&question);
    question
}

/// Returns the answer, or the error without its message, which may change.
fn answer(question: &Value) -> Value {
    let asked = |question: &Value| -> Result<Value, Error> {
        let asked = Question::from_json(question)?.expect("a question of the library");
        Ok(asked.answer()?.to_json())
    };
    asked(question).unwrap_or_else(|error| {
        let (kind, span) = (error.kind(), error.span());
        json!({ "error": { "kind": kind, "span": span } })
    })
}

/// The recorded bytes were moved one element at a time; a plan moves them by its kernels.
#[test]
fn a_plan_moves_the_recorded_bytes() {
    let mut moved = 0;
    for line in read().filter(|line| line["ask"] == "relayout") {
        let Ok(Some(Question::Relayout { from, to, bits })) = Question::from_json(line) else {
            continue;
        };
        let elements = Elements::same(bits);
        let Ok(plan) = Program::of_arrays(from.layout(), to.layout(), elements, 0).map(Plan::of)
        else {
            continue;
        };
        let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (7 * i + 1) as u8).collect();
        let mut out = vec![0; plan.dst_bytes() as usize];
        plan.run(&source, &mut out, 1).unwrap();
        let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(line["answer"]["bytes"], hex, "{line}");
        moved += 1;
    }
    assert!(moved >= 10, "{moved}");
}

#[test]
fn every_question_has_its_recorded_answer() {
    let wrong: Vec<String> = lines()
        .iter()
        .filter_map(|(text, line)| {
            let mut question = line.clone();
            question.as_object_mut().unwrap().remove("answer");
            // Compares texts, since numbers with a point are read inexactly.
            let now = answered(question).to_string();
            (now != *text).then(|| format!("{text}\n  now {now}"))
        })
        .collect();
    let some = wrong[..wrong.len().min(5)].join("\n");
    assert!(wrong.is_empty(), "{} answers changed, among them:\n{some}", wrong.len());
}

#[test]
fn every_kind_of_question_is_there_with_answers_and_errors() {
    let (mut good, mut bad) = (BTreeMap::new(), BTreeMap::new());
    for line in read() {
        let errs = line["answer"].get("error").is_some();
        let counts: &mut BTreeMap<String, usize> = if errs { &mut bad } else { &mut good };
        *counts.entry(line["ask"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for kind in KINDS {
        assert!(good.get(*kind).is_some_and(|count| *count >= 5), "{kind}: {good:?}");
        // Buffers are never refused: if no layout fits, that is the answer.
        let least = if *kind == "infer" { 0 } else { 1 };
        assert!(bad.get(*kind).copied().unwrap_or(0) >= least, "{kind}: {bad:?}");
    }
}

#[test]
fn every_notation_and_every_function_is_asked_about() {
    for notation in tilewright::notation::notations() {
        let to = |line: &&Value| line["ask"] == "translate" && line["to"] == notation.name();
        let said = read()
            .filter(|line| to(line))
            .filter(|line| line["answer"].get("error").is_none())
            .count();
        assert!(said >= 2, "{} is printed {said} times", notation.name());
    }
    for function in tilewright::eval::functions() {
        let call = format!("{}(", function.name());
        let calls = |line: &Value| line["text"].as_str().is_some_and(|text| text.contains(&call));
        let answered = |line: &&Value| calls(line) && line["answer"].get("error").is_none();
        assert!(read().any(|line| answered(&line)), "{} is never answered", function.name());
    }
}
