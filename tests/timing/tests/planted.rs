//! Planted leaks are found in a short time, also in code that is not optimised.

use core::time::Duration;

use timing::measure::measure;
use timing::statistics::Finding;
use timing::subjects::planted;

#[test]
fn each_is_found() {
    for mut subject in planted() {
        let time = Duration::from_secs(2);
        let finding = Finding::of(&measure(&mut *subject, time));
        assert!(finding.is_difference(), "{subject:?}: {finding:?}");
    }
}
