//! Certificates from files.
//!
//! * [`IdentityFiles`] says which files, and loads them.
//! * `content` reads a pair, and only if both are regular files.
//! * `key_place` is where the key of a pair is: in a file, or with a source of signers.
//! * `response` is an OCSP response beside a pair.
//! * `watched` is a pair, and the identity made from it.
//! * `watcher` looks at the files again and again, and takes over what has changed.

mod content;
mod key_place;
mod response;
mod watched;
mod watcher;

pub use key_place::SignerSource;
pub use watcher::{WatchError, Watcher};

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

use pq_x509::certificate::Certificate;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use tracing::warn;

use self::content::Content;
use self::key_place::KeyPlace;
use self::response::ResponseFile;
use super::set::Serves;
use super::stapled::OcspSource;
use super::{Identities, Identity, IdentityError, IdentitySet};
use crate::hello::TrustAnchorId;

/// PEM files with certificate chains and their private keys, which can be replaced while
/// the program runs.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use rustls_pq::identity::IdentityFiles;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::env::set_current_dir(&directory)?;
/// # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
/// # for name in ["ml-dsa", "ecdsa"] {
/// #     std::fs::write(format!("{name}.pem"), leaf.to_pem())?;
/// #     std::fs::write(format!("{name}.key"), &*key.to_pkcs8_pem()?)?;
/// # }
/// let provider = Arc::new(rustls_pq::provider()?);
/// let files = IdentityFiles::new(provider.clone())
///     .with_default("ecdsa.pem", "ecdsa.key")
///     .with_default("ml-dsa.pem", "ml-dsa.key");
/// let (identities, watcher) = files.watch(Duration::from_secs(10))?;
/// let config = rustls::ServerConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions()?
///     .with_no_client_auth()
///     .with_cert_resolver(identities);
/// // The files are watched for as long as `watcher` is there.
/// # drop((config, watcher));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "files are read by `load()` or `watch()`"]
pub struct IdentityFiles {
    provider: Arc<CryptoProvider>,
    pairs: Vec<FilePair>,
    ocsp_source: Option<Arc<dyn OcspSource>>,
}

impl IdentityFiles {
    /// No files yet; `provider` will load the keys.
    pub fn new(provider: Arc<CryptoProvider>) -> Self {
        Self {
            provider,
            pairs: Vec::new(),
            ocsp_source: None,
        }
    }

    /// Gets OCSP responses from a source, for the chains that have none
    /// [in a file](FilePair::with_ocsp_response).
    ///
    /// This needs [watched](Self::watch) files: the thread that watches them calls
    /// [`Identities::refresh_ocsp_responses`] when it is time. It begins at once, and serving doesn't
    /// wait for it. While the thread waits for the source, no file is watched. Identities that the
    /// program adds to the set get responses as well.
    pub fn with_ocsp_source(self, source: impl OcspSource + 'static) -> Self {
        Self {
            ocsp_source: Some(Arc::new(source)),
            ..self
        }
    }

    /// Adds a chain and its key, for the names in the certificate.
    pub fn with(self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.with_pair(FilePair::new(chain, key))
    }

    /// Adds a chain and its key, for the names in the certificate and as a default:
    /// see [`IdentitySet::with_default`].
    pub fn with_default(self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.with_pair(FilePair::new(chain, key).as_default())
    }

    /// Adds a chain and its key, for one name, whatever the certificate says: see
    /// [`IdentitySet::with_name`].
    pub fn with_name(self, name: &str, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.with_pair(FilePair::new(chain, key).for_name(name))
    }

    /// Adds a chain and its key.
    pub fn with_pair(mut self, pair: FilePair) -> Self {
        self.pairs.push(pair);
        self
    }

    /// Reads all files once. The order of the pairs is that of the set.
    ///
    /// A chain and a key may have a mebibyte each. Only regular files are read: no pipe, such as that
    /// of a shell's `<(…)`, and no device, which might never end. The log warns if everybody can read
    /// the file with a key, or others than its owner can write it. Only the file's mode counts, not
    /// access control lists.
    ///
    /// # Errors
    ///
    /// The first [`IdentityError`] of any pair.
    pub fn load(&self) -> Result<IdentitySet, IdentityError> {
        let mut set = IdentitySet::new();
        for pair in &self.pairs {
            let identity = pair.first(&pair.read()?, &self.provider)?;
            ResponseFile::of(pair).load(&identity);
            set = set.serving(identity, pair.serves.clone());
        }
        Ok(set)
    }

