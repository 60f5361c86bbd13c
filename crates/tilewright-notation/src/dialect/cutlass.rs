//! CuTe's C++ code, and the text that CuTe prints for layouts in shared memory.
//!
//! ```text
//! cutlass  := ( swizzle 'o' pointer 'o' plain
//!           | pointer 'o' plain
//!           | 'ComposedLayout' '<' swizzle ',' flag ',' plain '>' [ '{}' ]
//!           | 'composition' '(' swizzle ',' [ flag ',' ] plain ')'
//!           | plain ) [ ';' ]
//! swizzle  := ('Sw' | 'S' | 'Swizzle') '<' int ',' int ',' int '>' [ '{}' ]
//! pointer  := ('smem_ptr' | 'gmem_ptr' | 'rmem_ptr' | 'tmem_ptr' | 'ptr') [ '[' int 'b' ']' ] [ '(' ('unset' | '0x' hex) ')' ]
//! flag     := ('smem_ptr_flag' | 'smem_ptr_flag_bits' '<' int '>' | integer that is 0) [ '{}' ]
//! plain    := 'make_layout' '(' tuple [ ',' (tuple | order) ] ')'
//!           | 'make_layout' '(' plain { ',' plain } ')'
//!           | 'Layout' '<' tuple [ ',' (tuple | order) ] '>' [ '{}' ]
//!           | a layout as CuTe prints it
//! order    := ('LayoutLeft' | 'GenColMajor' | 'LayoutRight' | 'GenRowMajor') [ '{}' ]
//! tuple    := ('make_shape' | 'make_stride' | 'make_tuple') '(' tuple { ',' tuple } ')'
//!           | ('Shape' | 'Stride' | 'tuple') '<' tuple { ',' tuple } '>' [ '{}' ]
//!           | '(' tuple { ',' tuple } ')'
//!           | integer
//! integer  := [ '_' ] int [ '{}' ] | ('Int' | 'C') '<' int '>' [ '{}' | '()' ]
//! ```
//!
//! Any name can have the prefix `cute::`. The dialect `cute` reads the layouts that CuTe prints; this one reads them
//! only after a swizzle or a pointer. `make_layout` of several layouts concatenates their modes. The printer writes
//! `make_layout` and `composition`. Source: CUTLASS, `include/cute/layout.hpp`, `layout_composed.hpp`,
//! `pointer_flagged.hpp`.
//!
//! A swizzle of a pointer permutes byte addresses; a swizzle of a layout permutes offsets of elements. So
//! `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)` is `Sw<3,3,3> o (8,64):(64,1)` of 16-bit elements.
//! Without a width, the array's dtype gives it.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)` | | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | `f32[8,32]` | `Sw<3,2,3> o (8,32):(32,1)` |
//! | `make_layout(make_shape(4,8),make_stride(8,1))` | | `(4,8):(8,1)` |
//! | `make_layout(make_shape(Int<4>{},8))` | | `(4,8):(1,4)` |
//! | `cute::make_layout((4,2), (1,4));` | | `(4,2):(1,4)` |
//! | `make_layout(4:1, Layout<_2,_4>{})` | | `(4,2):(1,4)` |
//! | `gmem_ptr[32b](0x7f0000400) o (4,8):(8,1)` | | `(4,8):(8,1)` |
//! | `Layout<Shape<_2,Shape<_2,_2>>,Stride<_4,Stride<_2,_1>>>` | | `(2,(2,2)):(4,(2,1))` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | | error: needs the array's dtype |
//! | `Sw<3,1,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)` | | error: within an element |

use std::{fmt, sync::Arc};

use tilewright_core::{
    Dtype, IntTuple, Layout, LayoutPart, MAX_DEPTH, MAX_MODES, Swizzle, TensorLayout,
};

