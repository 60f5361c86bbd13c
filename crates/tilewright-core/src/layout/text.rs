//! CuTe/TLA text: `((4,2),(4,3)):((4,16),(1,32))`, with a swizzle before it: `Sw<3,3,3> o`, `F2<2,1> o`.
//!
//! ```text
//! layout  := [ swizzle 'o' [ int 'o' ] ] plain [ ('+' | '-') int ]
//! swizzle := ('Sw' | 'S') '<' int ',' int ',' int '>' | 'F2' '<' int { ',' int } '>'     images of 1, 2, 4 …
//! plain   := tuple [ ':' tuple ]                    without strides: compact, first axis fastest
//! tuple   := int | '(' [ tuple { ',' tuple } [ ',' ] ] ')'
//! int     := [ '_' ] [ '-' ] digits                 `_4`, a static 4, reads as 4
//! ```
//!
//! Law: `parse(print(L)) = L`, and nothing is canonicalised: modes of extent 1 keep their strides.

use crate::{
    Error, Layout, MAX_DEPTH, MAX_MODES, Mode, ParseError, Profile, Swizzle, const_fn::tri,
    swizzle::MAX_BITS,
};

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 4096;

impl Layout {
    /// Reads CuTe or TLA text.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault, also if the text is well formed and the layout is illegal.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// assert_eq!(Layout::parse("(4,8)").unwrap().to_string(), "(4,8):(1,4)");
    /// assert_eq!(Layout::parse("Sw<3,3,3> o (8,64):(64,1)").unwrap().swizzle().bits(), 3);
    /// let error = Layout::parse("(8,32):(32)").unwrap_err();
    /// assert_eq!(error.to_string(), "the strides are bracketed unlike the extents: rank 1 against 2");
    /// let error = Layout::parse("(100):3").unwrap_err();
    /// assert_eq!(error.to_string(), "the strides are bracketed unlike the extents, both of rank 1");
    /// ```
    pub const fn parse(text: &str) -> Result<Layout, ParseError> {
        let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
        if text.len() > MAX_TEXT {
            return Err(ParseError::new(
                (MAX_TEXT, text.len()),
                "a layout of {} bytes of text; at most {} are read",
                [text.len() as i128, MAX_TEXT as i128],
            ));
        }
        let layout = tri!(cursor.layout());
        cursor.skip();
        if cursor.at < cursor.text.len() {
            return Err(ParseError::new((cursor.at, text.len()), "text after the layout", []));
        }
        Ok(layout)
    }

    /// Reads a layout in a constant, where an illegal text is a compile error with its message;
    /// [`layout!`](crate::layout) expands to this.
    ///
    /// # Panics
    /// If the text is not a legal layout. It is meant for constants; use [`Layout::parse`] on input.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// const TILE: Layout = Layout::parse_const("(8,64):(64,1)");
    /// assert_eq!(TILE.size(), 512);
    /// ```
    /// ```compile_fail
    /// const BAD: tilewright_core::Layout = tilewright_core::Layout::parse_const("(8,64):(64");
    /// ```
    #[track_caller]
    pub const fn parse_const(text: &str) -> Layout {
        match Layout::parse(text) {
            Ok(layout) => layout,
            Err(error) => error.panic_const_in(text),
        }
    }
}

/// The leaves of a tuple, with their brackets and the span of the text.
struct Leaves {
    values: [i128; MAX_MODES],
    profile: Profile,
    span: (usize, usize),
}

