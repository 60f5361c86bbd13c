//! The files of the project, Rust files as the rules see them, and the findings of a rule.
//!
//! The files are those that git tracks or would track, or, without git, those in the folder. A Rust file has each line
//! as written, without comments, and without comments and literals, and whether it is for tests only. This is a lexer
//! of comments and literals and a counter of brackets, not a parser. A finding has its place, the rule, and what to do.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::shell::Outcome;

/// The crate outside of the folder `crates`, and its folder.
const BESIDE: (&str, &str) = ("tilewright-bench", "bench");

/// One Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) lines: Vec<Line>,
    /// The whole file with comments and literals blanked; it has the length of the text.
    pub(crate) bare: String,
}

/// One line, in three versions with the same length in bytes.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) raw: String,
    /// The line with comments blanked.
    pub(crate) worded: String,
    /// The line with comments and literals blanked.
    pub(crate) bare: String,
    /// True for a line under `#[cfg(test)]`, or in a file that is only for tests.
    pub(crate) test: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Code,
    Comment,
    Literal,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Source {
        let kinds = kinds(text.as_bytes());
        let worded = blank(text, &kinds, |kind| kind != TextKind::Comment);
        let bare = blank(text, &kinds, |kind| kind == TextKind::Code);
        let tests = test_lines(&bare);
        let whole = for_tests(path) || bare.contains("#![cfg(test)]");
        let texts = text.split('\n').zip(worded.split('\n')).zip(bare.split('\n'));
        let line = |(number, ((raw, worded), bare)): (usize, ((&str, &str), &str))| Line {
            raw: raw.into(),
            worded: worded.into(),
            bare: bare.into(),
            test: whole || tests.iter().any(|&(from, to)| (from..=to).contains(&number)),
        };
        Source { path: path.into(), lines: texts.enumerate().map(line).collect(), bare }
    }

    /// Marks the whole file as only for tests.
    pub(crate) fn only_for_tests(mut self) -> Source {
        self.lines.iter_mut().for_each(|line| line.test = true);
        self
    }

    /// Iterates over the lines outside tests, numbered from 1.
    pub(crate) fn shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().filter(|(_, line)| !line.test).map(|(i, line)| (i + 1, line))
    }

    /// Returns whether the file is in the crate of this name.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        let crates = self.path.strip_prefix("crates/");
        let within = crates.or_else(|| (name == BESIDE.0).then_some(&*self.path));
        let folder = if crates.is_none() { BESIDE.1 } else { name };
        within.and_then(|path| path.strip_prefix(folder)).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the names of the test modules that this file declares and that have their own files.
    pub(crate) fn test_modules(&self) -> Vec<&str> {
        let heads = self.bare.split("#[cfg(test)]").skip(1).filter_map(|item| item.split_once(';'));
        let flat = heads.map(|(head, _)| head).filter(|head| !head.contains('{'));
        flat.filter_map(|head| head.rsplit_once("mod "))
            .map(|(_, name)| name.trim())
            .filter(|name| is_word(name))
            .collect()
    }
}

/// Returns whether a file with this path is for tests or an example.
fn for_tests(path: &str) -> bool {
    path.split('/').any(|folder| matches!(folder, "tests" | "examples" | "benches"))
}

/// Returns whether a text is one identifier.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_word_byte)
}

/// Returns whether a byte can be part of an identifier.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Iterates over the positions of `word` in `text`, except those inside of a longer identifier.
pub(crate) fn word_places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let behind = bytes.get(at + word.len()).is_some_and(|&byte| is_word_byte(byte));
        let before = at > 0 && is_word_byte(bytes[at - 1]);
        !(before || (behind && word.ends_with(|last: char| last.is_alphanumeric())))
    })
}

/// Returns the number, from 0, of the line that contains byte `at`.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count()
}

/// Returns the end of the item that begins at `from`: after the closing brace of its body, or after its `;`.
pub(crate) fn item_end(bare: &str, from: usize) -> usize {
    let mut depth = 0_i64;
    for (i, byte) in bare.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b';' if depth == 0 => return i + 1,
            _ => {}
        }
        if byte == b'}' && depth <= 0 {
            return i + 1;
        }
    }
    bare.len()
}

/// Returns the first and last line, from 0, of every item under a `cfg` of tests.
fn test_lines(bare: &str) -> Vec<(usize, usize)> {
    let marks = ["#[cfg(test)]", "#[cfg(all(test,"];
    let places = marks.iter().flat_map(|mark| bare.match_indices(mark).map(|(at, _)| at));
    places
        .map(|at| (line_of(bare, at), line_of(bare, item_end(bare, at).saturating_sub(1))))
        .collect()
}

/// Returns the kind of each byte of a Rust text.
fn kinds(text: &[u8]) -> Vec<TextKind> {
    let mut kinds = Vec::with_capacity(text.len());
    while kinds.len() < text.len() {
        let (kind, end) = token(text, kinds.len());
        kinds.resize(end.min(text.len()), kind);
    }
    kinds
}

