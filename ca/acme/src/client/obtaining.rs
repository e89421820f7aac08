//! The way to a certificate: which request comes next, and what its answer changes.

use alloc::borrow::Cow;
use core::time::Duration;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_keys::Signer;
use pq_keys::der::Encode;
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::certificate::Certificate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::chain;
use super::error::{ClientError, Stage};
use super::exchange::{Answer, Method, Request};
use super::wanted::Wanted;
use crate::challenge::{KeyAuthorization, fits};
use crate::identifier::Identifier;
use crate::jws::{self, KeyId, external_account};
use crate::objects::{
    AccountStatus, Authorization, AuthorizationStatus, ChallengeKind, ChallengeStatus, Directory,
    Finalization, NewAccount, NewOrder, Order, OrderStatus, Time,
};
use crate::problem::{Problem, ProblemType};

/// What comes next.
#[derive(Debug)]
pub enum Step {
    /// Send this, and hand over the [answer](Obtaining::received), or say that there is [none](Obtaining::unanswered).
    Send(Request),
    /// Do nothing for so long.
    Wait(Duration),
    /// Show what these challenges ask for, until all is done, and [say](Obtaining::shown) when it can be seen.
    Show(Vec<Shown>),
    /// There is the certificate.
    Done(Issued),
}

/// What a challenge asks to be shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shown {
    /// For whom, without `*.`.
    pub name: Identifier,
    /// How.
    pub kind: ChallengeKind,
    /// What.
    pub authorization: KeyAuthorization,
}

/// A certificate that came.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The certificate, and those of CAs that follow it.
    pub chain: Vec<Certificate>,
    /// The account's URL.
    pub account: String,
    /// The order's URL.
    pub order: String,
}

/// A client on its way to a certificate, by an account with this key.
#[derive(Debug)]
pub struct Obtaining<'k, S: Signer + ?Sized> {
    key: &'k S,
    public: AnyJwk,
    subject: SubjectPublicKeyInfoDer<'static>,
    wanted: Wanted,
    directory_url: String,
    directory: Option<Directory>,
    nonce: Option<String>,
    account: Option<String>,
    order: Option<(String, Order<'static>)>,
    /// One for each authorization that is not valid yet.
    asked: Vec<Asked>,
    issued: Option<Issued>,
    state: State,
    /// What the request was for that was made last.
    sent: Sent,
    /// Nothing is sent before.
    not_before: Option<Time>,
    /// When the client gives up.
    until: Option<Time>,
    /// How often in a row there was no answer, or a refusal.
    failures: u32,
    /// How often the same was looked at.
    looks: u32,
}

#[derive(Debug)]
struct Asked {
    url: String,
    challenge_url: String,
    shown: Shown,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Directory,
    Account,
    NewOrder,
    /// Reading the authorization with this number.
    Authorization(usize),
    Show,
    /// Saying that what is asked with this number can be seen.
    Challenge(usize),
    /// Waiting for the authorization of what is asked with this number.
    Validation(usize),
    Order,
    Finalize,
    Certificate,
    Done,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sent {
    Nothing,
    Nonce,
    Of(State),
}

/// How often the same is sent, if the server or the network fails, or nonces are refused.
const MAX_TRIES: u32 = 6;

/// The longest time between two looks at the same, where the server names none.
const LONGEST_PAUSE: u64 = 10;

impl<'k, S: Signer + ?Sized> Obtaining<'k, S> {
    /// Begins at the directory with this URL.
    ///
    /// # Errors
    ///
    /// [`ClientError::Key`] if the key can't be an account's, and [`ClientError::SameKey`] if the request is for that key.
    pub fn new(
        directory_url: impl Into<String>,
        key: &'k S,
        wanted: Wanted,
    ) -> Result<Self, ClientError> {
        let public = AnyJwk::of(key)?;
        let subject = wanted.csr.parsed().info.public_key.to_der();
        // It was read, or made, as DER.
        let subject = SubjectPublicKeyInfoDer::from(subject.unwrap_or_default());
        if subject.as_ref() == public.to_spki_der() {
            return Err(ClientError::SameKey);
        }
        Ok(Self {
            key,
            public,
            subject,
            wanted,
            directory_url: directory_url.into(),
            directory: None,
            nonce: None,
            account: None,
            order: None,
            asked: Vec::new(),
            issued: None,
            state: State::Directory,
            sent: Sent::Nothing,
            not_before: None,
            until: None,
            failures: 0,
            looks: 0,
        })
    }

    /// The directory, once it was read.
    pub fn directory(&self) -> Option<&Directory> {
        self.directory.as_ref()
    }

