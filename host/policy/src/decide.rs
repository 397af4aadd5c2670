//! Judging a request: the one place where a policy turns into a verdict.

use std::collections::BTreeMap;

use crate::names::VariableName;
use crate::policy::Network;
use crate::{
    Allowed, Code, Decision, Effect, Facts, Identity, Limits, Policy, Problem, ProgramEntry, ProgramFact, Rule, RuleId,
    ValidRequest, visible,
};

impl Policy {
    /// Judges a request.
    ///
    /// Default is deny. Of the rules that fit the arguments the strictest wins, in whatever order they stand. Where
    /// several rules allow, all of their limits hold: the least network, the minimum of each ceiling, and every
    /// pinned variable.
    pub fn decide(&self, request: &ValidRequest<'_>, facts: &Facts) -> Decision {
        match self.judge(request, facts) {
            Ok(allowed) => Decision::Allow(Box::new(allowed)),
            Err(problem) if problem.code == Code::ApprovalRequired => Decision::Ask(problem),
            Err(problem) => Decision::Deny(problem),
        }
    }

    fn judge(&self, request: &ValidRequest<'_>, facts: &Facts) -> Result<Allowed, Problem> {
        let entry = self.entry(request)?;
        let rules = self.allowing_rules(entry, request.arguments())?;
        let identity = identity(entry, facts)?;
        let mut limits = rules.iter().fold(entry.limits, |limits, rule| limits.min(rule.limits));
        limits.output_bytes = limits.output_bytes.min(facts.output_ceiling);
        let network = rules.iter().fold(entry.network, |network, rule| network.min(rule.network));
        let mut ids: Vec<RuleId> = rules.iter().map(|rule| rule.id.clone()).collect();
        ids.sort_unstable();
        Ok(Allowed {
            program: entry.name.clone(),
            identity,
            arguments: request.arguments().to_vec(),
            cwd: request.cwd().to_owned(),
            env: self.environment(entry, &rules, request, facts)?,
            merge_stderr: request.request().stderr == crate::Stderr::Merged,
            limits: self.limits(entry, limits, request)?,
            network: self.network(entry, network, request)?,
            level: self.level,
            rules: ids,
            policy: self.digest.clone(),
        })
    }

    fn entry(&self, request: &ValidRequest<'_>) -> Result<&ProgramEntry, Problem> {
        let program = request.program();
        self.programs.get(program).ok_or_else(|| {
            let advice = format!("to allow it, add a [[program]] named '{program}' with a rule ({})", self.name);
            Problem::new(Code::PolicyUnlisted, format!("no rule allows `{}`", visible(program.as_str()))).advise(advice)
        })
    }

