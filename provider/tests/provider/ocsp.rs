//! OCSP responses that a server sends with its certificate, and how a client treats them.

use alloc::sync::Arc;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime};

use pq_x509::certificate::{Certificate, SignatureError, Validity};
use pq_x509::issuing::{CertificateBuilder, EndEntity, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::ocsp::{CertStatus, OcspError, OcspRequest, OcspResponder, SingleResponse};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason, RevocationPolicy};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::der::asn1::OctetString;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::spki::ObjectIdentifier;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, ServerName,
    SignatureVerificationAlgorithm, alg_id,
};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, HandshakeKind, ServerConfig, version,
};
use rustls_pq::identity::{
    FilePair, Identities, IdentityError, IdentityFiles, IdentitySet, OcspSource,
};
use rustls_pq::verify::{CheckOcsp, OcspRefusal};
use rustls_pq::{Offer, Refusal};

use crate::events;
use crate::peers::{Ecdsa, Identity, KeyPair, Outcome, connect, roots};
use crate::rotation::{Files, OFTEN, Pair, provider};

/// The client's verifier gets the response in both versions of TLS, but not on resumption.
#[test]
fn verifiers_are_given_it() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let leaf = Certificate::from_der(&identity.chain[0]).unwrap();
    let [first, second] = [DAY, 2 * DAY].map(|long| {
        respond_of(
            &OcspResponder::ca(&root),
            &leaf,
            CertStatus::Good,
            now_for(long),
        )
    });
    let plain = identity.checked();
    let stapled = identity
        .checked()
        .with_ocsp_issuers([root.certificate().clone()])
        .with_ocsp_response(&first)
        .unwrap()
        // The last one counts.
        .with_ocsp_response(&second)
        .unwrap();
    assert_eq!(stapled.size(), plain.size() + second.len());

    let roots = [root.certificate().clone()];
    for (identity, expected) in [(plain, vec![]), (stapled, second)] {
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let server = server(Arc::new(identities));
        for version in [&version::TLS12, &version::TLS13] {
            let verifier = Arc::new(Recording {
                inner: check(&roots, |check| check),
                ocsp_response: Mutex::default(),
            });
            let client = ClientConfig::builder_with_provider(provider())
                .with_protocol_versions(&[version])
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(verifier.clone())
                .with_no_client_auth();
            let client = Arc::new(client);
            for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
                let outcome = connect(&client, &server);
                assert_eq!(outcome.client.result, Ok(()));
                assert_eq!(outcome.client.kind, Some(kind));
                let seen = verifier.ocsp_response.lock().unwrap().take();
                let expected = (kind == HandshakeKind::Full).then_some(&expected);
                assert_eq!(seen.as_ref(), expected, "{:?}", version.version);
            }
        }
    }
}

/// An empty response counts as none: in a handshake it would be a malformed message.
#[test]
fn empty_ones() {
    let ca = Ca::new();
    let party = ca.server();
    let plain = party.identity.checked();
    let size = plain.size();
    let empty = plain.with_ocsp_response(&[]).unwrap();
    let emptied = party.identity.checked();
    let emptied = emptied.with_ocsp_response(&ca.good(&party, DAY)).unwrap();
    emptied.set_ocsp_response(&[]).unwrap();
    for identity in [empty, emptied] {
        assert_eq!(identity.certified_key().ocsp, None);
        assert_eq!(identity.ocsp_response_until(), None);
        assert_eq!(identity.size(), size);
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let outcome = connect(&client_with(ca.webpki()), &server(Arc::new(identities)));
        assert_eq!(outcome.client.result, Ok(()));
    }
}

#[test]
fn too_large_for_a_handshake() {
    let ca = Ca::new();
    let names = (0..200).map(|at| format!("{at:050}.example.org"));
    let leaf = names.fold(CertificateBuilder::server(), CertificateBuilder::dns_name);
    let party = ca.issue(leaf);
    let certificate = CertificateBuilder::ocsp_responder().common_name("Responder");
    // Its signatures have 49,856 bytes.
    let key = SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_256f).unwrap();
    let delegate = ca.0.issue(certificate, &key).unwrap();
    let responder = OcspResponder::delegate(ca.0.certificate().clone(), delegate, key).unwrap();
    let response = respond(&responder, &party, CertStatus::Good, now_for(DAY));
    let error = party.identity.checked().with_ocsp_response(&response);
    let error = error.unwrap_err();
    assert!(
        matches!(error, IdentityError::TooLarge { certificates, .. } if certificates > response.len()),
        "{error}"
    );
    let mut small = ca.server();
    small.identity.chain.truncate(1);
    let response = respond(&responder, &small, CertStatus::Good, now_for(DAY));
    small
        .identity
        .checked()
        .with_ocsp_issuers([ca.0.certificate().clone()])
        .with_ocsp_response(&response)
        .unwrap();
}

