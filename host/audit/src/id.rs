//! The names of sessions and of the calls in them.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::text::{ParseError, from_decimal, from_hex, text_serde, to_hex};

/// Names one session: 16 lower-case hexadecimal digits.
///
/// This crate has no source of randomness: the caller brings 8 bytes that no other session has.
///
/// ```
/// use portcullis_audit::SessionId;
///
/// let session = SessionId::from_bytes([0x9f, 0x2c, 0x41, 0xd0, 0x7a, 0x3b, 0xe6, 0x15]);
/// assert_eq!(session.to_string(), "9f2c41d07a3be615");
/// assert_eq!("9f2c41d07a3be615".parse(), Ok(session));
/// assert!("9F2C41D07A3BE615".parse::<SessionId>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId([u8; 8]);

impl SessionId {
    /// The session with these 8 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hex = [0; 16];
        to_hex(&self.0, &mut hex);
        f.write_str(std::str::from_utf8(&hex).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({self})")
    }
}

impl FromStr for SessionId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        from_hex(text).map(Self).ok_or(ParseError { expected: "16 lower-case hexadecimal digits" })
    }
}

text_serde!(SessionId);

/// Names one call: its session and its number in it, counted from 1.
///
/// ```
/// use portcullis_audit::CallId;
///
/// let call: CallId = "9f2c41d07a3be615.3".parse()?;
/// assert_eq!(call.number().get(), 3);
/// assert_eq!(call.to_string(), "9f2c41d07a3be615.3");
/// assert!("9f2c41d07a3be615.0".parse::<CallId>().is_err());
/// # Ok::<(), portcullis_audit::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    session: SessionId,
    number: NonZeroU64,
}

impl CallId {
    /// Call `number` of `session`.
    #[must_use]
    pub const fn new(session: SessionId, number: NonZeroU64) -> Self {
        Self { session, number }
    }

    /// The session that the call belongs to.
    #[must_use]
    pub const fn session(&self) -> SessionId {
        self.session
    }

    /// The call's number in its session, from 1.
    #[must_use]
    pub const fn number(&self) -> NonZeroU64 {
        self.number
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.session, self.number)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}

impl FromStr for CallId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.split_once('.')
            .and_then(|(session, number)| {
                Some(Self::new(session.parse().ok()?, NonZeroU64::new(from_decimal(number)?)?))
            })
            .ok_or(ParseError { expected: "a session id, '.', and a call number from 1" })
    }
}

text_serde!(CallId);
