//! Types of values: of options and of operands.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Place;
use super::pretty::is_plain_format;
use crate::show::excerpt;

/// What a value may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Value {
    pub(crate) kind: ValueType,
    /// Texts that are fine as well.
    pub(crate) also: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValueType {
    /// Anything.
    Text,
    /// Anything that is not empty and does not begin with `-`.
    Word,
    /// A decimal number, without a sign unless it is below zero, without leading zeros.
    Int {
        least: i64,
        most: i64,
    },
    Enum(Vec<String>),
    Regex(Expression),
    PathRead,
    PathWrite,
    Url {
        schemes: Vec<String>,
        hosts: Vec<String>,
    },
    /// A revision or a range of them; `paths` = also `REVISION:PATH`.
    GitRevision {
        paths: bool,
    },
    /// A commit format that only prints what commits hold.
    GitFormat,
}

/// A regular expression that must match the whole value. It matches in time linear in the value.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    source: String,
    compiled: regex::Regex,
}

impl Expression {
    /// Most bytes that a compiled expression takes.
    const MAX_BYTES: usize = 256 << 10;

    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let compile = |source: &str| {
            regex::RegexBuilder::new(source).size_limit(Self::MAX_BYTES).dfa_size_limit(Self::MAX_BYTES).build()
        };
        // `a)|(b` must not break out of the group: it is tried by itself first.
        let alone = if source.contains(')') { compile(source).map(|_| ()) } else { Ok(()) };
        alone
            .and_then(|()| compile(&format!(r"\A(?:{source})\z")))
            .map(|compiled| Self { source: source.to_owned(), compiled })
            // The first lines draw the expression; the last says what is wrong.
            .map_err(|error| {
                error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            })
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Expression {}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl Value {
    pub(crate) fn fits(&self, text: &str, place: &Place<'_>) -> bool {
        self.kind.fits(text, place) || self.also.iter().any(|also| also == text)
    }
}

impl ValueType {
    /// The word of the policy language.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Word => "word",
            Self::Int { .. } => "int",
            Self::Enum(_) => "enum",
            Self::Regex(_) => "regex",
            Self::PathRead => "path-read",
            Self::PathWrite => "path-write",
            Self::Url { .. } => "url",
            Self::GitRevision { .. } => "git-revision",
            Self::GitFormat => "git-format",
        }
    }

    fn fits(&self, text: &str, place: &Place<'_>) -> bool {
        match self {
            Self::Text => true,
            Self::Word => !text.is_empty() && !text.starts_with('-'),
            Self::Int { least, most } => decimal(text).is_some_and(|number| (*least..=*most).contains(&number)),
            Self::Enum(values) => values.iter().any(|value| value == text),
            Self::Regex(expression) => expression.compiled.is_match(text),
            Self::PathRead => place.can_read(text),
            Self::PathWrite => place.can_write(text),
            Self::Url { schemes, hosts } => is_url(text, schemes, hosts),
            Self::GitRevision { paths } => is_revision(text, *paths),
            Self::GitFormat => is_plain_format(text),
        }
    }
}

/// A number that every program reads alike: `010` is eight to some.
fn decimal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits == "0" && text == digits || !digits.starts_with('0');
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && all_digits { text.parse().ok() } else { None }
}

/// A URL of a listed scheme and host, in a form about which parsers do not differ: no user, no encoded host, no
/// backslash, no brackets that a client expands, no white space.
///
/// Source: "Exploiting URL Parsing Confusion" (Claroty and Snyk, 2022).
fn is_url(text: &str, schemes: &[String], hosts: &[String]) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !r#"\"<>^`{|}[]"#.contains(c);
    if !text.chars().all(plain) {
        return false;
    }
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    schemes.iter().any(|listed| listed == scheme) && hosts.iter().any(|listed| listed.eq_ignore_ascii_case(authority))
}

/// `main`, `HEAD~2..HEAD`, `^v1.0`, `stash@{0}`, `main^{commit}`: no path, no option, nothing that a shell or git
/// would take for more than a name.
///
/// Source: `gitrevisions(7)`; `git-check-ref-format(1)` for what names can't hold.
fn is_revision(text: &str, paths: bool) -> bool {
    let (revision, path) = match text.split_once(':') {
        Some((revision, path)) => (revision, Some(path)),
        None => (text, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-~^@{}+".contains(c);
    // git takes for a path what is no revision, and reads outside the repository where both sides of a diff are paths.
    let like_a_path = revision.starts_with(['/', '-']) || revision.contains("../") || revision.contains("/..");
    revision.chars().all(plain)
        && !like_a_path
        && !matches!(revision, "." | "..")
        && match path {
            None => !revision.is_empty(),
            Some(path) => paths && !path.starts_with('/') && !path.chars().any(char::is_control),
        }
}

/// As a message names it: `a number from 1 to 4`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ValueType::Text => f.write_str("any text"),
            ValueType::Word => f.write_str("a word that does not begin with `-`"),
            ValueType::Int { least, most } => match (*least, *most) {
                (i64::MIN, i64::MAX) => f.write_str("a whole number"),
                (least, i64::MAX) => write!(f, "a whole number from {least}"),
                (i64::MIN, most) => write!(f, "a whole number up to {most}"),
                (least, most) => write!(f, "a whole number from {least} to {most}"),
            },
            ValueType::Enum(values) => listed(f, "", values),
            ValueType::Regex(Expression { source, compiled: _ }) => {
                write!(f, "a text that matches `{}`", excerpt(source))
            }
            ValueType::PathRead => f.write_str("a path in the workspace"),
            ValueType::PathWrite => f.write_str("a path in the workspace that may be written"),
            ValueType::Url { schemes, hosts } => {
                listed(f, "a URL with the scheme ", schemes)?;
                listed(f, " on the host ", hosts)
            }
            ValueType::GitFormat => f.write_str("a commit format of git that starts no program"),
            ValueType::GitRevision { paths: false } => f.write_str("a git revision"),
            ValueType::GitRevision { paths: true } => f.write_str("a git revision, with a path or without"),
        }?;
        if self.also.is_empty() { Ok(()) } else { listed(f, " or ", &self.also) }
    }
}

/// "`a`, `b` or `c`", not all of them if they are many.
pub(crate) fn listed<T: AsRef<str>>(f: &mut impl fmt::Write, before: &str, texts: &[T]) -> fmt::Result {
    const MOST: usize = 8;
    f.write_str(before)?;
    let shown = &texts[..texts.len().min(MOST)];
    for (index, text) in shown.iter().enumerate() {
        let separator = match index {
            0 => "",
            index if index + 1 == texts.len() => " or ",
            _ => ", ",
        };
        write!(f, "{separator}`{}`", excerpt(text.as_ref()))?;
    }
    match texts.len() - shown.len() {
        0 => Ok(()),
        more => write!(f, " or {more} others"),
    }
}
