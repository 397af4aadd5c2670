//! Remembering that this host confines commands fully: finding it out takes longer than most components run.
//!
//! What is remembered is no evidence. Whatever it says, a command starts confined as its policy wants or not at all; if
//! the host has changed since, the start is refused by the kernel's own answer, and that is forgotten.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use portcullis_runner::Level;
use sha2::{Digest as _, Sha256};

use crate::state;

/// What a host is told apart by: another kernel, container, user, security profile or release may do less.
const FACTS: [&str; 4] = [
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/user/max_mnt_namespaces",
    "/proc/sys/kernel/yama/ptrace_scope",
];
/// Lines of /proc/self/status that say what this process may do.
const POWERS: [&str; 8] =
    ["Uid:", "Gid:", "Groups:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"];
/// Namespaces that this process is in.
const NAMESPACES: [&str; 3] = ["/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid"];

/// Takes it that this host confines commands fully, where it did the last time; else finds out, and remembers.
pub(crate) fn available_level() -> Level {
    let (Some(file), Some(host)) = (file(), host()) else { return portcullis_runner::available_level() };
    if fs::read_to_string(&file).is_ok_and(|remembered| remembered == host) {
        portcullis_runner::expect_full_confinement();
        return Level::Full;
    }
    let level = portcullis_runner::available_level();
    // Less is never remembered: it may be mended at any time.
    if level == Level::Full {
        // Without it the next start finds out again.
        let _written = state::write_private(&file, &host);
    }
    level
}

/// After a command could not be confined: the next start finds out what has changed.
pub(crate) fn forget() {
    if let Some(file) = file() {
        let _there = fs::remove_file(file);
    }
}

fn file() -> Option<PathBuf> {
    state::cache_directory().ok().map(|directory| directory.join("confinement"))
}

/// A digest of everything that the answer depends on, as far as can be told; `None` where something can't be read.
fn host() -> Option<String> {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    };
    add(env!("CARGO_PKG_VERSION"));
    for fact in FACTS {
        add(&fs::read_to_string(fact).unwrap_or_default());
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    for line in status.lines().filter(|line| POWERS.iter().any(|name| line.starts_with(name))) {
        add(line);
    }
    for namespace in NAMESPACES {
        add(&fs::metadata(namespace).ok()?.ino().to_string());
    }
    Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
