//! Concurrent reading, moving and writing: equal files, within the bound, and no files left by a run that fails in the middle.

use std::fs;

use tempfile::TempDir;
use tilewright_files::{Conversion, Reading, Request, Watch, open};

use crate::common::*;

/// Writes tensors of several sizes, from empty to larger than the buffers of a worker of 8 MiB.
fn mixed(folder: &TempDir) -> (std::path::PathBuf, usize) {
    let dims =
        [[1024u64, 2560], [0, 7], [3, 5], [700, 900], [1, 1], [2000, 300], [64, 64], [5, 100_000]];
    let (mut header, mut at) = (String::new(), 0);
    for (number, [m, n]) in dims.iter().enumerate() {
        let end = at + m * n * 2;
        let comma = if number > 0 { "," } else { "" };
        header += &format!(
            r#"{comma}"t{number}":{{"dtype":"BF16","shape":[{m},{n}],"data_offsets":[{at},{end}]}}"#
        );
        at = end;
    }
    let bytes = safetensors(&format!("{{{header}}}"), &noise(at as usize));
    (write(folder, "in.safetensors", bytes), at as usize)
}

#[test]
fn the_file_is_the_same_for_every_bound_and_number_of_threads() {
    let folder = folder();
    let (path, _) = mixed(&folder);
    let texts = ["zN", "col-major", "{1,0:T(8,128)(2,1)}", "row-major", "{0,1:T(3,5)}"];
    for (number, text) in texts.into_iter().enumerate().step_by(tilewright_testing::cases(1, 2)) {
        let out = folder.path().join("out.safetensors");
        let request = |memory| to(text).skip_unfit(true).force(true).memory(memory);
        convert(&path, &out, request(1 << 30).verify(true)).unwrap();
        let expected = fs::read(&out).unwrap();
        let bounds = [(70_000, 1), (8 << 20, 2), (9_000_001, 3), (1 << 24, 0)];
        for (memory, threads) in bounds
            .into_iter()
            .skip(tilewright_testing::cases(0, number % 3))
            .take(tilewright_testing::cases(4, 2))
        {
            let report = convert(&path, &out, request(memory).threads(threads)).unwrap();
            assert!(report.peak_memory() <= memory, "{} of {memory}", report.peak_memory());
            assert!(fs::read(&out).unwrap() == expected, "{text}, {memory}, {threads} threads");
        }
    }
}

#[test]
fn an_input_that_shrinks_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let (path, len) = mixed(&folder);
    let whole = fs::read(&path).unwrap();
    let out = folder.path().join("out.safetensors");
    for memory in [1 << 16, 8 << 20, 1 << 30] {
        for request in [to("zN"), to("row-major"), Request::new().rule("t0", spec("col-major"))] {
            let all = [0, whole.len() - len, whole.len() - len / 2, whole.len() - 1];
            // All lengths, or those in the data.
            for &left in tilewright_testing::cases(&all[..], &all[2..]) {
                fs::write(&path, &whole).unwrap();
                let input = open(&path, &Reading::default()).unwrap();
                let request = request.clone().memory(memory);
                let conversion = Conversion::prepare(&input, &out, request).unwrap();
                fs::File::options().write(true).open(&path).unwrap().set_len(left as u64).unwrap();
                let error = conversion.run(&()).unwrap_err();
                assert!(error.is_io() && error.kind() == "corrupt", "{error}");
                assert!(error.to_string().contains("when opened"), "{error}");
                assert_eq!(names(&folder), ["in.safetensors"]);
            }
        }
    }
}

/// Cancels when the given number of bytes is written.
struct Until(u64, std::sync::atomic::AtomicU64);

impl Watch for Until {
    fn advance(&self, bytes: u64) {
        self.1.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.1.load(std::sync::atomic::Ordering::Relaxed) >= self.0
    }
}

#[test]
fn a_run_can_be_stopped_anywhere() {
    let folder = folder();
    let (path, len) = mixed(&folder);
    let out = folder.path().join("out.safetensors");
    let input = open(&path, &Reading::default()).unwrap();
    for memory in [1 << 16, 8 << 20, 1 << 30] {
        for at in [0, 1, len / 3, len / 2, len] {
            for text in ["zN", "row-major"] {
                let request = to(text).memory(memory);
                let conversion = Conversion::prepare(&input, &out, request).unwrap();
                let error = conversion.run(&Until(at as u64, 0.into())).unwrap_err();
                assert!(error.is_cancelled(), "{error}");
                assert_eq!(names(&folder), ["in.safetensors"]);
            }
        }
    }
}
