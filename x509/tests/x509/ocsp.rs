//! OCSP: what requests and responses say, who may answer, and what that keeps from being valid.

use core::time::Duration;
use std::time::{Instant, SystemTime};

use const_oid::ObjectIdentifier;
use der::asn1::{Any, BitString, ContextSpecific, OctetString};
use der::{Decode, Encode, Tag, TagMode, TagNumber};
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use pq_x509::{
    CertId, CertStatus, Certificate, CertificateBuilder, CertificateRevocationListBuilder,
    ChainValidator, CrlReason, EndEntity, InvalidOcspNonce, IssueError, Issuer, KeyUsages,
    OcspDelegateError, OcspError, OcspExtensionError, OcspFailure, OcspHash, OcspNonce,
    OcspRequest, OcspRequestError, OcspResponder, OcspResponse, OcspResponseError, OcspVerifier,
    ResponderId, RevocationPolicy, SignatureError, Signer, SigningKey, SubjectKey, ValidationError,
    Validity,
};

use crate::pki::{
    Pki, days_from_now, key, quick_algorithms, set_usage, unix_days_from_now, validate_with,
};

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

/// RFC 6960 section 4.1.1 and RFC 9654, by hand.
#[test]
fn requests_are_as_the_standard_has_them() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
    let builder = CertificateBuilder::end_entity().common_name("a");
    let leaf = ca.issue(builder.serial_number(&[0x80, 1]), &key()).unwrap();
    let nonce = OcspNonce::new(&[7; 3]).unwrap();
    let request = OcspRequest::builder()
        .certificate(&leaf, ca.certificate())
        .nonce(nonce)
        .build()
        .unwrap();
    let name = <sha1::Sha1 as sha1::Digest>::digest(ca.certificate().subject().to_der().unwrap());
    let bits = ca.certificate().parsed().tbs_certificate();
    let bits = bits.subject_public_key_info().subject_public_key.raw_bytes();
    let key = <sha1::Sha1 as sha1::Digest>::digest(bits);
    let expected = [
        &[0x30, 0x61, 0x30, 0x5f][..],
        // requestList, Request, CertID
        &[0x30, 0x3e, 0x30, 0x3c, 0x30, 0x3a],
        &[0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0],
        &[4, 20],
        &name,
        &[4, 20],
        &key,
        &[2, 3, 0, 0x80, 1],
        // requestExtensions
        &[0xa2, 0x1b, 0x30, 0x19, 0x30, 0x17],
        &[6, 9, 0x2b, 6, 1, 5, 5, 7, 0x30, 1, 2],
    ]
    .concat();
    let der = request.der();
    assert_eq!(der.len(), usize::from(der[1]) + 2);
    // The lengths of what is around the nonce depend on its own alone.
    let lengths = [1, 3, expected.len() - 17, expected.len() - 15, expected.len() - 13];
    for (at, byte) in expected.iter().enumerate() {
        assert!(lengths.contains(&at) || der[at] == *byte, "at {at}: {der:02x?}");
    }
    assert!(der.ends_with(&[4, 5, 4, 3, 7, 7, 7]), "{der:02x?}");
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
    // A thousand are counted, and ten thousand not even read.
    assert_eq!(many(1000).build(), Err(OcspRequestError::TooLong(79_015)));

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
    // Whatever is changed, there is no panic.
    for at in 0..sound.len() {
        for bit in 0..8 {
            let mut changed = sound.to_vec();
            changed[at] ^= 1 << bit;
            let _ = OcspRequest::from_der(&changed);
        }
    }

    let version_2 = request_with(Some(1), &sound[4..], &[]);
    assert_eq!(
        OcspRequest::from_der(&version_2),
        Err(OcspRequestError::Version(2))
    );
    for (extensions, expected) in [
        (
            vec![nonce_extension(&[4, 0])],
            Err(OcspRequestError::Nonce(InvalidNonce::of(0))),
        ),
        (
            vec![nonce_extension(&[&[4, 0x81, 129][..], &[1; 129]].concat())],
            Err(OcspRequestError::Nonce(InvalidNonce::of(129))),
        ),
        (
            vec![nonce_extension(&[&[4, 0x81, 128][..], &[1; 128]].concat())],
            Ok(128),
        ),
        (vec![nonce_extension(&[4, 1, 9])], Ok(1)),
        (
            vec![nonce_extension(&[4, 1, 9]); 2],
            Err(OcspRequestError::Extension(OcspExtensionError::Repeated(NONCE))),
        ),
        (
            vec![extension(UNKNOWN, true)],
            Err(OcspRequestError::Extension(OcspExtensionError::Critical(UNKNOWN))),
        ),
        (vec![extension(UNKNOWN, false)], Ok(0)),
    ] {
        let der = request_with(None, &sound[4..], &extensions);
        let read = OcspRequest::from_der(&der);
        let read = read.map(|request| request.nonce().map_or(0, |nonce| nonce.as_bytes().len()));
        assert_eq!(read, expected);
    }
    // A nonce that is not within an OCTET STRING of its own.
    let der = request_with(None, &sound[4..], &[nonce_extension(&[1, 2, 3])]);
    assert!(matches!(OcspRequest::from_der(&der), Err(OcspRequestError::Der(_))));
}

