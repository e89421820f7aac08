//! The command `pqtls completion`, which generates a shell's script from the definitions of all commands.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Arguments as Program;
use super::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls completion bash > pqtls.bash
  $ pqtls completion zsh > _pqtls

Source bash's file in ~/.bashrc, and put zsh's file into a folder of $fpath.";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let to = Destination::StandardOutput;
    if json {
        return Err(Failure::NoReport(""));
    }
    Delivery::to(&[&to], false, json)?;
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Program::command(),
        "pqtls",
        &mut script,
    );
    let output = Output {
        to: &to,
        content: &script,
        access: Access::Public,
        is_binary: false,
    };
    files::write_help(&[output], false)?;
    Ok(ExitStatus::Done)
}
