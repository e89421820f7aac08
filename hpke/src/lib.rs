//! Post-quantum HPKE (RFC 9180, draft-ietf-hpke-pq): encrypts messages, and files of any size, to an ML-KEM or
//! X-Wing key. HPKE is the successor of ECIES.
//!
//! * **Files.** An [`Encryptor`] encrypts a file to one key, and a [`Decryptor`] decrypts it, in constant
//!   memory.
//! * **Messages.** A [`Sender`] and a [`Receiver`] are the contexts of HPKE, in its base mode: they count
//!   messages, so that no nonce is used twice, and export secrets.
//! * **Keys.** Keys are pq-keys's: those of ML-KEM, and [`XWingPrivateKey`] and [`XWingPublicKey`] are keys of X-Wing
//!   (draft-connolly-cfrg-xwing-kem), which is ML-KEM-768 and X25519 at once: an attacker has to break both.
//!
//! ```
//! use pq_hpke::{Aead, Decryptor, Encryptor, RecipientKey, RecipientPublicKey, Suite};
//! use pq_keys::{DecapsulationKey, KemAlgorithm};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = DecapsulationKey::generate(KemAlgorithm::MlKem768)?;
//! let recipient = RecipientPublicKey::try_from(key.encapsulation_key().clone())?;
//! let suite = Suite { aead: Aead::ChaCha20Poly1305, ..Suite::default() };
//! let mut file = Vec::new();
//! Encryptor::new(recipient).suite(suite).info(b"backup").encrypt(&b"a secret"[..], &mut file)?;
//!
//! let decryptor = Decryptor::new(RecipientKey::try_from(key)?).info(b"backup");
//! let mut content = Vec::new();
//! let decrypted = decryptor.decrypt(&file[..], &mut content)?;
//! assert_eq!(content, b"a secret");
//! assert_eq!(decrypted.suite, suite);
//! # Ok(())
//! # }
//! ```
//!
//! # The file format
//!
//! HPKE defines no file format. This one is small; numbers are big-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 7 | `pq-hpke` |
//! | 1 | the version of this format, 1 |
//! | 2, 2, 2 | the numbers of KEM, KDF and AEAD in HPKE |
//! | as the KEM says | the encapsulated secret (enc), such as 1120 bytes for X-Wing |
//! | 65,552 each | chunks: 65,536 bytes of content encrypted, and 16 of their tag |
//! | 16 to 65,552 | the last chunk |
//!
//! All chunks are messages of one context of HPKE in its base mode, in order. The context's info is the first
//! 14 bytes of the file, followed by the application's own info. The additional data of a chunk is one byte, 0 if
//! another chunk follows and 1 if none does. The last chunk is empty only if the content is.
//!
//! So chunks that were changed, swapped, left out or repeated are not authentic. A file that was cut short has
//! no last chunk. Bytes after the last chunk make it a different one, which is not authentic. enc needs no
//! protection: another enc gives another secret. A file may have 2³² chunks.
//!
//! A file does not show who encrypted it: sign it first for that (`pq-cms`). A file has one recipient; messages
//! of `pq-cms` have any number.
//!
//! # What is not here
//!
//! The modes with a sender's key; pre-shared keys; the derivation of keys from other secrets (DeriveKeyPair). Of KEMs with
//! elliptic curves alone, there are those of X25519 and P-256, for protocols that ask for them, such as Encrypted
//! ClientHello: they give no protection against quantum computers. X-Wing and the drafts of HPKE may still change. This crate implements
//! draft-connolly-cfrg-xwing-kem-10, draft-ietf-hpke-hpke-02 and draft-ietf-hpke-pq-04.
//!
//! # Features
//!
//! * `classical` (default): keys of DHKEM on P-256, by graviola. Those on X25519 need no feature.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. So [`source`](core::error::Error::source) is `None`, and a
//! program that prints causes one after another prints nothing twice.
#![forbid(unsafe_code)]

extern crate alloc;

mod context;
mod file;
mod recipient;
mod suite;

pub use context::{HpkeError, Receiver, Sender};
pub use file::{Decrypted, DecryptionError, Decryptor, EncryptionError, Encryptor};
pub use pq_keys::x_wing::{OID as X_WING_OID, XWingError, XWingPrivateKey, XWingPublicKey};
pub use recipient::{Kem, KemError, RecipientKey, RecipientPublicKey};
pub use suite::{Aead, Kdf, Suite};

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
