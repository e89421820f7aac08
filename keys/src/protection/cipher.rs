//! Encrypts and decrypts with AES-CBC and AES-GCM, the ciphers of PBES2.

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
};
use zeroize::Zeroizing;

use super::algorithms::Cipher;

const BLOCK_LEN: usize = 16;
const TAG_LEN: usize = 16;

/// `None` if the key or the initialization vector has a wrong length.
pub(super) fn encrypt(cipher: Cipher, key: &[u8], iv: &[u8], plaintext: &[u8]) -> Option<Vec<u8>> {
    match cipher {
        Cipher::Aes128Cbc => encrypt_cbc::<Aes128>(key, iv, plaintext),
        Cipher::Aes192Cbc => encrypt_cbc::<Aes192>(key, iv, plaintext),
        Cipher::Aes256Cbc => encrypt_cbc::<Aes256>(key, iv, plaintext),
        Cipher::Aes128Gcm => encrypt_gcm::<Aes128Gcm>(key, iv, plaintext),
        Cipher::Aes256Gcm => encrypt_gcm::<Aes256Gcm>(key, iv, plaintext),
    }
}

/// `None` if the key or the initialization vector has a wrong length, or if the padding or the tag is wrong.
pub(super) fn decrypt(
    cipher: Cipher,
    key: &[u8],
    iv: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    match cipher {
        Cipher::Aes128Cbc => decrypt_cbc::<Aes128>(key, iv, ciphertext),
        Cipher::Aes192Cbc => decrypt_cbc::<Aes192>(key, iv, ciphertext),
        Cipher::Aes256Cbc => decrypt_cbc::<Aes256>(key, iv, ciphertext),
        Cipher::Aes128Gcm => decrypt_gcm::<Aes128Gcm>(key, iv, ciphertext),
        Cipher::Aes256Gcm => decrypt_gcm::<Aes256Gcm>(key, iv, ciphertext),
    }
}

fn encrypt_cbc<C: KeyInit + BlockCipherEncrypt>(
    key: &[u8],
    iv: &[u8],
    plaintext: &[u8],
) -> Option<Vec<u8>> {
    let cipher = C::new_from_slice(key).ok()?;
    let cbc = cbc::Encryptor::inner_iv_slice_init(cipher, iv).ok()?;
    // Encrypted in place, so that no plaintext is left.
    let mut buffer = vec![0; (plaintext.len() / BLOCK_LEN + 1) * BLOCK_LEN];
    buffer[..plaintext.len()].copy_from_slice(plaintext);
    cbc.encrypt_padded::<Pkcs7>(&mut buffer, plaintext.len())
        .ok()?;
    Some(buffer)
}

fn decrypt_cbc<C: KeyInit + BlockCipherDecrypt>(
    key: &[u8],
    iv: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let cipher = C::new_from_slice(key).ok()?;
    let cbc = cbc::Decryptor::inner_iv_slice_init(cipher, iv).ok()?;
    let mut buffer = Zeroizing::new(ciphertext.to_vec());
    let len = cbc.decrypt_padded::<Pkcs7>(&mut buffer).ok()?.len();
    buffer.truncate(len);
    Some(buffer)
}

fn encrypt_gcm<C: KeyInit + AeadInOut>(
    key: &[u8],
    nonce: &[u8],
    plaintext: &[u8],
) -> Option<Vec<u8>> {
    let cipher = C::new_from_slice(key).ok()?;
    let nonce = Nonce::<C>::try_from(nonce).ok()?;
    let mut buffer = vec![0; plaintext.len() + TAG_LEN];
    let (text, tag) = buffer.split_at_mut(plaintext.len());
    text.copy_from_slice(plaintext);
    let computed = cipher.encrypt_inout_detached(&nonce, &[], (&mut *text).into());
    tag.copy_from_slice(&computed.ok()?);
    Some(buffer)
}

fn decrypt_gcm<C: KeyInit + AeadInOut>(
    key: &[u8],
    nonce: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let cipher = C::new_from_slice(key).ok()?;
    let nonce = Nonce::<C>::try_from(nonce).ok()?;
    let (text, tag) = ciphertext.split_at_checked(ciphertext.len().checked_sub(TAG_LEN)?)?;
    let tag = Tag::<C>::try_from(tag).ok()?;
    let mut buffer = Zeroizing::new(text.to_vec());
    cipher
        .decrypt_inout_detached(&nonce, &[], (&mut **buffer).into(), &tag)
        .ok()?;
    Some(buffer)
}