/// A useless response is refused, and the previous one stays.
#[test]
fn refused_when_set() {
    let ca = Ca::new();
    let party = ca.server();
    let identity = party.identity.checked();
    let good = ca.good(&party, DAY);
    identity.set_ocsp_response(&good).unwrap();
    let refused = |response: &[u8]| {
        let error = identity.set_ocsp_response(response).unwrap_err();
        assert_eq!(identity.certified_key().ocsp.as_ref(), Some(&good));
        error
    };

    for rubbish in [
        &b"rubbish"[..],
        &[0x30, 3, 10, 1, 6],
        &good[..good.len() - 1],
    ] {
        let error = refused(rubbish);
        assert!(matches!(error, IdentityError::OcspResponse(_)), "{error}");
        assert!(error.to_string().contains("it should be in DER"), "{error}");
    }
    let of_use = |response: &[u8]| match refused(response) {
        IdentityError::Ocsp(error) => error,
        error => panic!("{error}"),
    };
    assert_eq!(of_use(&ca.good(&ca.server(), DAY)), OcspError::NotAbout);
    // A response by another CA with the same name.
    let forger = Ca::new();
    let forged = forger.good(&forger.same_number(&party), DAY);
    assert_eq!(of_use(&forged), OcspError::NotAbout);
    let now = SystemTime::now();
    let over = Validity::new(now - 2 * DAY, now - DAY);
    let over = ca.answer(&party, CertStatus::Good, over);
    assert!(matches!(of_use(&over), OcspError::Stale { .. }));
    let future = Validity::new(now + DAY, now + 2 * DAY);
    let future = ca.answer(&party, CertStatus::Good, future);
    assert!(matches!(of_use(&future), OcspError::NotYetCurrent { .. }));
    let unknown = ca.answer(&party, CertStatus::Unknown, now_for(DAY));
    assert_eq!(of_use(&unknown), OcspError::UnknownCertificate);
    // The signature is at its end.
    let mut tampered = good.clone();
    *tampered.last_mut().unwrap() ^= 1;
    assert!(matches!(of_use(&tampered), OcspError::Signature(_)));

    // A responder's clock that is a little ahead is accepted, both here and by clients.
    let ahead = |long| {
        let validity = Validity::starting(now + long, DAY);
        ca.answer(&party, CertStatus::Good, validity)
    };
    let [minute, too_long] = [60, 5 * 60 + 30].map(Duration::from_secs);
    let error = of_use(&ahead(too_long));
    assert!(matches!(error, OcspError::NotYetCurrent { .. }), "{error}");
    let ahead = ahead(minute);
    identity.set_ocsp_response(&ahead).unwrap();
    assert_eq!(identity.certified_key().ocsp.as_ref(), Some(&ahead));
    let localhost = ServerName::try_from("localhost").unwrap();
    let [leaf, intermediates @ ..] = &*party.identity.chain else {
        panic!("no leaf");
    };
    ca.check(|check| check.required())
        .verify_server_cert(leaf, intermediates, &localhost, &ahead, UnixTime::now())
        .unwrap();
}

/// What nobody here can verify isn't sent, since clients may be able to verify it.
#[test]
fn unverifiable_ones_are_refused() {
    let ca = Ca::new();
    let party = ca.server();
    let good = ca.good(&party, DAY);
    // A signature by an algorithm that is unknown here.
    let forged = by_unknown_algorithm(&good);
    let alone = Party {
        identity: Identity {
            chain: party.identity.chain[..1].to_vec(),
            key: party.identity.key.clone_key(),
        },
    };
    let issuer = ca.0.certificate();
    let forger = Ca::new();
    for (identity, is_known) in [
        (party.identity.checked(), true),
        (alone.identity.checked(), false),
        // Two of them, and only the second is the issuer.
        (
            alone
                .identity
                .checked()
                .with_ocsp_issuers([forger.0.certificate().clone(), issuer.clone()]),
            true,
        ),
    ] {
        let error = identity.set_ocsp_response(&forged).unwrap_err();
        match &error {
            IdentityError::Ocsp(OcspError::Signature(SignatureError::UnsupportedAlgorithm(_)))
                if is_known => {}
            IdentityError::NoOcspIssuer { issuer } if !is_known => {
                assert_eq!(issuer, "CN=CA");
                assert!(
                    error.to_string().contains("append it to the chain"),
                    "{error}"
                );
            }
            _ => panic!("{error}"),
        }
        assert_eq!(identity.certified_key().ocsp, None);
        assert_eq!(identity.set_ocsp_response(&good).is_ok(), is_known);
        assert_eq!(identity.certified_key().ocsp.is_some(), is_known);
    }

    // Another CA of that name, which answers for its own certificate with this number.
    let misled = alone.identity.checked();
    let misled = misled.with_ocsp_issuers([forger.0.certificate().clone()]);
    let response = forger.good(&forger.same_number(&party), DAY);
    let error = misled.set_ocsp_response(&response).unwrap_err();
    assert!(
        matches!(error, IdentityError::OtherOcspIssuer { .. }),
        "{error}"
    );
}

/// The response with an algorithm of signature that nobody has, as anybody can make it.
fn by_unknown_algorithm(response: &[u8]) -> Vec<u8> {
    /// id-ml-dsa-44 ends in 17.
    const ML_DSA_44: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17];

    let mut changed = response.to_vec();
    let at = changed.windows(11).rposition(|bytes| bytes == ML_DSA_44);
    changed[at.unwrap() + 10] = 99;
    changed
}

