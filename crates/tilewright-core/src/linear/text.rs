//! Linear layouts as text: `{lane=[[0,1],[0,2]],warp=[[1,0]]} -> (row:2,column:4)`.
//!
//! ```text
//! linear := '{' [ input { ',' input } [ ',' ] ] '}' [ '->' outputs ]
//! input  := name '=' '[' [ basis { ',' basis } [ ',' ] ] ']'      the images of 1, 2, 4 …
//! basis  := '[' [ int { ',' int } [ ',' ] ] ']' | int             one integer per output dim
//! outputs := '(' [ output { ',' output } [ ',' ] ] ')'
//! output := name [ ':' int ]            without its size: the smallest that holds all bases
//! ```
//!
//! Without `outputs` there is one output dim for each integer of the first basis: `dim0`, `dim1` … Law:
//! `parse(print(L)) = L`.

use core::fmt;

use super::{Dims, LinearLayout, MAX_BITS, MAX_DIMS, MAX_NAME, bits_of_size, width};
use crate::{Error, ParseError, const_fn::tri};

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// The names of output dims without a name in the text.
const STANDARD: [&str; MAX_DIMS] = [
    "dim0", "dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7", "dim8", "dim9", "dim10",
    "dim11", "dim12", "dim13", "dim14", "dim15",
];

impl LinearLayout {
    /// Reads a linear layout: for each input dim the images of its bits, then the output dims.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let text = "{in1 = [[1,1], [2,2]], in2 = [[0,1], [0,2]]} -> (out1:4, out2:4)";
    /// let tile = LinearLayout::parse(text).unwrap();
    /// assert_eq!(tile.to_string(), "{in1=[[1,1],[2,2]],in2=[[0,1],[0,2]]} -> (out1:4,out2:4)");
    /// // Output dims without a name are dim0, dim1 …, as large as the bases require.
    /// assert_eq!(LinearLayout::parse("{i=[4,8,1,2]}").unwrap().to_string(), "{i=[4,8,1,2]} -> (dim0:16)");
    ///
    /// let error = LinearLayout::parse("{i=[4,8]} -> (x:8)").unwrap_err();
    /// assert_eq!(error.span(), (6, 7));
    /// ```
    pub const fn parse(text: &str) -> Result<LinearLayout, ParseError> {
        if text.len() > MAX_TEXT {
            return Err(ParseError::new(
                (MAX_TEXT, text.len()),
                "a linear layout of {} bytes of text; at most {} are read",
                [text.len() as i128, MAX_TEXT as i128],
            ));
        }
        let mut cursor = LinearCursor { text: text.as_bytes(), at: 0 };
        let bases = tri!(cursor.bases());
        let layout = tri!(cursor.outputs(&bases));
        if cursor.peek() != 0 || cursor.at < text.len() {
            return Err(ParseError::new((cursor.at, text.len()), "text after the layout", []));
        }
        Ok(layout)
    }

    /// Returns the map with its output dims named `dim0`, `dim1` …, as in a text without names.
    ///
    /// # Errors
    /// Those of [`LinearLayout::rename_outs`]; since these names are legal, none occurs.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let rows = LinearLayout::identity(8, "lane", "row").unwrap();
    /// assert_eq!(rows.standard_outs().unwrap().to_string(), "{lane=[1,2,4]} -> (dim0:8)");
    /// ```
    pub const fn standard_outs(&self) -> Result<LinearLayout, Error> {
        self.rename_outs(STANDARD.split_at(self.outs.len()).0)
    }
}

/// The contents of the braces.
struct ParsedBases {
    ins: Dims,
    /// The bases, one list of integers each, and the span of each.
    values: [[u64; MAX_DIMS]; MAX_BITS],
    spans: [(usize, usize); MAX_BITS],
    len: usize,
    /// The number of integers of a basis, once there is one.
    rank: Option<usize>,
}

