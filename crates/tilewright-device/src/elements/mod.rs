//! A kernel with one element for each thread: for any region, and for any program of digits. The plan uses it for
//! everything that no faster way handles.
//!
//! Elements narrower than a byte may be at any offset: each thread makes a byte of the destination.
//! For each position in its byte, the thread computes the digits of the destination from the offset, and from these, by
//! the program's operations, the offset in the source. A position without an element gets the fill, or keeps its bits
//! if the program is a part.
//!
//! Law: each byte is written by one thread; in a part, each byte that contains an element of it. Therefore neither
//! regions nor padding need whole bytes.

mod digits;

pub(crate) use digits::of_digits;

use core::ops::Range;

use tilewright_core::Swizzle;
use tilewright_relayout::{DigitRange, Extend, Loop, Program};

use crate::{
    Error,
    byte_region::ByteRegion,
    elements::digits::Width,
    grid::{GridWalk, Iterations, THREADS, sum, walks},
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
    swizzled::Maps,
};

/// The bytes that one move reads and writes, from 1 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) extend: Extend,
    /// The bytes of an access on either side: fewer than the cell's only if its width changes, up to 4.
    pub(crate) units: (u64, u64),
}

impl Cell {
    /// Makes a cell with the same width on both sides.
    pub(crate) fn same(bytes: u64) -> Cell {
        Cell { src: bytes, dst: bytes, extend: Extend::Zero, units: (bytes, bytes) }
    }

    /// Writes the lines that move a cell from one address to another.
    pub(crate) fn write(self, from: &str, to: &str, text: &mut KernelText) {
        let Cell { src, dst, extend, units } = self;
        if src == dst {
            return text.line(&format!("STG{dst}({to}, LDG{src}({from}));"));
        }
        let read = units.0;
        let part = |at: u64| match at {
            0 => format!("(u32)LDG{read}({from})"),
            _ => format!("(u32)LDG{read}({from} + {at}) << {}", 8 * at),
        };
        let parts: Vec<String> = (0..src).step_by(read as usize).map(part).collect();
        text.line(&format!("u32 value = {};", parts.join(" | ")));
        if extend == Extend::Sign && src < dst {
            let above = 32 - 8 * src;
            text.line(&format!("value = (u32)((i32)(value << {above}) >> {above});"));
        }
        self.store(to, text);
    }

    /// Writes the lines that store a `value` of 32 bits.
    fn store(self, to: &str, text: &mut KernelText) {
        let write = self.units.1;
        for at in (0..self.dst).step_by(write as usize) {
            text.line(&match at {
                0 => format!("STG{write}({to}, value);"),
                _ => format!("STG{write}({to} + {at}, value >> {});", 8 * at),
            });
        }
    }
}

/// Makes the kernels of an area. This way handles every area.
pub(crate) fn take(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    let unit = area.unit();
    let bytes = unit as i64;
    let mut loops = area.loops.clone();
    loops.push(Loop { extent: area.run / unit, src: bytes, dst: bytes });
    Some(of_loops((area.src, area.dst), &loops, Cell::same(unit), area.bytes, &area.maps))
}

/// Makes the kernels that move a cell at each iteration of some loops, whose strides are in bytes.
pub(crate) fn of_loops(
    first: (i64, i64),
    loops: &[Loop],
    cell: Cell,
    bytes: (u64, u64),
    maps: &Maps,
) -> Result<Vec<Kernel>, Error> {
    let extents: Vec<u64> = loops.iter().map(|level| level.extent).collect();
    walks(&extents).iter().map(|walk| of_walk(walk, first, loops, cell, (bytes, maps))).collect()
}

fn of_walk(
    walk: &GridWalk,
    first: (i64, i64),
    loops: &[Loop],
    cell: Cell,
    (bytes, maps): ((u64, u64), &Maps),
) -> Result<Kernel, Error> {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    walk.begin(&mut text, &mut numbers)?;
    let (src, dst) = strides(walk, loops);
    let from = base(walk, first.0, |iterations| loops[iterations.of].src);
    let to = base(walk, first.1, |iterations| loops[iterations.of].dst);
    let (from, to) = (numbers.signed(from), numbers.signed(to));
    let from = sum(&format!("src + {from}"), 0..walk.outer, |i| src[i], &mut numbers);
    let to = sum(&format!("dst + {to}"), 0..walk.outer, |i| dst[i], &mut numbers);
    text.line(&format!("GSRC from = {from};"));
    text.line(&format!("GDST to = {to};"));
    let inner = walk.outer..walk.iterations.len();
    let address = |base, strides: &[i64], numbers: &mut Parameters| {
        sum(base, inner.clone(), |i| strides[i], numbers)
    };
    if cell.src == cell.dst {
        walk.loads(&format!("u{}", 8 * cell.src), &mut text, &mut numbers);
        let from = maps.from(&address("from", &src, &mut numbers));
        text.line(&format!("v[k] = LDG{}({from});", cell.src));
        text.line(&format!("at[k] = {};", maps.to(&address("to", &dst, &mut numbers))));
        text.line("whole[k] = 1u;");
        walk.stores(cell.dst, &mut text);
    } else {
        walk.threads(&mut text, &mut numbers);
        let from = maps.from(&address("from", &src, &mut numbers));
        let to = maps.to(&address("to", &dst, &mut numbers));
        cell.write(&from, &to, &mut text);
        walk.end(&mut text);
    }
    let launch = Launch {
        way: Way::Elements,
        threads: THREADS,
        resident: 4,
        blocks: walk.blocks(),
        shared: 0,
        bytes,
    };
    Kernel::new(launch, &comment(walk, cell), &maps.functions(), text, numbers)
}

