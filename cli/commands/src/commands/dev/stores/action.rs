//! The steps that change a trust store. Each can be performed, taken back if it changed a file, or printed as a
//! command for the user, with the obstacle that kept it from being performed.

use core::fmt;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::program;
use crate::commands::dev::roots::only_readable;
use crate::files::{self, Access, Destination, Output, OutputError, TemporaryFolder};
use crate::shell::command_line;

/// A step that changes a store. Its text is a line for a shell.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Writes a file that everybody may read, in place of another one if there is one. What is written was checked;
    /// `from` is the file that it was read from.
    Copy {
        from: PathBuf,
        content: String,
        to: PathBuf,
        /// What the other one says.
        replaced: Option<Vec<u8>>,
    },
    /// Removes a file with this content.
    Remove { file: PathBuf, content: Vec<u8> },
    Run {
        program: &'static str,
        arguments: Vec<String>,
    },
    /// Runs a program that makes something of files, and makes it anew when changes of these are undone.
    Update {
        program: &'static str,
        arguments: Vec<String>,
    },
    /// Runs a program whose last argument is a file. It gets a file with the content, which was checked; `from` is
    /// the file that it was read from.
    RunWithFile {
        program: &'static str,
        arguments: Vec<String>,
        from: PathBuf,
        content: String,
    },
}

impl Action {
    pub(super) fn run<A: Into<String>>(
        program: &'static str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::Run {
            program,
            arguments: arguments.into_iter().map(Into::into).collect(),
        }
    }

    pub(super) fn perform(&self) -> Result<(), Obstacle> {
        match self {
            Self::Copy { content, to, .. } => copy(content.as_bytes(), to),
            Self::Remove { file, .. } => fs::remove_file(file).map_err(Obstacle::of_file(file)),
            Self::Run { program, arguments } | Self::Update { program, arguments } => {
                output_of(program, arguments).map(|_| ())
            }
            Self::RunWithFile {
                program,
                arguments,
                content,
                ..
            } => run_with_file(program, arguments, content),
        }
    }

    /// Undoes changes of files after an error. Users are told that error, even if undoing fails.
    pub(super) fn take_back(&self) {
        let _ = match self {
            Self::Copy {
                to,
                replaced: Some(replaced),
                ..
            } => copy(replaced, to),
            Self::Copy { to, .. } => fs::remove_file(to).map_err(Obstacle::of_file(to)),
            Self::Remove { file, content } => copy(content, file),
            Self::Run { .. } | Self::Update { .. } | Self::RunWithFile { .. } => Ok(()),
        };
    }

    /// Makes anew what this made, after changes of files were undone.
    pub(super) fn make_anew(&self) {
        if let Self::Update { .. } = self {
            let _ = self.perform();
        }
    }

    fn words(&self) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        match self {
            // With "cp", the umask would decide who may read the copy.
            Self::Copy { from, to, .. } => {
                let options = ["install", "-m", "644"].map(String::from);
                options.into_iter().chain([path(from), path(to)]).collect()
            }
            Self::Remove { file, .. } => vec!["rm".into(), path(file)],
            Self::Run { program, arguments } | Self::Update { program, arguments } => {
                let program = [(*program).into()];
                program.into_iter().chain(arguments.clone()).collect()
            }
            Self::RunWithFile {
                program,
                arguments,
                from,
                ..
            } => {
                let program = [(*program).into()];
                let words = program.into_iter().chain(arguments.clone());
                words.chain([path(from)]).collect()
            }
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&command_line(self.words()))
    }
}

fn copy(content: &[u8], to: &Path) -> Result<(), Obstacle> {
    let output = Output {
        to: &Destination::File(to.into()),
        content,
        access: Access::Public,
        is_binary: false,
    };
    files::write(&[output], true)?;
    only_readable(to).map_err(Obstacle::of_file(to))
}

/// The file is in a folder that is only for its owner, so that nobody changes it before the program reads it.
fn run_with_file(
    program: &'static str,
    arguments: &[String],
    content: &str,
) -> Result<(), Obstacle> {
    let of_temporary = |error| Obstacle::of_file(Path::new("a temporary file"))(error);
    let folder = TemporaryFolder::new(&env::temp_dir(), "pqtls-").map_err(of_temporary)?;
    let file = folder.path().join("root.pem");
    fs::write(&file, content).map_err(of_temporary)?;
    let path = file.display().to_string();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .chain([&*path])
        .collect();
    output_of(program, &arguments).map(drop)
}

/// What a program prints, if it succeeds.
pub(super) fn output_of(
    name: &'static str,
    arguments: &[impl AsRef<str>],
) -> Result<Vec<u8>, Obstacle> {
    let program = program::find(name).ok_or(Obstacle::Missing(name))?;
    let mut command = Command::new(program);
    command.args(arguments.iter().map(AsRef::as_ref));
    let failed = |why: String| Obstacle::Failed { name, why };
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    Err(failed(match last {
        Some(line) => line.chars().filter(|one| !one.is_control()).collect(),
        None => output.status.to_string(),
    }))
}

/// Why a store was not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Obstacle {
    #[error("only the system's administrator may change it")]
    Rights,
    #[error(transparent)]
    File(OutputError),
    #[error("{0} is not installed; {advice}", advice = advice(.0))]
    Missing(&'static str),
    #[error("{name} failed: {why}")]
    Failed { name: &'static str, why: String },
    #[error("pqtls has not been tried there")]
    Untried,
}

impl Obstacle {
    /// For `map_err`.
    fn of_file(file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.display().to_string();
        |error| OutputError::Write { file, error }.into()
    }
}

impl From<OutputError> for Obstacle {
    fn from(error: OutputError) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};

        match &error {
            OutputError::Write { error: cause, .. }
                if matches!(cause.kind(), PermissionDenied | ReadOnlyFilesystem) =>
            {
                Self::Rights
            }
            _ => Self::File(error),
        }
    }
}

fn advice(program: &str) -> &'static str {
    match program {
        "certutil" => {
            "it is in the package libnss3-tools (Debian, Ubuntu), nss-tools (Fedora) or nss (Arch, \
             Homebrew)"
        }
        _ => "install it first",
    }
}
