//! Which workspaces' own policies a person has trusted. A repository can't authorise itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use portcullis_policy::{Code, Policy, visible};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::args;
use crate::failure::Failure;
use crate::output;
use crate::policy_source::{WORKSPACE_POLICY, read};
use crate::state;

/// The file `trust.json` of the state directory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    version: u32,
    /// Resolved path of a policy → SHA-256 of the text that was trusted, in hex.
    policies: BTreeMap<String, String>,
}

impl Default for Store {
    fn default() -> Self {
        Self { version: 1, policies: BTreeMap::new() }
    }
}

/// `policy trust`: shows what the policy would allow, and records that it is trusted as it is now.
pub(crate) fn trust(arguments: &args::Trust) -> Result<u8, Failure> {
    let path = if arguments.path.is_dir() { arguments.path.join(WORKSPACE_POLICY) } else { arguments.path.clone() };
    let text = read(&path)?;
    let policy = Policy::parse(&path.display().to_string(), &text)
        .map_err(|error| Failure::message(Code::PolicyInvalid, format!("the policy is wrong\n{}", error.render())))?;
    let key = key(&path)?;
    let digest = digest(&text);
    let changed = update(|store| store.policies.insert(key.clone(), digest.clone()))?;
    let programs: Vec<&str> = policy.programs().map(|program| program.name().as_str()).collect();
    output::print(|out| {
        let state = if changed.as_ref() == Some(&digest) { "trusted already" } else { "trusted" };
        writeln!(out, "{state}: {}", visible(&key))?;
        writeln!(out, "  programs  {}", if programs.is_empty() { "none".to_owned() } else { programs.join(", ") })?;
        writeln!(out, "  level     {} (the least confinement that it accepts)", policy.level())?;
        writeln!(out, "  sha-256   {digest}")?;
        writeln!(out, "A change of the file ends the trust.")
    })?;
    Ok(0)
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

fn key(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: anyhow::Error| Failure::new(Code::PolicyUnreadable, error);
    let resolved = std::fs::canonicalize(path).map_err(|error| {
        unreadable(anyhow::Error::new(error).context(format!("can't read the policy {}", path.display())))
    })?;
    let lossy = resolved.display().to_string();
    resolved
        .into_os_string()
        .into_string()
        .map_err(|_| unreadable(anyhow::anyhow!("the path {lossy} is not Unicode text")))
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
    let lock_file =
        File::options().create(true).truncate(false).write(true).open(&lock).map_err(failed(&lock, "open"))?;
    rustix::fs::flock(&lock_file, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|errno| failed(&lock, "lock")(errno.into()))?;
    let mut store = load(&path)?;
    let result = change(&mut store);
    let fresh = directory.join(format!("trust.json.{}", std::process::id()));
    let text = serde_json::to_string_pretty(&store).map_err(|error| failed(&path, "write")(error.into()))?;
    let written = File::create(&fresh)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&fresh, &path));
    written.map_err(failed(&path, "write"))?;
    Ok(result)
}
