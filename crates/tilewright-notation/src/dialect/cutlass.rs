//! CuTe as its C++ code writes it and as its layouts in shared memory print.
//!
//! ```text
//! cutlass  := swizzle 'o' pointer 'o' plain
//!           | 'ComposedLayout' '<' swizzle ',' flag ',' plain '>' [ '{}' ]
//!           | 'composition' '(' swizzle ',' [ flag ',' ] plain ')'
//!           | plain
//! swizzle  := ('Sw' | 'S' | 'Swizzle') '<' int ',' int ',' int '>' [ '{}' ]
//! pointer  := 'smem_ptr' [ '[' int 'b' ']' ] [ '(' 'unset' ')' ]
//! flag     := ('smem_ptr_flag' | 'smem_ptr_flag_bits' '<' int '>' | integer that is 0) [ '{}' ]
//! plain    := 'make_layout' '(' tuple [ ',' (tuple | order) ] ')'
//!           | 'Layout' '<' tuple [ ',' (tuple | order) ] '>' [ '{}' ]
//!           | a layout as CuTe prints it
//! order    := ('LayoutLeft' | 'GenColMajor' | 'LayoutRight' | 'GenRowMajor') [ '{}' ]
//! tuple    := ('make_shape' | 'make_stride' | 'make_tuple') '(' tuple { ',' tuple } ')'
//!           | ('Shape' | 'Stride' | 'tuple') '<' tuple { ',' tuple } '>' [ '{}' ]
//!           | integer
//! integer  := [ '_' ] int [ '{}' ] | ('Int' | 'C') '<' int '>' [ '{}' ]
//! ```
//!
//! `cute::` may stand before any name. A layout that CuTe prints is read by the dialect `cute`, and here
//! only behind a swizzle. Printed are `make_layout` and `composition`. Source: CUTLASS, `include/cute/layout.hpp`,
//! `layout_composed.hpp`, `pointer_flagged.hpp`.
//!
//! A swizzle of a pointer permutes byte addresses; a swizzle of a layout permutes offsets of elements. So
//! `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)` is `Sw<3,3,3> o (8,64):(64,1)` of 16-bit elements.
//! Without a width, the array's dtype says it.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)` | | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | `f32[8,32]` | `Sw<3,2,3> o (8,32):(32,1)` |
//! | `make_layout(make_shape(4,8),make_stride(8,1))` | | `(4,8):(8,1)` |
//! | `make_layout(make_shape(Int<4>{},8))` | | `(4,8):(1,4)` |
//! | `Layout<Shape<_2,Shape<_2,_2>>,Stride<_4,Stride<_2,_1>>>` | | `(2,(2,2)):(4,(2,1))` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | | error: needs the array's dtype |
//! | `Sw<3,1,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)` | | error: within an element |

use std::{fmt, sync::Arc};

use tilewright_core::{
    Dtype, Fill, IntTuple, Layout, MAX_DEPTH, MAX_MODES, Mode, Swizzle, TensorLayout,
};

use crate::{
    Named,
    error::{Error, Kind},
    notation::{Notation, no_words},
    reading::{Given, Reading, Resolved},
    scan::Scanner,
};

pub(super) const DIALECT: Notation = Notation {
    name: "cutlass",
    aliases: &["cute-cpp"],
    about: "CuTe in C++: make_layout, Layout<…>, swizzled pointers to shared memory",
    claims,
    read,
    words: no_words,
    print,
};

/// The names that such a text begins with.
const FIRST: [&str; 5] = ["make_layout", "Layout<", "ComposedLayout<", "composition(", "Swizzle<"];

/// Whether a text is C++, or the layout of a pointer.
fn claims(text: &str) -> bool {
    let text = text.strip_prefix("cute::").unwrap_or(text);
    let pointer = text.starts_with('S') && text.contains("smem_ptr");
    pointer || FIRST.iter().any(|name| text.starts_with(name))
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut scan = Scanner::new(text);
    name(&mut scan, "");
    let read = if scan.rest().starts_with('S') {
        let swizzle = swizzle(&mut scan)?;
        scan.expect("o")?;
        let bits = pointer(&mut scan)?;
        scan.expect("o")?;
        Pointed::of(swizzle, bits, plain(&mut scan)?)
    } else if eat(&mut scan, "ComposedLayout") {
        composed(&mut scan, "<", ">")
    } else if eat(&mut scan, "composition") {
        composed(&mut scan, "(", ")")
    } else {
        plain(&mut scan).map(Pointed::plain)
    }?;
    scan.end("the layout")?;
    read.reading()
}

