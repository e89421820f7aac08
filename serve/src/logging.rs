//! The log of a program: lines of text or of JSON on standard error, chosen by the environment variable `RUST_LOG`.

use std::env;
use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::events::ACCESS;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs, an object on each line.
    Json,
}

/// How the access log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AccessLog {
    /// A line for each request, in this format.
    As(LogFormat),
    /// Not at all.
    Off,
}

#[cfg(feature = "command-line")]
impl clap::ValueEnum for AccessLog {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::As(LogFormat::Text),
            Self::As(LogFormat::Json),
            Self::Off,
        ]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self {
            Self::As(format) => format.to_possible_value(),
            Self::Off => Some(clap::builder::PossibleValue::new("off")),
        }
    }
}

#[cfg(feature = "command-line")]
impl clap::ValueEnum for LogFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Text, Self::Json]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        // Without help: then clap names the values in one line.
        Some(clap::builder::PossibleValue::new(match self {
            Self::Text => "text",
            Self::Json => "json",
        }))
    }
}

/// Starts the log of this process, which goes to standard error, with the access log: a line for each request, of the target
/// `pq_serving::access` and the level `info`.
///
/// `RUST_LOG` says what to log, such as `debug` or `rustls_pq=debug`; without it, that is `info`. What it says of
/// `program`, the name of the program's own crate, also holds for this crate, which does the program's work.
///
/// # Panics
///
/// If the process has a log already.
pub fn start(format: LogFormat, program: &str) {
    let log = lines(format).with_filter(filter_of_environment(program));
    tracing_subscriber::registry().with(log).init();
}

/// The same, with an access log of another format, which is there whatever `RUST_LOG` says, or with none.
///
/// # Panics
///
/// If the process has a log already.
pub fn start_with_access(format: LogFormat, access: AccessLog, program: &str) {
    let rest = filter_of_environment(program).with_target(ACCESS, LevelFilter::OFF);
    let access = match access {
        AccessLog::As(format) => {
            let only = Targets::new().with_target(ACCESS, LevelFilter::INFO);
            Some(lines(format).with_filter(only))
        }
        AccessLog::Off => None,
    };
    tracing_subscriber::registry()
        .with(lines(format).with_filter(rest))
        .with(access)
        .init();
}

fn filter_of_environment(program: &str) -> Targets {
    filter(env::var("RUST_LOG").ok().as_deref(), program)
}

fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let lines = fmt::layer().with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    }
}

/// Not `EnvFilter`, whose regular expressions take long to compile.
fn filter(variable: Option<&str>, program: &str) -> Targets {
    let given = variable.and_then(|filter| filter.parse::<Targets>().ok());
    let Some(filter) = given else {
        return Targets::new().with_default(LevelFilter::INFO);
    };
    let is_said_of = |name: &str| filter.iter().find(|(target, _)| *target == name);
    match (is_said_of(program), is_said_of(OURS)) {
        (Some((_, level)), None) => filter.with_target(OURS, level),
        _ => filter,
    }
}

/// The name of this crate in the log.
const OURS: &str = "pq_serving";

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    /// Whoever has asked for a program's lines gets those that this crate writes for it.
    #[test]
    fn what_is_said_of_the_program_holds_for_its_library() {
        for (variable, debug, info) in [
            (None, false, true),
            (Some("nonsense=nonsense"), false, true),
            (Some("debug"), true, true),
            (Some("program=debug"), true, true),
            (Some("info,program=debug"), true, true),
            (Some("program=debug,pq_serving=warn"), false, false),
            (Some("other=debug"), false, false),
            (Some("info,other=debug"), false, true),
        ] {
            let filter = filter(variable, "program");
            let enabled = [Level::DEBUG, Level::INFO]
                .map(|level| filter.would_enable("pq_serving::listening", &level));
            assert_eq!(enabled, [debug, info], "{variable:?}");
        }
    }
}
