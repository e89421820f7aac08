//! The command `pqtls ca sign`: certificates for many PKCS#10 requests at once. It reads and writes the files of a
//! [`Series`], and goes on after a request that is refused.

use alloc::collections::BTreeMap;
use core::{fmt, slice};
use std::path::PathBuf;

use pq_ca::authority::{Authority, Order};
use pq_ca::issuing::{Series, Terms};
use pq_ca::ledger::{Issued, SerialNumber};
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::request::VerifiedRequest;
use serde::Serialize;

use super::ca_key::CaKeyOptions;
use super::issue::TermsOptions;
use super::issued::public_pem;
use super::opened::AnyLedger;
use super::own_keys::OwnKeys;
use super::place::{Actor, Place};
use super::shortened::OwnEnd;
use crate::commands::custody::AnySigner;
use crate::documents::{DocumentError, Numbered, Requests};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Growing, OutputError, Source};
use crate::report::{self, Report, printable};

/// Issue certificates for requests
///
/// A request proves that whoever made it has the private key; it is up to you to check that the names are theirs.
/// A PEM file may have many requests. A request that is refused doesn't keep the others from being signed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with requests (PKCS#10), in PEM or DER; "-" is standard input
    #[arg(required = true, value_name = "REQUEST")]
    requests: Vec<Source>,

    #[command(flatten)]
    terms: TermsOptions,

    /// Where to write the certificates, in the order of the requests [default: standard output]
    #[arg(long, short, value_name = "FILE", conflicts_with = "out_dir")]
    out: Option<Destination>,

    /// The folder for the certificates: a file for each file of requests, with the same name and ".pem"
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Write the certificates alone, without the CAs between them and the root, which otherwise end each file
    #[arg(long)]
    leaf_only: bool,

    /// Show what would be issued, and why not; nothing is written, and the ledger stays as it is
    #[arg(long, conflicts_with_all = ["out", "out_dir", "force", "leaf_only"])]
    dry_run: bool,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca sign server.csr --dry-run
  $ pqtls ca sign server.csr --out signed.pem
  $ mkdir signed && pqtls ca sign *.csr --out-dir signed
  $ cat *.csr | pqtls ca sign - --out all.pem";

/// How many requests of a file are verified before the first of them is signed. The code that verifies
/// and the code that signs don't fit into the CPU's instruction cache together: alternating for each request
/// takes 2 % longer.
const VERIFIED_AT_ONCE: usize = 16;

/// Of how many refused requests the reasons are kept. The others are counted: whoever wrote the file chose how many
/// there are.
const KEPT_REFUSALS: usize = 1000;

/// How many files are written at once: no more than any system allows to be open.
const WRITTEN_AT_ONCE: usize = 32;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    if arguments.dry_run {
        let signed = try_to_sign(arguments)?;
        report::print(&signed, json)?;
        return signed.verdict();
    }
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
    files::check_all_public(jobs.iter().map(|job| &job.to), arguments.force)?;
    let folder = arguments.place.open()?;
    let role = folder.issuing_role()?;
    let authority = arguments.ca_key.authority_to_issue(&folder, role)?;
    let shop = Shop {
        own_end: OwnEnd::of(&authority, &folder, &arguments.place)?,
        authority,
        own_keys: OwnKeys::of(&folder, role)?,
        chain: match arguments.leaf_only {
            true => String::new(),
            false => Certificate::chain_to_pem(&folder.chain()?),
        },
        by: arguments.actor.name(),
        terms: arguments.terms.into(),
        force: arguments.force,
    };
    let mut work = Work::begin(&shop);
    let mut served = jobs.iter().try_for_each(|job| work.serve(job));
    served = served.and_then(|()| work.keep());
    shop.own_end.warn(work.shortened);
    // Whatever else failed, what was issued gets its files.
    let written = work.write(true);
    let issued = work.outcomes.iter().filter_map(|one| one.number_issued);
    match (served, issued.collect::<Vec<_>>()) {
        (Err(failure), issued) if !issued.is_empty() => {
            return Err(Failure::StoppedAfter {
                issued,
                failure: failure.into(),
            });
        }
        (served, _) => served.and(written)?,
    }
    Ok(Signed {
        dry_run: false,
        requests: work.outcomes,
        further: work.refusals.further,
    })
}

