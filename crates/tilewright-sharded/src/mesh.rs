//! [`Mesh`]: axes of devices, and the device at each position. Every sharded array has one.
//!
//! [`Witness`]: the position that shows why no layout or notation expresses a sharding.
//!
//! The bounds of every value of this crate are here, with the cursor over the text of a sharding, whose errors are
//! those of this crate.

use std::{collections::HashSet, fmt};

use tilewright_core::unravel_index;

use crate::Error;

/// Axes with names and sizes, and the devices in their order.
///
/// A position is the row-major index of a coordinate: the last axis varies fastest. The device at a position is the
/// position itself, or that of the order. Axes without names are called 0, 1, ….
///
/// ```
/// use tilewright_sharded::Mesh;
/// let mesh = Mesh::named(&[("dp", 2), ("tp", 4)])?;
/// assert_eq!((mesh.count(), mesh.coord(6)), (8, vec![1, 2]));
/// let turned = mesh.with_order(&[0, 2, 4, 6, 1, 3, 5, 7])?;
/// assert_eq!(turned.device(6), Some(5));
/// assert_eq!(turned.to_string(), "mesh(dp=2,tp=4; 0,2,4,6,1,3,5,7)");
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// A name for each size, or an empty list.
    names: Vec<String>,
    sizes: Vec<u64>,
    /// The devices in the order of positions, if they differ from the positions.
    order: Option<Vec<u64>>,
    /// True if the devices are unknown, and all hold the same.
    any: bool,
}

impl Mesh {
    /// Makes a mesh whose axes have no names.
    ///
    /// # Errors
    /// `illegal` for a size of 0, `limit` beyond [`MAX_AXES`] or [`MAX_DEVICES`].
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::new(&[2, 4])?.to_string(), "mesh(2,4)");
    /// assert_eq!(Mesh::new(&[2, 0]).unwrap_err().kind(), "illegal");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn new(sizes: &[u64]) -> Result<Mesh, Error> {
        check_sizes(sizes)?;
        Ok(Mesh { names: Vec::new(), sizes: sizes.to_vec(), order: None, any: false })
    }

    /// Makes a mesh whose axes have names: a letter or `_`, then letters, digits, `_`, `-` and `.`.
    ///
    /// # Errors
    /// As [`Mesh::new`], and `illegal` for another name, or one that occurs twice.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert!(Mesh::named(&[("x", 2), ("x", 2)]).unwrap_err().to_string().contains("twice"));
    /// ```
    pub fn named<S: AsRef<str>>(axes: &[(S, u64)]) -> Result<Mesh, Error> {
        let mut mesh = Mesh::new(&axes.iter().map(|(_, size)| *size).collect::<Vec<_>>())?;
        for (name, _) in axes {
            let name = name.as_ref();
            if !is_name(name) {
                let legal = "a letter, then letters, digits, `_`, `-` and `.`";
                return Err(Error::illegal(format!(
                    "an axis is called `{name}`; a name is {legal}"
                )));
            }
            if mesh.names.iter().any(|known| known == name) {
                return Err(Error::illegal(format!("the axis `{name}` appears twice in a mesh")));
            }
            mesh.names.push(name.to_owned());
        }
        Ok(mesh)
    }

    /// Returns a mesh of unnamed devices, all of which hold the same: the meaning of a replicating sharding without a
    /// mesh.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!((Mesh::any().count(), Mesh::any().device(0)), (1, None));
    /// ```
    pub fn any() -> Mesh {
        Mesh { names: Vec::new(), sizes: Vec::new(), order: None, any: true }
    }

    /// Sets the devices, in the order of positions.
    ///
    /// # Errors
    /// `mismatch` if their number is not that of the positions, `illegal` if a device occurs twice.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// let error = Mesh::new(&[2])?.with_order(&[1, 1]).unwrap_err();
    /// assert_eq!(error.to_string(), "device 1 appears twice in the order of a mesh");
    /// assert_eq!(Mesh::new(&[2])?.with_order(&[5]).unwrap_err().kind(), "mismatch");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn with_order(mut self, devices: &[u64]) -> Result<Mesh, Error> {
        if self.any || devices.len() as u64 != self.count() {
            let (given, count) = (devices.len(), self.count());
            return Err(Error::mismatch(format!(
                "{given} devices do not fit a mesh of {count} positions"
            )));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = devices.iter().find(|device| !seen.insert(**device)) {
            return Err(Error::illegal(format!(
                "device {twice} appears twice in the order of a mesh"
            )));
        }
        let plain = devices.iter().enumerate().all(|(at, device)| at as u64 == *device);
        self.order = (!plain).then(|| devices.to_vec());
        Ok(self)
    }

    /// Returns the sizes of the axes.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::new(&[2, 4])?.sizes(), [2, 4]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Returns the name of an axis: its number if it is unnamed.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::named(&[("dp", 2)])?.name(0), "dp");
    /// assert_eq!(Mesh::new(&[2, 4])?.name(1), "1");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn name(&self, axis: usize) -> String {
        self.names.get(axis).cloned().unwrap_or_else(|| axis.to_string())
    }

    /// Returns whether the axes have names.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert!(!Mesh::new(&[2, 4])?.is_named() && Mesh::named(&[("dp", 2)])?.is_named());
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn is_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the axis of this name.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::named(&[("dp", 2), ("tp", 4)])?.axis("tp"), Some(1));
    /// assert_eq!(Mesh::new(&[2, 4])?.axis("2"), None);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn axis(&self, name: &str) -> Option<usize> {
        (0..self.sizes.len()).find(|axis| self.name(*axis) == name)
    }

    /// Returns the number of positions.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::new(&[2, 3, 4])?.count(), 24);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.sizes.iter().product()
    }

    /// Returns the coordinate of a position.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert_eq!(Mesh::new(&[2, 3])?.coord(5), [1, 2]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn coord(&self, position: u64) -> Vec<u64> {
        unravel_index(position, &self.sizes).collect()
    }

    /// Returns the number of the device at a position; `None` past the last, and if devices are unnamed.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// let mesh = Mesh::new(&[2])?.with_order(&[7, 3])?;
    /// assert_eq!((mesh.device(0), mesh.device(1), mesh.device(2)), (Some(7), Some(3), None));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn device(&self, position: u64) -> Option<u64> {
        if self.any || position >= self.count() {
            return None;
        }
        match &self.order {
            Some(order) => order.get(usize::try_from(position).ok()?).copied(),
            None => Some(position),
        }
    }

    /// Returns the devices in the order of positions, if they differ from the positions.
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// let mesh = Mesh::new(&[2])?;
    /// assert_eq!(mesh.order(), None);
    /// assert_eq!(mesh.with_order(&[1, 0])?.order(), Some(&[1, 0][..]));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn order(&self) -> Option<&[u64]> {
        self.order.as_deref()
    }

    /// Returns whether this is [`Mesh::any`].
    ///
    /// ```
    /// use tilewright_sharded::Mesh;
    /// assert!(Mesh::any().is_any() && !Mesh::new(&[1])?.is_any());
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn is_any(&self) -> bool {
        self.any
    }

    /// Returns the mesh with each device at its own position.
    pub(crate) fn in_order(&self) -> Mesh {
        Mesh { order: None, ..self.clone() }
    }
}