/// A response is sent from the next handshake on, until it expires. The identity may be shared.
#[test]
fn set_while_the_server_runs() {
    events::record();
    let ca = Ca::new();
    let party = ca.issue(
        CertificateBuilder::server()
            .dns_name("short.test")
            .dns_name("localhost"),
    );
    let identity = Arc::new(party.identity.checked());
    let identities = Identities::new(IdentitySet::new().with_default(identity.clone()));
    let server = server(Arc::new(identities));
    let is_shown = || {
        let (client, outcomes) = ca.client(|check| check);
        let outcome = connect(&client, &server);
        assert_eq!(outcome.client.result, Ok(()));
        only(&outcomes).unwrap().is_some()
    };
    assert!(!is_shown());
    let short = ca.good(&party, Duration::from_secs(2));
    identity.set_ocsp_response(&short).unwrap();
    assert!(is_shown());
    let end = identity.ocsp_response_until().unwrap();
    while UnixTime::now() < end {
        thread::sleep(OFTEN);
    }
    assert!(!is_shown());
    assert!(!is_shown());
    let expired = events::lines(&["WARN", "the OCSP response has expired", "short.test"]);
    assert_eq!(expired.len(), 1);
    identity.set_ocsp_response(&ca.good(&party, DAY)).unwrap();
    assert!(is_shown());
}

/// A revoked server sends the response that says so, and is refused with the reason.
#[test]
fn revoked() {
    events::record();
    let ca = Ca::new();
    let party = ca.issue(
        CertificateBuilder::server()
            .dns_name("localhost")
            .dns_name("revoked.test"),
    );
    let date = UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000));
    let status = CertStatus::Revoked {
        date,
        reason: CrlReason::KeyCompromise,
    };
    let response = ca.answer(&party, status, now_for(DAY));
    let identity = party.identity.checked().with_ocsp_response(&response);
    let warned = [
        "WARN",
        "the certificate was revoked",
        "revoked.test",
        "KeyCompromise",
    ];
    assert_eq!(events::lines(&warned).len(), 1);

    let identities = Identities::new(IdentitySet::new().with_default(identity.unwrap()));
    let server = server(Arc::new(identities));
    let (client, outcomes) = ca.client(|check| check);
    let outcome = connect(&client, &server);
    assert_refused(
        &outcome,
        CertificateError::Revoked,
        AlertDescription::CertificateRevoked,
    );
    let refusal = only(&outcomes).unwrap_err();
    let OcspRefusal::Chain(ValidationError::Revoked { entry, .. }) = &refusal else {
        panic!("{refusal}");
    };
    let entry = entry.as_ref().unwrap();
    assert_eq!(
        (entry.date(), entry.reason()),
        (date, CrlReason::KeyCompromise)
    );
    let text = refusal.to_string();
    assert!(
        text.contains("was revoked at 2023-11-14T22:13:20Z (keyCompromise)"),
        "{text}"
    );
    assert_eq!(
        Refusal::by_client(&outcome.client.result.unwrap_err(), &client),
        Refusal::Revoked
    );
    assert!(!events::lines(&["INFO", "isn't accepted", "(keyCompromise)"]).is_empty());
}

#[test]
fn good() {
    let ca = Ca::new();
    let party = ca.server();
    let direct = ca.good(&party, DAY);
    let certificate = CertificateBuilder::ocsp_responder().common_name("Responder");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let delegate = ca.0.issue(certificate, &key).unwrap();
    let responder = OcspResponder::delegate(ca.0.certificate().clone(), delegate, key).unwrap();
    let delegated = respond(&responder, &party, CertStatus::Good, now_for(DAY));
    for response in [direct, delegated] {
        let (outcome, said) = ca.serve(&party, &response, CheckOcsp::required);
        assert_eq!(outcome.client.result, Ok(()));
        let answer = said.unwrap().unwrap();
        assert_eq!(answer.status(), CertStatus::Good);
        assert!(answer.next_update().unwrap() > UnixTime::now());
    }
}

/// A client accepts a missing response, unless one is required.
#[test]
fn missing() {
    let ca = Ca::new();
    let party = ca.server();
    let must = [true, false].map(|status_request| ca.must_staple(status_request));
    assert!(!party.identity.checked().must_staple());
    for (party, require, is_refused) in [
        (&party, false, None),
        (&party, true, Some(false)),
        (&must[0], false, Some(true)),
        (&must[0], true, Some(true)),
        // Another TLS feature.
        (&must[1], false, None),
    ] {
        let (outcome, said) = ca.serve(party, &[], |check| match require {
            true => check.required(),
            false => check,
        });
        match is_refused {
            None => {
                assert_eq!(outcome.client.result, Ok(()));
                assert_eq!(said, Ok(None));
            }
            Some(must_staple) => {
                assert_refused_for_response(&outcome);
                assert_eq!(said, Err(OcspRefusal::Missing { must_staple }));
            }
        }
    }
    assert!(must[0].identity.checked().must_staple());
    let (outcome, _) = ca.serve(&must[0], &ca.good(&must[0], DAY), |check| check);
    assert_eq!(outcome.client.result, Ok(()));
}

/// The server logs a missing response for a must-staple certificate, once.
#[test]
fn a_certificate_that_lacks_what_it_asks_for() {
    events::record();
    let ca = Ca::new();
    let identity = ca.must_staple(true).identity.checked();
    let warnings = || events::lines(&["WARN", "must-staple", "must.test"]).len();
    assert_eq!(warnings(), 0);
    for _ in 0..2 {
        assert_eq!(identity.certified_key().ocsp, None);
        assert_eq!(warnings(), 1);
    }
}

