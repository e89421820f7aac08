//! Writes the inputs that a target begins with: `seeds TARGET FOLDER`. They are the same in every run.
//!
//! An input says how something valid is changed, so there are two kinds: inputs that choose a variant and a
//! document, and change nothing; and random ones, short and long.

use std::path::Path;
use std::{env, fs, io};

// The instrumentation calls it.
use libfuzzer_sys as _;

/// How many variants of each of the first [`DOCUMENTS`] documents are left unchanged.
const VARIANTS: u32 = 8;
const DOCUMENTS: u32 = 16;

/// The largest number of documents that a target has: each beyond [`DOCUMENTS`] is left unchanged once.
const ALL_DOCUMENTS: u32 = 96;

/// How many inputs are random.
const RANDOM: u32 = 64;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, folder] = &*arguments else {
        return Err(io::Error::other("usage: seeds TARGET FOLDER"));
    };
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    let mut random = Random::of(target);
    let first = (0..VARIANTS * DOCUMENTS).map(|index| (index % VARIANTS, index / VARIANTS));
    let others = (DOCUMENTS..ALL_DOCUMENTS).map(|document| (0, document));
    for (index, (variant, document)) in first.chain(others).enumerate() {
        let unchanged = [&choice(variant)[..], &[document as u8], &[0; 11]].concat();
        fs::write(folder.join(format!("unchanged-{index:03}")), unchanged)?;
    }
    for index in 0..RANDOM {
        let len = (index * index / 2) as usize;
        let changed = [choice(index).to_vec(), random.bytes(len)].concat();
        fs::write(folder.join(format!("random-{index:02}")), changed)?;
    }
    Ok(())
}

/// Bytes that choose among the variants of an enum, whose number is not known here: `arbitrary` divides the range
/// of a `u32` among them.
fn choice(index: u32) -> [u8; 4] {
    (index.reverse_bits() | index).to_le_bytes()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn of(name: &str) -> Self {
        let mut random = Self(0);
        for byte in name.bytes() {
            random.0 = random.next() ^ u64::from(byte);
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}
