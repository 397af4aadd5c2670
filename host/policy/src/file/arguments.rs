//! The keys of a rule that say what arguments may stand where.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_spanned::Spanned;

use crate::value::{Table, Word};

/// Options: their names, and what is said of them.
pub(crate) type FlagTables = BTreeMap<Spanned<String>, Table<FlagTable>>;

/// One string, or a list of them. A string that stands alone has the place of the whole value.
#[derive(Debug)]
pub(crate) struct Strings(pub(crate) Vec<Spanned<String>>);

/// One table of operands, or a list of them. A table that stands alone has the place of the whole value.
#[derive(Debug)]
pub(crate) struct Slots(pub(crate) Vec<Spanned<Table<SlotTable>>>);

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BeforeTable {
    #[serde(default)]
    pub(crate) flags: FlagTables,
    pub(crate) conflicts: Option<Spanned<Vec<Strings>>>,
    pub(crate) required: Option<Spanned<Vec<Strings>>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AfterTable {
    #[serde(default)]
    pub(crate) flags: FlagTables,
    pub(crate) conflicts: Option<Spanned<Vec<Strings>>>,
    pub(crate) required: Option<Spanned<Vec<Strings>>>,
    pub(crate) positionals: Option<Slots>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FlagTable {
    #[serde(default)]
    pub(crate) alias: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) repeat: bool,
    pub(crate) value: Option<Spanned<Word<TypeName>>>,
    pub(crate) optional: Option<Spanned<bool>>,
    pub(crate) glued: Option<Spanned<bool>>,
    pub(crate) min: Option<Spanned<i64>>,
    pub(crate) max: Option<Spanned<i64>>,
    pub(crate) values: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) schemes: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) hosts: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) paths: Option<Spanned<bool>>,
    pub(crate) also: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SlotTable {
    #[serde(rename = "type")]
    pub(crate) kind: Spanned<Word<TypeName>>,
    /// How many, at the least.
    pub(crate) min: Option<Spanned<u64>>,
    /// How many, at the most.
    pub(crate) max: Option<Spanned<u64>>,
    pub(crate) least: Option<Spanned<i64>>,
    pub(crate) most: Option<Spanned<i64>>,
    pub(crate) values: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) schemes: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) hosts: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) paths: Option<Spanned<bool>>,
    pub(crate) also: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TypeName {
    Text,
    Word,
    Int,
    Enum,
    Regex,
    PathRead,
    PathWrite,
    Url,
    GitRevision,
    GitFormat,
}

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Strings;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a list of strings")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Strings(vec![Spanned::new(0..0, text.to_owned())]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(Strings)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Slots;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table such as { type = \"text\", max = 1 }, or a list of tables")
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Slots, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(entries))?;
                Ok(Slots(vec![Spanned::new(0..0, table)]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Slots, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(Slots)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}
