//! Plans the GGUF file that holds the results of a conversion's jobs: its header, then the tensors.

use std::{collections::HashSet, path::Path};

use super::{
    Gguf, MARK,
    header::MAGIC,
    tensors::{says_itself, stored},
    types,
    value::{STRING, string},
};
use crate::{
    Error, Job, Tensor,
    container::{
        format::Opened,
        metadata_notes,
        target::{Section, Target},
    },
    error,
    layout::record::Record,
};

/// Plans the one file that holds the results of all jobs.
pub(super) fn target(
    gguf: &Gguf,
    input: &Opened,
    path: &Path,
    jobs: &[Job],
) -> Result<Target, Error> {
    let noted = jobs.iter().enumerate().filter(|(_, job)| !is_plain(job, input));
    let of =
        |(number, job)| metadata_notes::of_job(job).into_iter().map(move |pair| (number, pair));
    let noted: Vec<(usize, (String, String))> = noted.flat_map(of).collect();
    let kept: Vec<_> = gguf.kept(input, jobs).collect();
    let header = &gguf.header;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&header.version.to_le_bytes());
    bytes.extend_from_slice(&(jobs.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&((kept.len() + noted.len()) as u64).to_le_bytes());
    for pair in kept {
        bytes.extend_from_slice(header.bytes(&pair.whole));
    }
    let mut summed = Vec::new();
    for (number, (key, text)) in &noted {
        string(&mut bytes, key);
        bytes.extend_from_slice(&STRING.to_le_bytes());
        string(&mut bytes, text);
        let is_summed = jobs.get(*number).is_some_and(|job| job.record == Record::Summed);
        if is_summed && key.starts_with(metadata_notes::DATA_KEY) {
            summed.push((bytes.len() - text.len(), *number));
        }
    }
    let large =
        || error::usage(format!("{}: the tensors fill more than 2^64 bytes", path.display()));
    let padded = |at: u64| at.checked_next_multiple_of(header.alignment).ok_or_else(large);
    let (mut at, mut data) = (0u64, Vec::new());
    let mut names = HashSet::new();
    for (number, job) in jobs.iter().enumerate() {
        let name = name_of(job, input);
        if !names.insert(name.clone()) {
            let own = &job.name;
            let said = format!(
                "tensor {own:?} would be called {name:?}, and the file has a tensor of that name"
            );
            return Err(error::usage(said));
        }
        entry(&mut bytes, (&name, job), input, at);
        let end = at.checked_add(job.bytes_out).ok_or_else(large)?;
        at = padded(end)?;
        data.extend([Section::Tensor(number), Section::Zeros(at - end)]);
    }
    let gap = padded(bytes.len() as u64)? - bytes.len() as u64;
    let mut sections = metadata_notes::sections(&bytes, &summed);
    sections.push(Section::Zeros(gap));
    sections.extend(data);
    if !header.is_padded {
        sections.pop();
    }
    Ok(Target { path: path.into(), sections })
}

/// Returns whether the result of a job has the layout that other readers expect.
fn is_plain(job: &Job, input: &Opened) -> bool {
    refused(job, input).is_some() || says_itself(&job.to)
}

/// Returns the tensor of a job if it lacks a layout.
fn refused<'a>(job: &Job, input: &'a Opened) -> Option<&'a Tensor> {
    input.tensors.get(job.tensor).filter(|tensor| tensor.refusal.is_some())
}

/// Returns the name of a job's result in the file.
fn name_of(job: &Job, input: &Opened) -> String {
    let mark = if is_plain(job, input) { "" } else { MARK };
    format!("{mark}{}", job.name)
}

/// Appends the entry of a job's result, which begins at byte `at` of the data.
fn entry(bytes: &mut Vec<u8>, (name, job): (&str, &Job), input: &Opened, at: u64) {
    let (number, shape) = match refused(job, input) {
        Some(tensor) => {
            (types::named(&tensor.file_dtype).unwrap_or(types::BYTES), tensor.storage.clone())
        }
        None => stored(&job.to, job.bytes_out),
    };
    string(bytes, name);
    bytes.extend_from_slice(&(shape.len() as u32).to_le_bytes());
    for extent in shape.iter().rev() {
        bytes.extend_from_slice(&extent.to_le_bytes());
    }
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&at.to_le_bytes());
}
