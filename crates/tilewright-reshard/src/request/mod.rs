//! [`Request`]: the input of a job.

pub(crate) mod address;
pub(crate) mod extents;
pub(crate) mod model;
pub(crate) mod rules;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tilewright_core::Remedy;
use tilewright_files::{
    has_ending,
    inner::{check_scheme, is_url},
};

use crate::{Error, Rules, request::rules::pattern, source::beside::NotedExtents};

/// The least memory of a run, in bytes.
const LEAST_MEMORY: u64 = 64 << 10;

/// The default limit of memory: 256 MiB.
pub const DEFAULT_MEMORY: u64 = 256 << 20;

/// The ending of the default format.
pub(crate) const SAFETENSORS: &str = "safetensors";

/// The form of a result: the division of tensors into files.
///
/// ```
/// use tilewright_reshard::Form;
/// assert_eq!(Form::parse("dcp"), Some(Form::Dcp));
/// assert_eq!(Form::Ranks.name(), "ranks");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Whole tensors in files of a bounded length with an index, as on the Hugging Face hub.
    Hf,
    /// The form that torch's distributed checkpoint loads: each box once, with its offset in the metadata.
    Dcp,
    /// A file for each position of the mesh with all its shards.
    Ranks,
}

impl Form {
    /// Returns the form of this name.
    ///
    /// ```
    /// assert_eq!(tilewright_reshard::Form::parse("zip"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Form> {
        [Form::Hf, Form::Dcp, Form::Ranks].into_iter().find(|form| form.name() == name)
    }

    /// Returns the name.
    ///
    /// ```
    /// assert_eq!(tilewright_reshard::Form::Hf.name(), "hf");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Form::Hf => "hf",
            Form::Dcp => "dcp",
            Form::Ranks => "ranks",
        }
    }
}

/// The checkpoint that is read, and the result that is made of it.
///
/// ```
/// use tilewright_reshard::{Form, Request, Rules};
/// let request = Request::new("in", "out").to(Rules::new("tp=8").unwrap()).memory(64 << 20);
/// assert_eq!(request.asked_form(), Form::Ranks);
/// assert_eq!(Request::new("in", "out").asked_form(), Form::Hf);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    #[serde(with = "crate::request::address")]
    pub(crate) input: PathBuf,
    #[serde(with = "crate::request::address")]
    pub(crate) output: PathBuf,
    pub(crate) from: Option<Rules>,
    pub(crate) to: Option<Rules>,
    pub(crate) form: Option<Form>,
    pub(crate) layout: Option<String>,
    pub(crate) shard_size: Option<u64>,
    pub(crate) memory: u64,
    /// The extents of tensors of matching names.
    #[serde(default)]
    pub(crate) extents: Vec<(String, Vec<u64>)>,
    /// The extents of tensors by their names.
    #[serde(default, skip_serializing_if = "NotedExtents::is_empty")]
    pub(crate) listed: NotedExtents,
    /// True if the extents of shards are trusted.
    #[serde(default)]
    pub(crate) trusts_extents: bool,
    #[serde(default)]
    pub(crate) trusts_replicas: bool,
    /// True if values other than 0 in rows that a rule calls padding are dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) drops_padding: bool,
    #[serde(default)]
    pub(crate) verified: bool,
    #[serde(default)]
    pub(crate) force: bool,
    /// The ending of files of ranks, if it is not that of safetensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    /// The file whose metadata the files of the result get.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "crate::request::address::list"
    )]
    pub(crate) metadata: Vec<PathBuf>,
    /// True if these metadata are not compared with the tensors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) trusts_metadata: bool,
    /// True if the result is one file, and not a folder. A job decides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_file: bool,
    /// The smallest bound of a part in bytes, if a test sets another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<u64>,
}

/// Returns an absolute path. A URL is kept as it is, also one that is refused later.
fn absolute(path: &Path) -> PathBuf {
    match is_url(path) || check_scheme(path).is_err() {
        true => path.into(),
        false => std::path::absolute(path).unwrap_or_else(|_| path.into()),
    }
}

