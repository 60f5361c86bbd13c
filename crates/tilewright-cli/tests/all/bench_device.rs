//! `bench --device` on an emulated device. No test asserts a speed.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use serde_json::Value;
use tempfile::TempDir;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn built(emulated: &Path) -> TempDir {
    let to = tilewright_testing::folder();
    let run = Command::new("sh").arg(emulated.join("build.sh")).arg(to.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    to
}

/// Returns the libraries, compiled once in a process.
fn libraries() -> &'static Path {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    BUILT.get_or_init(|| built(&crates().join("tilewright-cuda/emulated"))).path()
}

fn with(libraries: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["bench", "--device"])
        .args(args)
        .env("TILEWRIGHT_LIBCUDA", libraries.join("libcuda.so"))
        .env("TILEWRIGHT_LIBNVRTC", libraries.join("libnvrtc.so"))
        .env("TILEWRIGHT_CUDA_CACHE", libraries.join("cache"))
        .output()
        .unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = with(libraries(), &[args, &["--json"]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(args: &[&str]) -> (Option<i32>, String) {
    let output = with(libraries(), args);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{args:?}");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_json_says_what_was_measured() {
    let answer = json(&["--quick", "--size", "small", "transpose-f32-odd"]);
    assert!(answer["device"]["name"].as_str().unwrap().contains("emulated"));
    assert_eq!((&answer["wrong"], answer["cases"].as_array().unwrap().len()), (&0.into(), 1));
    let case = &answer["cases"][0];
    assert_eq!(case["name"], "transpose-f32-odd/small");
    assert_eq!((&case["bytes"], &case["arrays"]), (&(2 * 4 * 37 * 71).into(), &1.into()));
    assert_eq!((&case["right"], &case["way"]), (&true.into(), &"realigned".into()));
    for number in ["gb_per_s", "copy_gb_per_s", "ratio", "spread", "launch_us", "first_ms", "turns"]
    {
        assert!(case[number].is_number(), "{number}: {case}");
    }
    // The checksum is the one in the definition.
    let list = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["bench", "--list", "--json", "--size", "small", "transpose-f32-odd"])
        .output()
        .unwrap();
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(case["checksum"], list["cases"][0]["checksum"]);
}

#[test]
fn without_times_the_bytes_are_compared_alone() {
    let answer = json(&["--check", "--size", "small", "--offset", "17,3", "row-to-zN-u8", "s4"]);
    let cases = answer["cases"].as_array().unwrap();
    assert!(cases.len() > 4);
    for case in cases {
        assert_eq!((&case["right"], &case["seconds"]), (&true.into(), &Value::Null), "{case}");
        assert_eq!(case["offsets"], serde_json::json!([17, 3]));
    }
}

#[test]
fn cases_of_size_memory_grow_in_their_first_dim_or_in_number() {
    let small = ["--check", "--dtype", "u8", "--from", "row-major", "--to", "col-major"];
    let many = [&small[..], &["--dims", "20,30", "--many", "7"]].concat();
    let answer = json(&many);
    assert_eq!(answer["cases"][0]["bytes"], 7 * 2 * 600);
    assert_eq!(answer["cases"][0]["arrays"], 7);
    let tiles = [&small[..], &["--dims", "300,300", "--supertile", "4"]].concat();
    assert_eq!(json(&tiles)["wrong"], 0);
}

#[test]
fn random_cases_are_right() {
    let answer = json(&["--check", "--random", "6", "--seed", "11", "--max-bytes", "32K"]);
    assert_eq!(answer["cases"].as_array().unwrap().len(), 6);
    assert_eq!(answer["wrong"], 0);
}

#[test]
fn the_table_names_the_device_and_counts_what_is_right() {
    let output = with(libraries(), &["--check", "--size", "small", "transpose-u8-odd"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("emulated device 0"), "{text}");
    assert!(text.ends_with("1 of 1 right\n"), "{text}");
}

#[test]
fn a_kernel_that_writes_wrong_bytes_is_a_no() {
    // This compiler changes the values that accesses store.
    let folder = tilewright_testing::folder();
    let copy = |below: &str, name: &str, change: &dyn Fn(String) -> String| {
        let to = folder.path().join(below);
        fs::create_dir_all(&to).unwrap();
        let text = fs::read_to_string(crates().join(below).join(name)).unwrap();
        fs::write(to.join(name), change(text)).unwrap();
    };
    let same = |text| text;
    for below in [
        "tilewright-cuda/emulated",
        "tilewright-cuda/emulated/driver",
        "tilewright-device/src/dialect",
    ] {
        for entry in fs::read_dir(crates().join(below)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                copy(below, entry.file_name().to_str().unwrap(), &same);
            }
        }
    }
    copy("tilewright-cuda/emulated", "device.h", &|text| {
        let store = "tw_move_bytes(host, from, bytes);";
        assert!(text.contains(store));
        text.replace(store, "tw_move_bytes(host, from, bytes), host[0] ^= 4;")
    });
    let libraries = built(&folder.path().join("tilewright-cuda/emulated"));
    let output =
        with(libraries.path(), &["--quick", "--size", "small", "transpose-f32-odd", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["wrong"], &answer["cases"][0]["right"]), (&1.into(), &false.into()));
    // Wrong results are not timed.
    assert_eq!(answer["cases"][0]["ratio"], Value::Null);
    assert!(answer["cases"][0]["wrong"].as_str().unwrap().contains("byte 0 is"));
}

#[test]
fn without_a_driver_it_says_what_was_looked_for() {
    let nowhere = Path::new("no/such/folder");
    for json in [&[][..], &["--json"]] {
        let output = with(nowhere, &[&["--size", "small"], json].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(
            error.contains("no/such/folder/libcuda.so") && error.contains("TILEWRIGHT_LIBCUDA")
        );
        assert_eq!(error.contains("\"kind\":\"no-driver\""), !json.is_empty(), "{error}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (args, says) in [
        (&["--many", "0"][..], "from 1 to 100000"),
        (&["--supertile", "x"], "from 1 to 64"),
        (&["--bytes", "lots"], "expected a size"),
        (&["--threads", "2"], "cannot be used with"),
        (&["--paired"], "cannot be used with"),
    ] {
        let (code, error) = refused(&[&["--size", "small", "transpose-u8-odd"], args].concat());
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
    }
    let numbered = |device: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
            .args(["bench", device, "--size", "small", "transpose-u8-odd"])
            .env("TILEWRIGHT_LIBCUDA", libraries().join("libcuda.so"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = numbered("--device=7");
    assert!(code == Some(3) && error.contains("there are 2"), "{error}");
    let (code, error) = numbered("--device=-1");
    assert!(code == Some(2) && error.contains("expected a number"), "{error}");
}
