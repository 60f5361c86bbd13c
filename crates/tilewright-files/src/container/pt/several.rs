//! `.bin.index.json`: a checkpoint of several files of `torch.save`, opened by the index that names them. Only read.
//!
//! Source: the index that transformers writes beside `pytorch_model-00001-of-00002.bin`: the same as that of safetensors.

use std::path::Path;

use super::{Pt, file};
use crate::{
    Error, Job, Watch,
    container::{
        format::{Container, Format, Member, Opened, Opening},
        sharded::Listed,
        target::Target,
    },
    error,
};

pub(crate) const FORMAT: Format = Format {
    name: "sharded pt",
    shown: ".bin.index.json",
    prefix: None,
    ending: Some(".bin.index.json"),
    recognises: |_, _| false,
    several: true,
    open,
    ..super::FORMAT
};

#[derive(Debug)]
struct Several(Vec<Pt>);

impl Container for Several {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn can_become(&self, other: &Format) -> bool {
        other.create.is_some()
    }

    fn plan(&self, _: &Opened, path: &Path, _: &[Job]) -> Result<Vec<Target>, Error> {
        let (path, becomes) = (path.display(), FORMAT.becomes);
        Err(error::usage(format!("{path}: .bin files are not written; name {becomes}")))
    }

    fn check(&self, opened: &Opened, watch: &dyn Watch) -> Result<(), Error> {
        let mut files = self.0.iter().zip(&opened.files);
        files.try_for_each(|(pt, file)| pt.check_sums(&file.source, watch))
    }

    fn warnings(&self) -> Vec<String> {
        self.0.iter().flat_map(|pt| pt.warnings.iter().cloned()).collect()
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let mut parts = Vec::new();
    let listed = Listed::open(opening, &mut |source, name, number| {
        let (source, pt, tensors) = file(source, number)?;
        parts.push(pt);
        Ok((Member { name, source }, tensors))
    })?;
    Ok(listed.opened(Box::new(Several(parts))))
}
