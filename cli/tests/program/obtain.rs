//! `pqtls cert obtain`, with a server of ACME that is here and looks at challenges by HTTP. Whether it is one for others, too,
//! `tests/acme` shows.

use alloc::sync::Arc;
use core::net::Ipv4Addr;
use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::{fs, thread};

use base64ct::{Base64UrlUnpadded, Encoding};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::request::CertificateRequest;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::folder::{Folder, Outcome};

/// What the server has seen, and how it behaves.
#[derive(Default)]
struct State {
    account_algorithm: String,
    takes_only: Option<&'static str>,
    order: Value,
    token_shown: bool,
    csr: Vec<u8>,
    certificates: usize,
    /// The window that it suggests for renewal.
    window: Option<(String, String)>,
    replaces: Option<String>,
    /// How long certificates are valid.
    seconds: u64,
}

struct Server {
    port: u16,
    /// Where challenges are asked.
    http: u16,
    state: Arc<Mutex<State>>,
}

impl Server {
    /// Starts it, and writes its root into a folder, as `root.pem`.
    fn start(folder: &Folder) -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let issuer = Issuer::self_signed(CertificateBuilder::ca("ACME"), key()).unwrap();
        folder.write("root.pem", issuer.certificate().to_pem());
        let own = key();
        let builder = CertificateBuilder::server().dns_name("localhost");
        let certificate = issuer.issue(builder, &own).unwrap();
        let own = PrivatePkcs8KeyDer::from(own.to_pkcs8_der().unwrap().to_vec());
        let provider = Arc::new(rustls_pq::provider().unwrap());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.into_der()], PrivateKeyDer::from(own));
        let config = Arc::new(config.unwrap());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let http = free.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            seconds: 90 * 86400,
            ..State::default()
        }));
        let (shared, issuer) = (state.clone(), Arc::new(issuer));
        thread::spawn(move || {
            for tcp in listener.incoming() {
                let (config, state, issuer) = (config.clone(), shared.clone(), issuer.clone());
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).unwrap();
                    let mut tls = BufReader::new(StreamOwned::new(connection, tcp.unwrap()));
                    while let Some((path, body)) = request(&mut tls) {
                        let mut state = state.lock().unwrap();
                        let (status, location, body) =
                            state.answer(port, http, &path, &body, &issuer);
                        let location = location
                            .map(|to| format!("Location: https://localhost:{port}{to}\r\n"));
                        let answer = format!(
                            "HTTP/1.1 {status} OK\r\nReplay-Nonce: abc\r\n{}Content-Length: {}\r\n\r\n{}",
                            location.unwrap_or_default(),
                            body.len(),
                            if path == "/nonce" { "" } else { &body }
                        );
                        if tls.get_mut().write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, http, state }
    }

    fn options(&self) -> String {
        format!(
            "--from https://localhost:{}/directory --trust root.pem --http-01=127.0.0.1:{}",
            self.port, self.http
        )
    }

    fn obtain(&self, folder: &Folder, more: &str) -> Outcome {
        folder.pqtls(&format!(
            "cert obtain www.example.org {} {more}",
            self.options()
        ))
    }
}

fn request(stream: &mut impl BufRead) -> Option<(String, Value)> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut len = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        if let Some(value) = line.strip_prefix("content-length: ") {
            len = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; len];
    stream.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).unwrap_or_default()))
}

