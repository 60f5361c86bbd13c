//! Converts a case to a form that other libraries can run: boxes of elements with strides on both sides. The rivals use
//! it.

use tilewright::layouts::Refinement;

use crate::Case;

/// The most boxes of a case; libraries of strided views cannot express cases with more.
const MOST: usize = 16;

/// One loop of a box: its extent, and its strides in elements.
///
/// ```
/// use tilewright_bench::Turn;
/// assert_eq!(Turn { extent: 3, src: 1, dst: 4 }.extent, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The number of iterations.
    pub extent: u64,
    /// The stride in the source, in elements.
    pub src: i64,
    /// The stride in the destination, in elements.
    pub dst: i64,
}

/// A box: its offsets on both sides, and its loops, the largest stride in the destination first.
///
/// ```
/// use tilewright_bench::{Size, Turn, definitions};
/// let all = definitions()?;
/// let odd = all.iter().find(|case| case.name() == "transpose-f32-odd").unwrap();
/// let boxes = odd.case(Size::Small)?.boxes().unwrap();
/// let (rows, columns) = (Turn { extent: 37, src: 71, dst: 1 }, Turn { extent: 71, src: 1, dst: 37 });
/// assert_eq!((boxes[0].src, boxes[0].dst, &boxes[0].turns[..]), (0, 0, &[columns, rows][..]));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxed {
    /// The offset of the first element in the source.
    pub src: i64,
    /// The offset of the first element in the destination.
    pub dst: i64,
    /// The loops; loops that are contiguous on both sides are merged.
    pub turns: Vec<Turn>,
}

impl Case {
    /// Returns the boxes of a case, if they are few; all other destination elements are padding.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let all = definitions()?;
    /// let boxes = |name| {
    ///     let case = all.iter().find(|case| case.name() == name).unwrap().case(Size::L2);
    ///     case.unwrap().boxes().unwrap().len()
    /// };
    /// // Columns of whole blocks are one box, the ragged columns another.
    /// assert_eq!((boxes("row-to-zN-16bit"), boxes("row-to-zN-16bit-ragged")), (1, 2));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn boxes(&self) -> Option<Vec<Boxed>> {
        let refinement = Refinement::new(self.src(), self.dst()).ok()?;
        let blocks: Vec<_> = refinement.blocks().take(MOST + 1).collect();
        if blocks.len() > MOST {
            return None;
        }
        let boxed = |block: &tilewright::layouts::Block| {
            let turns = block.loops().iter();
            let turns = turns.map(|l| Turn { extent: l.extent, src: l.src, dst: l.dst }).collect();
            Boxed { src: block.src(), dst: block.dst(), turns: merged(turns) }
        };
        Some(blocks.iter().map(boxed).collect())
    }
}

/// Returns the loops in the order of the destination; adjacent loops that are contiguous on both sides are merged.
fn merged(mut turns: Vec<Turn>) -> Vec<Turn> {
    turns.sort_by_key(|turn| (std::cmp::Reverse(turn.dst.unsigned_abs()), turn.extent));
    let mut merged: Vec<Turn> = Vec::new();
    for turn in turns {
        let runs_on = |outer: &Turn| {
            let extent = i128::from(turn.extent);
            i128::from(turn.src) * extent == i128::from(outer.src)
                && i128::from(turn.dst) * extent == i128::from(outer.dst)
        };
        match merged.last_mut() {
            Some(outer) if runs_on(outer) => {
                *outer = Turn { extent: outer.extent.saturating_mul(turn.extent), ..turn };
            }
            _ => merged.push(turn),
        }
    }
    merged
}
