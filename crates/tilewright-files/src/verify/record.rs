//! The record of a tensor's data, which is their fingerprint under the key that everybody has, and files compared with what
//! they record.
//!
//! Laws: the record is the fingerprint of the data as the source holds them, summed by the source's layout, so data that are
//! read from the result by the result's layout have it only if every element moved to its place. What is recorded is
//! compared, or it is said by name why it is not. A record of a tensor that is not there, or
//! without the layout that it was made with, is one that the file does not have.

use std::{collections::HashMap, path::Path};

use tilewright_core::{Remedy, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key, Windows};

use crate::{
    Difference, Error, Input, Reading, Request, Tensor, Verdict, Watch,
    assemble::recorded,
    container,
    layout::held::Held,
    open::{file_of, globs::Pattern, noted, open_as, place::Place},
    transfer::{
        budget::{self, Budget},
        request::{self, check_memory},
    },
    verify::{
        crew::Crew,
        fingerprint::{Data, Quiet},
    },
};

/// How many tensors a sentence names.
const NAMED: usize = 8;

/// What [`verify_recorded`] found.
///
/// ```
/// use tilewright_files::{Checked, Verdict};
/// let unrecorded = vec!["b".to_owned()];
/// let checked = Checked { recorded: 3, tensors: 5, unrecorded, verdict: Verdict::Same { bytes: 4096 } };
/// assert_eq!(checked.remark().unwrap(), r#"a layout is noted of "b", and no fingerprint: not compared"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many tensors have a record.
    pub recorded: usize,
    /// How many tensors were meant.
    pub tensors: usize,
    /// The tensors of which a layout is noted, and no fingerprint: results of older versions, and of sources whose
    /// layout is a swizzle. Nothing is known of their data.
    pub unrecorded: Vec<String>,
    /// Whether the data of those that have one fit it.
    pub verdict: Verdict,
}

impl Checked {
    /// Which tensors were not compared, where one would expect it, as a sentence without an end.
    ///
    /// ```
    /// use tilewright_files::{Checked, Verdict};
    /// let verdict = Verdict::Same { bytes: 4096 };
    /// let checked = Checked { recorded: 5, tensors: 5, unrecorded: vec![], verdict };
    /// assert_eq!(checked.remark(), None);
    /// ```
    pub fn remark(&self) -> Option<String> {
        unrecorded(&self.unrecorded).map(|said| format!("{said}: not compared"))
    }
}

/// Names of tensors without a record, as a part of a sentence.
fn unrecorded(names: &[String]) -> Option<String> {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = shown.join(", ");
    (!names.is_empty()).then(|| format!("a layout is noted of {shown}{more}, and no fingerprint"))
}

/// Compares the data of a file with the fingerprints that a conversion recorded of them. Of a tensor without a record
/// nothing is compared; where a layout is noted of it, it is [named](Checked::unrecorded). Padding is not looked at.
///
/// A file of one array that a note beside it is of, with another length or checksum, was changed behind its conversion:
/// that is a difference, as is a record of a tensor that the file does not have.
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
        return Err(Error::usage(said).with(&[Remedy::Original]));
    }
    let verdict = match meant.lost {
        Some(lost) => Verdict::Differs(lost),
        None => {
            let len = meant.recorded.iter().map(|(tensor, _)| tensor.len);
            watch.total(len.fold(0, u64::saturating_add));
            input.check_sums(watch)?;
            let tensors = input.tensors().len();
            let budget = Budget::new(budget::beside(request.memory, tensors, tensors)?);
            let crew = Crew::new(watch, &budget, request.threads);
            compared(&input, &meant.recorded, watch, crew)?
        }
    };
    input.check_unchanged()?;
    let (recorded, tensors) = (meant.recorded.len(), meant.tensors);
    Ok(Checked { recorded, tensors, unrecorded: meant.unrecorded, verdict })
}

/// What a file says of the data of the tensors that are meant.
struct Meant<'a> {
    tensors: usize,
    recorded: Vec<(&'a Tensor, Fingerprint)>,
    unrecorded: Vec<String>,
    /// A record of what is not there.
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
                None => meant.lose(name, format!("it is missing, and {key:?} is about it")),
                Some(tensor) if tensor.noted.is_none() && container::data_of(key).is_some() => {
                    meant.without_layout(tensor, key, text);
                }
                Some(_) => {}
            }
        }
        meant
    }

    /// A record without a layout fits the data as they lie, or the layout was lost.
    fn without_layout(&mut self, tensor: &'a Tensor, key: &str, text: &str) {
        match parse(text) {
            Ok(data) => self.recorded.push((tensor, data)),
            Err(said) => self.lose(&tensor.name, format!("{key:?} notes {said}")),
        }
    }

    fn lose(&mut self, name: &str, text: String) {
        let tensor = Some(name.to_owned());
        self.lost.get_or_insert(Difference::Said { tensor, text });
    }
}

