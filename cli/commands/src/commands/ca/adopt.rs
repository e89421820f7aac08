//! The command `pqtls ca adopt`: it records in the ledger what the CA signed and an older backup lacks, and can revoke
//! it in the same step; and what lists say that the CA published.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;

use pq_ca::authority::reason_name;
use pq_ca::folder::{FolderError, Role};
use pq_ca::ledger::{
    AdoptedEntry, Change, Ledger, LedgerError, NewEntry, Revocation, SerialNumber,
};
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationList, CrlReason, RevokedCertificate};
use serde::Serialize;

use super::entry::EntryFacts;
use super::opened::CaFolder;
use super::place::{Actor, Place};
use super::revoke::REASONS;
use super::same_key::{SameKey, SameKeyOptions, write_left};
use super::which;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;
use crate::report::Report;
use crate::shell::command_line;

/// Record certificates of the CA that its ledger lacks, as after an older backup
///
/// A ledger from an older backup has nothing of what was issued since: it is on no revocation list, OCSP calls it unknown,
/// and it can be neither revoked nor renewed. This records it again, all of the files or nothing, if a key of this CA
/// signed it. What the ledger has already stays as it is. The CA's keys aren't needed.
///
/// What was revoked since is valid in the ledger when it is recorded again. So give its reason with --revoke: the ledger
/// is never without the revocation then. Whatever the CA signed can be recorded, also what a thief of its key made.
///
/// Lists that the CA published since say what was revoked, too: with --crl, the ledger gets the revocations of a list, with
/// their times and reasons, and its number, above which the next list's will be. Give the newest list of each key. What it
/// has as on hold is on hold again. --revoke is for what is on none of them. If a list has certificates that the ledger lacks,
/// the exit status is 1: record them, and give the list again. Revocations that were on no list are still to be made again.
///
/// A backup from before a rollover lacks the later key. If its two files, such as issuing-2.key and issuing-2.pem, are
/// somewhere, copy them into the folder, under a number that no file there has: if another key followed meanwhile, as
/// issuing-3.key and issuing-3.pem. Then this command knows what the key signed, and "pqtls ca rollover --use" has it
/// issue again. If the key is lost, record its certificate, which is the second one in a file of "pqtls ca issue", with
/// --of-root, and revoke it.
///
/// After a compromise of a key, the ledger's other certificates for it have to be revoked, too, as "pqtls ca revoke"
/// says: with --revoke, those that are not are listed, and the exit status is 1, unless --all-with-key revokes them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with the certificates; "-" is standard input
    #[arg(required_unless_present = "lists", value_name = "FILE")]
    files: Vec<Source>,

    /// A revocation list that this CA published: what it has is revoked in the ledger, too; once for each
    #[arg(long = "crl", id = "lists", value_name = "FILE")]
    lists: Vec<Source>,

    /// Revoke them in the same step, for this reason, such as keyCompromise or unspecified
    #[arg(
        long,
        value_name = "REASON",
        value_parser = REASONS,
        hide_possible_values = true,
    )]
    revoke: Option<CrlReason>,

    /// Of the certificates in the files, take only those that the root signed, such as that of a later key
    #[arg(long)]
    of_root: bool,

    #[command(flatten)]
    same_key: SameKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

