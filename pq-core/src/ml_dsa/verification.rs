//! Verification (FIPS 204, algorithm 8). Everything here is public.

use core::{array, iter};

use super::encoding::{MAX_W1_ENCODED_LEN, w1_len};
use super::message::representative;
use super::params::ParameterSet;
use super::ring::{Rq, Tq};
use super::sampling::{self, Ball};
use super::signature::{self, Hints, Signature};
use super::verifying_key::{ExpandedVerifyingKey, VerifyingKey, rho, t1_hat};
use crate::arch::Backend;
use crate::context::Context;
use crate::dimension::{Array, Dimension};
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start, Waiting};
use crate::hash::sha3::{SHAKE128, SHAKE256, SHAKE256_RATE, shake256};
use crate::kernel::ml_dsa::sampling::RejectUniform;
use crate::secret::Zero;

/// The signed message, in one of three forms.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// M′, in parts.
    Formatted(&'a [&'a [u8]]),
    /// M with its context, which give M′ of ML-DSA.
    Pure(Context<'a>, &'a [u8]),
    /// µ
    Representative(&'a [u8; 64]),
}

impl Message<'_> {
    /// Writes tr ‖ M′, from `offset` on, to `block`, as [`lanes::read`] does.
    fn read(self, tr: &[u8; 64], offset: usize, block: &mut [u8]) -> usize {
        let mut read = |parts: &[&[u8]]| {
            let parts = parts.iter().copied();
            lanes::read(iter::once(&tr[..]).chain(parts), offset, block)
        };
        match self {
            Self::Formatted(parts) => read(parts),
            Self::Pure(context, message) => context.pure(message, read),
            Self::Representative(_) => 0,
        }
    }
}

/// The key that a signature is verified with.
pub enum Key<'a, P: ParameterSet> {
    /// In the standard's encoding, of the right length.
    Encoded(&'a [u8]),
    Expanded(&'a ExpandedVerifyingKey<P>),
}

impl<'a, P: ParameterSet> From<&'a VerifyingKey<P>> for Key<'a, P> {
    fn from(key: &'a VerifyingKey<P>) -> Self {
        Self::Encoded(key.as_bytes())
    }
}

impl<'a, P: ParameterSet> From<&'a ExpandedVerifyingKey<P>> for Key<'a, P> {
    fn from(key: &'a ExpandedVerifyingKey<P>) -> Self {
        Self::Expanded(key)
    }
}

/// ML-DSA.Verify_internal.
#[must_use]
pub(super) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    key: Key<'_, P>,
    message: Message<'_>,
    signature: &Signature<P>,
) -> bool {
    match key {
        Key::Encoded(_) => verify_in_lanes(b, key, message, signature.as_bytes()),
        // Without lanes, a chain of hashes takes the least time.
        Key::Expanded(key) => verify_in_turn(b, key, message, signature.as_bytes()),
    }
}

/// [`verify`], with as many hashes side by side as possible.
///
/// A separate function, so that an expanded key does not need the stack of this one.
#[inline(never)]
fn verify_in_lanes<P: ParameterSet, B: Backend>(
    b: B,
    key: Key<'_, P>,
    message: Message<'_>,
    signature: &[u8],
) -> bool {
    let mut space = Space::<P, ROWS>::zero();
    let Some(mut verification) = Verification::new(b, key, message, signature, &mut space) else {
        return false;
    };
    lanes::serve(b, &mut verification);
    verification.is_valid()
}

/// [`verify`], step by step.
///
/// A separate function, like [`verify_in_lanes`], so that the stack holds only the memory of one of
/// them.
#[inline(never)]
fn verify_in_turn<P: ParameterSet, B: Backend>(
    b: B,
    key: &ExpandedVerifyingKey<P>,
    message: Message<'_>,
    signature: &[u8],
) -> bool {
    let Space {
        z_hat,
        c,
        minus_c_hat,
        w1_encoded,
        ..
    } = &mut Space::<P, 0>::zero();
    let Some(decoded) = Decoded::new::<P, B>(b, signature, z_hat.as_mut()) else {
        return false;
    };
    sampling::sample_in_ball::<P, B>(b, decoded.c_tilde, c);
    negated_transform(b, c, minus_c_hat);
    let w1_encoded = &mut w1_encoded[..P::K::N * w1_len::<P>()];
    let outputs = w1_encoded.chunks_exact_mut(w1_len::<P>());
    let rows = key.matrix.rows().zip(key.t1_hat.as_ref());
    // c is no longer needed
    let w = c;
    for (i, ((row, t1_hat), output)) in rows.zip(outputs).enumerate() {
        decoded.encode_row_of_w1::<P, B>(b, i, row, (minus_c_hat, t1_hat), w, output);
    }
    let mu = match message {
        Message::Formatted(parts) => &representative(b, &key.tr, parts),
        Message::Pure(context, message) => {
            &context.pure(message, |parts| representative(b, &key.tr, parts))
        }
        Message::Representative(mu) => mu,
    };
    let mut c_tilde_again = [0; 64];
    let c_tilde_again = &mut c_tilde_again[..P::LAMBDA / 4];
    shake256(b, &[mu, w1_encoded], c_tilde_again);
    c_tilde_again == decoded.c_tilde
}

