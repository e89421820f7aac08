//! Certificates in many files, which are watched.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, Once, PoisonError};

use pq_x509::certificate::Certificate;
use rustls_pq::identity::{Identities, IdentityFiles, Watcher};
use spki::der::pem::{LineEnding, encode_string};
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::timing::Passes;
use crate::tls::handshake::identity::Identity;

pub(super) fn watching(size: usize) -> Passes<'static> {
    let watched = Watched::new(size, Duration::from_millis(1));
    Passes::reporting(move || {
        // Drops the looks since the last pass.
        while watched.looks.try_recv().is_ok() {}
        watched.wait_for_look(0)
    })
}

pub(super) fn reading(size: usize) -> Passes<'static> {
    let watched = Watched::new(size, Duration::from_secs(24 * 3600));
    Passes::reporting(move || {
        watched.watcher.reload();
        watched.wait_for_look(size)
    })
}

/// Watched pairs of files.
struct Watched {
    watcher: Watcher,
    _identities: Arc<Identities>,
    looks: Receiver<Look>,
    _directory: TempDir,
}

impl Watched {
    fn new(pairs: usize, every: Duration) -> Self {
        let directory = tempfile::tempdir().expect("a folder");
        let identity = Identity::p256("tenant.example.org").expect("a certificate");
        let chain = Certificate::from_der(&identity.leaf).expect("a certificate");
        let key = encode_string("PRIVATE KEY", LineEnding::LF, &identity.key).expect("PEM");
        let texts = [("chain", chain.to_pem()), ("key", key)];

        let provider = Arc::new(rustls_pq::provider().expect("a provider"));
        let files = (0..pairs).fold(IdentityFiles::new(provider), |files, at| {
            let pair = texts.each_ref();
            let [chain, key] = pair.map(|(name, text)| put(directory.path(), name, text, at));
            files.with(chain, key)
        });
        // Listens before the first look.
        let looks = looks_at(pairs);
        let (identities, watcher) = files.watch(every).expect("files that can be watched");
        Self {
            watcher,
            _identities: identities,
            looks,
            _directory: directory,
        }
    }

    /// The time of the next look that reads this number of pairs.
    fn wait_for_look(&self, read: usize) -> Duration {
        loop {
            let look = self.looks.recv().expect("nobody stops to log");
            if look.read == read as u64 {
                return Duration::from_secs_f64(look.seconds);
            }
        }
    }
}

/// A file with this text, as a link to an existing one if possible: file systems allow some tens of
/// thousands of links to a file.
fn put(directory: &Path, name: &str, text: &str, at: usize) -> PathBuf {
    const LINKS: usize = 10_000;

    let path = |at| directory.join(format!("{at}-{name}.pem"));
    match at % LINKS {
        0 => fs::write(path(at), text),
        _ => fs::hard_link(path(at - at % LINKS), path(at)),
    }
    .expect("a file");
    path(at)
}

/// A look, from the log.
#[derive(Clone, Copy, Default)]
struct Look {
    pairs: u64,
    read: u64,
    seconds: f64,
}

/// The looks of watchers of this number of pairs, from now on.
fn looks_at(pairs: usize) -> Receiver<Look> {
    static START: Once = Once::new();

    START.call_once(|| {
        tracing::subscriber::set_global_default(Looks).expect("nobody else listens");
    });
    let (sender, looks) = mpsc::channel();
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.push((pairs as u64, sender));
    looks
}

static LISTENERS: Mutex<Vec<(u64, Sender<Look>)>> = Mutex::new(Vec::new());

/// Listens only to the log of the watcher.
struct Looks;

impl Subscriber for Looks {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::DEBUG && metadata.target().ends_with("::files::watcher")
    }

    fn event(&self, event: &Event<'_>) {
        let mut look = Look::default();
        event.record(&mut look);
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|(pairs, sender)| *pairs != look.pairs || sender.send(look).is_ok());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Visit for Look {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "pairs" => self.pairs = value,
            "read" => self.read = value,
            _ => {}
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "seconds" {
            self.seconds = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
