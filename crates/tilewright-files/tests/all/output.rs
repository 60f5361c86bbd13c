//! Tests that OUT is whole or absent, and IN is never changed.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use tempfile::TempDir;
use tilewright_files::{Conversion, Error, Reading, Request, Verdict, Watch, open, verify};

use crate::common::*;

fn source(folder: &TempDir) -> (PathBuf, Vec<u8>) {
    let data = noise(64 * 64 * 4);
    (write(folder, "in.safetensors", one("F32", &[64, 64], &data)), data)
}

#[test]
fn the_input_is_not_the_output_by_any_name() {
    let folder = folder();
    let (path, _) = source(&folder);
    let before = fs::read(&path).unwrap();
    let refuse = |out: &Path| {
        let error = convert(&path, out, to("col-major").force(true)).unwrap_err();
        assert!(error.is_usage() && error.kind() == "same-file", "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    };
    refuse(&path);
    refuse(&folder.path().join(".").join("in.safetensors"));
    let hard = folder.path().join("hard.safetensors");
    fs::hard_link(&path, &hard).unwrap();
    refuse(&hard);
    #[cfg(unix)]
    {
        let soft = folder.path().join("soft.safetensors");
        std::os::unix::fs::symlink(&path, &soft).unwrap();
        refuse(&soft);
    }
}

#[test]
fn an_existing_output_needs_force() {
    let folder = folder();
    let (path, _) = source(&folder);
    let out = write(&folder, "out.safetensors", "precious");
    let error = convert(&path, &out, to("col-major")).unwrap_err();
    assert_eq!((error.is_usage(), error.kind()), (true, "exists"));
    assert_eq!(error.remedies(), [tilewright_core::Remedy::Overwrite]);
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    convert(&path, &out, to("col-major").force(true)).unwrap();
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);
    assert!(open(&out, &Reading::default()).is_ok());
    fs::create_dir(folder.path().join("dir.safetensors")).unwrap();
    let error = convert(&path, folder.path().join("dir.safetensors"), to("col-major").force(true))
        .unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("directory"));
}

#[test]
fn an_output_made_meanwhile_is_not_replaced() {
    let folder = folder();
    let (path, _) = source(&folder);
    let out = folder.path().join("out.safetensors");
    let input = open(&path, &Reading::default()).unwrap();
    let conversion = Conversion::prepare(&input, &out, to("col-major")).unwrap();
    fs::write(&out, "precious").unwrap();
    assert_eq!(conversion.run(&()).unwrap_err().kind(), "exists");
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert_eq!(names(&folder).len(), 2);
}

#[test]
fn folders_that_cannot_be_written_are_named() {
    let folder = folder();
    let (path, _) = source(&folder);
    let missing = folder.path().join("no/such/out.safetensors");
    let error = convert(&path, &missing, to("col-major")).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("no/such"), "{error}");
    let inside_a_file = path.join("out.safetensors");
    assert!(convert(&path, inside_a_file, to("col-major")).unwrap_err().is_io());
    assert_eq!(names(&folder), ["in.safetensors"]);
}

