//! Judging a request: the one place where a policy turns into a verdict.

use std::collections::BTreeMap;

use crate::grammar::Place;
use crate::names::VariableName;
use crate::paths;
use crate::rules::{self, Contradiction};
use crate::show::excerpt;
use crate::{
    Allowed, Code, Confinement, Decision, Effect, Facts, Identity, Limits, Network, Policy, Problem, ProgramEntry,
    ProgramFact, Rule, Stderr, ValidRequest, visible,
};

mod nearest;

impl Policy {
    /// Judges a request.
    ///
    /// Default is deny. Of the rules that fit the arguments the strictest wins, in whatever order they stand. Where
    /// several rules allow, all of their limits hold: the least network, what all let it write, the minimum of each
    /// ceiling, and every pinned variable.
    ///
    /// Of several reasons to refuse, the one named is the first in this order: program, rules, environment, network,
    /// limits, and only then what the host can't do. So `unavailable` is never said of what is not allowed.
    pub fn decide(&self, request: &ValidRequest<'_>, facts: &Facts) -> Decision {
        match self.judge(request, facts) {
            Ok(allowed) => Decision::Allow(Box::new(allowed)),
            Err(problem) if problem.code == Code::ApprovalRequired => Decision::Ask(problem),
            Err(problem) => Decision::Deny(problem),
        }
    }

    fn judge(&self, request: &ValidRequest<'_>, facts: &Facts) -> Result<Allowed, Problem> {
        let entry = self.entry(request)?;
        let rules = self.allowing_rules(entry, request.arguments(), &self.place(entry, request, facts))?;
        let env = self.environment(entry, &rules, request, facts)?;
        let confinement = self.confinement(entry, &rules, request)?;
        let limits = self.limits(entry, &rules, request, facts)?;
        Ok(Allowed {
            program: entry.name.clone(),
            identity: identity(entry, facts)?,
            arguments: request.arguments().to_vec(),
            cwd: request.cwd().to_owned(),
            env,
            merge_stderr: request.request().stderr == Stderr::Merged,
            limits,
            confinement,
            level: self.level,
            rules: rules.iter().map(|rule| rule.id.clone()).collect(),
            policy: self.digest.clone(),
        })
    }

    fn entry(&self, request: &ValidRequest<'_>) -> Result<&ProgramEntry, Problem> {
        let program = request.program();
        self.programs.get(program).ok_or_else(|| {
            let advice = format!("to allow it, add a [[program]] named '{program}' with a rule ({})", self.name);
            Problem::new(Code::PolicyUnlisted, format!("no rule allows `{program}`")).advise(advice)
        })
    }

