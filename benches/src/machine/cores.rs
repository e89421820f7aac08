//! Cores for servers and clients.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A core for servers, and one for clients.
#[derive(Clone, Copy)]
pub(crate) struct Cores {
    pub(crate) server: Core,
    pub(crate) client: Core,
}

/// A core, by its number.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) struct Core(usize);

impl Cores {
    /// Two cores that this thread may run on; the same one twice if there is only one.
    pub(crate) fn choose() -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let client = cores.next().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            server: Core(cores.next().unwrap_or(client)),
            client: Core(client),
        })
    }

    pub(crate) fn are_apart(self) -> bool {
        self.server != self.client
    }
}

impl Core {
    /// Keeps this thread on the core, and what it starts.
    pub(crate) fn stay(self) -> io::Result<Stay> {
        let before = sched_getaffinity(None)?;
        let mut set = CpuSet::new();
        set.set(self.0);
        sched_setaffinity(None, &set)?;
        Ok(Stay { before })
    }
}

/// While this exists, the thread stays on its core.
pub(crate) struct Stay {
    before: CpuSet,
}

impl Drop for Stay {
    fn drop(&mut self) {
        // The affinity was allowed before; if this fails, the thread only stays on its core.
        let _ = sched_setaffinity(None, &self.before);
    }
}
