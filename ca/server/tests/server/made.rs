//! A CA for tests, with its doors on a server of plain HTTP, and a clock that tests set.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::path::PathBuf;

use pq_ca::authority::{Authority, Order};
use pq_ca::ledger::{LocalLedger, SerialNumber};
use pq_ca::policy::Policy;
use pq_ca_server::{Clock, Doors, ListSettings, PublishedCa, Settings};
use pq_serving::Server;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use tempfile::TempDir;

use crate::asking::Answer;

pub(crate) type TestCa = Authority<SigningKey, LocalLedger>;

/// A time that tests set.
#[derive(Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn now(&self) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(self.0.load(Ordering::SeqCst)))
    }

    pub(crate) fn set(&self, time: u64) {
        self.0.store(time, Ordering::SeqCst);
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// A CA behind its doors.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) ca: Arc<TestCa>,
    pub(crate) time: Time,
    pub(crate) doors: Doors,
    server: Server,
}

pub(crate) fn new_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

/// The policy of all tests, with this at its end.
fn policy(rest: &str) -> Policy {
    let urls = ["http://127.0.0.1/crl/issuing.crl".parse().unwrap()];
    let text = Policy::default_text(&[".example.org".parse().unwrap()], &[], &urls);
    let text = text.replace(
        "profiles = [\"server\"",
        "profiles = [\"ocsp-responder\", \"server\"",
    );
    let text = text.replace("#urls = []", "urls = [\"http://127.0.0.1/status\"]");
    Policy::parse(&format!("{text}\n{rest}\n"), "policy.toml").unwrap()
}

impl Served {
    pub(crate) async fn start() -> Self {
        Self::with(|_, _| ()).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings, &mut PublishedCa)) -> Self {
        Self::by_policy("", change).await
    }

    /// The same with more in its policy.
    pub(crate) async fn by_policy(
        rest: &str,
        change: impl FnOnce(&mut Settings, &mut PublishedCa),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), new_key()).unwrap();
        let ledger = LocalLedger::create(folder.path().join("ledger")).unwrap();
        let ca = Arc::new(Authority::new("issuing", issuer, policy(rest), ledger));
        let time = Time(Arc::new(AtomicU64::new(UnixTime::now().as_secs())));
        let mut settings = Settings::default();
        settings.clock = Clock::new({
            let time = time.clone();
            move || time.now()
        });
        settings.lists = Some(ListSettings::in_folder(folder.path().join("lists")));
        let mut published = published(&ca);
        change(&mut settings, &mut published);
        let doors = Doors::new(published, settings);
        let server = Server::plain()
            .handler(doors.clone())
            .bind("127.0.0.1:0")
            .await
            .unwrap();
        Self {
            folder,
            ca,
            time,
            doors,
            server,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A certificate of the CA.
    pub(crate) fn issue(&self, name: &str) -> Certificate {
        let key = new_key();
        let order = Order::for_key(&key).unwrap();
        let order = order.with(|wanted| {
            wanted
                .dns_name(format!("{name}.example.org"))
                .profile(pq_ca::policy::Profile::Server)
        });
        self.ca.issue(&order, "tests", self.time.now()).unwrap()
    }

    pub(crate) fn revoke(&self, certificate: &Certificate) {
        let number = SerialNumber::of(certificate).unwrap();
        let reason = CrlReason::Superseded;
        self.ca
            .revoke(&number, reason, "tests", self.time.now())
            .unwrap();
    }

    pub(crate) async fn get(&self, path: &str, fields: &str) -> Answer {
        crate::asking::ask(self.address(), &format!("GET {path}"), fields, b"").await
    }
}

/// What doors show of a CA whose root issues.
pub(crate) fn published(ca: &Arc<TestCa>) -> PublishedCa {
    let root = ca.issuer().certificate().clone();
    PublishedCa::new(root, Vec::new(), ca.clone()).at_urls_of(ca.policy())
}
