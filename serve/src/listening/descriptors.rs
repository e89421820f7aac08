//! How many descriptors the process may have: each connection takes one.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
#[cfg(unix)]
use tracing::{debug, warn};

use crate::admission::Limits;

/// What a process has besides connections: sockets to listen on, the port for metrics, files.
#[cfg(unix)]
const BESIDES: u64 = 64;

/// Raises the soft limit of descriptors of this process (RLIMIT_NOFILE), which is often 1024, to what `limits` may take of
/// them, as far as the hard limit allows it. Elsewhere than on Unix it does nothing.
///
/// Call it at the start of a program. The limit is for the whole process, and the processes that it starts.
pub fn allow_descriptors(limits: &Limits) {
    #[cfg(unix)]
    allow(needed(limits));
    #[cfg(not(unix))]
    let _ = limits;
}

/// Warns if the process may not have as many descriptors as `limits` may take: it would accept nobody for a while, and open no
/// files.
pub(super) fn check_descriptors(limits: &Limits) {
    #[cfg(unix)]
    if let Some(allowed) = getrlimit(Resource::Nofile).current
        && allowed < needed(limits)
    {
        warn!(
            allowed,
            needed = needed(limits),
            "the limits allow more connections than the process may have descriptors; raise RLIMIT_NOFILE (LimitNOFILE= \
             of a systemd unit), or lower the number of connections"
        );
    }
    #[cfg(not(unix))]
    let _ = limits;
}

#[cfg(unix)]
fn needed(limits: &Limits) -> u64 {
    (limits.connections as u64).saturating_add(BESIDES)
}

#[cfg(unix)]
fn allow(needed: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let raised = Rlimit {
        current: Some(maximum.map_or(needed, |maximum| needed.min(maximum))),
        maximum,
    };
    // Whether it is enough is said when the server listens.
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        debug!(%error, "the limit of descriptors stays");
    }
}
