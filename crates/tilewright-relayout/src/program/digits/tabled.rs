//! The digits of two layouts with index tables. One list is looked up between digits of the destination and the array's
//! coordinate, another between the coordinate and the source.

use super::{
    Digits, Group,
    made::{Size, WorkingAxis, unite},
};
use crate::program::{
    ProgramTables,
    ops::{Op, TableDirection},
};
use std::sync::Arc;
use tilewright_core::TensorLayout;
use tilewright_table::{Along, Block, StorageAxis as Stored, owners};

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
