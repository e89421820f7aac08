//! Signatures with options (a context, a pre-hash, messages in pieces, external µ, the
//! deterministic variant), compared with pq-core's own functions, which its tests check with NIST's vectors.

use pq_core::slh_dsa::{Message, SlhDsaSha2_128f, SlhDsaShake128f};
use pq_core::{ml_dsa, slh_dsa};
use pq_keys::signing::Mode;
use pq_keys::signing::{HashedMessage, PreHash, SignatureOptions, SigningVariant};
use pq_keys::{KeyError, SignatureAlgorithm, SigningKey, VerifyingKey};

use SigningVariant::{Deterministic, Hedged};

const MESSAGE: &[u8] = &[7; 1000];

/// The sets of ML-DSA, and two quick sets of SLH-DSA.
fn algorithms() -> impl Iterator<Item = SignatureAlgorithm> {
    let quick = [
        SignatureAlgorithm::SlhDsaSha2_128f,
        SignatureAlgorithm::SlhDsaShake128f,
    ];
    SignatureAlgorithm::ML_DSA.iter().copied().chain(quick)
}

fn key(algorithm: SignatureAlgorithm) -> SigningKey {
    SigningKey::from_seed(algorithm, &vec![7; algorithm.seed_len()]).unwrap()
}

/// Hashes the message in pieces of arbitrary lengths.
fn hashed(key: &VerifyingKey, options: &SignatureOptions<'_>) -> Result<HashedMessage, KeyError> {
    let mut hasher = key.hasher(options)?;
    let (head, tail) = MESSAGE.split_at(137);
    for piece in [head, &[], tail] {
        hasher.update(piece);
    }
    Ok(hasher.finish())
}

/// The deterministic signature by pq-core with the same key.
fn by_pq_core(algorithm: SignatureAlgorithm, context: &[u8], pre_hash: Option<PreHash>) -> Vec<u8> {
    fn ml_dsa<P: ml_dsa::ParameterSet>(context: &[u8], pre_hash: Option<PreHash>) -> Vec<u8> {
        let key = ml_dsa::SigningKey::<P>::boxed_from_seed(&[7; 32]);
        let signature = match pre_hash {
            None => key.sign_deterministic(MESSAGE, context),
            Some(hash) => key.hash_sign(hash, MESSAGE, context, &[0; 32]),
        };
        signature.unwrap().as_bytes().to_vec()
    }

    fn slh_dsa<P: slh_dsa::ParameterSet>(
        key: &slh_dsa::SigningKey<P>,
        context: &[u8],
        pre_hash: Option<PreHash>,
    ) -> Vec<u8> {
        let message = match pre_hash {
            None => Message::Pure(MESSAGE),
            Some(hash) => Message::Hashed(hash, MESSAGE),
        };
        let mut signature = vec![0; P::SIGNATURE_LEN];
        key.sign_into(message, context, None, &|_| (), &mut signature)
            .unwrap();
        signature
    }

    match algorithm {
        SignatureAlgorithm::MlDsa44 => ml_dsa::<ml_dsa::MlDsa44>(context, pre_hash),
        SignatureAlgorithm::MlDsa65 => ml_dsa::<ml_dsa::MlDsa65>(context, pre_hash),
        SignatureAlgorithm::MlDsa87 => ml_dsa::<ml_dsa::MlDsa87>(context, pre_hash),
        SignatureAlgorithm::SlhDsaSha2_128f => {
            let key = slh_dsa::SigningKey::<SlhDsaSha2_128f>::boxed_from_seed(&[7; 48]);
            slh_dsa(&key, context, pre_hash)
        }
        SignatureAlgorithm::SlhDsaShake128f => {
            let key = slh_dsa::SigningKey::<SlhDsaShake128f>::boxed_from_seed(&[7; 48]);
            slh_dsa(&key, context, pre_hash)
        }
        other => panic!("{other} is not among the quick ones"),
    }
}

