//! Certificates and ticket keys that are replaced while the server runs.

use alloc::sync::Arc;
use core::error::Error;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Instant, SystemTime};

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, EndEntity, Issuer};
use pq_x509::keys::{KeyError, SignatureAlgorithm, SubjectKey as _};
use pq_x509::pki_types::CertificateDer;
use rustls::crypto::{CryptoProvider, KeyProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{ClientConfig, HandshakeKind, ServerConfig, SignatureScheme};
use rustls_pq::identity::{
    FilePair, Identities, IdentityError, IdentityFiles, IdentitySet, SignerSource, WatchError,
};
use rustls_pq::{Builder, Tickets};
use tempfile::TempDir;

use crate::events;
use crate::peers::{any_base, client_config, connect, roots};

/// Short, so that tests need not wait, but long enough for a file system.
pub(crate) const OFTEN: Duration = Duration::from_millis(5);

#[test]
fn files_that_change() {
    events::record();
    let pki = Pki::new();
    let files = Files::new("changing");
    let [first, second, third] = [(); 3].map(|()| pki.issue());
    files.put(&first);
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let (identities, watcher) = watch.watch(OFTEN).unwrap();
    assert!(first.is_served_by(&identities));

    // Half of a new pair doesn't match: this is logged, and the old pair stays.
    put(&files.chain, &second.chain);
    let line = events::wait_for(&["WARN", "new certificate refused", &files.name()]);
    assert!(
        line.contains("the private key doesn't belong to the certificate"),
        "{line}"
    );
    assert!(first.is_served_by(&identities));
    put(&files.key, &second.key);
    second.wait_until_served_by(&identities);
    events::wait_for(&["INFO", "certificate replaced", &files.name(), "ML-DSA-44"]);

    // A file that ends in the middle.
    put(&files.chain, &second.chain[..second.chain.len() / 2]);
    events::wait_for(&["WARN", &files.name(), "does not end; the text is cut short"]);
    assert!(second.is_served_by(&identities));
    // A missing file.
    fs::remove_file(&files.key).unwrap();
    events::wait_for(&["WARN", &files.name(), "can't be read: No such file"]);
    assert!(second.is_served_by(&identities));
    // The pair as before, which is no change.
    files.put(&second);
    thread::sleep(10 * OFTEN);
    assert!(second.is_served_by(&identities));
    assert_eq!(
        events::lines(&["certificate replaced", &files.name()]).len(),
        1
    );

    // Each refusal is logged once, however often the files are looked at.
    let refusals = || events::lines(&["WARN", &files.name()]).len();
    put(
        &files.chain,
        "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
    );
    events::wait_for(&["WARN", &files.name(), "certificate 0 of the chain"]);
    let before = refusals();
    thread::sleep(20 * OFTEN);
    assert_eq!(refusals(), before);

    // A good pair after that.
    files.put(&third);
    third.wait_until_served_by(&identities);

    drop(watcher);
    files.put(&first);
    thread::sleep(10 * OFTEN);
    assert!(third.is_served_by(&identities));
}

/// One unusable pair doesn't prevent the replacement of others.
#[test]
fn pairs_are_independent() {
    events::record();
    let pki = Pki::new();
    let broken = Files::new("broken");
    let good = Files::new("good");
    let [old, new] = [(); 2].map(|()| pki.issue_for("a.example.org"));
    let other = pki.issue();
    broken.write(&other);
    good.write(&old);
    let watch = IdentityFiles::new(provider())
        .with_default(&broken.chain, &broken.key)
        .with(&good.chain, &good.key);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();

    fs::write(&broken.key, "nonsense").unwrap();
    events::wait_for(&["WARN", "new certificate refused", &broken.name()]);
    good.write(&new);
    new.wait_until_served_by(&identities);
    assert!(other.is_served_by(&identities));
}

/// `reload` doesn't wait for the next look, or the one after it.
#[test]
fn reload_by_call() {
    let pki = Pki::new();
    let files = Files::new("reload");
    let [first, second] = [(); 2].map(|()| pki.issue());
    files.write(&first);
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let an_hour = Duration::from_secs(3600);
    let (identities, watcher) = watch.watch(an_hour).unwrap();
    files.write(&second);
    thread::sleep(OFTEN);
    assert!(first.is_served_by(&identities));
    watcher.reload();
    second.wait_until_served_by(&identities);
    // Dropping it doesn't wait for an hour either.
}

/// Zero means neither "never" nor "all the time".
#[test]
fn files_looked_at_too_often() {
    let files = Files::new("too often");
    files.put(&Pki::new().issue());
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    for every in [Duration::ZERO, Duration::from_micros(999)] {
        let error = watch.clone().watch(every).map(|_| ()).unwrap_err();
        assert!(matches!(error, WatchError::TooOften { every: e } if e == every));
        assert!(error.to_string().contains("at least a millisecond"));
    }
    assert!(watch.watch(Duration::from_millis(1)).is_ok());
}

/// Keys that are elsewhere, which a test adds, and how often the source was asked.
#[derive(Clone, Default)]
struct Elsewhere(Arc<(Mutex<Vec<String>>, AtomicUsize)>);

impl Elsewhere {
    fn add(&self, pair: &Pair) {
        self.0.0.lock().unwrap().push(pair.key.clone());
    }
}

impl SignerSource for Elsewhere {
    fn signer(
        &self,
        spki: &SubjectPublicKeyInfoDer<'_>,
    ) -> Result<Arc<dyn pq_x509::keys::Signer>, Box<dyn Error + Send + Sync>> {
        self.0.1.fetch_add(1, Ordering::Relaxed);
        let keys = self.0.0.lock().unwrap();
        let mut keys = keys
            .iter()
            .map(|key| pq_x509::keys::SigningKey::from_pkcs8_pem(key).unwrap());
        let key = keys.find(|key| key.spki() == *spki);
        Ok(Arc::new(key.ok_or("no version has this key")?))
    }

    fn description(&self) -> String {
        "store:shop/web/tls".into()
    }
}

/// The chain alone is in a file: the signer changes with it, and only when it changes.
#[test]
fn chains_whose_keys_are_elsewhere() {
    events::record();
    let pki = Pki::new();
    let files = Files::new("elsewhere");
    let [first, second] = [(); 2].map(|()| pki.issue());
    let keys = Elsewhere::default();
    put(&files.chain, &first.chain);
    let pair = FilePair::with_signers(&files.chain, keys.clone()).as_default();
    let watch = IdentityFiles::new(provider()).with_pair(pair);
    let error = watch.load().unwrap_err();
    assert!(matches!(&error, IdentityError::InFile { error, .. }
        if matches!(**error, IdentityError::NoSigner(_))));
    for words in [
        &files.name(),
        "store:shop/web/tls",
        "no version has this key",
    ] {
        assert!(error.to_string().contains(words), "{error}");
    }

    keys.add(&first);
    let (identities, watcher) = watch.watch(OFTEN).unwrap();
    assert!(first.is_served_by(&identities));
    assert!(identities.current().identities().all(|one| one.may_block()));
    // A chain for a key that isn't there yet: it is reported once, and taken when the key is.
    put(&files.chain, &second.chain);
    let reports = || events::lines(&["WARN", "certificate refused", &files.name()]).len();
    events::wait_for(&["WARN", "no version has this key", &files.name()]);
    let asked = || keys.0.1.load(Ordering::Relaxed);
    let before = asked();
    let start = Instant::now();
    while asked() < before + 3 {
        assert!(start.elapsed() < Duration::from_secs(30));
        thread::sleep(OFTEN);
    }
    assert_eq!(reports(), 1);
    assert!(first.is_served_by(&identities));
    keys.add(&second);
    second.wait_until_served_by(&identities);

    // Nothing changes, and nobody is asked.
    let before = asked();
    watcher.reload();
    thread::sleep(10 * OFTEN);
    assert_eq!(asked(), before);
}

/// The files are for a name that the certificate doesn't have.
#[test]
fn files_for_a_name() {
    let pki = Pki::new();
    let files = Files::new("name");
    let [first, second] = [(); 2].map(|()| pki.issue());
    files.write(&first);
    let watch = IdentityFiles::new(provider()).with_name("By.Hand", &files.chain, &files.key);
    let (identities, watcher) = watch.watch(Duration::from_secs(3600)).unwrap();
    let has = |name| identities.choose_for(name, &[], &[]).is_some();
    let assert_names = || {
        assert!(has(Some("by.hand")));
        assert!(!has(Some("localhost")));
        assert!(!has(None));
    };
    assert_names();
    files.write(&second);
    watcher.reload();
    second.wait_until_served_by(&identities);
    assert_names();
}

#[test]
fn files_that_are_no_good_at_the_start() {
    let pki = Pki::new();
    let files = Files::new("start");
    let watch = || {
        let files = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
        let error = files.load().unwrap_err();
        let Err(WatchError::Identity(same)) = files.watch(OFTEN).map(|_| ()) else {
            panic!("there is nothing to watch");
        };
        assert_eq!(same.to_string(), error.to_string());
        error
    };
    assert!(matches!(watch(), IdentityError::File { path, .. } if path == files.chain));
    let [one, other] = [(); 2].map(|()| pki.issue());
    files.write(&one);
    fs::write(&files.key, &other.key).unwrap();
    let error = watch();
    let IdentityError::InFiles {
        chain,
        key,
        error: cause,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((chain, key), (&files.chain, &files.key));
    assert!(matches!(**cause, IdentityError::Mismatch { .. }));
    assert!(error.to_string().contains(&files.name()), "{error}");
}

/// An expired chain is served, since the clock may be wrong.
#[test]
fn expired_chain_is_reported_and_served() {
    events::record();
    let pki = Pki::new();
    let files = Files::new("expired");
    let a_day = Duration::from_secs(24 * 3600);
    let past = Validity::starting(SystemTime::now() - 2 * a_day, a_day);
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let expired = pki.issue_as(leaf.validity(past));
    let valid = pki.issue();
    let reports = || events::lines(&["WARN", "has expired", &files.name()]).len();

    files.write(&expired);
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let set = watch.load().unwrap();
    assert_eq!(reports(), 1);
    let not_after = set.identities().next().unwrap().not_after();
    assert_eq!(
        not_after,
        Certificate::from_pem(&expired.chain).unwrap().not_after()
    );

    let (identities, watcher) = watch.watch(Duration::from_secs(3600)).unwrap();
    assert!(expired.is_served_by(&identities));
    assert_eq!(reports(), 2);
    for (pair, expected) in [(valid, 2), (expired, 3)] {
        files.write(&pair);
        watcher.reload();
        pair.wait_until_served_by(&identities);
        assert_eq!(reports(), expected);
    }
}

/// A chain is valid until its first certificate expires.
#[test]
fn chain_expires_with_its_first_certificate() {
    let pki = Pki::new();
    let key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let short = CertificateBuilder::ca("CA").validity(Validity::days(7));
    let ca = Pki(pki.0.issue_ca(short, key).unwrap());
    let mut pair = ca.issue();
    let certificate = ca.0.certificate();
    pair.chain += &certificate.to_pem();
    let set = pair.set(&provider());
    let identity = set.identities().next().unwrap();
    assert_eq!(identity.not_after(), certificate.not_after());
}

/// Certificates change as fast as they can, in files and by call, and so do ticket keys;
/// every handshake succeeds, full and resumed.
#[test]
fn under_load() {
    let pki = Pki::new();
    let files = Files::new("load");
    let pairs = [(); 4].map(|()| pki.issue());
    files.write(&pairs[0]);
    let provider = provider();
    let watch = IdentityFiles::new(provider.clone()).with_default(&files.chain, &files.key);
    let (watched, _watcher) = watch.watch(Duration::from_millis(1)).unwrap();
    let called = Arc::new(Identities::new(pairs[0].set(&provider)));
    let tickets = Arc::new(
        Tickets::over(
            rustls::crypto::ring::Ticketer::new,
            provider.secure_random,
            rustls_pq::TicketOptions::default(),
        )
        .unwrap(),
    );
    let servers = [&watched, &called].map(|identities| {
        let mut config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.clone());
        config.ticketer = tickets.clone();
        Arc::new(config)
    });

    let is_over = AtomicBool::new(false);
    let resumed = AtomicUsize::new(0);
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            for pair in pairs.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                // One after the other, as most programs write them.
                files.write(pair);
                called.replace(pair.set(&provider));
                tickets.rotate().unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        });
        let clients = servers.map(|server| {
            let (pki, resumed) = (&pki, &resumed);
            scope.spawn(move || {
                let mut seen = Vec::new();
                let mut handshakes = 0;
                let start = Instant::now();
                while start.elapsed() < Duration::from_secs(2) || seen.len() < 2 {
                    assert!(start.elapsed() < Duration::from_secs(60), "{seen:?}");
                    let client = pki.client();
                    for expected in [HandshakeKind::Full, HandshakeKind::Resumed] {
                        let outcome = connect(&client, &server);
                        assert_eq!(outcome.client.result, Ok(()));
                        assert_eq!(outcome.server.result, Ok(()));
                        // A ticket outlives the key that made it.
                        assert_eq!(outcome.client.kind, Some(expected));
                        resumed.fetch_add(
                            usize::from(expected == HandshakeKind::Resumed),
                            Ordering::Relaxed,
                        );
                        handshakes += 1;
                        let leaf = outcome.client.leaf.unwrap();
                        if !seen.contains(&leaf) {
                            seen.push(leaf);
                        }
                    }
                }
                println!("{handshakes} handshakes");
                seen.len()
            })
        });
        // Certificates change until each client has seen more than one, or failed.
        let seen = clients.map(|client| client.join());
        is_over.store(true, Ordering::Relaxed);
        seen.map(Result::unwrap)
    });
    // Certificates and keys were replaced.
    assert!(
        seen.iter().all(|certificates| *certificates > 1),
        "{seen:?}"
    );
    assert!(resumed.into_inner() > 0);
}

