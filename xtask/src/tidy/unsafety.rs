//! A6: `unsafe` is allowed in the kernels of relayout, in the folder that reads Python's arrays and in the folder that
//! calls CUDA's libraries, and nowhere else. Every block has its proof, and every other crate's root makes the compiler
//! forbid it.

use super::source::{Finding, Line, Source, word_places};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::lines;

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
}
