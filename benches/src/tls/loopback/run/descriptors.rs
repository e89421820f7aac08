//! Room for sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the number of files and sockets that this process and those that it starts may
/// have open as far as it may; `None` for any number.
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
