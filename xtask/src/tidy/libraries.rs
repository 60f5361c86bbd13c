//! Rules that every library keeps.
//!
//! - A7: only the program and xtask print; a library returns its answers to its caller.
//! - A1: core is the same program for all users. Features are not allowed.
//! - No library names an option of the program: the advice of an error is a `Remedy`, which the program prints as an option
//!   and Python as an argument.
//! - A5: a `match` over an enum of core has no catch-all arm, so a new variant is a compile error at every place that must
//!   handle it.
//! - A6: `unsafe` is allowed in the kernels of relayout, in the folder that reads Python's arrays and in the folder that
//!   calls CUDA's libraries, and nowhere else. Every block has its proof, and every other crate's root makes the compiler
//!   forbid it.

use super::source::{Finding, Line, Source, item_end, line_of, word_places};

const WORDS: [&str; 8] =
    ["println!", "eprintln!", "print!", "eprint!", "dbg!", "stdin(", "stdout(", "stderr("];

/// Finds console input and output outside `tilewright-cli`, `xtask`, the programs of other workspaces, tests and
/// examples.
pub(crate) fn prints(source: &Source) -> Vec<Finding> {
    let speaks = ["xtask/", "bench/rivals/", "web/bindgen/"]
        .iter()
        .any(|folder| source.path.starts_with(folder));
    if speaks || source.is_in("tilewright-cli") {
        return Vec::new();
    }
    let speaks =
        |bare: &str| WORDS.into_iter().find(|word| word_places(bare, word).next().is_some());
    let lines = source.shipped().filter_map(|(number, line)| Some((number, speaks(&line.bare)?)));
    let says = |word: &str| {
        format!(
            "`{}` in a library; only tilewright-cli and xtask use the console",
            word.trim_end_matches('(')
        )
    };
    lines.map(|(number, word)| Finding::new(&source.path, number, "A7", says(word))).collect()
}

const SAYS: &str = "core has no features; what is optional belongs to another crate";

/// Finds mentions of `feature` in a `cfg` of core.
pub(crate) fn features(source: &Source) -> Vec<Finding> {
    if !source.is_in("tilewright-core") {
        return Vec::new();
    }
    let marks = ["cfg(feature", "cfg_attr(feature", "(feature =", " feature ="];
    let lines = source
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| marks.iter().any(|mark| line.bare.contains(mark)));
    lines.map(|(i, _)| Finding::new(&source.path, i + 1, "A1", SAYS)).collect()
}

/// The libraries below the program. The pictures are not included, because style sheets have names with dashes.
const LIBRARIES: [&str; 7] = [
    "tilewright-core",
    "tilewright-fixed",
    "tilewright-xla",
    "tilewright-notation",
    "tilewright-relayout",
    "tilewright-files",
    "tilewright",
];

const OPTIONS_SAYS: &str = "an option of the program in a library; say what was asked, and what to do about it as a `Remedy`";

/// Finds literals with a word such as `--force`, in libraries.
pub(crate) fn options(source: &Source) -> Vec<Finding> {
    if !LIBRARIES.iter().any(|name| source.is_in(name)) {
        return Vec::new();
    }
    let lines =
        source.shipped().filter(|(_, line)| has_option(&line.worded) && !has_option(&line.bare));
    lines.map(|(number, _)| Finding::new(&source.path, number, "options", OPTIONS_SAYS)).collect()
}

/// Returns whether a text has two dashes followed by a lower-case letter.
fn has_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, dashes)| {
        text[at + dashes.len()..].starts_with(|next: char| next.is_ascii_lowercase())
    })
}

/// The folder of the kernels.
const KERNELS: &str = "crates/tilewright-relayout/src/cpu/kernel/";
/// The folder that reads arrays of other Python libraries.
const FOREIGN: &str = "crates/tilewright-py/src/foreign/";
/// The folder that calls the driver and the compiler of CUDA.
const CUDA: &str = "crates/tilewright-cuda/src/raw/";

