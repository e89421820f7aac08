//! SignedData, made and verified here.

use core::time::Duration;
use std::time::SystemTime;

use pq_cms::{
    DocumentSigner, SignatureRefusal, SignedDataBuilder, SigningError, VerificationError,
    VerificationTime, Verified, Verifier, Weakness, digests,
};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::identifiers::CompositeIdentifier;
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer,
    UnixTime,
};
use pq_x509::validation::ValidationError;
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use signers::{EcdsaP256, P256Key};

use crate::bytes::{OneByOne, indefinite, parts, tlv, value};
use crate::people::{Composite, EcdhKey, Person, Renamed, certificate, validator};

pub(crate) const CONTENT: &[u8] = b"Version 1.0";

/// Content that is larger than what is written in one piece.
fn large() -> Vec<u8> {
    (0..300_000_u32).map(|i| (i / 7) as u8).collect()
}

pub(crate) fn attached(signers: SignedDataBuilder<'_>, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    signers.sign(content, &mut message).unwrap();
    message
}

pub(crate) fn by(person: &Person) -> SignedDataBuilder<'_> {
    SignedDataBuilder::new().signer(DocumentSigner::new(&person.certificate, &person.key))
}

/// The reason for refusing a message.
pub(crate) fn refusal(result: Result<Verified, VerificationError>) -> SignatureRefusal {
    match result.unwrap_err() {
        VerificationError::Signature { refusal, .. } => *refusal,
        error => panic!("{error}"),
    }
}

#[test]
fn attached_and_detached_by_every_quick_algorithm() {
    use SignatureAlgorithm::{
        MlDsa44, MlDsa65, MlDsa87, SlhDsaSha2_128f, SlhDsaSha2_192f, SlhDsaShake128f,
    };
    let validator = validator();
    let verifier = Verifier::with_chains(&validator);
    let large = large();
    for algorithm in [
        MlDsa44,
        MlDsa65,
        MlDsa87,
        SlhDsaSha2_128f,
        SlhDsaSha2_192f,
        SlhDsaShake128f,
    ] {
        let person = Person::new(algorithm);
        for content in [CONTENT, b"", &large] {
            let message = attached(by(&person), content);
            let mut written = Vec::new();
            let verified = verifier
                .write_unverified(&message[..], &mut written)
                .unwrap();
            assert!(written == content, "{algorithm}");
            assert_eq!(verified.len, content.len() as u64);
            let [signer] = &*verified.signers else {
                panic!("{verified:?}");
            };
            assert_eq!(signer.certificate, person.certificate);
            assert_eq!(signer.chain.as_ref().unwrap().certificates().len(), 2);
            assert_eq!(signer.algorithm, algorithm.oid());
            assert_eq!(signer.digest, Some(algorithm.usual_pre_hash()));
            assert_eq!(signer.attributes.as_ref().unwrap().len(), 4);
            let age = UnixTime::now().as_secs() - signer.signing_time.unwrap().as_secs();
            assert!(age < 100);

            let detached = by(&person).sign_detached(content).unwrap();
            assert!(verifier.verify_detached(&detached[..], content).is_ok());
            assert!(matches!(
                refusal(verifier.verify_detached(&detached[..], &b"another"[..])),
                SignatureRefusal::DigestMismatch
            ));
            assert!(matches!(
                verifier.write_unverified(&detached[..], &mut Vec::new()),
                Err(VerificationError::NoContent)
            ));
            assert!(matches!(
                verifier.verify_detached(&message[..], content),
                Err(VerificationError::HasContent)
            ));
        }
    }
}

#[test]
fn digests_fit_their_algorithms() {
    // The table of RFC 9882, section 3.3, and the rule of RFC 9814, section 4.
    for (algorithm, least) in [
        (SignatureAlgorithm::MlDsa44, 32),
        (SignatureAlgorithm::MlDsa65, 48),
        (SignatureAlgorithm::MlDsa87, 64),
        (SignatureAlgorithm::SlhDsaSha2_128f, 32),
    ] {
        let person = Person::new(algorithm);
        let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
        for digest in digests() {
            let signer = DocumentSigner::new(&person.certificate, &person.key).digest(digest);
            let signed = SignedDataBuilder::new()
                .signer(signer)
                .sign_detached(CONTENT);
            match digest.digest_len() >= least {
                true => {
                    let verified = verifier.verify_detached(&signed.unwrap()[..], CONTENT);
                    assert_eq!(verified.unwrap().signers[0].digest, Some(digest));
                }
                false => assert!(matches!(
                    signed,
                    Err(SigningError::Weakness(Weakness::Digest { .. }))
                )),
            }
        }
        let signer = DocumentSigner::new(&person.certificate, &person.key);
        let signed = SignedDataBuilder::new()
            .signer(signer.digest(PreHash::Sha512_256))
            .sign_detached(CONTENT);
        assert!(matches!(
            signed,
            Err(SigningError::Weakness(Weakness::NotForMessages(_)))
        ));
    }
}

