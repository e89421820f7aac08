//! The ways to compile the program.

use core::error::Error;
use core::fmt;
use core::str::FromStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A way to compile the program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Build {
    level: &'static str,
    units: &'static str,
}

const LEVELS: [&str; 5] = ["1", "2", "3", "s", "z"];
const UNITS: [&str; 2] = ["1", "16"];

impl Build {
    /// Every level of optimisation with each number of codegen units.
    pub(crate) fn all() -> Vec<Self> {
        let with_units = |level| UNITS.map(|units| Self { level, units });
        LEVELS.into_iter().flat_map(with_units).collect()
    }

    /// Whether this is the way of cargo's release profile.
    pub(crate) fn is_cargos(self) -> bool {
        (self.level, self.units) == ("3", "16")
    }
}

/// As in `3/16`.
impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.level, self.units)
    }
}

impl FromStr for Build {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Self::all();
        let found = all.iter().find(|build| build.to_string() == text);
        found.copied().ok_or_else(|| {
            let all = all
                .iter()
                .map(Self::to_string)
                .collect::<Vec<_>>()
                .join(" ");
            format!("no build {text:?}; there are {all}")
        })
    }
}

/// Compiles the program.
pub(crate) struct Builder {
    root: PathBuf,
    folder: PathBuf,
}

impl Builder {
    /// In a target directory of its own in `folder`, for the workspace at `root`.
    pub(crate) fn new(root: &Path, folder: &Path) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            root: root.into(),
            folder: folder.into(),
        })
    }

    /// Compiles the program and returns its path. The debug information says where each instruction comes from, and
    /// does not change the instructions.
    pub(crate) fn build(&self, build: Build) -> Result<PathBuf, Box<dyn Error>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .current_dir(&self.root)
            .args(["build", "--quiet", "--release", "-p", "shipped-program"])
            .env("CARGO_TARGET_DIR", &self.folder)
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", build.level)
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", build.units)
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .status()?;
        if !status.success() {
            return Err(format!("{build} does not compile").into());
        }
        // the next build would overwrite it
        let Build { level, units } = build;
        let program = self.folder.join(format!("program-{level}-{units}"));
        fs::copy(self.folder.join("release/shipped-program"), &program)?;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::Build;

    #[test]
    fn builds_have_names() {
        let all = Build::all();
        assert_eq!(all.len(), 10);
        assert_eq!(all.iter().filter(|build| build.is_cargos()).count(), 1);
        for build in all {
            assert_eq!(build.to_string().parse(), Ok(build));
        }
        assert!("4/1".parse::<Build>().unwrap_err().contains("s/16"));
    }
}
