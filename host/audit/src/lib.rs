//! Append-only, tamper-evident journal of requests, decisions and outcomes.
//!
//! # Model
//! A journal is a directory (0700) with one segment file (0600), named after its first record. A record is one line
//! of JSON in printable ASCII, whatever a guest put into it:
//!
//! ```json
//! {"v":1,"seq":7,"time":"2026-01-31T12:00:00.000001Z","prev":"5fec…","type":"session-end", …}
//! ```
//!
//! `prev` is the RFC 6962 leaf hash, `SHA-256(0x00 || line)`, of the line before without its newline; the first
//! line has 64 zeros. The hash covers the bytes on disk: nothing is serialised again to verify it. A journal is a
//! list of Merkle leaves as it stands.
//!
//! Around a command stand two records: the [`Intent`] before its start and the [`Outcome`] after its end.
//! [`Journal::append_intent`] returns an [`IntentReceipt`], and what starts commands takes nothing else: without an
//! intent in the journal there is no command. An intent without outcome reads as "started, outcome unknown".
//!
//! # What holds
//! - Many processes may append to one journal at once (`flock` around one `write(2)`); the chain stays linear.
//! - A failed append (full disk, quota, file size limit) is an error and leaves nothing of the record. A record
//!   torn by a crash is removed by the next append, which notes its length and digest.
//! - Records survive a crash of the host at once, and a power loss as [`Durability`] says.
//! - [`verify`] finds changed, missing, moved, copied and inserted records. It can't find a cut or wholly rewritten
//!   end: hold a [`Head`] elsewhere and use [`verify_against`].
//!
//! A writer that is stopped in the middle of an append (`SIGSTOP`) holds the lock, and the others wait for it. The
//! write limit `RLIMIT_FSIZE` is looked at before every append, so that this process does not die of `SIGXFSZ`.
//!
//! # Example
//! ```
//! use std::num::NonZeroU64;
//!
//! use portcullis_audit::{
//!     CallId, Caller, CallerKind, Hash, Intent, Journal, Limits, Options, Outcome, Program, Record, Request,
//!     SessionId, SessionStart, Status, Stdin, Usage, Verdict, verify,
//! };
//!
//! # let parent = tempfile::tempdir()?;
//! # let dir = parent.path().join("journal");
//! let journal = Journal::open(&dir, Options::default())?;
//!
//! let session = SessionId::from_bytes([0x9f, 0x2c, 0x41, 0xd0, 0x7a, 0x3b, 0xe6, 0x15]);
//! journal.append(&Record::SessionStart(SessionStart {
//!     session,
//!     caller: Caller { kind: CallerKind::Cli, name: "portcullis".to_owned(), digest: None },
//!     policy: Hash::of(b"the policy's text"),
//!     workspace: "/home/u/project".to_owned(),
//!     pid: std::process::id(),
//! }))?;
//!
//! let decision = Hash::of(b"the decision");
//! let intent = Intent {
//!     call: CallId::new(session, NonZeroU64::MIN),
//!     request: Request {
//!         program: "git".to_owned(),
//!         arguments: vec!["status".to_owned()],
//!         cwd: None,
//!         env: Vec::new(),
//!         stdin: Stdin::Empty,
//!         network: false,
//!         merge_stderr: false,
//!         reason: None,
//!         call_id: None,
//!         omitted: None,
//!     },
//!     decision,
//!     rules: vec!["git-read".to_owned()],
//!     program: Program {
//!         name: "git".to_owned(),
//!         path: "/usr/bin/git".to_owned(),
//!         device: 2049,
//!         inode: 1234,
//!         sha256: None,
//!         script: None,
//!     },
//!     cwd: "/home/u/project".to_owned(),
//!     env: vec![("LANG".to_owned(), "C.UTF-8".to_owned())],
//!     env_omitted: None,
//!     limits: Limits {
//!         wall_ns: 10_000_000_000,
//!         output_bytes: 1 << 20,
//!         cpu_ns: None,
//!         memory_bytes: None,
//!         processes: None,
//!         file_size_bytes: None,
//!         open_files: None,
//!     },
//!     network: false,
//!     level: "full".to_owned(),
//! };
//! let receipt = journal.append_intent(&intent.bounded(), *decision.as_bytes())?;
//! assert_eq!(receipt.subject(), decision.as_bytes());
//!
//! // … the command runs …
//!
//! journal.append(&Record::Outcome(Outcome {
//!     call: *receipt.call(),
//!     status: Status::Exited { code: 0 },
//!     stdout: None,
//!     stderr: None,
//!     usage: Usage {
//!         wall_ns: 2_000_000,
//!         user_ns: 1_000_000,
//!         system_ns: 500_000,
//!         peak_memory_bytes: 4 << 20,
//!         leftover_processes: Some(0),
//!     },
//!     level: "full".to_owned(),
//!     missing: Vec::new(),
//! }))?;
//! journal.flush()?;
//!
//! let verdict = verify(&dir);
//! assert!(matches!(verdict, Verdict::Intact { records: 4, open_sessions: 1, .. }), "{verdict}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Platforms
//! Reading and verification build everywhere. Writing needs Unix.

#![forbid(unsafe_code)]
#![cfg_attr(not(unix), expect(dead_code, reason = "the writer needs Unix"))]

mod ascii;
mod bound;
mod error;
mod hash;
mod id;
mod intent;
mod line;
mod outcome;
mod reader;
mod receipt;
mod record;
mod request;
mod scan;
mod segments;
mod strict;
mod tail;
mod text;
mod verdict;
mod verify;

#[cfg(unix)]
mod appender;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod flush;
#[cfg(unix)]
mod journal;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod writer;

#[cfg(test)]
mod testing;

pub use bound::{ENVIRONMENT_BYTES, MESSAGE_BYTES, REQUEST_BYTES};
pub use error::JournalError;
pub use hash::Hash;
pub use id::{CallId, SessionId};
pub use intent::{Intent, Limits, Program, Script};
#[cfg(unix)]
pub use journal::{Appended, Journal};
pub use line::{FORMAT, LINE_BYTES, LineProblem, VERSION};
#[cfg(unix)]
pub use options::{Durability, Options};
pub use outcome::{Outcome, Status, Stream, Usage};
pub use reader::{Entry, Reader};
pub use receipt::IntentReceipt;
pub use record::{
    Caller, CallerKind, Check, CheckVerdict, EndReason, Record, Refusal, Repeated, Segment, SessionEnd, SessionStart,
    Stored, TornTail, UnknownRecord,
};
pub use request::{Omitted, Problem, ProblemKind, Request, Stdin};
pub use text::ParseError;
pub use verdict::{Anchor, Head, Verdict};
pub use verify::{verify, verify_against};
