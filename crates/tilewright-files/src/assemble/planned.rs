//! A file of tensors without their bytes, planned by its format: what another crate needs to write the tensors itself, in any
//! order. Resharding writes files of other formats than safetensors with it.
//!
//! Law: a file of this length with these bytes and with the tensors at their places is one that a conversion would write.

use std::path::Path;

use tilewright_core::Remedy;
use tilewright_fingerprint::Fingerprint;
use tilewright_recipe::Conditions;

use crate::{
    Error, Input, Job, Tensor,
    assemble::packaging::{jobs, of_models, unlike},
    container::{Beside, Container, Format, Opened, Section, by_ending, shards::ShardLayout},
    error,
    layout::{element_layout::ElementLayout, record::Recorded},
    open::tensor::{IN_MEMORY, Piece},
};

/// A tensor of a planned file.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct PlannedTensor {
    /// The name.
    pub name: String,
    /// The layout.
    pub layout: ShardLayout,
    /// The fingerprint of the data that the file records, if it records one.
    pub data: Option<Fingerprint>,
}

/// The bytes of a file other than those of its tensors.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct PlannedFile {
    /// Bytes with their positions; all other bytes outside of tensors are 0.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// The first byte of each tensor.
    pub places: Vec<u64>,
    /// The length of the file.
    pub bytes: u64,
    /// Notes about its metadata, as sentences without a full stop: changes to them, and checks that were not made.
    pub notes: Vec<String>,
}

/// The sources of a file's metadata.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Models<'a> {
    /// The file whose metadata the request takes, if any.
    pub given: Option<&'a Input>,
    /// The source of the tensors, whose metadata are kept if it has the same format.
    pub source: Option<&'a Input>,
    /// True if the metadata are not compared with the tensors, which may be parts of those of the model.
    pub trusted: bool,
}

/// Plans the file at `path`, whose ending gives its format, with these pairs in addition to the metadata of its model.
#[doc(hidden)]
pub fn planned(
    path: &Path,
    tensors: &[PlannedTensor],
    pairs: &[(String, String)],
    models: Models<'_>,
) -> Result<PlannedFile, Error> {
    let format = by_ending(path).ok_or_else(|| error::unrecognised(path, "an unknown format"))?;
    let tensors = tensors.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
    format.check_one(tensors.len(), path)?;
    let container = container(path, format, (&tensors, pairs), models)?;
    let opened = Opened { container, index: None, files: Vec::new(), tensors };
    let input = Input { path: path.into(), opened, aside: None, folder: None, beside: None };
    let jobs = jobs(input.tensors());
    if input.note(format, &jobs).is_some() {
        let said = "its header cannot state the layout of its array; write row-major elements";
        return Err(error::unsupported(path, said));
    }
    let targets = input.opened.container.plan(&input.opened, path, &jobs)?;
    let own = &input.opened.container;
    // The metadata of the source fit its tensors as well as before.
    let cautions = models.given.map(|_| own.cautions()).unwrap_or_default();
    let long = format.too_long(jobs.iter().map(Job::name));
    let notes = own.warnings().into_iter().chain(cautions).chain(long).collect();
    let mut file = PlannedFile { places: vec![0; jobs.len()], notes, ..PlannedFile::default() };
    for section in targets.into_iter().flat_map(|target| target.sections) {
        let len = match &section {
            Section::Tensor(number) => jobs.get(*number).map_or(0, |job| job.bytes_out),
            other => other.len(),
        };
        file.add(section).map_err(|()| checksums(path, format))?;
        let large = || error::usage(format!("{}: more than 2^64 bytes", path.display()));
        file.bytes = file.bytes.checked_add(len).ok_or_else(large)?;
    }
    Ok(file)
}

impl PlannedFile {
    /// Adds a section at the end; an error for one whose bytes depend on those of tensors.
    fn add(&mut self, section: Section) -> Result<(), ()> {
        match section {
            Section::Bytes(bytes) => self.patches.push((self.bytes, bytes)),
            Section::Zeros(_) => {}
            Section::Tensor(number) => {
                if let Some(place) = self.places.get_mut(number) {
                    *place = self.bytes;
                }
            }
            Section::Begin | Section::End | Section::Late(..) | Section::Data(_) => return Err(()),
        }
        Ok(())
    }
}

/// Returns the error for a format whose files have checksums of their tensors.
fn checksums(path: &Path, format: &Format) -> Error {
    let said = format!(
        "a {} file has checksums of its tensors, which are written in parts; write a .safetensors file and convert it",
        format.shown
    );
    error::unsupported(path, said)
}

fn tensor(planned: &PlannedTensor) -> Result<Tensor, Error> {
    let PlannedTensor { name, layout: ShardLayout { named, dtype, bits }, data } = planned;
    let wrong = |said: String| error::usage(format!("tensor {name:?}: {said}"));
    let held = ElementLayout::of(named, *dtype, *bits, named.fill()).map_err(wrong)?;
    let len = held.bytes().ok_or_else(|| wrong("it exceeds 2^63 - 1 bytes".into()))?;
    Ok(Tensor {
        name: name.clone(),
        file_dtype: IN_MEMORY.into(),
        storage: named.storage_shape(),
        file_dims: None,
        noted: data.map(|data| Recorded { data: Some(data) }),
        refusal: None,
        pieces: vec![Piece::whole(0, 0, len, &held)],
        held,
        len,
    })
}

/// Returns the container of a file: that of its model for other tensors, or a new one.
fn container(
    path: &Path,
    format: &'static Format,
    (tensors, pairs): (&[Tensor], &[(String, String)]),
    Models { given, source, trusted }: Models<'_>,
) -> Result<Box<dyn Container>, Error> {
    if let Some(other) = given.filter(|given| given.container_format() != format) {
        return Err(unlike(other, format, path));
    }
    let (result, config, files) =
        (&Conditions::default(), &serde_json::Value::Null, &[String::new()]);
    let own = given.is_none();
    let beside = Beside { pairs, tensors, files, result, config, own, trusted };
    let models: Vec<&Input> = given.or(source).into_iter().collect();
    of_models(&models, format, &beside)?.ok_or_else(|| {
        let (path, shown) = (path.display(), format.shown);
        let said = format!("{path}: {shown} needs model metadata, which its source lacks: take those of a {shown} file");
        error::usage(said).with(&[Remedy::Metadata])
    })
}
