//! The text of a realigned weave.
//!
//! A square is the elements of one vector of a row in as many rows, moved by one thread. Cell `(c, t)` of the tile is the
//! vector of column `c` and rows `t·N` to `t·N + N`, N elements a vector; eight columns of squares lie apart in banks by
//! an exclusive or of `t` with the square's column.

use super::shape::{Shape, VECTORS};
use crate::{
    access::VECTOR,
    area::Area,
    grid::Grid,
    text::{Numbers, Text},
};

/// Bytes of a row of the destination that a tile writes.
const TILE: u64 = (VECTORS - 1) * VECTOR;

/// What stands before the kernel, its body, and its numbers.
pub(super) fn of(shape: &Shape, grid: &Grid, area: &Area) -> (String, Text, Numbers) {
    let (mut text, mut numbers) = (Text::new(), Numbers::default());
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
    (shifted(shape.unit), text, numbers)
}

/// The function that takes 16 bytes out of two vectors.
pub(crate) fn shifted(unit: u64) -> String {
    let mut text = String::from("// The 16 bytes from byte `by` on, below 16, of two vectors.\n");
    text.push_str("DEVICE u128 shifted(u128 a, u128 b, u32 by) {\n");
    text.push_str(
        "  u32 w0 = a.x, w1 = a.y, w2 = a.z, w3 = a.w, w4 = b.x, w5 = b.y, w6 = b.z, w7 = b.w;\n",
    );
    text.push_str("  if (by & 8u) { w0 = w2; w1 = w3; w2 = w4; w3 = w5; w4 = w6; w5 = w7; }\n");
    if unit < 8 {
        text.push_str("  if (by & 4u) { w0 = w1; w1 = w2; w2 = w3; w3 = w4; w4 = w5; }\n");
    }
    if unit < 4 {
        text.push_str("  const u32 bits = 8u * (by & 3u);\n");
        for i in 0..4 {
            text.push_str(&format!("  w{i} = FUNNEL(w{i}, w{}, bits);\n", i + 1));
        }
    }
    text.push_str("  u128 r;\n  r.x = w0; r.y = w1; r.z = w2; r.w = w3;\n  return r;\n}\n");
    text
}

/// What all threads of a block know: its rows and columns, and where its first element is on both sides.
fn block(shape: &Shape, area: &Area, text: &mut Text, numbers: &mut Numbers) {
    let (rows, columns) = (shape.rows, shape.columns);
    let beside = numbers.short(shape.beside() as u32);
    text.line(&format!("const u32 c0 = (strip * {beside} + beside) * {}u;", shape.tile_columns()));
    let lanes = shape.lanes();
    text.line("// The first row of the tile, below 0 in the first block of a row.");
    text.line(&format!("const i32 r0 = (i32)(down * {}u) - {lanes};", shape.tile_rows()));
    let (rows_all, columns_all) =
        (numbers.short(rows.extent as u32), numbers.short(columns.extent as u32));
    text.line(&format!("const u32 nr = {rows_all};"));
    let across = shape.tile_columns();
    text.line(&format!(
        "const u32 nc = c0 >= {columns_all} ? 0u : {columns_all} - c0 < {across}u ? {columns_all} - c0 : {across}u;"
    ));
    text.line(&format!(
        "const i64 pitch = {}, step = {};",
        numbers.signed(rows.src),
        numbers.signed(columns.dst)
    ));
    let outer = |side: fn(&tilewright_relayout::Loop) -> i64, numbers: &mut Numbers| {
        let term = |(i, turn)| format!(" + (i64)o{i} * {}", numbers.signed(side(turn)));
        shape.outer.iter().enumerate().map(term).collect::<String>()
    };
    text.line("// Offsets from the multiple of 16 at or before the first byte of the source, and which are inside it.");
    text.line("const u32 begins = PHASE(src) & 15u;");
    let first = numbers.signed(area.src);
    let from = outer(|turn| turn.src, numbers);
    text.line(&format!(
        "const i64 from = begins + {first}{from} + (i64)r0 * pitch + (i64)c0 * {};",
        shape.element
    ));
    let bytes = numbers.signed(area.bytes.0 as i64);
    text.line(&format!(
        "const i64 least = begins ? 16 : 0, most = ((i64)begins + {bytes} & ~(i64)15) - 16;"
    ));
    let first = numbers.signed(area.dst);
    let to = outer(|turn| turn.dst, numbers);
    text.line(&format!("const i64 to = {first}{to} + (i64)c0 * step;"));
    text.line(&format!("const i32 row = {};", numbers.short(shape.row_bytes() as u32)));
}

