//! How fast documents are signed and encrypted: by programs from file to file, and by pq-cms in memory.

mod in_memory;

use core::time::Duration;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, thread};

use pq_keys::classical::{AgreementAlgorithm, ClassicalAgreementKey};
use pq_keys::encoding::pem;
use pq_keys::signing::PreHash;
use pq_keys::{SignatureAlgorithm, SigningKey};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use serde::Serialize;

use super::machine::file_system;
use super::measure::{cant_make, median};
use super::openssl::Openssl;
use crate::failure::Failure;
use crate::files::TemporaryFolder;

/// The row's name, for filters.
pub(super) const NAME: &str = "CMS documents";

/// The algorithm of signatures.
const SIGNATURE: SignatureAlgorithm = SignatureAlgorithm::MlDsa65;

/// The one recipient's algorithm: OpenSSL 3.5 has no recipients with ML-KEM.
const RECIPIENT: AgreementAlgorithm = AgreementAlgorithm::EcdhP256;

const DIGEST: PreHash = PreHash::Sha512;

/// How often each operation is measured; the figures are the medians.
const ROUNDS: usize = 3;

/// How fast a large file is signed, verified, encrypted and decrypted, by a process for each.
#[derive(Debug, Serialize)]
pub(super) struct Documents {
    pub(super) mebibytes: u64,
    pub(super) signature: &'static str,
    pub(super) digest: &'static str,
    pub(super) recipient: &'static str,
    pub(super) cipher: &'static str,
    /// Where the files were, such as `tmpfs`.
    pub(super) file_system: Option<String>,
    /// The hash function alone, in memory.
    pub(super) hash: Rate,
    /// The provider's cipher alone, in TLS records, if it has the cipher on this CPU.
    pub(super) aead: Option<Rate>,
    pub(super) operations: Vec<Operation>,
}

#[derive(Debug, Serialize)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) pqtls: Rate,
    /// By pq-cms in memory, in one process, whose output is discarded.
    pub(super) in_memory: Rate,
    /// That rate in percent of the rate of the hash function or the cipher alone, by CPU time.
    pub(super) percent_of_alone: Option<f64>,
    /// OpenSSL's rate, if it was asked for and OpenSSL can do this.
    pub(super) openssl: Option<Rate>,
}

/// Megabytes a second.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Rate {
    /// By the clock.
    pub(super) per_second: f64,
    /// In a second of CPU time.
    pub(super) per_second_of_cpu: Option<f64>,
    /// The most that the program had in memory, in MiB.
    pub(super) peak_mebibytes: Option<f64>,
}

/// Measures it in a folder that is made in `above`, and removed.
pub(super) fn measure(
    above: &Path,
    mebibytes: u64,
    openssl: Option<&Openssl>,
) -> Result<Documents, Failure> {
    let people = People::new()?;
    let in_memory = in_memory::measure(&people, mebibytes)?;
    let workshop = Workshop::new(above, &people, mebibytes)?;
    let pqtls = env::current_exe().map_err(cant_make(Path::new("pqtls")))?;
    let mut operations = Vec::new();
    for (step, share) in STEPS.iter().zip(in_memory.operations) {
        let ours = rate(mebibytes, || workshop.run(&pqtls, step.pqtls))?;
        let Some(ours) = ours else {
            return Err(Failure::NotMeasured(format!("pqtls {}", step.pqtls)));
        };
        let theirs = match openssl {
            Some(openssl) => {
                let program = from_elsewhere(openssl.program());
                rate(mebibytes, || workshop.run(&program, step.openssl))?
            }
            None => None,
        };
        operations.push(Operation {
            name: step.name,
            in_memory: share.rate,
            percent_of_alone: share.of_alone,
            pqtls: ours,
            openssl: theirs,
        });
    }
    Ok(Documents {
        mebibytes,
        signature: SIGNATURE.name(),
        digest: DIGEST.name(),
        recipient: RECIPIENT.name(),
        cipher: "AES-256-GCM",
        file_system: file_system(workshop.folder.path()),
        hash: in_memory.hash,
        aead: in_memory.aead,
        operations,
    })
}

/// The path of a program, as seen from another folder. A name alone is searched on the path.
fn from_elsewhere(program: &Path) -> PathBuf {
    match program.components().count() {
        1 => program.into(),
        _ => fs::canonicalize(program).unwrap_or_else(|_| program.into()),
    }
}

/// What is measured: a command line of either program, whose words have no spaces in them.
struct Step {
    name: &'static str,
    pqtls: &'static str,
    openssl: &'static str,
}

/// In the order of [`in_memory::InMemory::operations`].
const STEPS: [Step; 4] = [
    Step {
        name: "signing",
        pqtls: "cms sign content --key key --cert cert --out signed --force",
        openssl: "cms -sign -binary -nodetach -stream -md sha512 -in content -signer cert -inkey key \
                  -outform DER -out signed.openssl",
    },
    Step {
        name: "verifying",
        pqtls: "cms verify signed --roots root --out found --force",
        openssl: "cms -verify -binary -inform DER -in signed.openssl -CAfile root -out found.openssl",
    },
    Step {
        name: "encrypting",
        pqtls: "cms encrypt content --to recipient --out encrypted --force",
        openssl: "cms -encrypt -binary -stream -aes-256-gcm -in content -outform DER \
                  -out encrypted.openssl -recip recipient -keyopt ecdh_kdf_md:sha256",
    },
    Step {
        name: "decrypting",
        pqtls: "cms decrypt encrypted --key recipient.key --cert recipient --out found --force",
        openssl: "cms -decrypt -binary -inform DER -in encrypted.openssl -inkey recipient.key \
                  -recip recipient -out found.openssl",
    },
];

