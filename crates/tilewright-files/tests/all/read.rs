//! Reads tensors into memory: from every container, from files that change, and with invalid requests.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use tilewright_files::{Error, Input, Reading, Tensor, Watch, open};

use crate::common::*;

/// Reads a tensor, or a box of one, in a layout.
fn read(
    input: &Input,
    tensor: &Tensor,
    to: Option<&str>,
    part: Option<&[std::ops::Range<u64>]>,
) -> Result<Vec<u8>, Error> {
    let reader = input.reader(tensor, to.map(spec).as_ref(), part)?;
    let mut out = vec![0x5A; reader.bytes() as usize];
    reader.read_into(&mut out, 1, &())?;
    Ok(out)
}

/// Compares every tensor of a file in every layout that fits with a conversion to a raw file.
fn check(path: impl AsRef<Path>, texts: &[&str]) -> usize {
    let (folder, mut checked) = (folder(), 0);
    let input = open(&path, &Reading::default()).unwrap();
    for (tensor, text) in input.tensors().iter().flat_map(|t| texts.iter().map(move |x| (t, *x))) {
        let out = format!("raw:{}", folder.path().join("out.bin").display());
        let request = to(text).only(tensor.name()).force(true);
        match (convert(&path, &out, request), read(&input, tensor, Some(text), None)) {
            (Ok(_), Ok(found)) => {
                let expected = fs::read(folder.path().join("out.bin")).unwrap();
                assert!(found == expected, "{} to {text}", tensor.name());
                checked += 1;
            }
            (Err(_), Err(error)) => assert!(error.to_string().contains(tensor.name()), "{error}"),
            (a, b) => panic!("{} to {text}: {a:?}, {:?}", tensor.name(), b.map(|b| b.len())),
        }
        if tensor.refusal().is_none() && text == "row-major" {
            let bare = read(&input, tensor, None, None).unwrap();
            assert!(bare == read(&input, tensor, Some(text), None).unwrap(), "{}", tensor.name());
        }
    }
    checked
}

#[test]
fn what_is_read_of_every_container_is_what_a_conversion_holds() {
    let texts = ["row-major", "col-major", "zN", "{1,0:T(8,128)(2,1)}", "{0,1:T(3,5)}"];
    assert!(check(corpus(LLM), &texts) > 20);
    assert!(check(corpus(CNN), &["row-major", "NHWC", "col-major"]) > 10);
    assert!(check(corpus("tiny_quantised.gguf"), &texts) > 5);
    let (folder, data) = (folder(), noise(30 * 40 * 4));
    for (descr, fortran) in [("<f4", false), (">f4", false), ("<i4", true), (">i4", true)] {
        let path = write(&folder, "a.npy", npy(descr, fortran, "(30, 40)", &data));
        assert_eq!(check(path, &texts), texts.len(), "{descr} {fortran}");
    }
}

