//! Keys that the CA above certifies in its own folder, which is at hand: that of a new CA, and those that follow it.
//!
//! Two ledgers change, one after the other, and each step may be the last. So a key is written with the request for its
//! certificate; then the ledger above has the certificate; then this CA's ledger has it; then the files are written, and
//! the request is removed. Whoever was killed, or had no space left, does the same again: a key that waits is taken up,
//! with the certificate that the ledger above has for it, if it has one. Processes take [turns](Turn) at the folder, so that
//! no two complete the same.

use core::time::Duration;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pq_keys::files::Access;
use pq_x509::certificate::{Certificate, CertificateError, is_same_name};
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;
use pq_x509::keys::encoding::pem;
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::name::Name;

use super::draft::{Interruption, remove};
use super::error::FolderError;
use super::lifetime::is_valid_for;
use super::subordinate::{begin, name_constraints_of, request_of};
use super::succession::{
    Next, Subject, certificate_of, chain_in, check_not_ahead, check_other_cas, followed,
    generation, last_of,
};
use super::turn::Turn;
use super::{
    Certified, ENCRYPTED, Folder, Role, StoredKey, SubordinatePlan, Successor, certificate_path,
    is_there, key_error, request_path, verdict, whole, write, write_key,
};
use crate::authority::{Authority, CertifiedCas, SUBORDINATE_PROFILE};
use crate::ledger::{Entry, Generation, KeyHash, Ledger, LedgerError, Reader, SerialNumber, Stage};

