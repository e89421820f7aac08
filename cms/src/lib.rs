//! Signed and encrypted messages: the Cryptographic Message Syntax (CMS, RFC 5652) with post-quantum
//! algorithms, of any size in constant memory.
//!
//! * **Signing.** A [`SignedDataBuilder`] signs content with keys of ML-DSA (RFC 9882), SLH-DSA (RFC
//!   9814) and, through pq-x509's trait [`Signer`](pq_x509::Signer), any other algorithm: several at
//!   once, attached to the content or detached from it.
//! * **Verifying.** A [`Verifier`] says who signed, by chains that lead to a root or by certificates that
//!   are known. Signatures of other algorithms are verified by what it is given for them.
//! * **Encrypting.** An [`EnvelopeBuilder`] encrypts content by AES-GCM (RFC 5083) for the ML-KEM keys of
//!   its recipients (RFC 9629, RFC 9936), for who shares a key with the sender and, through pq-x509's
//!   trait [`AgreementPublicKey`](pq_x509::AgreementPublicKey), for keys of ECDH (RFC 5753) and X25519
//!   (RFC 8418).
//! * **Decrypting.** An [`Opener`] decrypts it with the key of one of them.
//! * **Looking.** [`inspect`] says what a message says of itself, and verifies nothing.
//! * **PEM.** [`decode_if_pem`] and a [`PemWriter`] take messages out of text and put them into it.
//!
//! # Constant memory
//!
//! Content goes from a [`BufRead`](std::io::BufRead) to a [`Write`](std::io::Write) in pieces of 64 KiB. A slice
//! of bytes is read where it is; read a file by [`BufReader::with_capacity`](std::io::BufReader::with_capacity), of
//! 64 KiB. (Encrypting takes any [`Read`](std::io::Read), as it has to copy what it encrypts.) What is
//! read into memory of a message beside it is limited, to 16 MiB in all, and so is how deep its values
//! are in each other, and how many signers, certificates and hash functions it has; recipients may be as
//! many as there are, and are looked at one by one.
//!
//! **What is written in pieces is authentic only once the function that writes it has returned `Ok`**:
//! signatures and tags come last. [`Verifier::verify_to_vec`], [`Opener::open_to_vec`] and
//! [`Opener::open_seekable`] give out nothing before that.
//!
//! # What is not here
//!
//! Recipients with keys of RSA (`ktri`) and with passwords (`pwri`) are skipped when a message is read, and
//! not written: who has another key of it decrypts it all the same. RSA decryption that tells by its time
//! what it decrypts gives messages away (RUSTSEC-2023-0071), and there is none in Rust that is known not to.
//! Recipients who agree on a key with one of the sender's certificates, and not with a key made for the
//! message, are skipped as well. Countersignatures and other attributes that are not signed
//! are passed over, and so are revocation lists within a message: give those to the
//! [`ChainValidator`](pq_x509::ChainValidator).
//!
//! Messages are read in BER and in DER. What isn't signed of a SignedData, such as the certificates in it,
//! anybody can change: a message may be written in many ways, and be valid in each.
//!
//! # Errors
//!
//! The text of an error has that of its cause in it, and [`source`](core::error::Error::source) is `None`
//! therefore.
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
    DocumentSigner, SignatureRefusal, SignedDataBuilder, SignedOutline, SignerOutline,
    SigningError, VerificationError, VerificationTime, Verified, VerifiedSigner, Verifier,
};
