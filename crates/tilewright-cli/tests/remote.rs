//! The program on URLs, against a server on this machine: each command that reads a checkpoint, results in a store, faults,
//! secrets, and the end by a signal.
#![cfg(feature = "remote")]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use tilewright_testing::{Objects, Planted, folder};

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");

/// Returns the program with the settings of a server.
fn program(server: &Objects) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.envs(server.variables());
    command
}

fn run(server: &Objects, args: &[&str]) -> Output {
    let output = program(server).args(args).output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(!said.contains("secret"), "{args:?}: {said}");
    output
}

fn answer(server: &Objects, args: &[&str]) -> String {
    let output = run(server, args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(server: &Objects, args: &[&str], code: i32) -> String {
    let output = run(server, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    stderr
}

fn filled() -> Objects {
    let (server, bytes) = (Objects::start(), fs::read(LLM).unwrap());
    server.commit("owner/name", "c0ffee");
    for name in ["bucket/in/model.safetensors", "owner/name/model.safetensors"] {
        server.put(name, &bytes);
    }
    server
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

const ZN: [&str; 2] = ["--rule", "*_proj.weight=zN"];

#[test]
fn commands_read_what_they_read_from_files() {
    let (server, folder) = (filled(), folder());
    let signed = format!("{}/bucket/in/model.safetensors?sig=very-secret", server.url());
    let own = answer(&server, &["info", LLM]);
    let printed = answer(&server, &["fingerprint", LLM]);
    for at in [
        "s3://bucket/in/model.safetensors",
        "hf://owner/name",
        "hf://owner/name/model.safetensors",
        &signed,
    ] {
        server.take();
        let info = answer(&server, &["info", at]);
        let rows = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(&info), rows(&own), "{at}");
        let asked = server.take().len();
        assert!(asked <= if at.starts_with("hf") { 4 } else { 2 }, "{at}: {asked}");
        assert_eq!(answer(&server, &["fingerprint", at]), printed, "{at}");
        assert!(answer(&server, &["same-data", at, LLM]).starts_with("same"), "{at}");
        // A folder becomes a folder.
        let is_folder = at == "hf://owner/name";
        let out = folder.path().join(if is_folder { "out" } else { "out.safetensors" });
        let force: &[&str] = if is_folder { &[] } else { &["--force"] };
        let args = [&["convert", at, text(&out), "--verify"][..], force, &ZN].concat();
        answer(&server, &args);
        let args = [&["verify", text(&out), "--against", at][..], &ZN].concat();
        answer(&server, &args);
        answer(&server, &["verify", text(&out)]);
    }
}

#[test]
fn results_in_a_store_are_those_of_files() {
    let (server, folder) = (filled(), folder());
    let out = folder.path().join("out.safetensors");
    let (store, at) = ("s3://bucket/out/model.safetensors", "hf://owner/name/model.safetensors");
    answer(&server, &[&["convert", LLM, text(&out)][..], &ZN].concat());
    answer(&server, &[&["convert", at, store][..], &ZN].concat());
    assert!(server.get("bucket/out/model.safetensors").unwrap() == fs::read(&out).unwrap());
    answer(&server, &[&["verify", store, "--against", at][..], &ZN].concat());
    answer(&server, &["verify", store]);
    let said = refusal(&server, &[&["convert", at, store][..], &ZN].concat(), 2);
    assert!(said.contains("--force"), "{said}");
    let said = refusal(
        &server,
        &[&["convert", at, "s3://bucket/x.safetensors", "--verify"][..], &ZN].concat(),
        2,
    );
    assert!(said.contains("verify it afterwards"), "{said}");
    // A recipe, there and back.
    let recipe = folder.path().join("r.toml");
    let text_of = "pass = [\"*\"]\n[[rename]]\nfrom = \"model.{a:*}\"\nto = \"net.{a:*}\"\n";
    fs::write(&recipe, text_of).unwrap();
    let local = folder.path().join("local.safetensors");
    let args = ["convert", LLM, text(&local), "--recipe", text(&recipe)];
    if run(&server, &args).status.success() {
        answer(&server, &["convert", at, "s3://bucket/up.safetensors", "--recipe", text(&recipe)]);
        assert!(server.get("bucket/up.safetensors").unwrap() == fs::read(&local).unwrap());
    } else {
        panic!("{}", refusal(&server, &args, 0));
    }
}

#[test]
fn patience_is_an_option_and_its_end_names_object_and_range() {
    let server = filled();
    let at = "s3://bucket/in/model.safetensors";
    server.take();
    server.plant(0, Planted::Status(503));
    answer(&server, &["info", at, "--retries", "1"]);
    server.take();
    server.plant(0, Planted::Status(503));
    let said = refusal(&server, &["info", at, "--retries", "0"], 3);
    assert!(said.contains(at) && said.contains("503"), "{said}");
    server.take();
    (1..50).for_each(|request| server.plant(request, Planted::Short));
    let said = refusal(&server, &["fingerprint", at, "--retries", "1"], 3);
    assert!(said.contains("cannot read bytes"), "{said}");
}

#[test]
fn resharding_and_missing_objects_are_explained() {
    let server = filled();
    let said = refusal(&server, &["reshard", "s3://bucket/in", "out"], 2);
    assert!(said.contains("convert"), "{said}");
    let said = refusal(&server, &["info", "s3://bucket/none.safetensors"], 3);
    assert!(said.contains("no such object"), "{said}");
    let said = refusal(&server, &["info", "http://example.com/a"], 2);
    assert!(said.contains("https://"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_signal_aborts_uploads() {
    let (server, folder) = (filled(), folder());
    // A source that is longer than what the parts in flight hold.
    let path = folder.path().join("long.npy");
    let rows = 30_000;
    let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 1024), }}");
    let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
    bytes.extend(format!("{head:<117}\n").bytes());
    bytes.resize(128 + rows * 4096, 1);
    fs::write(&path, bytes).unwrap();
    let mut command = program(&server);
    let args =
        ["convert", text(&path), "s3://bucket/long.npy", "--to", "col-major", "--memory", "32M"];
    let mut child = command.args(args).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..2000 {
        if server.open_uploads() > 0 {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    // A fast machine finishes first.
    if code != Some(0) {
        assert!(server.get("bucket/long.npy").is_none(), "{code:?}");
        assert_eq!(server.open_uploads(), 0, "{code:?}");
    }
}
