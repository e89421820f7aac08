//! A KEK that is a key of a Transit engine.

use base64ct::{Base64, Encoding};
use hmac::Mac;
use zeroize::Zeroizing;

use super::address::TransitAddress;
use super::error::{RemoteError, TransportError};
use super::messages::{Decrypt, Decrypted, Described, Encrypt, Encrypted};
use super::mount::{Mount, data};
use super::token::RemoteToken;
use super::transport::Transport;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::sealing::{KEY_LEN, Kek, KekError, KekServerProblem, WrappedKey, check_value};
use crate::versioned::Versioned;

const KIND: &str = "transit";
const FORMAT: u8 = 1;

/// The types of keys that bind what they encrypt, of 256 bits.
const TYPES: [&str; 3] = ["aes256-gcm96", "chacha20-poly1305", "xchacha20-poly1305"];

/// A [`Kek`] that is a key of a Transit engine of Vault or OpenBao, which it never leaves: of `aes256-gcm96`,
/// `chacha20-poly1305` or `xchacha20-poly1305`. What it wraps is bound to the store by `associated_data`.
///
/// The server is asked when the store is created, opened or rewrapped, and at no other time. To open takes a token that may
/// `update` `MOUNT/decrypt/NAME`; to create and rewrap, one that may also `update` `MOUNT/encrypt/NAME` and `read`
/// `MOUNT/keys/NAME`. No key is made. After Vault's key was rotated, what its former versions wrapped is unwrapped as before, until
/// `min_decryption_version` forbids it.
#[derive(Debug)]
pub struct TransitKek {
    mount: Mount,
    address: TransitAddress,
}

impl TransitKek {
    /// The key at an address, to whose server the transport leads. Nothing is sent yet.
    pub fn new(
        transport: impl Transport + 'static,
        address: TransitAddress,
        token: &RemoteToken,
    ) -> Self {
        let mount = Mount {
            transport: Box::new(transport),
            path: address.engine().mount().into(),
            token: Some(token.text()),
            namespace: address.namespace_field().map(Into::into),
        };
        Self { mount, address }
    }

    fn target(&self, verb: &str) -> String {
        format!("{verb}/{}", self.address.key())
    }

    /// Whether it is a key that wraps. Encrypting by one that isn't there would make it.
    fn check_key(&self) -> Result<(), KekError> {
        let described: Result<Described, _> = self
            .mount
            .read(&self.target("keys"))
            .and_then(|response| data(&response));
        let described = described.map_err(failed)?;
        let unfit = |reason: String| server(KekServerProblem::Unfit, reason);
        if !TYPES.contains(&described.r#type.as_str()) {
            let found: String = described
                .r#type
                .chars()
                .filter(char::is_ascii_graphic)
                .take(40)
                .collect();
            return Err(unfit(format!(
                "{} is of type {found}, and one of aes256-gcm96 or chacha20-poly1305 is needed",
                self.address
            )));
        }
        match described.derived {
            true => Err(unfit(format!(
                "{} derives a key for each context, and one is needed that doesn't",
                self.address
            ))),
            false => Ok(()),
        }
    }

    fn encrypt(&self, text: &[u8; KEY_LEN], aad: &[u8]) -> Result<String, KekError> {
        let text = Zeroizing::new(Base64::encode_string(text));
        let body = Encrypt {
            plaintext: &text,
            associated_data: Base64::encode_string(aad),
        };
        let response = self.mount.write(&self.target("encrypt"), &body, true);
        let encrypted: Result<Encrypted, _> = response.and_then(|response| data(&response));
        let Encrypted { ciphertext } = encrypted.map_err(failed)?;
        match is_wrapped(&ciphertext) {
            true => Ok(ciphertext),
            false => Err(answer("what it encrypted has not the form vault:vN:…")),
        }
    }

    fn decrypt(
        &self,
        ciphertext: &str,
        aad: &[u8],
        found: &str,
    ) -> Result<Zeroizing<Vec<u8>>, KekError> {
        let body = Decrypt {
            ciphertext,
            associated_data: Base64::encode_string(aad),
        };
        let response = self.mount.write(&self.target("decrypt"), &body, true);
        let decrypted: Result<Decrypted, _> = response.and_then(|response| data(&response));
        let decrypted = decrypted.map_err(|error| self.not_decrypted(found, error))?;
        let text = Base64::decode_vec(&decrypted.plaintext.0).map(Zeroizing::new);
        text.map_err(|_| answer("what it decrypted is no base64"))
    }

