//! Another process that runs commands on request and says how long each took.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A process that answers each line with a number of nanoseconds.
pub(crate) struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it. Its first line says that it is ready.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("can't start {command:?}: {error}"))?;
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { child, requests, answers };
        if peer.line().is_empty() {
            return Err(format!("{command:?} did not work"));
        }
        Ok(peer)
    }

    /// One command.
    pub(crate) fn time(&mut self) -> Duration {
        self.ask("")
    }

    /// One command of this kind.
    pub(crate) fn ask(&mut self, what: &str) -> Duration {
        self.requests.write_all(format!("{what}\n").as_bytes()).unwrap();
        Duration::from_nanos(self.line().trim().parse().unwrap())
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Python's `subprocess.run` on the same program, with the same environment and streams.
pub(crate) fn python() -> Result<Peer, String> {
    let script = "import subprocess, sys, time
print(flush=True)
for line in sys.stdin:
    start = time.perf_counter_ns()
    done = subprocess.run(['/usr/bin/echo', 'hello'], stdin=subprocess.DEVNULL, capture_output=True, env={}, cwd='/tmp')
    took = time.perf_counter_ns() - start
    assert done.stdout == b'hello\\n'
    print(took, flush=True)";
    Peer::start(Command::new("python3").args(["-c", script]))
}

/// This bench itself as a host: a small one, or one with 2 GiB of heap and 64 threads. See [`serve`].
pub(crate) fn host(size: &str) -> Result<Peer, String> {
    Peer::start(Command::new(std::env::current_exe().unwrap()).env(HOST, size))
}

/// This bench itself as a host that can have no user namespaces. See [`serve`](crate::confined::serve).
pub(crate) fn without_user_namespaces(level: &str) -> Result<Peer, String> {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--", "sh", "-c", script]).arg(std::env::current_exe().unwrap());
    Peer::start(command.env(HOST, level))
}

/// Names the size of a host that this process is to be.
pub(crate) const HOST: &str = "PORTCULLIS_BENCH_HOST";
