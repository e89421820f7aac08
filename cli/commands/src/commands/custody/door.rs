//! Stores behind a door, which `pqtls store serve` is: their addresses, who asks, and what is asked.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::path::PathBuf;

use pq_keystore::Version;
use pq_keystore::remote::{
    EngineAddress, RemoteError, RemoteSigner, RemoteStore, RemoteToken, TlsTransport,
    TlsTransportOptions,
};

use super::key_name::{KeyLabel, KeyVersion};
use crate::commands::servers::{self, ClientFiles, or_variable, waiting_time};
use crate::failure::{DoorFailure, Failure, InvalidDoorAddress, StoreFailure};
use crate::keys::{Algorithm, PublicKey};

/// The address of a store behind a door.
#[derive(Clone, Eq, PartialEq)]
pub(in crate::commands) struct DoorAddress {
    /// As it was given.
    text: String,
    read: Result<Parts, InvalidDoorAddress>,
}

/// What an address says.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Parts {
    engine: EngineAddress,
    connecting: Duration,
    answering: Duration,
}

impl DoorAddress {
    /// An address, if the text begins as one.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let schemes = ["https://", "http://"];
        let is_one = schemes.iter().any(|scheme| text.starts_with(scheme));
        is_one.then(|| Self {
            text: text.into(),
            read: text.parse(),
        })
    }

    /// Why the store itself is not here; or what is wrong with the address, of which nothing is told then.
    pub(in crate::commands) fn needs_store(&self) -> Failure {
        match &self.read {
            Ok(_) => DoorFailure::NeedsStore(self.to_string()).into(),
            Err(wrong) => DoorFailure::Address(*wrong).into(),
        }
    }
}

impl Parts {
    fn options(&self) -> TlsTransportOptions {
        let mut options = TlsTransportOptions::default();
        (options.connecting, options.answering) = (self.connecting, self.answering);
        options
    }
}

impl FromStr for Parts {
    type Err = InvalidDoorAddress;

    /// Reads `https://HOST[:PORT][/v1/MOUNT][?connect_timeout=SECONDS&timeout=SECONDS]`.
    fn from_str(text: &str) -> Result<Self, InvalidDoorAddress> {
        let (engine, options) = text.split_once('?').unwrap_or((text, ""));
        let mut parts = Self {
            engine: engine.parse()?,
            connecting: Duration::from_secs(5),
            answering: Duration::from_secs(60),
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let time = match name {
                "connect_timeout" => &mut parts.connecting,
                "timeout" => &mut parts.answering,
                _ => return Err(InvalidDoorAddress::UnknownOption),
            };
            *time = waiting_time(value).map_err(InvalidDoorAddress::Time)?;
        }
        Ok(parts)
    }
}

impl fmt::Display for DoorAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for DoorAddress {
    /// Nothing of it, since there may be a token in it that was not refused yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoorAddress")
    }
}

/// Who asks behind a door, and which server is believed.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct DoorOptions {
    /// Of a store at https://: the file with your token, which only its owner may read [default: the file that the environment
    /// variable PQTLS_STORE_TOKEN_FILE names]
    #[arg(
        long,
        value_name = "FILE",
        display_order = 820,
        conflicts_with = "store_token_credential"
    )]
    store_token_file: Option<PathBuf>,

    /// Of a store at https://: the credential of systemd with your token
    #[arg(long, value_name = "NAME", display_order = 821)]
    store_token_credential: Option<String>,

    /// Of a store at https://: PEM file with the certificate that you show, and its chain [default: the environment variable
    /// PQTLS_STORE_CERT]
    #[arg(long, value_name = "FILE", display_order = 822)]
    store_cert: Option<PathBuf>,

    /// Of a store at https://: PEM file with the private key of that certificate [default: the environment variable
    /// PQTLS_STORE_CERT_KEY]
    #[arg(long, value_name = "FILE", display_order = 823)]
    store_cert_key: Option<PathBuf>,

    /// Of a store at https://: PEM file with the root of the CA that certified its server [default: the environment variable
    /// PQTLS_STORE_CA]
    #[arg(long, value_name = "FILE", display_order = 824)]
    store_ca: Option<PathBuf>,
}

impl DoorOptions {
    /// The store behind a door. Nothing is sent yet.
    pub(super) fn at(&self, address: &DoorAddress) -> Result<DoorKeys, Failure> {
        Ok(self.keys_at(address)?)
    }

