//! How a rule reads a command's arguments, for people and tools to see.

use serde::Serialize;

use crate::grammar::{Piece, Place};
use crate::{Effect, Facts, Policy, Rule, RuleId, ValidRequest};

/// What each part of a command's arguments is, to the rule that decided or, where none fits, to the nearest one.
///
/// Made by the code that decides, not by a second reading. It serialises, so that a program can show it too. `text` is
/// what the request said, unescaped: show it through [`visible`](crate::visible).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParsedArguments {
    /// The rule.
    pub rule: RuleId,
    /// The parts that it understands, in order. One argument can have several: `-n5`, `-rf`, `--jobs=4`.
    pub parts: Vec<ParsedPart>,
    /// Where it stopped, if it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<ParsedStop>,
}

/// A part of an argument, or all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParsedPart {
    /// Index of the argument, from zero.
    pub argument: usize,
    /// Its text: of `--jobs=4`, `--jobs` is one part and `4` another.
    pub text: String,
    /// What it is.
    #[serde(flatten)]
    pub role: Role,
}

/// What a part of an argument is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "role", rename_all = "kebab-case")]
pub enum Role {
    /// A word that the rule lists in `leading-arguments` or `exact-arguments`, or that a rule which denies looks for.
    Listed,
    /// A word of the subcommand.
    Subcommand,
    /// An option.
    Flag {
        /// Its first name in the rule, whatever alias was written.
        name: String,
    },
    /// The value of an option.
    Value {
        /// First name of the option.
        of: String,
        /// The type that it was held against, in the word of the policy language.
        #[serde(rename = "type")]
        kind: &'static str,
    },
    /// An argument that is neither an option nor the value of one.
    Positional {
        /// From zero; counted anew behind `--` if the rule says what may stand there.
        number: usize,
        /// The type that it was held against.
        #[serde(rename = "type")]
        kind: &'static str,
    },
    /// The `--` behind which nothing is an option, or those of another program are.
    EndOfOptions,
    /// The rule takes it as it comes.
    Unjudged,
}

/// Where a rule stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParsedStop {
    /// Index of the argument, from zero; `None` = one is missing behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<usize>,
    /// What would have been allowed there, in words.
    pub wanted: String,
}

impl Policy {
    /// How the rule that decides reads the arguments; if none fits them, the nearest that does not deny. `None` if the
    /// policy has no such rule for the program.
    #[must_use]
    pub fn parsed(&self, request: &ValidRequest<'_>, facts: &Facts) -> Option<ParsedArguments> {
        let entry = self.programs.get(request.program())?;
        let place = self.place(entry, request, facts);
        let fitting = entry.rules.fitting(request.arguments(), &place);
        let strictest = fitting.into_iter().max_by(|a, b| a.effect.cmp(&b.effect).then_with(|| b.id.cmp(&a.id)));
        let rule = strictest.or_else(|| entry.nearest(request.arguments(), &place).map(|(rule, _)| rule))?;
        Some(read(rule, request.arguments(), &place))
    }
}

fn read(rule: &Rule, arguments: &[String], place: &Place<'_>) -> ParsedArguments {
    let mut parts = Vec::new();
    let end = rule.arguments.read(arguments, &rule.place(place), &mut |argument, text: &str, piece| {
        let role = match piece {
            Piece::Listed => Role::Listed,
            Piece::Subcommand => Role::Subcommand,
            Piece::Flag(flag) => Role::Flag { name: flag.name.clone() },
            Piece::Value(flag, value) => Role::Value { of: flag.name.clone(), kind: value.kind.word() },
            Piece::Positional(number, value) => Role::Positional { number, kind: value.kind.word() },
            Piece::EndOfOptions => Role::EndOfOptions,
            Piece::Unjudged => Role::Unjudged,
        };
        parts.push(ParsedPart { argument, text: text.to_owned(), role });
    });
    let stopped = end.err().map(|stop| ParsedStop {
        argument: Some(stop.at).filter(|at| *at < arguments.len()),
        wanted: stop.why.to_string(),
    });
    debug_assert!(rule.effect != Effect::Deny || stopped.is_none());
    ParsedArguments { rule: rule.id.clone(), parts, stopped }
}

#[cfg(test)]
mod tests;
