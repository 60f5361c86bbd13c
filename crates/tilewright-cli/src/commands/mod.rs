//! The commands: a file for each, or for each group that shares its code. `completions`, which prints a script for a
//! shell, is here.

mod bench;
mod convert;
mod files;
mod learn;
mod plan;
mod question;
mod reshard;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};
use tilewright::{Error, files::Request, layouts::ParseError};

use crate::{
    args::{Cli, Command, JobArgs},
    failure::Failure,
    output::{ExitCode, Output},
    spec,
};

/// Runs the command and returns the exit code of its answer.
pub(crate) fn run(cli: &Cli, out: &mut Output) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Convert(args) => convert::run(args, cli.quiet, out),
        Command::Verify(args) => convert::run_verify(args, cli.quiet, out),
        Command::Fingerprint(args) => files::fingerprint(args, cli.quiet, out),
        Command::SameData(args) => files::same(args, cli.quiet, out),
        Command::Reshard(args) => reshard::run(args, cli.quiet, out),
        Command::Recipe(args) => files::recipe(args, out),
        Command::Info(args) => files::info(args, out),
        Command::Show(args) => question::show(args, out),
        Command::Explain(args) => match question::explain_shards(args, out) {
            Some(answered) => answered,
            None => question::explain(args, out),
        },
        Command::Translate(args) => match question::translate_shards(args, out) {
            Some(answered) => answered,
            None => question::translate(args, out),
        },
        Command::Index(args) => question::index(args, out),
        Command::Same(args) => question::same(args, out),
        Command::Shards(args) => question::shards(args, out),
        Command::Banks(args) => question::banks(args, out),
        Command::Emit(args) => question::emit(args, out),
        Command::Eval(args) => question::eval(args, out),
        Command::Formats(args) => question::formats(args, out),
        Command::Recognise(args) => question::recognise(args, out),
        Command::Infer(args) => files::infer(args, out),
        Command::Learn(args) => learn::run(&args.step, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Completions { shell } => completions(*shell, out),
    }
}

/// Returns the request of a conversion from the options that `convert` and `verify` share.
fn request(job: &JobArgs) -> Result<Request, Failure> {
    let mut request = Request::new()
        .memory(spec::read_size("--memory", &job.memory)?)
        .threads(spec::count("--threads", &job.threads)?)
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

fn completions(shell: Shell, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "tilewright", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
