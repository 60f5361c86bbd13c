//! The plot of speed: bars of GB/s for a few cases, next to torch, NumPy and memcpy.
//!
//! All numbers are from one record. The bar of a library is its ratio to memcpy in its own process, times memcpy in
//! Tilewright's process: ratios can be compared across processes, GB/s cannot.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::Value;

use super::escaped;
use crate::shell::Outcome;

/// The record that is drawn.
const RECORD: &str = "bench/record/amd-epyc-2-cores-2026-11-22-rivals.json";

/// Cases of the record, and their titles. The last two are the slowest for Tilewright, and behind other libraries.
const CASES: [(&str, &str); 6] = [
    ("row-to-zN-16bit/memory", "rows to Ascend NZ, 16-bit"),
    ("row-to-T8x128-2x1-16bit/memory", "rows to TPU tiles, 16-bit"),
    ("row-to-BA16a64b4a-s8/memory", "rows to oneDNN BA16a64b4a, 8-bit"),
    ("nchw-to-nhwc-f32-256/memory", "NCHW to NHWC, 32-bit"),
    ("transpose-u8-odd/memory", "transpose, odd extents, 8-bit: our slowest case"),
    ("padded-to-row-f32/memory", "rows out of padding, 32-bit: torch and NumPy are faster"),
];

/// The number of threads of the cases: NumPy has one.
const THREADS: u64 = 1;

const WIDTH: f64 = 640.0;
const LEFT: f64 = 16.0;
/// The pixels for one GB/s.
const SCALE: f64 = 13.6;
const BAR: f64 = 13.0;
const TOP: f64 = 74.0;

/// Colours on a page.
struct Look {
    name: &'static str,
    page: &'static str,
    text: &'static str,
    faint: &'static str,
    /// The colours of Tilewright, torch, NumPy, memcpy.
    bars: [&'static str; 4],
}

const LOOKS: [Look; 2] = [
    Look {
        name: "speed-light.svg",
        page: "#ffffff",
        text: "#1f2328",
        faint: "#59636e",
        bars: ["#0969da", "#d1702a", "#2b8a57", "#9aa4ae"],
    },
    Look {
        name: "speed-dark.svg",
        page: "#0d1117",
        text: "#f0f6fc",
        faint: "#9198a1",
        bars: ["#4493f8", "#e0883f", "#3fa66d", "#6e7781"],
    },
];

/// The names in the legend, and the width of each with its square.
const NAMES: [(&str, f64); 4] =
    [("Tilewright", 112.0), ("torch", 76.0), ("NumPy", 88.0), ("memcpy", 98.0)];

/// The numbers of a case in the plot.
struct Row {
    title: &'static str,
    /// The GB/s of the four, in the order of the names.
    speeds: [f64; 4],
    /// The GB/s of a copy with streaming stores.
    copy: f64,
}

/// Returns the plot for light and for dark pages.
pub(super) fn svgs(root: &Path) -> Outcome<[(&'static str, String); 2]> {
    let text =
        fs::read_to_string(root.join(RECORD)).map_err(|error| format!("{RECORD}: {error}"))?;
    let record: Value =
        serde_json::from_str(&text).map_err(|error| format!("{RECORD}: {error}"))?;
    let rows = CASES.iter().map(|(name, title)| {
        row(&record, name, title).ok_or_else(|| format!("{RECORD} lacks numbers of {name}"))
    });
    let rows = rows.collect::<Outcome<Vec<Row>>>()?;
    Ok(LOOKS.map(|look| (look.name, svg(&rows, &look))))
}

/// Returns the numbers of a case: its own, and those of the libraries.
fn row(record: &Value, name: &str, title: &'static str) -> Option<Row> {
    let is_it = |entry: &&Value| entry["name"] == name && entry["threads"] == THREADS;
    let case = record["cases"].as_array()?.iter().find(is_it)?;
    let number = |key: &str| case[key].as_f64();
    let memcpy = number("memcpy_gb_per_s")?;
    let rivals = record["rivals"].as_array()?;
    let share = |rival: &str| {
        let mut entries = rivals.iter().filter(|entry| entry["rival"] == rival);
        entries.find(is_it)?["ratio"].as_f64().map(|ratio| ratio * memcpy)
    };
    let speeds = [number("gb_per_s")?, share("torch")?, share("numpy")?, memcpy];
    Some(Row { title, speeds, copy: number("copy_gb_per_s")? })
}

fn svg(rows: &[Row], look: &Look) -> String {
    let group = 4.0 * BAR + 31.0;
    let height = TOP + group * rows.len() as f64 + 6.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"system-ui,sans-serif\" font-size=\"15\">\n\
         <title>GB/s of Tilewright, torch, NumPy and memcpy in six cases</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n",
        look.page
    );
    legend(&mut svg, look);
    for (at, row) in rows.iter().enumerate() {
        drawn(&mut svg, row, TOP + group * at as f64, look);
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String, look: &Look) {
    let (text, faint) = (look.text, look.faint);
    let title = "GB/s read and written, one thread, arrays beyond the caches";
    _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"26\" fill=\"{text}\" font-weight=\"600\">{title}</text>"
    );
    let mut x = LEFT;
    for ((name, width), colour) in NAMES.iter().zip(look.bars) {
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"40\" width=\"14\" height=\"14\" fill=\"{colour}\"/>"
        );
        _ = writeln!(svg, "<text x=\"{}\" y=\"52\" fill=\"{text}\">{name}</text>", x + 20.0);
        x += width;
    }
    _ = writeln!(svg, "<path d=\"M{x} 40v14\" stroke=\"{faint}\" stroke-width=\"3\"/>");
    _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"52\" fill=\"{text}\">copy, streaming stores</text>",
        x + 9.0
    );
}

