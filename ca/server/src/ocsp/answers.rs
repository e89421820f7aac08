//! Whoever answers OCSP requests about the certificates of one issuer: a CA's key, or a responder in its place.

use core::error::Error;
use core::fmt;

use pq_ca::authority::{Authority, Responder, ResponderError};
use pq_ca::ledger::{Ledger, LedgerError};
use pq_x509::certificate::Certificate;
use pq_x509::keys::Signer;
use pq_x509::ocsp::{OcspFailure, OcspRequest, OcspResponse};
use pq_x509::pki_types::UnixTime;

/// Whoever answers OCSP requests about the certificates of one issuer. Its methods may block.
pub trait Answers: Send + Sync + 'static {
    /// The issuer's certificate.
    fn issuer(&self) -> &Certificate;

    /// Answers a request, which asks about at least one certificate of the issuer.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    fn answer(&self, request: &OcspRequest, now: UnixTime) -> Result<OcspResponse, NoAnswer>;

    /// Whether an answer may be given again: one that is made now would say the same.
    ///
    /// # Errors
    ///
    /// If nobody can tell, or there would be no answer now.
    fn still_says(&self, response: &OcspResponse, now: UnixTime) -> Result<bool, NoAnswer>;
}

/// Why there is no answer.
#[derive(Debug)]
pub struct NoAnswer {
    failure: OcspFailure,
    problem: Box<dyn Error + Send + Sync>,
}

impl NoAnswer {
    /// The client gets this failure, and the log the problem.
    pub fn new(failure: OcspFailure, problem: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            failure,
            problem: problem.into(),
        }
    }

    /// What the client is told.
    pub fn failure(&self) -> OcspFailure {
        self.failure
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl Error for NoAnswer {}

impl From<ResponderError> for NoAnswer {
    fn from(error: ResponderError) -> Self {
        let failure = match &error {
            // They say that something is wrong with this CA, and not that it is away.
            ResponderError::Ledger(
                LedgerError::IssuerRevoked { .. }
                | LedgerError::KeyCompromised(_)
                | LedgerError::Clock { .. },
            ) => error.failure(),
            // A ledger or a key that is away may be back soon.
            ResponderError::Ledger(_) | ResponderError::Issue(_) => OcspFailure::TryLater,
            _ => error.failure(),
        };
        Self::new(failure, error)
    }
}

impl<S: Signer + 'static, L: Ledger + 'static> Answers for Authority<S, L> {
    fn issuer(&self) -> &Certificate {
        Self::issuer(self).certificate()
    }

    fn answer(&self, request: &OcspRequest, now: UnixTime) -> Result<OcspResponse, NoAnswer> {
        Ok(self.respond(request.der(), now, None)?)
    }

    fn still_says(&self, response: &OcspResponse, now: UnixTime) -> Result<bool, NoAnswer> {
        Ok(Self::still_says(self, response, now)?)
    }
}

impl<S: Signer + 'static, L: Ledger + 'static> Answers for Responder<S, L> {
    fn issuer(&self) -> &Certificate {
        Self::issuer(self)
    }

    fn answer(&self, request: &OcspRequest, now: UnixTime) -> Result<OcspResponse, NoAnswer> {
        Ok(self.respond(request.der(), now)?)
    }

    fn still_says(&self, response: &OcspResponse, now: UnixTime) -> Result<bool, NoAnswer> {
        Ok(Self::still_says(self, response, now)?)
    }
}
