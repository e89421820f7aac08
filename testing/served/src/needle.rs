//! A secret that is looked for in all memory that this process can write.

use std::fs::{self, File};
use std::io::BufRead;
use std::os::unix::fs::FileExt;

/// Bytes of a secret, each of which is changed in memory, so that a search of the memory doesn't find the search itself.
#[derive(Debug)]
pub struct Needle(Vec<u8>);

impl Needle {
    /// What each byte is changed by.
    pub const CHANGE: u8 = 0x5a;

    /// Of hexadecimal digits.
    pub fn of_hex(digits: &str) -> Self {
        Self::of_changed_hex(digits, Self::CHANGE)
    }

    /// The same, of bytes that are changed by something else than they are to be.
    pub fn of_changed_hex(digits: &str, change: u8) -> Self {
        let digit = |at: u8| char::from(at).to_digit(16).unwrap_or(0) as u8;
        let byte = |pair: &[u8]| (digit(pair[0]) << 4 | digit(pair[1])) ^ change;
        Self(digits.as_bytes().chunks_exact(2).map(byte).collect())
    }

    /// The bytes themselves, which are in memory then.
    pub fn shown(&self) -> Vec<u8> {
        self.0.iter().map(|byte| byte ^ Self::CHANGE).collect()
    }

    /// Where it is first in some memory. By the first byte, which the standard library finds fast in a test that is not
    /// optimised.
    fn place_in(&self, memory: &[u8]) -> Option<usize> {
        let first = self.0[0] ^ Self::CHANGE;
        let mut rest = memory;
        while rest.skip_until(first).is_ok_and(|skipped| skipped > 0) {
            let at = memory.len() - rest.len() - 1;
            let beside = memory.get(at..at + self.0.len());
            let mut pairs = beside
                .into_iter()
                .flat_map(|found| found.iter().zip(&self.0));
            if beside.is_some() && pairs.all(|(byte, changed)| byte ^ changed == Self::CHANGE) {
                return Some(at);
            }
        }
        None
    }

    /// Whether this process has it in a page that it can write: on the heap, on a stack, or among its variables.
    pub fn is_in_this_process(&self) -> bool {
        !self.places_in_this_process().is_empty()
    }

    /// Where this process has it, as addresses and the lines of `/proc/self/maps` about them.
    ///
    /// # Panics
    ///
    /// If the memory can't be read, or is less than any process has.
    pub fn places_in_this_process(&self) -> Vec<(u64, String)> {
        let memory = File::open("/proc/self/mem").expect("a process may read its memory");
        let maps =
            fs::read_to_string("/proc/self/maps").expect("a process has a list of its memory");
        // A buffer of the search's own: what it has read is no other place.
        let mut chunk = vec![0; 1 << 20];
        let own = chunk.as_ptr_range();
        let own = own.start as u64..own.end as u64;
        let (mut searched, mut places) = (0, Vec::new());
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (Some(range), Some(rights)) = (fields.next(), fields.next()) else {
                continue;
            };
            let (true, Some((start, end))) = (rights.starts_with("rw"), range.split_once('-'))
            else {
                continue;
            };
            let bound = |digits| u64::from_str_radix(digits, 16).unwrap_or(0);
            let (mut at, end) = (bound(start), bound(end));
            while at < end {
                if own.contains(&at) {
                    at = own.end;
                    continue;
                }
                let limit = if at < own.start {
                    end.min(own.start)
                } else {
                    end
                };
                let len =
                    usize::try_from(limit - at).map_or(chunk.len(), |len| len.min(chunk.len()));
                // Some pages can't be read, or are gone by now.
                let Ok(read) = memory.read_at(&mut chunk[..len], at) else {
                    at += 4096;
                    continue;
                };
                searched += read;
                if let Some(place) = self.place_in(&chunk[..read]) {
                    places.push((at + place as u64, line.to_owned()));
                    at += place as u64 + 1;
                    continue;
                }
                // A secret may lie across the end of a chunk.
                let next = read.saturating_sub(self.0.len() - 1).max(1);
                at += if at + read as u64 == limit {
                    read
                } else {
                    next
                } as u64;
            }
        }
        assert!(searched > 1 << 20, "little was searched");
        places
    }
}
