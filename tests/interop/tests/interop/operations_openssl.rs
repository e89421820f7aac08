//! Signatures and encapsulations, crossed with OpenSSL's `pkeyutl`.

use interop::openssl::Workdir;
use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87, PreHash};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024};
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, PrivateKeyForm, SignatureAlgorithm, SigningKey,
};

/// The same test for every ML-DSA set.
macro_rules! for_every_ml_dsa_set {
    ($($test:ident),+ $(,)?) => {$(
        #[test]
        fn $test() {
            let Some(work) = Workdir::new() else { return };
            ml_dsa_tests::$test::<MlDsa44>(&work);
            ml_dsa_tests::$test::<MlDsa65>(&work);
            ml_dsa_tests::$test::<MlDsa87>(&work);
        }
    )+};
}

for_every_ml_dsa_set! {
    pure_signatures,
    deterministic_signatures_are_the_same,
    hedged_signatures_are_the_same,
    pre_hashed_signatures,
    external_mu,
    tampered_signatures,
}

mod ml_dsa_tests {
    use super::*;

    pub(super) fn pure_signatures<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        for context in CONTEXTS {
            let signature = key
                .sign(MESSAGE, context, &random())
                .expect("the context is short enough");
            verify_by_openssl(
                work,
                MESSAGE,
                signature.as_bytes(),
                &context_option(context),
            );

            let signature = sign_by_openssl::<P>(work, MESSAGE, &context_option(context));
            key.verifying_key()
                .verify(MESSAGE, context, &signature)
                .expect("OpenSSL signed this");
            key.verifying_key()
                .verify(MESSAGE, b"another context", &signature)
                .expect_err("OpenSSL signed this in its context only");
        }
    }

    pub(super) fn deterministic_signatures_are_the_same<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        for context in CONTEXTS {
            let ours = key
                .sign_deterministic(MESSAGE, context)
                .expect("the context is short enough");
            let options = format!("-pkeyopt deterministic:1 {}", context_option(context));
            assert!(ours == sign_by_openssl::<P>(work, MESSAGE, &options));
        }
    }

    pub(super) fn hedged_signatures_are_the_same<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        for context in CONTEXTS {
            let randomness = random();
            let ours = key
                .sign(MESSAGE, context, &randomness)
                .expect("the context is short enough");
            let options = format!(
                "-pkeyopt hextest-entropy:{} {}",
                hex(&randomness),
                context_option(context)
            );
            assert!(ours == sign_by_openssl::<P>(work, MESSAGE, &options));
        }
    }

    /// OpenSSL 3.5 has no HashML-DSA of its own; it signs and verifies the encoded
    /// message M′ of FIPS 204, algorithms 4 and 5, that we give it, with digests that OpenSSL
    /// computed.
    pub(super) fn pre_hashed_signatures<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        work.write("to-be-hashed", MESSAGE);
        for (hash, digest_options, oid) in PRE_HASHES {
            work.run(&format!(
                "dgst {digest_options} -binary -out digest to-be-hashed"
            ));
            let digest = work.read("digest");
            for context in CONTEXTS {
                let encoded = [
                    &[1, context.len() as u8],
                    context,
                    &NIST_HASH_ALGORITHMS,
                    &[oid],
                    &digest,
                ]
                .concat();
                let raw = "-pkeyopt message-encoding:0";

                let theirs = sign_by_openssl::<P>(
                    work,
                    &encoded,
                    &format!("{raw} -pkeyopt deterministic:1"),
                );
                key.verifying_key()
                    .hash_verify(hash, MESSAGE, context, &theirs)
                    .expect("OpenSSL signed this");
                let hedged = key.hash_sign(hash, MESSAGE, context, &random());
                let ours = key.sign_digest(hash, &digest, context, &[0; 32]);
                if 8 * digest.len() < 2 * P::LAMBDA {
                    // OpenSSL signs what it is given; FIPS 204, section 5.4.1, has no weak digests
                    for refused in [hedged, ours] {
                        let is_weak = matches!(refused, Err(pq_core::Error::WeakHash { .. }));
                        assert!(is_weak, "{hash:?}");
                    }
                    continue;
                }
                let hedged = hedged.expect("the context is short enough");
                verify_by_openssl(work, &encoded, hedged.as_bytes(), raw);
                assert!(
                    ours.expect("the digest is one of this hash") == theirs,
                    "{hash:?}"
                );
            }
        }
    }

    pub(super) fn external_mu<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        for context in CONTEXTS {
            let mu = key
                .verifying_key()
                .mu(MESSAGE, context)
                .expect("the context is short enough");
            // Our signature of µ is valid for the message.
            let ours = key.sign_mu(&mu, &random());
            verify_by_openssl(work, MESSAGE, ours.as_bytes(), &context_option(context));
            // So is OpenSSL's.
            let theirs = sign_by_openssl::<P>(work, &mu, "-pkeyopt mu:1");
            key.verifying_key()
                .verify(MESSAGE, context, &theirs)
                .expect("OpenSSL signed this");
            key.verifying_key()
                .verify_mu(&mu, &theirs)
                .expect("OpenSSL signed this");
        }
    }

    /// Both refuse signatures with one flipped bit, at either end of each of their parts.
    pub(super) fn tampered_signatures<P: ml_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        let good = key
            .sign_deterministic(MESSAGE, b"")
            .expect("the context is empty");
        let last = P::SIGNATURE_LEN - 1;
        for position in [0, 31, 32, last / 2, last] {
            let mut bad = good.as_bytes().to_vec();
            bad[position] ^= 1;

            work.write("message", MESSAGE);
            work.write("signature", &bad);
            work.run_failing(
                "pkeyutl -verify -rawin -pubin -inkey public.pem -in message -sigfile signature",
            )
            .assert_contains("Signature Verification Failure");
            let bad = ml_dsa::Signature::from_bytes(&bad).expect("its length is right");
            assert_eq!(
                key.verifying_key().verify(MESSAGE, b"", &bad),
                Err(pq_core::Error::InvalidSignature)
            );
        }
    }
}

