//! Keys of every algorithm as one type: made, written under passphrases, read again, used.

use core::convert::Infallible;
use std::sync::LazyLock;

use der::Decode;
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use pq_keys::any::{
    AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnyPublicKey, AnySigningKey, ReadError, ReadKey,
    Readable, read_private_key,
};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::composite::{CompositeAlgorithm, CompositeKey};
use pq_keys::encoding::pem;
use pq_keys::protection::{Cipher, EncryptedPrivateKey, ProtectionError};
use pq_keys::signing::{SignatureOptions, SigningVariant};
use pq_keys::{KeyError, PrivateKeyForm, PublicKey, SignatureAlgorithm, SigningKey, SubjectKey};

use crate::protection::{CIPHERS, PASSPHRASE, by_others, changes, cheap};

/// A key of each algorithm, made once. The composite ones have the classical half of others, as keys of RSA take long to
/// make.
static KEYS: LazyLock<Vec<AnyPrivateKey>> = LazyLock::new(|| {
    let classical: Vec<_> = ClassicalAlgorithm::ALL
        .iter()
        .map(|algorithm| AnyPrivateKey::generate((*algorithm).into()).unwrap())
        .collect();
    let rsa = |algorithm: &CompositeAlgorithm| {
        let bits = ["2048", "3072", "4096"].into_iter().find(|bits| {
            let name = algorithm.name();
            name.contains(&format!("RSA{bits}"))
        })?;
        let name = format!("RSA-{bits}");
        let key = classical
            .iter()
            .find(|key| key.algorithm().name() == name)?;
        let der = key.to_pkcs8_der().unwrap();
        let info = PrivateKeyInfoRef::from_der(&der).unwrap();
        let halves = [&[7; 32], info.private_key.as_bytes()].concat();
        Some(CompositeKey::from_bytes(*algorithm, &halves).unwrap())
    };
    let others = AnyAlgorithm::all().filter(|one| !matches!(one, AnyAlgorithm::Classical(_)));
    let others = others.map(|algorithm| match algorithm {
        AnyAlgorithm::Composite(composite) => match rsa(&composite) {
            Some(key) => AnyPrivateKey::Composite(key),
            None => AnyPrivateKey::generate(algorithm).unwrap(),
        },
        _ => AnyPrivateKey::generate(algorithm).unwrap(),
    });
    let mut keys: Vec<_> = others.collect();
    keys.extend(classical);
    keys
});

fn key(name: &str) -> &'static AnyPrivateKey {
    let mut keys = KEYS.iter();
    keys.find(|key| key.algorithm().name() == name).unwrap()
}

/// Keys whose signatures take little time.
fn quick() -> impl Iterator<Item = &'static AnyPrivateKey> {
    KEYS.iter().filter(|key| {
        let name = key.algorithm().name();
        !(name.starts_with("SLH-DSA") && name.ends_with('s'))
    })
}

/// The key as it is read if its file has these forms: all that its algorithm has.
fn read_from_each_form(key: &AnyPrivateKey) -> Vec<(AnyPrivateKey, Option<PrivateKeyForm>)> {
    use PrivateKeyForm::{Both, Expanded, Seed};

    let AnyPrivateKey::PostQuantum(post_quantum) = key else {
        return vec![(key.clone(), None)];
    };
    let forms = match post_quantum.algorithm().preferred_form() {
        Seed => vec![Seed, Both, Expanded],
        other => vec![other],
    };
    let read = |form| {
        let der = post_quantum.to_pkcs8_der_as(form).unwrap();
        (AnyPrivateKey::from_der(&der).unwrap(), Some(form))
    };
    forms.into_iter().map(read).collect()
}

fn read<K: Readable>(file: &[u8]) -> Result<ReadKey<K>, ReadError<K::Error, Infallible>> {
    read_private_key(file, || Ok::<_, Infallible>(PASSPHRASE))
}

/// The private part and all that stands beside it.
fn bytes(key: &AnyPrivateKey) -> Vec<u8> {
    key.to_pkcs8_der().unwrap().to_vec()
}

