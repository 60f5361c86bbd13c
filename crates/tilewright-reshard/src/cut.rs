//! How an array is cut into boxes.
//!
//! ```text
//! cut = extents;  for d = 0, 1, …:  rest = bytes of one index of dim d;  stop where rest · cut[d] ≤ M
//!                                   cut[d] = max(1, M / rest), at multiples of 256 where it has that many
//! box of number n:  the digits of n over ⌈extents / cut⌉, the first most significant
//! ```
//!
//! The outermost dims are cut first, so the boxes have whole rows: a shard that is cut in its last dim is written in whole
//! local rows. Edges at multiples of 256 are edges of tiles.

/// Edges of boxes are multiples of this, where boxes are long enough.
const ALIGN: u64 = 256;

/// The boxes of one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    extents: Vec<u64>,
    cut: Vec<u64>,
    counts: Vec<u64>,
}

impl Cut {
    /// Boxes of at most `most` bytes, or of one element of `width` bytes.
    pub(crate) fn new(extents: &[u64], width: u64, most: u64) -> Cut {
        let mut cut = extents.to_vec();
        for d in 0..extents.len() {
            let inner = extents.get(d + 1..).unwrap_or_default();
            let rest = inner.iter().fold(width.max(1), |size, extent| size.saturating_mul(*extent));
            let Some(size) = cut.get_mut(d) else { break };
            if rest == 0 || rest.saturating_mul(*size) <= most {
                break;
            }
            let fits = (most / rest).max(1);
            *size = if fits >= ALIGN { fits / ALIGN * ALIGN } else { fits };
            if rest <= most {
                break;
            }
        }
        let counts = extents.iter().zip(&cut).map(|(n, cut)| n.div_ceil((*cut).max(1))).collect();
        Cut { extents: extents.to_vec(), cut, counts }
    }

    /// The number of boxes.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().fold(1u64, |all, count| all.saturating_mul(*count))
    }

    /// The first index and the extents of a box.
    pub(crate) fn at(&self, number: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut rest, mut start, mut size) = (number, Vec::new(), Vec::new());
        let dims = self.extents.iter().zip(&self.cut).zip(&self.counts);
        for ((extent, cut), count) in dims.rev() {
            let from = (rest % count.max(&1)) * cut;
            rest /= count.max(&1);
            start.push(from);
            size.push((*cut).min(extent.saturating_sub(from)));
        }
        start.reverse();
        size.reverse();
        (start, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_sharded::{Piece, Pieces};

    /// The law over all small arrays and bounds: boxes cover every coordinate once and keep the bound.
    #[test]
    fn boxes_partition_the_coordinates() {
        let mut checked = 0;
        for extents in (0..6u64.pow(3)).map(|n| vec![n % 6, n / 6 % 6, n / 36]) {
            for most in [1, 2, 3, 4, 7, 16, 50, 1000] {
                let cut = Cut::new(&extents, 2, most);
                let boxes = (0..cut.count()).map(|n| cut.at(n)).enumerate();
                let pieces: Vec<Piece> = boxes
                    .map(|(n, (start, extents))| {
                        assert!(extents.iter().product::<u64>() * 2 <= most.max(2));
                        Piece { source: n as u64, start, extents, local: vec![0; 3] }
                    })
                    .collect();
                let count = pieces.len();
                let cover = Pieces { extents: extents.clone(), pieces }.cover("a").unwrap();
                assert_eq!((cover.boxes, cover.replicas), (count, 0), "{extents:?} {most}");
                checked += 1;
            }
        }
        assert_eq!(checked, 216 * 8);
        assert_eq!(Cut::new(&[], 4, 1).count(), 1);
        assert_eq!(Cut::new(&[1000, 4], 1, 2500).at(1), (vec![512, 0], vec![488, 4]));
    }
}
