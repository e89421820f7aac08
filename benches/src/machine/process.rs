//! Child processes: their output and their resources.

use core::net::SocketAddr;
use core::time::Duration;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{fs, io, thread};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tempfile::NamedTempFile;

use super::cores::Core;

/// A running program. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    /// The file for its output, which need not be read all the time, unlike a pipe.
    output: NamedTempFile,
}

/// How long a program may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

impl Process {
    /// Starts a program on a core, where all of its threads stay, with its output in the folder.
    pub(crate) fn start(command: &mut Command, core: Core, folder: &Path) -> io::Result<Self> {
        let output = NamedTempFile::new_in(folder)?;
        let _stay = core.stay()?;
        let child = command
            // Open as long as this process runs.
            .stdin(Stdio::piped())
            .stdout(output.as_file().try_clone()?)
            .stderr(output.as_file().try_clone()?)
            .spawn()?;
        Ok(Self { child, output })
    }

    /// Waits for the line in which a server prints its address; `address` finds it in a line.
    pub(crate) fn address(
        &mut self,
        address: impl Fn(&str) -> Option<SocketAddr>,
    ) -> io::Result<SocketAddr> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let output = self.printed()?;
            let mut addresses = output
                .split_inclusive('\n')
                .filter_map(|line| address(line.strip_suffix('\n')?));
            if let Some(address) = addresses.next() {
                return Ok(address);
            }
            if self.child.try_wait()?.is_some() || Instant::now() > deadline {
                let why = format!("a server doesn't listen; it printed: {output}");
                return Err(io::Error::other(why));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end of the program. Returns its CPU time and its output.
    pub(crate) fn finish(mut self) -> io::Result<(Duration, String)> {
        // Its times can be read until its exit status is collected.
        waitid(
            WaitId::Pid(self.pid()),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        )?;
        let time = self.cpu_time()?;
        let status = self.child.wait()?;
        let output = self.printed()?;
        if !status.success() {
            let why = format!("a program ended with {status}; it printed: {output}");
            return Err(io::Error::other(why));
        }
        Ok((time, output))
    }

    /// The CPU time of its first thread. Other threads of these programs do no work.
    pub(crate) fn cpu_time(&self) -> io::Result<Duration> {
        cpu_time(&self.proc("schedstat"))
    }

    /// The CPU time of all threads that it has now.
    pub(crate) fn cpu_time_of_threads(&self) -> io::Result<Duration> {
        let threads = fs::read_dir(self.proc("task"))?;
        threads
            .map(|thread| cpu_time(&format!("{}/schedstat", thread?.path().display())))
            .sum()
    }

    /// Resident memory, in bytes.
    pub(crate) fn resident(&self) -> io::Result<u64> {
        let status = read(&self.proc("status"))?;
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|size| size.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kibibytes
            .map(|size| size * 1024)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// How many files and sockets it has open.
    pub(crate) fn descriptors(&self) -> io::Result<usize> {
        Ok(fs::read_dir(self.proc("fd"))?.count())
    }

    fn printed(&self) -> io::Result<String> {
        fs::read_to_string(self.output.path())
    }

    fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.child.id())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail harmlessly if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The CPU time that a file of the scheduler tells first, in nanoseconds.
fn cpu_time(path: &str) -> io::Result<Duration> {
    let times = read(path)?;
    let nanoseconds = times.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds
        .map(Duration::from_nanos)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads a file that not every kernel has; the error names it.
fn read(path: &str) -> io::Result<String> {
    fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}
