//! Arrays of several runs as one: kernels of equal texts share a launch, by the entry for many.

use std::fmt::Write as _;

use super::simulator::{Launch, Orders, Run, begin, numbers};

/// Several runs with the same launches as one.
#[derive(Clone, Debug)]
pub struct Together {
    pub name: String,
    pub runs: Vec<Run>,
    /// The change of the search that is on.
    pub mutant: Option<u32>,
}

/// The launches of a text, with the number of the run of each.
pub type Group<'a> = (usize, Vec<(usize, &'a Launch)>);

impl Together {
    pub fn new(name: impl Into<String>, runs: &[Run]) -> Together {
        Together { name: name.into(), runs: runs.to_vec(), mutant: None }
    }

    /// Whether a launch comes before those that write over what it fills.
    fn is_first(run: &Run, at: usize) -> bool {
        run.launches[at..].iter().any(|launch| launch.fills)
    }

    /// The launches of many: one a text, those that fill destinations and those behind them apart.
    pub fn groups(&self, first: bool) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            for (at, launch) in run.launches.iter().enumerate() {
                if Together::is_first(run, at) != first {
                    continue;
                }
                match groups.iter_mut().find(|(kernel, _)| *kernel == launch.kernel) {
                    Some((_, group)) => group.push((number, launch)),
                    None => groups.push((launch.kernel, vec![(number, launch)])),
                }
            }
        }
        groups
    }

    fn launches(&self, first: bool, orders: &mut String) {
        for (kernel, group) in self.groups(first) {
            let _ = writeln!(orders, "jobs {kernel} {}", group.len());
            for (number, Launch { blocks, params, .. }) in group {
                let _ = writeln!(orders, "{number} {blocks} {}{}", params.len(), numbers(params));
            }
        }
    }
}

impl Orders for Together {
    fn orders(&self, bytes: &str, orders: &mut String, expected: &mut Vec<u8>) {
        begin(&self.name, self.mutant, orders);
        for (number, run) in self.runs.iter().enumerate() {
            let _ = writeln!(orders, "of {number}");
            run.arrays(orders);
        }
        self.launches(true, orders);
        for (number, run) in self.runs.iter().enumerate() {
            if run.launches.iter().any(|launch| launch.fills) {
                let _ = writeln!(orders, "of {number} filled");
            }
        }
        self.launches(false, orders);
        for (number, run) in self.runs.iter().enumerate() {
            let _ = writeln!(orders, "of {number}");
            run.after(bytes, orders, expected);
        }
        orders.push_str("end\n");
    }
}
