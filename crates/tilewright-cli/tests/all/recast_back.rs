//! The way back of a recipe: the conditions of the recorded inverse, the comparison with the original, and recipes that are
//! applied in the wrong direction.

use std::fs;

use crate::recast::{corpus, done, refused, text};

/// Makes a folder with the model of a family of the corpus in `in`.
fn model(family: &str) -> tempfile::TempDir {
    let (folder, family) = (tilewright_testing::folder(), corpus().join(family));
    fs::create_dir(folder.path().join("in")).unwrap();
    for (from, to) in [("before.safetensors", "model.safetensors"), ("config.json", "config.json")]
    {
        fs::copy(family.join(from), folder.path().join("in").join(to)).unwrap();
    }
    folder
}

#[test]
fn the_recorded_inverse_keeps_what_the_configuration_decides() {
    let folder = model("mixtral");
    let at = folder.path();
    done(at, &["convert", "in", "out", "--recipe", "mixtral-experts-to-fused", "-q"]);
    let config = fs::read_to_string(at.join("out/config.json")).unwrap();
    let convert = ["convert", "out", "back", "--inverse", "-q"];
    let of = |from: &str, to: &str| {
        assert!(config.contains(from), "{config}");
        fs::write(at.join("out/config.json"), config.replace(from, to)).unwrap();
    };
    // Another model.
    of("\"mixtral\"", "\"qwen3_moe\"");
    let said = refused(at, &convert, 2);
    assert!(
        said.contains("`model_type` is \"qwen3_moe\"") && said.contains("--any-config"),
        "{said}"
    );
    done(at, &[&convert[..], &["--any-config"]].concat());
    fs::remove_dir_all(at.join("back")).unwrap();
    // Another number of experts, and of layers.
    let value = |key: &str| {
        let json: serde_json::Value = serde_json::from_str(&config).unwrap();
        json[key].as_u64().unwrap()
    };
    for key in ["num_local_experts", "num_hidden_layers"] {
        let number = value(key);
        of(&format!("\"{key}\": {number}"), &format!("\"{key}\": {}", number + 1));
        let said = refused(at, &convert, 2);
        assert!(said.contains(key) && said.contains("--allow"), "{said}");
        done(at, &[&convert[..], &["--allow", "config"]].concat());
        fs::remove_dir_all(at.join("back")).unwrap();
    }
    // The configuration of the result, and none.
    fs::write(at.join("out/config.json"), &config).unwrap();
    done(at, &convert);
    fs::remove_dir_all(at.join("back")).unwrap();
    fs::remove_file(at.join("out/config.json")).unwrap();
    done(at, &convert);
}

#[test]
fn what_was_converted_back_is_verified_against_the_original() {
    let folder = model("mixtral");
    let at = folder.path();
    done(at, &["convert", "in", "out", "--recipe", "mixtral-experts-to-fused", "-q"]);
    done(at, &["convert", "out", "back", "--inverse", "-q"]);
    let verify = ["verify", "back", "--against", "in"];
    assert!(done(at, &verify).starts_with("same: "));
    done(at, &["same-data", "back", "in"]);
    // A changed element is found.
    let path = at.join("back/model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let said = refused(at, &verify, 1);
    assert!(said.contains("expected") && !said.contains("recipe"), "{said}");
    // The tensors of the result are others than those of the original: the reason is the recipe.
    done(at, &["convert", "out", "back2", "--inverse", "-q"]);
    let said = refused(
        at,
        &["verify", "back2", "--against", text(&corpus().join("qwen3_moe/before.safetensors"))],
        1,
    );
    assert!(said.contains("was not made for"), "{said}");
}

#[test]
fn a_recipe_in_the_wrong_direction_is_told() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let [before, after] =
        ["before.safetensors", "after.safetensors"].map(|name| corpus().join("mixtral").join(name));
    let recipe = ["--recipe", "mixtral-experts-to-fused"];
    let says = "the other direction of the recipe fits: give --inverse";
    for (input, more) in [(&after, &[][..]), (&before, &["--inverse"])] {
        let convert = ["convert", text(input), "o.safetensors"];
        let said = refused(at, &[&convert[..], &recipe, more].concat(), 2);
        assert!(said.contains(says), "{said}");
        let check = ["recipe", "check", recipe[1], "--on", text(input)];
        let said = refused(at, &[&check[..], more].concat(), 1);
        assert!(said.contains(says), "{said}");
    }
    let other = corpus().join("phi3_split/before.safetensors");
    let said = refused(at, &[&["convert", text(&other), "o.safetensors"][..], &recipe].concat(), 2);
    assert!(!said.contains("--inverse"), "{said}");
    // Metadata that GGUF needs.
    let before = corpus().join("llama_gguf/before.safetensors");
    let gguf = ["convert", text(&before), "o.gguf", "--recipe", "llama-hf-to-gguf"];
    let said = refused(at, &[&gguf[..], &["--size", "n=4", "--size", "g=2"]].concat(), 2);
    assert!(said.contains("--metadata FROM"), "{said}");
}

