//! How fast content of one GiB is signed, verified, encrypted and decrypted, and in how much memory,
//! beside the hash function alone:
//!
//! `cargo run --release -p pq-cms --example throughput`

use core::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::time::Instant;

use pq_cms::{
    DocumentSigner, EnvelopeBuilder, Opener, Recipient, RecipientKey, SignedDataBuilder, Verifier,
};
use pq_x509::{
    CertificateBuilder, DecapsulationKey, Issuer, KemAlgorithm, PreHash, SignatureAlgorithm,
    SigningKey,
};

const LEN: u64 = 1 << 30;

/// Zeros, without the time that it takes to make anything.
struct Content(u64);

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.min(buffer.len() as u64);
        self.0 -= len;
        Ok(len as usize)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Root"), key.clone())?;
    let certificate = issuer.certificate();
    let verifier = Verifier::with_signers([certificate.clone()])?;
    let folder = std::env::temp_dir().join(format!("pq-cms-throughput-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let file = folder.join("message");
    for digest in [PreHash::Sha256, PreHash::Sha512, PreHash::Shake256] {
        let hash = measure(&format!("{digest}"), || {
            let mut hasher = digest.hasher();
            let piece = vec![0; 64 * 1024];
            for _ in 0..LEN / piece.len() as u64 {
                hasher.update(&piece);
            }
            hasher.finish();
            Ok(())
        })?;
        if digest == PreHash::Sha256 {
            continue;
        }
        let signer = DocumentSigner::new(certificate, &key).digest(digest);
        let builder = SignedDataBuilder::new().signer(signer);
        let mut signature = Vec::new();
        let signing = measure("signing, detached", || {
            signature = builder.sign_detached(Content(LEN))?;
            Ok(())
        })?;
        let verifying = measure("verifying, detached", || {
            verifier.verify_detached(&signature[..], Content(LEN))?;
            Ok(())
        })?;
        builder.sign(Content(LEN), fs::File::create(&file)?)?;
        let attached = measure("verifying, attached, from a file", || {
            verifier.verify(fs::File::open(&file)?, io::sink())?;
            Ok(())
        })?;
        println!(
            "{digest}: signing at {:.3} of the hash's speed, verifying at {:.3}, attached at {:.3}",
            hash / signing,
            hash / verifying,
            hash / attached
        );
    }

    let key = DecapsulationKey::generate(KemAlgorithm::MlKem768)?;
    let recipient = Recipient::key(key.encapsulation_key().clone(), b"me");
    let envelope = EnvelopeBuilder::new().recipient(recipient);
    measure("encrypting by AES-256-GCM", || {
        Ok(envelope.encrypt(Content(LEN), io::sink())?)
    })?;
    let mut to = fs::File::create(&file)?;
    envelope.encrypt(Content(LEN), &mut to)?;
    to.flush()?;
    let opener = Opener::new(RecipientKey::new(&key));
    measure("decrypting, from a file", || {
        opener.open(fs::File::open(&file)?, io::sink())?;
        Ok(())
    })?;
    measure("decrypting in two passes, from a file", || {
        opener.open_seekable(fs::File::open(&file)?, io::sink())?;
        Ok(())
    })?;
    fs::remove_dir_all(folder)?;
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM"));
        println!("{}", peak.unwrap_or_default());
    }
    Ok(())
}

/// The least of some times, in seconds.
fn measure(
    what: &str,
    mut run: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {:.2} GB/s", LEN as f64 / least / 1e9);
    Ok(least)
}
