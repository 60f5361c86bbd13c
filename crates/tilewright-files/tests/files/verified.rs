//! Verification finds what it must find.

use std::fs;

use crate::common::*;
use tempfile::TempDir;
use tilewright_core::Fill;
use tilewright_files::{Request, Verdict, verify};

/// A 5×6 tensor of 16-bit elements in tiles of 4×4, and its original.
fn pair(folder: &TempDir, fill: Fill) -> (std::path::PathBuf, std::path::PathBuf) {
    let header = r#"{"__metadata__":{"k":"v"},"t":{"dtype":"I16","shape":[5,6],"data_offsets":[0,60]},"u":{"dtype":"U8","shape":[4],"data_offsets":[60,64]}}"#;
    let path = write(folder, "in.safetensors", safetensors(header, &noise(64)));
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, to("{1,0:T(4,4)}").only("t").fill(fill)).unwrap();
    (path, out)
}

fn differs(out: &std::path::Path, against: &std::path::Path, memory: u64) -> Option<String> {
    match verify(out, against, &Request::new().memory(memory), &()).unwrap() {
        Verdict::Same { bytes } => {
            assert_eq!(bytes, 64 * 2 + 4);
            None
        }
        Verdict::Differs(said) => Some(said),
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let folder = folder();
    for fill in [Fill::Unspecified, Fill::Lowest] {
        let (path, out) = pair(&folder, fill);
        let (_, data) = parts(&out);
        assert_eq!(data.len(), 64 * 2 + 4);
        assert_eq!(differs(&out, &path, 1 << 20), None);
        let good = fs::read(&out).unwrap();
        let start = good.len() - data.len();
        for byte in 0..data.len() {
            for bit in [0, 7] {
                let mut bad = good.clone();
                bad[start + byte] ^= 1 << bit;
                fs::write(&out, &bad).unwrap();
                let said = differs(&out, &path, 1 << 20).expect("a difference");
                if byte >= 128 {
                    assert!(
                        said.contains("\"u\" has") && said.contains(&format!("[{}]", byte - 128)),
                        "{said}"
                    );
                    continue;
                }
                let offset = byte / 2;
                let (row, col) =
                    (offset / 32 * 4 + offset / 4 % 4, offset / 16 % 2 * 4 + offset % 4);
                let place = if row < 5 && col < 6 {
                    format!("at [{row}, {col}]")
                } else {
                    format!("padding at offset {offset}")
                };
                assert!(said.contains(&place) && said.contains("\"t\""), "{byte}: {said}");
            }
        }
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn differences_beside_the_elements_are_found() {
    let folder = folder();
    let (path, out) = pair(&folder, Fill::Unspecified);
    let good = String::from_utf8_lossy(&fs::read(&out).unwrap()).into_owned();
    assert!(good.contains("\"k\":\"v\""));
    let bytes = fs::read(&out).unwrap();
    let patched = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut bad = bytes.clone();
        bad[at..at + to.len()].copy_from_slice(to.as_bytes());
        let path = write(&folder, "bad.safetensors", bad);
        differs(&path, &folder.path().join("in.safetensors"), 1 << 20).unwrap()
    };
    assert!(patched("\"k\":\"v\"", "\"k\":\"w\"").contains("metadata"));
    assert!(patched("\"k\":\"v\"", "\"l\":\"v\"").contains("metadata"));
    assert!(patched("\"u\":{", "\"w\":{").contains("\"u\" is missing"));
    assert!(patched("s16[5,6]", "u16[5,6]").contains("elements are u16, were s16"));
    assert!(patched("s16[5,6]", "s16[6,6]").contains("logical dims"));
    assert!(patched("\"dtype\":\"U8\"", "\"dtype\":\"I8\"").contains("elements are s8, were u8"));
    assert_eq!(differs(&out, &path, 1 << 20), None);
}

/// Windows and blocks far smaller than the tensor find the same.
#[test]
fn verification_is_bounded_and_still_exact() {
    let folder = folder();
    let data = noise(100 * 120 * 4);
    let path = write(&folder, "in.safetensors", one("F32", &[100, 120], &data));
    for text in ["zN[M0=16,C0=8]", "col-major", "{0,1:T(3,5)}", "{1,0:T(7,11)(2,1)}"] {
        let out = folder.path().join("out.safetensors");
        convert(&path, &out, to(text).force(true)).unwrap();
        let verdict = |memory| verify(&out, &path, &Request::new().memory(memory), &()).unwrap();
        assert!(matches!(verdict(4096), Verdict::Same { .. }), "{text}");
        let mut bad = fs::read(&out).unwrap();
        let at = bad.len() - 1 - 4 * 777;
        bad[at] ^= 1;
        fs::write(&out, bad).unwrap();
        let (small, large) = (verdict(4096), verdict(1 << 20));
        assert!(
            small == large && matches!(small, Verdict::Differs(_)),
            "{text}: {small:?} {large:?}"
        );
    }
}

#[test]
fn stray_bits_behind_packed_elements_are_found() {
    let folder = folder();
    let path = write(&folder, "in.safetensors", one("BOOL", &[3, 1], &[1, 0, 1]));
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, to("{1,0:E(1)}").verify(true)).unwrap();
    assert_eq!(tensor(&out, "t").2, [0b101]);
    let mut bad = fs::read(&out).unwrap();
    *bad.last_mut().unwrap() = 0b1000_0101;
    fs::write(&out, bad).unwrap();
    let verdict = verify(&out, &path, &Request::new(), &()).unwrap();
    assert!(
        matches!(&verdict, Verdict::Differs(said) if said.contains("last byte")),
        "{verdict:?}"
    );
}
