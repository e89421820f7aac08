//! Reproducible random inputs.

use shake::{ExtendableOutput, Shake128, Shake128Reader, Update, XofReader};

/// The output of SHAKE128 for some label, read as a stream.
pub(crate) struct Stream(Shake128Reader);

impl Stream {
    pub(crate) fn new(label: &[u8]) -> Self {
        let mut shake = Shake128::default();
        shake.update(label);
        Self(shake.finalize_xof())
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read(&mut bytes);
        bytes
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read(&mut bytes);
        bytes
    }

    /// A number below `bound`, which is far below 2⁶⁴ in every use: the bias of the
    /// remainder doesn't matter to a test.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (u64::from_le_bytes(self.array()) % bound as u64) as usize
    }

    /// Flips one bit of `bytes`.
    pub(crate) fn flip_a_bit(&mut self, bytes: &mut [u8]) {
        let bit = self.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
