//! A TLS server whose key is in a token, and sessions that end behind a store's back.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use cryptoki::context::Pkcs11;
use pq_keystore::custody::{ObjectId, Pkcs11Options, Pkcs11Token, Token, TokenError, TokenInput};
use pq_keystore::policy::Input;
use pq_keystore::storage::MemoryStorage;
use pq_keystore::{Store, StoreOptions, StoredSigner};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use served::Served;
use tempfile::TempDir;

use super::modules::options;
use super::passing::{Call, Passage, Passing};
use super::{MESSAGE, token};
use crate::kit::{admin, kek, name, named, user, user_policy};

/// Whether a token was taken away.
struct Removable {
    is_away: AtomicBool,
}

impl Passage for Removable {
    fn pass<T>(
        &self,
        _: Call,
        act: impl FnOnce() -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        match self.is_away.load(Ordering::Acquire) {
            true => Err(TokenError::Away("it was taken out".into())),
            false => act(),
        }
    }
}

/// What OpenSSL's client says of a handshake, and whether it succeeded.
fn connect(openssl: &Path, root: &Path, port: u16) -> (bool, String) {
    let mut client = Command::new(openssl)
        .args(["s_client", "-connect", &format!("127.0.0.1:{port}")])
        .args(["-servername", "localhost", "-verify_hostname", "localhost"])
        .args(["-ign_eof", "-verify_return_error", "-CAfile"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // A client that has failed reads no more.
    let _ = client.stdin.take().unwrap().write_all(request);
    let output = client.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (
        output.status.success() && said.contains("Verify return code: 0"),
        said,
    )
}

/// A TLS server whose key is in a token.
pub(super) struct InToken {
    server: Served,
    openssl: PathBuf,
    root_file: PathBuf,
    _folder: TempDir,
}

impl InToken {
    pub(super) fn new(openssl: PathBuf, token_of_key: Arc<dyn Token>, algorithm: &str) -> Self {
        let store = Store::create(
            Arc::new(MemoryStorage::new()),
            &kek(b"secret"),
            &admin(),
            StoreOptions::default().token(token(), token_of_key),
        )
        .unwrap();
        let key = name("server");
        store
            .create_key_in(&admin(), &key, named(algorithm), &user_policy(), &token())
            .unwrap();

        let signer = StoredSigner::newest(&store, &user(), &key).unwrap();
        let root = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root_file = folder.path().join("root.pem");
        std::fs::write(&root_file, root.certificate().to_pem()).unwrap();

        Self {
            server: Served::by(signer, &root, Duration::from_secs(20)),
            openssl,
            root_file,
            _folder: folder,
        }
    }

    /// What OpenSSL's client says of a handshake, and whether it succeeded.
    fn connect(&self) -> (bool, String) {
        connect(&self.openssl, &self.root_file, self.server.address().port())
    }

    pub(super) fn served(&self) {
        let (succeeded, said) = self.connect();
        assert!(succeeded, "{said}");
        assert!(said.contains("here"), "{said}");
    }

    pub(super) fn shut_down(self) {
        self.server.shut_down();
    }
}

/// The token of a variable, and OpenSSL, if they are there.
pub(super) fn set_up(variable: &str) -> Option<(Pkcs11Options, PathBuf)> {
    let found = options(variable).zip(env::var_os("PQ_KEYSTORE_OPENSSL"));
    if found.is_none() {
        testing::skipped::cannot_run("tests/token/run sets up the token and OpenSSL 3.5");
    }
    found.map(|(options, openssl)| (options, openssl.into()))
}

#[test]
fn a_server_with_its_key_in_a_token_serves_openssl() {
    let Some((options, openssl)) = set_up("PQ_KEYSTORE_KRYOPTIC") else {
        return;
    };
    let removable = Arc::new(Passing {
        token: Arc::new(Pkcs11Token::open(options).unwrap()),
        passage: Removable {
            is_away: AtomicBool::new(false),
        },
    });
    let is_away = &removable.passage.is_away;
    let server = InToken::new(openssl, removable.clone(), "ML-DSA-65");
    let connect = || server.connect();
    let served = || server.served();
    // Load from two threads, while the token is taken away and put back.
    served();
    for _ in 0..2 {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..3).for_each(|_| served()));
            }
        });
        is_away.store(true, Ordering::Release);
        for _ in 0..3 {
            let began = Instant::now();
            let (succeeded, said) = connect();
            assert!(!succeeded && said.contains("alert"), "{said}");
            assert!(began.elapsed() < Duration::from_secs(60));
        }
        is_away.store(false, Ordering::Release);
        // The circuit breaker of the bounds may be open yet.
        let began = Instant::now();
        while !connect().0 {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "it serves no more"
            );
            thread::sleep(Duration::from_millis(50));
        }
        served();
    }
    server.shut_down();
}

/// All sessions of the process end, as when a token is taken out or another library finalises the module: the next call opens
/// one, and logs in again.
#[test]
#[ignore = "it ends the sessions of all tests, so tests/token/run runs it alone"]
fn sessions_that_were_lost_are_opened_anew() {
    for variable in ["PQ_KEYSTORE_KRYOPTIC", "PQ_KEYSTORE_SOFTHSM"] {
        let Some(options) = options(variable) else {
            testing::skipped::cannot_run("tests/token/run sets up the token that it needs");
            continue;
        };
        let token: Arc<dyn Token> = Arc::new(Pkcs11Token::open(options).unwrap());
        let algorithm = named("ECDSA-P256");
        let lose = || {
            let module = Pkcs11::new(env::var_os(variable).unwrap()).unwrap();
            module.finalize().unwrap();
        };
        let object = ObjectId::from_bytes([9; 32]);
        lose();
        let public = token.generate(algorithm, &object, "lost").unwrap();
        for _ in 0..3 {
            lose();
            let request = TokenInput {
                object: &object,
                algorithm,
                input: Input::message(MESSAGE),
            };
            public
                .verify(MESSAGE, &token.sign(&request).unwrap())
                .unwrap();
        }
        lose();
        assert_eq!(token.objects([9; 16]).unwrap(), [object]);
        lose();
        token.destroy(&object).unwrap();
        assert_eq!(token.objects([9; 16]).unwrap(), []);
    }
}