impl Folder {
    /// Makes a CA in a new folder below another CA, whose [authority](Folder::authority) `above` certifies its key; that
    /// CA's ledger has the certificate before the new CA can be used. `chain` are the certificates of `above` and of the
    /// CAs above it without the root's, and `root` is the root's, which clients trust.
    ///
    /// If the process is killed, there is nothing, or a CA that waits for its certificate, as after
    /// [`create_pending`](Self::create_pending). The same call with an equal plan completes that, whatever the plan's key:
    /// the CA has the key that it was begun with, and the certificate that `above` has for it already, if there is one. Of
    /// several processes that do this at once, one succeeds.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create_unless_stopped) and of [`Authority::certify`], [`FolderError::NameTaken`] if
    /// `above` certified a CA of the same name that is valid, [`FolderError::OtherPending`] if another CA waits in the
    /// folder, [`FolderError::Complete`] if a CA is there that is complete, [`FolderError::OtherAbove`] if it was begun below
    /// another one, [`FolderError::BegunKey`] if its key can't be read, [`FolderError::LackedAbove`] if the ledger above lacks
    /// its certificate, [`FolderError::Unusable`] if that was revoked or is not valid now, [`FolderError::Above`] if the CA above
    /// or its ledger refuses it, as it does for a CA of the same name that it has on hold, unless it certifies
    /// [despite that](Authority::despite_revocations), and [`FolderError::CertifiedAbove`] if only the last steps failed.
    #[allow(
        clippy::too_many_arguments,
        reason = "each is another thing, and all callers have all of them"
    )]
    pub fn create_below<S: Signer, L: Ledger>(
        path: impl Into<PathBuf>,
        plan: &SubordinatePlan<impl StoredKey>,
        above: &Authority<S, L>,
        (chain, root): (&[Certificate], &Certificate),
        by: &str,
        now: UnixTime,
        interruption: &Interruption,
    ) -> Result<Self, FolderError> {
        let path = path.into();
        // Until the end: what another process begins here, it completes before this one looks.
        let mut turn = Turn::wait(&path)?;
        let begun = Self::begun_in(&path)?;
        if begun.is_none() {
            Self::check_free(&path)?;
        }
        let constraints = plan.constraints.to_name_constraints()?;
        let asked = request_of(&plan.key, |request| {
            request
                .common_name(&plan.name)
                .ca(Some(0), constraints.clone())
        })?;
        // Without any, it gets those of the CA above.
        let constraints = match constraints {
            Some(own) => Some(own),
            None => name_constraints_of(above.issuer().certificate())?,
        };
        let request = match &begun {
            Some(folder) => folder
                .begun_by(plan, &asked)
                .map_err(|error| folder.how_to_give_up(above, error))?,
            None => asked,
        };
        let subject = &request.parsed().info.subject;
        let key = key_of(&request)?;
        let digest = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
        let is_above = |name: &Name| {
            let mut those_above = chain.iter().chain([root, above.issuer().certificate()]);
            those_above.any(|one| is_same_name(one.subject(), name))
        };
        let check_name = |certified: &CertifiedCas| match is_above(subject)
            || certified.has_named(subject, Some(&digest), now)
        {
            true => Err(FolderError::NameTaken(subject.to_string())),
            false => Ok(()),
        };
        check_name(&above.certified_cas()?)?;
        check_not_ahead(above.ledger(), now).map_err(FolderError::above)?;
        let recorded = match &begun {
            Some(folder) => folder.first_recorded(above, root, now)?,
            None => None,
        };
        let with_own = |own| [own].into_iter().chain(chain.iter().cloned()).collect();
        let found = match recorded {
            Some(recorded) => Some(recorded),
            None => {
                let own = certified_by(above, &request, &digest, constraints.as_ref(), now)?;
                if own.is_none()
                    && begun.is_some()
                    && let Some(why) = revoked_above(above, &digest)?
                {
                    return Err(FolderError::Unusable { path, why });
                }
                own.map(with_own)
            }
        };
        let (full, made) = match found {
            Some(found) => {
                if !is_valid_for(plan.validity, &found[0], above.issuer().certificate()) {
                    return Err(FolderError::OtherPending(path));
                }
                verdict::check(&found, root, &[], now).map_err(FolderError::NotAccepted)?;
                (found, None)
            }
            None => {
                let cas = above.certified_cas().map_err(FolderError::above)?;
                above
                    .check_not_barred(&cas, &digest, subject, now)
                    .map_err(FolderError::above)?;
                let certified = Certified {
                    subject,
                    key: &key,
                    path_len: Some(0),
                    validity: plan.validity,
                    constraints: &plan.constraints,
                };
                let made = above.sign_subordinate(&certified, &[], by, now)?;
                above
                    .check_recordable(&made, &[])
                    .map_err(FolderError::above)?;
                let own = Certificate::from_der(&made.certificate).map_err(IssueError::from)?;
                (with_own(own), Some(made))
            }
        };
        let draft = match &begun {
            Some(_) => None,
            None => {
                let (draft, _) = begin(&path, &plan.policy, interruption)?;
                let file = request_path(draft.path(), Role::Issuing);
                write(&file, request.to_pem().as_bytes(), Access::OwnerWrites)?;
                Some(draft)
            }
        };
        let is_new = draft.is_some();
        interruption.finish(|| {
            if let Some(draft) = draft {
                let folder = draft.path().to_owned();
                turn = draft.place(&path, || write_key(&folder, Role::Issuing, &plan.key))?;
            }
            let folder = Self::open_pending(&path)?;
            if let Some(made) = made {
                // Whoever gets it, the ledger above has it.
                let recorded = above.record_ca(&made, check_name);
                recorded.map_err(|error| {
                    if is_new && matches!(error, FolderError::NameTaken(_)) {
                        // Another process was faster, so that nothing can come of this. Nobody has a certificate for
                        // the key.
                        let _ = remove(&path);
                    }
                    refused_there(error)
                })?;
            }
            let completed = folder.complete_first(full, root, by, now);
            completed.map_err(|cause| folder.not_completed(Role::Issuing, Role::Root, cause))
        })?;
        drop(turn);
        Self::open(path)
    }

    /// Whether a CA can be made there by [`create_below`](Self::create_below): nothing is there, an empty folder, or a CA
    /// that was begun and waits for its certificate.
    ///
    /// # Errors
    ///
    /// [`FolderError::Exists`], [`FolderError::Complete`], and others if what is there can't be read.
    pub fn check_free_below(path: &Path) -> Result<(), FolderError> {
        match Self::begun_in(path)? {
            Some(_) => Ok(()),
            None => Self::check_free(path),
        }
    }

    /// The CA that was begun in a folder, and is not complete. What can't be read is not taken for somebody else's.
    fn begun_in(path: &Path) -> Result<Option<Self>, FolderError> {
        match Self::open(path) {
            Err(FolderError::Pending(_) | FolderError::NotCompleted(_)) => {
                Self::open_pending(path).map(Some)
            }
            Err(FolderError::NoCa(_) | FolderError::Missing(_)) => Ok(None),
            Err(FolderError::Io { cause, .. }) if cause.kind() == ErrorKind::NotADirectory => {
                Ok(None)
            }
            Err(error) => Err(error),
            Ok(_) => Err(FolderError::Complete(path.into())),
        }
    }

    /// What to do about the key of a CA that was begun, and can't be read: unlike one that follows others, it can't be
    /// given up alone, since it is the CA's only one, and the CA above may have certified it.
    fn how_to_give_up<S: Signer, L: Ledger>(
        &self,
        above: &Authority<S, L>,
        error: FolderError,
    ) -> FolderError {
        let FolderError::WaitingKey { key, cause, .. } = error else {
            return error;
        };
        match self.certified_above_for_first(above) {
            Ok(certified) => FolderError::BegunKey {
                path: self.path.clone(),
                key,
                certified,
                cause,
            },
            Err(error) => error,
        }
    }

    /// The numbers of the certificates that the CA above has for the first key, and that are not revoked.
    fn certified_above_for_first<S: Signer, L: Ledger>(
        &self,
        above: &Authority<S, L>,
    ) -> Result<Vec<SerialNumber>, FolderError> {
        let certified = above.certified_cas().map_err(FolderError::above)?;
        let mut numbers = Vec::new();
        for (role, request) in self.requests()? {
            if role != Role::Issuing {
                continue;
            }
            let digest = KeyHash::of(&key_of(&request)?).map_err(IssueError::SubjectKey)?;
            let valid = certified.entries_for(&digest);
            let valid = valid.filter(|entry| entry.revocation().is_none());
            numbers.extend(valid.map(|entry| entry.issued.serial_number));
        }
        Ok(numbers)
    }

    /// The certificates of the first key that the ledger has, its own first, if it has some: `above` certified it below
    /// this root, and clients accept it now.
    fn first_recorded<S: Signer, L: Ledger>(
        &self,
        above: &Authority<S, L>,
        root: &Certificate,
        now: UnixTime,
    ) -> Result<Option<Vec<Certificate>>, FolderError> {
        let recorded = chain_in(&self.ledger.open()?.generations()?, Role::Issuing)?;
        let Some(chain) = recorded else {
            return Ok(None);
        };
        if !whole::leads_to(root, &chain)
            || !whole::is_issued_by(above.issuer().certificate(), &chain[0])
        {
            let last = chain.last().unwrap_or(&chain[0]);
            return Err(FolderError::OtherAbove {
                given: root.describe_subject(),
                own: last.describe_issuer(),
                root: certificate_path(&self.path, Role::Root),
            });
        }
        let unusable = |why: String| FolderError::Unusable {
            path: self.path.clone(),
            why,
        };
        match entry_above(above, &chain[0])? {
            Some(entry) => {
                if let Some(why) = refusal(&entry) {
                    return Err(unusable(why));
                }
            }
            None => {
                // So that it can be recorded there
                self.write_chain(Role::Issuing, &chain)?;
                return Err(FolderError::LackedAbove {
                    path: self.path.clone(),
                    certificate: certificate_path(&self.path, Role::Issuing),
                });
            }
        }
        match verdict::check(&chain, root, &[], now) {
            Ok(()) => Ok(Some(chain)),
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    /// The request with which a CA was begun that waits here, if it was begun by a plan like this one.
    fn begun_by(
        &self,
        plan: &SubordinatePlan<impl StoredKey>,
        asked: &CertificateRequest,
    ) -> Result<CertificateRequest, FolderError> {
        let mut requests = self.requests()?.into_iter();
        let first = requests.find(|(role, _)| *role == Role::Issuing);
        let policy = self.owner.read(&self.policy_path(), Reader::Anybody)?;
        match first {
            Some((role, request))
                if *policy == *plan.policy.as_bytes()
                    && request.parsed().info.subject == asked.parsed().info.subject
                    && request.parsed().info.attributes == asked.parsed().info.attributes
                    && self.is_key_like(role, &request, &plan.key, asked)? =>
            {
                Ok(request)
            }
            _ => Err(FolderError::OtherPending(self.path.clone())),
        }
    }

    /// Records the certificates of a new CA's key, unless the ledger has some for it, and writes the files of those that it
    /// has then, the root's last.
    fn complete_first(
        &self,
        mut full: Vec<Certificate>,
        root: &Certificate,
        by: &str,
        now: UnixTime,
    ) -> Result<(), FolderError> {
        let ledger = self.ledger.open()?;
        match chain_in(&ledger.generations()?, Role::Issuing)? {
            Some(recorded) => full = recorded,
            None => {
                let first = generation(Role::Issuing, &full, Stage::Issuing, by, now);
                ledger.change_generations(&[], &[first], &[], &[])?;
            }
        }
        self.write_chain(Role::Issuing, &full)?;
        self.write_chain(Role::Root, core::slice::from_ref(root))?;
        self.forget_request(Role::Issuing);
        Ok(())
    }
}

impl<L: Ledger> Folder<L> {
    /// Has a new key take the place of the issuing key, as [`rollover`](Self::rollover) does, for a CA
    /// [below another](Folder::create_below), whose authority `above` certifies the new key, and whose ledger has the
    /// certificate first. `chain` are the certificates of `above` and of the CAs above it without the root's.
    ///
    /// If the process is killed, a key may be left that is [waiting](Self::waiting). The same call completes that, for a
    /// successor of the same name, algorithm and kind of protection: the CA gets the key that waits, and the certificate
    /// that `above` has for it already, if there is one. Of several processes that do this at once, one succeeds; those that
    /// would complete the same return what it did.
    ///
    /// # Errors
    ///
    /// Those of [`rollover`](Self::rollover), [`FolderError::OtherAbove`] if `above` is not below this CA's root,
    /// [`FolderError::Above`] if that CA or its ledger refuses it, as it does if it has this CA on hold or withdrew its
    /// certificate, unless it certifies [despite that](Authority::despite_revocations), and
    /// [`FolderError::CertifiedAbove`] if only the last steps failed.
    pub fn rollover_below<S: Signer, M: Ledger>(
        &self,
        above: &Authority<S, M>,
        chain: &[Certificate],
        successor: &Successor<impl StoredKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Role, FolderError> {
        let root = self.certificate(Role::Root)?;
        let own = above.issuer().certificate();
        if root.der() != own.der() && !whole::leads_to(&root, chain) {
            return Err(FolderError::OtherAbove {
                given: own.describe_subject(),
                own: root.describe_subject(),
                root: certificate_path(&self.path, Role::Root),
            });
        }
        // Both, before anything is changed
        check_not_ahead(above.ledger(), now).map_err(FolderError::above)?;
        check_not_ahead(&self.ledger()?, now)?;
        let seen = self.look(above, successor, (&root, now))?;
        // Until the end: what another process begins, it completes before this one looks again.
        let _turn = Turn::wait(&self.path)?;
        if self.recorded_and_all()?.0 != seen.before {
            return self.done_meanwhile(seen.begun.as_ref());
        }
        let seen = match self.waiting_roles()? == seen.waiting {
            true => seen,
            false => self.look(above, successor, (&root, now))?,
        };
        let Seen {
            before,
            generations,
            last,
            asked,
            begun,
            ..
        } = &seen;
        if let Some(Begun {
            role,
            certified: Some(chain),
            is_recorded: true,
            ..
        }) = begun
        {
            self.write_recorded(*role, chain)?;
            self.forget_request(*role);
            return Ok(*role);
        }
        let (role, request) = match begun {
            Some(begun) => (begun.role, &begun.request),
            None => (seen.role, asked),
        };
        let key = key_of(request)?;
        let found = begun.as_ref().and_then(|begun| begun.certified.clone());
        let (own, made) = match found {
            Some(mut found) => (found.swap_remove(0), None),
            None => {
                check_goes_on(above, generations)?;
                let next = Next {
                    generations,
                    last,
                    role,
                    key: &key,
                    name: &successor.name,
                    validity: successor.validity,
                };
                let made = self.sign_next(&next, above, SUBORDINATE_PROFILE, (by, now))?;
                above
                    .check_recordable(&made, &[])
                    .map_err(FolderError::above)?;
                let own = Certificate::from_der(&made.certificate).map_err(IssueError::from)?;
                (own, Some(made))
            }
        };
        let full: Vec<_> = [own].into_iter().chain(chain.iter().cloned()).collect();
        self.check_accepted(&full, now)?;
        let is_for_later = successor.is_for_later;
        let after = followed(generations, (role, &full), is_for_later, by, now)?;
        if begun.is_none() {
            self.write_requested(role, &successor.key, request)?;
        }
        if let Some(made) = made {
            let recorded = above.record_ca(&made, |certified| {
                check_other_cas(certified, &successor.name, &full[0], now)
            });
            recorded.map_err(|error| {
                if begun.is_none() && matches!(error, FolderError::NameTaken(_)) {
                    // as in a new CA
                    let _ = fs::remove_file(self.key_path(role));
                    self.forget_request(role);
                }
                refused_there(error)
            })?;
        }
        match self.record_below(before, &after) {
            // File systems without locks give nobody a turn.
            Err(FolderError::Ledger(LedgerError::GenerationsChanged)) => {
                let begun = begun.as_ref();
                return self
                    .done_meanwhile(begun)
                    .map_err(|cause| self.certified_above(role, cause));
            }
            recorded => recorded.map_err(|error| match self.not_recorded(role, &after, error) {
                done @ FolderError::NotSure { is_done: true, .. } => done,
                cause => self.certified_above(role, cause),
            })?,
        }
        self.write_recorded(role, &full)?;
        self.forget_request(role);
        Ok(role)
    }

    /// What another process did with the key that waited, while this one waited for its turn.
    fn done_meanwhile(&self, begun: Option<&Begun>) -> Result<Role, FolderError> {
        let changed = || FolderError::from(LedgerError::GenerationsChanged);
        let Begun { role, request, .. } = begun.ok_or_else(changed)?;
        let recorded = chain_in(&self.ledger()?.generations()?, *role)?;
        let key = &request.parsed().info.public_key;
        let chain = recorded.filter(|chain| {
            let certified = chain[0].parsed().tbs_certificate();
            certified.subject_public_key_info() == key
        });
        let chain = chain.ok_or_else(changed)?;
        if !is_there(&certificate_path(&self.path, *role))? {
            self.write_recorded(*role, &chain)?;
        }
        self.forget_request(*role);
        Ok(*role)
    }

    /// The keys of which there are requests.
    fn waiting_roles(&self) -> Result<Vec<Role>, FolderError> {
        let requests = self.requests()?.into_iter();
        Ok(requests.map(|(role, _)| role).collect())
    }

    /// Looks what is there for a successor. This changes nothing.
    fn look<S: Signer, M: Ledger>(
        &self,
        above: &Authority<S, M>,
        successor: &Successor<impl StoredKey>,
        (root, now): (&Certificate, UnixTime),
    ) -> Result<Seen, FolderError> {
        let (before, generations) = self.recorded_and_all()?;
        let last = last_of(&generations)?;
        let role = self.next_role(&generations)?;
        let key = &successor.key;
        let subject = Subject::of_next(&generations, &last, &successor.name, role, key)?;
        let constraints = name_constraints_of(&last)?;
        let asked = request_of(key, |request| {
            subject.of_request(request).ca(Some(0), constraints.clone())
        })?;
        let waiting = self.waiting_roles()?;
        let mut seen = Seen {
            before,
            generations,
            last,
            role,
            asked,
            waiting,
            begun: None,
        };
        for (role, request) in self.requests()? {
            if self.is_begun_by(successor, &seen, (role, &request))? {
                seen.begun = self.begun(
                    above,
                    successor.validity,
                    (role, request),
                    &seen,
                    (root, now),
                )?;
            }
            if seen.begun.is_some() {
                break;
            }
        }
        Ok(seen)
    }

    /// Whether a key was begun for a successor like this one: it waits, or the ledger has it and its certificate's file is
    /// missing.
    fn is_begun_by(
        &self,
        successor: &Successor<impl StoredKey>,
        seen: &Seen,
        (role, request): (Role, &CertificateRequest),
    ) -> Result<bool, FolderError> {
        let Seen {
            generations, last, ..
        } = seen;
        let is_known = generations.iter().any(|one| one.name == role.name());
        if is_known && is_there(&certificate_path(&self.path, role))? {
            return Ok(false);
        }
        let key = key_of(request)?;
        let subject = Subject::of_next(generations, last, &successor.name, role, &key)?;
        Ok(subject.is(&request.parsed().info.subject)
            && request.parsed().info.attributes == seen.asked.parsed().info.attributes
            && self.is_key_like(role, request, &successor.key, &seen.asked)?)
    }

    /// A key that was begun, with the certificate that `above` has for it, unless it is of no use: others may know it, or
    /// its certificate was revoked, is not in the ledger above, is not valid now, or is valid for another time than is
    /// asked for.
    fn begun<S: Signer, M: Ledger>(
        &self,
        above: &Authority<S, M>,
        validity: Option<Duration>,
        (role, request): (Role, CertificateRequest),
        seen: &Seen,
        (root, now): (&Certificate, UnixTime),
    ) -> Result<Option<Begun>, FolderError> {
        let issuer = above.issuer().certificate();
        let key = key_of(&request)?;
        for half in KeyHash::all_of(&key).map_err(IssueError::SubjectKey)? {
            let compromised = above.ledger().compromised(&half);
            if compromised.map_err(FolderError::above)?.is_some() {
                return Ok(None);
            }
        }
        let recorded = chain_in(&seen.generations, role)?;
        let is_recorded = recorded.is_some();
        let certified = match recorded {
            Some(chain) => {
                if !whole::is_issued_by(issuer, &chain[0])
                    || entry_above(above, &chain[0])?.is_none_or(|one| refusal(&one).is_some())
                    || verdict::check(&chain, root, &[], now).is_err()
                {
                    return Ok(None);
                }
                Some(chain)
            }
            None => {
                let digest = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
                let constraints = name_constraints_of(&seen.last)?;
                let own = certified_by(above, &request, &digest, constraints.as_ref(), now)?;
                if own.is_none() && revoked_above(above, &digest)?.is_some() {
                    return Ok(None);
                }
                own.map(|own| vec![own])
            }
        };
        if let Some(certified) = &certified
            && !is_valid_for(validity, &certified[0], issuer)
        {
            return Ok(None);
        }
        Ok(Some(Begun {
            role,
            request,
            certified,
            is_recorded,
        }))
    }

    fn record_below(&self, before: &[Generation], after: &[Generation]) -> Result<(), FolderError> {
        Ok(self.ledger()?.change_generations(before, after, &[], &[])?)
    }

    /// Whether a key that waits has the algorithm of another one, is kept alike (in the clear, under its passphrase, or, if the
    /// text is not PEM, elsewhere), and is the key of its request.
    fn is_key_like<K: StoredKey>(
        &self,
        role: Role,
        request: &CertificateRequest,
        other: &K,
        of_other: &CertificateRequest,
    ) -> Result<bool, FolderError> {
        let path = self.key_path(role);
        let text = self.owner.read(&path, Reader::Owner)?;
        let kept = other.to_pem().map_err(key_error(path.clone()))?;
        let is_encrypted = |text: &[u8]| pem::blocks(text).any(|block| block.is_of(ENCRYPTED));
        let is_pem = |text: &[u8]| pem::blocks(text).next().is_some();
        let algorithm = |of: &CertificateRequest| of.parsed().info.public_key.algorithm.clone();
        if algorithm(request) != algorithm(of_other)
            || is_encrypted(&text) != is_encrypted(kept.as_bytes())
            || is_pem(&text) != is_pem(kept.as_bytes())
        {
            return Ok(false);
        }
        let key = other.read_like(&text).map_err(|cause| {
            let request = request_path(&self.path, role);
            FolderError::WaitingKey {
                key: path,
                request,
                cause: cause.into(),
            }
        })?;
        Ok(key.spki() == key_of(request)?)
    }

    /// The error after the ledger above has the certificate: whether the last file is there says whether all is done.
    fn not_completed(&self, role: Role, last: Role, cause: FolderError) -> FolderError {
        match is_there(&certificate_path(&self.path, last)) {
            Ok(true) => FolderError::NotSure {
                name: role.name().into(),
                is_done: true,
                cause: Box::new(cause),
            },
            _ => self.certified_above(role, cause),
        }
    }

    fn certified_above(&self, role: Role, cause: FolderError) -> FolderError {
        FolderError::CertifiedAbove {
            name: role.name().into(),
            path: self.path.clone(),
            cause: Box::new(cause),
        }
    }

    /// Removes the request for a certificate that is there. If it stays, it says the same as the certificate.
    pub(super) fn forget_request(&self, role: Role) {
        let _ = fs::remove_file(request_path(&self.path, role));
    }
}

/// That the CA above has nothing against it that a CA goes on whose keys are these.
fn check_goes_on<S: Signer, L: Ledger>(
    above: &Authority<S, L>,
    generations: &[Generation],
) -> Result<(), FolderError> {
    let mut issuing = generations.iter();
    let Some(issuing) = issuing.find(|one| one.stage == Stage::Issuing) else {
        return Ok(());
    };
    let Some(certificate) = certificate_of(issuing)? else {
        return Ok(());
    };
    match SerialNumber::of(&certificate) {
        Ok(number) => above.check_may_go_on(&number).map_err(FolderError::above),
        // Its ledger takes no such number.
        Err(_) => Ok(()),
    }
}

/// What the CA above refused to record. Whether a name is taken is no matter of that CA alone.
fn refused_there(error: FolderError) -> FolderError {
    match error {
        FolderError::NameTaken(_) => error,
        error => FolderError::above(error),
    }
}

/// The key for which a request asks for a certificate.
pub(super) fn key_of(
    request: &CertificateRequest,
) -> Result<SubjectPublicKeyInfoDer<'static>, FolderError> {
    let der = request.parsed().info.public_key.to_der();
    Ok(der
        .map_err(|error| IssueError::from(CertificateError::from(error)))?
        .into())
}

/// The newest certificate that a CA has in its ledger for what a request asks for, and that is valid now. Where a clock was
/// ahead, one may not be valid yet.
fn certified_by<S: Signer, L: Ledger>(
    above: &Authority<S, L>,
    request: &CertificateRequest,
    key: &KeyHash,
    constraints: Option<&NameConstraints>,
    now: UnixTime,
) -> Result<Option<Certificate>, FolderError> {
    let mut found = Vec::new();
    let certified = above.certified_cas().map_err(FolderError::above)?;
    for one in certified.valid_for(key, now) {
        if one.is_ca()
            && one.path_len() == Some(0)
            && *one.subject() == request.parsed().info.subject
            && name_constraints_of(&one)?.as_ref() == constraints
        {
            found.push(one);
        }
    }
    found.retain(|one| one.not_before() <= now);
    found.sort_by_key(|one| (one.not_after(), one.not_before()));
    Ok(found.pop())
}

/// What a CA's ledger has of a certificate; an older copy of it may lack that.
fn entry_above<S: Signer, L: Ledger>(
    above: &Authority<S, L>,
    certificate: &Certificate,
) -> Result<Option<Entry>, FolderError> {
    let number = SerialNumber::of(certificate);
    let number = number.map_err(|_| FolderError::NotOfThisCa(certificate.describe_subject()))?;
    above.ledger().entry(&number).map_err(FolderError::above)
}

/// Why a certificate of a CA can't be used, if its ledger has it as revoked or on hold.
fn refusal(entry: &Entry) -> Option<String> {
    let revoked = LedgerError::Revoked {
        number: entry.issued.serial_number,
        reason: entry.revocation()?.reason,
    };
    Some(revoked.to_string())
}

/// Why a key gets no certificate, if a CA revoked one that it had, or has it on hold: whoever did that did not mean it to
/// have another.
fn revoked_above<S: Signer, L: Ledger>(
    above: &Authority<S, L>,
    key: &KeyHash,
) -> Result<Option<String>, FolderError> {
    let certified = above.certified_cas().map_err(FolderError::above)?;
    Ok(certified.entries_for(key).find_map(refusal))
}

/// What is there for a key that is to follow others.
struct Seen {
    /// The generations that the ledger has.
    before: Vec<Generation>,
    generations: Vec<Generation>,
    last: Certificate,
    /// What a new key is called.
    role: Role,
    /// The request for the new key.
    asked: CertificateRequest,
    /// The keys of which there are requests.
    waiting: Vec<Role>,
    begun: Option<Begun>,
}

/// A key that was begun, and is completed.
struct Begun {
    role: Role,
    request: CertificateRequest,
    /// The certificate that the CA above has for it, or what this CA's ledger has.
    certified: Option<Vec<Certificate>>,
    is_recorded: bool,
}
