//! The CA's own keys: how one of the folder is opened, and how a new one is made and kept. The folder has the file of a key,
//! or a text that says which version of which key in a store it is.

use core::str::FromStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pq_ca::authority::Authority;
use pq_ca::folder::{FolderError, Role, StoredKey};
use pq_keys::any::{ReadError, read_private_key};
use pq_keys::protection::Protection;
use pq_keys::{SignError, Signer, SubjectKey};
use pq_keystore::policy::{Grants, Policy, Principal, UseAudit, Verb, Verbs};
use pq_keystore::{InvalidName, KeyName, Version};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use serde::Serialize;
use zeroize::Zeroizing;

use super::opened::{AnyLedger, CaFolder};
use crate::commands::custody::{
    Access, AnySigner, Custodian, KeyInStore, KeyLabel, Reference, StorePlace,
};
use crate::documents;
use crate::failure::{Failure, StoreFailure};
use crate::keys::{Algorithm, KeyError, Narrow, PrivateKey, SigningKey};
use crate::passphrases::{CaPassphraseOptions, Passphrase};
use crate::report;
use crate::shell::{command_line, with_options_of_ca};
use crate::words::protection_name;

/// How to open the key of the CA that a command uses.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CaKeyOptions {
    #[command(flatten)]
    passphrase: CaPassphraseOptions,

    #[command(flatten)]
    pub(super) access: Access,
}

impl CaKeyOptions {
    /// Whether an option names the passphrase of the CA's key.
    pub(super) fn is_given(&self) -> bool {
        self.passphrase.is_given()
    }

    /// The CA with its key, which may be under a passphrase or in a store.
    pub(super) fn authority(
        &self,
        folder: &CaFolder,
        role: Role,
    ) -> Result<Authority<AnySigner, AnyLedger>, Failure> {
        let authority = folder.authority_with(role, |path, text| self.signer(path, text));
        if authority.is_ok() {
            warn_of_older_ledger(folder, role)?;
        }
        authority
    }

    /// The key in a file of the CA's folder, which may be under a passphrase or in a store.
    pub(super) fn signer(&self, path: &Path, text: &[u8]) -> Result<AnySigner, Failure> {
        match reference(path, text)? {
            Some(reference) => Ok(AnySigner::Stored(self.in_store(path, &reference)?)),
            None => {
                let file = path.display().to_string();
                let key = documents::ca_key(&file, text, &self.passphrase)?;
                Ok(AnySigner::File(key))
            }
        }
    }

    /// The same, to issue certificates: nobody accepts one below a root that has expired.
    pub(super) fn authority_to_issue(
        &self,
        folder: &CaFolder,
        role: Role,
    ) -> Result<Authority<AnySigner, AnyLedger>, Failure> {
        folder.check_root_time(UnixTime::now())?;
        self.authority(folder, role)
    }

    /// The key of a store that is meant.
    fn in_store(&self, file: &Path, reference: &Reference) -> Result<KeyInStore, Failure> {
        let store = opened(&self.access, file, reference)?;
        let key = store.signer(&reference.key.key, Some(reference.key.version));
        key.map_err(|failure| StoreFailure::if_older(failure, file))
    }
}

/// A ledger that knows nothing of a later key, whose files are there, lacks what was revoked since, too. Whoever uses that
/// key knows it.
fn warn_of_older_ledger(folder: &CaFolder, used: Role) -> Result<(), Failure> {
    let unknown = folder.keys_unknown_to_ledger()?;
    if unknown.contains(&used) {
        return Ok(());
    }
    for role in unknown {
        let (name, path) = (role.name(), folder.path().to_string_lossy());
        let text = format!(
            "the ledger is older than the CA's folder, as after a backup: it has no key \"{name}\", whose certificate is in {}; \
             what was revoked since is valid in it, and what was issued since unknown: revoke it again (\"pqtls ca adopt \
             --crl\" does so from published lists), record it again (\"pqtls ca adopt\"), give the next list a number above all before it (\"pqtls ca crl --number\"), and have the key issue \
             again (\"pqtls ca rollover --use {name}\"), or, if it is not to, have its certificate revoked, and move its files away",
            folder.key_path(role).with_extension("pem").display(),
        );
        let options = format!(" {}", command_line(["--dir", &*path]));
        report::warn(with_options_of_ca(&text, &options));
    }
    Ok(())
}

