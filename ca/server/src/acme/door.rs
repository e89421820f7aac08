//! Requests in, answers out, and the work that they bring.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use core::pin::Pin;
use core::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use pq_acme::jws::MAX_BODY_LEN;
use pq_acme::nonce::Nonces;
use pq_acme::objects::Time;
use pq_acme::server::{self, Answer, Issue, Outcome, Server, Validate, Work};
use pq_acme::store::{Store, StoreError};
use pq_serving::{Client, Handler, Protection, WholeRequests};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::external_accounts::ExternalAccounts;
use super::issuing::carry_out;
use super::policy::{CaPolicy, Now};
use crate::clock::Clock;
use crate::doors::{Issuing, Mounted};
use crate::validation::{Question, Validator, Verdict};

/// How many requests are worked on at a time. Each takes a thread while it does.
const AT_ONCE: usize = 64;
/// How many certificates are issued at a time that nobody waits for.
const TAKEN_UP_AT_ONCE: usize = 4;
/// How much work is taken up at a time that somebody left.
const TAKEN_UP: usize = 64;
/// How often somebody looks for it.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// ACME for a CA: what answers below a path, such as `/acme`, and does the work that requests bring.
///
/// A certificate is issued before the request to finalize its order is answered, and only once for each order, whatever
/// happens: its ledger says so. Challenges are asked meanwhile.
pub struct AcmeDoor<S> {
    inner: Arc<Inner<S>>,
    requests: WholeRequests<Answering>,
}

type Answering =
    Box<dyn Fn(Request<Option<Bytes>>, &Protection, &Client) -> Response<Bytes> + Send + Sync>;

struct Inner<S> {
    server: Server<S, CaPolicy>,
    validator: Validator,
    clock: Clock,
    now: Now,
    taken_up: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl<S: Store + 'static> AcmeDoor<S> {
    /// ACME at this URL, whose path is where it is mounted. `ca` is the CA as it is at a time; `nonces` have a key that all
    /// replicas share.
    pub fn new(
        url: &str,
        store: S,
        nonces: Nonces,
        validator: Validator,
        ca: impl Fn() -> Option<Issuing> + Send + Sync + 'static,
        clock: Clock,
    ) -> Self {
        let now: Now = Arc::new(ca);
        let policy = CaPolicy::new(now.clone(), clock.clone());
        let server = Server::new(url, store, policy, nonces);
        Self::of(server, validator, clock, now)
    }

