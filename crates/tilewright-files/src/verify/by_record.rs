//! Compares a file with the fingerprints that it records of its own data.
//!
//! Law: every record is compared, or the tensor is named with the reason why it is not. A record of a missing tensor, or one
//! without the layout that it was computed with, counts as a difference.

use std::{collections::HashMap, path::Path};

use tilewright_core::Remedy;
use tilewright_fingerprint::{Fingerprint, Key};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Difference, Error, Input, Reading, Request, Tensor, Verdict, Watch,
    assemble::recorded,
    container,
    convert::request::{self, check_memory},
    error,
    layout::record,
    open::{file_of, globs::Pattern, noted, open_as, place::Place},
    verify::{difference::named, fingerprint::Data},
};

/// The result of [`verify_recorded`].
///
/// ```
/// use tilewright_files::{Checked, Verdict};
/// let unrecorded = vec!["b".to_owned()];
/// let checked = Checked { recorded: 3, tensors: 5, unrecorded, verdict: Verdict::Same { bytes: 4096, dropped: vec![], changed: vec![] } };
/// assert_eq!(checked.remark().unwrap(), r#"a layout is recorded for "b", and no fingerprint: not compared"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The number of tensors that have a record.
    pub recorded: usize,
    /// The number of tensors that were selected.
    pub tensors: usize,
    /// The tensors with a noted layout, but without a fingerprint: results of older versions, and of sources whose layout has a
    /// swizzle. Their data are not checked.
    pub unrecorded: Vec<String>,
    /// The result of the comparison of recorded fingerprints.
    pub verdict: Verdict,
}

impl Checked {
    /// Returns a message on tensors that were not compared although they have a note, as a sentence without a full stop.
    ///
    /// ```
    /// use tilewright_files::{Checked, Verdict};
    /// let verdict = Verdict::Same { bytes: 4096, dropped: vec![], changed: vec![] };
    /// let checked = Checked { recorded: 5, tensors: 5, unrecorded: vec![], verdict };
    /// assert_eq!(checked.remark(), None);
    /// ```
    pub fn remark(&self) -> Option<String> {
        unrecorded(&self.unrecorded).map(|said| format!("{said}: not compared"))
    }
}

/// Lists the names of tensors without a record, as a part of a sentence.
fn unrecorded(names: &[String]) -> Option<String> {
    let shown = named(names)?;
    Some(format!("a layout is recorded for {shown}, and no fingerprint"))
}

/// Compares the data of a file with the fingerprints that a conversion recorded. A tensor without a record is not compared; if
/// its layout is noted, it is [named](Checked::unrecorded). Padding is not checked.
///
/// If a file of one array has a note with another length or checksum, the file was changed after its conversion: that is a
/// difference, and so is a record of a tensor that the file does not have.
///
/// The request's [`Request::only`] selects tensors; [`Request::memory`] and [`Request::threads`] are used as well.
///
/// # Errors
/// [usage](Error::is_usage) if nothing is recorded; [i/o](Error::is_io) if the file cannot be read or is corrupt;
/// [cancelled](Error::is_cancelled) if `watch` cancels.
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
    let (format, source) = file_of(&Place::parse(path.as_ref()))?;
    let aside = noted(format, &source, watch)?.aside;
    if let Some(said) = aside.and_then(|aside| aside.changed(source.path())) {
        let verdict = Verdict::Differs(Difference::said(said));
        return Ok(Checked { recorded: 0, tensors: 1, unrecorded: vec![], verdict });
    }
    let input = open_as(format, source, &Reading::default(), watch)?;
    let only = request::only(request, input.tensors())?;
    let mut meant = Meant::of(&input, &only);
    let recipe = recorded::unfit(&input);
    if let Some(Some(said)) = &recipe {
        meant.lost.get_or_insert(Difference::said(said));
    }
    if meant.recorded.is_empty() && meant.lost.is_none() {
        let path = input.path().display();
        let more = unrecorded(&meant.unrecorded).map_or(String::new(), |said| format!("; {said}"));
        let more = match recipe {
            Some(_) => format!(
                "{more}; its tensors have the names, types and dims of the recipe that it records"
            ),
            None => more,
        };
        let said = format!("{path}: it records no fingerprint of its data{more}");
        return Err(error::usage(said).with(&[Remedy::Original]));
    }
    let verdict = match meant.lost {
        Some(lost) => Verdict::Differs(lost),
        None => {
            let len = meant.recorded.iter().map(|(tensor, _)| tensor.len);
            watch.total(len.fold(0, u64::saturating_add));
            input.check_sums(watch)?;
            let tensors = input.tensors().len();
            let limits = &request.limits(watch, (tensors, tensors))?;
            compared(&input, &meant.recorded, watch, limits)?
        }
    };
    input.check_unchanged()?;
    let (recorded, tensors) = (meant.recorded.len(), meant.tensors);
    Ok(Checked { recorded, tensors, unrecorded: meant.unrecorded, verdict })
}

