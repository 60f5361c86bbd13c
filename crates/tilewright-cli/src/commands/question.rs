//! Questions about layouts and expressions, and about arrays in shards: the elements that each device holds, of a single
//! array or of one on each line; `show`, which prints a layout as a grid or as memory; and the commands for authors of
//! kernels.
//!
//! `explain`, `index`, `same`, `translate`, `recognise` and `formats` make a question from the arguments and print its
//! answer. `eval` evaluates expressions of the layout algebra. Standard input has one text on each line.
//!
//! `banks` finds bank conflicts of shared memory and the least change that removes them. `emit` prints a layout as code, or a move
//! between two layouts as kernels. `show` prints one layout or two side by side, in colour or in files too.

use std::{
    fmt,
    io::{self, BufRead, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tilewright::{
    Error, InShards, ResolvedLayout, Spec,
    ask::{
        Answer, BankConflicts, Drawn, Example, Explanation, Formats, Line, Look, Question,
        ShardsLine, Shown, TabledExplanation, title,
    },
    banks,
    device::Kernel,
    draw::{self, Label, Limits, Scene, Subject},
    emit::{Kernels, Runtime, Style, Width, digits, language},
    eval::MAX_TEXT,
    files::{self, FileLists},
    input::{Array, expression},
    layouts::LinearLayout,
    notation::notation,
    sharded::is_sharded,
};

use crate::{
    args::{
        self, Banks, Colour, Emit, Eval, Explain, Index, Recognise, Same, Shards, Show, Translate,
    },
    failure::Failure,
    output::{self, ExitCode, Output},
    spec,
};

pub(super) fn explain(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    let tabled = args.array.read()?.array_layout("spec", &args.spec, &FileLists::default())?;
    if tabled.has_tables() {
        return Ok(out.say(&TabledExplanation::of(&tabled))?);
    }
    let explained = Explanation::of(tabled.stored());
    Ok(out.say(&Explained { explained, all: args.all })?)
}

/// Explanation with a hint about the option that prints all of it.
struct Explained {
    explained: Explanation,
    /// True to print all of it.
    all: bool,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.explained)
    }
}

impl Answer for Explained {
    fn to_json(&self) -> Value {
        self.explained.to_json()
    }

    fn within(&self, width: usize) -> String {
        if self.all {
            return self.explained.whole(width);
        }
        let folds = self.explained.notations.iter().any(|(_, text)| text.is_err());
        let hint = if folds {
            format!("  {:17}{}\n", "", "--all gives each reason")
        } else {
            String::new()
        };
        self.explained.within(width) + &hint
    }
}

pub(super) fn recognise(args: &Recognise, out: &mut Output) -> Result<ExitCode, Failure> {
    ask(&Question::Recognise(args.array.read()?.layout("spec", &args.spec)?), out)
}

pub(super) fn index(args: &Index, out: &mut Output) -> Result<ExitCode, Failure> {
    let of = args.array.read()?.array_layout("spec", &args.spec, &FileLists::default())?;
    let question = match (&args.coord, args.offset) {
        (Some(coord), _) => Question::Offset { of, coord: spec::integers("coord", coord)? },
        (None, Some(offset)) => Question::Contents { of, offset },
        (None, None) => return Err(Failure::usage("give --coord or --offset")),
    };
    ask(&question, out)
}

pub(super) fn same(args: &Same, out: &mut Output) -> Result<ExitCode, Failure> {
    let [a, b] = args.array.read()?.array_layouts(&args.a, &args.b, &FileLists::default())?;
    ask(&Question::Same(a, b), out)
}

/// A layout that the notation cannot express is an answer, not a usage error.
pub(super) fn translate(args: &Translate, out: &mut Output) -> Result<ExitCode, Failure> {
    let to = notation(&args.to).map_err(|error| Failure::of(error).about("--to"))?;
    let of = args.array.read()?.layout("spec", &args.spec)?;
    let answer = Question::Translate { of, to }.answer().map_err(Failure::no)?;
    Ok(out.say(&*answer)?)
}

