//! A CA's keys, whatever their types and that of the ledger: what the doors need of each.

// This room uses `ocsp`.

use core::time::Duration;

use pq_ca::authority::{Authority, AuthorityError, Once, Order};
use pq_ca::ledger::{Change, Entry, Ledger, RequestId, SerialNumber};
use pq_ca::policy::Policy;
use pq_x509::certificate::Certificate;
use pq_x509::keys::Signer;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationList, CrlReason};

use crate::ocsp::Answers;

/// One of a CA's keys, with its ledger: an [`Authority`] of any types. Its methods may block.
pub trait CaKey: Answers {
    /// The key's name in the ledger.
    fn name(&self) -> &str;

    /// Makes the key's next revocation list: [`Authority::revocation_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::revocation_list`].
    fn list(&self, now: UnixTime) -> Result<CertificateRevocationList, AuthorityError>;

    /// What may be issued.
    fn policy(&self) -> &Policy;

    /// How long a list is valid.
    fn list_validity(&self) -> Duration;

    /// [`Authority::check_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::check_list`].
    fn check_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError>;

    /// [`Authority::confirm_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::confirm_list`].
    fn confirm_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError>;

    /// Issues a certificate: [`Authority::issue`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::issue`].
    fn issue(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError>;

    /// Issues a certificate for a request, or returns the one that it has: [`Authority::issue_once`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::issue_once`].
    fn issue_once(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Once, AuthorityError>;

    /// The entry of the certificate that was issued for a request, or `None` if none was.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entry_of_request(&self, request: &RequestId) -> Result<Option<Entry>, AuthorityError>;

    /// The certificate that was issued for a request: [`Authority::of_request`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::of_request`].
    fn of_request(&self, request: &RequestId) -> Result<Option<Certificate>, AuthorityError>;

    /// The entry of exactly this certificate, or `None` if the ledger has none: others can make certificates with the same
    /// serial number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entry(&self, certificate: &Certificate) -> Result<Option<Entry>, AuthorityError>;

    /// Revokes exactly this certificate, and says whether that changed anything. `None` if the ledger has no such certificate.
    ///
    /// # Errors
    ///
    /// Those of [`Authority::revoke`].
    fn revoke(
        &self,
        certificate: &Certificate,
        reason: CrlReason,
        by: &str,
        at: UnixTime,
    ) -> Result<Option<bool>, AuthorityError>;

    /// What keeps the key from issuing, as far as can be told without it: the ledger, its certificate, the clock.
    fn problem(&self, now: UnixTime) -> Option<String>;

    /// What keeps the key from signing, found out by a signature.
    fn problem_of_signing(&self) -> Option<String>;
}

impl<S: Signer + 'static, L: Ledger + 'static> CaKey for Authority<S, L> {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn list(&self, now: UnixTime) -> Result<CertificateRevocationList, AuthorityError> {
        self.revocation_list(now, None)
    }

    fn policy(&self) -> &Policy {
        Self::policy(self)
    }

    fn list_validity(&self) -> Duration {
        self.policy().revocation_list_validity()
    }

    fn check_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        Self::check_list(self, list)
    }

    fn confirm_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        Self::confirm_list(self, list)
    }

    fn issue(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError> {
        Self::issue(self, order, by, now)
    }

    fn issue_once(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Once, AuthorityError> {
        Self::issue_once(self, order, by, now)
    }

    fn entry_of_request(&self, request: &RequestId) -> Result<Option<Entry>, AuthorityError> {
        Ok(self.ledger().of_request(request)?)
    }

    fn of_request(&self, request: &RequestId) -> Result<Option<Certificate>, AuthorityError> {
        Self::of_request(self, request)
    }

    fn entry(&self, certificate: &Certificate) -> Result<Option<Entry>, AuthorityError> {
        let Ok(number) = SerialNumber::of(certificate) else {
            // The ledger has no such number.
            return Ok(None);
        };
        let kept = self.ledger().certificate(&number)?;
        match kept.is_some_and(|kept| *kept == **certificate.der()) {
            true => Ok(self.ledger().entry(&number)?),
            false => Ok(None),
        }
    }

    fn revoke(
        &self,
        certificate: &Certificate,
        reason: CrlReason,
        by: &str,
        at: UnixTime,
    ) -> Result<Option<bool>, AuthorityError> {
        let Some(entry) = CaKey::entry(self, certificate)? else {
            return Ok(None);
        };
        let revoked = Self::revoke(self, &entry.issued.serial_number, reason, by, at)?;
        Ok(Some(revoked.change != Change::Unchanged))
    }

    fn problem(&self, now: UnixTime) -> Option<String> {
        let own = self.issuer().certificate();
        if now < own.not_before() || own.not_after() < now {
            return Some("the CA's certificate is not valid now".into());
        }
        let checked = self.ledger().check_time(now);
        checked.err().map(|error| format!("the ledger: {error}"))
    }

    fn problem_of_signing(&self) -> Option<String> {
        // No certificate, list or response is such a text.
        let signed = self.issuer().signer().sign(b"Does this key sign?");
        signed.err().map(|error| error.to_string())
    }
}
