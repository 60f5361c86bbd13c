//! How two tuples' trees relate: congruent, weakly congruent, compatible.
//!
//! Laws: `congruent` is "same brackets"; `weakly_congruent(a, b)` is "b's tree is a's with leaves grown
//! into subtrees"; `compatible(a, b)` is that, each leaf of a being the product of b's subtree: every
//! coordinate of a is one of b. Both are reflexive and transitive.
//!
//! Source: CUTLASS `include/cute/int_tuple.hpp`.

use super::walk::Walk;
use crate::IntTuple;

impl IntTuple {
    /// Whether both have the same brackets, whatever the integers.
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

    /// Whether `other` has this tuple's brackets, where each integer may have become a tuple.
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

    /// Whether a coordinate of this shape is a coordinate of `other`: weakly congruent, and each
    /// integer the product of what it became.
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
        let (mut a, mut b) = (Walk::new(self.profile()), Walk::new(other.profile()));
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