/// Whether the data of tensors are what is recorded of them.
fn compared(
    input: &Input,
    recorded: &[(&Tensor, Fingerprint)],
    watch: &dyn Watch,
    crew: Crew<'_>,
) -> Result<Verdict, Error> {
    let mut bytes = 0;
    for (tensor, data) in recorded {
        if let Some(found) = difference(input, tensor, &[*data], watch, crew)? {
            return Ok(Verdict::Differs(found));
        }
        bytes += tensor.len;
    }
    Ok(Verdict::Same { bytes })
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
    let is = Data::of(input, tensor)?.by(crew)?.fingerprint(&Key::default(), watch)?;
    let wrong = recorded.iter().copied().find(|recorded| *recorded != is);
    let found = |recorded| Difference::Record { tensor: tensor.name.clone(), is, recorded };
    Ok(wrong.map(found))
}

/// The prefix of Tilewright's keys of metadata.
pub(crate) const OWN: &str = "tilewright.";

/// The one key that every maker writes, whose text is the name of a library.
const FORMAT: &str = "format";

/// Under this prefix and its name, metadata keeps the layout of a tensor.
pub(crate) const LAYOUT_KEY: &str = "tilewright.layout.";

/// The fingerprint of no data, which the header has until the data have passed.
pub(crate) const NONE: &str = "0000000000000000";

/// The facts of a tensor's note besides its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The fingerprint of the data; older files have none.
    pub(crate) data: Option<Fingerprint>,
}

/// The record of a job's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Nothing.
    None,
    /// The record of the input, with which the sum of the data that are read is compared.
    Checked(Fingerprint),
    /// The sum of the data that were read so far.
    Summed,
}

impl Record {
    /// Returns true if the data are summed as they are read.
    pub(crate) fn is_read(self) -> bool {
        self != Record::None
    }
}

/// The fingerprint that a note spells. There is one spelling of each, so a changed bit never goes unseen.
pub(crate) fn parse(text: &str) -> Result<Fingerprint, String> {
    match text.parse::<Fingerprint>() {
        Ok(data) if data.to_string() == text => Ok(data),
        Ok(_) => Err(format!("{text:?}, which is not a fingerprint in small letters")),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns true if a record is made of the data of such an array: its runs are as long as its strides allow. A swizzle leaves
/// runs of a few elements, which take a hundred times as long: their sum is made only to check what is recorded.
pub(crate) fn is_summed(held: &Held) -> bool {
    let low = |layout: &TensorLayout| layout.layout().bounds().map_or(0, |(low, _)| low);
    // With index tables, the sum is over what is gathered.
    let held = held.rows();
    let layout = held.layout();
    layout.is_strided() && low(layout) >= 0 && windows(held, 1, &Key::default()).is_ok()
}

/// The windows of an array, of at most `most` bytes where an element is not longer.
pub(crate) fn windows<'a>(
    held: &'a Held,
    most: u64,
    key: &Key,
) -> Result<Windows<'a>, tilewright_fingerprint::Error> {
    let array = Array::new(held.layout(), held.dtype)?.bits(held.bits)?;
    array.order(held.order).windows(most, key)
}

/// Returns true if metadata may have this name of a tensor as a key: those that mean something else never stand for one.
pub(crate) fn may_stand(name: &str) -> bool {
    name != FORMAT && !name.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fingerprint_has_one_spelling() {
        let text = "0123456789abcdef";
        assert_eq!(parse(text).unwrap().to_string(), text);
        assert_eq!(parse(NONE).unwrap(), Fingerprint::default());
        for bit in 0..8 * text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let flipped = String::from_utf8_lossy(&bytes).into_owned();
            let read = parse(&flipped).ok();
            assert!(read.is_none_or(|read| read.to_string() == flipped), "{flipped}");
            assert_ne!(read, parse(text).ok(), "{flipped}");
        }
        for text in ["", "0", "0123456789ABCDEF", "1fffffffffffffff", "+123456789abcdef"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
