//! The stack of a thread, read while the thread waits.

use core::hint::black_box;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc;
use std::thread;

/// The stack that a thread leaves, and its result.
pub(crate) struct Left<T> {
    /// The bytes of its stack below the frame that called `run`.
    pub(crate) stack: Vec<u8>,
    /// What `run` returned.
    pub(crate) result: T,
}

/// Calls `run` in a thread of its own and reads the thread's stack before it ends.
///
/// The result of `run` goes through this thread's stack, so secrets in it have to be on the heap.
///
/// The memory may have been the stack of an earlier thread and still hold its data. So
/// operations that have to be told apart need different secrets.
///
/// # Panics
///
/// If the operating system's kernel does not say where the stack is, and if `run` panics.
pub(crate) fn left_by<T: Send>(run: impl FnOnce() -> T + Send) -> Left<T> {
    let mut result = None;
    let (mut run, place) = (Some(run), &mut result);
    let stack = stack_of(&mut || *place = run.take().map(further_down));
    Left {
        stack,
        result: result.expect("the operation was run"),
    }
}

/// The stack of a thread that calls `run`. It takes a `dyn` function: otherwise the compiler would compile the thread's
/// code again for each of several hundred operations.
fn stack_of(run: &mut (dyn FnMut() + Send)) -> Vec<u8> {
    thread::scope(|scope| {
        let (to_us, from_thread) = mpsc::channel();
        let (to_thread, from_us) = mpsc::channel::<()>();
        let builder = thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, move || {
            let here = 0_u8;
            let here = black_box(&raw const here).addr();
            run();
            to_us.send(here).expect("the other side waits");
            // The stack stays until the other side hangs up.
            from_us.recv().expect_err("nothing is sent");
        });
        let thread = thread.expect("a thread can be started");
        let Ok(here) = from_thread.recv() else {
            panic!("the operation panicked");
        };
        let stack = below(here).expect("the kernel shows a process its own memory");
        drop(to_thread);
        thread.join().expect("the thread ends well");
        stack
    })
}

/// More than enough, and too small for pages of 2 MiB.
const STACK: usize = 1 << 20;

/// Calls `run` so far down the stack that the thread, while it waits, overwrites nothing that
/// is left.
#[inline(never)]
fn further_down<T>(run: impl FnOnce() -> T) -> T {
    let mut distance = [0_u8; 16 << 10];
    black_box(&mut distance);
    let result = run();
    black_box(&mut distance);
    result
}

/// The bytes of the mapping that contains `address`, from its start up to `address`.
fn below(address: usize) -> io::Result<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mapping = maps
        .lines()
        .filter_map(|line| line.split_once(' ')?.0.split_once('-'))
        .filter_map(|(start, end)| {
            let bound = |hex| usize::from_str_radix(hex, 16).ok();
            Some(bound(start)?..bound(end)?)
        })
        .find(|mapping| mapping.contains(&address));
    let start = mapping.ok_or(io::ErrorKind::NotFound)?.start;
    // A stack has a guard page below it, so that no other memory is part of its mapping there.
    assert!(address - start <= STACK, "this is not a stack of ours");
    memory(start, address - start)
}

/// The bytes of this process at an address.
pub(crate) fn memory(address: usize, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    File::open("/proc/self/mem")?.read_exact_at(&mut bytes, address as u64)?;
    Ok(bytes)
}

/// The bytes of a value, as they are in memory.
pub(crate) fn bytes_of<T>(value: &T) -> Vec<u8> {
    memory((&raw const *value).addr(), size_of::<T>())
        .expect("the kernel shows a process its own memory")
}

/// Makes a value whose padding consists of `byte`: the stack that making it uses is filled with this byte
/// first.
pub(crate) fn made_over<T>(byte: u8, make: impl FnOnce() -> T) -> T {
    fill(byte);
    in_a_frame_below(make)
}

#[inline(never)]
fn fill(byte: u8) {
    black_box(&mut [byte; 128 << 10]);
}

#[inline(never)]
fn in_a_frame_below<T>(make: impl FnOnce() -> T) -> T {
    make()
}
