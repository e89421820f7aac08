//! Signed and encrypted messages of any size, in constant memory: the Cryptographic Message Syntax (CMS,
//! RFC 5652) with post-quantum algorithms.
//!
//! * **Signing.** A [`SignedDataBuilder`] signs content with keys of ML-DSA (RFC 9882), SLH-DSA (RFC
//!   9814) and, through pq-keys' trait [`Signer`](pq_keys::Signer), any other algorithm. A message can have
//!   several signatures, attached to the content or detached from it.
//! * **Verifying.** A [`Verifier`] says who signed. It trusts certificates whose chains lead to a root, or
//!   certificates that you give it. You can also give it implementations of other signature algorithms.
//! * **Encrypting.** An [`EnvelopeBuilder`] encrypts content with AES-GCM (RFC 5083) for recipients with
//!   ML-KEM keys (RFC 9629, RFC 9936), for recipients who share a key with the sender and, through pq-keys'
//!   trait [`AgreementPublicKey`](pq_keys::agreement::AgreementPublicKey), for keys of ECDH (RFC 5753) and X25519
//!   (RFC 8418).
//! * **Decrypting.** An [`Opener`] decrypts a message with the key of one recipient.
//! * **Certificates alone.** [`encode_certificates`] and [`decode_certificates`] write and read messages without signers,
//!   in which EST (RFC 7030) hands certificates out.
//! * **Inspecting.** [`inspect`] shows what a message says about itself, and verifies nothing.
//! * **PEM.** [`decode_if_pem`] reads messages from PEM, and a [`PemWriter`] writes them as PEM.
//!
//! # Constant memory
//!
//! Content goes from a [`BufRead`](std::io::BufRead) to a [`Write`](std::io::Write) in pieces of 64 KiB. A slice
//! of bytes is read in place; read a file with [`BufReader::with_capacity`](std::io::BufReader::with_capacity) of
//! 64 KiB. (Encrypting takes any [`Read`](std::io::Read), as it has to copy what it encrypts.) The rest of
//! a signed message may have up to 3 MiB of certificates, each of up to 128 KiB, and 16 MiB of signers; read, both
//! take less than 192 MiB of memory, whatever is in them. Encrypted messages take less than 2 MiB. The nesting depth and the
//! numbers of signers, certificates and hash functions are limited, too. The number of recipients is not limited: they
//! are read one by one.
//!
//! **Content that is written in pieces is authentic only after the function that writes it has returned `Ok`**:
//! signatures and tags come last. [`Verifier::verify`], [`Opener::open`] and
//! [`Opener::open_seekable`] authenticate the whole message before they give out any content.
//!
//! # What is not here
//!
//! Recipients with RSA keys (`ktri`) and with passwords (`pwri`) are not written, and are skipped when a
//! message is read: its other recipients can still decrypt it. RSA decryption that is not constant time can
//! reveal messages (RUSTSEC-2023-0071), and none in Rust is known to be without that risk.
//! Recipients who agree on a key with one of the sender's certificates, and not with a key made for the
//! message, are skipped as well. Countersignatures and other unsigned attributes are ignored, except that a signature
//! is refused whose unsigned attributes have one that has to be signed. Revocation lists within a message are ignored:
//! give them to the [`ChainValidator`](pq_x509::validation::ChainValidator).
//!
//! Messages are read in BER and in DER. Anybody can change the unsigned parts of a SignedData, such as its
//! certificates, or encode a message in another way, and it can still be valid.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause, so [`source`](core::error::Error::source) is `None`.
#![forbid(unsafe_code)]

extern crate alloc;

mod algorithms;
mod encoding;
mod enveloped;
mod identifier;
mod inspection;
mod signed;

pub use algorithms::{Weakness, digests};
pub use const_oid::ObjectIdentifier;
pub use encoding::{EncodingError, PemWriter, decode_if_pem};
pub use enveloped::{
    ContentCipher, EnvelopeBuilder, EnvelopedOutline, EnvelopingError, Kdf, Opened, Opener,
    OpeningError, Recipient, RecipientKey, RecipientKind, RecipientOutline,
};
pub use identifier::{Identifier, key_identifier};
pub use inspection::{InspectionError, Outline, inspect};
pub use signed::{
    AttributesGuard, DocumentSigner, SignatureRefusal, SignedDataBuilder, SignedOutline,
    SignerOutline, SigningError, VerificationError, VerificationTime, Verified, VerifiedSigner,
    Verifier, decode_certificates, encode_certificates,
};

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
