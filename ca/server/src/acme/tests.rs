//! Orders, certificates and revocations, each twice and of two: what a CA's policy and its ledger say of them.

use alloc::sync::Arc;
use core::time::Duration;

use pq_acme::identifier::Identifier;
use pq_acme::nonce::NonceDigest;
use pq_acme::objects::{ChallengeKind, RevocationReason, Time};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{
    Issue, Policy, RevocationRefusal, RevocationWish, Revoker, Wish, default_renewal,
};
use pq_acme::store::{CertificateRecord, OrderRecord, OrderState};
use pq_ca::ledger::{Evidence, Revocation};
use pq_x509::certificate::Certificate;
use pq_x509::keys::SigningKey;
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CrlReason;
use zeroize::Zeroizing;

use super::external_accounts::ExternalAccounts;
use super::issuing::{NotIssued, issue};
use super::policy::CaPolicy;
use super::policy::tests::{account, new_key, policy};
use super::refusals::refused;
use crate::doors::Issuing;

const NAME: &str = "www.example.org";
const DAY: u64 = 24 * 3600;

fn ca(policy: &CaPolicy) -> Issuing {
    (policy.now)().unwrap()
}

fn now() -> u64 {
    UnixTime::now().as_secs()
}

fn request(key: &SigningKey) -> CertificateRequest {
    let builder = CertificateRequest::builder().dns_name(NAME);
    builder.sign(key).unwrap()
}

/// What there is to do for an order with this number.
fn work(number: u8, key: &SigningKey) -> Issue {
    Issue {
        order: format!("order {number}"),
        request_id: [number; 32],
        account: "account".into(),
        csr: request(key).to_der().into(),
        identifiers: [Identifier::dns(NAME).unwrap()].into(),
        profile: Some("server".into()),
        not_before: None,
        not_after: None,
        replaces: None,
        evidence: vec!["http-01 www.example.org: seen".into()],
        is_late: false,
    }
}

fn issued(policy: &CaPolicy, work: &Issue) -> Certificate {
    let issued = issue(&ca(policy), work, UnixTime::now()).unwrap();
    issued.chains[0][0].clone()
}

fn refusal(policy: &CaPolicy, work: &Issue) -> Problem {
    match issue(&ca(policy), work, UnixTime::now()).unwrap_err() {
        NotIssued::Refused(problem) => problem,
        NotIssued::NotNow(error) => panic!("{error}"),
    }
}

#[test]
fn a_beginning_is_refused_and_not_ignored() {
    let (_folder, policy) = policy("[acme]");
    let account = account(None);
    let order = |not_before| {
        let granted = policy.may_order(&Wish {
            account: &account,
            identifiers: &[Identifier::dns(NAME).unwrap()],
            profile: None,
            not_before,
            not_after: None,
            replaces: None,
            from: None,
        });
        granted.map(drop).map_err(|problem| problem.kind)
    };
    assert_eq!(order(None), Ok(()));
    let later = Time::from_secs(now() + DAY);
    assert_eq!(order(Some(later)), Err(ProblemType::Malformed));
}

fn may_finalize(policy: &CaPolicy, profile: &str, not_after: Option<u64>) -> Result<(), Problem> {
    let order = OrderRecord {
        id: "order".into(),
        version: 0,
        account: "account".into(),
        state: OrderState::Open,
        expires: Time::from_secs(0),
        identifiers: [Identifier::dns(NAME).unwrap()].into(),
        authorizations: Vec::new(),
        not_before: None,
        not_after: not_after.map(Time::from_secs),
        replaces: None,
        profile: Some(profile.into()),
        created: Time::from_secs(0),
        nonce: NonceDigest([0; 16]),
    };
    policy.may_finalize(&order, &request(&new_key()).verify().unwrap())
}

#[test]
fn the_end_and_the_profile_of_an_order_are_checked_with_its_request() {
    let (_folder, policy) = policy("[acme]");
    let now = now();
    assert_eq!(may_finalize(&policy, "server", None), Ok(()));
    assert_eq!(
        may_finalize(&policy, "client", Some(now + 89 * DAY)),
        Ok(())
    );
    let too_long = may_finalize(&policy, "server", Some(now + 91 * DAY)).unwrap_err();
    assert_eq!(too_long.kind, ProblemType::BadCsr, "{too_long}");
    let over = may_finalize(&policy, "server", Some(now)).unwrap_err();
    assert_eq!(over.kind, ProblemType::Malformed, "{over}");
    let other = may_finalize(&policy, "any", None).unwrap_err();
    assert_eq!(other.kind, ProblemType::InvalidProfile, "{other}");
}

