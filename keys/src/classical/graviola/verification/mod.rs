//! How graviola verifies the signatures in certificates.
//!
//! It is not the list of graviola's glue for rustls: to use that list, a program has to contain rustls, and the
//! glue's cipher suites and groups as well.

mod ecdsa;
mod ed25519;
mod rsa;

use crate::classical::verification::ClassicalVerification;

/// The algorithms of graviola's glue, in its order, and RSA without parameters.
pub(super) static ALL: [ClassicalVerification; 16] = {
    let [a, b, c, d, e, f] = ecdsa::ALL;
    let [g, h, i, j, k, l] = rsa::WITH_PARAMETERS;
    let [m, n, o] = rsa::WITHOUT_PARAMETERS;
    [
        a,
        b,
        c,
        d,
        e,
        f,
        ed25519::ED25519,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        n,
        o,
    ]
};