    fn keys_at(&self, address: &DoorAddress) -> Result<DoorKeys, DoorFailure> {
        let read = address.read.as_ref();
        let parts = read.map_err(|wrong| DoorFailure::Address(*wrong))?;
        let chain = or_variable(self.store_cert.as_ref(), "PQTLS_STORE_CERT");
        let key = or_variable(self.store_cert_key.as_ref(), "PQTLS_STORE_CERT_KEY");
        let client = match (&chain, &key) {
            (Some(chain), Some(key)) => Some(ClientFiles { chain, key }),
            (None, None) => None,
            _ => return Err(DoorFailure::HalfACertificate),
        };
        let token = self.token()?;
        if client.is_none() && token.is_none() {
            return Err(DoorFailure::NobodyAsks);
        }
        let roots = or_variable(self.store_ca.as_ref(), "PQTLS_STORE_CA");
        let tls = servers::to_server(&roots.ok_or(DoorFailure::NoRoots)?, client);
        let tls = tls.map_err(DoorFailure::Tls)?;
        let (engine, options) = (&parts.engine, parts.options());
        let transport = TlsTransport::new(tls.into(), engine.host(), engine.port(), options);
        let transport = transport.map_err(|error| DoorFailure::Tls(error.to_string()))?;
        let token = token.as_ref().map(RemoteToken::as_str);
        Ok(DoorKeys {
            store: RemoteStore::new(transport, engine.mount(), token),
            address: address.clone(),
        })
    }

    fn token(&self) -> Result<Option<RemoteToken>, DoorFailure> {
        if let Some(name) = &self.store_token_credential {
            let read = RemoteToken::credential(name);
            return read.map(Some).map_err(DoorFailure::Token);
        }
        let file = or_variable(self.store_token_file.as_ref(), "PQTLS_STORE_TOKEN_FILE");
        let read = file.map(|file| RemoteToken::read(&file).map_err(DoorFailure::Token));
        read.transpose()
    }
}

/// A version as a door shows it, if it signs.
const ENABLED: &str = "enabled";

/// The keys of a store behind a door.
#[derive(Clone, Debug)]
pub(in crate::commands) struct DoorKeys {
    pub(super) store: RemoteStore,
    address: DoorAddress,
}

impl DoorKeys {
    pub(in crate::commands) fn address(&self) -> &DoorAddress {
        &self.address
    }

    /// A version that signs: one, or the newest that is enabled.
    pub(super) fn signer(
        &self,
        key: &KeyLabel,
        version: Option<Version>,
    ) -> Result<RemoteSigner, Failure> {
        let name = key.at_door()?;
        let version = match version {
            Some(version) => version,
            None => self.newest(key)?,
        };
        RemoteSigner::at(&self.store, name, version)
            .map_err(|error| self.of_version(&key.at(version), name, error).into())
    }

    /// The public key of a version: one, or the newest that is enabled.
    pub(super) fn public_key(
        &self,
        key: &KeyLabel,
        version: Option<Version>,
    ) -> Result<(Version, PublicKey), Failure> {
        let name = key.at_door()?;
        let version = match version {
            Some(version) => version,
            None => self.newest(key)?,
        };
        self.store
            .public_key(name, Some(version))
            .map_err(|error| self.of_version(&key.at(version), name, error).into())
    }

    /// The newest version that is enabled.
    fn newest(&self, key: &KeyLabel) -> Result<Version, Failure> {
        let shown = self.store.show(key.at_door()?);
        let versions = shown.map_err(|error| self.of_key(key, error))?.versions;
        let mut newest_first = versions.iter().rev();
        let newest = newest_first
            .find(|one| one.state.as_deref().is_none_or(|state| state == ENABLED))
            .map(|one| one.version);
        let none = || DoorFailure::NoneEnabled {
            door: self.address.to_string(),
            key: key.to_string(),
        };
        Ok(newest.ok_or_else(none)?)
    }

    /// The algorithm of a key.
    pub(super) fn algorithm(&self, key: &KeyLabel) -> Result<Algorithm, Failure> {
        let found = self.store.public_key(key.at_door()?, None);
        let (_, public) = found.map_err(|error| self.of_key(key, error))?;
        Ok(public.algorithm())
    }

