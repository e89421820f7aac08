//! A mount of a server of Vault's API: what is sent to it, and what comes back.

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::error::RemoteError;
use super::messages::{Envelope, Errors};
use super::transport::{Transport, TransportRequest, TransportResponse};

/// A mount, such as `transit`, and who asks.
pub(super) struct Mount {
    pub(super) transport: Box<dyn Transport>,
    pub(super) path: String,
    pub(super) token: Option<Zeroizing<String>>,
    pub(super) namespace: Option<String>,
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Mount {
    pub(super) fn read(&self, target: &str) -> Result<TransportResponse, RemoteError> {
        self.send("GET", target, &[], true)
    }

    pub(super) fn write(
        &self,
        target: &str,
        body: &impl Serialize,
        repeatable: bool,
    ) -> Result<TransportResponse, RemoteError> {
        // What is secret is short, and has room without a copy.
        let mut bytes = Zeroizing::new(Vec::with_capacity(8 * 1024));
        serde_json::to_writer(&mut *bytes, body)
            .map_err(|_| RemoteError::Answer("the request is no JSON"))?;
        self.send("POST", target, &bytes, repeatable)
    }

    fn send(
        &self,
        method: &'static str,
        target: &str,
        body: &[u8],
        repeatable: bool,
    ) -> Result<TransportResponse, RemoteError> {
        let response = self.transport.send(&TransportRequest {
            method,
            target: &format!("/v1/{}/{target}", self.path),
            token: self.token.as_deref().map(String::as_str),
            namespace: self.namespace.as_deref(),
            body,
            repeatable,
        })?;
        match response.status {
            200 | 204 => Ok(response),
            status => {
                // A proxy in between refuses in words of its own.
                let errors = serde_json::from_slice::<Errors>(&response.body);
                let errors = errors.map_or_else(
                    |_| vec!["it says nothing in JSON".into()],
                    |errors| {
                        errors
                            .errors
                            .iter()
                            .take(8)
                            .map(|text| plain(text))
                            .collect()
                    },
                );
                Err(RemoteError::Refused { status, errors })
            }
        }
    }
}

/// What was asked for, in a response.
pub(super) fn data<T: DeserializeOwned>(response: &TransportResponse) -> Result<T, RemoteError> {
    let envelope: Result<Envelope<T>, _> = serde_json::from_slice(&response.body);
    let envelope =
        envelope.map_err(|_| RemoteError::Answer("its JSON has not what was asked for"))?;
    Ok(envelope.data)
}

/// The beginning of what a server says, as it can stand in a line.
fn plain(text: &str) -> String {
    const MOST: usize = 500;

    let character = |character: char| match character.is_control() {
        true => ' ',
        false => character,
    };
    text.chars().take(MOST).map(character).collect()
}
