// This room uses no other.

//! The end of a server: the signals that ask for it, and how it went.

mod drained;
#[cfg(feature = "signals")]
mod signals;

pub use drained::Drained;
#[cfg(feature = "signals")]
pub use signals::StopSignals;
