//! CAs below other CAs: one is made below a CA whose key is at hand, or makes a request and waits for its certificate;
//! and a CA certifies others.
//!
//! A CA that waits has everything but the root's certificate, which is written last: a folder without it is none that
//! can be used yet.

use alloc::borrow::Cow;
use core::time::Duration;

use pq_keys::files::Access;
use pq_x509::certificate::{
    AlternativeName, Certificate, CertificateError, KeyUsages, is_same_name,
};
use pq_x509::issuing::{CertificateBuilder, IssueError};
use pq_x509::keys::{Signer, SubjectKey};
use pq_x509::pki_types::{SignatureVerificationAlgorithm, UnixTime};
use pq_x509::request::{CertificateRequest, RequestBuilder};
use pq_x509::validation::ValidationError;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::name::Name;

use super::draft::{Draft, Interruption, make_private_folder};
use super::error::FolderError;
use super::lifetime::{lifetime_below, validity_of};
use super::reading::{Owner, check_place};
use super::succession::{Subject, certificate_of, chain_in, generation, last_of};
use super::turn::Turn;
use super::{
    Constraints, Folder, LEDGER, LedgerPlace, NewName, POLICY, ROOT_CERTIFICATE, Role, StoredKey,
    is_there, request_path, verdict, write, write_key,
};
use crate::authority::{Authority, CertifiedCas, SUBORDINATE_PROFILE, public_key};
use crate::ledger::{Generation, KeyHash, Ledger, LocalLedger, NewEntry, Reader, Stage};
use crate::policy::Policy;

/// The plan for a CA whose key another CA certifies.
#[derive(Clone, Debug)]
pub struct SubordinatePlan<K> {
    /// The CA's name, such as `Example CA`.
    pub name: String,
    /// Its issuing key.
    pub key: K,
    /// How long its certificate is valid: by default five years, or the time of the CA above if that is shorter. The
    /// CA that gets a request decides about this itself.
    pub validity: Option<Duration>,
    /// The name constraints in its certificate, for which a request asks. Without any, it gets those of the CA above.
    pub constraints: Constraints,
    /// The policy's text.
    pub policy: String,
}

/// What a CA certifies of another CA.
#[derive(Clone, Copy)]
pub struct Certified<'a> {
    /// The other CA's name.
    pub subject: &'a Name,
    /// Its key.
    pub key: &'a dyn SubjectKey,
    /// How many further CAs may be below it: by default as many as this CA's own path length permits.
    pub path_len: Option<u8>,
    /// How long the certificate is valid: by default five years, or the time of this CA if that is shorter.
    pub validity: Option<Duration>,
    /// Its name constraints. Without any, it gets those of this CA.
    pub constraints: &'a Constraints,
}

impl<S: Signer, L: Ledger> Authority<S, L> {
    /// Certifies another CA, and records that in this CA's ledger, so that it can be revoked. One of the same name and key may
    /// have a certificate already: this renews it.
    ///
    /// # Errors
    ///
    /// [`FolderError::NameTaken`] if it has the name of one of this CA's keys, or of another key that this CA certified and
    /// whose certificate is valid,
    /// [`FolderError::OutlivesParent`], [`FolderError::OutsideParent`], an [`IssueError::PathLength`] if this CA may have
    /// none below it, [`FolderError::PathLength`] if it may not have one with as many CAs below it,
    /// an [`AuthorityError::Barred`](crate::authority::AuthorityError::Barred) if it revoked one for the same key or for a CA of the same name, or has it on hold, and
    /// none of these is valid, unless it certifies [despite that](Authority::despite_revocations),
    /// [`FolderError::CertifiesItself`] for its own key, [`FolderError::NotAccepted`] if nobody would accept what is below
    /// the certificate, by the algorithms of pq-x509 and those given, and others if the certificate can't be made or
    /// recorded.
    pub fn certify(
        &self,
        certified: &Certified<'_>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, FolderError> {
        let key = KeyHash::of(certified.key).map_err(IssueError::SubjectKey)?;
        let check = |cas: &CertifiedCas| {
            if cas.has_named(certified.subject, Some(&key), now) {
                return Err(FolderError::NameTaken(certified.subject.to_string()));
            }
            self.check_no_own_key(cas, certified.subject)
        };
        self.sign_and_record(certified, algorithms, check, (by, now))
    }

