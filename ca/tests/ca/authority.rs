//! A CA in a folder, from its creation to its revocation lists.

use core::error::Error;
use core::ops::ControlFlow;
use core::time::Duration;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use pq_ca::authority::{Authority, AuthorityError, Order, ResponderError};
use pq_ca::folder::{
    Constraints, Folder, FolderError, Interruption, KeyPlan, LedgerPlace, Plan, Role,
};
use pq_ca::ledger::{
    AdoptedEntry, Change, Condition, Entry, Filter, Generation, KeyHash, Ledger, LedgerError,
    LocalLedger, NewEntry, Revocation, Revoked, SerialNumber,
};
use pq_ca::policy::{Policy, Profile};
use pq_x509::certificate::{Certificate, KeyUsages, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{CertStatus, OcspFailure, OcspNonce, OcspRequest, OcspVerifier};
use pq_x509::pki_types::{CertificateDer, ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{CrlReason, RevocationPolicy};
use pq_x509::validation::{ChainValidator, ValidationError};
use tempfile::TempDir;

use crate::forwarded::forwarded;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn plan() -> Plan<SigningKey> {
    Plan {
        name: "Example CA".into(),
        root: KeyPlan {
            key: SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap(),
            validity: 3650 * DAY,
        },
        issuing: Some(KeyPlan {
            key: SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap(),
            validity: 1825 * DAY,
        }),
        constraints: Constraints {
            domains: vec!["example.org".into()],
            ..Constraints::default()
        },
        policy: Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]),
    }
}

/// A CA, and its folder.
fn ca(plan: &Plan<SigningKey>) -> (TempDir, Folder) {
    let above = tempfile::tempdir().unwrap();
    let folder = Folder::create(above.path().join("ca"), plan, "tests", UnixTime::now()).unwrap();
    (above, folder)
}

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn number(certificate: &Certificate) -> SerialNumber {
    SerialNumber::of(certificate).unwrap()
}

fn issue<L: Ledger>(ca: &Authority<SigningKey, L>, name: &str) -> Certificate {
    let key = key();
    let order = Order::for_key(&key)
        .unwrap()
        .with(|wanted| wanted.dns_name(name));
    ca.issue(&order, "alice", UnixTime::now()).unwrap()
}

fn validate(folder: &Folder, leaf: &Certificate) -> Result<(), ValidationError> {
    let mut chain = vec![leaf.clone()];
    chain.extend(folder.chain().unwrap());
    let chain: Vec<_> = chain.iter().collect();
    let lists = [Role::Root, folder.issuing_role().unwrap()].map(|role| {
        let ca = folder.authority::<SigningKey>(role).unwrap();
        ca.revocation_list(UnixTime::now(), None).unwrap()
    });
    let root = folder.certificate(Role::Root).unwrap();
    let name = ServerName::try_from("www.example.org").unwrap();
    ChainValidator::new([root])
        .unwrap()
        .with_revocation(RevocationPolicy::new(lists).unwrap())
        .validate_server(&chain, &name, UnixTime::now())
        .map(|_| ())
}

#[test]
fn what_is_issued_is_valid_until_it_is_revoked() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");
    validate(&folder, &leaf).unwrap();

    let entry = authority.ledger().entry(&number(&leaf)).unwrap().unwrap();
    assert_eq!(entry.issued.issuer, "issuing");
    assert_eq!(entry.issued.names, ["www.example.org"]);
    assert_eq!(entry.issued.profile, "server");
    assert_eq!(entry.issued.key_algorithm, "ML-DSA-44");
    assert_eq!(entry.issued.by, "alice");
    assert_eq!(entry.issued.not_after, leaf.not_after());
    let kept = authority.ledger().certificate(&number(&leaf)).unwrap();
    assert_eq!(kept.as_ref(), Some(leaf.der()));

    let revoked = authority
        .revoke(
            &number(&leaf),
            CrlReason::KeyCompromise,
            "bob",
            UnixTime::now(),
        )
        .unwrap();
    assert_eq!(revoked.change, Change::Revoked);
    let revocation = revoked.entry.revocation().unwrap();
    assert_eq!(revocation.reason, CrlReason::KeyCompromise);
    assert_eq!(revocation.by, "bob");
    let refused = validate(&folder, &leaf).unwrap_err();
    assert!(
        matches!(refused, ValidationError::Revoked { .. }),
        "{refused}"
    );
}

/// Nobody would accept names that the policy permits but the CA's own certificate doesn't.
#[test]
fn names_outside_the_constraints_are_refused() {
    let everywhere = [".example.org", ".example.net"].map(|name| name.parse().unwrap());
    let networks = ["192.0.2.0/24".parse().unwrap()];
    let (_above, folder) = ca(&Plan {
        policy: Policy::default_text(&everywhere, &networks, &[]),
        ..plan()
    });
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let key = key();
    let answers = ["www.example.org", "www.example.net", "192.0.2.1"].map(|name| {
        let order = Order::for_key(&key).unwrap();
        let order = order.with(|wanted| match name.parse() {
            Ok(address) => wanted.ip_address(address),
            Err(_) => wanted.dns_name(name),
        });
        authority.issue(&order, "alice", UnixTime::now())
    });
    let [within, below_another, address] = answers;
    within.unwrap();
    for (refused, outside) in [(below_another, "www.example.net"), (address, "192.0.2.1")] {
        let AuthorityError::OutsideConstraints { name } = refused.unwrap_err() else {
            panic!("{outside}");
        };
        assert_eq!(name, outside);
    }
    assert_eq!(count(&authority, Filter::all().issuer("issuing")), 1);
}

