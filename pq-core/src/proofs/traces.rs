//! What an observer sees of a kernel that runs in a proof: the operations, their values and constants, and their
//! order.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::string::String;
use core::cell::Cell;
use core::fmt::Debug;
use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::thread_local;

/// The number of ways to name values.
const NAMINGS: u64 = 4;

thread_local! {
    static NAMING: Cell<u64> = const { Cell::new(0) };
    /// A hash of all steps so far, if the run is observed.
    static SEEN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The way to name values in memory: each even naming draws new names, and the odd naming after it reverses these, so
/// that of any two numbers the other one is greater, and each bit of a name has the other value.
pub(super) fn naming() -> u64 {
    NAMING.get()
}

/// Adds a step to what the observer sees.
pub(super) fn note(step: impl Hash) {
    if let Some(seen) = SEEN.get() {
        let mut hasher = DefaultHasher::new();
        (seen, step).hash(&mut hasher);
        SEEN.set(Some(hasher.finish()));
    }
}

/// Runs a kernel with all namings. Its steps and its public output have to be the same each time.
pub(super) fn observe<O: PartialEq + Debug>(run: impl Fn() -> O) -> Result<(), String> {
    let seen = |naming| {
        NAMING.set(naming);
        SEEN.set(Some(0));
        let output = run();
        NAMING.set(0);
        (SEEN.take(), output)
    };
    let (steps, output) = seen(0);
    for naming in 1..NAMINGS {
        let (other_steps, other_output) = seen(naming);
        if output != other_output {
            return Err(format!(
                "a public output depends on a secret: {output:?} or {other_output:?}"
            ));
        }
        if steps != other_steps {
            return Err("which operations there are depends on a secret".into());
        }
    }
    Ok(())
}
