//! Work: what is to be done, what came of it, and what nobody finished.

use alloc::sync::Arc;
use core::time::Duration;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::request::CertificateRequest;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::Server;
use super::accounts::TRIES;
use super::answer::{Answer, Due, Issue, Validate, Work};
use super::policy::Policy;
use super::posts::ended;
use crate::challenge::KeyAuthorization;
use crate::identifier::Identifier;
use crate::objects::{AccountStatus, CertificateId, Time};
use crate::problem::Problem;
use crate::store::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeState,
    OrderRecord, OrderState, Processing, Store, StoreError,
};

/// A certificate that was issued, with the chains that can be sent.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The chains, at least one, each with the certificate first: the first is the usual one.
    pub chains: Vec<Vec<Certificate>>,
}

/// Why a certificate is not handed out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IssuedError {
    /// There is none, or chains are for different ones.
    #[error("the chains of a certificate have to begin with it, each of them")]
    NoChain,
    /// It has another key than was asked for.
    #[error("the certificate has another key than the request for it")]
    OtherKey,
    /// The order has another certificate.
    #[error("the order has another certificate already: {0}")]
    Second(String),
    /// The order is not being processed: it has ended without a certificate.
    #[error("the order is not being processed")]
    NotProcessing,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CertificateRecord {
    /// What names a certificate with this DER in URLs: its digest.
    pub fn id_of(der: &[u8]) -> String {
        base64url::encode(&Sha256::digest(der))
    }
}

impl<S: Store, P: Policy> Server<S, P> {
    /// Looking at a challenge, again.
    pub(super) fn validate(
        &self,
        one: &AuthorizationRecord,
        index: usize,
        key: &AnyJwk,
        now: Time,
    ) -> Validate {
        let challenge = &one.challenges[index];
        Validate {
            authorization: one.id.clone(),
            kind: challenge.kind.clone(),
            account: one.account.clone(),
            identifier: one.identifier.clone(),
            is_wildcard: one.is_wildcard,
            key_authorization: KeyAuthorization::new(&challenge.token, &key.thumbprint()),
            is_first: false,
            is_last: now.after(self.pause(one, now)) >= one.expires,
        }
    }

    /// How long to wait before a challenge is looked at again: as long as it has been looked at.
    fn pause(&self, one: &AuthorizationRecord, now: Time) -> Duration {
        let left = now.until(one.expires);
        let passed = self.settings.validation_time.saturating_sub(left);
        passed.max(self.settings.work_time)
    }

    pub(super) fn issue(&self, order: &OrderRecord, now: Time) -> Result<Issue, StoreError> {
        let OrderState::Processing(work) = &order.state else {
            return Err(StoreError::Changed);
        };
        let authorizations = match self.store.authorizations(&order.authorizations) {
            Ok(all) => all,
            // Some were removed if the order waited for long: the evidence is what is left.
            Err(_) => self.authorizations_left(order)?,
        };
        let evidence = authorizations.iter().flat_map(|one| {
            one.challenges
                .iter()
                .filter_map(|challenge| match &challenge.state {
                    ChallengeState::Valid { evidence, .. } => Some(format!(
                        "{} {}{}: {evidence}",
                        challenge.kind,
                        if one.is_wildcard { "*." } else { "" },
                        one.identifier
                    )),
                    _ => None,
                })
        });
        Ok(Issue {
            order: order.id.clone(),
            request_id: Sha256::new_with_prefix(b"ACME order ")
                .chain_update(&order.id)
                .finalize()
                .into(),
            account: order.account.clone(),
            csr: Arc::clone(&work.csr),
            identifiers: Arc::clone(&order.identifiers),
            profile: order.profile.clone(),
            not_before: order.not_before,
            not_after: order.not_after,
            replaces: order.replaces.clone(),
            evidence: evidence.collect(),
            is_late: order.expires.after(self.settings.issuing_time) <= now,
        })
    }

    fn authorizations_left(
        &self,
        order: &OrderRecord,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let each = order.authorizations.iter();
        let found = each.map(|id| self.store.authorization(id).transpose());
        found.flatten().collect()
    }

    /// What is to be done with an order: for whoever is about to issue its certificate, which may be long after the order was
    /// finalized. An account that has ended since, or that the policy no longer lets use this, gets none.
    ///
    /// # Errors
    ///
    /// Those of the store: [`StoreError::Changed`] if there is no such order.
    pub fn due(&self, order: &str) -> Result<Due, StoreError> {
        let order = self.store.order(order)?.ok_or(StoreError::Changed)?;
        if !matches!(order.state, OrderState::Processing(_)) {
            return Ok(Due::Nothing);
        }
        let account = self.store.account(&order.account)?;
        let is_valid = |account: &Arc<AccountRecord>| account.status == AccountStatus::Valid;
        let Some(account) = account.filter(is_valid) else {
            return Ok(Due::Refuse(ended()));
        };
        Ok(match self.policy.may_use(&account) {
            Ok(()) => Due::Issue,
            Err(problem) => Due::Refuse(problem),
        })
    }

