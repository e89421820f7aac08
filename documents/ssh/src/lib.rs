//! SSH keys of `ssh-mldsa44-ed25519` and signatures of files, as OpenSSH reads and writes them.
//!
//! The algorithm combines ML-DSA-44 and Ed25519. It is bit for bit `MLDSA44-Ed25519-SHA512`, a composite ML-DSA of
//! [draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/).
//! The draft for SSH is draft-ietf-sshm-composite-sigs. This crate may change with these drafts until both are
//! published as RFCs.
//!
//! * [`PublicKey`] is a line of a `.pub` file, and [`AuthorizedKey`] a line of `authorized_keys`.
//! * [`PrivateKey`] is a file such as `~/.ssh/id_mldsa44_ed25519`, with or without a passphrase.
//! * [`Signature`] is the output of `ssh-keygen -Y sign`, and [`AllowedSigners`] says who may sign what.
//!
//! ```
//! use pq_ssh::{AllowedSigners, HashAlgorithm, HashedMessage, PrivateKey, Signature};
//! use pq_keys::pki_types::UnixTime;
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let key = PrivateKey::generate()?.with_comment("releases@example.org")?;
//! let message = HashedMessage::read(HashAlgorithm::Sha512, &b"of any length"[..])?;
//! let armored = key.sign("file", &message)?.to_armored();
//!
//! let signers = format!("releases@example.org namespaces=\"file\" {}", key.public_key().to_line());
//! let signers = AllowedSigners::parse(&signers)?;
//! let signature = Signature::from_armored(&armored)?;
//! let message = HashedMessage::read(signature.hash_algorithm(), &b"of any length"[..])?;
//! signers.verify("releases@example.org", "file", UnixTime::now(), &signature, &message)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Two names
//!
//! OpenSSH 10.3 to 10.5 call the algorithm `ssh-mldsa44-ed25519@openssh.com`. Later versions call it
//! `ssh-mldsa44-ed25519`, and 10.6 refuses the former name. This crate reads both, and writes a key under the
//! [`KeyName`] under which it was read. The [fingerprint](PublicKey::fingerprint) includes the name, so one key
//! has two fingerprints.
//!
//! # Not supported
//!
//! Other algorithms, certificates, and the SSH protocol itself. Keys of other algorithms are errors that name the
//! algorithm; [`AllowedSigners`] skips them.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. Therefore [`source`](core::error::Error::source) is
//! `None`: a program that prints the chain of causes prints nothing twice.
#![forbid(unsafe_code)]

mod encoding;
mod keys;
mod private_key;
mod signatures;

pub use encoding::{ArmorError, TextError, WireError};
pub use keys::{AuthorizedKey, KeyError, KeyName, PublicKey};
pub use private_key::{Passphrase, PrivateKey, PrivateKeyError};
pub use signatures::{
    AllowedSigners, AllowedSignersError, HashAlgorithm, HashedMessage, LineError, MessageHasher,
    NotAllowed, Signature, SignatureError,
};

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
