//! What a host can have for commands, and what level that comes to.

use portcullis_policy::Level;

/// Something that a host can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// One word; where a command without it has a word for that in its [`Enforcement`](crate::Enforcement), the same.
    pub name: &'static str,
    /// Whether this host has it.
    pub holds: bool,
    /// What it is good for where it is there; where it is not, why, and what holds instead.
    pub detail: String,
    /// How to get it; `None` where it is there, or nothing can be done.
    pub remedy: Option<String>,
}

/// The level that commands are held to where these are the capabilities; `None` = no command can be started.
#[must_use]
pub fn reached_level(capabilities: &[Capability]) -> Option<Level> {
    let holds = |name| capabilities.iter().any(|capability| capability.name == name && capability.holds);
    if !["guard", "pidfd", "openat2", "close-range"].into_iter().all(holds) {
        None
    } else if holds("landlock") && holds("seccomp-filter") {
        Some(if holds("mount-namespace") { Level::Full } else { Level::Landlock })
    } else if holds("pid-namespace") || holds("seccomp-filter") {
        Some(Level::Limits)
    } else {
        Some(Level::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(name: &'static str, holds: bool) -> Capability {
        Capability { name, holds, detail: String::new(), remedy: None }
    }

    fn with(names: &[&'static str]) -> Option<Level> {
        reached_level(&names.iter().map(|name| capability(name, true)).collect::<Vec<_>>())
    }

    #[test]
    fn a_level_is_reached_by_what_it_needs() {
        let needed = ["guard", "pidfd", "openat2", "close-range"];
        let all = |more: &[&'static str]| with(&[&needed[..], more].concat());
        assert_eq!(all(&["pid-namespace", "seccomp-filter", "landlock", "mount-namespace"]), Some(Level::Full));
        assert_eq!(all(&["seccomp-filter", "landlock"]), Some(Level::Landlock));
        assert_eq!(all(&["pid-namespace", "mount-namespace"]), Some(Level::Limits));
        assert_eq!(all(&["seccomp-filter"]), Some(Level::Limits));
        assert_eq!(all(&[]), Some(Level::None));
        assert_eq!(with(&["guard", "pidfd", "openat2", "pid-namespace"]), None);
        let mut broken = needed.map(|name| capability(name, true)).to_vec();
        broken.push(capability("pid-namespace", false));
        assert_eq!(reached_level(&broken), Some(Level::None));
    }
}
