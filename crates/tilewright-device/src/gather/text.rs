//! The text of a gather. It copies runs of the source to the tile, and makes vectors of the destination from it:
//! expressions read the elements of a run of the destination from the tile, and assemble them to words.
//!
//! For a mirrored job, the tile is in the order of the destination: the text scatters elements of the source's vectors
//! to it, and stores its runs in vectors. There `x` counts bytes of a run of the array's source.

use tilewright_relayout::Extend;

use super::{
    GatherJob,
    tile::{GatherTile, Lanes, SharedTile},
};
use crate::{
    byte_region::VECTOR,
    grid::Grid,
    kernel::{KernelText, Parameters},
};

/// Returns the text before the kernel, its body, and its numbers.
pub(super) fn of(fetch: Fetch, grid: &Grid) -> (String, KernelText, Parameters) {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    text.line(&format!("SHARED(sm, {});", fetch.place.shared()));
    grid.write(&mut text, &mut numbers);
    block(fetch, &mut text, &mut numbers);
    text.line("THREADS_BEGIN");
    match fetch.lies {
        Lies::AsSource => {
            chunks(fetch, copied, &mut text, &mut numbers);
            text.line("CPWAIT;");
        }
        Lies::AsDestination => vectors(fetch, elements, &mut text, &mut numbers),
    }
    text.line("THREADS_END");
    text.line("BARRIER;");
    text.line("THREADS_BEGIN");
    match fetch.lies {
        Lies::AsSource => vectors(fetch, gathered, &mut text, &mut numbers),
        Lies::AsDestination => chunks(fetch, stored, &mut text, &mut numbers),
    }
    text.line("THREADS_END");
    text.line("BARRIER;");
    (fetch.functions(), text, numbers)
}

/// A function that writes the lines of a loop's body.
type LoopBody = fn(Fetch, &mut KernelText);

/// Returns the tiles of all loops, the nearest in the destination first; `None` if there are too many. If the nearest in
/// the source is another one, both are walked in strips.
pub(super) fn grid(job: &GatherJob, tile: &GatherTile) -> Option<Grid> {
    let mut grid = Grid::default();
    let tiles = |at: usize| (format!("g{at}"), job.loops[at].extent.div_ceil(tile.take[at]));
    let mut order: Vec<usize> =
        (0..job.loops.len()).filter(|at| !tile.is_whole(job, *at)).collect();
    order.sort_by_key(|at| job.loops[*at].dst);
    let near = tile.from.last().copied();
    let near = order.iter().skip(1).position(|at| Some(*at) == near);
    if let Some(near) = near {
        let (first, near) = (order[0], order.remove(near + 1));
        order.remove(0);
        grid.push_strips(tiles(first), tiles(near))?;
    }
    for at in order {
        let (name, count) = tiles(at);
        grid.push(name, count)?;
    }
    Some(grid)
}