    /// The account's URL, once it is known.
    pub fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    /// What comes next. Asked twice, it says the same.
    ///
    /// # Errors
    ///
    /// What keeps the client from going on.
    pub fn next(&mut self, now: Time) -> Result<Step, ClientError> {
        if let Some(not_before) = self.not_before {
            match now.until(not_before) {
                Duration::ZERO => self.not_before = None,
                left => return Ok(Step::Wait(left)),
            }
        }
        let stage = self.stage();
        match self.state {
            State::Show => {
                let shown = self.asked.iter().map(|asked| asked.shown.clone());
                return Ok(Step::Show(shown.collect()));
            }
            State::Done => {
                if let Some(issued) = &self.issued {
                    return Ok(Step::Done(issued.clone()));
                }
            }
            State::Directory => {
                self.sent = Sent::Of(State::Directory);
                return Ok(Step::Send(Request {
                    method: Method::Get,
                    url: self.directory_url.clone(),
                    body: None,
                    accept: JSON,
                }));
            }
            _ => {}
        }
        let directory = self.directory.as_ref();
        let directory = directory.ok_or_else(|| unexpected(stage, 0, "there is no directory"))?;
        let Some(nonce) = &self.nonce else {
            self.sent = Sent::Nonce;
            return Ok(Step::Send(Request {
                method: Method::Head,
                url: directory.new_nonce.clone(),
                body: None,
                accept: JSON,
            }));
        };
        let (url, payload) = self.content(directory)?;
        let by = match &self.account {
            Some(account) if self.state != State::Account => KeyId::Account(account.clone()),
            _ => KeyId::Key(Box::new(self.public.clone())),
        };
        let body = jws::write(self.key, &by, Some(nonce), &url, payload.as_bytes())?;
        self.sent = Sent::Of(self.state);
        Ok(Step::Send(Request {
            method: Method::Post,
            url,
            body: Some(body),
            accept: match self.state {
                State::Certificate => CHAIN,
                _ => JSON,
            },
        }))
    }

    /// Where the next request goes, and its content.
    fn content(&self, directory: &Directory) -> Result<(String, String), ClientError> {
        let asked = |number: usize| {
            let asked = self.asked.get(number);
            asked.ok_or_else(|| unexpected(self.stage(), 0, "there is no such authorization"))
        };
        let nothing = String::new();
        Ok(match self.state {
            State::Account => (directory.new_account.clone(), self.new_account(directory)?),
            State::NewOrder => (directory.new_order.clone(), self.new_order(directory)?),
            State::Authorization(number) => {
                let (_, order) = self.order()?;
                let url = order.authorizations.get(number);
                let url =
                    url.ok_or_else(|| unexpected(Stage::Order, 0, "it has no such authorization"))?;
                (url.clone(), nothing)
            }
            State::Challenge(number) => (asked(number)?.challenge_url.clone(), "{}".into()),
            State::Validation(number) => (asked(number)?.url.clone(), nothing),
            State::Finalize => {
                let (_, order) = self.order()?;
                let csr = base64url::encode(self.wanted.csr.to_der());
                let csr = Cow::Owned(csr);
                (order.finalize.clone(), json(&Finalization { csr }))
            }
            State::Certificate => {
                let (_, order) = self.order()?;
                let url = order.certificate.as_ref();
                let url =
                    url.ok_or_else(|| unexpected(Stage::Order, 0, "it has no certificate"))?;
                (url.clone(), nothing)
            }
            State::Order | State::Directory | State::Show | State::Done => {
                (self.order()?.0.clone(), nothing)
            }
        })
    }

    fn order(&self) -> Result<&(String, Order<'static>), ClientError> {
        let order = self.order.as_ref();
        order.ok_or_else(|| unexpected(Stage::Order, 0, "there is none"))
    }

    fn new_account(&self, directory: &Directory) -> Result<String, ClientError> {
        if self.wanted.has_account {
            return Ok(json(&NewAccount {
                only_return_existing: true,
                ..NewAccount::default()
            }));
        }
        let meta = directory.meta.as_ref();
        let terms = meta.and_then(|meta| meta.terms_of_service.as_ref());
        if let (Some(terms), false) = (terms, self.wanted.agrees) {
            return Err(ClientError::Terms(terms.clone()));
        }
        let is_required = meta.is_some_and(|meta| meta.external_account_required);
        if is_required && self.wanted.external.is_none() {
            return Err(ClientError::NoExternalAccount);
        }
        let binding = self.wanted.external.as_ref().map(|external| {
            external_account::write(
                &external.kid,
                &external.key,
                external.algorithm,
                &directory.new_account,
                &self.public,
            )
        });
        let binding = binding.map(RawValue::from_string).transpose();
        let binding = binding.map_err(|error| unexpected(Stage::Account, 0, error.to_string()))?;
        let contact = Some(self.wanted.contact.clone()).filter(|contact| !contact.is_empty());
        Ok(json(&NewAccount {
            contact,
            terms_of_service_agreed: self.wanted.agrees,
            only_return_existing: false,
            external_account_binding: binding.as_deref(),
        }))
    }

