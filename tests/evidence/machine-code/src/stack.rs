//! Measures how much stack and heap an operation takes, from what the operating system's kernel says about its memory.

use core::error::Error;
use core::hint::black_box;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::mpsc;
use std::thread;

use crate::Run;

/// The memory that an operation took.
pub struct Memory {
    /// The peak of its stack in bytes, rounded up to a page.
    pub stack: usize,
    /// How often the allocator was asked for memory.
    pub allocations: u64,
}

/// Runs an operation in a thread of its own, and finds out which pages of the thread's stack were
/// ever touched.
///
/// Call this only once in a process: the next thread could get the same stack.
pub fn measure(run: Run) -> Result<Memory, Box<dyn Error>> {
    let (to_us, from_thread) = mpsc::channel();
    let (to_thread, from_us) = mpsc::channel::<()>();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let here = 0u8;
        let here = (black_box(&raw const here)).addr();
        let allocations = allocation_counter::measure(run).count_total;
        let sent = to_us.send((here, allocations));
        // The stack stays until the other side hangs up.
        sent.is_ok() && from_us.recv().is_err()
    })?;
    let (here, allocations) = from_thread.recv()?;
    let lowest = lowest_touched_page(here)?;
    drop(to_thread);
    match thread.join() {
        Ok(true) => Ok(Memory {
            stack: here - lowest,
            allocations,
        }),
        _ => Err("the thread ended early".into()),
    }
}

/// More than enough, and too small for pages of 2 MiB.
const STACK: usize = 1 << 20;

/// Size of a page in bytes. A larger one would make the figures larger, not wrong.
const PAGE: usize = 4096;

/// The address of the lowest page that was ever touched, in the mapping that contains
/// `address`.
fn lowest_touched_page(address: usize) -> Result<usize, Box<dyn Error>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let start = maps
        .lines()
        .filter_map(|line| line.split_once(' ')?.0.split_once('-'))
        .filter_map(|(start, end)| {
            let bound = |hex| usize::from_str_radix(hex, 16).ok();
            Some(bound(start)?..bound(end)?)
        })
        .find(|mapping| mapping.contains(&address))
        .ok_or("the stack is not mapped")?
        .start;
    let pagemap = File::open("/proc/self/pagemap")?;
    for page in (start..address).step_by(PAGE) {
        let mut entry = [0; 8]; // of a page
        pagemap.read_exact_at(&mut entry, 8 * (page / PAGE) as u64)?;
        // in memory, or swapped out
        if u64::from_le_bytes(entry) >> 62 != 0 {
            return Ok(page);
        }
    }
    Err("no page of the stack was touched".into())
}
