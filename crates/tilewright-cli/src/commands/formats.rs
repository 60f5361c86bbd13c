//! `formats`: the catalogue of named formats.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tilewright::{
    Explanation, Named, Spec,
    json::format as value,
    notation::{Constant, Format, Width, catalogue},
    picture::{Cells, Limits, Picture},
};

use crate::{args::Formats, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Formats, out: &mut Output) -> Result<ExitCode, Failure> {
    match &args.name {
        None => list(out)?,
        Some(name) => one(name, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(out: &mut Output) -> Result<(), Failure> {
    let width = catalogue().map(|format| format.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for format in catalogue() {
        let _ = write!(text, "{:width$}  {}", format.name, patterns(format).join("; "));
        for constant in format.constants {
            let _ = write!(text, "  {}", constant_words(constant));
        }
        if format.leading {
            text += "  LD";
        }
        if !format.aliases.is_empty() {
            let _ = write!(text, "  = {}", format.aliases.join(", "));
        }
        text.push('\n');
    }
    let formats: Vec<Value> = catalogue().map(value).collect();
    Ok(out.answer(&text, json!({ "formats": formats }))?)
}

fn one(name: &str, out: &mut Output) -> Result<(), Failure> {
    let format = find(name)?;
    let example = example(format)?;
    let mut text = format!("{}\n", format.name);
    let mut line = |title: &str, words: &str| {
        let _ = writeln!(text, "  {title:<10} {words}");
    };
    if !format.aliases.is_empty() {
        line("aliases", &format.aliases.join(", "));
    }
    patterns(format).iter().for_each(|pattern| line("pattern", pattern));
    for constant in format.constants {
        line("constant", &constant_words(constant));
        for preset in constant.presets {
            let words = units(preset.units);
            line(
                "",
                &format!("{}[preset={}]: {words} ({})", format.name, preset.name, preset.source),
            );
        }
    }
    if format.leading {
        line("parameter", "LD, the stride of the outermost digit, in elements");
    }
    line("source", format.source);
    let _ = write!(text, "\nFor example ");
    text += &Explanation::of(&example).to_string();
    let limits = Limits { width: 100, rows: 16, panels: 1, ..Limits::default() };
    let picture = Picture::new(example.layout(), example.fill()).within(limits);
    let _ = write!(text, "\n{}", picture.grid(Cells::Offsets));
    Ok(out.answer(&text, value(format))?)
}

/// The pattern, or that of each width of elements that there is one for.
fn patterns(format: &Format) -> Vec<String> {
    if format.widths.is_empty() {
        return vec![format.pattern.to_owned()];
    }
    let one = |width: &Width| format!("{} (of {} bits)", width.pattern, width.bits);
    format.widths.iter().map(one).collect()
}

/// The format of this name; the parser of layouts knows what is near to a wrong one.
fn find(name: &str) -> Result<&'static Format, Failure> {
    let exact = |format: &&Format| format.name == name || format.aliases.contains(&name);
    if let Some(format) = catalogue().find(exact) {
        return Ok(format);
    }
    match Spec::parse(&format!("format:{name}")) {
        // Its span counts from the prefix, which nobody typed.
        Err(error) => Err(Failure::usage(error.to_string())),
        Ok(_) => {
            Err(Failure::usage(format!("{name} has parameters; give the format's name alone")))
        }
    }
}

fn example(format: &Format) -> Result<Named, Failure> {
    let spec = Spec::parse(format.example).and_then(|spec| spec.resolve(None, None));
    spec.map_err(|error| Failure::of(error).about("example"))
}

fn constant_words(constant: &Constant) -> String {
    if constant.units.is_empty() {
        format!("{} given", constant.name)
    } else {
        format!("{} = {}", constant.name, units(constant.units))
    }
}

/// "32 for 8 bits, 16 for 16 bits".
fn units(units: &[tilewright::notation::Units]) -> String {
    let words = units.iter().map(|one| format!("{} for {} bits", one.units, one.bits));
    words.collect::<Vec<_>>().join(", ")
}
