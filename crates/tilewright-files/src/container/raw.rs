//! Raw bytes without a header: one array, whose dims, element type and layout the caller gives.

use std::path::Path;

use tilewright_core::Remedy;
use tilewright_notation::Spec;

use super::{
    array::{self, Stored},
    format::{Container, Expected, Format, OneArray, Opened, Opening},
    target::Target,
};
use crate::{
    Error, Job, Reading,
    held::{Held, check_width, width_in},
    reading::check_bytes,
    source::Source,
};

pub(crate) const FORMAT: Format = Format {
    name: "raw",
    shown: "raw:PATH",
    becomes: array::BECOMES,
    prefix: Some("raw:"),
    ending: None,
    recognises: |_, _| false,
    several: false,
    orders: false,
    open,
    array: Some(OneArray { container: || Box::new(Raw), result }),
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
    let Opening { source, reading, .. } = opening;
    let held = held(&source, reading)?;
    Ok(opened(source, held))
}

/// How the bytes lie, as the caller says.
fn held(source: &Source, reading: &Reading) -> Result<Held, Error> {
    let wrong = |said: String| Error::usage(format!("raw:{}: {said}", source.path().display()));
    let dims = reading.dims.as_deref();
    let spec = match &reading.from {
        Some(spec) => spec.clone(),
        None if dims.is_some() => {
            Spec::parse("row-major").map_err(|error| wrong(error.to_string()))?
        }
        None => {
            let error = wrong("raw bytes do not say which array they are".into());
            return Err(error.with(&[Remedy::Source, Remedy::DimsAndDtype]));
        }
    };
    let named = spec
        .resolve(dims, reading.dtype)
        .map_err(|error| wrong(error.to_string()).with(error.remedy().as_slice()))?;
    let (Some(dtype), Some(bits)) = (named.dtype(), width_in(&named)) else {
        return Err(wrong(format!("{spec} says no element type")).with(&[Remedy::Dtype]));
    };
    check_width(dtype, bits).map_err(|said| wrong(format!("{spec} says {said}")))?;
    let held = Held::of(&named, dtype, bits, named.fill())
        .and_then(|held| held.ordered(reading.order.unwrap_or_default()))
        .map_err(wrong)?;
    check_bytes(&held, source.len()).map_err(wrong)?;
    Ok(held)
}

fn opened(source: Source, held: Held) -> Opened {
    let stored = Stored::bytes(source.len());
    array::opened(source, Box::new(Raw), held, stored)
}

/// Bytes without a header. Their number must be that of the array asked for.
fn result(source: Source, expected: Expected<'_>) -> Result<Result<Opened, String>, Error> {
    let Some(to) = expected.to else {
        let path = source.path().display();
        let said = format!("raw:{path}: bytes without a header do not say how they lie");
        return Err(Error::usage(said).with(&[Remedy::Target]));
    };
    match to.bytes() {
        Some(bytes) if bytes != source.len() => {
            let (len, spec) = (source.len(), to.named.to_spec());
            Ok(Err(format!("the file has {len} bytes, {spec} takes {bytes}")))
        }
        _ => {
            check_bytes(to, source.len()).map_err(|said| Error::corrupt(source.path(), said))?;
            Ok(Ok(opened(source, to.clone())))
        }
    }
}
