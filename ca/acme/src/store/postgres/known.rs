//! Accounts as they were read before. Each request looks whether its account is still the same, but does not read the key
//! again, which takes time.

use alloc::sync::Arc;
use std::collections::HashMap;

use crate::store::records::AccountRecord;

/// How many accounts are kept in memory.
const MOST: usize = 2048;

/// An account, and by what it is known to be the same.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) version: i64,
    pub(super) marks: Vec<u8>,
    pub(super) account: Arc<AccountRecord>,
}

#[derive(Default)]
pub(super) struct KnownAccounts(HashMap<String, Known>);

impl KnownAccounts {
    pub(super) fn get(&self, id: &str) -> Option<Known> {
        self.0.get(id).cloned()
    }

    pub(super) fn put(&mut self, id: &str, known: Known) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(id.into(), known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::suite;

    #[test]
    fn as_many_are_in_memory_as_may_be() {
        let account = Arc::new(suite::account("account", 1));
        let mut all = KnownAccounts::default();
        for number in 0..3 * MOST {
            let known = Known {
                version: 0,
                marks: Vec::new(),
                account: Arc::clone(&account),
            };
            all.put(&number.to_string(), known);
            assert!(all.get(&number.to_string()).is_some());
            assert!(all.0.len() <= MOST);
        }
    }
}
