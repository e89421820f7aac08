//! The journal as events: each record is one, and its digests are those of the journal.

use core::ops::ControlFlow;

use pq_x509::pki_types::UnixTime;

use super::LocalLedger;
use super::journal::Event;
use super::row::{List, Row};
use crate::ledger::audit::{AuditEvent, AuditHead, AuditedCertificate, Deed};
use crate::ledger::error::LedgerError;

impl LocalLedger {
    /// Reads the journal some records at a time. Others change the ledger in between, and it is read to where it ends then.
    pub(super) fn show_events(
        &self,
        show: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>,
    ) -> Result<AuditHead, LedgerError> {
        let mut reading = None;
        let mut head = AuditHead {
            number: 0,
            digest: [0; 32],
        };
        loop {
            let page = self.turn(|_, _| {
                let journal = match &mut reading {
                    Some(journal) => journal,
                    None => {
                        let journal = self.open_journal()?;
                        head.digest = journal.end().digest;
                        reading.insert(journal)
                    }
                };
                journal.read_head()?;
                journal.check()?;
                let mut page = Vec::new();
                while page.len() < PAGE
                    && let Some(event) = journal.next()?
                {
                    page.push((event, journal.end().digest));
                }
                Ok(page)
            })?;
            if page.is_empty() {
                return Ok(head);
            }
            for (event, digest) in page {
                let before = head;
                head = AuditHead {
                    number: before.number.saturating_add(1),
                    digest,
                };
                let deed = deed(event);
                if show(AuditEvent { before, head, deed }).is_break() {
                    return Ok(head);
                }
            }
        }
    }
}

pub(super) fn deed(event: Event) -> Deed {
    let at = |list: &List| UnixTime::since_unix_epoch(core::time::Duration::from_secs(list.at));
    match event {
        Event::Issued(rows) => Deed::Issued(certificates(rows)),
        Event::Revoked(revoked) => Deed::Revoked(revoked),
        Event::Adopted(rows, revoked) => Deed::Adopted(certificates(rows), revoked),
        Event::Reinstated { number, at, by } => Deed::Reinstated { number, at, by },
        Event::Listed { issuer, list } => Deed::ListBegun {
            issuer,
            number: list.number,
            at: at(&list),
        },
        Event::Written { issuer, list } => Deed::ListWritten {
            issuer,
            number: list.number,
            at: at(&list),
        },
        Event::Confirmed { at, by } => Deed::TimeConfirmed { at, by },
        Event::Succeeded(rows, generations) => Deed::Succeeded(certificates(rows), generations),
        Event::Carried(rows, kept) => {
            let kept = kept.into_iter();
            let revoked = kept.map(|(number, one)| (one.revocation, vec![number]));
            Deed::Adopted(certificates(rows), revoked.collect())
        }
        Event::CarriedRest(rest) => Deed::Succeeded(Vec::new(), rest.generations),
        Event::CarriedHistory(deeds) => Deed::Carried(deeds),
    }
}

fn certificates(rows: Vec<Row>) -> Vec<AuditedCertificate> {
    let of = |row: Row| AuditedCertificate {
        issued: row.entry.issued,
        digest: row.place.digest,
    };
    rows.into_iter().map(of).collect()
}

/// How many records are read in one turn.
const PAGE: usize = 256;
