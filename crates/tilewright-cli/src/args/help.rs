//! Help for the width of the output, and the help of conversion options in `verify`.

use clap::CommandFactory as _;

use super::Cli;

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
