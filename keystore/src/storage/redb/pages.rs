//! Checks what pages say of others, before redb follows it. redb takes as much memory for a page as its number says, and calls
//! itself for each page below one: so a number that was changed could end the program, which nothing catches.

use core::ops::Range;
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The size of a page of order 0. One of order n has 2ⁿ times as much.
const PAGE: u64 = 4096;

/// Where the header has the numbers of the pages that list tables: of either commit, its own and redb's.
const LISTS: [usize; 4] = [64 + 8, 64 + 40, 192 + 8, 192 + 40];

/// Where the header says how many pages of a region are its own header, and how many its data at most.
const REGION: Range<usize> = 16..24;

/// What a page begins with that has pairs of keys and values, or pages below it.
const LEAF: u8 = 1;
const BRANCH: u8 = 2;

/// How many pages are known at most to be below others.
const MAX_KNOWN: usize = 100_000;

/// How many pages are above another at most: redb's trees have some hundred pages below each.
const MAX_DEPTH: usize = 32;

/// What is known of a file's pages.
#[derive(Debug, Default)]
pub(super) struct Pages(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    regions: Regions,
    /// The pages that list tables.
    lists: [Option<u64>; 4],
    /// Under which page each was found, since the file was last written to.
    above: HashMap<u64, u64>,
}

/// How many pages a region's header and its data have.
#[derive(Clone, Copy, Debug, Default)]
struct Regions {
    header: u64,
    data: u64,
}

impl Regions {
    /// Where the page with this number is, and its length.
    fn place(self, number: [u8; 8]) -> (u64, u64) {
        let number = u64::from_le_bytes(number);
        let order = number >> 59;
        let (region, index) = (number >> 20 & 0xf_ffff, number & 0xf_ffff >> order);
        let before = region.saturating_mul(self.header + self.data) + self.header + 1;
        let pages = before.saturating_add(index << order);
        (pages.saturating_mul(PAGE), PAGE << order)
    }
}

impl Pages {
    fn known(&self) -> MutexGuard<'_, Known> {
        // What is known by then is right, also if something panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is written to the file.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) {
        let mut known = self.known();
        known.above.clear();
        match offset {
            0 => known.read_header(bytes),
            // The page of an older list has another use now.
            _ => known.lists = known.lists.map(|list| list.filter(|list| *list != offset)),
        }
    }

    /// Checks what was read from a file of this length.
    pub(super) fn read(&self, offset: u64, bytes: &[u8], len: u64) -> io::Result<()> {
        let is_fine = match bytes {
            _ if offset == 0 => {
                self.known().read_header(bytes);
                true
            }
            _ if (bytes.len() as u64) < PAGE => true,
            [BRANCH, ..] => self.known().is_branch(offset, bytes, len).unwrap_or(false),
            [LEAF, ..] => self.known().is_leaf(offset, bytes, len).unwrap_or(false),
            _ => true,
        };
        match is_fine {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a page of it leads nowhere",
            )),
        }
    }
}

impl Known {
    fn read_header(&mut self, header: &[u8]) {
        let Some(([header_pages, data_pages], [])) = header.get(REGION).map(<[u8]>::as_chunks)
        else {
            return;
        };
        self.regions = Regions {
            header: u32::from_le_bytes(*header_pages).into(),
            data: u32::from_le_bytes(*data_pages).into(),
        };
        self.lists = LISTS.map(|at| Some(self.regions.place(number(header, at)?).0));
    }

    /// Whether the pages below a page can be there: none of them is above it. `None` if it is cut off.
    fn is_branch(&mut self, offset: u64, page: &[u8], len: u64) -> Option<bool> {
        let children = count(page, 2)? + 1;
        let numbers = page.get(8 + 16 * children..8 + 24 * children)?;
        let below = numbers.as_chunks().0.iter();
        let below: Vec<_> = below.map(|number| self.regions.place(*number)).collect();
        if self.above.len() + below.len() > MAX_KNOWN {
            self.above.clear();
        }
        let mut path = vec![offset];
        while let Some(above) = path.last().and_then(|page| self.above.get(page)) {
            path.push(*above);
            if path.len() > MAX_DEPTH {
                return Some(false);
            }
        }
        let is_fine = below
            .iter()
            .all(|(place, size)| is_in(*place, *size, len) && !path.contains(place));
        self.above
            .extend(below.into_iter().map(|(place, _)| (place, offset)));
        Some(is_fine)
    }

    /// Whether the tables of a page that lists some can be there. Other pages have nothing that redb follows.
    fn is_leaf(&self, offset: u64, page: &[u8], len: u64) -> Option<bool> {
        if !self.lists.contains(&Some(offset)) {
            return Some(true);
        }
        let pairs = count(page, 2)?;
        let mut start = length(page, 4 + 4 * pairs.checked_sub(1)?)?;
        for pair in 0..pairs {
            // After its kind and its length, it says whether there is a page, and which one.
            if *page.get(start + 9)? != 0 {
                let (place, size) = self.regions.place(number(page, start + 10)?);
                if !is_in(place, size, len) || place == offset {
                    return Some(false);
                }
            }
            start = length(page, 4 + 4 * (pairs + pair))?;
        }
        Some(true)
    }
}

fn is_in(place: u64, size: u64, len: u64) -> bool {
    place.checked_add(size).is_some_and(|end| end <= len)
}

fn count(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*number).into())
}

fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

fn number(bytes: &[u8], at: usize) -> Option<[u8; 8]> {
    bytes.get(at..)?.first_chunk().copied()
}
