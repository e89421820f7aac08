//! What a file has that must not be lost when another one takes its place.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use pq_keys::encoding::pem;
use pq_keys::files::Access;
use zeroize::Zeroizing;

use crate::files::error::OutputError;
use crate::files::private;
use crate::kind::{self, OfStore};

/// As much of a file as tells what it is, if nothing may take its place.
const BEGINNING: u64 = 64;

/// What a file is whose place nothing may take, as far as its beginning tells: others can't make it again.
pub(in crate::files) fn irreplaceable(path: &Path) -> io::Result<Option<&'static str>> {
    Ok(read(path, BEGINNING)?.and_then(|(beginning, _)| what_nobody_replaces(&beginning)))
}

fn what_nobody_replaces(beginning: &[u8]) -> Option<&'static str> {
    match OfStore::of(beginning)? {
        OfStore::Store => Some("a key store"),
        OfStore::Reference => Some("what says which key in a key store is the CA's"),
        OfStore::Head | OfStore::Attestation | OfStore::Signature => None,
    }
}

/// Refuses to replace a file by a result that has less of what can't be had again: by a draft, or by one that is not there
/// yet, and will have no secret.
pub(in crate::files) fn check_content(
    path: &Path,
    draft: Option<(&Path, Access)>,
) -> Result<(), OutputError> {
    let at = |error| OutputError::at(path, error);
    let read = |path| read(path, kind::LONGEST as u64).map_err(at);
    let Some((old, is_private)) = read(path)? else {
        return Ok(());
    };
    let new = draft.map(|(draft, _)| read(draft)).transpose()?.flatten();
    let new = new.map(|(new, _)| new);
    let file = path.display().to_string();
    if let Some(what) = what_nobody_replaces(&old) {
        return Err(OutputError::Irreplaceable { file, what });
    }
    let may_be_secret = draft.is_some_and(|(_, access)| access == Access::Private);
    let new = new.as_ref().map(|new| new.as_slice());
    match lost(&old, new, is_private, may_be_secret) {
        Some(what) => Err(OutputError::Loses { file, what }),
        None => Ok(()),
    }
}

/// The beginning of a file, and whether nobody but its owner may read it. `None` if there is none any more, or if this
/// user may not read it: who may replace a file without reading it has never had its content.
fn read(path: &Path, most: u64) -> io::Result<Option<(Zeroizing<Vec<u8>>, bool)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let is_private = private::is_private(&file.metadata()?);
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some((bytes, is_private)))
}

/// What is in a file and in nothing that takes its place. Commands take from a file what they need, and some write a file of
/// the same name; so `--force` alone must not be the end of a key. What has no structure is taken for a secret if nobody else
/// may read it. One secret may follow another, and a result for its owner alone, such as a decrypted document, may follow what
/// is as long as a key by chance, but not what a key store may be sealed under, of which nothing else tells.
fn lost(
    old: &[u8],
    new: Option<&[u8]>,
    is_private: bool,
    may_be_secret: bool,
) -> Option<&'static str> {
    if kind::has_private_key(old) {
        if !new.is_some_and(kind::has_private_key) {
            return Some("a private key");
        }
        let is_lost = has_certificate(old) && !new.is_some_and(has_certificate);
        return is_lost.then_some("certificates beside the private key");
    }
    let follows = match (old.len() == KEK_LEN, may_be_secret) {
        (true, true) => new.is_some_and(kind::is_raw_secret),
        (true, false) => false,
        (false, true) => true,
        // Such as the next µ, where all new files are for their owner alone; how long the result is, is known when it is there.
        (false, false) => new.is_none_or(|new| new.len() == old.len()),
    };
    let is_lost = is_private && !follows && kind::is_raw_secret(old);
    is_lost.then_some(match old.len() {
        KEK_LEN => "32 bytes for its owner alone, as what a key store is sealed under",
        _ => "what may be a raw private key, for its owner alone",
    })
}

/// As many bytes as a key has that a store is sealed under.
const KEK_LEN: usize = 32;

fn has_certificate(bytes: &[u8]) -> bool {
    pem::blocks(bytes).any(|block| block.is_of("CERTIFICATE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n";
    const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

    #[test]
    fn a_private_key_and_what_is_beside_it() {
        let both = [KEY, CERTIFICATE].concat();
        let lost = |old: &str, new: &str| lost(old.as_bytes(), Some(new.as_bytes()), true, true);
        assert_eq!(lost(KEY, CERTIFICATE), Some("a private key"));
        assert_eq!(lost(KEY, ENCRYPTED), None);
        assert_eq!(lost(CERTIFICATE, ""), None);
        assert_eq!(
            lost(&both, ENCRYPTED),
            Some("certificates beside the private key")
        );
        assert_eq!(lost(&both, &[ENCRYPTED, CERTIFICATE].concat()), None);
    }

    #[test]
    fn bytes_for_their_owner_alone() {
        let raw = [7; 32];
        assert!(lost(&raw, Some(b"text"), true, true).is_some());
        assert!(lost(&raw, Some(&raw), true, false).is_some());
        assert_eq!(lost(&raw, Some(&raw), true, true), None);
        assert!(lost(&raw, Some(KEY.as_bytes()), true, true).is_some());
        assert_eq!(lost(&raw, Some(b"text"), false, true), None);
        assert_eq!(lost(&[7; 31], Some(b"text"), true, true), None);
        // What is as long as a key by chance.
        let chance = [0x80; 64];
        assert_eq!(lost(&chance, Some(b"the next document"), true, true), None);
        assert_eq!(lost(&chance, Some(&[0x81; 64]), true, false), None);
        assert!(lost(&chance, Some(b"a certificate"), true, false).is_some());
        let text = "sixty-four letters and blanks, which no key is written with, yes";
        assert_eq!(text.len(), chance.len());
        assert_eq!(lost(text.as_bytes(), Some(b"more"), true, false), None);
    }
}
