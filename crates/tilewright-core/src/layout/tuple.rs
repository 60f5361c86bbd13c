//! Integers and tuples of them, nested to any depth: CuTe's and TLA's IntTuple.
//!
//! Laws: `parse(print(T)) = T`; the integer `3` and the tuple `(3)` of one are different values, and `(3,)` reads as the
//! latter.

use core::fmt;

use crate::{
    Error, Layout, MAX_MODES, Mode, ParseError, Profile,
    algebra::nested::walk::{Builder, ProfileNode, TupleReader, whole},
    const_fn::tri,
};

/// An integer, or a nested tuple of integers: a shape, strides, a coordinate or an order; without heap storage.
///
/// At most [`MAX_MODES`] integers, in brackets nested at most [`MAX_DEPTH`](crate::MAX_DEPTH) deep. Source: CUTLASS
/// `include/cute/int_tuple.hpp`.
///
/// ```
/// use tilewright_core::IntTuple;
/// let shape = IntTuple::parse("(3,(2,3))").unwrap();
/// assert_eq!((shape.rank(), shape.depth(), shape.product()), (2, 2, Ok(18)));
/// assert_eq!(shape.get(&[1, 0]).unwrap().to_string(), "2");
/// assert_ne!(IntTuple::parse("3"), IntTuple::parse("(3,)"));
/// assert_eq!(IntTuple::parse("(3,").unwrap_err().span(), (3, 3));
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "HTuple")]
pub struct IntTuple {
    values: [i64; MAX_MODES],
    profile: Profile,
}

impl IntTuple {
    /// Creates the tuple with these integers and the brackets of `profile`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if `profile` has another number of leaves or an open bracket.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Profile};
    /// let profile = Profile::nested(&[2, 1]).unwrap();
    /// assert_eq!(IntTuple::new(&[4, 2, 12], &profile).unwrap().to_string(), "((4,2),12)");
    /// assert!(IntTuple::new(&[4, 2], &profile).unwrap_err().is_mismatch());
    /// ```
    pub const fn new(values: &[i64], profile: &Profile) -> Result<IntTuple, Error> {
        if values.len() != profile.leaves() || profile.open() != 0 {
            return Err(Error::mismatch(
                "{} integers for a profile of {} leaves with {} open brackets",
                [values.len() as i128, profile.leaves() as i128, profile.open() as i128],
                "give one integer per leaf and close every bracket",
            ));
        }
        let (mut all, mut i) = ([0; MAX_MODES], 0);
        while i < values.len() {
            all[i] = values[i];
            i += 1;
        }
        Ok(IntTuple { values: all, profile: profile.copied() })
    }

    /// Creates the tuple of these parts.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] integers or [`MAX_DEPTH`](crate::MAX_DEPTH) brackets;
    /// [illegal](Error::is_illegal) for an empty part.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let block = IntTuple::parse("(4,2)").unwrap();
    /// let shape = IntTuple::of(&[&block, &IntTuple::integer(12)]).unwrap();
    /// assert_eq!(shape.to_string(), "((4,2),12)");
    /// assert!(IntTuple::of(&[&IntTuple::of(&[]).unwrap()]).unwrap_err().is_illegal());
    /// ```
    pub const fn of(parts: &[&IntTuple]) -> Result<IntTuple, Error> {
        let (mut values, mut profile, mut i) = ([0; MAX_MODES], Profile::EMPTY, 0);
        while i < parts.len() {
            let (part, mut leaf) = (parts[i], 0);
            while let Some((opened, closed)) = part.profile.brackets(leaf) {
                let first = i == 0 && leaf == 0;
                let last = i + 1 == parts.len() && leaf + 1 == part.profile.leaves();
                tri!(profile.push(opened + first as usize, closed + last as usize));
                values[profile.leaves() - 1] = part.values[leaf];
                leaf += 1;
            }
            if leaf == 0 {
                return Err(Error::illegal(
                    "an empty tuple at position {} of a tuple",
                    [i as i128],
                    "write () only alone; a part of one coordinate is 1:0",
                ));
            }
            i += 1;
        }
        Ok(IntTuple { values, profile })
    }

