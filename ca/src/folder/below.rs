//! Keys that the CA above certifies in its own folder, which is at hand: that of a new CA, and those that follow it.
//!
//! Two ledgers change, one after the other, and each step may be the last. So a key is written with the request for its
//! certificate; then the ledger above has the certificate; then this CA's ledger has it; then the files are written, and
//! the request is removed. Whoever was killed, or had no space left, does the same again: a key that waits is taken up,
//! with the certificate that the ledger above has for it, if it has one.

use std::fs;
use std::path::PathBuf;

use pq_keys::files::Access;
use pq_x509::certificate::{Certificate, CertificateError, is_same_name};
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;
use pq_x509::keys::encoding::pem;
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::ext::pkix::NameConstraints;

use super::draft::Interruption;
use super::error::FolderError;
use super::subordinate::{begin, name_constraints_of, request_of, request_path};
use super::succession::{Next, Subject, chain_in, check_not_ahead, followed, generation, last_of};
use super::{
    Certified, ENCRYPTED, Folder, Role, StoredKey, SubordinatePlan, Successor, certificate_path,
    is_there, key_error, whole, write, write_key,
};
use crate::authority::{Authority, SUBORDINATE_PROFILE};
use crate::ledger::{Generation, KeyHash, Ledger, Reader, Stage};

impl Folder {
    /// Makes a CA in a new folder below another CA, whose [authority](Folder::authority) `above` certifies its key; that
    /// CA's ledger has the certificate before the new CA can be used. `chain` are the certificates of `above` and of the
    /// CAs above it without the root's, and `root` is the root's, which clients trust.
    ///
    /// If the process is killed, there is nothing, or a CA that waits for its certificate, as after
    /// [`create_pending`](Self::create_pending). The same call with an equal plan completes that, whatever the plan's key:
    /// the CA has the key that it was begun with, and the certificate that `above` has for it already, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create_unless_stopped) and of [`Authority::certify`], [`FolderError::NameTaken`] if
    /// `above` certified a CA of the same name that is valid, [`FolderError::OtherPending`] if another CA waits in the
    /// folder, [`FolderError::Above`] if the CA above or its ledger refuses it, and [`FolderError::CertifiedAbove`] if only the last steps failed.
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
        let begun = match Self::open(&path) {
            Err(FolderError::Pending(_)) => Some(Self::open_pending(&path)?),
            _ => None,
        };
        let request = match &begun {
            Some(folder) => folder.begun_by(plan, &asked)?,
            None => asked,
        };
        let subject = &request.parsed().info.subject;
        let key = key_of(&request)?;
        let digest = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
        let mut those_above = chain.iter().chain([root, above.issuer().certificate()]);
        if those_above.any(|one| is_same_name(one.subject(), subject))
            || above.has_ca_named(subject, Some(&digest), now)?
        {
            return Err(FolderError::NameTaken(subject.to_string()));
        }
        check_not_ahead(above.ledger(), now).map_err(FolderError::above)?;
        let recorded = match &begun {
            Some(folder) => chain_in(&folder.ledger.open()?.generations()?, Role::Issuing)?,
            None => None,
        };
        let found = match recorded {
            Some(mut chain) => Some(chain.swap_remove(0)),
            None => certified_by(above, &request, &digest, constraints.as_ref(), now)?,
        };
        let (own, made) = match found {
            Some(own) => (own, None),
            None => {
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
                (own, Some(made))
            }
        };
        let full: Vec<_> = [own].into_iter().chain(chain.iter().cloned()).collect();
        let draft = match &begun {
            Some(_) => None,
            None => {
                let (draft, _) = begin(&path, &plan.policy, interruption)?;
                let file = request_path(draft.path(), Role::Issuing);
                write(&file, request.to_pem().as_bytes(), Access::OwnerWrites)?;
                Some(draft)
            }
        };
        interruption.finish(|| {
            if let Some(draft) = draft {
                let folder = draft.path().to_owned();
                draft.place(&path, || write_key(&folder, Role::Issuing, &plan.key))?;
            }
            let folder = Self::open_pending(&path)?;
            if let Some(made) = made {
                // Whoever gets it, the ledger above has it.
                above.record_ca(made).map_err(FolderError::above)?;
            }
            let completed = folder.complete_first(&full, root, by, now);
            completed.map_err(|cause| folder.not_completed(Role::Issuing, Role::Root, cause))
        })?;
        Self::open(path)
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

