//! The command line: the commands, their general options, and the texts of help.
//!
//! clap takes words between `reshard` and a step as options of a run without steps, and then refuses the step. General
//! options have the same meaning before the command, so they are moved there (`reshard --json plan IN OUT`). The help of `verify`
//! lists the options of conversions as its own.

mod bench;
mod files;
mod layouts;
mod learn;
mod reshard;

pub(crate) use bench::{Bench, MAX_BYTES};
pub(crate) use files::{
    AskRecipe, CheckRecipe, Convert, Data, Fingerprint, Infer, Info, JobArgs, Recast, Recipe,
    SameData, ShardArgs, ShowRecipe, Verify,
};
pub(crate) use layouts::{Banks, Colour, Emit, Show};
pub(crate) use learn::{Learn, LearnConfirm, LearnMake, LearnPredict, LearnRead, LearnStep};
pub(crate) use reshard::{How, Reshard, RunArgs, Shards, Simulate, SourceArgs, StepArgs};

use std::{ffi::OsString, path::PathBuf};

use clap::{
    ArgGroup, Args, CommandFactory as _, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};
use clap_complete::Shell;

/// Convert weight files between memory layouts; show, explain and compare layouts in any notation.
#[derive(Debug, Parser)]
#[command(
    name = "tilewright",
    version,
    after_help = "\
A SPEC is a layout in any notation: ((4,2),(4,3)):((4,16),(1,32)), row-major,
f32[3,5]{1,0:T(2,2)}, zN, NHWC, {0,1:T(8,128)(2,1)}, (m m0:16) n -> m n m0.
NAME^T is a named format of the transposed array. Formats without dims need
--dims, and --dtype if they depend on the element. An expression is a SPEC too:
logical_divide((6,8):(8,1), <3,4>); the prefix eval: marks one.

Exit codes: 0 done; 1 the answer is no; 2 bad usage or layout; 3 input or
output failed."
)]
pub(crate) struct Cli {
    /// Print results and errors as JSON, one object a line
    #[arg(long, global = true, help_heading = "General options", display_order = 900)]
    pub(crate) json: bool,
    /// Print no progress and no notes, only warnings
    #[arg(short, long, global = true, help_heading = "General options", display_order = 901)]
    pub(crate) quiet: bool,
    /// A TOML file with your own formats [default: ~/.config/tilewright/formats.toml, if it exists]
    #[arg(
        long = "formats",
        global = true,
        value_name = "FILE",
        help_heading = "General options",
        display_order = 902
    )]
    pub(crate) own: Option<PathBuf>,
    /// Retries of a request to an object store or a hub, within 3 minutes
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 10,
        help_heading = "General options",
        display_order = 903
    )]
    pub(crate) retries: u32,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Convert the tensors of a file or folder to another layout
    #[command(after_help = "\
The result has the format of the input. Exceptions: .npy, raw bytes and a
.safetensors with one tensor convert to each other, one tensor of any file,
chosen by --tensor, converts to .npy or raw:PATH, and a .pt file of torch.save
becomes .safetensors or .npz. A prefix raw:, npy:, npz:, pt:, gguf: or
safetensors: gives the format of a path. - is standard input or output, and ./-
is a file of that name. Quantised types of GGUF move by whole blocks.

A folder has one *.safetensors.index.json or one file of tensors. It becomes a
new folder. Other files of up to 64 MiB are copied, such as config.json and the
tokenizer; weights in other formats are not. Skipped files are listed.

The file records each layout, and a fingerprint of the data as it was read:
`verify OUT` compares them. If the header of a .npy or raw result cannot record
its layout, OUT.tilewright.json does. Tensors that already have the target
layout are skipped.

If weights are stored [out, in], formats of [K, N] arrays such as MARLIN and
VNNI take a ^T: --to MARLIN^T.

A recipe makes other tensors: it stacks experts, fuses and splits parts,
permutes rows, changes names. Sizes come from --size, the recipe, config.json
beside IN, and the shapes. OUT records the inverse recipe for --inverse. Recipes
never compute: an inexact step is refused.

For 4-bit elements in 32-bit words, --from names the format of the words,
--dtype the elements, --store the words of the result: --from GPTQ --dtype u4
--to MARLIN --store s32. A g_idx that permutes rows is refused, except with --to
row-major or col-major, which keep the order of the rows, or an index table that
sorts them: --to 'table(0; tensor g_idx) MARLIN'.