/// Draws a group of bars with its title, each followed by its number.
fn drawn(svg: &mut String, row: &Row, top: f64, look: &Look) {
    let (text, faint) = (look.text, look.faint);
    let title = escaped(row.title);
    _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" fill=\"{text}\">{title}</text>", top + 15.0);
    let top = top + 22.0;
    for (at, (speed, colour)) in row.speeds.iter().zip(look.bars).enumerate() {
        let (y, width) = (top + BAR * at as f64, (speed * SCALE).max(1.0));
        let (end, base) = (LEFT + width + 5.0, y + 10.5);
        _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"11.5\" fill=\"{colour}\"/>"
        );
        _ = writeln!(
            svg,
            "<text x=\"{end:.1}\" y=\"{base}\" font-size=\"13\" fill=\"{text}\">{speed:.1}</text>"
        );
    }
    let x = LEFT + row.copy * SCALE;
    let down = 4.0 * BAR - 1.5;
    _ = writeln!(svg, "<path d=\"M{x:.1} {top}v{down}\" stroke=\"{faint}\" stroke-width=\"3\"/>");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_library_has_its_share_of_our_memcpy() {
        let record = json!({
            "cases": [
                {"name": "a", "threads": 2, "gb_per_s": 1.0},
                {"name": "a", "threads": 1, "gb_per_s": 30.0, "memcpy_gb_per_s": 20.0, "copy_gb_per_s": 35.0}
            ],
            "rivals": [
                {"rival": "torch", "name": "a", "threads": 1, "ratio": 0.5, "gb_per_s": 99.0},
                {"rival": "numpy", "name": "a", "threads": 1, "ratio": 0.25}
            ]
        });
        let row = row(&record, "a", "A").unwrap();
        assert_eq!((row.speeds, row.copy), ([30.0, 10.0, 5.0, 20.0], 35.0));
        assert!(super::row(&record, "b", "B").is_none());
    }

    /// Returns the least, the most and the geometric mean, as a text.
    fn range(values: &[f64]) -> (String, String) {
        let mean = values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        (format!("{least:.2} to {most:.2} times"), format!("mean {:.2}", mean.exp()))
    }

    #[test]
    fn the_ranges_in_the_readme_are_those_of_a_record() {
        let root = crate::shell::root();
        let file = "bench/record/amd-epyc-family-25-model-17-2-cores-2026-11-22.json";
        let record = fs::read_to_string(root.join(file)).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let readme = fs::read_to_string(root.join("README.md")).unwrap().replace('\n', " ");
        for (size, beside) in
            [("memory", "memcpy_gb_per_s"), ("memory", "copy_gb_per_s"), ("l2", "memcpy_gb_per_s")]
        {
            let cases = record["cases"].as_array().unwrap().iter();
            let cases = cases.filter(|case| case["size"] == size && case["threads"] == THREADS);
            let number = |case: &Value, key: &str| case[key].as_f64().unwrap();
            let shares: Vec<f64> =
                cases.map(|case| number(case, "gb_per_s") / number(case, beside)).collect();
            let (range, mean) = range(&shares);
            assert_eq!(shares.len(), 93);
            assert!(readme.contains(&range) && readme.contains(&mean), "{range}, {mean}");
        }
    }

    #[test]
    fn the_kept_plots_are_those_of_the_record() {
        let root = crate::shell::root();
        for (name, text) in svgs(&root).unwrap() {
            super::super::kept(&root, name, &text, true).unwrap();
        }
    }
}
