//! Weight files rewritten in another layout, with bounded memory.
//!
//! | want | call |
//! |---|---|
//! | what a file holds | [`open`], [`Input::tensors`] |
//! | every tensor of a file or a folder in another layout | [`Request`], [`Conversion::prepare`], [`Conversion::run`] |
//! | what that would do | [`Conversion::jobs`] |
//! | whether a result is right | [`verify`], without its original [`verify_recorded`] |
//! | a fingerprint of the data that no layout changes | [`Collection::fingerprints`] |
//! | whether two files or folders hold the same arrays | [`same_data`](fn@same_data) |
//! | a result put together from tensors of a source, as a recipe says | [`Assembling`] |
//! | arrays in memory, written to a file in any layouts | [`Writer`] |
//! | a tensor, or a box of one, in memory, in any layout | [`Input::reader`], [`Reader::read_into`] |
//! | the bytes themselves | [`Input::bytes`], [`bytes`](fn@bytes) |
//!
//! Read and written are safetensors files, checkpoints of several such files by their index, GGUF, NumPy's
//! `.npy` and `.npz`, and bytes without a header. Formats of named tensors keep in their metadata how these
//! lie, so a conversion back gives the original bit for bit:
//!
//! ```
//! use tilewright_files::{Conversion, Reading, Request, open};
//! use tilewright_notation::Spec;
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
//! let folder = tempfile::tempdir().unwrap();
//! let (there, back) = (folder.path().join("there.safetensors"), folder.path().join("back.safetensors"));
//!
//! let input = open(path, &Reading::default()).unwrap();
//! let request = Request::new().to(Spec::parse("col-major").unwrap());
//! Conversion::prepare(&input, &there, request).unwrap().run(&()).unwrap();
//!
//! let input = open(&there, &Reading::default()).unwrap();
//! let request = Request::new().to(Spec::parse("row-major").unwrap());
//! Conversion::prepare(&input, &back, request).unwrap().run(&()).unwrap();
//! assert_eq!(std::fs::read(path).unwrap(), std::fs::read(&back).unwrap());
//! ```
//!
//! Files are read at positions, never mapped, so memory stays counted and a file that shrinks is an
//! error. Output goes to a temporary file beside its destination, is synced, and is renamed: it is
//! whole or absent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod access;
mod assemble;
mod boxes;
mod budget;
mod bytes;
mod claim;
mod collection;
mod compare;
mod container;
mod conversion;
mod crew;
mod destination;
mod difference;
mod digits;
#[doc(hidden)]
pub mod disk;
mod divergence;
mod dtype;
mod error;
#[cfg(test)]
mod faults;
mod fingerprint;
mod folder;
mod foreign;
mod gathered;
mod globs;
mod held;
mod input;
mod job;
mod job_layouts;
mod job_note;
mod journal;
mod lane;
mod list_files;
mod lists;
mod lock;
mod loops;
#[cfg(test)]
mod losses;
mod mark;
mod metadata;
mod names;
mod note;
mod open;
mod order;
mod origin;
mod output;
mod padding;
mod patch;
mod pipeline;
mod place;
mod pool;
mod quantisation;
mod reader;
mod reading;
mod record;
mod report;
mod request;
mod row_table;
mod rows;
mod run;
mod same_data;
mod set;
mod shares;
mod sink;
mod slabs;
mod source;
mod space;
mod stage;
mod stamp;
mod sweep;
mod temporary;
mod tensor;
mod tied;
mod verdict;
mod verify;
mod verify_recorded;
mod verify_side;
mod whole;
mod word;
mod work;
mod writer;

/// What the crates of this workspace share of how files are written. It is no interface for others.
#[doc(hidden)]
pub mod inner {
    pub use crate::{
        assemble::given::{CONFIG, file_in},
        claim::{Busy, Claim, Claimant},
        folder::Companions,
        foreign::check_folder,
        globs::Pattern,
        space::check as check_space,
        stage::{is_empty_folder, remove_filled},
        temporary::write_new,
    };
}

pub use assemble::{Assembling, Packaging, Row};
pub use bytes::bytes;
pub use collection::Collection;
pub use conversion::Conversion;
pub use difference::Difference;
pub use divergence::{Alike, Apart, Divergence};
pub use error::Error;
pub use fingerprint::{Fingerprints, Printed};
pub use input::Input;
pub use job::{Action, Job};
pub use lists::FileLists;
pub use open::{open, open_file, open_stream, open_watched};
pub use place::{has_ending, has_prefix, is_stream};
pub use reader::Reader;
pub use reading::Reading;
pub use report::Report;
pub use request::{DEFAULT_MEMORY, Request};
pub use same_data::same_data;
pub use tensor::{Piece, Tensor};
pub use tilewright_fingerprint::{Fingerprint, Key};
pub use tilewright_transfer::Watch;
pub use verdict::Verdict;
pub use verify::verify;
pub use verify_recorded::{Checked, verify_recorded};
pub use whole::write;
pub use writer::Writer;
