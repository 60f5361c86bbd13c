//! `cargo xtask pictures`: draws the README's pictures: the plot of speed from a record, and the recording of a
//! terminal with the program.
//!
//! The plot reads a file of `bench/record/`, so its numbers are measured; it is drawn for light and for dark pages. The
//! recording runs the program and keeps its output. With `--check` nothing is written: the files must equal the
//! pictures that would be drawn.
//!
//! The plot of speed: bars of GB/s for a few cases, on a CPU next to torch, NumPy and memcpy, and on a CUDA device next
//! to torch, Inductor and the device's own copy.
//!
//! The numbers of a panel are from one record. On a CPU the bar of a library is its ratio to memcpy in its own process,
//! times memcpy in Tilewright's process: ratios can be compared across processes, GB/s cannot.
//!
//! The recording of a terminal: commands are typed, and the program's output appears, in a loop of some seconds.
//!
//! The picture is an animated SVG with CSS alone, which a page can show as an image. With reduced motion, readers see
//! the last frame. The program runs while the recording is made, so the picture shows only its real output.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use serde_json::Value;

use crate::shell::{self, Build, Outcome};

/// The folder of the pictures.
const FOLDER: &str = "docs/readme";

/// Draws all pictures, or compares them. The program is the one at this path, or one that is built.
pub(crate) fn run(root: &Path, check: bool, program: Option<&Path>) -> Outcome {
    let program = match program {
        Some(program) => program.to_path_buf(),
        None => shell::build(root, Build::Debug)?,
    };
    let terminal = recording_svg(&played(root, &program)?);
    let pictures = svgs(root)?.into_iter().chain([("terminal.svg", terminal)]);
    pictures.into_iter().try_for_each(|(name, text)| kept(root, name, &text, check))
}

/// Writes a picture, or returns an error if the file in the folder differs.
fn kept(root: &Path, name: &str, text: &str, check: bool) -> Outcome {
    let file = format!("{FOLDER}/{name}");
    let path = root.join(&file);
    let is_fresh = fs::read_to_string(&path).is_ok_and(|kept| kept == text);
    match (is_fresh, check) {
        (true, _) => Ok(()),
        (false, true) => Err(format!("{file} is out of date; `cargo xtask pictures` draws it")),
        (false, false) => fs::create_dir_all(root.join(FOLDER))
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{file}: {error}")),
    }
}