/// Other people's code loads keys, and may panic at unexpected files.
#[test]
fn a_key_that_panics() {
    #[derive(Debug)]
    struct Panics;

    static IS_PANICKING: AtomicBool = AtomicBool::new(false);

    impl KeyProvider for Panics {
        fn load_private_key(
            &self,
            key: PrivateKeyDer<'static>,
        ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
            assert!(!IS_PANICKING.load(Ordering::Relaxed), "on purpose");
            provider().key_provider.load_private_key(key)
        }
    }

    events::record();
    let pki = Pki::new();
    let files = Files::new("panics");
    let [first, second, third] = [(); 3].map(|()| pki.issue());
    files.put(&first);
    let provider = CryptoProvider {
        key_provider: &Panics,
        ..(*provider()).clone()
    };
    let watch = IdentityFiles::new(provider.into()).with_default(&files.chain, &files.key);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();

    IS_PANICKING.store(true, Ordering::Relaxed);
    files.put(&second);
    let refusal = ["WARN", "new certificate refused", &files.name(), "panicked"];
    events::wait_for(&refusal);
    thread::sleep(20 * OFTEN);
    assert_eq!(events::lines(&refusal).len(), 1);
    assert!(first.is_served_by(&identities));

    // And the files are still watched.
    IS_PANICKING.store(false, Ordering::Relaxed);
    files.put(&third);
    third.wait_until_served_by(&identities);
}

