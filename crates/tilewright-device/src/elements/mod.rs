//! A kernel with one element for each thread: for any region, and for any program of digits. The plan uses it for
//! everything that no faster way handles.
//!
//! Law: each element moves once, from its offset in the source to its offset in the destination, by accesses that are
//! aligned if the pointers are aligned as the plan assumes.

mod bytes;
mod digits;

use tilewright_relayout::{Extend, Loop};

use crate::{
    Error,
    area::Area,
    grid::{GridWalk, Iterations, THREADS, sum, walks},
    kernel::{Kernel, Launch, Way},
    swizzled::Maps,
    text::{KernelText, Parameters},
};

pub(crate) use bytes::of_bytes;
pub(crate) use digits::of_digits;

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
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
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
