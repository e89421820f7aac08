//! Child processes that can't outlive their test: limited in time, killed on
//! drop, and with their whole output captured.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    command: String,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Capture,
    stderr: Capture,
}

impl Process {
    /// Starts `command` with its standard streams connected to us.
    ///
    /// # Panics
    /// If the program can't be started.
    pub fn spawn(command: &mut Command) -> Self {
        let shown = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|err| panic!("can't start {shown}: {err}"));
        let stdout = Capture::start(child.stdout.take().expect("stdout was asked for"));
        let stderr = Capture::start(child.stderr.take().expect("stderr was asked for"));
        Self {
            command: shown,
            stdin: child.stdin.take(),
            child,
            stdout,
            stderr,
        }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes `input` to the program's standard input and leaves that open.
    ///
    /// If the program has already ended, that is no error here: its output says why.
    pub fn write(&mut self, input: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(input).and_then(|()| stdin.flush());
        }
    }

    /// Waits until standard output has a whole line that `wanted` accepts, and
    /// returns the result of `wanted`.
    ///
    /// # Panics
    /// If the program ends, or `limit` passes, without such a line.
    pub fn wait_for_line<T>(&self, limit: Duration, wanted: impl Fn(&str) -> Option<T>) -> T {
        let complete_lines = |text: &str| {
            text.split_inclusive('\n')
                .filter(|line| line.ends_with('\n'))
                .find_map(|line| wanted(line.trim_end()))
        };
        self.stdout
            .wait_for(limit, complete_lines)
            .unwrap_or_else(|| {
                panic!(
                    "{} did not print the expected line within {limit:?}\n{}",
                    self.command,
                    self.printed()
                )
            })
    }

    /// Closes standard input, waits for the program to end by itself and returns
    /// what it printed.
    ///
    /// # Panics
    /// If it still runs after `limit`; it is killed then.
    pub fn finish(mut self, limit: Duration) -> Output {
        drop(self.stdin.take());
        self.wait(limit)
    }

    /// Like [`finish()`](Self::finish), but keeps standard input open: for programs
    /// that end when it is closed.
    ///
    /// # Panics
    /// If it still runs after `limit`; it is killed then.
    pub fn wait(mut self, limit: Duration) -> Output {
        let deadline = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
                Ok(None) => panic!(
                    "{} still runs after {limit:?}\n{}",
                    self.command,
                    self.printed()
                ),
                Err(err) => panic!("can't wait for {}: {err}", self.command),
            }
        };
        self.output(status)
    }

    /// Kills the program and returns what it printed until then.
    ///
    /// # Panics
    /// If the operating system refuses.
    pub fn stop(mut self) -> Output {
        let status = self
            .child
            .kill()
            .and_then(|()| self.child.wait())
            .unwrap_or_else(|err| panic!("can't stop {}: {err}", self.command));
        self.output(status)
    }

    /// Everything printed so far, for messages.
    fn printed(&self) -> String {
        format!(
            "--- stdout\n{}\n--- stderr\n{}",
            self.stdout.text(),
            self.stderr.text()
        )
    }

    fn output(&self, status: ExitStatus) -> Output {
        // The program has ended, so its output is in the pipes; the readers only need
        // a moment.
        let stdout = self.stdout.all(CAPTURE_LIMIT);
        let stderr = self.stderr.all(CAPTURE_LIMIT);
        Output {
            command: self.command.clone(),
            status,
            stdout,
            stderr,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail harmlessly when the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of a program and how it ended. `Display` shows all of it, for messages.
#[derive(Debug)]
pub struct Output {
    command: String,
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Output {
    /// Whether the program ended with exit code 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// The exit code, unless a signal ended the program.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Standard output, with anything that is not UTF-8 replaced.
    pub fn stdout(&self) -> &str {
        &self.stdout
    }

    /// Standard error, with anything that is not UTF-8 replaced.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Asserts that a line of standard output or standard error is exactly `line`.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn assert_line(&self, line: &str) {
        let lines = || self.stdout.lines().chain(self.stderr.lines());
        assert!(
            lines().any(|found| found.trim_end() == line),
            "no line {line:?} in the output of {self}"
        );
    }

    /// Asserts that `text` occurs in standard output or standard error.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn assert_contains(&self, text: &str) {
        assert!(
            self.stdout.contains(text) || self.stderr.contains(text),
            "no {text:?} in the output of {self}"
        );
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({})\n--- stdout\n{}\n--- stderr\n{}",
            self.command, self.status, self.stdout, self.stderr
        )
    }
}

/// A thread that collects what comes out of a pipe.
#[derive(Debug)]
struct Capture {
    state: Arc<(Mutex<Captured>, Condvar)>,
}

impl Capture {
    fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let state = Arc::new((Mutex::new(Captured::default()), Condvar::new()));
        let writer = Arc::clone(&state);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            loop {
                let read = pipe.read(&mut chunk).unwrap_or(0);
                let (captured, changed) = &*writer;
                let mut captured = lock(captured);
                captured.bytes.extend_from_slice(&chunk[..read]);
                captured.closed = read == 0;
                changed.notify_all();
                if captured.closed {
                    return;
                }
            }
        });
        Self { state }
    }

    /// Waits until `found` accepts the text so far; `None` if the pipe
    /// is closed or `limit` passes before that.
    fn wait_for<T>(&self, limit: Duration, found: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (captured, changed) = &*self.state;
        let deadline = Instant::now() + limit;
        let mut captured = lock(captured);
        loop {
            if let Some(value) = found(&captured.text()) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if captured.closed || left.is_zero() {
                return None;
            }
            captured = changed
                .wait_timeout(captured, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The whole text, once the pipe is closed or `limit` has passed.
    fn all(&self, limit: Duration) -> String {
        self.wait_for(limit, |_| None::<()>);
        self.text()
    }

    fn text(&self) -> String {
        lock(&self.state.0).text()
    }
}

#[derive(Debug, Default)]
struct Captured {
    bytes: Vec<u8>,
    closed: bool,
}

impl Captured {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Locks the bytes; if a reader panicked, they are still worth showing.
fn lock(captured: &Mutex<Captured>) -> MutexGuard<'_, Captured> {
    captured.lock().unwrap_or_else(PoisonError::into_inner)
}

const POLL: Duration = Duration::from_millis(3);
const CAPTURE_LIMIT: Duration = Duration::from_secs(5);