struct LinearCursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> LinearCursor<'a> {
    /// Returns the next byte that is not a space; 0 at the end.
    const fn peek(&mut self) -> u8 {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        if self.at < self.text.len() { self.text[self.at] } else { 0 }
    }

    const fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && self.at < self.text.len();
        self.at += found as usize;
        found
    }

    const fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), ParseError> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(what)) }
    }

    const fn expected(&mut self, what: &'static str) -> ParseError {
        self.peek();
        let mut to = self.at + (self.at < self.text.len()) as usize;
        while to < self.text.len() && self.text[to] & 0xC0 == 0x80 {
            to += 1;
        }
        ParseError::new((self.at, to), what, [])
    }

    /// Returns whether a list continues: passes the comma between two of its items, or its end.
    const fn more(&mut self, first: bool, end: u8, what: &'static str) -> Result<bool, ParseError> {
        if self.eat(end) {
            return Ok(false);
        }
        if !first {
            tri!(self.expect(b',', what));
        }
        Ok(!self.eat(end))
    }

    const fn bases(&mut self) -> Result<ParsedBases, ParseError> {
        let mut bases = ParsedBases {
            ins: Dims::NONE,
            values: [[0; MAX_DIMS]; MAX_BITS],
            spans: [(0, 0); MAX_BITS],
            len: 0,
            rank: None,
        };
        tri!(self.expect(b'{', "expected a linear layout, `{dim=[basis,…],…}`"));
        let mut first = true;
        while tri!(self.more(first, b'}', "expected `,` or `}`")) {
            let (name, span) = tri!(self.name("expected the name of an input dim"));
            tri!(self.expect(b'=', "expected `=` and the bases of the dim"));
            tri!(self.expect(b'[', "expected `[` and the bases of the dim"));
            let from = bases.len;
            while tri!(self.more(bases.len == from, b']', "expected `,` or `]`")) {
                tri!(self.basis(&mut bases));
            }
            if let Err(error) = bases.ins.push(name, bases.len - from) {
                return Err(ParseError::refused(span, error));
            }
            first = false;
        }
        Ok(bases)
    }

    /// Reads `[1,0]`, or `1` if there is one output dim.
    const fn basis(&mut self, bases: &mut ParsedBases) -> Result<(), ParseError> {
        self.peek();
        let (from, mut values, mut rank) = (self.at, [0; MAX_DIMS], 0);
        if self.eat(b'[') {
            while tri!(self.more(rank == 0, b']', "expected `,` or `]`")) {
                if rank == MAX_DIMS {
                    return Err(self.expected("expected `]` after 16 integers"));
                }
                values[rank] = tri!(self.integer());
                rank += 1;
            }
        } else {
            values[0] = tri!(self.integer());
            rank = 1;
        }
        let span = (from, self.at);
        match bases.rank {
            Some(other) if other != rank => {
                return Err(ParseError::new(
                    span,
                    "a basis of {} integers after one of {}; there is one per output dim",
                    [rank as i128, other as i128],
                ));
            }
            _ => bases.rank = Some(rank),
        }
        if bases.len == MAX_BITS {
            return Err(ParseError::new(span, "a basis behind {}; there are at most 62", [62]));
        }
        (bases.values[bases.len], bases.spans[bases.len]) = (values, span);
        bases.len += 1;
        Ok(())
    }

    /// Reads the output dims and returns the layout.
    const fn outputs(&mut self, bases: &ParsedBases) -> Result<LinearLayout, ParseError> {
        let mut all = LinearLayout { ins: bases.ins, ..LinearLayout::EMPTY };
        self.peek();
        let from = self.at;
        if self.eat(b'-') {
            tri!(self.expect(b'>', "expected `->` and the output dims"));
            tri!(self.expect(b'(', "expected `(` and the output dims"));
            while tri!(self.more(all.outs.len() == 0, b')', "expected `,` or `)`")) {
                tri!(self.output(bases, &mut all.outs));
            }
        } else if let Some(rank) = bases.rank {
            while all.outs.len() < rank {
                let at = all.outs.len();
                if let Err(error) = all.outs.push(STANDARD[at], bases.width(at)) {
                    return Err(ParseError::refused((0, self.at), error));
                }
            }
        }
        if let Some(rank) = bases.rank
            && rank != all.outs.len()
        {
            return Err(ParseError::new(
                (from, self.at),
                "{} output dims for bases of {} integers",
                [all.outs.len() as i128, rank as i128],
            ));
        }
        let mut i = 0;
        while i < bases.len {
            match all.outs.join(bases.values[i].split_at(all.outs.len()).0) {
                Ok(basis) => all.bases[i] = basis,
                Err(error) => return Err(ParseError::refused(bases.spans[i], error)),
            }
            i += 1;
        }
        Ok(all)
    }

    const fn output(&mut self, bases: &ParsedBases, outs: &mut Dims) -> Result<(), ParseError> {
        let (name, span) = tri!(self.name("expected the name of an output dim"));
        let bits = if self.eat(b':') {
            self.peek();
            let from = self.at;
            match bits_of_size(tri!(self.integer())) {
                Ok(bits) => bits,
                Err(error) => return Err(ParseError::refused((from, self.at), error)),
            }
        } else {
            bases.width(outs.len())
        };
        match outs.push(name, bits) {
            Ok(()) => Ok(()),
            Err(error) => Err(ParseError::refused(span, error)),
        }
    }

    const fn name(&mut self, what: &'static str) -> Result<(&'a str, (usize, usize)), ParseError> {
        self.peek();
        let (from, text) = (self.at, self.text);
        while self.at < text.len()
            && (text[self.at].is_ascii_alphanumeric() || text[self.at] == b'_')
        {
            self.at += 1;
        }
        if self.at == from || text[from].is_ascii_digit() {
            self.at = from;
            return Err(self.expected(what));
        }
        if self.at - from > MAX_NAME {
            return Err(ParseError::new(
                (from, self.at),
                "a name of {} bytes; a dim's has at most 15",
                [(self.at - from) as i128],
            ));
        }
        match core::str::from_utf8(text.split_at(self.at).0.split_at(from).1) {
            Ok(name) => Ok((name, (from, self.at))),
            Err(_) => Err(ParseError::new((from, self.at), what, [])),
        }
    }

    const fn integer(&mut self) -> Result<u64, ParseError> {
        self.peek();
        let (from, mut value) = (self.at, 0u64);
        while self.at < self.text.len() && self.text[self.at].is_ascii_digit() {
            let digit = (self.text[self.at] - b'0') as u64;
            value = match value.checked_mul(10) {
                Some(tens) => tens.saturating_add(digit),
                None => u64::MAX,
            };
            self.at += 1;
        }
        if self.at == from {
            return Err(self.expected("expected an integer"));
        }
        if value >= 1 << 63 {
            return Err(ParseError::new((from, self.at), "the integer does not fit 63 bits", []));
        }
        Ok(value)
    }
}