#[test]
fn boxes_of_blocks_are_cut_between_them() {
    let input = open(corpus("tiny_quantised.gguf"), &Reading::default()).unwrap();
    let tensor = input.tensors().iter().find(|t| t.name() == "blk.0.ffn_up.weight").unwrap();
    let whole = read(&input, tensor, None, None).unwrap();
    let row = whole.len() / 24;
    assert_eq!(read(&input, tensor, None, Some(&[3..7, 0..64])).unwrap(), whole[3 * row..7 * row]);
    let half = read(&input, tensor, None, Some(&[0..24, 32..64])).unwrap();
    assert!(half.chunks(row / 2).eq(whole.chunks(row / 2).skip(1).step_by(2)));
    let said = read(&input, tensor, None, Some(&[0..24, 8..40])).unwrap_err().to_string();
    assert!(said.contains("8 to 40") && said.contains("multiples of 32"), "{said}");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_read() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("F32", &[6, 8], &noise(192)));
    let input = open(&path, &Reading::default()).unwrap();
    let tensor = &input.tensors()[0];
    let said = |to, part: Option<&[std::ops::Range<u64>]>| {
        let error = read(&input, tensor, to, part).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    assert!(said(Some("NCHW"), None).contains("rank 2"));
    #[allow(clippy::single_range_in_vec_init, reason = "one dim too few")]
    let short = [0..6];
    assert!(said(None, Some(&short)).contains("rank 1"));
    assert!(said(None, Some(&[0..7, 0..8])).contains("from 0 to 7 in dim 0 of extent 6"));
    #[allow(clippy::reversed_empty_ranges, reason = "what is refused")]
    let turned = [5..3, 0..8];
    assert!(said(None, Some(&turned)).contains("from 5 to 3"));
    assert_eq!(read(&input, tensor, None, Some(&[2..2, 0..8])).unwrap(), Vec::<u8>::new());
    let reader = input.reader(tensor, None, None).unwrap();
    let mut long = vec![0; 193];
    let error = reader.read_into(&mut long, 1, &()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("193 bytes for a result of 192"));
    let path = write(&folder, "six.safetensors", one("F6_E2M3", &[4], &[1, 2, 3]));
    let input = open(&path, &Reading::default()).unwrap();
    let error = input.reader(&input.tensors()[0], None, None).unwrap_err();
    assert!(error.kind() == "unsupported" && error.to_string().contains("straddle"), "{error}");
}

#[test]
fn a_file_that_is_cut_short_or_changed_is_an_error() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("BF16", &[300, 200], &noise(120_000)));
    let whole = fs::read(&path).unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    let tensor = &input.tensors()[0];
    let cut = |len: usize| fs::File::options().write(true).open(&path).unwrap().set_len(len as u64);
    for len in [whole.len() - 1, whole.len() / 2, 0] {
        cut(len).unwrap();
        for to in [None, Some("col-major"), Some("zN")] {
            assert!(read(&input, tensor, to, None).is_err(), "{to:?} {len}");
            // The part exists, but the file is another one.
            assert!(read(&input, tensor, to, Some(&[0..2, 0..200])).is_err(), "{to:?} {len}");
        }
    }
    fs::write(&path, &whole).unwrap();
    let error = read(&input, tensor, None, None).unwrap_err().to_string();
    assert!(error.contains("changed while it was read"), "{error}");
    assert!(read(&open(&path, &Reading::default()).unwrap(), tensor, None, None).is_ok());
}

/// Counts bytes, and cancels at this number.
struct Stop(AtomicU64, AtomicU64, u64);

impl Watch for Stop {
    fn total(&self, bytes: u64) {
        self.1.store(bytes, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= self.2
    }
}

#[test]
fn a_reading_is_followed_and_stopped() {
    let (folder, rows) = (folder(), 6 << 10);
    let path = write(&folder, "t.safetensors", one("BF16", &[rows, 1024], &noise(12 << 20)));
    let input = open(&path, &Reading::default()).unwrap();
    for text in ["row-major", "col-major", "zN"] {
        let reader = input.reader(&input.tensors()[0], Some(&spec(text)), None).unwrap();
        let mut out = vec![0; reader.bytes() as usize];
        let all = Stop(AtomicU64::new(0), AtomicU64::new(0), u64::MAX);
        reader.read_into(&mut out, 2, &all).unwrap();
        assert_eq!(all.0.into_inner(), 12 << 20, "{text}");
        assert_eq!(all.1.into_inner(), 12 << 20, "{text}");
        for end in [0, 1, 5 << 20] {
            let some = Stop(AtomicU64::new(0), AtomicU64::new(0), end);
            let error = reader.read_into(&mut out, 1, &some).unwrap_err();
            let done = some.0.into_inner();
            assert!(error.is_cancelled() && done < end + (6 << 20), "{text} {end} {done}");
        }
    }
}

/// A reader may be used by several threads, and after a panic.
#[test]
fn readers_cross_threads_and_panics() {
    fn crosses<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    crosses::<tilewright_files::Reader<'_>>();
}
