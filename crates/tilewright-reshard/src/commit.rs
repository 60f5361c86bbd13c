//! The folder in which a result grows, and the one rename that makes it visible.
//!
//! ```text
//! OUT.partial-ID/data      every output file at its full length; its header is written last
//! OUT.partial-ID/journal   what is promised
//! finish                   all tasks promised, sources unchanged: headers, sync, remove journal, rename data to OUT, sync
//! ```

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::{Error, Job, bytes::write_at, journal};

impl Job {
    /// The folder in which the result grows.
    pub(crate) fn partial(&self) -> PathBuf {
        let mut name = self.request.output.file_name().unwrap_or_default().to_owned();
        name.push(format!(".partial-{}", self.id));
        self.request.output.with_file_name(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.partial().join("data")
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.partial().join("journal")
    }

    /// Makes every output file at its length. Any process may do so at any time.
    pub(crate) fn lay_out(&self) -> Result<(), Error> {
        self.check_absent()?;
        for folder in [self.data(), self.journals()] {
            fs::create_dir_all(&folder).map_err(|cause| Error::io(&folder, "create", &cause))?;
        }
        let data = self.data();
        let mode = self.source.files.first().and_then(|file| mode(&file.path));
        let mut is_new = false;
        for file in &self.output.files {
            let path = data.join(&file.name);
            let mut made = || -> io::Result<()> {
                let new = OpenOptions::new().write(true).create_new(true).open(&path);
                is_new |= new.is_ok();
                let opened = match new {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        OpenOptions::new().write(true).open(&path)?
                    }
                    other => restricted(other?, mode)?,
                };
                if opened.metadata()?.len() != file.bytes {
                    opened.set_len(file.bytes)?;
                }
                Ok(())
            };
            made().map_err(|cause| Error::io(&path, "write", &cause))?;
        }
        // What a journal promises lies in files that were there before it.
        if is_new && !journal::done(&self.journals())?.is_empty() {
            let partial = self.partial().display().to_string();
            let said = "files are missing whose data its journal promises; remove the folder";
            return Err(Error::new("corrupt", format!("{partial}: {said}, and run again")));
        }
        let parent = self.request.output.parent().filter(|path| !path.as_os_str().is_empty());
        [&*data, &*self.partial(), parent.unwrap_or(Path::new("."))]
            .iter()
            .try_for_each(|folder| sync_folder(folder))
    }

    fn check_absent(&self) -> Result<(), Error> {
        let path = &self.request.output;
        match fs::symlink_metadata(path) {
            Ok(_) => Err(Error::new("exists", format!("{} exists already", path.display()))),
            Err(_) => Ok(()),
        }
    }

    /// The tasks that no journal promises, in order.
    ///
    /// # Errors
    /// `io`, and `changed` where one task gave two results.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// job.run(0..5, "first", &()).unwrap();
    /// assert_eq!(job.missing().unwrap(), [5, 6, 7]);
    /// ```
    pub fn missing(&self) -> Result<Vec<u64>, Error> {
        let done = journal::done(&self.journals())?;
        Ok((0..self.tasks()).filter(|task| !done.contains_key(task)).collect())
    }

    /// Makes the result visible, where all tasks are done.
    ///
    /// # Errors
    /// `incomplete` with what is missing, `changed` for a source that is not as it was, `exists`, `io`.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// job.run(0..7, "first", &()).unwrap();
    /// let error = job.finish().unwrap_err();
    /// assert!(error.to_string().starts_with("1 of 8 tasks is missing; the first is task 7, "), "{error}");
    /// job.run(7..8, "second", &()).unwrap();
    /// job.finish().unwrap();
    /// assert!(folder.path().join("out/model.safetensors").exists());
    /// ```
    pub fn finish(&self) -> Result<(), Error> {
        self.check_absent()?;
        self.check_complete()?;
        self.check_sources()?;
        self.lay_out()?;
        let (data, output) = (self.data(), &self.request.output);
        self.output.heads(&mut |file, head| {
            let path = data.join(&file.name);
            let opened = OpenOptions::new().write(true).open(&path);
            let written = opened.and_then(|opened| write_at(&opened, head, 0));
            written.map_err(|cause| Error::io(&path, "write", &cause))
        })?;
        if let Some((name, text)) = &self.output.index {
            let path = data.join(name);
            fs::write(&path, text).map_err(|cause| Error::io(&path, "write", &cause))?;
        }
        self.files().try_for_each(|name| sync(&data.join(name)))?;
        sync_folder(&data)?;
        // A journal beside no data would promise them to a later run.
        let journals = self.journals();
        fs::remove_dir_all(&journals)
            .and_then(|()| File::open(self.partial())?.sync_all())
            .map_err(|cause| Error::io(&journals, "remove", &cause))?;
        fs::rename(&data, output).map_err(|cause| Error::io(output, "rename to", &cause))?;
        let parent = output.parent().filter(|path| !path.as_os_str().is_empty());
        sync_folder(parent.unwrap_or(Path::new(".")))?;
        // The result is there, and the folder is empty.
        let _ = fs::remove_dir_all(self.partial());
        Ok(())
    }

    /// An error if a source is not as it was when the job was made.
    pub(crate) fn check_sources(&self) -> Result<(), Error> {
        self.source.files.iter().try_for_each(|file| file.check())
    }

    fn check_complete(&self) -> Result<(), Error> {
        let missing = self.missing()?;
        let Some(first) = missing.first() else { return Ok(()) };
        let task = self.task(*first).map_or_else(String::new, |task| {
            format!(", tensor {:?} from {:?} on {:?}", task.tensor, task.start, task.extents)
        });
        let (count, all) = (missing.len(), self.tasks());
        let verb = if count == 1 { "is" } else { "are" };
        let said =
            format!("{count} of {all} tasks {verb} missing; the first is task {first}{task}");
        Err(Error::new("incomplete", said))
    }
}

/// Who may read and write a file, as far as the system says it so.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::metadata(path).ok()?.permissions().mode())
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

/// A new file that nobody may read who may not read its source.
#[cfg(unix)]
fn restricted(file: File, mode: Option<u32>) -> io::Result<File> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(mode) = mode {
        let own = file.metadata()?.permissions().mode();
        file.set_permissions(fs::Permissions::from_mode(own & mode & 0o777 | 0o200))?;
    }
    Ok(file)
}

#[cfg(not(unix))]
fn restricted(file: File, _: Option<u32>) -> io::Result<File> {
    Ok(file)
}

fn sync(path: &Path) -> Result<(), Error> {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| file.sync_all()).map_err(|cause| Error::io(path, "sync", &cause))
}

/// Brings the names of a folder to the disk, where the system can.
fn sync_folder(path: &Path) -> Result<(), Error> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let file = File::open(path);
    file.and_then(|file| file.sync_all()).map_err(|cause| Error::io(path, "sync", &cause))
}
