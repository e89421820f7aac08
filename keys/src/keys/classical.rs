//! Public keys of classical algorithms, as far as issuing has to know them: a key that everybody can sign or
//! decrypt with must not be certified, and nor must one that is none.
//!
//! Public numbers only, so nothing here has to take a constant time.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{
    ID_EC_PUBLIC_KEY, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1, SECP_521_R_1,
};
use const_oid::db::rfc8410::{ID_ED_448, ID_ED_25519, ID_X_448, ID_X_25519};
use der::Decode;
use der::asn1::{AnyRef, UintRef};
use spki::SubjectPublicKeyInfoRef;

use super::composite::CompositeIdentifier;
use super::error::KeyError;

/// Checks a key of RSA, of ECDSA on NIST's curves, or of RFC 8410, and such a half of a composite key. Keys of other
/// algorithms pass.
///
/// # Errors
///
/// [`KeyError::WeakClassical`].
pub fn check_classical(key: &SubjectPublicKeyInfoRef<'_>) -> Result<(), KeyError> {
    let bytes = key.subject_public_key.raw_bytes();
    let (algorithm, flaw) = match key.algorithm.oid {
        RSA_ENCRYPTION | RSA_PSS => ("RSA", rsa(bytes)),
        ID_EC_PUBLIC_KEY => {
            let curve = key.algorithm.parameters_oid().ok();
            let mut curves = CURVES.iter();
            match curves.find(|known| Some(known.oid) == curve) {
                Some(curve) => (curve.name, curve.flaw(bytes)),
                None => return Ok(()),
            }
        }
        ID_ED_25519 => ("Ed25519", ed25519(bytes)),
        ID_X_25519 => ("X25519", montgomery(bytes, &P_25519, 255, montgomery_25519)),
        ID_ED_448 => ("Ed448", ed448(bytes)),
        ID_X_448 => ("X448", montgomery(bytes, &P_448, 448, |_, _| false)),
        oid => match CompositeIdentifier::from_oid(oid) {
            Some(composite) => (composite.name(), half_of(composite, bytes)),
            None => return Ok(()),
        },
    };
    match flaw {
        None => Ok(()),
        Some(flaw) => Err(KeyError::WeakClassical { algorithm, flaw }),
    }
}

/// The flaw of a composite key's classical half, which stands after the half of ML-DSA.
fn half_of(composite: CompositeIdentifier, key: &[u8]) -> Option<&'static str> {
    let Some((_, half)) = key.split_at_checked(composite.ml_dsa().public_key_len()) else {
        return Some("it is shorter than its half of ML-DSA");
    };
    match composite.arc() {
        37 | 38 | 41..=44 | 52 | 53 => rsa(half),
        39 | 48 => ed25519(half),
        40 | 45 => CURVES[0].flaw(half),
        46 | 49 => CURVES[1].flaw(half),
        54 => CURVES[2].flaw(half),
        51 => ed448(half),
        // Brainpool's curves are for others to check.
        _ => None,
    }
}

fn ed25519(key: &[u8]) -> Option<&'static str> {
    edwards(key, &P_25519, 32, edwards_25519)
}

fn ed448(key: &[u8]) -> Option<&'static str> {
    edwards(key, &P_448, 57, |_, _| false)
}

const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");

/// RSAPublicKey (RFC 8017 appendix A.1.1), and what NIST SP 800-89 section 5.3.3 checks of it.
fn rsa(key: &[u8]) -> Option<&'static str> {
    let numbers = AnyRef::from_der(key).and_then(|key| {
        key.sequence(|reader| {
            let modulus = UintRef::decode(reader)?;
            let exponent = UintRef::decode(reader)?;
            Ok::<_, der::Error>((modulus.as_bytes(), exponent.as_bytes()))
        })
    });
    let Ok((modulus, exponent)) = numbers else {
        return Some("it is no RSAPublicKey");
    };
    let is_even = |number: &[u8]| number.last().is_none_or(|last| last % 2 == 0);
    let mut primes = (3..752).filter(|one| (2..*one).all(|divisor| one % divisor != 0));
    match (modulus, exponent) {
        _ if is_even(modulus) => Some("its modulus is even"),
        _ if primes.any(|prime| remainder(modulus, prime) == 0) => {
            Some("its modulus has a small factor")
        }
        (_, [1]) => Some("its exponent is 1, so that everybody can sign"),
        _ if is_even(exponent) => Some("its exponent is even"),
        // Both are without leading zeros.
        _ if (exponent.len(), exponent) >= (modulus.len(), modulus) => {
            Some("its exponent is not below its modulus")
        }
        _ => None,
    }
}

