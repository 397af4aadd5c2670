//! The format of a collection of attacks. Keys and kinds that are not known are errors: what a file says is done, or
//! the file is refused.
//!
//! Placeholders in texts: `@WS@` the workspace, `@OUT@` the place beside it (with `secret.txt`), `@PORT@` a listener on
//! the loopback, `@PATH@` the search path, `@PPID@` this process.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// A file of attacks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// Version of the format: 1.
    pub schema: Schema,
    /// Where the attacks come from; not used.
    #[serde(default, rename = "gtfobins")]
    pub _sources: toml::Table,
    /// The attacks.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
    /// Attacks on rules and approvals, which no command line shows; not used.
    #[serde(default, rename = "policy_case")]
    pub _policy_cases: Vec<toml::Table>,
}

/// The version of the format.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
pub struct Schema;

impl TryFrom<u32> for Schema {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        if version == 1 { Ok(Self) } else { Err(format!("schema {version} is not known; this reads schema 1")) }
    }
}

/// An attack.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, unique.
    pub id: String,
    /// The program that is misused; it may be started by another.
    pub program: String,
    /// The kind of attack.
    pub class: String,
    /// What is executed; the first is looked up.
    pub argv: Vec<String>,
    /// Where, if not in the workspace itself.
    pub cwd: Option<String>,
    /// Variables that the attacker sets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the command reads, else nothing.
    pub stdin: Option<String>,
    /// The user it works for, if not for everybody.
    pub user: Option<String>,
    /// Whether it works on a terminal only.
    #[serde(default)]
    pub needs_tty: bool,
    /// What has to be there first.
    #[serde(default)]
    pub setup: Vec<Step>,
    /// How to see that it worked.
    pub observe: Option<Observe>,
    /// Whether it worked where it was tried out.
    pub effect_happens: Option<bool>,
    /// What it does, for people.
    pub effect: String,
    /// What a runner has to answer.
    pub correct: Answer,
    /// For people: what a list of programs answers.
    #[serde(default, rename = "naive")]
    pub _naive: String,
    /// For people: what would be a rule against it.
    #[serde(default, rename = "rule")]
    pub _rule: String,
    /// For people: the package of the program.
    #[serde(default, rename = "debian_package")]
    pub _package: String,
    /// For people: whether a small Debian has it.
    #[serde(default, rename = "in_debian_12_base")]
    pub _in_base: bool,
    /// For people: where it is known from.
    #[serde(default, rename = "source")]
    pub _source: Vec<String>,
    /// Whether it was tried out.
    pub verified: bool,
    /// For people: with what.
    #[serde(default, rename = "verified_with")]
    pub _verified_with: Option<String>,
    /// For people.
    #[serde(default, rename = "note")]
    pub _note: Option<String>,
}

/// What a runner has to answer to an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The policy refuses it.
    Deny,
    /// A person decides.
    Ask,
    /// It runs, and the confinement contains it.
    Confine,
    /// The variable does not reach the command.
    StripEnv,
    /// The runner chooses the program.
    PinProgram,
    /// It is no attack, and runs.
    Allow,
    /// It does nothing.
    Inert,
}

impl Answer {
    /// As a file writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Confine => "confine",
            Self::StripEnv => "strip-env",
            Self::PinProgram => "pin-program",
            Self::Allow => "allow",
            Self::Inert => "inert",
        }
    }
}

/// Something that is made before a command runs. Paths are in the workspace unless absolute.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// A file with this text.
    File {
        /// Where.
        path: String,
        /// What.
        text: String,
        /// Octal; 0644 unless given.
        mode: Option<String>,
    },
    /// A symbolic link.
    Symlink {
        /// Where.
        path: String,
        /// What to.
        target: String,
    },
    /// A command, which must succeed.
    Run {
        /// It.
        argv: Vec<String>,
    },
    /// A file is made old.
    Touch {
        /// Which.
        path: String,
    },
    /// A file of 64-byte lines.
    Big {
        /// Where.
        path: String,
        /// How large, in KiB.
        kb: u64,
    },
    /// A file gets another name.
    Rename {
        /// Which.
        path: String,
        /// Its new name, in the workspace.
        to: String,
    },
    /// A symbolic link to a program.
    Linkprog {
        /// Where.
        path: String,
        /// The program.
        prog: String,
    },
    /// A shared library that leaves a mark when it is loaded.
    So {
        /// Where.
        path: String,
    },
    /// The same, for the loader's audit interface.
    Auditso {
        /// Where.
        path: String,
    },
    /// The same, for conversions of character sets.
    Gconv {
        /// Where.
        path: String,
    },
    /// The list of that name of the file's `fixtures`.
    Fixture {
        /// Its name.
        name: String,
    },
}

/// How to see that an attack worked.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Observe {
    /// Something is there.
    Exists {
        /// Where.
        path: String,
    },
    /// Something is gone.
    Absent {
        /// From where.
        path: String,
    },
    /// A symbolic link is there.
    Islink {
        /// Where.
        path: String,
    },
    /// A file contains a text.
    Contains {
        /// Which.
        path: String,
        /// What.
        text: String,
    },
    /// The command printed a text, on either stream.
    Output {
        /// What.
        text: String,
    },
    /// The listener got a text; for the empty one, somebody connected.
    Listener {
        /// What.
        text: String,
    },
    /// Somebody connected to the socket `@OUT@/s`.
    Unix,
    /// A command, afterwards and unconfined, succeeds.
    Cmd {
        /// It.
        argv: Vec<String>,
    },
    /// The command does not end by itself.
    Timeout,
}

/// Reads a file of attacks.
///
/// # Errors
/// The file can't be read, or says something that is not known.
pub fn read(path: &Path) -> Result<CaseFile> {
    parse(path)
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not what it should be", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let whole = format!(
            "schema = 1\n[[case]]\nid = 'a'\nprogram = 'p'\nclass = 'c'\nargv = ['p']\neffect = 'e'\ncorrect = 'deny'\n\
             verified = true\n{text}"
        );
        toml::from_str::<CaseFile>(&whole).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (text, named) in [
            ("observe = { kind = 'smell', path = 'x' }", "smell"),
            ("observe = { kind = 'exists', path = 'x', size = 3 }", "size"),
            ("setup = [{ kind = 'conjure', path = 'x' }]", "conjure"),
            ("surprise = 1", "surprise"),
        ] {
            assert!(refusal(text).contains(named), "{}", refusal(text));
        }
        let other = toml::from_str::<CaseFile>("schema = 2").unwrap_err().to_string();
        assert!(other.contains("schema 2 is not known"), "{other}");
    }
}
