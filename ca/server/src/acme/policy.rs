//! What the CA's policy says to orders, and what its ledger says to revocations.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{PoisonError, RwLock};

use pq_acme::identifier::Identifier;
use pq_acme::objects::{ChallengeKind, Meta, RenewalInfo, RevocationReason, Time, Window};
use pq_acme::problem::{Problem, ProblemType, Subproblem};
use pq_acme::server::{
    Grant, Policy, RevocationRefusal, RevocationWish, Revoker, Wish, default_renewal,
};
use pq_acme::store::{AccountRecord, CertificateRecord, OrderRecord};
use pq_ca::policy::{AcmeChallenge, Forbidden, Profile, Reason, Wanted};
use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::request::VerifiedRequest;
use pq_x509::revocation::CrlReason;

use super::external_accounts::ExternalAccounts;
use super::issuing::wanted;
use crate::clock::Clock;
use crate::doors::Issuing;

/// How often clients may ask whether it is time to renew.
const ASK_AGAIN: Duration = Duration::from_secs(6 * 60 * 60);

/// The CA as it is now.
pub(super) type Now = Arc<dyn Fn() -> Option<Issuing> + Send + Sync>;

/// Decides by the CA's policy and ledger.
pub(super) struct CaPolicy {
    pub(super) now: Now,
    pub(super) clock: Clock,
    accounts: RwLock<Arc<ExternalAccounts>>,
}

impl CaPolicy {
    pub(super) fn new(now: Now, clock: Clock) -> Self {
        Self {
            now,
            clock,
            accounts: RwLock::default(),
        }
    }

    /// From now on, these accounts may be bound to.
    pub(super) fn replace_accounts(&self, accounts: ExternalAccounts) {
        let held = self.accounts.write();
        *held.unwrap_or_else(PoisonError::into_inner) = Arc::new(accounts);
    }

    fn ca(&self) -> Result<Issuing, Problem> {
        (self.now)().ok_or_else(|| {
            Problem::new(
                ProblemType::ServerInternal,
                "the CA has no key here that issues: try again later",
            )
            .with_status(503)
            .with_retry_after(Duration::from_secs(60))
        })
    }
}

impl Policy for CaPolicy {
    fn meta(&self) -> Cow<'_, Meta> {
        let mut meta = Meta::default();
        if let Some(ca) = (self.now)()
            && let Some(acme) = ca.key.policy().acme()
        {
            meta.terms_of_service = acme.terms_of_service().map(|url| url.as_str().into());
            meta.website = acme.website().map(|url| url.as_str().into());
            meta.external_account_required = acme.external_account_required();
            let profiles = acme.profiles().into_iter();
            meta.profiles = profiles
                .map(|profile| (profile.name().into(), described(profile).into()))
                .collect();
        }
        Cow::Owned(meta)
    }

    fn external_key(&self, kid: &str) -> Result<Vec<u8>, Problem> {
        let accounts = self.accounts.read();
        let accounts = accounts.unwrap_or_else(PoisonError::into_inner).clone();
        accounts.key(kid).map(<[u8]>::to_vec).ok_or_else(|| {
            Problem::unauthorized(
                "there is no external account with this identifier: check what the operator of the CA gave you",
            )
        })
    }

    fn may_order(&self, wish: &Wish<'_>) -> Result<Grant, Problem> {
        if wish.not_before.is_some() {
            return Err(Problem::malformed(
                "certificates of this CA begin when they are issued: order without \"notBefore\"",
            ));
        }
        let profile = wish.profile.map(named).transpose()?;
        let names: Vec<AlternativeName> =
            wish.identifiers.iter().cloned().map(Into::into).collect();
        let ca = self.ca()?;
        let granted = ca.key.policy().check_acme_order(&names, profile);
        let granted = granted.map_err(|forbidden| refused(&forbidden, &names))?;
        Ok(Grant {
            profile: Some(granted.name().into()),
        })
    }

    fn challenges(
        &self,
        _: &AccountRecord,
        identifier: &Identifier,
        is_wildcard: bool,
    ) -> Vec<ChallengeKind> {
        let Some(ca) = (self.now)() else {
            return Vec::new();
        };
        let policy = ca.key.policy().acme();
        let kinds = policy.iter().flat_map(|acme| acme.challenges());
        let kinds = kinds.filter_map(|challenge| match challenge {
            AcmeChallenge::Http01 => Some(ChallengeKind::Http01),
            AcmeChallenge::Dns01 => Some(ChallengeKind::Dns01),
            AcmeChallenge::TlsAlpn01 => Some(ChallengeKind::TlsAlpn01),
            _ => None,
        });
        kinds
            .filter(|kind| pq_acme::challenge::fits(kind, identifier, is_wildcard))
            .collect()
    }

    fn may_finalize(&self, order: &OrderRecord, request: &VerifiedRequest) -> Result<(), Problem> {
        let ca = self.ca()?;
        let now = self.clock.now();
        let asked = Wanted::of_request(request)
            .map_err(|error| Problem::new(ProblemType::BadCsr, format!("the request: {error}")))?;
        let asked = wanted(asked, order.profile.as_deref(), order.not_after, now)?;
        let checked = ca.key.policy().check(&asked, ca.key.issuer(), now);
        checked
            .map(drop)
            .map_err(|forbidden| Problem::new(ProblemType::BadCsr, forbidden.to_string()))
    }

    fn revoke(&self, wish: &RevocationWish<'_>) -> Result<(), RevocationRefusal> {
        let certificate = Certificate::from_der(wish.certificate);
        let certificate = certificate.map_err(|error| {
            RevocationRefusal::Problem(Problem::malformed(format!("the certificate: {error}")))
        })?;
        let by = match wish.by {
            Revoker::Holder(account) => format!("ACME account {}", account.id),
            Revoker::Authorized(account) => {
                format!("ACME account {}, which has its names", account.id)
            }
            Revoker::Key => String::from("whoever has its key, by ACME"),
        };
        let ca = self.ca().map_err(RevocationRefusal::Problem)?;
        let reason = reason(wish.reason);
        let revoked = ca.revoke(&certificate, reason, &by, self.clock.now());
        match revoked {
            Ok(None) => Err(RevocationRefusal::Unknown),
            Ok(Some(false)) => Err(RevocationRefusal::Already),
            Ok(Some(true)) => Ok(()),
            Err(error) => {
                tracing::error!(%error, "a certificate is not revoked");
                let problem = Problem::new(
                    ProblemType::ServerInternal,
                    "the CA can't get at its ledger: try again",
                );
                let problem = problem.with_status(503);
                Err(RevocationRefusal::Problem(
                    problem.with_retry_after(Duration::from_secs(5)),
                ))
            }
        }
    }

    fn renewal(&self, certificate: &CertificateRecord, now: Time) -> (RenewalInfo, Duration) {
        let usual = default_renewal(certificate);
        let revoked = Certificate::from_der(&certificate.der)
            .ok()
            .and_then(|one| (self.now)()?.is_revoked(&one).ok());
        let info = match revoked {
            // RFC 9773 section 4.2: a window that is over means at once.
            Some(true) => RenewalInfo {
                suggested_window: Window {
                    start: Time::from_secs(now.as_secs().saturating_sub(3600)),
                    end: Time::from_secs(now.as_secs().saturating_sub(60)),
                },
                explanation_url: None,
            },
            _ => usual,
        };
        (info, ASK_AGAIN)
    }
}

