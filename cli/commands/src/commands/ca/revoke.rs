//! The command `pqtls ca revoke`. After a compromise of a key, it looks for other certificates for the same key,
//! revokes or lists them, and exits with status 1 if any is left.

use alloc::collections::BTreeSet;
use core::fmt;

use pq_ca::authority::{reason_from_name, reason_name, reason_names};
use pq_ca::folder::Role;
use pq_ca::ledger::{
    Change, Ledger, LedgerError, Revocation, Revoked as RevokedEntry, SerialNumber,
};
use pq_ca::policy::Profile;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use serde::Serialize;

use super::ca_key::what_opens_keys;
use super::crl::is_revoked_for_good;
use super::entry::{EntryFacts, RevocationFacts};
use super::opened::CaFolder;
use super::place::{Actor, Place};
use super::same_key::{SameKeyOptions, write_left};
use super::which::Which;
use crate::arguments::Named;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::Report;

/// Revoke certificates, all of them or none
///
/// Of a file with certificates for several requests, all are revoked, but not the CAs in their chains.
///
/// This is permanent, unless the reason is certificateHold. It doesn't need the CA's keys. Clients learn of
/// it from the next revocation list, except of an OCSP responder: most don't ask about its certificate (OCSP No Check), so
/// whoever has its key can sign good responses until the certificate expires.
///
/// After a compromise of a key (keyCompromise, cACompromise, aACompromise), all certificates for this key have to be
/// revoked, also those that have expired, as far as this machine's clock can tell. Those that are not revoked are listed,
/// and the exit status is 1, unless --all-with-key revokes them, too. A composite key counts as its halves, too.
///
/// A certificate that was revoked before keeps its reason, unless that was a hold and the new one is not, or the new
/// one is a compromise and that was none: one compromise does not replace another. If its revocation is of a later
/// time, as after a clock that ran ahead, it gets the time of now.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Serial numbers, or files with the certificates; "-" is standard input
    #[arg(required = true, value_name = "CERTIFICATE")]
    which: Vec<Which>,

    /// Why, as RFC 5280 section 5.3.1 names it: unspecified, keyCompromise, cACompromise, affiliationChanged,
    /// superseded, cessationOfOperation, certificateHold, privilegeWithdrawn or aACompromise
    #[arg(
        long,
        default_value = "unspecified",
        value_parser = REASONS,
        hide_possible_values = true,
    )]
    reason: CrlReason,

    #[command(flatten)]
    same_key: SameKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

impl Arguments {
    /// The failure with advice that does what was asked for.
    fn advised(&self, mut failure: Failure) -> Failure {
        if let Failure::NotInLedger { options, .. } = &mut failure {
            let reason = ["--revoke", reason_name(self.reason)];
            let words = reason.into_iter().chain(self.same_key.words());
            options.extend(words.chain(self.actor.words()).map(String::from));
        }
        failure
    }
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca revoke web-3.pem --reason keyCompromise --all-with-key
  $ pqtls ca revoke bot.pem --reason certificateHold";

/// Reads a reason by its name.
pub(super) const REASONS: Named<CrlReason> = Named {
    names: || reason_names().to_vec(),
    read: |name| reason_from_name(name).map_err(|error| error.to_string()),
};

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    revoke(arguments, json).map_err(|failure| arguments.advised(failure))
}