/// Composites hash the content with the hash function in their name, and no other.
#[test]
fn the_digest_of_a_composite_is_its_own() {
    let mut key = Renamed {
        key: P256Key::new(9),
        unknown: None,
        arc: Composite::ARC,
    };
    let certificate = certificate("composite", &key.key);
    let verifier = Verifier::with_signers([certificate.clone()]).unwrap();
    let verifier = verifier.algorithms(&[&Composite]);
    let sign = |key: &Renamed, digest: Option<PreHash>| {
        let signer = DocumentSigner::with_signer(&certificate, key);
        let signer = match digest {
            Some(digest) => signer.digest(digest),
            None => signer,
        };
        SignedDataBuilder::new()
            .signer(signer)
            .sign_detached(CONTENT)
    };
    let signed = sign(&key, None).unwrap();
    let verified = verifier.verify_detached(&signed[..], CONTENT).unwrap();
    assert_eq!(verified.signers[0].digest, Some(PreHash::Sha512));
    for digest in digests().filter(|digest| *digest != PreHash::Sha512) {
        assert!(matches!(
            sign(&key, Some(digest)),
            Err(SigningError::OtherDigest(_))
        ));
    }
    // Another signer that does this nevertheless.
    key.unknown = Some(36);
    for digest in digests() {
        let signed = key.rename(&sign(&key, Some(digest)).unwrap());
        let verified = verifier.verify_detached(&signed[..], CONTENT);
        match digest {
            PreHash::Sha512 => assert!(verified.is_ok()),
            _ => assert!(matches!(
                refusal(verified),
                SignatureRefusal::OtherDigest(_)
            )),
        }
    }
}

/// A message by a signer that does what the builder refuses.
fn signed_by_hand(
    person: &Person,
    digest_oid: &str,
    digest: PreHash,
    alter: impl FnOnce(&mut Vec<Vec<u8>>),
) -> Vec<u8> {
    let oid = |oid: &str| ObjectIdentifier::new_unwrap(oid).to_der().unwrap();
    let digest_id = tlv(0x30, &[&oid(digest_oid)]);
    let mut hasher = digest.hasher();
    hasher.update(CONTENT);
    let attribute = |id: &str, value: &[u8]| tlv(0x30, &[&oid(id), &tlv(0x31, &[value])]);
    let mut attributes = vec![
        attribute("1.2.840.113549.1.9.3", &oid("1.2.840.113549.1.7.1")),
        attribute(
            "1.2.840.113549.1.9.4",
            &tlv(4, &[hasher.finish().as_bytes()]),
        ),
    ];
    alter(&mut attributes);
    let attributes = attributes.concat();
    let signature = person.key.sign(&tlv(0x31, &[&attributes])).unwrap();
    let template = by(person).sign_detached(CONTENT).unwrap();
    // ContentInfo, [0], SignedData, signerInfos, the only one, its identifier
    let signed = parts(parts(parts(&template)[1])[0]);
    let signer = parts(parts(signed[4])[0]);
    let signer = tlv(
        0x30,
        &[
            signer[0],
            signer[1],
            &digest_id,
            &tlv(0xa0, &[&attributes]),
            signer[4],
            &tlv(4, &[&signature]),
        ],
    );
    let signed = tlv(
        0x30,
        &[
            signed[0],
            &tlv(0x31, &[&digest_id]),
            signed[2],
            signed[3],
            &tlv(0x31, &[&signer]),
        ],
    );
    let signed = tlv(0xa0, &[&signed]);
    tlv(0x30, &[parts(&template)[0], &signed])
}

const SHA_256: &str = "2.16.840.1.101.3.4.2.1";
const SHA_512: &str = "2.16.840.1.101.3.4.2.3";

