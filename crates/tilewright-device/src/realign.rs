//! The realigned transpose: a transpose of two loops whose rows may have any alignment, on both sides.
//!
//! Rows of the source are read in aligned vectors of 16 bytes, and a funnel shift extracts an unaligned vector from two
//! of them. Squares of elements are exchanged in registers; a tile of shared memory holds columns. A row of the
//! destination is split at addresses that are multiples of 16: a tile also contains the 16 bytes before its rows, so
//! every vector except the two ends of a row is whole. A second shift makes it from two adjacent vectors of the tile.
//!
//! A square consists of the elements of one vector of a row, in N rows if a vector has N elements; a thread moves a few
//! squares. Cell `(c, t)` of the tile is the vector of column `c` and rows `t·N` to `t·N + N`, with N elements in a
//! vector. The xor of `t` with the square's column distributes eight columns of squares over different banks.
//!
//! Laws: no byte outside the source is read, and a vector that extends beyond it is read by units. Each byte of the
//! destination is written once: in a vector if the vector is completely within the row, else by a unit. The tiles of
//! the grid cover each row and each column of each iteration of the outer loops.

use tilewright_relayout::Loop;

use crate::{
    Error,
    byte_region::{ByteRegion, VECTOR},
    grid::Grid,
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
};

/// The least bytes of a row, on either side, for which the shifts pay off.
const ENOUGH: u64 = 96;

/// Makes the kernel of an area with long enough rows on both sides.
pub(crate) fn take(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = TransposeShape::of(area).filter(|_| area.maps.are_none())?;
    let long = |iterations: u64| iterations.saturating_mul(area.run) >= ENOUGH;
    if !long(shape.rows.extent) || !long(shape.columns.extent) {
        return None;
    }
    any(area)
}

/// Makes the kernel of an area, however short its rows are.
pub(crate) fn any(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    let shape = TransposeShape::of(area)?;
    let grid = shape.grid()?;
    let (before, body, numbers) = of(&shape, &grid, area);
    let launch = Launch {
        way: Way::Realigned,
        threads: shape.threads(),
        resident: shape.resident(),
        blocks: grid.blocks(),
        shared: shape.shared(),
        bytes: area.bytes,
    };
    let comment = format!(
        "Realigned: a transpose of elements of {} bytes in units of {}, whose rows begin anywhere; {} loops around it.",
        shape.element,
        shape.unit,
        shape.outer.len()
    );
    Some(Kernel::new(launch, &comment, &before, body, numbers).map(|kernel| vec![kernel]))
}

/// The vectors of a row of a tile in the destination, including the one before its first.
const VECTORS: u64 = 16;

/// The bytes of tiles that a multiprocessor must be able to hold: the smallest one has 100 KiB, and a block takes 1 KiB
/// more.
const TILES: u32 = 96 << 10;

/// The registers of a multiprocessor.
const REGISTERS: u32 = 1 << 16;

/// The most bytes of a row: a signed number of 32 bits, with room for a tile.
const LONGEST: u64 = 1 << 30;

/// A transpose in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TransposeShape {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    element: u64,
    /// The number of bytes of which every address is a multiple, at most an element.
    unit: u64,
    /// The loop along which the destination is contiguous.
    rows: Loop,
    /// The loop along which the source is contiguous.
    columns: Loop,
    outer: Vec<Loop>,
}

impl TransposeShape {
    /// Returns the transpose that an area is, if any.
    fn of(area: &ByteRegion) -> Option<TransposeShape> {
        let element = area.run;
        if !element.is_power_of_two() || element > VECTOR {
            return None;
        }
        let by = |side: fn(&Loop) -> i64| {
            area.loops.iter().position(|level| side(level) == element as i64)
        };
        let (columns, rows) = (by(|level| level.src)?, by(|level| level.dst)?);
        let short = |at: usize| area.loops[at].extent <= LONGEST / element;
        if columns == rows || !short(columns) || !short(rows) {
            return None;
        }
        let others = |(at, level): (usize, &Loop)| (at != rows && at != columns).then_some(*level);
        let outer = area.loops.iter().enumerate().filter_map(others).collect();
        let (rows, columns) = (area.loops[rows], area.loops[columns]);
        Some(TransposeShape { element, unit: area.unit().min(element), rows, columns, outer })
    }