Examples:
  tilewright convert model.safetensors zn.safetensors --to zN --verify
  tilewright convert llama/ llama-zn/ --rule '*_proj.weight=zN'
  tilewright convert mixtral/ fused/ --recipe mixtral.toml --verify")]
    Convert(Convert),
    /// Check a converted file against its original or its recorded fingerprints
    #[command(after_help = "\
Give the options of the conversion: `verify` reads the original in the same way,
and the result must have these layouts. .npy and raw files record theirs in
NAME.tilewright.json; without it, give --to. OUT is .safetensors, .gguf, .npy,
.npz, raw:PATH, a sharded *.safetensors.index.json, or a folder.

A result that records its recipe is compared by it, and one that does not, such
as .npy, by --recipe. Metadata that were copied have to be equal. Those that do
not describe the data are a line and no difference: the files that an index
names, the record of a recipe, and `format: pt`, which `reshard` adds.

Without --against, the data of OUT is compared with the fingerprints that it
records. Row-major tensors have none. Tensors with a layout and no fingerprint
are listed. If nothing is recorded, the exit code is 2. With two folders, the
other files that were copied are compared too. If either is a folder of shards,
the arrays are compared as by `same-data`.

Examples:
  tilewright verify zn.safetensors
  tilewright verify zn.safetensors --against model.safetensors
  tilewright verify zn.npz --against arrays.npz --json")]
    Verify(Verify),
    /// Print a fingerprint of every tensor's data, independent of layout and file
    #[command(after_help = files::HELP)]
    Fingerprint(Fingerprint),
    /// Check whether two files or folders hold the same arrays, in any layouts
    #[command(
        name = "same-data",
        after_help = "\
Prints `same`, or a line for each tensor that differs: the first different
coordinate, both values as bits, and whether it equals a transposed,
byte-swapped or renamed tensor. Then the exit code is 1. An array in .npy or
raw:PATH is compared with the only tensor of the other file. --dtype, --dims and
--from describe the files that do not state their array; if both state it, they
have the meaning of `fingerprint`, for both files. Folders of shards count as
their whole arrays, as for `fingerprint`.

Examples:
  tilewright same-data model.safetensors zn.safetensors
  tilewright same-data checkpoint/ tp8/
  tilewright same-data gptq/ marlin/ --tensor '*qweight' --from GPTQ --dtype u4"
    )]
    SameData(SameData),
    /// Rewrite a checkpoint in other shards
    #[command(after_help = reshard::HELP)]
    Reshard(Reshard),
    /// Check recipes, list them, and find those that fit a checkpoint
    #[command(after_help = files::RECIPE_HELP)]
    Recipe(Recipe),
    /// List the tensors of a file with their layouts
    #[command(after_help = "\
Files are .safetensors, .gguf, .npy, .npz, .pt, a sharded
*.safetensors.index.json or its folder, raw:PATH with --dims and --dtype, or an
HLO module (.txt, .hlo or .pb).

Examples:
  tilewright info model.safetensors
  tilewright info arrays.npz --json
  tilewright info module.txt --layout 'T(8,128)'")]
    Info(Info),
    /// Draw a layout
    #[command(after_help = "\
Examples:
  tilewright show '((4,2),(4,3)):((4,16),(1,32))'
  tilewright show 'f16[8,12] row-major' 'zN[M0=4,C0=4]' --svg conversion.svg
  tilewright show 'f16[8,64] Sw<3,3,3> o (8,64):(64,1)' --banks 8")]
    Show(Show),
    /// Explain a layout in words, numbers and every other notation
    #[command(after_help = "\
Examples:
  tilewright explain 'bf16[20,200]{1,0:T(8,128)(2,1)}'
  tilewright explain zN --dims 100,100 --dtype f16
  tilewright explain 'Sw<3,3,3> o (8,64):(64,1) o <4,_>' --json")]
    Explain(Explain),
    /// Print a layout in another notation
    #[command(after_help = "\
`tilewright explain` prints a layout in every notation. If a notation cannot
express the layout, the reason is printed, and the exit code is 1.

