//! The offset of a static layout compiles to the code one would write by hand: the same number of instructions, without
//! a division, a call or a branch.
//!
//! The offset in a constant layout of core, which is checked, is inlined too: without a division or a call, and with a
//! bounded number of instructions for the checks.
//!
//! The multiplications by which the compiler replaces a division depend on the order of the terms; in the two cases where
//! this matters, ours may be shorter.

use super::rustc::Compiler;

/// The name, the parameters, the offset by a fixed layout, and the offset by hand.
const CASES: &[[&str; 4]] = &[
    [
        "by_axis",
        "r: u64, c: u64",
        "make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32))).offset((r, c))",
        "(r % 4 * 4 + r / 4 * 16 + c % 4 + c / 4 * 32) as i64",
    ],
    [
        "by_mode",
        "a: u64, b: u64, c: u64, d: u64",
        "make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32))).offset(((a, b), (c, d)))",
        "(a * 4 + b * 16 + c + d * 32) as i64",
    ],
    [
        "by_index",
        "i: u64",
        "make_layout((_4, _8, _16, _3), (_8, _64, _1, _512)).offset(i)",
        "(i % 4 * 8 + i / 4 % 8 * 64 + i / 4 / 8 % 16 + i / 4 / 8 / 16 * 512) as i64",
    ],
    [
        "by_odd_extents",
        "r: u64, c: u64",
        "make_layout(((_3, _5), (_7, _2)), ((_14, Int::<55>), (_2, _1))).offset((r, c))",
        "(r % 3 * 14 + r / 3 * 55 + c % 7 * 2 + c / 7) as i64",
    ],
    [
        "of_a_format",
        "r: u64, c: u64",
        "zN::layout(_32, _48, _16).layout().offset((r, c))",
        "(r % 16 * 16 + r / 16 * 256 + c % 16 + c / 16 * 512) as i64",
    ],
    [
        "of_a_tile",
        "r: u64, c: u64",
        "make_tile(make_layout((_8, _64), (_64, _1)), (_2, _16), (_4, _16)).offset((r, c))",
        "((r + 2) * 64 + c + 16) as i64",
    ],
    [
        "of_a_constant",
        "r: u64, c: u64",
        "const L: Layout = layout!(\"((4,2),(4,4)):((4,16),(1,32))\");
         L.offset_at(&[r % 8, c % 16]).unwrap_or(0)",
        "(r % 8 % 4 * 4 + r % 8 / 4 * 16 + c % 16 % 4 + c % 16 / 4 * 32) as i64",
    ],
    [
        "of_a_constant_array",
        "r: u64, c: u64",
        "const ROWS: Layout = layout!(\"(8,16):(16,1)\");
         const T: TensorLayout = TensorLayout::of(&ROWS);
         T.offset(&[r % 8, c % 16]).unwrap_or(0)",
        "(r % 8 * 16 + c % 16) as i64",
    ],
    [
        "of_a_composition",
        "i: u64, c: u64",
        "make_layout((_8, _16, _4), (_64, _1, _16)).composition(make_layout((_16, _32), (_1, _16))).offset((i, c))",
        "(i % 8 * 64 + i / 8 + c % 8 * 2 + c / 8 * 16) as i64",
    ],
];

fn program(body: usize) -> String {
    let head = "#![allow(unused_imports)]\nuse tilewright_core::{Layout, TensorLayout, layout};\nuse tilewright_fixed::*;\n".to_owned();
    CASES.iter().fold(head, |text, case| {
        let [name, parameters, ..] = case;
        let body = case[body];
        text + &format!("#[unsafe(no_mangle)] pub fn {name}({parameters}) -> i64 {{ {body} }}\n")
    })
}

/// Returns the instructions of a function, each on its own line.
fn instructions<'a>(assembly: &'a str, name: &str) -> Vec<&'a str> {
    let label = |line: &str| line == format!("{name}:") || line == format!("_{name}:");
    let body = assembly.lines().skip_while(|line| !label(line)).skip(1);
    // A function ends where the next one begins.
    let body = body.take_while(|line| {
        line.starts_with([' ', '\t', '.', 'L', '#', ';', '/']) || line.is_empty()
    });
    let lines =
        body.map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() > 1, "{name} is not in the assembly:\n{assembly}");
    lines
}

/// Returns whether an instruction divides, calls or branches, on x86-64 and AArch64.
fn is_no_arithmetic(instruction: &str) -> bool {
    let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
    let exact = ["b", "bl", "br", "blr", "cbz", "cbnz", "tbz", "tbnz", "udiv", "sdiv"];
    exact.contains(&mnemonic)
        || ["j", "call", "div", "idiv", "b."].iter().any(|start| mnemonic.starts_with(start))
}

/// The instructions that a nested constant layout of core adds to the code written by hand: checks of the
/// coordinate, and registers saved for the error.
const CHECKS: usize = 12;

/// Returns the instructions from the start of a function to its first return.
fn straight<'a>(instructions: &[&'a str]) -> Vec<&'a str> {
    let returns = instructions.iter().position(|line| line.starts_with("ret"));
    instructions[..=returns.expect("a function returns")].to_vec()
}

/// Compiles both programs and compares them function by function.
pub(crate) fn offsets_of_static_layouts(compiler: &Compiler) {
    let [fixed, hand] = [2, 3].map(|body| {
        let outcome = compiler.build(&program(body));
        assert!(outcome.ok, "{}", outcome.messages);
        outcome.assembly
    });
    for [name, ..] in CASES {
        let (ours, theirs) = (instructions(&fixed, name), instructions(&hand, name));
        if *name == "of_a_constant" {
            let path = straight(&ours);
            let slow = |line: &&str| {
                ["call", "bl", "div", "idiv", "udiv"].iter().any(|no| line.starts_with(no))
            };
            assert!(!path.iter().any(slow), "{name}:\n{}", path.join("\n"));
            assert!(path.len() <= theirs.len() + CHECKS, "{name}:\n{}", path.join("\n"));
            continue;
        }
        let strange: Vec<_> = ours.iter().filter(|line| is_no_arithmetic(line)).collect();
        assert!(strange.is_empty(), "{name}: {strange:?} in\n{}", ours.join("\n"));
        let shorter = ["by_odd_extents", "of_a_composition"].contains(name);
        let same = ours.len() == theirs.len() || (shorter && ours.len() < theirs.len());
        assert!(same, "{name}:\n{}\nby hand:\n{}", ours.join("\n"), theirs.join("\n"));
    }
}

#[test]
fn what_is_looked_for_is_found() {
    let assembly = "f:\n\t.cfi_startproc\n\tmovq\t%rdi, %rax\n.LBB0_1:\n\tidivq\t%rsi\n\tjne\t.LBB0_1\n\tretq\ng:\n\tretq\n";
    let found = instructions(assembly, "f");
    assert_eq!(found.len(), 4);
    assert_eq!(found.iter().filter(|line| is_no_arithmetic(line)).count(), 2);
}