#[test]
fn options_are_those_of_the_standards() {
    for algorithm in algorithms() {
        let key = key(algorithm);
        let public = key.verifying_key();
        let invalid = Err(KeyError::InvalidSignature(algorithm));
        for context in [&b""[..], b"context"] {
            for pre_hash in [None, Some(PreHash::Sha512), Some(PreHash::Shake256)] {
                let mut options = SignatureOptions::new().context(context);
                if let Some(hash) = pre_hash {
                    options = options.pre_hash(hash);
                }
                let expected = by_pq_core(algorithm, context, pre_hash);
                let signature = key.sign_with(MESSAGE, &options, Deterministic).unwrap();
                assert!(signature == expected, "{algorithm} {options:?}");
                let hedged = key.sign_with(MESSAGE, &options, Hedged).unwrap();
                assert!(hedged != expected, "{algorithm} {options:?}");
                for signature in [&signature, &hedged] {
                    assert_eq!(public.verify_with(MESSAGE, signature, &options), Ok(()));
                    let other = public.verify_with(&MESSAGE[1..], signature, &options);
                    assert_eq!(other, invalid);
                }

                // In pieces, the result is the same, if pieces are possible.
                match hashed(public, &options) {
                    Err(error) => {
                        assert_eq!(error, KeyError::CannotStream(algorithm));
                        assert!(pre_hash.is_none() && algorithm.name().starts_with("SLH"));
                        assert_eq!(key.hasher(&options).unwrap_err(), error);
                    }
                    Ok(message) => {
                        let streamed = key.sign_hashed(&message, Deterministic).unwrap();
                        assert!(streamed == expected, "{algorithm} {options:?}");
                        let hedged = key.sign_hashed(&message, Hedged).unwrap();
                        assert!(hedged != expected, "{algorithm} {options:?}");
                        assert_eq!(public.verify_hashed(&message, &hedged), Ok(()));
                        assert_eq!(public.verify_hashed(&message, &hedged[1..]), invalid);
                        assert_eq!(message.mu().is_some(), pre_hash.is_none());
                    }
                }
            }
        }
    }
}

#[test]
fn other_options_verify_nothing() {
    let plain = SignatureOptions::new();
    let different = [
        plain,
        plain.context(b"context"),
        plain.context(b"Context"),
        plain.pre_hash(PreHash::Sha512),
        plain.pre_hash(PreHash::Sha3_512),
        plain.context(b"context").pre_hash(PreHash::Sha512),
    ];
    for algorithm in [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::SlhDsaSha2_128f,
    ] {
        let key = key(algorithm);
        let other_key = SigningKey::generate(algorithm).unwrap();
        for (i, made) in different.iter().enumerate() {
            let signature = key.sign_with(MESSAGE, made, Hedged).unwrap();
            let invalid = Err(KeyError::InvalidSignature(algorithm));
            for (j, used) in different.iter().enumerate() {
                let verified = key.verifying_key().verify_with(MESSAGE, &signature, used);
                assert_eq!(
                    verified.is_ok(),
                    i == j,
                    "{algorithm}: {made:?} as {used:?}"
                );
                let verified = other_key
                    .verifying_key()
                    .verify_with(MESSAGE, &signature, used);
                assert_eq!(verified, invalid);
            }
        }
    }
}

#[test]
fn mu_goes_from_where_the_message_is_to_where_the_key_is() {
    let key = key(SignatureAlgorithm::MlDsa65);
    let public = key.verifying_key();
    let options = SignatureOptions::new().context(b"context");
    let mu = *hashed(public, &options).unwrap().mu().unwrap();
    let core = ml_dsa::VerifyingKey::<ml_dsa::MlDsa65>::from_bytes(public.as_bytes()).unwrap();
    assert_eq!(core.mu(MESSAGE, b"context"), Ok(mu));

    let message = HashedMessage::from_mu(mu);
    let signature = key.sign_hashed(&message, Hedged).unwrap();
    assert_eq!(public.verify_with(MESSAGE, &signature, &options), Ok(()));
    assert_eq!(public.verify_hashed(&message, &signature), Ok(()));
    let mut other = mu;
    other[63] ^= 1;
    assert_eq!(
        public.verify_hashed(&HashedMessage::from_mu(other), &signature),
        Err(KeyError::InvalidSignature(SignatureAlgorithm::MlDsa65))
    );
}

