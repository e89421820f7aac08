//! The operations that are measured, and the planted leaks.

use core::hint::black_box;

use pq_core::ml_dsa::{self, MlDsa65};
use pq_core::ml_kem::{self, Ciphertext, MlKem768, SHARED_SECRET_LEN, SharedSecret};

use crate::measure::{Class, Subject, random};

/// Operations whose time should reveal nothing.
pub fn all() -> Vec<Box<dyn Subject>> {
    vec![
        Box::new(Decapsulation::new(|_| ())),
        Box::new(Signing::new()),
        Box::new(Comparison::new(
            "comparison of shared secrets, 32 times",
            SharedSecret::from_bytes,
            SharedSecret::eq,
        )),
    ]
}

/// Operations with a planted leak, which the measurement should find.
pub fn planted() -> Vec<Box<dyn Subject>> {
    vec![
        Box::new(Decapsulation {
            name: "decapsulation that adds 256 bytes of a rejected ciphertext",
            ..Decapsulation::new(|done| {
                if black_box(&done.secret) != &done.valid {
                    let sum = |sum, byte: &u8| black_box(sum) + u32::from(*byte);
                    black_box(done.ciphertext[..256].iter().fold(0, sum));
                }
            })
        }),
        Box::new(Comparison::new(
            "comparison of 64 bytes up to the first that differs, 32 times",
            |bytes| *bytes,
            are_equal_up_to_the_first_difference,
        )),
    ]
}

/// A ciphertext, and the shared secret of its sender.
type Encapsulated = (Vec<u8>, [u8; SHARED_SECRET_LEN]);

/// ML-KEM.Decaps, with an optional planted mistake.
struct Decapsulation {
    name: &'static str,
    key: Box<ml_kem::DecapsulationKey<MlKem768>>,
    of_class: [Vec<Encapsulated>; 2],
    next: usize,
    ciphertext: Vec<u8>,
    valid: [u8; SHARED_SECRET_LEN],
    secret: [u8; SHARED_SECRET_LEN],
    /// Runs within the measured time. It has the resulting secret, and the one of the valid ciphertext.
    leak: fn(&Self),
}

impl Decapsulation {
    fn new(leak: fn(&Self)) -> Self {
        let key = ml_kem::DecapsulationKey::boxed_from_seed(&random());
        let encapsulated = |is_changed: bool| {
            let (ciphertext, secret) = key.encapsulation_key().encapsulate(&random());
            let mut ciphertext = Ciphertext::as_bytes(&ciphertext).to_vec();
            if is_changed {
                let [low, high] = random();
                let bit = usize::from(u16::from_le_bytes([low, high])) % (8 * ciphertext.len());
                ciphertext[bit / 8] ^= 1 << (bit % 8);
            }
            (ciphertext, *secret.as_bytes())
        };
        let of_class = [false, true].map(|is_changed| {
            let inputs = (0..INPUTS).map(|_| encapsulated(is_changed));
            inputs.collect::<Vec<_>>()
        });
        Self {
            name: "decapsulation",
            ciphertext: of_class[0][0].0.clone(),
            valid: [0; SHARED_SECRET_LEN],
            secret: [0; SHARED_SECRET_LEN],
            key,
            of_class,
            next: 0,
            leak,
        }
    }
}

impl Subject for Decapsulation {
    fn name(&self) -> &'static str {
        self.name
    }

    fn classes(&self) -> [&'static str; 2] {
        ["valid ciphertexts", "those with a bit flipped"]
    }

    fn prepare(&mut self, class: Class) {
        self.next = (self.next + 1) % INPUTS;
        let (ciphertext, valid) = &self.of_class[class as usize][self.next];
        self.ciphertext.copy_from_slice(ciphertext);
        self.valid = *valid;
    }

    fn run(&mut self) {
        let decapsulated = self
            .key
            .decapsulate_into(black_box(&self.ciphertext), &mut self.secret);
        decapsulated.expect("the ciphertext has its length");
        black_box(&self.secret);
        (self.leak)(self);
    }
}

/// ML-DSA.Sign, hedged, on random messages.
struct Signing {
    of_class: [Vec<Box<ml_dsa::SigningKey<MlDsa65>>>; 2],
    key: Box<ml_dsa::SigningKey<MlDsa65>>,
    message: [u8; 32],
    randomness: [u8; 32],
}

impl Signing {
    fn new() -> Self {
        let one = random();
        let of_class = [true, false].map(|is_one| {
            let key = |_| {
                let seed = if is_one { one } else { random() };
                ml_dsa::SigningKey::boxed_from_seed(&seed)
            };
            (0..KEYS).map(key).collect()
        });
        Self {
            of_class,
            key: ml_dsa::SigningKey::boxed_from_seed(&one),
            message: random(),
            randomness: random(),
        }
    }
}

impl Subject for Signing {
    fn name(&self) -> &'static str {
        "signing"
    }

    fn classes(&self) -> [&'static str; 2] {
        ["one key", "random keys"]
    }

    fn prepare(&mut self, class: Class) {
        let [number] = random();
        let keys = &self.of_class[class as usize];
        self.key.clone_from(&keys[usize::from(number) % KEYS]);
        (self.message, self.randomness) = (random(), random());
    }

    fn run(&mut self) {
        let signature = self.key.sign(&self.message, b"", &self.randomness);
        black_box(signature.expect("the context is short"));
    }
}

/// Compares two values that are each made from `N` bytes.
struct Comparison<T, E, const N: usize> {
    name: &'static str,
    make: fn(&[u8; N]) -> T,
    are_equal: E,
    ours: T,
    theirs: T,
}

impl<T, E: Fn(&T, &T) -> bool, const N: usize> Comparison<T, E, N> {
    fn new(name: &'static str, make: fn(&[u8; N]) -> T, are_equal: E) -> Self {
        Self {
            name,
            make,
            are_equal,
            ours: make(&random()),
            theirs: make(&random()),
        }
    }
}

impl<T, E: Fn(&T, &T) -> bool, const N: usize> Subject for Comparison<T, E, N> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn classes(&self) -> [&'static str; 2] {
        ["equal ones", "those with a byte changed"]
    }

    fn prepare(&mut self, class: Class) {
        let ours = random();
        let theirs = with_a_byte_changed(ours, class == Class::Second);
        self.ours = (self.make)(&ours);
        self.theirs = (self.make)(&theirs);
    }

    fn run(&mut self) {
        for _ in 0..32 {
            black_box((self.are_equal)(
                black_box(&self.ours),
                black_box(&self.theirs),
            ));
        }
    }
}

/// A comparison that is not constant time: it ends at the first difference.
fn are_equal_up_to_the_first_difference(ours: &[u8; 64], theirs: &[u8; 64]) -> bool {
    let mut pairs = ours.iter().zip(theirs);
    pairs.all(|(ours, theirs)| black_box(ours) == theirs)
}

/// The bytes, with one byte changed if `is_changed`. The work is the same in both cases.
fn with_a_byte_changed<const N: usize>(mut bytes: [u8; N], is_changed: bool) -> [u8; N] {
    let [at, by] = random();
    bytes[usize::from(at) % N] ^= (by | 1) * u8::from(is_changed);
    bytes
}

/// The number of inputs of each class.
const INPUTS: usize = 1024;
const KEYS: usize = 32;
