//! Parser of expressions.
//!
//! ```text
//! expr     := operand { 'o' operand }                        composition, from the left
//! operand  := layout { ('+' | '-') product } [ 'valid' tuple ] [ 'capacity' digits ]
//! layout   := product [ ':' product ]
//! product  := primary { ('*' | '/' | '%') primary }
//! primary  := integer | unit | '_' | '(' expr ')' | tuple | tiler | swizzle | call | '"' SPEC '"' | linear | dims
//! integer  := [ '-' ] [ '_' ] digits [ '_c' ] | '_m' digits
//! unit     := integer '@' digits { '@' digits }                a stride that names a basis
//! tuple    := '(' [ expr { ',' expr } [ ',' ] ] ')'
//! tiler    := '<' [ expr { ',' expr } [ ',' ] ] '>'
//! swizzle  := ('Sw' | 'S') '<' integer ',' integer ',' integer '>' | 'F2' '<' integer { ',' integer } '>'
//! linear   := a linear layout as core reads it: '{' … '}' [ '->' '(' … ')' ]
//! dims     := '[' name [ ':' digits ] { ',' name [ ':' digits ] } ']'
//! call     := name '(' [ expr { ',' expr } [ ',' ] ] ')'
//! ```
//!
//! The signs are arithmetic on integers, with C++'s `/` and `%`; a sum with a layout on the left moves the layout, and
//! a product may scale a stride such as `1@0`. `(` expr `)` around an integer, a tuple or `_` is a tuple of one; around
//! any other value it groups. A tuple with a layout in it is a tiler.
//!
//! CuTe's C++ has other words for some of these, which `cpp.rs` reads.
//!
//! Core reads strides with `@`, such as `(1@0,1@1)`, together with the shape before them. Nesting and the number of
//! nodes are bounded, so that no text exhausts the stack or the memory.

mod cpp;

use super::{
    functions::refused,
    lexer::{MAX_NESTING, MAX_NODES, Token, Word, shortened, words},
};
use crate::Error;

/// Expression with its span.
#[derive(Clone, Debug)]
pub(super) struct Expr<'a> {
    pub(super) node: Node<'a>,
    pub(super) span: (usize, usize),
}

