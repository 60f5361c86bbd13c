//! What metadata keeps of tensors whose layout the format itself cannot say: a SPEC under the tensor's name,
//! and what padding is promised to hold. A conversion back needs nothing else.

use std::collections::{HashMap, HashSet};

use tilewright_core::{ByteOrder, Fill};
use tilewright_notation::{Named, Spec};

use crate::{
    Job, dtype,
    held::{Held, bytes_of, check_width, width_in},
    names,
};

/// Under this prefix and its name, metadata keeps the layout of a tensor.
pub(super) const LAYOUT_KEY: &str = "tilewright.layout.";

/// Under this prefix and its name, metadata keeps what a tensor's padding is promised to hold.
pub(super) const FILL_KEY: &str = "tilewright.fill.";

/// What is noted of a tensor.
pub(super) struct Note<'a> {
    pub(super) layout: &'a str,
    pub(super) fill: Option<&'a str>,
}

/// What metadata notes of the tensor of this name.
pub(super) fn of<'a>(known: &HashMap<&str, &'a str>, name: &str) -> Option<Note<'a>> {
    let noted = |prefix: &str| known.get(format!("{prefix}{name}").as_str()).copied();
    Some(Note { layout: noted(LAYOUT_KEY)?, fill: noted(FILL_KEY) })
}

impl Note<'_> {
    /// The layout, if it can be that of a tensor of `len` bytes which the file stores as `is_stored` says;
    /// the error ends a sentence that begins with the metadata's key. `order` is what the file says itself
    /// of the order of an element's bytes, where files of its format can.
    pub(super) fn read(
        &self,
        len: u64,
        order: Option<ByteOrder>,
        is_stored: impl FnOnce(&Held) -> Result<(), String>,
    ) -> Result<Held, String> {
        let text = names::clipped(self.layout);
        let spec =
            Spec::parse_built_in(self.layout).map_err(|error| format!(" is {text:?}: {error}"))?;
        let named = spec.resolve(None, None).map_err(|error| format!(" is {text:?}: {error}"))?;
        let named = as_written(&spec, named, len);
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
        let held = Held::of(&named, dtype, bits, fill).and_then(|held| held.ordered(order));
        let held = held.map_err(|said| format!(" is {text:?}: {said}"))?;
        dtype.stored_fill(fill, bits, order).map_err(|error| {
            format!(" is {text:?}, with a fill of {}: {error}", dtype::fill_text(fill))
        })?;
        check_bytes(&held, len)
            .and_then(|()| check_map(&held))
            .and_then(|()| is_stored(&held))
            .map_err(|said| format!(" is {text:?}, which {said}"))?;
        Ok(held)
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
pub(super) fn keys(name: &str) -> [String; 2] {
    [format!("{LAYOUT_KEY}{name}"), format!("{FILL_KEY}{name}")]
}

/// What is noted of the result of a job, as keys and texts.
pub(super) fn of_job(job: &Job) -> Vec<(String, String)> {
    under(&job.name, job)
}

/// The same under a name of the tensor.
pub(super) fn under(name: &str, job: &Job) -> Vec<(String, String)> {
    let ([layout, fill], to) = (keys(name), &job.to.named);
    let promised = to.fill().is_promised().then(|| (fill, dtype::fill_text(to.fill())));
    [(layout, to.to_spec())].into_iter().chain(promised).collect()
}

/// What a key of metadata is to a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It says something else, or something of a tensor that is not there: results keep it.
    Other,
    /// A note of a tensor, which has its layout.
    Note,
    /// A fill of a tensor without a layout, which means nothing: the note of a result takes its place.
    Stray,
}

impl Role {
    /// That of a key among those of a file with these tensors.
    pub(super) fn of(key: &str, tensors: &HashSet<&str>, known: &HashSet<&str>) -> Role {
        let (layout, fill) = (key.strip_prefix(LAYOUT_KEY), key.strip_prefix(FILL_KEY));
        match layout.or(fill).filter(|name| tensors.contains(name)) {
            None => Role::Other,
            Some(name) if known.contains(format!("{LAYOUT_KEY}{name}").as_str()) => Role::Note,
            Some(_) => Role::Stray,
        }
    }
}
