//! Commands that no signal wakes: the answer comes all the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_policy::{LimitRequest, Request};
use portcullis_runner::{Outcome, Running, Status, Streams};
use support::{Bench, LEVELS, finish, skip, state, unique_sleep, until, with_argument};

/// A parent waits in the kernel, in state D, until its `vfork`ed child has executed a program; this child waits for a
/// writer of a FIFO before it does (`posix_spawn(3)` with an open as file action). All signals but SIGKILL are blocked.
const SUSPENDED: &str = "import os
os.mkfifo('fifo')
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, 'fifo', os.O_RDONLY, 0)])";

/// A command that is suspended in `vfork`, with the argument that tells its processes.
async fn suspended(level: &str, limits: LimitRequest) -> (Bench, String, Running) {
    let (bench, marker) = (Bench::at(level, &["python3"]), unique_sleep());
    let request = Request::new("python3").args(["-c", SUSPENDED, &marker]).limits(limits);
    let running = bench.start(&request, Streams::default());
    until("a process in state D", || with_argument(&marker).iter().any(|&pid| state(pid) == Some('D'))).await;
    (bench, marker, running)
}

#[tokio::test]
async fn a_command_that_is_suspended_in_vfork_ends_when_it_must() {
    for level in LEVELS {
        let (_bench, marker, running) = suspended(level, LimitRequest::default()).await;
        running.canceller().cancel();
        assert_eq!(finish(running).await.status, Status::Cancelled, "{level}");
        assert_eq!(with_argument(&marker), Vec::<u32>::new(), "{level}");

        let limits = LimitRequest { wall: Some(Duration::from_secs(2)), ..LimitRequest::default() };
        let (_bench, marker, running) = suspended(level, limits).await;
        assert_eq!(finish(running).await.status, Status::WallExceeded, "{level}");
        assert_eq!(with_argument(&marker), Vec::<u32>::new(), "{level}");

        let (_bench, marker, running) = suspended(level, LimitRequest::default()).await;
        drop(running);
        until(level, || with_argument(&marker).is_empty()).await;
    }
}

/// A freezer of cgroup version 1, which is thawed and removed in the end: not even SIGKILL ends what is frozen.
struct Freezer(PathBuf);

impl Freezer {
    fn make(name: &str) -> Option<Self> {
        let name = format!("portcullis-test-{}-{name}", std::process::id());
        let directory = Path::new("/sys/fs/cgroup/freezer").join(name);
        fs::create_dir(&directory).ok()?;
        Some(Self(directory))
    }

    fn set(&self, state: &str) {
        fs::write(self.0.join("freezer.state"), state).unwrap();
    }

    fn state(&self) -> String {
        fs::read_to_string(self.0.join("freezer.state")).unwrap()
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _thawed = fs::write(self.0.join("freezer.state"), "THAWED");
        let _removed = fs::remove_dir(&self.0);
    }
}

#[tokio::test]
async fn of_a_command_that_can_not_be_killed_it_is_said_that_its_end_is_unknown_and_the_next_one_runs() {
    match LEVELS.map(Freezer::make) {
        // At once, since it takes a while to give up.
        [Some(first), Some(second)] => {
            tokio::join!(unkillable(LEVELS[0], first), unkillable(LEVELS[1], second));
        }
        _ => skip("no freezer of cgroup version 1 that this user may use"),
    }
}

async fn unkillable(level: &str, freezer: Freezer) {
    let (bench, sleep) = (Bench::at(level, &["sleep"]), unique_sleep());
    let running = bench.start(&Request::new("sleep").args([&sleep]), Streams::default());
    until("the command", || !with_argument(&sleep).is_empty()).await;
    let pids = with_argument(&sleep);
    for pid in &pids {
        fs::write(freezer.0.join("cgroup.procs"), pid.to_string()).unwrap();
    }
    freezer.set("FROZEN");
    until("the freezing", || freezer.state() == "FROZEN\n").await;

    running.canceller().cancel();
    let Outcome { status, .. } = finish(running).await;
    let Status::Unknown(problem) = status else { panic!("{level}: {status:?}") };
    assert_eq!(problem.message, "the command's end can't be known: it was killed and does not die", "{level}");
    assert_eq!(with_argument(&sleep), pids, "{level}: it really was not killed");
    // It holds up nobody.
    assert_eq!(bench.run(&Request::new("sleep").args(["0"])).await.status, Status::Exited(0), "{level}");

    freezer.set("THAWED");
    until("its end", || with_argument(&sleep).is_empty()).await;
    let empty = || fs::read_to_string(freezer.0.join("cgroup.procs")).unwrap().is_empty();
    until("that nobody is in the freezer", empty).await;
}
