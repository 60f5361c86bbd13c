//! GGUF and `.npz` files in the program: shown, converted, verified, through pipes.

use super::*;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/");

fn data(name: &str) -> String {
    format!("{DATA}{name}")
}

#[test]
fn info_shows_the_dims_in_logical_order_and_those_of_the_file() {
    let gguf = data("tiny_quantised.gguf");
    let text = answer(&["info", &gguf]);
    let line = text.lines().find(|line| line.contains("ffn_up")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words.join(" "), "blk.0.ffn_up.weight q4_0 [24, 64] (file: [64, 24]) 864 row-major");
    let value: serde_json::Value =
        serde_json::from_str(&answer(&["info", &gguf, "--json"])).unwrap();
    let up = &value["tensors"][2];
    assert_eq!(value["format"], "GGUF");
    assert_eq!(
        (&up["dims"], &up["file_dims"]),
        (&serde_json::json!([24, 64]), &serde_json::json!([64, 24]))
    );
    assert_eq!((&up["dtype"], &up["file_dtype"]), (&"q4_0".into(), &"Q4_0".into()));
    assert_eq!(value["metadata"]["test.bools"], "[true, true, true]");
    let text = answer(&["info", &data("tiny_split-00002-of-00003.gguf")]);
    assert!(text.contains("3 tensors"), "{text}");
    let text = answer(&["info", &data("tiny_deflated.npz")]);
    assert!(text.contains("weight     f32   [20, 33]") && text.contains("7 tensors"), "{text}");
}

#[test]
fn quantised_tensors_move_by_whole_blocks() {
    let folder = Folder::new();
    let (gguf, out, back) =
        (data("tiny_quantised.gguf"), folder.text("out.gguf"), folder.text("back.gguf"));
    let rule = "*ffn_up*=(m m0:4) (n n0:32) -> n m m0 n0";
    let text = answer(&["convert", &gguf, &out, "--rule", rule, "--verify"]);
    assert!(text.starts_with("1 of 9 tensors converted"), "{text}");
    assert!(answer(&["verify", &out, "--against", &gguf]).starts_with("same"));
    answer(&["convert", &out, &back, "--to", "row-major"]);
    assert_eq!(fs::read(&back).unwrap(), fs::read(&gguf).unwrap());
    let parts = ["ffn_up", "blocks of 32 elements", "(m) (n n0:32) -> n m n0", "--skip-unfit"];
    refusal(
        &["convert", &gguf, &folder.text("no.gguf"), "--to", "col-major", "--tensor", "*ffn_up*"],
        2,
        &parts,
    );
    refusal(
        &["convert", &gguf, &folder.text("no.npy"), "--to", "row-major"],
        2,
        &[".npy holds one tensor, but 9 are selected", "choose one with --tensor NAME"],
    );
    assert_eq!(folder.names(), ["back.gguf", "out.gguf"]);
}

#[test]
fn containers_go_through_pipes() {
    for name in ["tiny_quantised.gguf", "tiny_stored.npz"] {
        let bytes = fs::read(data(name)).unwrap();
        let mut command = program();
        command.args(["convert", "-", "-", "--to", "col-major", "--skip-unfit", "-q"]);
        command.stdin(fs::File::open(data(name)).unwrap());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout[..4], bytes[..4]);
        let folder = Folder::new();
        // The format is found by the first bytes, and by the prefix.
        let plain = folder.write("out", &output.stdout);
        assert!(answer(&["verify", &plain, "--against", &data(name)]).starts_with("same"));
        let kind = name.rsplit('.').next().unwrap();
        assert!(answer(&["info", &format!("{kind}:{plain}")]).contains("col-major"));
    }
    let mut command = program();
    command
        .args(["info", "-"])
        .stdin(fs::File::open(data("tiny_split-00001-of-00003.gguf")).unwrap());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("part 1 of 3"), "{stderr}");
}

#[test]
fn broken_containers_are_exit_code_3() {
    let folder = Folder::new();
    let broken = folder.write("broken.gguf", b"GGUF\x03\0\0\0");
    refusal(&["info", &broken], 3, &["broken.gguf", "the count of tensors"]);
    let broken = folder.write("broken.npz", b"PK\x03\x04");
    refusal(&["info", &broken], 3, &["broken.npz", "no end-of-archive record"]);
}
