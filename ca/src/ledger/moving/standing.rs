//! Whether a ledger is in force: the marks of a move.

use core::fmt;

use pq_keys::random;

use crate::ledger::error::LedgerError;
use crate::ledger::serial_number::NoRandomness;

/// A number that a move has, or an attempt of it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct MoveId([u8; 16]);

impl MoveId {
    /// A new one.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 16];
        random::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The one of these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for MoveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoveId({:032x})", u128::from_be_bytes(self.0))
    }
}

/// A move that a ledger takes part in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Move {
    /// Where the other ledger is, for people to read.
    pub other: String,
    /// Which target it is.
    pub target: MoveId,
    /// Which attempt, of which one alone goes on.
    pub attempt: MoveId,
}

impl Move {
    pub(super) fn new(other: &str, target: MoveId, attempt: MoveId) -> Self {
        Self {
            other: other.into(),
            target,
            attempt,
        }
    }
}

/// Whether a ledger is in force.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It answers, and takes changes.
    InForce {
        /// The move by which it came here, if it did.
        came_by: Option<MoveId>,
    },
    /// It is moved to another place, and answers meanwhile.
    Leaving(Move),
    /// It was moved to another place.
    Left(Move),
    /// It is filled from another place, which is the one in force.
    Arriving(Move),
}

/// What a ledger is wanted for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::ledger) enum Use {
    Reading,
    Changing,
    /// By a move itself.
    Moving,
}

impl Standing {
    /// Checks that a ledger may be used in this way.
    pub(in crate::ledger) fn check(
        &self,
        wanted: Use,
        ledger: impl FnOnce() -> String,
    ) -> Result<(), LedgerError> {
        match (self, wanted) {
            (_, Use::Moving) | (Self::InForce { .. }, _) | (Self::Leaving(_), Use::Reading) => {
                Ok(())
            }
            _ => Err(self.refusal(ledger())),
        }
    }

    /// Why a ledger can't be used, or a move with it can't be begun.
    pub(super) fn refusal(&self, ledger: String) -> LedgerError {
        match self {
            Self::InForce { .. } => LedgerError::OtherMove(ledger),
            Self::Leaving(to) => LedgerError::Leaving {
                ledger,
                to: to.other.clone(),
            },
            Self::Left(to) => LedgerError::Left {
                ledger,
                to: to.other.clone(),
            },
            Self::Arriving(from) => LedgerError::Arriving {
                ledger,
                from: from.other.clone(),
            },
        }
    }
}