/// A server may send any response.
#[test]
fn of_no_use() {
    let ca = Ca::new();
    let party = ca.server();
    let now = SystemTime::now();
    let other = ca.good(&ca.server(), DAY);
    let stale = Validity::new(now - 2 * DAY, now - DAY);
    let stale = ca.answer(&party, CertStatus::Good, stale);
    let unknown = ca.answer(&party, CertStatus::Unknown, now_for(DAY));
    // A response by another CA of the same name, which signs with its own key.
    let forger = Ca::new();
    let forged = forger.good(&forger.same_number(&party), DAY);
    for (response, expected) in [
        (other, "is about other certificates"),
        (stale, "was to be replaced at"),
        (unknown, "does not know it"),
        (forged, "is about other certificates"),
    ] {
        let (outcome, said) = ca.serve(&party, &response, |check| check);
        assert_refused_for_response(&outcome);
        let text = said.unwrap_err().to_string();
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (outcome, said) = ca.serve(&party, b"rubbish", |check| check);
    assert_refused_for_response(&outcome);
    assert!(matches!(said, Err(OcspRefusal::Response(_))));
}

/// An attacker with the key of a revoked certificate can send any CA certificates, also one with the
/// issuer's name.
#[test]
fn a_forged_issuer() {
    let ca = Ca::new();
    let party = ca.server();
    let forger = Ca::new();
    assert_eq!(
        forger.0.certificate().subject(),
        ca.0.certificate().subject()
    );
    let forged = forger.good(&forger.same_number(&party), DAY);
    let twin = forger.0.certificate().der();
    for position in [1, 2] {
        let mut chain = party.identity.chain.clone();
        chain.insert(position, twin.clone());
        let verifier = ca.check(|check| check);
        let [leaf, intermediates @ ..] = &chain[..] else {
            panic!("a chain");
        };
        let name = ServerName::try_from("localhost").unwrap();
        let good = ca.good(&party, DAY);
        let verify = |response: &[u8]| {
            verifier.verify_server_cert(leaf, intermediates, &name, response, UnixTime::now())
        };
        verify(&good).unwrap();
        let error = verify(&forged).unwrap_err();
        assert_eq!(error, CertificateError::InvalidOcspResponse.into());
    }
}

/// If the validator has a revocation list too, a good result from the list is not enough.
#[test]
fn of_no_use_beside_a_list() {
    let ca = Ca::new();
    let party = ca.server();
    let builder = CertificateRevocationListBuilder::new(&[1]);
    let list = ca.0.issue_revocation_list(builder).unwrap();
    let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
    let algorithms = provider().signature_verification_algorithms.all;
    let validator = ChainValidator::new([ca.1.clone()]).unwrap();
    let validator = validator.with_algorithms(algorithms);
    let verifier = CheckOcsp::new(ca.webpki(), validator.with_revocation(policy)).required();
    let [leaf, intermediates @ ..] = &party.identity.chain[..] else {
        panic!("a chain");
    };
    let name = ServerName::try_from("localhost").unwrap();
    let verify = |response: &[u8]| {
        verifier.verify_server_cert(leaf, intermediates, &name, response, UnixTime::now())
    };
    let good = ca.good(&party, DAY);
    verify(&good).unwrap();

    let mut forged = good;
    *forged.last_mut().unwrap() ^= 1;
    let now = SystemTime::now();
    let stale = Validity::new(now - 2 * DAY, now - DAY);
    let stale = ca.answer(&party, CertStatus::Good, stale);
    for response in [forged, stale] {
        let error = verify(&response).unwrap_err();
        assert_eq!(error, CertificateError::InvalidOcspResponse.into());
    }
}

#[test]
fn any_byte_changed() {
    let ca = Ca::new();
    let party = ca.server();
    let good = ca.good(&party, DAY);
    let [leaf, intermediates @ ..] = &party.identity.chain[..] else {
        panic!("a chain");
    };
    let verifier = ca.check(|check| check);
    let name = ServerName::try_from("localhost").unwrap();
    let verify = |response: &[u8]| {
        verifier.verify_server_cert(leaf, intermediates, &name, response, UnixTime::now())
    };
    verify(&good).unwrap();
    let identity = party.identity.checked();
    // Everything before the signature, and some bytes of the signature.
    let ends = (0..250).chain((250..good.len()).step_by(97));
    for at in ends.chain([good.len() - 1]) {
        for flip in [1, 0x80] {
            let mut changed = good.clone();
            changed[at] ^= flip;
            assert!(verify(&changed).is_err(), "{at}");
            assert!(identity.set_ocsp_response(&changed).is_err(), "{at}");
        }
    }
    for len in (1..good.len()).step_by(53) {
        assert!(verify(&good[..len]).is_err());
        assert!(identity.set_ocsp_response(&good[..len]).is_err());
    }
    assert!(verify(&[&good[..], &[0]].concat()).is_err());
}

/// A source is asked in time, and its response is sent if it is newer.
#[test]
fn a_source() {
    events::record();
    let ca = Ca::new();
    let party = ca.issue(CertificateBuilder::server().dns_name("source.test"));
    let identity = Arc::new(party.identity.checked());
    let identities = Identities::new(IdentitySet::new().with(identity.clone()));
    let shown = || identity.certified_key().ocsp.clone();
    let asked = AtomicUsize::new(0);
    let next = Mutex::new(Err("the responder is away"));
    let source = |chain: &[CertificateDer<'static>]| -> Result<Vec<u8>, &'static str> {
        assert_eq!(chain, party.identity.chain);
        asked.fetch_add(1, Ordering::Relaxed);
        next.lock().unwrap().clone()
    };
    let refresh = || identities.refresh_ocsp_responses(&source);
    let have = |response: &[u8]| *next.lock().unwrap() = Ok(response.to_vec());

    let pause = refresh();
    assert!((30..=60).contains(&pause.as_secs()), "{pause:?}");
    let warned = [
        "WARN",
        "no newer OCSP response",
        "the responder is away",
        "source.test",
    ];
    assert_eq!(events::lines(&warned).len(), 1);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // It is not asked before it is time.
    refresh();
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    // Another identity, for which it is asked at once.
    let again = || {
        let identity = Arc::new(party.identity.checked());
        identities.replace(IdentitySet::new().with(identity.clone()));
        identity
    };
    let (identity_of_four_seconds, first, pause) = loop {
        let identity = again();
        let start = Instant::now();
        let first = ca.good(&party, Duration::from_secs(4));
        have(&first);
        let pause = refresh();
        // Otherwise the machine was busy, and a part of the four seconds is over.
        if start.elapsed() < Duration::from_millis(900) {
            break (identity, first, pause);
        }
    };
    assert!((1..=2).contains(&pause.as_secs()), "{pause:?}");
    assert_eq!(
        identity_of_four_seconds.certified_key().ocsp.as_ref(),
        Some(&first)
    );
    assert_eq!(shown(), None);
    let before = asked.load(Ordering::Relaxed);
    thread::sleep(pause + Duration::from_secs(1));
    let second = ca.good(&party, DAY);
    have(&second);
    let pause = refresh();
    assert_eq!(asked.load(Ordering::Relaxed), before + 1);
    assert_eq!(
        identity_of_four_seconds.certified_key().ocsp.as_ref(),
        Some(&second)
    );
    let half = DAY.as_secs() / 2;
    assert!((half - 60..=half).contains(&pause.as_secs()), "{pause:?}");

    // A useless response counts as a failure.
    let identity = again();
    have(&ca.good(&ca.server(), DAY));
    refresh();
    assert_eq!(identity.certified_key().ocsp, None);
    assert_eq!(
        events::lines(&[
            "WARN",
            "no newer OCSP response",
            "about other certificates",
            "source.test"
        ])
        .len(),
        1
    );
    struct Panics;
    impl OcspSource for Panics {
        fn ocsp_response(
            &self,
            _: &[CertificateDer<'static>],
        ) -> Result<Vec<u8>, Box<dyn core::error::Error + Send + Sync>> {
            panic!("on purpose")
        }
    }
    again();
    identities.refresh_ocsp_responses(&Panics);
    assert_eq!(
        events::lines(&["WARN", "no newer OCSP response", "panicked", "source.test"]).len(),
        1
    );
}

/// What a source has replaces a current response only if it is newer; whether it was made earlier or at the same time
/// makes no difference, nor whether it lasts longer.
#[test]
fn a_source_with_older_ones() {
    let ca = Ca::new();
    let party = ca.server();
    let now = SystemTime::now();
    let hours = |hours: u32| hours * Duration::from_secs(60 * 60);
    let from = |ago: u32, long: u32| {
        let validity = Validity::starting(now - hours(ago), hours(long));
        ca.answer(&party, CertStatus::Good, validity)
    };
    let shown = from(2, 24);
    for (other, is_newer) in [
        (from(3, 100), false),
        (from(2, 100), false),
        (from(1, 2), true),
    ] {
        let identity = Arc::new(party.identity.checked());
        identity.set_ocsp_response(&shown).unwrap();
        let identities = Identities::new(IdentitySet::new().with(identity.clone()));
        let asked = AtomicUsize::new(0);
        identities.refresh_ocsp_responses(&|_: &[CertificateDer<'static>]| {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok::<_, &'static str>(other.clone())
        });
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        let expected = if is_newer { &other } else { &shown };
        assert_eq!(identity.certified_key().ocsp.as_ref(), Some(expected));
    }
}

/// A responder that learns of a revocation in the same second answers twice with one thisUpdate. What says revoked is
/// shown, whichever comes first, and good comes back only with a later time.
#[test]
fn a_source_that_says_revoked_at_the_same_time() {
    let ca = Ca::new();
    let party = ca.server();
    let now = SystemTime::now();
    let hour = Duration::from_secs(60 * 60);
    let revoked = CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000)),
        reason: CrlReason::Unspecified,
    };
    let from = |ago: u32, status| {
        ca.answer(
            &party,
            status,
            Validity::starting(now - ago * hour, 24 * hour),
        )
    };
    let [good, good_later] = [2, 1].map(|ago| from(ago, CertStatus::Good));
    let [revoked_before, revoked, revoked_longer] = [
        from(3, revoked),
        from(2, revoked),
        ca.answer(
            &party,
            revoked,
            Validity::starting(now - 2 * hour, 48 * hour),
        ),
    ];
    for (shown, other, is_taken) in [
        (&good, &revoked, true),
        (&revoked, &good, false),
        (&revoked, &revoked_longer, false),
        (&revoked, &good_later, true),
        (&good, &revoked_before, false),
    ] {
        let identity = Arc::new(party.identity.checked());
        identity.set_ocsp_response(shown).unwrap();
        let identities = Identities::new(IdentitySet::new().with(identity.clone()));
        identities.refresh_ocsp_responses(&|_: &[CertificateDer<'static>]| {
            Ok::<_, &'static str>(other.clone())
        });
        let expected = if is_taken { other } else { shown };
        assert_eq!(identity.certified_key().ocsp.as_ref(), Some(expected));
    }
}

