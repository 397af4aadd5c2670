//! Failures of portcullis itself: one sentence on standard error, its code, and the exit code.

use std::process::ExitCode;

use clap::error::ErrorKind;
use portcullis_gate::{Broken, BuildError};
use portcullis_policy::{Code, Problem, RuleId};
use portcullis_wasmtime::{LoadError, RunError};

use crate::output;

/// Why portcullis could not do what it was told, with the stable code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    rule: Option<RuleId>,
    /// What and why. May have several lines, where a place in a file is shown.
    error: anyhow::Error,
}

impl Failure {
    pub(crate) fn new(code: Code, error: impl Into<anyhow::Error>) -> Self {
        Self { code, rule: None, error: error.into() }
    }

    pub(crate) fn message(code: Code, message: impl Into<String>) -> Self {
        Self { code, rule: None, error: anyhow::Error::msg(message.into()) }
    }

    /// What and why, without the code.
    pub(crate) fn text(&self) -> String {
        in_one_line(self.error.chain())
    }

    /// Prints it, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let text = self.text();
        let separator = if text.contains('\n') { "\n" } else { " " };
        let rule = self.rule.as_ref().map(|rule| format!("rule {rule}, ")).unwrap_or_default();
        output::error(&format!("{text}{separator}[{rule}{}]", self.code));
        ExitCode::from(self.code.exit().code())
    }
}

/// An error and its causes, each once: wasmtime's repeat each other.
pub(crate) fn in_one_line(chain: anyhow::Chain<'_>) -> String {
    let mut text = String::new();
    for cause in chain {
        let cause = cause.to_string();
        if !text.contains(cause.trim()) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(cause.trim());
        }
    }
    text
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let Problem { code, rule, message, at: _, advice } = problem;
        let text = match advice {
            Some(advice) => format!("{message}; {advice}"),
            None => message,
        };
        Self { code, rule, error: anyhow::Error::msg(text) }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<Broken> for Failure {
    fn from(error: Broken) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let code = error.code();
        match error {
            // Its cause says the same again, in the linker's words.
            LoadError::Import { .. } => Self::message(code, error.to_string()),
            // Its causes repeat each other, and the last one may be a dump of bytes.
            LoadError::NotAComponent { ref source, .. } => {
                let cause = source.root_cause().to_string();
                Self::message(code, if cause.contains('\n') { error.to_string() } else { format!("{error}: {cause}") })
            }
            LoadError::Read { .. }
            | LoadError::TooLarge { .. }
            | LoadError::CoreModule { .. }
            | LoadError::NoMain { .. } => Self::new(code, error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::new(error.code(), error)
    }
}

/// Prints what clap found wrong, or the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if !error.use_stderr() {
        return match output::print(|out| write!(out, "{}", text.ansi())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        };
    }
    let text = text.to_string();
    let message = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::pass_error(&text);
        "a command is missing; the help above lists them"
    } else {
        text.strip_prefix("error: ").unwrap_or(&text).trim_end()
    };
    Failure::message(Code::Usage, message).report()
}
