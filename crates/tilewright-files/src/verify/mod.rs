//! Compares a result with its original: every element, every padding byte, and the metadata.
//!
//! This module does not use relayout plans for elements. Elements are compared box by box, and within a box in the order of
//! memory; offsets come from the digits of both layouts. Of the first tensor that differs, in the order of the file, the first element
//! in the order of coordinates is reported.

pub(crate) mod boxes;
pub(crate) mod by_record;
pub(crate) mod compare;
pub(crate) mod difference;
pub(crate) mod digits;
pub(crate) mod fingerprint;
pub(crate) mod loops;
pub(crate) mod metadata;
pub(crate) mod opened;
pub(crate) mod padding;
pub(crate) mod patch;
pub(crate) mod rows;
pub(crate) mod same_data;
pub(crate) mod view;

use std::{collections::BTreeMap, path::Path};

use tilewright_core::{Fill, Remedy};
use tilewright_fingerprint::Fingerprint;
use tilewright_transfer::Limits;

use crate::{
    Conversion, Difference, Error, FileLists, Input, Job, Request, Tensor, Verdict, Watch,
    assemble::recorded,
    commit::temporary::{self, Temporary},
    container::Format,
    convert::{
        conversion, job,
        request::{self, check_memory},
    },
    error,
    layout::{dtype, names},
    open::{folder, open_watched, place::Place, source::Source},
    verify::{
        compare::{side, unfilled},
        metadata::Metadata,
        opened::{Expected, open_result},
    },
};

/// Compares a finished file or folder with its original: names, element types, logical dims, every element, every padding byte,
/// the metadata, and the fingerprints that the result records of its data. Padding is compared with the value that the result
/// promises, else with zero; if nothing was moved, it is compared with the original.
///
/// The request is that of the conversion, as far as it is known: [`Request::from`], [`Request::dims`] and [`Request::dtype`] tell
/// how the original is read, and [`Request::only`] which of its tensors. [`Request::fill`] is the expected padding,
/// [`Request::memory`] bounds buffers, and [`Request::threads`] is the number of threads. With [`Request::to`] or
/// [`Request::rule`] every tensor must have the requested layout; npy and raw files cannot record it themselves.
///
/// # Errors
/// [i/o](Error::is_io) if a file cannot be read, is corrupt, or was changed while it was read; [usage](Error::is_usage) if the
/// request does not fit; [cancelled](Error::is_cancelled) if `watch` cancels.
///
/// ```
/// use tilewright_files::{Request, Verdict, verify};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verdict = verify(path, path, &Request::new(), &()).unwrap();
/// assert!(matches!(verdict, Verdict::Same { bytes: 1.., .. }));
///
/// let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let Verdict::Differs(found) = verify(other, path, &Request::new(), &()).unwrap() else { panic!() };
/// assert!(found.to_string().contains("is missing"));
/// ```
pub fn verify(
    out: impl AsRef<Path>,
    against: impl AsRef<Path>,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Verdict, Error> {
    check_memory(request.memory)?;
    let (asked, request) = (request, &request.clone().spelled()?);
    let against = open_watched(against, &request.reading, watch)?;
    let place = Place::parse(out.as_ref());
    let out = folder::opened(place.clone())?;
    let format = out.format.unwrap_or(against.container_format());
    let (source, beside) = (Source::open(&out.path)?, temporary::folder(&out.path));
    let beside = |name: &str| beside.join(name);
    if let Some(verdict) =
        recorded::verdict((&place, format, &source), &beside, (&against, asked), watch)?
    {
        return Ok(verdict);
    }
    let expected = expected(&against, format, request)?;
    let out = match open_result(format, source, &beside, (against.tensors(), &expected), watch)? {
        Ok(out) => out,
        Err(said) => return Ok(Verdict::Differs(Difference::said(said))),
    };
    watch.total(out.tensors().iter().map(|tensor| tensor.len).sum());
    let pairs = match paired(&out, &against, &expected) {
        Ok(pairs) => pairs,
        Err(said) => return Ok(Verdict::Differs(Difference::said(said))),
    };
    let tensors = against.tensors().len() + out.tensors().len();
    let limits = &request.limits(watch, (against.tensors().len(), tensors))?;
    let (fill, arrays, is_made) = (request.fill, &[][..], false);
    let comparison = Comparison { out: &out, against: &against, arrays, fill, limits, is_made };
    let found = match comparison.of(&pairs)? {
        same @ Verdict::Same { .. } => {
            match folder::difference(&place, &against, &|_| Ok(()), limits)? {
                None => return Ok(same),
                Some(said) => Difference::said(said),
            }
        }
        // A file that is not read by its note is reported with the reason.
        Verdict::Differs(found) => found.and(out.changed()),
    };
    Ok(Verdict::Differs(found))
}

/// Returns the expectations for every tensor of the original that the result has, in its order.
fn expected(
    against: &Input,
    format: &'static Format,
    request: &Request,
) -> Result<Vec<Expected>, Error> {
    if request.asks() {
        return Ok(conversion::jobs(against, format, request)?
            .into_iter()
            .map(Expected::of)
            .collect());
    }
    let only = request::only(request, against.tensors())?;
    let one = conversion::the_one(against, format, request)?;
    let name = conversion::array_name(against, format);
    let read = |(number, tensor): (usize, &Tensor)| {
        let silent = request.reading.is_silent() || !request::is_meant(&only, &tensor.name);
        let from = match job::read_as(
            tensor,
            &request.reading,
            &FileLists::of(against).beside(&tensor.name),
        ) {
            Ok(held) if !silent => held,
            Err(unfit) if !silent && !request.skip_unfit => return Err(unfit.error(&against.path)),
            _ => tensor.held.clone(),
        };
        let name = name.clone().unwrap_or_else(|| tensor.name.clone());
        Ok(Expected { tensor: number, name, from, to: None, data: None })
    };
    let all = against.tensors().iter().enumerate();
    all.filter(|(number, _)| one.is_none_or(|one| one == *number)).map(read).collect()
}

/// A tensor of the result, its original, and the expectations for both.
struct TensorPair<'a> {
    out: &'a Tensor,
    against: &'a Tensor,
    expected: &'a Expected,
}

