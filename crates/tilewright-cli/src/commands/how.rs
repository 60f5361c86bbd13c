//! Requests of `reshard` and its steps from their options.

use std::path::Path;

use tilewright::{
    Remedy,
    files::Collection,
    reshard::{Form, Job, Request, Rules},
};

use crate::{
    args::{How, ShardArgs},
    contents,
    failure::Failure,
    output::Output,
    remedy::option,
    size,
};

/// Returns the request for an input.
pub(super) fn request(input: &Path, output: &Path, how: &How) -> Result<Request, Failure> {
    let mut request = Request::new(input, output);
    if let Some(mesh) = &how.from_mesh {
        request = request.from(rules("--from-rule", mesh, &how.from_rule)?);
    }
    if let Some(mesh) = &how.mesh {
        request = request.to(rules("--rule", mesh, &how.rule)?);
    }
    if let Some(form) = how.form.as_deref().and_then(Form::parse) {
        request = request.form(form);
    }
    if let Some(format) = &how.format {
        request = request.format(format);
    }
    if let Some(path) = &how.metadata {
        request = request.metadata(path);
    }
    if let Some(spec) = &how.to {
        request = request.layout(spec);
    }
    if let Some(most) = &how.max_shard_size {
        request = request.shard_size(size::read("--max-shard-size", most)?);
    }
    if let Some(memory) = &how.memory {
        request = request.memory(size::read("--memory", memory)?);
    }
    for text in &how.extents {
        request = match dims(text) {
            Some((glob, extents)) => {
                request.extents(glob, &extents).map_err(Failure::of_request)?
            }
            None => listed(request, text)?,
        };
    }
    let request = request.trust_replicas(how.trust_replicas).drop_padding(how.drop_padding);
    Ok(request.trust_extents(how.trust_extents).trust_metadata(how.trust_metadata))
}

/// Returns the rules of a folder of shards that the options describe.
fn shard_rules(args: &ShardArgs) -> Result<Option<Rules>, Failure> {
    args.from_mesh.as_ref().map(|mesh| rules("--from-rule", mesh, &args.from_rule)).transpose()
}

/// Opens the arrays of each path that is a folder of shards.
pub(super) fn shards<const N: usize>(
    paths: [&Path; N],
    args: &ShardArgs,
) -> Result<[Option<Collection>; N], Failure> {
    let rules = shard_rules(args)?;
    let mut found = [const { None }; N];
    for (found, path) in found.iter_mut().zip(paths) {
        let opened = tilewright::reshard::shards(path, rules.as_ref());
        *found = opened.map_err(Failure::of_shards)?;
    }
    let is_used = found.iter().flatten().next().is_some();
    match args.from_mesh.is_none() || is_used {
        true => Ok(found),
        false => Err(Failure::usage("--from-mesh needs a folder with several files and no index")),
    }
}

/// Returns a pattern and the extents of the tensors that it matches.
fn dims(text: &str) -> Option<(&str, Vec<u64>)> {
    let (glob, dims) = text.rsplit_once('=')?;
    Some((glob, serde_json::from_str::<Vec<u64>>(dims.trim()).ok()?))
}

/// Adds the extents that a file lists to a request.
fn listed(request: Request, path: &str) -> Result<Request, Failure> {
    if !Path::new(path).exists() {
        let legal = "expected a file, or GLOB=DIMS such as 'embed.weight=[50257,64]'";
        return Err(Failure::usage(format!("--extents {path}: {legal}")));
    }
    let text = contents::text(Path::new(path), contents::LONGEST)
        .map_err(|failure| failure.about("--extents"))?;
    let about = |error| Failure::of_request(error).about(&format!("--extents {path}"));
    request.extents_text(&text).map_err(about)
}

/// Reads the rules of one side. A pattern ends at the first `=`, as in `convert`.
fn rules(option: &str, mesh: &str, texts: &[String]) -> Result<Rules, Failure> {
    texts.iter().try_fold(Rules::new(mesh).map_err(Failure::of_request)?, |rules, text| {
        let (glob, sharding) = text.split_once('=').ok_or_else(|| {
            let example = "'*_proj.weight=[Shard(0)]'";
            Failure::usage(format!("{option} {text}: expected GLOB=SHARDING, such as {example}"))
        })?;
        rules.rule(glob, sharding).map_err(Failure::of_request)
    })
}

/// Prints the remarks on a job. An assumption about missing extents is printed even if notes are off.
pub(super) fn remark(job: &Job, out: &Output) {
    if let Some(said) = job.assumption() {
        out.warn(&format!("{said}; {}", option(Remedy::Extents)));
    }
    job.remarks().for_each(|remark| out.remark(&remark));
}