use crate::{
    Error, ResolvedLayout,
    literal::{Scanner, parsed},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(super) const DIALECT: Notation = Notation::new(
    "cutlass",
    "CuTe in C++: make_layout, Layout<…>, swizzled pointers to shared memory",
    read,
    print,
)
.with_aliases(&["cute-cpp"])
.with_form(claims);

/// The names that such a text begins with.
const FIRST: [&str; 5] = ["make_layout", "Layout<", "ComposedLayout<", "composition(", "Swizzle<"];

/// Pointers by the memory they point into, as tensors print them.
const POINTERS: [&str; 5] = ["smem_ptr", "gmem_ptr", "rmem_ptr", "tmem_ptr", "ptr"];

/// Returns whether a text is C++, or the layout of a pointer.
fn claims(text: &str) -> bool {
    let text = text.strip_prefix("cute::").unwrap_or(text);
    let pointer = text.starts_with('S') && text.contains("smem_ptr");
    let behind = POINTERS.iter().find_map(|name| text.strip_prefix(name));
    let to = behind.is_some_and(|rest| rest.starts_with(['[', '(', ' ']));
    pointer || to || FIRST.iter().any(|name| text.starts_with(name))
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let pointed = read_of_text(text)?;
    pointed.check()?;
    Ok(Arc::new(pointed))
}

/// The layout in C++.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = named.layout();
    let layout = tensor.layout();
    if *tensor != TensorLayout::of(layout) || layout.offset() != 0 {
        let said = "CuTe's layouts cannot express padding, offsets, or tiles that do not divide";
        return Err(Error::unsupported(said));
    }
    if !layout.swizzle().is_field_xor() {
        let said = "CuTe's swizzles are three numbers, but this one is a matrix of bits";
        return Err(Error::unsupported(said));
    }
    Ok(spell(layout))
}

/// A swizzle of byte addresses or of offsets, and the layout behind it.
#[derive(Debug)]
struct Pointed {
    swizzle: Swizzle,
    over: Over,
    layout: Layout,
}

/// The values that a swizzle permutes.
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

    /// Makes the target of a pointer to elements of `bits` bits.
    fn at(bits: Option<u64>, layout: Layout) -> Result<Pointed, Error> {
        match layout.swizzle().is_identity() {
            true => Pointed::of(Swizzle::IDENTITY, bits, layout),
            false => Ok(Pointed::plain(layout)),
        }
    }

    /// The swizzle of addresses before a layout, which has none of its own.
    fn of(swizzle: Swizzle, bits: Option<u64>, layout: Layout) -> Result<Pointed, Error> {
        let pointed = Pointed { swizzle, over: Over::Bytes(bits), layout };
        pointed.alone()
    }

    fn alone(self) -> Result<Pointed, Error> {
        match self.layout.swizzle().is_identity() {
            true => Ok(self),
            false => Err(Error::unsupported("a layout has one swizzle, but two are given")),
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
                format!("`{self}` needs elements whose bits are a power of two, for its swizzle");
            Error::unsupported(said)
        })?;
        let base = i32::from(self.swizzle.base()) + 3 - bits.trailing_zeros() as i32;
        let base = u8::try_from(base).map_err(|_| {
            let said = format!(
                "`{self}`: the swizzle permutes bytes within an element of {bits} bits; its base is at least {}",
                bits.trailing_zeros() - 3
            );
            Error::unsupported(said)
        })?;
        Ok(Swizzle::new(self.swizzle.bits(), base, self.swizzle.shift())?)
    }

    /// Refuses a swizzle that is none of this layout, where the width of elements is known.
    fn check(&self) -> Result<(), Error> {
        match self.over {
            Over::Bytes(None) => Ok(()),
            Over::Bytes(bits) => self.layout(bits).map(drop),
            Over::Offsets => self.layout(None).map(drop),
        }
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

impl ParsedSpec for Pointed {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.layout.rank()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let stored = given.dtype.and_then(|dtype| dtype.bits()).map(u64::from);
        let bits = match self.over {
            Over::Bytes(Some(own)) if stored.is_some_and(|bits| bits != own) => {
                let bits = stored.unwrap_or_default();
                let said = format!("elements of {bits} bits, but `{self}` points at {own} bits");
                return Err(Error::mismatch(said));
            }
            Over::Bytes(_) if self.swizzle.is_identity() => None,
            Over::Bytes(own) => match own.or(stored) {
                None => Some(bits_of(given.need_dtype(self, "the base of its swizzle")?)?),
                bits => bits,
            },
            Over::Offsets => None,
        };
        let layout = TensorLayout::of(&self.layout(bits)?);
        given.agree_dims(self, layout.extents())?;
        let bare = given.dims.is_none() && given.dtype.is_none();
        Ok(ResolvedLayout { bare, ..ResolvedLayout::plain(layout, given) })
    }
}

