//! Tiles of loops as the number of a block: the number encodes the tile along each loop. The gather and the realigned
//! transpose use it.
//!
//! Law: the numbers from 0 to the product of the counts, less one, are all combinations, each once.

use crate::text::{KernelText, Parameters};

/// The most tiles of a loop: the largest number that [`DIV`](crate::division) divides by.
const MOST: u64 = (1 << 31) - 1;

/// Counts with the names of their variables, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid(Vec<(String, u32)>);

impl Grid {
    /// Adds a count outside of the previous ones; `None` if it is too large for a launch.
    pub(crate) fn push(&mut self, name: impl Into<String>, count: u64) -> Option<()> {
        let count = Some(count).filter(|count| (1..=MOST).contains(count))?;
        self.0.push((name.into(), count as u32));
        Some(())
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u128 {
        self.0.iter().fold(1, |all: u128, (_, count)| all.saturating_mul((*count).into()))
    }

    /// Writes the tile along each loop, by its name, computed from the number of the block.
    pub(crate) fn write(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let Some(((last, _), others)) = self.0.split_last() else { return };
        let mut rest = "BLOCK".to_string();
        for (i, (name, count)) in others.iter().enumerate() {
            let (magic, by) = numbers.divisor(*count);
            text.line(&format!("const u32 rest{i} = DIV({rest}, {magic});"));
            text.line(&format!("const u32 {name} = {rest} - rest{i} * {by};"));
            rest = format!("rest{i}");
        }
        text.line(&format!("const u32 {last} = {rest};"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_read_the_fastest_first() {
        let mut grid = Grid::default();
        grid.push("a", 3).unwrap();
        grid.push("b", 5).unwrap();
        assert_eq!(grid.push("c", 1 << 31), None);
        assert_eq!(grid.push("c", 0), None);
        assert_eq!(grid.blocks(), 15);
        let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
        grid.write(&mut text, &mut numbers);
        let expected = "  const u32 rest0 = DIV(BLOCK, P(0));
  const u32 a = BLOCK - rest0 * (u32)P(1);
  const u32 b = rest0;
";
        assert_eq!(text.into_string(), expected);
        assert_eq!(numbers.into_params()[1], 3);
    }
}
