use alloc::sync::Arc;
use core::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use pki_types::{SignatureVerificationAlgorithm, UnixTime};
use x509_cert::name::Name;

use crate::certificate::Certificate;
use crate::key_usage::{self, Role};
use crate::list_scope::Scope;
use crate::names;
use crate::revocation_list::CertificateRevocationList;
use crate::signed::SignatureError;
use crate::signer::SubjectKey;
use crate::validation_error::ValidationError;

/// Revocation lists, and what a [`ChainValidator`](crate::ChainValidator) makes of them.
///
/// Every certificate on a path below the root must be covered by a list that is by the
/// CA that issued the certificate, is signed by that CA's key, and has not been superseded:
/// the time is before its nextUpdate. The methods relax this, one rule each.
///
/// Lists are found by the name of their issuer; of several by one issuer the newest that covers the
/// certificate counts. They may be of version 1 or 2.
/// Lists are to be complete: delta lists, indirect ones, those for some reasons only, those without
/// nextUpdate, and those of version 2 without extensions (RFC 5280 section 5 demands both) are
/// refused at once.
///
/// # Cost
///
/// What a validation costs does not depend on how many certificates are revoked, nor on how many
/// lists there are: lists and entries are found by hash and by binary search. The one thing that
/// does is the signature of a list, which is over all of it: a validator verifies it when it first
/// uses the list, and not again. In memory a list takes about 120 bytes for each certificate on
/// it, some 12 MB for 100,000, its DER included; copies of a policy share them.
#[derive(Clone, Debug)]
pub struct RevocationPolicy {
    lists: Arc<Lists>,
    end_entity_only: bool,
    allow_unknown_status: bool,
    allow_expired_lists: bool,
}

impl RevocationPolicy {
    /// Has certificates checked against these lists.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRevocationLists`] if there are none,
    /// [`ValidationError::UnusableRevocationList`] if one is of an unsupported kind.
    pub fn new(
        lists: impl IntoIterator<Item = CertificateRevocationList>,
    ) -> Result<Self, ValidationError> {
        Ok(Self {
            lists: Arc::new(Lists::new(lists.into_iter().collect())?),
            end_entity_only: false,
            allow_unknown_status: false,
            allow_expired_lists: false,
        })
    }

    /// Checks the end entity's certificate only, and not those of the CAs above it.
    #[must_use]
    pub fn end_entity_only(mut self) -> Self {
        self.end_entity_only = true;
        self
    }

    /// Accepts certificates that no list covers.
    #[must_use]
    pub fn allow_unknown_status(mut self) -> Self {
        self.allow_unknown_status = true;
        self
    }

    /// Uses lists after their nextUpdate, too: whoever can keep newer lists away then has
    /// revocations since overlooked.
    #[must_use]
    pub fn allow_expired_lists(mut self) -> Self {
        self.allow_expired_lists = true;
        self
    }
}

/// A policy at work in one validator.
#[derive(Clone, Debug)]
pub(crate) struct Revocation {
    policy: RevocationPolicy,
    /// Of this validator, and not of the policy: another validator may have other algorithms.
    signatures: Arc<Signatures>,
}

impl Revocation {
    pub(crate) fn new(policy: RevocationPolicy) -> Self {
        Self {
            policy,
            signatures: Arc::default(),
        }
    }

    /// Checks a path whose signatures were verified, from the end entity to the root, as RFC 5280
    /// section 6.3 has it for complete lists by the certificates' own issuers.
    pub(crate) fn check(
        &self,
        path: &[Certificate],
        time: UnixTime,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), ValidationError> {
        // From the root down: what an issuer's list says counts only if the issuer does.
        for (index, pair) in path.windows(2).enumerate().rev() {
            let [certificate, issuer] = pair else {
                continue;
            };
            let role = match index {
                0 => Role::EndEntity,
                _ if self.policy.end_entity_only => continue,
                _ => Role::Ca,
            };
            self.check_certificate(certificate, role, issuer, time, algorithms)?;
        }
        Ok(())
    }

