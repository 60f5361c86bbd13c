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
        Remedy::Source => "give the layout it has by --from, such as --from row-major",
        Remedy::Target => "give the layout by --to",
        Remedy::Rule => "give layouts by --rule",
        Remedy::OtherLayout => "give it another layout by --rule",
        Remedy::LeaveOut => "leave it out by --tensor",
        Remedy::SkipUnfit => "pass over such tensors by --skip-unfit",
        Remedy::File => "name a file",
        Remedy::Unverified => "leave --verify out",
        Remedy::Name => "choose one with --tensor NAME",
        Remedy::Again => "to copy it, give --force",
        Remedy::Original => "name the file that it was made from by --against",
        Remedy::TrustMetadata => "to write them as they are, give --trust-metadata",
        Remedy::AnyConfig => "to convert all the same, give --any-config",
        Remedy::Sizes => "give sizes by --size AXIS=N, or a config.json beside the input",
        Remedy::Allow => "allow a condition to fail by --allow NAME",
        Remedy::Extents => "state them by --extents FILE, or accept them by --trust-extents",
        Remedy::Heads => "change the rule, or accept it by --trust-extents",
        Remedy::FromMesh => "give --from-mesh to `tilewright reshard`, such as --from-mesh tp=2",
        Remedy::Reshard => "use `tilewright reshard`, which makes whole tensors of it",
        other => return other.to_string(),
    }
    .to_owned()
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
            for word in text.split([' ', ',']).filter_map(|word| word.strip_prefix("--")) {
                assert!(known(word), "{text}");
            }
            let plain = [Remedy::File].contains(remedy);
            assert_eq!(text == remedy.to_string(), plain, "{text} is not spelled");
        }
    }
}
