//! Measures the speed of conversions of a large file, compared with a copy and a sync of the copy, in alternating rounds; the
//! input is in the system's cache.
//!
//! `cargo run --release -p tilewright-files --example convert_speed -- [MiB] [rounds] [MiB of memory]` creates its file in the
//! system's folder for temporary files (`TMPDIR`), and removes it at the end.

use std::{
    error::Error,
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
    time::Instant,
};

use tilewright_files::{Conversion, Reading, Request, open};
use tilewright_notation::Spec;

/// The number of bytes of a tensor: bf16[4096,8192].
const TENSOR: u64 = 64 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let number = |i: usize, otherwise| numbers.get(i).copied().unwrap_or(otherwise);
    let (size, rounds, memory) = (number(0, 4096), number(1, 3), number(2, 1024) << 20);
    let folder = tempfile::tempdir()?;
    let (input, out) =
        (folder.path().join("in.safetensors"), folder.path().join("out.safetensors"));
    make(&input, (size << 20).div_ceil(TENSOR).max(1))?;
    println!(
        "to          copy+sync   convert   ratio   peak of resident memory (bound {} MiB + 64)",
        memory >> 20
    );
    for text in ["row-major", "zN", "col-major", "{1,0:T(8,128)(2,1)}"] {
        for _ in 0..rounds {
            let copied = timed(&out, &mut || {
                fs::copy(&input, &out)?;
                Ok(File::open(&out)?.sync_all()?)
            })?;
            forget_peak();
            let request = Request::new().to(Spec::parse(text)?).memory(memory).threads(0);
            let converted = timed(&out, &mut || {
                let input = open(&input, &Reading::default())?;
                Conversion::prepare(&input, &out, request.clone())?.run(&())?;
                Ok(())
            })?;
            let peak = peak().map_or("unknown".into(), |kib| format!("{} MiB", kib >> 10));
            println!(
                "{text:<20} {copied:6.2} s  {converted:6.2} s   {:5.2}   {peak}",
                copied / converted
            );
        }
    }
    Ok(())
}

/// Writes a file of `count` tensors.
fn make(path: &Path, count: u64) -> io::Result<()> {
    let tensor = |i: u64| {
        let (from, to) = (i * TENSOR, (i + 1) * TENSOR);
        format!(r#""t{i}":{{"dtype":"BF16","shape":[4096,8192],"data_offsets":[{from},{to}]}}"#)
    };
    let mut header = format!("{{{}}}", (0..count).map(tensor).collect::<Vec<_>>().join(","));
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut file = File::create(path)?;
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    let block: Vec<u8> =
        (0..1u64 << 20).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
    for _ in 0..count * (TENSOR >> 20) {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    // Reads the file into the cache.
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 20]);
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Returns the seconds of `work`, and removes its output. An output is created and removed beforehand, so that both sides write
/// into the same pages.
fn timed(
    out: &Path,
    work: &mut dyn FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    fs::copy(out.with_file_name("in.safetensors"), out)?;
    fs::remove_file(out)?;
    let start = Instant::now();
    work()?;
    let seconds = start.elapsed().as_secs_f64();
    fs::remove_file(out)?;
    Ok(seconds)
}

/// Resets the peak of resident memory, if the system supports it.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Returns the peak of resident memory in KiB.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