impl Arguments {
    /// The options with which "pqtls ca revoke" revokes as this command was to.
    fn options_of_revoke(&self) -> String {
        let mut words = Vec::new();
        if let Some(reason) = self.revoke {
            words.extend(["--reason", reason_name(reason)]);
        }
        words.extend(self.same_key.words());
        words.extend(self.actor.words());
        match words.is_empty() {
            true => String::new(),
            false => format!(" {}", command_line(words)),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  $ cp -a ca ca-of-yesterday
  $ pqtls ca issue late.example.org --key web.key --out late.pem
  $ pqtls ca adopt late.pem --revoke superseded --dir ca-of-yesterday
  $ pqtls ca crl --dir ca-of-yesterday --out published.crl
  $ pqtls ca adopt --crl published.crl --dir ca-of-yesterday";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let folder = arguments.place.open()?;
    let ledger = folder.ledger()?;
    let by = arguments.actor.name();
    let options = arguments.options_of_revoke();
    let Sorted {
        mut lacking,
        mut known,
        own,
    } = sort(arguments, &folder, &ledger, &by, &options)?;
    if arguments.revoke.is_some() && lacking.is_empty() && known.is_empty() {
        known = own_in_ledger(&folder, &own)?;
    }
    if arguments.revoke.is_some() && !known.is_empty() {
        return Err(Failure::InLedger {
            numbers: known,
            options,
        });
    }
    let now = UnixTime::now();
    let revocation = arguments.revoke.map(|reason| Revocation {
        at: now,
        reason,
        by,
    });
    arguments.same_key.check(revocation.as_ref(), "--revoke")?;
    let published = published(arguments, &folder)?;
    if !published.is_empty() {
        // Or the numbers of the lists would be refused after the rest was done.
        ledger.check_time(now)?;
    }
    let by = arguments.actor.name();
    // What is on a list is recorded as revoked, as the list has it, and never stands in the ledger as valid.
    let mut others = Vec::new();
    for one in &mut lacking {
        one.revocation = on_lists(&published, &one.entry, &by);
        if one.revocation.is_none() {
            one.revocation.clone_from(&revocation);
            others.push(one.entry.issued.clone());
        }
    }
    ledger.adopt(&lacking)?;
    let mut lists = Vec::new();
    for list in &published {
        lists.push(list.revoke(&ledger, &by, now)?);
    }
    for list in &published {
        list.take_number(&ledger, now)?;
    }
    let same_key = match &revocation {
        Some(revocation) => arguments
            .same_key
            .apply(&ledger, others.iter(), revocation)?,
        None => SameKey::default(),
    };
    let mut certificates = Vec::new();
    for one in &lacking {
        let entry = ledger.entry(&one.entry.issued.serial_number)?;
        certificates.extend(entry.map(|entry| EntryFacts::of(&entry, now)));
    }
    let report = Adopted {
        certificates,
        known: known.iter().map(ToString::to_string).collect(),
        // In a file with a chain they are of no interest.
        own: match lacking.is_empty() && known.is_empty() {
            true => own.iter().map(Certificate::describe_subject).collect(),
            false => Vec::new(),
        },
        revoked_with_same_key: same_key
            .revoked
            .iter()
            .map(|revoked| EntryFacts::of(&revoked.entry, now))
            .collect(),
        valid_with_same_key: same_key.left(now),
        reason: arguments.revoke,
        lists,
        later: folder
            .keys_unknown_to_ledger()?
            .into_iter()
            .map(|role| role.name())
            .filter(|name| folder.path().join(format!("{name}.key")).exists())
            .map(Into::into)
            .collect(),
    };
    let lacks_some = report.lacks_some();
    arguments.place.print(report, json)?;
    Ok(match lacks_some {
        true => ExitStatus::Refused,
        false => same_key.status(),
    })
}

/// How the first of the lists that has a certificate has it revoked.
fn on_lists(lists: &[Published], one: &NewEntry<'_>, by: &str) -> Option<Revocation> {
    let mut of_issuer = lists
        .iter()
        .filter(|list| list.names.contains(&one.issued.issuer));
    of_issuer.find_map(|list| {
        let at = list.places.get(&one.issued.serial_number)?;
        Some(revocation_of(&list.list.entries()[*at], by))
    })
}

fn revocation_of(entry: &RevokedCertificate, by: &str) -> Revocation {
    Revocation {
        at: entry.date(),
        reason: entry.reason(),
        by: by.into(),
    }
}

/// Those with the same revocation together, so that each is one change of the ledger.
fn by_revocation<R: Clone + PartialEq, T>(
    all: impl IntoIterator<Item = (R, T)>,
) -> Vec<(R, Vec<T>)> {
    let mut groups: Vec<(R, Vec<T>)> = Vec::new();
    for (revocation, one) in all {
        // Lists have those of one change beside each other.
        match groups.last_mut().filter(|(last, _)| *last == revocation) {
            Some((_, group)) => group.push(one),
            None => groups.push((revocation, vec![one])),
        }
    }
    groups
}

/// A list that the CA published.
struct Published {
    file: String,
    list: CertificateRevocationList,
    /// The key that signed it.
    role: Role,
    /// The names of the keys whose certificates it can have: those with the same name.
    names: Vec<String>,
    /// Where on the list what is revoked or on hold stands.
    places: BTreeMap<SerialNumber, usize>,
}

/// The lists that were given, all of which a key of the CA signed.
fn published(arguments: &Arguments, folder: &CaFolder) -> Result<Vec<Published>, Failure> {
    let mut lists = Vec::new();
    if arguments.lists.is_empty() {
        return Ok(lists);
    }
    let mut own = folder.issuing_keys()?;
    if !folder.is_below_another()? {
        own.push((Role::Root, folder.certificate(Role::Root)?));
    }
    for file in &arguments.lists {
        for list in documents::revocation_lists(file)? {
            let of_name = own.iter().filter(|(_, ca)| ca.subject() == list.issuer());
            let mut signers = of_name.clone();
            let signer = signers
                .find(|(_, ca)| list.verify_signature(ca, other_verification()).is_ok())
                .ok_or_else(|| Failure::ListOfAnother(file.to_string()))?;
            lists.push(Published {
                file: file.to_string(),
                role: signer.0,
                names: of_name.map(|(role, _)| role.name().into()).collect(),
                places: places(&list),
                list,
            });
        }
    }
    Ok(lists)
}

/// Where what is revoked or on hold stands on a list.
fn places(list: &CertificateRevocationList) -> BTreeMap<SerialNumber, usize> {
    let entries = list.entries().iter().enumerate();
    entries
        .filter(|(_, one)| is_revoked(one))
        .filter_map(|(at, one)| Some((SerialNumber::from_integer(one.serial_number()).ok()?, at)))
        .collect()
}

/// What is removed from lists is on no complete list.
fn is_revoked(entry: &RevokedCertificate) -> bool {
    entry.reason() != CrlReason::RemoveFromCRL
}

impl Published {
    /// Revokes in the ledger what is on the list.
    fn revoke(&self, ledger: &impl Ledger, by: &str, now: UnixTime) -> Result<TakenUp, Failure> {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for one in self.list.entries().iter().filter(|one| is_revoked(one)) {
            let number = SerialNumber::from_integer(one.serial_number()).ok();
            let entry = number.map(|number| ledger.entry(&number)).transpose()?;
            let own = entry
                .flatten()
                .filter(|entry| self.names.contains(&entry.issued.issuer));
            match own {
                Some(own) => known.push((revocation_of(one, by), own.issued.serial_number)),
                None => unknown.push(base16ct::lower::encode_string(one.serial_number())),
            }
        }
        let mut revoked = Vec::new();
        for (revocation, numbers) in by_revocation(known) {
            let done = ledger.revoke_if(&numbers, &revocation, &[])?;
            let changed = done.iter().filter(|one| one.change != Change::Unchanged);
            revoked.extend(changed.map(|one| EntryFacts::of(&one.entry, now)));
        }
        Ok(TakenUp {
            file: self.file.clone(),
            issuer: self.role.name().into(),
            number: self.list.number().map(base16ct::lower::encode_string),
            revoked,
            unknown,
        })
    }

    /// Has the next list of the key get a greater number than this one.
    fn take_number(&self, ledger: &impl Ledger, now: UnixTime) -> Result<(), Failure> {
        let Some(number) = self.list.number().and_then(number_of) else {
            return Ok(());
        };
        let ignored = &mut |_: &SerialNumber, _: &Revocation| ();
        match ledger.numbered_list(&self.role.name(), Some(number), now, ignored) {
            Err(LedgerError::NotAboveLists { last, .. }) if number <= last => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(()),
        }
    }
}

/// The number of a list, if a ledger takes such numbers.
fn number_of(digits: &[u8]) -> Option<u64> {
    let mut number = [0; size_of::<u64>()];
    let start = number.len().checked_sub(digits.len())?;
    number[start..].copy_from_slice(digits);
    Some(u64::from_be_bytes(number))
}

/// What the ledger has from a list.
#[derive(Debug, Serialize)]
struct TakenUp {
    file: String,
    /// The name of the key that signed it.
    issuer: String,
    /// In hexadecimal.
    number: Option<String>,
    /// What was not revoked in the ledger, or otherwise.
    revoked: Vec<EntryFacts>,
    /// The serial numbers of those that the ledger lacks.
    unknown: Vec<String>,
}

impl fmt::Display for TakenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, issuer, .. } = self;
        write!(f, "{file}: list ")?;
        if let Some(digits) = &self.number {
            match u64::from_str_radix(digits, 16) {
                Ok(number) => write!(f, "{number} (0x{digits}) ")?,
                Err(_) => write!(f, "0x{digits} ")?,
            }
        }
        writeln!(f, "of \"{issuer}\"")?;
        for one in &self.revoked {
            if let Some(revocation) = &one.revocation {
                let (title, state) = (one.title(), one.state.name());
                let (at, reason) = (&revocation.at, revocation.reason);
                writeln!(f, "  {title}: {state} since {at} ({reason})")?;
            }
        }
        for number in &self.unknown {
            writeln!(
                f,
                "  {number}: not in the ledger; record its certificate with \"pqtls ca adopt\", and give the list again"
            )?;
        }
        Ok(())
    }
}

