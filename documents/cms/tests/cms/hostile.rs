//! Messages that were altered, or made to do harm: refused with little time and memory, without a panic.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io;
use std::time::SystemTime;

use pq_cms::{
    DocumentSigner, EncodingError, SignedDataBuilder, VerificationError, VerificationTime, Verifier,
};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, UnixTime,
};
use pq_x509::validation::ChainValidator;
use signers::{EcdsaP256, P256Key};
use testing::spent::Spent;

use crate::bytes::{OneByOne, Repeated, changed, indefinite, parts, tlv};
use crate::people::{Person, certificate};
use crate::signed::{CONTENT, attached, by};

#[test]
fn every_byte_of_a_signed_message_counts() {
    let key = P256Key::new(3);
    let certificate = certificate("classical", &key);
    let builder = SignedDataBuilder::new()
        .signer(DocumentSigner::with_signer(&certificate, &key))
        .without_certificates();
    let message = attached(builder.clone(), CONTENT);
    let detached = builder.sign_detached(CONTENT).unwrap();
    assert!(message.len() < 1000);
    let plain = SignedDataBuilder::new()
        .signer(DocumentSigner::with_signer(&certificate, &key).without_attributes())
        .without_certificates();
    let plain = attached(plain, CONTENT);
    let verifier = Verifier::with_signers([certificate]).unwrap();
    let verifier = verifier.algorithms(&[&EcdsaP256]);
    for message in [&message, &plain] {
        let verify = |message: &[u8]| verifier.write_unverified(message, io::sink());
        verify(message).unwrap();
        for (at, changed) in changed(message) {
            assert!(verify(&changed).is_err(), "{at}");
        }
        for cut in 0..message.len() {
            assert!(verify(&message[..cut]).is_err(), "{cut}");
        }
        assert!(matches!(
            verify(&[message, &[0][..]].concat()),
            Err(VerificationError::Encoding(EncodingError::TrailingData(_)))
        ));
    }
    for (at, changed) in changed(&detached) {
        assert!(
            verifier.verify_detached(&changed[..], CONTENT).is_err(),
            "{at}"
        );
    }
}

#[test]
fn every_byte_of_a_post_quantum_message_counts() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person), CONTENT);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    // Everything except the certificate in its [0]: no signature covers it, and the verifier has it.
    let certificate = person.certificate.der();
    let start = message
        .windows(certificate.len())
        .position(|window| window == &certificate[..])
        .unwrap()
        - 4;
    for (at, changed) in changed(&message) {
        if !(start..start + 4 + certificate.len()).contains(&at) {
            assert!(
                verifier.write_unverified(&changed[..], io::sink()).is_err(),
                "{at}"
            );
        }
    }
}

/// The parts of a SignedData before and after its signers.
fn around_signers(message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let info = parts(message);
    let signed = parts(parts(info[1])[0]);
    let start = [
        &[0x30, 0x80][..],
        info[0],
        &[0xa0, 0x80, 0x30, 0x80],
        signed[0],
        signed[1],
        signed[2],
        signed[3],
        &[0x31, 0x80],
    ];
    (start.concat(), vec![0; 8])
}

#[test]
fn many_signers() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person), CONTENT);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let (start, end) = around_signers(&message);
    let signed = parts(parts(parts(&message)[1])[0]);
    let signer = parts(signed[4])[0].to_vec();
    let with = |times| Repeated::new(start.clone(), signer.clone(), times, end.clone());
    let verified = verifier.write_unverified(with(1000), io::sink()).unwrap();
    // however often, it is one signer
    assert_eq!(verified.signers.len(), 1);
    let begin = Spent::now();
    assert!(matches!(
        verifier.write_unverified(with(1_000_000), io::sink()),
        Err(VerificationError::TooMany { .. })
    ));
    assert!(begin.elapsed().as_secs() < 5);
    assert!(matches!(
        verifier.write_unverified(with(0), io::sink()),
        Err(VerificationError::NoSigner)
    ));
}

