//! A database, as the thread sees it that has its connections.

use alloc::rc::Rc;
use core::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Client;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::pool::{Pool, Pooled, Tries};
use crate::purpose::Purpose;

/// How often to see whether a connection that listens is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Which part of the time-out a connection that was kept may be silent.
const SILENT_PART: u32 = 4;

/// A database with its connections, which belong to one thread: see [`Thread`](crate::Thread).
pub struct Database {
    options: PostgresOptions,
    purpose: Purpose,
    begin: String,
    pool: Pool,
}

impl Database {
    /// The database. It is not connected to yet.
    pub fn new(options: PostgresOptions, purpose: Purpose) -> Self {
        // 0 would be no limit.
        let limit = options.timeout.as_millis().max(1);
        Self {
            pool: Pool::new(&options),
            // A server that answers before it has written would lose what was acknowledged.
            begin: format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                 SET LOCAL statement_timeout = {limit}; \
                 SET LOCAL lock_timeout = {limit}; \
                 SET LOCAL idle_in_transaction_session_timeout = {limit}; \
                 SELECT set_config('synchronous_commit', 'on', true) \
                 WHERE current_setting('synchronous_commit') = 'off'"
            ),
            options,
            purpose,
        }
    }

    /// What it is and where, without user and password.
    pub fn description(&self) -> String {
        let (what, place) = (self.purpose.what, self.options.place());
        format!("{what} {place} (schema {})", self.schema())
    }

    /// The schema that has the tables: nothing in it has to be quoted.
    pub fn schema(&self) -> &str {
        self.options
            .schema
            .as_deref()
            .unwrap_or(self.purpose.schema)
    }

    /// Begins a transaction that ends by itself if the process stops, and waits for no lock longer than for an answer.
    pub fn begin(&self) -> &str {
        &self.begin
    }

    /// How often to ask for changes by other processes, besides notifications.
    pub fn poll(&self) -> Duration {
        self.options.poll
    }

    /// Does something on a connection until it succeeds, as long as trying again helps: so it must change nothing, or
    /// nothing the second time. A transaction that it begins has to be ended by it, unless it fails.
    ///
    /// # Errors
    ///
    /// What the last try failed with, within [the time-out](PostgresOptions::timeout).
    pub async fn retrying<T>(
        &self,
        attempt: impl AsyncFn(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut tries = self.tries();
        loop {
            match self.once(tries.deadline, &attempt).await {
                Err(Failure::Lost(reason)) => tries.again(reason).await?,
                other => return other,
            }
        }
    }

    /// Does something on a connection, which is kept if it succeeds.
    async fn once<T>(
        &self,
        deadline: Instant,
        attempt: &impl AsyncFn(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let pooled = self.take(deadline).await?;
        let done = self.on(&pooled, deadline, attempt(pooled.client())).await?;
        self.put_back(pooled);
        Ok(done)
    }

    /// Does something on a connection before the deadline. One that was kept and is silent is given up long before, so that
    /// there is time for a new one; then nothing of this was answered.
    pub(crate) async fn on<T>(
        &self,
        pooled: &Pooled<'_>,
        deadline: Instant,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let soon = self.options.timeout / SILENT_PART;
        let both = async { tokio::try_join!(biased; pooled.answers(soon), work) };
        let done = match timeout_at(deadline, both).await {
            Ok(done) => done.map(|((), done)| done),
            Err(_) => Err(Failure::Lost(self.late())),
        };
        if matches!(done, Err(Failure::Lost(_))) {
            self.lost();
        }
        done
    }

    /// Listens to a channel on a connection of its own until it is lost. Each notification wakes `notified`, and so does the
    /// beginning, as what was missed before has to be read then.
    ///
    /// # Errors
    ///
    /// Why it was lost.
    pub async fn listen(&self, channel: &str, notified: &Rc<Notify>) -> Result<(), Failure> {
        let late = |_| Failure::Lost("no answer".into());
        let connection = Connection::open(&self.options, &self.purpose, true, notified).await?;
        let client = &connection.client;
        let statement = format!("LISTEN \"{channel}\"");
        let begun = client.batch_execute(&statement);
        timeout(self.options.timeout, begun).await.map_err(late)??;
        notified.notify_one();
        while timeout(HEARTBEAT, connection.ended()).await.is_err() {
            let alive = client.check_connection();
            timeout(self.options.timeout, alive).await.map_err(late)??;
        }
        Ok(())
    }

    pub(crate) fn tries(&self) -> Tries {
        Tries::new(&self.options)
    }

    /// A connection. It is closed unless it is [put back](Self::put_back).
    pub(crate) async fn take(&self, deadline: Instant) -> Result<Pooled<'_>, Failure> {
        self.pool.take(&self.options, &self.purpose, deadline).await
    }

    /// Keeps a connection that is in no transaction and waits for no answer.
    pub(crate) fn put_back(&self, pooled: Pooled<'_>) {
        self.pool.put_back(pooled);
    }

    /// A connection was lost: those that were idle meanwhile are not believed.
    pub(crate) fn lost(&self) {
        self.pool.forget_idle();
    }

    /// That no answer came in time.
    pub(crate) fn late(&self) -> String {
        format!("no answer within {:?}", self.options.timeout)
    }
}