/// Does everything up to recording and writing.
fn try_to_sign(arguments: &Arguments) -> Result<Signed, Failure> {
    let folder = arguments.place.open()?;
    let role = folder.issuing_role()?;
    let authority = arguments.ca_key.authority_to_issue(&folder, role)?;
    let own_keys = OwnKeys::of(&folder, role)?;
    let own_end = OwnEnd::of(&authority, &folder, &arguments.place)?;
    let mut shortened = 0;
    let (by, terms) = (arguments.actor.name(), Terms::from(arguments.terms));
    let mut refusals = Refusals::default();
    let mut outcomes = Vec::new();
    for source in &arguments.requests {
        let to = Destination::StandardOutput;
        let requests = match Requests::open(source) {
            Ok(requests) => requests,
            Err(error) => {
                let outcome = Outcome::pending(source, None, &to);
                refusals.refuse(&mut outcomes, outcome, error.into());
                continue;
            }
        };
        for Numbered { number, request } in requests {
            let mut outcome = Outcome::pending(source, number, &to);
            let made = request.map_err(Failure::from).and_then(|request| {
                let order = order_of(&request, &own_keys)?;
                let order = order.with(|wanted| terms.apply(wanted));
                let prepared = authority.prepare(&order, &by, UnixTime::now())?;
                prepared.check()?;
                let issued = &prepared.entry().issued;
                outcome.says(issued);
                if terms.validity.is_none() && own_end.shortens(issued) {
                    shortened += 1;
                }
                Ok(())
            });
            match made {
                Ok(()) => outcomes.push(outcome),
                Err(failure) => refusals.refuse(&mut outcomes, outcome, failure),
            }
        }
    }
    own_end.warn(shortened);
    Ok(Signed {
        dry_run: true,
        requests: outcomes,
        further: refusals.further,
    })
}

/// What an end entity asks for. Whoever asks for the certificate of a CA would get one that is of no use to it.
fn order_of<'r>(request: &'r VerifiedRequest, own_keys: &OwnKeys) -> Result<Order<'r>, Failure> {
    if request.asks_for_ca() {
        return Err(Failure::AsksForCa);
    }
    own_keys.refuse(request)?;
    Ok(Order::for_request(request)?)
}

impl Arguments {
    /// Where the certificates go.
    pub(super) fn destinations(&self) -> Result<Vec<Destination>, Failure> {
        Ok(jobs(self)?.into_iter().map(|job| job.to).collect())
    }
}

/// Files with requests, and the file that their certificates go to.
struct Job<'a> {
    requests: &'a [Source],
    to: Destination,
}

fn jobs(arguments: &Arguments) -> Result<Vec<Job<'_>>, Failure> {
    let requests = &arguments.requests;
    let Some(folder) = &arguments.out_dir else {
        return Ok(vec![Job {
            requests,
            to: arguments.out.clone().unwrap_or(Destination::StandardOutput),
        }]);
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
            requests: slice::from_ref(request),
            to: Destination::File(path),
        });
    }
    Ok(jobs)
}

/// What all requests of a command line share.
struct Shop {
    authority: Authority<AnySigner, AnyLedger>,
    own_keys: OwnKeys,
    own_end: OwnEnd,
    /// What follows the certificates in a file.
    chain: String,
    by: String,
    terms: Terms,
    force: bool,
}

/// Work in progress: the ledger records several certificates at once, and then they go to their files.
struct Work<'a> {
    shop: &'a Shop,
    /// The ticket of each is where its certificate belongs.
    series: Series<'a, AnySigner, AnyLedger, Made>,
    /// Files that are not written yet. The last one may still grow.
    files: Vec<Unwritten<'a>>,
    outcomes: Vec<Outcome>,
    refusals: Refusals,
    /// How many certificates end earlier than the policy says.
    shortened: usize,
}

/// How many requests were refused.
#[derive(Default)]
struct Refusals {
    kept: usize,
    further: Further,
}

impl Refusals {
    fn refuse(&mut self, outcomes: &mut Vec<Outcome>, outcome: Outcome, failure: Failure) {
        let Self { kept, further } = self;
        if *kept < KEPT_REFUSALS {
            *kept += 1;
            outcomes.push(outcome.refused(failure));
        } else {
            further.count += 1;
            further.is_by_policy |= failure.status() == ExitStatus::Policy;
        }
    }
}

/// The refusals beyond those that are kept.
#[derive(Debug, Default)]
struct Further {
    count: usize,
    /// Whether the policy refused one of them.
    is_by_policy: bool,
}

/// Places in the lists of [`Work`].
struct Made {
    outcome: usize,
    file: usize,
}

/// Certificates of a file; the ledger already has them.
struct Unwritten<'a> {
    to: &'a Destination,
    /// The part that is already written, of a file with many certificates.
    begun: Option<Growing<'a>>,
    /// What is to be written after that.
    pem: String,
    issued: Vec<SerialNumber>,
}

impl<'a> Work<'a> {
    fn begin(shop: &'a Shop) -> Self {
        Self {
            shop,
            series: Series::new(&shop.authority, &shop.by, UnixTime::now),
            files: Vec::new(),
            outcomes: Vec::new(),
            refusals: Refusals::default(),
            shortened: 0,
        }
    }

    fn refuse(&mut self, outcome: Outcome, failure: Failure) {
        self.refusals.refuse(&mut self.outcomes, outcome, failure);
    }

