//! What this process has not finished, and how it is undone: when a step fails, and when a signal ends the process.
//!
//! Drafts may hold what nobody must find later: plaintext that is not authenticated yet, and private keys. So each of
//! them is listed from the moment on when it exists, and signals that end a process undo all that is listed before
//! they do. Nothing but `kill -9`, a panic, a fault or a loss of power leaves a draft.

use alloc::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How the names of files begin that were replaced, while it may still be necessary to put them back.
const ASIDE: &str = ".pqtls-replaced-";

/// What undoes one step.
pub(super) enum Undo {
    Nothing,
    RemoveFile(PathBuf),
    RemoveFolder(PathBuf),
    /// Gives a file its name again.
    PutBack {
        aside: PathBuf,
        path: PathBuf,
    },
    /// Removes a draft of what is done already: a signal gives it its name instead, if nothing has that, or else leaves it and
    /// says where it is.
    RemoveUnlessSignal {
        draft: PathBuf,
        path: PathBuf,
    },
    /// Has another thread stop.
    Stop(Box<dyn Fn() + Send>),
}

/// All that is not finished. Whoever holds the lock lets no signal end the process meanwhile.
#[derive(Default)]
struct All {
    /// In the order in which they began.
    undo: BTreeMap<u64, Undo>,
    begun: u64,
    waits_for_signals: bool,
}

static ALL: Mutex<All> = Mutex::new(All {
    undo: BTreeMap::new(),
    begun: 0,
    waits_for_signals: false,
});

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A step that is undone when this is dropped.
#[must_use = "it is undone when this is dropped"]
pub(super) struct Unfinished(u64);

impl Unfinished {
    /// Does a step. No signal comes between it and the list of what is to be undone.
    pub(super) fn begin<T>(step: impl FnOnce() -> io::Result<(T, Undo)>) -> io::Result<(T, Self)> {
        let mut all = all();
        if !all.waits_for_signals {
            signals::wait()?;
            all.waits_for_signals = true;
        }
        let (made, undo) = step()?;
        all.begun += 1;
        let begun = all.begun;
        all.undo.insert(begun, undo);
        Ok((made, Self(begun)))
    }

    /// Does a further step, after which something else is to be undone. If it fails, what was listed before still is.
    pub(super) fn proceed<E>(&self, step: impl FnOnce() -> Result<Undo, E>) -> Result<(), E> {
        let mut all = all();
        let undo = step()?;
        all.undo.insert(self.0, undo);
        Ok(())
    }

    /// Does something that no signal comes into.
    pub(super) fn undisturbed<T>(&self, step: impl FnOnce() -> T) -> T {
        let _all = all();
        step()
    }

    /// It is done, and files that were replaced go. With many, a signal finds all of them done or none.
    pub(super) fn finish(done: impl IntoIterator<Item = Self>) {
        let mut all = all();
        for one in done {
            if let Some(Undo::PutBack { aside, .. }) = all.undo.remove(&one.0) {
                // The new file has its name, whether or not this succeeds.
                let _ = fs::remove_file(aside);
            }
            // There is nothing left to undo, and dropping it would wait for the lock.
            core::mem::forget(one);
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(undo) = all.undo.remove(&self.0) {
            undo.perform();
        }
    }
}

impl Undo {
    /// Users are told why this became necessary, even if it fails.
    fn perform(&self) {
        let _ = match self {
            Self::Nothing => Ok(()),
            Self::RemoveFile(path) => fs::remove_file(path),
            Self::RemoveUnlessSignal { draft, .. } => fs::remove_file(draft),
            Self::RemoveFolder(path) => fs::remove_dir_all(path),
            Self::PutBack { aside, path } => put_back(aside, path),
            Self::Stop(stop) => {
                stop();
                Ok(())
            }
        };
    }

