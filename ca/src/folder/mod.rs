//! A CA in a folder: its certificates and keys, its policy and its ledger.

// This room uses authority, policy, ledger and time.

mod below;
mod draft;
mod error;
mod key;
mod ledger_file;
mod ledger_place;
mod lifetime;
mod moving;
mod plan;
mod reading;
mod signer;
mod subordinate;
mod succession;
mod turn;
mod verdict;
mod whole;

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pq_keys::files::{Access, folder_of, write_in_draft};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::encoding::pem;
use pq_x509::keys::{Signer, SigningKey, SubjectKey};
use pq_x509::ocsp::OcspResponder;
use pq_x509::pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer, UnixTime};

pub use self::draft::Interruption;
use self::draft::{Draft, is_draft, left_in, make_private_folder};
pub use self::error::FolderError;
use self::error::{io_error, key_error};
pub use self::key::StoredKey;
pub use self::ledger_place::LedgerPlace;
use self::lifetime::check_not_expired;
pub use self::plan::{Constraints, KeyPlan, Plan};
use self::reading::{Owner, check_place, is_readable_by_others};
pub use self::subordinate::{Certified, SubordinatePlan};
pub use self::succession::{NewName, Successor};
use self::turn::Turn;
use crate::authority::{
    Authority, CA_PROFILE, Responder, SUBORDINATE_PROFILE, adopted, public_key,
};
use crate::ledger::{AdoptedEntry, Ledger, LocalLedger, Reader, SerialNumber};
use crate::policy::Policy;
use crate::time::system_time;

/// The folder of a CA.
///
/// | file | what it is |
/// |---|---|
/// | `root.pem` | the root's certificate, for everybody who is to trust the CA |
/// | `root.key` | its key, which may be kept elsewhere: only a new issuing key and the root's revocation list need it |
/// | `issuing.pem`, `issuing.key` | the issuing certificate and its key, unless the root itself issues |
/// | `issuing-2.pem`, `issuing-2.key`, … | those of the keys that took its place: see [`rollover`](Self::rollover) |
/// | `issuing.csr`, … | the request for a key that another CA certifies: see [`create_pending`](Self::create_pending) |
/// | `policy.toml` | the [`Policy`] |
/// | `ledger/` | the [`LocalLedger`], unless the ledger is elsewhere |
/// | `ledger.toml` | the address of the ledger if it is in a database: see [`ledger_address`](Self::ledger_address) |
///
/// On Unix, only their owner can read the key files, and what is read has to be somebody's whom the CA relies on: files
/// and folders that other users may write to, or that belong to others than the folder's owner, the user of this
/// process and the system's administrator, are refused. Who uses a key has to own all of it, or the system's
/// administrator does, and so has whoever made links that lead there; and the administrator uses no folder of another
/// user. The program chooses the type of keys: any [`StoredKey`], from pq-keys or elsewhere, or
/// [one that it reads itself](Self::authority_with).
///
/// The ledger is the one in the folder, `L` being a [`LocalLedger`]. For a CA on several machines,
/// [`create_with_ledger`](Self::create_with_ledger) and [`with_ledger`](Self::with_ledger) take any other [`Ledger`],
/// and then there is none in the folder.
pub struct Folder<L = LocalLedger> {
    path: PathBuf,
    owner: Owner,
    ledger: LedgerPlace<L>,
}

impl<L> Clone for Folder<L> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            owner: self.owner,
            ledger: self.ledger.clone(),
        }
    }
}

impl<L> fmt::Debug for Folder<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("path", &self.path)
            .field("owner", &self.owner)
            .field("ledger", &self.ledger)
            .finish()
    }
}

/// One of a CA's keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The root's key, which certifies the issuing key.
    Root,
    /// The issuing key that the CA was made with, which issues all other certificates until another takes its place.
    Issuing,
    /// An issuing key that followed it, by its number: 2 for the first of these.
    Next(u32),
}

impl Role {
    /// The name of the key in the ledger, and of its files.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Root => "root".into(),
            Self::Issuing => ISSUING.into(),
            Self::Next(number) => format!("{ISSUING}-{number}").into(),
        }
    }

    /// The place of an issuing key among those that followed one another, from 1; the root has none, 0.
    fn number(self) -> u32 {
        match self {
            Self::Root => 0,
            Self::Issuing => 1,
            Self::Next(number) => number,
        }
    }

    /// The key with this [name](Self::name), if one can have it.
    pub fn from_name(name: &str) -> Option<Self> {
        let number = || name.strip_prefix(ISSUING)?.strip_prefix('-')?.parse().ok();
        let next = || number().filter(|number| *number >= 2).map(Self::Next);
        let role = match name {
            "root" => Self::Root,
            ISSUING => Self::Issuing,
            _ => next()?,
        };
        // Not "issuing-02"
        (role.name() == name).then_some(role)
    }
}