/// Signers whom nobody trusts: the first one is enough to refuse the message, before a path is searched for
/// the others.
#[test]
fn many_strangers() {
    let key = P256Key::new(3);
    let certificate = certificate("stranger", &key);
    let signer = DocumentSigner::with_signer(&certificate, &key);
    let message = attached(SignedDataBuilder::new().signer(signer), CONTENT);
    let signed = parts(parts(parts(&message)[1])[0]);
    let signer = parts(signed[4])[0].to_vec();
    let (start, end) = around_signers(&message);
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let counted = Counted::default();
    let verifier = Verifier::with_chains(&validator).algorithms(&[&counted]);
    let verify = |verifier: &Verifier<'_>| {
        let message = Repeated::new(start.clone(), signer.clone(), 100, end.clone());
        verifier.write_unverified(message, io::sink()).map(|_| ())
    };
    assert!(matches!(
        verify(&verifier),
        Err(VerificationError::Signature { number: 0, .. })
    ));
    assert_eq!(counted.0.load(Ordering::Relaxed), 1);
    // unless one of the others may be trusted
    assert!(matches!(
        verify(&verifier.clone().any_signer()),
        Err(VerificationError::Signature { number: 0, .. })
    ));
    assert_eq!(counted.0.load(Ordering::Relaxed), 101);
}

/// Whoever makes a message decides how many signers it has, and how many certificates each may mean: only some of
/// those that lead nowhere are checked.
#[test]
fn many_strangers_with_many_certificates() {
    let key = P256Key::new(3);
    let (mut signers, mut certificates) = (Vec::new(), Vec::new());
    let mut around = None;
    let other = Issuer::self_signed(CertificateBuilder::ca("Other"), P256Key::new(4)).unwrap();
    // Certificates with the same name, each of which may be meant.
    for _ in 0..4 {
        let builder = CertificateBuilder::end_entity().common_name("stranger");
        let certificate = other.issue(builder, &key).unwrap();
        let signer = DocumentSigner::with_signer(&certificate, &key).by_key_identifier();
        let message = attached(SignedDataBuilder::new().signer(signer), CONTENT);
        let signed = parts(parts(parts(&message)[1])[0]);
        signers = parts(signed[4])[0].to_vec();
        certificates.extend_from_slice(certificate.der());
        let info = parts(&message)[0];
        around = Some([info, signed[0], signed[1], signed[2]].map(<[u8]>::to_vec));
    }
    let [info, version, digests, content] = around.unwrap();
    let start = [
        &[0x30, 0x80][..],
        &info,
        &[0xa0, 0x80, 0x30, 0x80],
        &version,
        &digests,
        &content,
        &tlv(0xa0, &[&certificates]),
        &[0x31, 0x80],
    ];
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let counted = Counted::default();
    let verifier = Verifier::with_chains(&validator).algorithms(&[&counted]);
    let message = Repeated::new(start.concat(), signers, 1024, vec![0; 8]);
    let begin = Spent::now();
    assert!(matches!(
        verifier.any_signer().write_unverified(message, io::sink()),
        Err(VerificationError::TooMany { limit: 256, .. })
    ));
    assert_eq!(counted.0.load(Ordering::Relaxed), 256);
    assert!(begin.elapsed().as_secs() < 10);
}

/// A message with these certificates and these signers.
fn with_all(message: &[u8], certificates: &[u8], signers: &[u8]) -> Vec<u8> {
    let info = parts(message);
    let signed = parts(parts(info[1])[0]);
    let certificates = tlv(0xa0, &[certificates]);
    let signers = tlv(0x31, &[signers]);
    let signed = tlv(
        0x30,
        &[signed[0], signed[1], signed[2], &certificates, &signers],
    );
    tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])])
}

