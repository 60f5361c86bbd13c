//! The permissions of a result, and inputs that change while they are read.

use std::{fs, path::Path, time::Duration};

use tilewright_files::{Conversion, Error, Verdict, Watch, open, verify};

use crate::common::*;

fn input(folder: &tempfile::TempDir, name: &str) -> std::path::PathBuf {
    write(folder, name, npy("|u1", false, "(2, 3)", &[1, 2, 3, 4, 5, 6]))
}

#[cfg(unix)]
mod permissions {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_result_has_the_permissions_of_what_it_replaces_else_of_the_input() {
        let folder = folder();
        let input = input(&folder, "in.npy");
        // The permissions of a new file here, after the umask.
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let allowed = mode(&plain) | 0o111;
        for (of_input, of_old) in
            [(0o600, None), (0o640, None), (0o666, None), (0o600, Some(0o600))].into_iter().chain([
                (0o600, Some(0o666)),
                (0o644, Some(0o600)),
                (0o600, Some(0o604)),
            ])
        {
            let out = folder.path().join("out.npy");
            let _ = fs::remove_file(&out);
            set(&input, of_input);
            if let Some(old) = of_old {
                fs::write(&out, "old").unwrap();
                set(&out, old);
            }
            convert(&input, &out, to("col-major").force(true)).unwrap();
            assert_eq!(mode(&out), of_old.unwrap_or(of_input & allowed), "{of_input:o} {of_old:?}");
        }
        let (secret, picture) = (folder.path().join("secret"), b"<svg/>");
        fs::write(&secret, "").unwrap();
        set(&secret, 0o600);
        tilewright_files::write(&secret, picture, true).unwrap();
        assert_eq!(mode(&secret), 0o600);
    }

    #[test]
    fn a_result_has_the_owner_of_what_it_replaces_where_that_is_allowed() {
        let folder = folder();
        let (input, out) = (input(&folder, "in.npy"), folder.path().join("out.npy"));
        fs::write(&out, "old").unwrap();
        if std::os::unix::fs::chown(&out, Some(12345), Some(23456)).is_err() {
            return println!("only an administrator gives files away: not tested");
        }
        set(&out, 0o640);
        convert(&input, &out, to("col-major").force(true)).unwrap();
        let facts = fs::metadata(&out).unwrap();
        assert_eq!((facts.uid(), facts.gid(), facts.mode() & 0o777), (12345, 23456, 0o640));
    }
}

/// Changes a file while it is read.
struct Meanwhile<F: Fn()>(F);

impl<F: Fn()> Watch for Meanwhile<F> {
    fn total(&self, _bytes: u64) {
        // The time differs from that of the creation, however coarse the clock of the file system is.
        std::thread::sleep(Duration::from_millis(20));
        (self.0)();
    }
}

fn run_meanwhile(path: &Path, out: &Path, change: impl Fn()) -> Result<(), Error> {
    let request = to("row-major").skip_unfit(true);
    let input = open(path, request.reading())?;
    let conversion = Conversion::prepare(&input, out, request)?;
    conversion.run(&Meanwhile(change)).map(|_| ())
}

#[test]
fn an_input_that_changes_while_it_is_read_is_refused() {
    let folder = folder();
    let (path, out) = (input(&folder, "in.npy"), folder.path().join("out.npy"));
    let bytes = fs::read(&path).unwrap();
    let write = |bytes: &[u8]| fs::write(&path, bytes).unwrap();
    let longer = [&bytes[..], &[0]].concat();
    let changes: [&dyn Fn(); 3] = [&|| write(&bytes), &|| write(&longer), &|| {
        // Even if the time is set back.
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        write(&bytes);
        fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
    }];
    for (number, change) in changes.iter().enumerate() {
        write(&bytes);
        if number == 2 && !cfg!(unix) {
            continue;
        }
        let error = run_meanwhile(&path, &out, change).unwrap_err();
        assert!(
            error.is_io() && error.to_string().contains("changed while it was read"),
            "{error}"
        );
        assert_eq!(names(&folder), ["in.npy"]);
    }
    write(&bytes);
    run_meanwhile(&path, &out, || {}).unwrap();
    fs::remove_file(&out).unwrap();
    // A change of permissions or links is not a change of the bytes.
    let only_read = || {
        let mut access = fs::metadata(&path).unwrap().permissions();
        access.set_readonly(true);
        fs::set_permissions(&path, access).unwrap();
    };
    run_meanwhile(&path, &out, only_read).unwrap();
    fs::remove_file(&out).unwrap();
    let linked = || fs::hard_link(&path, folder.path().join("link.npy")).unwrap();
    run_meanwhile(&path, &out, linked).unwrap();
}

#[test]
fn a_file_that_changes_while_it_is_verified_gives_no_verdict() {
    let folder = folder();
    let (path, out) = (input(&folder, "in.npy"), folder.path().join("out.npy"));
    convert(&path, &out, to("col-major")).unwrap();
    for (name, changed) in [(&path, "in.npy"), (&out, "out.npy")] {
        let bytes = fs::read(name).unwrap();
        let change = Meanwhile(|| fs::write(name, &bytes).unwrap());
        let error = verify(&out, &path, &to("col-major"), &change).unwrap_err();
        let said = error.to_string();
        assert!(error.is_io() && said.contains("changed while it was read"), "{said}");
        assert!(said.contains(changed), "{said}");
    }
    let verdict = verify(&out, &path, &to("col-major"), &Meanwhile(|| {})).unwrap();
    assert!(matches!(verdict, Verdict::Same { .. }));
}

#[test]
fn every_file_of_a_checkpoint_must_stay_as_it_is() {
    let [folder, out] = [folder(), folder()];
    write(&folder, "1.safetensors", one("U8", &[4], &[1, 2, 3, 4]));
    let index =
        write(&folder, "m.safetensors.index.json", r#"{"weight_map":{"t":"1.safetensors"}}"#);
    for name in ["1.safetensors", "m.safetensors.index.json"] {
        let path = folder.path().join(name);
        let to = out.path().join("m.safetensors.index.json");
        let again = || fs::write(&path, fs::read(&path).unwrap()).unwrap();
        let error = run_meanwhile(&index, &to, again).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(names(&out).is_empty());
    }
}
