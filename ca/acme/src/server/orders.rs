//! Orders: made, shown and finalized (RFC 8555, section 7.4).

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::net::IpAddr;

use pq_jose::encoding::json::Object;
use sha2::{Digest, Sha256};

use super::Server;
use super::accounts::{TRIES, another};
use super::answer::{Answer, Outcome, Refusal, Work};
use super::content;
use super::csr;
use super::policy::{Policy, Wish};
use super::posts::{Post, ended};
use super::settings::MAX_TEXT;
use super::status::Seen;
use crate::challenge;
use crate::identifier::{Identifier, IdentifierError, RawIdentifier};
use crate::objects::{AccountStatus, CertificateId, Finalization, NewOrder, OrderStatus, Time};
use crate::problem::{Problem, ProblemType, Subproblem};
use crate::store::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeRecord,
    ChallengeState, OrderRecord, OrderState, Processing, Store, StoreError,
};

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn new_order(&self, post: &Post, from: Option<IpAddr>) -> Result<Answer, Refusal> {
        let wish: NewOrder<Object<RawIdentifier>> = content::read(&post.content)?;
        let identifiers = self.identifiers(&wish.identifiers)?;
        if let (Some(start), Some(end)) = (wish.not_before, wish.not_after)
            && start >= end
        {
            return Err(Problem::malformed("\"notAfter\" is not after \"notBefore\"").into());
        }
        if wish
            .profile
            .as_ref()
            .is_some_and(|name| name.len() > MAX_TEXT)
        {
            return Err(
                Problem::new(ProblemType::InvalidProfile, "there is no such profile").into(),
            );
        }
        let mut account = Arc::clone(post.account()?);
        let replaces = match &wish.replaces {
            None => None,
            Some(name) => Some(self.replaced(name, &account, &identifiers)?),
        };
        self.policy.may_use(&account)?;
        let asked = Wish {
            account: &account,
            identifiers: &identifiers,
            profile: wish.profile.as_deref(),
            not_before: wish.not_before,
            not_after: wish.not_after,
            replaces: replaces.as_deref(),
            from,
        };
        let grant = self.policy.may_order(&asked)?;
        let limits = self.policy.order_limits(&asked);
        self.look(&limits, post.now)?;
        let expires = post.now.after(self.settings.order_lifetime);
        let (ids, new) = self.authorizations_for(&account, &identifiers, expires, post.now)?;
        self.check_undecided(&account, &new, post.now)?;
        self.count(&limits, post.now)?;
        let order = OrderRecord {
            id: content::fresh_id()?,
            version: 0,
            account: account.id.clone(),
            state: OrderState::Open,
            expires,
            identifiers: identifiers.into(),
            authorizations: ids,
            not_before: wish.not_before,
            not_after: wish.not_after,
            replaces: wish.replaces,
            profile: grant.profile,
            created: post.now,
            nonce: post.nonce.digest,
        };
        let mut instead_of = None;
        for _ in 0..TRIES {
            let inserted = self.store.insert_order(
                order.clone(),
                new.clone(),
                &account,
                instead_of.as_deref(),
            );
            match inserted {
                Ok(order) => return Ok(self.show_order(201, &self.see(order, post.now)?)),
                Err(StoreError::Changed) => {
                    let found = self.store.account(&account.id)?;
                    account = found.ok_or(StoreError::Changed)?;
                    if account.status != AccountStatus::Valid {
                        return Err(ended().into());
                    }
                }
                Err(StoreError::Replaced(other)) => {
                    self.check_given_up(&other, post.now)?;
                    instead_of = Some(other);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Changed.into())
    }

    /// The identifiers of an order, each once and sorted.
    fn identifiers(&self, raw: &[Object<RawIdentifier>]) -> Result<Vec<Identifier>, Problem> {
        if raw.is_empty() {
            return Err(Problem::malformed("\"identifiers\" is empty"));
        }
        if raw.len() > self.settings.max_identifiers {
            let most = self.settings.max_identifiers;
            return Err(Problem::malformed(format!(
                "there are {} identifiers, and an order may have {most}: make several orders",
                raw.len()
            )));
        }
        let mut read = BTreeSet::new();
        let mut refused = Vec::new();
        for Object(raw) in raw {
            match Identifier::read(&raw.kind, &raw.value) {
                Ok(identifier) => {
                    read.insert(identifier);
                }
                Err(error) => refused.push(Subproblem {
                    kind: match error {
                        IdentifierError::Type => ProblemType::UnsupportedIdentifier,
                        _ => ProblemType::Malformed,
                    },
                    detail: format!("\"{}\": {error}", pq_jose::encoding::shown(&raw.value)),
                    identifier: None,
                }),
            }
        }
        match refused.is_empty() {
            true => Ok(read.into_iter().collect()),
            false => Err(Problem::of_identifiers(refused)),
        }
    }

    /// The certificate that an order wants to replace (RFC 9773, section 5).
    fn replaced(
        &self,
        name: &str,
        account: &AccountRecord,
        identifiers: &[Identifier],
    ) -> Result<Arc<CertificateRecord>, Refusal> {
        name.parse::<CertificateId>()
            .map_err(|error| Problem::malformed(format!("\"replaces\" is {error}")))?;
        let found = self.store.certificate_named(name)?;
        let found = found.ok_or_else(|| {
            Problem::malformed("\"replaces\" names no certificate that was issued here")
        })?;
        if found.account != account.id {
            return Err(another().into());
        }
        let mut shared = found.identifiers.iter();
        match shared.any(|one| identifiers.binary_search(one).is_ok()) {
            true => Ok(found),
            false => Err(Problem::malformed(
                "the certificate that \"replaces\" names has none of the order's identifiers",
            )
            .into()),
        }
    }

    /// Whether an order that replaces the same certificate came to nothing.
    fn check_given_up(&self, order: &str, now: Time) -> Result<(), Refusal> {
        let status = match self.store.order(order)? {
            Some(order) => self.see(order, now)?.status,
            // It was removed, as it ended long ago; had it come to nothing, its claim would have gone with it.
            None => OrderStatus::Valid,
        };
        match status {
            OrderStatus::Invalid => Ok(()),
            _ => Err(Problem::new(
                ProblemType::AlreadyReplaced,
                "another order replaces this certificate: order without \"replaces\"",
            )
            .into()),
        }
    }

    /// An authorization for each identifier: those that the account has and that hold long enough, and new ones.
    fn authorizations_for(
        &self,
        account: &AccountRecord,
        identifiers: &[Identifier],
        expires: Time,
        now: Time,
    ) -> Result<(Vec<String>, Vec<AuthorizationRecord>), Refusal> {
        let mut ids = Vec::with_capacity(identifiers.len());
        let mut new = Vec::new();
        let mut refused = Vec::new();
        for identifier in identifiers {
            let (base, is_wildcard) = (identifier.base(), identifier.is_wildcard());
            let kinds = self.policy.challenges(account, &base, is_wildcard);
            let kinds: BTreeSet<_> = kinds
                .into_iter()
                .filter(|kind| challenge::fits(kind, &base, is_wildcard))
                .collect();
            if self.settings.reuses_authorizations {
                let all = self
                    .store
                    .valid_authorizations(&account.id, &base, is_wildcard, 1)?;
                // The policy may take fewer kinds of challenges by now.
                let holds = |one: &AuthorizationRecord| {
                    let is_met = |challenge: &ChallengeRecord| {
                        matches!(challenge.state, ChallengeState::Valid { .. })
                    };
                    let met = one.challenges.iter().find(|challenge| is_met(challenge));
                    one.expires >= expires && met.is_some_and(|met| kinds.contains(&met.kind))
                };
                if let Some(one) = all.first().filter(|one| holds(one)) {
                    ids.push(one.id.clone());
                    continue;
                }
            }
            if kinds.is_empty() {
                refused.push(Subproblem {
                    kind: ProblemType::RejectedIdentifier,
                    detail: "there is no challenge by which this can be validated here".into(),
                    identifier: Some(identifier.clone()),
                });
                continue;
            }
            let challenges = kinds.into_iter().map(|kind| {
                Ok(ChallengeRecord {
                    kind,
                    token: content::fresh_id()?,
                    state: ChallengeState::Pending,
                })
            });
            let one = AuthorizationRecord {
                id: content::fresh_id()?,
                version: 0,
                account: account.id.clone(),
                identifier: base.into_owned(),
                is_wildcard,
                state: AuthorizationState::Pending,
                expires: now.after(self.settings.order_lifetime),
                challenges: challenges.collect::<Result<_, Refusal>>()?,
            };
            ids.push(one.id.clone());
            new.push(one);
        }
        match refused.is_empty() {
            true => Ok((ids, new)),
            false => Err(Problem::of_identifiers(refused).into()),
        }
    }

    pub(super) fn order(&self, post: &Post, id: &str) -> Result<Answer, Refusal> {
        let order = self.order_of(post, id)?;
        content::nothing(&post.content)?;
        Ok(self.show_order(200, &self.see(order, post.now)?))
    }

    /// An order of the account that asks.
    fn order_of(&self, post: &Post, id: &str) -> Result<Arc<OrderRecord>, Refusal> {
        let order = self.store.order(id)?;
        let order = order.ok_or_else(|| nothing_here("order"))?;
        match order.account == post.account()?.id {
            true => Ok(order),
            false => Err(another().into()),
        }
    }

    pub(super) fn finalize(&self, post: &Post, id: &str) -> Result<Outcome, Refusal> {
        let mut order = self.order_of(post, id)?;
        let wish: Finalization<'_> = content::read(&post.content)?;
        let der: Arc<[u8]> = csr::decode(&wish.csr)?.into();
        let digest: [u8; 32] = Sha256::digest(&der).into();
        let mut is_checked = false;
        for _ in 0..TRIES {
            let seen = self.see(order, post.now)?;
            match seen.status {
                OrderStatus::Ready => {}
                _ if is_for(&seen.order, digest) => {
                    // The same once more, as if its answer had been lost
                    return Ok(self.show_order(200, &seen).into());
                }
                status => return Err(not_ready(status).into()),
            }
            if !is_checked {
                self.policy.may_use(post.account()?)?;
                self.check_request(&der, &seen)?;
                is_checked = true;
            }
            let processing = OrderRecord {
                state: OrderState::Processing(Processing {
                    csr: Arc::clone(&der),
                    since: post.now,
                }),
                ..(*seen.order).clone()
            };
            match self.store.update_order(processing, &seen.authorizations) {
                Ok(order) => {
                    let work = self.issue(&order, post.now)?;
                    let answer = self.show_order(200, &self.see(order, post.now)?);
                    return Ok(Outcome {
                        answer,
                        work: Some(Work::Issue(work)),
                    });
                }
                Err(StoreError::Changed) => order = self.order_of(post, id)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Changed.into())
    }

    /// Checks the request for a certificate. The order stays as it is.
    fn check_request(&self, der: &[u8], seen: &Seen) -> Result<(), Refusal> {
        let algorithms = self.policy.request_algorithms();
        let request = csr::check_csr(der, &seen.order.identifiers, algorithms)?;
        if let Some(key) = csr::account_key(&request)
            && self.store.account_of_key(&key.thumbprint())?.is_some()
        {
            // RFC 8555 section 11.1
            return Err(csr::bad("its key is that of an account: use another").into());
        }
        Ok(self.policy.may_finalize(&seen.order, &request)?)
    }
}

/// Whether an order was finalized by the request for a certificate with this digest.
fn is_for(order: &OrderRecord, digest: [u8; 32]) -> bool {
    match &order.state {
        OrderState::Processing(work) => Sha256::digest(&work.csr)[..] == digest,
        OrderState::Valid { csr, .. } => *csr == digest,
        OrderState::Open | OrderState::Invalid(_) => false,
    }
}

fn not_ready(status: OrderStatus) -> Problem {
    let detail = match status {
        OrderStatus::Pending => "the order is pending: meet its challenges first",
        OrderStatus::Processing => "the order was finalized with another request",
        OrderStatus::Valid => "the order has its certificate: make another order for another",
        _ => "the order is invalid: see its error, and make another",
    };
    Problem::new(ProblemType::OrderNotReady, detail)
}

/// There is no such object.
pub(super) fn nothing_here(what: &str) -> Problem {
    Problem::malformed(format!("there is no {what} at this URL")).with_status(404)
}
