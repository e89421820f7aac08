//! Encrypted ClientHello between rustls with our HPKE and servers in Go and of OpenSSL 4.0: accepted, rejected, and only
//! pretended.

// It is a program, of which the tests here use the functions.
#[allow(
    dead_code,
    reason = "its main function runs in the tests of its own package"
)]
#[path = "../../../../examples/small/encrypted_client_hello.rs"]
mod example;

use alloc::sync::Arc;
use core::net::{Ipv4Addr, SocketAddr};
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use interop::go;
use interop::openssl::{TIME_LIMIT, Workdir};
use interop::process::Process;
use interop::tcp::{self, Failure};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use rustls::client::{EchConfig, EchGreaseConfig, EchMode, EchStatus, Resumption};
use rustls::crypto::hpke::{Hpke, HpkePrivateKey, HpkeSuite};
use rustls::internal::msgs::base::PayloadU16;
use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::handshake::{EchConfigContents, EchConfigPayload, HpkeKeyConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{DnsName, EchConfigListBytes};
use rustls::{
    ClientConfig, ClientConnection, Error, HandshakeKind, NamedGroup, PeerIncompatible,
    RootCertStore, StreamOwned,
};
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey};
use rustls_pq::hpke::EchRejection;
use rustls_pq::{Builder, SmallHello, hpke};
use tempfile::TempDir;
use testing::skipped::cannot_run;

const SECRET: &str = "secret.example";
const PUBLIC: &str = "public.example";

/// Every suite, with one ClientHello and with two.
#[test]
fn accepted() {
    let world = World::new();
    let Some(program) = world.go() else { return };
    for suite in hpke::ALL_SUPPORTED_SUITES {
        let key = EchKey::new(*suite, 1);
        let server = world.serve(&program, &[(&key, "current")]);
        for (resumption, kind) in [
            (Resumption::default(), HandshakeKind::Full),
            (
                SmallHello::new().into(),
                HandshakeKind::FullWithHelloRetryRequest,
            ),
        ] {
            let mut config = world.client(EchMode::Enable(key.usable()));
            config.resumption = resumption;
            let report = server.connect(config).unwrap();
            assert_eq!(report.status, EchStatus::Accepted, "{suite:?}");
            assert_eq!(report.kind, kind);
            assert_eq!(report.group, NamedGroup::X25519MLKEM768);
            assert_eq!(report.said, format!("true {SECRET}\n"), "{suite:?}");
        }
    }
}

/// The server has a new key. It sends the configuration, and with that the next attempt succeeds.
#[test]
fn rejected_with_another_configuration() {
    let world = World::new();
    let Some(program) = world.go() else { return };
    for suite in hpke::ALL_SUPPORTED_SUITES {
        // under the same number, so that the server tries to decrypt, and under another one
        for number in [1, 2] {
            let (lost, kept) = (EchKey::new(*suite, 1), EchKey::new(*suite, number));
            let server = world.serve(&program, &[(&kept, "current")]);
            let config = world.client(EchMode::Enable(lost.usable()));
            let error = server.connect(config).unwrap_err();
            let rejection = EchRejection::of(&error).expect("the server rejects it");
            let list = rejection.retry_configs.expect("the server sent one");
            assert_eq!(list, kept.list());

            let again = EchConfig::new(list, hpke::ALL_SUPPORTED_SUITES).unwrap();
            let report = server.connect(world.client(EchMode::Enable(again)));
            assert_eq!(report.unwrap().said, format!("true {SECRET}\n"));
        }
    }
}

/// The program that a reader copies does the same.
#[test]
fn by_the_example() {
    let world = World::new();
    let Some(program) = world.go() else { return };
    for suite in [
        hpke::DH_KEM_X25519_HKDF_SHA256_AES_128,
        hpke::X_WING_SHAKE256_AES_256,
    ] {
        let (lost, kept) = (EchKey::new(suite, 1), EchKey::new(suite, 1));
        let server = world.serve(&program, &[(&kept, "current")]);
        let address = server.address.to_string();
        for list in [kept.list(), lost.list()] {
            let connected = example::connect_again(&address, SECRET, &world.roots, list);
            assert_eq!(connected.unwrap().0, EchStatus::Accepted);
        }
        let (status, _) = example::connect(&address, SECRET, &world.roots, None).unwrap();
        assert_eq!(status, EchStatus::Grease);
    }
}

/// The server has a key that it tells nobody.
#[test]
fn rejected_without_another_configuration() {
    let world = World::new();
    let Some(program) = world.go() else { return };
    let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
    let (lost, kept) = (EchKey::new(suite, 1), EchKey::new(suite, 1));
    let server = world.serve(&program, &[(&kept, "old")]);
    let config = world.client(EchMode::Enable(lost.usable()));
    let error = server.connect(config).unwrap_err();
    assert!(matches!(
        error,
        Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(None))
    ));
    assert_eq!(EchRejection::of(&error).unwrap().retry_configs, None);
    // the key itself still works
    let report = server.connect(world.client(EchMode::Enable(kept.usable())));
    assert_eq!(report.unwrap().status, EchStatus::Accepted);
}

/// A server with ECH, and one without, take it for what it is.
#[test]
fn grease() {
    let world = World::new();
    let Some(program) = world.go() else { return };
    let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
    let key = EchKey::new(suite, 1);
    for keys in [&[(&key, "current")][..], &[]] {
        let server = world.serve(&program, keys);
        let (placeholder, _) = suite.generate_key_pair().unwrap();
        let mode = EchMode::Grease(EchGreaseConfig::new(suite, placeholder));
        let report = server.connect(world.client(mode)).unwrap();
        assert_eq!(report.status, EchStatus::Grease);
        assert_eq!(report.said, format!("false {SECRET}\n"));
    }
}

