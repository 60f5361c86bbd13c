//! `show`: prints a layout as a grid, or memory as a line; or two layouts side by side. Pictures can be in colour, or
//! in files.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use tilewright::{
    Named, Spec,
    ask::{Drawn, Look, Shown, title},
    draw::{self, Label, Limits, Scene, Subject},
    files,
    input::expression,
    layouts::LinearLayout,
    notation,
    sharded::is_sharded,
};

use crate::commands::question;
use crate::{
    args::{Colour, Show},
    failure::Failure,
    output::{self, ExitCode, Output},
    spec,
};

pub(super) fn run(args: &Show, out: &mut Output) -> Result<ExitCode, Failure> {
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
    spec.resolve(dims.as_deref(), dtype).err().filter(notation::Error::is_unsupported)?;
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
            std::io::stdout().is_terminal() && set("NO_COLOR").is_none() && !dumb
        }
    }
}

/// Returns the scene with the largest number of columns that fits in `width` characters.
fn fitted(args: &Show, width: usize) -> Result<Scene, Failure> {
    let rows = output::terminal().map(|(_, height)| (height as u64).saturating_sub(8).max(4));
    let usual = Limits { panels: 4, ..Limits::default() };
    let mut limits = Limits { rows: rows.unwrap_or(usual.rows), ..usual };
    loop {
        let scene = scene(args, &limits, true)?;
        let text = scene.to_terminal_within(false, width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        if widest <= width || limits.columns <= 1 {
            return Ok(scene);
        }
        // Margins keep their width, so this may leave out too few columns; the next iteration leaves out more.
        let fewer = limits.columns * width as u64 / widest as u64;
        limits.columns = fewer.clamp(1, limits.columns - 1);
    }
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
        let scene = draw::shards(&question::read(&args.spec)?, limits);
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
    named: &Named,
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
fn subject<'a>(args: &Show, named: &'a Named, on_screen: bool) -> Subject<'a> {
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