#[test]
fn an_order_gets_one_certificate_until_its_end() {
    let (_folder, policy) = policy("[acme]");
    let (key, end) = (new_key(), now() + 5 * DAY);
    let first = Issue {
        not_after: Some(Time::from_secs(end)),
        ..work(1, &key)
    };
    let certificate = issued(&policy, &first);
    // Seconds may pass before it is issued.
    let not_after = certificate.not_after().as_secs();
    assert!(
        (end - 2..=end + 60).contains(&not_after),
        "{not_after} {end}"
    );
    assert_eq!(issued(&policy, &first).der(), certificate.der());
    let second = issued(&policy, &work(2, &key));
    assert_ne!(second.der(), certificate.der());
    let entry = ca(&policy).key.entry(&certificate).unwrap().unwrap();
    assert_eq!(entry.issued.by, "ACME account account");
    assert_eq!(entry.issued.profile, "server");
    let evidence = entry.issued.evidence.unwrap();
    assert_eq!(evidence.as_str(), "http-01 www.example.org: seen");

    let over = Issue {
        not_after: Some(Time::from_secs(now())),
        ..work(3, &key)
    };
    assert_eq!(refusal(&policy, &over).kind, ProblemType::Malformed);
    let other = Issue {
        profile: Some("any profile".into()),
        ..work(3, &key)
    };
    assert_eq!(refusal(&policy, &other).kind, ProblemType::InvalidProfile);
}

/// Of lines that fill it nearly, just, and too much, some are kept, and it is said how many are not.
#[test]
fn evidence_fills_its_room() {
    let (_folder, policy) = policy("[acme]");
    let key = new_key();
    let half = Evidence::MAX_LEN / 2;
    for (number, len) in (1..).zip(half - 10..half - 3) {
        let line = |of: &str| of.repeat(len);
        let work = Issue {
            evidence: vec![line("a"), line("b"), line("c")],
            ..work(number, &key)
        };
        let certificate = issued(&policy, &work);
        let entry = ca(&policy).key.entry(&certificate).unwrap().unwrap();
        let kept = entry.issued.evidence.expect("some of it has room");
        let two = format!("{}; {}; and 1 more", line("a"), line("b"));
        let expected = match two.len() <= Evidence::MAX_LEN {
            true => two,
            false => format!("{}; and 2 more", line("a")),
        };
        assert_eq!(kept.as_str(), expected, "{len}");
    }
}

fn revoke(
    policy: &CaPolicy,
    certificate: &Certificate,
    reason: RevocationReason,
    by: Revoker<'_>,
) -> Result<(), RevocationRefusal> {
    policy.revoke(&RevocationWish {
        certificate: certificate.der(),
        reason,
        by,
        from: None,
    })
}

fn revocation(policy: &CaPolicy, certificate: &Certificate) -> Option<Revocation> {
    let entry = ca(policy).key.entry(certificate).unwrap().unwrap();
    entry.revocation().cloned()
}

#[test]
fn a_certificate_is_revoked_once_for_its_reason() {
    let (_folder, policy) = policy("[acme]");
    let (_other_folder, other) = super::policy::tests::policy("[acme]");
    let stranger = issued(&other, &work(1, &new_key()));
    let account = account(None);
    let reasons = [
        (RevocationReason::Unspecified, CrlReason::Unspecified),
        (RevocationReason::KeyCompromise, CrlReason::KeyCompromise),
        (
            RevocationReason::AffiliationChanged,
            CrlReason::AffiliationChanged,
        ),
        (RevocationReason::Superseded, CrlReason::Superseded),
        (
            RevocationReason::CessationOfOperation,
            CrlReason::CessationOfOperation,
        ),
    ];
    for (number, (reason, expected)) in (1..).zip(reasons) {
        let certificate = issued(&policy, &work(number, &new_key()));
        assert_eq!(revocation(&policy, &certificate), None);
        let by = Revoker::Holder(&account);
        revoke(&policy, &certificate, reason, by).unwrap();
        let first = revocation(&policy, &certificate).unwrap();
        assert_eq!(first.reason, expected);
        assert_eq!(first.by, "ACME account a");
        let again = revoke(&policy, &certificate, reason, Revoker::Authorized(&account));
        assert!(
            matches!(again, Err(RevocationRefusal::Already)),
            "{again:?}"
        );
        assert_eq!(revocation(&policy, &certificate), Some(first));
        let unknown = revoke(&policy, &stranger, reason, by);
        assert!(
            matches!(unknown, Err(RevocationRefusal::Unknown)),
            "{unknown:?}"
        );
    }
    assert_eq!(revocation(&other, &stranger), None);
}

#[test]
fn a_key_that_others_may_know_gets_no_certificate_any_more() {
    let (_folder, policy) = policy("[acme]");
    let (key, other) = (new_key(), new_key());
    let certificate = issued(&policy, &work(1, &key));
    issued(&policy, &work(2, &other));
    let reason = RevocationReason::KeyCompromise;
    revoke(&policy, &certificate, reason, Revoker::Key).unwrap();
    let refused = refusal(&policy, &work(3, &key));
    assert_eq!(refused.kind, ProblemType::BadCsr);
    assert!(refused.detail.contains("make a new key"), "{refused}");
    issued(&policy, &work(4, &other));
}

