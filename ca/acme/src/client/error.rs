//! Why a client has no certificate.

use core::fmt;
use core::time::Duration;

use pq_jose::any::AnyJwsError;
use thiserror::Error;

use super::chain::ChainError;
use crate::identifier::Identifier;
use crate::objects::{ChallengeKind, Time};
use crate::problem::Problem;

/// What a request was for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stage {
    /// The directory.
    Directory,
    /// A nonce.
    Nonce,
    /// The account.
    Account,
    /// Making the order.
    NewOrder,
    /// An authorization.
    Authorization,
    /// Saying that a challenge can be looked at.
    Challenge,
    /// The order's state.
    Order,
    /// Finalization.
    Finalize,
    /// The certificate.
    Certificate,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "the directory",
            Self::Nonce => "a nonce",
            Self::Account => "the account",
            Self::NewOrder => "a new order",
            Self::Authorization => "an authorization",
            Self::Challenge => "a challenge",
            Self::Order => "the order's state",
            Self::Finalize => "finalization",
            Self::Certificate => "the certificate",
        })
    }
}

/// Why there is no certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server refuses a request.
    #[error("the server refuses what was asked for {stage}: {problem}")]
    Refused {
        /// What was asked for.
        stage: Stage,
        /// What the server says.
        problem: Box<Problem>,
    },
    /// The server has no use for a new account's key: another one may do.
    #[error("the server takes no account with a key of {algorithm}: {problem}")]
    AccountKey {
        /// The key's algorithm.
        algorithm: &'static str,
        /// What the server says, with the algorithms that it takes if it names them.
        problem: Box<Problem>,
    },
    /// The server wants to be left alone for longer than the client has patience.
    #[error("the server takes nothing from this client until {until}: {problem}")]
    RateLimited {
        /// Until when.
        until: Time,
        /// What the server says.
        problem: Box<Problem>,
    },
    /// An answer is not what ACME has there.
    #[error("the server's answer about {stage} (status {status}) is none of ACME: {what}")]
    Unexpected {
        /// What was asked for.
        stage: Stage,
        /// The answer's status.
        status: u16,
        /// What is wrong with it.
        what: String,
    },
    /// The holder of the account has to agree to the terms of service.
    #[error("the CA has terms of service that have to be agreed to: {0}")]
    Terms(String),
    /// The CA only makes accounts for those that it knows.
    #[error(
        "the CA makes accounts only for those that it knows, by a key that it gave them (external account binding)"
    )]
    NoExternalAccount,
    /// The CA has no such profile.
    #[error("the CA has no profile {wanted:?}; it has {}", list(.offered))]
    NoProfile {
        /// What was wanted.
        wanted: String,
        /// What there is.
        offered: Vec<String>,
    },
    /// Nothing that can be shown is asked for.
    #[error("for {name} the CA offers {}, of which none can be shown", list(.offered))]
    NoChallenge {
        /// The name.
        name: Identifier,
        /// What is offered.
        offered: Vec<ChallengeKind>,
    },
    /// A name was not validated.
    #[error("{name} was not validated: {}", said(.problem.as_deref()))]
    NotValidated {
        /// The name.
        name: Identifier,
        /// What the server says.
        problem: Option<Box<Problem>>,
    },
    /// The order came to nothing.
    #[error("the order came to nothing: {}", said(.0.as_deref()))]
    OrderInvalid(Option<Box<Problem>>),
    /// It took too long.
    #[error("after {} s there is still no answer but \"wait\" about {stage}", .patience.as_secs())]
    TooLong {
        /// What was waited for.
        stage: Stage,
        /// How long the client waits.
        patience: Duration,
    },
    /// The certificate is not what was ordered.
    #[error("the certificate that came is not the one that was ordered: {0}")]
    Chain(ChainError),
    /// The account's key doesn't sign, or can't be an account's.
    #[error("the account's key: {0}")]
    Key(AnyJwsError),
    /// The certificate's key is the account's.
    #[error(
        "the certificate would be for the account's own key, which RFC 8555 section 11.1 forbids; use another one"
    )]
    SameKey,
}

impl From<AnyJwsError> for ClientError {
    fn from(error: AnyJwsError) -> Self {
        Self::Key(error)
    }
}

impl From<ChainError> for ClientError {
    fn from(error: ChainError) -> Self {
        Self::Chain(error)
    }
}

fn said(problem: Option<&Problem>) -> String {
    problem.map_or_else(|| "the server doesn't say why".into(), ToString::to_string)
}

fn list(names: &[impl fmt::Display]) -> String {
    match names {
        [] => "none".into(),
        names => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            names.join(", ")
        }
    }
}
