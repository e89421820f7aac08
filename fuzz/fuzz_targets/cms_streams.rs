//! Messages of any length and in any BER encoding, with readers and writers that behave arbitrarily: the content
//! that is read is what was signed or encrypted, and all ways of reading a message agree.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::cms::{Encrypted, Mismatched, Signed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input<'_>| match input {
    Input::Encrypted(encrypted) => encrypted.check(),
    Input::Signed(signed) => signed.check(),
    Input::Mismatched(mismatched) => mismatched.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Encrypted(Encrypted<'a>),
    Signed(Signed<'a>),
    Mismatched(Mismatched),
}