/// Returns the tensors of both files by name, and checks that the names are equal.
fn paired<'a>(
    out: &'a Input,
    against: &'a Input,
    expected: &'a [Expected],
) -> Result<Vec<TensorPair<'a>>, String> {
    if let (true, [out], [expected]) = (out.is_array(), out.tensors(), expected) {
        // The array does not have a name in the file.
        let pair = |against| TensorPair { out, against, expected };
        return Ok(against.tensors().get(expected.tensor).map(pair).into_iter().collect());
    }
    let written: BTreeMap<&str, &Tensor> =
        out.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let pairs = expected.iter().filter_map(|expected| {
        let tensor = against.tensors().get(expected.tensor)?;
        Some((expected.name.as_str(), (tensor, expected)))
    });
    let original: BTreeMap<&str, (&Tensor, &Expected)> = pairs.collect();
    let missing = |name: &str, from: &Input, near: String| {
        Err(format!("tensor {name:?} is missing from {}{near}", from.path.display()))
    };
    if let Some(name) = original.keys().find(|name| !written.contains_key(*name)) {
        // Only a part of the tensors was converted, so the request must select it.
        let part = written.keys().all(|name| original.contains_key(name));
        let (held, all) = (written.len(), original.len());
        let near = match part {
            true => {
                format!(
                    ", which holds {held} of the {all} that are compared; select the tensors to compare"
                )
            }
            false => names::near(name, out.names()),
        };
        return missing(name, out, near);
    }
    if let Some(name) = written.keys().find(|name| !original.contains_key(*name)) {
        return missing(name, against, names::near(name, against.names()));
    }
    let pair = |out: &'a Tensor| {
        let (against, expected) = *original.get(out.name.as_str())?;
        Some(TensorPair { out, against, expected })
    };
    Ok(out.tensors().iter().filter_map(pair).collect())
}