/// A swizzle of byte addresses or of offsets, and the layout behind it.
#[derive(Debug)]
struct Pointed {
    swizzle: Swizzle,
    over: Over,
    layout: Layout,
}

/// What a swizzle permutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// Offsets of elements.
    Offsets,
    /// Byte addresses, of elements of this width in bits if it is known.
    Bytes(Option<u64>),
}

impl Pointed {
    fn plain(layout: Layout) -> Pointed {
        Pointed { swizzle: layout.swizzle(), over: Over::Offsets, layout }
    }

    /// The swizzle of addresses before a layout, which has none of its own.
    fn of(swizzle: Swizzle, bits: Option<u64>, layout: Layout) -> Result<Pointed, Error> {
        let pointed = Pointed { swizzle, over: Over::Bytes(bits), layout };
        pointed.alone()
    }

    fn alone(self) -> Result<Pointed, Error> {
        match self.layout.swizzle().is_identity() {
            true => Ok(self),
            false => Err(Error::new(Kind::Unsupported, "a layout has one swizzle, here are two")),
        }
    }

    /// The layout of elements of `bits` bits.
    fn layout(&self, bits: Option<u64>) -> Result<Layout, Error> {
        let swizzle = match self.over {
            Over::Offsets => self.swizzle,
            Over::Bytes(_) => self.of_elements(bits)?,
        };
        Ok(self.layout.with_swizzle(swizzle)?)
    }

    /// The swizzle of offsets that a swizzle of byte addresses is.
    fn of_elements(&self, bits: Option<u64>) -> Result<Swizzle, Error> {
        if self.swizzle.is_identity() {
            return Ok(Swizzle::IDENTITY);
        }
        let bits = bits.filter(|bits| bits.is_power_of_two()).ok_or_else(|| {
            let said =
                format!("`{self}` needs elements of a power of two of bits, for its swizzle");
            Error::new(Kind::Unsupported, said)
        })?;
        let base = i32::from(self.swizzle.base()) + 3 - bits.trailing_zeros() as i32;
        let base = u8::try_from(base).map_err(|_| {
            let said = format!(
                "`{self}`: the swizzle permutes bytes within an element of {bits} bits; its base is at least {}",
                bits.trailing_zeros() - 3
            );
            Error::new(Kind::Unsupported, said)
        })?;
        Ok(Swizzle::new(self.swizzle.bits(), base, self.swizzle.shift())?)
    }

    fn reading(self) -> Result<Arc<dyn Reading>, Error> {
        match self.over {
            Over::Bytes(None) => {}
            Over::Bytes(bits) => drop(self.layout(bits)?),
            Over::Offsets => drop(self.layout(None)?),
        }
        Ok(Arc::new(self))
    }
}

impl fmt::Display for Pointed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (b, m, s) = (self.swizzle.bits(), self.swizzle.base(), self.swizzle.shift());
        match self.over {
            Over::Offsets => f.write_str(&spell(&self.layout)),
            Over::Bytes(None) => write!(f, "Sw<{b},{m},{s}> o smem_ptr o {}", self.layout),
            Over::Bytes(Some(bits)) => {
                write!(f, "Sw<{b},{m},{s}> o smem_ptr[{bits}b](unset) o {}", self.layout)
            }
        }
    }
}

impl Reading for Pointed {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.layout.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        let stored = given.dtype.and_then(|dtype| dtype.bits()).map(u64::from);
        let bits = match self.over {
            Over::Bytes(Some(own)) if stored.is_some_and(|bits| bits != own) => {
                let bits = stored.unwrap_or_default();
                let said = format!("elements of {bits} bits, but `{self}` points at {own} bits");
                return Err(Error::new(Kind::Mismatch, said));
            }
            Over::Bytes(own) => match own.or(stored) {
                None => Some(bits_of(given.need_dtype(self, "the base of its swizzle")?)?),
                bits => bits,
            },
            Over::Offsets => None,
        };
        let layout = TensorLayout::of(&self.layout(bits)?);
        given.agree_dims(self, layout.extents())?;
        let bare = given.dims.is_none() && given.dtype.is_none();
        let (dtype, fill) = (given.dtype, Fill::Unspecified);
        Ok(Resolved { layout, dtype, bits: None, fill, bare })
    }
}

/// The layout in C++.
fn print(named: &Named) -> Result<String, Error> {
    let tensor = named.layout();
    let layout = tensor.layout();
    if *tensor != TensorLayout::of(layout) || layout.offset() != 0 {
        let said = "CuTe's layouts have no words for padding, offsets, or tiles that do not divide";
        return Err(Error::new(Kind::Unsupported, said));
    }
    Ok(spell(layout))
}

