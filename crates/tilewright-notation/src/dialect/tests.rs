//! Tests of every dialect: the examples in its header are true, and what it prints reads back.

use std::{fs, path::PathBuf};

use super::*;
use crate::{Named, Spec};

/// One line of a header's table: a text, the array it is resolved for, and the layout it gives, or
/// words of the error.
struct Example {
    text: String,
    array: String,
    layout: String,
}

/// The examples in the header of a dialect's file.
fn examples(dialect: &str) -> Vec<Example> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/dialect");
    let folders = ["", "arrays", "compilers", "patterns"];
    let mut paths = folders.iter().map(|name| folder.join(name).join(format!("{dialect}.rs")));
    let path = paths.find(|path| path.exists());
    let path = path.unwrap_or_else(|| panic!("no file for `{dialect}`"));
    let file = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let header = file.lines().map_while(|line| line.strip_prefix("//!"));
    header
        .filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'))
        .skip(2)
        .map(row)
        .collect()
}

fn row(line: &str) -> Example {
    // A bar inside backticks is escaped, as Markdown asks.
    let line = line.replace("\\|", "\u{1}");
    let cells: Vec<String> =
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
    let [text, array, layout] = &cells[..] else { panic!("three cells: {line}") };
    let bare = |cell: &str| cell.trim_matches('`').to_owned();
    let layout = if layout.starts_with("error:") { layout.clone() } else { bare(layout) };
    Example { text: bare(text), array: bare(array), layout }
}

fn resolve(text: &str, array: &str) -> Result<Named, Error> {
    if array.is_empty() {
        return Spec::parse(text)?.resolve(None, None);
    }
    let array = Spec::parse(&format!("{array} row-major")).unwrap().resolve(None, None).unwrap();
    Spec::parse(text)?.resolve(Some(array.layout().extents()), array.dtype())
}

#[test]
fn the_examples_of_every_header_are_true() {
    for dialect in DIALECTS {
        let examples = examples(dialect.name);
        let (errors, layouts): (Vec<_>, Vec<_>) =
            examples.iter().partition(|example| example.layout.starts_with("error:"));
        assert!(layouts.len() >= 2 && !errors.is_empty(), "{}: too few examples", dialect.name);
        for Example { text, array, layout } in &examples {
            match (resolve(text, array), layout.strip_prefix("error: ")) {
                (Ok(named), None) => assert_eq!(spell_cute(named.layout()), *layout, "{text}"),
                (Err(error), Some(words)) => {
                    assert!(error.to_string().contains(words), "{text}: {error}");
                }
                (Ok(named), Some(_)) => panic!("{text} reads as {}", spell_cute(named.layout())),
                (Err(error), None) => panic!("{}", error.render()),
            }
        }
    }
}

#[test]
fn every_example_is_read_by_its_own_dialect_and_prints_as_the_same_map() {
    for dialect in DIALECTS {
        for Example { text, array, layout } in examples(dialect.name) {
            if layout.starts_with("error:") {
                continue;
            }
            let named = resolve(&text, &array).unwrap();
            let said = match dialect.print(&named) {
                Ok(said) => said,
                Err(error) => panic!("{text} is not printed as {}: {error}", dialect.name),
            };
            let again = read(&said, DIALECTS).unwrap_or_else(|e| panic!("{said}: {e}")).reading;
            let extents = named.layout().extents();
            let given = Given::new(Some(extents), named.dtype());
            let again = again.resolve(&given).unwrap_or_else(|e| panic!("{said}: {e}")).layout;
            assert_eq!(again.capacity(), named.layout().capacity(), "{said}");
            assert_eq!(again.same_function(named.layout()), Ok(true), "{text} as {said}");
        }
    }
}

#[test]
fn names_and_files_are_one() {
    let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
    for (at, dialect) in DIALECTS.iter().enumerate() {
        assert!(!names[..at].contains(&dialect.name), "{} twice", dialect.name);
        assert!(!dialect.about.is_empty());
    }
}

/// A text with one character left out, or replaced by one of two bytes, and what is left of it when it ends early.
fn near(text: &str) -> Vec<String> {
    let edits = text.char_indices().flat_map(|(at, c)| {
        let (head, tail) = (&text[..at], &text[at + c.len_utf8()..]);
        [head.to_owned(), format!("{head}{tail}"), format!("{head}é{tail}")]
    });
    edits.collect()
}

#[test]
fn what_is_nearly_an_example_is_read_or_pointed_at() {
    let mut refused = 0;
    for dialect in DIALECTS {
        for Example { text, array, .. } in examples(dialect.name) {
            for text in near(&text).into_iter().step_by(tilewright_testing::cases(1, 9)) {
                let error = match Spec::parse(&text) {
                    Ok(spec) => {
                        // What is read prints as what is read again.
                        let canonical = spec.to_string();
                        let again =
                            Spec::parse(&canonical).unwrap_or_else(|e| panic!("{}", e.render()));
                        assert_eq!(again.to_string(), canonical, "{text}");
                        let _ = resolve(&text, &array);
                        continue;
                    }
                    Err(error) => error,
                };
                let (from, to) = error.span().unwrap_or((0, 0));
                assert!(from <= to && to <= text.len(), "{text}: {error}");
                assert!(
                    text.is_char_boundary(from) && text.is_char_boundary(to),
                    "{text}: {error}"
                );
                assert!(error.render().contains(&error.to_string()), "{text}");
                refused += 1;
            }
        }
    }
    assert!(refused > tilewright_testing::cases(3000, 750), "{refused}");
}

#[test]
fn a_prefix_decides_and_changes_no_meaning() {
    for dialect in DIALECTS {
        for Example { text, array, layout } in examples(dialect.name) {
            let bare = text.split_once(':').map_or(text.as_str(), |(name, rest)| {
                if dialect.is_called(name.trim_end()) { rest } else { &text }
            });
            for name in [dialect.name].iter().chain(dialect.aliases) {
                let prefixed = resolve(&format!("{name}:{bare}"), &array);
                match prefixed {
                    Ok(named) => assert_eq!(spell_cute(named.layout()), layout, "{name}:{bare}"),
                    Err(error) => assert!(layout.starts_with("error:"), "{name}:{bare}: {error}"),
                }
            }
        }
    }
}
