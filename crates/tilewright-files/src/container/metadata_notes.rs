//! Notes in metadata about tensors whose layout the format itself cannot record: a SPEC under the tensor's name, the promised
//! value of the padding, and the fingerprint of the data. A conversion back needs only the SPEC.

use std::collections::{HashMap, HashSet};

use tilewright_core::{ByteOrder, Fill};
use tilewright_fingerprint::Fingerprint;
use tilewright_notation::{ResolvedLayout, Spec};

use super::{format::Opened, target::Section};
pub use crate::layout::record::LAYOUT_KEY;
use crate::{
    Job,
    layout::{
        dtype,
        element_layout::{ElementLayout, bytes_of, check_width, width_in},
        names,
        record::{self, Record},
    },
};

/// Prefix of the metadata key under which the promised value of a tensor's padding is recorded; the tensor's name follows.
pub(super) const FILL_KEY: &str = "tilewright.fill.";

/// Prefix of the metadata key under which the fingerprint of a tensor's data is recorded; the tensor's name follows.
#[doc(hidden)]
pub const DATA_KEY: &str = "tilewright.data.";

/// The texts of the note of one tensor.
pub(super) struct Note<'a> {
    layout: &'a str,
    fill: Option<&'a str>,
    data: Option<&'a str>,
}

/// The values of a note.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) held: ElementLayout,
    /// The recorded fingerprint of the data.
    pub(crate) data: Option<Fingerprint>,
}

/// Returns the note of the tensor with this name.
pub(super) fn of<'a>(known: &HashMap<&str, &'a str>, name: &str) -> Option<Note<'a>> {
    let noted = |prefix: &str| known.get(format!("{prefix}{name}").as_str()).copied();
    Some(Note { layout: noted(LAYOUT_KEY)?, fill: noted(FILL_KEY), data: noted(DATA_KEY) })
}

impl Note<'_> {
    /// Returns the layout and the fingerprint. The layout must fit a tensor of `len` bytes, and `is_stored` checks that the file
    /// stores it in that form. `order` is the byte order of elements that the file records, `None` if its format cannot record
    /// one.
    ///
    /// # Errors
    /// A text that ends a sentence which begins with the metadata's key.
    pub(super) fn read(
        &self,
        len: u64,
        order: Option<ByteOrder>,
        is_stored: impl FnOnce(&ElementLayout) -> Result<(), String>,
    ) -> Result<Noted, String> {
        let text = names::clipped(self.layout);
        let spec = Spec::parse_built_in(self.layout)
            .map_err(|error| format!(" is {text:?}: {}", error.message()))?;
        // A list is not longer than the layout it is for, so a short header does not take much memory.
        let (entries, most) = (spec.table_entries(), len.saturating_mul(8).saturating_add(4096));
        if entries > most {
            return Err(format!(" is {text:?}: index tables of {entries} entries for {len} bytes"));
        }
        let tabled = spec.array_layout(None, None, &());
        let tabled = tabled.map_err(|error| format!(" is {text:?}: {}", error.message()))?;
        let named = match tabled.has_tables() {
            true => tabled.stored().clone(),
            false => as_written(&spec, tabled.stored().clone(), len),
        };
        let (Some(dtype), Some(bits)) = (named.dtype(), width_in(&named)) else {
            return Err(format!(
                " is {text:?}, without an element type; it must start like `bf16[528,200]`"
            ));
        };
        let fill = self.fill(&text, named.fill())?;
        check_width(dtype, bits).map_err(|said| format!(" is {text:?}, which says {said}"))?;
        let said = named.byte_order();
        if order.is_none() && said.is_some_and(ByteOrder::is_big) {
            return Err(format!(" is {text:?}; the file's elements are little-endian"));
        }
        let order = said.or(order).unwrap_or_default();
        let held = ElementLayout::of(&named, dtype, bits, fill)
            .and_then(|held| held.ordered(order))
            .and_then(|held| held.with_tables(&tabled));
        let held = held.map_err(|said| format!(" is {text:?}: {said}"))?;
        dtype.stored_fill(fill, bits, order).map_err(|error| {
            format!(" is {text:?}, with a fill of {}: {error}", dtype::fill_text(fill))
        })?;
        check_bytes(&held, len)
            .and_then(|()| check_map(&held))
            .and_then(|()| is_stored(&held))
            .map_err(|said| format!(" is {text:?}, which {said}"))?;
        let data = self.data.map(record::parse).transpose();
        let data = data.map_err(|said| format!(" is {text:?}, and {DATA_KEY:?} notes {said}"))?;
        Ok(Noted { held, data })
    }

    /// Returns the value of the padding, from the layout and the note.
    fn fill(&self, text: &str, own: Fill) -> Result<Fill, String> {
        let Some(noted) = self.fill else { return Ok(own) };
        let fill = dtype::fill_of(noted).ok_or_else(|| {
            format!(" has a fill of {noted:?}; legal are 0, one, lowest, highest, 0xHEX")
        })?;
        if own != Fill::Unspecified && own != fill {
            let noted = dtype::fill_text(fill);
            return Err(format!(" is {text:?}, and {FILL_KEY:?} notes a fill of {noted}"));
        }
        Ok(fill)
    }
}