/// Squares of the source, straight and exchanged, to the tile.
fn read(shape: &Shape, text: &mut Text) {
    let (across, lanes, element) = (shape.across(), shape.lanes(), shape.element);
    text.line(&format!("const u32 cv = tid % {across}u, rv = tid / {across}u;"));
    text.line(&format!("const i32 first = r0 + (i32)(rv * {lanes}u);"));
    text.line(&format!("if (cv * {lanes}u < nc && first >= 0 && first < (i32)nr) {{"));
    text.line(&format!("const u32 n = nr - first < {lanes}u ? nr - first : {lanes}u;"));
    text.line(&format!("const i64 at = from + (i64)(rv * {lanes}u) * pitch + cv * 16u;"));
    text.line("// Of the n rows, those from k0 on to k1 are read by vectors that are all inside the source.");
    text.line("u32 k0 = 0, k1 = n;");
    text.line("while (k0 < k1 && (at + k0 * pitch < least || at + k0 * pitch > most)) k0++;");
    text.line("while (k1 > k0 && (at + (k1 - 1u) * pitch < least || at + (k1 - 1u) * pitch > most)) k1--;");
    text.line(&format!("u32 m[{}];", 4 * lanes));
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {lanes}u; k++) {{"));
    text.line("u128 v;");
    text.line("v.x = v.y = v.z = v.w = 0u;");
    text.line("if (k - k0 < k1 - k0) {");
    text.line("const i64 here = at + (i64)k * pitch;");
    text.line("const u32 by = (u32)here & 15u;");
    text.line("GSRC p = src + (here - by - begins);");
    text.line("v = LDG16K(p);");
    text.line("u128 next = v;");
    text.line("if (by) next = LDG16K(p + 16);");
    text.line("v = shifted(v, next, by);");
    text.line("}");
    text.line("m[4u * k] = v.x; m[4u * k + 1u] = v.y; m[4u * k + 2u] = v.z; m[4u * k + 3u] = v.w;");
    text.line("}");
    (0..lanes.trailing_zeros()).for_each(|bit| exchange(bit, element << bit, lanes, text));
    text.line(&format!("const u32 cell = cv * {}u + (rv ^ (cv & 7u));", lanes * VECTORS));
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {lanes}u; k++) {{"));
    text.line("u128 v;");
    text.line("v.x = m[4u * k]; v.y = m[4u * k + 1u]; v.z = m[4u * k + 2u]; v.w = m[4u * k + 3u];");
    text.line(&format!("STS16(sm, cell + k * {VECTORS}u, v);"));
    text.line("}");
    if shape.unit < VECTOR {
        slow(shape, text);
    }
    text.line("}");
}

/// Exchanges a bit of the place in vectors, of this many bytes, with a bit of the vector's number.
fn exchange(bit: u32, bytes: u64, lanes: u64, text: &mut Text) {
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

/// The rows of a square that no vectors inside the source hold: by units, once the others are in the tile.
fn slow(shape: &Shape, text: &mut Text) {
    let Shape { element, unit, .. } = *shape;
    let units = VECTOR / unit;
    text.line("for (u32 k = 0; k < n; k++) if (k - k0 >= k1 - k0) {");
    text.line("GSRC p = src + (at - begins + (i64)k * pitch);");
    text.line(&format!("const u32 inside = (nc - cv * {}u) * {element}u;", shape.lanes()));
    text.line(&format!("u{} x[{units}];", 8 * unit));
    text.line("UNROLL");
    text.line(&format!("for (u32 i = 0; i < {units}u; i++) if (i * {unit}u < inside) x[i] = LDG{unit}(p + i * {unit}u);"));
    text.line("UNROLL");
    text.line(&format!("for (u32 i = 0; i < {units}u; i++) if (i * {unit}u < inside) {{"));
    let place = format!("(cell + i * {unit}u / {element}u * {VECTORS}u)");
    text.line(&format!(
        "STS{unit}(sm, {place} * 16u + k * {element}u + i * {unit}u % {element}u, x[i]);"
    ));
    text.line("}");
    text.line("}");
}

/// The vectors of the destination that rows have all of.
fn vectors(shape: &Shape, text: &mut Text) {
    let each = shape.threads() / 16;
    text.line("const u32 j = tid % 16u;");
    text.line("UNROLL");
    text.line(&format!("for (u32 k = 0; k < {}u; k++) {{", shape.tile_columns() / u64::from(each)));
    text.line(&format!("const u32 c = tid / 16u + k * {each}u;"));
    text.line("const i64 at = to + (i64)c * step;");
    text.line("const u32 by = (PHASE(dst) + (u32)at) & 15u;");
    text.line(&format!("const i32 x = (i32)(down * {TILE}u + j * 16u) - (i32)by;"));
    text.line(&format!("if (j < {}u && c < nc && x >= 0 && x + 16 <= row) {{", VECTORS - 1));
    text.line(&format!("const u32 turn = c / {}u & 7u;", shape.lanes()));
    text.line(&format!("const u128 b = LDS16(sm, c * {VECTORS}u + (j + 1u ^ turn));"));
    text.line("u128 a = b;");
    text.line(&format!("if (by) a = LDS16(sm, c * {VECTORS}u + (j ^ turn));"));
    text.line("STG16(dst + (at + x), shifted(a, b, (16u - by) & 15u));");
    text.line("}");
    text.line("}");
}

/// Both ends of rows of the destination, a unit a lane: in the first blocks of a row, and in the last ones.
fn ends(shape: &Shape, text: &mut Text) {
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
