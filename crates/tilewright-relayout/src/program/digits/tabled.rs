//! The digits of two layouts with index tables. One list is looked up between digits of the destination and the array's
//! coordinate, another between the coordinate and the source.

use super::{
    Digits, Group,
    made::{Size, WorkingAxis, join, unite},
};
use crate::program::{list::TableDirection, ops::Op, tabled::ProgramTables};
use std::sync::Arc;
use tilewright_core::TensorLayout;
use tilewright_table::{Along, Axis as Stored, owners};

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
            let owners = owners(rank, tables, |first, dim| join(&mut root, first, dim));
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
        let blocks: Vec<(usize, u64)> = along.dims().collect();
        for (at, (dim, by)) in blocks.into_iter().enumerate().rev() {
            // The block number of the first dim is what remains.
            let block = if at == 0 { register } else { self.register(group) };
            if at > 0 {
                let count = extents[dim] / by;
                self.all[group].ops.push(Op::Split { from: register, by: count, to: block });
            }
            let whole = match axes[dim] {
                Some(rest) if by > 1 => {
                    let minor = rest.register;
                    self.all[group].ops.push(Op::Merge { major: block, minor, extent: by });
                    minor
                }
                _ => block,
            };
            axes[dim] = Some(WorkingAxis { group, register: whole, size: Size::all(extents[dim]) });
        }
        axes.into_iter().flatten().collect()
    }

    /// Converts the axes before a table to the axes after it.
    fn store(&mut self, along: &Along, axes: &[WorkingAxis]) -> Vec<WorkingAxis> {
        let (mut rests, mut number) = (vec![None; axes.len()], None);
        for (dim, by) in along.dims() {
            let axis = axes[dim];
            if by > 1 {
                let to = self.register(axis.group);
                self.all[axis.group].ops.push(Op::Split { from: axis.register, by, to });
                rests[dim] = Some(WorkingAxis { register: to, size: Size::all(by), ..axis });
            }
            if let Some(major) = number.replace(axis.register) {
                let extent = axis.size.extent / by;
                let minor = axis.register;
                self.all[axis.group].ops.push(Op::Merge { major, minor, extent });
            }
        }
        let Some((first, register)) = along.dims().next().map(|(dim, _)| axes[dim]).zip(number)
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