/// Whoever knows the root's name makes chains that lead to it but for a signature. All signers of a message share the
/// work of searching for them: the same chain is searched once, and with many CAs only some chains are.
#[test]
fn searches_of_a_message_share_one_budget() {
    let root = |secret| Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(secret));
    let (root, fake) = (root(1).unwrap(), root(2).unwrap());
    let key = P256Key::new(3);
    let signed_by = |issuer: &Issuer<P256Key>, name: &str| {
        let builder = CertificateBuilder::end_entity().common_name(name);
        let certificate = issuer.issue(builder, &key).unwrap();
        let signer = DocumentSigner::with_signer(&certificate, &key);
        let message = attached(SignedDataBuilder::new().signer(signer), CONTENT);
        let signed = parts(parts(parts(&message)[1])[0]);
        (
            parts(signed[3])[0].to_vec(),
            parts(signed[4])[0].to_vec(),
            message.clone(),
        )
    };
    let counted: &Counted = Box::leak(Box::default());
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator.with_algorithms(&[counted]);
    let verifier = Verifier::with_chains(&validator)
        .algorithms(&[&EcdsaP256])
        .any_signer();
    let searched = |message: &[u8]| {
        let before = counted.0.load(Ordering::Relaxed);
        let verified = verifier
            .verify(message, 100)
            .map(|(_, verified)| verified.signers.len());
        (verified, counted.0.load(Ordering::Relaxed) - before)
    };

    let (certificate, signer, template) = signed_by(&fake, "Mallory");
    let (refused, one) = searched(&with_all(&template, &certificate, &signer));
    assert!(refused.is_err() && one >= 1);
    let (refused, many) = searched(&with_all(&template, &certificate, &signer.repeat(200)));
    assert!(refused.is_err());
    assert_eq!(many, one);

    // Strangers, before one who is trusted: each with some CAs more in the message, which have their issuer's name.
    let other = Issuer::self_signed(CertificateBuilder::ca("Other"), P256Key::new(4)).unwrap();
    let cas = |count: u8| -> Vec<u8> {
        let ca = |_| {
            let builder = CertificateBuilder::ca("Root");
            other.issue_ca(builder, P256Key::new(5)).unwrap()
        };
        (0..count)
            .flat_map(|number| ca(number).certificate().der().to_vec())
            .collect()
    };
    let strangers: Vec<_> = (0..40)
        .map(|at| signed_by(&fake, &format!("{at}")))
        .collect();
    let (trusted, last, template) = signed_by(&root, "Alice");
    for (count, before, is_reached) in [
        (0, 40, true),
        (32, 14, true),
        (32, 15, false),
        (32, 40, false),
    ] {
        let (mut certificates, mut signers) = (cas(count), Vec::new());
        for (certificate, signer, _) in &strangers[..before] {
            certificates.extend_from_slice(certificate);
            signers.extend_from_slice(signer);
        }
        certificates.extend_from_slice(&trusted);
        signers.extend_from_slice(&last);
        let (verified, _) = searched(&with_all(&template, &certificates, &signers));
        match is_reached {
            true => assert_eq!(verified.unwrap(), 1),
            false => assert!(verified.is_err(), "{count} {before}"),
        }
    }
}

