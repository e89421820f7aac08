//! Verification (FIPS 204, algorithm 8). Everything here is public.

use super::encoding::{MAX_W1_ENCODED_LEN, w1_len};
use super::message::representative;
use super::params::ParameterSet;
use super::ring::{Rq, Tq};
use super::sampling::{self, Ball};
use super::signature::{Hints, Signature};
use super::verifying_key::VerifyingKey;
use crate::arch::Backend;
use crate::dimension::{Array, Dimension};
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start};
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, shake256};
use crate::kernel::ml_dsa::sampling::RejectUniform;
use crate::secret::Zero;

/// What was signed.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// M′, in parts.
    Formatted(&'a [&'a [u8]]),
    /// µ
    Representative(&'a [u8; 64]),
}

/// ML-DSA.Verify_internal.
#[must_use]
pub(super) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    key: &VerifyingKey<P>,
    message: Message<'_>,
    signature: &Signature<P>,
) -> bool {
    let mut z_hat = P::L::from_fn(|_| Tq::ZERO);
    let Some(decoded) = Decoded::new(b, signature, z_hat.as_mut()) else {
        return false;
    };
    let mut verification = Verification::new(b, key, message, decoded);
    lanes::serve(b, &mut verification);
    verification.is_valid()
}

/// ML-DSA.Verify_internal with H(pk), and the rows of **Â** and the elements of
/// NTT(**t**₁ · 2^d).
#[must_use]
pub(super) fn verify_expanded<'a, P: ParameterSet, B: Backend>(
    b: B,
    tr: &[u8; 64],
    rows: impl Iterator<Item = (&'a [Tq], &'a Tq)>,
    message: Message<'_>,
    signature: &Signature<P>,
) -> bool {
    let mut z_hat = P::L::from_fn(|_| Tq::ZERO);
    let Some(decoded) = Decoded::new(b, signature, z_hat.as_mut()) else {
        return false;
    };
    let mut c = Rq::ZERO;
    sampling::sample_in_ball::<P, B>(b, decoded.c_tilde, &mut c);
    let minus_c_hat = negated_transform(b, &mut c);
    let mut w1_encoded = [0; MAX_W1_ENCODED_LEN];
    let w1_encoded = &mut w1_encoded[..P::K::N * w1_len::<P>()];
    let outputs = w1_encoded.chunks_exact_mut(w1_len::<P>());
    for (i, ((row, t1_hat), output)) in rows.zip(outputs).enumerate() {
        decoded.encode_row_of_w1::<P, B>(b, i, row, (&minus_c_hat, t1_hat), output);
    }
    let mu = match message {
        Message::Formatted(parts) => &representative(b, tr, parts),
        Message::Representative(mu) => mu,
    };
    let mut c_tilde_again = [0; 64];
    let c_tilde_again = &mut c_tilde_again[..P::LAMBDA / 4];
    shake256(b, &[mu, w1_encoded], c_tilde_again);
    c_tilde_again == decoded.c_tilde
}

/// A decoded signature whose form is right.
struct Decoded<'a> {
    c_tilde: &'a [u8],
    z_hat: &'a [Tq],
    hints: Hints<'a>,
}

impl<'a> Decoded<'a> {
    /// Steps 2 to 4, and as much of step 13 as **z** is enough for; `z_hat` is written over.
    fn new<P: ParameterSet, B: Backend>(
        b: B,
        signature: &'a Signature<P>,
        z_hat: &'a mut [Tq],
    ) -> Option<Self> {
        let (c_tilde, z_encoded, hints_encoded) = signature.parts();
        let hints = Hints::decode::<P>(hints_encoded)?;
        let mut z = Rq::ZERO;
        for (z_encoded, z_hat) in z_encoded.zip(z_hat.iter_mut()) {
            z.decode_z::<P, B>(b, z_encoded);
            // 13: ‖z‖∞ < γ₁ − β
            if !z.below(b, P::GAMMA1 - P::BETA) {
                return None;
            }
            z.ntt(b, z_hat);
        }
        Some(Self {
            c_tilde,
            z_hat,
            hints,
        })
    }

    /// Steps 9, 10 and w1Encode for row `i` of **Â**; `product` is what is to be added to
    /// its product with ẑ.
    fn encode_row_of_w1<P: ParameterSet, B: Backend>(
        &self,
        b: B,
        i: usize,
        row: &[Tq],
        product: (&Tq, &Tq),
        output: &mut [u8],
    ) {
        // 9: w′ ← NTT⁻¹(Â ∘ NTT(z) − NTT(c) ∘ NTT(t₁ · 2^d)); 10: w₁′ ← UseHint(h, w′)
        let mut w = Rq::ZERO;
        w.set_inner_product_and(b, row, self.z_hat, product);
        w.use_hint::<P, B>(b, self.hints.of(i));
        w.encode_w1::<P, B>(b, output);
    }
}

