//! Authorizations and their challenges (RFC 8555, section 7.5).

use alloc::sync::Arc;

use super::Server;
use super::accounts::{TRIES, another};
use super::answer::{Answer, Outcome, Refusal, Work};
use super::content;
use super::orders::nothing_here;
use super::policy::Policy;
use super::posts::Post;
use super::status::of_authorization;
use crate::objects::{AuthorizationStatus, Deactivation, Time};
use crate::problem::Problem;
use crate::store::{
    AuthorizationRecord, AuthorizationState, ChallengeRecord, ChallengeState, Store, StoreError,
};

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn authorization(&self, post: &Post, id: &str) -> Result<Answer, Refusal> {
        let one = self.authorization_of(post, id)?;
        if post.content.is_empty() {
            return Ok(self.show_authorization(&one, post.now));
        }
        let wish: Deactivation = content::read(&post.content)?;
        if wish.status != AuthorizationStatus::Deactivated {
            return Err(Problem::malformed(
                "an authorization can be \"deactivated\", and nothing else",
            )
            .into());
        }
        let changed = self.change_authorization::<Refusal>(one, |one| {
            match of_authorization(one, post.now) {
                AuthorizationStatus::Pending | AuthorizationStatus::Valid => {
                    let state = AuthorizationState::Deactivated;
                    Ok(Some(AuthorizationRecord {
                        state,
                        ..one.clone()
                    }))
                }
                AuthorizationStatus::Deactivated => Ok(None),
                _ => Err(Problem::malformed("the authorization is over already").into()),
            }
        })?;
        Ok(self.show_authorization(&changed, post.now))
    }

    /// An authorization of the account that asks.
    fn authorization_of(&self, post: &Post, id: &str) -> Result<Arc<AuthorizationRecord>, Refusal> {
        let one = self.store.authorization(id)?;
        let one = one.ok_or_else(|| nothing_here("authorization"))?;
        match one.account == post.account()?.id {
            true => Ok(one),
            false => Err(another().into()),
        }
    }

    /// Changes an authorization to what this function makes of it, unless that is nothing.
    pub(super) fn change_authorization<E: From<StoreError>>(
        &self,
        mut one: Arc<AuthorizationRecord>,
        change: impl Fn(&AuthorizationRecord) -> Result<Option<AuthorizationRecord>, E>,
    ) -> Result<Arc<AuthorizationRecord>, E> {
        for _ in 0..TRIES {
            let Some(changed) = change(&one)? else {
                return Ok(one);
            };
            match self.store.update_authorization(changed) {
                Ok(changed) => return Ok(changed),
                Err(StoreError::Changed) => {
                    let found = self.store.authorization(&one.id)?;
                    one = found.ok_or(StoreError::Changed)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Changed.into())
    }

    pub(super) fn challenge(&self, post: &Post, id: &str, kind: &str) -> Result<Outcome, Refusal> {
        let one = self.authorization_of(post, id)?;
        let index = one
            .challenges
            .iter()
            .position(|challenge| challenge.kind.name() == kind)
            .ok_or_else(|| nothing_here("challenge"))?;
        if post.content.is_empty() {
            return Ok(self.show_challenge(&one, index).into());
        }
        // An object with nothing in it that matters
        let _: serde::de::IgnoredAny = content::read(&post.content)?;
        if one.challenges[index].state == ChallengeState::Pending {
            let limits = self.policy.failure_limits(&one.account, &one.identifier);
            self.look(&limits, post.now)?;
        }
        let began = core::cell::Cell::new(false);
        let changed = self.change_authorization::<Refusal>(one, |one| {
            began.set(false);
            if one.challenges[index].state != ChallengeState::Pending {
                return Ok(None);
            }
            match of_authorization(one, post.now) {
                AuthorizationStatus::Pending => {
                    began.set(true);
                    Ok(Some(self.begun(one, index, post.now)))
                }
                _ => Err(Refusal::from(Problem::malformed(
                    "the challenge's authorization is no longer pending",
                ))),
            }
        })?;
        let answer = self.show_challenge(&changed, index);
        let work = began.get().then(|| {
            let key = &post.account()?.key;
            let mut work = self.validate(&changed, index, key, post.now);
            work.is_first = true;
            Ok::<_, Refusal>(Work::Validate(work))
        });
        Ok(Outcome {
            answer,
            work: work.transpose()?,
        })
    }

    fn show_challenge(&self, one: &AuthorizationRecord, index: usize) -> Answer {
        let challenge = &one.challenges[index];
        let answer = Answer::json(200, &self.challenge_object(one, challenge))
            .linked(&self.urls.authorization(&one.id), "up");
        match challenge.state {
            ChallengeState::Processing { .. } => self.to_be_polled(answer),
            _ => answer,
        }
    }

    /// The same authorization, where somebody has been looking at a challenge since now. There is not any time for that.
    fn begun(&self, one: &AuthorizationRecord, index: usize, now: Time) -> AuthorizationRecord {
        let mut after = one.clone();
        after.challenges[index] = ChallengeRecord {
            state: ChallengeState::Processing { since: now },
            ..after.challenges[index].clone()
        };
        after.expires = after.expires.min(now.after(self.settings.validation_time));
        after
    }
}
