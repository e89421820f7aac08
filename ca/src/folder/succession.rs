//! The issuing keys of a CA's folder, one after another: a new key is certified, recorded, and takes the place of the
//! one that issued.
//!
//! The steps are in an order in which each may be the last: the new key is written, which nobody knows yet; then one
//! record of the ledger has its certificate, and which key issues from then on; then the certificate is written for
//! people to copy, and until that is done the ledger has it.

use core::time::Duration;
use std::fs;
use std::io;

use pq_keys::files::{self, Access};
use pq_x509::certificate::{Certificate, is_same_name};
use pq_x509::issuing::{Ca, CertificateBuilder, IssueError};
use pq_x509::keys::{Signer, SubjectKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::RequestBuilder;
use pq_x509::x509_cert::name::Name;

use super::error::{FolderError, io_error, key_error};
use super::lifetime::{lifetime_below, validity_of};
use super::{
    EARLIER, Folder, Role, StoredKey, certificate_path, is_taken, is_there, request_path, verdict,
    whole,
};
use crate::authority::{
    Authority, CA_PROFILE, CertifiedCas, DIGITS, adopted, common_name, numbered_stem, public_key,
};
use crate::ledger::{
    Entry, Generation, KeyHash, Ledger, LedgerError, NewEntry, SerialNumber, Stage,
};

/// A key that is to take the place of the issuing key.
#[derive(Clone, Debug)]
pub struct Successor<K> {
    /// The key itself, which is stored in the folder.
    pub key: K,
    /// The name in its certificate.
    pub name: NewName,
    /// How long its certificate is valid: by default as long as that of the key before it, or the root's time if that is
    /// shorter.
    pub validity: Option<Duration>,
    /// Whether it is published only, and [`issue_with`](Folder::issue_with) has it issue later.
    pub is_for_later: bool,
}

/// The name that the certificate of a new issuing key has as its subject.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum NewName {
    /// The name that the CA was made with, followed by the key's number and the beginning of its
    /// [digest](KeyHash), such as `Example CA 2 (3f9a01c4)`: no other key has that name, even if an older backup of the
    /// CA knows nothing of it. Its revocation lists have its own certificates alone.
    #[default]
    Numbered,
    /// The name of the key before it. All keys of one name share what is on their revocation lists, and the numbers of
    /// these. rustls's verifiers can't tell the lists of such keys apart, and know only one of them at a time.
    Same,
    /// This common name, which no other key may have.
    Given(String),
}

impl<L: Ledger> Folder<L> {
    /// The generations of the issuing key, in their order: those of the ledger, or the only key of a CA that has no
    /// other. There are none if the root issues.
    ///
    /// # Errors
    ///
    /// If the ledger or a certificate can't be read.
    pub fn generations(&self) -> Result<Vec<Generation>, FolderError> {
        Ok(self.recorded_and_all()?.1)
    }

    /// The generations that the ledger has, and the same with the only key of a CA that has no other.
    pub(super) fn recorded_and_all(
        &self,
    ) -> Result<(Vec<Generation>, Vec<Generation>), FolderError> {
        let recorded = self.ledger()?.generations()?;
        if !recorded.is_empty() || self.first_role()? == Role::Root {
            return Ok((recorded.clone(), recorded));
        }
        let chain = self.read_chain(Role::Issuing)?;
        let only = Generation {
            name: Role::Issuing.name().into(),
            since: chain[0].not_before(),
            chain: chain.into_iter().map(Certificate::into_der).collect(),
            stage: Stage::Issuing,
            by: String::new(),
        };
        Ok((recorded, vec![only]))
    }

