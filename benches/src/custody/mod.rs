//! Keys in a store: what it takes over the same operations without it, alone, in two threads, and behind its network
//! door; and what others sign with.
//!
//! Uses [`timing`](crate::timing), the inputs of [`schemes`](crate::schemes), certificates and providers of
//! [`tls`](crate::tls), and the room `machine`.

#[cfg(target_os = "linux")]
mod door;
mod fixture;
mod local;
mod others;
mod threads;

use core::error::Error;

use crate::timing::results::Timing;
use crate::timing::{Effort, Row};

#[cfg(target_os = "linux")]
pub use self::door::as_pqtls;
pub use self::others::missing;

/// A table, of keys of ML-DSA-65.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Custody {
    /// One signature after the other, in one thread.
    Signing,
    /// One verification after the other, with the key expanded.
    Verification,
    /// Verifications, 32 in a call.
    Batches,
    /// Signatures in one thread and in two, by the clock.
    Threads,
    /// Signatures through the network door, by the clock, on one core each side.
    #[cfg(target_os = "linux")]
    Door,
}

impl Custody {
    /// All tables.
    pub const ALL: &[Self] = &[
        Self::Signing,
        Self::Verification,
        Self::Batches,
        Self::Threads,
        #[cfg(target_os = "linux")]
        Self::Door,
    ];

    /// The name of the table.
    pub fn table(self) -> String {
        let what = match self {
            Self::Signing => "signing",
            Self::Verification => "verification",
            Self::Batches => "verification-in-batches",
            Self::Threads => "threads",
            #[cfg(target_os = "linux")]
            Self::Door => "door",
        };
        format!("keystore/{what}")
    }

    /// The rows of the table. One operation is one signature.
    ///
    /// # Errors
    ///
    /// If a store can't be made, or a server doesn't start.
    pub fn rows(self) -> Result<Vec<Row<'static>>, Box<dyn Error>> {
        let named = match self {
            Self::Signing => local::signing()?,
            Self::Verification => local::verification()?,
            Self::Batches => local::batches()?,
            Self::Threads => threads::rows()?,
            #[cfg(target_os = "linux")]
            Self::Door => door::rows()?,
        };
        let rows = named.into_iter().map(|(name, passes)| Row {
            group: self.table(),
            name: name.to_owned(),
            passes,
        });
        Ok(rows.collect())
    }

    /// How much is measured where others take this much: the number of attempts of a signature is random here, so that a
    /// sample needs a thousand of them.
    pub fn effort(self, others: Effort) -> Effort {
        match self {
            Self::Verification | Self::Batches => others,
            _ => Effort {
                sample: others.sample * 10,
                row: others.row * 6,
                ..others
            },
        }
    }

    /// What is measured in one go, once: what others say of themselves, and how long a signature takes under load.
    ///
    /// # Errors
    ///
    /// If a server doesn't start.
    pub fn reported(self, table: &[Timing]) -> Result<Vec<Timing>, Box<dyn Error>> {
        match self {
            Self::Signing => Ok(others::signing()),
            #[cfg(target_os = "linux")]
            Self::Door => door::latency(table),
            _ => Ok(Vec::new()),
        }
    }
}
