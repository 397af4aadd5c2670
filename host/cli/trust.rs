//! Which workspaces' own policies a person has trusted. A repository can't authorise itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_policy::{Code, Level, visible};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::args;
use crate::failure::Failure;
use crate::output;
use crate::policy_source::{self, WORKSPACE_POLICY};
use crate::state;

/// The file `trust.json` of the state directory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    version: u32,
    /// Path of a workspace's policy → SHA-256 of the text that was trusted, in hex.
    policies: BTreeMap<String, String>,
}

impl Default for Store {
    fn default() -> Self {
        Self { version: 1, policies: BTreeMap::new() }
    }
}

/// `policy trust`: shows what the policy would allow, and records that it is trusted as it is now.
pub(crate) fn trust(arguments: &args::Trust) -> Result<u8, Failure> {
    let given = &arguments.path;
    let is_named_so = given.file_name().is_some_and(|name| name == WORKSPACE_POLICY);
    let path = if given.is_dir() && !is_named_so { policy_source::of_workspace(given) } else { given.clone() };
    let text = policy_source::read(&path)?;
    if given == &path && !is_named_so {
        let message = format!(
            "only the {WORKSPACE_POLICY} of a workspace needs trust, and {} is another file; name it with --policy instead",
            visible(&path.to_string_lossy())
        );
        return Err(Failure::message(Code::Usage, message));
    }
    let policy = policy_source::parse(&path, &text)?.policy;
    let key = key(&path)?;
    let digest = digest(&text);
    let changed = update(|store| store.policies.insert(key.clone(), digest.clone()))?;
    let programs: Vec<&str> = policy.programs().map(|program| program.name().as_str()).collect();
    let own_code: Vec<&str> = policy
        .programs()
        .filter(|program| program.runs_workspace_code())
        .map(|program| program.name().as_str())
        .collect();
    output::print(|out| {
        let state = if changed.as_ref() == Some(&digest) { "trusted already" } else { "trusted" };
        writeln!(out, "{state}: {}", visible(&key))?;
        output::row(out, "programs", &if programs.is_empty() { "none".to_owned() } else { programs.join(", ") })?;
        output::row(out, "confinement", &confinement(policy.level()))?;
        if !own_code.is_empty() {
            let names = own_code.join(", ");
            output::row(
                out,
                "own code",
                &format_args!("{names}: what lies in the workspace runs, by the policy's word"),
            )?;
        }
        output::row(out, "SHA-256", &digest)?;
        writeln!(out, "A change of the file ends the trust.")
    })?;
    Ok(0)
}

/// What a policy of this level holds commands to.
fn confinement(level: Level) -> String {
    match level {
        Level::None => "none: commands can do what you can, even where they could be confined".to_owned(),
        Level::Limits => "limits: commands reach what you can, even where they could be confined".to_owned(),
        Level::Landlock => format!("{level} or better"),
        Level::Full => level.to_string(),
    }
}

/// Checks that a workspace's own policy is trusted, as it is now.
pub(crate) fn require(path: &Path, text: &str) -> Result<(), Failure> {
    let key = key(path)?;
    let known = load(&store_path()?)?.policies.get(&key).cloned();
    let why = match known {
        Some(known) if known == digest(text) => return Ok(()),
        Some(_) => "it has changed since it was trusted",
        None => "nobody has trusted it yet, and a repository can't authorise itself",
    };
    let word = output::command_line(&key, []);
    let message = format!(
        "the workspace's own policy does not count: {why}; read {}, then run `portcullis policy trust {word}`",
        visible(&key)
    );
    Err(Failure::message(Code::PolicyUntrusted, message))
}

/// The policy's place: its workspace, links resolved. The file itself may be a link and is not resolved, or a
/// repository could link to a policy that was trusted for another.
fn key(path: &Path) -> Result<String, Failure> {
    let shown = visible(&path.to_string_lossy()).to_string();
    let workspace = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let workspace = std::fs::canonicalize(workspace).map_err(|error| {
        let context = format!("can't resolve the directory of the policy {shown}");
        Failure::new(Code::PolicyUnreadable, anyhow::Error::new(error).context(context))
    })?;
    workspace.join(WORKSPACE_POLICY).into_os_string().into_string().map_err(|_| {
        let message = format!("the path of the policy {shown} is not Unicode text; rename its workspace");
        Failure::message(Code::PolicyUnreadable, message)
    })
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn store_path() -> Result<PathBuf, Failure> {
    Ok(state::state_directory()?.join("trust.json"))
}

fn failed(path: &Path, what: &str) -> impl FnOnce(std::io::Error) -> Failure {
    let context = format!("can't {what} {}", path.display());
    move |error| Failure::new(Code::StateUnsafe, anyhow::Error::new(error).context(context))
}

fn load(path: &Path) -> Result<Store, Failure> {
    if let Some(directory) = path.parent()
        && directory.exists()
    {
        state::make_private(directory)?;
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Store::default()),
        Err(error) => return Err(failed(path, "read")(error)),
    };
    let broken = |why: String| {
        Failure::message(
            Code::StateUnsafe,
            format!("{} is broken ({why}); move it away and trust your policies again", path.display()),
        )
    };
    let store: Store = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    if store.version != 1 {
        return Err(broken(format!("it is of version {}", store.version)));
    }
    Ok(store)
}

/// Changes the store under a lock, by a rename: no reader ever sees half of it, and no change is lost.
fn update<T>(change: impl FnOnce(&mut Store) -> T) -> Result<T, Failure> {
    let path = store_path()?;
    let directory = state::state_directory()?;
    state::make_private(&directory)?;
    let lock = directory.join("trust.lock");
    let private = || {
        let mut options = File::options();
        options.write(true).create(true).mode(0o600);
        options
    };
    let lock_file = private().truncate(false).open(&lock).map_err(failed(&lock, "open"))?;
    rustix::fs::flock(&lock_file, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|errno| failed(&lock, "lock")(errno.into()))?;
    let mut store = load(&path)?;
    let result = change(&mut store);
    let fresh = directory.join(format!("trust.json.{}", std::process::id()));
    let text = serde_json::to_string_pretty(&store).map_err(|error| failed(&path, "write")(error.into()))?;
    let written = private()
        .truncate(true)
        .open(&fresh)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&fresh, &path));
    written.map_err(failed(&path, "write"))?;
    Ok(result)
}
