//! `.bin.index.json`: a checkpoint of several files of `torch.save`, opened by the index that names them. Only read.
//!
//! Source: the index that transformers writes beside `pytorch_model-00001-of-00002.bin`: the same as that of safetensors.

use super::{Pt, file};
use crate::{
    Error,
    container::{
        format::{Format, Member, Opened, Opening},
        sharded::Listed,
    },
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

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let mut archives = Vec::new();
    let listed = Listed::open(opening, &mut |source, name, number| {
        let (source, archive, tensors) = file(source, number)?;
        archives.push(archive);
        Ok((Member { name, source }, tensors))
    })?;
    Ok(listed.opened(Box::new(Pt { format: &FORMAT, archives })))
}
