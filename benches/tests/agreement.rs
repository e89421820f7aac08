//! All implementations agree, and so does every handshake: what the benchmarks check
//! before they time anything.

use benches::peers;
use benches::tls::handshake::Pair;

#[test]
fn ml_kem() {
    for (_, set) in peers::ML_KEM {
        set().check();
    }
}

#[test]
fn ml_dsa() {
    for (_, set) in peers::ML_DSA {
        set(1).check();
    }
}

/// Of the others, `cargo bench` makes sure: here they take minutes.
#[test]
fn slh_dsa_fast_sets() {
    for (name, set) in peers::SLH_DSA {
        if name.ends_with("128f") {
            set().check();
        }
    }
}

#[test]
fn handshakes() {
    let pairs = Pair::all(|_| true).expect("certificates and configurations that rustls takes");
    for pair in pairs {
        pair.check();
    }
}