impl Folder {
    /// Makes a CA in a folder that does not exist yet, or is empty. The folder appears complete, or not at all. `by`
    /// says who makes it.
    ///
    /// Private keys are written last. If the process is killed, what is left beside `path` is removed by the next call
    /// for a path in the same folder: a draft has a random name and a file that marks it, and only what has both,
    /// belongs to this user, is made by no process and has nothing but a draft's files is removed.
    ///
    /// # Errors
    ///
    /// [`FolderError::Exists`], [`FolderError::Exposed`] if everybody can change a folder above it, or other errors if
    /// the plan is wrong or files can't be made.
    pub fn create(
        path: impl Into<PathBuf>,
        plan: &Plan<impl StoredKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Self, FolderError> {
        Self::create_unless_stopped(path, plan, by, now, &Interruption::default())
    }

    /// The same, until another thread stops it.
    ///
    /// # Errors
    ///
    /// Also [`FolderError::Stopped`].
    pub fn create_unless_stopped(
        path: impl Into<PathBuf>,
        plan: &Plan<impl StoredKey>,
        by: &str,
        now: UnixTime,
        interruption: &Interruption,
    ) -> Result<Self, FolderError> {
        Self::make(path.into(), plan, by, now, interruption, |draft| {
            let ledger = draft.join(LEDGER);
            // Whatever the umask, nobody else may write there.
            make_private_folder(&ledger)?;
            // Whoever stops this may have removed the folder by now: then it is not made again.
            Ok(LocalLedger::fill(&ledger)?)
        })
    }

    /// Makes a CA as [`create_unless_stopped`](Self::create_unless_stopped) does, whose ledger is not in the folder. It
    /// has to be empty: a CA has a ledger of its own.
    ///
    /// The ledger has the issuing certificate before the folder is complete. If that does not succeed, the certificate
    /// stays there, and nobody has its key.
    ///
    /// # Errors
    ///
    /// Also [`FolderError::UsedLedger`].
    pub fn create_with_ledger<L: Ledger>(
        path: impl Into<PathBuf>,
        plan: &Plan<impl StoredKey>,
        ledger: LedgerPlace<L>,
        by: &str,
        now: UnixTime,
        interruption: &Interruption,
    ) -> Result<Folder<L>, FolderError> {
        let folder = Self::make(path.into(), plan, by, now, interruption, |draft| {
            if let Some(address) = ledger.address() {
                ledger_file::write_in(draft, address)?;
            }
            ledger.open_empty()
        })?;
        Ok(folder.with_ledger(ledger))
    }

    fn make<L: Ledger>(
        path: PathBuf,
        plan: &Plan<impl StoredKey>,
        by: &str,
        now: UnixTime,
        interruption: &Interruption,
        ledger: impl FnOnce(&Path) -> Result<L, FolderError>,
    ) -> Result<Self, FolderError> {
        Self::check_free(&path)?;
        check_place(&path)?;
        let draft = Draft::new(&path, interruption)?;
        fill(draft.path(), plan, by, now, ledger)?;
        let keys = draft.path().to_owned();
        draft.complete(&path, interruption, || write_keys(&keys, plan))?;
        Self::open(path)
    }

    /// Folders beside a CA that have the name of a draft, and that [`create`](Self::create) left alone because they
    /// have more in them, or less, than a draft. Programs should say so: there may be keys in them.
    pub fn drafts_left_beside(path: &Path) -> Vec<PathBuf> {
        let mut left = left_in(folder_of(path));
        // a CA to which somebody gave such a name
        left.retain(|draft| draft.file_name() != path.file_name());
        left
    }

    /// Whether another process makes or changes a CA's keys there now, so that whoever does the same waits for it. Programs
    /// should say so.
    pub fn is_in_use(path: &Path) -> bool {
        Turn::is_taken(path)
    }

    /// Whether a CA can be made there: nothing is there, or an empty folder.
    ///
    /// # Errors
    ///
    /// [`FolderError::Exists`], [`FolderError::Link`] if it is a link, and [`FolderError::NoPlace`] if the folder above is
    /// missing.
    pub fn check_free(path: &Path) -> Result<(), FolderError> {
        let above = folder_of(path);
        if matches!(fs::metadata(above), Err(error) if is_nothing(&error)) || above.is_file() {
            return Err(FolderError::NoPlace(above.into()));
        }
        // "ca/" is the link, too.
        let named: PathBuf = path.components().collect();
        if named.is_symlink() {
            return Err(FolderError::Link(named));
        }
        let is_free = match fs::read_dir(path) {
            Ok(mut files) => files.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        match is_free {
            true => Ok(()),
            false => Err(FolderError::Exists(path.into())),
        }
    }

    /// Opens the CA in a folder.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoCa`] if there is no CA, [`FolderError::Pending`] if it waits for its certificate,
    /// [`FolderError::NotCompleted`] if it has one and was not completed, [`FolderError::Missing`] if there is one without its root's
    /// certificate, [`FolderError::Writable`] if other users may write to the folder, and [`FolderError::OfAnother`] if
    /// the system's administrator opens the folder of another user.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        if is_draft(&path) {
            return Err(FolderError::Unfinished(path));
        }
        let root = path.join(ROOT_CERTIFICATE);
        match is_there(&root)? {
            true => {
                let owner = Owner::of(&path)?;
                Ok(Self {
                    ledger: LedgerPlace::in_folder(&path, owner),
                    owner,
                    path,
                })
            }
            false if is_there(&request_path(&path, Role::Issuing))? => {
                let ledger = LedgerPlace::in_folder(&path, Owner::of(&path)?).open()?;
                match ledger.generations()?.is_empty() {
                    true => Err(FolderError::Pending(path)),
                    false => Err(FolderError::NotCompleted(root)),
                }
            }
            false if FILES_OF_A_CA.iter().any(|file| path.join(file).exists()) => {
                Err(FolderError::Missing(root))
            }
            false => Err(FolderError::NoCa(path)),
        }
    }
}