fn remainder(number: &[u8], divisor: u32) -> u32 {
    number
        .iter()
        .fold(0, |rest, byte| (rest << 8 | u32::from(*byte)) % divisor)
}

/// A number of up to 576 bits, the lowest 64 first.
type Number = [u64; 9];

const ONE: Number = small(1);

const fn small(value: u64) -> Number {
    [value, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// The number with these big-endian hexadecimal digits.
const fn hex(digits: &str) -> Number {
    let mut number = [0; 9];
    let digits = digits.as_bytes();
    let mut index = 0;
    while index < digits.len() {
        let digit = match digits[digits.len() - 1 - index] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit => digit - b'a' + 10,
        };
        number[index / 16] |= (digit as u64) << (4 * (index % 16));
        index += 1;
    }
    number
}

/// 2^255 - 19
const P_25519: Number = hex("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");

/// 2^448 - 2^224 - 1
const P_448: Number = hex(
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
);

/// A curve y² = x³ - 3x + b (SP 800-186 section 3.2.1).
struct Curve {
    oid: ObjectIdentifier,
    name: &'static str,
    /// The length of a coordinate, in bytes.
    length: usize,
    p: Number,
    b: Number,
}

static CURVES: [Curve; 3] = [
    Curve {
        oid: SECP_256_R_1,
        name: "P-256",
        length: 32,
        p: hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
        b: hex("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"),
    },
    Curve {
        oid: SECP_384_R_1,
        name: "P-384",
        length: 48,
        p: hex(
            "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
        ),
        b: hex(
            "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
        ),
    },
    Curve {
        oid: SECP_521_R_1,
        name: "P-521",
        length: 66,
        p: hex(
            "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ),
        b: hex(
            "0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        ),
    },
];

impl Curve {
    /// What is wrong with a point (SEC 1 section 2.3.4). Most verifiers read no compressed points.
    fn flaw(&self, point: &[u8]) -> Option<&'static str> {
        let coordinates = match point {
            [4, coordinates @ ..] if coordinates.len() == 2 * self.length => coordinates,
            _ => return Some("it is no uncompressed point of its curve"),
        };
        let (x, y) = coordinates.split_at(self.length);
        let (x, y) = (big_endian(x), big_endian(y));
        let field = Field(&self.p);
        if !(field.has(&x) && field.has(&y)) {
            return Some("a coordinate is too large");
        }
        let cube = field.times(&field.square(&x), &x);
        let right = field.plus(&field.minus(&cube, &field.times(&small(3), &x)), &self.b);
        (field.square(&y) != right).then_some("it is not on its curve")
    }
}

const SMALL_ORDER: &str =
    "it has a small order, so that everybody can sign or agree on a secret for it";

/// Checks the y of a point (RFC 8032 sections 5.1.3 and 5.2.3); the highest bit is the sign of x.
fn edwards(
    point: &[u8],
    p: &Number,
    length: usize,
    has_small_order: fn(&Field<'_>, &Number) -> bool,
) -> Option<&'static str> {
    let Ok(y) = little_endian(point, length) else {
        return Some("it has a wrong length");
    };
    let mut y = y;
    let sign = 8 * length - 1;
    y[sign / 64] &= !(1 << (sign % 64));
    let field = Field(p);
    match field.has(&y) {
        false => Some("it is not encoded as its standard demands"),
        // The neutral element and the points of orders 2 and 4
        true if field.is_minus_one_to_one(&y) || has_small_order(&field, &y) => Some(SMALL_ORDER),
        true => None,
    }
}

/// Checks the u of a point (RFC 7748 section 6); other bits than those of p are ignored.
fn montgomery(
    point: &[u8],
    p: &Number,
    bits: usize,
    has_small_order: fn(&Field<'_>, &Number) -> bool,
) -> Option<&'static str> {
    let Ok(mut u) = little_endian(point, bits.div_ceil(8)) else {
        return Some("it has a wrong length");
    };
    if !bits.is_multiple_of(64) {
        u[bits / 64] &= (1 << (bits % 64)) - 1;
    }
    let field = Field(p);
    // RFC 7748 section 5: what is not below p is reduced.
    let u = field.reduced(&u);
    (field.is_minus_one_to_one(&u) || has_small_order(&field, &u)).then_some(SMALL_ORDER)
}

/// Whether a point with this y has order 8: then the y of its double is 0, so that x² = -y². With the curve's
/// -x² + y² = 1 + d x² y² this is d y⁴ + 2 y² = 1, where d is -121665 / 121666.
fn edwards_25519(field: &Field<'_>, y: &Number) -> bool {
    let square = field.square(y);
    is_of_order_8(field, &field.square(&square), &square, &ONE)
}

/// The same for y = (u - 1) / (u + 1), times (u + 1)⁴.
fn montgomery_25519(field: &Field<'_>, u: &Number) -> bool {
    let (below, above) = (field.minus(u, &ONE), field.plus(u, &ONE));
    let (below, above) = (field.square(&below), field.square(&above));
    let middle = field.times(&below, &above);
    is_of_order_8(field, &field.square(&below), &middle, &field.square(&above))
}

/// Whether -121665 y⁴ + 2 · 121666 y² = 121666.
fn is_of_order_8(field: &Field<'_>, fourth: &Number, square: &Number, one: &Number) -> bool {
    let times = |factor, number| field.times(&small(factor), number);
    let right = field.plus(&times(121_666, one), &times(121_665, fourth));
    times(2 * 121_666, square) == right
}

fn big_endian(bytes: &[u8]) -> Number {
    let mut number = [0; 9];
    for (index, byte) in bytes.iter().rev().enumerate() {
        number[index / 8] |= u64::from(*byte) << (8 * (index % 8));
    }
    number
}

fn little_endian(bytes: &[u8], length: usize) -> Result<Number, ()> {
    if bytes.len() != length {
        return Err(());
    }
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    Ok(big_endian(&reversed))
}

/// The integers modulo an odd number below 2^575. The arithmetic is slow and short.
struct Field<'a>(&'a Number);

impl Field<'_> {
    /// Whether a number is below the modulus.
    fn has(&self, number: &Number) -> bool {
        number.iter().rev().lt(self.0.iter().rev())
    }

    /// A number below twice the modulus, modulo it.
    fn reduced(&self, number: &Number) -> Number {
        match self.has(number) {
            true => *number,
            false => subtract(number, self.0),
        }
    }

    fn plus(&self, a: &Number, b: &Number) -> Number {
        self.reduced(&add(a, b))
    }

    fn minus(&self, a: &Number, b: &Number) -> Number {
        self.plus(a, &subtract(self.0, b))
    }

    fn times(&self, a: &Number, b: &Number) -> Number {
        let mut product = small(0);
        for bit in (0..576).rev() {
            product = self.plus(&product, &product);
            if b[bit / 64] >> (bit % 64) & 1 == 1 {
                product = self.plus(&product, a);
            }
        }
        product
    }

    fn square(&self, a: &Number) -> Number {
        self.times(a, a)
    }

    fn is_minus_one_to_one(&self, number: &Number) -> bool {
        let next = self.plus(number, &ONE);
        [small(0), ONE, small(2)].contains(&next)
    }
}

