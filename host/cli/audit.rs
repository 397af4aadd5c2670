//! `portcullis audit`: reading and verifying the journal.

mod calls;
mod details;
mod json;
mod table;
mod wanted;

use portcullis_audit::{Anchor, Head, JournalError, Reader, Verdict};
use portcullis_policy::{Code, visible};
use serde::Serialize;

use crate::args;
use crate::failure::Failure;
use crate::output::{self, BAD, DOUBT, GOOD, Voice};
use crate::state::JournalChoice;

pub(crate) fn show(arguments: &args::Show, journal: &JournalChoice, voice: Voice) -> Result<u8, Failure> {
    let args::Show { id, count, json } = arguments;
    let directory = journal.directory()?;
    let unreadable = |error| Failure::new(Code::JournalUnreadable, error);
    let reader = Reader::open(&directory).map_err(|error| {
        if !matches!(error, JournalError::NoJournal { .. }) {
            return unreadable(error);
        }
        let directory = visible(&directory.to_string_lossy()).to_string();
        let message = format!(
            "there is no journal in {directory} yet; `portcullis exec` begins one, and --journal names another"
        );
        Failure::message(Code::JournalUnreadable, message)
    })?;
    let entries = reader.filter_map(|entry| match entry {
        // A crash cut it off: all records before it are good, and the next one mends it.
        Err(error @ JournalError::TornTail { .. }) => {
            voice.say(&error.to_string());
            None
        }
        entry => Some(entry.map_err(unreadable)),
    });
    match (id, json) {
        (None, false) => table::print(entries, *count)?,
        (None, true) => json::print(entries, None, *count)?,
        (Some(id), false) => details::print(entries, id)?,
        (Some(id), true) => json::print(entries, Some(id), 0)?,
    }
    Ok(0)
}

pub(crate) fn verify(arguments: &args::Verify, journal: &JournalChoice) -> Result<u8, Failure> {
    let directory = journal.directory()?;
    let verdict = match arguments.head {
        Some(head) => portcullis_audit::verify_against(&directory, head),
        None => portcullis_audit::verify(&directory),
    };
    if arguments.json {
        output::print_json(&VerdictJson::of(&verdict))?;
    } else {
        output::print(|out| {
            let style = match &verdict {
                Verdict::Intact { anchor: Anchor::Held(_), .. } => GOOD,
                Verdict::Intact { anchor: Anchor::Unanchored, .. } | Verdict::TornTail { .. } => DOUBT,
                Verdict::Edited { .. }
                | Verdict::Missing { .. }
                | Verdict::Reordered { .. }
                | Verdict::Duplicate { .. }
                | Verdict::UnknownVersion { .. }
                | Verdict::Malformed { .. }
                | Verdict::Empty
                | Verdict::Shorter { .. }
                | Verdict::Forked { .. }
                | Verdict::Unreadable { .. } => BAD,
            };
            let text = verdict.to_string();
            let (word, rest) = text.split_once(':').unwrap_or((&text, ""));
            writeln!(out, "{style}{word}{style:#}:{rest}")
        })?;
    }
    Ok(verdict.exit_code())
}

/// A verdict as JSON.
#[derive(Serialize)]
struct VerdictJson {
    schema: u32,
    verdict: &'static str,
    exit_code: u8,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchored: Option<bool>,
}

impl VerdictJson {
    fn of(verdict: &Verdict) -> Self {
        let (mut head, mut anchored) = (None, None);
        if let Verdict::Intact { records, head: hash, anchor, .. } = verdict {
            head = Some(Head { records: *records, hash: *hash }.to_string());
            anchored = Some(matches!(anchor, Anchor::Held(_)));
        }
        Self {
            schema: 1,
            verdict: word(verdict),
            exit_code: verdict.exit_code(),
            message: verdict.to_string(),
            head,
            anchored,
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Intact { .. } => "intact",
        Verdict::TornTail { .. } => "torn-tail",
        Verdict::Edited { .. } => "edited",
        Verdict::Missing { .. } => "missing",
        Verdict::Reordered { .. } => "reordered",
        Verdict::Duplicate { .. } => "duplicate",
        Verdict::UnknownVersion { .. } => "unknown-version",
        Verdict::Malformed { .. } => "malformed",
        Verdict::Empty => "empty",
        Verdict::Shorter { .. } => "shorter",
        Verdict::Forked { .. } => "forked",
        Verdict::Unreadable { .. } => "unreadable",
    }
}
