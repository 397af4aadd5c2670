//! Checking the form of a request: whether it could be a command at all.

use std::collections::BTreeSet;

use crate::names::VariableName;
use crate::show::excerpt;
use crate::{Code, Problem, ProgramName, Request, Stdin};

/// A request whose form is right. Made by [`Request::validate`] only.
#[derive(Debug, Clone)]
pub struct ValidRequest<'a> {
    request: &'a Request,
    program: ProgramName,
    cwd: String,
    env: Vec<(VariableName, &'a str)>,
}

impl ValidRequest<'_> {
    /// The program asked for.
    #[must_use]
    pub fn program(&self) -> &ProgramName {
        &self.program
    }

    /// `argv[1..]`.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.request.arguments
    }

    pub(crate) fn cwd(&self) -> &str {
        &self.cwd
    }

    pub(crate) fn env(&self) -> &[(VariableName, &str)] {
        &self.env
    }

    pub(crate) fn request(&self) -> &Request {
        self.request
    }
}

impl Request {
    /// Checks the form of the request. Nothing is decided here.
    ///
    /// # Errors
    /// A problem of kind [`Invalid`](crate::ProblemKind::Invalid), or `shell.cwd.outside` for a directory that
    /// leaves the workspace by its very text.
    pub fn validate(&self) -> Result<ValidRequest<'_>, Problem> {
        let program = self.valid_program()?;
        self.valid_arguments()?;
        let cwd = self.valid_cwd()?;
        let env = self.valid_env()?;
        self.valid_sizes()?;
        Ok(ValidRequest { request: self, program, cwd, env })
    }

    fn valid_program(&self) -> Result<ProgramName, Problem> {
        if self.program.is_empty() {
            return Err(Problem::new(Code::ArgvEmpty, "no program is named; give the name of one, such as `git`"));
        }
        if self.program.contains('\0') {
            return Err(Problem::new(Code::ArgvNul, "the program's name contains NUL, which no program can receive"));
        }
        ProgramName::new(&self.program).map_err(|problem| {
            Problem::new(Code::ProgramName, format!("the program name `{}` {problem}", excerpt(&self.program)))
        })
    }

    fn valid_arguments(&self) -> Result<(), Problem> {
        let too_large = |message| Problem::new(Code::ArgvTooLarge, message);
        if self.arguments.len() > Self::MAX_ARGUMENTS {
            let message = format!("{} arguments; at most {} can be given", self.arguments.len(), Self::MAX_ARGUMENTS);
            return Err(too_large(message));
        }
        let mut bytes = 0_usize;
        for (index, argument) in self.arguments.iter().enumerate() {
            // People count from one.
            let number = index + 1;
            bytes = bytes.saturating_add(argument.len() + 1);
            if argument.len() >= Self::MAX_STRING_BYTES {
                let message = format!(
                    "argument {number} has {} bytes; one argument has fewer than {}",
                    argument.len(),
                    Self::MAX_STRING_BYTES
                );
                return Err(too_large(message).at(index));
            }
            if argument.contains('\0') {
                let message = format!("argument {number} contains NUL, which no program can receive");
                return Err(Problem::new(Code::ArgvNul, message).at(index));
            }
        }
        if bytes > Self::MAX_ARGUMENT_BYTES {
            let message = format!("{bytes} bytes of arguments; at most {} can be given", Self::MAX_ARGUMENT_BYTES);
            return Err(too_large(message));
        }
        Ok(())
    }

    /// The directory with `.` and doubled slashes taken out; empty = the workspace.
    fn valid_cwd(&self) -> Result<String, Problem> {
        let Some(cwd) = &self.cwd else { return Ok(String::new()) };
        let invalid = |message: String| Problem::new(Code::CwdInvalid, message);
        if cwd.is_empty() {
            return Err(invalid("the working directory is empty; leave it out for the workspace itself".to_owned()));
        }
        if cwd.len() > Self::MAX_CWD_BYTES {
            return Err(invalid(format!(
                "the working directory has {} bytes; at most {} can be given",
                cwd.len(),
                Self::MAX_CWD_BYTES
            )));
        }
        if cwd.contains('\0') {
            return Err(Problem::new(Code::ArgvNul, "the working directory contains NUL"));
        }
        if cwd.starts_with('/') {
            return Err(invalid(format!(
                "the working directory `{}` is absolute; give one relative to the workspace",
                excerpt(cwd)
            )));
        }
        let parts: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            let message = format!(
                "the working directory `{}` contains `..`; name the directory from the workspace down",
                excerpt(cwd)
            );
            return Err(Problem::new(Code::CwdOutside, message));
        }
        Ok(parts.join("/"))
    }

    fn valid_env(&self) -> Result<Vec<(VariableName, &str)>, Problem> {
        if self.env.len() > Self::MAX_VARIABLES {
            let message =
                format!("{} environment variables; at most {} can be given", self.env.len(), Self::MAX_VARIABLES);
            return Err(Problem::new(Code::EnvTooLarge, message));
        }
        let mut bytes = 0_usize;
        let mut seen = BTreeSet::new();
        let mut valid = Vec::with_capacity(self.env.len());
        for (name, value) in &self.env {
            let size = name.len().saturating_add(value.len()).saturating_add(2);
            bytes = bytes.saturating_add(size);
            if size > Self::MAX_STRING_BYTES || bytes > Self::MAX_VARIABLE_BYTES {
                let message = format!(
                    "too many bytes of environment; one variable has at most {}, all together {}",
                    Self::MAX_STRING_BYTES,
                    Self::MAX_VARIABLE_BYTES
                );
                return Err(Problem::new(Code::EnvTooLarge, message));
            }
            let name = VariableName::new(name).map_err(|problem| Problem::new(Code::EnvName, problem))?;
            if value.contains('\0') {
                let message = format!("the value of `{}` contains NUL", excerpt(name.as_str()));
                return Err(Problem::new(Code::EnvValue, message));
            }
            if !seen.insert(name.clone()) {
                let message = format!("`{}` is given twice", excerpt(name.as_str()));
                return Err(Problem::new(Code::EnvName, message));
            }
            valid.push((name, value.as_str()));
        }
        Ok(valid)
    }

    fn valid_sizes(&self) -> Result<(), Problem> {
        if let Stdin::Bytes(bytes) = &self.stdin
            && bytes.len() > Self::MAX_STDIN_BYTES
        {
            let message =
                format!("{} bytes of standard input; at most {} can be given", bytes.len(), Self::MAX_STDIN_BYTES);
            return Err(Problem::new(Code::StdinTooLarge, message));
        }
        let texts =
            [("reason", &self.reason, Self::MAX_REASON_BYTES), ("call id", &self.call_id, Self::MAX_CALL_ID_BYTES)];
        for (what, text, most) in texts {
            let length = text.as_ref().map_or(0, String::len);
            if length > most {
                return Err(Problem::new(
                    Code::TextTooLarge,
                    format!("the {what} has {length} bytes; at most {most} can be given"),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
