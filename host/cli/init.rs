//! `portcullis init`: a commented policy to start from.

use std::fs::File;
use std::io::Write as _;

use portcullis_policy::Code;

use crate::args;
use crate::failure::Failure;
use crate::output;
use crate::policy_source::WORKSPACE_POLICY;

/// The policy that is written; a test holds it against the parser.
const TEMPLATE: &str = include_str!("init.toml");

pub(crate) fn init(arguments: &args::Init) -> Result<u8, Failure> {
    let path = arguments.workspace.join(WORKSPACE_POLICY);
    let failed = |error: std::io::Error| {
        let context = if error.kind() == std::io::ErrorKind::AlreadyExists {
            format!("{} is there already, and is left as it is", path.display())
        } else {
            format!("can't write {}", path.display())
        };
        Failure::new(Code::PolicyUnreadable, anyhow::Error::new(error).context(context))
    };
    let mut file = File::create_new(&path).map_err(failed)?;
    file.write_all(TEMPLATE.as_bytes()).map_err(failed)?;
    let place = output::command_line(&path.display().to_string(), []);
    output::print(|out| {
        writeln!(out, "wrote {}", path.display())?;
        writeln!(out, "Read it, make it yours, then:")?;
        writeln!(out, "  portcullis policy trust {place}")?;
        writeln!(out, "  portcullis exec -- git status")
    })?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::Policy;

    #[test]
    fn the_template_is_a_valid_policy() {
        let policy = Policy::parse("portcullis.toml", TEMPLATE).unwrap();
        assert!(policy.programs().count() > 0);
    }
}
