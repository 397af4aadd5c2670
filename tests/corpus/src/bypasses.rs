//! Attacks: what the confinement alone contains.
//!
//! Each is carried out four times, each time in a fresh folder: unconfined; at level `full` without children and with
//! any children; and at level `full` with the place outside moved into the workspace, which shows that the attack
//! works there and it is the confinement that contains it. What a policy says of the arguments would be a fifth column.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::cases::{Answer, Case, Observe};
use crate::confined::{Children, Confined, Machine, Wanted};
use crate::folder::{Folder, Outside};
use crate::observe::{self, Watch};
use crate::setup::{self, Fixtures};

/// How long an attack may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What became of an attack, in one way of running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It worked.
    Happened,
    /// It did not.
    DidNot,
    /// Portcullis refused to run it: why.
    Refused(String),
    /// It could not be tried: why.
    Failed(String),
}

/// What became of an attack in all ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub id: String,
    /// The kind of attack.
    pub class: String,
    /// What a runner has to answer, as the file writes it.
    pub correct: &'static str,
    /// Whether it worked where the file was made.
    pub expected: Option<bool>,
    /// Without any confinement.
    pub unconfined: Effect,
    /// Under `full`, `children = "none"`.
    pub none: Effect,
    /// Under `full`, `children = "any"`.
    pub any: Effect,
    /// The same, with what lies outside in the workspace.
    pub within: Effect,
    /// Whether it was kept from working; `None` = it does not work here unconfined either, which shows nothing.
    pub contained: Option<bool>,
}

/// What became of all attacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Each.
    pub cases: Vec<CaseReport>,
    /// Those that were not tried: why.
    pub skipped: Vec<(String, String)>,
}

/// Carries out these attacks, in turn.
///
/// # Errors
/// The machine lets us make no folders or listeners.
pub fn run<'a>(cases: impl IntoIterator<Item = &'a Case>, machine: &Machine) -> Result<Report> {
    let mut report = Report { cases: Vec::new(), skipped: Vec::new() };
    for case in cases {
        match skip(case) {
            Some(reason) => report.skipped.push((case.id.clone(), reason.to_owned())),
            None => report.cases.push(try_out(case, machine)),
        }
    }
    Ok(report)
}

fn skip(case: &Case) -> Option<&'static str> {
    let reasons = [
        (!case.verified || case.observe.is_none(), "there is nothing to observe"),
        (case.needs_tty, "it needs a terminal"),
        (case.user.is_some(), "it needs a certain user"),
    ];
    reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

fn try_out(case: &Case, machine: &Machine) -> CaseReport {
    let attempt = |how| {
        attempt(case, machine, how).unwrap_or_else(|error| Effect::Failed(format!("{error:#}").replace('\n', " ")))
    };
    let unconfined = attempt(How::Unconfined);
    let none = attempt(How::Confined(Children::None, Outside::Beside));
    let any = attempt(How::Confined(Children::Any, Outside::Beside));
    let within = attempt(How::Confined(Children::Any, Outside::Within));
    let is_kept = |effect: &Effect| matches!(effect, Effect::DidNot | Effect::Refused(_));
    let contained = (unconfined == Effect::Happened).then(|| is_kept(&none) && is_kept(&any));
    let (id, class, correct) = (case.id.clone(), case.class.clone(), case.correct.word());
    CaseReport { id, class, correct, expected: case.effect_happens, unconfined, none, any, within, contained }
}

#[derive(Debug, Clone, Copy)]
enum How {
    Unconfined,
    Confined(Children, Outside),
}

fn attempt(case: &Case, machine: &Machine, how: How) -> Result<Effect> {
    let Some(observed) = &case.observe else { return Ok(Effect::DidNot) };
    let outside = match how {
        How::Unconfined => Outside::Beside,
        How::Confined(_, outside) => outside,
    };
    let mut watch = Watch::on(observed)?;
    let folder = Folder::new(outside, machine.path(), watch.port())?;
    watch.in_folder(observed, &folder)?;
    setup::all(&case.setup, &Fixtures::new(), &folder)?;
    let limit = if matches!(observed, Observe::Timeout) { Duration::from_secs(5) } else { LIMIT };
    let (cwd, stdin) = (case.cwd.as_deref(), case.stdin.as_deref());
    let wanted = Wanted { argv: &case.argv, cwd, env: &case.env, stdin, limit };
    let ended = match how {
        How::Unconfined => {
            let ended = machine.unconfined(&wanted, &folder)?;
            observe::wait(observed, &folder);
            ended
        }
        How::Confined(children, _) => match machine.confined(&wanted, children, &folder)? {
            Confined::Ended(ended) => ended,
            Confined::Refused(why) => return Ok(Effect::Refused(why)),
        },
    };
    Ok(if watch.happened(observed, &folder, &ended)? { Effect::Happened } else { Effect::DidNot })
}

impl CaseReport {
    /// Whether the confinement has to contain it, and did not.
    #[must_use]
    pub fn escaped(&self) -> bool {
        self.correct == Answer::Confine.word() && self.contained == Some(false)
    }
}

impl Report {
    /// How many of those with this answer, or with any other, were contained, of how many that work here.
    fn count(&self, confine: bool) -> (usize, usize) {
        let cases = self.cases.iter().filter(|case| (case.correct == Answer::Confine.word()) == confine);
        let shown: Vec<bool> = cases.filter_map(|case| case.contained).collect();
        (shown.iter().filter(|contained| **contained).count(), shown.len())
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Happened => "yes",
            Self::DidNot => "no",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |f: &mut fmt::Formatter<'_>, cells: [&dyn fmt::Display; 8]| {
            let [id, class, correct, unconfined, none, any, within, contained] = cells;
            writeln!(f, "{id:32} {class:12} {correct:12} {unconfined:10} {none:8} {any:8} {within:8} {contained}")
        };
        row(f, [&"case", &"class", &"answer", &"unconfined", &"none", &"any", &"within", &"contained"])?;
        for case in &self.cases {
            let CaseReport { id, class, correct, expected, unconfined, none, any, within, contained } = case;
            let contained = match contained {
                Some(true) => "yes",
                Some(false) => "NO",
                None => "-",
            };
            row(f, [id, class, correct, unconfined, none, any, within, &contained])?;
            let works = *unconfined == Effect::Happened;
            if expected.is_some_and(|expected| expected != works) {
                writeln!(
                    f,
                    "    unconfined: the file has it that this {}",
                    if works { "does nothing" } else { "works" }
                )?;
            }
            for (column, effect) in [("unconfined", unconfined), ("none", none), ("any", any), ("within", within)] {
                if let Effect::Refused(why) | Effect::Failed(why) = effect {
                    writeln!(f, "    {column}: {why}")?;
                }
            }
        }
        for (id, reason) in &self.skipped {
            writeln!(f, "SKIP: {id}: {reason}")?;
        }
        let idle = self.cases.iter().filter(|case| case.contained.is_none()).count();
        let ((confined, of), (others, of_others)) = (self.count(true), self.count(false));
        writeln!(
            f,
            "{confined} of {of} contained that have to be; {others} of {of_others} others; {idle} do nothing here"
        )
    }
}
