//! OCSP: the contents of requests and responses, who may answer, and how that makes chains invalid.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::ObjectIdentifier;
use der::{Decode, Encode};
use pq_x509::certificate::{Certificate, KeyUsages, SignatureError, Validity};
use pq_x509::issuing::{CertificateBuilder, EndEntity, IssueError, Issuer};
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::keys::{Signer, SigningKey};
use pq_x509::ocsp::{
    CertId, CertStatus, OcspDelegateError, OcspError, OcspExtensionError, OcspFailure, OcspHash,
    OcspNonce, OcspRequest, OcspRequestError, OcspResponder, OcspResponse, OcspResponseError,
    OcspVerifier, ResponderId,
};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason, RevocationPolicy};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use sha1::{Digest, Sha1};
use testing::spent::Spent;

use crate::pki::{Pki, days_from_now, key, set_usage, unix_days_from_now, validate_with};
use crate::quick::quick_algorithms;

const HASHES: [OcspHash; 4] = [
    OcspHash::Sha1,
    OcspHash::Sha256,
    OcspHash::Sha384,
    OcspHash::Sha512,
];

#[test]
fn a_request_says_what_was_asked() {
    let pki = Pki::new();
    let ca = pki.ca.certificate();
    let leaf = pki.leaf();
    for hash in HASHES {
        let nonce = OcspNonce::random().unwrap();
        let request = OcspRequest::builder()
            .certificate(&leaf, ca)
            .certificate(ca, pki.root.certificate())
            .hash(hash)
            .nonce(nonce.clone())
            .build()
            .unwrap();
        let read = OcspRequest::from_der(request.der()).unwrap();
        assert_eq!(read, request);
        assert_eq!(read.nonce(), Some(&nonce));
        assert_eq!(nonce.as_bytes().len(), 32);
        let [of_leaf, of_ca] = read.certificates() else {
            panic!("two certificates");
        };
        assert_eq!(of_leaf.hash(), Some(hash));
        assert_eq!(of_leaf.serial_number(), leaf.serial_number());
        assert!(of_leaf.is_of(&leaf, ca));
        assert!(of_ca.is_of(ca, pki.root.certificate()));
        assert!(!of_leaf.is_of(&pki.leaf(), ca));
        assert!(!of_leaf.is_of(&leaf, pki.root.certificate()));
        assert!(!of_leaf.is_by(pki.root.certificate()));
        // A CA with the same name and another key.
        let twin = Pki::new();
        assert!(!of_leaf.is_of(&leaf, twin.ca.certificate()));
        assert_eq!(*of_leaf, CertId::new(&leaf, ca, hash).unwrap());
    }
    let without_nonce = request(&leaf, ca);
    assert_eq!(without_nonce.nonce(), None);

    let error = OcspRequest::builder()
        .certificate(&leaf, pki.root.certificate())
        .build()
        .unwrap_err();
    assert!(
        matches!(&error, OcspRequestError::NotTheIssuer { named, given, .. }
            if named == "CN=CA" && given == "CN=Root"),
        "{error}"
    );
}

/// The encoding of RFC 6960 section 4.1.1 and RFC 9654, by hand.
#[test]
fn requests_are_as_the_standard_has_them() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
    let builder = CertificateBuilder::end_entity().common_name("a");
    let leaf = ca.issue(builder.serial_number(&[0x80, 1]), &key()).unwrap();
    let request = OcspRequest::builder()
        .certificate(&leaf, ca.certificate())
        .nonce(OcspNonce::new(&[7; 3]).unwrap())
        .build()
        .unwrap();
    let id = cert_id(ca.certificate(), &[0, 0x80, 1]);
    let nonce = nonce_extension(&[4, 3, 7, 7, 7]);
    let expected = tlv(
        0x30,
        &[&tlv(
            0x30,
            &[
                &tlv(0x30, &[&tlv(0x30, &[&id])]),
                &tlv(0xa2, &[&tlv(0x30, &[&nonce])]),
            ],
        )],
    );
    assert_eq!(request.der(), expected);
}

#[test]
fn malformed_requests() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    assert_eq!(
        OcspRequest::builder().build().unwrap_err(),
        OcspRequestError::Empty
    );
    let many = |count| {
        let builder = OcspRequest::builder();
        (0..count).fold(builder, |builder, _| builder.certificate(&leaf, ca))
    };
    assert_eq!(many(100).build().unwrap().certificates().len(), 100);
    assert_eq!(many(101).build(), Err(OcspRequestError::TooMany(101)));
    let thousand = many(1000).build();
    assert!(
        matches!(thousand, Err(OcspRequestError::TooLong(_))),
        "{thousand:?}"
    );

    let sound = request(&leaf, ca);
    let sound = sound.der();
    for len in 0..sound.len() {
        assert!(OcspRequest::from_der(&sound[..len]).is_err(), "{len}");
    }
    let longer = [sound, &[0]].concat();
    assert!(matches!(
        OcspRequest::from_der(&longer),
        Err(OcspRequestError::Der(_))
    ));
    // No change causes a panic.
    for at in 0..sound.len() {
        for bit in 0..8 {
            let mut changed = sound.to_vec();
            changed[at] ^= 1 << bit;
            let _ = OcspRequest::from_der(&changed);
        }
    }

    let id = cert_id(ca, leaf.serial_number());
    let with = |version: &[u8], single: &[u8], extensions: &[Vec<u8>]| {
        let list = tlv(0x30, &[&tlv(0x30, &[&id, single])]);
        let extensions = all_extensions(0xa2, extensions);
        OcspRequest::from_der(&tlv(0x30, &[&tlv(0x30, &[version, &list, &extensions])]))
    };
    assert!(with(&[], &[], &[]).is_ok());
    let version_2 = tlv(0xa0, &[&[2, 1, 1]]);
    assert_eq!(
        with(&version_2, &[], &[]),
        Err(OcspRequestError::Version(2))
    );
    let critical = all_extensions(0xa0, &[extension(UNKNOWN, true)]);
    assert_eq!(
        with(&[], &critical, &[]),
        Err(OcspRequestError::Extension(OcspExtensionError::Critical(
            UNKNOWN
        )))
    );
    for (extensions, expected) in [
        (
            vec![nonce_extension(&[4, 0])],
            Err(OcspRequestError::Nonce(OcspNonce::new(&[]).unwrap_err())),
        ),
        (
            vec![nonce_extension(&[&[4, 0x81, 129][..], &[1; 129]].concat())],
            Err(OcspRequestError::Nonce(
                OcspNonce::new(&[0; 129]).unwrap_err(),
            )),
        ),
        (
            vec![nonce_extension(&[&[4, 0x81, 128][..], &[1; 128]].concat())],
            Ok(128),
        ),
        (vec![nonce_extension(&[4, 1, 9])], Ok(1)),
        (
            vec![nonce_extension(&[4, 1, 9]); 2],
            Err(OcspRequestError::Extension(OcspExtensionError::Repeated(
                NONCE,
            ))),
        ),
        (
            vec![extension(UNKNOWN, true)],
            Err(OcspRequestError::Extension(OcspExtensionError::Critical(
                UNKNOWN,
            ))),
        ),
        (vec![extension(UNKNOWN, false)], Ok(0)),
    ] {
        let read = with(&[], &[], &extensions);
        let read = read.map(|request| request.nonce().map_or(0, |nonce| nonce.as_bytes().len()));
        assert_eq!(read, expected);
    }
    // A nonce without an OCTET STRING of its own.
    assert!(matches!(
        with(&[], &[], &[nonce_extension(&[1, 2, 3])]),
        Err(OcspRequestError::Syntax(SyntaxError::Form { .. }))
    ));
}

#[test]
fn a_request_that_is_signed_is_read() {
    let pki = Pki::new();
    let sound = request(&pki.leaf(), pki.ca.certificate());
    let list = tlv(0x30, &[&sound.der()[6..]]);
    let name = tlv(0xa1, &[&tlv(0x82, &[b"someone.example.org"])]);
    let signature = tlv(0xa0, &[&tlv(0x30, &[&[5, 0], &[3, 2, 0, 9]])]);
    let signed = tlv(0x30, &[&tlv(0x30, &[&name, &list]), &signature]);
    let read = OcspRequest::from_der(&signed).unwrap();
    assert_eq!(read.certificates(), sound.certificates());
}

#[test]
fn a_response_says_what_a_response_says() {
    let pki = Pki::new();
    let ca = pki.ca.certificate();
    let revoked = CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(1_500_000_000)),
        reason: CrlReason::KeyCompromise,
    };
    let unspecified = CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(4_000_000_000)),
        reason: CrlReason::Unspecified,
    };
    let statuses = [CertStatus::Good, revoked, unspecified, CertStatus::Unknown];
    let leaves = statuses.map(|_| pki.leaf());
    let builder = OcspRequest::builder().nonce(OcspNonce::new(&[1; 16]).unwrap());
    let builder = (leaves.iter()).fold(builder, |builder, leaf| builder.certificate(leaf, ca));
    // For another CA: the look-up must not be called.
    let request = builder
        .certificate(ca, pki.root.certificate())
        .build()
        .unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let validity = Validity::new(at(1_600_000_000), at(2_600_000_000));
    let mut left = statuses.iter();
    let mut numbers = Vec::new();
    let response = OcspResponder::ca(&pki.ca)
        .respond(&request, at(1_700_000_000), validity, |number| {
            numbers.push(number.to_vec());
            Ok::<_, IssueError>(*left.next().unwrap())
        })
        .unwrap();
    assert_eq!(
        numbers,
        leaves.each_ref().map(|leaf| leaf.serial_number().to_vec())
    );

    let read = OcspResponse::from_der(response.der()).unwrap();
    assert_eq!(read, response);
    assert_eq!(read.nonce(), request.nonce());
    assert_eq!(read.produced_at().as_secs(), 1_700_000_000);
    assert!(read.responder().is(ca));
    assert!(!read.responder().is(pki.root.certificate()));
    assert!(read.certificates().is_empty());
    assert_eq!(
        read.signature_algorithm().oid,
        pki.ca.signer().algorithm().oid()
    );
    let said: Vec<_> = read
        .answers()
        .iter()
        .map(|answer| answer.status())
        .collect();
    assert_eq!(said[..4], statuses);
    assert_eq!(said[4..], [CertStatus::Unknown]);
    for (answer, asked) in read.answers().iter().zip(request.certificates()) {
        assert_eq!(answer.certificate(), asked);
        assert_eq!(answer.this_update().as_secs(), 1_600_000_000);
        assert_eq!(
            answer.next_update().map(|time| time.as_secs()),
            Some(2_600_000_000)
        );
    }
    for (leaf, status) in leaves.iter().zip(statuses) {
        assert_eq!(
            read.answer_for(leaf, ca).map(|answer| answer.status()),
            Some(status)
        );
    }
    read.verify_signature(ca, &[]).unwrap();
    assert_eq!(
        read.verify_signature(pki.root.certificate(), &[]),
        Err(SignatureError::Invalid)
    );

    // removeFromCRL is not a status.
    let error = OcspResponder::ca(&pki.ca).respond(&request, at(1), validity, |_| {
        Ok::<_, IssueError>(CertStatus::Revoked {
            date: UnixTime::now(),
            reason: CrlReason::RemoveFromCRL,
        })
    });
    assert!(matches!(error, Err(IssueError::RemoveFromCompleteList)));
}