/// The most of everything, and one beyond.
#[test]
fn one_beyond_each_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person).without_certificates(), CONTENT);
    let info = parts(&message);
    let signed = parts(parts(info[1])[0]);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let with = |digests: &[u8], certificates: &[u8], signers: &[u8]| {
        let certificates = match certificates {
            [] => vec![],
            some => tlv(0xa0, &[some]),
        };
        let (digests, signers) = (tlv(0x31, &[digests]), tlv(0x31, &[signers]));
        let signed = tlv(
            0x30,
            &[signed[0], &digests, signed[2], &certificates, &signers],
        );
        let message = tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])]);
        verifier.verify(&message[..], 100).map(|_| ())
    };
    let (digest, signer) = (parts(signed[1])[0], parts(signed[3])[0]);
    let is_too_many = |result, wanted: &str, most: usize| match result {
        Err(VerificationError::TooMany { what, limit }) => {
            assert_eq!((what, limit), (wanted, most));
        }
        other => panic!("{wanted}: {other:?}"),
    };
    with(digest, &[], &signer.repeat(1024)).unwrap();
    is_too_many(with(digest, &[], &signer.repeat(1025)), "signers", 1024);
    with(&digest.repeat(16), &[], signer).unwrap();
    is_too_many(with(&digest.repeat(17), &[], signer), "hash functions", 16);
    // small certificates, of an algorithm that nobody needs to know
    let key = P256Key::new(3);
    let small = certificate("x", &key);
    let small = parts(small.der());
    let tbs = parts(small[0]);
    let extensions: Vec<_> = tbs[..7].to_vec();
    let small = tlv(0x30, &[&tlv(0x30, &extensions), small[1], &[3, 2, 0, 1]]);
    with(digest, &small.repeat(1024), signer).unwrap();
    is_too_many(
        with(digest, &small.repeat(1025), signer),
        "certificates",
        1024,
    );
    // an identifier of 256 bytes: of its header two are counted
    let identifier = |len: usize| {
        let oid = parts(digest)[0];
        tlv(0x30, &[oid, &tlv(4, &[&vec![0; len - oid.len() - 6]])])
    };
    let both = |len| with(&[digest, &identifier(len)].concat(), &[], signer);
    assert_eq!(identifier(256).len(), 256);
    both(256).unwrap();
    assert!(matches!(
        both(260),
        Err(VerificationError::Encoding(EncodingError::TooLarge {
            limit: 256,
            ..
        }))
    ));
}

/// Of certificates with the signer's name four are tried that are valid. Names are not unique: the others are somebody else's.
#[test]
fn four_certificates_of_one_name_are_tried() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person), CONTENT);
    // The same name of issuer and serial number, and other keys.
    let own = parts(person.certificate.der());
    let impostor = |seed: u8| {
        let other = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).unwrap();
        let other = certificate("other", &other);
        let other = parts(parts(other.der())[0])[6].to_vec();
        let mut tbs = parts(own[0]);
        tbs[6] = &other;
        let der = tlv(0x30, &[&tlv(0x30, &tbs), own[1], own[2]]);
        Certificate::from_der(&der).unwrap()
    };
    for (before, is_found) in [(0, true), (3, true), (4, false)] {
        let known: Vec<_> = (1..=before)
            .map(impostor)
            .chain([person.certificate.clone()])
            .collect();
        let verifier = Verifier::with_signers(known).unwrap();
        assert_eq!(
            verifier.verify(&message[..], 100).is_ok(),
            is_found,
            "{before}"
        );
    }
}

