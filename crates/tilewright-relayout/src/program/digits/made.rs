//! Construction of the digits of two layouts: the groups of dims, their digits, and the programs that compute source
//! offsets from them.
//!
//! With index tables, one list is looked up between digits of the destination and the coordinate of the array, another between
//! the coordinate and the source.

use std::sync::Arc;

use tilewright_core::{Coord, Mode, Step, TensorLayout};
use tilewright_table::{Along, Block, StorageAxis as Stored, owners};

use super::{DigitRange, Digits, Group};
use crate::program::{
    Part, ProgramTables,
    digits::{Op, TableDirection},
};

/// The maximal size of the inner table of a leaf, with an outer table and without one.
const INNER: (u64, u64) = (256, 1024);

/// The maximal size of the outer table of a leaf.
const OUTER: u64 = 64;

/// The values that the digit with the smallest step on each side gets first.
const NEAR: u64 = 64;

/// The maximal number of values of a digit that has the smallest step on neither side.
const FAR: u64 = 16;

impl Digits {
    /// Builds the digits of a part of two layouts.
    pub(crate) fn new(src: &TensorLayout, dst: &TensorLayout, part: &Part) -> Digits {
        let dims: Vec<usize> = (0..src.rank()).collect();
        let mut root = dims.clone();
        unite(src, dims.clone(), &mut root);
        unite(dst, dims, &mut root);
        let mut groups = Digits {
            digits: Vec::new(),
            all: vec![Group::default(); root.len()],
            base: (src.layout().offset(), dst.layout().offset()),
            swizzles: (src.layout().swizzle(), dst.layout().swizzle()),
            empty: part.extents().contains(&0),
            lists: Vec::new(),
        };
        if groups.empty {
            return groups;
        }
        let mut dims = groups.back(dst, sizes_of(dst, &part.dst, part), &root);
        if part.is_part() {
            groups.cross(&mut dims, sizes_of(src, &part.src, part), part);
        }
        groups.forth(src, dims);
        groups.finish();
        groups
    }

    /// Assigns the digits to their groups, and chooses the sizes of the tables of a leaf.
    pub(super) fn finish(&mut self) {
        for i in 0..self.digits.len() {
            self.all[self.digits[i].group].digits.push(i);
        }
        for group in &mut self.all {
            tilewright_core::sort_short(&mut group.digits, |&i| {
                core::cmp::Reverse(self.digits[i].stride.abs())
            });
        }
        self.choose_leaf();
    }

    /// Adds the operations that compute logical coordinates from digits of the destination, and returns the axes that
    /// hold them.
    pub(super) fn back(
        &mut self,
        dst: &TensorLayout,
        dims: Vec<Size>,
        root: &[usize],
    ) -> Vec<WorkingAxis> {
        let (mut sizes, mut owners) = (vec![dims], root.to_vec());
        for step in dst.steps() {
            let mut now = sizes.last().cloned().unwrap_or_default();
            apply(*step, &mut now, &mut owners);
            sizes.push(now);
        }
        let last = sizes.pop().unwrap_or_default();
        let modes = |axis| dst.layout().axis(axis).unwrap_or(&[]);
        let each = owners.iter().zip(&last).enumerate();
        let mut axes: Vec<WorkingAxis> =
            each.map(|(i, (&group, &size))| self.read(group, size, modes(i))).collect();
        for (step, before) in dst.steps().iter().zip(&sizes).rev() {
            match *step {
                Step::Merge { major, minor } => {
                    let (major, minor) = (usize::from(major), usize::from(minor));
                    let from = axes[minor - usize::from(minor > major)];
                    let to = self.register(from.group);
                    let by = before[minor].extent.max(1);
                    self.all[from.group].ops.push(Op::Split { from: from.register, by, to });
                    axes.insert(major, WorkingAxis { size: before[major], ..from });
                    axes[minor] = WorkingAxis { register: to, size: before[minor], ..from };
                }
                Step::Split { axis, by } => {
                    let axis = usize::from(axis);
                    let (outer, size) = (axes[axis], before[axis]);
                    let Some(inner) = axes.pop() else { continue };
                    let (major, register) = (outer.register, inner.register);
                    let ops = &mut self.all[inner.group].ops;
                    ops.push(Op::Merge { major, minor: register, extent: by });
                    ops.push(Op::Within { register, extent: size.reach });
                    axes[axis] = WorkingAxis { size, ..inner };
                }
            }
        }
        axes
    }

