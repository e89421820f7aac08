//! A TLS server whose key is behind the network door of a store: OpenSSL's client is served, the server never has the key, and
//! the door may go away and come back.

use core::hint::black_box;
use core::net::SocketAddr;
use core::time::Duration;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use interop::openssl::{TIME_LIMIT, Workdir};
use interop::process::Process;
use pq_keystore::door::AccessList;
use pq_keystore::remote::{RemoteSigner, RemoteStore, TlsTransport, TlsTransportOptions};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::{ClientConfig, RootCertStore};
use served::Served;
use served::needle::Needle;

const TOKEN: &str = "a-token-of-this-test";

/// How long the signer waits for the door: then a handshake ends with an alert.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A process with the store, and the door to it.
struct Door {
    process: Process,
    address: SocketAddr,
}

impl Door {
    fn open(work: &Workdir, root: &Issuer<SigningKey>) -> Self {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = root.issue(leaf, &key).unwrap();
        work.write("door.pem", leaf.to_pem());
        work.write("door.key", key.to_pkcs8_pem().unwrap().as_bytes());
        work.write("kek", b"a key of 32 bytes for this test!");
        let digest = AccessList::digest(TOKEN.as_bytes());
        let tokens = format!("[[tokens]]\nsha256 = \"{digest}\"\nprincipal = \"server\"\n");
        work.write("tokens.toml", tokens);
        for secret in ["door.key", "kek"] {
            fs::set_permissions(work.path().join(secret), fs::Permissions::from_mode(0o600))
                .unwrap();
        }
        for line in [
            "key new ML-DSA-65 --out key.pem",
            "store init",
            "store import key.pem --key transit/keys/tls --grant server=user",
        ] {
            let done = Process::spawn(&mut pqtls(work.path(), line)).finish(TIME_LIMIT);
            assert!(done.success(), "{line}: {done}");
        }
        let line =
            "store serve --listen 127.0.0.1:0 --cert door.pem --key door.key --tokens tokens.toml";
        let process = Process::spawn(&mut pqtls(work.path(), line));
        let address = process.wait_for_line(TIME_LIMIT, |line| {
            let (_, address) = line.strip_prefix("Serving ")?.rsplit_once("on ")?;
            address.parse().ok()
        });
        Self { process, address }
    }

    fn client(&self, root: &Issuer<SigningKey>) -> RemoteStore {
        let mut roots = RootCertStore::empty();
        roots.add(root.certificate().der().clone()).unwrap();
        let provider = pq_serving::provider(rustls_pq::Profile::Default, &[]).unwrap();
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let options = TlsTransportOptions::default();
        let transport =
            TlsTransport::new(config.into(), "localhost", self.address.port(), options).unwrap();
        RemoteStore::new(transport, "transit", Some(TOKEN))
    }

    /// Stops the process, which keeps its port and its connections, or has it go on.
    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([name, &self.process.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }
}

fn pqtls(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interop-pqtls"));
    command
        .current_dir(folder)
        .env_remove("PQTLS_STORE")
        .args(line.split_whitespace());
    if line.starts_with("store") {
        command.args(["--store", "keys.redb", "--kek-file", "kek"]);
    }
    command
}

/// The seed of the key, and parts of what it is expanded to: K, and the beginning of s1 (FIPS 204, algorithm 24).
fn secrets(work: &Workdir) -> Vec<Needle> {
    let hex = |form: &str, name: &str| {
        let line = format!("key convert key.pem --form {form} --format hex --out {name}");
        let done = Process::spawn(&mut pqtls(work.path(), &line)).finish(TIME_LIMIT);
        assert!(done.success(), "{done}");
        work.read_text(name).trim().to_owned()
    };
    let (seed, expanded) = (hex("seed", "seed.hex"), hex("expanded", "expanded.hex"));
    assert_eq!((seed.len(), expanded.len()), (64, 2 * 4032));
    [&seed[..], &expanded[64..128], &expanded[256..320]]
        .map(Needle::of_hex)
        .into()
}

#[test]
fn a_server_with_its_key_behind_the_door_serves_openssl() {
    let Some(work) = Workdir::new() else { return };
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    work.write("root.pem", root.certificate().to_pem());
    let door = Door::open(&work, &root);
    let signer = RemoteSigner::newest(&door.client(&root), "tls").unwrap();
    let server = Served::by(signer, &root, TIMEOUT);
    let address = server.address();
    let connect = || {
        let options = "-servername localhost -verify_hostname localhost -verify_return_error -CAfile root.pem -ign_eof";
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        work.connect(address, options, request)
    };
    let served = || {
        let output = connect();
        assert!(output.success(), "{output}");
        output.assert_contains("here");
        output.assert_contains("Verify return code: 0");
    };
    // From two threads, while the door is taken away and put back.
    served();
    for _ in 0..2 {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..4).for_each(|_| served()));
            }
        });
        door.signal("-STOP");
        for _ in 0..3 {
            let began = Instant::now();
            let output = connect();
            assert!(!output.success(), "{output}");
            assert!(output.stderr().contains("alert"), "{output}");
            assert!(began.elapsed() < 2 * TIMEOUT + Duration::from_secs(10));
        }
        door.signal("-CONT");
        // The circuit breaker of the bounds may be open yet.
        let began = Instant::now();
        while !connect().success() {
            assert!(began.elapsed() < TIME_LIMIT, "it serves no more");
            thread::sleep(Duration::from_millis(50));
        }
        served();
    }

    // This process served with all these signatures, and has nothing of the key.
    for needle in secrets(&work) {
        assert!(!needle.is_in_this_process());
        let shown = needle.shown();
        assert!(needle.is_in_this_process(), "the search finds nothing");
        black_box(shown);
    }
    server.shut_down();
}
