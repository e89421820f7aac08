//! The body of an answer of any number of zeros, which never takes more memory than one piece.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// A body of this many zeros. Only one piece of it is in memory.
#[derive(Debug)]
pub struct Zeros(pub(super) u64);

/// Four records of TLS.
static PIECE: [u8; 1 << 16] = [0; 1 << 16];

impl Body for Zeros {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        let length = PIECE
            .len()
            .min(usize::try_from(self.0).unwrap_or(usize::MAX));
        self.0 -= length as u64;
        let piece = Bytes::from_static(&PIECE[..length]);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}
