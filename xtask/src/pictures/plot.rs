//! The plot of speed: bars of GB/s for a few cases, on a CPU next to torch, NumPy and memcpy, and on a CUDA device next to
//! torch, Inductor and the device's own copy.
//!
//! The numbers of a panel are from one record. On a CPU the bar of a library is its ratio to memcpy in its own process,
//! times memcpy in Tilewright's process: ratios can be compared across processes, GB/s cannot.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::Value;

use super::escaped;
use crate::shell::Outcome;

/// A panel: bars of four movers for some cases.
struct Panel {
    /// The record that is drawn.
    record: &'static str,
    title: &'static str,
    /// The names in the legend, and the width of each with its square.
    names: [(&'static str, f64); 4],
    /// Cases of the record, and their titles.
    cases: &'static [(&'static str, &'static str)],
    /// Returns the numbers of a case.
    numbers: fn(&Value, &str) -> Option<Numbers>,
    /// The pixels for one GB/s.
    scale: f64,
    /// The digits after the point.
    digits: usize,
}

const PANELS: [Panel; 2] = [
    // The last two cases are the slowest for Tilewright, and behind other libraries.
    Panel {
        record: "bench/record/amd-epyc-2-cores-2026-11-22-rivals.json",
        title: "GB/s read and written, one thread of a CPU, arrays beyond the caches",
        names: [("Tilewright", 112.0), ("torch", 76.0), ("NumPy", 88.0), ("memcpy", 98.0)],
        cases: &[
            ("row-to-zN-16bit/memory", "rows to Ascend NZ, 16-bit"),
            ("row-to-T8x128-2x1-16bit/memory", "rows to TPU tiles, 16-bit"),
            ("row-to-BA16a64b4a-s8/memory", "rows to oneDNN BA16a64b4a, 8-bit"),
            ("nchw-to-nhwc-f32-256/memory", "NCHW to NHWC, 32-bit"),
            ("transpose-u8-odd/memory", "transpose, odd extents, 8-bit: our slowest case"),
            ("padded-to-row-f32/memory", "rows out of padding, 32-bit: torch and NumPy are faster"),
        ],
        numbers: of_cpu,
        scale: 13.6,
        digits: 1,
    },
    Panel {
        record: "bench/record/nvidia-h100-80gb-hbm3-2026-11-27.json",
        title: "GB/s read and written, NVIDIA H100, in the memory of the device",
        names: [
            ("Tilewright", 112.0),
            ("torch", 76.0),
            ("Inductor", 98.0),
            ("the device's copy", 150.0),
        ],
        cases: &[
            ("row-to-zN-16bit/memory", "rows to Ascend NZ, 16-bit"),
            ("row-to-T8x128-2x1-16bit/memory", "rows to TPU tiles, 16-bit"),
            ("nchw-to-nhwc-f32-256/memory", "NCHW to NHWC, 32-bit"),
            ("transpose-u8-odd/memory", "transpose, odd extents, 8-bit"),
            ("row-to-zN-16bit-ragged/memory", "rows to Ascend NZ, ragged tiles, 16-bit"),
            ("order-520413-f32/memory", "six dims in another order, 32-bit: Inductor is faster"),
        ],
        numbers: of_device,
        scale: 0.17,
        digits: 0,
    },
];

/// The number of threads of the CPU's cases: NumPy has one.
const THREADS: u64 = 1;

const WIDTH: f64 = 640.0;
const LEFT: f64 = 16.0;
const BAR: f64 = 13.0;
const TOP: f64 = 74.0;

/// Colours on a page.
struct Look {
    name: &'static str,
    page: &'static str,
    text: &'static str,
    faint: &'static str,
    /// The colours of the four movers.
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

/// The GB/s of a case.
#[derive(Debug, PartialEq)]
struct Numbers {
    /// Those of the four movers; `None` where one cannot move the case.
    speeds: [Option<f64>; 4],
    /// That of a copy with streaming stores.
    copy: Option<f64>,
}

/// Returns the plot for light and for dark pages.
pub(super) fn svgs(root: &Path) -> Outcome<[(&'static str, String); 2]> {
    let panels = PANELS.iter().map(|panel| Ok((panel, rows(root, panel)?)));
    let panels = panels.collect::<Outcome<Vec<(&Panel, Vec<Numbers>)>>>()?;
    Ok(LOOKS.map(|look| (look.name, svg(&panels, &look))))
}

/// Returns the numbers of a panel's cases.
fn rows(root: &Path, panel: &Panel) -> Outcome<Vec<Numbers>> {
    let file = panel.record;
    let text = fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let record: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let row = |(name, _): &(&str, &str)| {
        (panel.numbers)(&record, name).ok_or_else(|| format!("{file} lacks numbers of {name}"))
    };
    panel.cases.iter().map(row).collect()
}

/// Returns the numbers of a case on a CPU: its own, and those of the libraries.
fn of_cpu(record: &Value, name: &str) -> Option<Numbers> {
    let is_it = |entry: &&Value| entry["name"] == name && entry["threads"] == THREADS;
    let case = record["cases"].as_array()?.iter().find(is_it)?;
    let number = |key: &str| case[key].as_f64();
    let memcpy = number("memcpy_gb_per_s")?;
    let rivals = record["rivals"].as_array()?;
    let share = |rival: &str| {
        let mut entries = rivals.iter().filter(|entry| entry["rival"] == rival);
        entries.find(is_it)?["ratio"].as_f64().map(|ratio| ratio * memcpy)
    };
    let speeds = [number("gb_per_s")?, share("torch")?, share("numpy")?, memcpy].map(Some);
    Some(Numbers { speeds, copy: Some(number("copy_gb_per_s")?) })
}

/// Returns the numbers of a case on a device: all of one process, between the same buffers.
fn of_device(record: &Value, name: &str) -> Option<Numbers> {
    let rivals = record["rivals"].as_array()?;
    let of = |rival: &str| {
        let mut rows = rivals.iter().filter(|row| row["name"] == name && row["rival"] == rival);
        rows.next()?["gb_per_s"].as_f64()
    };
    let speeds = [Some(of("tilewright")?), of("eager"), of("inductor"), Some(of("copy")?)];
    Some(Numbers { speeds, copy: None })
}

fn svg(panels: &[(&Panel, Vec<Numbers>)], look: &Look) -> String {
    let group = 4.0 * BAR + 31.0;
    let height_of = |rows: usize| TOP + group * rows as f64 + 6.0;
    let height: f64 = panels.iter().map(|(_, rows)| height_of(rows.len())).sum();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"system-ui,sans-serif\" font-size=\"15\">\n\
         <title>GB/s of Tilewright, torch, NumPy and memcpy on a CPU, and of Tilewright, torch, Inductor and the device's copy on a GPU</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n",
        look.page
    );
    let mut top = 0.0;
    for (panel, rows) in panels {
        legend(&mut svg, panel, rows, top, look);
        for (at, (row, (_, title))) in rows.iter().zip(panel.cases).enumerate() {
            drawn(&mut svg, (panel, title, row), top + TOP + group * at as f64, look);
        }
        top += height_of(rows.len());
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String, panel: &Panel, rows: &[Numbers], top: f64, look: &Look) {
    let (text, faint) = (look.text, look.faint);
    let (title, base, square) = (panel.title, top + 26.0, top + 40.0);
    _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{base}\" fill=\"{text}\" font-weight=\"600\">{title}</text>"
    );
    let (mut x, base) = (LEFT, top + 52.0);
    for ((name, width), colour) in panel.names.iter().zip(look.bars) {
        let after = x + 20.0;
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{square}\" width=\"14\" height=\"14\" fill=\"{colour}\"/>"
        );
        _ = writeln!(svg, "<text x=\"{after}\" y=\"{base}\" fill=\"{text}\">{name}</text>");
        x += width;
    }
    if rows.iter().any(|row| row.copy.is_some()) {
        _ = writeln!(svg, "<path d=\"M{x} {square}v14\" stroke=\"{faint}\" stroke-width=\"3\"/>");
        _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{base}\" fill=\"{text}\">copy, streaming stores</text>",
            x + 9.0
        );
    }
}

/// Draws a group of bars with its title, each followed by its number.
fn drawn(svg: &mut String, (panel, title, row): (&Panel, &str, &Numbers), top: f64, look: &Look) {
    let (text, faint) = (look.text, look.faint);
    let (title, digits) = (escaped(title), panel.digits);
    _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" fill=\"{text}\">{title}</text>", top + 15.0);
    let top = top + 22.0;
    for (at, (speed, colour)) in row.speeds.iter().zip(look.bars).enumerate() {
        let y = top + BAR * at as f64;
        let base = y + 10.5;
        let Some(speed) = speed else {
            let says = format!("{} does not move it", panel.names[at].0);
            _ = writeln!(
                svg,
                "<text x=\"{LEFT}\" y=\"{base}\" font-size=\"13\" fill=\"{faint}\">{says}</text>"
            );
            continue;
        };
        let width = (speed * panel.scale).max(1.0);
        let end = LEFT + width + 5.0;
        _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"11.5\" fill=\"{colour}\"/>"
        );
        _ = writeln!(
            svg,
            "<text x=\"{end:.1}\" y=\"{base}\" font-size=\"13\" fill=\"{text}\">{speed:.digits$}</text>"
        );
    }
    let Some(copy) = row.copy else { return };
    let (x, down) = (LEFT + copy * panel.scale, 4.0 * BAR - 1.5);
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
        let row = of_cpu(&record, "a").unwrap();
        let speeds = [30.0, 10.0, 5.0, 20.0].map(Some);
        assert_eq!(row, Numbers { speeds, copy: Some(35.0) });
        assert!(of_cpu(&record, "b").is_none());
    }

    #[test]
    fn a_device_has_the_numbers_of_one_process() {
        let row = |rival: &str, speed: f64| json!({"name": "a", "rival": rival, "gb_per_s": speed});
        let record =
            json!({"rivals": [row("tilewright", 3.0), row("copy", 4.0), row("eager", 1.0)]});
        let speeds = [Some(3.0), Some(1.0), None, Some(4.0)];
        assert_eq!(of_device(&record, "a"), Some(Numbers { speeds, copy: None }));
        assert!(of_device(&json!({ "rivals": [] }), "a").is_none());
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
