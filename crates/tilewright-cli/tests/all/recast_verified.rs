//! Verification of results of recipes, later, by the recipe that they record.

use std::{fs, path::Path};

use tilewright::files::{Reading, open};

use crate::recast::{corpus, done, families, refused, said, text, tilewright};

/// Changes one bit of a tensor's element, and returns its coordinate.
fn change(path: &Path, name: &str, element: u64) -> Vec<u64> {
    let input = open(path, &Reading::default()).unwrap();
    let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    let [piece] = tensor.pieces() else { panic!("{name} in pieces") };
    let file = input.files().nth(piece.file()).unwrap().to_path_buf();
    let count: u64 = tensor.dims().iter().product();
    let at = piece.at() + element * (piece.bytes() / count);
    let coord =
        tensor.dims().iter().rev().fold((element, Vec::new()), |(rest, mut coord), extent| {
            coord.insert(0, rest % extent);
            (rest / extent, coord)
        });
    let mut bytes = fs::read(&file).unwrap();
    bytes[at as usize] ^= 1;
    fs::write(&file, bytes).unwrap();
    coord.1
}

#[test]
fn results_are_verified_by_the_recipe_that_they_record_and_a_changed_element_is_found() {
    let mut changed = 0;
    // Of five tensors, two are changed; or one of twelve.
    let (some, of) = tilewright_testing::cases((2, 5), (1, 12));
    for (at_family, family) in families().into_iter().enumerate() {
        let folder = tilewright_testing::folder();
        let at = folder.path();
        let before = family.join("before.safetensors");
        let recipe = family.join("recipe.toml");
        done(at, &["convert", text(&before), "out.safetensors", "--recipe", text(&recipe), "-q"]);
        done(at, &["convert", "out.safetensors", "back.safetensors", "--inverse", "-q"]);
        let verify = |out: &str, against: &str, more: &[&str]| {
            tilewright(at, &[&["verify", out, "--against", against, "-q"], more].concat())
        };
        for (out, against) in
            [("out.safetensors", text(&before)), ("back.safetensors", "out.safetensors")]
        {
            // Both ways and both orders, or one of each in turn.
            let step = tilewright_testing::cases(1, 2);
            for more in [&["--memory", "20000", "--threads", "3"][..], &[]]
                .into_iter()
                .skip(at_family % step)
                .step_by(step)
            {
                let output = verify(out, against, more);
                assert!(output.status.success(), "{family:?} {out}: {}", said(&output));
            }
            for pair in
                [[out, against], [against, out]].into_iter().skip(at_family % step).step_by(step)
            {
                let output = tilewright(at, &["same-data", pair[0], pair[1], "-q"]);
                let lines = said(&output);
                let is_dropped = |line: &str| line.ends_with("drops it") || line == "same";
                assert!(lines.trim().lines().all(is_dropped), "{family:?} {out}: {lines}");
            }
            let whole = fs::read(at.join(out)).unwrap();
            let names: Vec<(String, u64)> = {
                let input = open(at.join(out), &Reading::default()).unwrap();
                let size = |it: &tilewright::files::Tensor| it.dims().iter().product::<u64>();
                input.tensors().iter().map(|it| (it.name().to_owned(), size(it))).collect()
            };
            for (number, (name, size)) in
                names.iter().enumerate().filter(|(_, (_, size))| *size > 0)
            {
                // Some tensors of each kind of a family, not every tensor.
                if number % of >= some && names.len() > 6 * some {
                    continue;
                }
                let element = [0, size / 2, size - 1][number % 3];
                let coord = change(&at.join(out), name, element);
                let output = verify(out, against, &[]);
                let text = said(&output);
                assert_eq!(output.status.code(), Some(1), "{family:?} {name} {element}: {text}");
                assert!(text.contains(&format!("tensor {name:?} has ")), "{text}");
                assert!(
                    text.contains(&format!(" at {coord:?}, expected ")),
                    "{family:?} {name}: {text}"
                );
                let text = refused(at, &["same-data", against, out, "-q"], 1);
                assert!(text.contains(name), "{text}");
                fs::write(at.join(out), &whole).unwrap();
                changed += 1;
            }
        }
    }
    assert!(changed > tilewright_testing::cases(200, 60), "{changed}");
}

