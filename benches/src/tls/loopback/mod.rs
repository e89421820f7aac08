//! Servers in processes of their own, over TCP on the loopback interface: what the network
//! and the operating system add to a handshake, and the cost of a connection.
//!
//! The servers are those of `pq-serving`, with our provider or with another one and no other
//! difference, and `openssl s_server`. The load comes from this process.

#[cfg(target_os = "linux")]
mod run;
mod table;

use rustls_pq::Group;

use crate::tls::handshake::{Authentication, Combination};

#[cfg(target_os = "linux")]
pub use run::{Effort, measure, serve};
pub use table::{Bulk, ClientRow, Idle, Latency, MEBIBYTE, ServerRow, Table, folder};

/// The protections of a connection: all post-quantum, only the key exchange, and none of it.
pub const COMBINATIONS: [Combination; 3] = [
    Combination {
        group: Group::X25519MLKEM768,
        authentication: Authentication::MlDsa65,
    },
    Combination {
        group: Group::X25519MLKEM768,
        authentication: Authentication::EcdsaP256,
    },
    Combination {
        group: Group::X25519,
        authentication: Authentication::EcdsaP256,
    },
];

/// The name of a combination's table.
pub fn table(combination: Combination) -> String {
    let Combination {
        group,
        authentication,
    } = combination;
    format!("loopback/{group}/{authentication}")
}

/// How many handshakes a crowded load makes at a time.
pub const AT_A_TIME: usize = 16;

/// The number of idle connections for the measurement of memory.
pub const IDLE: usize = 10_000;