/// `make_layout`, behind the swizzle if there is one.
fn spell(layout: &Layout) -> String {
    let swizzle = layout.swizzle();
    let made = |name, tuple: &IntTuple| match tuple.as_integer() {
        Some(_) => tuple.to_string(),
        None => tuple.to_string().replace('(', &format!("{name}(")),
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
    let said = || Error::unsupported(format!("{dtype} has an unknown width"));
    dtype.bits().map(u64::from).ok_or_else(said)
}

/// A whole text.
fn read_of_text(text: &str) -> Result<Pointed, Error> {
    let mut scan = Scanner::new(text);
    name(&mut scan, "");
    let read = if let Some(bits) = pointer(&mut scan)? {
        scan.expect("o")?;
        plain(&mut scan).and_then(|layout| Pointed::at(bits, layout))
    } else if scan.rest().starts_with('S') {
        let swizzle = swizzle(&mut scan)?;
        scan.expect("o")?;
        let Some(bits) = pointer(&mut scan)? else {
            return Err(scan.expected("`smem_ptr`"));
        };
        scan.expect("o")?;
        Pointed::of(swizzle, bits, plain(&mut scan)?)
    } else if eat(&mut scan, "ComposedLayout") {
        composed(&mut scan, "<", ">")
    } else if eat(&mut scan, "composition") {
        composed(&mut scan, "(", ")")
    } else {
        plain(&mut scan).map(Pointed::plain)
    }?;
    scan.eat(";");
    scan.end("the layout")?;
    Ok(read)
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

/// Reads the brackets that make a value of a type.
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

/// A pointer, if there is one, and the width of its elements if it has one.
fn pointer(scan: &mut Scanner<'_>) -> Result<Option<Option<u64>>, Error> {
    if !POINTERS.iter().any(|name| eat(scan, name)) {
        return Ok(None);
    }
    let mut bits = None;
    if scan.eat("[") {
        bits = Some(scan.integer()?);
        scan.expect("b")?;
        scan.expect("]")?;
    }
    if scan.eat("(") {
        // An address: what it points at begins on a window of the swizzle, which shared memory must keep.
        if scan.eat("0x") {
            scan.take(|c| c.is_ascii_hexdigit());
        } else {
            scan.expect("unset")?;
        }
        scan.expect(")")?;
    }
    Ok(Some(bits))
}

/// Reads the text between the brackets of a `ComposedLayout` or a `composition`.
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

/// Reads what a swizzle permutes, and the comma behind; `None` where a layout follows at once.
fn flag(scan: &mut Scanner<'_>) -> Result<Option<Over>, Error> {
    let over = if eat(scan, "smem_ptr_flag_bits") {
        scan.expect("<")?;
        let bits = scan.integer()?;
        scan.expect(">")?;
        Over::Bytes(Some(bits))
    } else if eat(scan, "smem_ptr_flag") {
        Over::Bytes(None)
    } else if is_offset(scan) {
        let from = scan.at();
        if integer(scan)? != 0 {
            return Err(Error::parse(
                (from, scan.at()),
                "the offset between swizzle and layout must be 0",
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

/// Returns whether an integer and a comma follow, and not a layout that begins with an integer.
fn is_offset(scan: &Scanner<'_>) -> bool {
    let mut ahead = Scanner::new(scan.rest());
    integer(&mut ahead).is_ok() && braces(&mut ahead).is_ok() && ahead.peek() == Some(',')
}

fn plain(scan: &mut Scanner<'_>) -> Result<Layout, Error> {
    nested(scan, 0)
}

fn nested(scan: &mut Scanner<'_>, depth: usize) -> Result<Layout, Error> {
    let (open, close) = if eat(scan, "make_layout") {
        ("(", ")")
    } else if eat(scan, "Layout") {
        ("<", ">")
    } else {
        return printed(scan);
    };
    scan.expect(open)?;
    let from = scan.at();
    let layout = if is_layout(scan) { joined(scan, depth) } else { of_shape(scan) };
    let layout = layout.map_err(|error| match error.span() {
        Some(_) => error,
        None => Error::parse((from, scan.at()), error.message()),
    })?;
    scan.expect(close)?;
    braces(scan)?;
    Ok(layout)
}

/// Returns whether the argument that follows is a layout and not a tuple.
fn is_layout(scan: &Scanner<'_>) -> bool {
    let rest = scan.rest().trim_start();
    let text = rest.strip_prefix("cute::").unwrap_or(rest);
    let end = argument(text);
    // The names of C++ have two colons.
    let printed = text[..end].replace("::", "").contains(':');
    printed || text.starts_with("make_layout") || text.starts_with("Layout<")
}

/// Layouts side by side.
fn joined(scan: &mut Scanner<'_>, depth: usize) -> Result<Layout, Error> {
    if depth == MAX_DEPTH {
        return Err(scan.expected("no further bracket"));
    }
    let mut layouts = vec![nested(scan, depth + 1)?];
    while scan.eat(",") && layouts.len() <= MAX_MODES {
        // A tuple beside a layout is not a layout, though CuTe's text reads one as compact.
        if !is_layout(scan) {
            return Err(scan.expected("a layout like the one before: a shape, `:` and strides"));
        }
        layouts.push(nested(scan, depth + 1)?);
    }
    let parts: Vec<LayoutPart<'_>> = layouts.iter().map(LayoutPart::Layout).collect();
    Ok(Layout::make(&parts)?)
}

/// The layout of a shape, and of the strides or the order behind it.
fn of_shape(scan: &mut Scanner<'_>) -> Result<Layout, Error> {
    let shape = tuple(scan, 0)?;
    match scan.eat(",") {
        true => strided(scan, &shape),
        false => Ok(Layout::make(&[LayoutPart::Tuple(&shape)])?),
    }
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
        let order = if rows { shape.compact_row_major() } else { shape.compact_col_major() };
        return Ok(Layout::from_shape_stride(shape, &order?)?);
    }
    let from = scan.at();
    let stride = tuple(scan, 0)?;
    if stride.profile() != shape.profile() {
        let said = format!("the strides {stride} are bracketed unlike the shape {shape}");
        return Err(Error::parse((from, scan.at()), said));
    }
    Ok(Layout::make(&[LayoutPart::Tuple(shape), LayoutPart::Tuple(&stride)])?)
}

/// The bytes up to the comma or the bracket that ends an argument.
fn argument(text: &str) -> usize {
    let mut open = 0usize;
    let ends = |c: char| match c {
        '(' | '<' => {
            open += 1;
            false
        }
        ')' | '>' => {
            let closes = open == 0;
            open = open.saturating_sub(1);
            closes
        }
        ',' | ';' => open == 0,
        _ => false,
    };
    text.find(ends).unwrap_or(text.len())
}

/// A layout as CuTe prints it, up to the end or to the bracket that closes the enclosing text.
fn printed(scan: &mut Scanner<'_>) -> Result<Layout, Error> {
    scan.skip();
    let (from, rest) = (scan.at(), scan.rest());
    let text = &rest[..argument(rest)];
    scan.advance(text.len());
    Layout::parse(text.trim_end()).map_err(|error| parsed(error).shifted(from))
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
    let open = match named.into_iter().find(|(name, _)| eat(scan, name)) {
        Some((_, open)) => open,
        None if scan.peek() == Some('(') => "(",
        None => return Ok(IntTuple::integer(integer(scan)?)),
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
        if scan.eat("(") {
            scan.expect(")")?;
        }
        value
    } else {
        scan.eat("cute::");
        scan.eat("_");
        scan.signed()?
    };
    braces(scan)?;
    Ok(value)
}
