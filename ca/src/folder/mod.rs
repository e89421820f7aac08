// This room uses authority, policy, ledger and time.

//! A CA in a folder: its certificates and keys, its policy and its ledger.

mod error;
mod key;
mod plan;

use core::time::Duration;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pq_x509::pki_types::UnixTime;
use pq_x509::{Certificate, CertificateBuilder, Issuer, OcspResponder, Signer, Validity};
use zeroize::Zeroizing;

pub use self::error::FolderError;
use self::error::{io_error, key_error};
pub use self::key::StoredKey;
pub use self::plan::{Constraints, KeyPlan, Plan};
use crate::authority::{Authority, Responder};
use crate::ledger::LocalLedger;
use crate::policy::Policy;
use crate::time::system_time;

/// The folder of a CA.
///
/// | file | what it is |
/// |---|---|
/// | `root.pem` | the root's certificate, for everybody who is to trust the CA |
/// | `root.key` | its key, which may be kept elsewhere: only a new issuing key and the root's revocation list need it |
/// | `issuing.pem`, `issuing.key` | the issuing certificate and its key, unless the root itself issues |
/// | `policy.toml` | the [`Policy`] |
/// | `ledger/` | the [`LocalLedger`] |
///
/// On Unix, only their owner can read the key files. The program chooses the type of keys: any [`StoredKey`], from
/// pq-x509 or elsewhere.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// One of a CA's keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The root's key, which certifies the issuing key.
    Root,
    /// The issuing key, which issues all other certificates.
    Issuing,
}

impl Role {
    /// The name of the key in the ledger, and of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Issuing => "issuing",
        }
    }
}

impl Folder {
    /// Makes a CA in a folder that does not exist yet, or is empty. The folder appears complete, or not at all. `by`
    /// says who makes it.
    ///
    /// # Errors
    ///
    /// [`FolderError::Exists`], or other errors if the plan is wrong or files can't be made.
    pub fn create(
        path: impl Into<PathBuf>,
        plan: &Plan<impl StoredKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Self, FolderError> {
        let path = path.into();
        let is_free = match fs::read_dir(&path) {
            Ok(mut files) => files.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            return Err(FolderError::Exists(path));
        }
        let draft = Draft::new(&path)?;
        draft.folder.fill(plan, by, now)?;
        draft.put_in_place(&path)?;
        Ok(Self { path })
    }

    /// Opens the CA in a folder.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoCa`] if there is no CA.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        match path.join(ROOT_CERTIFICATE).exists() {
            true => Ok(Self { path }),
            false => Err(FolderError::NoCa(path)),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the policy file.
    pub fn policy_path(&self) -> PathBuf {
        self.path.join(POLICY)
    }

    /// The key that issues certificates: the root's key, if there is no issuing key.
    pub fn issuing_role(&self) -> Role {
        match self.certificate_path(Role::Issuing).exists() {
            true => Role::Issuing,
            false => Role::Root,
        }
    }

    /// The certificate of a key.
    ///
    /// # Errors
    ///
    /// If the certificate is missing or can't be read.
    pub fn certificate(&self, role: Role) -> Result<Certificate, FolderError> {
        let path = self.certificate_path(role);
        let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        Certificate::from_pem(&text).map_err(|cause| FolderError::Certificate { path, cause })
    }

    /// The CA certificates that servers and clients send after their own: all above it except the root.
    ///
    /// # Errors
    ///
    /// If a certificate can't be read.
    pub fn chain(&self) -> Result<Vec<Certificate>, FolderError> {
        match self.issuing_role() {
            Role::Issuing => Ok(vec![self.certificate(Role::Issuing)?]),
            Role::Root => Ok(Vec::new()),
        }
    }

    /// The ledger alone. This needs no key.
    ///
    /// # Errors
    ///
    /// If the ledger can't be opened.
    pub fn ledger(&self) -> Result<LocalLedger, FolderError> {
        Ok(LocalLedger::open(self.path.join(LEDGER))?)
    }

    /// The CA with one of its keys.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoKey`] if the key is not in the folder, and other errors if a file can't be read.
    pub fn authority<K: StoredKey>(
        &self,
        role: Role,
    ) -> Result<Authority<K, LocalLedger>, FolderError> {
        let issuer = Issuer::new(self.certificate(role)?, self.key(role)?)?;
        Ok(Authority::new(
            role.name(),
            issuer,
            self.policy()?,
            self.ledger()?,
        ))
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
    ) -> Result<Responder<S, LocalLedger>, FolderError> {
        let signer = OcspResponder::delegate(self.certificate(role)?, certificate, key)?;
        let validity = self.policy()?.ocsp_validity();
        Ok(Responder::new(
            role.name(),
            signer,
            validity,
            self.ledger()?,
        ))
    }

    /// The policy that is in the file now.
    ///
    /// # Errors
    ///
    /// If the policy can't be read.
    pub fn policy(&self) -> Result<Policy, FolderError> {
        let path = self.policy_path();
        let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        Ok(Policy::parse(&text, &path.display().to_string())?)
    }

    fn certificate_path(&self, role: Role) -> PathBuf {
        match role {
            Role::Root => self.path.join(ROOT_CERTIFICATE),
            Role::Issuing => self.path.join("issuing.pem"),
        }
    }

    fn key_path(&self, role: Role) -> PathBuf {
        self.certificate_path(role).with_extension("key")
    }

    fn key<K: StoredKey>(&self, role: Role) -> Result<K, FolderError> {
        let path = self.key_path(role);
        let text = match fs::read_to_string(&path) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FolderError::NoKey(path));
            }
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        K::from_pem(&text).map_err(key_error(path))
    }

    /// Makes everything that belongs in an empty folder.
    fn fill(
        &self,
        plan: &Plan<impl StoredKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<(), FolderError> {
        let policy = Policy::parse(&plan.policy, POLICY)?;
        self.write(&self.policy_path(), plan.policy.as_bytes(), Access::Public)?;
        let ledger = LocalLedger::create(self.path.join(LEDGER))?;

        let name = match plan.issuing {
            Some(_) => format!("{} Root", plan.name),
            None => plan.name.clone(),
        };
        let root = CertificateBuilder::ca(name).validity(lasting(plan.root.validity, now));
        let root = match plan.issuing {
            Some(_) => root.path_len(1),
            None => plan.constraints.apply(root.path_len(0)),
        };
        self.write_key(Role::Root, &plan.root.key)?;
        let root = Issuer::self_signed(root, &plan.root.key)?;
        self.write_certificate(Role::Root, root.certificate())?;
        let root = Authority::new(Role::Root.name(), root, policy, ledger);

        if let Some(issuing) = &plan.issuing {
            let builder = CertificateBuilder::ca(&plan.name)
                .path_len(0)
                .validity(lasting(issuing.validity, now));
            self.write_key(Role::Issuing, &issuing.key)?;
            let builder = plan.constraints.apply(builder);
            let certificate = root.issue_ca(builder, &issuing.key, by, now)?;
            self.write_certificate(Role::Issuing, &certificate)?;
        }
        Ok(())
    }

    fn write_key(&self, role: Role, key: &impl StoredKey) -> Result<(), FolderError> {
        let path = self.key_path(role);
        let pem = key.to_pem().map_err(key_error(path.clone()))?;
        self.write(&path, pem.as_bytes(), Access::Private)
    }

    fn write_certificate(&self, role: Role, certificate: &Certificate) -> Result<(), FolderError> {
        let path = self.certificate_path(role);
        self.write(&path, certificate.to_pem().as_bytes(), Access::Public)
    }

    /// Writes a new file. It is on the disk when this returns.
    fn write(&self, path: &Path, content: &[u8], access: Access) -> Result<(), FolderError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        access.restrict(&mut options);
        options
            .open(path)
            .and_then(|mut file| {
                file.write_all(content)?;
                file.sync_all()
            })
            .map_err(io_error("write", path))
    }
}