    /// Signs the requests of some files.
    fn serve(&mut self, job: &'a Job<'_>) -> Result<(), Failure> {
        self.files.push(Unwritten::of(&job.to));
        for source in job.requests {
            match Requests::open(source) {
                Ok(mut requests) => loop {
                    let verified: Vec<_> = requests.by_ref().take(VERIFIED_AT_ONCE).collect();
                    if verified.is_empty() {
                        break;
                    }
                    for Numbered { number, request } in verified {
                        self.sign(request, Outcome::pending(source, number, &job.to))?;
                    }
                },
                Err(error) => {
                    let outcome = Outcome::pending(source, None, &job.to);
                    self.refuse(outcome, error.into());
                }
            }
        }
        Ok(())
    }

    fn sign(
        &mut self,
        request: Result<VerifiedRequest, DocumentError>,
        outcome: Outcome,
    ) -> Result<(), Failure> {
        let place = Made {
            outcome: self.outcomes.len(),
            file: self.files.len() - 1,
        };
        let made = request.map_err(Failure::from).and_then(|request| {
            let order = order_of(&request, &self.shop.own_keys)?;
            let order = order.with(|wanted| self.shop.terms.apply(wanted));
            Ok(self.series.add(&order, place)?)
        });
        if let Err(failure) = made {
            self.refuse(outcome, failure);
            return Ok(());
        }
        self.outcomes.push(outcome);
        match self.series.is_full() {
            false => Ok(()),
            true => {
                self.keep()?;
                self.write(false)
            }
        }
    }

    /// Has the ledger record what was signed.
    fn keep(&mut self) -> Result<(), Failure> {
        for answer in self.series.record()? {
            let made = answer.ticket;
            let outcome = &mut self.outcomes[made.outcome];
            let entry = match answer.outcome {
                Ok(entry) => entry,
                Err(error) => {
                    outcome.refuse(error.into());
                    continue;
                }
            };
            outcome.issued(&entry.issued);
            if self.shop.terms.validity.is_none() && self.shop.own_end.shortens(&entry.issued) {
                self.shortened += 1;
            }
            let file = &mut self.files[made.file];
            file.issued.push(entry.issued.serial_number);
            entry.append_pem(&mut file.pem);
        }
        Ok(())
    }

    /// Writes what the ledger has. The last file may still grow, unless this is the end.
    fn write(&mut self, is_end: bool) -> Result<(), Failure> {
        let written = self.write_files(is_end);
        written.map_err(|error| Failure::NotWritten {
            issued: self.files.drain(..).flat_map(|file| file.issued).collect(),
            error,
        })
    }

    fn write_files(&mut self, is_end: bool) -> Result<(), OutputError> {
        let Shop { chain, force, .. } = self.shop;
        let count = self.files.len() - usize::from(!is_end);
        let (complete, open) = self.files.split_at_mut(count);
        complete.iter_mut().for_each(|file| file.end(chain));
        let (begun, mut whole): (Vec<_>, Vec<_>) =
            complete.iter_mut().partition(|file| file.begun.is_some());
        for file in begun {
            file.complete(*force)?;
        }
        for some in whole.chunks_mut(WRITTEN_AT_ONCE) {
            let outputs = some.iter().filter(|file| !file.issued.is_empty());
            let outputs = outputs.map(|file| public_pem(file.to, &file.pem));
            files::write_copies(&outputs.collect::<Vec<_>>(), *force)?;
            some.iter_mut().for_each(|file| file.issued.clear());
        }
        for file in open {
            file.grow(*force)?;
        }
        self.files.drain(..count);
        Ok(())
    }
}

impl<'a> Unwritten<'a> {
    fn of(to: &'a Destination) -> Self {
        Self {
            to,
            begun: None,
            pem: String::new(),
            issued: Vec::new(),
        }
    }

    /// Appends the CAs to the certificates.
    fn end(&mut self, chain: &str) {
        if !self.issued.is_empty() {
            self.pem.push_str(chain);
        }
    }

    /// Writes what there is so far.
    fn grow(&mut self, force: bool) -> Result<(), OutputError> {
        if !self.pem.is_empty() {
            let begun = match self.begun.take() {
                Some(begun) => begun,
                None => Growing::begin_copy(self.to, Access::Public, force)?,
            };
            self.begun.insert(begun).append(self.pem.as_bytes())?;
            self.pem.clear();
        }
        Ok(())
    }