fn comment(walk: &GridWalk, cell: Cell) -> String {
    let (outer, inner) = (walk.outer, walk.iterations.len() - walk.outer);
    let width = match (cell.src, cell.dst) {
        (src, dst) if src == dst => format!("{src} bytes"),
        (src, dst) => format!("{src} bytes to {dst}"),
    };
    format!("Elements: {width} a thread, {inner} loops in a block's count and {outer} around it.")
}

/// Returns the strides of a walk's iterations on both sides.
fn strides(walk: &GridWalk, loops: &[Loop]) -> (Vec<i64>, Vec<i64>) {
    let of = |iterations: &Iterations| {
        let step = iterations.step as i64;
        (loops[iterations.of].src.wrapping_mul(step), loops[iterations.of].dst.wrapping_mul(step))
    };
    walk.iterations.iter().map(of).unzip()
}

/// Returns the offset at which a walk begins on one side.
fn base(walk: &GridWalk, first: i64, stride: impl Fn(&Iterations) -> i64) -> i64 {
    let begun = |iterations: &Iterations| stride(iterations).wrapping_mul(iterations.first as i64);
    walk.iterations.iter().fold(first, |all, iterations| all.wrapping_add(begun(iterations)))
}

/// Makes the kernels of a program whose destination has elements narrower than a byte.
pub(crate) fn of_bytes(program: &Program) -> Result<Vec<Kernel>, Error> {
    let places = RecoveredDigits::of(program)?;
    let bytes = places.bytes(program);
    let tables = digits::tables(program.digits())?;
    let walks = walks(&[bytes.end - bytes.start]);
    walks.iter().map(|walk| bytes_of_walk(walk, bytes.start, &places, program, &tables)).collect()
}

/// A digit of the destination, recovered from an offset. Its iteration counts from the first, or backwards from the
/// last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecoveredDigit {
    /// The position among the program's digits.
    of: usize,
    extent: u64,
    /// Larger than the sum of all smaller digits.
    stride: u64,
    back: bool,
}

/// The digits of the destination with more than one iteration, the largest stride first, and the offset at which all of
/// them begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecoveredDigits {
    digits: Vec<RecoveredDigit>,
    /// The least offset of an element, before the swizzle.
    first: i64,
    /// The distance from the least offset to the end of the last element; 0 without elements.
    span: u64,
    /// Maps an offset of the array back to the offset before the swizzle.
    swizzle: Swizzle,
}

impl RecoveredDigits {
    /// Finds the digits of a program's destination.
    ///
    /// # Errors
    /// Unsupported if an offset does not determine the iterations one after another.
    fn of(program: &Program) -> Result<RecoveredDigits, Error> {
        let digits = program.digits();
        let swizzle = digits.swizzles().1.inverse();
        if digits.is_empty() {
            return Ok(RecoveredDigits { digits: Vec::new(), first: 0, span: 0, swizzle });
        }
        let mut first = digits.base().1;
        let mut places = Vec::new();
        for (of, digit) in digits.digits().iter().enumerate() {
            let Range { start, end } = digit.values();
            let back = digit.stride() < 0;
            let least = if back { end - 1 } else { start };
            first = first.wrapping_add(digit.stride().wrapping_mul(least as i64));
            let stride = digit.stride().unsigned_abs();
            places.push(RecoveredDigit { of, extent: end - start, stride, back });
        }
        places.retain(|place| place.extent > 1);
        places.sort_by_key(|place| core::cmp::Reverse(place.stride));
        let mut span = 1u64;
        for place in places.iter().rev() {
            if span > place.stride {
                return Err(interleaved());
            }
            let more = place.stride.checked_mul(place.extent - 1);
            span = more.and_then(|more| span.checked_add(more)).ok_or_else(interleaved)?;
        }
        Ok(RecoveredDigits { digits: places, first, span, swizzle })
    }

    /// Returns the bytes that must be written: for a part without a swizzle, those from its first element to its last.
    fn bytes(&self, program: &Program) -> Range<u64> {
        if !program.is_part() || !self.swizzle.is_identity() {
            return 0..program.dst_bytes();
        }
        let each = u64::from(8 / program.elements().dst_bits);
        let first = self.first as u64;
        first / each..(first + self.span).div_ceil(each)
    }

