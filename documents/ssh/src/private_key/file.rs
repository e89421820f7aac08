//! `openssh-key-v1` (PROTOCOL.key): the public header, and the section with the key, which may be encrypted.

use pq_keys::composite::CompositeKey;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::error::PrivateKeyError;
use super::passphrase::Passphrase;
use crate::encoding::{Reader, check_text, put_string, shown};
use crate::keys::{ALGORITHM, PublicKey, read_name};

/// Reads a file whose armor was removed.
pub(super) fn read(
    bytes: &[u8],
    passphrase: Option<&Passphrase<'_>>,
) -> Result<(CompositeKey, PublicKey), PrivateKeyError> {
    let bytes = bytes
        .strip_prefix(MAGIC)
        .ok_or(PrivateKeyError::NotAKeyFile)?;
    let mut reader = Reader::new("the private key file", bytes);
    let cipher = reader.string()?;
    let kdf = reader.string()?;
    let options = reader.string()?;
    let count = reader.uint32()?;
    if count != 1 {
        return Err(PrivateKeyError::KeyCount(count));
    }
    let outer = reader.string()?;
    let section = reader.string()?;
    let of_name = Cipher::of_name(cipher);
    let tag = reader.bytes(of_name.map_or(0, Cipher::tag_len))?;
    // Of a cipher that isn't known, nobody knows what follows.
    if of_name.is_some() || cipher == NO_CIPHER {
        reader.finish()?;
    }
    // Checked before a passphrase is asked for: for an unsupported key a passphrase is of no use.
    let outer = PublicKey::from_blob(outer)?;

    match (cipher, kdf, of_name) {
        (NO_CIPHER, NO_CIPHER, _) if options.is_empty() => of_section(section, PLAIN_BLOCK, &outer),
        (NO_CIPHER, NO_CIPHER, _) => Err(PrivateKeyError::Malformed(
            "it is not encrypted, but has options for encryption",
        )),
        (_, KDF, Some(cipher)) => {
            let passphrase = passphrase.ok_or(PrivateKeyError::PassphraseNeeded)?;
            let mut options = Reader::new("the options of bcrypt", options);
            let salt = options.string()?;
            let rounds = options.uint32()?;
            options.finish()?;
            if salt.is_empty() || rounds == 0 {
                return Err(PrivateKeyError::Malformed(
                    "its salt is empty, or its number of rounds is zero",
                ));
            }
            if salt.len() > MAX_SALT {
                return Err(PrivateKeyError::Malformed("its salt is far too long"));
            }
            passphrase.check_rounds(rounds)?;
            let mut section = Zeroizing::new(section.to_vec());
            let key = passphrase.derive(cipher, salt, rounds)?;
            cipher
                .apply(&key, &mut section, tag)
                .ok_or(PrivateKeyError::WrongPassphrase)?;
            of_section(&section, cipher.block_len(), &outer)
        }
        _ => Err(PrivateKeyError::Encryption {
            cipher: shown(cipher),
            kdf: shown(kdf),
        }),
    }
}

/// Writes the file without its armor. Check words and salt come from the operating system's randomness.
pub(super) fn write(
    key: &CompositeKey,
    public_key: &PublicKey,
    passphrase: Option<&Passphrase<'_>>,
) -> Result<Zeroizing<Vec<u8>>, PrivateKeyError> {
    let mut check = Zeroizing::new([0; 4]);
    random(&mut *check)?;
    let block = passphrase.map_or(PLAIN_BLOCK, |_| Cipher::DEFAULT.block_len());
    let mut section = to_section(key, public_key, *check, block);

    let mut options = Vec::new();
    if let Some(passphrase) = passphrase {
        let mut salt = [0; SALT];
        random(&mut salt)?;
        let rounds = passphrase.rounds_to_write();
        let derived = passphrase.derive(Cipher::DEFAULT, &salt, rounds)?;
        Cipher::DEFAULT
            .apply(&derived, &mut section, &[])
            .expect("a cipher in counter mode takes any section");
        put_string(&mut options, &salt);
        options.extend_from_slice(&rounds.to_be_bytes());
    }
    let (cipher, kdf) = match passphrase {
        Some(_) => (Cipher::DEFAULT.name().as_bytes(), KDF),
        None => (NO_CIPHER, NO_CIPHER),
    };
    let blob = public_key.to_blob();
    // Room for all of it: a reallocation would leave an unwiped copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(blob.len() + section.len() + 256));
    bytes.extend_from_slice(MAGIC);
    put_string(&mut bytes, cipher);
    put_string(&mut bytes, kdf);
    put_string(&mut bytes, &options);
    bytes.extend_from_slice(&1_u32.to_be_bytes());
    put_string(&mut bytes, &blob);
    put_string(&mut bytes, &section);
    Ok(bytes)
}

/// Reads the decrypted section. Its check words show whether the passphrase was right.
fn of_section(
    section: &[u8],
    block: usize,
    outer: &PublicKey,
) -> Result<(CompositeKey, PublicKey), PrivateKeyError> {
    if !section.len().is_multiple_of(block) {
        return Err(PrivateKeyError::Malformed(
            "the length of its private section is not a multiple of the block length",
        ));
    }
    let mut reader = Reader::new("the private section of the file", section);
    let check = reader.bytes(4)?;
    if !bool::from(check.ct_eq(reader.bytes(4)?)) {
        return Err(PrivateKeyError::WrongPassphrase);
    }
    let name = read_name(reader.string()?)?;
    let public = reader.string()?;
    let seeds = reader.string()?;
    let comment = reader.string()?;
    let padding = reader.rest();
    let expected = 1_u8..;
    if padding.len() >= block || !padding.iter().copied().eq(expected.take(padding.len())) {
        return Err(PrivateKeyError::Malformed(
            "its padding is not 1, 2, 3, ...",
        ));
    }

    let key = CompositeKey::from_bytes(ALGORITHM, seeds)?;
    let derived = key.public_key();
    if name != outer.name() || public != derived.as_bytes() || derived != outer.key() {
        return Err(PrivateKeyError::PublicKeyMismatch);
    }
    let comment = check_text("the comment", comment)?;
    let public_key = outer.clone().with_comment(comment)?;
    Ok((key, public_key))
}

fn to_section(
    key: &CompositeKey,
    public_key: &PublicKey,
    check: [u8; 4],
    block: usize,
) -> Zeroizing<Vec<u8>> {
    let public = public_key.key().as_bytes();
    let comment = public_key.comment();
    // Room for all of it, as above.
    let mut section = Zeroizing::new(Vec::with_capacity(public.len() + comment.len() + 256));
    section.extend_from_slice(&check);
    section.extend_from_slice(&check);
    put_string(&mut section, public_key.name().as_str().as_bytes());
    put_string(&mut section, public);
    put_string(&mut section, &key.to_bytes());
    put_string(&mut section, comment.as_bytes());
    let len = section.len().next_multiple_of(block) - section.len();
    section.extend((1_u8..).take(len));
    section
}

fn random(to: &mut [u8]) -> Result<(), PrivateKeyError> {
    pq_keys::random::fill(to).map_err(|_| PrivateKeyError::Randomness)
}

const MAGIC: &[u8] = b"openssh-key-v1\0";
const NO_CIPHER: &[u8] = b"none";
const KDF: &[u8] = b"bcrypt";

/// A section in the clear is padded to a multiple of this many bytes.
const PLAIN_BLOCK: usize = 8;

const SALT: usize = 16;
const MAX_SALT: usize = 64;
