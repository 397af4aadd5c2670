//! Why a journal could not be written or read.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use crate::LineProblem;

/// Why a journal could not be written or read. Nothing may run while one can't be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The directory is not there and can't be made.
    #[error("cannot create the journal's directory '{}'; check its parent, or name another with --journal", path.display())]
    CreateDirectory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The directory can't be opened or listed. A symbolic link in its place is refused.
    #[error("cannot open the journal's directory '{}'; it must be a directory of this user and not a symbolic link", path.display())]
    OpenDirectory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The directory or the segment belongs to somebody else.
    #[error("'{}' belongs to user {owner}, and the journal of user {user} must be its own; chown it, or name another with --journal", path.display())]
    Owner {
        /// The directory or segment.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who this process is.
        user: u32,
    },
    /// Others than the owner may read or write the directory or the segment, or the owner may not.
    #[error("'{}' has mode {mode:04o}; see that nobody else wrote to it, then 'chmod {expected:04o}' it", path.display())]
    Mode {
        /// The directory or segment.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// What they must be.
        expected: u32,
    },
    /// The segment is no regular file.
    #[error("'{}' is not a regular file; move it away, then start again", path.display())]
    NotAFile {
        /// The segment.
        path: PathBuf,
    },
    /// The segment has other names, through which others might write it.
    #[error("'{}' has {links} names; remove the others ('find -samefile'), since who can open one can change the journal", path.display())]
    Links {
        /// The segment.
        path: PathBuf,
        /// Number of names.
        links: u64,
    },
    /// The journal has segments that this release does not know how to follow.
    #[error("'{}' has the segment '{segment}', which this release can't follow; use the release that wrote it", path.display())]
    MoreSegments {
        /// The directory.
        path: PathBuf,
        /// The segment's file name.
        segment: String,
    },
    /// The directory, or a segment in it, is not there: nothing was ever recorded.
    #[error("there is no journal in '{}'; check the path", path.display())]
    NoJournal {
        /// The directory.
        path: PathBuf,
    },
    /// The segment can't be opened. A symbolic link in its place is refused.
    #[error("cannot open the journal's segment '{}'; it must be a regular file of this user", path.display())]
    OpenSegment {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The segment can't be locked against other writers.
    #[error("cannot lock the journal '{}'; put it on a local file system", path.display())]
    Lock {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The segment can't be read.
    #[error("cannot read the journal '{}'; check the disk and the file's permissions", path.display())]
    Read {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The segment's end can't be trusted as the parent of a new record.
    #[error("the journal '{}' is damaged at byte {offset}; see 'portcullis audit verify', then move the journal away to begin a new one", path.display())]
    Corrupt {
        /// The segment.
        path: PathBuf,
        /// Where the bad line begins, in bytes; a line that is too long begins there or before.
        offset: u64,
        /// What is wrong with it.
        #[source]
        problem: LineProblem,
    },
    /// The last line does not follow what this handle wrote before.
    #[error("the journal '{}' goes on with record {found} where at least {expected} was due; see 'portcullis audit verify', then move the journal away to begin a new one", path.display())]
    Discontinuous {
        /// The segment.
        path: PathBuf,
        /// Least sequence number that was due.
        expected: u64,
        /// Sequence number found.
        found: u64,
    },
    /// The segment is shorter than this handle left it.
    #[error("the journal '{}' was cut from {from} to {to} bytes by something else; see 'portcullis audit verify', then restart", path.display())]
    Shrunk {
        /// The segment.
        path: PathBuf,
        /// Bytes that it had.
        from: u64,
        /// Bytes of whole lines that it has.
        to: u64,
    },
    /// The segment was deleted while it was open.
    #[error("the journal '{}' was deleted while it was in use; find out by what, then restart", path.display())]
    Removed {
        /// The segment.
        path: PathBuf,
    },
    /// The record could not be written; nothing of it is in the journal.
    #[error("cannot write to the journal '{}'; free some space, or check the disk", path.display())]
    Write {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Only a part of the record could be written. The part was removed, or the next append removes it.
    #[error("only {written} of {bytes} bytes could be written to the journal '{}'; the disk or a quota is probably full: free some space", path.display())]
    Short {
        /// The segment.
        path: PathBuf,
        /// Bytes written.
        written: u64,
        /// Bytes of the line.
        bytes: u64,
    },
    /// The record would take the segment beyond this process's limit for file sizes. It was not tried, since the
    /// kernel answers the attempt with SIGXFSZ, which ends a process that does not ignore it.
    #[error("the journal '{}' would grow beyond this process's file size limit of {limit} bytes; raise it ('ulimit -f')", path.display())]
    FileLimit {
        /// The segment.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The fragment of a torn record could not be removed.
    #[error("cannot repair the torn end of the journal '{}'; check the disk and the file's attributes", path.display())]
    Cut {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The journal could not be brought to the disk. Final for this handle: after a failed flush, a second one
    /// may succeed although the data are lost.
    #[error("cannot flush the journal '{}' to the disk, so its last records may be lost; check the disk, then restart", path.display())]
    Sync {
        /// The segment or directory.
        path: PathBuf,
        /// The cause: of the first failure, however often it is told.
        source: Arc<io::Error>,
    },
    /// The record is longer than [`LINE_BYTES`](crate::LINE_BYTES). Its texts were not bounded.
    #[error("a record of {bytes} bytes is too long for the journal; bound its request, environment and message first")]
    TooLong {
        /// Bytes of the line.
        bytes: usize,
    },
    /// The record has no JSON form.
    #[error("cannot encode a record for the journal; this is a bug, please report it")]
    Encode {
        /// The cause.
        source: serde_json::Error,
    },
    /// The record is one that only the journal itself writes.
    #[error("a '{kind}' record is written by the journal itself; append another one")]
    Reserved {
        /// The record's type.
        kind: &'static str,
    },
    /// The intent names another decision than the one it is written for.
    #[error(
        "the intent of call {call} names another decision than it is written for; make it from the decision that was taken"
    )]
    Subject {
        /// The call.
        call: crate::CallId,
    },
    /// A line is not what a journal writes.
    #[error("line {line} of the journal '{}' is damaged; see 'portcullis audit verify'", path.display())]
    Malformed {
        /// The segment.
        path: PathBuf,
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        problem: LineProblem,
    },
    /// The journal's last line is not finished: a crash cut it off.
    #[error("the journal '{}' ends in {bytes} bytes of an unfinished record; the next append repairs it", path.display())]
    TornTail {
        /// The segment.
        path: PathBuf,
        /// Bytes of the fragment.
        bytes: u64,
    },
}
