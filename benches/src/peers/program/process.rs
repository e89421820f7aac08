//! A running program, and what is said to it. `driver.c` has the other end.

use core::time::Duration;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The most inputs of an operation, as in `driver.h`.
const FIELDS: usize = 3;

/// A process that performs one operation on some items.
pub(super) struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process with its key and its items.
    ///
    /// # Errors
    ///
    /// If the program does not run, or the library lacks the operation.
    pub(super) fn start(
        mut command: Command,
        key: &[u8],
        items: &[Vec<&[u8]>],
    ) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut process = Self { child, answers };
        let mut input = BufWriter::new(process.input());
        write_bytes(&mut input, key)?;
        input.write_all(&length(items.len()))?;
        for fields in items {
            assert!(fields.len() <= FIELDS, "{} inputs", fields.len());
            for index in 0..FIELDS {
                write_bytes(&mut input, fields.get(index).copied().unwrap_or_default())?;
            }
        }
        input.flush()?;
        drop(input);

        let mut has_it = [0];
        process.answers.read_exact(&mut has_it)?;
        match has_it {
            [1] => Ok(process),
            _ => Err(io::Error::other("the library lacks it")),
        }
    }

    /// The CPU time of passes over all items.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub(super) fn time(&mut self, passes: u32) -> io::Result<Duration> {
        if passes == 0 {
            return Ok(Duration::ZERO);
        }
        self.input().write_all(&passes.to_le_bytes())?;
        let mut nanoseconds = [0; 8];
        self.answers.read_exact(&mut nanoseconds)?;
        Ok(Duration::from_nanos(u64::from_le_bytes(nanoseconds)))
    }

    /// The output of the only item.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub(super) fn output(mut self) -> io::Result<Vec<u8>> {
        self.input().write_all(&[0; 4])?;
        let mut length = [0; 4];
        self.answers.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        let mut output = Vec::new();
        let read = (&mut self.answers)
            .take(length.into())
            .read_to_end(&mut output)?;
        match read == length as usize {
            true => Ok(output),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn input(&mut self) -> &mut impl Write {
        self.child
            .stdin
            .as_mut()
            .expect("open until the process is dropped")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // the end of its input
        drop(self.child.stdin.take());
        // It ends by itself; no one asks how.
        let _ = self.child.wait();
    }
}

fn write_bytes(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    output.write_all(&length(bytes.len()))?;
    output.write_all(bytes)
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length)
        .expect("inputs are short")
        .to_le_bytes()
}