/// Returns the layout of a note in which the format's name implies the width of packed elements. In older notes the name did not
/// imply it: if the tensor has the length of elements in whole bytes, the elements are in whole bytes.
fn as_written(spec: &Spec, named: ResolvedLayout, len: u64) -> ResolvedLayout {
    let implied = spec.packed_by_name(None, None);
    let whole = named.dtype().and_then(|dtype| dtype.storage_bits());
    let (Some(bits), Some(whole)) = (implied, whole) else { return named };
    let takes = |bits| bytes_of(named.layout().capacity(), bits) == Some(len);
    if takes(bits) || !takes(whole) {
        return named;
    }
    let (dtype, fill) = (named.dtype(), named.fill());
    named.with_elements(dtype, Some(whole), fill)
}

fn check_bytes(held: &ElementLayout, len: u64) -> Result<(), String> {
    if held.bytes() == Some(len) {
        return Ok(());
    }
    let (capacity, bits) = (held.layout().capacity(), held.bits);
    Err(format!("stores {capacity} elements of {bits} bits, the file has {len} bytes of them"))
}

/// Checks that every element has a place of its own in the bytes; otherwise a small file could grow without bound in a
/// conversion.
fn check_map(held: &ElementLayout) -> Result<(), String> {
    let layout = held.layout();
    if let Some((low, _)) = layout.layout().bounds()
        && low < 0
    {
        return Err(format!("reaches down to offset {low}, before its bytes begin"));
    }
    let crowded = layout.size() > layout.capacity();
    // If injectivity is not decided, there are at least not more elements than places.
    if crowded || layout.injective().is_ok_and(|injective| !injective) {
        return Err("puts two elements in one place, which no conversion does".into());
    }
    Ok(())
}

/// Returns the keys of the note of the tensor with this name.
pub(super) fn keys(name: &str) -> [String; 3] {
    [LAYOUT_KEY, FILL_KEY, DATA_KEY].map(|prefix| format!("{prefix}{name}"))
}

/// Returns the note of a job's result, as keys and texts. If the data are summed during the conversion, [`record::NONE`] is the
/// placeholder for the fingerprint.
pub(super) fn of_job(job: &Job) -> Vec<(String, String)> {
    under(&job.name, job)
}

/// Returns the note of a job's result under another name of the tensor.
pub(super) fn under(name: &str, job: &Job) -> Vec<(String, String)> {
    let ([layout, fill, data], to) = (keys(name), &job.to.named);
    let promised = to.fill().is_promised().then(|| (fill, dtype::fill_text(to.fill())));
    let recorded = match job.record {
        Record::None => None,
        Record::Checked(own) => Some((data, own.to_string())),
        Record::Summed => Some((data, record::NONE.to_owned())),
    };
    [(layout, job.to.spec())].into_iter().chain(promised).chain(recorded).collect()
}

/// Returns the bytes of a text as sections. At each of the places, given as position and job number, the text has the placeholder
/// [`record::NONE`] for the fingerprint of that job.
pub(super) fn sections(text: &[u8], places: &[(usize, usize)]) -> Vec<Section> {
    let (mut sections, mut from) = (Vec::new(), 0);
    for &(at, number) in places {
        sections.push(Section::Bytes(text.get(from..at).unwrap_or_default().to_vec()));
        sections.push(Section::Data(number));
        from = at + record::NONE.len();
    }
    sections.push(Section::Bytes(text.get(from..).unwrap_or_default().to_vec()));
    sections
}