    /// Records the certificates of a new CA's key, and writes their files, the root's last.
    fn complete_first(
        &self,
        full: &[Certificate],
        root: &Certificate,
        by: &str,
        now: UnixTime,
    ) -> Result<(), FolderError> {
        let ledger = self.ledger.open()?;
        if ledger.generations()?.is_empty() {
            let first = generation(Role::Issuing, full, Stage::Issuing, by, now);
            ledger.change_generations(&[], &[first], &[], &[])?;
        }
        self.write_chain(Role::Issuing, full)?;
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
    /// that `above` has for it already, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`rollover`](Self::rollover), [`FolderError::OtherAbove`] if `above` is not below this CA's root,
    /// [`FolderError::Above`] if that CA or its ledger refuses it, and
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
        let (before, generations) = self.recorded_and_all()?;
        let last = last_of(&generations)?;
        let new = Next {
            generations: &generations,
            last: &last,
            role: self.next_role(&generations)?,
            key: &successor.key,
            name: &successor.name,
            validity: successor.validity,
        };
        let (subject, constraints) = (new.subject()?, name_constraints_of(&last)?);
        let asked = request_of(&successor.key, |request| {
            subject.of_request(request).ca(Some(0), constraints.clone())
        })?;
        let begun = self.begun(&generations, &last, successor, &asked)?;
        if let Some((role, _)) = &begun
            && let Some(chain) = chain_in(&generations, *role)?
        {
            self.write_recorded(*role, &chain)?;
            self.forget_request(*role);
            return Ok(*role);
        }
        let (role, request) = begun
            .as_ref()
            .map_or((new.role, &asked), |(role, request)| (*role, request));
        let key = key_of(request)?;
        let digest = KeyHash::of(&key).map_err(IssueError::SubjectKey)?;
        let (own, made) = match certified_by(above, request, &digest, constraints.as_ref(), now)? {
            Some(own) => (own, None),
            None => {
                let next = Next {
                    role,
                    key: &key,
                    ..new
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
        let after = followed(&generations, (role, &full), is_for_later, by, now)?;
        if begun.is_none() {
            self.write_requested(role, &successor.key, request)?;
        }
        if let Some(made) = made {
            above.record_ca(made).map_err(FolderError::above)?;
        }
        self.record_below(&before, &after).map_err(|error| {
            match self.not_recorded(role, &after, error) {
                done @ FolderError::NotSure { is_done: true, .. } => done,
                cause => self.certified_above(role, cause),
            }
        })?;
        self.write_recorded(role, &full)?;
        self.forget_request(role);
        Ok(role)
    }

    fn record_below(&self, before: &[Generation], after: &[Generation]) -> Result<(), FolderError> {
        Ok(self.ledger()?.change_generations(before, after, &[], &[])?)
    }

    /// A key that was begun for a successor like this one: it waits, or the ledger has it and its certificate's file is
    /// missing.
    fn begun(
        &self,
        generations: &[Generation],
        last: &Certificate,
        successor: &Successor<impl StoredKey>,
        asked: &CertificateRequest,
    ) -> Result<Option<(Role, CertificateRequest)>, FolderError> {
        for (role, request) in self.requests()? {
            let is_known = generations.iter().any(|one| one.name == role.name());
            if is_known && is_there(&certificate_path(&self.path, role))? {
                continue;
            }
            let key = key_of(&request)?;
            let subject = Subject::of_next(generations, last, &successor.name, role, &key)?;
            if subject.is(&request.parsed().info.subject)
                && request.parsed().info.attributes == asked.parsed().info.attributes
                && self.is_key_like(role, &request, &successor.key, asked)?
            {
                return Ok(Some((role, request)));
            }
        }
        Ok(None)
    }

    /// Whether a key that waits has the algorithm of another one, and is kept alike: in the clear, under a passphrase, or, if
    /// the text is not PEM, elsewhere.
    fn is_key_like(
        &self,
        role: Role,
        request: &CertificateRequest,
        other: &impl StoredKey,
        of_other: &CertificateRequest,
    ) -> Result<bool, FolderError> {
        let path = self.key_path(role);
        let text = self.owner.read(&path, Reader::Owner)?;
        let other = other.to_pem().map_err(key_error(path))?;
        let is_encrypted = |text: &[u8]| pem::blocks(text).any(|block| block.is_of(ENCRYPTED));
        let is_pem = |text: &[u8]| pem::blocks(text).next().is_some();
        let algorithm = |of: &CertificateRequest| of.parsed().info.public_key.algorithm.clone();
        Ok(algorithm(request) == algorithm(of_other)
            && is_encrypted(&text) == is_encrypted(other.as_bytes())
            && is_pem(&text) == is_pem(other.as_bytes()))
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
    fn forget_request(&self, role: Role) {
        let _ = fs::remove_file(request_path(&self.path, role));
    }
}

/// The key for which a request asks for a certificate.
fn key_of(request: &CertificateRequest) -> Result<SubjectPublicKeyInfoDer<'static>, FolderError> {
    let der = request.parsed().info.public_key.to_der();
    Ok(der
        .map_err(|error| IssueError::from(CertificateError::from(error)))?
        .into())
}

/// The newest certificate that a CA has in its ledger for what a request asks for.
fn certified_by<S: Signer, L: Ledger>(
    above: &Authority<S, L>,
    request: &CertificateRequest,
    key: &KeyHash,
    constraints: Option<&NameConstraints>,
    now: UnixTime,
) -> Result<Option<Certificate>, FolderError> {
    let mut found = Vec::new();
    for one in above
        .certificates_for(key, now)
        .map_err(FolderError::above)?
    {
        if one.is_ca()
            && one.path_len() == Some(0)
            && *one.subject() == request.parsed().info.subject
            && name_constraints_of(&one)?.as_ref() == constraints
        {
            found.push(one);
        }
    }
    found.sort_by_key(|one| (one.not_after(), one.not_before()));
    Ok(found.pop())
}
