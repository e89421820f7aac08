//! Encrypts a file of any size to a public key of X-Wing, which is ML-KEM-768 and X25519 at once, and decrypts it.
#![forbid(unsafe_code)]

use core::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

use pq_hpke::{Decryptor, Encryptor, XWingPrivateKey};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    fs::write(path("backup"), vec![7; 1 << 20])?;

    let key = XWingPrivateKey::generate()?;
    let recipient = key.public_key().clone();
    // Both sides say what the file is for.
    let encryptor = Encryptor::new(recipient).info(b"backup");
    encryptor.encrypt(
        File::open(path("backup"))?,
        File::create(path("encrypted"))?,
    )?;
    println!(
        "encrypted: {} bytes",
        fs::metadata(path("encrypted"))?.len()
    );

    let decryptor = Decryptor::new(key).info(b"backup");
    let encrypted = || File::open(path("encrypted")).map(BufReader::new);
    decryptor.decrypt(encrypted()?, File::create(path("decrypted"))?)?;
    let is_same = fs::read(path("decrypted"))? == fs::read(path("backup"))?;
    println!("decrypted: the same is {is_same}");

    let other = Decryptor::new(XWingPrivateKey::generate()?).info(b"backup");
    if let Err(error) = other.decrypt(encrypted()?, Vec::new()) {
        println!("with another key: {error}");
    }
    Ok(())
}
