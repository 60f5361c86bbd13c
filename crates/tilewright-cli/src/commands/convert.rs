//! `convert`: a file rewritten in another layout.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tilewright::files::{Action, Conversion, Job, Report, Request};

use crate::{
    args::Convert,
    exit::ExitCode,
    failure::Failure,
    output::{Output, printable},
    progress::Bar,
    size, streams,
};

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let request = request(args)?;
    let input = streams::open(&args.input, request.reading())?;
    let conversion = streams::prepare(&input, &args.output, request)?;
    if args.dry_run {
        out.answer(&plan(&conversion), value(&conversion, None))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = bar.outcome(match conversion.is_streamed() {
        true => conversion.run_to(&mut std::io::stdout().lock(), &bar),
        false => conversion.run(&bar),
    })?;
    let (text, value) = (summary(&conversion, &report), value(&conversion, Some(&report)));
    match conversion.is_streamed() {
        // The result itself went to standard output.
        true if quiet => {}
        true => out.note(&text, value),
        false => out.answer(&text, value)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: &Convert) -> Result<Request, Failure> {
    if args.job.to.is_none() && args.job.rule.is_empty() {
        return Err(Failure::usage("no layout to convert to; give --to SPEC or --rule GLOB=SPEC"));
    }
    let threads = size::count("--threads", &args.threads)?;
    Ok(super::request(&args.job)?.verify(args.verify).threads(threads).force(args.force))
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
    let name = printable(job.name());
    let bytes_in = || format!("{} bytes", job.bytes_in());
    let bytes = format!("{} -> {} bytes", job.bytes_in(), job.bytes_out());
    match job.action() {
        Action::Copy if job.is_already_so() => format!("{name}: already so, {}", bytes_in()),
        Action::Copy => format!("{name}: copied, {}", bytes_in()),
        Action::Skip(reason) => format!("{name}: skipped, {}", printable(reason)),
        Action::Convert => {
            let padding = job.padding();
            let share = if job.bytes_out() == 0 {
                0.0
            } else {
                100.0 * padding as f64 / job.bytes_out() as f64
            };
            format!(
                "{name}: {} -> {}, {bytes}, {padding} of padding ({share:.1} %), {}",
                printable(&job.from().to_spec()),
                printable(&job.to().to_spec()),
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
    let (count, padding) = converted
        .fold((0, 0), |(count, padding), job| (count + 1, job.padding().saturating_add(padding)));
    let bytes = jobs.iter().map(Job::bytes_out).fold(0, u64::saturating_add);
    let so = match (count, jobs.iter().filter(|job| job.is_already_so()).count()) {
        (0, 0) => ": nothing to convert".into(),
        (0, so) => format!(": nothing to convert, {so} already so"),
        (_, 0) => String::new(),
        (_, so) => format!(" ({so} already so)"),
    };
    format!(
        "{count} of {} tensors converted{so}, {} with {} of padding",
        jobs.len(),
        size::words(bytes),
        size::words(padding)
    )
}

fn value(conversion: &Conversion<'_>, report: Option<&Report>) -> Value {
    let tensors: Vec<Value> = conversion.jobs().iter().map(job_value).collect();
    let sum =
        |bytes: fn(&Job) -> u64| conversion.jobs().iter().map(bytes).fold(0, u64::saturating_add);
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
        Action::Copy => ("copy", job.is_already_so().then_some("already so")),
        Action::Skip(reason) => ("skip", Some(reason.as_str())),
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
