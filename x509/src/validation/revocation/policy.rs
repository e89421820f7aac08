//! What users configure: which lists there are, and what has to be known.

use alloc::sync::Arc;

use pq_keys::errors::describe;

use super::lists::Lists;
use crate::certificate::CertificateRevocationList;
use crate::validation::error::ValidationError;

/// Revocation lists, and how a [`ChainValidator`](crate::validation::ChainValidator) uses them together with OCSP
/// responses.
///
/// The status of every certificate on a path below the root must be known. It is known if a list covers the
/// certificate: the list must have the name of the CA that issued the certificate, be signed by that CA's key, have
/// been issued by the time validated for, and not have reached its nextUpdate. It is also known if a usable OCSP
/// response says that the certificate is good: see
/// [`ChainValidator::with_ocsp_responses`](crate::validation::ChainValidator::with_ocsp_responses). The methods relax
/// this, one rule each.
///
/// If a list or a response says that a certificate is revoked, the certificate is refused, whatever the order of
/// the lists and responses:
///
/// * Of several lists of one scope, a newer one may take this back: the certificate may have been on hold. It must be
///   current, have a later thisUpdate, and a greater cRLNumber if both have one. If number and time
///   contradict each other, or two lists have the same, the certificate is refused.
/// * What has expired still counts, unless something newer that is current says good: nobody must get
///   a revoked certificate accepted by keeping newer responses away. Otherwise nothing takes it back, in
///   particular no list of another scope, and no response.
/// * A list or a response that is not yet valid says nothing good. But if it says that the certificate was revoked
///   at a time that has come, the certificate is refused, because then our clock may be late.
/// * What keeps a statement from saying good keeps no revocation from counting: that the certificate of the OCSP
///   responder has expired since it made the response, that nobody knows whether this certificate was revoked, that a
///   response lacks the nonce, or that the key usage of the CA that signed a list lacks cRLSign. Only a responder that
///   a list revokes can revoke nothing.
/// * If the certificate is on a list that there is no algorithm to verify, and the list doesn't name another key, the
///   certificate is refused, unless a list takes this back as above. The same applies to a response.
///
/// Otherwise one current list or response that says good is enough, even if others are missing or have expired.
/// If there is none, the chain is refused for what is wrong with one of those that are there.
///
/// Lists that were found to be signed by another key count for nothing: a CA that renewed its key has lists by both
/// keys, and a stranger may make lists with any CA's name. Names are compared as RFC 5280 section 7.1 says, whatever
/// their encoding. A list with a distribution point (issuingDistributionPoint) is only about certificates
/// with one of its names, such as a URL, in their cRLDistributionPoints (RFC 5280 section 6.3.3): a CA that
/// has several such lists must put the names into its certificates. If a certificate names it for some reasons only,
/// or as a list of another CA, the certificate is revoked if it is on the list, and otherwise the list says nothing.
/// Lists may be of version 1 or 2, with or without extensions. They must be complete: delta lists, indirect lists,
/// lists for some reasons only, and lists without nextUpdate are refused at once.
///
/// # Cost
///
/// The cost of a validation does not depend on the number of revoked certificates, nor on the number of
/// lists of other CAs or for other distribution points: lists are found by the hash of their issuer and of such a
/// point, and an entry by binary search. Only the check of a list's signature takes longer for a longer list, because
/// the signature is over all of it. A validator verifies it when it first uses
/// the list, and keeps the result; threads that come to it at the same time each verify it. A peer
/// can't cause many verifications by sending CAs of one name with different keys: for each list a validator
/// keeps the results for four keys, always including the right one. Lists that name another key are verified if
/// the certificate is on them, or if without them nothing says that it is good. After keys for which four lists or more
/// were verified and none was theirs, and after four invalid signatures of responses, a validation verifies no further
/// one and fails.
///
/// Responses are searched one by one. If a response is about a certificate of the path, its signature is
/// verified each time, and so is that of a delegate's certificate in it. Invalid signatures count among those
/// four.
///
/// In memory a list takes about 120 bytes for each certificate on it, including its DER: some 12 MB for
/// 100,000 certificates. Copies of a policy share the lists. Reading a list takes up to 16 times its length
/// and 2 MiB, whoever made it, and nothing here limits that length: whoever fetches lists should.
#[derive(Clone, Debug)]
pub struct RevocationPolicy {
    pub(super) lists: Arc<Lists>,
    pub(super) end_entity_only: bool,
    pub(super) allow_unknown_status: bool,
    pub(super) allow_expired_lists: bool,
}

impl RevocationPolicy {
    /// Checks certificates against these lists.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRevocationLists`] if there are none,
    /// [`ValidationError::UnusableRevocationList`] if one is of an unsupported kind.
    pub fn new(
        lists: impl IntoIterator<Item = CertificateRevocationList>,
    ) -> Result<Self, ValidationError> {
        let lists: Vec<_> = lists.into_iter().collect();
        if lists.is_empty() {
            return Err(ValidationError::NoRevocationLists);
        }
        let lists = Lists::new(lists).map_err(|refused| {
            let (list, error) = *refused;
            ValidationError::UnusableRevocationList {
                issuer: describe(list.issuer()),
                error,
            }
        })?;
        Ok(Self {
            lists: Arc::new(lists),
            ..Self::without_lists()
        })
    }

    /// Checks certificates by OCSP responses only.
    ///
    /// For CAs on the path there are often no responses: see
    /// [`end_entity_only`](Self::end_entity_only).
    pub fn without_lists() -> Self {
        Self {
            lists: Arc::default(),
            end_entity_only: false,
            allow_unknown_status: false,
            allow_expired_lists: false,
        }
    }

    /// Demands the status of the end entity's certificate only, not of the CAs above it: no
    /// list is used for these. A response about one of them still counts.
    #[must_use]
    pub fn end_entity_only(mut self) -> Self {
        self.end_entity_only = true;
        self
    }

    /// Accepts certificates that no list covers and no response is about, and certificates that the
    /// responder says it does not know.
    #[must_use]
    pub fn allow_unknown_status(mut self) -> Self {
        self.allow_unknown_status = true;
        self
    }

    /// Uses lists after their nextUpdate, too. Then whoever can keep newer lists away can hide
    /// revocations since.
    #[must_use]
    pub fn allow_expired_lists(mut self) -> Self {
        self.allow_expired_lists = true;
        self
    }
}