impl<L: Ledger> Folder<L> {
    /// The same CA with a ledger that is not in the folder.
    #[must_use]
    pub fn with_ledger<M: Ledger>(self, ledger: LedgerPlace<M>) -> Folder<M> {
        Folder {
            path: self.path,
            owner: self.owner,
            ledger,
        }
    }

    /// The same CA with its ledger as a type that all ledgers have.
    #[must_use]
    pub fn with_any_ledger(self) -> Folder<Arc<dyn Ledger>>
    where
        L: 'static,
    {
        Folder {
            path: self.path,
            owner: self.owner,
            ledger: self.ledger.any(),
        }
    }

    /// The address of the ledger, if the folder remembers that it is in a database: then programs open it there, and go on
    /// [with that](Self::with_ledger). This folder's [ledger](Self::ledger) of its own can't be opened then, even if one is
    /// left there.
    ///
    /// # Errors
    ///
    /// [`FolderError::LedgerFile`], and others if the file can't be read.
    pub fn ledger_address(&self) -> Result<Option<String>, FolderError> {
        ledger_file::read(&self.path, self.owner)
    }

    /// The path of the file that has the [address](Self::ledger_address), which need not be there.
    pub fn ledger_file(&self) -> PathBuf {
        self.path.join(LEDGER_FILE)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the policy file.
    pub fn policy_path(&self) -> PathBuf {
        self.path.join(POLICY)
    }

    /// The key that issues certificates: of several [generations](Ledger::generations) the one that the ledger names;
    /// the root's key, if the root was made to issue.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoIssuingCertificate`] if the root was made to certify an issuing key, whose certificate is gone,
    /// and others if the ledger can't be read.
    pub fn issuing_role(&self) -> Result<Role, FolderError> {
        match succession::issuing_of(&self.ledger.open()?.generations()?) {
            Some(role) => Ok(role),
            None => self.first_role(),
        }
    }

    /// The key that issued when the CA was made.
    fn first_role(&self) -> Result<Role, FolderError> {
        let issuing = certificate_path(&self.path, Role::Issuing);
        if is_there(&issuing)? {
            return Ok(Role::Issuing);
        }
        // Only a root that may have no CA below it issues.
        match self.certificate(Role::Root)?.path_len() {
            Some(0) => Ok(Role::Root),
            _ => Err(self.no_issuing(issuing)),
        }
    }

    /// The certificate of a key.
    ///
    /// # Errors
    ///
    /// If the certificate is missing or can't be read: [`FolderError::OtherIssuing`] if the ledger has it, and
    /// [`FolderError::SeveralFirst`] if it has several that may be it.
    pub fn certificate(&self, role: Role) -> Result<Certificate, FolderError> {
        if let Role::Next(_) = role {
            return Ok(self.chain_of(role)?.swap_remove(0));
        }
        if role == Role::Issuing
            && let Some(mut chain) = self.recorded_without_file()?
        {
            return Ok(chain.swap_remove(0));
        }
        match self.read_certificate(role) {
            Err(error) if role == Role::Issuing && error.is_of_content() => {
                let ledger = self.ledger.open();
                let misfit = ledger.and_then(|ledger| self.in_ledger(&ledger));
                Err(misfit.ok().flatten().unwrap_or(error))
            }
            read => read,
        }
    }

    /// The error that says where the ledger has the issuing certificate, if it has one by the root.
    fn in_ledger(&self, ledger: &L) -> Result<Option<FolderError>, FolderError> {
        let root = self.read_certificate(Role::Root)?;
        if let Some(chain) = succession::chain_in(&ledger.generations()?, Role::Issuing)? {
            return match whole::leads_to(&root, &chain) {
                true => self.recorded_as_first(ledger, &chain[0]).map(Some),
                false => Ok(None),
            };
        }
        let issuing = certificate_path(&self.path, Role::Issuing);
        let key = self.key_in_the_clear(Role::Issuing)?;
        let numbers = whole::issuing_by(ledger, &root, key.known())?;
        Ok(match *numbers {
            [] => None,
            [number] => Some(FolderError::OtherIssuing {
                issuing,
                ledger: self.ledger.path().into(),
                root: certificate_path(&self.path, Role::Root),
                number,
            }),
            _ => Some(FolderError::SeveralFirst {
                issuing,
                ledger: self.ledger.path().into(),
                key: self.key_path(Role::Issuing),
                why: match key {
                    InFile::Known(_) => "it is that of none of them".into(),
                    InFile::Unknown { why } => why,
                    InFile::None => "it is not there".into(),
                },
                numbers,
            }),
        })
    }

    /// The error that says that there is no issuing certificate in this file, and which ones of the ledger may be it.
    fn no_issuing(&self, path: PathBuf) -> FolderError {
        let numbers = || {
            let ledger = self.ledger.open()?;
            let root = self.read_certificate(Role::Root)?;
            let key = self.key_in_the_clear(Role::Issuing)?;
            whole::issuing_by(&ledger, &root, key.known())
        };
        let is_first = path == certificate_path(&self.path, Role::Issuing);
        let numbers = is_first.then(numbers).transpose();
        FolderError::NoIssuingCertificate {
            path,
            numbers: numbers.ok().flatten().unwrap_or_default(),
        }
    }

    /// The error that says that `issuing.pem` has not the certificate which the ledger has for the first key: as one that
    /// the root issued, or, if another CA did, among the CA's keys alone.
    fn recorded_as_first(&self, ledger: &L, own: &Certificate) -> Result<FolderError, FolderError> {
        let issuing = certificate_path(&self.path, Role::Issuing);
        let number = SerialNumber::of(own).ok();
        let entry = number.map(|number| ledger.entry(&number)).transpose()?;
        Ok(match (number, entry.flatten()) {
            (Some(number), Some(_)) => FolderError::OtherIssuing {
                issuing,
                ledger: self.ledger.path().into(),
                root: certificate_path(&self.path, Role::Root),
                number,
            },
            _ => FolderError::OtherFirst {
                issuing,
                ledger: self.ledger.path().into(),
            },
        })
    }

    fn read_certificate(&self, role: Role) -> Result<Certificate, FolderError> {
        Ok(self.read_chain(role)?.swap_remove(0))
    }

    /// The certificates in the file of a key: its own, and those above it.
    fn read_chain(&self, role: Role) -> Result<Vec<Certificate>, FolderError> {
        let path = certificate_path(&self.path, role);
        let text = self.owner.read(&path, Reader::Anybody);
        let text = text.map_err(|error| match error {
            FolderError::Missing(path) if role != Role::Root => self.no_issuing(path),
            error => error,
        })?;
        let chain = Certificate::chain_from_pem(&*text);
        chain.map_err(|cause| FolderError::Certificate { path, cause })
    }

    /// The CA certificates that servers and clients send after their own: all above it except the root.
    ///
    /// # Errors
    ///
    /// If a certificate can't be read.
    pub fn chain(&self) -> Result<Vec<Certificate>, FolderError> {
        self.chain_of(self.issuing_role()?)
    }

    /// The entries of certificates that the CA's keys signed, for [`Ledger::adopt`]: after an
    /// older backup was put in place, the ledger lacks what was issued since. They come without revocations. `by` says
    /// who has them recorded. The signatures are verified with the algorithms of pq-x509 and with those given.
    ///
    /// # Errors
    ///
    /// Those of [`signer_of`](Self::signer_of), to which the others are beside each.
    pub fn adopted(
        &self,
        certificates: &[Certificate],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
        by: &str,
    ) -> Result<Vec<AdoptedEntry<'static>>, FolderError> {
        let own = self.own_keys()?;
        let certified = self.certified_keys(&own.issuing)?;
        let adopt = |certificate: &Certificate| {
            let role = self.signer_among(&own, certificate, certificates, algorithms)?;
            let of_cas = match certificate.is_ca()
                && (self.is_for_own_key(&certified, certificate)?
                    || succession::is_named_as_next(&own.issuing, certificate)?)
            {
                true => CA_PROFILE,
                false => SUBORDINATE_PROFILE,
            };
            let entry = adopted(certificate, (&role.name(), of_cas), by);
            Ok(AdoptedEntry {
                entry: entry.map_err(|error| FolderError::not_adopted(certificate, error))?,
                revocation: None,
            })
        };
        certificates.iter().map(adopt).collect()
    }

