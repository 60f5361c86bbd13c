//! Parser of the C++ of CuTe and TLA (CATLASS) in expressions, as it is copied from a kernel.
//!
//! ```text
//! primary  := [ ('cute' | 'tla') '::' ] word [ '{' '}' ]
//! word     := ('Int' | 'C') '<' integer '>' [ '(' ')' ]
//!           | ('make_shape' | 'make_stride' | 'make_coord' | 'make_step' | 'make_tuple') '(' list ')'     a tuple
//!           | ('Shape' | 'Stride' | 'Coord' | 'Step' | 'tuple') '<' list '>'                              a tuple
//!           | 'make_tile' '(' list ')' | 'Tile' '<' list '>'                                              a tiler
//!           | 'Swizzle' '<' integer ',' integer ',' integer '>'
//!           | ('Shape' | 'Stride' | 'Coord' | 'Step' | 'tuple') '<' types '>' '(' list ')'                a tuple
//!           | 'E' '<' integer { ',' integer } '>'                 a stride that names a basis: `E<0,1>` is `1@1@0`
//!           | 'X'                                                   `_`, in the steps of `local_tile`
//!           | 'Layout' '<' shape [ ',' (stride | order) ] '>'
//!           | ('make_composed_layout' | 'composition') '(' a ',' integer ',' b ')' | 'ComposedLayout' '<' a ',' integer ',' b '>'
//!           | 'make_layout' '(' shape ',' order ')'
//!           | name '<' integer { ',' integer } '>' '(' list ')'      a call: the integers follow the first argument
//!           | 'recast_layout' '<' type ',' type '>' '(' list ')'     `recast` with the bits of the types
//!           | 'compact_major' '<' order '>' '(' list ')'             `compact_col_major`, `compact_row_major`
//! method   := (call | '(' layout ')') '.' name '(' list ')'      a call: the value before it is the first argument
//! at       := (method | call | '(' layout ')') '(' list ')'     the offset of a coordinate, or with `_` the slice
//! order    := ('LayoutLeft' | 'GenColMajor' | 'LayoutRight' | 'GenRowMajor') [ '{' '}' ]
//! ```
//!
//! TLA's names are CuTe's in camel case: `MakeLayout`, `MakeShape`, `MakeStride`, `MakeCoord`, `MakeTile`, and
//! `MakeLayoutTile`, which is `tile`. A `;` may end the text.

use super::{Error, Expr, Node, Parser, Word};

/// The last position of a coordinate.
const MOST: i64 = tilewright_core::MAX_MODES as i64 - 1;

/// The functions that take integers between `<` and `>`: `size<0>(L)` is `size(L, 0)`.
const TEMPLATES: [&str; 19] = [
    "size", "rank", "depth", "shape", "stride", "get", "layout", "select", "take", "group",
    "replace", "upcast", "downcast", "cosize", "append", "prepend", "insert", "remove", "repeat",
];

/// Returns the text of a position within the path of a stride.
fn at(position: i64, span: (usize, usize)) -> Result<String, Error> {
    if (0..=MOST).contains(&position) {
        return Ok(format!("@{position}"));
    }
    let message = format!("position {position} of a coordinate; give 0 to {MOST}");
    Err(Error::parse(span, message))
}

/// Returns the bits of a type of C++, CUTLASS or AscendC.
fn bits(name: &str) -> Option<i64> {
    Some(match name {
        "double" | "int64_t" | "uint64_t" => 64,
        "float" | "int" | "int32_t" | "uint32_t" | "tfloat32_t" => 32,
        "half_t" | "bfloat16_t" | "int16_t" | "uint16_t" | "half" => 16,
        "int8_t" | "uint8_t" | "char" | "float_e4m3_t" | "float_e5m2_t" | "float_ue8m0_t" => 8,
        "float_e2m3_t" | "float_e3m2_t" => 6,
        "int4b_t" | "uint4b_t" | "int4_t" | "uint4_t" | "float_e2m1_t" => 4,
        "int2b_t" | "uint2b_t" => 2,
        "uint1b_t" => 1,
        "uint128_t" => 128,
        _ => return None,
    })
}

