//! What can be wrong with a cache. None of it keeps a component from running.

use std::io;
use std::path::PathBuf;

use portcullis_policy::Level;

/// A cache that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Commands are not kept from the directory.
    #[error(
        "compiled components are kept only where the policy demands confinement level `landlock` or `full`; at \
         `{level}` a command could put code of its own there"
    )]
    Level {
        /// The level that was named.
        level: Level,
    },
    /// The directory can't be trusted, or not be made.
    #[error("can't keep compiled components in {}", path.display())]
    Directory {
        /// As it was given.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Unsafe,
    },
}

/// Why a directory, or a file in it, is not taken for the user's own.
#[derive(Debug, thiserror::Error)]
pub enum Unsafe {
    /// It can't be made, opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a symbolic link, or no directory where one should be, or no regular file.
    #[error("it is a symbolic link, or of another kind than it should be")]
    Kind,
    /// It belongs to somebody else.
    #[error("it belongs to user {owner}, not to {user}, who runs this")]
    Owner {
        /// Whose it is.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Its mode lets others in.
    #[error("others may use it (mode {0:o}, which should end in 00)")]
    Mode(u32),
    /// It has further names, which may lie where commands can write.
    #[error("it has {0} names (hard links)")]
    Links(u64),
}

/// Why an entry does not count.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Somebody else may have written it, or it can't be read.
    #[error(transparent)]
    Unsafe(#[from] Unsafe),
    /// It is larger than the whole cache may be; its size in bytes.
    #[error("it has {0} bytes, more than the cache may have")]
    TooLarge(u64),
    /// It is shorter than any entry, or has another length than it says.
    #[error("it is shorter or longer than it should be")]
    Cut,
    /// It does not end as an entry does: it was cut, or never was one.
    #[error("it is no entry, or cut short")]
    Foreign,
    /// It is for another component or engine, or of another format.
    #[error("it is an entry for something else, or of another release")]
    Other,
    /// Its digest is not that of its code.
    #[error("it was changed since it was written")]
    Changed,
    /// wasmtime does not take it.
    #[error("wasmtime does not take it: {0:#}")]
    Wasmtime(wasmtime::Error),
}

/// Why compiled code was not put into the cache, or not quietly.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// Its code can't be made into bytes.
    #[error("wasmtime does not serialise it: {0:#}")]
    Wasmtime(wasmtime::Error),
    /// It is larger than the whole cache may be.
    #[error("it has {bytes} bytes, and all entries together may have {most}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most.
        most: u64,
    },
    /// The process may not write files as large as it; going on would end the process.
    #[error("it has {bytes} bytes, and this process may write files of {most} (ulimit -f)")]
    FileSize {
        /// Its size.
        bytes: u64,
        /// The most.
        most: u64,
    },
    /// It can't be written.
    #[error("can't write it")]
    Write(#[source] io::Error),
    /// It was written, and what is old can't be removed.
    #[error("it was written, but what is old can't be removed")]
    Sweep(#[source] io::Error),
}