#[test]
fn responses_of_all_algorithms() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap();
        let builder = CertificateBuilder::end_entity().common_name("a");
        let leaf = ca.issue(builder, ca.signer()).unwrap();
        let response = answer(&OcspResponder::ca(&ca), &leaf, CertStatus::Good);
        let verifier = OcspVerifier::new(ca.certificate(), UnixTime::now());
        let verified = verifier.verify(&response, &leaf).unwrap();
        assert_eq!(verified.status(), CertStatus::Good);
        assert!(verified.delegate().is_none());
    }
}

#[test]
fn what_responders_say_instead_of_answers() {
    for (failure, status) in [
        (OcspFailure::MalformedRequest, 1),
        (OcspFailure::InternalError, 2),
        (OcspFailure::TryLater, 3),
        (OcspFailure::SigRequired, 5),
        (OcspFailure::Unauthorized, 6),
    ] {
        assert_eq!(failure.to_der(), [0x30, 3, 0x0a, 1, status]);
        assert_eq!(
            OcspResponse::from_der(&failure.to_der()),
            Err(OcspResponseError::Unsuccessful(failure))
        );
    }
    assert_eq!(
        OcspResponse::from_der(&[0x30, 3, 0x0a, 1, 0]),
        Err(OcspResponseError::WithoutAnswer)
    );
    for status in [4, 7, 255] {
        let error = OcspResponse::from_der(&[0x30, 3, 0x0a, 1, status]);
        let is_form = matches!(
            error,
            Err(OcspResponseError::Syntax(SyntaxError::Form { .. }))
        );
        assert!(is_form, "{status}");
    }
}

/// Even those of the delegate's certificate signature, which no other signature covers.
#[test]
fn every_byte_counts() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let delegate = delegate(&pki);
    for response in [
        answer(&OcspResponder::ca(&pki.ca), &leaf, CertStatus::Good),
        answer(&delegate, &leaf, CertStatus::Good),
    ] {
        let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
        let check = |der: &[u8]| match OcspResponse::from_der(der) {
            Ok(response) => verifier.verify(&response, &leaf).is_ok(),
            Err(_) => false,
        };
        let sound = response.der();
        assert!(check(sound));
        for at in 0..sound.len() {
            let mut changed = sound.to_vec();
            changed[at] ^= 1 << (at % 8);
            assert!(!check(&changed), "byte {at} of {}", sound.len());
        }
        for len in (0..sound.len()).step_by(7) {
            assert!(!check(&sound[..len]), "{len}");
        }
        assert!(!check(&[sound, &[0]].concat()));
    }
}

#[test]
fn whom_a_response_is_about() {
    let pki = Pki::new();
    let ca = pki.ca.certificate();
    let leaf = pki.leaf();
    let response = answer(&OcspResponder::ca(&pki.ca), &leaf, CertStatus::Good);
    let verify = |issuer: &Certificate, certificate: &Certificate| {
        let verifier = OcspVerifier::new(issuer, UnixTime::now());
        verifier
            .verify(&response, certificate)
            .map(|verified| verified.status())
    };
    assert_eq!(verify(ca, &leaf), Ok(CertStatus::Good));
    // another serial number, another issuer, and an issuer with the same name and another key
    assert_eq!(verify(ca, &pki.leaf()), Err(OcspError::NotAbout));
    assert_eq!(
        verify(pki.root.certificate(), &leaf),
        Err(OcspError::NotAbout)
    );
    let twin = Pki::new();
    assert_eq!(
        verify(twin.ca.certificate(), &leaf),
        Err(OcspError::NotAbout)
    );
    assert_eq!(verify(ca, ca), Err(OcspError::NotAbout));
}

#[test]
fn times() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let responder = OcspResponder::ca(&pki.ca);
    let request = request(&leaf, pki.ca.certificate());
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let unix = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let validity = Validity::new(at(2_000_000_000), at(2_000_000_010));
    let response = responder
        .respond(&request, at(1), validity, |_| {
            Ok::<_, IssueError>(CertStatus::Good)
        })
        .unwrap();
    let verify = |seconds| {
        let verifier = OcspVerifier::new(pki.ca.certificate(), unix(seconds));
        verifier
            .verify(&response, &leaf)
            .map(|verified| verified.status())
    };
    // The responder's clock may be five minutes ahead.
    assert_eq!(OcspVerifier::CLOCK_TOLERANCE.as_secs(), 300);
    assert_eq!(
        verify(1_999_999_699),
        Err(OcspError::NotYetCurrent {
            this_update: unix(2_000_000_000),
            time: unix(1_999_999_699)
        })
    );
    assert_eq!(verify(1_999_999_700), Ok(CertStatus::Good));
    // and the delegate's certificate may be as new as its answer
    let key = key();
    let certificate = CertificateBuilder::ocsp_responder()
        .common_name("OCSP")
        .validity(Validity::new(at(2_000_000_000), at(2_000_000_010)));
    let certificate = pki.ca.issue(certificate, &key).unwrap();
    let delegate = OcspResponder::delegate(pki.ca.certificate().clone(), certificate, key).unwrap();
    let by_delegate = delegate
        .respond(&request, at(1), validity, |_| {
            Ok::<_, IssueError>(CertStatus::Good)
        })
        .unwrap();
    let early = OcspVerifier::new(pki.ca.certificate(), unix(1_999_999_700));
    assert!(early.verify(&by_delegate, &leaf).is_ok());
    assert_eq!(verify(2_000_000_000), Ok(CertStatus::Good));
    assert_eq!(verify(2_000_000_010), Ok(CertStatus::Good));
    let stale = verify(2_000_000_011).unwrap_err();
    assert_eq!(
        stale,
        OcspError::Stale {
            next_update: unix(2_000_000_010),
            time: unix(2_000_000_011)
        }
    );
    assert_eq!(
        stale.to_string(),
        "was to be replaced at 2033-05-18T03:33:30Z, and it is 2033-05-18T03:33:31Z; get the newer one"
    );
}

#[test]
fn nonces() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let [mine, other] = [1, 2].map(|byte| OcspNonce::new(&[byte; 32]).unwrap());
    let responder = OcspResponder::ca(&pki.ca);
    let respond = |request: &OcspRequest| {
        let now = SystemTime::now();
        let good = |_: &[u8]| Ok::<_, IssueError>(CertStatus::Good);
        responder
            .respond(request, now, Validity::days(1), good)
            .unwrap()
    };
    let with = |nonce: &OcspNonce| {
        let request = OcspRequest::builder()
            .certificate(&leaf, ca)
            .nonce(nonce.clone());
        respond(&request.build().unwrap())
    };
    let verifier = OcspVerifier::new(ca, UnixTime::now()).with_nonce(&mine);
    assert!(verifier.verify(&with(&mine), &leaf).is_ok());
    let refused = |response: &OcspResponse| verifier.verify(response, &leaf).unwrap_err();
    assert_eq!(refused(&with(&other)), OcspError::NonceDiffers);
    assert_eq!(
        refused(&respond(&request(&leaf, ca))),
        OcspError::NonceMissing
    );
    // A verifier without a nonce accepts any.
    let verifier = OcspVerifier::new(ca, UnixTime::now());
    assert!(verifier.verify(&with(&other), &leaf).is_ok());

    let error = OcspNonce::new(&[0; 129]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an OCSP nonce has 1 to 128 bytes (RFC 9654 section 2.1), not 129"
    );
}

/// Without a nextUpdate, only a nonce shows how old a response is.
#[test]
fn a_response_without_an_end() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let nonce = OcspNonce::new(&[3; 32]).unwrap();
    let mut made = Made::of(&pki, &leaf);
    made.extensions = vec![nonce_extension(&[&[4, 32][..], &[3; 32]].concat())];
    let with_end = made.response(pki.ca.signer());
    made.answers = vec![made.answer(&leaf, GOOD, &[])];
    let without = made.response(pki.ca.signer());
    let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
    assert!(verifier.verify(&with_end, &leaf).is_ok());
    let error = verifier.verify(&without, &leaf).unwrap_err();
    assert_eq!(error, OcspError::NoNextUpdate);
    let verifier = verifier.with_nonce(&nonce);
    assert!(verifier.verify(&without, &leaf).is_ok());

    // The same applies when it is used to validate a chain.
    let validate = |nonce: Option<[u8; 32]>| {
        let mut validator = pki.validator().with_ocsp_responses([without.clone()]);
        if let Some(nonce) = nonce {
            validator = validator.with_ocsp_nonce(OcspNonce::new(&nonce).unwrap());
        }
        let chain = [leaf.clone(), pki.ca.certificate().clone()];
        let validated = validate_with(&validator, "example.org", &chain);
        validated.map(drop).map_err(|error| match error {
            ValidationError::OcspResponse { error, .. } => error,
            error => panic!("{error}"),
        })
    };
    assert_eq!(validate(Some([3; 32])), Ok(()));
    assert_eq!(validate(Some([4; 32])), Err(OcspError::NonceDiffers));
    assert_eq!(validate(None), Err(OcspError::NoNextUpdate));
}

