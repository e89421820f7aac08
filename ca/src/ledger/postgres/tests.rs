//! The ledger in PostgreSQL, held to the suite.

use databases::{PATIENCE, new_schema};

use super::*;
use crate::ledger::suite::{Place, Reopened, hold_to_suite};

/// An empty schema on the server that all tests share.
struct InSchema(PostgresOptions);

impl InSchema {
    fn new() -> Option<Self> {
        let options = PostgresOptions::new(&databases::shared()?.address()).unwrap();
        let options = options.schema(&new_schema()).unwrap();
        // For a machine that is busy.
        Some(Self(options.connect_timeout(PATIENCE).timeout(PATIENCE)))
    }
}

impl Place for InSchema {
    type Ledger = PostgresLedger;

    fn open(&self) -> PostgresLedger {
        match PostgresLedger::create(self.0.clone()) {
            Err(LedgerError::Database(DatabaseError::AlreadyThere(_))) => {
                PostgresLedger::open(self.0.clone())
            }
            created => created,
        }
        .unwrap()
    }
}

hold_to_suite!(if InSchema::new);

/// The same, where each call opens the ledger anew.
mod opened_for_each_call {
    use super::*;

    fn empty() -> Option<Reopened<InSchema>> {
        InSchema::new().map(Reopened::new)
    }
    hold_to_suite!(if empty);
}
