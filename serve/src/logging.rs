//! The log of a program: lines of text or of JSON on standard error, chosen by the environment variable `RUST_LOG`.

use std::env;
use std::io::{self, IsTerminal};

use tracing::{Subscriber, warn};
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
/// `RUST_LOG` says what to log, such as `debug` or `rustls_pq=debug`; without it, or if it can't be read, that is `info`. What
/// it says of `program`, the name of the program's own crate, also holds for this crate, which does the program's work.
///
/// A level without a name isn't for crates that write lines about what peers send, without a limit: one connection of
/// HTTP/2 makes `h2` write 10 bytes or more for each that it sends. Of `h2`, `hyper`, `rustls`, `quinn` and their parts, the
/// log has errors, unless `RUST_LOG` names them: `info,h2=debug`. **A program with a subscriber of its own** has to
/// leave them out as well, say by `info,h2=error,hyper=error,rustls=error,quinn=error,rustls_pq=info` (with `rustls_pq`, since
/// names are compared by how they begin), or to limit what its log may take. What this crate writes about connections
/// has limits.
///
/// # Panics
///
/// If the process has a log already.
pub fn start(format: LogFormat, program: &str) {
    let (filter, unreadable) = filter_of_environment(program);
    let log = lines(format).with_filter(filter);
    tracing_subscriber::registry().with(log).init();
    tell_of(unreadable);
}

/// The same, with an access log of another format, which is there whatever `RUST_LOG` says, or with none.
///
/// # Panics
///
/// If the process has a log already.
pub fn start_with_access(format: LogFormat, access: AccessLog, program: &str) {
    let (rest, unreadable) = filter_of_environment(program);
    let rest = rest.with_target(ACCESS, LevelFilter::OFF);
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
    tell_of(unreadable);
}

/// The filter, and why `RUST_LOG` can't be read, if so.
fn filter_of_environment(program: &str) -> (Targets, Option<String>) {
    let variable = env::var_os("RUST_LOG");
    filter(
        variable
            .as_ref()
            .map(|text| text.to_string_lossy())
            .as_deref(),
        program,
    )
}

fn tell_of(unreadable: Option<String>) {
    if let Some(error) = unreadable {
        warn!(
            error,
            "RUST_LOG can't be read, so the level is `info`; it should be levels and targets such as `info,rustls_pq=debug`"
        );
    }
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

/// Not `EnvFilter`, whose regular expressions take long to compile. Beside it, why the variable can't be read.
fn filter(variable: Option<&str>, program: &str) -> (Targets, Option<String>) {
    let (mut filter, unreadable) = match variable.map(str::parse::<Targets>) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (of_level_info(), Some(error.to_string())),
        None => (of_level_info(), None),
    };
    let said_of = |name: &str| {
        let mut said = filter.iter().filter(|(target, _)| *target == name);
        said.next().map(|(_, level)| level)
    };
    let of_program = said_of(program).filter(|_| said_of(OURS).is_none());
    let unlimited = UNLIMITED.map(|name| format!("{name}::"));
    let is_named = |target: &str| filter.iter().any(|(named, _)| target.starts_with(named));
    let unnamed: Vec<_> = unlimited
        .iter()
        .filter(|target| !is_named(target))
        .collect();

    let most = LevelFilter::ERROR.min(filter.default_level().unwrap_or(LevelFilter::OFF));
    for target in unnamed {
        filter = filter.with_target(target, most);
    }
    if let Some(level) = of_program {
        filter = filter.with_target(OURS, level);
    }
    (filter, unreadable)
}

fn of_level_info() -> Targets {
    Targets::new().with_default(LevelFilter::INFO)
}

/// Crates that write lines about what peers send, without a limit.
const UNLIMITED: [&str; 8] = [
    "h2",
    "hyper",
    "hyper_util",
    "quinn",
    "quinn_proto",
    "quinn_udp",
    "rustls",
    "tokio_rustls",
];

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
            let (filter, unreadable) = filter(variable, "program");
            assert_eq!(unreadable.is_some(), variable == Some("nonsense=nonsense"));
            let enabled = [Level::DEBUG, Level::INFO]
                .map(|level| filter.would_enable("pq_serving::listening", &level));
            assert_eq!(enabled, [debug, info], "{variable:?}");
        }
    }

    /// A peer that sends what h2 has lines for must not fill the disk: it has one for each PING that nobody asked for.
    #[test]
    fn what_peers_can_repeat_without_a_limit_has_to_be_asked_for_by_name() {
        const PING: &str = "h2::proto::ping_pong";
        for (variable, target, most) in [
            (None, PING, Level::ERROR),
            (None, "hyper::proto::h1::role", Level::ERROR),
            (None, "rustls::common_state", Level::ERROR),
            (None, "quinn_proto::connection", Level::ERROR),
            (None, "rustls_pq::identity", Level::INFO),
            (None, "hyper_program", Level::INFO),
            (Some("nonsense=nonsense"), PING, Level::ERROR),
            (Some("info"), PING, Level::ERROR),
            (Some("trace"), PING, Level::ERROR),
            (Some("trace"), "somebody::else", Level::TRACE),
            (Some("info,h2=warn"), PING, Level::WARN),
            (Some("h2::proto=debug"), PING, Level::DEBUG),
            (Some("info,hyper=debug"), "hyper_util::rt", Level::DEBUG),
        ] {
            let (filter, _) = filter(variable, "program");
            let levels = [
                Level::ERROR,
                Level::WARN,
                Level::INFO,
                Level::DEBUG,
                Level::TRACE,
            ];
            let enabled = levels
                .iter()
                .rfind(|level| filter.would_enable(target, level));
            assert_eq!(enabled, Some(&most), "{variable:?} {target}");
        }
        for variable in ["off", "program=debug"] {
            let (filter, _) = filter(Some(variable), "program");
            assert!(!filter.would_enable(PING, &Level::ERROR), "{variable}");
        }
    }
}