impl Expr<'_> {
    /// Returns the expression within brackets that group.
    pub(super) fn within(&self) -> &Self {
        match &self.node {
            Node::Group(inner) => inner.within(),
            _ => self,
        }
    }
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Integer(i64),
    Keep,
    Tuple(Vec<Expr<'a>>),
    /// `(…)` around one expression: a tuple of one, or brackets that group.
    Group(Box<Expr<'a>>),
    Tiler(Vec<Expr<'a>>),
    /// Three integers, not yet checked.
    Swizzle([i64; 3]),
    /// A stride that names a basis, as text: `E<0>` is `1@0`.
    Unit(String),
    /// The images of 1, 2, 4 …, not yet checked.
    Images(Vec<i64>),
    /// A SPEC between quotes.
    Quoted(&'a str),
    /// The text of a linear layout.
    Linear(&'a str),
    /// The text between the brackets of dims.
    Dims(&'a str),
    Call {
        name: &'a str,
        name_span: (usize, usize),
        arguments: Vec<Expr<'a>>,
    },
    /// `shape:stride`.
    Layout(Box<Expr<'a>>, Box<Expr<'a>>),
    /// A shape with the compact strides that a function gives for it.
    Compact {
        shape: Box<Expr<'a>>,
        strides: &'static str,
        strides_span: (usize, usize),
    },
    /// `shape:stride` whose strides name bases: the text itself.
    Basis(&'a str),
    /// A layout at a coordinate: its offset, or its slice if the coordinate has `_`.
    At {
        layout: Box<Expr<'a>>,
        coord: Box<Expr<'a>>,
    },
    /// The first value, and the values that follow with their signs, from the left; the sign `@` moves a layout by an offset.
    Arithmetic(Box<Expr<'a>>, Vec<(char, Expr<'a>)>),
    /// A layout with its valid extents and the length of its storage.
    Valid {
        layout: Box<Expr<'a>>,
        extents: Option<Box<Expr<'a>>>,
        capacity: Option<u64>,
    },
    /// `A o B o C`.
    Chain(Vec<Expr<'a>>),
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    nodes: usize,
}

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Expr<'_>, Error> {
    let mut parser = Parser { text, tokens: words(text)?, at: 0, depth: 0, nodes: 0 };
    let expr = parser.expr()?;
    parser.eat(Word::Sign(';'));
    match parser.here().word {
        Word::End => Ok(expr),
        _ => {
            let span = (parser.here().span.0, text.trim_end().len());
            Err(Error::parse(span, "text after the expression"))
        }
    }
}

impl<'a> Parser<'a> {
    /// Returns the next word; the last one is the end of the text.
    fn here(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.here();
        if token.word != Word::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, word: Word<'_>) -> bool {
        let found = self.here().word == word;
        if found {
            self.at += 1;
        }
        found
    }

    fn expected<T>(&self, what: &str) -> Result<T, Error> {
        let end = match self.here().word {
            Word::End => ", found the end of the text",
            _ => "",
        };
        Err(Error::parse(self.here().span, format!("expected {what}{end}")))
    }

    fn node(&mut self, node: Node<'a>, from: usize) -> Result<Expr<'a>, Error> {
        let to = self.tokens[self.at.saturating_sub(1)].span.1;
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("an expression of more than {MAX_NODES} parts");
            return Err(Error::new("limit", message).at((from, to)));
        }
        Ok(Expr { node, span: (from, to) })
    }

    fn expr(&mut self) -> Result<Expr<'a>, Error> {
        let from = self.here().span.0;
        self.deeper()?;
        let first = self.operand()?;
        let mut chain = vec![first];
        while self.eat(Word::Name("o")) {
            chain.push(self.operand()?);
        }
        self.depth -= 1;
        match chain.len() {
            1 => Ok(chain.remove(0)),
            _ => self.node(Node::Chain(chain), from),
        }
    }

    fn operand(&mut self) -> Result<Expr<'a>, Error> {
        let (from, first) = (self.here().span.0, self.at);
        let mut expr = self.product()?;
        if self.eat(Word::Sign(':')) {
            expr = self.strides(expr, from, first)?;
        }
        expr = self.arithmetic(expr, &['+', '-'], Parser::product)?;
        self.valid(expr, from)
    }

    fn product(&mut self) -> Result<Expr<'a>, Error> {
        let first = self.primary()?;
        self.arithmetic(first, &['*', '/', '%'], Parser::primary)
    }

    /// Parses the values that follow `first`, each behind one of these signs.
    fn arithmetic(
        &mut self,
        first: Expr<'a>,
        signs: &[char],
        value: fn(&mut Self) -> Result<Expr<'a>, Error>,
    ) -> Result<Expr<'a>, Error> {
        let (from, mut rest) = (first.span.0, Vec::new());
        while let Some(&sign) = signs.iter().find(|&&sign| self.eat(Word::Sign(sign))) {
            rest.push((sign, value(self)?));
        }
        match rest.is_empty() {
            true => Ok(first),
            false => self.node(Node::Arithmetic(Box::new(first), rest), from),
        }
    }

    /// Parses the strides after the `:` of a layout.
    fn strides(&mut self, shape: Expr<'a>, from: usize, first: usize) -> Result<Expr<'a>, Error> {
        let (open, mut end, mut basis) = (self.at, self.at, false);
        let mut depth = 0usize;
        loop {
            let after = self.tokens[end];
            match after.word {
                Word::Sign('(') => depth += 1,
                Word::Sign(')') if depth > 0 => depth -= 1,
                Word::Sign('@') => basis = true,
                Word::Sign('-') | Word::Integer(_) => {}
                Word::Sign(',') if depth > 0 => {}
                Word::Sign('+') if basis => {}
                _ => break,
            }
            end += 1;
            if depth == 0 && matches!(after.word, Word::Sign(')')) {
                break;
            }
        }
        if basis {
            self.at = end;
            let text = &self.text[self.tokens[first].span.0..self.tokens[end - 1].span.1];
            return self.node(Node::Basis(text), from);
        }
        self.at = open;
        let stride = self.product()?;
        self.node(Node::Layout(Box::new(shape), Box::new(stride)), from)
    }

    /// Parses `valid (2,3) capacity 64`, or nothing.
    fn valid(&mut self, layout: Expr<'a>, from: usize) -> Result<Expr<'a>, Error> {
        let extents = match self.eat(Word::Name("valid")) {
            true => Some(Box::new(self.primary()?)),
            false => None,
        };
        let mut capacity = None;
        if self.eat(Word::Name("capacity")) {
            let Word::Integer(value) = self.here().word else {
                return self.expected("a capacity: an integer");
            };
            self.take();
            capacity = Some(value);
        }
        match (&extents, capacity) {
            (None, None) => Ok(layout),
            _ => self.node(Node::Valid { layout: Box::new(layout), extents, capacity }, from),
        }
    }

    fn primary(&mut self) -> Result<Expr<'a>, Error> {
        self.qualifier();
        let token = self.here();
        let from = token.span.0;
        let node = match token.word {
            Word::Integer(_) | Word::Sign('-' | 'm') => {
                let integer = self.integer()?;
                self.braces();
                match self.here().word {
                    Word::Sign('@') => self.path(integer)?,
                    _ => Node::Integer(integer),
                }
            }
            Word::Keep => {
                self.take();
                self.braces();
                Node::Keep
            }
            Word::Quoted(spec) => {
                self.take();
                Node::Quoted(spec)
            }
            Word::Linear(text) => {
                self.take();
                Node::Linear(text)
            }
            Word::Dims(text) => {
                self.take();
                Node::Dims(text)
            }
            Word::Sign('(') => self.brackets()?,
            Word::Sign('<') => Node::Tiler(self.list('<', '>')?),
            Word::Name(name) => self.named(name)?,
            Word::Sign(_) | Word::End => {
                return self.expected("a layout, an integer, a tuple or a function");
            }
        };
        let may_be_layout = cpp::may_be_layout(&node);
        let mut expr = self.node(node, from)?;
        let depth = self.depth;
        while may_be_layout && self.eat(Word::Sign('.')) {
            // Each call is inside the next one.
            self.deeper()?;
            let call = self.method(expr)?;
            expr = self.node(call, from)?;
        }
        self.depth = depth;
        if may_be_layout && self.here().word == Word::Sign('(') {
            let call = self.called(expr)?;
            return self.node(call, from);
        }
        Ok(expr)
    }

    /// Counts one more expression inside another.
    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let message = format!("expressions nested deeper than {MAX_NESTING}");
            return Err(Error::new("limit", message).at(self.here().span));
        }
        Ok(())
    }

    /// Parses a call of a function, or a swizzle.
    fn named(&mut self, name: &'a str) -> Result<Node<'a>, Error> {
        let name_span = self.take().span;
        if let Some(node) = self.cpp(name)? {
            return Ok(node);
        }
        match (name, self.here().word) {
            ("Sw" | "S", Word::Sign('<')) => self.swizzle(),
            ("F2", Word::Sign('<')) => self.images(),
            (_, Word::Sign('(')) => {
                Ok(Node::Call { name, name_span, arguments: self.list('(', ')')? })
            }
            _ => {
                let named = shortened(name);
                let message = match refused(name) {
                    Some(reason) => format!("`{named}` {reason}"),
                    None => format!(
                        "`{named}` is a function only before `(`; put a SPEC within an expression in quotes: \"{named}\""
                    ),
                };
                Err(Error::parse(name_span, message))
            }
        }
    }

    fn swizzle(&mut self) -> Result<Node<'a>, Error> {
        let mut numbers = [0; 3];
        for (i, number) in numbers.iter_mut().enumerate() {
            if !self.eat(Word::Sign(if i == 0 { '<' } else { ',' })) {
                return self.expected("a swizzle `Sw<bits,base,shift>`");
            }
            *number = self.integer()?;
        }
        match self.eat(Word::Sign('>')) {
            true => Ok(Node::Swizzle(numbers)),
            false => self.expected("`>`"),
        }
    }

    /// Parses `<2,1>`: a list of images, of any length.
    fn images(&mut self) -> Result<Node<'a>, Error> {
        let mut images = Vec::new();
        while !self.eat(Word::Sign('>')) {
            if !self.eat(Word::Sign(if images.is_empty() { '<' } else { ',' })) {
                return self.expected("a swizzle by images, `F2<2,1>`");
            }
            images.push(self.integer()?);
        }
        Ok(Node::Images(images))
    }

    fn integer(&mut self) -> Result<i64, Error> {
        let from = self.here().span.0;
        let minus = self.eat(Word::Sign('-')) || self.eat(Word::Sign('m'));
        let Word::Integer(value) = self.here().word else {
            return self.expected("an integer");
        };
        let to = self.take().span.1;
        signed(value, minus, (from, to))
    }

    /// Parses `(…)`.
    fn brackets(&mut self) -> Result<Node<'a>, Error> {
        let mut list = self.list('(', ')')?;
        let comma = self.tokens[self.at.saturating_sub(2)].word == Word::Sign(',');
        Ok(match (list.len(), comma) {
            (1, false) => Node::Group(Box::new(list.remove(0))),
            _ => Node::Tuple(list),
        })
    }

    fn list(&mut self, open: char, close: char) -> Result<Vec<Expr<'a>>, Error> {
        self.eat(Word::Sign(open));
        let mut list = Vec::new();
        while !self.eat(Word::Sign(close)) {
            list.push(self.expr()?);
            if self.here().word != Word::Sign(close) && !self.eat(Word::Sign(',')) {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        Ok(list)
    }
}

fn signed(value: u64, minus: bool, span: (usize, usize)) -> Result<i64, Error> {
    let value = if minus { -i128::from(value) } else { i128::from(value) };
    i64::try_from(value).map_err(|_| Error::parse(span, "the integer does not fit 64 bits"))
}