    /// The rules that allow these arguments, sorted by id, none of which is stricter than `allow`.
    fn allowing_rules<'a>(
        &self,
        entry: &'a ProgramEntry,
        arguments: &[String],
        place: &Place<'_>,
    ) -> Result<Vec<&'a Rule>, Problem> {
        let mut fitting = entry.rules.fitting(arguments, place);
        // The order of the file must not matter: not for the verdict, and not for the rule that it names.
        fitting.sort_unstable_by_key(|rule| &rule.id);
        match fitting.iter().rev().max_by_key(|rule| rule.effect) {
            None => Err(self.nothing_fits(entry, arguments, place)),
            Some(strictest) => match strictest.effect {
                Effect::Allow => Ok(fitting),
                Effect::Ask | Effect::Deny => Err(self.stopped_by(entry, strictest)),
            },
        }
    }

    /// What paths among a program's arguments are judged against.
    pub(crate) fn place<'a>(
        &'a self,
        entry: &'a ProgramEntry,
        request: &'a ValidRequest<'_>,
        facts: &'a Facts,
    ) -> Place<'a> {
        Place {
            workspace: facts.workspace.as_deref(),
            cwd: request.cwd(),
            deny: &self.reach.deny,
            write: entry.write.as_deref().unwrap_or(&self.reach.write),
        }
    }

    /// A rule that fits denies, or asks for a person.
    fn stopped_by(&self, entry: &ProgramEntry, rule: &Rule) -> Problem {
        let (name, why) = (&entry.name, excerpt(&rule.why));
        let place = format!("({}:{})", self.name, rule.line);
        match rule.effect {
            Effect::Ask => {
                Problem::new(Code::ApprovalRequired, format!("a person must approve this use of `{name}`: {why}"))
                    .advise(format!(
                        "nobody can be asked here; to let it run unasked, change the rule's `decision` {place}"
                    ))
            }
            Effect::Allow | Effect::Deny => {
                Problem::new(Code::PolicyRule, format!("a rule denies this use of `{name}`: {why}"))
                    .advise(format!("to allow it, change the rule or take it out {place}"))
            }
        }
        .by(&rule.id)
    }

    /// Environment: the policy's values, then those passed from the host, then the guest's own; no later one
    /// replaces an earlier one.
    fn environment(
        &self,
        entry: &ProgramEntry,
        rules: &[&Rule],
        request: &ValidRequest<'_>,
        facts: &Facts,
    ) -> Result<Vec<(String, String)>, Problem> {
        let mut set = self.pinned(entry, rules)?;
        for name in &entry.env.pass {
            if let Some(value) = facts.host_environment.get(name.as_str()) {
                set.entry(name).or_insert(value);
            }
        }
        for (name, value) in request.env() {
            let named = excerpt(name.as_str());
            if !entry.env.guest.contains(name) {
                let message = format!("the environment variable `{named}` may not be set for `{}`", entry.name);
                let advice = format!("to let guests set it, add it to `env.guest` ({})", self.name);
                return Err(Problem::new(Code::EnvPolicy, message).advise(advice));
            }
            if set.insert(name, value).is_some() {
                let message = format!("the environment variable `{named}` is set already and can't be changed");
                let advice = format!("to let guests set it, take it out of `env.set` and `env.pass` ({})", self.name);
                return Err(Problem::new(Code::EnvPolicy, message).advise(advice));
            }
        }
        Ok(set.into_iter().map(|(name, value)| (name.as_str().to_owned(), value.to_owned())).collect())
    }

    /// The variables that the program and the rules set. Rules that contradict each other are refused when the policy
    /// is read, where that can be seen; of two grammars it can't, and then nothing runs.
    fn pinned<'a>(
        &self,
        entry: &'a ProgramEntry,
        rules: &[&'a Rule],
    ) -> Result<BTreeMap<&'a VariableName, &'a str>, Problem> {
        let mut set: BTreeMap<&VariableName, &str> =
            entry.env.set.iter().map(|(name, value)| (name, value.as_str())).collect();
        let pinned = rules::pinned(rules).map_err(|Contradiction { one, other, name }| {
            let message = format!(
                "the rules `{}` and `{}` both allow this, and set `{}` to different values",
                one.id,
                other.id,
                excerpt(name.as_str())
            );
            let advice = format!("set it to one value in both ({}:{} and {})", self.name, one.line, other.line);
            Problem::new(Code::PolicyAmbiguous, message).by(&other.id).advise(advice)
        })?;
        set.extend(pinned);
        Ok(set)
    }

    fn confinement(
        &self,
        entry: &ProgramEntry,
        rules: &[&Rule],
        request: &ValidRequest<'_>,
    ) -> Result<Confinement, Problem> {
        let write = entry.write.as_ref().unwrap_or(&self.reach.write).clone();
        let narrower = rules.iter().filter_map(|rule| rule.write.as_ref());
        Ok(Confinement {
            network: self.network(entry, rules, request)?,
            children: entry.children.clone(),
            read: paths::reduced([self.reach.read.as_slice(), &entry.read].concat()),
            write: narrower.fold(write, |write, rule| paths::common(&write, rule)),
            deny: self.reach.deny.clone(),
        })
    }

    fn network(&self, entry: &ProgramEntry, rules: &[&Rule], request: &ValidRequest<'_>) -> Result<Network, Problem> {
        // A command that does not ask for the network does not get it.
        if !request.request().network {
            return Ok(Network::None);
        }
        match rules.iter().fold(entry.network, |network, rule| network.min(rule.network)) {
            Network::Host => Ok(Network::Host),
            Network::None => {
                let message =
                    format!("`{}` was asked to run with the network, and the policy gives it none", entry.name);
                let advice = format!(
                    "to give it, set `network = \"host\"` under [confinement], and take it away neither in the \
                     program's entry nor in its rules ({}:{})",
                    self.name, entry.line
                );
                Err(Problem::new(Code::NetworkPolicy, message).advise(advice))
            }
        }
    }

    fn limits(
        &self,
        entry: &ProgramEntry,
        rules: &[&Rule],
        request: &ValidRequest<'_>,
        facts: &Facts,
    ) -> Result<Limits, Problem> {
        let policy = rules.iter().fold(entry.limits, |limits, rule| limits.min(rule.limits));
        let ceilings = Limits { output_bytes: policy.output_bytes.min(facts.output_ceiling), ..policy };
        ceilings.tighten(&request.request().limits).map_err(|problem| {
            if problem.code == Code::LimitUnsupported {
                let advice = "to have limits, write `confinement.level = \"limits\"` or better";
                problem.advise(format!("{advice} ({})", self.name))
            } else if problem.code == Code::LimitPolicy && ceilings != policy {
                problem.advise("more than that can't be handed to this caller, whatever the policy says")
            } else {
                problem.advise(format!("the ceilings stand under `limits` ({}:{})", self.name, entry.line))
            }
        })
    }
}

fn identity(entry: &ProgramEntry, facts: &Facts) -> Result<Identity, Problem> {
    let name = &entry.name;
    match &facts.program {
        ProgramFact::Found(identity) => Ok(identity.clone()),
        ProgramFact::Missing => {
            let advice = match &entry.file {
                Some(file) => format!("the policy names {} for it; install it or correct `file`", visible(file)),
                None => "install it in a directory of `programs.path`, or name its `file`".to_owned(),
            };
            Err(Problem::new(Code::ProgramMissing, format!("`{name}` is allowed and not installed")).advise(advice))
        }
        ProgramFact::Unusable(why) => {
            Err(Problem::new(Code::ProgramUnusable, format!("`{name}` is allowed and can't be used"))
                .advise(why.clone()))
        }
    }
}

#[cfg(test)]
mod tests;