/// Dropping a key may take long, or use the identities again. No other thread waits for it.
#[test]
fn nothing_is_locked_while_keys_are_dropped() {
    #[derive(Debug)]
    struct Last(Arc<dyn SigningKey>);

    static IDENTITIES: OnceLock<Identities> = OnceLock::new();

    impl Drop for Last {
        fn drop(&mut self) {
            assert_eq!(IDENTITIES.get().unwrap().current().identities().count(), 0);
        }
    }

    impl SigningKey for Last {
        fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
            self.0.choose_scheme(offered)
        }

        fn algorithm(&self) -> rustls::SignatureAlgorithm {
            self.0.algorithm()
        }
    }

    impl KeyProvider for Last {
        fn load_private_key(
            &self,
            _: PrivateKeyDer<'static>,
        ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
            Ok(Arc::new(Self(Arc::clone(&self.0))))
        }
    }

    let pair = Pki::new().issue();
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
    let key = provider().key_provider.load_private_key(key).unwrap();
    let provider = CryptoProvider {
        key_provider: Box::leak(Box::new(Last(key))),
        ..(*provider()).clone()
    };
    IDENTITIES
        .set(Identities::new(pair.set(&provider)))
        .unwrap();
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        IDENTITIES.get().unwrap().replace(IdentitySet::new());
        done.send(()).unwrap();
    });
    is_done.recv_timeout(Duration::from_secs(30)).unwrap();
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Builder::new(any_base()).build().unwrap().into()
}

