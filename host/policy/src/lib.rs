//! Decides which native commands a WebAssembly tool may run.
//!
//! The crate is pure: no files, clock, environment or processes. What only the host can know (which file a
//! program's name stands for, what the host's environment holds) is passed in as [`Facts`], so that a decision
//! can be repeated anywhere from its inputs.
//!
//! ```text
//! text ──Policy::parse──▶ Policy ──┐
//! Request ──validate──▶ ValidRequest ──▶ Policy::decide ──▶ Decision: Allow(Allowed) | Ask(Problem) | Deny(Problem)
//!                           Facts ──┘
//! ```
//!
//! Three types keep the steps apart. [`Decision`] is data: it can be stored and shown. [`Allowed`] can only be
//! made by [`Policy::decide`]. What runs is an `Approved` of the runner, which needs the opened file as well.
//!
//! # Example
//!
//! ```
//! use portcullis_policy::{Decision, Facts, Identity, Policy, ProgramFact, Request};
//!
//! let policy = Policy::parse("policy.toml", r#"
//! version = 1
//!
//! [[program]]
//! name = "git"
//! [[program.rule]]
//! id = "git-status"
//! decision = "allow"
//! why = "shows what changed"
//! leading-arguments = ["status"]
//! examples.allow = ["git status --short"]
//! examples.deny = ["git push"]
//! "#)?;
//!
//! let facts = Facts::new(ProgramFact::Found(Identity::new("/usr/bin/git", 1, 2)));
//! let request = Request::new("git").args(["status", "--short"]);
//! assert!(matches!(policy.decide(&request.validate()?, &facts), Decision::Allow(_)));
//!
//! let request = Request::new("git").args(["push"]);
//! let Decision::Deny(problem) = policy.decide(&request.validate()?, &facts) else { panic!("git push must be denied") };
//! assert_eq!(problem.code.as_str(), "shell.policy.arguments");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod arguments;
mod code;
mod confinement;
mod decide;
mod decision;
mod environment;
mod error;
mod facts;
mod file;
mod grammar;
mod level;
mod limits;
mod load;
mod names;
mod parsed;
mod paths;
mod policy;
mod problem;
mod request;
mod rules;
mod show;
mod split;
#[cfg(test)]
mod testing;
mod validate;
mod value;

pub use arguments::ArgumentPattern;
pub use code::{Code, Exit, WitCase};
pub use confinement::{Children, Confinement, Network};
pub use decision::{Allowed, Decision, Effect};
pub use error::PolicyError;
pub use facts::{Facts, Identity, ProgramFact, Script};
pub use grammar::{Grammar, Occurrence, Syntax};
pub use level::Level;
pub use limits::{KernelLimits, LimitRequest, Limits};
pub use names::{ProgramName, RuleId};
pub use parsed::{ParsedArguments, ParsedPart, ParsedStop, Role};
pub use policy::{ComponentSettings, GuestFiles, Policy, ProgramEntry, Rule, SessionSettings};
pub use problem::{Problem, ProblemKind};
pub use request::{Request, Stderr, Stdin};
pub use show::{Visible, span, visible};
pub use split::{SplitError, split};
pub use validate::ValidRequest;
