//! Printed functions of every notation, run by Python: they agree with the recorded answers, and with layouts at any extents.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    process::{Command, Stdio},
};

use serde_json::Value;
use tilewright::{
    TensorLayout,
    emit::{Digits, Language, Style, digits},
    input,
    layouts::Place,
    notation::catalogue,
};

/// Returns the output of a Python program.
fn ran(program: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program.py");
    std::fs::write(&path, program).unwrap();
    let said = Command::new("python3").arg(&path).stderr(Stdio::inherit()).output().unwrap();
    assert!(said.status.success());
    String::from_utf8(said.stdout).unwrap()
}

fn printed(function: &tilewright::emit::Function, name: String) -> String {
    function.print(Language::Python, &Style { name: Some(name), ..Style::default() }).unwrap()
}

/// Compares texts and reports the first line that differs.
fn compare(found: &str, expected: &str) {
    let mut pairs = found.lines().zip(expected.lines()).enumerate();
    assert_eq!(pairs.find(|(_, (found, expected))| found != expected), None);
    assert_eq!(found.lines().count(), expected.lines().count());
}

fn list(numbers: &[Value]) -> String {
    numbers.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// The rows of the corpus that have an offset or a coordinate as the answer, by their layouts.
#[test]
fn recorded_offsets_and_coordinates() {
    let text = include_str!("../../../../corpus/answers.jsonl");
    let mut asked = BTreeMap::<(String, Option<String>, Option<String>), Vec<Value>>::new();
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let answered = ["offset", "place"].iter().any(|field| !row["answer"][field].is_null());
        if !matches!(row["ask"].as_str(), Some("offset" | "coord")) || !answered {
            continue;
        }
        let dims = row["dims"].as_array().map(|dims| list(dims));
        let text = |field: &str| row[field].as_str().map(str::to_owned);
        asked.entry((text("spec").unwrap(), dims, text("dtype"))).or_default().push(row);
    }
    let (mut program, mut expected, mut refused) = (String::new(), String::new(), Vec::new());
    let mut layouts = 0;
    for (number, ((spec, dims, dtype), rows)) in asked.iter().enumerate() {
        let made = match digits(spec, dims.as_deref(), dtype.as_deref(), &[]) {
            Ok(made) => made,
            Err(error) => {
                refused.push(format!("{spec}: {error}"));
                continue;
            }
        };
        layouts += 1;
        program += &printed(&made.offset().unwrap(), format!("f{number}"));
        let inverse = made.coord();
        if let Ok(inverse) = &inverse {
            program += &printed(inverse, format!("g{number}"));
        }
        for row in rows {
            let answer = &row["answer"];
            if let Some(coord) = row["coord"].as_array() {
                writeln!(program, "print(f{number}({}))", list(coord)).unwrap();
                writeln!(expected, "{}", answer["offset"]).unwrap();
            } else if inverse.is_ok() && answer["place"] != "out of range" {
                writeln!(program, "print(*(g{number}({}) or ['-']))", row["offset"]).unwrap();
                let coord = answer["coord"].as_array();
                let coord =
                    coord.map(|all| all.iter().map(Value::to_string).collect::<Vec<_>>().join(" "));
                // A rank of 0 has an empty coordinate, which prints as `-`.
                writeln!(expected, "{}", coord.filter(|it| !it.is_empty()).unwrap_or("-".into()))
                    .unwrap();
            }
        }
    }
    let known = ["is empty", "has an index table"];
    assert!(refused.iter().all(|why| known.iter().any(|part| why.contains(part))), "{refused:#?}");
    let found = ran(&program);
    compare(&found, &expected);
    assert!(
        layouts > 500 && expected.lines().count() > 5000,
        "{layouts} {}",
        expected.lines().count()
    );
}