/// The store that a file of a CA's folder refers to.
fn opened(access: &Access, file: &Path, reference: &Reference) -> Result<Custodian, Failure> {
    let opened = access.custodian_at(&reference.store);
    opened.map_err(|failure| {
        StoreFailure::if_missing(failure, |error| StoreFailure::StoreOfCa {
            file: file.into(),
            error,
            has_root: has_root(file, reference),
        })
    })
}

/// Whether the root's key is in the store of the key in this file.
fn has_root(file: &Path, reference: &Reference) -> bool {
    let root = file.with_file_name(format!("{}.key", Role::Root.name()));
    match Kept::in_file(&root) {
        Ok(Kept::InStore(root)) => root.store.is(&reference.store),
        _ => false,
    }
}

fn reference(path: &Path, text: &[u8]) -> Result<Option<Reference>, Failure> {
    let read = Reference::in_text(text).transpose();
    Ok(read.map_err(|_| StoreFailure::Reference(path.into()))?)
}

/// What the commands need that use the CA's keys, if some of these are in a store: for advice of commands that use none, and so
/// were not told.
pub(super) fn what_opens_keys(folder: &CaFolder) -> Option<String> {
    let root = Kept::in_file(&folder.key_path(Role::Root)).ok();
    let root = root.and_then(|kept| match kept {
        Kept::InStore(reference) => Some(reference),
        _ => None,
    });
    let others = Kept::in_stores(folder).unwrap_or_default();
    let Reference { store, .. } = others.into_iter().next_back().or(root)?;
    let option = match store {
        StorePlace::Door(_) => "--store-token-file FILE",
        StorePlace::File(_) | StorePlace::Postgres(_) => "--kek-file FILE",
    };
    Some(format!(
        "The CA's keys are in the key store {store}: commands that use them need the options that open it, such as {option}."
    ))
}

/// How a key of a CA is kept.
pub(super) enum Kept {
    /// Its file is not in the folder.
    Elsewhere,
    Clear,
    Encrypted,
    InStore(Reference),
}

impl Kept {
    /// The keys in stores of all that issue or issued, as far as their files are there and can be read.
    pub(super) fn in_stores(folder: &CaFolder) -> Result<Vec<Reference>, Failure> {
        let generations = folder.generations()?.into_iter();
        let roles = generations.filter_map(|one| Role::from_name(&one.name));
        let kept = roles.map(|role| Self::in_file(&folder.key_path(role)));
        let of_store = |kept| match kept {
            Ok(Self::InStore(reference)) => Some(reference),
            _ => None,
        };
        Ok(kept.filter_map(of_store).collect())
    }

    /// How the key in this file of a CA's folder is.
    pub(super) fn in_file(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read(path).map(Zeroizing::new) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::Elsewhere),
            Err(cause) => {
                let (doing, path) = ("read", path.into());
                return Err(FolderError::Io { doing, path, cause }.into());
            }
        };
        if let Some(reference) = reference(path, &text)? {
            return Ok(Self::InStore(reference));
        }
        let file = path.display().to_string();
        Ok(match documents::is_ca_key_encrypted(&file, &text)? {
            true => Self::Encrypted,
            false => Self::Clear,
        })
    }
}

/// Where the new keys of a CA are made, if that is in a store.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct KeyStoreOptions {
    /// Make new keys in this key store, and never in a file: a store's file, or the address of its PostgreSQL database
    /// (postgres://) or of its server (https://). The CA's folder says which key of which store it is
    #[arg(
        long,
        value_name = "STORE",
        help_heading = HEADING,
        conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_env", "no_passphrase"],
    )]
    key_store: Option<StorePlace>,

    /// How the names of keys begin there: TENANT/PURPOSE for TENANT/PURPOSE/root and TENANT/PURPOSE/issuing; behind https://, NAME
    /// for NAME-root and NAME-issuing [default: pki/ca; behind https://, ca]
    #[arg(
        long,
        value_name = "TENANT/PURPOSE",
        help_heading = HEADING,
        requires = "key_store",
    )]
    key_names: Option<KeyNames>,
}

