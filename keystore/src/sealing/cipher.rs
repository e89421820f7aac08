//! XChaCha20-Poly1305 with random nonces (draft-irtf-cfrg-xchacha).

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use pq_keys::random;
use zeroize::Zeroizing;

use super::KEY_LEN;

const NONCE_LEN: usize = 24;
const TAG_LEN: usize = 16;

/// A sealed text was changed, or is under another key, or the plain one is too long.
#[derive(Debug)]
pub(crate) struct Refused;

fn cipher(key: &[u8; KEY_LEN]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

/// Encrypts: the nonce, the text, and the tag.
pub(crate) fn seal(
    key: &[u8; KEY_LEN],
    aad: &[u8],
    text: &[u8],
) -> Result<Vec<u8>, random::RandomnessError> {
    let mut sealed = vec![0; NONCE_LEN + text.len() + TAG_LEN];
    let (nonce, rest) = sealed.split_at_mut(NONCE_LEN);
    random::fill(nonce)?;
    let (body, tag) = rest.split_at_mut(text.len());
    body.copy_from_slice(text);
    let mut bytes = [0; NONCE_LEN];
    bytes.copy_from_slice(nonce);
    // Only a text of more than 256 GiB is refused, and what is sealed here has some kilobytes.
    match cipher(key).encrypt_inout_detached((&bytes).into(), aad, body.into()) {
        Ok(made) => tag.copy_from_slice(&made),
        Err(_) => sealed.clear(),
    }
    Ok(sealed)
}

/// Decrypts what [`seal`] made.
pub(crate) fn open(
    key: &[u8; KEY_LEN],
    aad: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Refused> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(Refused)?;
    let (body, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(Refused)?;
    let mut text = Zeroizing::new(body.to_vec());
    let opened = cipher(key).decrypt_inout_detached(
        nonce.into(),
        aad,
        text.as_mut_slice().into(),
        tag.into(),
    );
    opened.map_err(|_| Refused)?;
    Ok(text)
}
