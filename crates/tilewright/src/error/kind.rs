//! The kinds of [`Error`], each with a word and a predicate.

use super::Error;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $word:literal, $is:ident, $example:literal;)*) => {
        /// Kind of a failure, by which a caller decides what to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind { $($kind,)* }

        impl Kind {
            /// Returns the stable word.
            pub(super) fn word(self) -> &'static str {
                match self { $(Kind::$kind => $word,)* }
            }

            /// Returns the kind with this word; `None` for an unknown word.
            pub(super) fn of(word: &str) -> Option<Kind> {
                match word { $($word => Some(Kind::$kind),)* _ => None }
            }

            #[cfg(test)]
            const ALL: &[Kind] = &[$(Kind::$kind,)*];
        }

        impl Error { $(
            $(#[$doc])*
            ///
            #[cfg_attr(not(all(feature = "files", feature = "xla", feature = "device", feature = "questions")), doc = "```ignore")]
            #[cfg_attr(all(feature = "files", feature = "xla", feature = "device", feature = "questions"), doc = "```")]
            /// # #![allow(unused_imports)]
            /// use tilewright::{Error, Layout, Spec, TensorLayout, cuda, eval, files, module, relayout};
            /// # use tilewright::relayout::{Elements, Plan};
            /// # struct Never;
            /// # impl files::Watch for Never { fn cancelled(&self) -> bool { true } }
            /// # let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
            /// # let folder = tempfile::tempdir().unwrap();
            /// # let (path, bad) = (folder.path().join("a"), folder.path().join("b.npy"));
            /// # std::fs::write(&path, "HloModule").unwrap();
            /// # std::fs::write(&bad, "no header").unwrap();
            /// # let reading = files::Reading::default();
            /// # fn twice(tiny: &str, folder: &std::path::Path) -> Result<(), Error> {
            /// #     let (one, two) = (folder.join("1.safetensors"), folder.join("2.safetensors"));
            /// #     for (from, to) in [(std::path::Path::new(tiny), &one), (&*one, &two)] {
            /// #         let request = files::Request::new().to(Spec::parse("col-major")?).only("3.weight");
            /// #         let input = files::open(from, &files::Reading::default())?;
            /// #         files::Conversion::prepare(&input, to, request)?.run(&())?;
            /// #     }
            /// #     Ok(())
            /// # }
            #[doc = concat!("let error = Error::from(", $example, ".unwrap_err());")]
            #[doc = concat!("assert!(error.", stringify!($is), "());")]
            #[doc = concat!("assert_eq!(error.kind(), ", stringify!($word), ");")]
            /// ```
            pub fn $is(&self) -> bool {
                self.0.kind == Kind::$kind
            }
        )* }
    };
}

