//! The key of compiled code: the text, the architecture, and the compiler with its options. Modules in memory and files
//! on disk are found by it.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

/// The SHA-256 of everything that determines the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeKey([u8; 32]);

/// The first bytes are enough, because all bytes of a SHA-256 depend on the whole input.
impl Hash for CodeKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.first_chunk::<8>().hash(state);
    }
}

impl CodeKey {
    /// Returns the key of some texts: it hashes the length and the bytes of each, so different lists have different
    /// inputs.
    pub(crate) fn of(texts: &[&str]) -> CodeKey {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        CodeKey(hash.finalize().into())
    }

    /// Returns the checksum of bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> CodeKey {
        CodeKey(Sha256::digest(bytes).into())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the key as the name of a file.
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
                assert_eq!(
                    CodeKey::of(one) == CodeKey::of(other),
                    at == beside,
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_name_is_the_hash_in_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(CodeKey::of_bytes(b"").name(), empty);
    }
}
