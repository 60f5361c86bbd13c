//! `convert --plan`: the files of all ranks from a checkpoint, by a plan of `learn read`, and back.

use std::path::Path;

use serde_json::json;
use tilewright::{
    Error,
    files::{self, Reading},
    layouts::Counted,
    learn::{self, Learned},
};

use crate::{
    args::Convert,
    failure::Failure,
    output::{ExitCode, Output},
    progress::Bar,
    spec,
};

/// The most names in a message.
const LISTED: usize = 5;

/// The longest plan that is read, in bytes.
pub(super) const LONGEST: u64 = 1 << 30;

pub(super) fn run(
    args: &Convert,
    plan: &Path,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let learned = read(plan)?;
    let request = super::request(&args.job)?.verify(args.verify).force(args.force || args.dry_run);
    if args.dry_run {
        let said = "--dry-run: a plan lists its terms itself; `learn read` prints them";
        return Err(Failure::usage(said));
    }
    if args.output.as_os_str() == "-" {
        let said = "- is standard output, which takes no files of ranks; name a file or a folder";
        return Err(Failure::usage(said));
    }
    let memory = spec::read_size("--memory", &args.job.memory)?;
    let needed = learn::needed_memory(&learned, args.recast.inverse);
    if needed > memory {
        let said = format!(
            "the plan needs {needed} bytes beside its buffers, and --memory is {memory}; give more"
        );
        return Err(Failure::usage(said));
    }
    let bar = Bar::new(quiet || out.is_json());
    let reports = match args.recast.inverse {
        true => bar.outcome(
            learn::unpack(&learned, &args.input, &args.output, request, &bar)
                .map(|report| vec![report]),
        )?,
        false => {
            let input = files::open(&args.input, &Reading::default())?;
            bar.outcome(learn::pack(&learned, &input, &args.output, request, &bar))?
        }
    };
    let lost = learn::not_carried(&learned)?;
    if !lost.is_empty() {
        let its = if lost.len() == 1 { "its" } else { "their" };
        let lost = listed(&lost);
        out.warn(&format!("the result lacks {lost}: the plan moves none of {its} elements"));
    }
    let (path, count) = (args.output.display().to_string(), reports.len());
    let bytes: u64 = reports.iter().map(files::Report::bytes_written).sum();
    let verified = if args.verify { ", verified" } else { "" };
    if !quiet || out.is_json() {
        out.answer(
            &format!("{path}: {}, {bytes} bytes{verified}\n", Counted(count as u64, "file")),
            json!({
                "output": path,
                "files": count,
                "bytes": bytes,
                "verified": args.verify,
                "not_carried": lost,
            }),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the first names of a list, and the number of the others.
fn listed(names: &[&str]) -> String {
    let first = names[..names.len().min(LISTED)].join(", ");
    match names.len() - names.len().min(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Reads a plan.
fn read(path: &Path) -> Result<Learned, Failure> {
    let about = |error: Error| error.about(&path.display().to_string());
    let bytes = files::bytes(path, LONGEST)?;
    Ok(learn::from_bytes(&bytes).map_err(about)?)
}
