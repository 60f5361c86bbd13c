//! `emit`: a layout as code, or a move between two.

use serde_json::json;
use tilewright::{
    Error,
    device::Kernel,
    emit::{Kernels, Language, Style, Width, digits},
    files::FileLists,
    input::Array,
};

use crate::{args::Emit, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Emit, out: &mut Output) -> Result<ExitCode, Failure> {
    let language: Language = args.to.parse().map_err(|error| Error::from(error).in_field("to"))?;
    if let Some(target) = &args.target {
        return moved(args, target, language, out);
    }
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

/// Kernels that move an array to the layout `target`.
fn moved(
    args: &Emit,
    target: &str,
    language: Language,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    if language != Language::Cuda {
        let says = format!("kernels are printed in cuda, not in {}", language.name());
        return Err(Error::usage("to", says).into());
    }
    if args.inverse || !args.assume.is_empty() {
        let says = "--inverse and --assume are about functions of one SPEC, not about kernels";
        return Err(Failure::usage(says));
    }
    let array = Array::read(args.dims.as_deref(), args.dtype.as_deref())?;
    let [from, to] = array.both_tabled(&args.spec, target, &FileLists::default())?;
    let kernels = Kernels::between(&from, &to)?;
    let code = kernels.cuda(args.name.as_deref())?;
    let one = |kernel: &Kernel| {
        json!({
            "way": kernel.way().name(), "blocks": kernel.blocks(), "threads": kernel.threads(),
            "shared": kernel.shared(),
        })
    };
    let all: Vec<_> = kernels.kernels().iter().map(one).collect();
    let (src, dst) = kernels.bytes();
    let value = json!({
        "language": language.name(), "kernels": all, "src_bytes": src, "dst_bytes": dst, "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}