    fn of(server: Server<S, CaPolicy>, validator: Validator, clock: Clock, now: Now) -> Self {
        let inner = Arc::new(Inner {
            server,
            validator,
            clock,
            now,
            taken_up: Arc::new(Semaphore::new(TAKEN_UP_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(TAKEN_UP)),
        });
        let answering = inner.clone();
        let answer: Answering = Box::new(move |request, protection, _| {
            // It runs on a thread of the runtime for work that blocks.
            answering.answer(&request, protection, &Handle::current())
        });
        Self {
            inner,
            requests: WholeRequests::new(MAX_BODY_LEN, AT_ONCE, answer),
        }
    }

    /// The URL of the directory, which clients are told.
    pub fn directory_url(&self) -> String {
        self.inner.server.directory_url()
    }

    /// From now on, accounts may be bound to these.
    pub fn replace_external_accounts(&self, accounts: ExternalAccounts) {
        self.inner.server.policy().replace_accounts(accounts);
    }

    /// Ends an account, as the operator: see [`revoke_account`](server::revoke_account). Says whether there is one. It may block.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn end_account(&self, id: &str) -> Result<bool, StoreError> {
        match server::revoke_account(self.inner.server.store(), id) {
            Ok(_) => Ok(true),
            Err(StoreError::Changed) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes up what somebody began and did not finish: at once, since it may have been this process before it was started
    /// anew, and now and then; and removes what
    /// ended long ago.
    pub async fn keep(self: Arc<Self>) -> Infallible {
        loop {
            let inner = self.inner.clone();
            let looked = tokio::task::spawn_blocking(move || {
                let now = inner.time();
                match inner.server.take_up(now, TAKEN_UP) {
                    Ok(all) => inner.begin_all(all, &Handle::current()),
                    Err(error) => tracing::error!(%error, "work that was left can't be found"),
                }
                if let Err(error) = inner.server.tidy(now) {
                    tracing::error!(%error, "what ended long ago can't be removed");
                }
            });
            if let Err(error) = looked.await {
                tracing::error!(%error, "looking for work that was left was broken off");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl<S: Store + 'static> Inner<S> {
    fn time(&self) -> Time {
        self.clock.now().into()
    }

    fn answer(
        self: &Arc<Self>,
        request: &Request<Option<Bytes>>,
        protection: &Protection,
        runtime: &Handle,
    ) -> Response<Bytes> {
        let target = request.uri().path_and_query();
        let target = target.map_or("", |target| target.as_str());
        let content_type = request.headers().get(CONTENT_TYPE);
        // What is no text is no type that is known.
        let content_type = content_type.map(|value| value.to_str().unwrap_or("?"));
        let too_long;
        let asked = server::Request {
            method: request.method().as_str(),
            target,
            content_type,
            body: match request.body() {
                Some(body) => body,
                None => {
                    too_long = vec![0; MAX_BODY_LEN + 1];
                    &too_long
                }
            },
            from: protection.peer.map(|peer| peer.ip()),
        };
        let Outcome { answer, work } = self.server.handle(&asked, self.time());
        let answer = match work {
            None => answer,
            Some(Work::Issue(work)) => self.issue_now(answer, &work),
            Some(work) => {
                self.begin(work, runtime);
                answer
            }
        };
        response(answer)
    }

    /// Issues a certificate, and shows the order as it is then.
    fn issue_now(&self, answer: Answer, work: &Issue) -> Answer {
        self.issue(work);
        let shown = self
            .server
            .with_order_as_it_is(answer.clone(), &work.order, self.time());
        shown.unwrap_or(answer)
    }

    /// Begins what was taken up. What could not be comes up again.
    fn begin_all(self: &Arc<Self>, all: Vec<Result<Work, StoreError>>, runtime: &Handle) {
        let (mut failed, mut first) = (0_usize, None);
        for work in all {
            match work {
                Ok(work) => self.begin(work, runtime),
                Err(error) => {
                    failed += 1;
                    first.get_or_insert(error);
                }
            }
        }
        if let Some(error) = first {
            tracing::error!(failed, %error, "some of the work that was left can't be taken up");
        }
    }

    /// Begins work that nobody waits for.
    fn begin(self: &Arc<Self>, work: Work, runtime: &Handle) {
        let inner = self.clone();
        match work {
            Work::Issue(work) => {
                // While the ledger is away, it comes up again and again: it is not to pile up.
                let Ok(waits) = self.waiting.clone().try_acquire_owned() else {
                    return;
                };
                let places = self.taken_up.clone();
                runtime.spawn(async move {
                    let _waits = waits;
                    // It is never closed.
                    let _place = places.acquire_owned().await;
                    let issued = tokio::task::spawn_blocking(move || inner.issue(&work));
                    if let Err(error) = issued.await {
                        tracing::error!(%error, "issuing was broken off");
                    }
                });
            }
            Work::Validate(work) => {
                runtime.spawn(async move { inner.validate(work).await });
            }
        }
    }

    fn issue(&self, work: &Issue) {
        let Some(ca) = (self.now)() else {
            tracing::error!(order = work.order, "the CA has no key here that issues");
            return;
        };
        carry_out(&self.server, &ca, work, self.clock.now());
    }

    async fn validate(self: Arc<Self>, work: Validate) {
        let question = Question {
            kind: work.kind.clone(),
            identifier: work.identifier.clone(),
            authorization: work.key_authorization.clone(),
            account: work.account.clone(),
        };
        let outcome = self.validator.validate(&question).await;
        for step in &outcome.steps {
            tracing::debug!(
                authorization = work.authorization,
                step,
                "a challenge is asked"
            );
        }
        let outcome = match outcome.verdict {
            Verdict::Valid { evidence } => Ok(evidence),
            Verdict::Invalid(refusal) => Err(refusal.problem()),
            Verdict::Undecided(refusal) if work.is_last => {
                tracing::warn!(authorization = work.authorization, %refusal, "a challenge could not be decided in time");
                Err(refusal.problem())
            }
            Verdict::Undecided(refusal) => {
                let authorization = &work.authorization;
                match work.is_first {
                    true => {
                        tracing::warn!(authorization, %refusal, "a challenge is asked again later");
                    }
                    false => {
                        tracing::debug!(authorization, %refusal, "a challenge is asked again later");
                    }
                }
                return;
            }
        };
        let said = tokio::task::spawn_blocking(move || {
            let now = self.time();
            self.server.validated(&work, outcome, now)
        });
        match said.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, "what came of a challenge is not stored; it is asked again")
            }
            Err(error) => {
                tracing::error!(%error, "what came of a challenge is not stored; it is asked again")
            }
        }
    }
}

impl<S: Store + 'static> Mounted for AcmeDoor<S> {
    fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send + '_>> {
        Box::pin(Handler::answer(&self.requests, request, protection))
    }

    fn problem(&self) -> Option<String> {
        let checked = self.inner.server.check_store(self.inner.time());
        checked.err().map(|error| error.to_string())
    }
}

impl<S> fmt::Debug for AcmeDoor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcmeDoor").finish_non_exhaustive()
    }
}

fn response(answer: Answer) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(answer.body));
    // The server has no others.
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
