//! JSON (RFC 8259), read as strictly as RFC 7515 section 4 allows: duplicate members at any level and too deep
//! nesting are refused.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use thiserror::Error;

use super::shown;

/// Why a text can't be read as JSON.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON, or not the expected JSON.
    #[error("malformed JSON: {0}")]
    Malformed(String),
    /// A member is twice in one object. Readers differ about which of the two counts.
    #[error(
        "the JSON has the member \"{0}\" twice in one object, which RFC 7515 and RFC 7517, section 4 of each, forbid; don't \
         trust it, and ask its sender for another"
    )]
    Duplicate(String),
    /// Objects and arrays are nested too deeply.
    #[error(
        "the JSON has objects and arrays nested deeper than {MAX_DEPTH} levels; make it flatter"
    )]
    TooDeep,
    /// There are too many values: each takes many times more memory than text.
    #[error("the JSON has more than {MAX_VALUES} values; make it shorter")]
    TooManyValues,
    /// A string with escapes is too long: it can't be read in place.
    #[error(
        "the JSON has a string with escapes of more than {MAX_ESCAPED} bytes; write it without escapes"
    )]
    LongString,
    /// The text is too long.
    #[error("the JSON has {len} bytes, but may have at most {limit}; make it shorter")]
    TooLong {
        /// How many bytes the text has.
        len: usize,
        /// How many bytes it may have.
        limit: usize,
    },
}

/// How many levels of objects and arrays may be nested.
pub(crate) const MAX_DEPTH: usize = 32;

/// How many values a text may have, members and elements: more than any document of keys or claims.
pub(crate) const MAX_VALUES: usize = 64 * 1024;

/// How long a string may be in which characters are escaped. Others are not copied.
pub(crate) const MAX_ESCAPED: usize = 64 * 1024;

/// Reads a text of at most `limit` bytes.
///
/// # Errors
///
/// A [`JsonError`] that says what is wrong with it.
pub fn read<'a, T: Deserialize<'a>>(text: &'a [u8], limit: usize) -> Result<T, JsonError> {
    if text.len() > limit {
        let len = text.len();
        return Err(JsonError::TooLong { len, limit });
    }
    List::default().read(text)
}

/// Reads a text, or a part of one, that [`read`] has checked already: it has no member twice.
///
/// # Errors
///
/// [`JsonError::Malformed`] if it is of another type.
pub fn read_checked<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, JsonError> {
    serde_json::from_slice(text).map_err(malformed)
}

/// A list of values, each of which is JSON by its grammar: nothing more is known of it, so that whoever reads it may do without
/// those that can't be read.
pub(crate) struct List<'a> {
    pub(crate) values: Vec<&'a RawValue>,
    /// How many more values there may be in all of them.
    left: Cell<usize>,
}

impl Default for List<'_> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            left: Cell::new(MAX_VALUES),
        }
    }
}

impl List<'_> {
    /// Reads one of its values, or a part of one.
    pub(crate) fn read<'v, T: Deserialize<'v>>(&self, text: &'v [u8]) -> Result<T, JsonError> {
        check(text, &self.left)?;
        read_checked(text)
    }
}

/// Reads a list, which is the value of a member of an object, of a text of at most `limit` bytes.
pub(crate) fn read_list<'a>(
    text: &'a [u8],
    member: &'static str,
    limit: usize,
) -> Result<List<'a>, JsonError> {
    if text.len() > limit {
        let len = text.len();
        return Err(JsonError::TooLong { len, limit });
    }
    let Unchecked(members) = read_checked(text)?;
    let mut names = BTreeSet::new();
    let (mut list, mut values) = (List::default(), None);
    for (Name(name), value) in members {
        if name.starts_with(OF_SERDE_JSON) {
            return Err(of_serde_json(&name));
        }
        match name == member {
            true => values = Some(value),
            false => check(value.get().as_bytes(), &list.left)?,
        }
        if let Some(name) = names.replace(name) {
            return Err(JsonError::Duplicate(shown(&name)));
        }
    }
    let missing = || JsonError::Malformed(format!("missing field `{member}`"));
    list.values = read_checked(values.ok_or_else(missing)?.get().as_bytes())?;
    Ok(list)
}

/// The members of an object, of which only the names were read.
struct Unchecked<'a>(Vec<(Name<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Unchecked<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;

        impl<'de> Visitor<'de> for OfObject {
            type Value = Unchecked<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = members.next_entry()? {
                    if all.len() == MAX_VALUES {
                        return Err(de::Error::custom("too many members"));
                    }
                    all.push(member);
                }
                Ok(Unchecked(all))
            }
        }

        deserializer.deserialize_map(OfObject)
    }
}