/// Writes the values that all threads of a block share: the iterations of the tile, and the offset of its first element
/// on both sides.
fn block(fetch: Fetch, text: &mut KernelText, numbers: &mut Parameters) {
    let Fetch { job, tile, .. } = fetch;
    for at in (0..tile.take.len()).filter(|at| !tile.is_whole(job, *at) && tile.take[*at] > 1) {
        // The last tile has the remainder, which fits 32 bits; the extent may not.
        let (extent, take) = (job.loops[at].extent, tile.take[at]);
        let last = extent.div_ceil(take) - 1;
        let left = numbers.short((extent - last * take) as u32);
        let last = numbers.short(last as u32);
        text.line(&format!("const u32 k{at} = g{at} == {last} ? {left} : {take}u;"));
    }
    let sum = |side: &dyn Fn(usize) -> i64, numbers: &mut Parameters| {
        let parts = (0..tile.take.len()).filter(|at| !tile.is_whole(job, *at));
        parts.map(|at| format!(" + (i64)g{at} * {}", numbers.signed(side(at)))).collect::<String>()
    };
    let taken = |at: usize| tile.take[at] as i64;
    let begins = if job.src.bits < 8 { "begins * 8u" } else { "begins" };
    let (side, array) = (fetch.lies.word(), fetch.lies.array());
    text.line(&format!(
        "// Counted from the multiple of 16 at or before the first byte of the {side}."
    ));
    text.line(&format!("const u32 begins = PHASE({array}) & 15u;"));
    // A run of a reversed loop begins at its last iteration.
    let reversed = || tile.from.iter().filter(|at| job.loops[**at].src < 0);
    let back = reversed().filter(|at| tile.is_whole(job, **at));
    let back: i64 = back.map(|at| (taken(*at) - 1) * job.loops[*at].src).sum();
    let first = numbers.signed(job.src.first.wrapping_add(back));
    let from = sum(&|at| job.loops[at].src.wrapping_mul(taken(at)), numbers);
    let parts: String = reversed()
        .filter(|at| !tile.is_whole(job, **at))
        .map(|at| format!(" - (i64)(k{at} - 1u) * {}", job.loops[*at].src.unsigned_abs()))
        .collect();
    text.line(&format!("const i64 from = (i64)({begins}) + {first}{from}{parts};"));
    let per_byte = job.dst.per_byte() as i64;
    let first = numbers.signed(job.dst.first / per_byte);
    let to = sum(&|at| job.loops[at].dst.wrapping_mul(taken(at)) / per_byte, numbers);
    text.line(&format!("const i64 to = {first}{to};"));
    if fetch.lies == Lies::AsSource {
        let bytes = numbers.signed(job.src.bytes as i64);
        text.line(&format!("const i64 end = (i64)begins + {bytes};"));
    }
}

/// Writes the iterations `c…` of the loops that count runs, and returns the condition that they are within the array.
fn iterations(fetch: Fetch, loops: &[usize], text: &mut KernelText) -> String {
    let Fetch { job, tile, .. } = fetch;
    let (mut by, mut inside) = (1, Vec::new());
    for (i, &at) in loops.iter().enumerate() {
        let last = i + 1 == loops.len();
        let iteration = match (by, last) {
            (1, true) => "run".to_string(),
            (1, false) => format!("run % {}u", tile.take[at]),
            (_, true) => format!("run / {by}u"),
            (_, false) => format!("run / {by}u % {}u", tile.take[at]),
        };
        by *= tile.take[at];
        text.line(&format!("const u32 c{at} = {iteration};"));
        if !tile.is_whole(job, at) {
            inside.push(format!("c{at} < k{at}"));
        }
    }
    inside.join(" && ")
}

/// Writes the loop over chunks of the runs that keep the array's order in the tile.
fn chunks(fetch: Fetch, inner: LoopBody, text: &mut KernelText, numbers: &mut Parameters) {
    let Fetch { job, tile, place, .. } = fetch;
    let (per_byte, vector) = (job.src.per_byte(), job.src.vector());
    let index = tile.index_from(job);
    text.line(&format!("for (u32 i = tid; i < {}u; i += NT) {{", place.runs * place.chunks));
    text.line("ROUND(i / NT);");
    text.line(&format!("const u32 chunk = i % {}u, run = i / {}u;", place.chunks, place.chunks));
    let inside = iterations(fetch, &index, text);
    let stride = |at: &usize| format!(" + (i64)c{at} * {}", numbers.signed(job.loops[*at].src));
    let at: String = index.iter().map(stride).collect();
    text.line(&format!("const i64 at = from{at};"));
    text.line(&format!("const u32 by = (u32)at & {}u;", vector - 1));
    let condition = if inside.is_empty() { inside } else { format!("{inside} && ") };
    text.line(&format!("if ({condition}chunk * {vector}u < by + {}) {{", fetch.length()));
    let shift = if per_byte == 8 { " >> 3" } else { "" };
    text.line(&format!("const i64 here = ((at - by){shift}) + chunk * 16u;"));
    let spot = fetch.spot(&format!("(run * {}u + chunk) * 16u", place.pitch));
    text.line(&format!("const u32 spot16 = {spot};"));
    inner(fetch, text);
    ["}", "}"].iter().for_each(|line| text.line(line));
}