/// `make_layout`, behind the swizzle if there is one.
fn spell(layout: &Layout) -> String {
    let swizzle = layout.swizzle();
    let made = |name, tuple: &IntTuple| {
        let text = match tuple.as_integer() {
            Some(_) => tuple.to_string(),
            None => tuple.to_string().replace('(', &format!("{name}(")),
        };
        text
    };
    let shape = made("make_shape", &layout.shape());
    let text = format!("make_layout({shape},{})", made("make_stride", &layout.stride()));
    match swizzle.is_identity() {
        true => text,
        false => {
            let (b, m, s) = (swizzle.bits(), swizzle.base(), swizzle.shift());
            format!("composition(Swizzle<{b},{m},{s}>{{}},{text})")
        }
    }
}

/// The width of an element, which has one.
fn bits_of(dtype: Dtype) -> Result<u64, Error> {
    let said = || Error::new(Kind::Unsupported, format!("{dtype} has no width in bits"));
    dtype.bits().map(u64::from).ok_or_else(said)
}

/// Takes `cute::`, if it is there, and then the name. Returns whether the name was there.
fn name(scan: &mut Scanner<'_>, name: &str) -> bool {
    scan.eat("cute::");
    scan.eat(name)
}

/// Takes a whole name, not the beginning of a longer one.
fn eat(scan: &mut Scanner<'_>, whole: &str) -> bool {
    scan.skip();
    let rest = scan.rest().strip_prefix("cute::").unwrap_or(scan.rest());
    let behind = rest.strip_prefix(whole);
    let is =
        behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    is && name(scan, whole)
}

/// What makes a value of a type.
fn braces(scan: &mut Scanner<'_>) -> Result<(), Error> {
    if scan.eat("{") { scan.expect("}") } else { Ok(()) }
}

fn swizzle(scan: &mut Scanner<'_>) -> Result<Swizzle, Error> {
    scan.skip();
    let from = scan.at();
    if !["Swizzle", "Sw", "S"].iter().any(|name| eat(scan, name)) {
        return Err(scan.expected("a swizzle such as `Sw<3,4,3>`"));
    }
    let numbers = scan.list(("<", ">"), 3, Scanner::signed)?;
    braces(scan)?;
    let [bits, base, shift] = numbers[..] else {
        return Err(Error::parse(
            (from, scan.at()),
            "a swizzle has three numbers: bits, base, shift",
        ));
    };
    let (bits, base, shift) = (u8::try_from(bits), u8::try_from(base), i8::try_from(shift));
    let (Ok(bits), Ok(base), Ok(shift)) = (bits, base, shift) else {
        return Err(Error::parse((from, scan.at()), "the numbers of a swizzle are below 64"));
    };
    Swizzle::new(bits, base, shift)
        .map_err(|error| Error::parse((from, scan.at()), error.to_string()))
}

/// `smem_ptr`, and the width of its elements if it says one.
fn pointer(scan: &mut Scanner<'_>) -> Result<Option<u64>, Error> {
    if !eat(scan, "smem_ptr") {
        return Err(scan.expected("`smem_ptr`"));
    }
    let mut bits = None;
    if scan.eat("[") {
        bits = Some(scan.integer()?);
        scan.expect("b")?;
        scan.expect("]")?;
    }
    if scan.eat("(") {
        scan.expect("unset")?;
        scan.expect(")")?;
    }
    Ok(bits)
}

/// What stands between the brackets of a `ComposedLayout` or a `composition`.
fn composed(scan: &mut Scanner<'_>, open: &str, close: &str) -> Result<Pointed, Error> {
    scan.expect(open)?;
    let swizzle = swizzle(scan)?;
    scan.expect(",")?;
    let over = flag(scan)?;
    let read = plain(scan)?;
    scan.expect(close)?;
    braces(scan)?;
    let over = over.unwrap_or(Over::Offsets);
    let pointed = Pointed { swizzle, over, layout: read }.alone()?;
    match over {
        Over::Offsets => Ok(Pointed::plain(pointed.layout(None)?)),
        Over::Bytes(_) => Ok(pointed),
    }
}

