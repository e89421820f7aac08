//! Runs a handshake whose signer may take its time, so that no other connection waits for it.
//!
//! rustls calls a signer in the middle of the handshake, and waits. On a thread of the runtime this would hold up whatever else
//! that thread has to do, which is everything if it is the only one. So each step of such a handshake runs on a thread where
//! blocking is allowed, in every kind of runtime; between the steps, while the client's bytes are on their way, no thread waits.

use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::{JoinHandle, spawn_blocking};
use tracing::Span;

/// A future that is polled on the threads of `spawn_blocking`, each time that it is woken.
///
/// If it is dropped in the middle of a step, the future is dropped at the end of the step, and at once if the step has no
/// thread yet: what waits for threads is bounded by the number of those who wait.
pub(super) struct Offloaded<F: Future> {
    step: Step<F>,
    woken: Arc<Woken>,
}

enum Step<F: Future> {
    Waits(Pin<Box<F>>),
    Runs(JoinHandle<Polled<F>>),
    Over,
}

type Polled<F> = (Pin<Box<F>>, Poll<<F as Future>::Output>);

impl<F: Future> Offloaded<F> {
    pub(super) fn new(future: F) -> Self {
        Self {
            step: Step::Waits(Box::pin(future)),
            woken: Arc::default(),
        }
    }
}

impl<F: Future> Drop for Offloaded<F> {
    fn drop(&mut self) {
        if let Step::Runs(running) = &self.step {
            running.abort();
        }
    }
}

impl<F> Future for Offloaded<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // First, so that nobody is woken in vain who sets the flag after it was read.
        self.woken.tell(context.waker());
        loop {
            match mem::replace(&mut self.step, Step::Over) {
                Step::Waits(future) if !self.woken.take() => {
                    self.step = Step::Waits(future);
                    return Poll::Pending;
                }
                Step::Waits(mut future) => {
                    let waker = Waker::from(self.woken.clone());
                    let span = Span::current();
                    self.step = Step::Runs(spawn_blocking(move || {
                        let _entered = span.enter();
                        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                        (future, polled)
                    }));
                }
                Step::Runs(mut running) => match Pin::new(&mut running).poll(context) {
                    Poll::Pending => {
                        self.step = Step::Runs(running);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((_, Poll::Ready(output)))) => return Poll::Ready(output),
                    Poll::Ready(Ok((future, Poll::Pending))) => self.step = Step::Waits(future),
                    Poll::Ready(Err(error)) => match error.try_into_panic() {
                        Ok(panic) => resume_unwind(panic),
                        // The runtime is shutting down, and drops this next.
                        Err(_) => return Poll::Pending,
                    },
                },
                Step::Over => return Poll::Pending,
            }
        }
    }
}

/// Whether there is something to do, which may become so while a step runs.
struct Woken {
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Default for Woken {
    /// With the first step to do.
    fn default() -> Self {
        Self {
            is_woken: AtomicBool::new(true),
            task: Mutex::default(),
        }
    }
}

impl Woken {
    fn tell(&self, task: &Waker) {
        let mut told = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *told {
            Some(told) => told.clone_from(task),
            None => *told = Some(task.clone()),
        }
    }

    fn take(&self) -> bool {
        self.is_woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let task = task.clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::thread;

    use tokio::sync::oneshot;

    use super::*;

    /// In a runtime with this thread alone, which has something to do while a step blocks.
    #[tokio::test]
    async fn a_step_that_blocks_holds_nothing_up() {
        let here = thread::current().id();
        let (begun, has_begun) = oneshot::channel();
        let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
        let blocks = Offloaded::new(async move {
            assert_ne!(thread::current().id(), here);
            begun.send(()).unwrap();
            goes_on.recv().unwrap();
            7
        });
        let other = async {
            has_begun.await.unwrap();
            go_on.send(()).unwrap();
        };
        assert_eq!(tokio::join!(blocks, other).0, 7);
    }

    /// Whoever is woken in the middle of a step is polled again.
    #[tokio::test]
    async fn no_wake_is_lost() {
        for steps in 0..50 {
            let mut left = steps;
            let counts = poll_fn(move |context| {
                if left == 0 {
                    return Poll::Ready(());
                }
                left -= 1;
                let waker = context.waker().clone();
                match left % 2 {
                    0 => waker.wake(),
                    _ => drop(thread::spawn(move || waker.wake())),
                }
                Poll::Pending
            });
            Offloaded::new(counts).await;
        }
    }

    #[tokio::test]
    #[should_panic(expected = "on purpose")]
    async fn panics_are_passed_on() {
        Offloaded::new(async { panic!("on purpose") }).await
    }
}