#[test]
fn only_ml_dsa_has_mu() {
    let algorithm = SignatureAlgorithm::SlhDsaShake128f;
    let key = key(algorithm);
    let mu = HashedMessage::from_mu([1; 64]);
    assert_eq!(key.sign_hashed(&mu, Hedged), Err(KeyError::NoMu(algorithm)));
    let verified = key.verifying_key().verify_hashed(&mu, &[0; 17088]);
    assert_eq!(verified, Err(KeyError::NoMu(algorithm)));
}

/// FIPS 204, section 5.4, and FIPS 205, section 10.2: 256 bits of digest for λ = 128 and n = 16, 384
/// for λ = 192 and n = 24, and 512 for λ = 256 and n = 32.
#[test]
fn hash_functions_that_are_weaker_than_the_key_sign_nothing() {
    for (algorithm, bits) in [
        (SignatureAlgorithm::MlDsa44, 256),
        (SignatureAlgorithm::MlDsa65, 384),
        (SignatureAlgorithm::MlDsa87, 512),
        (SignatureAlgorithm::SlhDsaSha2_128f, 256),
        (SignatureAlgorithm::SlhDsaShake192f, 384),
        (SignatureAlgorithm::SlhDsaSha2_256f, 512),
    ] {
        let key = key(algorithm);
        assert_eq!(8 * algorithm.least_digest_len(), bits);
        for &hash in PreHash::ALL {
            let options = SignatureOptions::new().pre_hash(hash);
            let hashed = hashed(key.verifying_key(), &options).unwrap();
            let refusals = if 8 * hash.digest_len() < bits {
                let signed = key.sign_with(MESSAGE, &options, Hedged);
                vec![
                    signed.unwrap_err(),
                    key.sign_hashed(&hashed, Hedged).unwrap_err(),
                    key.hasher(&options).unwrap_err(),
                ]
            } else {
                key.hasher(&options).unwrap();
                vec![]
            };
            for refusal in refusals {
                assert_eq!(refusal, KeyError::WeakPreHash { algorithm, hash });
                let advice = format!("use {}", algorithm.usual_pre_hash());
                assert!(refusal.to_string().contains(&advice), "{refusal}");
            }
        }
        let usual = SignatureOptions::new().pre_hash(algorithm.usual_pre_hash());
        assert!(key.hasher(&usual).is_ok());
    }
}

/// A deterministic signature by HashML-DSA.Sign of a digest too weak for the key, which no key of ours signs: by hand,
/// as the representative of M′ (FIPS 204, algorithms 4 and 7). `arc` is the last of the hash function's identifier.
fn with_a_weak_hash(hash: PreHash, arc: u8, context: &[u8]) -> Vec<u8> {
    fn digest(hash: PreHash, parts: &[&[u8]]) -> ml_dsa::Digest {
        let mut hasher = hash.hasher();
        for part in parts {
            hasher.update(part);
        }
        hasher.finish()
    }

    let key = ml_dsa::SigningKey::<ml_dsa::MlDsa65>::boxed_from_seed(&[7; 32]);
    let refused = key.hash_sign(hash, MESSAGE, context, &[0; 32]);
    assert!(matches!(refused, Err(pq_core::Error::WeakHash { .. })));
    let head = [1, u8::try_from(context.len()).unwrap()];
    let oid = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, arc];
    let of_message = digest(hash, &[MESSAGE]);
    let tr = digest(PreHash::Shake256, &[key.verifying_key().as_bytes()]);
    let mu = digest(
        PreHash::Shake256,
        &[tr.as_bytes(), &head, context, &oid, of_message.as_bytes()],
    );
    let mu: &[u8; 64] = mu.as_bytes().try_into().unwrap();
    key.sign_mu(mu, &[0; 32]).as_bytes().to_vec()
}

