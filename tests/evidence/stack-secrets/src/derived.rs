//! What the standards compute from secrets, written from their text and independent of pq-core.

use sha3::{Digest, Sha3_512};
use shake::{ExtendableOutput, Shake128, Shake256, Update, XofReader};

use crate::sought::Sought;

pub(crate) fn shake256(parts: &[&[u8]], len: usize) -> Vec<u8> {
    let mut shake = Shake256::default();
    for part in parts {
        shake.update(part);
    }
    let mut output = vec![0; len];
    shake.finalize_xof().read(&mut output);
    output
}

/// G of FIPS 203, section 4.1.
pub(crate) fn g(parts: &[&[u8]]) -> [[u8; 32]; 2] {
    let mut hash = Sha3_512::new();
    for part in parts {
        Digest::update(&mut hash, part);
    }
    let output: [u8; 64] = hash.finalize().into();
    [0, 32].map(|start| output[start..][..32].try_into().expect("half of it"))
}

/// The noise of K-PKE (FIPS 203, algorithms 13 and 14): PRF_η(seed, n), and the polynomial that
/// SamplePolyCBD makes from it, with 16 bits for each coefficient.
pub(crate) fn noise(seed: &[u8; 32], n: u8, eta: usize) -> Sought {
    let bytes = shake256(&[seed, &[n]], 64 * eta);
    let bit = |i: usize| i16::from(bytes[i / 8] >> (i % 8) & 1);
    let ones = |start: usize| (start..start + eta).map(bit).sum::<i16>();
    let coefficients = (0..256).map(|i| ones(2 * i * eta) - ones((2 * i + 1) * eta));
    let polynomial: Vec<u8> = coefficients.flat_map(i16::to_le_bytes).collect();
    Sought::default()
        .secret("the hash output that noise is sampled from", &bytes)
        .secret_short_numbers("noise", &polynomial)
}

/// An entry of **Â** of ML-KEM (SampleNTT, FIPS 203, algorithm 7), with 16 bits for each coefficient.
pub(crate) fn sample_ntt(rho: &[u8], row: u8, column: u8) -> Vec<u8> {
    let mut shake = Shake128::default();
    shake.update(rho);
    shake.update(&[column, row]);
    let mut reader = shake.finalize_xof();
    let mut coefficients = Vec::new();
    while coefficients.len() < 256 {
        let mut bytes = [0; 3];
        reader.read(&mut bytes);
        let [low, middle, high] = bytes.map(u16::from);
        let pair = [low | (middle & 15) << 8, middle >> 4 | high << 4];
        coefficients.extend(pair.into_iter().filter(|coefficient| *coefficient < 3329));
    }
    coefficients.truncate(256);
    coefficients
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect()
}

/// Coefficients below 2^`bits` (SimpleBitUnpack, FIPS 204, algorithm 18), each subtracted from
/// `middle`, in 32 bits.
pub(crate) fn unpack(bytes: &[u8], bits: usize, middle: i32) -> Vec<u8> {
    let bit = |i: usize| i32::from(bytes[i / 8] >> (i % 8) & 1);
    let number = |n: usize| (0..bits).fold(0, |number, i| number | bit(bits * n + i) << i);
    let coefficients = (0..8 * bytes.len() / bits).map(|n| middle - number(n));
    coefficients.flat_map(i32::to_le_bytes).collect()
}

/// HKDF with a hash function (RFC 5869), and the HMAC that it uses (RFC 2104).
pub(crate) trait Hkdf: Digest + Sized + 'static {
    /// Length of a block in bytes.
    const BLOCK: usize;

    /// HMAC.
    fn hmac(key: &[u8], message: &[&[u8]]) -> Vec<u8> {
        let [inner, outer] = Self::padded(key);
        let mut hash = Self::new().chain_update(inner);
        for part in message {
            Digest::update(&mut hash, part);
        }
        let hash = Self::new()
            .chain_update(outer)
            .chain_update(hash.finalize());
        hash.finalize().to_vec()
    }

    /// The inner and the outer key block.
    fn padded(key: &[u8]) -> [Vec<u8>; 2] {
        let mut block = vec![0; Self::BLOCK];
        block[..key.len()].copy_from_slice(key);
        [0x36, 0x5c].map(|pad| block.iter().map(|byte| byte ^ pad).collect())
    }

    /// HMAC's key and its key blocks.
    fn key(what: &'static str, key: &[u8]) -> Sought {
        let [inner, outer] = Self::padded(key);
        let sought = Sought::default().secret(what, key);
        // after the key, the padding is the same for all keys
        sought
            .secret("HMAC's key block", &inner[..key.len()])
            .secret("HMAC's key block", &outer[..key.len()])
    }
}

impl Hkdf for sha2::Sha256 {
    const BLOCK: usize = 64;
}

impl Hkdf for sha2::Sha384 {
    const BLOCK: usize = 128;
}
