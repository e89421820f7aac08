//! What memcheck reports, and where this is in pq-core.

use core::error::Error;
use core::{fmt, iter};
use std::fs;
use std::path::Path;

/// A function of pq-core, or of the program that runs it, in which a branch or an address depends on a
/// secret.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Site {
    /// Relative to `pq-core/src`; files of the program start with `program/`.
    pub(crate) file: String,
    /// As in `Step::run`, without type parameters. The module is that of the file.
    pub(crate) function: String,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.function, self.file)
    }
}

/// The folders whose functions are sites: their paths in debug information, and the prefix of
/// their files' names in a [`Site`].
const FOLDERS: [(&str, &str); 2] = [
    ("pq-core/src/", ""),
    ("tests/evidence/shipped-code/program/src/", "program/"),
];

/// The sites of memcheck's errors, each once, sorted; `root` is the root of the workspace.
///
/// Inlined functions count as functions: they have lines in the debug information. Code that many functions use
/// counts for its caller: functions outside these folders, such as `memcpy` or a method of a
/// slice, and functions of `arch`, which do not know what they are used for.
///
/// # Errors
///
/// If there is an error of another kind or one with no site in the folders, or if the end of the report is
/// missing.
pub(crate) fn sites(xml: &str, root: &Path) -> Result<Vec<Site>, Box<dyn Error>> {
    if !xml.trim_end().ends_with("</valgrindoutput>") {
        return Err("valgrind's report has no end".into());
    }
    let mut sites = Vec::new();
    for error in elements(xml, "error") {
        let kind = element(error, "kind").unwrap_or_default();
        if !["UninitCondition", "UninitValue"].contains(&kind) {
            return Err(format!("{kind} is not about constant time:\n{error}").into());
        }
        let stack = element(error, "stack").unwrap_or_default();
        let site = elements(stack, "frame").find_map(|frame| site(frame, root));
        sites.push(site.ok_or_else(|| format!("outside of pq-core:\n{stack}"))?);
    }
    sites.sort();
    sites.dedup();
    Ok(sites)
}

/// The site of a stack frame. Instructions that belong to several lines have line 0, and count for their caller.
fn site(frame: &str, root: &Path) -> Option<Site> {
    let path = format!("{}/{}", element(frame, "dir")?, element(frame, "file")?);
    if path.contains("pq-core/src/arch/") {
        return None;
    }
    let (start, (folder, prefix)) = FOLDERS
        .iter()
        .find_map(|folder| Some((path.find(folder.0)?, *folder)))?;
    let line = element(frame, "line")?
        .parse()
        .ok()
        .filter(|line| *line > 0)?;
    let path = &path[start..];
    let source = fs::read_to_string(root.join(path)).ok()?;
    Some(Site {
        file: format!("{prefix}{}", &path[folder.len()..]),
        function: enclosing_function(&source, line)?,
    })
}

/// The function that contains a line (counted from 1) or begins in it, after the type
/// whose method it is. A closure is part of its function. The source must be formatted by rustfmt.
///
/// `None` if no function contains the line, or if a macro names the function.
fn enclosing_function(source: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = source.lines().take(line).collect();
    if lines.len() < line {
        return None;
    }
    let at = enclosing(&lines, |line| declared(line).is_some())?;
    let name = declared(lines[at]).filter(|name| !name.is_empty())?;
    let header = enclosing(&lines[..=at], |line| line.trim_start().starts_with("impl"));
    match header {
        None => Some(name.into()),
        Some(header) => {
            let header = lines[header..].iter().map(|line| line.trim());
            let header = Vec::from_iter(header.take_while(|line| !line.starts_with("where")));
            let header = header.join(" ");
            let header = header.split('{').next()?;
            let own = header.rsplit(" for ").next()?.trim_start_matches("impl");
            Some(format!("{}::{name}", plain_name(own)?))
        }
    }
}

/// The last line, or the nearest line above it with less indentation than all between them, for which `is_sought`
/// holds.
fn enclosing(lines: &[&str], is_sought: impl Fn(&str) -> bool) -> Option<usize> {
    let (last, before) = lines.split_last()?;
    if is_sought(last) {
        return Some(before.len());
    }
    let mut indent = indentation(last);
    for (i, line) in before.iter().enumerate().rev() {
        // lines of a function's head with the same indentation as its first line
        let start = line.trim_start();
        if start.is_empty()
            || start.starts_with(['{', ')', ']', '#', '/'])
            || start.starts_with("where")
        {
            continue;
        }
        if indentation(line) < indent {
            if is_sought(line) {
                return Some(i);
            }
            indent = indentation(line);
        }
    }
    None
}

/// The name of the function whose declaration begins in this line; empty if a macro names it.
fn declared(line: &str) -> Option<&str> {
    let (qualifiers, rest) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        ["pub", "const", "unsafe", "extern"].contains(&word) || word.starts_with("pub(")
    };
    if !qualifiers.split_whitespace().all(is_qualifier) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name without path and type parameters: `take` for `pq_core::hash::take<T>`. `None` for closures.
