//! Signing and verifying keys of pq-keys with all options: what was signed is valid, whether the message comes in one
//! piece or in several and whoever verifies it, and nothing else is valid.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::one_of;
use libfuzzer_sys::fuzz_target;
use pq_core::slh_dsa::PreHash;
use pq_x509::keys::signing::{HashedMessage, SignatureOptions, SigningVariant};
use pq_x509::keys::{KeyError, SignatureAlgorithm, SigningKey, SubjectKey, VerifyingKey};
use pq_x509::verification::{self, Mode};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    seed: u8,
    message: &'a [u8],
    /// Where the message is cut in two.
    cut: u8,
    context: &'a [u8],
    pre_hash: Option<u8>,
    hedged: bool,
    /// The change to each before the signature is verified.
    changed_message: Bytes<'a>,
    changed_signature: Bytes<'a>,
    /// The change to the expanded key.
    expanded: Bytes<'a>,
}

/// All of ML-DSA, and the sets of SLH-DSA that sign fastest.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Set {
    MlDsa44,
    MlDsa65,
    MlDsa87,
    SlhDsaSha2_128f,
    SlhDsaShake128f,
}

impl Set {
    fn algorithm(self) -> SignatureAlgorithm {
        match self {
            Self::MlDsa44 => SignatureAlgorithm::MlDsa44,
            Self::MlDsa65 => SignatureAlgorithm::MlDsa65,
            Self::MlDsa87 => SignatureAlgorithm::MlDsa87,
            Self::SlhDsaSha2_128f => SignatureAlgorithm::SlhDsaSha2_128f,
            Self::SlhDsaShake128f => SignatureAlgorithm::SlhDsaShake128f,
        }
    }

    /// The hash function that certificates have with HashSLH-DSA (RFC 9909).
    fn own_hash(self) -> Option<PreHash> {
        match self {
            Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => None,
            Self::SlhDsaSha2_128f => Some(PreHash::Sha256),
            Self::SlhDsaShake128f => Some(PreHash::Shake128),
        }
    }

    fn is_ml_dsa(self) -> bool {
        self.own_hash().is_none()
    }

    /// The least length of a digest in bytes, which is that of a hash function of the set's strength.
    fn least_digest(self) -> usize {
        match self {
            Self::MlDsa44 | Self::SlhDsaSha2_128f | Self::SlhDsaShake128f => 32,
            Self::MlDsa65 => 48,
            Self::MlDsa87 => 64,
        }
    }
}

