//! What a sandbox is made for: commands that want the same can have one after the other.

use portcullis_policy::{Level, Network};

use crate::Approved;
use crate::executables::Kin;
use crate::guard::Kind;
use crate::pool;
use crate::seccomp::{Execution, Purpose};
use crate::sys::Powers;
use crate::view::View;

/// What distinguishes sandboxes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    /// `None` = nothing but the limits holds.
    pub(crate) confined: Option<Confined>,
}

/// How a command is confined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Confined {
    pub(crate) network: bool,
    pub(crate) kin: Kin,
    /// In namespaces: the tree of files.
    pub(crate) view: Option<View>,
}

impl Key {
    /// A sandbox for a command whose policy wants nothing held, or limits only.
    pub(crate) const fn plain(kind: Kind) -> Self {
        Self { kind, confined: None }
    }

    /// The best sandbox that this host has for a command. Levels that confine are the least that is accepted; the
    /// others are taken at their word.
    pub(crate) fn of(approved: &Approved) -> Self {
        let allowed = approved.allowed();
        match allowed.level() {
            Level::None => Self::plain(Kind::Open),
            Level::Limits => Self::plain(pool::namespaces().0),
            Level::Landlock | Level::Full => {
                let kind = pool::confinement().0;
                let (confinement, kin) = (allowed.confinement(), approved.executables().children);
                let view = (kind == Kind::Namespaces).then(|| View {
                    workspace: approved.workspace().to_owned(),
                    identity: approved.workspace_identity(),
                    read: confinement.read.clone(),
                    programs: approved.executables().outside(&confinement.read),
                    write: confinement.write.clone(),
                    deny: confinement.deny.clone(),
                    executable: kin == Kin::Any,
                });
                let network = confinement.network != Network::None;
                Self { kind, confined: Some(Confined { network, kin, view }) }
            }
        }
    }

    /// Whether its processes have a tree of files of their own.
    pub(crate) fn has_tree(&self) -> bool {
        self.confined.as_ref().is_some_and(|confined| confined.view.is_some())
    }

    /// What the filter of its processes is for, and the token that it wants to see; `None` = they have none.
    pub(crate) fn purpose(&self, token: u64) -> Option<Purpose> {
        let group = match self.kind {
            Kind::Namespaces => false,
            Kind::Group => true,
            Kind::Open => return None,
        };
        let Some(Confined { network, kin, .. }) = &self.confined else {
            return Some(Purpose { group, confine: false, network: true, execution: Execution::Any });
        };
        let execution = match kin {
            Kin::None => Execution::Once(token),
            Kin::Listed => Execution::Listed,
            Kin::Any => Execution::Any,
        };
        Some(Purpose { group, confine: true, network: *network, execution })
    }

    /// What its processes keep of the powers of those who start them.
    pub(crate) fn powers(&self) -> Powers {
        match (&self.confined, self.kind) {
            (Some(_), _) => Powers::None,
            (None, Kind::Namespaces) => Powers::NoAdministration,
            // Who has no powers may filter only after giving up ever getting any.
            (None, Kind::Group) => Powers::NoMore,
            (None, Kind::Open) => Powers::All,
        }
    }
}
