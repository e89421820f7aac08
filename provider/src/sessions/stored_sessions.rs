//! The server's memory for sessions that are too large for a ticket, with a limit in bytes.

use alloc::collections::BTreeMap;
use std::collections::HashMap;

use zeroize::Zeroizing;

/// Sessions that stay in memory, each under a ticket that can be used once. The oldest sessions make
/// room for new ones.
pub(crate) struct StoredSessions {
    /// How many bytes all sessions may have together.
    capacity: usize,
    /// How many bytes they have together.
    used: usize,
    sessions: HashMap<Ticket, Stored>,
    /// The tickets of all sessions, the oldest first.
    by_age: BTreeMap<u64, Ticket>,
    /// How many sessions were ever stored.
    count: u64,
}

/// A random number.
pub(crate) type Ticket = [u8; 32];

struct Stored {
    number: u64,
    session: Zeroizing<Vec<u8>>,
}

impl StoredSessions {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            used: 0,
            sessions: HashMap::new(),
            by_age: BTreeMap::new(),
            count: 0,
        }
    }

    /// Stores a session. `false` if it is larger than the capacity.
    pub(crate) fn put(&mut self, ticket: Ticket, session: Zeroizing<Vec<u8>>) -> bool {
        if session.len() > self.capacity {
            return false;
        }
        // Every ticket stands for one session, even if the source of randomness repeats itself.
        self.take(&ticket);
        while self.capacity - self.used < session.len()
            && let Some((_, oldest)) = self.by_age.first_key_value()
        {
            let oldest = *oldest;
            self.take(&oldest);
        }
        self.used += session.len();
        let number = self.count;
        self.count += 1;
        self.by_age.insert(number, ticket);
        self.sessions.insert(ticket, Stored { number, session });
        true
    }

    pub(crate) fn take(&mut self, ticket: &Ticket) -> Option<Zeroizing<Vec<u8>>> {
        let Stored { number, session } = self.sessions.remove(ticket)?;
        self.by_age.remove(&number);
        self.used -= session.len();
        Some(session)
    }
}
