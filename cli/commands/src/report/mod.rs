//! What a command prints: for people on standard output, with colours on a terminal that has them, or
//! as JSON. One value makes both, so that they can't say different things.
//!
//! This room uses [`chains`](crate::chains), [`files`](crate::files), [`shell`](crate::shell) and [`words`](crate::words).

mod certificate;
mod counts;
mod extensions;
mod fingerprint;
mod revocation;
mod revocation_list;

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::files::OutputError;
use crate::shell::with_repeated;

pub(crate) use certificate::{CertificateFacts, whole_days};
pub(crate) use counts::with_unit;
pub(crate) use extensions::{alternative_names, asked, printable};
pub(crate) use fingerprint::{fingerprint, hex};
pub(crate) use revocation::Revocation;
pub(crate) use revocation_list::{of_entries, of_list};

/// What a command has found or done.
pub(crate) trait Report: fmt::Display + Serialize {
    /// The name and the version of its JSON, such as `key-new/1`; the schema is
    /// `cli/schemas/key-new.1.json`. A new field keeps the version; a field that goes away or changes
    /// its meaning needs a new version.
    const SCHEMA: &'static str;
}

/// Whether there is a report on standard output, where a second one would not be JSON.
static IS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints why a command failed as JSON, unless it has printed a report that says so.
pub(crate) fn print_failure(error: &str, exit_status: u8, code: Option<&str>) {
    if !IS_PRINTED.load(Ordering::Relaxed) {
        // Standard error has the same as text.
        let _ = print_json(&Failed {
            error,
            exit_status,
            code,
        });
    }
}

#[derive(Debug, Serialize)]
struct Failed<'a> {
    error: &'a str,
    exit_status: u8,
    /// Only for failures of a key store.
    code: Option<&'a str>,
}

impl Report for Failed<'_> {
    const SCHEMA: &'static str = "failure/1";
}

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.error)
    }
}

/// Prints a report to standard output. If its reader, perhaps `head`, has read enough, the command goes on: its exit
/// status says the same as if all had been read.
pub(crate) fn print<R: Report>(report: &R, json: bool) -> Result<(), OutputError> {
    IS_PRINTED.store(true, Ordering::Relaxed);
    let printed = match json {
        true => print_json(report),
        false => print_text(report),
    };
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(OutputError::StandardOutput { error })
        }
        _ => Ok(()),
    }
}

/// Prints what a command says of something that it has checked, and returns why that is refused, if it is. People read only the
/// reason then.
pub(crate) fn print_verdict<R: Report, E: From<OutputError>>(
    report: &R,
    refused: Option<E>,
    json: bool,
) -> Result<(), E> {
    if json || refused.is_none() {
        print(report, json)?;
    }
    refused.map_or(Ok(()), Err)
}

/// How many columns the terminal has that reports go to, if they go to one.
#[cfg(unix)]
pub(crate) fn terminal_width() -> Option<usize> {
    // A pipe has no size.
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

#[cfg(not(unix))]
pub(crate) fn terminal_width() -> Option<usize> {
    None
}

/// Says something on standard error that stops nothing.
pub(crate) fn warn(what: impl fmt::Display) {
    say(format_args!(
        "warning: {}",
        with_repeated(&what.to_string())
    ));
}

/// Says on standard error what goes on.
pub(crate) fn say(what: impl fmt::Display) {
    // Whoever has closed it wants to hear nothing.
    let _ = writeln!(io::stderr(), "pqtls: {what}");
}

fn print_json<R: Report>(report: &R) -> io::Result<()> {
    #[derive(Serialize)]
    struct WithSchema<'a, R> {
        schema: String,
        #[serde(flatten)]
        report: &'a R,
    }

    let mut out = BufWriter::new(io::stdout().lock());
    let report = WithSchema {
        schema: format!("pqtls/{}", R::SCHEMA),
        report,
    };
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    out.flush()
}

/// Prints text, without colours if it goes to a pipe or if `NO_COLOR` is set.
fn print_text(report: &impl fmt::Display) -> io::Result<()> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    write!(out, "{report}")?;
    out.flush()
}