    /// Reads all files, and then looks for changes, once in each interval of `every`.
    ///
    /// A pair that has changed is taken over once two looks in a row find the same content, so that a
    /// chain isn't read while it is being written, and only if it is a valid pair. If it isn't, or if a
    /// file can't be read, the log says why, once, and the earlier identity stays. Other pairs are not
    /// affected.
    ///
    /// The identity of the changed pair is [replaced](IdentitySet::with_replaced) in the set that is
    /// current then, and nothing else in the set changes. [`Identities::update`] can add other
    /// identities, and those that it removes are not put back. If [`Identities::replace`] has replaced
    /// the set, the new set is served until a pair changes. Then the set is made from the files again,
    /// in the order in which they were added: [`IdentitySet::strongest_first`] has to be called again.
    ///
    /// A thread does this. It doesn't matter how the files are replaced: in place, by renaming, or
    /// by exchanging a symbolic link to their directory. A look asks the system for the size, the
    /// times and the identity of each file. It reads the file only if these have changed, or were
    /// first seen less than five seconds before the last read: a file can be written twice within one
    /// tick of its file system's clock. For 100,000 pairs a look takes half a second of one core, and
    /// two seconds if all of them are read; the log says so at the level DEBUG. An OCSP response in a
    /// file is one more file to look at. The pause after a look is `every`, or nine times as long as
    /// the look but a minute at most, whichever is longer. So looks of up to six seconds take no more
    /// than a tenth of a core.
    ///
    /// # Errors
    ///
    /// [`WatchError::Identity`] with the errors of [`load`](Self::load); [`WatchError::TooOften`] if
    /// `every` is less than a millisecond; [`WatchError::Thread`] if no thread can be started.
    pub fn watch(self, every: Duration) -> Result<(Arc<Identities>, Watcher), WatchError> {
        watcher::watch(self, every)
    }
}

impl fmt::Debug for IdentityFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityFiles")
            .field("pairs", &self.pairs)
            .field("has_ocsp_source", &self.ocsp_source.is_some())
            .finish_non_exhaustive()
    }
}

/// The PEM files of a chain, leaf first, and of its key, and which clients get the chain: see
/// [`IdentityFiles::with_pair`]. The key may also be [elsewhere](Self::with_signers).
#[derive(Clone, Debug)]
#[must_use = "it is for `IdentityFiles::with_pair`"]
pub struct FilePair {
    chain: PathBuf,
    key: KeyPlace,
    ocsp_response: Option<PathBuf>,
    ocsp_issuers: Vec<Certificate>,
    serves: Serves,
    trust_anchors: Vec<TrustAnchorId>,
    protocols: Vec<Vec<u8>>,
}

impl FilePair {
    /// Files for the names in the certificate.
    pub fn new(chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self::of(chain.into(), KeyPlace::File(key.into()))
    }

    /// A file with a chain, for the names in the certificate, whose key is elsewhere: `source` is asked for the signer with
    /// the leaf's public key. See [`Identity::with_signer`]; each signature is verified before it is sent.
    ///
    /// If the files are [watched](IdentityFiles::watch), the source is asked again whenever the chain changes, so that chain
    /// and signer change together. If it has no signer then, it is asked again at each look.
    pub fn with_signers(chain: impl Into<PathBuf>, source: impl SignerSource + 'static) -> Self {
        Self::of(chain.into(), KeyPlace::Signers(Arc::new(source)))
    }

    fn of(chain: PathBuf, key: KeyPlace) -> Self {
        Self {
            chain,
            key,
            ocsp_response: None,
            ocsp_issuers: Vec::new(),
            serves: Serves::ItsNames,
            trust_anchors: Vec::new(),
            protocols: Vec::new(),
        }
    }