/// A certificate with an e-mail address and a SPIFFE ID: it is issued, recorded in the ledger, and renewed.
#[test]
fn names_of_all_kinds_are_issued_and_renewed() {
    let names = ["a@example.org", "spiffe://example.org/a", "a.example.org"];
    let policy = Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]);
    let (_above, folder) = ca(&Plan {
        policy: policy
            .replace("#email = []", "email = ['*@example.org']")
            .replace("#uri = []", "uri = ['spiffe://example.org/*']"),
        ..plan()
    });
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let key = key();
    let order = |profile| {
        let order = Order::for_key(&key).unwrap();
        order.with(|wanted| {
            let wanted = wanted.profile(profile);
            names.iter().fold(wanted, |wanted, name| {
                wanted.alternative_name(name.parse().unwrap())
            })
        })
    };
    let order_of = order(Profile::ServerAndClient);
    let issued = authority.issue(&order_of, "alice", UnixTime::now());
    let issued = issued.unwrap();
    let number = SerialNumber::of(&issued).unwrap();
    let entry = authority.ledger().entry(&number).unwrap().unwrap();
    assert_eq!(
        entry.issued.names,
        ["a.example.org", "a@example.org", "spiffe://example.org/a"]
    );
    let renewed = authority
        .renew(&number, None, "alice", UnixTime::now())
        .unwrap();
    assert_eq!(renewed.uris(), issued.uris());
    assert_eq!(renewed.email_addresses(), issued.email_addresses());
    // X.509-SVID section 4.4: no policy can relax this.
    let refused = authority.issue(&order(Profile::Client), "alice", UnixTime::now());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("X.509-SVID"), "{refused}");
}

/// With the CA's own key and with a delegate's, which needs none of the CA's keys.
#[test]
fn ocsp_requests_are_answered_by_the_ledger() {
    let plan = plan();
    let responders = plan
        .policy
        .replace("\"server+client\"]", "\"ocsp-responder\"]");
    let (_above, folder) = ca(&Plan {
        policy: responders,
        ..plan
    });
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let now = UnixTime::now();
    let delegate_key = key();
    let order = Order::for_key(&delegate_key).unwrap().with(|wanted| {
        wanted
            .common_name("Our OCSP")
            .profile(Profile::OcspResponder)
    });
    let delegate = authority.issue(&order, "alice", now).unwrap();
    let leaves = ["a.example.org", "b.example.org", "c.example.org"];
    let leaves = leaves.map(|name| issue(&authority, name));
    authority
        .revoke(&number(&leaves[1]), CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    authority
        .revoke(&number(&leaves[2]), CrlReason::CertificateHold, "bob", now)
        .unwrap();
    let issuer = folder.certificate(Role::Issuing).unwrap();
    // A certificate by the same name and key that is not in the ledger.
    let stranger = authority
        .issuer()
        .issue(
            CertificateBuilder::server().dns_name("d.example.org"),
            &key(),
        )
        .unwrap();
    let root = folder.certificate(Role::Root).unwrap();
    let asked = [&leaves[0], &leaves[1], &leaves[2], &stranger];
    let builder = OcspRequest::builder().nonce(OcspNonce::random().unwrap());
    let builder = builder.certificate(&issuer, &root);
    let request = asked
        .iter()
        .fold(builder, |builder, leaf| builder.certificate(leaf, &issuer))
        .build()
        .unwrap();
    fs::remove_file(folder.path().join("issuing.key")).unwrap();
    let responder = folder.responder(Role::Issuing, delegate.clone(), &delegate_key);
    let responder = responder.unwrap();
    let revoked = |reason| CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs())),
        reason,
    };
    let expected = [
        CertStatus::Good,
        revoked(CrlReason::KeyCompromise),
        revoked(CrlReason::CertificateHold),
        CertStatus::Unknown,
    ];
    for (response, by) in [
        (authority.respond(request.der(), now, None), None),
        (responder.respond(request.der(), now), Some(&delegate)),
    ] {
        let response = response.unwrap();
        let nonce = request.nonce().unwrap();
        let verifier = OcspVerifier::new(&issuer, now).with_nonce(nonce);
        for (leaf, status) in asked.iter().zip(expected) {
            let verified = verifier.verify(&response, leaf).unwrap();
            assert_eq!(verified.status(), status);
            assert_eq!(verified.delegate(), by);
            assert!(verified.unchecked_delegate().is_none());
            let answer = verified.answer();
            let until = answer.next_update().unwrap().as_secs();
            assert_eq!(until - now.as_secs(), DAY.as_secs());
            assert_eq!(now.as_secs() - answer.this_update().as_secs(), 60 * 60);
        }
        // A certificate of the root, which the ledger has under another issuer.
        let other = response.answer_for(&issuer, &root).unwrap();
        assert_eq!(other.status(), CertStatus::Unknown);
    }

    let hour = Duration::from_secs(60 * 60);
    let short = authority.respond(request.der(), now, Some(hour)).unwrap();
    let end = short.answers()[0].next_update().unwrap();
    assert_eq!(end.as_secs() - now.as_secs(), hour.as_secs());
    let short = responder.with_validity(hour).respond(request.der(), now);
    assert_eq!(short.unwrap().answers()[0].next_update(), Some(end));

    // The certificate is released from hold.
    authority
        .reinstate(&number(&leaves[2]), "bob", now)
        .unwrap();
    let response = authority.respond(request.der(), now, None).unwrap();
    let answer = response.answer_for(&leaves[2], &issuer).unwrap();
    assert_eq!(answer.status(), CertStatus::Good);

    // A request about a certificate of the root, which can answer itself.
    let of_root = OcspRequest::builder()
        .certificate(&issuer, &root)
        .build()
        .unwrap();
    let by_root = folder.authority::<SigningKey>(Role::Root).unwrap();
    let response = by_root.respond(of_root.der(), now, None).unwrap();
    let verifier = OcspVerifier::new(&root, now);
    let answer = verifier.verify(&response, &issuer).unwrap();
    assert_eq!(answer.status(), CertStatus::Good);

    // Requests that get no answer.
    for (request, failure) in [
        (of_root.der(), OcspFailure::Unauthorized),
        (&request.der()[1..], OcspFailure::MalformedRequest),
        (&[], OcspFailure::MalformedRequest),
    ] {
        let error = authority.respond(request, now, None).unwrap_err();
        assert_eq!(error.failure(), failure, "{error}");
        assert!(error.source().is_none());
    }
    fs::remove_dir_all(folder.path().join("ledger")).unwrap();
    let refused = folder.responder(Role::Issuing, leaves[0].clone(), &delegate_key);
    assert!(matches!(refused, Err(FolderError::Issue(_))));
}

