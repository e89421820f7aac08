//! The command `pqtls ca certify`: the CA's root certifies another CA, by its request or by its root's certificate.

use core::time::Duration;

use pq_ca::folder::{Certified, Constraints, Role};
use pq_ca::issuing::IssuedCertificate;
use pq_ca::ledger::{Ledger, LedgerError, SerialNumber};
use pq_ca::policy::{Network, parse_duration};
use pq_x509::pki_types::UnixTime;

use super::ca_key::CaKeyOptions;
use super::init::{Domain, domain};
use super::issued::CertificateOptions;
use super::place::{Actor, Place};
use crate::commands::delivery::Delivery;
use crate::documents::{self, OfAnotherCa};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;

/// Certify another CA with the root's key
///
/// FILE is a request, as "pqtls ca init --request" makes it, or the certificate of a root. The policy is for end
/// entities, so it is not asked: look what is in FILE ("pqtls show"), and whether it is from whom you think. A request that
/// asks for no CA, such as a server's, is refused, unless --unasked is given. The other CA
/// can issue for the names that its request asks for as name constraints, or that --dns and --ip say; without any, for all
/// names that this CA's root can. The ledger has the certificate, so that "pqtls ca revoke" revokes it.
///
/// Whoever revoked a CA, or has it on hold, did not mean it to get another certificate: that needs --despite-revocation, for
/// the same key as for another one of a CA of the same name. A certificate that was superseded, or revoked for no reason that
/// was given, and a key that others may know, are no hindrance for another key.
///
/// For a new root with the name of this CA's root, this is how clients that trust only the old root accept what is below
/// the new one ("new with old", RFC 4210 section 4.4): servers send it after their chain. By RFC 5280 section 4.2.1.9 it
/// doesn't count for the old root's path length. Go's and pyca's verifiers count it: below a root of path length 1, as
/// "pqtls ca init" makes it, they accept only what the new root itself issued.
/// For a root of another name, all verifiers count it: a root of path length 1 can't certify one that has CAs below it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The request of a CA, or a root's certificate; "-" is standard input
    #[arg(value_name = "FILE")]
    file: Source,

    /// How long the certificate is valid [default: 5y, or the root's time if that is shorter]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// A domain that the other CA is for, with all names below it, whatever its request says; once for each
    #[arg(long, value_name = "DOMAIN", value_parser = domain)]
    dns: Vec<Domain>,

    /// A network whose addresses the other CA is for, such as 192.0.2.0/24, whatever its request says; once for each
    #[arg(long, value_name = "NETWORK")]
    ip: Vec<Network>,

    /// How many further CAs may be below it [default: for a request as many as it asks for, or 0; for a root as many as it
    /// has itself, or as this CA permits]
    #[arg(long, value_name = "COUNT")]
    path_length: Option<u8>,

    /// The request is for a new key of a CA that is certified already, and whose keys share one name ("pqtls ca rollover
    /// --same-name"); otherwise, that name is taken
    #[arg(long)]
    same_name: bool,

    /// Certify a CA by a request that doesn't ask for that (CA:TRUE in its basic constraints)
    #[arg(long)]
    unasked: bool,

    /// Certify a CA also if its certificate was revoked, or is on hold
    #[arg(long)]
    despite_revocation: bool,

    #[command(flatten)]
    pub(super) certificate: CertificateOptions,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca certify waiting.request --dns waiting.example.org --out waiting.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let options = &arguments.certificate;
    let delivery = Delivery::to_public(&[&options.output.out], options.output.force, json)?;
    let folder = arguments.place.open()?;
    let (by, now) = (arguments.actor.name(), UnixTime::now());
    let other = documents::of_another_ca(&arguments.file)?;
    let is_root = matches!(other, OfAnotherCa::Root(_));
    match &other {
        OfAnotherCa::Request(request) if !request.asks_for_ca() && !arguments.unasked => {
            return Err(Failure::AsksForNoCa);
        }
        OfAnotherCa::Root(_) if arguments.unasked => return Err(Failure::UnaskedOfRoot),
        _ => {}
    }
    let authority = arguments.ca_key.authority(&folder, Role::Root)?;
    let authority = match arguments.despite_revocation {
        true => authority.despite_revocations(),
        false => authority,
    };
    let (validity, algorithms) = (arguments.validity, other_verification());
    let path_length = arguments.path_length;
    let given = Constraints {
        domains: arguments.dns.iter().map(|one| one.name.clone()).collect(),
        networks: arguments.ip.clone(),
        only_hosts: false,
    };
    if is_root && given != Constraints::default() {
        return Err(Failure::ConstraintsOfRoot);
    }
    let certificate = match &other {
        OfAnotherCa::Root(root) => {
            authority.certify_root(root, path_length, validity, algorithms, &by, now)?
        }
        OfAnotherCa::Request(request) => {
            let constraints = match given == Constraints::default() {
                true => Constraints::requested(request)?,
                false => given,
            };
            let path_length = path_length.or_else(|| request.path_len());
            let certified = Certified {
                subject: request.subject(),
                key: &**request,
                path_len: Some(path_length.unwrap_or(0)),
                validity,
                constraints: &constraints,
            };
            match arguments.same_name {
                true => authority.certify_next_key(&certified, algorithms, &by, now)?,
                false => authority.certify(&certified, algorithms, &by, now)?,
            }
        }
    };
    let number = SerialNumber::of(&certificate);
    let number = number.expect("the ledger has it under its number");
    let entry = authority.ledger().entry(&number)?;
    let issued = IssuedCertificate {
        entry: entry.ok_or(LedgerError::Unknown(number))?.issued,
        certificate,
    };
    let out = &options.output.out;
    let next = match is_root {
        true => format!(
            "have servers below that root send {out} after their chain, for clients that trust only this CA's root"
        ),
        false => format!(
            "give {out} and {}/root.pem to whoever made the request, who installs them (\"pqtls ca install\")",
            folder.path().display()
        ),
    };
    options.deliver_ca(delivery, &issued, next)
}
