//! Remedies and fields of errors in the words of the command line.

use tilewright::Remedy;

/// Returns a remedy as the options that apply it.
pub(crate) fn option(remedy: Remedy) -> String {
    match remedy {
        Remedy::Overwrite => "overwriting it needs --force",
        Remedy::MoreMemory { least: Some(least) } => {
            return format!("give --memory {} or more", crate::unit::at_least(least));
        }
        Remedy::MoreMemory { least: None } => "raise --memory",
        Remedy::LessMemory => "lower --memory",
        Remedy::Dims => "give --dims, such as --dims 100,100",
        Remedy::Dtype => "give --dtype, such as --dtype bf16",
        Remedy::DimsAndDtype => "give --dims and --dtype",
        Remedy::Source => "give its layout with --from, such as --from row-major",
        Remedy::Target => "give the layout with --to",
        Remedy::Rule => "give layouts with --rule",
        Remedy::OtherLayout => "give it another layout with --rule",
        Remedy::LeaveOut => "leave it out with --tensor",
        Remedy::SkipUnfit => "skip these tensors with --skip-unfit",
        Remedy::File => "name a file",
        Remedy::Unverified => "leave --verify out",
        Remedy::Name => "choose one with --tensor NAME",
        Remedy::Again => "to copy it, give --force",
        Remedy::Original => "name the original file with --against",
        Remedy::Metadata => "give it with --metadata FROM",
        Remedy::OtherDirection => {
            "the other direction of the recipe fits: give --inverse, or omit it if it is given"
        }
        Remedy::TrustMetadata => "to write them as they are, give --trust-metadata",
        Remedy::AnyConfig => "to convert anyway, give --any-config",
        Remedy::Sizes => "give sizes with --size AXIS=N, or a config.json beside the input",
        Remedy::Allow => "allow a condition to fail with --allow NAME",
        Remedy::Extents => "give them with --extents FILE, or accept them with --trust-extents",
        Remedy::Heads => "change the rule, or accept it with --trust-extents",
        Remedy::FromMesh => "join them with `tilewright reshard`; files that record no rules need --from-mesh, such as --from-mesh tp=2",
        Remedy::Reshard => "use `tilewright reshard`, which joins it into whole tensors",
        other => return other.to_string(),
    }
    .to_owned()
}

/// Returns a remedy for shards as options of `fingerprint`, `same-data` and `verify`, which take no extents.
pub(crate) fn for_shards(remedy: Remedy) -> String {
    match remedy {
        Remedy::Extents => {
            "rewrite them with `tilewright reshard`, which takes --extents FILE and --trust-extents"
                .into()
        }
        other => option(other),
    }
}

/// Returns the argument that gives a part of a question; `None` if it is the only argument.
pub(crate) fn argument(field: &str) -> Option<&'static str> {
    Some(match field {
        "spec" => "SPEC",
        "a" => "A",
        "b" => "B",
        "dims" => "--dims",
        "dtype" => "--dtype",
        "coord" => "--coord",
        "offset" => "--offset",
        "to" => "--to",
        "tile" => "--tile",
        "layout" => "--layout",
        "access" => "--access",
        "vector" => "--vector",
        "banks" => "--banks",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// Returns the options of a text.
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split([' ', ',']).filter_map(|word| word.strip_prefix("--"))
    }

    /// A remedy that only some commands apply names options that each of them takes.
    #[test]
    fn options_are_those_of_the_commands_that_advise_them() {
        let program = crate::args::Cli::command();
        let takes = |command: &str, option: &str| {
            let command = program.find_subcommand(command).unwrap();
            command.get_arguments().any(|argument| argument.get_long() == Some(option))
        };
        for (remedy, commands) in [
            (Remedy::Metadata, &["convert", "reshard"][..]),
            (Remedy::TrustMetadata, &["convert", "reshard"]),
            (Remedy::Extents, &["reshard"]),
            (Remedy::Heads, &["reshard"]),
            (Remedy::OtherDirection, &["convert"]),
            (Remedy::AnyConfig, &["convert"]),
            (Remedy::Original, &["verify"]),
        ] {
            let text = option(remedy);
            for (word, command) in
                words(&text).flat_map(|word| commands.iter().map(move |it| (word, it)))
            {
                assert!(takes(command, word), "{command}: {text}");
            }
        }
        // Commands that compare shards name another command for options that they lack.
        for remedy in [Remedy::Extents, Remedy::LeaveOut, Remedy::Dtype] {
            let text = for_shards(remedy);
            for (word, command) in words(&text)
                .flat_map(|word| ["fingerprint", "same-data", "verify"].map(|it| (word, it)))
            {
                let is_other = text.contains("`tilewright reshard`") && takes("reshard", word);
                assert!(is_other || takes(command, word), "{command}: {text}");
            }
        }
    }

    #[test]
    fn every_option_that_is_advised_is_one_of_the_program() {
        let program = crate::args::Cli::command();
        let known = |name: &str| {
            program.get_subcommands().any(|command| {
                command.get_arguments().any(|argument| argument.get_long() == Some(name))
            })
        };
        for remedy in Remedy::ALL {
            let text = option(*remedy);
            for word in words(&text) {
                assert!(known(word), "{text}");
            }
            let plain = [Remedy::File].contains(remedy);
            assert_eq!(text == remedy.to_string(), plain, "{text} is not spelled");
        }
    }
}