fn of_serde_json(name: &str) -> JsonError {
    JsonError::Malformed(format!("\"{}\" can't be the name of a member", shown(name)))
}

fn malformed(error: serde_json::Error) -> JsonError {
    JsonError::Malformed(shown(&error.to_string()))
}

/// Reads the value of a member that is present. `null` does not count as missing, so it is refused.
///
/// # Errors
///
/// Those of the value.
pub fn present<'a, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'a>,
    T: Deserialize<'a>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads only an object. Without this, serde would also accept an array, as the values of the members in their order.
#[derive(Clone, Copy, Debug)]
pub struct Object<T>(
    /// What was read.
    pub T,
);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfObject<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }

        deserializer.deserialize_map(OfObject(PhantomData))
    }
}

/// A string without escapes, which is borrowed from the text, so that a secret is not copied. Base64url needs no
/// escapes.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(
    /// The string.
    pub &'a str,
);

impl<'de: 'a, 'a> Deserialize<'de> for Plain<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfPlain;

        impl<'de> Visitor<'de> for OfPlain {
            type Value = Plain<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string of base64url")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Plain(text))
            }

            /// The error does not show the string, which may be a secret.
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
                Err(E::custom("a string of base64url has no escapes"))
            }
        }

        deserializer.deserialize_str(OfPlain)
    }
}

/// The prefix of the names with which serde_json marks raw values and exact numbers in maps. It would read the string
/// after the name of a raw value unchecked.
const OF_SERDE_JSON: &str = "$serde_json::private::";

/// Checks that the whole text is JSON, that no member occurs twice, and that it is not too deep.
/// `left` is how many more values there may be.
fn check(text: &[u8], left: &Cell<usize>) -> Result<(), JsonError> {
    if has_long_escapes(text) {
        return Err(JsonError::LongString);
    }
    let reason = RefCell::new(None);
    let checker = Checker {
        reason: &reason,
        left,
        depth: 0,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let checked = checker
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    match (checked, reason.into_inner()) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(reason)) => Err(reason),
        (Err(error), None) => Err(malformed(error)),
    }
}

/// Whether a string that has an escape is longer than it may be.
fn has_long_escapes(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        rest = &rest[start + 1..];
        let (mut len, mut has_escapes) = (0, false);
        loop {
            match rest.get(len) {
                Some(b'\\') => {
                    has_escapes = true;
                    len += 2;
                }
                Some(b'"') | None => break,
                Some(_) => len += 1,
            }
        }
        if has_escapes && len > MAX_ESCAPED {
            return true;
        }
        rest = rest.get(len + 1..).unwrap_or_default();
    }
    false
}

/// The name of a member, which is copied only if it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfName;

        impl<'de> Visitor<'de> for OfName {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.into())))
            }
        }

        deserializer.deserialize_str(OfName)
    }
}

/// Checks a value and keeps nothing of it.
#[derive(Clone, Copy)]
struct Checker<'a> {
    /// Why the value was refused: serde's errors can't carry this.
    reason: &'a RefCell<Option<JsonError>>,
    /// How many more values there may be.
    left: &'a Cell<usize>,
    depth: usize,
}