impl Request {
    /// Requests that a checkpoint is rewritten as whole tensors in a new folder.
    ///
    /// ```
    /// use tilewright_reshard::{DEFAULT_MEMORY, Request};
    /// assert_eq!(Request::new("in", "out").memory(DEFAULT_MEMORY), Request::new("in", "out"));
    /// ```
    pub fn new(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Request {
        Request {
            input: absolute(input.as_ref()),
            output: absolute(output.as_ref()),
            from: None,
            to: None,
            form: None,
            layout: None,
            shard_size: None,
            memory: DEFAULT_MEMORY,
            extents: Vec::new(),
            listed: NotedExtents::new(),
            trusts_extents: false,
            trusts_replicas: false,
            drops_padding: false,
            verified: false,
            force: false,
            format: None,
            metadata: Vec::new(),
            trusts_metadata: false,
            is_file: false,
            part: None,
        }
    }

    /// Sets the rules by which the files of the input, one for each position, hold their tensors.
    ///
    /// ```
    /// # use tilewright_reshard::{Request, Rules};
    /// let request = Request::new("in", "out").from(Rules::new("tp=2").unwrap());
    /// assert_ne!(request, Request::new("in", "out"));
    /// ```
    pub fn from(mut self, rules: Rules) -> Request {
        self.from = Some(rules);
        self
    }

    /// Sets the rules of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Form, Request, Rules};
    /// let request = Request::new("in", "out").to(Rules::new("tp=2").unwrap());
    /// assert_eq!(request.asked_form(), Form::Ranks);
    /// ```
    pub fn to(mut self, rules: Rules) -> Request {
        self.to = Some(rules);
        self
    }

    /// Sets the form of the result. The default is a file for each position if there are rules, else whole tensors.
    ///
    /// ```
    /// # use tilewright_reshard::{Form, Request};
    /// assert_eq!(Request::new("in", "out").form(Form::Dcp).asked_form(), Form::Dcp);
    /// ```
    pub fn form(mut self, form: Form) -> Request {
        self.form = Some(form);
        self
    }

    /// Sets the layout of each shard, a SPEC. The default is row-major.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").layout("zN"), Request::new("in", "out"));
    /// ```
    pub fn layout(mut self, spec: &str) -> Request {
        self.layout = Some(spec.to_owned());
        self
    }

    /// Sets the most bytes of tensors in a file of whole tensors; a longer tensor has its own file.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").shard_size(5 << 30), Request::new("in", "out"));
    /// ```
    pub fn shard_size(mut self, bytes: u64) -> Request {
        self.shard_size = Some(bytes);
        self
    }

    /// Sets the bytes of memory for buffers. Less than 64 KiB is refused.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let prepared = |memory| Job::prepare(Request::new(path, "out").memory(memory));
    /// assert!(prepared(64 << 10).is_ok());
    /// assert!(prepared((64 << 10) - 1).unwrap_err().to_string().contains("too few"));
    /// ```
    pub fn memory(mut self, bytes: u64) -> Request {
        self.memory = bytes;
        self
    }

    /// Returns an error unless the memory has room for a box and the buffers of its moves.
    pub(crate) fn check_memory(&self) -> Result<(), Error> {
        if self.memory >= LEAST_MEMORY {
            return Ok(());
        }
        let said = format!("{} bytes of buffers are too few", self.memory);
        Err(Error::usage(said).with(&[Remedy::MoreMemory { least: Some(LEAST_MEMORY) }]))
    }

    /// Sets the extents of the whole tensors whose names match. They are needed for files that do not state them, and
    /// are checked against others.
    ///
    /// # Errors
    /// `usage` for a pattern that cannot be read.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// let request = Request::new("in", "out").extents("embed.weight", &[50257, 64]).unwrap();
    /// assert_ne!(request, Request::new("in", "out"));
    /// ```
    pub fn extents(mut self, glob: &str, extents: &[u64]) -> Result<Request, Error> {
        pattern(glob)?;
        self.extents.push((glob.to_owned(), extents.to_vec()));
        Ok(self)
    }

    /// Sets the extents of whole tensors by their names, from a text in JSON or TOML: an object of names with lists of
    /// extents. In TOML, tables are prefixes of names. A tensor that is named must exist, and its shards must cover
    /// these extents.
    ///
    /// # Errors
    /// `usage` for a text that is not such a list, with what was found instead.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// let json = r#"{"model.embed.weight": [50257, 64], "model.norm.weight": [64]}"#;
    /// let toml = "[model]\nembed.weight = [50257, 64]\n'norm.weight' = [64]";
    /// let request = |text| Request::new("in", "out").extents_text(text).unwrap();
    /// assert_eq!(request(json), request(toml));
    /// let error = Request::new("in", "out").extents_text("w = 7").unwrap_err();
    /// assert_eq!(error.to_string(), "tensor \"w\": expected a list of extents such as [50257, 64]");
    /// ```
    pub fn extents_text(mut self, text: &str) -> Result<Request, Error> {
        self.listed.extend(crate::source::beside::read(text)?);
        Ok(self)
    }

    /// Sets whether the extents that the shards imply are used, regardless of those that files state.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").trust_extents(true), Request::new("in", "out"));
    /// ```
    pub fn trust_extents(mut self, trusts: bool) -> Request {
        self.trusts_extents = trusts;
        self
    }

    /// Sets whether one of several copies of a box is read, and the others are not compared with it.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").trust_replicas(true), Request::new("in", "out"));
    /// ```
    pub fn trust_replicas(mut self, trusts: bool) -> Request {
        self.trusts_replicas = trusts;
        self
    }

    /// Sets the name that messages give the result of a job that is only queried, in place of its path.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let error = Job::survey(Request::new(path, "").called("OUT").format("gguf")).unwrap_err();
    /// assert!(error.to_string().starts_with("OUT/model.gguf: .gguf needs model metadata"));
    /// ```
    pub fn called(mut self, name: &str) -> Request {
        self.output = name.into();
        self
    }

    /// Sets whether rows that a rule calls padding are dropped even if they have values other than 0. In a 0 every bit is 0,
    /// so -0.0 is another value.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").drop_padding(true), Request::new("in", "out"));
    /// ```
    pub fn drop_padding(mut self, drops: bool) -> Request {
        self.drops_padding = drops;
        self
    }

    /// Sets whether the result is read back and compared with the data that were read.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").verify(true), Request::new("in", "out"));
    /// ```
    pub fn verify(mut self, verified: bool) -> Request {
        self.verified = verified;
        self
    }

    /// Sets whether the result may replace a checkpoint: a folder that contains only files, at least one of them
    /// safetensors.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").force(true), Request::new("in", "out"));
    /// ```
    pub fn force(mut self, force: bool) -> Request {
        self.force = force;
        self
    }

    /// Sets the format of the files in a folder: `safetensors`, which is the default, or `gguf`. A result whose name has
    /// the ending of a format is one file of that format.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").format("gguf"), Request::new("in", "out"));
    /// ```
    pub fn format(mut self, format: &str) -> Request {
        self.format = Some(format.to_owned());
        self
    }

    /// Sets the file whose metadata a GGUF result gets. The default is the source, if it is GGUF.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").metadata("old.gguf"), Request::new("in", "out"));
    /// ```
    pub fn metadata(mut self, path: impl AsRef<Path>) -> Request {
        self.metadata = vec![absolute(path.as_ref())];
        self
    }

    /// Sets whether a GGUF result gets the metadata even if they contradict the tensors.
    ///
    /// ```
    /// # use tilewright_reshard::Request;
    /// assert_ne!(Request::new("in", "out").trust_metadata(true), Request::new("in", "out"));
    /// ```
    pub fn trust_metadata(mut self, trusts: bool) -> Request {
        self.trusts_metadata = trusts;
        self
    }

    /// Decides whether the result is one file.
    pub(crate) fn settle(&mut self) {
        self.is_file = self.asked_form() == Form::Hf && has_ending(&self.output);
    }

    /// Returns the name of the only file of the result, if it is not a folder.
    pub(crate) fn file_name(&self) -> Option<String> {
        self.is_file.then(|| self.output.file_name().unwrap_or_default().to_string_lossy().into())
    }

    /// Returns the ending of the files of the result, which gives their format.
    pub(crate) fn ending(&self) -> String {
        let of_file = || self.output.extension().filter(|_| self.is_file);
        let own = || of_file().map(|ending| ending.to_string_lossy().to_lowercase());
        self.format.clone().or_else(own).unwrap_or_else(|| SAFETENSORS.to_owned())
    }

    /// Sets the smallest bound of a part in bytes, for tests: a small box then has several parts.
    #[doc(hidden)]
    pub fn part(mut self, bytes: u64) -> Request {
        self.part = Some(bytes.max(1));
        self
    }

    /// Returns the form of the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Form, Request};
    /// assert_eq!(Request::new("in", "out").asked_form(), Form::Hf);
    /// ```
    pub fn asked_form(&self) -> Form {
        self.form.unwrap_or(if self.to.is_some() { Form::Ranks } else { Form::Hf })
    }
}
