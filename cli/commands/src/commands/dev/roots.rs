//! Makes and reads the two roots of a scope, with a second certificate of each for browsers, Go and rustls. It refuses
//! roots whose files others can change, or which could certify more than roots made here.

use std::path::{Path, PathBuf};
use std::{fs, io};

use pq_keys::SubjectKey;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};

use super::scope::Scope;
use super::twin::Twin;
use crate::documents;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, OutputError, Source};
use crate::keys::{Narrow, SigningKey, other_verification};
use crate::passphrases::PassphraseOptions;
use crate::report::{self, fingerprint};
use crate::shell::quoted;

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
    /// The same root for clients that never take hosts' names from subjects, and that process no limit of subjects:
    /// they would refuse the other certificate. It is the same file if there is no such limit.
    pub(super) for_browsers: (PathBuf, Certificate),
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
        for path in [folder.parent().unwrap_or(&folder), &folder] {
            refuse_of_others(path)?;
        }
        let [post_quantum, classical] = Twin::ALL.map(|twin| Root::read(&folder, twin));
        Ok(Self {
            twins: [post_quantum?, classical?],
            folder,
            scope,
            are_new,
        })
    }

    /// Refuses roots that this program would not have made: the data folder may have been given by others, or by an
    /// older version, whose roots can certify more. What a store gets is what was checked here, whatever the files
    /// have by then.
    pub(super) fn check_limits(&self) -> Result<(), Failure> {
        self.twins
            .iter()
            .try_for_each(|root| root.check(self.scope))
    }

    /// Writes the files with both roots again that are missing: they have nothing that the others lack.
    pub(super) fn complete(&self) -> Result<(), Failure> {
        let write_missing = |file: &str, both: [&Certificate; 2]| {
            let file = self.folder.join(file);
            if file.exists() {
                return Ok(());
            }
            let pem = both.map(Certificate::to_pem).concat();
            write(file, pem.as_bytes(), Access::Public)
        };
        let twins = self.twins.each_ref();
        write_missing(BOTH, twins.map(|root| &root.certificate))?;
        match twins.iter().all(|root| root.for_browsers.0 != root.file) {
            true => write_missing(
                &format!("roots{FOR_BROWSERS}.pem"),
                twins.map(|root| &root.for_browsers.1),
            ),
            false => Ok(()),
        }
    }

    /// The file with both roots, for clients that read one file.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.join(BOTH)
    }

    /// The same for browsers, Go and rustls. Older roots for any name have one file for all.
    pub(super) fn file_for_browsers(&self) -> PathBuf {
        let file = self.folder.join(format!("roots{FOR_BROWSERS}.pem"));
        match file.exists() {
            true => file,
            false => self.file(),
        }
    }

    /// The files that [`make`](Self::make) would make for a root.
    pub(super) fn planned(data: &Path, scope: Scope) -> impl Iterator<Item = PathBuf> {
        let folder = data.join(scope.folder());
        let files = Twin::ALL.map(|twin| format!("root{}.pem", twin.suffix()));
        files.into_iter().map(move |file| folder.join(file))
    }
}

const BOTH: &str = "roots.pem";

/// The end of the names of files for browsers, Go and rustls.
const FOR_BROWSERS: &str = "-for-browsers";

impl Root {
    fn read(folder: &Path, twin: Twin) -> Result<Self, Failure> {
        let read = |end: &str| {
            let file = folder.join(format!("root{}{end}.pem", twin.suffix()));
            refuse_of_others(&file)?;
            let certificate = documents::first_certificate(&Source::File(file.clone()));
            let certificate = certificate.map_err(|error| broken(&file, error.into()))?;
            Ok::<_, Failure>((file, certificate))
        };
        let (file, certificate) = read("")?;
        // Older roots have none.
        let has_two = folder
            .join(format!("root{}{FOR_BROWSERS}.pem", twin.suffix()))
            .exists();
        Ok(Self {
            twin,
            for_browsers: match has_two {
                true => read(FOR_BROWSERS)?,
                false => (file.clone(), certificate.clone()),
            },
            certificate,
            file,
        })
    }

