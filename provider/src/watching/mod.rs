//! Files that are looked at again and again, so that a server takes over what has changed: the thread that looks
//! ([`WatchThread`]), what it reads ([`WholeFile`]), and what it makes of a look ([`Tracked`]). Certificates ([`identity`](crate::identity)) are
//! watched so, and so can any other files be that a server reads at its start: lists, keys, settings.
//!
//! Content counts if two looks in a row have found it, since somebody may still be writing; or at once, if somebody who
//! knows it to be complete says so ([`WatchThread::reload`]). What can't be used is refused once, and the content before
//! stays in use. A file that can't have changed isn't read.

mod thread;
mod tracked;
mod traits;
mod whole;

pub use thread::{Reload, StartError, Watch, WatchThread};
pub use tracked::{Seen, Tracked};
pub use traits::FileTraits;
pub use whole::{ReadError, WholeFile};

#[cfg(test)]
pub(crate) use tracked::TICK;
