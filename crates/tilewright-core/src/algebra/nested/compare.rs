//! Relations between the brackets of two tuples: congruent, weakly congruent, compatible.
//!
//! Laws: `congruent` holds if the brackets are equal. `weakly_congruent(a, b)` holds if b's brackets are a's with some
//! leaves replaced by tuples. `compatible(a, b)` holds if in addition each leaf of a is the product of its tuple in b, so
//! every coordinate of a is a coordinate of b. All are reflexive and transitive.
//!
//! Source: CUTLASS `include/cute/int_tuple.hpp`.

use crate::IntTuple;
use crate::algebra::nested::walk::ProfileWalk;

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
}