pub(crate) struct Pki(Issuer<pq_x509::keys::SigningKey>);

impl Pki {
    pub(crate) fn new() -> Self {
        let key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        Self(Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap())
    }

    pub(crate) fn issue(&self) -> Pair {
        self.issue_for("localhost")
    }

    fn issue_for(&self, name: &str) -> Pair {
        self.issue_as(CertificateBuilder::server().dns_name(name))
    }

    fn issue_as(&self, leaf: CertificateBuilder<EndEntity>) -> Pair {
        let pair = || -> Result<Pair, KeyError> {
            let key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
            Ok(Pair {
                chain: self.0.issue(leaf, &key).unwrap().to_pem(),
                key: key.to_pkcs8_pem()?.to_string(),
            })
        };
        pair().unwrap()
    }

    fn client(&self) -> Arc<ClientConfig> {
        let root = self.0.certificate().der().clone();
        client_config((*provider()).clone(), roots([root])).into()
    }
}

/// A chain and its key, in PEM.
pub(crate) struct Pair {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Pair {
    pub(crate) fn set(&self, provider: &CryptoProvider) -> IdentitySet {
        let (chain, key) = (self.chain.as_bytes(), self.key.as_bytes());
        let identity = rustls_pq::identity::Identity::from_pem(chain, key, provider);
        IdentitySet::new().with_default(identity.unwrap())
    }

