//! What SSH commands read: text files, private keys in OpenSSH's format, for which it asks for a passphrase if needed,
//! and the hash of the signed file.

use pq_ssh::{HashAlgorithm, HashedMessage, MessageHasher, PrivateKey};
use zeroize::Zeroizing;

use crate::documents;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::progress::Progress;

/// More than the longest line of `allowed_signers` has, and much more than a private key.
const LIMIT: usize = 16 * 1024 * 1024;

/// A file of SSH's.
pub(super) fn bytes(source: &Source) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(source.read(LIMIT)?)
}

/// A text file of SSH's.
pub(super) fn text(source: &Source) -> Result<Zeroizing<String>, Failure> {
    let bytes = bytes(source)?;
    let text = core::str::from_utf8(&bytes).map_err(|_| Failure::NotText(source.to_string()))?;
    Ok(Zeroizing::new(text.into()))
}

/// The private key of a file, encrypted or not.
pub(super) fn private_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<PrivateKey, Failure> {
    let text = text(source)?;
    let key = documents::ssh_private_key(&text, &source.to_string(), passphrase);
    Ok(key?)
}

/// A file of any size, hashed.
pub(super) fn hashed(file: &Source, algorithm: HashAlgorithm) -> Result<HashedMessage, Failure> {
    let mut hasher = MessageHasher::new(algorithm);
    let mut progress = Progress::of(file.len());
    file.stream(|piece| {
        hasher.update(piece);
        progress.add(piece.len());
    })?;
    Ok(hasher.finish())
}
