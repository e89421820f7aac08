//! How changes by other processes are noticed: by notifications, and by asking now and then.

use alloc::rc::Rc;
use core::time::Duration;

use tokio::time::{sleep, timeout};

use super::read;
use super::worker::Worker;

/// The pause before listening again.
const PAUSE: Duration = Duration::from_millis(500);

impl Worker {
    /// Notes a revision that this process has made, or read first.
    pub(super) fn seen(&self, revision: u64) {
        self.latest.send_modify(|seen| {
            seen.revision = seen.revision.max(revision);
            seen.error = None;
        });
    }

    /// Reads the revision when something has changed, and every while.
    pub(super) async fn poll(self: Rc<Self>) {
        loop {
            // If no notification comes, it is read as well.
            let _ = timeout(self.database.poll(), self.notified.notified()).await;
            let before = self.latest.borrow().revision;
            let read = self
                .retrying(async |client| read::revision(client, &self.statements).await)
                .await;
            self.latest.send_modify(|seen| match read {
                Ok(revision) => {
                    // Meanwhile this process may have committed. But if the revision is less than it was before it was
                    // read, an older copy of the database was put in its place.
                    if revision > seen.revision || seen.revision == before {
                        seen.revision = revision;
                    }
                    seen.error = None;
                }
                Err(error) => seen.error = Some(error),
            });
        }
    }

    /// Listens on a connection of its own, and again when it is lost. What was missed meanwhile is read then.
    pub(super) async fn listen(self: Rc<Self>) {
        loop {
            // The next try is soon, and until then there is polling.
            let _ = self
                .database
                .listen(self.database.schema(), &self.notified)
                .await;
            sleep(PAUSE).await;
        }
    }
}
