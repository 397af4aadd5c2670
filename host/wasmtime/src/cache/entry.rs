//! An entry: its name, and the header before wasmtime's own bytes.

use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::Refused;

/// Version of everything below. It is part of the key and of the header: another version is never even opened.
const VERSION: u32 = 1;
/// What an entry begins with.
const MAGIC: [u8; 16] = *b"portcullis-code\n";
/// Ends the name of an entry.
pub(crate) const SUFFIX: &str = ".cwasm";

/// What an entry is for: a component's bytes, the engine's version and settings, and the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub(crate) fn new(engine: &Engine, component: &[u8; 32]) -> Self {
        let mut digest = Digest(Sha256::new());
        digest.0.update(MAGIC);
        digest.0.update(VERSION.to_le_bytes());
        digest.0.update(component);
        // The compiler's target, its flags, the processor's features, wasmtime's settings and its whole version.
        engine.precompile_compatibility_hash().hash(&mut digest);
        Self(digest.0.finalize().into())
    }

    pub(crate) fn file_name(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + SUFFIX
    }
}

/// Feeds what is hashed into SHA-256. Numbers come in this machine's byte order: entries are for this machine only.
struct Digest(Sha256);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Nobody asks: the digest is taken from the field.
    fn finish(&self) -> u64 {
        0
    }
}

/// The fixed part of an entry: magic, version, key, length and SHA-256 of the code that follows.
pub(crate) struct Header;

impl Header {
    /// In bytes.
    pub(crate) const LENGTH: usize = 16 + 4 + 32 + 8 + 32;

    /// What is written before this code.
    pub(crate) fn of(key: &Key, code: &[u8]) -> [u8; Self::LENGTH] {
        let mut header = [0; Self::LENGTH];
        let parts: [&[u8]; 5] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &key.0,
            &(code.len() as u64).to_le_bytes(),
            &<[u8; 32]>::from(Sha256::digest(code)),
        ];
        let bytes = parts.into_iter().flatten();
        header.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        header
    }

    /// The code of an entry that is whole, and for this key.
    pub(crate) fn check<'a>(entry: &'a [u8], key: &Key) -> Result<&'a [u8], Refused> {
        let (header, code) = entry.split_at_checked(Self::LENGTH).ok_or(Refused::Cut)?;
        if header[..16] != MAGIC {
            return Err(Refused::Foreign);
        }
        if header[16..20] != VERSION.to_le_bytes() || header[20..52] != key.0 {
            return Err(Refused::Other);
        }
        if header[52..60] != (code.len() as u64).to_le_bytes() {
            return Err(Refused::Cut);
        }
        if header[60..] != Sha256::digest(code)[..] {
            return Err(Refused::Changed);
        }
        Ok(code)
    }
}
