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

use core::ops::Range;

use tilewright_core::Swizzle;
use tilewright_relayout::{DigitRange, Digits, Elements, Extend, Loop, Op, Program};

use crate::{
    Error,
    byte_region::{ByteRegion, Maps},
    grid::{GridWalk, Iterations, THREADS, sum, walks},
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
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
    let tables = tables(program.digits())?;
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
        swizzle("o", &places.swizzle, text, numbers);
        places.write(program.digits().digits(), text, numbers);
        text.line(&format!("i64 s = {};", numbers.signed(program.digits().base().0)));
        groups(program.digits(), text, numbers);
        swizzle("s", &program.digits().swizzles().0, text, numbers);
        value(program.elements(), text);
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

// Programs of digits: each thread takes one combination of iterations, and the program's operations, as lines of a
// text, give the offset of its element. The plan uses it if it cannot move the regions of a program.
//
// Law: after the lines of an operation, the registers and `s` have the values that the operation defines.

/// The most entries of index tables in a text.
const MAX_ENTRIES: usize = 1 << 20;

/// Makes the kernels of a program's digits, for elements that consist of one or more of these cells.
pub(crate) fn of_digits(program: &Program, cell: Cell) -> Result<Vec<Kernel>, Error> {
    let digits = program.digits();
    if digits.is_empty() {
        return Ok(Vec::new());
    }
    let tables = tables(digits)?;
    let extents: Vec<u64> =
        digits.digits().iter().map(|digit| digit.values().end - digit.values().start).collect();
    walks(&extents).iter().map(|walk| of_digits_walk(walk, program, cell, &tables)).collect()
}

/// Writes the index tables as arrays of the text.
fn tables(digits: &Digits) -> Result<String, Error> {
    let lists = || (0..).map_while(|number| digits.list(number));
    let entries: usize = lists().map(<[u32]>::len).sum();
    if entries > MAX_ENTRIES {
        return Err(Error::unsupported(format!(
            "index tables of {entries} entries; a kernel's text holds at most {MAX_ENTRIES}"
        )));
    }
    let table = |(number, list): (usize, &[u32])| {
        let entries: Vec<String> = list.iter().map(|entry| format!("{entry}u")).collect();
        format!("TABLE u32 list{number}[] = {{{}}};\n", entries.join(", "))
    };
    Ok(too_many(entries * size_of::<u32>()) + &lists().enumerate().map(table).collect::<String>())
}

/// The most bytes of tables that every target has room for.
const EVERYWHERE: usize = 64 << 10;

/// Returns lines that make a compile-time error of tables that exceed the limit of the language, which only its compiler
/// knows.
fn too_many(bytes: usize) -> String {
    if bytes <= EVERYWHERE {
        return String::new();
    }
    format!(
        "#if defined(MOSTTABLES) && MOSTTABLES < {bytes}\n\
         #error index tables of {bytes} bytes: OpenCL C 1.2 has 65536 bytes of constants, build with -cl-std=CL2.0 or above\n\
         #endif\n"
    )
}

fn of_digits_walk(
    walk: &GridWalk,
    program: &Program,
    cell: Cell,
    tables: &str,
) -> Result<Kernel, Error> {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    let digits = program.digits();
    walk.begin(&mut text, &mut numbers)?;
    walk.threads(&mut text, &mut numbers);
    let (src, dst) = digits.base();
    let (src, dst) = (numbers.signed(src), numbers.signed(dst));
    text.line(&format!("i64 s = {src};"));
    text.line(&format!("i64 d = {dst};"));
    for (i, digit) in digits.digits().iter().enumerate() {
        let mut iteration = numbers.add(digit.values().start);
        for (x, iterations) in
            walk.iterations.iter().enumerate().filter(|(_, iterations)| iterations.of == i)
        {
            let (first, step) = (numbers.add(iterations.first), numbers.add(iterations.step));
            iteration.push_str(&format!(" + {first} + x{x} * {step}"));
        }
        text.line(&format!("const u64 t{i} = {iteration};"));
        text.line(&format!("d += (i64)t{i} * {};", numbers.signed(digit.stride())));
    }
    groups(digits, &mut text, &mut numbers);
    let (from, to) = digits.swizzles();
    swizzle("s", &from, &mut text, &mut numbers);
    swizzle("d", &to, &mut text, &mut numbers);
    cells(program, cell, &mut text);
    walk.end(&mut text);
    let comment = format!(
        "Elements: a combination of {} digits of the destination a thread; the operations say where its element\nis in the source.",
        digits.digits().len()
    );
    let launch = Launch {
        way: Way::Elements,
        threads: THREADS,
        resident: 2,
        blocks: walk.blocks(),
        shared: 0,
        bytes: (program.src_bytes(), program.dst_bytes()),
    };
    Kernel::new(launch, &comment, tables, text, numbers)
}

/// Writes the registers and operations of all groups; afterwards `s` is the offset in the source.
fn groups(digits: &Digits, text: &mut KernelText, numbers: &mut Parameters) {
    let width = Width::of(digits);
    let word = width.word();
    for (g, group) in digits.groups().iter().enumerate() {
        for register in 0..group.registers() {
            let reads = |digit: &DigitRange| digit.group() == g && digit.register() == register;
            let iteration = digits.digits().iter().position(reads);
            let value = iteration.map_or("0".to_string(), |i| format!("({word})t{i}"));
            text.line(&format!("{word} r{g}_{register} = {value};"));
        }
        group.ops().iter().for_each(|op| write(g, op, (digits, width), text, numbers));
    }
}

/// Writes the moves of an element's cells, at the offsets `s` and `d` in elements.
fn cells(program: &Program, cell: Cell, text: &mut KernelText) {
    let elements = program.elements();
    let (from, to) = (elements.src_bits / 8, elements.dst_bits / 8);
    text.line(&format!("GDST to = dst + d * {to};"));
    if from == 0 {
        value(elements, text);
        return cell.store("to", text);
    }
    text.line(&format!("GSRC from = src + s * {from};"));
    let each = u64::from(to) / cell.dst;
    if each == 1 {
        return cell.write("from", "to", text);
    }
    text.line("UNROLL");
    text.line(&format!("for (u32 c = 0; c < {each}u; c++) {{"));
    cell.write(&format!("from + c * {}u", cell.src), &format!("to + c * {}u", cell.dst), text);
    text.line("}");
}

/// Writes the line that reads the element at offset `s` of the source: a `value` of 32 bits, extended to the
/// destination's width.
fn value(elements: Elements, text: &mut KernelText) {
    let Elements { src_bits, dst_bits, extend } = elements;
    if src_bits < 8 {
        let (each, mask) = (8 / src_bits, (1u32 << src_bits) - 1);
        let (up, bits) = (each.trailing_zeros(), src_bits.trailing_zeros());
        text.line(&format!(
            "u32 value = (u32)LDG1(src + (s >> {up})) >> ((u32)(s & {}) << {bits}) & {mask}u;",
            each - 1
        ));
    } else {
        // Only the bytes that the destination keeps are read, one by one, as an array may have any alignment.
        let bytes = src_bits.min(dst_bits).div_ceil(8);
        let part = |at: u32| match at {
            0 => format!("(u32)LDG1(src + s * {})", src_bits / 8),
            _ => format!("(u32)LDG1(src + (s * {} + {at})) << {}", src_bits / 8, 8 * at),
        };
        let parts: Vec<String> = (0..bytes).map(part).collect();
        text.line(&format!("u32 value = {};", parts.join(" | ")));
    }
    if extend == Extend::Sign && src_bits < dst_bits {
        let above = 32 - src_bits;
        text.line(&format!("value = (u32)((i32)(value << {above}) >> {above});"));
    }
}

/// Writes the lines that apply a swizzle to an offset: a bit field xored with another, or the image of the bits that
/// change.
fn swizzle(variable: &str, swizzle: &Swizzle, text: &mut KernelText, numbers: &mut Parameters) {
    if swizzle.is_identity() {
        return;
    }
    if swizzle.is_field_xor() {
        let mask = numbers.signed(((1i64 << swizzle.bits()) - 1) << swizzle.base());
        let shift = numbers.short(u32::from(swizzle.shift().unsigned_abs()));
        return text.line(&match swizzle.shift() {
            0.. => format!("{variable} ^= {variable} >> {shift} & {mask};"),
            _ => format!("{variable} ^= ({variable} & {mask}) << {shift};"),
        });
    }
    let moving = swizzle.images().iter().enumerate().filter(|(bit, image)| **image != 1 << bit);
    let bits = moving.map(|(bit, image)| {
        let image = numbers.signed((image ^ (1 << bit)) as i64);
        format!("({variable} >> {} & 1) * {image}", numbers.short(bit as u32))
    });
    let bits: Vec<String> = bits.collect();
    text.line(&format!("{variable} ^= {};", bits.join(" ^ ")));
}

/// The width of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// All values are below 2³¹, so divisions are multiplications.
    Short,
    /// 64 bits.
    Long,
}