#[test]
fn every_algorithm_is_had_back_under_every_cipher_from_every_form() {
    assert_eq!(KEYS.len(), AnyAlgorithm::all().count());
    for (key, from) in KEYS.iter().flat_map(read_from_each_form) {
        let name = key.algorithm();
        for file in [
            &*key.to_pkcs8_der().unwrap(),
            key.to_pkcs8_pem().unwrap().as_bytes(),
        ] {
            let again: ReadKey<AnyPrivateKey> = read(file).unwrap();
            assert_eq!(again.form, key.preferred_form(), "{name} {from:?}");
            assert_eq!(bytes(&again.key), bytes(&key), "{name} {from:?}");
            assert_eq!(again.protection, None);
        }
        for cipher in CIPHERS {
            let protection = cheap(cipher);
            let der = key.to_encrypted_pkcs8_der(PASSPHRASE, &protection).unwrap();
            let again: ReadKey<AnyPrivateKey> = read(&der).unwrap();
            assert_eq!(again.key.algorithm(), name);
            assert_eq!(again.key.spki(), key.spki());
            assert_eq!(bytes(&again.key), bytes(&key), "{name} {cipher:?}");
            assert_eq!(again.protection, Some(protection));
            assert_eq!(again.form, key.preferred_form(), "{name} {cipher:?}");
            let wanted = match from {
                Some(PrivateKeyForm::Both) => Some(PrivateKeyForm::Seed),
                other => other,
            };
            assert_eq!(again.form, wanted, "{name} {cipher:?} {from:?}");
        }
        let pem = key.to_encrypted_pkcs8_pem(PASSPHRASE, &cheap(Cipher::Aes128Gcm));
        let again: ReadKey<AnyPrivateKey> = read(pem.unwrap().as_bytes()).unwrap();
        assert_eq!(bytes(&again.key), bytes(&key));
    }
}

/// Beside those of one byte in two ways, all of the first block's bytes: by its initialization vector, AES-CBC lets anybody
/// change what they want of it.
fn all_changes(der: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    // aes256-CBC, and the head of its initialization vector of 16 bytes
    let cipher = hex::decode("60864801650304012a0410").unwrap();
    let before = der.windows(cipher.len()).position(|part| part == cipher);
    let iv = before.map(|before| before + cipher.len());
    let bytes = iv.into_iter().flat_map(|iv| iv..iv + 16);
    let of_iv = bytes.flat_map(move |at| {
        (2..255).map(move |change| {
            let mut changed = der.to_vec();
            changed[at] ^= change;
            (at, changed)
        })
    });
    changes(der).chain(of_iv)
}

/// Never another key, whatever its algorithm. One of each kind is changed in each of its bytes; the others, which the same
/// code reads, in some of them; those of RSA in few, because they sign once when they are read.
#[test]
fn every_changed_byte_gives_an_error_or_the_same_key() {
    changed(|key| matches!(key, AnyPrivateKey::PostQuantum(_)));
}

#[test]
fn every_changed_byte_of_other_keys_gives_an_error_or_the_same_key() {
    changed(|key| !matches!(key, AnyPrivateKey::PostQuantum(_)));
}

fn changed(is_meant: fn(&AnyPrivateKey) -> bool) {
    let each_byte = [
        "ML-DSA-44",
        "ML-KEM-512",
        "SLH-DSA-SHA2-128f",
        "SLH-DSA-SHAKE-192f",
        "X-Wing",
        "MLDSA44-Ed25519-SHA512",
        "MLDSA44-ECDSA-P256-SHA256",
        "ECDSA-P256",
        "ECDSA-P384",
        "Ed25519",
        "X25519",
    ];
    let (mut refused, mut same) = (0, 0);
    let keys = quick().filter(|key| is_meant(key));
    for (key, form) in keys.flat_map(read_from_each_form) {
        // It is written as a seed.
        if form == Some(PrivateKeyForm::Both) {
            continue;
        }
        let algorithm = key.algorithm();
        let name = algorithm.name();
        let step = match name {
            _ if each_byte.contains(&name) => 1,
            "RSA-2048" | "MLDSA44-RSA2048-PSS-SHA256" => 7,
            _ if name.contains("RSA") => 211,
            _ => 41,
        };
        // Signatures are as valid with another SK.prf of SLH-DSA or K of ML-DSA; z of ML-KEM only makes the secrets of
        // wrong ciphertexts; and nothing here uses the private exponent of RSA.
        let is_bound = form != Some(PrivateKeyForm::Expanded) && !name.contains("RSA");
        for cipher in [Cipher::Aes256Cbc, Cipher::Aes256Gcm] {
            let protection = cheap(cipher);
            let der = key.to_encrypted_pkcs8_der(PASSPHRASE, &protection).unwrap();
            for (at, changed) in all_changes(&der).step_by(step) {
                let Ok(again) = read::<AnyPrivateKey>(&changed) else {
                    refused += 1;
                    continue;
                };
                assert!(!cipher.is_authenticated(), "{name} {form:?} {at}");
                assert_eq!(again.key.spki(), key.spki(), "{name} {form:?} {at}");
                if is_bound {
                    assert_eq!(bytes(&again.key), bytes(&key), "{name} {form:?} {at}");
                }
                same += 1;
            }
        }
    }
    println!("{refused} changes were refused, and {same} gave the same key");
    assert!(refused > 30_000, "{refused}");
}

