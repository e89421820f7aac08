//! Planted mistakes, which the tests must find.

use core::array;
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
            name: "branch on words of a state".into(),
            prepare: || Box::new(|| branch_on_words(&state())),
        },
        Operation {
            name: "index by a word of a state".into(),
            prepare: || Box::new(|| index_by_word(&state())),
        },
        Operation {
            name: "branch on a word behind a structure".into(),
            prepare: || Box::new(|| sponge(&mut state(), branch_on_word_behind)),
        },
        Operation {
            name: "index by a word behind a structure".into(),
            prepare: || Box::new(|| sponge(&mut state(), index_by_word_behind)),
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

static TABLE: [u8; 256] = [1; 256];

#[inline(never)]
fn index(secret: &[u8; 32]) {
    // loads the secret from memory, not from a register of the caller
    let secret = black_box(secret);
    black_box(black_box(&TABLE)[usize::from(secret[31])]);
}

/// The state of Keccak, one general register for 64 bits. Two neighbouring words, since aarch64 loads pairs.
#[inline(never)]
fn branch_on_words(state: &[u64; 25]) {
    let state = black_box(state);
    if state[6] & 1 == state[7] & 1 {
        black_box(state);
    }
}

#[inline(never)]
fn index_by_word(state: &[u64; 25]) {
    let state = black_box(state);
    black_box(black_box(&TABLE)[(state[24] >> 56) as usize]);
}

/// Passed by its address, like large kernels: a word of it is the address of the state.
struct Sponge<'a> {
    state: &'a mut [u64; 25],
    rate: usize,
    blocks: &'a [u8],
}

/// The rate and the number of blocks are public, so branches may depend on them.
#[inline(never)]
fn branch_on_word_behind(sponge: Sponge<'_>) {
    for block in sponge.blocks.chunks_exact(sponge.rate) {
        black_box(block);
    }
    if sponge.state[12] >> 3 & 1 == 1 {
        black_box(sponge.rate);
    }
}

#[inline(never)]
fn index_by_word_behind(sponge: Sponge<'_>) {
    black_box(&sponge.blocks[sponge.rate..]);
    black_box(black_box(&TABLE)[(sponge.state[1] & 255) as usize]);
}

fn sponge(state: &mut [u64; 25], run: fn(Sponge<'_>)) {
    black_box(run)(Sponge {
        state,
        rate: 136,
        blocks: &[0; 272],
    });
}

/// 25 secret words.
fn state() -> [u64; 25] {
    let bytes: [u8; 200] = secret();
    let (words, _) = bytes.as_chunks();
    array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// A loop with a call that could have been inlined.
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