const HEADING: &str = "Key store of the new keys [default: they lie in files]";

/// What the names of a CA's keys begin with.
#[derive(Clone, Debug)]
enum KeyNames {
    InStore { tenant: String, purpose: String },
    AtDoor(String),
}

impl FromStr for KeyNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = match text.split_once('/') {
            Some((tenant, purpose)) => Self::InStore {
                tenant: tenant.into(),
                purpose: purpose.into(),
            },
            None => Self::AtDoor(text.into()),
        };
        // The longest one
        names
            .name(Role::Issuing)
            .map_err(|error| error.to_string())?;
        Ok(names)
    }
}

impl KeyNames {
    /// The name of the root's key, or of the one that issues, whose versions follow each other.
    fn name(&self, role: Role) -> Result<KeyLabel, InvalidName> {
        let role = match role {
            Role::Root => Role::Root,
            _ => Role::Issuing,
        };
        match self {
            Self::InStore { tenant, purpose } => {
                KeyName::new(tenant, purpose, &role.name()).map(KeyLabel::InStore)
            }
            Self::AtDoor(prefix) => KeyLabel::behind_door(&format!("{prefix}-{}", role.name())),
        }
    }
}

/// How new keys are made and kept.
pub(super) enum NewKeys<'a> {
    /// In files, under this passphrase if there is one.
    Files(Option<&'a Passphrase>),
    /// In a store, by names of options.
    Store {
        place: StorePlace,
        options: &'a KeyStoreOptions,
        access: &'a Access,
        /// What the CA has there already.
        own: Vec<Reference>,
    },
    /// As the next version of a key in a store, to which this file refers.
    NextOf {
        reference: Reference,
        file: PathBuf,
        access: &'a Access,
    },
}

impl<'a> NewKeys<'a> {
    /// As options say.
    pub(super) fn by(
        options: &'a KeyStoreOptions,
        access: &'a Access,
        passphrase: Option<&'a Passphrase>,
        own: Vec<Reference>,
    ) -> Result<Self, Failure> {
        Ok(match options.place()? {
            Some(place) => Self::Store {
                place,
                options,
                access,
                own,
            },
            None => Self::Files(passphrase),
        })
    }

    /// Makes a key.
    pub(super) fn make(&self, role: Role, algorithm: Algorithm) -> Result<NewCaKey, Failure> {
        if let Algorithm::PostQuantum(kem @ pq_keys::Algorithm::Kem(_)) = algorithm {
            return Err(Failure::Unsupported(kem));
        }
        match self {
            Self::Files(passphrase) => NewCaKey::generate(algorithm, *passphrase),
            Self::Store {
                place,
                options,
                access,
                own,
            } => {
                let name = options.name(place, role)?;
                let mut own = own.iter().map(|one| (&one.store, &one.key.key));
                let is_own = own.any(|(store, key)| *key == name && store.is(place));
                let opened = access.custodian_at(place);
                let store = opened.map_err(|failure| {
                    StoreFailure::if_missing(failure, StoreFailure::StoreOfNewKeys)
                })?;
                NewCaKey::in_store(place, (access, &store), (&name, is_own), algorithm)
            }
            Self::NextOf {
                reference,
                file,
                access,
            } => {
                let store = opened(access, file, reference)?;
                let (place, name) = (&reference.store, &reference.key.key);
                NewCaKey::in_store(place, (access, &store), (name, true), algorithm)
            }
        }
    }
}

impl KeyStoreOptions {
    pub(super) fn is_given(&self) -> bool {
        self.key_store.is_some()
    }