/// Writes the copy of a chunk of the source to the tile.
fn copied(_: Fetch, text: &mut KernelText) {
    text.line("if (here >= begins && here + 16 <= end) {");
    text.line("CPASYNC16(sm, spot16, src + (here - begins));");
    text.line("} else {");
    text.line("// The first or the last chunk of the source: nothing outside is read.");
    text.line("u8 x[16];");
    text.line("UNROLL");
    text.line("for (u32 b = 0; b < 16u; b++) x[b] = here + b >= begins && here + b < end ? LDG1(src + (here + b - begins)) : (u8)0;");
    text.line("UNROLL");
    text.line("for (u32 b = 0; b < 16u; b++) STS1(sm, spot16 + b, x[b]);");
    text.line("}");
}

/// Writes the loop over vectors of the runs whose order in the tile differs from the array's.
fn vectors(fetch: Fetch, inner: LoopBody, text: &mut KernelText, numbers: &mut Parameters) {
    let Fetch { job, tile, .. } = fetch;
    let (lanes, index) = (Lanes::of(job, tile, fetch.place.group), tile.to_index());
    counts(fetch, text, numbers);
    text.line(&format!("for (u32 i = tid; i < {}u; i += NT) {{", lanes.all()));
    text.line("ROUND(i / NT);");
    text.line(&lanes.line());
    let inside = iterations(fetch, &index, text);
    let per_byte = job.dst.per_byte() as i64;
    let stride =
        |at: &usize| format!(" + (i64)c{at} * {}", numbers.signed(job.loops[*at].dst / per_byte));
    let at: String = index.iter().map(stride).collect();
    text.line(&format!("const i64 at = to{at};"));
    // The compiler simplifies the positions of elements by the low bits of `x`, so only bits that vary are subtracted.
    let before = match lanes.together - lanes.unit {
        0 => String::new(),
        varying => {
            let array = fetch.lies.other().array();
            format!(" - (i32)(PHASE({array}) + (u32)at & {varying}u)")
        }
    };
    text.line(&format!("const i32 x = (i32)(v * {}u){before};", lanes.vector));
    let condition = if inside.is_empty() { inside } else { format!("{inside} && ") };
    text.line(&format!("if ({condition}x < row) {{"));
    home(fetch, &index, text);
    inner(fetch, text);
    ["}", "}"].iter().for_each(|line| text.line(line));
}

/// Writes the lines that gather a vector of the destination from the tile.
fn gathered(fetch: Fetch, text: &mut KernelText) {
    if fetch.job.dst.bits == 128 {
        let spot = fetch.spot("(home + place((u32)x / 16u))");
        // Vectors before a run's first one belong to other runs.
        return text.line(&format!("if (x >= 0) STG16(dst + (at + x), LDS16(sm, {spot} / 16u));"));
    }
    text.line(&format!("if (x >= 0 && {}) {{", fetch.all_of_vector()));
    whole(fetch, text);
    text.line("} else {");
    ends(fetch, text);
    text.line("}");
}

/// Writes the numbers of elements and bytes of a run of the destination, and the terms that its iterations add to the
/// offset of a run of the source.
fn counts(fetch: Fetch, text: &mut KernelText, numbers: &mut Parameters) {
    let Fetch { job, tile, place, .. } = fetch;
    let elements = match tile.to.last().filter(|at| !tile.is_whole(job, **at)) {
        Some(last) => format!("{}u * k{last}", tile.to_elements() / tile.take[*last]),
        None => format!("{}u", tile.to_elements()),
    };
    text.line(&format!("const u32 elements = {elements};"));
    let bits = job.dst.bits;
    let row = if bits < 8 {
        format!("(elements * {bits}u + 7u) / 8u")
    } else {
        format!("elements * {}u", bits / 8)
    };
    text.line(&format!("const i32 row = (i32)({row});"));
    if place.varies {
        for at in tile.index_from(job) {
            text.line(&format!(
                "const u32 z{at} = (u32){} & {}u;",
                numbers.signed(job.loops[at].src),
                job.src.vector() - 1
            ));
        }
    }
}