    /// Creates a bare integer: rank 1, depth 0.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let nine = IntTuple::integer(9);
    /// assert_eq!(nine.to_string(), "9");
    /// assert_ne!(nine, IntTuple::flat(&[9]).unwrap());
    /// ```
    pub const fn integer(value: i64) -> IntTuple {
        let mut values = [0; MAX_MODES];
        values[0] = value;
        IntTuple { values, profile: Profile::LEAF }
    }

    /// Creates a flat tuple, `(a,b,c)`.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// assert_eq!(IntTuple::flat(&[3]).unwrap().to_string(), "(3)");
    /// assert!(IntTuple::flat(&[0; 33]).unwrap_err().is_limit());
    /// ```
    pub const fn flat(values: &[i64]) -> Result<IntTuple, Error> {
        IntTuple::new(values, &tri!(Profile::flat(values.len())))
    }

    /// Reads the text of a tuple; `_4` reads as 4.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// assert_eq!(IntTuple::parse("(_4,(-2,3))").unwrap().to_string(), "(4,(-2,3))");
    /// // A bare `_` keeps a position, which only a slicer does.
    /// assert!(IntTuple::parse("(4,_)").unwrap_err().to_string().contains("keeps a position"));
    /// assert_eq!(IntTuple::parse("(4,x)").unwrap_err().span(), (3, 4));
    /// ```
    pub const fn parse(text: &str) -> Result<IntTuple, ParseError> {
        let reader = tri!(TupleReader::read(text));
        if reader.kept != 0 {
            return Err(ParseError::new(
                (0, text.len()),
                "`_` keeps a position; it is legal only in slices",
                [],
            ));
        }
        match IntTuple::built(&reader.builder) {
            Ok(tuple) => Ok(tuple),
            Err(error) => Err(whole(text, error)),
        }
    }

    /// Returns the integers, left to right, without their brackets.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// assert_eq!(IntTuple::parse("((4,2),(4,3))").unwrap().values(), [4, 2, 4, 3]);
    /// ```
    pub const fn values(&self) -> &[i64] {
        self.values.split_at(self.profile.leaves()).0
    }

    /// Returns the brackets of the integers.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let (shape, stride) = ("((4,2),12)", "((12,48),1)");
    /// let read = |text| IntTuple::parse(text).unwrap();
    /// // Shape and stride of one layout have the same brackets.
    /// assert!(read(shape).profile().same(read(stride).profile()));
    /// ```
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the number of top-level positions; 1 for an integer.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let rank = |text| IntTuple::parse(text).unwrap().rank();
    /// assert_eq!((rank("((4,2),12)"), rank("7"), rank("()")), (2, 1, 0));
    /// ```
    pub const fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// Returns the depth of nesting; 0 for an integer.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let depth = |text| IntTuple::parse(text).unwrap().depth();
    /// assert_eq!((depth("((4,2),12)"), depth("7"), depth("(7)")), (2, 0, 1));
    /// ```
    pub const fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// Returns the value if this is an integer and not a tuple.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let integer = |text| IntTuple::parse(text).unwrap().as_integer();
    /// assert_eq!((integer("7"), integer("(7)")), (Some(7), None));
    /// ```
    pub const fn as_integer(&self) -> Option<i64> {
        if self.profile.depth() == 0 { Some(self.values[0]) } else { None }
    }