/// ESSCertID, by SHA-1, and ESSCertIDv2, by SHA-256 unless it says otherwise (RFC 5035).
#[test]
fn the_certificate_is_the_one_that_attributes_name() {
    use sha1::Sha1;
    use sha2::{Digest, Sha256, Sha512};

    const V1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 2, 12];
    const V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 2, 47];
    let person = Person::new(SignatureAlgorithm::MlDsa65);
    let der = person.certificate.der();
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let identifier = |oid: &str| {
        let oid = ObjectIdentifier::new_unwrap(oid).to_der().unwrap();
        tlv(0x30, &[&oid])
    };
    let attribute = |oid: &[u8], algorithm: &[u8], hash: &[u8]| {
        let first = tlv(0x30, &[algorithm, &tlv(4, &[hash])]);
        let value = tlv(0x30, &[&tlv(0x30, &[&first])]);
        tlv(0x30, &[&tlv(6, &[oid]), &tlv(0x31, &[&value])])
    };
    let verify = |attribute: Vec<u8>| {
        let message = signed_by_hand(&person, SHA_512, PreHash::Sha512, |attributes| {
            attributes.push(attribute);
            attributes.sort();
        });
        verifier.verify_detached(&message[..], CONTENT)
    };
    let (sha_1, sha_256) = (Sha1::digest(der), Sha256::digest(der));
    for (oid, algorithm, hash) in [
        (V1, vec![], sha_1.to_vec()),
        (V2, vec![], sha_256.to_vec()),
        (V2, identifier(SHA_256), sha_256.to_vec()),
        (V2, identifier(SHA_512), Sha512::digest(der).to_vec()),
    ] {
        assert!(verify(attribute(oid, &algorithm, &hash)).is_ok());
        let mut other = hash.clone();
        other[7] ^= 1;
        for other in [&other[..], &hash[1..], &[]] {
            assert!(matches!(
                refusal(verify(attribute(oid, &algorithm, other))),
                SignatureRefusal::OtherCertificate(_)
            ));
        }
    }
    let weak = attribute(V2, &identifier("1.3.14.3.2.26"), &sha_1);
    assert!(matches!(
        refusal(verify(weak)),
        SignatureRefusal::UnknownCertificateDigest(_)
    ));
    let empty = tlv(0x30, &[&tlv(0x30, &[])]);
    let empty = tlv(0x30, &[&tlv(6, &[V2]), &tlv(0x31, &[&empty])]);
    assert!(matches!(refusal(verify(empty)), SignatureRefusal::Der(_)));
}

