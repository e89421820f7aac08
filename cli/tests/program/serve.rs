//! `pqtls store serve`, and those who watch it.

use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use pq_keystore::remote::{RemoteStore, TlsTransport, TlsTransportOptions};
use pq_x509::certificate::Certificate;
use pq_x509::keys::SubjectKey as _;
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

/// A client that has the token.
pub(crate) fn client(folder: &Folder, port: u16) -> RemoteStore {
    let mut options = TlsTransportOptions::default();
    (options.connecting, options.answering) = (PATIENCE, PATIENCE);
    let transport = TlsTransport::new(config(folder).into(), "127.0.0.1", port, options).unwrap();
    RemoteStore::new(transport, "transit", Some(TOKEN))
}

/// What is answered to the head of a request, before any of its body was sent.
fn answer_to_head(folder: &Folder, port: u16, fields: &str) -> String {
    let head = "POST /v1/transit/sign/session HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n";
    answer_to(folder, port, &format!("{head}{fields}\r\n"))
}

/// What is answered to a request with the token.
fn request(folder: &Folder, port: u16, method: &str, path: &str, body: &str) -> String {
    let len = body.len();
    let request = format!(
        "{method} /v1/transit/{path} HTTP/1.1\r\nhost: a\r\nx-vault-token: {TOKEN}\r\nconnection: close\r\n\
         content-length: {len}\r\n\r\n{body}"
    );
    answer_to(folder, port, &request)
}

fn answer_to(folder: &Folder, port: u16, request: &str) -> String {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let name = "127.0.0.1".try_into().unwrap();
    let connection = ClientConnection::new(config(folder).into(), name).unwrap();
    let mut tls = StreamOwned::new(connection, socket);
    tls.write_all(request.as_bytes()).unwrap();
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

/// The certificate that the server shows to whoever connects now, or why none.
fn certificate_of(folder: &Folder, port: u16) -> io::Result<Certificate> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let name = "127.0.0.1".try_into().unwrap();
    let mut connection = ClientConnection::new(config(folder).into(), name).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    let leaf = &connection.peer_certificates().unwrap()[0];
    Ok(Certificate::from_der(leaf).unwrap())
}

