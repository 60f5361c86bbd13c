//! `convert`: a file rewritten in another layout.

use std::{fmt::Write as _, process::ExitCode};

use serde_json::{Value, json};
use tilewright::files::{Action, Conversion, Job, Report, Request, open};

use crate::{args::Convert, failure::Failure, output::Output, progress::Bar, size, spec};

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let request = request(args)?;
    let input = open(&args.input, request.reading())?;
    let conversion = Conversion::prepare(&input, &args.output, request)?;
    if args.dry_run {
        out.answer(&plan(&conversion), value(&conversion, None))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = conversion.run(&bar);
    bar.finish();
    let report = report?;
    out.answer(&summary(&conversion, &report), value(&conversion, Some(&report)))?;
    Ok(ExitCode::SUCCESS)
}

fn request(args: &Convert) -> Result<Request, Failure> {
    let mut request = Request::new()
        .verify(args.verify)
        .threads(args.threads)
        .memory(size::read("--memory", &args.memory)?)
        .force(args.force)
        .skip_unfit(args.skip_unfit);
    if let Some(to) = &args.to {
        request = request.to(spec::read("--to", to)?);
    }
    for rule in &args.rule {
        let (glob, text) = rule.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--rule {rule}: expected GLOB=SPEC, such as '*.weight=zN'"))
        })?;
        request = request.rule(glob, spec::read("--rule", text)?);
    }
    for glob in &args.tensor {
        request = request.only(glob.as_str());
    }
    if let Some(from) = &args.from {
        request = request.from(spec::read("--from", from)?);
    }
    if let Some(fill) = &args.fill {
        request = request.fill(super::fill(fill)?);
    }
    super::of_array(request, &args.array)
}

/// What `--dry-run` prints: a line for each tensor, then the sums.
fn plan(conversion: &Conversion<'_>) -> String {
    let mut text = String::new();
    for job in conversion.jobs() {
        let _ = writeln!(text, "{}", line(job));
    }
    let _ = writeln!(text, "{}", sums(conversion));
    text
}

fn line(job: &Job) -> String {
    let bytes = format!("{} -> {} bytes", job.bytes_in(), job.bytes_out());
    match job.action() {
        Action::Copy => format!("{}: copied, {} bytes", job.name(), job.bytes_in()),
        Action::Skip(reason) => format!("{}: skipped, {reason}", job.name()),
        Action::Convert => {
            let padding = job.padding();
            let share = if job.bytes_out() == 0 {
                0.0
            } else {
                100.0 * padding as f64 / job.bytes_out() as f64
            };
            format!(
                "{}: {} -> {}, {bytes}, {padding} of padding ({share:.1} %), {}",
                job.name(),
                job.from().to_spec(),
                job.to().to_spec(),
                job.kernel(),
            )
        }
    }
}

fn summary(conversion: &Conversion<'_>, report: &Report) -> String {
    let mut text = String::new();
    for job in conversion.jobs() {
        if let Action::Skip(_) = job.action() {
            let _ = writeln!(text, "{}", line(job));
        }
    }
    let _ = write!(text, "{}", sums(conversion));
    if let Some(bytes) = report.verified() {
        let _ = write!(text, ", {} verified", size::words(bytes));
    }
    text.push('\n');
    text
}

fn sums(conversion: &Conversion<'_>) -> String {
    let jobs = conversion.jobs();
    let converted = jobs.iter().filter(|job| matches!(job.action(), Action::Convert));
    let (count, padding) =
        converted.fold((0, 0), |(count, padding), job| (count + 1, padding + job.padding()));
    let bytes: u64 = jobs.iter().map(Job::bytes_out).sum();
    format!(
        "{count} of {} tensors converted, {} with {} of padding",
        jobs.len(),
        size::words(bytes),
        size::words(padding)
    )
}

fn value(conversion: &Conversion<'_>, report: Option<&Report>) -> Value {
    let tensors: Vec<Value> = conversion.jobs().iter().map(job_value).collect();
    let sum = |bytes: fn(&Job) -> u64| conversion.jobs().iter().map(bytes).sum::<u64>();
    json!({
        "tensors": tensors,
        "bytes_in": sum(Job::bytes_in),
        "bytes_out": sum(Job::bytes_out),
        "verified": report.and_then(Report::verified).is_some(),
        "dry_run": report.is_none(),
    })
}

fn job_value(job: &Job) -> Value {
    let (action, reason) = match job.action() {
        Action::Convert => ("convert", None),
        Action::Copy => ("copy", None),
        Action::Skip(reason) => ("skip", Some(reason)),
    };
    json!({
        "name": job.name(),
        "action": action,
        "from": job.from().to_spec(),
        "to": job.to().to_spec(),
        "bytes_in": job.bytes_in(),
        "bytes_out": job.bytes_out(),
        "padding_bytes": job.padding(),
        "kernel": job.kernel(),
        "reason": reason,
    })
}
