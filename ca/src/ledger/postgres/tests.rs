//! The ledger in PostgreSQL: held to the suite, through a pooler, too; and what becomes of it while servers and connections
//! end.

mod audited;
mod crashes;
mod indexed;
mod lost_answers;
mod opening;
mod together;

use databases::{PATIENCE, Pooler, Process, new_schema};

use super::*;
use crate::ledger::suite::{Place, Reopened, hold_to_suite};

/// Options that wait for a server that starts, and for a machine that is busy.
fn patient(address: &str) -> PostgresOptions {
    let options = PostgresOptions::new(address).unwrap();
    options.connect_timeout(PATIENCE).timeout(PATIENCE)
}

/// Options for an empty schema on the server that all tests share.
fn options() -> Option<PostgresOptions> {
    let shared = databases::shared()?;
    Some(patient(&shared.address()).schema(&new_schema()).unwrap())
}

/// The ledger, which is made if there is none.
fn open(options: &PostgresOptions) -> PostgresLedger {
    match PostgresLedger::create(options.clone()) {
        Err(LedgerError::Database(DatabaseError::AlreadyThere(_))) => {
            PostgresLedger::open(options.clone())
        }
        created => created,
    }
    .unwrap()
}

/// An empty schema.
struct InSchema(PostgresOptions);

impl InSchema {
    fn new() -> Option<Self> {
        options().map(Self)
    }
}

impl Place for InSchema {
    type Ledger = PostgresLedger;

    fn open(&self) -> PostgresLedger {
        open(&self.0)
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

/// The same, through PgBouncer in transaction mode.
#[test]
fn through_a_pooler() {
    struct Pooled(PostgresOptions);

    impl Place for Pooled {
        type Ledger = PostgresLedger;

        fn open(&self) -> PostgresLedger {
            open(&self.0)
        }
    }

    let Some(shared) = databases::shared() else {
        return;
    };
    let Some(pooler) = Pooler::new(shared.folder()) else {
        return;
    };
    let _process: Process = pooler.start();
    let address = pooler.address();
    crate::ledger::suite::check(|| Pooled(patient(&address).schema(&new_schema()).unwrap()));
}