pub(super) fn formats(args: &args::Formats, out: &mut Output) -> Result<ExitCode, Failure> {
    let Some(word) = &args.name else { return ask(&Question::Formats, out) };
    let found = Formats { word: word.clone() };
    match Example::of(word) {
        Err(_) if !found.is_no() => Ok(out.say(&found)?),
        example => {
            let hint = "; `tilewright formats` lists all names";
            Ok(out.say(&example.map_err(|error| Failure::of(error).with_hint(hint))?)?)
        }
    }
}

/// Prints the answer of a question.
pub(super) fn ask(question: &Question, out: &mut Output) -> Result<ExitCode, Failure> {
    Ok(out.say(&*question.answer()?)?)
}

pub(super) fn eval(args: &Eval, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.expr.as_deref() {
        None => ask(&Question::Functions, out),
        Some("-") => batch(&mut io::stdin().lock(), out),
        Some(text) => ask(&Question::Eval(text.to_owned()), out),
    }
}

/// Prints one answer for each line; an empty line has an empty answer.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = next(input, "an expression", MAX_TEXT)? {
        let answer = line.map_or_else(|why| Line::unread(&why), |text| Line::of(&text));
        failed |= answer.is_no();
        out.say(&answer)?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}

/// Returns the next line without its end, or the reason why it is not a text; `None` after the last line. A line of more than
/// `most` bytes is skipped, not stored. `what` describes a line in messages.
pub(super) fn next(
    input: &mut impl BufRead,
    what: &str,
    most: usize,
) -> io::Result<Option<Result<String, String>>> {
    let too_long = || format!("{what} of more than {most} bytes of text");
    // One byte more than is legal, and the line end.
    let longest = most as u64 + 2;
    let mut bytes = Vec::new();
    let read = input.by_ref().take(longest).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && read as u64 == longest {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(too_long())));
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.len() > most {
        return Ok(Some(Err(too_long())));
    }
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("byte {} of the line is not UTF-8", error.valid_up_to()));
    Ok(Some(text.map(str::to_owned)))
}

pub(super) fn shards(args: &Shards, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.spec.as_str() {
        "-" => batch_of_shards(&mut io::stdin().lock(), out),
        text => ask(&Question::Shards(read(text)?), out),
    }
}

/// Explains a sharding, if the text is one.
pub(super) fn explain_shards(
    args: &Explain,
    out: &mut Output,
) -> Option<Result<ExitCode, Failure>> {
    let asked = || ask(&Question::ExplainShards(read(&args.spec)?), out);
    is_sharded(&args.spec).then(asked)
}

/// Prints a sharding in another notation, if the text is one.
pub(super) fn translate_shards(
    args: &Translate,
    out: &mut Output,
) -> Option<Result<ExitCode, Failure>> {
    let asked = || {
        let question = Question::TranslateShards { of: read(&args.spec)?, to: args.to.clone() };
        // A sharding that the notation cannot express is an answer; an unknown name of a notation is a usage error.
        let refused = |error: Error| match error.kind() {
            "parse" => Failure::of(error).about("--to"),
            _ => Failure::no(error),
        };
        let answer = question.answer().map_err(refused)?;
        Ok(out.say(&*answer)?)
    };
    is_sharded(&args.spec).then(asked)
}

pub(super) fn read(text: &str) -> Result<InShards, Error> {
    InShards::parse(text).map_err(|error| error.in_field("spec"))
}

/// Prints one object for each line, also for an empty line.
fn batch_of_shards(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = next(input, "an array in shards", tilewright::sharded::MAX_TEXT)? {
        let answer = line.map_or_else(|why| ShardsLine::unread(&why), |text| ShardsLine::of(&text));
        failed |= answer.is_no();
        out.object(answer.to_json())?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}

// Commands for authors of kernels: `banks` and `emit`.

pub(super) fn banks(args: &Banks, out: &mut Output) -> Result<ExitCode, Failure> {
    let layout = args.array.read()?.layout("spec", &args.spec)?;
    let machine = banks::machine(&args.banks)?;
    let accesses: Vec<&str> = args.access.iter().map(String::as_str).collect();
    let report = BankConflicts::of(&layout, &accesses, args.vector, &machine, args.fix)?;
    if let Some(place) = &args.svg {
        let scene = draw::conflicts(&report, &Limits::default());
        files::write(place, scene.to_svg().as_bytes(), args.force)?;
    }
    let picture = args.draw.then(|| {
        let limits = Limits { rows: 12, columns: 8, ..Limits::default() };
        draw::conflicts(&report, &limits).to_terminal_within(false, output::width())
    });
    Ok(out.say(&Report { report, all: args.all, picture })?)
}

/// Report with the options of its printing.
struct Report {
    report: BankConflicts,
    /// True to print complete lists.
    all: bool,
    /// The picture after the report.
    picture: Option<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.report(self.all))?;
        match &self.picture {
            Some(picture) => write!(f, "\n{picture}"),
            None => Ok(()),
        }
    }
}

