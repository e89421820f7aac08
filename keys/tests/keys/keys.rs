//! Private and public keys: encodings, forms, and what must be refused.

use std::sync::LazyLock;

use der::asn1::{Any, AnyRef, BitStringRef, OctetStringRef};
use der::{Decode, Encode, Tag};
use pkcs8::{PrivateKeyInfo, PrivateKeyInfoRef};
use pq_core::slh_dsa::PreHash;
use pq_keys::encoding::pem::PemError;
use pq_keys::signing::{SignatureOptions, SigningVariant};
use pq_keys::{
    Algorithm, DecapsulationKey, EncapsulationKey, KemAlgorithm, KeyError, PrivateKey,
    PrivateKeyForm, PublicKey, SignatureAlgorithm, SigningKey, SubjectKey, VerifyingKey,
};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

use crate::quick::quick_algorithms;

const FORMS: [PrivateKeyForm; 3] = [
    PrivateKeyForm::Seed,
    PrivateKeyForm::Expanded,
    PrivateKeyForm::Both,
];

/// The private key forms of the algorithm.
fn forms(algorithm: Algorithm) -> impl Iterator<Item = PrivateKeyForm> {
    FORMS
        .into_iter()
        .filter(move |form| !is_slh_dsa(algorithm) || *form == PrivateKeyForm::Expanded)
}

fn is_slh_dsa(algorithm: Algorithm) -> bool {
    algorithm.name().starts_with("SLH-DSA")
}

/// A key from a fixed seed, so that failures repeat.
fn key(algorithm: Algorithm) -> PrivateKey {
    let seed: Vec<u8> = (0..).take(algorithm.seed_len()).collect();
    match algorithm {
        Algorithm::Signature(algorithm) => {
            PrivateKey::Signing(SigningKey::from_seed(algorithm, &seed).unwrap())
        }
        Algorithm::Kem(algorithm) => {
            PrivateKey::Decapsulation(DecapsulationKey::from_seed(algorithm, &seed).unwrap())
        }
        other => panic!("no test for {other}"),
    }
}

/// One key of each algorithm, made once: the *s* sets of SLH-DSA take their time.
fn keys() -> impl Iterator<Item = PrivateKey> {
    static KEYS: LazyLock<Vec<PrivateKey>> =
        LazyLock::new(|| Algorithm::ALL.iter().copied().map(key).collect());
    KEYS.iter().cloned()
}

/// Keys whose private keys have all three forms.
fn ml_keys() -> impl Iterator<Item = PrivateKey> {
    keys().filter(|key| !is_slh_dsa(key.algorithm()))
}

fn slh_dsa_keys() -> impl Iterator<Item = PrivateKey> {
    keys().filter(|key| is_slh_dsa(key.algorithm()))
}

/// PKCS#8 around arbitrary contents.
fn pkcs8(identifier: AlgorithmIdentifierRef<'_>, contents: &[u8]) -> Vec<u8> {
    let contents = OctetStringRef::new(contents).unwrap();
    let info: PrivateKeyInfoRef<'_> =
        PrivateKeyInfo::<_, _, BitStringRef<'_>>::new(identifier, contents);
    info.to_der().unwrap()
}

fn contents(der: &[u8]) -> Vec<u8> {
    let info = PrivateKeyInfoRef::from_der(der).unwrap();
    info.private_key.as_bytes().to_vec()
}

/// The prefixes that follow from RFC 9881 and RFC 9935.
#[test]
fn prefixes_and_lengths() {
    let expected = [
        (
            "ML-DSA-44",
            "30820532300b060960864801650304031103820521 00",
            1334,
        ),
        (
            "ML-DSA-65",
            "308207b2300b0609608648016503040312038207a1 00",
            1974,
        ),
        (
            "ML-DSA-87",
            "30820a32300b060960864801650304031303820a21 00",
            2614,
        ),
        (
            "ML-KEM-512",
            "30820332300b060960864801650304040103820321 00",
            822,
        ),
        (
            "ML-KEM-768",
            "308204b2300b0609608648016503040402038204a1 00",
            1206,
        ),
        (
            "ML-KEM-1024",
            "30820632300b060960864801650304040303820621 00",
            1590,
        ),
    ];
    let expected_private = [
        (
            "3034020100300b060960864801650304031104228020",
            54,
            "0482 0a00",
            "30820a26 0420",
        ),
        (
            "3034020100300b060960864801650304031204228020",
            54,
            "0482 0fc0",
            "30820fe6 0420",
        ),
        (
            "3034020100300b060960864801650304031304228020",
            54,
            "0482 1320",
            "30821346 0420",
        ),
        (
            "3054020100300b060960864801650304040104428040",
            86,
            "0482 0660",
            "308206a6 0440",
        ),
        (
            "3054020100300b060960864801650304040204428040",
            86,
            "0482 0960",
            "308209a6 0440",
        ),
        (
            "3054020100300b060960864801650304040304428040",
            86,
            "0482 0c60",
            "30820ca6 0440",
        ),
    ];
    let bytes = |text: &str| hex::decode(text.replace(' ', "")).unwrap();
    for ((key, public), private) in ml_keys().zip(expected).zip(expected_private) {
        let (name, prefix, len) = public;
        assert_eq!(key.algorithm().name(), name);
        let spki = key.spki();
        assert_eq!(spki.len(), len, "{name}");
        assert!(spki.starts_with(&bytes(prefix)), "{name}");

        let (prefix, len, expanded, both) = private;
        let der = key.to_pkcs8_der().unwrap();
        assert_eq!(der.len(), len, "{name}");
        assert!(der.starts_with(&bytes(prefix)), "{name}");
        assert!(der.ends_with(key.seed().unwrap()), "{name}");

        let inner = contents(&key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap());
        assert!(inner.starts_with(&bytes(expanded)), "{name}");
        assert_eq!(inner[4..], *key.to_expanded(), "{name}");

        let inner = contents(&key.to_pkcs8_der_as(PrivateKeyForm::Both).unwrap());
        assert!(inner.starts_with(&bytes(both)), "{name}");
        assert!(inner.ends_with(&key.to_expanded()), "{name}");
    }
}

