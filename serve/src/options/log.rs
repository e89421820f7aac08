//! The options for the log of a program.

use clap::Args;

use crate::logging::{self, AccessLog, LogFormat};

/// How to write the log, and the access log.
#[derive(Clone, Copy, Debug, Args)]
pub struct LogOptions {
    /// How to write the log, which goes to standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// How to write the access log, a line for each request with what protected it, whatever RUST_LOG says
    /// [default: as --log-format says, if RUST_LOG allows it]
    #[arg(long, value_name = "FORMAT", value_enum)]
    access_log: Option<AccessLog>,
}

impl LogOptions {
    /// Starts the log of this process; `program` is the name of the program's own crate.
    ///
    /// # Panics
    ///
    /// If the process has a log already.
    pub fn start(self, program: &str) {
        match self.access_log {
            Some(access) => logging::start_with_access(self.log_format, access, program),
            None => logging::start(self.log_format, program),
        }
    }
}