#[test]
fn what_was_revoked_is_renewed_at_once() {
    let (_folder, policy) = policy("[acme]");
    let two = [1, 2].map(|number| issued(&policy, &work(number, &new_key())));
    let record = |certificate: &Certificate| CertificateRecord {
        id: "certificate".into(),
        name: None,
        account: "account".into(),
        order: "order".into(),
        identifiers: Arc::default(),
        not_before: certificate.not_before().into(),
        not_after: certificate.not_after().into(),
        der: certificate.der().to_vec(),
        chains: Vec::new(),
    };
    let reason = RevocationReason::Superseded;
    revoke(&policy, &two[0], reason, Revoker::Key).unwrap();
    let at = Time::from_secs(now());
    let [revoked, usual] = two.each_ref().map(|one| policy.renewal(&record(one), at));
    assert!(revoked.0.suggested_window.end < at);
    assert!(revoked.0.suggested_window.start < revoked.0.suggested_window.end);
    assert_eq!(usual.0, default_renewal(&record(&two[1])));
    assert!(usual.0.suggested_window.start > at);
    assert_eq!([revoked.1, usual.1], [Duration::from_secs(6 * 3600); 2]);
}

#[test]
fn the_directory_says_what_is_required() {
    for is_required in [false, true] {
        let text =
            format!("[acme]\nexternal-account-required = {is_required}\nprofiles = ['client']");
        let (_folder, policy) = policy(&text);
        let meta = policy.meta();
        assert_eq!(meta.external_account_required, is_required);
        assert!(meta.profiles.keys().eq(["client"]));
    }
}

#[test]
fn challenges_are_those_that_fit_and_are_permitted() {
    use ChallengeKind::{Dns01, Http01, TlsAlpn01};
    let account = account(None);
    let (_folder, all) = policy("[acme]");
    let (_folder, some) = policy("[acme]\nchallenges = ['dns-01', 'http-01']");
    let (_folder, none) = policy("");
    let name = Identifier::dns(NAME).unwrap();
    let address = Identifier::Ip("192.0.2.1".parse().unwrap());
    for (policy, identifier, is_wildcard, expected) in [
        (&all, &name, false, vec![Http01, Dns01, TlsAlpn01]),
        (&all, &name, true, vec![Dns01]),
        (&all, &address, false, vec![Http01, TlsAlpn01]),
        (&some, &name, false, vec![Http01, Dns01]),
        (&some, &name, true, vec![Dns01]),
        (&some, &address, false, vec![Http01]),
        (&none, &name, false, vec![]),
    ] {
        let mut found = policy.challenges(&account, identifier, is_wildcard);
        found.sort();
        let mut expected = expected;
        expected.sort();
        assert_eq!(found, expected, "{identifier} {is_wildcard}");
    }
}

/// Of two names, each of which breaks two rules, each is told of its own.
#[test]
fn each_name_is_refused_for_its_own_reasons() {
    let (_folder, policy) = policy("[acme]\ndns = ['.web.example.org']");
    let names = ["a.example.com", "b.example.net", "c.web.example.org"];
    let names = names.map(|name| Identifier::dns(name).unwrap().into());
    let forbidden = ca(&policy).key.policy().check_acme_order(&names, None);
    let problem = refused(&forbidden.unwrap_err());
    let told = problem.subproblems.iter();
    let told: Vec<_> = told
        .map(|one| (one.identifier.clone(), &*one.detail))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    for ((identifier, detail), [own, other]) in told.into_iter().zip([
        ["a.example.com", "b.example.net"],
        ["b.example.net", "a.example.com"],
    ]) {
        assert_eq!(identifier, Some(Identifier::dns(own).unwrap()));
        assert!(detail.contains(own) && !detail.contains(other), "{detail}");
        assert!(detail.contains('\n'), "{detail}");
    }
}

#[test]
fn the_accounts_of_the_new_file_count() {
    let (_folder, policy) = policy("[acme]");
    let file = |kid: &str, byte: char| {
        let key = byte.to_string().repeat(43);
        let key = &key[..42];
        ExternalAccounts::parse(&format!("[[accounts]]\nkid = \"{kid}\"\nkey = \"{key}AA\""))
            .unwrap()
    };
    let key = |kid: &str| policy.external_key(kid).map_err(|problem| problem.kind);
    assert_eq!(key("one"), Err(ProblemType::Unauthorized));
    policy.replace_accounts(file("one", 'A'));
    assert_eq!(key("one"), Ok(Zeroizing::new(vec![0; 33])));
    policy.replace_accounts(file("two", 'A'));
    assert_eq!(key("one"), Err(ProblemType::Unauthorized));
    assert_eq!(key("two"), Ok(Zeroizing::new(vec![0; 33])));
}
