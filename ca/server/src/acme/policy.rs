//! What the CA's policy says to orders, and what its ledger says to revocations.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{PoisonError, RwLock};

use pq_acme::identifier::Identifier;
use pq_acme::objects::{ChallengeKind, Meta, RenewalInfo, RevocationReason, Time, Window};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{
    Grant, Policy, Registration, RevocationRefusal, RevocationWish, Revoker, Wish, default_renewal,
};
use pq_acme::store::{AccountRecord, CertificateRecord, Limit, Most, OrderRecord};
use pq_ca::policy::{AcmeChallenge, AcmeLimits, Profile, Wanted};
use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::VerifiedRequest;
use pq_x509::revocation::CrlReason;
use pq_x509::x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use zeroize::Zeroizing;

use super::external_accounts::ExternalAccounts;
use super::issuing::{left_until, wanted};
use super::limits;
use super::refusals::refused;
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

    /// From now on, accounts may be bound to these, and those that are bound to others get nothing.
    pub(super) fn replace_accounts(&self, accounts: ExternalAccounts) {
        let held = self.accounts.write();
        *held.unwrap_or_else(PoisonError::into_inner) = Arc::new(accounts);
    }

    fn accounts(&self) -> Arc<ExternalAccounts> {
        let held = self.accounts.read();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How much clients may do, as the policy of today says. Without a policy, they may do nothing anyway.
    fn limits(&self) -> Option<AcmeLimits> {
        let ca = (self.now)()?;
        ca.key.policy().acme().map(|acme| acme.limits())
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

/// Refuses who is bound to no account of the operator's, where that is required.
fn check_bound(ca: &Issuing, is_bound: bool) -> Result<(), Problem> {
    let acme = ca.key.policy().acme();
    match acme.is_some_and(|acme| acme.external_account_required()) && !is_bound {
        false => Ok(()),
        true => Err(Problem::new(
            ProblemType::ExternalAccountRequired,
            "accounts have to be bound to one that this CA knows: ask its operator for an identifier and a key, and make a new \
             account",
        )),
    }
}

/// Refuses names and profiles that `[acme]` doesn't permit. Returns the profile.
fn check_order(
    ca: &Issuing,
    identifiers: &[Identifier],
    profile: Option<&str>,
) -> Result<Profile, Problem> {
    let profile = profile.map(named).transpose()?;
    let names: Vec<AlternativeName> = identifiers.iter().cloned().map(Into::into).collect();
    let granted = ca.key.policy().check_acme_order(&names, profile);
    granted.map_err(|forbidden| refused(&forbidden))
}

/// Refuses an end of the certificate that is over, or later than the policy and the CA permit.
fn check_end(ca: &Issuing, end: Time, now: UnixTime) -> Result<(), Problem> {
    let left = left_until(end, now)?;
    let checked = ca.key.policy().check_validity(left, ca.key.issuer(), now);
    checked.map_err(|forbidden| {
        Problem::malformed(format!("\"notAfter\": {}", forbidden.for_applicants()))
    })
}

/// Refuses a subject with more than a common name, which is one of the order's names: whatever else it says, no challenge has
/// shown, and the policy permits it to people that the operator knows.
fn check_subject(request: &VerifiedRequest) -> Result<(), Problem> {
    match request
        .subject()
        .iter()
        .all(|attribute| attribute.oid == COMMON_NAME)
    {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemType::BadCsr,
            "the request: its subject has more than a common name, which no challenge shows: ask without that",
        )),
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

    fn external_key(&self, kid: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
        let accounts = self.accounts();
        let key = accounts.key(kid).map(|key| Zeroizing::new(key.to_vec()));
        key.ok_or_else(|| {
            Problem::unauthorized(
                "there is no external account with this identifier: check what the operator of the CA gave you",
            )
        })
    }

    fn may_register(&self, registration: &Registration<'_>) -> Result<(), Problem> {
        // Without a key there is no policy, which is no permission.
        check_bound(&self.ca()?, registration.external.is_some())
    }

    /// Who is bound to an account of the operator's may get certificates while that one is in the file.
    fn may_use(&self, account: &AccountRecord) -> Result<(), Problem> {
        match &account.external {
            Some((kid, _)) if self.accounts().key(kid).is_none() => Err(Problem::unauthorized(
                "the operator of the CA has ended the external account that this account is bound to: ask for another",
            )),
            _ => Ok(()),
        }
    }

    fn may_order(&self, wish: &Wish<'_>) -> Result<Grant, Problem> {
        if wish.not_before.is_some() {
            return Err(Problem::malformed(
                "certificates of this CA begin when they are issued: order without \"notBefore\"",
            ));
        }
        let ca = self.ca()?;
        // It may not have been required when the account was made.
        check_bound(&ca, wish.account.external.is_some())?;
        let granted = check_order(&ca, wish.identifiers, wish.profile)?;
        if let Some(end) = wish.not_after {
            check_end(&ca, end, self.clock.now())?;
        }
        Ok(Grant {
            profile: Some(granted.name().into()),
        })
    }

    fn registration_limits(&self, registration: &Registration<'_>) -> Vec<Limit> {
        let limits = self.limits();
        limits.map_or_else(Vec::new, |set| limits::of_registration(&set, registration))
    }

    fn order_limits(&self, wish: &Wish<'_>) -> Vec<Limit> {
        let limits = self.limits();
        limits.map_or_else(Vec::new, |set| limits::of_order(&set, wish))
    }

    fn failure_limits(&self, account: &str, identifier: &Identifier) -> Vec<Limit> {
        let limits = self.limits();
        limits.map_or_else(Vec::new, |set| {
            limits::of_failures(&set, account, identifier)
        })
    }

    fn most_undecided(&self) -> Option<Most> {
        self.limits().as_ref().map(limits::of_undecided)
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
        // The policy may be another one since the order was made.
        check_order(&ca, &order.identifiers, order.profile.as_deref())?;
        check_subject(request)?;
        let now = self.clock.now();
        let asked = Wanted::of_request(request)
            .map_err(|error| Problem::new(ProblemType::BadCsr, format!("the request: {error}")))?;
        let asked = wanted(asked, order.profile.as_deref(), order.not_after, now)?;
        let checked = ca.key.policy().check(&asked, ca.key.issuer(), now);
        checked
            .map(drop)
            .map_err(|forbidden| Problem::new(ProblemType::BadCsr, forbidden.for_applicants()))
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

fn reason(reason: RevocationReason) -> CrlReason {
    match reason {
        RevocationReason::Unspecified => CrlReason::Unspecified,
        RevocationReason::KeyCompromise => CrlReason::KeyCompromise,
        RevocationReason::AffiliationChanged => CrlReason::AffiliationChanged,
        RevocationReason::Superseded => CrlReason::Superseded,
        RevocationReason::CessationOfOperation => CrlReason::CessationOfOperation,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use pq_acme::nonce::NonceDigest;
    use pq_acme::objects::AccountStatus;
    use pq_acme::store::{LastChange, OrderState};
    use pq_ca::authority::Authority;
    use pq_ca::ledger::LocalLedger;
    use pq_jose::any::AnyJwk;
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::request::CertificateRequest;
    use pq_x509::x509_cert::name::Name;
    use tempfile::TempDir;

    use super::*;
    use crate::doors::{Doors, PublishedCa, Settings};

    /// A CA whose policy ends with this.
    pub(in crate::acme) fn policy(rest: &str) -> (TempDir, CaPolicy) {
        let folder = tempfile::tempdir().unwrap();
        let text =
            pq_ca::policy::Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]);
        let units = "common-name = [\"*\"]\nunit = [\"admins\"]";
        let text = text.replace("common-name = [\"*\"]", units);
        let text = format!("{text}\n{rest}\n");
        let policy = pq_ca::policy::Policy::parse(&text, "policy.toml").unwrap();
        let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), new_key()).unwrap();
        let root = issuer.certificate().clone();
        let ledger = LocalLedger::create(folder.path().join("ledger")).unwrap();
        let key = Arc::new(Authority::new("issuing", issuer, policy, ledger));
        let doors = Doors::new(PublishedCa::new(root, Vec::new(), key), Settings::default());
        let now: Now = Arc::new(move || doors.issuing());
        (folder, CaPolicy::new(now, Clock::default()))
    }

    pub(in crate::acme) fn new_key() -> SigningKey {
        SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
    }

    pub(in crate::acme) fn account(external: Option<(String, String)>) -> AccountRecord {
        AccountRecord {
            id: "a".into(),
            version: 0,
            key: AnyJwk::of(&new_key()).unwrap(),
            status: AccountStatus::Valid,
            contact: Vec::new(),
            agreed: false,
            external,
            created: Time::from_secs(0),
            nonce: NonceDigest([0; 16]),
            last_change: LastChange::default(),
        }
    }

    fn may_register(policy: &CaPolicy, account: &AccountRecord) -> Result<(), ProblemType> {
        let registered = policy.may_register(&Registration {
            key: &account.key,
            contact: &[],
            external: account.external.as_ref().map(|(kid, _)| kid.as_str()),
            from: None,
        });
        registered.map_err(|problem| problem.kind)
    }

    fn may_order(policy: &CaPolicy, account: &AccountRecord) -> Result<(), ProblemType> {
        let granted = policy.may_order(&Wish {
            account,
            identifiers: &[Identifier::dns("www.example.org").unwrap()],
            profile: None,
            not_before: None,
            not_after: None,
            replaces: None,
            from: None,
        });
        granted.map(drop).map_err(|problem| problem.kind)
    }

    #[test]
    fn accounts_that_are_not_bound_get_nothing_where_that_is_required() {
        let (stranger, known) = (account(None), account(Some(("kid".into(), "{}".into()))));
        let (_folder, open) = policy("[acme]");
        assert_eq!(may_register(&open, &stranger), Ok(()));
        assert_eq!(may_order(&open, &stranger), Ok(()));
        let (_folder, closed) = policy("[acme]\nexternal-account-required = true");
        let required = Err(ProblemType::ExternalAccountRequired);
        assert_eq!(may_register(&closed, &stranger), required);
        // as if it had been made before
        assert_eq!(may_order(&closed, &stranger), required);
        assert_eq!(may_register(&closed, &known), Ok(()));
        assert_eq!(may_order(&closed, &known), Ok(()));
        // No policy is no permission.
        let none = CaPolicy::new(Arc::new(|| None), Clock::default());
        assert_eq!(
            may_register(&none, &stranger),
            Err(ProblemType::ServerInternal)
        );
    }

    #[test]
    fn what_is_counted_is_what_the_policy_of_today_says() {
        let limits = "[acme.limits]\norders-per-account = '5 per 1h'\norders-per-names = 'unlimited'\npending-orders = 7";
        let (_folder, policy) = policy(limits);
        let stranger = account(None);
        let identifiers = [Identifier::dns("www.example.org").unwrap()];
        let mut wish = Wish {
            account: &stranger,
            identifiers: &identifiers,
            profile: None,
            not_before: None,
            not_after: None,
            replaces: None,
            from: Some([192, 0, 2, 7].into()),
        };
        let counted = |wish: &Wish<'_>| {
            let all = policy.order_limits(wish).into_iter();
            all.map(|limit| (limit.of, limit.most)).collect::<Vec<_>>()
        };
        let by_account = ("new orders of the account a".into(), 5);
        let by_address = ("new orders from 192.0.2.7".into(), 3000);
        assert_eq!(counted(&wish), [by_address, by_account.clone()]);
        wish.from = None;
        assert_eq!(counted(&wish), [by_account]);
        let failures = policy.failure_limits("a", &identifiers[0]);
        assert_eq!((failures.len(), failures[0].most), (1, 10));
        assert_eq!(policy.most_undecided().unwrap().orders, 7);
        let none = CaPolicy::new(Arc::new(|| None), Clock::default());
        assert!(none.order_limits(&wish).is_empty());
    }

    /// Removing a name from the file is how the operator ends what was made with it.
    #[test]
    fn accounts_get_nothing_when_that_which_they_are_bound_to_is_gone() {
        let (_folder, open) = policy("[acme]");
        let bound = account(Some(("kid".into(), "{}".into())));
        let may_use =
            |account: &AccountRecord| open.may_use(account).map_err(|problem| problem.kind);
        assert_eq!(may_use(&account(None)), Ok(()));
        let key = "FdGpRmjNLIuGKLMlwOtGxkYMPFa6iQmTDmBD3C2oP9A";
        let file = format!("[[accounts]]\nkid = \"kid\"\nkey = \"{key}\"\n");
        open.replace_accounts(ExternalAccounts::parse(&file).unwrap());
        assert_eq!(may_use(&bound), Ok(()));
        open.replace_accounts(ExternalAccounts::parse(&file.replace("kid\"", "other\"")).unwrap());
        assert_eq!(may_use(&bound), Err(ProblemType::Unauthorized));
        assert_eq!(may_use(&account(None)), Ok(()));
    }

    /// What can't be issued is not ordered first.
    #[test]
    fn no_order_ends_later_than_the_policy_permits() {
        let (_folder, open) = policy("[acme]");
        let until = |end: u64| {
            let granted = open.may_order(&Wish {
                account: &account(None),
                identifiers: &[Identifier::dns("www.example.org").unwrap()],
                profile: None,
                not_before: None,
                not_after: Some(Time::from_secs(end)),
                replaces: None,
                from: None,
            });
            granted.map(drop).map_err(|problem| problem.detail)
        };
        let now = Clock::default().now().as_secs();
        assert_eq!(until(now + 80 * 24 * 3600), Ok(()));
        let late = until(now + 91 * 24 * 3600).unwrap_err();
        assert!(
            late.contains("\"notAfter\"") && late.contains("90d"),
            "{late}"
        );
        assert!(!late.contains("policy.toml"), "{late}");
        assert!(until(now).unwrap_err().contains("is over"));
    }

    /// An order of that account.
    pub(in crate::acme) fn order() -> OrderRecord {
        OrderRecord {
            id: "o".into(),
            version: 0,
            account: "a".into(),
            state: OrderState::Open,
            expires: Time::from_secs(0),
            identifiers: [Identifier::dns("www.example.org").unwrap()].into(),
            authorizations: Vec::new(),
            not_before: None,
            not_after: None,
            replaces: None,
            profile: Some("server".into()),
            created: Time::from_secs(0),
            nonce: NonceDigest([1; 16]),
        }
    }

    fn may_finalize(policy: &CaPolicy, subject: &str) -> Result<(), Problem> {
        let key = new_key();
        let mut request = CertificateRequest::builder().dns_name("www.example.org");
        if !subject.is_empty() {
            request = request.subject(subject.parse::<Name>().unwrap());
        }
        let request = request.sign(&key).unwrap();
        policy.may_finalize(&order(), &request.verify().unwrap())
    }

    #[test]
    fn no_subject_is_certified_that_no_challenge_shows() {
        let (_folder, open) = policy("[acme]");
        assert_eq!(may_finalize(&open, "CN=www.example.org"), Ok(()));
        assert_eq!(may_finalize(&open, ""), Ok(()));
        let refused = may_finalize(&open, "CN=www.example.org,OU=admins").unwrap_err();
        assert!(refused.detail.contains("no challenge"), "{refused}");
    }

    #[test]
    fn strangers_are_not_told_where_the_policy_is() {
        let (_folder, policy) = policy("[acme]");
        let refused = policy.may_order(&Wish {
            account: &account(None),
            identifiers: &[Identifier::dns("www.example.com").unwrap()],
            profile: None,
            not_before: None,
            not_after: None,
            replaces: None,
            from: None,
        });
        let refused = String::from_utf8(refused.unwrap_err().to_json()).unwrap();
        assert!(refused.contains("names.dns permits"), "{refused}");
        let subject = may_finalize(&policy, "CN=other.example.org").unwrap_err();
        assert!(subject.detail.contains("common-name"), "{subject}");
        for told in [refused, subject.detail] {
            assert!(!told.contains("policy.toml"), "{told}");
        }
    }

    #[test]
    fn the_policy_of_today_counts() {
        let (_folder, closed) = policy("[acme]\ndns = ['other.example.org']");
        let refused = may_finalize(&closed, "").unwrap_err();
        assert_eq!(refused.kind, ProblemType::RejectedIdentifier);
        let (_folder, none) = policy("");
        assert!(may_finalize(&none, "").is_err());
    }
}
