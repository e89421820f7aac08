//! What a PKCS#11 module answers: public keys, signatures and secrets, changed or made up. A model says what is read; and no
//! signature leaves a store that is not one of its key, whatever the token in it says.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use fuzz::stores::{MESSAGE, somebody};
use fuzz::{Bytes, one_of};
use libfuzzer_sys::fuzz_target;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::{Algorithm, PrivateKey};
use pq_keystore::custody::answers::{self, MAX_ATTRIBUTE_LEN, PublicAttributes};
use pq_keystore::custody::{ObjectId, Token, TokenError, TokenInput, TokenName};
use pq_keystore::policy::{Grants, Input, Policy, Role};
use pq_keystore::sealing::{Argon2Cost, PassphraseKek};
use pq_keystore::storage::MemoryStorage;
use pq_keystore::{KeyName, Store, StoreError, StoreOptions};
use zeroize::Zeroizing;

fuzz_target!(|answer: Answer<'_>| match answer {
    Answer::PublicKey { key, attributes } => check_public_key(one_of(&PAIRS, key), &attributes),
    Answer::RsaKey { modulus, exponent } => check_rsa_key(&modulus, &exponent),
    Answer::Signature(key, bytes) => check_signature(one_of(&PAIRS, key), &bytes),
    Answer::Secret(bytes) => {
        let bytes = bytes.of(&[7; 32]);
        let read = answers::secret(&bytes);
        assert_eq!(read.is_ok(), bytes.len() == 32);
        if let Ok(secret) = read {
            assert_eq!(secret[..], bytes);
        }
    }
    Answer::ToStore { key, bytes } => check_store(one_of(&PAIRS, key), &bytes),
});

#[derive(Arbitrary, Debug)]
enum Answer<'a> {
    PublicKey {
        key: u8,
        attributes: Attributes<'a>,
    },
    RsaKey {
        modulus: Bytes<'a>,
        exponent: Bytes<'a>,
    },
    Signature(u8, Bytes<'a>),
    Secret(Bytes<'a>),
    /// What a token says when the store asks it to sign or to decapsulate.
    ToStore {
        key: u8,
        bytes: Bytes<'a>,
    },
}

#[derive(Arbitrary, Debug)]
struct Attributes<'a> {
    /// What the module calls its key's bytes.
    is_point: bool,
    /// An OCTET STRING is around it.
    is_wrapped: bool,
    bytes: Bytes<'a>,
    other: Option<&'a [u8]>,
}

/// A key pair, and its signature of [`MESSAGE`] as PKCS#11 has it; one of ML-KEM has none.
struct Pair {
    private: AnyPrivateKey,
    public: AnyPublicKey,
    signature: Option<Vec<u8>>,
}

static PAIRS: LazyLock<Vec<&'static Pair>> = LazyLock::new(|| {
    let names = [
        "ML-DSA-44",
        "ML-KEM-768",
        "SLH-DSA-SHAKE-128f",
        "ECDSA-P256",
        "ECDSA-P384",
        "Ed25519",
    ];
    let pairs = names.map(|name| &*Box::leak(Box::new(Pair::new(name))));
    pairs.into()
});

impl Pair {
    fn new(name: &str) -> Self {
        let algorithm = AnyAlgorithm::named(name).expect("known");
        let private = AnyPrivateKey::generate(algorithm).expect("randomness");
        let public = private.public_half();
        let mut pair = Self {
            private,
            public,
            signature: None,
        };
        pair.signature = pair.sign(MESSAGE);
        pair
    }

    /// Its signature of a message as PKCS#11 has it.
    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let key = AnySigningKey::try_from(self.private.clone()).ok()?;
        let made = key.sign(message).expect("a signature");
        Some(match number_len(self.algorithm()) {
            Some(len) => two_numbers(&made, len).expect("a signature"),
            None => made,
        })
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Vec<u8> {
        let AnyPrivateKey::PostQuantum(PrivateKey::Decapsulation(key)) = &self.private else {
            panic!("a key that decapsulates");
        };
        let mut secret = [0; 32];
        key.decapsulate_into(ciphertext, &mut secret)
            .expect("a ciphertext");
        secret.into()
    }

    fn algorithm(&self) -> AnyAlgorithm {
        self.public.algorithm()
    }
}

/// How many bytes a number in a signature of ECDSA has.
fn number_len(algorithm: AnyAlgorithm) -> Option<usize> {
    match algorithm {
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP256) => Some(32),
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP384) => Some(48),
        _ => None,
    }
}

