//! `cargo xtask algebra`: generates Python's module of the algebra from the table of functions.
//!
//! A row of the table has the name, a sentence, the parameters in Python and an example, which the program evaluates.
//! The module has a function for each row, its documentation with the example, and the list of names.

use std::{fs, path::Path};

use serde_json::Value;

use crate::shell::{Outcome, command, output};

/// The path of the module.
const FILE: &str = "crates/tilewright-py/python/tilewright/algebra.py";

/// The text above the functions.
const HEAD: &str = include_str!("algebra_head.py");

/// Names of Python's builtins that a star import must not replace.
const BUILTINS: [&str; 30] = [
    "abs", "all", "any", "bin", "bool", "bytes", "dict", "dir", "filter", "float", "format",
    "hash", "hex", "id", "input", "int", "iter", "len", "list", "map", "max", "min", "next",
    "object", "range", "set", "slice", "sum", "tuple", "zip",
];

/// The widest line.
const WIDTH: usize = 120;

/// Writes the module, or with `check` returns an error if the file differs from the generated text. The table is
/// printed by the program at this path, or by one that is built for it.
pub(crate) fn run(root: &Path, check: bool, program: Option<&Path>) -> Outcome {
    let build = ["cargo", "run", "--quiet", "--package", "tilewright-cli", "--"];
    let mut program = match program {
        Some(program) => command(root, &[&*program.to_string_lossy()]),
        None => command(root, &build),
    };
    let text = output(program.args(["eval", "--functions", "--json"]))?;
    let table: Value = serde_json::from_str(&text)
        .map_err(|error| format!("`tilewright eval --functions` printed no JSON: {error}"))?;
    let made = module(&table["functions"])?;
    let path = root.join(FILE);
    let is_fresh = fs::read_to_string(&path).is_ok_and(|text| text == made);
    match (is_fresh, check) {
        (true, _) => Ok(()),
        (false, true) => {
            Err(format!("{FILE} is not what the table makes; `cargo xtask algebra` writes it"))
        }
        (false, false) => fs::write(&path, made).map_err(|error| format!("{FILE}: {error}")),
    }
}

/// Returns the text of the module.
fn module(functions: &Value) -> Outcome<String> {
    let rows = functions.as_array().into_iter().flatten();
    let rows: Vec<AlgebraRow<'_>> = rows.filter_map(AlgebraRow::of).collect();
    let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    names.retain(|name| !BUILTINS.contains(name));
    names.sort_unstable();
    let names: String = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    let mut text = format!("{HEAD}__all__ = [\n{names}]\n");
    for row in &rows {
        text +=
            &format!("\n\n{}", row.function().ok_or_else(|| format!("{}: no example", row.name))?);
    }
    Ok(text)
}

/// A function of the table that Python has.
struct AlgebraRow<'a> {
    name: &'a str,
    doc: &'a str,
    python: &'a str,
    example: &'a str,
    answer: &'a Value,
}

impl AlgebraRow<'_> {
    fn of(row: &Value) -> Option<AlgebraRow<'_>> {
        Some(AlgebraRow {
            name: row["name"].as_str()?,
            doc: row["doc"].as_str()?,
            python: row["python"].as_str()?,
            example: row["example"].as_str()?,
            answer: &row["answer"],
        })
    }

    /// Returns the definition of the function, with its example.
    fn function(&self) -> Option<String> {
        let (name, doc, python) = (self.name, self.doc, self.python);
        let (parameters, result) = python.strip_prefix('(')?.rsplit_once(") -> ")?;
        let arguments = self.example.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        let arguments: Vec<String> = split(arguments).into_iter().map(literal).collect();
        let (arguments, answer) = (arguments.join(", "), shown(self.answer)?);
        let passed: Vec<&str> = split(parameters).into_iter().filter_map(passed).collect();
        let call = if parameters.contains('=') { "_call" } else { "operation" };
        let call = format!("{call}(\"{name}\", {})", passed.join(", "));
        let body = match result {
            "Any" => format!("    return {call}\n"),
            _ => format!("    result: {result} = {call}\n    return result\n"),
        };
        let head = format!("def {name}({parameters}) -> {result}:");
        let head = if head.len() <= WIDTH { head } else { return None };
        Some(format!(
            "{head}\n    \"\"\"{doc}\n\n    >>> {name}({arguments})\n    {answer}\n    \"\"\"\n{body}"
        ))
    }
}

