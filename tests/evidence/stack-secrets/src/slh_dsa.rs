//! The operations of SLH-DSA, on the sets with fast signatures: the other sets run the same code on
//! larger trees.

use std::sync::Mutex;

use pq_core::slh_dsa::{
    HashFamily, Message, ParameterSet, PreHash, SigningKey, SlhDsaSha2_128f, SlhDsaSha2_192f,
    SlhDsaSha2_256f, SlhDsaShake128f, SlhDsaShake192f, SlhDsaShake256f,
};
use pq_core::{Array, Dimension};
use sha2::{Digest, Sha256};

use crate::derived::shake256;
use crate::operation::{Operation, fresh};
use crate::sought::Sought;

pub(crate) fn operations() -> Vec<Operation> {
    let sets = [
        of::<SlhDsaShake128f>(),
        of::<SlhDsaShake192f>(),
        of::<SlhDsaShake256f>(),
        of::<SlhDsaSha2_128f>(),
        of::<SlhDsaSha2_192f>(),
        of::<SlhDsaSha2_256f>(),
    ];
    sets.into_iter().flatten().collect()
}

fn of<P: ParameterSet>() -> Vec<Operation> {
    let name = |operation: &str| format!("{} {operation}", P::NAME);
    let mut operations = vec![
        Operation::new(
            name("SigningKey::from_seed, dropped"),
            seed::<P>,
            |seed| drop(SigningKey::<P>::from_seed(seed)),
            |seed, ()| secrets_of(&SigningKey::<P>::boxed_from_seed(seed)),
        ),
        Operation::new(
            name("SigningKey::from_seed_into"),
            seed::<P>,
            |seed| {
                let mut place = Box::new(None);
                SigningKey::<P>::from_seed_into(seed, &mut place);
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("SigningKey::boxed_from_seed"),
            seed::<P>,
            |seed| SigningKey::<P>::boxed_from_seed(seed),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::from_bytes, dropped"),
            || key::<P>().as_bytes().to_vec(),
            |bytes| drop(SigningKey::<P>::from_bytes(bytes)),
            |bytes, ()| secrets_of(&*SigningKey::<P>::boxed_from_bytes(bytes).expect("valid")),
        ),
        Operation::new(
            name("SigningKey::from_bytes_into"),
            || key::<P>().as_bytes().to_vec(),
            |bytes| {
                let mut place = Box::new(None);
                SigningKey::<P>::from_bytes_into(bytes, &mut place).expect("valid");
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("SigningKey::boxed_from_bytes"),
            || key::<P>().as_bytes().to_vec(),
            |bytes| SigningKey::<P>::boxed_from_bytes(bytes).expect("valid"),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("SigningKey::check"),
            key::<P>,
            |key| key.check().expect("a consistent key"),
            |key, ()| secrets_of(key),
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
    operations.extend(SIGN.iter().map(|sign| {
        Operation::new(
            name(&format!("SigningKey::{sign}")),
            || (key::<P>(), randomness::<P>()),
            |(key, addrnd)| {
                let mut bytes = vec![0; P::SIGNATURE_LEN];
                let signature = match *sign {
                    "sign" => key.sign(MESSAGE, b"", addrnd),
                    "sign_deterministic" => key.sign_deterministic(MESSAGE, b""),
                    "hash_sign" => key.hash_sign(PreHash::Sha512, MESSAGE, b"", addrnd),
                    "sign_digest" => key.sign_digest(PreHash::Sha512, &[7; 64], b"", addrnd),
                    _ => {
                        let message = Message::Pure(MESSAGE);
                        let signed = key.sign_into(message, b"", Some(addrnd), &|_| (), &mut bytes);
                        signed.expect("a consistent key");
                        return bytes;
                    }
                };
                let signature = Box::new(signature.expect("a consistent key"));
                bytes.copy_from_slice(signature.as_bytes());
                bytes
            },
            |(key, addrnd), signature| {
                let sought = secrets_of(key).public(signature);
                sought.secret("addrnd", (**addrnd).as_ref())
            },
        )
    }));
    operations
}

const SIGN: [&str; 5] = [
    "sign",
    "sign_deterministic",
    "hash_sign",
    "sign_digest",
    "sign_into",
];

const MESSAGE: &[u8] = b"a message";

fn seed<P: ParameterSet>() -> Box<Array<P::SeedLen, u8>> {
    let bytes = fresh::<96>();
    Box::new(P::SeedLen::from_fn(|i| bytes[i]))
}

fn randomness<P: ParameterSet>() -> Box<Array<P::N, u8>> {
    let bytes = fresh::<32>();
    Box::new(P::N::from_fn(|i| bytes[i]))
}

fn key<P: ParameterSet>() -> Box<SigningKey<P>> {
    SigningKey::boxed_from_seed(&*seed::<P>())
}

/// The secrets in a key, and the values computed from it alone: the starts of all chains of the top
/// tree, and the blocks of HMAC. (Those that are in a signature are public.)
pub(crate) fn secrets_of<P: ParameterSet>(key: &SigningKey<P>) -> Sought {
    let n = P::N::N;
    let (secret, public) = key.as_bytes().split_at(2 * n);
    let (sk_seed, sk_prf) = secret.split_at(n);
    let (pk_seed, _) = public.split_at(n);
    let mut sought = Sought::default()
        .public(public)
        .secret("SK.seed", sk_seed)
        .secret("SK.prf", sk_prf);
    if P::HASH == HashFamily::Sha2 {
        for pad in [0x36, 0x5c] {
            let block: Vec<u8> = sk_prf.iter().map(|byte| byte ^ pad).collect();
            sought = sought.secret("HMAC's key block", &block);
        }
    }
    for key_pair in 0..1 << P::SHAPE.tree_height {
        for chain in 0..2 * n as u8 + 3 {
            let start = match P::HASH {
                HashFamily::Shake => {
                    let mut address = [0; 32];
                    address[3] = P::SHAPE.d as u8 - 1;
                    address[19] = WOTS_PRF;
                    address[23] = key_pair;
                    address[27] = chain;
                    shake256(&[pk_seed, &address, sk_seed], n)
                }
                _ => {
                    let mut address = [0; 22];
                    address[0] = P::SHAPE.d as u8 - 1;
                    address[9] = WOTS_PRF;
                    address[13] = key_pair;
                    address[17] = chain;
                    let padding = &[0; 64][n..];
                    let hash = Sha256::new().chain_update(pk_seed).chain_update(padding);
                    let hash = hash.chain_update(address).chain_update(sk_seed);
                    hash.finalize()[..n].to_vec()
                }
            };
            sought = sought.secret("the start of a chain", &start);
        }
    }
    sought
}

/// The type of addresses (FIPS 205, table 1).
const WOTS_PRF: u8 = 5;
