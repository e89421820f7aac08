//! The time of operations that look something up, by the number of items to look through. It should
//! grow with the number only if the row says so.

mod chains;
mod files;
mod identities;
mod keys;
mod providers;
mod sessions;

use crate::timing::{Passes, Row};

/// The numbers of items, a column each.
pub const SIZES: [usize; 3] = [10, 1_000, 100_000];

/// An operation among many items.
pub struct Growth {
    /// The name of its table after `growth/`.
    name: &'static str,
    /// The operation, for the report.
    pub what: &'static str,
    make: fn(usize) -> Passes<'static>,
}

impl Growth {
    /// All operations, in the order of the report.
    pub const ALL: &[Self] = &[
        Self {
            name: "roots",
            what: "validating a chain of ML-DSA-44, among so many roots",
            make: chains::among_roots,
        },
        Self {
            name: "revoked-certificates",
            what: "the same, with so many revoked certificates on the CA's list",
            make: chains::among_revoked,
        },
        Self {
            name: "revocation-lists",
            what: "the same, with the lists of so many CAs",
            make: chains::among_lists,
        },
        Self {
            name: "first-use-of-a-list",
            what: "the same, with so many on a list that is used for the first time: its signature covers them all",
            make: chains::first_use,
        },
        Self {
            name: "reading-a-list",
            what: "reading a list with so many revoked certificates, from DER to a policy",
            make: chains::reading,
        },
        Self {
            name: "expanded-keys/look-up",
            what: "finding a kept key in `ExpandedKeys`, which has seen so many",
            make: keys::look_up,
        },
        Self {
            name: "expanded-keys/insertion",
            what: "keeping one more key in it: its first two uses",
            make: keys::insertion,
        },
        Self {
            name: "identities/choosing",
            what: "choosing the identity for a client, among so many with a name each",
            make: identities::choosing,
        },
        Self {
            name: "identities/building",
            what: "building a set of so many existing identities: linear",
            make: identities::building,
        },
        Self {
            name: "identities/replacing",
            what: "replacing one identity in the set that handshakes use",
            make: identities::replacing,
        },
        Self {
            name: "identities/adding",
            what: "adding one to it, and removing it again",
            make: identities::adding,
        },
        Self {
            name: "files/watching",
            what: "checking whether one of so many watched pairs of files has changed, when none has: linear",
            make: files::watching,
        },
        Self {
            name: "files/reading",
            what: "reading all of them again, by `Watcher::reload`: linear",
            make: files::reading,
        },
        Self {
            name: "providers",
            what: "building a provider again, after providers over so many different bases: linear",
            make: providers::building,
        },
        Self {
            name: "sessions",
            what: "keeping a session in `Tickets` and resuming it, among so many kept",
            make: sessions::keeping,
        },
    ];

    /// The name of the operation's table.
    pub fn table(&self) -> String {
        format!("growth/{}", self.name)
    }

    /// The rows of the operation's table, with sizes up to `most`.
    pub fn rows(&self, most: usize) -> Vec<Row<'static>> {
        let sizes = SIZES.into_iter().filter(|size| *size <= most);
        sizes
            .map(|size| Row {
                group: self.table(),
                name: row(size),
                passes: (self.make)(size),
            })
            .collect()
    }
}

/// The name of the row with this number of items.
pub fn row(size: usize) -> String {
    match size {
        0..1_000 => size.to_string(),
        _ => format!("{},{:03}", size / 1_000, size % 1_000),
    }
}
