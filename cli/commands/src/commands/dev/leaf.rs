//! Makes a server's two certificates for development, post-quantum and classical, with their keys. It replaces
//! existing files only if they are its own for the same names, or with `--force`.

use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pq_keys::SubjectKey;
use pq_x509::certificate::{AlternativeName, Certificate, Validity};
use pq_x509::issuing::CertificateBuilder;
use pq_x509::pki_types::UnixTime;
use zeroize::Zeroizing;

use super::roots::{Root, Roots};
use super::twin::Twin;
use crate::commands::cert::TakesNames;
use crate::documents;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, Source};
use crate::keys::{PrivateKey, other_verification};
use crate::passphrases::PassphraseOptions;

/// What a server's certificates are to be.
#[derive(Debug)]
pub(super) struct Order<'a> {
    /// What the files are named after.
    pub(super) first: &'a AlternativeName,
    /// All, the first among them.
    pub(super) names: &'a [AlternativeName],
    /// None for the current folder.
    pub(super) folder: Option<&'a Path>,
    pub(super) validity: Duration,
    /// Whether to replace what is not a certificate of these roots for these names.
    pub(super) force: bool,
}

impl Order<'_> {
    /// Refuses existing files if there are no roots yet: none of these files can be theirs.
    pub(super) fn check_all_free(&self) -> Result<(), Failure> {
        Twin::ALL.iter().try_for_each(|twin| self.check_free(*twin))
    }

    /// The files of the certificates.
    pub(super) fn planned(&self) -> impl Iterator<Item = PathBuf> {
        Twin::ALL.into_iter().map(|twin| self.file(twin, "pem"))
    }

    fn check_free(&self, twin: Twin) -> Result<(), Failure> {
        for extension in ["key", "pem"] {
            let file = Destination::File(self.file(twin, extension));
            files::check(&file, self.force)?;
        }
        Ok(())
    }

    /// Named after the first name, without what some file systems refuse.
    fn file(&self, twin: Twin, extension: &str) -> PathBuf {
        let name = self.first.to_string();
        let stem = name.replace('*', "_wildcard").replace(':', "_");
        let name = format!("{stem}{}.{extension}", twin.suffix());
        self.folder.unwrap_or_else(|| Path::new("")).join(name)
    }
}

/// A certificate that was made, and its files.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) twin: Twin,
    pub(super) file: PathBuf,
    pub(super) key_file: PathBuf,
    pub(super) certificate: Certificate,
    /// Whether it took the place of one of the same names.
    pub(super) is_renewed: bool,
    key: PrivateKey,
}

/// Makes both certificates with their keys, and writes all files or none.
pub(super) fn make(order: &Order<'_>, roots: &Roots) -> Result<Vec<Leaf>, Failure> {
    let leaves = roots.twins.iter().map(|root| Leaf::new(order, root));
    let leaves: Vec<Leaf> = leaves.collect::<Result<_, _>>()?;
    let mut contents = Vec::new();
    for leaf in &leaves {
        let key = leaf.key.to_pkcs8_pem()?;
        let key_file = Destination::File(leaf.key_file.clone());
        let file = Destination::File(leaf.file.clone());
        contents.push((key_file, key, Access::Private));
        contents.push((file, leaf.certificate.to_pem().into(), Access::Public));
    }
    let outputs: Vec<Output<'_>> = contents
        .iter()
        .map(|(to, content, access)| Output {
            to,
            content: content.as_bytes(),
            access: *access,
            is_binary: false,
        })
        .collect();
    let replaces = order.force || leaves.iter().any(|leaf| leaf.is_renewed);
    files::write(&outputs, replaces)?;
    Ok(leaves)
}

impl Leaf {
    fn new(order: &Order<'_>, root: &Root) -> Result<Self, Failure> {
        let twin = root.twin;
        let (file, key_file) = (order.file(twin, "pem"), order.file(twin, "key"));
        let is_renewed = is_one_of_ours(order, root, &file, &key_file);
        if !is_renewed {
            order.check_free(twin)?;
        }
        let key = twin.new_key()?;
        let builder = CertificateBuilder::server().validity(validity(order.validity, root)?);
        let builder = order.names.iter().fold(builder, TakesNames::with_name);
        let certificate = root.issuer()?.issue(builder, &key)?;
        Ok(Self {
            twin,
            file,
            key_file,
            certificate,
            is_renewed,
            key,
        })
    }
}

/// Whether the files have a certificate of this root for the same names, and its key, and nothing else: what somebody
/// has added to them would be lost.
fn is_one_of_ours(order: &Order<'_>, root: &Root, file: &Path, key_file: &Path) -> bool {
    let source = |path: &Path| Source::File(path.into());
    let (Ok(certificate), Ok(key)) = (
        documents::first_certificate(&source(file)),
        documents::private_key(&source(key_file), &PassphraseOptions::default()),
    ) else {
        return false;
    };
    let names: Vec<AlternativeName> = certificate.alternative_names().collect();
    let signature = certificate.verify_signature(&root.certificate, other_verification());
    names.len() == order.names.len()
        && order.names.iter().all(|name| names.contains(name))
        && key.key.spki() == certificate.spki()
        && signature.is_ok()
        && is_all(file, &certificate.to_pem())
        && key
            .key
            .to_pkcs8_pem()
            .is_ok_and(|pem| is_all(key_file, &pem))
}

fn is_all(file: &Path, pem: &str) -> bool {
    fs::read(file).is_ok_and(|bytes| Zeroizing::new(bytes).trim_ascii() == pem.trim().as_bytes())
}

/// Valid from an hour ago, for clients whose clocks are slow, and no longer than the root.
fn validity(wanted: Duration, root: &Root) -> Result<Validity, Failure> {
    const EARLIER: Duration = Duration::from_secs(60 * 60);
    let now = UnixTime::now();
    let root_ends = root.certificate.not_after();
    if root_ends < now {
        return Err(Failure::RootExpired(root.file.display().to_string()));
    }
    let left = root_ends.as_secs().saturating_sub(now.as_secs());
    let validity = wanted.min(Duration::from_secs(left));
    let not_before = SystemTime::now().checked_sub(EARLIER);
    let not_before = not_before.unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(Validity::starting(not_before, validity + EARLIER))
}
