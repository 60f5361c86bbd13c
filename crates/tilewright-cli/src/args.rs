//! The command line.

use std::path::PathBuf;

use clap::{
    ArgGroup, Args, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
};
use clap_complete::Shell;

mod banks;
mod bench;
mod convert;
mod emit;
mod fingerprint;
mod general;
mod help;
mod how;
mod infer;
mod info;
mod recipe;
mod reshard;
mod shards;
mod show;
mod simulate;

pub(crate) use banks::Banks;
pub(crate) use bench::{Bench, MAX_BYTES};
pub(crate) use convert::{Convert, Job, Recast, Verify};
pub(crate) use emit::Emit;
pub(crate) use fingerprint::{Data, Fingerprint, SameData};
pub(crate) use general::general_first;
pub(crate) use help::command;
pub(crate) use how::How;
pub(crate) use infer::Infer;
pub(crate) use info::Info;
pub(crate) use recipe::{AskRecipe, CheckRecipe, Recipe, ShowRecipe};
pub(crate) use reshard::{Asked, Reshard, Run, Step};
pub(crate) use shards::Shards;
pub(crate) use show::{Colour, Show};
pub(crate) use simulate::Simulate;

/// Tensor layouts as values: rewrite weight files in another layout; show, explain and compare layouts
/// in any notation.
#[derive(Debug, Parser)]
#[command(
    name = "tilewright",
    version,
    after_help = "\
A SPEC is a layout in any notation: ((4,2),(4,3)):((4,16),(1,32)), row-major,
f32[3,5]{1,0:T(2,2)}, zN, NHWC, {0,1:T(8,128)(2,1)}, (m m0:16) n -> m n m0.
NAME^T is a named format of the array with its last two dims exchanged. General
ones need --dims, and --dtype where they depend on the element. An expression
is a SPEC too, logical_divide((6,8):(8,1), <3,4>); eval: before it says so.

Exit codes: 0 done; 1 the answer is no; 2 bad usage or layout; 3 input or
output failed."
)]
pub(crate) struct Cli {
    /// Print results as JSON, one object a line; errors too
    #[arg(long, global = true, help_heading = "General options", display_order = 900)]
    pub(crate) json: bool,
    /// No progress, no notes
    #[arg(short, long, global = true, help_heading = "General options", display_order = 901)]
    pub(crate) quiet: bool,
    /// Your own named formats, a TOML file; else ~/.config/tilewright/formats.toml, if there is one
    #[arg(
        long = "formats",
        global = true,
        value_name = "FILE",
        help_heading = "General options",
        display_order = 902
    )]
    pub(crate) own: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rewrite the tensors of a file or a folder in another layout
    #[command(after_help = "\
The result is a file of the kind of the input, with all that is in it. But npy
and raw bytes become each other, and the one tensor of a .safetensors, which has
the name of their file; and one tensor of any file, chosen by --tensor, becomes
an array in .npy or raw:PATH. raw:, npy:, npz:, gguf: and safetensors: before a
path say what a file is, whatever its name ends in; - is standard input, or
output, and ./- a file of that name. Quantised types of GGUF move by whole
blocks: a layout keeps the elements of a block together.

A folder is its one *.safetensors.index.json, or its one file of tensors, and
becomes a new folder: with config.json, the tokenizer and all else that is no
weights and at most 64 MiB long. What stays behind is said.

A .npy or raw result whose own header cannot say how it lies has a note beside
it, OUT.tilewright.json, which is read back. Beside the layout of a tensor
stands the fingerprint of its data, as they were read: `verify OUT` compares
them. What has the layout already by its own note is not converted again.

Weights are often stored [out, in]; formats of [K, N] arrays, such as MARLIN and
VNNI, are then --to MARLIN^T and --to VNNI^T.

A recipe puts other tensors together: experts stacked, parts fused and split,
rows permuted, names changed. Its sizes come from --size, the recipe, the file
config.json beside IN, and the shapes; OUT records the recipe back, so --inverse
needs no other. Elements are never computed: what a recipe cannot do exactly is
refused.