fn add(a: &Number, b: &Number) -> Number {
    let mut carry = false;
    core::array::from_fn(|index| {
        let (sum, first) = a[index].overflowing_add(b[index]);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first || second;
        sum
    })
}

/// a - b for b of at most a.
fn subtract(a: &Number, b: &Number) -> Number {
    let mut borrow = false;
    core::array::from_fn(|index| {
        let (rest, first) = a[index].overflowing_sub(b[index]);
        let (rest, second) = rest.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(oid: ObjectIdentifier, key: &[u8]) -> Option<&'static str> {
        flaw_with(oid, None, key)
    }

    fn flaw_with(
        oid: ObjectIdentifier,
        curve: Option<ObjectIdentifier>,
        key: &[u8],
    ) -> Option<&'static str> {
        let key = SubjectPublicKeyInfoRef {
            algorithm: spki::AlgorithmIdentifierRef {
                oid,
                parameters: curve.as_ref().map(AnyRef::from),
            },
            subject_public_key: der::asn1::BitStringRef::from_bytes(key).unwrap(),
        };
        match check_classical(&key) {
            Err(KeyError::WeakClassical { flaw, .. }) => Some(flaw),
            other => {
                assert_eq!(other, Ok(()));
                None
            }
        }
    }

    fn bytes(number: &Number, length: usize) -> Vec<u8> {
        let all = number.iter().flat_map(|limb| limb.to_le_bytes());
        all.take(length).collect()
    }

    /// A square root modulo 2^255 - 19, if there is one (RFC 8032 section 5.1.1).
    fn root(field: &Field<'_>, square: &Number) -> Option<Number> {
        let power = |base: &Number, exponent: &Number| {
            (0..576).rev().fold(ONE, |all, bit| {
                let all = field.square(&all);
                match exponent[bit / 64] >> (bit % 64) & 1 {
                    1 => field.times(&all, base),
                    _ => all,
                }
            })
        };
        // (p + 3) / 8 = 2^252 - 2, and (p - 1) / 4 = 2^253 - 5
        let mut exponent = small(0);
        exponent[3] = 1 << 60;
        let root = power(square, &subtract(&exponent, &small(2)));
        exponent[3] = 1 << 61;
        let of_minus_one = power(&small(2), &subtract(&exponent, &small(5)));
        let other = field.times(&root, &of_minus_one);
        [root, other]
            .into_iter()
            .find(|root| field.square(root) == *square)
    }

    /// The y of points of order 8, from the curve's equation.
    fn of_order_8() -> Vec<Number> {
        let field = Field(&P_25519);
        // y² = (-1 ± √(1 + d)) / d, and 1 + d = 1 / 121666, so y² = (121666 ∓ √121666) / 121665.
        let r = root(&field, &small(121_666)).unwrap();
        let inverse = {
            let exponent = subtract(&P_25519, &small(2));
            (0..576).rev().fold(ONE, |all, bit| {
                let all = field.square(&all);
                match exponent[bit / 64] >> (bit % 64) & 1 {
                    1 => field.times(&all, &small(121_665)),
                    _ => all,
                }
            })
        };
        let both = [
            field.minus(&small(121_666), &r),
            field.plus(&small(121_666), &r),
        ];
        let squares = both.map(|one| field.times(&one, &inverse));
        let roots = squares.iter().filter_map(|square| root(&field, square));
        roots
            .flat_map(|y| [y, field.minus(&small(0), &y)])
            .collect()
    }

    #[test]
    fn points_of_small_order_are_refused() {
        let field = Field(&P_25519);
        let order_8 = of_order_8();
        assert_eq!(order_8.len(), 2);
        let minus_one = subtract(&P_25519, &ONE);
        let all = [&[small(0), ONE, minus_one], &*order_8].concat();
        for y in &all {
            let mut encoded = bytes(y, 32);
            assert_eq!(flaw(ID_ED_25519, &encoded), Some(SMALL_ORDER), "{y:x?}");
            encoded[31] |= 0x80;
            assert_eq!(flaw(ID_ED_25519, &encoded), Some(SMALL_ORDER), "{y:x?}");
        }
        // u = (1 + y) / (1 - y), so y = 1 has none, and others: 0, 1, and -1 on the twist
        let to_u = |y: &Number| {
            let (above, below) = (field.plus(&ONE, y), field.minus(&ONE, y));
            let exponent = subtract(&P_25519, &small(2));
            let inverse = (0..576).rev().fold(ONE, |all, bit| {
                let all = field.square(&all);
                match exponent[bit / 64] >> (bit % 64) & 1 {
                    1 => field.times(&all, &below),
                    _ => all,
                }
            });
            field.times(&above, &inverse)
        };
        let order_8: Vec<Number> = order_8.iter().map(to_u).collect();
        for u in [
            &[small(0), ONE, minus_one, P_25519, add(&P_25519, &ONE)],
            &*order_8,
        ]
        .concat()
        {
            let mut encoded = bytes(&u, 32);
            assert_eq!(flaw(ID_X_25519, &encoded), Some(SMALL_ORDER), "{u:x?}");
            encoded[31] |= 0x80;
            assert_eq!(flaw(ID_X_25519, &encoded), Some(SMALL_ORDER), "{u:x?}");
        }
        for y in [P_25519, add(&P_25519, &ONE), add(&P_25519, &small(18))] {
            assert!(flaw(ID_ED_25519, &bytes(&y, 32)).is_some(), "{y:x?}");
        }
        // The base points (RFC 7748 section 4.1, RFC 8032 section 5.1)
        assert_eq!(flaw(ID_X_25519, &bytes(&small(9), 32)), None);
        let mut base = [0x66; 32];
        base[0] = 0x58;
        assert_eq!(flaw(ID_ED_25519, &base), None);
        assert!(flaw(ID_ED_25519, &base[..31]).is_some());
        assert!(flaw(ID_X_25519, &base[..31]).is_some());
        let minus_one = subtract(&P_448, &ONE);
        for small_order in [small(0), ONE, minus_one] {
            assert_eq!(flaw(ID_ED_448, &bytes(&small_order, 57)), Some(SMALL_ORDER));
            assert_eq!(flaw(ID_X_448, &bytes(&small_order, 56)), Some(SMALL_ORDER));
        }
        assert_eq!(flaw(ID_X_448, &bytes(&small(5), 56)), None);
        assert_eq!(flaw(ID_ED_448, &bytes(&small(5), 57)), None);
    }

    #[test]
    fn points_are_on_their_curves() {
        // The base points (SP 800-186 section 3.2.1)
        for (oid, x, y) in [
            (
                SECP_256_R_1,
                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
            ),
            (
                SECP_384_R_1,
                "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
                "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
            ),
            (
                SECP_521_R_1,
                "00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
                "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
            ),
        ] {
            let point = |x: &str, y: &str| {
                let digits = format!("04{x}{y}");
                let pairs = (0..digits.len()).step_by(2);
                pairs
                    .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
                    .collect::<Vec<_>>()
            };
            let flaw = |point: &[u8]| flaw_with(ID_EC_PUBLIC_KEY, Some(oid), point);
            let base = point(x, y);
            assert_eq!(flaw(&base), None, "{oid}");
            assert!(flaw(&point(y, x)).is_some(), "{oid}");
            for index in 0..base.len() {
                let mut changed = base.clone();
                changed[index] ^= 1;
                assert!(flaw(&changed).is_some(), "{oid} {index}");
            }
            let p = &CURVES.iter().find(|curve| curve.oid == oid).unwrap().p;
            let length = base.len() / 2;
            let mut p: Vec<u8> = bytes(p, length);
            p.reverse();
            let beyond = [&[4], &*p, &base[1 + length..]].concat();
            assert_eq!(flaw(&beyond), Some("a coordinate is too large"));
            for end in [0, 1, length, 1 + length, base.len() - 1] {
                assert!(flaw(&base[..end]).is_some(), "{oid} {end}");
            }
            assert!(flaw(&[&[2], &base[1..=length]].concat()).is_some());
        }
        // Other curves are for others to check.
        let other = ObjectIdentifier::new_unwrap("1.3.132.0.10");
        assert_eq!(flaw_with(ID_EC_PUBLIC_KEY, Some(other), &[0]), None);
    }

    #[test]
    fn numbers_of_rsa_are_checked() {
        let integer = |value: &[u8]| [&[2, u8::try_from(value.len()).unwrap()], value].concat();
        let key = |modulus: &[u8], exponent: &[u8]| {
            let numbers = [integer(modulus), integer(exponent)].concat();
            [&[0x30, u8::try_from(numbers.len()).unwrap()], &*numbers].concat()
        };
        // 757 · 65537, whose factors are both too large to look for
        let modulus = 757_u32 * 65_537;
        let modulus = &modulus.to_be_bytes()[..];
        assert_eq!(flaw(RSA_ENCRYPTION, &key(modulus, &[3])), None);
        assert_eq!(flaw(RSA_PSS, &key(modulus, &[1, 0, 1])), None);
        for (modulus, exponent) in [
            (&[0x7e][..], &[3][..]),
            // 751 · 65537 and 3 · 65537
            (&(751_u32 * 65_537).to_be_bytes()[..], &[3]),
            (&[3, 0, 3], &[3]),
            (modulus, &[1]),
            (modulus, &[0]),
            (modulus, &[2]),
            (modulus, &[1, 0, 0]),
            (modulus, modulus),
            (modulus, &[0x7f, 0xff, 0xff, 0xff]),
        ] {
            let flaw = flaw(RSA_ENCRYPTION, &key(modulus, exponent));
            assert!(flaw.is_some(), "{modulus:x?} {exponent:x?}");
        }
        let whole = key(modulus, &[3]);
        assert!(flaw(RSA_ENCRYPTION, &whole[..whole.len() - 1]).is_some());
        assert!(flaw(RSA_ENCRYPTION, &[]).is_some());
    }
    /// A composite key is as weak as its classical half, for those who count on that one.
    #[test]
    fn halves_of_composite_keys_are_checked() {
        let rsa = {
            let modulus = (757_u32 * 65_537).to_be_bytes();
            [&[0x30, 9, 2, 4][..], &modulus, &[2, 1, 3]].concat()
        };
        let point = |curve: &Curve| {
            // x = 0, if b is a square; otherwise this point is not on the curve
            [&[4][..], &vec![0; 2 * curve.length]].concat()
        };
        let edwards = |y: u64, length: usize| bytes(&small(y), length);
        let mut checked = 0;
        for composite in CompositeIdentifier::ALL {
            let name = composite.name();
            let (good, weak) = match name {
                _ if name.contains("RSA") => (Some(rsa.clone()), vec![0x30, 0]),
                _ if name.contains("Ed25519") => (Some(edwards(5, 32)), edwards(1, 32)),
                _ if name.contains("Ed448") => (Some(edwards(5, 57)), edwards(1, 57)),
                _ if name.contains("brainpool") => continue,
                _ => {
                    let mut curves = CURVES.iter();
                    let curve = curves.find(|one| name.contains(&one.name.replace('-', "")));
                    (None, point(curve.unwrap()))
                }
            };
            let ml_dsa = match &name[..7] {
                "MLDSA44" => 1312,
                "MLDSA65" => 1952,
                _ => 2592,
            };
            let flaw = |half: &[u8]| {
                let key = [&vec![0; ml_dsa], half].concat();
                flaw(composite.oid(), &key)
            };
            assert!(flaw(&weak).is_some(), "{name}");
            assert!(flaw(&[]).is_some(), "{name}");
            if let Some(good) = good {
                assert_eq!(flaw(&good), None, "{name}");
            }
            checked += 1;
        }
        assert_eq!(checked, 16);
        let short = CompositeIdentifier::ALL[0].oid();
        assert!(flaw(short, &[0; 1311]).is_some());
    }
}
