//! `learn`: coded checkpoints for an engine, and what it made of them.

use std::path::Path;

use serde_json::{Value, json};
use tilewright::{
    Error,
    files::{self, Reading},
    learn::{self, Dropped, Learned, Probe, Report},
};

use crate::{
    args::{LearnMake, LearnRead, LearnStep},
    failure::Failure,
    output::{ExitCode, Output},
};

pub(super) fn run(step: &LearnStep, out: &mut Output) -> Result<ExitCode, Failure> {
    let written = match step {
        LearnStep::Make(args) => vec![&args.probe],
        LearnStep::Read(args) => [&args.probe, &args.dumps].into_iter().chain(&args.plan).collect(),
    };
    if let Some(url) = written.iter().find(|path| path.to_string_lossy().contains("://")) {
        let url = url.display();
        return Err(Failure::usage(format!(
            "{url}: probes, dumps and plans are on this machine; name a path"
        )));
    }
    match step {
        LearnStep::Make(args) => make(args, out),
        LearnStep::Read(args) => read(args, out),
    }
}

/// Writes the coded checkpoints.
fn make(args: &LearnMake, out: &mut Output) -> Result<ExitCode, Failure> {
    let input = files::open(&args.model, &Reading::default())?;
    let probe = Probe::of(&input, args.seed)?;
    let beside = args.model.is_dir().then_some(&*args.model);
    probe.write(&args.probe, Some(&input), beside)?;
    let (loads, tensors) = (probe.loads()?, probe.tensors.len());
    let text = format!(
        "{}: {tensors} tensors, {} loads: {}\n",
        args.probe.display(),
        loads.len(),
        loads.join(", ")
    );
    out.answer(
        &text,
        json!({ "probe": args.probe.display().to_string(), "tensors": tensors, "loads": loads }),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the dumps, prints the report, and writes the plan.
fn read(args: &LearnRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let probe = Probe::open(&args.probe)?;
    let dropped = Dropped::new(&args.drop)?;
    let names = probe.tensors.iter().map(|tensor| tensor.name.as_str());
    let unmatched: Vec<&str> = dropped.unmatched(names).collect();
    for pattern in &unmatched {
        out.warn(&format!("--drop {pattern}: no tensor of the probe matches"));
    }
    let mut learned = probe.learn(&args.dumps)?;
    let differs = |learned: &Learned| -> Result<Option<String>, Error> {
        Ok(probe.check(learned, &args.dumps)?.map(|found| learn::differs(learned, &found)))
    };
    let mut differing = differs(&learned)?;
    if args.partial && differing.is_some() {
        learned = probe.without(&learned, &args.dumps)?;
        differing = differs(&learned)?;
    }
    let report = Report::of(&learned, &|name| dropped.has(name))?;
    let mut faults = report.faults();
    faults.extend(differing.clone());
    let complete = faults.is_empty();
    let said = differing.as_ref().map_or(String::new(), |said| format!("{said}\n"));
    let moves = learned.results.iter().any(|learnt| !learnt.description.terms().is_empty());
    let checked = match (&differing, moves) {
        (None, true) => "fresh data agree\n",
        (None, false) => "nothing to compare: no array holds an element of the checkpoint\n",
        (Some(_), _) => "",
    };
    let mut value = json!({ "complete": complete, "faults": faults, "unmatched": unmatched });
    value["plan"] = if out.is_json() { learn::to_json(&learned) } else { Value::Null };
    out.answer(&format!("{report}{said}{checked}"), value)?;
    // A plan that fresh data contradict is not one.
    if let Some(plan) =
        args.plan.as_ref().filter(|_| differing.is_none() && (complete || args.partial))
    {
        save(&learned, plan)?;
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::NO })
}

/// Writes a plan.
fn save(learned: &Learned, path: &Path) -> Result<(), Failure> {
    let text = match path.extension().is_some_and(|ending| ending == "json") {
        true => format!("{}\n", learn::to_json(learned)),
        false => learn::to_toml(learned),
    };
    std::fs::write(path, text)
        .map_err(|error| Error::from(error).about(&path.display().to_string()))?;
    Ok(())
}
