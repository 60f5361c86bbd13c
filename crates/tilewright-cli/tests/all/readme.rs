//! The documents, followed literally. Their commands run in a shell, their console examples print the stated lines, and their
//! pictures are those that the program draws today.
//!
//! The title of a picture is its command: `![…](pictures/a.svg "tilewright show '…'")`. With `TILEWRIGHT_RECORD=1` in the
//! environment the pictures are drawn again instead.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Component, Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Commands of documents that this test leaves to others, because they build, install or test the project.
const LEFT_OUT: [&str; 4] = ["cargo xtask", "cargo install", "pip install", "python -m"];

/// Returns the text of a document, by its path from the root.
fn document(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// Returns the fenced blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let blocks = text.split(&start).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(str::to_owned).collect()
}

/// Makes a folder with the parts of a fresh clone that documents use: data and recipes of the corpus.
fn clone() -> TempDir {
    let folder = tilewright_testing::folder();
    for part in ["corpus/data", "corpus/recipes"] {
        copy(&Path::new(ROOT).join(part), &folder.path().join(part));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// Runs a line of shell in a folder, with the program on the path.
fn shell(folder: &Path, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_tilewright")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let paths = [program].into_iter().chain(env::split_paths(&others));
    let mut shell = Command::new("sh");
    shell.args(["-euc", line]).current_dir(folder).env("PATH", env::join_paths(paths).unwrap());
    shell.output().unwrap()
}

/// Returns the commands of the shell blocks, each on one line.
fn commands(text: &str) -> Vec<String> {
    let joined = blocks(text, "sh").concat().replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| line.replace("cargo run --release -p tilewright-cli --", "tilewright"))
        .collect()
}

#[test]
fn the_readme_s_commands_do_what_they_say() {
    let folder = clone();
    let text = document("README.md");
    let is_left_out = |line: &&String| LEFT_OUT.iter().any(|start| line.starts_with(start));
    let all = commands(&text);
    let (others, run): (Vec<_>, Vec<_>) = all.iter().partition(is_left_out);
    for command in &run {
        let output = shell(folder.path(), command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {stderr}");
    }
    let installed =
        ["cargo install --path crates/tilewright-cli", "pip install ./crates/tilewright-py"];
    assert_eq!(others, [&installed[..], &["cargo xtask ci"]].concat());
    assert_eq!(run.len(), 2);
    let is_there = |name: &str| folder.path().join(name).is_file();
    assert!(is_there("marlin.safetensors") && is_there("tiny-zN.safetensors"));
    // Git ignores the files that the commands create.
    let ignored = document(".gitignore");
    for entry in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
        let Some(ending) = entry.extension() else { continue };
        let line = format!("/*.{}", ending.to_string_lossy());
        assert!(ignored.lines().any(|ignored| ignored == line), "{line}");
    }
}

/// Returns the commands of the console blocks, each with the lines that it must print. A command continues after a backslash.
fn examples(text: &str) -> Vec<(String, Vec<String>)> {
    let mut examples: Vec<(String, Vec<String>)> = Vec::new();
    let joined = blocks(text, "console").concat().replace("\\\n", " ");
    for line in joined.lines() {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => examples.push((command.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    examples
}

/// Returns README.md and every document of `docs`, by its path from the root.
fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned()];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            match path.extension() {
                Some(end) if end == "md" => found.push(path.to_str().unwrap().replace('\\', "/")),
                Some(_) => {}
                None => folders.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Runs every example of a document and compares what it prints: its answers, then its errors. Returns their number.
fn check(path: &str) -> usize {
    let folder = clone();
    let examples = examples(&document(path));
    for (command, expected) in &examples {
        let output = shell(folder.path(), command);
        let stdout = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let printed: Vec<&str> = stdout.lines().collect();
        // A line `…` replaces all lines that follow.
        let cut = expected.iter().position(|line| line == "…");
        let shown = cut.unwrap_or(expected.len());
        assert!(printed.len() >= shown, "{path}: {command}:\n{stdout}");
        assert_eq!(printed[..shown], expected[..shown], "{path}: {command}");
        assert!(cut.is_some() || printed.len() == shown, "{path}: {command}:\n{stdout}");
    }
    examples.len()
}

#[test]
fn the_documents_print_what_the_program_prints() {
    let all: usize = documents().iter().map(|path| check(path)).sum();
    assert!(all >= 130, "{all} examples");
}

/// Rust code in a document runs as a doctest: `lib.rs` includes the document.
#[test]
fn rust_in_the_documents_is_tested() {
    let included = document("crates/tilewright/src/lib.rs");
    for path in documents().iter().filter(|path| document(path).contains("\n```rust\n")) {
        let line = format!("include_str!(\"../../../{path}\")");
        assert!(included.contains(&line), "{path} has Rust; lib.rs says nothing of it");
    }
}

/// Returns a path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut made, part| {
        match part {
            Component::ParentDir => drop(made.pop()),
            part => made.push(part),
        }
        made
    })
}

/// Returns the pictures of a document, in Markdown or as HTML: each file with the command in its title.
fn pictures(path: &str) -> Vec<(PathBuf, String)> {
    let text = document(path);
    let folder = Path::new(path).parent().unwrap();
    let markdown = text.split("](").skip(1).filter_map(|rest| rest.split_once(".svg \""));
    let html = text.split("src=\"").skip(1).filter_map(|rest| rest.split_once(".svg\" title=\""));
    let titled = markdown.chain(html).filter(|(name, _)| !name.contains([')', '"', '\n']));
    titled
        .map(|(name, rest)| {
            let command = rest.split_once('"').expect("a title ends").0;
            (normal(&folder.join(format!("{name}.svg"))), command.to_owned())
        })
        .collect()
}

#[test]
fn the_pictures_are_those_that_their_commands_draw() {
    let folder = clone();
    let mut seen = BTreeSet::new();
    for (path, command) in documents().iter().flat_map(|path| pictures(path)) {
        let output = shell(folder.path(), &format!("{command} --svg -"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {stderr}");
        let file = Path::new(ROOT).join(&path);
        if env::var_os("TILEWRIGHT_RECORD").is_some() {
            fs::write(&file, &output.stdout).unwrap();
        }
        let kept = fs::read(&file).unwrap_or_default();
        let again = "TILEWRIGHT_RECORD=1 draws it anew";
        assert!(kept == output.stdout, "{} is not what `{command}` draws; {again}", path.display());
        seen.insert(path);
    }
    let kept = fs::read_dir(Path::new(ROOT).join("docs/pictures")).unwrap();
    let kept: BTreeSet<_> =
        kept.map(|entry| Path::new("docs/pictures").join(entry.unwrap().file_name())).collect();
    assert_eq!(seen, kept, "every picture stands in a document");
}