#[test]
fn a_result_of_another_source_or_recipe_does_not_verify() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let [before, gguf, recipe] = ["before.safetensors", "after.gguf", "recipe.toml"]
        .map(|name| corpus().join("llama_gguf").join(name));
    let convert = [
        "convert",
        text(&before),
        "o.gguf",
        "--recipe",
        text(&recipe),
        "--metadata",
        text(&gguf),
        "-q",
    ];
    done(at, &convert);
    done(at, &["verify", "o.gguf", "--against", text(&before)]);
    assert!(done(at, &["same-data", text(&before), "o.gguf"]).contains("same"));
    // Another model of the same shapes: two tensors are exchanged.
    fs::write(
        at.join("swap.toml"),
        "pass = ['*']\n[[map]]\nfrom = 'model.layers.{L}.mlp.gate_proj.weight'\nto = 'model.layers.{L}.mlp.up_proj.weight'\n[[map]]\nfrom = 'model.layers.{L}.mlp.up_proj.weight'\nto = 'model.layers.{L}.mlp.gate_proj.weight'",
    )
    .unwrap();
    done(at, &["convert", text(&before), "swapped.safetensors", "--recipe", "swap.toml"]);
    done(at, &["verify", "swapped.safetensors", "--against", text(&before)]);
    let text_of = refused(at, &["verify", "o.gguf", "--against", "swapped.safetensors"], 1);
    assert!(
        text_of.contains("tensor \"blk.0.ffn_gate.weight\" has ")
            && text_of.contains(" at [0, 0], expected "),
        "{text_of}"
    );
    let text_of = refused(at, &["same-data", "o.gguf", "swapped.safetensors"], 1);
    assert!(
        text_of.contains("blk.0.ffn_gate.weight") && text_of.contains("blk.1.ffn_up.weight"),
        "{text_of}"
    );
    // A tensor less, and a tensor more.
    fs::write(at.join("less.toml"), "pass = ['*']\ndrop = ['model.norm.weight']").unwrap();
    done(at, &["convert", text(&before), "less.safetensors", "--recipe", "less.toml"]);
    let text_of = refused(at, &["verify", "o.gguf", "--against", "less.safetensors"], 1);
    assert!(
        text_of.contains("was not made for less.safetensors")
            && text_of.contains("model.norm.weight"),
        "{text_of}"
    );
    // A result alone tells which tensors it must have, but not their contents.
    let text_of = refused(at, &["verify", "o.gguf"], 2);
    assert!(
        text_of.contains("names, types and dims of the recipe that it records")
            && text_of.contains("--against"),
        "{text_of}"
    );
    let mut bytes = fs::read(at.join("o.gguf")).unwrap();
    let name = bytes.windows(12).position(|it| it == b"blk.1.ffn_up").unwrap();
    bytes[name + 11] = b'q';
    fs::write(at.join("renamed.gguf"), bytes).unwrap();
    let text_of = refused(at, &["verify", "renamed.gguf"], 1);
    assert!(
        text_of.contains("not those of the recipe that it records")
            && text_of.contains("blk.1.ffn_uq.weight"),
        "{text_of}"
    );
    let text_of = refused(at, &["verify", "renamed.gguf", "--against", text(&before)], 1);
    assert!(text_of.contains("tensor \"blk.1.ffn_uq.weight\": the recorded recipe"), "{text_of}");
    // A result that is converted again has the same data.
    done(at, &["convert", "swapped.safetensors", "z.safetensors", "--to", "zN", "--skip-unfit"]);
    done(at, &["verify", "z.safetensors", "--against", "swapped.safetensors"]);
    done(at, &["verify", "z.safetensors", "--against", text(&before)]);
    done(at, &["same-data", text(&before), "z.safetensors"]);
    // The selected tensors are compared, by their own names or by those of their sources.
    let some = |glob: &'static str| ["verify", "o.gguf", "--tensor", glob, "--against"];
    done(at, &[&some("*attn*")[..], &[text(&before)]].concat());
    done(at, &[&some("*attn*")[..], &["swapped.safetensors"]].concat());
    done(at, &[&some("model.layers.*.self_attn.*")[..], &["swapped.safetensors"]].concat());
    for (glob, tensor) in [
        ("blk.1.ffn_up.weight", "blk.1.ffn_up.weight"),
        ("*ffn*", "blk.0.ffn_gate.weight"),
        ("model.layers.1.mlp.up_proj.weight", "blk.1.ffn_up.weight"),
    ] {
        let text_of = refused(at, &[&some(glob)[..], &["swapped.safetensors"]].concat(), 1);
        assert!(text_of.contains(&format!("tensor {tensor:?} has ")), "{text_of}");
    }
    // A layout that is requested beside the recipe is an error of usage.
    for more in [["--to", "zN"], ["--rule", "*=zN"]] {
        let verify = ["verify", "o.gguf", "--against", text(&before)];
        let text_of = refused(at, &[&verify[..], &more].concat(), 2);
        assert!(text_of.contains("by the recipe that it records"), "{text_of}");
        assert!(text_of.contains("leave out --to, --rule, "), "{text_of}");
    }
    let none = ["verify", "o.gguf", "--tensor", "*attm*", "--against", text(&before)];
    assert!(refused(at, &none, 2).contains("*attm*"));
}

