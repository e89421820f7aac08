//! The page `docs/pqtls.md`, which is made from the help and from the output of the examples.

use core::fmt::Write;
use std::env;
use std::fs;

use crate::examples::{ALL, Shown};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pqtls.md");

const HEAD: &str = "\
# pqtls

Post-quantum keys and certificates from the command line. This page is made from the program's help; the
examples show what they printed when the page was made.

In place of a file, `-` is standard input or standard output. Only their owner can read files of private
keys. A file appears under its name when it is complete, and an existing file is left alone unless
`--force` is given; one that takes its place has the same owner, group and readers. A private key is only
replaced by a private key, so that no command is the end of one that it read. If a command fails, all files
are as they were. Colours are only for terminals, and `NO_COLOR` turns them off.

A CA's ledger records what was issued or revoked before it is printed or written. If something fails
afterwards, `pqtls ca show` writes the certificate again.

With `--json` a command prints a report whose field `schema` names its form, such as `pqtls/key-new/1`.
[`cli/schemas`](../cli/schemas) has a JSON Schema for each. A new field does not change the version.

[Who reads which private keys](who-reads-what.md) says what other programs make of the keys that `pqtls` writes.
";

#[test]
fn the_page_is_that_of_this_program() {
    let page = page(&ALL);
    if env::var_os("PQTLS_WRITE_PAGE").is_some() {
        fs::write(PAGE, page).unwrap();
        return;
    }
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    let (written, page) = (without_chance(&written), without_chance(&page));
    let differs = written
        .lines()
        .zip(page.lines())
        .find(|(was, is)| was != is);
    assert!(
        written == page,
        "docs/pqtls.md is old, at {differs:?}; write it anew with \
         `PQTLS_WRITE_PAGE=1 cargo test -p pqtls --test program page`"
    );
}

fn page(commands: &[Shown]) -> String {
    let mut page = HEAD.to_owned();
    for command in commands {
        let level = command.name.split(' ').count().min(2);
        let heading = match command.name.as_str() {
            "pqtls" => "## Commands".to_owned(),
            name => format!("{} {name}", "#".repeat(level)),
        };
        write!(
            page,
            "\n{heading}\n\n```text\n{}\n```\n",
            command.help.trim_end()
        )
        .unwrap();
        if !command.examples.is_empty() {
            page.push_str("\n```console\n");
            for (line, printed) in &command.examples {
                write!(page, "$ {line}\n{}", abbreviated(printed)).unwrap();
            }
            page.push_str("```\n");
        }
        if !command.rest.is_empty() {
            write!(page, "\n```text\n{}\n```\n", block(&command.rest)).unwrap();
        }
    }
    page
}

/// Removes the spaces that clap leaves at the ends of lines.
fn block(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// With one line of each PEM block.
fn abbreviated(printed: &str) -> String {
    let mut kept = String::new();
    let mut line_of_block = None;
    for line in printed.lines() {
        if line.starts_with("-----BEGIN ") {
            line_of_block = Some(0);
        } else if line.starts_with("-----END ") {
            line_of_block = None;
        }
        match &mut line_of_block {
            Some(number) => {
                *number += 1;
                match *number {
                    1 | 2 => writeln!(kept, "{line}").unwrap(),
                    3 => kept.push_str("...\n"),
                    _ => {}
                }
            }
            None => writeln!(kept, "{line}").unwrap(),
        }
    }
    kept
}

/// Without keys, fingerprints, names made from these, and dates, which differ each time.
fn without_chance(page: &str) -> String {
    let mut kept = String::new();
    for line in page.lines() {
        let mut words = line.split(' ').peekable();
        while let Some(word) = words.next() {
            let is_count = word.bytes().all(|byte| byte.is_ascii_digit());
            let is_of_days = words.peek().is_some_and(|next| next.starts_with("day"));
            kept.push_str(match (is_count && is_of_days) || is_of_chance(word) {
                true => "*",
                false => word,
            });
            kept.push(' ');
        }
        kept.push('\n');
    }
    kept
}

fn is_of_chance(word: &str) -> bool {
    let is_in_brackets = word.starts_with('(');
    let word = word
        .trim_start_matches("(")
        .trim_end_matches([')', ',', ':', '.', '"']);
    let word = word
        .trim_start_matches('"')
        .trim_start_matches("sha256:")
        .trim_start_matches("SHA256:");
    // in the name of a CA's key
    let is_beginning_of_digest =
        is_in_brackets && word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_date = word.len() == "2027-01-31T12:00:00Z".len()
        && word.ends_with('Z')
        && word.starts_with(|character: char| character.is_ascii_digit());
    let is_key = word.len() >= 40
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte));
    is_beginning_of_digest || is_date || is_key || word.contains("pqtls-dev-")
}