/// With each renewal a key has one certificate more. The valid one is found, whoever knows the others; if too many are
/// valid, the refusal says so. A refusal is about the certificate whose key has signed.
#[test]
fn renewed_certificates_of_one_key() {
    let now = SystemTime::now();
    let days = |days: u64| Duration::from_secs(days * 24 * 3600);
    let ca = |name: &str, secret| {
        let validity = Validity::starting(now - days(1000), days(2000));
        let builder = CertificateBuilder::ca(name).validity(validity);
        Issuer::self_signed(builder, P256Key::new(secret)).unwrap()
    };
    let (root, other) = (ca("Root", 1), ca("Other", 2));
    let key = P256Key::new(3);
    let for_month = |issuer: &Issuer<P256Key>, ago: u64| {
        let builder = CertificateBuilder::end_entity().common_name("signer");
        let builder = builder.validity(Validity::starting(now - days(30 * ago + 1), days(30)));
        issuer.issue(builder, &key).unwrap()
    };
    let expired: Vec<_> = (1..=6).map(|ago| for_month(&root, ago)).collect();
    let valid = for_month(&root, 0);
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator.with_algorithms(&[&EcdsaP256]);
    let signed_with = |own: &Certificate, others: &[Certificate]| {
        let signer = DocumentSigner::with_signer(own, &key).by_key_identifier();
        let builder = SignedDataBuilder::new().signer(signer);
        attached(builder.certificates(others), CONTENT)
    };
    let verify = |known: &[Certificate], message: &[u8], time: VerificationTime| {
        let verifier = Verifier::with_chains(&validator).algorithms(&[&EcdsaP256]);
        let verifier = verifier.certificates(known.to_vec()).unwrap().time(time);
        verifier.verify(message, 100).map(|(_, verified)| {
            let [signer] = &*verified.signers else {
                panic!("{verified:?}");
            };
            signer.certificate.clone()
        })
    };
    for (known, sent) in [
        (&expired[..], &[][..]),
        (&[], &expired),
        (&expired, &expired),
    ] {
        let message = signed_with(&valid, sent);
        assert_eq!(
            verify(known, &message, VerificationTime::Now).unwrap(),
            valid
        );
        let then = UnixTime::since_unix_epoch(
            (now - days(100))
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap(),
        );
        let found = verify(known, &message, VerificationTime::At(then));
        assert_eq!(found.unwrap(), expired[3]);
    }
    let same = vec![for_month(&other, 0); 9];
    assert!(verify(&same, &signed_with(&valid, &[]), VerificationTime::Now).is_ok());

    let refusal =
        |known: &[Certificate], message: &[u8]| match verify(known, message, VerificationTime::Now)
        {
            Err(VerificationError::Signature { refusal, .. }) => refusal.to_string(),
            other => panic!("{other:?}"),
        };
    let strangers: Vec<_> = (0..4).map(|_| for_month(&other, 0)).collect();
    let found = refusal(&strangers, &signed_with(&valid, &[]));
    let begin = "it was tried with 4 certificates that its signer may mean, and there are more; ";
    assert!(found.starts_with(begin), "{found}");
    // not that the expired one has expired: a renewed one is there
    let found = refusal(&expired[..1], &signed_with(&strangers[0], &[]));
    assert!(found.contains("no path"), "{found}");
}

/// A chain is found however many CAs of others are known, and whoever knows them. If more CAs than are tried have the
/// names of its own, the refusal says so.
#[test]
fn a_chain_is_found_among_any_number_of_cas() {
    let ca = |name: &str, secret| {
        Issuer::self_signed(CertificateBuilder::ca(name), P256Key::new(secret)).unwrap()
    };
    let (root, stranger) = (ca("Root", 1), ca("Stranger", 2));
    let upper = root.issue_ca(CertificateBuilder::ca("Upper"), P256Key::new(3));
    let upper = upper.unwrap();
    let lower = upper.issue_ca(CertificateBuilder::ca("Lower"), P256Key::new(4));
    let lower = lower.unwrap();
    let key = P256Key::new(5);
    let own = CertificateBuilder::end_entity().common_name("signer");
    let own = lower.issue(own, &key).unwrap();
    let signed_with = |certificates: &[Certificate]| {
        let signer = DocumentSigner::with_signer(&own, &key);
        let builder = SignedDataBuilder::new().signer(signer);
        attached(builder.certificates(certificates), CONTENT)
    };
    let below_stranger = |name: &str, validity: Validity| {
        let builder = CertificateBuilder::ca(name).validity(validity);
        let ca = stranger.issue_ca(builder, P256Key::new(6)).unwrap();
        ca.certificate().clone()
    };
    let counted: &Counted = Box::leak(Box::default());
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator.with_algorithms(&[counted]);
    let verify = |known: &[Certificate], message: &[u8]| {
        let verifier = Verifier::with_chains(&validator).algorithms(&[&EcdsaP256]);
        let verifier = verifier.certificates(known.to_vec()).unwrap();
        verifier.verify(message, 100).map(|_| ())
    };
    let now = SystemTime::now();
    let days = |days: u64| Duration::from_secs(days * 24 * 3600);
    let valid = Validity::starting(now - days(1), days(30));
    let expired = Validity::starting(now - days(60), days(30));

    let cas = [lower.certificate().clone(), upper.certificate().clone()];
    let others: Vec<_> = (0..200)
        .map(|number| below_stranger(&format!("{number}"), valid))
        .collect();
    let all = [&others[..], &cas].concat();
    for (known, sent) in [
        (&others[..], &cas[..]),
        (&[], &all),
        (&all, &[]),
        (&others, &all),
    ] {
        verify(known, &signed_with(sent)).unwrap();
    }

    // with the issuer's name: expired ones, which those before them replaced, and others that are valid
    let namesakes = |validity| -> Vec<_> {
        let validities = (0..32).map(|_| validity);
        validities
            .map(|validity| below_stranger("Lower", validity))
            .collect()
    };
    verify(&namesakes(expired), &signed_with(&cas)).unwrap();
    let namesakes = namesakes(valid);
    verify(&namesakes[..30], &signed_with(&cas)).unwrap();
    match verify(&namesakes, &signed_with(&cas)) {
        Err(VerificationError::Signature { refusal, .. }) => {
            let refusal = refusal.to_string();
            let begin =
                "it was tried with 32 certificates of CAs above its own, and there are more; ";
            assert!(refusal.starts_with(begin), "{refusal}");
        }
        other => panic!("{other:?}"),
    }
    // the same certificate counts once, however often it is there
    let many = vec![namesakes[0].clone(); 100];
    verify(&many, &signed_with(&cas)).unwrap();
}