/// The numbers of a signature of ECDSA, each of this length, of its DER. There is one DER of two numbers.
fn two_numbers(der: &[u8], len: usize) -> Option<Vec<u8>> {
    let &[0x30, rest_len, ref rest @ ..] = der else {
        return None;
    };
    let (mut rest, mut raw) = (rest, Vec::new());
    if rest.len() != usize::from(rest_len) {
        return None;
    }
    for _ in 0..2 {
        let &[2, number_len, ref after @ ..] = rest else {
            return None;
        };
        let (number, after) = after.split_at_checked(number_len.into())?;
        let digits = match number {
            [0] => &[][..],
            // Zeros are in front only of what would be negative.
            [0, next @ ..] => (next[0] >= 0x80).then_some(next)?,
            [first, ..] => (*first < 0x80).then_some(number)?,
            [] => return None,
        };
        raw.extend(vec![0; len.checked_sub(digits.len())?]);
        raw.extend(digits);
        rest = after;
    }
    rest.is_empty().then_some(raw)
}

fn check_public_key(pair: &Pair, attributes: &Attributes<'_>) {
    let algorithm = pair.algorithm();
    let own = pair.public.as_bytes();
    let valid = match attributes.is_wrapped {
        true => [&[4, own.len() as u8], own].concat(),
        false => own.to_vec(),
    };
    let bytes = attributes.bytes.of(&valid);
    let other = attributes.other.map(Into::into);
    let (value, point) = match attributes.is_point {
        true => (other, Some(bytes)),
        false => (Some(bytes), other),
    };
    let said = match algorithm {
        AnyAlgorithm::PostQuantum(_) => value.clone(),
        _ => point.clone(),
    };
    let read = answers::public_key(
        algorithm,
        &PublicAttributes {
            value,
            point,
            modulus: None,
            exponent: None,
        },
    );
    let Some(said) = said else {
        assert!(read.is_err());
        return;
    };
    let len = own.len();
    let inner = match (algorithm, &*said) {
        (AnyAlgorithm::Classical(_), [4, inner_len, inner @ ..])
            if inner.len() == len && usize::from(*inner_len) == len =>
        {
            inner
        }
        (_, said) => said,
    };
    match read {
        Ok(key) => {
            assert_eq!(key.algorithm(), algorithm);
            assert_eq!(key.as_bytes(), inner);
        }
        // Of ML-DSA and SLH-DSA, all bytes of the right number are a key.
        Err(error) => {
            assert_ne!(inner, own, "{error}");
            let is_signing = matches!(
                algorithm,
                AnyAlgorithm::PostQuantum(Algorithm::Signature(_))
            );
            assert!(!is_signing || inner.len() != len, "{error}");
        }
    }
}

/// Numbers of RSA: a modulus of a size that is known, without a sign.
fn check_rsa_key(modulus: &Bytes<'_>, exponent: &Bytes<'_>) {
    let modulus = modulus.of(&[0xff; 256]);
    let exponent = exponent.of(&[1, 0, 1]);
    let digits = |bytes: &[u8]| -> Vec<u8> {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes[zeros..].to_vec()
    };
    let attributes = PublicAttributes {
        modulus: Some(modulus.clone()),
        exponent: Some(exponent.clone()),
        ..PublicAttributes::default()
    };
    for (name, len) in [("RSA-2048", 256), ("RSA-3072", 384), ("RSA-4096", 512)] {
        let algorithm = AnyAlgorithm::named(name).expect("known");
        let read = answers::public_key(algorithm, &attributes);
        let is_usual = digits(&modulus) == [0xff; 256] && digits(&exponent) == [1, 0, 1];
        if len == 256 && is_usual && modulus.len().max(exponent.len()) < MAX_ATTRIBUTE_LEN {
            assert!(read.is_ok());
        }
        let Ok(key) = read else {
            continue;
        };
        assert_eq!(key.algorithm(), algorithm);
        assert_eq!(digits(&modulus).len(), len);
        let der = key.as_bytes();
        let holds = |number: Vec<u8>| der.windows(number.len()).any(|part| part == number);
        assert!(holds(digits(&modulus)) && holds(digits(&exponent)));
    }
}

fn check_signature(pair: &Pair, bytes: &Bytes<'_>) {
    let made = pair.signature.as_deref().unwrap_or(&[7; 64]);
    let answer = bytes.of(made);
    let read = answers::signature(pair.algorithm(), answer.clone());
    let has_len = pair.signature.is_some() && answer.len() == made.len();
    assert_eq!(read.is_ok(), has_len);
    let Ok(signature) = read else {
        return;
    };
    match number_len(pair.algorithm()) {
        Some(len) => assert_eq!(two_numbers(&signature, len), Some(answer.clone())),
        None => assert_eq!(signature, answer),
    }
    let verified = pair.public.verify(MESSAGE, &signature);
    assert_eq!(verified.is_ok(), answer == made);
}

