//! A plan: a job as a file, for processes that share a file system.
//!
//! It holds the request and what the sources are known by, and no pieces: these follow from the headers, which each process
//! reads again. So its length does not grow with the tensors.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::{Error, Job, Request, identity::Identity};

/// What stands in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    version: u32,
    id: String,
    tasks: u64,
    request: Request,
    sources: Vec<Identity>,
}

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

impl Plan {
    /// The plan that bytes are, which messages call `name`.
    fn read(bytes: &[u8], name: &str) -> Result<Plan, Error> {
        let wrong = |said: String| Error::new("corrupt", format!("{name} is no plan: {said}"));
        let plan: Plan = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        match plan.version {
            VERSION => Ok(plan),
            version => Err(wrong(format!("it has version {version}; {VERSION} is read"))),
        }
    }
}

impl Job {
    /// Writes the plan to a new file.
    ///
    /// # Errors
    /// `exists`, `io`.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let (out, plan) = (folder.path().join("out"), folder.path().join("plan"));
    /// let job = Job::prepare(Request::new(path, out)).unwrap();
    /// job.write_plan(&plan).unwrap();
    /// assert_eq!(Job::of_plan(&plan).unwrap().id(), job.id());
    /// ```
    pub fn write_plan(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.plan().map_err(|error| error.about(&path.display().to_string()))?;
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let written = file.and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()
        });
        written.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::new("exists", format!("{} exists already", path.display()))
            }
            _ => Error::io(path, "write", &cause),
        })
    }

    /// The plan as the bytes of its file, for processes that get it by a message.
    ///
    /// # Errors
    /// `usage` for a path that is no text.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!(Job::of_bytes(&job.plan().unwrap()).unwrap().id(), job.id());
    /// ```
    pub fn plan(&self) -> Result<Vec<u8>, Error> {
        let plan = Plan {
            version: VERSION,
            id: self.id.clone(),
            tasks: self.tasks(),
            request: self.request.clone(),
            sources: self.source.files.clone(),
        };
        let text = serde_json::to_string_pretty(&plan);
        let text = text.map_err(|error| Error::usage(format!("a plan: {error}")))?;
        Ok((text + "\n").into_bytes())
    }

    /// The job of a plan.
    ///
    /// # Errors
    /// As [`Job::prepare`]; `corrupt` for a file that is no plan; `changed` with the source that is not as it was.
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let folder = tempfile::tempdir().unwrap();
    /// let plan = folder.path().join("plan");
    /// std::fs::write(&plan, "{}").unwrap();
    /// assert_eq!(Job::of_plan(&plan).unwrap_err().kind(), "corrupt");
    /// ```
    pub fn of_plan(path: &Path) -> Result<Job, Error> {
        let bytes = fs::read(path).map_err(|cause| Error::io(path, "read", &cause))?;
        Job::of(Plan::read(&bytes, &path.display().to_string())?)
    }

    /// The job of a plan's [bytes](Job::plan).
    ///
    /// # Errors
    /// As [`Job::of_plan`].
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let error = Job::of_bytes(b"{}").unwrap_err();
    /// assert!(error.to_string().starts_with("this is no plan: missing field"), "{error}");
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Result<Job, Error> {
        Job::of(Plan::read(bytes, "this")?)
    }

    fn of(plan: Plan) -> Result<Job, Error> {
        plan.sources.iter().try_for_each(Identity::check)?;
        let job = Job::prepare(plan.request)?;
        if let Some(other) = job.source.files.iter().find(|file| !plan.sources.contains(file)) {
            return Err(Error::changed(&other.path, "it is not the source that was planned"));
        }
        match job.id == plan.id && job.tasks() == plan.tasks {
            true => Ok(job),
            false => {
                let said = "the plan was made by another version, or changed";
                Err(Error::new("changed", format!("plan {}: {said}", plan.id)))
            }
        }
    }
}
