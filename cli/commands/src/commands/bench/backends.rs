//! The implementations in pq-core that this CPU can run, and how a benchmark switches between them in one process. It
//! also checks `PQ_CORE_BACKEND`, for every command.

use core::fmt;
use std::env;

use pq_core::arch::{self, lift_limit, limit};
use pq_core::on_each_backend;

use crate::failure::Failure;

/// Instructions of this CPU that the operations are compiled for, which can be chosen.
pub(super) struct Backend {
    pub(super) name: &'static str,
    rank: u8,
    choose: Box<dyn Fn()>,
}

impl Backend {
    fn of<B: arch::Backend>(token: B) -> Self {
        Self {
            name: B::NAME,
            rank: B::RANK,
            choose: Box::new(move || limit(token)),
        }
    }

    /// Makes all operations of this process run on it, until [`choose_best`].
    pub(super) fn choose(&self) {
        (self.choose)();
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The backends of this CPU, the best first.
pub(super) fn all() -> Vec<Backend> {
    let mut all = Vec::new();
    on_each_backend!(token => all.push(Backend::of(token)));
    all.sort_by_key(|backend| core::cmp::Reverse(backend.rank));
    all
}

/// Lets operations run on the best backend again, as in other commands.
pub(super) fn choose_best() {
    lift_limit();
}

/// pq-core's environment variable that chooses a backend for the whole process.
const VARIABLE: &str = "PQ_CORE_BACKEND";

/// Refuses the name of a backend that this CPU lacks, for which pq-core would panic.
pub(crate) fn check_environment() -> Result<(), Failure> {
    let Some(name) = env::var_os(VARIABLE) else {
        return Ok(());
    };
    let known: Vec<&str> = all().iter().map(|backend| backend.name).collect();
    match name.to_str() {
        Some(name) if known.contains(&name) => Ok(()),
        _ => Err(Failure::NoBackend {
            variable: VARIABLE,
            name: name.to_string_lossy().into_owned(),
            known: known.join(", "),
        }),
    }
}