    /// What came of the validation of a challenge: what was seen and from where, or why it is not met. If somebody else said
    /// so before, nothing changes.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn validated(
        &self,
        work: &Validate,
        outcome: Result<String, Problem>,
        now: Time,
    ) -> Result<(), StoreError> {
        let one = self.store.authorization(&work.authorization)?;
        let one = one.ok_or(StoreError::Changed)?;
        let failed = core::cell::Cell::new(false);
        let changed = self.change_authorization::<StoreError>(one, |one| {
            failed.set(false);
            let mut challenges = one.challenges.iter();
            let index = challenges.position(|challenge| challenge.kind == work.kind);
            let Some(index) = index.filter(|index| {
                let state = &one.challenges[*index].state;
                one.state == AuthorizationState::Pending
                    && matches!(state, ChallengeState::Processing { .. })
                    // Too late
                    && one.expires > now
            }) else {
                return Ok(None);
            };
            let mut after = one.clone();
            let challenge = &mut after.challenges[index];
            match &outcome {
                Ok(evidence) => {
                    challenge.state = ChallengeState::Valid {
                        validated: now,
                        evidence: evidence.clone(),
                    };
                    after.state = AuthorizationState::Valid;
                    // Orders that need it end within the time that orders have.
                    let settings = &self.settings;
                    let lifetime = settings.authorization_lifetime.max(settings.order_lifetime);
                    after.expires = now.after(lifetime);
                }
                Err(problem) => {
                    challenge.state = ChallengeState::Invalid(problem.clone());
                    after.state = AuthorizationState::Invalid;
                    failed.set(true);
                }
            }
            Ok(Some(after))
        })?;
        if failed.get() {
            self.count_failure(&changed.account, &changed.identifier, now);
        }
        Ok(())
    }

    /// What came of issuing a certificate: it, or why there will be none. If somebody else said the same before, nothing
    /// changes. Whoever can't tell, since the CA can't be reached, says nothing, and somebody takes the work up later.
    ///
    /// # Errors
    ///
    /// An [`IssuedError`], also if the order has another certificate.
    pub fn issued(&self, order: &str, outcome: Result<Issued, Problem>) -> Result<(), IssuedError> {
        for _ in 0..TRIES {
            let read = self.store.order(order)?.ok_or(StoreError::Changed)?;
            let work = match (&read.state, &outcome) {
                (OrderState::Processing(work), _) => work,
                (OrderState::Valid { certificate, .. }, Ok(issued)) => {
                    let id = CertificateRecord::id_of(leaf(issued)?.der());
                    return match id == *certificate {
                        true => Ok(()),
                        false => Err(IssuedError::Second(certificate.clone())),
                    };
                }
                (OrderState::Valid { .. } | OrderState::Invalid(_), Err(_)) => return Ok(()),
                _ => return Err(IssuedError::NotProcessing),
            };
            let updated = match &outcome {
                Err(problem) => {
                    let state = OrderState::Invalid(problem.clone());
                    let invalid = OrderRecord {
                        state,
                        ..(*read).clone()
                    };
                    self.store.update_order(invalid, &[])
                }
                Ok(issued) => {
                    let certificate = record(&read, work, issued)?;
                    let state = OrderState::Valid {
                        csr: Sha256::digest(&work.csr).into(),
                        certificate: certificate.id.clone(),
                    };
                    let valid = OrderRecord {
                        state,
                        ..(*read).clone()
                    };
                    self.store.complete_order(valid, certificate)
                }
            };
            match updated {
                Err(StoreError::Changed) => {}
                done => return Ok(done.map(drop)?),
            }
        }
        Err(StoreError::Changed.into())
    }

    /// An order as it is shown now: for whoever issued its certificate before the answer was sent. The headers for nonces are
    /// those of the answer before.
    ///
    /// # Errors
    ///
    /// Those of the store: [`StoreError::Changed`] if there is no such order.
    pub fn with_order_as_it_is(
        &self,
        answer: Answer,
        order: &str,
        now: Time,
    ) -> Result<Answer, StoreError> {
        let order = self.store.order(order)?.ok_or(StoreError::Changed)?;
        let mut shown = self.show_order(200, &self.see(order, now)?);
        let kept = answer
            .headers
            .into_iter()
            .filter(|(name, _)| ["Replay-Nonce", "Cache-Control", "Link"].contains(name));
        shown.headers.extend(kept);
        Ok(shown)
    }

    /// Takes up work that somebody began and did not finish in time: at most so much of each kind. Whoever did so before gets
    /// none of it. Challenges of accounts that have ended are no work.
    ///
    /// # Errors
    ///
    /// Those of the store: of looking for work, or each of its own, where a piece of work can't be taken up.
    pub fn take_up(
        &self,
        now: Time,
        limit: usize,
    ) -> Result<Vec<Result<Work, StoreError>>, StoreError> {
        let due = now
            .as_secs()
            .saturating_sub(self.settings.work_time.as_secs());
        let due = Time::from_secs(due);
        let overdue = self.store.overdue(due, limit)?;
        let mut all = Vec::new();
        for order in &overdue.orders {
            match self.take_up_order(order, now) {
                Ok(work) => all.extend(work.map(Ok)),
                Err(error) => all.push(Err(error)),
            }
        }
        for one in &overdue.authorizations {
            match self.take_up_authorization(one, due, now) {
                Ok(work) => all.extend(work.into_iter().map(Ok)),
                Err(error) => all.push(Err(error)),
            }
        }
        Ok(all)
    }

    fn take_up_order(&self, order: &OrderRecord, now: Time) -> Result<Option<Work>, StoreError> {
        let OrderState::Processing(work) = &order.state else {
            return Ok(None);
        };
        let state = OrderState::Processing(Processing {
            since: now,
            csr: Arc::clone(&work.csr),
        });
        let taken = OrderRecord {
            state,
            ..order.clone()
        };
        match self.store.update_order(taken, &[]) {
            Ok(order) => Ok(Some(Work::Issue(self.issue(&order, now)?))),
            Err(StoreError::Changed) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take_up_authorization(
        &self,
        one: &AuthorizationRecord,
        due: Time,
        now: Time,
    ) -> Result<Vec<Work>, StoreError> {
        let account = self.store.account(&one.account)?;
        // Else nobody looks any more.
        let account =
            account.filter(|account| account.status == AccountStatus::Valid && one.expires > now);
        // It is taken up again when its time for work is over.
        let pause = self.pause(one, now);
        let since = now.after(pause.saturating_sub(self.settings.work_time));
        let mut taken = one.clone();
        let mut indices = Vec::new();
        for (index, challenge) in taken.challenges.iter_mut().enumerate() {
            let is_due =
                matches!(challenge.state, ChallengeState::Processing { since } if since <= due);
            if is_due {
                challenge.state = match &account {
                    None => ChallengeState::Pending,
                    Some(_) => ChallengeState::Processing { since },
                };
                indices.push(index);
            }
        }
        let taken = match self.store.update_authorization(taken) {
            Ok(taken) => taken,
            Err(StoreError::Changed) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let work = account.iter().flat_map(|account| {
            let each = indices.iter();
            each.map(|index| Work::Validate(self.validate(&taken, *index, &account.key, now)))
        });
        Ok(work.collect())
    }
}

fn leaf(issued: &Issued) -> Result<&Certificate, IssuedError> {
    let leaves = || issued.chains.iter().map(|chain| chain.first());
    let first = leaves().next().flatten().ok_or(IssuedError::NoChain)?;
    let is_same = |leaf: Option<&Certificate>| leaf.is_some_and(|leaf| leaf.der() == first.der());
    match leaves().all(is_same) {
        true => Ok(first),
        false => Err(IssuedError::NoChain),
    }
}

fn record(
    order: &OrderRecord,
    work: &Processing,
    issued: &Issued,
) -> Result<CertificateRecord, IssuedError> {
    let leaf = leaf(issued)?;
    let found = leaf.parsed().tbs_certificate().subject_public_key_info();
    let request = CertificateRequest::from_der(&work.csr).map_err(|_| IssuedError::OtherKey)?;
    if *found != request.parsed().info.public_key {
        return Err(IssuedError::OtherKey);
    }
    let names = leaf.alternative_names().filter_map(|name| match name {
        AlternativeName::Dns(name) => Some(Identifier::Dns(name.to_ascii_lowercase())),
        AlternativeName::Ip(address) => Some(Identifier::Ip(address)),
        _ => None,
    });
    Ok(CertificateRecord {
        id: CertificateRecord::id_of(leaf.der()),
        name: CertificateId::of(leaf).map(|name| name.to_string()),
        account: order.account.clone(),
        order: order.id.clone(),
        identifiers: names.collect(),
        not_before: leaf.not_before().into(),
        not_after: leaf.not_after().into(),
        der: leaf.der().to_vec(),
        chains: issued
            .chains
            .iter()
            .map(|chain| Certificate::chain_to_pem(chain))
            .collect(),
    })
}
