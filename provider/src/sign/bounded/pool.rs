//! The threads that call the signer, and the queue before them.
//!
//! A job is in the queue, then with a thread. Who asked for it waits for the time that is allowed, and takes it out of
//! either place then; a thread that finds its job taken away was given up, and another one is in its place.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use pq_x509::keys::{SignError, Signer};
use tracing::{info, warn};

use super::breaker::{Attempt, Breaker};
use super::{Bounds, SignerLoad, SignerUnavailable};
use crate::sign::external::sign_caught;

/// Threads of a signer, until it is dropped.
pub(super) struct Pool(Arc<Shared>);

struct Shared {
    signer: Arc<dyn Signer>,
    bounds: Bounds,
    state: Mutex<State>,
    /// Told when there is a job, or the end.
    work: Condvar,
}

struct State {
    queue: VecDeque<Job>,
    /// The jobs that are with a thread, and that somebody waits for.
    running: BTreeSet<u64>,
    /// How many threads take jobs.
    threads: usize,
    /// How many threads were given up and haven't returned.
    stuck: usize,
    /// How many jobs there were.
    jobs: u64,
    breaker: Breaker,
    is_over: bool,
}

struct Job {
    number: u64,
    message: Vec<u8>,
    answer: SyncSender<Answer>,
}

type Answer = Result<Vec<u8>, SignError>;

impl Pool {
    pub(super) fn start(signer: Arc<dyn Signer>, bounds: Bounds) -> io::Result<Self> {
        let bounds = Bounds {
            threads: bounds.threads.max(1),
            ..bounds
        };
        let state = State {
            queue: VecDeque::new(),
            running: BTreeSet::new(),
            threads: 0,
            stuck: 0,
            jobs: 0,
            breaker: Breaker::new(bounds.failures, bounds.pause),
            is_over: false,
        };
        let pool = Self(Arc::new(Shared {
            signer,
            bounds,
            state: Mutex::new(state),
            work: Condvar::new(),
        }));
        let mut state = pool.0.state();
        for _ in 0..bounds.threads {
            pool.0.add_thread(&mut state)?;
        }
        drop(state);
        Ok(pool)
    }

    pub(super) fn load(&self) -> SignerLoad {
        let state = self.0.state();
        SignerLoad {
            waiting: state.queue.len(),
            signing: state.running.len(),
            stuck: state.stuck,
            circuit: state.breaker.circuit(),
        }
    }

    /// Has a thread sign, and waits for it.
    pub(super) fn sign(&self, message: &[u8]) -> Answer {
        let began = Instant::now();
        let (number, attempt, receiver) = self.0.submit(message, began)?;
        let answer = match receiver.recv_timeout(self.0.bounds.timeout) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.0.give_up(number, &receiver, began)
            }
        };
        self.0.note(attempt, &answer);
        answer
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Nobody waits for a signature: whoever does holds a reference.
        self.0.state().is_over = true;
        self.0.work.notify_all();
    }
}

impl Shared {
    /// The state is consistent whenever the lock is free.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(
        &self,
        message: &[u8],
        now: Instant,
    ) -> Result<(u64, Attempt, Receiver<Answer>), SignError> {
        let mut state = self.state();
        // A job that an idle thread will take at once doesn't wait.
        let room = self.bounds.queue.saturating_add(state.threads);
        if state.queue.len() + state.running.len() >= room {
            let waiting = state.queue.len();
            return Err(SignError::transient(SignerUnavailable::QueueFull {
                waiting,
            }));
        }
        let attempt = state.breaker.admit(now).map_err(|again_in| {
            SignError::transient(SignerUnavailable::CircuitOpen { again_in })
        })?;
        let (answer, receiver) = sync_channel(1);
        state.jobs += 1;
        let number = state.jobs;
        state.queue.push_back(Job {
            number,
            message: message.to_vec(),
            answer,
        });
        drop(state);
        self.work.notify_one();
        Ok((number, attempt, receiver))
    }

    /// Takes a job back whose time is over, unless there is an answer by now.
    fn give_up(
        self: &Arc<Self>,
        number: u64,
        receiver: &Receiver<Answer>,
        began: Instant,
    ) -> Answer {
        let mut state = self.state();
        if let Some(place) = state.queue.iter().position(|job| job.number == number) {
            state.queue.remove(place);
            let after = began.elapsed();
            return Err(SignError::transient(SignerUnavailable::NoThread { after }));
        }
        if let Ok(answer) = receiver.try_recv() {
            return answer;
        }
        if state.stuck < self.bounds.stuck && state.running.remove(&number) {
            state.threads -= 1;
            state.stuck += 1;
            if let Err(error) = self.add_thread(&mut state) {
                warn!(%error, "no thread takes the place of one that is stuck in the signer");
            }
        }
        let after = began.elapsed();
        Err(SignError::transient(SignerUnavailable::TimedOut { after }))
    }

    fn note(&self, attempt: Attempt, answer: &Answer) {
        let mut state = self.state();
        match answer {
            Ok(_) => {
                if state.breaker.succeeded(attempt) {
                    drop(state);
                    info!("the signer signs again");
                }
            }
            Err(error) => {
                if state.breaker.failed(attempt, Instant::now()) {
                    drop(state);
                    warn!(
                        %error,
                        pause_in_milliseconds = u64::try_from(self.bounds.pause.as_millis()).unwrap_or(u64::MAX),
                        "the signer has failed too often in a row, and is not asked until it is tried again"
                    );
                }
            }
        }
    }

    fn add_thread(self: &Arc<Self>, state: &mut State) -> io::Result<()> {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("pq-signer".into());
        thread.spawn(move || shared.work())?;
        state.threads += 1;
        Ok(())
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            let job = loop {
                if state.is_over {
                    return;
                }
                match state.queue.pop_front() {
                    Some(job) => break job,
                    None => {
                        let told = self.work.wait(state);
                        state = told.unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            state.running.insert(job.number);
            drop(state);
            let answer = sign_caught(&*self.signer, &job.message);
            state = self.state();
            if state.running.remove(&job.number) {
                // There is room for one, and whoever waits has it before it can give up.
                let _ = job.answer.try_send(answer);
                continue;
            }
            // It was given up meanwhile.
            state.stuck -= 1;
            if state.threads >= self.bounds.threads {
                return;
            }
            state.threads += 1;
        }
    }
}