/// OpenSSL has no X-Wing for this.
#[test]
fn openssl() {
    let Some(work) = Workdir::new() else { return };
    if !work.attempt("ech -help").success() {
        cannot_run("ECH of OpenSSL needs 4.0, which OPENSSL can name");
        return;
    }
    let world = World::new();
    let folder = world.folder.path().display();
    for suite in hpke::ALL_SUPPORTED_SUITES {
        let HpkeSuite { kem, sym } = suite.suite();
        let numbers: [u16; 3] = [kem.into(), sym.kdf_id.into(), sym.aead_id.into()];
        let [kem @ (0x10 | 0x20), kdf, aead] = numbers else {
            continue;
        };
        let make = |file: &str| {
            work.run(&format!(
                "ech -public_name {PUBLIC} -suite {kem},{kdf},{aead} -out {file}"
            ));
            EchConfigListBytes::from_pem_slice(&work.read(file)).unwrap()
        };
        let (kept, lost) = (make("kept.pem"), make("lost.pem"));
        let server = work.serve(&format!(
            "-cert {folder}/chain.pem -key {folder}/key.pem -ech_key kept.pem"
        ));
        let connect = |list| {
            let ech = EchConfig::new(list, hpke::ALL_SUPPORTED_SUITES).unwrap();
            let config = Arc::new(world.client(EchMode::Enable(ech)));
            tcp::connect(&config, server.address(), SECRET, "hello")
        };
        // rustls refuses everything else than acceptance.
        assert_eq!(connect(kept).unwrap().received, "olleh", "{suite:?}");
        let Err(Failure::Tls(error)) = connect(lost) else {
            panic!("{suite:?} is accepted by another key");
        };
        let rejection = EchRejection::of(&error).expect("the server rejects it");
        let again = connect(rejection.retry_configs.expect("the server sent one"));
        assert_eq!(again.unwrap().received, "olleh", "{suite:?}");
    }
}

/// A server's certificate in `chain.pem`, its key in `key.pem`, and who trusts it.
struct World {
    folder: TempDir,
    roots: RootCertStore,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let key = || ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
        let leaf = CertificateBuilder::server()
            .dns_name(SECRET)
            .dns_name(PUBLIC);
        let key = key();
        let leaf = root.issue(leaf, &key).unwrap();
        fs::write(folder.path().join("chain.pem"), leaf.to_pem()).unwrap();
        fs::write(folder.path().join("key.pem"), key.to_pkcs8_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(root.certificate().der().clone()).unwrap();
        Self { folder, roots }
    }

    /// The server in Go. 1.26 is the first with X-Wing.
    fn go(&self) -> Option<PathBuf> {
        go::build("ech", 26, self.folder.path())
    }

    fn serve(&self, program: &Path, keys: &[(&EchKey, &str)]) -> Server {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .args(["chain.pem", "key.pem"]);
        for (key, whether) in keys {
            command.arg(hex::encode(key.config.get_encoding()));
            command.arg(hex::encode(key.private.secret_bytes()));
            command.arg(whether);
        }
        let process = Process::spawn(&mut command);
        let port = process.wait_for_line(TIME_LIMIT, |line| line.parse().ok());
        Server {
            _process: process,
            address: (Ipv4Addr::LOCALHOST, port).into(),
        }
    }

    fn client(&self, mode: EchMode) -> ClientConfig {
        let builder = Builder::with_default_base().unwrap();
        let provider = builder.roots(&self.roots).build();
        ClientConfig::builder_with_provider(Arc::new(provider.unwrap()))
            .with_ech(mode)
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth()
    }
}

/// A key of the server, and the configuration that has its public half.
struct EchKey {
    config: EchConfigPayload,
    private: HpkePrivateKey,
}

impl EchKey {
    fn new(suite: &dyn Hpke, number: u8) -> Self {
        let (public, private) = suite.generate_key_pair().unwrap();
        let config = EchConfigPayload::V18(EchConfigContents {
            key_config: HpkeKeyConfig {
                config_id: number,
                kem_id: suite.suite().kem,
                public_key: PayloadU16::new(public.0),
                symmetric_cipher_suites: vec![suite.suite().sym],
            },
            maximum_name_length: 32,
            public_name: DnsName::try_from(PUBLIC).unwrap(),
            extensions: Vec::new(),
        });
        Self { config, private }
    }

    fn list(&self) -> EchConfigListBytes<'static> {
        vec![self.config.clone()].get_encoding().into()
    }

    fn usable(&self) -> EchConfig {
        EchConfig::new(self.list(), hpke::ALL_SUPPORTED_SUITES).expect("it has a suite of ours")
    }
}

struct Server {
    _process: Process,
    address: SocketAddr,
}

/// What a client saw.
#[derive(Debug)]
struct Report {
    status: EchStatus,
    kind: HandshakeKind,
    group: NamedGroup,
    said: String,
}

impl Server {
    /// Asks for the secret name.
    fn connect(&self, config: ClientConfig) -> Result<Report, Error> {
        let connection = ClientConnection::new(config.into(), SECRET.try_into().unwrap()).unwrap();
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        let mut said = String::new();
        stream
            .read_to_string(&mut said)
            .map_err(|error| match error.into() {
                Failure::Tls(error) => error,
                Failure::Io(error) => panic!("{error}"),
            })?;
        Ok(Report {
            status: stream.conn.ech_status(),
            kind: stream.conn.handshake_kind().unwrap(),
            group: stream.conn.negotiated_key_exchange_group().unwrap().name(),
            said,
        })
    }
}
