//! Issues the certificates of a demonstration, and writes them into a directory, in which it replaces only its own
//! files.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use pq_keys::files::{Access, write_over};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, EndEntity, IssueError, Issuer};
use pq_x509::keys::{KeyError, SignatureAlgorithm, SigningKey};
use rustls::RootCertStore;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls_pq::Profile;

use crate::identities::Identity;

/// Certificates for a demonstration: a fresh root and a server's leaf, and an intermediate between them if
/// the root has another algorithm.
///
/// The CAs' keys are gone once this is issued, so they can't issue anything else.
#[derive(Debug)]
pub struct Pki {
    /// What clients have to trust.
    pub root: Certificate,
    /// The server's certificate and key.
    pub server: Issued,
    /// A client's, if [`Pki::issue_with_client`] made this.
    pub client: Option<Issued>,
}

impl Pki {
    /// Issues a root, and a leaf for a server with these names, both ML-DSA-65.
    ///
    /// # Errors
    ///
    /// [`PkiError::Issue`] if there is no name, or one can't stand in a certificate.
    pub fn issue(names: &[ServerName<'static>]) -> Result<Self, PkiError> {
        Self::issue_of(SignatureAlgorithm::MlDsa65, names, Client::None)
    }

    /// The same, and a client's certificate from the same root.
    ///
    /// # Errors
    ///
    /// The errors of [`Pki::issue`].
    pub fn issue_with_client(names: &[ServerName<'static>]) -> Result<Self, PkiError> {
        Self::issue_of(SignatureAlgorithm::MlDsa65, names, Client::Issued)
    }

    /// The same, of any algorithm.
    ///
    /// # Errors
    ///
    /// The errors of [`Pki::issue`].
    pub fn issue_of(
        algorithm: SignatureAlgorithm,
        names: &[ServerName<'static>],
        client: Client,
    ) -> Result<Self, PkiError> {
        Self::issue_under(algorithm, algorithm, names, client)
    }

    /// The same, under a root with an algorithm of its own, such as SLH-DSA, which is for keys that sign
    /// little and live for decades. Such a root certifies one intermediate; everything else uses
    /// `algorithm`.
    ///
    /// # Errors
    ///
    /// The errors of [`Pki::issue`].
    pub fn issue_under(
        root: SignatureAlgorithm,
        algorithm: SignatureAlgorithm,
        names: &[ServerName<'static>],
        client: Client,
    ) -> Result<Self, PkiError> {
        let has_intermediate = root != algorithm;
        let root = Issuer::self_signed(
            CertificateBuilder::ca("tls-server demonstration root")
                .path_len(u8::from(has_intermediate)),
            SigningKey::generate(root)?,
        )?;
        let certificate = root.certificate().clone();
        let (issuer, above) = match has_intermediate {
            false => (root, None),
            true => {
                let ca = CertificateBuilder::ca("tls-server demonstration CA").path_len(0);
                let ca = root.issue_ca(ca, SigningKey::generate(algorithm)?)?;
                let above = ca.certificate().clone();
                (ca, Some(above))
            }
        };
        let issue = |builder| Issued::new(&issuer, above.clone(), algorithm, builder);
        Ok(Self {
            root: certificate,
            server: issue(leaf_for(names))?,
            client: match client {
                Client::None => None,
                Client::Issued => {
                    let client = CertificateBuilder::client().common_name(CLIENT_NAME);
                    // As a DNS name, too, since many readers ignore common names.
                    Some(issue(client.dns_name(CLIENT_NAME))?)
                }
            },
        })
    }

    /// The root as the one to trust for client certificates.
    ///
    /// # Errors
    ///
    /// [`rustls::Error`] if rustls doesn't take it.
    pub fn roots(&self) -> Result<RootCertStore, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone())?;
        Ok(roots)
    }

    /// Writes the files into a directory, which is made if there is none.
    ///
    /// Files that an earlier call wrote are replaced; a directory with files of anyone
    /// else is left alone. On Unix, private keys can be read by their owner only.
    ///
    /// # Errors
    ///
    /// [`PkiError::NotOurs`] if the directory holds other files, [`PkiError::Write`] if
    /// a file can't be written.
    pub fn write(&self, directory: &Path) -> Result<PkiFiles, PkiError> {
        claim(directory)?;
        let write_issued = |issued: &Issued, name: &str| -> Result<_, PkiError> {
            let chain = directory.join(format!("{name}.pem"));
            let key = directory.join(format!("{name}.key"));
            let pem = Certificate::chain_to_pem(&issued.chain);
            write(&chain, Access::Public, &pem)?;
            write(&key, Access::Private, &issued.key.to_pkcs8_pem()?)?;
            Ok((chain, key))
        };
        let root = directory.join("root.pem");
        write(&root, Access::Public, &self.root.to_pem())?;
        Ok(PkiFiles {
            root,
            server: write_issued(&self.server, "server")?,
            client: self
                .client
                .as_ref()
                .map(|client| write_issued(client, "client"))
                .transpose()?,
        })
    }
}

/// The algorithm of fresh certificates with which a connection has what a profile wants.
pub fn algorithm_of(profile: Profile) -> SignatureAlgorithm {
    match profile {
        Profile::Cnsa2 => SignatureAlgorithm::MlDsa87,
        _ => SignatureAlgorithm::MlDsa65,
    }
}

/// Whether there is a certificate for a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Client {
    /// There is none.
    None,
    /// The root issues one.
    Issued,
}

/// A certificate chain and the private key of its leaf.
///
/// `pq_ca::ledger::Issued` is something else: what a ledger records of a certificate.
#[derive(Debug)]
pub struct Issued {
    /// The chain to send, leaf first and without the root.
    pub chain: Vec<Certificate>,
    /// The private key.
    pub key: SigningKey,
}

impl Issued {
    /// `above` is the issuer's certificate where that isn't the root.
    fn new(
        issuer: &Issuer<SigningKey>,
        above: Option<Certificate>,
        algorithm: SignatureAlgorithm,
        builder: CertificateBuilder<EndEntity>,
    ) -> Result<Self, PkiError> {
        let key = SigningKey::generate(algorithm)?;
        let leaf = issuer.issue(builder, &key)?;
        Ok(Self {
            chain: [leaf].into_iter().chain(above).collect(),
            key,
        })
    }
}

impl TryFrom<&Issued> for Identity {
    type Error = KeyError;

