//! The command `pqtls ca crl`: it makes the next revocation list, and confirms it in the ledger only once it is
//! written.

use core::fmt;
use core::time::Duration;

use pq_ca::folder::Role;
use pq_ca::ledger::{Entry, GREATEST_NUMBER, Ledger, SerialNumber, Stage};
use pq_ca::policy::parse_duration;
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::ca_key::CaKeyOptions;
use super::opened::CaFolder;
use super::place::{Actor, Place};
use super::which_key::WhichKey;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::report::{self, Report, printable, with_unit};

/// Make the next revocation list
///
/// It lists the key's certificates that were revoked. Those that expired leave the lists after one that was made more
/// than 7 days after their expiry and was written. A list that can't be written may use up a number, and one is not
/// written if another process began a later one meanwhile. Make the next list before this one expires. Clients that
/// check a whole chain need the root's list as well.
///
/// The clock must be at most 400 days after the last list or certificate in the ledger, and at most 1 hour before it.
/// Otherwise there is no list, no OCSP response and, if it is ahead, no certificate. If the clock is wrong, set it. If
/// it is right, because the CA was not used for so long or the clock was wrong before, say so with --clock-is-right.
///
/// A ledger from an older backup lacks the numbers of the lists that were made since. Clients that have one of those
/// may take no list with a smaller number for newer, so give the next one a number above all of them: --number. It is
/// kept in the ledger, and later lists count on from it. This command and a server's log show the numbers of lists, and
/// so does "openssl crl -in ca.crl -noout -crlnumber", in hexadecimal.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Make the root's list, of revoked CAs, instead of the issuing key's
    #[arg(long, conflicts_with = "issuer")]
    pub(super) root: bool,

    #[command(flatten)]
    key: WhichKey,

    /// How long it is valid, such as 90d [default: what the policy says]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    #[command(flatten)]
    pub(super) output: OutputOptions,

    /// Write DER instead of PEM, for a list that clients fetch by HTTP
    #[arg(long)]
    der: bool,

    /// The list's number, above those of all lists that clients may have, such as 12 or 0x0c [default: the next one in
    /// the ledger]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    number: Option<u64>,

    /// Say that the clock is right, if the ledger finds that it jumped; the ledger keeps who said so
    #[arg(long)]
    clock_is_right: bool,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca crl --out ca.crl --der
  $ pqtls ca crl --root --validity 90d --out root.crl";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let folder = arguments.place.open()?;
    let role = match arguments.root {
        true => Role::Root,
        false => arguments.key.or_issuing(&folder)?,
    };
    let authority = arguments.ca_key.authority(&folder, role)?;
    let now = UnixTime::now();
    let end = authority.issuer().certificate().not_after();
    if arguments.clock_is_right {
        let ledger = authority.ledger();
        ledger.confirm_time(now, &arguments.actor.name())?;
    }
    let list = authority.numbered_revocation_list(arguments.number, now, arguments.validity)?;
    if let Some(next) = list.next_update()
        && next > end
    {
        report::warn(format_args!(
            "the list is valid until {}, and the certificate of its key until {}: clients accept the list no longer than that",
            rfc3339(next),
            rfc3339(end)
        ));
    }
    let pem = list.to_pem();
    let output = Output {
        to: out,
        content: match arguments.der {
            true => list.der(),
            false => pem.as_bytes(),
        },
        access: Access::Public,
        is_binary: arguments.der,
    };
    let report = NewList {
        file: out.to_string(),
        issuer: printable(&list.issuer().to_string()),
        number: list.number().map(base16ct::lower::encode_string),
        revoked: list.entries().len() as u64,
        this_update: rfc3339(list.this_update()),
        next_update: list.next_update().map(rfc3339),
        others: other_lists(&folder, role, now)?
            .into_iter()
            .map(|other| other.name)
            .collect(),
    };
    // Another process may have made a later list while this one was signed. From this check on, such a process would
    // have to take a number, sign and write its list before this file is renamed; then only the confirmation finds it,
    // if that of the later list came before.
    let is_newest = || Ok(authority.check_list(&list)?);
    let report = arguments.place.about(report);
    let status = delivery.deliver_if(&[output], &report, is_newest)?;
    // Only now: a list that could not be written was published by nobody.
    authority.confirm_list(&list)?;
    Ok(status)
}

/// Another issuing key whose list clients need.
#[derive(Debug)]
pub(super) struct OtherList {
    pub(super) name: String,
    /// Until when its certificate is valid.
    pub(super) until: UnixTime,
}

/// The other issuing keys whose lists clients need: those that signed certificates, and may have some that are valid. Of a key
/// whose own certificate is revoked, clients take nothing.
pub(super) fn other_lists(
    folder: &CaFolder,
    role: Role,
    now: UnixTime,
) -> Result<Vec<OtherList>, Failure> {
    if role == Role::Root {
        return Ok(Vec::new());
    }
    let mut others = Vec::new();
    for one in folder.generations()? {
        // Whether a key has ended, its certificate says: the ledger has it by the clock of another time.
        let signs = one.stage != Stage::Published;
        let other = Role::from_name(&one.name).filter(|other| *other != role && signs);
        let Some(other) = other else { continue };
        let certificate = folder.certificate(other)?;
        let until = certificate.not_after();
        if now <= until && !is_revoked_for_good(&folder.ledger()?, &certificate)? {
            others.push(OtherList {
                name: one.name,
                until,
            });
        }
    }
    Ok(others)
}

/// Whether the root's lists have an issuing key's certificate, and not on hold, as far as this CA's ledger says: it may be another
/// CA's that revokes it.
pub(super) fn is_revoked_for_good(
    ledger: &impl Ledger,
    certificate: &Certificate,
) -> Result<bool, Failure> {
    // No ledger has a certificate with a number that no ledger takes.
    let Ok(number) = SerialNumber::of(certificate) else {
        return Ok(false);
    };
    let entry = ledger.entry(&number)?;
    let revocation = entry.as_ref().and_then(Entry::revocation);
    Ok(revocation.is_some_and(|revocation| !revocation.is_hold()))
}

/// A number of a list: decimal, or hexadecimal after "0x".
fn number(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err("it is not a number; write one such as 12, or 0x0c in hexadecimal".into());
    }
    match u64::from_str_radix(digits, radix) {
        Ok(number @ 1..=GREATEST_NUMBER) => Ok(number),
        _ => Err(format!("numbers of lists are 1 to {GREATEST_NUMBER} here")),
    }
}

#[derive(Debug, Serialize)]
struct NewList {
    file: String,
    issuer: String,
    /// In hexadecimal.
    number: Option<String>,
    revoked: u64,
    this_update: String,
    next_update: Option<String>,
    /// The names of the CA's other keys that clients need a list of.
    others: Vec<String>,
}

impl Report for NewList {
    const SCHEMA: &'static str = "ca-crl/1";
}

impl fmt::Display for NewList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let certificates = with_unit(self.revoked, "revoked certificate");
        write!(f, "{}: list of {}, {certificates}", self.file, self.issuer)?;
        if let Some(next) = &self.next_update {
            write!(f, ", valid until {next}")?;
        }
        match &self.number {
            None => writeln!(f)?,
            Some(digits) => match u64::from_str_radix(digits, 16) {
                Ok(number) => writeln!(f, ", number {number} (0x{digits})")?,
                Err(_) => writeln!(f, ", number 0x{digits}")?,
            },
        }
        for other in &self.others {
            writeln!(
                f,
                "Clients need the list of \"{other}\", too: \"pqtls ca crl --issuer {other} --out FILE\"."
            )?;
        }
        Ok(())
    }
}