    /// The CA certificates that follow those that a key signed, its own first, without the root's.
    ///
    /// # Errors
    ///
    /// [`FolderError::KeyWaits`] if the key waits for its certificate, [`FolderError::UnknownKey`] if the CA has no such key, and others if a certificate can't be read.
    pub fn chain_of(&self, role: Role) -> Result<Vec<Certificate>, FolderError> {
        match role {
            Role::Root => Ok(Vec::new()),
            Role::Issuing => {
                if let Some(chain) = self.recorded_without_file()? {
                    return Ok(chain);
                }
                let own = self.certificate(role)?;
                let above = self.read_chain(role)?.into_iter().skip(1);
                Ok([own].into_iter().chain(above).collect())
            }
            Role::Next(_) => {
                let generations = self.ledger.open()?.generations()?;
                if let Some(chain) = chain_in(&generations, role)? {
                    return Ok(chain);
                }
                // An older backup of the ledger lacks it.
                match is_there(&certificate_path(&self.path, role))? {
                    true => self.read_chain(role),
                    false if self.is_waiting(role)? => {
                        Err(FolderError::KeyWaits(role.name().into()))
                    }
                    false => Err(FolderError::UnknownKey(role.name().into())),
                }
            }
        }
    }

    /// The certificates of the first key that the ledger has, if their file is missing.
    pub(super) fn recorded_without_file(&self) -> Result<Option<Vec<Certificate>>, FolderError> {
        match is_there(&certificate_path(&self.path, Role::Issuing))? {
            true => Ok(None),
            false => chain_in(&self.ledger.open()?.generations()?, Role::Issuing),
        }
    }

    /// Has a new key take the place of the issuing key, which the root certifies. From then on it issues, and the one
    /// before it is [retired](Stage::Retired): it signs the revocation lists of its own certificates, and OCSP responses
    /// about them. The new certificate has the same name constraints. `root` is the [authority](Self::authority) of the
    /// root's key, and `by` says who does this.
    ///
    /// If the process is killed, either nothing has changed or all is done; a key file of which nothing came may be left.
    /// Of several processes that do this at once, one succeeds.
    ///
    /// # Errors
    ///
    /// [`FolderError::RootIssues`], [`FolderError::OutlivesParent`], [`FolderError::NameTaken`],
    /// [`FolderError::NotAccepted`], [`LedgerError::GenerationsChanged`] if another process did the
    /// same meanwhile, and others if the certificate can't be made or recorded or files can't be written.
    pub fn rollover<S: Signer>(
        &self,
        root: &Authority<S, L>,
        successor: &Successor<impl StoredKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Role, FolderError> {
        let (before, generations) = self.recorded_and_all()?;
        let last = last_of(&generations)?;
        let role = self.next_role(&generations)?;
        let next = Next {
            generations: &generations,
            last: &last,
            role,
            key: &successor.key,
            name: &successor.name,
            validity: successor.validity,
        };
        let made = self.sign_next(&next, root, CA_PROFILE, (by, now))?;
        let chain = [Certificate::from_der(&made.certificate).map_err(IssueError::from)?];
        self.check_accepted(&chain, now)?;
        self.write_new_key(role, &successor.key)?;
        let is_for_later = successor.is_for_later;
        let after = followed(&generations, (role, &chain), is_for_later, by, now)?;
        let recorded = root.record_next_key(&before, &after, &made, |cas| {
            check_other_cas(cas, &successor.name, &chain[0], now)
        });
        if let Err(error) = recorded {
            if error.changed_nothing() {
                // Nobody has a certificate for it.
                let _ = fs::remove_file(self.key_path(role));
            }
            return Err(self.not_recorded(role, &after, error));
        }
        self.write_recorded(role, &chain)?;
        Ok(role)
    }

    /// Signs the certificate of a key that is to follow the others.
    pub(super) fn sign_next<S: Signer, M: Ledger>(
        &self,
        next: &Next<'_>,
        above: &Authority<S, M>,
        profile: &str,
        (by, now): (&str, UnixTime),
    ) -> Result<NewEntry<'static>, FolderError> {
        let (last, issuer) = (next.last, above.issuer().certificate());
        let as_before = last.not_after().as_secs() - last.not_before().as_secs();
        let as_before = Duration::from_secs(as_before).saturating_sub(EARLIER);
        let lifetime = lifetime_below(issuer, next.validity, as_before, now)?;
        let builder = next.subject()?.of_certificate().path_len(0);
        let builder = builder.validity(validity_of(lifetime));
        let made = above.sign_ca(builder, Some(last), next.key, profile, (by, now))?;
        let own = Certificate::from_der(&made.certificate).map_err(IssueError::from)?;
        self.check_name(own.subject(), next.name, next.role)?;
        check_other_cas(&above.certified_cas()?, next.name, &own, now)?;
        Ok(made)
    }