/// Two identities: the response of one is of no use to the other.
#[test]
fn a_source_for_two() {
    let ca = Ca::new();
    let parties = [ca.server(), ca.server()];
    let responses = [0, 1].map(|at| ca.good(&parties[at], DAY));
    for is_exchanged in [false, true] {
        let both = [0, 1].map(|at| Arc::new(parties[at].identity.checked()));
        let identities = both.iter().fold(IdentitySet::new(), |set, identity| {
            set.with_default(identity.clone())
        });
        let source = |chain: &[CertificateDer<'static>]| {
            let is_second = chain[0] == parties[1].identity.chain[0];
            Ok::<_, &'static str>(responses[usize::from(is_second != is_exchanged)].clone())
        };
        Identities::new(identities).refresh_ocsp_responses(&source);
        for (identity, response) in both.iter().zip(&responses) {
            let expected = (!is_exchanged).then_some(response);
            assert_eq!(identity.certified_key().ocsp.as_ref(), expected);
        }
    }
}

/// The thread that watches the files asks it, for identities from files and for others.
#[test]
fn a_source_beside_files() {
    let ca = Ca::new();
    let files = Files::new("ocsp source");
    let [old, new, other] = [(); 3].map(|()| ca.server());
    files.put(&old.pair());
    let source = {
        let known = [&old, &new, &other].map(Party::certificate);
        move |chain: &[CertificateDer<'static>]| -> Result<Vec<u8>, &'static str> {
            let leaf = known.iter().find(|known| *known.der() == chain[0]);
            Ok(ca.good_of(leaf.ok_or("unknown")?, DAY))
        }
    };
    let pair = FilePair::new(&files.chain, &files.key).as_default();
    let watch = IdentityFiles::new(provider()).with_ocsp_source(source);
    assert!(format!("{watch:?}").contains("has_ocsp_source: true"));
    let (identities, _watcher) = watch.with_pair(pair).watch(OFTEN).unwrap();
    wait_until(|| shown_by(&identities, &old).is_some());
    files.put(&new.pair());
    wait_until(|| shown_by(&identities, &new).is_some());
    identities.update(|set| set.with(other.identity.checked()));
    wait_until(|| shown_by(&identities, &other).is_some());
}

#[test]
fn a_file_beside_the_chain() {
    events::record();
    let ca = Ca::new();
    let files = Files::new("ocsp");
    let [old, new] = [(); 2].map(|()| ca.server());
    let file = files.chain.with_extension("ocsp");
    let name = file.display().to_string();
    files.put(&old.pair());
    let pair = FilePair::new(&files.chain, &files.key).as_default();
    let load = || IdentityFiles::new(provider()).with_pair(pair.clone().with_ocsp_response(&file));
    let put = |response: &[u8]| {
        let elsewhere = file.with_extension("new");
        fs::write(&elsewhere, response).unwrap();
        fs::rename(&elsewhere, &file).unwrap();
    };

    // The file may be missing or useless.
    let first_shown = |set: &IdentitySet| {
        let identity = set.identities().next().unwrap();
        identity.certified_key().ocsp.clone()
    };
    assert_eq!(first_shown(&load().load().unwrap()), None);
    assert!(events::lines(&[&name]).is_empty());
    put(b"rubbish");
    assert_eq!(first_shown(&load().load().unwrap()), None);
    let refused = ["WARN", "OCSP response refused", &name];
    assert_eq!(events::lines(&refused).len(), 1);
    let first = ca.good(&old, DAY);
    put(&first);
    assert_eq!(first_shown(&load().load().unwrap()), Some(first.clone()));

    fs::remove_file(&file).unwrap();
    let (identities, watcher) = load().watch(OFTEN).unwrap();
    let shown = || first_shown(&identities.current());
    let before = identities.current().identities().next().unwrap().clone();
    assert_eq!(shown(), None);
    put(&first);
    wait_until(|| shown().as_ref() == Some(&first));
    let second = ca.good(&old, 2 * DAY);
    put(&second);
    wait_until(|| shown().as_ref() == Some(&second));

    // A useless response is reported once, and the previous one stays.
    let reports = || events::lines(&refused).len();
    let reported = reports();
    // A command that has failed leaves an empty file.
    put(b"");
    wait_until(|| reports() > reported || shown().is_none());
    assert_eq!(shown().as_ref(), Some(&second));
    let reported = reports();
    put(&ca.good(&new, DAY));
    events::wait_for(&["WARN", "is about other certificates", &name]);
    thread::sleep(20 * OFTEN);
    assert_eq!(reports(), reported + 1);
    assert_eq!(shown().as_ref(), Some(&second));
    // The identity has not changed.
    assert!(identities.current().contains(&before));

    // The response was for the next certificate, and is used together with it.
    files.put(&new.pair());
    wait_until(|| shown_by(&identities, &new).is_some());
    assert!(!identities.current().contains(&before));

    // `reload` takes it over at once.
    fs::remove_file(&file).unwrap();
    wait_until(|| shown().is_none());
    drop(watcher);
    let (identities, watcher) = load().watch(Duration::from_secs(3600)).unwrap();
    put(&ca.good(&new, DAY));
    thread::sleep(OFTEN);
    assert_eq!(shown_by(&identities, &new), None);
    watcher.reload();
    wait_until(|| shown_by(&identities, &new).is_some());
}

/// The thread that watches files survives panics in algorithms of others.
#[test]
fn an_algorithm_that_panics() {
    #[derive(Debug)]
    struct Panicking;

    static PANICS: AtomicBool = AtomicBool::new(true);

    impl SignatureVerificationAlgorithm for Panicking {
        fn verify_signature(&self, _: &[u8], _: &[u8], _: &[u8]) -> Result<(), InvalidSignature> {
            assert!(!PANICS.load(Ordering::SeqCst), "on purpose");
            Ok(())
        }

        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            alg_id::ECDSA_P256
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            alg_id::ECDSA_SHA256
        }
    }

    events::record();
    let provider = CryptoProvider {
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            all: &[&Panicking],
            mapping: &[],
        },
        ..(*provider()).clone()
    };
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let mut identity = Identity::issued_by(&root, leaf, &key);
    identity.chain.push(root.certificate().der().clone());
    let party = Party { identity };
    let response = |long| {
        let responder = OcspResponder::ca(&root);
        respond_of(
            &responder,
            &party.certificate(),
            CertStatus::Good,
            now_for(long),
        )
    };
    let files = Files::new("ocsp panics");
    files.put(&party.pair());
    let file = files.chain.with_extension("ocsp");
    fs::write(&file, response(DAY)).unwrap();
    let pair = FilePair::new(&files.chain, &files.key).as_default();
    let watch = IdentityFiles::new(provider.into()).with_pair(pair.with_ocsp_response(&file));
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();
    let name = file.display().to_string();
    events::wait_for(&["WARN", "algorithm of the provider panicked", &name]);
    assert_eq!(shown_by(&identities, &party), None);

    PANICS.store(false, Ordering::SeqCst);
    fs::write(&file, response(2 * DAY)).unwrap();
    wait_until(|| shown_by(&identities, &party).is_some());
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A CA below a root of its own.
struct Ca(Issuer<SigningKey>, Certificate);