/// RFC 9909: keys without a structure of their own.
#[test]
fn slh_dsa_keys_stand_bare() {
    for (rank, key) in slh_dsa_keys().enumerate() {
        let name = key.algorithm().name();
        let public = PublicKey::from_spki_der(&key.spki()).unwrap();
        let n = public.as_bytes().len() / 2;
        let arc = 20 + u8::try_from(rank).unwrap();
        let (spki_start, private_start) = match n {
            16 => ("3030", "3052020100"),
            24 => ("3040", "3072020100"),
            _ => ("3050", "308193020100"),
        };
        let identifier = format!("300b06096086480165030403{arc:02x}");
        let octets = match n {
            16 => "0440",
            24 => "0460",
            _ => "048180",
        };
        let hex = |bytes: &[u8]| hex::encode(bytes);

        let bits = format!("03{:02x}00", 2 * n + 1);
        let expected = format!("{spki_start}{identifier}{bits}{}", hex(public.as_bytes()));
        assert_eq!(hex(&key.spki()), expected, "{name}");

        let der = key.to_pkcs8_der().unwrap();
        let raw = key.to_expanded();
        let expected = format!("{private_start}{identifier}{octets}{}", hex(&raw));
        assert_eq!(hex(&der), expected, "{name}");
        // SK.seed, SK.prf and the public key (FIPS 205, figure 15).
        assert_eq!(raw.len(), 4 * n);
        assert_eq!(raw[2 * n..], *public.as_bytes());
        assert_eq!(raw[..3 * n], *key.seed().unwrap());
    }
}

#[test]
fn slh_dsa_keys_have_one_form() {
    for key in slh_dsa_keys() {
        let algorithm = key.algorithm();
        for form in [PrivateKeyForm::Seed, PrivateKeyForm::Both] {
            let error = key.to_pkcs8_der_as(form).unwrap_err();
            assert_eq!(error, KeyError::FormUnavailable { algorithm, form });
            assert!(error.to_string().contains("ask for this form"));
        }
        // A key wrapped in an additional OCTET STRING, and lengths that are not 4n.
        let identifier = algorithm.identifier();
        let raw = key.to_expanded();
        let wrapped = OctetStringRef::new(&raw).unwrap().to_der().unwrap();
        let longer = [&raw[..], &[0]].concat();
        for contents in [&wrapped, &longer, &raw[1..], &raw[..3 * raw.len() / 4], &[]] {
            assert!(matches!(
                PrivateKey::from_pkcs8_der(&pkcs8(identifier, contents)),
                Err(KeyError::Malformed {
                    error: pq_core::Error::WrongLength { .. },
                    ..
                })
            ));
        }
    }
}

#[test]
fn every_form_is_read_and_written_again() {
    for key in keys() {
        for form in forms(key.algorithm()) {
            let der = key.to_pkcs8_der_as(form).unwrap();
            let again = PrivateKey::from_pkcs8_der(&der).unwrap();
            assert_eq!(again.to_pkcs8_der_as(form).unwrap(), der);
            assert_eq!(again.spki(), key.spki());
            assert_eq!(again.to_expanded(), key.to_expanded());

            let pem = key.to_pkcs8_pem_as(form).unwrap();
            let again = PrivateKey::from_pkcs8_pem(&pem).unwrap();
            assert_eq!(again.to_pkcs8_pem_as(form).unwrap(), pem);

            match form {
                PrivateKeyForm::Seed | PrivateKeyForm::Both => {
                    assert_eq!(again.seed(), key.seed());
                }
                PrivateKeyForm::Expanded if is_slh_dsa(key.algorithm()) => {
                    assert_eq!(again.seed(), key.seed());
                    assert_eq!(key.to_pkcs8_der().unwrap(), der);
                }
                PrivateKeyForm::Expanded => {
                    assert_eq!(again.seed(), None);
                    let no_seed = KeyError::NoSeed(key.algorithm());
                    assert_eq!(again.to_pkcs8_der().unwrap_err(), no_seed);
                    assert_eq!(
                        again.to_pkcs8_pem_as(PrivateKeyForm::Both).unwrap_err(),
                        no_seed
                    );
                    assert!(no_seed.to_string().contains("ask for the expanded form"));
                }
            }
        }
    }
}

