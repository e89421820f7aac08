//! TLS handshakes beside rustls with aws-lc-rs.

use benches::handshake::{Pair, Side};
use criterion::{Criterion, criterion_group, criterion_main};

fn handshake(criterion: &mut Criterion) {
    let pairs = Pair::all().expect("certificates and configurations that rustls takes");
    for pair in &pairs {
        pair.check();
    }
    for side in Side::ALL {
        let rows = pairs
            .iter()
            .map(|pair| (pair.name.to_owned(), pair.passes(side)));
        benches::measure(criterion, &format!("handshake/{side}"), rows);
    }
}

criterion_group! {
    name = group;
    config = benches::config();
    targets = handshake
}
criterion_main!(group);