    /// Whether the certificate of a CA is for one of this CA's own keys.
    fn is_for_own_key(
        &self,
        own: &CertifiedKeys,
        certificate: &Certificate,
    ) -> Result<bool, FolderError> {
        let key = public_key(certificate).map_err(IssueError::SubjectKey)?;
        if own.known.contains(&key) {
            return Ok(true);
        }
        let Some((role, why)) = own.unknown.first() else {
            return Ok(false);
        };
        let key = self.key_path(*role);
        Err(FolderError::UnknownFile {
            then: format!(
                "whether the certificate of {} is for it, or for the key of another CA: put the certificate of that key \
                 beside it, as {}, or, if it is another CA's that you record, move the key away meanwhile",
                certificate.describe_subject(),
                certificate_path(&self.path, *role).display(),
            ),
            key,
            why: why.clone(),
        })
    }

    /// The CA's issuing keys, also those that wait for their certificates or have none in this copy of the folder.
    fn certified_keys(
        &self,
        issuing: &[(Role, Certificate)],
    ) -> Result<CertifiedKeys, FolderError> {
        let of_certificates = issuing.iter().map(|(_, one)| public_key(one));
        let mut known = of_certificates
            .collect::<Result<Vec<_>, _>>()
            .map_err(IssueError::SubjectKey)?;
        let mut unknown = Vec::new();
        let requests = self.requests()?;
        for (_, request) in &requests {
            known.push(below::key_of(request)?);
        }
        for role in [Role::Issuing].into_iter().chain(self.next_keys()?) {
            let is_told = issuing.iter().any(|(one, _)| *one == role)
                || requests.iter().any(|(one, _)| *one == role);
            match self.key_in_the_clear(role)? {
                InFile::Known(key) => known.push(key),
                InFile::Unknown { why } if !is_told => unknown.push((role, why)),
                InFile::None | InFile::Unknown { .. } => {}
            }
        }
        Ok(CertifiedKeys { known, unknown })
    }