#[test]
fn what_verifiers_refuse_of_attributes() {
    let person = Person::new(SignatureAlgorithm::MlDsa65);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let verify = |message: Vec<u8>| verifier.verify_detached(&message[..], CONTENT);
    let by_hand = |alter: fn(&mut Vec<Vec<u8>>)| {
        verify(signed_by_hand(&person, SHA_512, PreHash::Sha512, alter))
    };
    assert!(by_hand(|_| ()).is_ok());

    let weak = signed_by_hand(&person, SHA_256, PreHash::Sha256, |_| ());
    assert!(matches!(
        refusal(verify(weak)),
        SignatureRefusal::Weakness(Weakness::Digest { .. })
    ));
    let unknown = signed_by_hand(&person, "1.3.14.3.2.26", PreHash::Sha512, |_| ());
    assert!(matches!(
        refusal(verify(unknown)),
        SignatureRefusal::UnknownDigest(_)
    ));
    let swapped = by_hand(|attributes| attributes.swap(0, 1));
    assert!(matches!(
        refusal(swapped),
        SignatureRefusal::AttributesNotSorted
    ));
    // so are the values of an attribute, whatever it is
    let with_values = |values: [u8; 2]| {
        let values = values.map(|value| [2, 1, value]).concat();
        let attribute = tlv(0x30, &[&[6, 3, 42, 3, 4], &tlv(0x31, &[&values])]);
        verify(signed_by_hand(
            &person,
            SHA_512,
            PreHash::Sha512,
            |attributes| {
                attributes.push(attribute);
                attributes.sort();
            },
        ))
    };
    assert!(with_values([1, 2]).is_ok());
    assert!(matches!(
        refusal(with_values([2, 1])),
        SignatureRefusal::AttributesNotSorted
    ));
    let twice = by_hand(|attributes| attributes.push(attributes[1].clone()));
    assert!(matches!(
        refusal(twice),
        SignatureRefusal::AttributeTwice(_)
    ));
    let two_values = by_hand(|attributes| {
        let values = parts(&attributes[1]);
        let both = [value(values[1]), value(values[1])].concat();
        attributes[1] = tlv(0x30, &[values[0], &tlv(0x31, &[&both])]);
    });
    assert!(matches!(
        refusal(two_values),
        SignatureRefusal::AttributeTwice(_)
    ));
    for missing in 0..2 {
        let message = signed_by_hand(&person, SHA_512, PreHash::Sha512, |attributes| {
            attributes.remove(missing);
        });
        assert!(matches!(
            refusal(verify(message)),
            SignatureRefusal::AttributeMissing(_)
        ));
    }
    // a message for another type of content
    let other_type = by_hand(|attributes| {
        let at = attributes[0].len() - 1;
        attributes[0][at] = 2;
    });
    assert!(matches!(
        refusal(other_type),
        SignatureRefusal::ContentType { .. }
    ));
    // attributes of further types, as many as are read and one more
    for (more, is_accepted) in [(62, true), (63, false)] {
        let message = signed_by_hand(&person, SHA_512, PreHash::Sha512, |attributes| {
            let other = |number| tlv(0x30, &[&[6, 2, 42, number], &tlv(0x31, &[])]);
            attributes.extend((0..more).map(other));
            attributes.sort();
        });
        match is_accepted {
            true => assert!(verify(message).is_ok()),
            false => assert!(matches!(
                refusal(verify(message)),
                SignatureRefusal::TooManyAttributes(64)
            )),
        }
    }
    // CMSAlgorithmProtection that says SHA-256
    let protected = by_hand(|attributes| {
        let protection = hex::decode(
            "302906092a864886f70d010934311c301a300b0609608648016503040201\
             a10b0609608648016503040312",
        )
        .unwrap();
        attributes.insert(1, protection[..].to_vec());
        attributes.sort();
    });
    assert!(
        matches!(
            protected,
            Err(VerificationError::Signature { ref refusal, .. })
                if matches!(**refusal, SignatureRefusal::AlgorithmsAltered)
        ),
        "{protected:?}"
    );
}

#[test]
fn without_attributes() {
    let person = Person::new(SignatureAlgorithm::MlDsa65);
    let validator = validator();
    let verifier = Verifier::with_chains(&validator);
    let plain = |person: &Person, content: &[u8]| {
        let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
        let builder = SignedDataBuilder::new().signer(signer);
        (
            attached(builder.clone(), content),
            builder.sign_detached(content).unwrap(),
        )
    };
    let large = large();
    let (message, detached) = plain(&person, &large);
    // The signature is directly over the content, like any other signature of the key.
    let verified = verifier.verify_detached(&detached[..], &large[..]).unwrap();
    assert_eq!(verified.signers[0].attributes, None);
    assert_eq!(verified.signers[0].digest, None);
    assert!(
        verifier
            .write_unverified(&message[..], &mut Vec::new())
            .is_ok()
    );
    let little = verifier.clone().whole_limit(0);
    assert!(little.verify_detached(&detached[..], &large[..]).is_ok());
    assert!(matches!(
        refusal(little.write_unverified(&message[..], &mut Vec::new())),
        SignatureRefusal::TooLarge(65536)
    ));
    let known = [person.certificate];
    let expecting = little.certificates(known).unwrap().expect_no_attributes();
    assert!(
        expecting
            .write_unverified(&message[..], &mut Vec::new())
            .is_ok()
    );
    assert!(matches!(
        refusal(verifier.verify_detached(&detached[..], CONTENT)),
        SignatureRefusal::Signature(_)
    ));
    // Without a signing time, no chain can be validated for it.
    let then = verifier.clone().time(VerificationTime::Signing);
    assert!(matches!(
        refusal(then.write_unverified(&message[..], &mut Vec::new())),
        SignatureRefusal::NoSigningTime
    ));

    let slow = Person::new(SignatureAlgorithm::SlhDsaSha2_128f);
    let (message, detached) = plain(&slow, &large);
    assert!(
        verifier
            .write_unverified(&message[..], &mut Vec::new())
            .is_ok()
    );
    assert!(verifier.verify_detached(&detached[..], &large[..]).is_ok());
    let signer = DocumentSigner::new(&slow.certificate, &slow.key).without_attributes();
    let too_large = SignedDataBuilder::new()
        .signer(signer.clone())
        .sign_detached(&vec![0; 1024 * 1024 + 1][..]);
    assert!(matches!(too_large, Err(SigningError::TooLarge(_))));
    // RFC 5652, section 5.3
    let other = SignedDataBuilder::new()
        .signer(signer)
        .content_type(ObjectIdentifier::new_unwrap("1.2.3"))
        .sign_detached(CONTENT);
    assert!(matches!(other, Err(SigningError::AttributesRequired(_))));
}

