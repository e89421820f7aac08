use alloc::sync::Arc;
use core::cmp::Reverse;

use pki_types::UnixTime;
use webpki::{
    CertRevocationList, ExpirationPolicy, OwnedCertRevocationList, RevocationCheckDepth,
    RevocationOptions, RevocationOptionsBuilder, UnknownStatusPolicy,
};
use x509_cert::name::Name;

use crate::certificate::Certificate;
use crate::key_usage;
use crate::names;
use crate::revocation_list::{CertificateRevocationList, RevokedCertificate};
use crate::validation_error::ValidationError;

/// Revocation lists, and what a [`ChainValidator`](crate::ChainValidator) makes of them.
///
/// Every certificate on a path below the root must be covered by a list that is by the
/// CA that issued the certificate, is signed by that CA's key, and has not been superseded:
/// the time is before its nextUpdate. The methods relax this, one rule each.
///
/// Lists are found by the name of their issuer; of several by one issuer the newest counts.
/// Lists are to be complete: what webpki does not support (delta lists, indirect ones, those
/// for some reasons only, and those without nextUpdate or without extensions, both of which
/// RFC 5280 section 5 demands) is refused at once.
#[derive(Clone, Debug)]
pub struct RevocationPolicy {
    /// The newest first: webpki takes the first that covers a certificate. There is at
    /// least one.
    lists: Arc<[List]>,
    depth: RevocationCheckDepth,
    unknown_status: UnknownStatusPolicy,
    expiration: ExpirationPolicy,
}

impl RevocationPolicy {
    /// Has certificates checked against these lists.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRevocationLists`] if there are none,
    /// [`ValidationError::UnusableRevocationList`] if webpki does not support one.
    pub fn new(
        lists: impl IntoIterator<Item = CertificateRevocationList>,
    ) -> Result<Self, ValidationError> {
        let mut lists: Vec<CertificateRevocationList> = lists.into_iter().collect();
        if lists.is_empty() {
            return Err(ValidationError::NoRevocationLists);
        }
        lists.sort_by_key(|list| Reverse(list.this_update()));
        Ok(Self {
            lists: lists.iter().map(List::read).collect::<Result<_, _>>()?,
            depth: RevocationCheckDepth::Chain,
            unknown_status: UnknownStatusPolicy::Deny,
            expiration: ExpirationPolicy::Enforce,
        })
    }

    /// Checks the end entity's certificate only, and not those of the CAs above it.
    #[must_use]
    pub fn end_entity_only(mut self) -> Self {
        self.depth = RevocationCheckDepth::EndEntity;
        self
    }

    /// Accepts certificates that no list covers.
    #[must_use]
    pub fn allow_unknown_status(mut self) -> Self {
        self.unknown_status = UnknownStatusPolicy::Allow;
        self
    }

    /// Uses lists after their nextUpdate, too: whoever can keep newer lists away then has
    /// revocations since overlooked.
    #[must_use]
    pub fn allow_expired_lists(mut self) -> Self {
        self.expiration = ExpirationPolicy::Ignore;
        self
    }

    /// The lists, for [`options`](Self::options).
    pub(crate) fn lists(&self) -> Vec<&CertRevocationList<'static>> {
        self.lists.iter().map(|list| &list.list).collect()
    }

    /// The policy as webpki has it, over [`lists`](Self::lists).
    pub(crate) fn options<'a>(
        &self,
        lists: &'a [&'a CertRevocationList<'a>],
    ) -> RevocationOptions<'a> {
        RevocationOptionsBuilder::new(lists)
            .expect("a policy has at least one list")
            .with_depth(self.depth)
            .with_status_policy(self.unknown_status)
            .with_expiration_policy(self.expiration)
            .build()
    }

    /// Checks what webpki checks of other CAs: that a root whose list was used may sign lists.
    pub(crate) fn check_root(
        &self,
        root: &Certificate,
        issued_the_end_entity: bool,
    ) -> Result<(), ValidationError> {
        let used = self.depth == RevocationCheckDepth::Chain || issued_the_end_entity;
        match root.key_usage() {
            Some(usages) if used && self.has_list_of(root.subject()) => {
                key_usage::check_list_issuer(usages).map_err(|source| ValidationError::KeyUsage {
                    subject: root.describe_subject(),
                    source,
                })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn has_list_of(&self, issuer: &Name) -> bool {
        self.lists.iter().any(|list| list.issuer == *issuer)
    }

    /// The issuer of the list that is followed by a newer one at this time.
    pub(crate) fn issuer_with_next_update(&self, next_update: UnixTime) -> Option<&Name> {
        self.lists
            .iter()
            .find(|list| list.next_update == Some(next_update))
            .map(|list| &list.issuer)
    }

    pub(crate) fn entry_for(&self, certificate: &Certificate) -> Option<RevokedCertificate> {
        self.lists
            .iter()
            .filter(|list| list.issuer == *certificate.issuer())
            .find_map(|list| list.list.find_serial(certificate.serial_number()).ok()?)
            .map(|entry| RevokedCertificate::from_webpki(&entry))
    }
}

#[derive(Debug)]
struct List {
    list: CertRevocationList<'static>,
    // What webpki does not tell of it.
    issuer: Name,
    next_update: Option<UnixTime>,
}

impl List {
    fn read(list: &CertificateRevocationList) -> Result<Self, ValidationError> {
        let owned = OwnedCertRevocationList::from_der(list.der()).map_err(|source| {
            ValidationError::UnusableRevocationList {
                issuer: names::describe(list.issuer()),
                source,
            }
        })?;
        Ok(Self {
            list: owned.into(),
            issuer: list.issuer().clone(),
            next_update: list.next_update(),
        })
    }
}