fn may(source: &Source) -> bool {
    [KERNELS, FOREIGN, CUDA].iter().any(|folder| source.path.starts_with(folder))
}

/// Finds `unsafe` outside these folders and outside tests.
pub(crate) fn places(source: &Source) -> Vec<Finding> {
    if may(source) {
        return Vec::new();
    }
    let says = format!("`unsafe` stands only under {KERNELS}, {FOREIGN} and {CUDA}");
    let lines =
        source.shipped().filter(|(_, line)| word_places(&line.bare, "unsafe").next().is_some());
    lines.map(|(number, _)| Finding::new(&source.path, number, "A6", &*says)).collect()
}

/// Finds `unsafe` blocks and impls of these folders without a `// SAFETY:` before them.
pub(crate) fn proofs(source: &Source) -> Vec<Finding> {
    if !may(source) {
        return Vec::new();
    }
    let says = "an `unsafe` block without `// SAFETY:` above it, naming what proves it";
    let bare = (0..source.lines.len())
        .filter(|&at| needs_proof(&source.lines, at) && !is_proved(&source.lines, at));
    bare.map(|at| Finding::new(&source.path, at + 1, "A6", says)).collect()
}

/// Finds crate roots that do not forbid `unsafe`.
pub(crate) fn roots(source: &Source) -> Vec<Finding> {
    let names: Vec<&str> = source.path.split('/').collect();
    let (denies, wanted) = match names[..] {
        [
            "crates",
            "tilewright-relayout" | "tilewright-py" | "tilewright-cuda",
            "src",
            "lib.rs",
        ] => (true, "#![deny(unsafe_code)]"),
        ["crates", _, "src", "lib.rs" | "main.rs"]
        | ["bench", "src", "lib.rs"]
        | ["xtask", "src", "main.rs"] => (false, "#![forbid(unsafe_code)]"),
        _ => return Vec::new(),
    };
    let has = |mark: &str| source.bare.contains(mark);
    match has("#![forbid(unsafe_code)]") || (denies && has(wanted)) {
        true => Vec::new(),
        false => vec![Finding::new(
            &source.path,
            0,
            "A6",
            format!("the root of this crate has no `{wanted}`"),
        )],
    }
}

/// Returns whether an `unsafe` block or impl begins in this line.
fn needs_proof(lines: &[Line], at: usize) -> bool {
    let bare = &lines[at].bare;
    word_places(bare, "unsafe").any(|place| {
        let after = bare[place + "unsafe".len()..].trim_start();
        let next = if after.is_empty() {
            lines.get(at + 1).map_or("", |line| line.bare.trim_start())
        } else {
            after
        };
        next.starts_with('{') || next.starts_with("impl")
    })
}

/// Returns whether the comment above the line, or above its statement, has a proof.
fn is_proved(lines: &[Line], at: usize) -> bool {
    let mut above = at;
    loop {
        if lines[above].raw.contains("// SAFETY:") {
            return true;
        }
        if above == 0 || ends_before(&lines[above - 1]) {
            return false;
        }
        above -= 1;
    }
}

/// Returns whether a line ends the previous statement, so that a proof above it belongs to another.
fn ends_before(line: &Line) -> bool {
    let bare = line.bare.trim_end();
    let attribute = bare.trim_start().starts_with("#[");
    let comment = bare.is_empty() && !line.raw.trim().is_empty();
    !comment && !attribute && (bare.is_empty() || bare.ends_with([';', '{', '}', ',']))
}

// Catch-all arms are found without types, by a heuristic: it looks for a `_ =>` in core and relayout, outside tests, next to an arm that names
// a variant. Numbers, bytes, `Option`, `Result` and tuples of them are exempt. If the set of values is open although
// variants occur, the line has the comment `// open set`.

const OPEN_ARM: &str =
    "a catch-all arm beside variants of an enum; name the rest, or end the line with `// open set`";

