//! Finding the policy: named by a person, trusted by a person, or the user's own.

use std::path::{Path, PathBuf};

use portcullis_policy::{Code, Policy};

use crate::args;
use crate::failure::Failure;
use crate::{state, trust};

/// Name of a workspace's own policy.
pub(crate) const WORKSPACE_POLICY: &str = "portcullis.toml";

/// A policy and where it came from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) policy: Policy,
    pub(crate) path: PathBuf,
}

/// Finds and reads the policy, as decided by `--policy`, `$PORTCULLIS_POLICY`, the workspace, the user's own.
pub(crate) fn find(gate: &args::Gate) -> Result<Found, Failure> {
    if let Some(path) = &gate.policy {
        return load(path);
    }
    let in_workspace = gate.workspace.join(WORKSPACE_POLICY);
    // A link that leads nowhere is there too: passing over it would let somebody choose the policy.
    if in_workspace.symlink_metadata().is_ok() {
        let text = read(&in_workspace)?;
        trust::require(&in_workspace, &text)?;
        return parse(&in_workspace, &text);
    }
    let own = state::config_directory()?.join("policy.toml");
    if own.symlink_metadata().is_ok() {
        return load(&own);
    }
    Err(Failure::message(
        Code::PolicyMissing,
        format!(
            "there is no policy, so nothing may run: neither --policy, nor {}, nor {}; write one with `portcullis init`",
            in_workspace.display(),
            own.display()
        ),
    ))
}

fn load(path: &Path) -> Result<Found, Failure> {
    parse(path, &read(path)?)
}

/// Reads a policy file whole; one that is too large is refused before it is read.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        let context = format!("can't read the policy {}", path.display());
        Failure::new(Code::PolicyUnreadable, anyhow::Error::new(error).context(context))
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(Failure::message(Code::PolicyUnreadable, format!("the policy {} is not a file", path.display())));
    }
    if metadata.len() > Policy::MAX_BYTES as u64 {
        let message = format!(
            "the policy {} has {} bytes; at most {} are read",
            path.display(),
            metadata.len(),
            Policy::MAX_BYTES
        );
        return Err(Failure::message(Code::PolicyInvalid, message));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::message(Code::PolicyInvalid, format!("the policy {} is not UTF-8 text (byte {place})", path.display()))
    })
}

fn parse(path: &Path, text: &str) -> Result<Found, Failure> {
    let name = path.strip_prefix("./").unwrap_or(path).display().to_string();
    match Policy::parse(&name, text) {
        Ok(policy) => Ok(Found { policy, path: path.to_owned() }),
        Err(error) => Err(Failure::message(Code::PolicyInvalid, format!("the policy is wrong\n{}", error.render()))),
    }
}
