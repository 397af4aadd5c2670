//! Who asks for commands.

use portcullis_audit as audit;

/// Who asks for commands in a session, as the journal names it.
#[derive(Debug, Clone)]
pub struct Caller(pub(crate) audit::Caller);

impl Caller {
    /// The command line of portcullis.
    #[must_use]
    pub fn cli() -> Self {
        Self(audit::Caller { kind: audit::CallerKind::Cli, name: "portcullis".to_owned(), digest: None })
    }

    /// A component, by the name of its file and the SHA-256 of its bytes.
    #[must_use]
    pub fn component(name: &str, sha256: [u8; 32]) -> Self {
        let digest = Some(audit::Hash::from(sha256));
        Self(audit::Caller { kind: audit::CallerKind::Component, name: shortened(name), digest })
    }

    /// A Rust host that uses the gate directly.
    #[must_use]
    pub fn host(name: &str) -> Self {
        Self(audit::Caller { kind: audit::CallerKind::Host, name: shortened(name), digest: None })
    }
}

/// A caller's name goes into the journal once a session: 255 characters of it are enough.
fn shortened(name: &str) -> String {
    name.chars().take(255).collect()
}