/// What was given.
struct Sorted {
    lacking: Vec<AdoptedEntry<'static>>,
    known: Vec<SerialNumber>,
    /// The CA's own certificates.
    own: Vec<Certificate>,
}

/// The numbers of the CA's own certificates, if nothing else is to be revoked: what is in its ledger is revoked there, and
/// the rest by another CA or by none.
fn own_in_ledger(folder: &CaFolder, own: &[Certificate]) -> Result<Vec<SerialNumber>, Failure> {
    let mut known = Vec::new();
    let is_below = folder.is_below_another()?;
    for one in own {
        let root = folder.certificate(Role::Root)?;
        match SerialNumber::of(one) {
            _ if is_below => {
                let (issuer, subject) = (one.describe_issuer(), one.describe_subject());
                return Err(FolderError::OfCaAbove { issuer, subject }.into());
            }
            Ok(number) if root.der() != one.der() => known.push(number),
            _ => return Err(FolderError::OwnRoot.into()),
        }
    }
    Ok(known)
}

/// The certificates of the CA's own keys that its ledger lacks, although its root signed them, as before somebody copied a
/// later key's files into an older backup.
fn own_lacking(
    folder: &CaFolder,
    ledger: &impl Ledger,
    own: &[Certificate],
) -> Result<Vec<Certificate>, Failure> {
    let mut lacking = Vec::new();
    if folder.is_below_another()? {
        return Ok(lacking);
    }
    let root = folder.certificate(Role::Root)?;
    for one in own {
        if one.der() != root.der() && which::kept_number(ledger, one)?.is_none() {
            lacking.push(one.clone());
        }
    }
    Ok(lacking)
}