/// A well-formed signature, decoded.
struct Decoded<'a> {
    c_tilde: &'a [u8],
    z_hat: &'a [Tq],
    hints: Hints<'a>,
}

impl<'a> Decoded<'a> {
    /// Steps 2 to 4, and the part of step 13 that needs only **z**; writes over `z_hat`.
    fn new<P: ParameterSet, B: Backend>(
        b: B,
        signature: &'a [u8],
        z_hat: &'a mut [Tq],
    ) -> Option<Self> {
        let (c_tilde, z_encoded, hints_encoded) = signature::parts::<P>(signature);
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

    /// Steps 9, 10 and w1Encode for row `i` of **Â**; adds `product` to the row's product with ẑ.
    /// Computes in `w`, whose previous content does not matter.
    fn encode_row_of_w1<P: ParameterSet, B: Backend>(
        &self,
        b: B,
        i: usize,
        row: &[Tq],
        product: (&Tq, &Tq),
        w: &mut Rq,
        output: &mut [u8],
    ) {
        // 9: w′ ← NTT⁻¹(Â ∘ NTT(z) − NTT(c) ∘ NTT(t₁ · 2^d)); 10: w₁′ ← UseHint(h, w′)
        w.set_inner_product_and(b, row, self.z_hat, product);
        w.use_hint::<P, B>(b, self.hints.of(i), output);
    }
}

/// output ← NTT(−c), so that step 9 only adds.
fn negated_transform<B: Backend>(b: B, c: &mut Rq, output: &mut Tq) {
    for x in &mut c.0 {
        *x = -*x;
    }
    c.ntt(b, output);
}

/// Memory for a verification, with room for `ROWS` rows of **Â**. An expanded key needs neither
/// rows nor `t1_hat`.
#[repr(align(64))]
pub(super) struct Space<P: ParameterSet, const ROWS: usize> {
    z_hat: Array<P::L, Tq>,
    /// c, and when it is no longer needed, rows of **w**′.
    c: Rq,
    /// NTT(−c)
    minus_c_hat: Tq,
    /// An element of NTT(**t**₁ · 2^d).
    t1_hat: Tq,
    /// Row r of **Â** is sampled into `rows[r % ROWS]`.
    rows: [Array<P::L, Tq>; ROWS],
    /// The rows of **w**₁′ that are known, encoded.
    w1_encoded: [u8; MAX_W1_ENCODED_LEN],
}

impl<P: ParameterSet, const ROWS: usize> Space<P, ROWS> {
    pub(super) fn zero() -> Self {
        Self {
            z_hat: P::L::from_fn(|_| Tq::ZERO),
            c: Rq::ZERO,
            minus_c_hat: Tq::ZERO,
            t1_hat: Tq::ZERO,
            rows: array::from_fn(|_| P::L::from_fn(|_| Tq::ZERO)),
            w1_encoded: [0; MAX_W1_ENCODED_LEN],
        }
    }
}

/// A verification in progress.
///
/// Its sponges run side by side: SampleInBall, the entries of **Â**, and a chain of three hashes,
/// tr, µ and c̃′, the last of which absorbs the rows of **w**₁′ one by one as they become known.
/// With an expanded key there are no entries and no tr.
pub(super) struct Verification<'a, P: ParameterSet, B, const ROWS: usize> {
    b: B,
    key: Key<'a, P>,
    message: Message<'a>,
    decoded: Decoded<'a>,
    ball: Ball,
    ball_begun: bool,
    ball_done: bool,
    c: &'a mut Rq,
    minus_c_hat: &'a mut Tq,
    t1_hat: &'a mut Tq,
    rows: &'a mut [Array<P::L, Tq>; ROWS],
    /// How many entries of each of `rows` are complete.
    complete: [usize; ROWS],
    /// Row and column of the next entry to be sampled.
    next_entry: (usize, usize),
    w1_encoded: &'a mut [u8],
    /// How many rows of **w**₁′ are known.
    rows_done: usize,
    link: Link,
    /// The state of the chain while it is not on a lane.
    waiting: Option<Waiting>,
    tr: [u8; 64],
    mu: [u8; 64],
    c_tilde_again: [u8; 64],
}

/// How many rows of **Â** are in memory at a time when eight lanes work on one verification.
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

