//! Options of the command line that servers and clients have in common, for clap, and what follows from them.
//!
//! A program puts those that it needs into its own arguments with `#[command(flatten)]`. Error messages and the log
//! name these options.

// This room uses `admission`, `configuration`, `demonstration`, `http`, `listening`, `logging`, `metrics`, `provider`, `revocation` and `sockets`.

mod certificates;
mod error;
mod files;
mod fresh;
mod groups;
mod limits;
mod listening;
#[cfg(feature = "log")]
mod log;
mod profile;
mod revocation;

pub use certificates::{CertificateOptions, ServedFiles};
pub use error::OptionError;
pub use fresh::{Fresh, FreshOptions};
pub use groups::groups_help;
pub use limits::LimitOptions;
pub use listening::{ListenOptions, Listening};
#[cfg(feature = "log")]
pub use log::LogOptions;
pub use profile::profile_parser;
pub use revocation::RevocationOptions;
