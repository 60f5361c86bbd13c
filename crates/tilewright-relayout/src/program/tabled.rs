//! Programs of arrays whose storage order needs index tables. They always use digits.

use super::{Program, check_injective, check_low, part::Part};
use crate::{Elements, Error, elements, error};
use std::sync::OnceLock;
use tilewright_table::{Along, TABLES, TabledLayout};

/// The index tables of both sides.
#[derive(Clone, Debug)]
pub(crate) struct ProgramTables {
    pub(crate) src: Vec<Along>,
    pub(crate) dst: Vec<Along>,
    pub(crate) extents: Vec<u64>,
}

impl Program {
    /// Returns the program that moves the elements of `src` to `dst`, both of which may have index tables. Padding of
    /// `dst`, including holes, becomes the low bits of `fill`.
    ///
    /// [`Program::src`] and [`Program::dst`] are the layouts below the tables, whose extents may differ from those of
    /// the array, [`Program::extents`]. If shape and strides can express all tables of both sides, the program is that
    /// of [`Program::new`].
    ///
    /// # Errors
    /// Those of [`Program::new`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan, Program};
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 2]).unwrap());
    /// let list = [Some(2), None, Some(0), Some(1)];
    /// let along = Along::new(&[(0, 1)], &[3, 2], Arc::new(Table::new(3, list).unwrap())).unwrap();
    /// let stored = TensorLayout::row_major(&[4, 2]).unwrap();
    /// let sorted = TabledLayout::new(&[3, 2], vec![along], &stored).unwrap();
    /// let program = Program::of_arrays(&rows, &sorted, Elements::same(8), 9).unwrap();
    /// let mut out = [0; 8];
    /// Plan::of(program).run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [5, 6, 9, 9, 1, 2, 3, 4]);
    ///
    /// let other = TabledLayout::of(&TensorLayout::row_major(&[2, 3]).unwrap());
    /// assert!(Program::of_arrays(&rows, &other, Elements::same(8), 0).unwrap_err().is_mismatch());
    /// ```
    pub fn of_arrays(
        src: &TabledLayout,
        dst: &TabledLayout,
        elements: Elements,
        fill: u128,
    ) -> Result<Program, Error> {
        if !TABLES {
            return Program::new(src.stored(), dst.stored(), elements, fill);
        }
        elements.check()?;
        let plain = |side: &TabledLayout| side.tables().is_empty().then(|| side.stored().clone());
        let folded = |side: &TabledLayout| plain(side).or_else(|| side.fold());
        if let (Some(src), Some(dst)) = (folded(src), folded(dst)) {
            return Program::new(&src, &dst, elements, fill);
        }
        src.check_extents(dst).map_err(|error| error::of("relayout", &error))?;
        let (from, to) = (src.stored(), dst.stored());
        let src_bytes = elements::bytes("source", from.capacity(), elements.src_bits)?;
        let dst_bytes = elements::bytes("destination", to.capacity(), elements.dst_bits)?;
        let part = Part::array(dst.extents());
        if !part.is_empty() {
            check_low("source", from)?;
            check_low("destination", to)?;
            check_injective(to)?;
        }
        let tables = ProgramTables {
            src: src.tables().to_vec(),
            dst: dst.tables().to_vec(),
            extents: dst.extents().to_vec(),
        };
        Ok(Program {
            src: from.clone(),
            dst: to.clone(),
            elements,
            fill,
            src_bytes,
            dst_bytes,
            part,
            tables: Some(tables),
            listed: false,
            regions: None,
            digits: OnceLock::new(),
            gaps: OnceLock::new(),
        })
    }

    /// Returns whether the program looks up index tables.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert!(!Program::new(&rows, &rows, Elements::same(8), 0).unwrap().has_tables());
    /// ```
    pub fn has_tables(&self) -> bool {
        self.tables().is_some()
    }

    pub(crate) fn tables(&self) -> Option<&ProgramTables> {
        if TABLES { self.tables.as_ref() } else { None }
    }

    /// Returns the number of stored elements that hold no element of the array.
    pub(crate) fn holes(&self) -> u64 {
        let Some(tables) = self.tables() else { return 0 };
        let all = tables.extents.iter().fold(1, |all: u64, extent| all.saturating_mul(*extent));
        self.dst.size().saturating_sub(all)
    }
}
