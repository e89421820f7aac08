//! The states that follow from what is stored and the time, and how objects are shown.

use alloc::borrow::Cow;
use alloc::sync::Arc;

use super::Server;
use super::answer::Answer;
use super::policy::Policy;
use crate::objects::{
    Authorization, AuthorizationStatus, Challenge, ChallengeStatus, Order, OrderStatus, Time,
};
use crate::problem::{Problem, Subproblem};
use crate::store::{
    AuthorizationRecord, AuthorizationState, ChallengeRecord, ChallengeState, OrderRecord,
    OrderState, Store, StoreError,
};

/// The state of an authorization at a time.
pub(super) fn of_authorization(one: &AuthorizationRecord, now: Time) -> AuthorizationStatus {
    match one.state {
        AuthorizationState::Pending | AuthorizationState::Valid if one.expires <= now => {
            AuthorizationStatus::Expired
        }
        AuthorizationState::Pending => AuthorizationStatus::Pending,
        AuthorizationState::Valid => AuthorizationStatus::Valid,
        AuthorizationState::Invalid => AuthorizationStatus::Invalid,
        AuthorizationState::Deactivated => AuthorizationStatus::Deactivated,
        AuthorizationState::Revoked => AuthorizationStatus::Revoked,
    }
}

/// An order with its authorizations, as they were read, and the state that follows.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) order: Arc<OrderRecord>,
    /// None of them was read if the state doesn't depend on them.
    pub(super) authorizations: Vec<Arc<AuthorizationRecord>>,
    pub(super) status: OrderStatus,
    /// Why it is invalid.
    problem: Option<Problem>,
}

impl Seen {
    fn new(
        order: Arc<OrderRecord>,
        authorizations: Vec<Arc<AuthorizationRecord>>,
        now: Time,
    ) -> Self {
        let (status, problem) = match &order.state {
            OrderState::Processing(_) => (OrderStatus::Processing, None),
            OrderState::Valid { .. } => (OrderStatus::Valid, None),
            OrderState::Invalid(problem) => (OrderStatus::Invalid, Some(problem.clone())),
            OrderState::Open => of_open(&order, &authorizations, now),
        };
        Self {
            order,
            authorizations,
            status,
            problem,
        }
    }
}

impl Seen {
    /// The order with the state that follows from its authorizations, if there will be no certificate and it doesn't say so
    /// itself.
    pub(super) fn came_to_nothing(&self) -> Option<OrderRecord> {
        let problem = self.problem.clone()?;
        (self.order.state == OrderState::Open).then(|| OrderRecord {
            state: OrderState::Invalid(problem),
            ..(*self.order).clone()
        })
    }
}

fn of_open(
    order: &OrderRecord,
    authorizations: &[Arc<AuthorizationRecord>],
    now: Time,
) -> (OrderStatus, Option<Problem>) {
    let states = || authorizations.iter().map(|one| of_authorization(one, now));
    if states().all(|state| state == AuthorizationStatus::Valid) && order.expires > now {
        return (OrderStatus::Ready, None);
    }
    let failed = authorizations.iter().filter_map(|one| failure(one, now));
    let failed: Vec<Subproblem> = failed.collect();
    if !failed.is_empty() {
        return (OrderStatus::Invalid, Some(Problem::of_identifiers(failed)));
    }
    if order.expires <= now {
        let detail = "the order was not finalized in time: make another";
        return (OrderStatus::Invalid, Some(Problem::malformed(detail)));
    }
    (OrderStatus::Pending, None)
}

/// Why an authorization keeps an order from ever being ready.
fn failure(one: &AuthorizationRecord, now: Time) -> Option<Subproblem> {
    let gone = |detail: &str| Some(Problem::unauthorized(detail));
    let problem = match of_authorization(one, now) {
        AuthorizationStatus::Pending | AuthorizationStatus::Valid => None,
        AuthorizationStatus::Invalid => {
            let mut challenges = one.challenges.iter();
            let failed = challenges.find_map(|one| match &one.state {
                ChallengeState::Invalid(problem) => Some(problem.clone()),
                _ => None,
            });
            failed.or_else(|| gone("a challenge was not met"))
        }
        AuthorizationStatus::Deactivated => gone("the authorization was given up"),
        AuthorizationStatus::Expired => gone("the authorization's time is over"),
        AuthorizationStatus::Revoked => gone("the authorization was taken back"),
    }?;
    Some(Subproblem {
        kind: problem.kind,
        detail: problem.detail,
        identifier: Some(one.identifier.clone()),
    })
}

