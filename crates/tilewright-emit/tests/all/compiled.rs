//! Tests of printed functions, compiled and run: they agree with the layout at every coordinate and every offset.

use std::{fmt::Write as _, path::Path, process::Command};

use tilewright_core::{Digit, Layout, Pattern, Place, Step, Swizzle, TensorLayout};
use tilewright_emit::{Digits, Function, Language, Style, Width};

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A dense pattern over padded extents.
    fn pattern(&mut self) -> TensorLayout {
        let rank = 1 + self.below(3) as usize;
        let mut digits: Vec<Digit> = Vec::new();
        let mut extents = Vec::new();
        for axis in 0..rank {
            let fixed: Vec<u64> = (0..self.below(3)).map(|_| self.pick(&[2, 3, 4, 8])).collect();
            let levels = fixed.len();
            digits.extend(
                (0..levels).map(|level| Digit::fixed(axis as u8, level as u8, fixed[level])),
            );
            digits.push(Digit::rest(axis as u8, levels as u8));
            extents.push(1 + self.below(if rank == 3 { 9 } else { 40 }));
        }
        for at in (1..digits.len()).rev() {
            digits.swap(at, self.below(at as u64 + 1) as usize);
        }
        Pattern::new(rank, &digits).unwrap().layout(&extents).unwrap()
    }

    /// Strides of any sign, with gaps and an offset.
    fn strided(&mut self) -> TensorLayout {
        let rank = 1 + self.below(3) as usize;
        let extents: Vec<u64> = (0..rank).map(|_| 1 + self.below(7)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(0, self.below(rank as u64) as usize);
        let (mut strides, mut stride) = (vec![0i64; rank], 1 + self.below(3) as i64);
        let mut base = self.below(3) as i64;
        for axis in order {
            strides[axis] = stride;
            stride = stride * extents[axis] as i64 + self.below(4) as i64;
            if self.below(4) == 0 {
                base += strides[axis] * (extents[axis] as i64 - 1);
                strides[axis] = -strides[axis];
            }
        }
        let modes: Vec<_> =
            extents.iter().zip(&strides).map(|(e, s)| tilewright_core::Mode::new(*e, *s)).collect();
        let layout = Layout::flat(&modes).unwrap().with_offset(base).unwrap();
        let capacity = layout.cosize() as u64 + self.below(3);
        TensorLayout::new(&extents, &layout, capacity).unwrap()
    }

    /// Powers of two under a swizzle, CuTe's or any invertible matrix.
    fn swizzled(&mut self) -> TensorLayout {
        let layout =
            Layout::parse(self.pick(&["(8,16):(16,1)", "((4,4),8):((1,32),4)", "(64,2):(2,1)"]))
                .unwrap();
        let swizzle = match self.below(2) {
            0 => Swizzle::new(1 + self.below(3) as u8, self.below(2) as u8, 3).unwrap(),
            _ => (0..)
                .find_map(|_| {
                    let images: Vec<u64> = (0..7).map(|_| 1 + self.below(127)).collect();
                    Swizzle::of_images(&images).ok()
                })
                .unwrap(),
        };
        TensorLayout::of(&layout.with_swizzle(swizzle).unwrap())
    }

    /// Tiles that merge dims or do not divide one another.
    fn stepped(&mut self) -> TensorLayout {
        let splits = [Step::Split { axis: 0, by: 3 }, Step::Split { axis: 1, by: 2 }];
        let merge = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
        let (extents, steps, layout): (&[u64], &[Step], &str) = self.pick(&[
            (&[5][..], &splits[..], "(2,2,4):(8,4,1)"),
            (&[5], &splits, "(3,3,3):(9,3,1)"),
            (&[3, 5], &merge, "(5,7):(7,1)"),
            (&[2, 7], &merge, "(4,4):(8,1)"),
        ]);
        let layout = Layout::parse(layout).unwrap();
        TensorLayout::with_steps(extents, steps, &layout, layout.cosize() as u64).unwrap()
    }
}

/// Layouts of every kind, the same in each run.
fn cases(count: usize) -> Vec<TensorLayout> {
    let mut random = Random(7);
    let mut all: Vec<TensorLayout> =
        ["(4,3):(1,0)", "1:0", "(2,2,2):(1,1,1)", "((2,3),(4,5)):((1,8),(2,24))"]
            .map(|text| TensorLayout::of(&Layout::parse(text).unwrap()))
            .to_vec();
    all.push(TensorLayout::row_major(&[]).unwrap());
    while all.len() < count {
        let kind = random.below(8);
        all.push(match kind {
            0..4 => random.pattern(),
            4..6 => random.strided(),
            6 => random.swizzled(),
            _ => random.stepped(),
        });
    }
    all
}