    /// What is done when a signal ends this process.
    #[cfg(unix)]
    fn perform_at_signal(&self) {
        use std::io::Write;

        match self {
            Self::RemoveUnlessSignal { draft, path } => {
                // What is there may be complete, and this is not.
                let named = fs::hard_link(draft, path).and_then(|()| fs::remove_file(draft));
                if named.is_err() {
                    // Whoever has closed it wants to hear nothing.
                    let _ = writeln!(
                        io::stderr(),
                        "pqtls: what was done until the signal is in {}; {} is as it was",
                        draft.display(),
                        path.display()
                    );
                }
            }
            _ => self.perform(),
        }
    }
}

/// Keeps a file that is about to be replaced, under a name beside its own, and returns that name.
///
/// A second name leaves no moment without the file under its own. Where there are none, or where nobody may give a second
/// name to somebody else's file, it is renamed.
pub(super) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut name = tempfile::Builder::new();
    name.prefix(ASIDE).disable_cleanup(true);
    let linked = name.make_in(folder, |aside| fs::hard_link(path, aside));
    let aside = match linked {
        Ok(aside) => aside,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        Err(_) => name.make_in(folder, |aside| match aside.symlink_metadata() {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(path, aside),
        })?,
    };
    Ok(aside.path().to_owned())
}

pub(super) fn put_back(aside: &Path, path: &Path) -> io::Result<()> {
    fs::rename(aside, path)?;
    // If both were names of one file, renaming has changed nothing.
    match fs::remove_file(aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Has a signal call `stop` before it ends the process, as long as what this returns is kept.
pub(crate) fn stopped_by_signals(stop: impl Fn() + Send + 'static) -> io::Result<impl Sized> {
    let ((), unfinished) = Unfinished::begin(|| Ok(((), Undo::Stop(Box::new(stop)))))?;
    Ok(StoppedBySignals(Some(unfinished)))
}

struct StoppedBySignals(Option<Unfinished>);

impl Drop for StoppedBySignals {
    fn drop(&mut self) {
        Unfinished::finish(self.0.take());
    }
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::thread;

    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
        SIGXFSZ,
    };
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Those that end a process unless somebody waits for them, but for the ones that can't be waited for or that say
    /// that the process is broken.
    const ENDING: [i32; 11] = [
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
        SIGXFSZ,
    ];

    /// Starts the thread that waits for signals.
    pub(super) fn wait() -> io::Result<()> {
        let ignored = ignored();
        let heeded = ENDING.into_iter();
        let heeded: Vec<i32> = heeded.filter(|one| ignored >> (one - 1) & 1 == 0).collect();
        if heeded.is_empty() {
            return Ok(());
        }
        let mut signals = Signals::new(heeded)?;
        let wait = move || {
            for signal in signals.forever() {
                // Until the process has ended nobody begins or finishes anything.
                let all = super::all();
                all.undo
                    .values()
                    .rev()
                    .for_each(super::Undo::perform_at_signal);
                // It ends the process as if nobody had waited for it.
                let _ = emulate_default_handler(signal);
                drop(all);
            }
        };
        thread::Builder::new().spawn(wait).map(drop)
    }

    /// The signals that whoever started this process has it ignore, as `nohup` does, a bit for each from number 1 on.
    /// Waiting for them would end that. Only Linux says which these are.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let digits = lines.find_map(|line| line.strip_prefix("SigIgn:"));
        let read = |digits: &str| u64::from_str_radix(digits.trim(), 16).ok();
        digits.and_then(read).unwrap_or(0)
    }
}

/// On other systems, a process that is ended leaves its drafts.
#[cfg(not(unix))]
mod signals {
    pub(super) fn wait() -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a signal would remove this file or folder now.
#[cfg(test)]
pub(super) fn would_go(path: &Path) -> bool {
    all().undo.values().any(|undo| match undo {
        Undo::RemoveFile(one) | Undo::RemoveFolder(one) => one == path,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_aside_comes_back_and_leaves_no_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        fs::write(&path, "old").unwrap();
        let aside = set_aside(&path).unwrap();
        assert_eq!(fs::read_to_string(&aside).unwrap(), "old");
        // Nothing has replaced it yet.
        put_back(&aside, &path).unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), names()),
            ("old".into(), 1)
        );

        let aside = set_aside(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "new").unwrap();
        put_back(&aside, &path).unwrap();
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), names()),
            ("old".into(), 1)
        );
    }

    #[test]
    fn what_is_dropped_is_undone_and_what_is_finished_stays() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            let made = Unfinished::begin(|| {
                fs::write(&path, name)?;
                Ok((path.clone(), Undo::RemoveFile(path.clone())))
            });
            made.unwrap()
        };
        let (kept, unfinished) = make("kept");
        assert!(would_go(&kept));
        Unfinished::finish([unfinished]);
        assert!(!would_go(&kept) && kept.exists());
        let (dropped, unfinished) = make("dropped");
        drop(unfinished);
        assert!(!would_go(&dropped) && !dropped.exists());
    }
}
