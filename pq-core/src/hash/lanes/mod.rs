//! Independent sponges side by side.
//!
//! A permutation of all lanes of a vector costs what a permutation of one lane
//! costs, or on some CPUs twice as much, so [`run`] keeps every lane busy: each lane works
//! on a [`Job`] of its own, whatever its rate and however long its message and output, and
//! takes the next job when it is done. With one lane the jobs run one after another.
//!
//! Where all lanes in use are of one group of as many as [`Backend::Few`] has, a step takes
//! only that group. A [`Client`] may keep to the first of them ([`lanes_beside`],
//! [`lanes_beside_chains`]).
//!
//! Where what a sponge takes depends on what others give, a [`Client`] says which
//! is next, and [`serve`] has it: a sponge then begins as soon as its message does, and is
//! paused where there is no more of it yet. [`serve_together`] fills the lanes that one client
//! leaves free with the sponges of others.

mod client;
#[cfg(test)]
mod gradual;
mod jobs;
mod scheduler;
#[cfg(test)]
mod schedules;
mod slot;
mod together;

pub(crate) use self::client::{
    Absorbed, Client, Demand, Midway, Start, Waiting, lanes_beside, lanes_beside_chains, read,
};
pub(crate) use self::jobs::{Consumer, Job, Message, run};
pub(crate) use self::scheduler::serve;
pub(crate) use self::together::serve_together;

/// The most lanes of any backend.
pub(crate) const MAX_LANES: usize = 8;
