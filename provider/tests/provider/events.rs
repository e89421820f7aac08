//! The log of this process, in which tests look for lines.

use core::fmt::{self, Write};
use core::time::Duration;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Records everything from now on.
pub(crate) fn record() {
    static START: Once = Once::new();
    START.call_once(|| {
        tracing::subscriber::set_global_default(Recorder).expect("nobody else records");
    });
}

/// Waits for a line that contains all `parts`, and returns it.
#[track_caller]
pub(crate) fn wait_for(parts: &[&str]) -> String {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if let Some(line) = lines(parts).pop() {
            return line;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("nobody logged a line with {parts:?}");
}

/// The lines so far that contain all `parts`.
pub(crate) fn lines(parts: &[&str]) -> Vec<String> {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines
        .iter()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .cloned()
        .collect()
}

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Recorder;

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("rustls_pq") && *metadata.level() <= Level::TRACE
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").expect("strings take everything");
    }
}