/// Returns the name of the function that computes the compact strides of this order.
fn order(name: &str) -> Option<&'static str> {
    match name {
        "LayoutLeft" | "GenColMajor" => Some("compact_col_major"),
        "LayoutRight" | "GenRowMajor" => Some("compact_row_major"),
        _ => None,
    }
}

impl<'a> Parser<'a> {
    /// Skips `cute::` or `tla::`.
    pub(super) fn qualifier(&mut self) {
        let ahead = self.tokens.get(self.at..self.at + 3);
        let words = ahead.map(|tokens| [tokens[0].word, tokens[1].word, tokens[2].word]);
        if let Some([Word::Name("cute" | "tla"), Word::Sign(':'), Word::Sign(':')]) = words {
            self.at += 3;
        }
    }

    /// Skips `{}`, which makes a value of a type.
    pub(super) fn braces(&mut self) {
        if let Word::Linear(text) = self.here().word
            && text.bytes().all(|byte| b"{} ".contains(&byte))
        {
            self.take();
        }
    }

    /// Parses the construct that a name of C++ begins, if it is one. The name is already taken.
    pub(super) fn cpp(&mut self, name: &'a str) -> Result<Option<Node<'a>>, Error> {
        let node = match (name, self.here().word) {
            ("Int" | "C", Word::Sign('<')) => self.constant()?,
            (
                "make_shape" | "make_stride" | "make_coord" | "make_step" | "make_tuple"
                | "MakeShape" | "MakeStride" | "MakeCoord",
                Word::Sign('('),
            ) => Node::Tuple(self.list('(', ')')?),
            ("Shape" | "Stride" | "Coord" | "Step" | "tuple", Word::Sign('<')) => {
                match self.behind_types() {
                    Some(values) => {
                        self.at = values;
                        Node::Tuple(self.list('(', ')')?)
                    }
                    None => Node::Tuple(self.list('<', '>')?),
                }
            }
            ("E", Word::Sign('<')) => self.unit()?,
            ("X", next) if !matches!(next, Word::Sign('(' | '<')) => Node::Keep,
            ("make_composed_layout", Word::Sign('(')) => self.composed(('(', ')'))?,
            ("ComposedLayout", Word::Sign('<')) => self.composed(('<', '>'))?,
            ("composition", Word::Sign('(')) => self.composed(('(', ')'))?,
            ("make_tile" | "MakeTile", Word::Sign('(')) => Node::Tiler(self.list('(', ')')?),
            ("Tile", Word::Sign('<')) => Node::Tiler(self.list('<', '>')?),
            ("Swizzle", Word::Sign('<')) => self.swizzle()?,
            ("make_layout" | "MakeLayout", Word::Sign('(')) => self.made(('(', ')'))?,
            ("Layout", Word::Sign('<')) => self.made(('<', '>'))?,
            ("MakeLayoutTile", Word::Sign('(')) => {
                let name_span = self.tokens[self.at - 1].span;
                Node::Call { name: "tile", name_span, arguments: self.list('(', ')')? }
            }
            ("recast_layout", Word::Sign('<')) => self.recast()?,
            ("compact_major", Word::Sign('<')) => self.compact_major()?,
            (_, Word::Sign('<')) if TEMPLATES.contains(&name) => self.template(name)?,
            _ => return Ok(None),
        };
        self.braces();
        Ok(Some(node))
    }

    /// Parses the `<8>` of `Int<8>`, and the brackets that make a value of it.
    fn constant(&mut self) -> Result<Node<'a>, Error> {
        self.take();
        let value = self.integer()?;
        if !self.eat(Word::Sign('>')) {
            return self.expected("`>`");
        }
        if self.eat(Word::Sign('(')) && !self.eat(Word::Sign(')')) {
            return self.expected("`)`");
        }
        Ok(Node::Integer(value))
    }

    /// The `(` behind the types in `tuple<int,int>(8,4)`, if it follows.
    fn behind_types(&self) -> Option<usize> {
        let mut depth = 0usize;
        for (i, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.word {
                Word::Sign('<') => depth += 1,
                Word::Sign('>') => depth -= 1,
                Word::Name(_) | Word::Integer(_) | Word::Linear(_) | Word::Sign(',' | ':') => {}
                _ => return None,
            }
            if depth == 0 {
                return Some(i + 1).filter(|&next| self.tokens[next].word == Word::Sign('('));
            }
        }
        None
    }