/// A position in the bytes of a text, which the readers of core's texts share.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn starting(text: &'a str, at: usize) -> Cursor<'a> {
        Cursor { text: text.as_bytes(), at }
    }

    pub(crate) const fn skip(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Returns the next byte that is not a space; 0 at the end.
    pub(crate) const fn peek(&mut self) -> u8 {
        // Constants are evaluated by an interpreter, so the common byte is tested first.
        if self.at < self.text.len() && self.text[self.at] > b' ' {
            return self.text[self.at];
        }
        self.skip();
        self.next()
    }

    /// Passes `byte`, which is not 0, if it is next; returns whether it did.
    pub(crate) const fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += found as usize;
        found
    }

    pub(crate) const fn expected(
        &mut self,
        what: &'static str,
        at_end: &'static str,
    ) -> ParseError {
        self.skip();
        self.expected_here(what, at_end)
    }

    /// Returns the error that `what` was expected at the next byte, which may be a space.
    pub(crate) const fn expected_here(
        &self,
        what: &'static str,
        at_end: &'static str,
    ) -> ParseError {
        if self.at >= self.text.len() {
            return ParseError::new((self.text.len(), self.text.len()), at_end, []);
        }
        // A span ends between two characters of the text, also if the text is not ASCII.
        let mut to = self.at + 1;
        while to < self.text.len() && self.text[to] & 0xC0 == 0x80 {
            to += 1;
        }
        ParseError::new((self.at, to), what, [])
    }

    /// Returns the next byte, which may be a space; 0 at the end.
    pub(crate) const fn next(&self) -> u8 {
        if self.at < self.text.len() { self.text[self.at] } else { 0 }
    }

    /// Passes the next byte if it is a digit, without spaces before it; returns its value.
    pub(crate) const fn digit(&mut self) -> Option<u8> {
        if self.at < self.text.len() && self.text[self.at].is_ascii_digit() {
            self.at += 1;
            return Some(self.text[self.at - 1] - b'0');
        }
        None
    }

    const fn layout(&mut self) -> Result<Layout, ParseError> {
        self.skip();
        let start = self.at;
        let swizzle = tri!(self.swizzle());
        let mut offset = 0;
        if !swizzle.is_identity() || self.at > start {
            let before = self.at;
            if self.peek() != b'(' {
                offset = tri!(self.integer());
                if !self.eat(b'o') {
                    // The integer was the layout itself: `Sw<1,0,1> o 2:1`.
                    self.at = before;
                    offset = 0;
                }
            }
        }
        let from = self.at;
        let shape = tri!(self.tuple());
        let stride = if self.eat(b':') { tri!(self.tuple()) } else { tri!(compact(&shape)) };
        if !shape.profile.same(&stride.profile) {
            let ranks = [stride.profile.rank() as i128, shape.profile.rank() as i128];
            let message = if ranks[0] == ranks[1] {
                "the strides are bracketed unlike the extents, both of rank {}"
            } else {
                "the strides are bracketed unlike the extents: rank {} against {}"
            };
            return Err(ParseError::new(stride.span, message, ranks));
        }
        if self.peek() == b'+' || self.peek() == b'-' {
            let minus = self.peek() == b'-';
            self.at += 1;
            let value = tri!(self.integer());
            offset = if minus { -value } else { value };
        }
        match build(&shape, &stride, offset, swizzle) {
            Ok(layout) => Ok(layout),
            Err(error) => Err(ParseError::refused((from, self.at), error)),
        }
    }

    const fn tuple(&mut self) -> Result<Leaves, ParseError> {
        self.skip();
        let from = self.at;
        let mut leaves =
            Leaves { values: [0; MAX_MODES], profile: Profile::EMPTY, span: (from, from) };
        let (mut open, mut opened) = (0usize, 0usize);
        loop {
            while self.peek() == b'(' {
                self.at += 1;
                opened += 1;
                open += 1;
                if open > MAX_DEPTH {
                    return Err(ParseError::new(
                        (self.at - 1, self.at),
                        "brackets nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
            }
            if opened == 1 && open == 1 && leaves.profile.leaves() == 0 && self.peek() == b')' {
                self.at += 1;
                break;
            }
            let (at, value) = (self.at, tri!(self.integer()));
            let closed = self.closing(open);
            open -= closed;
            if leaves.profile.leaves() < MAX_MODES {
                leaves.values[leaves.profile.leaves()] = value;
            }
            if let Err(error) = leaves.profile.push(opened, closed) {
                return Err(ParseError::refused((at, self.at), error));
            }
            opened = 0;
            if open == 0 {
                break;
            }
            if !self.eat(b',') {
                return Err(self.expected(
                    "expected `,` or `)`",
                    "expected `,` or `)`, found the end of the text",
                ));
            }
        }
        leaves.span = (from, self.at);
        Ok(leaves)
    }

    /// Passes the brackets that close after a leaf, at most `open`, each with or without a comma before it.
    const fn closing(&mut self, open: usize) -> usize {
        let mut closed = 0;
        while closed < open {
            let (before, mut next) = (self.at, self.peek());
            if next == b',' {
                self.at += 1;
                next = self.peek();
            }
            if next != b')' {
                self.at = before;
                break;
            }
            self.at += 1;
            closed += 1;
        }
        closed
    }

    pub(crate) const fn integer(&mut self) -> Result<i128, ParseError> {
        let mut next = self.peek();
        let from = self.at;
        if next == b'_' {
            self.at += 1;
            next = self.peek();
        }
        let minus = next == b'-';
        self.at += minus as usize;
        let (mut value, first) = (0i128, self.at);
        while let Some(digit) = self.digit() {
            // Stops growing once the value is too large in any case.
            if value <= u64::MAX as i128 {
                value = value * 10 + digit as i128;
            }
        }
        if value > u64::MAX as i128 {
            return Err(ParseError::new((from, self.at), "the integer does not fit 64 bits", []));
        }
        if self.at == first {
            return Err(self.expected(
                "expected an integer or `(`",
                "expected an integer or `(`, found the end of the text",
            ));
        }
        if self.next() == b'@' {
            return Err(ParseError::new(
                (from, self.at + 1),
                "basis strides such as 1@0 map to coordinates; a layout's strides are integers",
                [],
            ));
        }
        Ok(if minus { -value } else { value })
    }
}

/// Returns the strides of the compact layout whose first mode varies fastest.
const fn compact(shape: &Leaves) -> Result<Leaves, ParseError> {
    let mut stride =
        Leaves { values: [0; MAX_MODES], profile: shape.profile.copied(), span: shape.span };
    let (mut product, mut i) = (1i128, 0);
    while i < shape.profile.leaves() {
        stride.values[i] = product;
        product *= shape.values[i];
        if product > i64::MAX as i128 || product < 0 {
            return Err(ParseError::new(
                shape.span,
                "the extents multiply to {}, more than 2^63 - 1",
                [product],
            ));
        }
        i += 1;
    }
    Ok(stride)
}

const fn build(
    shape: &Leaves,
    stride: &Leaves,
    offset: i128,
    swizzle: Swizzle,
) -> Result<Layout, Error> {
    let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
    while i < shape.profile.leaves() {
        let (extent, step) = (shape.values[i], stride.values[i]);
        if extent < 0 {
            return Err(Error::illegal(
                "extent {} of mode {}",
                [extent, i as i128],
                "extents are 0 or more",
            ));
        }
        if step < i64::MIN as i128 || step > i64::MAX as i128 {
            return Err(Error::overflow(
                "stride {} of mode {}",
                [step, i as i128],
                "strides must fit 64 bits",
            ));
        }
        modes[i] = Mode::new(extent as u64, step as i64);
        i += 1;
    }
    if offset < -(i64::MAX as i128) || offset > i64::MAX as i128 {
        return Err(Error::overflow("offset {}", [offset], "offsets must fit 64 bits"));
    }
    Layout::new(modes.split_at(i).0, &shape.profile, offset as i64, swizzle)
}

impl core::str::FromStr for Layout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Layout, ParseError> {
        Layout::parse(text)
    }
}

impl Cursor<'_> {
    /// Reads `Sw<b,m,s> o`, `F2<1,3> o`, or nothing.
    pub(crate) const fn swizzle(&mut self) -> Result<Swizzle, ParseError> {
        let swizzle = match self.peek() {
            b'S' => tri!(self.numbers()),
            b'F' => tri!(self.images()),
            _ => return Ok(Swizzle::IDENTITY),
        };
        if !self.eat(b'o') {
            return Err(self.expected(
                "expected `o` between the swizzle and its layout",
                "expected `o` and a layout, found the end of the text",
            ));
        }
        Ok(swizzle)
    }

    /// Reads `F2<1,3>`.
    const fn images(&mut self) -> Result<Swizzle, ParseError> {
        let from = self.at;
        self.at += 1;
        let (mut images, mut len) = ([0u64; MAX_BITS], 0);
        let named = self.eat(b'2');
        loop {
            let separator = if len == 0 { b'<' } else { b',' };
            if !named || !self.eat(separator) {
                return Err(self.expected(
                    "expected a swizzle by images, `F2<2,1>`",
                    "expected a swizzle by images, `F2<2,1>`, found the end of the text",
                ));
            }
            let (at, image) = (self.at, tri!(self.integer()));
            if len == images.len() || image < 0 || image >> 62 != 0 {
                return Err(ParseError::new(
                    (at, self.at),
                    "image {} of {}; a swizzle has at most 62, of 62 bits",
                    [len as i128, image],
                ));
            }
            images[len] = image as u64;
            len += 1;
            if self.eat(b'>') {
                break;
            }
        }
        match Swizzle::of_images(images.split_at(len).0) {
            Ok(swizzle) => Ok(swizzle),
            Err(error) => Err(ParseError::refused((from, self.at), error)),
        }
    }

    /// Reads `Sw<b,m,s>`.
    const fn numbers(&mut self) -> Result<Swizzle, ParseError> {
        let from = self.at;
        self.at += 1;
        self.eat(b'w');
        let (mut numbers, mut i) = ([0i128; 3], 0);
        while i < 3 {
            if !self.eat(if i == 0 { b'<' } else { b',' }) {
                return Err(self.expected(
                    "expected a swizzle `Sw<bits,base,shift>`",
                    "expected a swizzle `Sw<bits,base,shift>`, found the end of the text",
                ));
            }
            numbers[i] = tri!(self.integer());
            i += 1;
        }
        if !self.eat(b'>') {
            return Err(self.expected("expected `>`", "expected `>`, found the end of the text"));
        }
        let [bits, base, shift] = numbers;
        if bits < 0 || bits > 62 || base < 0 || base > 62 || shift < -62 || shift > 62 {
            return Err(ParseError::new(
                (from, self.at),
                "swizzle <{},{},{}> is not within bits 0 to 62",
                [bits, base, shift],
            ));
        }
        match Swizzle::new(bits as u8, base as u8, shift as i8) {
            Ok(swizzle) => Ok(swizzle),
            Err(error) => Err(ParseError::refused((from, self.at), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use super::*;

    #[test]
    fn texts_come_back_as_written() {
        for text in [
            "4:1",
            "(4):(1)",
            "((2,3)):((1,2))",
            "(4,2):(1,4)",
            "():()",
            "(2,(1,6)):(1,(6,2))",
            "8:-1+7",
            "(2,2):(1,2)-3",
            "Sw<3,3,3> o (8,64):(64,1)",
            "Sw<2,0,-2> o 16 o (4,4):(1,4)",
            "F2<2,1> o 4:1",
            "F2<3,1,7,8,48,16> o 16 o (4,4):(1,4)",
            "(0,5):(7,-9)",
            "Sw<1,0,1> o 2:1",
        ] {
            assert_eq!(Layout::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_spellings_are_read() {
        for (text, printed) in [
            ("( 4 , 2 ):( 1,4 )", "(4,2):(1,4)"),
            ("(4,):(1,)", "(4):(1)"),
            ("(_2,4):(_12,_1)", "(2,4):(12,1)"),
            ("(4,8)", "(4,8):(1,4)"),
            ("((2,3),4)", "((2,3),4):((1,2),6)"),
            // CuTe's family has one spelling.
            ("F2<1,2,5,10> o 16:1", "Sw<2,0,2> o 16:1"),
            ("F2<1,2> o (4):(1)", "(4):(1)"),
            ("S<3,4,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,4,3> o (8,64):(64,1)"),
            ("()", "():()"),
            ("7", "7:1"),
        ] {
            assert_eq!(Layout::parse(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn errors_point_at_the_column() {
        for (text, span, part) in [
            ("(8,32", (5, 5), "end of the text"),
            ("4:1x", (3, 4), "text after"),
            ("99999999999999999999:1", (0, 20), "64 bits"),
            ("(8,32):(32)", (7, 11), "rank 1 against 2"),
            ("(2,2):(1@0,1@1)", (7, 9), "basis"),
            ("", (0, 0), "end of the text"),
            ("(2,", (3, 3), "end of the text"),
            ("(2,é)", (3, 5), "expected an integer"),
            ("-2:1", (0, 4), "extent -2"),
            ("Sw<3,0,2> o 8:1", (0, 9), "overlap"),
            ("Sw<999,0,2> o 8:1", (0, 11), "bits 0 to 62"),
            ("F2<1,2,3> o 8:1", (0, 9), "offsets 4 and 3 have one image, 3"),
            ("F2<1,4> o 8:1", (0, 7), "offset 2 has the image 4"),
            ("F2<1,-4> o 8:1", (5, 7), "image 1 of -4"),
            ("F2<> o 8:1", (3, 4), "expected an integer"),
            ("F<1> o 8:1", (1, 2), "expected a swizzle by images"),
            ("F2<1> 8:1", (6, 7), "expected `o`"),
            ("((),2)", (2, 3), "expected an integer"),
        ] {
            let error = Layout::parse(text).unwrap_err();
            assert_eq!(error.span(), span, "{text}: {error}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn depth_and_size_of_texts_are_bounded() {
        let deep = |n: usize| "(".repeat(n) + "1" + &")".repeat(n);
        assert!(Layout::parse(&deep(MAX_DEPTH)).is_ok());
        assert!(Layout::parse(&deep(MAX_DEPTH + 1)).is_err());
        assert!(Layout::parse(&"(".repeat(5000)).is_err());
        let wide = |n: usize| String::from("(1") + &",1".repeat(n - 1) + ")";
        assert!(Layout::parse(&wide(MAX_MODES)).is_ok());
        assert!(Layout::parse(&wide(MAX_MODES + 1)).unwrap_err().cause().unwrap().is_limit());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_layout_or_an_error(text in "[-_()0-9:,+oSwF<> é]{0,40}|\\PC*") {
            if let Ok(layout) = Layout::parse(&text) {
                proptest::prop_assert_eq!(Layout::parse(&layout.to_string()), Ok(layout));
            }
        }
    }
}
