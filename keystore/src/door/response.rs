//! What is sent back.

use core::fmt;

use pq_keys::random;
use serde::Serialize;
use zeroize::Zeroizing;

use super::refusal::Refusal;

/// What is sent back: a status, and JSON if there is anything to say.
pub struct Response {
    /// The status of HTTP.
    pub status: u16,
    /// The JSON, which is wiped when it is dropped: it may be a private key. Empty with 204.
    pub body: Zeroizing<Vec<u8>>,
    /// What the log should say, and no client: why the store failed. It has no secrets.
    pub problem: Option<String>,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("problem", &self.problem)
            .finish_non_exhaustive()
    }
}

/// What Vault puts around each answer.
#[derive(Serialize)]
struct Envelope<'a, T> {
    request_id: String,
    lease_id: &'static str,
    renewable: bool,
    lease_duration: u32,
    data: &'a T,
    wrap_info: Option<()>,
    warnings: Option<&'a [String]>,
    auth: Option<()>,
    mount_type: &'static str,
}

/// What it takes at most beside data, without warnings.
const ENVELOPE_LEN: usize = 256;

fn envelope<'a, T>(
    mount_type: &'static str,
    data: &'a T,
    warnings: &'a [String],
) -> Result<Envelope<'a, T>, Refusal> {
    Ok(Envelope {
        request_id: request_id()?,
        lease_id: "",
        renewable: false,
        lease_duration: 0,
        data,
        wrap_info: None,
        warnings: Some(warnings).filter(|warnings| !warnings.is_empty()),
        auth: None,
        mount_type,
    })
}

#[derive(Serialize)]
struct Errors {
    errors: Vec<String>,
}

impl Response {
    /// Nothing, which is what there is to say.
    pub(super) fn done() -> Self {
        Self::of(204, Zeroizing::default())
    }

    /// JSON in Vault's envelope.
    pub(super) fn data<T: Serialize>(data: &T) -> Result<Self, Refusal> {
        Self::data_with(data, &[])
    }

    /// The same, with what the client should know besides.
    pub(super) fn data_with<T: Serialize>(data: &T, warnings: &[String]) -> Result<Self, Refusal> {
        Self::data_of("transit", data, warnings)
    }

    /// The same, of a part of Vault.
    pub(super) fn data_of<T: Serialize>(
        mount_type: &'static str,
        data: &T,
        warnings: &[String],
    ) -> Result<Self, Refusal> {
        Self::plain(&envelope(mount_type, data, warnings)?)
    }

    /// The same of what is no secret, and takes about so many bytes: it is written once, and not first to see how long it is.
    pub(super) fn public_data<T: Serialize>(len: usize, data: &T) -> Result<Self, Refusal> {
        let envelope = envelope("transit", data, &[])?;
        Ok(Self::of(200, written(len + ENVELOPE_LEN, &envelope)?))
    }

    /// JSON without an envelope.
    pub(super) fn plain(value: &impl Serialize) -> Result<Self, Refusal> {
        Ok(Self::of(200, json(value)?))
    }

    fn of(status: u16, body: Zeroizing<Vec<u8>>) -> Self {
        Self {
            status,
            body,
            problem: None,
        }
    }
}

/// Counts what is written.
#[derive(Default)]
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The JSON in a buffer of its length, so that none that was too short leaves secrets behind.
fn json(value: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    let mut length = Length::default();
    serde_json::to_writer(&mut length, value).map_err(failed)?;
    written(length.0, value)
}

/// The JSON in a buffer that begins with this length.
fn written(len: usize, value: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    let mut body = Zeroizing::new(Vec::with_capacity(len));
    serde_json::to_writer(&mut *body, value).map_err(failed)?;
    Ok(body)
}

fn failed(error: serde_json::Error) -> Refusal {
    Refusal::internal(error.to_string())
}

/// A name for the request, as Vault gives one: a random UUID (RFC 9562, section 5.4).
fn request_id() -> Result<String, Refusal> {
    let mut id = [0; 16];
    random::fill(&mut id).map_err(|error| Refusal::internal(error.to_string()))?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    let mut text = base16ct::lower::encode_string(&id);
    for position in [20, 16, 12, 8] {
        text.insert(position, '-');
    }
    Ok(text)
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        let Refusal {
            status,
            errors,
            problem,
        } = refusal;
        match json(&Errors { errors }) {
            Ok(body) => Self {
                status,
                body,
                problem,
            },
            Err(Refusal { problem, .. }) => Self {
                problem,
                ..Self::of(500, Zeroizing::default())
            },
        }
    }
}
