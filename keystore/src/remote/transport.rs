//! What carries requests and responses.

use core::fmt;

use zeroize::Zeroizing;

use super::error::TransportError;

/// A request that is to be carried.
#[derive(Clone, Copy)]
pub struct TransportRequest<'a> {
    /// The method: `GET` or `POST`.
    pub method: &'static str,
    /// The path and the query.
    pub target: &'a str,
    /// What goes into `X-Vault-Token`, if anything.
    pub token: Option<&'a str>,
    /// What goes into `X-Vault-Namespace`, if anything.
    pub namespace: Option<&'a str>,
    /// The body, JSON; empty with `GET`.
    pub body: &'a [u8],
    /// Whether it may arrive twice: signing may, making a new version may not.
    pub repeatable: bool,
}

impl fmt::Debug for TransportRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportRequest")
            .field("method", &self.method)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// What came back.
pub struct TransportResponse {
    /// The status of HTTP.
    pub status: u16,
    /// The body. It is wiped when it is dropped.
    pub body: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for TransportResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportResponse")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Carries requests to a server, and its responses back. It bounds how long that takes, and how long a response is.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for its response.
    ///
    /// # Errors
    ///
    /// If there is none; whether the request arrived, [`TransportError`] says as far as it is known.
    fn send(&self, request: &TransportRequest<'_>) -> Result<TransportResponse, TransportError>;
}
