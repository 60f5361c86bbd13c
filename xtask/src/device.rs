//! `cargo xtask device`: collects everything that bench/device.py needs on a machine with a device and without Rust in
//! one folder, and runs it if the device is here.

use std::{fs, path::Path};

use crate::{
    shell::{self, Build, Outcome, command, output, run, target},
    wheel,
};

/// The most bytes of the folder.
const MOST: u64 = 64 << 20;

/// The scripts that are copied to the folder.
const SCRIPTS: [&str; 5] =
    ["device.py", "device_python.py", "device_record.py", "device_run.py", "device_steps.py"];

/// Layout pairs whose kernels are stored in the folder as texts: from, to, dims, dtype, and the name of the file.
const TEXTS: [[&str; 5]; 3] = [
    ["row-major", "col-major", "32768,32768", "bf16", "transpose-bf16"],
    ["row-major", "zN", "16000,8401", "f16", "row-to-zN-16bit-ragged"],
    ["row-major", "{1,3,2,0}", "64,3,224,224", "u8", "nchw-to-nhwc-u8-3"],
];

/// Makes the folder `device` in the build folder.
pub(crate) fn run_all(root: &Path, without_wheel: bool, here: bool) -> Outcome {
    let folder = target(root)?.join("device");
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder.join("kernels"))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    copy(&shell::build(root, Build::Release)?, &folder)?;
    for script in SCRIPTS {
        copy(&root.join("bench").join(script), &folder)?;
    }
    if !without_wheel {
        copy(&wheel::build(root)?, &folder)?;
    }
    for [from, to, dims, dtype, name] in TEXTS {
        let program = folder.join("tilewright");
        let words = [
            &*program.to_string_lossy(),
            "emit",
            from,
            to,
            "--dims",
            dims,
            "--dtype",
            dtype,
            "--to",
            "cuda",
        ];
        let text = output(&mut command(root, &words))?;
        let path = folder.join("kernels").join(format!("{name}.cu"));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let bytes = bytes_of(&folder)?;
    println!("    {}, {} MiB; `python {0}/device.py` runs it", folder.display(), bytes >> 20);
    if bytes > MOST {
        return Err(format!("{bytes} bytes in {}, at most {MOST}", folder.display()));
    }
    if !here {
        return Ok(());
    }
    let (script, record) = (folder.join("device.py"), root.join("bench/record"));
    let words = [&*script.to_string_lossy(), "--out", &*record.to_string_lossy()];
    run(&mut command(root, &[&["python3"][..], &words].concat()))
}

fn copy(from: &Path, folder: &Path) -> Outcome {
    let name = from.file_name().ok_or_else(|| format!("{} names no file", from.display()))?;
    let copied = fs::copy(from, folder.join(name));
    copied.map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

/// Returns the bytes of all files below a folder.
fn bytes_of(folder: &Path) -> Outcome<u64> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = entry.metadata().map_err(failed)?;
        bytes += if metadata.is_dir() { bytes_of(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn bench() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench")
    }

    #[test]
    fn every_script_is_carried_along() {
        let files = fs::read_dir(bench()).unwrap().map(|entry| entry.unwrap().file_name());
        let names = files.map(|name| name.into_string().unwrap());
        let is_script = |name: &String| {
            name.starts_with("device") && name.ends_with(".py") && name != "device_test.py"
        };
        let mut scripts: Vec<String> = names.filter(is_script).collect();
        scripts.sort();
        assert_eq!(scripts, SCRIPTS);
    }

    #[test]
    fn the_scripts_pass_their_tests() {
        let run =
            std::process::Command::new("python3").arg(bench().join("device_test.py")).output();
        let Ok(run) = run else { return println!("no python3") };
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    #[test]
    fn bytes_are_those_of_all_files() {
        let folder = std::env::temp_dir().join(format!("xtask-device-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(folder.join("a"), [0; 3]).unwrap();
        fs::write(folder.join("below/b"), [0; 4]).unwrap();
        let bytes = bytes_of(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(bytes, Ok(7));
        assert!(bytes_of(&folder).is_err());
    }
}