kinds! {
    /// A text is not a layout, expression or number. [`Error::span`] gives the place.
    Parse, "parse", is_parse, "Spec::parse(\"(8,32):(32)\")";
    /// A text has several readings; the message lists them.
    Ambiguous, "ambiguous", is_ambiguous, "Spec::parse(\"Nz\")";
    /// A function of an expression got arguments that it does not take.
    Arguments, "arguments", is_arguments, "eval::evaluate(\"size()\")";
    /// A layout that fits any array was resolved without dims.
    NeedsDims, "needs-dims", needs_dims, "Spec::parse(\"NHWC\").unwrap().resolve(None, None)";
    /// A layout that depends on the element type was resolved without one.
    NeedsDtype, "needs-dtype", needs_dtype, "Spec::parse(\"zN\").unwrap().resolve(Some(&[32, 32]), None)";
    /// Ranks, dims, sizes or types that must agree do not.
    Mismatch, "mismatch", is_mismatch, "TensorLayout::row_major(&[2, 3]).unwrap().offset(&[1])";
    /// A coordinate, index, axis or offset outside its range.
    OutOfRange, "out-of-range", is_out_of_range, "TensorLayout::row_major(&[2, 3]).unwrap().offset(&[2, 0])";
    /// A size, offset or capacity overflows 64 bits, or the addresses of this machine.
    Overflow, "overflow", is_overflow, "TensorLayout::row_major(&[1 << 32, 1 << 32])";
    /// A fixed limit was passed: the length of a text, the number of dims or of modes.
    Limit, "limit", is_limit, "Spec::parse(&\" \".repeat(1 << 20))";
    /// A value that no layout can have: an axis named twice, a tile of size 0.
    Illegal, "illegal", is_illegal, "TensorLayout::ordered(&[2, 3], &[0, 0])";
    /// The exact answer was not found within the stated budget.
    Undecided, "undecided", is_undecided, "Layout::parse(\"(999,1000,3):(1000,999,7)\").unwrap().padding_count()";
    /// The operation exists, but not for this kind of layout, notation or file. The message names the missing part.
    Unsupported, "unsupported", is_unsupported, "Layout::parse(\"4:1+3\").unwrap().right_inverse()";
    /// The library was built without a feature that the text or the question needs. The message names the feature.
    NotBuilt, "not-built", is_not_built, "Err::<(), _>(tilewright::notation::Error::not_built(\"index tables\", \"tables\"))";
    /// The result exists as a map, but no shape and strides express it.
    NoLayout, "no-layout", is_no_layout,
        "Layout::parse(\"(6,2):(1,7)\").unwrap().composition(&Layout::parse(\"(3,2):(2,3)\").unwrap())";
    /// A buffer or a range of bytes does not fit a plan.
    Buffer, "buffer", is_buffer, "Plan::new(&TensorLayout::row_major(&[4]).unwrap(), &TensorLayout::row_major(&[4]).unwrap(), Elements::same(16), 0).unwrap().run(&[0; 7], &mut [0; 8], 1)";
    /// A plan cannot run within one buffer.
    SecondBuffer, "second-buffer", is_second_buffer, "Plan::new(&TensorLayout::row_major(&[3, 5]).unwrap(), &TensorLayout::of(&Layout::parse(\"(3,5):(7,1)\").unwrap()), Elements::same(8), 0).unwrap().in_place()";
    /// There is no device, or it cannot do what was requested: the driver or the compiler is missing, the memory is elsewhere, a
    /// stream is captured.
    Device, "device", is_device, "cuda::Cuda::open(&cuda::Settings::default().with_driver(\"no/such/libcuda.so\"))";
    /// The request does not fit the file: a pattern that matches nothing, a layout that is missing.
    Usage, "usage", is_usage, "files::open(\"\", &reading)";
    /// The output exists, and overwriting it was not allowed.
    Exists, "exists", is_exists, "files::write(&path, b\"\", false)";
    /// A file already has the requested layout, by its own note.
    Converted, "converted", is_converted, "twice(tiny, folder.path())";
    /// Input and output are one file.
    SameFile, "same-file", is_same_file,
        "files::Conversion::prepare(&files::open(tiny, &reading).unwrap(), tiny, files::Request::new().to(Spec::parse(\"row-major\").unwrap()).force(true))";
    /// The system refused to read or write. [`Error::io_kind`] gives the kind.
    Io, "io", is_io, "files::open(\"no/such/file.npy\", &reading)";
    /// A file contradicts its format, or its notes contradict its tensors.
    Corrupt, "corrupt", is_corrupt, "files::open(&bad, &reading)";
    /// The caller asked to stop; nothing was written.
    Cancelled, "cancelled", is_cancelled, "files::verify(tiny, tiny, &files::Request::new(), &Never)";
    /// A file cannot be read as a module.
    Input, "input", is_input, "module::read(\"no/such/module.txt\")";
    /// A file is not a module.
    Module, "module", is_module, "module::read(&path)";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.word()), Some(*kind));
        }
        assert_eq!(Kind::of("no such kind"), None);
    }
}