Words that hold smaller elements are read by their format, with the type of the
elements, and --store says as which words the result is stored: --from GPTQ
--dtype u4 --to MARLIN --store s32. A g_idx that permutes the rows is refused,
but for --to row-major and col-major, which keep their order, and for an index
table that sorts them: --to 'table(0; tensor g_idx) MARLIN'.

Examples:
  tilewright convert model.safetensors zn.safetensors --to zN --verify
  tilewright convert llama/ llama-zn/ --rule '*_proj.weight=zN'
  tilewright convert mixtral/ fused/ --recipe mixtral.toml --verify")]
    Convert(Convert),
    /// Check a converted file against the file it was made from, or against what it records
    #[command(after_help = "\
With the options of the conversion the original is read as then, and the result
must lie as asked; .npy and raw files say how they lie in a note beside them,
NAME.tilewright.json, and need --to without it. Files are of any kind that
`convert` writes: .safetensors, .gguf, .npy, .npz, raw:PATH, a sharded
*.safetensors.index.json, or a folder.

Without --against the data of OUT are compared with the fingerprints that it
records; a tensor without a layout of its own has none. A tensor with a layout
and no record is named, and not compared: where nothing is recorded at all, the
exit code is 2. A folder --against a folder has all the files that went along.

Examples:
  tilewright verify zn.safetensors
  tilewright verify zn.safetensors --against model.safetensors
  tilewright verify zn.npz --against arrays.npz --json")]
    Verify(Verify),
    /// Print a fingerprint of every tensor's data, whatever its layout and file
    #[command(after_help = fingerprint::HELP)]
    Fingerprint(Fingerprint),
    /// Whether two files or folders hold the same arrays, in any layouts
    #[command(
        name = "same-data",
        after_help = "\
`same`, or a line for each tensor that differs: the first coordinate that does,
with both values as bits, and what it would be the same as, transposed,
byte-swapped, or under another name. Then the exit code is 1. A single array in
.npy or raw:PATH has no name, and is compared with a single tensor of any.
--from is as in `fingerprint`, and about both.

Examples:
  tilewright same-data model.safetensors zn.safetensors
  tilewright same-data checkpoint/ model.gguf
  tilewright same-data gptq/ marlin/ --tensor '*qweight' --from GPTQ --dtype u4"
    )]
    SameData(SameData),
    /// Rewrite a checkpoint in other shards
    #[command(after_help = reshard::HELP)]
    Reshard(Reshard),
    /// Check recipes, list them, and name those that fit a checkpoint
    #[command(after_help = recipe::HELP)]
    Recipe(Recipe),
    /// List the tensors of a file with their layouts
    #[command(after_help = "\
Files are .safetensors, .gguf, .npy, .npz, a sharded *.safetensors.index.json or
its folder, raw:PATH with --dims and --dtype, or an HLO module (.txt, .hlo or
.pb).

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
    /// Say what a layout means, in words, numbers and every other notation
    #[command(after_help = "\
Examples:
  tilewright explain 'bf16[20,200]{1,0:T(8,128)(2,1)}'
  tilewright explain zN --dims 100,100 --dtype f16
  tilewright explain 'Sw<3,3,3> o (8,64):(64,1) o <4,_>' --json")]
    Explain(Explain),
    /// Print a layout in another notation
    #[command(after_help = "\
`tilewright explain` prints a layout in every notation, by name. What a notation
has no words for is refused with the reason, exit code 1.

Examples:
  tilewright translate 'f16[32,32] zN' --to onednn
  tilewright translate nChw16c --dims 2,40,5,7 --to pattern
  tilewright translate 'f32[2,3]{0,1}' --to numpy --json")]
    Translate(Translate),
    /// Coordinate to offset, or offset to coordinate
    #[command(after_help = "\
Examples:
  tilewright index '((4,2),(4,3)):((4,16),(1,32))' --coord 1,5
  tilewright index 'f32[3,5]{1,0:T(2,2)}' --offset 9
  tilewright index zN --dims 100,100 --dtype f16 --coord 99,99")]
    Index(Index),
    /// Whether two layouts are the same map
    #[command(after_help = "\