/// The same test for every ML-KEM set.
macro_rules! for_every_ml_kem_set {
    ($($test:ident),+ $(,)?) => {$(
        #[test]
        fn $test() {
            let Some(work) = Workdir::new() else { return };
            ml_kem_tests::$test::<MlKem512>(&work);
            ml_kem_tests::$test::<MlKem768>(&work);
            ml_kem_tests::$test::<MlKem1024>(&work);
        }
    )+};
}

for_every_ml_kem_set! {
    encapsulations,
    implicit_rejections_are_the_same,
    wrong_lengths,
}

mod ml_kem_tests {
    use super::*;

    pub(super) fn encapsulations<P: ml_kem::ParameterSet>(work: &Workdir) {
        for _ in 0..8 {
            let key = decapsulation_key::<P>(work);
            let (ciphertext, ours) = key.encapsulation_key().encapsulate(&random());
            assert_eq!(
                decapsulate_by_openssl(work, ciphertext.as_bytes()),
                ours.as_bytes()
            );

            work.run("pkeyutl -encap -pubin -inkey public.pem -out ciphertext -secret secret");
            let ciphertext = ml_kem::Ciphertext::from_bytes(&work.read("ciphertext"))
                .expect("OpenSSL knows how long it is");
            assert_eq!(work.read("secret"), key.decapsulate(&ciphertext).as_bytes());
        }
    }

    /// Both make the same secret from a ciphertext that nobody encapsulated.
    pub(super) fn implicit_rejections_are_the_same<P: ml_kem::ParameterSet>(work: &Workdir) {
        let key = decapsulation_key::<P>(work);
        let (good, secret) = key.encapsulation_key().encapsulate(&random());
        let last = P::CIPHERTEXT_LEN - 1;
        for position in [0, last / 2, last] {
            let mut bad = good.as_bytes().to_vec();
            bad[position] ^= 1;
            let theirs = decapsulate_by_openssl(work, &bad);
            let bad = ml_kem::Ciphertext::from_bytes(&bad).expect("its length is right");
            let ours = key.decapsulate(&bad);
            assert_eq!(theirs, ours.as_bytes());
            assert_ne!(theirs, secret.as_bytes());
        }
    }

    pub(super) fn wrong_lengths<P: ml_kem::ParameterSet>(work: &Workdir) {
        let key = decapsulation_key::<P>(work);
        let (good, _) = key.encapsulation_key().encapsulate(&random());
        for len in [0, P::CIPHERTEXT_LEN - 1, P::CIPHERTEXT_LEN + 1] {
            let mut bad = good.as_bytes().to_vec();
            bad.resize(len, 0);
            work.write("ciphertext", &bad);
            work.run_failing("pkeyutl -decap -inkey private.pem -in ciphertext -secret secret");
            assert_eq!(
                ml_kem::Ciphertext::<P>::from_bytes(&bad),
                Err(pq_core::Error::WrongLength {
                    expected: P::CIPHERTEXT_LEN,
                    actual: len
                })
            );
        }
    }
}