/// The signer and the recipient.
struct People {
    root: Certificate,
    key: SigningKey,
    certificate: Certificate,
    recipient_key: ClassicalAgreementKey,
    recipient: Certificate,
}

impl People {
    fn new() -> Result<Self, Failure> {
        let root = SigningKey::generate(SIGNATURE)?;
        let root = Issuer::self_signed(CertificateBuilder::ca("Benchmark"), root)?;
        let person = || CertificateBuilder::end_entity().common_name("Benchmark");
        let key = SigningKey::generate(SIGNATURE)?;
        let certificate = root.issue(person(), &key)?;
        let recipient_key = ClassicalAgreementKey::generate(RECIPIENT)
            .map_err(|error| Failure::Key(error.into()))?;
        let usage = person().key_usage(KeyUsages::KeyAgreement);
        let recipient = root.issue(usage, &recipient_key)?;
        Ok(Self {
            root: root.certificate().clone(),
            key,
            certificate,
            recipient_key,
            recipient,
        })
    }
}

/// Keys, certificates and something to sign, in a temporary folder.
struct Workshop {
    folder: TemporaryFolder,
}

impl Workshop {
    fn new(above: &Path, people: &People, mebibytes: u64) -> Result<Self, Failure> {
        let folder = TemporaryFolder::new(above, "pqtls-bench-").map_err(cant_make(above))?;
        let workshop = Self { folder };
        for (name, text) in [
            ("root", people.root.to_pem()),
            ("key", people.key.to_pkcs8_pem()?.to_string()),
            ("cert", people.certificate.to_pem()),
            (
                "recipient.key",
                pem::encode("PRIVATE KEY", &people.recipient_key.to_pkcs8_der()),
            ),
            ("recipient", people.recipient.to_pem()),
        ] {
            let file = workshop.file(name);
            fs::write(&file, text).map_err(cant_make(&file))?;
        }
        let file = workshop.file("content");
        write_content(&file, mebibytes).map_err(cant_make(&file))?;
        Ok(workshop)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `None` if the program fails.
    fn run(&self, program: &Path, words: &str) -> Result<Option<Spent>, Failure> {
        let mut command = Command::new(program);
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Spent::by(&mut command).map_err(|error| Failure::NoOpenssl {
            program: program.display().to_string(),
            error,
        })
    }
}

fn write_content(file: &Path, mebibytes: u64) -> io::Result<()> {
    let mut to = File::create(file)?;
    for number in 0..mebibytes {
        to.write_all(&mebibyte(number))?;
    }
    Ok(())
}

/// The MiB of the content with this number: no two words are the same, and no two MiB.
fn mebibyte(number: u64) -> Vec<u8> {
    (0..1 << 17)
        .flat_map(|word| {
            let word = u64::wrapping_mul(number << 17 | word, 0x9e37_79b9_7f4a_7c15);
            word.to_le_bytes()
        })
        .collect()
}

/// What a program or an operation took.
#[derive(Clone, Copy, Debug)]
struct Spent {
    wall: f64,
    cpu: Option<f64>,
    peak_mebibytes: Option<f64>,
}

impl Spent {
    /// Runs a program, and looks at it while it runs: once it has ended, its memory use can't be read.
    fn by(command: &mut Command) -> io::Result<Option<Self>> {
        /// How often to look, and so the error of the figures.
        const LOOK: Duration = Duration::from_micros(500);

        let start = Instant::now();
        let mut child = command.spawn()?;
        let (mut cpu, mut peak_mebibytes) = (None, None);
        let status = loop {
            // Threads that have ended are not counted any more.
            cpu = time_of(child.id())
                .map(|now| cpu.map_or(now, |before: f64| before.max(now)))
                .or(cpu);
            peak_mebibytes = memory_of(child.id()).or(peak_mebibytes);
            if let Some(status) = child.try_wait()? {
                break status;
            }
            thread::sleep(LOOK);
        };
        Ok(status.success().then(|| Self {
            wall: start.elapsed().as_secs_f64(),
            cpu,
            peak_mebibytes,
        }))
    }
}

/// The CPU time of a process, all its threads together, in seconds, as Linux says it.
fn time_of(process: u32) -> Option<f64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut nanoseconds = None;
    for thread in threads.filter_map(Result::ok) {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let spent: f64 = text.split_whitespace().next()?.parse().ok()?;
        nanoseconds = Some(nanoseconds.unwrap_or(0.0) + spent);
    }
    Some(nanoseconds? / 1e9)
}

/// The most that a process had in memory, in MiB, as Linux says it.
fn memory_of(process: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = peak.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / 1024.0)
}

impl Rate {
    /// The medians of several measurements.
    fn of(mebibytes: u64, all: &[Spent]) -> Self {
        let megabytes = (mebibytes << 20) as f64 / 1e6;
        let of = |figure: fn(&Spent) -> Option<f64>| median(all.iter().filter_map(figure));
        Self {
            per_second: megabytes / of(|spent| Some(spent.wall)).unwrap_or(f64::INFINITY),
            per_second_of_cpu: of(|spent| spent.cpu).map(|cpu| megabytes / cpu),
            peak_mebibytes: of(|spent| spent.peak_mebibytes),
        }
    }
}

/// The rate of a program. `None` if it fails.
fn rate(
    mebibytes: u64,
    mut run: impl FnMut() -> Result<Option<Spent>, Failure>,
) -> Result<Option<Rate>, Failure> {
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        match run()? {
            Some(spent) => all.push(spent),
            None => return Ok(None),
        }
    }
    Ok(Some(Rate::of(mebibytes, &all)))
}
