//! The limit of open sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of open files and sockets of this process and its children as far as possible.
///
/// Returns the limit; `None` if there is none.
pub(super) fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}
