//! Compares the quantisation that files state with the formats that a request names. Preparing a conversion uses it.
//!
//! ```text
//! config.json           quantization_config: the method, the bits, whether zero points are all in the middle
//! quantize_config.json  the same keys at its top, as older tools wrote it; quant_config.json too
//! a tensor beside       the zero points themselves
//! ```
//!
//! Law: a tensor is refused if and only if one of these states another value than the source format, or the kernel of the target,
//! presumes. If none of them states anything, nothing is compared, and [`remark`] reports so.

use serde_json::{Map, Value};
use tilewright_core::Remedy;
use tilewright_notation::{Allowed, Quantised};

use crate::{
    Action, Error, Input, Job, Tensor,
    assemble::given::CONFIG,
    convert::request::Request,
    error,
    layout::{order, row_table::Tables},
    open::json::json,
};

/// The files that state a quantisation, each with the key of it; without one it is the whole file.
const FILES: [(&str, Option<&str>); 3] = [
    (CONFIG, Some("quantization_config")),
    ("quantize_config.json", None),
    ("quant_config.json", None),
];

/// The keys of the width of the values.
const BITS: [&str; 2] = ["bits", "w_bit"];

/// The key that states whether all zero points are the middle of the values.
const SYMMETRIC: &str = "sym";

/// The quantisation that a file states for all weights.
struct Stated {
    file: &'static str,
    object: Map<String, Value>,
}

impl Stated {
    /// Returns the statement of the first file beside the input that states a quantisation.
    fn of(input: &Input) -> Result<Option<Stated>, Error> {
        for (file, key) in FILES {
            let Some((_, text)) = input.text_beside(file)? else { continue };
            // A text that is not JSON states nothing.
            let Ok(mut value) = json(&text) else { continue };
            let own = match key {
                Some(key) => value.get_mut(key).map(Value::take),
                None => Some(value),
            };
            if let Some(Value::Object(object)) = own {
                return Ok(Some(Stated { file, object }));
            }
        }
        Ok(None)
    }

    /// Returns the value of a key in lower case.
    fn text(&self, key: &str) -> Option<String> {
        match self.object.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.to_lowercase()),
            other => Some(other.to_string()),
        }
    }

    /// Returns the statement of another value than the allowed ones of a key, as text.
    fn against(&self, (key, allowed): Allowed) -> Option<String> {
        let said = self.text(key).filter(|said| !allowed.contains(&said.as_str()))?;
        Some(format!("{} states {key} {said}, not {}", self.file, allowed.join(" or ")))
    }

    /// Returns a statement that contradicts reading weights of this many bits in a format, or that contradicts the target format.
    fn contradiction(&self, from: &Quantised, bits: u32, job: &Job) -> Option<String> {
        let (source, target) = (job.from.named.name(), job.to.named.name());
        let own = from.config.iter().find_map(|allowed| self.against(*allowed));
        let width = || {
            let (key, said) = BITS.iter().find_map(|key| Some((key, self.text(key)?)))?;
            let other = said != bits.to_string();
            other.then(|| format!("{} states {key} {said}, not {bits}", self.file))
        };
        if let Some(said) = own.or_else(width) {
            return Some(format!("{said}, which {source} presumes here"));
        }
        let symmetric = job.to.named.quantised().is_some_and(|to| to.is_symmetric);
        if let Some(said) = self.against((SYMMETRIC, &["true"])).filter(|_| symmetric) {
            return Some(format!("{said}, and {target} needs symmetric weights"));
        }
        let leaves = job.to.named.quantised() != Some(from) && !order::is_plain(&job.to.named);
        let ((key, allowed), why) = from.unchanged.filter(|_| leaves)?;
        let is_allowed = self.text(key).is_some_and(|said| allowed.contains(&said.as_str()));
        let file = self.file;
        (!is_allowed).then(|| {
            format!(
                "{file} does not state {key} {}: {why}, and {target} takes them as they are",
                allowed.join(" or ")
            )
        })
    }
}

