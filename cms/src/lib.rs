//! Signed and encrypted messages: the Cryptographic Message Syntax (CMS, RFC 5652) with post-quantum
//! algorithms, of any size in constant memory.
#![forbid(unsafe_code)]

extern crate alloc;

mod algorithms;
mod encoding;
mod identifier;
mod signed;

pub use algorithms::{Weakness, digests};
pub use const_oid::ObjectIdentifier;
pub use encoding::{EncodingError, PemWriter, decode_if_pem};
pub use signed::{
    DocumentSigner, SignatureRefusal, SignedDataBuilder, SigningError, VerificationError,
    VerificationTime, Verified, VerifiedSigner, Verifier,
};