fn named(name: &str) -> Result<Profile, Problem> {
    name.parse()
        .map_err(|error| Problem::new(ProblemType::InvalidProfile, format!("{error}")))
}

fn described(profile: Profile) -> &'static str {
    match profile {
        Profile::Server => "TLS servers",
        Profile::Client => "TLS clients",
        Profile::ServerAndClient => "TLS servers that are clients, too",
        _ => "any purpose",
    }
}

/// What a policy forbids of an order, as a problem: one for each name that it is about.
fn refused(forbidden: &Forbidden, names: &[AlternativeName]) -> Problem {
    let about = |reason: &Reason| match reason {
        Reason::DnsName { name, .. }
        | Reason::DnsNameExcluded { name, .. }
        | Reason::Wildcard(name)
        | Reason::SingleLabel(name)
        | Reason::WideWildcard(name)
        | Reason::NotADnsName(name)
        | Reason::AcmeName { name, .. } => Some(Identifier::Dns(name.clone())),
        Reason::Address { address, .. }
        | Reason::MappedAddress { address, .. }
        | Reason::AcmeAddress { address, .. } => Some(Identifier::Ip(*address)),
        _ => None,
    };
    let all = forbidden.refusals();
    let of_profile = all.iter().find(|one| {
        matches!(
            one.reason(),
            Reason::AcmeProfile { .. } | Reason::Profile { .. }
        )
    });
    if let Some(one) = of_profile {
        return Problem::new(ProblemType::InvalidProfile, one.to_string());
    }
    let of_names: Vec<_> = all
        .iter()
        .filter_map(|one| {
            Some(Subproblem {
                kind: ProblemType::RejectedIdentifier,
                detail: one.to_string(),
                identifier: Some(about(one.reason())?),
            })
        })
        .take(names.len())
        .collect();
    match of_names.len() == all.len() {
        true => Problem::of_identifiers(of_names),
        false => Problem::new(ProblemType::RejectedIdentifier, forbidden.to_string()),
    }
}

fn reason(reason: RevocationReason) -> CrlReason {
    match reason {
        RevocationReason::Unspecified => CrlReason::Unspecified,
        RevocationReason::KeyCompromise => CrlReason::KeyCompromise,
        RevocationReason::AffiliationChanged => CrlReason::AffiliationChanged,
        RevocationReason::Superseded => CrlReason::Superseded,
        RevocationReason::CessationOfOperation => CrlReason::CessationOfOperation,
    }
}