Examples:
  tilewright translate 'f16[32,32] zN' --to onednn
  tilewright translate nChw16c --dims 2,40,5,7 --to pattern
  tilewright translate 'f32[2,3]{0,1}' --to numpy --json")]
    Translate(Translate),
    /// Convert a coordinate to its offset, or an offset to its coordinate
    #[command(after_help = "\
An offset inside the storage that holds no element prints `padding`, with exit
code 0. An offset outside of the storage prints `out of range`, with exit code
1. A coordinate outside of the array is an error, with exit code 2.

Examples:
  tilewright index '((4,2),(4,3)):((4,16),(1,32))' --coord 1,5
  tilewright index 'f32[3,5]{1,0:T(2,2)}' --offset 9
  tilewright index zN --dims 100,100 --dtype f16 --coord 99,99")]
    Index(Index),
    /// Check whether two layouts map every coordinate to the same offset
    #[command(after_help = "\
Examples:
  tilewright same 'f32[2,3]{0,1}' '(2,3):(1,2)'
  tilewright same nN '{0,1:T(16,16)}' --dims 60,60 --dtype bf16
  tilewright same '6:1' '(2,3):(1,2)'")]
    Same(Same),
    /// Print which part of a sharded array each device holds
    #[command(after_help = reshard::SHARDS_HELP)]
    Shards(Shards),
    /// Count the bank conflicts of an array in shared memory, and find the smallest fix
    #[command(after_help = layouts::BANKS_HELP)]
    Banks(Banks),
    /// Print the offset function of a layout, or its inverse, as code
    #[command(after_help = layouts::HELP)]
    Emit(Emit),
    /// Evaluate an expression of the layout algebra
    #[command(after_help = "\
Examples:
  tilewright eval '(6,2):(8,2) o (4,3):(3,1)'
  tilewright eval 'zipped_divide((6,8):(8,1), <3,4>)'
  tilewright eval - < expressions.txt

Values: integers, tuples (1,(2,3)), _, layouts ((4,2),3):((1,12),4), a SPEC in
quotes, tilers <3:3,(2,4):(1,8)>, swizzles Sw<2,0,2>. A o B is composition.
In place of a layout, a tuple is the compact layout of its shape; in place of a
tiler, one extent per axis. CuTe's C++ is accepted:
make_layout(make_shape(Int<4>{}, 8), LayoutRight{}). `tilewright eval
--functions` lists the functions. Any command that takes a SPEC also takes an
expression, or eval:EXPR.

With -, each line of stdin is an expression and each line of stdout its answer.
An answer that begins with `error:` sets the exit code to 1.")]
    Eval(Eval),
    /// List the named formats, find some, or explain one
    #[command(after_help = "\
A name or alias explains that format: its dims in order, such as [K, N], its
pattern, and an example. Any other word finds formats by name, alias, maker,
purpose or source, such as the name of a kernel's function.

Examples:
  tilewright formats
  tilewright formats zN
  tilewright formats shuffle_weight")]
    Formats(Formats),
    /// Find the named formats of a layout
    #[command(after_help = "\
Compares extents, padding and element type, not only strides. Prints all names,
one a line. Exit code 1 if there is none.

Examples:
  tilewright recognise 'bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))'
  tilewright recognise 'BA16a16b' --dims 100,100 --dtype f16
  tilewright recognise 'f32[20,300]{1,0:T(8,128)}' --json")]
    Recognise(Recognise),
    /// Find the layout that maps one file's array to another file's bytes
    #[command(after_help = "\
Searches the layouts that a pattern can express, padded or not. Repeated values
leave more than one answer; an array of numbered elements leaves one. Exit code
1 if there is no such layout, or more than one.

Files are .npy, .safetensors, .npz, .gguf or raw:PATH; any other file is bytes.
If a file has several tensors, choose one with --tensor.

Examples:
  tilewright infer --original weights.npy --packed weights.bin
  tilewright infer --original raw:a.bin --dims 100,100 --dtype bf16 --packed b
  tilewright infer --original weights.npy --packed weights.bin --json")]
    Infer(Infer),
    /// Find out what an engine does with each element of a checkpoint
    #[command(after_help = learn::HELP)]
    Learn(Learn),
    /// Measure relayout on this machine, beside memcpy
    #[command(after_help = bench::HELP)]
    Bench(Bench),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  tilewright completions bash > tilewright.bash
  tilewright completions zsh > ~/.zfunc/_tilewright
  tilewright completions fish > ~/.config/fish/completions/tilewright.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Parses a path, which may not be UTF-8. The commands refuse an empty path, in the same words everywhere.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Parses the text of a layout. A word after two dashes is a misspelt option.
