//! Questions about files.
//!
//! | command | what it does |
//! |---|---|
//! | `fingerprint`, `same-data` | compare the data of files in any layouts |
//! | `info` | lists the tensors of a file, or the arrays of an HLO module |
//! | `infer` | finds the layout that maps one file's array to another file's bytes |
//! | `recipe` | prints a recipe, checks whether it fits a checkpoint, and lists the shipped recipes |

use tilewright::{
    Error, Remedy, ResolvedLayout, TensorLayout,
    ask::{
        Guesses, Inferred, Info, Known, ModuleInfo, Printed, RecipeFit, RecipeShown, Recipes,
        SameData,
    },
    files::{self, Assembling, Collection, Input, Key, Reading, Tensor, has_prefix, same_data},
    layouts::Counted,
    module,
    recipe::{self, Recipe, guess},
};

use super::{convert, reshard::shards};
use crate::{
    args::{self, AskRecipe, CheckRecipe, Infer, ShowRecipe},
    failure::{Failure, option},
    output::{ExitCode, Output},
    progress::Bar,
    spec, streams,
};

pub(super) fn fingerprint(
    args: &args::Fingerprint,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (key, reading) = (key(&args.data)?, reading(&args.data)?);
    let [found] = shards([&*args.file], &args.data.shards)?;
    let all = found.map_or_else(|| Collection::open_as(&args.file, &reading), Ok)?;
    all.warnings().for_each(|warning| out.remark(&warning));
    let silent = all.arrays() > 0;
    let tensors = read_as(all.only(&args.tensor)?, &reading, silent)?;
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(tensors.fingerprints(&key, &bar))?;
    Ok(out.say(&Printed { key, found })?)
}

pub(super) fn same(
    args: &args::SameData,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (key, reading) = (key(&args.data)?, reading(&args.data)?);
    let (a, b) = match shards([&*args.a, &*args.b], &args.data.shards)? {
        [None, None] => Collection::open_both(&args.a, &args.b, &reading)?,
        [a, b] => (
            a.map_or_else(|| Collection::open_as(&args.a, &reading), Ok)?,
            b.map_or_else(|| Collection::open_as(&args.b, &reading), Ok)?,
        ),
    };
    a.warnings().chain(b.warnings()).for_each(|warning| out.remark(&warning));
    let silent = a.arrays() + b.arrays() > 0;
    let (a, b) = a.only_of(b, &args.tensor)?;
    let (a, b) = (read_as(a, &reading, silent)?, read_as(b, &reading, silent)?);
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(same_data(&a, &b, &key, &bar))?;
    Ok(out.say(&SameData(found))?)
}

/// Returns how to read tensors whose files do not describe them.
fn reading(data: &args::Data) -> Result<Reading, Failure> {
    let reading = data.array.reading()?;
    let from = data.from.as_deref().map(|from| spec::read("--from", from)).transpose()?;
    Ok(from.map_or(reading.clone(), |from| reading.from(from)))
}

/// Applies the options to tensors with names, unless there is an array without a name, which the options describe then.
fn read_as(tensors: Collection, reading: &Reading, silent: bool) -> Result<Collection, Error> {
    if silent { Ok(tensors) } else { Ok(tensors.read_as(reading)?) }
}

fn key(data: &args::Data) -> Result<Key, Failure> {
    let Some(text) = &data.key else { return Ok(Key::default()) };
    text.parse().map_err(|error| Failure::of(error).about("--key"))
}

