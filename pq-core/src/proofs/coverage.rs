//! Every kernel and every method of a backend has a row in a table of README.md, with tests that exist, that are not
//! ignored and that run the kernel, or with the reason why there are none. And every algorithm of the standards stands
//! by its number where it is implemented, or where somebody would look for it.

extern crate alloc;
extern crate std;

use alloc::collections::{BTreeMap, BTreeSet};
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

/// The traits in a file's text and the types that implement them: (`Kernel<B>`, `Ntt<'_, R>`). Also in functions, in
/// macros and without parameters.
fn implementations(text: &str) -> impl Iterator<Item = (String, String)> {
    let lines = text
        .match_indices('\n')
        .map(|(i, _)| text[i + 1..].trim_start_matches(' '));
    let heads = lines.filter_map(|line| line.strip_prefix("impl"));
    heads.filter_map(|rest| {
        let (head, _) = rest.split_once('{')?;
        // rustfmt breaks long lines
        let words: Vec<_> = head.split_whitespace().collect();
        let head = words.join(" ");
        let (implemented, of) = head.split_once(" for ")?;
        let start = implemented.rfind("> ").map_or(0, |i| i + 2);
        Some((implemented[start..].trim().into(), of.into()))
    })
}

/// A file's text without its unit tests, which end it.
fn without_tests(text: &str) -> &str {
    let tests = ["\n#[cfg(test)]\nmod ", "\n#[cfg(all(test"];
    let ends = tests.into_iter().filter_map(|tests| text.find(tests));
    &text[..ends.min().unwrap_or(text.len())]
}

