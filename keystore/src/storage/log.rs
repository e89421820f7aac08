//! The log, as a storage sees it.

/// Where the log ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LogHead {
    /// The number of the last entry, or 0 if there is none.
    pub sequence: u64,
    /// The hash of the last entry, or zeros if there is none.
    pub hash: [u8; 32],
}

impl LogHead {
    /// The head of a log without entries.
    pub const EMPTY: Self = Self {
        sequence: 0,
        hash: [0; 32],
    };
}

/// An entry of the log. The first one has number 1.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogEntry {
    /// Its number, one more than that of the entry before it.
    pub sequence: u64,
    /// Its hash, which the store computes and a storage keeps as it is.
    pub hash: [u8; 32],
    /// What it says.
    pub value: Vec<u8>,
}

/// Entries for the end of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Append {
    /// Where the log has to end before.
    pub after: LogHead,
    /// The entries, in sequence, the first of which follows `after`.
    pub entries: Vec<LogEntry>,
}

impl Append {
    /// Where the log ends with these entries.
    pub fn head(&self) -> LogHead {
        match self.entries.last() {
            Some(entry) => LogHead {
                sequence: entry.sequence,
                hash: entry.hash,
            },
            None => self.after,
        }
    }
}
