//! JSON with any members.

use core::time::Duration;
use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use pq_x509::pki_types::UnixTime;

use super::{PUBLIC, Word, base64url, index, seed};
use crate::one_of;

pub const NOW: Duration = Duration::from_secs(1_800_000_000);

pub fn now() -> UnixTime {
    UnixTime::since_unix_epoch(NOW)
}

#[derive(Arbitrary, Clone, Debug)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Word<'a>),
    Escaped(Word<'a>),
    Public(u8),
    Seed(u8),
    Array(Vec<Json<'a>>),
    Object(Vec<Member<'a>>),
    Deep(u8),
    Malformed(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Number {
    Whole(i64),
    /// Seconds around now, written in three ways.
    Around(u8),
    Quarters(u8, u8),
    Exponent(u8),
    Half(i8, i8),
    Large,
}

/// A member that is added, or replaces the member with the same name.
#[derive(Arbitrary, Clone, Debug)]
pub struct Member<'a> {
    pub replaces: bool,
    pub is_escaped: bool,
    pub name: Word<'a>,
    pub value: Json<'a>,
}

/// JSON that no reader accepts.
const MALFORMED: [&str; 12] = [
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "tru",
    r#""\ud800""#,
    r#""\x""#,
    "1e999",
    "[1,]",
    r#"{"a"}"#,
    "'a'",
];

const MAX_DEPTH: usize = 32;

impl Number {
    pub fn text(self) -> String {
        let around = |more: u8| NOW.as_secs() - 128 + u64::from(more);
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Around(more) => around(more).to_string(),
            Self::Quarters(more, of) => format!("{}.{:02}", around(more), of % 4 * 25),
            Self::Exponent(more) => format!("{}0E-1", around(more)),
            Self::Half(mantissa, exponent) => format!("{mantissa}.5e{exponent}"),
            Self::Large => u64::MAX.to_string(),
        }
    }

    /// The time in whole seconds, rounded down and up.
    pub fn time(self) -> Option<(u64, u64)> {
        let text = self.text();
        if let Ok(seconds) = text.parse() {
            return Some((seconds, seconds));
        }
        let seconds: f64 = text.parse().unwrap();
        let is_one = (0.0..(1_u64 << 53) as f64).contains(&seconds);
        is_one.then(|| (seconds as u64, seconds.ceil() as u64))
    }
}

impl Json<'_> {
    fn write(&self, text: &mut String) {
        let mut list = |marks: [char; 2], len: usize, write: &dyn Fn(usize, &mut String)| {
            text.push(marks[0]);
            for index in 0..len {
                text.push_str(if index == 0 { "" } else { " , " });
                write(index, text);
            }
            text.push(marks[1]);
        };
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => text.push_str(&number.text()),
            Self::Text(word) => write_text(word.text(), false, text),
            Self::Escaped(word) => write_text(word.text(), true, text),
            Self::Public(of) => write_text(&PUBLIC[index(*of)], false, text),
            Self::Seed(of) => write_text(&base64url(&seed(*of)), false, text),
            Self::Array(all) => list(['[', ']'], all.len(), &|at, text| all[at].write(text)),
            Self::Object(all) => list(['{', '}'], all.len(), &|at, text| {
                write_text(all[at].name.text(), all[at].is_escaped, text);
                text.push_str(": ");
                all[at].value.write(text);
            }),
            Self::Deep(depth) => {
                text.extend(vec!['['; usize::from(*depth)]);
                text.push('0');
                text.extend(vec![']'; usize::from(*depth)]);
            }
            Self::Malformed(which) => {
                text.push_str(one_of(&MALFORMED, *which));
            }
        }
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Whether readers accept it as a value of any kind, at this depth.
    pub fn is_sound(&self, depth: usize) -> bool {
        match self {
            Self::Malformed(_) => false,
            Self::Deep(more) => depth + usize::from(*more) <= MAX_DEPTH,
            Self::Array(all) => depth < MAX_DEPTH && all.iter().all(|it| it.is_sound(depth + 1)),
            Self::Object(all) => {
                let mut names = BTreeSet::new();
                depth < MAX_DEPTH
                    && all.iter().all(|it| {
                        let name = it.name.text();
                        names.insert(name)
                            && !name.starts_with("$serde_json::private::")
                            && it.value.is_sound(depth + 1)
                    })
            }
            _ => true,
        }
    }

    /// Whether it is JSON by its grammar, whatever the strings and numbers mean.
    pub fn is_json(&self) -> bool {
        match self {
            Self::Malformed(which) => {
                [r#""\ud800""#, "1e999"].contains(&one_of(&MALFORMED, *which))
            }
            Self::Array(all) => all.iter().all(Self::is_json),
            Self::Object(all) => all.iter().all(|it| it.value.is_json()),
            _ => true,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(word) | Self::Escaped(word) => Some(word.text().into()),
            Self::Public(of) => Some(PUBLIC[index(*of)].clone()),
            Self::Seed(of) => Some(base64url(&seed(*of))),
            _ => None,
        }
    }

    pub fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::Array(all) => all.iter().map(Self::text).collect(),
            _ => None,
        }
    }

    pub fn time(&self) -> Option<(u64, u64)> {
        match self {
            Self::Number(number) => number.time(),
            Self::Deep(0) => Some((0, 0)),
            _ => None,
        }
    }
}

fn write_text(text: &str, is_escaped: bool, to: &mut String) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' | ..' ' => to.push_str(&format!("\\u{:04x}", character as u32)),
            _ if is_escaped => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    to.push_str(&format!("\\u{unit:04X}"));
                }
            }
            _ => to.push(character),
        }
    }
    to.push('"');
}

pub fn member<'a>(name: &'a str, value: Json<'a>) -> Member<'a> {
    Member {
        replaces: false,
        is_escaped: false,
        name: Word::Other(name),
        value,
    }
}

/// The members after these changes.
pub fn with<'a>(mut members: Vec<Member<'a>>, changes: &[Member<'a>]) -> Vec<Member<'a>> {
    for change in changes {
        let name = change.name.text();
        let mut there = members.iter_mut();
        match there.find(|it| change.replaces && it.name.text() == name) {
            Some(member) => *member = change.clone(),
            // Before some members and after others, but always at the same index.
            None => members.insert(name.len() % (members.len() + 1), change.clone()),
        }
    }
    members
}

pub fn get<'m, 'a>(members: &'m [Member<'a>], name: &str) -> Option<&'m Json<'a>> {
    let member = members.iter().find(|it| it.name.text() == name);
    member.map(|it| &it.value)
}

/// Whether the member with this name is a text, or absent.
pub fn may_be_text(members: &[Member<'_>], name: &str) -> bool {
    get(members, name).is_none_or(|it| it.text().is_some())
}
