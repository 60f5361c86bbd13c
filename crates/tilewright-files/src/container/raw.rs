//! Raw bytes without a header: one array, whose dims, element type and layout the caller gives.

use std::path::Path;

use tilewright_core::{ByteOrder, Remedy};
use tilewright_notation::Spec;

use super::{
    array::{self, Stored},
    format::{Container, Expected, Format, OneArray, Opened, Opening},
    metadata_notes::Noted,
    target::Target,
};
use crate::{
    Error, Job, Reading, error,
    layout::{
        element_layout::{ElementLayout, bytes_of, check_width, width_in},
        note_file::Texts,
        record::Recorded,
    },
    open::{lists::in_files::ListsInFiles, reading::check_bytes, source::Source},
};

pub(crate) const FORMAT: Format = Format {
    name: "raw",
    shown: "raw:PATH",
    becomes: array::BECOMES,
    prefix: Some("raw:"),
    ending: None,
    recognises: |_, _| false,
    several: false,
    splits: false,
    orders: false,
    ties: false,
    longest_name: None,
    open,
    create: Some(|_| Box::new(Raw)),
    alone: true,
    array: Some(OneArray { says, result }),
    describes: None,
};

#[derive(Debug)]
struct Raw;

impl Container for Raw {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, _: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        Ok(vec![Target::new(path, Vec::new(), 0..jobs.len())])
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let Opening { source, reading, note, .. } = opening;
    let plain = || held(&source, reading);
    let (noted, facts) = (noted(&source, note)?, (source.len(), None));
    let held = array::held(&source, noted, plain, facts, (reading, "raw:"))?;
    Ok(opened(source, held))
}

/// Returns the layout that is noted beside the file.
fn noted(source: &Source, note: &Texts) -> Result<Option<Noted>, Error> {
    array::noted(source, note, (source.len(), ByteOrder::Little), |_| Ok(()))
}

/// Raw bytes record neither a type nor dims.
fn says(_: &str, _: &ElementLayout) -> bool {
    false
}

/// Returns the layout that the caller gives.
fn held(source: &Source, reading: &Reading) -> Result<ElementLayout, Error> {
    let wrong = |said: String| error::usage(format!("raw:{}: {said}", source.path().display()));
    let dims = reading.dims.as_deref();
    let spec = match &reading.from {
        Some(spec) => spec.clone(),
        None if dims.is_some() => {
            Spec::parse("row-major").map_err(|error| wrong(error.message().to_owned()))?
        }
        None => {
            let error = wrong("raw bytes have no dims, element type or layout".into());
            return Err(error.with(&[Remedy::Source, Remedy::DimsAndDtype]));
        }
    };
    let tabled = spec
        .array_layout(dims, reading.dtype, &ListsInFiles)
        .map_err(|error| wrong(error.message().to_owned()).with(error.remedies()))?;
    let named = tabled.stored();
    let (Some(dtype), Some(bits)) = (named.dtype(), width_in(named)) else {
        return Err(wrong(format!("{spec} has no element type")).with(&[Remedy::Dtype]));
    };
    check_width(dtype, bits).map_err(|said| wrong(format!("{spec} says {said}")))?;
    let held = ElementLayout::of(named, dtype, bits, named.fill())
        .and_then(|held| held.with_tables(&tabled))
        .and_then(|held| held.ordered(reading.order_of(named.byte_order())?.unwrap_or_default()))
        .map_err(wrong)?;
    check_bytes(&held, source.len()).map_err(|said| wrong(said + &packed(&held, source.len())))?;
    Ok(held)
}

/// Returns a hint on packed elements, if packed elements would have this length.
fn packed(held: &ElementLayout, len: u64) -> String {
    let fits = |bits: &u32| bytes_of(held.layout().capacity(), *bits) == Some(len);
    match held.dtype.packed_bits().filter(|bits| *bits < held.bits).filter(fits) {
        Some(bits) => {
            let (shape, name) = (held.dims(), held.named.name());
            format!(
                "; packed elements of {bits} bits have this length: `{}{shape:?}E({bits}) {name}`",
                held.dtype
            )
        }
        None => String::new(),
    }
}

fn opened(source: Source, held: (ElementLayout, Option<Recorded>)) -> Opened {
    let stored = Stored::bytes(source.len());
    array::opened(source, Box::new(Raw), held, stored)
}

/// Opens raw bytes as a result. Their number must be that of the requested array.
fn result(source: Source, expected: Expected<'_>) -> Result<Result<Opened, String>, Error> {
    if let Some(Noted { held, data }) = noted(&source, expected.note)? {
        return Ok(Ok(opened(source, (held, Some(Recorded { data })))));
    }
    let Some(to) = expected.to else {
        let path = source.path().display();
        let said = format!("raw:{path}: raw bytes have no header that states a layout");
        return Err(error::usage(said).with(&[Remedy::Target]));
    };
    match to.bytes() {
        Some(bytes) if bytes != source.len() => {
            let (len, spec) = (source.len(), to.spec());
            Ok(Err(format!("the file has {len} bytes, {spec} takes {bytes}")))
        }
        _ => {
            check_bytes(to, source.len()).map_err(|said| error::corrupt(source.path(), said))?;
            Ok(Ok(opened(source, (to.clone(), None))))
        }
    }
}