    /// That clients accept what is below a new key's certificates, its own first.
    pub(super) fn check_accepted(
        &self,
        chain: &[Certificate],
        now: UnixTime,
    ) -> Result<(), FolderError> {
        // By a clock that was set back, it is valid as soon as those above it are.
        let time = chain.first().map_or(now, |own| now.max(own.not_before()));
        let root = self.certificate(Role::Root)?;
        verdict::check(chain, &root, &[], time).map_err(FolderError::NotAccepted)
    }

    /// What an error means that came when a new key was to be recorded: the ledger may have the key nevertheless.
    pub(super) fn not_recorded(
        &self,
        role: Role,
        after: &[Generation],
        error: FolderError,
    ) -> FolderError {
        if error.changed_nothing() {
            return error;
        }
        let wanted = after.iter().find(|one| one.name == role.name());
        let recorded = self.ledger().and_then(|ledger| Ok(ledger.generations()?));
        let is_done = recorded
            .ok()
            .map(|recorded| recorded.iter().any(|one| Some(one) == wanted));
        match is_done {
            Some(false) => error,
            is_done => FolderError::NotSure {
                name: role.name().into(),
                is_done: is_done.is_some(),
                cause: Box::new(error),
            },
        }
    }

    /// Has a key issue, in the place of the one that issues now: one that was published before, or one that issued
    /// earlier. `authority` is the [authority](Self::authority) of that key, so that it is there. This is also how a key
    /// issues again of which an older backup of the ledger knows nothing: its certificate is taken from its file.
    ///
    /// Where a clock was ahead, and a key has a certificate that is not valid yet, this is how the one before it issues
    /// again.
    ///
    /// # Errors
    ///
    /// [`FolderError::UnknownKey`], [`FolderError::IssuesAlready`], [`FolderError::NotAccepted`] if its certificate, or one
    /// above it, is not valid now, [`LedgerError::IssuerRevoked`], [`LedgerError::Clock`] if the clock is far ahead of the
    /// ledger, and others if the ledger can't be changed. Then nothing was changed.
    pub fn issue_with<S: Signer>(
        &self,
        authority: &Authority<S, L>,
        by: &str,
        now: UnixTime,
    ) -> Result<(), FolderError> {
        let unknown = || FolderError::UnknownKey(authority.name().into());
        let role = Role::from_name(authority.name()).filter(|role| *role != Role::Root);
        let role = role.ok_or_else(unknown)?;
        let (before, mut generations) = self.recorded_and_all()?;
        let ledger = self.ledger()?;
        check_not_ahead(&ledger, now)?;
        let mut lacking = None;
        let root = self.certificate(Role::Root)?;
        if !generations.iter().any(|one| one.name == role.name()) && matches!(role, Role::Next(_)) {
            let chain = self.chain_of(role)?;
            if !whole::leads_to(&root, &chain) {
                return Err(FolderError::OtherRoot {
                    root: certificate_path(&self.path, Role::Root),
                    issuing: certificate_path(&self.path, role),
                });
            }
            generations.push(generation(role, &chain, Stage::Published, by, now));
            if !self.is_below_another()? {
                let root = Role::Root.name();
                let entry = adopted(&chain[0], (&root, CA_PROFILE), by);
                let entry = entry.map_err(|error| FolderError::not_adopted(&chain[0], error));
                lacking = Some(entry?);
            }
        }
        // The root may have been asked to record it again.
        if let Some(entry) = &lacking
            && ledger.entry(&entry.issued.serial_number)?.is_some()
        {
            lacking = None;
        }
        let after = issuing_next(&generations, role, by, now)?;
        let chain = chain_in(&generations, role)?.ok_or_else(unknown)?;
        if chain[0].der() != authority.issuer().certificate().der() {
            return Err(unknown());
        }
        verdict::check(&chain, &root, &[], now).map_err(FolderError::NotAccepted)?;
        Ok(authority.record_generations(&before, &after, lacking.as_slice())?)
    }

