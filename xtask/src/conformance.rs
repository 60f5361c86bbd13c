//! `cargo xtask conformance`: what implementations of the layout algebra answer to the questions of
//! `conformance/`, as a table in `docs/explanation/comparison.md`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    bench,
    shell::{self, Build, Outcome, command, output, run as sh, say, target},
    wheel,
};

const FILE: &str = "docs/explanation/comparison.md";
const BEGIN: &str = "<!-- conformance: made by `cargo xtask conformance` -->\n";
const END: &str = "<!-- conformance: end -->\n";
const OUTCOMES: [&str; 5] = ["right", "wrong", "refused", "crashed", "not offered"];

/// The adapters of our own: of the program, and of the Python package.
const OURS: [&str; 2] = ["tilewright_program", "tilewright_python"];

/// Implementations of others, in Python: the adapter, and the words by which `pip` installs what it asks.
const OTHERS: [(&str, &[&str]); 3] = [
    // Its dependencies are those of other parts.
    ("pycute", &["--no-deps", "nvidia-cutlass"]),
    ("cutlass_dsl", &["nvidia-cutlass-dsl"]),
    ("tensor_layouts", &["tensor-layouts"]),
];

/// The questions are right, and the program at this path answers every one that it is asked rightly.
pub(crate) fn ours(root: &Path, program: &Path) -> Outcome {
    let python = shell::system(root)?;
    let run = |words: &[&str]| {
        let mut asked = command(root, &[&[python, "conformance/run.py"], words].concat());
        asked.env("TILEWRIGHT", program).env("PYTHONDONTWRITEBYTECODE", "1");
        sh(&mut asked)
    };
    run(&["--check"])?;
    run(&["tilewright_program"])
}

/// Asks all implementations, and writes the table. An implementation that does not install is left out, with the reason.
pub(crate) fn run(root: &Path) -> Outcome {
    let program = shell::build(root, Build::Debug)?;
    ours(root, &program)?;
    let python = environment(root)?;
    let wheel = wheel::build(root)?;
    sh(shell::pip(root, &python).arg("--force-reinstall").arg(wheel))?;
    let own = OURS.iter().map(|adapter| report(root, &python, &program, adapter));
    let mut reports = own.collect::<Outcome<Vec<_>>>()?;
    for (adapter, package) in OTHERS {
        let installed = sh(shell::pip(root, &python).args(package));
        match installed.and_then(|()| report(root, &python, &program, adapter)) {
            Ok(report) => reports.push(report),
            Err(why) => say(&format!("    {adapter}: left out, {why}")),
        }
    }
    write(root, &table(&reports))
}

/// A virtual environment without packages; the old one is taken where there is one.
fn environment(root: &Path) -> Outcome<PathBuf> {
    let folder = target(root)?.join("conformance-venv");
    let python = folder.join("bin/python");
    if !python.exists() {
        sh(command(root, &[shell::system(root)?, "-m", "venv"]).arg(folder))?;
    }
    Ok(python)
}

/// The counts of the runner for one implementation.
fn report(root: &Path, python: &Path, program: &Path, adapter: &str) -> Outcome<Value> {
    let python = python.to_string_lossy();
    let mut asked: Command = command(root, &[&*python, "conformance/run.py", adapter, "--json"]);
    asked.env("TILEWRIGHT", program).env("PYTHONDONTWRITEBYTECODE", "1");
    let text = output(&mut asked)?;
    serde_json::from_str(&text).map_err(|error| format!("{adapter}: no JSON: {error}"))
}

/// A row a section, a column an implementation: right, wrong, refused, crashed of what is offered.
fn table(reports: &[Value]) -> String {
    let heads = reports.iter().map(|report| {
        let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
        format!(" {} {} |", text("name"), text("version"))
    });
    let mut text = format!("Counted on {}.\n\n| section |", bench::today());
    text.extend(heads);
    text += &format!("\n|---|{}\n", "---|".repeat(reports.len()));
    let sections = reports.first().and_then(|report| report["sections"].as_object());
    let mut all = vec![[0; OUTCOMES.len()]; reports.len()];
    for section in sections.into_iter().flat_map(|sections| sections.keys()) {
        text += &format!("| {section} |");
        for (report, all) in reports.iter().zip(&mut all) {
            let counts =
                OUTCOMES.map(|name| report["sections"][section][name].as_u64().unwrap_or(0));
            text += &format!(" {} |", cell(&counts));
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        text.push('\n');
    }
    let sums: String = all.iter().map(|counts| format!(" {} |", cell(counts))).collect();
    text + &format!("| all |{sums}\n")
}

/// The counts that are not 0, in words; an en dash where nothing is offered.
fn cell(counts: &[u64; OUTCOMES.len()]) -> String {
    let offered = counts.iter().zip(OUTCOMES).take(OUTCOMES.len() - 1);
    let said: Vec<String> = offered
        .filter(|(count, _)| **count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if said.is_empty() { "–".to_owned() } else { said.join(", ") }
}

/// Puts the table between its marks.
fn write(root: &Path, table: &str) -> Outcome {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let made = between(&text, table).ok_or_else(|| format!("{FILE} has no marks of the table"))?;
    fs::write(&path, made).map_err(|error| format!("{FILE}: {error}"))
}

fn between(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_is_not_zero() {
        assert_eq!(cell(&[0, 0, 0, 0, 9]), "–");
        assert_eq!(cell(&[7, 0, 2, 0, 1]), "7 right, 2 refused");
    }

    #[test]
    fn the_table_replaces_the_one_before() {
        let text = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(between(&text, "| new |\n"), Some(format!("a\n{BEGIN}\n| new |\n\n{END}b\n")));
        assert_eq!(between("a\n", "| new |\n"), None);
    }
}
