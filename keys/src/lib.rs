//! Post-quantum keys: made, read, written, put under a passphrase, and used.
//!
//! * **Private keys.** [`SigningKey`] (ML-DSA, SLH-DSA) and [`DecapsulationKey`] (ML-KEM) can be generated,
//!   read from and written to PKCS#8, as DER or PEM, in every form of RFC 9881 and RFC 9935 (seed,
//!   expanded or both) and in the one form of RFC 9909. By default, ML-DSA and ML-KEM keys are
//!   written as the seed alone, because all implementations read it. [`PrivateKey`] is either.
//! * **Public keys.** [`VerifyingKey`] and [`EncapsulationKey`] are their public halves, read and written as
//!   SubjectPublicKeyInfo. [`PublicKey`] is either.
//! * **Signatures.** The module [`signing`] is for signatures with a context or of a hash, and for
//!   messages that do not fit in memory, or are hashed far from the key. With the feature `rayon`, SLH-DSA
//!   makes keys and signs on all cores.
//! * **Protected keys.** With the feature `encryption`, private keys are read and written under a
//!   passphrase: `protection::EncryptedPrivateKey`, and methods of the keys such as
//!   `SigningKey::to_encrypted_pkcs8_pem`.
//! * **Classical keys.** With the feature `classical`, the module of that name has keys of ECDSA, Ed25519, RSA and
//!   X25519; with `composite`, that module has keys of Composite ML-DSA, which are ML-DSA and a classical algorithm
//!   at once.
//! * **Keys as one type.** With the feature `any`, the module of that name has one type for all of these but keys of
//!   ECDH, for those of X-Wing (feature `x-wing`, module `x_wing`) too: it makes, writes and
//!   reads them in every encoding, signs and verifies.
//! * **Files.** With the feature `files`, which is on by default, the module of that name writes files that appear
//!   complete or not at all, and private ones that, on Unix, nobody else can read.
//! * **Other keys.** The traits [`Signer`], [`AgreementKey`](agreement::AgreementKey) and [`SubjectKey`] are for keys of other
//!   algorithms, and for those in hardware: what issues certificates or writes documents takes any of them.
//! * **Documents.** The modules [`encoding`], [`identifiers`] and [`errors`] are for readers and writers of other
//!   documents: PEM, DER and times, what names keys and algorithms, and what error messages have in common.
//!
//! Certificates and chains of them are in pq-x509, which has this crate as its module `keys`.
//!
//! ```
//! use pq_keys::{SignatureAlgorithm, SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let (private, public) = (key.to_pkcs8_pem()?, key.verifying_key().to_spki_pem());
//!
//! let signature = SigningKey::from_pkcs8_pem(&private)?.sign(b"message")?;
//! VerifyingKey::from_spki_pem(&public)?.verify(b"message", &signature)?;
//! # Ok::<_, pq_keys::KeyError>(())
//! ```
//!
//! # Secrets
//!
//! Private keys are wiped when dropped, and so is every buffer that this crate allocates
//! for them. Callers must wipe what they pass in or take out. Values that the compiler puts on the
//! stack can stay there until they are overwritten, and the crates of PBKDF2 and scrypt (feature
//! `encryption`) do not wipe their working memory.
//!
//! All randomness comes from the operating system, except what the caller gives to
//! [`SigningKey::sign_with_randomness`] or [`EncapsulationKey::encapsulate_with_randomness`].
//! [`Deterministic`](signing::SigningVariant::Deterministic) uses none.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. So [`source`](core::error::Error::source) is
//! `None`: a program that prints causes one after another prints nothing twice.
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(feature = "any")]
pub mod any;
#[cfg(feature = "classical")]
pub mod classical;
#[cfg(feature = "composite")]
pub mod composite;
pub mod encoding;
pub mod errors;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "gcm")]
#[doc(hidden)]
pub mod gcm;
mod keys;
#[cfg(feature = "pkcs12")]
pub mod pkcs12;
#[cfg(feature = "encryption")]
pub mod protection;
#[cfg(feature = "x-wing")]
pub mod x_wing;

pub use der;
pub use keys::{
    Algorithm, DecapsulationKey, EncapsulationKey, KemAlgorithm, KeyAlgorithm, KeyError,
    PrivateKey, PrivateKeyForm, PublicKey, SignError, SignatureAlgorithm, Signer, SigningKey,
    SubjectKey, UnknownAlgorithm, VerifyingKey, random,
};
pub use pki_types;
pub use pq_core::ml_kem::SharedSecret;
pub use spki;

/// Signatures with a context or of a hash, messages that are hashed before they are signed, and keys that verify often.
pub mod signing {
    pub use pq_core::ml_dsa::{Digest, PreHash, PreHasher};

    pub use crate::keys::{
        ExpandedKeys, HashedMessage, MessageHasher, Mode, SignatureOptions, SigningVariant,
        Unverified, verify_batch,
    };
}

/// Keys that agree on a secret, such as those of ECDH: of other crates, or in hardware.
pub mod agreement {
    pub use crate::keys::{Agreement, AgreementError, AgreementKey, AgreementPublicKey};
}

/// What names a key's algorithm in a document, and a key itself in a ledger; and the structures that keys stand in there,
/// checked and taken apart without making a key. For readers and writers of documents.
pub mod identifiers {
    pub use crate::keys::{
        CompositeIdentifier, KeyHash, algorithm_of_spki, check_classical, check_pkcs8,
        is_hash_ml_dsa, read_spki,
    };
}

/// The README's programs, which are compiled as documentation tests.
#[cfg(all(doctest, feature = "any"))]
#[doc = include_str!("../README.md")]
struct Readme;