#[test]
fn keys_of_either_form_work_together() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let der = key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap();
        let expanded = SigningKey::from_pkcs8_der(&der).unwrap();
        let verifying = VerifyingKey::from_spki_der(key.verifying_key().to_spki_der()).unwrap();
        let signatures = [&key, &expanded].map(|signer| signer.sign(b"message").unwrap());
        for signature in &signatures {
            assert_eq!(signature.len(), algorithm.signature_len());
            assert_eq!(verifying.verify(b"message", signature), Ok(()));
            let invalid = Err(KeyError::InvalidSignature(algorithm));
            assert_eq!(verifying.verify(b"massage", signature), invalid);
            assert_eq!(verifying.verify(b"message", &signature[1..]), invalid);
        }
        // Hedged: two signatures of one message by one key differ.
        assert_ne!(signatures[0], signatures[1]);
    }
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let der = key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap();
        let expanded = DecapsulationKey::from_pkcs8_der(&der).unwrap();
        let public = EncapsulationKey::from_spki_pem(&key.encapsulation_key().to_spki_pem());
        let (ciphertext, secret) = public.unwrap().encapsulate().unwrap();
        assert_eq!(ciphertext.len(), algorithm.ciphertext_len());
        assert_eq!(key.decapsulate(&ciphertext).unwrap(), secret);
        assert_eq!(expanded.decapsulate(&ciphertext).unwrap(), secret);
        let mut place = [0; 32];
        let other = key.encapsulation_key().encapsulate_into(&mut place);
        let other = other.unwrap();
        assert_eq!(key.decapsulate(&other).unwrap().as_bytes(), &place);
        assert_eq!(key.decapsulate_into(&ciphertext, &mut place), Ok(()));
        assert_eq!(&place, secret.as_bytes());
        for refused in [&ciphertext[1..], &[]] {
            assert!(matches!(
                key.decapsulate(refused),
                Err(KeyError::Operation { .. })
            ));
            // then nothing is written
            let mut place = [7; 32];
            assert!(matches!(
                key.decapsulate_into(refused, &mut place),
                Err(KeyError::Operation { .. })
            ));
            assert_eq!(place, [7; 32]);
        }
    }
}

#[test]
fn signatures_are_hedged_by_the_randomness_given() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::from_seed(algorithm, &vec![7; algorithm.seed_len()]).unwrap();
        let sign = |byte| key.sign_with_randomness(b"message", &[byte; 32]).unwrap();
        let signature = sign(1);
        assert_eq!(signature, sign(1));
        assert_ne!(signature, sign(2));
        assert_eq!(key.verifying_key().verify(b"message", &signature), Ok(()));
    }
}

#[test]
fn expanded_keys_are_read_without_pkcs8() {
    for key in keys() {
        let bytes = key.to_expanded();
        let read = from_expanded(key.algorithm(), &bytes).unwrap();
        assert_eq!(read.to_expanded(), bytes);
        assert_eq!(read.seed().is_some(), is_slh_dsa(key.algorithm()));
        match (&key, &read) {
            (PrivateKey::Signing(key), PrivateKey::Signing(read)) => {
                assert_eq!(read.verifying_key(), key.verifying_key());
            }
            (PrivateKey::Decapsulation(key), PrivateKey::Decapsulation(read)) => {
                assert_eq!(read.encapsulation_key(), key.encapsulation_key());
            }
            kinds => panic!("{kinds:?}"),
        }

        let longer = [bytes.as_slice(), &[0]].concat();
        let mut damaged = bytes.to_vec();
        let mut refused = vec![&bytes[1..], &longer, &[]];
        // Only `check` compares the halves of an SLH-DSA key.
        if !is_slh_dsa(key.algorithm()) {
            // tr of ML-DSA, ek of ML-KEM
            let signs = matches!(key, PrivateKey::Signing(_));
            damaged[if signs { 64 } else { 384 * 4 }] ^= 1;
            refused.push(&damaged);
        }
        for bytes in refused {
            assert!(matches!(
                from_expanded(key.algorithm(), bytes),
                Err(KeyError::Malformed { algorithm, .. }) if algorithm == key.algorithm()
            ));
        }
    }
}

fn from_expanded(algorithm: Algorithm, bytes: &[u8]) -> Result<PrivateKey, KeyError> {
    match algorithm {
        Algorithm::Signature(algorithm) => {
            SigningKey::from_expanded(algorithm, bytes).map(PrivateKey::Signing)
        }
        Algorithm::Kem(algorithm) => {
            DecapsulationKey::from_expanded(algorithm, bytes).map(PrivateKey::Decapsulation)
        }
        other => panic!("no test for {other}"),
    }
}

