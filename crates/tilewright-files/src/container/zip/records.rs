//! The records of a ZIP archive: their signatures, and numbers in them. Reading and planning archives use them.
//!
//! Source: PKWARE, APPNOTE.TXT, sections 4.3 and 4.5.3. A field for a number that does not fit has all bits set, and the number
//! is in the extra field of ZIP64.

pub(in crate::container) const LOCAL: &[u8] = b"PK\x03\x04";
pub(in crate::container) const DESCRIPTOR: &[u8] = b"PK\x07\x08";
pub(in crate::container) const CENTRAL: &[u8] = b"PK\x01\x02";
pub(in crate::container) const END: &[u8] = b"PK\x05\x06";
pub(in crate::container) const END_64: &[u8] = b"PK\x06\x06";
pub(in crate::container) const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// The lengths of records without their names, fields and comments.
pub(in crate::container) const LOCAL_LEN: u64 = 30;
pub(in crate::container) const CENTRAL_LEN: u64 = 46;
pub(in crate::container) const END_LEN: u64 = 22;
pub(in crate::container) const END_64_LEN: u64 = 56;
pub(in crate::container) const LOCATOR_64_LEN: u64 = 20;

/// The kind of the extra field of ZIP64.
pub(in crate::container) const EXTRA_64: u16 = 1;

/// Methods.
pub(in crate::container) const STORED: u16 = 0;
pub(in crate::container) const DEFLATED: u16 = 8;

/// Flags: encrypted, sizes and checksum follow the data, the name is UTF-8.
pub(in crate::container) const ENCRYPTED: u16 = 1;
pub(in crate::container) const FOLLOWS: u16 = 1 << 3;
pub(in crate::container) const UTF_8: u16 = 1 << 11;

/// The values of fields for numbers that do not fit.
pub(in crate::container) const ALL_16: u64 = u16::MAX as u64;
pub(in crate::container) const ALL_32: u64 = u32::MAX as u64;

/// Returns the number of `len` bytes at `at`, little-endian; 0 beyond the end.
pub(in crate::container) fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let bytes = bytes.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the numbers of the field of ZIP64 among extra fields.
pub(in crate::container) fn field_64(mut extra: &[u8]) -> &[u8] {
    while extra.len() >= 4 {
        let (kind, len) = (number(extra, 0, 2), number(extra, 2, 2) as usize);
        let rest = extra.get(4..).unwrap_or_default();
        let field = rest.get(..len.min(rest.len())).unwrap_or_default();
        if kind == u64::from(EXTRA_64) {
            return field;
        }
        extra = rest.get(field.len()..).unwrap_or_default();
    }
    &[]
}
