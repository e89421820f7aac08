use std::path::{Path, PathBuf};

use pq_x509::{Certificate, CertificateBuilder, Issuer, SubjectKey};

use super::scope::Scope;
use super::twin::Twin;
use crate::documents;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, Source};
use crate::keys::SigningKey;
use crate::passphrases::PassphraseOptions;
use crate::report::fingerprint;

/// The two roots of a scope, in a folder of their own.
#[derive(Debug)]
pub(super) struct Roots {
    folder: PathBuf,
    pub(super) scope: Scope,
    pub(super) are_new: bool,
    pub(super) twins: [Root; 2],
}

/// A root: its certificate and the file that it is in, beside its key.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) twin: Twin,
    pub(super) file: PathBuf,
    pub(super) certificate: Certificate,
}

impl Roots {
    /// Makes them in the data folder. They appear together, and only once: if two processes make them at the
    /// same time, one takes the other's.
    pub(super) fn make(data: &Path, scope: Scope) -> Result<Self, Failure> {
        let folder = data.join(scope.folder());
        let are_new = files::make_folder(&folder, |draft| fill(draft, scope))?;
        Self::read(folder, scope, are_new)
    }

    /// The roots that exist already.
    pub(super) fn existing(data: &Path, scope: Scope) -> Result<Option<Self>, Failure> {
        let folder = data.join(scope.folder());
        match folder.exists() {
            true => Self::read(folder, scope, false).map(Some),
            false => Ok(None),
        }
    }

    fn read(folder: PathBuf, scope: Scope, are_new: bool) -> Result<Self, Failure> {
        let [post_quantum, classical] = Twin::ALL.map(|twin| Root::read(&folder, twin));
        Ok(Self {
            twins: [post_quantum?, classical?],
            folder,
            scope,
            are_new,
        })
    }

    /// The file with both roots, for clients that read one file.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.join(BOTH)
    }
}

const BOTH: &str = "roots.pem";

impl Root {
    fn read(folder: &Path, twin: Twin) -> Result<Self, Failure> {
        let file = folder.join(format!("root{}.pem", twin.suffix()));
        Ok(Self {
            twin,
            certificate: documents::first_certificate(&Source::File(file.clone()))?,
            file,
        })
    }

    /// The issuer of certificates under this root.
    pub(super) fn issuer(&self) -> Result<Issuer<SigningKey>, Failure> {
        let file = Source::File(self.file.with_extension("key"));
        let key = documents::signing_key(&file, &PassphraseOptions::default())?;
        Ok(Issuer::new(self.certificate.clone(), key)?)
    }

    /// A name that no other root on this machine has, whoever made it.
    pub(super) fn label(&self) -> String {
        format!("pqtls-dev-{}", id(&self.certificate.spki()))
    }
}

/// Makes both roots in an empty folder.
fn fill(folder: &Path, scope: Scope) -> Result<(), Failure> {
    let mut both = String::new();
    for twin in Twin::ALL {
        let key = twin.new_key()?;
        let key_pem = key.to_pkcs8_pem()?;
        let pem = certificate(twin, scope, &key.try_into()?)?.to_pem();
        both += &pem;
        let at = |extension: &str| {
            let name = format!("root{}.{extension}", twin.suffix());
            Destination::File(folder.join(name))
        };
        write(&at("key"), key_pem.as_bytes(), Access::Private)?;
        write(&at("pem"), pem.as_bytes(), Access::Public)?;
    }
    let to = Destination::File(folder.join(BOTH));
    write(&to, both.as_bytes(), Access::Public)
}

/// Valid for ten years, and only for servers' certificates.
fn certificate(twin: Twin, scope: Scope, key: &SigningKey) -> Result<Certificate, Failure> {
    let (names, algorithm, id) = (scope.names(), twin.algorithm(), id(&key.spki()));
    let name = format!("pqtls dev CA for {names} ({algorithm} {id})");
    let builder = CertificateBuilder::ca(name).path_len(0).server_auth();
    let root = Issuer::self_signed(scope.limit(builder), key)?;
    Ok(root.certificate().clone())
}

/// A short identifier of a key.
fn id(spki: &[u8]) -> String {
    let digits = fingerprint(spki);
    let digits = digits.trim_start_matches("sha256:");
    digits.chars().take(16).collect()
}

fn write(to: &Destination, content: &[u8], access: Access) -> Result<(), Failure> {
    let output = Output {
        to,
        content,
        access,
        is_binary: false,
    };
    files::write(&[output], false)?;
    Ok(())
}
