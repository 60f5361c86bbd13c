//! The text of a layout in C++, read.

use tilewright_core::{IntTuple, Layout, LayoutPart, MAX_DEPTH, MAX_MODES, Swizzle};

use super::{
    POINTERS,
    pointed::{Over, Pointed},
};
use crate::{Error, error::parsed, scan::Scanner};

/// A whole text.
pub(super) fn read(text: &str) -> Result<Pointed, Error> {
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
