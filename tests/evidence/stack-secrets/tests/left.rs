//! No operation leaves a secret on the stack, on any backend, and planted copies are found.

use pq_core::{arch, on_each_backend};
use stack_secrets::{
    Exceptions, Operation, operations, operations_on_documents, operations_over_bases, planted,
};

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn nothing_is_left() {
    let (mut left, mut exceptions) = (Vec::new(), Exceptions::new());
    let mut run = |operation: &Operation| {
        for found in operation.left() {
            let excepted = exceptions.excuse(&operation.name, found.what);
            let line = format!("{}: {}: {found}", arch::chosen(), operation.name);
            println!("{line}{}", if excepted { ", as is known" } else { "" });
            if !excepted {
                left.push(line);
            }
        }
    };
    on_each_backend!(backend => {
        arch::limit(backend);
        operations().iter().for_each(&mut run);
    });
    // on the best backend only: what they add does not depend on the backend
    arch::lift_limit();
    operations_over_bases().iter().for_each(&mut run);
    operations_on_documents().iter().for_each(run);
    let stale = exceptions.stale();
    assert!(
        left.is_empty() && stale.is_empty(),
        "{left:#?}, and exceptions that did not occur: {stale:#?}"
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn planted_copies_are_found() {
    for (operation, what) in planted::operations() {
        let left = operation.left();
        assert!(
            left.iter().any(|found| found.what == what),
            "{}: {left:?}",
            operation.name
        );
    }
    for (what, found) in planted::copies() {
        assert!(found, "a copy of {what}");
    }
}