    /// The public key in a key's file, if this user may read that, and it is in the clear and of an algorithm of pq-keys.
    fn key_in_the_clear(&self, role: Role) -> Result<InFile, FolderError> {
        let path = self.key_path(role);
        // A link that leads nowhere stands for a key, too.
        if !is_taken(&path)? {
            return Ok(InFile::None);
        }
        let text = match self.owner.read(&path, Reader::Owner) {
            Err(FolderError::Io { cause, .. }) => {
                let why = cause.to_string();
                return Ok(InFile::Unknown { why });
            }
            Err(error) => {
                let why = error.to_string();
                return Ok(InFile::Unknown { why });
            }
            Ok(text) => text,
        };
        let is_encrypted = pem::blocks(&text).any(|block| block.is_of(ENCRYPTED));
        Ok(match SigningKey::from_pkcs8_pem(&*text) {
            Ok(key) => InFile::Known(key.spki().into_owned()),
            Err(_) if is_encrypted => InFile::Unknown {
                why: "it is encrypted".into(),
            },
            Err(error) => InFile::Unknown {
                why: error.to_string(),
            },
        })
    }

    /// That the root has not expired: nobody accepts anything that the CA issues then.
    ///
    /// # Errors
    ///
    /// [`FolderError::RootExpired`], and others if its certificate can't be read.
    pub fn check_root_time(&self, now: UnixTime) -> Result<(), FolderError> {
        check_not_expired(&self.certificate(Role::Root)?, now)
    }

    /// The path of a key's file, which need not be there.
    pub fn key_path(&self, role: Role) -> PathBuf {
        key_path(&self.path, role)
    }