/// A token that has [`PAIRS`], and answers what it was told to, and rightly until then.
#[derive(Default)]
struct Told {
    objects: Mutex<Vec<(ObjectId, &'static Pair)>>,
    answer: Mutex<Option<Vec<u8>>>,
}

impl Told {
    fn answer(&self, right: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
        let told = self.answer.lock().expect("no thread panicked").clone();
        told.unwrap_or_else(right)
    }

    fn pair(&self, object: &ObjectId) -> &'static Pair {
        let objects = self.objects.lock().expect("no thread panicked");
        let found = objects.iter().find(|(kept, _)| kept == object);
        found.expect("it was made").1
    }
}

impl Token for Told {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        _: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        let pair = PAIRS.iter().find(|pair| pair.algorithm() == algorithm);
        let pair = pair.expect("one of them");
        self.objects
            .lock()
            .expect("no thread panicked")
            .push((*object, pair));
        Ok(pair.public.clone())
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        let right = || {
            let Input::Message { message, .. } = request.input else {
                panic!("the store signs messages");
            };
            let made = self.pair(request.object).sign(message);
            made.expect("a key that signs")
        };
        Ok(answers::signature(request.algorithm, self.answer(right))?)
    }

    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        let right = || self.pair(object).decapsulate(ciphertext);
        Ok(answers::secret(&self.answer(right))?)
    }

    fn destroy(&self, _: &ObjectId) -> Result<(), TokenError> {
        Ok(())
    }

    fn objects(&self, _: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        let objects = self.objects.lock().expect("no thread panicked");
        Ok(objects.iter().map(|(object, _)| *object).collect())
    }

    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError> {
        let objects = self.objects.lock().expect("no thread panicked");
        Ok(objects.iter().filter(|(kept, _)| kept == object).count())
    }

    fn description(&self) -> String {
        "a token that answers what it was told to".into()
    }
}

static TOLD: LazyLock<Arc<Told>> = LazyLock::new(Arc::default);

/// A store whose keys are [`PAIRS`], in that token.
static STORE: LazyLock<Store> = LazyLock::new(|| {
    let cost = Argon2Cost {
        memory: 64,
        passes: 1,
        lanes: 1,
    };
    let (kek, who) = (PassphraseKek::new(b"secret").cost(cost), somebody());
    let token: TokenName = "told".parse().expect("a name");
    let options = StoreOptions::default().token(token.clone(), TOLD.clone());
    let store = Store::create(Arc::new(MemoryStorage::new()), &kek, &who, options);
    let store = store.expect("a store in memory");
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant(&who, Role::User.verbs());
    for pair in PAIRS.iter() {
        let made = store.create_key_in(&who, &name(pair), pair.algorithm(), &policy, &token);
        made.expect("the token has it");
    }
    store
});

fn name(pair: &Pair) -> KeyName {
    let name = pair.algorithm().to_string().to_lowercase();
    KeyName::new("t", "p", &name).expect("a name")
}

fn check_store(pair: &Pair, bytes: &Bytes<'_>) {
    let store = &*STORE;
    let says = |answer: Vec<u8>| *TOLD.answer.lock().expect("no thread panicked") = Some(answer);
    let is_of_token = |error: StoreError| {
        let StoreError::Token { error, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(error.code(), "token-answer");
    };
    let Some(made) = &pair.signature else {
        let answer = bytes.of(&[7; 32]);
        says(answer.clone());
        let encapsulated = store.encapsulate(&somebody(), &name(pair));
        let encapsulated = encapsulated.expect("the public key is here");
        match store.decapsulate(&somebody(), &encapsulated.id, &encapsulated.ciphertext) {
            Ok(secret) => assert_eq!(secret[..], answer),
            Err(error) => {
                assert_ne!(answer.len(), 32);
                is_of_token(error);
            }
        }
        return;
    };
    let answer = bytes.of(made);
    says(answer.clone());
    match store.sign(&somebody(), &name(pair), Input::message(MESSAGE)) {
        Ok(signed) => {
            assert_eq!(answer, *made);
            let verified = pair.public.verify(MESSAGE, &signed.signature);
            verified.expect("a signature by this key");
        }
        Err(error) => {
            assert_ne!(answer, *made);
            is_of_token(error);
        }
    }
}