impl ParsedBases {
    /// Returns the number of bits of output dim `at` that hold every basis.
    const fn width(&self, at: usize) -> usize {
        let (mut all, mut i) = (0, 0);
        while i < self.len && at < MAX_DIMS {
            all |= self.values[i][at];
            i += 1;
        }
        width(all)
    }
}

impl fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, dim) in self.ins().iter().enumerate() {
            write!(f, "{}{}=[", if i == 0 { "" } else { "," }, dim.name())?;
            for bit in 0..dim.bits() {
                f.write_str(if bit == 0 { "" } else { "," })?;
                let basis = self.outs.split(self.bases[self.ins.before(i) + bit]);
                match basis.as_slice() {
                    [one] => write!(f, "{one}")?,
                    all => {
                        f.write_str("[")?;
                        for (j, x) in all.iter().enumerate() {
                            write!(f, "{}{x}", if j == 0 { "" } else { "," })?;
                        }
                        f.write_str("]")?;
                    }
                }
            }
            f.write_str("]")?;
        }
        f.write_str("} -> (")?;
        for (i, dim) in self.outs().iter().enumerate() {
            write!(f, "{}{}:{}", if i == 0 { "" } else { "," }, dim.name(), dim.size())?;
        }
        f.write_str(")")
    }
}

crate::const_fn::debug_as_display!(LinearLayout);

impl core::str::FromStr for LinearLayout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<LinearLayout, ParseError> {
        LinearLayout::parse(text)
    }
}
