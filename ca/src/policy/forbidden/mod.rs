//! Refusals: what is forbidden, by which line, and what to do.
//!
//! This room uses [`file`](super::file) and [`values`](super::values).

mod reason;

use core::fmt;

use super::file::{Line, Source};
pub use reason::Reason;
use reason::Words;

/// Everything about a requested certificate that a policy forbids.
///
/// Its text contains the text of each [`Refusal`], followed by the line of the file, if there is one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forbidden {
    refusals: Vec<Refusal>,
}

impl Forbidden {
    /// The refusals, at least one.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// What to tell somebody who can't change the policy: each [`Refusal::for_applicants`] in a line.
    pub fn for_applicants(&self) -> String {
        let all: Vec<_> = self.refusals.iter().map(Refusal::for_applicants).collect();
        all.join("\n")
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, refusal) in self.refusals.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            refusal.fmt(f)?;
            if let Some(Line { number, text }) = &refusal.line {
                write!(f, "\n  {number} | {text}")?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for Forbidden {}

/// One thing that a policy forbids, and the line that forbids it.
///
/// Its text is one line, which says what is forbidden and what to do.
///
/// `rustls_pq::Refusal` is something else: why a handshake failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    reason: Reason,
    file_name: String,
    line: Option<Line>,
}

impl Refusal {
    /// What is forbidden.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// The name of the policy's file.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The key of the file that forbids it, with its table, such as `names.dns`. `None` if no policy can
    /// permit it.
    pub fn key(&self) -> Option<&'static str> {
        match self.reason.words() {
            Words::OfKey { key, .. } => Some(key),
            Words::Always(_) => None,
        }
    }

    /// The number of the line that forbids it; the first is 1. `None` if the key is not in the file, or if
    /// no policy can permit it.
    pub fn line(&self) -> Option<usize> {
        self.line.as_ref().map(|line| line.number)
    }

    /// What to tell somebody who can't change the policy: what is forbidden and what to ask for instead, but neither where the
    /// policy is nor what its lines are.
    pub fn for_applicants(&self) -> String {
        match self.reason.words() {
            Words::Always(sentence) => sentence,
            Words::OfKey {
                key, rule, instead, ..
            } => format!("by the CA's policy, {key} {rule}; {instead}"),
        }
    }

    /// The text of that line, without the spaces around it.
    pub fn line_text(&self) -> Option<&str> {
        self.line.as_ref().map(|line| line.text.as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file_name;
        match (self.reason.words(), &self.line) {
            (Words::Always(sentence), _) => f.write_str(&sentence),
            (
                Words::OfKey {
                    key, rule, instead, ..
                },
                Some(Line { number, .. }),
            ) => {
                write!(
                    f,
                    "{file}:{number}: {key} {rule}; {instead}, or permit it there"
                )
            }
            (
                Words::OfKey {
                    key,
                    rule,
                    instead,
                    setting,
                },
                None,
            ) => {
                let table = key.split('.').next().unwrap_or(key);
                write!(
                    f,
                    "{file}: {key} is not set, and by default {rule}; {instead}, or permit it by \
                     {setting} below [{table}]"
                )
            }
        }
    }
}

/// The forbidden things that the rules found.
#[derive(Default)]
pub(crate) struct Findings(Vec<(Reason, Option<usize>)>);

impl Findings {
    /// Adds something that the value at this offset of the file forbids, or its absence (`None`).
    pub(crate) fn add(&mut self, offset: Option<usize>, reason: Reason) {
        self.0.push((reason, offset));
    }

    /// Adds something that no policy can permit.
    pub(crate) fn add_always(&mut self, reason: Reason) {
        self.0.push((reason, None));
    }

    /// The result of the check: an error if something was found.
    pub(crate) fn into_result(self, source: &Source) -> Result<(), Forbidden> {
        let refusals: Vec<_> = self
            .0
            .into_iter()
            .map(|(reason, offset)| Refusal {
                reason,
                file_name: source.file_name.clone(),
                line: offset.map(|offset| source.line(offset)),
            })
            .collect();
        match refusals.is_empty() {
            true => Ok(()),
            false => Err(Forbidden { refusals }),
        }
    }
}