    pub(crate) fn leaf(&self) -> CertificateDer<'static> {
        Certificate::from_pem(&self.chain).unwrap().into_der()
    }

    pub(crate) fn is_served_by(&self, identities: &Identities) -> bool {
        let set = identities.current();
        set.identities()
            .any(|identity| identity.certified_key().cert[0] == self.leaf())
    }

    #[track_caller]
    pub(crate) fn wait_until_served_by(&self, identities: &Identities) {
        let start = Instant::now();
        while !self.is_served_by(identities) {
            assert!(start.elapsed() < Duration::from_secs(30));
            thread::sleep(OFTEN);
        }
    }
}

/// The files of a pair, which tests replace.
pub(crate) struct Files {
    pub(crate) chain: PathBuf,
    pub(crate) key: PathBuf,
    directory: TempDir,
}

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let directory = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        let in_it = |name: &str| Path::join(directory.path(), name);
        Self {
            chain: in_it("chain.pem"),
            key: in_it("key.pem"),
            directory,
        }
    }

    /// Their name in the log.
    pub(crate) fn name(&self) -> String {
        self.directory.path().display().to_string()
    }

    /// Replaces each file in one step.
    pub(crate) fn put(&self, pair: &Pair) {
        put(&self.chain, &pair.chain);
        put(&self.key, &pair.key);
    }

    /// Writes in place, so that the files are empty for a moment.
    fn write(&self, pair: &Pair) {
        fs::write(&self.chain, &pair.chain).unwrap();
        fs::write(&self.key, &pair.key).unwrap();
    }
}

/// Replaces a file, so that readers see either all of the old file or all of the new one.
fn put(path: &Path, content: &str) {
    let elsewhere = path.with_extension("new");
    fs::write(&elsewhere, content).unwrap();
    fs::rename(&elsewhere, path).unwrap();
}
