//! The journal's records as lines of JSON.

use std::collections::VecDeque;

use portcullis_audit::{Entry, Record, Stored};
use serde::Serialize;

use super::wanted::{Wanted, not_there};
use crate::failure::Failure;
use crate::output;

/// One record as a line of JSON.
#[derive(Serialize)]
struct EntryJson<'a> {
    seq: u64,
    time: String,
    #[serde(flatten)]
    record: &'a Record,
}

/// Prints records as lines of JSON: those of an id, or the newest `most` (0 = all).
pub(super) fn print(
    entries: impl Iterator<Item = Result<Entry, Failure>>,
    id: Option<&str>,
    most: usize,
) -> Result<(), Failure> {
    let wanted = id.map(Wanted::parse).transpose()?;
    let mut newest = VecDeque::new();
    let mut found = false;
    for entry in entries {
        let entry = entry?;
        let line = match &entry.record {
            Stored::Known(record) if wanted.as_ref().is_none_or(|wanted| wanted.fits(record)) => {
                // As the journal itself has it: six digits, zeros included.
                let time = entry.time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
                output::json(&EntryJson { seq: entry.seq, time, record })?
            }
            Stored::Unknown(unknown) if wanted.is_none() => unknown.line.clone(),
            Stored::Known(_) | Stored::Unknown(_) => continue,
        };
        found = true;
        if most == 0 {
            output::print(|out| writeln!(out, "{line}"))?;
        } else {
            newest.push_back(line);
            if newest.len() > most {
                newest.pop_front();
            }
        }
    }
    if let (Some(id), false) = (id, found) {
        return Err(not_there(id));
    }
    output::print(|out| newest.iter().try_for_each(|line| writeln!(out, "{line}")))
}