/// Escapes a text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

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
fn svgs(root: &Path) -> Outcome<[(&'static str, String); 2]> {
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

/// Files of the corpus that the commands use, and their names in the recording.
const FILES: [(&str, &str); 2] =
    [("tiny_gptq.safetensors", "gptq.safetensors"), ("tiny_conv.npy", "conv.npy")];

/// The commands, each as it is typed. A line that ends in `\` continues in the next.
const COMMANDS: [&str; 5] = [
    "tilewright convert gptq.safetensors marlin.safetensors --verify \\\n    --tensor '*qweight' --from GPTQ --dtype u4 --to MARLIN --store s32",
    "tilewright info marlin.safetensors | head -1",
    "tilewright convert conv.npy raw:unknown.bin --to nChw16c",
    "tilewright infer --original conv.npy --packed unknown.bin",
    "tilewright show 'f16[4,6] row-major' 'zN[M0=2,C0=3]' --tiles --color always \\\n    | sed -n 4,13p",
];

/// Seconds: of a key, before the output appears, after it, and of the last frame.
const KEY: f64 = 0.016;
const ANSWER: f64 = 0.3;
const PAUSE: f64 = 0.9;
const END: f64 = 3.5;

const COLUMN: f64 = 8.43;
const ROW: f64 = 19.0;
const MARGIN: f64 = 16.0;
const PAPER: &str = "#161b22";

/// A command with its output.
struct PictureStep {
    typed: String,
    printed: String,
}

/// Runs the commands in a temporary folder.
fn played(root: &Path, program: &Path) -> Outcome<Vec<PictureStep>> {
    let folder = std::env::temp_dir().join(format!("tilewright-recording-{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let copied = FILES.iter().try_for_each(|(from, to)| {
        fs::copy(root.join("corpus/data").join(from), folder.join(to)).map(|_| ())
    });
    let steps = copied
        .map_err(failed)
        .and_then(|()| COMMANDS.iter().map(|command| step(&folder, program, command)).collect());
    fs::remove_dir_all(&folder).map_err(failed)?;
    steps
}

/// Runs one command in a shell that finds the program under its name.
fn step(folder: &Path, program: &Path, typed: &str) -> Outcome<PictureStep> {
    let bin = program.parent().unwrap_or(program).to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-euc", typed]).current_dir(folder).env("PATH", format!("{bin}:{path}"));
    // Lines are cut on a terminal, not in a pipe.
    shell.env("COLUMNS", "100");
    let output = shell.output().map_err(|error| format!("sh: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{typed}` failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(PictureStep { typed: typed.into(), printed: String::from_utf8_lossy(&output.stdout).into() })
}

/// The times and positions of the parts drawn so far.
struct Screen {
    /// Seconds from the start.
    now: f64,
    row: usize,
    body: String,
    style: String,
}

/// Returns the recording as an SVG.
fn recording_svg(steps: &[PictureStep]) -> String {
    let rows: usize =
        steps.iter().map(|step| step.typed.lines().count() + step.printed.lines().count()).sum();
    let columns = steps.iter().flat_map(|step| step.typed.lines().chain(step.printed.lines()));
    let columns = columns
        .map(|line| spans(line).iter().map(|span| span.1.chars().count()).sum::<usize>() + 2);
    let (width, height) = (
        2.0 * MARGIN + COLUMN * columns.max().unwrap_or_default() as f64,
        2.0 * MARGIN + ROW * rows as f64,
    );
    let mut screen = Screen { now: 0.5, row: 0, body: String::new(), style: String::new() };
    let last: f64 = steps.iter().map(lasts).sum::<f64>() + screen.now + END;
    for step in steps {
        screen.play(step, last);
    }
    // It begins with the last frame, which is all that a page without animations shows.
    let (style, body, shown) = (screen.style, screen.body, last - 2.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" viewBox=\"0 0 {width:.0} {height}\" role=\"img\">\n\
         <title>A terminal: 4-bit weights repacked for Marlin and back, an unknown buffer identified, a tiled format drawn</title>\n\
         <style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#e6edf3;white-space:pre}}\
         g,.c{{animation:{last:.1}s infinite step-end -{shown:.1}s}}{style}\
         @media (prefers-reduced-motion:reduce){{*{{animation:none!important}}.c{{display:none}}}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n{body}</svg>\n"
    )
}

/// Returns the seconds of a step.
fn lasts(step: &PictureStep) -> f64 {
    step.typed.chars().count() as f64 * KEY + ANSWER + PAUSE
}

impl Screen {
    /// Types a command, then shows its output.
    fn play(&mut self, step: &PictureStep, last: f64) {
        for (at, line) in step.typed.lines().enumerate() {
            let prompt = if at == 0 { "$ " } else { "  " };
            self.typed(&format!("{prompt}{}", line.trim_start()), last);
        }
        self.now += ANSWER;
        let name = format!("p{}", self.row);
        self.appears(&name, last);
        _ = writeln!(self.body, "<g style=\"animation-name:{name}\">");
        step.printed.lines().for_each(|line| self.line(line));
        self.body += "</g>\n";
        self.now += PAUSE;
    }

    /// Draws a line under a cover that moves to the right, key by key.
    fn typed(&mut self, line: &str, last: f64) {
        let (keys, name) = (line.chars().count(), format!("t{}", self.row));
        self.appears(&name, last);
        let (from, y) = (self.now / last * 100.0, MARGIN + ROW * self.row as f64);
        self.now += keys as f64 * KEY;
        let (to, width) = (self.now / last * 100.0, COLUMN * (keys + 1) as f64);
        _ = write!(
            self.style,
            "@keyframes c{name}{{0%,{from:.2}%{{transform:none;animation-timing-function:steps({keys})}}{to:.2}%,100%{{transform:translateX({width:.0}px);visibility:hidden}}}}"
        );
        _ = writeln!(self.body, "<g style=\"animation-name:{name}\">");
        self.line(line);
        _ = writeln!(
            self.body,
            "<rect class=\"c\" style=\"animation-name:c{name}\" x=\"{MARGIN}\" y=\"{y}\" width=\"{width:.0}\" height=\"{ROW}\" fill=\"{PAPER}\"/></g>"
        );
    }

    /// Defines a group that is hidden until now.
    fn appears(&mut self, name: &str, last: f64) {
        let at = self.now / last * 100.0;
        _ = write!(self.style, "@keyframes {name}{{0%{{opacity:0}}{at:.2}%{{opacity:1}}}}");
    }

    fn line(&mut self, line: &str) {
        let top = MARGIN + ROW * self.row as f64;
        let mut column = 0;
        let mut text = String::new();
        for (colour, part) in spans(line) {
            let (x, count) = (MARGIN + COLUMN * column as f64, part.chars().count());
            match colour {
                None => _ = write!(text, "<tspan x=\"{x:.1}\">{}</tspan>", escaped(part)),
                Some(colour) => {
                    let width = COLUMN * count as f64;
                    _ = write!(
                        self.body,
                        "<rect x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{ROW}\" fill=\"{}\"/>",
                        rgb(colour)
                    );
                    _ = write!(text, "<tspan x=\"{x:.1}\" fill=\"#000\">{}</tspan>", escaped(part));
                }
            }
            column += count;
        }
        _ = writeln!(self.body, "<text y=\"{}\">{text}</text>", top + 14.0);
        self.row += 1;
    }
}

/// Splits a line into parts with their background colours, of the 256 of a terminal.
fn spans(line: &str) -> Vec<(Option<u8>, &str)> {
    let mut parts = line.split("\u{1b}[");
    let plain = parts.next().into_iter().map(|part| (None, part));
    let coloured = parts.filter_map(|part| {
        let (code, rest) = part.split_once('m')?;
        let colour = code.split_once("48;5;").and_then(|(_, n)| n.split(';').next()?.parse().ok());
        Some((colour, rest))
    });
    plain.chain(coloured).filter(|(_, part)| !part.is_empty()).collect()
}

/// Returns a colour of the cube of 6 × 6 × 6, or of the greys.
fn rgb(colour: u8) -> String {
    let [r, g, b] = match colour {
        16..=231 => {
            let level = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
            [(colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6].map(level)
        }
        232.. => [8 + 10 * (colour - 232); 3],
        _ => [128; 3],
    };
    format!("#{r:02x}{g:02x}{b:02x}")
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
        let root = shell::root();
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
        let root = shell::root();
        for (name, text) in svgs(&root).unwrap() {
            kept(&root, name, &text, true).unwrap();
        }
    }

    #[test]
    fn colours_are_read_from_the_codes_of_a_terminal() {
        let line = "a\u{1b}[30;48;5;153m 0 \u{1b}[0m|";
        assert_eq!(spans(line), [(None, "a"), (Some(153), " 0 "), (None, "|")]);
        assert_eq!(
            [rgb(16), rgb(153), rgb(231), rgb(232)],
            ["#000000", "#afd7ff", "#ffffff", "#080808"]
        );
    }

    #[test]
    fn what_is_printed_appears_after_its_command_was_typed() {
        let step = PictureStep { typed: "a <b>".into(), printed: "1\n2\n".into() };
        let svg = recording_svg(&[step]);
        assert!(
            svg.contains("$ a &lt;b&gt;") && svg.contains(">1<") && svg.contains(">2<"),
            "{svg}"
        );
        let at = |name: &str| {
            let rest = svg.split_once(&format!("@keyframes {name}{{0%{{opacity:0}}")).unwrap().1;
            rest.split_once('%').unwrap().0.parse::<f64>().unwrap()
        };
        assert!(at("t0") < at("p1"), "{svg}");
    }
}
