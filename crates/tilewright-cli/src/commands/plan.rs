//! `convert --plan`: the files of all ranks from a checkpoint, by a plan of `learn read`, and back.

use std::path::Path;

use serde_json::json;
use tilewright::{
    Error,
    files::{self, Reading},
    learn::{self, Learned},
};

use crate::{
    args::Convert,
    failure::Failure,
    output::{ExitCode, Output},
    progress::Bar,
    spec,
};

/// The longest plan that is read, in bytes.
const LONGEST: u64 = 1 << 30;

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
    let (path, count) = (args.output.display().to_string(), reports.len());
    let bytes: u64 = reports.iter().map(files::Report::bytes_written).sum();
    let verified = if args.verify { ", verified" } else { "" };
    if !quiet || out.is_json() {
        out.answer(
            &format!("{path}: {count} files, {bytes} bytes{verified}\n"),
            json!({ "output": path, "files": count, "bytes": bytes, "verified": args.verify }),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a plan in JSON.
pub(super) fn read(path: &Path) -> Result<Learned, Failure> {
    let about = |error: Error| error.about(&path.display().to_string());
    let bytes = files::bytes(path, LONGEST)?;
    Ok(learn::from_bytes(&bytes).map_err(about)?)
}
