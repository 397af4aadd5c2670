//! JSON that every reader reads alike.
//!
//! Readers differ on repeated keys (some keep the first, some the last) and on numbers that are not integers.
//! A line that uses either could mean one thing to a verifier and another to a person's tools, so neither is
//! accepted. The depth is bounded by `serde_json` (128).

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Checks that `text` is one JSON value without repeated keys and without fractions.
pub(crate) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|Strict| ())
}

struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys and fractions")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self, A::Error> {
        while sequence.next_element::<Self>()?.is_some() {}
        Ok(Self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut keys = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let Self = map.next_value()?;
            if let Some(repeated) = keys.replace(key) {
                return Err(A::Error::custom(format_args!("the key '{}' is repeated", repeated.escape_debug())));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn repeated_keys_and_fractions_are_refused_at_any_depth() {
        assert!(check(r#"{"a":[1,-1,true,null,"x",{"a":{}}],"b":{"a":18446744073709551615}}"#).is_ok());
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"x":[{"a":1,"b":2,"\u0061":3}]}"#,
            r#"{"a":1.5}"#,
            r#"{"a":1e400}"#,
            r#"{"a":NaN}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":18446744073709551616}"#,
            r"{} {}",
            r#"{"a":1"#,
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