/// A holder of a certificate from this CA.
struct Party {
    identity: Identity,
}

impl Party {
    fn certificate(&self) -> Certificate {
        Certificate::from_der(&self.identity.chain[0]).unwrap()
    }

    fn pair(&self) -> Pair {
        let chain = self.identity.chain.iter();
        let chain: Vec<_> = chain
            .map(|der| Certificate::from_der(der).unwrap())
            .collect();
        let key = SigningKey::from_pkcs8_der(self.identity.key.secret_der()).unwrap();
        Pair {
            chain: Certificate::chain_to_pem(&chain),
            key: key.to_pkcs8_pem().unwrap().to_string(),
        }
    }
}

impl Ca {
    fn new() -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
        let ca = root.issue_ca(CertificateBuilder::ca("CA"), key()).unwrap();
        Self(ca, root.certificate().clone())
    }

    fn server(&self) -> Party {
        self.issue(CertificateBuilder::server().dns_name("localhost"))
    }

    fn issue(&self, leaf: CertificateBuilder<EndEntity>) -> Party {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        self.party(Identity::issued_by(&self.0, leaf, &key))
    }

    fn party(&self, mut identity: Identity) -> Party {
        identity.chain.push(self.0.certificate().der().clone());
        Party { identity }
    }

    /// A certificate with TLS features: `status_request`, or others.
    fn must_staple(&self, status_request: bool) -> Party {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server();
        let leaf = leaf.dns_name("localhost").dns_name("must.test");
        let mut tbs = self.0.prepare(leaf, &key).unwrap();
        let features: &[u16] = match status_request {
            true => &[17, 5],
            false => &[17],
        };
        tbs.extensions.push(Extension {
            extn_id: ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.24"),
            critical: false,
            extn_value: OctetString::new(features.to_vec().to_der().unwrap()).unwrap(),
        });
        let leaf = tbs.sign(self.0.signer()).unwrap();
        self.party(Identity {
            chain: vec![leaf.into_der()],
            key: key.private_key(),
        })
    }

    /// A party of this CA whose certificate has the same serial number as a certificate of another CA.
    fn same_number(&self, other: &Party) -> Party {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = leaf.serial_number(other.certificate().serial_number());
        self.party(Identity::issued_by(&self.0, leaf, &key))
    }

    fn good(&self, party: &Party, long: Duration) -> Vec<u8> {
        self.answer(party, CertStatus::Good, now_for(long))
    }

    fn good_of(&self, leaf: &Certificate, long: Duration) -> Vec<u8> {
        let responder = OcspResponder::ca(&self.0);
        respond_of(&responder, leaf, CertStatus::Good, now_for(long))
    }

    fn answer(&self, party: &Party, status: CertStatus, validity: Validity) -> Vec<u8> {
        respond(&OcspResponder::ca(&self.0), party, status, validity)
    }

    fn webpki(&self) -> Arc<WebPkiServerVerifier> {
        webpki(slice::from_ref(&self.1))
    }

    fn check(&self, with: impl FnOnce(Check) -> Check) -> Check {
        check(slice::from_ref(&self.1), with)
    }

    /// A client that checks responses, and the results of the checks.
    fn client(&self, with: impl FnOnce(Check) -> Check) -> (Arc<ClientConfig>, Arc<Said>) {
        let said = Arc::new(Said::default());
        let verifier = self.check(with).reporting_to({
            let said = said.clone();
            move |outcome| {
                let outcome = outcome.map(<Option<&_>>::cloned).map_err(Clone::clone);
                said.lock().unwrap().push(outcome);
            }
        });
        (client_with(Arc::new(verifier)), said)
    }

    /// The outcome of a handshake with these bytes as the response, and the result of the check.
    fn serve(
        &self,
        party: &Party,
        response: &[u8],
        with: impl FnOnce(Check) -> Check,
    ) -> (Outcome, Result<Option<SingleResponse>, OcspRefusal>) {
        let Identity { chain, key } = party.identity.clone();
        let server = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert_with_ocsp(chain, key, response.to_vec())
            .unwrap();
        let (client, said) = self.client(with);
        let outcome = connect(&client, &server.into());
        (outcome, only(&said))
    }
}