    /// The certificates of all issuing keys, the newest last.
    ///
    /// # Errors
    ///
    /// If one can't be read.
    pub fn issuing_keys(&self) -> Result<Vec<(Role, Certificate)>, FolderError> {
        let mut keys = Vec::new();
        let generations = self.ledger.open()?.generations()?;
        let is_first = |one: &Generation| one.name == Role::Issuing.name();
        if is_there(&certificate_path(&self.path, Role::Issuing))?
            || generations.iter().any(is_first)
        {
            keys.push((Role::Issuing, self.certificate(Role::Issuing)?));
        }
        let known = generations
            .iter()
            .filter_map(|one| Role::from_name(&one.name));
        let mut next: Vec<_> = known.chain(self.next_certificates()?).collect();
        next.retain(|role| matches!(role, Role::Next(_)));
        next.sort_by_key(|role| role.number());
        next.dedup();
        for role in next {
            keys.push((role, self.certificate(role)?));
        }
        Ok(keys)
    }

    /// The keys of which there are files, after the first one.
    pub(super) fn next_keys(&self) -> Result<Vec<Role>, FolderError> {
        self.next_with("key")
    }

    fn next_certificates(&self) -> Result<Vec<Role>, FolderError> {
        self.next_with("pem")
    }

    fn next_with(&self, extension: &str) -> Result<Vec<Role>, FolderError> {
        let files = fs::read_dir(&self.path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let files = files.map_err(io_error("read", &self.path))?.into_iter();
        let names = files.map(|file| std::path::PathBuf::from(file.file_name()));
        let of_kind = names.filter(|name| name.extension().is_some_and(|one| one == extension));
        let mut roles: Vec<_> = of_kind
            .filter_map(|name| Role::from_name(name.file_stem()?.to_str()?))
            .filter(|role| matches!(role, Role::Next(_)))
            .collect();
        roles.sort_by_key(|role| role.number());
        Ok(roles)
    }

    /// The first key that is neither in the ledger nor in a file. A link that leads nowhere has a file's name, too.
    pub(super) fn next_role(&self, generations: &[Generation]) -> Result<Role, FolderError> {
        let mut number = 2;
        loop {
            let role = Role::Next(number);
            let is_known = generations.iter().any(|one| one.name == role.name());
            // A key that was left behind may be of a process that is at work.
            let mut is_used = is_known;
            for path in [
                self.key_path(role),
                certificate_path(&self.path, role),
                request_path(&self.path, role),
            ] {
                is_used = is_used || is_taken(&path)?;
            }
            if !is_used {
                return Ok(role);
            }
            number += 1;
        }
    }

    /// The name that a key can get which comes back into the folder.
    pub(super) fn free_name(&self) -> Result<String, FolderError> {
        let role = self.next_role(&self.ledger.open()?.generations()?)?;
        Ok(role.name().into())
    }

    /// The issuing keys whose certificates are in the folder, by its root, and which issue or issued by no generation of the
    /// ledger: as a copy of it that is older than the folder lacks them. Programs should warn of them. Of what is
    /// revoked, nobody needs to know more.
    ///
    /// # Errors
    ///
    /// If the folder, the ledger or the root's certificate can't be read.
    pub fn keys_unknown_to_ledger(&self) -> Result<Vec<Role>, FolderError> {
        let mut unknown = Vec::new();
        let roles = self.next_certificates()?;
        if roles.is_empty() {
            return Ok(unknown);
        }
        let ledger = self.ledger()?;
        let generations = ledger.generations()?;
        let root = self.certificate(Role::Root)?;
        for role in roles {
            let Ok(chain) = self.read_chain(role) else {
                continue;
            };
            let is_known = generations
                .iter()
                .any(|one| one.name == role.name() || one.certificate() == Some(chain[0].der()));
            if is_known || !whole::leads_to(&root, &chain) {
                continue;
            }
            let number = SerialNumber::of(&chain[0]).ok();
            let entry = number.map(|number| ledger.entry(&number)).transpose()?;
            let is_revoked = |entry: Entry| entry.revocation().is_some();
            if !entry.flatten().is_some_and(is_revoked) {
                unknown.push(role);
            }
        }
        Ok(unknown)
    }

    /// That no other key has this name: what is on a revocation list is known by the issuer's name (RFC 5280 section 5).
    /// Only keys that share their lists have one name.
    pub(super) fn check_name(
        &self,
        name: &Name,
        asked: &NewName,
        role: Role,
    ) -> Result<(), FolderError> {
        let root = self.certificate(Role::Root)?;
        let mut taken = vec![root.subject().clone()];
        if *asked != NewName::Same {
            let issuing = self.issuing_keys()?.into_iter();
            taken.extend(issuing.map(|(_, one)| one.subject().clone()));
            for (other, request) in self.waiting()? {
                if other != role && is_same_name(&request.parsed().info.subject, name) {
                    return Err(FolderError::NameWaits {
                        name: name.to_string(),
                        key: self.key_path(other),
                        request: request_path(&self.path, other),
                    });
                }
            }
        }
        match taken.iter().any(|one| is_same_name(one, name)) {
            true => Err(FolderError::NameTaken(name.to_string())),
            false => Ok(()),
        }
    }

    /// Writes a private key, unless there is a file of that name, as by another process.
    pub(super) fn write_new_key(
        &self,
        role: Role,
        key: &impl StoredKey,
    ) -> Result<(), FolderError> {
        let path = self.key_path(role);
        let pem = key.to_pem().map_err(key_error(path.clone()))?;
        let written = files::write_new(&path, pem.as_bytes(), Access::Private);
        written
            .map_err(io::Error::from)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => LedgerError::GenerationsChanged.into(),
                _ => io_error("write", &path)(error),
            })
    }

    /// Writes the certificates of a key, which the ledger has.
    pub(super) fn write_chain(&self, role: Role, chain: &[Certificate]) -> Result<(), FolderError> {
        let path = certificate_path(&self.path, role);
        let text = Certificate::chain_to_pem(chain);
        let written = files::write_over(&path, text.as_bytes(), Access::OwnerWrites);
        written
            .map_err(io::Error::from)
            .map_err(io_error("write", &path))
    }

    /// The same after a change of the ledger, which is done whether or not this succeeds.
    pub(super) fn write_recorded(
        &self,
        role: Role,
        chain: &[Certificate],
    ) -> Result<(), FolderError> {
        let written = self.write_chain(role, chain);
        written.map_err(|error| FolderError::NotSure {
            name: role.name().into(),
            is_done: true,
            cause: Box::new(error),
        })
    }
}

