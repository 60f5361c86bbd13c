//! Checks a layout against the dims of an array.

use tilewright_core::Error as Refusal;

use crate::{Layout, Split};

impl Layout {
    /// Checks that arrays of these dims can have this layout: the rank fits, and splits are within their physical dims.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank; [overflow](Error::is_overflow) for a dim beyond 2⁶³ − 1;
    /// [illegal](Error::is_illegal) for a split of a dim that does not exist or is already split, or whose indices do not
    /// ascend from at least 1 to below the extent.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{0,1,2:SC(0:30)(1:40,130)}").unwrap();
    /// assert_eq!(layout.validate(&[150, 200, 100]), Ok(()));
    /// assert!(layout.validate(&[2, 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "ValidateLayoutForShape")]
    pub fn validate(&self, dims: &[u64]) -> Result<(), Error> {
        if self.rank() != dims.len() {
            return Err(Error::mismatch(
                "layout minor_to_major field contains {} elements, but shape has {} dimensions",
                [self.rank() as i128, dims.len() as i128],
                "the order names each dim once",
            ));
        }
        if let Some(dim) = dims.iter().position(|&extent| extent > i64::MAX as u64) {
            return Err(Error::overflow(
                "dim {} of extent {}",
                [dim as i128, dims[dim].into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        let physical = self.physical(dims);
        let mut seen = vec![false; physical.len()];
        for split in self.splits() {
            let dim = check_split(split, &physical)?;
            if seen.get(dim) == Some(&true) {
                return Err(Error::illegal(
                    "physical dim {} is split twice",
                    [split.dimension.into()],
                    "list all of a dim's split indices in one group",
                ));
            }
            if let Some(seen) = seen.get_mut(dim) {
                *seen = true;
            }
        }
        Ok(())
    }

    /// Returns the extents in physical order, the most major first. The rank must fit.
    pub(crate) fn physical(&self, dims: &[u64]) -> Vec<u64> {
        let extent = |&dim: &u64| usize::try_from(dim).ok().and_then(|dim| dims.get(dim)).copied();
        self.minor_to_major().iter().rev().filter_map(extent).collect()
    }
}

/// Returns the physical dim of a split; checks its indices.
fn check_split(split: &Split, physical: &[u64]) -> Result<usize, Error> {
    let dim = usize::try_from(split.dimension).unwrap_or(usize::MAX);
    let Some(&extent) = physical.get(dim) else {
        return Err(Error::illegal(
            "a split of physical dim {} of {}",
            [split.dimension.into(), physical.len() as i128],
            "physical dims count from 0, the most major",
        ));
    };
    if split.indices.is_empty() {
        return Err(Error::illegal(
            "a split of physical dim {} at no index",
            [split.dimension.into()],
            "give the indices at which a new piece begins",
        ));
    }
    let mut last = 0;
    for &index in &split.indices {
        if index <= last || index >= extent {
            return Err(Error::illegal(
                "split index {} after {} in physical dim {} of extent {}",
                [index.into(), last.into(), split.dimension.into(), extent.into()],
                "split indices must ascend, above 0 and below the extent",
            ));
        }
        last = index;
    }
    Ok(dim)
}

#[cfg(test)]
mod tests {
    use crate::{Layout, Split};

    #[test]
    fn splits_that_do_not_fit_are_refused() {
        let dims = [150, 200, 100];
        let check =
            |splits: &str| Layout::parse(&format!("{{0,1,2:SC{splits}}}")).unwrap().validate(&dims);
        for (splits, why) in [
            ("(3:30)", "physical dim 3 of 3"),
            ("(0:30)(0:40)", "split twice"),
            ("(1:40,30)", "index 30 after 40"),
            ("(1:0,40)", "index 0 after 0"),
            ("(1:40,200)", "index 200 after 40 in physical dim 1 of extent 200"),
        ] {
            let error = check(splits).unwrap_err();
            assert!(error.is_illegal() && error.to_string().contains(why), "{splits}: {error}");
        }
        assert_eq!(check("(0:30)(1:40,130)"), Ok(()));
    }

    #[test]
    fn a_split_at_no_index_is_refused() {
        let split = Split { dimension: 0, indices: vec![] };
        let error = Layout::ascending(1).with_splits(&[split]).validate(&[5]).unwrap_err();
        assert!(error.is_illegal() && error.to_string().contains("dim 0 at no index"));
    }

    #[test]
    fn another_rank_is_said_with_both_numbers() {
        let error = Layout::ascending(3).validate(&[2, 3]).unwrap_err();
        assert!(error.is_mismatch());
        assert!(error.to_string().contains("3 elements, but shape has 2 dimensions"));
        assert!(Layout::ascending(1).validate(&[u64::MAX]).unwrap_err().is_overflow());
    }
}
