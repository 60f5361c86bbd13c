//! Plans the safetensors file that holds the results of a conversion's jobs: its header, then the tensors.

use std::path::Path;

use safetensors::Dtype;

use super::{
    Metadata,
    header::Header,
    noted,
    tensors::stored,
    write::{header, order_by_alignment},
};
use crate::{
    Error, Job, Tensor,
    container::{
        format::Opened,
        metadata_notes,
        target::{Section, Target},
    },
    error,
    layout::{dtype, record::Record},
};

/// A tensor of the planned file.
struct PlannedTensor<'a> {
    number: usize,
    job: &'a Job,
    /// True if the file describes the tensor differently from the input.
    anew: bool,
    dtype: Dtype,
    shape: Vec<u64>,
}

impl<'a> PlannedTensor<'a> {
    fn of(
        path: &Path,
        number: usize,
        job: &'a Job,
        tensor: &Tensor,
    ) -> Result<PlannedTensor<'a>, Error> {
        let own = file_dtype(path, &tensor.file_dtype);
        // A type that another format spells is also described anew.
        if job.says_anew(tensor) || own.is_err() {
            check_words(job)?;
            let (dtype, shape) = stored(&job.to, job.bytes_out);
            return Ok(PlannedTensor { number, job, anew: true, dtype, shape });
        }
        Ok(PlannedTensor { number, job, anew: false, dtype: own?, shape: tensor.storage.clone() })
    }
}

/// Plans a file that holds all tensors, or those of the input's file of this number.
pub(in crate::container) fn target(
    input: &Opened,
    metadata: &Metadata,
    file: Option<usize>,
    path: &Path,
    jobs: &[Job],
) -> Result<Target, Error> {
    let mut entries = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let tensor = input.tensors.get(job.tensor);
        if let Some(tensor) = tensor.filter(|tensor| file.is_none() || tensor.file() == file) {
            entries.push(PlannedTensor::of(path, number, job, tensor)?);
        }
    }
    let widths: Vec<(u64, u64)> =
        entries.iter().map(|entry| (entry.dtype.bitsize() as u64, entry.job.bytes_out)).collect();
    let order = order_by_alignment(&widths);
    let sorted: Vec<&PlannedTensor<'_>> = order.iter().filter_map(|&i| entries.get(i)).collect();
    let described = sorted.iter().map(|entry| {
        (entry.job.name.as_str(), entry.dtype, entry.shape.as_slice(), entry.job.bytes_out)
    });
    let new = entries.iter().filter(|entry| entry.anew);
    let new: Vec<_> = new.map(|entry| (entry.job, says_itself(entry.job))).collect();
    let metadata = noted(metadata, &new);
    let unfit = |said: &str| {
        let shown = path.display();
        error::usage(format!("{shown}: the safetensors format cannot hold this: {said}"))
    };
    let planned =
        header(described, metadata.as_ref(), 8).map_err(|error| unfit(error.message()))?;
    let header = planned.text;
    // A reader checks the same.
    Header::parse(&header, planned.bytes - 8 - header.len() as u64, 0)
        .map_err(|said| unfit(&said))?;
    let summed = entries.iter().filter(|entry| entry.anew && entry.job.record == Record::Summed);
    let summed = summed.filter(|entry| !says_itself(entry.job));
    let places = metadata_notes::places(
        &header,
        summed.map(|entry| (entry.job.name.as_str(), entry.number)),
    );
    let mut sections = vec![Section::Bytes((header.len() as u64).to_le_bytes().to_vec())];
    sections.extend(metadata_notes::sections(header.as_bytes(), &places));
    Ok(Target::new(path, sections, sorted.iter().map(|entry| entry.number)))
}

/// Returns whether the file's header itself describes a result completely.
fn says_itself(job: &Job) -> bool {
    job.is_plain() && dtype::is_named(job.to.dtype, job.to.bits) && job.to.ends_with_a_byte()
}

/// Refuses words of a type that this format cannot name.
fn check_words(job: &Job) -> Result<(), Error> {
    let Some(words) = job.to.named.stored_as() else { return Ok(()) };
    if dtype::is_named(words.dtype(), words.bits()) {
        return Ok(());
    }
    let (name, dtype) = (&job.name, words.dtype());
    let said = format!(
        "tensor {name:?}: .safetensors cannot store words of {dtype}; choose a type such as u8, s32, u32 or s64"
    );
    Err(error::usage(said))
}

/// Returns the type that a file spells like this.
fn file_dtype(path: &Path, text: &str) -> Result<Dtype, Error> {
    serde_json::from_value(text.into()).map_err(|error| error::corrupt(path, error))
}
