//! The integration tests of `tilewright-cuda`, with a driver and a compiler without a device.
#![cfg(target_os = "linux")]

mod captures;
mod emulated;
mod kept;
mod launches;
mod moves;
mod order;
mod own;
mod real;
mod refused;
