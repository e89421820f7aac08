//! Where a page stands, and how it gets from there to other files.

use core::str::FromStr;
use std::io;
use std::path::{Path, PathBuf};

/// The place of a page and of its charts.
pub(crate) struct Place {
    /// The folder of the repository.
    root: PathBuf,
    /// Whose page it is, if not that of the reference machine.
    machine: Option<Name>,
}

/// What another machine than the reference one is called, and its folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Name(String);

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err("a machine's name is of lower-case letters, digits and hyphens");
        }
        Ok(Self(name.to_owned()))
    }
}

/// The reference machine's page.
pub(crate) const REFERENCE: &str = "BENCHMARKS.md";

/// The folder of all other machines' folders.
pub(crate) const MACHINES: &str = "benches/machines";

impl Place {
    /// That of a machine, or of the reference machine, in the repository of this crate.
    ///
    /// # Errors
    ///
    /// If the crate is in none.
    pub(crate) fn of(machine: Option<Name>) -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or(io::ErrorKind::NotFound)?
            .to_owned();
        Ok(Self { root, machine })
    }

    /// The machine's name, if it is not the reference one.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.machine.as_ref().map(|Name(name)| name.as_str())
    }

    /// A file or folder, by its path in the repository.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The page.
    pub(crate) fn page(&self) -> PathBuf {
        match self.machine() {
            None => self.file(REFERENCE),
            Some(name) => self.file(&page_of(name)),
        }
    }

    /// The folder of the charts.
    pub(crate) fn charts(&self) -> PathBuf {
        self.page().with_file_name(self.charts_from_the_page())
    }

    /// A chart on the page.
    pub(crate) fn image(&self, title: &str, file: &str) -> String {
        format!("![{title}]({}/{file})", self.charts_from_the_page())
    }

    /// A path in the repository, as the page links to it.
    pub(crate) fn link(&self, path: &str) -> String {
        match self.machine {
            None => path.to_owned(),
            Some(_) => format!("../../../{path}"),
        }
    }

    fn charts_from_the_page(&self) -> &'static str {
        match self.machine {
            None => "benches/charts",
            Some(_) => "charts",
        }
    }
}

/// The path of another machine's page in the repository.
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
        for machine in [None, Some(Name("zen4".into()))] {
            let place = Place::of(machine).unwrap();
            let page = place.page();
            let folder = page.parent().unwrap();
            let image = place.image("Title", "chart.svg");
            let chart = image
                .strip_prefix("![Title](")
                .and_then(|image| image.strip_suffix(')'))
                .unwrap();
            assert_eq!(folder.join(chart), place.charts().join("chart.svg"));

            let depth = folder.strip_prefix(&place.root).unwrap().iter().count();
            let up = "../".repeat(depth);
            assert_eq!(
                place.link("ARCHITECTURE.md"),
                format!("{up}ARCHITECTURE.md")
            );
        }
    }
}
