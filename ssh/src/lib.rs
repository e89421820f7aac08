//! Keys of `ssh-mldsa44-ed25519` and signatures of files, as OpenSSH reads and writes them.
//!
//! The algorithm is ML-DSA-44 and Ed25519 at once, composite ML-DSA by
//! [draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/),
//! whose `MLDSA44-Ed25519-SHA512` it is, bit by bit. The draft for SSH is draft-ietf-sshm-composite-sigs. Until
//! both have a number, what is here may change with them.
//!
//! * [`PublicKey`] is a line of a `.pub` file, [`AuthorizedKey`] one of `authorized_keys`.
//! * [`PrivateKey`] is a file such as `~/.ssh/id_mldsa44_ed25519`, with a passphrase or without.
//! * [`Signature`] is what `ssh-keygen -Y sign` writes, and [`AllowedSigners`] says who may sign what.
//!
//! ```
//! use pq_ssh::{AllowedSigners, HashAlgorithm, HashedMessage, PrivateKey, Signature};
//! use pq_x509::pki_types::UnixTime;
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
//! OpenSSH 10.3 to 10.5 call the algorithm `ssh-mldsa44-ed25519@openssh.com`, later ones
//! `ssh-mldsa44-ed25519`; 10.6 refuses the former name. Both are read here, and what was read keeps its
//! [`KeyName`] when it is written. The name is in the bytes that are hashed for a
//! [fingerprint](PublicKey::fingerprint), so one key has two of them.
//!
//! # What is not here
//!
//! Other algorithms, certificates, and SSH itself. Keys of other algorithms are errors that name them;
//! [`AllowedSigners`] passes over them.
//!
//! # Errors
//!
//! The text of an error has that of its cause in it. [`source`](core::error::Error::source) is
//! `None` therefore, so that a program that prints causes one after another prints nothing twice.
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