/// A nonce keeps old responses from being sent again that say good. One that says revoked counts without.
#[test]
fn a_revocation_needs_no_nonce() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let by_ca = OcspResponder::ca(&pki.ca);
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    let [mine, other] = [1, 2].map(|byte| OcspNonce::new(&[byte; 32]).unwrap());
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 60 * 60);
    let respond = |status, nonce: Option<&OcspNonce>, days| {
        let mut request = OcspRequest::builder().certificate(&leaf, pki.ca.certificate());
        if let Some(nonce) = nonce {
            request = request.nonce(nonce.clone());
        }
        let from = now - day * days;
        let validity = Validity::new(from, from + day * 2);
        let response = by_ca.respond(&request.build().unwrap(), from, validity, |_| {
            Ok::<_, IssueError>(status)
        });
        response.unwrap()
    };
    let good = |nonce| respond(CertStatus::Good, nonce, 0);
    let validate = |responses: &[&OcspResponse]| {
        let policy = RevocationPolicy::without_lists().end_entity_only();
        let validator = pki
            .validator()
            .with_revocation(policy)
            .with_ocsp_responses(responses.iter().copied().cloned())
            .with_ocsp_nonce(mine.clone());
        validate_with(&validator, "example.org", &chain)
    };
    let [right, wrong, none] = [Some(&mine), Some(&other), None].map(good);
    assert_eq!(validate(&[&right]), Ok(3));
    for replayed in [&wrong, &none] {
        assert!(matches!(
            validate(&[replayed]),
            Err(ValidationError::OcspResponse {
                error: OcspError::NonceMissing | OcspError::NonceDiffers,
                ..
            })
        ));
    }
    for nonce in [Some(&mine), Some(&other), None] {
        // One day old, and expired for a day.
        for (days, is_taken_back) in [(1, false), (3, true)] {
            let says_revoked = respond(revoked, nonce, days);
            for others in [&[][..], &[&right], &[&wrong], &[&none]] {
                let mut responses = others.to_vec();
                responses.push(&says_revoked);
                match validate(&responses) {
                    // Only a good one with the nonce is newer in proof.
                    Ok(_) => assert!(is_taken_back && others == [&right]),
                    Err(error) => {
                        assert!(matches!(error, ValidationError::Revoked { .. }), "{error}");
                        assert!(!(is_taken_back && others == [&right]));
                    }
                }
            }
            let mut forged = says_revoked.der().to_vec();
            *forged.last_mut().unwrap() ^= 1;
            let forged = OcspResponse::from_der(&forged).unwrap();
            assert_eq!(validate(&[&right, &forged]), Ok(3));
        }
    }
}

#[test]
fn malformed_responses() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let sound = || Made::of(&pki, &leaf);
    let read = |change: &dyn Fn(&mut Made)| {
        let mut made = sound();
        change(&mut made);
        OcspResponse::from_der(&made.to_der(pki.ca.signer()))
    };
    assert!(read(&|_| {}).is_ok());
    let critical = || {
        Err(OcspResponseError::Extension(OcspExtensionError::Critical(
            UNKNOWN,
        )))
    };
    let ca = pki.ca.certificate();
    for (change, expected) in [
        (
            &(|made: &mut Made| made.version = tlv(0xa0, &[&[2, 1, 1]])) as &dyn Fn(&mut Made),
            Err(OcspResponseError::Version(2)),
        ),
        (
            &|made| made.answers = Vec::new(),
            Err(OcspResponseError::WithoutAnswer),
        ),
        (
            &|made| made.extensions = vec![extension(UNKNOWN, true)],
            critical(),
        ),
        (
            &|made| {
                let single = all_extensions(0xa1, &[extension(UNKNOWN, true)]);
                made.answers = vec![made.answer(&leaf, GOOD, &[&made.end(), &single])];
            },
            critical(),
        ),
        (
            &|made| made.extensions = vec![extension(UNKNOWN, false); 2],
            Err(OcspResponseError::Extension(OcspExtensionError::Repeated(
                UNKNOWN,
            ))),
        ),
        (
            &|made| made.extensions = vec![nonce_extension(&[4, 0])],
            Err(OcspResponseError::Nonce(OcspNonce::new(&[]).unwrap_err())),
        ),
        (
            &|made| made.certificates = vec![ca.der().to_vec(); 17],
            Err(OcspResponseError::TooManyCertificates(17)),
        ),
        (
            &|made| made.kind = UNKNOWN,
            Err(OcspResponseError::NotBasic(UNKNOWN)),
        ),
    ] {
        assert_eq!(read(change).map(drop), expected);
    }
    let malformed: [&dyn Fn(&mut Made); 5] = [
        &|made| made.certificates = vec![vec![0x30, 0]],
        // a hash that does not have SHA-1's length
        &|made| made.responder = tlv(0xa2, &[&tlv(4, &[&[1; 19]])]),
        &|made| made.responder = tlv(0xa3, &[&tlv(4, &[&[1; 20]])]),
        &|made| made.produced_at = tlv(0x17, &[b"260101000000Z"]),
        &|made| made.produced_at = tlv(0x18, &[b"20260101000000.5Z"]),
    ];
    for change in malformed {
        let error = read(change).unwrap_err();
        assert!(
            matches!(
                error,
                OcspResponseError::Der(_)
                    | OcspResponseError::Syntax(SyntaxError::Form { .. })
                    | OcspResponseError::Certificate(_)
            ),
            "{error}"
        );
    }
    let long = vec![0x30; 1024 * 1024 + 1];
    assert_eq!(
        OcspResponse::from_der(&long),
        Err(OcspResponseError::TooLong(long.len()))
    );
    // At the limits, these are no reasons.
    assert!(matches!(
        OcspResponse::from_der(&long[1..]),
        Err(OcspResponseError::Der(_))
    ));
    assert!(read(&|made| made.certificates = vec![ca.der().to_vec(); 16]).is_ok());
    let long = vec![0x30; 64 * 1024 + 1];
    assert_eq!(
        OcspRequest::from_der(&long),
        Err(OcspRequestError::TooLong(long.len()))
    );
    assert_ne!(
        OcspRequest::from_der(&long[1..]),
        Err(OcspRequestError::TooLong(long.len() - 1))
    );
}

/// Thousands of answers are read and searched quickly.
#[test]
fn many_answers() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let mut made = Made::of(&pki, &leaf);
    let answer = |number: u32| {
        let number = [&[1][..], &number.to_be_bytes()].concat();
        made.answer_by_id(
            &cert_id(pki.ca.certificate(), &number),
            GOOD,
            &[&made.end()],
        )
    };
    let mut answers: Vec<_> = (0..7_000).map(answer).collect();
    answers.append(&mut made.answers);
    made.answers = answers;
    let der = made.to_der(pki.ca.signer());
    let begun = Spent::now();
    let response = OcspResponse::from_der(&der).unwrap();
    let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
    assert!(verifier.verify(&response, &leaf).is_ok());
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
}

/// Whoever sends a response decides how many of its answers have the certificate's number.
#[test]
fn many_answers_about_one_number() {
    // A long name of the issuer, which is what the answers have a hash of.
    let units = format!("OU={}", "x".repeat(60));
    let name = vec![units; 30].join(",");
    let pki = Pki::with_ca(CertificateBuilder::ca("").subject(name.parse().unwrap()));
    let leaf = pki.leaf();
    let mut made = Made::of(&pki, &leaf);
    let answer = made.answers[0].clone();
    let revoked = made.answer(&leaf, &revoked(), &[&made.end()]);
    // The key of another issuer.
    let mut other = cert_id(pki.ca.certificate(), leaf.serial_number());
    other[40] ^= 1;
    let other = made.answer_by_id(&other, GOOD, &[&made.end()]);
    made.answers = [answer, other]
        .iter()
        .cycle()
        .take(7_000)
        .cloned()
        .collect();
    let validate = |response: &OcspResponse| {
        let validator = pki.validator().with_ocsp_responses([response.clone()]);
        validate_with(&validator, "example.org", &pki.chain(leaf.clone()))
    };
    let good = made.response(pki.ca.signer());
    made.answers.push(revoked);
    let revoked = made.response(pki.ca.signer());
    let begun = Spent::now();
    for _ in 0..20 {
        assert!(good.answer_for(&leaf, pki.ca.certificate()).is_some());
        assert_eq!(validate(&good), Ok(3));
        assert!(matches!(
            validate(&revoked),
            Err(ValidationError::Revoked { .. })
        ));
    }
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_responder_by_name_and_a_second_answer() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let mut made = Made::of(&pki, &leaf);
    let name = pki.ca.certificate().subject();
    made.responder = tlv(0xa1, &[&name.to_der().unwrap()]);
    let response = made.response(pki.ca.signer());
    assert_eq!(*response.responder(), ResponderId::Name(name.clone()));
    let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
    assert!(verifier.verify(&response, &leaf).is_ok());

    // In either order.
    let revoked = tlv(0xa1, &[&tlv(0x18, &[b"20260101000000Z"])]);
    let revoked = made.answer(&leaf, &revoked, &[&made.end()]);
    for at in [0, 1] {
        let mut both = Made::of(&pki, &leaf);
        both.answers.insert(at, revoked.clone());
        let response = both.response(pki.ca.signer());
        let verified = verifier.verify(&response, &leaf).unwrap();
        assert!(matches!(verified.status(), CertStatus::Revoked { .. }));
    }

    made.responder = tlv(0xa1, &[&pki.root.certificate().subject().to_der().unwrap()]);
    let response = made.response(pki.ca.signer());
    let error = verifier.verify(&response, &leaf);
    assert_eq!(
        error.unwrap_err(),
        OcspError::UnknownResponder("CN=Root".into())
    );
}

