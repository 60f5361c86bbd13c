//! `emit`: prints a layout as code, or a move between two layouts as kernels.

use serde_json::json;
use tilewright::{
    device::Kernel,
    emit::{Kernels, Runtime, Style, Width, digits, language},
    files::FileLists,
    input::Array,
};

use crate::{args::Emit, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Emit, out: &mut Output) -> Result<ExitCode, Failure> {
    if let Some(target) = &args.target {
        return moved(args, target, out);
    }
    let language = language(&args.to)?;
    let known: Vec<&str> = args.assume.iter().map(String::as_str).collect();
    let digits = digits(&args.spec, args.dims.as_deref(), args.dtype.as_deref(), &known)?;
    let made = if args.inverse { digits.coord() } else { digits.offset() };
    let function = made?;
    let bits = if args.bits.as_deref() == Some("32") { Width::Bits32 } else { Width::Bits64 };
    let style = Style { name: args.name.clone(), bits };
    let code = function.print(language, &style)?;
    let value = json!({
        "language": language.name(), "inverse": args.inverse, "arguments": function.arguments(),
        "operations": function.operations(), "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints kernels that move an array to the layout `target`.
fn moved(args: &Emit, target: &str, out: &mut Output) -> Result<ExitCode, Failure> {
    let runtime: Runtime = args.to.parse()?;
    if args.inverse || !args.assume.is_empty() || args.bits.is_some() {
        let says = "--inverse, --assume and --bits are about functions of one SPEC, not about kernels; \
                    those take numbers as wide as they need";
        return Err(Failure::usage(says));
    }
    let is_number = |dim: &str| dim.trim().parse::<u64>().is_ok();
    let named = args.dims.iter().flat_map(|dims| dims.split(',')).find(|dim| !is_number(dim));
    if let Some(name) = named {
        let says = format!(
            "--dims: kernels need numbers, such as 4096,4096, not {name:?}; named extents are for functions of one SPEC"
        );
        return Err(Failure::usage(says));
    }
    let array = Array::read(args.dims.as_deref(), args.dtype.as_deref())?;
    let [from, to] = array.array_layouts(&args.spec, target, &FileLists::default())?;
    let kernels = Kernels::between(&from, &to)?;
    let code = kernels.print(runtime, args.name.as_deref())?;
    let one = |kernel: &Kernel| {
        json!({
            "way": kernel.way().name(), "blocks": kernel.blocks(), "threads": kernel.threads(),
            "shared": kernel.shared(),
        })
    };
    let all: Vec<_> = kernels.kernels().iter().map(one).collect();
    let (src, dst) = kernels.bytes();
    let value = json!({
        "language": runtime.name(), "kernels": all, "src_bytes": src, "dst_bytes": dst, "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}
