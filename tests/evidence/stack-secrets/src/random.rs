//! A source of randomness that records what it gave.

use std::sync::Mutex;

use rustls::crypto::{GetRandomFailed, SecureRandom};

use crate::operation::fresh;

/// The randomness of the providers under test.
pub(crate) static RANDOM: Prepared = Prepared(Mutex::new(Draws {
    bytes: Vec::new(),
    drawn: 0,
}));

/// Gives bytes that were prepared before, so that it leaves no copy on the caller's stack.
#[derive(Debug)]
pub(crate) struct Prepared(Mutex<Draws>);

#[derive(Debug)]
struct Draws {
    bytes: Vec<u8>,
    drawn: usize,
}

impl Prepared {
    /// Makes new bytes.
    pub(crate) fn prepare(&self) {
        let mut draws = self.0.lock().expect("nothing panics here");
        draws.bytes = fresh::<4096>().to_vec();
        draws.drawn = 0;
    }

    /// The bytes drawn since [`prepare`](Self::prepare).
    pub(crate) fn drawn(&self) -> Vec<u8> {
        let draws = self.0.lock().expect("nothing panics here");
        draws.bytes[..draws.drawn].to_vec()
    }
}

impl SecureRandom for Prepared {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        let mut draws = self.0.lock().map_err(|_| GetRandomFailed)?;
        let rest = &draws.bytes[draws.drawn..];
        buffer.copy_from_slice(rest.get(..buffer.len()).ok_or(GetRandomFailed)?);
        draws.drawn += buffer.len();
        Ok(())
    }
}