/// A key that is to follow others, and what is asked of its certificate.
pub(super) struct Next<'a> {
    pub(super) generations: &'a [Generation],
    /// The certificate of the last of them.
    pub(super) last: &'a Certificate,
    pub(super) role: Role,
    pub(super) key: &'a dyn SubjectKey,
    pub(super) name: &'a NewName,
    pub(super) validity: Option<Duration>,
}

impl Next<'_> {
    pub(super) fn subject(&self) -> Result<Subject, FolderError> {
        Subject::of_next(self.generations, self.last, self.name, self.role, self.key)
    }
}

/// That the CA which certified a key has certified no other one of this name, unless keys are to share theirs.
pub(super) fn check_other_cas(
    certified: &CertifiedCas,
    name: &NewName,
    own: &Certificate,
    now: UnixTime,
) -> Result<(), FolderError> {
    let key = public_key(own).map_err(IssueError::SubjectKey)?;
    let key = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
    match *name != NewName::Same && certified.has_named(own.subject(), Some(&key), now) {
        true => Err(FolderError::NameTaken(own.describe_subject())),
        false => Ok(()),
    }
}

/// The certificate of the key that was published last.
pub(super) fn last_of(generations: &[Generation]) -> Result<Certificate, FolderError> {
    let last = generations.last().ok_or(FolderError::RootIssues)?;
    Ok(Certificate::from_der(&last.chain[0]).map_err(IssueError::from)?)
}

