//! A certificate for whoever asks (RFC 7030, section 4.2).

use alloc::collections::BTreeSet;
use core::net::IpAddr;

use pq_ca::authority::Order;
use pq_ca::ledger::Evidence;
use pq_ca::policy::{Profile, Wanted};
use pq_x509::certificate::{AlternativeName, Certificate, is_same_name};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::VerifiedRequest;

use super::csr::Csr;
use super::identity::{Identity, Known};
use super::path::Operation;
use super::refusal::Refusal;
use super::requests::{digest, request_id};
use crate::doors::{Issuing, NoCertificate};

/// A request of somebody who is known.
pub(super) struct Enrolment<'a> {
    pub(super) operation: Operation,
    /// The profile that the path names.
    pub(super) label: Option<Profile>,
    pub(super) identity: &'a Identity,
    pub(super) csr: &'a Csr,
    pub(super) is_bound: bool,
    pub(super) from: Option<IpAddr>,
}

impl Enrolment<'_> {
    /// Issues the certificate, or returns the one that the same request got before.
    pub(super) fn issue(&self, ca: &Issuing, now: UnixTime) -> Result<Certificate, Refusal> {
        let request = &self.csr.verified;
        let profile = self.profile(request)?;
        let policy = ca.key.policy();
        let malformed = |error: &dyn core::fmt::Display| {
            Refusal::Malformed(format!("The request's key: {error}"))
        };
        let wanted = Wanted::of_request(request).map_err(|error| malformed(&error))?;
        let wanted = match profile {
            Some(profile) => wanted.profile(profile),
            None => wanted,
        };
        let profile = policy.check_est(&wanted, self.identity.user.as_deref());
        let profile =
            profile.map_err(|forbidden| Refusal::Forbidden(forbidden.for_applicants()))?;
        let later = |error: pq_ca::authority::AuthorityError| match NoCertificate::of(&error) {
            NoCertificate::NotNow => {
                tracing::error!(%error, "a certificate can't be issued now");
                Refusal::Later
            }
            NoCertificate::Request(text) | NoCertificate::Names(text) => Refusal::Forbidden(text),
        };
        let digest = digest(self.identity, profile.name(), self.csr.der());
        let id = request_id(&*ca.key, &digest, now).map_err(later)?;
        let order = Order::for_request(request).map_err(|error| malformed(&error))?;
        let order = order.with(|wanted| wanted.profile(profile)).as_request(id);
        let order = match Evidence::new(self.evidence()) {
            Ok(evidence) => order.on_evidence(evidence),
            Err(_) => order,
        };
        let issued = ca.key.issue_once(&order, &self.identity.by(), now);
        issued.map(|once| once.into_certificate()).map_err(later)
    }

    /// The profile to ask the policy for. Who shows a certificate alone gets one that is as good, and for the same names.
    fn profile(&self, request: &VerifiedRequest) -> Result<Option<Profile>, Refusal> {
        let known = match (self.operation, &self.identity.certificate) {
            (Operation::Reenrol, None) => {
                return Err(Refusal::Forbidden(
                    "Show the certificate in the handshake that is to be renewed".into(),
                ));
            }
            (Operation::Reenrol, Some(known)) => known,
            (_, Some(known)) if self.identity.user.is_none() => known,
            _ => return Ok(self.label),
        };
        check_names(known, request)?;
        let own = known.entry.issued.profile.parse().ok();
        match self.label {
            Some(label) if own != Some(label) => Err(Refusal::Forbidden(format!(
                "The certificate has the profile {}, and so has the next one: ask without a label",
                known.entry.issued.profile
            ))),
            _ => own.map(Some).ok_or_else(|| {
                Refusal::Forbidden("The certificate has a profile that is not renewed".into())
            }),
        }
    }

    fn evidence(&self) -> String {
        let seen = self.identity.evidence(self.from);
        match self.is_bound {
            true => format!("{seen}; the request is bound to its connection"),
            false => seen,
        }
    }
}

/// The names of a request have to be those of the certificate (RFC 7030, section 4.2.2).
fn check_names(known: &Known, request: &VerifiedRequest) -> Result<(), Refusal> {
    let forbidden = |what| {
        let text = format!(
            "The request has another {what} than the certificate: the next one has the same names"
        );
        Err(Refusal::Forbidden(text))
    };
    if !is_same_name(known.certificate.subject(), request.subject()) {
        return forbidden("subject");
    }
    let own: BTreeSet<String> = known.certificate.alternative_names().map(as_text).collect();
    let asked: BTreeSet<String> = request.alternative_names().map(as_text).collect();
    match own == asked {
        true => Ok(()),
        false => forbidden("subject alternative name"),
    }
}

/// A name with its kind, as it is compared.
fn as_text(name: AlternativeName) -> String {
    match name {
        AlternativeName::Dns(name) => format!("DNS {}", name.to_ascii_lowercase()),
        other => format!("{other:?}"),
    }
}
