//! Messages that were altered, or made to do harm: refused with little time and memory, without a panic.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::time::Instant;

use pq_cms::{DocumentSigner, EncodingError, SignedDataBuilder, VerificationError, Verifier};
use pq_x509::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use pq_x509::{CertificateBuilder, ChainValidator, Issuer, SignatureAlgorithm, SigningKey};

use crate::bytes::{OneByOne, Repeated, changed, indefinite, parts, tlv};
use crate::people::{EcdsaP256, P256Key, Person, certificate};
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
        let verify = |message: &[u8]| verifier.verify(message, io::sink());
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
            assert!(verifier.verify(&changed[..], io::sink()).is_err(), "{at}");
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
    let verified = verifier.verify(with(1000), io::sink()).unwrap();
    assert_eq!(verified.signers.len(), 1000);
    let begin = Instant::now();
    assert!(matches!(
        verifier.verify(with(1_000_000), io::sink()),
        Err(VerificationError::TooMany { .. })
    ));
    assert!(begin.elapsed().as_secs() < 5);
    assert!(matches!(
        verifier.verify(with(0), io::sink()),
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
        verifier.verify(message, io::sink()).map(|_| ())
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
    // Certificates with the same name, each of which may be meant.
    for _ in 0..4 {
        let certificate = Issuer::self_signed(CertificateBuilder::ca("stranger"), P256Key::new(3));
        let certificate = certificate.unwrap().certificate().clone();
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
    let begin = Instant::now();
    assert!(matches!(
        verifier.any_signer().verify(message, io::sink()),
        Err(VerificationError::TooMany { limit: 256, .. })
    ));
    assert_eq!(counted.0.load(Ordering::Relaxed), 256);
    assert!(begin.elapsed().as_secs() < 10);
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
                verifier.verify(&message[..], io::sink()),
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
        verifier.verify(OneByOne(&message), io::sink()).unwrap_err()
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
        verifier.verify(endless, io::sink()),
        Err(VerificationError::Encoding(EncodingError::TooLarge { .. }))
    ));
}
