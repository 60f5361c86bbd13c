//! Rows: runs of at least 64 bytes that are contiguous on both sides, moved through registers, one vector of the
//! destination at a time.
//!
//! A row of the destination has a vector for each aligned 16 bytes that it touches. If rows begin or end within such a
//! vector, its bytes move one unit at a time; if the alignment of the source's rows differs, two vectors of the source
//! are joined.
//!
//! Laws: each byte of each row is written once. No byte outside the source's array is read.

use tilewright_relayout::Loop;

use crate::{
    Error,
    byte_region::{ByteRegion, VECTOR},
    grid::{GridWalk, THREADS, sum, walks},
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
};

/// The least bytes of a row.
const LEAST: u64 = 64;

/// Makes the kernels of an area of long runs.
pub(crate) fn take(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    (area.run >= LEAST && area.keeps_vectors()).then(|| AlignedRows::of(area).kernels())
}

/// The alignment of the rows of an area.
#[derive(Clone, Debug)]
struct AlignedRows<'a> {
    area: &'a ByteRegion,
    /// The loops, and one more over the vectors of a row.
    loops: Vec<Loop>,
    /// True if rows begin or end within vectors of the destination.
    ragged: bool,
    /// True if some vector of the destination is not an aligned vector of the source.
    shifted: bool,
}

