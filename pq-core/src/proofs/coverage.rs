//! Every kernel and every method of a backend has a row in a table of README.md, with tests that exist or with
//! the reason why there are none.

extern crate alloc;
extern crate std;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::fs;
use std::path::{Path, PathBuf};

const TABLES: &str = include_str!("README.md");

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a folder and of its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            alloc::vec![path]
        }
    };
    entries.flat_map(of).collect()
}

/// The traits in a file's text and the types that implement them: (`Kernel<B>`, `Ntt<'_, R>`).
fn implementations(text: &str) -> impl Iterator<Item = (String, String)> {
    let heads = text.split("\nimpl<").skip(1);
    heads.filter_map(|rest| {
        let (head, _) = rest.split_once('{')?;
        // rustfmt breaks long lines
        let words: Vec<_> = head.split_whitespace().collect();
        let head = words.join(" ");
        let (implemented, of) = head.split_once(" for ")?;
        let start = implemented.rfind("> ").map_or(0, |i| i + 2);
        Some((implemented[start..].into(), of.into()))
    })
}

/// The kernels in the sources, by their paths below `kernel`.
fn kernels() -> BTreeSet<String> {
    let mut kernels = BTreeSet::new();
    let folder = sources().join("kernel");
    for file in files(&folder) {
        let module = file.strip_prefix(&folder).unwrap().with_extension("");
        let module = module.iter().map(|part| part.to_str().unwrap());
        let module: String = module
            .filter(|part| *part != "mod")
            .map(|part| format!("{part}::"))
            .collect();
        let text = fs::read_to_string(&file).unwrap();
        for (implemented, of) in implementations(&text) {
            if implemented.starts_with("Kernel<") || implemented.starts_with("Permuting<") {
                let (name, _) = of.split_once('<').unwrap_or((&of, ""));
                kernels.insert(format!("{module}{name}"));
            }
        }
    }
    kernels
}

/// The texts between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The methods of the traits that a backend implements.
fn methods() -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for file in ["arch/vectors.rs", "arch/backend.rs"] {
        let text = fs::read_to_string(sources().join(file)).unwrap();
        for part in text.split("\npub trait ").skip(1) {
            let (body, _) = part.split_once("\n}").unwrap_or((part, ""));
            let end_of_name = |c: char| !c.is_alphanumeric() && c != '_';
            let name = body.split(end_of_name).next().unwrap();
            for method in body.split("\n    fn ").skip(1) {
                let method = method.split(end_of_name).next().unwrap();
                methods.insert(format!("{name}::{method}"));
            }
        }
    }
    methods
}

/// The rows of the tables of kernels and of methods: the cell with the names, and the cell with the tests.
fn rows() -> [Vec<(&'static str, &'static str)>; 2] {
    let (of_kernels, of_methods) = TABLES.split_once("| method |").unwrap();
    [of_kernels, of_methods].map(|table| {
        let lines = table.lines().filter(|line| line.starts_with("| `"));
        let cells = lines.map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [_, of, _, shown, _] = cells[..] else {
                panic!("not three cells: {line}");
            };
            (of, shown)
        });
        cells.collect()
    })
}

/// Checks that the table has each name from the sources once, and no other names.
fn check_rows(in_sources: &BTreeSet<String>, rows: &[(&str, &str)]) {
    let in_table: Vec<_> = rows.iter().flat_map(|(of, _)| code(of)).collect();
    for name in &in_table {
        let known = in_sources.contains(*name);
        assert!(known, "there is no {name}: take it out of proofs/README.md");
    }
    for name in in_sources {
        let times = in_table.iter().filter(|row| *row == name).count();
        assert_eq!(times, 1, "rows of proofs/README.md for {name}");
    }
}

#[test]
fn every_kernel_stands_in_the_table() {
    let [rows, _] = rows();
    check_rows(&kernels(), &rows);
}

#[test]
fn every_method_stands_in_the_table() {
    let [_, rows] = rows();
    check_rows(&methods(), &rows);
}

/// Unless the row gives a reason.
#[test]
fn every_test_in_the_table_exists() {
    for (of, shown) in rows().concat() {
        if let Some(reason) = shown.strip_prefix("Not yet: ") {
            assert!(reason.len() > 20, "{of}: say why not");
            continue;
        }
        assert!(
            code(shown).next().is_some(),
            "{of}: name a test, or say why there is none"
        );
        for test in code(shown) {
            let (module, name) = test.rsplit_once("::").unwrap();
            let file = module.trim_end_matches("::tests").replace("::", "/");
            let text = [format!("{file}.rs"), format!("{file}/mod.rs")]
                .into_iter()
                .find_map(|file| fs::read_to_string(sources().join(file)).ok());
            let text = text.unwrap_or_else(|| panic!("{of}: there is no {module}"));
            let found = text.split("#[test]\n").skip(1).any(|after| {
                after
                    .lines()
                    .take(2)
                    .any(|line| line.trim() == format!("fn {name}() {{"))
            });
            assert!(found, "{of}: there is no test {test}");
        }
    }
}

/// Kernels are found, however rustfmt lays out the heads of their `impl` blocks.
#[test]
fn implementations_are_found() {
    let text = "
impl<B: Backend> Kernel<B> for Short<'_> {
}

impl<'t, B: Backend, F>
    Kernel<B> for Long<'_, F>
where
    F: Fn(usize) -> &'t u8,
{
}

impl<V: Debug> fmt::Debug for Other<V> {
}
";
    let found: Vec<_> = implementations(text).collect();
    let expected = [
        ("Kernel<B>", "Short<'_>"),
        ("Kernel<B>", "Long<'_, F> where F: Fn(usize) -> &'t u8,"),
        ("fmt::Debug", "Other<V>"),
    ];
    assert_eq!(
        found,
        expected.map(|(implemented, of)| (implemented.into(), of.into()))
    );
    assert!(kernels().contains("ml_kem::multiplication::InnerProduct"));
}
