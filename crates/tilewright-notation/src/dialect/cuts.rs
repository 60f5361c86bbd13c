//! Bars in the order of a pattern: which digits make a dim of the array of words that holds the storage.
//!
//! `-> k3 | n3 n0 k1 n2 k0 n1 k2` is stored as words of two dims: the steps of `k3`, and all other digits, of which the
//! last are within a word. Leading dims are dims of their own where a bar follows them, `-> … | k1 k0`, and go with the
//! first digits otherwise. Behind a bar at the end is a dim of extent 1.
//!
//! Law: the product of the dims is that of the storage; the dims of the array found from those of its words have words
//! of just these dims.

use tilewright_core::Pattern;

/// The places of the bars: the number of digits before each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cuts(pub(super) Vec<usize>);

impl Cuts {
    /// The ends of the groups of digits. Leading dims that a bar follows are not a group.
    fn ends(&self, digits: usize, batched: bool) -> Vec<usize> {
        let cuts = self.0.iter().copied().filter(|cut| *cut > 0 || !batched);
        cuts.chain([digits]).collect()
    }

    /// The dims of a storage, in elements, where there are bars; leading dims come before the extents of the digits.
    pub(super) fn dims(&self, digits: usize, batched: bool, storage: &[u64]) -> Option<Vec<u64>> {
        if self.0.is_empty() {
            return None;
        }
        let leading = storage.len().checked_sub(digits)?;
        let apart = batched && self.0.contains(&0);
        let mut dims = if apart { storage.get(..leading)?.to_vec() } else { Vec::new() };
        let mut from = dims.len();
        for end in self.ends(digits, batched) {
            let group = storage.get(from..leading + end)?;
            dims.push(group.iter().fold(1, |all, extent| all.saturating_mul(*extent)));
            from = leading + end;
        }
        Some(dims)
    }

    /// The dims of the array whose words have this shape, each of `per` elements; `None` where they do not follow from it.
    pub(super) fn array(&self, pattern: &Pattern, shape: &[u64], per: u64) -> Option<Vec<u64>> {
        let (digits, batched) = (pattern.digits().len(), pattern.is_batched());
        let leading_apart = batched && (self.0.is_empty() || self.0.contains(&0));
        if batched && !leading_apart {
            return None;
        }
        let ends = match self.0.is_empty() {
            true => (1..=digits).collect(),
            false => self.ends(digits, batched),
        };
        // Without bars every digit is a dim, and the last ones, of extent 1, may be left out.
        let mut shape = shape.to_vec();
        if !batched && self.0.is_empty() && shape.len() < ends.len() {
            shape.resize(ends.len(), 1);
        }
        let (leading, groups) = shape.split_at_checked(shape.len().checked_sub(ends.len())?)?;
        if !batched && !leading.is_empty() {
            return None;
        }
        let found = rests(pattern, &ends, groups, per)?;
        let mut dims = leading.to_vec();
        dims.extend(extents(pattern, &found)?);
        Some(dims)
    }
}

/// The extent of each digit, where the groups that end there have these extents in words.
fn rests(pattern: &Pattern, ends: &[usize], groups: &[u64], per: u64) -> Option<Vec<u64>> {
    let mut extents: Vec<u64> =
        pattern.digits().iter().map(|digit| digit.size().unwrap_or(1)).collect();
    let mut left = per;
    for (at, (&end, &words)) in ends.iter().zip(groups).enumerate().rev() {
        let from = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        let open: Vec<usize> =
            (from..end).filter(|i| pattern.digits()[*i].size().is_none()).collect();
        let fixed =
            extents.get(from..end)?.iter().try_fold(1u64, |all, one| all.checked_mul(*one))?;
        let is = match open.as_slice() {
            [] if fixed.is_multiple_of(left) => (fixed / left, 1),
            [] if left.is_multiple_of(fixed) => (1, left / fixed),
            [rest] => {
                let whole = words.checked_mul(left)?;
                *extents.get_mut(*rest)? =
                    whole.checked_div(fixed).filter(|_| whole.is_multiple_of(fixed))?;
                (words, 1)
            }
            _ => return None,
        };
        left = is.1;
        if is.0 != words {
            return None;
        }
    }
    (left == 1).then_some(extents)
}

/// The extents of the axes, of those of their digits.
fn extents(pattern: &Pattern, digits: &[u64]) -> Option<Vec<u64>> {
    let mut extents = vec![1u64; pattern.rank()];
    for (digit, extent) in pattern.digits().iter().zip(digits) {
        let axis = extents.get_mut(usize::from(digit.axis()))?;
        *axis = axis.checked_mul(*extent)?;
    }
    Some(extents)
}
