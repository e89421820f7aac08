//! Reads values from the file: from their texts, and with their positions.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use toml::Spanned;

/// Reads a table. Without this, serde would also accept a list, as the values of the table's keys in their order.
pub(crate) fn table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(TableVisitor(PhantomData))
}

/// The same for a table that makes a difference by being there.
pub(crate) fn optional_table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    table(deserializer).map(Some)
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries))
    }
}

/// The value of a key of the file, and its position. A missing key has no value.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Setting<T>(Option<Spanned<T>>);

impl<T> Setting<T> {
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().map(Spanned::get_ref)
    }

    /// Where the value begins, in bytes from the start of the file.
    pub(crate) fn offset(&self) -> Option<usize> {
        self.0.as_ref().map(|value| value.span().start)
    }
}

impl<T> Setting<List<T>> {
    /// The items of a list. There are none if the file lacks the list.
    pub(crate) fn items(&self) -> &[T] {
        self.get().map_or(&[], |List(items)| items)
    }
}

impl<T> Default for Setting<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list of values of one kind.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings in brackets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(List(list))
    }
}

/// A whole number within bounds, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Number<MIN, MAX> {
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Number<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(NumberVisitor::<MIN, MAX>)
    }
}

struct NumberVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for NumberVisitor<MIN, MAX> {
    type Value = Number<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        match u32::try_from(value) {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Number(number)),
            _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }
}

/// Makes types readable from strings of the file, with their `FromStr`.
macro_rules! read_from_strings {
    ($($type:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::policy::file::from_string(deserializer)
            }
        }
    )+};
}
pub(crate) use read_from_strings;

/// Parses a value's text inside the deserializer, so that an error gets the position of the value.
pub(crate) fn from_string<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(StringVisitor(PhantomData))
}

struct StringVisitor<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for StringVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
