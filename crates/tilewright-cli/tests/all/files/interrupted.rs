//! Runs that end because of a full disk or a signal.

use super::*;

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 512);
    // A limit on the size of files simulates a full disk: writing fails in the middle.
    for script in [
        r#"trap "" XFSZ; ulimit -f 400; exec "$0" convert "$1" "$2" --to col-major"#,
        r#"ulimit -f 400; exec "$0" convert "$1" "$2" --to col-major"#,
    ] {
        let output = limited(script, &[&input, &folder.text("out.safetensors")]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("out.safetensors"), "{stderr}");
        assert_eq!(folder.names(), ["in.safetensors"]);
    }
    let full = Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = program().args(["info", CNN]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

/// Runs the program in a shell that sets limits.
#[cfg(unix)]
fn limited(script: &str, args: &[&str]) -> Output {
    let words = ["-c", script, env!("CARGO_BIN_EXE_tilewright")];
    Command::new("sh").args(words).args(args).output().unwrap()
}

/// A limit on processes does not apply to root, who therefore runs the program as the user nobody.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_start_are_an_error_or_not_needed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 1024);
    let out = folder.text("out.safetensors");
    let open_to_all = fs::Permissions::from_mode(0o777);
    fs::set_permissions(folder.0.path(), open_to_all).unwrap();
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let can = limited(&format!("{nobody} test -x \"$0\" -a -r \"$1\""), &[&input]);
    if !can.status.success() {
        return println!(
            "not tested: no setpriv, no right to use it, or a program others may not run"
        );
    }
    let mut codes = Vec::new();
    for (most, threads) in (1..8).flat_map(|most| ["0", "1", "4"].map(|threads| (most, threads))) {
        let script =
            format!("ulimit -u {most}; exec {nobody} ") + r#""$0" convert "$1" "$2" --threads $3"#;
        let script = script + " --to col-major --memory 64M";
        let output = limited(&script, &[&input, &out, threads]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 3)), "{most} processes, {threads}: {code:?} {stderr}");
        if code == Some(0) {
            fs::remove_file(&out).unwrap();
        }
        assert_eq!(folder.names(), ["in.safetensors"], "{most} processes, {threads}: {stderr}");
        codes.push(code);
    }
    let refused = codes.iter().filter(|code| **code == Some(3)).count();
    println!(
        "{refused} of {} runs had too few threads; none where the system sets no limit",
        codes.len()
    );
    assert!(codes.contains(&Some(0)));
}

#[test]
fn a_killed_run_leaves_no_result_and_the_next_one_cleans_up() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 4096);
    let out = folder.text("out.safetensors");
    let args = ["convert", &input, &out, "--to", "col-major", "--memory", "4K", "--threads", "1"];
    let mut child =
        program().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Kill the program as soon as its temporary file exists.
    while folder.names().len() == 1 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let names = folder.names();
    assert!(!names.contains(&"out.safetensors".to_owned()), "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
    answer(&["convert", CNN, &out, "--to", "row-major"]);
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
}

#[test]
#[cfg(unix)]
fn a_signalled_run_cleans_up_itself() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 4096);
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        // A signal that was ignored when the tests began (`nohup`, a shell's background) stays ignored.
        if is_ignored(code - 128) {
            continue;
        }
        let signalled = |more: &[&str]| signalled((&folder, &input), more, signal);
        let (status, stderr) = signalled(&[]);
        assert_eq!(status.code(), Some(code), "{signal}: {stderr}");
        assert!(stderr.contains(&format!("signal {}", code - 128)), "{stderr}");
        assert_eq!(folder.names(), ["in.safetensors"]);
        let (status, stderr) = signalled(&["--json"]);
        let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!((status.code(), &error["error"]["kind"]), (Some(code), &"cancelled".into()));
        assert_eq!(folder.names(), ["in.safetensors"]);
    }
}

/// Returns whether this process, and so its children, ignores a signal, if the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Starts a long run and sends it this signal when its temporary file exists.
#[cfg(unix)]
fn signalled(
    (folder, input): (&Folder, &str),
    more: &[&str],
    signal: &str,
) -> (std::process::ExitStatus, String) {
    let out = folder.text("out.safetensors");
    let args = ["convert", input, &out, "--to", "col-major", "--memory", "4K", "--threads", "1"];
    let mut command = program();
    command.args(args).args(more).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while folder.names().len() == 1 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

/// A program that is started with a signal ignored ignores it too.
#[test]
#[cfg(target_os = "linux")]
fn an_ignored_signal_stays_ignored() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 1024);
    let script = r#"trap "" HUP INT; "$0" convert "$1" "$2" --to col-major --memory 4K & pid=$!
while [ ! -e "$2" ] && kill -HUP $pid 2>/dev/null && kill -INT $pid; do :; done; wait $pid"#;
    let out = folder.text("out.safetensors");
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tilewright"), &input, &out])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
}
