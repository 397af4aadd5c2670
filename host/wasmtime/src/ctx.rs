//! What the interface needs of a store.

use std::sync::Arc;

use portcullis_gate::Session;

/// The state of `portcullis:shell` in a store: the session whose policy, budgets and journal the guest's calls go to.
#[derive(Debug)]
pub struct ShellExecCtx {
    pub(crate) session: Arc<Session>,
}

impl ShellExecCtx {
    /// A context over a session. Dropping the store, and every other handle to the session, ends the session.
    #[must_use]
    pub fn new(session: impl Into<Arc<Session>>) -> Self {
        Self { session: session.into() }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

/// Gives access to the [`ShellExecCtx`] in a store's data.
pub trait ShellExecView: Send {
    /// Borrows it.
    fn shell_exec(&mut self) -> ShellExecCtxView<'_>;
}

/// What [`ShellExecView::shell_exec`] lends: the host's side of the interface is implemented on it.
#[derive(Debug)]
pub struct ShellExecCtxView<'a> {
    /// The state of the interface.
    pub ctx: &'a mut ShellExecCtx,
}
