//! The names oneDNN has for dims, tags and kinds of memory. Source: oneDNN, `dnnl_types.h`.

/// The letters that the logical dims go by, in their order: of images, of filters, of groups of them, of
/// recurrent networks.
pub(super) const ALPHABETS: &[&str] = &[
    "abcdefghijkl",
    "x",
    "nc",
    "ncw",
    "nchw",
    "ncdhw",
    "oi",
    "oiw",
    "oihw",
    "oidhw",
    "goiw",
    "goihw",
    "goidhw",
    "tn",
    "tnc",
    "ldnc",
    "ldio",
    "ldgo",
    "ldigo",
];

/// Tags with names of their own in oneDNN's headers, for suggestions.
#[rustfmt::skip]
pub(super) const TAGS: &[&str] = &[
    "abcd", "acdb", "aBcd8b", "aBcd16b", "ABcd16b16a", "nchw", "nhwc", "chwn", "ncw", "nwc", "ncdhw", "ndhwc",
    "oihw", "hwio", "ohwi", "ihwo", "iohw", "oidhw", "dhwio", "odhwi", "goihw", "gohwi", "hwigo", "giohw",
    "goidhw", "dhwigo", "ldigo", "ldgoi", "ldgo", "ldio", "ldoi", "ldnc", "tnc", "ntc",
    "nCw8c", "nCw16c", "nChw4c", "nChw8c", "nChw16c", "nCdhw8c", "nCdhw16c", "NChw16n16c", "NChw32n32c",
    "OIhw8i8o", "OIhw16i16o", "OIhw4i16o4i", "OIhw8i16o2i", "Ohwi16o", "Oihw16o", "OIdhw16i16o", "IOhw16i16o",
    "gOIhw8i8o", "gOIhw16i16o", "gOIhw4i16o4i", "Goihw8g", "Goihw16g", "gOihw16o", "ldgOi32o", "ldOI32o4i",
];

/// Kinds of memory that no tag describes, by the prefix of their names, with a description.
pub(super) const OPAQUE: &[(&str, &str)] = &[
    ("wino", "filters transformed for Winograd's algorithm"),
    ("rnn_packed", "weights packed for one processor's matrix product"),
    ("ldigo_p", "weights packed for one processor's matrix product"),
    ("ldgoi_p", "weights packed for one processor's matrix product"),
    ("ldio_p", "weights packed for one processor's matrix product"),
    ("cublaslt_blocked", "an order that cuBLASLt chooses"),
    ("zen_packed", "weights packed by ZenDNN"),
    ("sparse", "storage of only the nonzero values"),
    ("csr", "storage of only the nonzero values"),
    ("coo", "storage of only the nonzero values"),
    ("packed", "values packed for one processor"),
    ("opaque", "a layout that the library chooses"),
    ("any", "left to the library"),
    ("undef", "not said"),
];