    /// Returns the elements of a vector.
    fn lanes(&self) -> u64 {
        VECTOR / self.element
    }

    /// Returns the vectors of a tile's row in the source.
    fn across(&self) -> u64 {
        if self.element == 1 { 8 } else { 16 }
    }

    /// Returns the number of adjacent squares of a thread: enough bytes to amortize its first instructions.
    fn squares(&self) -> u64 {
        match self.element {
            16 => 4,
            4 | 8 => 2,
            _ => 1,
        }
    }

    /// Returns the columns between the squares of a thread.
    fn apart(&self) -> u64 {
        self.across() * self.lanes()
    }

    /// Returns the columns of a tile.
    fn tile_columns(&self) -> u64 {
        self.squares() * self.apart()
    }

    /// Returns the rows that a tile writes: all that it contains except those of its first vector.
    fn tile_rows(&self) -> u64 {
        (VECTORS - 1) * self.lanes()
    }

    /// Returns the threads of a block.
    fn threads(&self) -> u32 {
        (self.across() * VECTORS) as u32
    }

    /// Returns the number of blocks that a multiprocessor must be able to hold. It is limited by shared memory, and by
    /// registers: a thread needs twice those of its squares, for the shifted vectors, and some more.
    fn resident(&self) -> u32 {
        let words = (self.squares() * self.lanes() * VECTOR / 4) as u32;
        (TILES / self.shared()).min(REGISTERS / (self.threads() * (2 * words + 40)))
    }

    /// Returns the bytes of shared memory.
    fn shared(&self) -> u32 {
        (self.tile_columns() * VECTORS * VECTOR) as u32
    }

    /// Returns the bytes of a row in the destination.
    fn row_bytes(&self) -> u64 {
        self.rows.extent * self.element
    }

    /// Returns the tiles of the rows: a row of the destination may begin up to 15 bytes after its first vector.
    fn tiles_down(&self) -> u64 {
        (self.row_bytes() + VECTOR - self.unit).div_ceil((VECTORS - 1) * VECTOR)
    }

    /// Returns the grid of blocks: adjacent blocks continue the writes of each other's rows, so that the vectors in which
    /// these begin and end are written at about the same time.
    fn grid(&self) -> Option<Grid> {
        let mut grid = Grid::default();
        let across = self.columns.extent.div_ceil(self.tile_columns());
        grid.push_strips(("down".into(), self.tiles_down()), ("across".into(), across))?;
        for (i, level) in self.outer.iter().enumerate().rev() {
            grid.push(format!("o{i}"), level.extent)?;
        }
        Some(grid)
    }
}

/// The bytes of a row of the destination that a tile writes.
const TILE: u64 = (VECTORS - 1) * VECTOR;

/// Returns the text before the kernel, its body, and its numbers.
fn of(shape: &TransposeShape, grid: &Grid, area: &ByteRegion) -> (String, KernelText, Parameters) {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    text.line(&format!("SHARED(sm, {});", shape.shared()));
    grid.write(&mut text, &mut numbers);
    block(shape, area, &mut text, &mut numbers);
    text.line("THREADS_BEGIN");
    read(shape, &mut text);
    text.line("THREADS_END");
    text.line("BARRIER;");
    text.line("THREADS_BEGIN");
    vectors(shape, &mut text);
    if shape.unit < VECTOR {
        ends(shape, &mut text);
    }
    text.line("THREADS_END");
    text.line("BARRIER;");
    (shifts(shape.unit), text, numbers)
}