impl Answer for Report {
    fn to_json(&self) -> Value {
        self.report.to_json()
    }

    fn is_no(&self) -> bool {
        self.report.is_no()
    }
}

pub(super) fn emit(args: &Emit, out: &mut Output) -> Result<ExitCode, Failure> {
    if let Some(target) = &args.target {
        return moved(args, target, out);
    }
    let language = language(&args.to)?;
    let known: Vec<&str> = args.assume.iter().map(String::as_str).collect();
    let digits = digits(&args.spec, args.dims.as_deref(), args.dtype.as_deref(), &known)?;
    let made = if args.inverse { digits.coord() } else { digits.offset() };
    let function = made?;
    let bits = if args.bits.as_deref() == Some("32") { Width::Bits32 } else { Width::Bits64 };
    let style = Style { name: args.name.clone(), bits };
    let code = function.print(language, &style)?;
    let value = json!({
        "language": language.name(), "inverse": args.inverse, "arguments": function.arguments(),
        "operations": function.operations(), "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints kernels that move an array to the layout `target`.
fn moved(args: &Emit, target: &str, out: &mut Output) -> Result<ExitCode, Failure> {
    let runtime: Runtime = args.to.parse()?;
    if args.inverse || !args.assume.is_empty() || args.bits.is_some() {
        let says = "--inverse, --assume and --bits are about functions of one SPEC, not about kernels; \
                    those take numbers as wide as they need";
        return Err(Failure::usage(says));
    }
    let is_number = |dim: &str| dim.trim().parse::<u64>().is_ok();
    let named = args.dims.iter().flat_map(|dims| dims.split(',')).find(|dim| !is_number(dim));
    if let Some(name) = named {
        let says = format!(
            "--dims: kernels need numbers, such as 4096,4096, not {name:?}; named extents are for functions of one SPEC"
        );
        return Err(Failure::usage(says));
    }
    let array = Array::read(args.dims.as_deref(), args.dtype.as_deref())?;
    let [from, to] = array.array_layouts(&args.spec, target, &FileLists::default())?;
    let kernels = Kernels::between(&from, &to)?;
    let code = kernels.print(runtime, args.name.as_deref())?;
    let one = |kernel: &Kernel| {
        json!({
            "way": kernel.way().name(), "blocks": kernel.blocks(), "threads": kernel.threads(),
            "shared": kernel.shared(),
        })
    };
    let all: Vec<_> = kernels.kernels().iter().map(one).collect();
    let (src, dst) = kernels.bytes();
    let value = json!({
        "language": runtime.name(), "kernels": all, "src_bytes": src, "dst_bytes": dst, "code": code,
    });
    out.answer(&code, value)?;
    Ok(ExitCode::SUCCESS)
}

// `show`: a layout as a grid, or memory as a line.

pub(super) fn show(args: &Show, out: &mut Output) -> Result<ExitCode, Failure> {
    if wanted(args, out) {
        run_drawn(args, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (array, look) = (args.array.read()?, look(args));
    let shown = match &args.other {
        None => Shown::one(&array.layout("spec", &args.spec)?, &look)?,
        Some(other) => {
            let [a, b] = array.layouts(&args.spec, other)?;
            Shown::two(&a, &b, &look)?
        }
    };
    Ok(out.say(&shown)?)
}

fn look(args: &Show) -> Look {
    let look =
        Look { memory: args.memory, tiles: args.tiles, limits: output::text(), ..Look::default() };
    look.labelled(args.names, args.numbers)
}

/// Printer of a scene.
type Print = fn(&Scene) -> String;

/// The path of a picture that means stdout.
const STDOUT: &str = "-";

/// Returns whether a picture is wanted: a file, a kind of picture that plain text lacks, or colours.
pub(super) fn wanted(args: &Show, out: &Output) -> bool {
    let files = [&args.svg, &args.html, &args.tikz].into_iter().any(Option::is_some);
    let kinds = args.threads.is_some() || args.tile.is_some() || args.banks.is_some();
    let plain = args.memory || args.names || args.numbers || out.is_json();
    let no_array = || map(&args.spec).is_some() || shared(args).is_some() || is_sharded(&args.spec);
    let kinds = kinds || args.devices || args.other.is_none() && no_array();
    files || kinds || args.color == Colour::Always || (!plain && coloured(args))
}

/// Draws the picture into the requested files, or on stdout.
pub(super) fn run_drawn(args: &Show, out: &mut Output) -> Result<(), Failure> {
    let wanted: [(&Option<PathBuf>, Print); 3] =
        [(&args.svg, Scene::to_svg), (&args.html, Scene::to_html), (&args.tikz, Scene::to_tikz)];
    let wanted = wanted.into_iter().filter_map(|(place, print)| Some((place.as_deref()?, print)));
    let (here, there): (Vec<_>, Vec<_>) =
        wanted.partition(|(place, _)| place.as_os_str() == STDOUT);
    if here.len() > 1 {
        return Err(Failure::usage("stdout takes one picture; name files for the others"));
    }
    if let Some(place) = twice(there.iter().map(|(place, _)| *place)) {
        let place = place.display();
        let says = format!("{place} would be written twice; name a file for each picture");
        return Err(Failure::usage(says));
    }
    let on_screen = here.is_empty() && there.is_empty();
    let (coloured, width) = (coloured(args) && !out.is_json(), output::width());
    let scene = match on_screen {
        true => fitted(args, width)?,
        false => scene(args, &Limits::default(), false)?,
    };
    for (place, print) in &there {
        files::write(place, print(&scene).as_bytes(), args.force)?;
    }
    let text = match (here.first(), there.is_empty()) {
        (Some((_, print)), _) => Some(print(&scene)),
        (None, true) => Some(scene.to_terminal_within(coloured, width)),
        (None, false) => None,
    };
    let files = there.iter().map(|(place, _)| place.to_string_lossy().into_owned()).collect();
    let drawn = Drawn::of(&scene, files, text);
    if drawn.picture.is_some() || out.is_json() {
        out.say(&drawn)?;
    }
    Ok(())
}

/// Returns the expression in a text, if it is a map that is not a layout of an array but has a picture.
fn map(text: &str) -> Option<&str> {
    let text = match expression(text) {
        None if Spec::parse(text).is_err() => text,
        found => found?,
    };
    draw::is_map(text).then_some(text)
}

/// Returns the map of a layout that spreads an array over threads so that several hold one element. Such a layout lacks a grid of
/// offsets.
fn shared(args: &Show) -> Option<LinearLayout> {
    let spec = Spec::parse(&args.spec).ok()?;
    let array = args.array.read().ok()?;
    let (dims, dtype) = (array.dims, array.dtype);
    spec.resolve(dims.as_deref(), dtype).err().filter(Error::is_unsupported)?;
    spec.distribution(dims.as_deref(), dtype).ok()?
}

/// Returns the first path that occurs twice.
fn twice<'a>(places: impl Iterator<Item = &'a Path> + Clone) -> Option<&'a Path> {
    places
        .clone()
        .enumerate()
        .find(|(at, place)| places.clone().take(*at).any(|x| x == *place))
        .map(|found| found.1)
}

/// Returns whether text on stdout has colours.
fn coloured(args: &Show) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match args.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let dumb = set("TERM").is_none_or(|terminal| terminal == "dumb");
            io::stdout().is_terminal() && set("NO_COLOR").is_none() && !dumb
        }
    }
}

