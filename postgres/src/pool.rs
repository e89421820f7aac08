//! A bounded number of connections, which are kept, and made anew after a while if they were lost.

use alloc::rc::Rc;
use core::cell::RefCell;
use core::time::Duration;

use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_postgres::Client;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::purpose::Purpose;

/// The pause after the first connection that failed, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Pool {
    idle: RefCell<Vec<Connection>>,
    free: Semaphore,
    pause: RefCell<Pause>,
}

/// When to connect again.
struct Pause {
    until: Instant,
    next: Duration,
    /// Why the last connection failed.
    reason: String,
}

impl Default for Pause {
    fn default() -> Self {
        Self {
            until: Instant::now(),
            next: FIRST_PAUSE,
            reason: String::new(),
        }
    }
}

impl Pause {
    /// Lengthens the pause, which begins now.
    fn failed(&mut self, reason: &str) {
        self.until = Instant::now() + self.next;
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        self.reason = reason.into();
    }
}

/// A connection of the pool, and the permit to have it.
pub(crate) struct Pooled<'p> {
    connection: Connection,
    /// It was idle, and may have died unnoticed.
    was_kept: bool,
    _permit: SemaphorePermit<'p>,
}

impl Pooled<'_> {
    pub(crate) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// Waits until a connection that was kept answers, and no longer than this. What is sent on it after this was polled is
    /// answered after it, so nobody has to wait before sending.
    pub(crate) async fn answers(&self, soon: Duration) -> Result<(), Failure> {
        if !self.was_kept {
            return Ok(());
        }
        let nothing = self.client().batch_execute("");
        let late = |_| Failure::Lost(format!("a connection that was kept is silent for {soon:?}"));
        Ok(timeout(soon, nothing).await.map_err(late)??)
    }
}

impl Pool {
    pub(crate) fn new(options: &PostgresOptions) -> Self {
        Self {
            idle: RefCell::default(),
            free: Semaphore::new(options.connections),
            pause: RefCell::default(),
        }
    }

    /// A connection that seems to be open, or a new one. It is closed unless it is [put back](Self::put_back).
    pub(crate) async fn take(
        &self,
        options: &PostgresOptions,
        purpose: &Purpose,
        deadline: Instant,
    ) -> Result<Pooled<'_>, Failure> {
        let late = |what: &str| Failure::Lost(format!("{what} within {:?}", options.timeout));
        let permit = timeout_at(deadline, self.free.acquire()).await;
        let permit = permit.map_err(|_| late("no connection was free"))?;
        let _permit = permit.map_err(|_| late("no connection was free"))?;
        loop {
            let idle = self.idle.borrow_mut().pop();
            match idle {
                Some(connection) if connection.client.is_closed() => {}
                Some(connection) => {
                    return Ok(Pooled {
                        connection,
                        was_kept: true,
                        _permit,
                    });
                }
                None => break,
            }
        }
        let until = self.pause.borrow().until;
        sleep_until(until.min(deadline)).await;
        if until >= deadline {
            return Err(Failure::Lost(self.pause.borrow().reason.clone()));
        }
        // Nothing is listened for on these.
        let notified = Rc::new(Notify::new());
        let connecting = Connection::open(options, purpose, false, &notified);
        let connection = match timeout_at(deadline, connecting).await {
            Ok(connection) => connection,
            Err(_) => Err(late("no connection")),
        };
        let mut pause = self.pause.borrow_mut();
        match &connection {
            Ok(_) => *pause = Pause::default(),
            Err(Failure::Lost(reason)) => pause.failed(reason),
            // The caller isn't going to try again.
            Err(_) => {}
        }
        Ok(Pooled {
            connection: connection?,
            was_kept: false,
            _permit,
        })
    }

    /// Keeps a connection that is in no transaction and waits for no answer.
    pub(crate) fn put_back(&self, pooled: Pooled<'_>) {
        self.idle.borrow_mut().push(pooled.connection);
    }

    /// Closes what is idle: where one connection was lost, the others of before may be dead, too.
    pub(crate) fn forget_idle(&self) {
        self.idle.borrow_mut().clear();
    }
}

/// Tries within one time-out, with growing pauses.
pub(crate) struct Tries {
    pub(crate) deadline: Instant,
    pause: Duration,
}

impl Tries {
    pub(crate) fn new(options: &PostgresOptions) -> Self {
        Self {
            deadline: Instant::now() + options.timeout,
            pause: FIRST_PAUSE / 4,
        }
    }

    /// Pauses, or fails if there is no time for another try.
    pub(crate) async fn again(&mut self, reason: String) -> Result<(), Failure> {
        let next = Instant::now() + self.pause;
        if next >= self.deadline {
            return Err(Failure::Lost(reason));
        }
        sleep_until(next).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
