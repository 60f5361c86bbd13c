//! A3: a consumer uses core's values and never learns in which notation they were written. Core itself knows one
//! notation, in one file, and only XLA's own two notations know XLA's model.
//!
//! A4: the facade and its callers ask a layout what it is. They use XLA's model only to read a file of XLA's, and never
//! parse the name of a layout again.
//!
//! Comments, `#[doc(…)]` attributes and tests may name anything.

use super::source::{Finding, Source, is_word_byte};

/// Words of dialects, in lower case and without separators.
const EVERYWHERE: [&str; 12] = [
    "onednn", "dnnl", "hlo", "cute", "tla", "mlir", "triton", "einops", "ascend", "catlass",
    "cublas", "cublaslt",
];

/// Words that a crate which reads and writes files of these projects must know.
const NOT_IN_MEMORY: [&str; 4] = ["xla", "numpy", "torch", "jax"];

/// Formats that core defines by name, and that no consumer treats specially.
const NOT_IN_CONSUMERS: [&str; 1] = ["fractal"];

/// The one notation core reads and prints.
const CORE_TEXT: &str = "crates/tilewright-core/src/layout/text.rs";

/// The crates without XLA's model, and their files that may use it: the dialects of XLA, and in the facade the readers
/// of modules and the root.
const WITHOUT_XLA: [&str; 5] =
    ["tilewright-notation", "tilewright-py", "tilewright", "tilewright-cli", "tilewright-web"];
const OF_XLA: [&str; 5] = [
    "/compilers/hlo.rs",
    "/compilers/jax.rs",
    "tilewright/src/lib.rs",
    "tilewright/src/module.rs",
    "tilewright/src/ask/module.rs",
];

/// Finds words of a dialect in the code of core, relayout, draw and files; and in notation, the facade and its callers,
/// uses of XLA's model and names that are parsed again.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    if WITHOUT_XLA.iter().any(|name| source.is_in(name)) {
        let mut findings = xla_model(source);
        findings.extend(names_read(source).filter(|_| !source.is_in("tilewright-notation")));
        return findings;
    }
    let core = ["tilewright-core", "tilewright-fixed"].iter().any(|name| source.is_in(name));
    let files = source.is_in("tilewright-files");
    let consumer = ["tilewright-relayout", "tilewright-draw"].iter().any(|name| source.is_in(name));
    if !(core || files || consumer) || source.path == CORE_TEXT {
        return Vec::new();
    }
    let known = |word: &str| {
        EVERYWHERE.contains(&word)
            || (!files && NOT_IN_MEMORY.contains(&word))
            || (!core && NOT_IN_CONSUMERS.contains(&word))
    };
    let lines = source.shipped().filter(|(_, line)| !line.bare.contains("[doc("));
    let named = lines.filter_map(|(number, line)| {
        Some((number, words(&line.worded).into_iter().find(|word| known(word))?))
    });
    named.map(|(number, word)| Finding::new(&source.path, number, "A3", says(&word))).collect()
}

/// Finds places where the name of a layout is parsed again: the meaning of a layout does not depend on its text.
fn names_read(source: &Source) -> impl Iterator<Item = Finding> + '_ {
    let reads = |line: &str| {
        let read = ["parse(", "read("].iter().find_map(|call| line.find(call));
        read.is_some_and(|at| line[at..].contains(".name()"))
    };
    let lines = source.shipped().filter(move |(_, line)| reads(&line.bare));
    let says = "the name of a layout is read again; ask the layout, so that one that is written otherwise has the same answer";
    lines.map(move |(number, _)| Finding::new(&source.path, number, "A4", says))
}

/// Finds uses of XLA's model outside the files that may use it.
fn xla_model(source: &Source) -> Vec<Finding> {
    if OF_XLA.iter().any(|end| source.path.ends_with(end)) {
        return Vec::new();
    }
    let uses = |line: &str| line.contains("tilewright_xla") || line.contains("xla::");
    let lines = source.shipped().filter(|(_, line)| uses(&line.bare));
    let says = "XLA's model, outside the files that are about it; element types, fills and layouts are core's";
    lines.map(|(number, _)| Finding::new(&source.path, number, "A3", says)).collect()
}