fn decoded(text: &Value) -> Value {
    let bytes = Base64UrlUnpadded::decode_vec(text.as_str().unwrap()).unwrap();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

impl State {
    fn answer(
        &mut self,
        port: u16,
        http: u16,
        path: &str,
        body: &Value,
        issuer: &Issuer<SigningKey>,
    ) -> (u16, Option<&'static str>, String) {
        let url = |path: &str| format!("https://localhost:{port}{path}");
        let content = match body.get("payload") {
            Some(payload) => decoded(payload),
            None => Value::Null,
        };
        let ok = |body: Value| (200, None, body.to_string());
        match path {
            "/directory" => {
                let mut directory = json!({"newNonce": url("/nonce"), "newAccount": url("/account"),
                    "newOrder": url("/new-order"), "revokeCert": url("/r"), "keyChange": url("/k")});
                if self.window.is_some() {
                    directory["renewalInfo"] = url("/ari").into();
                }
                ok(directory)
            }
            "/nonce" => ok(Value::Null),
            "/account" => {
                let header = decoded(&body["protected"]);
                let algorithm = header["alg"].as_str().unwrap().to_owned();
                if self.takes_only.is_some_and(|only| only != algorithm) {
                    let kind = "urn:ietf:params:acme:error:badSignatureAlgorithm";
                    let problem =
                        json!({"type": kind, "detail": "no", "algorithms": [self.takes_only]});
                    return (400, None, problem.to_string());
                }
                self.account_algorithm = algorithm;
                (
                    201,
                    Some("/account/1"),
                    json!({"status": "valid"}).to_string(),
                )
            }
            "/new-order" => {
                self.replaces = content["replaces"].as_str().map(Into::into);
                self.order = json!({"status": "pending", "identifiers": content["identifiers"],
                    "authorizations": [url("/authz")], "finalize": url("/finalize")});
                (201, Some("/order"), self.order.to_string())
            }
            "/order" => ok(self.order.clone()),
            "/authz" => ok(json!({"identifier": self.order["identifiers"][0],
                "status": if self.token_shown { "valid" } else { "pending" },
                "challenges": [{"type": "http-01", "url": url("/challenge"), "status": "pending", "token": "a-token"}]})),
            "/challenge" => {
                self.token_shown = shown(http, "a-token").starts_with("a-token.");
                self.order["status"] = "ready".into();
                ok(json!({}))
            }
            "/finalize" => {
                self.csr = Base64UrlUnpadded::decode_vec(content["csr"].as_str().unwrap()).unwrap();
                self.order["status"] = "valid".into();
                self.order["certificate"] = url("/certificate").into();
                ok(self.order.clone())
            }
            "/certificate" => {
                self.token_shown = false;
                self.certificates += 1;
                let request = CertificateRequest::from_der(&self.csr)
                    .unwrap()
                    .verify()
                    .unwrap();
                let validity = Validity::lasting(Duration::from_secs(self.seconds));
                let leaf = issuer.issue(
                    request.certificate().server_auth().validity(validity),
                    &request,
                );
                (
                    200,
                    None,
                    Certificate::chain_to_pem(&[leaf.unwrap(), issuer.certificate().clone()]),
                )
            }
            ari if ari.starts_with("/ari/") => {
                let (start, end) = self.window.clone().unwrap();
                ok(
                    json!({"suggestedWindow": {"start": start, "end": end}, "explanationURL": "https://why.example"}),
                )
            }
            _ => (404, None, String::new()),
        }
    }
}

/// What is at the path of a challenge.
fn shown(port: u16, token: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let head = format!(
        "GET /.well-known/acme-challenge/{token} HTTP/1.1\r\nHost: www.example.org\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The certificate in a file, which is for the key of the other.
#[track_caller]
fn pair(folder: &Folder, key: &str, certificate: &str) -> Certificate {
    let key = SigningKey::from_pkcs8_pem(&folder.read(key)).unwrap();
    let chain = Certificate::chain_from_pem(&folder.read(certificate)).unwrap();
    assert_eq!(chain[0].spki(), key.spki());
    assert_eq!(chain.len(), 2);
    chain[0].clone()
}

/// Checks that it succeeded, whatever it said.
#[track_caller]
fn done(said: &Outcome) {
    assert_eq!(said.status(), 0, "{}", said.stderr());
}

const FILES: &str = "--new-key web.key --out web.pem";

#[test]
fn a_certificate_is_obtained_and_renewed_when_it_is_due() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    let first = server.obtain(&folder, FILES);
    let said = first.ok().to_owned();
    assert!(
        said.starts_with("web.key: its private key\nweb.pem: "),
        "{said}"
    );
    let account = format!("acme-localhost-{}.key", server.port);
    assert!(said.contains(&account), "{said}");
    let certificate = pair(&folder, "web.key", "web.pem");
    assert_eq!(certificate.dns_names(), ["www.example.org"]);
    assert_eq!(server.state.lock().unwrap().account_algorithm, "ML-DSA-65");
    assert_eq!(folder.files().len(), 4, "root, account, key, certificate");

    // Files that exist are left alone.
    let again = server.obtain(&folder, FILES);
    assert_eq!(again.status(), 3);
    // It is not due, whatever that is found out by.
    let renew = format!("{FILES} --renew");
    let window = |start: &str, end: &str| Some((start.to_owned(), end.to_owned()));
    for suggested in [
        None,
        window("2999-01-01T00:00:00Z", "2999-01-02T00:00:00Z"),
        // which is none
        window("2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z"),
    ] {
        server.state.lock().unwrap().window = suggested;
        let before = folder.files();
        let said = server.obtain(&folder, &renew);
        assert_eq!(said.status(), 6);
        assert!(
            said.stdout()
                .contains("nothing was done; it is to be renewed at")
        );
        assert_eq!(folder.files(), before);
    }
    // The CA says that it is due.
    server.state.lock().unwrap().window = window("2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z");
    let said = server.obtain(&folder, &renew);
    done(&said);
    assert!(
        said.stderr().contains("https://why.example"),
        "{}",
        said.stderr()
    );
    let renewed = pair(&folder, "web.key", "web.pem");
    assert_ne!(renewed.spki(), certificate.spki());
    let state = server.state.lock().unwrap();
    assert_eq!(state.certificates, 2);
    assert!(state.replaces.as_ref().is_some_and(|id| id.contains('.')));
    drop(state);
    assert_eq!(folder.files().len(), 4);

    // The files don't belong together.
    server.state.lock().unwrap().window = None;
    folder.pqtls("key new ML-DSA-44 --out web.key --force").ok();
    let said = server.obtain(&folder, &renew);
    done(&said);
    assert!(
        said.stderr().contains("it is for another key"),
        "{}",
        said.stderr()
    );
    pair(&folder, "web.key", "web.pem");
    // The JSON says the same.
    let report: Value =
        serde_json::from_str(server.obtain(&folder, &format!("{renew} --json")).stdout()).unwrap();
    assert_eq!(report["outcome"], "not-due");
    assert_eq!(report["by_ca"], false);
}

#[test]
fn what_an_interrupted_run_left_is_finished() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    server.obtain(&folder, FILES).ok();
    let old = [folder.read("web.key"), folder.read("web.pem")];
    server.obtain(&folder, &format!("{FILES} --force")).ok();
    let new = [folder.read("web.key"), folder.read("web.pem")];
    // Killed before the first file, between the two, and before the end.
    for (key, certificate) in [(&old[0], &old[1]), (&new[0], &old[1]), (&new[0], &new[1])] {
        folder.write("web.key", key);
        folder.write("web.pem", certificate);
        folder.write("web.pem.new-with-key", new.concat());
        let said = server.obtain(&folder, &format!("{FILES} --renew"));
        assert_eq!(said.status(), 6);
        assert!(said.stderr().contains("in place now"), "{}", said.stderr());
        assert_eq!([folder.read("web.key"), folder.read("web.pem")], new);
        assert!(!folder.path().join("web.pem.new-with-key").exists());
    }
    // The first time there was nothing to replace, and nobody asks for more.
    fs::remove_file(folder.path().join("web.pem")).unwrap();
    folder.write("web.pem.new-with-key", new.concat());
    done(&server.obtain(&folder, FILES));
    assert_eq!([folder.read("web.key"), folder.read("web.pem")], new);
    assert_eq!(server.state.lock().unwrap().certificates, 2);
    // What doesn't belong together takes nobody's place.
    folder.write(
        "web.pem.new-with-key",
        [old[0].as_str(), new[1].as_str()].concat(),
    );
    let said = server.obtain(&folder, &format!("{FILES} --renew"));
    assert_eq!(said.status(), 3);
    assert_eq!([folder.read("web.key"), folder.read("web.pem")], new);
}

#[test]
fn an_account_gets_a_key_that_the_server_takes() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    server.state.lock().unwrap().takes_only = Some("ES256");
    let said = server.obtain(&folder, &format!("{FILES} --account account.key"));
    done(&said);
    assert!(
        said.stderr().contains("the account's key is of ECDSA-P256"),
        "{}",
        said.stderr()
    );
    assert!(
        folder
            .pqtls("key show account.key")
            .ok()
            .contains("ECDSA-P256")
    );
    // The next time it is there.
    server
        .obtain(&folder, &format!("{FILES} --account account.key --force"))
        .ok();
    server.state.lock().unwrap().takes_only = Some("ES512");
    let said = server.obtain(&folder, "--account other.key --new-key o.key --out o.pem");
    assert_eq!(said.status(), 1);
    assert!(
        said.stderr().contains("takes keys of ES512"),
        "{}",
        said.stderr()
    );
    // A key that is there is never replaced.
    let before = folder.read("account.key");
    server.state.lock().unwrap().takes_only = Some("EdDSA");
    let said = server.obtain(&folder, "--account account.key --new-key o.key --out o.pem");
    said.fails(1, "no account with a key of ES256");
    assert_eq!(folder.read("account.key"), before);
    assert!(!folder.path().join("o.pem").exists() && !folder.path().join("o.key").exists());
}