#[test]
fn a_request_that_is_signed_is_read() {
    let pki = Pki::new();
    let sound = request(&pki.leaf(), pki.ca.certificate());
    let body = &sound.der()[2..];
    let signature = explicit(0, Any::new(Tag::Sequence, body.to_vec()).unwrap());
    let signed = Any::new(Tag::Sequence, [body.to_vec(), signature].concat()).unwrap();
    let read = OcspRequest::from_der(&signed.to_der().unwrap()).unwrap();
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
    // Of another CA: the look-up must not be asked.
    let request = builder.certificate(ca, pki.root.certificate()).build().unwrap();
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
    assert_eq!(numbers, leaves.each_ref().map(|leaf| leaf.serial_number().to_vec()));

    let read = OcspResponse::from_der(response.der()).unwrap();
    assert_eq!(read, response);
    assert_eq!(read.nonce(), request.nonce());
    assert_eq!(read.produced_at().as_secs(), 1_700_000_000);
    assert!(read.responder().is(ca));
    assert!(!read.responder().is(pki.root.certificate()));
    assert!(read.certificates().is_empty());
    assert_eq!(read.signature_algorithm().oid, pki.ca.signer().algorithm().oid());
    let said: Vec<_> = read.answers().iter().map(|answer| answer.status()).collect();
    assert_eq!(said[..4], statuses);
    assert_eq!(said[4..], [CertStatus::Unknown]);
    for (answer, asked) in read.answers().iter().zip(request.certificates()) {
        assert_eq!(answer.certificate(), asked);
        assert_eq!(answer.this_update().as_secs(), 1_600_000_000);
        assert_eq!(answer.next_update().map(|time| time.as_secs()), Some(2_600_000_000));
    }
    for (leaf, status) in leaves.iter().zip(statuses) {
        assert_eq!(read.answer_for(leaf, ca).map(|answer| answer.status()), Some(status));
    }
    read.verify_signature(ca, &[]).unwrap();
    assert_eq!(
        read.verify_signature(pki.root.certificate(), &[]),
        Err(SignatureError::Invalid)
    );

    // removeFromCRL is no status.
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
        let leaf = ca.issue(builder, &ca).unwrap();
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
        assert!(matches!(error, Err(OcspResponseError::Der(_))), "{status}");
    }
}

/// Also the signature of the delegate's certificate, which no other covers.
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
        verifier.verify(&response, certificate).map(|verified| verified.status())
    };
    assert_eq!(verify(ca, &leaf), Ok(CertStatus::Good));
    // another number, another issuer, and another key of its name
    assert_eq!(verify(ca, &pki.leaf()), Err(OcspError::NotAbout));
    assert_eq!(verify(pki.root.certificate(), &leaf), Err(OcspError::NotAbout));
    let twin = Pki::new();
    assert_eq!(verify(twin.ca.certificate(), &leaf), Err(OcspError::NotAbout));
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
        .respond(&request, at(1), validity, |_| Ok::<_, IssueError>(CertStatus::Good))
        .unwrap();
    let verify = |seconds| {
        let verifier = OcspVerifier::new(pki.ca.certificate(), unix(seconds));
        verifier.verify(&response, &leaf).map(|verified| verified.status())
    };
    assert_eq!(
        verify(1_999_999_999),
        Err(OcspError::NotYetCurrent {
            this_update: unix(2_000_000_000),
            time: unix(1_999_999_999)
        })
    );
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
        responder.respond(request, now, Validity::days(1), good).unwrap()
    };
    let with = |nonce: &OcspNonce| {
        let request = OcspRequest::builder().certificate(&leaf, ca).nonce(nonce.clone());
        respond(&request.build().unwrap())
    };
    let verifier = OcspVerifier::new(ca, UnixTime::now()).with_nonce(&mine);
    assert!(verifier.verify(&with(&mine), &leaf).is_ok());
    let refused = |response: &OcspResponse| verifier.verify(response, &leaf).unwrap_err();
    assert_eq!(refused(&with(&other)), OcspError::NonceDiffers);
    assert_eq!(refused(&respond(&request(&leaf, ca))), OcspError::NonceMissing);
    // Who asked for none takes any.
    let verifier = OcspVerifier::new(ca, UnixTime::now());
    assert!(verifier.verify(&with(&other), &leaf).is_ok());

    assert_eq!(OcspNonce::new(&[]), Err(InvalidNonce::of(0)));
    assert_eq!(OcspNonce::new(&[0; 129]), Err(InvalidNonce::of(129)));
}

/// Only a nonce tells how old it is.
#[test]
fn a_response_without_an_end() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let ca = pki.ca.certificate();
    let nonce = OcspNonce::new(&[3; 32]).unwrap();
    let asked = OcspRequest::builder().certificate(&leaf, ca).nonce(nonce.clone());
    let now = SystemTime::now();
    let response = OcspResponder::ca(&pki.ca)
        .respond(&asked.build().unwrap(), now, Validity::days(1), |_| {
            Ok::<_, IssueError>(CertStatus::Good)
        })
        .unwrap();
    let response = altered(&response, pki.ca.signer(), |body| {
        // nextUpdate is the last but one [0] EXPLICIT GeneralizedTime of 17 bytes.
        let at = position(body, &[0xa0, 0x11, 0x18, 0x0f]);
        body.drain(at..at + 19);
        for around in [19, 19 + 2] {
            let _ = around;
        }
        19
    });
    let verifier = OcspVerifier::new(ca, UnixTime::now());
    let error = verifier.verify(&response, &leaf).unwrap_err();
    assert_eq!(error, OcspError::NoNextUpdate);
    assert!(verifier.with_nonce(&nonce).verify(&response, &leaf).is_ok());
}
