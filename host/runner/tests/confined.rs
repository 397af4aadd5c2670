//! Level `full`, with real programs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

mod support;

use portcullis_policy::{Level, Request};
use portcullis_runner::{Status, level_for};
use support::{Bench, sh};

#[tokio::test]
async fn try_it() {
    println!("{:?}", portcullis_runner::confinement_problem());
    assert_eq!(level_for(Level::Full), Level::Full);
    let bench = Bench::made(
        "full",
        "[[program]]\nname = \"sh\"\nchildren = \"any\"\n[[program.rule]]\nid = \"sh\"\ndecision = \"allow\"\nwhy = \"t\"\n",
        |_| (),
    );
    for script in [
        "echo hello",
        "ls -la / /dev /tmp /proc | head -80; mount; id; cat /proc/self/status | grep -i cap; pwd; ls -la . ; ls -la .git/hooks; touch x; touch .git/hooks/y; touch /usr/x; mv .git gg; ps aux",
    ] {
        let outcome = bench.run(&sh(script)).await;
        println!(
            "{:?} {:?}\n{}\n{}",
            outcome.status,
            outcome.enforcement,
            String::from_utf8_lossy(&outcome.stdout.bytes),
            String::from_utf8_lossy(&outcome.stderr.unwrap().bytes)
        );
    }
    let _ = Request::new("x");
    let _ = Status::Cancelled;
}
