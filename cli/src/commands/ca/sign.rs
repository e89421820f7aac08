use alloc::collections::BTreeMap;
use core::fmt;
use std::path::PathBuf;

use pq_ca::{Authority, Batch, LocalLedger, Order};
use pq_x509::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::issue::Terms;
use super::issued::{public_pem, serial_number};
use super::place::{Actor, Place};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Destination, Output, Source};
use crate::keys::SigningKey;
use crate::report::{self, Report, printable, rfc3339};

/// Issue certificates for requests
///
/// A request proves that who made it has the private key; whether the names are theirs is for you to
/// know. With many requests, those that are refused don't keep the others from being signed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with a request each (PKCS#10), in PEM or DER; "-" is standard input
    #[arg(required = true, value_name = "REQUEST")]
    requests: Vec<Source>,

    #[command(flatten)]
    terms: Terms,

    /// Where to write the certificate of one request [default: standard output]
    #[arg(long, short, value_name = "FILE", conflicts_with = "out_dir")]
    out: Option<Destination>,

    /// The folder to write certificates into, each named as its request, with ".pem"
    #[arg(long, value_name = "FOLDER")]
    out_dir: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Write the certificates alone, without the CAs between them and the root
    #[arg(long)]
    leaf_only: bool,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca sign server.csr --out signed.pem
  $ mkdir signed && pqtls ca sign *.csr --out-dir signed";

/// So many certificates are kept by the ledger at once, which waits for the disk once for them.
const AT_ONCE: usize = 512;

/// So many are written at once: no more than there may be files open everywhere.
const WRITTEN_AT_ONCE: usize = 32;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let jobs = jobs(arguments)?;
    let is_on_output = jobs.iter().any(|job| job.to == Destination::StandardOutput);
    if json && is_on_output {
        return Err(Failure::JsonBesideResult);
    }
    let signed = sign(arguments, &jobs)?;
    if !is_on_output {
        report::print(&signed, json)?;
    }
    signed.verdict()
}

/// Does the same and prints nothing.
pub(in crate::commands) fn run_quietly(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    sign(arguments, &jobs(arguments)?)?.verdict()
}

fn sign(arguments: &Arguments, jobs: &[Job<'_>]) -> Result<Signed, Failure> {
    files::check_all(jobs.iter().map(|job| &job.to), arguments.force)?;
    let folder = arguments.place.open()?;
    let shop = Shop {
        authority: folder.authority(folder.issuing_role())?,
        chain: match arguments.leaf_only {
            true => String::new(),
            false => Certificate::chain_to_pem(&folder.chain()?),
        },
        by: arguments.actor.name(),
        terms: arguments.terms,
        force: arguments.force,
    };
    let mut signed = Signed {
        requests: jobs.iter().map(Outcome::pending).collect(),
    };
    for (jobs, outcomes) in jobs
        .chunks(AT_ONCE)
        .zip(signed.requests.chunks_mut(AT_ONCE))
    {
        shop.serve(jobs, outcomes)?;
    }
    Ok(signed)
}

/// A request, and where its certificate goes.
struct Job<'a> {
    request: &'a Source,
    to: Destination,
}

fn jobs(arguments: &Arguments) -> Result<Vec<Job<'_>>, Failure> {
    let requests = &arguments.requests;
    let Some(folder) = &arguments.out_dir else {
        return match &**requests {
            [request] => Ok(vec![Job {
                request,
                to: arguments.out.clone().unwrap_or(Destination::StandardOutput),
            }]),
            many => Err(Failure::ManyRequests(many.len())),
        };
    };
    let mut named: BTreeMap<PathBuf, &Source> = BTreeMap::new();
    let mut jobs = Vec::with_capacity(requests.len());
    for request in requests {
        let stem = match request {
            Source::StandardInput => Some("stdin".as_ref()),
            Source::File(path) => path.file_stem(),
        };
        let mut path = folder.join(stem.unwrap_or_default());
        path.as_mut_os_string().push(".pem");
        if let Some(other) = named.insert(path.clone(), request) {
            return Err(Failure::SameName {
                one: other.to_string(),
                other: request.to_string(),
                file: path.display().to_string(),
            });
        }
        jobs.push(Job {
            request,
            to: Destination::File(path),
        });
    }
    Ok(jobs)
}

/// What all requests of a command line have in common.
struct Shop {
    authority: Authority<SigningKey, LocalLedger>,
    /// What stands behind each certificate.
    chain: String,
    by: String,
    terms: Terms,
    force: bool,
}