/// Variants of closed enums of the standard library.
const CLOSED: [&str; 4] = ["Some", "None", "Ok", "Err"];

/// Finds catch-all arms next to variants, in core and relayout.
pub(crate) fn open_arms(source: &Source) -> Vec<Finding> {
    if !(source.is_in("tilewright-core") || source.is_in("tilewright-relayout")) {
        return Vec::new();
    }
    let bare = &source.bare;
    let arms = bare
        .match_indices('_')
        .map(|(at, _)| at)
        .filter(|&at| catches_all(bare, at) && beside_variants(bare, at));
    let lines = arms.map(|at| line_of(bare, at));
    let lines = lines.filter(|&i| {
        source.lines.get(i).is_some_and(|line| !line.test && !line.raw.contains("// open set"))
    });
    lines.map(|i| Finding::new(&source.path, i + 1, "A5", OPEN_ARM)).collect()
}

/// Returns whether the `_` at `at` is the whole pattern of an arm, with or without a guard.
fn catches_all(bare: &str, at: usize) -> bool {
    let (before, after) = (bare[..at].trim_end(), bare[at + 1..].trim_start());
    let line = after.lines().next().unwrap_or_default();
    let begins = before.ends_with(['{', ',', '}', '|']);
    begins && (line.starts_with("=>") || (line.starts_with("if ") && line.contains("=>")))
}

/// Returns whether another arm of the same `match` names a variant.
fn beside_variants(bare: &str, at: usize) -> bool {
    patterns(block_around(bare, at)).iter().any(|pattern| names_variant(pattern))
}