/// Writes the position of the first element of a run of the destination in the tile, without the offset of its run of
/// the source.
fn home(fetch: Fetch, index: &[usize], text: &mut KernelText) {
    let Fetch { job, tile, place, .. } = fetch;
    let mut home = Vec::new();
    for at in &tile.from {
        let step = job.loops[*at].src;
        if step < 0 && tile.is_whole(job, *at) {
            home.push(format!("{}u", (tile.take[*at] - 1) * step.unsigned_abs()));
        } else if step < 0 {
            home.push(format!("(k{at} - 1u) * {}u", step.unsigned_abs()));
        }
    }
    let moved = index.iter().filter(|at| fetch.step(**at) != 0);
    home.extend(moved.map(|at| format!("c{at} * {}u", fetch.step(*at) as u32)));
    let index_from = tile.index_from(job);
    let leans = index.iter().filter(|at| place.varies && index_from.contains(at));
    let leans: String = leans.map(|at| format!(" + c{at} * z{at}")).collect();
    let lean = format!("(u32)from{leans}");
    if fetch.leaning().is_empty() {
        home.push(format!("({lean} & {}u)", job.src.vector() - 1));
    } else {
        text.line(&format!("const u32 lean = {lean};"));
    }
    if home.is_empty() {
        home.push("0u".into());
    }
    text.line(&format!("const u32 home = {};", home.join(" + ")));
}

/// Writes the lines for a vector that is completely within a run.
fn whole(fetch: Fetch, text: &mut KernelText) {
    let bits = fetch.job.dst.bits;
    if bits < 8 {
        narrow(fetch, "x", 32 / bits, "", text);
        return text.line("STG4(dst + (at + x), value);");
    }
    text.line("u128 q;");
    if bits == 64 {
        text.line("const u32 e = (u32)x / 8u;");
        text.line(&format!(
            "const u64 low = {}, high = {};",
            fetch.value("e", true),
            fetch.value("(e + 1u)", true)
        ));
        text.line(
            "q.x = (u32)low; q.y = (u32)(low >> 32); q.z = (u32)high; q.w = (u32)(high >> 32);",
        );
    } else {
        words(fetch, text);
    }
    text.line("STG16(dst + (at + x), q);");
}

/// Writes the elements from a byte of the run on to `value`: those that satisfy a condition; the others are 0.
fn narrow(fetch: Fetch, byte: &str, count: u64, condition: &str, text: &mut KernelText) {
    let bits = fetch.job.dst.bits;
    text.line("u32 value = 0u;");
    let turned = fetch.place.turned.filter(|_| condition.is_empty());
    if let Some(shift) = turned {
        text.line(&format!("const u32 rotation = {};", lanes(shift)));
    }
    text.line("UNROLL");
    text.line(&format!("for (u32 b = 0; b < {count}u; b++) {{"));
    let number = match turned {
        Some(_) => {
            text.line(&format!("const u32 n = b + rotation & {}u;", count - 1));
            "n"
        }
        None => "b",
    };
    text.line(&format!("const u32 e = (u32){byte} * {}u + {number};", 8 / bits));
    text.line(&format!("{condition}value |= {} << {number} * {bits}u;", fetch.value("e", true)));
    text.line("}");
}

/// Writes the four words of a vector, in an order that lanes rotate if the tile requires it.
fn words(fetch: Fetch, text: &mut KernelText) {
    let (each, turned) = (32 / fetch.job.dst.bits, fetch.place.turned);
    let first = if turned.is_some() { "(k + rotation & 3u)" } else { "k" };
    if let Some(shift) = turned {
        text.line(&format!("const u32 rotation = {};", lanes(shift)));
    }
    text.line("u32 w[4];");
    text.line("UNROLL");
    text.line("for (u32 k = 0; k < 4u; k++) {");
    text.line(&format!("const u32 e = (u32)x / {}u + {first} * {each}u;", fetch.job.dst.bits / 8));
    text.line(&format!("w[k] = {};", fetch.word("e")));
    text.line("}");
    if turned.is_some() {
        text.line("if (rotation & 1u) { const u32 t = w[3]; w[3] = w[2]; w[2] = w[1]; w[1] = w[0]; w[0] = t; }");
        text.line("if (rotation & 2u) { const u32 s = w[0], t = w[1]; w[0] = w[2]; w[1] = w[3]; w[2] = s; w[3] = t; }");
    }
    text.line("q.x = w[0]; q.y = w[1]; q.z = w[2]; q.w = w[3];");
}