impl Shop {
    /// Signs some requests: the ledger keeps all of these at once, and each gets its file.
    fn serve(&self, jobs: &[Job<'_>], outcomes: &mut [Outcome]) -> Result<(), Failure> {
        let mut batch = self.authority.batch(&self.by, UnixTime::now());
        let mut made = Vec::with_capacity(jobs.len());
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match self.make(job, &mut batch) {
                Ok(()) => made.push((job, outcome)),
                Err(failure) => outcome.refused(failure),
            }
        }
        let mut certificates = Vec::with_capacity(made.len());
        for ((job, outcome), certificate) in made.into_iter().zip(batch.keep()?) {
            outcome.issued(&certificate);
            certificates.push((&job.to, certificate));
        }
        self.write(certificates)
    }

    fn make(
        &self,
        job: &Job<'_>,
        batch: &mut Batch<'_, SigningKey, LocalLedger>,
    ) -> Result<(), Failure> {
        let request = documents::verified_request(job.request)?;
        let order = Order::for_request(&request)?.with(|wanted| self.terms.apply(wanted));
        Ok(batch.add(&order)?)
    }

    fn write(&self, certificates: Vec<(&Destination, Certificate)>) -> Result<(), Failure> {
        let mut left = certificates.into_iter();
        while !left.as_slice().is_empty() {
            let some: Vec<_> = left.by_ref().take(WRITTEN_AT_ONCE).collect();
            let pems = some.iter();
            let pems = pems.map(|(to, certificate)| (*to, certificate.to_pem() + &self.chain));
            let pems: Vec<(&Destination, String)> = pems.collect();
            let outputs: Vec<Output<'_>> =
                pems.iter().map(|(to, pem)| public_pem(to, pem)).collect();
            files::write_copies(&outputs, self.force).map_err(|error| {
                let unwritten = some.iter().chain(left.as_slice());
                let issued = unwritten.filter_map(|(_, certificate)| serial_number(certificate));
                Failure::NotWritten {
                    issued: issued.collect(),
                    error,
                }
            })?;
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Signed {
    /// In the order of the command line.
    requests: Vec<Outcome>,
}

impl Signed {
    /// The refusal of one request is told as it is; those of many with the requests' names.
    fn verdict(mut self) -> Result<ExitStatus, Failure> {
        if let [only] = &mut *self.requests
            && let Some(failure) = only.failure.take()
        {
            return Err(failure);
        }
        let failures = self.requests.iter().filter_map(|one| one.failure.as_ref());
        let statuses = failures.map(Failure::status);
        let Some(status) = statuses.max_by_key(|status| *status == ExitStatus::Policy) else {
            return Ok(ExitStatus::Done);
        };
        let reasons: Vec<String> = self
            .requests
            .iter()
            .filter_map(Outcome::complaint)
            .collect();
        Err(Failure::RequestsRefused {
            refused: reasons.len(),
            count: self.requests.len(),
            reasons: reasons.join("\n"),
            status,
        })
    }
}

/// What became of a request.
#[derive(Debug, Serialize)]
struct Outcome {
    request: String,
    /// With the certificate; as all that follows, it is there if one was issued.
    file: Option<String>,
    serial_number: Option<String>,
    subject: Option<String>,
    not_after: Option<String>,
    /// Why none was issued.
    reason: Option<String>,
    #[serde(skip)]
    failure: Option<Failure>,
    #[serde(skip)]
    to: String,
}

impl Outcome {
    fn pending(job: &Job<'_>) -> Self {
        Self {
            request: job.request.to_string(),
            file: None,
            serial_number: None,
            subject: None,
            not_after: None,
            reason: None,
            failure: None,
            to: job.to.to_string(),
        }
    }

    fn issued(&mut self, certificate: &Certificate) {
        self.file = Some(self.to.clone());
        self.serial_number = serial_number(certificate).map(|number| number.to_string());
        self.subject = Some(printable(&certificate.describe_subject()));
        self.not_after = Some(rfc3339(certificate.not_after()));
    }

    fn refused(&mut self, failure: Failure) {
        self.reason = Some(failure.to_string());
        self.failure = Some(failure);
    }

    /// Why none was issued, with the request's name.
    fn complaint(&self) -> Option<String> {
        self.failure.as_ref().map(|failure| match failure {
            // It begins with the name.
            Failure::Document(error) => error.to_string(),
            other => format!("{}: {other}", self.request),
        })
    }
}

impl Report for Signed {
    const SCHEMA: &'static str = "ca-sign/1";
}

impl fmt::Display for Signed {
    /// Those that were issued; the others are complained of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.requests {
            if let Outcome {
                file: Some(file),
                serial_number: Some(number),
                subject: Some(subject),
                not_after: Some(not_after),
                ..
            } = outcome
            {
                writeln!(
                    f,
                    "{file}: {subject}, until {not_after}, serial number {number}"
                )?;
            }
        }
        Ok(())
    }
}