fn revoke(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let folder = arguments.place.open()?;
    let ledger = folder.ledger()?;
    let mut numbers = Vec::new();
    for which in &arguments.which {
        numbers.extend(which.serial_numbers(&folder, &ledger)?);
    }
    // What fails here keeps nothing from being revoked.
    let issuing = issuing_key(&folder);
    let now = UnixTime::now();
    let revocation = Revocation {
        at: now,
        reason: arguments.reason,
        by: arguments.actor.name(),
    };
    arguments.same_key.check(Some(&revocation), "--reason")?;
    let mut revoked = ledger.revoke_if(&numbers, &revocation, &[])?;
    let given = revoked.iter().map(|revoked| &revoked.entry.issued);
    let mut same_key = arguments.same_key.apply(&ledger, given, &revocation)?;
    revoked.append(&mut same_key.revoked);
    let clock = match ledger.check_time(now) {
        Err(error @ LedgerError::Clock { .. }) => Some(error.to_string()),
        // The certificates are revoked, which nothing else changes.
        _ => None,
    };
    let revoked_issuers = revoked_issuers(&folder, &ledger, &revoked);
    let report = Revoked {
        certificates: revoked
            .iter()
            .map(|revoked| EntryFacts::of(&revoked.entry, now))
            .collect(),
        changes: revoked.into_iter().map(|revoked| revoked.change).collect(),
        valid_with_same_key: same_key.left(now),
        reason: arguments.reason,
        clock,
        now: rfc3339(now),
        issuing: issuing.as_ref().ok().map(|one| one.name.clone()),
        issuing_number: issuing.as_ref().ok().and_then(|one| one.number),
        revoked_issuers,
        what_opens_keys: what_opens_keys(&folder),
        issuing_unknown: issuing.err().map(|failure| failure.to_string()),
    };
    arguments.place.print(report, json)?;
    Ok(same_key.status())
}

#[derive(Debug, Serialize)]
struct Revoked {
    /// In the order of the command line and of its files.
    certificates: Vec<EntryFacts>,
    /// What this call did to each.
    #[serde(skip)]
    changes: Vec<Change>,
    /// After a compromise of a key, the other certificates for it that are not revoked, and should be. `state` says
    /// which of them have expired.
    valid_with_same_key: Vec<EntryFacts>,
    #[serde(skip)]
    reason: CrlReason,
    /// If the ledger finds that the clock jumped: what it says. The times of the revocations may be wrong then.
    clock: Option<String>,
    #[serde(skip)]
    now: String,
    /// The name of the key that issues, if it is known.
    #[serde(skip)]
    issuing: Option<String>,
    /// The serial number of that key's certificate, if a ledger can have it.
    #[serde(skip)]
    issuing_number: Option<SerialNumber>,
    /// The names of keys that signed one of these, and whose own certificates are revoked.
    #[serde(skip)]
    revoked_issuers: BTreeSet<String>,
    /// What the commands that are advised need, too, if the CA's keys are in a store.
    #[serde(skip)]
    what_opens_keys: Option<String>,
    /// Why it is not known which key issues, or with which certificate.
    #[serde(skip)]
    issuing_unknown: Option<String>,
}

/// The key that issues.
struct IssuingKey {
    name: String,
    number: Option<SerialNumber>,
}

fn issuing_key(folder: &CaFolder) -> Result<IssuingKey, Failure> {
    let role = folder.issuing_role()?;
    let certificate = folder.certificate(role)?;
    Ok(IssuingKey {
        name: role.name().into(),
        // No certificate in a ledger has a number that no ledger takes.
        number: SerialNumber::of(&certificate).ok(),
    })
}

/// The keys that signed these certificates, and whose own are revoked, as far as that is known.
fn revoked_issuers(
    folder: &CaFolder,
    ledger: &impl Ledger,
    certificates: &[RevokedEntry],
) -> BTreeSet<String> {
    let issuers = certificates.iter().map(|one| &one.entry.issued.issuer);
    let issuers: BTreeSet<_> = issuers.collect();
    let is_revoked = |name: &str| {
        let role = Role::from_name(name).filter(|role| *role != Role::Root)?;
        let certificate = folder.certificate(role).ok()?;
        is_revoked_for_good(ledger, &certificate).ok()
    };
    let revoked = issuers
        .into_iter()
        .filter(|name| is_revoked(name) == Some(true));
    revoked.cloned().collect()
}

impl Revoked {
    /// Whether a certificate is revoked as of a time in the future. Times of RFC 3339 are in the order of their texts.
    fn is_to_come(&self, certificate: &EntryFacts) -> bool {
        let revocation = certificate.revocation.as_ref();
        revocation.is_some_and(|revocation| revocation.at > self.now)
    }
}

impl Report for Revoked {
    const SCHEMA: &'static str = "ca-revoke/1";
}

