//! Prints a program as a function in C: a nest of loops for each region and each gap, or one over digits.
//!
//! `cargo run -p tilewright-relayout --example c_loops` prints three of them. It uses only the public data of a
//! [`Program`]; a generator for another machine would begin in the same way.

use std::fmt::{Error, Write};
use tilewright_core::{Fractal, Layout, Step, Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Extend, Gap, Op, Program, Region};

/// Helper functions that the printed functions call: copies of bits of packed elements, and fills.
pub(crate) const PRELUDE: &str = "\
#include <stdint.h>
#include <string.h>

static uint64_t get(const unsigned char *p, uint64_t at, unsigned bits) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bits; i++)
        value |= (uint64_t)(p[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return value;
}

static void put(unsigned char *p, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; i++) {
        unsigned char mask = (unsigned char)(1u << (at + i) % 8);
        p[(at + i) / 8] = (unsigned char)((p[(at + i) / 8] & ~mask) | (value >> i & 1 ? mask : 0));
    }
}
";

/// Returns the function `name(src, dst)` that is equivalent to a program.
pub(crate) fn function(name: &str, program: &Program) -> Result<String, Error> {
    let mut c = C { text: String::new(), depth: 1, elements: program.elements() };
    writeln!(c.text, "void {name}(const unsigned char *src, unsigned char *dst) {{")?;
    c.line("(void)src, (void)dst;")?;
    c.fill(program)?;
    match program.regions() {
        Some(regions) => regions.iter().try_for_each(|region| c.region(region))?,
        None => c.digits(program)?,
    }
    c.tail(program)?;
    c.text.push_str("}\n");
    Ok(c.text)
}

/// A growing text and its current depth of braces.
struct C {
    text: String,
    depth: usize,
    elements: Elements,
}

impl C {
    fn line(&mut self, line: &str) -> Result<(), Error> {
        writeln!(self.text, "{:1$}{line}", "", 4 * self.depth)
    }

    fn open(&mut self, variable: &str, from: u64, to: u64) -> Result<(), Error> {
        self.line(&format!(
            "for (int64_t {variable} = {from}; {variable} < {to}; {variable}++) {{"
        ))?;
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self, count: usize) -> Result<(), Error> {
        (0..count).try_for_each(|_| {
            self.depth -= 1;
            self.line("}")
        })
    }

    /// Prints the fill of the gaps.
    fn fill(&mut self, program: &Program) -> Result<(), Error> {
        let fill = Fill::of(program);
        match program.gaps() {
            Some(gaps) => gaps.iter().try_for_each(|gap| self.gap(gap, &fill)),
            // The whole destination, before the elements.
            None => {
                let capacity = program.dst().capacity();
                let all = Gap { packed: true, dst: 0, run: capacity, loops: Vec::new() };
                self.gap(&all, &fill)
            }
        }
    }

    fn gap(&mut self, gap: &Gap, fill: &Fill) -> Result<(), Error> {
        let mut at = format!("{}", gap.dst);
        for (i, level) in gap.loops.iter().enumerate() {
            self.open(&format!("i{i}"), 0, level.extent)?;
            write!(at, " + i{i} * {}", level.stride)?;
        }
        self.open("u", 0, gap.run)?;
        if gap.packed {
            let bits = u64::from(self.elements.dst_bits);
            for (i, byte) in fill.bytes.iter().enumerate() {
                let (from, width) = (i as u64 * 8, bits.min(8));
                self.line(&format!("put(dst, ({at} + u) * {bits} + {from}, {width}, {byte});"))?;
            }
        } else {
            let list: Vec<String> = fill.bytes.iter().map(u8::to_string).collect();
            self.line(&format!("static const unsigned char fill[] = {{ {} }};", list.join(", ")))?;
            self.line(&format!("dst[{at} + u] = fill[({at} + u) % {}];", fill.bytes.len()))?;
        }
        self.close(gap.loops.len() + 1)
    }