    /// Adds the digits of an axis of the destination that elements reach, and combines them in one register.
    fn read(&mut self, group: usize, size: Size, modes: &[Mode]) -> WorkingAxis {
        let (first, mut below, mut all) = (self.register(group), 1u64, 1u64);
        for mode in modes {
            let (stride, loops) = (mode.stride(), mode.extent().min(size.reach.div_ceil(below)));
            if loops > 1 {
                let register = if below > 1 { self.register(group) } else { first };
                if below > 1 {
                    let read = Op::Merge { major: register, minor: first, extent: below };
                    self.all[group].ops.push(read);
                }
                // The values that some element of the part has, as far as a single digit tells.
                let (from, to) = size.digit(below, mode.extent());
                let origin = size.origin / below % mode.extent();
                let extent = to.min(loops) - from;
                let digit =
                    DigitRange { group, register, first: from, extent, origin, stride, leaf: 1 };
                self.digits.push(digit);
                all = all.saturating_mul(loops);
            }
            below = below.saturating_mul(mode.extent());
        }
        if all > size.reach {
            self.all[group].ops.push(Op::Within { register: first, extent: size.reach });
        }
        WorkingAxis { group, register: first, size }
    }

    /// Converts coordinates of the destination to those of the source; outside the part is padding.
    fn cross(&mut self, dims: &mut [WorkingAxis], sizes: Vec<Size>, part: &Part) {
        let each = dims.iter_mut().zip(sizes).enumerate();
        for (dim, (axis, size)) in each {
            axis.size = size;
            let (from, to) = (part.dst.as_slice()[dim], part.src.as_slice()[dim]);
            let (register, extent) = (axis.register, part.extents()[dim]);
            self.all[axis.group].ops.push(Op::Move { register, from, extent, to });
        }
    }

    /// Adds the operations that compute the offset of the source from logical coordinates.
    pub(super) fn forth(&mut self, src: &TensorLayout, mut axes: Vec<WorkingAxis>) {
        for step in src.steps() {
            match *step {
                Step::Merge { major, minor } => {
                    let (from, to) = (axes[usize::from(major)], &mut axes[usize::from(minor)]);
                    let (register, extent) = (to.register, to.size.extent);
                    to.size = from.size.over(to.size);
                    let merge = Op::Merge { major: from.register, minor: register, extent };
                    self.all[from.group].ops.push(merge);
                    axes.remove(usize::from(major));
                }
                Step::Split { axis, by } => {
                    let from = axes[usize::from(axis)];
                    let to = self.register(from.group);
                    self.all[from.group].ops.push(Op::Split { from: from.register, by, to });
                    let (outer, inner) = from.size.split(by);
                    axes[usize::from(axis)].size = outer;
                    axes.push(WorkingAxis { register: to, size: inner, ..from });
                }
            }
        }
        for (i, axis) in axes.iter().enumerate() {
            count(&mut self.all[axis.group].ops, axis, src.layout().axis(i).unwrap_or(&[]));
        }
    }

    pub(super) fn register(&mut self, group: usize) -> usize {
        self.all[group].registers += 1;
        self.all[group].registers - 1
    }