/// Returns the scene with the largest number of columns that fits in `width` characters.
fn fitted(args: &Show, width: usize) -> Result<Scene, Failure> {
    let rows = output::terminal().map(|(_, height)| (height as u64).saturating_sub(8).max(4));
    let usual = Limits { panels: 4, ..Limits::default() };
    let limits = Limits { rows: rows.unwrap_or(usual.rows), ..usual };
    Scene::fitted(width, limits, |limits| scene(args, limits, true))
}

/// Returns the scene for the arguments, for a screen or for files.
fn scene(args: &Show, limits: &Limits, on_screen: bool) -> Result<Scene, Failure> {
    if let Some(other) = &args.other {
        let [a, b] = args.array.read()?.layouts(&args.spec, other)?;
        let [a, b] = [&a, &b].map(|named| subject(args, named, on_screen));
        return Ok(draw::conversion(&a, &b, limits)?);
    }
    let plain = args.threads.is_none() && args.tile.is_none() && args.banks.is_none();
    if plain && is_sharded(&args.spec) {
        let scene = draw::shards(&read(&args.spec)?, limits);
        return Ok(Scene { title: args.spec.trim().to_owned(), ..scene });
    }
    if args.devices {
        let legal = "ARRAY @ SHARDING, such as 'f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]'";
        return Err(Failure::usage(format!("--devices draws an array in shards: {legal}")));
    }
    let drawn = expression(&args.spec).or_else(|| map(&args.spec));
    if let Some(text) = drawn.filter(|_| plain && !args.memory) {
        let before = args.spec.len() - text.len();
        let scene = draw::expression(text, limits);
        if let Some(scene) = scene.map_err(|error| Failure::of(error.shifted(before)))? {
            return Ok(scene);
        }
    }
    if let Some(map) = shared(args).filter(|_| plain && !args.memory) {
        return Ok(draw::distribution(&map, limits)?);
    }
    let named = args.array.read()?.layout("spec", &args.spec)?;
    of_one(args, &named, &subject(args, &named, on_screen), limits)
}