#[test]
fn prepared_keys_verify_the_same() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let plain = key.verifying_key();
        let expanded = plain.expand();
        assert_eq!(&expanded, plain);
        assert_eq!(expanded.as_bytes(), plain.as_bytes());
        assert_eq!(expanded.to_spki_der(), plain.to_spki_der());
        assert_eq!(expanded.algorithm(), algorithm);

        let invalid = Err(KeyError::InvalidSignature(algorithm));
        let foreign = SigningKey::generate(algorithm).unwrap();
        let foreign = foreign.verifying_key().expand();
        let context = SignatureOptions::new().context(b"context");
        let hashed = SignatureOptions::new().pre_hash(PreHash::Sha512);
        for options in [SignatureOptions::new(), context, hashed] {
            let signature = key
                .sign_with(b"message", &options, SigningVariant::Hedged)
                .unwrap();
            for key in [&expanded, &expanded.expand(), &expanded.clone()] {
                assert_eq!(key.verify_with(b"message", &signature, &options), Ok(()));
                assert_eq!(key.verify_with(b"massage", &signature, &options), invalid);
                assert_eq!(
                    key.verify_with(b"message", &signature[1..], &options),
                    invalid
                );
            }
            assert_eq!(
                foreign.verify_with(b"message", &signature, &options),
                invalid
            );

            // and for a message that came in pieces: by µ, or by its digest
            let hasher = expanded.hasher(&options);
            if is_slh_dsa(algorithm.into()) && options != hashed {
                assert_eq!(hasher.map(|_| ()), Err(KeyError::CannotStream(algorithm)));
                continue;
            }
            let mut hasher = hasher.unwrap();
            hasher.update(b"mess");
            hasher.update(b"age");
            let message = hasher.finish();
            assert_eq!(expanded.verify_hashed(&message, &signature), Ok(()));
            assert_eq!(foreign.verify_hashed(&message, &signature), invalid);
        }
    }
}

#[test]
fn secrets_follow_from_the_randomness_given() {
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let encapsulate = |byte| {
            let mut secret = [0; 32];
            let public = key.encapsulation_key();
            let ciphertext = public.encapsulate_with_randomness(&[byte; 32], &mut secret);
            assert_eq!(ciphertext.len(), algorithm.ciphertext_len());
            assert_eq!(key.decapsulate(&ciphertext).unwrap().as_bytes(), &secret);
            (ciphertext, secret)
        };
        assert_eq!(encapsulate(1), encapsulate(1));
        let (one, two) = (encapsulate(1), encapsulate(2));
        assert_ne!(one.0, two.0);
        assert_ne!(one.1, two.1);
    }
}

#[test]
fn generated_keys_differ() {
    let keys = [(); 2].map(|()| SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap());
    assert_ne!(keys[0].seed(), keys[1].seed());
    assert_ne!(keys[0].verifying_key(), keys[1].verifying_key());
}

#[test]
fn kinds_are_told_apart() {
    for key in keys() {
        let der = key.to_pkcs8_der().unwrap();
        let signing = SigningKey::from_pkcs8_der(&der).map(|_| ());
        let decapsulation = DecapsulationKey::from_pkcs8_der(&der).map(|_| ());
        let verifying = VerifyingKey::from_spki_der(&key.spki()).map(|_| ());
        let encapsulation = EncapsulationKey::from_spki_der(&key.spki()).map(|_| ());
        let (ours, not_ours) = match key.algorithm() {
            Algorithm::Signature(algorithm) => {
                let error = KeyError::NotAKemKey(algorithm);
                (
                    [signing, verifying],
                    ([decapsulation, encapsulation], error),
                )
            }
            Algorithm::Kem(algorithm) => {
                let error = KeyError::NotASignatureKey(algorithm);
                (
                    [decapsulation, encapsulation],
                    ([signing, verifying], error),
                )
            }
            other => panic!("no test for {other}"),
        };
        assert_eq!(ours, [Ok(()), Ok(())]);
        assert_eq!(not_ours.0, [Err(not_ours.1.clone()), Err(not_ours.1)]);
    }
}

