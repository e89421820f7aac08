//! Revocation lists: which of several counts, and which can be read.

use interop::found::Case;

use super::found;

/// A list that is not yet valid says nothing good, and outranks nothing.
#[test]
fn a_list_of_the_future() {
    let Some(found) = found() else { return };
    const REVOKED: Case = Case {
        command: "",
        status: 1,
        says: "was revoked",
    };
    found.check(&[
        Case {
            command: "cert verify lists/future/leaf.pem --roots lists/future/root.pem \
                      --crl lists/future/both.pem --at 2026-11-28T12:00:00Z",
            ..REVOKED
        },
        Case {
            command: "cert verify lists/future/leaf.pem --roots lists/future/root.pem \
                      --crl lists/future/later.pem --crl lists/future/today.pem --at 2026-11-28T12:00:00Z",
            ..REVOKED
        },
        // Then the later list is current, and has the smaller number.
        Case {
            command: "cert verify lists/future/leaf.pem --roots lists/future/root.pem \
                      --crl lists/future/both.pem --at 2027-02-01",
            ..REVOKED
        },
        Case {
            command: "cert verify lists/future/leaf.pem --roots lists/future/root.pem \
                      --crl lists/future/later.pem --at 2026-11-28T12:00:00Z",
            status: 1,
            says: "is not valid before 2027-01-27T00:57:04Z",
        },
        Case {
            command: "cert verify files/crl-chain.pem --roots files/root.pem \
                      --crl files/thisupdate-tomorrow.crl --crl files/rootlist.crl --at 2026-11-28T00:30:00Z",
            status: 1,
            says: "is not valid before 2026-11-29T00:23:52Z",
        },
    ]);
}

/// Of lists of one name, each CA's own counts, whatever the order.
#[test]
fn a_ca_with_two_keys() {
    let Some(found) = found() else { return };
    let valid = |command| Case {
        command,
        status: 0,
        says: "valid",
    };
    found.check(&[
        valid(
            "cert verify lists/two-keys/ch-a.pem --roots lists/two-keys/root.pem \
             --crl lists/two-keys/crls.pem --at 2026-11-28T12:00:00Z",
        ),
        valid(
            "cert verify lists/two-keys/ch-b.pem --roots lists/two-keys/root.pem \
             --crl lists/two-keys/crls.pem --at 2026-11-28T12:00:00Z",
        ),
    ]);
}

/// An entry revokes for whatever reason.
#[test]
fn a_reason_that_nobody_knows() {
    let Some(found) = found() else { return };
    found.check(&[Case {
        command: "cert verify files/crl-chain.pem --roots files/root.pem \
                  --crl files/reason-7.crl --crl files/rootlist.crl --at 2026-11-28T00:30:00Z",
        status: 1,
        says: "was revoked",
    }]);
}

/// NSS makes lists of version 2 without extensions.
#[test]
fn a_list_without_extensions() {
    let Some(found) = found() else { return };
    let list = pq_x509::revocation::CertificateRevocationList::from_der(
        &found.read("peers/nss-noext.crl"),
    );
    let list = list.expect("the list is well-formed");
    assert_eq!(list.number(), None);
    assert!(pq_x509::revocation::RevocationPolicy::new([list]).is_ok());
}
