//! Errors of the device, the driver and the compiler. The head of the crate lists their kinds.

use tilewright_error::Error;

/// The driver's numbers for code of an architecture that it cannot run, and for PTX that is newer than the driver.
const NO_BINARY: i32 = 209;
const UNSUPPORTED_PTX: i32 = 222;

/// Returns an error of the device, the driver or the compiler.
pub(crate) fn of_device(kind: &'static str, message: impl Into<String>) -> Error {
    Error::new(kind, message).of_case("device")
}

/// Returns the error of a driver call that failed with this number.
pub(crate) fn of_call(message: String, code: i32) -> Error {
    of_device("driver", message).with_code(code)
}

/// Returns the error about code for an architecture from a compiler. Its kind is `architecture` if the driver does not accept
/// such code.
pub(crate) fn of_code(error: Error, architecture: &str, compiler: &str) -> Error {
    let error = error.about(&format!("code for {architecture} by {compiler}"));
    match error.code() {
        Some(NO_BINARY | UNSUPPORTED_PTX) => error
            .of_kind("architecture")
            .and("take the compiler of the driver's version of CUDA, or a newer driver"),
        _ => error,
    }
}
