//! The program's exit codes as numbers. Python calls the program as a function, which must not end the process.

/// Exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    /// Done.
    pub(crate) const SUCCESS: ExitCode = ExitCode(0);
    /// The answer is no.
    pub(crate) const NO: ExitCode = ExitCode(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}
