//! SHA-256 values, as the records hold them.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::text::{ParseError, from_hex, text_serde, to_hex};

/// A SHA-256 value. Its text form is 64 lower-case hexadecimal digits.
///
/// ```
/// use portcullis_audit::Hash;
///
/// let empty = Hash::of(b"");
/// assert_eq!(
///     empty.to_string(),
///     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
/// );
/// assert_eq!(empty.to_string().parse(), Ok(empty));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The parent of a journal's first line: 64 zeros. A verifier starts here, never at what it finds.
    pub const GENESIS: Self = Self([0; 32]);

    /// The SHA-256 of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The RFC 6962 leaf hash, `SHA-256(0x00 || line)`, of one line of a journal without its newline.
    ///
    /// The prefix keeps a leaf from ever being taken for an inner node of a Merkle tree over the same lines
    /// (RFC 6962, section 2.1).
    #[must_use]
    pub fn leaf(line: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update([0]);
        hash.update(line);
        Self(hash.finalize().into())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The text form as ASCII bytes.
    pub(crate) fn to_hex(self) -> [u8; 64] {
        let mut hex = [0; 64];
        to_hex(&self.0, &mut hex);
        hex
    }
}

impl From<[u8; 32]> for Hash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl From<Sha256> for Hash {
    fn from(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_hex()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        from_hex(text).map(Self).ok_or(ParseError { expected: "64 lower-case hexadecimal digits" })
    }
}

text_serde!(Hash);