/// Returns a parameter as it is passed on: its name, with `*` if it takes the rest; `None` for `/`.
fn passed(parameter: &str) -> Option<&str> {
    let name = parameter.split(':').next()?.trim();
    (name != "/").then_some(name)
}

/// Returns the parts between commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin, mut quoted) = (Vec::new(), 0i32, 0, false);
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        quoted ^= letter == '"';
        match letter {
            _ if quoted => {}
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        before = letter;
    }
    parts.push(text[begin..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns an argument as Python writes it: integers, tuples of these with `None` for `_`, and text for all else.
fn literal(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_digit() || "(),-_ ".contains(c);
    match argument.chars().all(plain) {
        true => argument.replace('_', "None").replace(',', ", ").replace(",  ", ", "),
        false => format!("\"{}\"", argument.trim_matches('"')),
    }
}

/// Returns a value as Python shows it.
fn shown(answer: &Value) -> Option<String> {
    let text = answer["text"].as_str()?;
    Some(match answer["kind"].as_str()? {
        "boolean" => (if text == "true" { "True" } else { "False" }).to_owned(),
        "integer" => text.to_owned(),
        "tuple" => tuple(&answer["value"]),
        "list" => text.replace(',', ", "),
        "layout" => format!("Layout('{text}')"),
        "swizzle" => format!(
            "Swizzle({})",
            text.trim_start_matches("Sw<").trim_end_matches('>').replace(',', ", ")
        ),
        _ => format!("Value('{text}')"),
    })
}

/// Returns integers and tuples of them as Python shows them: a tuple of one has a comma.
fn tuple(value: &Value) -> String {
    let Some(parts) = value.as_array() else { return value.to_string() };
    let parts: Vec<String> = parts.iter().map(tuple).collect();
    let comma = if parts.len() == 1 { "," } else { "" };
    format!("({}{comma})", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_is_a_function() {
        let row = json!([{
            "name": "complement", "doc": "What L leaves free.", "example": "complement(4:2, 24)",
            "python": "(layout: LayoutLike, n: int | None = None, /) -> Layout",
            "answer": { "kind": "layout", "text": "(2,3):(1,8)" },
        }]);
        let text = module(&row).unwrap();
        let made = "\n\ndef complement(layout: LayoutLike, n: int | None = None, /) -> Layout:\n    \"\"\"What L leaves free.\n\n    >>> complement(\"4:2\", 24)\n    Layout('(2,3):(1,8)')\n    \"\"\"\n    result: Layout = _call(\"complement\", layout, n)\n    return result\n";
        assert!(text.ends_with(made), "{text}");
        assert!(text.contains("\n    \"complement\",\n]"));
    }

    #[test]
    fn builtins_are_not_imported_by_a_star() {
        let row = json!([{
            "name": "filter", "doc": "D.", "example": "filter((4,3):(0,1))", "python": "(x: Any, /) -> Any",
            "answer": { "kind": "integer", "text": "3" },
        }]);
        assert!(module(&row).unwrap().contains("__all__ = [\n]"));
    }

    #[test]
    fn arguments_are_literals_of_python() {
        let all = "(_,1), {lane=[1,2]} -> (row:4), <2:1,3>, 12, (4,(8,2)), \"f32[2]\"";
        let all: Vec<String> = split(all).into_iter().map(literal).collect();
        let text =
            ["\"{lane=[1,2]} -> (row:4)\"", "\"<2:1,3>\"", "12", "(4, (8, 2))", "\"f32[2]\""];
        assert_eq!((all[0].as_str(), &all[1..]), ("(None, 1)", &text.map(String::from)[..]));
    }
}
