//! Where a page is, and how it links to other files.

use core::str::FromStr;
use std::path::{Path, PathBuf};

/// The place of a machine's page and of its charts.
pub(crate) struct Place {
    /// The folder of the repository.
    root: PathBuf,
    machine: Name,
}

/// The name of a machine and of its folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Name(String);

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err("a machine's name consists of lower-case letters, digits and hyphens");
        }
        Ok(Self(name.to_owned()))
    }
}

/// The page about all machines.
pub(crate) const OVERVIEW: &str = "BENCHMARKS.md";

/// The chart of handshakes in README.
pub(crate) const HANDSHAKES: &str = "benches/handshakes.svg";

/// The page that has figures of one machine.
pub(crate) const README: &str = "README.md";

/// The folder of all machines' folders.
pub(crate) const MACHINES: &str = "benches/machines";

impl Place {
    /// The place of a machine in a repository.
    pub(crate) fn of(root: &Path, machine: Name) -> Self {
        Self {
            root: root.to_owned(),
            machine,
        }
    }

    /// The machine's name.
    pub(crate) fn machine(&self) -> &str {
        &self.machine.0
    }

    /// The page.
    pub(crate) fn page(&self) -> PathBuf {
        self.root.join(page_of(self.machine()))
    }

    /// The folder of the charts.
    pub(crate) fn charts(&self) -> PathBuf {
        self.page().with_file_name(CHARTS)
    }

    /// A chart on the page.
    pub(crate) fn image(&self, title: &str, file: &str) -> String {
        format!("![{title}]({CHARTS}/{file})")
    }

    /// A path in the repository, as the page links to it.
    pub(crate) fn link(&self, path: &str) -> String {
        format!("../../../{path}")
    }
}

/// The folder beside a page.
const CHARTS: &str = "charts";

/// The path of a machine's page in the repository.
pub(crate) fn page_of(machine: &str) -> String {
    format!("{MACHINES}/{machine}/README.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folders() {
        assert_eq!("zen4".parse(), Ok(Name("zen4".into())));
        for name in ["", ".", "..", "a/b", "a b", "Zen4"] {
            assert!(name.parse::<Name>().is_err(), "{name}");
        }
    }

    #[test]
    fn links_lead_where_files_are() {
        let root = Path::new("/repository");
        let place = Place::of(root, Name("zen4".into()));
        let page = place.page();
        let folder = page.parent().unwrap();
        let image = place.image("Title", "chart.svg");
        let chart = image
            .strip_prefix("![Title](")
            .and_then(|image| image.strip_suffix(')'))
            .unwrap();
        assert_eq!(folder.join(chart), place.charts().join("chart.svg"));

        let depth = folder.strip_prefix(root).unwrap().iter().count();
        let up = "../".repeat(depth);
        assert_eq!(
            place.link("ARCHITECTURE.md"),
            format!("{up}ARCHITECTURE.md")
        );
    }
}