    /// `<0,1>` of `E<0,1>`.
    fn unit(&mut self) -> Result<Node<'a>, Error> {
        let mut stride = String::from("1");
        for position in self.list('<', '>')?.iter().rev() {
            match position.node {
                Node::Integer(value) => stride += &at(value, position.span)?,
                _ => return Err(Error::parse(position.span, "expected a position: an integer")),
            }
        }
        Ok(Node::Unit(stride))
    }

    /// Parses the `@1@0` of `4@1@0`.
    pub(super) fn path(&mut self, value: i64) -> Result<Node<'a>, Error> {
        let mut stride = value.to_string();
        while self.eat(Word::Sign('@')) {
            let span = self.here().span;
            stride += &at(self.integer()?, span)?;
        }
        Ok(Node::Unit(stride))
    }

    /// A, an offset and B: A of B moved by the offset. Of two, A of B.
    fn composed(&mut self, (open, close): (char, char)) -> Result<Node<'a>, Error> {
        let name_span = self.tokens[self.at - 1].span;
        let mut arguments = self.list(open, close)?;
        if arguments.len() == 3
            && let Some(b) = arguments.pop()
            && let Some(by) = arguments.pop()
        {
            let span = b.span;
            arguments.push(Expr { node: Node::Arithmetic(Box::new(b), vec![('@', by)]), span });
            return Ok(Node::Chain(arguments));
        }
        Ok(Node::Call { name: "composition", name_span, arguments })
    }

    /// Parses the `<half_t,float>(L)` of `recast_layout<half_t,float>(L)`.
    fn recast(&mut self) -> Result<Node<'a>, Error> {
        let name_span = self.tokens[self.at - 1].span;
        let (from, to) = (self.bits('<')?, self.bits(',')?);
        let mut arguments = self.behind_template()?;
        arguments.extend([from, to]);
        Ok(Node::Call { name: "recast", name_span, arguments })
    }

    /// Takes a sign and a type, and returns the bits of the type.
    fn bits(&mut self, sign: char) -> Result<Expr<'a>, Error> {
        if !self.eat(Word::Sign(sign)) {
            return self.expected(&format!("`{sign}`"));
        }
        self.qualifier();
        let bits = if let Word::Name(name) = self.here().word { bits(name) } else { None };
        let Some(bits) = bits else {
            return self
                .expected("a type of CUTLASS, such as `half_t`; recast(L, 16, 32) takes bits");
        };
        let span = self.take().span;
        Ok(Expr { node: Node::Integer(bits), span })
    }

    /// Parses the `<LayoutRight>(shape)` of `compact_major<LayoutRight>(shape)`.
    fn compact_major(&mut self) -> Result<Node<'a>, Error> {
        self.take();
        let Some((name, name_span)) = self.order() else {
            return self.expected("`LayoutLeft` or `LayoutRight`");
        };
        Ok(Node::Call { name, name_span, arguments: self.behind_template()? })
    }

    /// Parses the `>(…)` at the end of a call with template arguments.
    fn behind_template(&mut self) -> Result<Vec<Expr<'a>>, Error> {
        match self.eat(Word::Sign('>')) {
            true => self.arguments(),
            false => self.expected("`>`"),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr<'a>>, Error> {
        match self.here().word {
            Word::Sign('(') => self.list('(', ')'),
            _ => self.expected("`(`"),
        }
    }

    /// The call behind a `.`, of the value before it.
    pub(super) fn method(&mut self, value: Expr<'a>) -> Result<Node<'a>, Error> {
        let name_span = self.here().span;
        let Word::Name(name) = self.take().word else {
            return Err(Error::parse(name_span, "expected the name of a function"));
        };
        let mut arguments = self.arguments()?;
        arguments.insert(0, value);
        let name = if name == "compose" { "composition" } else { name };
        Ok(Node::Call { name, name_span, arguments })
    }

    /// Parses the `<0>(L)` of `size<0>(L)`.
    fn template(&mut self, name: &'a str) -> Result<Node<'a>, Error> {
        let name_span = self.tokens[self.at - 1].span;
        let integers = self.list('<', '>')?;
        let mut arguments = self.arguments()?;
        let behind = arguments.len().min(1);
        arguments.splice(behind..behind, integers);
        let name = match name {
            // CuTe's `layout<i>(L)` is the part that `get` returns.
            "layout" => "get",
            "append" => "append_to",
            "prepend" => "prepend_to",
            own => own,
        };
        Ok(Node::Call { name, name_span, arguments })
    }

    /// Reads the coordinate in brackets after a layout.
    pub(super) fn called(&mut self, layout: Expr<'a>) -> Result<Node<'a>, Error> {
        let from = self.here().span.0;
        let mut coord = self.list('(', ')')?;
        let coord = match coord.len() {
            1 => coord.remove(0),
            _ => self.node(Node::Tuple(coord), from)?,
        };
        Ok(Node::At { layout: Box::new(layout), coord: Box::new(coord) })
    }

    /// Parses the call of `make_layout`, or a shape with an order.
    fn made(&mut self, (open, close): (char, char)) -> Result<Node<'a>, Error> {
        let name_span = self.tokens[self.at - 1].span;
        self.eat(Word::Sign(open));
        let mut arguments: Vec<Expr<'a>> = Vec::new();
        while !self.eat(Word::Sign(close)) {
            if arguments.len() == 1
                && let Some((strides, strides_span)) = self.order()
            {
                let shape = Box::new(arguments.remove(0));
                return match self.eat(Word::Sign(close)) {
                    true => Ok(Node::Compact { shape, strides, strides_span }),
                    false => self.expected(&format!("`{close}`")),
                };
            }
            arguments.push(self.expr()?);
            if self.here().word != Word::Sign(close) && !self.eat(Word::Sign(',')) {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        Ok(Node::Call { name: "make_layout", name_span, arguments })
    }

    /// Takes an order, and returns its function and its span.
    fn order(&mut self) -> Option<(&'static str, (usize, usize))> {
        let from = self.at;
        self.qualifier();
        let here = self.here();
        let function = if let Word::Name(name) = here.word { order(name) } else { None };
        let Some(function) = function else {
            self.at = from;
            return None;
        };
        self.take();
        self.braces();
        Some((function, (self.tokens[from].span.0, here.span.1)))
    }
}

/// Returns true if the form of an expression allows a layout, so that a coordinate may follow in brackets.
pub(super) fn may_be_layout(node: &Node<'_>) -> bool {
    match node {
        Node::Call { .. } | Node::Compact { .. } | Node::Layout(..) | Node::Chain(_) => true,
        Node::Group(inner) => match &inner.node {
            Node::Integer(_) | Node::Keep | Node::Tuple(_) | Node::Tiler(_) => false,
            Node::Group(_) => may_be_layout(&inner.node),
            _ => true,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::evaluate;

    #[test]
    fn what_is_copied_from_a_kernel_is_the_same_expression() {
        for (cpp, own) in [
            ("make_layout(make_shape(Int<4>{}, 8), make_stride(_8{}, Int<1>()));", "(4,8):(8,1)"),
            ("cute::make_layout(cute::make_shape(cute::_4{}, cute::Int<8>{}))", "(4,8):(1,4)"),
            ("make_layout(make_shape(4, make_shape(2,4)), LayoutRight{})", "(4,(2,4)):(8,(4,1))"),
            ("make_layout((4,8), cute::LayoutLeft{})", "(4,8):(1,4)"),
            ("make_layout(Int<5>{}, _2{})", "5:2"),
            ("make_layout(_4{}, _m1{})", "4:-1"),
            ("make_layout(Shape<_4,_4>{}, Stride<_m12, _3>{})", "(4,4):(-12,3)"),
            ("make_layout(4:1, 2:4)", "(4,2):(1,4)"),
            ("Layout<Shape<_8,Shape<_2,_4>>,Stride<_1,Stride<_32,_8>>>{}", "(8,(2,4)):(1,(32,8))"),
            ("Layout<Shape<_8,_64>,GenRowMajor>{}", "(8,64):(64,1)"),
            (
                "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
                "Sw<3,3,3> o (8,64):(64,1)",
            ),
            (
                "logical_divide(make_layout(make_shape(_6{},_8{}), LayoutRight{}), make_tile(_3{},_4{}))",
                "logical_divide((6,8):(8,1), <3,4>)",
            ),
            ("logical_divide((6,8):(8,1), Tile<_3,_4>{})", "logical_divide((6,8):(8,1), <3,4>)"),
            ("crd2idx(make_coord(1,2), make_shape(4,8))", "crd2idx((1,2), (4,8))"),
            ("slice(make_coord(1,_), (4,8):(8,1));", "slice((1,_), (4,8):(8,1))"),
            ("tile_to_shape(8:1, Shape<_16>{}, Step<_0>{})", "tile_to_shape(8:1, (16,), (0,))"),
            ("size<1,0>((4,(2,3)):(6,(3,1)))", "size((4,(2,3)):(6,(3,1)), 1, 0)"),
            ("layout<1>((4,(2,3)):(6,(3,1)))", "(2,3):(3,1)"),
            ("cute::get<0>(shape((4,8):(8,1)))", "4"),
            ("select<1,0>((4,8):(8,1))", "(8,4):(1,8)"),
            ("take<0,1>(make_shape(_4{},_8{}))", "(4,)"),
            ("upcast<2>((8,4):(1,8))", "(4,4):(1,4)"),
            ("replace<1>((4,2):(1,4), 3:8)", "(4,3):(1,8)"),
            ("append<4>((4,2):(1,4))", "(4,2,1,1):(1,4,0,0)"),
            ("append<2>((4,2):(1,4))", "(4,2):(1,4)"),
            ("append<2>(8:3)", "(8,1):(3,0)"),
            ("append<3>(make_shape(_4{},_2{}), _7{})", "(4,2,7)"),
            ("append<1>(5, 7)", "5"),
            (
                "prepend<3>(8:3, make_layout(make_shape(2,2), make_stride(2,1)))",
                "((2,2),(2,2),8):((2,1),(2,1),3)",
            ),
            ("cute::prepend<3>((4,2))", "(1,4,2):(0,1,4)"),
            ("make_layout(make_shape(4,8), LayoutRight{})(_,3)", "slice((_,3), (4,8):(8,1))"),
            ("make_layout(make_shape(4,8), LayoutRight{})(2,3)", "19"),
            ("((4,(2,4)):(8,(4,1)))(1,(_,2))", "slice((1,(_,2)), (4,(2,4)):(8,(4,1)))"),
            ("(8:2)(5)", "10"),
            ("(((4,8):(8,1)))(1,2)", "10"),
            // The offset of a part under a swizzle stays within the swizzle.
            ("(Sw<2,1,3> o (4,8):(8,1))(1,_)", "slice_and_offset((1,_), Sw<2,1,3> o (4,8):(8,1))"),
            ("composition(8:2, 4:1)(3)", "6"),
            ("(((4,8):(8,1))(_,3))(2)", "16"),
            (
                "tla::MakeLayout(tla::MakeShape(4, 8), tla::MakeStride(8, tla::Int<1>{}))",
                "(4,8):(8,1)",
            ),
            ("MakeLayoutTile(MakeLayout(MakeShape(8,12)), MakeShape(4,6))", "tile((8,12), (4,6))"),
            ("tla::get<1>(MakeShape(4, MakeShape(2,3)))", "(2,3)"),
            ("make_layout(make_shape(4_c, 8_c), make_stride(8_c, 1_c))", "(4,8):(8,1)"),
            ("make_layout(tuple<int,cute::Int<4>>(8,_4{}))", "(8,4):(1,8)"),
            ("make_layout(make_shape(4,8), make_stride(E<0>{}, E<1>{}))", "(4,8):(1@0,1@1)"),
            ("(4,8):(E<1>{}, 0)", "(4,8):(1@1,0)"),
            ("make_layout(make_shape(4,8), make_stride(E<1>{}, E<0>{}))(2,3)", "(3,2)"),
            ("composition(Swizzle<2,0,3>{}, _0{}, (8,8):(8,1))(1,2)", "11"),
            ("make_layout((4,8), make_stride(E<0>{}*_2{}, _4{}*E<1>{}))", "(4,8):(2@0,4@1)"),
            ("make_layout(make_shape(Int<2>{}*_2{}*3, 8))", "(12,8):(1,12)"),
            (
                "Layout<Shape<_4,Shape<_2,_3>>,Stride<E<0>,Stride<E<1,0>,E<1,1>>>>{}",
                "make_identity_layout((4,(2,3)))",
            ),
            ("make_composed_layout(Swizzle<2,1,3>{}, _4{}, 64:1)", "Sw<2,1,3> o 4 o 64:1"),
            ("ComposedLayout<Swizzle<2,1,3>,_0,Layout<Shape<_8,_8>>>{}", "Sw<2,1,3> o (8,8)"),
            ("composition(Swizzle<2,1,3>{}, Int<0>{}, (8,8):(8,1))", "Sw<2,1,3> o (8,8):(8,1)"),
            ("composition(16:2, 3, 4:1)", "4:2+6"),
            ("composition(64:2, 3, 4)", "4:2+6"),
            ("make_layout(make_shape(4,8)).get_hier_coord(13)", "(1,3)"),
            ("((4,8):(8,1)).compose(4:2)(1)", "16"),
            ("E<0,1>{}*_4{}", "4@1@0"),
            ("stride(make_identity_layout((4,(2,3))))", "(1@0,(1@0@1,1@1@1))"),
            ("stride((2,3):(1@0,2@0+4@1))", "(1@0,2@0+4@1)"),
            (
                "make_layout((4,(2,3)), make_basis_like((4,(2,3))))",
                "make_identity_layout((4,(2,3)))",
            ),
            ("(_2{} + _3{}) * _4{} - 9 / _2{} % 3", "19"),
            ("make_layout(size((2,3)) * _2{}, 1 + 1)", "12:2"),
            ("size<0>((4,8):(8,1)) * size<1>((4,8):(8,1))", "32"),
            ("composition(Swizzle<2,1,3>{}, _2{}*_2{}, 64:1)", "Sw<2,1,3> o 4 o 64:1"),
            ("Sw<2,1,3> o 2+2 o 64:1", "Sw<2,1,3> o 4 o 64:1"),
            ("recast_layout<cute::half_t,float>((4,8))", "recast((4,8), 16, 32)"),
            ("compact_major<LayoutRight>(make_shape(_4{},_8{}), _3{})", "(24,3)"),
            ("make_identity_layout((4,8))(_,3)", "(4):(1@0)"),
            ("cosize<1>((4,8):(8,2))", "15"),
            ("local_tile((8,8):(8,1), make_tile(_2{},_4{}), make_coord(1,1))", "(2,4):(8,1)+20"),
            (
                "local_tile((8,8):(8,1), make_tile(_2{},_4{}), make_coord(1,_))",
                "(2,4,2):(8,1,4)+16",
            ),
            ("local_tile((8,8):(8,1), make_tile(_2{},_4{}), 3)", "(2,4):(8,1)+48"),
            (
                "local_tile((8,16), make_tile(_2{},_3{},_4{}), make_coord(1,2,_), Step<_1,X,_1>{})",
                "(2,4,4):(1,8,32)+2",
            ),
            (
                "local_tile((8,16), make_shape(_2{},_4{},_3{}), make_coord(_,2,_), Step<_1,_1,X>{})",
                "(2,4,4):(1,8,2)+64",
            ),
            ("dice(Step<_1,X,_1>{}, make_tile(_2{},_3{},_4{}))", "<2,4>"),
            ("local_partition((8,8):(8,1), Layout<Shape<_2,_4>>{}, 3)", "(4,2):(16,4)+9"),
            ("local_partition((8,8):(8,1), (2,4):(4,1), 3)", "(4,2):(16,4)+3"),
        ] {
            let answer = |text| evaluate(text).map(|value| value.to_string());
            assert_eq!(answer(cpp).unwrap(), answer(own).unwrap(), "{cpp}");
        }
    }

    /// `_m4` is an integer, not a difference: it is not subtracted from an offset.
    #[test]
    fn a_negative_constant_is_an_integer_alone() {
        assert_eq!(evaluate("(8:-1)+7").unwrap().to_string(), "8:-1+7");
        for text in ["8:1_m2", "(8:1) _m2", "8:1 o _m", "_m4:1", "- _m4"] {
            assert!(evaluate(text).is_err(), "{text}");
        }
    }

    /// The shape before an order is one part of the expression, at any depth.
    #[test]
    fn an_order_copies_no_shape() {
        for (open, close) in [("make_layout(", ",LayoutRight)"), ("Layout<", ",GenColMajor>")] {
            for depth in 1..=60 {
                let text = format!("{}4{}", open.repeat(depth), close.repeat(depth));
                let answer = evaluate(&text).map(|value| value.to_string());
                match depth {
                    1 => assert_eq!(answer.unwrap(), "4:1"),
                    _ => assert!(answer.is_err(), "{text}: {answer:?}"),
                }
            }
        }
        let shape = "(".repeat(30) + "4" + &",)".repeat(30);
        let text = format!("make_layout({shape}, LayoutRight)");
        assert!(crate::eval::operation(&text).is_ok_and(|found| found.is_none()), "{text}");
    }

    #[test]
    fn malformed_cpp_is_refused_where_it_is_wrong() {
        for (text, span, words) in [
            ("make_layout(make_shape(4,8), make_stride(8,1)", (45, 45), "`,` or `)`"),
            ("make_layout(make_shape(4,8), make_stide(8,1))", (29, 39), "make_stide"),
            ("make_layout(make_shape(Int<4{},8))", (28, 30), "`>`"),
            ("make_layout(make_shape(4,8), LayoutUp{})", (29, 37), "LayoutUp"),
            ("make_layout(make_shape(4,8), make_stride(8))", (0, 44), "brackets"),
            ("make_layout((4,8), LayoutRight{}, 3)", (32, 33), "`)`"),
            ("(4,8):(8,1); 3", (13, 14), "after the expression"),
            ("(4,8)(1,2)", (5, 10), "after the expression"),
            ("append<1>((4,8):(8,1))", (0, 22), "2 axes, which are more than 1"),
            ("append<99>((4,8), 1)", (0, 20), "32"),
            ("append<99>((4,8):(8,1))", (0, 23), "32"),
            ("(8:2)(1)(1)", (8, 11), "after the expression"),
            ("size((4,8):(8,1))(2)", (0, 17), "an integer where a layout is expected"),
            ("shape((4,8):(8,1))(_,1)", (0, 18), "a tuple where a layout is expected"),
            ("((4,8):(8,1))(1,2", (17, 17), "`,` or `)`"),
            ("make_layout(4, make_stride(E<4:1>{}))", (29, 32), "a position"),
            ("(4,8):(E<0>{},8:1)", (14, 17), "a layout among strides such as 1@0"),
            ("(4,8):(E<0>{},8)", (6, 16), "basis and integer strides do not mix"),
            ("E<99>{}", (2, 4), "position 99 of a coordinate; give 0 to 31"),
            ("(4,8):(E<0>{},E<-1>{})", (16, 18), "position -1"),
            ("(E<0>{},E<1>{})*2", (0, 17), "give one stride"),
            ("recast_layout<half_t,flout>(8:1)", (21, 26), "a type of CUTLASS"),
            ("recast_layout<half_t>(8:1)", (20, 21), "`,`"),
            ("compact_major<(0,1)>((4,8))", (14, 15), "`LayoutRight`"),
            ("make_fragment_like(8:1)", (0, 18), "write make_layout_like(L)"),
            ("is_static<decltype((4,8))>::value", (0, 9), "every integer here is a constant"),
            ("transform_leaf((4,2), [](auto x){return x+1;})", (22, 46), "a function of C++"),
            ("transform((4,2), 1)", (0, 9), "takes a function of C++"),
            ("((4,8):(8,1)).size", (18, 18), "`(`"),
            ("((4,8):(8,1)).3", (14, 15), "the name of a function"),
            ("((4,8):(8,1)).sise()", (14, 18), "did you mean `size`?"),
            ("4_cc:1", (1, 6), "after the expression"),
            (&*format!("(8:2){}", ".coalesce()".repeat(100)), (523, 531), "nested deeper"),
            ("size(2*(3,4))", (5, 12), "an integer * a tuple"),
            ("gcd(9223372036854775807*2,2)", (4, 25), "64 bits"),
            ("7/(3-3)", (0, 7), "divides by 0"),
            ("(8:1)*2", (0, 7), "a layout * an integer"),
            ("(8:1)+(8:1)", (0, 11), "the offset that moves it"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert_eq!(error.span(), Some(span), "{text}: {error}");
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }
}
