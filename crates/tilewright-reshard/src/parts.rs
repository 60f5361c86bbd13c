//! Splits a task into the parts in which it is moved: each part is written while its data are still in the cache. Runs,
//! verification and counts of calls use them.
//!
//! A box of a task may use half of the memory. Between its read and its write it would leave every cache, and each byte
//! would come from main memory again. So a box is moved in parts of at most [`LEAST`] bytes if both sides keep long
//! calls. If they do not, as between rows and columns, the bound is doubled until they do, up to the whole box. Parts
//! are a function of the plan and the task alone, so a later verification reads the parts that were written.

use crate::{
    Job, Task,
    cut::{Boxes, CutSide},
};

/// The smallest bound of a part in bytes: a part and the data that are read and written for it fit in a cache of 1 MiB.
const LEAST: u64 = 512 << 10;

impl Job {
    /// Returns the parts of a task, as tasks: they partition its box.
    pub(crate) fn parts(&self, task: &Task) -> impl Iterator<Item = Task> {
        let held = [&self.source.arrays, &self.output.arrays].map(|all| all.get(task.array));
        let (place, bits) = ((&*task.start, &*task.extents), held[0].map_or(8, |array| array.bits));
        let least = self.request.part.unwrap_or(LEAST);
        let cut = match held {
            [Some(from), Some(to)] if self.bytes_of(task) > least => {
                let sides = [from, to].map(|array| CutSide::new(&array.held, &array.extents));
                Boxes::of_box(place, u64::from(bits / 8), least, &sides)
            }
            _ => Boxes::of_box(place, u64::from(bits / 8), u64::MAX, &[]),
        };
        let (array, tensor) = (task.array, task.tensor.clone());
        (0..cut.count()).map(move |number| {
            let (start, extents) = cut.at(number);
            Task { array, tensor: tensor.clone(), start, extents }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, Rules, Tensor};

    /// Returns the tasks and parts of a matrix of 64 MiB, and the bytes of the largest part.
    fn parts(mesh: &str, rule: &str, layout: Option<&str>) -> (u64, usize, u64) {
        let rules = Rules::new(mesh).unwrap().rule("*", rule).unwrap();
        let request = Request::new("in", "out").to(rules).memory(64 << 20);
        let request = match layout {
            Some(spec) => request.layout(spec),
            None => request,
        };
        let job = Job::imagine(request, &[Tensor::new("w", "BF16", &[8192, 4096])]).unwrap();
        let all: Vec<Task> = (0..job.tasks())
            .flat_map(|n| job.parts(&job.task(n).unwrap()).collect::<Vec<_>>())
            .collect();
        let bytes = all.iter().map(|part| job.bytes_of(part));
        assert_eq!(bytes.clone().sum::<u64>(), 64 << 20);
        (job.tasks(), all.len(), bytes.max().unwrap())
    }

    /// With a lower bound a small box has several parts, and a plan keeps the bound.
    #[test]
    fn the_bound_of_parts_is_part_of_the_plan() {
        let rules = Rules::new("tp=2").unwrap().rule("*", "[Shard(1)]").unwrap();
        let tensor = [Tensor::new("w", "BF16", &[31, 31])];
        let of = |request: Request| {
            let job = Job::imagine(request, &tensor).unwrap();
            assert_eq!(job.tasks(), 1);
            let parts = job.parts(&job.task(0).unwrap()).count();
            (parts, job.id().to_owned(), String::from_utf8(job.plan().unwrap()).unwrap())
        };
        let request = Request::new("in", "out").to(rules);
        let (one, id, plan) = of(request.clone());
        let (several, other, with) = of(request.part(64));
        assert!(one == 1 && several > 4 && id != other, "{several}");
        assert!(with.contains("\"part\":64") && !plan.contains("\"part\""));
    }

    #[test]
    fn parts_are_small_where_calls_stay_long() {
        assert_eq!(parts("tp=8", "[Shard(0)]", None), (2, 128, LEAST));
        assert_eq!(parts("tp=8", "[Shard(1)]", None), (2, 64, 2 * LEAST));
        // A call that is one of 128 would write little for a small part.
        assert_eq!(parts("tp=128", "[Shard(1)]", None), (2, 4, 16 << 20));
        // A transpose has short calls in every part.
        assert_eq!(parts("tp=1", "[Shard(0)]", Some("col-major")), (2, 2, 32 << 20));
    }
}
