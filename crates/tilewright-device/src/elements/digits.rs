//! Programs of digits: each thread takes one combination of iterations, and the program's operations, as lines of a
//! text, give the offset of its element. The plan uses it if it cannot move the regions of a program.
//!
//! Law: after the lines of an operation, the registers and `s` have the values that the operation defines.

use tilewright_core::Swizzle;
use tilewright_relayout::{Digits, Elements, Extend, Op, Program};

use super::Cell;
use crate::{
    Error,
    grid::{GridWalk, THREADS, walks},
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
};

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
    walks(&extents).iter().map(|walk| of_walk(walk, program, cell, &tables)).collect()
}

/// Writes the index tables as arrays of the text.
pub(super) fn tables(digits: &Digits) -> Result<String, Error> {
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

fn of_walk(walk: &GridWalk, program: &Program, cell: Cell, tables: &str) -> Result<Kernel, Error> {
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
pub(super) fn groups(digits: &Digits, text: &mut KernelText, numbers: &mut Parameters) {
    let width = Width::of(digits);
    let word = width.word();
    for (g, group) in digits.groups().iter().enumerate() {
        for register in 0..group.registers() {
            let reads = |digit: &tilewright_relayout::DigitRange| {
                digit.group() == g && digit.register() == register
            };
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
pub(super) fn value(elements: Elements, text: &mut KernelText) {
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
pub(super) fn swizzle(
    variable: &str,
    swizzle: &Swizzle,
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
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
    pub(super) fn number(self, number: u64, numbers: &mut Parameters) -> String {
        match self {
            Width::Short => format!("({}){}", self.word(), numbers.add(number.min(LIMIT))),
            Width::Long => numbers.add(number),
        }
    }

    /// Writes the lines that replace `from` by its quotient by `by`, and computes the remainder.
    pub(super) fn divide(
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