#[test]
fn version_2_public_keys_must_match() {
    for key in keys() {
        let identifier = key.algorithm().identifier();
        let own = PublicKey::from_spki_der(&key.spki()).unwrap();
        let mut other = own.as_bytes().to_vec();
        other[0] ^= 1;
        for form in forms(key.algorithm()) {
            let inner = contents(&key.to_pkcs8_der_as(form).unwrap());
            let with = |public_key: &[u8]| {
                let mut info: PrivateKeyInfoRef<'_> =
                    PrivateKeyInfo::new(identifier, OctetStringRef::new(&inner).unwrap());
                info.public_key = Some(BitStringRef::from_bytes(public_key).unwrap());
                info.to_der().unwrap()
            };
            let v2 = with(own.as_bytes());
            let read = PrivateKey::from_pkcs8_der(&v2).unwrap();
            // The written form is version 1.
            assert_eq!(
                read.to_pkcs8_der_as(form).unwrap(),
                key.to_pkcs8_der_as(form).unwrap()
            );
            for wrong in [other.as_slice(), &own.as_bytes()[1..], &[]] {
                assert_eq!(
                    PrivateKey::from_pkcs8_der(&with(wrong)).unwrap_err(),
                    KeyError::PublicKeyMismatch(key.algorithm())
                );
            }
            // Version 1 has no public key, version 2 has one. The version is the
            // contents of the first INTEGER.
            let version = v2.iter().position(|byte| *byte == 0x02).unwrap() + 2;
            let mut v1_with_key = v2.clone();
            assert_eq!(v1_with_key[version], 1);
            v1_with_key[version] = 0;
            assert!(matches!(
                PrivateKey::from_pkcs8_der(&v1_with_key),
                Err(KeyError::Der(_))
            ));
            let mut v2_without_key = key.to_pkcs8_der_as(form).unwrap();
            let version = v2_without_key.iter().position(|b| *b == 0x02).unwrap() + 2;
            v2_without_key[version] = 1;
            assert!(matches!(
                PrivateKey::from_pkcs8_der(&v2_without_key),
                Err(KeyError::Der(_))
            ));
        }
    }
}

/// Two public keys beside the private key, one of version 2 and one behind the expanded key, as liboqs writes it: each
/// has to be the key's.
#[test]
fn both_public_keys_must_match() {
    for key in ml_keys() {
        let algorithm = key.algorithm();
        let own = PublicKey::from_spki_der(&key.spki()).unwrap();
        let mut other = own.as_bytes().to_vec();
        *other.last_mut().unwrap() ^= 1;
        let read = |version_2: &[u8], behind: &[u8]| {
            let pair = [&key.to_expanded()[..], behind].concat();
            let pair = OctetStringRef::new(&pair).unwrap().to_der().unwrap();
            let mut info: PrivateKeyInfoRef<'_> =
                PrivateKeyInfo::new(algorithm.identifier(), OctetStringRef::new(&pair).unwrap());
            info.public_key = Some(BitStringRef::from_bytes(version_2).unwrap());
            PrivateKey::from_pkcs8_der(&info.to_der().unwrap()).map(|_| ())
        };
        assert_eq!(read(own.as_bytes(), own.as_bytes()), Ok(()));
        for (version_2, behind) in [
            (own.as_bytes(), &other[..]),
            (&other, own.as_bytes()),
            (&other, &other),
        ] {
            assert_eq!(
                read(version_2, behind),
                Err(KeyError::PublicKeyMismatch(algorithm))
            );
        }
    }
}

/// Attributes after the key are ignored. Other fields are refused, and so is
/// anything after the last field: a second public key, for example.
#[test]
fn fields_behind_the_key() {
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let public_key = BitStringRef::from_bytes(key.verifying_key().as_bytes()).unwrap();
    let identifier = Algorithm::from(key.algorithm()).identifier();
    let inner = contents(&key.to_pkcs8_der().unwrap());
    let read = |public_key: Option<BitStringRef<'_>>, behind: &[u8]| {
        let mut info: PrivateKeyInfoRef<'_> =
            PrivateKeyInfo::new(identifier, OctetStringRef::new(&inner).unwrap());
        info.public_key = public_key;
        let der = info.to_der().unwrap();
        let fields = AnyRef::from_der(&der).unwrap().value().to_vec();
        let fields = [&fields, behind].concat();
        let der = Any::new(Tag::Sequence, fields).unwrap().to_der().unwrap();
        PrivateKey::from_pkcs8_der(&der).map(|_| ())
    };

    // friendlyName (RFC 2985, section 5.5.1): "a"
    let attributes = hex::decode("a0133011").unwrap();
    let attribute = hex::decode("06092a864886f70d01091431041e020061").unwrap();
    assert_eq!(read(None, &[&attributes[..], &attribute].concat()), Ok(()));
    assert_eq!(read(None, &[0xa0, 0]), Ok(()));
    assert_eq!(read(Some(public_key), &[]), Ok(()));
    for (public_key, behind) in [
        // malformed attributes
        (None, [0xa0, 2, 0xff, 0xff].as_slice()),
        (None, &[0xa0, 2, 5, 0]),
        (None, &[0xa0, 0, 0xa0, 0]),
        // undefined fields
        (None, &[0xa2, 2, 5, 0]),
        (None, &[0xa2, 2, 5, 0, 0xa1, 2, 5, 0]),
        // attributes out of order, another public key
        (Some(public_key), &[0xa0, 0]),
        (Some(public_key), &[0x81, 2, 0, 1]),
        (Some(public_key), &[0xa1, 4, 3, 2, 0, 1]),
    ] {
        assert!(
            matches!(read(public_key, behind), Err(KeyError::Der(_))),
            "{behind:02x?}"
        );
    }
}

