//! `learn`: coded checkpoints for an engine, and what it made of them.

use std::path::Path;

use serde_json::{Value, json};
use tilewright::{
    Error, Remedy,
    files::{self, Reading, inner::check_local},
    layouts::Counted,
    learn::{self, Dropped, Learned, Predicted, Probe, Report},
};

use super::plan;
use crate::{
    args::{LearnConfirm, LearnMake, LearnPredict, LearnRead, LearnStep},
    failure::Failure,
    output::{ExitCode, Output},
};

pub(super) fn run(step: &LearnStep, out: &mut Output) -> Result<ExitCode, Failure> {
    let paths = match step {
        LearnStep::Make(args) => vec![&args.probe],
        LearnStep::Read(args) => [&args.probe, &args.dumps].into_iter().chain(&args.plan).collect(),
        LearnStep::Predict(args) => args.plans.iter().chain([&args.output]).collect(),
        LearnStep::Confirm(args) => vec![&args.predicted, &args.dump, &args.output],
    };
    paths.iter().try_for_each(|path| check_local(path, "a probe, a dump or a plan"))?;
    match step {
        LearnStep::Make(args) => make(args, out),
        LearnStep::Read(args) => read(args, out),
        LearnStep::Predict(args) => predict(args, out),
        LearnStep::Confirm(args) => confirm(args, out),
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
        "{}: {}, {}: {}\n",
        args.probe.display(),
        Counted(tensors as u64, "tensor"),
        Counted(loads.len() as u64, "load"),
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
    dropped.check(names).map_err(|error| error.about("--drop"))?;
    if let Some(path) = &args.plan {
        check_free(path, args.force)?;
    }
    let mut learned = probe.learn(&args.dumps)?;
    let differs = |learned: &Learned| -> Result<Option<String>, Error> {
        Ok(probe.check(learned, &args.dumps)?.map(|found| learn::differs(learned, &found)))
    };
    let mut differing = differs(&learned)?;
    let mut contradicted = 0;
    if args.partial && differing.is_some() {
        let before = unexplained(&learned);
        learned = probe.without(&learned, &args.dumps)?;
        contradicted = unexplained(&learned) - before;
        differing = differs(&learned)?;
    }
    let report = Report::of(&learned, &|name| dropped.has(name))?;
    let mut faults = report.faults();
    faults.extend(differing.clone());
    let complete = faults.is_empty();
    let said = differing.as_ref().map_or(String::new(), |said| format!("{said}\n"));
    let moves = learned.results.iter().any(|learnt| !learnt.description.terms().is_empty());
    let checked = match (&differing, moves) {
        (None, _) if contradicted > 0 => format!(
            "{contradicted} elements count as computed, because fresh data contradict them or others of their array; \
             a probe with another --seed tests what is left\n"
        ),
        (None, true) => "fresh data agree\n".to_owned(),
        (None, false) => {
            "nothing to compare: no array holds an element of the checkpoint\n".to_owned()
        }
        (Some(_), _) => String::new(),
    };
    let mut value = json!({ "complete": complete, "faults": faults, "contradicted": contradicted });
    let plan = sized(&learned, &args.probe)?;
    value["plan"] = if out.is_json() { plan.clone() } else { Value::Null };
    out.answer(&format!("{report}{said}{checked}"), value)?;
    // A plan that fresh data contradict is not one.
    if let Some(path) =
        args.plan.as_ref().filter(|_| differing.is_none() && (complete || args.partial))
    {
        save(&plan, path, args.force)?;
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::NO })
}

/// Returns the number of elements that are not explained.
fn unexplained(learned: &Learned) -> u64 {
    let of_results = learned.results.iter().filter_map(|learnt| learnt.unexplained.as_ref());
    of_results.map(|unexplained| unexplained.count).sum()
}

/// Returns a plan with the sizes of the probe's configuration.
fn sized(learned: &Learned, probe: &Path) -> Result<Value, Error> {
    let mut plan = learn::to_json(learned);
    if let Some(sizes) = learn::config_sizes(&probe.join("load0"), learn::ranks(learned) as u64)? {
        plan["sizes"] = json!(sizes);
    }
    Ok(plan)
}

/// Predicts the plan for a checkpoint of other sizes, and writes it.
fn predict(args: &LearnPredict, out: &mut Output) -> Result<ExitCode, Failure> {
    check_free(&args.output, args.force)?;
    let path = args.model.display();
    let sizes = learn::config_sizes(&args.model, args.ranks)?.ok_or_else(|| {
        Failure::usage(format!(
            "{path} lacks config.json, which names the sizes; name the folder of a checkpoint"
        ))
    })?;
    let mut known = Vec::new();
    for plan in &args.plans {
        let name = plan.display().to_string();
        let bytes = files::bytes(plan, plan::LONGEST)?;
        let (own, learned) = learn::sized_plan(&bytes).map_err(|error| error.about(&name))?;
        if own.is_empty() {
            let said = "lacks sizes; `learn read` writes them if the probe has config.json";
            return Err(Failure::usage(format!("{name} {said}")));
        }
        known.push((own, learned));
    }
    let input = files::open(&args.model, &Reading::default())?;
    let predicted = learn::predict_for(&input, &sizes, &known)?;
    save(&predicted.to_json(), &args.output, args.force)?;
    let (written, formulas) = (args.output.display().to_string(), &predicted.formulas);
    let lines: String = formulas.iter().map(|formula| format!("    {formula}\n")).collect();
    let results = Counted(predicted.plan.results.len() as u64, "array");
    let sources = Counted(predicted.plan.sources.len() as u64, "tensor");
    out.answer(
        &format!("{lines}{written}: {results} from {sources}, predicted; `learn confirm` compares it with one load\n"),
        json!({ "output": written, "predicted": true, "formulas": formulas, "plan": predicted.to_json() }),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Compares a predicted plan with the arrays of one load, and writes it as a plan if they agree.
fn confirm(args: &LearnConfirm, out: &mut Output) -> Result<ExitCode, Failure> {
    check_free(&args.output, args.force)?;
    let bytes = files::bytes(&args.predicted, plan::LONGEST)?;
    let about = |error: Error| error.about(&args.predicted.display().to_string());
    let predicted = Predicted::from_bytes(&bytes).map_err(about)?;
    let input = files::open(&args.model, &Reading::default())?;
    let (said, code) = match learn::confirm(predicted.clone(), &input, &args.dump)? {
        Ok(_) => {
            save(&predicted.learned_json(), &args.output, args.force)?;
            (None, ExitCode::SUCCESS)
        }
        Err(found) => (Some(learn::differs(&predicted.plan, &found)), ExitCode::NO),
    };
    let written = args.output.display();
    let agrees = "the load agrees; elements of equal values, such as zeros, are not told apart";
    let text = said.clone().unwrap_or_else(|| format!("{written}: {agrees}"));
    out.answer(&format!("{text}\n"), json!({ "agrees": said.is_none(), "differs": said }))?;
    Ok(code)
}

/// Checks that a plan may be written, before work of minutes.
fn check_free(path: &Path, force: bool) -> Result<(), Failure> {
    if force || path.symlink_metadata().is_err() {
        return Ok(());
    }
    let said = format!("{} exists already", path.display());
    Err(Error::new("exists", said).with(&[Remedy::Overwrite]).into())
}

/// Writes a plan, which is whole or absent.
fn save(plan: &Value, path: &Path, force: bool) -> Result<(), Failure> {
    let text = match path.extension().is_some_and(|ending| ending == "json") {
        true => format!("{plan}\n"),
        false => learn::to_toml(plan),
    };
    Ok(files::write(path, text.as_bytes(), force)?)
}
