//! Inputs that are the same in every run and for every implementation.

use shake::{ExtendableOutput, Shake256, Update, XofReader};

/// How many different inputs an operation cycles through.
///
/// The work depends a little on the input, since sampling **Â** rejects some candidates, and a branch
/// predictor would memorise a single input. Even the largest inputs, encapsulation keys of ML-KEM-1024,
/// fit into an L1 cache in this number.
pub(crate) const INPUTS: usize = 16;

/// The first [`INPUTS`] values of a kind.
pub(crate) fn several<const N: usize>(kind: &str) -> Vec<[u8; N]> {
    (0..INPUTS).map(|index| bytes(kind, index)).collect()
}

/// Bytes that look random, SHAKE256(`kind` ‖ `index`).
pub(crate) fn bytes<const N: usize>(kind: &str, index: usize) -> [u8; N] {
    let mut bytes = [0; N];
    Shake256::default()
        .chain(kind)
        .chain((index as u64).to_be_bytes())
        .finalize_xof()
        .read(&mut bytes);
    bytes
}
