//! The theorems of `proofs/`, checked by Coq.
//!
//! Law: the check passes only if every file compiles, none contains a word that leaves a proof open, the theorems of
//! the files are those of the README, and none of them has assumptions. On 1,000 random layouts, Coq computes by the
//! definitions what the program answers.

use std::{fs, path::Path};

use super::{Verdict, command, output, packings::program, sh, target, verdict, works};
use crate::shell::Outcome;

const FOLDER: &str = "proofs";

/// Coq's answer for a theorem without assumptions.
const CLOSED: &str = "Closed under the global context";

/// Words that leave a proof open, introduce an assumption, or disable a check of Coq.
const OPEN: [&str; 14] = [
    "Admitted",
    "admit",
    "give_up",
    "Abort",
    "Axiom",
    "Axioms",
    "Parameter",
    "Parameters",
    "Conjecture",
    "Conjectures",
    "Primitive",
    "bypass_check",
    "Guard",
    "Universe",
];

/// A file of proofs, without `.v`.
struct File {
    name: String,
    text: String,
}

/// A theorem and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Theorem {
    file: String,
    name: String,
}

/// Checks every theorem, if Coq is installed.
pub(super) fn proofs(root: &Path) -> Verdict {
    if !works(&mut command(root, &["coqc", "--version"])) {
        return Verdict::Skipped("coqc is not installed; Debian has coq".into());
    }
    verdict(checked(root))
}

fn checked(root: &Path) -> Outcome {
    let (files, theorems) = stated(&root.join(FOLDER))?;
    let folder = target(root)?.join("oracles/proofs");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    for File { name, text } in &files {
        fs::write(folder.join(format!("{name}.v")), text).map_err(failed)?;
        sh(&mut command(&folder, &["coqc", "-q", "-Q", ".", "Tilewright", &format!("{name}.v")]))?;
    }
    fs::write(folder.join("Assumptions.v"), asked(&files, &theorems)).map_err(failed)?;
    let words = ["coqc", "-q", "-Q", ".", "Tilewright", "Assumptions.v"];
    closed(&theorems, &output(&mut command(&folder, &words))?)?;
    println!("    {} theorems in {} files, none assumes anything", theorems.len(), files.len());
    let program = program(root)?;
    sh(&mut command(root, &["python3", "tests/oracle/coq.py", &program, "--count", "1000"]))
}

/// Returns the files of a folder, in the order of `_CoqProject`, and its theorems, in the order of the README.
fn stated(folder: &Path) -> Outcome<(Vec<File>, Vec<Theorem>)> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let project = read("_CoqProject")?;
    let names: Vec<&str> = project.lines().filter_map(|line| line.strip_suffix(".v")).collect();
    let found = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in found.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.strip_suffix(".v").is_some_and(|name| !names.contains(&name)) {
            return Err(format!("{FOLDER}/{file} is not in _CoqProject; give it a line there"));
        }
    }
    let (mut files, mut proved) = (Vec::new(), Vec::new());
    for name in names {
        let text = read(&format!("{name}.v"))?;
        let code = code(&text);
        is_whole(name, &code)?;
        proved.extend(theorems(name, &code));
        files.push(File { name: name.to_owned(), text });
    }
    let listed = rows(&read("README.md")?);
    agree(&proved, &listed)?;
    Ok((files, listed))
}

/// Returns a text without its comments, which nest; line breaks are kept.
fn code(text: &str) -> String {
    let (mut code, mut depth, mut rest) = (String::new(), 0usize, text);
    while let Some(next) = rest.chars().next() {
        let (taken, change) = match (rest.get(..2), depth) {
            (Some("(*"), _) => (2, 1),
            (Some("*)"), 1..) => (2, -1),
            _ => (next.len_utf8(), 0),
        };
        if next == '\n' || (depth == 0 && change == 0) {
            code.push(next);
        }
        depth = depth.saturating_add_signed(change);
        rest = &rest[taken..];
    }
    code
}

/// Iterates over the words of a line of code: letters, digits, `_` and `'`.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
}

/// Returns an error for code that leaves a proof open.
fn is_whole(name: &str, code: &str) -> Outcome {
    for (line, number) in code.lines().zip(1..) {
        if let Some(word) = words(line).find(|word| OPEN.contains(word)) {
            return Err(format!(
                "{FOLDER}/{name}.v:{number}: `{word}` leaves something open; prove it, or leave the \
                 statement out and say so in {FOLDER}/README.md"
            ));
        }
    }
    Ok(())
}

/// Returns the theorems of a file: the names after `Theorem`. A `Lemma` is a step on the way to one.
fn theorems(file: &str, code: &str) -> Vec<Theorem> {
    let named = |line: &str| match words(line).collect::<Vec<_>>()[..] {
        ["Theorem", name, ..] => Some(Theorem { file: file.to_owned(), name: name.to_owned() }),
        _ => None,
    };
    code.lines().filter_map(named).collect()
}

/// Returns the rows of a README's table: a theorem and its file, each in backticks.
fn rows(readme: &str) -> Vec<Theorem> {
    let cell = |cell: &str| cell.trim().strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|');
        let (name, file) = (cell(cells.next()?)?, cell(cells.next()?)?);
        Some(Theorem { file: file.strip_suffix(".v")?.to_owned(), name })
    };
    readme.lines().filter_map(row).collect()
}