    fn new_order(&self, directory: &Directory) -> Result<String, ClientError> {
        if let Some(wanted) = &self.wanted.profile {
            let meta = directory.meta.as_ref();
            let offered = meta.map(|meta| meta.profiles.keys().cloned().collect());
            let offered: Vec<String> = offered.unwrap_or_default();
            if !offered.contains(wanted) {
                let wanted = wanted.clone();
                return Err(ClientError::NoProfile { wanted, offered });
            }
        }
        let mut order = NewOrder::new(self.wanted.names.clone());
        order.profile.clone_from(&self.wanted.profile);
        order.replaces.clone_from(&self.wanted.replaces);
        Ok(json(&order))
    }

    /// What the challenges ask for can be seen from now on.
    pub fn shown(&mut self) {
        if self.state == State::Show {
            self.state = State::Challenge(0);
        }
    }

    /// The request that was made last had no answer: it was not sent, or the answer didn't come. Whether to go on.
    pub fn unanswered(&mut self, now: Time) -> bool {
        // The server may have used it up.
        self.nonce = None;
        self.failures += 1;
        self.pause(now, Duration::from_secs(1 << self.failures.min(4)));
        self.failures < MAX_TRIES
    }

    fn pause(&mut self, now: Time, pause: Duration) {
        // In whole seconds, and at least one.
        self.not_before = Some(now.after(pause.max(Duration::from_secs(1))));
    }

    fn stage(&self) -> Stage {
        match self.state {
            State::Directory => Stage::Directory,
            State::Account => Stage::Account,
            State::NewOrder => Stage::NewOrder,
            State::Authorization(_) | State::Show | State::Validation(_) => Stage::Authorization,
            State::Challenge(_) => Stage::Challenge,
            State::Order => Stage::Order,
            State::Finalize => Stage::Finalize,
            State::Certificate | State::Done => Stage::Certificate,
        }
    }

    /// Takes the answer to the request that was made last.
    ///
    /// # Errors
    ///
    /// What keeps the client from going on.
    pub fn received(&mut self, answer: &Answer, now: Time) -> Result<(), ClientError> {
        let sent = core::mem::replace(&mut self.sent, Sent::Nothing);
        if matches!(sent, Sent::Of(state) if state != State::Directory) {
            self.nonce = None;
        }
        if let Some(nonce) = answer.nonce() {
            self.nonce = Some(nonce);
        }
        match sent {
            Sent::Nothing => return Ok(()),
            Sent::Nonce if answer.is_success() && self.nonce.is_none() => {
                let what = "it has no header Replay-Nonce that can be used";
                return Err(unexpected(Stage::Nonce, answer.status, what));
            }
            _ => {}
        }
        if !answer.is_success() {
            return self.refused(answer, now);
        }
        match sent {
            Sent::Of(state) => {
                self.take(state, answer, now)?;
                if self.state != state {
                    self.looks = 0;
                }
                self.failures = 0;
                Ok(())
            }
            // A nonce alone is no progress.
            Sent::Nothing | Sent::Nonce => Ok(()),
        }
    }

    /// What follows from a refusal: the same again, another way, or the end.
    fn refused(&mut self, answer: &Answer, now: Time) -> Result<(), ClientError> {
        let stage = self.stage();
        let problem = Box::new(answer.problem(now));
        self.failures += 1;
        let may_try = self.failures < MAX_TRIES;
        let is_of_server = answer.status >= 500;
        match &problem.kind {
            ProblemType::BadNonce if may_try => return Ok(()),
            _ if answer.status == 429 || is_of_server && problem.retry_after.is_some() => {
                return self.limited(problem, now);
            }
            _ if is_of_server && may_try => {
                self.pause(now, Duration::from_secs(1 << self.failures.min(4)));
                return Ok(());
            }
            _ => {}
        }
        match (self.state, &problem.kind) {
            (State::Account, ProblemType::AccountDoesNotExist) if self.wanted.has_account => {
                self.wanted.has_account = false;
                Ok(())
            }
            // Servers that don't know a kind of keys say one of these, and some never heard of it.
            (
                State::Account,
                ProblemType::BadSignatureAlgorithm
                | ProblemType::BadPublicKey
                | ProblemType::Malformed,
            ) => Err(ClientError::AccountKey {
                algorithm: self.public.algorithm().name(),
                problem,
            }),
            // That it follows another one is only said to the server's advantage.
            (State::NewOrder, _) if self.wanted.replaces.take().is_some() => Ok(()),
            // It may have been finalized already, by a request whose answer was lost.
            (State::Finalize, ProblemType::OrderNotReady) if may_try => {
                self.state = State::Order;
                self.wait(answer, now)
            }
            _ => Err(ClientError::Refused { stage, problem }),
        }
    }

