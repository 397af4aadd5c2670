//! The policy: what a policy file means, checked as a whole.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_spanned::Spanned;
use sha2::{Digest, Sha256};

use crate::environment::hook;
use crate::error::position;
use crate::file::{
    Bytes, ComponentTable, ConfinementTable, EnvTable, ExamplesTable, LimitsTable, PolicyFile, ProgramTable,
    ProgramsTable, RuleEnvTable, RuleTable, SessionTable, Time, WorkspaceTable,
};
use crate::names::VariableName;
use crate::{ArgumentPattern, Effect, Level, Limits, PolicyError, ProgramName, RuleId, split};

/// What a component's preopened workspace may do. It is served by the host, outside the kernel's confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestFiles {
    /// No preopen.
    None,
    /// Read and list. The default.
    #[default]
    Read,
    /// Read, write, create and delete.
    Write,
}

/// The network that a command gets. Ordered: the smaller gives less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// None. The default. The kernel enforces it from confinement level `full` on; below, a command that asks for
    /// the network is refused and one that does not ask is not stopped.
    #[default]
    None,
    /// The host's.
    Host,
}

/// Ceilings of the component itself (`[component]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ComponentSettings {
    /// Linear memory of all its instances together, in bytes. Default 256 MiB.
    pub memory: u64,
    /// Wall-clock time of the whole session, host calls included. Default 10 minutes.
    pub wall: Duration,
    /// Time that the component itself may compute, host calls not billed. Default 60 seconds.
    pub compute: Duration,
}

impl Default for ComponentSettings {
    fn default() -> Self {
        Self { memory: 256 << 20, wall: Duration::from_secs(600), compute: Duration::from_secs(60) }
    }
}

/// Budgets of one session (`[session]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SessionSettings {
    /// Calls of `exec` and `check` together. Default 1 000.
    pub calls: u64,
    /// Commands in flight at once; more wait their turn. Default 8, at most 1 024.
    pub concurrent: u64,
    /// Refused calls. Default 100.
    pub denials: u64,
    /// Bytes of journal. Default 16 MiB.
    pub journal: u64,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { calls: 1000, concurrent: 8, denials: 100, journal: 16 << 20 }
    }
}

/// A policy, checked as a whole. Made by [`Policy::parse`] only.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) guest_files: GuestFiles,
    pub(crate) component: ComponentSettings,
    pub(crate) session: SessionSettings,
    pub(crate) level: Level,
    pub(crate) search_path: Vec<String>,
    pub(crate) programs: BTreeMap<ProgramName, ProgramEntry>,
}

/// A program that the policy speaks of: an entry of its program table.
#[derive(Debug, Clone)]
pub struct ProgramEntry {
    pub(crate) name: ProgramName,
    pub(crate) line: usize,
    pub(crate) file: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
    pub(crate) env: Environment,
    pub(crate) rules: Vec<Rule>,
}

/// The variables of a program's commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    pub(crate) set: BTreeMap<VariableName, String>,
    pub(crate) pass: Vec<VariableName>,
    pub(crate) guest: Vec<VariableName>,
}

/// A rule of a program.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) id: RuleId,
    pub(crate) line: usize,
    pub(crate) effect: Effect,
    pub(crate) why: String,
    pub(crate) arguments: ArgumentPattern,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
    pub(crate) set: BTreeMap<VariableName, String>,
}

impl Policy {
    /// Where programs are looked up unless the policy says otherwise.
    pub const DEFAULT_SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
    /// Largest policy file, in bytes: 4 MiB.
    pub const MAX_BYTES: usize = 4 << 20;