/// The same signature without its attributes, and the attributes as content for it.
fn attributes_as_content(message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let signed = parts(parts(parts(message)[1])[0]);
    let signers = signed.last().unwrap();
    let signer = parts(parts(signers)[0]);
    let content = tlv(0x31, &[value(signer[3])]);
    let without = tlv(
        0x30,
        &[signer[0], signer[1], signer[2], signer[4], signer[5]],
    );
    let forged = tlv(
        0x30,
        &[
            signed[0],
            signed[1],
            signed[2],
            signed[3],
            &tlv(0x31, &[&without]),
        ],
    );
    let forged = tlv(0x30, &[parts(message)[0], &tlv(0xa0, &[&forged])]);
    (forged, content)
}

/// Attributes that become content: they are refused as the content of a message without attributes.
#[test]
fn attributes_are_no_content() {
    let person = Person::new(SignatureAlgorithm::MlDsa65);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let by_hand = |attribute: Vec<u8>| {
        signed_by_hand(&person, SHA_512, PreHash::Sha512, |attributes| {
            attributes.push(attribute);
        })
    };
    let oid = [6, 3, 42, 3, 4];
    let large = tlv(0x31, &[&tlv(4, &[&vec![0; 2 << 20]])]);
    for message in [
        by(&person).sign_detached(CONTENT).unwrap(),
        // attributes that are not accepted here, but by others
        by_hand(tlv(0x30, &[&oid, &tlv(0x31, &[])]).repeat(2)),
        // more than is kept in memory
        by_hand(tlv(0x30, &[&oid, &large])),
    ] {
        let (forged, content) = attributes_as_content(&message);
        assert!(matches!(
            refusal(verifier.verify_detached(&forged[..], &content[..])),
            SignatureRefusal::ContentIsAttributes
        ));
        // Nor can they be signed as content, which would let somebody make a message with them as attributes.
        let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
        let signed = SignedDataBuilder::new()
            .signer(signer)
            .sign_detached(&content[..]);
        assert!(matches!(signed, Err(SigningError::ContentIsAttributes)));
    }
    // Other content that begins like this is accepted.
    for content in [&b"1"[..], b"1\x03abc", b"1\x84\0\0\0\x01x", &large[1..]] {
        let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
        let signed = SignedDataBuilder::new()
            .signer(signer)
            .sign_detached(content);
        let verified = verifier.verify_detached(&signed.unwrap()[..], content);
        assert!(verified.is_ok());
    }
}

#[test]
fn several_signers_of_all_kinds() {
    let (one, two) = (
        Person::new(SignatureAlgorithm::MlDsa87),
        Person::new(SignatureAlgorithm::SlhDsaShake128f),
    );
    let classical = P256Key::new(7);
    let its_certificate = certificate("classical", &classical);
    let builder = by(&one)
        .signer(DocumentSigner::new(&two.certificate, &two.key).by_key_identifier())
        .signer(DocumentSigner::with_signer(&its_certificate, &classical));
    let message = attached(builder.clone(), CONTENT);
    let detached = builder.sign_detached(CONTENT).unwrap();
    let validator = validator();
    let verifier = Verifier::with_chains(&validator);
    let all = verifier.clone().algorithms(&[&EcdsaP256]);
    let verified = all.write_unverified(&message[..], &mut Vec::new()).unwrap();
    assert_eq!(verified.signers.len(), 3);
    assert!(all.verify_detached(&detached[..], CONTENT).is_ok());

    // All signatures have to be valid, unless one is enough.
    assert!(matches!(
        refusal(verifier.write_unverified(&message[..], &mut Vec::new())),
        SignatureRefusal::Signature(_)
    ));
    let any = verifier.any_signer();
    let verified = any.write_unverified(&message[..], &mut Vec::new()).unwrap();
    assert_eq!((verified.signers.len(), verified.refused.len()), (2, 1));
    assert!(any.verify_detached(&detached[..], &b"other"[..]).is_err());
}

/// The composite of an ML-DSA key and one that is not asked: its signatures are whatever.
struct Half(Vec<u8>);