/// Returns the requested kind of picture of one layout.
fn of_one(
    args: &Show,
    named: &ResolvedLayout,
    subject: &Subject<'_>,
    limits: &Limits,
) -> Result<Scene, Failure> {
    if let Some(threads) = args.threads {
        let capacity = named.layout().capacity();
        let values = args.values.unwrap_or(capacity.checked_div(threads).unwrap_or(0));
        return Ok(draw::fragment(subject, threads, values, limits)?);
    }
    if let Some(tile) = &args.tile {
        let tile = spec::integers("tile", tile)?;
        return Ok(draw::owners(named.layout().layout(), &tile, limits)?);
    }
    Ok(match args.banks {
        Some(vector) => {
            let access = draw::access(named, vector);
            let access = access.map_err(|refused| Failure::of(refused).about("--banks"))?;
            draw::banks(subject, &access, limits)?
        }
        None if args.memory => draw::memory(subject, limits)?,
        None => draw::grid(subject, limits)?,
    })
}

/// Returns a layout with the requested contents of its cells. On a screen, if plain text has a picture of it too, the subject has
/// the title of that picture and a border round every cell.
fn subject<'a>(args: &Show, named: &'a ResolvedLayout, on_screen: bool) -> Subject<'a> {
    let mut subject = draw::subject(named);
    let plain = on_screen && args.threads.is_none() && args.banks.is_none();
    if plain {
        subject = subject.named(title(named));
    }
    if plain && !args.tiles {
        subject = subject.boxed();
    }
    match (args.names, args.numbers) {
        (true, _) => subject.labelled(Label::Names),
        (false, true) => subject.labelled(Label::Numbers),
        (false, false) => subject,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_kind() {
        const MOST: usize = 16384;
        let (long, fits) = ("1".repeat(MOST + 2), "1".repeat(MOST));
        let text = [b"a\r\n\n\xff\n", long.as_bytes(), b"\n", fits.as_bytes(), b"\nlast"].concat();
        let (mut input, mut lines) = (&text[..], Vec::new());
        while let Some(line) = next(&mut input, "an expression", MOST).unwrap() {
            // A long text is replaced by its length.
            lines.push(match line {
                Ok(text) if text.len() > 9 => text.len().to_string(),
                Ok(text) => text,
                Err(message) => format!("!{}", &message[..7]),
            });
        }
        assert_eq!(lines, ["a", "", "!byte 0 ", "!an expr", "16384", "last"]);
    }
}