    /// Reads a policy from the text of a policy file. `name` is how messages call the file.
    ///
    /// Everything is checked: unknown keys, values, references, and every rule's examples.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line, column and what to do.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        Self::parse_unnamed(text)
            .map(|policy| Self { name: name.to_owned(), ..policy })
            .map_err(|error| error.in_file(name, text))
    }

    fn parse_unnamed(text: &str) -> Result<Self, PolicyError> {
        if text.len() > Self::MAX_BYTES {
            return Err(PolicyError::new(
                0..0,
                format!("the file has {} bytes; a policy has at most {}", text.len(), Self::MAX_BYTES),
            ));
        }
        let file: PolicyFile = toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            PolicyError::new(span, error.message().trim_end())
        })?;
        let PolicyFile { version, workspace, component, session, limits, programs, env, confinement, program } = file;
        if *version.get_ref() != 1 {
            let help = "this release reads version 1; write `version = 1`";
            return Err(
                PolicyError::new(version.span(), format!("unknown policy version {}", version.get_ref())).help(help)
            );
        }
        let WorkspaceTable { guest_files } = workspace;
        let ConfinementTable { level, network } = confinement;
        let base = Base {
            text,
            limits: limits_within(limits, None)?,
            network: network.unwrap_or_default(),
            env: environment(env, &Environment::default())?,
        };
        let mut rule_lines = BTreeMap::new();
        let mut table = BTreeMap::new();
        for program in program {
            let span = program.name.span();
            let entry = base.program(program, &mut rule_lines)?;
            let name = entry.name.clone();
            if let Some(earlier) = table.insert(name.clone(), entry) {
                let earlier: ProgramEntry = earlier;
                let help = "put all rules of a program under one [[program]]";
                return Err(PolicyError::new(span, format!("`{name}` already has an entry, in line {}", earlier.line))
                    .help(help));
            }
        }
        let policy = Self {
            name: String::new(),
            digest: hex(&Sha256::digest(text.as_bytes())),
            guest_files: guest_files.unwrap_or_default(),
            component: component_settings(component)?,
            session: session_settings(session)?,
            level: level.unwrap_or(Level::Full),
            search_path: search_path(programs)?,
            programs: table,
        };
        Ok(policy)
    }

    /// How messages call the policy's file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the policy's text, in lower-case hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What a component's preopen may do.
    #[must_use]
    pub fn guest_files(&self) -> GuestFiles {
        self.guest_files
    }

    /// Ceilings of the component itself.
    #[must_use]
    pub fn component(&self) -> ComponentSettings {
        self.component
    }

    /// Budgets of a session.
    #[must_use]
    pub fn session(&self) -> SessionSettings {
        self.session
    }

    /// The least confinement that the policy accepts.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Absolute directories in which programs are looked up, first match first.
    #[must_use]
    pub fn search_path(&self) -> &[String] {
        &self.search_path
    }

    /// The programs that the policy speaks of, by name.
    pub fn programs(&self) -> impl Iterator<Item = &ProgramEntry> {
        self.programs.values()
    }

    /// The rule of this id.
    #[must_use]
    pub fn rule(&self, id: &RuleId) -> Option<&Rule> {
        self.programs().flat_map(|program| &program.rules).find(|rule| rule.id == *id)
    }

    /// Names of the host's variables that some program gets a copy of.
    #[must_use]
    pub fn passed_variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.programs().flat_map(|program| &program.env.pass).map(VariableName::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl ProgramEntry {
    /// Its name, which is also the argv[0] of its commands.
    #[must_use]
    pub fn name(&self) -> &ProgramName {
        &self.name
    }

    /// The file that the policy names for it, absolute; `None` = looked up in [`Policy::search_path`].
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

/// What programs inherit from the top of the file.
struct Base<'a> {
    text: &'a str,
    limits: Limits,
    network: Network,
    env: Environment,
}

impl Base<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        position(self.text, span.start).0
    }

    fn program(
        &self,
        table: ProgramTable,
        rule_lines: &mut BTreeMap<RuleId, usize>,
    ) -> Result<ProgramEntry, PolicyError> {
        let ProgramTable { name, file, limits, network, env, rule } = table;
        let span = name.span();
        if rule.is_empty() {
            let message = format!("`{}` has no rule, so nothing about it would be allowed", name.get_ref());
            let help = "add a [[program.rule]] with `id`, `decision` and `why`";
            return Err(PolicyError::new(span, message).help(help));
        }
        if let Some(file) = &file
            && !is_plain_absolute(file.get_ref())
        {
            let message = "the file of a program must be an absolute path without `.` and `..`";
            return Err(PolicyError::new(file.span(), message));
        }
        let mut entry = ProgramEntry {
            line: self.line(&span),
            name: name.into_inner(),
            file: file.map(Spanned::into_inner),
            limits: limits_within(limits, Some(self.limits))?,
            network: self.narrowed(network, &span)?,
            env: environment(env, &self.env)?,
            rules: Vec::with_capacity(rule.len()),
        };
        let mut examples = Vec::new();
        for table in rule {
            let id_span = table.id.span();
            let (rule, rule_examples) = self.rule(table, &entry)?;
            if let Some(line) = rule_lines.insert(rule.id.clone(), rule.line) {
                return Err(PolicyError::new(
                    id_span,
                    format!("the rule id `{}` is already taken, in line {line}", rule.id),
                ));
            }
            if let Some(other) = entry.rules.iter().find(|other| other.pins_differently(&rule)) {
                let message = format!(
                    "`{}` and `{}` (line {}) can both allow a command, and set a variable to different values",
                    rule.id, other.id, other.line
                );
                let help = "set the variable for the whole program, or make the rules' arguments differ";
                return Err(PolicyError::new(id_span, message).help(help));
            }
            entry.rules.push(rule);
            examples.push(rule_examples);
        }
        for (index, examples) in examples.into_iter().enumerate() {
            entry.check_examples(index, examples)?;
        }
        Ok(entry)
    }

    fn rule(&self, table: RuleTable, program: &ProgramEntry) -> Result<(Rule, ExamplesTable), PolicyError> {
        let RuleTable { id, decision, why, leading_arguments, exact_arguments, limits, network, env, examples } = table;
        let RuleEnvTable { set } = env;
        let span = id.span();
        if why.get_ref().trim().is_empty() {
            return Err(PolicyError::new(
                why.span(),
                "say why: the text is shown to the people who read the policy and its records",
            ));
        }
        let words = |words: Spanned<Vec<Spanned<String>>>| -> Vec<String> {
            words.into_inner().into_iter().map(Spanned::into_inner).collect()
        };
        let arguments = match (leading_arguments, exact_arguments) {
            (None, None) => ArgumentPattern::Any,
            (Some(leading), None) => ArgumentPattern::Leading(words(leading)),
            (None, Some(exact)) => ArgumentPattern::Exact(words(exact)),
            (Some(_), Some(exact)) => {
                let message = "a rule has either `leading-arguments` or `exact-arguments`, not both";
                return Err(PolicyError::new(exact.span(), message));
            }
        };
        let rule = Rule {
            line: self.line(&span),
            id: id.into_inner(),
            effect: decision,
            why: why.into_inner(),
            arguments,
            limits: limits_within(limits, Some(program.limits))?,
            network: match network {
                Some(network) if network > program.network => {
                    return Err(PolicyError::new(span, "a rule can't give more network than its program has"));
                }
                network => network.unwrap_or(program.network),
            },
            set: variables(set)?,
        };
        Ok((rule, examples))
    }

    /// A program may take the network away, never give what the file's top does not.
    fn narrowed(&self, network: Option<Network>, span: &Range<usize>) -> Result<Network, PolicyError> {
        match network {
            Some(network) if network > self.network => {
                let help = "give it in [confinement] first, and take it away from the programs that don't need it";
                Err(PolicyError::new(span.clone(), "a program can't get more network than [confinement] gives")
                    .help(help))
            }
            network => Ok(network.unwrap_or(self.network)),
        }
    }
}