/// NTT(−c), so that step 9 only adds.
fn negated_transform<B: Backend>(b: B, c: &mut Rq) -> Tq {
    for x in &mut c.0 {
        *x = -*x;
    }
    let mut minus_c_hat = Tq::ZERO;
    c.ntt(b, &mut minus_c_hat);
    minus_c_hat
}

/// A verification under way. Its sponges run side by side: SampleInBall, the entries of
/// **Â**, and a chain of three hashes, tr, µ and c̃′, the last of which takes the rows of
/// **w**₁′ one by one as they are known.
struct Verification<'a, P: ParameterSet, B> {
    b: B,
    key: &'a VerifyingKey<P>,
    message: Message<'a>,
    decoded: Decoded<'a>,
    ball: Ball,
    ball_begun: bool,
    c: Rq,
    /// NTT(−c), once SampleInBall is done.
    minus_c_hat: Option<Tq>,
    /// Row r of **Â** is sampled into `rows[r % ROWS]`.
    rows: [Array<P::L, Tq>; ROWS],
    /// How many entries of these are complete.
    complete: [usize; ROWS],
    /// Row and column of the next entry to be sampled.
    next_entry: (usize, usize),
    /// The rows of **w**₁′, encoded, as far as they are known.
    w1_encoded: [u8; MAX_W1_ENCODED_LEN],
    /// How many these are.
    rows_done: usize,
    link: Link,
    /// What there is of the chain if it is not on a lane.
    waiting: Option<Waiting>,
    tr: [u8; 64],
    mu: [u8; 64],
    c_tilde_again: [u8; 64],
}

/// How many rows of **Â** are in memory at a time: those that eight lanes work on.
const ROWS: usize = 3;

/// The hashes of the chain.
#[derive(Clone, Copy)]
enum Link {
    /// tr = H(pk, 64)
    Tr,
    /// µ = H(tr ‖ M′, 64)
    Mu,
    /// c̃′ = H(µ ‖ w1Encode(**w**₁′), λ/4)
    CTilde,
}

/// A hash of the chain that is to begin or to go on.
struct Waiting {
    absorbed: usize,
    midway: Option<Midway>,
}

/// What is on a lane.
enum Sponge {
    Entry {
        r: usize,
        s: usize,
        filled: usize,
    },
    Ball,
    /// The current link of the chain.
    Link {
        absorbed: usize,
    },
}

impl<'a, P: ParameterSet, B: Backend> Verification<'a, P, B> {
    #[inline(always)]
    fn new(b: B, key: &'a VerifyingKey<P>, message: Message<'a>, decoded: Decoded<'a>) -> Self {
        let mut c = Rq::ZERO;
        let (link, mu) = match message {
            Message::Formatted(_) => (Link::Tr, [0; 64]),
            Message::Representative(mu) => (Link::CTilde, *mu),
        };
        Self {
            b,
            key,
            message,
            decoded,
            ball: Ball::new::<P>(&mut c),
            ball_begun: false,
            c,
            minus_c_hat: None,
            rows: [(); ROWS].map(|()| P::L::from_fn(|_| Tq::ZERO)),
            complete: [0; ROWS],
            next_entry: (0, 0),
            w1_encoded: [0; MAX_W1_ENCODED_LEN],
            rows_done: 0,
            link,
            waiting: Some(Waiting {
                absorbed: 0,
                midway: None,
            }),
            tr: [0; 64],
            mu,
            c_tilde_again: [0; 64],
        }
    }

    /// Step 13, when all sponges are done.
    fn is_valid(&self) -> bool {
        self.c_tilde_again[..P::LAMBDA / 4] == *self.decoded.c_tilde
    }

    /// How many bytes the current link may absorb before it has to wait for more: whole
    /// blocks of what is known of its message, or all of it.
    fn known(&self) -> usize {
        match self.link {
            Link::CTilde if self.rows_done < P::K::N => {
                let known = 64 + self.rows_done * w1_len::<P>();
                known - known % SHAKE256_RATE
            }
            _ => usize::MAX,
        }
    }

