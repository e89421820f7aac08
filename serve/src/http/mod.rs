//! What answers requests: a handler of the program's own, or the page that shows what was negotiated.

// This room uses `summary`.

mod answer;
mod handler;
mod media_type;
mod protection;
mod shares;
mod unread;
mod whole;
mod zeros;

pub use answer::Page;
pub(crate) use handler::{AnyBody, AnyHandler, TakenWithin};
pub use handler::{BoxError, Handler};
pub use media_type::accepts;
pub use protection::Protection;
pub(crate) use unread::{Unread, leave_unread};
pub use whole::{Client, WholeRequests};
