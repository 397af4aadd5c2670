//! From the text of a policy file to a [`Policy`]: everything is checked, nothing is ignored.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_spanned::Spanned;
use sha2::{Digest, Sha256};

use crate::error::Lines;
use crate::file::{ConfinementTable, PolicyFile, ProgramTable, ProgramsTable, RuleEnvTable, RuleTable, WorkspaceTable};
use crate::grammar::Place;
use crate::policy::{Environment, Reach};
use crate::rules::Rules;
use crate::value::Word;
use crate::{
    ArgumentPattern, Effect, GuestFiles, Level, Limits, Network, Policy, PolicyError, ProgramEntry, Rule, RuleId,
    Syntax, visible,
};

mod ceilings;
mod examples;
mod grammar;
mod pins;
mod reach;
mod read;
mod variables;

impl Policy {
    /// Reads a policy from the text of a policy file. `name` is how messages call the file.
    ///
    /// Everything is checked: unknown keys, values, references, and every rule's examples. A text of more than
    /// [`Policy::MAX_BYTES`] is refused.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line, column and what to do.
    ///
    /// # Example
    /// ```
    /// use portcullis_policy::Policy;
    ///
    /// let error = Policy::parse("policy.toml", "version = 1\n[limits]\nwall = \"soon\"\n").unwrap_err();
    /// assert_eq!((error.line(), error.column()), (3, 8));
    /// assert!(error.to_string().starts_with("error: `soon` is no span of time above zero"));
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        Self::parse_unnamed(text)
            .map(|policy| Self { name: visible(name).to_string(), ..policy })
            .map_err(|error| error.in_file(name, text))
    }

    fn parse_unnamed(text: &str) -> Result<Self, PolicyError> {
        if text.len() > Self::MAX_BYTES {
            let message = format!("the file has {} bytes; a policy has at most {}", text.len(), Self::MAX_BYTES);
            return Err(PolicyError::new(0..0, message).help("is it the right file?"));
        }
        let PolicyFile { _version, workspace, component, session, limits, programs, env, confinement, program } =
            read::policy_file(text)?;
        let WorkspaceTable { guest_files, deny } = workspace;
        let guest_files = guest_files.map(|Word(files)| files).unwrap_or_default();
        let ConfinementTable { level, network, read, write } = confinement;
        let level = level.map_or(Level::Full, |Word(level)| level);
        let (unset, most) = ceilings::outermost(level);
        let base = Base {
            patterns: grammar::Patterns::default(),
            lines: Lines::of(text),
            limits: ceilings::command(limits, unset, most, true)?,
            network: network.map_or_else(Network::default, |network| network.into_inner().0),
            env: variables::environment(env, &Environment::default())?,
            level,
            guest_files,
            reach: reach::everyones(level, deny, read, write)?,
        };
        let component = ceilings::component(component)?;
        let session = ceilings::session(session)?;
        let search_path = search_path(programs)?;
        let mut rule_lines = BTreeMap::new();
        let mut programs: BTreeMap<_, ProgramEntry> = BTreeMap::new();
        for table in program {
            let span = table.name.span();
            if let Some(earlier) = programs.get(table.name.get_ref()) {
                let message = format!("`{}` already has an entry, in line {}", earlier.name, earlier.line);
                let help = "put all rules of a program under one [[program]]";
                return Err(PolicyError::new(span, message).help(help));
            }
            let entry = base.program(table, &mut rule_lines)?;
            programs.insert(entry.name.clone(), entry);
        }
        Ok(Self {
            name: String::new(),
            digest: hex(&Sha256::digest(text.as_bytes())),
            guest_files,
            component,
            session,
            level,
            reach: base.reach,
            search_path,
            programs,
        })
    }
}

/// What programs inherit from the top of the file.
struct Base {
    patterns: grammar::Patterns,
    lines: Lines,
    limits: Limits,
    network: Network,
    env: Environment,
    level: Level,
    guest_files: GuestFiles,
    reach: Reach,
}

