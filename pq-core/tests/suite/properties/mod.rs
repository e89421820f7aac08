//! Properties for all inputs, tested with random inputs and with all small ones.

mod ml_dsa;
mod ml_kem;
mod slh_dsa;

use core::fmt::Debug;

use pq_core::Error;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestRunner};

/// Tests a property with random inputs; a failure prints the smallest failing input that was found.
fn check<S: Strategy>(cases: u32, inputs: S, property: impl Fn(S::Value)) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&inputs, |input| {
        property(input);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn bytes(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), len)
}

/// Checks that a parser of `len` bytes refuses all other lengths for this reason, and
/// accepts or refuses bytes of the right length without a panic.
fn check_parser<T: Debug>(len: usize, parse: impl Fn(&[u8]) -> Result<T, Error>) {
    let check_length = |input: &[u8]| {
        let wrong_length = Error::WrongLength {
            expected: len,
            actual: input.len(),
        };
        match parse(input) {
            Err(error) if input.len() != len => assert_eq!(error, wrong_length),
            Ok(value) if input.len() != len => panic!("{} bytes gave {value:?}", input.len()),
            Err(error) => assert_ne!(error, wrong_length),
            Ok(_) => {}
        }
    };
    for actual in (0..=64)
        .chain(len.saturating_sub(64)..=len + 64)
        .chain([2 * len])
    {
        check_length(&vec![0; actual]);
        check_length(&vec![0xff; actual]);
    }
    check(64, bytes(0..2 * len), |input| check_length(&input));
    check(64, bytes(len), |input| check_length(&input));
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}
