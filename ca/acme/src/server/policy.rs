//! What is for the operator of a server to decide.

use alloc::borrow::Cow;
use core::net::IpAddr;
use core::time::Duration;

use pq_jose::any::AnyJwk;
use pq_x509::pki_types::SignatureVerificationAlgorithm;
use pq_x509::request::VerifiedRequest;
use zeroize::Zeroizing;

use crate::challenge;
use crate::identifier::Identifier;
use crate::objects::{ChallengeKind, Meta, RenewalInfo, RevocationReason, Time, Window};
use crate::problem::{Problem, ProblemType};
use crate::store::{AccountRecord, CertificateRecord, Limit, Most, OrderRecord};

/// Decides who may have which certificates, and how many. What it refuses, it refuses with a problem for the client, which may say when to
/// try again. It may be asked twice about one request.
pub trait Policy: Send + Sync {
    /// What the directory says about the server. If it names terms of service, accounts have to agree to them; and if it says
    /// that accounts have to be bound to others, they have to be.
    fn meta(&self) -> Cow<'_, Meta> {
        Cow::Owned(Meta::default())
    }

    /// The key of an account that is known elsewhere, to which a new account may be bound.
    ///
    /// # Errors
    ///
    /// A problem, if there is no such account, or it may not be used.
    fn external_key(&self, kid: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
        let _ = kid;
        Err(Problem::unauthorized(
            "there is no external account with this identifier: check --eab-kid, or what your client calls it",
        ))
    }

    /// Whether this account may be made.
    ///
    /// # Errors
    ///
    /// A problem, if it may not.
    fn may_register(&self, registration: &Registration<'_>) -> Result<(), Problem> {
        let _ = registration;
        Ok(())
    }

    /// Whether an account may get certificates still. It is asked for each order, when that is finalized, and right before
    /// the certificate is issued; an order that was finalized ends if it may not. Such an account can look at what it has, revoke
    /// certificates and end itself.
    ///
    /// # Errors
    ///
    /// A problem, if it may not.
    fn may_use(&self, account: &AccountRecord) -> Result<(), Problem> {
        let _ = account;
        Ok(())
    }

    /// Whether an account may order a certificate, and with which profile.
    ///
    /// # Errors
    ///
    /// A problem, if it may not: with subproblems, if it is because of some identifiers.
    fn may_order(&self, wish: &Wish<'_>) -> Result<Grant, Problem>;

    /// What is counted of a new account that may be made, by address for instance. If a limit is used up, it is not made.
    fn registration_limits(&self, registration: &Registration<'_>) -> Vec<Limit> {
        let _ = registration;
        Vec::new()
    }

    /// What is counted of a new order that may be made: by account, names and address for instance. If a limit is used up,
    /// it is not made.
    fn order_limits(&self, wish: &Wish<'_>) -> Vec<Limit> {
        let _ = wish;
        Vec::new()
    }

    /// What is counted if a validation of an identifier (without `*.`) fails, for the account with this identifier. While a
    /// limit is used up, there is none.
    fn failure_limits(&self, account: &str, identifier: &Identifier) -> Vec<Limit> {
        let _ = (account, identifier);
        Vec::new()
    }

    /// How many orders and authorizations an account may have that are not decided, if there is a limit.
    fn most_undecided(&self) -> Option<Most> {
        None
    }

    /// Which challenges there are for an identifier. Those that can't be are left out.
    fn challenges(
        &self,
        account: &AccountRecord,
        identifier: &Identifier,
        is_wildcard: bool,
    ) -> Vec<ChallengeKind> {
        let _ = account;
        let all = ChallengeKind::ALL.iter();
        let fit = all.filter(|kind| challenge::fits(kind, identifier, is_wildcard));
        fit.cloned().collect()
    }

    /// Whether an order may be finalized with this request for a certificate, whose names are those of the order.
    ///
    /// # Errors
    ///
    /// A problem, mostly [`BadCsr`](ProblemType::BadCsr), if it may not. The order stays as it is.
    fn may_finalize(&self, order: &OrderRecord, request: &VerifiedRequest) -> Result<(), Problem> {
        let _ = (order, request);
        Ok(())
    }

    /// The algorithms that requests for certificates may be signed by, beside ML-DSA and SLH-DSA.
    fn request_algorithms(&self) -> &[&'static dyn SignatureVerificationAlgorithm] {
        pq_x509::verification::classical_algorithms().unwrap_or_default()
    }

    /// Revokes a certificate, if it is one of this CA: exactly these bytes, as anybody can make others with the same serial
    /// number.
    ///
    /// # Errors
    ///
    /// A [`RevocationRefusal`].
    fn revoke(&self, wish: &RevocationWish<'_>) -> Result<(), RevocationRefusal>;

    /// When a certificate should be renewed, and how often to ask again.
    fn renewal(&self, certificate: &CertificateRecord, now: Time) -> (RenewalInfo, Duration) {
        let _ = now;
        (default_renewal(certificate), Duration::from_secs(6 * 3600))
    }
}

/// When two thirds of a certificate's lifetime are over, in a window of a fiftieth of it.
pub fn default_renewal(certificate: &CertificateRecord) -> RenewalInfo {
    let lifetime = certificate.not_before.until(certificate.not_after);
    let start = certificate.not_before.after(lifetime * 2 / 3);
    let width = (lifetime / 50).max(Duration::from_secs(1));
    RenewalInfo {
        suggested_window: Window {
            start,
            end: start.after(width),
        },
        explanation_url: None,
    }
}

/// Somebody wants an account.
#[derive(Debug)]
pub struct Registration<'a> {
    /// Its key.
    pub key: &'a AnyJwk,
    /// Where its holder can be reached, by URLs of `mailto:`.
    pub contact: &'a [String],
    /// The account elsewhere that it is bound to. That was proven.
    pub external: Option<&'a str>,
    /// Where the request came from.
    pub from: Option<IpAddr>,
}