    /// Chooses the sizes of the tables of a leaf. The inner table covers the group with the smallest stride in the
    /// destination, the outer table covers the others.
    fn choose_leaf(&mut self) {
        let mut order: Vec<usize> = (0..self.digits.len()).collect();
        order.retain(|&i| self.digits[i].extent > 1);
        tilewright_core::sort_short(&mut order, |&i| self.digits[i].stride.unsigned_abs());
        let Some(&near) = order.first() else { return };
        self.all[self.digits[near].group].inner = true;
        let alone = order.iter().all(|&i| self.digits[i].group == self.digits[near].group);
        let mut room = [OUTER, if alone { INNER.1 } else { INNER.0 }];
        let src = order.iter().copied().min_by_key(|&i| self.src_step(i)).unwrap_or(near);
        // A digit with the smallest step on one side only, or on neither, stays short: its values are lines apart on
        // the other side.
        let rest = order.into_iter().filter(|&i| alone || near == src || i != near && i != src);
        let rest = rest.map(|i| (i, if alone || i == near { u64::MAX } else { FAR }));
        for (i, most) in [(near, NEAR), (src, NEAR)].into_iter().chain(rest) {
            let inner = usize::from(self.all[self.digits[i].group].inner);
            let digit = &mut self.digits[i];
            let more = digit.extent.div_ceil(digit.leaf).min(room[inner]).min(most).max(1);
            (digit.leaf, room[inner]) = (digit.leaf * more, room[inner] / more);
        }
    }

    /// Returns the distance in the source between two values of a digit.
    fn src_step(&self, digit: usize) -> u64 {
        let origin = self.digits[digit].origin;
        let first = self.source_at(digit, origin).unwrap_or(0);
        self.source_at(digit, origin + 1).map_or(u64::MAX, |second| second.abs_diff(first))
    }
}

/// The extent of a working axis and the coordinates of it that are used: `low` to below `reach`, with the origin of the
/// part at `origin`.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) extent: u64,
    low: u64,
    reach: u64,
    origin: u64,
}

impl Size {
    /// The size of a whole axis.
    pub(super) fn all(extent: u64) -> Size {
        Size { extent, low: 0, reach: extent, origin: 0 }
    }

    /// Returns the size of this axis merged over a minor one.
    fn over(self, minor: Size) -> Size {
        let merged = |major: u64, by: u64| major * minor.extent + by;
        let reach = merged(self.reach.saturating_sub(1), minor.reach);
        Size {
            extent: self.extent * minor.extent,
            low: merged(self.low, minor.low),
            reach: reach.min(self.reach * minor.extent),
            origin: merged(self.origin, minor.origin),
        }
    }

    /// Returns the sizes of the quotient and the remainder by `by`.
    fn split(self, by: u64) -> (Size, Size) {
        let quotient = Size {
            extent: self.extent.div_ceil(by),
            low: self.low / by,
            reach: self.reach.div_ceil(by),
            origin: self.origin / by,
        };
        let (low, reach) = self.digit(1, by);
        (quotient, Size { extent: by, low, reach, origin: self.origin % by })
    }

    /// Returns the used values of the digit `value / at % iterations`, from the first to behind the last.
    fn digit(self, at: u64, iterations: u64) -> (u64, u64) {
        let (low, high) = (self.low / at, self.reach.saturating_sub(1) / at);
        if low / iterations == high / iterations {
            (low % iterations, high % iterations + 1)
        } else {
            (0, iterations)
        }
    }
}

/// A working axis: its size, and the group and register that compute it.
#[derive(Clone, Copy)]
pub(super) struct WorkingAxis {
    pub(super) group: usize,
    pub(super) register: usize,
    pub(super) size: Size,
}

/// Returns the sizes of the dims of an array, limited to a part that begins at `origin`.
fn sizes_of(tensor: &TensorLayout, origin: &Coord, part: &Part) -> Vec<Size> {
    let each = tensor.extents().iter().zip(origin.as_slice()).zip(part.extents());
    each.map(|((&extent, &low), &part)| Size { extent, low, reach: low + part, origin: low })
        .collect()
}

