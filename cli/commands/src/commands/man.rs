//! The command `pqtls man`: manual pages, generated from the help of all commands.

use core::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use serde::Serialize;

use super::Arguments as Program;
use super::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output};
use crate::report::{self, Report};

/// Print the manual page, or write the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder for a page of each command
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long, requires = "out_dir")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls man > pqtls.1
  $ mkdir man1
  $ pqtls man --out-dir man1";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    if json && arguments.out_dir.is_none() {
        return Err(Failure::NoReport(", or name a folder with --out-dir"));
    }
    // The pages are the help, so the help subcommand needs none.
    let mut program = Program::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    match &arguments.out_dir {
        None => pages.push((Destination::StandardOutput, render(&program))),
        Some(folder) => {
            for command in with_subcommands(&program) {
                let name = format!("{}.1", command.get_display_name().unwrap_or("pqtls"));
                pages.push((Destination::File(folder.join(name)), render(command)));
            }
        }
    }
    let destinations: Vec<&Destination> = pages.iter().map(|(to, _)| to).collect();
    Delivery::to_public(&destinations, arguments.force, json)?;
    let outputs: Vec<Output<'_>> = pages
        .iter()
        .map(|(to, page)| Output {
            to,
            content: page,
            access: Access::Public,
            is_binary: false,
        })
        .collect();
    files::write_help(&outputs, arguments.force)?;
    if arguments.out_dir.is_some() {
        let files = destinations.iter().map(ToString::to_string).collect();
        report::print(&Pages { files }, json)?;
    }
    Ok(ExitStatus::Done)
}

fn with_subcommands(command: &clap::Command) -> Vec<&clap::Command> {
    let mut all = vec![command];
    for subcommand in command.get_subcommands() {
        all.extend(with_subcommands(subcommand));
    }
    all
}

fn render(command: &clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    write_page(command, &mut page).expect("a vector takes all that is written to it");
    page
}

/// Writes the page with sections for what a help text ends with: the generator would call all of it "EXTRA".
fn write_page(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(command.clone()).source(concat!("pqtls ", env!("CARGO_PKG_VERSION")));
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    let end = command.get_after_help().map(ToString::to_string);
    for part in end.unwrap_or_default().split("\n\n") {
        let (title, text) = match part.split_once('\n') {
            Some(("Examples:", text)) => ("EXAMPLES", text),
            Some(("Exit status:", text)) => ("EXIT STATUS", text),
            _ if part.is_empty() => continue,
            _ => ("NOTES", part),
        };
        writeln!(page, ".SH \"{title}\"\n.nf")?;
        for line in text.lines() {
            // A line of the text is no request, and its hyphens can be copied.
            writeln!(page, "\\&{}", line.replace('\\', "\\e").replace('-', "\\-"))?;
        }
        writeln!(page, ".fi")?;
    }
    match command.get_version() {
        Some(_) => man.render_version_section(page),
        None => Ok(()),
    }
}

/// The pages that were written.
#[derive(Debug, Serialize)]
struct Pages {
    files: Vec<String>,
}

impl Report for Pages {
    const SCHEMA: &'static str = "man/1";
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| writeln!(f, "{file}"))
    }
}
