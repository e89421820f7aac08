//! The end of a server: the signals that ask for it, and how it went.

// This room uses no other.

mod drained;
#[cfg(feature = "signals")]
mod signals;

pub use drained::Drained;
#[cfg(feature = "signals")]
pub use signals::StopSignals;
