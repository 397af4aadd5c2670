//! Failures of portcullis itself: one sentence on standard error, its code, and the exit code.

use std::process::ExitCode;

use portcullis_gate::{Broken, BuildError};
use portcullis_policy::{Code, Exit, Problem};
use portcullis_wasmtime::{LoadError, RunError};

use crate::output;

/// Why portcullis could not do what it was told, with the stable code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// What and why. May have several lines, where a place in a file is shown.
    error: anyhow::Error,
}

impl Failure {
    pub(crate) fn new(code: Code, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }

    pub(crate) fn message(code: Code, message: impl Into<String>) -> Self {
        Self { code, error: anyhow::Error::msg(message.into()) }
    }

    /// Prints it, and gives the exit code.
    pub(crate) fn report(&self, _quiet: bool) -> ExitCode {
        // The causes, each once: wasmtime's repeat each other.
        let mut text = String::new();
        for cause in self.error.chain() {
            let cause = cause.to_string();
            if !text.contains(cause.trim()) {
                if !text.is_empty() {
                    text.push_str(": ");
                }
                text.push_str(cause.trim());
            }
        }
        let separator = if text.contains('\n') { "\n" } else { " " };
        output::error(&format!("{text}{separator}[{}]", self.code));
        ExitCode::from(self.code.exit().code())
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let code = problem.code;
        let text = problem.to_string();
        // The report adds the code itself.
        let text = text.strip_suffix(&format!(" [{code}]")).unwrap_or(&text).to_owned();
        Self { code, error: anyhow::Error::msg(text) }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self { code: error.code(), error: error.into() }
    }
}

impl From<Broken> for Failure {
    fn from(error: Broken) -> Self {
        Self { code: error.code(), error: error.into() }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self { code: error.code(), error: error.into() }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self { code: error.code(), error: error.into() }
    }
}

/// Prints what clap found wrong, or the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if error.use_stderr() || printed.is_err() { ExitCode::from(Exit::Failed.code()) } else { ExitCode::SUCCESS }
}
