//! Basis layouts as text: `(2,(3,4)):(1@0,(1@0@1,1@1@1))`.
//!
//! ```text
//! layout  := tuple ':' strides
//! strides := stride | '(' strides { ',' strides } [ ',' ] ')'
//! stride  := '0' | basis { '+' basis }
//! basis   := integer '@' digits { '@' digits }        innermost position first
//! ```

use core::fmt;

use super::BasisLayout;
use crate::{
    Error, IntTuple, MAX_DEPTH, MAX_MODES, ParseError,
    algebra::nested::walk::{Builder, MAX_TEXT},
    basis::Path,
    const_fn::tri,
    layout::text::Cursor,
};

impl BasisLayout {
    /// Reads the text of a basis layout.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// assert_eq!(BasisLayout::parse("( 2,2 ):( _1@0 ,1@1)").unwrap().to_string(), "(2,2):(1@0,1@1)");
    /// assert_eq!(BasisLayout::parse("(2,2):(1@0,1)").unwrap_err().span(), (11, 12));
    /// assert!(BasisLayout::parse("(2,2):1@0").is_err());
    /// ```
    pub const fn parse(text: &str) -> Result<BasisLayout, ParseError> {
        let mut colon = 0;
        while colon < text.len() && text.as_bytes()[colon] != b':' {
            colon += 1;
        }
        if colon == text.len() || colon > MAX_TEXT || text.len() - colon > MAX_TEXT {
            return Err(ParseError::new(
                (colon, text.len()),
                "expected `:` and strides, in {} bytes of text at most",
                [MAX_TEXT as i128],
            ));
        }
        let shape = tri!(IntTuple::parse(text.split_at(colon).0));
        let mut cursor = Cursor::starting(text, colon + 1);
        let map = tri!(cursor.basis_strides(&shape));
        cursor.skip();
        if cursor.at < text.len() {
            return Err(ParseError::new((cursor.at, text.len()), "text after the layout", []));
        }
        match map.checked() {
            Ok(map) => Ok(map),
            Err(error) => Err(refused((0, text.len()), error)),
        }
    }
}

const fn refused(span: (usize, usize), error: Error) -> ParseError {
    ParseError::refused(span, error)
}