impl AlignedRows<'_> {
    fn of(area: &ByteRegion) -> AlignedRows<'_> {
        let (src, dst) = area.phases();
        let whole = |number: u64| number.is_multiple_of(VECTOR);
        let apart = |level: &Loop| whole((level.src as u64).wrapping_sub(level.dst as u64));
        let shifted = src != dst || !area.loops.iter().all(apart);
        let alike = area.loops.iter().all(|level| whole(level.dst as u64));
        let ragged = !(alike && dst == 0 && whole(area.run));
        // If rows may have any alignment, the largest number of vectors that a row touches.
        let before = if alike { dst } else { VECTOR - 1 };
        let vectors = (area.run + before).div_ceil(VECTOR);
        let mut loops = area.loops.clone();
        loops.push(Loop { extent: vectors, src: VECTOR as i64, dst: VECTOR as i64 });
        AlignedRows { area, loops, ragged, shifted }
    }

    fn kernels(&self) -> Result<Vec<Kernel>, Error> {
        let extents: Vec<u64> = self.loops.iter().map(|level| level.extent).collect();
        walks(&extents).iter().map(|walk| self.kernel(walk)).collect()
    }

    fn kernel(&self, walk: &GridWalk) -> Result<Kernel, Error> {
        let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
        walk.begin(&mut text, &mut numbers)?;
        let each = walk.each();
        self.block(walk, &mut text, &mut numbers);
        walk.loads("u128", &mut text, &mut numbers);
        self.thread(walk, &mut text, &mut numbers);
        walk.stores(VECTOR, &mut text);
        let launch = Launch {
            way: Way::Rows,
            threads: THREADS,
            resident: 4,
            blocks: walk.blocks(),
            shared: 0,
            bytes: self.area.bytes,
        };
        let (outer, inner) = (walk.outer, walk.iterations.len() - walk.outer);
        let comment = format!(
            "Rows: {} vectors of the destination a thread{}{}, {inner} loops in a block's count and {outer} around it.",
            each,
            if self.ragged { ", rows that begin or end within one" } else { "" },
            if self.shifted { ", each out of two of the source" } else { "" },
        );
        Kernel::new(launch, &comment, &self.area.maps.functions(), text, numbers)
    }

    /// Writes the offset at which a block's rows begin. The last loop counts vectors, which are added later.
    fn block(&self, walk: &GridWalk, text: &mut KernelText, numbers: &mut Parameters) {
        for (name, base, kind, first) in
            [("from", "src", "GSRC", self.area.src), ("to", "dst", "GDST", self.area.dst)]
        {
            let stride = |i: usize| self.stride(walk, i, name == "from");
            let begun = walk.iterations.iter().filter(|iterations| !self.is_vector(iterations.of));
            let begun = begun.fold(first, |all, iterations| {
                let level = self.loops[iterations.of];
                let stride = if name == "from" { level.src } else { level.dst };
                all.wrapping_add(stride.wrapping_mul(iterations.first as i64))
            });
            let first = format!("{base} + {}", numbers.signed(begun));
            let sum = sum(&first, 0..walk.outer, stride, numbers);
            text.line(&format!("{kind} const {name} = {sum};"));
        }
        text.line(&format!("const i64 run = {};", numbers.signed(self.area.run as i64)));
    }

    fn is_vector(&self, of: usize) -> bool {
        of + 1 == self.loops.len()
    }

    /// Returns the stride of an iteration; 0 for the vectors of a row.
    fn stride(&self, walk: &GridWalk, i: usize, src: bool) -> i64 {
        let iterations = walk.iterations[i];
        let level = self.loops[iterations.of];
        match self.is_vector(iterations.of) {
            true => 0,
            false => (if src { level.src } else { level.dst }).wrapping_mul(iterations.step as i64),
        }
    }

    /// Writes the work of a thread on one vector.
    fn thread(&self, walk: &GridWalk, text: &mut KernelText, numbers: &mut Parameters) {
        let rows = |i: &usize| !self.is_vector(walk.iterations[*i].of);
        let inner: Vec<usize> = (walk.outer..walk.iterations.len()).filter(rows).collect();
        for (name, base, kind) in [("row", "from", "GSRC"), ("into", "to", "GDST")] {
            let terms = inner.iter().map(|&i| {
                format!(" + (i64)x{i} * {}", numbers.signed(self.stride(walk, i, name == "row")))
            });
            let terms: String = terms.collect();
            text.line(&format!("{kind} const {name} = {base}{terms};"));
        }
        let vector = walk
            .iterations
            .iter()
            .enumerate()
            .filter(|(_, iterations)| self.is_vector(iterations.of));
        let mut number = "0".to_string();
        for (i, iterations) in vector {
            let (first, step) =
                (numbers.signed(iterations.first as i64), numbers.signed(iterations.step as i64));
            number.push_str(&format!(" + {first} + (i64)x{i} * {step}"));
        }
        if self.ragged {
            text.line(&format!("const i64 low = ({number}) * 16 - (i64)(PHASE(into) & 15u);"));
            text.line("const i64 begin = low < 0 ? 0 : low;");
            text.line("const i64 end = low + 16 < run ? low + 16 : run;");
        } else {
            text.line(&format!("const i64 low = ({number}) * 16;"));
        }
        self.vector(text, numbers);
    }

    /// Writes the load of the vector at `low` of a row, or the move of its bytes within the row.
    fn vector(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let maps = &self.area.maps;
        let (from, into) = (maps.from("row + low"), maps.to("into + low"));
        if !self.ragged && !self.shifted {
            text.line(&format!("v[k] = LDG16({from});"));
            text.line(&format!("at[k] = {into};"));
            return text.line("whole[k] = 1u;");
        }
        let mut tests = Vec::new();
        if self.ragged {
            tests.push("end - begin == 16".to_string());
        }
        if self.shifted {
            // Joined vectors may begin before the row and end after it, but never outside the array.
            let bytes = numbers.signed(self.area.bytes.0 as i64);
            text.line("const u32 by = PHASE(row + low) & 15u;");
            text.line("GSRC const first = row + low - by;");
            tests.push(match maps.has_src() {
                // A vector with a byte of the row is within the array, except at its end.
                true => format!(
                    "(by == 0u || ((i64)tw_from(first - src) + 16 <= {bytes} && (i64)tw_from(first + 16 - src) + 16 <= {bytes}))"
                ),
                false => format!("(by == 0u || (first - src >= 0 && first + 32 - src <= {bytes}))"),
            });
        }
        text.line(&format!("if ({}) {{", tests.join(" && ")));
        match self.shifted {
            true => {
                let (first, next) = (maps.from("first"), maps.from("first + 16"));
                text.line(&format!("const u128 a = LDG16({first});"));
                text.line(&format!("v[k] = by == 0u ? a : tw_joined(a, LDG16({next}), by);"));
            }
            false => text.line(&format!("v[k] = LDG16({from});")),
        }
        text.line(&format!("at[k] = {into};"));
        text.line("whole[k] = 1u;");
        text.line("} else {");
        let unit = self.area.unit();
        let (begin, end) = if self.ragged { ("begin", "end") } else { ("low", "low + 16") };
        let (from, to) = (maps.from("row + b"), maps.to("into + b"));
        text.line(&format!(
            "for (i64 b = {begin}; b < {end}; b += {unit}) STG{unit}({to}, LDG{unit}({from}));"
        ));
        text.line("}");
    }
}