impl<S: Store, P: Policy> Server<S, P> {
    /// An order as it is now.
    pub(super) fn see(&self, order: Arc<OrderRecord>, now: Time) -> Result<Seen, StoreError> {
        let authorizations = match order.state {
            OrderState::Open => self.store.authorizations(&order.authorizations)?,
            _ => Vec::new(),
        };
        Ok(Seen::new(order, authorizations, now))
    }

    pub(super) fn show_order(&self, status: u16, seen: &Seen) -> Answer {
        let order = &*seen.order;
        let certificate = match &order.state {
            OrderState::Valid { certificate, .. } => Some(self.urls.certificate(certificate, 0)),
            _ => None,
        };
        let shown = Order {
            status: seen.status,
            expires: Some(order.expires),
            identifiers: Cow::Borrowed(&order.identifiers),
            not_before: order.not_before,
            not_after: order.not_after,
            error: seen.problem.as_ref().map(Cow::Borrowed),
            authorizations: order
                .authorizations
                .iter()
                .map(|id| self.urls.authorization(id))
                .collect(),
            finalize: self.urls.finalize(&order.id),
            certificate,
            replaces: order.replaces.as_deref().map(Cow::Borrowed),
            profile: order.profile.as_deref().map(Cow::Borrowed),
        };
        let answer = Answer::json(status, &shown).with("Location", self.urls.order(&order.id));
        match seen.status {
            OrderStatus::Pending | OrderStatus::Processing => self.to_be_polled(answer),
            _ => answer,
        }
    }

    pub(super) fn to_be_polled(&self, answer: Answer) -> Answer {
        let seconds = self.settings.poll_interval.as_secs().max(1);
        answer.with("Retry-After", seconds.to_string())
    }

    pub(super) fn show_authorization(&self, one: &AuthorizationRecord, now: Time) -> Answer {
        let status = of_authorization(one, now);
        let challenges = one.challenges.iter();
        let shown = Authorization {
            identifier: Cow::Borrowed(&one.identifier),
            status,
            expires: Some(one.expires),
            // Once one was met or not, the others are of no interest (RFC 8555 section 7.1.4).
            challenges: challenges
                .filter(|challenge| match status {
                    AuthorizationStatus::Valid => {
                        matches!(challenge.state, ChallengeState::Valid { .. })
                    }
                    AuthorizationStatus::Invalid => {
                        matches!(challenge.state, ChallengeState::Invalid(_))
                    }
                    _ => true,
                })
                .map(|challenge| self.challenge_object(one, challenge))
                .collect(),
            wildcard: one.is_wildcard,
        };
        let answer = Answer::json(200, &shown);
        match status {
            AuthorizationStatus::Pending => self.to_be_polled(answer),
            _ => answer,
        }
    }

    pub(super) fn challenge_object<'a>(
        &self,
        authorization: &AuthorizationRecord,
        challenge: &'a ChallengeRecord,
    ) -> Challenge<'a> {
        let (status, validated, error) = match &challenge.state {
            ChallengeState::Pending => (ChallengeStatus::Pending, None, None),
            ChallengeState::Processing { .. } => (ChallengeStatus::Processing, None, None),
            ChallengeState::Valid { validated, .. } => {
                (ChallengeStatus::Valid, Some(*validated), None)
            }
            ChallengeState::Invalid(problem) => (ChallengeStatus::Invalid, None, Some(problem)),
        };
        Challenge {
            url: self.urls.challenge(&authorization.id, &challenge.kind),
            kind: challenge.kind.clone(),
            status,
            validated,
            error: error.map(Cow::Borrowed),
            token: Cow::Borrowed(&challenge.token),
        }
    }
}
