//! Secrets never get into the log.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::Mutex;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, CryptoProvider, SupportedKxGroup};
use rustls::{Error, KeyLog, NamedGroup, ProtocolVersion, ServerConfig};
use rustls_pq::Builder;
use rustls_pq::identity::IdentityFiles;

use crate::events;
use crate::peers::{Identity, bases, connect, mutual_client_config, mutual_server_config, roots};

/// Does everything that reports an event, with known secrets: a private key, the secrets of key
/// exchanges, and traffic keys. No event contains one of them, in any form in which bytes are printed.
#[test]
fn no_secret_in_any_event() {
    events::record();
    let known = Arc::new(Known::default());
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let pkcs8 = key.to_pkcs8_der().unwrap();
    // The seed is at the end.
    known.add(&pkcs8[pkcs8.len() - 32..]);
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let root_der = root.certificate().der().clone();
    let same_key = SigningKey::from_pkcs8_der(&pkcs8).unwrap();
    let leaf = CertificateBuilder::server()
        .client_auth()
        .dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &same_key);

    let directory = tempfile::tempdir().unwrap();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| directory.path().join(name));
    let leaf = pq_x509::certificate::Certificate::from_der(&identity.chain[0]).unwrap();
    std::fs::write(&chain, leaf.to_pem()).unwrap();
    std::fs::write(&key, &*same_key.to_pkcs8_pem().unwrap()).unwrap();
    for (_, base) in bases() {
        let provider = known.watch(Builder::new(base).build().unwrap());
        let files = IdentityFiles::new(provider.clone().into()).with_default(&chain, &key);
        let (identities, watcher) = files.watch(Duration::from_millis(1)).unwrap();
        let trusted = || roots([root_der.clone()]);
        let mut mutual = mutual_server_config(provider.clone(), &identity, trusted());
        mutual.key_log = known.clone();
        let mutual = Arc::new(mutual);
        let client = mutual_client_config(provider.clone(), trusted(), &identity);
        let client = Arc::new(client);
        for _ in 0..2 {
            assert_eq!(connect(&client, &mutual).client.result, Ok(()));
        }
        let mut server = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities);
        server.key_log = known.clone();
        assert_eq!(connect(&client, &server.into()).client.result, Ok(()));
        std::fs::write(&chain, "nonsense").unwrap();
        let name = directory.path().display().to_string();
        events::wait_for(&["new certificate refused", &name]);
        std::fs::write(&chain, leaf.to_pem()).unwrap();
        drop(watcher);
    }

    let secrets = known.secrets.lock().unwrap();
    // The seed. For each of three handshakes with each base: the key exchange's secret, traffic secrets of
    // the handshake and of the application, each way, and an exporter secret. One secret for early data
    // in the resumed handshake.
    let per_base = 3 * (1 + 4 + 1) + 1;
    assert_eq!(secrets.len(), 1 + bases().len() * per_base);
    let pem = same_key.to_pkcs8_pem().unwrap();
    let base64 = pem.lines().nth(1).unwrap();
    let printed: Vec<_> = secrets
        .iter()
        .flat_map(|secret| printed(secret))
        .chain([base64[base64.len() - 24..].to_owned()])
        .collect();
    let lines = events::lines(&[]);
    assert!(lines.len() >= 3, "{lines:?}");
    for line in lines {
        for secret in &printed {
            assert!(!line.contains(secret), "{line}");
        }
    }
}

/// The forms of the first half of a secret, which would be too much already.
fn printed(secret: &[u8]) -> [String; 3] {
    let half = &secret[..secret.len() / 2];
    let hex: String = half.iter().map(|byte| format!("{byte:02x}")).collect();
    let list = format!("{half:?}");
    let list = list.trim_matches(['[', ']']).to_owned();
    [hex.to_uppercase(), hex, list]
}

/// Secrets that have been seen.
#[derive(Debug, Default)]
struct Known {
    secrets: Mutex<Vec<Vec<u8>>>,
}

impl Known {
    fn add(&self, secret: &[u8]) {
        self.secrets.lock().unwrap().push(secret.to_vec());
    }

    /// The same provider, whose groups record the secrets that a server shares with its clients.
    fn watch(self: &Arc<Self>, mut provider: CryptoProvider) -> CryptoProvider {
        for group in &mut provider.kx_groups {
            *group = Box::leak(Box::new(Watched {
                group: *group,
                known: Arc::clone(self),
            }));
        }
        provider
    }
}

impl KeyLog for Known {
    fn log(&self, _label: &str, _client_random: &[u8], secret: &[u8]) {
        self.add(secret);
    }
}

#[derive(Debug)]
struct Watched {
    group: &'static dyn SupportedKxGroup,
    known: Arc<Known>,
}

impl SupportedKxGroup for Watched {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        self.group.start()
    }

    fn start_and_complete(&self, share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let completed = self.group.start_and_complete(share)?;
        self.known.add(completed.secret.secret_bytes());
        Ok(completed)
    }

    fn name(&self) -> NamedGroup {
        self.group.name()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.group.usable_for_version(version)
    }
}