pub(super) fn info(args: &args::Info, out: &mut Output) -> Result<ExitCode, Failure> {
    if !has_prefix(&args.file) && module::is_module(&args.file) {
        return of_module(args, out);
    }
    let file = args.file.to_string_lossy();
    if args.layout.is_some() {
        return Err(Failure::usage(format!("{file}: --layout is for HLO modules")));
    }
    let input = streams::open(&args.file, &args.array.reading()?).map_err(refused)?;
    // An opened URL is shown without its credentials.
    let file = if file.contains("://") { input.path().to_string_lossy() } else { file };
    let info = Info { file: file.into_owned(), input: &input };
    if !out.is_json() {
        return Ok(out.say(&info)?);
    }
    // There may be hundreds of thousands of tensors, so they are never all in memory as JSON.
    out.listing(info.head(), "tensors", info.tensors())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a hint about modules to the error of an unrecognised file, since only `info` reads modules too.
fn refused(error: Error) -> Failure {
    let hint = "; an HLO module's text begins with `HloModule` or `ENTRY`, or the file's name ends with .txt, .hlo or .pb";
    let hint = if error.is_unrecognised() { hint } else { "" };
    Failure::spelled(error, spelled).with_hint(hint)
}

/// Returns a remedy as an option of `info`, which takes no layout.
fn spelled(remedy: Remedy) -> String {
    match remedy {
        Remedy::Source => "convert it with --from first".into(),
        other => option(other),
    }
}

fn of_module(args: &args::Info, out: &mut Output) -> Result<ExitCode, Failure> {
    let file = args.file.to_string_lossy();
    if args.array.dims.is_some() || args.array.dtype.is_some() {
        return Err(Failure::usage(format!(
            "{file}: a module states the dims and types of its arrays; --dims and --dtype are for raw files"
        )));
    }
    let module = module::read(&args.file)?;
    let info = ModuleInfo::of(&file, &module, args.layout.as_deref())?;
    if !out.is_json() {
        return Ok(out.say(&info)?);
    }
    // There may be millions of arrays, so they are never all in memory as JSON.
    out.listing(info.head(), "arrays", info.arrays())?;
    Ok(ExitCode::SUCCESS)
}

/// The largest number of bytes of one array.
const MOST: u64 = 1 << 30;

pub(super) fn infer(args: &Infer, out: &mut Output) -> Result<ExitCode, Failure> {
    let Original { bytes, dims, width, known } = original(args, out)?;
    let (dtype, bits) = (known.dtype(), known.explicit_bits());
    let known = Known { bytes: &bytes, dims: &dims, width, dtype, bits };
    Ok(out.say(&Inferred::of(&known, &packed(args)?))?)
}

/// The known array.
struct Original {
    bytes: Vec<u8>,
    dims: Vec<u64>,
    width: usize,
    known: ResolvedLayout,
}

fn original(args: &Infer, out: &Output) -> Result<Original, Failure> {
    let input = streams::open(&args.original, &args.array.reading()?)?;
    input.warnings().for_each(|warning| out.remark(&warning));
    let tensor = tensor(&input, args)?;
    let known = tensor.layout().clone();
    let width = match known.element_bits() {
        Some(bits) if bits % 8 == 0 && tensor.refusal().is_none() => bits as usize / 8,
        _ => return Err(Failure::usage(format!("--original: {}", why_not(tensor)))),
    };
    let stored = input.bytes(tensor, MOST)?;
    let dims = tensor.dims().to_vec();
    let bytes = row_major(stored, known.layout(), width)?;
    Ok(Original { bytes, dims, width, known })
}

/// Returns why single elements of a tensor cannot be searched for.
fn why_not(tensor: &Tensor) -> String {
    match (tensor.refusal(), tensor.layout().element_bits()) {
        (Some(refusal), _) => format!("its layout cannot be given: {refusal}"),
        (None, Some(bits)) => format!("its elements take {bits} bits, not whole bytes each"),
        (None, None) => {
            let dtype = tensor.dtype();
            format!(
                "elements of {dtype} are stored in blocks, but the search needs single elements"
            )
        }
    }
}

/// Returns the only tensor of a file, or the requested one.
fn tensor<'a>(input: &'a Input, args: &Infer) -> Result<&'a Tensor, Failure> {
    let path = input.path().display();
    match (&args.tensor, input.tensors()) {
        (None, [one]) => Ok(one),
        (None, many) => {
            let count = Counted(many.len() as u64, "tensor");
            Err(Failure::usage(format!("{path} holds {count}; choose one with --tensor NAME")))
        }
        (Some(name), many) => many.iter().find(|tensor| tensor.name() == name).ok_or_else(|| {
            let names: Vec<&str> = many.iter().map(Tensor::name).collect();
            let names = names.join(", ");
            Failure::usage(format!("{path} holds no tensor {name}; there are {names}"))
        }),
    }
}