#[test]
fn dropped_tensors_are_named_and_are_differences_of_the_data() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let mut bytes = br#"{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}"#.to_vec();
    let len = (bytes.len() as u64).to_le_bytes();
    bytes = [&len[..], &bytes, &[1, 2, 3, 4, 5, 6, 7]].concat();
    fs::write(at.join("in.safetensors"), bytes).unwrap();
    for (name, recipe, says) in [
        (
            "whole",
            "pass = ['a']\ndrop = ['b']",
            "b is only in the first: the recipe of the second drops it",
        ),
        (
            "part",
            "pass = ['a']\n[[map]]\nfrom = 'b : (x + y)'\nto = 'b : x'\nsizes = { x = 3 }\ndrop = ['y']",
            "b is in part only in the first: the recipe of the second drops it",
        ),
    ] {
        let (out, toml) = (format!("{name}.safetensors"), format!("{name}.toml"));
        fs::write(at.join(&toml), recipe).unwrap();
        done(at, &["convert", "in.safetensors", &out, "--recipe", &toml, "-q"]);
        let text = done(at, &["verify", &out, "--against", "in.safetensors"]);
        assert!(text.contains("recipe drops \"b\", or parts: not compared"), "{text}");
        assert_eq!(refused(at, &["same-data", "in.safetensors", &out, "-q"], 1).trim(), says);
        let turned = refused(at, &["same-data", &out, "in.safetensors", "-q"], 1);
        assert!(turned.contains("only in the second: the recipe of the first"), "{turned}");
        if name == "whole" {
            // The way back does not restore the tensor: it is missing, and the recipe is the right one.
            done(at, &["convert", &out, "back.safetensors", "--inverse", "-q"]);
            done(at, &["verify", "back.safetensors", "--against", &out]);
            let verify = ["verify", "back.safetensors", "--against", "in.safetensors"];
            let text = refused(at, &verify, 1);
            assert!(text.contains("\"b\" is missing") && !text.contains("made for"), "{text}");
        }
        // The other tensor is the same, and the file is that of a conversion with the same tensors.
        done(at, &["same-data", "in.safetensors", &out, "--tensor", "a", "-q"]);
    }
}