    /// Waits as long as the server says, if that is no longer than the client has patience.
    fn limited(&mut self, problem: Box<Problem>, now: Time) -> Result<(), ClientError> {
        let wait = problem.retry_after.unwrap_or(Duration::from_secs(60));
        match wait <= self.wanted.patience && self.failures < MAX_TRIES {
            true => {
                self.pause(now, wait);
                Ok(())
            }
            false => Err(ClientError::RateLimited {
                until: now.after(wait),
                problem,
            }),
        }
    }

    /// What follows from an answer with what was asked for.
    fn take(&mut self, state: State, answer: &Answer, now: Time) -> Result<(), ClientError> {
        match state {
            State::Directory => {
                self.directory = Some(read(Stage::Directory, answer)?);
                self.state = State::Account;
            }
            State::Account => {
                let account: AccountState = read(Stage::Account, answer)?;
                if account.status != AccountStatus::Valid {
                    let what = "the account is deactivated or revoked; use another key";
                    return Err(unexpected(Stage::Account, answer.status, what));
                }
                self.account = Some(location(Stage::Account, answer)?);
                self.state = State::NewOrder;
            }
            State::NewOrder => {
                let order: Order<'static> = read(Stage::NewOrder, answer)?;
                self.check_names(&order, answer)?;
                self.order = Some((location(Stage::NewOrder, answer)?, order));
                self.until = Some(now.after(self.wanted.patience));
                self.state = match self.order()?.1.authorizations.len() {
                    0 => State::Order,
                    _ => State::Authorization(0),
                };
            }
            State::Authorization(number) => {
                let authorization: Authorization<'static> = read(Stage::Authorization, answer)?;
                self.choose(number, authorization)?;
                let next = number + 1;
                let is_last = self.order()?.1.authorizations.len() == next;
                self.state = match (is_last, self.asked.is_empty()) {
                    (false, _) => State::Authorization(next),
                    (true, false) => State::Show,
                    (true, true) => State::Order,
                };
            }
            State::Challenge(number) => {
                let next = number + 1;
                self.state = match next < self.asked.len() {
                    true => State::Challenge(next),
                    false => State::Validation(0),
                };
                if !matches!(self.state, State::Challenge(_)) {
                    self.pause(now, Duration::from_secs(1));
                }
            }
            State::Validation(number) => self.validated(number, answer, now)?,
            State::Order | State::Finalize => {
                let order: Order<'static> = read(self.stage(), answer)?;
                self.ordered(state, order, answer, now)?;
            }
            State::Certificate => {
                let names = &self.wanted.names;
                let chain = chain::check(&answer.body, &self.subject, names, now)?;
                self.issued = Some(Issued {
                    chain,
                    account: self.account.clone().unwrap_or_default(),
                    order: self.order()?.0.clone(),
                });
                self.state = State::Done;
            }
            State::Show | State::Done => {}
        }
        Ok(())
    }

    /// An order for other names would lead to a certificate for them.
    fn check_names(&self, order: &Order<'_>, answer: &Answer) -> Result<(), ClientError> {
        let [mut ordered, mut wanted] = [order.identifiers.to_vec(), self.wanted.names.clone()];
        for names in [&mut ordered, &mut wanted] {
            names.sort();
            names.dedup();
        }
        match ordered == wanted {
            true => Ok(()),
            false => {
                let what = "the order is for other names than those that were asked for";
                Err(unexpected(Stage::NewOrder, answer.status, what))
            }
        }
    }

