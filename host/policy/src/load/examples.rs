//! Examples that rules carry, held against the rules when the policy is read.

use serde_spanned::Spanned;

use crate::file::ExamplesTable;
use crate::grammar::Place;
use crate::rules::{self, Contradiction};
use crate::show::excerpt;
use crate::{Effect, PolicyError, ProgramEntry, Rule, split};

/// Holds a rule's examples against all rules of its program. Which ones must fit the very rule depends on what it
/// does with those:
///
/// | decision of the rule | `examples.allow`                      | `examples.deny`                  |
/// |----------------------|---------------------------------------|----------------------------------|
/// | `allow`              | fits it, comes out as `allow`         | does not come out as `allow`     |
/// | `ask`                | fits it, comes out as `ask`           | comes out as `deny`, or unfitted |
/// | `deny`               | comes out as `allow` or `ask`         | fits it, so comes out as `deny`  |
pub(super) fn check(
    entry: &ProgramEntry,
    rule: &Rule,
    examples: &ExamplesTable,
    place: &Place<'_>,
) -> Result<(), PolicyError> {
    let ExamplesTable { allow, deny } = examples;
    for example in allow {
        let arguments = arguments(entry, example)?;
        let effect = effect_on(entry, &arguments, place);
        let comes_out = match rule.effect {
            Effect::Allow | Effect::Ask => {
                must_fit(rule, example, &arguments, place)?;
                effect == Some(rule.effect)
            }
            Effect::Deny => matches!(effect, Some(Effect::Allow | Effect::Ask)),
        };
        if !comes_out {
            let wanted = match rule.effect {
                Effect::Allow | Effect::Ask => rule.effect,
                Effect::Deny => Effect::Allow,
            };
            return Err(otherwise(entry, example, &arguments, wanted, place));
        }
        if let (Effect::Allow, Err(contradiction)) =
            (rule.effect, rules::pinned(&entry.rules.fitting(&arguments, place)))
        {
            let Contradiction { one, other, name } = contradiction;
            let message = format!(
                "this example would not run: the rules `{}` (line {}) and `{}` (line {}) set `{}` to different values",
                one.id,
                one.line,
                other.id,
                other.line,
                excerpt(name.as_str())
            );
            let help = "set the variable for the whole program, or make the rules' arguments differ";
            return Err(PolicyError::new(example.span(), message).help(help));
        }
    }
    for example in deny {
        let arguments = arguments(entry, example)?;
        let stricter = match rule.effect {
            Effect::Allow | Effect::Ask => {
                effect_on(entry, &arguments, place).is_none_or(|effect| effect > rule.effect)
            }
            Effect::Deny => must_fit(rule, example, &arguments, place).map(|()| true)?,
        };
        if !stricter {
            return Err(otherwise(entry, example, &arguments, Effect::Deny, place));
        }
    }
    Ok(())
}

fn must_fit(
    rule: &Rule,
    example: &Spanned<String>,
    arguments: &[String],
    place: &Place<'_>,
) -> Result<(), PolicyError> {
    rule.fits(arguments, place).map_err(|stop| {
        let (place, wanted) = (stop.place(arguments), &stop.why);
        let message = format!("the rule `{}` does not fit this example: {place}, it wants {wanted}", rule.id);
        PolicyError::new(example.span(), message).help("correct the example, or the rule's arguments")
    })
}

/// The example comes out otherwise than it says; names the rule that made it so.
fn otherwise(
    entry: &ProgramEntry,
    example: &Spanned<String>,
    arguments: &[String],
    wanted: Effect,
    place: &Place<'_>,
) -> PolicyError {
    let fitting = entry.rules.fitting(arguments, place).into_iter();
    let strictest = fitting.max_by(|a, b| a.effect.cmp(&b.effect).then_with(|| b.id.cmp(&a.id)));
    let wanted = wanted.as_str();
    match strictest {
        Some(by) => {
            let message = format!(
                "this example should come out as `{wanted}`, and comes out as `{}` by the rule `{}` (line {})",
                by.effect.as_str(),
                by.id,
                by.line
            );
            PolicyError::new(example.span(), message).help("correct the example, or the arguments of that rule")
        }
        None => {
            let message = format!("this example should come out as `{wanted}`, and no rule fits it");
            PolicyError::new(example.span(), message).help("correct the example, or add the rule that allows it")
        }
    }
}

fn arguments(entry: &ProgramEntry, example: &Spanned<String>) -> Result<Vec<String>, PolicyError> {
    let mut words = split(example.get_ref()).map_err(|error| {
        let message = format!("the example can't be split into words: {error}");
        PolicyError::new(example.span(), message).help("examples are split as Python's `shlex.split` does")
    })?;
    if words.first().is_none_or(|program| program != entry.name.as_str()) {
        let message = format!("an example must begin with the program's name, `{}`", entry.name);
        return Err(PolicyError::new(example.span(), message).help("write the whole command line"));
    }
    words.remove(0);
    Ok(words)
}

fn effect_on(entry: &ProgramEntry, arguments: &[String], place: &Place<'_>) -> Option<Effect> {
    entry.rules.fitting(arguments, place).into_iter().map(|rule| rule.effect).max()
}
