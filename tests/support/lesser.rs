//! Machines that have less than this one: the same command, where something is taken away that confinement needs.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{World, skip};

/// What a machine can lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// As with `user.max_user_namespaces=0`.
    UserNamespaces,
    /// User namespaces are there, and give no right to mount: as in many containers.
    Mounts,
    /// As with a kernel that is built without it.
    Landlock,
    /// No hierarchy is mounted.
    Cgroups,
    /// The hierarchies are mounted read-only: as in many containers.
    WritableCgroups,
}

impl Lack {
    /// The same command on such a machine; `None` where that can't be had.
    pub(crate) fn of(self, command: &Command) -> Option<Command> {
        const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        const NO_CGROUPS: &str = "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"";
        const READ_ONLY: &str = "for place in $(findmnt -rno TARGET -t cgroup,cgroup2); do \
                                 mount -o remount,bind,ro $place || exit 1; done; exec \"$@\"";
        match self {
            Self::UserNamespaces => by(command, &["unshare", "--user", "--map-root-user"], &shell(NO_NAMESPACES)),
            Self::Mounts => by(command, &[], &refusing("EPERM", "mount,fsopen,open_tree")),
            Self::Landlock => by(command, &[], &refusing("ENOSYS", "landlock_create_ruleset")),
            Self::Cgroups => without_cgroups(command, NO_CGROUPS),
            Self::WritableCgroups => without_cgroups(command, READ_ONLY),
        }
    }
}

fn shell(script: &str) -> [&str; 4] {
    ["sh", "-c", script, "sh"]
}

/// In what follows these system calls fail.
fn refusing<'a>(errno: &'a str, calls: &'a str) -> [&'a str; 5] {
    ["python3", "-c", include_str!("lesser.py"), errno, calls]
}

/// Only root can take cgroups away; others have none as a rule.
fn without_cgroups(command: &Command, script: &str) -> Option<Command> {
    if rustix::process::geteuid().is_root() {
        return by(command, &["unshare", "--mount"], &shell(script));
    }
    if holds("memory-of-tree") {
        skip("a host without cgroups: this user has one of its own");
        return None;
    }
    by(command, &[], &[])
}

/// The same command, started by these, one after the other.
fn by(command: &Command, outer: &[&str], inner: &[&str]) -> Option<Command> {
    let launched = |program: &Command| {
        let mut words = outer.iter().chain(inner).map(AsRef::as_ref).collect::<Vec<_>>();
        words.push(program.get_program());
        words.extend(program.get_args());
        let mut launched = Command::new(words[0]);
        launched.args(&words[1..]).env_clear().stdin(Stdio::null());
        launched.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = program.get_current_dir() {
            launched.current_dir(directory);
        }
        launched
    };
    let mut harmless = Command::new("true");
    harmless.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if !launched(&harmless).output().is_ok_and(|output| output.status.success()) {
        skip(&format!("a host that has less: {} is refused here", [outer, inner].concat()[..2].join(" ")));
        return None;
    }
    Some(launched(command))
}

/// What `doctor` says of this host.
pub(crate) fn doctor() -> Value {
    serde_json::from_str(&World::new("").run(["doctor", "--json"]).stdout).unwrap()
}

/// What `doctor` says of a capability of this host.
pub(crate) fn holds(capability: &str) -> bool {
    let report = doctor();
    let all = report["capabilities"].as_array().unwrap();
    all.iter().find(|one| one["name"] == capability).unwrap()["holds"].as_bool().unwrap()
}

/// Whether this host confines commands with all that there is; without, it can't be tested what taking something away
/// does.
pub(crate) fn reaches_full() -> bool {
    let level = &doctor()["level"];
    if level != "full" {
        skip(&format!("no level full here, but {level}: see `portcullis doctor`"));
    }
    level == "full"
}
