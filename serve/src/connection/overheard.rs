//! Reads the ClientHello on its way to rustls, for what rustls doesn't tell of it, such as the groups that the client
//! has sent key shares for.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls_pq::{Offer, OfferReader};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::sockets::Socket;

/// A connection whose ClientHello is read on its way to rustls, which doesn't tell all that it says.
#[derive(Debug)]
pub(super) struct Overheard {
    socket: Socket,
    /// None once there is an offer, or once what arrives can't be a ClientHello, which rustls will refuse.
    reader: Option<OfferReader>,
    offer: Option<Offer>,
}

impl Overheard {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            socket,
            reader: Some(OfferReader::new()),
            offer: None,
        }
    }

    /// The connection, and what the client offers, if its ClientHello was complete.
    pub(super) fn into_parts(self) -> (Socket, Option<Offer>) {
        (self.socket, self.offer)
    }

    fn hear(&mut self, received: &[u8]) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        match reader.read(received) {
            Ok(None) => {}
            Ok(offer) => {
                self.offer = offer;
                self.reader = None;
            }
            Err(_) => self.reader = None,
        }
    }
}

impl AsyncRead for Overheard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(context, buffer))?;
        self.hear(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Overheard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    // So that rustls can send an alert with what is still to be sent before it.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
