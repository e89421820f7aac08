//! The times by which a connection's answers are to be read.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The times by which some answers of a connection are to be read. Each has as long as the others.
#[derive(Clone, Default)]
pub(super) struct Deadlines(Arc<Inner>);

/// What is there until an answer was read.
type Unread = Weak<dyn Any + Send + Sync>;

#[derive(Default)]
struct Inner {
    /// The first one first.
    all: Mutex<VecDeque<(Instant, Unread)>>,
    added: Notify,
}

impl Deadlines {
    /// An answer has this long from now on.
    pub(super) fn add(&self, time: Duration, answer: Arc<dyn Any + Send + Sync>) {
        let Some(at) = Instant::now().checked_add(time) else {
            return;
        };
        self.first();
        // Nothing panics while it is locked.
        let mut all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((at, Arc::downgrade(&answer)));
        drop(all);
        self.0.added.notify_one();
    }

    /// Waits until an answer was not read in time.
    pub(super) async fn passed(&self) {
        loop {
            match self.first() {
                None => self.0.added.notified().await,
                Some(at) if at <= Instant::now() => return,
                Some(at) => sleep_until(at).await,
            }
        }
    }

    /// The first time, of answers that are not read yet.
    fn first(&self) -> Option<Instant> {
        let mut all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        while all.front()?.1.strong_count() == 0 {
            all.pop_front();
        }
        all.front().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several at a time, so that each look finds more than one that was read.
    #[tokio::test]
    async fn answers_that_were_read_have_no_time() {
        let deadlines = Deadlines::default();
        let add = |time| {
            let answer = Arc::new(());
            deadlines.add(time, answer.clone());
            answer
        };
        const LONG: Duration = Duration::from_secs(3600);
        let [_, _, _] = [(); 3].map(|()| add(Duration::ZERO));
        assert_eq!(deadlines.first(), None);
        let read = [(); 3].map(|()| add(Duration::ZERO));
        let unread = add(LONG);
        drop(read);
        assert!(deadlines.first().unwrap() > Instant::now() + LONG / 2);
        assert_eq!(deadlines.0.all.lock().unwrap().len(), 1);
        drop(unread);
        assert_eq!(deadlines.first(), None);
        // Whoever doesn't read ends the wait.
        let _unread = add(Duration::ZERO);
        deadlines.passed().await;
    }
}
