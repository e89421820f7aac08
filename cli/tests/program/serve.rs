//! `pqtls store serve`, and those who watch it.

use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use pq_keystore::remote::{RemoteStore, TlsTransport, TlsTransportOptions};
use pq_x509::certificate::Certificate;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::folder::Folder;
use crate::store::make_keks;

const TOKEN: &str = "a-token-of-a-test";
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The port at the end of a line, or before its full stop.
fn port_of(line: &str) -> u16 {
    let (_, port) = line
        .trim_end()
        .trim_end_matches('.')
        .rsplit_once(':')
        .unwrap();
    port.parse().unwrap()
}

fn config(folder: &Folder) -> ClientConfig {
    let root = Certificate::from_pem(&folder.read("ca/root.pem")).unwrap();
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
    let folder = Folder::new();
    make_keks(&folder);
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue 127.0.0.1 --new-key server.key --out server.pem")
        .ok();
    folder
        .shell(&format!(
            "printf '[[tokens]]\\nsha256 = \"%s\"\\nprincipal = \"operator\"\\n' \
             \"$(printf %s '{TOKEN}' | sha256sum | cut -d' ' -f1)\" > tokens.toml"
        ))
        .ok();
    let line = "store serve --kek-file kek --cert server.pem --key server.key --tokens tokens.toml \
                --mount transit=shop/tokens --listen 127.0.0.1:0 --metrics 127.0.0.1:0";
    let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
    command
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .env_remove("PQTLS_STORE")
        .env_remove("PQTLS_STORE_AS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut served = Served(command.spawn().unwrap());
    let mut lines = BufReader::new(served.0.stdout.take().unwrap()).lines();
    let serving = lines.next().unwrap().unwrap();
    let watched = lines.next().unwrap().unwrap();
    assert!(
        serving.starts_with("Serving https://localhost:"),
        "{serving}"
    );
    assert!(
        watched.starts_with("/metrics and /health are on "),
        "{watched}"
    );
    let keys = client(&folder, port_of(&serving));
    keys.create("session", "mldsa-44", false).unwrap();
    keys.rotate("session").unwrap();
    for fields in ["", "x-vault-token: another\r\n"] {
        let answer = answer_to_head(&folder, port_of(&serving), fields);
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
