//! Counts the bytes between TLS and TCP, so that the report can say how large a handshake was.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that counts the bytes that pass through it.
#[derive(Debug)]
pub struct Counted<S> {
    stream: S,
    counter: Arc<Counter>,
}

impl<S> Counted<S> {
    /// Wraps a stream; the counter can be read while the stream is in use elsewhere.
    pub fn new(stream: S) -> (Self, Arc<Counter>) {
        let counter = Arc::new(Counter::default());
        let counted = Self {
            stream,
            counter: counter.clone(),
        };
        (counted, counter)
    }
}

/// The bytes so far.
#[derive(Debug, Default)]
pub struct Counter {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Counter {
    /// How many there are by now.
    pub fn read(&self) -> Bytes {
        Bytes {
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
        }
    }

    fn count_sent(&self, polled: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(written)) = polled {
            self.sent.fetch_add(*written as u64, Ordering::Relaxed);
        }
    }
}

/// A number of bytes each way.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Bytes {
    /// To the peer.
    pub sent: u64,
    /// From the peer.
    pub received: u64,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = buf.filled().len() - before;
        self.counter
            .received
            .fetch_add(read as u64, Ordering::Relaxed);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.counter.count_sent(&polled);
        polled
    }

    // rustls writes an alert with what is still to be sent before it, and tries once.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.counter.count_sent(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn counts_both_ways() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let (mut counted, counter) = Counted::new(ours);

        let (wrote, heard) = tokio::join!(counted.write_all(b"to them"), async {
            let mut heard = [0; 7];
            theirs.read_exact(&mut heard).await.map(|_| heard)
        });
        wrote.unwrap();
        assert_eq!(&heard.unwrap(), b"to them");
        assert_eq!(
            counter.read(),
            Bytes {
                sent: 7,
                received: 0
            }
        );

        theirs.write_all(b"us").await.unwrap();
        let mut heard = [0; 2];
        counted.read_exact(&mut heard).await.unwrap();
        assert_eq!(
            counter.read(),
            Bytes {
                sent: 7,
                received: 2
            }
        );
    }
    /// rustls tries once to send an alert, together with what is to be sent before it.
    #[tokio::test]
    async fn several_pieces_are_sent_and_counted_at_once() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let (mut counted, counter) = Counted::new(ours);
        assert!(counted.is_write_vectored());

        let pieces = [IoSlice::new(b"before"), IoSlice::new(b"alert")];
        assert_eq!(counted.write_vectored(&pieces).await.unwrap(), 11);
        assert_eq!(counter.read().sent, 11);
        let mut heard = [0; 11];
        theirs.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"beforealert");
    }
}