/// The number of verified signatures of ECDSA.
#[derive(Debug, Default)]
struct Counted(AtomicUsize);

impl SignatureVerificationAlgorithm for Counted {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        self.0.fetch_add(1, Ordering::Relaxed);
        EcdsaP256.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        EcdsaP256.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        EcdsaP256.signature_alg_id()
    }
}

#[test]
fn depth() {
    let verifier = Verifier::with_signers([]).unwrap();
    for depth in [40, 10_000] {
        let deep = (0..depth).fold(tlv(4, &[b"x"]), |inner, _| tlv(0x24, &[&inner]));
        let endless = Repeated::new(vec![], vec![0x24, 0x80], depth, vec![]);
        let mut all = Vec::new();
        io::Read::read_to_end(&mut { endless }, &mut all).unwrap();
        for octets in [deep, all] {
            let oid = |arc| tlv(6, &[&[42, 134, 72, 134, 247, 13, 1, 7, arc]]);
            let content = indefinite(0x30, &[&oid(1), &indefinite(0xa0, &[&octets])]);
            let signed = indefinite(0x30, &[&[2, 1, 1], &tlv(0x31, &[]), &content]);
            let message = indefinite(0x30, &[&oid(2), &indefinite(0xa0, &[&signed])]);
            assert!(matches!(
                verifier.write_unverified(&message[..], io::sink()),
                Err(VerificationError::Encoding(EncodingError::TooDeep(_)))
            ));
        }
    }
}

/// Lengths that are larger than any message.
#[test]
fn lengths() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person), CONTENT);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let (start, _) = around_signers(&message);
    let verify = |signer: &[u8]| {
        let message = [&start, signer].concat();
        verifier
            .write_unverified(OneByOne(&message), io::sink())
            .unwrap_err()
    };
    assert!(matches!(
        verify(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]),
        VerificationError::Encoding(EncodingError::TooLarge { .. })
    ));
    assert!(matches!(
        verify(&[0x30, 0x83, 0x7f, 0xff, 0xff, 0]),
        VerificationError::Encoding(EncodingError::Truncated(_))
    ));
    for bad in [
        &[0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..],
        &[0x30, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0x30, 0xff, 1],
    ] {
        assert!(matches!(
            verify(bad),
            VerificationError::Encoding(EncodingError::Length(_))
        ));
    }
    // An endless signer is refused, however slowly it arrives.
    let endless = Repeated::new(
        [&start[..], &[0x30, 0x80]].concat(),
        tlv(5, &[]),
        u64::MAX,
        vec![],
    );
    assert!(matches!(
        verifier.write_unverified(endless, io::sink()),
        Err(VerificationError::Encoding(EncodingError::TooLarge { .. }))
    ));
}