/// The certificates that the ledger lacks, and the numbers of those that it has. The CA's own certificates are left out,
/// unless the ledger lacks them and they follow no others in their file; and so is what is there twice. `options` are those
/// for "pqtls ca revoke".
fn sort(
    arguments: &Arguments,
    folder: &CaFolder,
    ledger: &impl Ledger,
    by: &str,
    options: &str,
) -> Result<Sorted, Failure> {
    let issuing = folder.issuing_keys().unwrap_or_default();
    let root = folder.certificate(Role::Root).ok();
    let own: Vec<_> = issuing
        .into_iter()
        .map(|(_, own)| own)
        .chain(root)
        .collect();
    let is_own = |one: &Certificate| own.iter().any(|own| own.der() == one.der());
    let (mut certificates, mut alone) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        let in_file = documents::certificates(file)?;
        if arguments.of_root || in_file.iter().all(is_own) {
            alone.extend(in_file.iter().filter(|one| is_own(one)).cloned());
        }
        certificates.extend(in_file);
    }
    if arguments.of_root {
        let root = folder.certificate(Role::Root)?;
        if folder.is_below_another()? {
            let root = folder.path().join("root.pem");
            return Err(FolderError::RootElsewhere(root).into());
        }
        certificates.retain(|one| {
            let signed = one.verify_signature(&root, other_verification());
            one.issuer() == root.subject() && signed.is_ok()
        });
        if certificates.is_empty() {
            return Err(Failure::NoneOfRoot);
        }
    }
    let given = certificates.iter().filter(|one| is_own(one)).cloned();
    let mut given: Vec<_> = given.collect();
    given.dedup();
    let meant = own_lacking(folder, ledger, &alone)?;
    let mut seen: BTreeSet<_> = own.iter().map(|own| own.der().to_vec()).collect();
    for one in &meant {
        seen.remove(&one.der().to_vec());
    }
    certificates.retain(|one| seen.insert(one.der().to_vec()));
    let (mut lacking, mut known) = (Vec::new(), Vec::new());
    for entry in folder.adopted(&certificates, other_verification(), by)? {
        let number = entry.entry.issued.serial_number;
        match ledger.certificate(&number)? {
            None => lacking.push(entry),
            Some(kept) if kept == entry.entry.certificate => known.push(number),
            Some(_) => {
                return Err(Failure::NumberOfAnother {
                    number,
                    options: options.into(),
                });
            }
        }
    }
    Ok(Sorted {
        lacking,
        known,
        own: given,
    })
}

