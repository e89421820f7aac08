//! What a shutdown did.

/// How a shutdown went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Drained {
    /// Connections that were cut off when the time of grace was over.
    pub cut_off: usize,
}
