//! What the kernel lets a command reach: network, other programs, files.

use serde::{Deserialize, Serialize, Serializer};

/// The network that a command gets. Ordered: the smaller gives less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// None. The default. The kernel enforces it from confinement level `landlock` on; below, a command that asks for
    /// the network is refused and one that does not ask is not stopped.
    #[default]
    None,
    /// The host's.
    Host,
}

/// What the process tree of a command may execute beside the program itself (`children` of a program).
///
/// In JSON as in a policy: `"none"`, `"any"`, or a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Children {
    /// Nothing: one program, executed once. The default, and what an empty list means.
    #[default]
    None,
    /// These, and what lies below these: at least one, sorted, each once.
    ///
    /// An item without `/` is the name of a program, looked up like every program on
    /// [`Policy::search_path`](crate::Policy::search_path). Others are absolute paths: of a file, or of a directory all
    /// of whose files may be executed, at any depth.
    Listed(Vec<String>),
    /// Whatever it can read.
    Any,
}

impl Serialize for Children {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Listed(items) => items.serialize(serializer),
            Self::Any => serializer.serialize_str("any"),
        }
    }
}

/// What the kernel lets the process tree of a command reach.
///
/// A policy states it whatever its level; how much of it the kernel holds a command to depends on the level that is
/// reached:
///
/// | field | holds from level |
/// |---|---|
/// | `children`, `read`, `write`, `network` | `landlock` |
/// | `deny` | `full` |
///
/// Paths are text, in one form: absolute, or relative to the workspace (`.` is the workspace itself), without empty,
/// `.` and `..` parts and without a slash at the end. Lists are sorted, relative paths first, and hold no path that
/// lies within another of the list. A path names a file or a directory, with all below it; that something is there is
/// for the host to find out.
///
/// # Example
///
/// ```
/// use portcullis_policy::{Children, Decision, Facts, Identity, Network, Policy, ProgramFact, Request};
///
/// let policy = Policy::parse("policy.toml", r#"
/// version = 1
///
/// [workspace]
/// deny = [".env", ".git/hooks"]
///
/// [confinement]
/// read = ["/opt/rust"]
/// write = [".", "/var/cache/build"]
///
/// [[program]]
/// name = "cargo"
/// children = ["rustc", "cc", "/usr/lib/gcc"]
/// write = ["target"]
/// rule = [{ id = "build", decision = "allow", why = "builds", exact-arguments = ["build"] }]
/// "#)?;
///
/// let facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/cargo", 1, 2)));
/// let Decision::Allow(allowed) = policy.decide(&Request::new("cargo").args(["build"]).validate()?, &facts) else {
///     panic!("it is allowed")
/// };
/// let confinement = allowed.confinement();
/// assert_eq!(confinement.network, Network::None);
/// assert_eq!(confinement.children, Children::Listed(["cc", "rustc", "/usr/lib/gcc"].map(str::to_owned).to_vec()));
/// assert_eq!(confinement.read, ["/opt/rust"]);
/// assert_eq!(confinement.write, ["target"]);
/// assert_eq!(confinement.deny, [".env", ".git/hooks"]);
/// assert!(confinement.needs_mounts());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confinement {
    /// The network. None unless policy and request both say so.
    pub network: Network,
    /// What the tree may execute beside the program itself. Nothing unless the policy says so.
    pub children: Children,
    /// What may be read besides the workspace, what may be written, and the system's directories that the runner
    /// always gives. Absolute. Nothing unless the policy says so.
    pub read: Vec<String>,
    /// What may be written, created and deleted, and so also read. Relative or absolute, never `/`. The workspace
    /// unless the policy says otherwise; nothing = the workspace can only be read.
    pub write: Vec<String>,
    /// What nobody may read, write or create, there or not, whatever else says so. Relative, never `.`. At level
    /// `full` this is [`Confinement::DEFAULT_DENY`] unless the policy says otherwise; at lower levels nothing, since
    /// it takes mounts of the command's own, which those don't have.
    pub deny: Vec<String>,
}

impl Confinement {
    /// Where commands may write unless the policy says otherwise: the workspace.
    pub const DEFAULT_WRITE: [&str; 1] = ["."];
    /// What is denied at level `full` unless the policy says otherwise: what is put there runs later, with the
    /// rights of the person who works in the repository.
    pub const DEFAULT_DENY: [&str; 1] = [".git/hooks"];
    /// Most items of one list in a policy: each costs a rule or a mount of every command.
    pub const MAX_PATHS: usize = 256;
    /// Longest path, in bytes, without the NUL that ends it for the kernel (`PATH_MAX`).
    pub const MAX_PATH_BYTES: usize = 4095;

    /// Whether only a mount namespace of the command's own can hold it to this: something is denied.
    ///
    /// Landlock adds permissions and can't subtract, and renaming a parent gets round anything less than mounts. Where
    /// there are none, such a command must not start.
    #[must_use]
    pub fn needs_mounts(&self) -> bool {
        !self.deny.is_empty()
    }
}

#[cfg(test)]
mod tests;