    /// The same for the names in the certificate and as a default: see
    /// [`IdentitySet::with_default`].
    pub fn as_default(self) -> Self {
        Self {
            serves: Serves::Everybody,
            ..self
        }
    }

    /// The same for one name, whatever the certificate says: see [`IdentitySet::with_name`].
    pub fn for_name(self, name: &str) -> Self {
        Self {
            serves: Serves::for_name(name),
            ..self
        }
    }

    /// Sends an OCSP response with the chain, from a file in DER: see
    /// [`Identity::set_ocsp_response`]. The file is usually named like the chain's, with the extension
    /// `ocsp`.
    ///
    /// The file need not exist. If the files are [watched](IdentityFiles::watch), the response is taken
    /// over when the file appears or changes, once two looks in a row find the same content. When the
    /// file is removed, no response is sent any more. If a response can't be used, the chain is still
    /// served: the log says why, and the earlier response is sent until it expires.
    pub fn with_ocsp_response(self, file: impl Into<PathBuf>) -> Self {
        Self {
            ocsp_response: Some(file.into()),
            ..self
        }
    }

    /// See [`Identity::with_ocsp_issuers`].
    pub fn with_ocsp_issuers(self, issuers: impl IntoIterator<Item = Certificate>) -> Self {
        Self {
            ocsp_issuers: issuers.into_iter().collect(),
            ..self
        }
    }

    /// See [`Identity::with_trust_anchors`].
    pub fn with_trust_anchors(self, ids: impl IntoIterator<Item = TrustAnchorId>) -> Self {
        Self {
            trust_anchors: ids.into_iter().collect(),
            ..self
        }
    }

    /// See [`Identity::with_protocols`].
    pub fn with_protocols<P: Into<Vec<u8>>>(self, protocols: impl IntoIterator<Item = P>) -> Self {
        Self {
            protocols: protocols.into_iter().map(P::into).collect(),
            ..self
        }
    }

    fn read(&self) -> Result<Content, IdentityError> {
        Content::read(&self.chain, &self.key)
    }

    /// Makes the first identity of the pair. Errors go to the caller, and name the files.
    fn first(
        &self,
        content: &Content,
        provider: &CryptoProvider,
    ) -> Result<Identity, IdentityError> {
        let identity = self
            .identity(content, provider)
            .map_err(|error| match &self.key {
                KeyPlace::File(key) => IdentityError::InFiles {
                    chain: self.chain.clone(),
                    key: key.clone(),
                    error: error.into(),
                },
                KeyPlace::Signers(source) => IdentityError::InFile {
                    chain: self.chain.clone(),
                    key: source.description(),
                    error: error.into(),
                },
            })?;
        self.warn_about(&identity, content);
        Ok(identity)
    }

    fn identity(
        &self,
        content: &Content,
        provider: &CryptoProvider,
    ) -> Result<Identity, IdentityError> {
        let identity = match &self.key {
            KeyPlace::File(_) => Identity::in_files(&content.chain, &content.key, provider),
            KeyPlace::Signers(source) => Identity::in_file(&content.chain, &**source, provider),
        };
        Ok(identity?
            .with_ocsp_issuers(self.ocsp_issuers.iter().cloned())
            .with_trust_anchors(self.trust_anchors.iter().copied())
            .with_protocols(self.protocols.iter().cloned()))
    }

    /// Warns of problems. The identity is served nevertheless: peers have clocks of their own, and the
    /// one here may be wrong; and if somebody has read the key, it is too late to stop them.
    fn warn_about(&self, identity: &Identity, content: &Content) {
        if identity.not_after() < UnixTime::now() {
            warn!(
                chain = %self.chain.display(),
                "a certificate of the chain has expired, and peers refuse it; get a new one, \
                 unless the clock here is wrong"
            );
        }
        self.warn_about_mode(content);
    }

    fn warn_about_mode(&self, content: &Content) {
        if let Some(mode) = content.exposed_by {
            warn!(
                key = %self.key,
                mode = %format_args!("{mode:o}"),
                "the private key can be read by everybody, or written by others than its owner; \
                 `chmod g-w,o=` it, and replace it if somebody may have read it"
            );
        }
    }
}
