//! How a validation ended: for the client a problem, for the CA's record what was seen, and from where.

use core::fmt;

use pq_acme::problem::{Problem, ProblemType};
use pq_keys::errors::describe;

/// How a validation ended, and what was seen on the way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// Whether the challenge is met.
    pub verdict: Verdict,
    /// What was looked up, who was asked, and what they answered, in order: at most [`MAX_STEPS`](Outcome::MAX_STEPS)
    /// lines without control characters.
    pub steps: Vec<String>,
}

impl Outcome {
    /// How many steps there are at most.
    pub const MAX_STEPS: usize = 64;

    /// Whether the challenge is met.
    pub fn is_valid(&self) -> bool {
        matches!(self.verdict, Verdict::Valid { .. })
    }

    /// For `Server::validated` of pq-acme: what was seen, or why it is not what has to be there. Nothing, if this server could
    /// not find out.
    pub fn told(&self) -> Option<Result<String, Problem>> {
        match &self.verdict {
            Verdict::Valid { evidence } => Some(Ok(evidence.clone())),
            Verdict::Invalid(refusal) => Some(Err(refusal.problem())),
            Verdict::Undecided(_) => None,
        }
    }
}

/// Whether a challenge is met.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It is.
    Valid {
        /// By what it was seen, from where: a short line, for the record of the certificate.
        evidence: String,
    },
    /// It is not.
    Invalid(Refusal),
    /// This server could not find out, by no fault of whoever was asked: it may be tried again.
    Undecided(Refusal),
}

/// Why a challenge is not met.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{detail}")]
pub struct Refusal {
    /// The kind of problem.
    pub kind: ProblemType,
    /// What was seen, from where, and what to do.
    pub detail: String,
}

/// What was asked gave another answer, or none.
impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        Self::Invalid(refusal)
    }
}

impl Refusal {
    /// As the answer to the client says it.
    pub fn problem(&self) -> Problem {
        Problem::new(self.kind.clone(), self.detail.clone())
    }

    pub(super) fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { kind, detail }
    }
}

/// What has been seen so far.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<String>);

impl Steps {
    /// Notes a step. Strangers' text in it is made safe here.
    pub(super) fn add(&mut self, step: impl fmt::Display) {
        match self.0.len() {
            len if len < Outcome::MAX_STEPS - 1 => self.0.push(describe(step)),
            len if len < Outcome::MAX_STEPS => self.0.push("...".into()),
            _ => {}
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.0
    }
}

/// The beginning of what a stranger sent, in quotes.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let text = String::from_utf8_lossy(shown);
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!("{text:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_sent_is_bounded_and_in_one_line() {
        let mut steps = Steps::default();
        for _ in 0..1000 {
            steps.add("a\nb\x1b[2J".to_owned() + &"c".repeat(1000));
        }
        let lines = steps.into_lines();
        assert_eq!(lines.len(), Outcome::MAX_STEPS);
        assert!(lines.iter().all(|line| line.len() < 300));
        assert_eq!(lines[Outcome::MAX_STEPS - 1], "...");
        assert!(lines[Outcome::MAX_STEPS - 2].starts_with("a"));
        assert!(lines[0].starts_with("a\\nb\\u{1b}[2Jccc"), "{}", lines[0]);
        assert_eq!(quoted(b"a\n\xff"), "\"a\\n\u{fffd}\"");
        assert!(quoted(&[b'a'; 1000]).len() < 100);
    }
}