    /// Returns the part at a path of positions, each within the part before; an integer is its own part 0.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) past a tuple's rank.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = IntTuple::parse("((1,2),(3,(4,5)))").unwrap();
    /// assert_eq!(tuple.get(&[1, 1]).unwrap().to_string(), "(4,5)");
    /// assert!(tuple.get(&[1, 2]).unwrap_err().is_out_of_range());
    /// ```
    pub const fn get(&self, path: &[usize]) -> Result<IntTuple, Error> {
        let node = tri!(ProfileNode::at(&self.profile, path));
        let mut builder = Builder::new();
        tri!(self.put(&mut builder, node));
        IntTuple::built(&builder)
    }

    /// Returns the tuple of the integers that a builder received.
    pub(crate) const fn built(builder: &Builder) -> Result<IntTuple, Error> {
        let (modes, mut values, mut i) = (builder.modes(), [0; MAX_MODES], 0);
        while i < modes.len() {
            values[i] = modes[i].stride();
            i += 1;
        }
        IntTuple::new(values.split_at(modes.len()).0, &tri!(builder.profile()))
    }

    /// Appends a part of this tuple to a builder.
    pub(crate) const fn put(&self, builder: &mut Builder, node: ProfileNode) -> Result<(), Error> {
        let (mut modes, mut i) = ([Mode::new(0, 0); MAX_MODES], 0);
        while i < self.profile.leaves() {
            modes[i] = Mode::new(0, self.values[i]);
            i += 1;
        }
        builder.node(&modes, &self.profile, node)
    }

    /// Returns the product of all integers; 1 for `()`. For a shape, this is the number of coordinates.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) beyond 64 bits.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// assert_eq!(IntTuple::parse("((4,2),3)").unwrap().product(), Ok(24));
    /// assert!(IntTuple::flat(&[i64::MAX, 2]).unwrap().product().unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "size")]
    pub const fn product(&self) -> Result<i64, Error> {
        self.product_of(0, self.profile.leaves())
    }

    pub(crate) const fn product_of(&self, from: usize, to: usize) -> Result<i64, Error> {
        let (mut product, mut i) = (1i64, from);
        while i < to {
            product = match product.checked_mul(self.values[i]) {
                Some(product) => product,
                None => {
                    return Err(Error::overflow(
                        "the product {} times {} of a tuple's integers",
                        [product as i128, self.values[i] as i128],
                        "products must stay below 2^63",
                    ));
                }
            };
            i += 1;
        }
        Ok(product)
    }

    /// Returns the product of each top-level position: `(8,3)` for `((4,2),3)`; an integer is unchanged.
    ///
    /// # Errors
    /// Those of [`IntTuple::product`].
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let each = |text| IntTuple::parse(text).unwrap().product_each().unwrap().to_string();
    /// assert_eq!((each("((4,2),3)").as_str(), each("7").as_str()), ("(8,3)", "7"));
    /// ```
    pub const fn product_each(&self) -> Result<IntTuple, Error> {
        if self.profile.depth() == 0 {
            return Ok(self.copied());
        }
        let (mut values, mut axis) = ([0; MAX_MODES], 0);
        while let Some((from, to)) = self.profile.axis(axis) {
            values[axis] = tri!(self.product_of(from, to));
            axis += 1;
        }
        IntTuple::flat(values.split_at(axis).0)
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, expect_const};
    /// const SHAPE: IntTuple = expect_const!(IntTuple::parse("((4,2),12)"));
    /// const SAME: IntTuple = SHAPE.copied();
    /// assert_eq!(SHAPE, SAME);
    /// ```
    pub const fn copied(&self) -> IntTuple {
        IntTuple { values: self.values, profile: self.profile.copied() }
    }
}

impl Layout {
    /// Returns the extents with the brackets of the layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let zn = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// assert_eq!(zn.shape().to_string(), "((16,7),(16,7))");
    /// assert_eq!(zn.shape().product(), Ok(zn.size() as i64));
    /// ```
    pub const fn shape(&self) -> IntTuple {
        let (mut values, mut i) = ([0; MAX_MODES], 0);
        while i < self.modes().len() {
            // I1 keeps every extent below 2^63.
            values[i] = self.modes()[i].extent() as i64;
            i += 1;
        }
        IntTuple { values, profile: self.profile().copied() }
    }

