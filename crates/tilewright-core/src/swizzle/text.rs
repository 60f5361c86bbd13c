//! The text of a swizzle before a layout: `Sw<3,3,3> o`, `F2<2,1> o`; the parser of layouts states the grammar.

use crate::{ParseError, Swizzle, layout::text::Cursor, macros::tri, swizzle::MAX_BITS};

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
