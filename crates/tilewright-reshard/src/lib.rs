//! Checkpoints in shards, rewritten in other shards with bounded memory.
//!
//! ```text
//! Request   the input: a checkpoint, the rules of its shards, the rules and the form of the result
//! Job       the request with the headers of the sources read: every array, every output file, every task
//! task i    a box of one array, at most half the memory: read from the pieces of the source, written to the shards
//! ```
//!
//! Law: the boxes of an array partition its coordinates. Therefore no two tasks write the same byte, no task depends on
//! another, and a task that runs twice writes the same bytes. A [`Job`] is a function of the request and the headers,
//! so each of several processes that share a file system computes it alone, and runs its [share](Job::share) of the
//! tasks.
//!
//! A result is written to a folder next to its destination. A [journal](mod@journal) lists the tasks that are on the
//! disk, and [`Job::finish`] renames the folder once, after the last of them.
//!
//! ```
//! use tilewright_reshard::{Form, Job, Request, Rules};
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
//! let folder = tempfile::tempdir().unwrap();
//! let (split, whole) = (folder.path().join("tp2"), folder.path().join("whole"));
//!
//! let rules = Rules::new("tp=2").unwrap().rule("*.weight", "P(\"tp\")").unwrap();
//! let rules = rules.rule("*.bias", "[Replicate()]").unwrap();
//! let job = Job::prepare(Request::new(path, &split).to(rules.clone())).unwrap();
//! assert_eq!(job.files().next().unwrap(), "rank_00000-of-00002.safetensors");
//! job.run_all(&()).unwrap();
//!
//! let back = Request::new(&split, &whole).from(rules).form(Form::Hf);
//! Job::prepare(back).unwrap().run_all(&()).unwrap();
//! let data = |path: &std::path::Path| {
//!     let input = tilewright_files::open(path, &Default::default()).unwrap();
//!     let tensors = input.tensors().iter();
//!     let named = tensors.map(|it| (it.name().to_owned(), input.bytes(it, 1 << 20).unwrap()));
//!     named.collect::<std::collections::BTreeMap<_, _>>()
//! };
//! assert_eq!(data(&whole), data(path.as_ref()));
//! ```
#![forbid(unsafe_code)]

mod commit;
mod error;
mod outlook;
mod plan;
mod request;
mod run;
mod source;

pub use crate::outlook::Calls;
pub use crate::outlook::Planned;
pub use crate::request::model::Tensor;
pub use crate::source::shards;
pub use commit::journal;
pub use error::Error;
pub use outlook::{Outlook, Workers};
pub use plan::job::{Job, Task};
pub use request::model::Model;
pub use request::rules::Rules;
pub use request::{DEFAULT_MEMORY, Form, Request};
pub use source::boxes::{RawBox, RawTensor};