/// A folder in which no user can create files.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_folder_is_an_error() {
    let folder = folder();
    let (path, _) = source(&folder);
    let error = convert(&path, "/proc/self/out.safetensors", to("col-major")).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("/proc/self/out.safetensors"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_neither_read_nor_replaced() {
    let folder = folder();
    let (path, _) = source(&folder);
    let error = open("raw:/dev/zero", &Reading::default()).unwrap_err();
    assert_eq!(error.kind(), "unsupported");
    let error = convert(&path, "/dev/null", to("col-major").force(true)).unwrap_err();
    assert!(error.is_usage() && fs::metadata("/dev/null").is_ok(), "{error}");
}

/// No call waits for the other end of a FIFO, and only files are replaced.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_told_at_once() {
    let folder = folder();
    let (path, _) = source(&folder);
    let inside = |name: &str| folder.path().join(name);
    let fifo = inside("fifo.safetensors");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let socket = inside("socket.npy");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(&fifo, inside("link.npy")).unwrap();
    fs::create_dir(inside("dir.npy")).unwrap();
    for (name, part) in [
        ("fifo.safetensors", "it is a FIFO"),
        ("link.npy", "it is a FIFO"),
        ("socket.npy", "it is a socket"),
        ("dir.npy", "is a directory"),
    ] {
        for text in [inside(name).display().to_string(), format!("raw:{}", inside(name).display())]
        {
            // A request for a folder is one for the checkpoint in it.
            let is_told = |error: &Error| error.is_io() || name == "dir.npy";
            let error = open(&text, &Reading::default()).unwrap_err();
            assert!(is_told(&error) && error.to_string().contains(part), "{text}: {error}");
            let error = verify(&path, &text, &Request::new(), &()).unwrap_err();
            assert!(is_told(&error) && error.to_string().contains(part), "{text}: {error}");
            let error = verify(&text, &path, &Request::new(), &()).unwrap_err();
            assert!(is_told(&error) && error.to_string().contains(part), "{text}: {error}");
        }
    }
    for (name, part) in [
        ("fifo.safetensors", "is a FIFO"),
        ("socket.npy", "is a socket"),
        ("dir.npy", "is a directory"),
    ] {
        for force in [false, true] {
            let out = inside(name).with_extension("safetensors");
            if !out.exists() {
                fs::rename(inside(name), &out).unwrap();
            }
            let error = convert(&path, &out, to("col-major").force(force)).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(part), "{name}: {error}");
        }
    }
    // A link to one of these is refused too; a link to a file or to nothing is replaced.
    let link = inside("link.safetensors");
    fs::rename(inside("link.npy"), &link).unwrap();
    for force in [false, true] {
        let error = convert(&path, &link, to("col-major").force(force)).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("is a FIFO"), "{error}");
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fifo.exists());
    fs::remove_file(&fifo).unwrap();
    assert_eq!(convert(&path, &link, to("col-major")).unwrap_err().kind(), "exists");
    let input = open(&path, &Reading::default()).unwrap();
    let request = to("col-major").force(true);
    let conversion = Conversion::prepare(&input, &link, request).unwrap();
    assert!(conversion.warnings().any(|said| said.contains("the result replaces the link")));
    conversion.run(&()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_file() && !fifo.exists());
}

#[test]
fn outputs_without_a_name_are_told_so() {
    let folder = folder();
    let (path, _) = source(&folder);
    let slash = format!("{}/out.safetensors/", folder.path().display());
    for (out, part) in [
        ("", "the path of the output is empty"),
        ("raw:", "the path of the output is empty"),
        (&slash, "ends with a slash"),
        (".", "is a directory"),
    ] {
        let error = convert(&path, out, to("col-major").force(true)).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(part), "{out}: {error}");
    }
    let error = open("", &Reading::default()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("the path of the input is empty"));
    assert_eq!(names(&folder), ["in.safetensors"]);
}

#[test]
fn the_longest_name_can_be_written() {
    let folder = folder();
    let (path, _) = source(&folder);
    let out = folder.path().join(format!("{}.safetensors", "x".repeat(255 - 12)));
    convert(&path, &out, to("col-major").verify(true)).unwrap();
    assert!(out.exists() && names(&folder).len() == 2);
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let folder = folder();
    let (path, _) = source(&folder);
    let out = folder.path().join("out.safetensors");
    write(&folder, ".out.safetensors.tilewright-4242-0.tmp", "half");
    write(&folder, ".other.safetensors.tilewright-4242-0.tmp", "half");
    let live = write(&folder, ".out.safetensors.tilewright-4243-0.tmp", "live");
    let lock = fs::File::open(&live).unwrap();
    lock.lock().unwrap();
    convert(&path, &out, to("col-major")).unwrap();
    let left = [
        ".other.safetensors.tilewright-4242-0.tmp",
        ".out.safetensors.tilewright-4243-0.tmp",
        "in.safetensors",
        "out.safetensors",
    ];
    assert_eq!(names(&folder), left);
}

/// Cancels after `after` bytes.
struct Stop {
    after: u64,
    done: Cell<u64>,
}

impl Watch for Stop {
    fn advance(&self, bytes: u64) {
        self.done.set(self.done.get() + bytes);
    }

