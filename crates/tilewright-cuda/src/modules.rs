//! Compiled code: loaded into a device, kept in files for the next process, and counted.
//!
//! Code has a key: the text, the architecture, and the compiler with its options. Launches look for their code among
//! the loaded modules, by device, text and length of its tables, then in files, before they compile it. The counts of
//! code that was compiled, read, loaded and launched are for tests, and explain why a first call is slow.
//!
//! Laws of modules: a text with its tables is compiled once however many threads need it; at most the stated number of
//! modules is loaded. No module is unloaded before all are: a launch only queues, and the driver does not promise that
//! unloading waits for queued work.
//!
//! Laws of files: a file is complete or not read; nothing is read or written in a folder where another user may write,
//! and only files of code are removed; data that are read were written under the same key; a failure of the disk never
//! fails a launch. A file appears by a rename, so processes that write the same file do not disturb each other.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use sha2::{Digest, Sha256};

use crate::{Error, raw::Loaded};

/// The name of a module: the device, the key of the text, and whether its tables are long.
pub(crate) type Name = (i32, CodeKey, bool);

/// The modules that are loaded.
#[derive(Debug)]
pub(crate) struct Modules {
    most: usize,
    kept: Mutex<HashMap<Name, Arc<Loaded>>>,
    /// Held by the thread that makes a module.
    making: Mutex<()>,
}

impl Modules {
    /// Makes an empty set of at most `most` modules.
    pub(crate) fn new(most: usize) -> Modules {
        Modules { most, kept: Mutex::default(), making: Mutex::default() }
    }

    /// Returns the module of this name, if it is loaded.
    pub(crate) fn find(&self, name: &Name) -> Option<Arc<Loaded>> {
        lock(&self.kept).get(name).cloned()
    }

    /// Returns the module of this name, and makes it if necessary; `limit` if no more may be loaded.
    pub(crate) fn find_or(
        &self,
        name: &Name,
        make: impl FnOnce() -> Result<Loaded, Error>,
    ) -> Result<Arc<Loaded>, Error> {
        let _making = lock(&self.making);
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        if self.len() >= self.most {
            let says = format!(
                "the code of {} kernels is loaded, which is the limit; raise it with `Settings::with_modules`",
                self.most
            );
            return Err(Error::limit(says));
        }
        let module = Arc::new(make()?);
        lock(&self.kept).insert(*name, module.clone());
        Ok(module)
    }

    /// Returns the number of loaded modules.
    pub(crate) fn len(&self) -> usize {
        lock(&self.kept).len()
    }
}

/// Locks a mutex. Poison is ignored, because no code panics between two related changes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The SHA-256 of everything that determines the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeKey([u8; 32]);

/// The first bytes are enough, because all bytes of a SHA-256 depend on the whole input.
impl Hash for CodeKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.first_chunk::<8>().hash(state);
    }
}

impl CodeKey {
    /// Returns the key of some texts: it hashes the length and the bytes of each, so different lists have different
    /// inputs.
    pub(crate) fn of(texts: &[&str]) -> CodeKey {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        CodeKey(hash.finalize().into())
    }

    /// Returns the checksum of bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> CodeKey {
        CodeKey(Sha256::digest(bytes).into())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the key as the name of a file.
    pub(crate) fn name(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

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

/// Counts of events since the driver was opened.
///
/// ```
/// use tilewright_cuda::Counts;
/// assert_eq!(Counts::default().compiled, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of texts that were compiled.
    pub compiled: u64,
    /// The number of times that code was read from disk instead.
    pub read: u64,
    /// The number of modules that were loaded.
    pub loaded: u64,
    /// The number of launches that were queued, or refused by the driver.
    pub launched: u64,
    /// The number of modules that are loaded now.
    pub kept: u64,
}

/// The counters behind [`Counts`], which many threads update.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) compiled: AtomicU64,
    pub(crate) read: AtomicU64,
    pub(crate) loaded: AtomicU64,
    pub(crate) launched: AtomicU64,
}

impl Counters {
    /// Returns the counts so far, and the number of modules that are loaded.
    pub(crate) fn with(&self, kept: usize) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            compiled: get(&self.compiled),
            read: get(&self.read),
            loaded: get(&self.loaded),
            launched: get(&self.launched),
            kept: kept as u64,
        }
    }
}

/// Increments a counter.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_another_key() {
        let lists: [&[&str]; 6] = [&[], &[""], &["ab"], &["a", "b"], &["", "ab"], &["ab", ""]];
        for (at, one) in lists.iter().enumerate() {
            for (beside, other) in lists.iter().enumerate() {
                assert_eq!(
                    CodeKey::of(one) == CodeKey::of(other),
                    at == beside,
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_name_is_the_hash_in_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(CodeKey::of_bytes(b"").name(), empty);
    }

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
