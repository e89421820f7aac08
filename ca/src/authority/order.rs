//! What a caller hands in to have a certificate issued: a key or a verified request, and what the certificate should
//! say.

use pq_x509::keys::{KeyError, SubjectKey};
use pq_x509::request::VerifiedRequest;

use crate::ledger::{Evidence, RequestId};
use crate::policy::Wanted;

/// An order for a certificate: its wanted content and its key.
#[must_use]
pub struct Order<'a> {
    pub(super) key: &'a dyn SubjectKey,
    pub(super) wanted: Wanted,
    pub(super) request: Option<RequestId>,
    pub(super) evidence: Option<Evidence>,
}

impl<'a> Order<'a> {
    /// Orders a certificate for this key, without names yet.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key's SubjectPublicKeyInfo is malformed.
    pub fn for_key(key: &'a dyn SubjectKey) -> Result<Self, KeyError> {
        let wanted = Wanted::new(key)?;
        Ok(Self {
            key,
            wanted,
            request: None,
            evidence: None,
        })
    }

    /// Orders a certificate for the key and the names of a request.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the request's key is malformed.
    pub fn for_request(request: &'a VerifiedRequest) -> Result<Self, KeyError> {
        let wanted = Wanted::of_request(request)?;
        Ok(Self {
            key: request,
            wanted,
            request: None,
            evidence: None,
        })
    }

    /// The same order with other names, another validity or another profile.
    ///
    /// ```
    /// # use pq_ca::authority::Order;
    /// # use pq_ca::policy::Profile;
    /// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// let order = Order::for_key(&key)?
    ///     .with(|wanted| wanted.dns_name("www.example.org").profile(Profile::Server));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with(mut self, change: impl FnOnce(Wanted) -> Wanted) -> Self {
        self.wanted = change(self.wanted);
        self
    }

    /// The same order, to be answered by one certificate, however often and from how many machines it is asked: see
    /// [`Authority::issue_once`](super::Authority::issue_once).
    pub fn as_request(mut self, request: RequestId) -> Self {
        self.request = Some(request);
        self
    }

    /// The same order, on this evidence that whoever asks may have the names. The ledger keeps it.
    pub fn on_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(evidence);
        self
    }
}
