//! Compiled code in files, for the next process. A launch looks here before it compiles.
//!
//! Laws: a file is complete or not read; nothing is read or written in a folder where another user may write, and only
//! files of code are removed; data that are read were written under the same key; a failure of the disk never fails a
//! launch. A file appears by a rename, so processes that write the same file do not disturb each other.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use crate::key::CodeKey;

/// The first bytes of a file: its type, and the version of its format.
const MAGIC: &[u8; 16] = b"tilewright code1";
/// The most files of the folder; the oldest ones beyond it are removed.
const FILES: usize = 1024;
/// The most bytes of code.
const BYTES: u64 = 64 << 20;

/// The folder of compiled code, or none.
#[derive(Clone, Debug)]
pub(crate) struct Disk(Option<PathBuf>);

impl Disk {
    pub(crate) fn new(folder: Option<&Path>) -> Disk {
        Disk(folder.map(Path::to_owned))
    }

    /// Returns the code under a key; `None` if there is none, or the file is not complete.
    pub(crate) fn read(&self, key: &CodeKey) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        path.parent().filter(|folder| is_private(folder))?;
        let length = fs::metadata(&path).ok()?.len();
        if length > BYTES {
            return None;
        }
        code(&fs::read(path).ok()?, key)
    }

    /// Stores the code under a key, if the disk permits it.
    pub(crate) fn write(&self, key: &CodeKey, code: &[u8]) {
        if let Some(path) = self.path(key) {
            // If it fails, the next process compiles again.
            let _ = self.try_write(&path, key, code);
        }
    }

    fn try_write(&self, path: &Path, key: &CodeKey, code: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(folder) = path.parent() else { return Ok(()) };
        make(folder)?;
        if !is_private(folder) {
            return Ok(());
        }
        self.trim(folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = folder.join(format!("{}.{}.{count}.new", key.name(), process::id()));
        let checksum = CodeKey::of_bytes(code);
        let whole = [&MAGIC[..], key.bytes(), checksum.bytes(), code].concat();
        let written = fs::write(&beside, whole).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            fs::remove_file(&beside)?;
        }
        written
    }

    /// Removes the oldest files of code if there are too many, and no file with another name.
    fn trim(&self, folder: &Path) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)?
            .filter_map(|entry| {
                let entry = entry.ok().filter(|entry| is_own(&entry.file_name()))?;
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((about.modified().ok()?, entry.path()))
            })
            .collect();
        let Some(over) = (files.len() + 1).checked_sub(FILES) else { return Ok(()) };
        files.sort();
        files.iter().take(over).try_for_each(|(_, path)| match fs::remove_file(path) {
            // Another process has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        })
    }

    fn path(&self, key: &CodeKey) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("{}.code", key.name())))
    }
}

/// Returns whether a file has the name of code, or of code that is being written.
fn is_own(name: &OsStr) -> bool {
    let Some((key, kind)) = name.to_str().and_then(|name| name.split_once('.')) else {
        return false;
    };
    let is_key = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key && (kind == "code" || kind.ends_with(".new"))
}

/// Returns the code in a complete file of this key.
fn code(file: &[u8], key: &CodeKey) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(MAGIC)?.strip_prefix(key.bytes())?;
    let (checksum, code) = rest.split_at_checked(key.bytes().len())?;
    (checksum == CodeKey::of_bytes(code).bytes()).then(|| code.to_vec())
}

/// Makes a folder that nobody else can write to, because its contents are executed.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns whether a folder belongs to this user, and nobody else may write there: anyone who could would have their
/// code executed.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|about| about.uid() == own && about.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_names_stay() {
        let (folder, disk) = disk();
        let own = folder.path().join("a").join("b");
        make(&own).unwrap();
        for at in 0..FILES + 9 {
            fs::write(own.join(format!("{at}.jpg")), [1]).unwrap();
        }
        let key = CodeKey::of(&["text"]);
        disk.write(&key, b"code");
        assert_eq!(disk.read(&key).as_deref(), Some(&b"code"[..]));
        assert_eq!(fs::read_dir(&own).unwrap().count(), FILES + 10);
        assert!(
            !is_own(OsStr::new("a.code")) && is_own(OsStr::new(&format!("{}.code", key.name())))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_is_no_cache() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, disk) = disk();
        let own = folder.path().join("a").join("b");
        let key = CodeKey::of(&["text"]);
        disk.write(&key, b"code");
        assert!(disk.read(&key).is_some());
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(disk.read(&key), None);
        let other = CodeKey::of(&["other"]);
        disk.write(&other, b"code");
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
    }

    fn disk() -> (tempfile::TempDir, Disk) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(Some(&folder.path().join("a").join("b")));
        (folder, disk)
    }

    #[test]
    fn what_was_written_is_read() {
        let (_folder, disk) = disk();
        let key = CodeKey::of(&["a"]);
        assert_eq!(disk.read(&key), None);
        disk.write(&key, b"code");
        assert_eq!(disk.read(&key).unwrap(), b"code");
        assert_eq!(disk.read(&CodeKey::of(&["b"])), None);
        disk.write(&key, b"");
        assert_eq!(disk.read(&key).unwrap(), b"");
    }

    #[test]
    fn every_damaged_byte_and_every_shorter_file_is_found() {
        let (_folder, disk) = disk();
        let key = CodeKey::of(&["a"]);
        disk.write(&key, b"some code");
        let path = disk.path(&key).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).unwrap();
            assert_eq!(disk.read(&key), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(disk.read(&key), None, "{at} bytes");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(disk.read(&key), None);
    }

    #[test]
    fn the_file_of_another_key_is_not_read() {
        let (_folder, disk) = disk();
        let (one, other) = (CodeKey::of(&["a"]), CodeKey::of(&["b"]));
        disk.write(&one, b"code");
        fs::rename(disk.path(&one).unwrap(), disk.path(&other).unwrap()).unwrap();
        assert_eq!(disk.read(&other), None);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let disk = Disk::new(Some(&file));
        let key = CodeKey::of(&["a"]);
        disk.write(&key, b"code");
        assert_eq!(disk.read(&key), None);
        Disk::new(None).write(&key, b"code");
        assert_eq!(Disk::new(None).read(&key), None);
    }

    #[test]
    fn the_folder_does_not_grow_without_bound() {
        let (_folder, disk) = disk();
        for at in 0..FILES + 20 {
            disk.write(&CodeKey::of(&[&at.to_string()]), b"code");
        }
        let files = fs::read_dir(disk.0.as_ref().unwrap()).unwrap().count();
        assert_eq!(files, FILES);
        assert!(disk.read(&CodeKey::of(&[&(FILES + 19).to_string()])).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_write_there() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, disk) = disk();
        disk.write(&CodeKey::of(&["a"]), b"code");
        let folder = fs::metadata(disk.0.as_ref().unwrap()).unwrap();
        assert_eq!(folder.permissions().mode() & 0o077, 0);
    }
}