/// Checks a function of named extents at these extents: offsets at all coordinates, and coordinates at all offsets.
fn check(
    program: &mut String,
    expected: &mut String,
    number: usize,
    names: &[usize],
    layout: &TensorLayout,
) {
    let extents: Vec<String> = names.iter().map(|at| layout.extents()[*at].to_string()).collect();
    let (extents, dims) = (extents.join(", "), format!("{:?}", layout.extents()));
    let end = layout.capacity();
    writeln!(program, "run({number}, {dims}, [{extents}], {end})").unwrap();
    let offset = |index| layout.offset_of(index).unwrap().to_string();
    writeln!(expected, "{}", (0..layout.size()).map(offset).collect::<Vec<_>>().join(" ")).unwrap();
    let coord = |offset: u64| match layout.locate(offset as i64).unwrap() {
        Place::Element(coord) => format!("{:?}", coord.as_slice()).replace(['[', ']'], ""),
        _ => "-".into(),
    };
    writeln!(expected, "{}", (0..end).map(coord).collect::<Vec<_>>().join(";")).unwrap();
}

const RUN: &str = "
import itertools
def run(k, dims, extents, end):
    f, g = globals()[f'f{k}'], globals()[f'g{k}']
    print(*(f(*x, *extents) for x in itertools.product(*map(range, dims))))
    print(';'.join('-' if c is None else ', '.join(map(str, c)) for c in (g(o, *extents) for o in range(end))))
";

