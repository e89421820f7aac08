//! Signature verification for webpki and other users of `rustls-pki-types`.
//!
//! A key of a pure algorithm verifies no pre-hash signature, and a key of a pre-hash algorithm
//! no pure one (RFC 9909): key and signature must have the same identifier.

#[cfg(feature = "classical")]
mod classical;
#[cfg(feature = "composite")]
mod composite;

#[cfg(feature = "classical")]
pub use classical::classical_algorithms;
#[cfg(feature = "composite")]
pub use composite::composite_algorithms;

use core::fmt;

use const_oid::ObjectIdentifier;
use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use pq_core::Error;
use pq_core::ml_dsa::{self, ExpandedVerifyingKey, MlDsa44, MlDsa65, MlDsa87};
#[cfg(feature = "slh-dsa")]
use pq_core::slh_dsa::{
    self, Message, PreHash, SlhDsaSha2_128f, SlhDsaSha2_128s, SlhDsaSha2_192f, SlhDsaSha2_192s,
    SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f, SlhDsaShake128s, SlhDsaShake192f,
    SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
};
use pq_keys::SignatureAlgorithm;

pub use pq_keys::signing::{ExpandedKeys, Mode};

/// The algorithms, each with the last arc of its identifier in NIST's `sigAlgs`,
/// 2.16.840.1.101.3.4.3, its mode, its parameter set, and after `if` the feature that it is behind.
macro_rules! algorithms {
    ($(
        $(#[$attribute:meta])*
        $algorithm:ident = $arc:literal $mode:ident $set:ident $(if $feature:literal)? $name:literal
            $verify:expr;
    )+) => {
        $(
            $(#[$attribute])*
            $(#[cfg(feature = $feature)])?
            pub static $algorithm: &dyn SignatureVerificationAlgorithm = &Algorithm {
                // OBJECT IDENTIFIER, and nothing where parameters would be.
                identifier: AlgorithmIdentifier::from_slice(&[
                    0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, $arc,
                ]),
                name: $name,
                verify: $verify,
            };
        )+

        /// All algorithms of this module.
        pub static ALL: &[&dyn SignatureVerificationAlgorithm] = &[$($(#[cfg(feature = $feature)])? $algorithm),+];

        /// The parameter set and the mode of the algorithm of this module with this object
        /// identifier, which keys and signatures share.
        ///
        /// Unlike [`Algorithm::from_oid`](crate::keys::Algorithm::from_oid), it also knows HashSLH-DSA
        /// (RFC 9909), which has the parameter sets of SLH-DSA under identifiers of its own.
        pub fn parameter_set(oid: ObjectIdentifier) -> Option<(SignatureAlgorithm, Mode)> {
            match oid.as_bytes() {
                $($(#[cfg(feature = $feature)])? [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, $arc] => {
                    Some((SignatureAlgorithm::$set, Mode::$mode))
                })+
                _ => None,
            }
        }
    };
}

algorithms! {
    /// ML-DSA-44, pure, with an empty context (RFC 9881).
    ML_DSA_44 = 17 Pure MlDsa44 "ML-DSA-44" |key, message, signature| {
        static EXPANDED: MlDsaKeys<MlDsa44> = MlDsaKeys::new();
        ml_dsa(&EXPANDED, key, message, signature)
    };
    /// ML-DSA-65, pure, with an empty context (RFC 9881).
    ML_DSA_65 = 18 Pure MlDsa65 "ML-DSA-65" |key, message, signature| {
        static EXPANDED: MlDsaKeys<MlDsa65> = MlDsaKeys::new();
        ml_dsa(&EXPANDED, key, message, signature)
    };
    /// ML-DSA-87, pure, with an empty context (RFC 9881).
    ML_DSA_87 = 19 Pure MlDsa87 "ML-DSA-87" |key, message, signature| {
        static EXPANDED: MlDsaKeys<MlDsa87> = MlDsaKeys::new();
        ml_dsa(&EXPANDED, key, message, signature)
    };
    /// SLH-DSA-SHA2-128s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_128S = 20 Pure SlhDsaSha2_128s if "slh-dsa" "SLH-DSA-SHA2-128s" slh_dsa::<SlhDsaSha2_128s>;
    /// SLH-DSA-SHA2-128f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_128F = 21 Pure SlhDsaSha2_128f if "slh-dsa" "SLH-DSA-SHA2-128f" slh_dsa::<SlhDsaSha2_128f>;
    /// SLH-DSA-SHA2-192s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_192S = 22 Pure SlhDsaSha2_192s if "slh-dsa" "SLH-DSA-SHA2-192s" slh_dsa::<SlhDsaSha2_192s>;
    /// SLH-DSA-SHA2-192f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_192F = 23 Pure SlhDsaSha2_192f if "slh-dsa" "SLH-DSA-SHA2-192f" slh_dsa::<SlhDsaSha2_192f>;
    /// SLH-DSA-SHA2-256s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_256S = 24 Pure SlhDsaSha2_256s if "slh-dsa" "SLH-DSA-SHA2-256s" slh_dsa::<SlhDsaSha2_256s>;
    /// SLH-DSA-SHA2-256f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHA2_256F = 25 Pure SlhDsaSha2_256f if "slh-dsa" "SLH-DSA-SHA2-256f" slh_dsa::<SlhDsaSha2_256f>;
    /// SLH-DSA-SHAKE-128s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_128S = 26 Pure SlhDsaShake128s if "slh-dsa" "SLH-DSA-SHAKE-128s" slh_dsa::<SlhDsaShake128s>;
    /// SLH-DSA-SHAKE-128f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_128F = 27 Pure SlhDsaShake128f if "slh-dsa" "SLH-DSA-SHAKE-128f" slh_dsa::<SlhDsaShake128f>;
    /// SLH-DSA-SHAKE-192s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_192S = 28 Pure SlhDsaShake192s if "slh-dsa" "SLH-DSA-SHAKE-192s" slh_dsa::<SlhDsaShake192s>;
    /// SLH-DSA-SHAKE-192f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_192F = 29 Pure SlhDsaShake192f if "slh-dsa" "SLH-DSA-SHAKE-192f" slh_dsa::<SlhDsaShake192f>;
    /// SLH-DSA-SHAKE-256s, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_256S = 30 Pure SlhDsaShake256s if "slh-dsa" "SLH-DSA-SHAKE-256s" slh_dsa::<SlhDsaShake256s>;
    /// SLH-DSA-SHAKE-256f, pure, with an empty context (RFC 9909).
    SLH_DSA_SHAKE_256F = 31 Pure SlhDsaShake256f if "slh-dsa" "SLH-DSA-SHAKE-256f" slh_dsa::<SlhDsaShake256f>;
    /// HashSLH-DSA-SHA2-128s-with-SHA256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_128S_WITH_SHA256 = 35 PreHash SlhDsaSha2_128s if "slh-dsa" "HashSLH-DSA-SHA2-128s-with-SHA256"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_128s>(PreHash::Sha256, key, message, signature);
    /// HashSLH-DSA-SHA2-128f-with-SHA256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_128F_WITH_SHA256 = 36 PreHash SlhDsaSha2_128f if "slh-dsa" "HashSLH-DSA-SHA2-128f-with-SHA256"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_128f>(PreHash::Sha256, key, message, signature);
    /// HashSLH-DSA-SHA2-192s-with-SHA512, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_192S_WITH_SHA512 = 37 PreHash SlhDsaSha2_192s if "slh-dsa" "HashSLH-DSA-SHA2-192s-with-SHA512"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_192s>(PreHash::Sha512, key, message, signature);
    /// HashSLH-DSA-SHA2-192f-with-SHA512, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_192F_WITH_SHA512 = 38 PreHash SlhDsaSha2_192f if "slh-dsa" "HashSLH-DSA-SHA2-192f-with-SHA512"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_192f>(PreHash::Sha512, key, message, signature);
    /// HashSLH-DSA-SHA2-256s-with-SHA512, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_256S_WITH_SHA512 = 39 PreHash SlhDsaSha2_256s if "slh-dsa" "HashSLH-DSA-SHA2-256s-with-SHA512"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_256s>(PreHash::Sha512, key, message, signature);
    /// HashSLH-DSA-SHA2-256f-with-SHA512, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHA2_256F_WITH_SHA512 = 40 PreHash SlhDsaSha2_256f if "slh-dsa" "HashSLH-DSA-SHA2-256f-with-SHA512"
        |key, message, signature| hash_slh_dsa::<SlhDsaSha2_256f>(PreHash::Sha512, key, message, signature);
    /// HashSLH-DSA-SHAKE-128s-with-SHAKE128, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_128S_WITH_SHAKE128 = 41 PreHash SlhDsaShake128s if "slh-dsa" "HashSLH-DSA-SHAKE-128s-with-SHAKE128"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake128s>(PreHash::Shake128, key, message, signature);
    /// HashSLH-DSA-SHAKE-128f-with-SHAKE128, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_128F_WITH_SHAKE128 = 42 PreHash SlhDsaShake128f if "slh-dsa" "HashSLH-DSA-SHAKE-128f-with-SHAKE128"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake128f>(PreHash::Shake128, key, message, signature);
    /// HashSLH-DSA-SHAKE-192s-with-SHAKE256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_192S_WITH_SHAKE256 = 43 PreHash SlhDsaShake192s if "slh-dsa" "HashSLH-DSA-SHAKE-192s-with-SHAKE256"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake192s>(PreHash::Shake256, key, message, signature);
    /// HashSLH-DSA-SHAKE-192f-with-SHAKE256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_192F_WITH_SHAKE256 = 44 PreHash SlhDsaShake192f if "slh-dsa" "HashSLH-DSA-SHAKE-192f-with-SHAKE256"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake192f>(PreHash::Shake256, key, message, signature);
    /// HashSLH-DSA-SHAKE-256s-with-SHAKE256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_256S_WITH_SHAKE256 = 45 PreHash SlhDsaShake256s if "slh-dsa" "HashSLH-DSA-SHAKE-256s-with-SHAKE256"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake256s>(PreHash::Shake256, key, message, signature);
    /// HashSLH-DSA-SHAKE-256f-with-SHAKE256, with an empty context (RFC 9909).
    HASH_SLH_DSA_SHAKE_256F_WITH_SHAKE256 = 46 PreHash SlhDsaShake256f if "slh-dsa" "HashSLH-DSA-SHAKE-256f-with-SHAKE256"
        |key, message, signature| hash_slh_dsa::<SlhDsaShake256f>(PreHash::Shake256, key, message, signature);
}

/// Checks a signature over a message under a raw public key.
type Verify = fn(public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), Error>;

struct Algorithm {
    identifier: AlgorithmIdentifier,
    name: &'static str,
    verify: Verify,
}

type MlDsaKeys<P> = ExpandedKeys<ExpandedVerifyingKey<P>>;

/// `expanded` keeps the keys of roots, at least, from being expanded each time.
fn ml_dsa<P: ml_dsa::ParameterSet>(
    expanded: &MlDsaKeys<P>,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let parse = || ml_dsa::VerifyingKey::<P>::from_bytes(public_key);
    let signature = ml_dsa::Signature::<P>::from_bytes(signature)?;
    match expanded.find(public_key, || parse().map(|key| key.expand()))? {
        Some(key) => key.verify(message, &[], &signature),
        None => parse()?.verify(message, &[], &signature),
    }
}

#[cfg(feature = "slh-dsa")]
fn slh_dsa<P: slh_dsa::ParameterSet>(
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    slh_dsa::VerifyingKey::<P>::from_bytes(public_key)?.verify_bytes(
        Message::Pure(message),
        &[],
        signature,
    )
}

#[cfg(feature = "slh-dsa")]
fn hash_slh_dsa<P: slh_dsa::ParameterSet>(
    hash: PreHash,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    slh_dsa::VerifyingKey::<P>::from_bytes(public_key)?.verify_bytes(
        Message::Hashed(hash, message),
        &[],
        signature,
    )
}

impl SignatureVerificationAlgorithm for Algorithm {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        (self.verify)(public_key, message, signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