/// The kernels in the sources, by their paths below `kernel`, wherever else they are by their paths in the crate.
fn kernels() -> BTreeSet<String> {
    let mut kernels = BTreeSet::new();
    for file in files(&sources()) {
        let below = file.strip_prefix(sources()).unwrap();
        if below.starts_with("proofs") {
            continue;
        }
        let module = below.strip_prefix("kernel").unwrap_or(below);
        let module = module.with_extension("");
        let module = module.iter().map(|part| part.to_str().unwrap());
        let module: String = module
            .filter(|part| *part != "mod")
            .map(|part| format!("{part}::"))
            .collect();
        let text = fs::read_to_string(&file).unwrap();
        for (implemented, of) in implementations(without_tests(&text)) {
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

/// The text of the module of a test, its tests included.
fn text_of(module: &str) -> Option<String> {
    let file = module.trim_end_matches("::tests").replace("::", "/");
    [format!("{file}.rs"), format!("{file}/mod.rs")]
        .into_iter()
        .find_map(|file| fs::read_to_string(sources().join(file)).ok())
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bodies of all functions and macros in a text, by name. Brackets in strings come in pairs.
fn functions(text: &str) -> BTreeMap<&str, String> {
    let mut functions = BTreeMap::<_, String>::new();
    for head in ["fn ", "macro_rules! "] {
        for (start, _) in text.match_indices(head) {
            let rest = &text[start + head.len()..];
            let name = rest.split(|c| !is_in_name(c)).next().unwrap();
            let mut depth = 0;
            let end = rest.char_indices().find(|(_, c)| {
                depth += match c {
                    '{' | '(' | '[' => 1,
                    '}' | ')' | ']' => -1,
                    _ => 0,
                };
                (depth, *c) == (0, '}') || (depth, *c) == (0, ';')
            });
            let body = &rest[..end.map_or(rest.len(), |(i, _)| i)];
            functions.entry(name).or_default().push_str(body);
        }
    }
    functions
}

/// The names in the body of a test and of all functions of its file that it can call.
fn names_reached<'t>(functions: &'t BTreeMap<&str, String>, test: &'t str) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let mut left = alloc::vec![test];
    while let Some(name) = left.pop() {
        if names.insert(name)
            && let Some(body) = functions.get(name)
        {
            left.extend(body.split(|c| !is_in_name(c)));
        }
    }
    names
}

/// A test that has become empty, or tries another kernel, shows nothing of the one in its row. Tests run a kernel
/// themselves, or through another kernel of the row, whose file names it.
#[test]
fn every_kernel_is_run_by_a_test_of_its_row() {
    let name_of = |kernel: &'static str| kernel.rsplit("::").next().unwrap();
    let [rows, _] = rows();
    for (of, shown) in rows {
        let reached: Vec<_> = code(shown)
            .map(|test| {
                let (module, test) = test.rsplit_once("::").unwrap();
                let text = text_of(module).unwrap();
                let functions = functions(&text);
                let names = names_reached(&functions, test);
                names.into_iter().map(String::from).collect::<BTreeSet<_>>()
            })
            .collect();
        let is_reached = |kernel| reached.iter().any(|names| names.contains(name_of(kernel)));
        for kernel in code(of) {
            let through_others = || {
                code(of).filter(|other| is_reached(other)).any(|other| {
                    let (module, _) = other.rsplit_once("::").unwrap();
                    let text = text_of(&format!("kernel::{module}")).unwrap();
                    let mut names = text.split(|c| !is_in_name(c));
                    names.any(|name| name == name_of(kernel))
                })
            };
            let is_run = is_reached(kernel) || through_others();
            assert!(is_run, "no test in the row of {kernel} uses it: {shown}");
        }
    }
}

/// The numbers of the algorithms that a text names, by the numbers of their standards. `standard` is meant where the
/// text names none.
fn algorithms(text: &str, standard: usize) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    let comment = ["///", "//!", "//"];
    let words: Vec<_> = text
        .split_whitespace()
        .filter(|word| !comment.contains(word))
        .collect();
    let number = |word: &str| {
        let digits = word.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<usize>().ok()
    };
    let mut meant = standard;
    for (i, word) in words.iter().enumerate() {
        let word = word.trim_start_matches('(');
        if word == "FIPS"
            && let Some(n) = words.get(i + 1).and_then(|word| number(word))
        {
            meant = n;
        }
        if ["algorithm", "algorithms"].contains(&&*word.to_lowercase()) {
            let (mut last, mut is_range) = (None, false);
            for word in &words[i + 1..] {
                match (*word, number(word)) {
                    ("and" | "or", _) => {}
                    ("to", _) => is_range = true,
                    (_, Some(n)) => {
                        let first = last.filter(|_| is_range).unwrap_or(n);
                        found.extend((first..=n).map(|n| (meant, n)));
                        (last, is_range) = (Some(n), false);
                    }
                    _ => break,
                }
            }
        }
        if word.ends_with([')', '.']) {
            meant = standard;
        }
    }
    found
}

/// Readers of FIPS 203, 204 and 205 find each algorithm by its number.
#[test]
fn every_algorithm_of_the_standards_stands_where_it_is_implemented() {
    let mut found = BTreeSet::new();
    for file in files(&sources()) {
        let module = file.strip_prefix(sources()).unwrap().with_extension("");
        if module.starts_with("proofs") {
            continue;
        }
        let standards = [("ml_kem", 203), ("ml_dsa", 204), ("slh_dsa", 205)];
        let own = standards
            .into_iter()
            .find(|(name, _)| module.iter().any(|part| part == *name));
        let text = fs::read_to_string(&file).unwrap();
        found.append(&mut algorithms(
            &text,
            own.map_or(0, |(_, standard)| standard),
        ));
    }
    for (standard, last) in [(203, 21), (204, 49), (205, 25)] {
        for n in 1..=last {
            let stands = found.contains(&(standard, n));
            assert!(
                stands,
                "FIPS {standard}, algorithm {n} stands nowhere: say where its work is done"
            );
        }
    }
}

#[test]
fn numbers_of_algorithms_are_found() {
    let text = "
/// Of the standard (algorithms 3 to 5, and FIPS
/// 203, algorithm 9, step 7). Algorithm 12.
";
    let expected = [(203, 9), (204, 3), (204, 4), (204, 5), (204, 12)];
    assert!(algorithms(text, 204).into_iter().eq(expected));
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
            let text = text_of(module).unwrap_or_else(|| panic!("{of}: there is no {module}"));
            let found = text.split("#[test]\n").skip(1).any(|after| {
                let (before, _) = after.split_once("fn ").unwrap_or((after, ""));
                let is_it = after[before.len()..].starts_with(&format!("fn {name}() {{"));
                // those that README.md has a command for may be ignored
                is_it && (!before.contains("#[ignore") || before.contains("has the command"))
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

    impl Kernel<Portable> for Plain {
    }
";
    let found: Vec<_> = implementations(text).collect();
    let expected = [
        ("Kernel<B>", "Short<'_>"),
        ("Kernel<B>", "Long<'_, F> where F: Fn(usize) -> &'t u8,"),
        ("fmt::Debug", "Other<V>"),
        ("Kernel<Portable>", "Plain"),
    ];
    assert_eq!(
        found,
        expected.map(|(implemented, of)| (implemented.into(), of.into()))
    );
    assert!(kernels().contains("ml_kem::multiplication::InnerProduct"));
}
