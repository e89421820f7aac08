//! Chains and lists that a survey of path validation found.

use interop::found::Case;

use super::found;

/// A list that is not yet valid says nothing good, and outranks nothing.
#[test]
fn lists_that_are_not_yet_valid() {
    let Some(found) = found() else { return };
    found.check(&[
        Case {
            command: "cert verify paths/future-leaf.pem --roots paths/future-roots.pem \
                      --crl paths/future-crls.pem --at 2026-06-01",
            status: 1,
            says: "was revoked",
        },
        Case {
            command: "cert verify paths/futureonly-leaf.pem --roots paths/futureonly-roots.pem \
                      --crl paths/futureonly-crls.pem --at 2026-06-01",
            status: 1,
            says: "is not valid before 2026-06-03T00:00:00Z",
        },
    ]);
}