    fn check_certificate(
        &self,
        certificate: &Certificate,
        role: Role,
        issuer: &Certificate,
        time: UnixTime,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), ValidationError> {
        let subject = || Some(certificate.describe_subject());
        let Some((index, list)) = self.policy.lists.covering(certificate, role) else {
            return match self.policy.allow_unknown_status {
                true => Ok(()),
                false => Err(ValidationError::UnknownRevocationStatus { subject: subject() }),
            };
        };
        self.signatures
            .verify(index, list, issuer, algorithms)
            .map_err(ValidationError::RevocationListSignature)?;
        let is_current = time < list.next_update;
        if !(is_current || self.policy.allow_expired_lists) {
            return Err(ValidationError::RevocationListExpired {
                issuer: Some(names::describe(list.list.issuer())),
                next_update: list.next_update,
                time,
            });
        }
        if let Some(usages) = issuer.key_usage() {
            key_usage::check_list_issuer(usages).map_err(|source| ValidationError::KeyUsage {
                subject: issuer.describe_subject(),
                source,
            })?;
        }
        match list.list.entry_for(certificate) {
            None => Ok(()),
            Some(entry) => Err(ValidationError::Revoked {
                subject: subject(),
                entry: Some(entry.clone()),
            }),
        }
    }
}

#[derive(Debug)]
struct Lists {
    /// The newest first.
    lists: Vec<List>,
    /// Where the lists of an issuer are, the newest first.
    by_issuer: HashMap<Name, Vec<usize>>,
}

impl Lists {
    fn new(mut lists: Vec<CertificateRevocationList>) -> Result<Self, ValidationError> {
        if lists.is_empty() {
            return Err(ValidationError::NoRevocationLists);
        }
        lists.sort_by_key(|list| Reverse(list.this_update()));
        let mut by_issuer: HashMap<Name, Vec<usize>> = HashMap::new();
        for (index, list) in lists.iter().enumerate() {
            match by_issuer.get_mut(list.issuer()) {
                Some(of_issuer) => of_issuer.push(index),
                None => drop(by_issuer.insert(list.issuer().clone(), vec![index])),
            }
        }
        let lists = lists.into_iter().map(List::new).collect::<Result<_, _>>()?;
        Ok(Self { lists, by_issuer })
    }

    /// The newest list that says whether this certificate is revoked.
    fn covering(&self, certificate: &Certificate, role: Role) -> Option<(usize, &List)> {
        let of_issuer = self.by_issuer.get(certificate.issuer())?;
        of_issuer
            .iter()
            .map(|index| (*index, &self.lists[*index]))
            .find(|(_, list)| list.scope.covers(certificate, role))
    }
}

#[derive(Debug)]
struct List {
    list: CertificateRevocationList,
    scope: Scope,
    next_update: UnixTime,
}

impl List {
    fn new(list: CertificateRevocationList) -> Result<Self, ValidationError> {
        match list.to_use() {
            Ok((scope, next_update)) => Ok(Self {
                list,
                scope,
                next_update,
            }),
            Err(source) => Err(ValidationError::UnusableRevocationList {
                issuer: names::describe(list.issuer()),
                source,
            }),
        }
    }
}

/// Whether lists are signed by the keys that they were held against: of each list a few keys, with
/// the verdict.
#[derive(Debug, Default)]
struct Signatures(RwLock<HashMap<usize, Vec<Verdict>>>);

#[derive(Debug)]
struct Verdict {
    /// The SubjectPublicKeyInfo.
    key: Box<[u8]>,
    is_valid: bool,
}

/// CAs of one name with keys of their own are few. A further one has lists verified each time.
const KEYS_PER_LIST: usize = 4;

impl Signatures {
    /// Verifies the signature of a list, which the index stands for, or remembers having done so.
    ///
    /// Verdicts are those of one set of algorithms. A validator only adds to it, which changes none.
    fn verify(
        &self,
        index: usize,
        list: &List,
        issuer: &Certificate,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), SignatureError> {
        let key = issuer.spki();
        // The map is whole whenever the lock is free, also after a panic.
        let verdicts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = verdicts.get(&index).into_iter().flatten();
        match known.find(|verdict| *verdict.key == *key) {
            Some(verdict) if verdict.is_valid => return Ok(()),
            Some(_) => return Err(SignatureError::Invalid),
            None => drop(verdicts),
        }
        let result = list.list.verify_signature(issuer, algorithms);
        // Other errors take no time to find.
        if matches!(result, Ok(()) | Err(SignatureError::Invalid)) {
            let mut verdicts = self.0.write().unwrap_or_else(PoisonError::into_inner);
            let of_list = verdicts.entry(index).or_default();
            if of_list.len() < KEYS_PER_LIST {
                of_list.push(Verdict {
                    key: key.as_ref().into(),
                    is_valid: result.is_ok(),
                });
            }
        }
        result
    }
}
