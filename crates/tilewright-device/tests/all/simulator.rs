//! Tests of the simulator itself: each kind of finding is planted once, in a kernel that is right without it, and found
//! at its line; counts of sectors and bank cycles are those of the definition.

use crate::host::{
    report::Answer,
    simulator::{After, Array, Launch, Run, Simulator, noise},
};

/// Copies 1024 bytes with 64 threads, through shared memory: thread `t` reads the data that thread `t ^ 32` wrote.
const RIGHT: [&str; 12] = [
    "SHARED(sm, 1024);",
    "THREADS_BEGIN",
    "if (tid * 16u < (u32)P(0))",
    "STS16(sm, tid, LDG16(src + tid * 16u));",
    "THREADS_END",
    "BARRIER;",
    "THREADS_BEGIN",
    "const u32 other = tid ^ 32u;",
    "if (other * 16u < (u32)P(0))",
    "STG16(dst + other * 16u, LDS16(sm, other));",
    "THREADS_END",
    "",
];

/// The lines of a text before its body.
const HEAD: u32 = 6;

fn text(lines: &[&str]) -> String {
    format!(
        "#define NT 64\n#define MINBLOCKS 1\n#define PARAMS 1\n#define SHAREDBYTES 1024\n\
         #include \"tilewright_device.h\"\nKERNEL(tw_move)\n{}\nKERNEL_END\n",
        lines.join("\n")
    )
}

/// Returns the kernel with another line.
fn with(line: usize, other: &str) -> String {
    let mut lines = RIGHT;
    lines[line] = other;
    text(&lines)
}

fn array(base: u64, seed: u64) -> Array {
    Array { base, bytes: 1024, seed }
}

/// Returns a launch of one block over two arrays of 1024 bytes that must be equal.
fn run(kernel: usize) -> Run {
    Run {
        name: format!("planted{kernel}"),
        src: array(0x1000, 1),
        dst: array(0x9_0000_0000, 2),
        reads: false,
        keep: Vec::new(),
        mutant: None,
        launches: vec![Launch {
            kernel,
            blocks: 1,
            params: vec![1024],
            only: Vec::new(),
            fills: false,
        }],
        after: After::Expect(noise(1, 0, 1024)),
    }
}

fn answers(texts: &[String]) -> Option<Vec<Answer>> {
    let runs: Vec<Run> = (0..texts.len()).map(run).collect();
    Simulator::build(texts).map(|simulator| simulator.run(&runs))
}

