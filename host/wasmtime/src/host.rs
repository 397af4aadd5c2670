//! The host's side of `portcullis:shell/shell-exec`.

use portcullis_gate::{ExecError, Problem};
use portcullis_policy::{Code, SplitError, split};

use crate::bindings::{shell_exec, types};
use crate::{ShellExecCtxView, convert};

impl types::Host for ShellExecCtxView<'_> {}

impl shell_exec::Host for ShellExecCtxView<'_> {
    async fn exec(&mut self, command: types::Command) -> wasmtime::Result<Result<types::Outcome, types::Error>> {
        let session = std::sync::Arc::clone(&self.ctx.session);
        match session.exec(convert::request(command)).await {
            Ok(done) => Ok(Ok(convert::done(done))),
            Err(ExecError::Refused(problem)) => Ok(Err(convert::error(problem))),
            Err(ExecError::Broken(broken)) => Err(wasmtime::Error::new(broken)),
        }
    }

    fn check(&mut self, command: types::Command) -> wasmtime::Result<types::Verdict> {
        match self.ctx.session.check(&convert::request(command)) {
            Ok(verdict) => Ok(convert::verdict(verdict)),
            Err(broken) => Err(wasmtime::Error::new(broken)),
        }
    }

    fn split(&mut self, line: String) -> wasmtime::Result<Result<Vec<String>, types::Problem>> {
        Ok(split(&line).map_err(|error| {
            let code = match error {
                SplitError::NoClosingQuotation => Code::SplitQuotation,
                SplitError::NoEscapedCharacter => Code::SplitEscape,
            };
            convert::problem(Problem::new(code, error.to_string()))
        }))
    }
}