/// Other people's signatures can be verified, whatever hash function they used.
#[test]
fn hash_functions_that_are_weaker_than_the_key_verify() {
    for (hash, arc) in [(PreHash::Sha224, 4), (PreHash::Sha256, 1)] {
        let options = SignatureOptions::new().context(b"context").pre_hash(hash);
        let algorithm = SignatureAlgorithm::MlDsa65;
        let signature = with_a_weak_hash(hash, arc, b"context");
        let key = key(algorithm);
        let public = key.verifying_key();
        assert_eq!(public.verify_with(MESSAGE, &signature, &options), Ok(()));
        let message = hashed(public, &options).unwrap();
        assert_eq!(public.verify_hashed(&message, &signature), Ok(()));
    }
}

#[test]
fn contexts_have_at_most_255_bytes() {
    for algorithm in [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::SlhDsaSha2_128f,
    ] {
        let key = key(algorithm);
        let public = key.verifying_key();
        let refused = KeyError::Operation {
            algorithm: algorithm.into(),
            error: pq_core::Error::ContextTooLong,
        };
        let context = [1; 256];
        for pre_hash in [None, Some(PreHash::Sha256)] {
            let with = |len| {
                let options = SignatureOptions::new().context(&context[..len]);
                pre_hash.map_or(options, |hash| options.pre_hash(hash))
            };
            let signature = key.sign_with(MESSAGE, &with(255), Hedged).unwrap();
            assert_eq!(public.verify_with(MESSAGE, &signature, &with(255)), Ok(()));
            let long = with(256);
            let signed = key.sign_with(MESSAGE, &long, Hedged);
            assert_eq!(signed.unwrap_err(), refused);
            let verified = public.verify_with(MESSAGE, &signature, &long);
            assert_eq!(verified.unwrap_err(), refused);
            // Refused before a long message is read in vain.
            match public.hasher(&long).unwrap_err() {
                KeyError::CannotStream(_) => {
                    assert_eq!(
                        (algorithm.name().starts_with("SLH"), pre_hash),
                        (true, None)
                    );
                }
                error => assert_eq!(error, refused),
            }
        }
    }
}

/// RFC 9909: an identifier of HashSLH-DSA determines the hash function.
#[test]
fn a_key_for_hashes_signs_by_its_own_hash_function() {
    let algorithm = SignatureAlgorithm::SlhDsaSha2_128f;
    let pure = key(algorithm);
    let mut der = pure.to_pkcs8_der().unwrap();
    assert_eq!(der[17], 21);
    der[17] = 36;
    let key = SigningKey::from_pkcs8_der(&der).unwrap();
    let public = key.verifying_key();
    assert_eq!(public.mode(), Mode::PreHash);

    let plain = SignatureOptions::new();
    let own = plain.pre_hash(PreHash::Sha256);
    let signature = key.sign_with(MESSAGE, &plain, Deterministic).unwrap();
    assert!(signature == by_pq_core(algorithm, b"", Some(PreHash::Sha256)));
    assert!(signature == key.sign_with(MESSAGE, &own, Deterministic).unwrap());
    let message = hashed(public, &plain).unwrap();
    assert_eq!(hashed(public, &own), Ok(message.clone()));
    assert!(signature == key.sign_hashed(&message, Deterministic).unwrap());
    for options in [&plain, &own] {
        assert_eq!(public.verify_with(MESSAGE, &signature, options), Ok(()));
    }
    assert_eq!(public.verify_hashed(&message, &signature), Ok(()));

    let other = plain.pre_hash(PreHash::Sha512);
    let refused = KeyError::OtherPreHash {
        algorithm,
        own: PreHash::Sha256,
        asked: PreHash::Sha512,
    };
    let message = hashed(pure.verifying_key(), &other).unwrap();
    let signature = pure.sign_hashed(&message, Hedged).unwrap();
    for refusal in [
        key.sign_with(MESSAGE, &other, Hedged).unwrap_err(),
        key.sign_hashed(&message, Hedged).unwrap_err(),
        key.hasher(&other).unwrap_err(),
        public.verify_with(MESSAGE, &signature, &other).unwrap_err(),
        public.verify_hashed(&message, &signature).unwrap_err(),
        public.hasher(&other).unwrap_err(),
    ] {
        assert_eq!(refusal, refused);
    }
}
