//! Planned files of a result: for each, its bytes and tensors in the order of the file. Each format plans them, and the pipeline
//! writes them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::layout::record;

/// One file to write.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) sections: Vec<Section>,
}

/// A section of a file.
#[derive(Clone)]
pub(crate) enum Section {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A number of zeros.
    Zeros(u64),
    /// The result of the job of this number.
    Tensor(usize),
    /// Writes nothing: the bytes that follow are summed in a checksum, a CRC-32.
    Begin,
    /// Writes nothing: the checksum ends.
    End,
    /// A number of bytes that are computed from the checksums so far.
    Late(u64, Arc<Late>),
    /// The fingerprint of the data that the job of this number reads, in digits.
    Data(usize),
}

/// Computes bytes from checksums.
type Late = dyn Fn(&[u32]) -> Vec<u8> + Send + Sync;

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Section::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Section::Zeros(len) => write!(f, "Zeros({len})"),
            Section::Tensor(number) => write!(f, "Tensor({number})"),
            Section::Begin => f.write_str("Begin"),
            Section::End => f.write_str("End"),
            Section::Late(len, _) => write!(f, "Late({len})"),
            Section::Data(number) => write!(f, "Data({number})"),
        }
    }
}

impl Section {
    /// Returns the number of bytes that belong to no tensor.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Section::Bytes(bytes) => bytes.len() as u64,
            Section::Zeros(len) | Section::Late(len, _) => *len,
            Section::Data(_) => record::NONE.len() as u64,
            Section::Tensor(_) | Section::Begin | Section::End => 0,
        }
    }
}

impl Target {
    /// Returns a file with a header, followed by the results of jobs.
    pub(crate) fn new(
        path: &Path,
        header: Vec<Section>,
        jobs: impl IntoIterator<Item = usize>,
    ) -> Target {
        let jobs = jobs.into_iter().map(Section::Tensor);
        Target { path: path.into(), sections: header.into_iter().chain(jobs).collect() }
    }

    /// Returns the number of bytes that belong to no tensor.
    pub(crate) fn overhead(&self) -> u64 {
        self.sections.iter().map(Section::len).sum()
    }
}
