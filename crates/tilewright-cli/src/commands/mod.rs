//! The commands, one in each file.

mod banks;
mod bench;
mod completions;
mod convert;
mod draw;
mod emit;
mod eval;
mod fingerprint;
mod how;
mod infer;
mod info;
mod lines;
mod question;
mod recast;
mod recipe;
mod reshard;
mod shards;
mod show;
mod simulate;
mod verify;

use tilewright::{Error, files::Request, layouts::ParseError};

use crate::{
    args::{Cli, Command, JobArgs},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    size, spec,
};

/// Runs the command and returns the exit code of its answer.
pub(crate) fn run(cli: &Cli, out: &mut Output) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Convert(args) => convert::run(args, cli.quiet, out),
        Command::Verify(args) => verify::run(args, cli.quiet, out),
        Command::Fingerprint(args) => fingerprint::run(args, cli.quiet, out),
        Command::SameData(args) => fingerprint::same(args, cli.quiet, out),
        Command::Reshard(args) => reshard::run(args, cli.quiet, out),
        Command::Recipe(args) => recipe::run(args, out),
        Command::Info(args) => info::run(args, out),
        Command::Show(args) => show::run(args, out),
        Command::Explain(args) => match shards::explain(args, out) {
            Some(answered) => answered,
            None => question::explain(args, out),
        },
        Command::Translate(args) => match shards::translate(args, out) {
            Some(answered) => answered,
            None => question::translate(args, out),
        },
        Command::Index(args) => question::index(args, out),
        Command::Same(args) => question::same(args, out),
        Command::Shards(args) => shards::run(args, out),
        Command::Banks(args) => banks::run(args, out),
        Command::Emit(args) => emit::run(args, out),
        Command::Eval(args) => eval::run(args, out),
        Command::Formats(args) => question::formats(args, out),
        Command::Recognise(args) => question::recognise(args, out),
        Command::Infer(args) => infer::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Completions { shell } => completions::run(*shell, out),
    }
}

/// Returns the request of a conversion from the options that `convert` and `verify` share.
fn request(job: &JobArgs) -> Result<Request, Failure> {
    let mut request = Request::new()
        .memory(size::read("--memory", &job.memory)?)
        .threads(size::count("--threads", &job.threads)?)
        .skip_unfit(job.skip_unfit);
    if let Some(to) = &job.to {
        request = request.to(spec::read("--to", to)?);
    }
    for rule in &job.rule {
        let (glob, text) = rule.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--rule {rule}: expected GLOB=SPEC, such as '*.weight=zN'"))
        })?;
        request = request.rule(glob, spec::read(&format!("--rule {glob}"), text)?);
    }
    for glob in &job.tensor {
        request = request.only(glob.as_str());
    }
    if let Some(from) = &job.from {
        request = request.from(spec::read("--from", from)?);
    }
    if let Some(text) = &job.store {
        request = request.store(store(text)?);
    }
    if let Some(text) = &job.fill {
        request = request.fill(fill(text)?);
    }
    if let Some(dims) = job.array.dims()? {
        request = request.dims(&dims);
    }
    if let Some((dtype, order)) = job.array.dtype_in_order()? {
        request = request.dtype(dtype);
        request = order.map_or(request.clone(), |order| request.order(order));
    }
    Ok(request)
}

/// Reads the value of `--store`.
fn store(text: &str) -> Result<tilewright::Dtype, Failure> {
    let read = tilewright::notation::dtype(text);
    read.map_err(|error| Failure::of(error).about(&format!("--store {text}")))
}

/// Reads the value of `--fill`.
fn fill(text: &str) -> Result<tilewright::Fill, Failure> {
    let text = text.trim();
    text.parse().map_err(|error: ParseError| {
        Failure::of(Error::from(error).in_text(text)).about(&format!("--fill {text}"))
    })
}
