//! Names that a policy gives to programs, rules and variables.

use std::fmt;

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};

use crate::show::{deceives, excerpt};

/// Name of an entry of the program table: a file name without a directory, such as `git`.
///
/// One to 255 bytes; no `/`, no white space, no control characters (NUL is one), nothing invisible, and neither `.`
/// nor `..`. So it can be shown as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProgramName(String);

impl ProgramName {
    /// Longest name, in bytes: the limit of a file name on Linux (`NAME_MAX`).
    pub const MAX_BYTES: usize = 255;

    /// Checks a name.
    ///
    /// # Errors
    /// A sentence fragment that says what is wrong with it, to follow "the program name … ".
    pub fn new(name: &str) -> Result<Self, &'static str> {
        if name.is_empty() {
            Err("is empty")
        } else if name.len() > Self::MAX_BYTES {
            Err("is longer than 255 bytes")
        } else if name.contains('/') {
            Err("contains `/`: programs are asked for by name, and the policy says which file that is")
        } else if name == "." || name == ".." {
            Err("is a directory")
        } else if name.chars().any(|c| c.is_control() || c.is_whitespace()) {
            Err("contains white space or a control character")
        } else if name.chars().any(deceives) {
            Err("contains an invisible character")
        } else {
            Ok(Self(name.to_owned()))
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProgramName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Id of a rule, unique in its policy: 1 to 64 of `a-z`, `0-9`, `-`, `.`, `/`, `_`.
///
/// Ids are shown to guests, so they must not hold what guests should not see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(String);

impl RuleId {
    /// Longest id, in bytes.
    pub const MAX_BYTES: usize = 64;

    pub(crate) fn new(id: &str) -> Result<Self, &'static str> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./_".contains(c);
        if id.is_empty() || id.len() > Self::MAX_BYTES || !id.chars().all(fits) {
            return Err("is not 1 to 64 of a-z, 0-9, `-`, `.`, `/`, `_`");
        }
        Ok(Self(id.to_owned()))
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of an environment variable: not empty, no `=`, no NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub(crate) struct VariableName(String);

impl VariableName {
    pub(crate) fn new(name: &str) -> Result<Self, &'static str> {
        if name.is_empty() {
            Err("the name of an environment variable can't be empty")
        } else if name.contains('=') {
            Err("the name of an environment variable can't contain `=`")
        } else if name.contains('\0') {
            Err("the name of an environment variable can't contain NUL")
        } else {
            Ok(Self(name.to_owned()))
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! deserialize_checked {
    ($($name:ident: $text:ident, $problem:ident => $message:expr;)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let $text = String::deserialize(deserializer)?;
                Self::new(&$text).map_err(|$problem| de::Error::custom($message))
            }
        }
    )*};
}
deserialize_checked! {
    ProgramName: text, problem => format!("the program name `{}` {problem}", excerpt(&text));
    RuleId: text, problem => format!("the rule id `{}` {problem}", excerpt(&text));
    VariableName: text, problem => problem;
}
