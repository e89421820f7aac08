//! The entrance: what kind of a request it is, who signed it, and whether its nonce is good.

use alloc::sync::Arc;

use pq_jose::any::AnyJwk;

use super::Server;
use super::answer::{Answer, Outcome, Refusal, Request};
use super::content::no_randomness;
use super::policy::Policy;
use super::urls::Route;
use crate::jws::{self, KeyId, MAX_BODY_LEN};
use crate::nonce::Nonce;
use crate::objects::{AccountStatus, Time};
use crate::problem::{Problem, ProblemType};
use crate::store::{AccountRecord, Store};

/// A request whose signature is valid and whose nonce was used for it.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) by: Signer,
    pub(super) url: String,
    pub(super) content: Vec<u8>,
    pub(super) nonce: Nonce,
    pub(super) now: Time,
}

/// Who signed a request.
#[derive(Debug)]
pub(super) enum Signer {
    /// A valid account.
    Account(Arc<AccountRecord>),
    /// A key that the request brought.
    Key(Box<AnyJwk>),
}

impl Post {
    /// The account, for requests that only accounts make.
    pub(super) fn account(&self) -> Result<&Arc<AccountRecord>, Refusal> {
        match &self.by {
            Signer::Account(account) => Ok(account),
            Signer::Key(_) => Err(Problem::malformed(
                "the protected header has \"jwk\", and has to have \"kid\" here: the account's URL (RFC 8555 section 6.2)",
            )
            .into()),
        }
    }
}

impl<S: Store, P: Policy> Server<S, P> {
    /// Answers a request at this time.
    pub fn handle(&self, request: &Request<'_>, now: Time) -> Outcome {
        let route = self.urls.route(request.target);
        let handled = match route {
            None => Err(
                Problem::malformed("there is nothing at this URL: see the directory")
                    .with_status(404)
                    .into(),
            ),
            Some(route) => self.answer(route, request, now),
        };
        let is_post = request.method == "POST";
        let mut outcome = handled.unwrap_or_else(|refusal| refusal.answer().into());
        if route != Some(Route::Directory) {
            outcome.answer = outcome.answer.linked(&self.urls.index(), "index");
        }
        if is_post {
            // Without randomness there is none, and the client asks for one.
            if let Ok(nonce) = self.nonces.make(now) {
                outcome.answer = outcome.answer.with("Replay-Nonce", nonce);
            }
            outcome.answer = outcome.answer.with("Cache-Control", "no-store");
        }
        outcome
    }

    fn answer(
        &self,
        route: Route<'_>,
        request: &Request<'_>,
        now: Time,
    ) -> Result<Outcome, Refusal> {
        if !route.methods().contains(&request.method) {
            let allowed = route.methods().join(", ");
            let detail = format!("the method is none of {allowed}, which are for this URL");
            return Err(
                Refusal::from(Problem::malformed(detail).with_status(405)).with("Allow", allowed)
            );
        }
        match route {
            Route::Directory => {
                let meta = self.policy.meta().into_owned();
                return Ok(Answer::json(200, &self.urls.directory(meta)).into());
            }
            Route::NewNonce => {
                let nonce = self.nonces.make(now).map_err(no_randomness)?;
                let status = if request.method == "GET" { 204 } else { 200 };
                let answer = Answer::empty(status)
                    .with("Replay-Nonce", nonce)
                    .with("Cache-Control", "no-store");
                return Ok(answer.into());
            }
            Route::RenewalInfo(name) => return Ok(self.renewal_info(name, now)?.into()),
            _ => {}
        }
        let post = self.read_post(route, request, now)?;
        let from = request.from;
        Ok(match route {
            Route::Directory | Route::NewNonce | Route::RenewalInfo(_) => {
                return Err(Problem::malformed("the request is none by POST").into());
            }
            Route::NewAccount => self.new_account(&post, from)?.into(),
            Route::NewOrder => self.new_order(&post, from)?.into(),
            Route::RevokeCert => self.revoke_certificate(&post, from)?.into(),
            Route::KeyChange => self.change_key(&post)?.into(),
            Route::Account(id) => self.account(&post, id)?.into(),
            Route::Orders { account, after } => self.orders(&post, account, after)?.into(),
            Route::Order(id) => self.order(&post, id)?.into(),
            Route::Finalize(id) => self.finalize(&post, id)?,
            Route::Authorization(id) => self.authorization(&post, id)?.into(),
            Route::Challenge {
                authorization,
                kind,
            } => self.challenge(&post, authorization, kind)?,
            Route::Certificate { id, chain } => self.certificate(&post, id, chain)?.into(),
        })
    }