/// What a swizzle permutes, and the comma behind; none where a layout follows at once.
fn flag(scan: &mut Scanner<'_>) -> Result<Option<Over>, Error> {
    let over = if eat(scan, "smem_ptr_flag_bits") {
        scan.expect("<")?;
        let bits = scan.integer()?;
        scan.expect(">")?;
        Over::Bytes(Some(bits))
    } else if eat(scan, "smem_ptr_flag") {
        Over::Bytes(None)
    } else if scan.peek().is_some_and(|c| c == '_' || c == 'I' || c.is_ascii_digit()) {
        let from = scan.at();
        if integer(scan)? != 0 {
            return Err(Error::parse(
                (from, scan.at()),
                "an offset between swizzle and layout is 0",
            ));
        }
        Over::Offsets
    } else {
        return Ok(None);
    };
    braces(scan)?;
    scan.expect(",")?;
    Ok(Some(over))
}

fn plain(scan: &mut Scanner<'_>) -> Result<Layout, Error> {
    let (open, close) = if eat(scan, "make_layout") {
        ("(", ")")
    } else if eat(scan, "Layout") {
        ("<", ">")
    } else {
        return printed(scan);
    };
    scan.expect(open)?;
    let from = scan.at();
    let shape = tuple(scan, 0)?;
    let layout = if scan.eat(",") { strided(scan, &shape) } else { compact(&shape, false) };
    let layout = layout.map_err(|error| match error.span() {
        Some(_) => error,
        None => Error::parse((from, scan.at()), error.to_string()),
    })?;
    scan.expect(close)?;
    braces(scan)?;
    Ok(layout)
}

/// The layout of a shape and the strides or the order that follow.
fn strided(scan: &mut Scanner<'_>, shape: &IntTuple) -> Result<Layout, Error> {
    let orders = [
        ("LayoutLeft", false),
        ("GenColMajor", false),
        ("LayoutRight", true),
        ("GenRowMajor", true),
    ];
    if let Some((_, rows)) = orders.into_iter().find(|(name, _)| eat(scan, name)) {
        braces(scan)?;
        return compact(shape, rows);
    }
    let from = scan.at();
    let stride = tuple(scan, 0)?;
    if stride.profile() != shape.profile() {
        let said = format!("the strides {stride} are bracketed unlike the shape {shape}");
        return Err(Error::parse((from, scan.at()), said));
    }
    of(shape, stride.values())
}

fn compact(shape: &IntTuple, rows: bool) -> Result<Layout, Error> {
    let stride = if rows { shape.compact_row_major() } else { shape.compact_col_major() }?;
    of(shape, stride.values())
}

fn of(shape: &IntTuple, strides: &[i64]) -> Result<Layout, Error> {
    let modes = shape.values().iter().zip(strides);
    let modes: Vec<Mode> =
        modes.map(|(&extent, &stride)| Mode::new(extent.max(0) as u64, stride)).collect();
    Ok(Layout::new(&modes, shape.profile(), 0, Swizzle::IDENTITY)?)
}

/// A layout as CuTe prints it, up to the end or to the bracket that closes what it stands in.
fn printed(scan: &mut Scanner<'_>) -> Result<Layout, Error> {
    scan.skip();
    let (from, rest) = (scan.at(), scan.rest());
    let mut open = 0usize;
    let end = rest.find(|c| match c {
        '(' | '<' => {
            open += 1;
            false
        }
        ')' | '>' => {
            let closes = open == 0;
            open = open.saturating_sub(1);
            closes
        }
        _ => false,
    });
    let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
    scan.advance(text.len());
    Ok(Layout::parse(text.trim_end()).map_err(|error| Error::from(error).shifted(from))?)
}

fn tuple(scan: &mut Scanner<'_>, depth: usize) -> Result<IntTuple, Error> {
    let named = [
        ("make_shape", "("),
        ("make_stride", "("),
        ("make_tuple", "("),
        ("Shape", "<"),
        ("Stride", "<"),
        ("tuple", "<"),
    ];
    let Some((_, open)) = named.into_iter().find(|(name, _)| eat(scan, name)) else {
        return Ok(IntTuple::integer(integer(scan)?));
    };
    if depth == MAX_DEPTH {
        return Err(scan.expected("no further bracket"));
    }
    let from = scan.at();
    let close = if open == "(" { ")" } else { ">" };
    let parts = scan.list((open, close), MAX_MODES, |scan| tuple(scan, depth + 1))?;
    braces(scan)?;
    let parts: Vec<&IntTuple> = parts.iter().collect();
    IntTuple::of(&parts).map_err(|error| Error::parse((from, scan.at()), error.to_string()))
}

fn integer(scan: &mut Scanner<'_>) -> Result<i64, Error> {
    let value = if eat(scan, "Int") || eat(scan, "C") {
        scan.expect("<")?;
        let value = scan.signed()?;
        scan.expect(">")?;
        value
    } else {
        scan.eat("_");
        scan.signed()?
    };
    braces(scan)?;
    Ok(value)
}
