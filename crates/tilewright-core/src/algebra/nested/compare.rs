//! Two tuples: relations between their brackets (congruent, weakly congruent, compatible), and division of a shape from the left
//! (`shape_div` and `ceil_div`).
//!
//! Laws: `congruent` holds if the brackets are equal. `weakly_congruent(a, b)` holds if b's brackets are a's with some
//! leaves replaced by tuples. `compatible(a, b)` holds if in addition each leaf of a is the product of its tuple in b, so
//! every coordinate of a is a coordinate of b. All are reflexive and transitive.
//!
//! Source: CUTLASS `include/cute/int_tuple.hpp`.
//!
//! Laws: in `shape_div(a, b)` an integer b is consumed by a's leaves from the left. Each leaf s becomes s/g, where g is
//! what it consumes of b (all of the remaining b, or all of s). Every division is exact, so `size(shape_div(a, b)) =
//! size(a)/b` if b divides a's size. `ceil_div` rounds both the quotient and the remaining b up, as CuTe does: a leaf s by b is
//! ⌈s/b⌉, and ⌈b/s⌉ remains. So `size(ceil_div(a, b))·b ≥ size(a)` for one leaf, and wherever every s divides what remains of b
//! or is a multiple of it; else tiles can be missing: (2,2) by 3 is (1,1). A tuple b is applied part by part; an integer leaf of
//! a is divided by the product of a tuple b.
//!
//! Source: CUTLASS `include/cute/int_tuple.hpp`.

use crate::{Error, IntTuple, MAX_MODES, algebra::nested::walk::ProfileWalk, const_fn::tri};

impl IntTuple {
    /// Returns whether both tuples have the same brackets, whatever the integers.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// assert!(tuple("(1,(2,3))").congruent(&tuple("(7,(0,0))")));
    /// assert!(!tuple("(1)").congruent(&tuple("1")));
    /// ```
    pub const fn congruent(&self, other: &IntTuple) -> bool {
        self.profile().same(other.profile())
    }

    /// Returns whether `other` has this tuple's brackets, in which each integer may be replaced by a tuple.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// assert!(tuple("3").weakly_congruent(&tuple("(1,(2,3))")));
    /// assert!(!tuple("(1,(2,3))").weakly_congruent(&tuple("(1,2)")));
    /// ```
    pub const fn weakly_congruent(&self, other: &IntTuple) -> bool {
        self.refined_by(other, false)
    }

    /// Returns whether every coordinate of this shape is a coordinate of `other`: the two are weakly congruent, and each
    /// integer is the product of the tuple that replaces it.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// assert!(tuple("24").compatible(&tuple("(4,6)")));
    /// assert!(!tuple("((2,2),6)").compatible(&tuple("(2,(2,6))")));
    /// ```
    pub const fn compatible(&self, other: &IntTuple) -> bool {
        self.refined_by(other, true)
    }

    const fn refined_by(&self, other: &IntTuple, products: bool) -> bool {
        let (mut a, mut b) = (ProfileWalk::new(self.profile()), ProfileWalk::new(other.profile()));
        while !a.end() {
            let fits = if a.open() {
                b.open()
            } else if a.close() {
                b.close()
            } else {
                match (a.leaf(), b.node()) {
                    (Some(leaf), Some((from, to))) => {
                        !products
                            || match other.product_of(from, to) {
                                Ok(product) => product == self.values()[leaf],
                                Err(_) => false,
                            }
                    }
                    _ => false,
                }
            };
            if !fits {
                return false;
            }
        }
        b.end()
    }
}

impl IntTuple {
    /// Divides this shape by `by` from the left, exactly.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit, or if of two integers neither divides the other;
    /// [illegal](Error::is_illegal) for integers below 1.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// assert_eq!(tuple("(4,5,6)").shape_div(&tuple("40")).unwrap().to_string(), "(1,1,3)");
    /// assert!(tuple("(4,6)").shape_div(&tuple("5")).unwrap_err().is_mismatch());
    /// ```
    pub const fn shape_div(&self, by: &IntTuple) -> Result<IntTuple, Error> {
        self.divided(by, true)
    }

    /// Divides this shape by `by` from the left and rounds each quotient up.
    ///
    /// # Errors
    /// Those of [`IntTuple::shape_div`], except divisibility.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// assert_eq!(tuple("(100,(8,9))").ceil_div(&tuple("(16,4)")).unwrap().to_string(), "(7,(2,9))");
    /// assert!(tuple("(4,6)").ceil_div(&tuple("0")).unwrap_err().is_illegal());
    /// ```
    pub const fn ceil_div(&self, by: &IntTuple) -> Result<IntTuple, Error> {
        self.divided(by, false)
    }

