//! Keys of every kind, in every encoding.

use core::convert::Infallible;

use super::*;
use crate::classical::{ClassicalAlgorithm, ClassicalKey};
use crate::composite::{CompositeAlgorithm, CompositeKey};
use crate::encoding::pem;
use crate::keys::{
    DecapsulationKey, KemAlgorithm, PrivateKey, PrivateKeyForm, SignatureAlgorithm, SigningKey,
    SubjectKey,
};
use crate::protection::{EncryptedPrivateKey, KeyDerivation, Prf, Protection};
use crate::x_wing::XWingPrivateKey;

/// Nobody asks for a passphrase.
fn unasked() -> Result<Vec<u8>, Infallible> {
    panic!("there is no need of a passphrase")
}

fn read(file: &[u8]) -> Result<AnyPrivateKey, ReadError<AnyKeyError, Infallible>> {
    read_private_key(file, unasked).map(|read: ReadKey<AnyPrivateKey>| read.key)
}

/// A key of each kind.
fn keys() -> [AnyPrivateKey; 5] {
    let signing = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem512).unwrap();
    [
        AnyPrivateKey::PostQuantum(PrivateKey::Signing(signing)),
        AnyPrivateKey::PostQuantum(PrivateKey::Decapsulation(kem)),
        AnyPrivateKey::XWing(XWingPrivateKey::generate().unwrap()),
        AnyPrivateKey::Composite(
            CompositeKey::generate(CompositeAlgorithm::MlDsa44EcdsaP256Sha256).unwrap(),
        ),
        AnyPrivateKey::Classical(ClassicalKey::generate(ClassicalAlgorithm::Ed25519).unwrap()),
    ]
}

fn fast() -> Protection {
    Protection::default().with_key_derivation(KeyDerivation::Pbkdf2 {
        prf: Prf::HmacSha256,
        iterations: 1000,
    })
}

#[test]
fn every_kind_in_every_encoding() {
    for key in keys() {
        let plain = key.to_pkcs8_pem().unwrap();
        let der = pem::decode_first(&plain, "PRIVATE KEY").unwrap();
        for file in [plain.as_bytes(), &der] {
            let again = read(file).unwrap();
            assert_eq!(again.algorithm(), key.algorithm());
            assert_eq!(again.spki(), key.spki());
        }
        let encrypted = EncryptedPrivateKey::encrypt(&der, b"secret", &fast()).unwrap();
        for file in [encrypted.to_pem().as_bytes(), encrypted.as_der()] {
            let give = || Ok::<_, Infallible>(b"secret".as_slice());
            let again: ReadKey<AnyPrivateKey> = read_private_key(file, give).unwrap();
            assert_eq!(again.key.spki(), key.spki());
            assert_eq!(again.protection, Some(fast()));
            let is_post_quantum = matches!(key, AnyPrivateKey::PostQuantum(_));
            let form = is_post_quantum.then_some(PrivateKeyForm::Seed);
            assert_eq!(again.form, form);
            let wrong = || Ok::<_, Infallible>(b"other".as_slice());
            let refused = read_private_key::<AnyPrivateKey, _, _>(file, wrong);
            assert!(matches!(refused, Err(ReadError::Protection(_))));
            let none = || Err::<&[u8], _>("no passphrase");
            let refused = read_private_key::<AnyPrivateKey, _, _>(file, none);
            assert!(matches!(
                refused,
                Err(ReadError::Passphrase("no passphrase"))
            ));
        }
        let public = key.public_half();
        for file in [public.to_spki_pem().as_bytes(), public.to_spki_der()] {
            let again = read_public_key(file).unwrap();
            assert_eq!(again.algorithm(), key.algorithm());
            assert_eq!(again.spki(), key.spki());
        }
    }
}

const EC: AnyAlgorithm = AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP256);

