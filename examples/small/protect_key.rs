//! Writes a private key under a passphrase, and reads it again.
#![forbid(unsafe_code)]

use core::error::Error;

use pq_x509::keys::protection::Protection;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};

fn main() -> Result<(), Box<dyn Error>> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let pem = key.to_encrypted_pkcs8_pem(b"correct horse", &Protection::default())?;
    print!("{pem}");

    let read = SigningKey::from_encrypted_pkcs8_pem(&pem, b"correct horse")?;
    let is_same = read.verifying_key() == key.verifying_key();
    println!("read: the same is {is_same}");
    if let Err(error) = SigningKey::from_encrypted_pkcs8_pem(&pem, b"wrong horse") {
        println!("with another passphrase: {error}");
    }
    Ok(())
}