/// Returns the elements in row-major order.
fn row_major(stored: Vec<u8>, layout: &TensorLayout, width: usize) -> Result<Vec<u8>, Failure> {
    if TensorLayout::row_major(layout.extents()).is_ok_and(|rows| rows == *layout) {
        return Ok(stored);
    }
    let mut bytes = Vec::with_capacity(stored.len());
    for index in 0..layout.size() {
        let at = usize::try_from(layout.offset_of(index)?).unwrap_or(usize::MAX);
        let cell = at.checked_mul(width).and_then(|at| stored.get(at..at + width));
        bytes.extend_from_slice(cell.unwrap_or_default());
    }
    Ok(bytes)
}

/// Returns the bytes in the unknown layout: those of a tensor if the file is a container, else all of the file.
fn packed(args: &Infer) -> Result<Vec<u8>, Failure> {
    let path = args.packed.as_path();
    let extension = path.extension().and_then(|end| end.to_str());
    let is_raw = path.as_os_str().as_encoded_bytes().starts_with(b"raw:");
    let says = || files::has_ending(path) || extension == Some("json");
    if !is_raw && (has_prefix(path) || says()) {
        let input = files::open(path, &Reading::default())?;
        return Ok(input.bytes(tensor(&input, args)?, MOST)?);
    }
    Ok(files::bytes(path, MOST)?)
}

pub(super) fn recipe(args: &args::Recipe, out: &mut Output) -> Result<ExitCode, Failure> {
    match &args.ask {
        AskRecipe::Check(args) => check(args, out),
        AskRecipe::Show(args) => show(args, out),
        AskRecipe::List => Ok(out.say(&Recipes)?),
        AskRecipe::Guess { file } => {
            let input = streams::open(file, &Reading::default())?;
            Ok(out.say(&Guesses(guess(&input.recipe_tensors(), input.config()?.as_ref())))?)
        }
    }
}

fn check(args: &CheckRecipe, out: &mut Output) -> Result<ExitCode, Failure> {
    let recipe = recipe::allowing(read(&args.which)?, &args.allow)?;
    let recipe = if args.any_config { recipe.for_any_config() } else { recipe };
    let sizes = convert::sizes(&args.size)?;
    let Some(on) = &args.on else { return Ok(out.say(&RecipeShown(&recipe))?) };
    let input = streams::open(on, &Reading::default())?;
    let (tensors, config) = (input.recipe_tensors(), input.config()?);
    let solved = recipe.solve(&tensors, config.as_ref(), &sizes);
    let other = || recipe::fits(&recipe.inverse(), (&tensors, config.as_ref()), &sizes);
    if solved.is_err() && other() {
        out.remark(&option(Remedy::OtherDirection));
    }
    solved.iter().try_for_each(|assembly| Assembling::check(&input, assembly))?;
    Ok(out.say(&RecipeFit { tensors: &tensors, solved })?)
}

fn show(args: &ShowRecipe, out: &mut Output) -> Result<ExitCode, Failure> {
    let recipe = read(args)?;
    let text = recipe.to_toml();
    out.answer(&text, serde_json::json!({ "toml": text }))?;
    Ok(ExitCode::SUCCESS)
}

fn read(args: &ShowRecipe) -> Result<Recipe, Failure> {
    let recipe = convert::named(&args.recipe)?;
    Ok(if args.inverse { recipe.inverse() } else { recipe })
}
