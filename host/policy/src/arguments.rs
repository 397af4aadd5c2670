//! What a rule says about a command's arguments.
//!
//! The one place where arguments are judged. The richer half, options and typed values, is in `grammar.rs`.

use serde::Serialize;

use crate::grammar::{Grammar, Occurrence, Piece, Place, Sink, Stop, Why};

/// Which argument lists a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentPattern {
    /// Every one.
    Any,
    /// Those that begin with exactly these arguments.
    Leading(Vec<String>),
    /// Exactly these arguments.
    Exact(Vec<String>),
    /// Those that a grammar knows to the last part.
    Grammar(Box<Grammar>),
    /// Those in which a subcommand or an option may occur, in whatever spelling.
    Occurrence(Box<Occurrence>),
}

impl ArgumentPattern {
    /// Whether the pattern fits; if not, where it stopped fitting.
    pub(crate) fn fits(&self, arguments: &[String], place: &Place<'_>) -> Result<(), Stop<'_>> {
        self.read(arguments, place, &mut |_, _, _| ())
    }

    /// As [`ArgumentPattern::fits`], and tells what each part of the arguments is.
    pub(crate) fn read<'g, 'a>(
        &'g self,
        arguments: &'a [String],
        place: &Place<'_>,
        sink: &mut Sink<'_, 'g, 'a>,
    ) -> Result<(), Stop<'g>> {
        let (wanted, exact) = match self {
            Self::Any => (&[][..], false),
            Self::Leading(wanted) => (&wanted[..], false),
            Self::Exact(wanted) => (&wanted[..], true),
            Self::Grammar(grammar) => return grammar.read(arguments, place, sink),
            Self::Occurrence(occurrence) => return occurrence.read(arguments, sink),
        };
        let common = wanted.iter().zip(arguments).take_while(|(a, b)| a == b).count();
        for (index, argument) in arguments[..common].iter().enumerate() {
            sink(index, argument, Piece::Listed);
        }
        if let Some(word) = wanted.get(common) {
            return Err(Stop { at: common, why: Why::Word(word) });
        }
        if exact && arguments.len() > common {
            return Err(Stop { at: common, why: Why::Nothing });
        }
        for (index, argument) in arguments.iter().enumerate().skip(common) {
            sink(index, argument, Piece::Unjudged);
        }
        Ok(())
    }

    /// Whether some argument list certainly fits both patterns. Of two grammars nobody can say.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Grammar(_) | Self::Occurrence(_), Self::Any)
            | (Self::Any, Self::Grammar(_) | Self::Occurrence(_)) => true,
            (Self::Grammar(_) | Self::Occurrence(_), _) | (_, Self::Grammar(_) | Self::Occurrence(_)) => self == other,
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Leading(a), Self::Leading(b)) => a.starts_with(b) || b.starts_with(a),
            (Self::Leading(start), Self::Exact(all)) | (Self::Exact(all), Self::Leading(start)) => {
                all.starts_with(start)
            }
            (Self::Exact(a), Self::Exact(b)) => a == b,
        }
    }

    /// Orders the plain patterns so that those which lie in another follow it; `None` for the others.
    pub(crate) fn sort_key(&self) -> Option<(&[String], bool)> {
        match self {
            Self::Any => Some((&[], false)),
            Self::Leading(start) => Some((start, false)),
            Self::Exact(all) => Some((all, true)),
            Self::Grammar(_) | Self::Occurrence(_) => None,
        }
    }

    /// Whether options may stand before the subcommand.
    pub(crate) fn has_before(&self) -> bool {
        matches!(self, Self::Grammar(grammar) if !grammar.before.flags.is_empty())
    }

    /// The word of a subcommand without which the pattern fits nothing.
    pub(crate) fn first_word(&self) -> Option<&str> {
        match self {
            Self::Any | Self::Leading(_) | Self::Exact(_) => None,
            Self::Grammar(grammar) => grammar.subcommand.first().map(String::as_str),
            Self::Occurrence(occurrence) => occurrence.subcommand.first().map(String::as_str),
        }
    }
}