Examples:
  tilewright same 'f32[2,3]{0,1}' '(2,3):(1,2)'
  tilewright same nN '{0,1:T(16,16)}' --dims 60,60 --dtype bf16
  tilewright same '6:1' '(2,3):(1,2)'")]
    Same(Same),
    /// Who holds what of an array in shards, a line a device
    #[command(after_help = shards::HELP)]
    Shards(Shards),
    /// Count the bank conflicts of an array in shared memory, and find the least fix
    #[command(after_help = banks::HELP)]
    Banks(Banks),
    /// Print the offset function of a layout, or its inverse, as code
    #[command(after_help = emit::HELP)]
    Emit(Emit),
    /// Evaluate an expression of the layout algebra
    #[command(after_help = "\
Examples:
  tilewright eval '(6,2):(8,2) o (4,3):(3,1)'
  tilewright eval 'zipped_divide((6,8):(8,1), <3,4>)'
  tilewright eval - < expressions.txt

Values: integers, tuples (1,(2,3)), _, layouts ((4,2),3):((1,12),4), a SPEC in
quotes, tilers <3:3,(2,4):(1,8)>, swizzles Sw<2,0,2>. A o B is composition.
Where a layout is expected, a tuple is the compact layout of its shape; where a
tiler is, one extent per axis. CuTe's C++ is read as it stands:
make_layout(make_shape(Int<4>{}, 8), LayoutRight{}). `tilewright eval
--functions` lists the functions. Any command that takes a SPEC also takes an
expression, or eval:EXPR.

With - every line of stdin is an expression and every line of stdout its
answer, or begins with `error:`; then the exit code is 1.")]
    Eval(Eval),
    /// List the named formats, find some, or explain one
    #[command(after_help = "\
A name or an alias explains that format: its dims and their order, such as
[K, N], its pattern and an array in it. Any other word lists the formats that
have it in a name, an alias, the maker, the purpose or the source, so that the
name of a kernel's function finds what it makes.

Examples:
  tilewright formats
  tilewright formats zN
  tilewright formats shuffle_weight")]
    Formats(Formats),
    /// Which named formats a layout is
    #[command(after_help = "\
Extents, padding and the element type decide, never strides alone; all names are
listed, one a line. Exit code 1 if there is none.

Examples:
  tilewright recognise 'bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))'
  tilewright recognise 'BA16a16b' --dims 100,100 --dtype f16
  tilewright recognise 'f32[20,300]{1,0:T(8,128)}' --json")]
    Recognise(Recognise),
    /// Find the layout that maps one file's array to another file's bytes
    #[command(after_help = "\
The layouts looked for are boxes of digits, padded or not: what a pattern says.
Elements that differ from one another decide; an array of numbered elements
decides everything. Exit code 1 if there is no such layout, or more than one.

Either file is .npy, .safetensors, .npz, .gguf, raw:PATH, or any other file,
which is bytes; of several tensors, --tensor says which.

Examples:
  tilewright infer --original weights.npy --packed weights.bin
  tilewright infer --original raw:a.bin --dims 100,100 --dtype bf16 --packed b
  tilewright infer --original weights.npy --packed weights.bin --json")]
    Infer(Infer),
    /// Measure relayout on this machine, next to memcpy
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

/// A path, which may be no UTF-8. An empty one is refused where it is used, in the same words everywhere.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The text of a layout. A word with two dashes before it is an option that is misspelled.
pub(super) fn layout(text: &str) -> Result<String, String> {
    let word = text.strip_prefix("--").filter(|rest| rest.starts_with(char::is_alphabetic));
    match word {
        Some(_) => Err("there is no such option, and no layout begins with --".into()),
        None => Ok(text.to_owned()),
    }
}

/// The array that a general SPEC is about.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Array {
    /// The logical dims, such as 100,100
    #[arg(long, value_name = "N,N,…", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dims: Option<String>,
    /// The element type, such as f16, bf16, s8, f8e4m3fn; of bytes also >f4, the highest byte first
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, help_heading = "The array")]
    pub(crate) dtype: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    /// List every notation, each with its reason where it has no words for the layout
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) array: Array,
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
    pub(crate) array: Array,
}

#[derive(Args, Debug)]
pub(crate) struct Recognise {
    /// The layout
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) array: Array,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("place").required(true)))]
pub(crate) struct Index {
    /// The layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) array: Array,
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
    /// The other
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) array: Array,
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
