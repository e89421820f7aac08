//! What operations take that look something up, by how many there are to look through: none is to
//! grow with them but where its row says so.

mod chains;
mod files;
mod identities;
mod keys;
mod providers;
mod sessions;

use crate::timing::{Passes, Row};

/// How many there are, a column each.
pub const SIZES: [usize; 3] = [10, 1_000, 100_000];

/// An operation among many of something.
pub struct Growth {
    /// The name of its table behind `growth/`.
    name: &'static str,
    /// The operation, for the report.
    pub what: &'static str,
    make: fn(usize) -> Passes<'static>,
}

impl Growth {
    /// All of them, in the order of the report. A further one is a further line.
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
            what: "the same, with so many on a list that is used for the first time: its signature is over all of it",
            make: chains::first_use,
        },
        Self {
            name: "reading-a-list",
            what: "reading a list with so many on it, from DER to a policy",
            make: chains::reading,
        },
        Self {
            name: "expanded-keys/look-up",
            what: "finding a kept key in `ExpandedKeys`, after so many were seen",
            make: keys::look_up,
        },
        Self {
            name: "expanded-keys/insertion",
            what: "keeping a further key in it: its first two uses",
            make: keys::insertion,
        },
        Self {
            name: "identities/choosing",
            what: "choosing the identity for a client, among so many with a name each",
            make: identities::choosing,
        },
        Self {
            name: "identities/building",
            what: "building the set of so many identities that are there: linear",
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
            what: "looking whether one of so many watched pairs of files has changed, where none has: linear",
            make: files::watching,
        },
        Self {
            name: "files/reading",
            what: "reading all of them again, by `Watcher::reload`: linear",
            make: files::reading,
        },
        Self {
            name: "providers",
            what: "building a provider again, after those over so many different bases: linear",
            make: providers::building,
        },
        Self {
            name: "sessions",
            what: "keeping a session in `Tickets` and resuming it, among so many kept",
            make: sessions::keeping,
        },
    ];

    /// The name of its table.
    pub fn table(&self) -> String {
        format!("growth/{}", self.name)
    }

    /// The rows of its table, of the sizes up to `most`.
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

/// The name of the row with so many.
pub fn row(size: usize) -> String {
    match size {
        0..1_000 => size.to_string(),
        _ => format!("{},{:03}", size / 1_000, size % 1_000),
    }
}