    /// Steps 9 and 10 for all rows of **Â** that are complete.
    fn finish_rows(&mut self) {
        let Some(minus_c_hat) = &self.minus_c_hat else {
            return;
        };
        while self.complete[self.rows_done % ROWS] == P::L::N {
            let (b, r) = (self.b, self.rows_done);
            let (mut t1, mut t1_hat) = (Rq::ZERO, Tq::ZERO);
            self.key.t1_hat(b, r, &mut t1, &mut t1_hat);
            let row = self.rows[r % ROWS].as_ref();
            let output = &mut self.w1_encoded[r * w1_len::<P>()..][..w1_len::<P>()];
            self.decoded
                .encode_row_of_w1::<P, B>(b, r, row, (minus_c_hat, &t1_hat), output);
            self.complete[r % ROWS] = 0;
            self.rows_done += 1;
        }
    }
}

impl<P: ParameterSet, B: Backend> Client for Verification<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self) -> Option<Start<Sponge>> {
        let start = |rate, sponge, midway| Start {
            rate,
            suffix: SHAKE_SUFFIX,
            sponge,
            midway,
        };
        // The chain is the longest, so it goes first.
        let known = self.known();
        if let Some(Waiting { absorbed, midway }) =
            self.waiting.take_if(|waiting| waiting.absorbed < known)
        {
            return Some(start(SHAKE256_RATE, Sponge::Link { absorbed }, midway));
        }
        if !self.ball_begun {
            self.ball_begun = true;
            return Some(start(SHAKE256_RATE, Sponge::Ball, None));
        }
        let (r, s) = self.next_entry;
        if r == P::K::N || r >= self.rows_done + ROWS {
            return None;
        }
        self.next_entry = if s + 1 < P::L::N {
            (r, s + 1)
        } else {
            (r + 1, 0)
        };
        let entry = Sponge::Entry { r, s, filled: 0 };
        Some(start(SHAKE128_RATE, entry, None))
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::Entry { r, s, .. } => {
                block[..32].copy_from_slice(self.key.rho());
                block[32..34].copy_from_slice(&[*s as u8, *r as u8]);
                Absorbed::End(34)
            }
            Sponge::Ball => {
                block[..P::LAMBDA / 4].copy_from_slice(self.decoded.c_tilde);
                Absorbed::End(P::LAMBDA / 4)
            }
            Sponge::Link { absorbed } => {
                if *absorbed >= self.known() {
                    return Absorbed::Nothing;
                }
                let w1_encoded = &self.w1_encoded[..P::K::N * w1_len::<P>()];
                let taken = match (self.link, self.message) {
                    (Link::Tr, _) => lanes::read([self.key.as_bytes()], *absorbed, block),
                    (Link::Mu, Message::Formatted(parts)) => {
                        let parts = parts.iter().copied();
                        lanes::read([&self.tr[..]].into_iter().chain(parts), *absorbed, block)
                    }
                    (Link::Mu, Message::Representative(_)) => 0,
                    (Link::CTilde, _) => lanes::read([&self.mu, w1_encoded], *absorbed, block),
                };
                *absorbed += taken;
                Absorbed::some(taken, block)
            }
        }
    }

    fn pause(&mut self, sponge: Sponge, midway: Midway) {
        if let Sponge::Link { absorbed } = sponge {
            self.waiting = Some(Waiting {
                absorbed,
                midway: Some(midway),
            });
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::Entry { r, s, filled } => {
                *filled = self.b.run(RejectUniform {
                    block: block.first_chunk().expect("a block of SHAKE128"),
                    f: &mut self.rows[*r % ROWS].as_mut()[*s].0,
                    filled: *filled,
                });
                if *filled < 256 {
                    return Demand::More;
                }
                self.complete[*r % ROWS] += 1;
                self.finish_rows();
            }
            Sponge::Ball => {
                // 8: c ← SampleInBall(c̃)
                if self.ball.take(block, &mut self.c) == Demand::More {
                    return Demand::More;
                }
                self.minus_c_hat = Some(negated_transform(self.b, &mut self.c));
                self.finish_rows();
            }
            Sponge::Link { .. } => {
                let next = match self.link {
                    Link::Tr => {
                        self.tr.copy_from_slice(&block[..64]);
                        Link::Mu
                    }
                    Link::Mu => {
                        self.mu.copy_from_slice(&block[..64]);
                        Link::CTilde
                    }
                    Link::CTilde => {
                        self.c_tilde_again.copy_from_slice(&block[..64]);
                        return Demand::Done;
                    }
                };
                self.link = next;
                self.waiting = Some(Waiting {
                    absorbed: 0,
                    midway: None,
                });
            }
        }
        Demand::Done
    }
}
