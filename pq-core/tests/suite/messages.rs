//! How ML-DSA and HashML-DSA encode the data to be signed, written from FIPS 204 with other
//! people's hashes.

use pq_core::ml_dsa::PreHash;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use shake::{ExtendableOutput, Shake128, Shake256, Update, XofReader};

/// One of the hashes that FIPS 204, section 5.4 allows.
pub(crate) struct Hash {
    pub(crate) pre_hash: PreHash,
    /// The name in ACVP's files.
    pub(crate) name: &'static str,
    /// The last part of its object identifier, 2.16.840.1.101.3.4.2.x.
    arc: u8,
    digest: fn(&[u8]) -> Vec<u8>,
}

impl Hash {
    pub(crate) const ALL: &[Self] = &[
        Self::new(PreHash::Sha224, "SHA2-224", 4, hash::<Sha224>),
        Self::new(PreHash::Sha256, "SHA2-256", 1, hash::<Sha256>),
        Self::new(PreHash::Sha384, "SHA2-384", 2, hash::<Sha384>),
        Self::new(PreHash::Sha512, "SHA2-512", 3, hash::<Sha512>),
        Self::new(PreHash::Sha512_224, "SHA2-512/224", 5, hash::<Sha512_224>),
        Self::new(PreHash::Sha512_256, "SHA2-512/256", 6, hash::<Sha512_256>),
        Self::new(PreHash::Sha3_224, "SHA3-224", 7, hash::<Sha3_224>),
        Self::new(PreHash::Sha3_256, "SHA3-256", 8, hash::<Sha3_256>),
        Self::new(PreHash::Sha3_384, "SHA3-384", 9, hash::<Sha3_384>),
        Self::new(PreHash::Sha3_512, "SHA3-512", 10, hash::<Sha3_512>),
        Self::new(PreHash::Shake128, "SHAKE-128", 11, shake128),
        Self::new(PreHash::Shake256, "SHAKE-256", 12, shake256),
    ];

    const fn new(
        pre_hash: PreHash,
        name: &'static str,
        arc: u8,
        digest: fn(&[u8]) -> Vec<u8>,
    ) -> Self {
        Self {
            pre_hash,
            name,
            arc,
            digest,
        }
    }

    /// The hash that ACVP calls `name`; an unknown name fails the test.
    pub(crate) fn named(name: &str) -> &'static Self {
        Self::ALL
            .iter()
            .find(|hash| hash.name == name)
            .unwrap_or_else(|| panic!("unknown hash {name:?}"))
    }

    /// The hash that corresponds to one of ours.
    pub(crate) fn of(hash: PreHash) -> &'static Self {
        Self::ALL
            .iter()
            .find(|one| one.pre_hash == hash)
            .unwrap_or_else(|| panic!("unknown hash {hash:?}"))
    }

    /// Whether a key of so many bits of strength signs its digests (FIPS 204, section 5.4.1).
    pub(crate) fn is_signed_with(&self, bits: usize) -> bool {
        8 * self.digest(b"").len() >= 2 * bits
    }

    pub(crate) fn digest(&self, message: &[u8]) -> Vec<u8> {
        (self.digest)(message)
    }

    /// M′ of HashML-DSA.Sign (FIPS 204, algorithm 4).
    pub(crate) fn message_representative(&self, message: &[u8], context: &[u8]) -> Vec<u8> {
        // DER: an OBJECT IDENTIFIER of nine bytes
        let oid = [
            0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, self.arc,
        ];
        [&prefix(1, context), &oid[..], &self.digest(message)].concat()
    }
}

/// M′ of ML-DSA.Sign (FIPS 204, algorithm 2).
pub(crate) fn pure_message_representative(message: &[u8], context: &[u8]) -> Vec<u8> {
    [&prefix(0, context), message].concat()
}

/// µ of M′ under a verifying key (FIPS 204, algorithm 7, line 6).
pub(crate) fn mu(verifying_key: &[u8], message_representative: &[u8]) -> [u8; 64] {
    let tr = shake256(verifying_key);
    let mu = shake256(&[&*tr, message_representative].concat());
    mu.try_into().expect("64 bytes")
}

fn prefix(domain: u8, context: &[u8]) -> Vec<u8> {
    let len = u8::try_from(context.len()).expect("contexts have at most 255 bytes");
    [&[domain, len], context].concat()
}

fn hash<D: Digest>(message: &[u8]) -> Vec<u8> {
    D::digest(message).to_vec()
}

/// 256 bits, as FIPS 204 uses it.
fn shake128(message: &[u8]) -> Vec<u8> {
    let mut digest = vec![0; 32];
    let shake = Shake128::default().chain(message);
    shake.finalize_xof().read(&mut digest);
    digest
}

/// 512 bits, as FIPS 204 uses it.
fn shake256(message: &[u8]) -> Vec<u8> {
    let mut digest = vec![0; 64];
    let shake = Shake256::default().chain(message);
    shake.finalize_xof().read(&mut digest);
    digest
}

/// The tests for all hashes cover all hashes that pq-core has.
#[test]
fn all_hashes_are_here() {
    let ours = PreHash::ALL.iter();
    let ours = ours.map(|hash| (*hash, hash.digest_len()));
    let all = Hash::ALL.iter();
    let all = all.map(|hash| (hash.pre_hash, hash.digest(b"").len()));
    assert_eq!(Vec::from_iter(all), Vec::from_iter(ours));
}