    /// Why nothing was decrypted. Of a ciphertext by another key, and of a version that isn't there or is forbidden, servers tell in
    /// words alone.
    fn not_decrypted(&self, found: &str, error: RemoteError) -> KekError {
        let RemoteError::Refused {
            status: 400,
            errors,
        } = &error
        else {
            return failed(error);
        };
        let says = |words: &str| errors.iter().any(|error| error.contains(words));
        if says("message authentication failed") {
            return self.wrong(found);
        }
        let is_without_key =
            says("key not found") || says("disallowed by policy") || says("version is too new");
        let problem = match is_without_key {
            true => KekServerProblem::NoKey,
            false => KekServerProblem::Refused,
        };
        match found == self.address.to_string() {
            true => server(problem, error),
            false => server(
                problem,
                format!("{error}; the store is sealed under {found}"),
            ),
        }
    }

    fn wrong(&self, found: &str) -> KekError {
        let given = self.address.to_string();
        match found == given {
            true => KekError::Wrong { kind: KIND },
            false => KekError::Other {
                kind: KIND,
                found: found.into(),
                given,
            },
        }
    }
}

/// What was written about a key that is wrapped: the address of what wraps it, and the check value.
fn read(parameters: &[u8]) -> Result<(&str, [u8; 32]), InvalidRecord> {
    let mut reader = Reader::of_format(FORMAT, parameters)?;
    let (address, check) = (reader.text()?, reader.array()?);
    reader.finish()?;
    match address.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok((address, check)),
        false => Err(InvalidRecord::Value("it names no key of a server")),
    }
}

/// Whether a text can be a key that is wrapped.
fn is_wrapped(text: &str) -> bool {
    /// What there is besides: the shortest nonce, and the tag.
    const BESIDE: usize = 12 + 16;

    Versioned::parse(text).is_some_and(|sealed| sealed.bytes.len() >= BESIDE + KEY_LEN)
}

/// What the check value is about.
fn place(bound: &[u8], address: &str) -> Vec<u8> {
    Writer::default().bytes(bound).text(address).finish()
}

fn server(
    problem: KekServerProblem,
    error: impl Into<Box<dyn core::error::Error + Send + Sync>>,
) -> KekError {
    KekError::Server {
        kind: KIND,
        problem,
        error: error.into(),
    }
}

fn answer(problem: &'static str) -> KekError {
    server(KekServerProblem::Answer, RemoteError::Answer(problem))
}

fn failed(error: RemoteError) -> KekError {
    let problem = match &error {
        RemoteError::Transport(TransportError::Tls(_)) => KekServerProblem::Tls,
        RemoteError::Transport(TransportError::NotHttp(_)) | RemoteError::Answer(_) => {
            KekServerProblem::Answer
        }
        RemoteError::Refused {
            status: 401 | 403, ..
        } => KekServerProblem::Token,
        RemoteError::Refused { status: 404, .. } => KekServerProblem::NoKey,
        // Vault says of it to try again later.
        RemoteError::Refused { status: 500, .. } => KekServerProblem::Away,
        error if error.retry() => KekServerProblem::Away,
        _ => KekServerProblem::Refused,
    };
    server(problem, error)
}

impl Kek for TransitKek {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
        self.check_key()?;
        let address = self.address.to_string();
        let check = check_value(store_key, &place(bound, &address)).finalize();
        let parameters = Writer::of_format(FORMAT)
            .text(&address)
            .array(&check.into_bytes())
            .finish();
        let ciphertext = self.encrypt(store_key, &[bound, &parameters].concat())?;
        let wrapped = WrappedKey {
            parameters,
            ciphertext: ciphertext.into(),
        };
        // A store that can't be opened again isn't made.
        self.unwrap(&wrapped, bound)?;
        Ok(wrapped)
    }

    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        let unreadable = |reason: String| KekError::Parameters { kind: KIND, reason };
        let (found, check) =
            read(&wrapped.parameters).map_err(|error| unreadable(error.to_string()))?;
        let ciphertext = str::from_utf8(&wrapped.ciphertext).ok();
        let ciphertext = ciphertext.filter(|text| is_wrapped(text));
        let ciphertext = ciphertext
            .ok_or_else(|| unreadable("the wrapped key has not the form vault:vN:…".into()))?;
        let text = self.decrypt(ciphertext, &[bound, &wrapped.parameters].concat(), found)?;
        let store_key = <&[u8; KEY_LEN]>::try_from(text.as_slice());
        let store_key =
            store_key.map_err(|_| answer("what it decrypted has another length than a key"))?;
        let is_right = check_value(store_key, &place(bound, found)).verify_slice(&check);
        is_right
            .map_err(|_| answer("what it decrypted is not what was encrypted for this store"))?;
        Ok(Zeroizing::new(*store_key))
    }
}
