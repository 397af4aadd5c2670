//! What an attack is, and how it is judged.

use std::path::Path;

use portcullis_policy::{Network, Request};
use portcullis_runner::{Level, Outcome, Status, available_level, confinement_problem};

use crate::arena::{Arena, Place};
use crate::support::skip;

/// Exit status of the prelude for an attack that was refused: an `OSError` that it did not expect.
const REFUSED: u8 = 77;
/// Exit status of the prelude for an attack that this machine has no target for.
const ABSENT: u8 = 75;

/// Who can show that an attack works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Everybody,
    /// It takes powers of root's.
    Root,
    /// Root needs no such attack.
    NotRoot,
}

/// What an attack is after.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    /// It prints `won`, once what it wants has been done.
    Says,
    /// It prints the secret of every hidden place.
    Secrets,
    /// It prints this, of this arena.
    Prints(fn(&Arena) -> String),
    /// Every place outside shows it.
    Places(fn(&Place) -> bool),
    /// Every place shows it that a command must not see.
    Hidden(fn(&Place) -> bool),
    /// Every place shows it in the system's directories.
    System(fn(&Place) -> bool),
    /// The host sees it.
    Seen(fn(&mut Arena) -> bool),
}

/// How a command ends whose attack was contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was told: an error, or a signal.
    Refused,
    /// It finished, and achieved nothing outside.
    Finished,
    /// It may have become another program, whose exit status says nothing.
    Other,
}

/// What is run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    /// Python, after the prelude.
    Python(&'static str),
    /// A program with these arguments.
    Arguments(&'static [&'static str]),
}

/// How the attack is shown to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// A command at level `none`.
    None,
    /// A child of the host's that the runner has no part in: level `none` withstands this one too.
    Plain,
}

/// One attack. `FOLDER`, `WORKSPACE` and `SECRET` (a file) in arguments and paths are replaced by what they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    /// The file of the program.
    pub(crate) program: &'static str,
    pub(crate) code: Code,
    /// A second command, started when the first one has ended; what the attack is after is then judged by it alone.
    pub(crate) next: Option<&'static str>,
    /// What the host's user does before that one starts.
    pub(crate) between: fn(&Arena),
    pub(crate) aim: Aim,
    pub(crate) who: Who,
    pub(crate) end: End,
    pub(crate) baseline: Baseline,
    /// `children` in the policy, as TOML.
    pub(crate) children: &'static str,
    /// The directory that it starts in, of the workspace; empty = the workspace.
    pub(crate) cwd: &'static str,
    /// What the policy gives and the command asks for.
    pub(crate) network: Network,
    /// More lines of the policy, for level `full`.
    pub(crate) policy: &'static str,
    /// What must be in place before; `Err` says why this machine can't have it.
    pub(crate) prepare: fn(&mut Arena) -> Result<(), String>,
}

impl Attack {
    /// By a program in Python that prints `won`.
    pub(crate) const fn python(code: &'static str) -> Self {
        Self {
            program: "/usr/bin/python3",
            code: Code::Python(code),
            next: None,
            between: |_| (),
            aim: Aim::Says,
            who: Who::Everybody,
            end: End::Refused,
            baseline: Baseline::None,
            children: "\"none\"",
            cwd: "",
            network: Network::None,
            policy: "",
            prepare: |_| Ok(()),
        }
    }

    /// The same, of root's.
    pub(crate) const fn root(code: &'static str) -> Self {
        Self { who: Who::Root, ..Self::python(code) }
    }

    /// By a program of this machine that prints `won`.
    pub(crate) const fn program(program: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { program, code: Code::Arguments(arguments), ..Self::python("") }
    }