#[test]
fn a_folder_has_what_its_documentation_says() {
    let (_above, folder) = ca(&plan());
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "issuing.key",
            "issuing.pem",
            "ledger",
            "policy.toml",
            "root.key",
            "root.pem"
        ]
    );
    let [root, issuing] = [Role::Root, Role::Issuing].map(|role| folder.certificate(role).unwrap());
    assert_eq!(root.describe_subject(), "CN=Example CA Root");
    assert_eq!(issuing.describe_subject(), "CN=Example CA");
    assert_eq!(issuing.issuer(), root.subject());
    assert_eq!((root.path_len(), issuing.path_len()), (Some(1), Some(0)));
    let usages = issuing.key_usage().unwrap();
    assert_eq!(usages, KeyUsages::KeyCertSign | KeyUsages::CRLSign);
    // The root's ledger has the issuing certificate.
    let entry = folder.ledger().unwrap().entry(&number(&issuing)).unwrap();
    let entry = entry.unwrap();
    assert_eq!(
        (&*entry.issued.issuer, &*entry.issued.profile),
        ("root", "ca")
    );
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let (_above, folder) = ca(&plan());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path()), 0o700);
    for key in ["root.key", "issuing.key"] {
        assert_eq!(mode(&folder.path().join(key)), 0o600, "{key}");
    }
}

#[test]
fn names_that_are_not_the_cas_are_constrained_away() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    // without the authority, which would refuse
    let builder = CertificateBuilder::server()
        .dns_name("www.example.org")
        .ip_address([192, 0, 2, 1].into());
    let leaf = authority.issuer().issue(builder, &key()).unwrap();
    let refused = validate(&folder, &leaf).unwrap_err();
    assert!(refused.to_string().contains("name constraint"), "{refused}");
}

#[test]
fn a_root_alone_issues_by_itself() {
    let plan = Plan {
        issuing: None,
        ..plan()
    };
    let (_above, folder) = ca(&plan);
    assert_eq!(folder.issuing_role().unwrap(), Role::Root);
    assert!(folder.chain().unwrap().is_empty());
    let authority = folder
        .authority::<SigningKey>(folder.issuing_role().unwrap())
        .unwrap();
    assert_eq!(
        authority.issuer().certificate().describe_subject(),
        "CN=Example CA"
    );
    assert_eq!(authority.issuer().certificate().path_len(), Some(0));
    validate(&folder, &issue(&authority, "www.example.org")).unwrap();
}

#[test]
fn the_policy_is_asked() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let key = key();
    let order = |name: &str| {
        let order = Order::for_key(&key).unwrap();
        order.with(|wanted| wanted.dns_name(name))
    };
    let refused = authority.issue(&order("www.example.com"), "alice", UnixTime::now());
    let AuthorityError::Forbidden(forbidden) = refused.unwrap_err() else {
        panic!("refused for another reason");
    };
    let [refusal] = forbidden.refusals() else {
        panic!("{forbidden}");
    };
    assert_eq!(refusal.key(), Some("names.dns"));
    assert!(refusal.line().is_some());

    // From a group, those that the policy permits are issued.
    let mut batch = authority.batch("alice", UnixTime::now());
    let names = ["a.example.org", "example.com", "b.example.org"];
    let is_made = names.map(|name| batch.add(&order(name)).is_ok());
    assert_eq!(is_made, [true, false, true]);
    assert_eq!(count(&authority, Filter::all().issuer("issuing")), 0);
    let kept: Result<Vec<_>, _> = batch.keep().unwrap().into_iter().collect();
    let kept = kept.unwrap();
    let read = |entry: &NewEntry<'_>| Certificate::from_der(&entry.certificate).unwrap();
    let leaves: Vec<_> = kept.iter().map(read).collect();
    let of_leaves: Vec<_> = leaves.iter().flat_map(Certificate::dns_names).collect();
    assert_eq!(of_leaves, ["a.example.org", "b.example.org"]);
    assert_eq!(count(&authority, Filter::all().issuer("issuing")), 2);
    for (leaf, kept) in leaves.iter().zip(&kept) {
        let entry = authority.ledger().entry(&number(leaf)).unwrap().unwrap();
        assert_eq!(entry.issued, kept.issued);
        assert_eq!(entry.issued.names, leaf.dns_names());
        assert_eq!(entry.issued.subject, leaf.describe_subject());
        assert_eq!(entry.issued.not_before, leaf.not_before());
        assert_eq!(entry.issued.not_after, leaf.not_after());
        assert_eq!(kept.to_pem(), leaf.to_pem());
    }
}

