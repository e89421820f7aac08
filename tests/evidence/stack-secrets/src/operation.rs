//! What the test runs: an operation with fresh secrets each time, and the secrets to look for on the stack of its
//! thread.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::derived::shake256;
use crate::sought::{Found, Sought};
use crate::stack;

/// A public operation on one parameter set or key.
pub struct Operation {
    /// As in `ML-KEM-768 DecapsulationKey::from_seed_into`.
    pub name: String,
    run: Box<dyn Fn(Where) -> (Vec<u8>, Sought)>,
}

/// The thread on which an operation runs.
#[derive(Clone, Copy)]
enum Where {
    /// A thread of its own, whose stack is read.
    Apart,
    /// The thread that looks for secrets.
    Here,
}

impl Operation {
    /// `prepare` makes inputs. `run` is the operation, and returns everything that must not be dropped on its
    /// thread. `sought` returns the secrets. Inputs and results are moved, so they must keep secrets behind
    /// pointers.
    pub(crate) fn new<I: Send + Sync, O: Send>(
        name: impl Into<String>,
        prepare: impl Fn() -> I + 'static,
        run: impl Fn(&I) -> O + Sync + 'static,
        sought: impl Fn(&I, &O) -> Sought + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            run: Box::new(move |place| {
                let input = prepare();
                let (stack, result) = match place {
                    Where::Apart => {
                        let left = stack::left_by(|| run(&input));
                        (left.stack, left.result)
                    }
                    Where::Here => (Vec::new(), run(&input)),
                };
                (stack, sought(&input, &result))
            }),
        }
    }

    /// Runs the operation with new secrets, and returns what it left of them.
    pub fn left(&self) -> Vec<Found> {
        let (stack, sought) = (self.run)(Where::Apart);
        sought.in_stack(&stack)
    }

    /// Runs the operation and returns its secrets.
    pub(crate) fn sought(&self) -> Sought {
        (self.run)(Where::Here).1
    }
}

/// Bytes that no other operation had, so that leftovers of an earlier operation are not mistaken for them.
pub(crate) fn fresh<const N: usize>() -> Box<[u8; N]> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let bytes = shake256(&[b"stack-secrets", &count.to_le_bytes()], N);
    bytes.into_boxed_slice().try_into().expect("of this length")
}