/// A folder that is removed unless it gets its name.
struct Draft {
    folder: Folder,
}

impl Draft {
    /// Makes the folder beside `path`, so that it can be renamed to it.
    fn new(path: &Path) -> Result<Self, FolderError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".new-{}", std::process::id()));
        let draft = path.with_file_name(name);
        let mut builder = DirBuilder::new();
        only_for_its_owner(&mut builder);
        builder.create(&draft).map_err(io_error("create", &draft))?;
        Ok(Self {
            folder: Folder { path: draft },
        })
    }

    fn put_in_place(self, path: &Path) -> Result<(), FolderError> {
        fs::rename(&self.folder.path, path).map_err(io_error("create", path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing to remove. A failure to remove the draft is ignored: the error that led
        // here matters more.
        let _ = fs::remove_dir_all(&self.folder.path);
    }
}

#[derive(Clone, Copy)]
enum Access {
    /// Readable only by its owner.
    Private,
    Public,
}

#[cfg(unix)]
impl Access {
    fn restrict(self, options: &mut OpenOptions) {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(match self {
            Self::Private => 0o600,
            Self::Public => 0o644,
        });
    }
}

/// On other systems the permissions of the folder decide who may read the file.
#[cfg(not(unix))]
impl Access {
    fn restrict(self, _: &mut OpenOptions) {}
}

#[cfg(unix)]
fn only_for_its_owner(builder: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;

    builder.mode(0o700);
}

#[cfg(not(unix))]
fn only_for_its_owner(_: &mut DirBuilder) {}

/// This validity from now on, and an hour before now, for peers whose clocks are slow.
fn lasting(validity: Duration, now: UnixTime) -> Validity {
    let now = system_time(now);
    let not_before = now.checked_sub(EARLIER).unwrap_or(SystemTime::UNIX_EPOCH);
    Validity::starting(not_before, validity.saturating_add(EARLIER))
}

const EARLIER: Duration = Duration::from_secs(60 * 60);

const ROOT_CERTIFICATE: &str = "root.pem";
const POLICY: &str = "policy.toml";
const LEDGER: &str = "ledger";
