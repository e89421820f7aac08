//! That hostile costs are refused before any work: the test programs of pq-keys and of pq-x509 include this file as a
//! module.

use core::time::Duration;
use std::time::Instant;

/// Checks that something is refused before it has cost more than microseconds. On a busy machine one try may wait
/// longer than a tenth of a second; the fastest of several tries doesn't.
pub(crate) fn refused_at_once<E>(refuse: impl Fn() -> E) -> E {
    let tries = (0..5).map(|_| {
        let start = Instant::now();
        let refusal = refuse();
        (start.elapsed(), refusal)
    });
    let (took, refusal) = tries.min_by_key(|(took, _)| *took).unwrap();
    assert!(took < Duration::from_millis(100));
    refusal
}
