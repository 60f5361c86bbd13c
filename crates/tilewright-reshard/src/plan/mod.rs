//! A plan: a job as a file, for processes that share a file system.
//!
//! It contains the request, the identities of the sources, and the outline of their arrays. A process that reads it
//! opens no header: it checks the length and the time of each source. The hash of each header is part of the name of
//! the plan.

pub(crate) mod array;
pub(crate) mod cut;
pub(crate) mod format;
pub(crate) mod imagine;
pub(crate) mod job;
pub(crate) mod laid;
pub(crate) mod outline;
pub(crate) mod target;

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use tilewright_files::inner::write_new;

use crate::{
    Error, Job, Request, error,
    plan::outline::Outline,
    source::{
        beside::Beside,
        checkpoint::Checkpoint,
        identity::{Identity, hash},
    },
};

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    version: u32,
    id: String,
    tasks: u64,
    request: Request,
    sources: Vec<Identity>,
    /// The files whose metadata the result gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<Identity>,
    /// The hash of the whole text with this field empty.
    sum: String,
    outline: Outline,
    beside: Beside,
}

/// The version that is written, and the only one that is read.
const VERSION: u32 = 3;

impl Job {
    /// Writes the plan to a new file, which appears complete.
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
        write_new(path, &bytes).map_err(|error| match error.kind() {
            "exists" => Error::new(
                "exists",
                format!("{} exists; a plan is never overwritten", path.display()),
            ),
            _ => error,
        })
    }

    /// Returns the plan as the bytes of its file, for processes that receive it in a message.
    ///
    /// # Errors
    /// `usage` for a path that is not text.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let job = Job::prepare(Request::new(path, "out")).unwrap();
    /// assert_eq!(Job::of_bytes(&job.plan().unwrap()).unwrap().id(), job.id());
    /// ```
    pub fn plan(&self) -> Result<Vec<u8>, Error> {
        Ok((text(self)? + "\n").into_bytes())
    }

    /// Reads the job of a plan.
    ///
    /// # Errors
    /// As [`Job::prepare`]; `corrupt` for a file that is not a plan; `changed` for a source that was changed.
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let folder = tempfile::tempdir().unwrap();
    /// let plan = folder.path().join("plan");
    /// std::fs::write(&plan, "{}").unwrap();
    /// assert_eq!(Job::of_plan(&plan).unwrap_err().kind(), "corrupt");
    /// ```
    pub fn of_plan(path: &Path) -> Result<Job, Error> {
        let bytes = fs::read(path).map_err(|cause| error::io(path, "read", &cause))?;
        Plan::read(&bytes, &path.display().to_string())?.job()
    }

    /// Reads the job of a plan's [bytes](Job::plan).
    ///
    /// # Errors
    /// As [`Job::of_plan`].
    ///
    /// ```
    /// # use tilewright_reshard::Job;
    /// let error = Job::of_bytes(b"{}").unwrap_err();
    /// assert!(error.to_string().starts_with("this is not a plan: missing field"), "{error}");
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Result<Job, Error> {
        Plan::read(bytes, "this")?.job()
    }
}

impl Plan {
    fn text(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::usage(error.to_string()))
    }

    /// Reads a plan from bytes, which messages call `name`.
    fn read(bytes: &[u8], name: &str) -> Result<Plan, Error> {
        let wrong = |said: String| Error::new("corrupt", format!("{name} is not a plan: {said}"));
        let mut plan: Plan =
            serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if plan.version != VERSION {
            let version = plan.version;
            return Err(wrong(format!("it has version {version}; {VERSION} is read")));
        }
        let sum = std::mem::take(&mut plan.sum);
        match hash(plan.text()?.as_bytes()) == sum {
            true => Ok(plan),
            false => Err(wrong("it was changed after it was written".to_owned())),
        }
    }

    /// Makes its job, if the sources are unchanged.
    fn job(self) -> Result<Job, Error> {
        let mut known = self.sources.iter().chain(&self.models);
        known.try_for_each(|source| source.check("the plan was made"))?;
        let (files, models) = (self.sources, self.models);
        let read = self.outline.arrays(files.len());
        let (arrays, places) = read.map_err(|error| {
            Error::new("corrupt", format!("plan {} is not valid: {error}", self.id))
        })?;
        let checkpoint = Checkpoint { files, models, arrays, places, beside: self.beside };
        let job = Job::assemble(self.request, checkpoint)?;
        match job.id == self.id && job.tasks() == self.tasks {
            true => Ok(job),
            false => {
                let said = "it was made by another version, or changed";
                Err(Error::new("changed", format!("plan {}: {said}", self.id)))
            }
        }
    }
}

/// Returns the plan of a job as text.
pub(crate) fn text(job: &Job) -> Result<String, Error> {
    let outline = Outline::of(&job.source.arrays, &job.source.places);
    let plan = Plan {
        version: VERSION,
        id: job.id.clone(),
        tasks: job.tasks(),
        request: job.request.clone(),
        sources: job.source.files.clone(),
        models: job.source.models.clone(),
        sum: String::new(),
        outline,
        beside: job.source.beside.clone(),
    };
    let sum = hash(plan.text()?.as_bytes());
    Plan { sum, ..plan }.text()
}
