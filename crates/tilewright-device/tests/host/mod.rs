//! Kernels as C++ on the host: many plans in one file, compiled once, each against what the processor's plan writes.

use std::{collections::HashMap, fmt::Write as _, path::Path, process::Command};
use tilewright_device::{Alignment, DevicePlan, Kernel, Target};
use tilewright_relayout::{Plan, Program};

/// A program with what it says of itself when it fails.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) alignment: Alignment,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, program: Program) -> Case {
        Case { name: name.into(), program, alignment: Alignment::default() }
    }

    pub(crate) fn at(self, src: u8, dst: u8) -> Case {
        Case { alignment: Alignment::new(src, dst).unwrap(), ..self }
    }
}

/// Bytes that no neighbours share by accident.
fn bytes(count: u64) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Compiles all plans, runs them, and compares every byte; gives the kernels of each case.
pub(crate) fn check(cases: &[Case]) -> Vec<DevicePlan> {
    let folder = tempfile::tempdir().unwrap();
    let plans: Vec<DevicePlan> = cases
        .iter()
        .map(|case| DevicePlan::new(&case.program, case.alignment).expect(&case.name))
        .collect();
    for (i, case) in cases.iter().enumerate() {
        let source = bytes(case.program.src_bytes());
        std::fs::write(folder.path().join(format!("in{i}")), &source).unwrap();
    }
    run(folder.path(), &code(cases, &plans));
    for (i, case) in cases.iter().enumerate() {
        let source = bytes(case.program.src_bytes());
        let mut expected = vec![0xEE; case.program.dst_bytes() as usize];
        Plan::of(case.program.clone()).run(&source, &mut expected, 1).unwrap();
        let got = std::fs::read(folder.path().join(format!("out{i}"))).unwrap();
        let ways: Vec<&str> = plans[i].kernels().iter().map(|kernel| kernel.way().name()).collect();
        assert_eq!(got.len(), expected.len(), "{}: {ways:?}", case.name);
        if let Some(at) = (0..got.len()).find(|at| got[*at] != expected[*at]) {
            let kernel = plans[i].kernels().last().unwrap();
            panic!(
                "{}: byte {at} of {} by {ways:?} is {:#x}, not {:#x}\n{}\nparams {:?} blocks {}\n{}",
                case.name,
                got.len(),
                got[at],
                expected[at],
                kernel.text(),
                kernel.params(),
                kernel.blocks(),
                case.program
            );
        }
    }
    plans
}

/// All texts, each in a namespace of its own, and a `main` that runs the cases.
fn code(cases: &[Case], plans: &[DevicePlan]) -> String {
    let mut texts: HashMap<&str, usize> = HashMap::new();
    let mut code = format!("{}\n#include <cstdio>\n#include <cstdlib>\n", Target::Host.header());
    let kernels = || plans.iter().flat_map(DevicePlan::kernels);
    for kernel in kernels() {
        let number = texts.len();
        if texts.contains_key(kernel.text()) {
            continue;
        }
        texts.insert(kernel.text(), number);
        let (head, body) = kernel.text().split_once("#include \"tilewright_device.h\"\n").unwrap();
        writeln!(code, "{head}namespace k{number} {{\n{body}}}").unwrap();
        code.push_str("#undef NT\n#undef MINBLOCKS\n#undef PARAMS\n#undef SHAREDBYTES\n");
    }
    code.push_str(READ);
    for (i, (case, plan)) in cases.iter().zip(plans).enumerate() {
        let (src, dst) = (case.program.src_bytes(), case.program.dst_bytes());
        let (from, to) = (case.alignment.src(), case.alignment.dst());
        writeln!(code, "static void case{i}(const char* dir) {{").unwrap();
        writeln!(code, "  Memory src({src}, {from}), dst({dst}, {to}); src.read(dir, {i});")
            .unwrap();
        for kernel in plan.kernels() {
            let number = texts[kernel.text()];
            writeln!(code, "{}", call(kernel, number)).unwrap();
        }
        writeln!(code, "  dst.write(dir, {i});\n}}").unwrap();
    }
    code.push_str("int main(int, char** argv) {\n");
    for i in 0..cases.len() {
        writeln!(code, "  case{i}(argv[1]);").unwrap();
    }
    code.push_str("}\n");
    code
}

fn call(kernel: &Kernel, number: usize) -> String {
    let params: Vec<String> = kernel.params().iter().map(|param| format!("{param}ull")).collect();
    format!(
        "  {{ static const u64 p[] = {{{}}}; for (u32 b = 0; b < {}u; b++) k{number}::tw_move(src.at, dst.at, p, b); }}",
        params.join(", "),
        kernel.blocks()
    )
}

const READ: &str = r#"
struct Memory {
  u8 *all, *at; u64 bytes;
  Memory(u64 bytes, u64 phase) : all((u8*)aligned_alloc(256, (bytes + 1024) / 256 * 256)), at(all + 256 + phase), bytes(bytes) {
    memset(all, 0xEE, (bytes + 1024) / 256 * 256);
  }
  ~Memory() { free(all); }
  FILE* open(const char* dir, const char* name, int i, const char* how) {
    char path[4096]; snprintf(path, sizeof path, "%s/%s%d", dir, name, i); return fopen(path, how);
  }
  void read(const char* dir, int i) { FILE* f = open(dir, "in", i, "rb"); if (fread(at, 1, bytes, f) != bytes) abort(); fclose(f); }
  void write(const char* dir, int i) {
    for (int k = 0; k < 240; k++) if (all[k] != 0xEE || at[bytes + k] != 0xEE) { fprintf(stderr, "case %d writes outside\n", i); abort(); }
    FILE* f = open(dir, "out", i, "wb"); fwrite(at, 1, bytes, f); fclose(f);
  }
};
"#;

fn run(folder: &Path, code: &str) {
    let (source, program) = (folder.join("all.cpp"), folder.join("all"));
    std::fs::write(&source, code).unwrap();
    let compiled = Command::new("c++")
        .args([
            "-std=c++17",
            "-O1",
            "-fsanitize=undefined",
            "-fno-sanitize-recover=all",
            "-fno-sanitize=pointer-overflow",
            "-w",
            "-o",
        ])
        .args([&program, &source])
        .output()
        .expect("c++ is there");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).arg(folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
