//! Compiled components on disk.

mod entry;
mod error;
mod sweep;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};

use portcullis_policy::Level;
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::compiled::PrivateFolder;

pub(crate) use entry::{Key, Seal};
pub use error::{CacheError, NotKept, Refused, Unsafe};

/// Compiled components in a directory, so that a tool is compiled once and not at each start.
///
/// What is loaded from it is native code that runs with the host's rights. So it is for hosts whose commands can't write
/// the directory: [`ComponentCache::open`] wants to know the confinement level, and nobody but the host's user may be
/// able to enter the directory. Give its path to [`GateBuilder::protect`](portcullis_gate::GateBuilder::protect) of every
/// gate of the same user, and see that none of those gates' policies accepts a lower level: a command that may write
/// whatever the user may can put code there for the next start.
///
/// An entry counts only for the same bytes, version and settings of wasmtime, processor features included, and only whole: a
/// digest finds what is torn or changed. What does not count is compiled again and replaced. Entries are written beside
/// their place and moved there, so any number of hosts share a directory. Together they have at most
/// [`ComponentCache::MAX_BYTES`], or what [`ComponentCache::max_bytes`] says; what was unused for longest goes.
///
/// ```no_run
/// use portcullis_policy::Level;
/// use portcullis_wasmtime::{ComponentCache, Tool, ToolEngine};
///
/// let cache = ComponentCache::open("/var/cache/my-host/components".as_ref(), Level::Landlock)?;
/// let engine = ToolEngine::new()?.cache(cache);
/// let tool = Tool::load(&engine, "tool.wasm".as_ref())?;
/// eprintln!("{}", tool.origin());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ComponentCache {
    path: PathBuf,
    folder: PrivateFolder,
    most: u64,
}

/// Where a component's native code comes from.
#[derive(Debug)]
#[must_use]
pub enum Origin {
    /// It was compiled; there is no cache.
    Compiled,
    /// It was compiled earlier, and found in the cache.
    Cached,
    /// It was compiled, and is in the cache from now on.
    Kept(Missed),
    /// It was compiled, and could not be put into the cache.
    NotKept(Missed, NotKept),
}

/// Why a component was not found in the cache.
#[derive(Debug)]
pub enum Missed {
    /// There is no entry for it.
    Absent,
    /// There is one, and it does not count.
    Refused(Refused),
}

impl ComponentCache {
    /// Most bytes of all entries together, unless said otherwise: 1 GiB.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Opens the directory, and makes it with mode 0700 where there is none.
    ///
    /// `level` is the least that every command is held to whose user owns the directory: a policy's
    /// [`level`](portcullis_policy::Policy::level).
    ///
    /// # Errors
    /// [`CacheError::Level`] below [`Level::Landlock`]; [`CacheError::Directory`] where the directory can't be made, is a
    /// symbolic link, belongs to somebody else, or others can enter it.
    pub fn open(directory: &Path, level: Level) -> Result<Self, CacheError> {
        match level {
            Level::Full | Level::Landlock => {}
            Level::Limits | Level::None => return Err(CacheError::Level { level }),
        }
        let path = directory.to_owned();
        match PrivateFolder::open(directory) {
            Ok(folder) => Ok(Self { path, folder, most: Self::MAX_BYTES }),
            Err(source) => Err(CacheError::Directory { path, source }),
        }
    }

    /// Sets how many bytes all entries may have together. One that is larger by itself is not kept.
    #[must_use]
    pub fn max_bytes(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    /// The directory, as it was opened.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.path
    }

    /// Loads a component's native code, or compiles it and keeps that. Trouble with the cache is no error: [`Origin`]
    /// says what it was.
    ///
    /// ```
    /// use portcullis_policy::Level;
    /// use portcullis_wasmtime::{ComponentCache, Origin};
    /// use wasmtime::Engine;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let cache = ComponentCache::open(&folder.path().join("components"), Level::Landlock)?;
    /// let engine = Engine::default();
    /// let empty = b"\0asm\x0d\0\x01\0";
    /// let (_, origin) = cache.load_or_compile(&engine, empty)?;
    /// assert!(matches!(origin, Origin::Kept(_)), "{origin}");
    /// let (_, origin) = cache.load_or_compile(&engine, empty)?;
    /// assert!(matches!(origin, Origin::Cached), "{origin}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the bytes are no component that this engine can compile.
    pub fn load_or_compile(&self, engine: &Engine, bytes: &[u8]) -> wasmtime::Result<(Component, Origin)> {
        self.load_or_compile_as(engine, bytes, &Sha256::digest(bytes).into())
    }

    /// The same, of bytes whose digest is known.
    pub(crate) fn load_or_compile_as(
        &self,
        engine: &Engine,
        bytes: &[u8],
        sha256: &[u8; 32],
    ) -> wasmtime::Result<(Component, Origin)> {
        let key = Key::new(engine, sha256);
        let missed = match self.folder.load(engine, &key, self.most) {
            Ok(Some(component)) => return Ok((component, Origin::Cached)),
            Ok(None) => Missed::Absent,
            Err(refused) => Missed::Refused(refused),
        };
        let component = Component::from_binary(engine, bytes)?;
        let origin = match self.keep(&key, &component) {
            Ok(()) => Origin::Kept(missed),
            Err(why) => Origin::NotKept(missed, why),
        };
        Ok((component, origin))
    }

    fn keep(&self, key: &Key, component: &Component) -> Result<(), NotKept> {
        let code = component.serialize().map_err(NotKept::Wasmtime)?;
        write::write(&self.folder, key, &code, self.most)?;
        sweep::sweep(&self.folder, self.most).map_err(NotKept::Sweep)
    }
}

/// As a host tells a person: `compiled, and kept in the cache`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiled => f.write_str("compiled; there is no cache"),
            Self::Cached => f.write_str("loaded from the cache"),
            Self::Kept(Missed::Absent) => f.write_str("compiled, and kept in the cache"),
            Self::Kept(Missed::Refused(refused)) => {
                write!(f, "compiled, and kept in the cache; what was there does not count: {}", Chain(refused))
            }
            Self::NotKept(Missed::Absent, why) => write!(f, "compiled, and not kept in the cache: {}", Chain(why)),
            Self::NotKept(Missed::Refused(refused), why) => {
                let (refused, why) = (Chain(refused), Chain(why));
                write!(f, "compiled; what the cache has does not count: {refused}; and it was not replaced: {why}")
            }
        }
    }
}

/// An error and its causes in one line.
struct Chain<'a>(&'a dyn std::error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}
