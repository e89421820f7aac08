//! The message representative µ (FIPS 204, section 6.2).

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::arch::{Backend, choose, dispatch};
use crate::context::Context;
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE, Sponge, shake256, shake256_joined};
use crate::secret::wipe_stack;

/// µ = H(tr ‖ M′, 64) (algorithm 7, step 6; algorithm 8, step 7).
pub(super) fn representative<B: Backend>(b: B, tr: &[u8; 64], message: &[&[u8]]) -> [u8; 64] {
    let mut mu = [0; 64];
    shake256_joined(b, &[tr], message, &mut mu);
    mu
}

/// Computes the representative µ of a message that comes in pieces (external µ, FIPS 204, section 6.2).
///
/// [`VerifyingKey::mu_hasher`](super::VerifyingKey::mu_hasher) makes one. It has some 200 bytes,
/// however long the message is, and is wiped when dropped. A move leaves a copy of it behind, with
/// the last bytes of the message.
pub struct MuHasher(Sponge);

impl MuHasher {
    /// Begins with everything that precedes the message.
    pub(super) fn new(verifying_key: &[u8], context: Context<'_>) -> Self {
        dispatch!(choose(), b => Self::begin(b, verifying_key, context))
    }

    fn begin<B: Backend>(b: B, verifying_key: &[u8], context: Context<'_>) -> Self {
        // tr ← H(pk, 64)
        let mut tr = [0; 64];
        shake256(b, &[verifying_key], &mut tr);
        let mut sponge = Sponge::new(SHAKE256_RATE);
        sponge.absorb(b, &tr);
        context.pure(&[], |parts| {
            for part in parts {
                sponge.absorb(b, part);
            }
        });
        Self(sponge)
    }

    /// Takes the next bytes of the message. Long pieces take less time per byte.
    pub fn update(&mut self, message: &[u8]) {
        dispatch!(choose(), b => self.absorb(b, message));
    }

    fn absorb<B: Backend>(&mut self, b: B, message: &[u8]) {
        self.0.absorb(b, message);
        wipe_stack();
    }

    /// Ends the message, and returns its µ for [`SigningKey::sign_mu`](super::SigningKey::sign_mu)
    /// and [`VerifyingKey::verify_mu`](super::VerifyingKey::verify_mu).
    pub fn finish(self) -> [u8; 64] {
        dispatch!(choose(), b => self.mu(b))
    }

    fn mu<B: Backend>(mut self, b: B) -> [u8; 64] {
        let mut mu = [0; 64];
        self.0.finish(SHAKE_SUFFIX);
        self.0.squeeze(b, &mut mu);
        wipe_stack();
        mu
    }
}

/// Its sponge wipes itself.
impl ZeroizeOnDrop for MuHasher {}

impl fmt::Debug for MuHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MuHasher(..)")
    }
}

#[cfg(test)]
mod tests {
    use shake::digest::{ExtendableOutput, Update, XofReader};

    use super::MuHasher;
    use crate::arch::{Backend, Portable, on_each_backend};
    use crate::context::Context;
    use crate::ml_dsa::{MlDsa44, VerifyingKey};

    const KEY: [u8; 1312] = [7; 1312];

    /// By another implementation, as in algorithms 2 and 7.
    fn independent(context: &[u8], message: &[u8]) -> [u8; 64] {
        fn h(parts: &[&[u8]]) -> [u8; 64] {
            let mut hash = shake::Shake256::default();
            parts.iter().for_each(|part| hash.update(part));
            let mut output = [0; 64];
            hash.finalize_xof().read(&mut output);
            output
        }
        h(&[&h(&[&KEY]), &[0, context.len() as u8], context, message])
    }

    /// Every split near block boundaries, with contexts that fill the first block to different
    /// lengths.
    #[test]
    fn pieces_make_no_difference() {
        fn check<B: Backend>(b: B) {
            let message: [u8; 500] = core::array::from_fn(|i| (i * i % 251) as u8);
            for context in [&[][..], b"context", &[1; 69], &[2; 70], &[3; 71], &[4; 255]] {
                let expected = independent(context, &message);
                for first in 0..=137 {
                    let (head, tail) = message.split_at(first);
                    for second in [0, 1, 69, 70, 71, 136, 300] {
                        let (middle, tail) = tail.split_at(second);
                        let mut hasher = MuHasher::begin(b, &KEY, Context::new(context).unwrap());
                        for piece in [head, middle, &[], tail] {
                            hasher.absorb(b, piece);
                        }
                        assert_eq!(hasher.mu(b), expected, "{first}, {second}");
                    }
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    /// The public functions, and one backend goes on where another stopped.
    #[test]
    fn as_at_once() {
        let key = VerifyingKey::<MlDsa44>::from_bytes(&KEY).unwrap();
        let message = [9; 300];
        let expected = independent(b"context", &message);
        assert_eq!(key.mu(&message, b"context"), Ok(expected));
        let mut hasher = key.mu_hasher(b"context").unwrap();
        hasher.update(&message[..50]);
        hasher.absorb(Portable, &message[50..200]);
        hasher.update(&message[200..]);
        assert_eq!(hasher.finish(), expected);
        assert!(key.mu_hasher(&[0; 256]).is_err());
    }
}