/// The generations with one more, which issues from now on unless it is for later.
pub(super) fn followed(
    generations: &[Generation],
    (role, chain): (Role, &[Certificate]),
    is_for_later: bool,
    by: &str,
    now: UnixTime,
) -> Result<Vec<Generation>, FolderError> {
    let mut after = generations.to_vec();
    after.push(generation(role, chain, Stage::Published, by, now));
    match is_for_later {
        true => Ok(after),
        false => issuing_next(&after, role, by, now),
    }
}

/// The key that issues, as far as the ledger knows.
pub(super) fn issuing_of(generations: &[Generation]) -> Option<Role> {
    let issuing = generations.iter().find(|one| one.stage == Stage::Issuing);
    issuing.and_then(|one| Role::from_name(&one.name))
}

/// The certificates that the ledger has of a key.
pub(super) fn chain_in(
    generations: &[Generation],
    role: Role,
) -> Result<Option<Vec<Certificate>>, FolderError> {
    let Some(one) = generations.iter().find(|one| one.name == role.name()) else {
        return Ok(None);
    };
    let chain = one.chain.iter().map(|der| Certificate::from_der(der));
    let chain = chain
        .collect::<Result<Vec<_>, _>>()
        .map_err(IssueError::from)?;
    Ok((!chain.is_empty()).then_some(chain))
}

/// The names of the other keys whose certificates have this one's subject.
pub(super) fn of_same_name(
    generations: &[Generation],
    role: Role,
    own: &Certificate,
) -> Result<Vec<String>, FolderError> {
    let mut names = Vec::new();
    if !generations.iter().any(|one| one.name == role.name()) {
        return Ok(names);
    }
    for other in generations.iter().filter(|one| one.name != role.name()) {
        let has_same = |one: &Certificate| one.subject() == own.subject();
        if certificate_of(other)?.as_ref().is_some_and(has_same) {
            names.push(other.name.clone());
        }
    }
    Ok(names)
}

/// The key's certificate.
pub(super) fn certificate_of(generation: &Generation) -> Result<Option<Certificate>, FolderError> {
    let certificate = generation.certificate();
    let certificate = certificate
        .map(|der| Certificate::from_der(der))
        .transpose();
    Ok(certificate.map_err(IssueError::from)?)
}

/// The generations after this key took the place of the one that issues.
fn issuing_next(
    generations: &[Generation],
    role: Role,
    by: &str,
    now: UnixTime,
) -> Result<Vec<Generation>, FolderError> {
    let name = role.name();
    let unknown = || FolderError::UnknownKey(name.clone().into());
    let next = generations
        .iter()
        .find(|one| one.name == name)
        .ok_or_else(unknown)?;
    if next.stage == Stage::Issuing {
        return Err(FolderError::IssuesAlready(name.into()));
    }
    let after = generations.iter().map(|one| {
        // What it signed has expired with it. If it was a clock ahead that said so, it has not.
        let has_expired = one
            .certificate()
            .and_then(|der| Certificate::from_der(der).ok())
            .is_some_and(|one| one.not_after() < now);
        let stage = match one.stage {
            _ if one.name == name => Stage::Issuing,
            Stage::Published => Stage::Published,
            _ if has_expired => Stage::Ended,
            _ => Stage::Retired,
        };
        if stage == one.stage {
            return one.clone();
        }
        Generation {
            stage,
            since: now,
            by: by.into(),
            ..one.clone()
        }
    });
    Ok(after.collect())
}

