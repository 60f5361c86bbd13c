//! Recipes write every container that stores arrays, files and streams, and read them again.

use std::fs;

use crate::recast::{corpus, done, families, kept, refused, said, tensors, text, tilewright};

/// Writes a safetensors file of one tensor of 16-bit numbers.
fn numbers(path: &std::path::Path, name: &str, dtype: &str, dims: [usize; 2]) {
    let data: Vec<u8> = (0..(dims[0] * dims[1]) as u16).flat_map(u16::to_le_bytes).collect();
    let header = format!(
        r#"{{"{name}":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[0,{}]}}}}"#,
        data.len()
    );
    let head = (header.len() as u64).to_le_bytes();
    fs::write(path, [&head[..], header.as_bytes(), &data].concat()).unwrap();
}

/// Every pair of the corpus becomes an archive, within any memory, which verifies and comes back; a stream has the same bytes.
#[test]
fn all_pairs_pass_archives_and_streams() {
    for (number, family) in families().iter().enumerate() {
        let folder = tilewright_testing::folder();
        let at = folder.path();
        let [before, after, recipe, config] =
            ["before.safetensors", "after.safetensors", "recipe.toml", "config.json"]
                .map(|name| family.join(name));
        fs::copy(&before, at.join("in.safetensors")).unwrap();
        if config.exists() {
            fs::copy(&config, at.join("config.json")).unwrap();
        }
        let recipe = ["--recipe", text(&recipe)];
        let mut archive = Vec::new();
        let bounds = ["4096", "20000", "1G"];
        // All three, or two, whose archives are equal.
        for memory in tilewright_testing::cases(&bounds[..], &bounds[number % 2..number % 2 + 2]) {
            let run = ["--verify", "--memory", memory, "--threads", "2", "--force", "-q"];
            let convert = |from: &str, to: &str, how: &[&str]| {
                done(at, &[&["convert", from, to], how, &run[..]].concat());
            };
            convert("in.safetensors", "o.npz", &recipe);
            assert_eq!(tensors(&at.join("o.npz")), tensors(&after), "{family:?}");
            let bytes = fs::read(at.join("o.npz")).unwrap();
            assert!(archive.is_empty() || archive == bytes, "{family:?} in {memory}");
            let is_first = archive.is_empty();
            archive = bytes;
            // All with each bound; or with the first, because the archives are equal.
            if !tilewright_testing::cases(true, is_first) {
                continue;
            }
            let verified = done(at, &["verify", "o.npz", "--against", "in.safetensors"]);
            assert!(verified.starts_with("same"), "{verified}");
            convert("o.npz", "back.npz", &["--inverse"]);
            convert("o.npz", "back.safetensors", &["--inverse"]);
            let dropped = ["rope.freqs", "rope_freqs"];
            let was = kept(&before, if text(family).contains("llama_") { &dropped } else { &[] });
            assert_eq!(tensors(&at.join("back.npz")), was, "{family:?}");
            assert_eq!(tensors(&at.join("back.safetensors")), was, "{family:?}");
            let file = ["convert", "in.safetensors", "o.safetensors", "--force"];
            done(at, &[&file[..], &recipe].concat());
            for (stream, file) in [("-", "o.safetensors"), ("npz:-", "o.npz")] {
                let run = ["convert", "in.safetensors", stream, "--memory", memory];
                let output = tilewright(at, &[&run[..], &recipe].concat());
                assert!(output.status.success(), "{}", said(&output));
                assert_eq!(output.stdout, fs::read(at.join(file)).unwrap(), "{family:?} {stream}");
            }
        }
    }
}

/// One tensor becomes an array in any layout and byte order that an `.npy` file or a note beside it records, and comes back.
#[test]
fn one_tensor_becomes_an_array_with_its_note() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let rule = |layout: &str| {
        let layout = match layout {
            "" => String::new(),
            layout => format!("layout = '{layout}'\n"),
        };
        fs::write(
            at.join("r.toml"),
            format!("[[map]]\nfrom = 'a : r c'\nto = 'array : c r'\n{layout}"),
        )
        .unwrap();
    };
    let layouts = [
        "",
        "col-major",
        "zN",
        "S<1,2,4> o (16,8):(8,1)",
        "table(0; 15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0) row-major",
    ];
    let orders = [">u2[16,8]{1,0}", ">u2[16,8]{0,1}", ">u2[16,8]{1,0:T(4,8)}"];
    for (dtype, orders) in [("BF16", &[][..]), ("U16", &orders)] {
        numbers(&at.join("a.safetensors"), "a", dtype, [8, 16]);
        for layout in layouts.iter().chain(orders) {
            for out in ["o.npy", "o.npz"] {
                rule(layout);
                let run = ["--recipe", "r.toml", "--verify", "--force"];
                let made = done(at, &[&["convert", "a.safetensors", out], &run[..]].concat());
                assert!(made.contains("verified"), "{layout}: {made}");
                let back = ["back.safetensors", "--recipe", "r.toml", "--inverse", "--verify"];
                done(at, &[&["convert", out], &back[..], &["--force"]].concat());
                let [is, was] =
                    ["back.safetensors", "a.safetensors"].map(|it| tensors(&at.join(it)));
                assert_eq!(is, was, "{layout} in {out}");
            }
        }
    }
    rule(orders[0]);
    let run = ["convert", "a.safetensors", "o.safetensors", "--recipe", "r.toml"];
    assert!(refused(at, &run, 2).contains("its elements are big-endian"));
    rule("");
    let made = done(at, &["convert", "a.safetensors", "o.npy", "--recipe", "r.toml", "--force"]);
    assert!(made.contains("cannot store metadata"), "{made}");
    let bytes = done(at, &["convert", "a.safetensors", "raw:o.bin", "--recipe", "r.toml"]);
    assert!(bytes.contains("1 tensor"), "{bytes}");
    let stream = tilewright(at, &["convert", "a.safetensors", "raw:-", "--recipe", "r.toml"]);
    assert_eq!(stream.stdout, fs::read(at.join("o.bin")).unwrap());
}

/// Results that a stream or a file of one array cannot take are refused before anything is written.
#[test]
fn what_a_container_cannot_take_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let family = corpus().join("mixtral");
    let [before, recipe] = ["before.safetensors", "recipe.toml"].map(|name| family.join(name));
    let convert = ["convert", text(&before), "--recipe", text(&recipe)];
    let says = |more: &[&str], words: &str| {
        let said = refused(at, &[&convert[..], more].concat(), 2);
        assert!(said.contains(words), "{said}");
    };
    says(&["o.npy"], "o.npy: .npy holds one array, and the result is");
    says(&["-", "--verify"], "standard output cannot be read back to be verified");
    says(&["gguf:-"], "take its metadata from a .gguf file");
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
}