    fn complete(&mut self, force: bool) -> Result<(), OutputError> {
        self.grow(force)?;
        self.begun.take().map_or(Ok(()), Growing::commit_copy)?;
        self.issued.clear();
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Signed {
    /// Whether nothing was issued, because it was only to be shown.
    dry_run: bool,
    /// In the order of the command line.
    requests: Vec<Outcome>,
    #[serde(skip)]
    further: Further,
}

impl Signed {
    /// The refusal of a single request is returned as it is; with several requests, each refusal names its own.
    fn verdict(mut self) -> Result<ExitStatus, Failure> {
        if let [only] = &mut *self.requests
            && let Some(failure) = only.failure.take()
        {
            return Err(failure);
        }
        let failures = self.requests.iter().filter_map(|one| one.failure.as_ref());
        let further = self.further.is_by_policy.then_some(ExitStatus::Policy);
        let statuses = failures.map(Failure::status).chain(further);
        let Some(status) = statuses.max_by_key(|status| *status == ExitStatus::Policy) else {
            return Ok(ExitStatus::Done);
        };
        let complaints = self.requests.iter().filter_map(Outcome::complaint);
        let mut reasons: Vec<String> = complaints.collect();
        let Further { count: further, .. } = self.further;
        let refused = reasons.len() + further;
        if further > 0 {
            reasons.push(format!(
                "and {further} others, whose reasons are not kept; sign fewer requests at once to see them"
            ));
        }
        Err(Failure::RequestsRefused {
            dry_run: self.dry_run,
            refused,
            count: self.requests.len() + further,
            reasons: reasons.join("\n"),
            status,
        })
    }
}

/// What became of a request.
#[derive(Debug, Serialize)]
struct Outcome {
    request: String,
    /// Which request of the file, from 1 on, if there are several.
    number: Option<usize>,
    /// The certificate's file. This and the next field are set if a certificate was issued.
    file: Option<String>,
    serial_number: Option<String>,
    /// This and the next fields are set if a certificate was issued, or would be.
    subject: Option<String>,
    names: Option<Vec<String>>,
    not_before: Option<String>,
    not_after: Option<String>,
    profile: Option<String>,
    key_algorithm: Option<String>,
    /// Why none was issued.
    reason: Option<String>,
    #[serde(skip)]
    number_issued: Option<SerialNumber>,
    #[serde(skip)]
    failure: Option<Failure>,
    #[serde(skip)]
    to: String,
}

impl Outcome {
    fn pending(request: &Source, number: Option<usize>, to: &Destination) -> Self {
        Self {
            request: request.to_string(),
            number,
            file: None,
            serial_number: None,
            subject: None,
            names: None,
            not_before: None,
            not_after: None,
            profile: None,
            key_algorithm: None,
            reason: None,
            number_issued: None,
            failure: None,
            to: to.to_string(),
        }
    }

    fn issued(&mut self, issued: &Issued) {
        self.number_issued = Some(issued.serial_number);
        self.file = Some(self.to.clone());
        self.serial_number = Some(issued.serial_number.to_string());
        self.says(issued);
    }

    /// What the certificate says.
    fn says(&mut self, issued: &Issued) {
        self.subject = Some(printable(&issued.subject));
        self.names = Some(issued.names.iter().map(|name| printable(name)).collect());
        self.not_before = Some(rfc3339(issued.not_before));
        self.not_after = Some(rfc3339(issued.not_after));
        self.profile = Some(issued.profile.clone());
        self.key_algorithm = Some(issued.key_algorithm.clone());
    }

    /// What would be issued.
    fn write_plan(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(subject) = &self.subject else {
            return Ok(());
        };
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        match self.number {
            Some(number) => writeln!(f, "request {number} of {}: would be issued", self.request)?,
            None => writeln!(f, "{}: would be issued", self.request)?,
        }
        writeln!(f, "  subject  {subject}")?;
        let names = self.names.as_deref().unwrap_or_default();
        writeln!(f, "  names    {}", names.join(", "))?;
        let (from, until) = (text(&self.not_before), text(&self.not_after));
        writeln!(f, "  valid    from {from} until {until}")?;
        writeln!(f, "  profile  {}", text(&self.profile))?;
        writeln!(f, "  key      {}", text(&self.key_algorithm))
    }

    fn refused(mut self, failure: Failure) -> Self {
        self.refuse(failure);
        self
    }

    fn refuse(&mut self, failure: Failure) {
        self.reason = Some(failure.to_string());
        self.failure = Some(failure);
    }

    /// Why none was issued, with the request's name.
    fn complaint(&self) -> Option<String> {
        self.failure.as_ref().map(|failure| {
            let number = self.number.map(|number| format!("request {number} of "));
            let number = number.unwrap_or_default();
            match failure {
                // It begins with the name.
                Failure::Document(error) => format!("{number}{error}"),
                other => format!("{number}{}: {other}", self.request),
            }
        })
    }
}

impl Report for Signed {
    const SCHEMA: &'static str = "ca-sign/1";
}

impl fmt::Display for Signed {
    /// Shows the issued certificates; errors tell of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.requests {
            if self.dry_run {
                outcome.write_plan(f)?;
            } else if let Outcome {
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