/// Torch's expanded tensors have several elements in one place.
#[test]
fn tensors_that_share_elements_pass_as_rows() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let before = corpus().join("../data/tiny_torch.pt");
    fs::write(at.join("pass.toml"), "pass = [\"*\"]\n").unwrap();
    for out in ["out.safetensors", "out.npz"] {
        done(at, &["convert", text(&before), out, "--recipe", "pass.toml", "--verify", "-q"]);
        done(at, &["info", out]);
        done(at, &["verify", out, "--against", text(&before), "-q"]);
        done(at, &["same-data", text(&before), out, "-q"]);
    }
}

#[test]
fn copies_of_which_one_changed_are_a_difference() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let data: Vec<u8> = (0..24).chain(0..24).collect();
    let tensor = |n: usize| {
        format!(
            r#""w.{n}":{{"dtype":"U16","shape":[3,4],"data_offsets":[{},{}]}}"#,
            24 * n,
            24 * n + 24
        )
    };
    let header = format!("{{{},{}}}", tensor(0), tensor(1));
    let source = |name: &str, data: &[u8]| {
        let len = (header.len() as u64).to_le_bytes();
        fs::write(at.join(name), [&len[..], header.as_bytes(), data].concat()).unwrap();
    };
    source("in.safetensors", &data);
    let recipe = "[[map]]\nfrom = 'w.{c} : v h'\nto = 'W : v h'\ncopies = ['c']";
    fs::write(at.join("r.toml"), recipe).unwrap();
    done(at, &["convert", "in.safetensors", "out.safetensors", "--recipe", "r.toml", "-q"]);
    let verify = ["verify", "out.safetensors", "--against"];
    let all = done(at, &[&verify[..], &["in.safetensors"]].concat());
    assert!(all.contains("same") && !all.contains("same: 24 B"), "{all}");
    let copy = done(at, &[&verify[..], &["in.safetensors", "--tensor", "w.1"]].concat());
    assert!(!copy.contains("same: 0 B"), "{copy}");
    for element in 0..12 {
        let mut other = data.clone();
        other[24 + 2 * element] ^= 1;
        source("other.safetensors", &other);
        for more in [&[][..], &["--tensor", "w.1"]] {
            let found = refused(at, &[&verify[..], &["other.safetensors"], more].concat(), 1);
            assert!(
                found.contains("copies")
                    && found.contains(&format!("[{}, {}]", element / 4, element % 4)),
                "{found}"
            );
        }
    }
}

/// The recipes and the source of the tests below: a matrix that is turned, and turned back under another name.
fn turned(at: &Path) {
    let rule =
        |from: &str, to: &str| format!("[[map]]\nfrom = '{from} : a b'\nto = '{to} : b a'\n");
    fs::write(at.join("a.toml"), rule("w", "v")).unwrap();
    fs::write(at.join("b.toml"), rule("v", "u") + "layout = 'zN[M0=4,C0=4]'\n").unwrap();
    let header = r#"{"__metadata__":{"step":"7","format":"pt"},"w":{"dtype":"U8","shape":[5,6],"data_offsets":[0,30]}}"#;
    let data: Vec<u8> = (0..30).collect();
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::write(at.join("in.safetensors"), bytes).unwrap();
}

/// Rewrites the metadata of a file by replacing a text in its header by another of the same length.
fn restate(path: &Path, from: &str, to: &str) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(from.len()).position(|own| own == from.as_bytes()).unwrap();
    bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn options_of_a_conversion_beside_a_recorded_recipe_are_refused_by_name() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    turned(at);
    done(at, &["convert", "in.safetensors", "out.safetensors", "--recipe", "a.toml", "-q"]);
    let verify = ["verify", "out.safetensors", "--against", "in.safetensors"];
    done(at, &verify);
    for (options, what) in [
        (&["--to", "zN"][..], "a layout of the result"),
        (&["--rule", "v=zN"], "a layout of the result"),
        (&["--from", "zN"], "a layout, dims or an element type of the original"),
        (&["--fill", "one"], "a value of padding"),
        (&["--store", "s32"], "a type of words"),
        (&["--skip-unfit"], "permission to skip tensors"),
    ] {
        let said = refused(at, &[&verify, options].concat(), 2);
        assert!(said.contains(&format!("{what} does not apply; leave out --to, ")), "{said}");
    }
}

