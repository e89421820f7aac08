//! The command `pqtls ca install`: the certificate of a CA's key that another CA certified comes into its folder.

use core::fmt;

use pq_ca::folder::{Folder, Role};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::opened;
use super::place::{Actor, Place};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;
use crate::report::{CertificateFacts, Report};

/// Install the certificate that came back for a request of the CA
///
/// After "pqtls ca init --request" the CA can be used from then on. After "pqtls ca rollover --request" the new key is
/// published, and issues once "pqtls ca rollover --use" tells it to. The certificate has to be for the key of the
/// request, and of a CA that clients accept; all signatures up to the root are verified. Give the certificates of the CAs
/// between it and the root, too, in any order; others count for nothing. A certificate without the name constraints that
/// the request asks for is refused, unless --any-names is given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with the certificates; "-" is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<Source>,

    /// The certificate of the root that clients trust, if it is not among the others; later the CA has it
    #[arg(long, value_name = "FILE")]
    root: Option<Source>,

    /// Take a certificate that permits other names than those that the CA was made for: then only the policy limits them
    #[arg(long)]
    any_names: bool,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca install waiting.pem --root ca/root.pem --dir waiting-ca";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let certificates = documents::all_certificates(&arguments.files)?;
    let root = arguments.root.as_ref().map(documents::first_certificate);
    let root = root.transpose()?;
    let now = UnixTime::now();
    let folder = opened::with_its_ledger(Folder::open_pending(arguments.place.path())?)?;
    if !arguments.any_names {
        folder.check_names(&certificates, other_verification())?;
    }
    let by = arguments.actor.name();
    let waiting = folder.waiting()?;
    arguments.place.warn_if_in_use();
    let role = folder.install(&certificates, root.as_ref(), other_verification(), &by, now)?;
    let report = Installed {
        name: role.name().into(),
        certificate: CertificateFacts::of(&folder.certificate(role)?, now),
        root: CertificateFacts::of(&folder.certificate(Role::Root)?, now),
        issues: folder.issuing_role()? == role,
        was_there: !waiting.iter().any(|(other, _)| *other == role),
    };
    arguments.place.print(report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Installed {
    /// The key's name in the ledger.
    name: String,
    certificate: CertificateFacts,
    root: CertificateFacts,
    /// Whether the key issues from now on.
    issues: bool,
    /// Whether the CA had it already.
    #[serde(skip)]
    was_there: bool,
}

impl Report for Installed {
    const SCHEMA: &'static str = "ca-install/1";
}

impl fmt::Display for Installed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (subject, until) = (&self.certificate.subject, &self.certificate.not_after);
        writeln!(
            f,
            "{}: {subject}, until {until}, below {}",
            self.name, self.root.subject
        )?;
        if self.was_there {
            writeln!(f, "It was installed before.")?;
        }
        match self.issues {
            true if self.was_there => Ok(()),
            true => writeln!(
                f,
                "It issues from now on: \"pqtls ca issue\", \"pqtls ca sign\"."
            ),
            false => writeln!(
                f,
                "It issues once you say so: \"pqtls ca rollover --use {}\".",
                self.name
            ),
        }
    }
}