    /// The files of keys, of those that are there, which others than their owner may read. Programs should warn of
    /// them.
    ///
    /// # Errors
    ///
    /// If the folder can't be listed.
    pub fn keys_for_others(&self) -> Result<Vec<PathBuf>, FolderError> {
        let roles = [Role::Root, Role::Issuing]
            .into_iter()
            .chain(self.next_keys()?);
        Ok(roles
            .map(|role| self.key_path(role))
            .filter(|key| is_readable_by_others(key))
            .collect())
    }

    /// The policy that is in the file now.
    ///
    /// # Errors
    ///
    /// If the policy can't be read.
    pub fn policy(&self) -> Result<Policy, FolderError> {
        let path = self.policy_path();
        let bytes = self.owner.read(&path, Reader::Anybody)?;
        let Ok(text) = core::str::from_utf8(&bytes) else {
            return Err(FolderError::NoText(path));
        };
        Ok(Policy::parse(text, &path.display().to_string())?)
    }
}

/// The public key in a key's file.
enum InFile {
    Known(SubjectPublicKeyInfoDer<'static>),
    /// There is a file, and nobody without its passphrase, its store or its medium knows its key.
    Unknown {
        why: String,
    },
    /// There is no file.
    None,
}

impl InFile {
    fn known(&self) -> Option<&SubjectPublicKeyInfoDer<'static>> {
        match self {
            Self::Known(key) => Some(key),
            Self::Unknown { .. } | Self::None => None,
        }
    }
}

/// The CA's issuing keys.
struct CertifiedKeys {
    known: Vec<SubjectPublicKeyInfoDer<'static>>,
    /// Those that only their files have, and why these don't say which keys they are.
    unknown: Vec<(Role, String)>,
}

impl<L: Ledger> Folder<L> {
    /// The ledger alone. This needs no key.
    ///
    /// A ledger of another CA has none of this CA's revocations, so it is compared with the certificates: it has to
    /// have the issuing certificate, as it does since the CA was made, and the root has to have issued that. Where the
    /// root issues, it has to have issued what is in the ledger.
    ///
    /// # Errors
    ///
    /// [`FolderError::OtherLedger`], [`FolderError::OtherIssuing`], [`FolderError::SeveralFirst`], [`FolderError::OtherFirst`],
    /// [`FolderError::OtherRoot`] and [`FolderError::NotOneCa`] if the files are not of one CA, and other errors if the ledger or a certificate can't
    /// be read.
    pub fn ledger(&self) -> Result<L, FolderError> {
        let ledger = self.ledger.open()?;
        self.check_whole(&ledger)?;
        Ok(ledger)
    }

    /// The ledger, compared with the root's certificate alone: to get the issuing certificate from it if the file is
    /// not the right one or can't be read. For nothing else.
    ///
    /// # Errors
    ///
    /// [`FolderError::OtherLedger`] if it is not the ledger of the root, and other errors if the ledger or the root's
    /// certificate can't be read.
    pub fn ledger_of_root(&self) -> Result<L, FolderError> {
        let ledger = self.ledger.open()?;
        let root = self.certificate(Role::Root)?;
        match whole::can_be_of_root(&ledger, &root)? {
            true => Ok(ledger),
            false => Err(self.other_ledger(Role::Root)),
        }
    }

    /// That the ledger and the certificates are of one CA.
    fn check_whole(&self, ledger: &L) -> Result<(), FolderError> {
        let root = self.certificate(Role::Root)?;
        let of_root = certificate_path(&self.path, Role::Root);
        let generations = ledger.generations()?;
        let of_issuing = certificate_path(&self.path, Role::Issuing);
        let has_file = is_there(&of_issuing)?;
        // The ledger has the certificates of the keys that followed the first one, and then also of that.
        if let Some(role) = succession::issuing_of(&generations)
            && (role != Role::Issuing || !has_file)
        {
            let is_of_root = match succession::chain_in(&generations, role)? {
                Some(chain) => whole::leads_to(&root, &chain),
                None => false,
            };
            if !is_of_root {
                return Err(FolderError::OtherRoot {
                    root: of_root,
                    issuing: certificate_path(&self.path, role),
                });
            }
            if !has_file {
                return Ok(());
            }
        }
        if !has_file {
            return match whole::can_be_of_root(ledger, &root)? {
                true => Ok(()),
                false => Err(self.other_ledger(Role::Root)),
            };
        }
        let chain = match self.read_chain(Role::Issuing) {
            Err(error) if error.is_of_content() => {
                return Err(self.in_ledger(ledger)?.unwrap_or(error));
            }
            read => read?,
        };
        let is_of_root = whole::leads_to(&root, &chain);
        let key = || {
            let key = self.key_in_the_clear(Role::Issuing)?;
            Ok(key.known().cloned())
        };
        let is_kept = whole::has_issuing(ledger, &chain[0], key)?;
        if is_of_root && is_kept {
            return Ok(());
        }
        if (!is_kept || !generations.is_empty())
            && let Some(misfit) = self.in_ledger(ledger)?
        {
            return Err(misfit);
        }
        Err(match (is_of_root, is_kept) {
            (true, _) => self.other_ledger(Role::Issuing),
            (false, true) => FolderError::OtherRoot {
                root: of_root,
                issuing: of_issuing,
            },
            (false, false) => FolderError::NotOneCa {
                root: of_root,
                issuing: of_issuing,
                ledger: self.ledger.path().into(),
            },
        })
    }