#[test]
fn delegates() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let now = UnixTime::now();
    let delegate = delegate(&pki);
    let response = answer(&delegate, &leaf, CertStatus::Good);
    let verify = |response: &OcspResponse, time| {
        let verifier = OcspVerifier::new(pki.ca.certificate(), time);
        let verified = verifier.verify(response, &leaf);
        verified.map(|verified| verified.delegate().map(Certificate::describe_subject))
    };
    assert_eq!(verify(&response, now), Ok(Some("CN=OCSP".into())));

    // Faults of the responder's certificate, from a CA that issues it nevertheless.
    let by = |certificate: Certificate, key: &SigningKey| {
        let mut made = Made::of(&pki, &leaf);
        made.responder = tlv(0xa1, &[&certificate.subject().to_der().unwrap()]);
        made.certificates = vec![certificate.der().to_vec()];
        made.response(key)
    };
    let key = key();
    let refused = |certificate: Certificate| match verify(&by(certificate, &key), now) {
        Err(OcspError::Delegate { subject, error }) => {
            assert_eq!(subject, "CN=OCSP");
            *error
        }
        other => panic!("{other:?}"),
    };
    let issue = |builder| pki.ca.issue(builder, &key).unwrap();
    assert!(verify(&by(issue(responder()), &key), now).is_ok());
    let purpose = CertificateBuilder::end_entity().common_name("OCSP");
    for builder in [purpose.clone(), purpose.server_auth().client_auth()] {
        assert_eq!(refused(issue(builder)), OcspDelegateError::WithoutPurpose);
    }
    assert_eq!(
        refused(pki.root.issue(responder(), &key).unwrap()),
        OcspDelegateError::AnotherIssuer("CN=Root".into())
    );
    // Another CA of the same name.
    let twin = Pki::new();
    assert_eq!(
        refused(twin.ca.issue(responder(), &key).unwrap()),
        OcspDelegateError::Signature(SignatureError::Invalid)
    );
    for (from, to) in [(-3, -2), (2, 3)] {
        let validity = Validity::new(days_from_now(from), days_from_now(to));
        assert_eq!(
            refused(issue(responder().validity(validity))),
            OcspDelegateError::Validity
        );
    }
    let mut tbs = pki.ca.prepare(responder(), &key).unwrap();
    set_usage(&mut tbs, KeyUsage(KeyUsages::KeyCertSign.into()));
    assert_eq!(
        refused(tbs.sign(pki.ca.signer()).unwrap()),
        OcspDelegateError::KeyUsage
    );
    let mut tbs = pki.ca.prepare(responder(), &key).unwrap();
    tbs.extensions
        .push(Extension::from_der(&extension(UNKNOWN, true)).unwrap());
    assert_eq!(
        refused(tbs.sign(pki.ca.signer()).unwrap()),
        OcspDelegateError::CriticalExtension(UNKNOWN)
    );
    // The responder's certificate is sound, but another key signed.
    let forged = by(issue(responder()), &crate::pki::key());
    assert_eq!(
        verify(&forged, now),
        Err(OcspError::Signature(SignatureError::Invalid))
    );
    // The responder's certificate is missing.
    let mut made = Made::of(&pki, &leaf);
    made.responder = tlv(0xa1, &[&tlv(0x30, &[])]);
    let error = verify(&made.response(&key), now);
    assert!(
        matches!(error, Err(OcspError::UnknownResponder(_))),
        "{error:?}"
    );

    // The sound certificate is found among others of the same name, up to a few.
    let unsound = issue(CertificateBuilder::end_entity().common_name("OCSP"));
    for (before, is_found) in [(3, true), (4, false)] {
        let mut made = Made::of(&pki, &leaf);
        made.responder = tlv(0xa1, &[&unsound.subject().to_der().unwrap()]);
        made.certificates = vec![unsound.der().to_vec(); before];
        made.certificates.push(issue(responder()).der().to_vec());
        assert_eq!(
            verify(&made.response(&key), now).is_ok(),
            is_found,
            "{before}"
        );
    }
}

#[test]
fn who_can_become_a_delegate() {
    let pki = Pki::new();
    let ca = pki.ca.certificate();
    let key = key();
    let made = |certificate, key: &SigningKey| {
        OcspResponder::delegate(ca.clone(), certificate, key.clone()).map(drop)
    };
    let certificate = pki.ca.issue(responder(), &key).unwrap();
    assert!(certificate.has_ocsp_nocheck());
    made(certificate.clone(), &key).unwrap();
    let error = made(certificate, &crate::pki::key()).unwrap_err();
    assert!(matches!(error, IssueError::WrongKey(_)), "{error}");
    for (certificate, expected) in [
        (pki.leaf(), OcspDelegateError::WithoutPurpose),
        (
            pki.root.issue(responder(), &key).unwrap(),
            OcspDelegateError::AnotherIssuer("CN=Root".into()),
        ),
    ] {
        assert!(!certificate.has_ocsp_nocheck() || certificate.issuer() != ca.subject());
        match made(certificate, &key) {
            Err(IssueError::OcspDelegate { error, .. }) => assert_eq!(error, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_responder_signs() {
    let pki = Pki::new();
    let no_signature = responder().key_usage(KeyUsages::CRLSign);
    let kem =
        pq_x509::keys::DecapsulationKey::generate(pq_x509::keys::KemAlgorithm::MlKem512).unwrap();
    for issued in [
        pki.ca.issue(no_signature, &pki.leaf_key),
        pki.ca.issue(responder(), &kem),
    ] {
        let error = issued.unwrap_err();
        assert!(
            matches!(
                &error,
                IssueError::OcspDelegate { subject, error: OcspDelegateError::KeyUsage }
                    if subject == "CN=OCSP"
            ),
            "{error}"
        );
    }
    let issued = pki.ca.issue(
        responder().key_usage(KeyUsages::NonRepudiation),
        &pki.leaf_key,
    );
    assert!(issued.is_ok());
}

#[test]
fn where_the_responder_is() {
    let pki = Pki::new();
    assert!(pki.leaf().ocsp_urls().is_empty());
    let url = "http://ocsp.example.org";
    let leaf = pki.issue(
        crate::pki::server()
            .ocsp_url(url)
            .ocsp_url("http://192.0.2.1/a"),
    );
    assert_eq!(leaf.ocsp_urls(), [url, "http://192.0.2.1/a"]);
    let extensions = leaf.parsed().tbs_certificate().extensions().unwrap();
    // id-pe-authorityInfoAccess { id-ad-ocsp, [6] }
    let access = extensions
        .iter()
        .find(|e| e.extn_id.to_string() == "1.3.6.1.5.5.7.1.1");
    let access = access.unwrap();
    assert!(!access.critical);
    let expected = [
        b"\x06\x08\x2b\x06\x01\x05\x05\x07\x30\x01\x86\x17",
        url.as_bytes(),
    ]
    .concat();
    let found = access.extn_value.as_bytes();
    assert!(found.windows(expected.len()).any(|part| part == expected));
    let bad = crate::pki::server().ocsp_url("https://ocsp.example.org");
    assert!(matches!(
        pki.ca.issue(bad, &pki.leaf_key),
        Err(IssueError::Name(_))
    ));
}

#[test]
fn chains_with_responses() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let by_ca = OcspResponder::ca(&pki.ca);
    let by_root = OcspResponder::ca(&pki.root);
    let revoked = CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(1_600_000_000)),
        reason: CrlReason::KeyCompromise,
    };
    let ca = pki.ca.certificate();
    let known = RevocationPolicy::without_lists();
    let validate = |validator: ChainValidator, responses: &[&OcspResponse]| {
        let validator = validator.with_ocsp_responses(responses.iter().map(|one| (*one).clone()));
        validate_with(&validator, "example.org", &chain)
    };
    let strict = || pki.validator().with_revocation(known.clone());
    let lenient = || {
        pki.validator()
            .with_revocation(known.clone().allow_unknown_status())
    };
    let leaf_only = || {
        pki.validator()
            .with_revocation(known.clone().end_entity_only())
    };
    let good = answer(&by_ca, &leaf, CertStatus::Good);
    let ca_good = answer(&by_root, ca, CertStatus::Good);
    let unknown_status = |subject: &str| {
        Err(ValidationError::UnknownRevocationStatus {
            subject: Some(subject.into()),
        })
    };

    assert_eq!(validate(strict(), &[]), unknown_status("CN=CA"));
    assert_eq!(
        validate(strict(), &[&ca_good]),
        unknown_status("example.org, 192.0.2.1")
    );
    assert_eq!(validate(strict(), &[&good, &ca_good]), Ok(3));
    assert_eq!(validate(leaf_only(), &[&good]), Ok(3));
    assert_eq!(validate(pki.validator(), &[&good]), Ok(3));
    assert_eq!(validate(lenient(), &[]), Ok(3));

    // The two methods in either order.
    let validator = pki.validator().with_ocsp_responses([good.clone()]);
    let validator = validator.with_revocation(known.clone().end_entity_only());
    assert_eq!(validate(validator, &[]), Ok(3));

    // Revoked, with the reason and the time, whatever other responses and the policy say.
    let bad = answer(&by_ca, &leaf, revoked);
    let ca_bad = answer(&by_root, ca, revoked);
    for validator in [pki.validator(), strict(), lenient(), leaf_only()] {
        for responses in [
            vec![&bad, &ca_good],
            vec![&good, &bad, &ca_good],
            vec![&bad, &good, &ca_good],
        ] {
            let error = validate(validator.clone(), &responses).unwrap_err();
            let ValidationError::Revoked {
                entry: Some(entry), ..
            } = &error
            else {
                panic!("{error}");
            };
            assert_eq!(entry.serial_number(), leaf.serial_number());
            assert_eq!(entry.reason(), CrlReason::KeyCompromise);
            assert_eq!(entry.date().as_secs(), 1_600_000_000);
            assert!(
                error
                    .to_string()
                    .contains("2020-09-13T12:26:40Z (keyCompromise)"),
                "{error}"
            );
        }
    }
    for validator in [pki.validator(), strict(), leaf_only()] {
        let result = validate(validator, &[&ca_bad, &good]);
        let is_of_ca = matches!(&result, Err(ValidationError::Revoked { subject, .. })
            if subject.as_deref() == Some("CN=CA"));
        assert!(is_of_ca, "{result:?}");
    }

    // Responses that can't be used.
    let unknown = answer(&by_ca, &leaf, CertStatus::Unknown);
    let unusable = |result: Result<usize, ValidationError>| match result {
        Err(ValidationError::OcspResponse { error, .. }) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        unusable(validate(leaf_only(), &[&unknown])),
        OcspError::UnknownCertificate
    );
    assert_eq!(validate(lenient(), &[&unknown]), Ok(3));
    // Which of two responses of one time is right is not known; see also the next test.
    let at_once = answer_at(&by_ca, &leaf, CertStatus::Good, days_from_now(-1));
    for both in [[&unknown, &at_once], [&at_once, &unknown]] {
        assert_eq!(
            unusable(validate(leaf_only(), &both)),
            OcspError::UnknownCertificate
        );
        assert_eq!(validate(lenient(), &both), Ok(3));
    }
    let forged = Made::of(&pki, &leaf).response(&key());
    let invalid = OcspError::Signature(SignatureError::Invalid);
    for validator in [pki.validator(), lenient(), leaf_only()] {
        assert_eq!(unusable(validate(validator.clone(), &[&forged])), invalid);
        assert_eq!(validate(validator, &[&forged, &good]), Ok(3));
    }
    // Only a few forgeries are verified.
    let many = vec![&forged; 4];
    assert_eq!(unusable(validate(leaf_only(), &many)), invalid);
    let many = vec![&forged; 5];
    assert_eq!(validate(leaf_only(), &many), Err(too_many()));
    let of_others = answer(&by_ca, &pki.leaf(), revoked);
    assert_eq!(validate(lenient(), &[&of_others]), Ok(3));
    assert_eq!(
        validate(leaf_only(), &[&of_others]),
        unknown_status("example.org, 192.0.2.1")
    );

    let later = leaf_only().with_ocsp_responses([good]);
    let result = later.validate(
        &chain,
        pq_x509::validation::Purpose::ServerAuth,
        None,
        unix_days_from_now(2),
    );
    let error = result.map(|_| 0);
    assert!(matches!(unusable(error), OcspError::Stale { .. }));
}

#[test]
fn responses_beside_lists() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let by_ca = OcspResponder::ca(&pki.ca);
    let list = |revoked: bool, validity| {
        let list = CertificateRevocationListBuilder::new(&[1]).validity(validity);
        let list = match revoked {
            true => list.revoke(
                leaf.serial_number(),
                days_from_now(-1),
                CrlReason::Superseded,
            ),
            false => list,
        };
        pki.ca.issue_revocation_list(list).unwrap()
    };
    let now = || Validity::days(1);
    let past = || Validity::new(days_from_now(-3), days_from_now(-2));
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    let stale = {
        let mut made = Made::of(&pki, &leaf);
        made.answers = vec![made.answer(
            &leaf,
            GOOD,
            &[&tlv(0xa0, &[&generalized("20200101000000Z")])],
        )];
        made.response(pki.ca.signer())
    };
    let validate = |list, response: Option<OcspResponse>| {
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki
            .validator()
            .with_revocation(policy)
            .with_ocsp_responses(response);
        match validate_with(&validator, "example.org", &chain) {
            Ok(_) => "good",
            Err(ValidationError::Revoked {
                entry: Some(entry), ..
            }) => match entry.reason() {
                CrlReason::Superseded => "revoked by the list",
                _ => "revoked by the response",
            },
            Err(ValidationError::RevocationListExpired { .. }) => "the list expired",
            Err(ValidationError::OcspResponse { .. }) => "the response is stale",
            Err(error) => panic!("{error}"),
        }
    };
    let good = || Some(answer(&by_ca, &leaf, CertStatus::Good));
    let bad = || Some(answer(&by_ca, &leaf, revoked));
    let stale = || Some(stale.clone());
    for (list, response, expected) in [
        (list(false, now()), None, "good"),
        (list(false, now()), good(), "good"),
        (list(false, now()), stale(), "good"),
        (list(false, now()), bad(), "revoked by the response"),
        (list(true, now()), None, "revoked by the list"),
        (list(true, now()), good(), "revoked by the list"),
        (list(true, now()), stale(), "revoked by the list"),
        (list(true, past()), good(), "good"),
        (list(false, past()), good(), "good"),
        (list(false, past()), bad(), "revoked by the response"),
        (list(false, past()), None, "the list expired"),
        (list(false, past()), stale(), "the list expired"),
    ] {
        assert_eq!(validate(list, response), expected);
    }
}

