//! An HTTPS server with post-quantum key exchange and certificates.
//!
//! The program `tls-server` is this library behind a command line. Run in-process it
//! takes four lines:
//!
//! ```
//! use tls_server::{Identity, Limits, Pki, Server, Tls};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pki = Pki::issue(&["localhost".try_into()?])?;
//! let tls = Tls::new(Identity::try_from(&pki.server)?, &[], None)?;
//! let server = Server::bind("127.0.0.1:0", tls, Limits::default()).await?;
//! println!("https://localhost:{}/", server.local_addr().port());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! What to copy for a server of your own: [`Tls`] is the rustls configuration, and
//! [`Server`] is how to accept connections so that clients at one address can't keep others out.
//! [`Limits`] says what each client can take, and what many together can.
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std, and so has the code that this is copied into"
)]

mod admission;
mod answer;
mod groups_help;
mod hello;
mod instructions;
mod known_keys;
mod media_type;
mod newest_lists;
mod pki;
mod profile_parser;
mod revocable_clients;
mod revocation;
mod server;
mod summary;
mod tls;
mod whole_file;
mod zeros;

pub use groups_help::groups_help;
pub use instructions::Instructions;
pub use pki::{Client, Issued, Pki, PkiError, PkiFiles};
pub use profile_parser::profile_parser;
pub use revocable_clients::{ListWatcher, RevocableClients};
pub use revocation::{Revocation, RevocationFiles, utc};
pub use server::{Drained, Limits, Server};
pub use summary::{Summary, scheme_name};
pub use tls::{
    Identity, Tls, TlsError, client_verifier, provider, provider_builder, roots_from_pem_file,
};