/// Somebody wants a certificate.
#[derive(Debug)]
pub struct Wish<'a> {
    /// The account.
    pub account: &'a AccountRecord,
    /// What the certificate is for, each once and sorted.
    pub identifiers: &'a [Identifier],
    /// The profile, if one is named.
    pub profile: Option<&'a str>,
    /// The requested beginning of the certificate.
    pub not_before: Option<Time>,
    /// The requested end of the certificate.
    pub not_after: Option<Time>,
    /// The certificate that the new one replaces.
    pub replaces: Option<&'a CertificateRecord>,
    /// Where the request came from.
    pub from: Option<IpAddr>,
}

/// What may be ordered.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Grant {
    /// The profile, which is that of the wish if that names one.
    pub profile: Option<String>,
}

/// Somebody who may do that wants a certificate revoked.
#[derive(Debug)]
pub struct RevocationWish<'a> {
    /// The certificate's DER.
    pub certificate: &'a [u8],
    /// The reason.
    pub reason: RevocationReason,
    /// Who wants it.
    pub by: Revoker<'a>,
    /// Where the request came from.
    pub from: Option<IpAddr>,
}

/// Who wants a certificate revoked.
#[derive(Clone, Copy, Debug)]
pub enum Revoker<'a> {
    /// The account that it was issued to.
    Holder(&'a AccountRecord),
    /// An account that has authorizations for all names in it.
    Authorized(&'a AccountRecord),
    /// Whoever has its key.
    Key,
}

/// Why a certificate is not revoked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RevocationRefusal {
    /// It is none of this CA.
    Unknown,
    /// It is revoked already.
    Already,
    /// There is another reason against it.
    Problem(Problem),
}

impl From<RevocationRefusal> for Problem {
    fn from(refusal: RevocationRefusal) -> Self {
        match refusal {
            RevocationRefusal::Unknown => {
                Self::malformed("this CA did not issue the certificate").with_status(404)
            }
            RevocationRefusal::Already => Self::new(
                ProblemType::AlreadyRevoked,
                "the certificate is revoked already",
            ),
            RevocationRefusal::Problem(problem) => problem,
        }
    }
}
