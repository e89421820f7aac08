//! A request, such as an order of ACME, gets one certificate, whoever asks and however often.

use std::thread;

use pq_ca::authority::{Authority, AuthorityError, Once, Order};
use pq_ca::issuing::{Issuance, IssuanceError, IssuedCertificate, Terms};
use pq_ca::ledger::{Evidence, Ledger, LedgerError, LocalLedger, RequestId, SerialNumber};
use pq_ca::policy::Policy;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn policy() -> String {
    Policy::default_text(&[".example.org".parse().unwrap()], &[], &[])
}

fn ca() -> (Authority<SigningKey, LocalLedger>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(folder.path()).unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key()).unwrap();
    let policy = Policy::parse(&policy(), "policy.toml").unwrap();
    (Authority::new("issuing", issuer, policy, ledger), folder)
}

fn order(key: &SigningKey, request: RequestId) -> Order<'_> {
    let order = Order::for_key(key).unwrap();
    order
        .with(|wanted| wanted.dns_name("www.example.org"))
        .as_request(request)
        .on_evidence(evidence())
}

fn evidence() -> Evidence {
    Evidence::new("http-01 www.example.org from 192.0.2.7").unwrap()
}

const REQUEST: RequestId = RequestId::from_bytes([7; 32]);

#[test]
fn all_who_ask_at_once_get_the_same_certificate() {
    let (ca, _folder) = ca();
    let key = key();
    let got: Vec<Once> = thread::scope(|scope| {
        let ask = || {
            let order = order(&key, REQUEST);
            ca.issue_once(&order, "account 1", UnixTime::now()).unwrap()
        };
        let turns = [(); 8].map(|()| scope.spawn(ask));
        turns.into_iter().map(|turn| turn.join().unwrap()).collect()
    });
    let first = got[0].certificate().der();
    assert!(got.iter().all(|one| one.certificate().der() == first));
    let issued = got.iter().filter(|one| matches!(one, Once::Issued(_)));
    assert_eq!(issued.count(), 1);
    let kept = ca.of_request(&REQUEST).unwrap().unwrap();
    assert_eq!(kept.der(), first);
    let entry = ca.ledger().of_request(&REQUEST).unwrap().unwrap();
    let policy_id = entry.issued.policy.unwrap();
    assert_eq!(policy_id.digest[..], Sha256::digest(policy())[..]);
    assert!(policy_id.reader.starts_with("pq-ca "), "{policy_id}");
    assert_eq!(entry.issued.evidence, Some(evidence()));
    let other = RequestId::from_bytes([8; 32]);
    assert!(ca.of_request(&other).unwrap().is_none());
}

#[test]
fn an_issuance_may_be_for_a_request() {
    let (ca, _folder) = ca();
    let key = key();
    let terms = Terms {
        names: vec!["www.example.org".parse().unwrap()],
        ..Terms::default()
    };
    let issuance = || {
        let issuance = Issuance::for_key(&key, &terms).unwrap();
        issuance.as_request(REQUEST).on_evidence(evidence())
    };
    let issued = issuance().carry_out(&ca, "account 1", UnixTime::now(), ());
    let issued = issued.unwrap();
    assert_eq!(issued.entry.request, Some(REQUEST));
    assert_eq!(issued.entry.evidence, Some(evidence()));
    match issuance().carry_out(&ca, "account 1", UnixTime::now(), ()) {
        Err(IssuanceError::NotIssued(AuthorityError::Ledger(LedgerError::RequestTaken {
            request,
            number,
        }))) => assert_eq!((request, number), (REQUEST, issued.entry.serial_number)),
        other => panic!("{other:?}"),
    }
    let kept = IssuedCertificate::of_request(ca.ledger(), &REQUEST).unwrap();
    let kept = kept.unwrap();
    assert_eq!(kept.entry, issued.entry);
    assert_eq!(kept.certificate.der(), issued.certificate.der());
    // A renewal is for a request of its own.
    let other = RequestId::from_bytes([8; 32]);
    let number = issued.entry.serial_number;
    let renewal = Issuance::renewal(number, None).as_request(other);
    let renewed = renewal.carry_out(&ca, "account 1", UnixTime::now(), ());
    assert_eq!(renewed.unwrap().entry.request, Some(other));
}

#[test]
fn a_batch_goes_on_without_requests_that_were_answered() {
    let (ca, _folder) = ca();
    let key = key();
    let other = RequestId::from_bytes([8; 32]);
    let before = ca.issue(&order(&key, REQUEST), "account 1", UnixTime::now());
    let before = SerialNumber::of(&before.unwrap()).unwrap();
    let mut batch = ca.batch("account 1", UnixTime::now());
    for request in [other, REQUEST, other] {
        batch.add(&order(&key, request)).unwrap();
    }
    let kept = batch.keep().unwrap();
    let [Ok(first), Err(answered), Err(again)] = &kept[..] else {
        panic!("{kept:?}");
    };
    let taken = |error: &AuthorityError, by: SerialNumber| {
        matches!(
            error,
            AuthorityError::Ledger(LedgerError::RequestTaken { number, .. }) if *number == by
        )
    };
    assert!(taken(answered, before), "{answered}");
    assert!(taken(again, first.issued.serial_number), "{again}");
}
