//! How fast content of one GiB is signed, verified, encrypted and decrypted, and in how much memory,
//! beside the hash function alone and beside hashing a file. Also how fast OpenSSL signs the same file, and how fast
//! pq-hpke encrypts:
//!
//! `cargo run --release -p pq-cms --example throughput`
//!
//! The environment variable `OPENSSL` names OpenSSL's program, 3.5 or later, if it is not `openssl`.
//!
//! A number is that of MiB, and other words are what is measured, such as `attached`. Figures are by the
//! time that the process had a CPU, where Linux tells it, so that a busy machine changes them little.

use core::error::Error;
use core::time::Duration;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pq_cms::{
    DocumentSigner, EnvelopeBuilder, Opener, Recipient, RecipientKey, SignedDataBuilder, Verifier,
};
use pq_hpke::{Encryptor, RecipientPublicKey};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};

/// Zeros, without the time that it takes to make anything.
struct Content(u64);

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.min(buffer.len() as u64);
        self.0 -= len;
        Ok(len as usize)
    }
}

fn content(len: u64) -> BufReader<Content> {
    BufReader::with_capacity(PIECE, Content(len))
}

fn open(file: &PathBuf) -> io::Result<BufReader<File>> {
    Ok(BufReader::with_capacity(PIECE, File::open(file)?))
}

const PIECE: usize = 64 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut measuring = Measuring {
        len: 1 << 30,
        wanted: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        match argument.parse::<u64>() {
            Ok(mebibytes) => measuring.len = mebibytes << 20,
            Err(_) => measuring.wanted.push(argument),
        }
    }
    let folder = std::env::temp_dir().join(format!("pq-cms-throughput-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = measure_all(&measuring, &folder.join("message"));
    fs::remove_dir_all(folder)?;
    measured?;
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM"));
        println!("{}", peak.unwrap_or_default());
    }
    Ok(())
}

fn measure_all(measuring: &Measuring, file: &PathBuf) -> Result<(), Box<dyn Error>> {
    let len = measuring.len;
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Root"), key.clone())?;
    let certificate = issuer.issue(CertificateBuilder::end_entity().common_name("a"), &key)?;
    let verifier = Verifier::with_signers([certificate.clone()])?;
    for digest in [PreHash::Sha512, PreHash::Shake256] {
        let signer = DocumentSigner::new(&certificate, &key).digest(digest);
        let builder = SignedDataBuilder::new().signer(signer);
        let hash = |mut from: Box<dyn Read>| {
            let mut hasher = digest.hasher();
            let mut piece = vec![1; PIECE];
            loop {
                match from.read(&mut piece)? {
                    0 => break,
                    read => hasher.update(&piece[..read]),
                }
            }
            hasher.finish();
            Ok::<_, Box<dyn Error>>(())
        };
        let name = |what: &str| format!("{digest}, {what}");
        let alone = measuring.run(&name("hashing alone"), || hash(Box::new(Content(len))))?;
        builder.sign(content(len), File::create(file)?)?;
        let of_file = measuring.run(&name("hashing a file"), || {
            hash(Box::new(File::open(file)?))
        })?;
        let detached = measuring.run(&name("signing, detached"), || {
            builder.sign_detached(content(len))?;
            Ok(())
        })?;
        ratio("hashing", alone, detached);
        let signature = builder.sign_detached(content(len))?;
        let detached = measuring.run(&name("verifying, detached"), || {
            verifier.verify_detached(&signature[..], content(len))?;
            Ok(())
        })?;
        ratio("hashing", alone, detached);
        let attached = measuring.run(&name("signing, attached"), || {
            Ok(builder.sign(content(len), io::sink())?)
        })?;
        ratio("hashing", alone, attached);
        let attached = measuring.run(&name("verifying, attached"), || {
            verifier.write_unverified(open(file)?, io::sink())?;
            Ok(())
        })?;
        ratio("hashing", alone, attached);
        ratio("hashing a file", of_file, attached);
    }
    beside_openssl(measuring, file, &key, &certificate)?;
    let key = DecapsulationKey::generate(KemAlgorithm::MlKem768)?;
    let recipient = Recipient::key(key.encapsulation_key().clone(), b"me");
    let envelope = EnvelopeBuilder::new().recipient(recipient);
    let cms = measuring.run("AES-256-GCM, encrypting", || {
        Ok(envelope.encrypt(Content(len), io::sink())?)
    })?;
    let encryptor = Encryptor::new(RecipientPublicKey::try_from(
        key.encapsulation_key().clone(),
    )?);
    let hpke = measuring.run("AES-256-GCM, encrypting by pq-hpke", || {
        encryptor.encrypt(Content(len), io::sink())?;
        Ok(())
    })?;
    ratio("CMS", cms, hpke);
    let mut to = File::create(file)?;
    envelope.encrypt(Content(len), &mut to)?;
    to.flush()?;
    let opener = Opener::new(RecipientKey::new(&key));
    measuring.run("AES-256-GCM, decrypting a file", || {
        opener.write_unauthenticated(open(file)?, io::sink())?;
        Ok(())
    })?;
    measuring.run("AES-256-GCM, decrypting a file in two passes", || {
        opener.open_seekable(open(file)?, io::sink())?;
        Ok(())
    })?;
    Ok(())
}

