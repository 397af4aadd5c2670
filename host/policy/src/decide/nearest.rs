//! Why no rule fits: the rule that comes nearest, and where it stops.

use crate::grammar::{Place, Stop};
use crate::{Code, Policy, Problem, ProgramEntry, Rule};

impl ProgramEntry {
    /// The rule that fits the most arguments, and where it stops; rules that deny don't count. For arguments that no
    /// rule fits.
    pub(crate) fn nearest(&self, arguments: &[String], place: &Place<'_>) -> Option<(&Rule, Stop<'_>)> {
        self.rules
            .near(arguments)
            .filter_map(|rule| rule.fits(arguments, place).err().map(|stop| (rule, stop)))
            .max_by(|(rule, a), (other, b)| a.at.cmp(&b.at).then_with(|| other.id.cmp(&rule.id)))
    }
}

impl Policy {
    /// No rule fits: shows the one that fits the most arguments, and the argument where it stops.
    pub(super) fn nothing_fits(&self, entry: &ProgramEntry, arguments: &[String], place: &Place<'_>) -> Problem {
        let name = &entry.name;
        let Some((rule, stop)) = entry.nearest(arguments, place) else {
            let message = format!("no rule allows `{name}`: it has rules that deny, and none that allows");
            let advice = format!(
                "to allow a use of it, add a [[program.rule]] to the entry of '{name}' ({}:{})",
                self.name, entry.line
            );
            return Problem::new(Code::PolicyArguments, message).advise(advice);
        };
        let message = format!(
            "no rule allows `{name}` with these arguments: {}, the nearest rule wants {}",
            stop.place(arguments),
            stop.why
        );
        let advice = format!(
            "to allow it, add a [[program.rule]] to the entry of '{name}', or widen that rule ({}:{})",
            self.name, rule.line
        );
        let problem = Problem::new(Code::PolicyArguments, message).by(&rule.id).advise(advice);
        if stop.at < arguments.len() { problem.at(stop.at) } else { problem }
    }
}