/// One responder doesn't know a certificate that another one calls good: only what was said later counts.
#[test]
fn good_and_unknown() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let by_ca = OcspResponder::ca(&pki.ca);
    let at = |status, days| answer_at(&by_ca, &leaf, status, days_from_now(days));
    let fixed = days_from_now(-2);
    let once = |status| answer_at(&by_ca, &leaf, status, fixed);
    let list = || {
        let list = CertificateRevocationListBuilder::new(&[1]);
        pki.ca.issue_revocation_list(list).unwrap()
    };
    let validate = |policy: RevocationPolicy, responses: &[OcspResponse]| {
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses(responses.iter().cloned());
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => true,
            Err(ValidationError::OcspResponse {
                error: OcspError::UnknownCertificate,
                ..
            }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    for (responses, is_good) in [
        (
            [at(CertStatus::Good, -3), at(CertStatus::Unknown, -2)],
            false,
        ),
        ([once(CertStatus::Good), once(CertStatus::Unknown)], false),
        (
            [at(CertStatus::Good, -2), at(CertStatus::Unknown, -3)],
            true,
        ),
    ] {
        let [one, two] = responses;
        for responses in [[one.clone(), two.clone()], [two, one]] {
            let none = RevocationPolicy::without_lists();
            assert_eq!(validate(none.clone(), &responses), is_good);
            assert!(validate(none.allow_unknown_status(), &responses));
            // RFC 6960 section 2.2: a list is another source.
            let policy = RevocationPolicy::new([list()]).unwrap();
            assert!(validate(policy, &responses));
        }
    }
}

/// Reasons that RFC 5280 doesn't define revoke, too.
#[test]
fn unknown_reasons_of_responses() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    for (code, expected) in [
        (1, CrlReason::KeyCompromise),
        (7, CrlReason::Unspecified),
        (99, CrlReason::Unspecified),
    ] {
        let mut made = Made::of(&pki, &leaf);
        let status = [
            generalized("20191231000000Z"),
            tlv(0xa0, &[&tlv(0x0a, &[&[code]])]),
        ];
        let status = tlv(0xa1, &[&status.concat()]);
        made.answers = vec![made.answer(&leaf, &status, &[&made.end()])];
        let validator = pki
            .validator()
            .with_ocsp_responses([made.response(pki.ca.signer())]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert!(
            matches!(&result, Err(ValidationError::Revoked { entry: Some(entry), .. })
                if entry.reason() == expected),
            "{result:?}"
        );
    }
}

/// A response that is not yet valid says nothing good, but may say that the certificate was revoked by now.
#[test]
fn responses_that_are_not_yet_valid() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let by_ca = OcspResponder::ca(&pki.ca);
    let revoked = |days| CertStatus::Revoked {
        date: unix_days_from_now(days),
        reason: CrlReason::KeyCompromise,
    };
    let good = answer(&by_ca, &leaf, CertStatus::Good);
    let later = |status| answer_at(&by_ca, &leaf, status, days_from_now(2));
    let validate = |responses: Vec<OcspResponse>| {
        let policy = RevocationPolicy::without_lists().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let validator = validator.with_ocsp_responses(responses);
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => "good",
            Err(ValidationError::Revoked { .. }) => "revoked",
            Err(ValidationError::OcspResponse {
                error: OcspError::NotYetCurrent { .. },
                ..
            }) => "not yet valid",
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(validate(vec![later(CertStatus::Good)]), "not yet valid");
    assert_eq!(validate(vec![later(revoked(-1))]), "revoked");
    assert_eq!(validate(vec![good.clone(), later(revoked(-1))]), "revoked");
    assert_eq!(validate(vec![good, later(revoked(1))]), "good");
}

/// The peer chooses the responses that come with a chain. They must not keep the other responses from being checked.
#[test]
fn forgeries_do_not_hide_that_a_certificate_was_revoked() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let by_ca = OcspResponder::ca(&pki.ca);
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    let bad = answer(&by_ca, &leaf, revoked);
    let good = answer(&by_ca, &leaf, CertStatus::Good);
    let of_others = answer(&by_ca, &pki.leaf(), CertStatus::Good);
    let forged = Made::of(&pki, &leaf).response(&key());
    let list = CertificateRevocationListBuilder::new(&[1]);
    let list = pki.ca.issue_revocation_list(list).unwrap();
    let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
    let validator = pki.validator().with_revocation(policy);
    let validate = |last: &[&OcspResponse], forgeries| {
        let responses = vec![&forged; forgeries];
        let responses = responses.iter().chain(last).map(|one| (*one).clone());
        let validator = validator.clone().with_ocsp_responses(responses);
        validate_with(&validator, "example.org", &pki.chain(leaf.clone()))
    };
    let result = validate(&[&bad], 3);
    assert!(
        matches!(result, Err(ValidationError::Revoked { .. })),
        "{result:?}"
    );
    assert_eq!(validate(&[&bad], 4), Err(too_many()));
    // The good response comes first, and there is a good list, too.
    let validator = validator.clone().with_ocsp_responses([good]);
    let responses = vec![forged.clone(); 4];
    let validator = validator
        .with_ocsp_responses(responses)
        .with_ocsp_responses([bad]);
    let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
    assert_eq!(result, Err(too_many()));
    // Nothing is left to be verified.
    assert_eq!(validate(&[&of_others], 4), Ok(3));
}

/// The sender decides how many signatures a response contains.
#[test]
fn every_signature_that_is_invalid_counts() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let key = key();
    // The first certificate is refused for another reason.
    let unsound = CertificateBuilder::end_entity().common_name("OCSP");
    let unsound = pki.ca.issue(unsound, &key).unwrap();
    let forged = Pki::new().ca.issue(responder(), &key).unwrap();
    let mut made = Made::of(&pki, &leaf);
    made.responder = tlv(0xa1, &[&unsound.subject().to_der().unwrap()]);
    made.certificates = vec![forged.der().to_vec(); 3];
    made.certificates.insert(0, unsound.der().to_vec());
    let response = made.response(&key);
    let validate = |count| {
        let validator = pki.validator();
        let validator = validator.with_ocsp_responses(vec![response.clone(); count]);
        validate_with(&validator, "example.org", &pki.chain(leaf.clone())).unwrap_err()
    };
    assert!(matches!(
        validate(2),
        ValidationError::OcspResponse {
            error: OcspError::Delegate { error, .. },
            ..
        } if *error == OcspDelegateError::WithoutPurpose
    ));
    assert_eq!(validate(3), too_many());
}

/// An expired list still counts if a response is older than the list.
#[test]
fn an_older_response_does_not_hide_what_an_expired_list_says() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let list = |number: &[u8]| {
        let list = CertificateRevocationListBuilder::new(&[1])
            .validity(Validity::new(days_from_now(-3), days_from_now(-2)))
            .revoke(number, days_from_now(-4), CrlReason::Superseded);
        pki.ca.issue_revocation_list(list).unwrap()
    };
    // From 2020, and valid until 2100.
    let older = Made::of(&pki, &leaf).response(pki.ca.signer());
    let newer = answer(&OcspResponder::ca(&pki.ca), &leaf, CertStatus::Good);
    let validate = |number: &[u8], responses: Vec<&OcspResponse>| {
        let policy = RevocationPolicy::new([list(number)]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses(responses.into_iter().cloned());
        validate_with(&validator, "example.org", &chain)
    };
    let result = validate(leaf.serial_number(), vec![&older]);
    assert!(
        matches!(&result, Err(ValidationError::Revoked { entry: Some(entry), .. })
            if entry.reason() == CrlReason::Superseded),
        "{result:?}"
    );
    // The certificate may have been on hold.
    assert_eq!(validate(leaf.serial_number(), vec![&newer]), Ok(3));
    for responses in [vec![&older, &newer], vec![&newer, &older]] {
        assert_eq!(validate(leaf.serial_number(), responses), Ok(3));
    }
    assert_eq!(validate(&[0x7f], vec![&older]), Ok(3));
}