/// Returns the text inside the innermost braces around `at`.
fn block_around(bare: &str, at: usize) -> &str {
    let mut depth = 0_usize;
    for (i, byte) in bare.as_bytes()[..at].iter().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            b'{' if depth == 0 => return bare[i + 1..item_end(bare, i)].trim_end_matches('}'),
            b'{' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Returns the patterns of the arms of a `match`, without guards and without text in braces.
fn patterns(block: &str) -> Vec<String> {
    let mut patterns = Vec::new();
    let mut pattern = String::new();
    let mut rest = block;
    while let Some(next) = rest.chars().next() {
        if let Some(body) = rest.strip_prefix("=>") {
            let whole = std::mem::take(&mut pattern);
            patterns.push(whole.split(" if ").next().unwrap_or_default().to_string());
            rest = &body[body_length(body)..];
        } else if next == '{' {
            rest = &rest[item_end(rest, 0)..];
        } else {
            pattern.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    patterns
}

/// Returns the length of an arm's body: a block, or up to the comma after an expression.
fn body_length(body: &str) -> usize {
    let begin = body.len() - body.trim_start().len();
    if body[begin..].starts_with('{') {
        return item_end(body, begin);
    }
    let mut depth = 0_i64;
    for (i, byte) in body.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    body.len()
}

/// Returns whether a pattern names something like `Kind::Tile`, `K::T` or `Tile`, other than the closed variants.
fn names_variant(pattern: &str) -> bool {
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    let words = |text: &str| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let alone = |word: &String| {
        capital(word) && word.contains(char::is_lowercase) && !CLOSED.contains(&&**word)
    };
    let mut owners = pattern.split("::").map(words).collect::<Vec<_>>();
    owners.pop();
    words(pattern).iter().any(alone)
        || owners.iter().any(|owner| owner.last().is_some_and(|word| capital(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::{NONE, lines};

    fn found(path: &str) -> Vec<usize> {
        let text = "/// println!(\"doc\")\nfn a() { println!(\"b\") }\nfn c() { dbg!(1); }\nlet d = std::io::stdout();\nwriteln!(f, \"print!\");\npprint!();\n#[cfg(test)]\nmod tests { print!(); }";
        lines(&prints(&Source::new(path, text)))
    }

    #[test]
    fn libraries_are_silent() {
        assert_eq!(found("crates/tilewright-core/src/a.rs"), [2, 3, 4]);
        assert_eq!(found("crates/tilewright/src/a.rs"), [2, 3, 4]);
        assert_eq!(found("bench/src/a.rs"), [2, 3, 4]);
    }

    #[test]
    fn the_program_the_helper_tests_and_examples_speak() {
        for path in [
            "crates/tilewright-cli/src/a.rs",
            "xtask/src/a.rs",
            "bench/rivals/src/a.rs",
            "crates/tilewright/tests/a.rs",
            "crates/tilewright/examples/a.rs",
        ] {
            assert_eq!(found(path), NONE);
        }
    }

    #[test]
    fn a_feature_in_core_is_found() {
        let text = "#[cfg(feature = \"std\")]\nmod a;\n// cfg(feature = \"b\")\n#[cfg(all(test, feature = \"c\"))]\nmod d;";
        assert_eq!(
            lines(&features(&Source::new("crates/tilewright-core/src/lib.rs", text))),
            [1, 4]
        );
        assert!(features(&Source::new("crates/tilewright-files/src/lib.rs", text)).is_empty());
    }

    #[test]
    fn options_in_the_messages_of_libraries_are_found() {
        let text = "// --force\nlet a = \"x; lower --memory\";\nlet b = \"a -- b, -x, ---\";\n#[cfg(test)]\nmod tests { fn a() { \"--to\"; } }";
        let found = |path: &str| lines(&options(&Source::new(path, text)));
        assert_eq!(found("crates/tilewright-files/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright-cli/src/a.rs"), NONE);
    }

    const KERNEL: &str = "crates/tilewright-relayout/src/cpu/kernel/generic.rs";

    fn proofs_in(text: &str) -> Vec<usize> {
        lines(&proofs(&Source::new(KERNEL, text)))
    }

    #[test]
    fn unsafe_stands_in_one_folder() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nfn a() { unsafe { b() } }\n#[cfg(test)]\nmod tests { unsafe fn c() {} }";
        assert_eq!(
            lines(&places(&Source::new("crates/tilewright-relayout/src/plan.rs", text))),
            [3]
        );
        assert_eq!(lines(&places(&Source::new("xtask/src/main.rs", text))), [3]);
        assert!(places(&Source::new(KERNEL, text)).is_empty());
        assert!(places(&Source::new("crates/tilewright-py/src/foreign/mod.rs", text)).is_empty());
        assert!(places(&Source::new("crates/tilewright-cuda/src/raw/driver.rs", text)).is_empty());
        assert_eq!(lines(&places(&Source::new("crates/tilewright-cuda/src/cuda.rs", text))), [3]);
        assert_eq!(lines(&places(&Source::new("crates/tilewright-py/src/plan.rs", text))), [3]);
    }

    #[test]
    fn a_block_without_a_proof_is_found() {
        assert_eq!(proofs_in("fn a() {\n    unsafe { b() }\n}"), [2]);
        assert_eq!(proofs_in("// SAFETY: c\nlet d = 1;\nlet e = unsafe { f() };"), [3]);
        assert_eq!(proofs_in("// SAFETY: c\nunsafe { d() };\nunsafe { e() };"), [3]);
        assert_eq!(proofs_in("unsafe impl Send for A {}"), [1]);
        assert_eq!(proofs_in("let a = unsafe\n{ b() };"), [1]);
    }

    #[test]
    fn a_proof_stands_above_the_block_or_its_statement() {
        assert!(
            proofs_in("// SAFETY: `plan.bound` covers\n// every offset\nunsafe { a() }").is_empty()
        );
        assert!(proofs_in("// SAFETY: a\nlet b: u32 =\n    unsafe { c() };").is_empty());
        assert!(proofs_in("// SAFETY: a\n#[allow(unsafe_code)]\nunsafe { b() }").is_empty());
        assert!(proofs_in("unsafe { a() } // SAFETY: b").is_empty());
        assert!(proofs_in("unsafe fn a() {}\nunsafe extern \"C\" {}").is_empty());
    }

    #[test]
    fn roots_forbid_it() {
        let at = |path, text| roots(&Source::new(path, text)).len();
        assert_eq!(at("crates/tilewright-core/src/lib.rs", "//! a\n#![deny(unsafe_code)]"), 1);
        assert_eq!(at("crates/tilewright-core/src/lib.rs", "//! a\n#![forbid(unsafe_code)]"), 0);
        assert_eq!(at("crates/tilewright-core/src/lib.rs", "//! #![forbid(unsafe_code)]"), 1);
        assert_eq!(at("crates/tilewright-relayout/src/lib.rs", "#![deny(unsafe_code)]"), 0);
        assert_eq!(at("crates/tilewright-relayout/src/lib.rs", "//! a"), 1);
        assert_eq!(at("crates/tilewright-cuda/src/lib.rs", "#![deny(unsafe_code)]"), 0);
        assert_eq!(at("crates/tilewright-device/src/lib.rs", "#![deny(unsafe_code)]"), 1);
        assert_eq!(at("crates/tilewright-cli/src/main.rs", "fn main() {}"), 1);
        assert_eq!(at("crates/tilewright-cli/src/show.rs", ""), 0);
    }

    fn arms(path: &str, text: &str) -> Vec<usize> {
        lines(&open_arms(&Source::new(path, text)))
    }

    fn in_core(text: &str) -> Vec<usize> {
        arms("crates/tilewright-core/src/a.rs", text)
    }

    #[test]
    fn catch_all_arms_beside_variants_are_found() {
        let text = "match a {\n    A::B => 1,\n    _ => 2,\n}\nmatch a { Bee => 1, _ => 2 }\nmatch a {\n    A::B { c } => { 3 }\n    _ if d => 1,\n}";
        assert_eq!(in_core(text), [3, 5, 8]);
        assert_eq!(arms("crates/tilewright-relayout/src/cpu/kernel/a.rs", text), [3, 5, 8]);
        assert_eq!(arms("crates/tilewright-files/src/a.rs", text), NONE);
        assert_eq!(in_core("match (a, b) {\n    (Some(A::B), 1) => 1,\n    _ => 2,\n}"), [3]);
        assert_eq!(
            in_core("match a {\n    0 => match b { A::B => 1, A::C => 2 },\n    _ => 3,\n}"),
            NONE
        );
        assert_eq!(
            in_core("match a {\n    A::B => match b { 0 => 1, _ => 2 },\n    A::C => 3,\n}"),
            NONE
        );
    }

    #[test]
    fn numbers_options_and_tuples_are_free() {
        assert_eq!(
            in_core(
                "match a {\n    0 | u64::MAX => A::B,\n    b'x' if b == C::D => 1,\n    _ => 2,\n}"
            ),
            NONE
        );
        assert_eq!(
            in_core("match (a, b) {\n    (Some(a), Ok(b)) => { A::B }\n    _ => C::D,\n}"),
            NONE
        );
    }

    #[test]
    fn open_sets_inner_wildcards_and_tests_are_free() {
        assert_eq!(in_core("match a {\n    A::B => 1,\n    _ => 2, // open set\n}"), NONE);
        assert_eq!(
            in_core(
                "match a {\n    A::B(_) => 1,\n    A::C { .. } => 3,\n    n_ => 4,\n}\n// _ => 5"
            ),
            NONE
        );
        assert_eq!(
            in_core("#[cfg(test)]\nmod tests {\n    fn a() { match a { A::B => 1, _ => 2 } }\n}"),
            NONE
        );
    }

    #[test]
    fn broken_text_ends() {
        for text in ["_ => 1", "match a { _ =>", "} _ => {", "{ A::B =>, _ => ("] {
            assert!(in_core(text).len() < 2);
        }
    }
}
