//! Tests of the crate through its public interface.

mod keys;
#[cfg(unix)]
mod openssh;
mod private_key;
mod signatures;

use std::sync::LazyLock;

use pq_keys::composite::{CompositeAlgorithm, CompositeKey};
use pq_ssh::PrivateKey;

/// From the seeds 0, 1, ... 31 and 32, 33, ... 63.
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let seeds: Vec<u8> = (0..64).collect();
    key_of(&seeds).with_comment(COMMENT).expect("a comment")
});

const COMMENT: &str = "somebody@example.org";

fn key_of(seeds: &[u8]) -> PrivateKey {
    let key = CompositeKey::from_bytes(CompositeAlgorithm::MlDsa44Ed25519Sha512, seeds);
    PrivateKey::new(key.expect("seeds")).expect("the combination of SSH")
}

fn other_key() -> PrivateKey {
    key_of(&[7; 64])
}

/// A `string` of SSH.
fn string(bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("it is short");
    [&len.to_be_bytes(), bytes].concat()
}

/// The bytes in an armored text.
fn bytes_of(text: &str) -> Vec<u8> {
    use base64ct::Encoding;
    let lines = text.lines().filter(|line| !line.starts_with('-'));
    base64ct::Base64::decode_vec(&lines.collect::<String>()).expect("base64")
}

/// An armored text with one long line.
fn armored(label: &str, bytes: &[u8]) -> String {
    use base64ct::Encoding;
    let characters = base64ct::Base64::encode_string(bytes);
    format!("-----BEGIN {label}-----\n{characters}\n-----END {label}-----\n")
}