/// Writes the elements at an end of a run, in a vector that is partly outside.
fn ends(fetch: Fetch, text: &mut KernelText) {
    let bits = fetch.job.dst.bits;
    let bytes = (bits / 8).max(1);
    let vector = if bits < 8 { 4 } else { VECTOR };
    text.line(&format!(
        "for (i32 y = x < 0 ? 0 : x; y < x + {vector} && y < row; y += {bytes}) {{"
    ));
    if bits < 8 {
        narrow(fetch, "y", 8 / bits, "if (e < elements) ", text);
    } else {
        text.line(&format!("const u32 e = (u32)y / {bytes}u;"));
        text.line(&format!("const u{} value = {};", bits.max(32), fetch.value("e", false)));
    }
    text.line(&format!("STG{bytes}(dst + (at + y), value);"));
    text.line("}");
}

/// The side whose order of elements within a run the tile keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    AsSource,
    AsDestination,
}

impl Lies {
    pub(super) fn other(self) -> Lies {
        match self {
            Lies::AsSource => Lies::AsDestination,
            Lies::AsDestination => Lies::AsSource,
        }
    }

    /// Returns the word for the side.
    pub(super) fn word(self) -> &'static str {
        match self {
            Lies::AsSource => "source",
            Lies::AsDestination => "destination",
        }
    }

    /// Returns the name of its array in the text.
    pub(super) fn array(self) -> &'static str {
        match self {
            Lies::AsSource => "src",
            Lies::AsDestination => "dst",
        }
    }
}

/// Expressions of a tile. If the tile keeps the destination's order, the job is mirrored: its source is the array's
/// destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch<'a> {
    pub(super) lies: Lies,
    pub(super) job: &'a GatherJob,
    pub(super) tile: &'a GatherTile,
    pub(super) place: &'a SharedTile,
}

