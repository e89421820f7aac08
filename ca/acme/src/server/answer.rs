//! What goes in and out of the server: requests, answers, and work to do.

use alloc::sync::Arc;
use core::net::IpAddr;

use serde::Serialize;

use crate::challenge::KeyAuthorization;
use crate::identifier::Identifier;
use crate::objects::{ChallengeKind, Time};
use crate::problem::{self, Problem, ProblemType};
use crate::store::StoreError;

/// A request of HTTP, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, such as `POST`.
    pub method: &'a str,
    /// The target: the path with its query, as the client sent it.
    pub target: &'a str,
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The body. What is longer than [`MAX_BODY_LEN`](crate::jws::MAX_BODY_LEN) is refused.
    pub body: &'a [u8],
    /// Where it came from: for the policy.
    pub from: Option<IpAddr>,
}

/// An answer of HTTP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, some of them several times (`Link`).
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        let found = all.find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(super) fn json(status: u16, content: &impl Serialize) -> Self {
        // Objects have nothing that has no JSON.
        let body = serde_json::to_vec(content).unwrap_or_default();
        Self::empty(status).of_type("application/json", body)
    }

    pub(super) fn of_type(mut self, content_type: &str, body: Vec<u8>) -> Self {
        self.body = body;
        self.with("Content-Type", content_type)
    }

    pub(super) fn of_problem(problem: &Problem) -> Self {
        let answer =
            Self::empty(problem.status()).of_type(problem::CONTENT_TYPE, problem.to_json());
        match problem.retry_after {
            Some(after) => answer.with("Retry-After", after.as_secs().max(1).to_string()),
            None => answer,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn linked(self, url: &str, relation: &str) -> Self {
        self.with("Link", format!("<{url}>;rel=\"{relation}\""))
    }
}

/// An answer, and what is to be done for it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// Work to do, now or later, by whoever can.
    pub work: Option<Work>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, work: None }
    }
}

/// Work to do. It may be done twice, or never: then somebody takes it up later (`Server::take_up`).
#[derive(Clone, Debug)]
pub enum Work {
    /// Look whether a challenge is met, and say so to `Server::validated`.
    Validate(Validate),
    /// Ask `Server::due` whether it is still to be issued, issue a certificate, and hand it to `Server::issued`.
    Issue(Issue),
}

/// Look whether a challenge is met.
#[derive(Clone, Debug)]
pub struct Validate {
    /// The authorization that it belongs to.
    pub authorization: String,
    /// Its kind.
    pub kind: ChallengeKind,
    /// The account that wants a certificate.
    pub account: String,
    /// What is to be validated, without `*.`.
    pub identifier: Identifier,
    /// Whether it is for `*.` before the identifier.
    pub is_wildcard: bool,
    /// What has to be found.
    pub key_authorization: KeyAuthorization,
    /// Whether nobody looked before.
    pub is_first: bool,
    /// Whether nobody will look again: who can't tell now says why, as a problem.
    pub is_last: bool,
}

/// Issue a certificate.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The order that it is for.
    pub order: String,
    /// What stands for the order in a ledger: there is one certificate with it.
    pub request_id: [u8; 32],
    /// The account that made the order.
    pub account: String,
    /// The request for the certificate (PKCS#10), in DER. Its signature and its names were checked.
    pub csr: Arc<[u8]>,
    /// What the certificate is for.
    pub identifiers: Arc<[Identifier]>,
    /// The certificate's profile.
    pub profile: Option<String>,
    /// The requested beginning of the certificate.
    pub not_before: Option<Time>,
    /// The requested end of the certificate.
    pub not_after: Option<Time>,
    /// The certificate that this one replaces, as RFC 9773 names it.
    pub replaces: Option<String>,
    /// For each identifier, by which challenge it was validated, and what was seen.
    pub evidence: Vec<String>,
    /// Whether the time for it is over: if it can't be issued now, there will be no certificate, and the order is to end.
    pub is_late: bool,
}

/// What is to be done with an order right before its certificate is issued.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Due {
    /// Issue the certificate.
    Issue,
    /// Issue none, for this reason: unless one was issued before, say so to `Server::issued`.
    Refuse(Problem),
    /// Nothing: the order has its certificate, or has ended.
    Nothing,
}

/// Why a request is refused, with headers of the answer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) problem: Box<Problem>,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn answer(self) -> Answer {
        let mut answer = Answer::of_problem(&self.problem);
        answer.headers.extend(self.headers);
        answer
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            problem: Box::new(problem),
            headers: Vec::new(),
        }
    }
}

impl From<StoreError> for Refusal {
    /// What a store can't do is no fault of the client. What exactly it is, is for the log.
    fn from(error: StoreError) -> Self {
        let kind = ProblemType::ServerInternal;
        let problem = match error {
            StoreError::NonceTaken => Problem::new(
                ProblemType::BadNonce,
                "the request was carried out before: make a new one",
            ),
            _ => Problem::new(kind, "the server can't get at its objects: try again")
                .with_status(503)
                .with_retry_after(core::time::Duration::from_secs(5)),
        };
        problem.into()
    }
}