/// Every key's contents under every algorithm's identifier: only its own is accepted, and
/// a length only decides whether a key stands bare.
#[test]
fn identifiers_and_lengths_must_agree() {
    for key in keys() {
        for form in forms(key.algorithm()) {
            let inner = contents(&key.to_pkcs8_der_as(form).unwrap());
            for claimed in Algorithm::ALL {
                let read = PrivateKey::from_pkcs8_der(&pkcs8(claimed.identifier(), &inner));
                let same_seed_len = claimed.seed_len() == key.algorithm().seed_len();
                let same_len = claimed.expanded_len() == key.algorithm().expanded_len();
                match form {
                    _ if *claimed == key.algorithm() => assert!(read.is_ok()),
                    // This can't be told from a bare seed.
                    _ if inner.len() == claimed.seed_len() && !is_slh_dsa(*claimed) => {
                        assert_eq!(read.unwrap().seed(), Some(&*inner));
                    }
                    _ if is_slh_dsa(key.algorithm()) != is_slh_dsa(*claimed) => {
                        assert!(matches!(
                            read,
                            Err(KeyError::UnknownForm { .. }
                                | KeyError::Der(_)
                                | KeyError::Malformed { .. })
                        ));
                    }
                    // A bare key fits all sets whose keys have its length.
                    PrivateKeyForm::Expanded if is_slh_dsa(*claimed) && same_len => {
                        assert!(read.is_ok());
                    }
                    // A seed fits all sets whose seeds have its length.
                    PrivateKeyForm::Seed if same_seed_len => assert!(read.is_ok()),
                    PrivateKeyForm::Both if same_seed_len => {
                        assert_eq!(read.unwrap_err(), KeyError::SeedMismatch(*claimed));
                    }
                    _ => assert!(matches!(
                        read,
                        Err(KeyError::Malformed {
                            error: pq_core::Error::WrongLength { .. },
                            ..
                        })
                    )),
                }
            }
        }
    }
}

#[test]
fn the_tag_decides_the_form() {
    for key in ml_keys() {
        let identifier = key.algorithm().identifier();
        let seed = key.seed().unwrap();
        let expanded = key.to_expanded();
        let tagged = |tag: u8, contents: &[u8]| {
            let mut der = OctetStringRef::new(contents).unwrap().to_der().unwrap();
            der[0] = tag;
            der
        };
        let wrong_length = |contents: &[u8]| {
            assert!(matches!(
                PrivateKey::from_pkcs8_der(&pkcs8(identifier, contents)),
                Err(KeyError::Malformed {
                    error: pq_core::Error::WrongLength { .. },
                    ..
                })
            ));
        };
        // A seed tagged as an expanded key and the reverse.
        wrong_length(&tagged(0x04, seed));
        wrong_length(&tagged(0x80, &expanded));
        wrong_length(&tagged(0x80, &seed[1..]));
        wrong_length(&tagged(0x80, &[seed, &[0]].concat()));
        wrong_length(&tagged(0x04, &expanded[1..]));
        wrong_length(&tagged(0x80, &[]));
        // Other tags, and no tag at all.
        let others = [
            tagged(0xa0, &tagged(0x04, seed)),
            tagged(0x81, seed),
            tagged(0x03, seed),
            tagged(
                0x31,
                &[tagged(0x04, seed), tagged(0x04, &expanded)].concat(),
            ),
            [tagged(0x80, seed), vec![0]].concat(),
            tagged(
                0x30,
                &[tagged(0x04, seed), tagged(0x04, &expanded), vec![5, 0]].concat(),
            ),
            tagged(0x30, &tagged(0x04, seed)),
            tagged(
                0x30,
                &[tagged(0x80, seed), tagged(0x04, &expanded)].concat(),
            ),
            Vec::new(),
        ];
        for other in others {
            let unknown = KeyError::UnknownForm {
                algorithm: key.algorithm(),
                len: other.len(),
            };
            assert_eq!(
                PrivateKey::from_pkcs8_der(&pkcs8(identifier, &other)).unwrap_err(),
                unknown,
                "{}",
                hex::encode(&other[..other.len().min(8)])
            );
        }
    }
}

