//! ML-KEM beside its peers.

use benches::ml_kem::{Operation, Set};
use criterion::{Criterion, criterion_group, criterion_main};

fn ml_kem(criterion: &mut Criterion) {
    for set in Set::all() {
        set.check();
        for operation in Operation::ALL {
            let group = format!("{}/{operation}", set.name);
            benches::measure(criterion, &group, set.passes(operation));
        }
    }
}

criterion_group! {
    name = group;
    config = benches::config();
    targets = ml_kem
}
criterion_main!(group);