fn count(authority: &Authority<SigningKey, LocalLedger>, filter: Filter) -> usize {
    let mut count = 0;
    let mut show = |_| {
        count += 1;
        ControlFlow::Continue(())
    };
    authority.ledger().find(&filter, &mut show).unwrap();
    count
}

#[test]
fn requests_are_signed() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let key = key();
    let request = CertificateRequest::builder()
        .dns_name("www.example.org")
        .sign(&key)
        .unwrap()
        .verify()
        .unwrap();
    let order = Order::for_request(&request)
        .unwrap()
        .with(|wanted| wanted.profile(Profile::ServerAndClient).validity(2 * DAY));
    let leaf = authority.issue(&order, "alice", UnixTime::now()).unwrap();
    assert_eq!(
        leaf.public_key().unwrap().to_spki_der(),
        key.verifying_key().to_spki_der()
    );
    validate(&folder, &leaf).unwrap();
}

#[test]
fn renewal_keeps_names_and_profile() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let first_key = key();
    let order = Order::for_key(&first_key).unwrap().with(|wanted| {
        wanted
            .dns_name("www.example.org")
            .common_name("the web server")
            .profile(Profile::Client)
    });
    let first = authority.issue(&order, "alice", UnixTime::now()).unwrap();

    let now = UnixTime::now();
    let again = authority.renew(&number(&first), None, "bob", now).unwrap();
    assert_ne!(again.serial_number(), first.serial_number());
    assert_eq!(again.subject(), first.subject());
    assert_eq!(again.dns_names(), first.dns_names());
    assert_eq!(
        again.public_key().unwrap().as_bytes(),
        first.public_key().unwrap().as_bytes()
    );
    let entry = authority.ledger().entry(&number(&again)).unwrap().unwrap();
    assert_eq!(
        (&*entry.issued.profile, &*entry.issued.by),
        ("client", "bob")
    );

    let other_key = key();
    let other = authority
        .renew(&number(&first), Some(&other_key), "bob", now)
        .unwrap();
    assert_eq!(
        other.public_key().unwrap().as_bytes(),
        other_key.verifying_key().as_bytes()
    );

    authority
        .revoke(&number(&first), CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    let refused = authority
        .renew(&number(&first), None, "bob", now)
        .unwrap_err();
    assert!(
        matches!(refused, AuthorityError::Revoked { .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("keyCompromise"), "{refused}");
}

#[test]
fn each_key_answers_for_its_own_certificates() {
    let (_above, folder) = ca(&plan());
    let issuing = folder.certificate(Role::Issuing).unwrap();
    let now = UnixTime::now();
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let refused = authority
        .revoke(&number(&issuing), CrlReason::CaCompromise, "bob", now)
        .unwrap_err();
    let AuthorityError::Ledger(LedgerError::AnotherIssuers { issuer, asked, .. }) = refused else {
        panic!("{refused}");
    };
    assert_eq!((&*issuer, &*asked), ("root", "issuing"));

    let root = folder.authority::<SigningKey>(Role::Root).unwrap();
    let refused = root.renew(&number(&issuing), None, "bob", now).unwrap_err();
    assert!(matches!(refused, AuthorityError::OfACa(_)), "{refused}");
    root.revoke(&number(&issuing), CrlReason::CaCompromise, "bob", now)
        .unwrap();
    assert!(
        root.revocation_list(now, None)
            .unwrap()
            .entry_for(&issuing)
            .is_some()
    );
    assert!(
        authority
            .revocation_list(now, None)
            .unwrap()
            .entries()
            .is_empty()
    );
}

/// A number that another issuer gave is unknown, and its certificate is not this CA's to change.
#[test]
fn numbers_of_another_issuer_are_unknown_and_untouched() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let issuing = folder.certificate(Role::Issuing).unwrap();
    let now = UnixTime::now();
    // As if this CA had given the number that the root gave.
    let builder = CertificateBuilder::server()
        .dns_name("www.example.org")
        .serial_number(issuing.serial_number());
    let stranger = authority.issuer().issue(builder, &key()).unwrap();
    let request = OcspRequest::builder()
        .certificate(&stranger, &issuing)
        .build()
        .unwrap();
    let response = authority.respond(request.der(), now, None).unwrap();
    let answer = response.answer_for(&stranger, &issuing).unwrap();
    assert_eq!(answer.status(), CertStatus::Unknown);

    let root = folder.authority::<SigningKey>(Role::Root).unwrap();
    let on_hold = number(&issuing);
    root.revoke(&on_hold, CrlReason::CertificateHold, "bob", now)
        .unwrap();
    let before = root.ledger().entry(&on_hold).unwrap();
    for refused in [
        authority.reinstate(&on_hold, "bob", now).map(|_| ()),
        authority
            .revoke(&on_hold, CrlReason::KeyCompromise, "bob", now)
            .map(|_| ()),
        authority.renew(&on_hold, None, "bob", now).map(|_| ()),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(
                refused,
                AuthorityError::Ledger(LedgerError::AnotherIssuers { .. })
            ),
            "{refused}"
        );
    }
    assert_eq!(root.ledger().entry(&on_hold).unwrap(), before);
}