    /// Makes a key, and returns its version; `None` if there is one already.
    pub(in crate::commands) fn create(
        &self,
        key: &KeyLabel,
        algorithm: Algorithm,
        exportable: bool,
    ) -> Result<Option<Version>, Failure> {
        let made = self
            .store
            .create(key.at_door()?, &key_type(algorithm), exportable);
        Ok(made.map_err(|error| self.failed(error))?)
    }

    /// Makes the next version of a key, and says which one this process made.
    pub(super) fn rotate(&self, key: &KeyLabel) -> Result<Version, Failure> {
        let made = self.store.rotate(key.at_door()?);
        let made = made.map_err(|error| self.of_key(key, error))?;
        Ok(made.ok_or_else(|| DoorFailure::UnsaidVersion(self.address.to_string()))?)
    }

    /// Makes a key, or the next version of it, and says which version this process made: no other process is told that.
    pub(super) fn new_version(
        &self,
        key: &KeyLabel,
        algorithm: Algorithm,
    ) -> Result<Version, Failure> {
        let made = self
            .store
            .create(key.at_door()?, &key_type(algorithm), false);
        let refused = match made {
            Ok(Some(version)) => return Ok(version),
            Ok(None) => None,
            // There is one already of which who asks may make versions, or of another algorithm.
            Err(
                error @ RemoteError::Refused {
                    status: 400 | 403, ..
                },
            ) => Some(error),
            Err(error) => return Err(self.failed(error).into()),
        };
        let found = match (self.algorithm(key), refused) {
            (Ok(found), _) => found,
            (Err(_), Some(refused)) => return Err(self.failed(refused).into()),
            (Err(failure), None) => return Err(failure),
        };
        if found != algorithm {
            return Err(StoreFailure::OtherAlgorithm {
                key: key.to_string(),
                found: found.name(),
                asked: algorithm.name(),
            }
            .into());
        }
        let shown = self.store.show(key.at_door()?);
        let shown = shown.map_err(|error| self.of_key(key, error))?;
        // Who may sign with it, doors don't show.
        if shown.exportable != Some(false) {
            return Err(StoreFailure::ExportableKey(key.to_string()).into());
        }
        self.rotate(key)
    }

    /// What failed, and where.
    pub(super) fn failed(&self, error: RemoteError) -> DoorFailure {
        DoorFailure::Remote {
            door: self.address.to_string(),
            error,
        }
    }

    /// The same about a key, which there may not be.
    pub(super) fn of_key(&self, key: &KeyLabel, error: RemoteError) -> DoorFailure {
        match error.is_no_key() {
            true => DoorFailure::NoKey {
                door: self.address.to_string(),
                key: key.to_string(),
            },
            false => self.failed(error),
        }
    }

    /// The same about a version. That there is none, only a list of the others says.
    fn of_version(&self, id: &KeyVersion, name: &str, error: RemoteError) -> DoorFailure {
        if !matches!(
            error,
            RemoteError::Refused {
                status: 400 | 404,
                ..
            }
        ) {
            return self.failed(error);
        }
        match self.store.show(name) {
            Err(error) if error.is_no_key() => self.of_key(&id.key, error),
            Ok(shown) if shown.versions.iter().all(|one| one.version != id.version) => {
                DoorFailure::NoVersion {
                    door: self.address.to_string(),
                    version: id.to_string(),
                }
            }
            _ => self.failed(error),
        }
    }
}