/// A layout with its functions; some layouts have no inverse.
struct Case {
    layout: TensorLayout,
    offset: Function,
    coord: Option<Function>,
}

fn prepared(count: usize) -> Vec<Case> {
    let case = |layout: TensorLayout| {
        let digits = Digits::of(&layout).unwrap();
        let (offset, coord) = (digits.offset().unwrap(), digits.coord().ok());
        Case { layout, offset, coord }
    };
    cases(count).into_iter().map(case).collect()
}

/// The expected output of a program: a line of offsets, then one of the coordinates at all offsets, `-` for none.
fn expected(cases: &[Case]) -> String {
    let mut text = String::new();
    for Case { layout, coord, .. } in cases {
        let offsets = (0..layout.size()).map(|index| layout.offset_of(index).unwrap().to_string());
        text += &(offsets.collect::<Vec<_>>().join(" ") + "\n");
        if coord.is_some() {
            for offset in 0..layout.capacity() {
                match layout.locate(offset as i64).unwrap() {
                    Place::Element(coord) => {
                        let coord: Vec<String> =
                            coord.as_slice().iter().map(u64::to_string).collect();
                        text += &format!("{};", coord.join(","));
                    }
                    _ => text += "-;",
                }
            }
            text += "\n";
        }
    }
    text
}

fn style(name: String, bits: Width) -> Style {
    Style { name: Some(name), bits }
}

/// The functions of all cases, under numbers.
fn functions(cases: &[Case], language: Language, bits: Width) -> String {
    let mut text = String::new();
    for (number, case) in cases.iter().enumerate() {
        text += &case.offset.print(language, &style(format!("f{number}"), bits)).unwrap();
        if let Some(coord) = &case.coord {
            text += &coord.print(language, &style(format!("g{number}"), bits)).unwrap();
        }
    }
    text
}

/// A program of C that calls all functions.
fn c_program(cases: &[Case], language: Language, bits: Width) -> String {
    let int = if bits == Width::Bits32 { "int" } else { "long long" };
    let own = match (language, bits) {
        (Language::Cuda, _) => int,
        (_, Width::Bits32) => "int32_t",
        (_, Width::Bits64) => "int64_t",
    };
    let mut text =
        format!("#include <stdio.h>\n{}int main(void)\n{{\n", functions(cases, language, bits));
    for (number, Case { layout, coord, .. }) in cases.iter().enumerate() {
        let rank = layout.rank();
        let loops: String = (layout.extents().iter().enumerate())
            .map(|(dim, extent)| format!("for ({own} i{dim} = 0; i{dim} < {extent}; i{dim}++) "))
            .collect();
        let arguments: Vec<String> = (0..rank).map(|dim| format!("i{dim}")).collect();
        let call = format!("f{number}({})", arguments.join(", "));
        let space = "printf(first ? \"%lld\" : \" %lld\", ";
        writeln!(
            text,
            "{{ int first = 1; {loops}{{ {space}(long long){call}); first = 0; }} puts(\"\"); }}"
        )
        .unwrap();
        if coord.is_some() {
            let print: String = (0..rank)
                .map(|dim| {
                    format!("printf(\"%s%lld\", {dim} ? \",\" : \"\", (long long)c[{dim}]); ")
                })
                .collect();
            let (size, end) = (rank.max(1), layout.capacity());
            // Natural numbers have types without a sign.
            let printed =
                coord.as_ref().unwrap().print(language, &style("g".into(), bits)).unwrap();
            let sign = if printed.contains("unsigned ") { "unsigned " } else { "" };
            let sign = if printed.contains("uint") { "u" } else { sign };
            writeln!(
                text,
                "for ({own} o = 0; o < {end}; o++) {{ {sign}{own} c[{size}]; if (g{number}(o, c)) {{ {print}printf(\";\"); }} \
                 else printf(\"-;\"); }} puts(\"\");"
            )
            .unwrap();
        }
    }
    text + "return 0; }\n"
}

