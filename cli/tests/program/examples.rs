//! The examples in the help of each command: they are run in order, in one folder.

use std::sync::LazyLock;

use clap::Command;

use crate::dev::make_trust_stores;
use crate::folder::{Folder, SYSTEM_STORE};

/// A command, its help without the examples, and these with what they print.
pub(crate) struct Shown {
    /// Such as `pqtls key new`.
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) help: String,
    pub(crate) examples: Vec<(String, String)>,
    /// The text after the examples.
    pub(crate) rest: String,
    pub(crate) is_group: bool,
}

/// All commands, with their examples, each of which has succeeded.
pub(crate) static ALL: LazyLock<Vec<Shown>> = LazyLock::new(|| {
    let folder = Folder::with_ca();
    make_trust_stores(&folder);
    folder.write("tokens.toml", "");
    let mut shown = Vec::new();
    visit(&pqtls_commands::command(), "pqtls", &folder, &mut shown);
    shown
});

fn visit(command: &Command, name: &str, folder: &Folder, shown: &mut Vec<Shown>) {
    let after = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let arguments = name.strip_prefix("pqtls").unwrap_or_default();
    let help = folder.pqtls(&format!("{arguments} --help"));
    let help = help.ok().trim_end().strip_suffix(after.trim_end());
    let mut examples = Vec::new();
    let mut rest = Vec::new();
    for line in after.lines() {
        match line.trim().strip_prefix("$ ") {
            Some(line) => {
                let outcome = match line.starts_with(&format!("{name} ")) {
                    true if name.ends_with(" serve") => folder.shell(&served_briefly(line)),
                    _ => folder.shell(line),
                };
                examples.push((line.to_owned(), as_at_home(outcome.ok(), folder)));
            }
            None if line == "Examples:" => {}
            None => rest.push(line),
        }
    }
    shown.push(Shown {
        name: name.into(),
        about: command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
        help: help
            .unwrap_or_else(|| panic!("{name}: its examples are not in its help"))
            .into(),
        examples,
        rest: rest.join("\n").trim().to_owned(),
        is_group: command.has_subcommands(),
    });
    for subcommand in command.get_subcommands() {
        if subcommand.get_name() != "help" {
            visit(
                subcommand,
                &format!("{name} {}", subcommand.get_name()),
                folder,
                shown,
            );
        }
    }
}

/// A server's example, which is stopped once it serves, on a port that the system chooses.
fn served_briefly(line: &str) -> String {
    let plain = match line.starts_with("pqtls ca ") {
        true => " --plain 127.0.0.1:0",
        false => "",
    };
    format!(
        "{line} --listen 127.0.0.1:0{plain} >served 2>&1 & server=$!; tries=0
        until grep -qs '^Serving' served; do
            tries=$((tries + 1))
            [ $tries -lt 1200 ] && kill -0 $server || {{ cat served; exit 1; }}
            sleep 0.1
        done
        kill $server && wait $server && rm served"
    )
}

/// The output with the paths that a user would see.
fn as_at_home(printed: &str, folder: &Folder) -> String {
    let system_store = folder.path().join(SYSTEM_STORE);
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_pqtls")).unwrap();
    printed
        .replace(program.to_str().unwrap(), "/usr/local/bin/pqtls")
        .replace(
            system_store.to_str().unwrap(),
            "/usr/local/share/ca-certificates",
        )
        .replace(folder.path().to_str().unwrap(), "/home/alice")
}

#[test]
fn every_command_has_examples_and_they_succeed() {
    for command in ALL.iter() {
        // A database, or the accounts of a server.
        let needs_more = ["pqtls ca move", "pqtls ca accounts"].contains(&&*command.name);
        assert!(
            command.is_group || needs_more || !command.examples.is_empty(),
            "{}",
            command.name
        );
        assert!(!command.about.is_empty(), "{}", command.name);
    }
}

#[test]
fn every_option_has_help() {
    fn visit(command: &Command) {
        for argument in command.get_arguments() {
            assert!(
                argument.get_help().is_some(),
                "{}: {argument}",
                command.get_name()
            );
        }
        command.get_subcommands().for_each(visit);
    }
    visit(&pqtls_commands::command());
    pqtls_commands::command().debug_assert();
}
