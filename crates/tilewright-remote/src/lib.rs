//! Objects in object stores and hubs, read at positions and written by multipart uploads.
//!
//! | want | call |
//! |---|---|
//! | the name of an object | [`Location::parse`] |
//! | bytes of an object at a position | [`Object::open`], [`Object::read_at`] |
//! | the names in a folder | [`list`] |
//! | a new object | [`Upload::begin`], [`Upload::write`], [`Upload::finish`], [`Upload::commit`] |
//! | an upload by several processes | [`PartUpload`] |
//! | more or fewer retries | [`set_patience`] |
//! | the end of all waits after a signal | [`cancel_by`] |
//! | another endpoint or other credentials | [`set_variable`] |
//!
//! Files of weights are read and written through this crate if the feature `remote` of `tilewright-files` is on. Its functions
//! block: threads of the caller wait for requests, which a few threads of this crate carry out.
//!
//! Law: all bytes of an [`Object`] are those of one version. Every range is requested with the entity tag that the first response
//! had, and an object that changed meanwhile is an error. An [`Upload`] is visible only after [`Upload::commit`].
//!
//! Credentials come from the environment, by the names of the crate `object_store` (`AWS_…`, `GOOGLE_…`, `AZURE_…`) and of the
//! Hugging Face hub (`HF_TOKEN`, `HF_ENDPOINT`). No message contains them.
//!
//! ```
//! use tilewright_remote::Location;
//! let location = Location::parse("s3://bucket/model/model.safetensors").unwrap();
//! assert_eq!(location.name(), "model.safetensors");
//! assert!(Location::parse("http://example.com/a").unwrap_err().to_string().contains("https://"));
//! ```
#![forbid(unsafe_code)]

mod client;
mod entry;
mod error;
mod hub;
mod list;
mod location;
mod object;
mod patience;
mod redacted;
mod runtime;
mod settings;
mod store;
mod upload;
mod web;

pub use entry::Entry;
pub use list::{is_folder, list};
pub use location::Location;
#[doc(hidden)]
pub use location::SCHEMES;
pub use object::Object;
pub use patience::{Patience, patience, set_patience};
pub use redacted::redacted;
pub use runtime::cancel_by;
pub use settings::set_variable;
pub use tilewright_error::Error;
#[doc(hidden)]
pub use upload::{LEAST_PART, MOST_PARTS};
pub use upload::{
    Upload, exists,
    left::unaborted,
    parts::{PartUpload, SentPart},
    put, remove,
};
