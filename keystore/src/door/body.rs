//! The bodies of requests: JSON whose memory the length of the body bounds.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use super::MAX_BATCH;
use super::quoting::shortened;
use super::refusal::Refusal;
use crate::name::Version;
use crate::versioned::decode;

/// Reads a body. An empty one says nothing, as `{}` does, and `null`, which Vault's client for Go sends then.
pub(super) fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Refusal> {
    let body = match body.trim_ascii() {
        b"" | b"null" => b"{}",
        body => body,
    };
    // A reader of members would take an array of their values, too.
    if !body.starts_with(b"{") {
        return Err(Refusal::bad("failed to parse JSON input: it is no object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| Refusal::bad(format!("failed to parse JSON input: {}", shortened(error))))
}

/// A text, which is not copied where it has no escapes.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that the text has in base64.
    pub(super) fn decode(&self, field: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
        let bytes = decode(&self.0);
        bytes.ok_or_else(|| Refusal::bad(format!("{field} is not base64 with padding")))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// A value that Vault takes as itself or as a text, as its command line sends it.
trait Weak: Sized {
    const EXPECTED: &'static str;

    fn from_bool(_: bool) -> Option<Self> {
        None
    }

    fn from_number(_: u64) -> Option<Self> {
        None
    }

    fn from_text(text: &str) -> Option<Self>;
}

struct WeakReader<T>(PhantomData<T>);

impl<T: Weak> Visitor<'_> for WeakReader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        T::from_bool(value).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::from_number(value).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        T::from_text(value).ok_or_else(|| E::invalid_value(Unexpected::Other("this text"), &self))
    }
}

macro_rules! weak {
    ($($type:ty),+) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WeakReader(PhantomData))
            }
        }
    )+};
}

weak!(Flag, Number, Parameter, Period);

/// Yes or no.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag(pub(super) bool);

impl Weak for Flag {
    const EXPECTED: &'static str = "true or false";

    fn from_bool(value: bool) -> Option<Self> {
        Some(Self(value))
    }

    // As a number, Go reads its digits as a text.
    fn from_number(value: u64) -> Option<Self> {
        match value {
            0 => Some(Self(false)),
            1 => Some(Self(true)),
            _ => None,
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self(false)),
            text => truth(text).map(Self),
        }
    }
}

/// A truth as Go's `strconv.ParseBool` reads it.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Some(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Whether something is asked for that there is not. Nothing, an empty text, `false` and 0 ask for nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked(bool);

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Asked;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Asked, E> {
                Ok(Asked(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Asked, E> {
                Ok(Asked(value != 0))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Asked, E> {
                Ok(Asked(true))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Asked, E> {
                Ok(Asked(true))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Asked, E> {
                Ok(Asked(!["", "0", "false"].contains(&value)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Asked, A::Error> {
                let mut asked = false;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    asked = true;
                }
                Ok(Asked(asked))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Asked, A::Error> {
                let mut asked = false;
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    asked = true;
                }
                Ok(Asked(asked))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// Refuses what is asked for in a field, and says why there is none.
pub(super) fn refuse_asked(fields: &[(&str, Option<Asked>)], why: &str) -> Result<(), Refusal> {
    match fields
        .iter()
        .find(|(_, asked)| matches!(asked, Some(Asked(true))))
    {
        Some((field, _)) => Err(Refusal::bad(format!("{field} {why}"))),
        None => Ok(()),
    }
}

/// Why there are no derived keys.
pub(super) const NO_DERIVED_KEYS: &str = "is for derived keys, which there are none of here";

/// Why there are no managed keys.
pub(super) const NO_MANAGED_KEYS: &str = "is for managed keys, which there are none of here: keys in tokens are made on the machine of the store";

/// Why there are no schemes of padding.
pub(super) const NO_PADDING: &str = "is for keys of RSA, which encrypt nothing here";

/// Whether a flag is set, which it is not if the body has none.
pub(super) fn is_set(flag: Option<Flag>) -> bool {
    flag.is_some_and(|Flag(value)| value)
}

/// A number that is not negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) u32);

impl Weak for Number {
    const EXPECTED: &'static str = "a number from 0 to 4294967295";

    fn from_number(value: u64) -> Option<Self> {
        u32::try_from(value).ok().map(Self)
    }

    fn from_text(text: &str) -> Option<Self> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number).map(Self)
    }
}

impl Number {
    /// The version with this number, or `None` for 0, which stands for the newest one.
    pub(super) fn version(self) -> Option<Version> {
        Version::new(self.0)
    }
}

/// The name of a parameter set, which may be a number.
#[derive(Debug)]
pub(super) struct Parameter(pub(super) String);

impl Weak for Parameter {
    const EXPECTED: &'static str = "a parameter set, such as 65";

    fn from_number(value: u64) -> Option<Self> {
        Some(Self(value.to_string()))
    }

    fn from_text(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// A time in seconds, or as Go writes one: `720h`, `1h30m`, `1.5h`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period(pub(super) Duration);

impl Weak for Period {
    const EXPECTED: &'static str = "a time, such as 3600 or \"720h\"";

    fn from_number(value: u64) -> Option<Self> {
        Some(Self(Duration::from_secs(value)))
    }

    fn from_text(text: &str) -> Option<Self> {
        let (seconds, rest) = digits(text);
        // A number of seconds alone.
        if rest.is_empty() {
            return seconds.parse().ok().map(Duration::from_secs).map(Self);
        }
        let mut sum = 0_u128;
        let mut rest = text;
        while !rest.is_empty() {
            let (whole, after) = digits(rest);
            let (part, after) = after.strip_prefix('.').map_or(("", after), digits);
            let unit = match after.bytes().next()? {
                b's' => NANOSECONDS,
                b'm' => 60 * NANOSECONDS,
                b'h' => 3_600 * NANOSECONDS,
                b'd' => 86_400 * NANOSECONDS,
                _ => return None,
            };
            rest = &after[1..];
            let number = |digits: &str| match digits {
                "" => Some(0),
                digits => digits.parse::<u64>().ok().map(u128::from),
            };
            // What follows counts for less than a nanosecond.
            let part = &part[..part.len().min(18)];
            let parts = part.bytes().fold(1, |parts, _| 10 * parts);
            sum = sum.checked_add(number(whole)? * unit)?;
            sum = sum.checked_add(number(part)? * unit / parts)?;
            if whole.is_empty() && part.is_empty() {
                return None;
            }
        }
        let seconds = u64::try_from(sum / NANOSECONDS).ok()?;
        Some(Self(Duration::from_secs(seconds)))
    }
}

/// In a second.
const NANOSECONDS: u128 = 1_000_000_000;

/// The digits at the beginning of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len())
}

/// The items of a batch, at most [`MAX_BATCH`].
#[derive(Debug)]
pub(super) struct Batch<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Batch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Batch<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX_BATCH} items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut batch = Vec::new();
                while let Some(item) = items.next_element()? {
                    if batch.len() == MAX_BATCH {
                        return Err(A::Error::invalid_length(MAX_BATCH + 1, &self));
                    }
                    batch.push(item);
                }
                Ok(Batch(batch))
            }
        }

        deserializer.deserialize_seq(Reader(PhantomData))
    }
}
