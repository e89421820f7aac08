//! The digest of all records of a ledger. What is added to a record has to be added here, which the compiler asks for.

use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

use super::records::{KeptEntry, KeptLists, KeptRevocation, Rest};
use crate::ledger::audit::Deed;
use crate::ledger::decision::PolicyId;
use crate::ledger::entry::{Issued, NewEntry, Revocation};
use crate::ledger::events;
use crate::ledger::generation::Generation;

/// A digest of values, each with its length before it.
#[derive(Default)]
pub(super) struct Sum(Sha256);

impl Sum {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn time(&mut self, time: UnixTime) {
        self.number(time.as_secs());
    }

    fn list<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(list.len() as u64);
        for one in list {
            each(self, one);
        }
    }

    fn option<T>(&mut self, option: Option<T>, each: impl FnOnce(&mut Self, T)) {
        self.number(option.is_some().into());
        if let Some(one) = option {
            each(self, one);
        }
    }

    pub(super) fn entry(&mut self, kept: &KeptEntry) {
        let KeptEntry { entry, revoked } = kept;
        let NewEntry {
            issued,
            certificate,
        } = entry;
        let Issued {
            serial_number,
            issuer,
            subject,
            names,
            not_before,
            not_after,
            profile,
            key_algorithm,
            key,
            halves,
            by,
            at,
            request,
            policy,
            evidence,
        } = issued;
        self.bytes(b"entry");
        self.bytes(serial_number.as_bytes());
        for text in [issuer, subject, profile, key_algorithm, by] {
            self.bytes(text.as_bytes());
        }
        self.list(names, |sum, name| sum.bytes(name.as_bytes()));
        for time in [not_before, not_after, at] {
            self.time(*time);
        }
        self.bytes(key.as_bytes());
        self.list(halves, |sum, half| sum.bytes(half.as_bytes()));
        self.option(request.as_ref(), |sum, request| {
            sum.bytes(request.as_bytes())
        });
        self.option(policy.as_ref(), |sum, policy| {
            let PolicyId { digest, reader } = policy;
            sum.bytes(digest);
            sum.bytes(reader.as_bytes());
        });
        self.option(evidence.as_ref(), |sum, evidence| {
            sum.bytes(evidence.as_str().as_bytes());
        });
        self.bytes(certificate);
        self.option(revoked.as_ref(), |sum, revoked| {
            let KeptRevocation {
                revocation,
                last_list,
            } = revoked;
            let Revocation { at, reason, by } = revocation;
            sum.time(*at);
            sum.number(*reason as u64);
            sum.bytes(by.as_bytes());
            sum.number(*last_list);
        });
    }

    pub(super) fn rest(&mut self, rest: &Rest) {
        let Rest {
            lists,
            generations,
            clock,
        } = rest;
        self.bytes(b"rest");
        self.list(lists, |sum, lists| {
            let KeptLists {
                issuer,
                begun,
                written,
                written_at,
            } = lists;
            sum.bytes(issuer.as_bytes());
            sum.number(*begun);
            sum.number(*written);
            sum.time(*written_at);
        });
        self.list(generations, |sum, generation| {
            let Generation {
                name,
                chain,
                stage,
                since,
                by,
            } = generation;
            sum.bytes(name.as_bytes());
            sum.list(chain, |sum, certificate| sum.bytes(certificate));
            sum.bytes(stage.name().as_bytes());
            sum.time(*since);
            sum.bytes(by.as_bytes());
        });
        self.option(*clock, Self::time);
    }

    pub(super) fn deed(&mut self, deed: &Deed) {
        self.bytes(b"deed");
        self.bytes(&events::encode(deed));
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