    fn try_from(issued: &Issued) -> Result<Self, KeyError> {
        let key = issued.key.to_pkcs8_der()?;
        Ok(Self {
            chain: issued.chain.iter().map(|one| one.der().clone()).collect(),
            key: PrivatePkcs8KeyDer::from(key.to_vec()).into(),
        })
    }
}

/// Where [`Pki::write`] put things.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PkiFiles {
    /// The root's certificate.
    pub root: PathBuf,
    /// The server's chain and private key.
    pub server: (PathBuf, PathBuf),
    /// The client's chain and private key, if there is a client.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Why there are no fresh certificates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PkiError {
    /// A key could not be made or written.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A certificate could not be issued.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The directory holds files of somebody else.
    #[error(
        "{} holds files that this program didn't write, so it leaves them alone; choose another \
         directory for the fresh certificates (--pki-dir), or serve what is there with --cert and --key",
        .0.display()
    )]
    NotOurs(PathBuf),
    /// A file or directory could not be written.
    #[error("can't write {}: {error}", .path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
}

/// Tells people what the directory is, and tells [`claim`] that its files may be replaced.
const MARKER: &str = "README.txt";
const MARKER_TEXT: &str = "\
tls-server wrote these files for a demonstration, and replaces them each time it
starts without --cert. The root's private key was never stored.
";

/// The name of the client for which a certificate is issued.
const CLIENT_NAME: &str = "tls-client";

fn leaf_for(names: &[ServerName<'static>]) -> CertificateBuilder<EndEntity> {
    let mut leaf = CertificateBuilder::server();
    if let Some(name) = names.first() {
        leaf = leaf.common_name(name.to_str());
    }
    for name in names {
        leaf = match name {
            ServerName::IpAddress(address) => leaf.ip_address(IpAddr::from(*address)),
            name => leaf.dns_name(name.to_str()),
        };
    }
    leaf
}

/// Makes sure that the directory exists and that its files are ours to replace.
fn claim(directory: &Path) -> Result<(), PkiError> {
    let failed = |error| PkiError::Write {
        path: directory.to_owned(),
        error,
    };
    fs::create_dir_all(directory).map_err(failed)?;
    let marker = directory.join(MARKER);
    if fs::read_to_string(&marker).is_ok_and(|text| text == MARKER_TEXT) {
        return Ok(());
    }
    if fs::read_dir(directory).map_err(failed)?.next().is_some() {
        return Err(PkiError::NotOurs(directory.to_owned()));
    }
    write(&marker, Access::Public, MARKER_TEXT)
}

fn write(path: &Path, access: Access, text: &str) -> Result<(), PkiError> {
    write_over(path, text.as_bytes(), access).map_err(|error| PkiError::Write {
        path: path.to_owned(),
        error: error.into(),
    })
}

#[cfg(test)]
mod tests {
    use pq_keys::files::steps;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_its_name_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        // left by a process that was killed
        let left = ".pqtls-6a21616e342040abda8f33bf68718db9";
        fs::write(folder.path().join(left), "half").unwrap();
        for text in ["first", "second"] {
            steps::take();
            write(&path, Access::Private, text).unwrap();
            let expected = [
                ("sync file", folder.path().join(left)),
                ("rename", path.clone()),
                ("sync", folder.path().to_owned()),
            ];
            assert_eq!(steps::take(), expected);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // A folder in the way stays, and nothing is left beside it.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        write(&taken, Access::Public, "text").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn neither_old_permissions_nor_links_matter() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        fs::write(folder.path().join("other"), "precious").unwrap();
        symlink("other", &path).unwrap();
        write(&path, Access::Private, "secret").unwrap();
        let metadata = fs::symlink_metadata(&path).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"precious");
    }
}
