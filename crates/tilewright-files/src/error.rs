//! Errors about files: each message names the file and, if there is one, the tensor.

use std::{fmt, io, path::Path};

use tilewright_core::Remedy;
pub use tilewright_error::Error;

/// Returns a path for a message: a URL of a web server without user, query and fragment, which may be credentials.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    let Some((scheme, rest)) = text.split_once("://").filter(|(it, _)| it.starts_with("http"))
    else {
        return text;
    };
    let named = rest.split(['?', '#']).next().unwrap_or_default();
    let host = named.rsplit_once('@').map_or(named, |(_, host)| host);
    format!("{scheme}://{host}")
}

/// Returns the error of a request that does not fit the file.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::usage(message).of_file()
}

/// Returns the error of an output that exists, where the request does not allow overwriting.
pub(crate) fn exists(path: &Path) -> Error {
    usage(format!("{} exists", shown(path))).of_kind("exists").with(&[Remedy::Overwrite])
}

/// Returns the error for an existing folder that a result would have to replace.
pub(crate) fn occupied(path: &Path) -> Error {
    let said = match std::fs::read_link(path) {
        Ok(to) => &*format!("it is a link to {}, which a folder does not replace", shown(&to)),
        Err(_) if path.is_dir() => "the folder is not empty",
        Err(_) => "it exists and is not a folder",
    };
    usage(format!("{}: {said}; choose another path", shown(path))).of_kind("exists")
}

/// Returns the error of an output that is the input.
pub(crate) fn same_file(input: &Path, output: &Path) -> Error {
    let (input, output) = (shown(input), shown(output));
    let message = format!("{output} is the input {input} itself; name another output");
    usage(message).of_kind("same-file")
}

/// Returns the error of a result that would equal the input.
pub(crate) fn converted(message: String) -> Error {
    usage(message).of_kind("converted").with(&[Remedy::Again])
}

/// Returns the error of a system that refused to read or write.
pub(crate) fn io(path: &Path, doing: &str, cause: io::Error) -> Error {
    // The error of a store names the object and what was done.
    let cause = match cause.downcast::<Error>() {
        Ok(error) => return error,
        Err(cause) => cause,
    };
    let message = format!("{}: cannot {doing}: {cause}", shown(path));
    Error::new("io", message).of_file().with_source(cause)
}

/// Returns the error of a file that contradicts its format.
pub(crate) fn corrupt(path: &Path, message: impl fmt::Display) -> Error {
    Error::new("corrupt", format!("{}: {message}", shown(path))).of_file()
}

/// Returns the error for a file that changed during the operation.
pub(crate) fn changed(path: &Path, message: impl fmt::Display) -> Error {
    corrupt(path, message).of_kind("io")
}

/// The case of a file whose note of a tensor contradicts the tensor.
pub(crate) const CONTRADICTION: &str = "contradiction";

/// Returns the error of a file whose note of a tensor contradicts the tensor.
pub(crate) fn contradiction(path: &Path, message: impl fmt::Display) -> Error {
    corrupt(path, message).of_case(CONTRADICTION)
}

/// Returns the error of a well-formed file that holds data for which no layout is defined.
pub(crate) fn unsupported(path: &Path, message: impl fmt::Display) -> Error {
    Error::unsupported(format!("{}: {message}", shown(path))).of_file()
}

/// Returns the error of a file whose format is unknown.
pub(crate) fn unrecognised(path: &Path, message: impl fmt::Display) -> Error {
    unsupported(path, message).of_case("unrecognised")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_credentials_of_a_url() {
        for (path, expected) in [
            ("https://h/out.npy?X-Amz-Signature=S", "https://h/out.npy"),
            ("http://u:pa/ss@localhost/x#y", "http://localhost/x"),
            ("a?b@c", "a?b@c"),
            ("s3://bucket/a?b@c", "s3://bucket/a?b@c"),
        ] {
            assert_eq!(shown(Path::new(path)), expected);
        }
    }
}