    /// Whether it is as this program makes roots today: for the same names, signed by itself, and for nothing more.
    fn check(&self, scope: Scope) -> Result<(), Failure> {
        // The algorithm makes no difference to the extensions, and this one is fast.
        let key = SigningKey::narrow(Twin::Classical.new_key()?)?;
        let in_subjects = (&self.file, &self.certificate, true);
        let for_browsers = (&self.for_browsers.0, &self.for_browsers.1, false);
        for (file, certificate, limits_subjects) in [in_subjects, for_browsers] {
            let suspicious = |what| Failure::NotOurRoot {
                file: file.display().to_string(),
                what,
            };
            let signed = certificate.verify_signature(certificate, other_verification());
            signed.map_err(|_| suspicious("it is not signed by itself"))?;
            let model = self::certificate(Twin::Classical, scope, limits_subjects, &key)?;
            if limits(certificate) != limits(&model) {
                return Err(suspicious(
                    "it is not limited as the roots that this program makes",
                ));
            }
            if certificate.spki() != self.certificate.spki() {
                return Err(suspicious("it has another key than the root beside it"));
            }
        }
        Ok(())
    }

    /// The issuer of certificates under this root.
    pub(super) fn issuer(&self) -> Result<Issuer<SigningKey>, Failure> {
        let key_file = self.file.with_extension("key");
        refuse_of_others(&key_file)?;
        warn_of_readers(&key_file);
        let file = Source::File(key_file);
        let key = documents::signing_key(&file, &PassphraseOptions::default());
        let key = key.map_err(|error| broken(&self.file, error.into()))?;
        let issuer = Issuer::new(self.certificate.clone(), key);
        issuer.map_err(|error| broken(&self.file, error.into()))
    }

    /// A name that no other root on this machine has, whoever made it.
    pub(super) fn label(&self) -> String {
        label(&self.certificate)
    }
}

/// How the names begin under which stores have roots of this program.
pub(super) const LABEL: &str = "pqtls-dev-";

fn label(certificate: &Certificate) -> String {
    format!("{LABEL}{}", id(&certificate.spki()))
}

/// Whether a certificate that a store has under a name is a root that this program made, in whatever data folder.
pub(super) fn is_root_of(certificate: &Certificate, name: &str) -> bool {
    label(certificate) == name && label_of_root(certificate).is_some()
}

/// The label of a root that this program made, in whatever data folder; `None` for other certificates.
pub(super) fn label_of_root(certificate: &Certificate) -> Option<String> {
    let is_named = certificate.describe_subject().contains(SUBJECT);
    let is_signed = || {
        let verified = certificate.verify_signature(certificate, other_verification());
        verified.is_ok()
    };
    (is_named && is_signed()).then(|| label(certificate))
}

/// How the common names of roots begin.
const SUBJECT: &str = "pqtls dev CA for ";

/// The extensions of a certificate that say what it may certify: all but the identifiers of keys.
fn limits(certificate: &Certificate) -> Vec<(String, bool, Vec<u8>)> {
    const SUBJECT_KEY_IDENTIFIER: &str = "2.5.29.14";
    const AUTHORITY_KEY_IDENTIFIER: &str = "2.5.29.35";
    let tbs = certificate.parsed().tbs_certificate();
    let extensions = tbs.extensions().into_iter().flatten();
    let all = extensions.map(|one| {
        let value = one.extn_value.as_bytes().to_vec();
        (one.extn_id.to_string(), one.critical, value)
    });
    let mut limits: Vec<_> = all
        .filter(|(id, ..)| ![SUBJECT_KEY_IDENTIFIER, AUTHORITY_KEY_IDENTIFIER].contains(&&**id))
        .collect();
    limits.sort();
    limits
}