/// Keeping newer responses away, or having an older one, does not get a revoked certificate accepted.
#[test]
fn a_revocation_outlives_the_response_that_says_so() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let by_ca = OcspResponder::ca(&pki.ca);
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    // one fixed time, so that two responses can be equally old
    let now = SystemTime::now();
    let days = |days: i64| {
        let long = Duration::from_secs(days.unsigned_abs() * 24 * 60 * 60);
        if days < 0 { now - long } else { now + long }
    };
    let respond = |status, from, to| {
        let validity = Validity::new(days(from), days(to));
        let request = request(&leaf, pki.ca.certificate());
        let response = by_ca.respond(&request, days(from), validity, |_| {
            Ok::<_, IssueError>(status)
        });
        response.unwrap()
    };
    let list = |from| {
        let validity = Validity::new(days(from), days(1));
        let list = CertificateRevocationListBuilder::new(&[1]).validity(validity);
        pki.ca.issue_revocation_list(list).unwrap()
    };
    let once_revoked = respond(revoked, -3, -2);
    let older = respond(CertStatus::Good, -4, 1);
    let as_old = respond(CertStatus::Good, -3, 1);
    let newer = respond(CertStatus::Good, -1, 1);
    let newer_and_stale = respond(CertStatus::Good, -2, -1);
    let mut forged = once_revoked.der().to_vec();
    *forged.last_mut().unwrap() ^= 1;
    let forged = OcspResponse::from_der(&forged).unwrap();

    let lists = |lists: Vec<_>| match lists.is_empty() {
        true => RevocationPolicy::without_lists(),
        false => RevocationPolicy::new(lists).unwrap(),
    };
    let is_revoked = |policy: RevocationPolicy, responses: &[&OcspResponse]| {
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses(responses.iter().map(|one| (*one).clone()));
        match validate_with(&validator, "example.org", &chain) {
            Ok(_) => false,
            Err(ValidationError::Revoked { .. }) => true,
            Err(error) => panic!("{error}"),
        }
    };
    // From a delegate whose certificate is newer than thisUpdate, as for delegates that answer from a list.
    let key = key();
    let certificate = responder().validity(Validity::new(days(-3), days(1)));
    let certificate = pki.ca.issue(certificate, &key).unwrap();
    let by_delegate =
        OcspResponder::delegate(pki.ca.certificate().clone(), certificate, key).unwrap();
    let by_delegate = by_delegate.respond(
        &request(&leaf, pki.ca.certificate()),
        days(-3),
        Validity::new(days(-4), days(-2)),
        |_| Ok::<_, IssueError>(revoked),
    );
    let by_delegate = by_delegate.unwrap();
    let oldest = respond(CertStatus::Good, -5, 1);
    for (responses, expected) in [
        (vec![&once_revoked], true),
        (vec![&oldest, &by_delegate], true),
        (vec![&older, &once_revoked], true),
        (vec![&once_revoked, &older], true),
        (vec![&once_revoked, &as_old], true),
        (vec![&once_revoked, &newer_and_stale], true),
        // The certificate was on hold.
        (vec![&once_revoked, &newer], false),
        (vec![&newer, &once_revoked, &older], false),
        (vec![&forged, &older], false),
    ] {
        assert_eq!(is_revoked(lists(vec![]), &responses), expected);
        let lenient = lists(vec![]).allow_unknown_status();
        assert_eq!(is_revoked(lenient, &responses), expected);
        assert_eq!(is_revoked(lists(vec![list(-5)]), &responses), expected);
        assert!(!is_revoked(lists(vec![list(-1)]), &responses));
    }

    // From 2020, without an end.
    let mut endless = Made::of(&pki, &leaf);
    let status = tlv(0xa1, &[&generalized("20191231000000Z")]);
    endless.answers = vec![endless.answer(&leaf, &status, &[])];
    let endless = endless.response(pki.ca.signer());
    let before = respond(CertStatus::Good, -4000, 1);
    assert!(is_revoked(lists(vec![]), &[&before, &endless]));
    assert!(!is_revoked(lists(vec![]), &[&newer, &endless]));

    // An expired list has the same effect.
    let expired = CertificateRevocationListBuilder::new(&[1])
        .validity(Validity::new(days(-3), days(-2)))
        .revoke(leaf.serial_number(), days(-3), CrlReason::Superseded);
    let expired = pki.ca.issue_revocation_list(expired).unwrap();
    assert!(is_revoked(lists(vec![expired.clone()]), &[&as_old]));
    assert!(!is_revoked(lists(vec![expired]), &[&newer]));
}

