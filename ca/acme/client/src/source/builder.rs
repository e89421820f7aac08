//! How certificates are asked for, and the beginning of that.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;
use core::time::Duration;
use std::path::{Path, PathBuf};

use pq_acme::client::ExternalKey;
use pq_acme::identifier::Identifier;
use pq_keys::any::AnyAlgorithm;
use pq_serving::client::{Target, Trust};
use pq_serving::provider_builder;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, IdentitySet};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

use super::error::SourceError;
use super::identities::AcmeIdentities;
use super::kept;
use super::pause::Pauses;
use super::resolver::AcmeResolver;
use super::roots::system_roots;
use super::running::{Running, Slot};
use super::settings::Settings;
use crate::account::Account;
use crate::showing::{Challenges, Showing, TlsAlpnCertificates};

/// Where a server gets its certificates from, and how.
///
/// There is one for each [algorithm](Self::algorithms): unless something else is said, one of ECDSA on P-256, which every client
/// trusts whose roots have the CA, and one of ML-DSA-65. They are in files of the folder, `ecdsa-p256.pem` and `ml-dsa-65.pem`, each
/// with its key, for the owner alone, and each replaced at once or not at all. A server that starts again takes them from there.
///
/// A certificate is renewed when the CA says so (RFC 9773), or else after two thirds of its time and a little more that differs
/// between certificates. What fails is tried again, later each time; meanwhile the certificate of before is served.
#[derive(Clone)]
pub struct AcmeSource {
    settings: Settings,
    folder: PathBuf,
    account_key: Option<PathBuf>,
    roots: Option<RootCertStore>,
    algorithms: Vec<AnyAlgorithm>,
    challenges: Challenges,
}

impl AcmeSource {
    /// Certificates for these DNS names and IP addresses, from the CA whose directory has this URL, kept in this folder. The
    /// folder is made if there is none.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the URL is none of `https`, there are no names, or one of them is no name.
    pub fn new(
        directory: impl Into<String>,
        names: impl IntoIterator<Item = impl AsRef<str>>,
        folder: impl Into<PathBuf>,
    ) -> Result<Self, SourceError> {
        let directory = directory.into();
        if let Err(why) = directory.parse::<Target>() {
            return Err(SourceError::Url {
                url: directory,
                why,
            });
        }
        let names = names.into_iter().map(|name| named(name.as_ref()));
        let names: Vec<Identifier> = names.collect::<Result<_, _>>()?;
        if names.is_empty() {
            return Err(SourceError::NoNames);
        }
        let algorithms = ["ECDSA-P256", "ML-DSA-65"];
        Ok(Self {
            settings: Settings {
                directory,
                names,
                contact: Vec::new(),
                agrees: false,
                external: None,
                profile: None,
                pauses: Pauses::default(),
            },
            folder: folder.into(),
            account_key: None,
            roots: None,
            algorithms: algorithms
                .into_iter()
                .filter_map(AnyAlgorithm::named)
                .collect(),
            challenges: Challenges::new(),
        })
    }

    /// The file with the private key of the account, which is made if there is none; otherwise it is `account.key` in the folder.
    #[must_use]
    pub fn account_key(mut self, file: impl Into<PathBuf>) -> Self {
        self.account_key = Some(file.into());
        self
    }

    /// The roots by which the CA's server is trusted; otherwise they are [those of the system](system_roots).
    #[must_use]
    pub fn roots(mut self, roots: RootCertStore) -> Self {
        self.roots = Some(roots);
        self
    }

    /// The same, from a file.
    ///
    /// # Errors
    ///
    /// [`SourceError::Roots`] or [`SourceError::Tls`] if it has no roots that can be used.
    pub fn roots_from(self, file: &Path) -> Result<Self, SourceError> {
        let trust = Trust::from_pem_file(file).map_err(SourceError::Roots)?;
        Ok(self.roots(trust.to_store()?))
    }

    /// The algorithms of the keys, in place of ECDSA on P-256 and ML-DSA-65. The first is
    /// [preferred](rustls_pq::identity#which-one-a-client-gets), and should be one that every client trusts.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = AnyAlgorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// How to show what challenges ask for, in place of tls-alpn-01 by the server itself.
    #[must_use]
    pub fn challenges(mut self, challenges: Challenges) -> Self {
        self.challenges = challenges;
        self
    }