    fn region(&mut self, region: &Region) -> Result<(), Error> {
        let (mut s, mut d) = (region.src.to_string(), region.dst.to_string());
        for (i, level) in region.loops.iter().enumerate() {
            self.open(&format!("i{i}"), 0, level.extent)?;
            write!(s, " + i{i} * {}", level.src)?;
            write!(d, " + i{i} * {}", level.dst)?;
        }
        if region.packed {
            self.open("u", 0, region.run)?;
            self.element(&format!("({s} + u)"), &format!("({d} + u)"))?;
            return self.close(region.loops.len() + 1);
        }
        self.line(&format!("memcpy(dst + {d}, src + {s}, {});", region.run))?;
        self.close(region.loops.len())
    }

    /// Moves one element, at offsets in elements.
    fn element(&mut self, s: &str, d: &str) -> Result<(), Error> {
        let Elements { src_bits, dst_bits, extend } = self.elements;
        if src_bits == dst_bits && src_bits >= 8 {
            let bytes = src_bits / 8;
            return self
                .line(&format!("memcpy(dst + {d} * {bytes}, src + {s} * {bytes}, {bytes});"));
        }
        self.line(&format!("uint64_t x = get(src, (uint64_t){s} * {src_bits}, {src_bits});"))?;
        if extend == Extend::Sign && dst_bits > src_bits {
            self.line(&format!("if (x >> {} & 1) x |= ~(uint64_t)0 << {src_bits};", src_bits - 1))?;
        }
        self.line(&format!("put(dst, (uint64_t){d} * {dst_bits}, {dst_bits}, x);"))
    }

    /// Prints a loop for each digit, and in it the parts that the groups add to the offset of the source.
    fn digits(&mut self, program: &Program) -> Result<(), Error> {
        let digits = program.digits();
        if digits.is_empty() {
            return Ok(());
        }
        for (number, list) in (0..).map_while(|number| Some((number, digits.list(number)?))) {
            let entries: Vec<String> = list.iter().map(u32::to_string).collect();
            let entries = entries.join(", ");
            self.line(&format!("static const uint32_t list{number}[] = {{ {entries} }};"))?;
        }
        let ((src, dst), (from, to)) = (digits.base(), digits.swizzles());
        let mut d = dst.to_string();
        for (i, digit) in digits.digits().iter().enumerate() {
            self.open(&format!("i{i}"), digit.values().start, digit.values().end)?;
            write!(d, " + i{i} * {}", digit.stride())?;
        }
        self.line(&format!("int64_t s = {src}, d = {d};"))?;
        for (g, group) in digits.groups().iter().enumerate() {
            for register in 0..group.registers() {
                let reads = |digit: &tilewright_relayout::DigitRange| {
                    digit.group() == g && digit.register() == register
                };
                let level = digits.digits().iter().position(reads);
                let value = level.map_or("0".to_string(), |i| format!("i{i}"));
                self.line(&format!("int64_t r{g}_{register} = {value};"))?;
            }
            group.ops().iter().try_for_each(|op| self.op(g, op))?;
        }
        self.swizzle("s", from)?;
        self.swizzle("d", to)?;
        self.element("s", "d")?;
        self.close(digits.digits().len())
    }

    fn op(&mut self, group: usize, op: &Op) -> Result<(), Error> {
        let r = |register: usize| format!("r{group}_{register}");
        let line = match *op {
            Op::Split { from, by, to } => {
                let (from, to) = (r(from), r(to));
                format!("{to} = {from} % {by}, {from} /= {by};")
            }
            Op::Merge { major, minor, extent } => {
                format!("{} += {} * {extent};", r(minor), r(major))
            }
            Op::Within { register, extent } => {
                format!("if ({} >= {extent}) continue;", r(register))
            }
            Op::Move { register, from, extent, to } => {
                let it = r(register);
                let outside = format!("{it} < {from} || {it} - {from} >= {extent}");
                format!(
                    "if ({outside}) continue;\n{:2$}{it} += {} - {from};",
                    "",
                    to,
                    4 * self.depth
                )
            }
            Op::Digit { from, by, stride } => {
                let from = r(from);
                format!("s += {from} % {by} * ({stride}), {from} /= {by};")
            }
            Op::Rest { from, stride } => format!("s += {} * ({stride});", r(from)),
            Op::Look { register, list } => {
                let it = r(register);
                format!("if (({it} = list{list}[{it}]) == 0xFFFFFFFF) continue;")
            }
        };
        self.line(&line)
    }