/// The records of the selected tensors of a file.
struct Meant<'a> {
    tensors: usize,
    recorded: Vec<(&'a Tensor, Fingerprint)>,
    unrecorded: Vec<String>,
    /// A record of a missing tensor.
    lost: Option<Difference>,
}

impl<'a> Meant<'a> {
    fn of(input: &'a Input, only: &[Pattern]) -> Meant<'a> {
        let all: HashMap<&str, &Tensor> =
            input.tensors().iter().map(|tensor| (tensor.name(), tensor)).collect();
        let tensors = input.tensors().iter().filter(|it| request::is_meant(only, &it.name));
        let mut meant = Meant { tensors: 0, recorded: vec![], unrecorded: vec![], lost: None };
        for tensor in tensors {
            meant.tensors += 1;
            match (tensor.recorded(), &tensor.noted) {
                (Some(data), _) => meant.recorded.push((tensor, data)),
                (None, Some(_)) => meant.unrecorded.push(tensor.name.clone()),
                (None, None) => {}
            }
        }
        for (key, text) in input.metadata() {
            let Some(name) = container::about(key).filter(|it| request::is_meant(only, it)) else {
                continue;
            };
            match all.get(name) {
                None => meant.lose(name, format!("it is missing, but {key:?} is about it")),
                Some(tensor) if tensor.noted.is_none() && container::data_of(key).is_some() => {
                    meant.without_layout(tensor, key, text);
                }
                Some(_) => {}
            }
        }
        meant
    }

    /// A record without a layout must fit the data in their present order; otherwise the layout was lost.
    fn without_layout(&mut self, tensor: &'a Tensor, key: &str, text: &str) {
        match record::parse(text) {
            Ok(data) => self.recorded.push((tensor, data)),
            Err(said) => self.lose(&tensor.name, format!("{key:?} notes {said}")),
        }
    }

    fn lose(&mut self, name: &str, text: String) {
        let tensor = Some(name.to_owned());
        self.lost.get_or_insert(Difference::Said { tensor, text });
    }
}

/// Compares the data of tensors with their records.
fn compared(
    input: &Input,
    recorded: &[(&Tensor, Fingerprint)],
    watch: &dyn Watch,
    limits: &Limits<'_>,
) -> Result<Verdict, Error> {
    let mut bytes = 0;
    for (tensor, data) in recorded {
        if let Some(found) = difference(input, tensor, &[*data], watch, limits)? {
            return Ok(Verdict::Differs(found));
        }
        bytes += tensor.len;
    }
    Ok(Verdict::Same { bytes, dropped: vec![], changed: vec![] })
}

/// Compares a tensor's data with its records, if there are any. All its elements were compared before, so the watcher gets no
/// further progress.
pub(crate) fn of_result(
    out: &Input,
    tensor: &Tensor,
    recorded: &[Fingerprint],
    limits: &Limits<'_>,
) -> Result<Option<Difference>, Error> {
    difference(out, tensor, recorded, &Quiet(limits.watch()), limits)
}

/// Returns a difference if the data of a tensor do not have one of these fingerprints.
fn difference(
    input: &Input,
    tensor: &Tensor,
    recorded: &[Fingerprint],
    watch: &dyn Watch,
    limits: &Limits<'_>,
) -> Result<Option<Difference>, Error> {
    if recorded.is_empty() {
        return Ok(None);
    }
    let is = Data::of(input, tensor)?.by(limits)?.fingerprint(&Key::default(), watch)?;
    let wrong = recorded.iter().copied().find(|recorded| *recorded != is);
    let found = |recorded| Difference::Record { tensor: tensor.name.clone(), is, recorded };
    Ok(wrong.map(found))
}
