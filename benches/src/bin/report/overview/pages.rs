//! The pages of all machines, and what each says about its figures.

use std::path::Path;
use std::{fs, io};

use crate::goals::class::Class;
use crate::page::environment::{self, CLASS, CPU, DATE, SOURCES};
use crate::place::{MACHINES, page_of};

/// A machine's page.
#[derive(Debug)]
pub(crate) struct Page {
    /// The machine's name.
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) cpu: String,
    pub(crate) date: String,
    /// The hash of the measured sources; on pages older than these hashes, the commit.
    pub(crate) sources: String,
    /// The current text of the page.
    pub(crate) text: String,
}

/// The beginning of the first line of a page that is older than the code.
pub(super) const OLDER: &str = "**Older than the code.** ";

impl Page {
    /// Whether other sources than these were measured.
    pub(crate) fn is_older(&self, sources: &str) -> bool {
        self.sources != sources
    }

    /// The text that the page should have with these sources: its first line says how old it is, if the
    /// sources have changed.
    pub(crate) fn dated(&self, sources: &str) -> String {
        let text = match self.text.split_once("\n\n") {
            Some((first, rest)) if first.starts_with(OLDER) => rest,
            _ => &self.text,
        };
        if !self.is_older(sources) {
            return text.to_owned();
        }
        let Self { date, sources, .. } = self;
        format!(
            "{OLDER}Measured on {date} with sources {sources}; they have changed since.\n\n{text}"
        )
    }

    /// Its path in the repository.
    pub(crate) fn path(&self) -> String {
        page_of(&self.name)
    }

    /// Reads a page.
    ///
    /// # Errors
    ///
    /// If the page doesn't say what was measured, where and when.
    fn read(name: String, text: String) -> io::Result<Self> {
        let value = |what| {
            let value = environment::read(&text, what);
            value.ok_or_else(|| io::Error::other(format!("{}: no {what}", page_of(&name))))
        };
        let class = value(CLASS)?;
        let Some(class) = Class::named(class) else {
            let page = page_of(&name);
            return Err(io::Error::other(format!("{page}: unknown class {class}")));
        };
        Ok(Self {
            class,
            cpu: value(CPU)?.to_owned(),
            date: value(DATE)?.to_owned(),
            sources: value(SOURCES)?.to_owned(),
            name,
            text,
        })
    }
}

/// All pages: those of a class together, the newest first.
///
/// # Errors
///
/// If a page can't be read, or doesn't say what was measured, where and when.
pub(crate) fn find(root: &Path) -> io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    for folder in fs::read_dir(root.join(MACHINES))? {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        match fs::read_to_string(folder.path().join("README.md")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            text => pages.push(Page::read(name, text?)?),
        }
    }
    pages.sort_by(|a, b| {
        let class = |page: &Page| Class::ALL.iter().position(|class| *class == page.class);
        let by_class = class(a).cmp(&class(b));
        by_class
            .then_with(|| b.date.cmp(&a.date))
            .then_with(|| a.name.cmp(&b.name))
    });
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ONE: &str = "0123456789abcdef";
    const OF_ANOTHER: &str = "fedcba9876543210";

    fn text() -> String {
        let rows = [
            (CPU, "a CPU; one core"),
            (CLASS, "halved AVX-512"),
            (SOURCES, OF_ONE),
            (DATE, "2026-11-23"),
        ];
        let rows = rows.map(|(what, which)| environment::row(what, which));
        format!("# Benchmarks on zen4\n\n{}\n", rows.join("\n"))
    }

    fn page(text: String) -> Page {
        Page::read("zen4".into(), text).unwrap()
    }

    #[test]
    fn the_first_line_says_that_a_page_is_older() {
        assert_eq!(page(text()).dated(OF_ONE), text());
        let older = page(text()).dated(OF_ANOTHER);
        let first = "**Older than the code.** Measured on 2026-11-23 with sources \
                     0123456789abcdef; they have changed since.";
        assert_eq!(older.lines().next(), Some(first));
        assert!(older.ends_with(&text()));
    }

    #[test]
    fn the_first_line_is_written_once_and_goes_again() {
        let older = page(text()).dated(OF_ANOTHER);
        assert_eq!(page(older.clone()).dated(OF_ANOTHER), older);
        assert_eq!(page(older).dated(OF_ONE), text());
    }

    #[test]
    fn pages_say_what_they_are_of() {
        for what in [CPU, CLASS, SOURCES, DATE] {
            let text = text().replace(&format!("| {what} "), "| other ");
            let error = Page::read("zen4".into(), text).unwrap_err().to_string();
            assert_eq!(error, format!("benches/machines/zen4/README.md: no {what}"));
        }
        let text = text().replace("halved AVX-512", "abacus");
        Page::read("zen4".into(), text).unwrap_err();
    }

    #[test]
    fn the_newest_of_a_class_is_the_first() {
        let root = tempfile::tempdir().unwrap();
        for (name, class, date) in [
            ("a", "halved AVX-512", "2026-11-20"),
            ("b", "halved AVX-512", "2026-11-23"),
            ("c", "halved AVX-512", "2026-11-23"),
            ("d", "full-width AVX-512", "2026-11-19"),
        ] {
            let folder = root.path().join(MACHINES).join(name);
            fs::create_dir_all(&folder).unwrap();
            let text = text().replace("halved AVX-512", class);
            fs::write(folder.join("README.md"), text.replace("2026-11-23", date)).unwrap();
        }
        fs::create_dir(root.path().join(MACHINES).join("no page")).unwrap();
        let pages = find(root.path()).unwrap();
        let names: Vec<_> = pages.iter().map(|page| &page.name[..]).collect();
        assert_eq!(names, ["d", "b", "c", "a"]);
    }
}
