//! What compiled code is known by: the text, the architecture, and the compiler with its options.

use sha2::{Digest, Sha256};

/// The SHA-256 of everything that decides what code comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of some texts: of each its length and its bytes, so that no two lists are alike.
    pub(crate) fn of(texts: &[&str]) -> Key {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        Key(hash.finalize().into())
    }

    /// The checksum of bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Key {
        Key(Sha256::digest(bytes).into())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key as a file's name.
    pub(crate) fn name(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_another_key() {
        let lists: [&[&str]; 6] = [&[], &[""], &["ab"], &["a", "b"], &["", "ab"], &["ab", ""]];
        for (at, one) in lists.iter().enumerate() {
            for (beside, other) in lists.iter().enumerate() {
                assert_eq!(Key::of(one) == Key::of(other), at == beside, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_name_is_the_hash_in_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Key::of_bytes(b"").name(), empty);
    }
}
