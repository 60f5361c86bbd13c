//! Settings: the places where the driver and the compiler are looked for, how both are opened, and the folder for
//! compiled code. If no library is found, the error describes the attempts.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use names::{BELOW, DRIVERS, ROOTS, UNNUMBERED, compiler};

use crate::raw::Library;

/// The environment variable with the path of the driver's library.
pub(crate) const DRIVER: &str = "TILEWRIGHT_LIBCUDA";
/// The environment variable with the path of the compiler's library.
pub(crate) const COMPILER: &str = "TILEWRIGHT_LIBNVRTC";
/// The environment variable with the folder for compiled code, or the word `off`.
const CACHE: &str = "TILEWRIGHT_CUDA_CACHE";

/// The default limit of loaded modules.
const MODULES: usize = 4096;

/// The newest major version of CUDA whose compiler is looked for by its number; newer ones are found by the name
/// without a number.
const NEWEST: i32 = 14;
/// The oldest major version of CUDA whose compiler is looked for.
const OLDEST: i32 = 11;

/// The places where the driver and the compiler are looked for, and the folder and limit for compiled code.
///
/// Unless a path is set, a library is looked for by its names: the compiler in the folders that are set, then through
/// the system's loader, under `CUDA_HOME` and `CUDA_PATH`, and in CUDA's default folders. In each place, the compiler
/// of the driver's major version is tried first, and one that is too old is skipped.
///
/// ```
/// use tilewright_cuda::Settings;
/// let settings = Settings::default().with_driver("fake/libcuda.so").with_cache("fake/cache");
/// assert_eq!(settings.cache().unwrap().to_str(), Some("fake/cache"));
/// assert!(Settings::default().cache().is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    driver: Option<PathBuf>,
    compiler: Option<PathBuf>,
    folders: Vec<PathBuf>,
    cache: Option<PathBuf>,
    modules: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        let (driver, compiler, cache) = (None, None, None);
        Settings { driver, compiler, folders: Vec::new(), cache, modules: MODULES }
    }
}

impl Settings {
    /// Returns the settings of the environment:
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `TILEWRIGHT_LIBCUDA` | the path of the driver's library |
    /// | `TILEWRIGHT_LIBNVRTC` | the path of the compiler's library |
    /// | `TILEWRIGHT_CUDA_CACHE` | the folder for compiled code, or `off` |
    ///
    /// The default of the last one is `tilewright/cuda` in the user's folder for caches: `XDG_CACHE_HOME`, or `.cache`
    /// in the home folder, or `LOCALAPPDATA`.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// let settings = Settings::of_environment();
    /// assert!(settings.cache().is_none_or(|folder| folder.components().count() > 0));
    /// ```
    pub fn of_environment() -> Settings {
        let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Settings {
            driver: path(DRIVER),
            compiler: path(COMPILER),
            cache: cache_of(|name| env::var_os(name)),
            ..Settings::default()
        }
    }

    /// Sets the path of the driver's library; no other place is tried.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let settings = Settings::default().with_driver("fake/libcuda.so");
    /// assert!(Cuda::open(&settings).is_err());
    /// ```
    #[must_use]
    pub fn with_driver(self, path: impl Into<PathBuf>) -> Settings {
        Settings { driver: Some(path.into()), ..self }
    }

    /// Sets the path of the compiler's library; no other place is tried.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// let settings = Settings::default().with_compiler("fake/libnvrtc.so");
    /// assert_ne!(settings, Settings::default());
    /// ```
    #[must_use]
    pub fn with_compiler(self, path: impl Into<PathBuf>) -> Settings {
        Settings { compiler: Some(path.into()), ..self }
    }

    /// Adds a folder in which the compiler is looked for, such as that of a Python package.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// let settings = Settings::default().with_folder("site-packages/nvidia/cu13/lib");
    /// assert_ne!(settings, Settings::default());
    /// ```
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Settings {
        self.folders.push(folder.into());
        self
    }

    /// Sets the folder for compiled code.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// assert!(Settings::default().with_cache("kept").cache().is_some());
    /// ```
    #[must_use]
    pub fn with_cache(self, folder: impl Into<PathBuf>) -> Settings {
        Settings { cache: Some(folder.into()), ..self }
    }

    /// Returns the folder for compiled code; `None` if code is not stored.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// assert_eq!(Settings::default().cache(), None);
    /// ```
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Sets the most modules that may be loaded, 4096 by default and at least 1. A module is compiled code of one
    /// structure on one device. A launch that needs one more fails with `limit`.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// assert_eq!(Settings::default().modules(), 4096);
    /// assert_eq!(Settings::default().with_modules(0).modules(), 1);
    /// ```
    #[must_use]
    pub fn with_modules(self, modules: usize) -> Settings {
        Settings { modules: modules.max(1), ..self }
    }

    /// Returns the most modules that may be loaded.
    ///
    /// ```
    /// use tilewright_cuda::Settings;
    /// assert_eq!(Settings::default().with_modules(8).modules(), 8);
    /// ```
    pub fn modules(&self) -> usize {
        self.modules
    }

    /// Returns the names of the driver that are tried, or the path that is set.
    pub(crate) fn drivers(&self) -> Vec<PathBuf> {
        match &self.driver {
            Some(path) => vec![path.clone()],
            None => DRIVERS.iter().map(PathBuf::from).collect(),
        }
    }