/// Refuses the tensors whose quantisation differs from what their formats presume, or skips them if the request says so.
pub(crate) fn check(input: &Input, request: &Request, jobs: &mut [Job]) -> Result<(), Error> {
    if request.any_config || !jobs.iter().any(|job| presumed(job).is_some()) {
        return Ok(());
    }
    let (stated, tables) = (Stated::of(input)?, Tables::new(input));
    for job in jobs {
        let (Some((from, bits)), Some(tensor)) = (presumed(job), input.tensors().get(job.tensor))
        else {
            continue;
        };
        let said = stated.as_ref().and_then(|stated| stated.contradiction(from, bits, job));
        let said = match said {
            Some(said) => Some(said),
            None => uneven(&tables, tensor, (from, bits), job)?,
        };
        match said.map(|said| format!("tensor {:?}: {said}", tensor.name)) {
            None => {}
            Some(why) if request.skip_unfit => {
                *job = Job::copy(job.tensor, tensor, Action::Skip(why));
            }
            Some(why) => return Err(error::usage(why).with(&[Remedy::AnyConfig])),
        }
    }
    Ok(())
}

/// Returns the format of the quantised weights that a conversion reads, and their bits.
fn presumed(job: &Job) -> Option<(&'static Quantised, u32)> {
    let is_converted = matches!(job.action(), Action::Convert) && job.from.named != job.to.named;
    let named = is_converted.then_some(&job.from.named)?;
    let from = named.quantised().filter(|from| !from.config.is_empty())?;
    Some((from, named.element_bits()?))
}

/// Returns the zero point beside a tensor that is not the middle, if the target accepts only the middle.
fn uneven(
    tables: &Tables<'_>,
    tensor: &Tensor,
    (from, bits): (&Quantised, u32),
    job: &Job,
) -> Result<Option<String>, Error> {
    let symmetric = job.to.named.quantised().is_some_and(|to| to.is_symmetric);
    let Some(last) = from.zeros.filter(|_| symmetric) else { return Ok(None) };
    let Some(zeros) = tables.beside(tensor, last)? else { return Ok(None) };
    let Some((less, middle)) = middles(bits) else { return Ok(None) };
    let mut first = None;
    let found = zeros.find(|from, piece| {
        let first = *first.get_or_insert(*piece.first()?);
        let is_other = |byte: &u8| *byte != first || ![less, middle].contains(byte);
        let at = piece.iter().position(is_other)?;
        Some((from + at as u64, *piece.get(at)?))
    })?;
    Ok(found.map(|(at, byte)| {
        let (name, target) = (&zeros.tensor.name, job.to.named.name());
        format!(
            "{target} needs symmetric weights, whose zero points are all stored as {less:#04x} or all as {middle:#04x}; {name:?} holds {byte:#04x} at byte {at}"
        )
    }))
}

/// Returns a byte filled with the middle of values of this many bits, less 1, and a byte filled with the middle.
fn middles(bits: u32) -> Option<(u8, u8)> {
    match bits {
        2 => Some((0x55, 0xaa)),
        4 => Some((0x77, 0x88)),
        8 => Some((0x7f, 0x80)),
        _ => None,
    }
}

/// Returns a remark on weights that are read as quantised: that the files beside them do not state how, or, if these files are
/// `copied`, that they still state the format of the source.
pub(crate) fn remark(input: &Input, jobs: &[Job], copied: bool) -> Option<String> {
    let mut presumed = jobs.iter().filter(|job| presumed(job).is_some());
    let first = presumed.next()?;
    let (name, from, to) = (first.name(), first.from.named.name(), first.to.named.name());
    let which = match presumed.count() {
        0 => format!("{name:?}"),
        more => format!("{name:?} and {more} more"),
    };
    match Stated::of(input).ok()? {
        None => Some(format!(
            "no config.json states the quantisation of {which}; that it is {from} is not checked"
        )),
        Some(stated) if copied => {
            let file = stated.file;
            Some(format!(
                "{file} is copied and still states the quantisation of {from}; {which} is {to} now"
            ))
        }
        Some(_) => None,
    }
}
