//! What follows from all machines' pages: `BENCHMARKS.md`, README's figures, and how old each page is.
//!
//! It depends only on the pages and the sources, so it can be checked. Uses [`page`](crate::page) to read
//! pages, and [`goals`](crate::goals).

mod pages;
mod readme;

use core::error::Error;
use core::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use benches::sources;

use self::pages::{OLDER, Page};
use crate::goals::class::Class;
use crate::goals::handshakes::ASKED;
use crate::goals::operations::{NAMED, asked};
use crate::goals::verdict;
use crate::page::goals::{read_handshake, read_operation};
use crate::place::{HANDSHAKES, OVERVIEW, README};

/// A file, and the text that it should have.
struct Wanted {
    /// Its path in the repository.
    path: String,
    file: PathBuf,
    text: String,
}

impl Wanted {
    fn is_there(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|text| text == self.text)
    }
}

/// All pages of a repository as they should be with its sources.
///
/// # Errors
///
/// If sources or pages can't be read.
fn wanted(root: &Path) -> Result<Vec<Wanted>, Box<dyn Error>> {
    let sources = sources::hash(root)?;
    let pages = pages::find(root)?;
    let newest = newest(&pages).ok_or("no machine has a page with handshakes")?;
    let readme = fs::read_to_string(root.join(README))?;
    let all = [
        (OVERVIEW.to_owned(), overview(&pages, &sources)?),
        (HANDSHAKES.to_owned(), readme::chart(newest).svg()?),
        (
            README.to_owned(),
            readme::with_figures(&readme, newest, &sources)?,
        ),
    ];
    let wanted = pages
        .iter()
        .map(|page| (page.path(), page.dated(&sources)))
        .chain(all)
        .map(|(path, text)| Wanted {
            file: root.join(&path),
            path,
            text,
        });
    Ok(wanted.collect())
}

/// Writes on every page how old it is.
///
/// # Errors
///
/// If sources or pages can't be read, or pages can't be written.
pub(crate) fn write(root: &Path) -> Result<(), Box<dyn Error>> {
    for wanted in wanted(root)? {
        if !wanted.is_there() {
            fs::write(wanted.file, wanted.text)?;
            println!("written: {}", wanted.path);
        }
    }
    Ok(())
}

/// The pages that are not as they should be with the sources.
///
/// # Errors
///
/// If sources or pages can't be read.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let stale = wanted(root)?
        .into_iter()
        .filter(|wanted| !wanted.is_there());
    Ok(stale.map(|wanted| wanted.path).collect())
}

/// The latest page that has README's figures.
fn newest(pages: &[Page]) -> Option<&Page> {
    let complete = pages.iter().filter(|page| readme::is_complete(page));
    complete.rev().max_by(|a, b| a.date.cmp(&b.date))
}

/// The page whose figures stand for a class.
fn of_class(pages: &[Page], class: Class) -> Option<&Page> {
    pages.iter().find(|page| page.class == class)
}

