//! The access log: a line for each request, with what protected it. It says nothing at length that a client chooses, and
//! the log's formats escape what it does say.

use std::sync::Arc;
use std::time::Instant;

use hyper::Request;
use tracing::info;

use crate::events::ACCESS;
use crate::http::Protection;
use crate::lines::{LineLimit, start};

/// The lines of one connection, which may have so many requests that they would fill the disk.
#[derive(Debug, Default)]
pub(super) struct Lines(LineLimit);

impl Drop for Lines {
    fn drop(&mut self) {
        let left_out = self.0.left_out();
        if left_out > 0 {
            info!(target: ACCESS, parent: None, left_out, "a connection is over whose last lines were left out");
        }
    }
}

/// A line of the access log. It is written when this is dropped, whether the answer was sent or not.
pub(super) struct Line {
    method: String,
    path: String,
    version: hyper::Version,
    began: Instant,
    protection: Arc<Protection>,
    lines: Arc<Lines>,
    /// None if the handler had no answer before the connection was over.
    pub(super) status: Option<u16>,
    /// How many bytes of the answer's body were taken for sending.
    pub(super) bytes: u64,
}

impl Line {
    pub(super) fn begin<B>(
        request: &Request<B>,
        protection: Arc<Protection>,
        lines: Arc<Lines>,
    ) -> Self {
        Self {
            method: start(request.method().as_str()),
            // Without the query, which may have secrets.
            path: start(request.uri().path()),
            version: request.version(),
            began: Instant::now(),
            protection,
            lines,
            status: None,
            bytes: 0,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Some(left_out) = self.lines.0.next_line() else {
            return;
        };
        let Protection {
            summary,
            client_certificate,
            peer,
            ..
        } = &*self.protection;
        let peer = peer.map(|peer| peer.to_string());
        // Without the span of the connection, whose fields are here, too. As `str`, text is escaped in all formats.
        info!(
            target: ACCESS,
            parent: None,
            peer = peer.as_deref().unwrap_or("unix"),
            method = self.method,
            path = self.path,
            version = ?self.version,
            status = self.status,
            bytes = self.bytes,
            microseconds = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            tls = summary.protocol,
            handshake = summary.handshake,
            group = summary.group,
            suite = summary.cipher_suite,
            signature = summary.signature_scheme.as_deref(),
            client = client_certificate.as_deref().map(start),
            left_out = (left_out > 0).then_some(left_out),
            "answered"
        );
    }
}
