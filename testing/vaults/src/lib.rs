//! Servers for tests that speak as much of Transit as wraps a key, as Vault 1.21 does, over TLS at a port of 127.0.0.1; and that
//! fail as they are told.
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use base64ct::{Base64, Encoding};
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// The token of whoever may do everything.
pub const TOKEN: &str = "hvs.token-of-a-test";

/// What a server does.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// What it should.
    #[default]
    Right,
    /// It refuses all, with a status and in these words.
    Refuses(u16, &'static str),
    /// It answers with these bytes, whatever it is asked.
    Says(Vec<u8>),
    /// It answers rightly, a byte a second.
    Slow,
    /// It answers with some gigabytes of which the head says how many.
    Huge,
    /// It answers with chunks that don't end.
    Endless,
    /// What it decrypts is this.
    Decrypts(Vec<u8>),
    /// It leaves out `associated_data`, as Vault did before 1.9.
    Unbound,
}

/// A server, whose threads end with the process.
pub struct Vault {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    keys: BTreeMap<String, Key>,
    requests: Vec<String>,
    namespaces: Vec<Option<String>>,
}

struct Key {
    kind: String,
    derived: bool,
    versions: Vec<[u8; 32]>,
    min_decryption_version: usize,
}

/// Another number each time.
fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn new_key() -> [u8; 32] {
    let mut key = [7; 32];
    key[..8].copy_from_slice(&next().to_be_bytes());
    key
}

