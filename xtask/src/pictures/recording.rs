//! The recording of a terminal: commands are typed, and the program's output appears, in a loop of some seconds.
//!
//! The picture is an animated SVG with CSS alone, which a page can show as an image. With reduced motion, readers see
//! the last frame. The program runs while the recording is made, so the picture shows only its real output.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use super::escaped;
use crate::shell::Outcome;

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
pub(super) struct Step {
    typed: String,
    printed: String,
}

/// Runs the commands in a temporary folder.
pub(super) fn played(root: &Path, program: &Path) -> Outcome<Vec<Step>> {
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
fn step(folder: &Path, program: &Path, typed: &str) -> Outcome<Step> {
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
    Ok(Step { typed: typed.into(), printed: String::from_utf8_lossy(&output.stdout).into() })
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
pub(super) fn svg(steps: &[Step]) -> String {
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
fn lasts(step: &Step) -> f64 {
    step.typed.chars().count() as f64 * KEY + ANSWER + PAUSE
}

impl Screen {
    /// Types a command, then shows its output.
    fn play(&mut self, step: &Step, last: f64) {
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
    use super::*;

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
        let step = Step { typed: "a <b>".into(), printed: "1\n2\n".into() };
        let svg = svg(&[step]);
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