fn ran(command: &mut Command) -> String {
    let said = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{command:?}: {errors}");
    assert!(errors.is_empty(), "{command:?}: {errors}");
    String::from_utf8(said.stdout).unwrap()
}

/// The first line that is not as expected.
fn compare(found: &str, expected: &str, cases: &[Case]) {
    if found == expected {
        return;
    }
    let lines = found.lines().zip(expected.lines());
    let (at, (found, expected)) = lines
        .enumerate()
        .find(|(_, (found, expected))| found != expected)
        .expect("another number of lines");
    let with = |case: &Case| 1 + usize::from(case.coord.is_some());
    let mut behind = at;
    let case = cases.iter().find(|case| {
        let lines = with(case);
        let is_it = behind < lines;
        behind = behind.wrapping_sub(if is_it { 0 } else { lines });
        is_it
    });
    let layout = case.map(|case| &case.layout);
    panic!("{layout:?}\n{found}\n{expected}");
}

/// The number of layouts that are tested in a language.
fn count() -> usize {
    tilewright_testing::cases(1000, 60)
}

fn run_c(folder: &Path, options: &[&str], text: &str, name: &str) -> String {
    let (source, program) = (folder.join(name), folder.join(format!("{name}.out")));
    std::fs::write(&source, text).unwrap();
    ran(Command::new("cc").args(options).arg("-o").arg(&program).arg(&source));
    ran(&mut Command::new(program))
}

#[test]
fn c_says_what_the_layout_says() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), prepared(count()));
    let inverses = cases.iter().filter(|case| case.coord.is_some()).count();
    assert!(inverses > count() * 9 / 10, "{inverses}");
    let expected = expected(&cases);
    let options = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"];
    for bits in [Width::Bits64, Width::Bits32] {
        let text = c_program(&cases, Language::C, bits);
        compare(&run_c(folder.path(), &options, &text, "a.c"), &expected, &cases);
    }
    // Without the words of CUDA it is C.
    let words = ["-x", "c", "-D__host__=", "-D__device__=", "-D__forceinline__=static inline"];
    let words = [&words[..], &["-Wall", "-Wno-unused-function", "-Werror"]].concat();
    let text = c_program(&cases, Language::Cuda, Width::Bits64);
    compare(&run_c(folder.path(), &words, &text, "a.cu"), &expected, &cases);
}

/// Code that calls the functions of a table, at every coordinate and every offset.
const RUST: &str = r#"
type Offset = fn(&[i64]) -> i64;
type Coord = fn(i64) -> Option<Vec<i64>>;

fn run(extents: &[i64], capacity: i64, offset: Offset, coord: Option<Coord>) {
    let (mut x, mut all) = (vec![0; extents.len()], Vec::new());
    for _ in 0..extents.iter().product::<i64>() {
        all.push(offset(&x).to_string());
        for (x, extent) in x.iter_mut().zip(extents).rev() {
            *x += 1;
            if *x < *extent {
                break;
            }
            *x = 0;
        }
    }
    println!("{}", all.join(" "));
    let Some(coord) = coord else { return };
    let text = |o| match coord(o) {
        Some(c) => c.iter().map(i64::to_string).collect::<Vec<_>>().join(",") + ";",
        None => "-;".to_owned(),
    };
    println!("{}", (0..capacity).map(text).collect::<String>());
}

fn main() {
    for (extents, capacity, offset, coord) in CASES {
        run(extents, *capacity, *offset, *coord);
    }
}
"#;

#[test]
fn rust_says_what_the_layout_says() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), prepared(count()));
    let mut text = format!(
        "#![deny(warnings)]\n#![allow(clippy::all, trivial_numeric_casts)]\n{}{RUST}",
        functions(&cases, Language::Rust, Width::Bits64)
    );
    text += "const CASES: &[(&[i64], i64, Offset, Option<Coord>)] = &[\n";
    for (number, Case { layout, coord, .. }) in cases.iter().enumerate() {
        let rank = layout.rank();
        let arguments: Vec<String> = (0..rank).map(|dim| format!("x[{dim}] as _")).collect();
        let (x, arguments) = (if rank > 0 { "x" } else { "_" }, arguments.join(", "));
        let coord = match coord {
            Some(_) => format!(
                "Some(|o| g{number}(o as _).map(|c| c.iter().map(|x: &_| *x as i64).collect()))"
            ),
            None => "None".to_owned(),
        };
        let (extents, end) = (layout.extents(), layout.capacity());
        writeln!(text, "(&{extents:?}, {end}, |{x}| f{number}({arguments}) as i64, {coord}),")
            .unwrap();
    }
    text += "];\n";
    let (source, program) = (folder.path().join("a.rs"), folder.path().join("a"));
    std::fs::write(&source, text).unwrap();
    ran(Command::new("rustc").args(["--edition", "2024", "-o"]).arg(&program).arg(&source));
    compare(&ran(&mut Command::new(program)), &expected(&cases), &cases);
}

