//! From the command line to a gate.

use portcullis_gate::Gate;
use tokio::runtime::Runtime;

use portcullis_policy::Code;

use crate::args;
use crate::failure::Failure;
use crate::output::Voice;
use crate::policy_source;
use crate::state::{self, JournalChoice};

/// Finds the policy, opens the journal, and builds the gate.
pub(crate) fn gate(arguments: &args::Gate, journal: &JournalChoice, voice: Voice) -> Result<Gate, Failure> {
    let found = policy_source::find(arguments)?;
    voice.tell(&format!("policy {} ({})", found.path.display(), found.policy.digest()));
    let protected = [
        ("portcullis's state", state::state_directory()?),
        ("portcullis's cache", state::cache_directory()?),
        ("the user's configuration of portcullis", state::config_directory()?),
    ];
    // Before the journal is made: a refusal leaves nothing in the workspace.
    let places = protected.iter().cloned().chain([("the journal", journal.directory()?)]);
    portcullis_gate::check_workspace(&arguments.workspace, places)?;
    let journal = journal.open()?;
    voice.tell(&format!("journal {}", journal.dir().display()));
    let builder = Gate::builder(found.policy, journal).workspace(&arguments.workspace);
    Ok(protected.iter().fold(builder, |builder, (what, path)| builder.protect(what, path)).build()?)
}

/// Commands and components wait more than they compute: one thread carries them all.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(Code::Internal, anyhow::Error::new(error).context("can't start the async runtime"))
    })
}
