//! Help as it fits the place it is printed to, and what options of a conversion mean to `verify`.

use clap::CommandFactory as _;

use super::Cli;

/// What the options of a conversion mean to `verify`, which reads what a conversion wrote.
const VERIFIED: [(&str, &str); 10] = [
    ("to", "The layout that the converted file must have"),
    ("from", "The layout of the original, where the file does not say it"),
    (
        "tensor",
        "Tensors of other names were not converted and must be as they were; may be repeated",
    ),
    (
        "rule",
        "The layout that tensors of a matching name must have; the first that matches, then --to",
    ),
    ("fill", "What padding must hold: 0, one, lowest, highest or 0xHEX"),
    ("store", "The type of the words that the converted tensors must be stored as"),
    ("skip_unfit", "Tensors that a SPEC does not fit were left as they are"),
    ("dims", "The logical dims of the original, such as 100,100"),
    (
        "dtype",
        "The element type of the original, such as f16; of bytes also >f4, the highest byte first",
    ),
    ("memory", "The most memory for buffers, such as 512M"),
];

/// The command line, with help for a terminal of `width` characters.
pub(crate) fn command(width: usize) -> clap::Command {
    const WIDEST: usize = 100;
    let verify = |command: clap::Command| {
        VERIFIED.iter().fold(command, |command, (option, help)| {
            command.mut_arg(option, |argument| argument.help(*help))
        })
    };
    Cli::command().term_width(width.min(WIDEST)).mut_subcommand("verify", verify)
}