/// A result and its original, which are compared.
struct Comparison<'a> {
    out: &'a Input,
    against: &'a Input,
    /// The bytes of the original's tensors, if they are in memory.
    arrays: &'a [&'a [u8]],
    fill: Option<Fill>,
    limits: &'a Limits<'a>,
    /// True if a conversion has just made the result, which then has all metadata of the original.
    is_made: bool,
}

impl Comparison<'_> {
    /// Compares the metadata and these tensors of two files, which must not change meanwhile.
    fn of(&self, pairs: &[TensorPair<'_>]) -> Result<Verdict, Error> {
        let verdict = self.once(pairs)?;
        self.against.check_unchanged()?;
        self.out.check_unchanged()?;
        Ok(verdict)
    }

    fn once(&self, pairs: &[TensorPair<'_>]) -> Result<Verdict, Error> {
        self.against.check_sums(self.limits.watch())?;
        self.out.check_sums(self.limits.watch())?;
        let Metadata { wrong, free } = metadata::compared(self.out, self.against);
        let free_too = || free.first().filter(|_| self.is_made).cloned();
        if let Some(said) = wrong.or_else(free_too) {
            return Ok(Verdict::Differs(Difference::said(said)));
        }
        let mut bytes = 0;
        for pair in pairs {
            self.check_read(pair)?;
            let said = match different_facts(pair) {
                None => misplaced(pair)?,
                said => said,
            };
            if let Some(text) = said {
                return Ok(Verdict::Differs(of_tensor(pair, text)));
            }
            let found = match self.bytes(pair)? {
                None => {
                    let recorded = [pair.out.recorded(), pair.expected.data].into_iter().flatten();
                    let recorded: Vec<_> = recorded.collect();
                    by_record::of_result(self.out, pair.out, &recorded, self.limits)?
                }
                found => found,
            };
            if let Some(found) = found {
                return Ok(Verdict::Differs(found));
            }
            bytes += pair.out.len;
        }
        Ok(Verdict::Same { bytes, dropped: vec![], changed: free })
    }

    /// Returns an error if the result records elements of words, and the original is read as these words: only its layout says what
    /// its elements are.
    fn check_read(&self, pair: &TensorPair<'_>) -> Result<(), Error> {
        let (out, against, from) = (pair.out, pair.against, &pair.expected.from);
        let is_words = out.file_dtype == against.file_dtype || out.held.bits < 8;
        let is_other = out.held.dtype != from.dtype && out.held.bits < from.bits;
        if !(is_words && is_other && out.noted.is_some() && against.noted.is_none()) {
            return Ok(());
        }
        let dtype = out.held.dtype;
        let said = format!(
            "tensor {:?}: the result records elements of {dtype}, and {} has {} without a layout; the conversion read it by a layout and dtype {dtype}",
            out.name,
            self.against.path.display(),
            from.dtype
        );
        Err(error::usage(said).with(&[Remedy::Source]))
    }

    /// Returns the first element or padding of a tensor that differs.
    fn bytes(&self, pair: &TensorPair<'_>) -> Result<Option<Difference>, Error> {
        let Comparison { out, against, .. } = *self;
        let (noted, from) = (pair.out.fill(), &pair.expected.from);
        let fill = match &pair.expected.to {
            Some(to) => to.named.fill(),
            None => self.fill.unwrap_or(noted),
        };
        let own = |fill| side((out, None), pair.out, &pair.out.held, fill);
        let to = own(fill)?;
        if noted.is_promised() && own(noted)?.fill != to.fill {
            let (noted, fill) = (dtype::fill_text(noted), dtype::fill_text(fill));
            let text = format!("it records padding of {noted}, expected {fill}");
            return Ok(Some(of_tensor(pair, text)));
        }
        let bytes = self.arrays.get(pair.expected.tensor).copied();
        let from = side((against, bytes), pair.against, from, from.named.fill())?;
        match compare::tensors(&to, &from, self.limits)? {
            None => unfilled(out, pair.out, fill),
            found => Ok(found),
        }
    }
}

fn of_tensor(pair: &TensorPair<'_>, text: String) -> Difference {
    Difference::Said { tensor: Some(pair.out.name.clone()), text }
}

/// Compares the facts about a tensor except its layout.
fn different_facts(pair: &TensorPair<'_>) -> Option<String> {
    let (out, against, from) = (pair.out, pair.against, &pair.expected.from);
    if out.refusal.is_some() || against.refusal.is_some() {
        let facts = |tensor: &Tensor| format!("{} {:?}", tensor.file_dtype, tensor.storage);
        let (is, was) = (facts(out), facts(against));
        return (is != was).then(|| format!("it is {is}, was {was}"));
    }
    if out.held.dtype != from.dtype {
        return Some(format!("elements are {}, were {}", out.held.dtype, from.dtype));
    }
    let extents = from.dims();
    if out.dims() != extents {
        return Some(format!(
            "logical dims are {:?}, were {extents:?}; if the file does not store its dims, give the layout that it was converted to, or that of the original",
            out.dims()
        ));
    }
    None
}

/// Returns a message if a tensor does not have the requested layout.
fn misplaced(pair: &TensorPair<'_>) -> Result<Option<String>, Error> {
    let (is, Some(to)) = (&pair.out.held, &pair.expected.to) else { return Ok(None) };
    let failed = |error| error::usage(format!("tensor {:?}: {error}", pair.out.name));
    let alike = is.bits == to.bits
        && is.layout().capacity() == to.layout().capacity()
        && is.places_as(to).map_err(failed)?;
    if alike {
        return Ok(None);
    }
    Ok(Some(format!("its layout is {}, expected {}", is.spec(), to.spec())))
}

/// Reads back the files that a conversion has written, before they get their names; a difference is an error.
pub(crate) fn written(
    conversion: &Conversion<'_>,
    done: &[Temporary],
    data: &BTreeMap<usize, Fingerprint>,
    limits: &Limits<'_>,
) -> Result<u64, Error> {
    let wrong =
        |said: &str| error::corrupt(&conversion.out, format!("verification failed: {said}"));
    let expected = all_expected(conversion, data);
    let out =
        reopened(conversion, done, &expected, limits.watch())?.map_err(|said| wrong(&said))?;
    let pairs = paired(&out, conversion.input, &expected).map_err(|said| wrong(&said))?;
    let (against, arrays) = (conversion.input, conversion.arrays);
    let (fill, is_made) = (None, true);
    let comparison = Comparison { out: &out, against, arrays, fill, limits, is_made };
    match comparison.of(&pairs)? {
        Verdict::Same { bytes, .. } => Ok(bytes),
        Verdict::Differs(found) => Err(wrong(&found.to_string())),
    }
}

/// Returns what is expected of the tensors that a conversion has written.
fn all_expected(conversion: &Conversion<'_>, data: &BTreeMap<usize, Fingerprint>) -> Vec<Expected> {
    let expected = |(number, job): (usize, &Job)| Expected {
        data: data.get(&number).copied(),
        ..Expected::of(job.clone())
    };
    conversion.jobs.iter().enumerate().map(expected).collect()
}

/// Opens the files that a conversion has written at their temporary paths; the inner error describes how they differ from it.
pub(crate) fn opened_again(
    conversion: &Conversion<'_>,
    done: &[Temporary],
    watch: &dyn Watch,
) -> Result<Result<Input, String>, Error> {
    reopened(conversion, done, &all_expected(conversion, &BTreeMap::new()), watch)
}

/// Opens the written files at their temporary paths.
fn reopened(
    conversion: &Conversion<'_>,
    done: &[Temporary],
    expected: &[Expected],
    watch: &dyn Watch,
) -> Result<Result<Input, String>, Error> {
    let last = done.last().map_or(conversion.out.as_path(), Temporary::path);
    let beside = |name: &str| {
        let named = |file: &&Temporary| file.out().file_name().is_some_and(|own| own == name);
        done.iter().find(named).map_or_else(|| name.into(), |file| file.path().into())
    };
    let (source, against) = (Source::open(last)?, conversion.input);
    open_result(conversion.format, source, &beside, (against.tensors(), expected), watch)
}
