//! ML-DSA beside its peers.

use benches::ml_dsa::{MESSAGES, Operation, Set};
use criterion::{Criterion, criterion_group, criterion_main};

fn ml_dsa(criterion: &mut Criterion) {
    let messages = if benches::measuring() { MESSAGES } else { 1 };
    for set in Set::all(messages) {
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
    targets = ml_dsa
}
criterion_main!(group);
