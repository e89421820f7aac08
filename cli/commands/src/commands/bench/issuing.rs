//! Measures `pqtls ca sign` on a temporary CA, beside what its signatures and its files cost alone, and beside a loop
//! of `openssl x509 -req`.

use core::hint::black_box;
use core::time::Duration;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use pq_keys::{KeyError, SignatureAlgorithm, SigningKey, VerifyingKey};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::x509_cert::der::Encode;
use serde::Serialize;

use super::backends::{self, Backend};
use super::machine::file_system;
use super::measure::{self, Call, cant_make, median};
use super::openssl::Openssl;
use crate::commands::ca::{init, sign};
use crate::documents::{self, DocumentError};
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Growing, Output, Source, TemporaryFolder};

/// The algorithm of the CA's keys and of the requests'.
pub(super) const ALGORITHM: SignatureAlgorithm = SignatureAlgorithm::MlDsa65;

/// The row's name, for filters.
pub(super) fn name() -> String {
    format!("{ALGORITHM} issuing")
}

/// How many certificates a CA issues from requests, files to files, in one process.
#[derive(Debug, Serialize)]
pub(super) struct Issuing {
    pub(super) algorithm: &'static str,
    /// Where the files were, such as `tmpfs`.
    pub(super) file_system: Option<String>,
    /// How many requests a command line had.
    pub(super) requests: usize,
    /// How many command lines were run; the figures are the medians.
    pub(super) rounds: usize,
    /// On each backend, the best first.
    pub(super) backends: Vec<OnBackend>,
    pub(super) openssl: Option<OpensslLoop>,
}

/// Certificates a second.
#[derive(Debug, Serialize)]
pub(super) struct OnBackend {
    pub(super) name: &'static str,
    /// If each took only verifying the request and signing the certificate.
    pub(super) primitives_per_second: f64,
    /// With all requests in one file, and all certificates in one.
    pub(super) one_file: Rates,
    /// With a file for each.
    pub(super) many_files: Rates,
}

/// Certificates a second.
#[derive(Debug, Serialize)]
pub(super) struct Rates {
    /// By the clock.
    pub(super) per_second: f64,
    /// In a second of CPU time.
    pub(super) per_second_of_cpu: Option<f64>,
    /// If each took only the primitives, and reading and writing the files.
    pub(super) with_files_per_second: f64,
    /// The rate of issuing in percent of the rate of the primitives.
    pub(super) percent: f64,
    /// The same by CPU time.
    pub(super) percent_of_cpu: Option<f64>,
}

/// `openssl x509 -req` for one request after the other.
#[derive(Debug, Serialize)]
pub(super) struct OpensslLoop {
    pub(super) requests: usize,
    pub(super) per_second: f64,
    /// pqtls's rate with a file for each, on the best backend, divided by this rate.
    pub(super) times: f64,
}

/// Measures it in a folder that is made in `above`, and removed.
pub(super) fn measure(
    above: &Path,
    time: Duration,
    backends: &[Backend],
    openssl: Option<&Openssl>,
) -> Result<Issuing, Failure> {
    let mut workshop = Workshop::new(above, requests_in(time))?;
    let mut primitives = workshop.primitives()?;
    let mut rounds: Vec<Vec<Round>> = backends.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (backend, rounds) in backends.iter().zip(&mut rounds) {
            backend.choose();
            rounds.push(Round {
                primitives: mean(&mut primitives, time / ROUNDS as u32)?,
                one_file: Turn {
                    files: workshop.copy_one()?,
                    issuing: workshop.sign_one()?,
                },
                many_files: Turn {
                    files: workshop.copy()?,
                    issuing: workshop.sign()?,
                },
            });
        }
    }
    backends::choose_best();
    let of_backends = backends.iter().zip(&rounds);
    let on_backends: Vec<OnBackend> = of_backends
        .map(|(backend, rounds)| OnBackend::new(backend.name, rounds))
        .collect();
    let best = on_backends.first().map(|best| best.many_files.per_second);
    let by_openssl = match openssl {
        Some(openssl) => workshop.sign_by(openssl, time)?,
        None => None,
    };
    Ok(Issuing {
        algorithm: ALGORITHM.name(),
        file_system: file_system(workshop.folder.path()),
        requests: workshop.requests.len(),
        rounds: ROUNDS,
        backends: on_backends,
        openssl: by_openssl
            .zip(best)
            .map(|((requests, rate), best)| OpensslLoop {
                requests,
                per_second: rate,
                times: best / rate,
            }),
    })
}

const ROUNDS: usize = 3;

/// How many requests take about as long as a row may take.
fn requests_in(time: Duration) -> usize {
    const A_SECOND: f64 = 4096.0;
    ((time.as_secs_f64() * A_SECOND) as usize).clamp(16, 16 * 1024)
}

/// How long something took for each certificate.
#[derive(Clone, Copy, Debug)]
struct Spent {
    /// By the clock, in seconds.
    wall: f64,
    /// By CPU time, in seconds.
    cpu: Option<f64>,
}

