//! What pq-core promises, checked from outside the crate: against the
//! published vectors, against independent implementations, and as properties.
//!
//! All tests are in one program, so that it links once and they share the machine's cores.
//! `tests/README.md` says where each vector comes from and how to run a part.

#[cfg(not(feature = "hazmat-internal"))]
compile_error!(
    "these tests need a feature: cargo test -p pq-core --features hazmat-internal,limit,slh-dsa-sp800-230-draft"
);

extern crate alloc;
#[macro_use(on_each_backend)]
extern crate pq_core;

#[macro_use]
mod parameter_sets;

mod accumulated;
mod acvp;
mod backend;
mod differential;
mod messages;
mod peers;
mod places;
mod properties;
#[cfg(all(feature = "limit", target_arch = "x86_64"))]
mod registers;
mod stream;
mod tally;
mod wycheproof;