impl Half {
    fn identifier() -> CompositeIdentifier {
        let mut all = CompositeIdentifier::ALL.iter();
        *all.find(|one| one.name() == "MLDSA44-Ed25519-SHA512")
            .unwrap()
    }

    fn of(key: &SigningKey) -> Self {
        let spki = key.spki();
        let (_, ml_dsa) = spki.split_at(spki.len() - Self::identifier().ml_dsa().public_key_len());
        let bits = [&[0], ml_dsa, &[7; 32]].concat();
        let oid = Self::identifier().oid().to_der().unwrap();
        Self(tlv(0x30, &[&tlv(0x30, &[&oid]), &tlv(3, &[&bits])]))
    }
}

impl SubjectKey for Half {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.0.as_slice().into()
    }
}

impl Signer for Half {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: Self::identifier().oid(),
            parameters: None,
        }
    }

    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(vec![1])
    }
}

#[derive(Debug)]
struct Whatever;

impl SignatureVerificationAlgorithm for Whatever {
    fn verify_signature(&self, _: &[u8], _: &[u8], _: &[u8]) -> Result<(), InvalidSignature> {
        Ok(())
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.signature_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        let oid = Half::identifier().oid().to_der().unwrap();
        AlgorithmIdentifier::from_slice(Box::leak(oid.into_boxed_slice()))
    }
}

/// A key is one signer in whatever form its certificates have it, and with another key as a composite.
#[test]
fn a_signer_is_a_key_however_it_is_written() {
    let (point, compressed) = (P256Key::new(7), P256Key::new(7).compressed());
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let half = Half::of(&person.key);
    // This crate issues none for such a point, but others do.
    let with_key = |certificate: &Certificate, key: &P256Key| {
        let (spki, own) = (key.spki(), parts(certificate.der()));
        let mut tbs = parts(own[0]);
        tbs[6] = &spki;
        Certificate::from_der(&tlv(0x30, &[&tlv(0x30, &tbs), own[1], own[2]])).unwrap()
    };
    let certificates = [
        certificate("point", &point),
        with_key(&certificate("compressed", &point), &compressed),
        certificate("half", &half),
    ];
    let verifier = Verifier::with_signers(certificates.clone()).unwrap();
    let verifier = verifier.certificates([person.certificate.clone()]).unwrap();
    let verifier = verifier.algorithms(&[&EcdsaP256, &Whatever]);
    let [first, second, third] = &certificates;
    let signers = |builder: SignedDataBuilder<'_>| {
        let (_, verified) = verifier
            .verify(&attached(builder, CONTENT)[..], 100)
            .unwrap();
        verified.signers.len()
    };
    let classical = SignedDataBuilder::new()
        .signer(DocumentSigner::with_signer(first, &point))
        .signer(DocumentSigner::with_signer(second, &compressed));
    assert_eq!(signers(classical), 1);
    let composite = by(&person).signer(DocumentSigner::with_signer(third, &half));
    assert_eq!(signers(composite.clone()), 1);
    assert_eq!(
        signers(composite.signer(DocumentSigner::with_signer(first, &point))),
        2
    );
}

#[test]
fn who_is_trusted_and_when() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let stranger = Person::new(SignatureAlgorithm::MlDsa44);
    let validator = validator();
    let hour = Duration::from_secs(3600);
    let message = |time: SystemTime| attached(by(&person).signing_time(time), CONTENT);
    let verify = |verifier: &Verifier<'_>, message: &[u8]| {
        verifier.write_unverified(message, &mut Vec::new())
    };

    // Pinned certificates are trusted; others are not, whether they are in the message or not.
    let now = message(SystemTime::now());
    let pinned = Verifier::with_signers([person.certificate.clone()]).unwrap();
    assert!(verify(&pinned, &now).is_ok());
    let other = Verifier::with_signers([stranger.certificate.clone()]).unwrap();
    assert!(matches!(
        refusal(verify(&other, &now)),
        SignatureRefusal::NoCertificate
    ));

    // If the message has no certificates, the verifier has to know them.
    let bare = attached(by(&person).without_certificates(), CONTENT);
    let verifier = Verifier::with_chains(&validator);
    assert!(matches!(
        refusal(verify(&verifier, &bare)),
        SignatureRefusal::NoCertificate
    ));
    let known = [stranger.certificate, person.certificate.clone()];
    let knowing = verifier.clone().certificates(known).unwrap();
    assert!(verify(&knowing, &bare).is_ok());

    // Signed before the certificate was valid: only a check for the signing time notices this.
    let early = message(SystemTime::now() - 1000 * hour);
    assert!(verify(&verifier, &early).is_ok());
    let then = verifier.clone().time(VerificationTime::Signing);
    assert!(verify(&then, &now).is_ok());
    assert!(matches!(
        refusal(verify(&then, &early)),
        SignatureRefusal::Chain(ValidationError::NotYetValid { .. })
    ));
    let later = UnixTime::since_unix_epoch(UnixTime::now().as_secs_duration() + 1_000_000 * hour);
    assert!(matches!(
        refusal(verify(&verifier.time(VerificationTime::At(later)), &now)),
        SignatureRefusal::Chain(ValidationError::Expired { .. })
    ));
}

