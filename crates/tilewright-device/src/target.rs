//! The languages that one text of macros compiles as.

/// The language that a text compiles as.
///
/// ```
/// use tilewright_device::Target;
/// assert!(Target::OpenCl.header().contains("__kernel"));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// CUDA C++ (NVRTC, nvcc), and HIP.
    Cuda,
    /// OpenCL C 1.2 and above.
    OpenCl,
    /// C++ on the host, with threads as loops: for tests.
    Host,
}

impl Target {
    /// Returns the macros of the target, which precede every text.
    ///
    /// ```
    /// use tilewright_device::Target;
    /// assert!(Target::Cuda.header().contains("__global__"));
    /// assert!(Target::Host.header().contains("cstdint"));
    /// ```
    pub fn header(self) -> &'static str {
        match self {
            Target::Cuda => {
                concat!(include_str!("dialect/cuda.h"), include_str!("dialect/common.h"))
            }
            Target::OpenCl => {
                concat!(include_str!("dialect/opencl.h"), include_str!("dialect/common.h"))
            }
            Target::Host => {
                concat!(include_str!("dialect/host.h"), include_str!("dialect/common.h"))
            }
        }
    }
}
