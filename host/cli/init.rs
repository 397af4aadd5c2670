//! `portcullis init`: a commented policy to start from.

use std::fs::File;
use std::io::Write as _;

use portcullis_policy::{Code, visible};

use crate::args;
use crate::failure::Failure;
use crate::{output, policy_source};

/// The policy that is written; a test holds it against the parser.
const TEMPLATE: &str = include_str!("init.toml");

pub(crate) fn init(arguments: &args::Init) -> Result<u8, Failure> {
    let path = policy_source::of_workspace(&arguments.workspace);
    let shown = path.display().to_string();
    let shown = visible(&shown);
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let message = format!("{shown} is there already, and is left as it is; move it away for a fresh one");
            return Failure::message(Code::Usage, message);
        }
        Failure::new(Code::Internal, anyhow::Error::new(error).context(format!("can't write {shown}")))
    };
    let mut file = File::create_new(&path).map_err(failed)?;
    file.write_all(TEMPLATE.as_bytes()).map_err(failed)?;
    let place = arguments.workspace.display().to_string();
    let (trusted, workspace): (&[&str], &[&str]) =
        if place == "." { (&[], &[]) } else { (&[&place], &["--workspace", &place]) };
    let trust = [&["policy", "trust"], trusted].concat();
    let exec = [&["exec"], workspace, &["git", "status"]].concat();
    output::print(|out| {
        writeln!(out, "wrote {shown}")?;
        writeln!(out, "Read it, make it yours, then:")?;
        writeln!(out, "  {}", output::command_line("portcullis", trust))?;
        writeln!(out, "  {}", output::command_line("portcullis", exec))
    })?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::{Level, Policy};

    #[test]
    fn the_template_is_a_valid_policy() {
        let policy = Policy::parse("portcullis.toml", TEMPLATE).unwrap();
        assert!(policy.programs().count() > 0);
        assert_eq!(policy.level(), Level::Full);
    }

    #[test]
    fn what_the_template_suggests_in_comments_is_valid_too() {
        let is_key = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        let lines = TEMPLATE.lines().map(|line| line.strip_prefix("# ").filter(|line| is_key(line)).unwrap_or(line));
        let policy = Policy::parse("portcullis.toml", &lines.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(policy.deny(), [".env", ".git/hooks"]);
        let git = policy.programs().next().unwrap();
        assert!(git.runs_workspace_code() && git.write().is_some() && !policy.read().is_empty());
    }
}
