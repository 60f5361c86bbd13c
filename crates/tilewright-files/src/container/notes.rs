//! What metadata keeps of tensors whose layout the format itself cannot say: a SPEC under the tensor's name,
//! what padding is promised to hold, and the fingerprint of the data. A conversion back needs nothing but the first.

use std::collections::{HashMap, HashSet};

use tilewright_core::{ByteOrder, Fill};
use tilewright_fingerprint::Fingerprint;
use tilewright_notation::{Named, Spec};

use super::{format::Opened, target::Section};
pub(super) use crate::layout::record::LAYOUT_KEY;
use crate::{
    Job,
    layout::{
        dtype,
        held::{Held, bytes_of, check_width, width_in},
        names,
        record::{self, Record},
    },
};

/// Under this prefix and its name, metadata keeps what a tensor's padding is promised to hold.
pub(super) const FILL_KEY: &str = "tilewright.fill.";

/// Under this prefix and its name, metadata keeps the fingerprint of a tensor's data.
pub(super) const DATA_KEY: &str = "tilewright.data.";

/// What is noted of a tensor.
pub(super) struct Note<'a> {
    layout: &'a str,
    fill: Option<&'a str>,
    data: Option<&'a str>,
}

/// What a note says, read.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) held: Held,
    /// The fingerprint of the data, where it is recorded.
    pub(crate) data: Option<Fingerprint>,
}

/// What metadata notes of the tensor of this name.
pub(super) fn of<'a>(known: &HashMap<&str, &'a str>, name: &str) -> Option<Note<'a>> {
    let noted = |prefix: &str| known.get(format!("{prefix}{name}").as_str()).copied();
    Some(Note { layout: noted(LAYOUT_KEY)?, fill: noted(FILL_KEY), data: noted(DATA_KEY) })
}