/// Checks sizes, and that their product is at most [`MAX_DEVICES`].
fn check_sizes(sizes: &[u64]) -> Result<(), Error> {
    if sizes.len() > MAX_AXES {
        return Err(Error::limit(format!("a mesh of {} axes; at most {MAX_AXES}", sizes.len())));
    }
    let mut count = 1u64;
    for (axis, size) in sizes.iter().enumerate() {
        if *size == 0 {
            return Err(Error::illegal(format!(
                "axis {axis} of a mesh has size 0; use at least 1"
            )));
        }
        count = count.saturating_mul(*size);
    }
    if count > MAX_DEVICES {
        return Err(Error::limit(format!("a mesh of {count} devices; at most {MAX_DEVICES}")));
    }
    Ok(())
}

/// Returns whether every notation accepts this name of an axis.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.chars().all(is_name_char)
}

/// Returns whether a name of an axis may contain this character.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Prints `mesh(dp=2,tp=4; 0,2,4,6,1,3,5,7)`, with the order if it differs from the positions.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = self.sizes.iter().enumerate().map(|(axis, size)| match self.names.get(axis) {
            Some(name) => format!("{name}={size}"),
            None => size.to_string(),
        });
        write!(f, "mesh({}", axes.collect::<Vec<_>>().join(","))?;
        if let Some(order) = &self.order {
            let devices: Vec<String> = order.iter().map(u64::to_string).collect();
            write!(f, "; {}", devices.join(","))?;
        }
        f.write_str(")")
    }
}

/// A position whose list differs from the required one.
///
/// ```
/// use tilewright_sharded::{Sharded, Witness};
/// let error = Sharded::parse("f32[5] @ mesh(2) [Shard(0)]")?.as_layout().unwrap_err();
/// let witness: &Witness = error.cause().unwrap();
/// let said = "position 1 (0=1) holds [3,5) of dim 0, and not [3,6)";
/// assert_eq!(witness.to_string(), said);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The position in the mesh.
    pub position: u64,
    /// The coordinate as text.
    pub place: String,
    /// The dim.
    pub dim: usize,
    /// The intervals that it holds, as `[start, length]`.
    pub holds: Vec<[u64; 2]>,
    /// The intervals that it would have to hold.
    pub instead: Vec<[u64; 2]>,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Witness { position, place, dim, holds, instead } = self;
        let (holds, instead) = (list(holds), list(instead));
        write!(f, "position {position} {place} holds {holds} of dim {dim}, and not {instead}")
    }
}

/// The source of an error: [`Error::cause`](tilewright_error::Error::cause) returns it.
impl std::error::Error for Witness {}

/// Prints `[0,32) ∪ [40,48)`, in local order; `empty` for none.
pub(crate) fn list(intervals: &[[u64; 2]]) -> String {
    let interval = |[start, length]: &[u64; 2]| format!("[{start},{})", start + length);
    match intervals {
        [] => "empty".to_owned(),
        _ => intervals.iter().map(interval).collect::<Vec<_>>().join(" ∪ "),
    }
}

pub(crate) use tilewright_scan::{comma, did_you_mean, or_one_of};

/// The most axes of a mesh, and the most dims of an array.
pub const MAX_AXES: usize = 32;

/// The most positions of a mesh.
pub const MAX_DEVICES: u64 = 1 << 16;

/// The most intervals of all positions of a sharded array together. The rules of cutting give an upper bound before any
/// list is made.
pub const MAX_INTERVALS: u64 = 1 << 22;

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// A reading position in the text of a sharding.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;

/// The most values of one list in a text.
pub(crate) const MOST: usize = MAX_TEXT;
