//! Measures the compile time of layouts in types and in constants: 500 static layouts and 250 static compositions, all
//! different. The compiler computes the run-time value of each.
//!
//! `cargo run --release -p tilewright-fixed --example compile_time` prints the seconds of a check and of an optimised
//! build of such a file, and of an empty file, which is the compiler's start-up time.

use std::{env, error::Error, fs, path::Path, process::Command, time::Instant};

const LAYOUTS: u64 = 500;
const COMPOSITIONS: u64 = 250;

/// Extents and strides of layout `i`: two axes of two modes, all powers of two, all layouts different.
fn modes(i: u64) -> ([u64; 4], [u64; 4]) {
    let extents @ [a, b, c, _] = [1, 5, 25, 125].map(|place| 2 << (i / place % 5));
    (extents, [c, a * c, 1, a * b * c])
}

/// The second operand of composition `i`: it takes every second coordinate of layout `i`, in pairs.
fn every_second(i: u64) -> ([u64; 2], [u64; 2]) {
    let size: u64 = modes(i).0.iter().product();
    ([2, size / 4], [size / 2, 2])
}

/// The source of layouts in types.
fn types() -> String {
    let int = |n: u64| format!("C<{n}>");
    let four = |n: [u64; 4]| n.map(int).join(",");
    let two = |n: [u64; 2]| n.map(int).join(",");
    let layout = |i| {
        let (shape, stride) = modes(i);
        format!(
            "type T{i} = FixedLayout<({}), ({})>; pub static L{i}: L = T{i}::LAYOUT;",
            four(shape),
            four(stride)
        )
    };
    let composition = |i| {
        let (shape, stride) = every_second(i);
        let by = format!("FixedLayout<({}), ({})>", two(shape), two(stride));
        format!("pub static C{i}: L = Derived::<algebra::Composition, T{i}, {by}>::LAYOUT;")
    };
    let head = "use tilewright_core::Layout as L; use tilewright_fixed::*;".to_owned();
    lines(head, layout, composition)
}

/// The source of layouts in constants.
fn constants() -> String {
    let layout = |i| {
        let ([a, b, c, d], [p, q, r, s]) = modes(i);
        format!(
            "pub static L{i}: Layout = layout!(\"(({a},{b}),({c},{d})):(({p},{q}),({r},{s}))\");"
        )
    };
    let composition = |i| {
        let ([a, b], [p, q]) = every_second(i);
        format!(
            "pub static C{i}: Layout = expect_const!(L{i}.composition(&layout!(\"({a},{b}):({p},{q})\")));"
        )
    };
    let head = "use tilewright_core::{Layout, expect_const, layout};".to_owned();
    lines(head, layout, composition)
}

fn lines(
    head: String,
    layout: impl Fn(u64) -> String,
    composition: impl Fn(u64) -> String,
) -> String {
    let all = (0..LAYOUTS).map(layout).chain((0..COMPOSITIONS).map(composition));
    all.fold(head, |text, line| text + "\n" + &line)
}

/// Runs the compiler and returns the seconds.
fn compile(folder: &Path, source: &Path, options: &[&str]) -> Result<f64, Box<dyn Error>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let start = Instant::now();
    let status = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=lib"])
        .args(options)
        .arg(source)
        .arg("--out-dir")
        .arg(folder)
        .arg("-L")
        .arg(folder)
        .status()?;
    let seconds = start.elapsed().as_secs_f64();
    if status.success() { Ok(seconds) } else { Err("the compiler refuses".into()) }
}

/// Returns the least of three runs, in seconds.
fn best(folder: &Path, text: &str, emit: &str) -> Result<f64, Box<dyn Error>> {
    let source = folder.join("layouts.rs");
    fs::write(&source, text)?;
    let options = ["--extern=tilewright_core", "--extern=tilewright_fixed", "-O", emit];
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        least = least.min(compile(folder, &source, &options)?);
    }
    Ok(least)
}

fn measure(folder: &Path) -> Result<(), Box<dyn Error>> {
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../tilewright-core/src/lib.rs");
    compile(folder, Path::new(core), &["--crate-name=tilewright_core", "-O"])?;
    let fixed = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    let on_core = ["--crate-name=tilewright_fixed", "--extern=tilewright_core", "-O"];
    compile(folder, Path::new(fixed), &on_core)?;
    println!("{LAYOUTS} layouts and {COMPOSITIONS} compositions, seconds, least of 3 runs");
    println!("{:24}  check  build", "");
    for (name, text) in [
        ("nothing", "use tilewright_core as _;".to_owned()),
        ("in types", types()),
        ("in constants", constants()),
    ] {
        let check = best(folder, &text, "--emit=metadata")?;
        println!("{name:24}  {check:5.2}  {:5.2}", best(folder, &text, "--emit=link")?);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("tilewright-compile-time-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let outcome = measure(&folder);
    fs::remove_dir_all(&folder)?;
    outcome
}