    /// Returns the strides, in elements, with the brackets of the layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(layout.shape().to_string(), "((4,2),(4,3))");
    /// assert_eq!(layout.stride().to_string(), "((4,16),(1,32))");
    /// ```
    pub const fn stride(&self) -> IntTuple {
        let (mut values, mut i) = ([0; MAX_MODES], 0);
        while i < self.modes().len() {
            values[i] = self.modes()[i].stride();
            i += 1;
        }
        IntTuple { values, profile: self.profile().copied() }
    }
}

impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.profile.write(f, |f, leaf| write!(f, "{}", self.values[leaf]))
    }
}

crate::const_fn::debug_as_display!(IntTuple);

impl core::str::FromStr for IntTuple {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<IntTuple, ParseError> {
        IntTuple::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{string::ToString, vec::Vec};

    #[test]
    fn texts_come_back() {
        for text in ["()", "7", "-7", "(3)", "((1,0),(1,1))", "(((1)),2)", "(1,(2,3),4)"] {
            assert_eq!(IntTuple::parse(text).unwrap().to_string(), text);
        }
        for (text, printed) in [
            ("(3,)", "(3)"),
            (" ( 1 , ( 2 ,3,) ) ", "(1,(2,3))"),
            ("_4", "4"),
            ("(_2,_-3)", "(2,-3)"),
        ] {
            assert_eq!(IntTuple::parse(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn what_is_no_tuple_is_an_error() {
        for text in [
            "",
            "(",
            ")",
            "(1",
            "1)",
            "(1,",
            "(1 2)",
            "(,)",
            "((),1)",
            "(1,())",
            "_",
            "(1,_)",
            "x",
            "(1,é)",
            "9223372036854775808",
            "99999999999999999999999999999999999999999999999",
            "--1",
        ] {
            assert!(IntTuple::parse(text).is_err(), "{text}");
        }
        let deep = "(".repeat(5000);
        assert!(IntTuple::parse(&deep).is_err());
        assert!(IntTuple::parse(&deep[..40]).is_err());
        let many = "1,".repeat(33);
        assert!(IntTuple::parse(&std::format!("({many})")).is_err());
    }

    #[test]
    fn parts_are_what_a_tuple_was_made_of() {
        for texts in [&["1", "(2,3)", "((4),5)"][..], &["(7)"], &[]] {
            let parts: Vec<_> = texts.iter().map(|text| IntTuple::parse(text).unwrap()).collect();
            let tuple = IntTuple::of(&parts.iter().collect::<Vec<_>>()).unwrap();
            let text = std::format!("({})", texts.join(","));
            assert_eq!((Ok(&tuple), tuple.rank()), (IntTuple::parse(&text).as_ref(), parts.len()));
        }
        let empty = IntTuple::parse("()").unwrap();
        assert!(IntTuple::of(&[&empty]).unwrap_err().is_illegal());
        let wide = IntTuple::flat(&[1; 20]).unwrap();
        assert!(IntTuple::of(&[&wide, &wide]).unwrap_err().is_limit());
        let mut deep = IntTuple::integer(1);
        for _ in 0..crate::MAX_DEPTH {
            deep = IntTuple::of(&[&deep]).unwrap();
        }
        assert!(IntTuple::of(&[&deep]).unwrap_err().is_limit());
    }

    #[test]
    fn products_are_checked() {
        let big = IntTuple::flat(&[i64::MAX, 2]).unwrap();
        assert!(big.product().unwrap_err().is_overflow());
        assert_eq!(
            IntTuple::parse("((4,2),3)").unwrap().product_each().unwrap().to_string(),
            "(8,3)"
        );
        assert_eq!(IntTuple::parse("()").unwrap().product(), Ok(1));
    }
}
