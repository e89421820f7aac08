//! What the bounds of a signer refuse.

use core::time::Duration;

/// Why a [`BoundedSigner`](super::BoundedSigner) has no signature of its signer. Trying again may help in each case.
///
/// It is within a [`SignError`](pq_x509::keys::SignError): `error.get_ref().downcast_ref()` gives it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignerUnavailable {
    /// [`Bounds::queue`](super::Bounds::queue) signatures wait already.
    #[error(
        "{waiting} signatures wait for the signer already; if it isn't stuck, allow it more threads"
    )]
    QueueFull {
        /// How many.
        waiting: usize,
    },

    /// No thread was free within [`Bounds::timeout`](super::Bounds::timeout).
    #[error("the signer had no time for it within {} ms", after.as_millis())]
    NoThread {
        /// How long it waited.
        after: Duration,
    },

    /// The signer hasn't returned within [`Bounds::timeout`](super::Bounds::timeout), waiting for a thread included.
    #[error("the signer has not answered within {} ms", after.as_millis())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },

    /// The circuit breaker is open.
    #[error(
        "the signer has failed several times in a row and is not asked at the moment; it is tried again in {} ms",
        again_in.as_millis()
    )]
    CircuitOpen {
        /// When it will be tried again; zero if that is under way.
        again_in: Duration,
    },
}