impl Base {
    fn program(
        &self,
        table: ProgramTable,
        rule_lines: &mut BTreeMap<RuleId, usize>,
    ) -> Result<ProgramEntry, PolicyError> {
        let ProgramTable { name, file, limits, network, children, read, write, runs_workspace_code, syntax, env, rule } =
            table;
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
            let help = "write where it is, such as \"/usr/bin/git\", or leave `file` out to have it looked up";
            return Err(PolicyError::new(file.span(), message).help(help));
        }
        let children_span = children.as_ref().map_or_else(Span::default, Spanned::span);
        let mut entry = ProgramEntry {
            line: self.lines.at(span.start),
            name: name.into_inner(),
            file: file.map(Spanned::into_inner),
            limits: ceilings::command(limits, self.limits, self.limits, false)?,
            network: narrowed(network, self.network, "a program can't get more network than [confinement] gives")?,
            children: reach::children(children, self.level)?,
            read: reach::read(read, self.level)?.unwrap_or_default(),
            write: reach::narrower(write, self.level, &self.reach, &self.reach.write)?,
            runs_workspace_code,
            env: variables::environment(env, &self.env)?,
            rules: Rules::new(Vec::new()),
        };
        reach::check_workspace_code(&entry, children_span, self.guest_files)?;
        let mut rules = Vec::with_capacity(rule.len());
        let mut examples = Vec::with_capacity(rule.len());
        let mut spans = Vec::with_capacity(rule.len());
        let syntax_span = syntax.as_ref().map(Spanned::span);
        let program_syntax = syntax.map_or_else(Syntax::default, |syntax| syntax.into_inner().0);
        for mut table in rule {
            let span = table.id.span();
            examples.push(std::mem::take(&mut table.examples));
            let rule = self.rule(table, &entry, program_syntax)?;
            if let Some(line) = rule_lines.insert(rule.id.clone(), rule.line) {
                let message = format!("the rule id `{}` is already taken, in line {line}", rule.id);
                let help = "ids are unique in a policy, since records and guests know a rule by its id";
                return Err(PolicyError::new(span, message).help(help));
            }
            rules.push(rule);
            spans.push(span);
        }
        if let Some(span) = syntax_span
            && rules.iter().all(|rule| rule.arguments.sort_key().is_some())
        {
            let message = "no rule of the program says anything of flags, so its syntax would do nothing";
            return Err(PolicyError::new(span, message).help("leave it out, or list flags in a rule"));
        }
        entry.rules = Rules::new(rules);
        pins::check(&entry.rules, &spans)?;
        let write = entry.write.as_deref().unwrap_or(&self.reach.write);
        let place = Place { workspace: None, cwd: "", deny: &self.reach.deny, write };
        for (rule, examples) in entry.rules.iter().zip(examples) {
            examples::check(&entry, rule, &examples, &place)?;
        }
        Ok(entry)
    }

    fn rule(&self, table: RuleTable, program: &ProgramEntry, syntax: Syntax) -> Result<Rule, PolicyError> {
        let program_syntax = syntax;
        let RuleTable {
            id,
            decision,
            why,
            leading_arguments,
            exact_arguments,
            syntax,
            negative_numbers,
            before_subcommand,
            subcommand,
            flags,
            conflicts,
            required,
            positionals,
            after_double_dash,
            limits,
            network,
            write,
            env,
            examples: _,
        } = table;
        let RuleEnvTable { set } = env;
        let span = id.span();
        if why.get_ref().trim().is_empty() {
            let message = "say why: it is shown with the policy, in records, and to guests that the rule stops";
            return Err(PolicyError::new(why.span(), message).help("write a few words, such as \"shows what changed\""));
        }
        let Word(effect) = decision;
        let keys = grammar::Keys {
            syntax,
            negative_numbers,
            before_subcommand,
            subcommand,
            flags,
            conflicts,
            required,
            positionals,
            after_double_dash,
        };
        let arguments = match (leading_arguments, exact_arguments, keys.place()) {
            (None, None, None) => ArgumentPattern::Any,
            (Some(leading), None, None) => ArgumentPattern::Leading(words(leading)?),
            (None, Some(exact), None) => ArgumentPattern::Exact(words(exact)?),
            (None, None, Some(_)) => keys.pattern(effect, program_syntax, &self.patterns)?,
            (Some(_), Some(exact), _) => {
                let message = "a rule has either `leading-arguments` or `exact-arguments`, not both";
                let help = "leave one out, or write two rules";
                return Err(PolicyError::new(exact.span(), message).help(help));
            }
            (Some(_), None, Some(span)) | (None, Some(_), Some(span)) => {
                let message = "a rule lists either whole arguments or flags and operands, not both";
                let help = "leave `leading-arguments` and `exact-arguments` out, or this key";
                return Err(PolicyError::new(span, message).help(help));
            }
        };
        let narrows = !limits.is_empty() || network.is_some() || write.is_some() || !set.is_empty();
        if effect == Effect::Deny && narrows {
            let id = id.get_ref();
            let message = format!("`{id}` denies, so `limits`, `network`, `write` and `env` would do nothing in it");
            return Err(PolicyError::new(span, message).help("leave them out"));
        }
        Ok(Rule {
            line: self.lines.at(span.start),
            id: id.into_inner(),
            effect,
            why: why.into_inner(),
            arguments,
            limits: ceilings::command(limits, program.limits, program.limits, false)?,
            network: narrowed(network, program.network, "a rule can't give more network than its program has")?,
            write: reach::narrower(
                write,
                self.level,
                &self.reach,
                program.write.as_ref().unwrap_or(&self.reach.write),
            )?,
            set: variables::set(set)?,
        })
    }
}

fn words(words: Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>, PolicyError> {
    let word = |word: Spanned<String>| {
        if word.get_ref().contains('\0') {
            let message = "no argument contains NUL, so the rule would never fit";
            return Err(PolicyError::new(word.span(), message).help("take it out"));
        }
        Ok(word.into_inner())
    };
    words.into_inner().into_iter().map(word).collect()
}

/// Programs and rules may take the network away, never give what the table above them does not.
fn narrowed(
    network: Option<Spanned<Word<Network>>>,
    outer: Network,
    message: &'static str,
) -> Result<Network, PolicyError> {
    match network {
        Some(network) if network.get_ref().0 > outer => {
            let help = "give it in [confinement] first, and take it away where it is not needed";
            Err(PolicyError::new(network.span(), message).help(help))
        }
        network => Ok(network.map_or(outer, |network| network.into_inner().0)),
    }
}

fn search_path(table: ProgramsTable) -> Result<Vec<String>, PolicyError> {
    let ProgramsTable { path } = table;
    let Some(path) = path else {
        return Ok(Policy::DEFAULT_SEARCH_PATH.map(str::to_owned).to_vec());
    };
    let directory = |directory: Spanned<String>| {
        if !is_plain_absolute(directory.get_ref()) {
            let message = "programs are looked up in absolute directories only, without `.` and `..`";
            return Err(PolicyError::new(directory.span(), message).help("write it out, such as \"/usr/bin\""));
        }
        Ok(directory.into_inner())
    };
    path.into_iter().map(directory).collect()
}

fn is_plain_absolute(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0') && !path.split('/').any(|part| part == "." || part == "..")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A place in the file where something stands.
type Span = Range<usize>;

#[cfg(test)]
mod tests;
