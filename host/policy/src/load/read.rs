//! From TOML to the file's tables, with messages in the words of the policy language.

use serde::Deserialize;
use toml::de::DeTable;

use crate::PolicyError;
use crate::file::PolicyFile;
use crate::show::excerpt;

/// Keys that the policy language is meant to have, and that this release can't keep. They are refused like every
/// unknown key; who writes one has read about it somewhere, and is told that it is too early.
const LATER: &[&str] = &["cpu", "file-size", "memory", "metacharacters", "processes", "profiles"];

/// What serde and the TOML reader say, and what we say. These begin a message, the next end one.
const BEGINNINGS: [(&str, &str); 4] = [
    ("unknown field ", "unknown key "),
    ("unknown variant ", "unknown value "),
    ("invalid type: map,", "invalid type: table,"),
    ("invalid type: sequence,", "invalid type: list,"),
];
const ENDINGS: [(&str, &str); 2] =
    [(", expected u64", ", expected a whole number"), (", expected a sequence", ", expected a list in `[` and `]`")];

/// Reads the file. The version comes first: of a file of another version nothing else can be said.
pub(super) fn policy_file(text: &str) -> Result<PolicyFile, PolicyError> {
    let table = DeTable::parse(text).map_err(explained)?;
    check_version(table.get_ref(), text)?;
    PolicyFile::deserialize(toml::Deserializer::from(table)).map_err(explained)
}

fn check_version(table: &DeTable<'_>, text: &str) -> Result<(), PolicyError> {
    let Some(version) = table.get("version") else {
        return Err(if table.is_empty() {
            PolicyError::new(0..0, "the policy is empty, so it has no version and allows nothing")
                .help("begin with `version = 1` and a [[program]]; `portcullis init` writes an example")
        } else {
            PolicyError::new(0..0, "the policy does not say which version of the language it is written in")
                .help("write `version = 1` in its first line")
        });
    };
    let is_one = version.get_ref().as_integer().is_some_and(|number| number.as_str() == "1" && number.radix() == 10);
    if is_one {
        return Ok(());
    }
    let written = text.get(version.span()).unwrap_or_default();
    Err(PolicyError::new(version.span(), format!("unknown policy version {}", excerpt(written)))
        .help("this release reads version 1; write `version = 1`"))
}

fn explained(error: toml::de::Error) -> PolicyError {
    let span = error.span().unwrap_or(0..0);
    let message = error.message().trim_end();
    // For keys with too many dots the reader gives no place, so that the report points to the first line.
    if message == "recursion limit" || message.starts_with("cannot recurse further") {
        return PolicyError::new(span, "keys, lists or tables are nested too deeply")
            .help("the keys of a policy are a few levels deep");
    }
    if let Some((key, known)) = unknown_key(message)
        && LATER.contains(&key)
    {
        return PolicyError::new(span, format!("this release does not know the key `{key}`, {known}"))
            .help("leave it out: a key that can't be kept is refused, never ignored");
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        let error = PolicyError::new(span, format!("the key {key} is missing"));
        if key == "`type`" {
            return error.help("an operand has a type, such as `type = \"path-read\"`");
        }
        return error.help("a [[program]] has a `name`, a [[program.rule]] has `id`, `decision` and `why`");
    }
    let mut message = message.to_owned();
    for (theirs, ours) in BEGINNINGS {
        if let Some(rest) = message.strip_prefix(theirs) {
            message = format!("{ours}{rest}");
        }
    }
    for (theirs, ours) in ENDINGS {
        if let Some(rest) = message.strip_suffix(theirs) {
            message = format!("{rest}{ours}");
        }
    }
    PolicyError::new(span, message)
}

/// The key, and what could stand there instead.
fn unknown_key(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix("unknown field `")?.split_once("`, ")
}