/// Signing a file with SHA-512, by this crate and by OpenSSL. Both read it, and the signature has no content.
fn beside_openssl(
    measuring: &Measuring,
    file: &Path,
    key: &SigningKey,
    certificate: &Certificate,
) -> Result<(), Box<dyn Error>> {
    let openssl = std::env::var_os("OPENSSL").unwrap_or_else(|| "openssl".into());
    let [content, key_file, certificate_file] =
        ["content", "key.pem", "certificate.pem"].map(|name| file.with_file_name(name));
    io::copy(&mut Content(measuring.len), &mut File::create(&content)?)?;
    fs::write(&key_file, &*key.to_pkcs8_pem()?)?;
    fs::write(&certificate_file, certificate.to_pem())?;
    let signer = DocumentSigner::new(certificate, key).digest(PreHash::Sha512);
    let builder = SignedDataBuilder::new().signer(signer);
    let ours = measuring.run("SHA-512, signing a file, detached", || {
        builder.sign_detached(open(&content)?)?;
        Ok(())
    })?;
    let theirs = measuring.run_by(
        time_of_programs,
        "SHA-512, OpenSSL signing a file, detached",
        || {
            let signed = Command::new(&openssl)
                .args([
                    "cms", "-sign", "-binary", "-md", "sha512", "-outform", "DER",
                ])
                .arg("-in")
                .arg(&content)
                .arg("-inkey")
                .arg(&key_file)
                .arg("-signer")
                .arg(&certificate_file)
                .arg("-out")
                .arg(file)
                .status();
            match signed {
                Ok(status) if status.success() => Ok(()),
                _ => Err("set OPENSSL to the program of OpenSSL 3.5 or later".into()),
            }
        },
    );
    match theirs {
        Ok(theirs) => ratio("OpenSSL", theirs, ours),
        Err(error) => println!("without OpenSSL: {error}"),
    }
    Ok(fs::remove_file(content)?)
}

fn ratio(of: &str, alone: Option<f64>, measured: Option<f64>) {
    if let (Some(alone), Some(measured)) = (alone, measured) {
        println!("    at {:.3} of the speed of {of}", alone / measured);
    }
}

struct Measuring {
    len: u64,
    wanted: Vec<String>,
}

impl Measuring {
    /// The least of some times, in seconds, if it is wanted.
    fn run(
        &self,
        what: &str,
        run: impl FnMut() -> Result<(), Box<dyn Error>>,
    ) -> Result<Option<f64>, Box<dyn Error>> {
        self.run_by(time_of_cpu, what, run)
    }

    fn run_by(
        &self,
        time_of_cpu: fn() -> Option<Duration>,
        what: &str,
        mut run: impl FnMut() -> Result<(), Box<dyn Error>>,
    ) -> Result<Option<f64>, Box<dyn Error>> {
        let is_wanted = |word: &String| what.to_lowercase().contains(&word.to_lowercase());
        if !self.wanted.is_empty() && !self.wanted.iter().any(is_wanted) {
            return Ok(None);
        }
        let mut least = f64::MAX;
        for _ in 0..3 {
            let (start, start_of_cpu) = (Instant::now(), time_of_cpu());
            run()?;
            let spent = match time_of_cpu().zip(start_of_cpu) {
                Some((end, start)) => end - start,
                None => start.elapsed(),
            };
            least = least.min(spent.as_secs_f64());
        }
        println!("{what}: {:.3} GB/s", self.len as f64 / least / 1e9);
        Ok(Some(least))
    }
}

/// How long this thread had a CPU.
fn time_of_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// How long the programs that this one started, and that ended, had a CPU. Linux counts in hundredths of a second.
fn time_of_programs() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // the name of the program may have spaces
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let [user, system] = [fields.next()?, fields.next()?].map(|ticks| ticks.parse::<u64>().ok());
    Some(Duration::from_millis(10 * (user? + system?)))
}
