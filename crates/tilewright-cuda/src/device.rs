//! The devices in use: their retained primary contexts and compute capabilities.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{
    Error,
    modules::lock,
    raw::{Context, Driver},
    target::Capability,
};

/// A device whose primary context is retained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) ordinal: i32,
    pub(crate) context: Context,
    pub(crate) capability: Capability,
}

/// The devices in use. Their contexts are released with this value, after all modules.
#[derive(Debug)]
pub(crate) struct Devices {
    driver: Arc<Driver>,
    met: Mutex<HashMap<i32, Device>>,
}

impl Devices {
    pub(crate) fn new(driver: &Arc<Driver>) -> Devices {
        Devices { driver: driver.clone(), met: Mutex::default() }
    }

    /// Returns the device of this ordinal.
    pub(crate) fn device(&self, ordinal: i32) -> Result<Device, Error> {
        let mut met = lock(&self.met);
        if let Some(device) = met.get(&ordinal) {
            return Ok(*device);
        }
        let (major, minor) = self.driver.capability(ordinal)?;
        let context = self.driver.retain(ordinal)?;
        let device = Device { ordinal, context, capability: Capability { major, minor } };
        met.insert(ordinal, device);
        Ok(device)
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        lock(&self.met).keys().for_each(|ordinal| self.driver.release(*ordinal));
    }
}