    /// The rules that allow these arguments, none of which is stricter than `allow`.
    fn allowing_rules<'a>(&self, entry: &'a ProgramEntry, arguments: &[String]) -> Result<Vec<&'a Rule>, Problem> {
        let fitting: Vec<&Rule> = entry.rules.iter().filter(|rule| rule.arguments.fits(arguments).is_ok()).collect();
        // Of two rules of the strictest effect the one with the smaller id is named: order must not matter.
        let strictest = fitting.iter().map(|rule| rule.effect).max();
        let by_id = |effect| fitting.iter().filter(|rule| rule.effect == effect).min_by_key(|rule| &rule.id);
        match strictest {
            None => Err(self.nothing_fits(entry, arguments)),
            Some(Effect::Allow) => Ok(fitting),
            Some(effect @ (Effect::Ask | Effect::Deny)) => {
                let Some(rule) = by_id(effect) else { return Err(self.nothing_fits(entry, arguments)) };
                let place = format!("({}:{})", self.name, rule.line);
                Err(match effect {
                    Effect::Ask => {
                        let message = format!("a person must approve this use of `{}`: {}", entry.name, rule.why);
                        Problem::new(Code::ApprovalRequired, message).advise(format!(
                            "nobody can be asked here; to let it run unasked, change the rule's `decision` {place}"
                        ))
                    }
                    Effect::Allow | Effect::Deny => {
                        let message = format!("a rule denies this use of `{}`: {}", entry.name, rule.why);
                        Problem::new(Code::PolicyRule, message).advise(format!("the rule stands in {place}"))
                    }
                }
                .by(&rule.id))
            }
        }
    }

    /// No rule fits: shows the one that fits the most arguments, and the argument where it stops.
    fn nothing_fits(&self, entry: &ProgramEntry, arguments: &[String]) -> Problem {
        let stops = |rule: &Rule| rule.arguments.fits(arguments).err().unwrap_or(0);
        let nearest = entry
            .rules
            .iter()
            .filter(|rule| rule.effect != Effect::Deny)
            .max_by(|a, b| stops(a).cmp(&stops(b)).then_with(|| b.id.cmp(&a.id)));
        let name = &entry.name;
        let Some(rule) = nearest else {
            let message = format!("no rule allows `{name}`: it has rules that deny, and none that allows");
            let advice =
                format!("to allow a use of it, add a [[program.rule]] to its entry ({}:{})", self.name, entry.line);
            return Problem::new(Code::PolicyArguments, message).advise(advice);
        };
        let index = stops(rule);
        let wanted = match rule.arguments.wanted_at(index) {
            Some(wanted) => format!("`{}`", visible(wanted)),
            None => "no further argument".to_owned(),
        };
        let message = match arguments.get(index) {
            Some(argument) => {
                let shown: String = argument.chars().take(200).collect();
                format!(
                    "no rule allows `{name}` with these arguments: at argument {index}, `{}`, the nearest rule wants {wanted}",
                    visible(&shown)
                )
            }
            None => format!(
                "no rule allows `{name}` with these arguments: after the last one, the nearest rule wants {wanted}"
            ),
        };
        let advice = format!(
            "to allow it, add a [[program.rule]] to the entry of '{name}', or widen that rule ({}:{})",
            self.name, rule.line
        );
        let problem = Problem::new(Code::PolicyArguments, message).by(&rule.id).advise(advice);
        if index < arguments.len() { problem.at(index) } else { problem }
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
        let mut set: BTreeMap<&str, &str> = BTreeMap::new();
        let mut pinned: BTreeMap<&VariableName, (&RuleId, &str)> = BTreeMap::new();
        for (name, value) in &entry.env.set {
            set.insert(name.as_str(), value);
        }
        for rule in rules {
            for (name, value) in &rule.set {
                if let Some((other, theirs)) = pinned.insert(name, (&rule.id, value))
                    && theirs != value
                {
                    let message = format!(
                        "the rules `{other}` and `{}` both allow this, and set `{}` to different values",
                        rule.id,
                        name.as_str()
                    );
                    return Err(Problem::new(Code::PolicyAmbiguous, message).by(&rule.id));
                }
                set.insert(name.as_str(), value);
            }
        }
        for name in &entry.env.pass {
            if let Some(value) = facts.host_environment.get(name.as_str()) {
                set.entry(name.as_str()).or_insert(value);
            }
        }
        for (name, value) in request.env() {
            let named = visible(name.as_str());
            let refuse = |why: String| {
                let advice = format!("to let guests set it, add it to `env.guest` ({})", self.name);
                Problem::new(Code::EnvPolicy, why).advise(advice)
            };
            if !entry.env.guest.contains(name) {
                return Err(refuse(format!("the environment variable `{named}` may not be set for `{}`", entry.name)));
            }
            if set.insert(name.as_str(), value).is_some() {
                return Err(refuse(format!(
                    "the environment variable `{named}` is set by the policy and can't be changed"
                )));
            }
        }
        Ok(set.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn limits(&self, entry: &ProgramEntry, limits: Limits, request: &ValidRequest<'_>) -> Result<Limits, Problem> {
        limits.tighten(&request.request().limits).map_err(|problem| {
            problem.advise(format!("the ceilings stand under `limits` ({}:{})", self.name, entry.line))
        })
    }

    fn network(&self, entry: &ProgramEntry, network: Network, request: &ValidRequest<'_>) -> Result<Network, Problem> {
        if request.request().network && network == Network::None {
            let message = format!("`{}` was asked to run with the network, and the policy gives it none", entry.name);
            let advice = format!("to give it, set `network = \"host\"` under [confinement] ({})", self.name);
            return Err(Problem::new(Code::NetworkPolicy, message).advise(advice));
        }
        // A command that does not ask for the network does not get it.
        Ok(if request.request().network { network } else { Network::None })
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