/// Returns an error for a theorem that the README does not list, and for a row without its theorem.
fn agree(proved: &[Theorem], listed: &[Theorem]) -> Outcome {
    if let Some(Theorem { file, name }) = proved.iter().find(|theorem| !listed.contains(theorem)) {
        return Err(format!("{FOLDER}/README.md has no row for `{name}` of {file}.v; give it one"));
    }
    if let Some(Theorem { file, name }) = listed.iter().find(|theorem| !proved.contains(theorem)) {
        return Err(format!(
            "{FOLDER}/README.md lists `{name}`, and {file}.v has no such `Theorem`"
        ));
    }
    match listed.is_empty() {
        true => Err(format!("{FOLDER}/README.md lists no theorem")),
        false => Ok(()),
    }
}

/// Returns the commands that print the assumptions of every theorem.
fn asked(files: &[File], theorems: &[Theorem]) -> String {
    let required = files.iter().map(|file| format!("From Tilewright Require {}.\n", file.name));
    let questions = theorems
        .iter()
        .map(|theorem| format!("Print Assumptions {}.{}.\n", theorem.file, theorem.name));
    required.chain(questions).collect()
}

/// Returns an error for an answer in which a theorem has assumptions.
fn closed(theorems: &[Theorem], answer: &str) -> Outcome {
    let mut lines = answer.lines();
    for Theorem { file, name } in theorems {
        if lines.next() != Some(CLOSED) {
            let said: Vec<&str> = answer.lines().filter(|line| *line != CLOSED).collect();
            return Err(format!(
                "{FOLDER}/{file}.v: `{name}` assumes something: {}",
                said.join(" ")
            ));
        }
    }
    match lines.next() {
        None => Ok(()),
        Some(line) => {
            Err(format!("Coq was asked of {} theorems and also says: {line}", theorems.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    fn theorem(file: &str, name: &str) -> Theorem {
        Theorem { file: file.into(), name: name.into() }
    }

    #[test]
    fn a_file_that_leaves_something_open_is_refused() {
        let whole = |text: &str| is_whole("Law", &code(text));
        assert_eq!(whole("Theorem law : True.\nProof. exact I. Qed.\n"), Ok(()));
        for open in OPEN {
            let message = whole(&format!("Lemma a : True.\n{open} b : False.\n")).unwrap_err();
            assert!(message.starts_with(&format!("proofs/Law.v:2: `{open}` leaves")), "{message}");
        }
        assert!(whole("Proof. admit. Admitted.").unwrap_err().contains("`admit`"));
        // Comments may speak of them, names may contain them.
        assert_eq!(whole("(* Axiom (* Admitted *) Parameter *)\nLemma Axiom_free : True."), Ok(()));
        assert!(whole("(* closed *) Axiom a : False.").is_err());
    }

    #[test]
    fn comments_nest_and_lines_stay() {
        assert_eq!(code("a (* b (* c *) d\n e *) f"), "a \n f");
        assert_eq!(code("*) a (* é\n"), "*) a \n");
        assert_eq!(code("(* never closed"), "");
    }

    #[test]
    fn a_theorem_cannot_be_forgotten() {
        let text = "(* Theorem not_this : True. *)\nTheorem law' : True.\n  Theorem inner a : True.\nLemma l : True.";
        let proved = theorems("Law", &code(text));
        assert_eq!(proved, [theorem("Law", "law'"), theorem("Law", "inner")]);
        let readme =
            "| theorem | file |\n|---|---|\n| `law'` | `Law.v` | says |\nno `row` | `Law.v` |\n";
        let listed = rows(readme);
        assert_eq!(listed, [theorem("Law", "law'")]);
        let message = agree(&proved, &listed).unwrap_err();
        assert!(message.contains("no row for `inner` of Law.v"), "{message}");
        let message = agree(&listed, &proved).unwrap_err();
        assert!(message.contains("lists `inner`, and Law.v has no such"), "{message}");
        assert!(agree(&[], &[]).is_err());
        assert_eq!(agree(&proved, &proved), Ok(()));
    }

    #[test]
    fn a_theorem_that_assumes_something_is_refused() {
        let theorems = [theorem("Law", "first"), theorem("Law", "second")];
        let answer = |lines: &[&str]| closed(&theorems, &lines.join("\n"));
        assert_eq!(answer(&[CLOSED, CLOSED]), Ok(()));
        let message = answer(&[CLOSED, "Axioms:", "magic : False"]).unwrap_err();
        assert!(
            message.ends_with("Law.v: `second` assumes something: Axioms: magic : False"),
            "{message}"
        );
        assert!(answer(&[CLOSED]).unwrap_err().contains("`second`"));
        assert!(answer(&[CLOSED, CLOSED, "Axioms:"]).unwrap_err().contains("also says"));
    }

    #[test]
    fn the_folder_states_what_it_proves() {
        let (files, theorems) = stated(&root().join(FOLDER)).unwrap();
        assert!(files.iter().any(|file| file.name == "Composition"));
        assert!(theorems.contains(&theorem("Composition", "composition_exact")));
        let questions = asked(&files, &theorems);
        assert!(questions.contains("Print Assumptions Composition.composition_exact.\n"));
        assert_eq!(questions.lines().count(), files.len() + theorems.len());
    }

    #[test]
    fn a_file_that_is_not_listed_is_refused() {
        let folder = std::env::temp_dir().join(format!("tilewright-proofs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("_CoqProject", "-Q . Tilewright\nLaw.v\n");
        write("README.md", "| `law` | `Law.v` |\n");
        write("Law.v", "Theorem law : True.\nProof. exact I. Qed.\n");
        let before = stated(&folder).map(|(_, theorems)| theorems);
        write("Other.v", "Theorem other : True.\nProof. exact I. Qed.\n");
        let after = stated(&folder).map(|(_, theorems)| theorems);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(before, Ok(vec![theorem("Law", "law")]));
        assert!(after.unwrap_err().starts_with("proofs/Other.v is not in _CoqProject"));
    }
}
