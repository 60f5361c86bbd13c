//! `recognise` and `infer` as a user calls them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } =
        program.args(args).current_dir(folder).output().unwrap();
    let text = String::from_utf8([stdout, stderr].concat()).unwrap();
    (status.code(), text)
}

fn npy(dims: &str, descr: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn names_of_layouts() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let (code, text) = run(&["recognise", "bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))"]);
    assert!(code == Some(0) && text.starts_with("zN  = NZ, FRACTAL_NZ"), "{text}");
    let (code, text) = run(&["recognise", "(8,12):(1,9)"]);
    assert_eq!((code, text.as_str()), (Some(1), "no named format\n"));
    let (code, text) = run(&["recognise", "f16[2,1,4,5] NHWC", "--json"]);
    assert!(code == Some(0) && text.contains("\"NCHW\"") && text.contains("\"NHWC\""), "{text}");
}

#[test]
fn a_conversion_is_found_out() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let data: Vec<u8> = (0..20 * 40u16).flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path().join("a.npy"), npy("20, 40", "<u2", &data)).unwrap();
    let (code, text) = run(&["convert", "a.npy", "raw:b.bin", "--to", "zN"]);
    assert_eq!(code, Some(0), "{text}");
    let infer = ["infer", "--original", "a.npy", "--packed", "b.bin"];
    let (code, text) = run(&infer);
    assert!(
        code == Some(0) && text.starts_with("m:32 (n1 n0:16) -> n1 m n0\n  zN  = NZ"),
        "{text}"
    );
    assert!(text.contains("736 elements of padding: it holds 0x0000"), "{text}");
    let (_, text) = run(&[&infer[..], &["--json"]].concat());
    assert!(
        text.contains("\"answer\":\"found\"") && text.contains("\"fill\":\"0x0000\""),
        "{text}"
    );

    let packed = fs::read(folder.path().join("b.bin")).unwrap();
    for (len, words) in [(packed.len() - 3, "not whole numbers"), (40, "holds 20 elements")] {
        fs::write(folder.path().join("b.bin"), &packed[..len]).unwrap();
        let (code, text) = run(&infer);
        assert!(code == Some(1) && text.contains(words), "{text}");
    }
    fs::write(folder.path().join("a.npy"), npy("20, 40", "<u2", &[5; 1600])).unwrap();
    let (code, text) = run(&infer);
    assert!(code == Some(1) && text.contains("holds 20 elements"), "{text}");
    fs::write(folder.path().join("b.bin"), [5; 1600]).unwrap();
    let (code, text) = run(&infer);
    assert!(code == Some(1) && text.starts_with("ambiguous: every element"), "{text}");
    fs::write(folder.path().join("a.npy"), &npy("20, 40", "<u2", &[5; 1600])[..100]).unwrap();
    assert_eq!(run(&infer).0, Some(3));
    assert_eq!(run(&["infer", "--original", "a.npy", "--packed", "none.bin"]).0, Some(3));
}

#[test]
fn both_orders_of_bytes_are_tried() {
    let folder = tilewright_testing::folder();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let little: Vec<u8> = (0..12u32).flat_map(u32::to_le_bytes).collect();
    let big: Vec<u8> =
        [0u32, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11].into_iter().flat_map(u32::to_be_bytes).collect();
    fs::write(path("a.bin"), little).unwrap();
    fs::write(path("b.bin"), big).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args([
            "infer",
            "--original",
            &format!("raw:{}", path("a.bin")),
            "--packed",
            &path("b.bin"),
        ])
        .args(["--dims", "3,4", "--dtype", "u32"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("in the other order"), "{text}");
    assert!(text.contains("COL") || text.contains("-> b a") || text.contains("n m"), "{text}");
}

/// Gate and up exchanged, as a dim of two and as the halves of the rows.
#[test]
fn halves_that_are_exchanged_are_found_and_named() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let data: Vec<u8> = (0..60u16).flat_map(u16::to_le_bytes).collect();
    let infer = ["infer", "--original", "a.npy", "--packed", "b.bin"];
    fs::write(folder.path().join("a.npy"), npy("2, 6, 5", "<u2", &data)).unwrap();
    let (code, text) = run(&["convert", "a.npy", "raw:b.bin", "--to", "SWAP_W13_W31"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = run(&infer);
    assert!(code == Some(0) && text.contains("SWAP_W13_W31  = swap_w13_to_w31"), "{text}");
    fs::write(folder.path().join("a.npy"), npy("12, 5", "<u2", &data)).unwrap();
    let (code, text) = run(&infer);
    assert!(code == Some(0) && text.starts_with("u16[12,5] ((6,2),5):((5,-30),1)+30\n"), "{text}");
    // The layout that was found reads the storage back.
    let spec = text.lines().next().unwrap();
    let (code, text) = run(&["convert", "raw:b.bin", "c.npy", "--from", spec, "--to", "row-major"]);
    assert_eq!(code, Some(0), "{text}");
    let [a, c] = ["a.npy", "c.npy"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(a[a.len() - 120..], c[c.len() - 120..]);
}