fn plain_name(name: &str) -> Option<String> {
    let mut plain = String::new();
    let mut depth = 0;
    for c in name.trim().chars() {
        depth += i32::from(c == '<');
        if depth == 0 {
            plain.push(c);
        }
        depth -= i32::from(c == '>');
    }
    let plain = plain.trim().trim_end_matches("::").rsplit("::").next()?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    (!plain.is_empty() && plain.chars().all(is_name)).then(|| plain.into())
}

/// The text between the first pair of tags.
fn element<'a>(xml: &'a str, tag: &str) -> Option<&'a str> {
    elements(xml, tag).next()
}

/// The text between each pair of tags; the tags must not be nested.
fn elements<'a>(xml: &'a str, tag: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = xml;
    iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (inner, after) = after.split_once(&close)?;
        rest = after;
        Some(inner)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Site, enclosing_function, sites};

    const SOURCE: &str = "\
impl<P: A<u8>> B for a::X<P> {
    /// Does.
    pub(crate) const fn outer<T>(
        &self,
        more: &[u8],
    ) -> bool
    where
        T: Copy,
    {
        fn inner(x: u8) -> u8 {
            x + 1
        }

        for byte in more {
            let f = |x| {
                x & 1 == *byte
            };
        }
        true
    }

    fn next(&self) {}
}

pub(crate) fn free() {
    look();
}

macro_rules! methods {
    () => {
        fn $name() {
            look();
        }
    };
}

impl<P, B: Backend> Client
    for Signing<'_, P, B>
where
    P: Set,
{
    fn take(&mut self) {
        look();
    }
}
";

    #[test]
    fn functions_enclose_their_lines() {
        let function = |line| enclosing_function(SOURCE, line);
        assert_eq!(function(2), None);
        for line in [3, 4, 14, 16, 19] {
            assert_eq!(function(line).as_deref(), Some("X::outer"), "{line}");
        }
        for line in [10, 11] {
            assert_eq!(function(line).as_deref(), Some("X::inner"), "{line}");
        }
        assert_eq!(function(22).as_deref(), Some("X::next"));
        assert_eq!(function(26).as_deref(), Some("free"));
        assert_eq!(function(32), None);
        assert_eq!(function(43).as_deref(), Some("Signing::take"));
        assert_eq!(function(99), None);
    }

    fn report(kind: &str, frames: &str) -> String {
        format!(
            "<valgrindoutput>\n<error><kind>{kind}</kind><stack>{frames}</stack>\
             <stack><frame><fn>origin</fn></frame></stack></error>\n</valgrindoutput>\n"
        )
    }

    fn frame(path: &str, line: usize) -> String {
        let (dir, file) = path.rsplit_once('/').unwrap();
        format!("<frame><ip>0x1</ip><dir>{dir}</dir><file>{file}</file><line>{line}</line></frame>")
    }

    /// Frames without a line, outside of functions, and of shared code are skipped.
    #[test]
    fn sites_are_the_innermost_functions() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
        let program = "tests/evidence/shipped-code/program/src/planted.rs";
        let source = std::fs::read_to_string(root.join(program)).unwrap();
        let line = 1 + source
            .lines()
            .position(|line| line.contains("fn index"))
            .unwrap();
        let ours = frame(&format!("/x/{program}"), line + 1);
        let no_function = frame(&format!("/x/{program}"), 1);
        let no_line = frame("/x/pq-core/src/hash/lanes/slot.rs", 0);
        let other = frame("library/core/src/slice/index.rs", 5);
        let arch = frame("/x/pq-core/src/arch/packing.rs", 60);
        let found = |frames: &[&str]| sites(&report("UninitValue", &frames.concat()), root);
        let site = Site {
            file: "program/planted.rs".into(),
            function: "index".into(),
        };
        let stack = [&*other, &arch, &no_line, &no_function, &ours];
        assert_eq!(found(&stack).unwrap(), [site]);
        assert!(found(&stack[..4]).is_err());
    }

    #[test]
    fn other_errors_and_no_end_are_refused() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = root.join("../../..");
        let program = "tests/evidence/shipped-code/program/src/planted.rs";
        let source = std::fs::read_to_string(root.join(program)).unwrap();
        let in_function = |line: &str| line.contains("black_box(secret)");
        let line = 1 + source.lines().position(in_function).unwrap();
        let frames = frame(&format!("/x/{program}"), line);
        assert!(sites(&report("UninitCondition", &frames), &root).is_ok());
        assert!(sites(&report("InvalidRead", &frames), &root).is_err());
        let cut_off = report("UninitCondition", &frames).replace("</valgrindoutput>", "");
        assert!(sites(&cut_off, &root).is_err());
        assert_eq!(
            sites("<valgrindoutput></valgrindoutput>", &root).unwrap(),
            []
        );
    }
}