/// Every named format and other general texts, with named extents, at extents that no tile divides and at extents that all tiles
/// divide.
#[test]
fn functions_of_named_extents() {
    let general = [
        "row-major",
        "col-major",
        "{1,0:T(8,128)(2,1)}",
        "{0,1:T(8,128)}",
        "NHWC",
        "aBcd16b",
        "(m1 m0:4) (n1 n0:2) -> n1 m1 m0 n0",
        "(a1 a0:4) b -> a0 b a1",
        "channels_last",
    ];
    let formats = catalogue().map(|format| format.name).step_by(tilewright_testing::cases(1, 3));
    let (mut program, mut expected) = (RUN.to_owned(), String::new());
    let (mut symbolic, mut refused) = (0, Vec::new());
    for (number, spec) in general.into_iter().chain(formats).enumerate() {
        // Two formats need parameters.
        let Ok(read) = input::read(spec) else { continue };
        let Some(rank) = [2, 4, 3, 5, 1].into_iter().find(|rank| read.fits(*rank)) else {
            continue;
        };
        let names: Vec<String> = (0..rank).map(|dim| format!("N{dim}")).collect();
        let known: Vec<String> = names.iter().map(|name| format!("{name} % 256 == 0")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let types = ["bf16", "u8", "u4", "f32", "f8e4m3fn"];
        let made = |known: &[&str]| -> Option<(Digits, &str)> {
            types.iter().find_map(|dtype| {
                Some((digits(spec, Some(&names.join(",")), Some(dtype), known).ok()?, *dtype))
            })
        };
        let (digits, dtype, step) = match (made(&[]), made(&known)) {
            (Some((digits, dtype)), _) => (digits, dtype, 1),
            (None, Some((digits, dtype))) => (digits, dtype, 256),
            (None, None) => {
                refused.push(spec);
                continue;
            }
        };
        symbolic += 1;
        program += &printed(&digits.offset().unwrap(), format!("f{number}"));
        program += &printed(&digits.coord().unwrap(), format!("g{number}"));
        let dtype = tilewright::notation::dtype(dtype).unwrap();
        let all: Vec<usize> = (0..rank).collect();
        let small: [[u64; 5]; 3] = if step == 1 {
            [[5, 7, 2, 3, 2], [16, 33, 1, 2, 1], [1, 1, 1, 1, 1]]
        } else {
            [[1, 1, 1, 1, 1]; 3]
        };
        for extents in
            small.iter().take(if step == 1 { 3 } else { 1 }).filter(|_| step == 1 || rank < 3)
        {
            let extents: Vec<u64> = extents.iter().take(rank).map(|extent| extent * step).collect();
            let named = read.resolve(Some(&extents), Some(dtype)).unwrap();
            check(&mut program, &mut expected, number, &all, named.layout());
        }
    }
    // SPECs that fix an extent, such as fragments, do not allow a name for it.
    println!("{symbolic} of named extents, not {refused:?}");
    assert!(symbolic > tilewright_testing::cases(90, 60), "{symbolic}: {refused:?}");
    let found = ran(&program);
    compare(&found, &expected);
}

/// Assumptions remove roundings and tests, and do not change answers.
#[test]
fn what_is_known_makes_functions_shorter() {
    let operations = |known: &[&str]| {
        let digits = digits("zN", Some("M,N"), Some("f16"), known).unwrap();
        (digits.offset().unwrap().operations(), digits.coord().unwrap().operations())
    };
    let both = ["M % 16 == 0", "N % 16 == 0"];
    let (any, tiles) = (operations(&[]), operations(&both));
    assert!(tiles.0 < any.0 && tiles.1 < any.1, "{any:?} {tiles:?}");
    let digits = digits("zN", Some("M,N"), Some("f16"), &both).unwrap();
    let mut program = RUN.to_owned() + &printed(&digits.offset().unwrap(), "f0".into());
    program += &printed(&digits.coord().unwrap(), "g0".into());
    let mut expected = String::new();
    for extents in [[16, 16], [32, 48], [48, 16]] {
        let named = input::read("zN").unwrap();
        let named = named.resolve(Some(&extents), tilewright::notation::dtype("f16").ok()).unwrap();
        check(&mut program, &mut expected, 0, &[0, 1], named.layout());
    }
    assert_eq!(ran(&program), expected);
}

#[test]
fn what_cannot_be_said_is_refused() {
    let said = |spec: &str, dims: Option<&str>, known: &[&str]| {
        let error = digits(spec, dims, Some("f16"), known).unwrap_err();
        format!("{}: {error}", error.kind())
    };
    assert_eq!(said("zN", Some("M"), &[]).split(':').next(), Some("usage"));
    assert!(said("row-major", Some("symbolic"), &[]).contains("name the extents"));
    assert!(said("zN", Some("M,2x"), &[]).contains("expected a number or a name"));
    assert!(said("zN", Some("M,N"), &["K % 2 == 0"]).contains("there is M, N"));
    assert!(said("zN", Some("M,N"), &["M % 2 == 1"]).contains("expected 'N % 16 == 0'"));
    assert!(said("(2,3):(3,1)", None, &["M % 2 == 0"]).contains("none has a name"));
    assert!(said("zN", None, &[]).starts_with("needs-dims"));
    assert!(said("{1,0:T(3,4)(2,1)}", Some("M,N"), &[]).starts_with("unsupported"));
    assert!(said("((2,2),4):((1,2),4)", Some("M,N"), &[]).contains("states its extents"));
    let copies = digits("(4,3):(1,0)", None, None, &[]).unwrap().coord().unwrap_err();
    assert!(copies.to_string().contains("stride 0"));
    let overlap = digits("(4,3):(2,3)", None, None, &[]).unwrap().coord().unwrap_err();
    assert!(overlap.to_string().contains("stride 3"), "{overlap}");
}

/// The largest extents that are tried follow the assumptions, so large assumptions are legal. Integers of 32 bits are refused if
/// a value is known to exceed them.
#[test]
fn large_facts_and_narrow_integers() {
    let known = ["N % 4096 == 0", "K % 4096 == 0"];
    let rows = digits("row-major", Some("M,N,K"), None, &known).unwrap();
    assert_eq!(rows.offset().unwrap().arguments().len(), 6);
    let known = ["M % 65536 == 0", "N % 65536 == 0"];
    assert!(digits("zN", Some("M,N"), Some("f16"), &known).is_ok());
    let narrow = |spec: &str, inverse: bool| {
        let digits = digits(spec, None, None, &[]).unwrap();
        let function = if inverse { digits.coord() } else { digits.offset() }.unwrap();
        let style = Style { bits: tilewright::emit::Width::Bits32, ..Style::default() };
        Language::ALL.map(|language| function.print(language, &style))
    };
    for (spec, fits) in [
        ("u8[65536,65536] row-major", true),
        ("u8[65536,65537] row-major", false),
        ("(4,4):(100000000000,1)", false),
        ("(4,4):(1073741824,-4294967296)", false),
        ("(3,4):(-1,3)", true),
    ] {
        for inverse in [false, true] {
            for printed in narrow(spec, inverse) {
                assert_eq!(printed.is_ok(), fits, "{spec} {inverse}: {printed:?}");
            }
        }
    }
    let below = digits("(3,4):(-1,3)", None, None, &[]).unwrap().coord().unwrap();
    let code = below.print(Language::Rust, &Style::default()).unwrap();
    assert!(code.contains("coord(o: i64)") && code.contains("o + 2"), "{code}");
}