/// The type of keys of an algorithm.
fn key_type(algorithm: Algorithm) -> String {
    algorithm.name().to_lowercase()
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Encoding};
    use pq_keys::{SignatureAlgorithm, SigningKey, SubjectKey};
    use pq_keystore::remote::{Transport, TransportError, TransportRequest, TransportResponse};

    use super::*;

    /// A server that answers with what it has for a method and a path, and refuses the rest as Vault does.
    struct Answers(Vec<(&'static str, String)>);

    impl Transport for Answers {
        fn send(
            &self,
            request: &TransportRequest<'_>,
        ) -> Result<TransportResponse, TransportError> {
            let asked = format!("{} {}", request.method, request.target);
            let answer = self.0.iter().find(|(of, _)| *of == asked);
            let (status, body) = match answer {
                Some((_, data)) => (200, format!(r#"{{"data":{data}}}"#)),
                None => (400, r#"{"errors":["it is not done"]}"#.into()),
            };
            Ok(TransportResponse {
                status,
                body: body.into_bytes().into(),
            })
        }
    }

    /// A key behind a door that answers so.
    fn behind(answers: Vec<(&'static str, String)>) -> (DoorKeys, KeyLabel) {
        let door = DoorKeys {
            store: RemoteStore::new(Answers(answers), "transit", Some("token")),
            address: DoorAddress::in_text("https://keys.example").unwrap(),
        };
        (door, "app".parse().unwrap())
    }

    /// Servers that are not this project's tell no states, and all their versions sign.
    #[test]
    fn the_newest_version_that_may_sign() {
        for (versions, newest) in [
            (r#"{"1":{},"2":{},"10":{}}"#, Some(10)),
            (
                r#"{"1":{"state":"enabled"},"2":{"state":"enabled"},"3":{"state":"disabled"}}"#,
                Some(2),
            ),
            (
                r#"{"1":{"state":"disabled"},"2":{"state":"destroyed"}}"#,
                None,
            ),
        ] {
            let shown = format!(r#"{{"keys":{versions}}}"#);
            let (door, key) = behind(vec![("GET /v1/transit/keys/app", shown)]);
            let found = door.newest(&key).ok().map(Version::get);
            assert_eq!(found, newest, "{versions}");
        }
    }

    /// What is refused of a version that is there is told as it was said, however many others there are.
    #[test]
    fn a_version_that_is_refused_is_not_missing() {
        let shown = r#"{"keys":{"1":{},"2":{},"4":{}}}"#.to_owned();
        let (door, key) = behind(vec![("GET /v1/transit/keys/app", shown)]);
        for (number, is_there) in [(1, true), (2, true), (3, false), (4, true), (5, false)] {
            let version = Version::new(number).unwrap();
            let refused = door.public_key(&key, Some(version)).unwrap_err();
            let said = refused.to_string();
            assert_eq!(said.contains("it is not done"), is_there, "{said}");
            assert_eq!(said.contains(&format!("app#{number}")), !is_there, "{said}");
        }
    }

    /// A key that is there already has a new version only if it is certain that it can't be exported.
    #[test]
    fn keys_that_may_be_exported_get_no_versions() {
        let algorithm = SignatureAlgorithm::MlDsa44;
        let key = SigningKey::generate(algorithm).unwrap();
        let spki = Base64::encode_string(&key.spki());
        for (exportable, made) in [
            (r#","exportable":false"#, Some(2)),
            (r#","exportable":true"#, None),
            ("", None),
        ] {
            let (door, key) = behind(vec![
                (
                    "GET /v1/transit/export/public-key/app/latest?format=der",
                    format!(r#"{{"keys":{{"1":"{spki}"}}}}"#),
                ),
                (
                    "GET /v1/transit/keys/app",
                    format!(r#"{{"keys":{{"1":{{}}}}{exportable}}}"#),
                ),
                (
                    "POST /v1/transit/keys/app/rotate",
                    r#"{"key_version":2}"#.into(),
                ),
            ]);
            let version = door.new_version(&key, algorithm.into());
            let said = version.as_ref().err().map(ToString::to_string);
            assert_eq!(version.ok().map(Version::get), made, "{said:?}");
        }
    }

    #[test]
    fn addresses_name_server_mount_and_times() {
        let parts: Parts = "https://[::1]:8200?timeout=7&connect_timeout=3600"
            .parse()
            .unwrap();
        assert_eq!(
            parts.engine,
            "https://[::1]:8200/v1/transit".parse().unwrap()
        );
        let options = parts.options();
        assert_eq!(options.answering, Duration::from_secs(7));
        assert_eq!(options.connecting, Duration::from_secs(3600));
    }

    #[test]
    fn other_addresses_are_refused() {
        for text in [
            "http://keys.example",
            "https://token@keys.example",
            "https://keys.example/token",
            "https://keys.example?token=x",
            "https://keys.example?timeout=0",
            "https://keys.example?timeout=3601",
            "https://keys.example?timeout",
            "https://keys.example?connect_timeout=token",
        ] {
            let refused = DoorAddress::in_text(text).unwrap();
            let said = refused.read.as_ref().unwrap_err().to_string();
            assert!(!said.contains("token@"), "{said}");
            assert!(!format!("{refused:?}").contains("token"));
            let said = refused.needs_store().to_string();
            assert!(said.starts_with("the store's address: "), "{said}");
        }
    }
}