fn overview(pages: &[Page], sources: &str) -> Result<String, Box<dyn Error>> {
    let mut overview = String::new();
    let shown = Class::ALL
        .into_iter()
        .filter_map(|class| of_class(pages, class));
    if shown.into_iter().any(|page| page.is_older(sources)) {
        writeln!(
            overview,
            "{OLDER}The table of machines says how old the figures are.\n"
        )?;
    }
    overview.push_str(
        "\
# Benchmarks

Every operation and whole TLS handshakes, compared with other implementations. Machines differ from
day to day, so each class of CPUs has its goals. The figures of a class come from its machine that was
measured last. Each machine has a page with all tables and charts.
[benches/README.md](benches/README.md) says what is measured and how, and how a page is written.

| class | CPUs | machine | CPU | measured | code |
|---|---|---|---|---|---|
",
    );
    for class in Class::ALL {
        let mut heading = format!("{class} | {}", class.cpus());
        for page in pages.iter().filter(|page| page.class == class) {
            let Page {
                name, cpu, date, ..
            } = page;
            let code = match page.is_older(sources) {
                true => "has changed since",
                false => "as it is",
            };
            writeln!(
                overview,
                "| {heading} | [{name}]({}) | {cpu} | {date} | {code} |",
                page.path()
            )?;
            heading = " | ".to_owned();
        }
        if of_class(pages, class).is_none() {
            writeln!(overview, "| {heading} | none yet | – | – | – |")?;
        }
    }

    let asked_of: Vec<_> = Class::ALL
        .into_iter()
        .filter(|class| class.column().is_some())
        .collect();
    let headings = |overview: &mut String, what: &str| {
        write!(overview, "\n| {what} ")?;
        for class in &asked_of {
            write!(overview, "| {class}: goal | measured ")?;
        }
        writeln!(overview, "|\n|---{}|", "|---|---".repeat(asked_of.len()))
    };

    overview.push_str(
        "
## Goals and measurements

The ratio of the fastest peer's time to ours, in one run. The machines' pages have the other parameter
sets and operations, and batches, whose goal is nearly all that their permutations allow.
",
    );
    headings(&mut overview, "operation")?;
    for asked in asked().filter(|asked| NAMED.contains(&(asked.set, asked.operation))) {
        write!(overview, "| {} ", asked.what())?;
        for &class in &asked_of {
            let page = of_class(pages, class);
            let measured = page.and_then(|page| read_operation(&page.text, &asked.what()));
            let ratio = asked.ratio(class).unwrap_or(1.0);
            let verdict = verdict(measured, measured >= Some(ratio));
            write!(overview, "| ≥ {ratio:.2} | {verdict} ")?;
        }
        writeln!(overview, "|")?;
    }

    overview.push_str(
        "
For handshakes, the CPU time of client and server together, ours divided by the other's. Ours is over
graviola.
",
    );
    headings(&mut overview, "handshake")?;
    for asked in &ASKED {
        write!(overview, "| {} ", asked.what)?;
        for &class in &asked_of {
            let page = of_class(pages, class);
            let measured =
                page.and_then(|page| read_handshake(&page.text, &asked.ours(), &asked.other()));
            let part = asked.part(class).unwrap_or(1.0);
            let is_met = measured.is_some_and(|measured| measured <= part);
            write!(overview, "| ≤ {part:.2} | {} ", verdict(measured, is_met))?;
        }
        writeln!(overview, "|")?;
    }
    Ok(overview)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::place::page_of;

    /// This repository's pages, a line of code in each folder, and empty manifests.
    fn repository() -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        let to = |path: &str| {
            let file = copy.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            file
        };
        for folder in sources::FOLDERS {
            fs::write(to(&format!("{folder}/lib.rs")), "const Q: u32 = 3329;").unwrap();
        }
        for manifest in sources::MANIFESTS.into_iter().chain([sources::WORKSPACE]) {
            fs::write(to(manifest), "").unwrap();
        }
        let here = sources::repository();
        fs::copy(here.join(README), to(README)).unwrap();
        to(HANDSHAKES);
        for page in pages::find(here).unwrap() {
            fs::copy(here.join(page.path()), to(&page.path())).unwrap();
        }
        write(copy.path()).unwrap();
        copy
    }

    /// Fails if the code has changed and a page doesn't say so. To mend it:
    /// `cargo run -p benches --bin report -- --date-pages`.
    #[test]
    fn pages_say_how_old_they_are() {
        let stale = stale(sources::repository()).unwrap();
        assert!(
            stale.is_empty(),
            "older than the code, but don't say so: {stale:?}"
        );
    }

    #[test]
    fn a_planted_change_is_found() {
        let repository = repository();
        let root = repository.path();
        assert!(stale(root).unwrap().is_empty());

        // A page of this code.
        let page = page_of("zen4");
        let text = fs::read_to_string(root.join(&page)).unwrap();
        let hash = sources::hash(root).unwrap();
        let lines = text.lines().skip(2).map(|line| match line {
            line if line.starts_with("| sources | ") => format!("| sources | {hash} |"),
            line => line.to_owned(),
        });
        let text: String = lines.map(|line| line + "\n").collect();
        fs::write(root.join(&page), &text).unwrap();
        write(root).unwrap();
        assert_eq!(fs::read_to_string(root.join(&page)).unwrap(), text);

        let code = root.join("pq-core/src/lib.rs");
        fs::write(&code, "const Q: u32 = 3329; // with a reason").unwrap();
        assert!(stale(root).unwrap().is_empty());
        fs::write(&code, "const Q: u32 = 8380417;").unwrap();
        let stale_pages = stale(root).unwrap();
        assert!(stale_pages.contains(&page), "{stale_pages:?}");
        assert!(
            stale_pages.contains(&OVERVIEW.to_owned()),
            "{stale_pages:?}"
        );

        write(root).unwrap();
        assert!(stale(root).unwrap().is_empty());
        let text = fs::read_to_string(root.join(&page)).unwrap();
        assert!(
            text.starts_with("**Older than the code.** Measured on "),
            "{text}"
        );
    }

    /// A partial run once wrote such a page.
    #[test]
    fn a_page_without_handshakes_gives_readme_no_figures() {
        let repository = repository();
        let root = repository.path();
        let readme = || fs::read_to_string(root.join(README)).unwrap();
        let before = readme();
        let text = fs::read_to_string(root.join(page_of("zen4"))).unwrap();
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("| rustls-pq/graviola, "))
            .map(|line| match line.starts_with("| date |") {
                true => "| date | 2100-01-01 |\n".to_owned(),
                false => format!("{line}\n"),
            });
        let page = root.join(page_of("newer"));
        fs::create_dir_all(page.parent().unwrap()).unwrap();
        fs::write(page, lines.collect::<String>()).unwrap();
        write(root).unwrap();
        assert_eq!(readme(), before);
    }

    #[test]
    fn a_first_line_that_is_taken_away_is_found() {
        let repository = repository();
        let root = repository.path();
        let page = page_of("zen4");
        let text = fs::read_to_string(root.join(&page)).unwrap();
        let (_, rest) = text.split_once("\n\n").unwrap();
        fs::write(root.join(&page), rest).unwrap();
        assert_eq!(stale(root).unwrap(), [page]);
    }
}
