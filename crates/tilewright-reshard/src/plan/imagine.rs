//! Jobs over checkpoints that do not exist: tensors by their names and extents, and the rules of both sides. The
//! program's `simulate` and benchmarks use them.

use std::path::PathBuf;

use crate::{
    Error, Form, Job, Request,
    plan::{
        array::{LocalArrays, ReshardedArray, shared},
        target,
    },
    request::tensor::{Elements, Tensor},
    source::{checkpoint::Checkpoint, identity::Identity},
};

use std::{collections::HashMap, sync::Arc};

/// Makes the array of a described tensor.
fn array(tensor: &Tensor) -> Result<ReshardedArray, Error> {
    let elements = Elements::of(&tensor.dtype)
        .map_err(|error| error.about(&format!("tensor {:?}", tensor.name)))?;
    let own = elements.dtype.safetensors_name().unwrap_or(&tensor.dtype);
    let laid = elements.laid(own, &tensor.extents)?;
    Ok(ReshardedArray::of(
        tensor.name.as_str().into(),
        &laid,
        tensor.extents.clone(),
        Arc::default(),
    ))
}

impl Job {
    /// Makes the job of a request whose input does not exist, but would hold these tensors by the request's rules. It
    /// answers every question, but cannot be run.
    ///
    /// # Errors
    /// As [`Job::prepare`], without those of files.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request, Rules, Tensor};
    /// let tensor = Tensor::new("w", "BF16", &[4096, 8192]);
    /// let rules = |mesh, rule| Rules::new(mesh).unwrap().rule("*", rule).unwrap();
    /// let request = Request::new("in", "out").from(rules("dp=4", "[Shard(0)]")).to(rules("tp=8", "[Shard(1)]"));
    /// let job = Job::imagine(request, &[tensor]).unwrap();
    /// let calls = job.calls(0..job.tasks()).unwrap();
    /// // One task reads four files in one piece each, and writes eight files with whole local rows.
    /// assert_eq!((calls.reads, calls.writes, calls.read_bytes), (4, 8, 64 << 20));
    /// ```
    pub fn imagine(request: Request, tensors: &[Tensor]) -> Result<Job, Error> {
        let arrays = tensors.iter().map(array).collect::<Result<Vec<_>, Error>>()?;
        let source = Request { to: request.from.clone(), ..Request::new("", "") };
        let source = match &source.to {
            Some(_) => source.form(Form::Ranks),
            // Files of whole tensors have about this length, as on the Hugging Face hub.
            None => source.shard_size(5 << 30),
        };
        let held = target::output(&source, &arrays, &std::collections::BTreeMap::new(), None)?;
        let mut alike = HashMap::new();
        let settled = |array: ReshardedArray| {
            let key = Arc::as_ptr(&array.held);
            let settle = || {
                let held = LocalArrays::clone(&array.held);
                Ok(Arc::new(held.settle(&array.name, &array.extents, &|_| String::new())?))
            };
            let held = shared(&mut alike, key, settle)?;
            Ok(ReshardedArray { held, ..array })
        };
        // The pieces stay alive while their addresses are keys.
        let kept = held.arrays.clone();
        let arrays = held.arrays.into_iter().map(settled).collect::<Result<_, Error>>()?;
        drop(kept);
        let file = |file: target::File| Identity {
            path: PathBuf::from(file.name),
            bytes: file.bytes,
            changed: 0,
            header: String::new(),
        };
        let files = held.files.into_iter().map(file).collect();
        let mut checkpoint =
            Checkpoint { files, arrays, places: held.places, ..Checkpoint::default() };
        checkpoint.trust(&request);
        Job::assemble(request, checkpoint)
    }
}
