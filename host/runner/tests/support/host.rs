//! The test program once more, as a host of its own: one that is started strangely, or that dies.

use std::process::{Command, Output};

/// Names the case that such a host is for.
const CASE: &str = "PORTCULLIS_TEST_CASE";

/// The case that this process is the host of; `None` = it is the test itself.
pub(crate) fn case() -> Option<String> {
    std::env::var(CASE).ok()
}

/// A host that runs this test for a case, started by another program where one is given (`env OPTIONS`, say).
pub(crate) fn host(launcher: &[&str], test: &str, case: &str) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut command = match launcher {
        [] => Command::new(this),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(this);
            command
        }
    };
    command.args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"]).env(CASE, case);
    command
}

/// The test ran there, to its end, and holds.
pub(crate) fn passed(host: &mut Command) {
    let Output { status, stdout, stderr } = host.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    // A name that no test has would run none, and that is a success too.
    assert!(status.success() && stdout.contains(" 1 passed;"), "{status}\n{stdout}\n{stderr}");
}