/// RFC 6960 section 4.2.2.2.1: a responder may itself be revoked.
#[test]
fn delegates_that_are_to_be_checked() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let key = key();
    let mut tbs = pki.ca.prepare(responder(), &key).unwrap();
    tbs.remove_extension(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.5"));
    let certificate = tbs.sign(pki.ca.signer()).unwrap();
    let ca = pki.ca.certificate().clone();
    let delegate = OcspResponder::delegate(ca, certificate.clone(), &key).unwrap();
    let response = answer(&delegate, &leaf, CertStatus::Good);
    let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
    let verified = verifier.verify(&response, &leaf).unwrap();
    assert_eq!(verified.unchecked_delegate(), Some(&certificate));

    let validate = |policy: RevocationPolicy| {
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses([response.clone()]);
        validate_with(&validator, "example.org", &chain).map(drop)
    };
    let refused = |error| {
        Err(ValidationError::OcspResponse {
            subject: leaf.describe_subject(),
            error: OcspError::Delegate {
                subject: "CN=OCSP".into(),
                error: Box::new(error),
            },
        })
    };
    let none = RevocationPolicy::without_lists();
    assert_eq!(
        validate(none.clone()),
        refused(OcspDelegateError::UnknownStatus)
    );
    assert_eq!(validate(none.clone().allow_unknown_status()), Ok(()));

    // What it says beside the CA itself, which says good.
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    let good = answer(&OcspResponder::ca(&pki.ca), &leaf, CertStatus::Good);
    for (status, is_good) in [
        (CertStatus::Good, true),
        (CertStatus::Unknown, true),
        (revoked, false),
    ] {
        let by_delegate = answer(&delegate, &leaf, status);
        for responses in [[&by_delegate, &good], [&good, &by_delegate]] {
            let validator = pki
                .validator()
                .with_revocation(none.clone().end_entity_only())
                .with_ocsp_responses(responses.map(Clone::clone));
            match validate_with(&validator, "example.org", &chain) {
                Ok(_) => assert!(is_good, "{status:?}"),
                Err(ValidationError::Revoked { .. }) => assert!(!is_good, "{status:?}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A delegate of a short life: for as long as a response is current, what it said while its certificate was valid
/// revokes, and says nothing else any more.
#[test]
fn a_revocation_outlives_the_delegates_certificate() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let key = key();
    let certificate = responder().validity(Validity::new(days_from_now(-3), days_from_now(-1)));
    let certificate = pki.ca.issue(certificate, &key).unwrap();
    let delegate = OcspResponder::delegate(ca.clone(), certificate, key).unwrap();
    let by_delegate = |status, from, to| {
        let validity = Validity::new(days_from_now(from), days_from_now(to));
        let answer = |_: &[u8]| Ok::<_, IssueError>(status);
        delegate
            .respond(&request(&leaf, ca), days_from_now(from), validity, answer)
            .unwrap()
    };
    let list = |from| {
        let validity = Validity::new(days_from_now(from), days_from_now(9));
        let list = CertificateRevocationListBuilder::new(&[1]).validity(validity);
        RevocationPolicy::new([pki.ca.issue_revocation_list(list).unwrap()]).unwrap()
    };
    let by_ca = OcspResponder::ca(&pki.ca);
    let good = |from| answer_at(&by_ca, &leaf, CertStatus::Good, days_from_now(from));
    let verdict = |policy: RevocationPolicy, responses: Vec<OcspResponse>| {
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses(responses);
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => "good",
            Err(ValidationError::Revoked { .. }) => "revoked",
            Err(ValidationError::OcspResponse {
                error: OcspError::Delegate { error, .. },
                ..
            }) if *error == OcspDelegateError::Validity => "expired delegate",
            Err(ValidationError::OcspResponse {
                error: OcspError::Stale { .. },
                ..
            }) => "stale",
            Err(error) => panic!("{error}"),
        }
    };
    let revoked = CertStatus::Revoked {
        date: unix_days_from_now(-2),
        reason: CrlReason::KeyCompromise,
    };
    // What it said from when to when; alone, and beside what is good and older, and newer.
    for (status, from, to, expected) in [
        (revoked, -2, 5, ["revoked"; 3]),
        // What has expired is taken back.
        (revoked, -2, -1, ["revoked", "revoked", "good"]),
        // It was no delegate any more, or not yet.
        (revoked, 0, 5, ["expired delegate", "good", "good"]),
        (revoked, -5, 5, ["expired delegate", "good", "good"]),
        (
            CertStatus::Good,
            -2,
            5,
            ["expired delegate", "good", "good"],
        ),
        (
            CertStatus::Unknown,
            -2,
            5,
            ["expired delegate", "good", "good"],
        ),
        (CertStatus::Good, -2, -1, ["stale", "good", "good"]),
    ] {
        let response = by_delegate(status, from, to);
        let none = RevocationPolicy::without_lists;
        let said = [
            verdict(none(), vec![response.clone()]),
            verdict(list(-6), vec![response.clone()]),
            verdict(list(0), vec![response.clone()]),
        ];
        assert_eq!(said, expected, "{status:?} {from} {to}");
        let [_, older, newer] = expected;
        for (days, expected) in [(-6, older), (0, newer)] {
            for responses in [
                vec![response.clone(), good(days)],
                vec![good(days), response.clone()],
            ] {
                assert_eq!(
                    verdict(none(), responses),
                    expected,
                    "{status:?} {from} {to}"
                );
            }
        }
    }
}

/// If the peer could choose a certificate of the CA that may not sign lists, it would choose that there are none.
#[test]
fn a_list_revokes_though_its_ca_may_not_sign_it() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let good = answer(&OcspResponder::ca(&pki.ca), &leaf, CertStatus::Good);
    let may_not = pki.altered_ca(|tbs| set_usage(tbs, KeyUsage(KeyUsages::KeyCertSign.into())));
    let may = pki.ca.certificate();
    for is_revoked in [true, false] {
        let number = match is_revoked {
            true => leaf.serial_number(),
            false => &[0x7f],
        };
        let list = CertificateRevocationListBuilder::new(&[1]);
        let list = list.revoke(number, days_from_now(-1), CrlReason::KeyCompromise);
        let list = pki.ca.issue_revocation_list(list).unwrap();
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        for cas in [vec![&may_not], vec![&may_not, may], vec![may, &may_not]] {
            let chain = [&leaf].into_iter().chain(cas).cloned();
            let chain: Vec<_> = chain.collect();
            for (responses, is_known) in [(vec![good.clone()], true), (vec![], chain.len() > 2)] {
                let validator = validator.clone().with_ocsp_responses(responses);
                match validate_with(&validator, "example.org", &chain) {
                    Ok(_) => assert!(!is_revoked && is_known),
                    Err(ValidationError::Revoked { .. }) => assert!(is_revoked),
                    // It says nothing good.
                    Err(ValidationError::KeyUsage { .. }) => assert!(!is_revoked && !is_known),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// A responder whose algorithm is missing here may have revoked the certificate.
#[test]
fn responses_that_nobody_can_verify() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let key = key();
    let certificate = pki.ca.issue(responder(), &key).unwrap();
    let number = certificate.serial_number().to_vec();
    let delegate = OcspResponder::delegate(ca.clone(), certificate, key).unwrap();
    let by_ca = OcspResponder::ca(&pki.ca);
    let revoked = CertStatus::Revoked {
        date: unix_days_from_now(-2),
        reason: CrlReason::KeyCompromise,
    };
    let list = |from, revoked: &[u8]| {
        let list = CertificateRevocationListBuilder::new(&[1])
            .validity(Validity::new(days_from_now(from), days_from_now(9)))
            .revoke(revoked, days_from_now(-9), CrlReason::KeyCompromise);
        pki.ca.issue_revocation_list(list).unwrap()
    };
    let verdict = |list, responses: Vec<OcspResponse>| {
        let policy = RevocationPolicy::new([list]).unwrap();
        let policy = policy.end_entity_only().allow_unknown_status();
        let validator = pki.validator().with_revocation(policy);
        let validator = validator.with_ocsp_responses(responses);
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => "good",
            Err(ValidationError::Revoked { .. }) => "revoked",
            Err(ValidationError::OcspResponse {
                error:
                    OcspError::Signature(
                        SignatureError::UnsupportedAlgorithm(_)
                        | SignatureError::AlgorithmMismatch { .. },
                    ),
                ..
            }) => "not verified",
            Err(error) => panic!("{error}"),
        }
    };
    // Of ML-DSA-44, an algorithm that nobody knows, and ML-DSA-65.
    let oid = |last| [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last];
    for last in [0x7f, 0x12] {
        let strange = |response: OcspResponse| {
            let der = replaced(response.der(), &oid(0x11), &oid(last));
            OcspResponse::from_der(&der).unwrap()
        };
        let from = days_from_now(-3);
        for response in [
            answer_at(&by_ca, &leaf, revoked, from),
            answer_at(&delegate, &leaf, revoked, from),
        ] {
            let strange = strange(response.clone());
            assert_eq!(
                verdict(list(-4, &[7]), vec![strange.clone()]),
                "not verified"
            );
            // Current ones are not taken back.
            assert_eq!(
                verdict(list(-2, &[7]), vec![strange.clone()]),
                "not verified"
            );
            // A revocation says more.
            let both = vec![strange.clone(), response];
            assert_eq!(verdict(list(-4, &[7]), both), "revoked");
        }
        let made_long_ago = strange(answer_at(&by_ca, &leaf, revoked, days_from_now(-30)));
        for (days, expected) in [(-31, "not verified"), (-29, "good")] {
            assert_eq!(
                verdict(list(days, &[7]), vec![made_long_ago.clone()]),
                expected
            );
        }
        // What doesn't revoke says nothing, and nor does a delegate that is revoked itself.
        for status in [CertStatus::Good, CertStatus::Unknown] {
            let response = strange(answer_at(&by_ca, &leaf, status, from));
            assert_eq!(verdict(list(-4, &[7]), vec![response]), "good");
        }
        let response = strange(answer_at(&delegate, &leaf, revoked, from));
        assert_eq!(verdict(list(-4, &number), vec![response]), "good");
    }
}

/// A list says whether the responder itself was revoked.
#[test]
fn a_response_of_a_revoked_delegate_revokes_nothing() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let key = key();
    let mut tbs = pki.ca.prepare(responder(), &key).unwrap();
    tbs.remove_extension(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.5"));
    let certificate = tbs.sign(pki.ca.signer()).unwrap();
    let number = certificate.serial_number().to_vec();
    let ca = pki.ca.certificate().clone();
    let delegate = OcspResponder::delegate(ca, certificate, &key).unwrap();
    let revoked = CertStatus::Revoked {
        date: UnixTime::now(),
        reason: CrlReason::KeyCompromise,
    };
    let response = answer(&delegate, &leaf, revoked);
    for (is_delegate_revoked, expected) in [(false, false), (true, true)] {
        let list = CertificateRevocationListBuilder::new(&[1]);
        let list = match is_delegate_revoked {
            true => list.revoke(&number, days_from_now(-1), CrlReason::KeyCompromise),
            false => list,
        };
        let list = pki.ca.issue_revocation_list(list).unwrap();
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let validator = validator.with_ocsp_responses([response.clone()]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), expected);
    }
}

/// RFC 6960 section 4.2.2.2.1: nothing has to say that such a delegate is not revoked. A list that is at hand counts.
#[test]
fn a_list_has_a_delegate_that_nobody_has_to_check() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let key = key();
    let certificate = pki.ca.issue(responder(), &key).unwrap();
    assert!(certificate.has_ocsp_nocheck());
    let number = certificate.serial_number().to_vec();
    let ca = pki.ca.certificate().clone();
    let delegate = OcspResponder::delegate(ca, certificate, &key).unwrap();
    let response = answer(&delegate, &leaf, CertStatus::Good);
    for (on_list, is_good) in [(&number[..], false), (&[1], true)] {
        // It has expired, so that only the response can make the leaf good.
        let list = CertificateRevocationListBuilder::new(&[1])
            .validity(Validity::new(days_from_now(-3), days_from_now(-2)))
            .revoke(on_list, days_from_now(-3), CrlReason::KeyCompromise);
        let list = pki.ca.issue_revocation_list(list).unwrap();
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let validator = validator.with_ocsp_responses([response.clone()]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_good, "{result:?}");
    }
}

/// What says revoked counts, although nobody here can tell that it is about another issuer.
#[test]
fn revocations_by_an_unclear_name() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let good = CertificateRevocationListBuilder::new(&[1]);
    let good = pki.ca.issue_revocation_list(good).unwrap();
    let is_revoked = |response: OcspResponse| {
        let policy = RevocationPolicy::new([good.clone()]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses([response]);
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => false,
            Err(ValidationError::Revoked { .. }) => true,
            Err(error) => panic!("{error}"),
        }
    };
    let with_id = |id: &[u8], status: &[u8]| {
        let mut made = Made::of(&pki, &leaf);
        made.answers = vec![made.answer_by_id(id, status, &[&made.end()])];
        made.response(pki.ca.signer())
    };
    let id = cert_id(ca, leaf.serial_number());
    assert!(is_revoked(with_id(&id, &revoked())));
    assert!(!is_revoked(with_id(&id, GOOD)));
    // A hash function that is unknown here, and the hash of a name in another encoding.
    let (unknown, mut other_name) = (
        replaced(&id, &[0x2b, 0x0e, 3, 2, 0x1a], &[0x2b, 0x0e, 3, 2, 0x1b]),
        id.clone(),
    );
    other_name[15] ^= 1;
    for id in [unknown, other_name] {
        assert!(is_revoked(with_id(&id, &revoked())), "{id:x?}");
        // It makes nothing good.
        let response = with_id(&id, GOOD);
        assert_eq!(response.answer_for(&leaf, ca), None);
    }
    // Another key or another number is about another certificate.
    for at in [40, id.len() - 1] {
        let mut other = id.clone();
        other[at] ^= 1;
        assert!(!is_revoked(with_id(&other, &revoked())), "{at}");
    }
    // The responder's name in another encoding.
    let name = ca.subject().to_der().unwrap();
    let mut made = Made::of(&pki, &leaf);
    made.answers = vec![made.answer(&leaf, &revoked(), &[&made.end()])];
    for name in [
        replaced(&name, &[0x0c, 2, b'C', b'A'], &[0x13, 2, b'C', b'A']),
        replaced(&name, b"CA", b"ca"),
    ] {
        made.responder = tlv(0xa1, &[&name]);
        assert!(is_revoked(made.response(pki.ca.signer())));
    }
}

/// The revocation of 2024, without a reason.
fn revoked() -> Vec<u8> {
    tlv(0xa1, &[&generalized("20240101000000Z")])
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|part| part == from);
    let at = at.unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

/// The answers about one certificate count one by one, in any order.
#[test]
fn several_answers_about_one_certificate() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let id = cert_id(pki.ca.certificate(), leaf.serial_number());
    let answer = |status: &[u8], from: &str, to: &str| {
        let to = tlv(0xa0, &[&generalized(to)]);
        tlv(0x30, &[&id, status, &generalized(from), &to])
    };
    let past = |status: &[u8]| answer(status, "20240101000000Z", "20250101000000Z");
    let now = |status: &[u8]| answer(status, "20260101000000Z", "21000101000000Z");
    let future = |status: &[u8]| answer(status, "20900101000000Z", "21000101000000Z");
    let coming = tlv(0xa1, &[&generalized("20900101000000Z")]);
    let list = CertificateRevocationListBuilder::new(&[1]);
    // newer than what has expired
    let list = list.validity(Validity::new(days_from_now(-400), days_from_now(9)));
    let list = pki.ca.issue_revocation_list(list).unwrap();
    let verdict = |answers: Vec<Vec<u8>>| {
        let mut made = Made::of(&pki, &leaf);
        made.answers = answers;
        let policy = RevocationPolicy::new([list.clone()]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let validator = validator.with_ocsp_responses([made.response(pki.ca.signer())]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        match result {
            Ok(_) => true,
            Err(ValidationError::Revoked { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    let revoked = &revoked();
    for (answers, is_good) in [
        ([past(revoked), now(revoked)], false),
        ([future(revoked), now(revoked)], false),
        ([future(&coming), now(revoked)], false),
        ([past(GOOD), now(revoked)], false),
        ([past(GOOD), now(GOOD)], true),
        ([future(GOOD), now(GOOD)], true),
        // released since, and a revocation to come
        ([past(revoked), now(GOOD)], true),
        ([future(&coming), now(GOOD)], true),
        ([future(revoked), now(GOOD)], false),
    ] {
        let [one, other] = &answers;
        for order in [[one, other], [other, one]] {
            let answers = order.map(Clone::clone).to_vec();
            assert_eq!(verdict(answers), is_good, "{order:x?}");
        }
    }
}

/// Their order in a response says nothing, as that of responses doesn't.
#[test]
fn good_and_unknown_in_one_response() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let id = cert_id(ca, leaf.serial_number());
    let answer = |status: &[u8], from: &str, to: &str| {
        let to = tlv(0xa0, &[&generalized(to)]);
        tlv(0x30, &[&id, status, &generalized(from), &to])
    };
    let [early, late, end] = ["20240101000000Z", "20260101000000Z", "21000101000000Z"];
    let stale = |status| answer(status, early, "20250101000000Z");
    let unknown: &[u8] = &[0x82, 0];
    // Whether the chain is valid, and what a verifier says.
    for (answers, is_good, status) in [
        (
            [answer(GOOD, early, end), answer(unknown, early, end)],
            false,
            CertStatus::Unknown,
        ),
        (
            [answer(GOOD, early, end), answer(unknown, late, end)],
            false,
            CertStatus::Unknown,
        ),
        // Since then it is known.
        (
            [answer(GOOD, late, end), answer(unknown, early, end)],
            true,
            CertStatus::Unknown,
        ),
        (
            [answer(GOOD, early, end), stale(unknown)],
            true,
            CertStatus::Good,
        ),
        (
            [stale(GOOD), answer(unknown, early, end)],
            false,
            CertStatus::Unknown,
        ),
    ] {
        let [one, other] = answers;
        for answers in [vec![one.clone(), other.clone()], vec![other, one]] {
            let mut made = Made::of(&pki, &leaf);
            made.answers = answers;
            let response = made.response(pki.ca.signer());
            let verifier = OcspVerifier::new(ca, UnixTime::now());
            assert_eq!(verifier.verify(&response, &leaf).unwrap().status(), status);
            let validate = |policy: RevocationPolicy| {
                let validator = pki.validator().with_revocation(policy.end_entity_only());
                let validator = validator.with_ocsp_responses([response.clone()]);
                match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
                    Ok(_) => true,
                    Err(ValidationError::OcspResponse {
                        error: OcspError::UnknownCertificate,
                        ..
                    }) => false,
                    Err(error) => panic!("{error}"),
                }
            };
            let policy = RevocationPolicy::without_lists();
            assert_eq!(validate(policy.clone()), is_good);
            assert!(validate(policy.allow_unknown_status()));
        }
    }
    // A revocation to come doesn't hide one that has expired.
    let coming = tlv(0xa1, &[&generalized("20900101000000Z")]);
    let answers = [
        answer(&coming, "20900101000000Z", end),
        stale(&revoked()),
        answer(GOOD, "20230101000000Z", end),
    ];
    for turn in 0..answers.len() {
        let mut made = Made::of(&pki, &leaf);
        made.answers = answers.to_vec();
        made.answers.rotate_left(turn);
        let response = made.response(pki.ca.signer());
        let validator = pki.validator().with_ocsp_responses([response]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert!(
            matches!(result, Err(ValidationError::Revoked { .. })),
            "{result:?}"
        );
    }
}

/// RFC 6960 section 4.2.2.2.1 only says that it should not be critical.
#[test]
fn a_delegate_with_a_critical_nocheck() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let key = key();
    let nocheck = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.5");
    let mut tbs = pki.ca.prepare(responder(), &key).unwrap();
    tbs.remove_extension(nocheck);
    tbs.extensions
        .push(Extension::from_der(&extension(nocheck, true)).unwrap());
    let certificate = tbs.sign(pki.ca.signer()).unwrap();
    let ca = pki.ca.certificate().clone();
    let delegate = OcspResponder::delegate(ca, certificate, &key).unwrap();
    let response = answer(&delegate, &leaf, CertStatus::Good);
    let verifier = OcspVerifier::new(pki.ca.certificate(), UnixTime::now());
    assert!(verifier.verify(&response, &leaf).is_ok());
}

const NONCE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.2");
const UNKNOWN: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.3.4");
const GOOD: &[u8] = &[0x80, 0];

fn too_many() -> ValidationError {
    ValidationError::Other(webpki::Error::MaximumSignatureChecksExceeded)
}

fn request(certificate: &Certificate, issuer: &Certificate) -> OcspRequest {
    let builder = OcspRequest::builder().certificate(certificate, issuer);
    builder.build().unwrap()
}

fn answer<S: Signer>(
    responder: &OcspResponder<S>,
    certificate: &Certificate,
    status: CertStatus,
) -> OcspResponse {
    let request = request(certificate, responder.issuer());
    let now = SystemTime::now();
    let response = responder.respond(&request, now, Validity::days(1), |_| {
        Ok::<_, IssueError>(status)
    });
    response.unwrap()
}

/// From that time on, for some days.
fn answer_at<S: Signer>(
    responder: &OcspResponder<S>,
    certificate: &Certificate,
    status: CertStatus,
    from: SystemTime,
) -> OcspResponse {
    let request = request(certificate, responder.issuer());
    let validity = Validity::new(from, from + Duration::from_secs(7 * 24 * 60 * 60));
    let response = responder.respond(&request, from, validity, |_| Ok::<_, IssueError>(status));
    response.unwrap()
}

fn responder() -> CertificateBuilder<EndEntity> {
    CertificateBuilder::ocsp_responder().common_name("OCSP")
}

fn delegate(pki: &Pki) -> OcspResponder<SigningKey> {
    let key = key();
    let certificate = pki.ca.issue(responder(), &key).unwrap();
    OcspResponder::delegate(pki.ca.certificate().clone(), certificate, key).unwrap()
}

/// A response made by hand, of parts that may be wrong.
struct Made {
    version: Vec<u8>,
    responder: Vec<u8>,
    produced_at: Vec<u8>,
    answers: Vec<Vec<u8>>,
    extensions: Vec<Vec<u8>>,
    certificates: Vec<Vec<u8>>,
    kind: ObjectIdentifier,
    ca: Certificate,
}

impl Made {
    /// Says that a leaf of the CA is good.
    fn of(pki: &Pki, leaf: &Certificate) -> Self {
        let ca = pki.ca.certificate();
        let key = ca.parsed().tbs_certificate().subject_public_key_info();
        let key = Sha1::digest(key.subject_public_key.raw_bytes());
        let mut made = Self {
            version: Vec::new(),
            responder: tlv(0xa2, &[&tlv(4, &[&key])]),
            produced_at: generalized("20260101000000Z"),
            answers: Vec::new(),
            extensions: Vec::new(),
            certificates: Vec::new(),
            kind: ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.1"),
            ca: ca.clone(),
        };
        made.answers = vec![made.answer(leaf, GOOD, &[&made.end()])];
        made
    }

    /// nextUpdate
    fn end(&self) -> Vec<u8> {
        tlv(0xa0, &[&generalized("21000101000000Z")])
    }

    fn answer(&self, leaf: &Certificate, status: &[u8], rest: &[&[u8]]) -> Vec<u8> {
        self.answer_by_id(&cert_id(&self.ca, leaf.serial_number()), status, rest)
    }

    fn answer_by_id(&self, id: &[u8], status: &[u8], rest: &[&[u8]]) -> Vec<u8> {
        let this_update = generalized("20200101000000Z");
        tlv(0x30, &[id, status, &this_update, &rest.concat()])
    }

    fn to_der(&self, key: &SigningKey) -> Vec<u8> {
        let body = tlv(
            0x30,
            &[
                &self.version,
                &self.responder,
                &self.produced_at,
                &tlv(0x30, &[&self.answers.concat()]),
                &all_extensions(0xa1, &self.extensions),
            ],
        );
        let signature = Signer::sign(key, &body).unwrap();
        let certificates = match self.certificates.is_empty() {
            true => Vec::new(),
            false => tlv(0xa0, &[&tlv(0x30, &[&self.certificates.concat()])]),
        };
        let basic = tlv(
            0x30,
            &[
                &body,
                &key.algorithm().identifier().to_der().unwrap(),
                &tlv(3, &[&[0], &signature]),
                &certificates,
            ],
        );
        let bytes = tlv(0x30, &[&self.kind.to_der().unwrap(), &tlv(4, &[&basic])]);
        tlv(0x30, &[&[0x0a, 1, 0], &tlv(0xa0, &[&bytes])])
    }

    fn response(&self, key: &SigningKey) -> OcspResponse {
        OcspResponse::from_der(&self.to_der(key)).unwrap()
    }
}

fn cert_id(issuer: &Certificate, serial_number: &[u8]) -> Vec<u8> {
    let key = issuer.parsed().tbs_certificate().subject_public_key_info();
    let name = Sha1::digest(issuer.subject().to_der().unwrap());
    let key = Sha1::digest(key.subject_public_key.raw_bytes());
    let sha1 = [0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0];
    tlv(
        0x30,
        &[
            &sha1,
            &tlv(4, &[&name]),
            &tlv(4, &[&key]),
            &tlv(2, &[serial_number]),
        ],
    )
}

fn generalized(time: &str) -> Vec<u8> {
    tlv(0x18, &[time.as_bytes()])
}

fn nonce_extension(value: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&NONCE.to_der().unwrap(), &tlv(4, &[value])])
}

fn extension(oid: ObjectIdentifier, critical: bool) -> Vec<u8> {
    let critical: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    tlv(0x30, &[&oid.to_der().unwrap(), critical, &[4, 2, 5, 0]])
}

/// Extensions under a tag; nothing if there are none.
fn all_extensions(tag: u8, extensions: &[Vec<u8>]) -> Vec<u8> {
    match extensions {
        [] => Vec::new(),
        _ => tlv(tag, &[&tlv(0x30, &[&extensions.concat()])]),
    }
}

fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let len = value.len().to_be_bytes();
    let len = match value.len() {
        0..0x80 => &len[7..],
        _ => &len[len.iter().position(|byte| *byte != 0).unwrap()..],
    };
    let form = match value.len() {
        0..0x80 => Vec::new(),
        _ => vec![0x80 | u8::try_from(len.len()).unwrap()],
    };
    [&[tag][..], &form, len, &value].concat()
}