impl Width {
    /// Returns the type of a register.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Width::Short => "u32",
            Width::Long => "u64",
        }
    }

    /// Returns the width that the registers of a program need, from the largest values after each operation.
    pub(crate) fn of(digits: &Digits) -> Width {
        let fits = |(g, group): (usize, &tilewright_relayout::Group)| {
            let mut most = vec![0u64; group.registers()];
            for digit in digits.digits().iter().filter(|digit| digit.group() == g) {
                most[digit.register()] = digit.values().end;
            }
            most.iter().all(|most| *most < LIMIT)
                && group.ops().iter().all(|op| after(op, digits, &mut most))
        };
        if digits.groups().iter().enumerate().all(fits) { Width::Short } else { Width::Long }
    }

    /// Returns a number of the program as an operand for comparison with a register.
    fn number(self, number: u64, numbers: &mut Parameters) -> String {
        match self {
            Width::Short => format!("({}){}", self.word(), numbers.add(number.min(LIMIT))),
            Width::Long => numbers.add(number),
        }
    }

    /// Writes the lines that replace `from` by its quotient by `by`, and computes the remainder.
    fn divide(
        self,
        from: &str,
        by: u64,
        remainder: &str,
        text: &mut KernelText,
        numbers: &mut Parameters,
    ) {
        match u32::try_from(by).ok().filter(|by| self == Width::Short && u64::from(*by) < LIMIT) {
            Some(by) => {
                let (magic, by) = numbers.divisor(by);
                text.line("{");
                text.line(&format!("const u32 q = DIV({from}, {magic});"));
                text.line(&remainder.replace("%", &format!("({from} - q * {by})")));
                text.line(&format!("{from} = q;"));
                text.line("}");
            }
            None => {
                let by = numbers.add(by);
                text.line(&remainder.replace("%", &format!("({from} % {by})")));
                text.line(&format!("{from} /= {by};"));
            }
        }
    }
}