    fn other_ledger(&self, role: Role) -> FolderError {
        FolderError::OtherLedger {
            ledger: self.ledger.path().into(),
            certificate: certificate_path(&self.path, role),
        }
    }

    /// The CA with one of its keys.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoKey`] if the key is not in the folder, [`FolderError::RootElsewhere`] if it is another CA's,
    /// [`FolderError::Encrypted`] if it is under a passphrase,
    /// and other errors if a file can't be read.
    pub fn authority<K: StoredKey>(&self, role: Role) -> Result<Authority<K, L>, FolderError> {
        self.authority_with(role, |path, text| {
            if pem::blocks(text).any(|block| block.is_of(ENCRYPTED)) {
                return Err(FolderError::Encrypted(path.into()));
            }
            K::from_pem(text).map_err(key_error(path.into()))
        })
    }

    /// The CA with a key that `read` makes from the text of the key's file, such as a key under a passphrase. The path
    /// is that of the file. It is called last, so that nobody is asked for a passphrase in vain.
    ///
    /// # Errors
    ///
    /// Those of [`authority`](Self::authority), and those of `read`.
    pub fn authority_with<S: Signer, E: From<FolderError>>(
        &self,
        role: Role,
        read: impl FnOnce(&Path, &[u8]) -> Result<S, E>,
    ) -> Result<Authority<S, L>, E> {
        let path = self.key_path(role);
        // a link that leads nowhere, too, such as to a medium that is not in the machine
        let has_key = is_there(&path)?;
        let way = if has_key { &path } else { &self.path };
        self.owner.check_for_keys(&self.path, way)?;
        let certificate = self.certificate(role)?;
        let (policy, ledger) = (self.policy()?, self.ledger()?);
        if !has_key && role == Role::Root && self.is_below_another()? {
            let root = certificate_path(&self.path, role);
            return Err(FolderError::RootElsewhere(root).into());
        }
        if !has_key {
            return Err(FolderError::NoKey(path).into());
        }
        let key = read(&path, &self.owner.read(&path, Reader::Owner)?)?;
        let public = key.spki().into_owned();
        let issuer = Issuer::new(certificate, key).map_err(|error| match error {
            IssueError::WrongKey(_) => self.other_key(role, path, &public),
            error => error.into(),
        })?;
        let generations = ledger.generations().map_err(FolderError::from)?;
        let same = succession::of_same_name(&generations, role, issuer.certificate())?;
        Ok(Authority::new(role.name(), issuer, policy, ledger).beside(same))
    }

    /// The error that says that this key in its file is not the one that the CA has by that name.
    fn other_key(
        &self,
        role: Role,
        key: PathBuf,
        public: &SubjectPublicKeyInfoDer<'_>,
    ) -> FolderError {
        let certificate = certificate_path(&self.path, role);
        let beside = self.read_certificate(role);
        let fits = beside.is_ok_and(|own| public_key(&own).is_ok_and(|own| own == *public));
        match self.free_name() {
            Ok(free) if fits => FolderError::OtherOfName {
                key,
                certificate,
                name: role.name().into(),
                free,
            },
            _ => FolderError::OtherKey { key, certificate },
        }
    }

    /// An OCSP responder that answers in place of one of the CA's keys, which is not needed then.
    ///
    /// The CA's key `role` issued `certificate` for `key`. Responses are valid for as long as the policy says.
    ///
    /// # Errors
    ///
    /// [`FolderError::Issue`] if the certificate is not for OCSP responses, or is for another key; and other errors
    /// if a file can't be read.
    pub fn responder<S: Signer>(
        &self,
        role: Role,
        certificate: Certificate,
        key: S,
    ) -> Result<Responder<S, L>, FolderError> {
        let signer = OcspResponder::delegate(self.certificate(role)?, certificate, key)?;
        let validity = self.policy()?.ocsp_validity();
        Ok(Responder::new(
            role.name(),
            signer,
            validity,
            self.ledger()?,
        ))
    }
}