    /// Chooses how to show that a name is the client's.
    fn choose(
        &mut self,
        number: usize,
        authorization: Authorization<'static>,
    ) -> Result<(), ClientError> {
        let name = authorization.identifier.into_owned();
        match authorization.status {
            AuthorizationStatus::Valid => return Ok(()),
            AuthorizationStatus::Pending => {}
            _ => {
                let problem = why(&authorization.challenges);
                return Err(ClientError::NotValidated { name, problem });
            }
        }
        let offered = authorization.challenges;
        let can_be_shown = |kind: &ChallengeKind| {
            fits(kind, &name, authorization.wildcard).then(|| {
                offered
                    .iter()
                    .find(|one| one.kind == *kind && is_token(&one.token))
            })?
        };
        let Some(chosen) = self.wanted.challenges.iter().find_map(can_be_shown) else {
            let offered = offered.into_iter().map(|one| one.kind).collect();
            return Err(ClientError::NoChallenge { name, offered });
        };
        let url = self.order()?.1.authorizations[number].clone();
        self.asked.push(Asked {
            url,
            challenge_url: chosen.url.clone(),
            shown: Shown {
                authorization: KeyAuthorization::new(&chosen.token, &self.public.thumbprint()),
                kind: chosen.kind.clone(),
                name,
            },
        });
        Ok(())
    }

    fn validated(&mut self, number: usize, answer: &Answer, now: Time) -> Result<(), ClientError> {
        let authorization: Authorization<'static> = read(Stage::Authorization, answer)?;
        match authorization.status {
            AuthorizationStatus::Valid => {
                let next = number + 1;
                self.state = match next < self.asked.len() {
                    true => State::Validation(next),
                    false => State::Order,
                };
                Ok(())
            }
            AuthorizationStatus::Pending => self.wait(answer, now),
            _ => Err(ClientError::NotValidated {
                name: authorization.identifier.into_owned(),
                problem: why(&authorization.challenges),
            }),
        }
    }

    fn ordered(
        &mut self,
        asked: State,
        order: Order<'static>,
        answer: &Answer,
        now: Time,
    ) -> Result<(), ClientError> {
        let status = order.status;
        let problem = order.error.as_deref().cloned().map(Box::new);
        let url = self.order()?.0.clone();
        self.order = Some((url, order));
        self.state = State::Order;
        match status {
            OrderStatus::Valid => self.state = State::Certificate,
            OrderStatus::Ready if asked == State::Order => self.state = State::Finalize,
            OrderStatus::Pending | OrderStatus::Processing | OrderStatus::Ready => {
                self.wait(answer, now)?;
            }
            OrderStatus::Invalid => return Err(ClientError::OrderInvalid(problem)),
        }
        Ok(())
    }

    /// Waits before the next look at the same, as the server says or a little longer each time.
    fn wait(&mut self, answer: &Answer, now: Time) -> Result<(), ClientError> {
        let until = self.until.unwrap_or(now);
        let left = now.until(until);
        let usual = Duration::from_secs((1 << self.looks.min(8)).min(LONGEST_PAUSE));
        let pause = answer.wait(now).unwrap_or(usual);
        if left.is_zero() {
            return Err(ClientError::TooLong {
                stage: self.stage(),
                patience: self.wanted.patience,
            });
        }
        self.looks += 1;
        self.pause(now, pause.min(left));
        Ok(())
    }
}

/// The kinds of answers.
const JSON: &str = "application/json";
const CHAIN: &str = "application/pem-certificate-chain";

/// What a client looks at in an account.
#[derive(serde::Deserialize)]
struct AccountState {
    status: AccountStatus,
}

fn json(content: &impl Serialize) -> String {
    // It has nothing that has no JSON.
    serde_json::to_string(content).unwrap_or_default()
}

fn read<T: DeserializeOwned>(stage: Stage, answer: &Answer) -> Result<T, ClientError> {
    let read = serde_json::from_slice(&answer.body);
    read.map_err(|error| unexpected(stage, answer.status, error.to_string()))
}

fn location(stage: Stage, answer: &Answer) -> Result<String, ClientError> {
    let location = answer.location.clone();
    location.ok_or_else(|| unexpected(stage, answer.status, "it has no header Location"))
}

fn unexpected(stage: Stage, status: u16, what: impl Into<String>) -> ClientError {
    ClientError::Unexpected {
        stage,
        status,
        what: what.into(),
    }
}

/// Tokens become names of files: they are base64url (RFC 8555, section 8.3), and nothing else.
fn is_token(token: &str) -> bool {
    const MAX: usize = 256;
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX).contains(&token.len()) && token.bytes().all(is_base64url)
}

/// What the server says about a challenge that was not met.
fn why(challenges: &[crate::objects::Challenge<'_>]) -> Option<Box<Problem>> {
    let mut invalid = challenges
        .iter()
        .filter(|one| one.status == ChallengeStatus::Invalid);
    let problem = invalid.find_map(|one| one.error.as_deref());
    problem.cloned().map(Box::new)
}
