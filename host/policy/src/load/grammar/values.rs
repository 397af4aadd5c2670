//! Types of values, from their keys.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_spanned::Spanned;

use super::super::Span;
use crate::PolicyError;
use crate::file::{SlotTable, TypeName};
use crate::grammar::{Expression, Value, ValueType};
use crate::show::excerpt;
use crate::value::Word;

/// The regular expressions of a policy, each compiled once: rules of a program often share theirs.
#[derive(Default)]
pub(in super::super) struct Patterns(RefCell<BTreeMap<String, Expression>>);

impl Patterns {
    fn expression(&self, source: &str) -> Result<Expression, String> {
        let mut known = self.0.borrow_mut();
        if let Some(expression) = known.get(source) {
            return Ok(expression.clone());
        }
        let expression = Expression::new(source)?;
        known.insert(source.to_owned(), expression.clone());
        Ok(expression)
    }
}

type List = Spanned<Vec<Spanned<String>>>;

/// What the types have keys for. A key that a type has no use for is refused.
pub(super) struct Keys {
    pub(super) least: Option<Spanned<i64>>,
    pub(super) most: Option<Spanned<i64>>,
    pub(super) values: Option<List>,
    pub(super) pattern: Option<Spanned<String>>,
    pub(super) schemes: Option<List>,
    pub(super) hosts: Option<List>,
    pub(super) paths: Option<Spanned<bool>>,
    pub(super) also: Option<List>,
}

/// An operand's value, and how many of them, at the least and at the most.
pub(super) fn operand(table: SlotTable, patterns: &Patterns) -> Result<(Value, Option<u64>, Option<u64>), PolicyError> {
    let SlotTable { kind, min, max, least, most, values, pattern, schemes, hosts, paths, also } = table;
    let keys = Keys { least, most, values, pattern, schemes, hosts, paths, also };
    Ok((keys.value(kind, patterns)?, min.map(Spanned::into_inner), max.map(Spanned::into_inner)))
}

impl Keys {
    /// Where the first of them stands.
    pub(super) fn place(&self) -> Option<Span> {
        let Self { least, most, values, pattern, schemes, hosts, paths, also } = self;
        [
            least.as_ref().map(Spanned::span),
            most.as_ref().map(Spanned::span),
            values.as_ref().map(Spanned::span),
            pattern.as_ref().map(Spanned::span),
            schemes.as_ref().map(Spanned::span),
            hosts.as_ref().map(Spanned::span),
            paths.as_ref().map(Spanned::span),
            also.as_ref().map(Spanned::span),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|span| span.start)
    }

    pub(super) fn value(mut self, kind: Spanned<Word<TypeName>>, patterns: &Patterns) -> Result<Value, PolicyError> {
        let span = kind.span();
        let also = match self.also.take() {
            None => Vec::new(),
            Some(list) => texts(list)?,
        };
        let kind = self.kind(kind.into_inner().0, &span, patterns)?;
        // What is left has not been used.
        if let Some(span) = self.place() {
            let message = format!("the type `{}` has no use for this key", kind.word());
            return Err(PolicyError::new(span, message).help("leave it out, or choose another type"));
        }
        Ok(Value { kind, also })
    }

    fn kind(&mut self, name: TypeName, span: &Span, patterns: &Patterns) -> Result<ValueType, PolicyError> {
        let missing = |key: &str, example: &str| {
            let message = format!("the type needs the key `{key}` beside it");
            PolicyError::new(span.clone(), message).help(format!("write, for example, `{example}`"))
        };
        Ok(match name {
            TypeName::Text => ValueType::Text,
            TypeName::Word => ValueType::Word,
            TypeName::Int => {
                let (least, most) = (self.least.take(), self.most.take());
                let place = most.as_ref().map_or_else(|| span.clone(), Spanned::span);
                let least = least.map_or(i64::MIN, Spanned::into_inner);
                let most = most.map_or(i64::MAX, Spanned::into_inner);
                if least > most {
                    let message = "no number is at least the one and at most the other";
                    return Err(PolicyError::new(place, message).help("correct one of the two"));
                }
                ValueType::Int { least, most }
            }
            TypeName::Enum => {
                let values = self.values.take().ok_or_else(|| missing("values", "values = [\"short\", \"long\"]"))?;
                ValueType::Enum(texts(values)?)
            }
            TypeName::Regex => {
                let pattern = self.pattern.take().ok_or_else(|| missing("pattern", "pattern = '[a-z]+'"))?;
                let expression = patterns.expression(pattern.get_ref()).map_err(|problem| {
                    let message = format!("the regular expression can't be used: {problem}");
                    PolicyError::new(pattern.span(), message)
                        .help("it is written as for Rust's crate `regex`, and matches the whole value")
                })?;
                ValueType::Regex(expression)
            }
            TypeName::PathRead => ValueType::PathRead,
            TypeName::PathWrite => ValueType::PathWrite,
            TypeName::Url => {
                let hosts = self.hosts.take().ok_or_else(|| missing("hosts", "hosts = [\"example.org\"]"))?;
                let schemes = self.schemes.take();
                ValueType::Url {
                    schemes: schemes
                        .map_or_else(|| Ok(vec!["https".to_owned()]), |list| checked(list, is_scheme, "scheme"))?,
                    hosts: checked(hosts, is_host, "host")?,
                }
            }
            TypeName::GitFormat => ValueType::GitFormat,
            TypeName::GitRevision => {
                ValueType::GitRevision { paths: self.paths.take().is_some_and(Spanned::into_inner) }
            }
        })
    }
}

/// Texts that an argument can be; at least one.
fn texts(list: List) -> Result<Vec<String>, PolicyError> {
    checked(list, |text| !text.contains('\0'), "argument")
}

fn checked(list: List, is_right: fn(&str) -> bool, what: &str) -> Result<Vec<String>, PolicyError> {
    if list.get_ref().is_empty() {
        return Err(PolicyError::new(list.span(), "the list is empty").help("list at least one"));
    }
    let one = |text: Spanned<String>| {
        if is_right(text.get_ref()) {
            return Ok(text.into_inner());
        }
        let message = format!("`{}` can't be a {what}", excerpt(text.get_ref()));
        Err(PolicyError::new(text.span(), message).help("write \"https\", \"example.org\", \"example.org:8443\""))
    };
    list.into_inner().into_iter().map(one).collect()
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c))
}

/// A name or an IPv4 address, with a port or without.
fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    host.split('.').all(label) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}
