//! Copies left on purpose, of each kind of secret, which the test must find.

use core::hint::black_box;

use pq_core::ml_dsa::{self, MlDsa65};
use pq_core::ml_kem::{self, MlKem768};
use pq_core::slh_dsa::{self, SlhDsaShake192f};
use pq_x509::SignatureAlgorithm;

use crate::operation::{Operation, fresh};
use crate::sought::Sought;
use crate::x509::{Kind, document, text};
use crate::{ml_dsa as of_ml_dsa, ml_kem as of_ml_kem, slh_dsa as of_slh_dsa};

/// Operations that leave a copy, and the secret that it is of.
pub fn operations() -> Vec<(Operation, &'static str)> {
    let mut operations = vec![
        (
            Operation::new(
                "an ML-KEM key, returned by value",
                fresh::<64>,
                |seed| {
                    let make = || ml_kem::DecapsulationKey::<MlKem768>::from_seed(seed);
                    Box::new(by_value(make))
                },
                |_, key| of_ml_kem::secrets_of(key),
            ),
            "the decapsulation key in memory",
        ),
        (
            Operation::new(
                "an ML-DSA key, returned by value",
                fresh::<32>,
                |seed| Box::new(by_value(|| ml_dsa::SigningKey::<MlDsa65>::from_seed(seed))),
                |_, key| of_ml_dsa::secrets_of(key),
            ),
            "the signing key in memory",
        ),
        (
            Operation::new(
                "an SLH-DSA key, returned by value",
                fresh::<72>,
                |seed| Box::new(by_value(|| SlhDsaKey::from_seed(seed))),
                |_, key| of_slh_dsa::secrets_of(key),
            ),
            "SK.prf",
        ),
    ];
    operations.extend(copies());
    operations
}

type SlhDsaKey = slh_dsa::SigningKey<SlhDsaShake192f>;

/// Makes a value where it does not stay.
#[inline(never)]
fn by_value<T>(make: impl FnOnce() -> T) -> T {
    let mut value = make();
    black_box(&mut value);
    value
}

/// Copies of secrets of which the place is known, each found as what it is.
fn copies() -> Vec<(Operation, &'static str)> {
    let of_ml_kem = |what| {
        let make = || {
            let (key, m, ciphertext) = of_ml_kem::encapsulated::<MlKem768>();
            of_ml_kem::secrets_of_decapsulation(&key, &m, &ciphertext)
        };
        (copy(what, make), what)
    };
    let of_ml_dsa = |what| {
        let make = || {
            let key = ml_dsa::SigningKey::<MlDsa65>::boxed_from_seed(&fresh());
            of_ml_dsa::secrets_of_signing(&key, &fresh(), &fresh())
        };
        (copy(what, make), what)
    };
    let of_document = |what| {
        let make = || {
            let kind = Kind::ml_dsa::<MlDsa65>(SignatureAlgorithm::MlDsa65);
            let key = kind.key();
            let der = document(&key.to_pkcs8_der().expect("has a seed"));
            der.and(text(&key.to_pkcs8_pem().expect("has a seed")))
        };
        (copy(what, make), what)
    };
    vec![
        of_ml_kem("the seed"),
        of_ml_kem("σ"),
        of_ml_kem("the encoded ŝ"),
        of_ml_kem("z"),
        of_ml_kem("noise"),
        of_ml_kem("m"),
        of_ml_kem("the shared secret"),
        of_ml_dsa("the seed"),
        of_ml_dsa("ρ′"),
        of_ml_dsa("K"),
        of_ml_dsa("the encoded s₁ and s₂"),
        of_ml_dsa("the encoded t₀"),
        of_ml_dsa("ρ″"),
        of_ml_dsa("y"),
        of_document("the PKCS#8 document"),
        of_document("the PEM text"),
    ]
}

/// Leaves the first bytes of a secret.
fn copy(what: &'static str, make: impl Fn() -> Sought + 'static) -> Operation {
    Operation::new(
        format!("{what}, copied"),
        move || {
            let sought = make();
            (sought.bytes_of(what).to_vec(), sought)
        },
        |(bytes, _)| leave(&bytes[..bytes.len().min(COPIED)]),
        |(_, sought), ()| sought.clone(),
    )
}

const COPIED: usize = 256;

#[inline(never)]
fn leave(bytes: &[u8]) {
    let mut copy = [0; COPIED];
    copy[..bytes.len()].copy_from_slice(bytes);
    black_box(&mut copy);
}