    /// The same for another key of a CA that this one certified already, whose keys share one
    /// [name](NewName::Same).
    ///
    /// # Errors
    ///
    /// Those of [`certify`](Self::certify), except for names of other keys that this CA certified.
    pub fn certify_next_key(
        &self,
        certified: &Certified<'_>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, FolderError> {
        let check = |cas: &CertifiedCas| self.check_no_own_key(cas, certified.subject);
        self.sign_and_record(certified, algorithms, check, (by, now))
    }

    /// That none of this CA's own keys has a name: revoked certificates are known by their issuer's name (RFC 5280
    /// section 5).
    fn check_no_own_key(&self, cas: &CertifiedCas, name: &Name) -> Result<(), FolderError> {
        match self.has_own_key_named(cas, name)? {
            true => Err(FolderError::NameTaken(name.to_string())),
            false => Ok(()),
        }
    }

    /// Checks before it signs, and again for what was recorded meanwhile.
    fn sign_and_record(
        &self,
        certified: &Certified<'_>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        check: impl Fn(&CertifiedCas) -> Result<(), FolderError>,
        (by, now): (&str, UnixTime),
    ) -> Result<Certificate, FolderError> {
        let key = KeyHash::of(certified.key).map_err(IssueError::SubjectKey)?;
        let check = |cas: &CertifiedCas| {
            check(cas)?;
            Ok(self.check_not_barred(cas, &key, certified.subject, now)?)
        };
        check(&self.certified_cas()?)?;
        let made = self.sign_subordinate(certified, algorithms, by, now)?;
        self.record_ca(&made, check)
    }