impl Note<'_> {
    /// The layout and the fingerprint, if the layout can be that of a tensor of `len` bytes which the file stores as `is_stored` says;
    /// the error ends a sentence that begins with the metadata's key. `order` is what the file says itself
    /// of the order of an element's bytes, where files of its format can.
    pub(super) fn read(
        &self,
        len: u64,
        order: Option<ByteOrder>,
        is_stored: impl FnOnce(&Held) -> Result<(), String>,
    ) -> Result<Noted, String> {
        let text = names::clipped(self.layout);
        let spec =
            Spec::parse_built_in(self.layout).map_err(|error| format!(" is {text:?}: {error}"))?;
        // A list is no longer than what it lists: a short header does not take much memory.
        let (entries, most) = (spec.table_entries(), len.saturating_mul(8).saturating_add(4096));
        if entries > most {
            return Err(format!(" is {text:?}: index tables of {entries} entries for {len} bytes"));
        }
        let tabled = spec.resolve_tabled(None, None, &());
        let tabled = tabled.map_err(|error| format!(" is {text:?}: {error}"))?;
        let named = match tabled.has_tables() {
            true => tabled.stored().clone(),
            false => as_written(&spec, tabled.stored().clone(), len),
        };
        let (Some(dtype), Some(bits)) = (named.dtype(), width_in(&named)) else {
            return Err(format!(
                " is {text:?}, without an element type; it starts like `bf16[528,200]`"
            ));
        };
        let fill = self.fill(&text, named.fill())?;
        check_width(dtype, bits).map_err(|said| format!(" is {text:?}, which says {said}"))?;
        let said = named.byte_order();
        if order.is_none() && said.is_some_and(ByteOrder::is_big) {
            return Err(format!(" is {text:?}; the file's elements have the lowest byte first"));
        }
        let order = said.or(order).unwrap_or_default();
        let held = Held::of(&named, dtype, bits, fill)
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

    /// What padding holds, of what the layout and the note say of it.
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

/// The layout of a note that leaves the width of packed elements to its format's name, as notes did before
/// names implied it: where the tensor has the length of elements in whole bytes, they are in whole bytes.
fn as_written(spec: &Spec, named: Named, len: u64) -> Named {
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

fn check_bytes(held: &Held, len: u64) -> Result<(), String> {
    if held.bytes() == Some(len) {
        return Ok(());
    }
    let (capacity, bits) = (held.layout().capacity(), held.bits);
    Err(format!("stores {capacity} elements of {bits} bits, the file has {len} bytes of them"))
}

/// Every element has a place of its own in the bytes: else a small file would grow without bound when it is converted.
fn check_map(held: &Held) -> Result<(), String> {
    let layout = held.layout();
    if let Some((low, _)) = layout.layout().bounds()
        && low < 0
    {
        return Err(format!("reaches down to offset {low}, before its bytes begin"));
    }
    let crowded = layout.size() > layout.capacity();
    // Where it is not decided, at least the elements are not more than the places.
    if crowded || layout.injective().is_ok_and(|injective| !injective) {
        return Err("puts two elements in one place, as no conversion does".into());
    }
    Ok(())
}

/// The keys under which anything is noted of the tensor of this name.
pub(super) fn keys(name: &str) -> [String; 3] {
    [LAYOUT_KEY, FILL_KEY, DATA_KEY].map(|prefix| format!("{prefix}{name}"))
}

/// What is noted of the result of a job, as keys and texts; of data that are summed while they pass, [`record::NONE`]
/// stands for the fingerprint.
pub(super) fn of_job(job: &Job) -> Vec<(String, String)> {
    under(&job.name, job)
}

/// The same under a name of the tensor.
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

/// The bytes of a text in which [`record::NONE`] stands at these places for the fingerprints of jobs of these numbers,
/// as sections.
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

/// Where in a JSON text the fingerprints of jobs stand: `summed` are the names and numbers of those, and the keys of
/// an object stand in the order of their bytes.
pub(super) fn places<'a>(
    text: &str,
    summed: impl Iterator<Item = (&'a str, usize)>,
) -> Vec<(usize, usize)> {
    let mut summed: Vec<(String, usize)> =
        summed.map(|(name, number)| (format!("{DATA_KEY}{name}"), number)).collect();
    summed.sort();
    let (mut places, mut from) = (Vec::new(), 0);
    for (key, number) in summed {
        // A quote within a text stands behind a backslash: only a key with this value looks so.
        let pair = format!("{}:\"{}\"", serde_json::Value::from(key), record::NONE);
        let Some(found) = text.get(from..).and_then(|rest| rest.find(&pair)) else { continue };
        from += found + pair.len();
        places.push((from - 1 - record::NONE.len(), number));
    }
    places
}

/// What a key of metadata is to a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It says something else, or something of a tensor that is not there: results keep it.
    Other,
    /// A note of a tensor, which has its layout.
    Note,
    /// A fill or a fingerprint of a tensor without a layout, which means nothing: the note of a result takes its place.
    Stray,
}

impl Role {
    /// That of a key among those of a file with these tensors.
    pub(super) fn of(key: &str, tensors: &HashSet<&str>, known: &HashSet<&str>) -> Role {
        match about(key).filter(|name| tensors.contains(name)) {
            None => Role::Other,
            Some(name) if known.contains(format!("{LAYOUT_KEY}{name}").as_str()) => Role::Note,
            Some(_) => Role::Stray,
        }
    }

    /// The tensor with whose own layout what stands under a key goes.
    pub(super) fn goes_with(self, key: &str) -> Option<String> {
        about(key).filter(|_| self == Role::Stray).map(str::to_owned)
    }

    /// Whether a result keeps what stands under a key, where these tensors are not as they were.
    pub(super) fn stays(self, key: &str, moved: &HashSet<&str>) -> bool {
        match self {
            Role::Other => true,
            Role::Note => false,
            Role::Stray => about(key).is_none_or(|name| !moved.contains(name)),
        }
    }
}

/// The tensor that a key of a note is about.
pub(crate) fn about(key: &str) -> Option<&str> {
    [LAYOUT_KEY, FILL_KEY, DATA_KEY].iter().find_map(|prefix| key.strip_prefix(prefix))
}

/// The tensor whose data a key of metadata records.
pub(crate) fn data_of(key: &str) -> Option<&str> {
    key.strip_prefix(DATA_KEY)
}

/// The names of the tensors of which a result says something else than its input.
pub(super) fn moved<'a>(input: &Opened, jobs: &'a [Job]) -> HashSet<&'a str> {
    let anew = |job: &&Job| input.tensors.get(job.tensor).is_none_or(|own| job.says_anew(own));
    jobs.iter().filter(anew).map(|job| job.name.as_str()).collect()
}

/// The pairs that other tensors leave as they are, and those that are said anew: what is noted of tensors, which names
/// stand for tensors of others, and what was done to a file before, goes with them.
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