trait Seconds {
    fn as_secs_duration(&self) -> Duration;
}

impl Seconds for UnixTime {
    fn as_secs_duration(&self) -> Duration {
        Duration::from_secs(self.as_secs())
    }
}

#[test]
fn signers_are_checked_before_the_content_is_read() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let other = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let not_read = std::io::empty();
    let signed = SignedDataBuilder::new().sign_detached(not_read);
    assert!(matches!(signed, Err(SigningError::NoSigner)));
    let signer = DocumentSigner::new(&person.certificate, &other);
    let signed = SignedDataBuilder::new()
        .signer(signer)
        .sign_detached(CONTENT);
    assert!(matches!(signed, Err(SigningError::OtherKey(_))));
    // Verifiers refuse signatures with a certificate for encryption alone.
    let agreeing = EcdhKey::new(5);
    let key = P256Key::new(5);
    let sign = |usages: KeyUsages| {
        let certificate = agreeing.certificate(usages);
        let signer = DocumentSigner::with_signer(&certificate, &key);
        let signed = SignedDataBuilder::new()
            .signer(signer)
            .sign_detached(CONTENT);
        signed.map(|_| ()).map_err(|error| error.to_string())
    };
    for usages in [KeyUsages::KeyAgreement, KeyUsages::CRLSign] {
        let error = sign(usages).unwrap_err();
        assert!(
            error.contains("neither digitalSignature nor nonRepudiation"),
            "{error}"
        );
    }
    for usages in [KeyUsages::DigitalSignature, KeyUsages::NonRepudiation] {
        sign(usages).unwrap();
    }
    // ECDSA with SHA-256 is no stronger for SHA-512 beside it.
    let classical = P256Key::new(5);
    let certificate = certificate("classical", &classical);
    let signer = DocumentSigner::with_signer(&certificate, &classical).digest(PreHash::Sha512);
    let signed = SignedDataBuilder::new()
        .signer(signer)
        .sign_detached(CONTENT);
    assert!(matches!(signed, Err(SigningError::OtherDigest(_))));
}

/// BER in every form that other programs write: indefinite lengths, strings in pieces, and one byte at a
/// time.
#[test]
fn ber() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let message = attached(by(&person), CONTENT);
    let info = parts(&message);
    let signed = parts(parts(info[1])[0]);
    let content = parts(signed[2]);
    let (start, end) = CONTENT.split_at(4);
    let pieces: [Vec<u8>; 4] = [
        tlv(0x24, &[&tlv(4, &[start]), &tlv(4, &[]), &tlv(4, &[end])]),
        indefinite(0x24, &[&tlv(4, &[start]), &tlv(4, &[end])]),
        indefinite(
            0x24,
            &[
                &indefinite(0x24, &[&tlv(4, &[start])]),
                &tlv(0x24, &[&tlv(4, &[end])]),
            ],
        ),
        tlv(4, &[CONTENT]),
    ];
    for octets in &pieces {
        for wrap in [tlv, indefinite] {
            let signers = wrap(0x31, &[&wrap(0x30, &[value(parts(signed[4])[0])])]);
            let content = wrap(0x30, &[content[0], &wrap(0xa0, &[octets])]);
            let parts = [signed[0], signed[1], &content, signed[3], &signers];
            let signed = wrap(0xa0, &[&wrap(0x30, &parts)]);
            let message = wrap(0x30, &[info[0], &signed]);
            let mut written = Vec::new();
            verifier
                .write_unverified(OneByOne(&message), &mut written)
                .unwrap();
            assert_eq!(written, CONTENT);
        }
    }
    // A piece that is not an OCTET STRING.
    let octets = tlv(0x24, &[&tlv(4, &[start]), &tlv(12, &[end])]);
    let content = tlv(0x30, &[content[0], &tlv(0xa0, &[&octets])]);
    let parts = [signed[0], signed[1], &content, signed[3], signed[4]];
    let message = tlv(0x30, &[info[0], &tlv(0xa0, &[&tlv(0x30, &parts)])]);
    assert!(
        verifier
            .write_unverified(&message[..], &mut Vec::new())
            .is_err()
    );
}

