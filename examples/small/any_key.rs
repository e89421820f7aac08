//! One program for keys of every algorithm: it makes one, writes it under a passphrase, reads it, signs and verifies.
#![forbid(unsafe_code)]

use core::convert::Infallible;
use core::error::Error;

use pq_keys::any::{
    AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey, read_private_key, read_public_key,
};
use pq_keys::protection::{Cipher, Protection};

fn main() -> Result<(), Box<dyn Error>> {
    for name in [
        "ML-DSA-65",
        "MLDSA65-ECDSA-P256-SHA512",
        "Ed25519",
        "X-Wing",
    ] {
        let algorithm = AnyAlgorithm::named(name).ok_or("no such algorithm")?;
        match sign_and_verify(algorithm) {
            Ok(len) => println!("{algorithm}: verified a signature of {len} bytes"),
            Err(error) => println!("{algorithm}: {error}"),
        }
    }
    Ok(())
}

fn sign_and_verify(algorithm: AnyAlgorithm) -> Result<usize, Box<dyn Error>> {
    // Who makes the key, for two files. Without a cipher of one's own it is AES-CBC, which more programs read.
    let key = AnyPrivateKey::generate(algorithm)?;
    let protection = Protection::default().with_cipher(Cipher::Aes256Gcm);
    let private_file = key.to_encrypted_pkcs8_pem(b"correct horse", &protection)?;
    let public_file = key.public_half().to_spki_pem();

    // Who signs. The passphrase is asked for only if the file needs one.
    let ask = || Ok::<_, Infallible>(b"correct horse");
    let key: AnySigningKey = read_private_key(private_file.as_bytes(), ask)?.key;
    let signature = key.sign(b"message")?;

    // Who verifies.
    let key: AnyPublicKey = read_public_key(public_file.as_bytes())?;
    key.verify(b"message", &signature)?;
    Ok(signature.len())
}