impl Spent {
    /// Measures `act`, which returns for how many certificates it was.
    fn by(act: impl FnOnce() -> Result<usize, Failure>) -> Result<Self, Failure> {
        let (count, wall, cpu) = measure::spent(act)?;
        let count = count as f64;
        Ok(Self {
            wall: wall / count,
            cpu: cpu.map(|cpu| cpu / count),
        })
    }
}

/// What one turn of a backend took.
struct Round {
    primitives: Spent,
    one_file: Turn,
    many_files: Turn,
}

/// What the files alone took, and what issuing took.
struct Turn {
    files: Spent,
    issuing: Spent,
}

impl OnBackend {
    fn new(name: &'static str, rounds: &[Round]) -> Self {
        let primitives = rounds.iter().map(|round| 1.0 / round.primitives.wall);
        Self {
            name,
            primitives_per_second: median(primitives).unwrap_or_default(),
            one_file: Rates::new(rounds, |round| &round.one_file),
            many_files: Rates::new(rounds, |round| &round.many_files),
        }
    }
}

impl Rates {
    fn new(rounds: &[Round], turn: fn(&Round) -> &Turn) -> Self {
        let spent = |round: &Round| (round.primitives, turn(round).files, turn(round).issuing);
        let of_each = |figure: fn((Spent, Spent, Spent)) -> Option<f64>| {
            median(rounds.iter().filter_map(|round| figure(spent(round))))
        };
        let known = |figure| of_each(figure).unwrap_or_default();
        Self {
            per_second: known(|(_, _, issuing)| Some(1.0 / issuing.wall)),
            per_second_of_cpu: of_each(|(_, _, issuing)| Some(1.0 / issuing.cpu?)),
            with_files_per_second: known(|(primitives, files, _)| {
                Some(1.0 / (primitives.wall + files.wall))
            }),
            percent: known(|(primitives, _, issuing)| Some(100.0 * primitives.wall / issuing.wall)),
            percent_of_cpu: of_each(|(primitives, _, issuing)| {
                Some(100.0 * primitives.cpu? / issuing.cpu?)
            }),
        }
    }
}

/// How long it takes to do each of these once.
fn mean(calls: &mut [Call], time: Duration) -> Result<Spent, Failure> {
    let mut once = || calls.iter_mut().try_for_each(|call| call());
    once()?;
    Spent::by(|| {
        let start = Instant::now();
        let mut count = 0;
        while count == 0 || start.elapsed() < time {
            once()?;
            count += 1;
        }
        Ok(count)
    })
}

/// A CA and requests, in a temporary folder.
struct Workshop {
    folder: TemporaryFolder,
    requests: Vec<PathBuf>,
    /// With all of them.
    one_file: PathBuf,
    /// What is in a file with a certificate.
    certificate: Vec<u8>,
    /// How many folders were made.
    folders: usize,
}

impl Workshop {
    fn new(above: &Path, count: usize) -> Result<Self, Failure> {
        let folder = TemporaryFolder::new(above, "pqtls-bench-").map_err(cant_make(above))?;
        let options = [
            "--name",
            "Benchmark",
            "--algorithm",
            ALGORITHM.name(),
            "--dir",
        ];
        let options = options.map(OsString::from).into_iter();
        let ca = folder.path().join(CA).into();
        init::run_quietly(&command_line(options.chain([ca])))?;

        let place = folder.path().join("requests");
        fs::create_dir(&place).map_err(cant_make(&place))?;
        let one_file = folder.path().join("requests.csr");
        let mut all = String::new();
        let mut requests = Vec::with_capacity(count);
        for number in 0..count {
            // Each has its own key, as real requests do: a repeated key is kept expanded, and verifies in a
            // quarter of the time.
            let key = SigningKey::generate(ALGORITHM)?;
            let request = request(number, &key)?.to_pem();
            let file = place.join(format!("host-{number}.csr"));
            fs::write(&file, &request).map_err(cant_make(&file))?;
            requests.push(file);
            all.push_str(&request);
        }
        fs::write(&one_file, all).map_err(cant_make(&one_file))?;
        Ok(Self {
            folder,
            requests,
            one_file,
            certificate: Vec::new(),
            folders: 0,
        })
    }

    fn ca(&self) -> PathBuf {
        self.folder.path().join(CA)
    }

    fn new_folder(&mut self) -> Result<PathBuf, Failure> {
        self.folders += 1;
        let folder = self.folder.path().join(format!("out-{}", self.folders));
        fs::create_dir(&folder).map_err(cant_make(&folder))?;
        Ok(folder)
    }

