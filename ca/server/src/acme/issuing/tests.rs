use pq_acme::identifier::Identifier;
use pq_acme::nonce::Nonces;
use pq_acme::server::{Work, revoke_account};
use pq_acme::store::{MemoryStore, OrderRecord, OrderState, Processing};
use pq_ca::ledger::LedgerError;

use super::super::policy::tests::{account, new_key, order, policy};
use super::*;
use crate::clock::Clock;

fn csr() -> Vec<u8> {
    let request = CertificateRequest::builder().dns_name("www.example.org");
    request.sign(&new_key()).unwrap().to_der().to_vec()
}

/// What another replica issued counts, though the policy here forbids it or the account has ended since.
#[test]
fn no_order_is_refused_whose_certificate_is_there() {
    let (_folder, policy) = policy("[acme]");
    let ca = (policy.now)().unwrap();
    let mut work = Issue {
        order: "o".into(),
        request_id: [7; 32],
        account: "a".into(),
        csr: csr().into(),
        identifiers: [Identifier::dns("www.example.org").unwrap()].into(),
        profile: Some("server".into()),
        not_before: None,
        not_after: None,
        replaces: None,
        evidence: Vec::new(),
        is_late: false,
    };
    let refused = || Err(NotIssued::Refused(Problem::malformed("no")));
    let unknown = || LedgerError::RequestTaken {
        request: RequestId::from_bytes([1; 32]),
        number: pq_ca::ledger::SerialNumber::from_integer(&[1]).unwrap(),
    };
    let not_now = || Err(NotIssued::NotNow(unknown().into()));
    assert_eq!(
        told(&ca, &work, refused()).unwrap().unwrap_err(),
        Problem::malformed("no")
    );
    // What can't be issued for now is tried again, and not for ever.
    assert!(told(&ca, &work, not_now()).is_err());
    work.is_late = true;
    let late = told(&ca, &work, not_now()).unwrap().unwrap_err();
    assert!(late.detail.contains("in time"), "{late}");
    let issued = issue(&ca, &work, Clock::default().now()).unwrap();
    for outcome in [refused(), not_now()] {
        let told = told(&ca, &work, outcome).unwrap().unwrap();
        assert_eq!(told.chains, issued.chains);
    }
}

#[test]
fn an_account_that_ended_meanwhile_gets_no_certificate() {
    let (_folder, policy) = policy("[acme]");
    let ca = (policy.now)().unwrap();
    let store = MemoryStore::new();
    let owner = store.insert_account(account(None)).unwrap();
    let now = Clock::default().now();
    let expires = Time::from(now).after(Duration::from_secs(3600));
    let inserted = store.insert_order(OrderRecord { expires, ..order() }, Vec::new(), &owner, None);
    let processing = OrderRecord {
        state: OrderState::Processing(Processing {
            csr: csr().into(),
            since: Time::from_secs(0),
        }),
        ..(*inserted.unwrap()).clone()
    };
    store.update_order(processing, &[]).unwrap();
    let server = Server::new(
        "https://ca.example/acme",
        store,
        policy,
        Nonces::new([1; 32]),
    );
    let mut taken = server.take_up(now.into(), 1).unwrap();
    let Some(Ok(Work::Issue(work))) = taken.pop() else {
        panic!("there should be a certificate to issue");
    };
    assert!(revoke_account(server.store(), &owner.id).unwrap());
    carry_out(&server, &ca, &work, now);
    let ended = server.store().order("o").unwrap().unwrap();
    assert!(matches!(&ended.state, OrderState::Invalid(_)), "{ended:?}");
    let issued = ca.key.of_request(&RequestId::from_bytes(work.request_id));
    assert!(issued.unwrap().is_none());
}

#[test]
fn evidence_has_as_much_as_there_is_room_for() {
    assert_eq!(evidence(&[]), None);
    let one = String::from("http-01 a: 192.0.2.7");
    assert_eq!(evidence(core::slice::from_ref(&one)).unwrap().as_str(), one);
    let two = evidence(&[one.clone(), one.clone()]).unwrap();
    assert_eq!(two.as_str(), format!("{one}; {one}"));
    let many = vec![one.clone(); 100];
    let kept = evidence(&many).unwrap();
    assert!(kept.as_str().len() <= Evidence::MAX_LEN);
    let kept = kept.as_str();
    let whole = kept.matches(&one).count();
    assert!(
        kept.ends_with(&format!("; and {} more", 100 - whole)),
        "{kept}"
    );
    let whole = "x".repeat(Evidence::MAX_LEN);
    assert_eq!(
        evidence(core::slice::from_ref(&whole)).unwrap().as_str(),
        whole
    );
    // What is too long is cut off, and the rest is counted.
    let cut = evidence(&["ü".repeat(Evidence::MAX_LEN), one]).unwrap();
    let cut = cut.as_str();
    assert!(
        cut.starts_with("üü") && cut.ends_with("ü...; and 1 more"),
        "{cut}"
    );
    assert!((Evidence::MAX_LEN - 1..=Evidence::MAX_LEN).contains(&cut.len()));
}