    const fn divided(&self, by: &IntTuple, exact: bool) -> Result<IntTuple, Error> {
        let mut values = [0; MAX_MODES];
        let (mut a, mut b) = (ProfileWalk::new(self.profile()), ProfileWalk::new(by.profile()));
        while !b.end() {
            if let Some(leaf) = b.leaf() {
                let (from, to) = match a.node() {
                    Some(range) => range,
                    None => return Err(unlike(self, by)),
                };
                tri!(consume(self.values(), from, to, by.values()[leaf], exact, &mut values));
            } else if let Some(leaf) = a.leaf() {
                let (from, to) = match b.node() {
                    Some(range) => range,
                    None => return Err(unlike(self, by)),
                };
                let product = tri!(by.product_of(from, to));
                tri!(consume(self.values(), leaf, leaf + 1, product, exact, &mut values));
            } else if !((a.open() && b.open()) || (a.close() && b.close())) {
                return Err(unlike(self, by));
            }
        }
        if !a.end() {
            return Err(unlike(self, by));
        }
        IntTuple::new(values.split_at(self.values().len()).0, self.profile())
    }
}

const fn unlike(a: &IntTuple, b: &IntTuple) -> Error {
    Error::mismatch(
        "a shape of rank {} divided by a tuple of rank {}, or bracketed unlike it",
        [a.rank() as i128, b.rank() as i128],
        "divide by an integer, or by one integer per part",
    )
}

/// Divides the leaves `from..to` by the remaining part of `by`, the first leaf first.
const fn consume(
    extents: &[i64],
    from: usize,
    to: usize,
    by: i64,
    exact: bool,
    values: &mut [i64; MAX_MODES],
) -> Result<(), Error> {
    let (mut left, mut i) = (by, from);
    while i < to {
        let extent = extents[i];
        if extent < 1 || left < 1 {
            return Err(Error::illegal(
                "extent {} divided by {}",
                [extent as i128, left as i128],
                "both are 1 or more",
            ));
        }
        if exact && extent % left != 0 && left % extent != 0 {
            return Err(Error::mismatch(
                "extent {} divided by {}: neither divides the other",
                [extent as i128, left as i128],
                "take a divisor or a multiple of the extent",
            ));
        }
        values[i] = extent / left + (extent % left != 0) as i64;
        left = left / extent + (left % extent != 0) as i64;
        i += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [IntTuple; 16] {
        [
            "()",
            "24",
            "(24)",
            "(4,6)",
            "((2,2),6)",
            "(2,(2,6))",
            "(2,2,6)",
            "((4,6))",
            "1",
            "(1)",
            "(1,1)",
            "3",
            "(1,(2,3))",
            "(3,(4,5))",
            "(1,2)",
            "((1,1),24)",
        ]
        .map(|text| IntTuple::parse(text).unwrap())
    }

    #[test]
    fn partial_orders() {
        for a in all() {
            assert!(a.congruent(&a) && a.weakly_congruent(&a) && a.compatible(&a));
            for b in all() {
                assert!(!a.compatible(&b) || a.weakly_congruent(&b));
                assert!(!a.congruent(&b) || a.weakly_congruent(&b));
                if a.compatible(&b) {
                    assert_eq!(a.product(), b.product(), "{a} {b}");
                }
                for c in all() {
                    for related in [IntTuple::compatible, IntTuple::weakly_congruent] {
                        assert!(
                            !(related(&a, &b) && related(&b, &c)) || related(&a, &c),
                            "{a} {b} {c}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_small_shape_by_every_integer() {
        for a in 1..=6i64 {
            for b in 1..=6 {
                for c in 1..=4 {
                    let shape = IntTuple::flat(&[a, b, c]).unwrap();
                    for by in 1..=a * b * c {
                        let by_tuple = IntTuple::integer(by);
                        let up = shape.ceil_div(&by_tuple).unwrap();
                        let mut rest = by;
                        let quotients = [a, b, c].map(|extent| {
                            let quotient = (extent + rest - 1) / rest;
                            rest = (rest + extent - 1) / extent;
                            quotient
                        });
                        assert_eq!(up.values(), quotients, "{shape} {by}");
                        match shape.shape_div(&by_tuple) {
                            Ok(rest) if a * b * c % by == 0 => {
                                assert_eq!(rest.product(), Ok(a * b * c / by), "{shape} {by}");
                                assert_eq!(rest, up);
                            }
                            // The last leaf may be a proper divisor of the remaining part of `by`.
                            Ok(rest) => assert_eq!(rest.values()[2], 1, "{shape} {by}"),
                            Err(error) => assert!(error.is_mismatch()),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn by_parts() {
        let div = |a, b| {
            let (a, b): (IntTuple, IntTuple) =
                (IntTuple::parse(a).unwrap(), IntTuple::parse(b).unwrap());
            a.shape_div(&b)
        };
        assert_eq!(
            div("((4,6),8)", "(8,(2,2))"),
            IntTuple::parse("((1,3),2)").map_err(|_| unreachable!())
        );
        assert!(div("(4,6)", "(2,2,2)").unwrap_err().is_mismatch());
        assert!(div("(4,6)", "((2,2))").unwrap_err().is_mismatch());
        assert!(div("(0,6)", "2").unwrap_err().is_illegal());
    }
}
