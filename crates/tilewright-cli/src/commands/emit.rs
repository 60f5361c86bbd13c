//! `emit`: a layout as code.

use serde_json::json;
use tilewright::{
    Error,
    emit::{Language, Style, Width, digits},
};

use crate::{args::Emit, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Emit, out: &mut Output) -> Result<ExitCode, Failure> {
    let language: Language = args.to.parse().map_err(|error| Error::from(error).in_field("to"))?;
    let known: Vec<&str> = args.assume.iter().map(String::as_str).collect();
    let digits = digits(&args.spec, args.dims.as_deref(), args.dtype.as_deref(), &known)?;
    let made = if args.inverse { digits.coord() } else { digits.offset() };
    let function = made.map_err(Error::from)?;
    let bits = if args.bits == "32" { Width::Bits32 } else { Width::Bits64 };
    let style = Style { name: args.name.clone(), bits };
    let code = function.print(language, &style).map_err(Error::from)?;
    let value = json!({
        "language": language.name(), "inverse": args.inverse, "arguments": function.arguments(),
        "operations": function.operations(), "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}
