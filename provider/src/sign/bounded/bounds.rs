//! The bounds that an operator sets, and what can be asked about them.

use core::time::Duration;

/// What a [`BoundedSigner`](super::BoundedSigner) allows its signer.
///
/// All times are measured by a monotonic clock, so that setting the system's clock changes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// How many signatures are under way at a time: as many threads call the signer. By default 4; 0 counts as 1.
    ///
    /// `threads` divided by the time of a signature is the highest rate of full handshakes. Resumed ones need no
    /// signature.
    pub threads: usize,

    /// How many signatures may wait for a thread. By default 64; with 0, none waits.
    ///
    /// If more are wanted, the handshake fails at once, and costs the server nothing but what was computed before. Choose
    /// at most `timeout` times the highest rate: whoever waits behind more fails in any case, later.
    pub queue: usize,

    /// How long a signature may take, waiting included. By default 2 seconds.
    ///
    /// The handshake fails within this time. It should be well below the server's own limit for a handshake, after which
    /// the connection is closed without an alert, and below what clients wait for, often 10 seconds. A signature that
    /// comes later is thrown away.
    pub timeout: Duration,

    /// How many threads are given up at a time because the signer has not returned within `timeout`. By default 4.
    ///
    /// In place of each of them a new thread is started, so that the others need not share what is left; when the signer
    /// returns after all, one of the two ends. If as many are stuck already, their places stay taken, and when these are all,
    /// nothing is signed until a call returns. So there are at most `threads + stuck` threads.
    pub stuck: usize,

    /// After how many failures in a row the circuit breaker opens. By default 5; 0 counts as 1, and with [`u32::MAX`] it
    /// stays closed.
    ///
    /// Errors of the signer count, panics and what took too long, while it was waiting or signing. A full queue doesn't:
    /// it says nothing about the signer.
    pub failures: u32,

    /// How long the circuit breaker stays open. By default 5 seconds.
    ///
    /// Meanwhile handshakes fail at once, so that a dead signer is not asked over and over and threads of the server don't
    /// wait for it. After that the next handshake tries: if it gets its signature, the circuit breaker closes, otherwise it
    /// stays open as long again. The others fail at once until that is known.
    pub pause: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            threads: 4,
            queue: 64,
            timeout: Duration::from_secs(2),
            stuck: 4,
            failures: 5,
            pause: Duration::from_secs(5),
        }
    }
}

/// What a [`BoundedSigner`](super::BoundedSigner) has to do at the moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignerLoad {
    /// How many signatures wait for a thread.
    pub waiting: usize,
    /// How many signatures are under way.
    pub signing: usize,
    /// How many threads were given up and haven't returned.
    pub stuck: usize,
    /// How the circuit breaker stands.
    pub circuit: Circuit,
}

/// How the circuit breaker of a [`BoundedSigner`](super::BoundedSigner) stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Circuit {
    /// The signer is asked.
    Closed,
    /// The signer has failed too often, and is not asked.
    Open,
    /// It has been open for long enough: the signer is asked for one signature.
    HalfOpen,
}
