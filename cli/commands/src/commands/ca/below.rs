//! New CAs below others: `pqtls ca init` with `--under`, for a CA whose folder is at hand, or with `--request`, for one
//! that is elsewhere.

use core::fmt;
use core::time::Duration;
use std::path::{Path, PathBuf};

use pq_ca::authority::Authority;
use pq_ca::folder::{Folder, FolderError, Interruption, Role, SubordinatePlan};
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use serde::Serialize;

use super::ca_key::{CaKeyOptions, Keeping, NewCaKey};
use super::issued::public_pem;
use super::opened::{self, AnyLedger};
use super::place::Place;
use crate::commands::custody::AnySigner;
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Destination;
use crate::report::{Report, printable};
use crate::shell::command_line;

/// Who certifies a new key.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Above {
    /// Have the root of the CA in this folder certify the key, and record that in its ledger
    #[arg(long, value_name = "DIR", conflicts_with = "request")]
    pub(super) under: Option<PathBuf>,

    /// Have another CA certify the key: write a request for that to FILE, and wait for "pqtls ca install"
    #[arg(long, value_name = "FILE")]
    pub(super) request: Option<Destination>,

    /// Have the CA of --under certify the key also if it has this CA on hold, or withdrew its certificate
    #[arg(long, requires = "under")]
    despite_revocation: bool,

    #[command(flatten)]
    pub(super) ca_key: CaKeyOptions,
}

/// The CA above: the authority of its root's key, and the certificate that clients trust.
pub(super) struct Parent {
    folder: PathBuf,
    pub(super) authority: Authority<AnySigner, AnyLedger>,
    pub(super) root: Certificate,
}

impl Above {
    /// Refuses the passphrase of a key that is not used: with `--request`, and for a new CA without `--under`.
    pub(super) fn check_passphrase(&self, is_new_ca: bool) -> Result<(), Failure> {
        let is_used = match is_new_ca {
            true => self.under.is_some(),
            false => self.request.is_none(),
        };
        match self.ca_key.is_given() && !is_used {
            true => Err(Failure::NoCaKeyToOpen),
            false => Ok(()),
        }
    }

    /// Refuses the time of a certificate about which another CA decides.
    pub(super) fn check_validity(&self, validity: Option<Duration>) -> Result<(), Failure> {
        match self.request.is_some() && validity.is_some() {
            true => Err(Failure::ValidityOfRequest),
            false => Ok(()),
        }
    }

    /// The CA in the folder of `--under`.
    pub(super) fn parent(&self, folder: &PathBuf) -> Result<Parent, Failure> {
        let opened = opened::open(folder).map_err(|failure| match failure {
            Failure::Folder(FolderError::NoCa(path)) => {
                Failure::NoCaAbove(path.display().to_string())
            }
            failure => at_above(folder, failure),
        })?;
        let authority = self.ca_key.authority(&opened, Role::Root);
        let authority = authority.map_err(|failure| at_above(folder, failure));
        let root = opened.certificate(Role::Root).map_err(Failure::from);
        Ok(Parent {
            folder: folder.clone(),
            authority: match self.despite_revocation {
                true => authority?.despite_revocations(),
                false => authority?,
            },
            root: root.map_err(|failure| at_above(folder, failure))?,
        })
    }
}

impl Parent {
    /// Makes a CA below this one.
    pub(super) fn create(
        &self,
        path: PathBuf,
        plan: &SubordinatePlan<NewCaKey>,
        by: &str,
        now: UnixTime,
        interruption: &Interruption,
    ) -> Result<Folder, Failure> {
        let above = (&[][..], &self.root);
        let made = Folder::create_below(path, plan, &self.authority, above, by, now, interruption);
        made.map_err(|error| match error {
            FolderError::NameTaken(name) => Failure::NameOfAnotherCa(name),
            error => self.failure(error),
        })
    }

    /// What failed; what the CA above refused is about that CA.
    pub(super) fn failure(&self, error: FolderError) -> Failure {
        match error {
            FolderError::Above(cause) => at_above(&self.folder, (*cause).into()),
            // What its text advises is to be done there, too.
            error @ FolderError::LackedAbove { .. } => at_above(&self.folder, error.into()),
            error => error.into(),
        }
    }
}

/// A failure of the CA above, whose root's key was to be used. Command lines that its text advises are for that CA.
fn at_above(folder: &Path, failure: Failure) -> Failure {
    Failure::AtCa {
        failure: failure.into(),
        options: format!(" {}", command_line(["--dir", &folder.to_string_lossy()])),
        of_root: true,
    }
}

#[derive(Debug, Serialize)]
pub(super) struct NewRequest {
    /// The CA's folder.
    folder: String,
    /// The key's name in the ledger.
    name: String,
    subject: String,
    /// The file of the request.
    file: String,
    #[serde(flatten)]
    keeping: Keeping,
}

impl NewRequest {
    pub(super) fn of(
        request: &CertificateRequest,
        folder: &Path,
        role: Role,
        keeping: Keeping,
    ) -> Self {
        Self {
            folder: folder.display().to_string(),
            name: role.name().into(),
            subject: printable(&request.parsed().info.subject.to_string()),
            file: String::new(),
            keeping,
        }
    }

    /// Writes the request, and says what to do with it.
    pub(super) fn deliver(
        mut self,
        to: &Destination,
        request: &CertificateRequest,
        place: &Place,
        json: bool,
    ) -> Result<ExitStatus, Failure> {
        self.file = to.to_string();
        let pem = request.to_pem();
        let delivery = Delivery::to(&[to], false, json)?;
        delivery.deliver(&[public_pem(to, &pem)], &place.about(self))
    }
}

impl Report for NewRequest {
    const SCHEMA: &'static str = "ca-request/1";
}

impl fmt::Display for NewRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            folder,
            name,
            subject,
            file,
            keeping,
        } = self;
        writeln!(
            f,
            "{file}: a request by {subject}, for the key \"{name}\" of {folder}"
        )?;
        writeln!(f, "  key       {}", keeping.in_words("it"))?;
        writeln!(f, "What to do next:")?;
        writeln!(
            f,
            "  have {file} signed as a CA (by another CA of pqtls: with its command \"certify\")"
        )?;
        writeln!(
            f,
            "  install what comes back: \"pqtls ca install FILE --root ROOT\""
        )
    }
}