impl Checker<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.depth {
            MAX_DEPTH => Err(self.refuse(JsonError::TooDeep)),
            depth => Ok(Self {
                depth: depth + 1,
                ..self
            }),
        }
    }

    fn count<E: de::Error>(self) -> Result<(), E> {
        match self.left.get().checked_sub(1) {
            Some(less) => {
                self.left.set(less);
                Ok(())
            }
            None => Err(self.refuse(JsonError::TooManyValues)),
        }
    }

    fn refuse<E: de::Error>(self, reason: JsonError) -> E {
        self.reason.replace(Some(reason));
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Checker<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checker<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while elements.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut names = BTreeSet::new();
        while let Some(Name(name)) = members.next_key::<Name<'de>>()? {
            if names.contains(&name) {
                return Err(self.refuse(JsonError::Duplicate(shown(&name))));
            }
            if name.starts_with(OF_SERDE_JSON) {
                return Err(self.refuse(of_serde_json(&name)));
            }
            names.insert(name);
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn value(text: &str) -> Result<Value, JsonError> {
        read(text.as_bytes(), 1 << 20)
    }

    #[test]
    fn members_are_there_once_however_they_are_written() {
        for twice in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[0,{"b":{"a":1,"c":0,"a":2}}]"#,
        ] {
            assert_eq!(value(twice), Err(JsonError::Duplicate("a".into())));
        }
        assert!(value(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
        let name = "\\u001b[2J".repeat(1000);
        let message = value(&format!(r#"{{"{name}":1,"{name}":1}}"#)).unwrap_err();
        assert!(message.to_string().len() < 1000 && !message.to_string().contains('\u{1b}'));
    }

    #[test]
    fn names_that_mean_something_to_serde_json_are_refused() {
        for name in [
            "$serde_json::private::RawValue",
            "\\u0024serde_json::private::RawValue",
            "$serde_json::private::Number",
        ] {
            let found = value(&format!(r#"{{"a":{{"{name}":"{{\"b\":1,\"b\":2}}"}}}}"#));
            assert!(matches!(found, Err(JsonError::Malformed(_))), "{found:?}");
        }
        let deep = Value::from("[".repeat(100) + &"]".repeat(100));
        let deep = value(&format!(r#"{{"$serde_json::private::RawValue":{deep}}}"#));
        assert!(matches!(deep, Err(JsonError::Malformed(_))), "{deep:?}");
    }

    #[test]
    fn depth_and_length_have_limits() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(value(&nested(MAX_DEPTH)).is_ok());
        for depth in [MAX_DEPTH + 1, 10_000] {
            assert_eq!(value(&nested(depth)), Err(JsonError::TooDeep));
            assert_eq!(value(&"{\"a\":".repeat(depth)), Err(JsonError::TooDeep));
        }
        assert!(read::<Value>(b"[1]", 3).is_ok());
        let too_long = JsonError::TooLong { len: 3, limit: 2 };
        assert_eq!(read::<Value>(b"[1]", 2), Err(too_long));
    }

    #[test]
    fn values_and_strings_with_escapes_have_limits() {
        // the array is one, too
        let array = |count: usize| format!("[{}]", vec!["0"; count - 1].join(","));
        assert!(value(&array(MAX_VALUES)).is_ok());
        assert_eq!(value(&array(MAX_VALUES + 1)), Err(JsonError::TooManyValues));
        let members = |count: usize| {
            let members: Vec<_> = (1..count).map(|name| format!("\"{name}\":0")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(value(&members(MAX_VALUES)).is_ok());
        assert_eq!(
            value(&members(MAX_VALUES + 1)),
            Err(JsonError::TooManyValues)
        );
        for (escape, len) in [
            ("", MAX_ESCAPED + 2),
            ("\\n", MAX_ESCAPED),
            ("\\\"", MAX_ESCAPED),
        ] {
            let long = format!("{escape}{}", "x".repeat(len - escape.len()));
            for text in [format!("\"{long}\""), format!("[{{\"{long}\":\"\\\\\"}}]")] {
                assert!(value(&text).is_ok(), "{escape}");
            }
        }
        let long = format!("\\n{}", "x".repeat(MAX_ESCAPED - 1));
        for text in [
            format!("\"{long}\""),
            format!("[{{\"{long}\":0}}]"),
            format!("\"\\\\\"\"{long}"),
        ] {
            assert_eq!(value(&text), Err(JsonError::LongString));
        }
    }

    #[test]
    fn nothing_else_is_json() {
        for bad in [
            "",
            " ",
            "{",
            "{}{}",
            "{} x",
            "NaN",
            "[1,]",
            "{\"a\":1,}",
            "'a'",
            "{a:1}",
            "\u{feff}{}",
            "1e999",
            "\"\\ud800\"",
            "-Infinity",
            "/**/1",
        ] {
            assert!(
                matches!(value(bad), Err(JsonError::Malformed(_))),
                "{bad:?}"
            );
        }
        let not_utf8 = read::<Value>(b"\"\xff\"", 10);
        assert!(matches!(not_utf8, Err(JsonError::Malformed(_))));
    }

    #[test]
    fn what_is_to_be_plain_is_and_errors_dont_show_it() {
        let plain = read::<Plain<'_>>(b"\"secret\"", 10).map(|plain| plain.0);
        assert_eq!(plain, Ok("secret"));
        let escaped = read::<Plain<'_>>(br#""s\u0065cret""#, 20).map(|_| ());
        assert!(!escaped.unwrap_err().to_string().contains("ecret"));
    }
}
