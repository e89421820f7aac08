//! Planted leaks are found in a short time, also in code that is not optimised.

use core::time::Duration;

use timing::measure::compare_until_difference;
use timing::subjects::planted;

#[test]
fn each_is_found() {
    for mut subject in planted() {
        let finding = compare_until_difference(&mut *subject, Duration::from_secs(2));
        assert!(finding.is_difference(), "{subject:?}: {finding:?}");
    }
}