/// What the log has, once it has these words.
#[track_caller]
fn wait_for(folder: &Folder, words: &str) {
    let begun = Instant::now();
    while !folder.read("log").contains(words) {
        assert!(
            begun.elapsed() < PATIENCE,
            "{words}: {}",
            folder.read("log")
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_has_the_key_of_its_own_server() {
    let folder = with_server(&[]);
    folder.shell("rm server.pem server.key").ok();
    let new = "store new shop/tokens/tls --algorithm ML-DSA-44 --grant web=sign --grant operator=user --kek-file kek";
    folder.pqtls(new).ok();
    let public = "store public shop/tokens/tls --out server.pub --kek-file kek";
    folder.pqtls(public).ok();
    folder
        .pqtls("ca issue 127.0.0.1 --dir tls --key server.pub --out server.pem")
        .ok();
    // Whoever may not sign, serves nothing, and neither does another key.
    for (key, words) in [
        ("tls --as eve", "eve may not sign shop/tokens/tls"),
        ("tls#2 --as web", "there is no version shop/tokens/tls#2"),
    ] {
        let line = format!(
            "store serve --kek-file kek --cert server.pem --tokens tokens.toml --listen 127.0.0.1:0 --key store:shop/tokens/{key}"
        );
        let refused = folder.pqtls(&line);
        assert_eq!(refused.status(), 3, "{}", refused.stderr());
        assert!(refused.stderr().contains(words), "{}", refused.stderr());
    }

    let served = Served::start_with(
        &folder,
        "--key store:shop/tokens/tls --as web --mount transit=shop/tokens",
    );
    let port = served.port;
    let first = certificate_of(&folder, port).unwrap();
    let keys = client(&folder, port);
    // A rotation changes nothing for the server until its certificate is for the new version.
    keys.rotate("tls").unwrap();
    assert_eq!(certificate_of(&folder, port).unwrap().der(), first.der());
    let (version, public) = keys.public_key("tls", None).unwrap();
    assert_eq!(version.get(), 2);
    folder.write("server.pub", public.to_spki_pem());
    folder
        .pqtls("ca issue 127.0.0.1 --dir tls --key server.pub --out next.pem")
        .ok();
    folder.shell("mv next.pem server.pem").ok();
    let hang_up = format!("kill -HUP {}", served.id());
    folder.shell(&hang_up).ok();
    wait_for(&folder, "certificate replaced");
    let second = certificate_of(&folder, port).unwrap();
    assert_eq!(second.spki(), public.spki());
    // A certificate for another key is refused, and the one before stays.
    folder.shell("cp server.pem good.pem").ok();
    folder
        .pqtls("ca issue 127.0.0.1 --dir tls --new-key other.key --out other.pem")
        .ok();
    folder.shell("mv other.pem server.pem").ok();
    folder.shell(&hang_up).ok();
    wait_for(&folder, "no version of shop/tokens/tls has this public key");
    assert_eq!(certificate_of(&folder, port).unwrap().der(), second.der());
    folder.shell("mv good.pem server.pem").ok();

    // A version that doesn't sign any more: the client gets an alert, and the log a line.
    keys.rotate("tls").unwrap();
    let body = r#"{"min_decryption_version": 3}"#;
    let changed = request(&folder, port, "POST", "keys/tls/config", body);
    assert!(changed.starts_with("HTTP/1.1 20"), "{changed}");
    let refused = certificate_of(&folder, port).unwrap_err();
    assert!(refused.to_string().contains("alert"), "{refused}");
    wait_for(&folder, "shop/tokens/tls#2 is older than version 3");
}

/// Waits until a request to see how the server is gets this status.
#[cfg(unix)]
fn wait_for_health(folder: &Folder, port: u16, status: &str) {
    let begun = Instant::now();
    let health = "GET /v1/sys/health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    loop {
        let answer = answer_to(folder, port, health);
        if answer.starts_with(&format!("HTTP/1.1 {status} ")) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Whoever puts a backup in the place of a store's file is told that the server has the former one.
#[cfg(unix)]
#[test]
fn a_store_whose_file_is_replaced_is_not_changed() {
    let folder = with_server(&[]);
    let served = Served::start(&folder, "");
    let remote = client(&folder, served.port);
    remote.create("a", "ed25519", false).unwrap();
    wait_for_health(&folder, served.port, "200");
    folder
        .shell("ln keys.redb former && cp keys.redb copy && mv copy keys.redb")
        .ok();
    let refused = remote.rotate("a").unwrap_err();
    assert!(!refused.retry());
    assert!(
        refused.to_string().contains("storage-replaced"),
        "{refused}"
    );
    wait_for_health(&folder, served.port, "503");
    wait_for(&folder, "the store can't be used");
    folder.shell("mv former keys.redb").ok();
    wait_for_health(&folder, served.port, "200");
    wait_for(&folder, "the store can be used again");
    remote.rotate("a").unwrap();
}

/// Whoever takes a token away and mistypes is told what is wrong, where, and that the token is good until it is mended.
#[test]
fn a_mistake_in_the_file_of_tokens_is_told_whole() {
    let folder = with_server(&[]);
    let served = Served::start(&folder, "");
    let remote = client(&folder, served.port);
    remote.create("a", "ed25519", false).unwrap();
    let known = folder.read("tokens.toml");
    let wrong = known.replace("principal", "a-principal-by-another-name");
    folder.write("tokens.toml", wrong);
    wait_for(&folder, "those that were taken out of the file since");
    for words in [
        "tokens.toml is no file of tokens: ",
        "`a-principal-by-another-name`, expected ",
    ] {
        wait_for(&folder, words);
    }
    remote.rotate("a").unwrap();
    // The same as before: nothing new is read, and all is well again.
    folder.write("tokens.toml", known);
    wait_for(&folder, "the file of tokens is in use as it is now");
}

/// The file of tokens is read also after something stood in its place that never ends.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_the_tokens_is_waited_for_by_nobody() {
    let folder = with_server(&[]);
    let mut served = Served::start(&folder, "");
    let remote = client(&folder, served.port);
    remote.create("a", "ed25519", false).unwrap();
    folder
        .shell("mv tokens.toml known && mkfifo tokens.toml")
        .ok();
    wait_for(&folder, "regular file");
    remote.rotate("a").unwrap();
    folder.shell("rm tokens.toml && echo > tokens.toml").ok();
    wait_for(&folder, "the file of tokens is in use as it is now");
    assert!(remote.rotate("a").is_err());
    let asked = folder.shell(&format!("kill {}", served.id()));
    asked.ok();
    served.wait();
}