impl Cursor<'_> {
    /// Reads the strides, which have the brackets of the shape.
    const fn basis_strides(&mut self, shape: &IntTuple) -> Result<BasisLayout, ParseError> {
        let (from, mut map) = (self.at, BasisLayout::zero(shape));
        let (mut builder, mut open, mut leaf) = (Builder::new(), 0usize, 0);
        loop {
            while self.eat(b'(') {
                open += 1;
                builder.open();
                if open > MAX_DEPTH {
                    return Err(ParseError::new(
                        (self.at - 1, self.at),
                        "brackets nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
            }
            if leaf == MAX_MODES {
                return Err(self.expected(
                    "more strides than a layout has modes",
                    "more strides than a layout has modes",
                ));
            }
            tri!(self.basis_stride(&mut map, leaf));
            if let Err(error) = builder.integer(0) {
                return Err(refused((from, self.at), error));
            }
            leaf += 1;
            open = tri!(self.close_strides(&mut builder, open));
            if open == 0 {
                break;
            }
        }
        match IntTuple::built(&builder) {
            Ok(strides) if strides.congruent(shape) => Ok(map),
            Ok(_) => Err(ParseError::new(
                (from, self.at),
                "the strides are bracketed unlike the extents",
                [],
            )),
            Err(error) => Err(refused((from, self.at), error)),
        }
    }

    /// Reads closing brackets, then a comma, after a stride; returns how many brackets stay open.
    const fn close_strides(
        &mut self,
        builder: &mut Builder,
        mut open: usize,
    ) -> Result<usize, ParseError> {
        while open > 0 {
            let comma = self.eat(b',');
            if self.eat(b')') {
                if let Err(error) = builder.close() {
                    return Err(refused((self.at - 1, self.at), error));
                }
                open -= 1;
            } else if comma {
                return Ok(open);
            } else {
                return Err(self.expected("expected `,` or `)`", "expected `,` or `)`"));
            }
        }
        Ok(0)
    }

    /// Reads the stride of one leaf: a sum of bases.
    const fn basis_stride(&mut self, map: &mut BasisLayout, leaf: usize) -> Result<(), ParseError> {
        loop {
            self.skip();
            let from = self.at;
            self.eat(b'_');
            let minus = self.eat(b'-');
            let value = tri!(self.digits_below(i64::MAX));
            let value = if minus { -value } else { value };
            let path = tri!(self.basis_path());
            if path.is(Path::ROOT) && value != 0 {
                return Err(ParseError::new(
                    (from, self.at),
                    "the stride {} is an integer; basis and integer strides do not mix",
                    [value as i128],
                ));
            }
            if let Err(error) = map.add(leaf, value, path) {
                return Err(refused((from, self.at), error));
            }
            if !self.eat(b'+') {
                return Ok(());
            }
        }
    }

    /// Reads `@0@1`, or nothing.
    const fn basis_path(&mut self) -> Result<Path, ParseError> {
        let mut path = Path::ROOT;
        while self.eat(b'@') {
            let from = self.at;
            let position = tri!(self.digits_below(MAX_MODES as i64 - 1));
            path = match path.within(position as u8) {
                Some(path) => path,
                None => {
                    return Err(ParseError::new(
                        (from, self.at),
                        "a coordinate nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
            };
        }
        Ok(path)
    }

    const fn digits_below(&mut self, most: i64) -> Result<i64, ParseError> {
        self.skip();
        let (from, mut value) = (self.at, 0i64);
        while let Some(digit) = self.digit() {
            let digit = digit as i64;
            value = match value.checked_mul(10) {
                Some(tens) if tens <= most - digit => tens + digit,
                _ => {
                    return Err(ParseError::new(
                        (from, self.at),
                        "an integer beyond {}",
                        [most as i128],
                    ));
                }
            };
        }
        if self.at == from {
            return Err(
                self.expected("expected a stride such as 1@0", "expected a stride such as 1@0")
            );
        }
        Ok(value)
    }
}

impl fmt::Display for BasisLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.shape)?;
        self.shape.profile().write(f, |f, leaf| {
            let mut first = true;
            for i in 0..self.len {
                if self.strides[i][leaf] != 0 {
                    write!(f, "{}{}", if first { "" } else { "+" }, self.strides[i][leaf])?;
                    self.paths[i].steps().iter().rev().try_for_each(|step| write!(f, "@{step}"))?;
                    first = false;
                }
            }
            if first { f.write_str("0") } else { Ok(()) }
        })
    }
}

crate::const_fn::debug_as_display!(BasisLayout);

impl core::str::FromStr for BasisLayout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<BasisLayout, ParseError> {
        BasisLayout::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, string::ToString};

    #[test]
    fn texts_come_back() {
        for text in [
            "(2,2):(1@0,1@1)",
            "4:1@0",
            "(4):(3@2)",
            "((2,3),4):((1@0@0,1@1@0),1@1)",
            "(2,3):(1@0+2@1,-5@1)",
            "(2,1):(1@3@1@0,0)",
            "(0,3):(1@31,7@0)",
        ] {
            assert_eq!(BasisLayout::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(BasisLayout::parse("(2,):( 1@0 + 1@0 ,)").unwrap().to_string(), "(2):(2@0)");
    }

    #[test]
    fn errors_point_at_the_column() {
        for (text, span, part) in [
            ("(2,2):(1@0,1)", (11, 12), "do not mix"),
            ("(2,2)", (5, 5), "expected `:`"),
            ("(2,2):(1@0)", (6, 11), "bracketed unlike"),
            ("(2,2):(1@0,1@0@0)", (11, 16), "an integer in one stride"),
            ("(2,2):(1@0,1@99)", (13, 15), "beyond 31"),
            ("(2,2):(1@0,é", (11, 13), "such as 1@0"),
            ("(2,2):(1@,1@1)", (9, 10), "such as 1@0"),
            ("(2,2):(1@0,1@1) x", (16, 17), "text after"),
            ("(2,2):(0,0)", (0, 11), "none of 2 modes"),
            ("(-2,2):(1@0,0)", (0, 14), "extent -2"),
            ("2:9999999999999999999@0", (2, 21), "beyond 9223372036854775807"),
        ] {
            let error = BasisLayout::parse(text).unwrap_err();
            assert_eq!(error.span(), span, "{text}: {error}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
        let deep = format!("2:1{}", "@0".repeat(MAX_DEPTH + 1));
        assert!(BasisLayout::parse(&deep).unwrap_err().to_string().contains("deeper"));
        assert!(BasisLayout::parse(&deep[..deep.len() - 2]).is_ok());
        let wide = format!("({}):({})", "1,".repeat(32), "1@0,".repeat(33));
        assert!(BasisLayout::parse(&wide).unwrap_err().to_string().contains("more strides"));
        let long = format!("{}:1@0", " ".repeat(MAX_TEXT + 1));
        assert!(BasisLayout::parse(&long).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_basis_layout_or_an_error(text in "[-_()0-9:,@+ é]{0,30}|\\(2,2\\):\\([0-9@+,-]{0,20}\\)") {
            if let Ok(map) = BasisLayout::parse(&text) {
                proptest::prop_assert_eq!(BasisLayout::parse(&map.to_string()), Ok(map));
            }
        }
    }
}
