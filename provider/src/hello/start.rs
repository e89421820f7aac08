//! Shortens the lists of peers where they are shown, so that no peer fills the log.

use core::fmt;

/// The start of a list that a peer has sent, for messages and for the log.
///
/// A ClientHello has room for 32,000 code points. Written as words they take twelve times its length.
pub(crate) struct Start<'a, T>(pub(crate) &'a [T]);

/// More than any implementation offers.
const SHOWN: usize = 64;

impl<T: fmt::Debug> fmt::Display for Start<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, rest) = self.0.split_at(self.0.len().min(SHOWN));
        for (index, item) in shown.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{item:?}")?;
        }
        match rest.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Start<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}
