//! Measures other crates that permute arrays, on the cases of `bench/definitions`, in the same way as relayout:
//! alternating with memcpy over the same bytes, with the checksum verified.
//!
//! `tilewright-rivals OUT.json [--quick] [--size SIZE] [--threads N] [NAME…]`, as `cargo xtask bench --rivals` runs it.
//! Each library gets a case as boxes of strides, merged and in the order of the destination, which is the best input
//! that it gets in practice. Cases that a library cannot express are skipped.

#![forbid(unsafe_code)]

/// Makes the run of a library that is generic over elements, for the width of the case.
macro_rules! by_width {
    ($case:expr, $of:ident, $($argument:expr),*) => {
        match $case.elements().src_bits {
            8 => Some($of::<u8>($($argument),*)),
            16 => Some($of::<u16>($($argument),*)),
            32 => Some($of::<f32>($($argument),*)),
            64 => Some($of::<f64>($($argument),*)),
            128 => Some($of::<[f64; 2]>($($argument),*)),
            _ => None,
        }
    };
}

#[cfg(feature = "hptt")]
mod hptt;
mod ndarray;
mod strided_perm;

use std::{env, error::Error, fs};

use serde_json::{Value, json};
use tilewright_bench::{Bench, Boxed, Case, Effort, Size, definitions};

/// A function that runs a case in a library.
pub(crate) type Run = Box<dyn FnMut(&[u8], &mut [u8])>;

/// A library: its name, and a function that makes a run of a case, its boxes and a number of threads; `None` if the
/// library cannot express the case.
type Rival = (&'static str, fn(&Case, Vec<Boxed>, usize) -> Option<Run>);

const RIVALS: &[Rival] = &[
    ("strided-perm", strided_perm::run),
    ("ndarray", ndarray::run),
    #[cfg(feature = "hptt")]
    ("hptt", hptt::run),
];

struct Asked {
    out: String,
    quick: bool,
    sizes: Vec<Size>,
    threads: Vec<usize>,
    names: Vec<String>,
}

fn asked() -> Result<Asked, Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let out = words.next().ok_or("the first argument is the file that gets the results")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if cores > 1 { vec![1, cores] } else { vec![1] };
    let sizes = vec![Size::Memory, Size::L2];
    let mut asked = Asked { out, quick: false, sizes, threads, names: Vec::new() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match &*word {
            "--quick" => asked.quick = true,
            "--size" => asked.sizes = vec![value()?.parse()?],
            "--threads" => asked.threads = vec![value()?.parse()?],
            _ => asked.names.push(word),
        }
    }
    Ok(asked)
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = asked()?;
    let mut cases = Vec::new();
    for definition in definitions()? {
        let named = asked.names.iter().any(|name| definition.name().contains(name.as_str()));
        if named || asked.names.is_empty() && (!asked.quick || definition.is_quick()) {
            for size in &asked.sizes {
                cases.push(definition.case(*size)?);
            }
        }
    }
    let effort = if asked.quick { Effort::quick() } else { Effort::full() };
    let mut bench = Bench::new(cases.iter().map(Case::bytes).max().unwrap_or(0))?;
    let mut rows = Vec::new();
    for case in &cases {
        for threads in &asked.threads {
            for rival in RIVALS {
                rows.extend(measured(&mut bench, case, *threads, effort, rival)?);
            }
        }
    }
    fs::write(asked.out, json!({ "cases": rows }).to_string())?;
    Ok(())
}

fn measured(
    bench: &mut Bench,
    case: &Case,
    threads: usize,
    effort: Effort,
    (name, rival): &Rival,
) -> Result<Option<Value>, Box<dyn Error>> {
    let elements = case.elements();
    let whole = elements.src_bits == elements.dst_bits && elements.src_bits % 8 == 0;
    let Some(mut run) = case
        .boxes()
        .filter(|_| whole && case.fill() == 0)
        .and_then(|boxes| rival(case, boxes, threads))
    else {
        return Ok(None);
    };
    let row = bench.job(case, threads, effort, |src, dst| {
        run(src, dst);
        Ok(())
    })?;
    println!("{name:14} {row}");
    Ok(Some(json!({
        "rival": name,
        "name": row.name,
        "size": row.size.to_string(),
        "threads": row.threads,
        "bytes": row.bytes,
        "gb_per_s": row.gb_per_s(),
        "memcpy_gb_per_s": row.memcpy_gb_per_s(),
        "ratio": row.ratio(),
        "right": row.is_right(),
    })))
}
