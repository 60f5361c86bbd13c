//! The files of a result, as they are planned: bytes and tensors in order.

use std::path::{Path, PathBuf};

/// One file to write.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) sections: Vec<Section>,
}

/// A section of a file.
#[derive(Clone, Debug)]
pub(crate) enum Section {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The result of the job of this number.
    Tensor(usize),
}

impl Target {
    /// A header, and the results of jobs behind it.
    pub(crate) fn new(
        path: &Path,
        header: Vec<u8>,
        jobs: impl IntoIterator<Item = usize>,
    ) -> Target {
        let jobs = jobs.into_iter().map(Section::Tensor);
        Target {
            path: path.into(),
            sections: [Section::Bytes(header)].into_iter().chain(jobs).collect(),
        }
    }

    /// The bytes that belong to no tensor.
    pub(crate) fn overhead(&self) -> u64 {
        let len = |part: &Section| match part {
            Section::Bytes(bytes) => bytes.len() as u64,
            Section::Tensor(_) => 0,
        };
        self.sections.iter().map(len).sum()
    }
}