impl Input<'_> {
    fn check(&self) {
        let algorithm = self.set.algorithm();
        let seed = vec![self.seed; algorithm.seed_len()];
        let key = SigningKey::from_seed(algorithm, &seed).expect("a seed of the right length");
        assert_eq!(key.check(), Ok(()));
        self.check_expanded(&key);
        let pre_hash = self.pre_hash;
        let pre_hash = pre_hash.map(|it| one_of(PreHash::ALL, it));
        let options = SignatureOptions::new().context(self.context);
        let options = pre_hash.map_or(options, |hash| options.pre_hash(hash));
        let variant = match self.hedged {
            true => SigningVariant::Hedged,
            false => SigningVariant::Deterministic,
        };
        let signature = match key.sign_with(self.message, &options, variant) {
            Ok(signature) => signature,
            Err(KeyError::WeakPreHash { hash, .. }) => {
                assert_eq!(Some(hash), pre_hash);
                return assert!(hash.digest_len() < self.set.least_digest());
            }
            Err(error) => return assert!(self.context.len() > 255, "{error}"),
        };
        assert!(self.context.len() <= 255);
        assert!(pre_hash.is_none_or(|hash| hash.digest_len() >= self.set.least_digest()));
        assert_eq!(signature.len(), algorithm.signature_len());

        let verifying_key = key.verifying_key();
        let message = self.changed_message.of(self.message);
        let changed = self.changed_signature.of(&signature);
        let is_valid = message == self.message && changed == signature;
        for key in [verifying_key, &verifying_key.expand()] {
            let verdict = key.verify_with(self.message, &signature, &options);
            assert_eq!(verdict, Ok(()));
            let verdict = key.verify_with(&message, &changed, &options);
            assert_eq!(verdict.is_ok(), is_valid);
            let is_plain = self.context.is_empty() && pre_hash.is_none();
            assert_eq!(key.verify(self.message, &signature).is_ok(), is_plain);
        }
        self.check_streamed(&key, &options, &signature);
        self.check_algorithms(verifying_key, pre_hash, (&message, &changed), is_valid);
    }

    /// Checks that an expanded key is the same key. A changed one is refused, unless nothing changed on which the
    /// public key depends: SLH-DSA notices such a change only when it is asked to check the key, or when it signs.
    fn check_expanded(&self, key: &SigningKey) {
        let (algorithm, expanded) = (key.algorithm(), key.to_expanded());
        let again = SigningKey::from_expanded(algorithm, &expanded).expect("what was written");
        assert_eq!(again.verifying_key(), key.verifying_key());
        let changed = self.expanded.of(&expanded);
        let is_long_enough = changed.len() == expanded.len();
        // K of ML-DSA, and SK.prf of SLH-DSA.
        let is_ml_dsa = self.set.is_ml_dsa();
        let free = if is_ml_dsa { 32..64 } else { 16..32 };
        let is_consistent = is_long_enough
            && changed[..free.start] == expanded[..free.start]
            && changed[free.end..] == expanded[free.end..];
        match SigningKey::from_expanded(algorithm, &changed) {
            Ok(read) => {
                assert_eq!(*read.to_expanded(), changed);
                assert!(is_consistent || !is_ml_dsa);
                assert_eq!(read.check().is_ok(), is_consistent);
                let signed = read.sign(self.message);
                assert_eq!(signed.is_ok(), is_consistent);
            }
            Err(error) => assert!(!is_consistent && (is_ml_dsa || !is_long_enough), "{error}"),
        }
    }

    /// Checks that a message in two parts is the same message.
    fn check_streamed(&self, key: &SigningKey, options: &SignatureOptions<'_>, signature: &[u8]) {
        // SLH-DSA has to read a message twice.
        let streams = self.set.is_ml_dsa();
        let verifying_key = key.verifying_key();
        let mut hasher = match verifying_key.hasher(options) {
            Ok(hasher) => hasher,
            Err(error) => {
                assert!(!streams && self.pre_hash.is_none());
                return assert_eq!(error, KeyError::CannotStream(key.algorithm()));
            }
        };
        assert!(streams || self.pre_hash.is_some());
        let cut = usize::from(self.cut).min(self.message.len());
        let (one, other) = self.message.split_at(cut);
        hasher.update(one);
        hasher.update(other);
        let hashed = hasher.finish();
        assert_eq!(verifying_key.verify_hashed(&hashed, signature), Ok(()));
        let mut other = key.hasher(options).expect("as the other half has it");
        other.update(self.message);
        other.update(&[0]);
        let other = other.finish();
        assert!(verifying_key.verify_hashed(&other, signature).is_err());
        let deterministic = SigningVariant::Deterministic;
        let signed = key.sign_hashed(&hashed, deterministic);
        let expected = key.sign_with(self.message, options, deterministic);
        assert_eq!(signed, expected);
        match hashed.mu() {
            Some(mu) => {
                assert!(self.pre_hash.is_none());
                let again = HashedMessage::from_mu(*mu);
                assert_eq!(verifying_key.verify_hashed(&again, signature), Ok(()));
            }
            None => assert!(self.pre_hash.is_some()),
        }
    }

    /// The algorithms that certificates are verified with have neither contexts nor a choice of hash functions.
    fn check_algorithms(
        &self,
        key: &VerifyingKey,
        pre_hash: Option<PreHash>,
        (message, signature): (&[u8], &[u8]),
        is_valid: bool,
    ) {
        let own_hash = self.set.own_hash();
        let mut count = 0;
        for algorithm in verification::ALL {
            let id = algorithm.signature_alg_id();
            // An OBJECT IDENTIFIER without parameters.
            let oid = ObjectIdentifier::from_bytes(&id[2..]).expect("an identifier");
            let (set, mode) = verification::parameter_set(oid).expect("one of this list");
            if set != self.set.algorithm() {
                continue;
            }
            count += 1;
            let is_for_this = match mode {
                Mode::Pure => pre_hash.is_none(),
                Mode::PreHash => pre_hash.is_some() && pre_hash == own_hash,
            };
            let verdict = algorithm.verify_signature(key.as_bytes(), message, signature);
            let is_expected = is_valid && is_for_this && self.context.is_empty();
            assert_eq!(verdict.is_ok(), is_expected, "{algorithm:?}");
        }
        assert_eq!(count, if self.set.is_ml_dsa() { 1 } else { 2 });
        let read = VerifyingKey::from_spki_der(key.to_spki_der()).expect("what was written");
        assert_eq!((&read, read.spki()), (key, key.spki()));
    }
}
