//! `pqtls ca serve`: what it says, what it serves, and what it notices while it runs.

use core::time::Duration;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Instant;

use pq_serving::client::{self, Trust};
use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{CertStatus, OcspResponse};
use pq_x509::revocation::CertificateRevocationList;

use crate::folder::Folder;
use crate::served::port_of;

const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub(crate) struct Serving {
    child: Child,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
    pub(crate) first: String,
}

impl Serving {
    pub(crate) fn start(folder: &Folder, line: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command.args(line.split_whitespace());
        Self::of(folder, command, "log")
    }

    /// Starts the server by a command of one's own, with its log in a file of this name.
    pub(crate) fn of(folder: &Folder, mut command: Command, log: &str) -> Self {
        command
            .current_dir(folder.path())
            .env("PATH", folder.search_path())
            .env_remove("PQTLS_CA")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join(log)).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next();
        let first = first.unwrap_or_else(|| panic!("{}", folder.read(log)));
        Self {
            child,
            lines,
            first: first.unwrap(),
        }
    }

    pub(crate) fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Asks it to end, and waits for that.
    #[cfg(unix)]
    pub(crate) fn end_in_order(mut self) {
        let kill = format!("kill -TERM {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status();
        assert!(status.unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status and the body of an answer over plain HTTP.
pub(crate) fn ask(port: u16, line: &str, fields: &str, body: &[u8]) -> (u16, Vec<u8>) {
    try_ask(port, line, fields, body).unwrap()
}

/// The same of a server that may be gone.
pub(crate) fn try_ask(
    port: u16,
    line: &str,
    fields: &str,
    body: &[u8],
) -> io::Result<(u16, Vec<u8>)> {
    let head = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n",
        body.len()
    );
    let mut tcp = TcpStream::connect(("127.0.0.1", port))?;
    tcp.set_read_timeout(Some(PATIENCE))?;
    tcp.write_all(&[head.as_bytes(), body].concat())?;
    let mut all = Vec::new();
    tcp.read_to_end(&mut all)?;
    let end = all.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = core::str::from_utf8(&all[9..12]).unwrap().parse().unwrap();
    Ok((status, all[end + 4..].to_vec()))
}

/// What the server says of a certificate in a file.
pub(crate) fn status(folder: &Folder, port: u16, certificate: &str) -> CertStatus {
    folder
        .pqtls(&format!(
            "cert ocsp-request {certificate} --issuer ca/issuing.pem --out request --force"
        ))
        .ok();
    let fields = "Content-Type: application/ocsp-request\r\n";
    let (code, body) = ask(port, "POST /ocsp", fields, &folder.bytes("request"));
    assert_eq!(code, 200);
    let response = OcspResponse::from_der(&body).unwrap();
    response.answers()[0].status()
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(100));
    }
}

fn with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44 --dns example.org")
        .ok();
    folder
}

const OPTIONS: &str = "--listen 127.0.0.1:0 --plain 127.0.0.1:0 --metrics 127.0.0.1:0";

fn get(folder: &Folder, port: u16, path: &str) -> client::Response {
    let target = format!("https://ca.example.org{path}").parse().unwrap();
    let trust = Trust::from_pem_file(&folder.path().join("ca/root.pem")).unwrap();
    let mut request = client::Request::new(target, trust);
    request.address = Some(([127, 0, 0, 1], port).into());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client::fetch(request)).unwrap().response
}