/// A fresh key of ours, which OpenSSL finds in `private.pem` and `public.pem`.
fn signing_key<P: ml_dsa::ParameterSet>(work: &Workdir) -> ml_dsa::SigningKey<P> {
    let algorithm: SignatureAlgorithm = P::NAME.parse().expect("the set has a name");
    let seed = random();
    let key = SigningKey::from_seed(algorithm, &seed).expect("the seed is as long as it should be");
    let pem = key
        .to_pkcs8_pem_as(PrivateKeyForm::Seed)
        .expect("the key has a seed");
    work.write("private.pem", pem.as_bytes());
    work.write("public.pem", key.verifying_key().to_spki_pem());
    ml_dsa::SigningKey::from_seed(&seed)
}

/// Like [`signing_key`].
fn decapsulation_key<P: ml_kem::ParameterSet>(work: &Workdir) -> ml_kem::DecapsulationKey<P> {
    let algorithm: KemAlgorithm = P::NAME.parse().expect("the set has a name");
    let seed = random();
    let key =
        DecapsulationKey::from_seed(algorithm, &seed).expect("the seed is as long as it should be");
    let pem = key
        .to_pkcs8_pem_as(PrivateKeyForm::Seed)
        .expect("the key has a seed");
    work.write("private.pem", pem.as_bytes());
    work.write("public.pem", key.encapsulation_key().to_spki_pem());
    ml_kem::DecapsulationKey::from_seed(&seed)
}

fn sign_by_openssl<P: ml_dsa::ParameterSet>(
    work: &Workdir,
    message: &[u8],
    options: &str,
) -> ml_dsa::Signature<P> {
    work.write("message", message);
    work.run(&format!(
        "pkeyutl -sign -rawin -inkey private.pem -in message -out signature {options}"
    ));
    ml_dsa::Signature::from_bytes(&work.read("signature")).expect("OpenSSL knows how long it is")
}

#[track_caller]
fn verify_by_openssl(work: &Workdir, message: &[u8], signature: &[u8], options: &str) {
    work.write("message", message);
    work.write("signature", signature);
    work.run(&format!(
        "pkeyutl -verify -rawin -pubin -inkey public.pem -in message -sigfile signature {options}"
    ))
    .assert_contains("Signature Verified Successfully");
}

fn decapsulate_by_openssl(work: &Workdir, ciphertext: &[u8]) -> Vec<u8> {
    work.write("ciphertext", ciphertext);
    work.run("pkeyutl -decap -inkey private.pem -in ciphertext -secret secret");
    work.read("secret")
}

fn context_option(context: &[u8]) -> String {
    match context {
        [] => String::new(),
        context => format!("-pkeyopt hexcontext-string:{}", hex(context)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

const MESSAGE: &[u8] = b"a message that both sides know";

/// No context, a short one with a zero byte in it, and the longest possible.
const CONTEXTS: [&[u8]; 3] = [b"", b"con\0text", &[0x5a; 255]];

/// Every approved hash, how `openssl dgst` computes it as FIPS 204, section 5.4.1, asks
/// for, and the last number of its object identifier.
const PRE_HASHES: [(PreHash, &str, u8); 12] = [
    (PreHash::Sha256, "-sha256", 1),
    (PreHash::Sha384, "-sha384", 2),
    (PreHash::Sha512, "-sha512", 3),
    (PreHash::Sha224, "-sha224", 4),
    (PreHash::Sha512_224, "-sha512-224", 5),
    (PreHash::Sha512_256, "-sha512-256", 6),
    (PreHash::Sha3_224, "-sha3-224", 7),
    (PreHash::Sha3_256, "-sha3-256", 8),
    (PreHash::Sha3_384, "-sha3-384", 9),
    (PreHash::Sha3_512, "-sha3-512", 10),
    (PreHash::Shake128, "-shake128 -xoflen 32", 11),
    (PreHash::Shake256, "-shake256 -xoflen 64", 12),
];

/// The DER of 2.16.840.1.101.3.4.2.N, without N.
const NIST_HASH_ALGORITHMS: [u8; 10] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