type Check = CheckOcsp<WebPkiServerVerifier>;
type Said = Mutex<Vec<Result<Option<SingleResponse>, OcspRefusal>>>;

fn webpki(certificates: &[Certificate]) -> Arc<WebPkiServerVerifier> {
    let roots = roots(certificates.iter().map(|root| root.der().clone()));
    WebPkiServerVerifier::builder_with_provider(roots.into(), provider())
        .build()
        .unwrap()
}

fn check(certificates: &[Certificate], with: impl FnOnce(Check) -> Check) -> Check {
    let algorithms = provider().signature_verification_algorithms.all;
    let validator = ChainValidator::new(certificates.to_vec()).unwrap();
    let validator = validator.with_algorithms(algorithms);
    with(CheckOcsp::new(webpki(certificates), validator))
}

#[track_caller]
fn only(said: &Said) -> Result<Option<SingleResponse>, OcspRefusal> {
    let mut said = said.lock().unwrap();
    assert_eq!(said.len(), 1);
    said.remove(0)
}

fn respond(
    responder: &OcspResponder<impl Signer>,
    party: &Party,
    status: CertStatus,
    validity: Validity,
) -> Vec<u8> {
    respond_of(responder, &party.certificate(), status, validity)
}

fn respond_of(
    responder: &OcspResponder<impl Signer>,
    leaf: &Certificate,
    status: CertStatus,
    validity: Validity,
) -> Vec<u8> {
    let request = OcspRequest::builder().certificate(leaf, responder.issuer());
    let request = request.build().unwrap();
    let response = responder.respond(&request, SystemTime::now(), validity, |_| {
        Ok::<_, IssueError>(status)
    });
    response.unwrap().into_der()
}