/// A rule that changes the layout alone is undone byte for byte, in a file and in a stream.
#[test]
fn a_layout_under_the_same_name_is_undone() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let header = r#"{"w":{"dtype":"BF16","shape":[20,24],"data_offsets":[0,960]}}"#;
    let data: Vec<u8> = (0..480u16).flat_map(u16::to_le_bytes).collect();
    let pad = " ".repeat(header.len().next_multiple_of(8) - header.len());
    let len = (header.len() + pad.len()) as u64;
    let whole = [&len.to_le_bytes()[..], header.as_bytes(), pad.as_bytes(), &data].concat();
    fs::write(at.join("a.safetensors"), &whole).unwrap();
    let layouts =
        ["zN", "col-major", "table(1%8; 7,6,5,4,3,2,1,0) row-major", "Sw<1,0,3> o (20,24):(24,1)"];
    for layout in layouts {
        let rule = format!("[[map]]\nfrom = 'w : i j'\nto = 'w : i j'\nlayout = '{layout}'");
        fs::write(at.join("r.toml"), rule).unwrap();
        for out in ["o.safetensors", "o.npz"] {
            let run = ["--verify", "--force", "-q"];
            let recipe = ["convert", "a.safetensors", out, "--recipe", "r.toml"];
            done(at, &[&recipe[..], &run].concat());
            done(at, &[&["convert", out, "b.safetensors", "--inverse"][..], &run].concat());
            let back = fs::read(at.join("b.safetensors")).unwrap();
            assert!(back.ends_with(&data), "{layout} from {out}");
            assert!(!done(at, &["info", "b.safetensors"]).contains(layout), "{layout}");
            done(at, &["convert", out, "b.npy", "--inverse", "--force", "-q"]);
            assert!(fs::read(at.join("b.npy")).unwrap().ends_with(&data), "{layout} from {out}");
        }
    }
}

/// The recorded inverse accepts the result of its own recipe, whose `config.json` no longer meets the conditions of the source.
#[test]
fn the_recorded_inverse_accepts_a_changed_configuration() {
    let folder = model("mixtral");
    let at = folder.path();
    let config = at.join("in/config.json");
    fs::write(&config, r#"{"model_type": "x", "heads": 5, "text": {"layers": 1}, "kept": 5}"#)
        .unwrap();
    let recipe = "for = { model_type = 'x' }\nrequire = ['config.heads == c', 'config.kept == c']\n\
        pass = ['*']\n[sizes]\nc = 'config.heads'\nl = 'config.text.layers'\n\
        [config]\nset = '{\"heads\": 7, \"model_type\": \"y\", \"text.layers\": 2, \"new.key\": 1}'\n\
        remove = ['absent.key']\n";
    fs::write(at.join("r.toml"), recipe).unwrap();
    done(at, &["convert", "in", "out", "--recipe", "r.toml", "-q"]);
    let convert = ["convert", "out", "back", "--inverse", "--force", "-q"];
    done(at, &convert);
    let json = |path: &std::path::Path| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let back = json(&at.join("back/config.json"));
    for key in ["model_type", "heads", "text", "kept"] {
        assert_eq!(back[key], json(&config)[key], "{key}");
    }
    let changed = at.join("out/config.json");
    // The inverse is for the model that the recipe made, and for no other.
    let made = fs::read_to_string(&changed).unwrap();
    fs::write(&changed, made.replace("\"y\"", "\"z\"")).unwrap();
    assert!(
        refused(at, &convert, 2).contains("`model_type` is \"z\", but the recipe is for \"y\"")
    );
    fs::write(&changed, made).unwrap();
    // A condition on a key that stays is kept, once.
    let text = fs::read_to_string(&changed).unwrap().replace("\"kept\": 5", "\"kept\": 6");
    fs::write(&changed, text).unwrap();
    let said = refused(at, &convert, 2);
    assert_eq!(said.matches("config.kept = 6").count(), 1, "{said}");
}
