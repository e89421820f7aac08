//! Signs a file as `ssh-keygen -Y sign` does, with ML-DSA-44 and Ed25519 at once, and verifies it.
#![forbid(unsafe_code)]

use core::error::Error;

use pq_ssh::{AllowedSigners, HashAlgorithm, HashedMessage, PrivateKey, Signature};
use pq_x509::pki_types::UnixTime;

fn main() -> Result<(), Box<dyn Error>> {
    let key = PrivateKey::generate()?.with_comment("releases@example.org")?;
    let message = HashedMessage::read(HashAlgorithm::Sha512, &b"what is released"[..])?;
    let armored = key.sign("file", &message)?.to_armored();
    print!("{armored}");

    // Who verifies has a file of those who may sign.
    let line = key.public_key().to_line();
    let signers = format!("releases@example.org namespaces=\"file\" {line}");
    let signers = AllowedSigners::parse(&signers)?;
    let signature = Signature::from_armored(&armored)?;
    for content in ["what is released", "what is not released"] {
        let message = HashedMessage::read(signature.hash_algorithm(), content.as_bytes())?;
        let by = "releases@example.org";
        match signers.verify(by, "file", UnixTime::now(), &signature, &message) {
            Ok(_) => println!("good"),
            Err(error) => println!("another message: {error}"),
        }
    }
    Ok(())
}
