//! Values whose form in a record is text: hexadecimal, decimal, and serde by way of `Display` and `FromStr`.

/// A text that is not the value it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
#[non_exhaustive]
pub struct ParseError {
    /// What the text should be.
    pub expected: &'static str,
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Writes the lower-case hexadecimal form of `bytes`; `out` is twice as long.
pub(crate) fn to_hex(bytes: &[u8], out: &mut [u8]) {
    for (byte, pair) in bytes.iter().zip(out.chunks_exact_mut(2)) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Reads exactly `N` bytes of lower-case hexadecimal digits.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (pair, byte) in text.as_bytes().chunks_exact(2).zip(&mut bytes) {
        for digit in pair {
            let value = DIGITS.iter().position(|known| known == digit)?;
            *byte = (*byte << 4) | u8::try_from(value).ok()?;
        }
    }
    Some(bytes)
}

/// Reads a decimal number in its one canonical form: digits only, no leading zero.
pub(crate) fn from_decimal(text: &str) -> Option<u64> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

/// Serde for a type by way of its text form.
macro_rules! text_serde {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use text_serde;