/// Applies a step to the sizes and owners of the axes.
fn apply(step: Step, sizes: &mut Vec<Size>, owners: &mut Vec<usize>) {
    match step {
        Step::Merge { major, minor } => {
            let (major, minor) = (usize::from(major), usize::from(minor));
            sizes[minor] = sizes[major].over(sizes[minor]);
            sizes.remove(major);
            owners.remove(major);
        }
        Step::Split { axis, by } => {
            let axis = usize::from(axis);
            let (outer, inner) = sizes[axis].split(by);
            sizes[axis] = outer;
            sizes.push(inner);
            owners.push(owners[axis]);
        }
    }
}

/// Unites the dims that the steps of a layout merge. `axes` names the dim of each axis; the root of a dim is the first
/// dim of its group.
pub(super) fn unite(tensor: &TensorLayout, mut axes: Vec<usize>, root: &mut [usize]) {
    for step in tensor.steps() {
        match *step {
            Step::Merge { major, minor } => {
                tilewright_table::unite(root, axes[usize::from(major)], axes[usize::from(minor)]);
                axes.remove(usize::from(major));
            }
            Step::Split { axis, .. } => axes.push(axes[usize::from(axis)]),
        }
    }
}

/// Adds the digits of an axis of the source by its modes, as far as its extent reaches.
fn count(ops: &mut Vec<Op>, axis: &WorkingAxis, modes: &[Mode]) {
    let (from, mut below) = (axis.register, 1u64);
    for mode in modes {
        if below >= axis.size.reach {
            return;
        }
        let (by, stride) = (mode.extent(), mode.stride());
        below = below.saturating_mul(by);
        if below >= axis.size.reach {
            ops.push(Op::Rest { from, stride });
        } else if by > 1 {
            ops.push(Op::Digit { from, by, stride });
        }
    }
}

// Digits of layouts with index tables.

impl Digits {
    /// Builds the digits of a whole array; the layouts place what the tables store.
    pub(crate) fn with_tables(
        src: &TensorLayout,
        dst: &TensorLayout,
        tables: &ProgramTables,
    ) -> Digits {
        let rank = tables.extents.len();
        let mut root: Vec<usize> = (0..rank).collect();
        let [_, owners] = [(src, &tables.src), (dst, &tables.dst)].map(|(layout, tables)| {
            let owners =
                owners(rank, tables, |first, dim| tilewright_table::unite(&mut root, first, dim));
            unite(layout, owners.clone(), &mut root);
            owners
        });
        let mut groups = Digits {
            digits: Vec::new(),
            all: vec![Group::default(); rank],
            base: (src.layout().offset(), dst.layout().offset()),
            swizzles: (src.layout().swizzle(), dst.layout().swizzle()),
            empty: tables.extents.contains(&0),
            lists: Vec::new(),
        };
        if groups.empty {
            return groups;
        }
        let owners: Vec<usize> = owners.into_iter().map(|dim| root[dim]).collect();
        let sizes = dst.extents().iter().map(|extent| Size::all(*extent)).collect();
        let mut axes = groups.back(dst, sizes, &owners);
        for along in tables.dst.iter().rev() {
            axes = groups.restore(along, &axes);
        }
        for along in &tables.src {
            axes = groups.store(along, &axes);
        }
        groups.forth(src, axes);
        groups.finish();
        groups
    }

    fn keep(&mut self, list: TableDirection) -> usize {
        self.lists.push(list);
        self.lists.len() - 1
    }

