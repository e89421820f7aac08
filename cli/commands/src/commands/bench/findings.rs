//! The results of a benchmark, as the JSON report has them and the page shows them, with OpenSSL's times as multiples
//! of this program's.

use serde::Serialize;

use super::documents::Documents;
use super::issuing::Issuing;
use super::machine::Machine;
use super::measure::Timing;
use super::openssl::Openssl;
use super::rows::{Operation, Row};

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    /// This program's version.
    pub(super) version: &'static str,
    /// When.
    pub(super) measured: String,
    pub(super) machine: Machine,
    /// If it was asked for.
    pub(super) openssl: Option<Openssl>,
    pub(super) operations: Vec<Measured>,
    /// If it was asked for.
    pub(super) issuing: Option<Issuing>,
    /// If it was asked for.
    pub(super) documents: Option<Documents>,
}

/// An operation.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    #[serde(skip)]
    pub(super) row: Row,
    algorithm: &'static str,
    operation: Operation,
    /// On each backend, the best first.
    pub(super) backends: Vec<OnBackend>,
    pub(super) openssl: Option<Beside>,
}

#[derive(Debug, Serialize)]
pub(super) struct OnBackend {
    pub(super) name: &'static str,
    #[serde(flatten)]
    pub(super) timing: Timing,
}

/// What OpenSSL takes.
#[derive(Debug, Serialize)]
pub(super) struct Beside {
    /// Nanoseconds.
    pub(super) mean: f64,
    /// That mean divided by the mean of the best backend.
    pub(super) times: f64,
}

impl Measured {
    pub(super) fn new(
        row: Row,
        timings: Vec<(&'static str, Timing)>,
        openssl: &[(Operation, f64)],
    ) -> Self {
        let beside = openssl
            .iter()
            .find(|(operation, _)| *operation == row.operation);
        let best = timings.first().map(|(_, timing)| timing.mean);
        let beside = beside.zip(best).map(|((_, mean), best)| Beside {
            mean: *mean,
            times: mean / best,
        });
        Self {
            row,
            algorithm: row.algorithm.name(),
            operation: row.operation,
            backends: timings
                .into_iter()
                .map(|(name, timing)| OnBackend { name, timing })
                .collect(),
            openssl: beside,
        }
    }
}

impl Findings {
    /// Whether there is anything that OpenSSL measured.
    pub(super) fn has_speed(&self) -> bool {
        self.operations.iter().any(|one| one.openssl.is_some())
    }
}
