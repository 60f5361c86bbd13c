//! The kinds that several crates use: a word, a function that makes an error of the kind, and a predicate.

use crate::Error;

macro_rules! kinds {
    ($($new:ident, $is:ident, $word:literal, $what:literal;)*) => { impl Error { $(
        #[doc = concat!("Returns an error of the kind `", $word, "`: ", $what, ".")]
        ///
        /// ```
        /// use tilewright_error::Error;
        #[doc = concat!("let error = Error::", stringify!($new), "(\"3 of 4\");")]
        #[doc = concat!("assert_eq!((error.kind(), error.message()), (\"", $word, "\", \"3 of 4\"));")]
        /// ```
        pub fn $new(message: impl Into<String>) -> Error {
            Error::new($word, message)
        }

        predicate!($is, $word, $what);
    )* } };
}

macro_rules! predicates {
    ($($is:ident, $word:literal, $what:literal;)*) => { impl Error { $(
        predicate!($is, $word, $what);
    )* } };
}

macro_rules! predicate {
    ($is:ident, $word:literal, $what:literal) => {
        #[doc = concat!("Returns whether the kind is `", $word, "`: ", $what, ".")]
        ///
        /// ```
        /// use tilewright_error::Error;
        #[doc = concat!("assert!(Error::new(\"", $word, "\", \"3 of 4\").", stringify!($is), "());")]
        #[doc = concat!("assert!(!Error::new(\"other\", \"3 of 4\").", stringify!($is), "());")]
        /// ```
        pub fn $is(&self) -> bool {
            self.0.kind == $word
        }
    };
}

kinds! {
    mismatch, is_mismatch, "mismatch", "ranks, dims, sizes or types that must agree do not";
    out_of_range, is_out_of_range, "out-of-range", "a coordinate, index, axis or offset is outside its range";
    overflow, is_overflow, "overflow", "a size, offset or capacity exceeds 64 bits, or the addresses of this machine";
    limit, is_limit, "limit", "a fixed limit is exceeded, such as the length of a text or the number of dims";
    illegal, is_illegal, "illegal", "a value that nothing can have, such as an axis named twice or a tile of size 0";
    unsupported, is_unsupported, "unsupported",
        "the operation exists, but not for this layout, notation, width or file; the message names the missing part";
    no_layout, is_no_layout, "no-layout", "the map exists, but no shape and strides describe it";
    buffer, is_buffer, "buffer", "a buffer or a range of bytes does not fit a plan";
    second_buffer, is_second_buffer, "second-buffer", "a plan cannot run in place and needs a second buffer";
}

predicates! {
    is_parse, "parse", "a text cannot be read; [`Error::span`] returns the bytes at fault";
    is_ambiguous, "ambiguous", "a text has several readings; the message lists them";
    is_arguments, "arguments", "a function of an expression got arguments that it does not take";
    needs_dims, "needs-dims", "a layout that fits any array was resolved without dims";
    needs_dtype, "needs-dtype", "a layout that depends on the element type was resolved without one";
    is_undecided, "undecided", "the exact answer was not found within the stated budget";
    is_not_built, "not-built", "the library was built without a feature that the text or the question needs";
    is_exists, "exists", "the output exists, and overwriting it was not allowed";
    is_converted, "converted", "a file already has the requested layout, by its own note";
    is_same_file, "same-file", "input and output are one file";
    is_corrupt, "corrupt", "a file contradicts its format, or its notes contradict its tensors";
    is_cancelled, "cancelled", "the caller asked to stop; nothing was written";
    is_input, "input", "a file cannot be read as a module";
    is_module, "module", "a file is not a module";
    is_captured, "captured",
        "code would have to be loaded while a CUDA stream is captured; run the same move once before the capture";
}

/// The kinds of errors about a file that are a fault of the request.
const OF_REQUEST: &[&str] = &["converted", "exists", "same-file", "usage"];

/// The kinds that are not a fault of the request, for an error that is not about a file.
const NOT_OF_REQUEST: &[&str] =
    &["busy", "cancelled", "changed", "corrupt", "incomplete", "input", "io", "memory", "module"];

/// Questions that several kinds answer alike.
impl Error {
    /// Returns an error of the kind `usage`: the request does not fit, such as a pattern that matches nothing.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::usage("expected an integer").in_field("vector");
    /// assert_eq!((error.kind(), error.is_usage()), ("usage", true));
    /// ```
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new("usage", message)
    }

    /// Returns whether the request is wrong, and not a file, a device or the system: an output that exists, a layout that does
    /// not fit a tensor, a pattern that matches nothing.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert!(Error::new("exists", "a.npy exists").of_file().is_usage());
    /// assert!(!Error::new("corrupt", "a.npy: no header").of_file().is_usage());
    /// ```
    pub fn is_usage(&self) -> bool {
        match self.0.file {
            true => OF_REQUEST.contains(&self.0.kind),
            false => !NOT_OF_REQUEST.contains(&self.0.kind) && !self.is_device(),
        }
    }

    /// Returns whether reading or writing failed, including truncated, corrupt and unsupported files.
    /// [`Error::io_kind`] returns what the system reported.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::unsupported("blocks of 3 bits");
    /// assert!(!error.is_io() && error.of_file().is_io());
    /// assert!(Error::new("io", "cannot read a.npy").is_io());
    /// ```
    pub fn is_io(&self) -> bool {
        matches!(self.0.kind, "io" | "corrupt") || (self.0.file && self.is_unsupported())
    }

    /// Returns whether the error is about a file that is read or written, and not about layouts and arrays alone.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert!(!Error::usage("no layout").is_file());
    /// assert!(Error::usage("a.npy: no layout").of_file().is_file());
    /// ```
    pub fn is_file(&self) -> bool {
        self.0.file
    }

    /// Returns whether neither the name nor the content of a file is that of a known format.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::unsupported("a.txt: no format");
    /// assert!(!error.is_unrecognised() && error.of_case("unrecognised").is_unrecognised());
    /// ```
    pub fn is_unrecognised(&self) -> bool {
        self.0.case == "unrecognised"
    }

    /// Returns whether a device is missing or cannot do what was requested: the driver or the compiler is missing, the
    /// memory is elsewhere, a stream is captured.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert!(Error::new("no-driver", "no libcuda.so").of_case("device").is_device());
    /// ```
    pub fn is_device(&self) -> bool {
        self.0.case == "device"
    }

    /// Returns whether this machine cannot run kernels at all: no driver, no device, no compiler, or libraries that are
    /// too old.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert!(Error::new("no-driver", "no libcuda.so").is_unavailable());
    /// ```
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0.kind, "no-driver" | "no-device" | "no-compiler" | "too-old")
    }
}