    /// Writes the lines that compute the iterations `t0` … of all digits from the offset `o`, and continue with the
    /// next position if no element has this offset.
    fn write(&self, digits: &[DigitRange], text: &mut KernelText, numbers: &mut Parameters) {
        let width = if self.span < 1 << 31 { Width::Short } else { Width::Long };
        let word = width.word();
        let (first, span) = (numbers.signed(self.first), numbers.add(self.span));
        text.line(&format!("const u64 behind = (u64)(o - {first});"));
        text.line(&format!("if (behind >= {span}) continue;"));
        text.line(&format!("{word} rest = ({word})behind;"));
        for (n, place) in self.digits.iter().enumerate() {
            text.line(&format!("{word} c{n} = rest;"));
            if place.stride > 1 {
                width.divide(&format!("c{n}"), place.stride, "rest = %;", text, numbers);
            }
            // The first digit is within its extent, because the offset is within the span.
            if n > 0 {
                let extent = width.number(place.extent, numbers);
                text.line(&format!("if (c{n} >= {extent}) continue;"));
            }
        }
        // A stride of 1 leaves no remainder.
        if self.digits.last().is_none_or(|last| last.stride > 1) {
            text.line("if (rest != 0u) continue;");
        }
        for (i, digit) in digits.iter().enumerate() {
            let Range { start, end } = digit.values();
            let place = self.digits.iter().enumerate().find(|(_, place)| place.of == i);
            let iteration = match place {
                Some((n, place)) if place.back => format!("{} - c{n}", numbers.add(end - 1)),
                Some((n, _)) => format!("{} + c{n}", numbers.add(start)),
                None => numbers.add(start),
            };
            text.line(&format!("const u64 t{i} = {iteration};"));
        }
    }
}

fn interleaved() -> Error {
    Error::unsupported(
        "elements narrower than a byte whose dims interleave in the destination, so that no offset says its \
         coordinates digit by digit; dims that are one around the other move on a device",
    )
}

fn bytes_of_walk(
    walk: &GridWalk,
    first: u64,
    places: &RecoveredDigits,
    program: &Program,
    tables: &str,
) -> Result<Kernel, Error> {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    walk.begin(&mut text, &mut numbers)?;
    walk.threads(&mut text, &mut numbers);
    let begun: u64 = walk.iterations.iter().map(|iterations| iterations.first).sum();
    let base = numbers.signed((first + begun) as i64);
    let at = sum(&base, 0..walk.iterations.len(), |i| walk.iterations[i].step as i64, &mut numbers);
    text.line(&format!("const u64 at = (u64)({at});"));
    byte(places, program, &mut text, &mut numbers);
    walk.end(&mut text);
    let comment = "Widths: a byte of the destination a thread, which goes from each place of it back to the digits of the\n\
                   destination, and from these to the source.";
    let launch = Launch {
        way: Way::Widths,
        threads: THREADS,
        resident: 2,
        blocks: walk.blocks(),
        shared: 0,
        bytes: (program.src_bytes(), program.dst_bytes()),
    };
    Kernel::new(launch, comment, tables, text, numbers)
}

/// Writes the lines that make the byte `at`, and store it.
fn byte(
    places: &RecoveredDigits,
    program: &Program,
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let bits = program.elements().dst_bits;
    let (each, mask) = (8 / bits, (1u32 << bits) - 1);
    if program.is_part() {
        text.line("u32 byte = LDG1(dst + at);");
        text.line("u32 found = 0u;");
    } else {
        let pattern =
            (0..each).fold(0, |all, n| all | (program.fill() as u32 & mask) << (n * bits));
        // Positions of the last byte beyond the end of the array are 0.
        let kept = (program.dst().capacity() % u64::from(each)) as u32;
        let last = if kept == 0 { pattern } else { pattern & ((1 << (kept * bits)) - 1) };
        let (end, last) = (numbers.add(program.dst_bytes() - 1), numbers.short(last));
        text.line(&format!("u32 byte = at < {end} ? {} : {last};", numbers.short(pattern)));
    }
    if places.span > 0 {
        text.line("UNROLL");
        text.line(&format!("for (u32 place = 0u; place < {each}u; place++) {{"));
        text.line(&format!("i64 o = (i64)(at * {each}u + place);"));
        digits::swizzle("o", &places.swizzle, text, numbers);
        places.write(program.digits().digits(), text, numbers);
        text.line(&format!("i64 s = {};", numbers.signed(program.digits().base().0)));
        digits::groups(program.digits(), text, numbers);
        digits::swizzle("s", &program.digits().swizzles().0, text, numbers);
        digits::value(program.elements(), text);
        text.line(&format!(
            "byte = (byte & ~({mask}u << place * {bits}u)) | (value & {mask}u) << place * {bits}u;"
        ));
        if program.is_part() {
            text.line("found = 1u;");
        }
        text.line("}");
    }
    let found = if program.is_part() { "if (found) " } else { "" };
    text.line(&format!("{found}STG1(dst + at, byte);"));
}
