//! From the command line to a gate.

use portcullis_gate::Gate;
use tokio::runtime::Runtime;

use portcullis_policy::{Code, Level, Policy};

use crate::args;
use crate::failure::Failure;
use crate::output::Voice;
use crate::policy_source;
use crate::state::{self, JournalChoice};

/// Finds the policy, opens the journal, and builds the gate.
pub(crate) fn gate(arguments: &args::Gate, journal: &JournalChoice, voice: Voice) -> Result<Gate, Failure> {
    SetUp::new(arguments, voice)?.gate(journal, voice)
}

/// A gate whose policy is known, and that is not built yet.
pub(crate) struct SetUp<'a> {
    arguments: &'a args::Gate,
    policy: Policy,
    _trial: Option<Trial>,
}

/// A thread that finds out what this host can do. Dropping it waits until it knows: it has processes meanwhile.
struct Trial(Option<std::thread::JoinHandle<Level>>);

impl Drop for Trial {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // It has nothing to tell that building the gate does not find out.
            let _level = thread.join();
        }
    }
}

impl<'a> SetUp<'a> {
    /// Finds the policy. Where it wants commands confined, what this host can do is found out from now on, in the
    /// background: building the gate waits for that.
    pub(crate) fn new(arguments: &'a args::Gate, voice: Voice) -> Result<Self, Failure> {
        let found = policy_source::find(arguments)?;
        voice.tell(&format!("policy {} ({})", found.path.display(), found.policy.digest()));
        let trial = (found.policy.level() >= Level::Landlock).then(|| {
            let thread = std::thread::Builder::new().name("portcullis-trial".to_owned());
            // Without a thread the gate finds out by itself.
            Trial(thread.spawn(portcullis_runner::available_level).ok())
        });
        Ok(Self { arguments, policy: found.policy, _trial: trial })
    }

    pub(crate) fn level(&self) -> Level {
        self.policy.level()
    }

    /// Opens the journal and builds the gate.
    pub(crate) fn gate(self, journal: &JournalChoice, voice: Voice) -> Result<Gate, Failure> {
        let Self { arguments, policy, _trial } = self;
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
        let builder = Gate::builder(policy, journal).workspace(&arguments.workspace);
        Ok(protected.iter().fold(builder, |builder, (what, path)| builder.protect(what, path)).build()?)
    }
}

/// Commands and components wait more than they compute: one thread carries them all.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(Code::Internal, anyhow::Error::new(error).context("can't start the async runtime"))
    })
}