/// Returns the kind and the end of the token that begins at `at`.
fn token(text: &[u8], at: usize) -> (TextKind, usize) {
    let rest = &text[at..];
    match rest {
        [b'/', b'/', ..] => (TextKind::Comment, at + position(rest, b"\n").unwrap_or(rest.len())),
        [b'/', b'*', ..] => (TextKind::Comment, at + nested_comment(rest)),
        [b'"', ..] => (TextKind::Literal, at + quoted(rest, b'"')),
        [b'r', b'"' | b'#', ..] if starts_literal(text, at) => match raw_string(rest) {
            Some(length) => (TextKind::Literal, at + length),
            None => (TextKind::Code, at + 1),
        },
        [b'\'', ..] if is_character(rest) => (TextKind::Literal, at + quoted(rest, b'\'')),
        _ => (TextKind::Code, at + 1),
    }
}

/// Returns whether an `r` here can begin a raw string: at the start of a word, or after a lone `b` or `c`.
fn starts_literal(text: &[u8], at: usize) -> bool {
    let word = |i: usize| is_word_byte(text[i]);
    match at {
        0 => true,
        _ if !word(at - 1) => true,
        1 => true,
        _ => matches!(text[at - 1], b'b' | b'c') && !word(at - 2),
    }
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn nested_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the length of a literal between two of `quote`, in which a backslash escapes the next byte.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the length of `r"…"` or `r#"…"#`; `None` for a raw identifier.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"", &rest[1..1 + hashes]].concat();
    let begin = hashes + 2;
    Some(position(&rest[begin..], &close).map_or(rest.len(), |at| begin + at + close.len()))
}

/// Returns whether a quote begins a character and not a lifetime.
fn is_character(rest: &[u8]) -> bool {
    let wide = rest.get(1).map_or(1, |&byte| match byte {
        0..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
    });
    rest.get(1) == Some(&b'\\') || rest.get(1 + wide) == Some(&b'\'')
}

/// Returns the text in which other kinds of bytes are blanked, except line breaks.
fn blank(text: &str, kinds: &[TextKind], keep: impl Fn(TextKind) -> bool) -> String {
    let shown =
        |(&byte, &kind): (&u8, &TextKind)| if keep(kind) || byte == b'\n' { byte } else { b' ' };
    let bytes: Vec<u8> = text.as_bytes().iter().zip(kinds).map(shown).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Folders without files of the project.
const SKIPPED: [&str; 4] = [".git", "target", ".venv", "__pycache__"];

/// Every file by its path, with its content if it is text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Outcome<Tree> {
        let mut paths = Vec::new();
        match tracked(root) {
            Some(list) => paths.extend(list),
            None => walk(root, "", &mut paths)?,
        }
        let mut tree = Tree::default();
        for path in paths {
            // A link repeats the content of its target. A tracked file may have been deleted without a commit.
            if root.join(&path).is_symlink() {
                tree.files.insert(path, None);
            } else if let Ok(bytes) = fs::read(root.join(&path)) {
                tree.files.insert(path, String::from_utf8(bytes).ok());
            }
        }
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| (path.to_string(), Some(text.to_string()));
        Tree { files: files.iter().map(file).collect() }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Iterates over every file that is text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Returns whether there is a file with this path, or a folder with files in it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.paths().any(|file| file.starts_with(&inside))
    }

    /// Returns every Rust file, with the declared test modules marked.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let rust = self.texts().filter(|(path, _)| path.ends_with(".rs"));
        let sources: Vec<Source> = rust.map(|(path, text)| Source::new(path, text)).collect();
        let modules: Vec<String> = sources.iter().flat_map(test_module_paths).collect();
        let is_test = |path: &str| {
            let stem = path.trim_end_matches(".rs");
            modules.iter().any(|module| stem == module || stem.starts_with(&format!("{module}/")))
        };
        let mark =
            |source: Source| if is_test(&source.path) { source.only_for_tests() } else { source };
        sources.into_iter().map(mark).collect()
    }
}

/// Returns the paths of the test modules that a file declares, without `.rs`.
fn test_module_paths(source: &Source) -> Vec<String> {
    let stem = source.path.trim_end_matches(".rs");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let home = if matches!(name, "lib" | "main" | "mod") { folder } else { stem };
    source.test_modules().iter().map(|module| format!("{home}/{module}")).collect()
}

/// Returns the files that git tracks, or would add; `None` if git fails.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output =
        Command::new("git").args(words).current_dir(root).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.split_terminator('\0').map(String::from).collect())
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Outcome {
    let said = |error: std::io::Error| format!("{}: {error}", root.join(folder).display());
    for entry in fs::read_dir(root.join(folder)).map_err(said)? {
        let entry = entry.map_err(said)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(said)?;
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            walk(root, &path, paths)?;
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

/// A finding; findings sort by file, then line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// The line from 1; 0 for the file as a whole.
    line: usize,
    rule: &'static str,
    sentence: String,
}

impl Finding {
    pub(crate) fn new(
        path: &str,
        line: usize,
        rule: &'static str,
        sentence: impl Into<String>,
    ) -> Finding {
        Finding { path: path.into(), line, rule, sentence: sentence.into() }
    }

    /// Returns the line, for the tests of the rules.
    #[cfg(test)]
    pub(crate) fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: [{}] {}", self.path, self.rule, self.sentence),
            line => write!(f, "{}:{line}: [{}] {}", self.path, self.rule, self.sentence),
        }
    }
}