    /// Returns the names of the compiler that are tried, those of the driver's version of CUDA first.
    pub(crate) fn compilers(&self, driver: i32) -> Vec<PathBuf> {
        if let Some(path) = &self.compiler {
            return vec![path.clone()];
        }
        let roots = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = roots.chain(ROOTS.iter().map(PathBuf::from));
        let installed = roots.flat_map(|root| BELOW.map(|below| root.join(below)));
        let names: Vec<String> =
            majors(driver / 1000).iter().map(|major| compiler(*major)).collect();
        let names: Vec<String> = names.into_iter().chain(UNNUMBERED.map(String::from)).collect();
        let within = |folder: PathBuf| -> Vec<PathBuf> {
            names.iter().map(|name| folder.join(name)).collect()
        };
        let given = self.folders.iter().cloned().flat_map(within);
        let found = given.chain(names.iter().map(PathBuf::from));
        found.chain(installed.flat_map(within)).collect()
    }
}

/// Returns the major versions, in the order in which they are tried: the driver's, older ones, newer ones.
fn majors(driver: i32) -> Vec<i32> {
    let own = driver.clamp(OLDEST, NEWEST);
    (OLDEST..=own).rev().chain(own + 1..=NEWEST).collect()
}

/// Returns the folder for caches, as the environment specifies it.
fn cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(given) = path(CACHE) {
        return (given != Path::new("off")).then_some(given);
    }
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let user = path("XDG_CACHE_HOME")
        .and_then(absolute)
        .or_else(|| path("LOCALAPPDATA").and_then(absolute))
        .or_else(|| path("HOME").and_then(absolute).map(|home| home.join(".cache")));
    Some(user?.join("tilewright").join("cuda"))
}

#[cfg(windows)]
mod names {
    pub(super) const DRIVERS: &[&str] = &["nvcuda.dll"];
    pub(super) const UNNUMBERED: [&str; 0] = [];
    pub(super) const ROOTS: &[&str] = &[];
    pub(super) const BELOW: [&str; 2] = ["bin", "bin\\x64"];

    /// Returns the library of a major version, whose name is the same for all minor versions.
    pub(super) fn compiler(major: i32) -> String {
        match major {
            11 => "nvrtc64_112_0.dll".into(),
            major => format!("nvrtc64_{major}0_0.dll"),
        }
    }
}

#[cfg(not(windows))]
mod names {
    pub(super) const DRIVERS: &[&str] =
        &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];
    pub(super) const UNNUMBERED: [&str; 1] = ["libnvrtc.so"];
    pub(super) const ROOTS: &[&str] = &["/usr/local/cuda", "/opt/cuda"];
    pub(super) const BELOW: [&str; 2] = ["lib64", "lib"];

    /// Returns the library of a major version, whose name is the same for all minor versions.
    pub(super) fn compiler(major: i32) -> String {
        match major {
            11 => "libnvrtc.so.11.2".into(),
            major => format!("libnvrtc.so.{major}"),
        }
    }
}

/// The most reasons in a message.
const REASONS: usize = 6;

/// Opens the first of these libraries that can be opened, or returns the reasons why each could not.
pub(crate) fn open(names: &[PathBuf]) -> Result<Library, Vec<String>> {
    Library::open(names)
}

/// Describes the names that were tried.
pub(crate) fn says(what: &str, variable: &str, tried: &[String]) -> String {
    let first = tried.iter().take(REASONS).map(|reason| format!("\n  {reason}"));
    let more = tried.len().saturating_sub(REASONS);
    let more = (more > 0).then(|| format!("\n  and {more} other places"));
    let reasons: String = first.chain(more).collect();
    format!("{what} is not found; {variable} can name its library. Tried:{reasons}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_of_the_driver_comes_first() {
        assert_eq!(majors(12), [12, 11, 13, 14]);
        assert_eq!(majors(99), [14, 13, 12, 11]);
        assert_eq!(majors(0), [11, 12, 13, 14]);
    }

    #[test]
    fn a_path_is_the_only_place() {
        let settings = Settings::default().with_driver("a").with_compiler("b");
        assert_eq!(settings.drivers(), [PathBuf::from("a")]);
        assert_eq!(settings.compilers(12_020), [PathBuf::from("b")]);
    }

    #[test]
    fn folders_that_are_given_come_before_the_loaders_own() {
        let names = Settings::default().with_folder("x").with_folder("y").compilers(13_000);
        let of = |folder: &str| names.iter().filter(|name| name.starts_with(folder)).count();
        let (x, y) = (of("x"), of("y"));
        assert!(x > 1 && x == y);
        assert_eq!(names[0], Path::new("x").join(compiler(13)));
        assert_eq!(names[x], Path::new("y").join(compiler(13)));
        assert_eq!(names[x + y], Path::new(&compiler(13)));
    }

    #[test]
    fn caches_lie_where_the_environment_says() {
        let of = |pairs: &[(&str, &str)]| {
            cache_of(|name| {
                pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1))
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("HOME", "relative")]), None);
        if cfg!(unix) {
            assert_eq!(of(&[("HOME", "/a")]), Some("/a/.cache/tilewright/cuda".into()));
            assert_eq!(
                of(&[("HOME", "/a"), ("XDG_CACHE_HOME", "/b")]),
                Some("/b/tilewright/cuda".into())
            );
            assert_eq!(of(&[("HOME", "/a"), (CACHE, "off")]), None);
            assert_eq!(of(&[("HOME", "/a"), (CACHE, "c")]), Some("c".into()));
        }
    }
}
