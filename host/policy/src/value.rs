//! How values are written in a policy file.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_spanned::Spanned;

use crate::show::excerpt;

/// A span of time such as `"30s"`, `"10m"`, `"1h 30m"`; more than zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time(pub(crate) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(Text("a span of time in quotes, such as \"30s\""))?;
        let time = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
        match time {
            Some(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err(de::Error::custom(format!(
                "`{}` is no span of time above zero; write it as \"500ms\", \"30s\", \"10m\" or \"1h 30m\"",
                excerpt(&text)
            ))),
        }
    }
}

/// A number of bytes such as `"100KB"` (100 000) or `"256MiB"` (256 × 1024 × 1024); more than zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(Text("a number of bytes in quotes, such as \"64KiB\""))?;
        match text.parse::<bytesize::ByteSize>() {
            Ok(size) if size.as_u64() > 0 => Ok(Self(size.as_u64())),
            _ => Err(de::Error::custom(format!(
                "`{}` is no number of bytes above zero; write it as \"100KB\", \"64KiB\" or \"256MiB\"",
                excerpt(&text)
            ))),
        }
    }
}

/// A string; holds what a message says was expected.
struct Text(&'static str);

impl Visitor<'_> for Text {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// One of several words, written as a string and as nothing else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Words<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word in quotes")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(word)).map(Word)
            }
        }
        deserializer.deserialize_str(Words(PhantomData))
    }
}

/// What a program's tree may execute beside it: `"none"`, `"any"`, or a list of names and paths.
#[derive(Debug)]
pub(crate) enum ChildrenValue {
    None,
    Any,
    Listed(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for ChildrenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = ChildrenValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`\"none\"`, `\"any\"` or a list of programs in `[` and `]`")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                match word {
                    "none" => Ok(ChildrenValue::None),
                    "any" => Ok(ChildrenValue::Any),
                    other => Err(E::custom(format!(
                        "`{}` is neither `none` nor `any`; programs are written as a list, such as [\"cc\"]",
                        excerpt(other)
                    ))),
                }
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(ChildrenValue::Listed(list))
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// A table, and nothing else: what serde derives for a struct takes a list of its values as well.
pub(crate) fn table<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Tables<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table")
        }
        fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(entries))
        }
    }
    deserializer.deserialize_map(Tables(PhantomData))
}

/// A value that is read by [`table`].
#[derive(Debug)]
pub(crate) struct Table<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        table(deserializer).map(Self)
    }
}

/// A list of tables, written `[[name]]`, and nothing else.
pub(crate) fn tables<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct List<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("tables headed `[[program]]` or `[[program.rule]]`")
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(Table(item)) = items.next_element()? {
                list.push(item);
            }
            Ok(list)
        }
    }
    deserializer.deserialize_seq(List(PhantomData))
}
