//! The command `pqtls ca renew`: a new certificate for the names of an old one, which the ledger finds by its serial
//! number.

use pq_ca::folder::{FolderError, Role};
use pq_ca::issuing::Issuance;
use pq_ca::ledger::Ledger;
use pq_ca::policy::Profile;
use pq_keys::encoding::pem;
use pq_x509::certificate::Certificate;

use super::ca_key::CaKeyOptions;
use super::issued::CertificateOptions;
use super::opened::CaFolder;
use super::own_keys::OwnKeys;
use super::place::{Actor, Place};
use super::shortened::OwnEnd;
use super::subject_key::SubjectKeyOptions;
use super::which::{self, Which};
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, OutputError};
use crate::kind;

/// Renew a certificate: issue a new one for the same names, valid as long as the policy says
///
/// Of a file with several certificates, name one by its serial number. The new one is for the same key, unless another
/// key is given. The old certificate stays valid; if nobody is to
/// use it, revoke it. That of an OCSP responder is renewed by the CA's key that issued it, for which it answers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The old certificate: its serial number, or a file with it; "-" is standard input
    #[arg(value_name = "CERTIFICATE")]
    which: Which,

    #[command(flatten)]
    pub(super) key: SubjectKeyOptions,

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
  $ pqtls ca renew web.pem --out web-2.pem
  $ pqtls ca renew web.pem --new-key web-3.key --out web-3.pem";

/// Refuses to write the new certificate over the old one if its file has more than what the CA has.
fn check_place_of_old(
    arguments: &Arguments,
    folder: &CaFolder,
    ledger: &impl Ledger,
) -> Result<(), Failure> {
    let out = &arguments.certificate.output.out;
    let old = arguments.which.file();
    if !old.is_some_and(|old| files::is_one_file(out, &old)) {
        return Ok(());
    }
    let mut own = vec![folder.certificate(Role::Root)?];
    for (role, certificate) in folder.issuing_keys()? {
        own.push(certificate);
        own.extend(folder.chain_of(role)?);
    }
    let has = |der: &[u8]| {
        let Ok(certificate) = Certificate::from_der(der) else {
            return false;
        };
        own.contains(&certificate)
            || which::kept_number(ledger, &certificate).is_ok_and(|number| number.is_some())
    };
    let is_kept = files::is_all(out, |bytes| match pem::is_in(bytes) {
        false => has(bytes),
        true => kind::blocks_alone(bytes).is_some_and(|blocks| {
            let mut blocks = blocks.iter();
            blocks.all(|block| {
                block.is_of("CERTIFICATE") && block.decode().is_ok_and(|der| has(&der))
            })
        }),
    });
    match is_kept {
        true => Ok(()),
        false => Err(OutputError::OverInput(out.to_string()).into()),
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let options = &arguments.certificate;
    let delivery = Delivery::to_public(&[&options.output.out], options.output.force, json)?;
    arguments
        .key
        .check(&options.output.out, options.output.force, json)?;
    let folder = arguments.place.open()?;
    let ledger = folder.ledger()?;
    let number = arguments.which.serial_number(&folder, &ledger)?;
    check_place_of_old(arguments, &folder, &ledger)?;
    for (_, own) in folder.issuing_keys()? {
        if which::kept_number(&ledger, &own)? == Some(number) {
            return Err(Failure::RenewsCa(arguments.which.to_string()));
        }
    }
    let entry = ledger.entry(&number)?;
    let entry = entry.map(|entry| entry.issued);
    let role = match &entry {
        // It answers for the key that certified it.
        Some(issued) if issued.profile == Profile::OcspResponder.name() => {
            Role::from_name(&issued.issuer)
                .ok_or_else(|| FolderError::UnknownKey(issued.issuer.clone()))?
        }
        _ => folder.issuing_role()?,
    };
    let chain = folder.chain_of(role)?;
    let authority = arguments.ca_key.authority_to_issue(&folder, role)?;
    let own_keys = OwnKeys::of(&folder, role)?;
    let own_end = OwnEnd::of(&authority, &folder, &arguments.place)?;
    let issued = arguments
        .key
        .issue(&authority, &arguments.actor.name(), |key| {
            match (key, &entry) {
                (Some(key), _) => own_keys.refuse(key)?,
                (None, Some(old)) => own_keys.refuse_any(old.keys())?,
                (None, None) => {}
            }
            Ok(Issuance::renewal(number, key))
        })?;
    own_end.warn(own_end.shortens(&issued.entry).into());
    options.deliver(delivery, &issued, &chain, arguments.key.new_key.as_ref())
}