/// Bare keys as Botan writes them; and as liboqs does, with the public key after the expanded one.
#[test]
fn bare_keys_are_read() {
    for key in ml_keys() {
        let algorithm = key.algorithm();
        let read =
            |contents: &[u8]| PrivateKey::from_pkcs8_der(&pkcs8(algorithm.identifier(), contents));
        let seed = key.seed().unwrap();
        let expanded = key.to_expanded();

        let bare = read(seed).unwrap();
        assert_eq!(bare.spki(), key.spki());
        // It is written as the standards require.
        assert_eq!(bare.to_pkcs8_der().unwrap(), key.to_pkcs8_der().unwrap());
        let bare = read(&expanded).unwrap();
        assert_eq!((bare.spki(), bare.seed()), (key.spki(), None));
        let form = PrivateKeyForm::Expanded;
        let tagged = key.to_pkcs8_der_as(form).unwrap();
        assert_eq!(bare.to_pkcs8_der_as(form).unwrap(), tagged);

        // Whatever their first bytes are, even those of a member of the CHOICE that is too short.
        let rest = u8::try_from(seed.len() - 2).unwrap();
        for start in [[0x80, rest], [0x04, rest], [0x30, rest], [0, 0]] {
            let mut seed = seed.to_vec();
            seed[..2].copy_from_slice(&start);
            assert_eq!(read(&seed).unwrap().seed(), Some(&seed[..]));
        }
        for len in [seed.len() - 1, seed.len() + 1, expanded.len() - 1] {
            let error = read(&expanded[..len]).unwrap_err();
            assert_eq!(error, KeyError::UnknownForm { algorithm, len });
        }
        let mut damaged = expanded.to_vec();
        // In the hash of the public key, which both standards check.
        let at = match algorithm {
            Algorithm::Kem(_) => damaged.len() - 64,
            _ => 64,
        };
        damaged[at] ^= 1;
        assert!(matches!(read(&damaged), Err(KeyError::Malformed { .. })));

        let public = PublicKey::from_spki_der(&key.spki()).unwrap();
        let mut pair = [&expanded, public.as_bytes()].concat();
        let octets = |contents: &[u8]| OctetStringRef::new(contents).unwrap().to_der().unwrap();
        assert_eq!(read(&octets(&pair)).unwrap().spki(), key.spki());
        assert!(read(&pair).is_err());
        *pair.last_mut().unwrap() ^= 1;
        assert_eq!(
            read(&octets(&pair)).unwrap_err(),
            KeyError::PublicKeyMismatch(algorithm)
        );
    }
    let error = PrivateKey::from_pkcs8_der(&pkcs8(
        SignatureAlgorithm::MlDsa65.identifier(),
        &[0x18; 31],
    ));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the private key of ML-DSA-65 is in no known form: its 31 bytes are neither the \
         standards' CHOICE of seed, expanded key and both (RFC 9881 and RFC 9935, section 6), nor \
         a bare seed of 32 or expanded key of 4032 bytes; export it again, preferably as its seed"
    );
}

#[test]
fn seed_and_expanded_key_must_agree() {
    for key in ml_keys() {
        let both = key.to_pkcs8_der_as(PrivateKeyForm::Both).unwrap();
        let expanded_len = key.algorithm().expanded_len();
        let expanded_at = both.len() - expanded_len;
        let seed_at = expanded_at - 4 - key.algorithm().seed_len();
        let mismatch = KeyError::SeedMismatch(key.algorithm());
        // A bit in each part, in the last byte, and in the last byte of the seed (z of ML-KEM).
        for at in [
            seed_at,
            expanded_at - 5,
            expanded_at,
            expanded_at + expanded_len / 2,
        ]
        .into_iter()
        .chain([both.len() - 1])
        {
            let mut damaged = both.to_vec();
            damaged[at] ^= 1;
            assert_eq!(
                PrivateKey::from_pkcs8_der(&damaged).unwrap_err(),
                mismatch,
                "{at}"
            );
        }
    }
}

#[test]
fn expanded_keys_are_checked() {
    for key in ml_keys() {
        let der = key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap();
        let start = der.len() - key.algorithm().expanded_len();
        // For ML-DSA: ρ, tr, s₁, t₀. For ML-KEM: ŝ, ek, H(ek). z, at the end of an
        // ML-KEM key, can't be checked: any value is valid.
        let places: &[usize] = match key.algorithm() {
            Algorithm::Signature(_) => &[0, 64, 128, key.algorithm().expanded_len() - 1],
            _ => &[0, 384 * 4, key.algorithm().expanded_len() - 64],
        };
        for place in places {
            let mut damaged = der.to_vec();
            damaged[start + place] ^= 1;
            let error = PrivateKey::from_pkcs8_der(&damaged).unwrap_err();
            assert!(
                matches!(error, KeyError::Malformed { algorithm, .. } if algorithm == key.algorithm()),
                "{} {place}: {error}",
                key.algorithm()
            );
        }
    }
}

#[test]
fn parameters_are_refused() {
    let null = Any::null();
    for key in keys() {
        let identifier = AlgorithmIdentifierRef {
            oid: key.algorithm().oid(),
            parameters: Some(AnyRef::from(&null)),
        };
        let refused = KeyError::ParametersPresent(key.algorithm());
        let inner = contents(&key.to_pkcs8_der().unwrap());
        assert_eq!(
            PrivateKey::from_pkcs8_der(&pkcs8(identifier, &inner)).unwrap_err(),
            refused
        );
        let der = key.spki();
        let mut spki = SubjectPublicKeyInfoRef::from_der(&der).unwrap();
        spki.algorithm = identifier;
        assert_eq!(
            PublicKey::from_spki_der(&spki.to_der().unwrap()).unwrap_err(),
            refused
        );
    }
}

