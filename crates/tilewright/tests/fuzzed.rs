//! The targets of the coverage-guided fuzzer, over their seeds and some thousand mutations of them. `cargo xtask oracles fuzz`
//! runs longer, with a compiler that reports coverage.
//!
//! The targets add formats for the whole process, so this is a separate program.
//!
//! `TILEWRIGHT_MUTATIONS` sets the number of mutations for each target, `TILEWRIGHT_SEED` selects them.

#![cfg(all(feature = "files", feature = "xla"))]

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::{env, path::Path, sync::atomic::Ordering};

/// The number of mutations of each target, and of targets that write files.
const TEXTS: u64 = 3000;
const FILES: u64 = 300;

struct Dice(tilewright_testing::Random);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }
}

/// Words that the readers recognise.
const WORDS: [&str; 16] = [
    "-1",
    "0",
    "9223372036854775807",
    "18446744073709551615",
    "((((",
    "))))",
    ":",
    ",",
    "[",
    "{",
    "é",
    "\"",
    "1e9",
    "_",
    "T(2,2)",
    "\u{0}",
];

/// Returns an input with one to four changes: bytes changed, cut or doubled, words inserted, parts of another input.
fn mutated(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[dice.below(seeds.len())].clone();
    for _ in 0..1 + dice.below(4) {
        let (at, to) = (dice.below(bytes.len() + 1), dice.below(bytes.len() + 1));
        let range = at.min(to)..at.max(to).min(at.min(to) + 64);
        match dice.below(6) {
            0 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 => drop(bytes.drain(range)),
            3 => {
                let part = bytes[range].to_vec();
                bytes.splice(at..at, part);
            }
            4 => drop(bytes.splice(at..at, WORDS[dice.below(WORDS.len())].bytes())),
            _ => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len() + 1);
                let part = other[from..other.len().min(from + 32)].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

#[test]
fn targets_hold_on_their_seeds_and_on_mutations() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("TILEWRIGHT_SEED").unwrap_or(1);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, target) in targets::TARGETS {
        let seeds = targets::seeds(&root, name);
        assert!(seeds.len() > 1, "{name} has no seeds");
        seeds.iter().for_each(|bytes| target(bytes));
        let is_file = ["safetensors", "numpy", "gguf"].contains(&name);
        let verified = targets::VERIFIED.swap(0, Ordering::Relaxed);
        println!("{name}: {verified} conversions of its seeds verified");
        // A target whose conversions all fail does not find anything.
        assert!(!is_file || 2 * verified >= seeds.len(), "{name}: {verified} of {}", seeds.len());
        let count = number("TILEWRIGHT_MUTATIONS").unwrap_or(if is_file {
            tilewright_testing::cases(FILES, FILES / 4)
        } else {
            tilewright_testing::cases(TEXTS, TEXTS / 4)
        });
        for i in 0..count {
            let mut dice =
                Dice(tilewright_testing::Random(seed ^ i.wrapping_mul(0xD6E8_FEB8_6659_FD93)));
            let bytes = mutated(&mut dice, &seeds);
            let done = std::panic::catch_unwind(|| target(&bytes));
            if let Err(panic) = done {
                eprintln!(
                    "{name}, seed {seed}, mutation {i}: {:?}",
                    bytes.escape_ascii().to_string()
                );
                std::panic::resume_unwind(panic);
            }
        }
        println!("{name}: {} seeds, {count} mutations", seeds.len());
    }
}
