//! An entry: its name, and the seal behind wasmtime's own bytes.

use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::Refused;

/// Version of everything below. It is part of the key and of the seal: another version is never even opened.
const VERSION: u32 = 1;
/// What a seal begins with.
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

/// What an entry ends with: magic, version, key, length and SHA-256 of the code before it. It stands at the end, so that
/// the code can be mapped as it is.
pub(crate) struct Seal;

impl Seal {
    /// In bytes.
    pub(crate) const LENGTH: usize = 16 + 4 + 32 + 8 + 32;

    /// What is written behind this code.
    pub(crate) fn of(key: &Key, code: &[u8]) -> [u8; Self::LENGTH] {
        let mut seal = [0; Self::LENGTH];
        let parts: [&[u8]; 5] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &key.0,
            &(code.len() as u64).to_le_bytes(),
            &<[u8; 32]>::from(Sha256::digest(code)),
        ];
        let bytes = parts.into_iter().flatten();
        seal.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        seal
    }

    /// The digest that so many bytes of code must have, if this seals them, for this key.
    pub(crate) fn digest<'a>(seal: &'a [u8; Self::LENGTH], key: &Key, code_length: u64) -> Result<&'a [u8], Refused> {
        if seal[..16] != MAGIC {
            return Err(Refused::Foreign);
        }
        if seal[16..20] != VERSION.to_le_bytes() || seal[20..52] != key.0 {
            return Err(Refused::Other);
        }
        if seal[52..60] != code_length.to_le_bytes() {
            return Err(Refused::Cut);
        }
        Ok(&seal[60..])
    }
}
