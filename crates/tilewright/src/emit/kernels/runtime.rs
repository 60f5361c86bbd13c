//! The runtimes that kernels are printed for.

use std::str::FromStr;

use tilewright_scan::or_one_of;

use crate::Error;

/// The runtime that a text is written for.
///
/// ```
/// use tilewright::emit::Runtime;
/// assert_eq!("hip".parse::<Runtime>()?, Runtime::Hip);
/// assert!("metal".parse::<Runtime>().unwrap_err().is_usage());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// CUDA C++.
    Cuda,
    /// HIP, for AMD's devices.
    Hip,
}

impl Runtime {
    /// The name of the runtime, which is also the prefix of its functions.
    ///
    /// ```
    /// assert_eq!(tilewright::emit::Runtime::Cuda.name(), "cuda");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Cuda => "cuda",
            Runtime::Hip => "hip",
        }
    }

    /// Returns the macro that the runtime's compiler at run time defines, the runtime's header, and its error for misaligned
    /// pointers.
    pub(super) fn words(self) -> [&'static str; 3] {
        match self {
            Runtime::Cuda => ["__CUDACC_RTC__", "cuda_runtime.h", "cudaErrorMisalignedAddress"],
            Runtime::Hip => ["__HIPCC_RTC__", "hip/hip_runtime.h", "hipErrorInvalidValue"],
        }
    }
}

impl FromStr for Runtime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Runtime, Error> {
        match text {
            "cuda" => Ok(Runtime::Cuda),
            "hip" => Ok(Runtime::Hip),
            _ => {
                let near = or_one_of(text, &["cuda", "hip"]);
                let says = format!("kernels are not printed in {text:?}{near}");
                Err(Error::usage(says).in_field("to"))
            }
        }
    }
}