    /// The same for another CA's root, which proves by its own signature that it has the key. Without `path_len`, the
    /// certificate may have as many CAs below it as the root, or as this CA permits if that is less. For a new root of the
    /// same name this makes the certificate "new with old" by which clients that trust only this one accept what is below
    /// the new one (RFC 4210 section 4.4).
    ///
    /// # Errors
    ///
    /// Those of [`certify`](Self::certify) except for the name, [`FolderError::NotARoot`], and
    /// [`FolderError::NoRoomBelow`] if the root has CAs below it, and none of these would be accepted, unless `path_len` is
    /// given.
    pub fn certify_root(
        &self,
        root: &Certificate,
        path_len: Option<u8>,
        validity: Option<Duration>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, FolderError> {
        let is_signed = root.verify_signature(root, algorithms).is_ok();
        if !root.is_ca() || root.subject() != root.issuer() || !is_signed {
            return Err(FolderError::NotARoot(root.describe_subject()));
        }
        let key = public_key(root).map_err(IssueError::SubjectKey)?;
        let certified = Certified {
            subject: root.subject_to_write().map_err(IssueError::from)?,
            key: &key,
            path_len: match path_len {
                Some(_) => path_len,
                None => self.path_len_of_root(root)?,
            },
            validity,
            constraints: &Constraints::default(),
        };
        self.sign_and_record(&certified, algorithms, |_| Ok(()), (by, now))
    }

    /// As many as the root has below it, or as this CA permits if that is less.
    fn path_len_of_root(&self, root: &Certificate) -> Result<Option<u8>, FolderError> {
        let Some(asked) = root.path_len() else {
            return Ok(None);
        };
        let own = self.issuer().certificate();
        let Some(most) = self.most_below(root.subject()) else {
            return Ok(Some(asked));
        };
        if most == 0 && asked > 0 && own.path_len() > Some(0) {
            return Err(FolderError::NoRoomBelow {
                root: root.describe_subject(),
                asked,
                own: own.describe_subject(),
            });
        }
        Ok(Some(most.min(asked)))
    }

    /// The greatest path length of a CA of this name, if there is one: a certificate that this CA issues to its own name
    /// doesn't count among those below (RFC 5280 section 4.2.1.9).
    fn most_below(&self, subject: &Name) -> Option<u8> {
        let own = self.issuer().certificate();
        let path_len = own.path_len()?;
        match is_same_name(subject, own.subject()) {
            true => Some(path_len),
            false => Some(path_len.saturating_sub(1)),
        }
    }

    /// The same, without recording it.
    pub(super) fn sign_subordinate(
        &self,
        certified: &Certified<'_>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        by: &str,
        now: UnixTime,
    ) -> Result<NewEntry<'static>, FolderError> {
        let own = self.issuer().certificate();
        let key = KeyHash::of(certified.key).map_err(IssueError::SubjectKey)?;
        if KeyHash::of(self.issuer().signer()).map_err(IssueError::SubjectKey)? == key {
            return Err(FolderError::CertifiesItself);
        }
        let most = self.most_below(certified.subject);
        if let (Some(path_len), Some(most)) = (own.path_len(), most)
            && path_len > 0
            && certified.path_len.is_some_and(|asked| asked > most)
        {
            return Err(FolderError::PathLength {
                subject: own.describe_subject(),
                path_len,
                most,
            });
        }
        let validity = lifetime_below(own, certified.validity, VALIDITY, now)?;
        let constraints = certified.constraints;
        check_constraints(constraints, own)?;
        let mut builder = CertificateBuilder::ca("")
            .subject(certified.subject.clone())
            .validity(validity_of(validity));
        if let Some(path_len) = certified.path_len.or(most) {
            builder = builder.path_len(path_len);
        }
        let like = (*constraints == Constraints::default()).then_some(own);
        let builder = constraints.apply(builder);
        let made = self.sign_ca(builder, like, certified.key, SUBORDINATE_PROFILE, (by, now))?;
        let certificate = Certificate::from_der(&made.certificate).map_err(IssueError::from)?;
        verdict::check(&[certificate], own, algorithms, now).map_err(FolderError::NotAccepted)?;
        Ok(made)
    }
}