#[test]
fn a_second_recipe_names_the_first_which_is_no_longer_recorded() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    turned(at);
    let note = "the recipe that one.safetensors records is not recorded in the result";
    let text = done(at, &["convert", "in.safetensors", "one.safetensors", "--recipe", "a.toml"]);
    assert!(!text.contains("not recorded"), "{text}");
    let text = done(at, &["convert", "one.safetensors", "two.safetensors", "--recipe", "b.toml"]);
    assert!(text.contains(note), "{text}");
    done(at, &["verify", "two.safetensors", "--against", "one.safetensors"]);
    // Undoing it is not a second recipe, and neither is a copy.
    let text = done(at, &["convert", "one.safetensors", "back.safetensors", "--inverse"]);
    assert!(!text.contains("not recorded"), "{text}");
    let text = done(at, &["convert", "one.safetensors", "zn.safetensors", "--to", "zN[M0=4,C0=4]"]);
    assert!(!text.contains("not recorded"), "{text}");
}

#[test]
fn a_result_that_records_no_recipe_is_compared_by_one_that_is_given() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    turned(at);
    for (out, recipe) in [("o.npy", "a.toml"), ("raw:o.bin", "a.toml"), ("o.npz", "a.toml")] {
        let text = done(at, &["convert", "in.safetensors", out, "--recipe", recipe]);
        let is_array = out != "o.npz";
        assert_eq!(text.contains("a later comparison needs the recipe"), is_array, "{text}");
        let verify = ["verify", out, "--against", "in.safetensors", "--recipe", recipe];
        let text = done(at, &verify);
        assert!(text.contains("same: 30 B compared"), "{text}");
        let said = refused(at, &[&verify[..], &["--fill", "one"]].concat(), 2);
        assert!(said.contains("a value of padding does not apply"), "{said}");
        if is_array {
            let path = at.join(out.trim_start_matches("raw:"));
            let mut bytes = fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&path, bytes).unwrap();
            let said = refused(at, &verify, 1);
            assert!(said.contains("tensor \"v\" has 0x1c at [5, 4], expected 0x1d"), "{said}");
        }
    }
    // By the inverse, and with a layout that the recipe states.
    done(at, &["convert", "in.safetensors", "v.safetensors", "--recipe", "a.toml", "-q"]);
    done(at, &["convert", "v.safetensors", "u.npy", "--recipe", "b.toml", "-q"]);
    let verify = ["verify", "u.npy", "--against", "v.safetensors", "--recipe", "b.toml"];
    assert!(done(at, &verify).contains("same: "));
    done(at, &["convert", "v.safetensors", "w.npy", "--recipe", "a.toml", "--inverse", "-q"]);
    let verify = ["verify", "w.npy", "--against", "v.safetensors", "--recipe", "a.toml"];
    assert!(done(at, &[&verify[..], &["--inverse"]].concat()).contains("same: 30 B compared"));
}

