//! Histories of several accounts with several orders at once, generated, beside a model of the states of RFC 8555, section
//! 7.1.6: each answer is what the model says, and each order ends in at most one certificate, however often work is done.

use alloc::collections::BTreeMap;

use pq_acme::jws::{self, KeyId};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::Work;
use pq_jose::any::AnyJwk;
use pq_keys::Signer;
use pq_keys::classical::ClassicalKey;
use proptest::prelude::*;
use serde_json::Value;

use crate::kit::{Client, World, at, csr, ed25519, finalization, json, order_of, problem, text};

const ACCOUNTS: usize = 3;
const NAMES: [&str; 3] = ["a.example", "b.example", "*.a.example"];
const HOUR: u64 = 3600;
const ORDER_LIFETIME: u64 = 7 * 24 * HOUR;
const AUTHORIZATION_LIFETIME: u64 = 30 * 24 * HOUR;
const WORK_TIME: u64 = 120;
const VALIDATION_TIME: u64 = 6 * HOUR;

#[derive(Clone, Debug)]
enum Step {
    Order {
        by: usize,
        names: Vec<usize>,
    },
    Answer {
        by: usize,
        order: usize,
        which: usize,
        kind: usize,
    },
    GiveUp {
        by: usize,
        order: usize,
        which: usize,
    },
    Finalize {
        by: usize,
        order: usize,
        with_all_names: bool,
        key: bool,
    },
    /// Carries out work, which can be done again if it is kept.
    Work {
        which: usize,
        is_good: bool,
        is_kept: bool,
    },
    /// A replica died.
    Forget {
        which: usize,
    },
    TakeUp,
    ChangeKey {
        by: usize,
    },
    End {
        by: usize,
    },
    Wait {
        hours: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let by = || 0..ACCOUNTS;
    let some = || 0..100_usize;
    prop_oneof![
        4 => (by(), prop::collection::vec(0..NAMES.len(), 1..3))
            .prop_map(|(by, names)| Step::Order { by, names }),
        8 => (by(), some(), some(), some())
            .prop_map(|(by, order, which, kind)| Step::Answer { by, order, which, kind }),
        1 => (by(), some(), some()).prop_map(|(by, order, which)| Step::GiveUp { by, order, which }),
        6 => (by(), some(), prop::bool::weighted(0.9), any::<bool>()).prop_map(
            |(by, order, with_all_names, key)| Step::Finalize { by, order, with_all_names, key }
        ),
        10 => (some(), prop::bool::weighted(0.9), any::<bool>())
            .prop_map(|(which, is_good, is_kept)| Step::Work { which, is_good, is_kept }),
        1 => some().prop_map(|which| Step::Forget { which }),
        2 => Just(Step::TakeUp),
        1 => by().prop_map(|by| Step::ChangeKey { by }),
        1 => by().prop_map(|by| Step::End { by }),
        3 => (0..100_u64).prop_map(|hours| Step::Wait { hours }),
    ]
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum AuthorizationState {
    Pending,
    Valid,
    Invalid,
    Deactivated,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ChallengeState {
    Pending,
    Processing(u64),
    Valid,
    Invalid,
}

#[derive(Clone, Debug)]
struct Authorization {
    url: String,
    owner: usize,
    name: usize,
    state: AuthorizationState,
    expires: u64,
    /// By their URLs.
    challenges: Vec<(String, ChallengeState)>,
}

impl Authorization {
    fn shown(&self, now: u64) -> &'static str {
        match self.state {
            AuthorizationState::Pending | AuthorizationState::Valid if self.expires <= now => {
                "expired"
            }
            AuthorizationState::Pending => "pending",
            AuthorizationState::Valid => "valid",
            AuthorizationState::Invalid => "invalid",
            AuthorizationState::Deactivated => "deactivated",
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum OrderState {
    Open,
    /// Since when, and with which key.
    Processing(u64, bool),
    Valid(bool),
    Invalid,
}

#[derive(Clone, Debug)]
struct Order {
    url: String,
    finalize: String,
    owner: usize,
    names: Vec<usize>,
    authorizations: Vec<usize>,
    state: OrderState,
    expires: u64,
}

/// The server, its clients, and what the model knows of them.
struct History<'a> {
    world: &'a World,
    clients: Vec<Client<'a>>,
    ended: Vec<bool>,
    keys: [ClassicalKey; 2],
    orders: Vec<Order>,
    authorizations: Vec<Authorization>,
    by_url: BTreeMap<String, usize>,
    work: Vec<Work>,
}

impl<'a> History<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            clients: (0..ACCOUNTS).map(|_| Client::registered(world)).collect(),
            ended: vec![false; ACCOUNTS],
            keys: [ed25519(), ed25519()],
            orders: Vec::new(),
            authorizations: Vec::new(),
            by_url: BTreeMap::new(),
            work: Vec::new(),
        }
    }

    fn now(&self) -> u64 {
        self.world.now().as_secs()
    }

    fn order_state(&self, order: &Order) -> &'static str {
        let now = self.now();
        match order.state {
            OrderState::Processing(..) => "processing",
            OrderState::Valid(_) => "valid",
            OrderState::Invalid => "invalid",
            OrderState::Open => {
                let mut states = order
                    .authorizations
                    .iter()
                    .map(|index| self.authorizations[*index].shown(now));
                match () {
                    () if order.expires <= now => "invalid",
                    () if states.clone().all(|state| state == "valid") => "ready",
                    () if states.all(|state| ["valid", "pending"].contains(&state)) => "pending",
                    () => "invalid",
                }
            }
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Order { by, names } => self.order(by, names),
            Step::Answer {
                by,
                order,
                which,
                kind,
            } => self.answer(by, order, which, kind),
            Step::GiveUp { by, order, which } => self.give_up(by, order, which),
            Step::Finalize {
                by,
                order,
                with_all_names,
                key,
            } => self.finalize(by, order, with_all_names, key),
            Step::Work {
                which,
                is_good,
                is_kept,
            } => self.work(which, is_good, is_kept),
            Step::Forget { which } => {
                if !self.work.is_empty() {
                    self.work.swap_remove(which % self.work.len());
                }
            }
            Step::TakeUp => self.take_up(),
            Step::ChangeKey { by } => self.change_key(by),
            Step::End { by } => {
                let url = self.clients[by].kid.clone().unwrap();
                let answer = self.clients[by].post(&url, r#"{"status":"deactivated"}"#);
                match self.ended[by] {
                    true => assert_eq!(problem(&answer), (401, ProblemType::Unauthorized)),
                    false => assert_eq!(json(&answer)["status"], "deactivated"),
                }
                self.ended[by] = true;
            }
            Step::Wait { hours } => self.world.wait(hours * HOUR),
        }
    }

    fn order(&mut self, by: usize, mut names: Vec<usize>) {
        names.sort_unstable();
        names.dedup();
        let texts: Vec<_> = names.iter().map(|name| NAMES[*name]).collect();
        let answer = self.clients[by].post(&at("new-order"), &order_of(&texts));
        if self.ended[by] {
            assert_eq!(problem(&answer), (401, ProblemType::Unauthorized));
            return;
        }
        assert_eq!(answer.status, 201, "{}", text(&answer));
        let shown = json(&answer);
        let expires = self.now() + ORDER_LIFETIME;
        let mut authorizations = Vec::new();
        let urls = shown["authorizations"].as_array().unwrap();
        assert_eq!(urls.len(), names.len());
        let mut left = names.clone();
        for url in urls {
            let url = url.as_str().unwrap();
            let index = match self.by_url.get(url) {
                Some(index) => *index,
                None => self.learn(by, url),
            };
            let one = &self.authorizations[index];
            assert_eq!(one.owner, by);
            // There is one for each name: the one that lasts longest, if it lasts as long as the order.
            let at = left.iter().position(|name| *name == one.name);
            left.remove(at.expect("the authorization of another name"));
            let best = self.authorizations.iter().filter(|other| {
                (other.owner, other.name) == (by, one.name)
                    && other.state == AuthorizationState::Valid
                    && other.expires >= expires
            });
            match best.map(|other| other.expires).max() {
                Some(best) => assert_eq!((one.shown(self.now()), one.expires), ("valid", best)),
                None => assert_eq!(one.shown(self.now()), "pending"),
            }
            authorizations.push(index);
        }
        self.orders.push(Order {
            url: answer.header("Location").unwrap().into(),
            finalize: shown["finalize"].as_str().unwrap().into(),
            owner: by,
            names,
            authorizations,
            state: OrderState::Open,
            expires,
        });
    }

    /// A new authorization.
    fn learn(&mut self, owner: usize, url: &str) -> usize {
        let shown = json(&self.clients[owner].post(url, ""));
        assert_eq!(shown["status"], "pending");
        let base = shown["identifier"]["value"].as_str().unwrap();
        let name = match shown.get("wildcard") {
            Some(_) => format!("*.{base}"),
            None => base.into(),
        };
        let challenges = shown["challenges"].as_array().unwrap().iter();
        let index = self.authorizations.len();
        self.authorizations.push(Authorization {
            url: url.into(),
            owner,
            name: NAMES.iter().position(|one| *one == name).unwrap(),
            state: AuthorizationState::Pending,
            expires: self.now() + ORDER_LIFETIME,
            challenges: challenges
                .map(|one| (one["url"].as_str().unwrap().into(), ChallengeState::Pending))
                .collect(),
        });
        self.by_url.insert(url.into(), index);
        index
    }

    /// Whether an answer is what an ended account or a stranger gets.
    fn is_kept_out(&self, by: usize, owner: usize, answer: &pq_acme::server::Answer) -> bool {
        if self.ended[by] {
            assert_eq!(problem(answer), (401, ProblemType::Unauthorized));
        } else if by != owner {
            assert_eq!(problem(answer), (403, ProblemType::Unauthorized));
        }
        self.ended[by] || by != owner
    }

    fn authorization_of(&self, order: usize, which: usize) -> Option<usize> {
        let order = self.orders.get(order % self.orders.len().max(1))?;
        let index = which % order.authorizations.len();
        Some(order.authorizations[index])
    }

    fn answer(&mut self, by: usize, order: usize, which: usize, kind: usize) {
        let Some(index) = self.authorization_of(order, which) else {
            return;
        };
        let one = &self.authorizations[index];
        let kind = kind % one.challenges.len();
        let (url, state) = one.challenges[kind].clone();
        let outcome = self.clients[by].post_for(&url, "{}");
        if self.is_kept_out(by, one.owner, &outcome.answer) {
            return;
        }
        match (state, one.shown(self.now())) {
            (ChallengeState::Pending, "pending") => {
                let now = self.now();
                let one = &mut self.authorizations[index];
                one.challenges[kind].1 = ChallengeState::Processing(now);
                one.expires = one.expires.min(now + VALIDATION_TIME);
                assert_eq!(json(&outcome.answer)["status"], "processing");
                self.work.push(outcome.work.unwrap());
            }
            (ChallengeState::Pending, _) => {
                assert_eq!(problem(&outcome.answer), (400, ProblemType::Malformed));
            }
            (state, _) => {
                let expected = match state {
                    ChallengeState::Valid => "valid",
                    ChallengeState::Invalid => "invalid",
                    _ => "processing",
                };
                assert_eq!(json(&outcome.answer)["status"], expected);
                assert!(outcome.work.is_none());
            }
        }
    }

    fn give_up(&mut self, by: usize, order: usize, which: usize) {
        let Some(index) = self.authorization_of(order, which) else {
            return;
        };
        let one = &self.authorizations[index];
        let answer = self.clients[by].post(&one.url, r#"{"status":"deactivated"}"#);
        if self.is_kept_out(by, one.owner, &answer) {
            return;
        }
        match one.shown(self.now()) {
            "pending" | "valid" | "deactivated" => {
                assert_eq!(json(&answer)["status"], "deactivated");
                self.authorizations[index].state = AuthorizationState::Deactivated;
            }
            _ => assert_eq!(problem(&answer), (400, ProblemType::Malformed)),
        }
    }

    fn finalize(&mut self, by: usize, order: usize, with_all_names: bool, key: bool) {
        if self.orders.is_empty() {
            return;
        }
        let index = order % self.orders.len();
        let order = self.orders[index].clone();
        let mut names: Vec<_> = order.names.iter().map(|name| NAMES[*name]).collect();
        if !with_all_names {
            names[0] = "other.example";
        }
        let signer: &dyn Signer = &self.keys[usize::from(key)];
        let outcome =
            self.clients[by].post_for(&order.finalize, &finalization(&csr(&names, signer)));
        if self.is_kept_out(by, order.owner, &outcome.answer) {
            return;
        }
        let now = self.now();
        match (self.order_state(&order), &order.state) {
            ("ready", _) if with_all_names => {
                self.orders[index].state = OrderState::Processing(now, key);
                assert_eq!(json(&outcome.answer)["status"], "processing");
                self.work.push(outcome.work.unwrap());
            }
            ("ready", _) => assert_eq!(problem(&outcome.answer), (400, ProblemType::BadCsr)),
            (state, OrderState::Processing(_, of) | OrderState::Valid(of))
                if with_all_names && *of == key =>
            {
                assert_eq!(json(&outcome.answer)["status"], state);
                assert!(outcome.work.is_none());
            }
            _ => assert_eq!(problem(&outcome.answer), (403, ProblemType::OrderNotReady)),
        }
    }

    fn work(&mut self, which: usize, is_good: bool, is_kept: bool) {
        if self.work.is_empty() {
            return;
        }
        let which = which % self.work.len();
        let work = match is_kept {
            true => self.work[which].clone(),
            false => self.work.swap_remove(which),
        };
        let bad = || Problem::new(ProblemType::Connection, "nobody is there");
        let (server, now) = (&self.world.server, self.now());
        match work {
            Work::Validate(work) => {
                let outcome = is_good.then(|| String::from("seen")).ok_or_else(bad);
                server.validated(&work, outcome, self.world.now()).unwrap();
                let index = self.by_url[&at(&format!("authorization/{}", work.authorization))];
                let one = &mut self.authorizations[index];
                let end = format!("/{}", work.kind);
                let mut challenges = one.challenges.iter_mut();
                let challenge = challenges.find(|(url, _)| url.ends_with(&end)).unwrap();
                if one.state == AuthorizationState::Pending
                    && one.expires > now
                    && matches!(challenge.1, ChallengeState::Processing(_))
                {
                    (one.state, challenge.1) = match is_good {
                        true => (AuthorizationState::Valid, ChallengeState::Valid),
                        false => (AuthorizationState::Invalid, ChallengeState::Invalid),
                    };
                    if is_good {
                        one.expires = one.expires.max(now + AUTHORIZATION_LIFETIME);
                    }
                }
            }
            Work::Issue(work) => {
                let url = at(&format!("order/{}", work.order));
                let order = self.orders.iter_mut().find(|one| one.url == url).unwrap();
                let outcome = match is_good {
                    true => Ok(self.world.ca().issue(&work)),
                    false => Err(bad()),
                };
                let said = server.issued(&work.order, outcome);
                match (&order.state, is_good) {
                    (OrderState::Processing(_, key), true) => {
                        said.unwrap();
                        order.state = OrderState::Valid(*key);
                    }
                    (OrderState::Processing(..), false) => {
                        said.unwrap();
                        order.state = OrderState::Invalid;
                    }
                    (OrderState::Invalid, true) => assert!(said.is_err()),
                    _ => said.unwrap(),
                }
            }
        }
    }

    fn take_up(&mut self) {
        let now = self.now();
        let taken = self.world.take_up();
        let mut expected = 0;
        for order in &mut self.orders {
            if let OrderState::Processing(since, _) = &mut order.state
                && *since + WORK_TIME <= now
            {
                *since = now;
                expected += 1;
            }
        }
        for one in &mut self.authorizations {
            if one.state != AuthorizationState::Pending {
                continue;
            }
            let is_over = one.expires <= now || self.ended[one.owner];
            let passed = VALIDATION_TIME.saturating_sub(one.expires.saturating_sub(now));
            let pause = passed.max(WORK_TIME);
            for (_, state) in &mut one.challenges {
                match state {
                    ChallengeState::Processing(since) if *since + WORK_TIME > now => {}
                    ChallengeState::Processing(_) if is_over => {
                        *state = ChallengeState::Pending;
                    }
                    ChallengeState::Processing(since) => {
                        *since = now + pause - WORK_TIME;
                        expected += 1;
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(taken.len(), expected);
        self.work.extend(taken);
    }

    fn change_key(&mut self, by: usize) {
        let new = ed25519();
        let client = &mut self.clients[by];
        let url = at("key-change");
        let kid = client.kid.clone().unwrap();
        let content = format!(
            r#"{{"account":"{kid}","oldKey":{}}}"#,
            client.jwk().to_json()
        );
        let key = KeyId::Key(Box::new(AnyJwk::of(&new).unwrap()));
        let inner = jws::write(&new, &key, None, &url, content.as_bytes()).unwrap();
        let answer = client.post(&url, &inner);
        match self.ended[by] {
            true => assert_eq!(problem(&answer), (401, ProblemType::Unauthorized)),
            false => {
                assert_eq!(answer.status, 200, "{}", text(&answer));
                client.key = Box::new(new);
            }
        }
    }

    /// All that is shown is what the model says.
    fn compare(&self) {
        let now = self.now();
        let mut valid = 0;
        for order in &self.orders {
            let state = self.order_state(order);
            valid += usize::from(state == "valid");
            if self.ended[order.owner] {
                continue;
            }
            let shown: Value = json(&self.clients[order.owner].post(&order.url, ""));
            assert_eq!(shown["status"], state);
            assert_eq!(shown.get("certificate").is_some(), state == "valid");
            assert_eq!(shown.get("error").is_some(), state == "invalid", "{shown}");
        }
        for one in &self.authorizations {
            if !self.ended[one.owner] {
                let shown = json(&self.clients[one.owner].post(&one.url, ""));
                assert_eq!(shown["status"], one.shown(now));
            }
        }
        // Some were issued for orders that somebody else said to be refused.
        let issued = self.world.ca().issued();
        assert!(issued >= valid && issued <= self.orders.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_server_does_what_the_model_says(steps in prop::collection::vec(step(), 1..120)) {
        let world = World::new();
        let mut history = History::new(&world);
        for (number, step) in steps.into_iter().enumerate() {
            history.take(step);
            if number % 24 == 0 {
                history.compare();
            }
        }
        history.compare();
    }
}
