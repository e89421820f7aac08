//! Changes, each in one transaction, and what has become of them if the answer was lost.

use tokio::time::timeout_at;
use tokio_postgres::Client;

use crate::database::Database;
use crate::failure::{Failure, Permanent, reason};

/// What a transaction writes beside its change, drawn at random: who finds it knows that the change is its own.
pub type Mark = [u8; 16];

/// What a transaction comes to before it ends.
#[derive(Clone, Copy, Debug)]
pub enum Decision<T, N> {
    /// It is to be made.
    Make(T),
    /// Nothing is to be changed, and this is why.
    Refuse(N),
}

/// What became of a change.
#[derive(Clone, Debug)]
pub enum Changed<T, N> {
    /// It was made.
    Made(T),
    /// It was refused, and nothing was changed.
    Refused(N),
    /// It may have been made or not: the connection was lost before the answer, and it can't be found out.
    Unknown(String),
}

/// How a try ended.
enum Tried<T, N> {
    Made(T),
    Refused(N),
    /// `COMMIT` was sent, and no answer came.
    Unanswered(T, String),
}

impl Database {
    /// Makes a change in one transaction, at most once. `decide` writes it, with a mark, in a transaction that has begun and
    /// is ended here. It is called again if the connection was lost before, or if the change was not made.
    ///
    /// `was_made` finds out what became of a change whose answer was lost: whether it was made, or `None` if the mark is no
    /// longer known. It has to wait until the lost transaction has ended, and leaves no transaction open.
    ///
    /// # Errors
    ///
    /// Why nothing was changed.
    pub async fn change<T, N>(
        &self,
        decide: impl AsyncFn(&Client, &Mark) -> Result<Decision<T, N>, Failure>,
        was_made: impl AsyncFn(&Client, &T, &Mark) -> Result<Option<bool>, Failure>,
    ) -> Result<Changed<T, N>, Failure> {
        let mut mark = Mark::default();
        getrandom::fill(&mut mark)
            .map_err(|error| Failure::Permanent(Permanent::NotOpened, error.to_string()))?;
        let mut tries = self.tries();
        loop {
            let reason = match self.transact(&decide, &mark, tries.deadline).await {
                Ok(Tried::Made(value)) => return Ok(Changed::Made(value)),
                Ok(Tried::Refused(why)) => return Ok(Changed::Refused(why)),
                Ok(Tried::Unanswered(value, reason)) => {
                    let look = async |client: &Client| was_made(client, &value, &mark).await;
                    // Whatever the error is, it says nothing of the change.
                    match self.retrying(look).await {
                        Ok(Some(true)) => return Ok(Changed::Made(value)),
                        // Nothing was changed.
                        Ok(Some(false)) => reason,
                        Ok(None) | Err(_) => return Ok(Changed::Unknown(reason)),
                    }
                }
                Err(Failure::Lost(reason)) => reason,
                Err(failure) => return Err(failure),
            };
            tries.again(reason).await?;
        }
    }

    /// Tries once. With an error, nothing was changed.
    async fn transact<T, N>(
        &self,
        decide: &impl AsyncFn(&Client, &Mark) -> Result<Decision<T, N>, Failure>,
        mark: &Mark,
        deadline: tokio::time::Instant,
    ) -> Result<Tried<T, N>, Failure> {
        let pooled = self.take(deadline).await?;
        let client = pooled.client();
        let decided = self.on(&pooled, deadline, async {
            client.batch_execute(self.begin()).await?;
            decide(client, mark).await
        });
        // The connection is closed with an error, which ends the transaction.
        let tried = match decided.await? {
            Decision::Make(value) => {
                let unanswered = match timeout_at(deadline, client.batch_execute("COMMIT")).await {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(reason(&error)),
                    Err(_) => Some(self.late()),
                };
                if let Some(reason) = unanswered {
                    // What became of it is asked on a new connection.
                    self.lost();
                    return Ok(Tried::Unanswered(value, reason));
                }
                Tried::Made(value)
            }
            Decision::Refuse(why) => {
                let ended = timeout_at(deadline, client.batch_execute("ROLLBACK")).await;
                if !matches!(ended, Ok(Ok(()))) {
                    return Ok(Tried::Refused(why));
                }
                Tried::Refused(why)
            }
        };
        self.put_back(pooled);
        Ok(tried)
    }
}