/// Without attributes, a signer's digest says nothing (RFC 9882, section 3.3; RFC 9814, section 4): it need be neither
/// announced nor known.
#[test]
fn a_digest_that_nothing_was_hashed_with() {
    const SHA_512: [u8; 9] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3];
    for algorithm in [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::SlhDsaSha2_128f,
    ] {
        let person = Person::new(algorithm);
        let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
        let signer = DocumentSigner::new(&person.certificate, &person.key)
            .without_attributes()
            .digest(PreHash::Sha512);
        let message = attached(SignedDataBuilder::new().signer(signer), CONTENT);
        // SHA-256, and what is no digest; in the SignerInfo, which is behind the list of digests.
        for last in [3, 1, 0x7f] {
            let mut changed = message.clone();
            let places = changed.windows(9).enumerate();
            let found = places.filter(|(_, bytes)| *bytes == SHA_512);
            let of_signer = found.map(|(place, _)| place).max().unwrap();
            changed[of_signer + 8] = last;
            let verified = verifier.write_unverified(&changed[..], std::io::sink());
            assert_eq!(
                verified.unwrap().signers[0].digest,
                None,
                "{algorithm} {last}"
            );
        }
    }
}

/// SHA-2's parameters may be absent or NULL, and the message and the signer may differ in that.
#[test]
fn null_is_as_good_as_nothing() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let message = attached(by(&person), CONTENT);
    let info = parts(&message);
    let signed = parts(parts(info[1])[0]);
    let oid = parts(parts(signed[1])[0])[0];
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let with = |parameters: &[u8]| {
        let digests = tlv(0x31, &[&tlv(0x30, &[oid, parameters])]);
        let parts = [&[signed[0], &digests], &signed[2..]].concat();
        let signed = tlv(0xa0, &[&tlv(0x30, &parts)]);
        let message = tlv(0x30, &[info[0], &signed]);
        verifier.write_unverified(&message[..], std::io::sink())
    };
    for parameters in [&[][..], &[5, 0]] {
        with(parameters).unwrap();
    }
    let refused = refusal(with(&[4, 0]));
    assert!(matches!(refused, SignatureRefusal::DigestNotAnnounced(_)));
    // Nobody knows whether it was altered.
    assert!(
        refused
            .to_string()
            .contains("or a program made it that leaves this out")
    );
}

#[test]
fn content_is_handed_out_up_to_a_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let message = attached(by(&person), CONTENT);
    let (content, _) = verifier.verify(&message[..], CONTENT.len()).unwrap();
    assert_eq!(content, CONTENT);
    assert!(matches!(
        verifier.verify(&message[..], CONTENT.len() - 1),
        Err(VerificationError::ContentTooLarge(_))
    ));
}

/// The issuer's name in a message has the bytes that it has in the certificate, also if it is of a type that nobody would
/// write today: others look for the certificate by these.
#[test]
fn issuers_keep_their_bytes() {
    let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("four"), ca_key).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let builder = CertificateBuilder::end_entity().common_name("somebody");
    let utf8 = ca.issue(builder, &key).unwrap();
    // the character a, as a UniversalString
    let (before, after) = ([12, 4, b'f', b'o', b'u', b'r'], [28, 4, 0, 0, 0, b'a']);
    let mut der = utf8.der().to_vec();
    let at = der.windows(6).position(|bytes| bytes == before).unwrap();
    der[at..at + 6].copy_from_slice(&after);
    let certificate = Certificate::from_der(&der).unwrap();
    let message = attached(
        SignedDataBuilder::new()
            .signer(DocumentSigner::new(&certificate, &key))
            .without_certificates(),
        CONTENT,
    );
    let count = |name: &[u8]| {
        message
            .windows(name.len())
            .filter(|bytes| *bytes == name)
            .count()
    };
    assert_eq!(count(certificate.issuer_der()), 1);
    assert_eq!(count(utf8.issuer_der()), 0);
}
