//! Contents of some megabytes: hashed as what is signed is, beside others' hash functions, and encrypted in two formats.

use std::io;

use aws_lc_rs::digest;
use pq_cms::{EnvelopeBuilder, Recipient};
use pq_hpke::{Encryptor, RecipientPublicKey};
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{DecapsulationKey, KemAlgorithm};

use crate::timing::{Passes, Row};

/// What is done with a content.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Its SHA-512, in pieces as they are read from files.
    Hashing,
    /// Encrypted by AES-256-GCM to a key of ML-KEM-768.
    Encryption,
}

/// The length of a content in bytes: so long that what happens once for each content counts for less than a hundredth.
pub const LEN: usize = 4 << 20;

/// The length of a piece.
const PIECE: usize = 64 * 1024;

impl Work {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Hashing, Self::Encryption];

    /// The name of the table.
    pub fn table(self) -> String {
        let what = match self {
            Self::Hashing => "SHA-512",
            Self::Encryption => "AES-256-GCM",
        };
        format!("documents/{what}")
    }

    /// The rows of the table. One operation is one content.
    pub fn rows(self) -> Vec<Row<'static>> {
        let named = match self {
            Self::Hashing => hashing(),
            Self::Encryption => encryption(),
        };
        let rows = named.into_iter().map(|(name, passes)| Row {
            group: self.table(),
            name: name.to_owned(),
            passes,
        });
        rows.collect()
    }
}

type Named = Vec<(&'static str, Passes<'static>)>;

fn content() -> Vec<u8> {
    (0..LEN).map(|i| (i % 251) as u8).collect()
}

fn hashing() -> Named {
    vec![
        (
            "pq-core",
            hashed(|pieces| {
                let mut hasher = PreHash::Sha512.hasher();
                pieces.for_each(|piece| hasher.update(piece));
                *hasher.finish().as_bytes().last_chunk().expect(LONG)
            }),
        ),
        (
            "aws-lc-rs",
            hashed(|pieces| {
                let mut hasher = digest::Context::new(&digest::SHA512);
                pieces.for_each(|piece| hasher.update(piece));
                *hasher.finish().as_ref().last_chunk().expect(LONG)
            }),
        ),
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        (
            "graviola",
            hashed(|pieces| {
                use graviola::hashing::{Hash, HashContext, Sha512};

                let mut hasher = Sha512::new();
                pieces.for_each(|piece| hasher.update(piece));
                *hasher.finish().as_ref().last_chunk().expect(LONG)
            }),
        ),
    ]
}

const LONG: &str = "it has 64 bytes";

/// `hash` gives the last bytes of the digest.
fn hashed(hash: fn(core::slice::Chunks<'_, u8>) -> [u8; 8]) -> Passes<'static> {
    // of Python's hashlib
    const DIGEST: [u8; 8] = [0x0e, 0xdb, 0x95, 0x11, 0x67, 0x92, 0x5c, 0x4d];
    let content = content();
    Passes::new(1, move || assert_eq!(hash(content.chunks(PIECE)), DIGEST))
}

fn encryption() -> Named {
    let key = DecapsulationKey::generate(KemAlgorithm::MlKem768).expect("there is randomness");
    let key = key.encapsulation_key().clone();
    let hpke = RecipientPublicKey::try_from(key.clone()).expect("HPKE has a number for it");
    let (cms, hpke) = (
        EnvelopeBuilder::new().recipient(Recipient::key(key, b"key")),
        Encryptor::new(hpke),
    );
    let (one, other) = (content(), content());
    vec![
        (
            "pq-cms",
            Passes::new(1, move || {
                cms.encrypt(&one[..], io::sink()).expect("all is valid");
            }),
        ),
        (
            "pq-hpke",
            Passes::new(1, move || {
                hpke.encrypt(&other[..], io::sink()).expect("all is valid");
            }),
        ),
    ]
}