    /// Converts the axes after a table to the axes before it.
    fn restore(&mut self, along: &Along, stored: &[WorkingAxis]) -> Vec<WorkingAxis> {
        let extents = along.extents();
        let mut axes: Vec<Option<WorkingAxis>> = vec![None; extents.len()];
        let mut place = None;
        for (own, axis) in along.axes().iter().zip(stored) {
            match *own {
                Stored::Dim(dim) | Stored::Rest(dim) => axes[dim] = Some(*axis),
                Stored::Place => place = Some(*axis),
            }
        }
        let Some(number) = place else { return stored.to_vec() };
        let (group, register) = (number.group, number.register);
        let list = self.keep(TableDirection::Indices(Arc::clone(along.table())));
        self.all[group].ops.push(Op::Look { register, list });
        for (at, block) in along.blocks().iter().enumerate().rev() {
            let extent = extents[block.dim];
            // The block number of the first dim is what remains.
            let own = if at == 0 { register } else { self.register(group) };
            if at > 0 {
                let count = numbers(block, extent);
                self.all[group].ops.push(Op::Split { from: register, by: count, to: own });
            }
            let rest = axes[block.dim].filter(|_| block.has_rest()).map(|rest| rest.register);
            let whole = rest.map_or(own, |rest| self.unite(block, group, own, rest));
            axes[block.dim] = Some(WorkingAxis { group, register: whole, size: Size::all(extent) });
        }
        axes.into_iter().flatten().collect()
    }

    /// Returns the register that gets the index of a block's number and its rest.
    fn unite(&mut self, block: &Block, group: usize, number: usize, rest: usize) -> usize {
        let (by, Some(of)) = (block.by, block.of) else {
            let op = Op::Merge { major: number, minor: rest, extent: block.by };
            self.all[group].ops.push(op);
            return rest;
        };
        let within = self.register(group);
        let ops = &mut self.all[group].ops;
        ops.push(Op::Split { from: rest, by, to: within });
        ops.push(Op::Merge { major: rest, minor: number, extent: of });
        ops.push(Op::Merge { major: number, minor: within, extent: by });
        within
    }

    /// Divides the register of a dim into a block's number and its rest, and returns the registers of both.
    fn divide(&mut self, block: &Block, axis: &WorkingAxis) -> (usize, usize) {
        let (group, from, by) = (axis.group, axis.register, block.by);
        let rest = self.register(group);
        self.all[group].ops.push(Op::Split { from, by, to: rest });
        let Some(of) = block.of else { return (from, rest) };
        let number = self.register(group);
        let ops = &mut self.all[group].ops;
        ops.push(Op::Split { from, by: of, to: number });
        ops.push(Op::Merge { major: from, minor: rest, extent: by });
        (number, rest)
    }

    /// Converts the axes before a table to the axes after it.
    fn store(&mut self, along: &Along, axes: &[WorkingAxis]) -> Vec<WorkingAxis> {
        let (mut rests, mut number) = (vec![None; axes.len()], None);
        for block in along.blocks() {
            let axis = axes[block.dim];
            let (own, extent) = (axis.register, axis.size.extent);
            let own = if block.has_rest() {
                let (own, register) = self.divide(block, &axis);
                let size = Size::all(block.of.map_or(block.by, |of| extent / of));
                rests[block.dim] = Some(WorkingAxis { register, size, ..axis });
                own
            } else {
                own
            };
            if let Some(major) = number.replace(own) {
                let extent = numbers(block, extent);
                self.all[axis.group].ops.push(Op::Merge { major, minor: own, extent });
            }
        }
        let Some((first, register)) =
            along.blocks().first().map(|block| axes[block.dim]).zip(number)
        else {
            return axes.to_vec();
        };
        let list = self.keep(TableDirection::Places(Arc::clone(along.table())));
        self.all[first.group].ops.push(Op::Look { register, list });
        let stored = along.axes().iter().zip(along.stored_extents());
        let axis = |(own, extent): (&Stored, &u64)| match *own {
            Stored::Dim(dim) => Some(axes[dim]),
            Stored::Rest(dim) => rests[dim],
            Stored::Place => Some(WorkingAxis { register, size: Size::all(*extent), ..first }),
        };
        stored.filter_map(axis).collect()
    }
}

/// Returns the number of blocks that a table lists, of a dim of this extent.
fn numbers(block: &Block, extent: u64) -> u64 {
    block.of.unwrap_or(extent / block.by)
}