impl Rule {
    /// Its line in the policy's file, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why it is there, in its author's words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether some command would be allowed by both rules, and get different values for a variable.
    fn pins_differently(&self, other: &Self) -> bool {
        let both_allow = self.effect != Effect::Deny && other.effect != Effect::Deny;
        both_allow
            && self.arguments.overlaps(&other.arguments)
            && self.set.iter().any(|(name, value)| other.set.get(name).is_some_and(|theirs| theirs != value))
    }
}

impl ProgramEntry {
    /// Holds a rule's examples against the rules of the program: the allowed ones must fit this very rule and not
    /// be denied by another, the denied ones must not be allowed by any.
    fn check_examples(&self, rule: usize, examples: ExamplesTable) -> Result<(), PolicyError> {
        let ExamplesTable { allow, deny } = examples;
        let rule = &self.rules[rule];
        for example in &allow {
            let arguments = self.example_arguments(example)?;
            if rule.arguments.fits(&arguments).is_err() {
                return Err(PolicyError::new(
                    example.span(),
                    format!("the rule `{}` does not fit this example", rule.id),
                ));
            }
            let effect = self.effect_on(&arguments);
            if effect != Some(rule.effect) {
                let found = effect.map_or("nothing", Effect::as_str);
                let message =
                    format!("this example should come out as `{}`, and comes out as `{found}`", rule.effect.as_str());
                return Err(PolicyError::new(example.span(), message));
            }
        }
        for example in &deny {
            let arguments = self.example_arguments(example)?;
            if self.effect_on(&arguments) == Some(Effect::Allow) {
                let message =
                    format!("this example should not be allowed, and is: the rules of `{}` let it through", self.name);
                return Err(PolicyError::new(example.span(), message));
            }
        }
        Ok(())
    }

    fn example_arguments(&self, example: &Spanned<String>) -> Result<Vec<String>, PolicyError> {
        let words = split(example.get_ref()).map_err(|error| {
            PolicyError::new(example.span(), format!("the example can't be split into words: {error}"))
        })?;
        match words.split_first() {
            Some((program, arguments)) if program == self.name.as_str() => Ok(arguments.to_vec()),
            _ => Err(PolicyError::new(
                example.span(),
                format!("an example must begin with the program's name, `{}`", self.name),
            )),
        }
    }

    fn effect_on(&self, arguments: &[String]) -> Option<Effect> {
        self.rules.iter().filter(|rule| rule.arguments.fits(arguments).is_ok()).map(|rule| rule.effect).max()
    }
}