/// ECPrivateKey (RFC 5915), as OpenSSL wrote it by default until version 3.
fn ec_private_key() -> Vec<u8> {
    let mut der = vec![0x30, 0x31, 2, 1, 1, 4, 32];
    der.extend([7; 32]);
    der.extend([0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
    der
}

#[test]
fn a_classical_key_in_an_older_format() {
    let der = ec_private_key();
    for file in [pem::encode("EC PRIVATE KEY", &der).as_bytes(), &der] {
        assert_eq!(read(file).unwrap().algorithm(), EC);
    }
}

/// Files with several keys, of which the first one counts.
#[test]
fn the_first_key_is_read_whatever_its_label() {
    let [first, .., other] = keys();
    let plain = first.to_pkcs8_pem().unwrap();
    let der = pem::decode_first(&plain, "PRIVATE KEY").unwrap();
    let encrypted = EncryptedPrivateKey::encrypt(&der, b"secret", &fast()).unwrap();
    let encrypted = encrypted.to_pem();
    let later = other.to_pkcs8_pem().unwrap();
    let older = pem::encode("EC PRIVATE KEY", &ec_private_key());

    let file = format!("{encrypted}{}", *later);
    let give = || Ok::<_, Infallible>(b"secret".as_slice());
    let found: ReadKey<AnyPrivateKey> = read_private_key(file.as_bytes(), give).unwrap();
    assert_eq!(found.key.spki(), first.spki());
    AnySigningKey::from_pem(&file).unwrap_err();

    for (file, algorithm) in [
        (format!("{}{encrypted}", *later), other.algorithm()),
        (format!("{older}{}", *later), EC),
        (format!("{}{older}", *plain), first.algorithm()),
    ] {
        assert_eq!(read(file.as_bytes()).unwrap().algorithm(), algorithm);
        let found = AnySigningKey::from_pem(&file).unwrap();
        assert_eq!(found.algorithm(), algorithm);
    }
    let file = format!("{older}{}", *later);
    let found = ClassicalKey::from_pem(&file).unwrap();
    assert_eq!(AnyAlgorithm::from(found.algorithm()), EC);
    // What is damaged is not passed over.
    let cut = format!("-----BEGIN EC PRIVATE KEY-----\n{}", *later);
    read(cut.as_bytes()).unwrap_err();
    AnySigningKey::from_pem(&cut).unwrap_err();
}

#[test]
fn what_is_no_key_is_refused() {
    for file in [
        &b""[..],
        b"text",
        &[0x30, 0],
        &[0x30, 2, 0x30, 0],
        b"-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n",
    ] {
        read(file).unwrap_err();
        read_public_key(file).unwrap_err();
    }
}

/// An error about DER would leave whoever has named the wrong file to guess that PEM would do.
#[test]
fn what_is_neither_pem_nor_der_is_said_to_be_neither() {
    for file in [&b""[..], b"hello", &[0xff; 100]] {
        let Err(ReadError::Key(error)) = read(file) else {
            panic!("{file:?}");
        };
        for error in [error, read_public_key(file).unwrap_err()] {
            assert!(
                error.to_string().starts_with("neither PEM nor DER"),
                "{error}"
            );
        }
    }
}

/// They begin with a SEQUENCE, as a key under a passphrase does.
#[test]
fn certificates_and_public_keys_are_no_private_keys() {
    let [key, ..] = keys();
    let spki = key.spki().to_vec();
    // a certificate's outline: what is signed, the algorithm and the signature
    let certificate = [&[0x30, 9, 0x30, 0, 0x30, 0, 3, 3, 0][..], &[1, 2]].concat();
    let more_than_encrypted = [0x30, 6, 0x30, 0, 4, 0, 5, 0];
    for der in [&spki[..], &certificate, &more_than_encrypted] {
        let refused = read(der);
        let Err(ReadError::Key(AnyKeyError::NoPrivateKey)) = refused else {
            panic!("{refused:?}");
        };
    }
    // This one is a key under a passphrase, and is not well-formed.
    let refused = read(&[0x30, 4, 0x30, 0, 4, 0]);
    assert!(matches!(refused, Err(ReadError::Protection(_))));
}

/// What stands around the block of a key, and the blanks in it, are no part of it.
#[test]
fn files_are_read_however_they_are_written() {
    let [key, ..] = keys();
    let plain = key.to_pkcs8_pem().unwrap();
    let der = pem::decode_first(&plain, "PRIVATE KEY").unwrap();
    let encrypted = EncryptedPrivateKey::encrypt(&der, b"secret", &fast()).unwrap();
    let public = key.public_half().to_spki_pem();
    let give = || Ok::<_, Infallible>(b"secret".as_slice());
    let ways = |text: &str| {
        let text = text.as_bytes();
        let blanks = String::from_utf8_lossy(text).replace('\n', " \r\n\r\n  ");
        [
            [text, b"Schl\xfcssel\n"].concat(),
            [b"Schl\xfcssel\n", text].concat(),
            [b"\xef\xbb\xbf", text].concat(),
            [b"-----BEGIN X-----\n", text].concat(),
            blanks.into_bytes(),
        ]
    };
    for file in ways(&plain) {
        assert_eq!(read(&file).unwrap().spki(), key.spki());
        AnySigningKey::from_pem(&file).unwrap();
    }
    for file in ways(&encrypted.to_pem()) {
        let found: ReadKey<AnyPrivateKey> = read_private_key(&file, give).unwrap();
        assert_eq!(found.key.spki(), key.spki());
    }
    for file in ways(&public) {
        assert_eq!(read_public_key(&file).unwrap().spki(), key.spki());
    }
}