    /// Whether a key of a store is what would be made by these options, be it of an earlier version.
    pub(super) fn would_make(
        &self,
        reference: &Reference,
        (role, algorithm): (Role, Algorithm),
        access: &Access,
    ) -> Result<bool, Failure> {
        let Some(place) = self.place()?.filter(|place| place.is(&reference.store)) else {
            return Ok(false);
        };
        let name = self.name(&place, role)?;
        if reference.key.key != name {
            return Ok(false);
        }
        let store = access.custodian_at(&reference.store)?;
        Ok(store.algorithm(&name)? == algorithm)
    }

    /// The name of a key at a place.
    fn name(&self, place: &StorePlace, role: Role) -> Result<KeyLabel, Failure> {
        let name = match (&self.key_names, place) {
            (Some(KeyNames::InStore { .. }), StorePlace::Door(_))
            | (Some(KeyNames::AtDoor(_)), StorePlace::File(_) | StorePlace::Postgres(_)) => {
                return Err(StoreFailure::KeyNames.into());
            }
            (Some(names), _) => names.name(role),
            (None, StorePlace::Door(_)) => KeyNames::AtDoor("ca".into()).name(role),
            (None, _) => KeyNames::InStore {
                tenant: "pki".into(),
                purpose: "ca".into(),
            }
            .name(role),
        };
        Ok(name.map_err(StoreFailure::KeyName)?)
    }

    fn place(&self) -> Result<Option<StorePlace>, Failure> {
        let place = self.key_store.clone().map(StorePlace::absolute).transpose();
        Ok(place.map_err(StoreFailure::NoAbsolutePath)?)
    }
}

/// A new key of a CA, with the text of its file.
pub(super) struct NewCaKey {
    key: AnySigner,
    pem: Zeroizing<String>,
    /// What a key that is kept alike is opened with.
    opening: Opening,
    pub(super) keeping: Keeping,
}

/// What a key that a folder has is opened with.
enum Opening {
    /// It is in a file, and under this passphrase if there is one.
    Passphrase(Option<Passphrase>),
    /// It is in a store, which is opened like this.
    Store(Box<Access>),
}

/// How new keys are kept, for reports.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Keeping {
    /// How the keys are encrypted, if they are in files and encrypted.
    pub(super) protection: Option<String>,
    /// The key store that has them, if one does.
    pub(super) key_store: Option<String>,
    /// Which versions of which keys they are there.
    pub(super) stored_keys: Vec<String>,
}

impl Keeping {
    pub(super) fn in_store(reference: &Reference) -> Self {
        Self {
            protection: None,
            key_store: Some(reference.store.to_string()),
            stored_keys: vec![reference.key.to_string()],
        }
    }

    /// Of another key that is made with this one, and kept alike.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.stored_keys.extend_from_slice(&other.stored_keys);
        self
    }

    /// Warns of versions that were made for what failed.
    pub(super) fn warn_of_unused(&self) {
        for key in &self.stored_keys {
            report::warn(format_args!(
                "{key} was made in the key store {}, and no certificate is for it; it stays enabled until somebody disables it \
                 there (\"pqtls store disable\")",
                self.key_store.as_deref().unwrap_or_default()
            ));
        }
    }

    pub(super) fn is_in_the_clear(&self) -> bool {
        self.protection.is_none() && self.key_store.is_none()
    }

    /// In words, after "key" or "keys": `them` stands for what others may read.
    pub(super) fn in_words(&self, them: &str) -> String {
        match (&self.key_store, &self.protection) {
            (Some(store), _) => {
                format!("in the key store {store}: {}", self.stored_keys.join(", "))
            }
            (None, Some(protection)) => format!("encrypted by {protection}"),
            (None, None) => format!("in the clear: whoever can read {them} can act as the CA"),
        }
    }
}