fn says(word: &str) -> String {
    format!(
        "`{word}` is a word of a dialect; a consumer knows core's values only, and core only their meaning"
    )
}

/// Returns every identifier of a line, its parts, and adjacent parts joined, all in lower case: `OneDnnTag` gives
/// `onednntag`, `one`, `dnn`, `tag`, `onednn`, `dnntag`.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for identifier in line
        .split(|c: char| !c.is_ascii() || !is_word_byte(c as u8))
        .filter(|word| !word.is_empty())
    {
        let parts = parts(identifier);
        words.push(parts.concat());
        words.extend(parts.windows(2).map(<[String]>::concat));
        words.extend(parts);
    }
    words
}

/// Returns the parts of an identifier, split at underscores and at capitals that begin a word.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut small = false;
    for c in identifier.chars() {
        if c == '_' || (c.is_ascii_uppercase() && small) {
            parts.push(String::new());
        }
        small = !c.is_ascii_uppercase();
        if c != '_' {
            parts.last_mut().into_iter().for_each(|part| part.push(c.to_ascii_lowercase()));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::{NONE, lines};

    fn found(path: &str, text: &str) -> Vec<usize> {
        lines(&findings(&Source::new(path, text)))
    }

    #[test]
    fn consumers_name_no_dialect() {
        let text = "fn from_hlo() {}\nstruct OneDnnTag;\nlet a = \"a CuTe text\";\nfn execute() {}\nenum FRACTAL_NZ {}";
        assert_eq!(found("crates/tilewright-relayout/src/plan.rs", text), [1, 2, 3, 5]);
        assert_eq!(found("crates/tilewright-notation/src/hlo.rs", text), NONE);
    }

    #[test]
    fn comments_docs_and_tests_may() {
        let text = "//! As oneDNN\n/// as XLA\n#[doc(alias = \"onednn\")]\nfn a() {} // HLO\n#[cfg(test)]\nmod tests { fn hlo() {} }";
        assert_eq!(found("crates/tilewright-core/src/tensor/pattern.rs", text), NONE);
        assert_eq!(found("crates/tilewright-relayout/tests/a.rs", "fn hlo() {}"), NONE);
    }

    #[test]
    fn core_knows_one_notation_in_one_file() {
        assert_eq!(found("crates/tilewright-core/src/layout/text.rs", "fn cute() {}"), NONE);
        assert_eq!(found("crates/tilewright-core/src/layout/mod.rs", "fn cute() {}"), [1]);
        assert_eq!(
            found("crates/tilewright-core/src/tensor/fractal.rs", "mod fractal;\nfn xla() {}"),
            [2]
        );
    }

    #[test]
    fn notations_do_without_the_model_of_xla() {
        let text = "use tilewright_xla::Layout;\nuse tilewright::xla::fill_text;\nfn xla() {}";
        assert_eq!(found("crates/tilewright-notation/src/dtype.rs", text), [1, 2]);
        assert_eq!(found("crates/tilewright-py/src/tensor.rs", text), [1, 2]);
        assert_eq!(found("crates/tilewright-notation/src/dialect/compilers/hlo.rs", text), NONE);
    }

    #[test]
    fn the_facade_asks_layouts_and_not_their_names() {
        let text = "use tilewright_xla::Layout;\nfn a() { ArrayShape::parse(named.name()) }\nlet a = to.name();\nlet b = Spec::parse(text);";
        assert_eq!(found("crates/tilewright/src/ask/explain.rs", text), [1, 2]);
        assert_eq!(found("crates/tilewright-cli/src/commands/info.rs", text), [1, 2]);
        assert_eq!(found("crates/tilewright/src/ask/module.rs", text), [2]);
    }

    #[test]
    fn files_know_the_makers_of_files() {
        let text = "fn numpy() {}\nuse tilewright_xla::Shape;\nfn cute() {}";
        assert_eq!(found("crates/tilewright-files/src/npy.rs", text), [3]);
        assert_eq!(found("crates/tilewright-relayout/src/plan.rs", text), [1, 2, 3]);
    }
}
