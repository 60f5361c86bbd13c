//! Test of the example that prints programs in C: its functions, compiled, against the engine.

#[path = "../../examples/c_loops.rs"]
#[allow(dead_code, reason = "the example has a main function")]
mod example;

use crate::common::{broadcasts, cubes, noise, pattern};
use std::{
    fs,
    process::{Command, Stdio},
};
use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Extend, Plan, Program};

/// The number of functions in a file: compile time grows faster than the number.
const IN_A_FILE: usize = 100;

const FILL: u128 = 0x0123_4567_89AB_CDEF_1122_3344_5566_77ED;

/// Numbers that differ, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end.max(1)
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

fn widths() -> Vec<Elements> {
    let mut all: Vec<Elements> = [1, 2, 4, 8, 16, 24, 32, 192].map(Elements::same).to_vec();
    for (src_bits, dst_bits) in [(4, 8), (1, 32), (16, 4), (8, 2), (2, 4)] {
        for extend in [Extend::Zero, Extend::Sign] {
            all.push(Elements { src_bits, dst_bits, extend });
        }
    }
    all
}

/// A program of small arrays; one in three is of a part, one in five has too many regions.
fn program(numbers: &mut Numbers, i: usize) -> Program {
    let elements = numbers.one_of(&widths());
    if i.is_multiple_of(5) {
        let tiles = |a, b| {
            let digits = [(0, 1, 0), (1, 1, 0), (0, 0, a), (1, 0, b)];
            pattern(2, &digits).layout(&[120, 130]).unwrap()
        };
        let src = tiles(3, numbers.one_of(&[5, 7]));
        let dst = tiles(4, numbers.one_of(&[6, 3]));
        if i.is_multiple_of(10) {
            let (a, b) = (numbers.below(20), numbers.below(20));
            return Program::of_part((&src, &[a, b]), (&dst, &[b, a]), &[100, 99], elements)
                .unwrap();
        }
        return Program::new(&src, &dst, elements, FILL).unwrap();
    }
    let src = numbers.one_of(&[cubes(), broadcasts()].concat());
    let dst: TensorLayout = numbers.one_of(&cubes());
    if !i.is_multiple_of(3) {
        return Program::new(&src, &dst, elements, FILL).unwrap();
    }
    let mut origin = |extent: u64| (numbers.below(extent), numbers.below(extent));
    let at: Vec<(u64, u64)> = src.extents().iter().map(|&extent| origin(extent)).collect();
    let (a, b): (Vec<u64>, Vec<u64>) = at.into_iter().unzip();
    let room = a.iter().zip(&b).zip(src.extents()).map(|((a, b), extent)| extent - a.max(b));
    Program::of_part((&src, &a), (&dst, &b), &room.collect::<Vec<_>>(), elements).unwrap()
}

/// The bytes that the engine leaves when it writes over bytes of noise.
fn engine(program: &Program) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let source = noise(program.src_bytes() as usize, 1);
    let before = noise(program.dst_bytes() as usize, 2);
    let mut out = before.clone();
    Plan::of(program.clone()).run(&source, &mut out, 1).unwrap();
    (source, before, out)
}

/// A program in C that runs each function on the contents of a file: source, bytes before, bytes after. It prints the
/// position of the first function that writes something else.
fn file(programs: &[Program]) -> (String, Vec<u8>) {
    let (mut text, mut table, mut data) = (example::PRELUDE.to_string(), String::new(), vec![]);
    for (i, program) in programs.iter().enumerate() {
        let (source, before, after) = engine(program);
        text += &example::function(&format!("relayout{i}"), program).unwrap();
        table += &format!("    {{ relayout{i}, {}, {} }},\n", source.len(), before.len());
        data.extend([source, before, after].concat());
    }
    let main = MAIN.replace("TABLE", &table);
    (format!("#include <stdio.h>\n#include <stdlib.h>\n{text}{main}"), data)
}

const MAIN: &str = "
static const struct {
    void (*run)(const unsigned char *, unsigned char *);
    size_t src, dst;
} all[] = {
TABLE};

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : NULL;
    for (size_t i = 0; file && i < sizeof all / sizeof *all; i++) {
        size_t src = all[i].src, dst = all[i].dst, len = src + 2 * dst;
        unsigned char *bytes = malloc(len + 1);
        if (!bytes || fread(bytes, 1, len, file) != len) return 2;
        all[i].run(bytes, bytes + src);
        if (memcmp(bytes + src, bytes + src + dst, dst)) return printf(\"%zu\\n\", i), 1;
        free(bytes);
    }
    return file ? fclose(file) : 2;
}
";

/// Returns whether there is a C compiler; in CI there is one.
fn has_compiler() -> bool {
    let mut asked = Command::new("cc");
    let found = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "`cc` does not start; CI needs a C compiler");
        println!("skipped: `cc` does not start, so there is nothing to compile with");
    }
    found
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no other program")]
fn random_programs_in_c_write_what_the_engine_writes() {
    if !has_compiler() {
        return;
    }
    let mut numbers = Numbers(0x5DEE_CE66_D1CE_5EED);
    let programs: Vec<Program> =
        (0..tilewright_testing::cases(200, 100)).map(|i| program(&mut numbers, i)).collect();
    let count = |of: fn(&Program) -> bool| programs.iter().filter(|program| of(program)).count();
    let (digits, parts) = (count(|program| program.regions().is_none()), count(Program::is_part));
    assert!(
        digits >= programs.len() / 8 && parts >= programs.len() / 5,
        "{digits} of digits, {parts} parts"
    );
    let folder = std::env::temp_dir().join(format!("tilewright-c-loops-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let failed = programs.chunks(IN_A_FILE).find_map(|programs| {
        let path = |name: &str| folder.join(name);
        let ((text, bytes), code, binary) = (file(programs), path("loops.c"), path("loops"));
        fs::write(&code, text).unwrap();
        fs::write(path("bytes"), bytes).unwrap();
        let mut compiler = Command::new("cc");
        let flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o"];
        let made = compiler.args(flags).arg(&binary).arg(&code).output().unwrap();
        if !made.status.success() {
            return Some(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        let ran = Command::new(&binary).arg(path("bytes")).output().unwrap();
        let first = String::from_utf8_lossy(&ran.stdout).trim().parse::<usize>();
        let says = |i: usize| format!("{:?}", programs[i]);
        (!ran.status.success()).then(|| first.map_or("crashed".to_string(), says))
    });
    fs::remove_dir_all(&folder).unwrap();
    assert!(failed.is_none(), "{}", failed.unwrap_or_default());
}
