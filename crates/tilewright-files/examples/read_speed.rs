//! Measures the speed of reads of tensors into memory in a requested layout, compared with reads of the same bytes into the same
//! buffer; one thread, the files in the system's cache.
//!
//! `cargo run --release -p tilewright-files --example read_speed [-- MiB [WORD]]`, by default with 256 MiB, and with a word only
//! the cases that contain it. It creates its files in the system's folder for temporary files (`TMPDIR`), and removes them at the
//! end. Speeds are GB of the result per second of CPU time if the system reports it, medians of rounds; the ratio is the median
//! of the ratios of the rounds. `window` is the speed of reading the same bytes into one place that stays in the CPU's cache,
//! which is an upper limit for any code that reads and then moves.

use std::{error::Error, fs, fs::File, io::Read, path::Path, time::Instant};

use tilewright_files::{Conversion, Input, Reading, Request, open};
use tilewright_notation::Spec;

const ROUNDS: usize = 7;

/// The number of bytes of a window of the file that stays in a cache.
const WINDOW: usize = 2 << 20;

/// The layout in the file, and that of the result; `None` means the logical dims, last fastest.
const LAYOUTS: [(&str, Option<&str>); 8] = [
    ("row-major", None),
    ("row-major", Some("zN")),
    ("row-major", Some("{1,0:T(8,128)(2,1)}")),
    ("row-major", Some("col-major")),
    ("zN", None),
    ("{1,0:T(8,128)(2,1)}", None),
    ("col-major", None),
    ("zN", Some("{1,0:T(8,128)(2,1)}")),
];

/// The distances of the result's start from a cache line.
const SKIPS: [usize; 3] = [0, 16, 5];

fn main() -> Result<(), Box<dyn Error>> {
    let mib: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(256);
    let only = std::env::args().nth(2).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("file.safetensors");
    println!(
        "{:62}{:>6}{:>8}{:>6}{:>7}",
        "tensor, in the file, as read, behind a line", "plain", "window", "read", "ratio"
    );
    for (dtype, width) in [("BF16", 2), ("F32", 4)] {
        let rows = (mib << 20) / width / 8192;
        for dims in [[rows, 8192], [rows - 1, 8191]] {
            for (held, wanted) in LAYOUTS {
                let name = format!("{dtype}{dims:?} {held} -> {}", wanted.unwrap_or("dims"));
                if name.contains(&only) {
                    make(folder.path(), &path, (dtype, width, &dims), held)?;
                    measure(&name, &path, wanted)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes a file of one tensor in one call: the system keeps it in larger pieces than a file that is written in small steps.
fn make(
    folder: &Path,
    path: &Path,
    (dtype, width, dims): (&str, u64, &[u64; 2]),
    held: &str,
) -> Result<(), Box<dyn Error>> {
    let len = dims.iter().product::<u64>() * width;
    let mut header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[0,{len}]}}}}"#);
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..len).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8));
    fs::write(path, bytes)?;
    if held == "row-major" {
        return Ok(());
    }
    let other = folder.join("other.safetensors");
    let request = Request::new().to(Spec::parse(held)?).force(true);
    Conversion::prepare(&open(path, &Reading::default())?, &other, request)?.run(&())?;
    let bytes = fs::read(&other)?;
    fs::remove_file(&other)?;
    fs::remove_file(path)?;
    Ok(fs::write(path, bytes)?)
}

fn measure(name: &str, path: &Path, wanted: Option<&str>) -> Result<(), Box<dyn Error>> {
    let input = open(path, &Reading::default())?;
    let to = wanted.map(Spec::parse).transpose()?;
    let reader = input.reader(&input.tensors()[0], to.as_ref(), None)?;
    let len = reader.bytes() as usize;
    let mut memory = vec![1; len + 128];
    for skip in SKIPS {
        let from = memory.as_ptr().align_offset(64) + skip;
        let out = &mut memory[from..from + len];
        let (mut plain, mut window, mut read) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            plain.push(plainly(&input, path, out, usize::MAX)?);
            window.push(plainly(&input, path, out, WINDOW)?);
            read.push(len as f64 / 1e9 / timed(|| Ok(reader.read_into(out, 1, &())?))?);
        }
        let mut ratios: Vec<f64> =
            read.iter().zip(&plain).map(|(own, other)| own / other).collect();
        let all = [&mut plain, &mut window, &mut read, &mut ratios];
        let [plain, window, read, ratio] = all.map(|all| median(all));
        let title = format!("{name}, {skip}");
        println!("{title:62}{plain:>6.1}{window:>8.1}{read:>6.1}{ratio:>7.2}");
    }
    Ok(())
}

/// Returns the speed of reading the tensor's bytes, as far as they fit, each `window` bytes to the same place.
fn plainly(
    input: &Input,
    path: &Path,
    out: &mut [u8],
    window: usize,
) -> Result<f64, Box<dyn Error>> {
    let len = out.len().min(input.tensors()[0].bytes() as usize);
    let mut file = File::open(path)?;
    let mut size = [0; 8];
    file.read_exact(&mut size)?;
    let mut header = vec![0; u64::from_le_bytes(size) as usize];
    file.read_exact(&mut header)?;
    let read = || {
        let parts = (0..len).step_by(window).map(|from| window.min(len - from));
        for part in parts {
            file.read_exact(&mut out[..part])?;
        }
        Ok(())
    };
    Ok(len as f64 / 1e9 / timed(read)?)
}

/// Returns the seconds of CPU time of this thread, or else of the clock.
fn now(start: Instant) -> f64 {
    // The CPU time of a thread is updated when it yields, or at the next tick.
    std::thread::yield_now();
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |all| all * 1e-9)
}

fn timed(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let before = now(start);
    work()?;
    Ok(now(start) - before)
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