    pub(crate) const fn aims(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    pub(crate) const fn finishes(self) -> Self {
        Self { end: End::Finished, ..self }
    }

    pub(crate) const fn becomes_another(self) -> Self {
        Self { end: End::Other, ..self }
    }

    /// Has a second command follow; what the attack is after is judged by what that one does.
    pub(crate) const fn then(self, next: &'static str) -> Self {
        Self { next: Some(next), ..self }
    }

    /// Has the host's user do something before the second command.
    pub(crate) const fn while_the_user(self, between: fn(&Arena)) -> Self {
        Self { between, ..self }
    }

    /// Lets it execute these.
    pub(crate) const fn children(self, children: &'static str) -> Self {
        Self { children, ..self }
    }

    /// Gives it the network, and whatever comes with that.
    pub(crate) const fn networked(self) -> Self {
        Self { network: Network::Host, ..self }
    }

    pub(crate) const fn starting_in(self, cwd: &'static str) -> Self {
        Self { cwd, ..self }
    }

    /// With these lines in the policy for level `full`.
    pub(crate) const fn under(self, policy: &'static str) -> Self {
        Self { policy, ..self }
    }

    pub(crate) const fn prepared(self, prepare: fn(&mut Arena) -> Result<(), String>) -> Self {
        Self { prepare, ..self }
    }

    /// Shows that it works, and that it is contained.
    pub(crate) async fn run(self, name: &str) {
        let is_root = rustix::process::geteuid().is_root();
        match self.who {
            Who::Root if !is_root => return skip(&format!("{name}: it takes root to show it")),
            Who::NotRoot if is_root => return skip(&format!("{name}: root needs no such attack")),
            Who::Everybody | Who::Root | Who::NotRoot => {}
        }
        if let Some(reason) = self.unavailable() {
            return skip(&format!("{name}: {reason}"));
        }
        if let Err(reason) = self.works().await {
            return skip(&format!("{name}: {reason}"));
        }
        if available_level() < Level::Full {
            let reason = confinement_problem().unwrap_or_default();
            return skip(&format!("{name}: it works unconfined, and this machine does not reach level full: {reason}"));
        }
        self.is_contained().await;
    }

    fn unavailable(&self) -> Option<String> {
        // Copies are copies of Python.
        let program = if self.program.starts_with("FOLDER") { "/usr/bin/python3" } else { self.program };
        (!Path::new(program).exists()).then(|| format!("{program} is not installed"))
    }

    async fn works(&self) -> Result<(), String> {
        let mut arena = Arena::new(self, Level::None)?;
        let output = match self.baseline {
            Baseline::None => self.command(&arena).await,
            Baseline::Plain => self.plain(&arena),
        };
        if output.status == Status::Exited(ABSENT) {
            return Err(output.stdout.lines().last().unwrap_or_default().to_owned());
        }
        let effects = self.effects(&mut arena, &output);
        assert!(
            !effects.is_empty() && effects.iter().all(|effect| *effect),
            "works unconfined: {effects:?} {output:#?}"
        );
        Ok(())
    }

    async fn is_contained(&self) {
        let mut arena = Arena::new(self, Level::Full).unwrap();
        let output = self.command(&arena).await;
        let effects = self.effects(&mut arena, &output);
        assert!(!effects.iter().any(|effect| *effect), "NOT CONTAINED: {effects:?} {output:#?}");
        if matches!(self.code, Code::Python(_)) {
            // What never started was not contained.
            assert!(output.stdout.starts_with("ready\n"), "it starts: {output:#?}");
            let refused = matches!(output.status, Status::Exited(REFUSED | ABSENT) | Status::Signaled(_));
            let ended = match self.end {
                End::Refused => refused,
                End::Finished => refused || output.status == Status::Exited(0),
                End::Other => true,
            };
            assert!(ended, "it is told: {output:#?}");
        } else {
            assert!(output.all().contains("ready"), "it starts: {output:#?}");
        }
    }

    fn effects(&self, arena: &mut Arena, output: &Text) -> Vec<bool> {
        match self.aim {
            Aim::Says => vec![output.stdout.lines().any(|line| line == "won")],
            Aim::Secrets => arena.hidden().iter().map(|place| output.stdout.contains(&place.secret)).collect(),
            Aim::Prints(what) => vec![output.stdout.contains(&what(arena))],
            Aim::Places(effect) => arena.outside().map(effect).collect(),
            Aim::Hidden(effect) => arena.hidden().iter().map(effect).collect(),
            Aim::System(effect) => arena.system().iter().map(effect).collect(),
            Aim::Seen(effect) => vec![effect(arena)],
        }
    }

    async fn command(&self, arena: &Arena) -> Text {
        let first = arena.run(&self.request(self.arguments(arena))).await.into();
        let Some(next) = self.next else { return first };
        // The first one must have got as far as it could: a mistake in it must not read as protection.
        let Text { status, .. } = &first;
        let ended = matches!(status, Status::Exited(0 | REFUSED | ABSENT) | Status::Signaled(_));
        assert!(ended, "the first command: {first:#?}");
        (self.between)(arena);
        let arguments = ["-I", "-S", "-c", &arena.script(next)].map(str::to_owned).to_vec();
        arena.run(&self.request(arguments)).await.into()
    }

    /// As a child of the host's.
    fn plain(&self, arena: &Arena) -> Text {
        let mut command = std::process::Command::new(self.program);
        let arguments = self.arguments(arena);
        let output = command.env_clear().args(arguments).current_dir(arena.workspace()).output().unwrap();
        Text {
            status: output
                .status
                .code()
                .map_or(Status::Signaled(0), |code| Status::Exited(u8::try_from(code).unwrap())),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn request(&self, arguments: Vec<String>) -> Request {
        let request = Request::new(self.name()).args(arguments);
        let request = if self.cwd.is_empty() { request } else { request.cwd(self.cwd) };
        match self.network {
            Network::None => request,
            Network::Host => request.network(),
        }
    }

    fn arguments(&self, arena: &Arena) -> Vec<String> {
        match self.code {
            Code::Python(code) => ["-I", "-S", "-c", &arena.script(code)].map(str::to_owned).to_vec(),
            Code::Arguments(arguments) => arguments.iter().map(|argument| arena.filled(argument)).collect(),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.program.rsplit('/').next().unwrap()
    }
}

/// What came of a command, as text.
#[derive(Debug)]
struct Text {
    status: Status,
    stdout: String,
    stderr: String,
}

impl Text {
    fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl From<Outcome> for Text {
    fn from(Outcome { status, stdout, stderr, .. }: Outcome) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = stderr.map(|captured| text(&captured.bytes)).unwrap_or_default();
        Self { status, stdout: text(&stdout.bytes), stderr }
    }
}