/// An empty list of lines, for the tests of the rules.
#[cfg(test)]
pub(crate) const NONE: [usize; 0] = [];

/// Returns the lines of findings, for the tests of the rules.
#[cfg(test)]
pub(crate) fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(Finding::line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> String {
        Source::new("a.rs", text).bare
    }

    #[test]
    fn blanking_keeps_lengths_and_lines() {
        let text =
            "a /* b\n /* c */ */ d // é\n\"e\\\"f\" 'g' '\\'' 'é' &'h i r#\"j\"k\"# br\"l\" r#m";
        let source = Source::new("a.rs", text);
        assert_eq!(source.bare.len(), text.len());
        assert_eq!(source.lines.len(), 3);
        assert_eq!(
            source.bare.split_whitespace().collect::<Vec<_>>(),
            ["a", "d", "&'h", "i", "b", "r#m"]
        );
        assert_eq!(source.lines[2].worded.trim(), text.rsplit('\n').next().unwrap());
    }

    #[test]
    fn unfinished_literals_end_with_the_text() {
        for text in ["\"a", "/* a", "r#\"a", "'\\", "\"\\", "'", "r#"] {
            assert_eq!(bare(text).len(), text.len());
        }
    }

    #[test]
    fn test_items_end_with_their_braces() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { \"}\"; }\n}\nfn c() {}\n#[cfg(test)]\nuse d;\nfn e() {}";
        let source = Source::new("a.rs", text);
        let shipped: Vec<usize> = source.shipped().map(|(number, _)| number).collect();
        assert_eq!(shipped, [1, 6, 9]);
    }

    #[test]
    fn whole_files_can_be_tests() {
        assert_eq!(Source::new("crates/x/tests/a.rs", "fn a() {}").shipped().count(), 0);
        assert_eq!(
            Source::new("crates/x/src/a.rs", "#![cfg(test)]\nfn a() {}").shipped().count(),
            0
        );
        assert_eq!(
            Source::new("crates/x/src/a.rs", "fn a() {}").only_for_tests().shipped().count(),
            0
        );
    }

    #[test]
    fn test_modules_in_files_of_their_own_are_named() {
        let source = Source::new(
            "a.rs",
            "#[cfg(test)]\npub(crate) mod small;\n#[cfg(test)]\nmod b { mod c; }\nmod d;",
        );
        assert_eq!(source.test_modules(), ["small"]);
    }

    #[test]
    fn crates_are_told_by_their_folder() {
        let is_in = |path, name| Source::new(path, "").is_in(name);
        assert!(is_in("crates/tilewright/src/a.rs", "tilewright"));
        assert!(!is_in("crates/tilewright-cli/src/a.rs", "tilewright"));
        assert!(is_in("bench/src/a.rs", "tilewright-bench"));
        assert!(
            !is_in("bench/src/a.rs", "tilewright") && !is_in("benches/a.rs", "tilewright-bench")
        );
    }

    #[test]
    fn words_stand_alone() {
        let places = |text, word| word_places(text, word).collect::<Vec<_>>();
        assert_eq!(places("unsafe unsafe_code x_unsafe", "unsafe"), [0]);
        assert_eq!(places("eprintln!(println!(", "println!"), [10]);
    }

    #[test]
    fn modules_declared_for_tests_are_tests() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "#[cfg(test)]\nmod small;\nmod big;"),
            ("crates/x/src/small.rs", "fn a() {}"),
            ("crates/x/src/small/deep.rs", "fn a() {}"),
            ("crates/x/src/big.rs", "#[cfg(test)]\nmod more;"),
            ("crates/x/src/big/more.rs", "fn a() {}"),
        ]);
        let shipped: Vec<_> = tree
            .sources()
            .into_iter()
            .filter(|s| s.shipped().count() > 0)
            .map(|s| s.path)
            .collect();
        assert_eq!(shipped, ["crates/x/src/lib.rs"]);
    }

    #[test]
    fn holds_files_and_folders() {
        let tree = Tree::of(&[("a/b.md", "")]);
        assert!(tree.holds("a") && tree.holds("a/b.md") && tree.holds(""));
        assert!(!tree.holds("a/b") && !tree.holds("b.md"));
    }

    #[test]
    fn without_git_the_folder_is_walked() {
        let mut paths = Vec::new();
        walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut paths).unwrap();
        assert!(paths.contains(&"src/tidy/source.rs".to_string()));
    }

    #[test]
    fn names_file_line_and_rule() {
        let finding = Finding::new("a/b.rs", 7, "A5", "no catch-all arm");
        assert_eq!(finding.to_string(), "a/b.rs:7: [A5] no catch-all arm");
        assert_eq!(Finding::new("a/b.rs", 0, "A1", "x").to_string(), "a/b.rs: [A1] x");
    }
}