#[test]
fn what_is_on_hold_is_not_renewed() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");
    let now = UnixTime::now();
    authority
        .revoke(&number(&leaf), CrlReason::CertificateHold, "bob", now)
        .unwrap();
    let refused = authority.renew(&number(&leaf), Some(&key()), "bob", now);
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, AuthorityError::Revoked { .. }),
        "{refused}"
    );
    authority.reinstate(&number(&leaf), "bob", now).unwrap();
    authority.renew(&number(&leaf), None, "bob", now).unwrap();
}

/// A key that others may know is not certified again: not in an order, not for a request, not in a batch and not in a
/// renewal; by no key of the CA, and whatever the certificate of the compromise was for.
#[test]
fn a_compromised_key_is_not_certified_again() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let (now, lost) = (UnixTime::now(), key());
    let order = || {
        let order = Order::for_key(&lost).unwrap();
        order.with(|wanted| wanted.dns_name("www.example.org"))
    };
    let first = authority.issue(&order(), "alice", now).unwrap();
    let second = authority.issue(&order(), "alice", now).unwrap();
    let other = issue(&authority, "b.example.org");
    authority
        .revoke(&number(&first), CrlReason::KeyCompromise, "bob", now)
        .unwrap();
    let request = CertificateRequest::builder()
        .dns_name("c.example.org")
        .sign(&lost)
        .unwrap()
        .verify()
        .unwrap();
    let mut batch = authority.batch("alice", now);
    batch.add(&order()).unwrap();
    let root = folder.authority::<SigningKey>(Role::Root).unwrap();
    let all = count(&authority, Filter::all());
    for refused in [
        authority.issue(&order(), "alice", now).map(|_| ()),
        authority
            .issue(&Order::for_request(&request).unwrap(), "alice", now)
            .map(|_| ()),
        batch.keep().unwrap().remove(0).map(|_| ()),
        authority
            .renew(&number(&second), None, "bob", now)
            .map(|_| ()),
        authority
            .renew(&number(&other), Some(&lost), "bob", now)
            .map(|_| ()),
        root.issue_ca(CertificateBuilder::ca("Another"), &lost, "bob", now)
            .map(|_| ()),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(
                refused,
                AuthorityError::Ledger(LedgerError::KeyCompromised(known)) if known == number(&first)
            ),
            "{refused}"
        );
    }
    assert_eq!(count(&authority, Filter::all()), all);
    // The certificate is renewed for a new key.
    let renewed = authority.renew(&number(&second), Some(&key()), "bob", now);
    renewed.unwrap();
}

/// Of many, those whose key others may know are refused alone.
#[test]
fn of_a_batch_a_compromised_key_is_refused_alone() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let (now, lost, good) = (UnixTime::now(), [key(), key()], key());
    let order = |key: &SigningKey| {
        let names = |wanted: pq_ca::policy::Wanted| wanted.dns_name("www.example.org");
        let made = authority.issue(&Order::for_key(key).unwrap().with(names), "alice", now);
        number(&made.unwrap())
    };
    let known = lost.each_ref().map(order);
    let mut batch = authority.batch("alice", now);
    for key in [&lost[0], &good, &lost[1], &good, &lost[0]] {
        let order = Order::for_key(key).unwrap();
        let order = order.with(|wanted| wanted.dns_name("www.example.org"));
        batch.add(&order).unwrap();
    }
    for number in &known {
        authority
            .revoke(number, CrlReason::KeyCompromise, "bob", now)
            .unwrap();
    }
    let before = count(&authority, Filter::all());
    let compromised: Vec<_> = batch
        .keep()
        .unwrap()
        .into_iter()
        .map(|kept| match kept {
            Ok(kept) => {
                let entry = authority.ledger().entry(&kept.issued.serial_number);
                assert_eq!(entry.unwrap().unwrap().issued, kept.issued);
                None
            }
            Err(AuthorityError::Ledger(LedgerError::KeyCompromised(number))) => Some(number),
            Err(error) => panic!("{error}"),
        })
        .collect();
    let [first, second] = known.map(Some);
    assert_eq!(compromised, [first, None, second, None, first]);
    assert_eq!(count(&authority, Filter::all()), before + 2);
}

/// Whatever it was revoked for, nothing is issued or renewed. After a compromise, nothing is answered either: the
/// answers of a key that others may know assure nobody. Lists are made, which only take trust away.
#[test]
fn a_ca_that_was_revoked_issues_nothing() {
    for reason in [
        CrlReason::CertificateHold,
        CrlReason::Superseded,
        CrlReason::KeyCompromise,
        CrlReason::CaCompromise,
    ] {
        let (_above, folder) = ca(&plan());
        let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
        let now = UnixTime::now();
        let leaf = issue(&authority, "www.example.org");
        let leaf_key = key();
        let order = Order::for_key(&leaf_key).unwrap();
        let order = order.with(|wanted| wanted.dns_name("www.example.org"));
        let mut batch = authority.batch("alice", now);
        batch.add(&order).unwrap();
        let own = folder.certificate(Role::Issuing).unwrap();
        let root = folder.authority::<SigningKey>(Role::Root).unwrap();
        root.revoke(&number(&own), reason, "bob", now).unwrap();
        let before = count(&authority, Filter::all());
        for refused in [
            authority.issue(&order, "alice", now).map(|_| ()),
            authority
                .renew(&number(&leaf), None, "alice", now)
                .map(|_| ()),
            batch.keep().map(|_| ()),
        ] {
            let refused = refused.unwrap_err();
            assert!(
                matches!(
                    refused,
                    AuthorityError::Ledger(LedgerError::IssuerRevoked { number: known, reason: why })
                        if known == number(&own) && why == reason
                ),
                "{refused}"
            );
        }
        assert_eq!(count(&authority, Filter::all()), before);
        let request = OcspRequest::builder().certificate(&leaf, &own);
        let request = request.build().unwrap();
        let answered = authority.respond(request.der(), now, None);
        match reason {
            CrlReason::KeyCompromise | CrlReason::CaCompromise => {
                let error = answered.unwrap_err();
                assert_eq!(error.failure(), OcspFailure::Unauthorized, "{error}");
            }
            _ => drop(answered.unwrap()),
        }
        authority.revocation_list(now, None).unwrap();
        // The root answers and certifies another CA.
        let about_ca = OcspRequest::builder().certificate(&own, root.issuer().certificate());
        root.respond(about_ca.build().unwrap().der(), now, None)
            .unwrap();
        let new = CertificateBuilder::ca("Another").path_len(0);
        root.issue_ca(new, &key(), "bob", now).unwrap();
    }
}

