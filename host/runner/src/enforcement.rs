//! What the kernel really holds a command to.

use portcullis_policy::Level;

/// The confinement that was in force for a command: reported, never assumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// The level reached.
    pub level: Level,
    /// What level [`Full`](Level::Full) has and this command did not, one word each.
    pub missing: Vec<&'static str>,
}

/// The parts of level `full`, in the order in which the documentation lists them.
const PARTS: [&str; 5] = ["namespaces", "landlock", "seccomp", "capabilities", "resource-limits"];

/// The most that this host can enforce.
///
/// Always [`Level::None`] in this release: commands run as the host's user, unconfined. A policy must accept that
/// by name (`confinement.level = "none"`).
#[must_use]
pub fn available_level() -> Level {
    Level::None
}

impl Enforcement {
    /// Nothing was enforced.
    pub(crate) fn none() -> Self {
        Self { level: Level::None, missing: PARTS.to_vec() }
    }
}