#[test]
fn copied_metadata_decide_and_others_are_a_line() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    turned(at);
    let verify = |out: &str, against: &str| tilewright(at, &["verify", out, "--against", against]);
    done(at, &["convert", "in.safetensors", "copy.safetensors", "--to", "col-major", "-q"]);
    done(at, &["convert", "in.safetensors", "made.safetensors", "--recipe", "a.toml", "-q"]);
    for out in ["copy.safetensors", "made.safetensors"] {
        let output = verify(out, "in.safetensors");
        assert!(output.status.success() && !said(&output).contains("differ"), "{}", said(&output));
        // A copied entry that changed, or that is lost.
        restate(&at.join(out), r#""step":"7""#, r#""step":"8""#);
        let text = said(&verify(out, "in.safetensors"));
        assert!(text.contains(r#"differ: metadata "step" is "8", was "7""#), "{text}");
        restate(&at.join(out), r#""step":"8""#, r#""stop":"7""#);
        let output = verify(out, "in.safetensors");
        let line = r#"metadata "stop" is "7", was not there"#;
        assert!(
            output.status.code() == Some(1) && said(&output).contains(line),
            "{}",
            said(&output)
        );
    }
    // Resharding does not keep the record of a recipe.
    done(at, &["convert", "in.safetensors", "one.safetensors", "--recipe", "a.toml", "-q"]);
    done(at, &["reshard", "one.safetensors", "sharded.safetensors", "-q"]);
    let output = verify("sharded.safetensors", "one.safetensors");
    let line = "the recipe that the original records is not recorded";
    assert!(output.status.success() && said(&output).contains(line), "{}", said(&output));
    // Neither are the names of the files in an index, and the key that resharding adds for libraries.
    restate(&at.join("in.safetensors"), r#","format":"pt""#, r#"              "#);
    let shard = ["reshard", "in.safetensors", "set", "--max-shard-size", "7", "-q"];
    done(at, &shard);
    let output = verify("set", "in.safetensors");
    let line = r#"metadata "format" is "pt", was not there"#;
    assert!(output.status.success() && said(&output).contains(line), "{}", said(&output));
}

/// The layout of the original is known only to the caller, as in the README: GPTQ's words of 4-bit elements.
#[test]
fn words_without_a_layout_ask_for_the_layout_of_the_original() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let gptq = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_gptq.safetensors");
    let words = ["--tensor", "*qweight", "--from", "GPTQ", "--dtype", "u4"];
    let to = ["--to", "MARLIN", "--store", "s32", "-q"];
    done(at, &[&["convert", gptq, "marlin.safetensors"], &words[..], &to].concat());
    let verify = ["verify", "marlin.safetensors", "--against", gptq];
    let said = refused(at, &verify, 2);
    assert!(said.contains("the result records elements of u4"), "{said}");
    assert!(said.contains("dtype u4; give its layout with --from"), "{said}");
    assert!(done(at, &[&verify[..], &words].concat()).contains("same: "));
}

/// Two checkpoints of the same tensors in files of the same names, distributed in another way.
#[test]
fn the_file_of_a_tensor_is_no_part_of_its_data() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    for (name, files) in [("x", [&["a"][..], &["b", "c"]]), ("y", [&["a", "b"], &["c"]])] {
        fs::create_dir(at.join(name)).unwrap();
        let mut map = Vec::new();
        for (number, names) in files.iter().enumerate() {
            let file = format!("model-0000{}-of-00002.safetensors", number + 1);
            let entry = |(k, name): (usize, &&str)| {
                format!(r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[{k},{}]}}"#, k + 1)
            };
            let header: Vec<String> = names.iter().enumerate().map(entry).collect();
            let header = format!("{{{}}}", header.join(","));
            let data: Vec<u8> = names.iter().map(|name| name.as_bytes()[0]).collect();
            let bytes =
                [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
            fs::write(at.join(name).join(&file), bytes).unwrap();
            map.extend(names.iter().map(|name| format!(r#""{name}":"{file}""#)));
        }
        let index =
            format!(r#"{{"metadata":{{"total_size":3}},"weight_map":{{{}}}}}"#, map.join(","));
        fs::write(at.join(name).join("model.safetensors.index.json"), index).unwrap();
    }
    let text = done(at, &["verify", "y", "--against", "x"]);
    assert!(text.contains("same: 3 B compared"), "{text}");
    assert!(text.contains("the index names other files for 1 tensor"), "{text}");
}