impl Effect {
    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

fn limits_within(table: LimitsTable, outer: Option<Limits>) -> Result<Limits, PolicyError> {
    let LimitsTable { wall, output } = table;
    let most = outer.unwrap_or(Limits { wall: Limits::MAX_WALL, output_bytes: Limits::MAX_OUTPUT_BYTES });
    let unset = outer.unwrap_or_default();
    let whose = if outer.is_some() { "the table above allows" } else { "portcullis allows" };
    Ok(Limits {
        wall: match wall {
            Some(wall) if wall.get_ref().0 > most.wall => {
                return Err(PolicyError::new(wall.span(), format!("more than {whose}: {:?}", most.wall)));
            }
            wall => wall.map_or(unset.wall, |wall| wall.into_inner().0),
        },
        output_bytes: match output {
            Some(output) if output.get_ref().0 > most.output_bytes => {
                return Err(PolicyError::new(output.span(), format!("more than {whose}: {} bytes", most.output_bytes)));
            }
            output => output.map_or(unset.output_bytes, |output| output.into_inner().0),
        },
    })
}

fn environment(table: EnvTable, outer: &Environment) -> Result<Environment, PolicyError> {
    let EnvTable { set, pass, guest } = table;
    for name in &guest {
        if let Some(pattern) = hook(name.get_ref().as_str()) {
            let message = format!(
                "guests can never set `{}`: it can make programs run other code ({pattern})",
                name.get_ref().as_str()
            );
            let help = "set it here, under `env.set`, if every command should have it";
            return Err(PolicyError::new(name.span(), message).help(help));
        }
    }
    let mut merged = outer.clone();
    let names = |names: Vec<Spanned<VariableName>>| names.into_iter().map(Spanned::into_inner);
    merged.set.extend(variables(set)?);
    merged.pass.extend(names(pass));
    merged.guest.extend(names(guest));
    Ok(merged)
}

fn variables(
    set: BTreeMap<Spanned<VariableName>, Spanned<String>>,
) -> Result<BTreeMap<VariableName, String>, PolicyError> {
    set.into_iter()
        .map(|(name, value)| {
            if value.get_ref().contains('\0') {
                return Err(PolicyError::new(value.span(), "the value of an environment variable can't contain NUL"));
            }
            Ok((name.into_inner(), value.into_inner()))
        })
        .collect()
}

fn component_settings(table: ComponentTable) -> Result<ComponentSettings, PolicyError> {
    let ComponentTable { memory, wall, compute } = table;
    let default = ComponentSettings::default();
    Ok(ComponentSettings {
        memory: bounded(memory.map(bytes), default.memory, 1 << 16, 4 << 30)?,
        wall: wall.map_or(Ok(default.wall), |wall| time_within(&wall, Limits::MAX_WALL))?,
        compute: compute.map_or(Ok(default.compute), |compute| time_within(&compute, Limits::MAX_WALL))?,
    })
}

fn session_settings(table: SessionTable) -> Result<SessionSettings, PolicyError> {
    let SessionTable { calls, concurrent, denials, journal } = table;
    let default = SessionSettings::default();
    Ok(SessionSettings {
        calls: bounded(calls, default.calls, 1, 1_000_000_000)?,
        concurrent: bounded(concurrent, default.concurrent, 1, 1024)?,
        denials: bounded(denials, default.denials, 1, 1_000_000_000)?,
        journal: bounded(journal.map(bytes), default.journal, 1 << 20, 1 << 40)?,
    })
}

fn bytes(size: Spanned<Bytes>) -> Spanned<u64> {
    Spanned::new(size.span(), size.get_ref().0)
}

fn bounded(value: Option<Spanned<u64>>, default: u64, least: u64, most: u64) -> Result<u64, PolicyError> {
    match value {
        None => Ok(default),
        Some(value) if (least..=most).contains(value.get_ref()) => Ok(value.into_inner()),
        Some(value) => Err(PolicyError::new(value.span(), format!("must be {least} to {most}"))),
    }
}

fn time_within(time: &Spanned<Time>, most: Duration) -> Result<Duration, PolicyError> {
    if time.get_ref().0 > most {
        return Err(PolicyError::new(time.span(), format!("more than portcullis allows: {most:?}")));
    }
    Ok(time.get_ref().0)
}

fn search_path(table: ProgramsTable) -> Result<Vec<String>, PolicyError> {
    let ProgramsTable { path } = table;
    let Some(path) = path else {
        return Ok(Policy::DEFAULT_SEARCH_PATH.map(str::to_owned).to_vec());
    };
    path.into_iter()
        .map(|directory| {
            if !is_plain_absolute(directory.get_ref()) {
                return Err(PolicyError::new(
                    directory.span(),
                    "programs are looked up in absolute directories only, without `.` and `..`",
                ));
            }
            Ok(directory.into_inner())
        })
        .collect()
}

fn is_plain_absolute(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0') && !path.split('/').any(|part| part == "." || part == "..")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
