//! How a command ends, for the shell. The one list of exit statuses.
//!
//! It uses nothing.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ExitStatus {
    Done = 0,
    Refused = 1,
    Usage = 2,
    InputOutput = 3,
    Policy = 4,
    ExpiresSoon = 5,
    NothingToDo = 6,
}

impl ExitStatus {
    const ALL: [Self; 7] = [
        Self::Done,
        Self::Refused,
        Self::Usage,
        Self::InputOutput,
        Self::Policy,
        Self::ExpiresSoon,
        Self::NothingToDo,
    ];

    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused, failed to verify, or something is left to do",
            Self::Usage => "the command line is wrong",
            Self::InputOutput => "a file can't be read, understood or written",
            Self::Policy => "a policy forbids it",
            Self::ExpiresSoon => "a certificate expires soon",
            Self::NothingToDo => "nothing had to be done",
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        (status as u8).into()
    }
}

/// A table of all exit statuses, for the help.
pub(crate) fn table() -> String {
    let lines = ExitStatus::ALL
        .map(|status| format!("  {}  {}", status as u8, status.meaning()))
        .join("\n");
    format!("Exit status:\n{lines}")
}