impl Vault {
    /// A server without keys.
    pub fn start(
        provider: CryptoProvider,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Self {
        let tls = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let tls = Arc::new(tls);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (tls, state) = (tls.clone(), shared.clone());
                thread::spawn(move || serve(tls, socket, &state));
            }
        });
        Self { port, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a key.
    pub fn address(&self, key: &str) -> String {
        format!("https://127.0.0.1:{}/v1/transit/keys/{key}", self.port)
    }

    /// What it does from now on.
    pub fn behaves(&self, behaviour: Behaviour) {
        self.state().behaviour = behaviour;
    }

    /// Makes a key, or another in the place of one.
    pub fn make(&self, name: &str, kind: &str) {
        let key = Key {
            kind: kind.into(),
            derived: false,
            versions: vec![new_key()],
            min_decryption_version: 1,
        };
        self.state().keys.insert(name.into(), key);
    }

    fn key(&self, name: &str, change: impl FnOnce(&mut Key)) {
        change(self.state().keys.get_mut(name).unwrap());
    }

    /// Has a key derive others for each context.
    pub fn derives(&self, name: &str) {
        self.key(name, |key| key.derived = true);
    }

    /// Gives a key another version.
    pub fn rotate(&self, name: &str) {
        self.key(name, |key| key.versions.push(new_key()));
    }

    /// Forbids the versions of a key before this one.
    pub fn set_min_decryption_version(&self, name: &str, version: usize) {
        self.key(name, |key| key.min_decryption_version = version);
    }

    /// Removes a key.
    pub fn delete(&self, name: &str) {
        self.state().keys.remove(name);
    }

    /// What was asked for, as methods and paths, since the last time.
    pub fn requests(&self) -> Vec<String> {
        core::mem::take(&mut self.state().requests)
    }

    /// The namespaces that were asked in, since the last time.
    pub fn namespaces(&self) -> Vec<Option<String>> {
        core::mem::take(&mut self.state().namespaces)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    method: String,
    path: String,
    token: Option<String>,
    namespace: Option<String>,
    body: Value,
}

fn read(stream: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    let mut next = |stream: &mut dyn BufRead| -> Option<String> {
        line.clear();
        stream.read_line(&mut line).ok().filter(|len| *len > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = next(stream)?;
    let mut words = first.split(' ').map(ToOwned::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut token, mut namespace, mut len) = (None, None, 0);
    loop {
        let field = next(stream)?;
        let Some((name, value)) = field.split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "x-vault-token" => token = Some(value.to_owned()),
            "x-vault-namespace" => namespace = Some(value.to_owned()),
            "content-length" => len = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; len];
    stream.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        token,
        namespace,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn serve(tls: Arc<ServerConfig>, socket: TcpStream, state: &Mutex<State>) {
    let connection = ServerConnection::new(tls).unwrap();
    let mut stream = BufReader::new(StreamOwned::new(connection, socket));
    while let Some(request) = read(&mut stream) {
        let behaviour = {
            let mut state = lock(state);
            let asked = format!("{} {}", request.method, request.path);
            state.requests.push(asked);
            state.namespaces.push(request.namespace.clone());
            state.behaviour.clone()
        };
        // Whoever is gone has seen enough.
        if answer(stream.get_mut(), &request, &behaviour, state).is_err() {
            return;
        }
    }
}

fn answer(
    stream: &mut impl Write,
    request: &Request,
    behaviour: &Behaviour,
    state: &Mutex<State>,
) -> std::io::Result<()> {
    match behaviour {
        Behaviour::Says(bytes) => stream.write_all(bytes)?,
        Behaviour::Huge => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"
            )?;
            loop {
                stream.write_all(&[b' '; 4096])?;
            }
        }
        Behaviour::Endless => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            )?;
            loop {
                write!(stream, "400\r\n{}\r\n", " ".repeat(1024))?;
            }
        }
        _ => {
            let (status, body) = done(request, behaviour, &mut lock(state));
            let body = body.to_string();
            // Go sends a long answer in chunks.
            let bytes = match request.method == "GET" {
                true => format!(
                    "HTTP/1.1 {status} \r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
                    body.len()
                ),
                false => format!(
                    "HTTP/1.1 {status} \r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                ),
            };
            if matches!(behaviour, Behaviour::Slow) {
                for byte in bytes.bytes() {
                    stream.write_all(&[byte])?;
                    stream.flush()?;
                    thread::sleep(Duration::from_secs(1));
                }
            } else {
                stream.write_all(bytes.as_bytes())?;
            }
        }
    }
    stream.flush()
}

fn errors(status: u16, text: &str) -> (u16, Value) {
    (status, json!({ "errors": [text] }))
}

/// What Vault does.
fn done(request: &Request, behaviour: &Behaviour, state: &mut State) -> (u16, Value) {
    if let Behaviour::Refuses(status, words) = behaviour {
        return errors(*status, words);
    }
    if request.token.as_deref() != Some(TOKEN) {
        return errors(403, "permission denied");
    }
    let Some((verb, name)) = request
        .path
        .strip_prefix("/v1/transit/")
        .and_then(|path| path.split_once('/'))
    else {
        return errors(404, "no handler for route");
    };
    let text = |name: &str| request.body[name].as_str().unwrap_or_default();
    let aad = match behaviour {
        Behaviour::Unbound => Vec::new(),
        _ => Base64::decode_vec(text("associated_data")).unwrap(),
    };
    match (request.method.as_str(), verb, state.keys.get(name)) {
        ("GET", "keys", None) => (404, json!({ "errors": [] })),
        ("GET", "keys", Some(key)) => {
            let data = json!({
                "type": key.kind, "derived": key.derived, "latest_version": key.versions.len(), "exportable": false,
            });
            (200, json!({ "data": data }))
        }
        ("POST", "encrypt", None) => {
            let kind = "aes256-gcm96".into();
            let key = Key {
                kind,
                derived: false,
                versions: vec![new_key()],
                min_decryption_version: 1,
            };
            state.keys.insert(name.into(), key);
            done(request, behaviour, state)
        }
        ("POST", "encrypt", Some(key)) => {
            let mut nonce = [0; 12];
            nonce[..8].copy_from_slice(&next().to_be_bytes());
            let mut text = Base64::decode_vec(text("plaintext")).unwrap();
            let tag = cipher(key.versions.last().unwrap())
                .encrypt_inout_detached((&nonce).into(), &aad, text.as_mut_slice().into())
                .unwrap();
            let sealed = [&nonce[..], &text, &tag].concat();
            let version = key.versions.len();
            let text = format!("vault:v{version}:{}", Base64::encode_string(&sealed));
            (
                200,
                json!({ "data": { "ciphertext": text, "key_version": version } }),
            )
        }
        ("POST", "decrypt", None) => errors(400, "encryption key not found"),
        ("POST", "decrypt", Some(key)) => match decrypted(key, text("ciphertext"), &aad) {
            Ok(found) => {
                let text = match behaviour {
                    Behaviour::Decrypts(text) => text,
                    _ => &found,
                };
                (
                    200,
                    json!({ "data": { "plaintext": Base64::encode_string(text) } }),
                )
            }
            Err(words) => errors(400, words),
        },
        _ => errors(405, "unsupported operation"),
    }
}

fn cipher(key: &[u8; 32]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(key.into())
}

fn decrypted(key: &Key, text: &str, aad: &[u8]) -> Result<Vec<u8>, &'static str> {
    let rest = text
        .strip_prefix("vault:v")
        .ok_or("invalid ciphertext: no prefix")?;
    let (version, sealed) = rest
        .split_once(':')
        .ok_or("invalid ciphertext: wrong number of fields")?;
    let version: usize = version
        .parse()
        .map_err(|_| "invalid ciphertext: version number could not be decoded")?;
    if version > key.versions.len() {
        return Err("invalid ciphertext: version is too new");
    }
    if version < key.min_decryption_version {
        return Err("ciphertext or signature version is disallowed by policy (too old)");
    }
    let sealed =
        Base64::decode_vec(sealed).map_err(|_| "invalid ciphertext: could not decode base64")?;
    let (nonce, rest) = sealed
        .split_first_chunk::<12>()
        .ok_or("invalid ciphertext length")?;
    let (text, tag) = rest
        .split_last_chunk::<16>()
        .ok_or("invalid ciphertext length")?;
    let mut text = text.to_vec();
    let opened = cipher(&key.versions[version - 1]).decrypt_inout_detached(
        nonce.into(),
        aad,
        text.as_mut_slice().into(),
        tag.into(),
    );
    match opened {
        Ok(()) => Ok(text),
        Err(_) => Err("cipher: message authentication failed"),
    }
}
