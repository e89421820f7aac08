//! Ledgers by reference, or shared by several authorities, or of a type that is chosen when the program runs.

use alloc::sync::Arc;

use super::Ledger;

/// The methods of [`Ledger`], each as another ledger has it.
macro_rules! forward {
    ($self:ident => $to:expr) => {
        fn record(
            &$self,
            entries: &[$crate::ledger::NewEntry<'_>],
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.record(entries)
        }

        fn record_if(
            &$self,
            entries: &[$crate::ledger::NewEntry<'_>],
            conditions: &[$crate::ledger::Condition<'_>],
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.record_if(entries, conditions)
        }

        fn adopt(
            &$self,
            entries: &[$crate::ledger::AdoptedEntry<'_>],
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.adopt(entries)
        }

        fn entry(
            &$self,
            number: &$crate::ledger::SerialNumber,
        ) -> Result<Option<$crate::ledger::Entry>, $crate::ledger::LedgerError> {
            $to.entry(number)
        }

        fn of_request(
            &$self,
            request: &$crate::ledger::RequestId,
        ) -> Result<Option<$crate::ledger::Entry>, $crate::ledger::LedgerError> {
            $to.of_request(request)
        }

        fn certificate(
            &$self,
            number: &$crate::ledger::SerialNumber,
        ) -> Result<
            Option<pq_x509::pki_types::CertificateDer<'static>>,
            $crate::ledger::LedgerError,
        > {
            $to.certificate(number)
        }

        fn compromised(
            &$self,
            key: &$crate::ledger::KeyHash,
        ) -> Result<Option<$crate::ledger::SerialNumber>, $crate::ledger::LedgerError> {
            $to.compromised(key)
        }

        fn revoke(
            &$self,
            number: &$crate::ledger::SerialNumber,
            revocation: &$crate::ledger::Revocation,
        ) -> Result<$crate::ledger::Revoked, $crate::ledger::LedgerError> {
            $to.revoke(number, revocation)
        }

        fn revoke_if(
            &$self,
            numbers: &[$crate::ledger::SerialNumber],
            revocation: &$crate::ledger::Revocation,
            conditions: &[$crate::ledger::Condition<'_>],
        ) -> Result<Vec<$crate::ledger::Revoked>, $crate::ledger::LedgerError> {
            $to.revoke_if(numbers, revocation, conditions)
        }

        fn reinstate_if(
            &$self,
            number: &$crate::ledger::SerialNumber,
            at: pq_x509::pki_types::UnixTime,
            by: &str,
            conditions: &[$crate::ledger::Condition<'_>],
        ) -> Result<$crate::ledger::Entry, $crate::ledger::LedgerError> {
            $to.reinstate_if(number, at, by, conditions)
        }

        fn reinstate(
            &$self,
            number: &$crate::ledger::SerialNumber,
            at: pq_x509::pki_types::UnixTime,
            by: &str,
        ) -> Result<$crate::ledger::Entry, $crate::ledger::LedgerError> {
            $to.reinstate(number, at, by)
        }

        fn find(
            &$self,
            filter: &$crate::ledger::Filter,
            show: &mut dyn FnMut($crate::ledger::Entry) -> core::ops::ControlFlow<()>,
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.find(filter, show)
        }

        fn numbered_list(
            &$self,
            issuer: &str,
            number: Option<u64>,
            now: pq_x509::pki_types::UnixTime,
            show: &mut dyn FnMut(&$crate::ledger::SerialNumber, &$crate::ledger::Revocation),
        ) -> Result<u64, $crate::ledger::LedgerError> {
            $to.numbered_list(issuer, number, now, show)
        }

        fn check_list(
            &$self,
            issuer: &str,
            number: u64,
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.check_list(issuer, number)
        }

        fn confirm_list(
            &$self,
            issuer: &str,
            number: u64,
            at: pq_x509::pki_types::UnixTime,
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.confirm_list(issuer, number, at)
        }

        fn check_time(
            &$self,
            now: pq_x509::pki_types::UnixTime,
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.check_time(now)
        }

        fn confirm_time(
            &$self,
            now: pq_x509::pki_types::UnixTime,
            by: &str,
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.confirm_time(now, by)
        }

        fn audit(
            &$self,
            show: &mut dyn FnMut($crate::ledger::AuditEvent) -> core::ops::ControlFlow<()>,
        ) -> Result<$crate::ledger::AuditHead, $crate::ledger::LedgerError> {
            $to.audit(show)
        }

        fn verify(
            &$self,
            kept: Option<&$crate::ledger::AuditHead>,
        ) -> Result<$crate::ledger::AuditHead, $crate::ledger::LedgerError> {
            $to.verify(kept)
        }

        fn generations(
            &$self,
        ) -> Result<Vec<$crate::ledger::Generation>, $crate::ledger::LedgerError> {
            $to.generations()
        }

        fn change_generations(
            &$self,
            before: &[$crate::ledger::Generation],
            after: &[$crate::ledger::Generation],
            entries: &[$crate::ledger::NewEntry<'_>],
            conditions: &[$crate::ledger::Condition<'_>],
        ) -> Result<(), $crate::ledger::LedgerError> {
            $to.change_generations(before, after, entries, conditions)
        }
    };
}
#[cfg(any(test, feature = "suite"))]
pub(in crate::ledger) use forward;

impl<L: Ledger + ?Sized> Ledger for &L {
    forward!(self => (**self));
}

impl<L: Ledger + ?Sized> Ledger for Arc<L> {
    forward!(self => (**self));
}

impl<L: Ledger + ?Sized> Ledger for Box<L> {
    forward!(self => (**self));
}