impl NewCaKey {
    fn generate(algorithm: Algorithm, passphrase: Option<&Passphrase>) -> Result<Self, Failure> {
        let key = PrivateKey::generate(algorithm)?;
        let protection = Protection::default();
        let pem = match passphrase {
            Some(passphrase) => {
                Zeroizing::new(key.to_encrypted_pkcs8_pem(passphrase, &protection)?)
            }
            None => key.to_pkcs8_pem()?,
        };
        Ok(Self {
            key: AnySigner::File(SigningKey::narrow(key)?),
            pem,
            opening: Opening::Passphrase(passphrase.cloned()),
            keeping: Keeping {
                protection: passphrase.map(|_| protection_name(&protection)),
                ..Keeping::default()
            },
        })
    }

    /// A key of a store, or the next version of the one that has the name. The process that made a version is the only one
    /// that has a certificate made for it: so what another process left behind, which was killed before a folder had it, is
    /// not taken up, but followed.
    fn in_store(
        place: &StorePlace,
        (access, store): (&Access, &Custodian),
        (name, is_own): (&KeyLabel, bool),
        algorithm: Algorithm,
    ) -> Result<Self, Failure> {
        let reference = |version| Reference {
            store: place.clone(),
            key: name.at(version),
        };
        reference(Version::FIRST).check_text()?;
        let version = store.new_version(name, algorithm, policy_for, is_own)?;
        let reference = reference(version);
        let key = Self::known(&reference, access)?;
        match key.key.algorithm() {
            found if found == algorithm => Ok(key),
            found => Err(StoreFailure::OtherAlgorithm {
                key: name.to_string(),
                found: found.name(),
                asked: algorithm.name(),
            }
            .into()),
        }
    }

    /// The key that a folder has already.
    pub(super) fn known(reference: &Reference, access: &Access) -> Result<Self, Failure> {
        let store = access.custodian_at(&reference.store)?;
        let key = store.signer(&reference.key.key, Some(reference.key.version))?;
        Ok(Self {
            key: AnySigner::Stored(key),
            pem: Zeroizing::new(reference.to_string()),
            opening: Opening::Store(Box::new(access.clone())),
            keeping: Keeping::in_store(reference),
        })
    }
}

/// The longest list of revoked certificates that is signed, in bytes.
const MAX_LIST: u64 = 1 << 30;

/// The policy of a CA's key: whoever makes it signs with it, and each signature has an entry in the audit log before it is given
/// out.
fn policy_for(principal: &Principal) -> Policy {
    let verbs: Verbs = [Verb::Sign, Verb::Verify, Verb::Show].into_iter().collect();
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant(principal, verbs);
    policy.audit = UseAudit::Each;
    policy.max_message = MAX_LIST;
    policy
}

impl SubjectKey for NewCaKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for NewCaKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.key.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key.sign(message)
    }
}

impl NewCaKey {
    fn in_the_clear(key: SigningKey) -> Result<Self, Failure> {
        let pem = key.to_pem()?;
        Ok(Self {
            key: AnySigner::File(key),
            pem,
            opening: Opening::Passphrase(None),
            keeping: Keeping::default(),
        })
    }
}

impl StoredKey for NewCaKey {
    type Error = Failure;

    fn from_pem(text: &[u8]) -> Result<Self, Failure> {
        Self::in_the_clear(SigningKey::from_pem(text)?)
    }

    fn read_like(&self, text: &[u8]) -> Result<Self, Failure> {
        match &self.opening {
            Opening::Passphrase(passphrase) => {
                let passphrase = || passphrase.clone().ok_or(KeyError::UnderPassphrase);
                let read = read_private_key::<PrivateKey, _, _>(text, passphrase);
                let read = read.map_err(|error| match error {
                    ReadError::Key(error) => error.into(),
                    ReadError::Protection(error) => KeyError::Protection(error),
                    ReadError::Passphrase(error) => error,
                })?;
                Self::in_the_clear(SigningKey::narrow(read.key)?)
            }
            Opening::Store(access) => match Reference::in_text(text) {
                Some(Ok(reference)) => Self::known(&reference, access),
                Some(Err(_)) | None => Err(KeyError::NotInStore.into()),
            },
        }
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, Failure> {
        Ok(self.pem.clone())
    }
}