/// What can be seen to fail takes no number, and what was not written leaves out nothing.
#[test]
fn a_list_that_can_not_be_made_takes_no_number() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let now = UnixTime::now();
    let endless = Some(9000 * 366 * DAY);
    authority.revocation_list(now, endless).unwrap_err();
    let list = authority.revocation_list(now, None).unwrap();
    assert_eq!(list.number(), Some(&[1][..]));
    authority.confirm_list(&list).unwrap();
    let root = folder.authority::<SigningKey>(Role::Root).unwrap();
    let error = root.confirm_list(&list).unwrap_err();
    assert!(
        matches!(
            error,
            AuthorityError::Ledger(LedgerError::UnknownList { number: 1, .. })
        ),
        "{error}"
    );
}

/// Nobody accepts what a key signs without a valid certificate, so the responder says it instead of all clients.
#[test]
fn a_response_ends_with_its_responders_certificate() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");
    let own = folder.certificate(Role::Issuing).unwrap();
    let request = OcspRequest::builder().certificate(&leaf, &own);
    let request = request.build().unwrap();
    let now = UnixTime::now().as_secs();
    let hour = 60 * 60;
    let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let system = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let end = now + 5 * hour;
    let key = key();
    let delegate = CertificateBuilder::ocsp_responder()
        .common_name("OCSP")
        .validity(Validity::new(system(now - hour), system(end)));
    let delegate = authority.issuer().issue(delegate, &key).unwrap();
    let responder = || {
        folder
            .responder(Role::Issuing, delegate.clone(), key.clone())
            .unwrap()
    };
    for (lasting, expected) in [(2 * hour, now + 2 * hour), (9 * hour, end), (u64::MAX, end)] {
        let responder = responder().with_validity(Duration::from_secs(lasting));
        let response = responder.respond(request.der(), at(now)).unwrap();
        assert_eq!(response.answers()[0].next_update(), Some(at(expected)));
    }
    for time in [now - 2 * hour + 600, end + 1] {
        let clock = at(time);
        let error = responder().respond(request.der(), clock).unwrap_err();
        // An hour before the last time in the ledger, that is said first.
        let is_clock = matches!(error, ResponderError::Ledger(LedgerError::Clock { .. }));
        assert_eq!(is_clock, time < now, "{error}");
        if !is_clock {
            assert!(matches!(error, ResponderError::NotValid { .. }), "{error}");
            assert!(
                error
                    .to_string()
                    .contains("CN=OCSP, whose key is to answer"),
                "{error}"
            );
            assert_eq!(error.failure(), OcspFailure::InternalError);
        }
    }
    // The CA's own response ends with its certificate, too.
    let response = authority
        .respond(request.der(), at(now), Some(Duration::MAX))
        .unwrap();
    assert_eq!(response.answers()[0].next_update(), Some(own.not_after()));
}

/// Clients are often told not to ask about a responder's certificate, so the library looks, whatever program uses it.
#[test]
fn a_responder_whose_key_others_may_know_answers_nothing() {
    let plan = plan();
    let responders = plan
        .policy
        .replace("\"server+client\"]", "\"ocsp-responder\"]");
    let (_above, folder) = ca(&Plan {
        policy: responders,
        ..plan
    });
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let (now, delegate_key) = (UnixTime::now(), key());
    let order = || {
        let order = Order::for_key(&delegate_key).unwrap();
        order.with(|wanted| {
            wanted
                .common_name("Our OCSP")
                .profile(Profile::OcspResponder)
        })
    };
    let delegates = [(); 2].map(|()| authority.issue(&order(), "alice", now).unwrap());
    let leaf = issue(&authority, "www.example.org");
    let own = folder.certificate(Role::Issuing).unwrap();
    let request = OcspRequest::builder().certificate(&leaf, &own);
    let request = request.build().unwrap();
    let responder = folder.responder(Role::Issuing, delegates[0].clone(), &delegate_key);
    let responder = responder.unwrap();
    for reason in [CrlReason::Superseded, CrlReason::KeyCompromise] {
        responder.respond(request.der(), now).unwrap();
        // another certificate for the same key
        authority
            .revoke(&number(&delegates[1]), reason, "bob", now)
            .unwrap();
    }
    let error = responder.respond(request.der(), now).unwrap_err();
    assert!(
        matches!(
            &error,
            ResponderError::KeyCompromised { number: revoked, .. } if *revoked == number(&delegates[1])
        ),
        "{error}"
    );
    assert_eq!(error.failure(), OcspFailure::Unauthorized);
    authority.respond(request.der(), now, None).unwrap();
}

