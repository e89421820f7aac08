//! A ledger around another one, which answers most calls.

/// The methods of `Ledger` but `certificate` and `record_if`, by the ledger in this field; with `,` behind it also without
/// `change_generations`.
macro_rules! forwarded {
    ($ledger:tt) => {
        $crate::forwarded::forwarded!($ledger,);

        fn change_generations(
            &self,
            before: &[Generation],
            after: &[Generation],
            entries: &[NewEntry<'_>],
            conditions: &[Condition<'_>],
        ) -> Result<(), LedgerError> {
            let ledger = &self.$ledger;
            ledger.change_generations(before, after, entries, conditions)
        }
    };
    ($ledger:tt,) => {
        fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
            self.$ledger.entry(number)
        }

        fn of_request(
            &self,
            request: &pq_ca::ledger::RequestId,
        ) -> Result<Option<Entry>, LedgerError> {
            self.$ledger.of_request(request)
        }

        fn audit(
            &self,
            show: &mut dyn FnMut(pq_ca::ledger::AuditEvent) -> ControlFlow<()>,
        ) -> Result<pq_ca::ledger::AuditHead, LedgerError> {
            self.$ledger.audit(show)
        }

        fn adopt(&self, entries: &[AdoptedEntry<'_>]) -> Result<(), LedgerError> {
            self.$ledger.adopt(entries)
        }

        fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError> {
            self.$ledger.compromised(key)
        }

        fn revoke_if(
            &self,
            numbers: &[SerialNumber],
            revocation: &Revocation,
            conditions: &[Condition<'_>],
        ) -> Result<Vec<Revoked>, LedgerError> {
            self.$ledger.revoke_if(numbers, revocation, conditions)
        }

        fn reinstate_if(
            &self,
            number: &SerialNumber,
            at: UnixTime,
            by: &str,
            conditions: &[Condition<'_>],
        ) -> Result<Entry, LedgerError> {
            self.$ledger.reinstate_if(number, at, by, conditions)
        }

        fn find(
            &self,
            filter: &Filter,
            show: &mut dyn FnMut(Entry) -> ControlFlow<()>,
        ) -> Result<(), LedgerError> {
            self.$ledger.find(filter, show)
        }

        fn numbered_list(
            &self,
            issuer: &str,
            number: Option<u64>,
            now: UnixTime,
            show: &mut dyn FnMut(&SerialNumber, &Revocation),
        ) -> Result<u64, LedgerError> {
            self.$ledger.numbered_list(issuer, number, now, show)
        }

        fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError> {
            self.$ledger.check_list(issuer, number)
        }

        fn confirm_list(&self, issuer: &str, number: u64, at: UnixTime) -> Result<(), LedgerError> {
            self.$ledger.confirm_list(issuer, number, at)
        }

        fn check_time(&self, now: UnixTime) -> Result<(), LedgerError> {
            self.$ledger.check_time(now)
        }

        fn confirm_time(&self, now: UnixTime, by: &str) -> Result<(), LedgerError> {
            self.$ledger.confirm_time(now, by)
        }

        fn generations(&self) -> Result<Vec<Generation>, LedgerError> {
            self.$ledger.generations()
        }
    };
}

pub(crate) use forwarded;
