//! Recipes that read and write layouts of every kind.

use std::fs;

use crate::recast::{done, refused, tensors};

/// Returns a safetensors file of one tensor of f32.
fn floats(name: &str, dims: [usize; 2]) -> Vec<u8> {
    let data: Vec<u8> = (0..dims[0] * dims[1]).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let header = format!(
        r#"{{"{name}":{{"dtype":"F32","shape":{dims:?},"data_offsets":[0,{}]}}}}"#,
        data.len()
    );
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// Returns a recipe that makes `b` from `a`, with its axes in this order, in this layout.
fn rule(axes: &str, layout: &str) -> String {
    format!("[[map]]\nfrom = 'a : r c'\nto = 'b : {axes}'\nlayout = '{layout}'\n")
}

/// Swizzles, index tables and big-endian elements are read and written, verified at once and later, and converted back.
#[test]
fn every_layout_and_byte_order_is_read_and_written() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("a", [8, 16])).unwrap();
    let swizzled = "S<2,1,3> o (8,16):(16,1)";
    done(at, &["convert", "a.safetensors", "in.safetensors", "--to", swizzled]);
    let targets = [
        "S<1,2,4> o (16,8):(8,1)",
        "table(0; 15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0) row-major",
        "{1,0:T(4,8)(3,1)}",
    ];
    for (number, layout) in targets.iter().enumerate() {
        let (recipe, out) = (format!("{number}.toml"), format!("{number}.safetensors"));
        fs::write(at.join(&recipe), rule("c r", layout)).unwrap();
        let said = done(at, &["recipe", "check", &recipe, "--on", "in.safetensors"]);
        assert!(said.contains("fits: 1 tensor"), "{said}");
        let said = done(at, &["convert", "in.safetensors", &out, "--recipe", &recipe, "--verify"]);
        assert!(said.contains("verified"), "{said}");
        for source in ["in.safetensors", "a.safetensors"] {
            for memory in ["4K", "64K", "1M", "1G"] {
                let verify = ["verify", &out, "--against", source, "--memory", memory];
                let said = done(at, &verify);
                assert!(said.starts_with("same"), "{layout} in {memory}: {said}");
            }
            assert_eq!(done(at, &["same-data", &out, source]), "same\n");
        }
        let back = format!("{number}.back.safetensors");
        done(at, &["convert", &out, &back, "--inverse", "--verify"]);
        assert_eq!(tensors(&at.join(back)), tensors(&at.join("a.safetensors")), "{layout}");
        // A changed element is found, with its coordinate.
        let mut bytes = fs::read(at.join(&out)).unwrap();
        let data = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        bytes[data] ^= 1;
        fs::write(at.join(&out), bytes).unwrap();
        let said = refused(at, &["verify", &out, "--against", "in.safetensors"], 1);
        assert!(said.contains("tensor \"b\" has"), "{said}");
    }
    // A layout that does not fit is reported before the conversion.
    fs::write(at.join("unfit.toml"), rule("c r", swizzled)).unwrap();
    let said = refused(at, &["recipe", "check", "unfit.toml", "--on", "in.safetensors"], 2);
    assert!(said.contains("tensor \"b\" of dims [16, 8]"), "{said}");
    fs::write(at.join("unfit.toml"), rule("c r", "nonsense")).unwrap();
    let said = refused(at, &["recipe", "check", "unfit.toml"], 2);
    assert!(said.starts_with("error: unfit.toml: layout \"nonsense\""), "{said}");
}

/// Padding with a declared fill is compared with it, too.
#[test]
fn padding_of_a_result_is_verified_later() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("a", [3, 5])).unwrap();
    for layout in ["zN[M0=4,C0=4]", "table(0; 2,0,1) zN[M0=4,C0=4]"] {
        fs::write(at.join("zn.toml"), rule("r c", layout)).unwrap();
        let run = ["--recipe", "zn.toml", "--verify", "--force"];
        done(at, &[&["convert", "a.safetensors", "b.safetensors"], &run[..]].concat());
        let verify = ["verify", "b.safetensors", "--against", "a.safetensors"];
        assert!(done(at, &verify).starts_with("same"));
        let mut bytes = fs::read(at.join("b.safetensors")).unwrap();
        let len = bytes.len();
        bytes[len - 1] ^= 1;
        fs::write(at.join("b.safetensors"), bytes).unwrap();
        let said = refused(at, &verify, 1);
        assert!(said.contains("in the padding at offset 31"), "{layout}: {said}");
    }
}

/// A tensor that is passed from a big-endian file keeps its values. The tensors that a recipe dropped are reported on the way
/// back.
#[test]
fn passed_tensors_keep_their_values_and_dropped_ones_are_told() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("array", [2, 3])).unwrap();
    let mut header = "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }".to_owned();
    header += "\n";
    let data: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_be_bytes()).collect();
    let len = (header.len() as u16).to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\0", &len[..], header.as_bytes(), &data].concat();
    fs::write(at.join("big.npy"), bytes).unwrap();
    fs::write(at.join("pass.toml"), "pass = ['*']").unwrap();
    done(at, &["convert", "big.npy", "out.safetensors", "--recipe", "pass.toml", "--verify"]);
    assert_eq!(tensors(&at.join("out.safetensors")), tensors(&at.join("a.safetensors")));
    assert_eq!(done(at, &["same-data", "out.safetensors", "big.npy"]), "same\n");

    // An array without a header is read in the given layout.
    let data: Vec<u8> = [0, 3, 1, 4, 2, 5].iter().flat_map(|i| (*i as f32).to_le_bytes()).collect();
    fs::write(at.join("bare.bin"), data).unwrap();
    let run = ["--recipe", "pass.toml", "--verify", "--force"];
    for said in
        [&["--from", "f32[2,3]{0,1}"][..], &["--from", "{0,1}", "--dims", "2,3", "--dtype", "f32"]]
    {
        done(at, &[&["convert", "raw:bare.bin", "bare.safetensors"], said, &run[..]].concat());
        assert_eq!(done(at, &["same-data", "bare.safetensors", "a.safetensors"]), "same\n");
    }
    let said = ["convert", "a.safetensors", "b.safetensors", "--from", "zN"];
    let said = refused(at, &[&said[..], &run[..]].concat(), 2);
    assert!(said.contains("as the file states them"), "{said}");

    fs::write(at.join("drop.toml"), "drop = ['array']").unwrap();
    done(at, &["convert", "a.safetensors", "none.safetensors", "--recipe", "drop.toml"]);
    let said = done(at, &["convert", "none.safetensors", "back.safetensors", "--inverse", "-q"]);
    assert!(said.contains("array was dropped and cannot be restored"), "{said}");
}
