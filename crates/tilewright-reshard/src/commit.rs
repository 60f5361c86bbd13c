//! The folder in which a result grows, and the one rename that makes it visible.
//!
//! ```text
//! OUT.partial-ID/data      every output file at its full length, with its header
//! OUT.partial-ID/journal   what is promised
//! finish                   all tasks promised, sources unchanged: heads again, sync, rename data to OUT, sync, clean up
//! ```

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::{Error, Job, journal, moves::write_at};

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

    /// Makes every output file at its length with its header. Any process may do so at any time.
    pub(crate) fn lay_out(&self) -> Result<(), Error> {
        self.check_absent()?;
        for folder in [self.data(), self.journals()] {
            fs::create_dir_all(&folder).map_err(|cause| Error::io(&folder, "create", &cause))?;
        }
        let data = self.data();
        self.output.files.iter().try_for_each(|file| {
            let path = data.join(&file.name);
            let made = || -> io::Result<()> {
                let options =
                    OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
                if options.metadata()?.len() != file.bytes {
                    options.set_len(file.bytes)?;
                }
                write_at(&options, &file.head, 0)
            };
            made().map_err(|cause| Error::io(&path, "write", &cause))
        })
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
        if let Some((name, text)) = &self.output.index {
            let path = data.join(name);
            fs::write(&path, text).map_err(|cause| Error::io(&path, "write", &cause))?;
        }
        self.files().try_for_each(|name| sync(&data.join(name)))?;
        sync_folder(&data)?;
        fs::rename(&data, output).map_err(|cause| Error::io(output, "rename to", &cause))?;
        sync_folder(output.parent().unwrap_or(Path::new(".")))?;
        // The result is there: what is left of the journal harms nobody.
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
