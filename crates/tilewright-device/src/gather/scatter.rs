//! A tile in the order of the destination: elements of vectors of the source are scattered to it, and its runs are
//! stored in vectors. The job is mirrored: `x` counts bytes of a run of the array's source.

use super::fetch::{Fetch, lanes};
use crate::{access::VECTOR, text::KernelText};

/// Writes the lines that scatter a vector of the source to the tile.
pub(super) fn elements(fetch: Fetch, text: &mut KernelText) {
    text.line(&format!("if (x >= 0 && {}) {{", fetch.all_of_vector()));
    whole(fetch, text);
    text.line("} else {");
    ends(fetch, text);
    text.line("}");
}

/// Writes the lines for a vector that is completely within a run.
fn whole(fetch: Fetch, text: &mut KernelText) {
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
fn ends(fetch: Fetch, text: &mut KernelText) {
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