/// A validity from now on, in whole seconds; the first second may have begun.
fn now_for(long: Duration) -> Validity {
    Validity::starting(SystemTime::now(), long)
}

fn server(identities: Arc<Identities>) -> Arc<ServerConfig> {
    ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(identities)
        .into()
}

fn client_with(verifier: Arc<dyn ServerCertVerifier>) -> Arc<ClientConfig> {
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth()
        .into()
}

#[track_caller]
fn assert_refused(outcome: &Outcome, error: CertificateError, alert: AlertDescription) {
    assert_eq!(outcome.client.result, Err(error.into()));
    assert_eq!(outcome.server.result, Err(Error::AlertReceived(alert)));
}

#[track_caller]
fn assert_refused_for_response(outcome: &Outcome) {
    let alert = AlertDescription::BadCertificateStatusResponse;
    assert_refused(outcome, CertificateError::InvalidOcspResponse, alert);
    let (client, server) = (&outcome.client.result, &outcome.server.result);
    let config = client_with(Ca::new().webpki());
    let refusal = Refusal::by_client(client.as_ref().unwrap_err(), &config);
    assert_eq!(refusal, Refusal::OcspResponse);
    assert!(refusal.to_string().contains("staple one"), "{refusal}");
    let identities = Arc::new(Identities::new(IdentitySet::new()));
    let config = self::server(identities);
    let told = Refusal::by_server(
        server.as_ref().unwrap_err(),
        &Offer::default(),
        &config,
        None,
    );
    assert_eq!(told, Refusal::CertificateRefused { alert });
    assert!(
        told.to_string().contains("the OCSP response beside it"),
        "{told}"
    );
}

fn shown_by(identities: &Identities, party: &Party) -> Option<Vec<u8>> {
    let set = identities.current();
    let mut shown = set.identities().map(|identity| identity.certified_key());
    shown
        .find(|shown| shown.cert == party.identity.chain)?
        .ocsp
        .clone()
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30));
        thread::sleep(OFTEN);
    }
}

/// Records what webpki gets.
#[derive(Debug)]
struct Recording {
    inner: Check,
    ocsp_response: Mutex<Option<Vec<u8>>>,
}

impl ServerCertVerifier for Recording {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.ocsp_response.lock().unwrap() = Some(ocsp_response.to_vec());
        self.inner
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    signatures_by!(inner);
}