pub(crate) fn layout(text: &str) -> Result<String, String> {
    let word = text.strip_prefix("--").filter(|rest| rest.starts_with(char::is_alphabetic));
    match word {
        Some(_) => Err("unknown option (no layout begins with --)".into()),
        None => Ok(text.to_owned()),
    }
}

/// The array that a general SPEC is about.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ArrayArgs {
    /// The logical dims, such as 100,100
    #[arg(long, value_name = "N,N,…", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dims: Option<String>,
    /// The element type, such as f16, bf16, s8, f8e4m3fn; with > for big-endian, such as >f4
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dtype: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    /// List every notation, with the reason if it cannot express the layout
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Translate {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    /// The notation
    #[arg(long, value_name = "NOTATION")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Recognise {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("place").required(true)))]
pub(crate) struct Index {
    /// The layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    /// One integer per dim; for a bare layout also one colexicographic index
    #[arg(long, value_name = "I,J,…", group = "place", allow_hyphen_values = true)]
    pub(crate) coord: Option<String>,
    /// An offset in elements
    #[arg(long, value_name = "N", group = "place", allow_hyphen_values = true)]
    pub(crate) offset: Option<i64>,
}

#[derive(Args, Debug)]
pub(crate) struct Same {
    /// One layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) a: String,
    /// The other layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
}

#[derive(Args, Debug)]
pub(crate) struct Eval {
    /// The expression, or - to read one from every line of stdin
    #[arg(value_name = "EXPR", allow_hyphen_values = true, required_unless_present = "functions")]
    pub(crate) expr: Option<String>,
    /// List the functions with their arguments
    #[arg(long, conflicts_with = "expr")]
    pub(crate) functions: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Formats {
    /// The format to explain, or a word to look for
    pub(crate) name: Option<String>,
}

/// The only command with steps.
const WITH_STEPS: &str = "reshard";

/// Moves the general options after the command with steps to the place before it. The first argument is the program's name.
pub(crate) fn general_first(arguments: &mut [OsString]) {
    let command = 1 + general(arguments.get(1..).unwrap_or_default());
    if arguments.get(command).is_none_or(|word| word != WITH_STEPS) {
        return;
    }
    let count = general(&arguments[command + 1..]);
    arguments[command..=command + count].rotate_left(1);
}

/// Returns an error for options of a run that precede a step, if there are any: `reshard --memory 1G plan IN OUT`.
///
/// The command is that of the program, and general options are before it.
pub(crate) fn misplaced(program: &clap::Command, arguments: &[OsString]) -> Option<String> {
    let first = 1 + general(arguments.get(1..).unwrap_or_default());
    let (command, words) = arguments.get(first..)?.split_first()?;
    let command = program.find_subcommand(command.to_str().filter(|word| *word == WITH_STEPS)?)?;
    let (mut given, mut at) = (Vec::new(), 0);
    let step = loop {
        at += general(words.get(at..)?);
        let word = words.get(at)?.to_str()?;
        let Some(option) = word.strip_prefix("--") else { break command.find_subcommand(word)? };
        let (name, value) = option.split_once('=').map_or((option, None), |(a, b)| (a, Some(b)));
        let known = command.get_arguments().find(|known| known.get_long() == Some(name))?;
        let takes = known.get_action().takes_values() && value.is_none();
        (given, at) = ([given, vec![name]].concat(), at + 1 + usize::from(takes));
    };
    let (name, option) = (step.get_name(), given.first()?);
    let has = |step: &clap::Command| step.get_arguments().any(|it| it.get_long() == Some(option));
    Some(match has(step) {
        true => format!("options of a step follow it: `reshard {name} … --{option} …`"),
        false => match command.find_subcommand("plan").is_some_and(has) {
            true => format!(
                "`{name}` has no --{option}, which the plan states: give it to `reshard plan`"
            ),
            false => format!("`{name}` has no --{option}"),
        },
    })
}

/// Counts the leading words that are general options or their values.
fn general(words: &[OsString]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).map(|word| word.to_string_lossy()) {
        count += match &*word {
            "--json" | "-q" | "--quiet" => 1,
            "--formats" | "--retries" if count + 1 < words.len() => 2,
            word if word.starts_with("--formats=") || word.starts_with("--retries=") => 1,
            _ => break,
        };
    }
    count
}

/// The help of shared options in `verify`, which reads the result of a conversion.
const VERIFIED: [(&str, &str); 10] = [
    ("to", "The layout that the converted file must have"),
    ("from", "The layout of the original, if the file does not record it"),
    ("tensor", "The converted tensors; all others must be unchanged; may be repeated"),
    (
        "rule",
        "The layout that tensors with matching names must have; the first match wins, then --to",
    ),
    ("fill", "The value that padding must have: 0, one, lowest, highest or 0xHEX"),
    ("store", "The type of the words in which converted tensors must be stored"),
    ("skip_unfit", "Tensors that the SPEC does not fit must be unchanged"),
    ("dims", "The logical dims of the original, such as 100,100"),
    ("dtype", "The element type of the original, such as f16; with > for big-endian, such as >f4"),
    ("memory", "Memory limit for buffers, such as 512M"),
];

/// Returns the command line, with help for a terminal of `width` characters.
pub(crate) fn command(width: usize) -> clap::Command {
    const WIDEST: usize = 100;
    let verify = |command: clap::Command| {
        VERIFIED.iter().fold(command, |command, (option, help)| {
            command.mut_arg(option, |argument| argument.help(*help))
        })
    };
    Cli::command().term_width(width.min(WIDEST)).mut_subcommand("verify", verify)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_run_before_a_step_are_one_error_that_says_where_they_go() {
        let program = command(80);
        for (words, said) in [
            (
                "reshard --memory 1G plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "-q reshard --memory=1G --verify plan a",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "reshard --mesh tp=2 simulate a",
                "options of a step follow it: `reshard simulate … --mesh …`",
            ),
            (
                "reshard --threads 2 run p",
                "options of a step follow it: `reshard run … --threads …`",
            ),
            (
                "reshard --verify run p",
                "`run` has no --verify, which the plan states: give it to `reshard plan`",
            ),
            ("reshard --dry-run finish p", "`finish` has no --dry-run"),
            (
                "reshard --memory 1G --json plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "reshard --json -q --memory 1G --formats f plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            ("reshard --json plan a b", ""),
            ("reshard --memory 1G in out", ""),
            ("reshard --memory plan in out", ""),
            ("reshard plan in out --memory 1G", ""),
            ("reshard in plan --memory 1G", ""),
            ("reshard --wrong plan a b", ""),
            ("reshard --memory", ""),
            ("convert --memory 1G plan", ""),
            ("", ""),
        ] {
            let words: Vec<OsString> =
                format!("tw {words}").split_whitespace().map(Into::into).collect();
            assert_eq!(misplaced(&program, &words).unwrap_or_default(), said, "{words:?}");
        }
    }

    #[test]
    fn general_options_go_before_the_command_with_steps_and_nothing_else_moves() {
        for (from, to) in [
            ("tw reshard --json plan a b", "tw --json reshard plan a b"),
            ("tw -q reshard --formats f --quiet run p", "tw -q --formats f --quiet reshard run p"),
            ("tw reshard --formats=f plan a", "tw --formats=f reshard plan a"),
            ("tw reshard --mesh tp=2 --json a b", "tw reshard --mesh tp=2 --json a b"),
            ("tw reshard plan --json a b", "tw reshard plan --json a b"),
            ("tw convert --json reshard b", "tw convert --json reshard b"),
            ("tw reshard --formats", "tw reshard --formats"),
            ("tw reshard", "tw reshard"),
            ("tw", "tw"),
            ("", ""),
        ] {
            let mut words: Vec<OsString> = from.split_whitespace().map(Into::into).collect();
            general_first(&mut words);
            let expected: Vec<OsString> = to.split_whitespace().map(Into::into).collect();
            assert_eq!(words, expected, "{from}");
        }
    }
}