/// Whether one of these keys has this name in its certificate.
fn has_key_named<'a>(
    generations: impl IntoIterator<Item = &'a Generation>,
    name: &Name,
) -> Result<bool, FolderError> {
    for generation in generations {
        let has_it = |one: &Certificate| is_same_name(one.subject(), name);
        if certificate_of(generation)?.as_ref().is_some_and(has_it) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// That a CA's own constraints permit all that those of a CA below it do.
fn check_constraints(constraints: &Constraints, own: &Certificate) -> Result<(), FolderError> {
    let domains = constraints
        .domains
        .iter()
        .cloned()
        .map(AlternativeName::Dns);
    // A network is permitted if its first and its last address are, since constraints are networks, too.
    let networks = constraints
        .networks
        .iter()
        .flat_map(|network| [network.address(), last_address_of(network)].map(AlternativeName::Ip));
    match domains.chain(networks).find(|name| !own.permits_name(name)) {
        Some(name) => Err(FolderError::OutsideParent {
            name: name.to_string(),
            parent: own.describe_subject(),
        }),
        None => Ok(()),
    }
}

fn last_address_of(network: &crate::policy::Network) -> core::net::IpAddr {
    match network.address() {
        core::net::IpAddr::V4(first) => {
            let host = u32::MAX
                .checked_shr(network.prefix_len().into())
                .unwrap_or(0);
            core::net::Ipv4Addr::from_bits(first.to_bits() | host).into()
        }
        core::net::IpAddr::V6(first) => {
            let host = u128::MAX
                .checked_shr(network.prefix_len().into())
                .unwrap_or(0);
            core::net::Ipv6Addr::from_bits(first.to_bits() | host).into()
        }
    }
}

impl Folder {
    /// Makes a CA in a new folder whose key another CA is to certify, and returns the request for that. The CA can't be
    /// used before [`install`](Self::install). The request asks for the plan's constraints. The plan's validity counts
    /// for nothing: the other CA decides about it.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create_unless_stopped).
    pub fn create_pending(
        path: impl Into<std::path::PathBuf>,
        plan: &SubordinatePlan<impl StoredKey>,
        interruption: &Interruption,
    ) -> Result<CertificateRequest, FolderError> {
        let path = path.into();
        let constraints = plan.constraints.to_name_constraints()?;
        let request = request_of(&plan.key, |request| {
            request.common_name(&plan.name).ca(Some(0), constraints)
        })?;
        let (draft, _) = begin(&path, &plan.policy, interruption)?;
        let file = request_path(draft.path(), Role::Issuing);
        write(&file, request.to_pem().as_bytes(), Access::OwnerWrites)?;
        let folder = draft.path().to_owned();
        draft.complete(&path, interruption, || {
            write_key(&folder, Role::Issuing, &plan.key)
        })?;
        Ok(request)
    }

    /// Opens a CA that waits for its certificate, or any other, for [`install`](Self::install).
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_pending(path: impl Into<std::path::PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        match Self::open(&path) {
            Err(FolderError::Pending(_) | FolderError::NotCompleted(_)) => {
                let owner = Owner::of(&path)?;
                Ok(Self {
                    ledger: LedgerPlace::in_folder(&path, owner),
                    owner,
                    path,
                })
            }
            opened => opened,
        }
    }
}

impl<L: Ledger> Folder<L> {
    /// Whether another CA's key certified the first issuing key: then the root's key is not this CA's.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    pub fn is_below_another(&self) -> Result<bool, FolderError> {
        let ledger = self.ledger()?;
        let Some(first) = ledger.generations()?.into_iter().next() else {
            return Ok(false);
        };
        let first = Certificate::from_der(&first.chain[0]).map_err(IssueError::from)?;
        let number = crate::ledger::SerialNumber::of(&first);
        Ok(match number {
            Ok(number) => ledger.entry(&number)?.is_none(),
            Err(_) => true,
        })
    }

    /// Makes a new issuing key which another CA is to certify, and returns its role and the request. It is of no use
    /// before [`install`](Self::install), and among those that are [waiting](Self::waiting) until then. The other CA
    /// may give it another name than the one it asks for. It asks for the name constraints of the last key's certificate.
    ///
    /// # Errors
    ///
    /// [`FolderError::RootIssues`], [`FolderError::NameTaken`], and others if files can't be written.
    pub fn request_successor(
        &self,
        key: &impl StoredKey,
        name: &NewName,
    ) -> Result<(Role, CertificateRequest), FolderError> {
        let _turn = Turn::wait(&self.path)?;
        let generations = self.generations()?;
        let last = last_of(&generations)?;
        let role = self.next_role(&generations)?;
        let subject = Subject::of_next(&generations, &last, name, role, key)?;
        let constraints = name_constraints_of(&last)?;
        let request = request_of(key, |request| {
            subject.of_request(request).ca(Some(0), constraints)
        })?;
        self.check_name(&request.parsed().info.subject, name, role)?;
        self.write_requested(role, key, &request)?;
        Ok((role, request))
    }

    /// Writes a new key with the request for its certificate, so that it is [waiting](Self::waiting).
    pub(super) fn write_requested(
        &self,
        role: Role,
        key: &impl StoredKey,
        request: &CertificateRequest,
    ) -> Result<(), FolderError> {
        self.write_new_key(role, key)?;
        let path = request_path(&self.path, role);
        let written =
            pq_keys::files::write_new(&path, request.to_pem().as_bytes(), Access::OwnerWrites);
        let written = written.map_err(std::io::Error::from);
        written.map_err(|error| {
            // Nobody knows the key. A request that is there already is for another one.
            let _ = std::fs::remove_file(self.key_path(role));
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                let _ = std::fs::remove_file(&path);
            }
            super::io_error("write", &path)(error)
        })
    }

    /// The keys that wait for their certificates, with the requests for these.
    ///
    /// # Errors
    ///
    /// If a request or the ledger can't be read.
    pub fn waiting(&self) -> Result<Vec<(Role, CertificateRequest)>, FolderError> {
        let generations = self.ledger.open()?.generations()?;
        let mut waiting = self.requests()?;
        waiting.retain(|(role, _)| !generations.iter().any(|one| one.name == role.name()));
        Ok(waiting)
    }

    /// Whether a key is among those that are [waiting](Self::waiting).
    ///
    /// # Errors
    ///
    /// If a request or the ledger can't be read.
    pub fn is_waiting(&self, role: Role) -> Result<bool, FolderError> {
        Ok(self.waiting()?.iter().any(|(one, _)| *one == role))
    }

    /// The requests in the folder, the oldest key's first.
    pub(super) fn requests(&self) -> Result<Vec<(Role, CertificateRequest)>, FolderError> {
        let mut requests = Vec::new();
        for role in [Role::Issuing].into_iter().chain(self.next_keys()?) {
            let path = request_path(&self.path, role);
            if is_there(&path)? {
                let text = self.owner.read(&path, Reader::Anybody)?;
                let request =
                    CertificateRequest::from_pem(&*text).map_err(super::key_error(path))?;
                requests.push((role, request));
            }
        }
        Ok(requests)
    }

    /// Installs the certificate that came back for a [request](Self::request_successor), or for that of a
    /// [new CA](Folder::create_pending), which can be used from then on. Of `certificates` those are taken that lead from
    /// the request's key to the root, which is `root`, or the only one among them that they lead to. Clients have to
    /// accept what is below them, as [`ChainValidator::validate_ca`](pq_x509::validation::ChainValidator::validate_ca) says.
    /// A key that follows another is published, and issues once it is told to ([`issue_with`](Self::issue_with)).
    /// Signatures are verified with the algorithms of pq-x509 and with those given.
    ///
    /// If the process is killed meanwhile, install it again.
    ///
    /// # Errors
    ///
    /// [`FolderError::NotInstalled`] if the certificates are not what the CA needs, [`FolderError::NameTaken`], and others
    /// if files can't be read or written.
    pub fn install(
        &self,
        certificates: &[Certificate],
        root: Option<&Certificate>,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
        by: &str,
        now: UnixTime,
    ) -> Result<Role, FolderError> {
        let _turn = Turn::wait(&self.path)?;
        let ledger = self.ledger.open()?;
        let before = ledger.generations()?;
        if let Some((role, chain)) = installed(&before, certificates)?
            && !is_there(&request_path(&self.path, role))?
            && is_there(&self.path.join(ROOT_CERTIFICATE))?
        {
            self.check_root(&self.certificate(Role::Root)?, root)?;
            self.write_chain(role, &chain)?;
            return Ok(role);
        }
        let (role, request, own) = self.requested(certificates)?;
        check_of_a_ca(own)?;
        let kept_root = match is_there(&self.path.join(ROOT_CERTIFICATE))? {
            true => Some(self.certificate(Role::Root)?),
            false => None,
        };
        let others = certificates.iter().filter(|one| one.der() != own.der());
        let sent: Vec<_> = [own].into_iter().chain(others).cloned().collect();
        if let Some(kept) = &kept_root {
            self.check_root(kept, root)?;
        }
        let roots = match kept_root.as_ref().or(root) {
            Some(root) => vec![root.clone()],
            None => roots_among(&sent[1..], algorithms),
        };
        let (chain, root) = chain_to(&roots, &sent, algorithms, now)?;
        // The CA above may have given it another name than it asked for.
        if is_same_name(own.subject(), root.subject()) {
            return Err(FolderError::NameTaken(own.describe_subject()));
        }
        if !is_same_name(own.subject(), &request.parsed().info.subject) {
            let others = before.iter().filter(|one| one.name != role.name());
            if has_key_named(others, own.subject())? {
                return Err(FolderError::NameTaken(own.describe_subject()));
            }
        }
        if let Some(known) = before.iter().find(|one| one.name == role.name()) {
            if known.certificate() != Some(own.der()) {
                return refuse("the key has a certificate already; make a new key for another one");
            }
        } else {
            let (mut after, stage) = match before.is_empty() && role == Role::Issuing {
                true => (Vec::new(), Stage::Issuing),
                false => (self.generations()?, Stage::Published),
            };
            after.push(generation(role, &chain, stage, by, now));
            ledger.change_generations(&before, &after, &[], &[])?;
        }
        self.write_chain(role, &chain)?;
        if kept_root.is_none() {
            self.write_chain(Role::Root, core::slice::from_ref(&root))?;
        }
        self.forget_request(role);
        Ok(role)
    }

    /// That a root which was given is the one that this CA has.
    fn check_root(
        &self,
        kept: &Certificate,
        given: Option<&Certificate>,
    ) -> Result<(), FolderError> {
        match given.filter(|given| given.der() != kept.der()) {
            None => Ok(()),
            Some(given) => refuse(format!(
                "the root that was given, {}, is another one than this CA's in {}; leave it out, or give that one",
                given.describe_subject(),
                self.path.join(ROOT_CERTIFICATE).display()
            )),
        }
    }

    /// That the certificate which came back has at least the name constraints that its request asks for: for
    /// [`install`](Self::install), which leaves it to the caller whether that matters. Requests of earlier versions ask
    /// for none.
    ///
    /// # Errors
    ///
    /// [`FolderError::WiderNames`] if it permits more, [`FolderError::NotInstalled`] if none is for a request of this CA.
    pub fn check_names(
        &self,
        certificates: &[Certificate],
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    ) -> Result<(), FolderError> {
        let generations = self.ledger.open()?.generations()?;
        if installed(&generations, certificates)?.is_some() {
            return Ok(());
        }
        let (_, request, own) = self.requested(certificates)?;
        let request = request
            .verify_with(algorithms)
            .map_err(FolderError::Request)?;
        let given = name_constraints_of(own)?;
        if request.name_constraints().map_err(FolderError::Request)? == given {
            return Ok(());
        }
        let asked = Constraints::requested(&request)?;
        match asked.contain(given.as_ref()) {
            true => Ok(()),
            false => Err(FolderError::WiderNames {
                subject: own.describe_subject(),
                asked: asked.to_string(),
            }),
        }
    }

    /// The certificate for a key for which there is a request in the folder.
    fn requested<'a>(
        &self,
        certificates: &'a [Certificate],
    ) -> Result<(Role, CertificateRequest, &'a Certificate), FolderError> {
        for (role, request) in self.requests()? {
            let key = &request.parsed().info.public_key;
            let is_for = |one: &&Certificate| {
                one.parsed().tbs_certificate().subject_public_key_info() == key
            };
            if let Some(own) = certificates.iter().find(is_for) {
                return Ok((role, request, own));
            }
        }
        refuse(
            "none of the certificates is for a key that this CA made a request for; give the one that came back for it",
        )
    }
}