/// Makes everything that belongs in an empty folder, except the keys. `ledger` makes the ledger, or opens an empty one.
fn fill<L: Ledger>(
    folder: &Path,
    plan: &Plan<impl StoredKey>,
    by: &str,
    now: UnixTime,
    ledger: impl FnOnce(&Path) -> Result<L, FolderError>,
) -> Result<(), FolderError> {
    let policy = Policy::parse(&plan.policy, POLICY)?;
    let text = plan.policy.as_bytes();
    write(&folder.join(POLICY), text, Access::OwnerWrites)?;
    let ledger = ledger(folder)?;

    let name = match plan.issuing {
        Some(_) => format!("{} Root", plan.name),
        None => plan.name.clone(),
    };
    let root = CertificateBuilder::ca(name).validity(lasting(plan.root.validity, now));
    let root = match plan.issuing {
        Some(_) => root.path_len(1),
        None => plan.constraints.apply(root.path_len(0)),
    };
    let root = Issuer::self_signed(root, &plan.root.key)?;
    write_certificate(folder, Role::Root, root.certificate())?;
    let root = Authority::new(Role::Root.name(), root, policy, ledger);

    if let Some(issuing) = &plan.issuing {
        let builder = CertificateBuilder::ca(&plan.name)
            .path_len(0)
            .validity(lasting(issuing.validity, now));
        let builder = plan.constraints.apply(builder);
        let certificate = root.issue_ca(builder, &issuing.key, by, now)?;
        write_certificate(folder, Role::Issuing, &certificate)?;
    }
    Ok(())
}

fn write_keys(folder: &Path, plan: &Plan<impl StoredKey>) -> Result<(), FolderError> {
    write_key(folder, Role::Root, &plan.root.key)?;
    plan.issuing.as_ref().map_or(Ok(()), |issuing| {
        write_key(folder, Role::Issuing, &issuing.key)
    })
}

fn write_key(folder: &Path, role: Role, key: &impl StoredKey) -> Result<(), FolderError> {
    let path = key_path(folder, role);
    let pem = key.to_pem().map_err(key_error(path.clone()))?;
    write(&path, pem.as_bytes(), Access::Private)
}

fn write_certificate(
    folder: &Path,
    role: Role,
    certificate: &Certificate,
) -> Result<(), FolderError> {
    let path = certificate_path(folder, role);
    write(&path, certificate.to_pem().as_bytes(), Access::OwnerWrites)
}

fn write(path: &Path, content: &[u8], access: Access) -> Result<(), FolderError> {
    let written = write_in_draft(path, content, access).map_err(io::Error::from);
    written.map_err(io_error("write", path))
}

fn certificate_path(folder: &Path, role: Role) -> PathBuf {
    folder.join(format!("{}.pem", role.name()))
}

fn request_path(folder: &Path, role: Role) -> PathBuf {
    certificate_path(folder, role).with_extension("csr")
}

fn key_path(folder: &Path, role: Role) -> PathBuf {
    certificate_path(folder, role).with_extension("key")
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether there is a file, which is not the same as whether one can be seen.
fn is_there(path: &Path) -> Result<bool, FolderError> {
    path.try_exists().map_err(io_error("read", path))
}

/// Whether something has this name, also a link that leads nowhere.
fn is_taken(path: &Path) -> Result<bool, FolderError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_error("read", path)(error)),
    }
}

/// This validity from now on, and an hour before now, for peers whose clocks are slow.
fn lasting(validity: Duration, now: UnixTime) -> Validity {
    let now = system_time(now);
    let not_before = now.checked_sub(EARLIER).unwrap_or(SystemTime::UNIX_EPOCH);
    Validity::starting(not_before, validity.saturating_add(EARLIER))
}

const EARLIER: Duration = Duration::from_secs(60 * 60);

const ROOT_CERTIFICATE: &str = "root.pem";
const ISSUING: &str = "issuing";
const ISSUING_CERTIFICATE: &str = "issuing.pem";
/// What shows that there was a CA, even if its root's certificate is lost.
const FILES_OF_A_CA: [&str; 6] = [
    "root.key",
    "issuing.key",
    ISSUING_CERTIFICATE,
    POLICY,
    LEDGER,
    LEDGER_FILE,
];
const POLICY: &str = "policy.toml";
const LEDGER: &str = "ledger";
/// The file that says that the ledger is elsewhere.
const LEDGER_FILE: &str = "ledger.toml";
/// The file without which there is no ledger.
const JOURNAL: &str = "journal";

/// The label of keys that are under a passphrase (RFC 7468 section 11).
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

#[cfg(test)]
mod tests;