impl Fetch<'_> {
    /// Returns the functions before the kernel: the position of element `x` of a run in the tile, counted from the
    /// run's first element; the distance between the beginning of its run of the source and that of the first run; and
    /// the order of the chunks.
    pub(super) fn functions(self) -> String {
        let mut text = format!(
            "// Where element x of a run of the {} is in the tile, in {}.\n",
            self.lies.other().word(),
            self.units()
        );
        text.push_str(&format!(
            "DEVICE u32 place(u32 x) {{ return {}; }}\n",
            self.sum(|at| Some(format!("{}u", self.step(at) as u32)))
        ));
        let leaning = self.leaning();
        if !leaning.is_empty() {
            let parameters: String = leaning.iter().map(|at| format!(", u32 z{at}")).collect();
            let sum = self.sum(|at| leaning.contains(&at).then(|| format!("z{at}")));
            text.push_str(&format!(
                "// How far its run of the {} begins behind the first one's.\n",
                self.lies.word()
            ));
            text.push_str(&format!("DEVICE u32 leans(u32 x{parameters}) {{ return {sum}; }}\n"));
        }
        if let Some(shift) = self.place.xor {
            text.push_str("// Where a byte of the tile is: neighbours are in different banks.\n");
            text.push_str(&format!(
                "DEVICE u32 spot(u32 byte) {{ return byte ^ (byte >> {shift}u & 0x70u); }}\n"
            ));
        }
        text
    }

    fn units(self) -> &'static str {
        if self.job.src.bits < 8 { "bits" } else { "bytes" }
    }

    /// Returns the distance between iterations of a loop in the tile, in units of the source.
    pub(super) fn step(self, at: usize) -> i64 {
        self.place.step(self.job, self.tile, at)
    }

    /// Returns the sum of iterations times factors, for the iterations of element `x` of a run of the destination.
    fn sum(self, factor: impl Fn(usize) -> Option<String>) -> String {
        let (mut terms, mut by) = (Vec::new(), 1u64);
        for (i, &at) in self.tile.to.iter().enumerate() {
            let quotient = if by == 1 { "x".to_string() } else { format!("x / {by}u") };
            by = by.wrapping_mul(self.tile.take[at]);
            let last = i + 1 == self.tile.to.len();
            let iteration =
                if last { quotient } else { format!("{quotient} % {}u", self.tile.take[at]) };
            if let Some(factor) = factor(at) {
                terms.push(if iteration == "x" {
                    format!("x * {factor}")
                } else {
                    format!("({iteration}) * {factor}")
                });
            }
        }
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// Returns the loops of a run of the destination whose iterations are runs of the source with different offsets
    /// within a chunk.
    pub(super) fn leaning(self) -> Vec<usize> {
        let index = self.tile.index_from(self.job);
        let leans = |at: &&usize| self.place.varies && index.contains(at);
        self.tile.to.iter().filter(leans).copied().collect()
    }

    /// Returns the unit of the source at which element `x` begins, as an expression of `home`, and of `lean` if offsets
    /// of runs vary.
    pub(super) fn unit(self, x: &str) -> String {
        let leaning = self.leaning();
        if leaning.is_empty() {
            return format!("home + place({x})");
        }
        let arguments: String = leaning.iter().map(|at| format!(", z{at}")).collect();
        let mask = self.job.src.vector() - 1;
        format!("home + place({x}) + (lean + leans({x}{arguments}) & {mask}u)")
    }

    /// Returns a byte of the tile as accesses address it.
    pub(super) fn spot(self, byte: &str) -> String {
        if self.place.xor.is_some() { format!("spot({byte})") } else { byte.to_string() }
    }

    /// Returns the value of element `x` as an expression. If a value is narrower than 32 bits and `clean` is false,
    /// higher bits may have any value.
    pub(super) fn value(self, x: &str, clean: bool) -> String {
        let GatherJob { src, dst, extend, .. } = *self.job;
        let unit = self.unit(x);
        if src.bits > 32 {
            return format!("LDS{}(sm, {})", src.bits / 8, self.spot(&unit));
        }
        let read = if src.bits < 8 {
            let word = self.spot(&format!("({unit}) / 32u * 4u"));
            format!("LDS4(sm, {word}) >> ({unit} & 31u)")
        } else {
            format!("(u32)LDS{}(sm, {})", src.bits / 8, self.spot(&unit))
        };
        let mask = |bits: u64| {
            if bits < 32 { format!(" & 0x{:x}u", (1u64 << bits) - 1) } else { String::new() }
        };
        if dst.bits > src.bits && extend == Extend::Sign {
            let above = 32 - src.bits;
            let value = format!("(u32)((i32)(({read}) << {above}u) >> {above}u)");
            return if clean { format!("({value}{})", mask(dst.bits)) } else { value };
        }
        let dirty = src.bits < 8 || dst.bits < src.bits;
        if dirty && (clean || dst.bits > src.bits) {
            return format!("(({read}){})", mask(src.bits.min(dst.bits)));
        }
        format!("({read})")
    }

    /// Returns the word of the elements from `x` on, as an expression.
    pub(super) fn word(self, x: &str) -> String {
        let element = |i: u64, clean: bool| {
            self.value(&if i == 0 { format!("({x})") } else { format!("({x} + {i}u)") }, clean)
        };
        match self.job.dst.bits {
            32 => element(0, true),
            16 => format!("PRMT({}, {}, 0x5410u)", element(0, false), element(1, false)),
            8 => {
                let pair =
                    |i| format!("PRMT({}, {}, 0x0040u)", element(i, false), element(i + 1, false));
                format!("PRMT({}, {}, 0x5410u)", pair(0), pair(2))
            }
            // The callers assemble narrower elements one by one.
            _ => element(0, true),
        }
    }

    /// Returns the units of a run of the source, as an expression.
    pub(super) fn length(self) -> String {
        let Fetch { job, tile, .. } = self;
        let reach = |at: &usize| (tile.take[*at] - 1) * job.loops[*at].src.unsigned_abs();
        match tile.from.last().filter(|at| !tile.is_whole(job, **at)) {
            Some(last) => {
                let rest = tile.units_from(job) - reach(last);
                format!("{rest}u + (k{last} - 1u) * {}u", job.loops[*last].src.unsigned_abs())
            }
            None => format!("{}u", tile.units_from(job)),
        }
    }

    /// Returns the condition that the vector from byte `x` on is completely within a run. The last byte of a run may
    /// have fewer elements than others.
    pub(super) fn all_of_vector(self) -> String {
        match self.job.dst.bits {
            bits if bits < 8 => format!("(u32)(x + 4) * {}u <= elements", 8 / bits),
            _ => format!("x + {VECTOR} <= row"),
        }
    }
}

