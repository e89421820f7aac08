//! How fast a file of one GiB is encrypted and decrypted, and in how much memory, beside each cipher alone:
//!
//! `cargo run --release -p pq-hpke --example file_throughput`

use core::error::Error;
use std::fs;
use std::io::{self, Read};
use std::time::Instant;

use aes_gcm::aead::{AeadInOut, KeyInit, Nonce};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;
use pq_hpke::{Aead, Decryptor, Encryptor, Suite, XWingPrivateKey};

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
            Aead::Aes128Gcm => chunks::<Aes128Gcm>(&[7; 16]),
            Aead::ChaCha20Poly1305 => chunks::<ChaCha20Poly1305>(&[7; 32]),
            _ => chunks::<Aes256Gcm>(&[7; 32]),
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
fn chunks<C: AeadInOut + KeyInit>(key: &[u8]) -> Result<(), Box<dyn Error>> {
    let cipher = C::new_from_slice(key)?;
    let mut chunk = vec![0; 64 * 1024];
    for number in 0..LEN / chunk.len() as u64 {
        let mut nonce = Nonce::<C>::default();
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        cipher
            .encrypt_inout_detached(&nonce, &[0], chunk.as_mut_slice().into())
            .map_err(|_| "the cipher takes so much")?;
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
