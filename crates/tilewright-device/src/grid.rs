//! Tiles of loops as the number of a block: the number encodes the tile along each loop. The gather and the realigned
//! transpose use it.
//!
//! Law: the numbers from 0 to the product of the counts, less one, are all combinations, each once.

use crate::text::{KernelText, Parameters};

/// The most tiles of a loop: the largest number that [`DIV`](crate::division) divides by.
const MOST: u64 = (1 << 31) - 1;

/// The number of blocks along the first of two counts in a strip. Their writes are close together, and the cache keeps
/// the borders of their tiles until the strip continues.
const STRIP: u32 = 64;

/// Counts of tiles with the names of their variables.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tiles {
    One(String, u32),
    /// Two counts, walked in strips of [`STRIP`] tiles of the first.
    Strips([(String, u32); 2]),
}

impl Tiles {
    fn count(&self) -> u32 {
        match self {
            Tiles::One(_, count) => *count,
            Tiles::Strips([(_, across), (_, down)]) => across * down,
        }
    }
}

/// Counts with the names of their variables, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid(Vec<Tiles>);

impl Grid {
    /// Adds a count outside of the previous ones; `None` if it is too large for a launch.
    pub(crate) fn push(&mut self, name: impl Into<String>, count: u64) -> Option<()> {
        let count = Some(count).filter(|count| (1..=MOST).contains(count))?;
        self.0.push(Tiles::One(name.into(), count as u32));
        Some(())
    }

    /// Adds two counts outside of the previous ones: blocks walk across a strip of the first before they continue along
    /// the second. `None` if a count is too large for a launch.
    pub(crate) fn push_strips(
        &mut self,
        (across, x): (String, u64),
        (down, y): (String, u64),
    ) -> Option<()> {
        let fits = x.checked_mul(y).is_some_and(|all| (1..=MOST).contains(&all));
        if x <= STRIP.into() || !fits {
            self.push(across, x)?;
            return self.push(down, y);
        }
        self.0.push(Tiles::Strips([(across, x as u32), (down, y as u32)]));
        Some(())
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u128 {
        self.0.iter().fold(1, |all: u128, tiles| all.saturating_mul(tiles.count().into()))
    }

    /// Writes the tile along each loop, by its name, computed from the number of the block.
    pub(crate) fn write(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let mut rest = "BLOCK".to_string();
        for (i, tiles) in self.0.iter().enumerate() {
            let mut own = rest.clone();
            if i + 1 < self.0.len() {
                let (magic, by) = numbers.divisor(tiles.count());
                text.line(&format!("const u32 rest{i} = DIV({rest}, {magic});"));
                own = format!("{rest} - rest{i} * {by}");
                rest = format!("rest{i}");
            }
            match tiles {
                Tiles::One(name, _) => text.line(&format!("const u32 {name} = {own};")),
                Tiles::Strips([across, down]) => {
                    text.line(&format!("const u32 plane = {own};"));
                    let names = (&*across.0, &*down.0);
                    strips(names, (across.1, down.1), STRIP, "plane", (text, numbers));
                }
            }
        }
    }
}

/// Writes strips of `side` tiles along the first of two counts; the last strip has the remaining width. In a strip,
/// blocks walk across before they continue along the second count, so the blocks of a square are neighbours on both
/// sides.
pub(crate) fn strips(
    (x, y): (&str, &str),
    (across, down): (u32, u32),
    side: u32,
    from: &str,
    (text, numbers): (&mut KernelText, &mut Parameters),
) {
    text.line(&format!("// Strips of {side} tiles."));
    let (strip, by) = numbers.divisor(down.saturating_mul(side).min(MOST as u32));
    text.line(&format!("const u32 strip = DIV({from}, {strip});"));
    text.line(&format!("const u32 inside = {from} - strip * {by};"));
    let last = numbers.short((across - 1) / side);
    let ((least, left), (most, whole)) =
        (numbers.divisor((across - 1) % side + 1), numbers.divisor(side));
    text.line(&format!("const u32 width = strip == {last} ? {left} : {whole};"));
    text.line(&format!("const u32 {y} = DIV(inside, strip == {last} ? {least} : {most});"));
    text.line(&format!("const u32 {x} = strip * {side}u + (inside - {y} * width);"));
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
