//! A library opened at run time, and tables of its functions.
//!
//! Law: a table exists only if every one of its functions was found, and it keeps the library open, so a function of a
//! table can be called as long as the table lives.

use std::{ffi::CStr, fmt, mem::ManuallyDrop, path::PathBuf, sync::Arc};

use libloading::Library as Open;

use crate::{Error, error::of_device};

/// An open library. It stays open until the process ends: an initialised driver may have threads and exit handlers,
/// whose code must remain loaded.
pub(crate) struct Library {
    name: PathBuf,
    open: ManuallyDrop<Open>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Library").field(&self.name).finish()
    }
}

impl Library {
    /// Opens the first of these names that can be opened, or returns the reasons why each could not.
    pub(crate) fn open(names: &[PathBuf]) -> Result<Library, Vec<String>> {
        let mut refused = Vec::new();
        for name in names {
            // SAFETY: the initialisers of the library run. `names` are those of NVIDIA's driver and compiler, or the path
            // that the user of this process gave for one of them.
            match unsafe { Open::new(name) } {
                Ok(open) => {
                    return Ok(Library { name: name.clone(), open: ManuallyDrop::new(open) });
                }
                Err(error) => refused.push(said(name, &error)),
            }
        }
        Err(refused)
    }

    /// Returns the name under which it was opened.
    pub(crate) fn name(&self) -> String {
        self.name.display().to_string()
    }

    /// Returns a table of its functions, made by the table's own `of`; `too-old` if one is missing, with the name of a
    /// version that has all of them.
    pub(super) fn table<T>(
        self: &Arc<Library>,
        of: impl FnOnce(Arc<Library>) -> Result<T, &'static str>,
        who: &str,
    ) -> Result<T, Error> {
        of(self.clone()).map_err(|missing| {
            let says = format!("{} has no {missing}; {who} or newer has it", self.name());
            of_device("too-old", says)
        })
    }

    /// Returns the function of this name; `None` if there is none.
    ///
    /// # Safety
    /// `F` is a function pointer of the type that the library's header gives for `name`.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: `# Safety` of `function`: the type is right.
        unsafe { self.open.get::<F>(name) }.ok().map(|found| *found)
    }
}

/// Returns the reason why a library could not be opened, with its name once.
fn said(name: &std::path::Path, error: &libloading::Error) -> String {
    let (name, why) = (name.display().to_string(), error.to_string());
    match why.contains(&name) {
        true => why,
        false => format!("{name}: {why}"),
    }
}

/// Defines a struct with a field for each function of a library, under the function's own name. Each function returns a
/// number, 0 for success.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($argument:ty),*);)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the names of the library")]
        pub(super) struct $table {
            library: std::sync::Arc<$crate::raw::library::Library>,
            $(pub(super) $name: unsafe extern "system" fn($($argument),*) -> i32,)*
        }

        impl $table {
            /// Makes the table of an open library, or returns the name of the first function that is missing.
            pub(super) fn of(
                library: std::sync::Arc<$crate::raw::library::Library>,
            ) -> Result<$table, &'static str> {
                const fn c(name: &str) -> &std::ffi::CStr {
                    match std::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    }
                }
                Ok($table {
                    // SAFETY: the types in the table are those of the library's header.
                    $($name: unsafe { library.function(c(concat!(stringify!($name), "\0"))) }
                        .ok_or(stringify!($name))?,)*
                    library,
                })
            }
        }

        impl std::fmt::Debug for $table {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($table)).field(&self.library).finish()
            }
        }
    };
}
pub(super) use functions;
