//! What to do about an error, as options of the program.

use tilewright::Remedy;

/// A remedy as the options that apply it.
pub(crate) fn option(remedy: Remedy) -> String {
    match remedy {
        Remedy::Overwrite => "overwriting it needs --force",
        Remedy::MoreMemory { least: Some(least) } => {
            return format!("--memory is at least {least}");
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
        other => return other.to_string(),
    }
    .to_owned()
}
