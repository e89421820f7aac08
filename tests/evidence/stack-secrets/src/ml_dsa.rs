//! The operations of ML-DSA.

use std::sync::Mutex;

use pq_core::Dimension;
use pq_core::ml_dsa::batch::{self, Generate};
use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreHash, SigningKey};

use crate::derived::{shake256, unpack};
use crate::operation::{Operation, fresh};
use crate::sought::Sought;
use crate::stack::made_over;

pub(crate) fn operations() -> Vec<Operation> {
    let sets = [of::<MlDsa44>(), of::<MlDsa65>(), of::<MlDsa87>()];
    let sets = sets.into_iter().flatten();
    sets.chain([batch::<MlDsa65>()]).collect()
}

fn of<P: ParameterSet>() -> Vec<Operation> {
    let name = |operation: &str| format!("{} {operation}", P::NAME);
    let mut operations = vec![
        Operation::new(
            name("SigningKey::from_seed, dropped"),
            fresh::<32>,
            |seed| drop(SigningKey::<P>::from_seed(seed)),
            |seed, ()| secrets_of(&SigningKey::<P>::boxed_from_seed(seed)),
        ),
        Operation::new(
            name("SigningKey::from_seed_into"),
            fresh::<32>,
            |seed| {
                let mut place = Box::new(None);
                SigningKey::<P>::from_seed_into(seed, &mut place);
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("SigningKey::boxed_from_seed"),
            fresh::<32>,
            |seed| SigningKey::<P>::boxed_from_seed(seed),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::from_expanded, dropped"),
            expanded::<P>,
            |bytes| drop(SigningKey::<P>::from_expanded(bytes)),
            |bytes, ()| secrets_of(&*SigningKey::<P>::boxed_from_expanded(bytes).expect("valid")),
        ),
        Operation::new(
            name("SigningKey::from_expanded_into"),
            expanded::<P>,
            |bytes| {
                let mut place = Box::new(None);
                SigningKey::<P>::from_expanded_into(bytes, &mut place).expect("valid");
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("SigningKey::boxed_from_expanded"),
            expanded::<P>,
            |bytes| SigningKey::<P>::boxed_from_expanded(bytes).expect("valid"),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::boxed_from_expanded, refused"),
            || {
                let mut bytes = expanded::<P>();
                // changes t₀
                *bytes.last_mut().expect("not empty") ^= 1;
                bytes
            },
            |bytes| {
                let error = SigningKey::<P>::boxed_from_expanded(bytes);
                assert!(error.is_err());
            },
            |bytes, ()| encoded_secrets::<P>(bytes),
        ),
        Operation::new(
            name("SigningKey::to_expanded, dropped"),
            key::<P>,
            |key| drop(key.to_expanded()),
            |key, ()| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::to_expanded_into"),
            key::<P>,
            |key| {
                let mut output = vec![0; P::SIGNING_KEY_LEN];
                key.to_expanded_into(&mut output).expect("of this length");
                output
            },
            |key, _| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::clone, dropped"),
            key::<P>,
            |key| drop(SigningKey::clone(key)),
            |key, ()| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::clone_from"),
            || (key::<P>(), Mutex::new(Some(key::<P>()))),
            |(key, place)| {
                let mut place = place.lock().expect("one thread").take().expect("once");
                place.clone_from(key);
                place
            },
            |(key, _), _| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey, dropped"),
            || {
                let key = key::<P>();
                let sought = secrets_of(&key);
                (Mutex::new(Some(key)), sought)
            },
            |(key, _)| drop(key.lock().expect("one thread").take()),
            |(_, sought), ()| sought.clone(),
        ),
    ];
    operations.extend(SIGN.iter().map(|(sign, hash)| {
        Operation::new(
            name(&format!("SigningKey::{sign}")),
            || (key::<P>(), fresh::<32>()),
            |(key, rnd)| {
                let signature = match *sign {
                    "sign" => key.sign(MESSAGE, b"", rnd),
                    "sign_deterministic" => key.sign_deterministic(MESSAGE, b""),
                    "hash_sign" => key.hash_sign(PreHash::Sha512, MESSAGE, b"", rnd),
                    "sign_digest" => key.sign_digest(PreHash::Sha512, &digest(), b"", rnd),
                    _ => Ok(key.sign_mu(&mu(key, false), rnd)),
                };
                signature.expect("a short context").as_bytes().to_vec()
            },
            |(key, rnd), signature| {
                let rnd = match *sign {
                    "sign_deterministic" => &[0; 32],
                    _ => &**rnd,
                };
                secrets_of_signing(key, &mu(key, *hash), rnd).public(signature)
            },
        )
    }));
    operations
}

/// A batch of one set: the compiler compiles it here, for every backend.
fn batch<P: ParameterSet>() -> Operation {
    Operation::new(
        format!("{} batch::generate", P::NAME),
        || [fresh::<32>(), fresh(), fresh(), fresh(), fresh()],
        |seeds| {
            let mut keys = Vec::from_iter(seeds.iter().map(|_| None));
            let items = seeds.iter().zip(&mut keys);
            batch::generate::<P>(items.map(|(seed, result)| Generate { seed, result }));
            keys
        },
        |_, keys| {
            let keys = keys.iter().flatten();
            keys.fold(Sought::default(), |all, key| all.and(secrets_of(key)))
        },
    )
}

/// The ways to sign, and whether each signs a hash.
const SIGN: [(&str, bool); 5] = [
    ("sign", false),
    ("sign_deterministic", false),
    ("hash_sign", true),
    ("sign_digest", true),
    ("sign_mu", false),
];

const MESSAGE: &[u8] = b"a message";

fn digest() -> [u8; 64] {
    <sha2::Sha512 as sha2::Digest>::digest(MESSAGE).into()
}

/// µ of [`MESSAGE`] with an empty context (FIPS 204, algorithms 2, 4 and 7), which is public.
fn mu<P: ParameterSet>(key: &SigningKey<P>, hash: bool) -> [u8; 64] {
    // SHA-512 is 2.16.840.1.101.3.4.2.3
    const OID: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3];
    let tr = shake256(&[key.verifying_key().as_bytes()], 64);
    let mu = match hash {
        true => shake256(&[&tr, &[1, 0], &OID, &digest()], 64),
        false => shake256(&[&tr, &[0, 0], MESSAGE], 64),
    };
    mu.try_into().expect("of this length")
}

fn key<P: ParameterSet>() -> Box<SigningKey<P>> {
    SigningKey::boxed_from_seed(&fresh())
}

fn expanded<P: ParameterSet>() -> Vec<u8> {
    let mut bytes = vec![0; P::SIGNING_KEY_LEN];
    key::<P>()
        .to_expanded_into(&mut bytes)
        .expect("of this length");
    bytes
}

/// All secrets of a key: as the standard encodes them, as they are in memory, and the values computed on the way
/// there.
pub(crate) fn secrets_of<P: ParameterSet>(key: &SigningKey<P>) -> Sought {
    let mut expanded = vec![0; P::SIGNING_KEY_LEN];
    key.to_expanded_into(&mut expanded).expect("of this length");
    // not the operation's own key, which may contain parts of its stack
    let boxed = made_over(0x55, || match key.seed() {
        Some(seed) => SigningKey::<P>::boxed_from_seed(seed),
        None => SigningKey::boxed_from_expanded(&expanded).expect("valid"),
    });
    let again = made_over(0xaa, || {
        let mut place = Box::new(None);
        match key.seed() {
            Some(seed) => SigningKey::<P>::from_seed_into(seed, &mut place),
            None => SigningKey::from_expanded_into(&expanded, &mut place).expect("valid"),
        };
        place
    });
    let again = again.as_ref().as_ref().expect("it was made");
    let [expanded_key, expanded_again] =
        [0x55, 0xaa].map(|byte| made_over(byte, || Box::new(key.verifying_key().expand())));
    let sought = encoded_secrets::<P>(&expanded)
        // Â is among it, as it is in memory
        .public_in_memory(&*expanded_key, &*expanded_again)
        .in_memory("the signing key in memory", &*boxed, again, &*self::key());
    let Some(seed) = key.seed() else {
        return sought;
    };
    let expanded_seed = shake256(&[seed, &[P::K::N as u8, P::L::N as u8]], 128);
    sought
        .secret("the seed", seed)
        .secret("ρ′", &expanded_seed[32..96])
}

/// The secrets in an expanded key.
fn encoded_secrets<P: ParameterSet>(expanded: &[u8]) -> Sought {
    let (s, t0) = expanded[128..].split_at(expanded.len() - 128 - 416 * P::K::N);
    let bits = (2 * P::ETA).ilog2() as usize + 1;
    Sought::default()
        .public(&expanded[..32])
        .public(&expanded[64..128])
        .secret("K", &expanded[32..64])
        .secret("the encoded s₁ and s₂", s)
        .secret("the encoded t₀", t0)
        .secret_numbers("s₁ and s₂", &unpack(s, bits, P::ETA))
        .secret("t₀", &unpack(t0, 13, 1 << 12))
}

/// The values that signing computes from a key: ρ″, and **y** of many attempts.
pub(crate) fn secrets_of_signing<P: ParameterSet>(
    key: &SigningKey<P>,
    mu: &[u8; 64],
    rnd: &[u8; 32],
) -> Sought {
    let mut expanded = vec![0; P::SIGNING_KEY_LEN];
    key.to_expanded_into(&mut expanded).expect("of this length");
    let rho_2prime = shake256(&[&expanded[32..64], rnd, mu], 64);
    let mut sought = secrets_of(key).secret("ρ″", &rho_2prime);
    if rnd != &[0; 32] {
        sought = sought.secret("rnd", rnd);
    }
    let bits = P::GAMMA1.ilog2() as usize + 1;
    for kappa in 0..(ATTEMPTS * P::L::N) as u16 {
        let mask = shake256(&[&rho_2prime, &kappa.to_le_bytes()], 32 * bits);
        sought = sought
            .secret("the hash output that y is unpacked from", &mask)
            .secret("y", &unpack(&mask, bits, P::GAMMA1));
    }
    sought
}

/// More attempts than nearly all signatures take.
const ATTEMPTS: usize = 16;
