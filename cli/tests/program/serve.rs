//! `pqtls store serve`, and those who watch it.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpStream;

use pq_keystore::remote::{RemoteStore, TlsTransport, TlsTransportOptions};
use pq_x509::certificate::Certificate;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::folder::Folder;
use crate::served::{Served, TOKEN, port_of, with_server};

const PATIENCE: Duration = Duration::from_secs(120);

fn config(folder: &Folder) -> ClientConfig {
    let root = Certificate::from_pem(&folder.read("tls/root.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(root.der().clone()).unwrap();
    let builder = rustls_pq::Builder::with_default_base().unwrap();
    let provider = builder.roots(&roots).build().unwrap();
    ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn client(folder: &Folder, port: u16) -> RemoteStore {
    let mut options = TlsTransportOptions::default();
    (options.connecting, options.answering) = (PATIENCE, PATIENCE);
    let transport = TlsTransport::new(config(folder).into(), "127.0.0.1", port, options).unwrap();
    RemoteStore::new(transport, "transit", Some(TOKEN))
}

/// What is answered to the head of a request, before any of its body was sent.
fn answer_to_head(folder: &Folder, port: u16, fields: &str) -> String {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let name = "127.0.0.1".try_into().unwrap();
    let connection = ClientConnection::new(config(folder).into(), name).unwrap();
    let mut tls = StreamOwned::new(connection, socket);
    let head = "POST /v1/transit/sign/session HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n";
    write!(tls, "{head}{fields}\r\n").unwrap();
    let mut answer = String::new();
    tls.read_to_string(&mut answer).unwrap();
    answer
}

fn get(port: u16, path: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn who_watches_sees_what_was_done_with_keys() {
    let folder = with_server(&[]);
    let mut served = Served::start(&folder, "--mount transit=shop/tokens --metrics 127.0.0.1:0");
    let (port, watched) = (served.port, served.line());
    assert!(
        watched.starts_with("/metrics and /health are on "),
        "{watched}"
    );
    let keys = client(&folder, port);
    keys.create("session", "mldsa-44", false).unwrap();
    keys.rotate("session").unwrap();
    for fields in ["", "x-vault-token: another\r\n"] {
        let answer = answer_to_head(&folder, port, fields);
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert!(
            answer.ends_with(r#"{"errors":["permission denied"]}"#),
            "{answer}"
        );
    }
    let answer = get(port_of(&watched), "/metrics");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for line in [
        "# TYPE pq_keystore_operations_total counter",
        "pq_keystore_operations_total{operation=\"create\",algorithm=\"ML-DSA-44\",outcome=\"done\"} 1",
        "pq_keystore_operations_total{operation=\"rotate\",algorithm=\"ML-DSA-44\",outcome=\"done\"} 1",
        "pq_keystore_operation_duration_seconds_count{operation=\"rotate\",algorithm=\"ML-DSA-44\"} 1",
    ] {
        assert!(answer.lines().any(|one| one == line), "{line}\n{answer}");
    }
    assert!(
        answer.contains("pq_keystore_operation_duration_seconds_bucket{"),
        "{answer}"
    );
    assert!(answer.contains("pq_serving_"), "{answer}");
    // Nothing says which keys there are, or who has which token.
    assert!(
        !answer.contains("session") && !answer.contains(TOKEN),
        "{answer}"
    );
}