/// Roots of which a file is lost or damaged can't be used any more.
fn broken(file: &Path, failure: Failure) -> Failure {
    let folder = file.parent().unwrap_or(file);
    Failure::BrokenRoots {
        folder: folder.display().to_string(),
        failure: failure.into(),
    }
}

/// Warns of a key that other users can read.
#[cfg(unix)]
fn warn_of_readers(key: &Path) {
    use std::os::unix::fs::MetadataExt;

    if fs::metadata(key).is_ok_and(|metadata| metadata.mode() & 0o044 != 0) {
        let key = key.display();
        report::warn(format_args!(
            "{key} can be read by other users, who can make certificates that this machine trusts; allow nobody else to \
             (chmod go-rwx {}), or make new roots",
            quoted(&key.to_string())
        ));
    }
}

/// On other systems, the permissions of the folder say who may read there.
#[cfg(not(unix))]
fn warn_of_readers(_: &Path) {}

/// Refuses a file or folder that another user owns or can change.
#[cfg(unix)]
fn refuse_of_others(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;

    // What is missing is told by whoever reads it.
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    let user = rustix::process::geteuid().as_raw();
    match [0, user].contains(&metadata.uid()) && metadata.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(Failure::RootOfOthers(path.display().to_string())),
    }
}

/// On other systems, the folder of the user's data says who may write there.
#[cfg(not(unix))]
fn refuse_of_others(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Lets everybody read a file and nobody else write it, whatever the umask.
#[cfg(unix)]
pub(super) fn only_readable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(file, fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(super) fn only_readable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes both roots in an empty folder.
fn fill(folder: &Path, scope: Scope) -> Result<(), Failure> {
    let at = |name: &str| folder.join(name);
    let mut both = [
        (true, "", String::new()),
        (false, FOR_BROWSERS, String::new()),
    ];
    for twin in Twin::ALL {
        let key = twin.new_key()?;
        let root = format!("root{}", twin.suffix());
        let key_pem = key.to_pkcs8_pem()?;
        write(
            at(&format!("{root}.key")),
            key_pem.as_bytes(),
            Access::Private,
        )?;
        let key = SigningKey::narrow(key)?;
        for (limits_subjects, end, all) in &mut both {
            let pem = certificate(twin, scope, *limits_subjects, &key)?.to_pem();
            write(
                at(&format!("{root}{end}.pem")),
                pem.as_bytes(),
                Access::Public,
            )?;
            all.push_str(&pem);
        }
    }
    both.iter().try_for_each(|(_, end, all)| {
        write(
            at(&format!("roots{end}.pem")),
            all.as_bytes(),
            Access::Public,
        )
    })
}

/// Valid for ten years, and only for servers' certificates.
fn certificate(
    twin: Twin,
    scope: Scope,
    limits_subjects: bool,
    key: &SigningKey,
) -> Result<Certificate, Failure> {
    let (names, algorithm, id) = (scope.names(), twin.algorithm(), id(&key.spki()));
    let name = format!("{SUBJECT}{names} ({algorithm} {id})");
    let builder = CertificateBuilder::ca(name).path_len(0).server_auth();
    let builder = scope.limit(builder);
    let builder = match limits_subjects {
        true => scope.limit_subjects(builder),
        false => builder,
    };
    let root = Issuer::self_signed(builder, key)?;
    Ok(root.certificate().clone())
}

/// A short identifier of a key.
fn id(spki: &[u8]) -> String {
    let digits = fingerprint(spki);
    let digits = digits.trim_start_matches("sha256:");
    digits.chars().take(ID_LEN).collect()
}

/// The number of digits of an identifier.
pub(super) const ID_LEN: usize = 16;

fn write(path: PathBuf, content: &[u8], access: Access) -> Result<(), Failure> {
    let output = Output {
        to: &Destination::File(path.clone()),
        content,
        access,
        is_binary: false,
    };
    files::write(&[output], false)?;
    if access == Access::Public {
        let file = path.display().to_string();
        only_readable(&path).map_err(|error| OutputError::Write { file, error })?;
    }
    Ok(())
}