    fn swizzle(&mut self, variable: &str, swizzle: Swizzle) -> Result<(), Error> {
        if swizzle.is_identity() {
            return Ok(());
        }
        if !swizzle.is_field_xor() {
            return self.matrix(variable, &swizzle);
        }
        let mask = ((1u64 << swizzle.bits()) - 1) << swizzle.base();
        let shift = swizzle.shift().unsigned_abs();
        self.line(&match swizzle.shift() {
            0.. => format!("{variable} ^= {variable} >> {shift} & {mask};"),
            _ => format!("{variable} ^= ({variable} & {mask}) << {shift};"),
        })
    }

    /// Extracts the bits that move, and xors with the image of each.
    fn matrix(&mut self, variable: &str, swizzle: &Swizzle) -> Result<(), Error> {
        let moving = swizzle.images().iter().enumerate().filter(|(bit, image)| **image != 1 << bit);
        let bit = |(bit, image): (usize, &u64)| {
            format!("({variable} >> {bit} & 1) * {}", image ^ (1 << bit))
        };
        let all: Vec<String> = moving.map(bit).collect();
        self.line(&format!("{variable} ^= {};", all.join(" ^ ")))
    }

    /// Packed elements may leave bits of the last byte, which become 0.
    fn tail(&mut self, program: &Program) -> Result<(), Error> {
        let bits = u64::from(self.elements.dst_bits);
        let (all, bytes) = (program.dst().capacity().saturating_mul(bits), program.dst_bytes());
        if program.is_part() || bits >= 8 || all.is_multiple_of(8) {
            return Ok(());
        }
        self.line(&format!("dst[{}] &= {};", bytes - 1, (1 << (all % 8)) - 1))
    }
}

/// The bytes of one element of padding; for packed elements, its bits.
struct Fill {
    bytes: Vec<u8>,
}

impl Fill {
    fn of(program: &Program) -> Fill {
        let bits = program.elements().dst_bits as usize;
        let mut bytes = program.fill().to_le_bytes().to_vec();
        bytes.resize(bits.div_ceil(8), 0);
        if bits < 8 {
            // Whole bytes of padding repeat the element.
            let element = bytes[0] & ((1 << bits) - 1);
            bytes[0] = (0..8 / bits).fold(0, |byte, i| byte | element << (i * bits));
        }
        Fill { bytes }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = TensorLayout::row_major(&[100, 100])?;
    let tiles = Fractal::ZN.pattern(16, 16).layout(&[100, 100])?;
    let program = Program::new(&rows, &tiles, Elements::same(16), 0)?;
    print!("{PRELUDE}\n{}", function("rows_to_zn", &program)?);
    let unpack = Elements { src_bits: 4, dst_bits: 8, extend: Extend::Sign };
    let program = Program::new(&rows, &rows, unpack, 0)?;
    print!("\n{}", function("unpack", &program)?);
    let steps = [
        Step::Split { axis: 0, by: 3 },
        Step::Split { axis: 1, by: 4 },
        Step::Split { axis: 2, by: 2 },
    ];
    let layout = Layout::parse("(34,25,2,4,2):(300,12,6,1,10200)")?;
    let uneven = TensorLayout::with_steps(&[100, 100], &steps, &layout, layout.cosize() as u64)?;
    let threes = Fractal::ZN.pattern(3, 7).layout(&[100, 100])?;
    let program = Program::new(&uneven, &threes, Elements::same(32), 0)?;
    print!("\n{}", function("uneven", &program)?);
    Ok(())
}