impl fmt::Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (certificate, change) in self.certificates.iter().zip(&self.changes) {
            if let Some(RevocationFacts { at, reason, .. }) = &certificate.revocation {
                let (title, number) = (certificate.title(), &certificate.serial_number);
                let what = certificate.state.name();
                writeln!(
                    f,
                    "{title}: {what} since {at} ({reason}), serial number {number}"
                )?;
                match change {
                    Change::Revoked => {}
                    Change::Updated(earlier) if reason_name(earlier.reason) == *reason => {
                        let earlier = rfc3339(earlier.at);
                        writeln!(
                            f,
                            "  It was revoked before (since {earlier}), and has this earlier time now."
                        )?;
                    }
                    Change::Updated(earlier) => {
                        let earlier = reason_name(earlier.reason);
                        writeln!(
                            f,
                            "  It was revoked before ({earlier}), and has this reason now."
                        )?;
                    }
                    Change::Unchanged => {
                        writeln!(f, "  It was revoked before, which stays as it was.")?;
                    }
                }
            }
        }
        if let Some(certificate) = self.certificates.iter().find(|one| self.is_to_come(one)) {
            writeln!(
                f,
                "The time of {} is in the future, and clients may take it for valid until then: the clock was ahead, or the \
                 certificate is not valid yet. Once the clock is right, the same command corrects the time.",
                certificate.title()
            )?;
        }
        let issuers = self.certificates.iter().map(|one| one.issuer.as_str());
        let (useless, issuers): (BTreeSet<_>, BTreeSet<_>) =
            issuers.partition(|issuer| self.revoked_issuers.contains(*issuer));
        if !issuers.is_empty() {
            writeln!(
                f,
                "Clients learn of it from the next revocation list; unless a server makes it (\"ca serve\"), make it now:"
            )?;
        }
        let issuing = self.issuing.as_deref();
        if issuing.is_some_and(|issuing| issuers.contains(issuing)) {
            writeln!(f, "  pqtls ca crl --out FILE")?;
        }
        for issuer in issuers {
            match issuer {
                issuer if Some(issuer) == issuing => {}
                issuer if issuer == Role::Root.name() => {
                    writeln!(f, "  pqtls ca crl --root --out FILE")?;
                }
                issuer => writeln!(f, "  pqtls ca crl --issuer {issuer} --out FILE")?,
            }
        }
        for issuer in useless {
            writeln!(
                f,
                "The certificate of \"{issuer}\" is revoked itself, and clients that know it from the root's list (\"pqtls ca crl \
                 --root --out FILE\") take nothing that this key signed: they need no list of its."
            )?;
        }
        if let Some(what) = &self.what_opens_keys {
            writeln!(f, "{what}")?;
        }
        let mut certificates = self.certificates.iter();
        let number = self.issuing_number.map(|number| number.to_string());
        let of_issuer = certificates.find(|one| Some(&one.serial_number) == number.as_ref());
        if let Some(certificate) = of_issuer {
            let remedy = match self.reason {
                CrlReason::CertificateHold => {
                    format!("until \"pqtls ca reinstate {}\"", certificate.serial_number)
                }
                _ => "until a new key issues: \"pqtls ca rollover\"".into(),
            };
            writeln!(
                f,
                "This is the key that issues, so the CA issues nothing more {remedy}."
            )?;
        }
        if let Some(why) = &self.issuing_unknown {
            writeln!(
                f,
                "Whether one of these is the certificate of the key that issues is not known: {why}"
            )?;
        }
        if let Some(clock) = &self.clock {
            writeln!(
                f,
                "The time of the revocation may be wrong: {clock}. After the clock was set, the same command corrects \
                 a time in the future."
            )?;
        }
        for certificate in &self.certificates {
            if certificate.profile == Profile::OcspResponder.name() {
                let (title, until) = (certificate.title(), &certificate.not_after);
                writeln!(
                    f,
                    "Clients do not ask whether the certificate of an OCSP responder was revoked (OCSP No Check): most believe \
                     what the key of {title} signs until {until}, whatever lists say. If others may know that key, only a \
                     new CA ends this sooner."
                )?;
            }
        }
        write_left(f, &self.valid_with_same_key, self.reason)
    }
}