/// The lists of extents and capacities for programs of Python, with the number of each case.
fn python_program(cases: &[Case], before: &str, call: &str) -> String {
    let mut text = format!("import itertools, sys\n{before}\nout = []\n");
    for (number, Case { layout, coord, .. }) in cases.iter().enumerate() {
        let extents: Vec<String> = layout.extents().iter().map(u64::to_string).collect();
        let comma = if extents.is_empty() { "" } else { "," };
        writeln!(
            text,
            "run({number}, ({}{comma}), {}, {})",
            extents.join(","),
            layout.capacity(),
            i32::from(coord.is_some())
        )
        .unwrap();
    }
    let run = "def run(k, extents, capacity, inverse):\n    out.append(' '.join(str(f(k, x)) for x in itertools.product(*map(range, extents))))\n    \
               if inverse:\n        out.append(''.join('-;' if c is None else ','.join(map(str, c)) + ';' for c in (g(k, o) for o in range(capacity))))\n";
    text.replace("out = []\n", &format!("out = []\n{call}{run}")) + "print('\\n'.join(out))\n"
}

#[test]
fn python_and_triton_say_what_the_layout_says() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), prepared(count()));
    let expected = expected(&cases);
    let plain =
        "def f(k, x): return globals()[f'f{k}'](*x)\ndef g(k, o): return globals()[f'g{k}'](o)\n";
    // Blocks of one integer: the last result says whether there is an element.
    let masked = "def f(k, x): return globals()[f'f{k}'](*x)\n\
                  def g(k, o):\n    *c, valid = globals()[f'g{k}'](o)\n    return tuple(c) if valid else None\n";
    std::fs::write(folder.path().join("triton.py"), "def jit(function): return function\n")
        .unwrap();
    for (language, call) in [(Language::Python, plain), (Language::Triton, masked)] {
        let text = python_program(&cases, &functions(&cases, language, Width::Bits64), call);
        let path = folder.path().join(format!("{language}_program.py"));
        std::fs::write(&path, text).unwrap();
        compare(&ran(Command::new("python3").arg(&path)), &expected, &cases);
    }
}

/// A reader of the lines that are printed, which holds operations to 64 bits.
const MLIR: &str = r#"
import re
funcs = {}
for text in re.split(r'(?=^func\.func )', open(sys.argv[1]).read(), flags=re.M):
    head = re.match(r'func\.func @(\w+)\((.*?)\) -> (.*) \{\n', text)
    if head:
        funcs[head[1]] = (re.findall(r'%(\w+): i64', head[2]), text[head.end():].splitlines())
ops = {'addi': lambda a, b: a + b, 'subi': lambda a, b: a - b, 'muli': lambda a, b: a * b, 'divui': lambda a, b: a // b,
       'remui': lambda a, b: a % b, 'shli': lambda a, b: a << b, 'shrui': lambda a, b: a >> b, 'andi': lambda a, b: a & b,
       'xori': lambda a, b: a ^ b}
def call(name, args):
    names, lines = funcs[name]
    assert len(names) == len(args)
    at = dict(zip(names, args))
    for line in lines:
        line = line.strip()
        if m := re.fullmatch(r'%(\w+) = arith\.constant (-?\d+) : i64', line): at[m[1]] = int(m[2])
        elif m := re.fullmatch(r'%(\w+) = arith\.constant true', line): at[m[1]] = True
        elif m := re.fullmatch(r'%(\w+) = arith\.cmpi (\w+), %(\w+), %(\w+) : i64', line):
            a, b = at[m[3]], at[m[4]]
            at[m[1]] = {'slt': a < b, 'sge': a >= b, 'eq': a == b}[m[2]]
        elif m := re.fullmatch(r'%(\w+) = arith\.andi %(\w+), %(\w+) : i1', line): at[m[1]] = at[m[2]] and at[m[3]]
        elif m := re.fullmatch(r'%(\w+) = arith\.(\w+) %(\w+), %(\w+) : i64', line):
            a, b = at[m[3]], at[m[4]]
            # Divisions and shifts down take the bits as a natural number.
            if m[2] in ('divui', 'remui', 'shrui'): a, b = a % 2**64, b % 2**64
            at[m[1]] = (ops[m[2]](a, b) + 2**63) % 2**64 - 2**63
        elif m := re.fullmatch(r'func\.return (.*) : (.*)', line):
            values = [at[x] for x in re.findall(r'%(\w+)', m[1])]
            assert len(values) == len(m[2].split(', '))
            return values
        else: assert line in ('', '}'), line