/// Another process made a later list while this one was signed.
#[test]
fn a_list_that_is_outdated_is_told_before_and_after_it_is_written() {
    let (_above, folder) = ca(&plan());
    let authorities = [(); 2].map(|()| folder.authority::<SigningKey>(Role::Issuing).unwrap());
    let now = UnixTime::now();
    let [first, second] = authorities
        .each_ref()
        .map(|authority| authority.revocation_list(now, None).unwrap());
    authorities[1].check_list(&second).unwrap();
    let outdated = |result: Result<(), AuthorityError>, was_written: bool| {
        let error = result.unwrap_err();
        assert!(
            matches!(
                &error,
                AuthorityError::Ledger(LedgerError::LaterList { number: 1, later: 2, is_written, .. })
                    if *is_written == was_written
            ),
            "{error}"
        );
        assert!(error.to_string().contains("make the list again"), "{error}");
    };
    outdated(authorities[0].check_list(&first), false);
    authorities[1].confirm_list(&second).unwrap();
    outdated(authorities[0].check_list(&first), false);
    outdated(authorities[0].confirm_list(&first), true);
}

/// What is prepared is in the ledger once it is recorded, if that is still permitted.
#[test]
fn what_is_prepared_is_issued_when_it_is_recorded() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let (now, leaf_key) = (UnixTime::now(), key());
    let order = Order::for_key(&leaf_key).unwrap();
    let order = order.with(|wanted| wanted.dns_name("www.example.org"));
    let before = count(&authority, Filter::all());
    drop(authority.prepare(&order, "alice", now).unwrap());
    let prepared = authority.prepare(&order, "alice", now).unwrap();
    assert_eq!(count(&authority, Filter::all()), before);
    let leaf = prepared.record().unwrap();
    let leaf_number = number(&leaf);
    assert_eq!(count(&authority, Filter::all()), before + 1);
    let renewals = [(); 2].map(|()| {
        let renewal = authority.prepare_renewal(&leaf_number, None, "alice", now);
        renewal.unwrap()
    });
    let [first, second] = renewals;
    first.record().unwrap();
    authority
        .revoke(&leaf_number, CrlReason::Superseded, "bob", now)
        .unwrap();
    second.record().unwrap_err();
    assert_eq!(count(&authority, Filter::all()), before + 2);
}

/// A clock that a list would be refused for answers nothing either.
#[test]
fn a_clock_that_jumped_answers_nothing() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");
    let own = folder.certificate(Role::Issuing).unwrap();
    let request = OcspRequest::builder().certificate(&leaf, &own);
    let request = request.build().unwrap();
    let now = UnixTime::now().as_secs();
    let day = DAY.as_secs();
    for later in [now + 401 * day, now - day] {
        let later = UnixTime::since_unix_epoch(Duration::from_secs(later));
        let error = authority.respond(request.der(), later, None).unwrap_err();
        assert!(
            matches!(error, ResponderError::Ledger(LedgerError::Clock { .. })),
            "{error}"
        );
        assert_eq!(error.failure(), OcspFailure::InternalError);
    }
    let later = UnixTime::since_unix_epoch(Duration::from_secs(now + 300 * day));
    authority.respond(request.der(), later, None).unwrap();
}

/// A ledger in which another process revokes a certificate just after it was read.
struct Overtaken(LocalLedger);

impl Ledger for Overtaken {
    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        let certificate = self.0.certificate(number);
        let revocation = Revocation {
            at: UnixTime::now(),
            reason: CrlReason::Superseded,
            by: "another process".into(),
        };
        self.0.revoke(number, &revocation)?;
        certificate
    }

    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        self.0.record_if(entries, conditions)
    }

    forwarded!(0);
}

#[test]
fn what_is_revoked_while_it_is_renewed_is_not_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key()).unwrap();
    let policy = Policy::parse(&plan().policy, "policy.toml").unwrap();
    let ledger = Overtaken(LocalLedger::create(folder.path()).unwrap());
    let authority = Authority::new("issuing", issuer, policy, ledger);
    let (now, leaf_key) = (UnixTime::now(), key());
    let order = Order::for_key(&leaf_key).unwrap();
    let order = order.with(|wanted| wanted.dns_name("www.example.org"));
    let leaf = authority.issue(&order, "alice", now).unwrap();
    let refused = authority.renew(&number(&leaf), None, "bob", now);
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, AuthorityError::Revoked { .. }),
        "{refused}"
    );
    let mut recorded = 0;
    let mut show = |_| {
        recorded += 1;
        ControlFlow::Continue(())
    };
    authority.ledger().find(&Filter::all(), &mut show).unwrap();
    assert_eq!(recorded, 1);
}

#[test]
fn what_is_on_hold_can_be_released() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");
    let now = UnixTime::now();
    authority
        .revoke(&number(&leaf), CrlReason::CertificateHold, "bob", now)
        .unwrap();
    assert!(validate(&folder, &leaf).is_err());
    authority.reinstate(&number(&leaf), "bob", now).unwrap();
    validate(&folder, &leaf).unwrap();
}

#[test]
fn lists_are_numbered_and_last_as_long_as_is_asked() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(UnixTime::now().as_secs()));
    let numbers: Vec<_> = (0..3)
        .map(|_| {
            let list = authority.revocation_list(now, None).unwrap();
            assert_eq!(list.this_update(), now);
            assert_eq!(
                list.next_update().unwrap().as_secs() - now.as_secs(),
                7 * DAY.as_secs()
            );
            list.number().unwrap().to_vec()
        })
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    let long = authority.revocation_list(now, Some(90 * DAY)).unwrap();
    assert_eq!(
        long.next_update().unwrap().as_secs() - now.as_secs(),
        90 * DAY.as_secs()
    );
}

