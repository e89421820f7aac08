//! All implementations agree, and so does every handshake: what the benchmarks check
//! before they time anything.

use benches::handshake::Pair;
use benches::{ml_dsa, ml_kem};

#[test]
fn ml_kem() {
    for set in ml_kem::Set::all() {
        set.check();
    }
}

#[test]
fn ml_dsa() {
    for set in ml_dsa::Set::all(1) {
        set.check();
    }
}

#[test]
fn handshakes() {
    let pairs = Pair::all().expect("certificates and configurations that rustls takes");
    for pair in pairs {
        pair.check();
    }
}