/// OpenSSL reads version 2, with the public key, from its version 3.5 on, and Python's cryptography doesn't.
#[test]
fn keys_are_written_in_version_1() {
    for name in ["Ed25519", "X25519", "X-Wing", "MLDSA44-Ed25519-SHA512"] {
        let key = key(name);
        let der = key
            .to_encrypted_pkcs8_der(PASSPHRASE, &cheap(Cipher::Aes256Cbc))
            .unwrap();
        let theirs = EncryptedPrivateKeyInfoRef::from_der(&der).unwrap();
        let pkcs8 = theirs.decrypt(PASSPHRASE).unwrap();
        let info = PrivateKeyInfoRef::from_der(pkcs8.as_bytes()).unwrap();
        assert_eq!(info.public_key, None, "{name}");
        let in_the_clear = key.to_pkcs8_der().unwrap();
        let in_the_clear = PrivateKeyInfoRef::from_der(&in_the_clear).unwrap();
        assert_eq!(info.private_key, in_the_clear.private_key, "{name}");
    }
}

/// What the digest is for: of X-Wing and Ed25519 any seed is a key, and other programs write it alone.
#[test]
fn a_changed_seed_of_others_is_another_key() {
    for name in ["X-Wing", "MLDSA44-Ed25519-SHA512", "Ed25519", "X25519"] {
        let key = key(name);
        let alone = by_others(&key.to_pkcs8_der().unwrap());
        let again: ReadKey<AnyPrivateKey> = read(&alone).unwrap();
        assert_eq!(again.key.spki(), key.spki());
        let others = changes(&alone).filter(|(_, changed)| {
            let again = read::<AnyPrivateKey>(changed);
            again.is_ok_and(|again| again.key.spki() != key.spki())
        });
        assert!(others.count() > 0, "{name}");
    }
}

#[test]
fn a_changed_rsa_key_is_refused_when_it_is_read() {
    let key = key("RSA-2048");
    let der = key.to_pkcs8_der().unwrap();
    let info = PrivateKeyInfoRef::from_der(&der).unwrap();
    // the last byte is one of the coefficient
    let mut changed = der.to_vec();
    *changed.last_mut().unwrap() ^= 2;
    assert_eq!(info.public_key, None);
    let encrypt =
        |cipher| EncryptedPrivateKey::encrypt(&changed, PASSPHRASE, &cheap(cipher)).unwrap();
    let refused = read::<AnyPrivateKey>(encrypt(Cipher::Aes256Cbc).as_der()).unwrap_err();
    assert!(matches!(
        refused,
        ReadError::Protection(ProtectionError::WrongPassphraseOrChanged)
    ));
    // Somebody wrote it in this way.
    let read = read::<AnyPrivateKey>(encrypt(Cipher::Aes256Gcm).as_der()).unwrap();
    assert!(read.key.check().unwrap_err().is_refusal());
}