/// Returns the functions that extract 16 bytes from two vectors, for distances that are multiples of `unit`.
fn shifts(unit: u64) -> String {
    if unit >= VECTOR {
        return String::new();
    }
    let after = [
        "if (by & 8u) { w0 = w2; w1 = w3; w2 = w4; w3 = w5; w4 = w6; w5 = w7; }",
        "if (by & 4u) { w0 = w1; w1 = w2; w2 = w3; w3 = w4; w4 = w5; }",
    ];
    let before = [
        "if (by & 8u) { w7 = w5; w6 = w4; w5 = w3; w4 = w2; w3 = w1; w2 = w0; }",
        "if (by & 4u) { w7 = w6; w6 = w5; w5 = w4; w4 = w3; w3 = w2; }",
    ];
    let funnels = |macro_: &'static str, low: usize| {
        (0..4).map(move |i| format!("{macro_}(w{}, w{}, 8u * by)", low + i, low + i + 1))
    };
    let mut text = String::from("// The 16 bytes from byte `by` on, below 16, of two vectors.\n");
    text.push_str(&shift("shifted", unit, after, 0, &funnels("FUNNEL", 0).collect::<Vec<_>>()));
    text.push_str(
        "// The 16 bytes that begin `by` bytes, below 16, before the second of two vectors.\n",
    );
    text.push_str(&shift("behind", unit, before, 4, &funnels("FUNNELUP", 3).collect::<Vec<_>>()));
    text
}