    fn read_post(
        &self,
        route: Route<'_>,
        request: &Request<'_>,
        now: Time,
    ) -> Result<Post, Refusal> {
        if !request.content_type.is_some_and(is_jose) {
            let detail = format!("the Content-Type has to be {}", jws::CONTENT_TYPE);
            return Err(Problem::malformed(detail).with_status(415).into());
        }
        if request.body.len() > MAX_BODY_LEN {
            let detail = format!("the request has more than {MAX_BODY_LEN} bytes");
            return Err(Problem::malformed(detail).with_status(413).into());
        }
        let signed = jws::read(request.body)?;
        if !self.urls.is_of(signed.url(), request.target) {
            return Err(Problem::unauthorized(
                "the \"url\" in the protected header is not the URL that the request was sent to (RFC 8555 section 6.4)",
            )
            .into());
        }
        let bad_nonce = |_| {
            Problem::new(
                ProblemType::BadNonce,
                "the nonce is not good, or no longer: try again with the one of this answer",
            )
        };
        let nonce = signed.nonce().unwrap_or_default();
        // That a nonce is not ours is cheap to see. It is used only by who signed correctly.
        self.nonces.check(nonce, now).map_err(bad_nonce)?;
        let by = self.signer(route, signed.key())?;
        let content = signed.verify(match &by {
            Signer::Account(account) => &account.key,
            Signer::Key(key) => key,
        })?;
        let nonce = self.nonces.take(nonce, now).map_err(bad_nonce)?;
        if let Signer::Account(account) = &by
            && account.status != AccountStatus::Valid
        {
            return Err(ended().into());
        }
        Ok(Post {
            by,
            url: signed.url().into(),
            content,
            nonce,
            now,
        })
    }

    fn signer(&self, route: Route<'_>, key: &KeyId) -> Result<Signer, Refusal> {
        match (route, key) {
            (Route::NewAccount | Route::RevokeCert, KeyId::Key(key)) => {
                Ok(Signer::Key(key.clone()))
            }
            (Route::NewAccount, KeyId::Account(_)) => Err(Problem::malformed(
                "the protected header has \"kid\", and has to have \"jwk\" here: the key of the new account (RFC 8555 section 6.2)",
            )
            .into()),
            (_, KeyId::Key(_)) => Err(Problem::malformed(
                "the protected header has \"jwk\", and has to have \"kid\" here: the account's URL (RFC 8555 section 6.2)",
            )
            .into()),
            (_, KeyId::Account(url)) => {
                let unknown = || {
                    Problem::new(
                        ProblemType::AccountDoesNotExist,
                        "there is no account with the URL in \"kid\": make one",
                    )
                };
                let id = self.urls.account_in(url).ok_or_else(unknown)?;
                let account = self.store.account(id)?.ok_or_else(unknown)?;
                Ok(Signer::Account(account))
            }
        }
    }
}

/// The account is no longer valid (RFC 8555, section 7.3.6).
pub(super) fn ended() -> Problem {
    Problem::unauthorized("the account was ended: make another, with another key").with_status(401)
}

/// Media types may have parameters.
fn is_jose(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(jws::CONTENT_TYPE)
}
