//! Mistakes on purpose, which the tests must find.

use core::hint::black_box;

use crate::{Operation, secret};

/// Operations that are not constant time.
pub fn operations() -> Vec<Operation> {
    vec![
        Operation {
            name: "branch on a secret".into(),
            prepare: || Box::new(|| branch(&secret())),
        },
        Operation {
            name: "index by a secret".into(),
            prepare: || Box::new(|| index(&secret())),
        },
        Operation {
            name: "branch on a shared secret".into(),
            prepare: || crate::ml_kem::branch_on_shared_secret(),
        },
    ]
}

#[inline(never)]
fn branch(secret: &[u8; 32]) {
    if secret[5] & 4 == 0 {
        black_box(secret);
    }
}

#[inline(never)]
fn index(secret: &[u8; 32]) {
    static TABLE: [u8; 256] = [1; 256];
    // from memory, not in a register from the caller
    let secret = black_box(secret);
    black_box(black_box(&TABLE)[usize::from(secret[31])]);
}

/// A loop that calls what could have been inlined.
#[inline(never)]
pub fn call_in_loop(numbers: &mut [u32]) {
    #[inline(never)]
    fn step(number: u32) -> u32 {
        black_box(number) ^ 1
    }

    for number in numbers {
        *number = step(*number);
    }
}