/// A sponge on a lane.
pub(super) enum Sponge {
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

impl<'a, P: ParameterSet, B: Backend, const ROWS: usize> Verification<'a, P, B, ROWS> {
    /// Begins to verify a signature of the right length; `None` if it is malformed or too large.
    #[inline(always)]
    pub(super) fn new(
        b: B,
        key: Key<'a, P>,
        message: Message<'a>,
        signature: &'a [u8],
        space: &'a mut Space<P, ROWS>,
    ) -> Option<Self> {
        let decoded = Decoded::new::<P, B>(b, signature, space.z_hat.as_mut())?;
        let (link, mu) = match (message, &key) {
            (Message::Representative(mu), _) => (Link::CTilde, *mu),
            (_, Key::Encoded(_)) => (Link::Tr, [0; 64]),
            (_, Key::Expanded(_)) => (Link::Mu, [0; 64]),
        };
        let tr = match &key {
            Key::Encoded(_) => [0; 64],
            Key::Expanded(key) => key.tr,
        };
        Some(Self {
            b,
            key,
            message,
            decoded,
            ball: Ball::new::<P>(&mut space.c),
            ball_begun: false,
            ball_done: false,
            c: &mut space.c,
            minus_c_hat: &mut space.minus_c_hat,
            t1_hat: &mut space.t1_hat,
            rows: &mut space.rows,
            complete: [0; ROWS],
            next_entry: (0, 0),
            w1_encoded: &mut space.w1_encoded[..P::K::N * w1_len::<P>()],
            rows_done: 0,
            link,
            waiting: Some(Waiting::default()),
            tr,
            mu,
            c_tilde_again: [0; 64],
        })
    }

    /// Step 13, when all sponges are done.
    pub(super) fn is_valid(&self) -> bool {
        self.c_tilde_again[..P::LAMBDA / 4] == *self.decoded.c_tilde
    }

    /// How many bytes the current link may absorb before it has to wait for more: all whole blocks
    /// of its message that are known, or the whole message.
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
        let b = self.b;
        let outputs = self.w1_encoded.chunks_exact_mut(w1_len::<P>());
        for (r, output) in outputs.enumerate().skip(self.rows_done) {
            if !self.ball_done {
                return;
            }
            let (row, t1_hat) = match self.key {
                Key::Expanded(key) => (key.matrix.row(r), &key.t1_hat.as_ref()[r]),
                Key::Encoded(_) if self.complete[r % ROWS] < P::L::N => return,
                Key::Encoded(key) => {
                    t1_hat(b, key, r, self.t1_hat);
                    self.complete[r % ROWS] = 0;
                    (self.rows[r % ROWS].as_ref(), &*self.t1_hat)
                }
            };
            let product = (&*self.minus_c_hat, t1_hat);
            // c is no longer needed
            let w = &mut *self.c;
            self.decoded
                .encode_row_of_w1::<P, B>(b, r, row, product, w, output);
            self.rows_done += 1;
        }
    }

    /// Row and column of the next entry of **Â**, if there is one and memory for it.
    fn next_entry(&mut self) -> Option<(usize, usize)> {
        let (r, s) = self.next_entry;
        if matches!(self.key, Key::Expanded(_)) || r == P::K::N || r >= self.rows_done + ROWS {
            return None;
        }
        self.next_entry = if s + 1 < P::L::N {
            (r, s + 1)
        } else {
            (r + 1, 0)
        };
        Some((r, s))
    }
}

impl<P: ParameterSet, B: Backend, const ROWS: usize> Client for Verification<'_, P, B, ROWS> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // The chain is the longest, so it goes first.
        let known = self.known();
        if let Some(waiting) = self.waiting.take_if(|waiting| waiting.absorbed < known) {
            let absorbed = waiting.absorbed;
            *midway = waiting.midway;
            return Some(Start::of(SHAKE256, Sponge::Link { absorbed }));
        }
        if !self.ball_begun {
            self.ball_begun = true;
            return Some(Start::of(SHAKE256, Sponge::Ball));
        }
        let (r, s) = self.next_entry()?;
        let entry = Sponge::Entry { r, s, filled: 0 };
        Some(Start::of(SHAKE128, entry))
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::Entry { r, s, .. } => {
                if let Key::Encoded(key) = self.key {
                    block[..32].copy_from_slice(rho(key));
                }
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
                let taken = match (self.link, &self.key) {
                    (Link::Tr, Key::Encoded(key)) => lanes::read([*key], *absorbed, block),
                    (Link::Tr, Key::Expanded(_)) => 0,
                    (Link::Mu, _) => self.message.read(&self.tr, *absorbed, block),
                    (Link::CTilde, _) => {
                        lanes::read([&self.mu, &*self.w1_encoded], *absorbed, block)
                    }
                };
                *absorbed += taken;
                Absorbed::some(taken, block)
            }
        }
    }

    fn pause(&mut self, sponge: Sponge, midway: Midway) {
        if let Sponge::Link { absorbed } = sponge {
            self.waiting = Some(Waiting::paused(absorbed, midway));
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
                if self.ball.take(block, self.c) == Demand::More {
                    return Demand::More;
                }
                negated_transform(self.b, self.c, self.minus_c_hat);
                self.ball_done = true;
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
                self.waiting = Some(Waiting::default());
            }
        }
        Demand::Done
    }
}
