//! Explanation of one logical dim: its extents, and the digits of its coordinate with their strides.

use serde_json::{Value, json};
use tilewright_core::{Mode, TensorLayout};

use crate::ask::words::counted;

/// Explanation of one logical dim.
///
/// Extents count coordinates; the strides of the digits count elements.
///
/// ```
/// use tilewright::{Explanation, Spec};
/// let named = Spec::parse("f16[100,30] zN")?.resolve(None, None)?;
/// let [rows, columns] = &Explanation::of(&named).axes[..] else { panic!("two dims") };
/// assert_eq!((rows.letter, rows.extent, rows.padded), (Some('y'), 100, 112));
/// // 16 columns of a block side by side, then 7 blocks of 256 elements further.
/// assert_eq!((columns.digits[0].stride(), columns.digits[1].stride()), (1, 1792));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The dim's letter, counted from the minor end: x, y, z, p.
    pub letter: Option<char>,
    /// Its logical extent.
    pub extent: u64,
    /// Its extent with padding.
    pub padded: u64,
    /// Its digits, fastest first.
    pub digits: Vec<Mode>,
}

/// Returns the dims of a layout whose offsets are sums of one term for each dim; empty for others.
pub(super) fn axes(layout: &TensorLayout) -> Vec<Axis> {
    if !layout.is_strided() {
        return Vec::new();
    }
    let rank = layout.rank();
    let axis = |dim| Axis {
        letter: letter(rank, dim),
        extent: layout.extents()[dim],
        padded: layout.layout().axis_size(dim).unwrap_or(0),
        digits: layout.layout().axis(dim).unwrap_or(&[]).to_vec(),
    };
    (0..rank).map(axis).collect()
}

/// Returns the letter of a dim: x is the last of up to four dims, then y, z, p.
fn letter(rank: usize, dim: usize) -> Option<char> {
    if rank > 4 { None } else { ['x', 'y', 'z', 'p'].get(rank - 1 - dim).copied() }
}

impl Axis {
    pub(super) fn line(&self, dim: usize, rank: usize) -> (String, String) {
        let title = match self.letter {
            Some(letter) => format!("dim {dim} ({letter})"),
            None => format!("dim {dim}"),
        };
        let size = if self.padded == self.extent {
            self.extent.to_string()
        } else {
            format!("{} padded to {}", self.extent, self.padded)
        };
        (title, format!("{size}: {}", self.words(dim, rank)))
    }

    pub(super) fn to_json(&self) -> Value {
        let digits = self.digits.iter().map(|mode| (mode.extent(), mode.stride()));
        json!({
            "letter": self.letter,
            "extent": self.extent,
            "padded": self.padded,
            "digits": digits.collect::<Vec<_>>(),
        })
    }

    /// Returns words such as "4 rows at stride 4, repeated 2× at stride 16".
    fn words(&self, dim: usize, rank: usize) -> String {
        let word = |i: usize, mode: &Mode| {
            let (extent, stride) = (mode.extent(), mode.stride());
            if i == 0 {
                format!("{} at stride {stride}", counted(extent.into(), noun(rank, dim)))
            } else {
                format!("repeated {extent}× at stride {stride}")
            }
        };
        self.digits.iter().enumerate().map(|(i, mode)| word(i, mode)).collect::<Vec<_>>().join(", ")
    }
}

fn noun(rank: usize, dim: usize) -> &'static str {
    match rank - dim {
        1 if rank > 1 => "column",
        1 => "element",
        2 => "row",
        3 => "plane",
        _ => "step",
    }
}