    fn cancelled(&self) -> bool {
        self.done.get() >= self.after
    }
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let folder = folder();
    let (path, _) = source(&folder);
    let out = folder.path().join("out.safetensors");
    let input = open(&path, &Reading::default()).unwrap();
    let request = to("col-major").memory(4096).verify(true);
    let conversion = Conversion::prepare(&input, &out, request).unwrap();
    for after in [0, 1, 5000, 16_000, 20_000, 30_000] {
        let error: Error = conversion.run(&Stop { after, done: Cell::new(0) }).unwrap_err();
        assert!(error.is_cancelled() && !error.is_io() && !error.is_usage());
        assert_eq!(names(&folder), ["in.safetensors"]);
    }
    conversion.run(&Stop { after: u64::MAX, done: Cell::new(0) }).unwrap();
}

#[derive(Default)]
struct Count {
    total: AtomicU64,
    done: AtomicU64,
}

impl Watch for Count {
    fn total(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[test]
fn progress_ends_at_its_total() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let input = open(corpus(LLM), &Reading::default()).unwrap();
    for verify in [false, true] {
        let request = to("zN").skip_unfit(true).force(true).verify(verify);
        let count = Count::default();
        Conversion::prepare(&input, &out, request).unwrap().run(&count).unwrap();
        let (total, done) = (count.total.into_inner(), count.done.into_inner());
        assert!(total > 2_000_000 && total == done, "{done} of {total}");
    }
}

#[test]
fn tensors_are_sorted_only_where_alignment_asks_for_it() {
    let folder = folder();
    let header = r#"{"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[3,11]}}"#;
    let path =
        write(&folder, "in.safetensors", safetensors(header, &[9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8]));
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, to("row-major")).unwrap();
    let (header, data) = parts(&out);
    assert_eq!(header.as_object().unwrap().keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(data, [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9]);
    let again = folder.path().join("again.safetensors");
    convert(&out, &again, to("row-major")).unwrap();
    assert_eq!(fs::read(out).unwrap(), fs::read(again).unwrap());
}

/// Runs to the same name at the same time: the file that has the name at the end has its own note.
#[test]
fn runs_at_the_same_time_leave_the_note_of_the_last() {
    let folder = folder();
    let original = write(&folder, "in.npy", npy("<u2", false, "(4, 6)", &noise(48)));
    let out = folder.path().join("out.npy");
    let specs = ["{1,0:T(2,2)}", "{0,1:T(2)}", "{1,0:T(4,2)}", "col-major"];
    for round in 0..40 {
        let force = round % 2 == 0;
        if !force {
            for path in ["out.npy", "out.npy.tilewright.json"] {
                let _ = fs::remove_file(folder.path().join(path));
            }
        }
        let run = |spec: &str| convert(&original, &out, to(spec).force(force)).map(drop);
        let results: Vec<Result<(), Error>> = std::thread::scope(|scope| {
            let all = specs.map(|spec| scope.spawn(move || run(spec)));
            all.map(|thread| thread.join().unwrap()).into()
        });
        let done = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(done, if force { specs.len() } else { 1 }, "{results:?}");
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(error.kind(), "exists", "{error}");
        }
        let input = open(&out, &Reading::default()).unwrap();
        assert_eq!(input.warnings().collect::<Vec<_>>(), [""; 0]);
        let spec = input.tensors()[0].layout().to_spec();
        let spec = specs.iter().find(|known| spec.ends_with(*known)).expect("one of those asked");
        let verdict = verify(&out, &original, &to(spec), &()).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
        let mut expected = vec!["in.npy", "out.npy"];
        expected.extend((*spec != "col-major").then_some("out.npy.tilewright.json"));
        assert_eq!(names(&folder), expected);
    }
}

#[test]
fn the_longest_names_have_notes() {
    let folder = folder();
    let original = write(&folder, "in.npy", npy("<u2", false, "(4, 6)", &noise(48)));
    for len in [239, 240, 255] {
        let name = format!("{}.npy", "x".repeat(len - 4));
        let out = folder.path().join(&name);
        convert(&original, &out, to("{1,0:T(2,2)}").verify(true)).unwrap();
        let input = open(&out, &Reading::default()).unwrap();
        assert!(input.tensors()[0].layout().to_spec().ends_with("{1,0:T(2,2)}"), "{len}");
        assert_eq!(names(&folder).contains(&format!("{name}.tilewright.json")), len < 240);
        assert_eq!(names(&folder).len(), 3);
        convert(&original, &out, to("col-major").force(true)).unwrap();
        assert_eq!(names(&folder).len(), 2);
        fs::remove_file(out).unwrap();
    }
}