    /// What every certificate needs: signing its contents, and verifying the contents of a request with the
    /// key in it. Both are this CA's.
    fn primitives(&mut self) -> Result<[Call; 2], Failure> {
        let out = self.new_folder()?;
        self.sign_into(&out, 1)?;
        let certificate = Source::File(out.join("host-0.pem"));
        self.certificate = certificate
            .read(MOST)
            .map_err(DocumentError::from)?
            .to_vec();
        let certificate = documents::first_certificate(&certificate)?;
        let certified = certificate.parsed().tbs_certificate().to_der();
        let certified = certified.map_err(KeyError::from)?;

        let key = SigningKey::generate(ALGORITHM)?;
        let requested = request(0, &key)?.parsed().info.to_der();
        let requested = requested.map_err(KeyError::from)?;
        let public = key.verifying_key().as_bytes().to_vec();
        let signature = key.sign(&requested)?;
        Ok([
            Box::new(move || {
                black_box(key.sign(black_box(&certified))?);
                Ok(())
            }),
            Box::new(move || {
                let key = VerifyingKey::from_bytes(ALGORITHM, black_box(&public))?;
                Ok(key.verify(black_box(&requested), black_box(&signature))?)
            }),
        ])
    }

    /// Reads all requests and writes as many files, in the way of `pqtls ca sign` and as long as its files.
    fn copy(&mut self) -> Result<Spent, Failure> {
        let out = self.new_folder()?;
        Spent::by(|| {
            for (number, requests) in self.requests.chunks(128).enumerate() {
                for request in requests {
                    let request = Source::File(request.clone()).read(MOST);
                    black_box(request.map_err(DocumentError::from)?);
                }
                let file = |at| Destination::File(out.join(format!("{number}-{at}.pem")));
                let files: Vec<Destination> = (0..requests.len()).map(file).collect();
                let outputs = files.iter().map(|to| Output {
                    to,
                    content: &self.certificate,
                    access: Access::Public,
                    is_binary: false,
                });
                files::write_copies(&outputs.collect::<Vec<_>>(), false)?;
            }
            Ok(self.requests.len())
        })
    }

    /// Reads the one file of requests and writes one file, in the way of `pqtls ca sign` and as long as its
    /// file.
    fn copy_one(&mut self) -> Result<Spent, Failure> {
        let to = Destination::File(self.new_folder()?.join("all.pem"));
        // The CA's own certificate follows only the last one.
        let certificate = &self.certificate[..self.certificate.len() / 2];
        Spent::by(|| {
            let mut requests = Source::File(self.one_file.clone())
                .pieces([b"-----END ", b"-----"], MOST)
                .map_err(DocumentError::from)?;
            let mut all = Growing::begin(&to, Access::Public, false)?;
            let mut count = 0;
            while let Some(request) = requests.next().map_err(DocumentError::from)? {
                black_box(request);
                all.append(certificate)?;
                count += 1;
            }
            all.commit_copy()?;
            Ok(count)
        })
    }

    /// Lets `pqtls ca sign` issue for all requests of the one file.
    fn sign_one(&mut self) -> Result<Spent, Failure> {
        let out = self.new_folder()?.join("all.pem");
        let words = [
            "--dir".into(),
            self.ca(),
            "--out".into(),
            out,
            self.one_file.clone(),
        ];
        self.sign_by_words(words.into_iter().map(OsString::from), self.requests.len())
    }

    /// Lets `pqtls ca sign` issue for all requests.
    fn sign(&mut self) -> Result<Spent, Failure> {
        let out = self.new_folder()?;
        self.sign_into(&out, self.requests.len())
    }

    fn sign_into(&self, out: &Path, count: usize) -> Result<Spent, Failure> {
        let options = ["--dir".into(), self.ca(), "--out-dir".into(), out.into()];
        let words = options.iter().chain(&self.requests[..count]);
        self.sign_by_words(words.map(OsString::from), count)
    }

    fn sign_by_words(
        &self,
        words: impl Iterator<Item = OsString>,
        count: usize,
    ) -> Result<Spent, Failure> {
        let arguments = command_line(words);
        Spent::by(|| {
            sign::run_quietly(&arguments)?;
            Ok(count)
        })
    }

    /// Lets OpenSSL issue for some of the requests, for about as long as a row may take.
    fn sign_by(
        &mut self,
        openssl: &Openssl,
        time: Duration,
    ) -> Result<Option<(usize, f64)>, Failure> {
        /// It takes some milliseconds for each.
        const A_SECOND: f64 = 100.0;
        let out = self.new_folder()?;
        let count = (time.as_secs_f64() * A_SECOND) as usize;
        let requests = &self.requests[..count.clamp(4, self.requests.len())];
        let rate = openssl.issue(requests, &self.ca(), &out)?;
        Ok(rate.map(|rate| (requests.len(), rate)))
    }
}

fn request(number: usize, key: &SigningKey) -> Result<CertificateRequest, RequestError> {
    let name = format!("host-{number}.example.org");
    CertificateRequest::builder().dns_name(name).sign(key)
}

/// No file of the workshop has more bytes.
const MOST: usize = 1024 * 1024;

/// The name of the CA's folder.
const CA: &str = "ca";

/// The arguments of a command with these words, so that options that are left out have their defaults.
fn command_line<A: clap::Args>(words: impl Iterator<Item = OsString>) -> A {
    #[derive(Parser)]
    struct Line<A: clap::Args> {
        #[command(flatten)]
        arguments: A,
    }

    let name = OsString::from("pqtls");
    let line = Line::try_parse_from([name].into_iter().chain(words));
    line.expect("these are options of the command").arguments
}
