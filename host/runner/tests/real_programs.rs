//! Real programs do their work at level `full`, each with the fewest children that it works with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics, its helpers too")]

mod support;

#[path = "real_programs/building.rs"]
mod building;
#[path = "real_programs/git.rs"]
mod git;
#[path = "real_programs/languages.rs"]
mod languages;
#[path = "real_programs/machine.rs"]
mod machine;
#[path = "real_programs/text.rs"]
mod text;

use std::path::{Path, PathBuf};

use portcullis_policy::Request;
use portcullis_runner::{Level, Status, available_level};
use support::{Bench, skip};

/// Where programs are looked up, by the policy and by commands.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every policy here has; a home that is there for nobody else, as most tools want one.
const HEAD: &str = "\
confinement.write = [\".\"]
limits = { wall = \"5m\", output = \"1MB\" }
programs.path = [\"/usr/local/bin\", \"/usr/bin\", \"/bin\"]
env.set = { PATH = \"/usr/local/bin:/usr/bin:/bin\", HOME = \"/tmp\", LANG = \"C.UTF-8\", TERM = \"dumb\" }
";

/// A program that may run with any arguments, and what it may execute besides.
struct Tool {
    name: &'static str,
    keys: String,
}

/// A program that executes nothing else.
fn alone(name: &'static str) -> Tool {
    with(name, "\"none\"")
}

/// A program with these children, as a policy writes them.
fn with(name: &'static str, children: &str) -> Tool {
    Tool { name, keys: format!("children = {children}") }
}

/// A bench at level `full` for these programs; `None` = they can't be tried here, which is said and counted.
fn bench(tools: &[Tool], prepare: impl FnOnce(&Path)) -> Option<Bench> {
    if available_level() < Level::Full {
        skip(&format!("no level full here: {}", portcullis_runner::confinement_problem().unwrap_or_default()));
        return None;
    }
    for Tool { name, keys } in tools {
        if !keys.contains("file = ") && find(name).is_none() {
            skip(&format!("{name} is not installed"));
            return None;
        }
    }
    let programs: String = tools
        .iter()
        .map(|Tool { name, keys }| {
            format!(
                "[[program]]\nname = \"{name}\"\n{keys}\n\
                 [[program.rule]]\nid = \"{name}\"\ndecision = \"allow\"\nwhy = \"a test\"\n"
            )
        })
        .collect();
    Some(Bench::made("full", &format!("{HEAD}{programs}"), |folder| prepare(&folder.join("workspace"))))
}

fn find(name: &str) -> Option<PathBuf> {
    PATH.split(':').map(|place| Path::new(place).join(name)).find(|path| path.exists())
}

/// Runs a command that must end with this code; what it wrote to standard output.
async fn ends(bench: &Bench, code: u8, request: &Request) -> String {
    let outcome = bench.run(request).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&outcome.stdout.bytes), text(&outcome.stderr.unwrap().bytes));
    assert_eq!(outcome.status, Status::Exited(code), "{request:?}\n{stdout}\n{stderr}");
    assert_eq!(outcome.enforcement.level, Level::Full);
    stdout
}

/// Runs a command that must succeed; what it wrote to standard output.
async fn run(bench: &Bench, program: &str, arguments: &[&str]) -> String {
    ends(bench, 0, &Request::new(program).args(arguments.iter().copied())).await
}
