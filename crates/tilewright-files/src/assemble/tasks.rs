//! The tasks of a file: copies of runs, boxes and ranges, in the order of its bytes. Threads take them to fill and to compare a
//! file.

use std::ops::Range;

use super::{
    nest::Nest,
    pieces::Give,
    stored::Take,
    whole::{Way, Whole},
};
use crate::container::{Section, Target};

/// The largest number of bytes of a copy, so that threads share long ones.
const STEP: u64 = 16 << 20;

/// A task that is independent of the others.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The number of the tensor of the result.
    pub(crate) made: usize,
    /// The position of its bytes in the file.
    pub(crate) at: u64,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Bytes of a tensor of the input, from one position of it to one position of the result.
    Copy { take: Take, from: u64, to: u64, len: u64 },
    /// The box of this number.
    Box(u64),
    /// These bytes of the storage.
    Range(Range<u64>),
}

/// Returns the tensors of a file, each with its position.
pub(crate) fn placed(target: &Target, wholes: &[Whole]) -> Vec<(usize, u64)> {
    let (mut at, mut placed) = (0u64, Vec::new());
    for section in &target.sections {
        if let Section::Tensor(number) = section {
            placed.push((*number, at));
            at = at.saturating_add(wholes.get(*number).map_or(0, Whole::bytes));
        }
        at = at.saturating_add(section.len());
    }
    placed
}

/// Returns the length of a file.
pub(crate) fn length(target: &Target, wholes: &[Whole]) -> u64 {
    let tensors = placed(target, wholes);
    let bytes = tensors.iter().filter_map(|(number, _)| Some(wholes.get(*number)?.bytes()));
    bytes.fold(target.overhead(), u64::saturating_add)
}

/// Iterates over the tasks of these tensors.
pub(crate) fn of<'w>(
    placed: Vec<(usize, u64)>,
    wholes: &'w [Whole],
) -> impl Iterator<Item = Task> + Send + 'w {
    let known = placed.into_iter().filter_map(|(made, at)| Some((made, at, wholes.get(made)?)));
    known.flat_map(|(made, at, whole)| {
        let each: Box<dyn Iterator<Item = What> + Send + 'w> = match &whole.way {
            Way::Runs => Box::new(copies(whole)),
            Way::Boxes(grid) => Box::new((0..grid.count(whole.units)).map(What::Box)),
            Way::ByRows(by_rows) => Box::new(by_rows.ranges().map(What::Range)),
        };
        each.map(move |what| Task { made, at, what })
    })
}

fn copies(whole: &Whole) -> impl Iterator<Item = What> + Send + '_ {
    let width = whole.width;
    let taken = whole.pieces.iter().filter_map(|piece| match piece.give {
        Give::Tensor(take, _) => Some((take, &piece.nest)),
        Give::Fill(_) => None,
    });
    taken.flat_map(move |(take, nest)| {
        let len = nest.run() * width;
        runs(nest).flat_map(move |(from, to)| {
            (0..len.div_ceil(STEP)).map(move |step| {
                let (from, to) = (from * width + step * STEP, to * width + step * STEP);
                What::Copy { take, from, to, len: STEP.min(len - step * STEP) }
            })
        })
    })
}

/// Iterates over the starts of the runs of a nest, in the order of the result.
pub(crate) fn runs(nest: &Nest) -> impl Iterator<Item = (u64, u64)> + Send + '_ {
    let count = nest.size() / nest.run();
    let outer = if nest.run() > 1 { nest.turns.len() - 1 } else { nest.turns.len() };
    (0..count).map(move |number| {
        let turns = nest.turns.iter().take(outer).rev();
        let (_, from, to) = turns.fold((number, nest.from, nest.to), |(rest, from, to), turn| {
            let digit = rest % turn.extent;
            (rest / turn.extent, from + digit * turn.from, to + digit * turn.to)
        });
        (from, to)
    })
}
