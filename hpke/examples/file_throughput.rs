//! How fast a file of one GiB is encrypted and decrypted, and in how much memory, beside each cipher alone:
//!
//! `cargo run --release -p pq-hpke --example file_throughput`

use core::error::Error;
use std::fs;
use std::io::{self, Read};
use std::time::Instant;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use pq_hpke::{Aead, Decryptor, Encryptor, Suite, XWingPrivateKey};
use pq_keys::gcm;

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
    let key = XWingPrivateKey::generate()?;
    let folder = std::env::temp_dir().join(format!("pq-hpke-throughput-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let file = folder.join("file");
    for aead in Aead::ALL {
        let alone = measure(aead.name(), || match aead {
            Aead::Aes128Gcm => aes_gcm(&[7; 16]),
            Aead::ChaCha20Poly1305 => chacha20_poly1305(&[7; 32]),
            _ => aes_gcm(&[7; 32]),
        })?;
        let suite = Suite {
            aead: *aead,
            ..Suite::default()
        };
        let encryptor = Encryptor::new(key.public_key().clone()).suite(suite);
        let encrypting = measure("encrypting", || {
            encryptor.encrypt(Content(LEN), io::sink())?;
            Ok(())
        })?;
        encryptor.encrypt(Content(LEN), fs::File::create(&file)?)?;
        let decryptor = Decryptor::new(key.clone());
        let decrypting = measure("decrypting, from a file", || {
            decryptor.decrypt(fs::File::open(&file)?, io::sink())?;
            Ok(())
        })?;
        println!(
            "{}: encrypting at {:.3} of the cipher's speed, decrypting at {:.3}",
            aead.name(),
            alone / encrypting,
            alone / decrypting
        );
    }
    fs::remove_dir_all(folder)?;
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM"));
        println!("{}", peak.unwrap_or_default());
    }
    Ok(())
}

/// Encrypts as much by the cipher alone, in pieces of 64 KiB.
fn chunks(
    mut encrypt: impl FnMut(&[u8; gcm::NONCE_LEN], &mut [u8]) -> Option<()>,
) -> Result<(), Box<dyn Error>> {
    let mut chunk = vec![0; 64 * 1024];
    for number in 0..LEN / chunk.len() as u64 {
        let mut nonce = [0; gcm::NONCE_LEN];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        encrypt(&nonce, &mut chunk).ok_or("the cipher takes so much")?;
    }
    Ok(())
}

fn aes_gcm(key: &[u8]) -> Result<(), Box<dyn Error>> {
    let key = gcm::Key::new(key).ok_or("the key has one of two lengths")?;
    chunks(|nonce, chunk| key.seal(nonce, &[0], chunk).ok().map(|_| ()))
}

fn chacha20_poly1305(key: &[u8; 32]) -> Result<(), Box<dyn Error>> {
    let cipher = ChaCha20Poly1305::new(key.into());
    chunks(|nonce, chunk| {
        let sealed = cipher.encrypt_inout_detached(nonce.into(), &[0], chunk.into());
        sealed.ok().map(|_| ())
    })
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