#[test]
fn a_ca_is_made_once_and_whole() {
    let (above, folder) = ca(&plan());
    let root = fs::read(folder.path().join("root.pem")).unwrap();
    let error = Folder::create(folder.path(), &plan(), "tests", UnixTime::now()).unwrap_err();
    assert!(matches!(error, FolderError::Exists(_)), "{error}");
    assert_eq!(fs::read(folder.path().join("root.pem")).unwrap(), root);

    let mut wrong = plan();
    wrong.policy += "\n[nothing]\n";
    let other = above.path().join("other");
    let error = Folder::create(&other, &wrong, "tests", UnixTime::now()).unwrap_err();
    assert!(matches!(error, FolderError::Policy(_)), "{error}");
    let mut wrong = plan();
    wrong.constraints.domains = vec!["not a name".into()];
    let error = Folder::create(&other, &wrong, "tests", UnixTime::now()).unwrap_err();
    assert!(matches!(error, FolderError::Authority(_)), "{error}");
    // Neither left anything behind.
    let left: Vec<_> = fs::read_dir(above.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["ca"]);

    // An empty folder counts as a new one.
    fs::create_dir(&other).unwrap();
    Folder::create(&other, &plan(), "tests", UnixTime::now()).unwrap();
    Folder::open(&other).unwrap();
}

/// The folder has everything but the ledger, and refuses one that is another CA's.
#[test]
fn a_folder_works_with_a_ledger_elsewhere() {
    let above = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = above.path().join(name);
        drop(LocalLedger::create(&path).unwrap());
        LedgerPlace::new(format!("the database {name}"), move || {
            // of a type that is chosen while the program runs
            Ok(Box::new(LocalLedger::open(&path)?) as Box<dyn Ledger>)
        })
    };
    let create = |name: &str, ledger: LedgerPlace<Box<dyn Ledger>>| {
        let (path, now) = (above.path().join(name), UnixTime::now());
        let stopped = Interruption::default();
        Folder::create_with_ledger(path, &plan(), ledger, "tests", now, &stopped)
    };
    let database = place("one");
    let folder = create("ca", database.clone()).unwrap();
    assert!(!folder.path().join("ledger").exists());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let leaf = issue(&authority, "www.example.org");

    // Without the ledger there is none, and on another machine it is the same.
    let opened = Folder::open(folder.path()).unwrap();
    let error = opened.ledger().map(|_| ()).unwrap_err();
    assert!(matches!(error, FolderError::Missing(_)), "{error}");
    let opened = opened.with_ledger(database.clone());
    for folder in [&opened, &opened.clone()] {
        let kept = folder.ledger().unwrap().certificate(&number(&leaf));
        assert_eq!(kept.unwrap().as_ref(), Some(leaf.der()));
    }

    // Neither a new CA nor another one gets this ledger.
    let error = create("second", database.clone()).unwrap_err();
    assert!(matches!(error, FolderError::UsedLedger(_)), "{error}");
    assert!(error.to_string().contains("the database one"), "{error}");
    assert!(!above.path().join("second").exists());
    let second = create("second", place("two")).unwrap();
    let refused = second.with_ledger(database).ledger().map(|_| ());
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, FolderError::OtherLedger { ledger, .. } if ledger.ends_with("the database one")),
        "{error}"
    );
}

/// The text of an error includes its cause, so a program that also prints causes prints nothing
/// twice.
#[test]
fn errors_have_no_sources() {
    let (_above, folder) = ca(&plan());
    let authority = folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let unknown = SerialNumber::from_bytes(&[1]).unwrap();
    let now = UnixTime::now();
    let refused = authority.renew(&unknown, None, "bob", now).unwrap_err();
    assert!(refused.source().is_none(), "{refused}");

    fs::copy(
        folder.path().join("root.key"),
        folder.path().join("issuing.key"),
    )
    .unwrap();
    let another_key = folder.authority::<SigningKey>(Role::Issuing).unwrap_err();
    fs::write(folder.policy_path(), "nothing = 1").unwrap();
    let wrong_policy = folder.authority::<SigningKey>(Role::Root).unwrap_err();
    fs::remove_dir_all(folder.path().join("ledger")).unwrap();
    let no_ledger = folder.ledger().unwrap_err();
    for error in [another_key, wrong_policy, no_ledger] {
        assert!(error.source().is_none(), "{error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let (above, folder) = ca(&plan());
    let error = Folder::open(above.path()).unwrap_err();
    assert!(matches!(error, FolderError::NoCa(_)), "{error}");

    let root_key = folder.path().join("root.key");
    fs::rename(&root_key, above.path().join("root.key")).unwrap();
    let error = folder.authority::<SigningKey>(Role::Root).unwrap_err();
    assert!(
        matches!(&error, FolderError::NoKey(path) if *path == root_key),
        "{error}"
    );
    // nothing else needs this key
    issue(
        &folder.authority::<SigningKey>(Role::Issuing).unwrap(),
        "www.example.org",
    );

    // a key of another CA
    fs::copy(
        above.path().join("root.key"),
        folder.path().join("issuing.key"),
    )
    .unwrap();
    let error = folder.authority::<SigningKey>(Role::Issuing).unwrap_err();
    assert!(matches!(error, FolderError::OtherKey { .. }), "{error}");

    fs::remove_dir_all(folder.path().join("ledger")).unwrap();
    let error = folder.ledger().unwrap_err();
    assert!(matches!(error, FolderError::Missing(_)), "{error}");
}
