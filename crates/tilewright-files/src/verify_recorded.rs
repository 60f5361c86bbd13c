//! A file compared with what it records of its own data.

use std::path::Path;

use tilewright_core::Remedy;
use tilewright_fingerprint::Fingerprint;

use crate::{
    Difference, Error, Input, Reading, Request, Tensor, Verdict, Watch,
    budget::{self, Budget},
    crew::Crew,
    fingerprint::{Data, Quiet},
    open::open_watched,
    request::{self, check_memory},
};

/// What [`verify_recorded`] found.
///
/// ```
/// use tilewright_files::{Checked, Verdict};
/// let checked = Checked { recorded: 3, tensors: 5, verdict: Verdict::Same { bytes: 4096 } };
/// assert!(checked.recorded < checked.tensors && checked.verdict == Verdict::Same { bytes: 4096 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many tensors have a record.
    pub recorded: usize,
    /// How many tensors were meant.
    pub tensors: usize,
    /// Whether the data of those that have one fit it.
    pub verdict: Verdict,
}

/// Compares the data of a file with the fingerprints that a conversion recorded of them. What has no record is not
/// looked at, and neither is padding.
///
/// Of the request counts [`Request::only`], which says which tensors, [`Request::memory`], and [`Request::threads`].
///
/// # Errors
/// [usage](Error::is_usage) where nothing is recorded; [i/o](Error::is_io) if the file cannot be read or is corrupt;
/// [cancelled](Error::is_cancelled) if `watch` says so.
///
/// ```
/// use tilewright_files::{Conversion, Reading, Request, Verdict, open, verify_recorded};
/// use tilewright_notation::Spec;
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("out.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let request = Request::new().to(Spec::parse("{0,1,2,3}").unwrap()).skip_unfit(true);
/// Conversion::prepare(&input, &out, request).unwrap().run(&()).unwrap();
/// let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
/// assert!(checked.recorded > 0 && matches!(checked.verdict, Verdict::Same { .. }));
///
/// // Nothing is recorded in the original.
/// assert!(verify_recorded(path, &Request::new(), &()).unwrap_err().is_usage());
/// ```
pub fn verify_recorded(
    path: impl AsRef<Path>,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Checked, Error> {
    check_memory(request.memory)?;
    let input = open_watched(path, &Reading::default(), watch)?;
    let only = request::only(request, input.tensors())?;
    let meant = input.tensors().iter().filter(|tensor| request::is_meant(&only, &tensor.name));
    let tensors = meant.clone().count();
    let recorded: Vec<_> = meant.filter_map(|it| Some((it, it.recorded()?))).collect();
    if recorded.is_empty() {
        let said = format!("{}: it records no fingerprint of its data", input.path().display());
        return Err(Error::usage(said).with(&[Remedy::Original]));
    }
    watch.total(recorded.iter().map(|(tensor, _)| tensor.len).fold(0, u64::saturating_add));
    input.check_sums(watch)?;
    let budget = Budget::new(budget::beside(request.memory, input.tensors().len())?);
    let crew = Crew::new(watch, &budget, request.threads);
    let (mut bytes, mut differs) = (0, None);
    for (tensor, data) in &recorded {
        differs = difference(&input, tensor, &[*data], watch, crew)?;
        if differs.is_some() {
            break;
        }
        bytes += tensor.len;
    }
    input.check_unchanged()?;
    let verdict = differs.map_or(Verdict::Same { bytes }, Verdict::Differs);
    Ok(Checked { recorded: recorded.len(), tensors, verdict })
}

/// What a tensor's data are compared with, if anything is recorded of them: after all its elements were compared,
/// which the watcher was told of.
pub(crate) fn of_result(
    out: &Input,
    tensor: &Tensor,
    recorded: &[Fingerprint],
    crew: Crew<'_>,
) -> Result<Option<Difference>, Error> {
    difference(out, tensor, recorded, &Quiet(crew.watch()), crew)
}

/// Which of these fingerprints the data of a tensor do not have.
fn difference(
    input: &Input,
    tensor: &Tensor,
    recorded: &[Fingerprint],
    watch: &dyn Watch,
    crew: Crew<'_>,
) -> Result<Option<Difference>, Error> {
    if recorded.is_empty() {
        return Ok(None);
    }
    let is = Data::of(input, tensor)?.by(crew)?.fingerprint(&crate::Key::default(), watch)?;
    let wrong = recorded.iter().copied().find(|recorded| *recorded != is);
    let found = |recorded| Difference::Record { tensor: tensor.name.clone(), is, recorded };
    Ok(wrong.map(found))
}