    /// Where the account's holder can be reached, such as `mailto:alice@example.org`.
    #[must_use]
    pub fn contact(mut self, contact: impl Into<String>) -> Self {
        self.settings.contact.push(contact.into());
        self
    }

    /// Agrees to the CA's terms of service.
    #[must_use]
    pub fn agree_to_terms(mut self) -> Self {
        self.settings.agrees = true;
        self
    }

    /// The key that the CA gave out, if it makes accounts only for its customers (RFC 8555, section 7.3.4).
    #[must_use]
    pub fn external_account(mut self, key: ExternalKey) -> Self {
        self.settings.external = Some(key);
        self
    }

    /// The profile of the certificates, one that the CA has.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.settings.profile = Some(name.into());
        self
    }

    /// How long to wait after a failure: so long after the first one, twice as long after each more, and no longer than
    /// `longest`. Otherwise this is a minute and six hours. A quarter more or less is left to chance, and what the CA says counts
    /// if it is longer.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.pauses = Pauses { first, longest };
        self
    }

    /// Takes the certificates that are in the folder, and begins to obtain those that are missing and to renew them, on this
    /// runtime of tokio. It does not wait for the CA. `provider` is that of the server.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the folder can't be written to, the account's key can't be read, or there are no roots.
    pub async fn start(self, provider: Arc<CryptoProvider>) -> Result<AcmeIdentities, SourceError> {
        let identities = Arc::new(Identities::new(IdentitySet::new()));
        self.start_in(identities, provider).await
    }

    /// The same beside the identities that a server has from elsewhere: they come first.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub async fn start_in(
        self,
        identities: Arc<Identities>,
        provider: Arc<CryptoProvider>,
    ) -> Result<AcmeIdentities, SourceError> {
        let certificates = TlsAlpnCertificates::new();
        let resolver = Arc::new(AcmeResolver::new(identities.clone(), certificates.clone()));
        let (statuses, status) = watch::channel(Vec::new());
        let wake = Arc::new(Notify::new());
        let opening = {
            let (provider, identities, wake) = (provider.clone(), identities.clone(), wake.clone());
            spawn_blocking(move || {
                if self.algorithms.is_empty() {
                    return Err(SourceError::NoAlgorithms);
                }
                let client = self.client()?;
                kept::make_folder(&self.folder)?;
                let account_file = self.account_file();
                let account = Account::open(&account_file)?;
                // It is written when the server is about to hear of it.
                kept::check_place_of(&account_file)?;
                let slots = self.algorithms.iter().map(|algorithm| {
                    Slot::open(*algorithm, &self.folder, &self.settings.names, &provider)
                });
                Ok::<_, SourceError>(Running {
                    slots: slots.collect(),
                    challenges: match self.challenges.kinds().is_empty() {
                        true => Challenges::new().by_resolver(certificates),
                        false => self.challenges,
                    },
                    settings: self.settings,
                    client,
                    account,
                    provider,
                    identities,
                    statuses,
                    wake,
                })
            })
        };
        let running = opening
            .await
            .map_err(|error| SourceError::BrokenOff(error.to_string()))??;
        running.begin();
        Ok(AcmeIdentities {
            identities,
            resolver,
            provider,
            status,
            wake,
            task: tokio::spawn(running.run()),
        })
    }

    fn account_file(&self) -> PathBuf {
        let file = self.account_key.clone();
        file.unwrap_or_else(|| self.folder.join("account.key"))
    }

    /// TLS to the CA's server.
    fn client(&self) -> Result<Arc<ClientConfig>, SourceError> {
        let roots = match &self.roots {
            Some(roots) => roots.clone(),
            None => {
                let file = system_roots().ok_or(SourceError::NoRoots)?;
                let trust = Trust::from_pem_file(file).map_err(SourceError::Roots)?;
                trust.to_store()?
            }
        };
        let provider = provider_builder(Profile::Default, &[])?
            .roots(&roots)
            .build()?;
        let config = ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }
}

impl fmt::Debug for AcmeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcmeSource")
            .field("directory", &self.settings.directory)
            .field("names", &self.settings.names)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn named(name: &str) -> Result<Identifier, SourceError> {
    match name.parse::<IpAddr>() {
        Ok(address) => Ok(Identifier::Ip(address)),
        Err(_) => Identifier::dns(name).map_err(|error| SourceError::Name {
            name: name.into(),
            why: error.to_string(),
        }),
    }
}