/// A kernel, the kind that is found first, and its line in the body; `None` if it has no line.
type Planted = (String, &'static str, Option<usize>);

fn planted() -> Vec<Planted> {
    let at = |line, other, what| (with(line, other), what, Some(line));
    let anywhere = |line, other, what| (with(line, other), what, None);
    vec![
        at(3, "STS16(sm, tid, LDG16(src + tid * 16u + 8u));", "load misaligned"),
        at(3, "STS16(sm, tid, LDG16(src + tid * 16u + 16u));", "load outside"),
        at(3, "STS16(sm, tid, LDG16(src - 16 + tid * 16u));", "load outside"),
        at(3, "STS16(sm, tid, LDG16(dst + tid * 16u));", "load of the destination"),
        at(3, "STS16(sm, tid, LDG16((GSRC)(u64)(u32)(u64)(dst) + tid * 16u));", "load outside"),
        at(9, "STG16(dst + other * 16u + 8u, LDS16(sm, other));", "store misaligned"),
        at(9, "STG16(dst + other * 16u + 16u, LDS16(sm, other));", "store outside"),
        at(9, "STG16((GDST)src + other * 16u, LDS16(sm, other));", "store outside"),
        at(9, "STG16(dst + other / 2u * 32u, LDS16(sm, other));", "written twice"),
        anywhere(8, "if (other * 16u + 16u < (u32)P(0))", "never written"),
        at(9, "STG16(dst + other * 16u, LDS16(sm, other ^ 1u));", "wrong byte"),
        // The previous contents of shared memory.
        at(9, "STG16(dst + other * 16u, LDS16(sm, other));", "wrong byte"),
        at(3, "STS16(sm, tid + 1u, LDG16(src + tid * 16u));", "shared outside"),
        at(3, "STS16(sm, tid - 1u, LDG16(src + tid * 16u));", "shared outside"),
        at(3, "STS8(sm, tid * 16u + 4u, LDG8(src + tid * 16u));", "shared misaligned"),
        at(5, "", "race"),
        at(9, "STS1(sm, 5u, 1); STG16(dst + other * 16u, LDS16(sm, other));", "race"),
        at(
            9,
            "STG16(dst + other * 16u, LDS16(sm, other)); if (tid == 3u) STS1(sm, 5u, 1);",
            "race",
        ),
        at(3, "CPASYNC16(sm, tid * 16u, src + tid * 16u);", "copy in flight"),
        at(
            3,
            "CPASYNC16(sm, tid * 16u, src + tid * 16u); LDS1(sm, tid * 16u); CPWAIT;",
            "copy in flight",
        ),
        at(3, "CPASYNC16(sm, tid * 16u, src + tid * 16u + 8u); CPWAIT;", "load misaligned"),
        at(
            3,
            "{ CPASYNC16(sm, tid * 16u, src + tid * 16u); if (tid != 63u) CPWAIT; }",
            "copy in flight",
        ),
        at(11, "THREADS_BEGIN CPASYNC16(sm, tid * 16u, src); THREADS_END", "copy not waited for"),
        at(0, "SHARED(sm, 49168);", "too much shared memory"),
        at(7, "const u32 other = tid ^ 32u; BARRIER;", "barrier inside a phase"),
        anywhere(7, "const u32 other = tid ^ 32u; if (tid == 5u) return;", "return inside a phase"),
        at(2, "if (tid * 16u < (u32)P(1))", "parameter outside"),
        at(0, "SHARED(sm, 1024); LDG1(src);", "access outside a phase"),
        at(
            7,
            "const u32 other = tid ^ 32u; for (u32 i = 0; i < 1u; i += P(0) >> 40) LDG1(src);",
            "without end",
        ),
        anywhere(7, "const u32 other = (tid ^ 32u) << (u32)(P(0) >> 5);", "undefined"),
        anywhere(
            7,
            "u32 r[4] = {0}; r[P(0) >> 8] = 1; const u32 other = (tid ^ 32u) + r[0];",
            "undefined",
        ),
    ]
}

#[test]
fn every_kind_of_finding_is_found_where_it_was_planted() {
    let mut all = planted();
    // The twelfth kernel never writes its shared memory.
    all[11].0 = with(3, "LDG16(src + tid * 16u);");
    let texts: Vec<String> = all.iter().map(|(text, ..)| text.clone()).collect();
    let Some(answers) = answers(&texts) else { return };
    for ((text, what, line), answer) in all.iter().zip(answers) {
        let found = answer.findings.iter().find(|finding| finding.what == *what);
        let found = found.unwrap_or_else(|| panic!("no {what:?} but {answer:?} in\n{text}"));
        assert!(answer.count > 0 && found.launch == 0 && found.block == 0 && found.thread < 64);
        match (line, found.what.as_str()) {
            // Either access of a missing barrier or of an asynchronous copy may be reported.
            (None, _) | (_, "race" | "copy in flight") => {}
            (Some(line), _) => assert_eq!(found.line, *line as u32 + HEAD + 1, "{found:?}\n{text}"),
        }
    }
}

#[test]
fn the_kernel_without_them_has_none() {
    let waits = "{ CPASYNC16(sm, tid * 16u, src + tid * 16u); CPWAIT; }";
    let one = "for (u32 i = 0; i < 16u; i++) STS1(sm, tid * 16u + i, LDG1(src + tid * 16u + i));";
    let Some(answers) = answers(&[text(&RIGHT), with(3, waits), with(3, one)]) else { return };
    for answer in &answers {
        assert_eq!((answer.count, answer.kinds()), (0, vec![]), "{answer:?}");
        assert_eq!((answer.store.requests, answer.store.bytes, answer.store.units), (2, 1024, 32));
        assert_eq!((answer.load.bytes, answer.load.ratio() >= 1.0), (1024, true));
    }
    // Lanes 16 bytes apart touch half of each sector, 16 times.
    assert_eq!((answers[2].load.units, answers[2].load.ideal), (2 * 16 * 16, 2 * 16));
    assert_eq!((answers[2].load.distinct, answers[0].load.distinct), (32, 32));
}

/// One access of shared memory for each thread, and the cycles that a warp needs, computed from the definition.
#[test]
fn turns_are_those_of_the_banks() {
    let access = |at: &str| with(9, &format!("STG16(dst + other * 16u, LDS16(sm, other)); {at};"));
    let cases = [
        // 32 lanes in 32 banks; in one bank; one word for all; pairs in one bank.
        ("LDS4(sm, tid % 32u * 4u)", 2, 2),
        ("LDS4(sm, tid % 8u * 128u)", 2, 16),
        ("LDS4(sm, 8u)", 2, 2),
        ("LDS2(sm, tid % 32u * 8u)", 2, 4),
        // Half warps, and quarters.
        ("LDS8(sm, tid % 32u * 8u)", 4, 4),
        ("LDS8(sm, tid % 8u * 128u)", 4, 32),
        ("LDS16(sm, tid % 8u * 8u)", 8, 64),
        // One lane of four.
        ("if (tid % 4u == 0u) LDS4(sm, tid * 4u)", 2, 2),
    ];
    let base = text(&RIGHT);
    let texts: Vec<String> = [base].into_iter().chain(cases.map(|(at, ..)| access(at))).collect();
    let Some(answers) = answers(&texts) else { return };
    let plain = answers[0].read;
    assert_eq!((plain.units, plain.ideal), (8, 8));
    for ((at, ideal, units), answer) in cases.iter().zip(&answers[1..]) {
        let read = answer.read;
        assert_eq!((read.ideal - plain.ideal, read.units - plain.units), (*ideal, *units), "{at}");
        assert_eq!(answer.count, 0, "{answer:?}");
    }
}

/// Lanes that execute a line with different frequencies are counted by the minimum.
#[test]
fn uneven_lines_are_counted_as_such() {
    let uneven = "for (u32 i = 0; i < 1u + tid % 2u; i++) STS4(sm, tid * 16u + i * 4u, LDG4(src + tid * 16u + i * 4u));";
    let Some(answers) = answers(&[with(3, uneven)]) else { return };
    assert_eq!((answers[0].load.uneven, answers[0].load.units), (96, 32));
}
