//! A started command, in its sandbox: watched, killed, reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use portcullis_policy::{Code, Problem};
use rustix::process::Pid;
use tokio::io::unix::AsyncFd;

use crate::guard::Kind;
use crate::sandbox::Sandbox;
use crate::sys::{self, Child, Ended};
use crate::{pool, proc};

/// How long a killed command may take to die (it may hang in the kernel) before its fate counts as unknown.
const REAP: Duration = Duration::from_secs(5);

/// A started process and its sandbox: killed when dropped before its end.
pub(crate) struct Process {
    pid: Pid,
    ended: AsyncFd<OwnedFd>,
    reaped: bool,
    /// Taken when it is cleared away.
    sandbox: Option<Sandbox>,
}

impl Process {
    pub(crate) fn watch(child: Child, sandbox: Sandbox) -> io::Result<Self> {
        let Child { pid, pidfd } = child;
        match sys::watch(pidfd) {
            Ok(ended) => Ok(Self { pid, ended, reaped: false, sandbox: Some(sandbox) }),
            Err(error) => {
                sandbox.kill(pid);
                // It dies at once; should it hang in the kernel, a zombie is the lesser evil.
                let _zombie = sys::wait(pid);
                pool::clear(sandbox);
                Err(error)
            }
        }
    }

    /// Until the command itself has ended; it is not reaped by this.
    pub(crate) async fn end(&self) {
        // Only a broken runtime fails here; the wall-clock limit still ends the command then.
        if self.ended.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Asks the command to end.
    pub(crate) fn terminate(&self) {
        if !self.reaped {
            Sandbox::terminate(self.pid);
        }
    }

    /// Processor time of the whole tree so far.
    pub(crate) fn cpu_time(&self) -> Duration {
        self.sandbox.as_ref().map_or(Duration::ZERO, |sandbox| sandbox.cpu_time(self.pid))
    }

    /// Ends what is left of the tree and reaps the command. How many processes it left, where that can be told.
    ///
    /// When this returns nothing of the tree is alive, unless it hangs in the kernel.
    pub(crate) async fn finish(&mut self, command_has_ended: bool) -> (Result<Ended, Problem>, Option<u32>, bool) {
        let Some(sandbox) = self.sandbox.take() else { return (Err(unknown("it was finished twice")), None, false) };
        let leftovers = if command_has_ended { sandbox.leftovers() } else { None };
        // Alone in its namespaces the guard has nothing to kill, and can guard another command.
        let alone = command_has_ended && leftovers == Some(0);
        let mut tree = Tree { pid: self.pid, sandbox: Some(sandbox) };
        if !alone {
            tree.kill();
        }
        let ended = self.reap().await;
        // What has ended well has not been killed: no need to ask.
        let memory_exceeded = !ended.as_ref().is_ok_and(|ended| ended.code == Some(0)) && tree.memory_exceeded();
        // What is left in files only is cleared away with the sandbox, in its own time.
        match (alone && ended.is_ok(), tree.is_clean()) {
            (true, true) => tree.give_back(),
            (true, false) => {}
            (false, _) => tree.wait().await,
        }
        (ended, leftovers, memory_exceeded)
    }

    async fn reap(&mut self) -> Result<Ended, Problem> {
        if tokio::time::timeout(REAP, self.end()).await.is_err() {
            return Err(unknown("it was killed and does not die"));
        }
        match sys::wait(self.pid) {
            Ok(Some(ended)) => {
                self.reaped = true;
                Ok(ended)
            }
            Ok(None) => Err(unknown("it ended and can't be waited for")),
            Err(error) => {
                // Somebody else reaped it: it must not be signalled any more.
                self.reaped = true;
                Err(unknown(&error.to_string()))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(sandbox) = self.sandbox.take() {
            sandbox.kill(self.pid);
            pool::clear(sandbox);
        }
        if !self.reaped {
            let _zombie = sys::wait(self.pid);
        }
    }
}

/// The sandbox of a command that is being finished; cleared away in the end, however that comes.
struct Tree {
    pid: Pid,
    sandbox: Option<Sandbox>,
}

impl Tree {
    fn kill(&self) {
        if let Some(sandbox) = &self.sandbox {
            sandbox.kill(self.pid);
        }
    }

    fn memory_exceeded(&self) -> bool {
        self.sandbox.as_ref().is_some_and(Sandbox::memory_exceeded)
    }

    fn is_clean(&self) -> bool {
        self.sandbox.as_ref().is_some_and(Sandbox::is_clean)
    }

    /// Lets another command have it.
    fn give_back(&mut self) {
        if let Some(sandbox) = self.sandbox.take() {
            pool::give_back(sandbox);
        }
    }

    /// Until everything in it is dead, or hangs in the kernel.
    async fn wait(&mut self) {
        match self.sandbox.as_mut().and_then(Sandbox::guard_mut) {
            // The guard's end is that of its namespaces: the kernel waits for every process inside.
            Some(guard) if guard.kind() == Kind::Namespaces => {
                let pidfd = guard.pidfd().try_clone_to_owned().and_then(sys::watch);
                if let Ok(pidfd) = pidfd {
                    let _hangs = tokio::time::timeout(REAP, pidfd.readable()).await;
                }
                guard.reap();
            }
            _ => {
                let pid = self.pid;
                let gone = async {
                    while proc::group_is_alive(pid) {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                };
                let _hangs = tokio::time::timeout(REAP, gone).await;
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if let Some(sandbox) = self.sandbox.take() {
            pool::clear(sandbox);
        }
    }
}

fn unknown(why: &str) -> Problem {
    Problem::new(Code::Internal, format!("the command's end can't be known: {why}"))
}
