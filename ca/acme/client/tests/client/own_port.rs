//! With the CA of `pqtls ca serve --acme`, which asks challenges of tls-alpn-01 at the server's own port.

use alloc::sync::Arc;
use std::fs;

use pq_acme::nonce::Nonces;
use pq_acme::store::MemoryStore;
use pq_acme_client::Challenges;
use pq_ca::authority::Authority;
use pq_ca::ledger::{LocalLedger, SerialNumber};
use pq_ca::policy::Policy;
use pq_ca_server::acme::AcmeDoor;
use pq_ca_server::validation::{Addresses, Ports, Resolver, Validator};
use pq_ca_server::{Clock, Doors, PublishedCa, Settings};
use pq_serving::Server;
use pq_x509::certificate::Certificate;
use pq_x509::keys::SigningKey;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::kit::{self, obtained, provider, served, shown, soon};

const NAME: &str = "127.0.0.1";

/// A CA, whose challenges are asked at these ports of this machine.
struct Ca {
    folder: TempDir,
    authority: Arc<Authority<SigningKey, LocalLedger>>,
    directory: String,
    root: Certificate,
    _server: Server,
}

impl Ca {
    async fn start(http: u16, tls_alpn: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let issuer = kit::new_root();
        let tls = kit::tls(&issuer);
        let root = issuer.certificate().clone();
        let networks = ["127.0.0.0/8".parse().unwrap()];
        let text = Policy::default_text(&[], &networks, &[]);
        // A new CA's policy has keys of ML-DSA alone.
        let text = text.replace("[\"ML-DSA-44\"", "[\"ECDSA-P256\", \"ML-DSA-44\"");
        let policy = Policy::parse(&format!("{text}\n[acme]\n"), "policy.toml").unwrap();
        let ledger = LocalLedger::create(folder.path().join("ledger")).unwrap();
        let authority = Arc::new(Authority::new("issuing", issuer, policy, ledger));
        let published = PublishedCa::new(root.clone(), Vec::new(), authority.clone());
        let doors = Doors::new(published, Settings::default());
        let server = Server::builder(tls).handler(doors.clone());
        let server = server.bind("127.0.0.1:0").await.unwrap();
        let resolver = Resolver::new(&["127.0.0.1:53".parse().unwrap()]).unwrap();
        let validator = Validator::new(resolver, provider())
            .unwrap()
            .addresses(Addresses::with(["127.0.0.1".parse().unwrap()]))
            .ports(Ports {
                http,
                tls_alpn,
                ..Ports::default()
            });
        let issuing = doors.clone();
        let url = format!("https://localhost:{}/acme", server.local_addr().port());
        let door = AcmeDoor::new(
            &url,
            MemoryStore::new(),
            Nonces::new([7; 32]),
            validator,
            move || issuing.issuing(),
            Clock::default(),
        );
        let directory = door.directory_url();
        doors.mount("/acme", Arc::new(door));
        Self {
            folder,
            authority,
            directory,
            root,
            _server: server,
        }
    }

    fn source(&self) -> pq_acme_client::AcmeSource {
        let folder = self.folder.path().join("server");
        kit::source(&self.directory, NAME, &folder, &self.root)
    }

    fn revoke(&self, leaf: &[u8]) {
        let leaf = Certificate::from_der(leaf).unwrap();
        let number = SerialNumber::of(&leaf).unwrap();
        let now = UnixTime::now();
        let revoked = self
            .authority
            .revoke(&number, CrlReason::Superseded, "tests", now);
        revoked.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_obtains_keeps_and_renews_its_certificates() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let ca = Ca::start(1, address.port()).await;
    let certificates = ca.source().start(provider()).await.unwrap();
    let server = kit::serve(listener, &certificates);
    soon(certificates.ready()).await;
    obtained(&certificates, 1).await;
    let first = served(&certificates);
    let set = certificates.identities().current();
    let algorithms = set.identities().map(|one| one.key_algorithm().to_string());
    assert_eq!(algorithms.collect::<Vec<_>>(), ["ECDSA P-256", "ML-DSA-65"]);
    assert!(first.contains(&shown(address, NAME, &ca.root).await));

    // Both are there for the owner alone, and nothing else but the account's key.
    let folder = ca.folder.path().join("server");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{entry:?}");
        }
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["account.key", "ecdsa-p256.pem", "ml-dsa-65.pem"]);

    // A server that starts again has them at once, and asks for no others.
    kit::stop(server).await;
    drop(certificates);
    let certificates = ca.source().start(provider()).await.unwrap();
    assert_eq!(served(&certificates), first);
    let listener = TcpListener::bind(address).await.unwrap();
    let _server = kit::serve(listener, &certificates);
    assert!(first.contains(&shown(address, NAME, &ca.root).await));
    assert!(certificates.status().iter().all(|one| one.obtained == 0));

    // The CA says that they are to be renewed, since they were revoked.
    for leaf in &first {
        ca.revoke(leaf);
    }
    certificates.look();
    obtained(&certificates, 1).await;
    let second = served(&certificates);
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|leaf| !first.contains(leaf)));
    assert!(second.contains(&shown(address, NAME, &ca.root).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn challenges_are_answered_by_http_if_that_is_wanted() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let ca = Ca::start(address.port(), 1).await;
    let source = ca.source().challenges(Challenges::new().http_01(address));
    let certificates = source.start(provider()).await.unwrap();
    obtained(&certificates, 1).await;
    assert_eq!(served(&certificates).len(), 2);
}
