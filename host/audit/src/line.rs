//! One line of a journal: how it is put together and taken apart.
//!
//! `{"v":1,"seq":…,"time":"…","prev":"…","type":"…", fields of the record}`, in this order, in printable ASCII.
//! What is hashed are the bytes of the line: nothing is ever serialised again to verify it.

use std::io::Write;

use jiff::Timestamp;
use serde::Serialize;
use thiserror::Error;

use crate::text::from_decimal;
use crate::{Hash, Stored, ascii, strict};

/// Version of a line: its `v`. Every line carries it, so that the hashed bytes say how to read them.
pub const VERSION: u64 = 1;

/// Version of the journal's format: [`Segment::format`](crate::Segment::format).
pub const FORMAT: u32 = 1;

/// Longest line that is written or read, in bytes without its newline: 256 KiB.
///
/// A bounded request, a bounded environment and every path together stay below it; a reader's memory is bounded
/// by it.
pub const LINE_BYTES: usize = 256 * 1024;

/// What every line has, and its record.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) header: Header,
    pub(crate) record: Stored,
}

/// What every line has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) seq: u64,
    pub(crate) time: Timestamp,
    pub(crate) prev: Hash,
    pub(crate) kind: String,
}

/// What is wrong with a line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// It is of a format that this release does not know.
    #[error("it has version {version}, and this release reads version {VERSION}")]
    Version {
        /// The line's `v`.
        version: u64,
    },
    /// It is longer than [`LINE_BYTES`].
    #[error("it is longer than {LINE_BYTES} bytes")]
    TooLong,
    /// It has a byte that is not printable ASCII, which no journal writes.
    #[error("byte {offset} is not printable ASCII")]
    Unprintable {
        /// The byte's offset in the line.
        offset: usize,
    },
    /// It does not begin with the fields of every line.
    #[error("{expected} is not where it should be")]
    Header {
        /// What should be there.
        expected: &'static str,
    },
    /// It is not JSON, or JSON that different readers read differently.
    #[error("it is not plain JSON")]
    Json {
        /// The reader's complaint.
        source: serde_json::Error,
    },
    /// A field of the record is missing or wrong.
    #[error("the fields of the '{kind}' record are wrong")]
    Fields {
        /// The record's type.
        kind: String,
        /// The reader's complaint.
        source: serde_json::Error,
    },
    /// A segment does not begin with its own record.
    #[error("a segment begins with a 'segment' record, and this one does not")]
    NotASegment,
    /// A `segment` record stands inside a segment.
    #[error("a 'segment' record stands inside a segment")]
    NestedSegment,
}

/// The record's own part of a line: its JSON object.
pub(crate) fn body<T: Serialize>(record: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut body = Vec::with_capacity(1024);
    ascii::write(&mut body, record)?;
    Ok(body)
}

/// Replaces `out` with the whole line, newline included.
pub(crate) fn assemble(out: &mut Vec<u8>, seq: u64, time: Timestamp, prev: Hash, body: &[u8]) -> std::io::Result<()> {
    out.clear();
    write!(out, "{{\"v\":{VERSION},\"seq\":{seq},\"time\":\"{time:.6}\",\"prev\":\"")?;
    out.extend_from_slice(&prev.to_hex());
    out.extend_from_slice(b"\",");
    out.extend_from_slice(body.strip_prefix(b"{").unwrap_or(body));
    out.push(b'\n');
    Ok(())
}

/// Reads a whole line (without its newline), strictly: nothing that a journal would not have written passes,
/// except new record types and new fields.
pub(crate) fn parse(line: &[u8]) -> Result<Line, LineProblem> {
    let text = text(line)?;
    let header = header(text)?;
    strict::check(text).map_err(|source| LineProblem::Json { source })?;
    let record = Stored::read(&header.kind, text)?;
    Ok(Line { header, record })
}

/// Reads only the fields of every line.
pub(crate) fn parse_header(line: &[u8]) -> Result<Header, LineProblem> {
    header(text(line)?)
}

fn text(line: &[u8]) -> Result<&str, LineProblem> {
    if line.len() > LINE_BYTES {
        return Err(LineProblem::TooLong);
    }
    if let Some(offset) = line.iter().position(|byte| !ascii::printable(*byte)) {
        return Err(LineProblem::Unprintable { offset });
    }
    std::str::from_utf8(line).map_err(|error| LineProblem::Unprintable { offset: error.valid_up_to() })
}

fn header(line: &str) -> Result<Header, LineProblem> {
    let mut rest = line;
    let version = field(&mut rest, "{\"v\":", ",", "the version 'v'", from_decimal)?;
    if version != VERSION {
        return Err(LineProblem::Version { version });
    }
    let seq = field(&mut rest, "\"seq\":", ",", "the number 'seq'", from_decimal)?;
    let time = field(&mut rest, "\"time\":\"", "\",", "the time 'time'", timestamp)?;
    let prev = field(&mut rest, "\"prev\":\"", "\",", "the link 'prev'", |text| text.parse().ok())?;
    let kind = field(&mut rest, "\"type\":\"", "\"", "the record's 'type'", kind)?;
    Ok(Header { seq, time, prev, kind })
}

/// Takes `before`, a value and `after` from the front of `rest`.
fn field<T>(
    rest: &mut &str,
    before: &str,
    after: &str,
    expected: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, LineProblem> {
    let taken = rest.strip_prefix(before).and_then(|rest| rest.split_once(after));
    let (value, remains) = taken.ok_or(LineProblem::Header { expected })?;
    *rest = remains;
    read(value).ok_or(LineProblem::Header { expected })
}

/// RFC 3339, UTC, microseconds: 27 characters.
fn timestamp(text: &str) -> Option<Timestamp> {
    let time: Timestamp = text.parse().ok()?;
    (format!("{time:.6}") == text).then_some(time)
}

fn kind(text: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!text.is_empty() && text.bytes().all(plain)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