/// The key that has one of these certificates already, with the certificates that the ledger has for it.
fn installed(
    generations: &[Generation],
    certificates: &[Certificate],
) -> Result<Option<(Role, Vec<Certificate>)>, FolderError> {
    let is_given = |one: &&Generation| {
        let mut given = certificates.iter();
        one.certificate()
            .is_some_and(|own| given.any(|given| given.der() == own))
    };
    let role = generations
        .iter()
        .find(is_given)
        .and_then(|one| Role::from_name(&one.name));
    match role {
        Some(role) => Ok(chain_in(generations, role)?.map(|chain| (role, chain))),
        None => Ok(None),
    }
}

fn refuse<T>(why: impl Into<Cow<'static, str>>) -> Result<T, FolderError> {
    Err(FolderError::NotInstalled(why.into()))
}

/// The certificates of CAs that signed themselves.
fn roots_among(
    certificates: &[Certificate],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> Vec<Certificate> {
    let is_root = |one: &&Certificate| {
        one.is_ca()
            && one.subject() == one.issuer()
            && one.verify_signature(one, algorithms).is_ok()
    };
    let mut roots: Vec<Certificate> = Vec::new();
    for one in certificates.iter().filter(is_root) {
        if !roots.contains(one) {
            roots.push(one.clone());
        }
    }
    roots
}

/// The certificates from a key's own, the first that was sent, to the one that a root signed, and that root.
fn chain_to(
    roots: &[Certificate],
    sent: &[Certificate],
    algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<(Vec<Certificate>, Certificate), FolderError> {
    let mut refused = None;
    let mut found = None;
    for root in roots {
        match verdict::path_of(sent, root, algorithms, now) {
            Ok(_) if found.is_some() => {
                return refuse(
                    "the certificates lead to several roots; give the one that clients trust by itself (\"pqtls ca install \
                     --root FILE\")",
                );
            }
            Ok(path) => found = Some(path),
            Err(error) => refused = Some(error),
        }
    }
    if let Some(mut path) = found
        && let Some(root) = path.pop()
        && !path.is_empty()
    {
        return Ok((path, root));
    }
    match refused {
        None => refuse(
            "the root's certificate is missing; give it, too (\"pqtls ca install --root FILE\")",
        ),
        Some(ValidationError::UnknownIssuer | ValidationError::BadSignature { .. }) => refuse(
            "the certificates don't lead to the root: a CA between them is missing, or a signature is not by the one above; \
             give all certificates between this CA and the root that its clients trust",
        ),
        Some(error) => refuse(format!(
            "nobody would accept what this CA issues, or another root is meant: {error}"
        )),
    }
}

/// That a certificate is one of a CA which signs certificates and revocation lists.
fn check_of_a_ca(own: &Certificate) -> Result<(), FolderError> {
    if !own.is_ca() {
        return refuse(
            "it is not the certificate of a CA; have one issued with basicConstraints CA:TRUE",
        );
    }
    let needs = KeyUsages::KeyCertSign | KeyUsages::CRLSign;
    match own.key_usage().is_some_and(|usage| !usage.contains(needs)) {
        true => refuse(
            "its key usage lacks keyCertSign or cRLSign, and a CA signs certificates and revocation lists; have one issued \
             that permits both",
        ),
        false => Ok(()),
    }
}

/// Makes what each new CA has: a policy and a ledger.
pub(super) fn begin(
    path: &std::path::Path,
    policy: &str,
    interruption: &Interruption,
) -> Result<(Draft, LocalLedger), FolderError> {
    Folder::check_free(path)?;
    check_place(path)?;
    let draft = Draft::new(path, interruption)?;
    Policy::parse(policy, POLICY)?;
    write(
        &draft.path().join(POLICY),
        policy.as_bytes(),
        Access::OwnerWrites,
    )?;
    let ledger = draft.path().join(LEDGER);
    make_private_folder(&ledger)?;
    let ledger = LocalLedger::fill(&ledger)?;
    Ok((draft, ledger))
}

/// The name constraints of a certificate.
pub(super) fn name_constraints_of(
    certificate: &Certificate,
) -> Result<Option<NameConstraints>, FolderError> {
    let found = certificate.parsed().tbs_certificate().get_extension();
    let found = found.map_err(|error| IssueError::from(CertificateError::from(error)))?;
    Ok(found.map(|(_, constraints)| constraints))
}

pub(super) fn request_of(
    key: &impl Signer,
    named: impl FnOnce(RequestBuilder) -> RequestBuilder,
) -> Result<CertificateRequest, FolderError> {
    let request = named(CertificateRequest::builder()).sign(key);
    request.map_err(FolderError::Request)
}

/// Five years.
const VALIDITY: Duration = Duration::from_secs(5 * 365 * 24 * 60 * 60);
