//! Commands for authors of kernels: `banks` finds bank conflicts of shared memory and the least change that removes
//! them; `emit` prints a layout as code, or a move between two layouts as kernels.

use std::fmt;

use serde_json::{Value, json};
use tilewright::{
    ask::{Answer, BankConflicts},
    banks,
    device::Kernel,
    draw::{self, Limits},
    emit::{Kernels, Runtime, Style, Width, digits, language},
    files::{self, FileLists},
    input::Array,
};

use crate::{
    args::{Banks, Emit},
    failure::Failure,
    output::{self, ExitCode, Output},
};

pub(super) fn run_banks(args: &Banks, out: &mut Output) -> Result<ExitCode, Failure> {
    let layout = args.array.read()?.layout("spec", &args.spec)?;
    let machine = banks::machine(&args.banks)?;
    let accesses: Vec<&str> = args.access.iter().map(String::as_str).collect();
    let report = BankConflicts::of(&layout, &accesses, args.vector, &machine, args.fix)?;
    if let Some(place) = &args.svg {
        let scene = draw::conflicts(&report, &Limits::default());
        files::write(place, scene.to_svg().as_bytes(), args.force)?;
    }
    let picture = args.draw.then(|| {
        let limits = Limits { rows: 12, columns: 8, ..Limits::default() };
        draw::conflicts(&report, &limits).to_terminal_within(false, output::width())
    });
    Ok(out.say(&Report { report, all: args.all, picture })?)
}

/// Report with the options of its printing.
struct Report {
    report: BankConflicts,
    /// True to print complete lists.
    all: bool,
    /// The picture after the report.
    picture: Option<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.report(self.all))?;
        match &self.picture {
            Some(picture) => write!(f, "\n{picture}"),
            None => Ok(()),
        }
    }
}

impl Answer for Report {
    fn to_json(&self) -> Value {
        self.report.to_json()
    }

    fn is_no(&self) -> bool {
        self.report.is_no()
    }
}

pub(super) fn emit(args: &Emit, out: &mut Output) -> Result<ExitCode, Failure> {
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
