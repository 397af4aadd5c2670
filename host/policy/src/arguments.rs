//! What a rule says about a command's arguments.
//!
//! The one place where arguments are judged. A richer grammar (flags, typed values, positionals) belongs here, as
//! further cases of [`ArgumentPattern`].

use serde::Serialize;

/// Which argument lists a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentPattern {
    /// Every one.
    Any,
    /// Those that begin with exactly these arguments.
    Leading(Vec<String>),
    /// Exactly these arguments.
    Exact(Vec<String>),
}

impl ArgumentPattern {
    /// Whether the pattern fits; if not, the index of the first argument where it stopped fitting.
    pub(crate) fn fits(&self, arguments: &[String]) -> Result<(), usize> {
        let (wanted, exact) = match self {
            Self::Any => return Ok(()),
            Self::Leading(wanted) => (wanted, false),
            Self::Exact(wanted) => (wanted, true),
        };
        let common = wanted.iter().zip(arguments).take_while(|(a, b)| a == b).count();
        if common < wanted.len() || (exact && arguments.len() > common) { Err(common) } else { Ok(()) }
    }

    /// Whether some argument list fits both patterns.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Leading(a), Self::Leading(b)) => a.starts_with(b) || b.starts_with(a),
            (Self::Leading(start), Self::Exact(all)) | (Self::Exact(all), Self::Leading(start)) => {
                all.starts_with(start)
            }
            (Self::Exact(a), Self::Exact(b)) => a == b,
        }
    }

    /// Orders patterns so that those which lie in another follow it.
    pub(crate) fn sort_key(&self) -> (&[String], bool) {
        match self {
            Self::Any => (&[], false),
            Self::Leading(start) => (start, false),
            Self::Exact(all) => (all, true),
        }
    }

    /// The argument that the pattern wants at this index; `None` = no further one.
    pub(crate) fn wanted_at(&self, index: usize) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Leading(wanted) | Self::Exact(wanted) => wanted.get(index).map(String::as_str),
        }
    }
}