/// Returns the number of a lane, shifted: the rotation of the lane's order of words.
pub(super) fn lanes(shift: u32) -> String {
    match shift {
        0 => "tid & 31u".into(),
        _ => format!("tid >> {shift} & {}u", 31 >> shift),
    }
}

/// Writes the lines that scatter a vector of the source to the tile.
pub(super) fn elements(fetch: Fetch, text: &mut KernelText) {
    text.line(&format!("if (x >= 0 && {}) {{", fetch.all_of_vector()));
    scatter_whole(fetch, text);
    text.line("} else {");
    scatter_ends(fetch, text);
    text.line("}");
}

/// Writes the lines for a vector that is completely within a run.
fn scatter_whole(fetch: Fetch, text: &mut KernelText) {
    let bits = fetch.job.dst.bits;
    text.line("const u128 q = LDG16(src + (at + x));");
    if bits == 64 {
        text.line("const u32 e = (u32)x / 8u;");
        for (e, low, high) in [("e", "q.x", "q.y"), ("(e + 1u)", "q.z", "q.w")] {
            let spot = fetch.spot(&fetch.unit(e));
            text.line(&format!("STS8(sm, {spot}, (u64){high} << 32 | {low});"));
        }
        return;
    }
    text.line("u32 w[4];");
    text.line("w[0] = q.x; w[1] = q.y; w[2] = q.z; w[3] = q.w;");
    let mut number = "k";
    if let Some(shift) = fetch.place.turned {
        number = "(k + rotation & 3u)";
        text.line(&format!("const u32 rotation = {};", lanes(shift)));
        text.line("if (rotation & 1u) { const u32 t = w[0]; w[0] = w[1]; w[1] = w[2]; w[2] = w[3]; w[3] = t; }");
        text.line("if (rotation & 2u) { const u32 s = w[0], t = w[1]; w[0] = w[2]; w[1] = w[3]; w[2] = s; w[3] = t; }");
    }
    text.line("UNROLL");
    text.line("for (u32 k = 0; k < 4u; k++) {");
    let each = 32 / bits;
    text.line(&format!("const u32 e = (u32)x / {}u + {number} * {each}u;", bits / 8));
    for i in 0..each {
        let (x, shift) = match i {
            0 => ("e".to_string(), String::new()),
            _ => (format!("(e + {i}u)"), format!(" >> {}u", i * bits)),
        };
        let spot = fetch.spot(&fetch.unit(&x));
        text.line(&format!("STS{}(sm, {spot}, w[k]{shift});", bits / 8));
    }
    text.line("}");
}

/// Writes the lines for the elements at an end of a run, in a vector that is partly outside.
fn scatter_ends(fetch: Fetch, text: &mut KernelText) {
    let bytes = fetch.job.dst.bits / 8;
    text.line(&format!(
        "for (i32 y = x < 0 ? 0 : x; y < x + {VECTOR} && y < row; y += {bytes}) {{"
    ));
    text.line(&format!("const u32 e = (u32)y / {bytes}u;"));
    let spot = fetch.spot(&fetch.unit("e"));
    text.line(&format!("STS{bytes}(sm, {spot}, LDG{bytes}(src + (at + y)));"));
    text.line("}");
}

/// Writes the lines that store a chunk of a run of the destination, which other runs may share.
pub(super) fn stored(fetch: Fetch, text: &mut KernelText) {
    let bytes = fetch.job.src.bits / 8;
    text.line(&format!("const u32 till = by + {};", fetch.length()));
    text.line("if (chunk * 16u >= by && chunk * 16u + 16u <= till) {");
    text.line("STG16(dst + (here - begins), LDS16(sm, spot16 / 16u));");
    text.line("} else {");
    text.line(&format!(
        "for (u32 b = chunk * 16u < by ? by : 0u; b < 16u && chunk * 16u + b < till; b += {bytes}u) {{"
    ));
    text.line(&format!("STG{bytes}(dst + (here + b - begins), LDS{bytes}(sm, spot16 + b));"));
    ["}", "}"].iter().for_each(|line| text.line(line));
}