/// Returns one of these functions: it moves by half a vector, by single words, and, with `funnels`, by bytes, as far as
/// the unit requires; its result begins at word `first`.
fn shift(name: &str, unit: u64, words: [&str; 2], first: usize, funnels: &[String]) -> String {
    let mut text = format!("DEVICE u128 {name}(u128 a, u128 b, u32 by) {{\n");
    text.push_str(
        "  u32 w0 = a.x, w1 = a.y, w2 = a.z, w3 = a.w, w4 = b.x, w5 = b.y, w6 = b.z, w7 = b.w;\n",
    );
    for (line, bytes) in words.iter().zip([8, 4]) {
        if unit <= bytes {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text.push_str("  u128 r;\n ");
    for (i, word) in ["x", "y", "z", "w"].iter().enumerate() {
        let value = if unit < 4 { funnels[i].clone() } else { format!("w{}", first + i) };
        text.push_str(&format!(" r.{word} = {value};"));
    }
    text.push_str("\n  return r;\n}\n");
    text
}

/// Writes the values that all threads of a block share: its rows and columns, and the offset of its first element on
/// both sides.
fn block(
    shape: &TransposeShape,
    area: &ByteRegion,
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let (rows, columns) = (shape.rows, shape.columns);
    text.line(&format!("const u32 c0 = across * {}u;", shape.tile_columns()));
    let lanes = shape.lanes();
    text.line("// The first row of the tile, below 0 in the first block of a row.");
    text.line(&format!("const i32 r0 = (i32)(down * {}u) - {lanes};", shape.tile_rows()));
    let (rows_all, columns_all) =
        (numbers.short(rows.extent as u32), numbers.short(columns.extent as u32));
    text.line(&format!("const u32 nr = {rows_all};"));
    let across = shape.tile_columns();
    text.line(&format!(
        "const u32 nc = {columns_all} - c0 < {across}u ? {columns_all} - c0 : {across}u;"
    ));
    text.line(&format!(
        "const i64 pitch = {}, step = {};",
        numbers.signed(rows.src),
        numbers.signed(columns.dst)
    ));
    let outer = |side: fn(&Loop) -> i64, numbers: &mut Parameters| {
        let term = |(i, level)| format!(" + (i64)o{i} * {}", numbers.signed(side(level)));
        shape.outer.iter().enumerate().map(term).collect::<String>()
    };
    text.line("// Offsets from the multiple of 16 at or before the first byte of the source, and which are inside it.");
    text.line("const u32 begins = PHASE(src) & 15u;");
    let first = numbers.signed(area.src);
    let from = outer(|level| level.src, numbers);
    text.line(&format!(
        "const i64 from = begins + {first}{from} + (i64)r0 * pitch + (i64)c0 * {};",
        shape.element
    ));
    let bytes = numbers.signed(area.bytes.0 as i64);
    text.line(&format!(
        "const i64 least = begins ? 16 : 0, most = ((i64)begins + {bytes} & ~(i64)15) - 16;"
    ));
    let first = numbers.signed(area.dst);
    let to = outer(|level| level.dst, numbers);
    text.line(&format!("const i64 to = {first}{to} + (i64)c0 * step;"));
    text.line(&format!("const i32 row = {};", numbers.short(shape.row_bytes() as u32)));
}

/// Writes the lines that read squares of the source, shift and exchange them, and store them to the tile.
fn read(shape: &TransposeShape, text: &mut KernelText) {
    let (across, lanes) = (shape.across(), shape.lanes());
    text.line(&format!("const u32 cv = tid % {across}u, rv = tid / {across}u;"));
    text.line(&format!("const i32 first = r0 + (i32)(rv * {lanes}u);"));
    text.line(&format!("if (cv * {lanes}u < nc && first >= 0 && first < (i32)nr) {{"));
    text.line(&format!("const u32 n = nr - first < {lanes}u ? nr - first : {lanes}u;"));
    text.line(&format!("const u32 left = nc - cv * {lanes}u;"));
    text.line(&format!("const i64 at = from + (i64)(rv * {lanes}u) * pitch + cv * 16u;"));
    text.line(&format!("const u32 cell = cv * {}u + (rv ^ (cv & 7u));", lanes * VECTORS));
    if shape.unit == VECTOR {
        squares(shape, text);
    } else {
        text.line("// Two vectors of each row are read, which are inside the source but in its first and last rows.");
        text.line("const i64 reach = (i64)(n - 1u) * pitch, below = reach < 0 ? reach : 0;");
        let far = (shape.squares() - 1) * shape.across() * VECTOR;
        text.line(&format!("if (at + below >= least && at + reach - below + {far} < most) {{"));
        squares(shape, text);
        text.line("} else {");
        slow(shape, text);
        text.line("}");
    }
    text.line("}");
}

/// Writes the lines that read all squares of a thread at once.
fn squares(shape: &TransposeShape, text: &mut KernelText) {
    let (lanes, element, squares) = (shape.lanes(), shape.element, shape.squares());
    text.line(&format!("u32 m[{}];", 4 * lanes * squares));
    text.line("GSRC p = src + (at - begins);");
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {lanes}u; k++) {{"));
    if shape.unit < VECTOR {
        text.line("const u32 by = PHASE(p) & 15u;");
    }
    let aligned = if shape.unit < VECTOR { "FLOOR16(p)" } else { "p" };
    text.line("UNROLL");
    text.line(&format!("for (u32 s = 0; s < {squares}u; s++) {{"));
    text.line(&format!("ROUND(k * {squares}u + s);"));
    text.line(&format!("GSRC from = {aligned} + s * {}u;", shape.across() * VECTOR));
    text.line(&format!("const u32 is = (k < n) & (s * {}u < left);", shape.apart()));
    if shape.unit < VECTOR {
        text.line("const u128 a = LDG16KIF(is, from), b = LDG16KIF(is, from + 16);");
        text.line("const u128 v = shifted(a, b, by);");
    } else {
        text.line("const u128 v = LDG16KIF(is, from);");
    }
    text.line(&format!("const u32 to = 4u * (s * {lanes}u + k);"));
    text.line("m[to] = v.x; m[to + 1u] = v.y; m[to + 2u] = v.z; m[to + 3u] = v.w;");
    text.line("}");
    text.line("p += pitch;");
    text.line("}");
    (0..lanes.trailing_zeros())
        .for_each(|bit| exchange(bit, element << bit, lanes * squares, text));
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {}u; k++) {{", lanes * squares));
    text.line(&format!(
        "PUT16(sm, cell + (k / {lanes}u * {}u + k % {lanes}u) * {VECTORS}u, m, 4u * k);",
        shape.apart()
    ));
    text.line("}");
}

/// Writes the exchange of a bit of the position in vectors of this many bytes with a bit of the vector's number.
fn exchange(bit: u32, bytes: u64, lanes: u64, text: &mut KernelText) {
    text.line("UNROLL");
    text.line(&format!("for (u32 i = 0; i < {lanes}u; i++) if (!(i & {}u)) {{", 1 << bit));
    text.line(&format!("const u32 a = 4u * i, b = 4u * (i | {}u);", 1 << bit));
    let pairs: [(u32, u32); 2] = if bytes == 8 { [(2, 0), (3, 1)] } else { [(1, 0), (3, 2)] };
    if bytes >= 4 {
        for (p, q) in pairs {
            text.line(&format!(
                "const u32 t{p} = m[a + {p}u]; m[a + {p}u] = m[b + {q}u]; m[b + {q}u] = t{p};"
            ));
        }
    } else {
        let (low, high) = if bytes == 1 { ("0x6240", "0x7351") } else { ("0x5410", "0x7632") };
        text.line("UNROLL");
        text.line("for (u32 k = 0; k < 4u; k++) {");
        text.line("const u32 x = m[a + k], y = m[b + k];");
        text.line(&format!("m[a + k] = PRMT(x, y, {low}u);"));
        text.line(&format!("m[b + k] = PRMT(x, y, {high}u);"));
        text.line("}");
    }
    text.line("}");
}

/// Writes the reads of squares with rows at the source's ends, one vector at a time: a vector that is partly outside is
/// read by units.
fn slow(shape: &TransposeShape, text: &mut KernelText) {
    let TransposeShape { element, unit, .. } = *shape;
    let (lanes, squares, units) = (shape.lanes(), shape.squares(), VECTOR / unit);
    text.line(&format!("for (u32 i = 0; i < n * {squares}u; i++) {{"));
    text.line(&format!("const u32 k = i / {squares}u, c = i % {squares}u * {}u;", shape.apart()));
    text.line(&format!(
        "const i64 here = at + (i64)k * pitch + i % {squares}u * {}u;",
        shape.across() * VECTOR
    ));
    text.line(&format!("const u32 to = (cell + c * {VECTORS}u) * 16u + k * {element}u;"));
    text.line("GSRC p = src + (here - begins);");
    text.line("if (c < left && here >= least && here < most) {");
    text.line("const u32 by = (u32)here & 15u;");
    text.line("const u128 v = shifted(LDG16K(FLOOR16(p)), LDG16K(FLOOR16(p) + 16), by);");
    if element == VECTOR {
        text.line("STS16(sm, to / 16u, v);");
    } else {
        for lane in 0..lanes {
            let place = format!("to + {}u", lane * VECTORS * VECTOR);
            text.line(&format!("STS{element}(sm, {place}, {});", lane_of(lane, element)));
        }
    }
    text.line("} else if (c < left) {");
    text.line(&format!("u{} x[{units}];", 8 * unit));
    text.line("UNROLL");
    text.line(&format!("for (u32 j = 0; j < {units}u; j++) if (j * {unit}u < (left - c) * {element}u) x[j] = LDG{unit}(p + j * {unit}u);"));
    text.line("UNROLL");
    text.line(&format!(
        "for (u32 j = 0; j < {units}u; j++) if (j * {unit}u < (left - c) * {element}u) {{"
    ));
    text.line(&format!(
        "STS{unit}(sm, to + j * {unit}u / {element}u * {}u + j * {unit}u % {element}u, x[j]);",
        VECTORS * VECTOR
    ));
    text.line("}");
    text.line("}");
    text.line("}");
}

/// Returns an element of the vector `v`.
fn lane_of(lane: u64, element: u64) -> String {
    let word = |at: u64| ["v.x", "v.y", "v.z", "v.w"][at as usize];
    let (at, bit) = (lane * element / 4, lane * element % 4 * 8);
    match element {
        8 => format!("(u64){} << 32 | {}", word(at + 1), word(at)),
        4 => word(at).into(),
        _ => format!(
            "(u{}){}",
            8 * element,
            if bit == 0 { word(at).into() } else { format!("({} >> {bit}u)", word(at)) }
        ),
    }
}

/// Writes the vectors of the destination that are completely within rows.
fn vectors(shape: &TransposeShape, text: &mut KernelText) {
    let (lanes, each) = (shape.lanes(), u64::from(shape.threads()) / 16);
    text.line("const u32 j = tid % 16u, r = tid / 16u;");
    text.line(&format!(
        "const i32 x = (i32)(down * {TILE}u + j * 16u), behind_row = x + 16 - row;"
    ));
    text.line("// A vector begins up to 15 bytes before byte x of its row: `least_by` at least, below `least_by + some`.");
    text.line("const u32 least_by = behind_row > 0 ? behind_row : 0, most_by = x > 0 ? 16u : 1u;");
    text.line(&format!(
        "const u32 some = j < {}u && least_by < most_by ? most_by - least_by : 0u;",
        VECTORS - 1
    ));
    text.line("const u32 columns = r < nc ? nc - r : 0u;");
    text.line(&format!("const u32 rotation = r / {lanes}u & 7u;"));
    text.line("GDST p = dst + (to + (i64)r * step + x);");
    text.line(&format!("const i64 hop = step * {each};"));
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {}u; k++) {{", shape.tile_columns() / each));
    text.line("ROUND(k);");
    text.line(&format!(
        "const u32 cell = r * {VECTORS}u + k * {}u, swizzle = k * {each}u / {lanes}u & 7u;",
        each * VECTORS
    ));
    if shape.unit < VECTOR {
        text.line("const u32 by = PHASE(p) & 15u;");
        text.line(&format!("const u32 is = (by - least_by < some) & (k * {each}u < columns);"));
        text.line("const u128 a = LDS16(sm, cell + (j ^ rotation ^ swizzle));");
        text.line("const u128 b = LDS16(sm, cell + ((j + 1u & 15u) ^ rotation ^ swizzle));");
        text.line("STG16IF(is, FLOOR16(p), behind(a, b, by));");
    } else {
        text.line(&format!("const u32 is = (least_by < some) & (k * {each}u < columns);"));
        text.line("STG16IF(is, p, LDS16(sm, cell + ((j + 1u & 15u) ^ rotation ^ swizzle)));");
    }
    text.line("p += hop;");
    text.line("}");
}

/// Writes both ends of rows of the destination, with one unit for each lane: in the first blocks of a row, and in the
/// last ones.
fn ends(shape: &TransposeShape, text: &mut KernelText) {
    let unit = shape.unit;
    let units = VECTOR / unit;
    text.line(&format!("if (down == 0u || (i32)(down * {TILE}u) + {} > row) {{", 2 * TILE));
    text.line(&format!("for (u32 i = tid; i < {}u; i += NT) {{", shape.tile_columns() * 2 * units));
    text.line(&format!("const u32 c = i / {}u, side = i / {units}u % 2u;", 2 * units));
    text.line("const i64 at = to + (i64)c * step;");
    text.line("const i32 by = (i32)((PHASE(dst) + (u32)at) & 15u);");
    text.line("const i32 last = (by + row - 1) / 16, v = side ? last : 0;");
    text.line("const i32 begin = v * 16 - by;");
    text.line(&format!("const i32 x = begin + (i32)(i % {units}u * {unit}u);"));
    text.line("const u32 partial = begin < 0 || begin + 16 > row;");
    text.line(&format!("const u32 j = (u32)v - down * {}u;", VECTORS - 1));
    text.line(&format!(
        "if (c < nc && j < {}u && partial && x >= 0 && x < row && (side == 0u || last > 0)) {{",
        VECTORS - 1
    ));
    text.line(&format!("const u32 y = (u32)(x + 16) - down * {TILE}u;"));
    text.line(&format!(
        "const u32 cell = c * {VECTORS}u + (y / 16u ^ c / {}u & 7u);",
        shape.lanes()
    ));
    text.line(&format!("STG{unit}(dst + (at + x), LDS{unit}(sm, cell * 16u + y % 16u));"));
    ["}", "}", "}"].iter().for_each(|line| text.line(line));
}
