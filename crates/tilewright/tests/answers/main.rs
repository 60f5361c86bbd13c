//! `corpus/answers.jsonl`: one question a line with its answer. Rust, Python and the page's WebAssembly are
//! asked the same and answer the same.
//!
//! `questions.rs` gathers the questions, from the recorded vectors and the headers of the notations; `ask.rs`
//! answers one. `TILEWRIGHT_RECORD=1 cargo test -p tilewright --test answers` writes the file anew.

mod ask;
mod questions;

use std::{collections::BTreeMap, fs, path::PathBuf, sync::LazyLock};

use serde_json::Value;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/answers.jsonl")
}

/// The lines of the file; written anew first where that is asked for.
fn lines() -> &'static [Value] {
    static LINES: LazyLock<Vec<Value>> = LazyLock::new(|| {
        if std::env::var_os("TILEWRIGHT_RECORD").is_some() {
            let lines = questions::all().into_iter().map(|one| format!("{}\n", answered(one)));
            fs::write(file(), lines.collect::<String>()).unwrap();
        }
        let text = fs::read_to_string(file()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    });
    &LINES
}

/// The question with its answer as its last member.
fn answered(mut question: Value) -> Value {
    let answer = ask::ask(&question);
    question["answer"] = answer;
    question
}

#[test]
fn every_question_has_its_recorded_answer() {
    let wrong: Vec<String> = lines()
        .iter()
        .filter_map(|line| {
            let mut question = line.clone();
            question.as_object_mut().unwrap().remove("answer");
            let now = answered(question);
            (now != *line).then(|| format!("{line}\n  now {}", now["answer"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{} answers changed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_kind_of_question_is_there_with_answers_and_errors() {
    let (mut good, mut bad) = (BTreeMap::new(), BTreeMap::new());
    for line in lines() {
        let errs = line["answer"].get("error").is_some();
        let counts: &mut BTreeMap<String, usize> = if errs { &mut bad } else { &mut good };
        *counts.entry(line["ask"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for kind in ask::KINDS {
        assert!(good.get(*kind).is_some_and(|count| *count >= 5), "{kind}: {good:?}");
        assert!(bad.get(*kind).is_some_and(|count| *count >= 1), "{kind}: {bad:?}");
    }
}

#[test]
fn every_notation_and_every_function_is_asked_about() {
    let lines = lines();
    for notation in tilewright::notation::notations() {
        let to = |line: &&Value| line["ask"] == "translate" && line["to"] == notation.name();
        let said = lines.iter().filter(to).filter(|line| line["answer"].is_string()).count();
        assert!(said >= 2, "{} is printed {said} times", notation.name());
    }
    for function in tilewright::eval::functions() {
        let call = format!("{}(", function.name());
        let calls = |line: &Value| line["text"].as_str().is_some_and(|text| text.contains(&call));
        let answered = |line: &&Value| calls(line) && line["answer"].is_string();
        assert!(lines.iter().any(|line| answered(&line)), "{} is never answered", function.name());
    }
}