/// The upper bound of registers of 32 bits, exclusive.
const LIMIT: u64 = 1 << 31;

/// Updates the largest values of registers after an operation; returns whether all are below the limit.
fn after(op: &Op, digits: &Digits, most: &mut [u64]) -> bool {
    let changed = match *op {
        Op::Split { from, by, to } => {
            most[to] = most[from].min(by - 1);
            most[from] /= by;
            by.max(most[to])
        }
        Op::Merge { major, minor, extent } => {
            most[minor] = most[major].saturating_mul(extent).saturating_add(most[minor]);
            extent.max(most[minor])
        }
        // A bound above the largest value may be any number.
        Op::Within { register, extent } => {
            most[register] = most[register].min(extent);
            most[register]
        }
        Op::Move { register, from, extent, to } => {
            most[register] = extent.saturating_add(to).max(from);
            most[register]
        }
        Op::Digit { from, by, .. } => {
            most[from] /= by;
            by
        }
        Op::Rest { .. } => 0,
        Op::Look { register, list } => {
            let entries = digits.list(list).unwrap_or_default();
            let held = entries.iter().filter(|entry| **entry != u32::MAX).max();
            most[register] = held.map_or(0, |entry| u64::from(*entry));
            most[register].max(entries.len() as u64)
        }
    };
    changed < LIMIT
}

/// Writes an operation on the registers `r<group>_0` …, which computes the offset of the source in `s`. If no element
/// exists, it continues with the next iteration of the innermost loop.
pub(crate) fn write(
    group: usize,
    op: &Op,
    (digits, width): (&Digits, Width),
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let r = |register: usize| format!("r{group}_{register}");
    match *op {
        Op::Split { from, by, to } => {
            width.divide(&r(from), by, &format!("{} = %;", r(to)), text, numbers);
        }
        Op::Merge { major, minor, extent } => {
            let extent = width.number(extent, numbers);
            text.line(&format!("{} += {} * {extent};", r(minor), r(major)));
        }
        Op::Within { register, extent } => {
            let extent = width.number(extent, numbers);
            text.line(&format!("if ({} >= {extent}) continue;", r(register)));
        }
        Op::Move { register, from, extent, to } => {
            let (it, from) = (r(register), width.number(from, numbers));
            let extent = width.number(extent, numbers);
            text.line(&format!("if ({it} < {from} || {it} - {from} >= {extent}) continue;"));
            text.line(&format!("{it} = {it} - {from} + {};", width.number(to, numbers)));
        }
        Op::Digit { from, by, stride } => {
            let stride = numbers.signed(stride);
            width.divide(&r(from), by, &format!("s += (i64)% * {stride};"), text, numbers);
        }
        Op::Rest { from, stride } => {
            text.line(&format!("s += (i64){} * {};", r(from), numbers.signed(stride)));
        }
        Op::Look { register, list } => {
            let entries = digits.list(list).map_or(0, <[u32]>::len);
            let it = r(register);
            text.line(&format!("if ({it} >= {entries}u) continue;"));
            text.line(&format!("{it} = list{list}[{it}];"));
            text.line(&format!("if ({it} == 0xffffffffu) continue;"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_are_refused_where_constants_are_few() {
        assert_eq!(too_many(EVERYWHERE), "");
        let refused = too_many(EVERYWHERE + 4);
        assert!(refused.starts_with(
            "#if defined(MOSTTABLES) && MOSTTABLES < 65540\n#error index tables of 65540 bytes"
        ));
    }
}
