//! Signatures that anybody can make: if **t**₁ of the verifying key is 0, the commitment does
//! not depend on the challenge. These signatures have any **z** and any hint, up to their bounds (which honest
//! signatures rarely come close to) and beyond, and are valid within the bounds.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::signatures::{Parts, Peer, check_verdicts, formatted};
use libfuzzer_sys::fuzz_target;
use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
use pq_core::{arch, on_each_backend};
use shake::{ExtendableOutput, Shake128, Shake256, Update, XofReader};

fuzz_target!(|input: Input<'_>| {
    match input.set {
        Set::MlDsa44 => check::<MlDsa44>(&ML_DSA_44, &input),
        Set::MlDsa65 => check::<MlDsa65>(&ML_DSA_65, &input),
        Set::MlDsa87 => check::<MlDsa87>(&ML_DSA_87, &input),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    rho: [u8; 32],
    message: &'a [u8],
    /// All coefficients of **z** except those below.
    fill: Coefficient,
    coefficients: Vec<(u16, Coefficient)>,
    /// Polynomials and positions of the ones in the hint.
    hints: Vec<(u8, u8)>,
}

#[derive(Arbitrary, Debug)]
enum Set {
    MlDsa44,
    MlDsa65,
    MlDsa87,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Coefficient {
    Small(i8),
    /// This far from γ₁ − β, which is already too much.
    NearBound(i8),
    NearNegativeBound(i8),
    Any(i32),
}

/// FIPS 204, table 1.
struct Parameters {
    k: usize,
    l: usize,
    challenge_len: usize,
    gamma1_bits: u32,
    /// (q − 1) / 2γ₂
    m: i64,
    beta: i64,
    omega: usize,
}

const ML_DSA_44: Parameters = Parameters {
    k: 4,
    l: 4,
    challenge_len: 32,
    gamma1_bits: 17,
    m: 44,
    beta: 78,
    omega: 80,
};
const ML_DSA_65: Parameters = Parameters {
    k: 6,
    l: 5,
    challenge_len: 48,
    gamma1_bits: 19,
    m: 16,
    beta: 196,
    omega: 55,
};
const ML_DSA_87: Parameters = Parameters {
    k: 8,
    l: 7,
    challenge_len: 64,
    gamma1_bits: 19,
    m: 16,
    beta: 120,
    omega: 75,
};

fn check<P: Peer>(set: &Parameters, input: &Input<'_>) {
    let key = [&input.rho[..], &vec![0; 320 * set.k]].concat();
    let z = set.z(input);
    let hint = set.hint(input);
    let commitment = set.commitment(&input.rho, &z, &hint);

    let m = formatted(input.message, &[]).expect("a short context");
    let tr = shake256(&[&key], 64);
    let mu = shake256(&[&tr, &m], 64);
    let challenge = shake256(&[&mu, &commitment], set.challenge_len);
    let signature = [challenge, set.encode_z(&z), set.encode_hint(&hint)].concat();

    let forged = Parts {
        key: &key,
        message: input.message,
        context: &[],
        signature: &signature,
    };
    let bound = (1 << set.gamma1_bits) - set.beta;
    let is_valid = z
        .iter()
        .flatten()
        .all(|coefficient| coefficient.abs() < bound);
    assert_eq!(P::accepts(&forged), is_valid);
    on_each_backend!(b => {
        arch::limit(b);
        check_verdicts::<P>(&forged, &forged, is_valid);
    });
}

impl Parameters {
    fn z(&self, input: &Input<'_>) -> Vec<[i64; 256]> {
        let gamma1 = 1 << self.gamma1_bits;
        let value = |coefficient| match coefficient {
            Coefficient::Small(value) => value.into(),
            Coefficient::NearBound(by) => gamma1 - self.beta + i64::from(by).min(self.beta),
            Coefficient::NearNegativeBound(by) => {
                self.beta - gamma1 + i64::from(by).max(1 - self.beta)
            }
            Coefficient::Any(value) => i64::from(value).rem_euclid(2 * gamma1) - gamma1 + 1,
        };
        let mut z = vec![[value(input.fill); 256]; self.l];
        for (at, coefficient) in &input.coefficients {
            let at = usize::from(*at) % (256 * self.l);
            z[at / 256][at % 256] = value(*coefficient);
        }
        z
    }

    /// At most ω ones.
    fn hint(&self, input: &Input<'_>) -> Vec<[bool; 256]> {
        let mut hint = vec![[false; 256]; self.k];
        for (i, j) in input.hints.iter().take(self.omega) {
            hint[usize::from(*i) % self.k][usize::from(*j)] = true;
        }
        hint
    }

    /// w1Encode(UseHint(**h**, **Âz**)): algorithm 8, steps 5 to 10, and algorithms 28 and 40.
    fn commitment(&self, rho: &[u8; 32], z: &[[i64; 256]], hint: &[[bool; 256]]) -> Vec<u8> {
        let zetas = zetas();
        let z_hat: Vec<_> = z.iter().map(|z| ntt(&zetas, *z)).collect();
        let bits = if self.m == 44 { 6 } else { 4 };
        let rows = hint.iter().enumerate().flat_map(|(r, hint)| {
            let mut sum = [0; 256];
            for (s, z_hat) in z_hat.iter().enumerate() {
                let a = rejection_sampled(rho, s as u8, r as u8);
                for i in 0..256 {
                    sum[i] = (sum[i] + a[i] * z_hat[i]) % Q;
                }
            }
            let w = inverse_ntt(&zetas, sum);
            pack(bits, (0..256).map(|i| self.use_hint(hint[i], w[i])))
        });
        rows.collect()
    }

    /// Algorithms 36 and 40, of a coefficient in 0 .. q.
    fn use_hint(&self, hint: bool, w: i64) -> i64 {
        let alpha = (Q - 1) / self.m;
        let mut low = w % alpha;
        if low > alpha / 2 {
            low -= alpha;
        }
        let high = match w - low {
            difference if difference == Q - 1 => {
                low -= 1;
                0
            }
            difference => difference / alpha,
        };
        match (hint, low > 0) {
            (false, _) => high,
            (true, true) => (high + 1).rem_euclid(self.m),
            (true, false) => (high - 1).rem_euclid(self.m),
        }
    }

    /// BitPack(z, γ₁ − 1, γ₁) of each (algorithm 17).
    fn encode_z(&self, z: &[[i64; 256]]) -> Vec<u8> {
        let gamma1 = 1 << self.gamma1_bits;
        pack(
            self.gamma1_bits + 1,
            z.iter().flatten().map(|coefficient| gamma1 - coefficient),
        )
    }

    /// HintBitPack (algorithm 20).
    fn encode_hint(&self, hint: &[[bool; 256]]) -> Vec<u8> {
        let mut positions = Vec::new();
        let mut ends = Vec::new();
        for hint in hint {
            positions.extend((0..=255).filter(|j| hint[usize::from(*j)]));
            ends.push(positions.len() as u8);
        }
        positions.resize(self.omega, 0_u8);
        [positions, ends].concat()
    }
}

/// Packs numbers of this many bits one after the other, the least significant bit first.
fn pack(bits: u32, numbers: impl Iterator<Item = i64>) -> Vec<u8> {
    let (mut bytes, mut pending, mut len) = (Vec::new(), 0, 0);
    for number in numbers {
        pending |= (number as u64) << len;
        len += bits;
        while len >= 8 {
            bytes.push(pending as u8);
            pending >>= 8;
            len -= 8;
        }
    }
    bytes
}

/// RejNTTPoly (algorithm 30) of ρ ‖ s ‖ r.
fn rejection_sampled(rho: &[u8; 32], s: u8, r: u8) -> [i64; 256] {
    let mut stream = Shake128::default().chain(rho).chain([s, r]).finalize_xof();
    let mut a = [0; 256];
    for a in &mut a {
        *a = loop {
            let mut bytes = [0; 4];
            stream.read(&mut bytes[..3]);
            let candidate = i64::from(u32::from_le_bytes(bytes) & 0x7f_ffff);
            if candidate < Q {
                break candidate;
            }
        };
    }
    a
}

/// 1753^BitRev₈(i) mod q (FIPS 204, section 7.5).
fn zetas() -> [i64; 256] {
    let mut powers = [1; 256];
    for i in 1..256 {
        powers[i] = powers[i - 1] * 1753 % Q;
    }
    core::array::from_fn(|i| powers[usize::from((i as u8).reverse_bits())])
}

/// Algorithm 41; the result is in 0 .. q.
fn ntt(zetas: &[i64; 256], mut w: [i64; 256]) -> [i64; 256] {
    let mut zetas = zetas[1..].iter();
    for len in [128, 64, 32, 16, 8, 4, 2, 1] {
        for (start, zeta) in (0..256).step_by(2 * len).zip(&mut zetas) {
            for j in start..start + len {
                let t = zeta * w[j + len] % Q;
                w[j + len] = (w[j] - t).rem_euclid(Q);
                w[j] = (w[j] + t).rem_euclid(Q);
            }
        }
    }
    w
}

/// Algorithm 42; the result is in 0 .. q.
fn inverse_ntt(zetas: &[i64; 256], mut w: [i64; 256]) -> [i64; 256] {
    let mut zetas = zetas[1..].iter().rev();
    for len in [1, 2, 4, 8, 16, 32, 64, 128] {
        for (start, zeta) in (0..256).step_by(2 * len).zip(&mut zetas) {
            for j in start..start + len {
                let t = w[j];
                w[j] = (t + w[j + len]) % Q;
                w[j + len] = (zeta * (w[j + len] - t)).rem_euclid(Q);
            }
        }
    }
    /* 8347681 == 256^-1 mod q */
    w.map(|w| w * 8_347_681 % Q)
}

fn shake256(parts: &[&[u8]], len: usize) -> Vec<u8> {
    let mut shake = Shake256::default();
    for part in parts {
        shake.update(part);
    }
    let mut output = vec![0; len];
    shake.finalize_xof().read(&mut output);
    output
}

const Q: i64 = 8_380_417;