"#;

#[test]
fn mlir_says_what_the_layout_says() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), prepared(count() / 4));
    let call = "def f(k, x): return call(f'f{k}', x)[0]\n\
                def g(k, o):\n    *c, valid = call(f'g{k}', [o])\n    return tuple(c) if valid else None\n";
    let (program, text) = (folder.path().join("run.py"), folder.path().join("a.mlir"));
    std::fs::write(&text, functions(&cases, Language::Mlir, Width::Bits64)).unwrap();
    std::fs::write(&program, python_program(&cases, MLIR, call)).unwrap();
    compare(&ran(Command::new("python3").arg(&program).arg(&text)), &expected(&cases), &cases);
}

/// The instructions of each function of a compiled file, by name.
fn instructions(folder: &Path, text: &str) -> std::collections::HashMap<String, usize> {
    let (source, listing) = (folder.join("count.c"), folder.join("count.s"));
    std::fs::write(&source, text).unwrap();
    ran(Command::new("cc").args(["-O2", "-fno-ipa-icf", "-S", "-o"]).arg(&listing).arg(&source));
    let (mut found, mut name) = (std::collections::HashMap::new(), String::new());
    for line in std::fs::read_to_string(&listing).unwrap().lines() {
        if let Some(label) = line.strip_suffix(':').filter(|label| !label.starts_with('.')) {
            name = label.to_owned();
        } else if line.starts_with('\t') && !line.trim_start().starts_with('.') {
            *found.entry(name.clone()).or_default() += 1;
        }
    }
    found
}

/// Code that a careful person writes for these layouts takes at least as many instructions.
#[test]
fn no_instruction_more_than_by_hand() {
    let swizzle = Swizzle::new(3, 3, 3).unwrap();
    let atom = Layout::parse("(8,64):(64,1)").unwrap().with_swizzle(swizzle).unwrap();
    let of = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
    let cases = [
        (TensorLayout::row_major(&[100, 64]).unwrap(), "(i << 6) + j"),
        (TensorLayout::col_major(&[100, 37]).unwrap(), "i + j * 100"),
        (of("((16,4),(16,4)):((16,256),(1,1024))"), "i * 16 + j % 16 + j / 16 * 1024"),
        (
            of("((8,16),(128,3)):((128,3072),(1,1024))"),
            "(i & 7) * 128 + (i >> 3) * 3072 + (j & 127) + (j >> 7) * 1024",
        ),
        (
            of("((2,3,2),(2,5)):((1,4,60),(2,12))"),
            "i % 2 + i / 2 % 3 * 4 + i / 6 * 60 + j % 2 * 2 + j / 2 * 12",
        ),
        (TensorLayout::of(&atom), "((i * 64 + j) ^ (((i * 64 + j) >> 3) & 56))"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for (number, (layout, by_hand)) in cases.iter().enumerate() {
        let code = Digits::of(layout).unwrap().offset().unwrap();
        text += &code.print(Language::C, &style(format!("f{number}"), Width::Bits64)).unwrap();
        // Coordinates are natural numbers for either; only who writes by hand can say so by the type.
        writeln!(text, "int64_t ours{number}(int64_t i, int64_t j) {{ return f{number}(i, j); }}")
            .unwrap();
        writeln!(text, "uint64_t hand{number}(uint64_t i, uint64_t j) {{ return {by_hand}; }}")
            .unwrap();
    }
    let found = instructions(folder.path(), &text);
    for (number, (layout, by_hand)) in cases.iter().enumerate() {
        let [ours, hand] = ["ours", "hand"].map(|who| found[&format!("{who}{number}")]);
        assert!(ours <= hand, "{layout:?}: {ours} instructions, {hand} of {by_hand}");
    }
}
