//! Finds rustls's own error in those of streams and libraries around it.

use core::error::Error;
use std::io;

/// What ended a handshake, found under the errors that wrap it.
pub(crate) enum Cause<'a> {
    Tls(&'a rustls::Error),
    /// The messages of the peer don't fit rustls's buffer, for which rustls has no error of its
    /// own.
    BufferFull,
    /// A cause outside of TLS.
    Elsewhere,
}

impl<'a> Cause<'a> {
    pub(crate) fn of(error: &'a (dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(cause) = error.downcast_ref() {
                return Self::Tls(cause);
            }
            // The `source` of an I/O error is its content's source, not its content.
            let content = error
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref);
            next = match content {
                Some(content) if content.to_string() == "message buffer full" => {
                    return Self::BufferFull;
                }
                Some(content) => Some(content),
                None => error.source(),
            };
        }
        Self::Elsewhere
    }
}
