//! The error for a policy file that can't be used, with the line and the column of what is wrong.

use core::fmt;

use super::source::Source;

/// What is wrong with a policy file, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{file_name}:{line}:{column}: {problem}")]
pub struct PolicyError {
    file_name: String,
    line: usize,
    column: usize,
    problem: String,
}

impl PolicyError {
    pub(crate) fn new(source: &Source, offset: usize, problem: impl fmt::Display) -> Self {
        Self {
            file_name: source.file_name.clone(),
            line: source.line(offset).number,
            column: source.column(offset),
            problem: problem.to_string(),
        }
    }

    /// The name of the file.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The number of the line; the first is 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The position in the line, in characters; the first is 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there, and what to write instead.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}
