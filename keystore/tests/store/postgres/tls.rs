//! TLS by this project's provider, with a PostgreSQL that has an ECDSA certificate.

use pq_keystore::storage::{PostgresOptions, PostgresStorage, StorageError};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::classical::{ClassicalAlgorithm, ClassicalKey};
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::Builder;

use super::counting::{Counter, check};
use super::server::{Cluster, Process, open, patient, private_file};

const SECRET: &str = "hunter2-and-more";

fn root() -> Issuer<ClassicalKey> {
    let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
    Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap()
}

fn trusting(root: &Issuer<ClassicalKey>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(root.certificate().der().clone()).unwrap();
    let builder = Builder::with_default_base().unwrap().roots(&roots);
    ClientConfig::builder_with_provider(builder.build().unwrap().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A server that takes a user with a password over TLS, and where it listens.
fn server(root: &Issuer<ClassicalKey>) -> Option<(Cluster, Process, u16)> {
    let cluster = Cluster::new(&["fsync=off", "ssl=on"])?;
    let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let chain = root.issue(leaf, &key).unwrap().to_pem();
    private_file(&cluster.data().join("server.crt"), &chain);
    private_file(&cluster.data().join("server.key"), &key.to_pkcs8_pem());
    let access = "local all all trust\nhostssl all keeper 127.0.0.1/32 scram-sha-256\n";
    private_file(&cluster.data().join("pg_hba.conf"), access);
    let (process, port) = cluster.start_on_port();
    cluster.run(
        port,
        &format!(
            "CREATE ROLE keeper LOGIN PASSWORD '{SECRET}'; GRANT CREATE ON DATABASE postgres TO keeper"
        ),
    );
    Some((cluster, process, port))
}

fn options(port: u16, password: &str) -> PostgresOptions {
    patient(&format!(
        "host=localhost hostaddr=127.0.0.1 port={port} user=keeper dbname=postgres password={password}"
    ))
}

#[test]
fn a_server_over_tls() {
    let root = root();
    let Some((_cluster, _process, port)) = server(&root) else {
        return;
    };
    let storage = open(&options(port, SECRET).tls(trusting(&root)));
    Counter::new("a").count(&storage).unwrap();
    assert_eq!(check(&storage), 1);
    assert!(!format!("{storage:?}").contains(SECRET));

    let wrong = "hunter3-and-more";
    let refused = |options: PostgresOptions| {
        let error = PostgresStorage::open(options).unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(matches!(error, StorageError::NotOpened { .. }), "{said}");
        assert!(!said.contains(SECRET) && !said.contains(wrong));
        said
    };
    refused(options(port, wrong).tls(trusting(&root)));
    let another_root = self::root();
    let said = refused(options(port, SECRET).tls(trusting(&another_root)));
    assert!(said.contains("certificate"), "{said}");
    // The server wants TLS.
    refused(options(port, SECRET));
}

#[test]
fn a_server_without_tls_is_refused() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let (_process, port) = cluster.start_on_port();
    let address =
        format!("host=localhost hostaddr=127.0.0.1 port={port} user=postgres sslmode=disable");
    open(&patient(&address));
    let error = PostgresStorage::open(patient(&address).tls(trusting(&root()))).unwrap_err();
    assert!(matches!(error, StorageError::NotOpened { .. }), "{error}");
}