#[test]
fn keys_that_are_there_and_requests() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    folder.pqtls("key new ML-DSA-44 --out own.key").ok();
    server.obtain(&folder, "--key own.key --out web.pem").ok();
    pair(&folder, "own.key", "web.pem");
    folder
        .pqtls("cert request --key own.key --name csr.example.org --out own.csr")
        .ok();
    let options = server.options();
    folder
        .pqtls(&format!(
            "cert obtain --csr own.csr {options} --out csr.pem"
        ))
        .ok();
    assert_eq!(
        pair(&folder, "own.key", "csr.pem").dns_names(),
        ["csr.example.org"]
    );
    // Its key is the account's.
    let said = server.obtain(&folder, "--key own.key --account own.key --out no.pem");
    assert_eq!(said.status(), 1);
    assert!(
        said.stderr().contains("the account's own key"),
        "{}",
        said.stderr()
    );
}

#[test]
fn servers_that_are_not_there_or_not_trusted() {
    let folder = Folder::with_ca();
    let server = Server::start(&folder);
    folder.write("root.pem", folder.read("ca-root.pem"));
    server.obtain(&folder, FILES).fails(3, "--trust");
    let nobody =
        "cert obtain www.example.org --from https://127.0.0.1:1/ --http-01 --trust root.pem";
    let said = folder.pqtls(&format!("{nobody} {FILES}"));
    said.fails(3, "https://127.0.0.1:1/ can't be asked");
    // Age decides where nobody says anything.
    let said = folder.pqtls(&format!("{nobody} --key www.key --out www.pem --renew"));
    assert_eq!(said.status(), 6);
    assert!(
        said.stderr().contains("so its age decides"),
        "{}",
        said.stderr()
    );
    for wrong in [
        "cert obtain www.example.org --from http://ca.example/ --http-01 --new-key a --out b",
        "cert obtain www.example.org --from https://ca.example/ --new-key a --out b",
        "cert obtain www.example.org --from https://ca.example/ --http-01 --out b",
        "cert obtain --from https://ca.example/ --http-01 --new-key a --out b",
        "cert obtain a..b --from https://ca.example/ --http-01 --new-key a --out b",
        "cert obtain www.example.org --from https://ca.example/ --http-01 --new-key a --renew",
        "cert obtain www.example.org --from https://ca.example/ --http-01 --new-key a --install",
    ] {
        assert_eq!(folder.pqtls(wrong).status(), 2, "{wrong}");
    }
}

#[test]
fn a_timer_renews_by_the_same_options() {
    let folder = Folder::new();
    let command = "cert obtain www.example.org --from https://ca.example/a%20b --http-01 --new-key web.key --out web.pem";
    let printed = folder.pqtls(&format!("{command} --install --print"));
    let printed = printed.ok();
    assert!(
        printed.contains("a%%20b --http-01 --new-key web.key --out web.pem --renew\n"),
        "{printed}"
    );
    assert!(printed.contains("SuccessExitStatus=6\n") && printed.contains("[Timer]\n"));
    assert!(folder.files().is_empty());
    folder.pqtls(&format!("{command} --install=.")).ok();
    let service = folder.read("pqtls-web.service");
    let path = folder.path().canonicalize().unwrap();
    let here = format!("WorkingDirectory={}\n", path.display());
    assert!(service.contains(&here), "{service}");
    assert!(folder.read("pqtls-web.timer").contains("OnCalendar="));
    assert_eq!(folder.pqtls(&format!("{command} --install=.")).status(), 3);
}
