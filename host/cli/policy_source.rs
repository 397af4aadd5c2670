//! Finding the policy: named by a person, trusted by a person, or the user's own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use portcullis_policy::{Code, Policy, visible};

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
    if let Some(path) = gate.policy.clone().or_else(|| state::named_by("PORTCULLIS_POLICY")) {
        return load(&path);
    }
    let in_workspace = of_workspace(&gate.workspace);
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
            "there is no policy, so nothing may run: neither --policy, nor $PORTCULLIS_POLICY, nor {}, nor {}; \
             write one with `portcullis init`",
            shown(&in_workspace),
            shown(&own)
        ),
    ))
}

/// Where a workspace has its own policy.
pub(crate) fn of_workspace(workspace: &Path) -> PathBuf {
    if workspace == Path::new(".") { PathBuf::from(WORKSPACE_POLICY) } else { workspace.join(WORKSPACE_POLICY) }
}

fn load(path: &Path) -> Result<Found, Failure> {
    parse(path, &read(path)?)
}

/// Reads a policy file whole; one that is too large is refused before it is read.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let shown = shown(path);
    let failed = |error: std::io::Error| {
        let message = if error.kind() != ErrorKind::NotFound {
            let context = format!("can't read the policy {shown}");
            return Failure::new(Code::PolicyUnreadable, anyhow::Error::new(error).context(context));
        } else if path.is_symlink() {
            format!("the policy {shown} is a link that leads nowhere; mend or remove it")
        } else {
            format!("there is no policy {shown}; write one with `portcullis init`")
        };
        Failure::message(Code::PolicyUnreadable, message)
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        let message = format!("the policy {shown} is not a file; put one in its place");
        return Err(Failure::message(Code::PolicyUnreadable, message));
    }
    if metadata.len() > Policy::MAX_BYTES as u64 {
        let message =
            format!("the policy {shown} has {} bytes; at most {} are read", metadata.len(), Policy::MAX_BYTES);
        return Err(Failure::message(Code::PolicyInvalid, message));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..place].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::message(
            Code::PolicyInvalid,
            format!("the policy {shown} is not UTF-8 text (line {line}); save it as such"),
        )
    })
}

/// Reads the text of a policy file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Found, Failure> {
    match Policy::parse(&shown(path), text) {
        Ok(policy) => Ok(Found { policy, path: path.to_owned() }),
        Err(error) => Err(Failure::message(Code::PolicyInvalid, format!("the policy is wrong\n{}", error.render()))),
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).to_string()
}