#[test]
fn a_ca_is_served_by_its_own_certificate() {
    let folder = with_ca();
    folder
        .pqtls("ca issue www.example.org --new-key www.key --out www.pem")
        .ok();
    let mut serving = Serving::start(
        &folder,
        &format!("ca serve --name ca.example.org {OPTIONS}"),
    );
    assert!(
        serving.first.starts_with("Serving https://ca.example.org:"),
        "{}",
        serving.first
    );
    let port = port_of(&serving.first);
    let line = serving.line();
    assert!(
        line.starts_with("OCSP, lists and certificates are over plain HTTP on 127.0.0.1:"),
        "{line}"
    );
    let plain = port_of(&line);
    let watched = port_of(&serving.line());

    assert_eq!(status(&folder, plain, "www.pem"), CertStatus::Good);
    folder.pqtls("ca revoke www.pem --reason superseded").ok();
    until("OCSP tells of the revocation", || {
        matches!(
            status(&folder, plain, "www.pem"),
            CertStatus::Revoked { .. }
        )
    });
    let (code, der) = ask(plain, "GET /certificates/root.crt", "", b"");
    assert_eq!(code, 200);
    let root = Certificate::from_pem(&folder.read("ca/root.pem")).unwrap();
    assert_eq!(der, root.der().as_ref());
    until("there is a list", || {
        ask(plain, "GET /lists/issuing.crl", "", b"").0 == 200
    });
    let (_, list) = ask(plain, "GET /lists/issuing.crl", "", b"");
    assert!(CertificateRevocationList::from_der(&list).is_ok());
    assert_eq!(folder.bytes("ca/lists/issuing.crl"), list);
    assert_eq!(ask(plain, "GET /", "", b"").0, 404);

    let page = get(&folder, port, "/");
    assert_eq!(page.status, "200 OK");
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.contains("CN=Example"), "{text}");
    assert_eq!(get(&folder, port, "/health").status, "200 OK");
    assert_eq!(ask(watched, "GET /health", "", b"").0, 200);
    let (_, metrics) = ask(watched, "GET /metrics", "", b"");
    let metrics = String::from_utf8(metrics).unwrap();
    for name in [
        "pq_ca_can_issue 1",
        "pq_ca_ocsp_responses",
        "pq_serving_requests",
    ] {
        assert!(metrics.contains(name), "{name}: {metrics}");
    }
    #[cfg(unix)]
    serving.end_in_order();
}

#[test]
fn a_new_key_and_policy_are_taken_over() {
    let folder = with_ca();
    let mut serving = Serving::start(
        &folder,
        &format!("ca serve --name ca.example.org {OPTIONS}"),
    );
    let plain = port_of(&serving.line());
    assert_eq!(
        ask(plain, "GET /certificates/issuing-2.crt", "", b"").0,
        404
    );
    folder.pqtls("ca rollover").ok();
    folder
        .pqtls("ca issue www.example.org --new-key www.key --out www.pem")
        .ok();
    until("the new key is served", || {
        ask(plain, "GET /certificates/issuing-2.crt", "", b"").0 == 200
    });
    until("both keys have lists", || {
        ["issuing", "issuing-2"]
            .iter()
            .all(|name| ask(plain, &format!("GET /lists/{name}.crl"), "", b"").0 == 200)
    });
    let policy = folder.read("ca/policy.toml");
    let at = policy.replace("#urls = []", "urls = [\"http://ca.example.org/status\"]");
    folder.write("ca/policy.toml", at);
    until("the policy's URL is served", || {
        ask(plain, "GET /status/AAAA", "", b"").0 == 200
    });
}

#[test]
fn a_server_that_can_not_be_is_refused() {
    let folder = with_ca();
    for (line, words) in [
        (
            format!("ca serve --name www.example.com {OPTIONS}"),
            "names.dns permits",
        ),
        (format!("ca serve {OPTIONS}"), "--name"),
        (
            format!("ca serve --cert missing.pem --key missing.key {OPTIONS}"),
            "missing.pem",
        ),
        (
            "ca serve --name ca.example.org --plain 192.0.2.1:1 --listen 127.0.0.1:0".into(),
            "192.0.2.1:1 (--plain)",
        ),
        (format!("ca serve --name a --dir none {OPTIONS}"), "none"),
    ] {
        let refused = folder.pqtls(&line);
        assert_ne!(refused.status(), 0, "{line}");
        assert!(
            refused.stderr().contains(words),
            "{line}: {}",
            refused.stderr()
        );
    }
}