#[test]
fn other_algorithms_are_named() {
    let ed25519 = ObjectIdentifier::new_unwrap("1.3.101.112");
    // RFC 9881 section 8.3 keeps it out of PKIX.
    let hash_ml_dsa_65 = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.33");
    for (oid, expected) in [
        (ed25519, KeyError::UnsupportedAlgorithm(ed25519)),
        (hash_ml_dsa_65, KeyError::HashMlDsa(hash_ml_dsa_65)),
    ] {
        let identifier = AlgorithmIdentifierRef {
            oid,
            parameters: None,
        };
        let error = PrivateKey::from_pkcs8_der(&pkcs8(identifier, &[0x80, 0])).unwrap_err();
        assert_eq!(error, expected);
        assert!(error.to_string().contains(&oid.to_string()));
    }
}

#[test]
fn every_truncation_and_any_addition_is_refused() {
    for key in keys() {
        for form in forms(key.algorithm()) {
            let der = key.to_pkcs8_der_as(form).unwrap();
            for len in 0..der.len() {
                assert!(PrivateKey::from_pkcs8_der(&der[..len]).is_err(), "{len}");
            }
            for extra in [0, 0x30, 0xff] {
                let longer = [&der[..], &[extra]].concat();
                assert!(matches!(
                    PrivateKey::from_pkcs8_der(&longer),
                    Err(KeyError::Der(_))
                ));
            }
        }
        let spki = key.spki();
        for len in 0..spki.len() {
            assert!(PublicKey::from_spki_der(&spki[..len]).is_err(), "{len}");
        }
        let longer = [&spki[..], &[0]].concat();
        assert!(PublicKey::from_spki_der(&longer).is_err());
    }
}

#[test]
fn public_keys_round_trip_and_are_checked() {
    for key in keys() {
        let spki = key.spki();
        let public = PublicKey::from_spki_der(&spki).unwrap();
        assert_eq!(public.to_spki_der(), &spki[..]);
        assert_eq!(public.algorithm(), key.algorithm());
        assert_eq!(public.as_bytes().len(), key.algorithm().public_key_len());
        let pem = public.to_spki_pem();
        assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----\n"));
        assert_eq!(PublicKey::from_spki_pem(&pem), Ok(public.clone()));
        let again = PublicKey::from_bytes(key.algorithm(), public.as_bytes()).unwrap();
        assert_eq!(again, public);

        let short = PublicKey::from_bytes(key.algorithm(), &public.as_bytes()[1..]);
        assert!(matches!(short, Err(KeyError::Malformed { .. })));

        // With unused bits, the key does not consist of whole bytes.
        let mut unused = spki.to_vec();
        let header = spki.len() - public.as_bytes().len();
        assert_eq!(unused[header - 1], 0);
        unused[header - 1] = 1;
        assert!(matches!(
            PublicKey::from_spki_der(&unused),
            Err(KeyError::Der(_))
        ));
    }
    // FIPS 203 section 7.2: the first coefficient is 4095, which is not below q.
    let key = key(KemAlgorithm::MlKem768.into());
    let mut unreduced = key.spki().to_vec();
    let start = unreduced.len() - key.algorithm().public_key_len();
    unreduced[start] = 0xff;
    unreduced[start + 1] |= 0x0f;
    assert_eq!(
        PublicKey::from_spki_der(&unreduced).unwrap_err(),
        KeyError::Malformed {
            algorithm: key.algorithm(),
            error: pq_core::Error::UnreducedCoefficient,
        }
    );
}

#[test]
fn pem_is_found_among_other_blocks() {
    let key = key(SignatureAlgorithm::MlDsa65.into());
    let pem = key.to_pkcs8_pem().unwrap();
    let text = format!(
        "{}{}",
        PublicKey::from_spki_der(&key.spki()).unwrap().to_spki_pem(),
        *pem
    );
    let read = PrivateKey::from_pkcs8_pem(&text).unwrap();
    assert_eq!(read.seed(), key.seed());
    assert!(PublicKey::from_spki_pem(&text).is_ok());

    let encrypted = pem.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let error = PrivateKey::from_pkcs8_pem(&encrypted).unwrap_err();
    assert!(matches!(error, KeyError::Pem(PemError::Missing { .. })));
    assert!(error.to_string().contains("decrypt"), "{error}");

    let error = PrivateKey::from_pkcs8_pem("").unwrap_err();
    assert!(error.to_string().contains("DER"), "{error}");
}

#[test]
fn debug_output_has_no_secrets() {
    for key in keys() {
        let text = format!("{key:?}");
        let seed = format!("{:?}", &key.seed().unwrap()[..4]);
        assert!(!text.contains(seed.trim_matches(['[', ']'])), "{text}");
        assert!(text.len() < 200, "{text}");
    }
}
