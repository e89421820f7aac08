//! The pages of other machines than the reference one, and the list of them on its page.

use std::path::Path;
use std::{fs, io};

use crate::page::environment;
use crate::place::page_of;

/// Another machine's page.
#[derive(Debug)]
pub(crate) struct Other {
    name: String,
    cpu: String,
    date: String,
}

/// The pages in the folder of all machines, by their names.
///
/// # Errors
///
/// If a page can't be read, or doesn't say what it was measured on and when.
pub(crate) fn find(machines: &Path) -> io::Result<Vec<Other>> {
    let folders = match fs::read_dir(machines) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folders => folders?,
    };
    let mut others = Vec::new();
    for folder in folders {
        let folder = folder?;
        let file = folder.path().join("README.md");
        if !file.exists() {
            continue;
        }
        let page = fs::read_to_string(&file)?;
        let value = |what| {
            let value = environment::read(&page, what).map(str::to_owned);
            value.ok_or_else(|| io::Error::other(format!("{}: no {what}", file.display())))
        };
        others.push(Other {
            name: folder.file_name().to_string_lossy().into_owned(),
            cpu: value(environment::CPU)?,
            date: value(environment::DATE)?,
        });
    }
    others.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(others)
}

const HEADING: &str = "\n## Other machines\n";

/// The reference machine's page with a list of these others, in place of the one that it has;
/// without a list, if there are none.
pub(crate) fn listed(page: &str, others: &[Other]) -> String {
    let (head, rest) = page.split_at(next_section(page, 0));
    let rest = match rest.starts_with(HEADING) {
        true => &rest[next_section(rest, HEADING.len())..],
        false => rest,
    };
    format!("{head}{}{rest}", list(others))
}

fn list(others: &[Other]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let rows: String = others
        .iter()
        .map(|Other { name, cpu, date }| {
            format!("| [{name}]({}) | {cpu} | {date} |\n", page_of(name))
        })
        .collect();
    format!(
        "{HEADING}
This page is about the CPU that ratios are asked of. The same tables of others:

| machine | CPU | date |
|---|---|---|
{rows}"
    )
}

/// Where the first section begins that is not before `from`; else the end of the page.
fn next_section(page: &str, from: usize) -> usize {
    page[from..]
        .find("\n## ")
        .map_or(page.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str) -> Other {
        Other {
            name: name.into(),
            cpu: "CPU".into(),
            date: "2026-11-21".into(),
        }
    }

    const PAGE: &str = "# Benchmarks\n\n| date | today |\n\n## Goals\n\nAll.\n\n## More\n";

    #[test]
    fn the_list_is_the_first_section() {
        let page = listed(PAGE, &[other("zen4")]);
        let row = "| [zen4](benches/machines/zen4/README.md) | CPU | 2026-11-21 |\n\n## Goals\n";
        assert!(page.starts_with("# Benchmarks\n\n| date | today |\n\n## Other machines\n\n"));
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn a_list_takes_the_place_of_the_one_before() {
        let before = listed(PAGE, &[other("zen4")]);
        let others = [other("skylake"), other("zen4")];
        assert_eq!(listed(&before, &others), listed(PAGE, &others));
        assert_eq!(listed(&before, &[]), PAGE);
        assert_eq!(listed(PAGE, &[]), PAGE);
    }

    #[test]
    fn pages_say_what_they_are_of() {
        let machines = tempfile::tempdir().unwrap();
        let missing = machines.path().join("missing");
        assert!(find(&missing).unwrap().is_empty());

        let write = |name: &str, page: &str| {
            let folder = machines.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("README.md"), page).unwrap();
        };
        write(
            "b",
            "# B\n\n| CPU | one of B's; one core |\n| date | 2026-11-21 |\n",
        );
        write("a", "# A\n\n| CPU | one of A's |\n| date | 2026-11-22 |\n");
        fs::create_dir(machines.path().join("no page")).unwrap();
        let page = listed(PAGE, &find(machines.path()).unwrap());
        let rows = "| [a](benches/machines/a/README.md) | one of A's | 2026-11-22 |\n\
                    | [b](benches/machines/b/README.md) | one of B's; one core | 2026-11-21 |\n";
        assert!(page.contains(rows), "{page}");

        write("c", "# C\n");
        find(machines.path()).unwrap_err();
    }
}