/// Returns the places of the jobs' fingerprints in a JSON text. `summed` has the names and numbers of these jobs; the keys of an
/// object are sorted by their bytes.
pub(super) fn places<'a>(
    text: &str,
    summed: impl Iterator<Item = (&'a str, usize)>,
) -> Vec<(usize, usize)> {
    let mut summed: Vec<(String, usize)> =
        summed.map(|(name, number)| (format!("{DATA_KEY}{name}"), number)).collect();
    summed.sort();
    let (mut places, mut from) = (Vec::new(), 0);
    for (key, number) in summed {
        // A quote within a text follows a backslash, so only a key with this value matches.
        let pair = format!("{}:\"{}\"", serde_json::Value::from(key), record::NONE);
        let Some(found) = text.get(from..).and_then(|rest| rest.find(&pair)) else { continue };
        from += found + pair.len();
        places.push((from - 1 - record::NONE.len(), number));
    }
    places
}

/// The role of a metadata key in a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Not a note, or a note of a tensor that is not in the file: results keep it.
    Other,
    /// Part of the note of a tensor with a layout.
    Note,
    /// The fill or the fingerprint of a tensor without a layout, which has no meaning: the note of a result replaces it.
    Stray,
}

impl Role {
    /// Returns the role of a key; `tensors` are the tensors of its file, `known` all of its keys.
    pub(super) fn of(key: &str, tensors: &HashSet<&str>, known: &HashSet<&str>) -> Role {
        match about(key).filter(|name| tensors.contains(name)) {
            None => Role::Other,
            Some(name) if known.contains(format!("{LAYOUT_KEY}{name}").as_str()) => Role::Note,
            Some(_) => Role::Stray,
        }
    }

    /// Returns the tensor whose layout the value of this key may disappear with.
    pub(super) fn goes_with(self, key: &str) -> Option<String> {
        about(key).filter(|_| self == Role::Stray).map(str::to_owned)
    }

    /// Returns whether a result keeps a key; the tensors `moved` change their layout or type.
    pub(super) fn stays(self, key: &str, moved: &HashSet<&str>) -> bool {
        match self {
            Role::Other => true,
            Role::Note => false,
            Role::Stray => about(key).is_none_or(|name| !moved.contains(name)),
        }
    }
}

/// Returns the tensor that a key of a note is about.
pub(crate) fn about(key: &str) -> Option<&str> {
    [LAYOUT_KEY, FILL_KEY, DATA_KEY].iter().find_map(|prefix| key.strip_prefix(prefix))
}

/// Returns the tensor whose fingerprint a metadata key records.
pub(crate) fn data_of(key: &str) -> Option<&str> {
    key.strip_prefix(DATA_KEY)
}

/// Returns the names of the tensors that a result describes differently from its input.
pub(super) fn moved<'a>(input: &Opened, jobs: &'a [Job]) -> HashSet<&'a str> {
    let anew = |job: &&Job| input.tensors.get(job.tensor).is_none_or(|own| job.says_anew(own));
    jobs.iter().filter(anew).map(|job| job.name.as_str()).collect()
}

/// Returns the metadata of a file of other tensors: the pairs that do not depend on tensors, and the new pairs. Notes of tensors,
/// names that stand for other tensors, and records of earlier changes to the file are dropped.
pub(super) fn renewed<'a>(
    own: impl Iterator<Item = (&'a str, &'a str)>,
    opened: &Opened,
    new: &[(String, String)],
) -> Vec<(String, String)> {
    let tensors: HashSet<&str> = opened.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let said: HashSet<&str> = new.iter().map(|(key, _)| key.as_str()).collect();
    let stays = |(key, text): &(&str, &str)| {
        let tie = record::may_stand(key) && tensors.contains(text);
        !key.starts_with(record::OWN) && !tie && !said.contains(key)
    };
    let own = own.filter(stays).map(|(key, text)| (key.to_owned(), text.to_owned()));
    own.chain(new.iter().cloned()).collect()
}