#[test]
fn keys_that_cannot_sign_say_so() {
    let ml_kem = key("ML-KEM-768");
    let x_wing = key("X-Wing");
    for (key, does) in [
        (ml_kem, "encapsulates"),
        (x_wing, "encapsulates"),
        (key("X25519"), "agrees on secrets"),
    ] {
        let algorithm = key.algorithm();
        let says_so = |error: AnyKeyError| {
            assert!(
                matches!(error, AnyKeyError::NotASignatureKey(found) if found == algorithm),
                "{error:?}"
            );
            let text = format!("this is a key of {algorithm}, which {does}; a key that signs");
            assert!(error.to_string().starts_with(&text), "{error}");
            assert!(!error.is_invalid_signature() && !error.is_refusal());
        };
        says_so(AnySigningKey::try_from(key.clone()).unwrap_err());
        says_so(AnySigningKey::from_pem(&key.to_pkcs8_pem().unwrap()).unwrap_err());
        says_so(
            key.public_half()
                .verify(b"message", b"signature")
                .unwrap_err(),
        );
        for cipher in [Cipher::Aes256Cbc, Cipher::Aes256Gcm] {
            let file = key
                .to_encrypted_pkcs8_pem(PASSPHRASE, &cheap(cipher))
                .unwrap();
            match read::<AnySigningKey>(file.as_bytes()) {
                Err(ReadError::Key(error)) => says_so(error),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn keys_that_sign_are_read_as_such() {
    for key in quick() {
        let Ok(signing) = AnySigningKey::try_from(key.clone()) else {
            continue;
        };
        assert_eq!(signing.algorithm(), key.algorithm());
        assert_eq!(bytes(&signing.clone().into()), bytes(key));
        assert_eq!(*signing.to_pkcs8_der().unwrap(), bytes(key));
        assert_eq!(signing.to_pkcs8_pem().unwrap(), key.to_pkcs8_pem().unwrap());
        for cipher in [Cipher::Aes256Cbc, Cipher::Aes256Gcm] {
            let protection = cheap(cipher);
            let der = signing
                .to_encrypted_pkcs8_der(PASSPHRASE, &protection)
                .unwrap();
            let pem = signing
                .to_encrypted_pkcs8_pem(PASSPHRASE, &protection)
                .unwrap();
            for file in [&der, pem.as_bytes()] {
                let again: ReadKey<AnySigningKey> = read(file).unwrap();
                assert_eq!(again.key.spki(), key.spki());
                assert_eq!(again.form, key.preferred_form());
            }
        }
    }
}

/// How the specific types sign: post-quantum keys, composite and classical ones.
fn sign_by_its_type(key: &AnySigningKey, message: &[u8], context: &[u8]) -> Option<Vec<u8>> {
    Some(match key {
        AnySigningKey::PostQuantum(key) => {
            let options = SignatureOptions::new().context(context);
            let signature = key.sign_with(message, &options, SigningVariant::Hedged);
            signature.unwrap()
        }
        AnySigningKey::Composite(key) => key.sign_with_context(message, context).unwrap(),
        AnySigningKey::Classical(key) if context.is_empty() => key.sign(message).unwrap(),
        AnySigningKey::Classical(_) => return None,
    })
}

fn verify_by_its_type(
    key: &AnyPublicKey,
    message: &[u8],
    signature: &[u8],
    context: &[u8],
) -> Result<(), String> {
    match key {
        AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) => {
            let options = SignatureOptions::new().context(context);
            let verified = key.verify_with(message, signature, &options);
            verified.map_err(|error| error.to_string())
        }
        AnyPublicKey::Composite(key) => {
            let verified = key.verify_with_context(message, signature, context);
            verified.map_err(|error| error.to_string())
        }
        AnyPublicKey::Classical(key) => {
            assert!(context.is_empty());
            let verified = key.verify(message, signature);
            verified.map_err(|error| error.to_string())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn signatures_and_verdicts_are_those_of_the_specific_types() {
    const MESSAGE: &[u8] = b"message";
    let (mut good, mut bad) = (0, 0);
    for key in quick().filter_map(|key| AnySigningKey::try_from(key.clone()).ok()) {
        let name = key.algorithm();
        let public = key.public_half();
        assert_eq!(public.spki(), key.spki());
        for context in [&b""[..], b"backups", &[7; 255]] {
            let Some(theirs) = sign_by_its_type(&key, MESSAGE, context) else {
                let classical = [
                    key.sign_with_context(MESSAGE, context).unwrap_err(),
                    public
                        .verify_with_context(MESSAGE, b"", context)
                        .unwrap_err(),
                ];
                for error in classical {
                    assert!(matches!(error, AnyKeyError::NoContext(_)), "{error:?}");
                    assert!(error.to_string().starts_with(name.name()), "{error}");
                    assert!(!error.is_invalid_signature());
                }
                continue;
            };
            let ours = key.sign_with_context(MESSAGE, context).unwrap();
            for signature in [&ours, &theirs] {
                let mut changed = signature.clone();
                changed[signature.len() / 2] ^= 1;
                let last = signature.len() - 1;
                for (message, signature) in [
                    (MESSAGE, &signature[..]),
                    (b"another", signature),
                    (MESSAGE, &changed),
                    (MESSAGE, &signature[..last]),
                    (MESSAGE, &[]),
                ] {
                    let by_type = verify_by_its_type(&public, message, signature, context);
                    let verdict = public.verify_with_context(message, signature, context);
                    match verdict {
                        Ok(()) => good += 1,
                        Err(ref error) => {
                            assert!(error.is_invalid_signature(), "{name}: {error}");
                            bad += 1;
                        }
                    }
                    let said = verdict.map_err(|error| error.to_string());
                    assert_eq!(said, by_type, "{name}");
                    if context.is_empty() {
                        let verdict = public.verify(message, signature);
                        assert_eq!(verdict.map_err(|error| error.to_string()), by_type);
                    }
                }
            }
        }
        let too_long = [7; 256];
        if !matches!(key, AnySigningKey::Classical(_)) {
            let signature = key.sign(MESSAGE).unwrap();
            let error = public
                .verify_with_context(MESSAGE, &signature, &too_long)
                .unwrap_err();
            assert!(error.to_string().contains("255 bytes"), "{name}: {error}");
            assert!(!error.is_invalid_signature());
            key.sign_with_context(MESSAGE, &too_long).unwrap_err();
        }
    }
    assert!(good > 50 && bad == 4 * good, "{good} {bad}");
}

/// A key of HashSLH-DSA (RFC 9909) stays one.
#[test]
fn the_mode_of_hash_slh_dsa_is_kept() {
    let algorithm = SignatureAlgorithm::SlhDsaSha2_128f;
    let key = SigningKey::from_seed(algorithm, &[7; 48]).unwrap();
    let mut der = key.to_pkcs8_der().unwrap().to_vec();
    // the last arc of the identifier: 21 for the pure key, 36 for hashes
    assert_eq!(der[17], 21);
    der[17] = 36;
    let hashing = AnySigningKey::from_der(&der).unwrap();
    assert_eq!(*hashing.to_pkcs8_der().unwrap(), der);
    let signature = hashing.sign(b"message").unwrap();
    hashing
        .public_half()
        .verify(b"message", &signature)
        .unwrap();
    assert_ne!(hashing.public_half().spki(), key.spki());
    let pure = AnyPublicKey::from(key.verifying_key().clone());
    let refused = pure.verify(b"message", &signature).unwrap_err();
    assert!(refused.is_invalid_signature());
}

/// The first key of a text counts, whatever its label.
#[test]
fn a_text_is_read_as_a_signing_key_by_its_content() {
    let classical = key("ECDSA-P256");
    let der = classical.to_pkcs8_der().unwrap();
    for label in ["PRIVATE KEY", "EC PRIVATE KEY"] {
        let found = AnySigningKey::from_pem(&pem::encode(label, &der)).unwrap();
        assert_eq!(found.spki(), classical.spki());
    }
    let encrypted = classical.to_encrypted_pkcs8_pem(PASSPHRASE, &cheap(Cipher::Aes256Gcm));
    assert!(matches!(
        AnySigningKey::from_pem(&encrypted.unwrap()),
        Err(AnyKeyError::PostQuantum(KeyError::Pem(_)))
    ));
}

#[test]
fn an_empty_passphrase_protects_nothing() {
    for key in [key("ML-DSA-44"), key("X-Wing"), key("Ed25519")] {
        let refused = key.to_encrypted_pkcs8_der(b"", &cheap(Cipher::Aes256Gcm));
        assert_eq!(refused.unwrap_err(), ProtectionError::EmptyPassphrase);
    }
}
