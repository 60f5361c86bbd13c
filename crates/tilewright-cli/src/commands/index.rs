//! `index`: coordinate to offset, or back.

use serde_json::{Value, json};
use tilewright::{Named, Place};

use super::NO;
use crate::{args::Index, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Index, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    match (&args.coord, args.offset) {
        (Some(coord), _) => offset_of(&named, coord, out),
        (None, Some(offset)) => place_of(&named, offset, out),
        (None, None) => Err(Failure::usage("give --coord or --offset")),
    }
}

fn offset_of(named: &Named, coord: &str, out: &mut Output) -> Result<ExitCode, Failure> {
    let coord = spec::integers("--coord", coord)?;
    let layout = named.layout();
    let offset = if let ([index], true) = (&coord[..], named.is_bare() && layout.rank() != 1) {
        layout.layout().offset_of(*index)?
    } else {
        layout.offset(&coord)?
    };
    let bit = named.element_bits().map(|bits| i128::from(offset) * i128::from(bits));
    let text = match bit {
        None => format!("{offset}\n"),
        Some(bit)
            if bit.rem_euclid(8) == 0 && named.element_bits().is_some_and(|bits| bits % 8 == 0) =>
        {
            format!("{offset} (byte {})\n", bit.div_euclid(8))
        }
        Some(bit) => format!("{offset} (byte {}, bit {})\n", bit.div_euclid(8), bit.rem_euclid(8)),
    };
    let mut value = json!({ "offset": offset });
    if let Some(bit) = bit {
        value["byte"] = json!(i64::try_from(bit.div_euclid(8)).ok());
        value["bit"] = json!(bit.rem_euclid(8) as u8);
    }
    out.answer(&text, value)?;
    Ok(ExitCode::SUCCESS)
}

fn place_of(named: &Named, offset: i64, out: &mut Output) -> Result<ExitCode, Failure> {
    let (text, coord, code): (String, Value, u8) = match named.layout().locate(offset)? {
        Place::Element(coord) => (coord.to_string(), json!(coord.as_slice()), 0),
        Place::Padding => ("padding".into(), Value::Null, 0),
        Place::OutOfRange => ("out of range".into(), Value::Null, NO),
    };
    let kind = if coord.is_null() { text.as_str() } else { "element" };
    let value = json!({ "place": kind, "coord": coord });
    out.answer(&format!("{text}\n"), value)?;
    Ok(ExitCode::from(code))
}