/// That the clock is not far ahead of the ledger: it would end keys that are still needed.
pub(super) fn check_not_ahead(ledger: &impl Ledger, now: UnixTime) -> Result<(), LedgerError> {
    match ledger.check_time(now) {
        Err(LedgerError::Clock { last, .. }) if now < last => Ok(()),
        checked => checked,
    }
}

/// Whether a certificate has the name that a key gets which follows these, without one being given: theirs, or that of the
/// first one with a number and the beginning of its digest. The root certifies no other CA by such a name.
pub(super) fn is_named_as_next(
    own: &[(Role, Certificate)],
    certificate: &Certificate,
) -> Result<bool, FolderError> {
    let subject = certificate.subject();
    if own
        .iter()
        .any(|(_, one)| is_same_name(one.subject(), subject))
    {
        return Ok(true);
    }
    let key = public_key(certificate).map_err(IssueError::SubjectKey)?;
    let key = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
    let name = common_name(subject).unwrap_or_default();
    // A long one is cut off.
    let may_be_cut = name.chars().count() == MOST_CHARACTERS;
    Ok(numbered_stem(&name, &key).is_some_and(|stem| {
        let mut names = own.iter().filter_map(|(_, one)| common_name(one.subject()));
        names.any(|name| name == stem || may_be_cut && name.starts_with(&stem))
    }))
}

/// What the certificate of a new key, or the request for it, has as its subject.
pub(super) enum Subject {
    Whole(Name),
    Common(String),
}

impl Subject {
    /// That of a key which follows these.
    pub(super) fn of_next(
        generations: &[Generation],
        last: &Certificate,
        name: &NewName,
        role: Role,
        key: &dyn SubjectKey,
    ) -> Result<Self, FolderError> {
        Ok(match name {
            NewName::Given(name) => Self::Common(name.clone()),
            NewName::Same => Self::Whole(last.subject().clone()),
            NewName::Numbered => {
                let first = &generations[0].chain[0];
                let first = Certificate::from_der(first).map_err(IssueError::from)?;
                let common = first.subject().common_name().ok().flatten();
                let common = common.map_or_else(|| "CA".into(), |name| name.value().into_owned());
                let digest = KeyHash::of(key)
                    .map_err(IssueError::SubjectKey)?
                    .to_string();
                let end = format!(" {} ({})", role.number(), &digest[..DIGITS]);
                let most = MOST_CHARACTERS.saturating_sub(end.len());
                Self::Common(common.chars().take(most).collect::<String>() + &end)
            }
        })
    }

    /// Whether a name is this one.
    pub(super) fn is(&self, name: &Name) -> bool {
        match self {
            Self::Whole(whole) => is_same_name(whole, name),
            Self::Common(common) => {
                let named = name.common_name().ok().flatten();
                named.is_some_and(|named| named.value() == common.as_str())
            }
        }
    }

    fn of_certificate(&self) -> CertificateBuilder<Ca> {
        match self {
            Self::Whole(name) => CertificateBuilder::ca("").subject(name.clone()),
            Self::Common(name) => CertificateBuilder::ca(name),
        }
    }

    pub(super) fn of_request(&self, request: RequestBuilder) -> RequestBuilder {
        match self {
            Self::Whole(name) => request.subject(name.clone()),
            Self::Common(name) => request.common_name(name),
        }
    }
}

/// How long a common name may be (RFC 5280 appendix A.1, ub-common-name).
const MOST_CHARACTERS: usize = 64;

/// A key that is in this stage from now on.
pub(super) fn generation(
    role: Role,
    chain: &[Certificate],
    stage: Stage,
    by: &str,
    now: UnixTime,
) -> Generation {
    Generation {
        name: role.name().into(),
        chain: chain.iter().map(|one| one.der().clone()).collect(),
        stage,
        since: now,
        by: by.into(),
    }
}
