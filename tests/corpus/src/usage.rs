//! Everyday commands: what level `full` breaks.
//!
//! Each runs under `full` with any children. Where it does not do what it should, it runs once more unconfined: what
//! does not do it there either is not the confinement's fault.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::command::Ended;
use crate::confined::{Children, Confined, Machine, Wanted};
use crate::folder::{Folder, Outside};
use crate::setup;
use crate::snapshot::{self, Changes};
use crate::uses::{Kind, Use, UseFile};

/// Seconds that a command may take that does not say otherwise.
const LIMIT: u64 = 120;
/// Homes of tools: they keep caches there.
const HOMES: [&str; 2] = ["home", "cargo"];

/// What became of a command under `full`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does what it should.
    Works,
    /// It does only without confinement: what is different.
    Broken(Vec<String>),
    /// It does not do it here without confinement either: what is different there.
    Differs(Vec<String>),
    /// It was not tried: why.
    Skipped(String),
}

/// What became of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UseReport {
    /// Its name.
    pub id: String,
    /// The command.
    pub argv: Vec<String>,
    /// How usual it is: 1 to 5.
    pub weight: u8,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of all commands, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Each.
    pub uses: Vec<UseReport>,
}

/// Runs those that `choose` names, several at a time.
pub fn run(file: &UseFile, choose: impl Fn(&Use) -> bool, machine: &Machine) -> Report {
    let chosen: Vec<&Use> = file.uses.iter().filter(|one| choose(one)).collect();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(one) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = try_out(one, file, machine)
                        .unwrap_or_else(|error| Verdict::Skipped(format!("{error:#}").replace('\n', " ")));
                    let (id, argv, weight) = (one.id.clone(), one.argv.clone(), one.weight);
                    let report = UseReport { id, argv, weight, verdict };
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(report);
                }
            });
        }
    });
    let mut uses = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    uses.sort_by_key(|report| chosen.iter().position(|one| one.id == report.id));
    Report { uses }
}

fn try_out(one: &Use, file: &UseFile, machine: &Machine) -> Result<Verdict> {
    if one.kind == Kind::Network {
        return Ok(Verdict::Skipped("it needs the network".to_owned()));
    }
    if !one.verified {
        return Ok(Verdict::Skipped("nobody has seen what it does".to_owned()));
    }
    let confined = differences(one, file, machine, true)?;
    if confined.is_empty() {
        return Ok(Verdict::Works);
    }
    let unconfined = differences(one, file, machine, false)?;
    Ok(if unconfined.is_empty() { Verdict::Broken(confined) } else { Verdict::Differs(unconfined) })
}

/// Runs it in a fresh folder, and says what is not as it should be.
fn differences(one: &Use, file: &UseFile, machine: &Machine, confined: bool) -> Result<Vec<String>> {
    let folder = Folder::new(Outside::Beside, machine.path(), 0)?;
    setup::all(&one.setup, &file.fixtures, &folder)?;
    let name = one.argv.first().map_or("", String::as_str);
    anyhow::ensure!(machine.find(name, &folder).is_some(), "{name} is not installed");
    let look = || (snapshot::of(folder.workspace(), &[]), snapshot::of(folder.outside(), &HOMES));
    let before = look();
    let limit = Duration::from_secs(one.timeout.unwrap_or(LIMIT));
    let (cwd, stdin) = (one.cwd.as_deref(), one.stdin.as_deref());
    let wanted = Wanted { argv: &one.argv, cwd, env: &one.env, stdin, limit };
    let ended = if confined {
        match machine.confined(&wanted, Children::Any, &folder)? {
            Confined::Ended(ended) => ended,
            Confined::Refused(why) => return Ok(vec![format!("refused: {why}")]),
        }
    } else {
        machine.unconfined(&wanted, &folder)?
    };
    let after = look();
    let changes = (Changes::between(&before.0, &after.0), Changes::between(&before.1, &after.1));
    let mut all = compare(one, &ended, &changes.0, &changes.1, &folder);
    if let Some(then) = &one.expect.after {
        let wanted = Wanted { argv: &then.argv, cwd: None, env: &one.env, stdin: None, limit };
        let ended = machine.unconfined(&wanted, &folder)?;
        if !ended.stdout.contains(&folder.fill(&then.stdout_contains)) {
            all.push(format!("afterwards {:?} prints {:?}", then.argv, start(&ended.stdout)));
        }
    }
    Ok(all)
}

fn compare(one: &Use, ended: &Ended, inside: &Changes, outside: &Changes, folder: &Folder) -> Vec<String> {
    let mut all = Vec::new();
    let expect = &one.expect;
    if ended.code != Some(expect.exit) {
        let end: String = ended.stderr.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
        all.push(format!("exit code {:?} for {}; stderr …{end:?}", ended.code, expect.exit));
    }
    let texts = [(&expect.stdout_contains, &ended.stdout), (&expect.stderr_contains, &ended.stderr)];
    for (text, stream) in texts {
        if let Some(text) = text.as_ref().map(|text| folder.fill(text))
            && !stream.contains(&text)
        {
            all.push(format!("no {text:?} in {:?}", start(stream)));
        }
    }
    if let Some(text) = &expect.stdout_lacks
        && ended.stdout.contains(text)
    {
        all.push(format!("{text:?} in {:?}", start(&ended.stdout)));
    }
    let paths = [
        ("create", &expect.creates, &inside.created),
        ("modify", &expect.modifies, &inside.modified),
        ("remove", &expect.removes, &inside.removed),
    ];
    for (verb, expected, done) in paths {
        let missing: Vec<&String> = expected.iter().filter(|path| !done.contains(path)).collect();
        if !missing.is_empty() {
            all.push(format!("did not {verb} {missing:?}"));
        }
    }
    let changed: Vec<&String> = if one.kind == Kind::Read { inside.all().collect() } else { Vec::new() };
    if !changed.is_empty() {
        all.push(format!("changed {changed:?}"));
    }
    let changed: Vec<&String> = outside.all().collect();
    if !changed.is_empty() {
        all.push(format!("changed {changed:?} outside"));
    }
    all
}

fn start(text: &str) -> String {
    text.chars().take(300).collect()
}

impl Report {
    /// How many work, of how many that work unconfined.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let number = |holds: &dyn Fn(&Verdict) -> bool| self.uses.iter().filter(|one| holds(&one.verdict)).count();
        let works = number(&|verdict| matches!(verdict, Verdict::Works));
        (works, works + number(&|verdict| matches!(verdict, Verdict::Broken(_))))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for UseReport { id, argv, weight, verdict } in &self.uses {
            match verdict {
                Verdict::Works => {}
                Verdict::Broken(why) => writeln!(f, "BROKEN: {id} ({weight}) {argv:?}: {}", why.join("; "))?,
                Verdict::Differs(why) => writeln!(f, "DIFFERS unconfined too: {id}: {}", why.join("; "))?,
                Verdict::Skipped(why) => writeln!(f, "SKIP: {id}: {why}")?,
            }
        }
        let (works, of) = self.count();
        writeln!(f, "{works} of {of} work under full; {} were not tried or differ here anyway", self.uses.len() - of)
    }
}
