//! Measures the speed of the verification of a result, compared with its conversion, for memory bounds from 64 KiB up; the files
//! are in the system's cache.
//!
//! `cargo run --release -p tilewright-files --example verify_speed` creates its files in the system's folder for temporary files
//! (`TMPDIR`), and removes them at the end. With a word, it runs only the cases that contain it.

use std::{error::Error, fs, path::Path, time::Instant};

use tilewright_files::{Conversion, Reading, Request, Verdict, open, verify};
use tilewright_notation::Spec;

/// Name, type and width of the elements, dims, and the layout of the result.
type Case = (&'static str, &'static str, u64, &'static [u64], &'static str);

const CASES: [Case; 6] = [
    ("zN of floats", "F32", 4, &[3001, 7007], "zN"),
    ("floats transposed", "F32", 4, &[4096, 4096], "col-major"),
    ("bytes transposed", "U8", 1, &[8000, 8000], "col-major"),
    ("tiles of halves", "BF16", 2, &[5001, 7007], "{1,0:T(8,128)(2,1)}"),
    ("seven dims reversed", "F32", 4, &[8, 8, 16, 16, 16, 8, 8], "col-major"),
    ("channels last", "F32", 4, &[16, 64, 128, 128], "channels_last"),
];

const BOUNDS: [u64; 5] = [64 << 10, 256 << 10, 1 << 20, 16 << 20, 1 << 30];

fn main() -> Result<(), Box<dyn Error>> {
    let only = std::env::args().nth(1).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let (input, out) =
        (folder.path().join("in.safetensors"), folder.path().join("out.safetensors"));
    println!("case                   KiB of memory   convert    verify   ratio");
    for (name, dtype, width, dims, text) in CASES.iter().filter(|case| case.0.contains(&only)) {
        make(&input, dtype, *width, dims)?;
        for bound in BOUNDS {
            let request = Request::new().to(Spec::parse(text)?).memory(bound).force(true);
            let converted = seconds(&mut || {
                let input = open(&input, &Reading::default())?;
                Conversion::prepare(&input, &out, request.clone())?.run(&())?;
                Ok(())
            })?;
            let verified =
                seconds(&mut || match verify(&out, &input, &Request::new().memory(bound), &())? {
                    Verdict::Same { .. } => Ok(()),
                    Verdict::Differs(found) => Err(found.to_string().into()),
                })?;
            let (kib, ratio) = (bound >> 10, verified / converted);
            println!("{name:<22} {kib:>13} {converted:>7.2} s {verified:>7.2} s {ratio:>7.2}");
        }
    }
    Ok(())
}

/// Writes a file of one tensor.
fn make(path: &Path, dtype: &str, width: u64, dims: &[u64]) -> std::io::Result<()> {
    let len = dims.iter().product::<u64>() * width;
    let mut header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[0,{len}]}}}}"#);
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..len).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8));
    fs::write(path, bytes)
}

/// Returns the smaller time of two runs.
fn seconds(work: &mut dyn FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::MAX;
    for _ in 0..2 {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}