#[derive(Debug, Serialize)]
struct Adopted {
    /// Those that the ledger lacked, in the order of the files.
    certificates: Vec<EntryFacts>,
    /// The serial numbers of those that the ledger had already.
    known: Vec<String>,
    /// The subjects of the CA's own certificates, if nothing else was given.
    own: Vec<String>,
    /// The ledger's other certificates for the same keys, which --all-with-key revoked.
    revoked_with_same_key: Vec<EntryFacts>,
    /// Those that are not revoked, and should be, after a compromise of a key.
    valid_with_same_key: Vec<EntryFacts>,
    #[serde(skip)]
    reason: Option<CrlReason>,
    /// What the lists of --crl said.
    lists: Vec<TakenUp>,
    /// The names of keys whose files are there, and that the ledger doesn't have.
    #[serde(skip)]
    later: Vec<String>,
}

impl Adopted {
    /// Whether the lists have certificates that the ledger lacks.
    fn lacks_some(&self) -> bool {
        self.lists.iter().any(|list| !list.unknown.is_empty())
    }

    /// What else an older ledger needs.
    fn write_next(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.certificates.is_empty() && self.lists.is_empty() {
            return Ok(());
        }
        writeln!(f, "What to do next, if the ledger is from an older backup:")?;
        if self.lists.is_empty() {
            writeln!(
                f,
                "  revoke again what was revoked since: \"pqtls ca revoke\", or \"pqtls ca adopt --crl FILE\" with the newest \
                 list of each key\n  \
                   give the next list of each key a number above all before it: \"pqtls ca crl --number NUMBER\""
            )?;
        } else if self.lacks_some() {
            writeln!(
                f,
                "  record what the lists have and the ledger lacks, and give the lists again: a list that is made before says \
                 nothing of these certificates"
            )?;
        } else {
            writeln!(
                f,
                "  revoke again what was revoked since these lists: \"pqtls ca revoke\"\n  \
                   make the next list of each key: \"pqtls ca crl\""
            )?;
        }
        for name in &self.later {
            writeln!(
                f,
                "  have \"{name}\" issue again: \"pqtls ca rollover --use {name}\""
            )?;
        }
        Ok(())
    }
}

impl Report for Adopted {
    const SCHEMA: &'static str = "ca-adopt/1";
}

impl fmt::Display for Adopted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recorded = self.certificates.iter().map(|one| (one, "recorded, "));
        let revoked = self.revoked_with_same_key.iter().map(|one| (one, ""));
        for (certificate, done) in recorded.chain(revoked) {
            let (title, number) = (certificate.title(), &certificate.serial_number);
            write!(f, "{title}: {done}serial number {number}")?;
            match &certificate.revocation {
                None => writeln!(f, "; valid, if it was not revoked since")?,
                Some(revocation) => {
                    let (at, reason) = (&revocation.at, revocation.reason);
                    writeln!(
                        f,
                        ", and {} since {at} ({reason})",
                        certificate.state.name()
                    )?;
                }
            }
        }
        for number in &self.known {
            writeln!(f, "{number}: in the ledger already")?;
        }
        for subject in &self.own {
            writeln!(
                f,
                "{subject}: a certificate of the CA itself; there is nothing to record"
            )?;
        }
        for list in &self.lists {
            write!(f, "{list}")?;
        }
        if let Some(reason) = self.reason {
            write_left(f, &self.valid_with_same_key, reason)?;
        }
        self.write_next(f)
    }
}
